/* ops.c — operations that are one IR op each, and comparisons and logic.
 *
 * A plain instruction finds its op through the `spirv` column of ops.def, once per module.  The
 * op's type rule says what its operands must be; all types are checked here, so that what is built
 * always passes the verifier.
 *
 * Integers of odd widths are held in the next wider type with zeros in the unused bits: modular
 * operations are masked afterwards, signed ones get the sign into the unused bits first.
 */
#include "frontend/reader.h"

/* ---------------------------------------------------------------------------- which op a row is */

/* What follows the prefix in s; NULL: s does not begin with it. */
static const char *skip_prefix(const char *s, const char *prefix) {
    for (; *prefix; s++, prefix++)
        if (*s != *prefix) return NULL;
    return s;
}

static ir_op find_op(reader *r, const char *prefix, const char *name) {
    for (int op = 0; op < IR_OP_COUNT; op++) {
        const char *s = ir_ops[op].spirv ? skip_prefix(ir_ops[op].spirv, prefix) : NULL;
        if (s && !strcmp(s, name)) return (ir_op)op;
    }
    spv_refuse_inst(r, NULL);
}

ir_op spv_op_of_row(reader *r) {
    const spv_ext_row *ext = r->in.ext;
    uint16_t *known = ext ? &r->plain_ext[ext - spv_ext_rows] : &r->plain[r->in.row - spv_rows];
    if (!*known)
        *known = (uint16_t)(1 + (ext ? find_op(r, "ext ", ext->name)
                                     : find_op(r, "Op", r->in.row->name)));
    return (ir_op)(*known - 1);
}

/* ----------------------------------------------------------------------------------- type rules */

static ir_type like(ir_type shape, ir_type elem) { return ir_with_elem(shape, elem); }

static void want_form(reader *r, unsigned k, bool holds, const char *want) {
    if (!holds) spv_bad_type(r, k, want);
}

static void want_result(reader *r, bool holds, const char *want) {
    if (!holds)
        spv_fail(r, "%s: the result has type %s, want %s", spv_op_name(r),
                 spv_type_name(r, r->in.type), want);
}

static IR_NORETURN void fail_types(reader *r, const ir_type_error *e, uint32_t first) {
    const char *want = e->want == IR_VOID ? e->name : spv_ir_type_name(r, e->want);
    want_result(r, e->operand != IR_RESULT, want);
    spv_bad_type(r, first + (uint32_t)e->operand, want);
}

void spv_check_types(reader *r, ir_op op, ir_type t, ir_inst *const *a, uint32_t first) {
    ir_type types[4];
    unsigned n = ir_ops[op].nargs;
    for (unsigned k = 0; k < n; k++) types[k] = a[k]->type;
    if (ir_types_fit(r->m, op, t, n, types)) return;
    ir_type_error e = ir_find_type_error(r->m, op, t, n, types);
    fail_types(r, &e, first);
}

/* Logic and comparisons of bool and pointers are other instructions in SPIR-V. */
static void check_plain_types(reader *r, ir_op op, ir_type t, ir_inst *const *a) {
    bool wider = ir_ops[op].rule == R_BITS || ir_ops[op].rule == R_CMPI;
    want_form(r, 0, !wider || spv_is_integer(a[0]->type), "an integer type");
    spv_check_types(r, op, t, a, 0);
}

/* --------------------------------------------------------------------------------- odd integers */

ir_inst *spv_mask_odd(reader *r, const spv_type *t, ir_inst *v) {
    if (!t->odd) return v;
    return spv_op2(r, IR_OP_and, v->type, v,
                   spv_splat_const(r, v->type, ir_zext(UINT64_MAX, t->bits)));
}

ir_inst *spv_widen_odd(reader *r, const spv_type *t, ir_inst *v) {
    if (!t->odd) return v;
    ir_inst *unused = spv_splat_const(r, v->type, ir_bits(r->m, v->type) - t->bits);
    return spv_op2(r, IR_OP_ashr, v->type, spv_op2(r, IR_OP_shl, v->type, v, unused), unused);
}

typedef enum { ODD_MODULAR, ODD_UNSIGNED, ODD_SIGNED, ODD_LACKING } odd_class;

