/* price.c — whether the vector loop takes less time than the scalar one.
 *
 * The price of a loop is the time for which its instructions occupy a core (latency.def), times how
 * often they are executed.  Frequencies are those of the scalar graph and of the new graph: all
 * branches go either way alike, except those that leave loops and those to strips (strips.c): loops
 * have ROUNDS iterations, and ROUNDS_APART if they run until the last lane has left.  The vector
 * loop is priced after it has been built, so every form of access and every select counts as what
 * it is.
 *
 * Where each round of an inner loop goes on in another line of memory and neighbours share lines,
 * items one after the other fetch each line again: there may be more lines than the nearest cache
 * holds, above all if they are a power of two apart.
 */
#include "passes/vectorize/simd.h"

#include <stdlib.h>

enum {
    UNIT = 1 << 16, /* the frequency of an iteration */
    ROUNDS = 8,
    ROUNDS_APART = 12,
    LONG = 16,       /* rounds of strips, for each round of other loops: rows are long */
    LAST_ROUNDS = 1, /* of what rounds.c has left */
    MOST = 1 << 30,  /* a frequency */
    LANE = 8,        /* quarters of a cycle, to take a lane out of a vector and put it back */
    LARGE = 32,      /* bytes; larger vectors take two cycles for one */
    LINE = 64,       /* bytes */
    FAR = 8,         /* quarters of a cycle, to fetch a line again */
    MISS = 20,       /* the same, for a branch that is mispredicted now and then */
    LENGTH = 16,     /* iterations of an innermost loop whose number is not known */
    MAX_DEPTH = 8
};

/* ---------------------------------------------------------------------------------- frequencies */

typedef struct {
    const simd *s;
    bool is_vector;
    uint64_t *frequency; /* by node */
    uint32_t *exits;     /* by ENTER node: edges that leave the loop */
} flow;

static bool is_in(const simd *s, uint16_t k, const ir_loop *loop) {
    const simd_node *n = &s->node[k];
    return n->kind == SIMD_ENTER ? ir_loop_contains(loop, n->loop)
                                 : ir_in_loop(s->uniformity->loops, n->block, loop);
}

/* The ENTER node of the outermost loop that an edge leaves; SIMD_NONE: it leaves none. */
static uint16_t left_by(const simd *s, uint32_t from, uint16_t to) {
    uint16_t enter = SIMD_NONE;
    for (const ir_loop *l = s->node[from].loop; l != s->scalar.loop; l = l->parent)
        if (!is_in(s, to, l)) enter = s->enter_of[l->header->id];
    return enter;
}

static unsigned targets_of(const flow *f, uint32_t k, const uint16_t **to) {
    const simd_node *n = &f->s->node[k];
    *to = f->is_vector ? n->next : n->succ;
    return f->is_vector ? n->nnext : n->nsucc;
}

static void add(flow *f, uint16_t to, uint64_t frequency) {
    uint64_t *sum = &f->frequency[to];
    *sum = *sum + frequency < MOST ? *sum + frequency : MOST;
}

static void count_exits(flow *f) {
    for (uint32_t k = 0; k < f->s->n; k++) {
        const uint16_t *to;
        unsigned n = targets_of(f, k, &to);
        for (unsigned e = 0; e < n; e++) {
            uint16_t enter = left_by(f->s, k, to[e]);
            if (enter != SIMD_NONE) f->exits[enter]++;
        }
    }
}

static uint64_t rounds_of(const flow *f, const simd_node *enter) {
    const ir_loop *loop = f->s->uniformity->loops->of[enter->block->id];
    foreach_in (const simd_strips, t, *f->s->strips)
        if (t->first == enter->block) return ROUNDS * LONG / t->rounds;
    if (simd_is_last(f->s, loop)) return LAST_ROUNDS;
    return f->is_vector && simd_diverges(f->s, loop) ? ROUNDS_APART : ROUNDS;
}

