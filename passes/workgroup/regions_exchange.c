/* regions_exchange.c — operations at which the items of a sub-group meet, for the items.
 *
 *   %r = group_add %v subgroup reduce    becomes
 *       store %v, in[lane]               each item gives its operand
 *       barrier subgroup                 where they meet
 *       %r = load result                 a result that is the same for all, or
 *       %r = load out[lane]              one of its own
 *
 * What the sub-group computes at that place is added to the preheader of the region that begins
 * there (regions_meet.c).  `in` and `out` differ, since an item stores what it gives at the next
 * operation before others have read what they get from this one.  An item that asks for the value
 * of another one stores the number of that, too, unless it is known.  Operations of the whole group
 * are prepared in the same way, and the sub-group is left with one of its own.
 *
 * Each component of a vector has its place for all lanes.  Truth values are bytes in memory, and
 * addresses are numbers.
 */
#include "ir/interp.h"
#include "passes/workgroup/regions_impl.h"

typedef struct {
    pass_group_builder *g;
    const pass_item_ids *ids;
    ir_builder b;
} exchanger;

/* --------------------------------------------------------------------------------------- memory */

static ir_type type_in_memory(ir_type t) {
    if (ir_is_ptr(t)) return IR_I64;
    return ir_is_bool(t) ? ir_with_elem(t, IR_I8) : t;
}

static uint64_t bytes_of(const exchanger *c, ir_type t) {
    return ir_sizeof(c->g->f->module, ir_elem(t));
}

static ir_inst *to_memory(exchanger *c, ir_inst *v) {
    ir_type t = type_in_memory(v->type);
    if (t == v->type) return v;
    return ir_build1(&c->b, ir_is_ptr(v->type) ? IR_OP_ptrtoint : IR_OP_zext, t, v);
}

static ir_inst *from_memory(exchanger *c, ir_inst *v, ir_type t) {
    if (t == v->type) return v;
    return ir_build1(&c->b, ir_is_ptr(t) ? IR_OP_inttoptr : IR_OP_trunc, t, v);
}

static ir_inst *make_place(exchanger *c, ir_type t) {
    return pass_subgroup_storage(c->g, c->ids, bytes_of(c, t) * ir_lanes(t));
}

/* Component k of a lane. */
static ir_inst *address_of(exchanger *c, ir_inst *place, ir_type t, unsigned k, ir_inst *lane) {
    uint64_t bytes = bytes_of(c, t);
    ir_inst *first = ir_const(c->g->f, IR_I64, bytes * c->g->lanes * k);
    ir_inst *offset = pass_build_plain(&c->b, IR_OP_mul, lane, pass_number(c->g, bytes));
    return ir_build_ptradd(&c->b, ir_build_ptradd(&c->b, place, first, true), offset, true);
}

static void give(exchanger *c, ir_inst *v, ir_inst *place) {
    v = to_memory(c, v);
    for (unsigned k = 0; k < ir_lanes(v->type); k++) {
        ir_inst *part = ir_is_vector(v->type) ? ir_build_extract(&c->b, v, k) : v;
        ir_inst *at = address_of(c, place, v->type, k, c->ids->lane);
        ir_build_store(&c->b, part, at, (unsigned)bytes_of(c, v->type), pass_lane_flags(c->g));
    }
}

static ir_inst *take(exchanger *c, ir_inst *place, ir_type t, ir_inst *lane) {
    ir_type stored = type_in_memory(t);
    ir_inst *part[IR_MAX_LANES];
    for (unsigned k = 0; k < ir_lanes(t); k++) {
        ir_inst *at = address_of(c, place, stored, k, lane);
        part[k] = ir_build_load(&c->b, ir_elem(stored), at, (unsigned)bytes_of(c, stored),
                                pass_lane_flags(c->g));
    }
    ir_inst *all = ir_is_vector(t) ? ir_build_vec(&c->b, stored, part) : part[0];
    return from_memory(c, all, t);
}

/* ----------------------------------------------------------------------------------- operations */

static bool is_same_for_all(const ir_inst *i) {
    switch (i->op) {
    case IR_OP_group_all:
    case IR_OP_group_any:
    case IR_OP_group_all_equal:
    case IR_OP_group_broadcast_first:
    case IR_OP_group_ballot: return true;
    case IR_OP_group_broadcast: return pass_synchronizes(i);
    default: break;
    }
    bool combines = ir_combining_op((ir_op)i->op) != IR_OP_const;
    return combines && i->imm.group.op == IR_GROUP_REDUCE;
}

ir_type pass_number_type(const pass_group_builder *g, ir_type t) {
    static const ir_type types[] = {[1] = IR_I8, [2] = IR_I16, [4] = IR_I32, [8] = IR_I64};
    return types[ir_sizeof(g->f->module, ir_elem(t))];
}

