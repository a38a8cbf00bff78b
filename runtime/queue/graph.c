/* graph.c — launches that are recorded, fused, and run again and again.
 *
 * Committing divides the launches into kernels (chain.c).  What is fused becomes a program of its
 * own; a run enqueues one command for each kernel.
 */
#include "runtime/queue/chain.h"
#include "runtime/queue/objects.h"

#include <stdlib.h>

typedef struct {
    spvf_launch launch; /* with references to program and buffers; args and values are ours */
    bool excluded;
} node;

typedef struct {
    spvf_buffer *buffer;
    spvf_promote kind;
} internal;

typedef struct {
    spvf_graph_kernel info;
    rt_chain_kernel parts;
    spvf_program *program; /* of the fused kernel */
} kernel;

struct spvf_graph {
    spvf_context context; /* for messages, memory and modules of this graph */
    ir_arena arena;
    spvf_device *device;
    spvf_graph_options options;
    ir_vec(node) nodes;
    ir_vec(internal) internals;
    ir_vec(kernel) kernels;
    bool committed; /* nothing is recorded any more */
    bool ready;     /* … and that went well */
};

/* ------------------------------------------------------------------------------------ recording */

spvf_status spvf_graph_create(spvf_device *device, const spvf_graph_options *options,
                              spvf_graph **out) {
    if (out) *out = NULL;
    if (!device || !out) return SPVF_ERROR_ARGUMENT;
    spvf_graph *g = calloc(1, sizeof *g);
    if (!g) return SPVF_ERROR_MEMORY;
    dev_context(device, &g->context);
    ir_arena_init(&g->arena, &g->context.cx);
    rt_copy_options(&g->options, options, sizeof g->options);
    g->device = device;
    dev_retain(device);
    *out = g;
    return SPVF_OK;
}

static void drop_node(node *n) {
    for (size_t a = 0; a < n->launch.arg_count; a++)
        if (n->launch.args[a].buffer) buf_release(n->launch.args[a].buffer);
    prog_release(n->launch.program);
}

void spvf_graph_destroy(spvf_graph *g) {
    if (!g) return;
    for (uint32_t k = 0; k < g->kernels.n; k++) {
        rt_chain_kernel_free(&g->kernels.data[k].parts);
        spvf_program_destroy(g->kernels.data[k].program);
    }
    for (uint32_t n = 0; n < g->nodes.n; n++) drop_node(&g->nodes.data[n]);
    for (uint32_t n = 0; n < g->internals.n; n++) buf_release(g->internals.data[n].buffer);
    ir_arena_free(&g->arena);
    dev_release(g->device);
    free(g);
}

typedef struct {
    spvf_graph *graph;
    const spvf_launch *launch;
    internal internal;
} recording;

/* References are taken when nothing can fail any more. */
static void record_launch(void *arg) {
    const recording *r = arg;
    const spvf_launch *w = r->launch;
    ir_arena *a = &r->graph->arena;
    spvf_argument *args = ir_dup(a, w->args, w->arg_count * sizeof *args);
    for (size_t n = 0; n < w->arg_count; n++)
        if (args[n].bytes) args[n].bytes = ir_dup(a, args[n].bytes, args[n].size);
    node *to = ir_push(a, &r->graph->nodes);
    *to = (node){.launch = *w};
    to->launch.args = args;
    to->launch.kernel = spvf_program_kernel(w->program, w->kernel)->name;
    for (size_t n = 0; n < w->arg_count; n++)
        if (args[n].buffer) buf_retain(args[n].buffer);
    prog_retain(w->program);
}

spvf_status spvf_graph_launch(spvf_graph *g, const spvf_launch *w, size_t *index) {
    if (!g || !w || g->committed || !launch_is_right(g->device, w)) return SPVF_ERROR_ARGUMENT;
    recording r = {.graph = g, .launch = w};
    spvf_status status = rt_guard(&g->context, record_launch, &r);
    if (status == SPVF_OK && index) *index = g->nodes.n - 1;
    return status;
}

static void record_internal(void *arg) {
    const recording *r = arg;
    *ir_push(&r->graph->arena, &r->graph->internals) = r->internal;
    buf_retain(r->internal.buffer);
}

spvf_status spvf_graph_internal(spvf_graph *g, spvf_buffer *b, spvf_promote kind) {
    if (!g || !b || g->committed || b->device != g->device || kind > SPVF_PROMOTE_LOCAL)
        return SPVF_ERROR_ARGUMENT;
    recording r = {.graph = g, .internal = {b, kind}};
    return rt_guard(&g->context, record_internal, &r);
}

