/* live.c — which values are live at the start and at the end of each block.
 *
 * Only values that are used beyond their block can be live there; these have numbers, ascending by
 * id.  A set is a list of words of 32 numbers, without those that are empty: values that are made
 * close to each other mostly live at the same places, so that a set of many values takes a bit
 * each, and one of few values no more than a list.  Bit sets over all values would cost blocks
 * times values, which a chain of 100,000 blocks cannot afford.
 *
 * Brandner, Boissinot, Darte, Dupont de Dinechin and Rastello, "Computing liveness sets for
 * SSA-form programs" (2011), section 3: one pass over the blocks in postorder, as if there were no
 * back edges; then what is live at the start of a loop's header is live in all of the loop, outer
 * loops first.  Where a cycle has several entries that is not so, and blocks are looked at again
 * until nothing changes.
 *
 * Parameters are live from the entry's start on; constants, undef and addresses never are.  The
 * arguments of a phi are used at the end of the predecessors, its result is defined at the start of
 * its block, with the results of all other phis there.
 *
 * Sets lie in chunks that are used again when they are computed again.  Equal sets of neighbours
 * are one.  Unreachable blocks have empty sets.
 */
#include "ir/flow.h"

enum { BITS = 32, FIRST_CHUNK = 64, LAST_CHUNK = 1 << 16 };

typedef struct chunk chunk;
struct chunk {
    chunk *next;
    uint32_t room;
    ir_live_word *word;
};

/* A value that a phi takes from a predecessor, and the next one of that predecessor, + 1. */
typedef struct {
    const ir_inst *v;
    uint32_t next;
} phi_use;

typedef struct {
    ir_live live;
    uint32_t block_room, id_room, number_room;
    uint32_t *first_use; /* by block id: in `uses`, + 1 */
    ir_vec(phi_use) uses;
    bool *stale;       /* by block id: a successor has changed */
    ir_live_set *loop; /* by block id of a header: live in all of its loop */
    chunk *first, *now;
    uint32_t taken; /* words of `now` */
    /* The set that is being built: its words, and which of them are used, within [low, high). */
    uint32_t *word, *used, low, high;
} live_cache;

/* Of a set and what is live in all of a loop. */
typedef struct {
    ir_live_set set, loop, both;
} last_join;

typedef struct {
    ir_func *f;
    live_cache *c;
    const ir_order *order;
    ir_arena *arena;
    last_join joined;
} live_walk;

/* ----------------------------------------------------------------------------------------- room */

static void make_block_room(ir_func *f, live_cache *c) {
    uint32_t n = f->next_block + f->next_block / 2;
    if (c->block_room >= f->next_block) return;
    ir_arena *a = &f->module->arena;
    c->live.in = ir_new_array(a, ir_live_set, n);
    c->live.out = ir_new_array(a, ir_live_set, n);
    c->loop = ir_new_array(a, ir_live_set, n);
    c->first_use = ir_new_array(a, uint32_t, n);
    c->stale = ir_new_array(a, bool, n);
    c->block_room = n;
}

static void make_id_room(ir_func *f, live_cache *c) {
    if (c->id_room >= f->next_id) return;
    c->id_room = f->next_id + f->next_id / 2;
    c->live.number = ir_new_array(&f->module->arena, uint32_t, c->id_room);
}

static void make_number_room(ir_func *f, live_cache *c) {
    uint32_t n = c->live.nvalues + c->live.nvalues / 2 + BITS;
    if (c->number_room >= c->live.nvalues) return;
    c->live.value = ir_new_array(&f->module->arena, ir_inst *, n);
    c->word = ir_new_array(&f->module->arena, uint32_t, n / BITS + 1);
    c->used = ir_new_array(&f->module->arena, uint32_t, n / BITS / BITS + 1);
    c->number_room = n;
}

