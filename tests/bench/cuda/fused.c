/* fused.c — streams of launches that become one kernel, next to copies in the device's memory.
 *
 * A pipeline is a graph whose intermediate buffers are internal, so what it has to move is what it
 * reads from outside and what it leaves.  Runs follow each other without waits, in turn with as many
 * copies by the driver alone; the limit is what the copies move, read and written together.
 */
#include "tests/bench/cuda/host.h"

enum { ITEMS = 1 << 27, IN_ROW = 20, TIMES = 11, BUFFERS = 12, OUTSIDE = 4, MOST_LAUNCHES = 8 };

#define STREAM(name, parameters, body)                                                             \
    "kernel @" name "(" parameters "%out: ptr.global of f32) {\n"                                  \
    "entry:\n"                                                                                     \
    "  %i: i64 = global_id 0\n"                                                                    \
    "  %o: i64 = shl %i, 2\n"                                                                      \
    "  %pa: ptr.global = ptradd %a, %o inbounds\n"                                                 \
    "  %x: f32 = load %pa align 4\n" body "  %po: ptr.global = ptradd %out, %o inbounds\n"         \
    "  store %v, %po align 4\n"                                                                    \
    "  ret\n"                                                                                      \
    "}\n"
#define ONE "%a: ptr.global const of f32, "
#define TWO ONE "%b: ptr.global const of f32, "
#define OTHER                                                                                      \
    "  %pb: ptr.global = ptradd %b, %o inbounds\n"                                                 \
    "  %y: f32 = load %pb align 4\n"

static const char kernels[] = "target 64\n" STREAM("plus", TWO, OTHER "  %v: f32 = fadd %x, %y\n")
    STREAM("times", TWO, OTHER "  %v: f32 = fmul %x, %y\n")
        STREAM("mean", ONE, "  %h: f32 = fmul %x, 0.5\n  %v: f32 = fadd %h, 0.5\n");

/* Buffers from OUTSIDE on are internal; the last launch writes RESULT. */
enum { A, B, C, RESULT, NONE = BUFFERS };
typedef struct {
    const char *kernel;
    unsigned in[2], out;
} stage;

static const struct {
    const char *name;
    stage stage[MOST_LAUNCHES];
    unsigned launches, streams; /* read and written outside */
    float result;               /* of ones */
} pipelines[] = {
    {"(a + b) * c", {{"plus", {A, B}, 4}, {"times", {4, C}, RESULT}}, 2, 4, 2},
    {"diamond",
     {{"mean", {A, NONE}, 4},
      {"mean", {4, NONE}, 5},
      {"mean", {4, NONE}, 6},
      {"plus", {5, 6}, RESULT}},
     4,
     2,
     2},
    {"chain of 8",
     {{"mean", {A, NONE}, 4},
      {"mean", {4, NONE}, 5},
      {"mean", {5, NONE}, 6},
      {"mean", {6, NONE}, 7},
      {"mean", {7, NONE}, 8},
      {"mean", {8, NONE}, 9},
      {"mean", {9, NONE}, 10},
      {"mean", {10, NONE}, RESULT}},
     8,
     2,
     1},
};
enum { PIPELINES = sizeof pipelines / sizeof *pipelines };

static struct {
    session own;
    spvf_buffer *buffer[BUFFERS];
    uint64_t bare[2];
} t;

static void open_all(void) {
    const float one = 1;
    t.own = open_session("streams", kernels);
    for (unsigned k = 0; k < BUFFERS; k++)
        must(!spvf_buffer_create(t.own.device, ITEMS * sizeof one, NULL, 0, &t.buffer[k]),
             "no buffer");
    for (unsigned k = 0; k < OUTSIDE; k++)
        must(!spvf_queue_fill(t.own.queue, t.buffer[k], 0, ITEMS * sizeof one, &one, sizeof one,
                              NULL, NULL),
             "a buffer is not filled");
    for (int k = 0; k < 2; k++)
        must((t.bare[k] = bare_allocate(ITEMS * sizeof one)) != 0, "no memory");
}

static void close_all(void) {
    for (unsigned k = 0; k < BUFFERS; k++) spvf_buffer_destroy(t.buffer[k]);
    close_session(&t.own);
}

static void record(spvf_graph *g, const stage *s) {
    spvf_argument args[3];
    size_t n = 0;
    args[n++] = (spvf_argument){.buffer = t.buffer[s->in[0]]};
    if (s->in[1] != NONE) args[n++] = (spvf_argument){.buffer = t.buffer[s->in[1]]};
    args[n++] = (spvf_argument){.buffer = t.buffer[s->out]};
    const spvf_launch l = {.size = sizeof l,
                           .program = t.own.program,
                           .kernel = s->kernel,
                           .range = {.dims = 1, .global = {ITEMS}},
                           .args = args,
                           .arg_count = n};
    must(!spvf_graph_launch(g, &l, NULL), "a graph takes no launch");
    if (s->out >= OUTSIDE)
        must(!spvf_graph_internal(g, t.buffer[s->out], SPVF_PROMOTE_AUTO), "a buffer stays");
}

/* Microseconds of a run. */
static double run_in_row(spvf_graph *g) {
    double start = now();
    for (int k = 0; k < IN_ROW; k++) must(!spvf_graph_run(g, t.own.queue, NULL, NULL), "no run");
    must(!spvf_queue_finish(t.own.queue), "the queue fails");
    return (now() - start) / IN_ROW;
}

static double copy_in_row(void) {
    double start = now();
    for (int k = 0; k < IN_ROW; k++)
        must(bare_copy(t.bare[1], t.bare[0], ITEMS * sizeof(float)), "no copy");
    must(bare_wait(), "the stream fails");
    return (now() - start) / IN_ROW;
}

static void time_pipeline(unsigned n) {
    const spvf_graph_options o = {.size = sizeof o, .strict = true};
    double moved[TIMES], limit[TIMES], part[TIMES];
    const double bytes = (double)ITEMS * sizeof(float);
    spvf_graph *g;
    float first = 0, last = 0;
    must(!spvf_graph_create(t.own.device, &o, &g), "no graph");
    for (unsigned k = 0; k < pipelines[n].launches; k++) record(g, &pipelines[n].stage[k]);
    must(!spvf_graph_commit(g) && spvf_graph_kernel_count(g) == 1, "it is not one kernel");
    for (int k = -1; k < TIMES; k++) { /* once before they count */
        double copy = 2 * bytes / copy_in_row() / 1e3;
        double run = pipelines[n].streams * bytes / run_in_row(g) / 1e3;
        if (k >= 0) moved[k] = run, limit[k] = copy, part[k] = run / copy;
    }
    must(!spvf_queue_read(t.own.queue, t.buffer[RESULT], 0, &first, sizeof first, NULL, NULL) &&
             !spvf_queue_read(t.own.queue, t.buffer[RESULT], (ITEMS - 1) * sizeof last, &last,
                              sizeof last, NULL, NULL) &&
             !spvf_queue_finish(t.own.queue) && first == pipelines[n].result && last == first,
         "a result is wrong");
    printf("%-44s %7.0f GB/s   copies %7.0f GB/s   %5.2f of it (at least 0.9)\n", pipelines[n].name,
           median(moved, TIMES), median(limit, TIMES), median(part, TIMES));
    spvf_graph_destroy(g);
}

void time_fused(void) {
    open_all();
    for (unsigned n = 0; n < PIPELINES; n++) time_pipeline(n);
    close_all();
}
