/* cfg_test.c — orders, dominators, frontiers, the loop tree and liveness against their definitions.
 *
 * Each analysis is checked on thousands of small random graphs against a naive computation that
 * follows the definition word by word: a dominates b when removing a makes b unreachable; a loop is
 * the strongly connected part of its header's descendants; a value is live where a path leads to a
 * use.  Long chains check that nothing recurses and nothing is quadratic.
 */
#include "ir/change.h"
#include "random_cfg.h"

#include <criterion/criterion.h>

enum { ROUNDS = 3000 };

/* --------------------------------------------------------------------------------------- orders */

static void check_order(graph *g) {
    const ir_order *o = &ir_dominators(g->f)->order;
    bool reached[MAX_BLOCKS] = {0};
    uint32_t count = 0;
    graph_reach(g->f->first, NULL, reached);
    for (uint32_t i = 0; i < g->n; i++) {
        ir_block *b = g->block[i];
        count += reached[i];
        cr_assert_eq(reached[i], o->index[i] != UINT32_MAX);
        cr_assert_eq(reached[i], o->number[i] != UINT32_MAX);
        if (!reached[i]) continue;
        cr_assert_eq(o->rpo[o->index[i]], b);
        cr_assert_eq(o->pre[o->number[i]], b);
        if (b != g->f->first) ir_pred_index(b, o->pre[o->parent[o->number[i]]]);
    }
    cr_assert_eq(count, o->n);
    cr_assert_eq(o->rpo[0], g->f->first);
}

/* In reverse postorder only edges to ancestors in the spanning tree go backwards. */
static void check_back_edges(graph *g) {
    const ir_order *o = &ir_dominators(g->f)->order;
    for (uint32_t i = 0; i < o->n; i++) {
        ir_block *b = o->rpo[i];
        for (uint32_t s = 0; s < b->nsucc; s++) {
            uint32_t to = o->number[b->succ[s]->id], up = o->number[b->id];
            if (o->index[b->succ[s]->id] > i) continue;
            while (up > to) up = o->parent[up];
            cr_assert_eq(up, to);
        }
    }
}

Test(cfg, orders) {
    rng r = {1};
    for (unsigned round = 0; round < ROUNDS; round++) {
        graph g;
        graph_random(&g, &r);
        check_order(&g);
        check_back_edges(&g);
        graph_close(&g);
    }
}

Test(cfg, remove_unreachable) {
    rng r = {2};
    for (unsigned round = 0; round < ROUNDS; round++) {
        graph g;
        graph_random(&g, &r);
        bool reached[MAX_BLOCKS] = {0}, all = true;
        graph_reach(g.f->first, NULL, reached);
        for (uint32_t i = 0; i < g.n; i++) all &= reached[i];
        cr_assert_eq(ir_remove_unreachable(g.f), !all);
        foreach_block (b, g.f) {
            cr_assert(reached[b->id]);
            for (uint32_t p = 0; p < b->npred; p++) cr_assert(reached[b->pred[p]->id]);
        }
        cr_assert_eq(ir_remove_unreachable(g.f), false);
        graph_close(&g);
    }
}

/* ----------------------------------------------------------------------------------- dominators */

static void check_dominators(graph *g) {
    const ir_dom *d = ir_dominators(g->f);
    bool live[MAX_BLOCKS] = {0};
    graph_reach(g->f->first, NULL, live);
    for (uint32_t a = 0; a < g->n; a++) {
        bool reached[MAX_BLOCKS] = {0};
        graph_reach(g->f->first, g->block[a], reached);
        for (uint32_t b = 0; b < g->n; b++) {
            bool expect = a == b || !live[b] || (live[a] && !reached[b]);
            cr_assert_eq(ir_block_dominates(d, g->block[a], g->block[b]), expect);
        }
    }
}

