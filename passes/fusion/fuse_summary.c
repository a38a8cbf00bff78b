/* fuse_summary.c — what each member reads and writes.
 *
 * The accesses of a member are also sorted by object, so that those of two members are compared
 * object by object.  Two facts about all members save most of these comparisons.  Members are alike
 * if they launch one kernel on the same range with the same arguments, except for floats.  An
 * argument that many members use may be own to items: no two items share a byte of it, which is
 * proved once for all members.
 */
#include "passes/fusion/fuse_impl.h"

#include <stdlib.h>

enum {
    MAX_BACK = 64,  /* earlier members that are searched for one that is alike */
    MANY = 4,       /* members that use an argument, for which one proof for all is tried */
    MANY_SIDES = 16 /* or so many accesses, of several members */
};

/* ------------------------------------------------------------------------------------- launches */

const int64_t *pass_constant_number(const ir_func *f, const pass_constant *c, ir_arena *a) {
    if (c->param >= f->nparams || c->size > 8) return NULL;
    ir_type t = f->param_val[c->param]->type;
    if (!ir_is_int(t) || ir_is_vector(t)) return NULL;
    uint64_t bits = 0;
    memcpy(&bits, c->bytes, c->size);
    int64_t whole = ir_sext(bits, ir_bits(f->module, t));
    return ir_dup(a, &whole, sizeof whole);
}

/* The values of parameters that are given constants of up to 64 bits. */
static const int64_t *const *known_values(const pass_fuse_request *request, const ir_func *f,
                                          uint32_t m, ir_arena *scratch) {
    const int64_t **value = ir_new_array(scratch, const int64_t *, f->nparams + 1);
    for (uint32_t k = 0; k < request->nconstants; k++) {
        const pass_constant *c = &request->constants[k];
        const int64_t *number = c->member == m ? pass_constant_number(f, c, scratch) : NULL;
        if (number) value[c->param] = number;
    }
    return value;
}

/* Does the kernel read its copy of a struct at known places, and nothing else? */
static bool is_only_read(const ir_inst *pointer, bool begins) {
    foreach_use (u, pointer) {
        const ir_inst *user = u->user;
        if (user->op == IR_OP_load) continue;
        if (!begins || user->op != IR_OP_ptradd || !ir_is_const(ir_arg(user, 1))) return false;
        if (!is_only_read(user, false)) return false;
    }
    return true;
}

const uint8_t *pass_constant_bytes(const ir_func *f, const pass_constant *c) {
    if (c->param >= f->nparams) return NULL;
    const ir_param *p = &f->param[c->param];
    const bool whole = p->attrs & IR_PARAM_BYVAL && c->size == p->byval_size;
    return whole && is_only_read(f->param_val[c->param], true) ? c->bytes : NULL;
}

/* The bytes of structs by value that are given constants. */
static const uint8_t *const *known_bytes(const pass_fuse_request *request, const ir_func *f,
                                         uint32_t m, ir_arena *scratch) {
    const uint8_t **bytes = ir_new_array(scratch, const uint8_t *, f->nparams + 1);
    for (uint32_t k = 0; k < request->nconstants; k++) {
        const pass_constant *c = &request->constants[k];
        const uint8_t *known = c->member == m ? pass_constant_bytes(f, c) : NULL;
        if (known) bytes[c->param] = known;
    }
    return bytes;
}

/* The range that the member runs on, in the work-groups of the fused kernel. */
static const ir_range *range_of(const ir_range *own, const ir_range *fused, bool remapped,
                                ir_arena *scratch) {
    ir_range *r = ir_dup(scratch, own, sizeof *r);
    if (remapped || !ir_has_local_size(fused)) return r;
    memcpy(r->local, fused->local, sizeof r->local);
    return r;
}

/* -------------------------------------------------------------------------------------- objects */

uint64_t pass_number_of_object(const pass_launch *l, const pass_access *x) {
    uint32_t arg;
    if (pass_argument_of(l, x, &arg)) return arg;
    return (uintptr_t)x->object->imm.global;
}

static int compare_objects(const void *a, const void *b) {
    const pass_object_access *x = a, *y = b;
    if (x->object != y->object) return x->object < y->object ? -1 : 1;
    return x->access < y->access ? -1 : x->access > y->access;
}

/* Local variables are left out, since those of two members are never one object. */
static void sort_by_object(pass_summary *s, ir_arena *scratch) {
    pass_object_access *list = ir_new_array(scratch, pass_object_access, s->accesses.n + 1);
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->accesses.n; k++) {
        const pass_access *x = &s->accesses.data[k];
        s->objects.has_unknown |= !x->object;
        if (!x->object || pass_is_local_variable(x)) continue;
        list[n++] =
            (pass_object_access){.object = pass_number_of_object(&s->launch, x), .access = x};
    }
    qsort(list, n, sizeof *list, compare_objects);
    for (uint32_t k = 0; k < n; k++)
        list[k + 1].writes_before = list[k].writes_before + pass_is_write(list[k].access);
    s->objects.list = list;
    s->objects.n = n;
}

