/* table.c — times of ours, PoCL and loops in C, row by row, and what they come to. */
#include "tests/bench/bench.h"
#include "tests/bench/simd/bars.h"

/* ----------------------------------------------------------------------------------------- rows */

/* Whether results are right at the odd size, for each side that runs. */
static void check_odd(const session *in, const benchmark *b, bool is_right[SIDES]) {
    static side s;
    sized_row r = size_row(b, b->odd);
    for (unsigned k = 0; k < SIDES; k++) {
        begin_side(&s, in, &r, k);
        is_right[k] = s.is_right || (k != OURS && !s.runs);
        end_side(&s);
    }
    free_sized_row(&r);
}

static void measure(side sides[SIDES], unsigned rounds, row_result *out) {
    for (unsigned k = 0; k < SIDES; k++)
        if (sides[k].runs) warm_up(&sides[k]);
    for (unsigned n = 0; n < rounds; n++)
        for (unsigned k = 0; k < SIDES; k++)
            if (sides[k].runs) sample(&sides[k], n);
    for (unsigned k = 0; k < SIDES; k++) {
        if (!sides[k].runs) continue;
        out->ns[k] = middle(sides[k].cpu, rounds);
        if (!sides[OURS].runs) continue;
        out->cpu[k] = middle_ratio(sides[k].cpu, sides[OURS].cpu, rounds);
        out->wall[k] = middle_ratio(sides[k].wall, sides[OURS].wall, rounds);
    }
}

static row_result run_row(const session *in, const benchmark *b, unsigned rounds) {
    static side sides[SIDES];
    row_result out = {.row = b};
    check_odd(in, b, out.is_right);
    sized_row r = size_row(b, b->full);
    for (unsigned k = 0; k < SIDES; k++) {
        begin_side(&sides[k], in, &r, k);
        out.is_right[k] &= sides[k].is_right || (k != OURS && !sides[k].runs);
    }
    measure(sides, rounds, &out);
    for (unsigned k = 0; k < SIDES; k++) end_side(&sides[k]);
    free_sized_row(&r);
    return out;
}

static void print_number(double x, int width, int digits) {
    if (x != 0)
        printf(" %*.*f", width, digits, x);
    else
        printf(" %*s", width, "-");
}

static void print_head(const bench_options *o) {
    printf("device options: %s\n", *o->options ? o->options : "none");
    printf("%-16s %-10s   %-27s | %-13s | %-13s |\n", "", "", "ns of an item, CPU time",
           "by ours: CPU", "by ours: wall");
    printf("%-16s %-10s %9s %9s %9s | %6s %6s | %6s %6s | %s\n", "kernel", "class", "ours", "PoCL",
           "C", "PoCL", "C", "PoCL", "C", "results");
}

static void print_row(const row_result *r) {
    printf("%-16s %-10s", r->row->name, class_name(r->row->class));
    for (unsigned k = 0; k < SIDES; k++) print_number(r->ns[k], 9, 3);
    printf(" |");
    for (unsigned k = POCL; k < SIDES; k++) print_number(r->cpu[k], 6, 2);
    printf(" |");
    for (unsigned k = POCL; k < SIDES; k++) print_number(r->wall[k], 6, 2);
    printf(" | %s",
           r->is_right[OURS] && r->is_right[POCL] && r->is_right[C_LOOP] ? "ok" : "WRONG:");
    for (unsigned k = 0; k < SIDES; k++)
        if (!r->is_right[k]) printf(" %s", side_names[k]);
    putchar('\n');
    fflush(stdout);
}

/* -------------------------------------------------------------------------------------- summary */

static void print_mean(const mean_ratio *m, const char *by) {
    if (m->n)
        printf("  %s %6.2f, least %5.2f (%s, of %u)", by, mean_of(m), m->least, m->where, m->n);
}

static void print_means(const row_result *r, unsigned n, int class) {
    mean_ratio of[SIDES] = {0};
    for (unsigned k = 0; k < n; k++)
        for (unsigned s = POCL; s < SIDES; s++)
            if (class < 0 || r[k].row->class == (kernel_class) class)
                count_ratio(&of[s], r[k].row->name, r[k].cpu[s]);
    if (!of[POCL].n && !of[C_LOOP].n) return;
    printf("%-10s", class < 0 ? "all" : class_name((kernel_class) class));
    for (unsigned s = POCL; s < SIDES; s++) print_mean(&of[s], side_names[s]);
    putchar('\n');
}

static void print_summary(const row_result *r, unsigned n) {
    printf("geometric means of the ratios of CPU time\n");
    for (int class = -1; class < CLASSES; class ++) print_means(r, n, class);
}

/* ------------------------------------------------------------------------------------------ all */

enum { MOST_ROWS = 100 };

static unsigned run_theme(session *in, const bench_options *o, const theme *t, progress *p,
                          row_result *to) {
    unsigned n = 0;
    for (unsigned k = 0; k < t->n; k++) {
        if (!is_chosen(o, &t->rows[k])) continue;
        if (!n) build_programs(in, o, t);
        to[n] = run_row(in, &t->rows[k], o->rounds);
        progress_clear(p);
        print_row(&to[n++]);
        progress_step(p);
    }
    if (n) release_programs(in);
    return n;
}

bool run_table(const bench_options *o) {
    static row_result results[MOST_ROWS];
    session in = {0};
    unsigned n = 0, themes, wrong = 0;
    const theme *const *all = all_themes(&themes);
    if (!open_session(&in, o)) return false;
    print_head(o);
    progress p = begin_rows(o);
    for (unsigned t = 0; t < themes; t++) n += run_theme(&in, o, all[t], &p, results + n);
    progress_end(&p);
    print_summary(results, n);
    for (unsigned k = 0; k < n; k++) wrong += !results[k].is_right[OURS];
    bool as_shipped = !o->names && !*o->options;
    return !wrong && (!as_shipped || meets_bars(results, n));
}