/* The immediate dominator is the strict dominator that all others dominate. */
static void check_tree(graph *g) {
    const ir_dom *d = ir_dominators(g->f);
    for (uint32_t i = 0; i < d->order.n; i++) {
        ir_block *b = d->order.rpo[i], *up = d->idom[b->id];
        cr_assert_eq(up == NULL, b == g->f->first);
        if (!up) continue;
        bool listed = false;
        for (ir_block *k = d->child[up->id]; k; k = d->sibling[k->id]) listed |= k == b;
        cr_assert(listed);
        cr_assert(up != b && ir_block_dominates(d, up, b));
        for (uint32_t k = 0; k < d->order.n; k++) {
            ir_block *x = d->order.rpo[k];
            if (x != b && ir_block_dominates(d, x, b)) cr_assert(ir_block_dominates(d, x, up));
        }
    }
}

static void check_common(graph *g) {
    const ir_dom *d = ir_dominators(g->f);
    for (uint32_t i = 0; i < d->order.n; i++) {
        for (uint32_t k = 0; k < d->order.n; k++) {
            ir_block *a = d->order.rpo[i], *b = d->order.rpo[k];
            ir_block *c = ir_common_dominator(d, a, b);
            cr_assert(ir_block_dominates(d, c, a) && ir_block_dominates(d, c, b));
            for (ir_block *x = d->child[c->id]; x; x = d->sibling[x->id])
                cr_assert(!ir_block_dominates(d, x, a) || !ir_block_dominates(d, x, b));
        }
    }
}

Test(dom, random_graphs) {
    rng r = {3};
    for (unsigned round = 0; round < ROUNDS; round++) {
        graph g;
        graph_random(&g, &r);
        check_dominators(&g);
        check_tree(&g);
        check_common(&g);
        graph_close(&g);
    }
}

/* a -> b -> c, and a -> c. */
static void open_triangle(graph *g, ir_block **a, ir_block **b, ir_block **c) {
    graph_open(g);
    *a = graph_add(g);
    *b = graph_add(g);
    *c = graph_add(g);
    graph_end(g, *a, 2, (ir_block *[]){*b, *c});
    graph_end(g, *b, 1, c);
    graph_end(g, *c, 0, NULL);
}

Test(dom, values) {
    graph g;
    ir_block *a, *b, *c;
    open_triangle(&g, &a, &b, &c);
    ir_inst *in_b[3];
    for (unsigned k = 0; k < 3; k++) {
        ir_before(&g.b, b->last);
        in_b[k] = ir_build_raw(&g.b, IR_OP_add, IR_I32, IR_PLAIN, (ir_args){2, g.f->param_val});
    }
    const ir_dom *d = ir_dominators(g.f);
    for (unsigned i = 0; i < 3; i++)
        for (unsigned k = 0; k < 3; k++)
            cr_assert_eq(ir_value_dominates(d, in_b[i], in_b[k]), i < k);
    cr_assert(ir_value_dominates(d, a->first, in_b[0]));
    cr_assert(!ir_value_dominates(d, in_b[0], c->last));
    cr_assert(ir_value_dominates(d, ir_const(g.f, IR_I32, 7), a->first));
    graph_close(&g);
}

/* Versions: a changed edge gives new dominators, the same struct and no unbounded growth. */
Test(dom, recomputed_when_stale) {
    graph g;
    ir_block *a, *b, *c;
    open_triangle(&g, &a, &b, &c);
    const ir_dom *d = ir_dominators(g.f);
    cr_assert_eq(d->idom[c->id], a);
    ir_make_jmp(a, 0);
    cr_assert_eq(ir_dominators(g.f), d);
    cr_assert_eq(d->idom[c->id], b);
    size_t total = g.m->arena.total;
    for (unsigned k = 0; k < 10000; k++) {
        g.f->cfg_version++;
        ir_dominators(g.f);
        ir_loop_tree(g.f);
        ir_liveness(g.f);
    }
    cr_assert_leq(g.m->arena.total, total + 65536);
    graph_close(&g);
}

