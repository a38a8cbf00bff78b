/* arrays.c — private arrays: memory of a variable that each item uses for itself.
 *
 * The items of an iteration get a copy each.  The copies lie element beside element: element n of
 * lane k is number n * W + k.  So an index that all lanes have is an access of one vector, and
 * others are gathers and scatters within the copies.  A small array whose lanes have indices of
 * their own becomes a variable for each element, from which comparisons select: it stays in
 * registers, while a gather would wait for the stores before it to reach the cache.
 *
 * That is possible if all accesses are loads, stores and fills of elements, at multiples of the
 * smallest of them, and if all of them are known: the address is neither stored nor chosen.  All
 * must be in loops over items, since what is outside of them has no lanes.
 *
 * An address is represented by its distance from the variable, in bytes: a scalar, and a vector of
 * i32 unless all lanes have the same.  Distances are modulo 2^32, which is enough, because accesses
 * outside of the array are not defined.
 */
#include "passes/analysis/alias.h"
#include "passes/vectorize/simd.h"

enum { MAX_COPIES = 16384, MAX_FILL = 64, MAX_SELECTED = 16, ALIGN = 64 };

/* ------------------------------------------------------------------------------------- analysis */

typedef struct {
    simd *s;
    simd_array *array;
} finder;

static bool refuse(finder *f, const ir_inst *at, const char *why) {
    if (!f->array->refusal) f->array->refusal = why;
    f->array->refused = at;
    return false;
}

/* The smallest elements are those of the array; others have several of these as words. */
static bool set_element(finder *f, const ir_inst *i, ir_type t) {
    unsigned bytes = ir_bits(f->s->f->module, t) / 8;
    if (ir_is_ptr(ir_elem(t)) || ir_is_bool(t) || ir_is_aggregate(t))
        return refuse(f, i, "private memory of pointers or truth values");
    if (!f->array->bytes || bytes < f->array->bytes) f->array->bytes = bytes;
    return true;
}

static bool check_use(finder *f, const ir_use *u) {
    ir_inst *i = u->user;
    switch (i->op) {
    case IR_OP_ptrcast:
    case IR_OP_ptradd: return true;
    case IR_OP_load: return set_element(f, i, i->type);
    case IR_OP_store:
        return u == &i->arg[1] ? set_element(f, i, ir_arg(i, 0)->type)
                               : refuse(f, i, "the address of private memory is stored");
    case IR_OP_fill:
        return ir_is_const(ir_arg(i, 1)) && ir_is_const(ir_arg(i, 2)) && u == &i->arg[0]
                   ? true
                   : refuse(f, i, "private memory is filled with what is not constant");
    default: return refuse(f, i, "an operation on the address of private memory");
    }
}

static bool is_multiple(const pass_affine *sum, unsigned bytes) {
    bool all = sum->constant % bytes == 0;
    for (uint32_t k = 0; k < sum->n; k++) all &= sum->term[k].factor % bytes == 0;
    return all;
}

/* Are distances, and sizes of fills, multiples of an element? */
static void check_multiples(finder *f, const pass_use_list *uses) {
    unsigned bytes = f->array->bytes;
    for (uint32_t n = 0; n < uses->n; n++) {
        const ir_inst *i = uses->data[n]->user;
        pass_affine sum = {0};
        if (i->op == IR_OP_ptradd) pass_find_sum(ir_arg(i, 1), &sum);
        if (!is_multiple(&sum, bytes)) refuse(f, i, "private memory between elements");
        if (i->op != IR_OP_fill) continue;
        uint64_t size = ir_arg(i, 2)->imm.bits;
        if (size % bytes || size / bytes > MAX_FILL) refuse(f, i, "a large fill of private memory");
    }
}

static void tag_value(finder *f, const ir_inst *v) {
    f->s->value[v->id].array = f->array;
    *ir_push(f->s->scratch, &f->s->touched) = v->id;
}

