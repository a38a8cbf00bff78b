/* special.c — operations that are several instructions in SPIR-V, calls and printf.
 *
 * Shifts by the width or more are undefined there and have a result in the IR.  OpBitReverse is not
 * for kernels.  Functions with a second result store it through a pointer, to a variable of the
 * function; each result is an operation of its own in the IR, and is written as a call of its own.
 */
#include "codegen/spirv/spirv.h"

/* --------------------------------------------------------------------------------------- shifts */

/* Is every lane of the shift amount known to be below the width? */
static bool is_in_range(const ir_inst *amount, unsigned width) {
    if (amount->op == IR_OP_and && ir_is_const(ir_arg(amount, 1)))
        return is_in_range(ir_arg(amount, 1), width);
    if (!ir_is_const(amount)) return false;
    for (unsigned lane = 0; lane < ir_lanes(amount->type); lane++)
        if (ir_lane_bits(amount, lane) >= width) return false;
    return true;
}

static SpvOp shift_op(ir_op op) {
    return op == IR_OP_shl    ? SpvOpShiftLeftLogical
           : op == IR_OP_lshr ? SpvOpShiftRightLogical
                              : SpvOpShiftRightArithmetic;
}

static uint32_t binary(sw_func *fn, SpvOp op, ir_type t, uint32_t a, uint32_t b) {
    return sw_emit_result(fn, op, sw_type(fn->w, t), SW_LIST(a, b));
}

/* A shift by the width or more is undefined in SPIR-V; in the IR all bits of its result are 0, or
 * the sign. */
static uint32_t guarded_shift(sw_func *fn, const ir_inst *i, uint32_t x, uint32_t by) {
    sw_writer *w = fn->w;
    unsigned width = ir_bits(w->m, ir_elem(i->type));
    uint32_t most = sw_splat(w, i->type, width - 1), bools = sw_bool_type(w, i->type);
    uint32_t fits = sw_emit_result(fn, SpvOpULessThanEqual, bools, SW_LIST(by, most));
    if (i->op == IR_OP_ashr) {
        by = sw_emit_result(fn, SpvOpSelect, sw_type(w, i->type), SW_LIST(fits, by, most));
        return binary(fn, SpvOpShiftRightArithmetic, i->type, x, by);
    }
    by = binary(fn, SpvOpBitwiseAnd, i->type, by, most);
    uint32_t shifted = binary(fn, shift_op((ir_op)i->op), i->type, x, by);
    return sw_emit_result(fn, SpvOpSelect, sw_type(w, i->type),
                          SW_LIST(fits, shifted, sw_splat(w, i->type, 0)));
}

void sw_emit_shift(sw_func *fn, const ir_inst *i) {
    unsigned width = ir_bits(fn->w->m, ir_elem(i->type));
    uint32_t x = sw_arg(fn, i, 0), by = sw_arg(fn, i, 1), id;
    if (is_in_range(ir_arg(i, 1), width))
        id = binary(fn, shift_op((ir_op)i->op), i->type, x, by);
    else
        id = guarded_shift(fn, i, x, by);
    sw_set_value(fn, i, id);
}

/* Exchanges adjacent groups of 1, 2, 4, … bits: ((x >> n) & m) | ((x & m) << n). */
void sw_emit_bitrev(sw_func *fn, const ir_inst *i) {
    sw_writer *w = fn->w;
    unsigned width = ir_bits(w->m, ir_elem(i->type));
    uint32_t x = sw_arg(fn, i, 0);
    for (unsigned n = 1; n < width; n *= 2) {
        uint64_t mask = 0;
        for (unsigned bit = 0; bit < width; bit++)
            if (bit / n % 2 == 0) mask |= UINT64_C(1) << bit;
        uint32_t m = sw_splat(w, i->type, mask), by = sw_splat(w, i->type, n);
        uint32_t high = binary(fn, SpvOpShiftRightLogical, i->type, x, by);
        uint32_t low = binary(fn, SpvOpBitwiseAnd, i->type, x, m);
        high = binary(fn, SpvOpBitwiseAnd, i->type, high, m);
        low = binary(fn, SpvOpShiftLeftLogical, i->type, low, by);
        x = binary(fn, SpvOpBitwiseOr, i->type, high, low);
    }
    sw_set_value(fn, i, x);
}

