/* plan_divide.c — all launches of a plan, divided into kernels as a graph divides them,
 * whatever the plan says of groups.
 *
 * Launches are a chain (runtime/queue/chain.h) up to the next statement that looks at buffers.
 * Each buffer is memory of its own, and numbers and scalars that are not variable are constants, as
 * they are in groups.
 */
#include "runtime/plan/plan.h"
#include "runtime/queue/chain.h"

#include <stdlib.h>

typedef struct {
    rt_library *library;
    spvf_explain_options want;
    rt_device *device;
    ir_vec(rt_bound_launch) bound; /* of the chain */
    ir_vec(rt_chain_link) links;
    size_t first; /* launch of the chain */
    ir_vec(spvf_explained_part) parts;
} division;

static ir_arena *arena_of(const division *d) { return d->library->arena; }

/* --------------------------------------------------------------------------------------- chains */

enum { SOME_ADDRESS = 1 << 20 };

static rt_chain_arg chain_arg(const spvf_plan *plan, const rt_bound_arg *a) {
    if (a->arg->kind != RT_PLAN_BUFFER)
        return (rt_chain_arg){.bytes = a->bytes, .size = a->size, .variable = a->arg->variable};
    const rt_buffer_decl *b = &plan->buffers.data[a->arg->index];
    return (rt_chain_arg){.memory = b,
                          .address = SOME_ADDRESS + a->arg->offset,
                          .begin = SOME_ADDRESS,
                          .end = SOME_ADDRESS + b->count * rt_elem_size(b->elem),
                          .internal = b->internal.given,
                          .promote = b->internal.kind};
}

static void add_link(division *d, const rt_plan_launch *l) {
    rt_bound_launch *b = ir_push(arena_of(d), &d->bound);
    *b = rt_bind(d->library, l);
    rt_chain_arg *args = ir_new_array(arena_of(d), rt_chain_arg, l->args.n + 1);
    for (uint32_t n = 0; n < l->args.n; n++) args[n] = chain_arg(d->library->plan, &b->args[n]);
    const spvf_module *m = b->loaded->module;
    *ir_push(arena_of(d), &d->links) =
        (rt_chain_link){.module = m,
                        .kernel = spvf_module_find_kernel(m, l->kernel),
                        .range = l->range,
                        .args = args,
                        .alone = l->uneven};
}

/* --------------------------------------------------------------------------------------- device */

/* The device that would run the kernel makes it, and forgets it when it is closed. */
static void make(void *user, rt_chain_kernel *k) {
    const division *d = user;
    const spvf_fusion_info *info = spvf_fusion_get_info(k->fusion);
    rt_arg *args = ir_new_array(arena_of(d), rt_arg, info->arg_count);
    rt_memory *some = d->device->driver->allocate(d->device, "any", 1, NULL);
    for (size_t n = 0; n < info->arg_count; n++) {
        const spvf_fused_arg *from = info->args[n];
        args[n] = rt_device_arg(&d->bound.data[k->first + from->member].args[from->param], some);
    }
    rt_prepare_fusion(d->device, k->fusion, args);
}

/* ---------------------------------------------------------------------------------------- parts */

/* One launch by itself is a group of one. */
static spvf_status explain_alone(const division *d, uint32_t link, spvf_fusion **fusion,
                                 spvf_explanation **refusal) {
    rt_plan_launch launch = *d->bound.data[link].launch;
    if (launch.uneven) memset(launch.range.local, 0, sizeof launch.range.local);
    launch.uneven = false;
    const rt_group group = {
        .at = launch.at, .name = launch.kernel, .launches = {.data = &launch, .n = 1}};
    const rt_group_request request = {.group = &group,
                                      .explains = true,
                                      .serial = d->device->can.serial,
                                      .lanes = d->device->can.lanes};
    rt_group_result result;
    spvf_status status = rt_fuse_group(d->library, &request, &result);
    *fusion = result.fusion;
    *refusal = result.refusal;
    return status;
}

static void complete(const division *d, const rt_chain_kernel *k, spvf_fusion *fusion,
                     spvf_explanation *refusal) {
    const rt_explained e = {.library = d->library,
                            .bound = &d->bound.data[k->first],
                            .count = k->count,
                            .fusion = fusion,
                            .report = (rt_report *)(fusion ? rt_fusion_report(fusion) : refusal)};
    if (d->want.code) rt_explain_codes(&e, d->want.target, d->want.listings);
    if (d->want.listings) rt_explain_ir(&e);
}