static odd_class odd_class_of(ir_op op) {
    switch (op) {
    case IR_OP_add:
    case IR_OP_sub:
    case IR_OP_mul:
    case IR_OP_shl: return ODD_MODULAR;
    case IR_OP_and:
    case IR_OP_or:
    case IR_OP_xor:
    case IR_OP_udiv:
    case IR_OP_urem:
    case IR_OP_lshr:
    case IR_OP_umin:
    case IR_OP_umax:
    case IR_OP_popcount:
    case IR_OP_eq:
    case IR_OP_ne:
    case IR_OP_ult:
    case IR_OP_ule: return ODD_UNSIGNED;
    case IR_OP_sdiv:
    case IR_OP_srem:
    case IR_OP_ashr:
    case IR_OP_smin:
    case IR_OP_smax:
    case IR_OP_slt:
    case IR_OP_sle: return ODD_SIGNED;
    default: return ODD_LACKING;
    }
}

/* Prepares the operands for an op on odd integers; returns their type, or NULL if none is odd. */
static const spv_type *prepare_odd(reader *r, ir_op op, unsigned n, ir_inst **a) {
    bool low = ir_ops[op].flags & F_LOW_BITS;
    const spv_type *t = low ? r->in.type : spv_arg_type(r, 0);
    for (unsigned k = 0; k < n; k++) {
        const spv_type *other = spv_arg_type(r, k);
        if (other->bits != t->bits && !(low && spv_is_wider(other, t)))
            spv_bad_type(r, k, spv_type_name(r, t));
    }
    if (!t->odd && !r->in.type->odd) return NULL;
    if (odd_class_of(op) == ODD_LACKING)
        spv_refuse(r, "%s on integers of %u bits is not supported", spv_op_name(r), t->bits);
    if (odd_class_of(op) == ODD_SIGNED)
        for (unsigned k = 0; k < n; k++) a[k] = spv_widen_odd(r, t, a[k]);
    return t;
}

/* ------------------------------------------------------------------------------------- emitting */

/* Additions and multiplications, and what rules may turn into them. */
static bool can_contract(ir_op op) {
    switch (op) {
    case IR_OP_fadd:
    case IR_OP_fsub:
    case IR_OP_fmul:
    case IR_OP_fdiv:
    case IR_OP_fneg: return true;
    default: return false;
    }
}

/* Flags by decoration, and contraction where it is allowed. */
static uint32_t flags_of(reader *r, ir_op op) {
    const spv_decor *d = spv_decor_of(r, r->in.id);
    const uint32_t fast = SpvFPFastMathModeNotNaNMask | SpvFPFastMathModeNotInfMask |
                          SpvFPFastMathModeNSZMask | SpvFPFastMathModeAllowRecipMask |
                          SpvFPFastMathModeFastMask;
    bool may_contract = can_contract(op);
    uint32_t flags = 0;
    if (ir_ops[op].rule == R_INT)
        flags |= (d->has & D_NSW ? IR_NSW : 0u) | (d->has & D_NUW ? IR_NUW : 0u);
    if (d->has & D_FAST_MATH) {
        flags |= (d->fast_math & fast) * IR_NNAN; /* the same bits, three places up */
        if (may_contract && (d->fast_math & SpvFPFastMathModeAllowContractFastINTELMask))
            flags |= IR_CONTRACT;
    }
    if (may_contract && r->body.contract) flags |= IR_CONTRACT;
    if (d->has & D_NO_CONTRACTION) flags &= ~(uint32_t)IR_CONTRACT;
    return flags;
}

ir_inst *spv_emit(reader *r, ir_op op, ir_type t, unsigned n, ir_inst *const *args) {
    uint32_t flags = flags_of(r, op);
    if (ir_ops[op].rule != R_INT && !ir_is_float(n ? args[0]->type : t)) flags = 0;
    return ir_build(&r->b, op, t, ir_with_flags(flags), (ir_args){n, args});
}

