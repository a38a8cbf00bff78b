/* fusion.c — spvf_fuse, spvf_explain: from handles to a fuse request, through the passes, to an
 * argument map.
 *
 * The work is done by passes/fusion/fuse.c; here its request is put together and checked, the
 * pipeline is run over the fused kernel, arguments that nothing uses any more are dropped, and the
 * result is described in the terms of spvfuse.h.  How it ends is explained in a report either way
 * (explain.c); everything but the module lies in that report's arena.
 */
#include "runtime/api/save.h"
#include "runtime/system/trace.h"

struct spvf_fusion {
    rt_report report; /* the first member: without a module it is the explanation alone */
    spvf_module *module;
    spvf_fusion_info info;
};

typedef struct {
    spvf_context *context;
    spvf_fuse_options options;
    bool explains; /* a refusal is a result */
    spvf_fusion *fusion;
    pass_fuse_request request;
    pass_fuse_result result;
} fuse_job;

static ir_arena *arena_of(const fuse_job *j) { return &j->fusion->report.arena; }

/* ------------------------------------------------------------------------------------- refusals */

void rt_say_refusal(spvf_context *c, const spvf_explanation *e, bool strict) {
    const ir_message m = {.severity = strict ? IR_ERROR : IR_WARNING};
    c->explanation = e;
    ir_report(&c->cx, m, "not fused: %s [%s]", e->refusal->text, e->refusal->rule);
    c->explanation = NULL;
}

/* Explains the refusal, which is the last decision, says it, and leaves. */
IR_NORETURN static void leave_refused(fuse_job *j) {
    spvf_context *c = j->context;
    const pass_fuse_result *r = &j->result;
    j->result.kernel = NULL;
    rt_explain(&j->fusion->report, &j->options, &j->request, r);
    if (!j->explains || j->options.strict)
        rt_say_refusal(c, &j->fusion->report.info, j->options.strict);
    ir_throw(&c->cx, IR_ERR_REFUSED);
}

/* A refusal that the passes have not decided. */
IR_NORETURN IR_PRINTF(3, 4) static void refuse(fuse_job *j, const char *rule, const char *fmt,
                                               ...) {
    va_list ap;
    char text[RT_CAUGHT_SIZE];
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    *ir_push(arena_of(j), &j->result.decisions) =
        (pass_decision){.rule = rule, .text = ir_strdup(arena_of(j), text), .refusal = true};
    leave_refused(j);
}

/* -------------------------------------------------------------------------------------- request */

static void check_range(spvf_context *c, const spvf_range *r, size_t member) {
    bool some = false, every = true;
    if (r->dims < 1 || r->dims > 3)
        rt_throw(c, IR_ERR_ARGUMENT, "member %zu: an nd-range has 1 to 3 dimensions", member);
    for (uint32_t d = 0; d < r->dims; d++) {
        if (!r->global[d]) rt_throw(c, IR_ERR_ARGUMENT, "member %zu: a global size is 0", member);
        some |= r->local[d] != 0;
        every &= r->local[d] != 0;
    }
    if (some && !every) rt_throw(c, IR_ERR_ARGUMENT, "member %zu: a local size is 0", member);
}

static const ir_func *find_kernel(const spvf_member *m) {
    return ir_func_find(m->module->ir, m->kernel);
}

static void check_member(spvf_context *c, const spvf_member *m, size_t index) {
    check_range(c, &m->range, index);
    if (!m->module || !m->kernel)
        rt_throw(c, IR_ERR_ARGUMENT, "member %zu: module or kernel name is NULL", index);
    const ir_func *f = find_kernel(m);
    if (!f || !(f->flags & IR_FUNC_KERNEL))
        rt_throw(c, IR_ERR_ARGUMENT, "%s: no kernel '%s'", m->module->ir->name, m->kernel);
}

