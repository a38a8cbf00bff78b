/* dse.c — dead store elimination: removes writes that are never read.
 *
 * Backward data flow.  Bytes are *dead* at a point if on every path from there they are overwritten
 * before anything can read them, or the function whose variable they belong to returns.  A write is
 * removed if its bytes are dead after it.
 *
 * One bit represents the bytes of one write, and 64 bits are solved together as a word.  The number
 * of words is limited by their cost, in alias queries: for each instruction that accesses memory,
 * one query per line of addresses (alias.c) that it may overlap, and a constant for the word.
 *
 * A bit refers to the value of an address.  It is propagated into a block only if all operands of
 * the address are computed before that block, so it never refers to the address of another
 * iteration.
 *
 * Only writes that can be dead get a bit: writes to variables, and to objects that another
 * instruction writes as well.  alias.c decides which instructions may read the bytes, and which
 * writes cover others.
 */
#include "passes/analysis/alias.h"

enum { WORD = 64, MAX_QUERIES = 1 << 17, WORD_COST = 7, MAX_ROUNDS = 64 };

typedef struct {
    pass_on_line on;
    uint64_t size;
} range;

/* An instruction that touches memory, and what it does to the bytes of each bit. */
typedef struct {
    ir_inst *inst;
    bool is_write, is_read; /* of `written`, `read`, which are known then */
    range written, read;
    uint32_t number; /* among the writes that may get a bit, + 1; 0: it is none of them */
    uint64_t reads, covers;
} touch;

typedef struct {
    ir_inst *write;
    const ir_inst *address;
    range range;
} candidate;

/* Bytes that some of the writes write, and their bits. */
typedef struct {
    range range;
    uint64_t bits;
} spot;

/* What is on one line. */
typedef struct {
    uint32_t line;
    const candidate *first;
    uint64_t bits, spots; /* the latter as bits of their numbers */
    uint64_t most;        /* bytes of the longest */
    bool is_sorted;       /* their constants and sizes are small, and low and high are set */
    int64_t low, high;    /* all their bytes are between these */
    uint8_t sorted[WORD]; /* spots by constant */
    unsigned n;
} group;

/* The bits of addresses whose newest part is made in one block. */
typedef struct {
    const ir_block *block;
    uint64_t bits;
} origin;

typedef struct {
    ir_func *f;
    const ir_dom *dom;
    ir_arena *scratch;
    pass_alias alias;
    ir_vec(touch) touches;    /* in reverse postorder */
    uint32_t *first;          /* by place in that order: its first touch; one more at the end */
    ir_vec(ir_inst *) writes; /* that may get a bit */
    pass_lines lines;
    candidate *candidates;
    spot spots[WORD];
    group groups[WORD];
    origin origins[WORD];
    uint64_t by_object[WORD]; /* groups, as bits, by id of their object modulo 64 */
    unsigned n, nspots, ngroups, norigins;
    uint64_t queries;
    uint64_t anywhere;  /* bits of addresses that are made of leaves only */
    uint64_t variables; /* bits of addresses that lead to variables */
    uint64_t *dead;     /* by block id: dead at its start */
    uint64_t *older;    /* by block id: what is made of values from before it */
} dse;

/* ----------------------------------------------------------------------------------- candidates */

static bool is_plain_write(const ir_inst *i) {
    bool write = i->op == IR_OP_store || i->op == IR_OP_fill || i->op == IR_OP_copy;
    return write && !(i->imm.mem.flags & IR_MEM_VOLATILE);
}

static const ir_inst *written_object(const dse *d, const ir_inst *i) {
    uint64_t size;
    return pass_object_of(&d->alias, pass_written(&d->alias, i, &size));
}

static touch touch_of(dse *d, ir_inst *i) {
    touch t = {.inst = i};
    const ir_inst *to = is_plain_write(i) ? pass_written(&d->alias, i, &t.written.size) : NULL;
    const ir_inst *from = pass_read(&d->alias, i, &t.read.size);
    t.is_write = to;
    t.is_read = from;
    if (to) t.written.on = pass_find_line(&d->alias, &d->lines, to);
    if (from) t.read.on = pass_find_line(&d->alias, &d->lines, from);
    return t;
}

