/* dse.c — dead store elimination: removes writes that are never read.
 *
 * Backward data flow.  Bytes are *dead* at a point if on every path from there they are overwritten
 * before anything can read them, or the function whose variable they belong to returns.  Local
 * memory belongs to the code of a work-group, and so does what items keep over barriers.  A write
 * is removed if its bytes are dead after it.
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

/* What the function does to memory. */
typedef struct {
    ir_func *f;
    const ir_dom *dom;
    pass_alias alias;
    pass_lines lines;
    ir_vec(touch) touches;    /* in reverse postorder */
    uint32_t *first;          /* by place in that order: its first touch; one more at the end */
    ir_vec(ir_inst *) writes; /* that may get a bit */
} accesses;

/* The writes that are solved together, and their bytes by line. */
typedef struct {
    uint32_t from; /* the first of them in the list of writes */
    unsigned n;
    uint64_t owned; /* bits of writes to what ends with the function */
    candidate *candidates;
    spot spots[WORD];
    group groups[WORD];
    unsigned nspots, ngroups;
    uint64_t by_object[WORD]; /* groups, as bits, by id of their object modulo 64 */
} word;

/* The blocks in which the addresses of a word are computed. */
typedef struct {
    origin list[WORD];
    unsigned n;
    uint64_t anywhere; /* bits of addresses that are made of leaves only */
} origins;

typedef struct {
    accesses mem;
    word w;
    origins made;
    uint64_t queries; /* so far */
    uint64_t *dead;   /* by block id: dead at its start */
    uint64_t *older;  /* by block id: what is made of values from before it */
} dse;

/* ----------------------------------------------------------------------------------- candidates */

static bool is_plain_write(const ir_inst *i) {
    return pass_writes_all(i) && !(i->imm.mem.flags & IR_MEM_VOLATILE);
}

static touch touch_of(accesses *m, ir_inst *i, uint32_t number) {
    touch t = {.inst = i, .number = number};
    const ir_inst *to = is_plain_write(i) ? pass_written(&m->alias, i, &t.written.size) : NULL;
    const ir_inst *from = pass_read(&m->alias, i, &t.read.size);
    t.is_write = to;
    t.is_read = from;
    if (to) t.written.on = pass_find_line(&m->alias, &m->lines, to);
    if (from) t.read.on = pass_find_line(&m->alias, &m->lines, from);
    return t;
}

/* Does the function own the bytes that the write has written, so that they end when it returns?
 * Code of a group owns local memory, and the private memory in which items keep values; later
 * phases of a kernel get what they need in other memory. */
static bool owns_written(const ir_func *f, const ir_inst *address, const ir_inst *object) {
    ir_space space = ir_space_of(address->type);
    bool is_group =
        f->level == L_GROUP && f->flags & IR_FUNC_EXPORT && !(f->flags & IR_FUNC_SHARED);
    return pass_is_variable(f, object) || (is_group && (space == IR_LOCAL || space == IR_PRIVATE));
}

/* By value id of an address: what remains without steps and casts.  In reverse postorder an address
 * comes before those that are made from it. */
static const ir_inst **find_objects(const accesses *m, ir_arena *scratch) {
    const ir_order *order = &m->dom->order;
    const ir_inst **object = ir_new_array(scratch, const ir_inst *, m->f->next_id);
    for (uint32_t k = 0; k < order->n; k++)
        foreach_inst (i, order->rpo[k]) {
            bool moves =
                i->op == IR_OP_ptradd || i->op == IR_OP_ptrcast || i->op == IR_OP_ptrcast_to;
            const ir_inst *from = moves ? ir_arg(i, 0) : NULL;
            if (moves) object[i->id] = object[from->id] ? object[from->id] : from;
        }
    return object;
}

/* Those that may get a bit. */
static void find_writes(accesses *m, ir_arena *scratch) {
    const ir_order *order = &m->dom->order;
    ir_vec(ir_inst *) plain = {0};
    uint64_t size;
    for (uint32_t k = 0; k < order->n; k++)
        foreach_inst (i, order->rpo[k])
            if (ir_has_flag(i, F_WRITES) && is_plain_write(i)) *ir_push(scratch, &plain) = i;
    if (!plain.n) return;
    const ir_inst **object = find_objects(m, scratch);
    uint32_t *count = ir_new_array(scratch, uint32_t, m->f->next_id);
    for (uint32_t k = 0; k < plain.n; k++) {
        const ir_inst *to = pass_written(&m->alias, plain.data[k], &size);
        count[object[to->id] ? object[to->id]->id : to->id]++;
    }
    for (uint32_t k = 0; k < plain.n; k++) {
        const ir_inst *to = pass_written(&m->alias, plain.data[k], &size);
        const ir_inst *of = object[to->id] ? object[to->id] : to;
        if (count[of->id] > 1 || owns_written(m->f, to, of))
            *ir_push(scratch, &m->writes) = plain.data[k];
    }
}