/* ------------------------------------------------------------------------------------ frontiers */

static bool in_frontier(const ir_dom *d, const ir_block *x, const ir_block *y) {
    if (x != y && ir_block_dominates(d, x, y)) return false;
    for (uint32_t p = 0; p < y->npred; p++)
        if (d->order.index[y->pred[p]->id] != UINT32_MAX && ir_block_dominates(d, x, y->pred[p]))
            return true;
    return false;
}

static void naive_frontier(const ir_dom *d, const bool *in, const bool *live_in, bool *out) {
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < d->order.n; i++) {
            ir_block *x = d->order.rpo[i];
            if (!in[x->id] && !out[x->id]) continue;
            for (uint32_t k = 0; k < d->order.n; k++) {
                ir_block *y = d->order.rpo[k];
                if (out[y->id] || !live_in[y->id] || !in_frontier(d, x, y)) continue;
                out[y->id] = changed = true;
            }
        }
    }
}

/* What is live at the head of a block is live at the heads of predecessors that do not define. */
static void close_live_in(const graph *g, const bool *in, bool *live_in) {
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < g->n; i++)
            for (uint32_t p = 0; live_in[i] && p < g->block[i]->npred; p++) {
                uint32_t from = g->block[i]->pred[p]->id;
                changed |= !in[from] && !live_in[from];
                live_in[from] |= !in[from];
            }
    }
}

Test(dom, iterated_frontier) {
    rng r = {4};
    for (unsigned round = 0; round < ROUNDS; round++) {
        graph g;
        graph_random(&g, &r);
        const ir_dom *d = ir_dominators(g.f);
        bool in[MAX_BLOCKS] = {0}, live_in[MAX_BLOCKS], expect[MAX_BLOCKS] = {0};
        bool all = rng_below(&r, 2), found[MAX_BLOCKS] = {0};
        ir_block_list defs = {0}, out = {0};
        for (uint32_t i = 0; i < g.n; i++) {
            live_in[i] = all || rng_below(&r, 4) == 0;
            in[i] = rng_below(&r, 4) == 0;
            if (in[i]) *ir_push(&g.m->arena, &defs) = g.block[i];
            in[i] &= d->order.index[i] != UINT32_MAX;
        }
        close_live_in(&g, in, live_in);
        naive_frontier(d, in, live_in, expect);
        ir_iterated_frontier(g.f, &defs, all ? NULL : live_in, &g.m->arena, &out);
        for (uint32_t i = 0; i < out.n; i++) {
            cr_assert(!found[out.data[i]->id], "listed twice");
            found[out.data[i]->id] = true;
        }
        cr_assert_arr_eq(found, expect, sizeof found);
        graph_close(&g);
    }
}

/* ---------------------------------------------------------------------------------------- loops */

typedef struct {
    bool body[MAX_BLOCKS];
    uint32_t size;
    bool is_loop, irreducible;
} naive_loop;

static bool is_descendant(const ir_order *o, uint32_t v, uint32_t ancestor) {
    while (v > ancestor) v = o->parent[v];
    return v == ancestor;
}

/* Blocks from which `to` can be reached by one edge or more without leaving its descendants. */
static void reach_backwards(const ir_order *o, uint32_t to, bool *body) {
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t v = 0; v < o->n; v++) {
            ir_block *b = o->pre[v];
            if (body[b->id] || !is_descendant(o, v, to)) continue;
            for (uint32_t s = 0; s < b->nsucc; s++)
                if (b->succ[s] == o->pre[to] || body[b->succ[s]->id]) body[b->id] = changed = true;
        }
    }
}