/* OpenCL C has fmax(float4, float) and its like; some producers leave the scalar as it is. */
static void spread_scalars(reader *r, ir_type t, unsigned n, ir_inst **a) {
    for (unsigned k = 0; k < n; k++) {
        bool number = ir_is_int(a[k]->type) || ir_is_float(a[k]->type);
        if (!number || ir_is_vector(a[k]->type)) continue;
        spv_warn(r, WARN_SPLAT);
        a[k] = ir_build_splat(&r->b, a[k], ir_lanes(t));
    }
}

static void take_args(reader *r, ir_op op, ir_inst **a) {
    unsigned n = ir_ops[op].nargs;
    const spv_type *result = spv_value_type(r, r->in.type);
    ir_type t = result->value;
    bool low = ir_ops[op].flags & F_LOW_BITS;
    if (r->in.n != n) spv_fail(r, "%s takes %u operands, not %u", spv_op_name(r), n, r->in.n);
    for (unsigned k = 0; k < n; k++)
        a[k] = low ? spv_low_value(r, r->in.arg[k], result) : spv_arg(r, k);
    if (r->in.ext && n > 1 && ir_is_vector(t)) spread_scalars(r, t, n, a);
    check_plain_types(r, op, t, a);
}

static void emit_args(reader *r, ir_op op, ir_inst **a) {
    unsigned n = ir_ops[op].nargs;
    const spv_type *odd = r->facts.any_odd ? prepare_odd(r, op, n, a) : NULL;
    ir_inst *v = spv_emit(r, op, r->in.type->value, n, a);
    if (odd && r->in.type->odd && odd_class_of(op) != ODD_UNSIGNED)
        v = spv_mask_odd(r, r->in.type, v);
    spv_define(r, v);
}

void spv_plain(reader *r, ir_op op) {
    ir_inst *a[4];
    take_args(r, op, a);
    emit_args(r, op, a);
}

void spv_read_plain(reader *r) { spv_plain(r, spv_op_of_row(r)); }

void spv_ext_plain(reader *r) { spv_plain(r, spv_op_of_row(r)); }

/* Instructions whose op has another name. */
void spv_read_alias(reader *r) {
    switch (r->in.opcode) {
    case SPV_OP_UCountLeadingZerosINTEL: spv_plain(r, IR_OP_clz); break;
    case SPV_OP_UCountTrailingZerosINTEL: spv_plain(r, IR_OP_ctz); break;
    case SPV_OP_AbsISubINTEL: spv_plain(r, IR_OP_sabsdiff); break;
    case SPV_OP_AbsUSubINTEL: spv_plain(r, IR_OP_uabsdiff); break;
    case SPV_OP_IAddSatINTEL: spv_plain(r, IR_OP_saddsat); break;
    case SPV_OP_UAddSatINTEL: spv_plain(r, IR_OP_uaddsat); break;
    case SPV_OP_ISubSatINTEL: spv_plain(r, IR_OP_ssubsat); break;
    case SPV_OP_USubSatINTEL: spv_plain(r, IR_OP_usubsat); break;
    case SPV_OP_IAverageINTEL: spv_plain(r, IR_OP_shadd); break;
    case SPV_OP_UAverageINTEL: spv_plain(r, IR_OP_uhadd); break;
    case SPV_OP_IAverageRoundedINTEL: spv_plain(r, IR_OP_srhadd); break;
    case SPV_OP_UAverageRoundedINTEL: spv_plain(r, IR_OP_urhadd); break;
    case SPV_OP_LessOrGreater: spv_plain(r, IR_OP_fone); break;
    default: spv_plain(r, IR_OP_fma);
    }
}

/* ---------------------------------------------------------------------------------- comparisons */

static ir_op less_op(uint32_t greater) {
    switch (greater) {
    case SPV_OP_UGreaterThan: return IR_OP_ult;
    case SPV_OP_SGreaterThan: return IR_OP_slt;
    case SPV_OP_UGreaterThanEqual: return IR_OP_ule;
    case SPV_OP_SGreaterThanEqual: return IR_OP_sle;
    case SPV_OP_FOrdGreaterThan: return IR_OP_folt;
    case SPV_OP_FUnordGreaterThan: return IR_OP_fult;
    case SPV_OP_FOrdGreaterThanEqual: return IR_OP_fole;
    default: return IR_OP_fule;
    }
}

