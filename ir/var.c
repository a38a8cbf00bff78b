/* var.c — stack variables: what is done with them, reading bytes as another type, and copies of
 * structs that are passed by value.
 *
 * The address of an alloca may be moved by constants and cast between spaces before it is used.
 * ir_find_var_uses follows it there; a use that it does not know (a call, an atomic, a comparison,
 * the value operand of a store) means that the variable must stay in memory, unless its
 * result is not needed.
 *
 * ir_build_reinterpret is a store followed by a load of another type, without memory.  Memory is
 * little-endian, so bitcast's rule (lane 0 in the low bits) is memory's rule.  In
 * memory a boolean is a byte, and only its lowest bit counts.
 */
#include "ir/change.h"

/* ---------------------------------------------------------------------------- walking addresses */

typedef struct {
    const ir_inst *inst;
    int64_t offset;
} address;

typedef ir_vec(address) address_list;

/* The distance by which i moves the address that is its operand 0; false when it is unknown. */
static bool constant_step(const ir_module *m, const ir_inst *i, int64_t *step) {
    *step = 0;
    if (i->op == IR_OP_ptrcast) return true;
    if (i->op != IR_OP_ptradd || !ir_is_const(ir_arg(i, 1))) return false;
    *step = ir_sext(ir_arg(i, 1)->imm.bits, ir_bits(m, ir_arg(i, 1)->type));
    return true;
}

static bool accesses(const ir_inst *i, unsigned arg) {
    switch (i->op) {
    case IR_OP_load: return true;
    case IR_OP_store: return arg == 1;
    case IR_OP_copy: return arg <= 1;
    case IR_OP_fill: return arg == 0;
    default: return false;
    }
}

static bool follow(const ir_module *m, address at, ir_arena *scratch, address_list *work,
                   ir_var_uses *out) {
    for (const ir_use *u = at.inst->uses; u; u = u->next) {
        unsigned arg = (unsigned)(u - u->user->arg);
        int64_t step;
        if (accesses(u->user, arg))
            *ir_push(scratch, out) = (ir_var_use){u->user, arg, at.offset};
        else if (arg == 0 && constant_step(m, u->user, &step))
            *ir_push(scratch, work) =
                (address){u->user, (int64_t)((uint64_t)at.offset + (uint64_t)step)};
        else if (u->user->uses || !ir_has_flag(u->user, F_PURE))
            return false;
    }
    return true;
}

bool ir_find_var_uses(const ir_inst *alloca, ir_arena *scratch, ir_var_uses *out) {
    const ir_module *m = alloca->block->func->module;
    address_list work = {0};
    *ir_push(scratch, &work) = (address){.inst = alloca};
    while (work.n)
        if (!follow(m, work.data[--work.n], scratch, &work, out)) return false;
    return true;
}

void ir_remove_var(ir_inst *alloca, ir_arena *scratch) {
    ir_vec(ir_inst *) derived = {0};
    *ir_push(scratch, &derived) = alloca;
    for (uint32_t k = 0; k < derived.n; k++)
        foreach_use (u, derived.data[k]) *ir_push(scratch, &derived) = u->user;
    while (derived.n) {
        ir_inst *i = derived.data[--derived.n];
        if (i->block) ir_remove(i);
    }
}

/* ------------------------------------------------------------------------------- reinterpreting */

bool ir_can_reinterpret(const ir_module *m, ir_type from, ir_type to) {
    if (from == to) return true;
    if (ir_is_opaque(from) || ir_is_opaque(to)) return false;
    if (ir_is_aggregate(from) || ir_is_aggregate(to)) return false;
    return ir_access_size(m, from) == ir_access_size(m, to);
}

/* The type of plain bits in which a value of type t lies in memory. */
static ir_type stored_type(const ir_module *m, ir_type t) {
    if (ir_is_ptr(t)) return ir_size_type(m);
    return ir_is_bool(t) ? ir_with_elem(t, IR_I8) : t;
}

/* Does i give the bytes of its operand as another type? */
static bool keeps_bytes(const ir_module *m, const ir_inst *i) {
    switch (i->op) {
    case IR_OP_bitcast: return true;
    case IR_OP_zext: return ir_is_bool(ir_arg(i, 0)->type) && ir_elem(i->type) == IR_I8;
    case IR_OP_ptrtoint: return i->type == ir_size_type(m);
    case IR_OP_inttoptr: return ir_arg(i, 0)->type == ir_size_type(m);
    default: return false;
    }
}

ir_inst *ir_build_reinterpret(ir_builder *b, ir_inst *v, ir_type t) {
    const ir_module *m = b->f->module;
    while (v->type != t && keeps_bytes(m, v)) v = ir_arg(v, 0);
    if (v->type == t) return v;
    if (v->op == IR_OP_undef) return ir_undef(b->f, t);
    ir_type from = stored_type(m, v->type), to = stored_type(m, t);
    if (ir_is_ptr(v->type)) v = ir_build1(b, IR_OP_ptrtoint, from, v);
    if (ir_is_bool(v->type)) v = ir_build1(b, IR_OP_zext, from, v);
    if (from != to) v = ir_build1(b, IR_OP_bitcast, to, v);
    if (ir_is_ptr(t)) return ir_build1(b, IR_OP_inttoptr, t, v);
    return ir_is_bool(t) ? ir_build1(b, IR_OP_trunc, t, v) : v;
}

/* ----------------------------------------------------------------------------- structs by value */

enum { BYTES_ALIGN = 16 }; /* where the type is not known, for any scalar or vector in it */

ir_inst *ir_build_byval(ir_builder *b, const ir_param *p) {
    ir_module *m = b->f->module;
    bool typed = p->pointee != IR_VOID && ir_sizeof(m, p->pointee) == p->byval_size;
    ir_type t = typed ? p->pointee : ir_array_type(m, IR_I8, (uint32_t)p->byval_size);
    uint64_t align = typed ? ir_alignof(m, t) : BYTES_ALIGN;
    return ir_build_alloca(b, t, p->align > align ? p->align : (unsigned)align);
}

void ir_build_byval_copy(ir_builder *b, const ir_param *p, ir_inst *to, ir_inst *from) {
    ir_inst *size = ir_const(b->f, ir_size_type(b->f->module), p->byval_size);
    ir_build_raw(b, IR_OP_copy, IR_VOID, ir_with_imm(ir_mem_imm(p->align, 0)),
                 IR_ARGS(to, from, size));
}
