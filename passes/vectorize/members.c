/* members.c — loads and stores of a group of accesses (groups.c): whole vectors, and the shuffles
 * between them and the members (transpose.c).
 *
 * The items of an iteration are taken by blocks, whose vectors fill a register each.  Bytes before
 * the first and after the last that an item accesses are not touched, since memory may end there;
 * those between are read and not used.  Nothing is written that items do not write: where they skip
 * elements, or where not all lanes are active, vectors are stored under masks.
 *
 * Four bytes of an item, such as a pixel, are a word, which is one lane: shifts take bytes out
 * and put them in, and what is converted to or from larger numbers is not shuffled.
 */
#include "passes/vectorize/groups.h"
#include "passes/vectorize/transpose.h"

typedef struct {
    simd *s;
    const simd_group *g;
    const simd_node *node;
    ir_inst *address; /* of element 0 of the first item, if the others follow it */
    ir_inst *active; /* of each lane all bits or none, as integers of the element's size; or NULL */
    ir_type element;
    unsigned bytes; /* of an element */
    unsigned lanes; /* of a block */
    bool is_whole;  /* all elements of a block are one vector */
    bool has_masks;
} members;

/* The last element that an item accesses may be in front of its last. */
static unsigned count_accessed(const members *m) {
    unsigned last = 31u - (unsigned)__builtin_clz(m->g->wanted);
    return m->g->k * (m->s->lanes - 1) + last + 1;
}

static members members_of(simd *s, const simd_group *g, const simd_node *n) {
    const ir_target *t = s->cx->target;
    unsigned bytes = ir_bits(NULL, g->element) / 8, room = t ? t->vector_bytes : 16;
    members m = {.s = s, .g = g, .node = n, .element = g->element, .bytes = bytes};
    if (!g->is_apart) m.address = simd_step(s, simd_base(s, simd_address(g->at)), g->first);
    m.has_masks = t && t->has_masks;
    m.lanes = room && room / bytes < s->lanes ? room / bytes : s->lanes;
    m.is_whole = !(g->k & (g->k - 1)) && g->k * m.lanes * bytes <= room &&
                 (m.has_masks || count_accessed(&m) == g->k * s->lanes);
    ir_type bits = ir_scalar((ir_kind)(IR_I8 + __builtin_ctz(bytes)));
    if (n->mask) m.active = ir_build1(&s->b, IR_OP_sext, ir_vector(bits, s->lanes), n->mask);
    return m;
}

/* -------------------------------------------------------------------------------------- vectors */

/* n elements from number `first` on; of a mask, NULL: all. */
typedef struct {
    unsigned first, n;
    ir_inst *mask;
} run;

static bool is_wanted(const members *m, unsigned element) {
    return m->g->wanted >> element % m->g->k & 1 && element < count_accessed(m);
}

/* The elements that items have, as a constant; NULL: all. */
static ir_inst *find_wanted(const members *m, const run *r) {
    uint64_t lane[IR_MAX_LANES];
    bool all = true;
    for (unsigned e = 0; e < r->n; e++) {
        lane[e] = is_wanted(m, r->first + e);
        all &= lane[e] != 0;
    }
    return all ? NULL : ir_const_lanes(m->s->f, ir_vector(IR_I1, r->n), lane);
}

/* The elements that active items have; NULL: all. */
static ir_inst *find_mask(const members *m, const run *r) {
    ir_builder *b = &m->s->b;
    ir_inst *wanted = find_wanted(m, r);
    uint8_t from[IR_MAX_LANES];
    if (!m->active) return wanted;
    for (unsigned e = 0; e < r->n; e++) from[e] = (uint8_t)((r->first + e) / m->g->k);
    ir_inst *active = ir_build_shuffle(b, m->active, m->active, r->n, from);
    ir_inst *mask =
        ir_build2(b, IR_OP_ne, ir_vector(IR_I1, r->n), active, ir_const(m->s->f, active->type, 0));
    return wanted ? ir_build2(b, IR_OP_and, mask->type, mask, wanted) : mask;
}

static ir_inst *place_of(const members *m, const run *r, ir_imm *imm) {
    int64_t bytes = (int64_t)r->first * m->bytes;
    *imm = simd_imm(m->g->at, m->g->first + bytes);
    return simd_step(m->s, m->address, bytes);
}

static ir_inst *load_run(const members *m, const run *r) {
    ir_imm imm;
    ir_inst *p = place_of(m, r, &imm);
    ir_type t = ir_vector(m->element, r->n);
    if (!r->mask) return ir_build_raw(&m->s->b, IR_OP_load, t, ir_with_imm(imm), IR_ARGS(p));
    return ir_build_raw(&m->s->b, IR_OP_masked_load, t, ir_with_imm(imm),
                        IR_ARGS(p, r->mask, ir_const(m->s->f, t, 0)));
}

