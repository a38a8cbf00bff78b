/* first.c — first launches: what the code that device cpu chooses for them costs, next to the same
 * choice without another thread (option waiting), to code that is always made quickly and to vector
 * code.
 *
 *   first [--large] [--launches] FIRST.spv [KERNEL ...]
 *
 * Each kernel is launched LAUNCHES times, or for longest_us, in a device of its own, with each of
 * the four kinds of code by turns.  The table has microseconds of the first launch and of the first
 * FEW, as in the fastest quarter of the rounds; and, for the first two kinds, the largest ratio of
 * the sum of the first N launches to that of the better one of the other two, for N up to LAUNCHES.
 * --launches prints the first sums, too.  --large also takes sizes whose code is never made quickly.
 */
#include "runtime/devices/device.h"
#include "tests/bench/bench.h"

enum { LAUNCHES = 1000, FEW = 20, ROUNDS = 16, ARGS = 7, MOST = 1 << 22 };
static const double longest_us = 20000;

typedef enum { CHOSEN, WAITING, QUICK, VECTOR, KINDS } kind;
static const char *const devices[KINDS] = {"cpu", "cpu:waiting", "cpu:quick", "cpu:untiered"};

/* A range of n or n × n items; from a 0 on, sizes that are large. */
static const struct {
    const char *name;
    unsigned dims, local;
    unsigned n[8];
} kernels[] = {{"vadd", 1, 0, {64, 1024, 8192, 0, 65536, 1 << 20}},
               {"waves", 1, 0, {64, 1024, 8192, 0, 65536}},
               {"stencil", 2, 0, {16, 64, 256, 0, 1024}},
               {"escape", 2, 0, {8, 16, 32, 0, 64, 256}},
               {"bodies", 1, 0, {64, 256, 0, 1024, 4096}},
               {"matmul", 2, 0, {16, 32, 64, 0, 128, 256}},
               {"total", 1, 256, {256, 4096, 65536, 0, 1 << 20}},
               {"tiled", 2, 16, {16, 32, 64, 0, 128, 256, 512}}};
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
    double sum = 0, last = 0;
    for (unsigned k = 0; k < LAUNCHES; k++) {
        double start = now();
        if (k < FEW || sum < longest_us)
            rt_device_launch(d, &l);
        else
            start -= last; /* as long as the fastest of the last ones */
        sum += j->us[k] = now() - start;
        if (k % FEW == 0 || j->us[k] < last) last = j->us[k];
    }
    rt_device_close(d);
}

/* Of the first launches. */
typedef struct {
    double of[LAUNCHES];
} sums;

static progress shown; /* of rounds of all rows */

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Which launch is late differs from round to round, so sums are compared, not launches. */
static void choose_sums(double (*of)[ROUNDS], sums *out) {
    for (unsigned k = 0; k < LAUNCHES; k++) {
        qsort(of[k], ROUNDS, sizeof of[k][0], compare);
        out->of[k] = of[k][ROUNDS / 4];
    }
}

static void time_kinds(job *j, sums out[KINDS]) {
    static double of[KINDS][LAUNCHES][ROUNDS];
    for (unsigned r = 0; r < ROUNDS; r++, progress_step(&shown))
        for (unsigned turn = 0; turn < KINDS; turn++) {
            double sum = 0;
            /* What one has freed, the next one finds, or has to ask the system for. */
            j->kind = (kind)((turn + r) % KINDS);
            if (rt_guard(j->context, run_launches, j) != SPVF_OK) exit(1);
            for (unsigned k = 0; k < LAUNCHES; k++) of[j->kind][k][r] = sum += j->us[k];
        }
    for (kind k = CHOSEN; k < KINDS; k++) choose_sums(of[k], &out[k]);
}

static double worst_of(const sums *s, kind k, unsigned *at) {
    double worst = 0;
    for (unsigned n = 0; n < LAUNCHES; n++) {
        double q = s[QUICK].of[n], v = s[VECTOR].of[n];
        double ratio = s[k].of[n] / (q < v ? q : v);
        if (ratio > worst) worst = ratio, *at = n + 1;
    }
    return worst;
}

static void show(job *j, bool launches) {
    sums s[KINDS];
    time_kinds(j, s);
    progress_clear(&shown);
    printf("%-8s %8u", kernels[j->kernel].name, j->n);
    for (kind k = CHOSEN; k < KINDS; k++) printf("  %6.0f %7.0f", s[k].of[0], s[k].of[FEW - 1]);
    for (kind k = CHOSEN; k <= WAITING; k++) {
        unsigned at = 0;
        double worst = worst_of(s, k, &at);
        printf("  %5.2f (%u)", worst, at);
    }
    printf("\n");
    for (kind k = CHOSEN; launches && k < KINDS; k++) {
        for (unsigned n = 0; n < FEW; n++) printf(" %7.0f", s[k].of[n]);
        printf("\n");
    }
    fflush(stdout);
}

/* How many sizes of a kernel are taken; after those that are not large there is a 0. */
static size_t count_sizes(unsigned kernel, bool large) {
    size_t n = 0;
    for (unsigned zeros = 0, k = 0; zeros <= large; k++) {
        zeros += kernels[kernel].n[k] == 0;
        n += kernels[kernel].n[k] != 0;
    }
    return n;
}

static void show_kernel(job *j, bool large, bool launches) {
    const unsigned *size = kernels[j->kernel].n;
    for (size_t n = count_sizes(j->kernel, large); n > 0; size++) {
        j->n = *size;
        if (!*size) continue;
        show(j, launches);
        n--;
    }
}

static bool is_wanted(const char *name, char **list, int n) {
    for (int k = 0; k < n; k++)
        if (strcmp(list[k], name) == 0) return true;
    return n == 0;
}

static progress begin_rounds(bool large, char **list, int n) {
    size_t rows = 0;
    for (unsigned k = 0; k < KERNELS; k++)
        if (is_wanted(kernels[k].name, list, n)) rows += count_sizes(k, large);
    return progress_begin("rounds", rows * ROUNDS);
}

int main(int argc, char **argv) {
    const spvf_context_options o = {.size = sizeof o, .message = show_message};
    job j = {.context = NULL};
    spvf_module *m;
    bool large = argc > 1 && strcmp(argv[1], "--large") == 0;
    argc -= large, argv += large;
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
    printf(
        "                      chosen          waiting            quick           vector        at "
        "worst (N)\nkernel          n ");
    for (kind k = CHOSEN; k < KINDS; k++) printf("  first  all %u ", FEW);
    printf("  chosen  waiting\n");
    shown = begin_rounds(large, argv + 2, argc - 2);
    for (j.kernel = 0; j.kernel < KERNELS; j.kernel++)
        if (is_wanted(kernels[j.kernel].name, argv + 2, argc - 2)) show_kernel(&j, large, launches);
    progress_end(&shown);
    spvf_module_destroy(m);
    spvf_context_destroy(j.context);
    for (unsigned k = 0; k < 3; k++) free(j.memory[k]);
    free(f.data);
    return 0;
}