static void clear_live(ir_func *f, live_cache *c) {
    make_block_room(f, c);
    make_id_room(f, c);
    memset(c->live.in, 0, f->next_block * sizeof *c->live.in);
    memset(c->live.out, 0, f->next_block * sizeof *c->live.out);
    memset(c->first_use, 0, f->next_block * sizeof *c->first_use);
    memset(c->live.number, 0, f->next_id * sizeof *c->live.number);
    c->uses.n = 0;
    c->now = c->first;
    c->taken = 0;
}

/* Another chunk after `now`, twice as large. */
static void next_chunk(live_walk *w, uint32_t n) {
    live_cache *c = w->c;
    chunk *fresh = ir_new(w->arena, chunk);
    uint32_t room = c->now ? 2 * c->now->room : FIRST_CHUNK;
    if (room > LAST_CHUNK) room = LAST_CHUNK;
    fresh->room = n > room ? n : room;
    fresh->word = ir_new_array(w->arena, ir_live_word, fresh->room);
    if (c->now)
        c->now->next = fresh;
    else
        c->first = fresh;
    c->now = fresh;
    c->taken = 0;
}

static ir_live_word *take_words(live_walk *w, uint32_t n) {
    live_cache *c = w->c;
    while (c->now && c->taken + n > c->now->room && c->now->next) {
        c->now = c->now->next;
        c->taken = 0;
    }
    if (!c->now || c->taken + n > c->now->room) next_chunk(w, n);
    c->taken += n;
    return c->now->word + c->taken - n;
}

/* -------------------------------------------------------------------------------------- numbers */

static bool lives_beyond(const ir_inst *v) {
    foreach_use (u, v)
        if (u->user->op == IR_OP_phi || u->user->block != v->block) return true;
    return false;
}

/* Numbers are given by id, so first each value is put where its id is. */
static void number_values(live_walk *w) {
    live_cache *c = w->c;
    uint32_t *number = c->live.number, n = 0;
    for (uint32_t p = 0; p < w->f->nparams; p++)
        number[w->f->param_val[p]->id] = lives_beyond(w->f->param_val[p]);
    for (uint32_t k = 0; k < w->order->n; k++)
        foreach_inst (i, w->order->rpo[k]) number[i->id] = lives_beyond(i);
    for (uint32_t id = 0; id < w->f->next_id; id++)
        if (number[id]) number[id] = ++n;
    c->live.nvalues = n;
    c->live.nids = w->f->next_id;
    make_number_room(w->f, c);
    for (uint32_t p = 0; p < w->f->nparams; p++)
        if (number[w->f->param_val[p]->id])
            c->live.value[number[w->f->param_val[p]->id] - 1] = w->f->param_val[p];
    for (uint32_t k = 0; k < w->order->n; k++)
        foreach_inst (i, w->order->rpo[k])
            if (number[i->id]) c->live.value[number[i->id] - 1] = i;
}

static bool has_number(const ir_inst *v) { return v->block || v->op == IR_OP_param; }

static void list_phi_uses(live_walk *w) {
    live_cache *c = w->c;
    for (uint32_t k = 0; k < w->order->n; k++) {
        const ir_block *b = w->order->rpo[k];
        foreach_phi (phi, b)
            for (unsigned n = 0; n < phi->nargs; n++) {
                uint32_t *first = &c->first_use[b->pred[n]->id];
                if (!has_number(phi->arg[n].val)) continue;
                *ir_push(w->arena, &c->uses) = (phi_use){phi->arg[n].val, *first};
                *first = c->uses.n;
            }
    }
}

/* ------------------------------------------------------------------ the set that is being built */

static void begin_set(live_cache *c) {
    c->low = UINT32_MAX;
    c->high = 0;
}

static void add_word(live_cache *c, uint32_t index, uint32_t bits) {
    c->word[index] |= bits;
    c->used[index / BITS] |= UINT32_C(1) << index % BITS;
    if (index < c->low) c->low = index;
    if (index >= c->high) c->high = index + 1;
}

