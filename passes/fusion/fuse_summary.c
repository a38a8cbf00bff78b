/* fuse_summary.c — what the members of a group read and write, each by itself.
 *
 * The accesses of a member are also sorted by the object they go to, so that those of two members
 * are compared object by object.  Two facts about all members save most of these comparisons.
 * Members that launch one kernel on the same range with the same arguments, but for floats, are
 * alike.  And an argument that many members use may be own to items, which is proved once for all
 * members: no two items share a byte of it.
 */
#include "passes/fusion/fuse_impl.h"

#include <stdlib.h>

enum {
    MAX_BACK = 64, /* earlier members among which one that is alike is looked for */
    MANY = 4       /* members that use an argument, for which one proof for all is tried */
};

/* ------------------------------------------------------------------------------------- launches */

/* The values of parameters that are given constants of up to 64 bits. */
static const int64_t *const *known_values(const pass_fuse_request *request, const ir_func *f,
                                          uint32_t m, ir_arena *scratch) {
    const int64_t **value = ir_new_array(scratch, const int64_t *, f->nparams + 1);
    for (uint32_t k = 0; k < request->nconstants; k++) {
        const pass_constant *c = &request->constants[k];
        if (c->member != m || c->param >= f->nparams || c->size > 8) continue;
        ir_type t = f->param_val[c->param]->type;
        if (!ir_is_int(t) || ir_is_vector(t)) continue;
        uint64_t bits = 0;
        memcpy(&bits, c->bytes, c->size);
        int64_t whole = ir_sext(bits, ir_bits(f->module, t));
        value[c->param] = ir_dup(scratch, &whole, sizeof whole);
    }
    return value;
}

/* The range that the member runs on, in the work-groups of the fused kernel. */
static const ir_range *range_of(const ir_range *own, const ir_range *fused, bool remapped,
                                ir_arena *scratch) {
    ir_range *r = ir_dup(scratch, own, sizeof *r);
    if (remapped || !ir_has_local_size(fused)) return r;
    memcpy(r->local, fused->local, sizeof r->local);
    return r;
}

static bool is_one_group(const ir_range *r) {
    bool one = ir_has_local_size(r);
    for (unsigned d = 0; d < r->dims; d++) one = one && pass_local_size(r, d) >= r->global[d];
    return one;
}

/* -------------------------------------------------------------------------------------- objects */

uint64_t pass_number_of_object(const pass_launch *l, const pass_access *x) {
    uint32_t arg;
    if (pass_argument_of(l, x, &arg)) return arg;
    return (uintptr_t)x->object->imm.global;
}

static int by_object(const void *a, const void *b) {
    const pass_object_access *x = a, *y = b;
    if (x->object != y->object) return x->object < y->object ? -1 : 1;
    return x->access < y->access ? -1 : x->access > y->access;
}

/* Local variables are left out, since those of two members are never one object. */
static void sort_by_object(pass_summary *s, ir_arena *scratch) {
    pass_object_access *sorted = ir_new_array(scratch, pass_object_access, s->accesses.n + 1);
    for (uint32_t k = 0; k < s->accesses.n; k++) {
        const pass_access *x = &s->accesses.data[k];
        s->has_unknown |= !x->object;
        if (!x->object || pass_is_local_variable(x)) continue;
        sorted[s->nsorted++] =
            (pass_object_access){.object = pass_number_of_object(&s->launch, x), .access = x};
    }
    qsort(sorted, s->nsorted, sizeof *sorted, by_object);
    for (uint32_t k = 0; k < s->nsorted; k++)
        sorted[k + 1].writes_before = sorted[k].writes_before + pass_is_write(sorted[k].access);
    s->sorted = sorted;
}

pass_object_span pass_find_object(const pass_summary *s, uint64_t object) {
    const pass_object_access *at = s->sorted, *end = s->sorted + s->nsorted;
    for (const pass_object_access *middle; at < end;) {
        middle = at + (end - at) / 2;
        if (middle->object < object)
            at = middle + 1;
        else
            end = middle;
    }
    while (end < s->sorted + s->nsorted && end->object == object) end++;
    return (pass_object_span){at, end};
}

static uint64_t bit_of_object(const pass_summary *s, uint64_t object) {
    return UINT64_C(1) << (object < s->nargs ? object : ir_mix(object, 0)) % 64;
}

/* What a member accesses, in 64 bits.  Where all objects are known, own arguments have none: their
 * dependences are found by argument, and not by pairs of members (fuse_legal.c). */
static void note_objects(pass_summary *s, bool all_known) {
    for (uint32_t k = 0; k < s->nsorted; k++) {
        const pass_object_access *x = &s->sorted[k];
        if (all_known && pass_is_own(s, x->object)) continue;
        uint64_t bit = bit_of_object(s, x->object);
        s->objects |= bit;
        if (pass_is_write(x->access)) s->written |= bit;
    }
    for (uint32_t k = 0; k < s->accesses.n && s->has_unknown; k++) {
        if (s->accesses.data[k].object) continue;
        s->objects = UINT64_MAX;
        if (pass_is_write(&s->accesses.data[k])) s->written = UINT64_MAX;
    }
}

/* -------------------------------------------------------------------------------- alike members */

