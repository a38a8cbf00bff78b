/* ssa_test.c — the SSA utility against reaching definitions along paths.
 *
 * A variable gets definitions (numbered constants) in random blocks of a random graph and is read
 * at the head and end of others.  Then random walks from the entry carry along which definition
 * came last, and evaluate the phis as the walk enters their blocks: wherever the variable was read,
 * the answer must be the definition that came last on this path.
 */
#include "ir/change.h"
#include "random_cfg.h"

#include <criterion/criterion.h>

enum { ROUNDS = 2000, WALKS = 20, STEPS = 60 };

/* What was asked, by block id; NULL: nothing. */
typedef struct {
    graph g;
    ir_arena scratch;
    ir_ssa ssa;
    ir_inst *def[MAX_BLOCKS], *at_head[MAX_BLOCKS], *at_end[MAX_BLOCKS];
} query;

static void open_query(query *q, rng *r) {
    graph_random(&q->g, r);
    ir_arena_init(&q->scratch, &q->g.cx);
    q->ssa = (ir_ssa){0};
}

static void close_query(query *q) {
    ir_arena_free(&q->scratch);
    graph_close(&q->g);
}

/* One variable: definitions 1, 2, … in some blocks, then reads in others. */
static void ask(query *q, rng *r) {
    graph *g = &q->g;
    ir_ssa_begin(&q->ssa, g->f, &q->scratch, IR_I32);
    for (uint32_t k = 0; k < g->n; k++) {
        q->def[k] = rng_below(r, 3) ? NULL : ir_const(g->f, IR_I32, k + 1);
        if (q->def[k]) ir_ssa_def(&q->ssa, g->block[k], q->def[k]);
    }
    ir_ssa_place(&q->ssa, NULL);
    for (uint32_t k = 0; k < g->n; k++) {
        bool head = rng_below(r, 3) == 0, end = rng_below(r, 3) == 0;
        q->at_head[k] = head ? ir_ssa_at_head(&q->ssa, g->block[k]) : NULL;
        q->at_end[k] = end ? ir_ssa_at_end(&q->ssa, g->block[k]) : NULL;
    }
    ir_ssa_finish(&q->ssa);
}

/* The state of a walk: the constant or undef that each phi stands for now, by value id. */
typedef struct {
    ir_inst *now[1024];
    ir_inst *last; /* the definition that came last, or NULL */
} walk;

static ir_inst *value_of(const walk *w, ir_inst *v) {
    return v->op == IR_OP_phi ? w->now[v->id] : v;
}

static void enter(walk *w, const ir_block *from, const ir_block *to) {
    ir_inst *next[MAX_BLOCKS * 2];
    unsigned n = 0;
    foreach_phi (phi, to) next[n++] = value_of(w, ir_arg(phi, ir_pred_index(to, from)));
    n = 0;
    foreach_phi (phi, to) w->now[phi->id] = next[n++];
}

static void expect(const walk *w, ir_inst *answer) {
    if (answer && w->last) cr_assert_eq(value_of(w, answer), w->last);
    if (answer && !w->last && answer->op != IR_OP_phi) cr_assert_eq(answer->op, IR_OP_undef);
}

static void random_walk(const query *q, rng *r) {
    walk w = {0};
    const ir_block *b = q->g.f->first;
    for (unsigned step = 0; step < STEPS; step++) {
        expect(&w, q->at_head[b->id]);
        if (q->def[b->id]) w.last = q->def[b->id];
        expect(&w, q->at_end[b->id]);
        if (!b->nsucc) return;
        const ir_block *to = b->succ[rng_below(r, b->nsucc)];
        enter(&w, b, to);
        b = to;
    }
}

/* Every phi is complete, and something other than phis leads to it. */
static void check_phis(const query *q, ir_arena *a) {
    ir_vec(ir_inst *) needed = {0};
    bool *seen = ir_new_array(a, bool, q->g.f->next_id);
    for (uint32_t k = 0; k < 2 * q->g.n; k++) {
        ir_inst *v = k < q->g.n ? q->at_head[k] : q->at_end[k - q->g.n];
        if (v) *ir_push(a, &needed) = v;
    }
    while (needed.n) {
        ir_inst *v = needed.data[--needed.n];
        if (seen[v->id]) continue;
        seen[v->id] = true;
        for (unsigned n = 0; n < v->nargs; n++) *ir_push(a, &needed) = ir_arg(v, n);
    }
    foreach_block (b, q->g.f) {
        foreach_phi (phi, b) {
            cr_assert_eq(phi->nargs, b->npred);
            cr_assert(seen[phi->id], "a phi that no read needs");
        }
    }
}

static void drop_phis(ir_func *f) {
    foreach_block (b, f)
        foreach_phi (phi, b) ir_replace_uses(phi, ir_undef(f, phi->type));
    foreach_block (b, f)
        foreach_phi (phi, b) ir_remove(phi);
}

