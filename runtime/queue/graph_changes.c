/* graph_changes.c — other values and buffers for the runs of a graph to come.
 *
 * What was fused was fused for buffers that are different memory, or the same, and for integers
 * that are sizes; so a change that would make that false is refused.
 */
#include "runtime/queue/graph.h"

spvf_status spvf_graph_set_value(spvf_graph *g, size_t index, size_t arg, const void *bytes,
                                 size_t size) {
    spvf_status status = g ? graph_check_index(g, __func__, index) : SPVF_ERROR_ARGUMENT;
    if (status != SPVF_OK) return status;
    const spvf_launch *l = &g->nodes.data[index].launch;
    if (!bytes) return graph_refuse(g, __func__, "bytes is NULL");
    if (g->committed && g->options.constants)
        return graph_refuse(g, __func__, "values of this graph are constants of its code");
    const spvf_kernel_info *k = spvf_program_kernel(l->program, l->kernel);
    if (arg >= k->arg_count)
        return graph_refuse(g, __func__, "launch %zu has %zu arguments, no %zu", index,
                            k->arg_count, arg);
    if (k->args[arg]->kind != SPVF_ARG_VALUE)
        return graph_refuse(g, __func__, "argument %zu of launch %zu is no value", arg, index);
    if (k->args[arg]->size != size)
        return graph_refuse(g, __func__, "argument %zu of launch %zu has %llu bytes, not %zu", arg,
                            index, (unsigned long long)k->args[arg]->size, size);
    const char *why = launch_set_value(l, arg, bytes, g->committed && !g->options.unfused);
    if (!why) graph_forget_run(g);
    return why ? graph_refuse(g, __func__, "argument %zu of launch %zu: %s", arg, index, why)
               : SPVF_OK;
}

typedef struct {
    spvf_graph *graph;
    spvf_buffer *old, *now;
    bool fused;             /* launches have been */
    bool used;              /* the old one is */
    const spvf_buffer *bad; /* of the two: it shares memory with another one of the graph */
} exchange;

/* Do they have a byte in common, as far as their places are known? */
static bool share_memory(spvf_buffer *a, spvf_buffer *b) {
    if (a == b) return true;
    const uintptr_t x = (uintptr_t)buf_find_place(a), y = (uintptr_t)buf_find_place(b);
    return x && y && x < y + b->size && y < x + a->size;
}

static void look_at_memory(exchange *x) {
    for (uint32_t n = 0; n < x->graph->nodes.n; n++) {
        const spvf_launch *l = &x->graph->nodes.data[n].launch;
        for (size_t a = 0; a < l->arg_count; a++) {
            spvf_buffer *b = l->args[a].buffer;
            if (!b) continue;
            x->used |= b == x->old;
            if (share_memory(b, x->now) && (b != x->old || b == x->now)) x->bad = x->now;
            if (x->fused && share_memory(b, x->old) && b != x->old) x->bad = x->old;
        }
    }
}

static void move_home(void *arg) {
    const exchange *x = arg;
    graph_move_home(x->graph, x->old, x->now);
}

static void replace(spvf_buffer **at, spvf_buffer *now) {
    buf_retain(now);
    buf_release(*at);
    *at = now;
}

/* What was fused was fused for buffers that are different memory, or the same. */
spvf_status spvf_graph_set_buffer(spvf_graph *g, spvf_buffer *old, spvf_buffer *now) {
    if (!g || !old || !now)
        return graph_refuse(g, __func__, "%s is NULL", !g ? "graph" : old ? "now" : "old");
    if (now->device != old->device) return graph_refuse(g, __func__, "now is of another device");
    if (now->size != old->size)
        return graph_refuse(g, __func__, "now has %zu bytes, not the %zu of old", now->size,
                            old->size);
    exchange x = {.graph = g, .old = old, .now = now, .fused = g->committed && !g->options.unfused};
    look_at_memory(&x);
    if (!x.used) return graph_refuse(g, __func__, "old is not in the graph");
    if (x.bad)
        return graph_refuse(g, __func__, "%s shares memory with another buffer of the graph",
                            x.bad == now ? "now" : "old");
    graph_forget_run(g);
    if (g->ready && g->spread) {
        spvf_status status = rt_guard(&g->context, move_home, &x);
        if (status != SPVF_OK) return status;
    }
    for (uint32_t n = 0; n < g->nodes.n; n++) {
        const spvf_launch *l = &g->nodes.data[n].launch;
        spvf_argument *args = (spvf_argument *)(uintptr_t)l->args; /* the graph's */
        for (size_t a = 0; a < l->arg_count; a++)
            if (args[a].buffer == old) replace(&args[a].buffer, now);
    }
    for (uint32_t n = 0; n < g->internals.n; n++)
        if (g->internals.data[n].buffer == old) replace(&g->internals.data[n].buffer, now);
    return SPVF_OK;
}
