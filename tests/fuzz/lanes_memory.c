/* lanes_memory.c — accesses of random kernels.
 *
 * Items write elements of their own, which lie side by side, in records, or from the end; and
 * numbers that all change atomically, or set to the same.  They read everything that none writes,
 * at places that are their own, or that values say.  A place that a value says is brought into the
 * buffer, or tested: then the address of an item that does not access may lead anywhere.
 */
#include "tests/fuzz/lanes_impl.h"

static const ir_type elements[] = {IR_I32,           IR_F32,           IR_I8,
                                   IR_I16,           IR_I64,           IR_F64,
                                   IR_F32 | 2u << 5, IR_F32 | 4u << 5, IR_I32 | 3u << 5,
                                   IR_I8 | 4u << 5,  IR_I16 | 8u << 5, IR_I8 | 16u << 5,
                                   IR_F16,           IR_I32 | 2u << 5, IR_F64 | 2u << 5,
                                   IR_I8 | 2u << 5};

static uint64_t items_of(const lanes_kernel *k) {
    return k->range.global[0] * k->range.global[1] * k->range.global[2];
}

static uint64_t size_of(const lanes *g, ir_type t) { return ir_sizeof(g->f->module, t); }

static uint64_t stride_of(const lanes *g, const lanes_buffer *b) {
    return b->per * size_of(g, b->elem) + b->gap;
}

/* -------------------------------------------------------------------------------------- buffers */

static void make_own(lanes *g, lanes_buffer *b) {
    b->per = 1 + (lanes_byte(g) % 8 > 4 ? lanes_below(g, 4) : 0);
    if (lanes_byte(g) % 8 > 5)
        b->gap = (1 + lanes_below(g, 3)) * (unsigned)ir_alignof(g->f->module, b->elem);
    b->reversed = lanes_byte(g) % 4 == 3;
    b->count = items_of(g->k);
    b->bytes = b->count * stride_of(g, b);
}

static void make_buffer(lanes *g, lanes_buffer *b, lanes_role role) {
    unsigned draw = lanes_byte(g);
    *b = (lanes_buffer){.role = role, .elem = elements[draw % 16], .per = 1};
    b->at_end = lanes_byte(g) % 4 != 3;
    if (role == LANES_OWN) {
        make_own(g, b);
        return;
    }
    if (role != LANES_INPUT) b->elem = IR_I32;
    b->count = lanes_byte(g) & 1 ? items_of(g->k) : UINT64_C(1) << lanes_below(g, 8);
    if (role == LANES_COUNT) b->count = LANES_COUNTS;
    if (role == LANES_PLACE) b->count = 1;
    b->bytes = b->count * size_of(g, b->elem);
}

void lanes_make_buffers(lanes *g) {
    static const lanes_role roles[] = {LANES_INPUT, LANES_OWN, LANES_INPUT, LANES_COUNT,
                                       LANES_SAME,  LANES_OWN, LANES_PLACE, LANES_INPUT};
    lanes_kernel *k = g->k;
    k->nbuffers = 2 + lanes_below(g, LANES_BUFFERS - 1);
    for (unsigned n = 0; n < k->nbuffers; n++)
        make_buffer(g, &k->buffer[n], n ? roles[lanes_below(g, 8)] : LANES_OWN);
    /* The result, and 32-bit pieces of it, which a pointer leads to. */
    k->buffer[0].elem = IR_I64;
    k->buffer[0].gap = 0;
    make_own(g, &k->buffer[0]);
}

/* Some buffer of that role; g->k->nbuffers: there is none. */
static unsigned find_buffer(lanes *g, lanes_role role) {
    unsigned n = g->k->nbuffers, at = lanes_below(g, n);
    for (unsigned k = 0; k < n; k++, at = (at + 1) % n)
        if (g->k->buffer[at].role == role) return at;
    return n;
}

/* ------------------------------------------------------------------------------------ positions */

static ir_inst *no_wrap(lanes *g, ir_op op, ir_inst *x, ir_inst *y) {
    return ir_build(&g->b, op, x->type, ir_with_flags(IR_NSW | IR_NUW), IR_ARGS(x, y));
}

