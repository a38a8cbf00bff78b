/* atomic.c — atomic operations, fences and barriers, also of all work-groups.
 *
 * OpenCL's orders are those of PTX (Lustig 2019): an operation that is sequentially consistent
 * follows a fence.sc, and acquires and releases.  Results that nothing uses are not read back
 * (red).  Minima and maxima of floats, and most updates of 16 bits, are loops around a
 * compare-and-swap.  Values of 8 bits can only be read and written.
 *
 * Work-groups wait for each other only where all of them run at once (option `together`), by a word
 * in global memory whose highest bit says that the last one has come.
 */
#include "codegen/ptx/ptx.h"

static const char *scope_name(unsigned scope) {
    switch (scope) {
    case IR_SCOPE_CROSS_DEVICE: return "sys";
    case IR_SCOPE_DEVICE: return "gpu";
    default: return "cta";
    }
}

enum { ACQUIRES = IR_SEM_ACQUIRE | IR_SEM_ACQ_REL | IR_SEM_SEQ_CST };
enum { RELEASES = IR_SEM_RELEASE | IR_SEM_ACQ_REL | IR_SEM_SEQ_CST };

static const char *order_name(unsigned semantics) {
    bool acquires = semantics & ACQUIRES, releases = semantics & RELEASES;
    return acquires && releases ? "acq_rel"
           : acquires           ? "acquire"
           : releases           ? "release"
                                : "relaxed";
}

static void write_fence(ptx_func *fn, unsigned scope, unsigned semantics) {
    if (!(semantics & (ACQUIRES | RELEASES))) return;
    ptx_put(fn, "fence.%s.%s", semantics & IR_SEM_SEQ_CST ? "sc" : "acq_rel", scope_name(scope));
}

/* OpenCL C 1.2 has no scopes, and some producers say that its operations are those of a work-group,
 * though others see the same memory. */
static unsigned scope_of(const ir_inst *i, ir_space space) {
    bool shared = space != IR_LOCAL && i->imm.sync.scope > IR_SCOPE_DEVICE;
    return shared ? IR_SCOPE_DEVICE : i->imm.sync.scope;
}

static void fence_before(ptx_func *fn, const ir_inst *i, const ir_inst *address) {
    if (i->imm.sync.semantics & IR_SEM_SEQ_CST)
        write_fence(fn, scope_of(i, ir_space_of(address->type)), i->imm.sync.semantics);
}

/* ".relaxed.gpu.global"; private memory needs no order. */
static const char *qualifiers(ptx_func *fn, const ir_inst *i, const ir_inst *address,
                              unsigned semantics) {
    ir_space space = ir_space_of(address->type);
    if (space == IR_PRIVATE) return ".local";
    return ir_sprintf(fn->w->arena, ".%s.%s%s", order_name(semantics),
                      scope_name(scope_of(i, space)), ptx_space_name(fn, space));
}

/* -------------------------------------------------------------------------- reading and writing */

/* "b32"; for numbers of fewer bits in a register of 32: "u16" or "u8". */
static const char *type_of(const ptx_func *fn, const ir_inst *v) {
    ptx_class c = ptx_class_of(fn->w->m, v->type);
    unsigned width = ir_bits(fn->w->m, v->type);
    if (c != PTX_B32 || width == 32) return ptx_class_type(c);
    return width == 16 ? "u16" : "u8";
}

static void write_load(ptx_func *fn, const ir_inst *i) {
    const ir_inst *address = ir_arg(i, 0);
    fence_before(fn, i, address);
    const char *at = ptx_place(fn, address, 0);
    ptx_put(fn, "ld%s.%s %s, %s",
            qualifiers(fn, i, address, i->imm.sync.semantics & ACQUIRES ? IR_SEM_ACQUIRE : 0),
            type_of(fn, i), ptx_result(fn, i, 0), at);
}

static void write_store(ptx_func *fn, const ir_inst *i) {
    const ir_inst *address = ir_arg(i, 0), *v = ir_arg(i, 1);
    fence_before(fn, i, address);
    const char *value = ptx_register(fn, v, 0);
    ptx_put(fn, "st%s.%s %s, %s",
            qualifiers(fn, i, address, i->imm.sync.semantics & RELEASES ? IR_SEM_RELEASE : 0),
            type_of(fn, v), ptx_place(fn, address, 0), value);
}

