/* chain.c — dividing a chain into kernels.
 *
 * How far links can be fused is found by trying.  The first try takes all links, at most
 * RT_CHAIN_LAUNCHES; later tries begin with twice the length of the last kernel.  After a refusal,
 * the two accesses that it names mostly say where the end is; otherwise the interval between what
 * can be fused and what cannot is halved.  So a chain whose links do not go together is tried in
 * small pieces, and the work stays in proportion to the chain.
 */
#include "runtime/devices/device.h"
#include "runtime/queue/places.h"

#include <stdlib.h>

typedef struct {
    spvf_context *context;
    const rt_chain *chain;
    ir_arena arena;
    ir_map copies; /* modules of one kernel each, by kernel */
    ir_vec(spvf_module *) modules;
    pass_reach **reach; /* by link; NULL: not found yet */
    uint32_t guess;     /* how many links may go together */
    rt_chain_kernel *kernels;
    uint32_t count; /* of kernels */
} divider;

/* Links that are to become one kernel. */
typedef struct {
    divider *divider;
    uint32_t first, count;
    ir_arena arena;
    chain_places places;
    ir_vec(spvf_member) members;
    ir_vec(spvf_constant) constants;
    ir_vec(spvf_promotion) promotions;
    rt_chain_kernel *out;
} fuse_try;

static const rt_chain_link *link_of(const fuse_try *t, uint32_t member) {
    return &t->divider->chain->links[t->first + member];
}

/* -------------------------------------------------------------------------------------- kernels */

/* A kernel in a module of its own, optimized; throws. */
static spvf_module *copy_kernel(divider *d, const ir_func *f) {
    spvf_context *c = d->context;
    /* The list owns the module before anything can throw. */
    spvf_module **to = ir_push(&d->arena, &d->modules), *m;
    *to = NULL;
    m = *to = rt_module_new(c);
    m->ir = ir_module_new(&c->cx, f->module->name, f->module->pointer_bits);
    ir_importer im = {.m = m->ir};
    ir_importer_copy(&im, f, f->name);
    rt_module_describe(m);
    if (spvf_module_optimize(m, NULL) != SPVF_OK) ir_throw(&c->cx, c->cx.status);
    return m;
}

static const spvf_module *find_or_copy_kernel(divider *d, const rt_chain_link *l) {
    const ir_func *f = ir_func_find(l->module->ir, l->kernel->name);
    spvf_module *m = ir_map_get(&d->copies, (uintptr_t)f);
    if (m) return m;
    m = copy_kernel(d, f);
    ir_map_set(&d->arena, &d->copies, (uintptr_t)f, m);
    return m;
}

/* --------------------------------------------------------------------------------------- memory */

static bool touches(const rt_chain_link *l, const chain_place *p) {
    for (size_t n = 0; n < l->kernel->arg_count; n++) {
        const rt_chain_arg *a = &l->args[n];
        if (a->memory == p->arg->memory && a->begin < p->end && a->end > p->begin) return true;
    }
    return false;
}

/* Is it used by links that are not among these? */
static bool is_used_outside(const fuse_try *t, const chain_place *p) {
    const rt_chain *c = t->divider->chain;
    for (uint32_t n = 0; n < c->count; n++)
        if (n - t->first >= t->count && touches(&c->links[n], p)) return true;
    return false;
}

static void find_promotions(fuse_try *t) {
    for (uint32_t k = 0; k < t->places.list.n; k++) {
        const chain_place *p = &t->places.list.data[k];
        if (!p->internal || is_used_outside(t, p)) continue;
        *ir_push(&t->arena, &t->promotions) =
            (spvf_promotion){.member = p->member, .param = p->param, .kind = p->arg->promote};
    }
}

/* ---------------------------------------------------------------------------------------- tries */

/* Programs that launch a kernel again mostly give the same sizes, and other numbers. */
static void add_arg(fuse_try *t, uint32_t member, uint32_t param) {
    const rt_chain_link *l = link_of(t, member);
    const rt_chain_arg *a = &l->args[param];
    const rt_chain *c = t->divider->chain;
    bool constant = c->constants || (c->sizes && rt_is_size(l->module, l->kernel, param));
    if (!a->memory && a->bytes && constant && !a->variable)
        *ir_push(&t->arena, &t->constants) = (spvf_constant){member, param, a->bytes, a->size};
}

static void add_member(fuse_try *t, uint32_t member) {
    const rt_chain_link *l = link_of(t, member);
    *ir_push(&t->arena, &t->members) =
        (spvf_member){find_or_copy_kernel(t->divider, l), l->kernel->name, l->range};
    for (uint32_t p = 0; p < l->kernel->arg_count; p++) add_arg(t, member, p);
}

