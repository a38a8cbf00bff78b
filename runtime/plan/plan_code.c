/* plan_code.c — what an explanation says of code: that of the fused kernel, or of each kernel of a
 * group that is not fused; and the texts of kernels before and after fusion.
 */
#include "runtime/plan/plan.h"
#include "runtime/queue/chain.h"

/* ----------------------------------------------------------------------------------------- code */

static bool is_repeated(const rt_bound_launch *bound, uint32_t n) {
    for (uint32_t k = 0; k < n; k++)
        if (bound[k].kernel == bound[n].kernel &&
            rt_is_same_range(&bound[k].launch->range, &bound[n].launch->range))
            return true;
    return false;
}

static const rt_known_arg *known_args(const rt_explained *e, uint32_t launch) {
    const rt_bound_launch *b = &e->bound[launch];
    rt_known_arg *args = ir_new_array(e->library->arena, rt_known_arg, b->launch->args.n + 1);
    for (uint32_t n = 0; n < b->launch->args.n; n++)
        args[n] = (rt_known_arg){b->args[n].bytes, b->args[n].size};
    return args;
}

static const ir_func *fused_kernel(const rt_explained *e) {
    return ir_func_find(spvf_fusion_module(e->fusion)->ir, e->report->info.name);
}

void rt_explain_codes(const rt_explained *e, const char *target, bool listings) {
    spvf_explanation *info = &e->report->info;
    rt_code_request r = {.target = target, .listing = listings};
    if (!r.target) r.target = rt_default_target(e->library->arena);
    if (!r.target) return;
    uint32_t n = 0, most = info->fused ? 1 : e->count;
    spvf_explained_code *codes = ir_new_array(&e->report->arena, spvf_explained_code, most);
    for (uint32_t k = 0; k < most; k++) {
        if (!info->fused && is_repeated(e->bound, k)) continue;
        r.kernel = e->bound[k].kernel;
        r.range = &e->bound[k].launch->range;
        r.args = known_args(e, k);
        if (info->fused) {
            r.kernel = fused_kernel(e);
            r.range = &info->range;
            r.args = NULL; /* values are constants of it already */
        }
        codes[n++] = rt_explain_code(e->library->plan->context, &r, &e->report->arena);
    }
    info->codes = RT_LIST(&e->report->arena, codes, n);
    info->code_count = n;
}

/* ---------------------------------------------------------------------------------------- texts */

static const char *print_kernel(const rt_explained *e, const ir_func *f) {
    ir_text text = {.arena = &e->report->arena};
    ir_print_func(&text, f, IR_PRINT_LINES);
    return text.data;
}

void rt_explain_ir(const rt_explained *e) {
    spvf_explanation *info = &e->report->info;
    ir_arena *a = &e->report->arena;
    spvf_explained_member *members = ir_new_array(a, spvf_explained_member, info->member_count);
    for (uint32_t k = 0; k < info->member_count; k++) {
        members[k] = *info->members[k];
        if (k < e->count) members[k].ir = print_kernel(e, e->bound[k].kernel);
    }
    info->members = RT_LIST(a, members, info->member_count);
    if (info->fused) info->ir = print_kernel(e, fused_kernel(e));
}