/* ----------------------------------------------------------------------- read, change and write */

/* Operation and kind of operand, "add.u"; NULL: there is none. */
static const char *operation_of(ir_op op) {
    switch (op) {
    case IR_OP_atomic_xchg: return "exch.b";
    case IR_OP_atomic_add:
    case IR_OP_atomic_sub: return "add.u";
    case IR_OP_atomic_and: return "and.b";
    case IR_OP_atomic_or: return "or.b";
    case IR_OP_atomic_xor: return "xor.b";
    case IR_OP_atomic_umin: return "min.u";
    case IR_OP_atomic_umax: return "max.u";
    case IR_OP_atomic_smin: return "min.s";
    case IR_OP_atomic_smax: return "max.s";
    case IR_OP_atomic_fadd: return "add.f";
    default: return NULL;
    }
}

static const char *negated(ptx_func *fn, const ir_inst *v) {
    ptx_class c = ptx_class_of(fn->w->m, v->type);
    const char *r = ptx_temporary(fn, c);
    ptx_put(fn, "neg.s%u %s, %s", c == PTX_B64 ? 64 : 32, r, ptx_register(fn, v, 0));
    return r;
}

static void check(const ptx_func *fn, const ir_inst *address, const ir_inst *v) {
    if (ir_space_of(address->type) == IR_PRIVATE)
        ptx_refuse(fn, "an atomic update of private memory");
    if (ir_bits(fn->w->m, v->type) < 16) ptx_refuse(fn, "an atomic update of 8 bits");
}

/* "add.noftz.bf16" */
static const char *operation_with_type(ptx_func *fn, const char *operation, const ir_inst *v) {
    const ir_kind kind = ir_kind_of(v->type);
    if (kind == IR_F16) ptx_need(fn, 70, 63, "an atomic sum of f16");
    if (kind == IR_F16) return "add.noftz.f16";
    if (kind == IR_BF16) ptx_need(fn, 90, 78, "an atomic sum of bf16");
    if (kind == IR_BF16) return "add.noftz.bf16";
    return ir_sprintf(fn->w->arena, "%s%u", operation, ir_bits(fn->w->m, v->type));
}

static void write_update(ptx_func *fn, const ir_inst *i, const char *operation) {
    const ir_inst *address = ir_arg(i, 0), *v = ir_arg(i, 1);
    const unsigned semantics = i->imm.sync.semantics;
    bool unused = !i->uses && i->op != IR_OP_atomic_xchg && !(semantics & ACQUIRES);
    const char *by = i->op == IR_OP_atomic_sub ? negated(fn, v) : ptx_register(fn, v, 0);
    const char *how = qualifiers(fn, i, address, semantics), *at = ptx_place(fn, address, 0);
    operation = operation_with_type(fn, operation, v);
    check(fn, address, v);
    fence_before(fn, i, ir_arg(i, 0));
    if (unused)
        ptx_put(fn, "red%s.%s %s, %s", how, operation, at, by);
    else
        ptx_put(fn, "atom%s.%s %s, %s, %s", how, operation, ptx_result(fn, i, 0), at, by);
}

/* The old value is in `result`. */
static void compare_and_swap(ptx_func *fn, const ir_inst *i, const char *result, const char *want,
                             const char *with) {
    const ir_inst *address = ir_arg(i, 0);
    ptx_put(fn, "atom%s.cas.b%u %s, %s, %s, %s", qualifiers(fn, i, address, i->imm.sync.semantics),
            ir_bits(fn->w->m, i->type), result, ptx_place(fn, address, 0), want, with);
}

/* A value of 16 bits in a register of as many, and back. */
static const char *short_register(ptx_func *fn, const ir_inst *v) {
    const char *r = ptx_register(fn, v, 0), *h;
    if (ptx_class_of(fn->w->m, v->type) == PTX_B16) return r;
    ptx_put(fn, "cvt.u16.u32 %s, %s", h = ptx_temporary(fn, PTX_B16), r);
    return h;
}

