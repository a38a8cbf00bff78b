/* check_race.c — data races: which work-item touched a byte last, and is that ordered before now?
 *
 * After the happens-before detectors FastTrack (Flanagan and Freund 2009) and ThreadSanitizer
 * (Serebryany and Iskhodzhanov 2009), made simple by what a work-group is: barriers order
 * everything of a group at once, so one number per memory (the slice of the last barrier) takes the
 * place of vector clocks.  Each cell of the shadow keeps the last write and three reads since then:
 * the latest one, the latest one of another work-item, one of another work-group.  A cell is 4
 * bytes; a page of the shadow that meets a smaller or unaligned access is split into cells of a
 * byte.
 *
 * Order between work-groups, or without barrier, comes from atomics only.  An atomic read with
 * acquire semantics, or followed by an acquire fence, that sees an atomic write with release
 * semantics or after a release fence orders everything before that write.  "Everything" is taken
 * by time and not by work-item, so a race of third parties with an acquiring work-item can go
 * unseen; what is reported is never ordered.
 */
#include "runtime/devices/check/check_impl.h"

enum { PAGE = 1024, CELL_SHIFT = 2 };

/* A stamp is slice | write | released memories | site; 0: none. */
enum { SITE_BITS = 24, RELEASE_SHIFT = 24, WRITE_BIT = 26, SLICE_SHIFT = 27 };

/* Sets of memories, and the indices that the other tables have. */
enum { LOCAL, GLOBAL, LOCAL_BIT = 1, GLOBAL_BIT = 2, BOTH = 3 };

typedef struct {
    uint64_t write, read, other_item, other_group;
} cell;

struct check_page {
    unsigned shift; /* log2 of the bytes of a cell: CELL_SHIFT or 0 */
    cell *cells;
};

bool check_is_shared(const check_object *o) {
    return o->space == IR_LOCAL || o->space == IR_GLOBAL;
}

/* --------------------------------------------------------------------------------------- shadow */

static check_page *page_of(check_state *l, check_object *o, uint64_t offset) {
    if (o->launch != l->number || !o->store->pages) {
        uint64_t room = o->temporary ? o->store->cap : o->size;
        o->store->pages = ir_new_array(l->arena, check_page *, room / PAGE + 1);
        o->launch = l->number;
    }
    check_page **p = &o->store->pages[offset / PAGE];
    if (*p) return *p;
    *p = ir_new(l->arena, check_page);
    (*p)->shift = CELL_SHIFT;
    (*p)->cells = ir_new_array(l->arena, cell, PAGE >> CELL_SHIFT);
    return *p;
}

static void split_page(check_state *l, check_page *p) {
    cell *cells = ir_new_array(l->arena, cell, PAGE);
    for (uint32_t k = 0; k < PAGE; k++) cells[k] = p->cells[k >> CELL_SHIFT];
    p->cells = cells;
    p->shift = 0;
}

/* --------------------------------------------------------------------------------------- stamps */

static uint64_t slice_of(uint64_t stamp) { return stamp >> SLICE_SHIFT; }

static const ir_inst *inst_of(const check_state *l, uint64_t stamp) {
    return ir_interp_site(l->setup->program->code, (uint32_t)(stamp & ((1u << SITE_BITS) - 1)));
}

static bool is_write(uint64_t stamp) { return stamp >> WRITE_BIT & 1; }

static unsigned released_by(uint64_t stamp) { return stamp >> RELEASE_SHIFT & BOTH; }

static bool is_atomic_op(const ir_inst *i) {
    return i->op >= IR_OP_atomic_load && i->op <= IR_OP_atomic_fmax;
}

static uint32_t item_of(const check_state *l, uint64_t slice) {
    return (uint32_t)((slice - l->group.first_slice) % (l->group.nitems + 1));
}

static bool in_this_group(const check_state *l, uint64_t stamp) {
    return slice_of(stamp) >= l->group.first_slice;
}

/* Within the group; copies are ordered by their events, which check_async.c looks after. */
static bool is_ordered_in_group(const check_state *l, uint64_t slice, unsigned memory) {
    uint32_t item = item_of(l, slice);
    if (item == l->group.nitems || slice < l->group.fence[memory]) return true;
    if (!l->item) return false;
    uint32_t here = l->item->index;
    if (item == here || slice <= l->item->acquired[memory]) return true;
    const uint32_t size = l->setup->options.subgroup_size, subgroup = here / size;
    return item / size == subgroup && slice < l->group.sub_fence[subgroup][memory];
}

