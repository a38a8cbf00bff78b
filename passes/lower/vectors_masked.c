/* vectors_masked.c — accesses of lanes by a mask: masked_load, masked_store, gather, scatter.
 *
 * An access is done lane by lane, without branches: a lane that is not active accesses a variable
 * in place of the memory.  The variable holds the other operand of a load, so that the lane gets
 * its value.  A branch for each lane would be mispredicted for many masks.
 *
 * Lanes whose truth value is a constant are accessed as such, or not at all.
 *
 * If all lanes of a gather are active, and its offsets have been loaded from consecutive memory
 * that cannot have changed, they are loaded again for each lane: none is taken out of a vector.
 * That is faster than a gather on targets with `gathers_slowly`.
 */
#include "passes/lower/vectors.h"

enum {
    MAX_STEPS = 3,     /* from a load to offsets */
    MAX_DISTANCE = 64, /* instructions */
    PART = 16          /* bytes */
};

typedef struct {
    vec_state *s;
    const ir_inst *i;
    ir_inst *v; /* what is stored, or what lanes of a load are that are not active */
    ir_inst *base, *offsets, *mask; /* offsets: NULL if lanes are consecutive */
    ir_inst *index; /* of 32 bits: offsets are its extension, shifted; NULL: others */
    bool is_signed; /* is the extension? */
    unsigned shift;
    const ir_inst *source; /* the load that offsets are computed from; NULL: they are taken out */
    ir_type elem;
    unsigned lanes, size; /* size: of a lane, in bytes */
} access;

static bool has_kind(const ir_inst *x, ir_kind kind) { return ir_kind_of(x->type) == kind; }

/* Is the mask a constant with this truth value in all lanes? */
static bool is_known(const ir_inst *mask, bool truth) {
    uint64_t bits;
    return ir_is_const(mask) && ir_is_splat(mask, &bits) && (bits & 1) == truth;
}

/* Machines extend indices of 32 bits with their sign and shift them as a part of the access.  They
 * take as many of them as fit a register: twice as many as offsets of 64 bits. */
static void find_index(access *a) {
    const ir_inst *x = a->offsets;
    uint64_t by = 0;
    if (ir_bits(a->s->f->module, ir_size_type(a->s->f->module)) != 64) return;
    bool shifted =
        x->op == IR_OP_shl && ir_is_const(ir_arg(x, 1)) && ir_is_splat(ir_arg(x, 1), &by);
    if (shifted && by <= 3) x = ir_arg(x, 0);
    if (x->op != IR_OP_zext && x->op != IR_OP_sext) return;
    if (!has_kind(x, IR_I64) || !has_kind(ir_arg(x, 0), IR_I32)) return;
    a->index = ir_arg(x, 0);
    a->is_signed = x->op == IR_OP_sext;
    a->shift = (unsigned)by;
}

/* The load from which x is computed, one operation with a constant after the other. */
static const ir_inst *find_load(const ir_inst *x) {
    for (unsigned step = 0; step <= MAX_STEPS; step++) {
        if (x->op == IR_OP_load) return x;
        bool extends = x->op == IR_OP_zext || x->op == IR_OP_sext;
        bool moves = x->op == IR_OP_shl || x->op == IR_OP_add || x->op == IR_OP_and;
        if (!extends && !(moves && ir_is_const(ir_arg(x, 1)))) return NULL;
        x = ir_arg(x, 0);
    }
    return NULL;
}

/* Does memory hold what `load` has read until i, as far as a short look tells? */
static bool is_kept(const ir_inst *load, const ir_inst *i) {
    unsigned n = 0;
    if (load->block != i->block || load->imm.mem.flags & IR_MEM_VOLATILE) return false;
    for (i = i->prev; i != load; i = i->prev)
        if (!i || ++n > MAX_DISTANCE || ir_has_flag(i, F_WRITES)) return false;
    return true;
}

/* If a lane might be inactive, its offset is tested, and what is loaded again has not been. */
static void find_source(access *a) {
    const ir_inst *load = is_known(a->mask, true) ? find_load(a->offsets) : NULL;
    if (load && is_kept(load, a->i)) a->source = load;
}

