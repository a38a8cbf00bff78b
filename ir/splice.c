/* splice.c — a function's body in place of one instruction.
 *
 * The block is split in front of the instruction; the body is copied between the halves, and what
 * it returns is what the instruction gave.  Variables of the body move to the entry of the
 * function, so that they are made once even where the instruction was in a loop.
 */
#include "ir/change.h"

static void move_variables(ir_func *f, ir_block *from) {
    ir_inst *where = f->first->first;
    foreach_inst (i, from)
        if (i->op == IR_OP_alloca) ir_move_before(i, where);
}

/* Puts the blocks after `last`, which have just been copied, after b. */
static void place_blocks(ir_block *b, ir_block *last) {
    while (last->next) {
        ir_block *copy = last->next;
        ir_block_move_after(copy, b);
        b = copy;
    }
}

void ir_splice(ir_inst *at, const ir_func *body, ir_inst *const *args) {
    ir_block *b = at->block, *entry;
    ir_func *f = b->func;
    ir_block *tail = ir_split_block(b, at), *last = f->last;
    ir_inst *result = ir_clone_body(f, body, args, tail, &entry);
    ir_builder build;
    ir_builder_init(&build, f);
    ir_at_end(&build, b);
    build.loc = at->loc;
    ir_build_jmp(&build, entry);
    move_variables(f, entry);
    place_blocks(b, last);
    if (result) ir_replace_uses(at, result);
    ir_remove(at);
}
