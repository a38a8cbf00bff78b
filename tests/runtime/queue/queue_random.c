/* queue_random.c — random commands over random memory, for spvfuse_queue.h: graphs, queues that
 * fuse, and queues of two devices leave the same bytes behind as one command after the other.
 *
 *     queue_random [-n PROGRAMS] [-s SEED] build/tests/command_kernels.spv
 *
 * Memory is a few blocks, and places in them.  A block is a buffer, or memory of the program that
 * one or several buffers use; a place in it is an offset, or a buffer that begins there, so buffers
 * overlap as they like.  The second device has buffers of its own with the same memory, and its
 * commands are pending until a thread of it has run them, in order.  Graphs across devices give it
 * the buffers of the first one.  Blocks that are let go are
 * internal to the graph that has all their users.  Between runs of some programs, the host writes to
 * memory, launches get other values, and a buffer is replaced by another one. */
#define CL_TARGET_OPENCL_VERSION 300
#include "runtime/devices/template/template.h"
#include "runtime/queue/objects.h"
#include "tests/file.h"
#include "tests/opencl/command_compare.h"

enum { RUNS = 3, DEVICES = 2, QUEUES = 2 };

/* --------------------------------------------------------------------------------- what is used */

typedef struct {
    spvf_device *device;
    spvf_program *program;
    spvf_queue *queues[QUEUES]; /* in order; out of order */
} station;

static station stations[DEVICES];

/* Ends the test when a call fails. */
static void need(spvf_status status, const char *what) {
    if (!status) return;
    printf("%s: %s\n", what, spvf_status_name(status));
    exit(1);
}
#define NEED(call) need(call, #call)

static void print_message(void *user, const spvf_message *m) {
    (void)user;
    if (m->severity == SPVF_ERROR) printf("%s\n", m->formatted);
}

static void begin_station(station *s, spvf_context *c, const spvf_module *m, dev_opener *open,
                          const char *name) {
    const spvf_queue_options any_order = {.size = sizeof any_order, .out_of_order = true};
    NEED(dev_open_with(c, open, name, &s->device));
    NEED(spvf_program_create(s->device, m, &s->program));
    for (unsigned n = 0; n < QUEUES; n++)
        NEED(spvf_queue_create(s->device, n ? &any_order : NULL, &s->queues[n]));
}

static void begin(const char *file) {
    const spvf_context_options o = {.size = sizeof o, .message = print_message};
    spvf_context *c;
    spvf_module *m;
    size_t size;
    char *bytes = read_file(file, &size);
    need(bytes ? SPVF_OK : SPVF_ERROR_IO, file);
    NEED(spvf_context_create(&o, &c));
    NEED(spvf_module_load(c, file, bytes, size, NULL, &m));
    begin_station(&stations[0], c, m, rt_device_open, "cpu");
    begin_station(&stations[1], c, m, template_open, "host");
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    free(bytes);
}

static void end(void) {
    for (unsigned n = 0; n < DEVICES; n++) {
        for (unsigned k = 0; k < QUEUES; k++) spvf_queue_destroy(stations[n].queues[k]);
        spvf_program_destroy(stations[n].program);
        spvf_device_destroy(stations[n].device);
    }
}

/* --------------------------------------------------------------------------------------- memory */

enum { FUSED, PHASES, APART, ACROSS, FUSING, SPREAD, ONE_BY_ONE, WAYS };

typedef struct {
    const program *program;
    unsigned way;
    unsigned char *host[BLOCKS]; /* memory of the program, or a buffer's */
    spvf_buffer *buffers[DEVICES][PLACES];
    spvf_graph *graphs[COMMANDS]; /* by the first launch */
    size_t index[COMMANDS];       /* of a launch in its graph */
    spvf_buffer *replaced[DEVICES];
    int run; /* from 0 on */
    bool tell;
} execution;

static bool uses_both(const execution *x) { return x->way == FUSING || x->way == SPREAD; }

static spvf_buffer *use_host(unsigned device, void *at, size_t size) {
    spvf_buffer *b;
    NEED(spvf_buffer_create(stations[device].device, size, at, SPVF_USE_HOST, &b));
    return b;
}

/* Where a buffer lies is asked for when others are to share its memory. */
static void make_block(execution *x, unsigned n) {
    unsigned char bytes[BYTES];
    spvf_buffer **to = &x->buffers[0][n];
    fill_block(bytes, n, x->program->blocks[n].type);
    if (x->program->blocks[n].kind == BUFFER) {
        NEED(spvf_buffer_create(stations[0].device, BYTES, bytes, SPVF_COPY_HOST, to));
    } else {
        x->host[n] = malloc(BYTES);
        memcpy(x->host[n], bytes, BYTES);
        *to = use_host(0, x->host[n], BYTES);
    }
    if (uses_both(x)) x->buffers[1][n] = use_host(1, spvf_buffer_address(*to), BYTES);
}

