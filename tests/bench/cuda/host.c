/* host.c — what the host pays for kernels on an NVIDIA GPU, next to the driver alone.
 *
 *   host [-d DEVICE] BUILD     cuda; BUILD/bench holds saxpy.spv, scale.spv and matmul.spv
 *
 * Launches and graphs: batches of small kernels, by the driver's functions and by a queue of the
 * library, in turn; medians of rounds, in microseconds of a launch or a run.  "Until given" ends
 * when the last call has returned, "until done" when the device has nothing left.  Both work on the
 * same memory of the device, since a kernel of few threads takes up to a fifth longer or shorter
 * depending on where its memory lies.  Results are checked.  Then what fused pipelines move
 * (fused.c), starts of processes (start.c), and texts (texts.c).
 */
#include "tests/bench/cuda/host.h"

#include <string.h>

enum { BATCH = 1000, RUNS = 200 };

static const char kernel[] = "target 64\n"
                             "kernel @add(%out: ptr.global of i32, %in: ptr.global const of i32, "
                             "%k: i32) {\n"
                             "entry:\n"
                             "  %x: i64 = global_id 0\n"
                             "  %b: i64 = shl %x, 2\n"
                             "  %p: ptr.global = ptradd %in, %b inbounds\n"
                             "  %q: ptr.global = ptradd %out, %b inbounds\n"
                             "  %v: i32 = load %p align 4\n"
                             "  %s: i32 = add %v, %k\n"
                             "  store %s, %q align 4\n"
                             "  ret\n"
                             "}\n"
                             "kernel @where(%out: ptr.global of i64) {\n"
                             "entry:\n"
                             "  %a: i64 = ptrtoint %out\n"
                             "  store %a, %out align 8\n"
                             "  ret\n"
                             "}\n";

static struct {
    session own;
    spvf_buffer *buffer;
    spvf_graph *graph[GRAPHS];
    int32_t k;
    uint64_t bare; /* where it lies on the device */
    bool wrong;
} t;

static const char *device = "cuda";

session open_session(const char *name, const char *text) {
    const spvf_context_options o = {.size = sizeof o, .message = show_message};
    session l;
    must(!spvf_context_create(&o, &l.context), "no context");
    must(!spvf_module_load(l.context, name, text, strlen(text), NULL, &l.module), "no module");
    must(!spvf_device_open(l.context, device, &l.device), "no device");
    must(!spvf_program_create(l.device, l.module, &l.program), "no program");
    must(!spvf_queue_create(l.device, NULL, &l.queue), "no queue");
    return l;
}

void close_session(const session *l) {
    spvf_queue_destroy(l->queue);
    spvf_program_destroy(l->program);
    spvf_device_destroy(l->device);
    spvf_module_destroy(l->module);
    spvf_context_destroy(l->context);
}

char *emit_ptx(const spvf_module *m, const char *options) {
    char target[100];
    spvf_blob blob;
    snprintf(target, sizeof target, "ptx:sm_%u%s", bare_sm(), options);
    if (spvf_module_emit(m, target, &blob)) return NULL;
    char *text = calloc(blob.size + 1, 1);
    if (text) memcpy(text, blob.data, blob.size);
    spvf_blob_destroy(&blob);
    return text;
}

static void open_buffer(void) {
    must(!spvf_buffer_create(t.own.device, ADD_ITEMS * sizeof(int32_t), NULL, 0, &t.buffer),
         "no buffer");
    const spvf_argument argument = {.buffer = t.buffer};
    const spvf_launch where = {.size = sizeof where,
                               .program = t.own.program,
                               .kernel = "where",
                               .range = {.dims = 1, .global = {1}, .local = {1}},
                               .args = &argument,
                               .arg_count = 1};
    must(!spvf_queue_launch(t.own.queue, &where, NULL, NULL) &&
             !spvf_queue_read(t.own.queue, t.buffer, 0, &t.bare, sizeof t.bare, NULL, NULL) &&
             !spvf_queue_finish(t.own.queue) && t.bare,
         "the buffer is not found");
}

static void open_all(void) {
    size_t size;
    must(bare_open(), "there is no GPU");
    t.own = open_session("add", kernel);
    char *ptx = emit_ptx(t.own.module, ",offset");
    void *cubin = ptx ? bare_compile(ptx, &size) : NULL;
    must(cubin && bare_load(cubin, "add"), "the kernel does not load");
    free(cubin);
    free(ptx);
    open_buffer();
}

/* ------------------------------------------------------------------------------------- launches */

static spvf_launch ours(spvf_argument args[3]) {
    args[0] = (spvf_argument){.buffer = t.buffer};
    args[1] = (spvf_argument){.buffer = t.buffer};
    args[2] = (spvf_argument){.bytes = &t.k, .size = sizeof t.k};
    return (spvf_launch){.size = sizeof(spvf_launch),
                         .program = t.own.program,
                         .kernel = "add",
                         .range = {.dims = 1, .global = {ADD_ITEMS}, .local = {ADD_ITEMS}},
                         .args = args,
                         .arg_count = 3};
}

/* Microseconds of one, until they are given and until they are done. */
typedef struct {
    double given[ROUNDS], done[ROUNDS];
} times;