static void find_touches(dse *d) {
    const ir_order *order = &d->dom->order;
    d->first = ir_new_array(d->scratch, uint32_t, order->n + 1);
    for (uint32_t k = 0; k < order->n; k++) {
        d->first[k] = d->touches.n;
        foreach_inst (i, order->rpo[k])
            if (ir_has_flag(i, F_READS | F_WRITES | F_CONVERGENT))
                *ir_push(d->scratch, &d->touches) = touch_of(d, i);
    }
    d->first[order->n] = d->touches.n;
}

static void find_writes(dse *d) {
    uint32_t *count = ir_new_array(d->scratch, uint32_t, d->f->next_id);
    for (uint32_t k = 0; k < d->touches.n; k++)
        if (is_plain_write(d->touches.data[k].inst))
            count[written_object(d, d->touches.data[k].inst)->id]++;
    for (uint32_t k = 0; k < d->touches.n; k++) {
        touch *t = &d->touches.data[k];
        if (!is_plain_write(t->inst)) continue;
        const ir_inst *object = written_object(d, t->inst);
        if (!pass_is_variable(d->alias.f, object) && count[object->id] <= 1) continue;
        *ir_push(d->scratch, &d->writes) = t->inst;
        t->number = d->writes.n;
    }
}

/* ------------------------------------------------------------------------------------ data flow */

static uint64_t bit(unsigned k) { return UINT64_C(1) << k; }

/* Constants and sizes up to this can be compared without wrapping. */
enum { SMALL = 1 << 28 };

static bool is_small(const range *r) {
    return r->size <= SMALL && r->on.at + SMALL <= 2 * (uint64_t)SMALL;
}

static int64_t place_of(const range *r) { return (int64_t)r->on.at; }

/* The spots that may meet the range, and perhaps others. */
static uint64_t find_near(const dse *d, const group *g, const pass_relation *r, const range *with) {
    if (!g->is_sorted || !r->exact || !is_small(with)) return g->spots;
    if (place_of(with) >= g->high || place_of(with) + (int64_t)with->size <= g->low) return 0;
    unsigned low = 0, high = g->n;
    int64_t from = place_of(with) - (int64_t)g->most, to = place_of(with) + (int64_t)with->size;
    while (low < high) {
        unsigned mid = (low + high) / 2;
        if (place_of(&d->spots[g->sorted[mid]].range) <= from)
            low = mid + 1;
        else
            high = mid;
    }
    uint64_t near = 0;
    for (; low < g->n && place_of(&d->spots[g->sorted[low]].range) < to; low++)
        near |= bit(g->sorted[low]);
    return near;
}

static uint64_t find_covered(dse *d, const touch *t, const group *g) {
    const pass_relation r = pass_relate_lines(&d->alias, &d->lines, t->written.on.line, g->line);
    uint64_t covered = 0;
    if (r.how != PASS_AT_DISTANCE || !r.exact) return 0;
    for (uint64_t left = find_near(d, g, &r, &t->written); left; left &= left - 1) {
        const spot *c = &d->spots[__builtin_ctzll(left)];
        uint64_t distance = c->range.on.at - t->written.on.at;
        if (pass_covers_at(&r, distance, t->written.size, c->range.size)) covered |= c->bits;
    }
    return covered;
}

static uint64_t find_read(dse *d, const touch *t, const group *g) {
    const candidate *first = g->first;
    if (!t->is_read)
        return pass_may_read(&d->alias, t->inst, first->address, first->range.size) ? g->bits : 0;
    const pass_relation r = pass_relate_lines(&d->alias, &d->lines, t->read.on.line, g->line);
    uint64_t read = 0;
    if (r.how != PASS_AT_DISTANCE) return r.how == PASS_UNKNOWN_PLACE ? g->bits : 0;
    for (uint64_t left = find_near(d, g, &r, &t->read); left; left &= left - 1) {
        const spot *c = &d->spots[__builtin_ctzll(left)];
        uint64_t distance = c->range.on.at - t->read.on.at;
        if (pass_may_overlap_at(&r, distance, t->read.size, c->range.size)) read |= c->bits;
    }
    return read;
}

static uint64_t all_groups(const dse *d) {
    return d->ngroups == WORD ? UINT64_MAX : bit(d->ngroups) - 1;
}

/* The groups that the range may meet: of a closed object, those of the object itself. */
static uint64_t find_groups(const dse *d, const range *r) {
    const ir_inst *object = pass_object_of(&d->alias, d->lines.list.data[r->on.line].first);
    return pass_is_closed(&d->alias, object) ? d->by_object[object->id % WORD] : all_groups(d);
}

