/* random_cfg.h — small random control-flow graphs for the unit tests of analyses.
 *
 * Two kinds: arbitrary ones (any block may go to any block but the entry: unreachable blocks,
 * irreducible loops, double edges and self-loops all occur), and structured ones, grown by
 * replacing a block by a sequence, a diamond or a loop.  The same seed gives the same graph.
 */
#ifndef SPVFUSE_TESTS_RANDOM_CFG_H
#define SPVFUSE_TESTS_RANDOM_CFG_H

#include "ir/flow.h"
#include "tests/random.h"

enum { MAX_BLOCKS = 24 };

typedef struct {
    uint64_t state;
} rng;

static inline uint32_t rng_below(rng *r, uint32_t n) { return draw_below(&r->state, n); }

/* A graph under test: its module, function, blocks by id, and values for conditions. */
typedef struct {
    ir_ctx cx;
    ir_module *m;
    ir_func *f;
    ir_builder b;
    uint32_t n;
    ir_block *block[MAX_BLOCKS];
} graph;

static inline void graph_open(graph *g) {
    static const ir_type params[] = {IR_I32, IR_I32};
    *g = (graph){0};
    g->m = ir_module_new(&g->cx, "random", 64);
    g->f = ir_func_new(g->m, "f", IR_VOID, 2, params);
    ir_builder_init(&g->b, g->f);
}

static inline void graph_close(graph *g) { ir_module_free(g->m); }

static inline ir_block *graph_add(graph *g) {
    ir_block *b = ir_block_new(g->f, NULL);
    return g->block[g->n++] = b;
}

/* Ends a block with n successors: ret, jmp, br or switch on parameter 0. */
static inline void graph_end(graph *g, ir_block *b, unsigned n, ir_block *const *succ) {
    static const uint64_t cases[] = {1, 2, 3};
    ir_inst *on = g->f->param_val[0];
    ir_at_end(&g->b, b);
    if (n == 0) ir_build_ret(&g->b, NULL);
    if (n == 1) ir_build_jmp(&g->b, succ[0]);
    if (n == 2) {
        ir_inst *c =
            ir_build_raw(&g->b, IR_OP_ne, IR_I1, IR_PLAIN, IR_ARGS(on, g->f->param_val[1]));
        ir_build_br(&g->b, c, succ[0], succ[1]);
    }
    if (n > 2) ir_build_switch(&g->b, on, succ[0], (ir_cases){n - 1, cases, succ + 1});
}

static inline void graph_arbitrary(graph *g, rng *r) {
    uint32_t n = 1 + rng_below(r, MAX_BLOCKS / 2);
    for (uint32_t i = 0; i < n; i++) graph_add(g);
    for (uint32_t i = 0; i < n; i++) {
        ir_block *succ[3];
        unsigned k = n == 1 ? 0 : rng_below(r, 4);
        for (unsigned s = 0; s < k; s++) succ[s] = g->block[1 + rng_below(r, n - 1)];
        graph_end(g, g->block[i], k, succ);
    }
}

/* Inserts a construct on edge e of block b.  Terminators of two new blocks at most. */
static inline void graph_grow(graph *g, rng *r, ir_block *b, unsigned e) {
    ir_block *to = b->succ[e], *x = graph_add(g), *y = graph_add(g);
    switch (rng_below(r, 4)) {
    case 0: /* sequence */
        graph_end(g, x, 1, &y);
        graph_end(g, y, 1, &to);
        break;
    case 1: /* while loop */
        graph_end(g, x, 2, (ir_block *[]){y, to});
        graph_end(g, y, 1, &x);
        break;
    case 2: /* repeat loop */
        graph_end(g, x, 1, &y);
        graph_end(g, y, 2, (ir_block *[]){x, to});
        break;
    default: /* triangle */
        graph_end(g, x, 2, (ir_block *[]){y, to});
        graph_end(g, y, 1, &to);
        break;
    }
    ir_redirect_edge(b, e, x);
}

static inline void graph_structured(graph *g, rng *r) {
    ir_block *entry = graph_add(g), *exit = graph_add(g);
    graph_end(g, entry, 1, &exit);
    graph_end(g, exit, 0, NULL);
    for (uint32_t k = rng_below(r, MAX_BLOCKS / 2); k-- > 1;) {
        ir_block *b = g->block[rng_below(r, g->n)];
        if (b->nsucc && g->n + 2 <= MAX_BLOCKS) graph_grow(g, r, b, rng_below(r, b->nsucc));
    }
}

static inline void graph_random(graph *g, rng *r) {
    graph_open(g);
    if (rng_below(r, 3))
        graph_arbitrary(g, r);
    else
        graph_structured(g, r);
}

/* Marks what can be reached from `from` without entering `without` (NULL: anything goes). */
static inline void graph_reach(const ir_block *from, const ir_block *without, bool *reached) {
    const ir_block *stack[MAX_BLOCKS];
    unsigned n = 0;
    if (from == without || reached[from->id]) return;
    reached[from->id] = true;
    stack[n++] = from;
    while (n) {
        const ir_block *b = stack[--n];
        for (uint32_t s = 0; s < b->nsucc; s++) {
            const ir_block *to = b->succ[s];
            if (to == without || reached[to->id]) continue;
            reached[to->id] = true;
            stack[n++] = to;
        }
    }
}

/* A value available at the end of `at`: a parameter or something in a block that dominates it. */
static inline ir_inst *graph_pick_value(graph *g, rng *r, const ir_block *at) {
    const ir_dom *d = ir_dominators(g->f);
    ir_inst *found = g->f->param_val[rng_below(r, 2)];
    uint32_t seen = 1;
    for (uint32_t k = 0; k < g->n; k++) {
        if (!ir_block_dominates(d, g->block[k], at)) continue;
        foreach_inst (i, g->block[k])
            if (i->type == IR_I32 && rng_below(r, ++seen) == 0) found = i;
    }
    return found;
}

static inline void graph_add_values(graph *g, rng *r) {
    const ir_order *o = &ir_dominators(g->f)->order;
    for (uint32_t k = 0; k < o->n; k++) {
        ir_before(&g->b, o->rpo[k]->last);
        for (uint32_t n = rng_below(r, 4); n-- > 0;)
            ir_build_raw(
                &g->b, IR_OP_add, IR_I32, IR_PLAIN,
                IR_ARGS(graph_pick_value(g, r, o->rpo[k]), graph_pick_value(g, r, o->rpo[k])));
    }
    for (uint32_t k = 0; k < g->n; k++) {
        ir_block *b = g->block[k];
        if (!b->npred || rng_below(r, 2)) continue;
        ir_inst *phi = ir_build_phi(b, IR_I32);
        for (uint32_t p = 0; p < b->npred; p++) {
            unsigned first = ir_pred_index(b, b->pred[p]);
            phi = ir_append_arg(phi, first < p ? ir_arg(phi, first)
                                               : graph_pick_value(g, r, b->pred[p]));
        }
    }
}

#endif
