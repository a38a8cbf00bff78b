/* verify_ops.c — what one instruction must fulfil by itself: one small function per type rule of
 * the op table.  imm, flags and R_CUSTOM are in verify_imm.c.
 *
 * A rule reports its first violation and leaves it at that.  Rules see operands that exist and as
 * many as the op takes; which values the operands are is checked by verify.c.
 */
#include "ir/verify.h"

#include <stdlib.h>

static bool operands_from(verifier *v, unsigned first, ir_type want) {
    for (unsigned n = first; n < v->inst->nargs; n++)
        if (!verify_operand(v, n, want)) return false;
    return true;
}

static ir_type arg_type(const ir_inst *i, unsigned n) { return ir_arg(i, n)->type; }

static bool same_lanes(verifier *v, ir_type a, ir_type b) {
    if (ir_lanes(a) == ir_lanes(b)) return true;
    return verify_fail(v, "%s and %s differ in lanes", verify_show_type(v, a),
                       verify_show_type(v, b));
}

static bool float_result(verifier *v) {
    return verify_result_is(v, ir_is_float(v->inst->type), "a float type");
}

static bool pointer_operand(verifier *v, unsigned n) {
    return verify_operand_is(v, n, ir_is_ptr(arg_type(v->inst, n)), "a pointer");
}

static bool int_operand(verifier *v, unsigned n) {
    return verify_operand_is(v, n, verify_is_int_scalar(arg_type(v->inst, n)), "an integer");
}

static ir_type bools_like(ir_type t) { return ir_with_elem(t, IR_I1); }

/* -------------------------------------------------------------------- arithmetic and comparison */

static void check_leaf(verifier *v, const ir_inst *i) {
    verify_fail(v, "a %s belongs to no block", ir_info(i)->name);
}

static void check_int(verifier *v, const ir_inst *i) {
    bool logical = i->op == IR_OP_and || i->op == IR_OP_or || i->op == IR_OP_xor;
    bool fits = ir_is_int(i->type) && (logical || !ir_is_bool(i->type));
    if (verify_result_is(v, fits, "an integer type")) operands_from(v, 0, i->type);
}

static void check_float(verifier *v, const ir_inst *i) {
    if (float_result(v)) operands_from(v, 0, i->type);
}

static void check_compare_ints(verifier *v, const ir_inst *i) {
    ir_type t = arg_type(i, 0);
    if (!verify_operand_is(v, 0, ir_is_int(t) || ir_is_ptr(t), "an integer type or a pointer"))
        return;
    if (operands_from(v, 1, t)) verify_result(v, bools_like(t));
}

static void check_compare_floats(verifier *v, const ir_inst *i) {
    ir_type t = arg_type(i, 0);
    if (!verify_operand_is(v, 0, ir_is_float(t), "a float type")) return;
    if (operands_from(v, 1, t)) verify_result(v, bools_like(t));
}

/* ---------------------------------------------------------------------------------- conversions */

static bool operand_kind(verifier *v, bool (*is_kind)(ir_type), const char *what) {
    return verify_operand_is(v, 0, is_kind(arg_type(v->inst, 0)), what);
}

static bool result_kind(verifier *v, bool (*is_kind)(ir_type), const char *what) {
    return verify_result_is(v, is_kind(v->inst->type), what) &&
           same_lanes(v, arg_type(v->inst, 0), v->inst->type);
}

static int width_change(const verifier *v) {
    return (int)ir_bits(v->m, v->inst->type) - (int)ir_bits(v->m, arg_type(v->inst, 0));
}

static bool int_to_int(verifier *v) {
    return operand_kind(v, ir_is_int, "an integer type") &&
           result_kind(v, ir_is_int, "an integer type");
}

static void check_trunc(verifier *v, const ir_inst *i) {
    (void)i;
    if (int_to_int(v) && width_change(v) >= 0)
        verify_fail(v, "the result is not narrower than the operand");
}

static void check_ext(verifier *v, const ir_inst *i) {
    (void)i;
    if (int_to_int(v) && width_change(v) <= 0)
        verify_fail(v, "the result is not wider than the operand");
}

