/* inline_graph.c — the call graph, and what each function leads to.
 *
 * Tarjan's algorithm (1972), without recursion on the machine's stack, finds the strongly connected
 * components of the call graph.  They come in the order that inlining needs, callees first.
 */
#include "passes/inline/inline_impl.h"

pass_callee *pass_callee_of(pass_inliner *n, const ir_func *f) {
    return ir_map_get(&n->nodes, (uintptr_t)f);
}

/* A node during the search. */
typedef struct {
    pass_callee *callee;
    uint32_t next_call; /* calls before this one have been followed */
    uint32_t low;       /* the least number that is known to be reached */
    bool open;          /* its strongly connected part is not complete */
} visit;

/* The depth-first search.  A node gets its number when it is opened. */
typedef struct {
    pass_inliner *n;
    ir_vec(visit) visits;          /* by number - 1; the number is the mark of the callee */
    ir_vec(uint32_t) path, opened; /* numbers */
} search;

/* ----------------------------------------------------------------------------------- call graph */

static void add_nodes(pass_inliner *n) {
    n->is_open = true;
    foreach_func (f, n->m) {
        pass_callee *x = ir_new(n->cx->scratch, pass_callee);
        x->f = f;
        ir_map_set(n->cx->scratch, &n->nodes, (uintptr_t)f, x);
        if (pass_is_kernel(f)) n->has_kernels = true;
        if (f->flags & (IR_FUNC_KERNEL | IR_FUNC_EXPORT)) n->is_open = false;
    }
}

static void add_block(pass_inliner *n, pass_callee *x, ir_block *b) {
    foreach_inst (i, b) {
        x->own++;
        if (i->op != IR_OP_call) continue;
        *ir_push(n->cx->scratch, &x->calls) =
            (pass_call_edge){.to = pass_callee_of(n, i->imm.func), .at = i};
        pass_callee_of(n, i->imm.func)->callers++;
    }
}

/* A search for refusals changes nothing: it keeps unreachable blocks, but does not count their
 * calls. */
static void add_calls(pass_inliner *n, pass_callee *x) {
    if (ir_is_declaration(x->f)) return;
    if (!n->found) n->changed |= ir_remove_unreachable(x->f);
    const uint32_t *index = n->found ? ir_dominators(x->f)->order.index : NULL;
    foreach_block (b, x->f)
        if (!index || index[b->id] != UINT32_MAX) add_block(n, x, b);
}

static visit *visit_of(search *s, uint32_t number) { return &s->visits.data[number - 1]; }

static void open_node(search *s, pass_callee *x) {
    ir_arena *scratch = s->n->cx->scratch;
    x->mark = s->visits.n + 1;
    *ir_push(scratch, &s->visits) = (visit){.callee = x, .low = x->mark, .open = true};
    *ir_push(scratch, &s->path) = x->mark;
    *ir_push(scratch, &s->opened) = x->mark;
}

/* Node `root` is the first of a strongly connected part, which is all that was opened since. */
static void close_part(search *s, uint32_t root) {
    bool single = s->opened.data[s->opened.n - 1] == root;
    uint32_t number;
    do {
        number = s->opened.data[--s->opened.n];
        pass_callee *y = visit_of(s, number)->callee;
        visit_of(s, number)->open = false;
        y->recursive = !single;
        for (uint32_t k = 0; k < y->calls.n; k++) y->recursive |= y->calls.data[k].to == y;
        *ir_push(s->n->cx->scratch, &s->n->order) = y;
    } while (number != root);
}

static void order_from(search *s, pass_callee *root) {
    if (root->mark) return;
    open_node(s, root);
    while (s->path.n) {
        uint32_t number = s->path.data[s->path.n - 1];
        visit *x = visit_of(s, number);
        if (x->next_call < x->callee->calls.n) {
            pass_callee *y = x->callee->calls.data[x->next_call++].to;
            if (!y->mark)
                open_node(s, y);
            else if (visit_of(s, y->mark)->open && y->mark < x->low)
                x->low = y->mark;
            continue;
        }
        s->path.n--;
        if (x->low == number) close_part(s, number);
        visit *caller = s->path.n ? visit_of(s, s->path.data[s->path.n - 1]) : x;
        if (x->low < caller->low) caller->low = x->low;
    }
}

/* ---------------------------------------------------------------------------------------- entry */

/* The callees of x are done. */
static void find_bad_call(pass_callee *x) {
    for (uint32_t k = 0; k < x->calls.n && !x->bad; k++) {
        const pass_callee *to = x->calls.data[k].to;
        if (to->recursive || to->bad || ir_is_declaration(to->f)) x->bad = &x->calls.data[k];
    }
}

void pass_find_calls(pass_inliner *n) {
    search s = {.n = n};
    add_nodes(n);
    foreach_func (f, n->m) add_calls(n, pass_callee_of(n, f));
    foreach_func (f, n->m) order_from(&s, pass_callee_of(n, f));
    for (uint32_t k = 0; k < n->order.n; k++) {
        n->order.data[k]->mark = 0;
        find_bad_call(n->order.data[k]);
    }
}
