/* chain_facts.c — what the code of a fused kernel takes for granted, so that it can run for other
 * arguments, too.
 *
 * Members that are given other arguments would become the same kernel if they are launched on the
 * same ranges, if the same of their arguments are the same memory and all others are different
 * memory, and if constants of the code and memory that became registers are what they were.  What
 * members access around their pointers depends on their ranges and constants only, so it need not
 * be found again.
 */
#include "runtime/queue/places.h"

#include <stdlib.h>

typedef struct {
    uint32_t leader; /* the first argument at the same address, counted over all members */
    spvf_param_use use;
    uintptr_t address;
    const void *bytes; /* of a constant, with size */
    size_t size;
} arg_facts;

typedef struct {
    spvf_range range;
    const pass_reach *reach; /* by argument, or NULL: not needed */
    uint32_t first;          /* of its arguments, counted over all members */
} member_facts;

struct rt_chain_facts {
    ir_arena arena; /* this struct is in it */
    uint32_t count, arg_count;
    member_facts *members;
    arg_facts *args;
};

void chain_facts_free(rt_chain_facts *f) {
    if (!f) return;
    ir_arena arena = f->arena;
    ir_arena_free(&arena);
}

/* ---------------------------------------------------------------------------------- same memory */

typedef struct {
    const rt_chain_arg *arg;
    uint32_t index;
} numbered;