static access access_of(vec_state *s, const ir_inst *i) {
    bool loads = i->type != IR_VOID, apart = i->op == IR_OP_gather || i->op == IR_OP_scatter;
    unsigned base = loads ? 0 : 1;
    access a = {.s = s, .i = i, .base = ir_arg(i, base)};
    if (apart) a.offsets = ir_arg(i, base + 1);
    a.mask = ir_arg(i, base + 1u + apart);
    a.v = ir_arg(i, loads ? i->nargs - 1u : 0);
    a.elem = ir_elem(a.v->type);
    a.lanes = ir_lanes(a.v->type);
    a.size = ir_bits(s->f->module, a.elem) / 8;
    if (apart) find_index(&a);
    if (apart && loads) find_source(&a);
    return a;
}

/* Of an access of size bytes to lane `lane`, or from it on. */
static unsigned align_of(const access *a, unsigned lane) {
    uint64_t log = a->i->imm.mem.align, at = a->offsets ? 0 : (uint64_t)lane * a->size;
    uint64_t both = (UINT64_C(1) << log) | at;
    return (unsigned)(both & -both);
}

static ir_inst *move_address(const access *a, ir_inst *p, uint64_t bytes) {
    ir_type t = ir_size_type(a->s->f->module);
    return bytes ? ir_build_ptradd(&a->s->b, p, ir_const(a->s->f, t, bytes), false) : p;
}

/* --------------------------------------------------------------------------------- lane by lane */

/* Lane k of x, which find_load has followed. */
static ir_inst *compute_lane(const access *a, const ir_inst *x, unsigned k) {
    ir_builder *b = &a->s->b;
    if (x == a->source) {
        ir_type t = ir_elem(x->type);
        uint64_t at = (uint64_t)k * ir_sizeof(a->s->f->module, t);
        uint64_t both = (UINT64_C(1) << x->imm.mem.align) | at;
        return ir_build_load(b, t, move_address(a, ir_arg(x, 0), at), (unsigned)(both & -both),
                             x->imm.mem.flags & IR_MEM_NOALIAS);
    }
    ir_inst *args[] = {compute_lane(a, ir_arg(x, 0), k), NULL};
    if (x->nargs > 1) args[1] = vec_lane(a->s, ir_arg(x, 1), k);
    return ir_build_like(b, x, ir_elem(x->type), args);
}

/* An offset in bytes, as an integer of the size of addresses. */
static ir_inst *offset_of(const access *a, unsigned k) {
    ir_builder *b = &a->s->b;
    ir_type t = ir_size_type(a->s->f->module);
    ir_inst *x = a->source ? compute_lane(a, a->offsets, k) : vec_lane(a->s, a->offsets, k);
    unsigned have = ir_bits(a->s->f->module, x->type), want = ir_bits(a->s->f->module, t);
    if (have == want) return x;
    return ir_build1(b, have < want ? IR_OP_sext : IR_OP_trunc, t, x);
}

static ir_inst *address_of(const access *a, unsigned k) {
    if (!a->offsets) return move_address(a, a->base, (uint64_t)k * a->size);
    return ir_build_ptradd(&a->s->b, a->base, offset_of(a, k), false);
}

ir_inst *vec_find_aside(vec_state *s, uint32_t bytes) {
    ir_module *m = s->f->module;
    if (!s->aside) {
        ir_builder b;
        ir_builder_init(&b, s->f);
        ir_before(&b, s->f->first->first);
        s->aside = ir_build_alloca(&b, ir_array_type(m, IR_I8, bytes), 16);
    }
    if (ir_sizeof(m, s->aside->imm.var->type) < bytes) {
        ir_var *larger = ir_new(&m->arena, ir_var);
        *larger = *s->aside->imm.var;
        larger->type = ir_array_type(m, IR_I8, bytes);
        s->aside->imm.var = larger;
    }
    return s->aside;
}

static ir_inst *generic(const access *a, ir_inst *p) {
    bool same = ir_space_of(a->base->type) == IR_PRIVATE || ir_space_of(p->type) == IR_GENERIC;
    return same ? p : ir_build1(&a->s->b, IR_OP_ptrcast, ir_ptr(IR_GENERIC), p);
}

/* The address of lane k, or `aside` if it is not active; NULL: it is known not to be. */
static ir_inst *place_of(const access *a, unsigned k, ir_inst *aside) {
    ir_inst *c = vec_lane(a->s, a->mask, k);
    if (ir_is_const(c)) return c->imm.bits & 1 ? address_of(a, k) : NULL;
    ir_inst *p = generic(a, address_of(a, k));
    return ir_build_select(&a->s->b, c, p, generic(a, aside));
}