pass_object_span pass_find_object(const pass_summary *s, uint64_t object) {
    const pass_object_access *at = s->objects.list, *last = at + s->objects.n, *end = last;
    for (const pass_object_access *middle; at < end;) {
        middle = at + (end - at) / 2;
        if (middle->object < object)
            at = middle + 1;
        else
            end = middle;
    }
    while (end < last && end->object == object) end++;
    return (pass_object_span){at, end};
}

/* The sets of objects.  Where all objects of all members are known, own arguments are in none:
 * their dependences are found by argument, and not by pairs of members (legality.c). */
static void find_sets(pass_summary *s, bool all_known) {
    pass_object_index *o = &s->objects;
    for (uint32_t k = 0; k < o->n; k++) {
        const pass_object_access *x = &o->list[k];
        if (all_known && pass_is_own(s, x->object)) continue;
        uint64_t number = x->object < s->fused->nargs ? x->object : ir_mix(x->object, 0);
        o->used |= UINT64_C(1) << number % 64;
        if (pass_is_write(x->access)) o->written |= UINT64_C(1) << number % 64;
    }
    for (uint32_t k = 0; k < s->accesses.n && o->has_unknown; k++) {
        if (s->accesses.data[k].object) continue;
        o->used = UINT64_MAX;
        if (pass_is_write(&s->accesses.data[k])) o->written = UINT64_MAX;
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

/* Is parameter p the same for addresses?  They do not depend on floats. */
static bool is_param_alike(const pass_launch *x, const pass_launch *y, uint32_t p) {
    if (ir_is_float(x->kernel->param_val[p]->type)) return true;
    const int64_t *a = x->value[p], *b = y->value[p];
    const uint8_t *c = x->bytes[p], *d = y->bytes[p];
    if (c && d) return memcmp(c, d, x->kernel->param[p].byval_size) == 0;
    if (c || d) return false;
    return a && b ? *a == *b : !a && !b && x->argument[p] == y->argument[p];
}

/* Do two launches of one kernel read and write the same? */
static bool are_alike(const pass_summary *a, const pass_summary *b) {
    const pass_launch *x = &a->launch, *y = &b->launch;
    bool alike = a->accesses.n == b->accesses.n && are_ranges_equal(x->range, y->range);
    for (uint32_t p = 0; p < x->kernel->nparams && alike; p++) alike = is_param_alike(x, y, p);
    return alike;
}

/* Finds the first member that is like m.  In most cases members that are alike follow each other,
 * or alternate. */
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

/* Which arguments are own to items? */
static bool *find_own(const pass_summary *all, uint32_t n, uint32_t nargs, ir_arena *scratch) {
    used_argument *by_arg = ir_new_array(scratch, used_argument, nargs);
    bool *own = ir_new_array(scratch, bool, nargs);
    for (uint32_t m = 0; m < n; m++) add_sides(&all[m], by_arg, scratch);
    for (uint32_t k = 0; k < nargs; k++) {
        const used_argument *u = &by_arg[k];
        pass_layout layout;
        bool many = u->members >= MANY || (u->members > 1 && u->sides.n >= MANY_SIDES);
        own[k] = many && u->is_written && u->has_sizes &&
                 pass_find_item_layout(u->sides.data, u->sides.n, &layout);
    }
    return own;
}

bool pass_is_own(const pass_summary *s, uint64_t object) {
    return object < s->fused->nargs && s->fused->own[object];
}

/* ------------------------------------------------------------------------------------ summaries */

static void summarize(const pass_fuse_input *in, uint32_t m, const pass_fuse_result *result,
                      pass_summary *s) {
    const ir_range *own = &in->members[m].range;
    ir_func *f = (ir_func *)(uintptr_t)in->members[m].kernel;
    s->remapped = !pass_same_ids(own, &result->range);
    s->like = m;
    s->launch = (pass_launch){.kernel = f,
                              .range = range_of(own, &result->range, s->remapped, in->scratch),
                              .argument = result->arg_of[m],
                              .value = known_values(in->request, f, m, in->scratch),
                              .bytes = known_bytes(in->request, f, m, in->scratch)};
    pass_find_accesses(&s->launch, in->scratch, &s->accesses);
    sort_by_object(s, in->scratch);
}

static pass_fused_facts *find_facts(const ir_range *r, uint32_t nargs, ir_arena *scratch) {
    pass_fused_facts facts = {.nargs = nargs, .one_item = pass_range_items(r) == 1};
    facts.one_group = ir_has_local_size(r);
    for (unsigned d = 0; d < r->dims; d++)
        facts.one_group = facts.one_group && pass_local_size(r, d) >= r->global[d];
    return ir_dup(scratch, &facts, sizeof facts);
}

pass_summary *pass_fuse_summaries(const pass_fuse_input *in, const pass_fuse_result *result) {
    uint32_t n = in->request->nmembers;
    pass_summary *all = ir_new_array(in->scratch, pass_summary, n);
    pass_fused_facts *facts = find_facts(&result->range, result->nargs, in->scratch);
    bool all_known = true;
    for (uint32_t m = 0; m < n; m++) {
        all[m].fused = facts;
        summarize(in, m, result, &all[m]);
        all_known &= !all[m].objects.has_unknown;
        find_like(in->request, all, m);
    }
    facts->own = find_own(all, n, result->nargs, in->scratch);
    for (uint32_t m = 0; m < n; m++) find_sets(&all[m], all_known);
    return all;
}
