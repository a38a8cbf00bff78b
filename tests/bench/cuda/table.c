/* table.c — the rows one by one: results are checked, each side is timed, and what the speeds come
 * to. */
#include "tests/bench/cuda/cuda.h"
#include "tests/bench/simd/ratios.h"
#include "tests/progress.h"
#include "tests/random.h"

#include <string.h>

static const double SAMPLE_US = 1500;
enum { MOST_REPEATS = 200 };

/* ----------------------------------------------------------------------------------------- rows */

typedef struct {
    const benchmark *of;
    bool runs[SIDES], is_wrong[SIDES];
    double us[SIDES][MOST_ROUNDS];
    int registers[SIDES], spilled[SIDES];
    double bytes;
} row;

/* A side whose results differ from `want` is marked, with a message. */
static void check(row *r, row_sides *s, const problem *p, unsigned k, const host_arguments *want) {
    char text[200] = "the launch failed";
    host_arguments got = copy_arguments(p);
    bool ok = run_once(s, k, p, &got) && compare_results(r->of, p, &got, want, text);
    if (!ok) fprintf(stderr, "%s, size %zu, %s: %s\n", r->of->name, p->size, side_names[k], text);
    r->is_wrong[k] |= !ok;
    free_arguments(p, &got);
}

static void check_odd(row *r, const theme_code *c) {
    static row_sides s;
    s = (row_sides){0};
    sized_row odd = size_row(r->of, r->of->odd);
    bool ok = make_gpu_buffers(&s.buffers, &odd.problem, false);
    for (unsigned k = 0; k < SIDES && ok; k++)
        if (begin_side(&s, c, r->of, k)) check(r, &s, &odd.problem, k, &odd.want);
    end_sides(&s);
    free_sized_row(&odd);
}

/* A random order, so that no side always follows the same one, which leaves it the caches and the
 * clock of the GPU as they are. */
static void shuffle(unsigned order[SIDES], uint64_t *random) {
    for (unsigned n = 0; n < SIDES; n++) {
        unsigned at = draw_below(random, n + 1);
        order[n] = order[at];
        order[at] = n;
    }
}

static void measure(row *r, row_sides *s, unsigned rounds) {
    uint64_t random = 1;
    double once = 0;
    for (unsigned k = 0; k < SIDES; k++)
        if (r->runs[k]) once = time_side(s, k, 3);
    unsigned repeats = once > 0 && once < SAMPLE_US ? (unsigned)(SAMPLE_US / once) + 1 : 1;
    if (repeats > MOST_REPEATS) repeats = MOST_REPEATS;
    for (unsigned k = 0; k < SIDES; k++)
        if (r->runs[k]) time_side(s, k, repeats);
    for (unsigned n = 0; n < rounds; n++) {
        unsigned order[SIDES];
        shuffle(order, &random);
        for (unsigned turn = 0; turn < SIDES; turn++) {
            unsigned k = order[turn];
            if (!r->runs[k]) continue;
            r->us[k][n] = time_side(s, k, repeats);
            r->is_wrong[k] |= r->us[k][n] == 0;
        }
    }
}

static void run_full(row *r, const theme_code *c, unsigned rounds) {
    static row_sides s;
    s = (row_sides){0};
    problem p = {.size = gpu_size(r->of)};
    r->of->make(&p);
    if (r->of->class != BARRIER && p.local[0] * p.local[1] < USUAL_GROUP)
        p.local[0] = USUAL_GROUP / p.local[1];
    bool ok = make_gpu_buffers(&s.buffers, &p, true);
    r->bytes = (double)s.buffers.bytes;
    for (unsigned k = 0; k < SIDES && ok; k++) {
        r->runs[k] = begin_side(&s, c, r->of, k);
        r->registers[k] = k < NVIDIA_OPENCL ? s.side[k].registers : 0;
        r->spilled[k] = k < NVIDIA_OPENCL ? s.side[k].spilled : 0;
    }
    host_arguments want = copy_arguments(&p);
    if (r->runs[NVCC_EXACT] && run_once(&s, NVCC_EXACT, &p, &want))
        for (unsigned k = 0; k < SIDES; k++)
            if (r->runs[k]) check(r, &s, &p, k, &want);
    if (ok) measure(r, &s, rounds);
    free_arguments(&p, &want);
    end_sides(&s);
    free_problem(&p);
}

/* ------------------------------------------------------------------------------------- printing */

static double ratio_of(const row *r, unsigned peer, unsigned ours, unsigned rounds) {
    if (!r->runs[peer] || !r->runs[ours] || r->is_wrong[peer] || r->is_wrong[ours]) return 0;
    return middle_ratio(r->us[peer], r->us[ours], rounds);
}

static progress shown; /* of rows */

