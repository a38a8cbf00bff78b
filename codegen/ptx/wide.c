/* wide.c — products and shifts of extended numbers, which are one instruction with a result of
 * twice the width (mul.wide).
 *
 * The address of an element is such a product and a sum, and ptxas makes one instruction of both.
 * An extension all of whose uses are such products is not written.
 */
#include "codegen/ptx/ptx.h"

/* A number of 32 bits, extended to 64? */
static bool is_extended(const ir_inst *x) {
    bool extends = x->op == IR_OP_zext || x->op == IR_OP_sext;
    return extends && x->type == ir_scalar(IR_I64) && ir_arg(x, 0)->type == ir_scalar(IR_I32);
}

/* ptxas keeps small arrays of private memory in registers if it finds the factor of their elements
 * in a shift. */
static bool is_private_offset(const ir_inst *i) {
    foreach_use (u, i)
        if (u->user->op == IR_OP_ptradd && ir_space_of(u->user->type) == IR_PRIVATE) return true;
    return false;
}

/* What i multiplies its first operand by, if it is a constant that fits; otherwise 0. */
static uint64_t factor_of(const ir_inst *i) {
    if (i->op != IR_OP_shl && i->op != IR_OP_mul) return 0;
    const ir_inst *x = ir_arg(i, 0), *by = ir_arg(i, 1);
    if (!is_extended(x) || !ir_is_const(by) || is_private_offset(i)) return 0;
    uint64_t most = x->op == IR_OP_sext ? INT32_MAX : UINT32_MAX;
    if (i->op == IR_OP_shl) return by->imm.bits < 31 ? UINT64_C(1) << by->imm.bits : 0;
    return by->imm.bits <= most ? by->imm.bits : 0;
}

static bool is_only_multiplied(const ir_inst *x) {
    foreach_use (u, x)
        if (!factor_of(u->user)) return false;
    return x->uses;
}

bool ptx_write_wide(ptx_func *fn, const ir_inst *i) {
    if (is_extended(i) && is_only_multiplied(i)) return true;
    uint64_t factor = factor_of(i);
    if (!factor) return false;
    const ir_inst *x = ir_arg(i, 0);
    const char *narrow = ptx_register(fn, ir_arg(x, 0), 0);
    ptx_put(fn, "mul.wide.%s32 %s, %s, %llu", x->op == IR_OP_sext ? "s" : "u", ptx_result(fn, i, 0),
            narrow, (unsigned long long)factor);
    return true;
}