static void tag(finder *f, ir_inst *alloca, const pass_use_list *uses) {
    tag_value(f, alloca);
    for (uint32_t n = 0; n < uses->n; n++)
        if (ir_is_ptr(uses->data[n]->user->type)) tag_value(f, uses->data[n]->user);
}

/* Code that is new has taken the place of such a loop. */
static bool is_in_items(const simd *s, const ir_block *b) {
    if (b->id >= s->code->nblocks) return true;
    const ir_loop *l = s->uniformity->loops->of[b->id];
    while (l && !(l->header->loop_hint & IR_LOOP_ITEMS)) l = l->parent;
    return l;
}

/* Is some access in the loop? */
static bool find_places(finder *f, const pass_use_list *uses) {
    const simd *s = f->s;
    bool any = false;
    for (uint32_t n = 0; n < uses->n; n++) {
        const ir_inst *i = uses->data[n]->user;
        if (ir_is_ptr(i->type)) continue;
        if (!is_in_items(s, i->block)) refuse(f, i, "private memory of several items");
        if (!simd_is_inside(s, i)) continue;
        any = true;
        f->array->is_indexed |= simd_shape_of(s, ir_arg(i, i->op == IR_OP_store)) != SIMD_UNIFORM;
    }
    return any;
}

static void find_array(simd *s, ir_inst *alloca) {
    simd_array *a = ir_new(s->scratch, simd_array);
    finder f = {s, a};
    pass_use_list uses = {0};
    *a = (simd_array){.variable = alloca};
    pass_follow_address(alloca, s->scratch, &uses);
    if (!find_places(&f, &uses)) return;
    for (uint32_t n = 0; n < uses.n; n++) check_use(&f, uses.data[n]);
    if (!a->bytes) refuse(&f, alloca, "private memory without elements");
    if (!a->refusal) check_multiples(&f, &uses);
    uint64_t size = ir_sizeof(s->f->module, alloca->imm.var->type);
    a->n = a->bytes ? (size + a->bytes - 1) / a->bytes : 0;
    tag(&f, alloca, &uses);
}

/* Copies for the lanes of other loops are none. */
static bool is_variable(const simd *s, const ir_inst *i) {
    return i->op == IR_OP_alloca && i->id < s->code->nvalues;
}

void simd_find_arrays(simd *s) {
    foreach_inst (i, s->f->first)
        if (is_variable(s, i)) find_array(s, i);
}

static simd_array *array_of(const simd *s, const ir_inst *i) {
    return is_variable(s, i) ? s->value[i->id].array : NULL;
}

static bool is_small(const simd_array *a) { return a->is_indexed && a->n <= MAX_SELECTED; }

uint64_t simd_small_arrays(const simd *s) {
    uint64_t all = 0;
    foreach_inst (i, s->f->first) {
        const simd_array *a = array_of(s, i);
        if (a && is_small(a)) all += a->n * a->bytes;
    }
    return all;
}

unsigned simd_selections_of(const simd *s, const ir_inst *i) {
    if (i->op != IR_OP_load && i->op != IR_OP_store) return 0;
    const simd_array *a = s->value[simd_address(i)->id].array;
    return a && is_small(a) ? 2 * (unsigned)a->n : 0;
}

bool simd_place_arrays(simd *s) {
    const ir_target *t = s->cx->target;
    uint64_t half = t ? t->vector_bytes * t->vector_registers / 2 : 128;
    uint64_t all = 0, selected = 0;
    foreach_inst (i, s->f->first) {
        simd_array *a = array_of(s, i);
        if (!a) continue;
        uint64_t size = a->n * a->bytes * s->lanes;
        a->is_selected = is_small(a) && selected + size <= half;
        if (a->is_selected) selected += size;
        all += size;
    }
    return all <= MAX_COPIES || simd_refuse(s, NULL, "private memory of all lanes is too large");
}

/* ------------------------------------------------------------------------------------ addresses */