/* By parameter of a member. */
typedef struct {
    const int64_t **value;
    const uint8_t **bytes;
} known_args;

static known_args find_known(fuse_try *t, uint32_t member, const ir_func *f) {
    const known_args known = {ir_new_array(&t->arena, const int64_t *, f->nparams + 1),
                              ir_new_array(&t->arena, const uint8_t *, f->nparams + 1)};
    for (uint32_t k = 0; k < t->constants.n; k++) {
        const spvf_constant *c = &t->constants.data[k];
        if (c->member != member || c->param >= f->nparams) continue;
        const pass_constant inner = {c->member, c->param, c->bytes, c->size};
        known.value[c->param] = pass_constant_number(f, &inner, &t->arena);
        known.bytes[c->param] = pass_constant_bytes(f, &inner);
    }
    return known;
}

/* By the range of a link and its constants. */
static pass_reach *find_reach(fuse_try *t, uint32_t member) {
    const rt_chain_link *l = link_of(t, member);
    ir_func *f = ir_func_find(t->members.data[member].module->ir, l->kernel->name);
    const ir_range range = rt_inner_range(&l->range);
    const known_args known = find_known(t, member, f);
    const pass_launch launch = {
        .kernel = f, .range = &range, .value = known.value, .bytes = known.bytes};
    pass_reach *reach = ir_new_array(&t->divider->arena, pass_reach, l->kernel->arg_count + 1);
    if (f->nparams == l->kernel->arg_count) pass_find_reach(&launch, &t->arena, reach);
    return reach;
}

static void add_places(fuse_try *t, bool narrow) {
    t->places = (chain_places){.arena = &t->arena};
    for (uint32_t m = 0; m < t->count; m++) {
        const spvf_member *member = &t->members.data[m];
        chain_add_places(&t->places, link_of(t, m),
                         spvf_module_find_kernel(member->module, member->kernel), m,
                         narrow ? t->divider->reach[t->first + m] : NULL);
    }
    chain_compare_places(&t->places);
}

/* What is accessed is looked at if what can be reached overlaps. */
static void find_places(fuse_try *t) {
    add_places(t, false);
    if (!t->places.overlaps.n) return;
    for (uint32_t m = 0; m < t->count; m++) {
        pass_reach **reach = &t->divider->reach[t->first + m];
        if (!*reach) *reach = find_reach(t, m);
    }
    add_places(t, true);
}

static void fuse_members(fuse_try *t) {
    spvf_context *c = t->divider->context;
    spvf_fuse_options o = t->divider->chain->options;
    for (uint32_t m = 0; m < t->count; m++) add_member(t, m);
    find_places(t);
    find_promotions(t);
    o.size = sizeof o;
    o.members = t->members.data;
    o.member_count = t->members.n;
    o.identities = t->places.identities.data;
    o.identity_count = t->places.identities.n;
    o.overlaps = t->places.overlaps.data;
    o.overlap_count = t->places.overlaps.n;
    o.constants = t->constants.data;
    o.constant_count = t->constants.n;
    o.promotions = t->promotions.data;
    o.promotion_count = t->promotions.n;
    if (rt_fuse(c, &o, &t->out->fusion, &t->out->refusal) != SPVF_OK)
        ir_throw(&c->cx, c->cx.status);
    if (!t->out->fusion) return;
    const divider *d = t->divider;
    chain_keep_facts(c, &d->chain->links[t->first], t->out, &d->reach[t->first]);
}

static void make_kernel(void *arg) {
    const fuse_try *t = arg;
    const rt_chain *chain = t->divider->chain;
    chain->make(chain->user, t->out);
}

/* If the device cannot run the program, the fusion becomes a refusal. */
static void build_program_or_refuse(fuse_try *t) {
    const rt_chain *chain = t->divider->chain;
    spvf_context *c = t->divider->context;
    rt_chain_kernel *k = t->out;
    char why[RT_CAUGHT_SIZE];
    k->drop = chain->drop;
    if (rt_can_run(c, make_kernel, t, why)) return;
    rt_fusion_refuse(k->fusion, why);
    if (chain->options.strict) {
        rt_say_refusal(c, spvf_fusion_explanation(k->fusion), true);
        ir_throw(&c->cx, IR_ERR_REFUSED);
    }
    if (k->made) k->drop(k->made);
    k->made = NULL;
    k->refusal = rt_fusion_end(k->fusion);
    k->fusion = NULL;
    chain_facts_free(k->facts);
    k->facts = NULL;
}

static void fuse_and_build(void *arg) {
    fuse_try *t = arg;
    fuse_members(t);
    if (t->out->fusion) build_program_or_refuse(t);
}