static void print_row(const row *r, unsigned rounds) {
    printf("%-17s", r->of->name);
    for (unsigned k = 0; k < SIDES; k++)
        if (r->runs[k])
            printf(" %9.1f", middle(r->us[k], rounds));
        else
            printf(" %9s", "-");
    printf(" |");
    for (unsigned k = NVCC; k < SIDES; k++) printf(" %6.2f", ratio_of(r, k, OURS, rounds));
    printf(" | %3d %3d %3d | %d %d |", r->registers[OURS_PLAIN], r->registers[OURS],
           r->registers[NVCC], r->spilled[OURS], r->spilled[NVCC]);
    for (unsigned k = 0; k < SIDES; k++)
        if (r->is_wrong[k]) printf(" %s is WRONG", side_names[k]);
    putchar('\n');
    fflush(stdout);
}

static void print_json(FILE *f, const row *r, unsigned rounds) {
    fprintf(f, "{\"name\": \"%s\", \"bytes\": %.0f", r->of->name, r->bytes);
    for (unsigned k = 0; k < SIDES; k++) {
        if (!r->runs[k]) continue;
        fprintf(f, ", \"%s\": [", side_names[k]);
        for (unsigned n = 0; n < rounds; n++) fprintf(f, "%s%.3f", n ? ", " : "", r->us[k][n]);
        fprintf(f, "]");
    }
    fprintf(f, "}\n");
}

static void print_means(const mean_ratio means[SIDES]) {
    for (unsigned k = 0; k < SIDES; k++)
        if (means[k].n && k != OURS)
            printf("speed of ours by %-7s geometric mean %5.2f of %u rows, least %5.2f (%s)\n",
                   side_names[k], mean_of(&means[k]), means[k].n, means[k].least, means[k].where);
}

/* ------------------------------------------------------------------------------------------ all */

static bool is_asked_for(const cuda_options *o, const benchmark *b) {
    if (!gpu_size(b)) return false;
    for (char **name = o->only; *name; name++)
        if (strcmp(*name, b->name) == 0) return true;
    return !*o->only;
}

static void run_row(const cuda_options *o, const theme_code *c, const benchmark *b,
                    mean_ratio means[SIDES], unsigned *wrong) {
    static row r;
    r = (row){.of = b};
    check_odd(&r, c);
    run_full(&r, c, o->rounds);
    progress_clear(&shown);
    print_row(&r, o->rounds);
    if (o->json) print_json(o->json, &r, o->rounds);
    *wrong += r.is_wrong[OURS_PLAIN] || r.is_wrong[OURS] || !r.runs[OURS];
    for (unsigned k = 0; k < SIDES; k++)
        count_ratio(&means[k], r.of->name, ratio_of(&r, k, OURS, o->rounds));
}

/* What a copy within the GPU's memory moves, reads and writes together. */
static double copy_speed(void) {
    enum { BYTES = 1 << 28, TIMES = 20 };
    gpu_address a = gpu_allocate(BYTES), b = gpu_allocate(BYTES);
    gpu_copy(a, b, BYTES);
    gpu_begin_time();
    for (int n = 0; n < TIMES; n++) gpu_copy(a, b, BYTES);
    double us = gpu_end_time() / (double)TIMES;
    gpu_release(a);
    gpu_release(b);
    return 2 * (double)BYTES / us / 1e3;
}

static progress begin_asked(const cuda_options *o, const theme *const *themes, unsigned n) {
    size_t rows = 0;
    for (unsigned t = 0; t < n; t++)
        for (unsigned k = 0; k < themes[t]->n; k++) rows += is_asked_for(o, &themes[t]->rows[k]);
    return progress_begin("rows", rows);
}

unsigned run_cuda_table(const cuda_options *o) {
    mean_ratio means[SIDES] = {0};
    unsigned n, wrong = 0;
    const theme *const *themes = all_themes(&n);
    theme_code c = {.build = o->build};
    open_opencl(&c.opencl);
    printf("%s, sm_%u, copies move %.0f GB/s\n", gpu_name(), gpu_sm(), copy_speed());
    printf("%-17s %49s | %20s | %11s | spilled\n", "", "microseconds of a launch",
           "speed of ours by", "registers");
    printf("%-17s %9s %9s %9s %9s %9s | nvcc  exact OpenCL |\n", "kernel", "plain", "ours", "nvcc",
           "exact", "OpenCL");
    shown = begin_asked(o, themes, n);
    for (unsigned t = 0; t < n; t++) {
        bool loaded = false;
        for (unsigned k = 0; k < themes[t]->n; k++) {
            if (!is_asked_for(o, &themes[t]->rows[k])) continue;
            if (!loaded) load_theme(&c, themes[t]);
            loaded = true;
            run_row(o, &c, &themes[t]->rows[k], means, &wrong);
            progress_step(&shown);
        }
        if (loaded) unload_theme(&c);
    }
    progress_end(&shown);
    print_means(means);
    return wrong;
}