static void find_touches(accesses *m, ir_arena *scratch) {
    const ir_order *order = &m->dom->order;
    uint32_t writes = 0;
    m->first = ir_new_array(scratch, uint32_t, order->n + 1);
    for (uint32_t k = 0; k < order->n; k++) {
        m->first[k] = m->touches.n;
        foreach_inst (i, order->rpo[k]) {
            if (!ir_has_flag(i, F_READS | F_WRITES | F_CONVERGENT)) continue;
            bool is_next = writes < m->writes.n && m->writes.data[writes] == i;
            *ir_push(scratch, &m->touches) = touch_of(m, i, is_next ? ++writes : 0);
        }
    }
    m->first[order->n] = m->touches.n;
}

/* ------------------------------------------------------------------------------------ data flow */

static uint64_t bit(unsigned k) { return UINT64_C(1) << k; }

/* Constants and sizes up to this can be compared without wrapping. */
enum { SMALL = 1 << 28 };

static bool is_small(const range *r) {
    return r->size <= SMALL && r->on.at + SMALL <= 2 * (uint64_t)SMALL;
}

static int64_t place_of(const range *r) { return (int64_t)r->on.at; }

/* The spots that may overlap the range, and perhaps others. */
static uint64_t find_near_spots(const word *w, const group *g, const pass_relation *r,
                                const range *with) {
    if (!g->is_sorted || !r->exact || !is_small(with)) return g->spots;
    if (place_of(with) >= g->high || place_of(with) + (int64_t)with->size <= g->low) return 0;
    unsigned low = 0, high = g->n;
    int64_t from = place_of(with) - (int64_t)g->most, to = place_of(with) + (int64_t)with->size;
    while (low < high) {
        unsigned mid = (low + high) / 2;
        if (place_of(&w->spots[g->sorted[mid]].range) <= from)
            low = mid + 1;
        else
            high = mid;
    }
    uint64_t near = 0;
    for (; low < g->n && place_of(&w->spots[g->sorted[low]].range) < to; low++)
        near |= bit(g->sorted[low]);
    return near;
}

static uint64_t find_covered(dse *d, const touch *t, const group *g) {
    const pass_relation r =
        pass_relate_lines(&d->mem.alias, &d->mem.lines, t->written.on.line, g->line);
    uint64_t covered = 0;
    if (r.how != PASS_AT_DISTANCE || !r.exact) return 0;
    for (uint64_t left = find_near_spots(&d->w, g, &r, &t->written); left; left &= left - 1) {
        const spot *c = &d->w.spots[__builtin_ctzll(left)];
        uint64_t distance = c->range.on.at - t->written.on.at;
        if (pass_covers_at(&r, distance, t->written.size, c->range.size)) covered |= c->bits;
    }
    return covered;
}

static uint64_t find_read(dse *d, const touch *t, const group *g) {
    const candidate *first = g->first;
    if (!t->is_read)
        return pass_may_read(&d->mem.alias, t->inst, first->address, first->range.size) ? g->bits
                                                                                        : 0;
    const pass_relation r =
        pass_relate_lines(&d->mem.alias, &d->mem.lines, t->read.on.line, g->line);
    uint64_t read = 0;
    if (r.how != PASS_AT_DISTANCE) return r.how == PASS_UNKNOWN_PLACE ? g->bits : 0;
    for (uint64_t left = find_near_spots(&d->w, g, &r, &t->read); left; left &= left - 1) {
        const spot *c = &d->w.spots[__builtin_ctzll(left)];
        uint64_t distance = c->range.on.at - t->read.on.at;
        if (pass_may_overlap_at(&r, distance, t->read.size, c->range.size)) read |= c->bits;
    }
    return read;
}

static uint64_t all_groups(const word *w) {
    return w->ngroups == WORD ? UINT64_MAX : bit(w->ngroups) - 1;
}

/* The groups that the range may overlap: of a closed object, those of the object itself. */
static uint64_t find_groups(const dse *d, const range *r) {
    const ir_inst *object = pass_object_of(&d->mem.alias, d->mem.lines.list.data[r->on.line].first);
    return pass_is_closed(&d->mem.alias, object) ? d->w.by_object[object->id % WORD]
                                                 : all_groups(&d->w);
}