/* An address in shared memory is an offset. */
static void make_place(execution *x, unsigned n) {
    const place *p = &x->program->places[n];
    if (p->kind == ADDRESS) return;
    unsigned char *at = spvf_buffer_address(x->buffers[0][p->block]);
    for (unsigned d = 0; d < (uses_both(x) ? 2 : 1); d++)
        x->buffers[d][n] = use_host(d, at + p->at, BYTES / 2);
}

static void free_memory(execution *x) {
    for (unsigned d = 0; d < DEVICES; d++) spvf_buffer_destroy(x->replaced[d]);
    for (unsigned d = 0; d < DEVICES; d++)
        for (unsigned n = 0; n < PLACES; n++) spvf_buffer_destroy(x->buffers[d][n]);
    for (unsigned n = 0; n < BLOCKS; n++) free(x->host[n]);
}

/* ------------------------------------------------------------------------------------- commands */

static spvf_argument memory_arg(const execution *x, unsigned device, unsigned n) {
    const place *p = &x->program->places[n];
    spvf_buffer *const *b = x->buffers[device];
    return p->kind == ADDRESS ? (spvf_argument){.buffer = b[p->block], .offset = p->at}
                              : (spvf_argument){.buffer = b[n]};
}

typedef struct {
    spvf_launch launch;
    spvf_argument args[ARGS];
    int value;
    all s;
} launch;

static bool has_changes(const program *p) { return p->count % 2; }

static bool changes_value(const program *p, const command *c) {
    return has_changes(p) && c->value % 3 == 1;
}

static int value_of(const execution *x, const command *c) {
    return c->value + (changes_value(x->program, c) ? 5 * x->run : 0);
}

static void make_launch(const execution *x, const command *c, unsigned device, launch *l) {
    const char *args = kernels[c->kernel].args;
    size_t count = 0;
    l->value = value_of(x, c);
    l->s = (all){1, 2, {3, 4, c->value}, 6, {{7, 8, 9}}};
    for (; *args; count++) switch (next_parameter(&args).letter) {
        case 'v': l->args[count] = (spvf_argument){.bytes = &l->value, .size = 4}; break;
        case 'l': l->args[count] = (spvf_argument){.size = c->local[0] * 4}; break;
        case 's': l->args[count] = (spvf_argument){.bytes = &l->s, .size = sizeof l->s}; break;
        default: l->args[count] = memory_arg(x, device, c->places[count]);
        }
    l->launch = (spvf_launch){.size = sizeof(spvf_launch),
                              .program = stations[device].program,
                              .kernel = kernels[c->kernel].name,
                              .range = {.dims = c->dims},
                              .args = l->args,
                              .arg_count = count};
    for (unsigned d = 0; d < c->dims; d++) {
        l->launch.range.global[d] = c->global[d];
        l->launch.range.local[d] = c->local[d];
        l->launch.range.offset[d] = c->offset[d];
    }
}

static void enqueue(const execution *x, const command *c, unsigned device, spvf_queue *q) {
    unsigned char pattern[BYTES];
    launch l;
    spvf_buffer *const *b = x->buffers[device];
    const char type = type_of(x->program, c->places[0]);
    switch (c->kind) {
    case LAUNCH:
        make_launch(x, c, device, &l);
        NEED(spvf_queue_launch(q, &l.launch, NULL, NULL));
        break;
    case COPY:
        NEED(spvf_queue_copy(q, b[c->places[0]], c->at, b[c->places[1]], 8, c->size, NULL, NULL));
        break;
    case FILL:
        fill_block(pattern, (unsigned)c->value, type);
        NEED(spvf_queue_fill(q, b[c->places[0]], c->at, c->size, pattern, width(type), NULL, NULL));
        break;
    case WAIT: NEED(spvf_queue_barrier(q, NULL, NULL));
    }
}

/* --------------------------------------------------------------------------------------- graphs */

static bool uses_block(const program *p, const command *c, unsigned b) {
    const char *args = c->kind == LAUNCH ? kernels[c->kernel].args : c->kind == WAIT ? "" : "ii";
    for (unsigned n = 0; *args; n++)
        if (is_memory(next_parameter(&args)) && p->places[c->places[n]].block == b) return true;
    return false;
}

static bool is_used_outside(const program *p, unsigned b, unsigned first, unsigned behind) {
    for (unsigned n = 0; n < p->count; n++)
        if ((n < first || n >= behind) && !p->commands[n].left_out &&
            uses_block(p, &p->commands[n], b))
            return true;
    return false;
}

static void print_graph(const spvf_graph *g) {
    for (size_t n = 0; n < spvf_graph_kernel_count(g); n++) {
        const spvf_graph_kernel k = spvf_graph_get_kernel(g, n);
        printf("launches %zu to %zu are one kernel\n", k.first + 1, k.first + k.count);
    }
}

