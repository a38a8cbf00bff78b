/* step_pointers.c — strength reduction of addresses: in loops they become pointers that step.
 *
 * An address is followed back through sums, differences, and products with what does not change in
 * the loop, to counters.  If it grows by the same amount in each iteration, it becomes a phi of the
 * loop.  Accesses at constant distances from one address share its phi.
 *
 * Indices of 32 bits are followed through their extension if nothing wraps: the counter by its
 * test, sums and products by their flags.  The first value is made from extended parts, so that it
 * is right even if the access does not happen in the first iteration.
 *
 * A target whose accesses have a register and a constant as their address, such as a GPU, computes
 * one sum for each pointer then, also for several copies of the body.  A CPU has factors in its
 * addresses, and is better off with one counter for all of them.
 */
#include "passes/analysis/analysis.h"

enum { MOST = 8, MOST_FOLLOWED = 24 }; /* pointers of a loop; operations of an address */

typedef struct {
    ir_func *f;
    const ir_loops *loops;
    const ir_loop *loop;
    ir_builder b;
    unsigned n;    /* pointers that the loop has got */
    unsigned left; /* operations of the address at hand that may be followed */
    bool changed;
} stepper;

/* What a value does from one iteration to the next; `extension` is that of the integer of 32 bits
 * that it is a part of, or IR_OP_undef. */
typedef enum { NO, INVARIANT, STEPS } motion;

static bool is_invariant(const stepper *s, const ir_inst *v) {
    return !v->block || !ir_in_loop(s->loops, v->block, s->loop);
}

/* ----------------------------------------------------------------------------- does it step? */

static motion motion_of(stepper *s, const ir_inst *v, ir_op extension);

/* Do the values of i, before extension, not wrap? */
static bool is_whole(const ir_inst *i, ir_op extension) {
    if (extension == IR_OP_undef) return true;
    return i->flags & (extension == IR_OP_sext ? IR_NSW : IR_NUW);
}

static motion motion_of_counter(const stepper *s, const ir_inst *phi, ir_op extension) {
    pass_counter c;
    if (!pass_find_counter(s->loops, phi, &c) || c.loop != s->loop) return NO;
    if (extension == IR_OP_undef) return STEPS;
    bool is_signed = extension == IR_OP_sext;
    bool whole = pass_counts_whole(s->loops, phi, is_signed) ||
                 pass_counts_guarded(s->loops, phi, is_signed);
    return whole ? STEPS : NO;
}

static motion motion_of_sum(stepper *s, const ir_inst *i, ir_op extension) {
    motion x = motion_of(s, ir_arg(i, 0), extension);
    motion y = x ? motion_of(s, ir_arg(i, 1), extension) : NO;
    return !y ? NO : x == STEPS || y == STEPS ? STEPS : INVARIANT;
}

static motion motion_of_product(stepper *s, const ir_inst *i, ir_op extension) {
    motion x = motion_of(s, ir_arg(i, 0), extension);
    motion y = x ? motion_of(s, ir_arg(i, 1), extension) : NO;
    return !y || (x == STEPS && y == STEPS) ? NO : x == STEPS || y == STEPS ? STEPS : INVARIANT;
}

static motion motion_of(stepper *s, const ir_inst *v, ir_op extension) {
    if (is_invariant(s, v)) return INVARIANT;
    if (s->left == 0) return NO;
    s->left--;
    switch (v->op) {
    case IR_OP_phi: return motion_of_counter(s, v, extension);
    case IR_OP_add:
    case IR_OP_sub: return is_whole(v, extension) ? motion_of_sum(s, v, extension) : NO;
    case IR_OP_mul: return is_whole(v, extension) ? motion_of_product(s, v, extension) : NO;
    case IR_OP_shl:
        return ir_is_const(ir_arg(v, 1)) && ir_arg(v, 1)->imm.bits < 31 && is_whole(v, extension)
                   ? motion_of(s, ir_arg(v, 0), extension)
                   : NO;
    case IR_OP_ptradd: return motion_of_sum(s, v, extension);
    case IR_OP_sext:
    case IR_OP_zext:
        return extension == IR_OP_undef && ir_arg(v, 0)->type == IR_I32 && v->type == IR_I64
                   ? motion_of(s, ir_arg(v, 0), (ir_op)v->op)
                   : NO;
    default: return NO;
    }
}

/* ----------------------------------------------------------------- its first value and its step */

static ir_inst *number(const stepper *s, uint64_t n) { return ir_const(s->f, IR_I64, n); }

static ir_inst *extended(stepper *s, ir_inst *v, ir_op extension) {
    return extension == IR_OP_undef ? v : ir_build1(&s->b, extension, IR_I64, v);
}