static double median_of(const double *v) {
    double copy[ROUNDS];
    memcpy(copy, v, sizeof copy);
    return median(copy, ROUNDS);
}

static void bare_batch(times *to, unsigned round) {
    const add_arguments a = {t.bare, t.bare, 1};
    double start = now();
    for (unsigned k = 0; k < BATCH; k++) must(bare_add(&a), "a launch fails");
    to->given[round] = (now() - start) / (double)BATCH;
    must(bare_wait(), "the stream fails");
    to->done[round] = (now() - start) / (double)BATCH;
}

static void our_batch(times *to, unsigned round, bool events) {
    spvf_argument args[3];
    spvf_event *e[BATCH];
    t.k = 1;
    const spvf_launch l = ours(args);
    double start = now();
    for (unsigned k = 0; k < BATCH; k++)
        must(!spvf_queue_launch(t.own.queue, &l, NULL, events ? &e[k] : NULL), "a launch fails");
    to->given[round] = (now() - start) / (double)BATCH;
    must(!spvf_queue_finish(t.own.queue), "the queue fails");
    to->done[round] = (now() - start) / (double)BATCH;
    for (unsigned k = 0; events && k < BATCH; k++) spvf_event_destroy(e[k]);
}

/* Of a call that the library makes before each other one, since a program may use other contexts. */
static void current_batch(double *us) {
    double start = now();
    for (unsigned k = 0; k < BATCH; k++) must(bare_make_current(), "the context is not taken");
    *us = (now() - start) / (double)BATCH;
}

static void show(const char *name, const times *bare, const times *own) {
    double given[ROUNDS], done[ROUNDS];
    for (unsigned k = 0; k < ROUNDS; k++) {
        given[k] = own->given[k] - bare->given[k];
        done[k] = own->done[k] - bare->done[k];
    }
    printf("%-44s until given %7.2f %7.2f %+6.2f   until done %7.2f %7.2f %+6.2f us\n", name,
           median_of(bare->given), median_of(own->given), median_of(given), median_of(bare->done),
           median_of(own->done), median_of(done));
}

static void expect_sum(int32_t sum) {
    int32_t back[ADD_ITEMS];
    must(!spvf_queue_read(t.own.queue, t.buffer, 0, back, sizeof back, NULL, NULL) &&
             !spvf_queue_finish(t.own.queue),
         "reading fails");
    for (int k = 0; k < ADD_ITEMS; k++) t.wrong |= back[k] != sum;
    if (t.wrong) printf("a result is wrong\n");
}

static void clear(void) {
    const int32_t zero = 0;
    must(!spvf_queue_fill(t.own.queue, t.buffer, 0, ADD_ITEMS * sizeof zero, &zero, sizeof zero,
                          NULL, NULL) &&
             !spvf_queue_finish(t.own.queue),
         "the buffer is not filled");
}

static void time_launches(void) {
    static times bare, own, with_events;
    double current[ROUNDS];
    times first;
    clear();
    for (unsigned k = 0; k < 3; k++) {
        bare_batch(&first, k);
        our_batch(&first, k, false);
    }
    progress p = progress_begin("rounds", ROUNDS);
    for (unsigned k = 0; k < ROUNDS; k++, progress_step(&p)) {
        bare_batch(&bare, k);
        our_batch(&own, k, false);
        our_batch(&with_events, k, true);
        current_batch(&current[k]);
    }
    progress_end(&p);
    show("launch, of 1000", &bare, &own);
    show("launch with an event for each", &bare, &with_events);
    printf("%-44s %7.3f us of each\n", "  cuCtxSetCurrent alone", median_of(current));
    expect_sum((6 + 3 * ROUNDS) * BATCH);
}

/* --------------------------------------------------------------------------------------- graphs */

static add_arguments bare_step(int32_t k) { return (add_arguments){t.bare, t.bare, k}; }

static void make_ours(spvf_graph **out) {
    const spvf_graph_options o = {.size = sizeof o, .unfused = true};
    spvf_argument args[3];
    t.k = 0;
    const spvf_launch l = ours(args);
    must(!spvf_graph_create(t.own.device, &o, out), "no graph");
    for (unsigned k = 0; k < STEPS; k++)
        must(!spvf_graph_launch(*out, &l, NULL), "a graph takes no launch");
    must(!spvf_graph_commit(*out), "the graph is not committed");
    for (int k = 0; k < 2; k++) /* the second run makes the driver's graph */
        must(!spvf_graph_run(*out, t.own.queue, NULL, NULL) && !spvf_queue_finish(t.own.queue),
             "no run");
}

static void make_bare(unsigned n) {
    add_arguments steps[STEPS];
    for (unsigned k = 0; k < STEPS; k++) steps[k] = bare_step(0);
    must(bare_make_graph(n, steps), "no graph by hand");
}

/* A graph takes up to a twentieth longer or shorter than another of the same nodes, which depends on
 * what the driver has made before.  So there are several, made in turns, and now one is the first
 * and now the other. */
