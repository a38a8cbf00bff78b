/* graph.c — launches that are recorded and fused, to be run again and again.
 *
 * Committing divides the launches by device (graph_devices.c), and those of a part into kernels
 * (chain.c).  What is fused becomes a program of its own.
 */
#include "runtime/queue/graph.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------ recording */

spvf_status graph_create(spvf_device *d, const char *call, const spvf_graph_options *options,
                         spvf_graph **out) {
    spvf_graph_options o;
    if (!dev_take_struct(d, call, &o, options, sizeof o)) return SPVF_ERROR_ARGUMENT;
    if ((unsigned)o.barrier > SPVF_BARRIER_NONE)
        return dev_refuse(d, call, "%d is no barrier policy", (int)o.barrier);
    spvf_graph *g = calloc(1, sizeof *g);
    if (!g) return SPVF_ERROR_MEMORY;
    dev_context(d, &g->context);
    ir_arena_init(&g->arena, &g->context.cx);
    g->options = o;
    g->device = d;
    dev_retain(d);
    *out = g;
    return SPVF_OK;
}

spvf_status spvf_graph_create(spvf_device *device, const spvf_graph_options *options,
                              spvf_graph **out) {
    if (out) *out = NULL;
    if (device && out) return graph_create(device, __func__, options, out);
    return dev_refuse(device, __func__, "%s is NULL", device ? "out" : "device");
}

spvf_status graph_refuse(spvf_graph *g, const char *call, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    spvf_status status = rt_vrefuse_call(g ? &g->context : NULL, call, fmt, ap);
    va_end(ap);
    return status;
}

static spvf_status check_recording(spvf_graph *g, const char *call) {
    if (!g) return SPVF_ERROR_ARGUMENT;
    return g->committed ? graph_refuse(g, call, "the graph is committed already") : SPVF_OK;
}

spvf_status graph_check_index(spvf_graph *g, const char *call, size_t index) {
    if (index < g->nodes.n) return SPVF_OK;
    return graph_refuse(g, call, "there is no launch %zu among %u", index, g->nodes.n);
}

static void drop_node(graph_node *n) {
    for (size_t a = 0; a < n->launch.arg_count; a++)
        if (n->launch.args[a].buffer) buf_release(n->launch.args[a].buffer);
    prog_release(n->launch.program);
}

void graph_forget_run(spvf_graph *g) {
    for (uint32_t n = 0; n < g->parts.n; n++) {
        launch_batch_release(g->parts.data[n].batch);
        g->parts.data[n].batch = NULL;
    }
}

static void forget_recording(void *arg) {
    const graph_part *p = arg;
    rt_device *d = p->device->shared.base;
    if (d->driver->forget) d->driver->forget(d, p->recording);
}

void spvf_graph_destroy(spvf_graph *g) {
    if (!g) return;
    graph_forget_run(g);
    for (uint32_t n = 0; g->ready && n < g->parts.n; n++)
        dev_run(g->parts.data[n].device, forget_recording, &g->parts.data[n]);
    for (uint32_t k = 0; k < g->kernels.n; k++) rt_chain_kernel_free(&g->kernels.data[k].parts);
    graph_free_devices(g);
    for (uint32_t n = 0; n < g->nodes.n; n++) drop_node(&g->nodes.data[n]);
    for (uint32_t n = 0; n < g->internals.n; n++) buf_release(g->internals.data[n].buffer);
    ir_arena_free(&g->arena);
    dev_release(g->device);
    free(g);
}

typedef struct {
    spvf_graph *graph;
    const spvf_launch *launch;
    graph_internal internal;
} recording;

/* References are taken when nothing can fail any more. */
static void record_launch(void *arg) {
    const recording *r = arg;
    const spvf_launch *w = r->launch;
    ir_arena *a = &r->graph->arena;
    spvf_argument *args = ir_dup(a, w->args, w->arg_count * sizeof *args);
    for (size_t n = 0; n < w->arg_count; n++)
        if (args[n].bytes) args[n].bytes = ir_dup(a, args[n].bytes, args[n].size);
    graph_node *to = ir_push(a, &r->graph->nodes);
    *to = (graph_node){.launch = *w};
    to->launch.args = args;
    to->launch.kernel = prog_kernel(w->program, w->kernel)->name;
    spvf_graph *g = r->graph;
    g->spread |= w->program->device != g->device;
    for (size_t n = 0; n < w->arg_count; n++) {
        if (!args[n].buffer) continue;
        buf_retain(args[n].buffer);
        g->spread |= args[n].buffer->device != g->device;
    }
    prog_retain(w->program);
}

