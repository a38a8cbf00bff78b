/* reassociate.c — computes the addresses of accesses from their terms.
 *
 * Blocks are visited in reverse postorder.  The address of an access is a base, a sum of values,
 * and a constant (alias.c).  If an earlier access has the same address, that is used.  If an
 * earlier access has an address at a constant distance, the new one is computed from it, so
 * neighbours differ by a constant however they were written.  An earlier access was executed, so
 * the flags of its address (nsw, inbounds) hold and may be relied on; the new steps have at most
 * inbounds.
 *
 * The first address of a sort is recomputed if that saves something: if terms cancel, or if only
 * one of its terms changes in the innermost loop.  The others are then added before the loops in
 * which they are invariant.
 */
#include "passes/analysis/alias.h"

enum { MAX_LEVELS = 4, MAX_CHAIN = 16 };

/* An address that is available at some instruction and wherever that dominates. */
typedef struct {
    pass_place place;
    ir_inst *address;
    const ir_inst *at;
} known;

/* A sum that has been built, without its constant. */
typedef struct {
    pass_affine of;
    const ir_block *block;
    ir_inst *value;
} built;

typedef struct {
    ir_func *f;
    const ir_dom *dom;
    const ir_loops *loops;
    ir_arena *scratch;
    pass_alias alias;
    ir_map exact, near; /* known by hash of the place, with and without the constant */
    ir_map sums;        /* built by hash of the terms and the block */
} reassociation;

/* --------------------------------------------------------------------------------------- places */

static bool is_before(const pass_symbol *a, const pass_symbol *b) {
    return a->value->id != b->value->id ? a->value->id < b->value->id : a->kind < b->kind;
}

static void sort_terms(pass_affine *f) {
    for (uint32_t k = 1; k < f->n; k++)
        for (uint32_t j = k; j > 0 && is_before(&f->term[j].of, &f->term[j - 1].of); j--) {
            pass_term t = f->term[j];
            f->term[j] = f->term[j - 1];
            f->term[j - 1] = t;
        }
}

static uint64_t hash_terms(const pass_affine *f, uint64_t h) {
    for (uint32_t k = 0; k < f->n; k++) {
        const pass_term *t = &f->term[k];
        h = ir_mix(ir_mix(h, t->of.value->id), (uint64_t)t->factor ^ (uint64_t)t->of.kind << 56);
    }
    return h;
}

static uint64_t hash_place(const pass_place *p, int64_t constant) {
    return hash_terms(&p->offset, ir_mix(p->base->id, (uint64_t)constant));
}

static bool has_same_terms(const pass_affine *f, const pass_affine *g) {
    bool same = f->n == g->n;
    for (uint32_t k = 0; same && k < f->n; k++) {
        const pass_term *x = &f->term[k], *y = &g->term[k];
        same = x->of.value == y->of.value && x->of.kind == y->of.kind && x->factor == y->factor;
    }
    return same;
}

/* The same but for the constant? */
static bool is_near(const pass_place *p, const pass_place *q) {
    return p->base == q->base && has_same_terms(&p->offset, &q->offset);
}

static const known *find_known(const reassociation *r, const ir_map *in, uint64_t hash,
                               const pass_place *p, const ir_block *b) {
    const known *k = ir_map_get(in, hash);
    return k && is_near(&k->place, p) && ir_block_dominates(r->dom, k->at->block, b) ? k : NULL;
}

static const known *find_exact(const reassociation *r, const pass_place *p, const ir_block *b) {
    const known *k = find_known(r, &r->exact, hash_place(p, p->offset.constant), p, b);
    return k && k->place.offset.constant == p->offset.constant ? k : NULL;
}

static const known *find_near(const reassociation *r, const pass_place *p, const ir_block *b) {
    return find_known(r, &r->near, hash_place(p, 0), p, b);
}

static void learn(reassociation *r, const pass_place *p, ir_inst *address, const ir_inst *at) {
    known *k = ir_alloc_raw(r->scratch, sizeof *k);
    k->place = *p;
    k->address = address;
    k->at = at;
    ir_map_set(r->scratch, &r->exact, hash_place(p, p->offset.constant), k);
    if (!find_near(r, p, at->block)) ir_map_set(r->scratch, &r->near, hash_place(p, 0), k);
}

/* ------------------------------------------------------------------------------------- building */

static ir_type size_type(const reassociation *r) { return ir_size_type(r->f->module); }

static ir_inst *build_term(const reassociation *r, ir_builder *b, const pass_term *t) {
    ir_type type = size_type(r);
    uint64_t factor = (uint64_t)t->factor;
    ir_inst *v = (ir_inst *)t->of.value;
    if (v->type != type) v = ir_build1(b, t->of.kind, type, v);
    if (factor == 1) return v;
    if (factor & (factor - 1))
        return ir_build2(b, IR_OP_mul, type, v, ir_const(r->f, type, factor));
    unsigned log = 0;
    while (factor >> log > 1) log++;
    return ir_build2(b, IR_OP_shl, type, v, ir_const(r->f, type, log));
}