/* From ids, without an offset of the range. */
static ir_inst *row_by_row(lanes *g, ir_type t) {
    ir_inst *p = ir_build_query(&g->b, IR_OP_global_id, t, 2);
    bool flags = lanes_byte(g) & 1;
    for (unsigned d = 2; d-- > 0;) {
        ir_inst *size = ir_build_query(&g->b, IR_OP_global_size, t, d);
        ir_inst *id = ir_build_query(&g->b, IR_OP_global_id, t, d);
        p = flags ? no_wrap(g, IR_OP_mul, p, size) : lanes_op(g, IR_OP_mul, p, size);
        p = flags ? no_wrap(g, IR_OP_add, p, id) : lanes_op(g, IR_OP_add, p, id);
    }
    return p;
}

static ir_inst *by_group(lanes *g) {
    ir_inst *size = ir_build_query(&g->b, IR_OP_enqueued_local_size, IR_I64, 0);
    ir_inst *group = ir_build_query(&g->b, IR_OP_group_id, IR_I64, 0);
    ir_inst *id = ir_build_query(&g->b, IR_OP_local_id, IR_I64, 0);
    return lanes_op(g, IR_OP_add, lanes_op(g, IR_OP_mul, group, size), id);
}

/* The number of the item, as an i64, computed in one of many ways. */
static ir_inst *own_position(lanes *g) {
    const ir_range *r = &g->k->range;
    unsigned how = lanes_below(g, 8);
    bool plain = !r->offset[0] && !r->offset[1] && !r->offset[2];
    bool line = r->global[1] * r->global[2] == 1;
    if (how == 0) return ir_build_query(&g->b, IR_OP_global_linear_id, IR_I64, 0);
    if (how == 1 && line && !g->calm) return by_group(g);
    if (how == 2 && line && plain) return ir_build_query(&g->b, IR_OP_global_id, IR_I64, 0);
    if (how == 3 && plain) return row_by_row(g, IR_I64);
    if (how > 3 && how < 6 && plain)
        return ir_build1(&g->b, how & 1 ? IR_OP_sext : IR_OP_zext, IR_I64, row_by_row(g, IR_I32));
    return g->position;
}

static ir_inst *from_end(lanes *g, ir_inst *p) {
    return lanes_op(g, IR_OP_sub, lanes_number(g, IR_I64, items_of(g->k) - 1), p);
}

static ir_inst *step(lanes *g, ir_inst *base, ir_inst *index, uint64_t size) {
    ir_inst *by = lanes_op(g, IR_OP_mul, index, lanes_number(g, IR_I64, size));
    return ir_build_ptradd(&g->b, base, by, true);
}

/* The address of element k of those of the item. */
static ir_inst *own_place(lanes *g, unsigned buffer, ir_inst *k) {
    const lanes_buffer *b = &g->k->buffer[buffer];
    ir_inst *p = own_position(g);
    if (b->reversed) p = from_end(g, p);
    ir_inst *first = step(g, g->param[buffer], p, stride_of(g, b));
    return step(g, first, k, size_of(g, b->elem));
}

static ir_inst *any_own_element(lanes *g, const lanes_buffer *b) {
    bool by_value = (b->per & (b->per - 1)) == 0 && lanes_byte(g) % 4 == 3;
    if (!by_value) return lanes_number(g, IR_I64, lanes_below(g, b->per));
    ir_inst *x = lanes_some(g, IR_I32);
    x = lanes_op(g, IR_OP_and, x, lanes_number(g, IR_I32, b->per - 1));
    return ir_build1(&g->b, IR_OP_zext, IR_I64, x);
}

/* -------------------------------------------------------------------------------- read anywhere */

/* An index that is split at, or exchanged over, a distance that the launch gives. */
static ir_inst *by_bits(lanes *g, ir_inst *p) {
    unsigned how = lanes_byte(g);
    ir_inst *by = lanes_op(g, IR_OP_and, g->u, lanes_number(g, IR_I32, 255));
    if (how & 1)
        by = ir_build1(&g->b, IR_OP_zext, IR_I64, by);
    else
        p = ir_build1(&g->b, IR_OP_trunc, IR_I32, p);
    ir_inst *less = lanes_op(g, IR_OP_sub, by, lanes_number(g, by->type, 1));
    switch (how / 2 % 4) {
    case 0: p = lanes_op(g, IR_OP_and, p, less); break;
    case 1: p = lanes_op(g, IR_OP_xor, p, by); break;
    case 2: p = lanes_op(g, IR_OP_or, p, by); break;
    default: {
        ir_inst *low = lanes_op(g, IR_OP_and, p, less);
        p = lanes_op(g, IR_OP_sub, lanes_op(g, IR_OP_add, p, p), low);
    }
    }
    if (how & 8) p = lanes_op(g, IR_OP_add, p, by);
    return how & 1 ? p : ir_build1(&g->b, IR_OP_zext, IR_I64, p);
}

