/* codegen.h — IR out: what the targets offer to the runtime. */
#ifndef SPVFUSE_CODEGEN_H
#define SPVFUSE_CODEGEN_H

#include "ir/ir.h"

typedef struct {
    unsigned version; /* as in SPIR-V's header, 0x00010000 (1.0) to 0x00010400; 0: 1.2, or newer
                         when the module uses what 1.2 does not have */
    bool no_names;    /* leave out OpName */
    bool no_lines;    /* leave out OpLine */
} cg_spirv_options;

/* Writes the module as Kernel SPIR-V that spirv-val accepts.  *words lie in `out`.  False after a
 * reported error: something that this version of SPIR-V cannot say. */
bool cg_spirv_write(const ir_module *m, const cg_spirv_options *options, ir_arena *out,
                    uint32_t **words, size_t *count);

#endif
