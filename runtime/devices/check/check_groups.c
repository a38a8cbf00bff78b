/* check_groups.c — work-items that wait for each other.
 *
 * When no work-item of a sub-group (of the work-group) can run, those that wait at the same place
 * meet: the same instruction, reached through the same calls.  Operations that need all work-items
 * wait until all are there.  Non-uniform ones take those that are there; of several places, the
 * earliest in the program is first, so that work-items which parted come together again.  When
 * nothing can meet, or a work-item has finished while others wait, the program is wrong: that is
 * reported as divergence, and those that have come less far go on without the others.
 */
#include "runtime/devices/check/check_impl.h"

/* The work-items of a sub-group, or of the whole group. */
typedef struct {
    uint32_t first, n;
    unsigned scope; /* IR_SCOPE_SUBGROUP or IR_SCOPE_WORKGROUP */
} party;

static unsigned scope_of(const ir_inst *i) {
    unsigned scope = i->op == IR_OP_barrier ? i->imm.sync.exec : i->imm.group.scope;
    return scope == IR_SCOPE_SUBGROUP ? IR_SCOPE_SUBGROUP : IR_SCOPE_WORKGROUP;
}

static bool needs_all(const ir_inst *i) {
    return i->op == IR_OP_barrier || i->op == IR_OP_async_copy || i->op == IR_OP_wait_events ||
           i->imm.group.uniform;
}

static bool waits(const check_item *i) { return i->state == CHECK_WAITING; }

static const ir_inst *place_of(const check_item *i) { return ir_interp_at(i->run); }

static bool is_same_place(const check_item *a, const check_item *b) {
    return place_of(a) == place_of(b) && ir_interp_order(a->run, b->run) == 0;
}

/* ----------------------------------------------------------------------------------- divergence */

static check_who who_is(const check_state *l, const check_item *i) {
    return (check_who){
        .inst = waits(i) ? place_of(i) : NULL, .group = l->group.index, .item = i->index};
}

/* Trapped work-items have been reported already. */
static void report_divergence(check_state *l, const check_item *here, const check_item *other) {
    check_finding f = {.kind = CHECK_DIVERGENCE,
                       .severity = IR_ERROR,
                       .detail = place_of(here)->op,
                       .here = who_is(l, here),
                       .has_other = true,
                       .other = who_is(l, other)};
    check_find(l, &f, "work-items of a %s diverge: some wait at %s, others %s",
               scope_of(place_of(here)) == IR_SCOPE_SUBGROUP ? "sub-group" : "work-group",
               ir_info(place_of(here))->name, waits(other) ? "elsewhere" : "have finished");
}

/* ---------------------------------------------------------------------------- going on together */

static void count_meeting(check_state *l, const ir_inst *i, uint32_t n) {
    if (i->op == IR_OP_barrier)
        l->findings.result->barriers += n;
    else
        l->findings.result->group_ops += n;
}

static unsigned memory_of(const ir_inst *barrier) {
    bool orders = barrier->imm.sync.scope != IR_SCOPE_ITEM;
    return orders ? barrier->imm.sync.semantics : 0;
}

/* A barrier of the group whose memory scope is the sub-group orders each sub-group for itself. */
static void order_memory(check_state *l, const party *p, const ir_inst *barrier) {
    bool whole = p->scope == IR_SCOPE_WORKGROUP && barrier->imm.sync.scope != IR_SCOPE_SUBGROUP;
    if (whole) {
        check_order(l, p->first, p->n, true, memory_of(barrier));
        return;
    }
    for (uint32_t at = p->first; at < p->first + p->n; at += check_subgroup_count(l, at))
        check_order(l, at, check_subgroup_count(l, at), false, memory_of(barrier));
}

static void make_room(check_state *l) {
    if (l->scratch.operands) return;
    uint64_t n = l->setup->local[0] * l->setup->local[1] * l->setup->local[2];
    l->scratch.operands = ir_new_array(l->arena, ir_value, n);
    l->scratch.results = ir_new_array(l->arena, ir_value, n);
}

static void meet_at(check_state *l, const party *p, check_item *const *member, uint32_t n) {
    const ir_inst *at = place_of(member[0]);
    bool has_result = at->type != IR_VOID;
    if (has_result) make_room(l);
    count_meeting(l, at, n);
    if (at->op == IR_OP_barrier)
        order_memory(l, p, at);
    else if (at->op == IR_OP_async_copy)
        check_async_copy(l, member, n);
    else if (at->op == IR_OP_wait_events)
        check_wait_events(l, member, n);
    else
        check_group_op(l, member, n, p->first);
    for (uint32_t k = 0; k < n; k++) {
        ir_interp_resume(member[k]->run, has_result ? &l->scratch.results[member[k]->index] : NULL);
        member[k]->state = CHECK_READY;
    }
}

