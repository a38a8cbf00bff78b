/* group.c — what the work-items of a work-group do together.
 *
 * A block has up to 32 warps.  Each scans its values by shuffles, the last of its threads leaves
 * their sum in shared memory, and after a barrier every thread adds up what it needs of those.
 * Another barrier lets the memory be used again.
 */
#include "codegen/ptx/ptx.h"

enum { SLOT = PTX_GROUP_BYTES / 32 };

static const char *new_word(ptx_func *fn) { return ptx_temporary(fn, PTX_B32); }

static void wait(ptx_func *fn) { ptx_put(fn, "bar.sync 0"); }

/* ---------------------------------------------------------------------------------------- votes */

static void write_vote(ptx_func *fn, const ir_inst *i) {
    const char *mine = ptx_register(fn, ir_arg(i, 0), 0);
    ptx_put(fn, "bar.red.%s.pred %s, 0, %s", i->op == IR_OP_group_all ? "and" : "or",
            ptx_result(fn, i, 0), mine);
}

/* ----------------------------------------------------------------------------------- broadcasts */

/* The number that a local id, of one to three dimensions, has in the group. */
static const char *number_of(ptx_func *fn, const ir_inst *id) {
    const char *n = "0";
    static const char *const sizes[] = {"ntid.x", "ntid.y", "ntid.z"};
    for (unsigned d = ir_lanes(id->type); d-- > 0;) {
        const char *r = new_word(fn), *at = ptx_amount(fn, id, d, INT32_MAX);
        ptx_put(fn, "mad.lo.s32 %s, %s, %s, %s", r, n, ptx_special(fn, sizes[d]), at);
        n = r;
    }
    return n;
}

static const char *group_memory(ptx_func *fn) {
    const char *r = new_word(fn);
    fn->w->has_group_memory = true;
    ptx_put(fn, "mov.u32 %s, $group", r);
    return r;
}

static void write_broadcast(ptx_func *fn, const ir_inst *i) {
    const char *memory = group_memory(fn), *is_it = ptx_temporary(fn, PTX_PRED);
    const char *wanted = number_of(fn, ir_arg(i, 1));
    ptx_put(fn, "setp.eq.u32 %s, %s, %s", is_it, ptx_local_linear_id(fn), wanted);
    for (unsigned lane = 0; lane < ir_lanes(i->type); lane++) {
        ptx_carried x = ptx_carry(fn, ir_arg(i, 0), lane, false), y = ptx_carried_like(fn, x);
        const char *type = ptx_class_type(x.class);
        ptx_put(fn, "@%s st.shared.%s [%s], %s", is_it, type, memory, x.r);
        wait(fn);
        ptx_put(fn, "ld.shared.%s %s, [%s]", type, y.r, memory);
        wait(fn);
        ptx_deliver(fn, i, lane, y);
    }
}

/* ------------------------------------------------------------------------- reductions and scans */

/* Each warp's sum is in its slot. */
static void leave_sums(ptx_func *fn, ptx_carried sum, const char *memory) {
    const char *last = new_word(fn), *is_last = ptx_temporary(fn, PTX_PRED), *slot = new_word(fn);
    ptx_put(fn, "sub.s32 %s, %s, 1", last, ptx_warp_size(fn));
    ptx_put(fn, "setp.eq.u32 %s, %s, %s", is_last, ptx_special(fn, "laneid"), last);
    ptx_put(fn, "mad.lo.s32 %s, %s, %u, %s", slot, ptx_warp_number(fn), SLOT, memory);
    ptx_put(fn, "@%s st.shared.%s [%s], %s", is_last, ptx_class_type(sum.class), slot, sum.r);
    wait(fn);
}

/* The sum of the first `n` slots. */
static ptx_carried sum_of_slots(ptx_func *fn, ir_op op, ptx_carried x, const char *memory,
                                const char *n) {
    ptx_carried sum = ptx_carried_like(fn, x), y = ptx_carried_like(fn, x);
    ptx_class c = x.class;
    const char *again = ptx_new_label(fn), *end = ptx_new_label(fn);
    const char *at = new_word(fn), *stop = new_word(fn), *done = ptx_temporary(fn, PTX_PRED);
    ptx_move(fn, c, sum.r, ptx_identity(fn, op, x));
    ptx_move(fn, PTX_B32, at, memory);
    ptx_put(fn, "mad.lo.s32 %s, %s, %u, %s", stop, n, SLOT, memory);
    ptx_label(fn, again);
    ptx_put(fn, "setp.ge.u32 %s, %s, %s", done, at, stop);
    ptx_put(fn, "@%s bra %s", done, end);
    ptx_put(fn, "ld.shared.%s %s, [%s]", ptx_class_type(c), y.r, at);
    ptx_combine(fn, op, sum, sum, y);
    ptx_put(fn, "add.s32 %s, %s, %u", at, at, SLOT);
    ptx_put(fn, "bra %s", again);
    ptx_label(fn, end);
    return sum;
}

