/* graph_devices.c — graphs whose launches, or their buffers, are of several devices.
 *
 * Each launch runs on the device of its program.  A launch that uses a buffer of another device
 * gets memory of its own device in place of it: the same memory if both devices work in memory of
 * this process, and otherwise a copy.  Which places of a buffer have its contents is followed from
 * launch to launch, as in a protocol of caches that write back: a launch that needs the contents is
 * preceded by a copy if its place does not have them, and one that writes leaves them in its place
 * only.  In the end the buffer itself has them again.  So each copy is decided when the graph is
 * committed.  Contents of internal buffers are not needed before and after.
 *
 * Not done: copies are of whole buffers, also where launches use or write a part of them.
 */
#include "runtime/queue/graph.h"

#include <stdlib.h>

enum { MAX_PLACES = 64 }; /* of a buffer */

/* -------------------------------------------------------------------------------------- queues */

static spvf_queue *find_queue(spvf_graph *g, spvf_device *d) {
    const spvf_queue_options o = {.size = sizeof o, .out_of_order = true};
    for (uint32_t n = 0; n < g->queues.n; n++)
        if (g->queues.data[n]->device == d) return g->queues.data[n];
    spvf_queue **q = ir_push(&g->arena, &g->queues);
    if (spvf_queue_create(d, &o, q) == SPVF_OK) return *q;
    g->queues.n--;
    ir_throw(&g->context.cx, IR_ERR_MEMORY);
}

/* -------------------------------------------------------------------------------------- memory */

/* The map may still have buffers that others have replaced. */
static graph_home *home_of(const spvf_graph *g, const spvf_buffer *b) {
    graph_home *h = ir_map_get(&g->home_of, (uintptr_t)b);
    return h && h->places.data[0].buffer == b ? h : NULL;
}

static graph_home *make_home(spvf_graph *g, spvf_buffer *b, uint32_t part, uint32_t launch) {
    graph_home *h = home_of(g, b);
    if (h) {
        h->shared |= h->part != part;
        return h;
    }
    h = ir_new(&g->arena, graph_home);
    *h = (graph_home){.part = part, .launch = launch, .valid = 1};
    *ir_push(&g->arena, &h->places) = (graph_place){b, 0};
    if (graph_find_internal(g, b)) h->valid = 0;
    ir_map_set(&g->arena, &g->home_of, (uintptr_t)b, h);
    *ir_push(&g->arena, &g->homes) = h;
    find_queue(g, b->device);
    return h;
}

/* In memory of this process, or, with NULL, memory of the device. */
static spvf_status create(spvf_device *d, size_t size, void *host, spvf_buffer **out) {
    return spvf_buffer_create(d, size, host, host ? SPVF_USE_HOST : SPVF_COPY_HOST, out);
}

static spvf_buffer *make_buffer(spvf_graph *g, spvf_device *d, size_t size, void *host) {
    spvf_buffer *b;
    spvf_status status = create(d, size, host, &b);
    if (status != SPVF_OK)
        ir_throw(&g->context.cx, status == SPVF_ERROR_MEMORY ? IR_ERR_MEMORY : IR_ERR_DEVICE);
    return b;
}

/* A place in memory of this process, or NULL. */
static graph_place *find_host_place(graph_home *h) {
    for (uint32_t n = 0; n < h->places.n; n++)
        if (h->places.data[n].buffer->device->shared.base->can.host_memory)
            return &h->places.data[n];
    return NULL;
}

/* Memory of the device for a buffer. */
static graph_place make_place(spvf_graph *g, graph_home *h, spvf_device *d) {
    const size_t size = h->places.data[0].buffer->size;
    const graph_place *other = d->shared.base->can.host_memory ? find_host_place(h) : NULL;
    if (!other) return (graph_place){make_buffer(g, d, size, NULL), h->places.n};
    void *host = spvf_buffer_address(other->buffer);
    if (!host) ir_throw(&g->context.cx, IR_ERR_MEMORY);
    return (graph_place){make_buffer(g, d, size, host), other->same};
}

static uint32_t find_place(spvf_graph *g, graph_home *h, spvf_device *d) {
    for (uint32_t n = 0; n < h->places.n; n++)
        if (h->places.data[n].buffer->device == d) return n;
    if (h->places.n == MAX_PLACES)
        rt_throw(&g->context, IR_ERR_REFUSED, "more than %d devices use one buffer of the graph",
                 MAX_PLACES);
    *ir_push(&g->arena, &h->places) = (graph_place){NULL, 0};
    h->places.n--;
    h->places.data[h->places.n] = make_place(g, h, d);
    return h->places.n++;
}

