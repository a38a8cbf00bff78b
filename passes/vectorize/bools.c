/* bools.c — truth values in memory become bytes, of which they are the lowest bit, before a loop is
 * vectorized: lanes of i1 are masks, which no memory holds.  The loop does what it did before.
 */
#include "passes/vectorize/simd.h"

static ir_type bytes_of(ir_type t) { return ir_with_elem(t, IR_I8); }

static void load_bytes(ir_builder *b, ir_inst *i) {
    ir_before(b, i);
    ir_inst *bytes =
        ir_build_raw(b, IR_OP_load, bytes_of(i->type), ir_with_imm(i->imm), IR_ARGS(ir_arg(i, 0)));
    ir_replace_uses(i, ir_build1(b, IR_OP_trunc, i->type, bytes));
    ir_remove(i);
}

static void store_bytes(ir_builder *b, ir_inst *i) {
    ir_inst *v = ir_arg(i, 0);
    ir_before(b, i);
    ir_set_arg(i, 0, ir_build1(b, IR_OP_zext, bytes_of(v->type), v));
}

bool simd_lower_bools(ir_func *f, const ir_loop *loop) {
    ir_builder b;
    bool changed = false;
    ir_builder_init(&b, f);
    for (uint32_t k = 0; k < loop->nblocks; k++)
        for (ir_inst *i = loop->block[k]->first, *next; i; i = next) {
            next = i->next;
            b.loc = i->loc;
            bool loads = i->op == IR_OP_load && ir_is_bool(i->type);
            bool stores = i->op == IR_OP_store && ir_is_bool(ir_arg(i, 0)->type);
            if (loads) load_bytes(&b, i);
            if (stores) store_bytes(&b, i);
            changed |= loads || stores;
        }
    return changed;
}
