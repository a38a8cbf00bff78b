/* stage.c — what a context does, for messages, and how long each of its stages took.
 *
 * A stage is a pass, a step of a target, or an analysis that any of them asks for.  Messages about
 * bugs name the pass or step that was entered last.  A context that has a clock adds up the time
 * between two entries, by name; so the time of a pass is without that of the analyses that it asks
 * for.
 */
#include "ir/ir.h"

#include <time.h>

int64_t ir_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* When the table is full, further names share its last row. */
static unsigned find_stage(ir_clock *c, const char *name) {
    unsigned k = 0;
    while (k < c->n && strcmp(c->stage[k].name, name) != 0) k++;
    if (k == IR_MAX_STAGES) return k - 1;
    if (k == c->n) c->stage[c->n++].name = name;
    return k;
}

static void switch_clock(ir_clock *c, const char *to) {
    int64_t now = ir_nanoseconds();
    if (c->now) c->stage[find_stage(c, c->now)].ns += now - c->since;
    if (to) find_stage(c, to);
    c->now = to;
    c->since = now;
}

const char *ir_enter_stage(ir_ctx *cx, const char *name) {
    const char *before = cx->pass;
    if (cx->clock) switch_clock(cx->clock, name);
    cx->pass = name;
    return before;
}

const char *ir_enter_analysis(ir_ctx *cx, const char *name) {
    return cx->clock ? ir_enter_stage(cx, name) : cx->pass;
}

void ir_report_clock(ir_ctx *cx, const ir_clock *c, const char *file, const char *what) {
    for (unsigned k = 0; k < c->n; k++)
        ir_report(cx, (ir_message){.severity = IR_NOTE, .file = file}, "%s: %s: %lld ns", what,
                  c->stage[k].name, (long long)c->stage[k].ns);
}