/* Passes on the frequency of node k, which is complete: the order is topological. */
static void pass_on(flow *f, uint32_t k) {
    const simd_node *node = &f->s->node[k];
    uint64_t here = f->frequency[k];
    const uint16_t *to;
    unsigned n = targets_of(f, k, &to);
    if (f->is_vector && node->skip != SIMD_NONE) {
        add(f, node->skip, here / 4);
        here -= here / 4;
    }
    if (node->kind == SIMD_ENTER) here *= rounds_of(f, node);
    unsigned stay = 0;
    foreach_in (const simd_strips, t, *f->s->strips)
        if (node->kind == SIMD_BLOCK && t->test && t->guard == node->block->last) n = 1;
    for (unsigned e = 0; e < n; e++) stay += left_by(f->s, k, to[e]) == SIMD_NONE;
    for (unsigned e = 0; e < n; e++) {
        uint16_t enter = left_by(f->s, k, to[e]);
        add(f, to[e], enter == SIMD_NONE ? here / stay : f->frequency[enter] / f->exits[enter]);
    }
}

static uint64_t *find_frequencies(const simd *s, bool is_vector) {
    flow f = {.s = s,
              .is_vector = is_vector,
              .frequency = ir_new_array(s->scratch, uint64_t, s->n),
              .exits = ir_new_array(s->scratch, uint32_t, s->n)};
    count_exits(&f);
    f.frequency[0] = UNIT;
    for (uint32_t k = 0; k < s->n; k++) pass_on(&f, k);
    return f.frequency;
}

/* --------------------------------------------------------------------------------- instructions */

static unsigned bytes_of(const simd *s, ir_type t) {
    if (t == IR_VOID || ir_is_bool(t)) return 0;
    unsigned bits = ir_bits(s->f->module, t) * ir_lanes(t);
    return (bits + 7) / 8;
}

/* Registers full of the widest value that an instruction has to do with, and their size. */
typedef struct {
    unsigned lanes, count, bytes;
} pieces;

static pieces pieces_of(const simd *s, const ir_inst *i) {
    unsigned lanes = ir_lanes(i->type), bytes = bytes_of(s, i->type);
    unsigned most = s->cx->target && s->cx->target->vector_bytes ? s->cx->target->vector_bytes : 16;
    for (unsigned n = 0; n < i->nargs; n++) {
        ir_type t = ir_arg(i, n)->type;
        if (ir_lanes(t) > lanes) lanes = ir_lanes(t);
        if (bytes_of(s, t) > bytes) bytes = bytes_of(s, t);
    }
    if (bytes <= most) return (pieces){lanes, 1, bytes};
    return (pieces){lanes, (bytes + most - 1) / most, most};
}

static bool takes(const simd *s, const ir_inst *i) {
    return s->cx->target && s->cx->target->takes(i, s->cx->target->level);
}

/* The number of two-operand shuffles for all pieces of the result. */
static unsigned shuffles_of(const simd *s, const ir_inst *i, const pieces *p) {
    unsigned from = ir_lanes(ir_arg(i, 0)->type), elem = bytes_of(s, ir_elem(i->type)), count = 0;
    unsigned unit = elem && p->bytes > elem ? p->bytes / elem : 1;
    for (unsigned first = 0; first < ir_lanes(i->type); first += unit) {
        uint64_t seen = 0;
        for (unsigned k = first; k < first + unit && k < ir_lanes(i->type); k++)
            if (i->imm.mask[k] != 255) {
                unsigned lane = i->imm.mask[k], second = lane >= from;
                seen |= UINT64_C(1) << ((second * 32 + (lane - second * from) / unit) & 63);
            }
        unsigned sources = (unsigned)__builtin_popcountll(seen);
        count += sources > 2 ? sources - 1 : 1;
    }
    return count;
}

static bool is_splat(const ir_inst *i) {
    for (unsigned n = 1; n < i->nargs; n++)
        if (ir_arg(i, n) != ir_arg(i, 0)) return false;
    return true;
}

