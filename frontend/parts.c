/* parts.c — values of struct and array type, split into leaves.
 *
 * The IR knows aggregates in memory only.  Here such a value is an array of its scalars, vectors
 * and pointers in order; a constant one stays a constant, and a loaded one stays in memory until a
 * leaf is asked for.  So the common load that is only stored again becomes one `copy`, and a member
 * that is picked out of a large struct costs one load.
 *
 * What all such values take together is bounded by a budget (spv_charge), since a few words can
 * name a value of thousands of parts.  Other expansions of few words into much draw on it too.
 */
#include "frontend/reader.h"

void spv_charge(reader *r, uint64_t parts) {
    if (parts <= r->budget) {
        r->budget -= parts;
        return;
    }
    if (!r->f) spv_refuse(r, "constants of this many parts are not supported");
    spv_refuse(r, "values of this many parts in one module are not supported");
}

static void check_leaves(reader *r, const spv_type *t) {
    if (t->leaves > SPV_MAX_LEAVES)
        spv_refuse(r, "a value of type %s has more than %d parts, which is not supported",
                   spv_type_name(r, t), SPV_MAX_LEAVES);
}

spv_parts *spv_parts_new(reader *r, const spv_type *t) {
    check_leaves(r, t);
    spv_charge(r, t->leaves);
    spv_parts *p = ir_new(&r->scratch, spv_parts);
    p->part = ir_new_array(&r->scratch, ir_inst *, t->leaves);
    return p;
}

void spv_define_parts(reader *r, spv_parts *p) {
    spv_id *e = spv_find(r, r->in.id);
    assert(e->kind == ID_PENDING);
    e->kind = ID_PARTS;
    e->parts = p;
}

/* ---------------------------------------------------------------------------- memory, by leaves */

static uint32_t align_at(uint32_t align, uint64_t offset) {
    uint64_t low = offset & (0u - offset);
    return low && low < align ? (uint32_t)low : align;
}

static spv_access access_at(spv_access a, uint64_t offset) {
    return (spv_access){align_at(a.align, offset), a.flags};
}

ir_inst *spv_step(reader *r, ir_inst *p, uint64_t bytes) {
    return ir_build_ptradd(&r->b, p, ir_const(r->b.f, ir_size_type(r->m), bytes), true);
}

/* Booleans are bytes in memory, any byte but 0 is true; odd integers have zeros in front. */
static ir_inst *load_scalar(ir_builder *b, const spv_type *t, ir_inst *p, uint32_t align,
                            uint32_t flags) {
    ir_inst *v = ir_build_load(b, t->memory, p, align, flags);
    if (ir_elem(t->value) == IR_I1)
        return ir_build2(b, IR_OP_ne, t->value, v, ir_const(b->f, t->memory, 0));
    if (!t->odd) return v;
    return ir_build2(b, IR_OP_and, t->value, v,
                     ir_const(b->f, t->value, ir_zext(UINT64_MAX, t->bits)));
}

static void store_scalar(reader *r, spv_type *t, ir_inst *v, ir_inst *p, spv_access a) {
    if (ir_elem(t->value) == IR_I1) v = spv_op1(r, IR_OP_zext, t->memory, v);
    ir_build_store(&r->b, v, p, a.align, a.flags);
}

/* -------------------------------------------------------------------------------- pending loads */

/* Loads one leaf after the place where the whole value was loaded. */
static ir_inst *load_leaf(reader *r, spv_type *t, const spv_parts *p, uint32_t leaf) {
    spv_place_of_leaf place = spv_find_leaf(r, t, leaf);
    uint64_t offset = p->offset + place.offset;
    ir_builder b;
    ir_builder_init(&b, r->b.f);
    b.block = p->block;
    b.before = p->after ? p->after->next : p->block->first;
    b.loc = p->loc;
    ir_inst *bytes = ir_const(b.f, ir_size_type(r->m), offset);
    ir_inst *from = ir_build_ptradd(&b, p->pointer, bytes, true);
    return load_scalar(&b, place.type, from, align_at(p->align, offset), p->flags);
}

static ir_inst *leaf_of(reader *r, spv_type *t, spv_parts *p, uint32_t leaf) {
    if (p->part && p->part[leaf]) return p->part[leaf];
    ir_inst *v = load_leaf(r, t, p, leaf);
    if (!p->part && t->leaves <= SPV_MAX_LEAVES) {
        spv_charge(r, t->leaves);
        p->part = ir_new_array(&r->scratch, ir_inst *, t->leaves);
    }
    if (p->part) p->part[leaf] = v;
    return v;
}

static spv_parts *pending_load(reader *r, ir_inst *p, uint32_t align, uint32_t flags) {
    spv_parts *parts = ir_new(&r->scratch, spv_parts);
    *parts = (spv_parts){.pointer = p,
                         .align = align,
                         .flags = flags,
                         .block = r->b.block,
                         .after = r->b.block->last,
                         .loc = r->b.loc,
                         .writes = r->body.writes};
    return parts;
}

void spv_define_load(reader *r, spv_type *t, ir_inst *p, uint32_t align, uint32_t flags) {
    if (!spv_is_aggregate(t)) {
        spv_define(r, load_scalar(&r->b, t, p, align, flags));
        return;
    }
    spv_parts *parts = pending_load(r, p, align, flags);
    spv_define_parts(r, parts);
    if (flags & IR_MEM_VOLATILE) spv_parts_of(r, r->in.id);
}

/* ------------------------------------------------------------------------------------ questions */

