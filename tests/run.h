/* run.h — what the files of the golden runner share. */
#ifndef SPVFUSE_TESTS_RUN_H
#define SPVFUSE_TESTS_RUN_H

#include "passes/passes.h"

typedef struct {
    const char *s;
    size_t n;
} line;

typedef ir_vec(line) line_list;

typedef struct {
    ir_ctx cx;
    ir_arena arena; /* of the file being run */
    bool bless;
    const char *filter;
    unsigned passed, failed;
} runner;

/* "@f(1, <2, 3>) == 4.0" on the interpreter.  NULL: it holds; else what went wrong. */
const char *run_eval(runner *r, ir_module *m, line eval);

#endif
