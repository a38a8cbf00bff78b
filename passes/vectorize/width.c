/* width.c — how many work-items an iteration runs.
 *
 * The number of lanes begins at those of a register, for the elements that most operations of the
 * innermost loops have.  It is doubled while the body is small and the values that are live at once
 * fit into registers: several registers of independent items hide the latencies of each other.
 * A body of medium size is doubled if its operations are a chain, each waiting for the one before.
 * Where the rounds of an inner loop step over the elements of other items, small and medium bodies
 * have four registers: the more elements of each line and page are used while they are near.
 * Members of structures are shuffled, and elements of small arrays selected, register by register,
 * so accesses to them make a body larger; members are several registers for each value already, and
 * their shuffles do not wait for each other, so such a body is not doubled if it becomes too large.
 * Nor is one with strips (strips.c), whose tiles are as many shuffles.
 *
 * Live ranges are intervals in the order of the nodes, which is topological: a value lives from its
 * definition to its last use, and to the latch of a loop that it is used in but not defined in.
 */
#include "passes/vectorize/groups.h"

enum {
    BITS_WEIGHED = 65,
    FUNCTION = 40,   /* operations of a library function, about */
    FEW = 40,        /* operations of a body that may have four registers for each value */
    SOME = 160,      /* two registers */
    MANY = 320,      /* two registers, if operations wait for each other */
    MOST_LARGER = 3, /* times the operations of the scalar loop, where members are shuffled */
    SPARE = 4,       /* registers for constants and masks of vectors */
    SHORT = 256,     /* bits of a vector for loops of unknown length */
    REGISTER = 4     /* what a register of each value costs, by what an iteration costs */
};

/* ------------------------------------------------------------------------------------- elements */

static bool is_vector_value(const simd *s, const ir_inst *i) {
    ir_type t = i->op == IR_OP_store ? ir_arg(i, 0)->type : i->type;
    if (t == IR_VOID || ir_is_ptr(t) || ir_is_bool(t)) return false;
    if (simd_is_update(i) && !i->uses) return false;
    return simd_shape_of(s, i) == SIMD_VARYING && !simd_is_apart(s, i);
}

/* What bodies consist of. */
typedef struct {
    unsigned bits;  /* of the most frequent elements */
    unsigned plain; /* operations of the scalar loop */
    unsigned size;  /* and of what lanes need besides */
    bool shuffles;  /* are members of structures among them? */
} contents;

static contents find_contents(const simd *s) {
    uint64_t weight[BITS_WEIGHED] = {0};
    contents c = {.bits = 32};
    for (uint32_t k = 0; k < s->n; k++) {
        if (s->node[k].kind != SIMD_BLOCK) continue;
        unsigned depth = s->node[k].loop->depth - s->scalar.loop->depth;
        if (simd_is_last(s, s->node[k].loop)) depth--;
        foreach_inst (i, s->node[k].block) {
            unsigned shuffles = simd_shuffles_of(s, i),
                     own = ir_has_flag(i, F_NOFOLD) ? FUNCTION : 1;
            c.plain += own;
            c.size += own + shuffles + simd_selections_of(s, i);
            c.shuffles |= shuffles != 0;
            ir_type t = i->op == IR_OP_store ? ir_arg(i, 0)->type : i->type;
            if (is_vector_value(s, i))
                weight[ir_bits(NULL, t)] += UINT64_C(1) << (depth < 8 ? 3 * depth : 24);
        }
    }
    for (unsigned bits = 8; bits <= 64; bits *= 2)
        if (weight[bits] > weight[c.bits]) c.bits = bits;
    return c;
}

/* ------------------------------------------------------------------------------------- pressure */

/* Bits of all live values, of one item, after each place; places are numbered in the order of
 * nodes, instruction by instruction. */
typedef struct {
    const simd *s;
    uint32_t *first; /* by node: its first place */
    int64_t *change; /* by place */
    uint32_t *place; /* by value id */
} pressure;

static void number_places(pressure *p) {
    const simd *s = p->s;
    uint32_t at = 0;
    for (uint32_t k = 0; k < s->n; k++) {
        p->first[k] = at++;
        if (s->node[k].kind != SIMD_BLOCK) continue;
        foreach_inst (i, s->node[k].block) p->place[i->id] = at++;
    }
    p->first[s->n] = at;
}

