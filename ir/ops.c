/* ops.c — the table of operations, made from the rows of ops.def.
 *
 * Fields that hold the types of operands refer to type_rules.def; the meaning of one lane is kept
 * as text here, and as code in eval.c.
 */
#include "ir/ir.h"

const ir_op_info ir_ops[IR_OP_COUNT] = {
#define OP(name, spirv, rule, nargs, imm, levels, flags, eval, doc)                                \
    [IR_OP_##name] = {#name, spirv, rule, nargs, imm, levels, flags, #eval, doc},
#include "ir/ops.def"
#undef OP
};