typedef struct {
    ir_inst *same; /* what all lanes have */
    ir_inst *own;  /* vector of i32, or NULL */
} distance;

static ir_type size_type(const simd *s) { return ir_size_type(s->f->module); }

static distance distance_of(simd *s, ir_inst *p);

/* An address before the loop. */
static ir_inst *outer_distance(simd *s, ir_inst *p) {
    const ir_builder here = s->b;
    simd_value *v = &s->value[p->id];
    if (v->base) return v->base;
    ir_inst *from = distance_of(s, ir_arg(p, 0)).same;
    ir_before(&s->b, s->preheader->last);
    v->base =
        p->op == IR_OP_ptradd ? ir_build2(&s->b, IR_OP_add, from->type, from, ir_arg(p, 1)) : from;
    s->b.block = here.block;
    s->b.before = here.before;
    return v->base;
}

static distance distance_of(simd *s, ir_inst *p) {
    if (p->op == IR_OP_alloca) return (distance){ir_const(s->f, size_type(s), 0), NULL};
    if (!simd_is_inside(s, p)) return (distance){outer_distance(s, p), NULL};
    return (distance){s->value[p->id].base, s->value[p->id].offset};
}

static ir_inst *as_i32(simd *s, ir_inst *v) {
    ir_type t = ir_with_elem(v->type, IR_I32);
    return v->type == t ? v : ir_build1(&s->b, IR_OP_trunc, t, v);
}

void simd_move_in_array(simd *s, ir_inst *i) {
    distance d = distance_of(s, ir_arg(i, 0));
    if (i->op == IR_OP_ptradd) {
        ir_inst *step = ir_arg(i, 1);
        if (simd_shape_at(s, step, i->block) == SIMD_UNIFORM) {
            d.same = ir_build2(&s->b, IR_OP_add, d.same->type, d.same, simd_base(s, step));
        } else {
            ir_inst *own = as_i32(s, simd_part(s, step, 0, i->block));
            d.own = d.own ? ir_build2(&s->b, IR_OP_add, own->type, d.own, own) : own;
        }
    }
    s->value[i->id].base = d.same;
    s->value[i->id].offset = d.own;
}

/* --------------------------------------------------------------------------------------- copies */

static ir_type element_type(const simd_array *a) {
    return ir_scalar((ir_kind)(IR_I8 + __builtin_ctz(a->bytes)));
}

static ir_inst *new_variable(simd *s, ir_type t) {
    const ir_builder here = s->b;
    ir_before(&s->b, s->f->first->first);
    ir_inst *v = ir_build_alloca(&s->b, t, ALIGN);
    s->b.block = here.block;
    s->b.before = here.before;
    return v;
}

/* The memory of all copies. */
static ir_inst *copies_of(simd *s, simd_array *a) {
    uint32_t n = (uint32_t)a->n * s->lanes;
    if (!a->copies) a->copies = new_variable(s, ir_array_type(s->f->module, element_type(a), n));
    return a->copies;
}

/* Element n of all copies. */
static ir_inst *variable_of(simd *s, simd_array *a, uint64_t n) {
    ir_type t = ir_vector(element_type(a), s->lanes);
    if (!a->element) a->element = ir_new_array(s->scratch, ir_inst *, a->n);
    if (!a->element[n]) a->element[n] = new_variable(s, t);
    return a->element[n];
}

/* --------------------------------------------------------------------------------------- places */

/* Elements from an address on. */
typedef struct {
    simd *s;
    simd_array *array;
    const simd_node *n;
    /* Memory of copies: the address of the first element of all lanes, or the beginning; distances
     * from there, or NULL. */
    ir_inst *first, *offsets;
    /* Otherwise: the distance of each lane, i32; one of elements low, low + step … */
    ir_inst *distance;
    uint64_t low, step;
} place;

static ir_inst *times(simd *s, ir_inst *x, uint64_t by) {
    return ir_build2(&s->b, IR_OP_mul, x->type, x, ir_const(s->f, x->type, by));
}