static void give_short(ptx_func *fn, const ir_inst *i, const char *h) {
    const char *to = ptx_result(fn, i, 0);
    bool is_half = ptx_class_of(fn->w->m, i->type) == PTX_B16;
    ptx_put(fn, is_half ? "mov.b16 %s, %s" : "cvt.u32.u16 %s, %s", to, h);
}

static void write_exchange_if_equal(ptx_func *fn, const ir_inst *i) {
    const ir_inst *with = ir_arg(i, 1), *want = ir_arg(i, 2);
    const bool is_short = ir_bits(fn->w->m, i->type) == 16;
    check(fn, ir_arg(i, 0), i);
    if (!is_short) {
        fence_before(fn, i, ir_arg(i, 0));
        const char *to = ptx_register(fn, with, 0), *from = ptx_register(fn, want, 0);
        compare_and_swap(fn, i, ptx_result(fn, i, 0), from, to);
        return;
    }
    const char *old = ptx_temporary(fn, PTX_B16), *from = short_register(fn, want);
    const char *to = short_register(fn, with);
    ptx_need(fn, 70, 63, "an atomic operation on 16 bits");
    fence_before(fn, i, ir_arg(i, 0));
    compare_and_swap(fn, i, old, from, to);
    give_short(fn, i, old);
}

/* ----------------------------------------------------------- loops around a compare-and-swap */

static bool is_least(ir_op op) { return op == IR_OP_atomic_fmin; }

/* "add.s32" of the operation on integers of 16 bits, which are extended. */
static const char *word_operation(ir_op op) {
    switch (op) {
    case IR_OP_atomic_add: return "add.s32";
    case IR_OP_atomic_sub: return "sub.s32";
    case IR_OP_atomic_and: return "and.b32";
    case IR_OP_atomic_or: return "or.b32";
    case IR_OP_atomic_xor: return "xor.b32";
    case IR_OP_atomic_umin: return "min.u32";
    case IR_OP_atomic_umax: return "max.u32";
    case IR_OP_atomic_smin: return "min.s32";
    default: return "max.s32";
    }
}

static void combine_words(ptx_func *fn, const ir_inst *i, const char *with, const char *old) {
    const bool is_signed = i->op == IR_OP_atomic_smin || i->op == IR_OP_atomic_smax;
    const char *word = ptx_temporary(fn, PTX_B32), *s = is_signed ? "s" : "u";
    ptx_put(fn, "cvt.%s32.%s16 %s, %s", s, s, word, old);
    ptx_put(fn, "%s %s, %s, %s", word_operation((ir_op)i->op), word, word,
            ptx_extended(fn, ir_arg(i, 1), 0, is_signed));
    ptx_put(fn, "cvt.u16.u32 %s, %s", with, word);
}

/* Minima and maxima of f16 before sm_80 are those of f32; a sum of bf16 is a product with 1 and a
 * sum. */
static void combine_halves(ptx_func *fn, const ir_inst *i, const char *with, const char *old) {
    const char *v = ptx_register(fn, ir_arg(i, 1), 0),
               *name = is_least((ir_op)i->op) ? "min" : "max";
    const bool is_brain = ir_kind_of(i->type) == IR_BF16;
    if (is_brain) ptx_need(fn, 80, 70, "an atomic operation on bf16");
    if (i->op == IR_OP_atomic_fadd) {
        const char *one = ptx_temporary(fn, PTX_B16);
        ptx_put(fn, "mov.b16 %s, 0x3F80", one);
        ptx_put(fn, "fma.rn.bf16 %s, %s, %s, %s", with, old, one, v);
    } else if (fn->w->options->sm >= 80) {
        ptx_need(fn, 80, 70, "a minimum of f16");
        ptx_put(fn, "%s.%s %s, %s, %s", name, is_brain ? "bf16" : "f16", with, old, v);
    } else {
        const char *x = ptx_temporary(fn, PTX_F32), *y = ptx_temporary(fn, PTX_F32);
        ptx_put(fn, "cvt.f32.f16 %s, %s", x, old);
        ptx_put(fn, "cvt.f32.f16 %s, %s", y, v);
        ptx_put(fn, "%s.f32 %s, %s, %s", name, x, x, y);
        ptx_put(fn, "cvt.rn.f16.f32 %s, %s", with, x);
    }
}