/* The sum of the terms.  In one block each place where something is built comes after the last. */
static ir_inst *build_terms(reassociation *r, ir_builder *b, const pass_affine *f) {
    uint64_t hash = hash_terms(f, b->block->id);
    built *old = ir_map_get(&r->sums, hash), *now;
    if (old && old->block == b->block && has_same_terms(&old->of, f)) return old->value;
    ir_inst *sum = build_term(r, b, &f->term[0]);
    for (uint32_t k = 1; k < f->n; k++)
        sum = ir_build2(b, IR_OP_add, size_type(r), sum, build_term(r, b, &f->term[k]));
    now = ir_new(r->scratch, built);
    *now = (built){*f, b->block, sum};
    ir_map_set(r->scratch, &r->sums, hash, now);
    return sum;
}

static ir_inst *build_sum(reassociation *r, ir_builder *b, ir_inst *p, const pass_affine *f) {
    return f->n ? ir_build_ptradd(b, p, build_terms(r, b, f), false) : p;
}

static ir_inst *build_step(const reassociation *r, ir_builder *b, ir_inst *p, int64_t by,
                           bool inbounds) {
    return ir_build_ptradd(b, p, ir_const(r->f, size_type(r), (uint64_t)by), inbounds);
}

static void build_at(const reassociation *r, ir_builder *b, ir_inst *where) {
    ir_builder_init(b, r->f);
    ir_before(b, where);
    b->loc = where->loc;
}

/* --------------------------------------------------------------------------------------- levels */

/* The terms of an address by the loops in which they change: level 0 does in the innermost, level n
 * in the n-th around it but in none inside that, the last one anywhere else. */
typedef struct {
    pass_affine own;
    pass_place sum;        /* of this level and those above */
    const ir_block *until; /* the block before the loop in which the levels below change */
} level;

typedef struct {
    level level[MAX_LEVELS];
    unsigned n;
} levels;

/* A block before the loop and in the loop around it; NULL: there is none. */
static ir_block *block_around(const reassociation *r, const ir_loop *loop) {
    ir_block *b = r->dom->idom[loop->header->id];
    return !loop->irreducible && b && r->loops->of[b->id] == loop->parent ? b : NULL;
}

static bool is_there(const reassociation *r, const ir_inst *v, const ir_block *b) {
    return !v->block || ir_block_dominates(r->dom, v->block, b);
}

/* Only loops in which the base does not change. */
static void find_loops(const reassociation *r, const ir_inst *base, const ir_block *at, levels *l) {
    const ir_loop *loop = r->loops->of[at->id];
    l->n = 1;
    for (; loop && l->n < MAX_LEVELS; loop = loop->parent) {
        const ir_block *b = block_around(r, loop);
        if (!b || !is_there(r, base, b)) return;
        l->level[l->n++].until = b;
    }
}

static unsigned level_of(const reassociation *r, const levels *l, const ir_inst *v) {
    unsigned k = 0;
    while (k + 1 < l->n && is_there(r, v, l->level[k + 1].until)) k++;
    return k;
}

static void find_levels(const reassociation *r, const pass_place *p, const ir_block *at,
                        levels *l) {
    *l = (levels){0};
    find_loops(r, p->base, at, l);
    for (unsigned k = 0; k < l->n; k++) {
        l->level[k].sum.object = p->object;
        l->level[k].sum.base = p->base;
    }
    for (uint32_t t = 0; t < p->offset.n; t++) {
        unsigned n = level_of(r, l, p->offset.term[t].of.value);
        pass_affine *own = &l->level[n].own;
        own->term[own->n++] = p->offset.term[t];
        for (unsigned k = 0; k <= n; k++) {
            pass_affine *sum = &l->level[k].sum.offset;
            sum->term[sum->n++] = p->offset.term[t];
        }
    }
}

/* The terms of a level, added before the loop in which they do not change any more. */
static ir_inst *build_level(reassociation *r, const level *l, ir_inst *p) {
    ir_builder b;
    if (!l->own.n) return p;
    const known *k = find_exact(r, &l->sum, l->until);
    if (k) return k->address;
    build_at(r, &b, l->until->last);
    p = build_sum(r, &b, p, &l->own);
    learn(r, &l->sum, p, p);
    return p;
}

static ir_inst *build_address(reassociation *r, const levels *l, int64_t constant, ir_inst *at) {
    ir_builder b;
    ir_inst *p = (ir_inst *)l->level[0].sum.base;
    for (unsigned k = l->n; k-- > 1;) p = build_level(r, &l->level[k], p);
    build_at(r, &b, at);
    return build_step(r, &b, build_sum(r, &b, p, &l->level[0].own), constant, false);
}

/* ------------------------------------------------------------------------- what saves something */