static ptx_carried scan(ptx_func *fn, const ir_inst *i, ptx_carried x) {
    const char *memory = group_memory(fn), *members = ptx_members(fn);
    bool reduces = i->imm.group.op == IR_GROUP_REDUCE;
    ptx_carried own = ptx_scan_warp(fn, i->op, x, members), both = ptx_carried_like(fn, x);
    leave_sums(fn, own, memory);
    ptx_carried slots =
        sum_of_slots(fn, i->op, x, memory, reduces ? ptx_warps(fn) : ptx_warp_number(fn));
    wait(fn);
    if (reduces) return slots;
    if (i->imm.group.op == IR_GROUP_EXCLUSIVE) own = ptx_before(fn, i->op, own, members);
    ptx_combine(fn, i->op, both, slots, own);
    return both;
}

static void write_scan(ptx_func *fn, const ir_inst *i) {
    for (unsigned lane = 0; lane < ir_lanes(i->type); lane++) {
        ptx_carried x = ptx_carry_number(fn, ir_arg(i, 0), lane, ptx_is_signed(i->op));
        ptx_deliver(fn, i, lane, scan(fn, i, x));
    }
}

/* ------------------------------------------------------------------------- asynchronous copies */

/* Element number `n` of one side, `stride` elements apart. */
static const char *element(ptx_func *fn, const ir_inst *base, const char *n, const char *stride,
                           const char *size) {
    const char *far = ptx_temporary(fn, PTX_B64), *r = ptx_temporary(fn, PTX_B64);
    ptx_put(fn, "mul.lo.u64 %s, %s, %s", far, n, stride);
    ptx_put(fn, "mad.lo.u64 %s, %s, %s, %s", r, far, size, ptx_register(fn, base, 0));
    return r;
}

static const char *as_long(ptx_func *fn, const ir_inst *v) {
    if (ir_bits(fn->w->m, v->type) == 64) return ptx_register(fn, v, 0);
    const char *r = ptx_temporary(fn, PTX_B64);
    ptx_put(fn, "cvt.u64.u32 %s, %s", r, ptx_extended(fn, v, 0, false));
    return r;
}

static void copy_element(ptx_func *fn, const ir_inst *i, const char *to, const char *from) {
    const ir_inst *size = ir_arg(i, 5);
    const char *to_space = ptx_space_name(fn, ir_space_of(ir_arg(i, 0)->type));
    const char *from_space = ptx_space_name(fn, ir_space_of(ir_arg(i, 1)->type));
    if (!ir_is_const(size) || size->imm.bits > 256) ptx_refuse(fn, "async_copy of such elements");
    unsigned n = (unsigned)size->imm.bits, step = n & (0 - n) & 7 ? n & (0 - n) : 8;
    for (unsigned at = 0; at < n; at += step) {
        const char *r = ptx_temporary(fn, PTX_B64);
        ptx_put(fn, "ld%s.u%u %s, [%s+%u]", from_space, 8 * step, r, from, at);
        ptx_put(fn, "st%s.u%u [%s+%u], %s", to_space, 8 * step, to, at, r);
    }
}

/* Each work-item copies its part at once; the event says nothing. */
static void write_copy(ptx_func *fn, const ir_inst *i) {
    const ir_inst *to = ir_arg(i, 0), *from = ir_arg(i, 1);
    bool to_global = ir_space_of(to->type) != IR_LOCAL;
    const char *n = ptx_temporary(fn, PTX_B64), *step = ptx_temporary(fn, PTX_B64);
    const char *again = ptx_new_label(fn), *end = ptx_new_label(fn);
    const char *done = ptx_temporary(fn, PTX_PRED), *count = as_long(fn, ir_arg(i, 2));
    const char *stride = as_long(fn, ir_arg(i, 3)), *size = as_long(fn, ir_arg(i, 5));
    ptx_put(fn, "cvt.u64.u32 %s, %s", n, ptx_local_linear_id(fn));
    ptx_put(fn, "cvt.u64.u32 %s, %s", step, ptx_group_items(fn));
    ptx_label(fn, again);
    ptx_put(fn, "setp.ge.u64 %s, %s, %s", done, n, count);
    ptx_put(fn, "@%s bra %s", done, end);
    const char *source = element(fn, from, n, to_global ? "1" : stride, size);
    copy_element(fn, i, element(fn, to, n, to_global ? stride : "1", size), source);
    ptx_put(fn, "add.s64 %s, %s, %s", n, n, step);
    ptx_put(fn, "bra %s", again);
    ptx_label(fn, end);
    ptx_move(fn, ptx_class_of(fn->w->m, i->type), ptx_result(fn, i, 0), "0");
}

bool ptx_write_group(ptx_func *fn, const ir_inst *i) {
    bool together = i->op >= IR_OP_group_all && i->op <= IR_OP_wait_events;
    if (!together || i->imm.group.scope != IR_SCOPE_WORKGROUP) return false;
    switch (i->op) {
    case IR_OP_group_all:
    case IR_OP_group_any: write_vote(fn, i); return true;
    case IR_OP_group_broadcast: write_broadcast(fn, i); return true;
    case IR_OP_async_copy: write_copy(fn, i); return true;
    case IR_OP_wait_events: wait(fn); return true;
    default: break;
    }
    bool scans = (i->op >= IR_OP_group_add && i->op <= IR_OP_group_xor);
    if (scans) write_scan(fn, i);
    return scans;
}
