/* native.h — running native code on this machine: code in memory, threads, variants of kernels.
 *
 *   jit.c        an object in memory that can be executed
 *   jit_debug.c  … made known to gdb and perf
 *
 * Nothing here knows the IR; runtime/devices/cpu*.c put it together.
 */
#ifndef SPVFUSE_RUNTIME_NATIVE_H
#define SPVFUSE_RUNTIME_NATIVE_H

#include "codegen/codegen.h"

/* -------------------------------------------------------------------------------- code (jit.c) */

typedef struct {
    uint8_t *base; /* NULL: nothing is loaded */
    size_t bytes;
    uint8_t *at[CG_SECTIONS];
    struct rt_announced *gdb; /* what gdb knows of it, or NULL */
} rt_code;

/* Places the object in memory: text can be executed, data written, and nothing is ever both.  The
 * object is not needed afterwards.  IR_ERR_MEMORY, or IR_ERR_LIMIT: too large for its own
 * references. */
ir_status rt_code_load(const cg_object *o, rt_code *out);
/* Nobody may be in it.  Gdb forgets it. */
void rt_code_unload(rt_code *c);
static inline void *rt_code_symbol(const rt_code *c, const cg_object *o, uint32_t symbol) {
    return c->at[o->symbols.data[symbol].section] + o->symbols.data[symbol].at;
}

/* ------------------------------------------------------------------------- tools (jit_debug.c) */

typedef struct {
    bool gdb;               /* through gdb's JIT interface: names, lines, frames */
    bool perf;              /* names, in /tmp/perf-PID.map */
    const ir_module *lines; /* for gdb; or NULL */
} rt_tools;

/* Says what the loaded object holds.  Throws when memory is short; the code stays as it is. */
void rt_code_announce(rt_code *c, const cg_object *o, const rt_tools *tools, ir_ctx *cx);
void rt_code_withdraw(rt_code *c); /* from gdb; perf is told what was, not what is */

#endif