/* The explanations move from the kernel to the part, which is listed before anything throws. */
static void add_part(division *d, rt_chain_kernel *k) {
    spvf_explained_part *p = ir_push(arena_of(d), &d->parts);
    spvf_explanation *refusal = NULL;
    *p = (spvf_explained_part){.first = d->first + k->first, .count = k->count};
    p->cut = k->refusal;
    k->refusal = NULL;
    if (!k->fusion && explain_alone(d, k->first, &k->fusion, &refusal) != SPVF_OK)
        ir_throw(&d->library->plan->context->cx, d->library->plan->context->cx.status);
    p->explanation = refusal;
    complete(d, k, k->fusion, refusal);
    if (k->fusion) p->explanation = rt_fusion_end(k->fusion);
    k->fusion = NULL;
}

typedef struct {
    division *division;
    rt_chain_kernel *kernels;
    uint32_t count;
} divided;

static void add_parts(void *arg) {
    const divided *all = arg;
    for (uint32_t k = 0; k < all->count; k++) add_part(all->division, &all->kernels[k]);
}

/* Divides the chain, and begins another one. */
static void end_chain(division *d) {
    spvf_context *c = d->library->plan->context;
    const spvf_capabilities *can = &d->device->can;
    const rt_chain chain = {
        .links = d->links.data,
        .count = d->links.n,
        .options = {.serial = can->serial, .lanes = can->lanes, .known_range = true},
        .constants = true,
        .sizes = true,
        .make = make,
        .user = d};
    if (!d->links.n) return;
    divided all = {d, ir_new_array(arena_of(d), rt_chain_kernel, chain.count), 0};
    spvf_status status = rt_chain_divide(c, &chain, all.kernels, &all.count);
    bool ok = status == SPVF_OK && ir_try(&c->cx, add_parts, &all);
    ir_status why = status == SPVF_OK ? c->cx.status : (ir_status)status;
    for (uint32_t k = 0; k < all.count; k++) rt_chain_kernel_free(&all.kernels[k]);
    if (!ok) ir_throw(&c->cx, why);
    d->first += chain.count;
    d->bound.n = d->links.n = 0;
}

static void divide(void *arg) {
    division *d = arg;
    const spvf_plan *plan = d->library->plan;
    const char *name = d->want.device ? d->want.device : spvf_default_device(NULL);
    d->device = rt_device_open(plan->context, name);
    d->library->reflection = d->device->reflection;
    for (uint32_t s = 0; s < plan->stmts.n; s++) {
        const rt_stmt *stmt = &plan->stmts.data[s];
        if (stmt->kind != RT_LAUNCH && stmt->kind != RT_GROUP)
            end_chain(d);
        else
            for (uint32_t l = 0; l < stmt->group.launches.n; l++)
                add_link(d, &stmt->group.launches.data[l]);
    }
    end_chain(d);
}

/* ---------------------------------------------------------------------------------- the entries */

static void destroy_parts(spvf_explained_part *parts, size_t count) {
    for (size_t k = 0; k < count; k++) {
        spvf_explanation_destroy(parts[k].explanation);
        spvf_explanation_destroy(parts[k].cut);
    }
}

void spvf_explained_parts_destroy(spvf_explained_part *parts, size_t count) {
    if (!parts) return;
    destroy_parts(parts, count);
    free(parts);
}

/* The list, for the caller. */
static spvf_status copy_parts(const division *d, spvf_explained_part **out) {
    const size_t size = d->parts.n * sizeof **out;
    *out = malloc(size ? size : 1);
    if (!*out) return SPVF_ERROR_MEMORY;
    if (size) memcpy(*out, d->parts.data, size);
    return SPVF_OK;
}

spvf_status spvf_plan_divide(spvf_plan *plan, const spvf_explain_options *options,
                             spvf_explained_part **parts, size_t *count) {
    ir_arena arena;
    if (parts) *parts = NULL;
    if (count) *count = 0;
    if (!plan || !parts || !count)
        return rt_refuse_call(plan ? plan->context : NULL, __func__, "%s is NULL",
                              parts ? "count" : "parts");
    spvf_explain_options want;
    if (!rt_take_options(plan->context, __func__, &want, options)) return SPVF_ERROR_ARGUMENT;
    ir_arena_init(&arena, &plan->context->cx);
    rt_library library = {
        .plan = plan, .arena = &arena, .reflection = rt_reflection_of(spvf_default_device(NULL))};
    division d = {.library = &library, .want = want};
    spvf_status status = rt_guard(plan->context, divide, &d);
    if (status == SPVF_OK) status = copy_parts(&d, parts);
    if (status == SPVF_OK)
        *count = d.parts.n;
    else
        destroy_parts(d.parts.data, d.parts.n);
    rt_device_close(d.device);
    rt_library_free(&library);
    ir_arena_free(&arena);
    return status;
}