static void make_graphs(void) {
    for (unsigned n = 0; n < GRAPHS; n++) {
        if (n % 2) make_ours(&t.graph[n]);
        make_bare(n);
        if (n % 2 == 0) make_ours(&t.graph[n]);
    }
}

/* changed: launches that get another value before each run; each: waits after each run. */
typedef struct {
    unsigned changed;
    bool each;
} manner;

static void bare_runs(times *to, unsigned round, manner m) {
    bare_take_graph(round % GRAPHS);
    double start = now();
    for (unsigned k = 0; k < RUNS; k++) {
        const add_arguments a = bare_step((int32_t)k);
        for (unsigned n = 0; n < m.changed; n++) must(bare_change(n, &a), "no change by hand");
        must(bare_replay(), "no run by hand");
        if (m.each) must(bare_wait(), "the stream fails");
    }
    to->given[round] = (now() - start) / (double)RUNS;
    must(bare_wait(), "the stream fails");
    to->done[round] = (now() - start) / (double)RUNS;
}

static void our_runs(times *to, unsigned round, manner m) {
    spvf_graph *graph =
        t.graph[(round + round / GRAPHS) % GRAPHS]; /* each with each of the others */
    double start = now();
    for (unsigned k = 0; k < RUNS; k++) {
        const int32_t value = (int32_t)k;
        for (unsigned n = 0; n < m.changed; n++)
            must(!spvf_graph_set_value(graph, n, 2, &value, sizeof value), "no change");
        must(!spvf_graph_run(graph, t.own.queue, NULL, NULL), "no run");
        if (m.each) must(!spvf_queue_finish(t.own.queue), "the queue fails");
    }
    to->given[round] = (now() - start) / (double)RUNS;
    must(!spvf_queue_finish(t.own.queue), "the queue fails");
    to->done[round] = (now() - start) / (double)RUNS;
}

static void time_graph(const char *name, manner m) {
    static times bare, own;
    progress p = progress_begin("rounds", ROUNDS);
    for (unsigned k = 0; k < ROUNDS; k++, progress_step(&p)) {
        bare_runs(&bare, k, m);
        our_runs(&own, k, m);
    }
    progress_end(&p);
    show(name, &bare, &own);
}

static void time_graphs(void) {
    make_graphs();
    time_graph("graph of 8 kernels", (manner){0, false});
    time_graph("graph of 8, one value changed", (manner){1, false});
    time_graph("graph of 8, all values changed", (manner){STEPS, false});
    time_graph("graph of 8, waited for after each run", (manner){0, true});
}

/* -------------------------------------------------------------------------------------- copies */

/* Behind a few launches: a read that the program does not wait for at once. */
static void bare_reads(times *to, unsigned round) {
    static int32_t back[ADD_ITEMS];
    const add_arguments a = {t.bare, t.bare, 0};
    double start = now();
    for (unsigned k = 0; k < RUNS; k++) {
        must(bare_add(&a) && bare_begin_read(back, t.bare, sizeof back), "a read fails");
    }
    to->given[round] = (now() - start) / (double)RUNS;
    must(bare_wait(), "the stream fails");
    to->done[round] = (now() - start) / (double)RUNS;
}

static void our_reads(times *to, unsigned round) {
    static int32_t back[ADD_ITEMS];
    spvf_argument args[3];
    t.k = 0;
    const spvf_launch l = ours(args);
    double start = now();
    for (unsigned k = 0; k < RUNS; k++)
        must(!spvf_queue_launch(t.own.queue, &l, NULL, NULL) &&
                 !spvf_queue_read(t.own.queue, t.buffer, 0, back, sizeof back, NULL, NULL),
             "a read fails");
    to->given[round] = (now() - start) / (double)RUNS;
    must(!spvf_queue_finish(t.own.queue), "the queue fails");
    to->done[round] = (now() - start) / (double)RUNS;
}

static void time_copies(void) {
    static times bare, own;
    progress p = progress_begin("rounds", ROUNDS);
    for (unsigned k = 0; k < ROUNDS; k++, progress_step(&p)) {
        bare_reads(&bare, k);
        our_reads(&own, k);
    }
    progress_end(&p);
    show("launch and read 1 KiB", &bare, &own);
}

static void close_all(void) {
    for (unsigned n = 0; n < GRAPHS; n++) spvf_graph_destroy(t.graph[n]);
    spvf_buffer_destroy(t.buffer);
    close_session(&t.own);
}

int main(int argc, char **argv) {
    const char *program = argv[0];
    char folder[1000];
    if (argc > 3 && strcmp(argv[1], "-d") == 0) {
        device = argv[2];
        argv += 2;
        argc -= 2;
    }
    if (argc < 2) return fprintf(stderr, "usage: host [-d DEVICE] BUILD\n"), 2;
    snprintf(folder, sizeof folder, "%s/bench", argv[1]);
    if (argc > 2) return start_as(argv[2], folder);
    setvbuf(stdout, NULL, _IOLBF, 0);
    open_all();
    printf("%s: the driver alone, ours, and the difference\n", bare_name());
    time_graphs();
    time_launches();
    time_copies();
    close_all();
    time_fused();
    time_starts(program, argv[1]);
    time_texts(folder);
    return t.wrong;
}
