/* stage.c — what a context is doing, for messages about bugs, and how long each stage took.
 *
 * The drivers of passes and of native code say which stage begins, and on which function; within a
 * stage, whatever walks over instructions may note the one that it looks at in cx->where.inst.  A
 * failed assertion reads this, so it is kept up to date at all times and costs a few stores.
 *
 * A context that has a clock adds up the time between two entries by name.  Analyses enter parts of
 * their own, so the time of a pass is without that of the analyses that it asks for.
 */
#include "ir/text.h"

#include <stdlib.h>
#include <time.h>

/* ----------------------------------------------------------------------------------------- time */

int64_t ir_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* When the table is full, further names share its last row. */
static unsigned find_part(ir_clock *c, const char *name) {
    unsigned k = 0;
    while (k < c->n && strcmp(c->part[k].name, name) != 0) k++;
    if (k == IR_MAX_PARTS) return k - 1;
    if (k == c->n) c->part[c->n++].name = name;
    return k;
}

static const char *switch_part(ir_clock *c, const char *name) {
    const char *before = c->now;
    int64_t now = ir_nanoseconds();
    if (before) c->part[find_part(c, before)].ns += now - c->since;
    if (name) find_part(c, name);
    c->now = name;
    c->since = now;
    return before;
}

const char *ir_enter_part(ir_ctx *cx, const char *name) {
    return cx->clock ? switch_part(cx->clock, name) : NULL;
}

void ir_report_clock(ir_ctx *cx, const ir_clock *c, const char *file, const char *what) {
    for (unsigned k = 0; k < c->n; k++)
        ir_report(cx, (ir_message){.severity = IR_NOTE, .file = file}, "%s: %s: %lld ns", what,
                  c->part[k].name, (long long)c->part[k].ns);
}

/* --------------------------------------------------------------------------------------- stages */

/* A stage ends where the next one begins, too. */
static void tell_span(ir_ctx *cx) {
    if (cx->span && cx->where.began) cx->span(&cx->where);
}

void ir_begin_stage(ir_ctx *cx, const char *name, const ir_func *f) {
    tell_span(cx);
    cx->stages++;
    cx->where = (ir_where){.stage = name, .func = f, .began = cx->span ? ir_nanoseconds() : 0};
    ir_enter_part(cx, name);
}

void ir_end_stage(ir_ctx *cx) {
    tell_span(cx);
    cx->where = (ir_where){0};
    ir_enter_part(cx, NULL);
}

bool ir_names_stage(const ir_ctx *cx, const char *wanted) {
    if (!wanted || !cx->where.stage) return false;
    if (wanted[0] >= '0' && wanted[0] <= '9') return strtoull(wanted, NULL, 10) == cx->stages;
    return strcmp(wanted, "*") == 0 || strcmp(wanted, cx->where.stage) == 0;
}

bool ir_is_inspected(const ir_ctx *cx) {
    const ir_inspection *i = cx->inspection;
    return i && i->dump && (i->dump_after ? ir_names_stage(cx, i->dump_after) : i->dump_changed);
}

/* --------------------------------------------------------------------------------------- faults */

static const char *name_block(const ir_block *b, ir_arena *a) {
    ir_text t = {.arena = a};
    text_print_label(text_printer_new(&t, b->func), b);
    return t.data;
}

static const char *name_instruction(const ir_inst *i, ir_arena *a) {
    ir_text t = {.arena = a};
    ir_print_inst(&t, i);
    return t.data + strspn(t.data, " ");
}

/* Printing an instruction that is broken may fail in turn: then it is not printed again. */
ir_fault ir_find_fault(ir_ctx *cx, ir_arena *a) {
    const ir_inst *i = cx->where.inst;
    const ir_block *b = i ? i->block : NULL;
    cx->where.inst = NULL;
    const ir_func *f = b ? b->func : cx->where.func;
    return (ir_fault){.stage = cx->where.stage,
                      .number = cx->where.stage ? cx->stages : 0,
                      .function = f ? f->name : NULL,
                      .block = b ? name_block(b, a) : NULL,
                      .instruction = i ? name_instruction(i, a) : NULL};
}
