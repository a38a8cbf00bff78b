/* fuse_legal.c — which members depend on each other, and where barriers are placed.
 *
 * Every pair of members is looked at (legality.c).  A dependence between work-groups, or one that
 * is not understood, refuses the group unless the request forces it, or the device can make all
 * work-groups wait for each other: then the members are phases of the kernel.  A dependence within
 * work-groups needs a barrier somewhere between the two; barriers are placed as late as possible,
 * so that one serves as many pairs as it can, and all others are left out.
 *
 * The first reason refuses; the other pairs are looked at all the same, for the report.  Members
 * that launch one kernel on the same range with the same arguments, but for floats, are alike.
 * What was found out about two members holds for every pair of members that are like these two.
 *
 * The proof takes different arguments for different memory, so the fused kernel may rely on it too.
 * Where all accesses of an argument have one layout by items (layout.c), no two items share a byte
 * of it, so a barrier does not change what an item has put there.
 */
#include "passes/fuse_impl.h"

enum {
    MAX_PAIRS = 1 << 16, /* of accesses of two members; of more, nothing is known */
    MAX_OWN_SIDES = 256, /* accesses of one argument; with more, no layout is looked for */
    MAX_BACK = 64        /* earlier members among which one that is alike is looked for */
};

/* What has been found out about two members. */
typedef struct {
    pass_dependence worst;
    bool is_unordered; /* a work-group would have to wait for memory that no barrier orders */
    pass_dependence unordered;
} verdict;

typedef struct {
    const pass_fuse_request *request;
    const pass_summary *summary; /* by member */
    ir_map verdicts;             /* by the two members that a pair is like */
    ir_arena *scratch, *out;
    pass_fuse_result *result;
    pass_wait *wait;              /* after each member but the last */
    pass_dependence *by_gap;      /* there: what the barrier is for, or the worst that needs none */
    pass_dependence *by_arg;      /* the worst between any two members */
    pass_dependence *pair_by_arg; /* the worst between the two that are compared */
    bool refused;
} judge;

/* ------------------------------------------------------------------------------------ summaries */

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
static const pass_range *range_of(const pass_range *own, const pass_range *fused, bool remapped,
                                  ir_arena *scratch) {
    pass_range *r = ir_dup(scratch, own, sizeof *r);
    if (remapped || !fused->has_local) return r;
    r->has_local = true;
    memcpy(r->local, fused->local, sizeof r->local);
    return r;
}

static bool is_one_group(const pass_range *r) {
    bool one = r->has_local;
    for (unsigned d = 0; d < r->dims; d++) one = one && pass_local_size(r, d) >= r->global[d];
    return one;
}

static uint64_t object_bit(const pass_summary *s, const pass_access *x) {
    uint32_t arg;
    if (!x->object) return UINT64_MAX;
    bool param = pass_argument_of(&s->launch, x, &arg);
    return UINT64_C(1) << (param ? arg : ir_mix((uintptr_t)x->object->imm.global, 0)) % 64;
}

static void note_objects(pass_summary *s) {
    for (uint32_t k = 0; k < s->accesses.n; k++) {
        const pass_access *x = &s->accesses.data[k];
        uint64_t bit = object_bit(s, x);
        s->objects |= bit;
        if (x->kind & PASS_WRITES) s->written |= bit;
    }
}

