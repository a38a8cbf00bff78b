/* congruence.c — congruence classes: values that share a slot of the frame.
 *
 * A phi and its operands form one class.  So a phi can be in memory and needs no code: its operands
 * are stored to the slot from which the phi is read.  This is correct only if no two members of a
 * class are live at once.  Two classes are merged if no member of one is live where a member of the
 * other is defined.  In SSA form it suffices to compare each member with the nearest one that
 * dominates it (Budimlić, Cooper, Harvey, Kennedy, Oberg and Reeves, "Fast copy coalescing and
 * live-range identification", 2002); members are sorted by the dominator tree, so that one walk
 * with a stack finds all of these (Boissinot et al. 2009).  A phi that cannot be merged with its
 * operands is isolated: its operands are moved at the ends of predecessors, and its result after
 * the phis (Sreedhar et al. 1999).
 */
#include "codegen/regalloc/spill.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_USES = 64,     /* that one question visits; a value with more interferes */
    MAX_ROUNDS = 3,    /* then all phis are isolated */
    MANY_OPERANDS = 16 /* of a phi that is merged with all of them or none */
};

/* A value, and the place of its definition in preorder of the dominator tree. */
typedef struct {
    uint64_t place;
    ir_inst *v;
} class_member;

/* What is known about the code; it changes when phis are isolated. */
typedef struct {
    const ir_live *live;
    const ir_dom *dom;
    uint32_t *at; /* by value id: position in its block */
} class_input;

/* Lists of one merge; they are kept so that their memory is used again. */
typedef struct {
    ra_values merged, dominating;
    ir_vec(class_member) keys;
    uint32_t *listed, now; /* by root: the number of the merge that has listed it */
} merge_scratch;

typedef struct {
    ra_state *s;
    class_input in;
    ra_values *members; /* by root: sorted by place of definition; see members_of */
    ir_inst **above;    /* by value id: the nearest member of the class that dominates, or NULL */
    bool *isolated;     /* by id, of phis */
    merge_scratch m;
    spill_classes out;
} class_builder;

uint32_t spill_root(const spill_classes *c, const ir_inst *v) {
    uint32_t id = v->id;
    while (c->parent[id] != id) id = c->parent[id] = c->parent[c->parent[id]];
    return id;
}

/* Few values ever share a slot, so the members of a class of one are listed when they are asked. */
static ra_values *members_of(class_builder *k, const ir_inst *v) {
    ra_values *members = &k->members[spill_root(&k->out, v)];
    if (!members->n) *ir_push(&k->s->scratch, members) = (ir_inst *)v;
    return members;
}

/* --------------------------------------------------------------------------------- interference */

static bool is_defined_before(const class_builder *k, const ir_inst *a, const ir_inst *b) {
    if (a->block == b->block) return k->in.at[a->id] < k->in.at[b->id];
    return k->in.dom->enter[a->block->id] < k->in.dom->enter[b->block->id];
}

static bool dominates(const class_builder *k, const ir_inst *a, const ir_inst *b) {
    if (a->block == b->block) return k->in.at[a->id] <= k->in.at[b->id];
    return ir_block_dominates(k->in.dom, a->block, b->block);
}

/* Is v, whose definition dominates that of d, live after the latter? */
static bool is_live_after(const class_builder *k, const ir_inst *v, const ir_inst *d) {
    unsigned visited = 0;
    if (ir_is_live(k->in.live, &k->in.live->out[d->block->id], v)) return true;
    foreach_use (u, v) {
        if (++visited > MAX_USES) return true;
        bool here = u->user->block == d->block && u->user->op != IR_OP_phi;
        if (here && k->in.at[u->user->id] > k->in.at[d->id]) return true;
    }
    return false;
}

/* Visits `merged` in preorder of the dominator tree, with the members that dominate on a stack. */
static bool is_interfering(class_builder *k) {
    ra_values *stack = &k->m.dominating;
    stack->n = 0;
    for (uint32_t n = 0; n < k->m.merged.n; n++) {
        ir_inst *v = k->m.merged.data[n];
        while (stack->n && !dominates(k, stack->data[stack->n - 1], v)) stack->n--;
        if (stack->n && is_live_after(k, stack->data[stack->n - 1], v)) return true;
        *ir_push(&k->s->scratch, stack) = v;
    }
    return false;
}

