/* cpu_compile.c — from a kernel to an object.
 *
 * A kernel is compiled in a module of its own, so that the program's stays what it was, and threads
 * can compile others of it at the same time.
 */
#include "ir/change.h"
#include "runtime/devices/cpu.h"

const char *rt_cpu_missing(void) { return NULL; }

static rt_native_options options_of(const rt_cpu_facts *facts) {
    rt_native_options o = {.code.level = facts->level};
    for (unsigned d = 0; d < 3; d++) o.shape.local[d] = facts->local_size[d];
    return o;
}

void rt_cpu_compile(const ir_module *m, const ir_func *kernel, const rt_cpu_facts *facts,
                    ir_arena *arena, cg_object *out) {
    rt_native_options options = options_of(facts);
    ir_module *own = ir_module_new(m->cx, m->name, m->pointer_bits);
    ir_func *copy = ir_import_func(own, kernel, kernel->name);
    bool ok = rt_native_compile(own, copy->name, &options, arena, out);
    ir_module_free(own);
    if (!ok) ir_throw(m->cx, IR_ERR_DEVICE);
}
