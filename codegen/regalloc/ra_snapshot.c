/* ra_snapshot.c — what a function says before it is allocated, and whether the same code is still
 * there afterwards.
 *
 * Allocation may add moves, spills, reloads, phis, blocks on edges, and copies of instructions that
 * may be repeated; it may take away phis and instructions of the last sort.  Everything else is
 * where it was.
 */
#include "codegen/regalloc/ra_check.h"

/* --------------------------------------------------------------------------------- the snapshot */

static void save_operands(cg_snapshot *s, const ir_inst *i, ir_arena *arena) {
    saved_inst *to = &s->inst[i->id];
    to->arg = ir_new_array(arena, uint32_t, i->nargs);
    for (unsigned n = 0; n < i->nargs; n++) {
        const ir_inst *v = ir_arg(i, n);
        to->arg[n] = v->id;
        if (!v->block)
            s->inst[v->id] = (saved_inst){.op = v->op, .block = CHECK_NOWHERE, .type = v->type};
    }
}

static void save_inst(cg_snapshot *s, const cg_target *t, const ir_inst *i, ir_arena *arena) {
    s->inst[i->id] = (saved_inst){.op = i->op,
                                  .nargs = i->nargs,
                                  .repeats = ra_may_repeat(t, i),
                                  .block = i->block->id,
                                  .type = i->type,
                                  .imm = i->imm};
    save_operands(s, i, arena);
}

static void save_block(cg_snapshot *s, const cg_target *t, const ir_block *b, ir_arena *arena) {
    saved_block *to = &s->block[b->id];
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
    s->inst = ir_new_array(arena, saved_inst, s->nvalues);
    s->block = ir_new_array(arena, saved_block, s->nblocks);
    for (uint32_t id = 0; id < s->nvalues; id++) s->inst[id].block = CHECK_NOWHERE;
    foreach_block (b, f) save_block(s, t, b, arena);
    return s;
}

/* -------------------------------------------------------------------------------- the same code */

static bool same_operands(const ir_inst *i, const saved_inst *old) {
    for (unsigned n = 0; n < i->nargs; n++)
        if (ir_arg(i, n)->id != old->arg[n]) return false;
    return true;
}

bool check_repeats(const checker *c, const ir_inst *i, uint32_t id) {
    const saved_inst *old = &c->before->inst[id];
    return old->repeats && i->op == old->op && i->type == old->type && i->nargs == old->nargs &&
           i->imm.bits == old->imm.bits && same_operands(i, old);
}

/* An operand that has been folded into the instruction changes what that says. */
static bool is_folded(const ir_inst *i) {
    for (unsigned n = 0; n < i->nargs; n++)
        if (ir_arg(i, n)->op == IR_OP_slot) return true;
    return false;
}

static void check_same(checker *c, const ir_inst *i) {
    const saved_inst *old = &c->before->inst[i->id];
    cg_needs needs;
    cg_describe(c->t, i, &needs);
    bool same = i->op == old->op && i->type == old->type && i->nargs == old->nargs &&
                (i->imm.bits == old->imm.bits || is_folded(i));
    if (!same) {
        check_complain(c, i, "it was another instruction");
        return;
    }
    for (unsigned n = 0; n < i->nargs; n++) {
        bool none = n >= needs.nargs || needs.arg[n].class == CG_NO_CLASS;
        if (ir_arg(i, n)->op == IR_OP_slot) continue;
        if (none && i->op != IR_OP_phi && ir_arg(i, n)->id != old->arg[n])
            check_complain(c, i, "operand %u was another", n);
    }
}

static void check_new(checker *c, const ir_inst *i) {
    bool known = i->op == IR_OP_move || i->op == IR_OP_spill || i->op == IR_OP_reload ||
                 i->op == IR_OP_phi || ra_may_repeat(c->t, i) ||
                 (i->op == IR_OP_jmp && i->block->id >= c->before->nblocks);
    if (!known) check_complain(c, i, "an instruction that was not there");
}

static bool may_be_missing(const checker *c, uint32_t id) {
    const saved_inst *old = &c->before->inst[id];
    return old->op == IR_OP_phi || old->repeats;
}

/* The old instructions of a block are there, in order. */
static void check_order(checker *c, const ir_block *b) {
    const check_ids *code = &c->before->block[b->id].code;
    uint32_t next = 0;
    foreach_inst (i, b) {
        if (!check_is_old(c, i)) continue;
        while (next < code->n && code->data[next] != i->id && may_be_missing(c, code->data[next]))
            next++;
        if (next == code->n || code->data[next] != i->id) {
            check_complain(c, i, "the order of instructions has changed before it");
            return;
        }
        next++;
    }
    while (next < code->n && may_be_missing(c, code->data[next])) next++;
    if (next < code->n) check_complain(c, b->last, "an instruction is gone in front of it");
}

/* ------------------------------------------------------------------------------------ the edges */

static bool is_new_block(const checker *c, const ir_block *b) {
    return b->id >= c->before->nblocks;
}

static uint32_t old_pred(const checker *c, const ir_block *b) {
    return is_new_block(c, b) ? b->pred[0]->id : b->id;
}

static uint32_t old_succ(const checker *c, const ir_block *b) {
    return is_new_block(c, b) ? b->succ[0]->id : b->id;
}

static bool same_edges(const checker *c, const ir_block *b) {
    const saved_block *old = &c->before->block[b->id];
    if (b->npred != old->pred.n || b->nsucc != old->succ.n) return false;
    for (uint32_t n = 0; n < b->npred; n++)
        if (old_pred(c, b->pred[n]) != old->pred.data[n]) return false;
    for (uint32_t n = 0; n < b->nsucc; n++)
        if (old_succ(c, b->succ[n]) != old->succ.data[n]) return false;
    return true;
}

static void check_block(checker *c, const ir_block *b) {
    bool ok = is_new_block(c, b) ? b->npred == 1 && b->nsucc == 1 : same_edges(c, b);
    if (!ok) check_complain(c, b->last, "the edges of the block have changed");
    if (!is_new_block(c, b)) check_order(c, b);
    foreach_inst (i, b) {
        if (check_is_old(c, i))
            check_same(c, i);
        else
            check_new(c, i);
    }
}

void check_code(checker *c) {
    foreach_block (b, c->f) check_block(c, b);
}
