/* scalarize.c — vectors become their lanes.
 *
 * Every vector value is an array of scalars.  Instructions are met in reverse postorder, so operands
 * come before users, but for phis, whose lanes are made empty and filled at the end.  A load or a
 * store of a vector is one of each lane; what asks for one lane gets it.  A lane whose number is not
 * known is chosen by comparisons.  A bitcast between vectors goes through the bits: wider lanes are
 * put together from narrower ones, or taken apart.
 */
#include "passes/passes.h"

typedef struct {
    ir_func *f;
    ir_arena *scratch;
    ir_builder b;
    ir_inst ***lanes; /* by value id: the lanes of a vector, or NULL */
    uint32_t nlanes;  /* entries */
    ir_vec(ir_inst *) phis, dead;
} scalarizer;

/* ------------------------------------------------------------------------------------------ lanes */

static ir_inst **room_for(scalarizer *s, ir_type t) {
    return ir_new_array(s->scratch, ir_inst *, ir_lanes(t));
}

static ir_inst **leaf_lanes(scalarizer *s, const ir_inst *v) {
    ir_inst **lanes = room_for(s, v->type);
    ir_type elem = ir_elem(v->type);
    for (unsigned k = 0; k < ir_lanes(v->type); k++)
        lanes[k] =
            v->op == IR_OP_undef ? ir_undef(s->f, elem) : ir_const(s->f, elem, ir_lane_bits(v, k));
    return lanes;
}

static ir_inst *extract(scalarizer *s, ir_inst *v, unsigned k) {
    return ir_build_extract(&s->b, v, k);
}

/* The lanes of v; of what stays a vector (a parameter, the result of a call) they are taken out. */
static ir_inst **lanes_of(scalarizer *s, ir_inst *v) {
    if (v->id < s->nlanes && s->lanes[v->id]) return s->lanes[v->id];
    if (v->op == IR_OP_const || v->op == IR_OP_undef) return leaf_lanes(s, v);
    ir_inst **lanes = room_for(s, v->type);
    for (unsigned k = 0; k < ir_lanes(v->type); k++) lanes[k] = extract(s, v, k);
    return lanes;
}

static ir_inst *lane(scalarizer *s, ir_inst *v, unsigned k) {
    return ir_is_vector(v->type) ? lanes_of(s, v)[k] : v;
}

/* ------------------------------------------------------------------------------------- operations */

static void split_lanewise(scalarizer *s, const ir_inst *i, ir_inst **out) {
    ir_inst *args[8];
    assert(i->nargs <= 8);
    for (unsigned k = 0; k < ir_lanes(i->type); k++) {
        for (unsigned n = 0; n < i->nargs; n++) args[n] = lane(s, ir_arg(i, n), k);
        out[k] = ir_build(&s->b, (ir_op)i->op, ir_elem(i->type), i->flags, i->imm, i->nargs, args);
    }
}

/* The alignment of what lies `offset` bytes behind an address that is aligned to 1 << log. */
static unsigned align_at(unsigned log, uint64_t offset) {
    uint64_t both = (UINT64_C(1) << log) | offset;
    return (unsigned)(both & -both);
}

static ir_inst *lane_address(scalarizer *s, ir_inst *p, uint64_t offset) {
    return ir_build_ptradd(&s->b, p, ir_const(s->f, ir_size_type(s->f->module), offset), false);
}

static void split_load(scalarizer *s, const ir_inst *i, ir_inst **out) {
    ir_type elem = ir_elem(i->type);
    uint64_t size = ir_sizeof(s->f->module, elem);
    for (unsigned k = 0; k < ir_lanes(i->type); k++) {
        ir_inst *p = lane_address(s, ir_arg(i, 0), k * size);
        out[k] =
            ir_build_load(&s->b, elem, p, align_at(i->imm.mem.align, k * size), i->imm.mem.flags);
    }
}

static void split_store(scalarizer *s, const ir_inst *i) {
    ir_inst **lanes = lanes_of(s, ir_arg(i, 0));
    ir_type t = ir_arg(i, 0)->type;
    uint64_t size = ir_sizeof(s->f->module, ir_elem(t));
    for (unsigned k = 0; k < ir_lanes(t); k++) {
        ir_inst *p = lane_address(s, ir_arg(i, 1), k * size);
        ir_build_store(&s->b, lanes[k], p, align_at(i->imm.mem.align, k * size), i->imm.mem.flags);
    }
}

static void split_shuffle(scalarizer *s, const ir_inst *i, ir_inst **out) {
    unsigned n = ir_lanes(ir_arg(i, 0)->type);
    for (unsigned k = 0; k < ir_lanes(i->type); k++) {
        unsigned from = i->imm.mask[k];
        if (from == 255)
            out[k] = ir_undef(s->f, ir_elem(i->type));
        else
            out[k] = lane(s, ir_arg(i, from >= n), from >= n ? from - n : from);
    }
}