/* A number that may be outside of the buffer. */
static ir_inst *wild_index(lanes *g) {
    ir_inst *p = own_position(g), *v = lanes_some(g, IR_I32);
    unsigned how = lanes_below(g, 12), by = lanes_below(g, 7);
    if (how >= 9) return by_bits(g, p);
    switch (how) {
    case 0: return lanes_op(g, IR_OP_add, p, lanes_number(g, IR_I64, by));
    case 1: return lanes_op(g, IR_OP_sub, p, lanes_number(g, IR_I64, by));
    case 2: return lanes_op(g, IR_OP_mul, p, lanes_number(g, IR_I64, by));
    case 3: return lanes_op(g, IR_OP_xor, p, lanes_number(g, IR_I64, by));
    case 4: return from_end(g, p);
    case 5: return ir_build1(&g->b, IR_OP_sext, IR_I64, v);
    case 6: return lanes_op(g, IR_OP_add, p, ir_build1(&g->b, IR_OP_sext, IR_I64, v));
    default: break;
    }
    ir_inst *common = g->loops ? g->counter[lanes_below(g, g->loops)] : g->u;
    common = lanes_op(g, IR_OP_and, common, lanes_number(g, IR_I32, 15));
    common = ir_build1(&g->b, IR_OP_zext, IR_I64, common);
    return by & 1 ? common : lanes_op(g, IR_OP_add, common, p);
}

static ir_inst *bring_into(lanes *g, ir_inst *index, uint64_t count) {
    ir_inst *zero = lanes_number(g, IR_I64, 0), *last = lanes_number(g, IR_I64, count - 1);
    unsigned how = lanes_below(g, 4);
    if (how == 3) return lanes_op(g, IR_OP_urem, index, lanes_number(g, IR_I64, count));
    if (how == 2 && !(count & (count - 1))) return lanes_op(g, IR_OP_and, index, last);
    if (how == 1) return lanes_op(g, IR_OP_umin, index, last);
    return lanes_op(g, IR_OP_smin, lanes_op(g, IR_OP_smax, index, zero), last);
}

/* Loads of elements, sometimes of what is not aligned, which begins and ends in the buffer. */
static ir_inst *load_at(lanes *g, unsigned buffer, ir_inst *index) {
    const lanes_buffer *b = &g->k->buffer[buffer];
    uint64_t size = size_of(g, b->elem);
    ir_inst *p = step(g, g->param[buffer], index, size);
    unsigned draw = lanes_byte(g), flags = draw % 64 == 63 && !g->calm ? IR_MEM_VOLATILE : 0;
    unsigned align = draw % 8 == 1 ? 1 : (unsigned)ir_alignof(g->f->module, b->elem);
    ir_type t = draw % 8 == 2 && size == 4 ? IR_I32 : b->elem;
    return ir_build_load(&g->b, t, p, align, flags);
}

static void keep_loaded(lanes *g, ir_inst *v) {
    for (unsigned k = 0; k < g->nvariables; k++)
        if (g->variable[k]->imm.var->type == v->type) {
            lanes_put(g, v);
            return;
        }
    ir_type t = lanes_any_type(g);
    lanes_put(g, lanes_as(g, v, ir_elem(t)));
}

ir_inst *lanes_input_place(lanes *g, uint64_t bytes) {
    unsigned buffer = find_buffer(g, LANES_INPUT);
    if (buffer == g->k->nbuffers) return NULL;
    const lanes_buffer *b = &g->k->buffer[buffer];
    uint64_t size = size_of(g, b->elem), n = (bytes + size - 1) / size;
    if (b->count < n) return NULL;
    ir_inst *index = bring_into(g, wild_index(g), b->count - n + 1);
    return step(g, g->param[buffer], index, size);
}

static void read_input(lanes *g, unsigned buffer) {
    const lanes_buffer *b = &g->k->buffer[buffer];
    bool covers = b->count >= items_of(g->k);
    unsigned how = lanes_below(g, 4);
    if (how == 0 && covers) {
        ir_inst *p = own_position(g);
        if (lanes_byte(g) % 4 == 3) p = from_end(g, p);
        keep_loaded(g, load_at(g, buffer, p));
        return;
    }
    ir_inst *index = wild_index(g);
    if (how < 3) {
        keep_loaded(g, load_at(g, buffer, bring_into(g, index, b->count)));
        return;
    }
    ir_block *yes = lanes_block(g), *next = lanes_block(g);
    ir_inst *count = lanes_number(g, IR_I64, b->count);
    ir_build_br(&g->b, ir_build2(&g->b, IR_OP_ult, IR_I1, index, count), yes, next);
    ir_at_end(&g->b, yes);
    keep_loaded(g, load_at(g, buffer, index));
    ir_build_jmp(&g->b, next);
    ir_at_end(&g->b, next);
}