/* How many of the operation of one lane or piece are needed: 1 for what is one instruction. */
static unsigned effort_of(const simd *s, const ir_inst *i, const pieces *p) {
    bool has_masks = s->cx->target && s->cx->target->has_masks;
    switch (i->op) {
    case IR_OP_shuffle: return shuffles_of(s, i, p) * (has_masks ? 1 : 2);
    case IR_OP_vec: return is_splat(i) ? 1 : p->lanes;
    case IR_OP_extract:
    case IR_OP_insert: return 2;
    case IR_OP_load:
    case IR_OP_store:
    case IR_OP_select:
    case IR_OP_bitcast:
    case IR_OP_any:
    case IR_OP_all: return p->count;
    default: return takes(s, i) || ir_is_bool(i->type) ? p->count : 3 * p->count;
    }
}

static bool is_by_lanes(const simd *s, const ir_inst *i) {
    switch (i->op) {
    case IR_OP_udiv:
    case IR_OP_sdiv:
    case IR_OP_urem:
    case IR_OP_srem:
    case IR_OP_masked_load:
    case IR_OP_masked_store: return !takes(s, i);
    case IR_OP_gather:
    case IR_OP_scatter: return true;
    default: return false;
    }
}

/* Elements of small private arrays are variables that become values. */
static bool is_in_register(const ir_inst *i) {
    if (i->op != IR_OP_load && i->op != IR_OP_store) return false;
    const ir_inst *p = simd_address(i);
    return p->op == IR_OP_alloca && ir_is_vector(p->imm.var->type);
}

static uint64_t price_of(const simd *s, const ir_inst *i) {
    unsigned quarters = pass_quarters_of(i);
    if (i->op == IR_OP_phi || is_in_register(i)) return 0;
    pieces p = pieces_of(s, i);
    if (p.lanes == 1) return quarters;
    if (is_by_lanes(s, i))
        return (uint64_t)p.lanes * (takes(s, i) ? 2 * quarters : quarters + LANE);
    return (uint64_t)quarters * effort_of(s, i, &p) * (p.bytes > LARGE ? 2 : 1);
}

/* --------------------------------------------------------------------------------------- memory */

/* Does v change from one round of the loop to the next by more than a line, or by a distance that
 * is not known? */
static bool steps_far(const simd *s, const ir_inst *v, const ir_loop *loop, unsigned depth) {
    const ir_loops *loops = s->uniformity->loops;
    if (!v->block || !ir_in_loop(loops, v->block, loop) || depth > MAX_DEPTH) return false;
    if (v->op == IR_OP_phi && v->block == loop->header)
        for (unsigned k = 0; k < v->nargs; k++) {
            const ir_inst *next = ir_arg(v, k);
            if ((next->op != IR_OP_add && next->op != IR_OP_ptradd) || ir_arg(next, 0) != v)
                continue;
            const ir_inst *step = ir_arg(next, 1);
            return !ir_is_const(step) || llabs(ir_signed_const(step)) >= LINE;
        }
    switch (v->op) {
    case IR_OP_add:
    case IR_OP_sub:
    case IR_OP_ptradd:
        return steps_far(s, ir_arg(v, 0), loop, depth + 1) ||
               steps_far(s, ir_arg(v, 1), loop, depth + 1);
    case IR_OP_zext:
    case IR_OP_sext:
    case IR_OP_shl:
    case IR_OP_ptrcast: return steps_far(s, ir_arg(v, 0), loop, depth + 1);
    default: return false;
    }
}

/* Does the loop access elements side by side that are far from those of its next round? */
static bool steps_over(const simd *s, const ir_inst *i, const ir_loop *loop) {
    if (i->op != IR_OP_load && i->op != IR_OP_store) return false;
    const ir_inst *p = simd_address(i);
    return simd_shape_of(s, p) == SIMD_STRIDED && steps_far(s, p, loop, 0);
}

bool simd_steps_over(const simd *s) {
    for (uint32_t k = 0; k < s->n; k++) {
        if (s->node[k].kind != SIMD_BLOCK) continue;
        const ir_block *b = s->node[k].block;
        const ir_loop *loop = s->uniformity->loops->of[b->id];
        if (loop == s->scalar.loop) continue;
        foreach_inst (i, b)
            if (steps_over(s, i, loop)) return true;
    }
    return false;
}