/* Those of the party that wait where the leader waits. */
static uint32_t find_members(check_state *l, const party *p, const check_item *leader,
                             check_item **member) {
    uint32_t n = 0;
    for (uint32_t k = p->first; k < p->first + p->n; k++)
        if (waits(&l->items[k]) && is_same_place(&l->items[k], leader)) member[n++] = &l->items[k];
    return n;
}

static void meet(check_state *l, const party *p, const check_item *leader) {
    check_item **member = l->scratch.members;
    uint32_t n = find_members(l, p, leader, member);
    meet_at(l, p, member, n);
}

/* -------------------------------------------------------------------------------- going on */

static bool someone_runs(const check_state *l, const party *p) {
    for (uint32_t k = p->first; k < p->first + p->n; k++)
        if (l->items[k].state == CHECK_READY) return true;
    return false;
}

/* The waiting work-item that has come least far, of those that a filter lets pass. */
typedef bool filter_fn(const ir_inst *i, unsigned scope);

static bool any_place(const ir_inst *i, unsigned scope) { return (void)i, (void)scope, true; }

static bool takes_who_is_there(const ir_inst *i, unsigned scope) {
    return scope_of(i) == scope && !needs_all(i);
}

static check_item *find_last(const check_state *l, const party *p, filter_fn *passes) {
    check_item *last = NULL;
    for (uint32_t k = p->first; k < p->first + p->n; k++) {
        check_item *i = &l->items[k];
        if (!waits(i) || !passes(place_of(i), p->scope)) continue;
        if (!last || ir_interp_order(i->run, last->run) < 0) last = i;
    }
    return last;
}

/* A work-item of the party that waits elsewhere, or else one that has finished; NULL: none. */
static check_item *find_other(const check_state *l, const party *p, const check_item *leader) {
    check_item *done = NULL;
    for (uint32_t k = p->first; k < p->first + p->n; k++) {
        check_item *i = &l->items[k];
        if (waits(i) && !is_same_place(i, leader)) return i;
        if (i->state == CHECK_DONE && !done) done = i;
    }
    return done;
}

/* Lets work-items of a party that is stuck go on, if its members can settle that alone. */
static bool meet_in(check_state *l, const party *p) {
    check_item *leader = find_last(l, p, any_place);
    if (!leader) return false;
    check_item *other = find_other(l, p, leader);
    bool together = scope_of(place_of(leader)) == p->scope && !(other && waits(other));
    if (!together) {
        leader = find_last(l, p, takes_who_is_there);
        if (!leader) return false;
    } else if (other && needs_all(place_of(leader))) {
        report_divergence(l, leader, other);
    }
    meet(l, p, leader);
    return true;
}

/* When no work-item can go on, the one that has come least far goes on. */
static void break_tie(check_state *l, const party *group) {
    check_item *leader = find_last(l, group, any_place);
    party p = *group;
    if (scope_of(place_of(leader)) == IR_SCOPE_SUBGROUP)
        p = (party){check_subgroup_first(l, leader->index), check_subgroup_count(l, leader->index),
                    IR_SCOPE_SUBGROUP};
    report_divergence(l, leader, find_other(l, group, leader));
    meet(l, &p, leader);
}

/* Does the whole group wait for other groups? */
static bool waits_for_grid(const check_state *l, const party *group) {
    const check_item *leader = find_last(l, group, any_place);
    return leader && check_waits_for_grid(place_of(leader)) && !find_other(l, group, leader);
}

bool check_meet(check_state *l) {
    party group = {0, l->group.nitems, IR_SCOPE_WORKGROUP};
    bool moved = false;
    for (uint32_t at = 0; at < group.n; at += check_subgroup_count(l, at)) {
        party p = {at, check_subgroup_count(l, at), IR_SCOPE_SUBGROUP};
        if (!someone_runs(l, &p) && meet_in(l, &p)) moved = true;
    }
    if (moved || someone_runs(l, &group)) return true;
    if (waits_for_grid(l, &group)) return false;
    if (meet_in(l, &group)) return true;
    if (!find_last(l, &group, any_place)) return false;
    break_tie(l, &group);
    return true;
}
