/* spaces.c — address space inference: generic pointers get the space that they come from.
 *
 * Optimistic data flow: a generic pointer is of no space yet, of one space, or of several.  A cast
 * from a space gives that space.  Offsets, selects and phis have the meet of the spaces of their
 * operands; null and undef fit any space.  All other generic pointers may be of any space.
 *
 * Pointers of one space become pointers of that space: offsets, selects and phis change their type,
 * and casts are looked through.  Accesses and comparisons then name the space, and queries of the
 * space are answered.  Users that still need a generic pointer (a store of it, an integer made of
 * it, a phi of several spaces) get a cast.
 */
#include "passes/analysis/alias.h"

enum { NONE = -1, SEVERAL = -2 };

typedef struct {
    ir_func *f;
    int8_t *space;     /* by value id, of generic pointers: an ir_space, NONE or SEVERAL */
    ir_inst **generic; /* by value id: the cast back, when a user needs one */
    ir_vec(ir_inst *) work;
    ir_arena *scratch;
    uint32_t n; /* values with an entry */
} spaces;

static bool is_generic(const ir_inst *v) {
    return ir_is_ptr(v->type) && ir_space_of(v->type) == IR_GENERIC;
}

/* ------------------------------------------------------------------------------------ data flow */

static bool is_any(const ir_inst *v) { return ir_is_const(v) || v->op == IR_OP_undef; }

static int space_of(const spaces *s, const ir_inst *v) {
    if (!is_generic(v)) return (int)ir_space_of(v->type);
    if (is_any(v)) return NONE;
    return v->block ? s->space[v->id] : SEVERAL;
}

static int meet_spaces(int a, int b) {
    if (a == NONE || b == NONE) return a == NONE ? b : a;
    return a == b ? a : SEVERAL;
}

static int find_space(const spaces *s, const ir_inst *v) {
    int found = NONE;
    switch (v->op) {
    case IR_OP_ptrcast:
    case IR_OP_ptradd: return space_of(s, ir_arg(v, 0));
    case IR_OP_select: return meet_spaces(space_of(s, ir_arg(v, 1)), space_of(s, ir_arg(v, 2)));
    case IR_OP_phi:
        for (unsigned n = 0; n < v->nargs; n++)
            found = meet_spaces(found, space_of(s, ir_arg(v, n)));
        return found;
    default: return SEVERAL;
    }
}

static void update_space(spaces *s, ir_inst *v) {
    int found = find_space(s, v);
    if (found == s->space[v->id]) return;
    s->space[v->id] = (int8_t)found;
    foreach_use (u, v)
        if (is_generic(u->user)) *ir_push(s->scratch, &s->work) = u->user;
}

static void settle(spaces *s) {
    while (s->work.n) update_space(s, s->work.data[--s->work.n]);
}

/* What is null or undef all around, perhaps with an offset, may be of any space in the end. */
static void give_up_on_none(spaces *s, ir_inst *v) {
    if (s->space[v->id] != NONE) return;
    s->space[v->id] = SEVERAL;
    foreach_use (u, v)
        if (is_generic(u->user)) *ir_push(s->scratch, &s->work) = u->user;
}

/* False: no generic pointer has a known space. */
static bool find_spaces(spaces *s) {
    bool any = false;
    memset(s->space, NONE, s->n);
    foreach_block (b, s->f)
        foreach_inst (i, b)
            if (is_generic(i)) update_space(s, i);
    settle(s);
    foreach_block (b, s->f)
        foreach_inst (i, b)
            if (is_generic(i)) give_up_on_none(s, i);
    settle(s);
    for (uint32_t id = 0; id < s->n; id++) any |= s->space[id] >= 0;
    return any;
}

/* ------------------------------------------------------------------------------------ rewriting */

/* Is v, generic at first, of one space? */
static bool is_of_one_space(const spaces *s, const ir_inst *v) {
    return v->block && v->id < s->n && s->space[v->id] >= 0;
}

static bool is_cast(const ir_inst *v) { return v->op == IR_OP_ptrcast; }

/* v as a pointer of type t, of whose space it is. */
static ir_inst *lower(const spaces *s, ir_inst *v, ir_type t) {
    if (v->op == IR_OP_undef) return ir_undef(s->f, t);
    if (ir_is_const(v)) return ir_const(s->f, t, 0);
    return is_cast(v) && is_generic(v) ? ir_arg(v, 0) : v;
}