static naive_loop find_naive(const ir_order *o, uint32_t header) {
    naive_loop l = {0};
    reach_backwards(o, header, l.body);
    l.is_loop = l.body[o->pre[header]->id];
    for (uint32_t v = 0; v < o->n; v++) {
        ir_block *b = o->pre[v];
        l.size += l.body[b->id];
        if (!l.body[b->id] || v == header) continue;
        for (uint32_t p = 0; p < b->npred; p++)
            if (o->number[b->pred[p]->id] != UINT32_MAX && !l.body[b->pred[p]->id])
                l.irreducible = true;
    }
    return l;
}

static void check_loop(graph *g, const ir_loop *l, const naive_loop *expect) {
    const ir_loops *loops = ir_loop_tree(g->f);
    cr_assert_eq(l->irreducible, expect->irreducible);
    cr_assert_eq(l->nblocks, expect->size);
    cr_assert_eq(l->block[0], l->header);
    cr_assert_eq(l->depth, l->parent ? l->parent->depth + 1 : 1);
    for (uint32_t k = 0; k < l->nblocks; k++) cr_assert(expect->body[l->block[k]->id]);
    for (uint32_t k = 0; k < g->n; k++)
        cr_assert_eq(ir_in_loop(loops, g->block[k], l), expect->body[k]);
}

/* The innermost loop around b, other than the one that `skip` heads. */
static ir_block *innermost(const ir_order *o, const naive_loop *all, const ir_block *b,
                           const ir_block *skip) {
    ir_block *best = NULL;
    for (uint32_t v = 0; v < o->n; v++)
        if (all[v].is_loop && all[v].body[b->id] && o->pre[v] != skip &&
            (!best || all[v].size < all[o->number[best->id]].size))
            best = o->pre[v];
    return best;
}

static void check_loops(graph *g) {
    const ir_loops *loops = ir_loop_tree(g->f);
    const ir_order *o = &ir_dominators(g->f)->order;
    naive_loop all[MAX_BLOCKS];
    uint32_t count = 0;
    for (uint32_t v = 0; v < o->n; v++) count += (all[v] = find_naive(o, v)).is_loop;
    cr_assert_eq(loops->n, count);
    for (uint32_t v = 0; v < o->n; v++) {
        ir_block *b = o->pre[v], *header = innermost(o, all, b, NULL);
        const ir_loop *l = loops->of[b->id];
        cr_assert_eq(l ? l->header : NULL, header);
        if (header != b) continue;
        check_loop(g, l, &all[v]);
        cr_assert_eq(l->parent ? l->parent->header : NULL, innermost(o, all, b, b));
        bool listed = false;
        for (ir_loop *k = l->parent ? l->parent->child : loops->first; k; k = k->sibling)
            listed |= k == l;
        cr_assert(listed);
    }
}

Test(loop, random_graphs) {
    rng r = {5};
    unsigned irreducible = 0, nested = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        graph g;
        graph_random(&g, &r);
        check_loops(&g);
        const ir_loops *l = ir_loop_tree(g.f);
        for (uint32_t k = 0; k < g.n; k++) {
            irreducible += l->of[k] && l->of[k]->irreducible;
            nested += l->of[k] && l->of[k]->depth > 2;
        }
        graph_close(&g);
    }
    cr_assert_eq(irreducible, 983);
    cr_assert_eq(nested, 520);
}

/* Structured programs have no irreducible loop, and headers dominate their loops. */
Test(loop, structured_is_reducible) {
    rng r = {6};
    for (unsigned round = 0; round < ROUNDS; round++) {
        graph g;
        graph_open(&g);
        graph_structured(&g, &r);
        const ir_loops *l = ir_loop_tree(g.f);
        for (uint32_t k = 0; k < g.n; k++) {
            if (!l->of[k]) continue;
            cr_assert(!l->of[k]->irreducible);
            cr_assert(ir_block_dominates(ir_dominators(g.f), l->of[k]->header, g.block[k]));
        }
        graph_close(&g);
    }
}

/* ------------------------------------------------------------------------------------- liveness */

static bool uses_value(const ir_block *b, const ir_inst *v) {
    foreach_inst (i, b)
        for (unsigned a = 0; a < i->nargs && i->op != IR_OP_phi; a++)
            if (ir_arg(i, a) == v) return true;
    return false;
}

