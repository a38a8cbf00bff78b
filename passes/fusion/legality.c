/* legality.c — decides whether members may be fused, and where barriers are placed.
 *
 * Every pair of members is compared (dependence.c).  A dependence between work-groups, or one that
 * is not understood, refuses the fusion, unless the request forces it or the device can make all
 * work-groups wait for each other; then the members are phases of the kernel.  A dependence within
 * work-groups needs a barrier somewhere between the two members.  Barriers are placed as late as
 * possible, so that one of them serves as many pairs as it can.
 *
 * The first reason refuses; the other pairs are still compared, for the report.  The result for two
 * members is reused for every pair of members that are like these two (fuse_summary.c).  An
 * argument that is own to items needs no barrier: each member that uses it is compared with the
 * last one before it only, for the report.
 *
 * The proof assumes that different arguments are different memory, so the fused kernel may rely on
 * it (noalias).  If all accesses of an argument have one layout by items (layout.c), no two items
 * share a byte of it, so barriers do not change what an item has stored there.
 */
#include "passes/fusion/fuse_impl.h"

enum {
    MAX_PAIRS = 1 << 16, /* of accesses of two members; of more, nothing is known */
    MAX_OWN_SIDES = 256  /* accesses of one argument; with more, no layout is searched */
};

/* What has been found out about two members. */
typedef struct {
    pass_dependence worst;
    bool is_unordered; /* a work-group would have to wait for memory that no barrier orders */
    pass_dependence unordered;
} verdict;

typedef struct {
    pass_findings found;
    pass_fuse_result *result;
    ir_map verdicts;              /* by the two members that a pair is like */
    pass_dependence *pair_by_arg; /* the worst between the two that are compared */
    bool refused;
} legality;

/* ------------------------------------------------------------------------------------ decisions */

/* A group is refused once, for the first reason, unless the request forces it: then true. */
static bool refuse_dependence(legality *q, const char *rule, const char *why,
                              const pass_dependence *d) {
    ir_arena *out = q->found.in->out;
    ir_text t = {.arena = out};
    bool forced = q->found.in->request->force;
    if (q->refused) return false;
    pass_decision decision = {.rule = forced ? "fuse.forced" : rule,
                              .refusal = !forced,
                              .why = pass_describe_dependence(&q->found, d)};
    ir_putf(&t, "%s: ", why);
    pass_print_dependence(&t, &decision.why);
    decision.text = t.data;
    *ir_push(out, &q->result->decisions) = decision;
    q->refused = !forced;
    return forced;
}

/* Does the barrier of the request order the memory of this argument, or variable? */
static bool policy_orders(const legality *q, uint32_t arg) {
    bool known = arg < q->result->nargs + PASS_ANYWHERE, local = false;
    if (arg < q->result->nargs) {
        const pass_fuse_arg *a = &q->result->args[arg];
        local = a->kind == IR_ARG_LOCAL || (a->state == PASS_ARG_PROMOTED && a->memory == IR_LOCAL);
    }
    switch (q->found.in->request->barrier) {
    case PASS_BARRIER_BOTH: return true;
    case PASS_BARRIER_LOCAL: return local;
    case PASS_BARRIER_GLOBAL: return known && !local;
    case PASS_BARRIER_NONE: return false;
    }
    return false;
}

static bool has_wait(const legality *q, uint32_t a, uint32_t b, pass_wait wait) {
    for (uint32_t m = b; m-- > a;)
        if (q->found.gap[m].wait >= wait) return true;
    return false;
}

/* There are too many pairs: the dependence is unknown for all arguments that the two members
 * access. */
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

static pass_dependence find_dependence(const legality *q, uint32_t a, uint32_t b,
                                       pass_dependence *by_arg) {
    const pass_summary *x = &q->found.summary[a], *y = &q->found.summary[b];
    if (pass_count_pairs(x, y) > MAX_PAIRS) return give_up(x, y, by_arg);
    return pass_find_dependence(x, y, by_arg);
}

/* A dependence between the items of a work-group in memory that no barrier orders; false: there is
 * none.  What is no argument may be in any memory. */
static bool find_unordered(const legality *q, uint32_t a, uint32_t b, pass_dependence *out) {
    uint32_t n = q->result->nargs + PASS_OTHERS;
    memset(q->pair_by_arg, 0, n * sizeof *q->pair_by_arg);
    find_dependence(q, a, b, q->pair_by_arg);
    for (uint32_t k = 0; k < n; k++) {
        if (q->pair_by_arg[k].kind < PASS_DEP_GROUP || policy_orders(q, k)) continue;
        *out = q->pair_by_arg[k];
        return true;
    }
    return false;
}

