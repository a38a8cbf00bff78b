/* graph.h — private to graph.c and graph_changes.c: a graph as it is recorded and committed. */
#ifndef SPVFUSE_RUNTIME_GRAPH_H
#define SPVFUSE_RUNTIME_GRAPH_H

#include "runtime/queue/chain.h"
#include "runtime/queue/objects.h"

typedef struct {
    spvf_launch launch; /* with references to program and buffers; args and values are ours */
    bool excluded;
} graph_node;

typedef struct {
    spvf_buffer *buffer;
    spvf_promote kind;
} graph_internal;

typedef struct {
    spvf_graph_kernel info;
    rt_chain_kernel parts; /* made: a program */
} graph_kernel;

struct spvf_graph {
    spvf_context context; /* for messages, memory and modules of this graph */
    ir_arena arena;
    spvf_device *device;
    spvf_graph_options options;
    ir_vec(graph_node) nodes;
    ir_vec(graph_internal) internals;
    ir_vec(graph_kernel) kernels;
    bool committed;     /* nothing is recorded any more */
    bool ready;         /* it was committed without an error, and can be run */
    uint64_t recording; /* rt_submission */
    /* What the last run has launched; NULL: nothing, or some of it is different now. */
    launch_batch *batch;
};

/* Says what is wrong with a call. */
spvf_status graph_refuse(spvf_graph *g, const char *call, const char *fmt, ...) IR_PRINTF(3, 4);
spvf_status graph_check_index(spvf_graph *g, const char *call, size_t index);
/* Runs to come are different from the last one. */
void graph_forget_run(spvf_graph *g);

#endif