static void combine_floats(ptx_func *fn, const ir_inst *i, const char *with, const char *old) {
    const unsigned width = ir_bits(fn->w->m, i->type);
    const char *value = ptx_temporary(fn, width == 64 ? PTX_F64 : PTX_F32);
    ptx_put(fn, "mov.b%u %s, %s", width, value, old);
    ptx_put(fn, "%s.f%u %s, %s, %s", is_least((ir_op)i->op) ? "min" : "max", width, value, value,
            ptx_register(fn, ir_arg(i, 1), 0));
    ptx_put(fn, "mov.b%u %s, %s", width, with, value);
}

static void combine(ptx_func *fn, const ir_inst *i, const char *with, const char *old) {
    if (i->op == IR_OP_atomic_xchg)
        ptx_put(fn, "mov.b16 %s, %s", with, short_register(fn, ir_arg(i, 1)));
    else if (ir_bits(fn->w->m, i->type) > 16)
        combine_floats(fn, i, with, old);
    else if (ir_is_float(i->type))
        combine_halves(fn, i, with, old);
    else
        combine_words(fn, i, with, old);
}

static void write_loop(ptx_func *fn, const ir_inst *i) {
    const ir_inst *address = ir_arg(i, 0);
    const ir_space space = ir_space_of(address->type);
    unsigned width = ir_bits(fn->w->m, i->type);
    ptx_class bits = width == 64 ? PTX_B64 : width == 32 ? PTX_B32 : PTX_B16;
    const char *old = ptx_temporary(fn, bits), *seen = ptx_temporary(fn, bits);
    const char *with = ptx_temporary(fn, bits), *changed = ptx_temporary(fn, PTX_PRED);
    const char *again = ptx_new_label(fn);
    check(fn, address, i);
    if (width == 16) ptx_need(fn, 70, 63, "an atomic operation on 16 bits");
    fence_before(fn, i, address);
    ptx_put(fn, "ld.relaxed.%s%s.b%u %s, %s", scope_name(scope_of(i, space)),
            ptx_space_name(fn, space), width, seen, ptx_place(fn, address, 0));
    ptx_label(fn, again);
    ptx_put(fn, "mov.b%u %s, %s", width, old, seen);
    combine(fn, i, with, old);
    compare_and_swap(fn, i, seen, old, with);
    ptx_put(fn, "setp.ne.%s%u %s, %s, %s", width == 16 ? "b" : "s", width, changed, seen, old);
    ptx_put(fn, "@%s bra %s", changed, again);
    if (width == 16)
        give_short(fn, i, old);
    else
        ptx_put(fn, "mov.b%u %s, %s", width, ptx_result(fn, i, 0), old);
}

/* Has the processor no instruction for it? */
static bool is_loop(const ptx_func *fn, const ir_inst *i) {
    if (i->op == IR_OP_atomic_fmin || i->op == IR_OP_atomic_fmax) return true;
    if (!operation_of((ir_op)i->op) || ir_bits(fn->w->m, i->type) != 16) return false;
    if (i->op != IR_OP_atomic_fadd) return true;
    return ir_kind_of(i->type) == IR_BF16 && fn->w->options->sm < 90;
}

/* ------------------------------------------------------------------------------------- barriers */

/* In thread 0 of each group; the other ones jump to the end. */
static void only_first_thread(ptx_func *fn, const char *end) {
    const char *id = ptx_temporary(fn, PTX_B32), *other = ptx_temporary(fn, PTX_PRED);
    const char *y = ptx_special(fn, "tid.y"), *x = ptx_special(fn, "tid.x");
    ptx_put(fn, "or.b32 %s, %s, %s", id, x, y);
    ptx_put(fn, "or.b32 %s, %s, %s", id, id, ptx_special(fn, "tid.z"));
    ptx_put(fn, "setp.ne.u32 %s, %s, 0", other, id);
    ptx_put(fn, "@%s bra %s", other, end);
}

