/* snapshot.c — what a function says before it is allocated, for the proof (check.c).
 *
 * Allocation changes operands in place, so the proof needs a copy: each instruction with the ids of
 * its operands, and the edges of each block.  Instructions keep their ids, and those that
 * allocation inserts have ids that the snapshot does not contain.
 */
#include "codegen/regalloc/check.h"

static void save_operands(cg_snapshot *s, const ir_inst *i, ir_arena *arena) {
    snapshot_inst *to = &s->inst[i->id];
    to->arg = ir_new_array(arena, uint32_t, i->nargs);
    for (unsigned n = 0; n < i->nargs; n++) {
        const ir_inst *v = ir_arg(i, n);
        to->arg[n] = v->id;
        if (!v->block)
            s->inst[v->id] = (snapshot_inst){.op = v->op, .block = CHECK_NONE, .type = v->type};
    }
}

static void save_inst(cg_snapshot *s, const cg_target *t, const ir_inst *i, ir_arena *arena) {
    s->inst[i->id] = (snapshot_inst){.op = i->op,
                                     .nargs = i->nargs,
                                     .repeats = ra_may_repeat(t, i),
                                     .block = i->block->id,
                                     .type = i->type,
                                     .imm = i->imm};
    save_operands(s, i, arena);
}

static void save_block(cg_snapshot *s, const cg_target *t, const ir_block *b, ir_arena *arena) {
    snapshot_block *to = &s->block[b->id];
    for (uint32_t n = 0; n < b->npred; n++) *ir_push(arena, &to->pred) = b->pred[n]->id;
    for (uint32_t n = 0; n < b->nsucc; n++) *ir_push(arena, &to->succ) = b->succ[n]->id;
    foreach_inst (i, b) {
        save_inst(s, t, i, arena);
        *ir_push(arena, &to->code) = i->id;
    }
}

const cg_snapshot *cg_take_snapshot(const cg_target *t, const ir_func *f, ir_arena *arena) {
    cg_snapshot *s = ir_new(arena, cg_snapshot);
    s->nvalues = f->next_id;
    s->nblocks = f->next_block;
    s->inst = ir_new_array(arena, snapshot_inst, s->nvalues);
    s->block = ir_new_array(arena, snapshot_block, s->nblocks);
    for (uint32_t id = 0; id < s->nvalues; id++) s->inst[id].block = CHECK_NONE;
    foreach_block (b, f) save_block(s, t, b, arena);
    return s;
}
