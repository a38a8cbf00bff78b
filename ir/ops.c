/* ops.c — the op table, from ops.def. */
#include "ir/ir.h"

const ir_op_info ir_ops[IR_OP_COUNT] = {
#define OP(name, spirv, rule, nargs, imm, levels, flags, eval, doc)                                \
    [IR_OP_##name] = {#name, spirv, rule, nargs, imm, levels, flags, #eval, doc},
#include "ir/ops.def"
#undef OP
};
