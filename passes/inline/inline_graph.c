/* inline_graph.c — what each function of the call graph leads to. */
#include "passes/inline/inline_impl.h"

pass_callee *pass_callee_of(const pass_inliner *n, const ir_func *f) {
    return &n->callees[pass_call_node_of(&n->graph, f)->number];
}

/* The callees of x are done. */
static void find_bad_call(const pass_inliner *n, pass_callee *x) {
    for (uint32_t k = 0; k < x->node->calls.n && !x->bad; k++) {
        const pass_call_edge *call = &x->node->calls.data[k];
        if (call->to->recursive || pass_called_by(n, call)->bad || ir_is_declaration(call->to->f))
            x->bad = call;
    }
}

void pass_find_callees(pass_inliner *n) {
    pass_find_calls(n->m, n->cx->scratch, &n->graph);
    n->n = n->graph.order.n;
    n->callees = ir_new_array(n->cx->scratch, pass_callee, n->n);
    n->is_open = true;
    for (uint32_t k = 0; k < n->n; k++) {
        const pass_call_node *node = n->graph.order.data[k];
        n->callees[k] = (pass_callee){.node = node, .f = node->f};
        n->has_kernels |= pass_is_kernel(node->f);
        n->is_open &= !(node->f->flags & (IR_FUNC_KERNEL | IR_FUNC_EXPORT));
        find_bad_call(n, &n->callees[k]);
    }
}
