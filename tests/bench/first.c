/* first.c — first launches: what the code that device cpu chooses for them costs, next to code that is
 * always made quickly and to vector code.
 *
 *   first [--launches] FIRST.spv [KERNEL ...]
 *
 * Each kernel is launched LAUNCHES times, in a device of its own, with each of the three kinds of code
 * by turns.  The table has the least times of several rounds: microseconds of the first launch and of
 * all; and the largest ratio of the sum of the first N launches to that of the better kind of the two,
 * for N up to LAUNCHES.  --launches prints the sums, too.
 */
#include "runtime/devices/device.h"
#include "tests/bench/bench.h"

enum { LAUNCHES = 20, ROUNDS = 9, ARGS = 7, MOST = 1 << 22 };

typedef enum { CHOSEN, QUICK, VECTOR, KINDS } kind;
static const char *const devices[KINDS] = {"cpu", "cpu:quick", "cpu:untiered"};

/* A range of n or n × n items. */
static const struct {
    const char *name;
    unsigned dims, local;
    unsigned n[7];
} kernels[] = {{"vadd", 1, 0, {64, 1024, 8192, 65536, 1 << 20}},
               {"waves", 1, 0, {64, 1024, 8192, 65536}},
               {"stencil", 2, 0, {16, 64, 256, 1024}},
               {"escape", 2, 0, {8, 16, 32, 64, 256}},
               {"bodies", 1, 0, {64, 256, 1024, 4096}},
               {"matmul", 2, 0, {16, 32, 64, 128, 256}},
               {"total", 1, 256, {256, 4096, 65536, 1 << 20}},
               {"tiled", 2, 16, {16, 32, 64, 128, 256, 512}}};
enum { KERNELS = sizeof kernels / sizeof *kernels };

typedef struct {
    spvf_context *context;
    const ir_module *module;
    unsigned kernel, n;
    kind kind;
    float *memory[3];
    double us[LAUNCHES];
} job;

static void run_launches(void *arg) {
    job *j = arg;
    rt_device *d = rt_device_open(j->context, devices[j->kind]);
    rt_function *f = d->driver->find(d, d->driver->build(d, j->module), kernels[j->kernel].name);
    spvf_range range = {.dims = kernels[j->kernel].dims};
    rt_arg args[ARGS] = {rt_value_arg(&j->n, 4)};
    for (unsigned k = 0; k < range.dims; k++) {
        range.global[k] = j->n;
        range.local[k] = kernels[j->kernel].local;
    }
    for (unsigned k = 1; k < ARGS; k++) args[k] = rt_value_arg(&j->n, 4);
    for (unsigned k = 0; k < 3; k++)
        args[k + 1] = rt_address_arg(j->memory[k], MOST * sizeof(float));
    const rt_launch l = {f, &range, args, d->driver->kernel(f)->nparams, .uneven = false};
    for (unsigned k = 0; k < LAUNCHES; k++) {
        double start = now();
        rt_device_launch(d, &l);
        j->us[k] = now() - start;
    }
    rt_device_close(d);
}

/* Of the first launches, each the least of all rounds. */
typedef struct {
    double of[LAUNCHES];
} sums;

static progress shown; /* of rounds of all rows */

static void time_kinds(job *j, sums out[KINDS]) {
    for (unsigned r = 0; r < ROUNDS; r++, progress_step(&shown))
        for (unsigned turn = 0; turn < KINDS; turn++) {
            double sum = 0;
            /* What one has freed, the next one finds, or has to ask the system for. */
            j->kind = (kind)(r % 2 ? KINDS - 1 - turn : turn);
            if (rt_guard(j->context, run_launches, j) != SPVF_OK) exit(1);
            for (unsigned k = 0; k < LAUNCHES; k++) {
                double *least = &out[j->kind].of[k];
                sum += j->us[k];
                if (r == 0 || sum < *least) *least = sum;
            }
        }
}

static double worst_of(const sums *s, unsigned *at) {
    double worst = 0;
    for (unsigned n = 0; n < LAUNCHES; n++) {
        double q = s[QUICK].of[n], v = s[VECTOR].of[n];
        double ratio = s[CHOSEN].of[n] / (q < v ? q : v);
        if (ratio > worst) worst = ratio, *at = n + 1;
    }
    return worst;
}

static void show(job *j, bool launches) {
    sums s[KINDS];
    unsigned at = 0;
    time_kinds(j, s);
    progress_clear(&shown);
    printf("%-8s %8u", kernels[j->kernel].name, j->n);
    for (kind k = CHOSEN; k < KINDS; k++)
        printf("  %8.0f %8.0f", s[k].of[0], s[k].of[LAUNCHES - 1]);
    double worst = worst_of(s, &at);
    printf("  %5.2f (%u)\n", worst, at);
    for (kind k = CHOSEN; launches && k < KINDS; k++) {
        for (unsigned n = 0; n < LAUNCHES; n++) printf(" %7.0f", s[k].of[n]);
        printf("\n");
    }
    fflush(stdout);
}

static bool is_wanted(const char *name, char **list, int n) {
    for (int k = 0; k < n; k++)
        if (strcmp(list[k], name) == 0) return true;
    return n == 0;
}

static progress begin_rounds(char **list, int n) {
    size_t rows = 0;
    for (unsigned k = 0; k < KERNELS; k++)
        for (const unsigned *size = kernels[k].n; *size && is_wanted(kernels[k].name, list, n);
             size++)
            rows++;
    return progress_begin("rounds", rows * ROUNDS);
}

int main(int argc, char **argv) {
    const spvf_context_options o = {.size = sizeof o, .message = show_message};
    job j = {.context = NULL};
    spvf_module *m;
    bool launches = argc > 1 && strcmp(argv[1], "--launches") == 0;
    argc -= launches, argv += launches;
    if (argc < 2 || spvf_context_create(&o, &j.context) != SPVF_OK) return 2;
    file f = load("", argv[1]);
    if (spvf_module_load(j.context, argv[1], f.data, f.size, NULL, &m) != SPVF_OK) return 1;
    spvf_module_optimize(m, NULL);
    j.module = m->ir;
    for (unsigned k = 0; k < 3; k++) {
        j.memory[k] = aligned_alloc(64, MOST * sizeof(float));
        for (unsigned n = 0; n < MOST; n++) j.memory[k][n] = (float)(n % 97) * 0.01f;
    }
    printf("                        chosen             quick              vector\n"
           "kernel          n     first   all %u     first   all %u     first   all %u  at worst "
           "(N)\n",
           LAUNCHES, LAUNCHES, LAUNCHES);
    shown = begin_rounds(argv + 2, argc - 2);
    for (j.kernel = 0; j.kernel < KERNELS; j.kernel++)
        for (const unsigned *n = kernels[j.kernel].n;
             *n && is_wanted(kernels[j.kernel].name, argv + 2, argc - 2); n++) {
            j.n = *n;
            show(&j, launches);
        }
    progress_end(&shown);
    spvf_module_destroy(m);
    spvf_context_destroy(j.context);
    for (unsigned k = 0; k < 3; k++) free(j.memory[k]);
    free(f.data);
    return 0;
}
