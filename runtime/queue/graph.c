/* graph.c — launches that are recorded, fused, and run again and again.
 *
 * Committing goes from the first launch to the last: those that follow are taken together as long
 * as the whole can be fused, mostly all of them at the first try.  What is fused becomes a program
 * of its own; a run enqueues one command for each kernel that is left.
 */
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
    spvf_fusion *fusion;   /* NULL: one launch by itself */
    spvf_program *program; /* of the fused kernel */
    spvf_explanation *refusal;
} kernel;

struct spvf_graph {
    spvf_context context; /* for messages, memory and modules of this graph */
    ir_arena arena;
    spvf_device *device;
    spvf_graph_options options;
    ir_vec(node) nodes;
    ir_vec(internal) internals;
    ir_vec(kernel) kernels;
    bool committed;
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
        spvf_fusion_destroy(g->kernels.data[k].fusion);
        spvf_explanation_destroy(g->kernels.data[k].refusal);
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

/* Launches that are to become one kernel. */
typedef struct {
    spvf_graph *graph;
    uint32_t first, count;
    ir_arena arena;
    ir_map modules; /* copies, by program */
    ir_vec(spvf_module *) copies;
    ir_vec(spvf_member) members;
    ir_vec(spvf_identity) identities;
    ir_vec(spvf_constant) constants;
    ir_vec(spvf_promotion) promotions;
    spvf_fusion *fusion;
    spvf_explanation *refusal;
} attempt;

static const spvf_argument *argument_of(const attempt *t, uint32_t member, uint32_t param) {
    return &t->graph->nodes.data[t->first + member].launch.args[param];
}

/* Calls `visit` for each buffer argument before (member, param), until it says true. */
static bool find_before(const attempt *t, uint32_t member, uint32_t param,
                        bool (*visit)(const spvf_argument *then, const spvf_argument *now),
                        uint32_t at[2]) {
    const spvf_argument *now = argument_of(t, member, param);
    for (at[0] = 0; at[0] <= member; at[0]++) {
        uint32_t n = (uint32_t)t->graph->nodes.data[t->first + at[0]].launch.arg_count;
        for (at[1] = 0; at[1] < n && (at[0] < member || at[1] < param); at[1]++) {
            const spvf_argument *then = argument_of(t, at[0], at[1]);
            if (then->buffer && visit(then, now)) return true;
        }
    }
    return false;
}

static bool is_same(const spvf_argument *a, const spvf_argument *b) {
    return a->buffer == b->buffer && a->offset == b->offset;
}

/* The same memory from different places on: nobody could tell it from different memory. */
static bool overlaps(const spvf_argument *a, const spvf_argument *b) {
    return a->buffer == b->buffer && a->offset != b->offset;
}

static const internal *find_internal(const spvf_graph *g, const spvf_buffer *b) {
    for (uint32_t n = 0; n < g->internals.n; n++)
        if (g->internals.data[n].buffer == b) return &g->internals.data[n];
    return NULL;
}

/* Is the buffer used by launches that are not among these? */
static bool is_used_outside(const attempt *t, const spvf_buffer *b) {
    const spvf_graph *g = t->graph;
    for (uint32_t n = 0; n < g->nodes.n; n++) {
        if (n - t->first < t->count) continue;
        const spvf_launch *l = &g->nodes.data[n].launch;
        for (size_t a = 0; a < l->arg_count; a++)
            if (l->args[a].buffer == b) return true;
    }
    return false;
}

static void add_buffer(attempt *t, uint32_t member, uint32_t param) {
    const spvf_argument *a = argument_of(t, member, param);
    const internal *i = find_internal(t->graph, a->buffer);
    uint32_t at[2];
    if (find_before(t, member, param, is_same, at)) {
        *ir_push(&t->arena, &t->identities) = (spvf_identity){at[0], at[1], member, param};
    } else if (i && !is_used_outside(t, a->buffer)) {
        *ir_push(&t->arena, &t->promotions) =
            (spvf_promotion){.member = member, .param = param, .kind = i->kind};
    }
}

static const spvf_module *module_for(attempt *t, const spvf_program *p) {
    spvf_module *m = ir_map_get(&t->modules, (uintptr_t)p);
    if (m) return m;
    spvf_context *c = &t->graph->context;
    m = *ir_push(&t->arena, &t->copies) = prog_copy(c, p->module);
    if (spvf_module_optimize(m, NULL) != SPVF_OK) ir_throw(&c->cx, c->cx.status);
    ir_map_set(&t->arena, &t->modules, (uintptr_t)p, m);
    return m;
}

static void add_member(attempt *t, uint32_t member) {
    const spvf_launch *l = &t->graph->nodes.data[t->first + member].launch;
    *ir_push(&t->arena, &t->members) =
        (spvf_member){module_for(t, l->program), l->kernel, l->range};
    for (uint32_t p = 0; p < l->arg_count; p++) {
        const spvf_argument *a = &l->args[p];
        if (a->buffer)
            add_buffer(t, member, p);
        else if (a->bytes && t->graph->options.constants)
            *ir_push(&t->arena, &t->constants) = (spvf_constant){member, p, a->bytes, a->size};
    }
}

static void fuse_members(void *arg) {
    attempt *t = arg;
    const spvf_graph_options *given = &t->graph->options;
    for (uint32_t m = 0; m < t->count; m++) add_member(t, m);
    const spvf_fuse_options o = {.size = sizeof o,
                                 .members = t->members.data,
                                 .member_count = t->members.n,
                                 .identities = t->identities.data,
                                 .identity_count = t->identities.n,
                                 .constants = t->constants.data,
                                 .constant_count = t->constants.n,
                                 .promotions = t->promotions.data,
                                 .promotion_count = t->promotions.n,
                                 .barrier = given->barrier,
                                 .force = given->force,
                                 .strict = given->strict,
                                 .known_range = true};
    spvf_context *c = &t->graph->context;
    void (*message)(void *user, const spvf_message *m) = c->message;
    if (!given->strict) c->message = NULL; /* a refusal is no news, its explanation is kept */
    spvf_status status = rt_fuse(c, &o, &t->fusion, NULL);
    c->message = message;
    if (status == SPVF_ERROR_REFUSED && !given->strict) status = rt_fuse(c, &o, NULL, &t->refusal);
    if (status != SPVF_OK) ir_throw(&c->cx, c->cx.status);
}

static bool has_overlaps(const attempt *t) {
    uint32_t at[2];
    for (uint32_t m = 0; m < t->count; m++) {
        const spvf_launch *l = &t->graph->nodes.data[t->first + m].launch;
        for (uint32_t p = 0; p < l->arg_count; p++)
            if (l->args[p].buffer && find_before(t, m, p, overlaps, at)) return true;
    }
    return false;
}

static bool has_excluded(const attempt *t) {
    bool any = false;
    for (uint32_t m = 0; m < t->count; m++) any |= t->graph->nodes.data[t->first + m].excluded;
    return any;
}

/* Can launches first to first + count be one kernel?  *refusal: why not, where it is known. */
static spvf_status try(spvf_graph *g, uint32_t first, uint32_t count, spvf_fusion **fusion,
                       spvf_explanation **refusal) {
    attempt t = {.graph = g, .first = first, .count = count};
    *fusion = NULL;
    *refusal = NULL;
    if (has_excluded(&t) || has_overlaps(&t))
        return g->options.strict ? SPVF_ERROR_REFUSED : SPVF_OK;
    ir_arena_init(&t.arena, &g->context.cx);
    spvf_status status = rt_guard(&g->context, fuse_members, &t);
    for (uint32_t k = 0; k < t.copies.n; k++) spvf_module_destroy(t.copies.data[k]);
    ir_arena_free(&t.arena);
    *fusion = t.fusion;
    *refusal = t.refusal;
    return status;
}

/* The longest run of launches that can be one kernel: all that are left, or one more at a time. */
static spvf_status find_longest(spvf_graph *g, uint32_t first, kernel *out) {
    uint32_t left = g->nodes.n - first;
    spvf_status status = SPVF_OK;
    *out = (kernel){.info = {.first = first, .count = 1}};
    if (left == 1 || g->options.unfused) return SPVF_OK;
    status = try(g, first, left, &out->fusion, &out->refusal);
    if (out->fusion) out->info.count = left;
    if (status != SPVF_OK || out->fusion) return status;
    for (uint32_t count = 2; count < left && status == SPVF_OK; count++) {
        spvf_fusion *longer;
        spvf_explanation_destroy(out->refusal);
        status = try(g, first, count, &longer, &out->refusal);
        if (!longer) break;
        spvf_fusion_destroy(out->fusion);
        out->fusion = longer;
        out->info.count = count;
    }
    return status;
}

static spvf_status make_kernel(spvf_graph *g, uint32_t first, kernel *k) {
    spvf_status status = find_longest(g, first, k);
    if (status == SPVF_OK && k->fusion)
        status = spvf_program_create(g->device, spvf_fusion_module(k->fusion), &k->program);
    if (k->fusion) k->info.explanation = spvf_fusion_explanation(k->fusion);
    k->info.refusal = k->refusal;
    return status;
}

static void make_room(void *arg) {
    spvf_graph *g = arg;
    g->kernels.data = ir_new_array(&g->arena, kernel, g->nodes.n);
}

spvf_status spvf_graph_commit(spvf_graph *g) {
    if (!g || g->committed || !g->nodes.n) return SPVF_ERROR_ARGUMENT;
    spvf_status status = rt_guard(&g->context, make_room, g);
    g->committed = true;
    for (uint32_t n = 0; status == SPVF_OK && n < g->nodes.n;) {
        kernel *k = &g->kernels.data[g->kernels.n++];
        status = make_kernel(g, n, k);
        n += (uint32_t)k->info.count;
    }
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
    const spvf_fusion_info *info = spvf_fusion_get_info(k->fusion);
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
    if (k->fusion) return run_fused(g, k, q, wait, out);
    return spvf_queue_launch(q, &g->nodes.data[k->info.first].launch, wait, out);
}

spvf_status spvf_graph_run(spvf_graph *g, spvf_queue *q, const spvf_wait *wait, spvf_event **out) {
    if (out) *out = NULL;
    if (!g || !q || !g->committed || q->device != g->device || !cmd_wait_is_right(wait))
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

/* What was fused was fused for buffers that are different memory. */
spvf_status spvf_graph_set_buffer(spvf_graph *g, spvf_buffer *old, spvf_buffer *now) {
    if (!g || !old || !now || now->device != g->device || now->size != old->size)
        return SPVF_ERROR_ARGUMENT;
    const attempt all = {.graph = g, .count = g->nodes.n};
    attempt none = {.graph = g};
    if (is_used_outside(&none, now) || !is_used_outside(&none, old)) return SPVF_ERROR_ARGUMENT;
    for (uint32_t m = 0; m < g->nodes.n; m++)
        for (size_t p = 0; p < g->nodes.data[m].launch.arg_count; p++) {
            spvf_argument *a = (spvf_argument *)(uintptr_t)argument_of(&all, m, (uint32_t)p);
            if (a->buffer != old) continue;
            buf_retain(now);
            a->buffer = now;
            buf_release(old);
        }
    return SPVF_OK;
}
