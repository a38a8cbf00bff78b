/* pointer.c — pointers with the pointee that a use wants, and access chains.
 *
 * A cast is written where it is first needed, and used again where that place dominates.  Casts of
 * parameters, variables and globals are in the head of the function, so each is cast once for each
 * pointee.
 *
 * If the wanted type is at the beginning of what a pointer points to, the cast for an access is an
 * access chain of zeros, from which consumers learn more than from a bit cast.  A pointer that is
 * used for more than an access is cast by OpBitcast, because consumers assume that what is computed
 * from a chain stays in the member to which it leads.
 */
#include "codegen/spirv/spirv.h"

/* -------------------------------------------------------------------------------- access chains */

static uint32_t scaled_term(sw_func *fn, const sw_term *t) {
    uint32_t value = sw_value(fn, t->value), type = sw_type(fn->w, t->value->type);
    if (t->factor == 1) return value;
    uint32_t factor = sw_int(fn->w, t->value->type, (uint64_t)t->factor);
    return sw_emit_result(fn, SpvOpIMul, type, SW_LIST(value, factor));
}

static uint32_t index_value(sw_func *fn, const sw_index *index) {
    uint32_t size = sw_type(fn->w, ir_size_type(fn->w->m)), sum = 0;
    if (index->member) return sw_u32(fn->w, (uint32_t)index->constant);
    for (unsigned i = 0; i < index->n; i++) {
        uint32_t term = scaled_term(fn, &index->term[i]);
        sum = sum ? sw_emit_result(fn, SpvOpIAdd, size, SW_LIST(sum, term)) : term;
    }
    if (sum && index->constant == 0) return sum;
    uint32_t constant = sw_size(fn->w, (uint64_t)index->constant);
    return sum ? sw_emit_result(fn, SpvOpIAdd, size, SW_LIST(sum, constant)) : constant;
}

static uint32_t put_chain(sw_func *fn, sw_section s, const sw_plan *plan, uint32_t type,
                          uint32_t base) {
    SpvOp op = plan->inbounds ? SpvOpInBoundsPtrAccessChain : SpvOpPtrAccessChain;
    uint32_t *operands = ir_new_array(fn->w->arena, uint32_t, plan->n + 1);
    operands[0] = base;
    for (unsigned i = 0; i < plan->n; i++) operands[i + 1] = index_value(fn, &plan->index[i]);
    uint32_t id = sw_new_id(fn->w);
    sw_put_result(fn->w, s, op, (sw_result){type, id}, (sw_list){plan->n + 1, operands});
    return id;
}

void sw_emit_ptradd(sw_func *fn, const ir_inst *i) {
    const sw_plan *plan = fn->info->typing.plan[i->id];
    uint32_t type = sw_pointer_type(fn->w, ir_space_of(i->type), plan->pointee);
    uint32_t base = sw_pointer(fn, plan->root, plan->base);
    sw_set_value(fn, i, put_chain(fn, SEC_BODY, plan, type, base));
}

/* ---------------------------------------------------------------------------------------- casts */

static bool is_rooted(const ir_inst *v) {
    return v->op == IR_OP_param || v->op == IR_OP_address || v->op == IR_OP_alloca;
}

static const sw_cast *find_cast(const sw_func *fn, const ir_inst *v, const sw_cast *wanted) {
    const sw_cast *c = fn->cast[v->id];
    while (c && !(c->pointee == wanted->pointee && c->inside == wanted->inside &&
                  ir_block_dominates(fn->dom, c->block, fn->block)))
        c = c->next;
    return c;
}

static uint32_t put_cast(sw_func *fn, const ir_inst *v, uint32_t id, const sw_plan *descent,
                         ir_type pointee) {
    sw_section s = is_rooted(v) ? SEC_CAST : SEC_BODY;
    uint32_t type = sw_pointer_type(fn->w, ir_space_of(v->type), pointee);
    if (descent) return put_chain(fn, s, descent, type, id);
    uint32_t cast = sw_new_id(fn->w);
    sw_put_result(fn->w, s, SpvOpBitcast, (sw_result){type, cast}, SW_LIST(id));
    return cast;
}

static uint32_t cast_pointer(sw_func *fn, const ir_inst *v, uint32_t id, const sw_plan *descent,
                             ir_type pointee) {
    const sw_cast wanted = {.pointee = pointee, .inside = descent != NULL};
    const sw_cast *known = find_cast(fn, v, &wanted);
    if (known) return known->id;
    sw_cast *c = ir_new(fn->w->arena, sw_cast);
    *c = wanted;
    c->id = put_cast(fn, v, id, descent, pointee);
    c->block = is_rooted(v) ? fn->f->first : fn->block;
    c->next = fn->cast[v->id];
    fn->cast[v->id] = c;
    return c->id;
}

static uint32_t pointer_to(sw_func *fn, ir_inst *v, ir_type pointee, bool access) {
    uint32_t type = sw_pointer_type(fn->w, ir_space_of(v->type), pointee);
    if (v->op == IR_OP_undef) return sw_undef(fn->w, type);
    if (ir_is_const(v)) return sw_null(fn->w, type);
    uint32_t id = sw_value(fn, v);
    ir_type is = sw_pointee(fn->info, v);
    if (is == pointee) return id;
    return cast_pointer(fn, v, id, access ? sw_plan_descent(fn->w, is, pointee) : NULL, pointee);
}

uint32_t sw_pointer(sw_func *fn, ir_inst *v, ir_type pointee) {
    return pointer_to(fn, v, pointee, false);
}

uint32_t sw_value_as(sw_func *fn, ir_inst *v, ir_type pointee) {
    return ir_is_ptr(v->type) ? sw_pointer(fn, v, pointee) : sw_value(fn, v);
}

uint32_t sw_access_pointer(sw_func *fn, ir_inst *v, ir_type pointee) {
    return pointer_to(fn, v, pointee, true);
}