static void check_list(spvf_context *c, const void *list, size_t n, const char *what) {
    if (n && !list) rt_throw(c, IR_ERR_ARGUMENT, "%zu %s at NULL", n, what);
    if (n > UINT32_MAX) rt_throw(c, IR_ERR_LIMIT, "%zu %s are too many", n, what);
}

static void check_options(spvf_context *c, const spvf_fuse_options *o) {
    if (!o->member_count) rt_throw(c, IR_ERR_ARGUMENT, "nothing to fuse");
    check_list(c, o->members, o->member_count, "members");
    check_list(c, o->identities, o->identity_count, "identities");
    check_list(c, o->constants, o->constant_count, "constants");
    check_list(c, o->promotions, o->promotion_count, "promotions");
    check_list(c, o->overlaps, o->overlap_count, "overlaps");
    for (size_t n = 0; n < o->promotion_count; n++)
        if ((unsigned)o->promotions[n].kind > SPVF_PROMOTE_LOCAL)
            rt_throw(c, IR_ERR_ARGUMENT, "%d is no kind of promotion", (int)o->promotions[n].kind);
    if ((unsigned)o->barrier > SPVF_BARRIER_NONE)
        rt_throw(c, IR_ERR_ARGUMENT, "%d is no barrier policy", (int)o->barrier);
    for (size_t i = 0; i < o->member_count; i++) check_member(c, &o->members[i], i);
}

static void check_param(const fuse_job *j, const pass_fuse_request *r, uint32_t member,
                        uint32_t param) {
    if (member >= r->nmembers)
        rt_throw(j->context, IR_ERR_ARGUMENT, "there is no member %u among %u", member,
                 r->nmembers);
    const ir_func *f = r->members[member].kernel;
    if (param >= f->nparams)
        rt_throw(j->context, IR_ERR_ARGUMENT, "member %u: kernel '%s' has %u parameters, no %u",
                 member, f->name, f->nparams, param);
}

static void check_constant(const fuse_job *j, const pass_fuse_request *r, const pass_constant *k) {
    check_param(j, r, k->member, k->param);
    const ir_func *f = r->members[k->member].kernel;
    spvf_arg_info info = rt_arg_info(f->module, f->param_val[k->param]->type, &f->param[k->param]);
    if (info.kind != SPVF_ARG_VALUE)
        rt_throw(j->context, IR_ERR_ARGUMENT, "member %u: parameter %u of '%s' takes no value",
                 k->member, k->param, f->name);
    if (k->size != info.size)
        rt_throw(j->context, IR_ERR_ARGUMENT,
                 "member %u: parameter %u of '%s' takes %llu bytes, the constant has %zu",
                 k->member, k->param, f->name, (unsigned long long)info.size, k->size);
    if (!k->bytes)
        rt_throw(j->context, IR_ERR_ARGUMENT, "member %u: the bytes for parameter %u are NULL",
                 k->member, k->param);
}

static void check_pairs(const fuse_job *j, const pass_fuse_request *r, const spvf_identity *pairs,
                        size_t n) {
    for (size_t k = 0; k < n; k++) {
        check_param(j, r, pairs[k].member_a, pairs[k].param_a);
        check_param(j, r, pairs[k].member_b, pairs[k].param_b);
    }
}

/* Everything that names a member or a parameter; what is left to pass_fuse to find is a
 * contradiction between kernels. */
static void check_request(const fuse_job *j, const pass_fuse_request *r) {
    check_pairs(j, r, j->options.identities, j->options.identity_count);
    check_pairs(j, r, j->options.overlaps, j->options.overlap_count);
    for (uint32_t n = 0; n < r->nconstants; n++) check_constant(j, r, &r->constants[n]);
    for (uint32_t n = 0; n < r->npromotions; n++)
        check_param(j, r, r->promotions[n].member, r->promotions[n].param);
}

