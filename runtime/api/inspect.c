/* inspect.c — looking into a compile: the names of passes and stages, and what a context shows of
 * the native code that it makes.
 *
 * Passes of spvf_module_optimize have switches of their own.  Native code is made by
 * spvf_module_emit and for launches, so its switches belong to the context; ir_inspection is what
 * the layers below see of them.
 */
#include "runtime/api/runtime.h"

/* ---------------------------------------------------------------------------------------- names */

const char *spvf_pass_name(size_t index, const char **description) {
    if (index >= pass_count) return NULL;
    if (description) *description = passes[index].doc;
    return passes[index].name;
}

const char *spvf_pass_order(size_t index, const char **second, const char **why) {
    if (index >= pass_order_count) return NULL;
    if (second) *second = pass_orders[index].second;
    if (why) *why = pass_orders[index].why;
    return pass_orders[index].first;
}

const char *spvf_stage_name(size_t index, const char **description) {
    if (index >= cg_stage_count) return NULL;
    if (description) *description = cg_stages[index].doc;
    return cg_stages[index].name;
}

static bool is_stage(const char *name) {
    for (unsigned n = 0; n < pass_count; n++)
        if (strcmp(passes[n].name, name) == 0) return true;
    for (unsigned n = 0; n < cg_stage_count; n++)
        if (strcmp(cg_stages[n].name, name) == 0) return true;
    return *name && strspn(name, "0123456789") == strlen(name);
}

static void list_stages(ir_text *out) {
    ir_put(out, "the passes are");
    for (unsigned n = 0; n < pass_count; n++) ir_putf(out, "%s %s", n ? "," : "", passes[n].name);
    ir_put(out, "; the stages of native code are");
    for (unsigned n = 0; n < cg_stage_count; n++)
        ir_putf(out, "%s %s", n ? "," : "", cg_stages[n].name);
}

void rt_check_stage(spvf_context *context, const char *name, bool prints, ir_arena *scratch) {
    ir_text known = {.arena = scratch};
    if (is_stage(name) || (prints && strcmp(name, "*") == 0)) return;
    list_stages(&known);
    ir_error(&context->cx, "there is no pass or stage '%s'; %s", name, known.data);
    ir_throw(&context->cx, IR_ERR_ARGUMENT);
}

/* ------------------------------------------------------------------------------------- contexts */

typedef struct {
    spvf_context *context;
    spvf_pass_options options;
    ir_arena scratch;
} inspect_job;

static void set_inspection(void *arg) {
    inspect_job *j = arg;
    rt_inspection *i = &j->context->inspection;
    const spvf_pass_options *o = &j->options;
    if (o->dump_after) rt_check_stage(j->context, o->dump_after, true, &j->scratch);
    if (o->stop_after) rt_check_stage(j->context, o->stop_after, false, &j->scratch);
    if (o->dump_after) snprintf(i->dump_after, sizeof i->dump_after, "%s", o->dump_after);
    i->switches = (ir_inspection){.dump_after = o->dump_after ? i->dump_after : NULL,
                                  .dump_changed = o->dump_changed,
                                  .dump = o->dump,
                                  .dump_user = o->dump_user,
                                  .verify_each = o->verify_each,
                                  .time = o->time,
                                  .trace_rules = o->trace_rules,
                                  .remarks = o->remarks};
    i->counts = (ir_counts){0};
    j->context->cx.inspection = &i->switches;
    j->context->cx.counts = o->stats ? &i->counts : NULL;
}

spvf_status spvf_context_inspect(spvf_context *context, const spvf_pass_options *options) {
    inspect_job j = {.context = context};
    if (!context || !rt_take_options(context, __func__, &j.options, options))
        return SPVF_ERROR_ARGUMENT;
    context->cx.inspection = NULL;
    context->cx.counts = NULL;
    if (!options) return SPVF_OK;
    ir_arena_init(&j.scratch, &context->cx);
    spvf_status status = rt_guard(context, set_inspection, &j);
    ir_arena_free(&j.scratch);
    return status;
}

/* ------------------------------------------------------------------------------------- counters */

const char *spvf_counter_name(size_t index, const char **description) {
    if (index >= IR_COUNTERS) return NULL;
    if (description) *description = ir_counter_docs[index];
    return ir_counter_names[index];
}

uint64_t spvf_context_counter(const spvf_context *context, size_t index) {
    return context && context->cx.counts && index < IR_COUNTERS ? context->cx.counts->n[index] : 0;
}