spvf_buffer *graph_local(const spvf_graph *g, const spvf_device *d, spvf_buffer *b) {
    if (!b || b->device == d) return b;
    const graph_home *h = home_of(g, b);
    for (uint32_t n = 0; n < h->places.n; n++)
        if (h->places.data[n].buffer->device == d) return h->places.data[n].buffer;
    return b;
}

bool graph_is_shared(const spvf_graph *g, const spvf_buffer *b) {
    const graph_home *h = g->spread ? home_of(g, b) : NULL;
    return h && h->shared;
}

static bool has_copies(const graph_home *h) {
    for (uint32_t n = 1; n < h->places.n; n++)
        if (h->places.data[n].same) return true;
    return false;
}

/* Memory of a buffer, as far as it is known. */
typedef struct {
    uintptr_t begin, end;
    graph_home *home;
} extent;

static int compare_extents(const void *a, const void *b) {
    const extent *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return x->home->launch < y->home->launch ? -1 : x->home->launch > y->home->launch;
}

static uint32_t find_extents(spvf_graph *g, extent *out) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < g->homes.n; k++) {
        spvf_buffer *b = g->homes.data[k]->places.data[0].buffer;
        const uintptr_t begin = (uintptr_t)buf_find_place(b);
        if (begin) out[n++] = (extent){begin, begin + b->size, g->homes.data[k]};
    }
    qsort(out, n, sizeof *out, compare_extents);
    return n;
}

IR_NORETURN static void refuse_overlap(spvf_graph *g, const graph_home *copied,
                                       const graph_home *other) {
    rt_throw(&g->context, IR_ERR_REFUSED,
             "a buffer of launch %u would be copied to another device, and shares memory with a "
             "buffer of launch %u: use one buffer, with offsets",
             copied->launch, other->launch);
}

/* Two copies of the same bytes would not know of each other.  In the order of addresses, what an
 * extent overlaps of those before it, if anything, is also the one that ends last. */
static void check_overlaps(spvf_graph *g, const extent *all, uint32_t n) {
    const extent none = {0}, *last = &none, *last_copied = &none;
    for (uint32_t k = 0; k < n; k++) {
        const extent *x = &all[k];
        const bool copied = has_copies(x->home);
        if (copied && x->begin < last->end) refuse_overlap(g, x->home, last->home);
        if (x->begin < last_copied->end) refuse_overlap(g, last_copied->home, x->home);
        if (x->end > last->end) last = x;
        if (copied && x->end > last_copied->end) last_copied = x;
    }
}

/* Marks buffers that share memory, each with one of the others at least, if more than one part uses
 * them.  In the order of addresses, each begins before the end of those before it. */
static void share_overlaps(const extent *all, uint32_t n) {
    for (uint32_t first = 0, next; first < n; first = next) {
        uintptr_t end = all[first].end;
        bool shared = all[first].home->shared;
        for (next = first + 1; next < n && all[next].begin < end; next++) {
            const graph_home *h = all[next].home;
            shared |= h->shared || h->part != all[first].home->part;
            if (all[next].end > end) end = all[next].end;
        }
        for (uint32_t k = first; shared && k < next; k++) all[k].home->shared = true;
    }
}

static void find_overlaps(spvf_graph *g) {
    extent *all = ir_new_array(&g->arena, extent, g->homes.n + 1);
    const uint32_t n = find_extents(g, all);
    check_overlaps(g, all, n);
    share_overlaps(all, n);
}

/* -------------------------------------------------------------------------------------- copies */

static uint32_t first_of(uint64_t places) {
    uint32_t n = 0;
    while (!(places >> n & 1)) n++;
    return n;
}

/* The place, which is the first of its memory, is to have the contents. */
static void fetch(spvf_graph *g, graph_home *h, uint32_t place, uint32_t before) {
    const uint64_t bit = 1ull << place;
    if (!h->valid || h->valid & bit) return;
    *ir_push(&g->arena, &g->moves) = (graph_move){h, first_of(h->valid), place, before};
    h->valid |= bit;
}

static void follow_launch(spvf_graph *g, uint32_t launch, uint32_t part) {
    const spvf_launch *l = &g->nodes.data[launch].launch;
    const spvf_kernel_info *info = prog_kernel(l->program, l->kernel);
    for (size_t a = 0; a < l->arg_count; a++) {
        if (!l->args[a].buffer) continue;
        graph_home *h = make_home(g, l->args[a].buffer, part, launch);
        const uint32_t place = find_place(g, h, l->program->device);
        fetch(g, h, h->places.data[place].same, part);
    }
    for (size_t a = 0; a < l->arg_count; a++) {
        if (!l->args[a].buffer || info->args[a]->read_only) continue;
        graph_home *h = home_of(g, l->args[a].buffer);
        const uint32_t place = find_place(g, h, l->program->device);
        h->valid = 1ull << h->places.data[place].same;
    }
}