static const pass_fuse_member *make_members(fuse_job *j) {
    const spvf_fuse_options *o = &j->options;
    pass_fuse_member *m = ir_new_array(arena_of(j), pass_fuse_member, o->member_count);
    for (size_t i = 0; i < o->member_count; i++) {
        m[i].kernel = find_kernel(&o->members[i]);
        m[i].range = rt_inner_range(&o->members[i].range);
        const char *why = m[i].kernel->refusal;
        if (why) refuse(j, "fuse.kernel", "kernel '%s': %s", o->members[i].kernel, why);
    }
    return m;
}

static const char *default_name(fuse_job *j) {
    ir_text t = {.arena = arena_of(j)};
    for (size_t i = 0; i < j->options.member_count; i++)
        ir_putf(&t, "%s%s", i ? "_" : "", j->options.members[i].kernel);
    return t.data;
}

static const char *name_param(fuse_job *j, const ir_func *f, uint32_t param) {
    const char *name = f->param[param].name;
    return name ? name : ir_sprintf(arena_of(j), "parameter %u", param);
}

rt_param_classes rt_find_classes(ir_arena *a, const pass_fuse_request *r) {
    rt_param_classes c = {.first = ir_new_array(a, uint32_t, r->nmembers)};
    for (uint32_t m = 0; m < r->nmembers; c.n += r->members[m++].kernel->nparams) c.first[m] = c.n;
    c.like = ir_new_array(a, uint32_t, c.n + 1);
    for (uint32_t k = 0; k < c.n; k++) c.like[k] = k;
    for (uint32_t k = 0; k < r->nidentities; k++) {
        const pass_identity *i = &r->identities[k];
        const uint32_t x = rt_class_of(&c, i->member_a, i->param_a);
        const uint32_t y = rt_class_of(&c, i->member_b, i->param_b);
        c.like[x < y ? y : x] = x < y ? x : y;
    }
    return c;
}

uint32_t rt_class_of(const rt_param_classes *c, uint32_t member, uint32_t param) {
    uint32_t n = c->first[member] + param;
    while (c->like[n] != n) n = c->like[n] = c->like[c->like[n]];
    return n;
}

/* By class: one of its parameters is written through. */
static const bool *find_written_classes(const fuse_job *j, const rt_param_classes *c) {
    const pass_fuse_request *r = &j->request;
    bool *written = ir_new_array(arena_of(j), bool, c->n + 1);
    for (uint32_t m = 0; m < r->nmembers; m++) {
        const spvf_member *member = &j->options.members[m];
        const spvf_kernel_info *k = spvf_module_find_kernel(member->module, member->kernel);
        for (uint32_t p = 0; p < k->arg_count; p++)
            written[rt_class_of(c, m, p)] |= !k->args[p]->read_only;
    }
    return written;
}

/* Nothing is proved of memory that has two addresses, if a member writes it by one of them. */
static void refuse_overlaps(fuse_job *j) {
    if (!j->options.overlap_count) return;
    const rt_param_classes classes = rt_find_classes(arena_of(j), &j->request);
    const bool *written = find_written_classes(j, &classes);
    for (size_t n = 0; n < j->options.overlap_count; n++) {
        const spvf_identity *o = &j->options.overlaps[n];
        const ir_func *a = j->request.members[o->member_a].kernel;
        const ir_func *b = j->request.members[o->member_b].kernel;
        if (written[rt_class_of(&classes, o->member_a, o->param_a)] ||
            written[rt_class_of(&classes, o->member_b, o->param_b)])
            refuse(j, "fuse.overlap",
                   "%s of @%s and %s of @%s reach the same memory from different addresses",
                   name_param(j, a, o->param_a), a->name, name_param(j, b, o->param_b), b->name);
    }
}

