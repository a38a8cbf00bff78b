/* local.c — the same work in work-groups of different sizes: what an item costs, compared with
 * groups of 64 in the same round, and whether the results are right.
 *
 * A kernel that cannot tell its groups should not care (LEAST_ALIKE).  With barriers, each group has
 * loops to begin and to end, and lanes that remain, so small groups cost more (WITH_BARRIERS).
 */
#include "tests/bench/bench.h"
#include "tests/bench/simd/simd.h"

enum { ITEMS = 1 << 18, USUAL = 64, LEAST_WITH_BARRIERS = 32 };
static const size_t local_sizes[] = {USUAL, 1, 3, 7, 37, 48, 96, 100};
enum { SIZES = sizeof local_sizes / sizeof *local_sizes };
static const double ALIKE = 1.15, WITH_BARRIERS = 1.6;

/* ----------------------------------------------------------------------------------------- rows */

static void begin(problem *p) {
    const size_t items = ITEMS / p->size * p->size;
    set_range(p, items, p->size);
    add_int(p, p->size);
}

static void make_axpy(problem *p) {
    begin(p);
    add_int(p, p->items[0] - 5);
    add_floats(p, p->items[0], -1, 1);
    add_floats(p, p->items[0], -1, 1);
    add_result(p, TYPE_F32, p->items[0]);
}

static void want_axpy(const size_t items[2], void *const *arguments) {
    const float *x = arguments[2], *y = arguments[3];
    float *out = arguments[4];
    for (size_t i = 0; i + 5 < items[0]; i++) out[i] = (float)(0.75 * (double)x[i] + (double)y[i]);
}

static void make_series(problem *p) {
    begin(p);
    add_int(p, p->items[0] - 5);
    add_floats(p, p->items[0], -1, 1);
    add_result(p, TYPE_F32, p->items[0]);
}

static void want_series(const size_t items[2], void *const *arguments) {
    const float *x = arguments[2];
    float *out = arguments[3];
    for (size_t i = 0; i + 5 < items[0]; i++) {
        double sum = 1;
        for (int k = 0; k < 12; k++) sum = sum * (double)x[i] * 0.5 + 1;
        out[i] = (float)sum;
    }
}

static void make_group(problem *p) {
    begin(p);
    add_floats(p, p->items[0], 0.5, 1);
    add_result(p, TYPE_F32, p->items[0]);
    add_local(p, TYPE_F32, p->size);
}

static void want_turn(const size_t items[2], void *const *arguments) {
    const size_t n = *(uint32_t *)arguments[0];
    const float *x = arguments[1];
    float *out = arguments[2];
    for (size_t i = 0; i < items[0]; i++)
        out[i] = (float)((double)x[i / n * n + n - 1 - i % n] - 0.5 * (double)x[i]);
}

static void want_shares(const size_t items[2], void *const *arguments) {
    const size_t n = *(uint32_t *)arguments[0];
    const float *x = arguments[1];
    float *out = arguments[2];
    for (size_t at = 0; at < items[0]; at += n) {
        double sum = 0;
        for (size_t i = at; i < at + n; i++) sum += (double)x[i];
        for (size_t i = at; i < at + n; i++) out[i] = (float)((double)x[i] / sum);
    }
}

static const benchmark rows[] = {
    {"axpy", "axpy", STREAMING, .make = make_axpy, .reference = want_axpy, .tolerance = 1e-6},
    {"series", "series", OTHER, .make = make_series, .reference = want_series, .tolerance = 1e-5},
    {"turn", "turn", BARRIER, .make = make_group, .reference = want_turn, .tolerance = 1e-6},
    {"shares", "shares", BARRIER, .make = make_group, .reference = want_shares, .tolerance = 1e-5},
};
enum { ROWS = sizeof rows / sizeof *rows };
static const theme local_theme = {"local", rows, ROWS};

/* ------------------------------------------------------------------------------------ measuring */

typedef struct {
    sized_row row;
    launch launch;
    double ns[MOST_ROUNDS], by_usual[MOST_ROUNDS];
} sized;

static bool open_row(const implementation *d, cl_program program, const benchmark *b, sized *s) {
    bool ok = true;
    for (unsigned k = 0; k < SIZES; k++) {
        s[k].row = size_row(b, local_sizes[k]);
        ok = prepare_launch(&s[k].launch, d, program, b, &s[k].row.problem) &&
             check_launch(&s[k].launch, &s[k].row, "ours") && ok;
    }
    return ok;
}

static void close_row(sized *s) {
    for (unsigned k = 0; k < SIZES; k++) {
        free_launch(&s[k].launch);
        free_sized_row(&s[k].row);
    }
}

static void measure(sized *s, unsigned rounds) {
    for (unsigned n = 0; n < rounds; n++)
        for (unsigned k = 0; k < SIZES; k++) {
            s[k].ns[n] = time_item(&s[k].launch, &s[k].row.problem);
            s[k].by_usual[n] = s[k].ns[n] / s[0].ns[n];
        }
}

/* How many sizes cost more than they should. */
static unsigned print_row(const benchmark *b, sized *s, unsigned rounds) {
    unsigned above = 0;
    printf("%-8s", b->name);
    for (unsigned k = 0; k < SIZES; k++) {
        double ratio = median(s[k].by_usual, rounds);
        bool counts = b->class != BARRIER || local_sizes[k] >= LEAST_WITH_BARRIERS;
        bool is_above = counts && ratio > (b->class == BARRIER ? WITH_BARRIERS : ALIKE);
        if (k)
            printf(" %6.2f%s", ratio, is_above ? "!" : " ");
        else
            printf(" %7.3f ns", median(s[k].ns, rounds));
        above += is_above;
    }
    putchar('\n');
    return above;
}

/* ------------------------------------------------------------------------------------------ all */

static bool run_rows(const implementation *d, const bench_options *o, unsigned rounds) {
    static sized sizes[SIZES];
    unsigned wrong = 0, above = 0;
    cl_program program = build_theme(d, o, &local_theme, true);
    for (unsigned n = 0; n < ROWS; n++) {
        bool ok = open_row(d, program, &rows[n], sizes);
        if (ok && rounds) measure(sizes, rounds);
        if (ok && rounds) above += print_row(&rows[n], sizes, rounds);
        wrong += !ok;
        close_row(sizes);
    }
    if (program) clReleaseProgram(program);
    if (above) printf("%u are above %.2f, or %.2f with barriers\n", above, ALIKE, WITH_BARRIERS);
    return !wrong && !above;
}

bool check_local_sizes(const implementation *d, const bench_options *o) {
    return run_rows(d, o, 0);
}

bool run_local_sizes(const bench_options *o) {
    implementation d;
    char options[200];
    snprintf(options, sizeof options, "eager%s%s", *o->options ? "," : "", o->options);
    setenv("SPVF_CPU", options, 1);
    if (!open_ours(o, &d)) return false;
    printf("%-8s %10s", "CPU time", "64");
    for (unsigned k = 1; k < SIZES; k++) printf(" %6zu ", local_sizes[k]);
    puts("(by that of 64)");
    return run_rows(&d, o, o->rounds);
}