static void add_value(live_cache *c, const ir_inst *v) {
    uint32_t n = c->live.number[v->id] - 1;
    add_word(c, n / BITS, UINT32_C(1) << n % BITS);
}

static void remove_value(live_cache *c, const ir_inst *v) {
    uint32_t n = c->live.number[v->id] - 1;
    c->word[n / BITS] &= ~(UINT32_C(1) << n % BITS);
}

static void add_set(live_cache *c, const ir_live_set *s) {
    for (uint32_t k = 0; k < s->n; k++) add_word(c, s->word[k].index, s->word[k].bits);
}

static uint32_t count_words(const live_cache *c) {
    uint32_t n = 0;
    for (uint32_t k = c->low / BITS; c->low < c->high && k <= (c->high - 1) / BITS; k++)
        n += (uint32_t)__builtin_popcount(c->used[k]);
    return n;
}

/* Returns the set that has been built, as a list. */
static ir_live_set finish_set(live_walk *w) {
    live_cache *c = w->c;
    uint32_t n = count_words(c);
    ir_live_set s = {0, n ? take_words(w, n) : NULL};
    for (uint32_t k = c->low / BITS; n && k <= (c->high - 1) / BITS; k++)
        for (uint32_t left = c->used[k]; left; left &= left - 1) {
            uint32_t index = k * BITS + (uint32_t)__builtin_ctz(left);
            if (c->word[index]) s.word[s.n++] = (ir_live_word){index, c->word[index]};
            c->word[index] = 0;
        }
    for (uint32_t k = c->low / BITS; n && k <= (c->high - 1) / BITS; k++) c->used[k] = 0;
    c->taken -= n - s.n;
    return s;
}

static bool are_equal_sets(const ir_live_set *a, const ir_live_set *b) {
    return a->n == b->n &&
           (!a->n || a->word == b->word || memcmp(a->word, b->word, a->n * sizeof *a->word) == 0);
}

/* Gives back the words of `fresh`, which was finished last, when they are those of `known`. */
static ir_live_set share(live_walk *w, ir_live_set fresh, const ir_live_set *known) {
    if (!are_equal_sets(&fresh, known)) return fresh;
    w->c->taken -= fresh.n;
    return *known;
}

/* --------------------------------------------------------------------------------------- blocks */

/* Is b a subset of a? */
static bool contains(const ir_live_set *a, const ir_live_set *b) {
    uint32_t at = 0;
    if (a->n < b->n) return false;
    for (uint32_t k = 0; a->word != b->word && k < b->n; k++, at++) {
        const ir_live_word *w = &b->word[k];
        while (at < a->n && a->word[at].index < w->index) at++;
        if (at == a->n || a->word[at].index != w->index || w->bits & ~a->word[at].bits)
            return false;
    }
    return true;
}

/* The successor whose live-in set contains those of all others; NULL: none. */
static const ir_block *find_largest(const live_walk *w, const ir_block *b) {
    const ir_live_set *in = w->c->live.in;
    const ir_block *largest = b->nsucc ? b->succ[0] : NULL;
    for (uint32_t n = 1; n < b->nsucc; n++)
        if (in[b->succ[n]->id].n > in[largest->id].n) largest = b->succ[n];
    for (uint32_t n = 0; largest && n < b->nsucc; n++)
        if (!contains(&in[largest->id], &in[b->succ[n]->id])) return NULL;
    return largest;
}

static ir_live_set find_out(live_walk *w, const ir_block *b) {
    live_cache *c = w->c;
    uint32_t use = c->first_use[b->id];
    const ir_block *largest = use ? NULL : find_largest(w, b);
    if (largest) return c->live.in[largest->id];
    begin_set(c);
    for (uint32_t n = 0; n < b->nsucc; n++) add_set(c, &c->live.in[b->succ[n]->id]);
    for (; use; use = c->uses.data[use - 1].next) add_value(c, c->uses.data[use - 1].v);
    return finish_set(w);
}