/* Lists are passed through as they are (mirror.def). */
static void make_request(fuse_job *j) {
    const spvf_fuse_options *o = &j->options;
    check_options(j->context, o);
    j->request = (pass_fuse_request){
        .name = o->name ? o->name : default_name(j),
        .nmembers = (uint32_t)o->member_count,
        .identities = (const pass_identity *)(const void *)o->identities,
        .nidentities = (uint32_t)o->identity_count,
        .constants = (const pass_constant *)(const void *)o->constants,
        .nconstants = (uint32_t)o->constant_count,
        .promotions = (const pass_promotion *)(const void *)o->promotions,
        .npromotions = (uint32_t)o->promotion_count,
        .barrier = (pass_barrier)o->barrier,
        .force = o->force,
        .known_range = o->known_range,
        .phases = o->phases,
        .serial = o->serial,
        .lanes = o->lanes,
    };
    j->request.members = make_members(j);
    check_request(j, &j->request);
}

/* --------------------------------------------------------------------------------------- result */

static void describe_args(fuse_job *j) {
    const pass_fuse_result *r = &j->result;
    const ir_func *k = r->kernel;
    spvf_fused_arg *args = ir_new_array(arena_of(j), spvf_fused_arg, k->nparams);
    spvf_arg_info *infos = ir_new_array(arena_of(j), spvf_arg_info, k->nparams);
    for (uint32_t i = 0; i < r->nargs; i++) {
        const pass_fuse_arg *a = &r->args[i];
        if (a->index == PASS_NO_PARAM) continue;
        spvf_arg_info *info = &infos[a->index];
        *info = rt_arg_info(r->module, k->param_val[a->index]->type, &k->param[a->index]);
        info->name = a->name;
        args[a->index] = (spvf_fused_arg){a->member, a->param, info};
    }
    j->fusion->info.args = RT_LIST(arena_of(j), args, k->nparams);
    j->fusion->info.arg_count = k->nparams;
}

static void describe_fusion(fuse_job *j) {
    const spvf_explanation *e = &j->fusion->report.info;
    spvf_fusion_info *info = &j->fusion->info;
    info->name = e->name;
    info->range = e->range;
    describe_args(j);
    info->params = e->params;
    info->param_count = e->param_count;
    info->decisions = e->decisions;
    info->decision_count = e->decision_count;
}

/* --------------------------------------------------------------------------------------- fusing */

/* Kernels that contradict each other (ranges, attributes) are as much a refusal as those that this
 * compiler does not fuse; then one error has been caught. */
static void compose(fuse_job *j) {
    ir_ctx *cx = &j->context->cx;
    char caught[RT_CAUGHT_SIZE] = "";
    j->context->caught = caught;
    bool ok = pass_fuse(cx, &j->request, arena_of(j), &j->result);
    j->context->caught = NULL;
    if (!ok && cx->status == IR_ERR_INPUT) refuse(j, "fuse.request", "%s", caught);
    if (!ok && caught[0]) rt_throw(j->context, cx->status, "%s", caught);
    if (!ok) ir_throw(cx, cx->status);
    if (!j->result.kernel) leave_refused(j);
}

/* SPIR-V has function types of at most 255 parameters.  Looked at when unused ones are gone. */
static void check_params(fuse_job *j) {
    enum { MAX_PARAMS = 255 };
    uint32_t n = j->result.kernel->nparams;
    if (n > MAX_PARAMS)
        refuse(j, "fuse.params", "the fused kernel would have %u parameters, more than %d", n,
               MAX_PARAMS);
}

/* Fusing may be legal and not worth it. */
static void check_profit(fuse_job *j) {
    const pass_profit *p = &j->result.profit;
    pass_find_profit(&j->request, &j->result, arena_of(j));
    if (p->worth || j->options.force) return;
    refuse(
        j, "fuse.unprofitable",
        "%u words live at once in each work-item, %u more than there are registers; %u loads wait "
        "for stores of a part of them; %u cycles of an item are spent in longer chains; %u "
        "launches "
        "and %llu bytes of traffic would be saved",
        p->pressure, p->excess, p->stalls, p->cycles, p->launches, (unsigned long long)p->bytes);
}