static void find_moves(spvf_graph *g) {
    for (uint32_t k = 0; k < g->parts.n; k++) {
        graph_part *p = &g->parts.data[k];
        p->queue = find_queue(g, p->device);
        for (uint32_t n = 0; n < p->count; n++) follow_launch(g, p->first + n, k);
    }
    find_overlaps(g);
    for (uint32_t n = 0; n < g->homes.n; n++) {
        graph_home *h = g->homes.data[n];
        if (!graph_find_internal(g, h->places.data[0].buffer)) fetch(g, h, 0, g->parts.n);
    }
}

/* --------------------------------------------------------------------------------------- parts */

void graph_divide_by_device(spvf_graph *g) {
    graph_part *p = NULL;
    for (uint32_t n = 0; n < g->nodes.n; n++) {
        spvf_device *d = g->nodes.data[n].launch.program->device;
        if (!p || p->device != d) {
            p = ir_push(&g->arena, &g->parts);
            *p = (graph_part){.device = d, .first = n, .recording = rt_new_recording()};
        }
        p->count++;
    }
    if (g->spread) find_moves(g);
}

static const char *name_of(const spvf_device *d) {
    const rt_device *base = d->shared.base;
    return base->name[0] ? base->name : base->driver->name;
}

spvf_explanation *graph_explain_border(spvf_graph *g, const graph_part *p) {
    char text[300];
    snprintf(text, sizeof text, "launch %u is for device %s, and launch %u for %sdevice %s",
             p->first - 1, name_of(p[-1].device), p->first,
             strcmp(name_of(p[-1].device), name_of(p->device)) ? "" : "another ",
             name_of(p->device));
    return rt_explain_refusal(&g->context, "fuse.devices", text);
}

/* --------------------------------------------------------------------------------- and changes */

/* Memory that was the old buffer's is that of the new one. */
void graph_move_home(spvf_graph *g, spvf_buffer *old, spvf_buffer *now) {
    graph_home *h = home_of(g, old);
    ir_vec(graph_place) places = {0};
    for (uint32_t n = 0; n < h->places.n; n++)
        *ir_push(&g->arena, &places) = (graph_place){NULL, h->places.data[n].same};
    ir_map_set(&g->arena, &g->home_of, (uintptr_t)now, h);
    for (uint32_t n = 1; n < h->places.n; n++) {
        if (h->places.data[n].same) continue;
        void *host = spvf_buffer_address(now);
        spvf_buffer **to = &places.data[n].buffer;
        if (host && create(h->places.data[n].buffer->device, now->size, host, to) == SPVF_OK)
            continue;
        for (uint32_t k = 1; k < n; k++) spvf_buffer_destroy(places.data[k].buffer);
        ir_throw(&g->context.cx, IR_ERR_MEMORY);
    }
    for (uint32_t n = 1; n < h->places.n; n++) {
        if (!places.data[n].buffer) continue;
        spvf_buffer_destroy(h->places.data[n].buffer);
        h->places.data[n].buffer = places.data[n].buffer;
    }
    h->places.data[0].buffer = now;
}

void graph_free_devices(spvf_graph *g) {
    for (uint32_t k = 0; k < g->homes.n; k++)
        for (uint32_t n = 1; n < g->homes.data[k]->places.n; n++)
            spvf_buffer_destroy(g->homes.data[k]->places.data[n].buffer);
    for (uint32_t n = 0; n < g->queues.n; n++) queue_release(g->queues.data[n]);
}

size_t spvf_graph_copy_count(const spvf_graph *g) { return g && g->ready ? g->moves.n : 0; }

spvf_graph_copy spvf_graph_get_copy(const spvf_graph *g, size_t index) {
    if (index >= spvf_graph_copy_count(g)) return (spvf_graph_copy){0};
    const graph_move *m = &g->moves.data[index];
    const graph_place *places = m->home->places.data;
    return (spvf_graph_copy){
        .buffer = places[0].buffer,
        .from = places[m->from].buffer->device,
        .to = places[m->to].buffer->device,
        .kernel = m->before < g->parts.n ? g->parts.data[m->before].first_kernel : g->kernels.n};
}