static ir_live_set find_in(live_walk *w, const ir_block *b) {
    live_cache *c = w->c;
    begin_set(c);
    add_set(c, &c->live.out[b->id]);
    foreach_inst (i, b) {
        if (c->live.number[i->id]) remove_value(c, i);
        for (unsigned n = 0; i->op != IR_OP_phi && n < i->nargs; n++) {
            const ir_inst *v = i->arg[n].val;
            if (has_number(v) && v->block != b) add_value(c, v);
        }
    }
    return share(w, finish_set(w), &c->live.out[b->id]);
}

/* True if the set at the start has changed. */
static bool look_at(live_walk *w, const ir_block *b) {
    w->c->live.out[b->id] = find_out(w, b);
    ir_live_set in = find_in(w, b);
    bool changed = !are_equal_sets(&in, &w->c->live.in[b->id]);
    w->c->live.in[b->id] = in;
    return changed;
}

/* In postorder; true when a block has changed whose predecessor was looked at before. */
static bool look_at_all(live_walk *w) {
    bool again = false;
    for (uint32_t k = w->order->n; k-- > 0;) {
        const ir_block *b = w->order->rpo[k];
        if (!w->c->stale[b->id]) continue;
        w->c->stale[b->id] = false;
        if (!look_at(w, b)) continue;
        for (uint32_t p = 0; p < b->npred; p++) {
            uint32_t index = w->order->index[b->pred[p]->id];
            w->c->stale[b->pred[p]->id] = true;
            again |= index != UINT32_MAX && index >= k;
        }
    }
    return again;
}

/* ---------------------------------------------------------------------------------------- loops */

static void append_rest(ir_live_set *to, const ir_live_word *from, const ir_live_word *end) {
    if (from != end) memcpy(to->word + to->n, from, (size_t)(end - from) * sizeof *from);
    to->n += (uint32_t)(end - from);
}

/* An empty set may have no words. */
static const ir_live_word *end_of(const ir_live_set *s) { return s->n ? s->word + s->n : s->word; }

/* Merges both into newly allocated words, and gives back those that are not needed. */
static ir_live_set join(live_walk *w, const ir_live_set *a, const ir_live_set *b) {
    const ir_live_word *x = a->word, *x_end = end_of(a), *y = b->word, *y_end = end_of(b);
    ir_live_set both = {0, take_words(w, a->n + b->n)};
    uint32_t more_than_a = 0, more_than_b = 0;
    while (x != x_end && y != y_end) {
        ir_live_word *to = &both.word[both.n++];
        if (x->index == y->index) {
            *to = (ir_live_word){x->index, x->bits | y->bits};
            more_than_a |= to->bits ^ x++->bits;
            more_than_b |= to->bits ^ y++->bits;
        } else {
            *to = x->index < y->index ? *x++ : *y++;
        }
    }
    append_rest(&both, x, x_end);
    append_rest(&both, y, y_end);
    bool is_a = both.n == a->n && !more_than_a, is_b = both.n == b->n && !more_than_b;
    w->c->taken -= is_a || is_b ? a->n + b->n : a->n + b->n - both.n;
    return is_a ? *a : is_b ? *b : both;
}

static bool is_same(const ir_live_set *a, const ir_live_set *b) {
    return a->word == b->word && a->n == b->n;
}

/* Adds what is live in all of the loop.  Neighbours often had equal sets, and share one again. */
static void add_loop(live_walk *w, ir_live_set *set, const ir_live_set *loop) {
    if (!is_same(set, &w->joined.set) || !is_same(loop, &w->joined.loop))
        w->joined = (last_join){*set, *loop, join(w, set, loop)};
    *set = w->joined.both;
}