static int compare(const void *x, const void *y) {
    const numbered *a = x, *b = y;
    const uintptr_t keys[2][2] = {{(uintptr_t)a->arg->memory, a->arg->address},
                                  {(uintptr_t)b->arg->memory, b->arg->address}};
    for (unsigned k = 0; k < 2; k++)
        if (keys[0][k] != keys[1][k]) return keys[0][k] < keys[1][k] ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* For each argument of all links the first one at its address. */
static uint32_t *find_leaders(const rt_chain_link *links, const rt_chain_facts *f, ir_arena *a) {
    uint32_t *leader = ir_new_array(a, uint32_t, f->arg_count + 1), n = 0;
    numbered *all = ir_new_array(a, numbered, f->arg_count + 1);
    for (uint32_t m = 0; m < f->count; m++)
        for (uint32_t p = 0; p < links[m].kernel->arg_count; p++, n++)
            all[n] = (numbered){&links[m].args[p], n};
    qsort(all, n, sizeof *all, compare);
    for (uint32_t k = 0; k < n; k++) {
        const rt_chain_arg *now = all[k].arg, *before = k ? all[k - 1].arg : NULL;
        const bool same = before && now->memory && now->memory == before->memory &&
                          now->address == before->address;
        leader[all[k].index] = same ? leader[all[k - 1].index] : all[k].index;
    }
    return leader;
}

/* -------------------------------------------------------------------------------------- keeping */

static void keep_uses(rt_chain_facts *f, const rt_chain_link *links, const spvf_fusion *fusion) {
    const spvf_fusion_info *info = spvf_fusion_get_info(fusion);
    for (size_t n = 0; n < info->param_count; n++) {
        const spvf_param_info *p = info->params[n];
        const rt_chain_arg *a = &links[p->member].args[p->param];
        arg_facts *to = &f->args[f->members[p->member].first + p->param];
        to->use = p->use;
        if (p->use != SPVF_PARAM_CONSTANT || !a->bytes) continue;
        to->bytes = ir_dup(&f->arena, a->bytes, a->size);
        to->size = a->size;
    }
}

static void keep_members(rt_chain_facts *f, const rt_chain_link *links, pass_reach *const *reach) {
    for (uint32_t m = 0; m < f->count; m++) {
        const size_t args = links[m].kernel->arg_count;
        f->members[m] = (member_facts){.range = links[m].range, .first = f->arg_count};
        if (reach[m]) f->members[m].reach = ir_dup(&f->arena, reach[m], args * sizeof **reach);
        f->arg_count += (uint32_t)args;
    }
}

void chain_keep_facts(spvf_context *c, const rt_chain_link *links, rt_chain_kernel *k,
                      pass_reach *const *reach) {
    ir_arena arena;
    ir_arena_init(&arena, &c->cx);
    rt_chain_facts *f = k->facts = ir_new(&arena, rt_chain_facts);
    f->count = k->count;
    f->arena = arena;
    f->members = ir_new_array(&f->arena, member_facts, f->count);
    keep_members(f, links, reach);
    f->args = ir_new_array(&f->arena, arg_facts, f->arg_count);
    const uint32_t *leader = find_leaders(links, f, &f->arena);
    uint32_t n = 0;
    for (uint32_t m = 0; m < f->count; m++)
        for (uint32_t p = 0; p < links[m].kernel->arg_count; p++, n++)
            f->args[n] = (arg_facts){.leader = leader[n], .address = links[m].args[p].address};
    keep_uses(f, links, k->fusion);
}

/* ------------------------------------------------------------------------------------- checking */

bool rt_is_same_range(const spvf_range *a, const spvf_range *b) {
    bool same = a->dims == b->dims;
    for (uint32_t d = 0; d < a->dims && same; d++)
        same = a->global[d] == b->global[d] && a->local[d] == b->local[d] &&
               a->offset[d] == b->offset[d];
    return same;
}

static const char *check_arg(const arg_facts *then, const rt_chain_arg *now, uint32_t leader) {
    if (then->bytes && memcmp(then->bytes, now->bytes, then->size) != 0)
        return "a number that is a constant of the code is another one";
    if (then->use == SPVF_PARAM_PROMOTED && then->address != now->address)
        return "a buffer that became registers is another one";
    return then->leader == leader ? NULL : "other arguments than before are the same memory";
}

static const char *check_member(const rt_chain_facts *f, const rt_chain_link *l, uint32_t m,
                                const uint32_t *leader) {
    const member_facts *then = &f->members[m];
    const char *why = NULL;
    if (l->alone) return "it is not to be fused any more";
    if (!rt_is_same_range(&then->range, &l->range)) return "its range is another one";
    for (uint32_t p = 0; p < l->kernel->arg_count && !why; p++)
        why = check_arg(&f->args[then->first + p], &l->args[p], leader[then->first + p]);
    return why;
}

/* The member that is the second one to reach some memory, or UINT32_MAX. */
static uint32_t find_overlap(const rt_chain_facts *f, const rt_chain_link *links, ir_arena *a) {
    chain_places places = {.arena = a};
    for (uint32_t m = 0; m < f->count; m++)
        chain_add_places(&places, &links[m], links[m].kernel, m, f->members[m].reach);
    chain_compare_places(&places);
    return places.overlaps.n ? places.overlaps.data[0].member_b : UINT32_MAX;
}

typedef struct {
    const rt_chain_facts *facts;
    const rt_chain_link *links;
    ir_arena arena;
    uint32_t member;
    const char *why;
} comparison;

static void compare_links(void *arg) {
    comparison *c = arg;
    const uint32_t *leader = find_leaders(c->links, c->facts, &c->arena);
    for (uint32_t m = 0; m < c->facts->count && !c->why; m++) {
        c->why = check_member(c->facts, &c->links[m], m, leader);
        c->member = m;
    }
    if (c->why) return;
    c->member = find_overlap(c->facts, c->links, &c->arena);
    if (c->member != UINT32_MAX) c->why = "memory of another kernel overlaps what it accesses";
}

const char *rt_chain_misfit(spvf_context *context, const rt_chain_kernel *k,
                            const rt_chain_link *links, uint32_t *member) {
    comparison c = {.facts = k->facts, .links = links};
    ir_arena_init(&c.arena, &context->cx);
    bool ok = ir_try(&context->cx, compare_links, &c);
    ir_arena_free(&c.arena);
    if (!ok) ir_throw(&context->cx, context->cx.status);
    *member = c.member;
    return c.why;
}