static void check_float_to_int(verifier *v, const ir_inst *i) {
    (void)i;
    if (operand_kind(v, ir_is_float, "a float type")) result_kind(v, ir_is_int, "an integer type");
}

static void check_int_to_float(verifier *v, const ir_inst *i) {
    if (operand_kind(v, ir_is_int, "an integer type")) result_kind(v, ir_is_float, "a float type");
    if (i->imm.round.sat) verify_fail(v, "only conversions to integers saturate");
}

static void check_float_to_float(verifier *v, const ir_inst *i) {
    if (!operand_kind(v, ir_is_float, "a float type")) return;
    if (!result_kind(v, ir_is_float, "a float type")) return;
    if (i->type == arg_type(i, 0)) verify_fail(v, "operand and result have the same type");
    if (i->imm.round.sat) verify_fail(v, "only conversions to integers saturate");
}

static bool is_number(ir_type t) { return ir_is_int(t) || ir_is_float(t); }

static unsigned total_bits(const verifier *v, ir_type t) { return ir_bits(v->m, t) * ir_lanes(t); }

static void check_bitcast(verifier *v, const ir_inst *i) {
    ir_type from = arg_type(i, 0);
    if (!operand_kind(v, is_number, "an integer or float type")) return;
    if (!verify_result_is(v, is_number(i->type), "an integer or float type")) return;
    if (total_bits(v, from) != total_bits(v, i->type))
        verify_fail(v, "%s and %s differ in size", verify_show_type(v, from),
                    verify_show_type(v, i->type));
}

static void check_ptr_to_int(verifier *v, const ir_inst *i) {
    if (pointer_operand(v, 0)) verify_result_is(v, verify_is_int_scalar(i->type), "an integer");
}

static void check_int_to_ptr(verifier *v, const ir_inst *i) {
    if (int_operand(v, 0)) verify_result_is(v, ir_is_ptr(i->type), "a pointer");
}

static bool is_generic(ir_type t) { return ir_is_ptr(t) && ir_space_of(t) == IR_GENERIC; }

static void check_ptr_to_ptr(verifier *v, const ir_inst *i) {
    ir_type from = arg_type(i, 0);
    if (!pointer_operand(v, 0) || !verify_result_is(v, ir_is_ptr(i->type), "a pointer")) return;
    if (is_generic(from) == is_generic(i->type))
        verify_fail(v, "one of operand and result must be a generic pointer");
    else if (i->op == IR_OP_ptrcast_to && !is_generic(from))
        verify_fail(v, "operand 0 has type %s, not ptr.generic", verify_show_type(v, from));
}

static void check_ptradd(verifier *v, const ir_inst *i) {
    if (verify_result_is(v, ir_is_ptr(i->type), "a pointer") && verify_operand(v, 0, i->type))
        verify_operand(v, 1, ir_size_type(v->m));
}

static void check_float_with_int(verifier *v, const ir_inst *i) {
    if (float_result(v) && verify_operand(v, 0, i->type))
        verify_operand(v, 1, ir_with_elem(i->type, IR_I32));
}

static void check_float_to_i32(verifier *v, const ir_inst *i) {
    ir_type t = arg_type(i, 0);
    if (!operand_kind(v, ir_is_float, "a float type")) return;
    if (operands_from(v, 1, t)) verify_result(v, ir_with_elem(t, IR_I32));
}

static void check_nan(verifier *v, const ir_inst *i) {
    (void)i;
    if (!operand_kind(v, ir_is_int, "an integer type")) return;
    if (result_kind(v, ir_is_float, "a float type") && width_change(v) != 0)
        verify_fail(v, "operand and result differ in width");
}

/* ---------------------------------------------------------------------------- choosing, vectors */

static void check_select(verifier *v, const ir_inst *i) {
    ir_type cond = arg_type(i, 0);
    bool whole = cond == IR_I1, by_lane = ir_is_vector(i->type) && cond == bools_like(i->type);
    if (!verify_result_is(v, verify_is_value(i->type), "a value type")) return;
    if (verify_operand_is(v, 0, whole || by_lane, "i1, or i1 for each lane of the result"))
        operands_from(v, 1, i->type);
}

