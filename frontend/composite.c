/* composite.c — making and taking apart structs, arrays and vectors.
 *
 * A vector is one IR value, a struct or array a list of leaves; a path of indices may lead through
 * both.  A vector of one component is its scalar.
 */
#include "frontend/reader.h"

/* ----------------------------------------------------------------------------------- extraction */

/* The end of a path of literal indices: the leaf, its type, and the lane if the path names one. */
typedef struct {
    spv_type *type;
    uint32_t leaf;
    spv_type *vector; /* that the path ends inside of; NULL: it ends at a leaf */
    uint32_t lane;    /* of the vector, where the path ends */
} path;

static path follow(reader *r, spv_type *t, uint32_t k) {
    path p = {.type = t};
    for (; k < r->in.n; k++) {
        uint32_t i = r->in.arg[k];
        if (!spv_is_aggregate(p.type) && p.type->form != T_VECTOR)
            spv_fail(r, "%s: %s has no members", spv_op_name(r), spv_type_name(r, p.type));
        if (i >= p.type->count)
            spv_fail(r, "%s: index %u is out of range for %s", spv_op_name(r), i,
                     spv_type_name(r, p.type));
        if (p.type->form == T_VECTOR) {
            p.vector = p.type;
            p.lane = i;
        } else {
            p.leaf += spv_member_leaf(p.type, i);
        }
        p.type = spv_member(r, p.type, i);
    }
    return p;
}

static ir_inst *take_lane(reader *r, ir_inst *v, uint32_t lane) {
    return ir_is_vector(v->type) ? ir_build_extract(&r->b, v, lane) : v;
}

/* The members of an aggregate inside an aggregate: a view into its leaves or its memory. */
static spv_parts *view(reader *r, spv_type *whole, spv_type *t, uint32_t id, uint32_t leaf) {
    const spv_id *e = spv_find(r, id);
    spv_parts *v = ir_new(&r->scratch, spv_parts);
    if (e->kind == ID_PARTS && e->parts->pointer && t->leaves) {
        *v = *e->parts;
        v->part = NULL;
        v->offset += spv_find_leaf(r, whole, leaf).offset - spv_find_leaf(r, t, 0).offset;
        return v;
    }
    spv_parts *parts = spv_parts_new(r, t);
    for (uint32_t i = 0; i < t->leaves; i++) parts->part[i] = spv_leaf(r, id, leaf + i);
    return parts;
}

/* A dimension that does not exist, which producers write as a component. */
static bool extract_far_dimension(reader *r, const spv_type *whole) {
    if (whole->form != T_VECTOR || r->in.n != 2 || r->in.arg[1] < whole->count) return false;
    ir_inst *index = ir_const(r->b.f, IR_I32, r->in.arg[1]);
    ir_inst *component = spv_builtin_component(r, spv_arg(r, 0), index);
    if (component) spv_define_checked(r, component);
    return component;
}

void spv_read_composite_extract(reader *r) {
    spv_type *whole = spv_value_type(r, spv_arg_type(r, 0));
    if (extract_far_dimension(r, whole)) return;
    path p = follow(r, whole, 1);
    if (!spv_same_type(p.type, spv_value_type(r, r->in.type)))
        spv_fail(r, "OpCompositeExtract: the part has type %s, want %s", spv_type_name(r, p.type),
                 spv_type_name(r, r->in.type));
    if (spv_is_aggregate(p.type)) {
        spv_define_parts(r, view(r, whole, p.type, r->in.arg[0], p.leaf));
        return;
    }
    ir_inst *v = spv_leaf(r, r->in.arg[0], p.leaf);
    spv_define(r, p.vector ? take_lane(r, v, p.lane) : v);
}

void spv_read_copy_object(reader *r) {
    spv_id *from = spv_find(r, r->in.arg[0]), *to = spv_find(r, r->in.id);
    spv_type *t = spv_arg_type(r, 0);
    bool same = spv_same_type(t, spv_value_type(r, r->in.type));
    if (spv_is_wider(t, r->in.type)) {
        spv_define(r, spv_arg_low(r, 0, r->in.type));
        return;
    }
    if (!same && !(r->in.opcode == SPV_OP_CopyLogical && t->leaves == r->in.type->leaves))
        spv_bad_type(r, 0, spv_type_name(r, r->in.type));
    if (!spv_is_aggregate(t) && from->kind != ID_BUILTIN) {
        spv_define_checked(r, spv_arg(r, 0));
    } else if (from->kind == ID_PARTS || from->kind == ID_BUILTIN) {
        to->kind = from->kind;
        to->parts = from->parts;
        if (from->kind == ID_BUILTIN) to->pointer = from->pointer;
    } else {
        spv_define_parts(r, spv_parts_of(r, r->in.arg[0]));
    }
}