/* Which elements may be at an address: every `step` from `low` on; one, if step is 0. */
static void find_candidates(place *at, const ir_inst *p) {
    uint64_t constant = 0, step = 0, bytes = at->array->bytes;
    for (; p->op != IR_OP_alloca; p = ir_arg(p, 0)) {
        pass_affine sum = {0};
        if (p->op == IR_OP_ptradd) pass_find_sum(ir_arg(p, 1), &sum);
        constant += (uint64_t)sum.constant;
        for (uint32_t k = 0; k < sum.n; k++)
            step = ir_common_divisor(step, (uint64_t)sum.term[k].factor);
    }
    step &= -step; /* distances are modulo a power of 2 */
    at->step = step / bytes;
    at->low = (at->step ? constant & (step - 1) : constant) / bytes;
}

static place find_place(simd *s, ir_inst *p, const simd_node *n) {
    simd_array *a = s->value[p->id].array;
    place at = {.s = s, .array = a, .n = n};
    distance d = distance_of(s, p);
    if (!a->is_selected && !d.own) {
        ir_inst *bytes = times(s, d.same, s->lanes);
        at.first = ir_build_ptradd(&s->b, copies_of(s, a), bytes, false);
        return at;
    }
    ir_inst *all = simd_splat(s, as_i32(s, d.same));
    if (d.own) all = ir_build2(&s->b, IR_OP_add, all->type, d.own, all);
    at.distance = all;
    if (a->is_selected) {
        find_candidates(&at, p);
        return at;
    }
    ir_inst *lane = simd_ramp(s, ir_const(s->f, IR_I32, 0), a->bytes);
    at.first = copies_of(s, a);
    at.offsets = ir_build2(&s->b, IR_OP_add, all->type, times(s, all, s->lanes), lane);
    return at;
}

/* ------------------------------------------------------------------------------------ selection */

/* Which lanes are at element n? */
static ir_inst *is_at(const place *at, uint64_t n) {
    ir_inst *bytes = ir_const(at->s->f, at->distance->type, n * at->array->bytes);
    return ir_build2(&at->s->b, IR_OP_eq, simd_mask_type(at->s), at->distance, bytes);
}

static ir_inst *load_variable(const place *at, uint64_t n) {
    ir_inst *v = variable_of(at->s, at->array, n);
    return ir_build_load(&at->s->b, v->imm.var->type, v, ALIGN, 0);
}

static ir_inst *select_element(const place *at, unsigned k) {
    ir_inst *sum = NULL;
    for (uint64_t n = at->low; n + k < at->array->n; n += at->step) {
        ir_inst *v = load_variable(at, n + k);
        sum = sum ? ir_build_select(&at->s->b, is_at(at, n), v, sum) : v;
        if (!at->step) break;
    }
    return sum ? sum : ir_undef(at->s->f, ir_vector(element_type(at->array), at->s->lanes));
}

static void replace_element(const place *at, unsigned k, ir_inst *v) {
    ir_builder *b = &at->s->b;
    for (uint64_t n = at->low; n + k < at->array->n; n += at->step) {
        ir_inst *mask = at->step ? simd_and(at->s, at->n->mask, is_at(at, n)) : at->n->mask;
        ir_inst *new = v;
        if (mask) new = ir_build_select(b, mask, v, load_variable(at, n + k));
        ir_build_store(b, new, variable_of(at->s, at->array, n + k), ALIGN, 0);
        if (!at->step) break;
    }
}