Test(ssa, paths) {
    rng r = {11};
    for (unsigned round = 0; round < ROUNDS; round++) {
        query q;
        open_query(&q, &r);
        for (unsigned variable = 0; variable < 3; variable++) {
            ask(&q, &r);
            check_phis(&q, &q.scratch);
            for (unsigned k = 0; k < WALKS; k++) random_walk(&q, &r);
            drop_phis(q.g.f);
        }
        close_query(&q);
    }
}

/* The values that reach block b's head: follows all edges backwards to definitions. */
static bool may_be_read(const query *q, const ir_block *b, const bool *reads, bool *seen) {
    if (seen[b->id]) return false;
    seen[b->id] = true;
    if (reads[b->id]) return true;
    if (q->def[b->id]) return false;
    for (uint32_t s = 0; s < b->nsucc; s++)
        if (may_be_read(q, b->succ[s], reads, seen)) return true;
    return false;
}

/* With live_in given, reads where the variable is live get the same answers. */
Test(ssa, live_in_restricts_nothing_that_is_read) {
    rng r = {12};
    for (unsigned round = 0; round < ROUNDS; round++) {
        query q = {0};
        open_query(&q, &r);
        bool reads[MAX_BLOCKS] = {0}, live_in[MAX_BLOCKS] = {0};
        ir_ssa_begin(&q.ssa, q.g.f, &q.scratch, IR_I32);
        for (uint32_t k = 0; k < q.g.n; k++) {
            reads[k] = rng_below(&r, 4) == 0;
            if (rng_below(&r, 3) == 0) q.def[k] = ir_const(q.g.f, IR_I32, k + 1);
            if (q.def[k]) ir_ssa_def(&q.ssa, q.g.block[k], q.def[k]);
        }
        for (uint32_t k = 0; k < q.g.n; k++) {
            bool seen[MAX_BLOCKS] = {0};
            live_in[k] = may_be_read(&q, q.g.block[k], reads, seen);
        }
        for (uint32_t k = 0; k < q.g.n; k++)
            if (reads[k]) ir_ssa_announce(&q.ssa, q.g.block[k]);
        cr_assert_arr_eq(q.ssa.live, live_in, q.g.n * sizeof *live_in);
        ir_ssa_place(&q.ssa, q.ssa.live);
        for (uint32_t k = 0; k < q.g.n; k++)
            if (reads[k]) q.at_head[k] = ir_ssa_at_head(&q.ssa, q.g.block[k]);
        ir_ssa_finish(&q.ssa);
        for (unsigned k = 0; k < WALKS; k++) random_walk(&q, &r);
        close_query(&q);
    }
}

Test(ssa, undef_becomes_zero_in_arithmetic) {
    graph g;
    graph_open(&g);
    ir_block *b = graph_add(&g);
    ir_at_end(&g.b, b);
    ir_inst *p = g.f->param_val[1];
    ir_inst *x = ir_build_raw(&g.b, IR_OP_add, IR_I32, IR_PLAIN, IR_ARGS(p, p));
    ir_inst *y = ir_build_raw(&g.b, IR_OP_sub, IR_I32, IR_PLAIN, IR_ARGS(p, x));
    ir_inst *v = ir_build_raw(&g.b, IR_OP_vec, ir_vector(IR_I32, 2), IR_PLAIN, IR_ARGS(x, y));
    ir_build_ret(&g.b, NULL);
    ir_replace_uses(x, ir_undef(g.f, x->type));
    cr_assert(ir_is_const(ir_arg(y, 1)) && ir_arg(y, 1)->imm.bits == 0);
    cr_assert_eq(ir_arg(v, 0)->op, IR_OP_undef);
    cr_assert_eq(x->uses, NULL);
    graph_close(&g);
}

/* Reads far below the definition do not recurse, and many of them cost one walk. */
Test(ssa, long_chain, .timeout = 20) {
    enum { LONG = 100000 };
    graph g;
    graph_open(&g);
    ir_block **b = ir_new_array(&g.m->arena, ir_block *, LONG);
    for (uint32_t i = 0; i < LONG; i++) b[i] = ir_block_new(g.f, NULL);
    for (uint32_t i = 0; i < LONG; i++)
        graph_end(&g, b[i], i + 1 < LONG, &b[i + 1 - (i + 1 == LONG)]);
    ir_ssa s = {0};
    ir_inst *one = ir_const(g.f, IR_I32, 1);
    ir_ssa_begin(&s, g.f, &g.m->arena, IR_I32);
    ir_ssa_def(&s, b[0], one);
    ir_ssa_place(&s, NULL);
    for (uint32_t i = LONG; i-- > 0;) cr_assert_eq(ir_ssa_at_end(&s, b[i]), one);
    ir_ssa_finish(&s);
    graph_close(&g);
}