/* The place until which v lives if it is used at the end of, or in, block b. */
static uint32_t end_of_use(const pressure *p, const ir_inst *v, const ir_inst *user, unsigned arg) {
    const simd *s = p->s;
    const ir_block *b = user->op == IR_OP_phi ? user->block->pred[arg] : user->block;
    uint32_t end = user->op == IR_OP_phi ? p->first[s->node_of[b->id] + 1u] : p->place[user->id];
    const ir_loops *loops = s->uniformity->loops;
    for (const ir_loop *l = loops->of[b->id]; l != s->scalar.loop; l = l->parent)
        if (!ir_in_loop(loops, v->block, l)) end = p->first[s->latch_of[l->header->id]];
    return end;
}

static void add_range(pressure *p, ir_inst *v) {
    uint32_t start = p->place[v->id], end = start;
    foreach_use (u, v) {
        if (!simd_is_inside(p->s, u->user)) continue;
        uint32_t use = end_of_use(p, v, u->user, (unsigned)(u - u->user->arg));
        if (use > end) end = use;
    }
    int64_t bits = (int64_t)ir_bits(NULL, v->type) * ir_lanes(v->type);
    p->change[start] += bits;
    p->change[end] -= bits;
}

/* The bits of an item that are live at once, at most. */
static uint64_t find_pressure(const simd *s) {
    pressure p = {.s = s, .first = ir_new_array(s->scratch, uint32_t, s->n + 1)};
    p.place = s->code->number;
    number_places(&p);
    p.change = ir_new_array(s->scratch, int64_t, p.first[s->n] + 1);
    for (uint32_t k = 0; k < s->n; k++)
        if (s->node[k].kind == SIMD_BLOCK)
            foreach_inst (i, s->node[k].block)
                if (i->type != IR_VOID && is_vector_value(s, i)) add_range(&p, i);
    int64_t now = 0, most = 0;
    for (uint32_t at = 0; at <= p.first[s->n]; at++) {
        now += p.change[at];
        if (now > most) most = now;
    }
    return (uint64_t)most;
}

/* ---------------------------------------------------------------------------------------- waits */

/* The cycles after which i has its value, if the operations of the loop wait for nothing else. */
static uint32_t find_depth(const simd *s, const uint32_t *depth, const ir_inst *i) {
    uint32_t most = 0;
    for (unsigned n = 0; n < i->nargs; n++) {
        const ir_inst *v = ir_arg(i, n);
        if (simd_is_inside(s, v) && depth[v->id] > most) most = depth[v->id];
    }
    return i->op == IR_OP_phi ? most : most + pass_cost_of(i).cycles;
}

/* Would a core wait for results for longer than it works, with one register for each value? */
static bool is_chain(const simd *s) {
    uint32_t *depth = s->code->number, longest = 0;
    uint64_t busy = 0; /* quarters of a cycle */
    simd_clear_numbers(s);
    for (uint32_t k = 0; k < s->n; k++) {
        if (s->node[k].kind != SIMD_BLOCK) continue;
        foreach_inst (i, s->node[k].block) {
            depth[i->id] = find_depth(s, depth, i);
            if (depth[i->id] > longest) longest = depth[i->id];
            busy += pass_quarters_of(i);
        }
    }
    return UINT64_C(4) * longest > busy;
}

/* ---------------------------------------------------------------------------------------- width */

static unsigned vector_bits(const simd *s) {
    return (s->cx->target ? s->cx->target->vector_bytes : 16) * 8;
}

static bool fits(const simd *s, uint64_t live_bits, unsigned lanes) {
    unsigned registers = s->cx->target ? s->cx->target->vector_registers : 16;
    return live_bits * lanes <= (uint64_t)(registers - SPARE) * vector_bits(s);
}

/* Innermost loops are often short, and then all that does not fill a vector is done by the scalar
 * loop. */
static unsigned choose_innermost_lanes(const simd *s, const contents *c) {
    unsigned bits = vector_bits(s);
    if (!simd_known_items(s) && bits > SHORT) bits = SHORT;
    return bits / c->bits;
}