spvf_status spvf_graph_exclude(spvf_graph *g, size_t index) {
    if (!g || g->committed || index >= g->nodes.n) return SPVF_ERROR_ARGUMENT;
    g->nodes.data[index].excluded = true;
    return SPVF_OK;
}

bool graph_is_empty(const spvf_graph *g) { return !g->nodes.n; }

void graph_each_launch(const spvf_graph *g, void (*visit)(const spvf_launch *l, spvf_queue *q),
                       spvf_queue *q) {
    for (uint32_t n = 0; n < g->nodes.n; n++) visit(&g->nodes.data[n].launch, q);
}

void graph_leave_unfused(spvf_graph *g) { g->options.unfused = true; }

void graph_may_be_refused(spvf_graph *g) { g->options.strict = false; }

/* --------------------------------------------------------------------------------------- fusing */

static const internal *find_internal(const spvf_graph *g, const spvf_buffer *b) {
    for (uint32_t n = 0; n < g->internals.n; n++)
        if (g->internals.data[n].buffer == b) return &g->internals.data[n];
    return NULL;
}

/* Of a buffer everything behind the offset can be reached. */
static rt_chain_arg chain_arg(const spvf_graph *g, const spvf_argument *a) {
    if (!a->buffer) return (rt_chain_arg){.bytes = a->bytes, .size = a->size};
    const internal *i = find_internal(g, a->buffer);
    return (rt_chain_arg){.memory = a->buffer,
                          .address = a->offset,
                          .begin = a->offset,
                          .end = a->buffer->size,
                          .internal = i != NULL,
                          .promote = i ? i->kind : SPVF_PROMOTE_AUTO};
}

static rt_chain_link chain_link(spvf_graph *g, const node *n) {
    const spvf_launch *l = &n->launch;
    rt_chain_arg *args = ir_new_array(&g->arena, rt_chain_arg, l->arg_count);
    for (size_t a = 0; a < l->arg_count; a++) args[a] = chain_arg(g, &l->args[a]);
    return (rt_chain_link){.module = l->program->module,
                           .kernel = spvf_program_kernel(l->program, l->kernel),
                           .range = l->range,
                           .args = args,
                           .alone = n->excluded};
}

typedef struct {
    spvf_graph *graph;
    rt_chain_link *links;
    rt_chain_kernel *division;
} committing;

static void make_room(void *arg) {
    committing *c = arg;
    spvf_graph *g = c->graph;
    uint32_t n = g->nodes.n;
    g->kernels.data = ir_new_array(&g->arena, kernel, n);
    c->division = ir_new_array(&g->arena, rt_chain_kernel, n);
    c->links = ir_new_array(&g->arena, rt_chain_link, n);
    for (uint32_t k = 0; k < n; k++) c->links[k] = chain_link(g, &g->nodes.data[k]);
}

static spvf_status take_kernel(spvf_graph *g, const rt_chain_kernel *from) {
    kernel *k = &g->kernels.data[g->kernels.n++];
    *k = (kernel){.parts = *from, .info = {from->first, from->count, NULL, from->refusal}};
    if (!from->fusion) return SPVF_OK;
    k->info.explanation = spvf_fusion_explanation(from->fusion);
    return spvf_program_create(g->device, spvf_fusion_module(from->fusion), &k->program);
}

/* The kernels belong to the graph, whatever happens. */
static spvf_status divide(spvf_graph *g, const committing *c) {
    const spvf_graph_options *o = &g->options;
    const rt_chain chain = {.links = c->links,
                            .count = g->nodes.n,
                            .options = {.barrier = o->barrier,
                                        .force = o->force,
                                        .strict = o->strict,
                                        .phases = o->phases && g->device->base->phases,
                                        .known_range = true},
                            .constants = o->constants,
                            .unfused = o->unfused};
    uint32_t n;
    spvf_status status = rt_chain_divide(&g->context, &chain, c->division, &n);
    for (uint32_t k = 0; k < n; k++) {
        spvf_status taken = take_kernel(g, &c->division[k]);
        if (status == SPVF_OK) status = taken;
    }
    return status;
}

spvf_status spvf_graph_commit(spvf_graph *g) {
    if (!g || g->committed || !g->nodes.n) return SPVF_ERROR_ARGUMENT;
    committing c = {.graph = g};
    spvf_status status = rt_guard(&g->context, make_room, &c);
    g->committed = true;
    if (status == SPVF_OK) status = divide(g, &c);
    g->ready = status == SPVF_OK;
    return status;
}

