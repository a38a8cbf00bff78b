/* phases.c — launches that depend on each other across work-groups: as phases of one kernel, next
 * to the same launches one after the other.
 *
 *   phases [-l ITEMS] [DEVICE…]     items of a work-group: 64; devices: cpu
 *
 * Both are graphs that run on a queue, by turns; shown are the medians of a run on each device and
 * the ratio, that of separate launches by that of phases.  A stencil of three points goes over a
 * line eight times, from one buffer to the other and back; a tree adds the halves of a line until as
 * many elements are left as a group has.  If devices are named, there are more sizes, and the time
 * is that of several runs which follow each other, by their number: so
 *
 *   phases -l 256 cuda:phases=together cuda:phases=launches
 *
 * says up to how many groups barriers of the grid cost less than launches.
 */
#include "runtime/spvfuse_queue.h"
#include "tests/bench/bench.h"

enum { RUNS = 301, STEPS = 8, WAYS = 2, DEVICES = 4, MOST = 1 << 20, AT_ONCE = 16 };

static const char kernels[] = "target 64\n"
                              "kernel @step(%a: ptr.global of f32, %b: ptr.global of f32) {\n"
                              "entry:\n"
                              "  %i: i64 = global_id 0\n"
                              "  %o: i64 = shl %i, 2\n"
                              "  %l: ptr.global = ptradd %a, %o inbounds\n"
                              "  %m: ptr.global = ptradd %l, 4 inbounds\n"
                              "  %r: ptr.global = ptradd %l, 8 inbounds\n"
                              "  %x: f32 = load %l align 4\n"
                              "  %y: f32 = load %m align 4\n"
                              "  %z: f32 = load %r align 4\n"
                              "  %s: f32 = fadd %x, %z\n"
                              "  %h: f32 = fadd %y, %y\n"
                              "  %t: f32 = fadd %s, %h\n"
                              "  %v: f32 = fmul %t, 0.25\n"
                              "  %p: ptr.global = ptradd %b, %o inbounds\n"
                              "  %q: ptr.global = ptradd %p, 4 inbounds\n"
                              "  store %v, %q align 4\n"
                              "  ret\n"
                              "}\n"
                              "kernel @fold(%a: ptr.global of f32) {\n"
                              "entry:\n"
                              "  %i: i64 = global_id 0\n"
                              "  %n: i64 = global_size 0\n"
                              "  %j: i64 = add %i, %n\n"
                              "  %o: i64 = shl %i, 2\n"
                              "  %u: i64 = shl %j, 2\n"
                              "  %p: ptr.global = ptradd %a, %o inbounds\n"
                              "  %q: ptr.global = ptradd %a, %u inbounds\n"
                              "  %x: f32 = load %p align 4\n"
                              "  %y: f32 = load %q align 4\n"
                              "  %s: f32 = fadd %x, %y\n"
                              "  store %s, %p align 4\n"
                              "  ret\n"
                              "}\n";

typedef struct {
    const char *name;
    spvf_device *device;
    spvf_program *program;
    spvf_queue *queue;
    spvf_buffer *line[2];
    spvf_graph *graph[WAYS]; /* phases, separate launches */
} setting;

static size_t group = 64;   /* items */
static unsigned repeat = 1; /* runs that follow each other */

static progress shown; /* of sizes */

static void need(spvf_status s, const char *what) {
    if (s == SPVF_OK) return;
    fprintf(stderr, "bench: %s: %s\n", what, spvf_status_name(s));
    exit(1);
}

static void add(setting *t, const char *kernel, size_t items, unsigned from, size_t args) {
    const spvf_argument arg[] = {{.buffer = t->line[from]}, {.buffer = t->line[!from]}};
    const spvf_launch l = {.size = sizeof l,
                           .program = t->program,
                           .kernel = kernel,
                           .range = {.dims = 1, .global = {items}, .local = {group}},
                           .args = arg,
                           .arg_count = args};
    for (int way = 0; way < WAYS; way++) need(spvf_graph_launch(t->graph[way], &l, NULL), "launch");
}

static size_t add_stencil(setting *t, size_t items) {
    for (unsigned n = 0; n < STEPS; n++) add(t, "step", items, n % 2, 2);
    return STEPS;
}

static size_t add_tree(setting *t, size_t items) {
    size_t n = 0;
    for (; items > group; n++) add(t, "fold", items /= 2, 0, 1);
    return n;
}