/* What the items of an iteration lose by fetching lines once each, for one of them. */
static uint64_t price_lines(const simd *s, const ir_block *b) {
    const ir_loop *loop = s->uniformity->loops->of[b->id];
    uint64_t sum = 0;
    if (loop == s->scalar.loop) return 0;
    foreach_inst (i, b) {
        if (!steps_over(s, i, loop)) continue;
        int64_t stride = s->value[simd_address(i)->id].stride;
        uint64_t lines = (uint64_t)llabs(stride) * s->lanes / LINE + 1;
        if (lines < s->lanes) sum += FAR * (s->lanes - lines) / s->lanes;
    }
    return sum;
}

/* ---------------------------------------------------------------------------------------- loops */

/* A block within a node that leads to itself is a loop over lanes (updates.c): over those of a
 * mask, one in each round, which are about half of all; or over all, several in each round. */
static uint64_t repeats_of(const simd *s, const ir_block *b) {
    bool repeats = false;
    unsigned updates = 0;
    if (b == s->node[b->mark].head) return 1;
    for (unsigned n = 0; n < b->nsucc; n++) repeats |= b->succ[n] == b;
    foreach_inst (i, b) updates += simd_is_update(i);
    return repeats ? s->lanes / (updates > 1 ? updates : 2) : 1;
}

static uint64_t price_block(const simd *s, const ir_block *b, uint64_t frequency) {
    uint64_t sum = 0;
    foreach_inst (i, b) sum += price_of(s, i);
    return sum * frequency;
}

/* The price of an item, given those of an iteration of the scalar loop and of the vector loop. */
static uint64_t price_item(const simd *s, uint64_t scalar, uint64_t vector) {
    uint64_t items = simd_known_items(s), left = items % s->lanes;
    if (!items) return vector / s->lanes;
    ir_u128 all = (ir_u128)vector * (items / s->lanes);
    all += simd_has_rest(s) ? vector : (ir_u128)scalar * left;
    return (uint64_t)(all / items);
}

/* Branches that lanes take or not are gone. */
static uint64_t price_branches(const simd *s, const uint64_t *frequency) {
    uint64_t sum = 0;
    for (uint32_t k = 0; k < s->n; k++) {
        const simd_node *n = &s->node[k];
        if (n->nsucc == 2 && s->uniformity->divergent[n->block->id]) sum += MISS * frequency[k];
    }
    return sum;
}

/* An innermost loop often has few iterations, so it counts what is done once for all of them, and
 * those that are left. */
static void price_innermost(simd *s, const simd_frame *fr, uint64_t scalar, uint64_t vector) {
    const ir_block *once[] = {s->preheader->pred[0], s->preheader, fr->rest};
    uint64_t n = simd_known_items(s), left = n ? n % s->lanes : (s->lanes - 1) / 2;
    if (!n) n = LENGTH < s->lanes ? s->lanes : LENGTH;
    s->scalar_price = scalar * n;
    s->vector_price = vector * (n - left) / s->lanes;
    s->vector_price += fr->has_rest ? vector : scalar * left;
    for (unsigned k = 0; k < 3; k++) s->vector_price += price_block(s, once[k], UNIT);
}

bool simd_pays(simd *s, const simd_frame *fr) {
    const uint64_t *scalar = find_frequencies(s, false), *vector = find_frequencies(s, true);
    uint64_t before = 0, after = simd_price_far(s, vector);
    for (uint32_t k = 0; k < s->n; k++)
        if (s->node[k].kind == SIMD_BLOCK)
            before += price_block(s, s->node[k].block, scalar[k]) +
                      price_lines(s, s->node[k].block) * scalar[k];
    foreach_simd_block (b, s)
        if (b->mark != SIMD_NONE) after += price_block(s, b, vector[b->mark]) * repeats_of(s, b);
    s->scalar_price = before;
    if (s->scalar.is_innermost)
        price_innermost(s, fr, before + price_branches(s, scalar), after);
    else
        s->vector_price = price_item(s, before, after);
    return s->vector_price / 8 < s->scalar_price / 10;
}