/* Does the store update what is at its address?  Nothing is written in between. */
static bool updates_place(const place *at, const ir_inst *store) {
    const ir_inst *v = ir_arg(store, 0), *old = v->nargs ? ir_arg(v, 0) : NULL;
    bool bits = v->op == IR_OP_and || v->op == IR_OP_or || v->op == IR_OP_xor;
    if (!at->array->is_selected || !at->step || !(bits || v->op == IR_OP_add || v->op == IR_OP_sub))
        return false;
    if (old->op != IR_OP_load) return false;
    bool same = ir_arg(old, 0) == ir_arg(store, 1) && old->block == store->block &&
                !ir_is_vector(v->type) && ir_bits(NULL, v->type) == 8 * at->array->bytes &&
                ir_count_uses(old) == 1 && ir_count_uses(v) == 1;
    for (const ir_inst *i = old->next; same && i != store; i = i->next) same = !pass_writes(i);
    return same;
}

/* The same operation on each element, in the lanes that are at it: nothing need be selected. */
static void update_elements(const place *at, const ir_inst *v, const ir_block *use) {
    simd *s = at->s;
    for (uint64_t n = at->low; n < at->array->n; n += at->step) {
        ir_inst *old = load_variable(at, n), *by = simd_part(s, ir_arg(v, 1), 0, use);
        ir_inst *new = ir_build2(&s->b, (ir_op)v->op, old->type, old, by);
        ir_inst *mask = simd_and(s, at->n->mask, is_at(at, n));
        new = ir_build_select(&s->b, mask, new, old);
        ir_build_store(&s->b, new, variable_of(s, at->array, n), ALIGN, 0);
    }
}

/* ------------------------------------------------------------------------------------- accesses */

static ir_inst *address_of(const place *at, unsigned k) {
    return simd_step(at->s, at->first, (int64_t)k * at->array->bytes * at->s->lanes);
}

/* Where lanes are accessed one by one or under a mask, the alignment is that of each of them. */
static ir_imm imm_of(const place *at, bool apart) {
    unsigned bytes = at->array->bytes * (apart ? 1 : at->s->lanes);
    return ir_mem_imm(bytes < ALIGN ? bytes : ALIGN, 0);
}

static ir_inst *mask_or_all(const place *at) {
    return at->n->mask ? at->n->mask : ir_const(at->s->f, simd_mask_type(at->s), 1);
}

/* Element k of those at the place.  Lanes that are not active have memory of their own, too. */
static ir_inst *load_element(const place *at, unsigned k) {
    ir_type t = ir_vector(element_type(at->array), at->s->lanes);
    if (at->array->is_selected) return select_element(at, k);
    ir_inst *args[] = {address_of(at, k), at->offsets, NULL, NULL};
    if (!at->offsets)
        return ir_build_raw(&at->s->b, IR_OP_load, t, ir_with_imm(imm_of(at, false)),
                            IR_ARGS(args[0]));
    args[2] = mask_or_all(at);
    args[3] = ir_const(at->s->f, t, 0);
    return ir_build_raw(&at->s->b, IR_OP_gather, t, ir_with_imm(imm_of(at, true)),
                        (ir_args){4, args});
}

static void store_element(const place *at, unsigned k, ir_inst *v) {
    if (at->array->is_selected) {
        replace_element(at, k, v);
        return;
    }
    ir_inst *args[4] = {v, address_of(at, k)};
    unsigned n = 2;
    ir_op op = at->offsets ? IR_OP_scatter : at->n->mask ? IR_OP_masked_store : IR_OP_store;
    if (at->offsets) args[n++] = at->offsets;
    if (op != IR_OP_store) args[n++] = mask_or_all(at);
    ir_build_raw(&at->s->b, op, IR_VOID, ir_with_imm(imm_of(at, op != IR_OP_store)),
                 (ir_args){n, args});
}

static ir_inst *as_type(simd *s, ir_inst *v, ir_type elem) {
    ir_type t = ir_with_elem(v->type, elem);
    return v->type == t ? v : ir_build1(&s->b, IR_OP_bitcast, t, v);
}

static ir_type int_of(const simd *s, unsigned bytes) {
    return ir_vector(ir_scalar((ir_kind)(IR_I8 + __builtin_ctz(bytes))), s->lanes);
}