static ir_inst *is_lane(scalarizer *s, ir_inst *index, unsigned k) {
    return ir_build2(&s->b, IR_OP_eq, IR_I1, index, ir_const(s->f, index->type, k));
}

static ir_inst *choose(scalarizer *s, ir_inst *c, ir_inst *x, ir_inst *y) {
    return ir_build3(&s->b, IR_OP_select, x->type, c, x, y);
}

static void split_insert(scalarizer *s, const ir_inst *i, ir_inst **out) {
    ir_inst **from = lanes_of(s, ir_arg(i, 0)), *x = ir_arg(i, 1), *index = ir_arg(i, 2);
    for (unsigned k = 0; k < ir_lanes(i->type); k++) {
        if (ir_is_const(index))
            out[k] = index->imm.bits == k ? x : from[k];
        else
            out[k] = choose(s, is_lane(s, index, k), x, from[k]);
    }
}

static ir_inst *pick_lane(scalarizer *s, const ir_inst *i) {
    ir_inst **from = lanes_of(s, ir_arg(i, 0)), *index = ir_arg(i, 1);
    unsigned n = ir_lanes(ir_arg(i, 0)->type);
    if (ir_is_const(index))
        return index->imm.bits < n ? from[index->imm.bits] : ir_undef(s->f, i->type);
    ir_inst *x = from[n - 1];
    for (unsigned k = n - 1; k-- > 0;) x = choose(s, is_lane(s, index, k), from[k], x);
    return x;
}

static ir_inst *reduce(scalarizer *s, const ir_inst *i) {
    ir_inst **from = lanes_of(s, ir_arg(i, 0)), *x = from[0];
    for (unsigned k = 1; k < ir_lanes(ir_arg(i, 0)->type); k++)
        x = ir_build2(&s->b, i->op == IR_OP_any ? IR_OP_or : IR_OP_and, IR_I1, x, from[k]);
    return x;
}

/* --------------------------------------------------------------------------------------- bitcasts */

static ir_type bits_type(unsigned bits) {
    return ir_scalar(bits == 8 ? IR_I8 : bits == 16 ? IR_I16 : bits == 32 ? IR_I32 : IR_I64);
}

static ir_inst *cast(scalarizer *s, ir_type t, ir_inst *x) {
    return x->type == t ? x : ir_build1(&s->b, IR_OP_bitcast, t, x);
}

static ir_inst *shift(scalarizer *s, ir_op op, ir_inst *x, unsigned by) {
    return by ? ir_build2(&s->b, op, x->type, x, ir_const(s->f, x->type, by)) : x;
}

/* Lane k of type t out of narrower lanes. */
static ir_inst *put_together(scalarizer *s, ir_inst *v, ir_type t, unsigned k) {
    const ir_module *m = s->f->module;
    unsigned narrow = ir_bits(m, v->type), wide = ir_bits(m, t), n = wide / narrow;
    ir_inst *sum = NULL;
    for (unsigned j = 0; j < n; j++) {
        ir_inst *x = cast(s, bits_type(narrow), lane(s, v, k * n + j));
        x = shift(s, IR_OP_shl, ir_build1(&s->b, IR_OP_zext, bits_type(wide), x), j * narrow);
        sum = sum ? ir_build2(&s->b, IR_OP_or, x->type, sum, x) : x;
    }
    return cast(s, t, sum);
}

static ir_inst *take_apart(scalarizer *s, ir_inst *v, ir_type t, unsigned k) {
    const ir_module *m = s->f->module;
    unsigned wide = ir_bits(m, v->type), narrow = ir_bits(m, t), n = wide / narrow;
    ir_inst *x = cast(s, bits_type(wide), lane(s, v, k / n));
    x = shift(s, IR_OP_lshr, x, k % n * narrow);
    return cast(s, t, ir_build1(&s->b, IR_OP_trunc, bits_type(narrow), x));
}

static ir_inst *cast_lane(scalarizer *s, const ir_inst *i, unsigned k) {
    const ir_module *m = s->f->module;
    ir_inst *v = ir_arg(i, 0);
    ir_type t = ir_elem(i->type);
    unsigned from = ir_bits(m, v->type), to = ir_bits(m, t);
    if (from == to) return cast(s, t, lane(s, v, k));
    return from < to ? put_together(s, v, t, k) : take_apart(s, v, t, k);
}

/* ------------------------------------------------------------------------------------------- walk */

static void split_phi(scalarizer *s, ir_inst *i, ir_inst **out) {
    ir_inst *none = ir_undef(s->f, ir_elem(i->type));
    for (unsigned k = 0; k < ir_lanes(i->type); k++) {
        out[k] = ir_build_phi(i->block, ir_elem(i->type));
        for (unsigned n = 0; n < i->nargs; n++) out[k] = ir_append_arg(out[k], none);
    }
    *ir_push(s->scratch, &s->phis) = i;
}

