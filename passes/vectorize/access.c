/* access.c — loads and stores of W items.
 *
 *   lanes next to each other, in either order    one vector, a reversal of lanes
 *   members of structures, and components        vectors of all, and shuffles (members.c)
 *   neighbours of each lane, lanes apart         a vector of each lane, and shuffles (tiles.c)
 *   one address for all                          a scalar load; a store of the last lane
 *   anything else                                gather and scatter
 */
#include "passes/vectorize/groups.h"
#include "passes/vectorize/transpose.h"

static int64_t element_bytes(const simd *s, const ir_inst *i) {
    return (int64_t)ir_sizeof(s->f->module, ir_elem(simd_accessed(i)));
}

/* The distance of two lanes in elements; 0: it is not a number of elements. */
static int64_t step_of(const simd *s, const ir_inst *i) {
    const ir_inst *p = simd_address(i);
    int64_t bytes = element_bytes(s, i);
    if (simd_shape_of(s, p) != SIMD_STRIDED || s->value[p->id].stride % bytes) return 0;
    return s->value[p->id].stride / bytes;
}

ir_access_form simd_form_of(const simd *s, const ir_inst *i) {
    bool scalar = ir_lanes(simd_accessed(i)) == 1;
    int64_t step = step_of(s, i);
    if (s->value[simd_address(i)->id].array) return IR_FORM_ARRAY;
    const simd_group *g = s->value[i->id].group;
    if (g) return g->is_apart ? IR_FORM_TILES : IR_FORM_MEMBERS;
    if (simd_shape_of(s, simd_address(i)) == SIMD_UNIFORM) return IR_FORM_UNIFORM;
    if (scalar && step == 1) return IR_FORM_CONTIGUOUS;
    return scalar && step == -1 ? IR_FORM_REVERSED : IR_FORM_APART;
}

static ir_access_form find_form(const simd *s, const ir_inst *i) {
    static const ir_counter counter[] = {[IR_FORM_UNIFORM] = IR_COUNT_vectorize_uniform,
                                         [IR_FORM_CONTIGUOUS] = IR_COUNT_vectorize_contiguous,
                                         [IR_FORM_REVERSED] = IR_COUNT_vectorize_reversed,
                                         [IR_FORM_MEMBERS] = IR_COUNT_vectorize_members,
                                         [IR_FORM_TILES] = IR_COUNT_vectorize_tiles,
                                         [IR_FORM_ARRAY] = IR_COUNT_vectorize_arrays,
                                         [IR_FORM_APART] = IR_COUNT_vectorize_scattered};
    ir_access_form form = simd_form_of(s, i);
    ir_add_count(s->f->module->cx, counter[form], 1);
    return form;
}

typedef struct {
    ir_inst *base, *offset; /* scalar; bytes of each lane */
} lane_addresses;

static lane_addresses addresses_of(simd *s, ir_inst *p) {
    if (simd_shape_of(s, p) == SIMD_VARYING)
        return (lane_addresses){s->value[p->id].base, s->value[p->id].offset};
    int64_t stride = s->value[p->id].stride;
    bool narrow = stride > INT32_MIN / 64 && stride < INT32_MAX / 64;
    ir_inst *zero = ir_const(s->f, ir_scalar(narrow ? IR_I32 : IR_I64), 0);
    return (lane_addresses){simd_base(s, p), simd_ramp(s, zero, stride)};
}

static ir_inst *all_lanes(simd *s) { return ir_const(s->f, simd_mask_type(s), 1); }

static ir_inst *mask_or_all(simd *s, const simd_node *n) {
    return n->mask ? n->mask : all_lanes(s);
}

ir_imm simd_imm(const ir_inst *i, int64_t bytes) {
    ir_imm imm = i->imm;
    if (bytes && imm.mem.align > __builtin_ctzll((uint64_t)bytes))
        imm.mem.align = (uint8_t)__builtin_ctzll((uint64_t)bytes);
    return imm;
}

ir_inst *simd_step(simd *s, ir_inst *p, int64_t bytes) {
    return ir_build_ptradd(&s->b, p, ir_const(s->f, ir_size_type(s->f->module), (uint64_t)bytes),
                           false);
}

static ir_inst *build_shuffle(simd *s, ir_inst *x, ir_inst *y, unsigned n, const uint8_t *mask) {
    return ir_build_shuffle(&s->b, x, y, n, mask);
}

static ir_inst *reverse(simd *s, ir_inst *x) {
    uint8_t mask[IR_MAX_LANES];
    for (unsigned k = 0; k < s->lanes; k++) mask[k] = (uint8_t)(s->lanes - 1 - k);
    return build_shuffle(s, x, x, s->lanes, mask);
}