/* What is live at the start of a header is live in all of its loop; outer loops come first. */
static void spread_over_loops(live_walk *w, const ir_loops *loops) {
    ir_live *live = &w->c->live;
    for (uint32_t k = 0; k < w->order->n; k++) {
        uint32_t b = w->order->rpo[k]->id;
        const ir_loop *l = loops->of[b], *around = l;
        if (l && l->header->id == b) around = l->parent;
        if (around) add_loop(w, &live->in[b], &w->c->loop[around->header->id]);
        if (l != around) w->c->loop[b] = live->in[b];
        if (l) add_loop(w, &live->out[b], &w->c->loop[l->header->id]);
    }
}

static bool is_irreducible(const live_walk *w, const ir_loops *loops) {
    bool any = false;
    for (uint32_t k = 0; k < w->order->n; k++) {
        const ir_loop *l = loops->of[w->order->rpo[k]->id];
        any |= l && l->irreducible;
    }
    return any;
}

/* ---------------------------------------------------------------------------------------- entry */

static void compute(ir_func *f, live_cache *c) {
    live_walk w = {.f = f, .c = c, .arena = &f->module->arena};
    const ir_loops *loops = ir_loop_tree(f);
    w.order = &ir_dominators(f)->order;
    clear_live(f, c);
    number_values(&w);
    list_phi_uses(&w);
    memset(c->stale, 1, f->next_block);
    bool again = look_at_all(&w);
    if (!is_irreducible(&w, loops))
        spread_over_loops(&w, loops);
    else
        while (again) again = look_at_all(&w);
}

const ir_live *ir_liveness(ir_func *f) {
    live_cache *c = (live_cache *)(void *)f->live;
    if (c && c->live.cfg_version == f->cfg_version && c->live.ssa_version == f->ssa_version)
        return f->live;
    if (!c) {
        c = ir_new(&f->module->arena, live_cache);
        f->live = &c->live;
    }
    const char *outer = ir_enter_part(f->module->cx, "liveness");
    c->live.cfg_version = f->cfg_version - 1; /* not valid should an allocation fail */
    compute(f, c);
    c->live.cfg_version = f->cfg_version;
    c->live.ssa_version = f->ssa_version;
    ir_enter_part(f->module->cx, outer);
    return f->live;
}

/* -------------------------------------------------------------------------------------- queries */

bool ir_is_live(const ir_live *live, const ir_live_set *set, const ir_inst *v) {
    uint32_t n = has_number(v) && v->id < live->nids ? live->number[v->id] : 0;
    uint32_t low = 0, high = set->n;
    if (!n--) return false;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (set->word[mid].index < n / BITS)
            low = mid + 1;
        else
            high = mid;
    }
    return low < set->n && set->word[low].index == n / BITS && set->word[low].bits >> n % BITS & 1;
}

ir_live_walk ir_walk_live(const ir_live *live, const ir_live_set *set) {
    ir_live_walk w = {.live = live, .word = set->word, .end = set->word};
    if (set->n) w.bits = w.word->bits, w.end += set->n; /* an empty set has no words */
    ir_step_live(&w);
    return w;
}

void ir_step_live(ir_live_walk *w) {
    w->v = NULL;
    while (w->word != w->end && !w->bits)
        if (++w->word != w->end) w->bits = w->word->bits;
    if (w->word == w->end) return;
    w->v = w->live->value[w->word->index * BITS + (uint32_t)__builtin_ctz(w->bits)];
    w->bits &= w->bits - 1;
}

void ir_live_begin(ir_live_here *h, const ir_block *b) {
    h->out = &h->live->out[b->id];
    h->now += 2;
}

bool ir_live_has(const ir_live_here *h, const ir_inst *v) {
    uint32_t *seen = &h->seen[v->id];
    if ((*seen & ~1u) != h->now) *seen = h->now | ir_is_live(h->live, h->out, v);
    return *seen & 1;
}

void ir_live_mark(ir_live_here *h, const ir_inst *v, bool is_live) {
    h->seen[v->id] = h->now | is_live;
}