static bool constant_lane_in_range(verifier *v, unsigned n, unsigned lanes) {
    const ir_inst *index = ir_arg(v->inst, n);
    if (!ir_is_const(index) || index->imm.bits < lanes) return true;
    return verify_fail(v, "there is no lane %llu in %u lanes", (unsigned long long)index->imm.bits,
                       lanes);
}

static void check_extract(verifier *v, const ir_inst *i) {
    ir_type from = arg_type(i, 0);
    if (verify_operand_is(v, 0, ir_is_vector(from), "a vector") &&
        verify_result(v, ir_elem(from)) && int_operand(v, 1))
        constant_lane_in_range(v, 1, ir_lanes(from));
}

static void check_insert(verifier *v, const ir_inst *i) {
    if (verify_result_is(v, ir_is_vector(i->type), "a vector") && verify_operand(v, 0, i->type) &&
        verify_operand(v, 1, ir_elem(i->type)) && int_operand(v, 2))
        constant_lane_in_range(v, 2, ir_lanes(i->type));
}

static void check_vec(verifier *v, const ir_inst *i) {
    if (!verify_result_is(v, ir_is_vector(i->type), "a vector")) return;
    if (i->nargs != ir_lanes(i->type))
        verify_fail(v, "%u operands for %u lanes", i->nargs, ir_lanes(i->type));
    else
        operands_from(v, 0, ir_elem(i->type));
}

static void check_shuffle(verifier *v, const ir_inst *i) {
    ir_type from = arg_type(i, 0);
    if (!verify_operand_is(v, 0, ir_is_vector(from), "a vector") || !operands_from(v, 1, from) ||
        !verify_result_is(v, verify_is_value(i->type) && ir_elem(i->type) == ir_elem(from),
                          "of the operands' element type"))
        return;
    if (!i->imm.mask) verify_fail(v, "the mask is missing");
    for (unsigned n = 0; i->imm.mask && n < ir_lanes(i->type); n++)
        if (i->imm.mask[n] != 255 && i->imm.mask[n] >= 2 * ir_lanes(from))
            verify_fail(v, "the operands have no lane %u", i->imm.mask[n]);
}

static void check_reduce(verifier *v, const ir_inst *i) {
    ir_type from = arg_type(i, 0);
    if (verify_operand_is(v, 0, ir_is_vector(from) && ir_is_bool(from), "a vector of i1"))
        verify_result(v, IR_I1);
}

/* dot, length, distance: one float from floats */
static void check_to_one_float(verifier *v, const ir_inst *i) {
    ir_type t = arg_type(i, 0);
    if (operand_kind(v, ir_is_float, "a float type") && operands_from(v, 1, t))
        verify_result(v, ir_elem(t));
}

static void check_float_vector(verifier *v, const ir_inst *i) {
    unsigned lanes = ir_lanes(i->type);
    if (!float_result(v) || !operands_from(v, 0, i->type)) return;
    if (i->op == IR_OP_cross && lanes != 3 && lanes != 4)
        verify_fail(v, "a cross product has 3 or 4 lanes, not %u", lanes);
}

/* --------------------------------------------------------------------------------------- memory */

static void check_query(verifier *v, const ir_inst *i) {
    verify_result_is(v, i->type == IR_I32 || i->type == IR_I64, "i32 or i64");
}

static void check_alloca(verifier *v, const ir_inst *i) {
    const ir_var *var = i->imm.var;
    if (!verify_result(v, ir_ptr(IR_PRIVATE))) return;
    if (!var || var->type == IR_VOID)
        verify_fail(v, "an alloca needs a type of memory");
    else if (!verify_is_align(var->align))
        verify_fail(v, "alignment %u is no power of 2 up to 2^31", var->align);
    if (i->block != v->f->first) verify_fail(v, "an alloca must be in the entry block");
}

static void check_load(verifier *v, const ir_inst *i) {
    if (verify_result_is(v, verify_is_value(i->type), "a value type")) pointer_operand(v, 0);
}

static void check_store(verifier *v, const ir_inst *i) {
    if (verify_result(v, IR_VOID) &&
        verify_operand_is(v, 0, verify_is_value(arg_type(i, 0)), "a value type"))
        pointer_operand(v, 1);
}

