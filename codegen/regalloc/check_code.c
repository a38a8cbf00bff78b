/* check_code.c — is the code of the snapshot still complete after allocation?
 *
 * Allocation may add moves, spills, reloads, phis, blocks on edges, and copies of instructions that
 * may be repeated.  It may remove phis and instructions that may be repeated.  Everything else must
 * be where it was, with the same operands except those in registers.
 */
#include "codegen/regalloc/check.h"

enum { MAX_ERRORS = 20 };

void check_fail(checker *c, const ir_inst *i, const char *fmt, ...) {
    char what[200];
    ir_text t = {.arena = &c->scratch};
    if (++c->errors > MAX_ERRORS) return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    ir_print_inst(&t, i);
    ir_error(c->f->module->cx, "allocation of @%s: %s, at%s", c->f->name, what, t.data);
}

/* --------------------------------------------------------------------------------- instructions */

static bool same_operands(const ir_inst *i, const snapshot_inst *old) {
    for (unsigned n = 0; n < i->nargs; n++)
        if (ir_arg(i, n)->id != old->arg[n]) return false;
    return true;
}

bool check_repeats(const checker *c, const ir_inst *i, uint32_t id) {
    const snapshot_inst *old = &c->before->inst[id];
    return old->repeats && i->op == old->op && i->type == old->type && i->nargs == old->nargs &&
           i->imm.bits == old->imm.bits && same_operands(i, old);
}

/* Has an operand been folded into the instruction?  That changes its imm. */
static bool is_folded(const ir_inst *i) {
    for (unsigned n = 0; n < i->nargs; n++)
        if (ir_arg(i, n)->op == IR_OP_slot) return true;
    return false;
}

static void check_same(checker *c, const ir_inst *i) {
    const snapshot_inst *old = &c->before->inst[i->id];
    cg_constraints constraints;
    cg_describe(c->t, i, &constraints);
    bool same = i->op == old->op && i->type == old->type && i->nargs == old->nargs &&
                (i->imm.bits == old->imm.bits || is_folded(i));
    if (!same) {
        check_fail(c, i, "it was another instruction");
        return;
    }
    for (unsigned n = 0; n < i->nargs; n++) {
        bool none = n >= constraints.nargs || constraints.arg[n].class == CG_NO_CLASS;
        if (ir_arg(i, n)->op == IR_OP_slot) continue;
        if (none && i->op != IR_OP_phi && ir_arg(i, n)->id != old->arg[n])
            check_fail(c, i, "operand %u was another", n);
    }
}

static void check_new(checker *c, const ir_inst *i) {
    bool known = i->op == IR_OP_move || i->op == IR_OP_spill || i->op == IR_OP_reload ||
                 i->op == IR_OP_phi || ra_may_repeat(c->t, i) ||
                 (i->op == IR_OP_jmp && i->block->id >= c->before->nblocks);
    if (!known) check_fail(c, i, "an instruction that was not there");
}

static bool may_be_missing(const checker *c, uint32_t id) {
    const snapshot_inst *old = &c->before->inst[id];
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
            check_fail(c, i, "the order of instructions has changed before it");
            return;
        }
        next++;
    }
    while (next < code->n && may_be_missing(c, code->data[next])) next++;
    if (next < code->n) check_fail(c, b->last, "an instruction is gone in front of it");
}

/* ---------------------------------------------------------------------------------------- edges */

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
    const snapshot_block *old = &c->before->block[b->id];
    if (b->npred != old->pred.n || b->nsucc != old->succ.n) return false;
    for (uint32_t n = 0; n < b->npred; n++)
        if (old_pred(c, b->pred[n]) != old->pred.data[n]) return false;
    for (uint32_t n = 0; n < b->nsucc; n++)
        if (old_succ(c, b->succ[n]) != old->succ.data[n]) return false;
    return true;
}

static void check_block(checker *c, const ir_block *b) {
    bool ok = is_new_block(c, b) ? b->npred == 1 && b->nsucc == 1 : same_edges(c, b);
    if (!ok) check_fail(c, b->last, "the edges of the block have changed");
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
