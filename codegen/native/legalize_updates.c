/* legalize_updates.c — updates of memory that have no instruction of their own.
 *
 * Memory that one thread has for itself is read and written.  Shared memory is read, and the new
 * value is exchanged for the old one, until there was no other write in between:
 *
 *   old = *p
 *   while (old op x is not old)           if the update asks for no order
 *       seen = compare and exchange(p, old op x, old); if (seen is old) leave; old = seen
 *
 * A minimum, a maximum or a bitwise operation mostly leaves memory as it is, and locked
 * instructions take the time of about 20 others.  An update that changes nothing is a read of a
 * value, and no thread can tell when after the write of that value it was done: other accesses are
 * ordered by it only if it releases or acquires something.
 */
#include "codegen/native/legalize.h"
#include "ir/interp.h"

bool cg_is_update(const ir_inst *i) {
    return ir_is_atomic(i) && i->op != IR_OP_atomic_load && i->op != IR_OP_atomic_store &&
           i->op != IR_OP_atomic_cmpxchg;
}

/* Only the thread that runs the work-group sees such memory. */
static bool is_thread_private(const ir_inst *p) {
    return ir_space_of(p->type) == IR_LOCAL || ir_space_of(p->type) == IR_PRIVATE;
}

static ir_inst *combine(cg_legalizer *l, const ir_inst *i, ir_inst *old) {
    ir_op op = ir_combining_op((ir_op)i->op);
    if (op == IR_OP_const) return ir_arg(i, 1);
    return ir_build2(&l->b, op, i->type, old, ir_arg(i, 1));
}

static unsigned natural_align(const ir_module *m, ir_type t) { return (unsigned)ir_sizeof(m, t); }

static void update_private(cg_legalizer *l, ir_inst *i) {
    unsigned align = natural_align(l->f->module, i->type);
    ir_before(&l->b, i);
    ir_inst *p = ir_arg(i, 0), *old = ir_build_load(&l->b, i->type, p, align, 0);
    ir_inst *updated = combine(l, i, old);
    ir_build_store(&l->b, updated, p, align, 0);
    ir_replace_uses(i, old);
    ir_remove(i);
}

static ir_type bits_type(const ir_module *m, ir_type t) {
    return ir_scalar(ir_bits(m, t) == 64 ? IR_I64 : ir_bits(m, t) == 16 ? IR_I16 : IR_I32);
}

static ir_inst *as_type(cg_legalizer *l, ir_inst *x, ir_type t) {
    return x->type == t ? x : ir_build1(&l->b, IR_OP_bitcast, t, x);
}

/* Does the operation often have one of its operands as result, and does nothing depend on when it
 * is done? */
static bool may_be_idle(const ir_inst *i) {
    const unsigned ordered = IR_SEM_ACQUIRE | IR_SEM_RELEASE | IR_SEM_ACQ_REL | IR_SEM_SEQ_CST;
    if (i->imm.sync.semantics & ordered) return false;
    switch (i->op) {
    case IR_OP_atomic_and:
    case IR_OP_atomic_or:
    case IR_OP_atomic_umin:
    case IR_OP_atomic_umax:
    case IR_OP_atomic_smin:
    case IR_OP_atomic_smax:
    case IR_OP_atomic_fmin:
    case IR_OP_atomic_fmax: return true;
    default: return false;
    }
}

/* Would the update i leave the value `old`, of a type for exchanges, as it is?  *updated becomes
 * the new value if not. */
static ir_inst *build_idle_test(cg_legalizer *l, const ir_inst *i, ir_inst *old,
                                ir_inst **updated) {
    const bool greater = i->op == IR_OP_atomic_umax || i->op == IR_OP_atomic_smax;
    const bool sign = i->op == IR_OP_atomic_smin || i->op == IR_OP_atomic_smax;
    ir_inst *x = ir_arg(i, 1);
    if (!greater && !sign && i->op != IR_OP_atomic_umin) {
        *updated = as_type(l, combine(l, i, as_type(l, old, i->type)), old->type);
        return ir_build2(&l->b, IR_OP_eq, IR_I1, *updated, old);
    }
    *updated = x;
    return ir_build2(&l->b, sign ? IR_OP_sle : IR_OP_ule, IR_I1, greater ? x : old,
                     greater ? old : x);
}

