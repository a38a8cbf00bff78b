/* graph.h — private to graph*.c: a graph as it is recorded and committed.
 *
 * Launches that follow each other on one device are a part; kernels are fused within parts.  Most
 * graphs have one part, on the graph's own device, whose commands go to the queue of the run.
 * Otherwise the graph is spread: it has a queue for each device, and memory of its own on devices
 * that use a buffer of another one (graph_devices.c). */
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

typedef struct {
    spvf_device *device;
    spvf_queue *queue;              /* of a spread graph */
    uint32_t first, count;          /* launches */
    uint32_t first_kernel, kernels; /* that they have become */
    uint64_t recording;             /* rt_submission */
    /* What the last run has launched; NULL: nothing, or some of it is different now. */
    launch_batch *batch;
} graph_part;

/* Memory of a device for a buffer of the graph. */
typedef struct {
    spvf_buffer *buffer;
    uint32_t same; /* the first place that is the same memory: perhaps this one */
} graph_place;

/* A buffer of a spread graph: the first place is the buffer itself, the others are the graph's. */
typedef struct {
    ir_vec(graph_place) places;
    uint32_t part, launch; /* the first ones that use it */
    bool shared;           /* other parts use its memory, too */
    uint64_t valid;        /* while the copies are being found: which places have the contents */
} graph_home;

/* All of a home, from one place to another, before a part runs or, with the number of parts, at the
 * end. */
typedef struct {
    graph_home *home;
    uint32_t from, to, before;
} graph_move;

struct spvf_graph {
    spvf_context context; /* for messages, memory and modules of this graph */
    ir_arena arena;
    spvf_device *device;
    spvf_graph_options options;
    ir_vec(graph_node) nodes;
    ir_vec(graph_internal) internals;
    ir_map internal_of; /* by buffer, while the graph is committed: place in the list + 1 */
    ir_vec(graph_kernel) kernels;
    ir_vec(graph_part) parts;
    bool committed; /* nothing is recorded any more */
    bool ready;     /* it was committed without an error, and can be run */
    /* The next ones are those of a spread graph. */
    bool spread;
    ir_vec(graph_home *) homes;
    ir_map home_of; /* by buffer */
    ir_vec(graph_move) moves;
    ir_vec(spvf_queue *) queues; /* one for each device */
};

/* Says what is wrong with a call. */
spvf_status graph_refuse(spvf_graph *g, const char *call, const char *fmt, ...) IR_PRINTF(3, 4);
spvf_status graph_check_index(spvf_graph *g, const char *call, size_t index);
/* Runs to come are different from the last one. */
void graph_forget_run(spvf_graph *g);
/* The launch of a fused kernel of the part, for whose arguments there is room. */
spvf_launch graph_fused_launch(const spvf_graph *g, const graph_part *p, const rt_chain_kernel *k,
                               spvf_argument *args);
/* While the graph is committed: what the buffer was said to be; NULL: nothing. */
const graph_internal *graph_find_internal(const spvf_graph *g, const spvf_buffer *b);

/* ------------------------------------------------------------- several devices (graph_devices.c) */

/* Finds the parts, and for a spread graph memory and copies; throws. */
void graph_divide_by_device(spvf_graph *g);
/* The buffer that launches of the device use in the place of this one. */
spvf_buffer *graph_local(const spvf_graph *g, const spvf_device *d, spvf_buffer *b);
/* Do other parts use the buffer, too? */
bool graph_is_shared(const spvf_graph *g, const spvf_buffer *b);
/* Why launch `first` of a part cannot be fused with the one before it; throws. */
spvf_explanation *graph_explain_border(spvf_graph *g, const graph_part *p);
/* The home of `old` becomes that of `now`, of the same device; throws, and nothing has changed. */
void graph_move_home(spvf_graph *g, spvf_buffer *old, spvf_buffer *now);
void graph_free_devices(spvf_graph *g);

#endif