static bool are_ranges_equal(const ir_range *a, const ir_range *b) {
    bool equal = a->dims == b->dims && ir_has_local_size(a) == ir_has_local_size(b);
    for (unsigned d = 0; d < a->dims; d++) {
        equal = equal && a->global[d] == b->global[d] && a->offset[d] == b->offset[d];
        equal = equal && (!ir_has_local_size(a) || a->local[d] == b->local[d]);
    }
    return equal;
}

/* Is what parameter p says about addresses the same?  Floats say nothing. */
static bool is_param_alike(const pass_launch *x, const pass_launch *y, uint32_t p) {
    if (ir_is_float(x->kernel->param_val[p]->type)) return true;
    const int64_t *a = x->value[p], *b = y->value[p];
    return a && b ? *a == *b : !a && !b && x->argument[p] == y->argument[p];
}

/* Do two launches of one kernel read and write the same? */
static bool are_alike(const pass_summary *a, const pass_summary *b) {
    const pass_launch *x = &a->launch, *y = &b->launch;
    bool alike = a->accesses.n == b->accesses.n && are_ranges_equal(x->range, y->range);
    for (uint32_t p = 0; p < x->kernel->nparams && alike; p++) alike = is_param_alike(x, y, p);
    return alike;
}

/* Finds the first member that is like m: members that are alike mostly follow each other, or take
 * turns. */
static void find_like(const pass_fuse_request *request, pass_summary *all, uint32_t m) {
    uint32_t first = m > MAX_BACK ? m - MAX_BACK : 0, k = m;
    const ir_func *kernel = request->members[m].kernel;
    while (k > first && all[m].like == m)
        if (request->members[--k].kernel == kernel && are_alike(&all[k], &all[m]))
            all[m].like = all[k].like;
    if (all[m].like != m) all[m].repeated = all[all[m].like].repeated = true;
}

/* -------------------------------------------------------------------------------- own arguments */

typedef struct {
    ir_vec(pass_side) sides;
    uint32_t members; /* how many use it */
    bool is_written;
    bool has_sizes; /* it is known how many bytes each access has */
} used_argument;

static void add_sides(const pass_summary *s, used_argument *by_arg, ir_arena *scratch) {
    for (uint32_t k = 0; k < s->accesses.n; k++) {
        const pass_side side = {s, &s->accesses.data[k]};
        uint32_t arg;
        if (!pass_argument_of(&s->launch, side.access, &arg)) continue;
        used_argument *u = &by_arg[arg];
        u->has_sizes = side.access->size && (u->has_sizes || !u->sides.n);
        u->members += !u->sides.n || u->sides.data[u->sides.n - 1].of != s;
        u->is_written |= pass_is_write(side.access);
        *ir_push(scratch, &u->sides) = side;
    }
}

static void find_own(pass_summary *all, uint32_t n, uint32_t nargs, ir_arena *scratch) {
    used_argument *by_arg = ir_new_array(scratch, used_argument, nargs);
    bool *own = ir_new_array(scratch, bool, nargs);
    for (uint32_t m = 0; m < n; m++) {
        add_sides(&all[m], by_arg, scratch);
        all[m].own = own;
    }
    for (uint32_t k = 0; k < nargs; k++) {
        const used_argument *u = &by_arg[k];
        pass_layout layout;
        own[k] = u->members >= MANY && u->is_written && u->has_sizes &&
                 pass_find_item_layout(u->sides.data, u->sides.n, &layout);
    }
}

bool pass_is_own(const pass_summary *s, uint64_t object) {
    return object < s->nargs && s->own[object];
}

/* ------------------------------------------------------------------------------------ summaries */

static void summarize(const pass_fuse_request *request, const pass_fuse_member *members, uint32_t m,
                      const pass_fuse_result *result, ir_arena *scratch, pass_summary *s) {
    const ir_range *own = &members[m].range, *fused = &result->range;
    ir_func *f = (ir_func *)(uintptr_t)members[m].kernel;
    s->remapped = !pass_same_ids(own, fused);
    s->one_group = is_one_group(fused);
    s->one_item = pass_range_items(fused) == 1;
    s->nargs = result->nargs;
    s->like = m;
    s->launch = (pass_launch){.kernel = f,
                              .range = range_of(own, fused, s->remapped, scratch),
                              .argument = result->arg_of[m],
                              .value = known_values(request, f, m, scratch)};
    pass_find_accesses(&s->launch, scratch, &s->accesses);
    sort_by_object(s, scratch);
}

pass_summary *pass_fuse_summaries(const pass_fuse_request *request, const pass_fuse_member *members,
                                  ir_arena *scratch, const pass_fuse_result *result) {
    pass_summary *all = ir_new_array(scratch, pass_summary, request->nmembers);
    bool all_known = true;
    for (uint32_t m = 0; m < request->nmembers; m++) {
        summarize(request, members, m, result, scratch, &all[m]);
        all_known &= !all[m].has_unknown;
        find_like(request, all, m);
    }
    find_own(all, request->nmembers, result->nargs, scratch);
    for (uint32_t m = 0; m < request->nmembers; m++) note_objects(&all[m], all_known);
    return all;
}