static spvf_graph *make_graph(execution *x, unsigned first, unsigned behind) {
    const program *p = x->program;
    const spvf_graph_options o = {.size = sizeof o,
                                  .unfused = x->way == APART,
                                  .phases = x->way == PHASES,
                                  .constants = x->way == PHASES && !has_changes(p)};
    spvf_graph *g;
    launch l;
    NEED(spvf_graph_create(stations[0].device, &o, &g));
    for (unsigned n = first; n < behind; n++) {
        if (p->commands[n].left_out) continue;
        make_launch(x, &p->commands[n], 0, &l);
        if (x->way == ACROSS) l.launch.program = stations[p->commands[n].value / 2 & 1].program;
        NEED(spvf_graph_launch(g, &l.launch, &x->index[n]));
    }
    for (unsigned b = 0; b < BLOCKS; b++)
        if (p->blocks[b].let_go && !is_used_outside(p, b, first, behind))
            NEED(spvf_graph_internal(g, x->buffers[0][b], SPVF_PROMOTE_AUTO));
    NEED(spvf_graph_commit(g));
    if (x->tell) print_graph(g);
    return g;
}

/* Launches up to the next command of another kind are a graph; where it ends. */
static unsigned run_graph(execution *x, unsigned first, spvf_queue *q) {
    const program *p = x->program;
    unsigned behind = first, count = 0;
    for (; behind < p->count && p->commands[behind].kind == LAUNCH; behind++)
        count += !p->commands[behind].left_out;
    if (!count) return behind;
    if (!x->graphs[first]) x->graphs[first] = make_graph(x, first, behind);
    NEED(spvf_graph_run(x->graphs[first], q, NULL, NULL));
    return behind;
}

static void run_graphs(execution *x) {
    const program *p = x->program;
    spvf_queue *q = stations[0].queues[x->way == APART];
    for (unsigned n = 0; n < p->count;) {
        const command *c = &p->commands[n];
        if (c->kind == LAUNCH) {
            n = run_graph(x, n, q);
            continue;
        }
        if (!c->left_out) enqueue(x, c, 0, q);
        n++;
    }
}

/* --------------------------------------------------------------------------------------- queues */

/* Fusion on the first queue of each device; what is no launch, and some that are, on the second. */
static void run_fusing(execution *x) {
    for (unsigned n = 0; n < x->program->count; n++) {
        const command *c = &x->program->commands[n];
        const unsigned device = c->value % 5 == 4, apart = c->kind != LAUNCH || c->value % 7 == 6;
        spvf_queue *q = stations[device].queues[0];
        if (c->left_out) continue;
        if (!spvf_queue_is_fusing(q)) NEED(spvf_queue_start_fusion(q, NULL));
        enqueue(x, c, device, stations[device].queues[apart]);
        if (c->value % 11 == 10) NEED(spvf_queue_complete_fusion(q, NULL));
    }
    for (unsigned d = 0; d < DEVICES; d++) {
        spvf_queue *q = stations[d].queues[0];
        if (spvf_queue_is_fusing(q)) NEED(spvf_queue_complete_fusion(q, NULL));
    }
}

static void run_queues(execution *x) {
    for (unsigned n = 0; n < x->program->count; n++) {
        const command *c = &x->program->commands[n];
        const unsigned device = x->way == SPREAD && c->value & 1;
        const unsigned queue = x->way == SPREAD && c->value & 6;
        if (c->left_out) continue;
        enqueue(x, c, device, stations[device].queues[queue]);
        if (x->way == ONE_BY_ONE) NEED(spvf_queue_finish(stations[0].queues[0]));
    }
}

static void perform(execution *x) {
    switch (x->way) {
    case FUSING: run_fusing(x); break;
    case SPREAD:
    case ONE_BY_ONE: run_queues(x); break;
    default: run_graphs(x);
    }
}

/* ------------------------------------------------------------------------ changes between runs */

static void finish(void) {
    for (unsigned d = 0; d < DEVICES; d++)
        for (unsigned k = 0; k < QUEUES; k++) NEED(spvf_queue_finish(stations[d].queues[k]));
}

/* A part of a block, in the program's memory itself where it is that. */
static void write_block(const execution *x, unsigned n) {
    const block *b = &x->program->blocks[n];
    const size_t at = 8 * (n * 5 % 100), size = BYTES / 4;
    unsigned char bytes[BYTES];
    fill_block(bytes, n + 10 * (unsigned)x->run, b->type);
    if (b->kind == BUFFER)
        NEED(
            spvf_queue_write(stations[0].queues[0], x->buffers[0][n], at, bytes, size, NULL, NULL));
    else
        memcpy(x->host[n] + at, bytes, size);
    finish();
}