spvf_status graph_record(spvf_graph *g, const spvf_launch *w) {
    recording r = {.graph = g, .launch = w};
    return rt_guard(&g->context, record_launch, &r);
}

spvf_status spvf_graph_launch(spvf_graph *g, const spvf_launch *w, size_t *index) {
    spvf_launch own, found;
    if (!w) return graph_refuse(g, __func__, "what is NULL");
    spvf_status status = check_recording(g, __func__);
    if (status == SPVF_OK) status = launch_take(g->device, __func__, w, &own);
    if (status != SPVF_OK) return status;
    spvf_device *device = own.program ? own.program->device : g->device;
    status = launch_find_buffers(device, __func__, &own, &found);
    if (status != SPVF_OK) return status;
    status = launch_check_spread(g->device, __func__, &found);
    if (status == SPVF_OK) status = graph_record(g, &found);
    if (status == SPVF_OK && index) *index = g->nodes.n - 1;
    launch_release_buffers(&own, &found);
    return status;
}

static void record_internal(void *arg) {
    const recording *r = arg;
    *ir_push(&r->graph->arena, &r->graph->internals) = r->internal;
    buf_retain(r->internal.buffer);
}

spvf_status spvf_graph_internal(spvf_graph *g, spvf_buffer *b, spvf_promote kind) {
    spvf_status status = check_recording(g, __func__);
    if (status != SPVF_OK) return status;
    if (!b) return graph_refuse(g, __func__, "buffer is NULL");
    if ((unsigned)kind > SPVF_PROMOTE_LOCAL)
        return graph_refuse(g, __func__, "%d is no kind of promotion", (int)kind);
    recording r = {.graph = g, .internal = {b, kind}};
    return rt_guard(&g->context, record_internal, &r);
}