void spv_read_swapped(reader *r) {
    ir_op op = less_op(r->in.opcode);
    ir_inst *a[2];
    take_args(r, op, a);
    emit_args(r, op, (ir_inst *[]){a[1], a[0]});
}

void spv_read_is_nan(reader *r) {
    ir_inst *x = spv_arg(r, 0);
    if (!ir_is_float(x->type)) spv_bad_type(r, 0, "a float");
    spv_define_checked(r, spv_emit(r, IR_OP_funo, like(x->type, IR_I1), 2, (ir_inst *[]){x, x}));
}

static ir_op logical_op(uint32_t opcode) {
    switch (opcode) {
    case SPV_OP_LogicalEqual: return IR_OP_eq;
    case SPV_OP_LogicalNotEqual: return IR_OP_ne;
    case SPV_OP_LogicalOr: return IR_OP_or;
    default: return IR_OP_and;
    }
}

void spv_read_logical(reader *r) {
    ir_type t = spv_value_type(r, r->in.type)->value;
    want_result(r, ir_is_bool(t), "bool");
    ir_inst *x = spv_arg_of(r, 0, t), *y = spv_arg_of(r, 1, t);
    spv_define(r, spv_op2(r, logical_op(r->in.opcode), t, x, y));
}

/* OpNot and OpLogicalNot */
void spv_read_not(reader *r) {
    const spv_type *t = spv_value_type(r, r->in.type);
    bool logical = r->in.opcode == SPV_OP_LogicalNot;
    want_result(r, ir_is_int(t->value) && ir_is_bool(t->value) == logical,
                logical ? "bool" : "an integer");
    ir_inst *x = spv_arg_low(r, 0, t), *ones = spv_splat_const(r, t->value, UINT64_MAX);
    spv_define(r, spv_mask_odd(r, t, spv_op2(r, IR_OP_xor, t->value, x, ones)));
}

void spv_read_any_all(reader *r) {
    ir_inst *x = spv_arg(r, 0);
    bool integers = spv_is_integer(x->type);
    want_form(r, 0, integers || ir_is_bool(x->type), "a vector of bool");
    if (integers) {
        spv_warn(r, WARN_TEST_INTEGER);
        x = spv_op2(r, IR_OP_ne, like(x->type, IR_I1), x, spv_splat_const(r, x->type, 0));
    }
    if (ir_is_vector(x->type)) x = spv_op1(r, spv_op_of_row(r), IR_I1, x);
    spv_define_checked(r, x);
}

/* --------------------------------------------------------------------------------------- select */

/* Leaf i of operand 1 or 2. */
static ir_inst *choose_leaf(reader *r, ir_inst *cond, uint32_t leaf) {
    ir_inst *x = spv_leaf(r, r->in.arg[1], leaf), *y = spv_leaf(r, r->in.arg[2], leaf);
    return ir_build_select(&r->b, cond, x, y);
}

void spv_read_select(reader *r) {
    spv_type *t = spv_value_type(r, r->in.type);
    ir_inst *cond = spv_arg(r, 0);
    bool by_lane = ir_is_vector(t->value) && cond->type == like(t->value, IR_I1);
    want_form(r, 0, cond->type == IR_I1 || by_lane, "bool");
    for (uint32_t k = 1; k < 3; k++)
        if (!spv_fits(r, k, t)) spv_bad_type(r, k, spv_type_name(r, t));
    if (!spv_is_aggregate(t)) {
        ir_inst *x = spv_low_value(r, r->in.arg[1], t), *y = spv_low_value(r, r->in.arg[2], t);
        spv_define(r, ir_build_select(&r->b, cond, x, y));
        return;
    }
    spv_parts *p = spv_parts_new(r, t);
    for (uint32_t i = 0; i < t->leaves; i++) p->part[i] = choose_leaf(r, cond, i);
    spv_define_parts(r, p);
}

void spv_read_assume(reader *r) {
    ir_inst *cond = spv_arg_of(r, 0, IR_I1);
    ir_build_raw(&r->b, IR_OP_assume, IR_VOID, IR_PLAIN, IR_ARGS(cond));
}