/* Makes a dependence that was found between two members one of a and b, which are like them. */
static void change_members(const legality *q, uint32_t a, uint32_t b, pass_dependence *d) {
    pass_side *const sides[] = {&d->first, &d->second};
    const pass_summary *const now[] = {&q->found.summary[a], &q->found.summary[b]};
    for (unsigned n = 0; n < 2 && d->first.of; n++) {
        size_t k = (size_t)(sides[n]->access - sides[n]->of->accesses.data);
        *sides[n] = (pass_side){now[n], &now[n]->accesses.data[k]};
    }
}

static verdict compare_pair(legality *q, uint32_t a, uint32_t b) {
    verdict v = {.worst = find_dependence(q, a, b, q->found.by_arg)};
    v.is_unordered = v.worst.kind >= PASS_DEP_GROUP && find_unordered(q, a, b, &v.unordered);
    return v;
}

/* The verdict about a pair of members is kept for pairs that are like it. */
static verdict find_verdict(legality *q, uint32_t a, uint32_t b) {
    const pass_summary *x = &q->found.summary[a], *y = &q->found.summary[b];
    uint64_t key = (uint64_t)x->like << 32 | y->like;
    bool conflict =
        (x->objects.written & y->objects.used) || (x->objects.used & y->objects.written);
    if (!conflict) return (verdict){.worst.kind = PASS_DEP_NONE};
    if (!x->repeated && !y->repeated) return compare_pair(q, a, b);
    const verdict *known = ir_map_get(&q->verdicts, key);
    if (!known) {
        verdict found = compare_pair(q, a, b);
        known = ir_dup(q->found.in->scratch, &found, sizeof found);
        ir_map_set(q->found.in->scratch, &q->verdicts, key, (void *)(uintptr_t)known);
    }
    verdict v = *known;
    change_members(q, a, b, &v.worst);
    change_members(q, a, b, &v.unordered);
    return v;
}

static void place_barrier(legality *q, uint32_t a, uint32_t b, const pass_dependence *d,
                          pass_wait wait) {
    pass_gap *gap = &q->found.gap[b - 1];
    bool place = !has_wait(q, a, b, wait);
    if (place || (!gap->wait && d->kind > gap->why.kind)) gap->why = *d;
    if (place) gap->wait = wait;
}

static bool is_of_call(const pass_side *s) { return s->access && s->access->at->op == IR_OP_call; }

static bool refuse_grid(legality *q, const pass_dependence *d) {
    if (d->kind == PASS_DEP_GRID)
        return refuse_dependence(q, "fuse.grid", "work-groups depend on each other", d);
    if (is_of_call(&d->first) || is_of_call(&d->second))
        return refuse_dependence(
            q, "fuse.function", "a member keeps a function, since inlining would make it too large",
            d);
    return refuse_dependence(q, "fuse.unknown", "not proved to be independent", d);
}

/* Decides about work-groups that depend on each other, or may do so. */
static bool check_grid(legality *q, const pass_dependence *d, pass_wait *wait) {
    const pass_fuse_request *r = q->found.in->request;
    /* A barrier of all work-groups orders global memory. */
    if (r->phases && (r->barrier == PASS_BARRIER_BOTH || r->barrier == PASS_BARRIER_GLOBAL)) {
        *wait = PASS_WAIT_GRID;
        return true;
    }
    bool legal = refuse_grid(q, d);
    if (legal && r->barrier != PASS_BARRIER_NONE) *wait = PASS_WAIT_GROUP;
    return legal;
}

static bool check_pair(legality *q, uint32_t a, uint32_t b) {
    const verdict v = find_verdict(q, a, b);
    pass_dependence d = v.worst;
    pass_wait wait = d.kind == PASS_DEP_GROUP ? PASS_WAIT_GROUP : PASS_WAIT_NONE;
    bool legal = true;
    if (d.kind == PASS_DEP_GRID || d.kind == PASS_DEP_UNKNOWN) legal = check_grid(q, &d, &wait);
    bool proved = d.kind == PASS_DEP_GROUP || wait == PASS_WAIT_GRID;
    if (proved && v.is_unordered) {
        d = v.unordered;
        legal = refuse_dependence(q, "fuse.needs-barrier",
                                  "a work-group has to wait, and no barrier is allowed", &d);
        wait = PASS_WAIT_NONE;
    }
    place_barrier(q, a, b, &d, wait);
    return legal;
}

/* -------------------------------------------------------------------------------- own arguments */

/* Members so far that use an argument, and those of them that write to it. */
typedef struct {
    ir_vec(uint32_t) users, writers;
} earlier_members;