/* By way of numbers, since no target moves lanes of masks. */
static ir_inst *reverse_mask(simd *s, ir_inst *mask) {
    ir_type t = ir_vector(ir_scalar(IR_I32), s->lanes);
    ir_inst *numbers = reverse(s, ir_build1(&s->b, IR_OP_sext, t, mask));
    return ir_build2(&s->b, IR_OP_ne, simd_mask_type(s), numbers, ir_const(s->f, t, 0));
}

/* ---------------------------------------------------------------------------------------- loads */

static bool is_whole(const ir_inst *i) { return i->imm.mem.flags & IR_MEM_WHOLE; }

static ir_inst *load_lanes(simd *s, const ir_inst *i, ir_type t, ir_inst *p, const simd_node *n) {
    if (!n->mask || is_whole(i))
        return ir_build_raw(&s->b, IR_OP_load, t, ir_with_imm(simd_imm(i, 0)), IR_ARGS(p));
    return ir_build_raw(&s->b, IR_OP_masked_load, t, ir_with_imm(simd_imm(i, 0)),
                        IR_ARGS(p, n->mask, ir_const(s->f, t, 0)));
}

static void load_reversed(simd *s, ir_inst *i, const simd_node *n) {
    ir_inst *last = simd_base(s, simd_address(i));
    ir_inst *first = simd_step(s, last, -element_bytes(s, i) * (s->lanes - 1));
    simd_node flipped = *n;
    if (n->mask) flipped.mask = reverse_mask(s, n->mask);
    ir_type t = ir_vector(i->type, s->lanes);
    simd_set_part(s, i, 0, reverse(s, load_lanes(s, i, t, first, &flipped)));
}

/* How many of n components a gather or scatter takes as one integer. */
static unsigned count_together(unsigned n, int64_t bytes) {
    unsigned together = 1;
    while (2 * together <= n && 2 * together * bytes <= 8) together *= 2;
    return together;
}

/* Integers of several components, for lanes. */
static ir_type together_type(const simd *s, int64_t bytes, unsigned n) {
    return ir_vector(ir_scalar((ir_kind)(IR_I8 + __builtin_ctzll((uint64_t)bytes * n))), s->lanes);
}

/* Lanes [first, first + n) of x. */
static ir_inst *cut(simd *s, ir_inst *x, unsigned first, unsigned n) {
    uint8_t mask[IR_MAX_LANES];
    for (unsigned k = 0; k < n; k++) mask[k] = (uint8_t)(first + k);
    return n == ir_lanes(x->type) ? x : build_shuffle(s, x, x, n, mask);
}

/* Sets n components of i from integers that hold them. */
static void set_together(simd *s, const ir_inst *i, unsigned first, unsigned n, ir_inst *all) {
    ir_type elem = ir_elem(i->type);
    unsigned lanes = s->lanes * n <= IR_MAX_LANES ? s->lanes : IR_MAX_LANES / n;
    ir_inst *part[IR_MAX_LANES / 2][8], *block[IR_MAX_LANES / 2];
    for (unsigned k = 0; k < s->lanes; k += lanes) {
        ir_inst *some = cut(s, all, k, lanes);
        some = ir_build1(&s->b, IR_OP_bitcast, ir_vector(elem, lanes * n), some);
        simd_split(&s->b, n, some, part[k / lanes]);
    }
    for (unsigned c = 0; c < n; c++) {
        for (unsigned k = 0; k < s->lanes / lanes; k++) block[k] = part[k][c];
        simd_set_part(s, i, first + c, simd_concatenate(&s->b, s->lanes / lanes, block));
    }
}

static void gather(simd *s, ir_inst *i, const simd_node *n) {
    lane_addresses a = addresses_of(s, simd_address(i));
    int64_t bytes = element_bytes(s, i);
    unsigned parts = ir_lanes(i->type), together;
    for (unsigned k = 0; k < parts; k += together) {
        together = count_together(parts - k, bytes);
        ir_type t = together == 1 ? ir_vector(ir_elem(i->type), s->lanes)
                                  : together_type(s, bytes, together);
        ir_inst *args[] = {simd_step(s, a.base, bytes * k), a.offset, mask_or_all(s, n),
                           ir_const(s->f, t, 0)};
        ir_inst *all = ir_build_raw(&s->b, IR_OP_gather, t, ir_with_imm(simd_imm(i, bytes * k)),
                                    (ir_args){4, args});
        if (together == 1)
            simd_set_part(s, i, k, all);
        else
            set_together(s, i, k, together, all);
    }
}

void simd_load(simd *s, ir_inst *i, const simd_node *n) {
    switch (find_form(s, i)) {
    case IR_FORM_ARRAY: simd_load_array(s, i, n); break;
    case IR_FORM_TILES:
    case IR_FORM_MEMBERS: simd_access_members(s, i, n); break;
    case IR_FORM_CONTIGUOUS:
        simd_set_part(
            s, i, 0,
            load_lanes(s, i, ir_vector(i->type, s->lanes), simd_base(s, simd_address(i)), n));
        break;
    case IR_FORM_REVERSED: load_reversed(s, i, n); break;
    default: gather(s, i, n);
    }
}