/* What a group adds: 1, but group 0 adds 2^31 - (groups - 1). */
static const char *share_of_group(ptx_func *fn) {
    const char *groups = ptx_temporary(fn, PTX_B32), *id = ptx_temporary(fn, PTX_B32);
    const char *rest = ptx_temporary(fn, PTX_B32), *share = ptx_temporary(fn, PTX_B32);
    const char *first = ptx_temporary(fn, PTX_PRED);
    const char *height = ptx_special(fn, "nctaid.y"), *width = ptx_special(fn, "nctaid.x");
    ptx_put(fn, "mul.lo.s32 %s, %s, %s", groups, width, height);
    ptx_put(fn, "mul.lo.s32 %s, %s, %s", groups, groups, ptx_special(fn, "nctaid.z"));
    const char *y = ptx_special(fn, "ctaid.y"), *x = ptx_special(fn, "ctaid.x");
    ptx_put(fn, "or.b32 %s, %s, %s", id, x, y);
    ptx_put(fn, "or.b32 %s, %s, %s", id, id, ptx_special(fn, "ctaid.z"));
    ptx_put(fn, "setp.eq.u32 %s, %s, 0", first, id);
    ptx_put(fn, "sub.s32 %s, 0x80000001, %s", rest, groups);
    ptx_put(fn, "selp.b32 %s, %s, 1, %s", share, rest, first);
    return share;
}

/* All groups together add 2^31 to a word, so its highest bit changes with the last one, and the
 * others are as before: it need not be reset, and the next barrier may have fewer groups.  The
 * thread that adds releases what its group has written, and acquires what all have when it sees the
 * change; the barriers of the group before and after extend both to all of its threads. */
static void write_grid_barrier(ptx_func *fn) {
    const char *again = ptx_new_label(fn), *end = ptx_new_label(fn);
    const char *before = ptx_temporary(fn, PTX_B32), *now = ptx_temporary(fn, PTX_B32);
    const char *waits = ptx_temporary(fn, PTX_PRED);
    fn->w->has_grid_barrier = true;
    ptx_put(fn, "bar.sync 0");
    only_first_thread(fn, end);
    ptx_put(fn, "atom.acq_rel.gpu.global.add.u32 %s, [$arrived], %s", before, share_of_group(fn));
    ptx_label(fn, again);
    ptx_put(fn, "ld.acquire.gpu.global.u32 %s, [$arrived]", now);
    ptx_put(fn, "xor.b32 %s, %s, %s", now, now, before);
    ptx_put(fn, "setp.ge.s32 %s, %s, 0", waits, now);
    ptx_put(fn, "@%s bra %s", waits, again);
    ptx_label(fn, end);
    ptx_put(fn, "bar.sync 0");
}

/* A barrier of a work-group orders memory for it; what others see needs a fence. */
static void write_barrier(ptx_func *fn, const ir_inst *i) {
    unsigned scope = i->imm.sync.scope;
    if (i->imm.sync.exec < IR_SCOPE_WORKGROUP && fn->w->options->together) {
        write_grid_barrier(fn);
        return;
    }
    if (scope < IR_SCOPE_WORKGROUP) write_fence(fn, scope, i->imm.sync.semantics);
    if (i->imm.sync.exec == IR_SCOPE_WORKGROUP)
        ptx_put(fn, "bar.sync 0");
    else if (i->imm.sync.exec == IR_SCOPE_SUBGROUP)
        ptx_put(fn, "bar.warp.sync %s", ptx_members(fn));
    else
        ptx_refuse(fn, "a barrier between work-groups");
}

bool ptx_write_atomic(ptx_func *fn, const ir_inst *i) {
    switch (i->op) {
    case IR_OP_atomic_load: write_load(fn, i); return true;
    case IR_OP_atomic_store: write_store(fn, i); return true;
    case IR_OP_atomic_cmpxchg: write_exchange_if_equal(fn, i); return true;
    case IR_OP_fence: write_fence(fn, i->imm.sync.scope, i->imm.sync.semantics); return true;
    case IR_OP_barrier: write_barrier(fn, i); return true;
    default: break;
    }
    const char *operation = operation_of(i->op);
    if (is_loop(fn, i))
        write_loop(fn, i);
    else if (operation)
        write_update(fn, i, operation);
    return operation || is_loop(fn, i);
}
