/* subgroups.c — kernels whose items exchange values within blocks of 16 or 32: in sub-groups that are
 * as large, compared with the same kernels in sub-groups of one, where local memory has to do it, in
 * the same round.
 *
 * Sub-groups are worth their name where each kernel is at least LEAST times as fast.
 */
#include "tests/bench/bench.h"
#include "tests/bench/simd/simd.h"

#include <string.h>

enum { GROUP = 256, ITEMS = 1 << 18, MOST_BLOCK = 32 };
static const size_t blocks[] = {16, MOST_BLOCK};
enum { BLOCKS = sizeof blocks / sizeof *blocks };
static const double LEAST = 3;

/* ----------------------------------------------------------------------------------------- rows */

/* The size of a problem is that of blocks. */
static void begin(problem *p) {
    set_range(p, ITEMS, GROUP);
    add_int(p, p->size);
}

static void make_shares(problem *p) {
    begin(p);
    add_floats(p, ITEMS, 0.5, 1);
    add_result(p, TYPE_F32, ITEMS);
    add_local(p, TYPE_U32, GROUP);
}

static void want_shares(const size_t items[2], void *const *arguments) {
    const size_t block = *(uint32_t *)arguments[0];
    const float *x = arguments[1];
    float *out = arguments[2];
    for (size_t at = 0; at < items[0]; at += block) {
        double sum = 0;
        for (size_t i = at; i < at + block; i++) sum += (double)x[i];
        for (size_t i = at; i < at + block; i++) out[i] = (float)((double)x[i] / sum);
    }
}

static void make_words(problem *p) {
    begin(p);
    add_words(p, ITEMS, 1000);
    add_result(p, TYPE_U32, ITEMS);
    add_local(p, TYPE_U32, GROUP);
}

static void want_scan(const size_t items[2], void *const *arguments) {
    const uint32_t block = *(uint32_t *)arguments[0], *x = arguments[1];
    uint32_t *out = arguments[2], sum = 0;
    for (size_t i = 0; i < items[0]; i++) out[i] = sum = i % block ? sum + x[i] : x[i];
}

static void want_mix(const size_t items[2], void *const *arguments) {
    const size_t block = *(uint32_t *)arguments[0];
    const uint32_t *x = arguments[1];
    uint32_t *out = arguments[2];
    for (size_t at = 0; at < items[0]; at += block) {
        uint32_t v[MOST_BLOCK], next[MOST_BLOCK];
        memcpy(v, x + at, block * sizeof *v);
        for (size_t bit = 1; bit < block; bit *= 2) {
            for (size_t k = 0; k < block; k++)
                next[k] = (v[k] << 5 | v[k] >> 27) ^ (v[k ^ bit] * 0x9e3779b1u);
            memcpy(v, next, sizeof v);
        }
        memcpy(out + at, v, block * sizeof *v);
    }
}

static void want_partition(const size_t items[2], void *const *arguments) {
    const size_t block = *(uint32_t *)arguments[0];
    const uint32_t *x = arguments[1];
    uint32_t *out = arguments[2];
    for (size_t at = 0; at < items[0]; at += block) {
        size_t to = at;
        for (int large = 0; large < 2; large++)
            for (size_t i = at; i < at + block; i++)
                if ((x[i] >= 500) == large) out[to++] = x[i];
    }
}

/* In the file, the name of a kernel is followed by the sizes of blocks and of sub-groups. */
static const benchmark rows[] = {
    {"shares", "shares", BARRIER, .make = make_shares, .reference = want_shares, .tolerance = 1e-5},
    {"scan", "scan", BARRIER, .make = make_words, .reference = want_scan},
    {"mix", "mix", BARRIER, .make = make_words, .reference = want_mix},
    {"partition", "partition", BARRIER, .make = make_words, .reference = want_partition},
};
enum { ROWS = sizeof rows / sizeof *rows };
static const theme subgroups_theme = {"subgroups", rows, ROWS};

/* ------------------------------------------------------------------------------------ measuring */

/* A kernel with blocks of one size. */
typedef struct {
    sized_row row;
    launch ones, blocks; /* sub-groups of one, and as large as blocks */
    double ns[MOST_ROUNDS], gain[MOST_ROUNDS];
} pair;

static bool open_side(const implementation *d, cl_program program, pair *p, size_t size,
                      launch *out) {
    char name[40];
    benchmark b = *p->row.row;
    snprintf(name, sizeof name, "%s%zu_%zu", b.kernel, p->row.problem.size, size);
    b.kernel = name;
    return prepare_launch(out, d, program, &b, &p->row.problem) && check_launch(out, &p->row, name);
}

static bool open_pair(const implementation *d, cl_program program, const benchmark *b, size_t block,
                      pair *p) {
    p->row = size_row(b, block);
    bool ok = open_side(d, program, p, 1, &p->ones);
    return open_side(d, program, p, block, &p->blocks) && ok;
}

static void close_pair(pair *p) {
    free_launch(&p->ones);
    free_launch(&p->blocks);
    free_sized_row(&p->row);
}

static void measure(pair *p, unsigned rounds) {
    for (unsigned n = 0; n < rounds; n++) {
        p->ns[n] = time_item(&p->blocks, &p->row.problem);
        p->gain[n] = time_item(&p->ones, &p->row.problem) / p->ns[n];
    }
}

/* True: it gains enough. */
static bool print_pair(pair *p, unsigned rounds) {
    double gain = median(p->gain, rounds);
    printf("%-10s %5zu %9.3f ns %6.2f%s\n", p->row.row->name, p->row.problem.size,
           median(p->ns, rounds), gain, gain < LEAST ? "!" : "");
    return gain >= LEAST;
}

/* ------------------------------------------------------------------------------------------ all */

/* rounds 0: only whether the results are right. */
static bool run_pairs(const implementation *d, const bench_options *o, unsigned rounds) {
    static pair p;
    unsigned wrong = 0, below = 0;
    cl_program program = build_theme(d, o, &subgroups_theme, true);
    for (unsigned n = 0; n < ROWS * BLOCKS; n++) {
        bool ok = open_pair(d, program, &rows[n / BLOCKS], blocks[n % BLOCKS], &p);
        if (ok && rounds) measure(&p, rounds);
        if (ok && rounds) below += !print_pair(&p, rounds);
        wrong += !ok;
        close_pair(&p);
    }
    if (program) clReleaseProgram(program);
    if (below) printf("%u are below %.0f\n", below, LEAST);
    return !wrong && !below;
}

bool check_subgroups(const implementation *d, const bench_options *o) { return run_pairs(d, o, 0); }

bool run_subgroups(const bench_options *o) {
    implementation d;
    char options[200];
    snprintf(options, sizeof options, "eager%s%s", *o->options ? "," : "", o->options);
    setenv("SPVF_CPU", options, 1);
    if (!open_ours(o, &d)) return false;
    printf("%-10s %5s %12s %s\n", "CPU time", "items", "an item",
           "times as fast as in sub-groups of 1");
    return run_pairs(&d, o, o->rounds);
}
