/* collect.c — values that go from one work-item to another, and operations that collect them. */
#include "codegen/ptx/ptx.h"
#include "ir/eval.h"

#include <math.h>

/* ------------------------------------------------------------------------- on the way, and back */

ptx_carried ptx_new_carried(ptx_func *fn, ptx_class c) {
    return (ptx_carried){.class = c, .r = ptx_temporary(fn, c)};
}

ptx_carried ptx_carry(ptx_func *fn, const ir_inst *v, unsigned lane, bool is_signed) {
    ptx_class c = ptx_class_of(fn->w->m, ir_elem(v->type));
    bool is_half = c == PTX_B16, is_word = c == PTX_PRED || c == PTX_B32;
    ptx_carried x = ptx_new_carried(fn, is_half || is_word ? PTX_B32 : c);
    x.width = ir_bits(fn->w->m, ir_elem(v->type));
    if (is_half)
        ptx_put(fn, "cvt.u32.u16 %s, %s", x.r, ptx_register(fn, v, lane));
    else
        ptx_move(fn, x.class, x.r,
                 is_word ? ptx_extended(fn, v, lane, is_signed) : ptx_register(fn, v, lane));
    return x;
}

ptx_carried ptx_carry_number(ptx_func *fn, const ir_inst *v, unsigned lane, bool is_signed) {
    ir_kind kind = ir_kind_of(ir_elem(v->type));
    if (kind == IR_BF16) ptx_refuse(fn, "bf16 in what items do together");
    if (kind != IR_F16) return ptx_carry(fn, v, lane, is_signed);
    ptx_carried x = ptx_new_carried(fn, PTX_F32);
    ptx_put(fn, "cvt.f32.f16 %s, %s", x.r, ptx_register(fn, v, lane));
    x.is_half = true;
    return x;
}

ptx_carried ptx_carried_like(ptx_func *fn, ptx_carried x) {
    x.r = ptx_temporary(fn, x.class);
    return x;
}

void ptx_deliver(ptx_func *fn, const ir_inst *i, unsigned lane, ptx_carried from) {
    const char *to = ptx_result(fn, i, lane);
    switch (ptx_class_of(fn->w->m, ir_elem(i->type))) {
    case PTX_PRED: ptx_test_bit(fn, to, from.r); break;
    case PTX_B16:
        ptx_put(fn, from.is_half ? "cvt.rn.f16.f32 %s, %s" : "cvt.u16.u32 %s, %s", to, from.r);
        break;
    default: ptx_move(fn, from.class, to, from.r); break;
    }
}

/* ----------------------------------------------------------------------------------- operations */

bool ptx_is_signed(ir_op op) { return op == IR_OP_group_smin || op == IR_OP_group_smax; }

/* The instruction without its type, and what comes before the width in that: "add." "s". */
typedef struct {
    const char *name, *kind;
} operation;

static operation operation_of(ir_op op) {
    switch (op) {
    case IR_OP_group_add: return (operation){"add", "s"};
    case IR_OP_group_mul: return (operation){"mul.lo", "s"};
    case IR_OP_group_umin: return (operation){"min", "u"};
    case IR_OP_group_umax: return (operation){"max", "u"};
    case IR_OP_group_smin: return (operation){"min", "s"};
    case IR_OP_group_smax: return (operation){"max", "s"};
    case IR_OP_group_and: return (operation){"and", "b"};
    case IR_OP_group_or: return (operation){"or", "b"};
    case IR_OP_group_xor: return (operation){"xor", "b"};
    case IR_OP_group_fadd: return (operation){"add.rn", "f"};
    case IR_OP_group_fmul: return (operation){"mul.rn", "f"};
    case IR_OP_group_fmin: return (operation){"min", "f"};
    case IR_OP_group_fmax: return (operation){"max", "f"};
    default: return (operation){NULL, NULL};
    }
}

static unsigned width_of(ptx_class c) { return c == PTX_B64 || c == PTX_F64 ? 64 : 32; }

const char *ptx_operation_name(ptx_func *fn, ir_op op, ptx_class c) {
    operation o = operation_of(op);
    return ir_sprintf(fn->w->arena, "%s.%s%u", o.name, o.kind, width_of(c));
}

void ptx_combine(ptx_func *fn, ir_op op, ptx_carried to, ptx_carried x, ptx_carried y) {
    ptx_put(fn, "%s %s, %s, %s", ptx_operation_name(fn, op, to.class), to.r, x.r, y.r);
    if (!x.is_half) return;
    const char *half = ptx_temporary(fn, PTX_B16);
    ptx_put(fn, "cvt.rn.f16.f32 %s, %s", half, to.r);
    ptx_put(fn, "cvt.f32.f16 %s, %s", to.r, half);
}

static uint64_t real_bits(ptx_class c, double value) {
    return ir_fp_from_double(c == PTX_F64 ? IR_F64 : IR_F32, value);
}

