/* plan_explain.c — a group of a plan that is fused by itself, while the plan does not run: for its
 * kernel, or for an explanation with the code and the texts of what would run.
 */
#include "runtime/plan/plan.h"

/* A group that is fused by itself, while its plan does not run. */
typedef struct {
    rt_group_request request;
    rt_library *library;
    rt_device *device; /* that would run it; NULL: any may */
    rt_group_result result;
    spvf_status status;
} single_group;

/* Any memory does for buffers: only what is not in them is looked at. */
static const rt_arg *trial_args(const single_group *s) {
    const spvf_fusion_info *info = spvf_fusion_get_info(s->result.fusion);
    rt_arg *args = ir_new_array(s->library->arena, rt_arg, info->arg_count);
    rt_memory *some = s->device->driver->allocate(s->device, "any", 1, NULL);
    for (size_t n = 0; n < info->arg_count; n++) {
        const spvf_fused_arg *from = info->args[n];
        const rt_bound_arg *a = &s->result.bound[from->member].args[from->param];
        args[n] = rt_device_arg(a, some);
    }
    return args;
}

/* Would the device run what was fused?  Otherwise the fusion becomes a refusal. */
static void try_on_device(single_group *s) {
    spvf_context *c = s->library->plan->context;
    const rt_arg *args = trial_args(s);
    rt_function *f = rt_build_fusion(s->device, s->result.fusion, args);
    if (f) rt_explain_phases(s->device, s->result.fusion, f, args);
    if (f || !s->request.strict) return;
    rt_say_refusal(c, spvf_fusion_explanation(s->result.fusion), true);
    s->status = SPVF_ERROR_REFUSED;
}

static void add_texts(single_group *s) {
    const rt_group_request *r = &s->request;
    spvf_fusion *fusion = s->result.fusion;
    const rt_explained e = {
        .library = s->library,
        .bound = s->result.bound,
        .count = r->group->launches.n,
        .fusion = fusion,
        .report = (rt_report *)(fusion ? rt_fusion_report(fusion) : s->result.refusal)};
    if (!e.report) return;
    const bool native = !r->device || s->device->driver->target;
    if (r->has_code && (native || r->target)) rt_explain_codes(&e, r->target, r->listings);
    if (r->listings) rt_explain_ir(&e);
}

static void fuse_single(void *arg) {
    single_group *s = arg;
    if (s->request.explains) {
        const char *name = s->request.device ? s->request.device : spvf_default_device(NULL);
        s->device = rt_device_open(s->library->plan->context, name);
        s->library->reflection = s->device->reflection;
        s->request.phases = s->device->can.phases;
        s->request.serial = s->device->can.serial;
        s->request.lanes = s->device->can.lanes;
    }
    s->status = rt_fuse_group(s->library, &s->request, &s->result);
    if (s->device && s->result.fusion) try_on_device(s);
    if (s->request.has_code || s->request.listings) add_texts(s);
}

/* After an error there is no result. */
static spvf_status fuse_by_index(spvf_plan *plan, size_t index, const char *call,
                                 const rt_group_request *what, rt_group_result *out) {
    spvf_context *c = plan->context;
    const rt_group *g = rt_group_at(plan, index);
    *out = (rt_group_result){0};
    if (!g)
        return rt_refuse_call(c, call, "the plan has %zu groups, no %zu",
                              spvf_plan_group_count(plan), index);
    ir_arena arena;
    ir_arena_init(&arena, &c->cx);
    rt_library library = {
        .plan = plan, .arena = &arena, .reflection = rt_reflection_of(spvf_default_device(NULL))};
    single_group s = {.request = *what, .library = &library};
    s.request.group = g;
    s.request.strict = g->strict;
    s.request.phases = true;
    spvf_status status = rt_guard(c, fuse_single, &s);
    rt_device_close(s.device);
    rt_library_free(&library);
    ir_arena_free(&arena);
    *out = s.result;
    out->bound = NULL;
    if (status == SPVF_OK) return s.status;
    spvf_fusion_destroy(out->fusion);
    spvf_explanation_destroy(out->refusal);
    *out = (rt_group_result){0};
    return status;
}

spvf_status spvf_plan_fuse(spvf_plan *plan, size_t index, spvf_fusion **out) {
    static const rt_group_request plain;
    rt_group_result result;
    if (out) *out = NULL;
    if (!plan || !out) return rt_refuse_call(plan ? plan->context : NULL, __func__, "out is NULL");
    spvf_status status = fuse_by_index(plan, index, __func__, &plain, &result);
    *out = result.fusion;
    return status;
}

/* -------------------------------------------------------------------------------- explanations */

static spvf_status explain(spvf_plan *plan, size_t index, const char *call,
                           const rt_group_request *what, spvf_explanation **out) {
    rt_group_result result;
    if (out) *out = NULL;
    if (!plan || !out) return rt_refuse_call(plan ? plan->context : NULL, call, "out is NULL");
    spvf_status status = fuse_by_index(plan, index, call, what, &result);
    *out = result.fusion ? rt_fusion_end(result.fusion) : result.refusal;
    return status;
}

spvf_status spvf_plan_explain(spvf_plan *plan, size_t index, spvf_explanation **out) {
    static const rt_group_request plain = {.explains = true};
    return explain(plan, index, __func__, &plain, out);
}

spvf_status spvf_plan_explain_code(spvf_plan *plan, size_t index, const char *target,
                                   spvf_explanation **out) {
    const rt_group_request coded = {.explains = true, .has_code = true, .target = target};
    return explain(plan, index, __func__, &coded, out);
}

spvf_status spvf_plan_explain_with(spvf_plan *plan, size_t index,
                                   const spvf_explain_options *options, spvf_explanation **out) {
    spvf_explain_options o = {0};
    if (out) *out = NULL;
    if (plan && !rt_take_options(plan->context, __func__, &o, options)) return SPVF_ERROR_ARGUMENT;
    const rt_group_request wanted = {.explains = true,
                                     .has_code = o.code,
                                     .target = o.target,
                                     .listings = o.listings,
                                     .device = o.device};
    return explain(plan, index, __func__, &wanted, out);
}
