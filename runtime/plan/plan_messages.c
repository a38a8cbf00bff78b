/* plan_messages.c — errors and warnings at a place of a plan. */
#include "runtime/plan/plan.h"

void rt_plan_fail(const spvf_plan *plan, rt_token at, const char *fmt, ...) {
    ir_message m = {.severity = IR_ERROR, .file = plan->file, .line = at.line, .column = at.column};
    va_list ap;
    va_start(ap, fmt);
    ir_vreport(&plan->context->cx, m, fmt, ap);
    va_end(ap);
    ir_throw(&plan->context->cx, IR_ERR_INPUT);
}

void rt_plan_warn(const spvf_plan *plan, rt_token at, const char *fmt, ...) {
    ir_message m = {
        .severity = IR_WARNING, .file = plan->file, .line = at.line, .column = at.column};
    va_list ap;
    va_start(ap, fmt);
    ir_vreport(&plan->context->cx, m, fmt, ap);
    va_end(ap);
}

void rt_plan_at(const spvf_plan *plan, rt_token at) {
    plan->context->place = (rt_place){plan->file, at.line, at.column};
}