/* The variable, with the lanes that a load gives if they are not active. */
static ir_inst *set_aside(const access *a) {
    vec_state *s = a->s;
    ir_inst *p = vec_find_aside(s, a->size * a->lanes);
    if (a->v->op == IR_OP_undef) return p;
    for (unsigned k = 0; k < a->lanes; k++) {
        ir_inst *at = move_address(a, p, (uint64_t)k * a->size);
        ir_build_store(&s->b, vec_lane(s, a->v, k), at, a->size, 0);
    }
    return p;
}

static void load_lanes(access *a, ir_inst *i) {
    vec_state *s = a->s;
    ir_inst **lane = vec_room(s, a->lanes), *aside = ir_is_const(a->mask) ? NULL : set_aside(a);
    for (unsigned k = 0; k < a->lanes; k++) {
        ir_inst *own = aside ? move_address(a, aside, (uint64_t)k * a->size) : NULL;
        ir_inst *p = place_of(a, k, own);
        lane[k] = p ? ir_build_load(&s->b, a->elem, p, align_of(a, k), i->imm.mem.flags)
                    : vec_lane(s, a->v, k);
    }
    vec_set_lanes(s, i, lane);
}

/* The load of an active lane. */
static ir_inst *load_lane(const access *a, unsigned k) {
    return ir_build_load(&a->s->b, a->elem, address_of(a, k), align_of(a, k), a->i->imm.mem.flags);
}

/* A gather of all lanes: each is put into its place as soon as it is loaded, so that few offsets
 * are in registers at once.  Machines put lanes into parts of 16 bytes. */
static void load_into_places(const access *a, ir_inst *i) {
    vec_state *s = a->s;
    unsigned n = vec_unit(s, i->type), most = PART / a->size;
    if (n > most) n = most;
    ir_inst **out = vec_room(s, vec_count(a->lanes, n));
    for (unsigned k = 0; k < a->lanes; k++) {
        ir_inst *v = k % n ? out[k / n] : ir_undef(s->f, ir_vector(a->elem, n));
        out[k / n] = ir_build_insert(&s->b, v, load_lane(a, k), k % n);
    }
    vec_set_pieces(s, i, out, n);
}

static void store_lanes(access *a) {
    vec_state *s = a->s;
    ir_inst *aside = ir_is_const(a->mask) ? NULL : vec_find_aside(s, a->size);
    for (unsigned k = 0; k < a->lanes; k++) {
        ir_inst *p = place_of(a, k, aside);
        if (!p) continue;
        ir_build_store(&s->b, vec_lane(s, a->v, k), p, align_of(a, k), a->i->imm.mem.flags);
    }
}

/* ------------------------------------------------------------------------------- piece by piece */

static bool is_slow(const access *a) {
    const ir_target *t = a->s->target;
    if (!t || !is_known(a->mask, true)) return false;
    if (a->i->op == IR_OP_gather) return t->gathers_slowly && a->source;
    return t->scatters_slowly && a->i->op == IR_OP_scatter && a->size == 8;
}

/* The number of lanes of a piece; 1: the target has no instruction. */
static unsigned unit_of(const access *a) {
    const vec_state *s = a->s;
    const vec_parts *mask = vec_parts_of(s, a->mask);
    unsigned n = vec_unit(s, a->v->type);
    if (!s->target || !s->target->takes(a->i, s->target->level) || is_slow(a)) return 1;
    const ir_inst *apart = a->index ? a->index : a->offsets;
    if (apart && vec_unit(s, apart->type) < n) n = vec_unit(s, apart->type);
    if (mask && mask->bits > 1 && mask->unit < n) n = mask->unit;
    return n * a->size < 4 ? 1 : n;
}

/* The truth values of n lanes; those after the last lane are not set. */
static ir_inst *truth_of(const access *a, unsigned first, unsigned n) {
    vec_state *s = a->s;
    uint64_t lane[IR_MAX_LANES] = {0};
    ir_inst *m = vec_mask(s, a->mask, first, n, vec_mask_bits(s, 8 * a->size));
    if (first + n > a->lanes) {
        uint64_t all = ir_zext(UINT64_MAX, ir_bits(s->f->module, m->type));
        for (unsigned k = 0; first + k < a->lanes; k++) lane[k] = all;
        m = ir_build2(&s->b, IR_OP_and, m->type, m, ir_const_lanes(s->f, m->type, lane));
    }
    return vec_truth(s, m);
}