/* Can so many links be one kernel?  Then it has a fusion, otherwise a refusal; throws. */
static rt_chain_kernel try_fuse(divider *d, uint32_t first, uint32_t count) {
    rt_chain_kernel k = {.first = first, .count = count};
    fuse_try t = {.divider = d, .first = first, .count = count, .out = &k};
    ir_ctx *cx = &d->context->cx;
    ir_arena_init(&t.arena, cx);
    bool ok = ir_try(cx, fuse_and_build, &t);
    ir_arena_free(&t.arena);
    if (ok) return k;
    rt_chain_kernel_free(&k);
    ir_throw(cx, cx->status);
}

/* ------------------------------------------------------------------------------------- division */

static void discard_kernel(rt_chain_kernel *k) {
    if (k->made) k->drop(k->made);
    k->made = NULL;
    spvf_fusion_destroy(k->fusion);
    k->fusion = NULL;
    chain_facts_free(k->facts);
    k->facts = NULL;
}

void rt_chain_kernel_free(rt_chain_kernel *k) {
    discard_kernel(k);
    spvf_explanation_destroy(k->refusal);
}

static uint32_t min(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* A launch without work-items cannot be a member. */
static bool is_alone(const rt_chain_link *l) {
    bool empty = false;
    for (uint32_t d = 0; d < l->range.dims; d++) empty |= l->range.global[d] == 0;
    return l->alone || empty;
}

/* Links from there on that may be fused at all. */
static uint32_t count_candidates(const rt_chain *c, uint32_t first) {
    uint32_t n = 0, most = min(c->count - first, c->unfused ? 1 : RT_CHAIN_LAUNCHES);
    while (n < most && !is_alone(&c->links[first + n])) n++;
    return n;
}

/* The member that is one too many, or 0: the refusal does not say. */
static uint32_t find_culprit(const spvf_explanation *refusal) {
    const spvf_decision *d = refusal->refusal;
    return d && d->why.first && d->why.second ? d->why.second->member : 0;
}

/* The longest run of links that can be one kernel: `low` of them can be, `high` cannot. */
static void find_longest(divider *d, uint32_t first, rt_chain_kernel *out) {
    uint32_t low = 1, high = count_candidates(d->chain, first) + 1;
    uint32_t guess = min(d->guess, high - 1);
    while (low + 1 < high) {
        rt_chain_kernel k = try_fuse(d, first, guess);
        if (k.fusion) {
            discard_kernel(out);
            out->fusion = k.fusion;
            out->facts = k.facts;
            out->made = k.made;
            out->drop = k.drop;
            low = out->count = guess;
            guess = min(2 * low, high - 1);
        } else {
            uint32_t culprit = find_culprit(k.refusal);
            spvf_explanation_destroy(out->refusal);
            out->refusal = k.refusal;
            high = culprit >= low ? culprit + 1 : guess;
            guess = culprit > low ? culprit : low + (high - low) / 2;
        }
    }
    d->guess = 2 * low;
}

static void divide(void *arg) {
    divider *d = arg;
    d->reach = ir_new_array(&d->arena, pass_reach *, d->chain->count);
    for (uint32_t n = 0; n < d->chain->count; n += d->kernels[d->count - 1].count) {
        d->kernels[d->count++] = (rt_chain_kernel){.first = n, .count = 1};
        find_longest(d, n, &d->kernels[d->count - 1]);
    }
}

/* One kernel, without the limit RT_CHAIN_LAUNCHES, or an error. */
static void fuse_all(void *arg) {
    divider *d = arg;
    const rt_chain *c = d->chain;
    d->reach = ir_new_array(&d->arena, pass_reach *, c->count);
    d->kernels[d->count++] = (rt_chain_kernel){.count = 1};
    for (uint32_t n = 0; n < c->count && c->count > 1; n++)
        if (is_alone(&c->links[n]) || c->unfused)
            rt_throw(d->context, IR_ERR_REFUSED, "not fused: launch %u is to stay by itself", n);
    if (c->count > 1) d->kernels[0] = try_fuse(d, 0, c->count);
}

spvf_status rt_chain_divide(spvf_context *context, const rt_chain *chain, rt_chain_kernel *kernels,
                            uint32_t *count) {
    divider d = {.context = context, .chain = chain, .guess = UINT32_MAX, .kernels = kernels};
    ir_arena_init(&d.arena, &context->cx);
    spvf_status status = rt_guard(context, chain->options.strict ? fuse_all : divide, &d);
    for (uint32_t k = 0; k < d.modules.n; k++) spvf_module_destroy(d.modules.data[k]);
    ir_arena_free(&d.arena);
    *count = d.count;
    return status;
}