const char *ptx_identity(ptx_func *fn, ir_op op, ptx_carried like) {
    ptx_class c = like.class;
    uint64_t ones = ir_zext(UINT64_MAX, like.width), most = ones >> 1;
    switch (op) {
    case IR_OP_group_mul: return ptx_literal(fn, c, 1);
    case IR_OP_group_umin:
    case IR_OP_group_and: return ptx_literal(fn, c, ones);
    case IR_OP_group_smin: return ptx_literal(fn, c, most);
    case IR_OP_group_smax: return ptx_literal(fn, c, ~most);
    case IR_OP_group_fmul: return ptx_literal(fn, c, real_bits(c, 1));
    case IR_OP_group_fmin: return ptx_literal(fn, c, real_bits(c, HUGE_VAL));
    case IR_OP_group_fmax: return ptx_literal(fn, c, real_bits(c, -HUGE_VAL));
    default: return ptx_literal(fn, c, 0);
    }
}

/* ------------------------------------------------------------------------------ within a warp */

static void shuffle_word(ptx_func *fn, const char *mode, const char *to, const char *from,
                         const char *operands) {
    ptx_put(fn, "shfl.sync.%s.b32 %s, %s, %s", mode, to, from, operands);
}

void ptx_shuffle(ptx_func *fn, const char *mode, ptx_carried to, ptx_carried from,
                 const char *operands) {
    if (width_of(to.class) == 32) {
        shuffle_word(fn, mode, to.r, from.r, operands);
        return;
    }
    const char *low = ptx_temporary(fn, PTX_B32), *high = ptx_temporary(fn, PTX_B32);
    ptx_put(fn, "mov.b64 {%s, %s}, %s", low, high, from.r);
    shuffle_word(fn, mode, low, low, operands);
    shuffle_word(fn, mode, high, high, operands);
    ptx_put(fn, "mov.b64 %s, {%s, %s}", to.r, low, high);
}

const char *ptx_members(ptx_func *fn) {
    if (ptx_has_full_warps(fn)) return "0xFFFFFFFF";
    const char *rest = ptx_temporary(fn, PTX_B32), *all = ptx_temporary(fn, PTX_B32);
    const char *r = ptx_temporary(fn, PTX_B32);
    ptx_put(fn, "sub.s32 %s, 32, %s", rest, ptx_warp_size(fn));
    ptx_put(fn, "mov.u32 %s, 0xFFFFFFFF", all);
    ptx_put(fn, "shr.u32 %s, %s, %s", r, all, rest);
    return r;
}

const char *ptx_members_of(ptx_func *fn, const ir_inst *i) {
    if (i->imm.group.uniform) return ptx_members(fn);
    const char *r = ptx_temporary(fn, PTX_B32);
    ptx_need(fn, 70, 62, "activemask");
    ptx_put(fn, "activemask.b32 %s", r);
    return r;
}

const char *ptx_lowest_bit(ptx_func *fn, const char *bits) {
    const char *reversed = ptx_temporary(fn, PTX_B32), *r = ptx_temporary(fn, PTX_B32);
    ptx_put(fn, "brev.b32 %s, %s", reversed, bits);
    ptx_put(fn, "clz.b32 %s, %s", r, reversed);
    return r;
}

const char *ptx_from_thread(ptx_func *fn, const char *at, const char *members) {
    return ir_sprintf(fn->w->arena, "%s, 31, %s", at, members);
}

const char *ptx_scanned(ptx_func *fn, const ir_inst *i) {
    switch (i->imm.group.op) {
    case IR_GROUP_INCLUSIVE: return ptx_special(fn, "lanemask_le");
    case IR_GROUP_EXCLUSIVE: return ptx_special(fn, "lanemask_lt");
    default: return ptx_members(fn);
    }
}

ptx_carried ptx_scan_warp(ptx_func *fn, ir_op op, ptx_carried x, const char *members) {
    ptx_carried sum = ptx_carried_like(fn, x), before = ptx_carried_like(fn, x);
    const char *lane = ptx_special(fn, "laneid"), *has = ptx_temporary(fn, PTX_PRED);
    ptx_move(fn, x.class, sum.r, x.r);
    for (unsigned step = 1; step < 32; step *= 2) {
        ptx_carried both = ptx_carried_like(fn, x);
        ptx_shuffle(fn, "up", before, sum, ir_sprintf(fn->w->arena, "%u, 0, %s", step, members));
        ptx_combine(fn, op, both, before, sum);
        ptx_put(fn, "setp.ge.u32 %s, %s, %u", has, lane, step);
        ptx_put(fn, "selp.%s %s, %s, %s, %s", ptx_class_type(x.class), sum.r, both.r, sum.r, has);
    }
    return sum;
}

ptx_carried ptx_before(ptx_func *fn, ir_op op, ptx_carried sum, const char *members) {
    ptx_carried before = ptx_carried_like(fn, sum);
    const char *first = ptx_temporary(fn, PTX_PRED);
    ptx_shuffle(fn, "up", before, sum, ir_sprintf(fn->w->arena, "1, 0, %s", members));
    ptx_put(fn, "setp.eq.u32 %s, %s, 0", first, ptx_special(fn, "laneid"));
    ptx_put(fn, "selp.%s %s, %s, %s, %s", ptx_class_type(sum.class), before.r,
            ptx_identity(fn, op, sum), before.r, first);
    return before;
}