/* What is to be exchanged for the value `old`, in a block which this leads to if there is something
 * to be written, and otherwise to `after`. */
static ir_inst *build_updated(cg_legalizer *l, const ir_inst *i, ir_inst *old, ir_block *after) {
    ir_inst *updated;
    if (!may_be_idle(i)) return as_type(l, combine(l, i, as_type(l, old, i->type)), old->type);
    ir_inst *idle = build_idle_test(l, i, old, &updated);
    ir_block *exchange = ir_block_new(l->f, NULL);
    ir_build_br(&l->b, idle, after, exchange);
    ir_at_end(&l->b, exchange);
    return updated;
}

static void update_shared(cg_legalizer *l, ir_inst *i) {
    ir_block *before = i->block, *after = ir_split_block(before, i);
    ir_block *loop = ir_block_new(l->f, NULL);
    ir_module *m = l->f->module;
    ir_type bits = ir_is_float(i->type) ? bits_type(m, i->type) : i->type;
    ir_inst *p = ir_arg(i, 0);
    ir_at_end(&l->b, before);
    ir_inst *first = ir_build_load(&l->b, bits, p, natural_align(m, bits), IR_MEM_VOLATILE);
    ir_build_jmp(&l->b, loop);
    ir_inst *old = ir_build_phi(loop, bits);
    ir_at_end(&l->b, loop);
    ir_inst *result = as_type(l, old, i->type), *updated = build_updated(l, i, old, after);
    ir_inst *seen = ir_build_raw(&l->b, IR_OP_atomic_cmpxchg, bits, ir_with_imm(i->imm),
                                 IR_ARGS(p, updated, old));
    ir_inst *equal = ir_build2(&l->b, IR_OP_eq, IR_I1, seen, old);
    ir_build_br(&l->b, equal, after, loop);
    old = ir_append_arg(old, first);
    ir_append_arg(old, seen);
    ir_replace_uses(i, result);
    ir_remove(i);
}

static void subtract_shared(cg_legalizer *l, ir_inst *i) {
    ir_before(&l->b, i);
    ir_inst *zero = ir_const(l->f, i->type, 0);
    ir_inst *minus = ir_build2(&l->b, IR_OP_sub, i->type, zero, ir_arg(i, 1));
    ir_inst *add = ir_build_raw(&l->b, IR_OP_atomic_add, i->type, ir_with_imm(i->imm),
                                IR_ARGS(ir_arg(i, 0), minus));
    ir_replace_uses(i, add);
    ir_remove(i);
}

/* An exchange orders what a store alone does not. */
void cg_store_in_order(cg_legalizer *l, ir_inst *i) {
    ir_before(&l->b, i);
    ir_inst *p = ir_arg(i, 0), *x = ir_arg(i, 1);
    if (ir_is_float(x->type)) x = as_type(l, x, bits_type(l->f->module, x->type));
    ir_build_raw(&l->b, IR_OP_atomic_xchg, x->type, ir_with_imm(i->imm), IR_ARGS(p, x));
    ir_remove(i);
}

static void exchange_float(cg_legalizer *l, ir_inst *i) {
    ir_before(&l->b, i);
    ir_type bits = bits_type(l->f->module, i->type);
    ir_inst *x = as_type(l, ir_arg(i, 1), bits);
    ir_inst *old =
        ir_build_raw(&l->b, IR_OP_atomic_xchg, bits, ir_with_imm(i->imm), IR_ARGS(ir_arg(i, 0), x));
    ir_replace_uses(i, as_type(l, old, i->type));
    ir_remove(i);
}

void cg_lower_update(cg_legalizer *l, ir_inst *i) {
    if (is_thread_private(ir_arg(i, 0)))
        update_private(l, i);
    else if (i->op == IR_OP_atomic_sub)
        subtract_shared(l, i);
    else if (i->op == IR_OP_atomic_xchg && ir_is_float(i->type))
        exchange_float(l, i);
    else if (i->op != IR_OP_atomic_add && i->op != IR_OP_atomic_xchg)
        update_shared(l, i);
}
