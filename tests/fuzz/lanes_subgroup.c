/* lanes_subgroup.c — operations of sub-groups in random kernels: of all types, and anywhere in
 * control flow.
 *
 * Results are those of every correct device: what a shuffle takes from an item that is not there is
 * not used, sums and products of floats are exact, and of two zeros of floats none is the smaller.
 */
#include "tests/fuzz/lanes_impl.h"

static ir_imm imm_of(lanes *g, unsigned mode) {
    bool uniform = g->alike && lanes_byte(g) & 1;
    return (ir_imm){.group = {.scope = IR_SCOPE_SUBGROUP, .op = (uint8_t)mode, .uniform = uniform}};
}

static ir_inst *operation(lanes *g, ir_op op, ir_type t, ir_imm imm, ir_inst *x, ir_inst *y) {
    ir_inst *args[] = {x, y};
    return ir_build_raw(&g->b, op, t, ir_with_imm(imm), (ir_args){x ? y ? 2 : 1 : 0, args});
}

static ir_imm apart(void) { return (ir_imm){.group = {.scope = IR_SCOPE_SUBGROUP}}; }

static ir_inst *ballot(lanes *g, ir_inst *test) {
    return operation(g, IR_OP_group_ballot, ir_vector(IR_I32, 4), apart(), test, NULL);
}

static ir_inst *present(lanes *g) { return ballot(g, ir_const(g->f, IR_I1, 1)); }

static ir_inst *ask(lanes *g, ir_op op) { return ir_build_query(&g->b, op, IR_I32, 0); }

/* The log2 of the size of a cluster. */
static unsigned log_size(lanes *g) {
    return lanes_below(g, (unsigned)__builtin_ctz(g->k->subgroup) + 1);
}

/* -------------------------------------------------------------------------- reductions and scans */

/* Small numbers for floats, of which few are negative. */
static ir_inst *summand(lanes *g, ir_type t, bool product) {
    if (!ir_is_float(t)) return lanes_some(g, t);
    ir_inst *x = lanes_op(g, IR_OP_and, lanes_some(g, IR_I32), lanes_number(g, IR_I32, 7));
    if (product) x = lanes_op(g, IR_OP_udiv, x, lanes_number(g, IR_I32, 4));
    ir_imm imm = {.round = {.mode = IR_RTE}};
    x = lanes_op(g, product ? IR_OP_add : IR_OP_sub, x, lanes_number(g, IR_I32, product ? 1 : 2));
    ir_inst *v = ir_build(&g->b, IR_OP_sitofp, ir_elem(t), ir_with_imm(imm), IR_ARGS(x));
    return ir_is_vector(t) ? ir_build_splat(&g->b, v, ir_lanes(t)) : v;
}

static void reduce(lanes *g) {
    static const ir_op ops[] = {IR_OP_group_and,  IR_OP_group_or,   IR_OP_group_xor,
                                IR_OP_group_add,  IR_OP_group_umin, IR_OP_group_smin,
                                IR_OP_group_umax, IR_OP_group_smax, IR_OP_group_mul};
    static const ir_op float_ops[] = {IR_OP_group_fadd, IR_OP_group_fmin, IR_OP_group_fmax,
                                      IR_OP_group_fmul};
    ir_type t = lanes_any_type(g);
    ir_imm imm = imm_of(g, lanes_below(g, 4));
    ir_op op = ops[lanes_below(g, ir_is_bool(t) ? 3 : 9)];
    if (ir_is_float(t)) op = float_ops[lanes_below(g, ir_kind_of(t) == IR_F16 ? 3 : 4)];
    if (imm.group.op == IR_GROUP_CLUSTERED) {
        imm.group.uniform = 0;
        imm.group.log_size = (uint8_t)log_size(g);
    }
    lanes_put(g, operation(g, op, t, imm, summand(g, t, op == IR_OP_group_fmul), NULL));
}

/* ------------------------------------------------------------------------------ votes and ballots */

static void vote(lanes *g) {
    switch (lanes_below(g, 4)) {
    case 0: lanes_put(g, operation(g, IR_OP_group_elect, IR_I1, apart(), NULL, NULL)); break;
    case 1: {
        ir_inst *x = lanes_some(g, lanes_any_type(g));
        lanes_put(g, operation(g, IR_OP_group_all_equal, IR_I1, apart(), x, NULL));
        break;
    }
    case 2:
        lanes_put(g, operation(g, IR_OP_group_all, IR_I1, imm_of(g, 0), lanes_test(g), NULL));
        break;
    default: lanes_put(g, operation(g, IR_OP_group_any, IR_I1, imm_of(g, 0), lanes_test(g), NULL));
    }
}

