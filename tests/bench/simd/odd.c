/* odd.c — each kernel once more at an odd size, one below the size of the table: how much faster ours
 * is than PoCL at both, and whether it is less at the odd one.
 *
 * The four sides of a row, two sizes on two implementations, are sampled in the same rounds.  Each
 * size has a program of its own: code that is made for the sizes of one would be made again.  Sizes
 * with a remainder for every number of lanes cost what masks and scalar loops for the last items
 * cost, rows that do not begin at lines of the cache, and groups that are not whole; PoCL has most
 * of that, too.
 */
#include "tests/bench/simd/ratios.h"
#include "tests/bench/simd/sides.h"

#include <math.h>
#include <stdio.h>

enum { EVEN, ODD };
static const double LEAST = 0.9; /* of the ratio at the even size */

typedef struct {
    sized_row row[2];
    side side[2][2]; /* by size and implementation */
} sized_sides;

typedef struct {
    double sum; /* of logarithms of ratios between the sizes */
    unsigned n, less, wrong;
    progress progress;
} totals;

static bool is_complete(const sized_sides *s) {
    return s->side[EVEN][POCL].runs && s->side[ODD][POCL].runs;
}

static void measure(sized_sides *s, unsigned rounds) {
    for (unsigned k = 0; k < 4; k++)
        if (s->side[k / 2][k % 2].runs) warm_up(&s->side[k / 2][k % 2]);
    for (unsigned n = 0; n < rounds; n++)
        for (unsigned k = 0; k < 4; k++)
            if (s->side[k / 2][k % 2].runs) sample(&s->side[k / 2][k % 2], n);
}

static void report(const benchmark *b, const sized_sides *s, unsigned rounds, totals *t) {
    double ratio[2] = {0}, ns[2];
    bool right = s->side[EVEN][OURS].is_right && s->side[ODD][OURS].is_right;
    for (unsigned k = 0; k < 2; k++) {
        ns[k] = middle(s->side[k][OURS].cpu, rounds);
        if (is_complete(s))
            ratio[k] = middle_ratio(s->side[k][POCL].cpu, s->side[k][OURS].cpu, rounds);
    }
    bool less = is_complete(s) && ratio[ODD] < LEAST * ratio[EVEN];
    printf("%-16s %-10s %9zu %9.3f %9.3f %6.2f | %7.2f %7.2f %6.2f %s%s\n", b->name,
           class_name(b->class), s->row[ODD].problem.size, ns[EVEN], ns[ODD], ns[ODD] / ns[EVEN],
           ratio[EVEN], ratio[ODD], is_complete(s) ? ratio[ODD] / ratio[EVEN] : 0.0,
           less ? "less" : "", right ? "" : " WRONG");
    fflush(stdout);
    t->wrong += !right;
    t->less += less;
    if (!is_complete(s)) return;
    t->sum += log(ratio[ODD] / ratio[EVEN]);
    t->n++;
}

static void run_row(const session in[2], const benchmark *b, unsigned rounds, totals *t) {
    static sized_sides s;
    for (unsigned k = 0; k < 2; k++) {
        s.row[k] = size_row(b, b->full - (k == ODD));
        for (unsigned d = 0; d < 2; d++) begin_side(&s.side[k][d], &in[k], &s.row[k], d);
    }
    measure(&s, rounds);
    progress_clear(&t->progress);
    report(b, &s, rounds, t);
    progress_step(&t->progress);
    for (unsigned k = 0; k < 4; k++) end_side(&s.side[k / 2][k % 2]);
    for (unsigned k = 0; k < 2; k++) free_sized_row(&s.row[k]);
}

static void run_theme(session in[2], const bench_options *o, const theme *t, totals *sum) {
    bool any = false;
    for (unsigned k = 0; k < t->n; k++) {
        if (!is_chosen(o, &t->rows[k])) continue;
        for (unsigned n = 0; n < 2 && !any; n++) build_programs(&in[n], o, t);
        any = true;
        run_row(in, &t->rows[k], o->rounds, sum);
    }
    for (unsigned n = 0; n < 2 && any; n++) release_programs(&in[n]);
}

bool run_odd(const bench_options *o) {
    session in[2];
    totals sum = {0};
    unsigned themes;
    const theme *const *all = all_themes(&themes);
    if (!open_session(&in[EVEN], o)) return false;
    in[ODD] = in[EVEN];
    printf("%-16s %-10s %9s %9s %9s %6s | %7s %7s %6s\n", "", "", "", "ours, ns", "", "odd by",
           "PoCL by", "ours", "odd by");
    printf("%-16s %-10s %9s %9s %9s %6s | %7s %7s %6s\n", "kernel", "class", "odd size", "even",
           "odd", "even", "even", "odd", "even");
    sum.progress = begin_rows(o);
    for (unsigned t = 0; t < themes; t++) run_theme(in, o, all[t], &sum);
    progress_end(&sum.progress);
    if (sum.n)
        printf("geometric mean of the ratios, odd by even: %.2f of %u; %u below %.1f\n",
               exp(sum.sum / sum.n), sum.n, sum.less, LEAST);
    return !sum.wrong;
}
