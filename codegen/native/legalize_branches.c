/* legalize_branches.c — a branch on two conditions becomes two branches.
 *
 * Machines compare and jump; a truth value in a register takes two more instructions, and `and` of
 * two such values a third.  So if `and` or `or` of comparisons only decides a branch, the
 * first comparison decides whether the second one is asked.  Comparisons move to their branches.
 */
#include "codegen/native/legalize.h"

enum { DEPTH = 8 }; /* of conditions that are looked at */

static bool is_alone(const ir_inst *c) { return c->block && c->uses && !c->uses->next; }

static bool joins(const ir_inst *c) { return c->op == IR_OP_and || c->op == IR_OP_or; }

/* Is c made of comparisons that nothing else asks for? */
static bool is_test(const ir_inst *c, unsigned depth) {
    ir_rule rule = ir_info(c)->rule;
    if (!is_alone(c) || ir_is_vector(c->type) || depth == DEPTH) return false;
    if (joins(c)) return is_test(ir_arg(c, 0), depth + 1) && is_test(ir_arg(c, 1), depth + 1);
    if (c->op == IR_OP_xor && ir_is_const(ir_arg(c, 1))) return is_test(ir_arg(c, 0), depth + 1);
    return rule == R_CMPI || rule == R_CMPF || rule == R_REDUCE;
}

static bool is_splittable(const ir_inst *br) {
    if (br->op != IR_OP_br || br->block->succ[0] == br->block->succ[1]) return false;
    const ir_inst *c = ir_arg(br, 0);
    return ir_is_bool(c->type) && joins(c) && is_test(c, 0);
}

/* Moves c, with the comparisons that it is made of, to the end of b. */
static void sink_test(ir_inst *c, ir_block *b) {
    bool joined = joins(c);
    if (joined || c->op == IR_OP_xor) sink_test(ir_arg(c, 0), b);
    if (joined) sink_test(ir_arg(c, 1), b);
    ir_move_before(c, b->last);
}

/* The block asks for the first condition from now on, and a new one, which is returned, for the
 * second. */
static ir_block *split_branch(cg_legalizer *l, ir_inst *br) {
    ir_block *b = br->block, *second = ir_block_new(l->f, NULL);
    ir_inst *c = ir_arg(br, 0), *x = ir_arg(c, 0), *y = ir_arg(c, 1);
    unsigned open = c->op == IR_OP_and ? 0 : 1; /* the way that needs both, or both not */
    l->b.loc = br->loc;
    ir_at_end(&l->b, second);
    ir_build_br(&l->b, y, b->succ[0], b->succ[1]);
    for (unsigned n = 0; n < 2; n++)
        foreach_phi (phi, b->succ[n]) ir_append_arg(phi, ir_arg(phi, ir_pred_index(b->succ[n], b)));
    ir_redirect_edge(b, open, second);
    ir_block_move_after(second, b);
    ir_set_arg(br, 0, x);
    ir_remove(c);
    sink_test(x, b);
    sink_test(y, second);
    return second;
}

void cg_legalize_branches(cg_legalizer *l) {
    ir_block_list found = {0};
    foreach_block (b, l->f)
        if (is_splittable(b->last)) *ir_push(l->scratch, &found) = b;
    while (found.n) {
        ir_block *b = found.data[found.n - 1];
        if (is_splittable(b->last))
            *ir_push(l->scratch, &found) = split_branch(l, b->last);
        else
            found.n--;
    }
}