static void store_run(const members *m, const run *r, ir_inst *v) {
    ir_imm imm;
    ir_inst *p = place_of(m, r, &imm);
    ir_inst *args[] = {v, p, r->mask};
    ir_op op = r->mask ? IR_OP_masked_store : IR_OP_store;
    ir_build_raw(&m->s->b, op, IR_VOID, ir_with_imm(imm), (ir_args){r->mask ? 3 : 2, args});
}

/* ---------------------------------------------------------------------------------------- loads */

/* Elements, some of which are after the last that an item accesses: without masks, they are loaded
 * as the last elements before that, and move. */
static ir_inst *load_last(const members *m, run r) {
    unsigned over = r.first + r.n - count_accessed(m);
    uint8_t mask[IR_MAX_LANES];
    if (m->has_masks) {
        r.mask = find_wanted(m, &r);
        return load_run(m, &r);
    }
    for (unsigned e = 0; e < r.n; e++) mask[e] = (uint8_t)(e + over < r.n ? e + over : 255);
    r.first -= over;
    ir_inst *x = load_run(m, &r);
    return ir_build_shuffle(&m->s->b, x, x, r.n, mask);
}

static ir_inst *load_elements(const members *m, run r) {
    r.mask = m->active ? find_mask(m, &r) : NULL;
    return r.mask || r.first + r.n <= count_accessed(m) ? load_run(m, &r) : load_last(m, r);
}

/* The members of the block of items from `first` on. */
static void load_block(const members *m, unsigned first, ir_inst **out) {
    unsigned k = m->g->k;
    ir_inst *x[SIMD_MAX_MEMBERS];
    if (m->g->is_apart) {
        simd_load_tile(m->s, m->g, &(simd_tile){first, m->lanes, m->active}, m->node, out);
        return;
    }
    if (m->is_whole) {
        simd_split(&m->s->b, k, load_elements(m, (run){first * k, k * m->lanes, NULL}), out);
        return;
    }
    for (unsigned v = 0; v < k; v++)
        x[v] = load_elements(m, (run){first * k + v * m->lanes, m->lanes, NULL});
    simd_take_apart(&m->s->b, k, x, m->g->wanted, out);
}

/* The elements of an access, which are members from its offset on. */
static unsigned member_of(const simd_group *g, unsigned n, unsigned bytes) {
    int64_t at = g->offset[n] - g->offset[g->is_store ? g->n - 1 : 0];
    return (unsigned)((at - g->first) / bytes);
}

static ir_inst *as_type(simd *s, ir_inst *v, ir_type elem) {
    ir_type t = ir_with_elem(v->type, elem);
    return v->type == t ? v : ir_build1(&s->b, IR_OP_bitcast, t, v);
}

static void load_members(const members *m) {
    const simd_group *g = m->g;
    simd *s = m->s;
    ir_inst *block[IR_MAX_LANES][SIMD_MAX_MEMBERS], *all[IR_MAX_LANES];
    unsigned blocks = s->lanes / m->lanes;
    for (unsigned n = 0; n < blocks; n++) load_block(m, n * m->lanes, block[n]);
    for (unsigned n = 0; n < g->n; n++) {
        const ir_inst *i = g->access[n];
        for (unsigned c = 0; c < ir_lanes(i->type); c++) {
            unsigned at = member_of(g, n, m->bytes) + c;
            for (unsigned k = 0; k < blocks; k++) all[k] = block[k][at];
            ir_inst *v = simd_concatenate(&s->b, blocks, all);
            simd_set_part(s, i, c, as_type(s, v, ir_elem(i->type)));
        }
    }
}

/* --------------------------------------------------------------------------------------- stores */

/* Lanes of a block. */
static ir_inst *cut(const members *m, ir_inst *v, unsigned first) {
    uint8_t mask[IR_MAX_LANES];
    if (m->lanes == m->s->lanes || v->op == IR_OP_undef)
        return v->op == IR_OP_undef ? ir_undef(m->s->f, ir_vector(m->element, m->lanes)) : v;
    for (unsigned e = 0; e < m->lanes; e++) mask[e] = (uint8_t)(first + e);
    return ir_build_shuffle(&m->s->b, v, v, m->lanes, mask);
}

static void store_elements(const members *m, run r, ir_inst *v) {
    r.mask = find_mask(m, &r);
    store_run(m, &r, v);
}