static void check_copy(verifier *v, const ir_inst *i) {
    (void)i;
    if (verify_result(v, IR_VOID) && pointer_operand(v, 0) && pointer_operand(v, 1))
        int_operand(v, 2);
}

static void check_fill(verifier *v, const ir_inst *i) {
    (void)i;
    if (verify_result(v, IR_VOID) && pointer_operand(v, 0) && verify_operand(v, 1, IR_I8))
        int_operand(v, 2);
}

/* What an atomic may work on: floats, integers, or with pointers too where bits only move. */
static bool atomic_type(verifier *v, ir_op op, ir_type t) {
    bool scalar = !ir_is_vector(t), integer = verify_is_int_scalar(t);
    switch (op) {
    case IR_OP_atomic_load:
    case IR_OP_atomic_store:
    case IR_OP_atomic_xchg:
        if (integer || ir_is_ptr(t) || (scalar && ir_is_float(t))) return true;
        return verify_fail(v, "an atomic access to %s", verify_show_type(v, t));
    case IR_OP_atomic_cmpxchg:
        return verify_result_is(v, integer || ir_is_ptr(t), "an integer or a pointer");
    case IR_OP_atomic_fadd:
    case IR_OP_atomic_fmin:
    case IR_OP_atomic_fmax: return verify_result_is(v, scalar && ir_is_float(t), "a float");
    default: return verify_result_is(v, integer, "an integer");
    }
}

static void check_atomic(verifier *v, const ir_inst *i) {
    if (atomic_type(v, (ir_op)i->op, i->type) && pointer_operand(v, 0))
        operands_from(v, 1, i->type);
}

static void check_atomic_store(verifier *v, const ir_inst *i) {
    if (verify_result(v, IR_VOID) && pointer_operand(v, 0))
        atomic_type(v, (ir_op)i->op, arg_type(i, 1));
}

static void check_sync_op(verifier *v, const ir_inst *i) {
    (void)i;
    verify_result(v, IR_VOID);
}

/* -------------------------------------------------------------------------- groups, phis, calls */

static bool group_operand_type(verifier *v, ir_op op, ir_type t) {
    switch (op) {
    case IR_OP_group_all:
    case IR_OP_group_any: return verify_result(v, IR_I1);
    case IR_OP_group_broadcast_first:
        return verify_result_is(v, verify_is_value(t), "a value type");
    case IR_OP_group_fadd:
    case IR_OP_group_fmin:
    case IR_OP_group_fmax:
    case IR_OP_group_fmul: return float_result(v);
    case IR_OP_group_and:
    case IR_OP_group_or:
    case IR_OP_group_xor: return verify_result_is(v, ir_is_int(t), "an integer type");
    default:
        return verify_result_is(v, ir_is_int(t) && !ir_is_bool(t), "an integer type of i8 to i64");
    }
}

static void check_group(verifier *v, const ir_inst *i) {
    if (group_operand_type(v, (ir_op)i->op, i->type)) verify_operand(v, 0, i->type);
}

static void check_phi(verifier *v, const ir_inst *i) {
    if (verify_result_is(v, verify_is_value(i->type), "a value type")) operands_from(v, 0, i->type);
}

static void check_call(verifier *v, const ir_inst *i) {
    const ir_func *callee = i->imm.func;
    if (!callee || callee->module != v->m) {
        verify_fail(v, "the callee is no function of this module");
    } else if (i->nargs != callee->nparams) {
        verify_fail(v, "@%s takes %u operands, not %u", callee->name, callee->nparams, i->nargs);
    } else if (verify_result(v, callee->ret)) {
        for (unsigned n = 0; n < i->nargs; n++)
            if (!verify_operand(v, n, callee->param_val[n]->type)) return;
    }
}

/* ---------------------------------------------------------------------------------- terminators */

