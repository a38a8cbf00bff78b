/* vectors_memory.c — loads and stores of vectors, piece by piece.
 *
 * A piece that is not full accesses only its lanes: as a vector of half of its lanes if it has that
 * many, and as scalars. */
#include "passes/lower/vectors.h"

enum { LEAST_BYTES = 4 };

typedef struct {
    vec_state *s;
    ir_inst *p; /* where lane 0 is */
    ir_imm imm;
    ir_type elem;
    unsigned size; /* of a lane */
} access;

static ir_inst *address_of(access *a, unsigned lane) {
    ir_type t = ir_size_type(a->s->f->module);
    ir_inst *offset = ir_const(a->s->f, t, (uint64_t)lane * a->size);
    return ir_build_ptradd(&a->s->b, a->p, offset, false);
}

static unsigned align_of(const access *a, unsigned lane) {
    uint64_t both = (UINT64_C(1) << a->imm.mem.align) | ((uint64_t)lane * a->size);
    return (unsigned)(both & -both);
}

static ir_inst *load_lanes(access *a, unsigned first, unsigned n) {
    return ir_build_load(&a->s->b, ir_vector(a->elem, n), address_of(a, first), align_of(a, first),
                         a->imm.mem.flags);
}

static void store_lanes(access *a, ir_inst *x, unsigned first) {
    ir_build_store(&a->s->b, x, address_of(a, first), align_of(a, first), a->imm.mem.flags);
}

/* The number of lanes, of n, that one access takes: a power of two. */
static unsigned block_of(const access *a, unsigned n) {
    unsigned block = 1;
    while (2 * block <= n) block *= 2;
    return block * a->size < LEAST_BYTES ? 1 : block;
}

/* n lanes of a piece of `unit` lanes. */
static ir_inst *load_some(access *a, unsigned first, unsigned n, unsigned unit) {
    vec_state *s = a->s;
    ir_inst *lane[IR_MAX_LANES], *sum = NULL;
    uint8_t mask[IR_MAX_LANES];
    unsigned block = block_of(a, n);
    if (block > 1) {
        sum = load_lanes(a, first, block);
        for (unsigned k = 0; k < unit; k++) mask[k] = k < block ? (uint8_t)k : 255;
        sum = ir_build_shuffle(&s->b, sum, ir_undef(s->f, sum->type), unit, mask);
    }
    for (unsigned k = sum ? block : 0; k < n; k++) {
        lane[k] = load_lanes(a, first + k, 1);
        if (sum) sum = ir_build_insert(&s->b, sum, lane[k], k);
    }
    return sum ? sum : vec_of_lanes(s, a->elem, lane, n, unit);
}

static void store_some(access *a, ir_inst *v, unsigned first, unsigned n) {
    unsigned block = block_of(a, n);
    store_lanes(a, vec_piece(a->s, v, first, block), first);
    for (unsigned k = block; k < n; k++) store_lanes(a, vec_lane(a->s, v, first + k), first + k);
}

static access access_of(vec_state *s, const ir_inst *i, ir_type t, ir_inst *p) {
    unsigned size = (unsigned)ir_sizeof(s->f->module, ir_elem(t));
    return (access){.s = s, .p = p, .imm = i->imm, .elem = ir_elem(t), .size = size};
}

void vec_load(vec_state *s, const ir_inst *i, unsigned unit, ir_inst **out) {
    access a = access_of(s, i, i->type, ir_arg(i, 0));
    unsigned lanes = ir_lanes(i->type);
    for (unsigned first = 0; first < lanes; first += unit) {
        bool full = lanes - first >= unit;
        out[first / unit] =
            full ? load_lanes(&a, first, unit) : load_some(&a, first, lanes - first, unit);
    }
}

static void store_pieces(vec_state *s, const ir_inst *i) {
    ir_inst *v = ir_arg(i, 0);
    access a = access_of(s, i, v->type, ir_arg(i, 1));
    unsigned lanes = ir_lanes(v->type), unit = vec_unit(s, v->type);
    for (unsigned first = 0; first < lanes; first += unit) {
        if (lanes - first >= unit)
            store_lanes(&a, vec_piece(s, v, first, unit), first);
        else
            store_some(&a, v, first, lanes - first);
    }
}

bool vec_store(vec_state *s, const ir_inst *i) {
    uint64_t bits;
    if (i->type != IR_VOID || !i->nargs || !ir_is_vector(ir_arg(i, 0)->type)) return false;
    const ir_inst *mask = i->op == IR_OP_masked_store ? ir_arg(i, 2) : NULL;
    bool plain = mask && ir_is_const(mask) && ir_is_splat(mask, &bits) && bits;
    if (i->op == IR_OP_store || plain)
        store_pieces(s, i);
    else if (ir_is_masked(i))
        vec_masked_store(s, i);
    else
        return false;
    return true;
}
