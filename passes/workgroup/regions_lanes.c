/* regions_lanes.c — what the items of a sub-group can compute alone: ids, masks of lanes, and
 * answers about ballots, of which each item has all bits.
 *
 * A sub-group has at most 64 items.  The bits of its lanes are a number of 32 bits, or of 64 where
 * the lanes need them: the first words of a ballot, whose other words are 0.
 */
#include "passes/workgroup/regions_impl.h"

/* The type of the bits of lanes. */
static ir_type bits_type(const pass_group_builder *g) {
    return g->shape->subgroup > 32 ? IR_I64 : IR_I32;
}

static ir_inst *number(const pass_group_builder *g, uint64_t n) {
    ir_type t = bits_type(g);
    return ir_const(g->f, t, ir_zext(n, ir_bits(NULL, t)));
}

static ir_inst *op(ir_builder *b, ir_op code, ir_inst *x, ir_inst *y) {
    return ir_build2(b, code, x->type, x, y);
}

ir_inst *pass_fit(ir_builder *b, ir_inst *v, ir_type t) {
    if (v->type == t) return v;
    bool wider = ir_bits(NULL, v->type) < ir_bits(NULL, t);
    return ir_build1(b, wider ? IR_OP_zext : IR_OP_trunc, t, v);
}

ir_inst *pass_answer_lane(pass_group_builder *g, const pass_item_ids *ids, const ir_inst *query) {
    switch (query->op) {
    case IR_OP_subgroup_size: return ids->lanes;
    case IR_OP_subgroup_max_size: return pass_number(g, g->shape->subgroup);
    case IR_OP_num_subgroups: return ids->subgroups;
    case IR_OP_subgroup_id: return ids->subgroup;
    default: return ids->lane;
    }
}

/* ---------------------------------------------------------------------------------------- masks */

/* The bits of all lanes of this sub-group, which has one at least. */
static ir_inst *all_bits(pass_group_builder *g, const pass_item_ids *ids) {
    ir_builder *b = &g->subgroup;
    ir_inst *unused = op(b, IR_OP_sub, pass_number(g, 64), ids->lanes);
    return pass_fit(b, op(b, IR_OP_lshr, pass_number(g, UINT64_MAX), unused), bits_type(g));
}

static ir_inst *own_bit(pass_group_builder *g, const pass_item_ids *ids, ir_builder *b) {
    return op(b, IR_OP_shl, number(g, 1), pass_fit(b, ids->lane, bits_type(g)));
}

static ir_inst *bits_below(pass_group_builder *g, const pass_item_ids *ids, ir_builder *b) {
    return op(b, IR_OP_sub, own_bit(g, ids, b), number(g, 1));
}

static ir_inst *inverse(pass_group_builder *g, ir_builder *b, ir_inst *bits) {
    return op(b, IR_OP_xor, bits, number(g, UINT64_MAX));
}

static ir_inst *related_bits(pass_group_builder *g, const pass_item_ids *ids, ir_builder *b,
                             unsigned relation) {
    ir_inst *own = own_bit(g, ids, b), *below = bits_below(g, ids, b);
    ir_inst *up_to = op(b, IR_OP_or, own, below), *all = all_bits(g, ids);
    switch (relation) {
    case 0: return own;
    case 1: return op(b, IR_OP_and, inverse(g, b, below), all);
    case 2: return op(b, IR_OP_and, inverse(g, b, up_to), all);
    case 3: return up_to;
    default: return below;
    }
}

ir_inst *pass_mask_of_lane(pass_group_builder *g, const pass_item_ids *ids, ir_builder *b,
                           unsigned relation) {
    return pass_to_ballot(b, related_bits(g, ids, b, relation));
}

/* -------------------------------------------------------------------------------------- ballots */

ir_inst *pass_to_ballot(ir_builder *b, ir_inst *bits) {
    ir_inst *v = ir_const(b->f, ir_vector(IR_I32, 4), 0);
    v = ir_build_insert(b, v, pass_fit(b, bits, IR_I32), 0);
    if (bits->type == IR_I32) return v;
    ir_inst *upper = op(b, IR_OP_lshr, bits, ir_const(b->f, IR_I64, 32));
    return ir_build_insert(b, v, pass_fit(b, upper, IR_I32), 1);
}

static ir_inst *bits_of_ballot(const pass_group_builder *g, ir_builder *b, ir_inst *ballot) {
    ir_type t = bits_type(g);
    ir_inst *bits = pass_fit(b, ir_build_extract(b, ballot, 0), t);
    if (t == IR_I32) return bits;
    ir_inst *upper = pass_fit(b, ir_build_extract(b, ballot, 1), t);
    return op(b, IR_OP_or, bits, op(b, IR_OP_shl, upper, number(g, 32)));
}

ir_inst *pass_ballot_bit(ir_builder *b, ir_inst *ballot, ir_inst *index) {
    ir_inst *from = op(b, IR_OP_lshr, index, ir_const(b->f, index->type, 5));
    ir_inst *bit = op(b, IR_OP_and, index, ir_const(b->f, index->type, 31));
    from = ir_build2(b, IR_OP_extract, IR_I32, ballot, from);
    return ir_build1(b, IR_OP_trunc, IR_I1, op(b, IR_OP_lshr, from, pass_fit(b, bit, IR_I32)));
}

/* The bits of the lanes that a question is about: smaller sub-groups count and find bits where full
 * ones have lanes, too. */
static ir_inst *asked_bits(pass_group_builder *g, const pass_item_ids *ids, ir_builder *b,
                           const ir_inst *question) {
    unsigned scan = question->op == IR_OP_group_ballot_count ? question->imm.group.op : 0;
    ir_inst *bits = bits_of_ballot(g, b, ir_arg(question, 0));
    ir_inst *lanes = scan == IR_GROUP_INCLUSIVE ? related_bits(g, ids, b, 3)
                     : scan == IR_GROUP_EXCLUSIVE
                         ? bits_below(g, ids, b)
                         : number(g, ir_zext(UINT64_MAX, g->shape->subgroup));
    return op(b, IR_OP_and, bits, lanes);
}

ir_inst *pass_ask_ballot(pass_group_builder *g, const pass_item_ids *ids, ir_builder *b,
                         const ir_inst *question) {
    ir_type t = bits_type(g);
    ir_inst *n;
    switch (question->op) {
    case IR_OP_group_inverse_ballot:
        return pass_ballot_bit(b, ir_arg(question, 0), pass_fit(b, ids->lane, IR_I32));
    case IR_OP_group_ballot_bit:
        return pass_ballot_bit(b, ir_arg(question, 0), ir_arg(question, 1));
    case IR_OP_group_ballot_count:
        n = ir_build1(b, IR_OP_popcount, t, asked_bits(g, ids, b, question));
        break;
    case IR_OP_group_ballot_lsb:
        n = ir_build1(b, IR_OP_ctz, t, asked_bits(g, ids, b, question));
        break;
    case IR_OP_group_ballot_msb:
        n = ir_build1(b, IR_OP_clz, t, asked_bits(g, ids, b, question));
        n = op(b, IR_OP_sub, number(g, ir_bits(NULL, t) - 1), n);
        break;
    default: return NULL;
    }
    return pass_fit(b, n, question->type);
}