static void optimize_fused(fuse_job *j) {
    pass_options o = rt_pass_options(j->options.passes);
    if (j->options.no_optimize) o.passes = "inline";
    o.range = &j->result.range;
    if (!pass_run(j->result.module, &o)) ir_throw(&j->context->cx, j->context->cx.status);
    if (j->result.kernel->refusal)
        refuse(j, "fuse.call", "the fused kernel: %s", j->result.kernel->refusal);
    pass_fuse_trim(&j->result);
    check_params(j);
    if (!j->options.no_optimize) check_profit(j);
    if (!ir_verify_module(j->result.module)) ir_throw(&j->context->cx, IR_ERR_INTERNAL);
}

static void make_module(fuse_job *j) {
    const pass_fuse_request *r = &j->request;
    unsigned bits = r->members->kernel->module->pointer_bits;
    j->fusion->module = rt_module_new(j->context);
    j->request.into = j->fusion->module->ir = ir_module_new(&j->context->cx, r->name, bits);
}

static void make_fusion(fuse_job *j) {
    ir_arena arena;
    ir_arena_init(&arena, &j->context->cx);
    j->fusion = ir_new(&arena, spvf_fusion);
    *j->fusion = (spvf_fusion){.report.arena = arena};
}

static void fuse_members(void *arg) {
    fuse_job *j = arg;
    make_fusion(j);
    make_request(j);
    rt_save_fusion(j->context, &j->options, &j->request);
    refuse_overlaps(j);
    make_module(j);
    compose(j);
    optimize_fused(j);
    rt_explain(&j->fusion->report, &j->options, &j->request, &j->result);
    describe_fusion(j);
    rt_module_describe(j->fusion->module);
}

/* Hands out the explanation alone. */
static spvf_status keep_explanation(const fuse_job *j, spvf_status status, spvf_explanation **out) {
    if (status == SPVF_OK || status == SPVF_ERROR_REFUSED) {
        spvf_module_destroy(j->fusion->module);
        *out = &j->fusion->report.info;
        return j->options.strict ? status : SPVF_OK;
    }
    spvf_fusion_destroy(j->fusion);
    return status;
}

static void trace_begin(const fuse_job *j) {
    rt_trace t;
    rt_trace_open(&t, RT_TRACE_BEGIN, 0, "fusion", "fuse");
    rt_trace_number(&t, "spvfuse.fusion.members", j->options.member_count);
    for (size_t n = 0; n < j->options.member_count && n < 20; n++) {
        char key[40];
        snprintf(key, sizeof key, "spvfuse.fusion.member.%zu", n);
        rt_trace_text(&t, key, j->options.members[n].kernel);
    }
    rt_trace_write(&t);
}

/* What it refused: the rule and the sentence for people. */
static void trace_end(const fuse_job *j, spvf_status status) {
    const spvf_explanation *e = j->fusion ? &j->fusion->report.info : NULL;
    const spvf_decision *refusal = e ? e->refusal : NULL;
    rt_trace t;
    rt_trace_open(&t, RT_TRACE_END, 0, NULL, NULL);
    if (status == SPVF_OK) rt_trace_text(&t, "spvfuse.kernel.name", j->fusion->info.name);
    if (status != SPVF_OK) rt_trace_text(&t, "error.type", spvf_status_name(status));
    if (refusal) {
        rt_trace_text(&t, "spvfuse.fusion.refusal.rule", refusal->rule);
        rt_trace_text(&t, "spvfuse.fusion.refusal.text", refusal->text);
    }
    if (e && e->fused) rt_trace_number(&t, "spvfuse.fusion.bytes.before", e->unfused_bytes);
    if (e && e->fused) rt_trace_number(&t, "spvfuse.fusion.bytes.after", e->fused_bytes);
    rt_trace_write(&t);
}

spvf_status rt_fuse(spvf_context *context, const spvf_fuse_options *options, spvf_fusion **fusion,
                    spvf_explanation **explanation) {
    fuse_job j = {.context = context, .explains = explanation != NULL, .options = *options};
    bool traced = rt_is_traced();
    if (traced) trace_begin(&j);
    spvf_status status = rt_guard(context, fuse_members, &j);
    if (traced) trace_end(&j, status);
    if (explanation && !(fusion && status == SPVF_OK))
        return keep_explanation(&j, status, explanation);
    if (status == SPVF_OK)
        *fusion = j.fusion;
    else
        spvf_fusion_destroy(j.fusion);
    return status;
}

