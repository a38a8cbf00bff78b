/* warp.c — reductions and scans of a sub-group, which is a warp.
 *
 *   redux        reductions of integers of up to 32 bits, and of the bits of any, where the
 *                processor has an instruction for them; it takes any set of threads
 *   butterflies  reductions of a whole warp or of its clusters: each thread combines its sum with
 *                that of the thread whose number differs in one bit
 *   shuffles     scans of all threads that the warp has (Hillis 1986); a reduction is what the last
 *                one gets
 *   one by one   what only some of the threads reach
 *
 * Whether all threads have reached an operation that need not be reached by all is decided when it
 * runs.
 */
#include "codegen/ptx/ptx.h"

static const char *new_word(ptx_func *fn) { return ptx_temporary(fn, PTX_B32); }

static const char *const everyone = "0xFFFFFFFF";

/* ---------------------------------------------------------------------------------------- redux */

static bool is_reduction(const ir_inst *i) {
    return i->imm.group.op == IR_GROUP_REDUCE || i->imm.group.op == IR_GROUP_CLUSTERED;
}

static bool has_redux(const ptx_func *fn, const ir_inst *i, ptx_carried x) {
    if (fn->w->options->sm < 80 || !is_reduction(i)) return false;
    switch (i->op) {
    case IR_OP_group_and:
    case IR_OP_group_or:
    case IR_OP_group_xor: return true;
    case IR_OP_group_add:
    case IR_OP_group_umin:
    case IR_OP_group_umax:
    case IR_OP_group_smin:
    case IR_OP_group_smax: return x.class == PTX_B32;
    default: return false;
    }
}

static const char *redux_word(ptx_func *fn, const ir_inst *i, const char *word,
                              const char *members) {
    const char *r = new_word(fn);
    ptx_put(fn, "redux.sync.%s %s, %s, %s", ptx_operation_name(fn, i->op, PTX_B32), r, word,
            members);
    return r;
}

static ptx_carried redux(ptx_func *fn, const ir_inst *i, ptx_carried x, const char *members) {
    ptx_carried r = x;
    ptx_need(fn, 80, 70, "redux");
    if (x.class == PTX_B32) {
        r.r = redux_word(fn, i, x.r, members);
        return r;
    }
    const char *low = new_word(fn), *high = new_word(fn);
    r = ptx_carried_like(fn, x);
    ptx_put(fn, "mov.b64 {%s, %s}, %s", low, high, x.r);
    low = redux_word(fn, i, low, members);
    high = redux_word(fn, i, high, members);
    ptx_put(fn, "mov.b64 %s, {%s, %s}", r.r, low, high);
    return r;
}

/* ------------------------------------------------------------------------ all threads together */

static ptx_carried butterflies(ptx_func *fn, ir_op op, ptx_carried sum, unsigned size) {
    for (unsigned step = 1; step < size; step *= 2) {
        ptx_carried other = ptx_carried_like(fn, sum), both = ptx_carried_like(fn, sum);
        ptx_shuffle(fn, "bfly", other, sum, ir_sprintf(fn->w->arena, "%u, 31, %s", step, everyone));
        ptx_combine(fn, op, both, sum, other);
        sum = both;
    }
    return sum;
}

/* `members` are all threads of the warp, which may have fewer than 32. */
static ptx_carried scan(ptx_func *fn, const ir_inst *i, ptx_carried x, const char *members) {
    ptx_carried sum = ptx_scan_warp(fn, i->op, x, members), total = ptx_carried_like(fn, x);
    const char *last = new_word(fn);
    if (i->imm.group.op == IR_GROUP_INCLUSIVE) return sum;
    if (i->imm.group.op == IR_GROUP_EXCLUSIVE) return ptx_before(fn, i->op, sum, members);
    ptx_put(fn, "sub.s32 %s, %s, 1", last, ptx_warp_size(fn));
    ptx_shuffle(fn, "idx", total, sum, ptx_from_thread(fn, last, members));
    return total;
}

static ptx_carried collect_all(ptx_func *fn, const ir_inst *i, ptx_carried x) {
    unsigned size = i->imm.group.op == IR_GROUP_CLUSTERED ? 1u << i->imm.group.log_size : PTX_WARP;
    return is_reduction(i) ? butterflies(fn, i->op, x, size) : scan(fn, i, x, everyone);
}

/* -------------------------------------------------------------------------------- some of them */

