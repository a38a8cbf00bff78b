/* replays.c — launches of a recording that follow each other, as a graph of the driver.
 *
 * The first submission of a recording goes into the stream, since most recordings run only once.
 * From the second on, each run of two or more launches is a graph: a chain of nodes, one for each
 * grid, which the driver starts by one call.  A submission with the content of the last one needs
 * no more than that call.  Others change the nodes whose parameters differ from those of the last
 * one; where the number of grids differs, or the driver does not take a change, the graph is made
 * again.  If it cannot be made, the launches go into the stream.
 *
 * A kernel that waits itself for what it depends on begins while the one before it still runs, if
 * that has such code, too (programmatic dependent launch).  So the device starts the groups of one
 * while it ends those of the other.
 *
 * Copies, fills and launches of kernels that print (which begin and end with such commands) are no
 * nodes: they are in the stream, between graphs.
 */
#include "runtime/devices/cuda/cuda.h"

#include <stdlib.h>

/* A grid, with the bytes of all its parameters. */
typedef struct {
    cuda_blocks what;
    unsigned char *bytes;
    size_t size;
} grid;

typedef struct {
    cu_node node;
    cuda_blocks what;
    unsigned char *bytes; /* malloc'ed */
    size_t size;
} replay_node;

struct cuda_replay {
    uint64_t recording;
    uint64_t content; /* of the submission that the graph is of (rt_submission); 0: unknown */
    size_t first;     /* command of its submissions */
    size_t launches;  /* of the content */
    bool refused;     /* the driver does not make it */
    bool early;       /* it has nodes that begin before the end of those before them */
    cu_graph graph;
    cu_replay replay; /* NULL: not made yet */
    replay_node *nodes;
    size_t n;
    uint64_t last; /* number that the last submission which has run it had then */
    cuda_replay *next;
};

struct cuda_recorder {
    ir_arena *scratch;
    ir_vec(grid) grids;
};

/* -------------------------------------------------------------------------------------- grids */

void cuda_record_grid(cuda *d, const cuda_blocks *what, const size_t *size, size_t n) {
    ir_arena *scratch = d->recorder->scratch;
    grid *g = ir_push(scratch, &d->recorder->grids);
    *g = (grid){.what = *what};
    for (size_t k = 0; k < n; k++) g->size += size[k];
    g->bytes = ir_new_array(scratch, unsigned char, g->size + 1);
    g->what.node.params = ir_new_array(scratch, void *, n + 1);
    unsigned char *at = g->bytes;
    for (size_t k = 0; k < n; k++) {
        g->what.node.params[k] = memcpy(at, what->node.params[k], size[k]);
        at += size[k];
    }
}

static bool launch_together(cuda *d, const cu_kernel_node *w) {
    cu_result error =
        d->cu->launch_together(w->function, w->grid[0], w->grid[1], w->grid[2], w->block[0],
                               w->block[1], w->block[2], w->shared, d->stream, w->params);
    if (error == CU_TOO_LARGE_TOGETHER || error == CU_NOT_SUPPORTED) return false;
    cuda_must(d, "cuLaunchCooperativeKernel", error);
    return true;
}

/* Before the kernel that is before it in the stream has ended. */
static void launch_early(cuda *d, const cu_kernel_node *w) {
    static const cu_launch_attribute early = {.which = CU_LAUNCH_EARLY, .value = {.on = true}};
    const cu_launch how = {.grid = {w->grid[0], w->grid[1], w->grid[2]},
                           .block = {w->block[0], w->block[1], w->block[2]},
                           .shared = w->shared,
                           .stream = d->stream,
                           .attributes = &early,
                           .count = 1};
    cuda_must(d, "cuLaunchKernelEx", d->cu->launch_with(&how, w->function, w->params, NULL));
}

bool cuda_launch_grid(cuda *d, const cuda_blocks *what) {
    const cu_kernel_node *w = &what->node;
    if (what->together) return launch_together(d, w);
    if (what->dependent) {
        launch_early(d, w);
        return true;
    }
    cuda_must(d, "cuLaunchKernel",
              d->cu->launch(w->function, w->grid[0], w->grid[1], w->grid[2], w->block[0],
                            w->block[1], w->block[2], w->shared, d->stream, w->params, NULL));
    return true;
}

