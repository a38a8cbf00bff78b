/* fold.c — OpSpecConstantOp and module-scope OpUndef.
 *
 * A constant expression is read by the very code that reads the instruction in a function: into a
 * function of its own, whose builder folds.  What comes out must be a constant, or the address of a
 * global plus bytes; the function is thrown away afterwards.
 */
#include "frontend/reader.h"

enum { FOLD_SERIAL = 1 };

void spv_begin_fold(reader *r) {
    r->fold = ir_func_new(r->m, ".constants", IR_VOID, 0, NULL);
    ir_block *b = ir_block_new(r->fold, NULL);
    ir_builder_init(&r->b, r->fold);
    ir_at_end(&r->b, b);
    r->serial = FOLD_SERIAL;
}

void spv_end_fold(reader *r) { ir_func_remove(r->fold); }

static bool may_be_constant(uint32_t opcode) {
    switch (opcode) {
    case SPV_OP_AccessChain:
    case SPV_OP_InBoundsAccessChain:
    case SPV_OP_PtrAccessChain:
    case SPV_OP_InBoundsPtrAccessChain:
    case SPV_OP_VectorShuffle:
    case SPV_OP_CompositeExtract:
    case SPV_OP_CompositeInsert:
    case SPV_OP_CompositeConstruct:
    case SPV_OP_CopyObject:
    case SPV_OP_CopyLogical:
    case SPV_OP_PtrCastToGeneric:
    case SPV_OP_GenericCastToPtr:
    case SPV_OP_Bitcast: return true;
    default:
        return (opcode >= SPV_OP_ConvertFToU && opcode <= SPV_OP_ConvertUToPtr) ||
               (opcode >= SPV_OP_SNegate && opcode <= SPV_OP_VectorTimesScalar) ||
               (opcode >= SPV_OP_IsNan && opcode <= SPV_OP_FUnordGreaterThanEqual) ||
               (opcode >= SPV_OP_ShiftRightLogical && opcode <= SPV_OP_BitCount);
    }
}

static bool keeps_address(reader *r, const ir_inst *v) {
    if (v->op == IR_OP_ptradd) return ir_is_const(ir_arg(v, 1));
    if (v->op == IR_OP_ptrtoint) return ir_bits(r->m, v->type) == r->m->pointer_bits;
    return v->op == IR_OP_ptrcast || v->op == IR_OP_inttoptr;
}

/* The address without casts and constant steps; *bytes is the sum of the steps. */
static const ir_inst *strip_address(reader *r, const ir_inst *v, uint64_t *bytes) {
    for (*bytes = 0; keeps_address(r, v); v = ir_arg(v, 0))
        if (v->op == IR_OP_ptradd) *bytes += ir_arg(v, 1)->imm.bits;
    return v;
}

static const spv_const **vector_parts(reader *r, const spv_type *t, const ir_inst *v) {
    const spv_const **part = ir_new_array(&r->scratch, const spv_const *, t->count);
    for (uint32_t i = 0; i < t->count; i++) {
        spv_const *lane = ir_new(&r->scratch, spv_const);
        *lane = (spv_const){.form = C_BITS, .type = t->elem, .bits = ir_lane_bits(v, i)};
        part[i] = lane;
    }
    return part;
}

/* The constant that an IR value of type t is, or NULL. */
static const spv_const *const_of_value(reader *r, spv_type *t, const ir_inst *v) {
    spv_const *c = ir_new(&r->scratch, spv_const);
    *c = (spv_const){.form = C_BITS, .type = t};
    const ir_inst *base = strip_address(r, v, &c->bits);
    if (base->op == IR_OP_undef) {
        c->form = C_UNDEF;
    } else if (base->op == IR_OP_address) {
        c->form = C_ADDRESS;
        c->global = base->imm.global;
    } else if (base->op != IR_OP_const) {
        return NULL;
    } else if (t->form == T_VECTOR) {
        c->form = C_PARTS;
        c->part = vector_parts(r, t, base);
    } else {
        c->bits += base->imm.bits;
    }
    return c;
}