/* v as a generic pointer. */
static ir_inst *raise(spaces *s, ir_inst *v) {
    ir_builder b;
    if (is_generic(v)) return v;
    if (s->generic[v->id]) return s->generic[v->id];
    ir_builder_init(&b, s->f);
    ir_before(&b, v->op == IR_OP_phi ? ir_first_non_phi(v->block) : v->next);
    b.loc = v->loc;
    return s->generic[v->id] = ir_build1(&b, IR_OP_ptrcast, ir_ptr(IR_GENERIC), v);
}

static ir_type space_type(const spaces *s, const ir_inst *v) {
    return ir_ptr((ir_space)s->space[v->id]);
}

/* Gives i operands of one space if it accesses them, and otherwise generic ones. */
static void adapt_operands(spaces *s, ir_inst *i) {
    for (unsigned n = 0; n < i->nargs; n++) {
        ir_inst *v = ir_arg(i, n);
        if (!is_of_one_space(s, v)) continue;
        ir_set_arg(i, n, pass_is_accessed(i, n) ? lower(s, v, space_type(s, v)) : raise(s, v));
    }
}

/* Pointers of one space, or null, are compared in that space. */
static void adapt_comparison(spaces *s, ir_inst *i) {
    ir_inst *a = ir_arg(i, 0), *b = ir_arg(i, 1);
    ir_inst *known = is_of_one_space(s, a) ? a : b;
    bool same = is_of_one_space(s, known) && (is_any(a) || is_of_one_space(s, a)) &&
                (is_any(b) || is_of_one_space(s, b));
    if (same && is_of_one_space(s, a) && is_of_one_space(s, b))
        same = s->space[a->id] == s->space[b->id];
    for (unsigned n = 0; n < 2 && same; n++)
        ir_set_arg(i, n, lower(s, ir_arg(i, n), space_type(s, known)));
    if (!same) adapt_operands(s, i);
}

/* The result of a query of the space of a pointer, or of a cast to a space; NULL: not known. */
static ir_inst *find_answer(const spaces *s, const ir_inst *i) {
    ir_inst *v = ir_arg(i, 0);
    int space = is_of_one_space(s, v) ? s->space[v->id] : SEVERAL;
    if (space == SEVERAL || space == IR_CONST) return NULL;
    if (i->op == IR_OP_ptr_space)
        return ir_const(s->f, i->type,
                        space == IR_LOCAL    ? IR_SEM_LOCAL
                        : space == IR_GLOBAL ? IR_SEM_GLOBAL
                                             : 0);
    if (space == (int)ir_space_of(i->type)) return lower(s, v, i->type);
    return i->op == IR_OP_ptrcast_to ? ir_const(s->f, i->type, 0) : NULL;
}

static void adapt_query(spaces *s, ir_inst *i) {
    ir_inst *answer = find_answer(s, i);
    if (!answer) {
        adapt_operands(s, i);
        return;
    }
    ir_replace_uses(i, answer);
    ir_remove(i);
}

static void adapt(spaces *s, ir_inst *i) {
    bool queries = is_cast(i) || i->op == IR_OP_ptrcast_to || i->op == IR_OP_ptr_space;
    if (is_cast(i) && is_generic(i)) return;
    if (is_of_one_space(s, i)) {
        /* The condition of a select and an offset are no pointers. */
        for (unsigned n = 0; n < i->nargs; n++)
            if (ir_is_ptr(ir_arg(i, n)->type)) ir_set_arg(i, n, lower(s, ir_arg(i, n), i->type));
        return;
    }
    if (queries)
        adapt_query(s, i);
    else if (ir_info(i)->rule == R_CMPI)
        adapt_comparison(s, i);
    else
        adapt_operands(s, i);
}

/* Does: gives generic pointers the space that they come from, looks through casts, answers
 *       queries of spaces.
 * Needs: pointers in values, not in memory (mem2reg); calls inlined.
 * Leaves: every block reachable; casts without uses.
 * Gives up: on pointers that are loaded, passed in, or come from several spaces. */
bool pass_spaces(ir_func *f, pass_ctx *cx) {
    bool changed = ir_remove_unreachable(f);
    spaces s = {.f = f, .scratch = cx->scratch, .n = f->next_id};
    s.space = ir_new_array(cx->scratch, int8_t, s.n);
    s.generic = ir_new_array(cx->scratch, ir_inst *, s.n);
    if (!find_spaces(&s)) return changed;
    /* Casts from a space remain, for users that need a generic pointer. */
    foreach_block (b, f)
        foreach_inst (i, b)
            if (is_of_one_space(&s, i) && !is_cast(i)) i->type = space_type(&s, i);
    foreach_block (b, f)
        foreach_inst (i, b) adapt(&s, i);
    return true;
}