/* --------------------------------------------------------------------------------------- graphs */

static void drop_graph(const cuda *d, cuda_replay *r) {
    if (r->replay) d->cu->end_replay(r->replay);
    if (r->graph) d->cu->end_graph(r->graph);
    for (size_t k = 0; k < r->n; k++) free(r->nodes[k].bytes);
    free(r->nodes);
    r->replay = NULL;
    r->graph = NULL;
    r->nodes = NULL;
    r->n = 0;
}

/* What a node was given last. */
static bool keep_bytes(replay_node *to, const grid *g) {
    if (to->size != g->size) {
        unsigned char *bytes = realloc(to->bytes, g->size + 1);
        if (!bytes) return false;
        to->bytes = bytes;
        to->size = g->size;
    }
    memcpy(to->bytes, g->bytes, g->size);
    to->what = g->what;
    return true;
}

static bool run_together(const cuda *d, cu_node node) {
    const cu_node_value value = {.together = true};
    return d->cu->set_node && !d->cu->set_node(node, CU_NODE_TOGETHER, &value);
}

/* The node begins while the one before it runs. */
static bool add_early_edge(const cuda *d, cuda_replay *r, const replay_node *to) {
    const cu_edge early = {.from_port = CU_PORT_EARLY, .type = CU_EDGE_EARLY};
    r->early = true;
    return !d->cu->add_edges(r->graph, &to[-1].node, &to->node, &early, 1);
}

static bool add_node(const cuda *d, cuda_replay *r, const grid *g, bool may_be_early) {
    replay_node *to = &r->nodes[r->n];
    bool early = may_be_early && r->n && to[-1].what.dependent && g->what.dependent;
    bool late = r->n && !early;
    if (d->cu->add_kernel(&to->node, r->graph, late ? &to[-1].node : NULL, late, &g->what.node))
        return false;
    r->n++;
    return (!early || add_early_edge(d, r, to)) && keep_bytes(to, g) &&
           (!g->what.together || run_together(d, to->node));
}

static bool try_to_make(const cuda *d, cuda_replay *r, bool may_be_early) {
    const struct cuda_recorder *from = d->recorder;
    drop_graph(d, r);
    r->early = false;
    r->nodes = calloc(from->grids.n, sizeof *r->nodes);
    bool ok = r->nodes && !d->cu->graph(&r->graph, 0);
    for (uint32_t k = 0; ok && k < from->grids.n; k++)
        ok = add_node(d, r, &from->grids.data[k], may_be_early);
    return ok && !d->cu->make_replay(&r->replay, r->graph, 0);
}

static bool make_graph(const cuda *d, cuda_replay *r) {
    bool ok = try_to_make(d, r, d->can_begin_early) || (r->early && try_to_make(d, r, false));
    if (!ok) drop_graph(d, r);
    return ok;
}

static bool is_same(const replay_node *n, const grid *g) {
    const cu_kernel_node *a = &n->what.node, *b = &g->what.node;
    return a->function == b->function && n->size == g->size && a->shared == b->shared &&
           memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
           memcmp(a->block, b->block, sizeof a->block) == 0 &&
           memcmp(n->bytes, g->bytes, g->size) == 0;
}

/* False: it has to be made again. */
static bool change_graph(const cuda *d, cuda_replay *r) {
    const struct cuda_recorder *from = d->recorder;
    if (!r->replay || r->n != from->grids.n) return false;
    for (size_t k = 0; k < r->n; k++) {
        const grid *g = &from->grids.data[k];
        if (is_same(&r->nodes[k], g)) continue;
        if (r->nodes[k].what.together != g->what.together) return false;
        if (r->nodes[k].what.dependent != g->what.dependent) return false;
        if (d->cu->change_kernel(r->replay, r->nodes[k].node, &g->what.node)) return false;
        if (!keep_bytes(&r->nodes[k], g)) return false;
    }
    return true;
}