/* A round of a loop along a row: element k from `first` on, and sometimes k itself. */
static ir_inst *row_round(lanes *g, const lanes_buffer *b, ir_inst *first, ir_inst *k,
                          ir_inst *sum) {
    unsigned draw = lanes_byte(g), buffer = (unsigned)(b - g->k->buffer);
    ir_type t = ir_elem(b->elem), wide = draw & 1 ? IR_I64 : IR_I32;
    ir_inst *round = k;
    if (wide == IR_I64) k = ir_build1(&g->b, IR_OP_zext, IR_I64, k);
    if (wide == IR_I32) first = ir_build1(&g->b, IR_OP_trunc, IR_I32, first);
    ir_inst *at = draw & 2 ? no_wrap(g, IR_OP_add, first, k) : lanes_op(g, IR_OP_add, k, first);
    if (wide == IR_I32) at = ir_build1(&g->b, draw & 4 ? IR_OP_sext : IR_OP_zext, IR_I64, at);
    ir_inst *p = step(g, g->param[buffer], at, size_of(g, t));
    ir_inst *v = ir_build_load(&g->b, t, p, (unsigned)size_of(g, t), 0);
    v = lanes_as(g, v, sum->type);
    bool is_float = ir_is_float(sum->type);
    if (draw & 16)
        v = lanes_op(g, is_float ? IR_OP_fadd : IR_OP_xor, v, lanes_as(g, round, sum->type));
    sum = lanes_op(g, is_float ? IR_OP_fadd : IR_OP_mul, sum,
                   is_float ? v : lanes_number(g, sum->type, 37));
    return is_float ? sum : lanes_op(g, draw & 8 ? IR_OP_xor : IR_OP_add, sum, v);
}

/* for (k = 0; k < rounds; k++) over elements that follow each other, of an input; rounds are the
 * same for all items. */
void lanes_row(lanes *g) {
    static const ir_type sums[] = {IR_I32, IR_F32, IR_I64, IR_F32};
    unsigned buffer = find_buffer(g, LANES_INPUT), draw = lanes_byte(g);
    if (buffer == g->k->nbuffers) return;
    const lanes_buffer *b = &g->k->buffer[buffer];
    uint64_t count = b->count * ir_lanes(b->elem), most = count < 70 ? count : 70;
    if (draw % 8 < 3 && most > 20) most = 20;
    ir_inst *rounds = lanes_number(g, IR_I32, most - draw % most);
    if (draw & 64) rounds = lanes_op(g, IR_OP_urem, g->u, lanes_number(g, IR_I32, most + 1));
    ir_inst *first = bring_into(g, wild_index(g), count - most + 1);
    ir_block *body = lanes_block(g), *next = lanes_block(g);
    ir_type t = sums[draw / 8 % 4];
    ir_inst *zero = ir_const(g->f, t, 0), *none = lanes_number(g, IR_I32, 0);
    ir_build_br(&g->b, ir_build2(&g->b, IR_OP_ult, IR_I1, none, rounds), body, next);
    ir_inst *k = ir_append_arg(ir_build_phi(body, IR_I32), none);
    ir_inst *sum = ir_append_arg(ir_build_phi(body, t), zero);
    ir_at_end(&g->b, body);
    ir_inst *after = row_round(g, b, first, k, sum);
    ir_inst *up = lanes_op(g, IR_OP_add, k, lanes_number(g, IR_I32, 1));
    ir_append_arg(k, up);
    ir_append_arg(sum, after);
    ir_build_br(&g->b, ir_build2(&g->b, IR_OP_ult, IR_I1, up, rounds), body, next);
    ir_inst *all = ir_append_arg(ir_build_phi(next, t), zero);
    all = ir_append_arg(all, after);
    ir_at_end(&g->b, next);
    lanes_put(g, all);
}

/* ------------------------------------------------------------------------------------ its own */

static void store(lanes *g, ir_inst *v, ir_inst *p, unsigned align) {
    ir_build_store(&g->b, defined_nan(&g->b, v), p, align, 0);
}