static bool phi_uses_value(const ir_block *from, const ir_block *to, const ir_inst *v) {
    foreach_phi (phi, to)
        for (unsigned a = 0; a < phi->nargs; a++)
            if (to->pred[a] == from && ir_arg(phi, a) == v) return true;
    return false;
}

/* Does some path from the start of b reach a use of v without passing its definition? */
static bool naive_live_in(const ir_block *b, const ir_inst *v, bool *seen) {
    if (v->block == b || seen[b->id]) return false;
    seen[b->id] = true;
    if (uses_value(b, v)) return true;
    for (uint32_t s = 0; s < b->nsucc; s++)
        if (phi_uses_value(b, b->succ[s], v) || naive_live_in(b->succ[s], v, seen)) return true;
    return false;
}

static bool naive_live_out(const ir_block *b, const ir_inst *v) {
    for (uint32_t s = 0; s < b->nsucc; s++) {
        bool seen[MAX_BLOCKS] = {0};
        if (phi_uses_value(b, b->succ[s], v) || naive_live_in(b->succ[s], v, seen)) return true;
    }
    return false;
}

/* Is v live just after `at` in block b? */
static bool naive_live_at(const ir_block *b, const ir_inst *at, const ir_inst *v) {
    const ir_inst *i = at->next;
    for (const ir_inst *k = i; k; k = k->next)
        if (k == v) return false;
    for (; i; i = i->next)
        for (unsigned a = 0; a < i->nargs; a++)
            if (ir_arg(i, a) == v) return true;
    return naive_live_out(b, v);
}

typedef struct {
    ir_inst *v[256];
    uint32_t n;
} values;

static values all_values(graph *g) {
    const ir_order *o = &ir_dominators(g->f)->order;
    values all = {.v = {g->f->param_val[0], g->f->param_val[1]}, .n = 2};
    for (uint32_t k = 0; k < o->n; k++)
        foreach_inst (i, o->rpo[k])
            if (i->type != IR_VOID) all.v[all.n++] = i;
    return all;
}

/* Walks up from the end of b. */
static void check_places(ir_live_here *here, const ir_block *b, const values *all) {
    ir_live_begin(here, b);
    for (const ir_inst *i = b->last; i && i->op != IR_OP_phi; i = i->prev) {
        for (uint32_t v = 0; v < all->n; v++)
            cr_assert_eq(ir_live_has(here, all->v[v]), naive_live_at(b, i, all->v[v]));
        ir_live_mark(here, i, false);
        for (unsigned a = 0; a < i->nargs; a++) ir_live_mark(here, ir_arg(i, a), true);
    }
}

/* Counts them one by one, in order. */
static uint32_t count_live(const ir_live *live, const ir_live_set *set) {
    uint32_t n = 0;
    const ir_inst *last = NULL;
    foreach_live (w, live, set) {
        cr_assert(!last || last->id < w.v->id);
        last = w.v;
        n++;
    }
    return n;
}

static void check_liveness(graph *g) {
    const ir_live *live = ir_liveness(g->f);
    const ir_order *o = &ir_dominators(g->f)->order;
    values all = all_values(g);
    ir_live_here here = {.live = live, .seen = ir_new_array(&g->m->arena, uint32_t, g->f->next_id)};
    for (uint32_t k = 0; k < o->n; k++) {
        ir_block *b = o->rpo[k];
        uint32_t in = 0, out = 0;
        for (uint32_t v = 0; v < all.n; v++) {
            bool seen[MAX_BLOCKS] = {0}, is_in = naive_live_in(b, all.v[v], seen);
            bool is_out = naive_live_out(b, all.v[v]);
            cr_assert_eq(ir_is_live(live, &live->in[b->id], all.v[v]), is_in);
            cr_assert_eq(ir_is_live(live, &live->out[b->id], all.v[v]), is_out);
            in += is_in;
            out += is_out;
        }
        cr_assert_eq(in, count_live(live, &live->in[b->id]));
        cr_assert_eq(out, count_live(live, &live->out[b->id]));
        check_places(&here, b, &all);
    }
}