/* ----------------------------------------------------------------------------------- recordings */

static bool has_graphs(const cu_calls *cu) {
    return cu->graph && cu->end_graph && cu->add_kernel && cu->make_replay && cu->end_replay &&
           cu->change_kernel && cu->replay;
}

/* Launches from there on that may be nodes. */
static size_t count_launches(const rt_more *s, size_t first) {
    size_t n = first;
    while (n < s->count && s->commands[n].kind == RT_COMMAND_LAUNCH &&
           !s->commands[n].launch.function->prints)
        n++;
    return n - first;
}

static cuda_replay *find_replay(const cuda *d, uint64_t recording, size_t first) {
    cuda_replay *r = d->replays;
    while (r && (r->recording != recording || r->first != first)) r = r->next;
    return r;
}

static void note_recording(cuda *d, uint64_t recording, size_t first) {
    cuda_replay *r = malloc(sizeof *r);
    if (!r) return;
    *r = (cuda_replay){.recording = recording, .first = first, .next = d->replays};
    d->replays = r;
}

/* Starts it, if there is one. */
static bool start_graph(cuda *d, cuda_replay *r) {
    if (!r->replay || d->cu->replay(r->replay, d->stream)) return false;
    r->last = d->submitted + 1;
    return true;
}

/* As its graph, which is made or changed; false: there is none. */
static bool run(cuda *d, cuda_replay *r) {
    bool several = d->recorder->grids.n > 1;
    if (several && !r->refused) r->refused = !change_graph(d, r) && !make_graph(d, r);
    return several && !r->refused && start_graph(d, r);
}

static void launch_all(cuda *d, const rt_command *commands, size_t n, ir_arena *scratch) {
    for (size_t k = 0; k < n; k++) cuda_launch(d, &commands[k].launch, scratch);
}

/* The graph of them; false: they have to go into the stream. */
static bool record_and_run(cuda *d, cuda_replay *r, const rt_command *commands, size_t n,
                           ir_arena *scratch) {
    struct cuda_recorder recorder = {.scratch = scratch};
    r->content = 0;
    d->recorder = &recorder;
    launch_all(d, commands, n, scratch);
    bool started = run(d, r);
    d->recorder = NULL;
    return started;
}

size_t cuda_replay_launches(cuda *d, const rt_more *s, size_t first, ir_arena *scratch) {
    cuda_replay *r = s->recording ? find_replay(d, s->recording, first) : NULL;
    if (r && r->content && r->content == s->content && start_graph(d, r)) return r->launches;
    size_t n = s->recording && has_graphs(d->cu) ? count_launches(s, first) : 0;
    bool phases = n && s->commands[first].launch.function->phases.n;
    if (n < 2 && !phases) return 0;
    bool makes = r && !r->refused;
    if (!r) note_recording(d, s->recording, first);
    if (makes && record_and_run(d, r, &s->commands[first], n, scratch)) {
        r->content = s->content;
        r->launches = n;
    } else {
        launch_all(d, &s->commands[first], n, scratch);
    }
    return n;
}

/* ----------------------------------------------------------------------------------------- ends */

/* Of those that are not needed any more, the ones that do not run. */
static void free_forgotten(cuda *d) {
    for (cuda_replay **at = &d->replays, *r; (r = *at);) {
        rt_lock_take(&d->lock);
        bool is_running = d->first && d->first->since <= r->last;
        rt_lock_release(&d->lock);
        if (r->recording || is_running) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        drop_graph(d, r);
        free(r);
    }
}

void cuda_forget(rt_device *device, uint64_t recording) {
    cuda *d = (cuda *)device;
    for (cuda_replay *r = d->replays; r; r = r->next)
        if (r->recording == recording) r->recording = 0;
    d->cu->set_current(d->context);
    free_forgotten(d);
}

void cuda_free_replays(cuda *d) {
    for (cuda_replay *r = d->replays; r; r = r->next) r->recording = 0;
    free_forgotten(d);
}