/* Threads whose values this one collects: those before it, or of its cluster. */
static const char *collected(ptx_func *fn, const ir_inst *i, const char *members) {
    const char *r = new_word(fn), *mask = new_word(fn);
    unsigned log = i->imm.group.log_size;
    if (i->imm.group.op == IR_GROUP_REDUCE) return members;
    if (i->imm.group.op == IR_GROUP_CLUSTERED) {
        ptx_put(fn, "shr.u32 %s, %s, %u", r, ptx_special(fn, "laneid"), log);
        ptx_put(fn, "shl.b32 %s, %s, %u", r, r, log);
        ptx_put(fn, "mov.u32 %s, %u", mask, log >= 5 ? UINT32_MAX : (1u << (1u << log)) - 1);
        ptx_put(fn, "shl.b32 %s, %s, %s", mask, mask, r);
    } else {
        mask = ptx_scanned(fn, i);
    }
    ptx_put(fn, "and.b32 %s, %s, %s", r, mask, members);
    return r;
}

/* One thread after the other: all that take part go through the same loop. */
static void collect_one_by_one(ptx_func *fn, const ir_inst *i, ptx_carried x, const char *members,
                               ptx_carried sum) {
    const char *wanted = collected(fn, i, members);
    const char *left = new_word(fn), *bit = new_word(fn), *below = new_word(fn);
    const char *has = ptx_temporary(fn, PTX_PRED), *more = ptx_temporary(fn, PTX_PRED);
    const char *again = ptx_new_label(fn), *at;
    ptx_carried y = ptx_carried_like(fn, x), both = ptx_carried_like(fn, x);
    ptx_move(fn, x.class, sum.r, ptx_identity(fn, i->op, x));
    ptx_move(fn, PTX_B32, left, members);
    ptx_label(fn, again);
    at = ptx_lowest_bit(fn, left);
    ptx_shuffle(fn, "idx", y, x, ptx_from_thread(fn, at, members));
    ptx_put(fn, "shr.u32 %s, %s, %s", bit, wanted, at);
    ptx_put(fn, "and.b32 %s, %s, 1", bit, bit);
    ptx_put(fn, "setp.ne.s32 %s, %s, 0", has, bit);
    ptx_combine(fn, i->op, both, sum, y);
    ptx_put(fn, "selp.%s %s, %s, %s, %s", ptx_class_type(x.class), sum.r, both.r, sum.r, has);
    ptx_put(fn, "sub.s32 %s, %s, 1", below, left);
    ptx_put(fn, "and.b32 %s, %s, %s", left, left, below);
    ptx_put(fn, "setp.ne.s32 %s, %s, 0", more, left);
    ptx_put(fn, "@%s bra %s", more, again);
}

/* Those that have got here: all 32 threads, or some. */
static ptx_carried collect_present(ptx_func *fn, const ir_inst *i, ptx_carried x) {
    const char *members = ptx_members_of(fn, i), *fewer = ptx_temporary(fn, PTX_PRED);
    const char *some = ptx_new_label(fn), *end = ptx_new_label(fn);
    ptx_carried sum = ptx_carried_like(fn, x);
    ptx_put(fn, "setp.ne.s32 %s, %s, %s", fewer, members, everyone);
    ptx_put(fn, "@%s bra.uni %s", fewer, some);
    ptx_move(fn, x.class, sum.r, collect_all(fn, i, x).r);
    ptx_put(fn, "bra.uni %s", end);
    ptx_label(fn, some);
    collect_one_by_one(fn, i, x, members, sum);
    ptx_label(fn, end);
    return sum;
}

/* ------------------------------------------------------------------------------------------ all */

static ptx_carried collect(ptx_func *fn, const ir_inst *i, ptx_carried x) {
    if (has_redux(fn, i, x)) return redux(fn, i, x, collected(fn, i, ptx_members_of(fn, i)));
    if (!i->imm.group.uniform || i->imm.group.op == IR_GROUP_CLUSTERED)
        return collect_present(fn, i, x);
    return ptx_has_full_warps(fn) ? collect_all(fn, i, x) : scan(fn, i, x, ptx_members(fn));
}

void ptx_write_collection(ptx_func *fn, const ir_inst *i) {
    for (unsigned lane = 0; lane < ir_lanes(i->type); lane++) {
        ptx_carried x = ptx_carry_number(fn, ir_arg(i, 0), lane, ptx_is_signed(i->op));
        ptx_deliver(fn, i, lane, collect(fn, i, x));
    }
}
