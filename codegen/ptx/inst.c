/* inst.c — finds the file that writes an instruction. */
#include "codegen/ptx/ptx.h"

typedef bool writer_fn(ptx_func *fn, const ir_inst *i);

void ptx_write_inst(ptx_func *fn, const ir_inst *i) {
    static writer_fn *const writers[] = {ptx_write_subgroup, ptx_write_group,  ptx_write_wide,
                                         ptx_write_row,      ptx_write_memory, ptx_write_conversion,
                                         ptx_write_lanes,    ptx_write_query,  ptx_write_atomic};
    if (i->op == IR_OP_assume) return;
    for (unsigned n = 0; n < sizeof writers / sizeof *writers; n++)
        if (writers[n](fn, i)) return;
    ptx_refuse(fn, "%s has no form in PTX", ir_info(i)->name);
}
