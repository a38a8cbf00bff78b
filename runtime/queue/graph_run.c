/* graph_run.c — runs of graphs.
 *
 * A part of a graph is one command for each kernel, or one for all if the device runs commands in
 * order: then its submissions have the number of a recording, so the device may keep what it makes
 * of them.  The commands of a graph with one part are those of the queue that it is run on.  Those
 * of a spread graph are in queues of the graph, between two that only mark where the run begins and
 * ends; the memory that they use orders them.
 */
#include "runtime/queue/graph.h"

#include <stdlib.h>

typedef struct {
    spvf_launch *launches; /* one for each kernel of a part */
    spvf_argument *args;   /* of those that have other arguments than was recorded */
} run;

static size_t count_args(const spvf_graph *g, const graph_kernel *k) {
    const spvf_fusion *f = k->parts.fusion;
    if (f) return spvf_fusion_get_info(f)->arg_count;
    return g->spread ? g->nodes.data[k->info.first].launch.arg_count : 0;
}

static void use_local(const spvf_graph *g, const graph_part *p, spvf_launch *l,
                      spvf_argument *args) {
    for (size_t n = 0; n < l->arg_count; n++) {
        args[n] = l->args[n];
        args[n].buffer = graph_local(g, p->device, args[n].buffer);
    }
    l->args = args;
}

static bool make_run(const spvf_graph *g, const graph_part *p, run *r) {
    const graph_kernel *kernels = &g->kernels.data[p->first_kernel];
    size_t args = 0;
    for (uint32_t k = 0; k < p->kernels; k++) args += count_args(g, &kernels[k]);
    r->launches = calloc(p->kernels, sizeof *r->launches);
    r->args = calloc(args + 1, sizeof *r->args);
    spvf_argument *at = r->args;
    for (uint32_t n = 0; r->launches && at && n < p->kernels; n++) {
        const graph_kernel *k = &kernels[n];
        r->launches[n] = g->nodes.data[k->info.first].launch;
        if (k->parts.fusion)
            r->launches[n] = graph_fused_launch(g, p, &k->parts, at);
        else if (g->spread)
            use_local(g, p, &r->launches[n], at);
        at += count_args(g, k);
    }
    return r->launches && r->args;
}

static void free_run(run *r) {
    free(r->launches);
    free(r->args);
}

static spvf_status run_one_by_one(const graph_part *p, const run *r, spvf_queue *q,
                                  const spvf_wait *wait, spvf_event **out) {
    spvf_event **events = calloc(p->kernels, sizeof *events);
    spvf_status status = events ? SPVF_OK : SPVF_ERROR_MEMORY;
    uint32_t n = 0;
    for (; status == SPVF_OK && n < p->kernels; n++)
        status = launch_enqueue(q, &r->launches[n], wait, &events[n]);
    if (status == SPVF_OK && out) status = spvf_queue_marker(q, &(spvf_wait){events, n}, out);
    for (uint32_t k = 0; events && k < n; k++) spvf_event_destroy(events[k]);
    free(events);
    return status;
}

/* All launches as one command, which is kept for later runs once all kernels have been launched. */
static spvf_status run_together(graph_part *p, const run *r, spvf_queue *q, const spvf_wait *wait,
                                spvf_event **out) {
    const launch_list list = {r->launches, p->kernels, p->recording};
    p->batch = launch_batch_new(&list);
    if (!p->batch) return SPVF_ERROR_MEMORY;
    if (launch_batch_is_known(p->batch)) return launch_enqueue_batch(q, p->batch, wait, out);
    launch_batch_release(p->batch);
    p->batch = NULL;
    return launch_enqueue_list(q, &list, wait, out);
}

static spvf_status run_part(const spvf_graph *g, graph_part *p, spvf_queue *q,
                            const spvf_wait *wait, spvf_event **out) {
    const bool together = p->device->shared.base->can.in_order && !q->is_fusing;
    run r;
    if (p->batch && together) return launch_enqueue_batch(q, p->batch, wait, out);
    launch_batch_release(p->batch);
    p->batch = NULL;
    spvf_status status = make_run(g, p, &r) ? SPVF_OK : SPVF_ERROR_MEMORY;
    if (status == SPVF_OK && together)
        status = run_together(p, &r, q, wait, out);
    else if (status == SPVF_OK && p->kernels == 1)
        status = launch_enqueue(q, r.launches, wait, out);
    else if (status == SPVF_OK)
        status = run_one_by_one(p, &r, q, wait, out);
    free_run(&r);
    return status;
}

/* ----------------------------------------------------------------------------- several devices */

static move_side side_of(const spvf_graph *g, const graph_place *p) {
    uint32_t n = 0;
    while (g->queues.data[n]->device != p->buffer->device) n++;
    return (move_side){p->buffer, g->queues.data[n]};
}

static spvf_status move(const spvf_graph *g, const graph_move *m, const spvf_wait *wait,
                        spvf_event **out) {
    const move_side from = side_of(g, &m->home->places.data[m->from]);
    const move_side to = side_of(g, &m->home->places.data[m->to]);
    return move_enqueue(&from, &to, wait, out);
}

/* Parts and moves, all of which wait for one event; *count of them have an event in the list. */
static spvf_status run_parts(const spvf_graph *g, spvf_event *start, spvf_event **events,
                             uint32_t *count) {
    const spvf_wait wait = {&start, 1};
    spvf_status status = SPVF_OK;
    uint32_t m = 0, n = 0;
    for (uint32_t k = 0; status == SPVF_OK && k <= g->parts.n; k++) {
        for (; status == SPVF_OK && m < g->moves.n && g->moves.data[m].before == k; m++)
            status = move(g, &g->moves.data[m], &wait, &events[n++]);
        if (status != SPVF_OK || k == g->parts.n) break;
        graph_part *p = &g->parts.data[k];
        status = run_part(g, p, p->queue, &wait, &events[n++]);
    }
    *count = status == SPVF_OK ? n : n - 1;
    return status;
}

static spvf_status run_spread(const spvf_graph *g, spvf_queue *q, const spvf_wait *wait,
                              spvf_event **out) {
    spvf_event *start = NULL, **events = calloc(g->parts.n + g->moves.n, sizeof *events);
    uint32_t n = 0;
    spvf_status status = events ? nothing_enqueue(q, wait, &start) : SPVF_ERROR_MEMORY;
    if (status == SPVF_OK) status = run_parts(g, start, events, &n);
    if (status == SPVF_OK) status = spvf_queue_marker(q, &(spvf_wait){events, n}, out);
    for (uint32_t k = 0; k < n; k++) spvf_event_destroy(events[k]);
    spvf_event_destroy(start);
    free(events);
    return status;
}

spvf_status spvf_graph_run(spvf_graph *g, spvf_queue *q, const spvf_wait *wait, spvf_event **out) {
    if (out) *out = NULL;
    if (!g || !q) return g ? graph_refuse(g, __func__, "queue is NULL") : SPVF_ERROR_ARGUMENT;
    if (!g->ready)
        return graph_refuse(g, __func__,
                            g->committed ? "committing the graph has failed"
                                         : "the graph is not committed yet");
    if (q->device != g->device) return graph_refuse(g, __func__, "queue is of another device");
    if (cmd_check_wait(g->device, __func__, wait)) return SPVF_ERROR_ARGUMENT;
    return g->spread ? run_spread(g, q, wait, out) : run_part(g, g->parts.data, q, wait, out);
}