void lanes_own_store(lanes *g, ir_inst *v, unsigned buffer, unsigned element) {
    ir_inst *p = own_place(g, buffer, lanes_number(g, IR_I64, element));
    store(g, v, p, (unsigned)ir_alignof(g->f->module, v->type));
}

static ir_inst *value_for(lanes *g, ir_type t) {
    for (unsigned k = 0; k < g->nvariables; k++)
        if (g->variable[k]->imm.var->type == t) return lanes_some(g, t);
    ir_inst *v = lanes_as(g, lanes_some(g, lanes_any_type(g)), ir_elem(t));
    return ir_is_vector(t) ? ir_build_splat(&g->b, v, ir_lanes(t)) : v;
}

static void access_own(lanes *g, unsigned buffer) {
    const lanes_buffer *b = &g->k->buffer[buffer];
    unsigned align = (unsigned)ir_alignof(g->f->module, b->elem), draw = lanes_byte(g);
    if (draw % 8 == 1) align = 1;
    ir_inst *p = own_place(g, buffer, any_own_element(g, b));
    if (draw / 8 % 3 == 2)
        keep_loaded(g, ir_build_load(&g->b, b->elem, p, align, 0));
    else
        store(g, value_for(g, b->elem), p, align);
}

static ir_type part_type(lanes *g, const lanes_buffer *b) {
    static const ir_type types[] = {IR_I8,  IR_I16, IR_F16, IR_I32,
                                    IR_F32, IR_I64, IR_F64, IR_I16 | 2u << 5};
    return ir_is_float(ir_elem(b->elem)) ? ir_elem(b->elem) : types[lanes_below(g, 8)];
}

/* Neighbours, which are parts of the item's elements, one by one and in several orders; what comes
 * in between may access them, too. */
static void access_parts(lanes *g, unsigned buffer) {
    enum { MOST_PARTS = 16 };
    const lanes_buffer *b = &g->k->buffer[buffer];
    ir_type t = part_type(g, b);
    uint64_t size = size_of(g, t), n = b->per * size_of(g, b->elem) / size;
    unsigned order = lanes_byte(g), loads = lanes_byte(g),
             align = (unsigned)ir_alignof(g->f->module, t);
    unsigned least = (unsigned)ir_alignof(g->f->module, b->elem);
    ir_inst *first = own_place(g, buffer, lanes_number(g, IR_I64, 0));
    if (loads % 4 == 0) loads = 0; /* stores only */
    for (unsigned k = 0; k < MOST_PARTS; k++) {
        unsigned at = k ^ order % 4;
        bool mixed = order & 8 && k & 1 && (t == IR_F32 || t == IR_F64);
        ir_type of = !mixed ? t : t == IR_F32 ? IR_I32 : IR_I64;
        if (at >= n) continue;
        ir_inst *p = step(g, first, lanes_number(g, IR_I64, at), size);
        if (loads >> k % 8 & 1 && !(ir_is_float(ir_elem(of)) && of != ir_elem(b->elem)))
            keep_loaded(g, ir_build_load(&g->b, of, p, align < least ? align : least, 0));
        else
            store(g, value_for(g, of), p, align < least ? align : least);
        if (order & 16 && lanes_byte(g) % 8 == 7) access_own(g, buffer);
    }
}

/* A 32-bit piece of the item's part of the first buffer. */
static ir_inst *any_piece(lanes *g) {
    ir_inst *p = own_place(g, 0, any_own_element(g, &g->k->buffer[0]));
    return lanes_byte(g) & 1 ? step(g, p, lanes_number(g, IR_I64, 1), 4) : p;
}

void lanes_first_pointer(lanes *g) {
    lanes_set(g, g->pointer, own_place(g, 0, lanes_number(g, IR_I64, 0)));
}

static void by_pointer(lanes *g) {
    ir_inst *p = lanes_get(g, g->pointer), *c;
    switch (lanes_below(g, 4)) {
    case 0: lanes_set(g, g->pointer, any_piece(g)); break;
    case 1:
        c = lanes_test(g);
        p = ir_build_select(&g->b, c, any_piece(g), p);
        lanes_set(g, g->pointer, p);
        break;
    case 2: store(g, lanes_some(g, IR_I32), p, 4); break;
    default: lanes_put(g, ir_build_load(&g->b, IR_I32, p, 4, 0));
    }
}

/* All items that come here write the same. */
static void set_place(lanes *g, unsigned buffer) {
    ir_inst *v = g->u;
    unsigned same = 0;
    while (same < g->k->nbuffers && g->k->buffer[same].role != LANES_SAME) same++;
    if (same < g->k->nbuffers)
        v = load_at(g, same, bring_into(g, wild_index(g), g->k->buffer[same].count));
    if (v->type == IR_I32) store(g, v, g->param[buffer], 4);
}