/* --------------------------------------------------------------------------------- construction */

/* Appends the lanes of a scalar or vector. */
static uint32_t add_lanes(reader *r, ir_inst **lane, uint32_t n, uint32_t room, ir_inst *v) {
    uint32_t lanes = ir_lanes(v->type);
    if (n + lanes > room) spv_fail(r, "%s: more components than the vector has", spv_op_name(r));
    for (uint32_t i = 0; i < lanes; i++) lane[n + i] = take_lane(r, v, i);
    return n + lanes;
}

/* Operand k, a scalar or vector, whose components become some of the vector's. */
static ir_inst *low_lanes(reader *r, uint32_t k, const spv_type *vector) {
    ir_inst *v = spv_arg(r, k);
    spv_type part = *vector->elem;
    part.value = ir_with_elem(v->type, part.value);
    return spv_low_value(r, r->in.arg[k], &part);
}

static void construct_vector(reader *r, const spv_type *t) {
    ir_inst *lane[IR_MAX_LANES];
    uint32_t n = 0;
    spv_charge(r, t->count);
    for (uint32_t k = 0; k < r->in.n; k++) {
        ir_inst *v = low_lanes(r, k, t);
        if (ir_elem(v->type) != ir_elem(t->value)) spv_bad_type(r, k, spv_type_name(r, t->elem));
        n = add_lanes(r, lane, n, t->count, v);
    }
    if (n != t->count)
        spv_fail(r, "%s: %u components for a vector of %u", spv_op_name(r), n, t->count);
    if (n == 1)
        spv_define(r, lane[0]);
    else
        spv_define(r, ir_build_vec(&r->b, t->value, lane));
}

static void put_member(reader *r, spv_parts *p, uint32_t leaf, uint32_t id, const spv_type *t) {
    if (!spv_is_aggregate(t)) {
        p->part[leaf] = spv_low_value(r, id, t);
        return;
    }
    for (uint32_t i = 0; i < t->leaves; i++) p->part[leaf + i] = spv_leaf(r, id, i);
}

void spv_read_composite_construct(reader *r) {
    spv_type *t = spv_value_type(r, r->in.type);
    if (t->form == T_VECTOR) {
        construct_vector(r, t);
        return;
    }
    if (!spv_is_aggregate(t))
        spv_fail(r, "%s: %s has no members", spv_op_name(r), spv_type_name(r, t));
    if (r->in.n != t->count)
        spv_fail(r, "%s: %u members for a type of %u", spv_op_name(r), r->in.n, t->count);
    spv_parts *p = spv_parts_new(r, t);
    for (uint32_t k = 0; k < r->in.n; k++) {
        const spv_type *member = spv_member(r, t, k);
        if (!spv_fits(r, k, member)) spv_bad_type(r, k, spv_type_name(r, member));
        put_member(r, p, spv_member_leaf(t, k), r->in.arg[k], member);
    }
    spv_define_parts(r, p);
}

static ir_inst *put_lane(reader *r, ir_inst *v, ir_inst *s, uint32_t lane) {
    return ir_is_vector(v->type) ? ir_build_insert(&r->b, v, s, lane) : s;
}

void spv_read_composite_insert(reader *r) {
    spv_type *t = spv_value_type(r, r->in.type);
    if (!spv_same_type(spv_arg_type(r, 1), t)) spv_bad_type(r, 1, spv_type_name(r, t));
    path p = follow(r, t, 2);
    if (!spv_fits(r, 0, p.type)) spv_bad_type(r, 0, spv_type_name(r, p.type));
    if (!spv_is_aggregate(t)) {
        ir_inst *s = spv_low_value(r, r->in.arg[0], p.type);
        spv_define(r, p.vector ? put_lane(r, spv_arg(r, 1), s, p.lane) : s);
        return;
    }
    const spv_parts *old = spv_parts_of(r, r->in.arg[1]);
    spv_parts *made = spv_parts_new(r, t);
    for (uint32_t i = 0; i < t->leaves; i++) made->part[i] = old->part[i];
    if (p.vector)
        made->part[p.leaf] =
            put_lane(r, old->part[p.leaf], spv_low_value(r, r->in.arg[0], p.type), p.lane);
    else
        put_member(r, made, p.leaf, r->in.arg[0], p.type);
    spv_define_parts(r, made);
}