static unsigned words_of(const simd *s, const simd_array *a, ir_type t) {
    return ir_bits(s->f->module, t) / 8 / a->bytes;
}

/* A value of n words, the lowest first. */
static ir_inst *join_words(simd *s, const simd_array *a, ir_inst *const *word, unsigned n) {
    ir_type t = int_of(s, a->bytes * n);
    ir_inst *sum = word[0];
    for (unsigned w = 0; w < n && n > 1; w++) {
        ir_inst *wide = ir_build1(&s->b, IR_OP_zext, t, word[w]);
        ir_inst *by = ir_const(s->f, t, UINT64_C(8) * a->bytes * w);
        if (w) wide = ir_build2(&s->b, IR_OP_shl, t, wide, by);
        sum = w ? ir_build2(&s->b, IR_OP_or, t, sum, wide) : wide;
    }
    return sum;
}

static ir_inst *word_of(simd *s, const simd_array *a, ir_inst *v, unsigned w) {
    ir_type t = int_of(s, a->bytes);
    if (v->type == t) return v;
    ir_inst *by = ir_const(s->f, v->type, UINT64_C(8) * a->bytes * w);
    return ir_build1(&s->b, IR_OP_trunc, t, ir_build2(&s->b, IR_OP_lshr, v->type, v, by));
}

void simd_load_array(simd *s, ir_inst *i, const simd_node *n) {
    const place at = find_place(s, ir_arg(i, 0), n);
    unsigned words = words_of(s, at.array, i->type), parts = ir_lanes(i->type);
    ir_inst **word = ir_new_array(s->scratch, ir_inst *, words * parts);
    for (unsigned w = 0; w < words * parts; w++) word[w] = load_element(&at, w);
    for (unsigned k = 0; k < parts; k++) {
        ir_inst *v = join_words(s, at.array, word + k * words, words);
        simd_set_part(s, i, k, as_type(s, v, ir_elem(i->type)));
    }
    s->value[i->id].word = word;
}

/* Copies what was loaded from this or another array by words. */
static bool has_words(const simd *s, const simd_array *a, const ir_inst *v) {
    if (v->op != IR_OP_load || !simd_is_inside(s, v)) return false;
    const simd_array *from = s->value[ir_arg(v, 0)->id].array;
    return from && from->bytes == a->bytes && s->value[v->id].word;
}

void simd_store_array(simd *s, ir_inst *i, const simd_node *n) {
    const place at = find_place(s, ir_arg(i, 1), n);
    ir_inst *v = ir_arg(i, 0);
    unsigned words = words_of(s, at.array, v->type), parts = ir_lanes(v->type);
    if (updates_place(&at, i)) {
        update_elements(&at, v, i->block);
        return;
    }
    bool known = has_words(s, at.array, v) && !simd_left_loop(s, v, i->block);
    for (unsigned w = 0; w < words * parts && known; w++)
        store_element(&at, w, s->value[v->id].word[w]);
    for (unsigned k = 0; k < parts && !known; k++) {
        ir_inst *part = simd_part(s, v, k, i->block);
        ir_inst *bits = as_type(s, part, ir_elem(int_of(s, words * at.array->bytes)));
        for (unsigned w = 0; w < words; w++)
            store_element(&at, k * words + w, word_of(s, at.array, bits, w));
    }
}

void simd_fill_array(simd *s, ir_inst *i, const simd_node *n) {
    const place at = find_place(s, ir_arg(i, 0), n);
    unsigned bytes = at.array->bytes;
    uint64_t value = (ir_arg(i, 1)->imm.bits & 0xff) * UINT64_C(0x0101010101010101);
    ir_type t = ir_vector(element_type(at.array), s->lanes);
    for (unsigned k = 0; k < ir_arg(i, 2)->imm.bits / bytes; k++)
        store_element(&at, k, ir_const(s->f, t, ir_zext(value, 8 * bytes)));
}