/* What v, which steps or does not change, is in the first iteration. */
static ir_inst *first_of(stepper *s, ir_inst *v, ir_op extension) {
    pass_counter c;
    if (is_invariant(s, v)) return extended(s, v, extension);
    if (v->op == IR_OP_sext || v->op == IR_OP_zext) return first_of(s, ir_arg(v, 0), (ir_op)v->op);
    if (v->op == IR_OP_phi)
        return pass_find_counter(s->loops, v, &c) ? extended(s, c.init, extension) : NULL;
    ir_inst *x = first_of(s, ir_arg(v, 0), extension);
    if (v->op == IR_OP_shl)
        return ir_build2(&s->b, IR_OP_shl, IR_I64, x, number(s, ir_arg(v, 1)->imm.bits));
    ir_inst *y = first_of(s, ir_arg(v, 1), extension);
    if (v->op == IR_OP_ptradd) return ir_build_ptradd(&s->b, x, y, false);
    return ir_build2(&s->b, (ir_op)v->op, IR_I64, x, y);
}

/* What is added to v in each iteration. */
static ir_inst *step_of(stepper *s, ir_inst *v, ir_op extension) {
    pass_counter c;
    if (is_invariant(s, v)) return number(s, 0);
    if (v->op == IR_OP_sext || v->op == IR_OP_zext) return step_of(s, ir_arg(v, 0), (ir_op)v->op);
    if (v->op == IR_OP_phi)
        return pass_find_counter(s->loops, v, &c) ? number(s, (uint64_t)c.step) : NULL;
    ir_inst *x = ir_arg(v, 0), *y = ir_arg(v, 1), *step = step_of(s, x, extension);
    if (v->op == IR_OP_shl)
        return ir_build2(&s->b, IR_OP_shl, IR_I64, step, number(s, y->imm.bits));
    if (v->op != IR_OP_mul)
        return ir_build2(&s->b, v->op == IR_OP_sub ? IR_OP_sub : IR_OP_add, IR_I64, step,
                         step_of(s, y, extension));
    bool left = is_invariant(s, x);
    ir_inst *factor = extended(s, left ? x : y, extension);
    return ir_build2(&s->b, IR_OP_mul, IR_I64, left ? step_of(s, y, extension) : step, factor);
}

/* ------------------------------------------------------------------------------------- pointers */

static void make_pointer(stepper *s, ir_inst *address) {
    ir_block *h = s->loop->header;
    unsigned back = ir_in_loop(s->loops, h->pred[1], s->loop);
    ir_inst *p = ir_inst_new(s->f, IR_OP_phi, address->type, 2);
    ir_before(&s->b, h->pred[!back]->last);
    ir_inst *first = first_of(s, address, IR_OP_undef), *step = step_of(s, address, IR_OP_undef);
    ir_insert(p, h, h->first);
    ir_before(&s->b, h->pred[back]->last);
    ir_set_arg(p, !back, first);
    ir_set_arg(p, back, ir_build_ptradd(&s->b, p, step, false));
    ir_replace_uses(address, p);
    ir_count(s->f->module->cx, step_pointers_made, 1);
    s->changed = true;
}

/* Without the constants that are added to it. */
static ir_inst *core_of(ir_inst *address) {
    while (address->op == IR_OP_ptradd && ir_is_const(ir_arg(address, 1)))
        address = ir_arg(address, 0);
    return address;
}

/* The places of private memory are not known any more once its address is in a phi. */
static void look_at_address(stepper *s, ir_inst *address) {
    address = core_of(address);
    if (address->op != IR_OP_ptradd || ir_is_vector(address->type)) return;
    if (ir_space_of(address->type) == IR_PRIVATE || is_invariant(s, address)) return;
    s->left = MOST_FOLLOWED;
    if (s->n == MOST || motion_of(s, address, IR_OP_undef) != STEPS) return;
    s->n++;
    make_pointer(s, address);
}

static void look_at_loop(stepper *s) {
    const ir_block *h = s->loop->header;
    s->n = 0;
    if (h->npred != 2 || s->loop->irreducible) return;
    for (uint32_t n = 0; n < s->loop->nblocks; n++)
        foreach_inst (i, s->loop->block[n])
            if (s->loops->of[i->block->id] != s->loop)
                break;
            else if (i->op == IR_OP_load)
                look_at_address(s, ir_arg(i, 0));
            else if (i->op == IR_OP_store)
                look_at_address(s, ir_arg(i, 1));
}

/* Does:  makes pointers that step of addresses in loops, for targets with short ids.
 * Needs: counters as phis (mem2reg), and what does not change in a loop in front of it (licm);
 *        neighbours as constant distances (reassociate).
 * Leaves: counters and parts of addresses without uses, for dce.
 * Gives up: on loops with several ways in or back; after MOST pointers of a loop. */
bool pass_step_pointers(ir_func *f, pass_ctx *cx) {
    stepper s = {.f = f, .loops = ir_loop_tree(f)};
    if (!cx->target || !cx->target->has_short_ids || !s.loops->n) return false;
    ir_builder_init(&s.b, f);
    foreach_block (b, f) {
        s.loop = s.loops->of[b->id];
        if (s.loop && s.loop->header == b) look_at_loop(&s);
    }
    return s.changed;
}
