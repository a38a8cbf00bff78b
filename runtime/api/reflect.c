/* reflect.c — what the options of a module say of its functions and of the device: definitions,
 * and answers to queries.
 */
#include "runtime/api/runtime.h"

#include <stdlib.h>

/* Work-items run one after the other, until a barrier. */
static pass_reflection any_host(void) {
    return (pass_reflection){.known = true, .runtime = REFLECT_HOST, .compiler = REFLECT_TO_HOST};
}

pass_reflection rt_host_reflection(void) {
    pass_reflection r = any_host();
    const cg_machine *m = cg_host_machine();
    if (m && m->host->vendor) r.vendor = m->host->vendor();
    return r;
}

static pass_reflection gpu(unsigned sm) {
    return (pass_reflection){.known = true,
                             .is_gpu = true,
                             .forward_progress = true,
                             .vendor = 4318,
                             .arch = sm ? sm : 75,
                             .subgroup = 32,
                             .runtime = REFLECT_CUDA,
                             .compiler = REFLECT_TO_PTX};
}

/* Is it that word, or that word with options? */
static bool is_of(const char *target, const char *word) {
    size_t n = strlen(word);
    return strncmp(target, word, n) == 0 && (!target[n] || strchr(":,", target[n]));
}

pass_reflection rt_reflection_of(const char *target) {
    const cg_machine *m = cg_find_machine(target, strcspn(target, ":,"));
    const char *sm = strstr(target, "sm_");
    if (is_of(target, "cpu") || is_of(target, "check")) return rt_host_reflection();
    if (m) return any_host();
    if (is_of(target, "ptx") || is_of(target, "cubin") || target == sm)
        return gpu(sm ? (unsigned)strtoul(sm + strlen("sm_"), NULL, 10) : 0);
    return (pass_reflection){.known = false};
}

/* What is called in a branch that an answer excludes, such as a query that is not known, is no
 * reason to refuse the kernel. */
unsigned rt_answer_queries(ir_module *m, const pass_reflection *r) {
    static const pass_options fold = {.passes = "mem2reg,sccp,simplifycfg", .bisect = -1};
    const unsigned answered = pass_reflect(m, r);
    if (answered && !pass_run(m, &fold)) ir_throw(m->cx, m->cx->status);
    return answered;
}

static void check_names(spvf_context *context, const spvf_definition *d) {
    if (!d->name) rt_throw(context, IR_ERR_ARGUMENT, "definition: the name is NULL");
    if (d->call_count && !d->calls)
        rt_throw(context, IR_ERR_ARGUMENT, "definition: %zu calls at NULL", d->call_count);
    for (size_t k = 0; k < d->call_count; k++)
        if (!d->calls[k]) rt_throw(context, IR_ERR_ARGUMENT, "definition: call %zu is NULL", k);
}

void rt_complete_module(spvf_module *m, const spvf_module_options *o) {
    for (size_t n = 0; n < o->definition_count; n++) {
        const spvf_definition *d = &o->definitions[n];
        check_names(m->context, d);
        const pass_definition what = {d->name, d->calls, d->call_count};
        if (!pass_define(m->ir, &what)) ir_throw(&m->context->cx, IR_ERR_INPUT);
        rt_forget_source(m->ir);
    }
    if (!o->target) return;
    const pass_reflection r = rt_reflection_of(o->target);
    if (rt_answer_queries(m->ir, &r)) rt_forget_source(m->ir);
}