/* The lanes of a vector that is made here; false: it stays. */
static bool split_vector(scalarizer *s, ir_inst *i, ir_inst **out) {
    bool lanewise = ir_has_flag(i, F_LANEWISE) || i->op == IR_OP_select;
    switch (i->op) {
    case IR_OP_phi: split_phi(s, i, out); return true;
    case IR_OP_load: split_load(s, i, out); return true;
    case IR_OP_insert: split_insert(s, i, out); return true;
    case IR_OP_shuffle: split_shuffle(s, i, out); return true;
    case IR_OP_vec:
        for (unsigned k = 0; k < i->nargs; k++) out[k] = ir_arg(i, k);
        return true;
    case IR_OP_bitcast:
        for (unsigned k = 0; k < ir_lanes(i->type); k++) out[k] = cast_lane(s, i, k);
        return true;
    default:
        if (lanewise) split_lanewise(s, i, out);
        return lanewise;
    }
}

/* What asks for vectors and makes none; NULL: nothing to do. */
static ir_inst *scalar_result(scalarizer *s, const ir_inst *i) {
    if (!i->nargs || !ir_is_vector(ir_arg(i, 0)->type)) return NULL;
    switch (i->op) {
    case IR_OP_extract: return pick_lane(s, i);
    case IR_OP_any:
    case IR_OP_all: return reduce(s, i);
    case IR_OP_bitcast: return cast_lane(s, i, 0);
    default: return NULL;
    }
}

static void split(scalarizer *s, ir_inst *i) {
    ir_before(&s->b, i->op == IR_OP_phi ? ir_first_non_phi(i->block) : i);
    s->b.loc = i->loc;
    if (i->op == IR_OP_store && ir_is_vector(ir_arg(i, 0)->type)) {
        split_store(s, i);
        ir_remove(i);
    } else if (ir_is_vector(i->type) && i->id < s->nlanes) {
        ir_inst **out = room_for(s, i->type);
        if (!split_vector(s, i, out)) return;
        s->lanes[i->id] = out;
        *ir_push(s->scratch, &s->dead) = i;
    } else {
        ir_inst *r = scalar_result(s, i);
        if (!r) return;
        ir_replace_uses(i, r);
        ir_remove(i);
    }
}

static void fill_phis(scalarizer *s) {
    for (uint32_t n = 0; n < s->phis.n; n++) {
        ir_inst *phi = s->phis.data[n], **lanes = s->lanes[phi->id];
        for (unsigned from = 0; from < phi->nargs; from++) {
            ir_before(&s->b, phi->block->pred[from]->last);
            ir_inst **in = lanes_of(s, ir_arg(phi, from));
            for (unsigned k = 0; k < ir_lanes(phi->type); k++) ir_set_arg(lanes[k], from, in[k]);
            ir_set_arg(phi, from, ir_undef(s->f, phi->type));
        }
    }
}

/* Vectors that something still asks for, as a call does, are put together again. */
static void drop_vectors(scalarizer *s) {
    for (uint32_t n = s->dead.n; n-- > 0;) {
        ir_inst *i = s->dead.data[n];
        if (i->uses) {
            ir_before(&s->b, i->op == IR_OP_phi ? ir_first_non_phi(i->block) : i->next);
            ir_replace_uses(i, ir_build(&s->b, IR_OP_vec, i->type, 0, (ir_imm){0},
                                        ir_lanes(i->type), s->lanes[i->id]));
        }
        ir_remove(i);
    }
}

static bool has_vectors(const ir_func *f) {
    foreach_block (b, f) {
        foreach_inst (i, b) {
            if (ir_is_vector(i->type)) return true;
            if (i->nargs && ir_is_vector(ir_arg(i, 0)->type)) return true;
        }
    }
    return false;
}

/* Does: replaces vector values by scalars, one per lane; loads and stores go lane by lane.
 * Needs: nothing.
 * Leaves: vectors as parameters, results of functions, and operands of calls.
 * Gives up when: never. */
bool pass_scalarize(ir_func *f, pass_ctx *cx) {
    if (!has_vectors(f)) return false;
    ir_remove_unreachable(f);
    scalarizer s = {.f = f, .scratch = cx->scratch, .nlanes = f->next_id};
    const ir_dom *dom = ir_dominators(f);
    s.lanes = ir_new_array(s.scratch, ir_inst **, s.nlanes);
    ir_builder_init(&s.b, f);
    for (uint32_t n = 0; n < dom->order.n; n++)
        foreach_inst (i, dom->order.rpo[n]) split(&s, i);
    fill_phis(&s);
    drop_vectors(&s);
    return true;
}
