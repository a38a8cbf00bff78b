/* table.c — times of ours, PoCL and loops in C, row by row, and what they come to.
 *
 * A sample is as many runs as take about SAMPLE_US.  In a round, each side is sampled once, one
 * after the other, so what else the machine does concerns all of them alike.  Ratios are taken
 * within a round.
 */
#include "tests/bench/bench.h"
#include "tests/bench/simd/simd.h"

#include <math.h>

enum { OURS, POCL, C_LOOP, SIDES };
static const double SAMPLE_US = 4000, WARM_US = 20000;
static const char *const side_names[SIDES] = {"ours", "PoCL", "C"};

typedef struct {
    launch launch;         /* of an implementation of OpenCL */
    host_loop *loop;       /* in C; otherwise NULL */
    host_arguments memory; /* of the loop */
    const sized_row *row;
    bool runs, is_right;
    unsigned repeats;                           /* in a sample */
    double cpu[MOST_ROUNDS], wall[MOST_ROUNDS]; /* of a work-item, nanoseconds */
} side;

typedef struct {
    implementation device[2];
    bool exists[2];
    cl_program program[2];
} session;

/* ------------------------------------------------------------------------------------ measuring */

/* Microseconds of all threads of the process. */
static double cpu_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void run_side(const side *s, unsigned times) {
    for (unsigned n = 0; n < times; n++)
        if (s->loop)
            s->loop(s->row->problem.items, s->memory.at);
        else
            run_launch(&s->launch);
    if (!s->loop) clFinish(s->launch.on->queue);
}

/* Runs it until its code and memory are as they will be, then counts the runs of a sample. */
static void warm_up(side *s) {
    double start = now(), last = 0;
    for (unsigned n = 0; n < 3 || now() - start < WARM_US; n++) {
        double from = now();
        run_side(s, 1);
        last = now() - from;
    }
    s->repeats = last < SAMPLE_US ? (unsigned)(SAMPLE_US / last) + 1 : 1;
    if (s->repeats > 1000) s->repeats = 1000;
}

static void sample(side *s, unsigned round) {
    double work = (double)s->row->problem.work * s->repeats;
    double wall = now(), cpu = cpu_time();
    run_side(s, s->repeats);
    s->cpu[round] = (cpu_time() - cpu) * 1e3 / work;
    s->wall[round] = (now() - wall) * 1e3 / work;
}

static double middle(const double *v, unsigned n) {
    double copy[MOST_ROUNDS];
    memcpy(copy, v, n * sizeof *v);
    return median(copy, n);
}

static double middle_ratio(const double *a, const double *b, unsigned n) {
    double v[MOST_ROUNDS];
    for (unsigned k = 0; k < n; k++) v[k] = a[k] / b[k];
    return median(v, n);
}

/* ---------------------------------------------------------------------------------------- sides */

static bool check_side(const side *s, unsigned which) {
    if (s->loop) return check_loop(s->loop, s->row);
    return check_launch(&s->launch, s->row, side_names[which]);
}

static void begin_side(side *s, const session *in, const sized_row *r, unsigned which) {
    *s = (side){.row = r};
    if (which == C_LOOP) {
        s->loop = r->row->peer;
        s->runs = s->loop;
        s->memory = copy_arguments(&r->problem);
    } else {
        s->runs = in->exists[which] && prepare_launch(&s->launch, &in->device[which],
                                                      in->program[which], r->row, &r->problem);
    }
    s->is_right = s->runs && check_side(s, which);
}

static void end_side(side *s) {
    free_launch(&s->launch);
    free_arguments(&s->row->problem, &s->memory);
}

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

/* ----------------------------------------------------------------------------------------- rows */

/* What is known of a row: nanoseconds of an item, and ratios to ours in CPU and wall time; 0: it is
 * not known. */
typedef struct {
    const benchmark *row;
    double ns[SIDES], cpu[SIDES], wall[SIDES];
    bool is_right[SIDES];
} result;

static void measure(side sides[SIDES], unsigned rounds, result *out) {
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

static result run_row(const session *in, const benchmark *b, unsigned rounds) {
    static side sides[SIDES];
    result out = {.row = b};
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
    if (x)
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

static void print_row(const result *r) {
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

typedef struct {
    double logs, least;
    const char *where; /* the least is */
    unsigned n;
} mean;

static void count(mean *m, const char *name, double ratio) {
    if (!ratio) return;
    if (!m->n || ratio < m->least) m->least = ratio, m->where = name;
    m->logs += log(ratio);
    m->n++;
}

static void print_mean(const mean *m, const char *by) {
    if (m->n)
        printf("  %s %6.2f, least %5.2f (%s, of %u)", by, exp(m->logs / m->n), m->least, m->where,
               m->n);
}

static void print_means(const result *r, unsigned n, int class) {
    mean of[SIDES] = {0};
    for (unsigned k = 0; k < n; k++)
        for (unsigned s = POCL; s < SIDES; s++)
            if (class < 0 || r[k].row->class == (kernel_class) class)
                count(&of[s], r[k].row->name, r[k].cpu[s]);
    if (!of[POCL].n && !of[C_LOOP].n) return;
    printf("%-10s", class < 0 ? "all" : class_name((kernel_class) class));
    for (unsigned s = POCL; s < SIDES; s++) print_mean(&of[s], side_names[s]);
    putchar('\n');
}

static void print_summary(const result *r, unsigned n) {
    printf("geometric means of the ratios of CPU time\n");
    for (int class = -1; class < CLASSES; class ++) print_means(r, n, class);
}

/* ------------------------------------------------------------------------------------------ all */

enum { MOST_ROWS = 100 };

static unsigned run_theme(session *in, const bench_options *o, const theme *t, result *to) {
    unsigned n = 0;
    for (unsigned k = 0; k < t->n; k++) {
        if (!is_chosen(o, &t->rows[k])) continue;
        for (unsigned d = 0; d < 2 && !n; d++)
            in->program[d] = in->exists[d] ? build_theme(&in->device[d], o, t, d == OURS) : NULL;
        to[n] = run_row(in, &t->rows[k], o->rounds);
        print_row(&to[n++]);
    }
    for (unsigned d = 0; d < 2 && n; d++)
        if (in->program[d]) clReleaseProgram(in->program[d]);
    return n;
}

bool run_table(const bench_options *o) {
    static result results[MOST_ROWS];
    session in = {0};
    unsigned n = 0, themes, wrong = 0;
    const theme *const *all = all_themes(&themes);
    char options[200];
    snprintf(options, sizeof options, "eager%s%s", *o->options ? "," : "", o->options);
    setenv("SPVF_CPU", options, 1); /* eager: what is timed is the code of launches that repeat */
    in.exists[OURS] = open_ours(o, &in.device[OURS]);
    in.exists[POCL] = open_implementation(&in.device[POCL], "libpocl.so.2");
    if (!in.exists[OURS]) return false;
    print_head(o);
    for (unsigned t = 0; t < themes; t++) n += run_theme(&in, o, all[t], results + n);
    print_summary(results, n);
    for (unsigned k = 0; k < n; k++) wrong += !results[k].is_right[OURS];
    return !wrong;
}
