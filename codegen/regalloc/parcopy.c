/* parcopy.c — parallel copies as a sequence of moves.
 *
 * At the end of a predecessor, all phis of a block get their values at once.  The order follows
 * Boissinot, Darte, Rastello, Dupont de Dinechin and Guillon, "Revisiting out-of-SSA translation
 * for correctness, code quality, and efficiency" (2009): a register can be written when no copy
 * reads its old content any more, which frees the register that was read.  Such chains come first,
 * from their ends.  All that remains is cycles.  One register of each is saved in a free register,
 * or in a slot if none is free, and the rest of the cycle is a chain.  Constants are written last:
 * no copy reads the registers that they go to any more.
 */
#include "codegen/regalloc/ra.h"

/* A register and its old content. */
typedef struct {
    const ra_copy *copy; /* that writes the register, or NULL */
    uint8_t readers;     /* copies that still read the old content */
    uint8_t now;         /* the register that holds it now; CG_ANY_REG: the slot */
} copy_register;

typedef struct {
    copy_register reg[CG_MAX_REGS];
    uint8_t ready[CG_MAX_REGS]; /* registers to be written that no copy reads any more */
    unsigned nready;
    ra_step *out;
    unsigned n;
} copy_state;

static void add_step(copy_state *s, ra_step_kind kind, unsigned to, unsigned from) {
    s->out[s->n++] = (ra_step){.kind = (uint8_t)kind, .to = (uint8_t)to, .from = (uint8_t)from};
}

/* Writes registers that are ready, which makes others ready. */
static void follow_chains(copy_state *s) {
    while (s->nready) {
        copy_register *r = &s->reg[s->ready[--s->nready]];
        const ra_copy *c = r->copy;
        r->copy = NULL;
        if (s->reg[c->from].now == CG_ANY_REG)
            add_step(s, RA_RESTORE, c->to, CG_ANY_REG);
        else
            add_step(s, RA_MOVE, c->to, s->reg[c->from].now);
        copy_register *from = &s->reg[c->from];
        if (--from->readers == 0 && from->copy) s->ready[s->nready++] = c->from;
    }
}

/* All registers that are left are in cycles.  Saves r, so that it can be written. */
static void break_cycle(copy_state *s, unsigned r, unsigned spare) {
    add_step(s, spare == CG_ANY_REG ? RA_SAVE : RA_MOVE, spare, r);
    s->reg[r].now = (uint8_t)spare;
    s->ready[s->nready++] = (uint8_t)r;
    follow_chains(s);
}

unsigned ra_order_copies(const ra_copy *copies, unsigned n, unsigned spare, ra_step *out) {
    copy_state s = {.out = out};
    for (unsigned r = 0; r < CG_MAX_REGS; r++) s.reg[r].now = (uint8_t)r;
    for (unsigned k = 0; k < n; k++) {
        if (copies[k].from == CG_ANY_REG || copies[k].from == copies[k].to) continue;
        s.reg[copies[k].to].copy = &copies[k];
        s.reg[copies[k].from].readers++;
    }
    for (unsigned r = 0; r < CG_MAX_REGS; r++)
        if (s.reg[r].copy && !s.reg[r].readers) s.ready[s.nready++] = (uint8_t)r;
    follow_chains(&s);
    for (unsigned r = 0; r < CG_MAX_REGS; r++)
        if (s.reg[r].copy) break_cycle(&s, r, spare);
    for (unsigned k = 0; k < n; k++)
        if (copies[k].from == CG_ANY_REG) add_step(&s, RA_CONSTANT, copies[k].to, k);
    return s.n;
}