/* The dependence of member b, whose accesses these are, on the last of the others that has one. */
static void compare_own(legality *q, uint32_t b, pass_object_span accesses, earlier_members *m) {
    bool writes = accesses.end->writes_before != accesses.at->writes_before;
    const uint32_t *others = writes ? m->users.data : m->writers.data;
    uint32_t left = writes ? m->users.n : m->writers.n;
    pass_dependence d = {0};
    while (left-- > 0 && d.kind == PASS_DEP_NONE) {
        const pass_summary *a = &q->found.summary[others[left]];
        d = pass_find_first_dependence(a, pass_find_object(a, accesses.at->object),
                                       &q->found.summary[b], accesses);
        if (d.kind != PASS_DEP_NONE) place_barrier(q, others[left], b, &d, PASS_WAIT_NONE);
    }
    if (d.kind != PASS_DEP_NONE) pass_keep_worse(q->found.by_arg, &d);
    *ir_push(q->found.in->scratch, &m->users) = b;
    if (writes) *ir_push(q->found.in->scratch, &m->writers) = b;
}

static void check_own_arguments(legality *q) {
    earlier_members *by_arg = ir_new_array(q->found.in->scratch, earlier_members, q->result->nargs);
    for (uint32_t b = 0; b < q->found.in->request->nmembers; b++) {
        const pass_summary *s = &q->found.summary[b];
        for (uint32_t k = 0; k < s->objects.n;) {
            pass_object_span span = pass_find_object(s, s->objects.list[k].object);
            if (pass_is_own(s, s->objects.list[k].object))
                compare_own(q, b, span, &by_arg[s->objects.list[k].object]);
            k = (uint32_t)(span.end - s->objects.list);
        }
    }
}

/* --------------------------------------------------------------------------------- what follows */

/* Does every access go to a parameter, or to a variable in local memory, which no parameter is? */
static bool has_known_objects(const legality *q) {
    for (uint32_t m = 0; m < q->found.in->request->nmembers; m++)
        for (uint32_t k = 0; k < q->found.summary[m].accesses.n; k++) {
            const pass_access *x = &q->found.summary[m].accesses.data[k];
            bool param = x->object && x->object->op == IR_OP_param;
            if (!param && !pass_is_local_variable(x)) return false;
        }
    return true;
}

/* Different arguments are different memory: the proof relies on it. */
static void mark_noalias(const legality *q) {
    ir_func *f = q->result->kernel;
    for (uint32_t p = 0; p < f->nparams; p++) {
        ir_type t = f->param_val[p]->type;
        if (ir_is_ptr(t) && (ir_space_of(t) == IR_GLOBAL || ir_space_of(t) == IR_LOCAL))
            f->param[p].attrs |= IR_PARAM_NOALIAS;
    }
}

/* Is every byte of an argument touched by one item only, by all members together?  Then an item
 * finds its bytes after a barrier as it has left them. */
static bool is_own_to_items(const legality *q, uint32_t arg) {
    ir_vec(pass_side) sides = {0};
    pass_layout layout;
    for (uint32_t m = 0; m < q->found.in->request->nmembers; m++)
        for (uint32_t k = 0; k < q->found.summary[m].accesses.n; k++) {
            const pass_side s = {&q->found.summary[m], &q->found.summary[m].accesses.data[k]};
            uint32_t to;
            if (!pass_argument_of(&s.of->launch, s.access, &to) || to != arg) continue;
            if (s.access->kind & PASS_ATOMIC || sides.n == MAX_OWN_SIDES) return false;
            *ir_push(q->found.in->scratch, &sides) = s;
        }
    return sides.n && pass_find_item_layout(sides.data, sides.n, &layout);
}

static void mark_own(const legality *q) {
    ir_func *f = q->result->kernel;
    for (uint32_t k = 0; k < q->result->nargs; k++) {
        const pass_fuse_arg *a = &q->result->args[k];
        bool buffer = a->kind == IR_ARG_POINTER && a->index < f->nparams;
        if (buffer && is_own_to_items(q, k)) f->param[a->index].attrs |= IR_PARAM_OWN;
    }
}

/* Is the last decision of an earlier step a refusal? */
static bool is_refused(const pass_fuse_result *r) {
    return r->decisions.n && r->decisions.data[r->decisions.n - 1].refusal;
}

bool pass_fuse_legal(const pass_fuse_input *in, const pass_summary *summaries,
                     pass_fuse_result *result) {
    uint32_t members = in->request->nmembers, nargs = result->nargs + PASS_OTHERS;
    legality q = {.found = {.in = in,
                            .summary = summaries,
                            .by_arg = ir_new_array(in->scratch, pass_dependence, nargs),
                            .gap = ir_new_array(in->scratch, pass_gap, members)},
                  .result = result,
                  .pair_by_arg = ir_new_array(in->scratch, pass_dependence, nargs),
                  .refused = is_refused(result)};
    bool legal = true;
    check_own_arguments(&q);
    for (uint32_t b = 1; b < members; b++)
        for (uint32_t a = b; a-- > 0;) legal &= check_pair(&q, a, b);
    pass_fuse_report(&q.found, result);
    if (legal && members > 1 && has_known_objects(&q)) {
        mark_noalias(&q);
        if (has_wait(&q, 0, members, PASS_WAIT_GROUP)) mark_own(&q);
    }
    return legal && !q.refused;
}