/* What has been removed touches nothing any more, and a store reads nothing. */
static void describe(dse *d, touch *t) {
    t->reads = t->covers = 0;
    if (!t->inst->block) return;
    uint64_t written = t->is_write ? find_groups(d, &t->written) : 0;
    uint64_t read = t->is_read ? find_groups(d, &t->read) : all_groups(d);
    if (t->inst->op == IR_OP_store || t->inst->op == IR_OP_fill) read = 0;
    for (; written; written &= written - 1, d->queries++)
        t->covers |= find_covered(d, t, &d->groups[__builtin_ctzll(written)]);
    for (; read; read &= read - 1, d->queries++)
        t->reads |= find_read(d, t, &d->groups[__builtin_ctzll(read)]);
}

/* The blocks of all that the address is made of dominate the write: the one closest to it; NULL:
 * it is made of leaves only. */
static const ir_block *find_newest(const dse *d, const ir_inst *address) {
    const pass_place p = pass_find_place(&d->alias, address);
    const ir_block *newest = p.base->block;
    for (uint32_t k = 0; k < p.offset.n; k++) {
        const ir_block *from = p.offset.term[k].of.value->block;
        if (!newest || (from && ir_block_dominates(d->dom, newest, from))) newest = from;
    }
    return newest;
}

/* The bits of addresses all of whose parts are there at b.  `but`: and not made in that block. */
static uint64_t made_above(const dse *d, const ir_block *b, const ir_block *but) {
    uint64_t above = d->anywhere;
    for (unsigned k = 0; k < d->norigins; k++) {
        const origin *o = &d->origins[k];
        if (o->block != but && ir_block_dominates(d->dom, o->block, b)) above |= o->bits;
    }
    return above;
}

/* What is dead after b's last instruction. */
static uint64_t dead_at_end(const dse *d, const ir_block *b) {
    uint64_t dead = UINT64_MAX;
    for (uint32_t n = 0; n < b->nsucc; n++) dead &= d->dead[b->succ[n]->id];
    return b->nsucc ? dead : d->variables & made_above(d, b, NULL);
}

static uint64_t dead_before(const touch *t, uint64_t dead) {
    return (dead | t->covers) & ~t->reads;
}

static bool flow(dse *d, uint32_t place) {
    const ir_block *b = d->dom->order.rpo[place];
    uint64_t dead = dead_at_end(d, b);
    for (uint32_t k = d->first[place + 1]; k-- > d->first[place];)
        dead = dead_before(&d->touches.data[k], dead);
    dead &= d->older[b->id];
    bool changed = dead != d->dead[b->id];
    d->dead[b->id] = dead;
    return changed;
}

static void begin_flow(dse *d) {
    const ir_order *order = &d->dom->order;
    for (uint32_t k = 0; k < d->touches.n; k++) describe(d, &d->touches.data[k]);
    for (uint32_t k = 0; k < order->n; k++) {
        const ir_block *b = order->rpo[k];
        d->dead[b->id] = UINT64_MAX;
        d->older[b->id] = made_above(d, b, b);
    }
}

static bool flow_once(dse *d) {
    bool changed = false;
    for (uint32_t k = d->dom->order.n; k-- > 0;) changed |= flow(d, k);
    return changed;
}

/* From "all is dead" down to what is true; false: it takes too long. */
static bool find_dead(dse *d) {
    unsigned rounds = 0;
    begin_flow(d);
    while (flow_once(d))
        if (++rounds == MAX_ROUNDS) return false;
    return true;
}

/* Removes the dead writes of one block, of those from `from` on that have a bit; they stay in the
 * list of touches as if they were there. */
static bool sweep(dse *d, uint32_t place, uint32_t from) {
    uint64_t dead = dead_at_end(d, d->dom->order.rpo[place]);
    bool changed = false;
    for (uint32_t k = d->first[place + 1]; k-- > d->first[place];) {
        touch *t = &d->touches.data[k];
        uint32_t n = t->number - 1 - from; /* large for what has no bit */
        uint64_t after = dead;
        dead = dead_before(t, dead);
        if (n >= d->n || !(after & bit(n))) continue;
        ir_remove(t->inst);
        changed = true;
    }
    return changed;
}

/* ------------------------------------------------------------------------------------- the pass */

static group *add_group(dse *d, const candidate *c) {
    const ir_inst *object = pass_object_of(&d->alias, c->address);
    d->by_object[object->id % WORD] |= bit(d->ngroups);
    d->groups[d->ngroups] = (group){.line = c->range.on.line,
                                    .first = c,
                                    .is_sorted = true,
                                    .low = INT64_MAX,
                                    .high = INT64_MIN};
    return &d->groups[d->ngroups++];
}

