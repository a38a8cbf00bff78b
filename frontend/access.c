/* access.c — Op…AccessChain: from indices to bytes.
 *
 * Each index adds index * size of what it steps over; indices are signed and of any width.  The
 * constant bytes are added last, in one step, so that neighbours share the rest of the address.
 * A chain into a built-in variable stays symbolic while its offset is constant.
 */
#include "frontend/reader.h"

typedef struct {
    ir_inst *sum;  /* bytes that are not constant, or NULL */
    int64_t bytes; /* constant ones */
} offset;

ir_inst *spv_times(reader *r, ir_inst *i, uint64_t size) {
    uint64_t log = 0;
    while (log < 63 && UINT64_C(1) << log < size) log++;
    if (size == 1) return i;
    if (UINT64_C(1) << log == size)
        return spv_op2(r, IR_OP_shl, i->type, i, ir_const(r->b.f, i->type, log));
    return spv_op2(r, IR_OP_mul, i->type, i, ir_const(r->b.f, i->type, size));
}

/* Adds index * size.  Arithmetic on the constant part wraps, as addresses do. */
static void add_index(reader *r, offset *o, uint32_t id, uint64_t size) {
    ir_type t = ir_size_type(r->m);
    ir_inst *i = spv_value(r, id);
    const spv_type *type = spv_type_of(r, id);
    if (!ir_is_int(i->type) || ir_is_bool(i->type) || ir_is_vector(i->type))
        spv_fail(r, "%s: the index %%%u has type %s, want an integer", spv_op_name(r), id,
                 spv_type_name(r, type));
    if (ir_is_const(i)) {
        o->bytes =
            (int64_t)((uint64_t)o->bytes + size * (uint64_t)ir_sext(i->imm.bits, type->bits));
        return;
    }
    if (type->odd) spv_refuse(r, "an index of %u bits is not supported", type->bits);
    unsigned have = ir_bits(r->m, i->type), want = ir_bits(r->m, t);
    if (have != want) i = spv_op1(r, have < want ? IR_OP_sext : IR_OP_trunc, t, i);
    i = spv_times(r, i, size);
    o->sum = o->sum ? spv_op2(r, IR_OP_add, t, o->sum, i) : i;
}

/* Steps into a member; returns its type. */
static spv_type *step_into(reader *r, offset *o, spv_type *t, uint32_t id) {
    uint64_t i;
    switch (t->form) {
    case T_STRUCT:
        if (!spv_int_constant(r, id, &i))
            spv_fail(r, "%s: the struct index %%%u is not constant", spv_op_name(r), id);
        if (i >= t->count)
            spv_fail(r, "%s: the struct has %u members, there is none with index %llu",
                     spv_op_name(r), t->count, (unsigned long long)i);
        o->bytes += (int64_t)spv_member_offset(r, t, i);
        return t->member[i];
    case T_ARRAY: add_index(r, o, id, ir_sizeof(r->m, t->elem->memory)); return t->elem;
    case T_VECTOR: add_index(r, o, id, ir_sizeof(r->m, t->elem->memory)); return t->elem;
    case T_LACKING: spv_refuse(r, "%s", t->reason);
    default: spv_fail(r, "%s: %s has no members", spv_op_name(r), spv_type_name(r, t));
    }
}

static void check_sized(reader *r, const spv_type *t) {
    if (t && t->form == T_LACKING) spv_refuse(r, "%s", t->reason);
    if (!t || t->form == T_VOID || t->form == T_FUNCTION)
        spv_fail(r, "%s: the size of what the pointer points to is not known", spv_op_name(r));
}

/* Keeps a constant chain into a built-in variable as it is. */
static bool define_builtin(reader *r, uint32_t base, const offset *o) {
    spv_id *e = spv_find(r, base), *result = spv_find(r, r->in.id);
    bool whole = e->kind == ID_VARIABLE && e->var->is_builtin;
    if (o->sum || (e->kind != ID_BUILTIN && !whole)) return false;
    spv_pointer *p = ir_new(&r->scratch, spv_pointer);
    *p = whole ? (spv_pointer){.var = e->var} : *e->pointer;
    p->offset += o->bytes;
    result->kind = ID_BUILTIN;
    result->pointer = p;
    return true;
}

/* base + indices from operand k on; t: what base points to; element: the first one steps over it.
 */
static void chain(reader *r, spv_type *t, uint32_t base, uint32_t k, bool element) {
    offset o = {0};
    check_sized(r, t);
    if (element && k < r->in.n) add_index(r, &o, r->in.arg[k++], ir_sizeof(r->m, t->memory));
    for (; k < r->in.n; k++) t = step_into(r, &o, t, r->in.arg[k]);
    spv_type *want = spv_value_type(r, r->in.type);
    if (want->form != T_POINTER) spv_fail(r, "%s: the result is not a pointer", spv_op_name(r));
    const spv_type *pointee = spv_pointee(r, want);
    if (pointee && !spv_same_type(pointee, t)) spv_warn(r, WARN_POINTEE);
    if (define_builtin(r, r->in.arg[base], &o)) return;
    ir_inst *p = spv_arg_pointer(r, base);
    bool inbounds = r->in.opcode != SPV_OP_AccessChain && r->in.opcode != SPV_OP_PtrAccessChain &&
                    r->in.opcode != SPV_OP_UntypedAccessChainKHR &&
                    r->in.opcode != SPV_OP_UntypedPtrAccessChainKHR;
    if (o.sum) p = ir_build_ptradd(&r->b, p, o.sum, inbounds);
    ir_inst *bytes = ir_const(r->b.f, ir_size_type(r->m), (uint64_t)o.bytes);
    spv_define_checked(r, ir_build_ptradd(&r->b, p, bytes, inbounds));
}

void spv_read_access_chain(reader *r) {
    const spv_type *p = spv_arg_type(r, 0);
    if (p->form != T_POINTER) spv_bad_type(r, 0, "a pointer");
    chain(r, spv_pointee(r, p), 0, 1,
          r->in.opcode == SPV_OP_PtrAccessChain || r->in.opcode == SPV_OP_InBoundsPtrAccessChain);
}

void spv_read_untyped_access_chain(reader *r) {
    spv_type *t = spv_type_at(r, r->in.arg[0]);
    chain(r, t, 1, 2,
          r->in.opcode == SPV_OP_UntypedPtrAccessChainKHR ||
              r->in.opcode == SPV_OP_UntypedInBoundsPtrAccessChainKHR);
}
