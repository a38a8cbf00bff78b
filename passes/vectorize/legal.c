/* legal.c — which loops can be vectorized.
 *
 * Iterations are independent, since items are, so dependences are not tested.  Reasons to give up
 * are instructions that have no form for several items, such as volatile accesses, calls, private
 * memory whose accesses are not all known (arrays.c), and stores to one place by some of the items;
 * and phis of the header that carried.c does not know.  The first reason is that of the remark.
 *
 * Before: shapes, arrays and progressions are known.  After: the code is as before; values that are
 * used after the loop are listed.
 */
#include "passes/vectorize/simd.h"

static bool is_uniform(const simd *s, const ir_inst *v) {
    return simd_shape_of(s, v) == SIMD_UNIFORM;
}

/* ------------------------------------------------------------------------------------- accesses */

/* The memory of a variable is used by one item after the other. */
static bool check_private(simd *s, const ir_inst *i, const ir_inst *address) {
    const simd_array *a = s->value[address->id].array;
    if (!a) return simd_refuse(s, i, "an access of private memory");
    return !a->refusal || simd_refuse(s, a->refused, a->refusal);
}

/* Is it what items keep over barriers?  They have parts of memory of the launch, whose address is
 * loaded. */
static bool is_kept(const simd *s, const ir_inst *p) {
    for (;;) {
        const simd_carried *c = simd_is_inside(s, p) ? s->value[p->id].carried : NULL;
        if (p->op == IR_OP_ptradd || p->op == IR_OP_ptrcast)
            p = ir_arg(p, 0);
        else if (c && c->phi == p)
            p = c->init;
        else
            return p->op == IR_OP_load;
    }
}

static bool is_private(const simd *s, const ir_inst *address) {
    if (s->value[address->id].array) return true;
    return ir_space_of(address->type) == IR_PRIVATE && !is_kept(s, address);
}

static bool check_access(simd *s, const ir_inst *i, const ir_inst *address) {
    if (i->imm.mem.flags & IR_MEM_VOLATILE) return simd_refuse(s, i, "an access is volatile");
    if (!s->scalar.is_innermost && is_private(s, address)) return check_private(s, i, address);
    bool load = i->op == IR_OP_load, one = is_uniform(s, address);
    if (one && !load && simd_is_masked(s, i->block))
        return simd_refuse(s, i, "a store to one place, which not all items execute");
    const ir_inst *v = load ? i : ir_arg(i, 0); /* may differ in one place, too */
    bool same = one && simd_shape_at(s, v, i->block) == SIMD_UNIFORM;
    return same || !ir_is_ptr(v->type) || simd_refuse(s, i, "a pointer in memory");
}

/* ----------------------------------------------------------------------------------- operations */

static bool has_pointer(const ir_inst *i) {
    bool any = ir_is_ptr(i->type);
    for (unsigned n = 0; n < i->nargs; n++) any |= ir_is_ptr(ir_arg(i, n)->type);
    return any;
}

static bool check_varying(simd *s, const ir_inst *i) {
    switch (i->op) {
    case IR_OP_ptradd:
    case IR_OP_ptrcast: return true;
    case IR_OP_extract:
    case IR_OP_insert: {
        const ir_inst *index = ir_arg(i, i->nargs - 1u);
        if (ir_is_const(index) && index->imm.bits < ir_lanes(ir_arg(i, 0)->type)) return true;
        return simd_refuse(s, i, "the index of a component differs between items");
    }
    case IR_OP_bitcast:
        return simd_may_cast(i) || simd_refuse(s, i, "a bitcast of a pointer or a mask");
    case IR_OP_select:
    case IR_OP_phi:
        if (s->value[i->id].carried) return true;
        if (simd_shape_of(s, i) == SIMD_STRIDED || !has_pointer(i)) return true;
        return simd_refuse(s, i, "a pointer is chosen by items");
    case IR_OP_vec:
    case IR_OP_shuffle:
    case IR_OP_any:
    case IR_OP_all:
    case IR_OP_dot: return true;
    default: break;
    }
    if (simd_shape_of(s, i) == SIMD_STRIDED) return true;
    if (!ir_has_flag(i, F_LANEWISE) || has_pointer(i))
        return simd_refuse(s, i, "an operation has no form for several items");
    return true;
}

static bool check_inst(simd *s, const ir_inst *i) {
    if (i->op == IR_OP_load) return check_access(s, i, ir_arg(i, 0));
    if (i->op == IR_OP_store) return check_access(s, i, ir_arg(i, 1));
    if (simd_is_update(i) && is_private(s, ir_arg(i, 0))) return check_private(s, i, ir_arg(i, 0));
    if (simd_is_update(i)) return simd_may_update(s, i);
    if (i->op == IR_OP_fill && s->value[ir_arg(i, 0)->id].array)
        return check_private(s, i, ir_arg(i, 0));
    if (ir_is_terminator(i)) return true;
    if (!ir_has_flag(i, F_PURE) && i->op != IR_OP_phi)
        return simd_refuse(s, i, "an operation has no form for several items");
    if (i->type == IR_VOID || is_uniform(s, i)) return true;
    return check_varying(s, i);
}

/* Values that are used after the loop are listed. */
static bool check_uses(simd *s, ir_inst *i) {
    bool after = false;
    foreach_use (u, i) {
        after |= !simd_is_inside(s, u->user);
        if (ir_is_ptr(i->type) && simd_left_loop(s, i, ir_use_block(u)))
            return simd_refuse(s, i, "an address is used after a loop that items leave one by one");
    }
    if (!after) return true;
    if (ir_is_ptr(i->type) && simd_shape_at(s, i, s->scalar.latch) == SIMD_VARYING)
        return simd_refuse(s, i, "a pointer that differs between items is used after the loop");
    *ir_push(s->scratch, &s->after) = (simd_after){.value = i};
    return true;
}

bool simd_is_legal(simd *s) {
    if (!simd_find_carried(s)) return false;
    for (uint32_t k = 0; k < s->n; k++) {
        if (s->node[k].kind != SIMD_BLOCK) continue;
        foreach_inst (i, s->node[k].block)
            if (!check_inst(s, i) || !check_uses(s, i)) return false;
    }
    return true;
}