ir_inst *pass_find_lane(ir_builder *b, const pass_exchange *x, ir_inst *lane, ir_inst *by) {
    ir_type t = lane->type;
    bool clustered = x->imm.group.op == IR_GROUP_CLUSTERED && x->imm.group.log_size < 6;
    uint64_t last = x->lanes - 1,
             size = clustered ? UINT64_C(1) << x->imm.group.log_size : x->lanes;
    switch (x->op) {
    case IR_OP_group_shuffle_xor: by = ir_build2(b, IR_OP_xor, t, lane, by); break;
    case IR_OP_group_shuffle_up: by = ir_build2(b, IR_OP_sub, t, lane, by); break;
    case IR_OP_group_shuffle_down: by = ir_build2(b, IR_OP_add, t, lane, by); break;
    case IR_OP_group_rotate:
        by = ir_build2(b, IR_OP_add, t, lane, by);
        by = ir_build2(b, IR_OP_xor, t, by, lane);
        by = ir_build2(b, IR_OP_and, t, by, ir_const(b->f, t, size - 1));
        by = ir_build2(b, IR_OP_xor, t, by, lane);
        break;
    default: break;
    }
    return ir_build2(b, IR_OP_and, t, by, ir_const(b->f, t, last));
}

static ir_inst *stand_in(exchanger *c, ir_type t, ir_inst *place) {
    return ir_build_raw(&c->b, IR_OP_load, t, ir_with_imm(ir_mem_imm(1, 0)), IR_ARGS(place));
}

static void synchronize(exchanger *c, pass_exchange *x, const ir_inst *i) {
    unsigned scope = pass_synchronizes(i) ? IR_SCOPE_WORKGROUP : IR_SCOPE_SUBGROUP;
    x->marker = ir_build_barrier(&c->b, scope, IR_SCOPE_ITEM, 0);
}

/* What the item gets, after the marker. */
static ir_inst *receive(exchanger *c, pass_exchange *x, const ir_inst *i) {
    if (i->op == IR_OP_group_elect) {
        x->result = stand_in(c, IR_I32, x->in);
        ir_inst *lane = ir_build1(&c->b, IR_OP_trunc, IR_I32, c->ids->lane);
        return ir_build2(&c->b, IR_OP_eq, IR_I1, x->result, lane);
    }
    if (is_same_for_all(i)) return x->result = stand_in(c, i->type, x->in);
    return take(c, x->out, i->type, c->ids->lane);
}

/* Which item's value this one takes. */
static void ask(exchanger *c, pass_exchange *x, ir_inst *by) {
    ir_type t = pass_number_type(c->g, x->type);
    x->by = by;
    if (ir_is_const(by)) return;
    x->from = make_place(c, t);
    by = pass_fit(&c->b, by, t);
    give(c, pass_find_lane(&c->b, x, pass_fit(&c->b, c->ids->lane, t), by), x->from);
}

static void replace(exchanger *c, ir_inst *i, pass_exchange *x) {
    ir_type t = i->nargs ? type_in_memory(ir_arg(i, 0)->type) : IR_I32;
    *x = (pass_exchange){
        .op = (ir_op)i->op, .imm = i->imm, .type = t, .lanes = c->g->lanes, .in = make_place(c, t)};
    ir_before(&c->b, i);
    if (i->nargs) give(c, ir_arg(i, 0), x->in);
    if (i->op == IR_OP_group_broadcast && pass_synchronizes(i)) {
        uint64_t bytes = (sizeof(uint64_t) + c->g->lanes - 1) / c->g->lanes;
        x->index = pass_subgroup_storage(c->g, c->ids, bytes);
        ir_build_store(&c->b, pass_find_source(&c->b, c->ids, i), x->index, sizeof(uint64_t), 0);
    } else if (i->nargs > 1)
        ask(c, x, ir_arg(i, 1));
    if (!is_same_for_all(i) && i->op != IR_OP_group_elect) x->out = make_place(c, t);
    synchronize(c, x, i);
    ir_inst *result = receive(c, x, i);
    ir_replace_uses(i, result);
    ir_remove(i);
}

void pass_find_exchanges(pass_group_builder *g, const pass_item_ids *ids, pass_exchanges *out) {
    exchanger c = {.g = g, .ids = ids};
    ir_vec(ir_inst *) list = {0};
    ir_builder_init(&c.b, g->f);
    foreach_block (b, g->f)
        foreach_inst (i, b)
            if (ir_info(i)->imm == I_GROUP) *ir_push(g->scratch, &list) = i;
    for (uint32_t k = 0; k < list.n; k++) replace(&c, list.data[k], ir_push(g->scratch, out));
}
