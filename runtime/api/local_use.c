/* local_use.c — how much local memory a kernel uses: its own variables, and those of the functions
 * that it calls.
 *
 * The call graph is made once.  A kernel then visits those functions from which a variable is
 * reached, which mostly are few: in OpenCL C only kernels have variables in local memory.
 */
#include "runtime/api/runtime.h"

typedef struct node node;
struct node {
    ir_vec(const ir_global *) variables;
    ir_vec(node *) calls, callers;
    bool reaches; /* a variable */
    uint32_t visit;
};

struct rt_local_use {
    const ir_module *m;
    ir_arena *a;
    ir_map nodes;   /* by function */
    ir_map counted; /* by variable: the visit that counted it */
    ir_vec(node *) work;
    uint32_t visits;
};

static node *node_of(rt_local_use *u, const ir_func *f) {
    node *n = ir_map_get(&u->nodes, (uintptr_t)f);
    if (n) return n;
    n = ir_new(u->a, node);
    ir_map_set(u->a, &u->nodes, (uintptr_t)f, n);
    return n;
}

static void add_uses(rt_local_use *u, node *n, const ir_inst *i) {
    if (i->op == IR_OP_call) {
        node *to = node_of(u, i->imm.func);
        *ir_push(u->a, &n->calls) = to;
        *ir_push(u->a, &to->callers) = n;
    }
    for (unsigned k = 0; k < i->nargs; k++) {
        const ir_inst *v = ir_arg(i, k);
        if (v->op == IR_OP_address && v->imm.global->space == IR_LOCAL)
            *ir_push(u->a, &n->variables) = v->imm.global;
    }
}

static void note_that_it_reaches(rt_local_use *u, node *n) {
    if (n->reaches) return;
    n->reaches = true;
    *ir_push(u->a, &u->work) = n;
}

static void add_function(rt_local_use *u, const ir_func *f) {
    node *n = node_of(u, f);
    foreach_block (b, f)
        foreach_inst (i, b) add_uses(u, n, i);
    if (n->variables.n) note_that_it_reaches(u, n);
}

static bool has_variables(const ir_module *m) {
    foreach_global (g, m)
        if (g->space == IR_LOCAL) return true;
    return false;
}

rt_local_use *rt_local_use_new(const ir_module *m, ir_arena *a) {
    rt_local_use *u = ir_new(a, rt_local_use);
    *u = (rt_local_use){.m = m, .a = a};
    if (!has_variables(m)) return u;
    foreach_func (f, m) add_function(u, f);
    while (u->work.n) {
        const node *n = u->work.data[--u->work.n];
        for (uint32_t k = 0; k < n->callers.n; k++) note_that_it_reaches(u, n->callers.data[k]);
    }
    return u;
}

static uint64_t count_variables(rt_local_use *u, const node *n, uint64_t bytes) {
    for (uint32_t k = 0; k < n->variables.n; k++) {
        const ir_global *g = n->variables.data[k];
        uintptr_t counted = (uintptr_t)ir_map_get(&u->counted, (uintptr_t)g);
        if (counted == u->visits) continue;
        ir_map_set(u->a, &u->counted, (uintptr_t)g, (void *)(uintptr_t)u->visits);
        bytes = (bytes + g->align - 1) / g->align * g->align + ir_sizeof(u->m, g->type);
    }
    return bytes;
}

static void visit(rt_local_use *u, node *n) {
    if (!n->reaches || n->visit == u->visits) return;
    n->visit = u->visits;
    *ir_push(u->a, &u->work) = n;
}

uint64_t rt_local_memory(rt_local_use *u, const ir_func *kernel) {
    node *first = ir_map_get(&u->nodes, (uintptr_t)kernel);
    uint64_t bytes = 0;
    u->visits++;
    if (first) visit(u, first);
    while (u->work.n) {
        const node *n = u->work.data[--u->work.n];
        bytes = count_variables(u, n, bytes);
        for (uint32_t k = 0; k < n->calls.n; k++) visit(u, n->calls.data[k]);
    }
    return bytes;
}