/* -------------------------------------------------------------------------------------- vectors */

ir_inst *spv_lane(reader *r, ir_inst *v, ir_inst *index) {
    if (ir_is_const(index) && index->imm.bits >= ir_lanes(v->type))
        return ir_undef(r->b.f, ir_elem(v->type));
    return spv_op2(r, IR_OP_extract, ir_elem(v->type), v, index);
}

void spv_read_vector_extract_dynamic(reader *r) {
    ir_inst *v = spv_arg(r, 0), *i = spv_arg_i32(r, 1);
    if (spv_arg_type(r, 0)->form != T_VECTOR) spv_bad_type(r, 0, "a vector");
    ir_inst *component = spv_builtin_component(r, v, i);
    ir_inst *lane = ir_is_vector(v->type) ? spv_lane(r, v, i) : v;
    spv_define_checked(r, component ? component : lane);
}

void spv_read_vector_insert_dynamic(reader *r) {
    ir_inst *v = spv_arg(r, 0);
    const spv_type *t = spv_arg_type(r, 0);
    if (t->form != T_VECTOR) spv_bad_type(r, 0, "a vector");
    ir_inst *s = spv_arg_low(r, 1, t->elem), *i = spv_arg_i32(r, 2);
    bool outside = ir_is_const(i) && i->imm.bits >= ir_lanes(v->type);
    if (ir_is_vector(v->type) && !outside)
        v = ir_build(&r->b, IR_OP_insert, v->type, IR_PLAIN, IR_ARGS(v, s, i));
    spv_define_checked(r, ir_is_vector(v->type) ? v : s);
}

/* The lane that number i names in two vectors one after the other. */
static ir_inst *shuffled_lane(reader *r, ir_inst *x, ir_inst *y, uint32_t i) {
    uint32_t nx = ir_lanes(x->type), ny = ir_lanes(y->type);
    if (i == UINT32_MAX) return ir_undef(r->b.f, ir_elem(x->type));
    if (i >= nx + ny) spv_fail(r, "%s: component %u is out of range", spv_op_name(r), i);
    return i < nx ? take_lane(r, x, i) : take_lane(r, y, i - nx);
}

/* Vectors of different lengths, or of length 1: lane by lane. */
static void shuffle_lanes(reader *r, const spv_type *t, ir_inst *x, ir_inst *y) {
    ir_inst *lane[IR_MAX_LANES];
    for (uint32_t i = 0; i < t->count; i++) lane[i] = shuffled_lane(r, x, y, r->in.arg[2 + i]);
    if (t->count == 1)
        spv_define(r, lane[0]);
    else
        spv_define(r, ir_build_vec(&r->b, t->value, lane));
}

void spv_read_vector_shuffle(reader *r) {
    const spv_type *t = spv_value_type(r, r->in.type);
    uint8_t mask[IR_MAX_LANES];
    if (t->form != T_VECTOR || r->in.n - 2 != t->count)
        spv_fail(r, "%s: %u components for the type %s", spv_op_name(r), r->in.n - 2,
                 spv_type_name(r, t));
    ir_inst *x = low_lanes(r, 0, t), *y = low_lanes(r, 1, t);
    for (uint32_t k = 0; k < 2; k++)
        if (spv_arg_type(r, k)->form != T_VECTOR || ir_elem((k ? y : x)->type) != ir_elem(t->value))
            spv_bad_type(r, k,
                         ir_sprintf(&r->scratch, "a vector of %s", spv_type_name(r, t->elem)));
    if (x->type != y->type || !ir_is_vector(x->type) || t->count == 1) {
        shuffle_lanes(r, t, x, y);
        return;
    }
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t from = r->in.arg[2 + i];
        if (from != UINT32_MAX && from >= 2 * ir_lanes(x->type))
            spv_fail(r, "%s: component %u is out of range", spv_op_name(r), from);
        mask[i] = from == UINT32_MAX ? 255 : (uint8_t)from;
    }
    spv_define(r, ir_build_shuffle(&r->b, x, y, t->count, mask));
}
