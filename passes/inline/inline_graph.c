/* inline_graph.c — the call graph, and what each function leads to.
 *
 * Strongly connected parts of the call graph are found as Tarjan (1972) does, without recursion on
 * the machine's stack; they come in the order that inlining wants, callees first.
 */
#include "passes/inline/inline_impl.h"

pass_callee *pass_callee_of(pass_inliner *n, const ir_func *f) {
    return ir_map_get(&n->nodes, (uintptr_t)f);
}

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

static void open_node(pass_inliner *n, pass_callee *x) {
    x->number = x->low = ++n->numbered;
    x->open = true;
    *ir_push(n->cx->scratch, &n->path) = x;
    *ir_push(n->cx->scratch, &n->open) = x;
}

/* x is the root of a strongly connected part: all that was opened since. */
static void close_part(pass_inliner *n, pass_callee *x) {
    bool alone = n->open.data[n->open.n - 1] == x;
    pass_callee *y;
    do {
        y = n->open.data[--n->open.n];
        y->open = false;
        y->recursive = !alone;
        for (uint32_t k = 0; k < y->calls.n; k++) y->recursive |= y->calls.data[k].to == y;
        *ir_push(n->cx->scratch, &n->order) = y;
    } while (y != x);
}

static void leave_node(pass_inliner *n, pass_callee *x) {
    n->path.n--;
    if (x->low == x->number) close_part(n, x);
    if (!n->path.n) return;
    pass_callee *caller = n->path.data[n->path.n - 1];
    if (x->low < caller->low) caller->low = x->low;
}

static void order_from(pass_inliner *n, pass_callee *root) {
    if (root->number) return;
    open_node(n, root);
    while (n->path.n) {
        pass_callee *x = n->path.data[n->path.n - 1];
        if (x->next_call == x->calls.n) {
            leave_node(n, x);
            continue;
        }
        pass_callee *y = x->calls.data[x->next_call++].to;
        if (!y->number)
            open_node(n, y);
        else if (y->open && y->number < x->low)
            x->low = y->number;
    }
}

/* ---------------------------------------------------------------------------------------- entry */

static bool is_offender(const pass_callee *x) { return x->recursive || ir_is_declaration(x->f); }

static void find_offender(pass_callee *x) {
    for (uint32_t k = 0; k < x->calls.n && !x->bad; k++) {
        const pass_call_edge *e = &x->calls.data[k];
        if (is_offender(e->to) || e->to->bad) x->bad = e;
    }
}

void pass_find_calls(pass_inliner *n) {
    add_nodes(n);
    foreach_func (f, n->m) add_calls(n, pass_callee_of(n, f));
    foreach_func (f, n->m) order_from(n, pass_callee_of(n, f));
    for (uint32_t k = 0; k < n->order.n; k++) find_offender(n->order.data[k]);
}
