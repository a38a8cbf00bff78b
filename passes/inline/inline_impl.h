/* inline_impl.h — private to inline*.c and calls.c: the call graph, and what is decided about its
 * functions. */
#ifndef SPVFUSE_INLINE_IMPL_H
#define SPVFUSE_INLINE_IMPL_H

#include "passes/analysis/callgraph.h"

/* Instructions that a kernel may have with all that is inlined into it. */
enum { PASS_MOST_INSTRUCTIONS = 1 << 20 };

/* What is decided about a function. */
typedef struct {
    const pass_call_node *node;
    ir_func *f;                /* that of the node */
    const pass_call_edge *bad; /* the first call on the way to something that cannot be inlined */
    uint64_t size;             /* with calls expanded, but for those of functions that stay */
    struct {
        bool alone; /* neither it nor its callees do anything together with other work-items */
        bool stays; /* calls of it are not inlined into large kernels */
        bool large; /* a kernel that would be too large without functions that stay */
    } keep;
    uint32_t mark; /* of the walk that has visited it */
} pass_callee;

typedef ir_vec(pass_callee *) pass_callee_list;

typedef struct {
    ir_module *m;
    pass_ctx *cx;
    pass_call_graph graph;
    pass_callee *callees; /* one for each function, in the order of the graph: callees first */
    uint32_t n;           /* of them */
    bool has_kernels;
    bool is_open; /* neither kernels nor exports: everything may be wanted */
    bool changed;
    pass_refusal_fn *found; /* told of refusals instead of carrying them out; NULL: inlines */
    void *user;
} pass_inliner;

static inline bool pass_is_kernel(const ir_func *f) { return (f->flags & IR_FUNC_KERNEL) != 0; }

/* The call graph, and what each function leads to. (inline_graph.c) */
void pass_find_callees(pass_inliner *n);
pass_callee *pass_callee_of(const pass_inliner *n, const ir_func *f);
/* What a call leads to. */
static inline pass_callee *pass_called_by(const pass_inliner *n, const pass_call_edge *call) {
    return &n->callees[call->to->number];
}
/* Chooses the functions that stay, and the kernels that call them. (inline_keep.c) */
void pass_choose_functions(pass_inliner *n);
/* True when the kernel has been refused. (inline_refuse.c) */
bool pass_refuse_kernel(pass_inliner *n, pass_callee *kernel);

#endif