/* What has been removed touches nothing any more, and a store reads nothing. */
static void describe(dse *d, touch *t) {
    t->reads = t->covers = 0;
    if (!t->inst->block) return;
    uint64_t written = t->is_write ? find_groups(d, &t->written) : 0;
    uint64_t read = t->is_read ? find_groups(d, &t->read) : all_groups(&d->w);
    if (t->is_write && t->inst->op != IR_OP_copy) read = 0;
    for (; written; written &= written - 1, d->queries++)
        t->covers |= find_covered(d, t, &d->w.groups[__builtin_ctzll(written)]);
    for (; read; read &= read - 1, d->queries++)
        t->reads |= find_read(d, t, &d->w.groups[__builtin_ctzll(read)]);
}

/* The blocks of all that the address is made of dominate the write: the one closest to it; NULL:
 * it is made of leaves only. */
static const ir_block *find_newest(const accesses *m, const ir_inst *address) {
    const pass_place p = pass_find_place(&m->alias, address);
    const ir_block *newest = p.base->block;
    for (uint32_t k = 0; k < p.offset.n; k++) {
        const ir_block *from = p.offset.term[k].of.value->block;
        if (!newest || (from && ir_block_dominates(m->dom, newest, from))) newest = from;
    }
    return newest;
}

/* The bits of addresses all of whose parts are computed before b.  `but`: and not in that block. */
static uint64_t made_above(const dse *d, const ir_block *b, const ir_block *but) {
    uint64_t above = d->made.anywhere;
    for (unsigned k = 0; k < d->made.n; k++) {
        const origin *o = &d->made.list[k];
        if (o->block != but && ir_block_dominates(d->mem.dom, o->block, b)) above |= o->bits;
    }
    return above;
}

/* What is dead after b's last instruction. */
static uint64_t dead_at_end(const dse *d, const ir_block *b) {
    uint64_t dead = UINT64_MAX;
    for (uint32_t n = 0; n < b->nsucc; n++) dead &= d->dead[b->succ[n]->id];
    return b->nsucc ? dead : d->w.owned & made_above(d, b, NULL);
}

/* The transfer function of one access. */
static uint64_t dead_before(const touch *t, uint64_t dead) {
    return (dead | t->covers) & ~t->reads;
}

static void begin_flow(dse *d) {
    const ir_order *order = &d->mem.dom->order;
    for (uint32_t k = 0; k < d->mem.touches.n; k++) describe(d, &d->mem.touches.data[k]);
    for (uint32_t k = 0; k < order->n; k++) {
        const ir_block *b = order->rpo[k];
        d->dead[b->id] = UINT64_MAX;
        d->older[b->id] = made_above(d, b, b);
    }
}

/* Computes what is dead at the start of each block once; false: nothing has changed. */
static bool flow_once(dse *d) {
    const ir_order *order = &d->mem.dom->order;
    bool changed = false;
    for (uint32_t place = order->n; place-- > 0;) {
        const ir_block *b = order->rpo[place];
        uint64_t dead = dead_at_end(d, b);
        for (uint32_t k = d->mem.first[place + 1]; k-- > d->mem.first[place];)
            dead = dead_before(&d->mem.touches.data[k], dead);
        dead &= d->older[b->id];
        changed |= dead != d->dead[b->id];
        d->dead[b->id] = dead;
    }
    return changed;
}

/* Iterates from "all is dead" down to the fixed point; false: it takes too long. */
static bool find_dead(dse *d) {
    unsigned rounds = 0;
    begin_flow(d);
    while (flow_once(d))
        if (++rounds == MAX_ROUNDS) return false;
    return true;
}

/* Removes the dead writes of one block; they remain in the list of touches, without effect. */
static bool remove_dead_writes(dse *d, uint32_t place) {
    uint64_t dead = dead_at_end(d, d->mem.dom->order.rpo[place]);
    bool changed = false;
    for (uint32_t k = d->mem.first[place + 1]; k-- > d->mem.first[place];) {
        touch *t = &d->mem.touches.data[k];
        uint32_t n = t->number - 1 - d->w.from; /* large for what has no bit */
        uint64_t after = dead;
        dead = dead_before(t, dead);
        if (n >= d->w.n || !(after & bit(n))) continue;
        ir_count(t->inst->block->func->module->cx, dse_writes, 1);
        ir_remove(t->inst);
        changed = true;
    }
    return changed;
}

/* ---------------------------------------------------------------------------------------- words */

static group *group_of(dse *d, const candidate *c) {
    word *w = &d->w;
    unsigned g = 0;
    while (g < w->ngroups && w->groups[g].line != c->range.on.line) g++;
    if (g < w->ngroups) return &w->groups[g];
    w->by_object[pass_object_of(&d->mem.alias, c->address)->id % WORD] |= bit(g);
    w->groups[w->ngroups++] = (group){.line = c->range.on.line,
                                      .first = c,
                                      .is_sorted = true,
                                      .low = INT64_MAX,
                                      .high = INT64_MIN};
    return &w->groups[g];
}