static const spv_id *aggregate(reader *r, uint32_t id) {
    const spv_id *e = spv_find(r, id);
    spv_type_of(r, id);
    if (e->kind == ID_PENDING)
        spv_fail(r, "%s: %%%u is used where its definition does not dominate", spv_op_name(r), id);
    if (e->kind == ID_CONST && e->konst->form == C_LACKING) spv_refuse(r, "%s", e->konst->reason);
    return e;
}

ir_inst *spv_leaf(reader *r, uint32_t id, uint32_t leaf) {
    const spv_id *e = aggregate(r, id);
    if (!spv_is_aggregate(e->type)) return spv_value(r, id);
    if (e->kind == ID_CONST) return spv_const_value(r, spv_const_leaf(r, e->konst, leaf));
    return leaf_of(r, e->type, e->parts, leaf);
}

spv_parts *spv_parts_of(reader *r, uint32_t id) {
    const spv_id *e = aggregate(r, id);
    check_leaves(r, e->type);
    if (e->kind == ID_PARTS && e->parts->part && !e->parts->pointer) return e->parts;
    spv_parts *p = spv_parts_new(r, e->type);
    for (uint32_t i = 0; i < e->type->leaves; i++) p->part[i] = spv_leaf(r, id, i);
    if (e->kind == ID_PARTS) e->parts->part = p->part;
    return p;
}

/* -------------------------------------------------------------------------------------- storing */

void spv_copy(reader *r, ir_inst *to, ir_inst *from, ir_inst *bytes, spv_access a) {
    if (ir_is_const(bytes) && bytes->imm.bits == 0) return;
    ir_build_raw(&r->b, IR_OP_copy, IR_VOID, ir_with_imm(ir_mem_imm(a.align, a.flags)),
                 IR_ARGS(to, from, bytes));
}

void spv_fill(reader *r, ir_inst *to, uint8_t byte, ir_inst *bytes, spv_access a) {
    if (ir_is_const(bytes) && bytes->imm.bits == 0) return;
    ir_build_raw(&r->b, IR_OP_fill, IR_VOID, ir_with_imm(ir_mem_imm(a.align, a.flags)),
                 IR_ARGS(to, ir_const(r->b.f, IR_I8, byte), bytes));
}

/* One node of a constant: nothing, zeros, or a scalar. */
static void store_node(reader *r, const spv_const *c, ir_inst *p, spv_access a) {
    if (c->form == C_UNDEF) return;
    if (c->form == C_LACKING) spv_refuse(r, "%s", c->reason);
    ir_inst *bytes = ir_const(r->b.f, ir_size_type(r->m), ir_sizeof(r->m, c->type->memory));
    if (spv_is_aggregate(c->type))
        spv_fill(r, p, 0, bytes, a);
    else
        store_scalar(r, c->type, spv_const_value(r, c), p, a);
}

void spv_store_const(reader *r, const spv_const *c, ir_inst *p, spv_access a) {
    struct {
        const spv_const *c;
        uint64_t offset;
        uint32_t next;
    } stack[IR_MAX_TYPE_DEPTH + 1];
    int depth = 0;
    stack[depth].c = c;
    stack[depth].offset = 0;
    stack[depth++].next = 0;
    while (depth > 0) {
        const spv_const *top = stack[depth - 1].c;
        uint64_t offset = stack[depth - 1].offset;
        bool whole = top->form != C_PARTS || !spv_is_aggregate(top->type);
        uint32_t i = stack[depth - 1].next++;
        if (whole) store_node(r, top, spv_step(r, p, offset), access_at(a, offset));
        if (whole || i == top->type->count) {
            depth--;
            continue;
        }
        spv_charge(r, 1);
        stack[depth].c = top->part[i];
        stack[depth].offset = offset + spv_member_offset(r, top->type, i);
        stack[depth++].next = 0;
    }
}

/* A load that nothing has written after: the bytes can be copied as they are. */
static bool may_copy(const reader *r, const spv_parts *p, uint32_t flags) {
    return p->pointer && p->block == r->b.block && p->writes == r->body.writes &&
           !((p->flags | flags) & IR_MEM_VOLATILE);
}

static void store_parts(reader *r, const spv_id *e, ir_inst *p, spv_access a) {
    spv_parts *v = e->parts;
    if (may_copy(r, v, a.flags)) {
        uint32_t both = align_at(v->align, v->offset);
        ir_inst *bytes = ir_const(r->b.f, ir_size_type(r->m), ir_sizeof(r->m, e->type->memory));
        spv_copy(r, p, spv_step(r, v->pointer, v->offset), bytes,
                 (spv_access){.align = both < a.align ? both : a.align});
        return;
    }
    check_leaves(r, e->type);
    spv_charge(r, e->type->leaves);
    for (uint32_t i = 0; i < e->type->leaves; i++) {
        spv_place_of_leaf place = spv_find_leaf(r, e->type, i);
        ir_inst *to = spv_step(r, p, place.offset);
        store_scalar(r, place.type, leaf_of(r, e->type, v, i), to, access_at(a, place.offset));
    }
}

void spv_store_any(reader *r, uint32_t id, ir_inst *p, spv_access a) {
    spv_type *t = spv_type_of(r, id);
    if (!spv_is_aggregate(t)) {
        store_scalar(r, t, spv_value(r, id), p, a);
        return;
    }
    const spv_id *e = aggregate(r, id);
    if (e->kind == ID_CONST)
        spv_store_const(r, e->konst, p, a);
    else
        store_parts(r, e, p, a);
}