/* ----------------------------------------------------------------------- functions in two parts */

/* The extended instruction, the type of what it stores through its pointer, and which part is
 * wanted. */
typedef struct {
    uint32_t number;
    bool stores_int, wants_stored;
} part;

static part part_of(ir_op op) {
    switch (op) {
    case IR_OP_fmodf_part: return (part){OpenCLstd_Modf, false, false};
    case IR_OP_fract_part: return (part){OpenCLstd_Fract, false, false};
    case IR_OP_frexp_m: return (part){OpenCLstd_Frexp, true, false};
    case IR_OP_frexp_e: return (part){OpenCLstd_Frexp, true, true};
    case IR_OP_lgamma_sign: return (part){OpenCLstd_Lgamma_r, true, true};
    default: return (part){OpenCLstd_Remquo, true, true};
    }
}

void sw_emit_part(sw_func *fn, const ir_inst *i) {
    part p = part_of((ir_op)i->op);
    ir_type x = ir_arg(i, 0)->type, stored = p.stores_int ? ir_with_elem(x, IR_I32) : x;
    uint32_t operands[3], n = 0;
    for (; n < i->nargs; n++) operands[n] = sw_arg(fn, i, n);
    operands[n] = sw_variable_for_result(fn, stored);
    uint32_t variable = operands[n++];
    uint32_t id = sw_emit_ext(fn, p.number, sw_type(fn->w, x), (sw_list){n, operands});
    if (p.wants_stored)
        id = sw_emit_result(fn, SpvOpLoad, sw_type(fn->w, stored), SW_LIST(variable));
    sw_set_value(fn, i, id);
}

/* -------------------------------------------------------------------------------- calls, printf */

void sw_emit_call(sw_func *fn, const ir_inst *i) {
    const sw_info *callee = sw_info_of(fn->w, i->imm.func);
    uint32_t *operands = ir_new_array(fn->w->arena, uint32_t, i->nargs + 1u);
    if (!callee->id)
        sw_refuse(fn, "it calls '%s', which has no body: %s", callee->f->name,
                  callee->f->refusal ? callee->f->refusal : "it is not imported either");
    operands[0] = callee->id;
    for (unsigned n = 0; n < i->nargs; n++) {
        ir_type pointee = ir_is_ptr(ir_arg(i, n)->type) ? sw_param_pointee(callee, n) : IR_VOID;
        operands[n + 1] = sw_value_as(fn, ir_arg(i, n), pointee);
    }
    sw_emit_value(fn, i, SpvOpFunctionCall, (sw_list){i->nargs + 1u, operands});
}

/* The address of the first character of a format string. */
static uint32_t format_pointer(sw_func *fn, const char *format) {
    uint32_t array = sw_format_string(fn->w, format), zero = sw_size(fn->w, 0);
    uint32_t type = sw_pointer_type(fn->w, IR_CONST, IR_I8);
    *ir_push(fn->w->arena, &fn->info->variables) = array;
    return sw_emit_result(fn, SpvOpInBoundsPtrAccessChain, type, SW_LIST(array, zero, zero));
}

void sw_emit_printf(sw_func *fn, const ir_inst *i) {
    uint32_t *operands = ir_new_array(fn->w->arena, uint32_t, i->nargs + 1u);
    operands[0] = format_pointer(fn, i->imm.string);
    for (unsigned n = 0; n < i->nargs; n++) operands[n + 1] = sw_value_as(fn, ir_arg(i, n), IR_I8);
    sw_set_value(fn, i,
                 sw_emit_ext(fn, OpenCLstd_Printf, sw_type(fn->w, IR_I32),
                             (sw_list){i->nargs + 1u, operands}));
}
