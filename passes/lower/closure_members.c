/* closure_members.c — the members of a struct by value, from a description or from its type.
 *
 * Members are in ascending order of offsets.  Bytes between them are members, too, and marked: the
 * type of a union is that of one of its members, so they may be bytes of another one.  Time is that
 * of CLOSURE_MEMBERS members, and of the types: arrays of values are not walked further.
 */
#include "passes/lower/closures.h"

static void refuse(closure *c, const char *name, uint64_t at, const char *why) {
    if (c->error) return;
    c->error = name;
    c->why = why;
    c->at = at;
}

/* ----------------------------------------------------------------------------------- one member */

/* What is said of a member besides its type. */
typedef struct {
    uint64_t offset;
    const char *name;
    bool marked;
} place;

static bool fits_behind(closure *c, uint64_t offset) {
    if (offset < c->end) refuse(c, "overlap", offset, "two members have this byte");
    return !c->error;
}

static void push_value(closure *c, const closure_member *m) {
    if (!fits_behind(c, m->offset)) return;
    c->has_marks |= m->marked;
    c->end = m->offset + ir_access_size(c->pass->m, m->held);
    c->many |= ++c->values > CLOSURE_MEMBERS;
    if (!c->many) *ir_push(c->pass->scratch, &c->list) = *m;
}

/* Integers as large as their alignment allows, up to `end`.  NULL: they are padding. */
static void push_bytes(closure *c, uint64_t end, const place *at) {
    static const ir_type ints[] = {IR_I8, IR_I16, IR_I32, IR_I64};
    while (!c->error && !c->many && c->end < end) {
        unsigned log = 3;
        while (c->end & ((1u << log) - 1) || 1u << log > end - c->end) log--;
        const ir_type t = ints[log];
        push_value(c, &(closure_member){.type = t,
                                        .held = t,
                                        .offset = c->end,
                                        .padding = !at,
                                        .marked = at && at->marked,
                                        .name = at ? at->name : NULL});
    }
    if (c->many && c->end < end) c->end = end;
}

static void add_value(closure *c, ir_type t, place at) {
    const bool pointer = ir_is_ptr(t), generic = t == ir_ptr(IR_GENERIC);
    const bool host = !pointer || generic || t == ir_ptr(IR_GLOBAL) || t == ir_ptr(IR_CONST);
    if (!host || ir_is_opaque(t))
        refuse(c, "layout-mismatch", at.offset, "a member has a type that no host has");
    c->has_pointers |= pointer;
    push_bytes(c, at.offset, NULL);
    push_value(c, &(closure_member){.type = generic ? ir_ptr(IR_GLOBAL) : t,
                                    .held = t,
                                    .offset = at.offset,
                                    .marked = at.marked && !pointer,
                                    .name = at.name});
}

static void add_special(closure *c, place at, uint64_t size, const closure_functions *functions) {
    push_bytes(c, at.offset, NULL);
    if (!fits_behind(c, at.offset)) return;
    if (c->list.n >= 2 * CLOSURE_MEMBERS)
        refuse(c, "area-too-large", at.offset, "too many members are special");
    c->has_specials = true;
    c->end = at.offset + size;
    *ir_push(c->pass->scratch, &c->list) = (closure_member){
        .offset = at.offset, .marked = at.marked, .special = functions, .name = at.name};
}

/* ---------------------------------------------------------------------------------------- types */

static bool has_special(const closure_pass *p, ir_type t) {
    return p->holders && ir_is_aggregate(t) && p->holders[t >> 12];
}

static void add_members(closure *c, ir_type t, place at);

/* Arrays of more bytes than a parameter has are text, or padding that compilers name. */
enum { MOST_BYTES = 8 };

/* Once there are too many members, only specials count. */
static void add_elements(closure *c, const ir_type_info *array, place at) {
    const ir_type part = array->member[0];
    const uint64_t size = ir_sizeof(c->pass->m, part), end = at.offset + array->count * size;
    if (part == IR_I8 && array->count > MOST_BYTES) {
        push_bytes(c, at.offset, NULL);
        if (fits_behind(c, at.offset)) push_bytes(c, end, &at);
        return;
    }
    for (uint32_t k = 0; k < array->count && !c->error; k++) {
        if (c->many && !has_special(c->pass, part)) {
            c->end = end;
            return;
        }
        add_members(c, part, at);
        at.offset += size;
    }
}

