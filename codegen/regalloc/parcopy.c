/* parcopy.c — copies that happen at once, made one after another.
 *
 * At the end of a predecessor all phis of a block get their values together.  A register whose old
 * content no other copy still reads can be written: such chains come first, from their ends.  Only
 * cycles are left then; one register of each is put aside, in a free register, or in a slot when no
 * register is free.  Constants are written last: no copy reads the registers that they go to any
 * more.
 */
#include "codegen/regalloc/ra.h"

typedef struct {
    const ra_copy *copy; /* that writes the register, or NULL */
    uint8_t readers;     /* copies that still read the register */
    uint8_t now;         /* where its old content is now */
} copy_reg;

typedef struct {
    copy_reg reg[CG_MAX_REGS];
    uint8_t ready[CG_MAX_REGS]; /* registers to be written that no copy reads any more */
    unsigned nready;
    ra_step *out;
    unsigned n;
} copy_state;

static void step(copy_state *s, ra_step_kind kind, unsigned to, unsigned from) {
    s->out[s->n++] = (ra_step){.kind = (uint8_t)kind, .to = (uint8_t)to, .from = (uint8_t)from};
}

static void now_unread(copy_state *s, unsigned r) {
    if (--s->reg[r].readers == 0 && s->reg[r].copy) s->ready[s->nready++] = (uint8_t)r;
}

/* Writes what is ready, which makes more ready. */
static void follow_chains(copy_state *s) {
    while (s->nready) {
        copy_reg *r = &s->reg[s->ready[--s->nready]];
        const ra_copy *c = r->copy;
        r->copy = NULL;
        if (s->reg[c->from].now == CG_ANY_REG)
            step(s, RA_RESTORE, c->to, CG_ANY_REG);
        else
            step(s, RA_MOVE, c->to, s->reg[c->from].now);
        now_unread(s, c->from);
    }
}

/* All registers of what is left are in cycles: r is put aside, so it can be written. */
static void break_cycle(copy_state *s, unsigned r, unsigned spare) {
    step(s, spare == CG_ANY_REG ? RA_SAVE : RA_MOVE, spare, r);
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
        if (copies[k].from == CG_ANY_REG) step(&s, RA_CONSTANT, copies[k].to, k);
    return s.n;
}