spvf_status spvf_graph_exclude(spvf_graph *g, size_t index) {
    spvf_status status = check_recording(g, __func__);
    if (status == SPVF_OK) status = graph_check_index(g, __func__, index);
    if (status != SPVF_OK) return status;
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

/* -------------------------------------------------------------------- launches of fused kernels */

/* What a kernel of a part was recorded with. */
typedef struct {
    const spvf_graph *graph;
    const graph_part *part;
    const rt_chain_kernel *kernel;
} given_to;

static const spvf_argument *given(const given_to *to, uint32_t member, uint32_t param) {
    const uint32_t n = to->part->first + to->kernel->first + member;
    return &to->graph->nodes.data[n].launch.args[param];
}

static size_t reach(const spvf_argument *a) { return a->buffer->size - a->offset; }

/* The arguments of a fused kernel: of buffers that begin at the same address the one that goes
 * farthest, so that all other uses of that memory overlap it. */
static void find_args(const given_to *to, spvf_argument *args) {
    const spvf_fusion_info *info = spvf_fusion_get_info(to->kernel->fusion);
    for (size_t n = 0; n < info->arg_count; n++)
        args[n] = *given(to, info->args[n]->member, info->args[n]->param);
    for (size_t n = 0; n < info->param_count; n++) {
        const spvf_param_info *p = info->params[n];
        if (p->use != SPVF_PARAM_SAME || p->kind != SPVF_ARG_BUFFER) continue;
        const spvf_argument *a = given(to, p->member, p->param);
        if (a->buffer && reach(a) > reach(&args[p->arg])) args[p->arg] = *a;
    }
    for (size_t n = 0; n < info->arg_count; n++)
        args[n].buffer = graph_local(to->graph, to->part->device, args[n].buffer);
}

spvf_launch graph_fused_launch(const spvf_graph *g, const graph_part *p, const rt_chain_kernel *k,
                               spvf_argument *args) {
    const spvf_fusion_info *info = spvf_fusion_get_info(k->fusion);
    find_args(&(given_to){g, p, k}, args);
    return (spvf_launch){.program = k->made,
                         .kernel = info->name,
                         .range = info->range,
                         .args = args,
                         .arg_count = info->arg_count};
}

/* --------------------------------------------------------------------------------------- fusing */

/* Of what a buffer was said to be, the first counts. */
static void index_internals(spvf_graph *g) {
    for (uint32_t n = g->internals.n; n > 0; n--)
        ir_map_set(&g->arena, &g->internal_of, (uintptr_t)g->internals.data[n - 1].buffer,
                   (void *)(uintptr_t)n);
}

const graph_internal *graph_find_internal(const spvf_graph *g, const spvf_buffer *b) {
    uintptr_t n = (uintptr_t)ir_map_get(&g->internal_of, (uintptr_t)b);
    return n ? &g->internals.data[n - 1] : NULL;
}

/* What several parts use has contents when one of them has run. */
static const graph_internal *find_internal(const spvf_graph *g, const spvf_buffer *b) {
    return graph_is_shared(g, b) ? NULL : graph_find_internal(g, b);
}

static const char host_memory; /* the one that all addresses belong to */

/* From its offset on all of a buffer can be reached.  What lies nowhere yet is memory of its
 * own.  An address that leads to no buffer can reach everything, and NULL nothing. */
static rt_chain_arg chain_arg(const spvf_graph *g, const spvf_device *d, const spvf_arg_info *info,
                              const spvf_argument *a) {
    if (!a->buffer && info->kind == SPVF_ARG_BUFFER)
        return (rt_chain_arg){.memory = &host_memory,
                              .address = (uintptr_t)a->address,
                              .end = a->address ? UINTPTR_MAX : 0};
    if (!a->buffer) return (rt_chain_arg){.bytes = a->bytes, .size = a->size};
    const graph_internal *i = find_internal(g, a->buffer);
    const spvf_buffer *local = graph_local(g, d, a->buffer);
    const uintptr_t base = (uintptr_t)buf_place(local);
    return (rt_chain_arg){.memory = base ? &host_memory : (const void *)local,
                          .address = base + a->offset,
                          .begin = base + a->offset,
                          .end = base + a->buffer->size,
                          .internal = i != NULL,
                          .promote = i ? i->kind : SPVF_PROMOTE_AUTO};
}

typedef struct {
    spvf_graph *graph;
    graph_part *part;
    rt_chain_link *links; /* room for those of any part, as the next ones */
    rt_chain_arg *args;
    rt_chain_kernel *division;
} committing;

/* With the device's lock: where a buffer lies does not change meanwhile. */
static void make_links(void *arg) {
    const committing *c = arg;
    rt_chain_arg *args = c->args;
    for (uint32_t k = 0; k < c->part->count; k++) {
        const graph_node *n = &c->graph->nodes.data[c->part->first + k];
        const spvf_launch *l = &n->launch;
        const spvf_kernel_info *info = prog_kernel(l->program, l->kernel);
        for (size_t a = 0; a < l->arg_count; a++)
            args[a] = chain_arg(c->graph, c->part->device, info->args[a], &l->args[a]);
        c->links[k] = (rt_chain_link){.module = l->program->module,
                                      .kernel = info,
                                      .range = l->range,
                                      .args = args,
                                      .alone = n->excluded};
        args += l->arg_count;
    }
}

static void make_room(void *arg) {
    committing *c = arg;
    spvf_graph *g = c->graph;
    uint32_t n = g->nodes.n;
    size_t args = 0;
    for (uint32_t k = 0; k < n; k++) args += g->nodes.data[k].launch.arg_count;
    g->kernels.data = ir_new_array(&g->arena, graph_kernel, n);
    c->division = ir_new_array(&g->arena, rt_chain_kernel, n);
    c->links = ir_new_array(&g->arena, rt_chain_link, n);
    c->args = ir_new_array(&g->arena, rt_chain_arg, args);
    index_internals(g);
    graph_divide_by_device(g);
}

/* The program of a fused kernel, which is compiled for its launch. */
static void make_program(void *user, rt_chain_kernel *k) {
    const committing *c = user;
    spvf_graph *g = c->graph;
    const spvf_fusion_info *info = spvf_fusion_get_info(k->fusion);
    spvf_argument *args = ir_new_array(&g->arena, spvf_argument, info->arg_count);
    spvf_program *p = k->made = prog_new(c->part->device);
    if (!p) ir_throw(&g->context.cx, IR_ERR_MEMORY);
    p->fused = true;
    prog_build(&g->context, p, spvf_fusion_module(k->fusion));
    const spvf_launch what = graph_fused_launch(g, c->part, k, args);
    launch_prepare(&g->context, &what, &g->arena);
}

static void drop_program(void *p) { spvf_program_destroy(p); }

static void take_kernel(spvf_graph *g, graph_part *p, const rt_chain_kernel *from) {
    graph_kernel *k = &g->kernels.data[g->kernels.n++];
    *k = (graph_kernel){.parts = *from,
                        .info = {p->first + from->first, from->count, NULL, from->refusal}};
    if (from->fusion) k->info.explanation = spvf_fusion_explanation(from->fusion);
    p->kernels++;
}

/* The kernels belong to the graph, whatever happens. */
static spvf_status divide(committing *c) {
    spvf_graph *g = c->graph;
    graph_part *p = c->part;
    const spvf_graph_options *o = &g->options;
    const spvf_capabilities *can = &p->device->shared.base->can;
    const rt_chain chain = {.links = c->links,
                            .count = p->count,
                            .options = {.barrier = o->barrier,
                                        .force = o->force,
                                        .strict = o->strict,
                                        .phases = o->phases && can->phases,
                                        .serial = can->serial,
                                        .lanes = can->lanes,
                                        .known_range = true},
                            .constants = o->constants,
                            .sizes = true,
                            .unfused = o->unfused,
                            .make = make_program,
                            .drop = drop_program,
                            .user = c};
    uint32_t n;
    p->first_kernel = g->kernels.n;
    spvf_status status = rt_chain_divide(&g->context, &chain, c->division, &n);
    for (uint32_t k = 0; k < n; k++) take_kernel(g, p, &c->division[k]);
    return status;
}

/* Why the kernel before a part ends there. */
static void explain_border(void *arg) {
    const committing *c = arg;
    spvf_graph *g = c->graph;
    if (c->part == g->parts.data || g->options.unfused) return;
    spvf_explanation *e = graph_explain_border(g, c->part);
    graph_kernel *before = &g->kernels.data[c->part->first_kernel - 1];
    spvf_explanation_destroy(before->parts.refusal);
    before->info.refusal = before->parts.refusal = e;
}

/* There are parts that a strict graph may not have. */
static void refuse_parts(void *arg) {
    spvf_graph *g = arg;
    spvf_explanation *e = graph_explain_border(g, &g->parts.data[1]);
    rt_say_refusal(&g->context, e, true);
    spvf_explanation_destroy(e);
    ir_throw(&g->context.cx, IR_ERR_REFUSED);
}

static spvf_status commit(spvf_graph *g) {
    committing c = {.graph = g};
    g->committed = true;
    spvf_status status = rt_guard(&g->context, make_room, &c);
    if (status == SPVF_OK && g->options.strict && g->parts.n > 1)
        status = rt_guard(&g->context, refuse_parts, g);
    for (uint32_t n = 0; status == SPVF_OK && n < g->parts.n; n++) {
        c.part = &g->parts.data[n];
        status = dev_run(c.part->device, make_links, &c);
        if (status == SPVF_OK) status = divide(&c);
        if (status == SPVF_OK) status = rt_guard(&g->context, explain_border, &c);
    }
    g->ready = status == SPVF_OK;
    return status;
}

static void trace_end(const spvf_graph *g, spvf_status status) {
    rt_trace t;
    rt_trace_open(&t, RT_TRACE_END, 0, NULL, NULL);
    rt_trace_number(&t, "spvfuse.graph.launches", g->nodes.n);
    rt_trace_number(&t, "spvfuse.graph.kernels", g->kernels.n);
    if (g->spread) rt_trace_number(&t, "spvfuse.graph.copies", g->moves.n);
    if (status != SPVF_OK) rt_trace_text(&t, "error.type", spvf_status_name(status));
    rt_trace_write(&t);
}

spvf_status spvf_graph_commit(spvf_graph *g) {
    bool traced = rt_is_traced();
    spvf_status status = check_recording(g, __func__);
    if (status != SPVF_OK) return status;
    if (!g->nodes.n) return graph_refuse(g, __func__, "nothing was recorded");
    if (traced) rt_trace_call("fusion", "commit graph");
    status = commit(g);
    if (traced) trace_end(g, status);
    return status;
}

size_t spvf_graph_kernel_count(const spvf_graph *g) { return g ? g->kernels.n : 0; }

spvf_graph_kernel spvf_graph_get_kernel(const spvf_graph *g, size_t index) {
    return g && index < g->kernels.n ? g->kernels.data[index].info : (spvf_graph_kernel){0};
}