void lanes_access(lanes *g) {
    unsigned buffer = lanes_below(g, g->k->nbuffers);
    switch (g->k->buffer[buffer].role) {
    case LANES_OWN:
        if (!buffer && lanes_byte(g) & 1)
            by_pointer(g);
        else if (lanes_byte(g) % 8 == 5)
            access_parts(g, buffer);
        else
            access_own(g, buffer);
        break;
    case LANES_INPUT:
    case LANES_SAME: read_input(g, buffer); break;
    case LANES_COUNT:
        if (!g->calm) lanes_atomic(g);
        break;
    case LANES_PLACE: set_place(g, buffer);
    }
}

/* ---------------------------------------------------------------------------- other accesses */

void lanes_private(lanes *g) {
    unsigned align = (unsigned)ir_alignof(g->f->module, g->cell);
    ir_inst *k = lanes_some(g, IR_I32);
    g->k->flow[LANES_ARRAY_INDEX] |= !ir_is_const(k);
    k = lanes_op(g, IR_OP_and, k, lanes_number(g, IR_I32, LANES_ARRAY - 1));
    ir_inst *p = step(g, g->array, ir_build1(&g->b, IR_OP_zext, IR_I64, k), size_of(g, g->cell));
    if (lanes_byte(g) & 1)
        store(g, value_for(g, g->cell), p, align);
    else
        keep_loaded(g, ir_build_load(&g->b, g->cell, p, align, 0));
}

static ir_inst *atomic(lanes *g, ir_op op, ir_inst *p, ir_inst *v) {
    ir_imm imm = {.sync = {.scope = IR_SCOPE_DEVICE}};
    return ir_build_raw(&g->b, op, v->type, ir_with_imm(imm), IR_ARGS(p, v));
}

/* Of 32 or 64 bits of the item's part of the first buffer. */
static void atomic_own(lanes *g, ir_op op) {
    unsigned draw = lanes_byte(g);
    ir_type t = draw & 1 ? IR_I64 : IR_I32;
    ir_inst *p = t == IR_I32 ? any_piece(g) : own_place(g, 0, any_own_element(g, &g->k->buffer[0]));
    ir_inst *v = lanes_some(g, t);
    ir_imm imm = {.sync = {.scope = IR_SCOPE_DEVICE}};
    if (draw / 8 % 8 == 6)
        ir_build_raw(&g->b, IR_OP_atomic_store, IR_VOID, ir_with_imm(imm), IR_ARGS(p, v));
    else if (draw / 8 % 8 == 7)
        v = ir_build_raw(&g->b, IR_OP_atomic_load, t, ir_with_imm(imm), IR_ARGS(p));
    else if (draw / 2 % 4 == 3)
        v = ir_build_raw(&g->b, IR_OP_atomic_cmpxchg, t, ir_with_imm(imm),
                         IR_ARGS(p, v, lanes_some(g, t)));
    else
        v = atomic(g, op, p, v);
    lanes_put(g, v);
}

/* The order does not matter for what is there in the end, if all operations are the same. */
void lanes_atomic(lanes *g) {
    static const ir_op ops[] = {IR_OP_atomic_add,  IR_OP_atomic_or,   IR_OP_atomic_umax,
                                IR_OP_atomic_smin, IR_OP_atomic_xor,  IR_OP_atomic_and,
                                IR_OP_atomic_smax, IR_OP_atomic_umin, IR_OP_atomic_sub,
                                IR_OP_atomic_xchg};
    enum { OPS = sizeof ops / sizeof *ops, COMMUTE = OPS - 1 };
    unsigned buffer = find_buffer(g, LANES_COUNT), op = lanes_below(g, OPS);
    if (buffer == g->k->nbuffers || lanes_byte(g) % 4 == 3) {
        atomic_own(g, ops[op]);
        return;
    }
    ir_inst *at = lanes_byte(g) & 1 ? lanes_some(g, IR_I32) : g->u;
    at = lanes_op(g, IR_OP_and, at, lanes_number(g, IR_I32, LANES_COUNTS - 1));
    at = step(g, g->param[buffer], ir_build1(&g->b, IR_OP_zext, IR_I64, at), 4);
    atomic(g, ops[(buffer + g->k->u) % COMMUTE], at, lanes_some(g, IR_I32));
}