/* An index without a sign is moved by half of its range, and the base the other way. */
enum { HALF_BITS = 31 };

static ir_inst *base_of(const access *a, unsigned first) {
    if (a->index && !a->is_signed)
        return move_address(a, a->base, UINT64_C(1) << (HALF_BITS + a->shift));
    return a->offsets ? a->base : move_address(a, a->base, (uint64_t)first * a->size);
}

static ir_inst *build_raw(const access *a, ir_op op, ir_type t, ir_inst *x, ir_inst *y) {
    ir_inst *args[] = {x, y};
    return ir_build_raw(&a->s->b, op, t, IR_PLAIN, (ir_args){y ? 2 : 1, args});
}

/* The offsets of n lanes.  Those of an index are a part of the access and no value of their own,
 * which might be too large for a register; so they are built as they are, also of constants. */
static ir_inst *offsets_of(const access *a, unsigned first, unsigned n) {
    if (!a->index) return vec_piece(a->s, a->offsets, first, n);
    ir_inst *x = vec_piece(a->s, a->index, first, n);
    ir_type wide = ir_vector(IR_I64, n);
    ir_inst *half = ir_const(a->s->f, x->type, UINT64_C(1) << HALF_BITS);
    if (!a->is_signed) x = ir_build2(&a->s->b, IR_OP_xor, x->type, x, half);
    x = build_raw(a, IR_OP_sext, wide, x, NULL);
    return a->shift ? build_raw(a, IR_OP_shl, wide, x, ir_const(a->s->f, wide, a->shift)) : x;
}

/* The operands of the piece from lane `first` on. */
static unsigned set_operands(const access *a, unsigned first, unsigned n, ir_inst *truth,
                             ir_inst **args) {
    vec_state *s = a->s;
    ir_inst *v = vec_piece(s, a->v, first, n);
    bool loads = a->i->type != IR_VOID;
    unsigned k = 0;
    if (!loads) args[k++] = v;
    args[k++] = base_of(a, first);
    if (a->offsets) args[k++] = offsets_of(a, first, n);
    args[k++] = truth;
    if (loads) args[k++] = v;
    return k;
}

/* The piece from lane `first` on: its value, if it is loaded. */
static ir_inst *access_piece(const access *a, unsigned first, unsigned n) {
    vec_state *s = a->s;
    ir_inst *truth = truth_of(a, first, n), *args[4];
    const ir_imm imm = ir_mem_imm(align_of(a, first), a->i->imm.mem.flags);
    unsigned nargs = set_operands(a, first, n, truth, args);
    bool loads = a->i->type != IR_VOID;
    ir_type t = loads ? args[nargs - 1]->type : IR_VOID;
    if (is_known(truth, false)) return loads ? args[nargs - 1] : NULL;
    if (is_known(truth, true) && !a->offsets)
        return ir_build_raw(&s->b, loads ? IR_OP_load : IR_OP_store, t, ir_with_imm(imm),
                            (ir_args){loads ? 1 : 2, args});
    return ir_build_raw(&s->b, (ir_op)a->i->op, t, ir_with_imm(imm), (ir_args){nargs, args});
}

static bool is_plain(const access *a) { return !a->offsets && is_known(a->mask, true); }

void vec_masked_load(vec_state *s, ir_inst *i) {
    access a = access_of(s, i);
    unsigned n = is_plain(&a) ? vec_unit(s, i->type) : unit_of(&a);
    ir_inst **out = vec_room(s, a.lanes);
    if (is_slow(&a)) {
        load_into_places(&a, i);
    } else if (n == 1) {
        load_lanes(&a, i);
    } else if (is_plain(&a)) {
        vec_load(s, i, n, out);
        s->of[i->id] = (vec_parts){.unit = n, .piece = out};
    } else {
        for (unsigned k = 0; k < a.lanes; k += n) out[k / n] = access_piece(&a, k, n);
        vec_set_pieces(s, i, out, n);
    }
}

void vec_masked_store(vec_state *s, const ir_inst *i) {
    access a = access_of(s, i);
    unsigned n = unit_of(&a);
    if (n == 1) store_lanes(&a);
    for (unsigned k = 0; n > 1 && k < a.lanes; k += n) access_piece(&a, k, n);
}