static void change_values(const execution *x, unsigned first) {
    const program *p = x->program;
    for (unsigned n = first; n < p->count && p->commands[n].kind == LAUNCH; n++) {
        const command *c = &p->commands[n];
        const char *args = kernels[c->kernel].args;
        const int value = value_of(x, c);
        if (c->left_out || !changes_value(p, c)) continue;
        for (size_t k = 0; *args; k++)
            if (next_parameter(&args).letter == 'v')
                NEED(spvf_graph_set_value(x->graphs[first], x->index[n], k, &value, sizeof value));
    }
}

/* A buffer that shares memory with no other one; BLOCKS: there is none. */
static unsigned find_single(const execution *x) {
    const program *p = x->program;
    for (unsigned k = 0; k < BLOCKS; k++) {
        const unsigned n = (k + p->count) % BLOCKS;
        bool single = p->blocks[n].kind == BUFFER && !p->blocks[n].let_go;
        for (unsigned i = BLOCKS; i < PLACES; i++) single &= p->places[i].block != n;
        if (single) return n;
    }
    return BLOCKS;
}

static bool is_used_in_graph(const program *p, unsigned b, unsigned first) {
    bool used = false;
    for (unsigned n = first; n < p->count && p->commands[n].kind == LAUNCH; n++)
        used |= !p->commands[n].left_out && uses_block(p, &p->commands[n], b);
    return used;
}

static void replace_buffer(execution *x) {
    const unsigned n = find_single(x);
    if (n == BLOCKS) return;
    for (unsigned d = 0; d < DEVICES; d++) x->replaced[d] = x->buffers[d][n];
    x->buffers[1][n] = NULL;
    make_block(x, n);
    for (unsigned k = 0; k < COMMANDS; k++)
        if (x->graphs[k] && is_used_in_graph(x->program, n, k))
            NEED(spvf_graph_set_buffer(x->graphs[k], x->replaced[0], x->buffers[0][n]));
}

static void change(execution *x) {
    const program *p = x->program;
    x->run++;
    if (!has_changes(p) || x->run == RUNS) return;
    finish();
    for (unsigned n = 0; n < BLOCKS; n++)
        if (!p->blocks[n].let_go && (n + p->count) % 3 == 0) write_block(x, n);
    for (unsigned n = 0; n < COMMANDS; n++)
        if (x->graphs[n]) change_values(x, n);
    if (x->run == 1) replace_buffer(x);
}

/* ---------------------------------------------------------------------------------------- whole */

/* With the buffer that was replaced. */
static void read_back(const execution *x, unsigned char got[BLOCKS][BYTES]) {
    unsigned char old[BYTES];
    spvf_queue *q = stations[0].queues[0];
    for (unsigned n = 0; n < BLOCKS; n++)
        if (!x->program->blocks[n].let_go)
            NEED(spvf_queue_read(q, x->buffers[0][n], 0, got[n], BYTES, NULL, NULL));
    if (x->replaced[0]) NEED(spvf_queue_read(q, x->replaced[0], 0, old, BYTES, NULL, NULL));
    finish();
    for (unsigned n = 0; x->replaced[0] && n < BYTES; n++) got[find_single(x)][n] ^= old[n];
}

static void execute(const program *p, unsigned way, bool tell, unsigned char got[BLOCKS][BYTES]) {
    execution x = {.program = p, .way = way, .tell = tell};
    memset(got, 0, BLOCKS * BYTES);
    for (unsigned n = 0; n < BLOCKS; n++) make_block(&x, n);
    for (unsigned n = BLOCKS; n < PLACES; n++) make_place(&x, n);
    for (int n = 0; n < RUNS; n++) {
        perform(&x);
        change(&x);
    }
    read_back(&x, got);
    for (unsigned n = 0; n < COMMANDS; n++) spvf_graph_destroy(x.graphs[n]);
    free_memory(&x);
}

/* Groups are whole, and variables of a program are not memory that orders commands. */
static void adapt(program *p) {
    for (unsigned n = 0; n < p->count; n++) {
        command *c = &p->commands[n];
        if (c->kind != LAUNCH) continue;
        if (!strncmp(kernels[c->kernel].name, "total", 5)) c->left_out = true;
        for (unsigned d = 0; d < c->dims; d++)
            if (c->local[0] && c->global[d] % c->local[d]) memset(c->local, 0, sizeof c->local);
    }
}

int main(int argc, char **argv) {
    const comparison c = {
        .title = "random commands of queues",
        .begin = begin,
        .end = end,
        .adapt = adapt,
        .execute = execute,
        .count = WAYS,
        .ways = {"fused", "phased", "unfused", "across", "fusing", "spread", "single"}};
    return compare_programs(&c, argc, argv);
}