static bool are_ranges_equal(const pass_range *a, const pass_range *b) {
    bool equal = a->dims == b->dims && a->has_local == b->has_local;
    for (unsigned d = 0; d < a->dims; d++) {
        equal = equal && a->global[d] == b->global[d] && a->offset[d] == b->offset[d];
        equal = equal && (!a->has_local || a->local[d] == b->local[d]);
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

typedef struct {
    ir_vec(pass_side) sides;
    uint32_t members; /* how many use it */
    bool is_written;
} used_argument;

static void add_sides(const pass_summary *s, used_argument *by_arg, ir_arena *scratch) {
    for (uint32_t k = 0; k < s->accesses.n; k++) {
        const pass_side side = {s, &s->accesses.data[k]};
        uint32_t arg;
        if (!pass_argument_of(&s->launch, side.access, &arg)) continue;
        used_argument *u = &by_arg[arg];
        u->members += !u->sides.n || u->sides.data[u->sides.n - 1].of != s;
        u->is_written |= (side.access->kind & PASS_WRITES) != 0;
        *ir_push(scratch, &u->sides) = side;
    }
}

/* For an argument that many members use, one proof for all of them saves one for each pair. */
static void find_own(pass_summary *all, uint32_t n, uint32_t nargs, ir_arena *scratch) {
    enum { MANY = 4 };
    used_argument *by_arg = ir_new_array(scratch, used_argument, nargs);
    bool *own = ir_new_array(scratch, bool, nargs);
    for (uint32_t m = 0; m < n; m++) {
        add_sides(&all[m], by_arg, scratch);
        all[m].own = own;
    }
    for (uint32_t k = 0; k < nargs; k++) {
        const used_argument *u = &by_arg[k];
        pass_layout layout;
        own[k] = u->members >= MANY && u->is_written &&
                 pass_find_item_layout(u->sides.data, u->sides.n, &layout);
    }
}

pass_summary *pass_fuse_summaries(const pass_fuse_request *request, const pass_fuse_member *members,
                                  ir_arena *scratch, const pass_fuse_result *result) {
    pass_summary *all = ir_new_array(scratch, pass_summary, request->nmembers);
    for (uint32_t m = 0; m < request->nmembers; m++) {
        const pass_range *own = &members[m].range, *fused = &result->range;
        ir_func *f = (ir_func *)(uintptr_t)members[m].kernel;
        all[m].remapped = !pass_same_ids(own, fused);
        all[m].one_group = is_one_group(fused);
        all[m].one_item = pass_range_items(fused) == 1;
        all[m].nargs = result->nargs;
        all[m].launch = (pass_launch){.kernel = f,
                                      .range = range_of(own, fused, all[m].remapped, scratch),
                                      .argument = result->arg_of[m],
                                      .value = known_values(request, f, m, scratch)};
        pass_find_accesses(&all[m].launch, scratch, &all[m].accesses);
        note_objects(&all[m]);
        all[m].like = m;
        find_like(request, all, m);
    }
    find_own(all, request->nmembers, result->nargs, scratch);
    return all;
}

/* ------------------------------------------------------------------------------------ decisions */

static pass_findings findings(const judge *j) {
    return (pass_findings){j->request, j->summary, j->by_arg, j->by_gap, j->wait, j->scratch};
}

/* A group is refused once, for the first reason, unless the request forces it: then true. */
static bool refuse(judge *j, const char *rule, const char *why, const pass_dependence *d) {
    ir_text t = {.arena = j->out};
    const pass_findings found = findings(j);
    bool forced = j->request->force;
    if (j->refused) return false;
    pass_decision decision = {.rule = forced ? "fuse.forced" : rule,
                              .refusal = !forced,
                              .why = pass_describe_dependence(&found, d, j->out)};
    ir_putf(&t, "%s: ", why);
    pass_print_dependence(&t, &decision.why);
    decision.text = t.data;
    *ir_push(j->out, &j->result->decisions) = decision;
    j->refused = !forced;
    return forced;
}

static bool is_local(const judge *j, uint32_t arg) {
    const pass_fuse_arg *a = &j->result->args[arg];
    return a->kind == PASS_ARG_LOCAL || (a->state == PASS_ARG_PROMOTED && a->memory == IR_LOCAL);
}

/* Does the barrier of the request order the memory of this argument, or variable? */
static bool policy_orders(const judge *j, uint32_t arg) {
    bool known = arg < j->result->nargs + PASS_ANYWHERE;
    bool local = arg < j->result->nargs && is_local(j, arg);
    switch (j->request->barrier) {
    case PASS_BARRIER_BOTH: return true;
    case PASS_BARRIER_LOCAL: return local;
    case PASS_BARRIER_GLOBAL: return known && !local;
    case PASS_BARRIER_NONE: return false;
    }
    return false;
}

static bool has_wait(const judge *j, uint32_t a, uint32_t b, pass_wait wait) {
    for (uint32_t m = b; m-- > a;)
        if (j->wait[m] >= wait) return true;
    return false;
}

/* There are too many pairs: nothing is known of any argument that the two members access. */
static pass_dependence give_up(const pass_summary *a, const pass_summary *b,
                               pass_dependence *by_arg) {
    pass_dependence d = {PASS_DEP_UNKNOWN, {a, a->accesses.data}, {b, b->accesses.data}};
    for (uint32_t k = 0; k < a->accesses.n || k < b->accesses.n; k++) {
        if (k < a->accesses.n) d.first.access = &a->accesses.data[k];
        if (k < b->accesses.n) d.second.access = &b->accesses.data[k];
        pass_keep_worse(by_arg, &d);
    }
    return d;
}

/* Pairs of accesses, of which at least one writes. */
static uint64_t count_pairs(const pass_accesses *a, const pass_accesses *b) {
    uint64_t writes_a = 0, writes_b = 0;
    for (uint32_t k = 0; k < a->n; k++) writes_a += (a->data[k].kind & PASS_WRITES) != 0;
    for (uint32_t k = 0; k < b->n; k++) writes_b += (b->data[k].kind & PASS_WRITES) != 0;
    return writes_a * b->n + a->n * writes_b;
}

static bool have_common_objects(const pass_summary *x, const pass_summary *y) {
    return (x->written & y->objects) || (x->objects & y->written);
}

static pass_dependence find_dependence(const judge *j, uint32_t a, uint32_t b,
                                       pass_dependence *by_arg) {
    const pass_summary *x = &j->summary[a], *y = &j->summary[b];
    if (count_pairs(&x->accesses, &y->accesses) > MAX_PAIRS) return give_up(x, y, by_arg);
    return pass_find_dependence(x, y, by_arg);
}

/* A dependence between the items of a work-group in memory that no barrier orders; false: there is
 * none.  What is no argument may be in any memory. */
static bool find_unordered(const judge *j, uint32_t a, uint32_t b, pass_dependence *out) {
    uint32_t n = j->result->nargs + PASS_OTHERS;
    memset(j->pair_by_arg, 0, n * sizeof *j->pair_by_arg);
    find_dependence(j, a, b, j->pair_by_arg);
    for (uint32_t k = 0; k < n; k++) {
        if (j->pair_by_arg[k].kind < PASS_DEP_GROUP || policy_orders(j, k)) continue;
        *out = j->pair_by_arg[k];
        return true;
    }
    return false;
}

/* The same dependence between members a and b, which are like those it was found between. */
static void change_members(const judge *j, uint32_t a, uint32_t b, pass_dependence *d) {
    pass_side *const sides[] = {&d->first, &d->second};
    const pass_summary *const now[] = {&j->summary[a], &j->summary[b]};
    for (unsigned n = 0; n < 2 && d->first.of; n++) {
        size_t k = (size_t)(sides[n]->access - sides[n]->of->accesses.data);
        *sides[n] = (pass_side){now[n], &now[n]->accesses.data[k]};
    }
}

static verdict compare_members(judge *j, uint32_t a, uint32_t b) {
    verdict v = {.worst = find_dependence(j, a, b, j->by_arg)};
    v.is_unordered = v.worst.kind >= PASS_DEP_GROUP && find_unordered(j, a, b, &v.unordered);
    return v;
}

/* Of pairs that come again, what was found is kept. */
static verdict find_verdict(judge *j, uint32_t a, uint32_t b) {
    const pass_summary *x = &j->summary[a], *y = &j->summary[b];
    uint64_t key = (uint64_t)x->like << 32 | y->like;
    if (!have_common_objects(x, y)) return (verdict){.worst.kind = PASS_DEP_NONE};
    if (!x->repeated && !y->repeated) return compare_members(j, a, b);
    const verdict *known = ir_map_get(&j->verdicts, key);
    if (!known) {
        verdict found = compare_members(j, a, b);
        known = ir_dup(j->scratch, &found, sizeof found);
        ir_map_set(j->scratch, &j->verdicts, key, (void *)(uintptr_t)known);
    }
    verdict v = *known;
    change_members(j, a, b, &v.worst);
    change_members(j, a, b, &v.unordered);
    return v;
}

static void place_barrier(judge *j, uint32_t a, uint32_t b, const pass_dependence *d,
                          pass_wait wait) {
    pass_dependence *why = &j->by_gap[b - 1];
    bool place = !has_wait(j, a, b, wait);
    if (place || (!j->wait[b - 1] && d->kind > why->kind)) *why = *d;
    if (place) j->wait[b - 1] = wait;
}

/* A barrier of all work-groups orders global memory. */
static bool may_have_phases(const judge *j) {
    pass_barrier policy = j->request->barrier;
    return j->request->phases && (policy == PASS_BARRIER_BOTH || policy == PASS_BARRIER_GLOBAL);
}

static bool is_of_call(const pass_side *s) { return s->access && s->access->at->op == IR_OP_call; }

static bool refuse_grid(judge *j, const pass_dependence *d) {
    if (d->kind == PASS_DEP_GRID)
        return refuse(j, "fuse.grid", "work-groups depend on each other", d);
    if (is_of_call(&d->first) || is_of_call(&d->second))
        return refuse(j, "fuse.function",
                      "a member keeps a function, since inlining would make it too large", d);
    return refuse(j, "fuse.unknown", "not proved to be independent", d);
}

/* Decides about work-groups that depend on each other, or may do so. */
static bool judge_grid(judge *j, const pass_dependence *d, pass_wait *wait) {
    if (may_have_phases(j)) {
        *wait = PASS_WAIT_GRID;
        return true;
    }
    bool legal = refuse_grid(j, d);
    if (legal && j->request->barrier != PASS_BARRIER_NONE) *wait = PASS_WAIT_GROUP;
    return legal;
}

static bool judge_pair(judge *j, uint32_t a, uint32_t b) {
    const verdict v = find_verdict(j, a, b);
    pass_dependence d = v.worst;
    pass_wait wait = d.kind == PASS_DEP_GROUP ? PASS_WAIT_GROUP : PASS_WAIT_NONE;
    bool legal = true;
    if (d.kind == PASS_DEP_GRID || d.kind == PASS_DEP_UNKNOWN) legal = judge_grid(j, &d, &wait);
    bool proved = d.kind == PASS_DEP_GROUP || wait == PASS_WAIT_GRID;
    if (proved && v.is_unordered) {
        d = v.unordered;
        legal = refuse(j, "fuse.needs-barrier",
                       "a work-group has to wait, and no barrier is allowed", &d);
        wait = PASS_WAIT_NONE;
    }
    place_barrier(j, a, b, &d, wait);
    return legal;
}

/* --------------------------------------------------------------------------------- what follows */

/* Does every access go to a parameter, or to a variable in local memory, which no parameter is? */
static bool has_known_objects(const judge *j) {
    for (uint32_t m = 0; m < j->request->nmembers; m++)
        for (uint32_t k = 0; k < j->summary[m].accesses.n; k++) {
            const pass_access *x = &j->summary[m].accesses.data[k];
            bool param = x->object && x->object->op == IR_OP_param;
            if (!param && !pass_is_local_variable(x)) return false;
        }
    return true;
}

/* Different arguments are different memory: the proof relies on it. */
static void mark_noalias(const judge *j) {
    ir_func *f = j->result->kernel;
    for (uint32_t p = 0; p < f->nparams; p++) {
        ir_type t = f->param_val[p]->type;
        if (ir_is_ptr(t) && (ir_space_of(t) == IR_GLOBAL || ir_space_of(t) == IR_LOCAL))
            f->param[p].attrs |= IR_PARAM_NOALIAS;
    }
}

/* Is every byte of an argument touched by one item only, by all members together?  Then an item
 * finds its bytes after a barrier as it has left them. */
static bool is_own(const judge *j, uint32_t arg) {
    ir_vec(pass_side) sides = {0};
    pass_layout layout;
    for (uint32_t m = 0; m < j->request->nmembers; m++)
        for (uint32_t k = 0; k < j->summary[m].accesses.n; k++) {
            const pass_side s = {&j->summary[m], &j->summary[m].accesses.data[k]};
            uint32_t to;
            if (!pass_argument_of(&s.of->launch, s.access, &to) || to != arg) continue;
            if (s.access->kind & PASS_ATOMIC || sides.n == MAX_OWN_SIDES) return false;
            *ir_push(j->scratch, &sides) = s;
        }
    return sides.n && pass_find_item_layout(sides.data, sides.n, &layout);
}

static void mark_own(const judge *j) {
    ir_func *f = j->result->kernel;
    for (uint32_t k = 0; k < j->result->nargs; k++) {
        const pass_fuse_arg *a = &j->result->args[k];
        bool buffer = a->kind == PASS_ARG_BUFFER && a->index < f->nparams;
        if (buffer && is_own(j, k)) f->param[a->index].attrs |= IR_PARAM_OWN;
    }
}

static bool waits_anywhere(const judge *j) {
    return has_wait(j, 0, j->request->nmembers, PASS_WAIT_GROUP);
}

static bool judge_all(judge *j) {
    bool legal = true;
    for (uint32_t b = 1; b < j->request->nmembers; b++)
        for (uint32_t a = b; a-- > 0;) legal &= judge_pair(j, a, b);
    return legal;
}

static bool is_refused(const pass_fuse_result *r) {
    return r->decisions.n && r->decisions.data[r->decisions.n - 1].refusal;
}

bool pass_fuse_legal(const pass_fuse_request *request, const pass_summary *summaries,
                     ir_arena *scratch, ir_arena *out, pass_fuse_result *result, pass_wait *wait) {
    judge j = {.request = request,
               .summary = summaries,
               .scratch = scratch,
               .out = out,
               .result = result,
               .wait = wait,
               .refused = is_refused(result)};
    j.by_gap = ir_new_array(scratch, pass_dependence, request->nmembers);
    j.by_arg = ir_new_array(scratch, pass_dependence, result->nargs + PASS_OTHERS);
    j.pair_by_arg = ir_new_array(scratch, pass_dependence, result->nargs + PASS_OTHERS);
    bool legal = judge_all(&j);
    const pass_findings found = findings(&j);
    pass_fuse_report(&found, out, result);
    if (legal && request->nmembers > 1 && has_known_objects(&j)) {
        mark_noalias(&j);
        if (waits_anywhere(&j)) mark_own(&j);
    }
    return legal && !j.refused;
}
