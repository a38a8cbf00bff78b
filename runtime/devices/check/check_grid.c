/* check_grid.c — work-groups that wait for each other, at a barrier whose scope is the device.
 *
 * Groups run one after another.  A group whose work-items all wait for the other groups is put
 * aside with its items and its local memory, and the next group begins.  When all groups have come
 * to such a barrier they go on in the same order, each as a new visit with slices of its own.  If a
 * group ends before, that is divergence, and the others go on without it.
 */
#include "runtime/devices/check/check_impl.h"

bool check_waits_for_grid(const ir_inst *i) {
    return i->op == IR_OP_barrier && i->imm.sync.exec == IR_SCOPE_DEVICE;
}

/* The first work-item that waits; the others wait too, or have trapped.  NULL: none. */
static const check_item *find_waiting(const check_item *items, uint32_t n) {
    for (uint32_t k = 0; k < n; k++)
        if (items[k].state == CHECK_WAITING) return &items[k];
    return NULL;
}

static const ir_inst *place_of(const check_parked *p) {
    return ir_interp_at(find_waiting(p->items, p->group.nitems)->run);
}

/* check_meet leaves a group with a work-item that waits only for this. */
bool check_park(check_state *l) {
    if (l->stop || !find_waiting(l->items, l->group.nitems)) return false;
    *ir_push(l->arena, &l->parked) = (check_parked){l->group, l->items};
    check_make_items(l);
    return true;
}

/* Nothing of an unparked group is ordered but by the barrier. */
static void unpark(check_state *l, const check_parked *p) {
    l->group = p->group;
    l->items = p->items;
    l->group.first_slice = l->clock.next;
    for (unsigned memory = 0; memory < 2; memory++) l->group.fence[memory] = 0;
    *ir_push(l->arena, &l->clock.visits) = (check_visit){l->clock.next, l->group.index};
    for (uint32_t k = 0; k < l->group.nitems; k++) {
        if (l->items[k].state != CHECK_WAITING) continue;
        ir_interp_resume(l->items[k].run, NULL);
        l->items[k].state = CHECK_READY;
    }
}

static void report_missing(check_state *l, const check_parked *here, uint64_t other) {
    check_finding f = {.kind = CHECK_DIVERGENCE, .severity = IR_ERROR, .has_other = true};
    const ir_inst *at = place_of(here);
    f.detail = at->op;
    f.here = (check_who){.inst = at, .group = here->group.index};
    f.other = (check_who){.group = other};
    check_find(l, &f, "work-groups diverge: some wait at %s for all, others have finished",
               ir_info(at)->name);
}

/* Groups wait in the order of their numbers. */
static void check_everybody(check_state *l) {
    uint64_t n = l->setup->groups[0] * l->setup->groups[1] * l->setup->groups[2];
    if (l->parked.n == n) return;
    uint64_t missing = 0;
    while (missing < l->parked.n && l->parked.data[missing].group.index == missing) missing++;
    report_missing(l, &l->parked.data[0], missing);
}

/* What the barrier's memory semantics name is ordered. */
static void begin_phase(check_state *l) {
    const ir_inst *at = place_of(&l->parked.data[0]);
    unsigned semantics = at->imm.sync.scope == IR_SCOPE_ITEM ? 0 : at->imm.sync.semantics;
    if (semantics & IR_SEM_LOCAL) l->clock.phase[0] = l->clock.next;
    if (semantics & IR_SEM_GLOBAL) l->clock.phase[1] = l->clock.next;
    l->findings.result->barriers++;
}

void check_go_on(check_state *l) {
    check_parked *waiting = l->parked.data;
    uint32_t n = l->parked.n;
    if (!l->stop) check_everybody(l);
    begin_phase(l);
    memset(&l->parked, 0, sizeof l->parked);
    for (uint32_t k = 0; k < n; k++) {
        unpark(l, &waiting[k]);
        if (!l->stop) check_run_group(l);
        if (!check_park(l)) check_end_group(l);
    }
}
