/* report.h — ir_ctx.report of tests that have nothing else to do with a message than to show it. */
#ifndef SPVFUSE_TESTS_REPORT_H
#define SPVFUSE_TESTS_REPORT_H

#include "ir/ir.h"

#include <stdio.h>

static inline void print_message(void *user, const ir_message *m) {
    char text[1024];
    (void)user;
    ir_format_message(m, text, sizeof text);
    if (m->severity != IR_NOTE) fprintf(stderr, "%s\n", text);
}

static inline void print_error(void *user, const ir_message *m) {
    if (m->severity == IR_ERROR) print_message(user, m);
}

#endif