static bool is_ordered(const check_state *l, uint64_t stamp, const check_object *o) {
    unsigned memory = o->space == IR_LOCAL ? LOCAL : GLOBAL;
    if (slice_of(stamp) < l->clock.phase[memory]) return true;
    if (in_this_group(l, stamp)) return is_ordered_in_group(l, slice_of(stamp), memory);
    return memory == LOCAL || (l->item && slice_of(stamp) <= l->item->acquired[GLOBAL]);
}

/* -------------------------------------------------------------------------- acquire and release */

/* Semantics that name no memory are about both. */
static unsigned memories_of(unsigned semantics) {
    unsigned named =
        (semantics & IR_SEM_LOCAL ? LOCAL_BIT : 0u) | (semantics & IR_SEM_GLOBAL ? GLOBAL_BIT : 0u);
    return named ? named : BOTH;
}

static unsigned acquires(unsigned semantics) {
    bool does = (semantics & (IR_SEM_ACQUIRE | IR_SEM_ACQ_REL | IR_SEM_SEQ_CST)) != 0;
    return does ? memories_of(semantics) : 0;
}

static unsigned releases(unsigned semantics) {
    bool does = (semantics & (IR_SEM_RELEASE | IR_SEM_ACQ_REL | IR_SEM_SEQ_CST)) != 0;
    return does ? memories_of(semantics) : 0;
}

static void raise_to(uint64_t *to, uint64_t from) {
    if (*to < from) *to = from;
}

/* An atomic read sees that write. */
static void synchronize(check_state *l, uint64_t write, const ir_inst *at) {
    for (unsigned memory = LOCAL; l->item && memory <= GLOBAL; memory++) {
        if (!(released_by(write) >> memory & 1)) continue;
        raise_to(&l->item->pending[memory], slice_of(write));
        if (acquires(at->imm.sync.semantics) >> memory & 1)
            raise_to(&l->item->acquired[memory], slice_of(write));
    }
}

void check_fence(void *user, const ir_inst *i) {
    check_item *item = ((check_state *)user)->item;
    unsigned semantics = i->imm.sync.semantics;
    for (unsigned memory = LOCAL; memory <= GLOBAL; memory++)
        if (acquires(semantics) >> memory & 1)
            raise_to(&item->acquired[memory], item->pending[memory]);
    item->released |= releases(semantics);
}

static void order_one_memory(check_state *l, uint32_t first, uint32_t n, unsigned memory) {
    uint64_t known = 0;
    for (uint32_t k = first; k < first + n; k++) {
        raise_to(&known, l->items[k].pending[memory]);
        raise_to(&known, l->items[k].acquired[memory]);
    }
    for (uint32_t k = first; k < first + n; k++) {
        l->items[k].acquired[memory] = known;
        l->items[k].released |= 1u << memory;
    }
}

/* A barrier is an acquire and a release fence of all its work-items: what one has seen is ordered
 * for all. */
void check_order(check_state *l, uint32_t first, uint32_t n, bool whole_group, unsigned semantics) {
    uint64_t *fence =
        whole_group ? l->group.fence : l->group.sub_fence[first / l->setup->options.subgroup_size];
    const unsigned flag[2] = {IR_SEM_LOCAL, IR_SEM_GLOBAL};
    for (unsigned memory = LOCAL; memory <= GLOBAL; memory++) {
        if (!(semantics & flag[memory])) continue;
        fence[memory] = l->clock.next;
        order_one_memory(l, first, n, memory);
    }
}

/* ---------------------------------------------------------------------------------------- one cell
 *
 * Each gives the stamp of an access that races with this one, or 0. */

static bool races(const check_state *l, uint64_t stamp, const check_object *o, bool atomic) {
    return stamp && !is_ordered(l, stamp, o) && !(atomic && is_atomic_op(inst_of(l, stamp)));
}

/* An atomic read does not take the place of a plain one, which more accesses race with. */
static void note_read(const check_state *l, cell *c, uint64_t stamp, bool atomic) {
    if (c->read && atomic && !is_atomic_op(inst_of(l, c->read))) return;
    if (c->read && slice_of(c->read) != slice_of(stamp)) {
        if (!in_this_group(l, c->read))
            c->other_group = c->read;
        else if (!l->item || item_of(l, slice_of(c->read)) != l->item->index)
            c->other_item = c->read;
    }
    c->read = stamp;
}

