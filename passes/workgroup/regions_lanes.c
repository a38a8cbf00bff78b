/* regions_lanes.c — what the items of a sub-group can compute alone: ids, masks of lanes, and
 * answers about ballots, of which each item has all bits.
 *
 * A sub-group has at most 32 items, so the first word of a ballot has the bits of all lanes.
 */
#include "passes/workgroup/regions_impl.h"

static ir_inst *word(ir_builder *b, uint64_t n) { return ir_const(b->f, IR_I32, n & UINT32_MAX); }

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

/* The bits of all lanes of this sub-group. */
static ir_inst *all_bits(pass_group_builder *g, const pass_item_ids *ids) {
    ir_builder *b = &g->subgroup;
    ir_inst *above = op(b, IR_OP_shl, pass_number(g, 1), ids->lanes);
    return pass_fit(b, op(b, IR_OP_sub, above, pass_number(g, 1)), IR_I32);
}

static ir_inst *own_bit(const pass_item_ids *ids, ir_builder *b) {
    return op(b, IR_OP_shl, word(b, 1), pass_fit(b, ids->lane, IR_I32));
}

static ir_inst *bits_below(const pass_item_ids *ids, ir_builder *b) {
    return op(b, IR_OP_sub, own_bit(ids, b), word(b, 1));
}

static ir_inst *inverse(ir_builder *b, ir_inst *bits) {
    return op(b, IR_OP_xor, bits, word(b, UINT32_MAX));
}

static ir_inst *related_bits(pass_group_builder *g, const pass_item_ids *ids, ir_builder *b,
                             unsigned relation) {
    ir_inst *own = own_bit(ids, b), *below = bits_below(ids, b);
    ir_inst *up_to = op(b, IR_OP_or, own, below), *all = all_bits(g, ids);
    switch (relation) {
    case 0: return own;
    case 1: return op(b, IR_OP_and, inverse(b, below), all);
    case 2: return op(b, IR_OP_and, inverse(b, up_to), all);
    case 3: return up_to;
    default: return below;
    }
}

ir_inst *pass_mask_of_lane(pass_group_builder *g, const pass_item_ids *ids, ir_builder *b,
                           unsigned relation) {
    ir_inst *none = ir_const(g->f, ir_vector(IR_I32, 4), 0);
    return ir_build_insert(b, none, related_bits(g, ids, b, relation), 0);
}

/* -------------------------------------------------------------------------------------- ballots */

ir_inst *pass_ballot_bit(ir_builder *b, ir_inst *ballot, ir_inst *index) {
    ir_inst *from = op(b, IR_OP_lshr, index, ir_const(b->f, index->type, 5));
    ir_inst *bit = op(b, IR_OP_and, index, ir_const(b->f, index->type, 31));
    from = ir_build2(b, IR_OP_extract, IR_I32, ballot, from);
    return ir_build1(b, IR_OP_trunc, IR_I1, op(b, IR_OP_lshr, from, pass_fit(b, bit, IR_I32)));
}

/* The bits of all lanes that a full sub-group has: smaller ones count and find bits there, too. */
static ir_inst *bits_of_full(const pass_group_builder *g, ir_builder *b) {
    return word(b, (UINT64_C(1) << g->shape->subgroup) - 1);
}

/* The bits of the lanes that a question is about. */
static ir_inst *asked_bits(pass_group_builder *g, const pass_item_ids *ids, ir_builder *b,
                           const ir_inst *question) {
    unsigned scan = question->op == IR_OP_group_ballot_count ? question->imm.group.op : 0;
    ir_inst *bits = ir_build_extract(b, ir_arg(question, 0), 0);
    ir_inst *lanes = scan == IR_GROUP_INCLUSIVE   ? related_bits(g, ids, b, 3)
                     : scan == IR_GROUP_EXCLUSIVE ? bits_below(ids, b)
                                                  : bits_of_full(g, b);
    return op(b, IR_OP_and, bits, lanes);
}

ir_inst *pass_ask_ballot(pass_group_builder *g, const pass_item_ids *ids, ir_builder *b,
                         const ir_inst *question) {
    ir_inst *n;
    switch (question->op) {
    case IR_OP_group_inverse_ballot:
        return pass_ballot_bit(b, ir_arg(question, 0), pass_fit(b, ids->lane, IR_I32));
    case IR_OP_group_ballot_bit:
        return pass_ballot_bit(b, ir_arg(question, 0), ir_arg(question, 1));
    case IR_OP_group_ballot_count:
        n = ir_build1(b, IR_OP_popcount, IR_I32, asked_bits(g, ids, b, question));
        break;
    case IR_OP_group_ballot_lsb:
        n = ir_build1(b, IR_OP_ctz, IR_I32, asked_bits(g, ids, b, question));
        break;
    case IR_OP_group_ballot_msb:
        n = ir_build1(b, IR_OP_clz, IR_I32, asked_bits(g, ids, b, question));
        n = op(b, IR_OP_sub, word(b, 31), n);
        break;
    default: return NULL;
    }
    return pass_fit(b, n, question->type);
}