Test(live, random_graphs) {
    rng r = {7};
    for (unsigned round = 0; round < ROUNDS; round++) {
        graph g;
        graph_random(&g, &r);
        graph_add_values(&g, &r);
        check_liveness(&g);
        graph_close(&g);
    }
}

/* ---------------------------------------------------------------------------------- long chains */

enum { LONG = 100000 };

/* Blocks in a chain, each of which may leave for a common exit or go back to the first. */
static void make_chain(graph *g, uint32_t n, bool exits, bool back) {
    ir_block **chain = ir_new_array(&g->m->arena, ir_block *, n);
    for (uint32_t i = 0; i < n; i++) chain[i] = ir_block_new(g->f, NULL);
    ir_block *exit = ir_block_new(g->f, NULL);
    ir_inst *v = g->f->param_val[0];
    for (uint32_t i = 0; i < n; i++) {
        ir_block *next = i + 1 < n ? chain[i + 1] : exit;
        ir_block *other = back && i ? chain[i] : exits ? exit : next;
        ir_at_end(&g->b, chain[i]);
        v = ir_build_raw(&g->b, IR_OP_add, IR_I32, IR_PLAIN, IR_ARGS(v, g->f->param_val[1]));
        ir_inst *c = ir_build_raw(&g->b, IR_OP_ne, IR_I1, IR_PLAIN, IR_ARGS(v, g->f->param_val[0]));
        ir_build_br(&g->b, c, next, other);
    }
    graph_end(g, exit, 0, NULL);
}

static void analyse_all(ir_func *f) {
    cr_assert_eq(ir_dominators(f)->order.n, f->next_block);
    ir_loop_tree(f);
    cr_assert_eq(ir_liveness(f)->nvalues, LONG + 1);
    cr_assert(!ir_remove_unreachable(f));
}

Test(chain, straight, .timeout = 20) {
    graph g;
    graph_open(&g);
    make_chain(&g, LONG, false, false);
    analyse_all(g.f);
    graph_close(&g);
}

Test(chain, shared_exit, .timeout = 20) {
    graph g;
    graph_open(&g);
    make_chain(&g, LONG, true, false);
    analyse_all(g.f);
    cr_assert_eq(ir_dominators(g.f)->idom[g.f->last->id], g.f->first);
    graph_close(&g);
}

Test(chain, self_loops, .timeout = 20) {
    graph g;
    graph_open(&g);
    make_chain(&g, LONG, true, true);
    analyse_all(g.f);
    cr_assert_eq(ir_loop_tree(g.f)->n, LONG - 1);
    graph_close(&g);
}

/* Loops nested as deep as they come: block i of the second half goes back to its mirror image. */
Test(chain, nested_loops, .timeout = 20) {
    graph g;
    graph_open(&g);
    ir_block **b = ir_new_array(&g.m->arena, ir_block *, LONG);
    for (uint32_t i = 0; i < LONG; i++) b[i] = ir_block_new(g.f, NULL);
    for (uint32_t i = 0; i + 1 < LONG; i++) {
        ir_block *mirror = i > LONG / 2 ? b[LONG - i] : b[i + 1];
        graph_end(&g, b[i], 2, (ir_block *[]){b[i + 1], mirror});
    }
    graph_end(&g, b[LONG - 1], 0, NULL);
    const ir_loops *l = ir_loop_tree(g.f);
    cr_assert_eq(l->n, LONG / 2 - 2);
    cr_assert_eq(l->of[LONG / 2]->depth, LONG / 2 - 2);
    cr_assert_eq(l->first->nblocks, LONG - 3);
    graph_close(&g);
}