static void insert_sorted(const word *w, group *to, unsigned s) {
    unsigned at = to->n++;
    int64_t place = place_of(&w->spots[s].range);
    for (; at && place_of(&w->spots[to->sorted[at - 1]].range) > place; at--)
        to->sorted[at] = to->sorted[at - 1];
    to->sorted[at] = (uint8_t)s;
}

static void extend_bounds(group *to, const range *by) {
    int64_t end = place_of(by) + (int64_t)by->size;
    if (by->size > to->most) to->most = by->size;
    if (place_of(by) < to->low) to->low = place_of(by);
    if (end > to->high) to->high = end;
}

/* Adds a candidate to the spot of the same bytes, or to a new one. */
static void add_to_group(word *w, group *to, unsigned k) {
    const range *r = &w->candidates[k].range;
    to->bits |= bit(k);
    for (unsigned n = 0; n < to->n; n++) {
        spot *s = &w->spots[to->sorted[n]];
        if (s->range.on.at != r->on.at || s->range.size != r->size) continue;
        s->bits |= bit(k);
        return;
    }
    w->spots[w->nspots] = (spot){*r, bit(k)};
    to->spots |= bit(w->nspots);
    to->is_sorted &= is_small(r);
    if (to->is_sorted) extend_bounds(to, r);
    insert_sorted(w, to, w->nspots++);
}

static void add_origin(origins *made, const ir_block *newest, unsigned k) {
    unsigned n = 0;
    if (!newest) made->anywhere |= bit(k);
    while (n < made->n && made->list[n].block != newest) n++;
    if (newest && n == made->n) made->list[made->n++] = (origin){newest, 0};
    if (newest) made->list[n].bits |= bit(k);
}

/* Makes a word of n writes. */
static void begin_word(dse *d, uint32_t from, unsigned n) {
    word *w = &d->w;
    w->from = from;
    w->n = n;
    w->owned = 0;
    w->nspots = w->ngroups = 0;
    memset(w->by_object, 0, sizeof w->by_object);
    d->made.n = 0;
    d->made.anywhere = 0;
    for (unsigned k = 0; k < n; k++) {
        candidate *c = &w->candidates[k];
        *c = (candidate){.write = d->mem.writes.data[from + k]};
        c->address = pass_written(&d->mem.alias, c->write, &c->range.size);
        c->range.on = pass_find_line(&d->mem.alias, &d->mem.lines, c->address);
        add_origin(&d->made, find_newest(&d->mem, c->address), k);
        if (owns_written(d->mem.f, c->address, pass_object_of(&d->mem.alias, c->address)))
            w->owned |= bit(k);
        add_to_group(w, group_of(d, c), k);
    }
}

/* ------------------------------------------------------------------------------------- the pass */

static bool remove_dead(const accesses *mem, ir_arena *scratch) {
    dse *d = ir_alloc_raw(scratch, sizeof *d);
    accesses *m = &d->mem;
    ir_func *f = mem->f;
    bool changed = false;
    *m = *mem;
    d->queries = 0;
    d->made.n = 0;
    pass_alias_begin(&m->alias, f, scratch);
    find_touches(m, scratch);
    d->w.candidates = ir_new_array(scratch, candidate, WORD);
    d->dead = ir_new_array(scratch, uint64_t, f->next_block);
    d->older = ir_new_array(scratch, uint64_t, f->next_block);
    for (uint32_t k = 0, n; k < m->writes.n && d->queries < MAX_QUERIES; k += n) {
        n = m->writes.n - k < WORD ? m->writes.n - k : WORD;
        begin_word(d, k, n);
        if (find_dead(d))
            for (uint32_t b = 0; b < m->dom->order.n; b++) changed |= remove_dead_writes(d, b);
        d->queries += (uint64_t)WORD_COST * m->touches.n;
    }
    return changed;
}

/* Does: removes writes that are overwritten, or whose variable or memory of a group ends, before
 * they are read.
 * Needs: nothing; gvn and simplify make addresses comparable.
 * Leaves: the control flow graph; values and addresses without uses.
 * Gives up: on volatile writes, on writes that are overwritten in part, and on those that come last
 *           in functions with very many accesses. */
bool pass_dse(ir_func *f, pass_ctx *cx) {
    accesses mem = {.f = f, .dom = ir_dominators(f), .alias = {.f = f}};
    find_writes(&mem, cx->scratch);
    return mem.writes.n && remove_dead(&mem, cx->scratch);
}