static bool has_symbol(const pass_affine *f, const pass_symbol *s) {
    bool found = false;
    for (uint32_t k = 0; k < f->n; k++)
        found |= f->term[k].of.value == s->value && f->term[k].of.kind == s->kind;
    return found;
}

/* Is there a term in one of the last steps of the address that is not in the sum? */
static bool cancels(const ir_inst *p, const pass_place *place) {
    for (unsigned n = 0; p != place->base && n < MAX_CHAIN; p = ir_arg(p, 0), n++) {
        pass_affine step = {0};
        if (p->op == IR_OP_ptradd && pass_find_sum(ir_arg(p, 1), &step)) return true;
        for (uint32_t k = 0; k < step.n; k++)
            if (!has_symbol(&place->offset, &step.term[k].of)) return true;
    }
    return false;
}

/* Is more added before the loop than is available there already, and one term left inside? */
static bool leaves_loop(const reassociation *r, const ir_inst *p, const levels *l) {
    if (l->n < 2 || l->level[0].own.n != 1 || !l->level[1].sum.offset.n) return false;
    const ir_inst *base = l->level[0].sum.base;
    for (unsigned n = 0; p != base && !is_there(r, p, l->level[1].until); p = ir_arg(p, 0))
        if (++n > MAX_CHAIN) return false;
    return pass_find_place(&r->alias, p).offset.n < l->level[1].sum.offset.n;
}

/* ------------------------------------------------------------------------------------- accesses */

static bool is_constant_step(const ir_inst *p) {
    return p->op == IR_OP_ptradd && ir_is_const(ir_arg(p, 1));
}

/* The address without its last constant steps, and those. */
static ir_inst *strip(ir_inst *p, int64_t *constant) {
    *constant = 0;
    for (unsigned n = 0; is_constant_step(p) && n < MAX_CHAIN; p = ir_arg(p, 0), n++) {
        const ir_inst *step = ir_arg(p, 1);
        *constant = ir_wrap_add(*constant, ir_sext(step->imm.bits, ir_bits(NULL, step->type)));
    }
    return p;
}

static bool is_inbounds(const ir_inst *p) { return p->flags & IR_INBOUNDS; }

/* The address p from a neighbour of it. */
static ir_inst *build_near(const reassociation *r, const known *k, int64_t constant, ir_inst *p,
                           ir_inst *at) {
    int64_t own, unused;
    ir_builder b;
    ir_inst *from = strip(k->address, &own);
    if (from == strip(p, &unused)) return p;
    bool inbounds = is_inbounds(p) && (from == k->address || is_inbounds(k->address));
    int64_t by = (int64_t)((uint64_t)constant - (uint64_t)k->place.offset.constant + (uint64_t)own);
    build_at(r, &b, at);
    return build_step(r, &b, from, by, inbounds);
}

static ir_inst *build_anew(reassociation *r, const pass_place *place, ir_inst *p, ir_inst *at) {
    levels l;
    find_levels(r, place, at->block, &l);
    if (!leaves_loop(r, p, &l) && !cancels(p, place)) return p;
    return build_address(r, &l, place->offset.constant, at);
}

static bool reassociate_access(reassociation *r, ir_inst *access, unsigned arg) {
    ir_inst *p = ir_arg(access, arg), *q;
    pass_place place = pass_find_place(&r->alias, p);
    if (place.base == p) return false;
    sort_terms(&place.offset);
    const known *same = find_exact(r, &place, access->block);
    const known *near = find_near(r, &place, access->block);
    if (same)
        q = same->address;
    else if (near)
        q = build_near(r, near, place.offset.constant, p, access);
    else
        q = build_anew(r, &place, p, access);
    if (!same) learn(r, &place, q, access);
    if (q == p) return false;
    ir_count(access->block->func->module->cx, reassociate_addresses, 1);
    ir_set_arg(access, arg, q);
    return true;
}

/* Does: gives accesses addresses that share all but a constant with those of earlier accesses; adds
 *       what does not change in a loop before it; cancels terms.
 * Needs: equal values to be one (gvn).
 * Leaves: every block reachable; the old addresses, for dce.
 * Gives up: on sums of more than a few terms, and on what is no sum. */
bool pass_reassociate(ir_func *f, pass_ctx *cx) {
    bool changed = ir_remove_unreachable(f);
    reassociation r = {.f = f, .dom = ir_dominators(f), .scratch = cx->scratch};
    r.loops = ir_loop_tree(f);
    pass_alias_begin(&r.alias, f, cx->scratch);
    for (uint32_t k = 0; k < r.dom->order.n; k++)
        foreach_inst (i, r.dom->order.rpo[k]) {
            /* Copies and fills of no bytes access nothing, nor do lanes of which none is active, so
             * flags of their addresses prove nothing. */
            if (i->op == IR_OP_copy || i->op == IR_OP_fill || ir_is_masked(i)) continue;
            for (unsigned n = 0; n < 2 && n < i->nargs; n++)
                if (pass_is_accessed(i, n)) changed |= reassociate_access(&r, i, n);
        }
    return changed;
}