/* A struct or array from its leaves.  The recursion is as deep as types nest, which is bounded. */
static const spv_const *const_of_parts(reader *r, spv_type *t, ir_inst **leaf) {
    spv_const *c = ir_new(&r->scratch, spv_const);
    const spv_const **part = ir_new_array(&r->scratch, const spv_const *, t->count);
    *c = (spv_const){.form = C_PARTS, .type = t, .part = part};
    for (uint32_t i = 0; i < t->count; i++) {
        spv_type *member = spv_member(r, t, i);
        ir_inst **first = leaf + spv_member_leaf(t, i);
        part[i] = spv_is_aggregate(member) ? const_of_parts(r, member, first)
                                           : const_of_value(r, member, *first);
        if (!part[i]) return NULL;
    }
    return c;
}

static const spv_const *folded_constant(reader *r, spv_id *e) {
    if (e->kind == ID_CONST) return e->konst;
    if (e->kind == ID_VALUE) return const_of_value(r, e->type, e->val);
    if (e->kind != ID_PARTS) return NULL;
    return const_of_parts(r, e->type, spv_parts_of(r, r->in.id)->part);
}

static bool has_zero_lane(const ir_inst *v) {
    for (unsigned i = 0; i < ir_lanes(v->type); i++)
        if (ir_lane_bits(v, i) == 0) return true;
    return false;
}

/* Is a lane the quotient of the least number and -1, which is one more than the greatest? */
static bool has_overflow_lane(const reader *r, const ir_inst *a, const ir_inst *b) {
    const unsigned bits = ir_bits(r->m, a->type);
    const uint64_t least = UINT64_C(1) << (bits - 1), minus_one = least | (least - 1);
    for (unsigned i = 0; i < ir_lanes(a->type); i++)
        if (ir_lane_bits(a, i) == least && ir_lane_bits(b, i) == minus_one) return true;
    return false;
}

static bool has_no_quotient(reader *r, bool is_signed) {
    const ir_inst *a = spv_arg(r, 0), *b = spv_arg(r, 1);
    if (!ir_is_const(a) || !ir_is_const(b)) return false;
    return has_zero_lane(b) || (is_signed && has_overflow_lane(r, a, b));
}

/* A division of integers whose result is undefined. */
static bool is_undefined(reader *r) {
    switch (r->in.opcode) {
    case SPV_OP_UDiv:
    case SPV_OP_UMod: return has_no_quotient(r, false);
    case SPV_OP_SDiv:
    case SPV_OP_SRem:
    case SPV_OP_SMod: return has_no_quotient(r, true);
    default: return false;
    }
}

static const spv_const *undef_of(reader *r, spv_type *t) {
    spv_const *c = ir_new(&r->scratch, spv_const);
    *c = (spv_const){.form = C_UNDEF, .type = t};
    return c;
}

/* Reads the inner instruction; r->in names it while this runs. */
static void fold(reader *r) {
    spv_id *e = spv_find(r, r->in.id);
    r->in.row->read(r);
    if (e->kind == ID_BUILTIN) return;
    const spv_const *c = is_undefined(r) ? undef_of(r, e->type) : folded_constant(r, e);
    if (!c) spv_fail(r, "%s: the result is not constant", spv_op_name(r));
    e->kind = ID_CONST;
    e->konst = c;
}

void spv_read_spec_constant_op(reader *r) {
    const spv_row *row = spv_row_of(r->in.arg[0]);
    if (!row || !row->read || row->form != FORM_V || !may_be_constant(r->in.arg[0]))
        spv_fail(r, "opcode %u is no constant expression", r->in.arg[0]);
    if (!r->in.type) spv_fail(r, "%s: %%%u is not a type", spv_op_name(r), r->in.arg[-2]);
    spv_id *e = spv_new_id(r, ID_PENDING);
    e->type = r->in.type;
    r->in.opcode = r->in.arg[0];
    r->in.row = row;
    r->in.arg++;
    r->in.n--;
    if (r->in.n < row->min || r->in.n > row->max)
        spv_fail(r, "%s does not take %u operands", spv_op_name(r), r->in.n);
    fold(r);
}

void spv_read_undef(reader *r) {
    spv_const *c = spv_new_const(r, C_UNDEF);
    if (!r->f) {
        spv_define_const(r, c);
        return;
    }
    spv_id *e = spv_find(r, r->in.id);
    e->kind = ID_CONST;
    e->konst = c;
}
