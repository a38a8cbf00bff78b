/* ptrvars.c — pointers that step through a loop become a base and the number of the iteration.
 *
 * Compilers often keep an address in a phi and add to it in each iteration.  Such a pointer equals
 * base + step * iteration.  In that form its object is known, and its offset has an affine form
 * (affine.c), which is what other passes need.  The code does not become faster by itself.
 */
#include "passes/analysis/analysis.h"

typedef struct {
    ir_func *f;
    ir_inst *phi, *base, *next;
    ir_block *latch;
    unsigned back; /* the argument that comes from the latch */
} stepping;

static bool is_invariant(const ir_loops *l, const ir_loop *loop, const ir_inst *v) {
    return ir_is_leaf(v) || !ir_in_loop(l, v->block, loop);
}

/* A pointer that the same is added to in every iteration of its loop, which has one way in. */
static bool find_stepping(const ir_loops *l, ir_inst *phi, stepping *s) {
    const ir_loop *loop = l->of[phi->block->id];
    if (!ir_is_ptr(phi->type) || !loop || loop->header != phi->block || loop->irreducible)
        return false;
    if (phi->nargs != 2 || ir_is_vector(phi->type)) return false;
    bool first = ir_in_loop(l, phi->block->pred[0], loop);
    bool second = ir_in_loop(l, phi->block->pred[1], loop);
    s->back = second;
    s->phi = phi;
    s->base = ir_arg(phi, !s->back);
    s->next = ir_arg(phi, s->back);
    s->latch = phi->block->pred[s->back];
    return first != second && s->next->op == IR_OP_ptradd && ir_arg(s->next, 0) == phi &&
           ir_arg(s->next, 1)->type == ir_size_type(s->f->module) &&
           is_invariant(l, loop, ir_arg(s->next, 1));
}

/* The number of the iteration, one for all pointers of the loop. */
static ir_inst *build_round(const stepping *s) {
    ir_type size = ir_size_type(s->f->module);
    ir_block *header = s->phi->block;
    ir_inst *round = ir_build_phi(header, size);
    ir_builder b;
    ir_builder_init(&b, s->f);
    ir_before(&b, s->latch->last);
    unsigned flags = size == IR_I64 ? IR_NSW | IR_NUW : 0; /* no loop counts so far */
    ir_inst *next = ir_build_raw(&b, IR_OP_add, size, ir_with_flags(flags),
                                 IR_ARGS(round, ir_const(s->f, size, 1)));
    for (unsigned p = 0; p < 2; p++)
        round = ir_append_arg(round, p == s->back ? next : ir_const(s->f, size, 0));
    return round;
}

/* The phi stays, for dce: nothing but its own step uses it. */
static void replace_pointer(const stepping *s, ir_inst *round) {
    ir_inst *step = ir_arg(s->next, 1);
    ir_type size = ir_size_type(s->f->module);
    ir_builder b;
    ir_builder_init(&b, s->f);
    ir_before(&b, ir_first_non_phi(s->phi->block));
    b.loc = s->phi->loc;
    ir_inst *offset = ir_build2(&b, IR_OP_mul, size, round, step);
    ir_inst *address = ir_build_ptradd(&b, s->base, offset, false);
    ir_before(&b, s->next);
    ir_inst *after = ir_build_ptradd(&b, address, ir_arg(s->next, 1), false);
    ir_replace_uses(s->phi, address);
    ir_replace_uses(s->next, after);
    ir_set_arg(s->next, 0, s->phi);
    ir_set_arg(s->phi, s->back, s->next);
}

/* Does: writes pointers that step through loops as base + step * iteration.
 * Needs: pointers in values (mem2reg).
 * Leaves: the phis, without further uses; a counter of iterations.
 * Gives up: on steps that change, and loops with several ways in or back. */
bool pass_ptrvars(ir_func *f, pass_ctx *cx) {
    const ir_loops *loops = ir_loop_tree(f);
    bool changed = false;
    (void)cx;
    foreach_block (b, f) {
        ir_inst *round = NULL;
        stepping s = {.f = f};
        foreach_phi (phi, b) {
            if (!find_stepping(loops, phi, &s)) continue;
            if (!round) round = build_round(&s);
            replace_pointer(&s, round);
            changed = true;
        }
    }
    return changed;
}
