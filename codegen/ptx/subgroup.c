/* subgroup.c — what the work-items of a sub-group, which is a warp, do together: votes, ballots and
 * shuffles.  Reductions and scans are in warp.c.
 *
 * Operations that all items reach take those that the warp has; the others take those that are
 * there (activemask).
 */
#include "codegen/ptx/ptx.h"

static const char *new_word(ptx_func *fn) { return ptx_temporary(fn, PTX_B32); }

/* Each lane of operand 0 of thread number `at`. */
static void take_from(ptx_func *fn, const ir_inst *i, const char *at, const char *members) {
    for (unsigned lane = 0; lane < ir_lanes(i->type); lane++) {
        ptx_carried x = ptx_carry(fn, ir_arg(i, 0), lane, false), y = ptx_carried_like(fn, x);
        ptx_shuffle(fn, "idx", y, x, ptx_from_thread(fn, at, members));
        ptx_deliver(fn, i, lane, y);
    }
}

/* ---------------------------------------------------------------------------------------- votes */

static void write_vote(ptx_func *fn, const ir_inst *i) {
    const char *members = ptx_members_of(fn, i), *mine = ptx_register(fn, ir_arg(i, 0), 0);
    ptx_put(fn, "vote.sync.%s.pred %s, %s, %s", i->op == IR_OP_group_all ? "all" : "any",
            ptx_result(fn, i, 0), mine, members);
}

/* Are numbers of this lane the same for all members?  Floats are compared with those of the first
 * member: zeros of both signs are equal, and NaNs are not. */
static void compare_lane(ptx_func *fn, const ir_inst *v, unsigned lane, const char *members,
                         const char *same) {
    ptx_carried x = ptx_carry_number(fn, v, lane, false), y = ptx_carried_like(fn, x);
    if (x.class == PTX_B32 || x.class == PTX_B64) {
        ptx_put(fn, "match.all.sync.%s %s|%s, %s, %s", ptx_class_type(x.class),
                ptx_temporary(fn, PTX_B32), same, x.r, members);
        return;
    }
    const char *each = ptx_temporary(fn, PTX_PRED), *first = ptx_lowest_bit(fn, members);
    ptx_shuffle(fn, "idx", y, x, ptx_from_thread(fn, first, members));
    ptx_put(fn, "setp.%s %s, %s, %s", x.class == PTX_F64 ? "eq.f64" : "eq.f32", each, x.r, y.r);
    ptx_put(fn, "vote.sync.all.pred %s, %s, %s", same, each, members);
}

static void write_all_equal(ptx_func *fn, const ir_inst *i) {
    const ir_inst *v = ir_arg(i, 0);
    const char *members = ptx_members_of(fn, i), *all = ptx_result(fn, i, 0);
    compare_lane(fn, v, 0, members, all);
    for (unsigned lane = 1; lane < ir_lanes(v->type); lane++) {
        const char *same = ptx_temporary(fn, PTX_PRED);
        compare_lane(fn, v, lane, members, same);
        ptx_put(fn, "and.pred %s, %s, %s", all, all, same);
    }
}

static void write_elect(ptx_func *fn, const ir_inst *i) {
    const char *first = ptx_lowest_bit(fn, ptx_members_of(fn, i)),
               *lane = ptx_special(fn, "laneid");
    ptx_put(fn, "setp.eq.u32 %s, %s, %s", ptx_result(fn, i, 0), lane, first);
}

/* -------------------------------------------------------------------------------------- ballots */

static void clear_rest(ptx_func *fn, const ir_inst *i) {
    for (unsigned lane = 1; lane < ir_lanes(i->type); lane++)
        ptx_move(fn, PTX_B32, ptx_result(fn, i, lane), "0");
}

static void write_ballot(ptx_func *fn, const ir_inst *i) {
    const char *members = ptx_members_of(fn, i), *mine = ptx_register(fn, ir_arg(i, 0), 0);
    ptx_put(fn, "vote.sync.ballot.b32 %s, %s, %s", ptx_result(fn, i, 0), mine, members);
    clear_rest(fn, i);
}

/* Bit number `at` of a ballot. */
static void write_bit(ptx_func *fn, const ir_inst *i, const char *at) {
    const char *bit = new_word(fn);
    ptx_put(fn, "shr.u32 %s, %s, %s", bit, ptx_register(fn, ir_arg(i, 0), 0), at);
    ptx_test_bit(fn, ptx_result(fn, i, 0), bit);
}

/* A number of 32 bits as the result, an integer. */
static void give_number(ptx_func *fn, const ir_inst *i, const char *word) {
    if (ir_kind_of(i->type) == IR_I64)
        ptx_put(fn, "cvt.u64.u32 %s, %s", ptx_result(fn, i, 0), word);
    else
        ptx_move(fn, PTX_B32, ptx_result(fn, i, 0), word);
}