static void store_block(const members *m, unsigned first, ir_inst *const *member) {
    unsigned k = m->g->k;
    ir_inst *x[SIMD_MAX_MEMBERS];
    for (unsigned n = 0; n < k; n++) x[n] = cut(m, member[n], first);
    if (m->is_whole) {
        store_elements(m, (run){first * k, k * m->lanes, NULL}, simd_join(&m->s->b, k, x));
        return;
    }
    simd_put_together(&m->s->b, k, x, x);
    for (unsigned v = 0; v < k; v++)
        store_elements(m, (run){first * k + v * m->lanes, m->lanes, NULL}, x[v]);
}

static void store_members(const members *m) {
    const simd_group *g = m->g;
    simd *s = m->s;
    ir_inst *member[SIMD_MAX_MEMBERS];
    for (unsigned k = 0; k < g->k; k++) member[k] = ir_undef(s->f, ir_vector(m->element, s->lanes));
    for (unsigned n = 0; n < g->n; n++) {
        ir_inst *v = ir_arg(g->access[n], 0);
        for (unsigned c = 0; c < ir_lanes(v->type); c++)
            member[member_of(g, n, m->bytes) + c] =
                as_type(s, simd_part(s, v, c, g->at->block), m->element);
    }
    for (unsigned first = 0; first < s->lanes; first += m->lanes) store_block(m, first, member);
}

/* ---------------------------------------------------------------------------------------- words */

/* Are the elements of an item the bytes of one word, of which the last one is accessed, and all if
 * they are written? */
static bool is_word(const members *m) {
    const simd_group *g = m->g;
    if (!m->has_masks || g->is_apart || ir_kind_of(g->element) != IR_I8 || g->k != 4) return false;
    return g->is_store ? g->wanted == 15 : g->wanted >> 3;
}

static ir_inst *bits_before(const members *m, ir_type t, unsigned member) {
    return ir_const(m->s->f, t, UINT64_C(8) * member);
}

static void load_words(const members *m) {
    simd *s = m->s;
    ir_type t = ir_vector(IR_I32, s->lanes);
    const ir_attrs how = ir_with_imm(simd_imm(m->g->at, m->g->first));
    ir_inst *mask = m->node->mask;
    ir_inst *word = mask ? ir_build_raw(&s->b, IR_OP_masked_load, t, how,
                                        IR_ARGS(m->address, mask, ir_const(s->f, t, 0)))
                         : ir_build_raw(&s->b, IR_OP_load, t, how, IR_ARGS(m->address));
    for (unsigned n = 0; n < m->g->n; n++) {
        const ir_inst *i = m->g->access[n];
        for (unsigned c = 0; c < ir_lanes(i->type); c++) {
            ir_inst *by = bits_before(m, t, member_of(m->g, n, 1) + c);
            ir_inst *v = ir_build2(&s->b, IR_OP_lshr, t, word, by);
            simd_set_part(s, i, c, ir_build1(&s->b, IR_OP_trunc, ir_with_elem(t, IR_I8), v));
        }
    }
}

static void store_words(const members *m) {
    simd *s = m->s;
    ir_type t = ir_vector(IR_I32, s->lanes);
    const ir_attrs how = ir_with_imm(simd_imm(m->g->at, m->g->first));
    ir_inst *word = ir_const(s->f, t, 0), *mask = m->node->mask;
    for (unsigned n = 0; n < m->g->n; n++) {
        const ir_inst *v = ir_arg(m->g->access[n], 0);
        for (unsigned c = 0; c < ir_lanes(v->type); c++) {
            ir_inst *by = bits_before(m, t, member_of(m->g, n, 1) + c);
            ir_inst *byte = simd_part(s, ir_arg(m->g->access[n], 0), c, m->g->at->block);
            byte = ir_build1(&s->b, IR_OP_zext, t, byte);
            byte = ir_build2(&s->b, IR_OP_shl, t, byte, by);
            word = ir_build2(&s->b, IR_OP_or, t, word, byte);
        }
    }
    if (mask)
        ir_build_raw(&s->b, IR_OP_masked_store, IR_VOID, how, IR_ARGS(word, m->address, mask));
    else
        ir_build_raw(&s->b, IR_OP_store, IR_VOID, how, IR_ARGS(word, m->address));
}

void simd_access_members(simd *s, const ir_inst *i, const simd_node *n) {
    simd_group *g = s->value[i->id].group;
    if (g->is_store ? i != g->at : g->is_done) return;
    g->is_done = true;
    const members m = members_of(s, g, n);
    if (is_word(&m) && g->is_store)
        store_words(&m);
    else if (is_word(&m))
        load_words(&m);
    else if (g->is_store)
        store_members(&m);
    else
        load_members(&m);
}
