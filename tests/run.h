/* run.h — what the files of the golden runner share. */
#ifndef SPVFUSE_TESTS_RUN_H
#define SPVFUSE_TESTS_RUN_H

#include "ir/interp.h"
#include "ir/rule_types.h"
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
    bool turns; /* of the ways to make machine code, by the number of calls that were made */
    unsigned taken;
    /* By machine (tests/machines.h): the types that each rule of isel.rules was used for, as in
     * cg_options.  NULL: nothing counts them. */
    uint32_t (**isel_hits)[IR_TYPE_NUMBERS];
} runner;

void run_split(runner *r, const char *text, size_t n, line_list *out);
/* Prints what differs between a common head and a common tail, with two lines around it. */
void run_diff(runner *r, const char *want, const char *got);

/* "@f(1, <2, 3>) == 4.0" on the interpreter.  NULL: it holds; else what went wrong. */
const char *run_eval(runner *r, ir_module *m, line eval);
/* f(args…) on the interpreter and as machine code of all levels, without simplification.  NULL:
 * they agree. */
const char *run_as_is(runner *r, ir_func *f, const ir_value *args);
/* Counts the rules of isel.rules that are used from now on. */
void run_count_rules(runner *r);
/* Programs for all rules and types of isel.rules; then each must have been used, on machines whose
 * highest level runs here. */
void run_rules(runner *r);

/* What passes run under.  What is not said is NULL. */
typedef struct {
    const char *passes;
    const char *range; /* of launches, in the form of ranges.h */
    const char *level; /* of the machine that passes prepare code for: "x86_64:v3" */
    const char *lanes; /* of vectorized loops, a number */
} run_setting;

/* Runs passes.  What printers write goes to `said`, as it comes: a section for each function. */
bool run_passes(runner *r, ir_module *m, const run_setting *setting, ir_text *said);
/* Makes machine code of functions, for a level such as "x86_64:v3"; they are good for nothing else
 * then.  `said` gets it, as from a printer. */
bool run_compiler(runner *r, ir_module *m, const char *level, ir_text *said);
/* The section of a function, without its head and the marks of comments. */
const char *run_section(runner *r, const ir_text *said, const char *name);

#endif
