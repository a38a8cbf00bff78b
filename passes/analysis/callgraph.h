/* callgraph.h — which functions call which (callgraph.c). */
#ifndef SPVFUSE_CALLGRAPH_H
#define SPVFUSE_CALLGRAPH_H

#include "passes/passes.h"

typedef struct pass_call_node pass_call_node;

typedef struct {
    const pass_call_node *to;
    ir_inst *at;
} pass_call_edge;

/* A function, and the calls in its blocks that can be reached. */
struct pass_call_node {
    ir_func *f;
    ir_vec(pass_call_edge) calls;
    uint64_t size;    /* in instructions */
    uint32_t callers; /* calls of it */
    uint32_t number;  /* its place in the order */
    bool recursive;   /* it calls itself, perhaps through others */
};

typedef struct {
    ir_map nodes; /* by function */
    ir_vec(pass_call_node *) order;
} pass_call_graph;

/* The graph of a module.  The order has callees first, except in a cycle.  Linear in the size of
 * the module, which is not changed. */
void pass_find_calls(ir_module *m, ir_arena *scratch, pass_call_graph *g);
const pass_call_node *pass_call_node_of(const pass_call_graph *g, const ir_func *f);

#endif
