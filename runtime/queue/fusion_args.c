/* fusion_args.c — the arguments of a fused kernel, out of those of its members.
 *
 * What became of each parameter is in the fusion's info: the first of those that are the same gives
 * the argument, and the others are compared with it.
 */
#include "runtime/api/runtime.h"
#include "runtime/spvfuse_queue.h"

#include <string.h>

typedef struct {
    spvf_context *context;
    const spvf_fusion_info *info;
    const spvf_argument *const *members;
    const size_t *counts;
} mapping;

static bool are_equal(const spvf_argument *a, const spvf_argument *b) {
    if (a->buffer != b->buffer || a->offset != b->offset || a->address != b->address) return false;
    if (!a->bytes != !b->bytes || a->size != b->size) return false;
    return !a->bytes || memcmp(a->bytes, b->bytes, a->size) == 0;
}

static spvf_status refuse_param(const mapping *m, const spvf_param_info *p, const char *why) {
    return rt_refuse_call(
        m->context, "spvf_fusion_arguments", "member %u: parameter %u%s%s%s of '%s' %s", p->member,
        p->param, p->name ? " (" : "", p->name ? p->name : "", p->name ? ")" : "", p->kernel, why);
}

/* Does each member have as many arguments as its kernel takes? */
static spvf_status check_counts(const mapping *m) {
    for (size_t n = 0; n < m->info->param_count; n++) {
        const spvf_param_info *p = m->info->params[n];
        const bool last = n + 1 == m->info->param_count || p[1].member != p->member;
        if (p->param >= m->counts[p->member]) return refuse_param(m, p, "is given no argument");
        if (!m->members[p->member]) return refuse_param(m, p, "is given arguments at NULL");
        if (last && m->counts[p->member] != p->param + 1)
            return refuse_param(m, p, "is the last one, and there are more arguments");
    }
    return SPVF_OK;
}

static spvf_status take_argument(const mapping *m, const spvf_param_info *p, spvf_argument *args) {
    const spvf_argument *a = &m->members[p->member][p->param];
    if (p->use == SPVF_PARAM_USED) args[p->arg] = *a;
    if (p->use == SPVF_PARAM_SAME && !are_equal(&args[p->arg], a))
        return refuse_param(m, p, "is the same as an earlier one, and is given another argument");
    return SPVF_OK;
}

spvf_status spvf_fusion_arguments(const spvf_fusion *fusion, const spvf_argument *const *members,
                                  const size_t *counts, spvf_argument *args, size_t count) {
    const spvf_module *module = spvf_fusion_module(fusion);
    mapping m = {module ? module->context : NULL, spvf_fusion_get_info(fusion), members, counts};
    if (!fusion || !members || !counts || (count && !args))
        return rt_refuse_call(m.context, __func__, "%s is NULL",
                              !fusion    ? "fusion"
                              : !members ? "members"
                              : !counts  ? "counts"
                                         : "args");
    if (count != m.info->arg_count)
        return rt_refuse_call(m.context, __func__, "the fused kernel takes %zu arguments, not %zu",
                              m.info->arg_count, count);
    spvf_status status = check_counts(&m);
    for (size_t n = 0; status == SPVF_OK && n < m.info->param_count; n++)
        status = take_argument(&m, m.info->params[n], args);
    return status;
}