/* Options of a call, with those that they point to. */
typedef struct {
    spvf_fuse_options fuse;
    spvf_pass_options passes;
} taken_options;

static bool take_options(spvf_context *c, const char *call, const spvf_fuse_options *options,
                         const void *out, taken_options *taken) {
    if (!options || !out) {
        rt_refuse_call(c, call, "%s is NULL", out ? "options" : "out");
        return false;
    }
    return c && rt_take_options(c, call, &taken->fuse, options) &&
           rt_take_passes(c, call, &taken->passes, &taken->fuse.passes);
}

spvf_status spvf_fuse(spvf_context *context, const spvf_fuse_options *options, spvf_fusion **out) {
    taken_options o;
    if (out) *out = NULL;
    if (!take_options(context, __func__, options, out, &o)) return SPVF_ERROR_ARGUMENT;
    return rt_fuse(context, &o.fuse, out, NULL);
}

spvf_status spvf_explain(spvf_context *context, const spvf_fuse_options *options,
                         spvf_explanation **out) {
    taken_options o;
    if (out) *out = NULL;
    if (!take_options(context, __func__, options, out, &o)) return SPVF_ERROR_ARGUMENT;
    return rt_fuse(context, &o.fuse, NULL, out);
}

static void trace_refusal(const char *kernel, const spvf_decision *refusal) {
    rt_trace t;
    rt_trace_open(&t, RT_TRACE_INSTANT, 0, "fusion", "refused by the device");
    rt_trace_text(&t, "spvfuse.kernel.name", kernel);
    rt_trace_text(&t, "spvfuse.fusion.refusal.rule", refusal->rule);
    rt_trace_text(&t, "spvfuse.fusion.refusal.text", refusal->text);
    rt_trace_write(&t);
}

spvf_decision *rt_fusion_decide(spvf_fusion *f, const char *rule, const char *text) {
    ir_arena *a = &f->report.arena;
    spvf_explanation *e = &f->report.info;
    const pass_fuse_rule *r = pass_find_fuse_rule(rule);
    spvf_decision *d = ir_new(a, spvf_decision);
    const spvf_decision **all = ir_new_array(a, const spvf_decision *, e->decision_count + 1);
    *d = (spvf_decision){.rule = r->id, .text = ir_strdup(a, text), .cure = r->cure};
    memcpy(all, e->decisions, e->decision_count * sizeof *all);
    all[e->decision_count++] = d;
    e->decisions = all;
    return d;
}

void rt_fusion_refuse(spvf_fusion *f, const char *why) {
    spvf_explanation *e = &f->report.info;
    spvf_decision *d = rt_fusion_decide(f, "fuse.device", why);
    d->refusal = true;
    e->refusal = d;
    e->fused = false;
    if (rt_is_traced()) trace_refusal(f->info.name, e->refusal);
}

spvf_explanation *rt_fusion_report(spvf_fusion *f) { return &f->report.info; }

spvf_explanation *rt_fusion_end(spvf_fusion *f) {
    spvf_module_destroy(f->module);
    return &f->report.info;
}

const spvf_fusion_info *spvf_fusion_get_info(const spvf_fusion *f) { return f ? &f->info : NULL; }

const spvf_explanation *spvf_fusion_explanation(const spvf_fusion *f) {
    return f ? &f->report.info : NULL;
}

const spvf_module *spvf_fusion_module(const spvf_fusion *f) { return f ? f->module : NULL; }

void spvf_fusion_destroy(spvf_fusion *f) {
    if (!f) return;
    spvf_module_destroy(f->module);
    spvf_explanation_destroy(&f->report.info);
}