static int by_bits(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void check_distinct_cases(verifier *v, const ir_inst *i) {
    uint64_t *values = ir_new_array(&v->scratch, uint64_t, i->nargs);
    for (unsigned n = 1; n < i->nargs; n++) {
        if (!ir_is_const(ir_arg(i, n))) {
            verify_fail(v, "case %u is no constant", n);
            return;
        }
        values[n] = ir_arg(i, n)->imm.bits;
    }
    qsort(values + 1, i->nargs - 1u, sizeof *values, by_bits);
    for (unsigned n = 2; n < i->nargs; n++)
        if (values[n] == values[n - 1]) {
            verify_fail(v, "case %llu occurs twice", (unsigned long long)values[n]);
            return;
        }
}

static void check_ret(verifier *v, const ir_inst *i) {
    if (i->nargs > 1)
        verify_fail(v, "ret takes at most 1 operand, not %u", i->nargs);
    else if ((i->nargs == 1) != (v->f->ret != IR_VOID))
        verify_fail(v, i->nargs ? "a void function returns no value" : "the function returns %s",
                    verify_show_type(v, v->f->ret));
    else if (i->nargs)
        verify_operand(v, 0, v->f->ret);
}

static void check_terminator(verifier *v, const ir_inst *i) {
    if (!verify_result(v, IR_VOID)) return;
    if (i->op == IR_OP_br) {
        verify_operand(v, 0, IR_I1);
    } else if (i->op == IR_OP_switch) {
        if (int_operand(v, 0) && operands_from(v, 1, arg_type(i, 0))) check_distinct_cases(v, i);
    } else if (i->op == IR_OP_ret) {
        check_ret(v, i);
    }
}

/* ------------------------------------------------------------------------------------- dispatch */

static void (*const rules[])(verifier *v, const ir_inst *i) = {
    [R_LEAF] = check_leaf,
    [R_INT] = check_int,
    [R_FLT] = check_float,
    [R_CMPI] = check_compare_ints,
    [R_CMPF] = check_compare_floats,
    [R_TESTF] = check_compare_floats,
    [R_TRUNC] = check_trunc,
    [R_EXT] = check_ext,
    [R_FTOI] = check_float_to_int,
    [R_ITOF] = check_int_to_float,
    [R_FTOF] = check_float_to_float,
    [R_BITCAST] = check_bitcast,
    [R_PTOI] = check_ptr_to_int,
    [R_ITOP] = check_int_to_ptr,
    [R_PTOP] = check_ptr_to_ptr,
    [R_PTRADD] = check_ptradd,
    [R_FLT_INT] = check_float_with_int,
    [R_FLT_TO_I] = check_float_to_i32,
    [R_INT_TO_F] = check_nan,
    [R_SELECT] = check_select,
    [R_EXTRACT] = check_extract,
    [R_INSERT] = check_insert,
    [R_VEC] = check_vec,
    [R_SHUFFLE] = check_shuffle,
    [R_REDUCE] = check_reduce,
    [R_DOT] = check_to_one_float,
    [R_FVEC] = check_float_vector,
    [R_FVEC1] = check_to_one_float,
    [R_QUERY] = check_query,
    [R_ALLOCA] = check_alloca,
    [R_LOAD] = check_load,
    [R_STORE] = check_store,
    [R_COPY] = check_copy,
    [R_FILL] = check_fill,
    [R_ATOMIC] = check_atomic,
    [R_ATOMIC_STORE] = check_atomic_store,
    [R_SYNC] = check_sync_op,
    [R_GROUP] = check_group,
    [R_PHI] = check_phi,
    [R_CALL] = check_call,
    [R_TERM] = check_terminator,
    [R_CUSTOM] = verify_custom,
};

static bool check_operand_count(verifier *v, const ir_inst *i) {
    const ir_op_info *op = ir_info(i);
    bool more = (op->flags & F_VARIADIC) != 0;
    if (i->nargs == op->nargs || (more && i->nargs >= op->nargs)) return true;
    return verify_fail(v, "%s takes %s%u operands, not %u", op->name, more ? "at least " : "",
                       op->nargs, i->nargs);
}

void verify_inst(verifier *v, const ir_inst *i) {
    if (!check_operand_count(v, i)) return;
    rules[ir_info(i)->rule](v, i);
    verify_imm(v, i);
    if (!(ir_info(i)->levels & v->f->level))
        verify_fail(v, "%s is not legal at this level", ir_info(i)->name);
}