size_t spvf_graph_kernel_count(const spvf_graph *g) { return g ? g->kernels.n : 0; }

spvf_graph_kernel spvf_graph_get_kernel(const spvf_graph *g, size_t index) {
    return g && index < g->kernels.n ? g->kernels.data[index].info : (spvf_graph_kernel){0};
}

/* -------------------------------------------------------------------------------------- running */

static const spvf_argument *given(const spvf_graph *g, const kernel *k, const spvf_fused_arg *a) {
    return &g->nodes.data[k->info.first + a->member].launch.args[a->param];
}

static spvf_status run_fused(const spvf_graph *g, const kernel *k, spvf_queue *q,
                             const spvf_wait *wait, spvf_event **out) {
    const spvf_fusion_info *info = spvf_fusion_get_info(k->parts.fusion);
    spvf_argument *args = calloc(info->arg_count + 1, sizeof *args);
    if (!args) return SPVF_ERROR_MEMORY;
    for (size_t n = 0; n < info->arg_count; n++) args[n] = *given(g, k, &info->args[n]);
    const spvf_launch what = {.program = k->program,
                              .kernel = info->name,
                              .range = info->range,
                              .args = args,
                              .arg_count = info->arg_count};
    spvf_status status = spvf_queue_launch(q, &what, wait, out);
    free(args);
    return status;
}

static spvf_status run_kernel(const spvf_graph *g, const kernel *k, spvf_queue *q,
                              const spvf_wait *wait, spvf_event **out) {
    if (k->parts.fusion) return run_fused(g, k, q, wait, out);
    return spvf_queue_launch(q, &g->nodes.data[k->info.first].launch, wait, out);
}

spvf_status spvf_graph_run(spvf_graph *g, spvf_queue *q, const spvf_wait *wait, spvf_event **out) {
    if (out) *out = NULL;
    if (!g || !q || !g->ready || q->device != g->device || !cmd_wait_is_right(wait))
        return SPVF_ERROR_ARGUMENT;
    if (g->kernels.n == 1) return run_kernel(g, g->kernels.data, q, wait, out);
    spvf_event **events = calloc(g->kernels.n, sizeof *events);
    spvf_status status = events ? SPVF_OK : SPVF_ERROR_MEMORY;
    uint32_t n = 0;
    for (; status == SPVF_OK && n < g->kernels.n; n++)
        status = run_kernel(g, &g->kernels.data[n], q, wait, &events[n]);
    if (status == SPVF_OK && out) status = spvf_queue_marker(q, &(spvf_wait){events, n}, out);
    for (uint32_t k = 0; events && k < n; k++) spvf_event_destroy(events[k]);
    free(events);
    return status;
}

spvf_status spvf_graph_set_value(spvf_graph *g, size_t index, size_t arg, const void *bytes,
                                 size_t size) {
    if (!g || !bytes || index >= g->nodes.n || (g->committed && g->options.constants))
        return SPVF_ERROR_ARGUMENT;
    const spvf_launch *l = &g->nodes.data[index].launch;
    if (arg >= l->arg_count || !l->args[arg].bytes || l->args[arg].size != size)
        return SPVF_ERROR_ARGUMENT;
    memcpy((void *)(uintptr_t)l->args[arg].bytes, bytes, size);
    return SPVF_OK;
}

static bool is_used(const spvf_graph *g, const spvf_buffer *b) {
    for (uint32_t n = 0; n < g->nodes.n; n++) {
        const spvf_launch *l = &g->nodes.data[n].launch;
        for (size_t a = 0; a < l->arg_count; a++)
            if (l->args[a].buffer == b) return true;
    }
    return false;
}

/* What was fused was fused for buffers that are different memory. */
spvf_status spvf_graph_set_buffer(spvf_graph *g, spvf_buffer *old, spvf_buffer *now) {
    if (!g || !old || !now || now->device != g->device || now->size != old->size)
        return SPVF_ERROR_ARGUMENT;
    if (is_used(g, now) || !is_used(g, old)) return SPVF_ERROR_ARGUMENT;
    for (uint32_t n = 0; n < g->nodes.n; n++) {
        const spvf_launch *l = &g->nodes.data[n].launch;
        spvf_argument *args = (spvf_argument *)(uintptr_t)l->args; /* the graph's */
        for (size_t a = 0; a < l->arg_count; a++) {
            if (args[a].buffer != old) continue;
            buf_retain(now);
            args[a].buffer = now;
            buf_release(old);
        }
    }
    return SPVF_OK;
}