static void ask_ballot(lanes *g) {
    static const ir_op ends[] = {IR_OP_group_ballot_lsb, IR_OP_group_ballot_msb};
    ir_inst *bits = ballot(g, lanes_test(g));
    ir_imm imm = apart();
    switch (lanes_below(g, 5)) {
    case 0:
        imm.group.op = (uint8_t)lanes_below(g, 3);
        lanes_put(g, operation(g, IR_OP_group_ballot_count, IR_I32, imm, bits, NULL));
        break;
    case 1: lanes_put(g, operation(g, IR_OP_group_inverse_ballot, IR_I1, imm, bits, NULL)); break;
    case 2: {
        ir_inst *k = lanes_op(g, IR_OP_and, lanes_some(g, IR_I32), lanes_number(g, IR_I32, 127));
        lanes_put(g, operation(g, IR_OP_group_ballot_bit, IR_I1, imm, bits, k));
        break;
    }
    case 3:
        lanes_put(g, operation(g, ends[lanes_below(g, 2)], IR_I32, imm, present(g), NULL));
        break;
    default: lanes_put(g, ir_build_extract(&g->b, bits, lanes_below(g, 4)));
    }
}

/* ------------------------------------------------------------------------ broadcasts and shuffles */

static void broadcast(lanes *g) {
    static const ir_op ends[] = {IR_OP_group_ballot_lsb, IR_OP_group_ballot_msb};
    ir_type t = lanes_any_type(g);
    ir_inst *x = lanes_some(g, t);
    if (lanes_byte(g) & 1) {
        lanes_put(g, operation(g, IR_OP_group_broadcast_first, t, apart(), x, NULL));
        return;
    }
    ir_inst *from = operation(g, ends[lanes_below(g, 2)], IR_I32, apart(), present(g), NULL);
    lanes_put(g, operation(g, IR_OP_group_broadcast, t, apart(), x, from));
}

/* What operand 1 of the operation says: known, the same for all, or one for each item. */
static ir_inst *distance(lanes *g, ir_op op) {
    unsigned how = lanes_below(g, op == IR_OP_group_rotate ? 2 : 3);
    if (how == 0) return lanes_number(g, IR_I32, lanes_below(g, 65));
    ir_inst *x = how == 1 ? g->u : lanes_some(g, IR_I32);
    return lanes_op(g, IR_OP_and, x, lanes_number(g, IR_I32, 63));
}

/* The item whose value comes. */
static ir_inst *source(lanes *g, ir_op op, ir_inst *by, unsigned size) {
    ir_inst *lane = ask(g, IR_OP_subgroup_local_id), *from;
    switch (op) {
    case IR_OP_group_shuffle: return by;
    case IR_OP_group_shuffle_xor: return lanes_op(g, IR_OP_xor, lane, by);
    case IR_OP_group_shuffle_up: return lanes_op(g, IR_OP_sub, lane, by);
    case IR_OP_group_shuffle_down: return lanes_op(g, IR_OP_add, lane, by);
    default: break;
    }
    from = lanes_op(g, IR_OP_xor, lanes_op(g, IR_OP_add, lane, by), lane);
    from = lanes_op(g, IR_OP_and, from, lanes_number(g, IR_I32, size - 1));
    return lanes_op(g, IR_OP_xor, from, lane);
}

/* The value of another item, if it is there. */
static void shuffle(lanes *g) {
    static const ir_op ops[] = {IR_OP_group_shuffle, IR_OP_group_shuffle_xor,
                                IR_OP_group_shuffle_up, IR_OP_group_shuffle_down,
                                IR_OP_group_rotate};
    ir_op op = ops[lanes_below(g, 5)];
    ir_imm imm = apart();
    unsigned size = g->k->subgroup;
    if (op == IR_OP_group_rotate && lanes_byte(g) & 1) {
        imm.group.op = IR_GROUP_CLUSTERED;
        imm.group.log_size = (uint8_t)log_size(g);
        size = 1u << imm.group.log_size;
    }
    ir_type t = lanes_any_type(g);
    ir_inst *x = lanes_some(g, t), *by = distance(g, op), *from = source(g, op, by, size);
    ir_inst *inside = ir_build2(&g->b, IR_OP_ult, IR_I1, from, lanes_number(g, IR_I32, 128));
    ir_inst *bit = lanes_op(g, IR_OP_and, from, lanes_number(g, IR_I32, 127));
    ir_inst *there = operation(g, IR_OP_group_ballot_bit, IR_I1, apart(), present(g), bit);
    ir_inst *other = operation(g, op, t, imm, x, by);
    lanes_put(g, ir_build_select(&g->b, lanes_op(g, IR_OP_and, there, inside), other, x));
}

/* ----------------------------------------------------------------------------------- statements */

void lanes_subgroup(lanes *g) {
    static const ir_op queries[] = {IR_OP_subgroup_size,     IR_OP_subgroup_max_size,
                                    IR_OP_num_subgroups,     IR_OP_subgroup_id,
                                    IR_OP_subgroup_local_id, IR_OP_enqueued_num_subgroups};
    g->k->spread = true;
    g->k->flow[LANES_MEETING] |= !g->alike;
    switch (lanes_below(g, 8)) {
    case 0: vote(g); break;
    case 1: ask_ballot(g); break;
    case 2: broadcast(g); break;
    case 3: lanes_put(g, ask(g, queries[lanes_below(g, 6)])); break;
    case 4:
    case 5: shuffle(g); break;
    default: reduce(g);
    }
}