static group *group_of(dse *d, const candidate *c) {
    unsigned g = 0;
    while (g < d->ngroups && d->groups[g].line != c->range.on.line) g++;
    return g < d->ngroups ? &d->groups[g] : add_group(d, c);
}

static void insert_sorted(const dse *d, group *to, unsigned s) {
    unsigned at = to->n++;
    int64_t place = place_of(&d->spots[s].range);
    for (; at && place_of(&d->spots[to->sorted[at - 1]].range) > place; at--)
        to->sorted[at] = to->sorted[at - 1];
    to->sorted[at] = (uint8_t)s;
}

static void widen(group *to, const range *by) {
    int64_t end = place_of(by) + (int64_t)by->size;
    if (by->size > to->most) to->most = by->size;
    if (place_of(by) < to->low) to->low = place_of(by);
    if (end > to->high) to->high = end;
}

/* To the spot of the same bytes, or a new one. */
static void add_to_group(dse *d, unsigned k) {
    const candidate *c = &d->candidates[k];
    group *to = group_of(d, c);
    to->bits |= bit(k);
    for (unsigned n = 0; n < to->n; n++) {
        spot *s = &d->spots[to->sorted[n]];
        if (s->range.on.at != c->range.on.at || s->range.size != c->range.size) continue;
        s->bits |= bit(k);
        return;
    }
    d->spots[d->nspots] = (spot){c->range, bit(k)};
    to->spots |= bit(d->nspots);
    to->is_sorted &= is_small(&c->range);
    if (to->is_sorted) widen(to, &c->range);
    insert_sorted(d, to, d->nspots++);
}

static void add_origin(dse *d, const ir_block *newest, unsigned k) {
    unsigned n = 0;
    if (!newest) d->anywhere |= bit(k);
    while (n < d->norigins && d->origins[n].block != newest) n++;
    if (newest && n == d->norigins) d->origins[d->norigins++] = (origin){newest, 0};
    if (newest) d->origins[n].bits |= bit(k);
}

static void choose(dse *d, uint32_t from, unsigned n) {
    if (!d->candidates) d->candidates = ir_new_array(d->scratch, candidate, n);
    d->n = n;
    d->nspots = d->ngroups = d->norigins = 0;
    memset(d->by_object, 0, sizeof d->by_object);
    d->anywhere = d->variables = 0;
    for (unsigned k = 0; k < n; k++) {
        candidate *c = &d->candidates[k];
        *c = (candidate){.write = d->writes.data[from + k]};
        c->address = pass_written(&d->alias, c->write, &c->range.size);
        c->range.on = pass_find_line(&d->alias, &d->lines, c->address);
        add_origin(d, find_newest(d, c->address), k);
        if (pass_is_variable(d->f, pass_object_of(&d->alias, c->address))) d->variables |= bit(k);
        add_to_group(d, k);
    }
}

static bool run_word(dse *d, uint32_t from, unsigned n) {
    bool changed = false;
    choose(d, from, n);
    if (!find_dead(d)) return false;
    for (uint32_t k = 0; k < d->dom->order.n; k++) changed |= sweep(d, k, from);
    return changed;
}

/* Does: removes writes that are overwritten, or whose variable ends, before they are read.
 * Needs: nothing; gvn and simplify make addresses comparable.
 * Leaves: the control flow graph; values and addresses without uses.
 * Gives up: on volatile writes, on writes that are overwritten in part, and on those that come last
 *           in functions with very many accesses. */
bool pass_dse(ir_func *f, pass_ctx *cx) {
    dse d = {.f = f, .dom = ir_dominators(f), .scratch = cx->scratch};
    bool changed = false;
    pass_alias_begin(&d.alias, f, cx->scratch);
    find_touches(&d);
    find_writes(&d);
    d.dead = ir_new_array(cx->scratch, uint64_t, f->next_block);
    d.older = ir_new_array(cx->scratch, uint64_t, f->next_block);
    for (uint32_t k = 0, n; k < d.writes.n && d.queries < MAX_QUERIES; k += n) {
        n = d.writes.n - k < WORD ? d.writes.n - k : WORD;
        changed |= run_word(&d, k, n);
        d.queries += (uint64_t)WORD_COST * d.touches.n;
    }
    return changed;
}