static void add_members(closure *c, ir_type t, place at) {
    const ir_module *m = c->pass->m;
    const closure_functions *special =
        ir_is_aggregate(t) ? ir_map_get(&c->pass->specials, t) : NULL;
    if (special) {
        add_special(c, at, ir_sizeof(m, t), special);
    } else if (!ir_is_aggregate(t)) {
        add_value(c, t, at);
    } else if (ir_sizeof(m, t) == 0) {
        fits_behind(c, at.offset);
    } else if (c->many && !has_special(c->pass, t)) {
        if (fits_behind(c, at.offset)) c->end = at.offset + ir_sizeof(m, t);
    } else {
        const ir_type_info *info = ir_type_get(m, t);
        const bool array = info->kind == IR_ARRAY;
        if (array) add_elements(c, info, at);
        for (uint32_t k = 0; k < info->count && !array && !c->error; k++) {
            place inner = at;
            inner.offset += info->offset[k];
            inner.marked |= info->marked && info->marked[k];
            add_members(c, info->member[k], inner);
        }
    }
}

/* --------------------------------------------------------------------------------- descriptions */

static uint64_t size_of(const closure *c, const ir_layout_member *m) {
    return m->kind == IR_MEMBER_VALUE ? ir_sizeof(c->pass->m, m->type) : m->size;
}

/* Member k does not follow all those before it: why? */
static void explain_order(closure *c, uint32_t k) {
    const ir_layout_member *list = c->described->members.data, *b = &list[k];
    for (uint32_t j = 0; j < k; j++) {
        const ir_layout_member *a = &list[j];
        if (a->offset >= b->offset + size_of(c, b) || b->offset >= a->offset + size_of(c, a))
            continue;
        const bool bytes = a->kind == IR_MEMBER_BYTES || b->kind == IR_MEMBER_BYTES;
        const bool special = a->kind == IR_MEMBER_SPECIAL || b->kind == IR_MEMBER_SPECIAL;
        if (bytes && special)
            refuse(c, "special-in-union", b->offset, "a special is among bytes without a type");
        refuse(c, "overlap", b->offset, "two members have this byte");
    }
    refuse(c, "layout-mismatch", b->offset, "the offsets do not ascend");
}

static void add_described(closure *c, uint32_t k) {
    const ir_layout_member *m = &c->described->members.data[k];
    const closure_pass *p = c->pass;
    if (m->offset < c->end) explain_order(c, k);
    if (m->offset + size_of(c, m) > c->described->size)
        refuse(c, "layout-mismatch", m->offset, "a member ends after the struct");
    if (m->kind == IR_MEMBER_SPECIAL && !m->size)
        refuse(c, "layout-mismatch", m->offset, "a special has no bytes");
    if (c->error) return;
    const place at = {m->offset, m->name, m->specialized};
    switch (m->kind) {
    case IR_MEMBER_VALUE: add_members(c, m->type, at); break;
    case IR_MEMBER_BYTES:
        push_bytes(c, m->offset, NULL);
        push_bytes(c, m->offset + m->size, &at);
        break;
    case IR_MEMBER_SPECIAL:
        add_special(c, at, m->size, closure_find_functions(p, m->init, m->finalize));
        break;
    }
    if (c->end < m->offset + size_of(c, m)) push_bytes(c, m->offset + size_of(c, m), NULL);
}

static bool has_known_type(const closure *c) {
    const ir_type t = c->param->pointee;
    return t != IR_VOID && ir_sizeof(c->pass->m, t) == c->param->byval_size;
}

void closure_find_members(closure *c) {
    const uint64_t size = c->param->byval_size;
    if (c->described)
        for (uint32_t k = 0; k < c->described->members.n && !c->error; k++) add_described(c, k);
    else if (has_known_type(c))
        add_members(c, c->param->pointee, (place){0});
    else
        refuse(c, "layout-mismatch", 0, "the type of the struct is not known, or has another size");
    push_bytes(c, size, NULL);
    if (c->end > size) refuse(c, "layout-mismatch", size, "a member ends after the struct");
    c->has_specials |= !c->described && has_special(c->pass, c->param->pointee);
}
