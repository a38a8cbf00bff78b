/* callgraph.c — the call graph of a module.
 *
 * Tarjan's algorithm (1972), without recursion on the machine's stack, finds the strongly connected
 * components: functions that call themselves, perhaps through others.  They come with callees
 * before their callers.
 */
#include "passes/analysis/callgraph.h"

/* A node during the search. */
typedef struct {
    pass_call_node *node;
    uint32_t next_call; /* calls before this one have been followed */
    uint32_t low;       /* the least number that is known to be reached */
    bool open;          /* its strongly connected component is not complete */
} visit;

/* The depth-first search.  Until a node gets its place in the order, its number is that in
 * `visits`, plus one; 0: it has not been opened. */
typedef struct {
    pass_call_graph *graph;
    ir_arena *scratch;
    ir_vec(visit) visits;
    ir_vec(uint32_t) path, opened; /* numbers */
} search;

static pass_call_node *find_node(const pass_call_graph *g, const ir_func *f) {
    return ir_map_get(&g->nodes, (uintptr_t)f);
}

const pass_call_node *pass_call_node_of(const pass_call_graph *g, const ir_func *f) {
    return find_node(g, f);
}

/* ----------------------------------------------------------------------------------- edges */

static void add_block(search *s, pass_call_node *x, ir_block *b) {
    foreach_inst (i, b) {
        x->size++;
        if (i->op != IR_OP_call) continue;
        pass_call_node *to = find_node(s->graph, i->imm.func);
        *ir_push(s->scratch, &x->calls) = (pass_call_edge){to, i};
        to->callers++;
    }
}

static void add_calls(search *s, ir_func *f) {
    if (ir_is_declaration(f)) return;
    const uint32_t *index = ir_dominators(f)->order.index;
    foreach_block (b, f)
        if (index[b->id] != UINT32_MAX) add_block(s, find_node(s->graph, f), b);
}

/* ------------------------------------------------------------------------------------ search */

static visit *visit_of(search *s, uint32_t number) { return &s->visits.data[number - 1]; }

static void open_node(search *s, pass_call_node *x) {
    x->number = s->visits.n + 1;
    *ir_push(s->scratch, &s->visits) = (visit){.node = x, .low = x->number, .open = true};
    *ir_push(s->scratch, &s->path) = x->number;
    *ir_push(s->scratch, &s->opened) = x->number;
}

/* Node `root` is the first of a strongly connected component: all that was opened since. */
static void close_component(search *s, uint32_t root) {
    const bool single = s->opened.data[s->opened.n - 1] == root;
    uint32_t number;
    do {
        number = s->opened.data[--s->opened.n];
        pass_call_node *y = visit_of(s, number)->node;
        visit_of(s, number)->open = false;
        y->recursive = !single;
        for (uint32_t k = 0; k < y->calls.n; k++) y->recursive |= y->calls.data[k].to == y;
        *ir_push(s->scratch, &s->graph->order) = y;
    } while (number != root);
}

static void order_from(search *s, pass_call_node *root) {
    if (root->number) return;
    open_node(s, root);
    while (s->path.n) {
        const uint32_t number = s->path.data[s->path.n - 1];
        visit *x = visit_of(s, number);
        if (x->next_call < x->node->calls.n) {
            const ir_inst *call = x->node->calls.data[x->next_call++].at;
            pass_call_node *y = find_node(s->graph, call->imm.func);
            if (!y->number)
                open_node(s, y);
            else if (visit_of(s, y->number)->open && y->number < x->low)
                x->low = y->number;
            continue;
        }
        s->path.n--;
        if (x->low == number) close_component(s, number);
        visit *caller = s->path.n ? visit_of(s, s->path.data[s->path.n - 1]) : x;
        if (x->low < caller->low) caller->low = x->low;
    }
}

void pass_find_calls(ir_module *m, ir_arena *scratch, pass_call_graph *g) {
    search s = {.graph = g, .scratch = scratch};
    *g = (pass_call_graph){0};
    foreach_func (f, m) {
        pass_call_node *x = ir_new(scratch, pass_call_node);
        x->f = f;
        ir_map_set(scratch, &g->nodes, (uintptr_t)f, x);
    }
    foreach_func (f, m) add_calls(&s, f);
    foreach_func (f, m) order_from(&s, find_node(g, f));
    for (uint32_t k = 0; k < g->order.n; k++) g->order.data[k]->number = k;
}
