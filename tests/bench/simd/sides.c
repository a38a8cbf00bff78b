/* sides.c — what is timed: a row at one of its sizes, on one of the implementations.
 *
 * A sample is as many runs as take about SAMPLE_US.  In a round, each side is sampled once, one
 * after the other, so what else the machine does concerns all of them alike.  Ratios are taken
 * within a round.
 */
#include "tests/bench/simd/sides.h"

#include "tests/bench/bench.h"

#include <float.h>

static const double SAMPLE_US = 4000, WARM_US = 20000;
const char *const side_names[SIDES] = {"ours", "PoCL", "C"};

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
void warm_up(side *s) {
    double start = now(), least = DBL_MAX;
    for (unsigned n = 0; n < 3 || now() - start < WARM_US; n++) {
        double from = now(), took;
        run_side(s, 1);
        took = now() - from;
        if (took < least) least = took;
    }
    s->repeats = least < SAMPLE_US ? (unsigned)(SAMPLE_US / least) + 1 : 1;
    if (s->repeats > 1000) s->repeats = 1000;
}

void sample(side *s, unsigned round) {
    double work = (double)s->row->problem.work * s->repeats;
    double wall = now(), cpu = cpu_time();
    run_side(s, s->repeats);
    s->cpu[round] = (cpu_time() - cpu) * 1e3 / work;
    s->wall[round] = (now() - wall) * 1e3 / work;
}

/* ---------------------------------------------------------------------------------------- sides */

static bool check_side(const side *s, unsigned which) {
    if (s->loop) return check_loop(s->loop, s->row);
    return check_launch(&s->launch, s->row, side_names[which]);
}

void begin_side(side *s, const session *in, const sized_row *r, unsigned which) {
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

void end_side(side *s) {
    free_launch(&s->launch);
    free_arguments(&s->row->problem, &s->memory);
}

/* -------------------------------------------------------------------------------------- session */

bool open_session(session *in, const bench_options *o) {
    char options[200];
    *in = (session){0};
    snprintf(options, sizeof options, "eager%s%s", *o->options ? "," : "", o->options);
    setenv("SPVF_CPU", options, 1); /* eager: what is timed is the code of launches that repeat */
    in->exists[OURS] = open_ours(o, &in->device[OURS]);
    in->exists[POCL] = open_implementation(&in->device[POCL], "libpocl.so.2");
    return in->exists[OURS];
}

void build_programs(session *in, const bench_options *o, const theme *t) {
    for (unsigned d = 0; d < 2; d++)
        in->program[d] = in->exists[d] ? build_theme(&in->device[d], o, t, d == OURS) : NULL;
}

void release_programs(session *in) {
    for (unsigned d = 0; d < 2; d++)
        if (in->program[d]) clReleaseProgram(in->program[d]);
}