/* -------------------------------------------------------------------------------------- merging */

static void merge_members(class_builder *k, const ra_values *a, const ra_values *b) {
    uint32_t i = 0, j = 0;
    k->m.merged.n = 0;
    while (i < a->n || j < b->n) {
        bool left = j == b->n || (i < a->n && is_defined_before(k, a->data[i], b->data[j]));
        *ir_push(&k->s->scratch, &k->m.merged) = left ? a->data[i++] : b->data[j++];
    }
}

/* The first of v, and what comes before it in its class, that dominates d; NULL: none does. */
static ir_inst *find_above(const class_builder *k, ir_inst *v, const ir_inst *d) {
    while (v && !dominates(k, v, d)) v = k->above[v->id];
    return v;
}

/* `merged` becomes the members of a class. */
static void set_members(class_builder *k, uint32_t root) {
    ra_values *to = &k->members[root];
    ir_inst *before = NULL;
    to->n = 0;
    for (uint32_t n = 0; n < k->m.merged.n; n++) {
        ir_inst *v = k->m.merged.data[n];
        k->above[v->id] = find_above(k, before, v);
        *ir_push(&k->s->scratch, to) = before = v;
    }
}

static uint32_t place_among(const class_builder *k, const ra_values *members, const ir_inst *v) {
    uint32_t low = 0, high = members->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (is_defined_before(k, members->data[middle], v))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Merges a class with that of a single value.  What it can interfere with is above and below it, so
 * the class of a chain of phis does not cost the square of its length. */
static bool add_member(class_builder *k, ra_values *to, ir_inst *v) {
    uint32_t at = place_among(k, to, v), end = at;
    ir_inst *above = at ? find_above(k, to->data[at - 1], v) : NULL;
    if (above && is_live_after(k, above, v)) return false;
    for (; end < to->n && dominates(k, v, to->data[end]); end++)
        if (k->above[to->data[end]->id] == above && is_live_after(k, v, to->data[end]))
            return false;
    k->above[v->id] = above;
    for (uint32_t n = at; n < end; n++)
        if (k->above[to->data[n]->id] == above) k->above[to->data[n]->id] = v;
    *ir_push(&k->s->scratch, to) = v;
    memmove(to->data + at + 1, to->data + at, (to->n - 1 - at) * sizeof *to->data);
    to->data[at] = v;
    return true;
}

static bool merge_members_of(class_builder *k, uint32_t a, uint32_t b) {
    if (k->members[b].n == 1) return add_member(k, &k->members[a], k->members[b].data[0]);
    merge_members(k, &k->members[a], &k->members[b]);
    if (is_interfering(k)) return false;
    set_members(k, a);
    return true;
}

static bool merge(class_builder *k, const ir_inst *x, const ir_inst *y) {
    uint32_t p = spill_root(&k->out, x), q = spill_root(&k->out, y);
    if (p == q) return true;
    bool is_single = members_of(k, x)->n == 1;
    members_of(k, y);
    uint32_t a = is_single ? q : p, b = is_single ? p : q;
    if (!merge_members_of(k, a, b)) return false;
    k->out.parent[b] = a;
    k->members[b] = (ra_values){0};
    return true;
}

static int compare_members(const void *a, const void *b) {
    const class_member *x = a, *y = b;
    return x->place < y->place ? -1 : x->place > y->place;
}

static void list_members(class_builder *k, const ir_inst *v) {
    uint32_t root = spill_root(&k->out, v);
    if (k->m.listed[root] == k->m.now) return;
    k->m.listed[root] = k->m.now;
    const ra_values *members = members_of(k, v);
    for (uint32_t n = 0; n < members->n; n++) {
        ir_inst *m = members->data[n];
        uint64_t place = (uint64_t)k->in.dom->enter[m->block->id] << 32 | k->in.at[m->id];
        *ir_push(&k->s->scratch, &k->m.keys) = (class_member){place, m};
    }
}

/* `merged` becomes the members of the classes of a phi and its operands, sorted. */
static void merge_operands(class_builder *k, const ir_inst *phi) {
    k->m.now++;
    k->m.keys.n = k->m.merged.n = 0;
    list_members(k, phi);
    for (unsigned n = 0; n < phi->nargs; n++)
        if (!ir_is_leaf(ir_arg(phi, n))) list_members(k, ir_arg(phi, n));
    qsort(k->m.keys.data, k->m.keys.n, sizeof *k->m.keys.data, compare_members);
    foreach_in (const class_member, m, k->m.keys) *ir_push(&k->s->scratch, &k->m.merged) = m->v;
}

/* Merges all of them, or none.  Merging them one by one costs the square of their number. */
static bool merge_at_once(class_builder *k, const ir_inst *phi) {
    uint32_t to = spill_root(&k->out, phi);
    merge_operands(k, phi);
    if (is_interfering(k)) return false;
    for (unsigned n = 0; n < phi->nargs; n++) {
        const ir_inst *v = ir_arg(phi, n);
        uint32_t root = ir_is_leaf(v) ? to : spill_root(&k->out, v);
        k->members[root].n = 0;
        k->out.parent[root] = to;
    }
    set_members(k, to);
    return true;
}

static bool merge_phi(class_builder *k, const ir_inst *phi) {
    if (phi->nargs > MANY_OPERANDS) return merge_at_once(k, phi);
    for (unsigned n = 0; n < phi->nargs; n++)
        if (!ir_is_leaf(ir_arg(phi, n)) && !merge(k, phi, ir_arg(phi, n))) return false;
    return true;
}

/* ----------------------------------------------------------------------------------------- phis */

/* Every value is in a class of its own. */
static void start_classes(class_builder *k) {
    ir_arena *scratch = &k->s->scratch;
    uint32_t nvalues = k->s->f->next_id;
    k->in.live = ir_liveness(k->s->f);
    k->in.dom = ir_dominators(k->s->f);
    k->out.parent = ir_new_array(scratch, uint32_t, nvalues);
    k->members = ir_new_array(scratch, ra_values, nvalues);
    k->above = ir_new_array(scratch, ir_inst *, nvalues);
    k->in.at = ir_new_array(scratch, uint32_t, nvalues);
    k->m.listed = ir_new_array(scratch, uint32_t, nvalues);
    for (uint32_t id = 0; id < nvalues; id++) k->out.parent[id] = id;
    foreach_block (b, k->s->f) {
        uint32_t at = 0;
        foreach_inst (i, b) k->in.at[i->id] = ++at;
    }
}

/* Afterwards the only use of the phi is a move, and the only use of each operand is the phi. */
static void isolate(class_builder *k, ir_inst *phi) {
    ra_state *s = k->s;
    ir_block *b = phi->block;
    for (unsigned n = 0; n < phi->nargs; n++)
        if (!ir_is_leaf(ir_arg(phi, n)))
            ir_set_arg(phi, n, ra_move(s, ir_arg(phi, n), ra_end_of(b->pred[n])));
    ir_inst *move = ir_inst_new(s->f, IR_OP_move, phi->type, 1);
    ir_replace_uses(phi, move);
    ir_set_arg(move, 0, phi);
    ir_insert(move, b, ir_first_non_phi(b));
    k->isolated[phi->id] = true;
    *ir_push(&s->scratch, &k->out.isolated) = (spill_isolated){phi, move};
}

/* Isolates phis that cannot be merged with their operands, or all; true: the code has changed. */
static bool merge_or_isolate(class_builder *k, bool all) {
    ra_values apart = {0};
    foreach_block (b, k->s->f)
        foreach_phi (phi, b) {
            if (ra_class(k->s->t, phi) == CG_NO_CLASS || k->isolated[phi->id]) continue;
            if (all || !merge_phi(k, phi)) *ir_push(&k->s->scratch, &apart) = phi;
        }
    for (uint32_t n = 0; n < apart.n; n++) isolate(k, apart.data[n]);
    return apart.n > 0;
}

spill_classes spill_find_classes(ra_state *s) {
    class_builder k = {.s = s, .out.nold = s->f->next_id};
    k.isolated = ir_new_array(&s->scratch, bool, k.out.nold);
    unsigned round = 0;
    do start_classes(&k);
    while (merge_or_isolate(&k, round++ == MAX_ROUNDS));
    foreach_block (b, s->f)
        foreach_phi (phi, b)
            if (k.isolated[phi->id] && ra_class(s->t, phi) != CG_NO_CLASS) merge_phi(&k, phi);
    k.out.nvalues = s->f->next_id;
    return k.out;
}