static uint64_t touch_read(check_state *l, const check_object *o, cell *c, uint64_t stamp,
                           const ir_access *a) {
    bool atomic = is_atomic_op(a->at);
    if (c->write && atomic) synchronize(l, c->write, a->at);
    uint64_t found = races(l, c->write, o, atomic) ? c->write : 0;
    if (!found && is_write(c->read) && races(l, c->read, o, atomic)) found = c->read;
    note_read(l, c, stamp, atomic);
    return found;
}

/* What other items may race with after an atomic write, which has taken its place: the latest plain
 * access.  It is kept as a read. */
static uint64_t latest_plain(const check_state *l, const cell *c) {
    if (c->read && !is_atomic_op(inst_of(l, c->read))) return c->read;
    return c->write && !is_atomic_op(inst_of(l, c->write)) ? c->write : 0;
}

static uint64_t touch_write(check_state *l, const check_object *o, cell *c, uint64_t stamp,
                            const ir_access *a) {
    bool atomic = is_atomic_op(a->at);
    const uint64_t known[] = {c->write, c->read, c->other_item, c->other_group};
    uint64_t found = 0;
    for (unsigned k = 0; k < 4 && !found; k++)
        if (races(l, known[k], o, atomic)) found = known[k];
    *c = (cell){.write = stamp, .read = atomic ? latest_plain(l, c) : 0};
    return found;
}

/* ----------------------------------------------------------------------------------- one access */

typedef uint64_t touch_fn(check_state *l, const check_object *o, cell *c, uint64_t stamp,
                          const ir_access *a);

/* Touches every cell of the access; the first race that is found, or 0. */
static uint64_t touch(check_state *l, check_object *o, const ir_access *a, touch_fn *touch_cell,
                      uint64_t stamp) {
    uint64_t at = a->address - o->base, end = at + a->size, found = 0;
    while (at < end) {
        check_page *p = page_of(l, o, at);
        uint64_t stop = (at / PAGE + 1) * PAGE < end ? (at / PAGE + 1) * PAGE : end;
        bool small = ((at | stop) & ((1u << CELL_SHIFT) - 1)) != 0;
        if (small && p->shift) split_page(l, p);
        for (; at < stop; at += UINT64_C(1) << p->shift) {
            uint64_t race = touch_cell(l, o, &p->cells[at % PAGE >> p->shift], stamp, a);
            if (!found) found = race;
        }
    }
    return found;
}

static uint64_t stamp_of(const check_state *l, const ir_access *a) {
    uint64_t writes = (a->kind & IR_ACCESS_WRITE) != 0, released = 0;
    if (writes && is_atomic_op(a->at))
        released = releases(a->at->imm.sync.semantics) | (l->item ? l->item->released : 0);
    return l->clock.slice << SLICE_SHIFT | writes << WRITE_BIT | released << RELEASE_SHIFT |
           a->site;
}

static const char *verb(const ir_inst *i, bool writes) {
    if (is_atomic_op(i)) return "atomic access";
    return writes ? "write" : "read";
}

static void report(check_state *l, const check_object *o, const ir_access *a, uint64_t race,
                   bool same_value) {
    bool writes = (a->kind & IR_ACCESS_WRITE) != 0;
    const ir_inst *other = inst_of(l, race);
    check_finding f = {.kind = CHECK_RACE,
                       .severity = same_value ? IR_NOTE : IR_ERROR,
                       .detail = writes + 2u * is_write(race),
                       .here = check_current(l, a->at),
                       .other = check_who_of(l, slice_of(race), other),
                       .has_other = true,
                       .object = o,
                       .address = a->address,
                       .size = a->size};
    check_find(l, &f, "data race at %s: %s and %s of different %s%s",
               check_place(l, o, a->address).text, verb(a->at, writes), verb(other, is_write(race)),
               in_this_group(l, race) ? "work-items" : "work-groups",
               same_value ? ", of the same value" : "");
}

/* The reading half of an exchange only acquires: the writing half looks at everything. */
static bool is_half(const ir_inst *i) {
    return is_atomic_op(i) && i->op != IR_OP_atomic_load && i->op != IR_OP_atomic_cmpxchg;
}

void check_race_read(check_state *l, check_object *o, const ir_access *a) {
    uint64_t race = touch(l, o, a, touch_read, stamp_of(l, a));
    if (race && !is_half(a->at)) report(l, o, a, race, false);
}

void check_race_write(check_state *l, check_object *o, const ir_access *a, bool same_value) {
    uint64_t race = touch(l, o, a, touch_write, stamp_of(l, a));
    if (race)
        report(l, o, a, race, same_value && is_write(race) && !l->setup->options.strict_races);
}
