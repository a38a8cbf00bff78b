/* callgraph_test.c — the order of the call graph, functions that call themselves, and calls that are
 * counted: of small graphs, of random ones, which a search from each function checks, and of a chain
 * that is deeper than a stack. */
#include "passes/analysis/callgraph.h"
#include "tests/passes/world.h"
#include "tests/random.h"

enum { SEEDS = RANDOM_CASES(300), MOST = 12, DEEP = 100000 };

typedef struct {
    world w;
    unsigned n;
    bool calls[MOST][MOST];
    pass_call_graph graph;
} subject;

static void build(void *user) {
    subject *s = user;
    ir_text t = {.arena = &s->w.arena};
    for (unsigned k = 0; k < s->n; k++) {
        ir_putf(&t, "func @f%u() {\nentry:\n", k);
        for (unsigned to = 0; to < s->n; to++)
            if (s->calls[k][to]) ir_putf(&t, "  call @f%u()\n", to);
        ir_put(&t, "  ret\n}\n");
    }
    world_parse(&s->w, "graph", t.data);
    pass_find_calls(s->w.m, &s->w.arena, &s->graph);
}

static const pass_call_node *node_of(const subject *s, unsigned k) {
    char name[16];
    snprintf(name, sizeof name, "f%u", k);
    return pass_call_node_of(&s->graph, ir_func_find(s->w.m, name));
}

/* Warshall's algorithm. */
static void close_transitively(subject *s, bool reaches[MOST][MOST]) {
    memcpy(reaches, s->calls, sizeof s->calls);
    for (unsigned by = 0; by < s->n; by++)
        for (unsigned from = 0; from < s->n; from++)
            for (unsigned to = 0; to < s->n; to++)
                reaches[from][to] |= reaches[from][by] && reaches[by][to];
}

static void check(subject *s) {
    bool reaches[MOST][MOST];
    close_transitively(s, reaches);
    cr_assert_eq(s->graph.order.n, s->n);
    for (unsigned k = 0; k < s->n; k++) {
        const pass_call_node *x = node_of(s, k);
        unsigned callers = 0, calls = 0;
        for (unsigned j = 0; j < s->n; j++) {
            callers += s->calls[j][k];
            calls += s->calls[k][j];
            const bool after = reaches[k][j] && !reaches[j][k];
            if (after) cr_assert_lt(node_of(s, j)->number, x->number, "f%u calls f%u", k, j);
        }
        cr_assert_eq(x->recursive, reaches[k][k], "f%u", k);
        cr_assert_eq(s->graph.order.data[x->number], x);
        cr_assert_eq(x->callers, callers);
        cr_assert_eq(x->calls.n, calls);
        cr_assert_eq(x->size, calls + 1);
    }
}

Test(callgraph, random_graphs) {
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint64_t state = seed + 1;
        subject s = {.n = 1 + draw_below(&state, MOST)};
        for (unsigned k = 0; k < s.n; k++)
            for (unsigned to = 0; to < s.n; to++) s.calls[k][to] = draw_below(&state, s.n) == 0;
        world_begin(&s.w);
        cr_assert(ir_try(&s.w.cx, build, &s), "%s", s.w.message);
        check(&s);
        world_end(&s.w);
    }
}

static void build_unreachable(void *user) {
    subject *s = user;
    world_parse(&s->w, "unreachable",
                "func @f0() {\nentry:\n  ret\ndead:\n  call @f0()\n  ret\n}\n");
    pass_find_calls(s->w.m, &s->w.arena, &s->graph);
}

Test(callgraph, calls_that_are_never_reached) {
    subject s = {0};
    world_begin(&s.w);
    cr_assert(ir_try(&s.w.cx, build_unreachable, &s), "%s", s.w.message);
    cr_assert_eq(node_of(&s, 0)->callers, 0);
    cr_assert_not(node_of(&s, 0)->recursive);
    world_end(&s.w);
}

static void build_deep(void *user) {
    subject *s = user;
    ir_text t = {.arena = &s->w.arena};
    for (unsigned k = 0; k < DEEP; k++)
        ir_putf(&t, "func @f%u() {\nentry:\n  call @f%u()\n  ret\n}\n", k, k + 1);
    ir_putf(&t, "func @f%u() {\nentry:\n  ret\n}\n", DEEP);
    world_parse(&s->w, "deep", t.data);
    pass_find_calls(s->w.m, &s->w.arena, &s->graph);
}

Test(callgraph, a_deep_chain) {
    subject s = {0};
    world_begin(&s.w);
    cr_assert(ir_try(&s.w.cx, build_deep, &s), "%s", s.w.message);
    cr_assert_eq(s.graph.order.data[DEEP]->f, s.w.m->first_func);
    cr_assert_not(s.graph.order.data[DEEP]->recursive);
    world_end(&s.w);
}
