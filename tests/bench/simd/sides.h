/* sides.h — what table.c and odd.c share: a row at one of its sizes, on one of the implementations, is
 * warmed up and timed in rounds. */
#ifndef TESTS_BENCH_SIDES_H
#define TESTS_BENCH_SIDES_H

#include "tests/bench/simd/simd.h"

enum { OURS, POCL, C_LOOP, SIDES };
extern const char *const side_names[SIDES];

typedef struct {
    launch launch;         /* of an implementation of OpenCL */
    host_loop *loop;       /* in C; otherwise NULL */
    host_arguments memory; /* of the loop */
    const sized_row *row;
    bool runs, is_right;
    unsigned repeats;                           /* in a sample */
    double cpu[MOST_ROUNDS], wall[MOST_ROUNDS]; /* of a work-item, nanoseconds */
} side;

/* The implementations of OpenCL, and the kernels of a theme. */
typedef struct {
    implementation device[2];
    bool exists[2];
    cl_program program[2];
} session;

/* False: there is none of ours. */
bool open_session(session *in, const bench_options *o);
void build_programs(session *in, const bench_options *o, const theme *t);
void release_programs(session *in);

/* Prepares a side, and runs it once for its results; end_side follows. */
void begin_side(side *s, const session *in, const sized_row *r, unsigned which);
void end_side(side *s);
/* Runs it until its code and memory are as they will be, then counts the runs of a sample. */
void warm_up(side *s);
void sample(side *s, unsigned round);

#endif