/* --------------------------------------------------------------------------------------- stores */

static ir_inst *component(simd *s, const ir_inst *i, unsigned k) {
    return simd_part(s, ir_arg(i, 0), k, i->block);
}

static void store_lanes(simd *s, const ir_inst *i, ir_inst *v, ir_inst *p, ir_inst *mask) {
    if (mask && is_whole(i)) {
        ir_inst *old =
            ir_build_raw(&s->b, IR_OP_load, v->type, ir_with_imm(simd_imm(i, 0)), IR_ARGS(p));
        v = ir_build_select(&s->b, mask, v, old);
        mask = NULL;
    }
    if (mask)
        ir_build_raw(&s->b, IR_OP_masked_store, IR_VOID, ir_with_imm(simd_imm(i, 0)),
                     IR_ARGS(v, p, mask));
    else
        ir_build_raw(&s->b, IR_OP_store, IR_VOID, ir_with_imm(simd_imm(i, 0)), IR_ARGS(v, p));
}

static void store_reversed(simd *s, const ir_inst *i, const simd_node *n) {
    ir_inst *last = simd_base(s, simd_address(i));
    ir_inst *first = simd_step(s, last, -element_bytes(s, i) * (s->lanes - 1));
    ir_inst *mask = n->mask ? reverse_mask(s, n->mask) : NULL;
    store_lanes(s, i, reverse(s, component(s, i, 0)), first, mask);
}

/* n components as integers that hold them. */
static ir_inst *put_together(simd *s, const ir_inst *i, unsigned first, unsigned n) {
    ir_type t = together_type(s, element_bytes(s, i), n);
    unsigned lanes = s->lanes * n <= IR_MAX_LANES ? s->lanes : IR_MAX_LANES / n;
    ir_inst *part[8], *block[IR_MAX_LANES / 2];
    if (n == 1) return component(s, i, first);
    for (unsigned k = 0; k < s->lanes; k += lanes) {
        for (unsigned c = 0; c < n; c++) part[c] = cut(s, component(s, i, first + c), k, lanes);
        ir_inst *some = simd_join(&s->b, n, part);
        block[k / lanes] = ir_build1(&s->b, IR_OP_bitcast, ir_vector(ir_elem(t), lanes), some);
    }
    return simd_concatenate(&s->b, s->lanes / lanes, block);
}

static void scatter(simd *s, const ir_inst *i, const simd_node *n) {
    lane_addresses a = addresses_of(s, simd_address(i));
    int64_t bytes = element_bytes(s, i);
    unsigned parts = ir_lanes(simd_accessed(i)), together;
    for (unsigned k = 0; k < parts; k += together) {
        together = count_together(parts - k, bytes);
        ir_inst *args[] = {put_together(s, i, k, together), simd_step(s, a.base, bytes * k),
                           a.offset, mask_or_all(s, n)};
        ir_build_raw(&s->b, IR_OP_scatter, IR_VOID, ir_with_imm(simd_imm(i, bytes * k)),
                     (ir_args){4, args});
    }
}

static ir_inst *extract_last(simd *s, ir_inst *lanes) {
    if (!s->is_rest) return ir_build_extract(&s->b, lanes, s->lanes - 1);
    return ir_build2(&s->b, IR_OP_extract, ir_elem(lanes->type), lanes, s->last);
}

/* One place for all items: the last one writes last. */
static void store_last(simd *s, const ir_inst *i) {
    ir_inst *v = ir_arg(i, 0), *p = simd_base(s, simd_address(i));
    unsigned m = ir_lanes(v->type);
    if (simd_shape_at(s, v, i->block) == SIMD_UNIFORM) {
        store_lanes(s, i, simd_base(s, v), p, NULL);
        return;
    }
    ir_inst **lane = ir_new_array(s->scratch, ir_inst *, m);
    for (unsigned k = 0; k < m; k++) lane[k] = extract_last(s, component(s, i, k));
    ir_inst *last = m == 1 ? lane[0] : ir_build_vec(&s->b, v->type, lane);
    store_lanes(s, i, last, p, NULL);
}

static void store_contiguous(simd *s, const ir_inst *i, const simd_node *n) {
    ir_inst *base = simd_base(s, simd_address(i));
    store_lanes(s, i, component(s, i, 0), base, n->mask);
}

void simd_store(simd *s, ir_inst *i, const simd_node *n) {
    switch (find_form(s, i)) {
    case IR_FORM_ARRAY: simd_store_array(s, i, n); break;
    case IR_FORM_MEMBERS: simd_access_members(s, i, n); break;
    case IR_FORM_UNIFORM: store_last(s, i); break;
    case IR_FORM_CONTIGUOUS: store_contiguous(s, i, n); break;
    case IR_FORM_REVERSED: store_reversed(s, i, n); break;
    default: scatter(s, i, n);
    }
}