static unsigned choose_lanes(const simd *s, const contents *c) {
    unsigned lanes = vector_bits(s) / c->bits, times = c->size < SOME ? 2 : 1;
    if (c->size < FEW && !c->shuffles) times = 4;
    if (s->scalar.is_innermost) return choose_innermost_lanes(s, c);
    if (s->strips->n)
        times = 1;
    else if (times == 1 && c->size < MANY && is_chain(s))
        times = 2;
    if (times == 2 && simd_steps_over(s)) times = 4;
    if (c->shuffles && 2 * c->size > MOST_LARGER * c->plain) times = 1;
    uint64_t live_bits = find_pressure(s) + 8 * simd_small_arrays(s);
    unsigned most = simd_lanes_in_cache(s, lanes);
    if (most < lanes) lanes = most;
    for (; times > 1 && fits(s, live_bits, 2 * lanes) && 2 * lanes <= most; times /= 2) lanes *= 2;
    return lanes < IR_MAX_LANES ? lanes : IR_MAX_LANES;
}

uint64_t simd_known_items(const simd *s) {
    const ir_inst *start = ir_arg(s->scalar.counter, s->scalar.entry), *end = s->scalar.end;
    if (!ir_is_const(start) || !ir_is_const(end)) return 0;
    bool is_signed = s->scalar.test == IR_OP_slt;
    bool any =
        is_signed ? ir_signed_const(start) < ir_signed_const(end) : start->imm.bits < end->imm.bits;
    return any ? ir_zext(end->imm.bits - start->imm.bits, ir_bits(NULL, end->type)) : 0;
}

/* How many registers the vectors of all items take.  What lies beyond the last item of an iteration
 * under a mask is not computed. */
static uint64_t count_registers(const simd *s, uint64_t items, unsigned lanes, unsigned bits) {
    uint64_t full = vector_bits(s) / bits, rest = items % lanes;
    return items / lanes * ((lanes + full - 1) / full) + (rest + full - 1) / full;
}

/* For a known number of items: the number of lanes with which they take the fewest registers and
 * iterations, and the fewest lanes remain unused, if the last iteration has a mask; otherwise the
 * largest one that is not above it. */
static unsigned fit_lanes(const simd *s, const contents *c, unsigned lanes, uint64_t items) {
    unsigned best = lanes;
    uint64_t few = UINT64_MAX;
    while (!simd_may_have_rest(s) && items < lanes) best = lanes /= 2;
    for (unsigned n = lanes; n > 1 && simd_may_have_rest(s); n /= 2) {
        uint64_t iterations = (items + n - 1) / n;
        uint64_t cost = count_registers(s, items, n, c->bits) * REGISTER + iterations;
        if (cost < few || (cost == few && iterations == 1)) best = n, few = cost;
        if (n <= vector_bits(s) / 64) break;
    }
    return best;
}

/* Are these the items of a whole sub-group?  Then what they exchange is one vector. */
static bool is_subgroup(const simd *s, uint64_t items) {
    bool lanes = s->scalar.loop->header->loop_hint & IR_LOOP_LANES;
    return lanes && items > 1 && items <= IR_MAX_LANES && !(items & (items - 1));
}

bool simd_find_width(simd *s) {
    uint64_t items = simd_known_items(s);
    bool is_pair = items && items <= 2 && simd_may_have_rest(s); /* which never pays */
    if (is_pair && !s->cx->lanes) return simd_refuse(s, NULL, "it has too few iterations");
    const contents c = find_contents(s);
    s->lanes = s->cx->lanes ? s->cx->lanes : choose_lanes(s, &c);
    if (items && !s->cx->lanes) s->lanes = fit_lanes(s, &c, s->lanes, items);
    if (is_subgroup(s, items) && !s->cx->lanes) s->lanes = (unsigned)items;
    while (!items && !s->cx->lanes && simd_most_items(s) < s->lanes) s->lanes /= 2;
    if (items && items < s->lanes && !simd_may_have_rest(s)) s->lanes = 1;
    return s->lanes > 1 || simd_refuse(s, NULL, "it has too few iterations");
}
