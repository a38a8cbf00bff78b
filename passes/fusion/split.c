/* split.c — decides which members run in loops of their own over the items of a work-group.
 *
 * A device may run the items of a work-group one after the other, as processors do.  They overlap
 * items as far as instructions fit into the reorder buffer of WINDOW instructions.  If a body has n
 * instructions and its longest chain takes L cycles, about WINDOW / n items overlap, so an item
 * takes L * n / WINDOW cycles.  Two bodies in one loop, where the second waits for the first, take
 * (L1 + L2) * (n1 + n2) / WINDOW.  In two loops they take (L1 * n1 + L2 * n2) / WINDOW, and SPLIT
 * cycles more, since the values between them go through the nearest cache.  So a barrier between
 * two members, which makes two loops, pays if
 *
 *     L1 * n2 + L2 * n1 > WINDOW * SPLIT
 *
 * A chain of short steps remains one loop; pow, or dozens of operations in a row, get their own.  A
 * body with inner loops fills the buffer with its own iterations, so it is not considered.  delay.c
 * answers another question, whether a longer chain makes fusion a loss, and counts memory as well.
 *
 * The right side is a measured number, GAIN.  It is greater for loops over vectors, where each
 * value that is kept takes a store and a load as wide as the operations: five launches of 60
 * operations took 0.76 ms in four loops and 0.53 ms in one.
 */
#include "passes/fusion/fuse_impl.h"

enum {
    GAIN = 270,           /* WINDOW * SPLIT, measured, of loops over scalars */
    GAIN_OF_LANES = 1500, /* the same of loops over vectors */
    LEAST_ITEMS = 16      /* of a work-group: loops of fewer rounds cost more */
};

/* ---------------------------------------------------------------------------------------- costs */

/* Loads and stores between the bodies have become registers, or will be the same in two loops: only
 * the time until a load's result counts. */
static pass_cost cost_of(const ir_inst *i) {
    pass_cost c = pass_cost_of(i);
    if (i->op == IR_OP_load) c.operations = 0;
    if (i->op == IR_OP_store || ir_has_flag(i, F_TERMINATOR) || ir_info(i)->rule == R_QUERY)
        return (pass_cost){0, 0};
    if (ir_has_flag(i, F_NOFOLD)) c.operations *= ir_lanes(i->type);
    return c;
}

pass_cost pass_find_length(ir_func *f, ir_arena *scratch) {
    return ir_loop_tree(f)->n ? (pass_cost){0} : pass_find_chain(f, cost_of, scratch);
}

/* ------------------------------------------------------------------------------------- decision */

bool pass_should_split(const ir_range *r, bool lanes, const pass_cost *before,
                       const pass_cost *next) {
    uint64_t items = 1;
    for (unsigned d = 0; d < r->dims && ir_has_local_size(r); d++) items *= r->local[d];
    if (!before->cycles || !next->cycles || (ir_has_local_size(r) && items < LEAST_ITEMS))
        return false;
    return before->cycles * next->operations + next->cycles * before->operations >
           (lanes ? GAIN_OF_LANES : GAIN);
}