static double time_run(setting *t, int way) {
    spvf_event *e;
    double start = now();
    for (unsigned n = 1; n < repeat; n++)
        need(spvf_graph_run(t->graph[way], t->queue, NULL, NULL), "run");
    need(spvf_graph_run(t->graph[way], t->queue, NULL, &e), "run");
    need(spvf_event_wait(e), "run");
    double us = now() - start;
    spvf_event_destroy(e);
    return us / repeat;
}

/* How many launches there are. */
static size_t record(setting *t, size_t items, size_t (*add_all)(setting *t, size_t items)) {
    const spvf_graph_options phases = {.size = sizeof phases, .strict = true, .phases = true};
    const spvf_graph_options apart = {.size = sizeof apart, .unfused = true};
    need(spvf_graph_create(t->device, &phases, &t->graph[0]), "graph");
    need(spvf_graph_create(t->device, &apart, &t->graph[1]), "graph");
    size_t launches = add_all(t, items);
    for (int way = 0; way < WAYS; way++) need(spvf_graph_commit(t->graph[way]), "commit");
    return launches;
}

static void measure(setting *all, int devices, const char *name, size_t items,
                    size_t (*add_all)(setting *t, size_t items)) {
    static double us[DEVICES][WAYS][RUNS];
    size_t launches = 0;
    for (int k = 0; k < devices; k++) launches = record(&all[k], items, add_all);
    for (int n = 0; n < RUNS; n++)
        for (int k = 0; k < devices; k++)
            for (int way = 0; way < WAYS; way++) us[k][way][n] = time_run(&all[k], way);
    progress_clear(&shown);
    printf("  %-8s %8zu items %6zu groups %3zu launches", name, items, items / group, launches);
    for (int k = 0; k < devices; k++) {
        for (int way = 0; way < WAYS; way++) spvf_graph_destroy(all[k].graph[way]);
        double together = median(us[k][0], RUNS), separate = median(us[k][1], RUNS);
        printf(" %10.1f us %10.1f us %6.2f x", together, separate, separate / together);
    }
    printf("\n");
    fflush(stdout);
}

static void begin(setting *t, spvf_context *c, spvf_module *m) {
    float *zeros = calloc(MOST + 2, sizeof *zeros);
    need(spvf_device_open(c, t->name, &t->device), "device");
    need(spvf_program_create(t->device, m, &t->program), "program");
    need(spvf_queue_create(t->device, NULL, &t->queue), "queue");
    for (int n = 0; n < 2; n++)
        need(spvf_buffer_create(t->device, (MOST + 2) * sizeof *zeros, zeros, 0, &t->line[n]),
             "buffer");
    free(zeros);
}

static void end(const setting *t) {
    for (int n = 0; n < 2; n++) spvf_buffer_destroy(t->line[n]);
    spvf_queue_destroy(t->queue);
    spvf_program_destroy(t->program);
    spvf_device_destroy(t->device);
}

static int read_arguments(int argc, char **argv, setting *all) {
    int devices = 0;
    for (int n = 1; n < argc; n++)
        if (strcmp(argv[n], "-l") == 0 && n + 1 < argc)
            group = strtoul(argv[++n], NULL, 10);
        else if (devices < DEVICES)
            all[devices++].name = argv[n];
    repeat = devices ? AT_ONCE : 1;
    if (!devices) all[devices++].name = "cpu";
    return devices;
}

int main(int argc, char **argv) {
    const spvf_context_options o = {.size = sizeof o, .message = show_message};
    spvf_context *c;
    spvf_module *m;
    setting all[DEVICES] = {{0}};
    int devices = read_arguments(argc, argv, all);
    need(spvf_context_create(&o, &c), "context");
    need(spvf_module_load(c, "kernels", kernels, sizeof kernels - 1, NULL, &m), "kernels");
    for (int k = 0; k < devices; k++) begin(&all[k], c, m);
    printf("a graph on a queue, a run: phases, separately, on");
    for (int k = 0; k < devices; k++) printf("%s %s", k ? ";" : "", all[k].name);
    printf("\n");
    const unsigned by = repeat > 1 ? 1 : 4;
    shown = progress_begin("sizes", repeat > 1 ? 13 : 4);
    for (size_t items = 1 << 8; items <= MOST; items <<= by) {
        measure(all, devices, "stencil", items, add_stencil);
        if (items > group) measure(all, devices, "tree", items, add_tree);
        progress_step(&shown);
    }
    progress_end(&shown);
    for (int k = 0; k < devices; k++) end(&all[k]);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    return 0;
}