static void write_ballot_number(ptx_func *fn, const ir_inst *i) {
    const char *bits = new_word(fn), *n = new_word(fn);
    const char *mask = i->op == IR_OP_group_ballot_count ? ptx_scanned(fn, i) : ptx_members(fn);
    ptx_put(fn, "and.b32 %s, %s, %s", bits, ptx_register(fn, ir_arg(i, 0), 0), mask);
    if (i->op == IR_OP_group_ballot_count)
        ptx_put(fn, "popc.b32 %s, %s", n, bits);
    else if (i->op == IR_OP_group_ballot_msb)
        ptx_put(fn, "bfind.u32 %s, %s", n, bits);
    give_number(fn, i, i->op == IR_OP_group_ballot_lsb ? ptx_lowest_bit(fn, bits) : n);
}

static void write_mask(ptx_func *fn, const ir_inst *i) {
    static const char *const names[] = {"lanemask_eq", "lanemask_ge", "lanemask_gt", "lanemask_le",
                                        "lanemask_lt"};
    const char *all = ptx_special(fn, names[i->imm.bits < 5 ? i->imm.bits : 0]);
    const char *members = ptx_members(fn);
    ptx_put(fn, "and.b32 %s, %s, %s", ptx_result(fn, i, 0), all, members);
    clear_rest(fn, i);
}

/* ------------------------------------------------------------------------------------- shuffles */

static void write_shuffle(ptx_func *fn, const ir_inst *i, const char *mode, const char *last) {
    const char *members = ptx_members_of(fn, i), *by = ptx_amount(fn, ir_arg(i, 1), 0, 31);
    for (unsigned lane = 0; lane < ir_lanes(i->type); lane++) {
        ptx_carried x = ptx_carry(fn, ir_arg(i, 0), lane, false), y = ptx_carried_like(fn, x);
        ptx_shuffle(fn, mode, y, x, ir_sprintf(fn->w->arena, "%s, %s, %s", by, last, members));
        ptx_deliver(fn, i, lane, y);
    }
}

/* Around the end of the warp, or of a cluster of 2^log_size items. */
static void write_rotation(ptx_func *fn, const ir_inst *i) {
    bool clustered = i->imm.group.op == IR_GROUP_CLUSTERED;
    const char *size =
        clustered ? ir_sprintf(fn->w->arena, "%u", 1u << i->imm.group.log_size) : ptx_warp_size(fn);
    const char *lane = ptx_special(fn, "laneid"), *in = new_word(fn), *start = new_word(fn);
    ptx_put(fn, "rem.u32 %s, %s, %s", in, lane, size);
    ptx_put(fn, "sub.s32 %s, %s, %s", start, lane, in);
    ptx_put(fn, "add.s32 %s, %s, %s", in, in, ptx_extended(fn, ir_arg(i, 1), 0, false));
    ptx_put(fn, "rem.u32 %s, %s, %s", in, in, size);
    ptx_put(fn, "add.s32 %s, %s, %s", in, in, start);
    take_from(fn, i, in, ptx_members_of(fn, i));
}

/* ------------------------------------------------------------------------------------------ all */

static void write(ptx_func *fn, const ir_inst *i) {
    switch (i->op) {
    case IR_OP_group_all:
    case IR_OP_group_any: write_vote(fn, i); break;
    case IR_OP_group_all_equal: write_all_equal(fn, i); break;
    case IR_OP_group_elect: write_elect(fn, i); break;
    case IR_OP_group_broadcast: {
        const char *members = ptx_members_of(fn, i);
        take_from(fn, i, ptx_amount(fn, ir_arg(i, 1), 0, 31), members);
        break;
    }
    case IR_OP_group_broadcast_first: {
        const char *members = ptx_members_of(fn, i);
        take_from(fn, i, ptx_lowest_bit(fn, members), members);
        break;
    }
    case IR_OP_group_ballot: write_ballot(fn, i); break;
    case IR_OP_group_inverse_ballot: write_bit(fn, i, ptx_special(fn, "laneid")); break;
    case IR_OP_group_ballot_bit: write_bit(fn, i, ptx_amount(fn, ir_arg(i, 1), 0, 32)); break;
    case IR_OP_group_ballot_count:
    case IR_OP_group_ballot_lsb:
    case IR_OP_group_ballot_msb: write_ballot_number(fn, i); break;
    case IR_OP_group_shuffle: write_shuffle(fn, i, "idx", "31"); break;
    case IR_OP_group_shuffle_xor: write_shuffle(fn, i, "bfly", "31"); break;
    case IR_OP_group_shuffle_up: write_shuffle(fn, i, "up", "0"); break;
    case IR_OP_group_shuffle_down: write_shuffle(fn, i, "down", "31"); break;
    case IR_OP_group_rotate: write_rotation(fn, i); break;
    default: ptx_write_collection(fn, i); break;
    }
}

bool ptx_write_subgroup(ptx_func *fn, const ir_inst *i) {
    if (i->op == IR_OP_subgroup_mask) write_mask(fn, i);
    bool together = i->op >= IR_OP_group_all && i->op <= IR_OP_group_rotate;
    if (!together || i->imm.group.scope != IR_SCOPE_SUBGROUP) return i->op == IR_OP_subgroup_mask;
    write(fn, i);
    return true;
}
