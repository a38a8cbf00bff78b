/* ra.h — what the files of register allocation share.
 *
 *   regalloc.c    the order of the steps, and what all of them do to a function
 *   needs.c       what instructions ask of registers
 *   stack.c       every value in memory
 *   ra_check.c    the proof
 */
#ifndef SPVFUSE_CODEGEN_RA_H
#define SPVFUSE_CODEGEN_RA_H

#include "codegen/native.h"

typedef struct {
    const cg_target *t;
    ir_func *f;
    ir_arena *arena;  /* of the result */
    ir_arena scratch; /* of the work */
    cg_allocation *a;
    uint32_t cap;    /* entries that a->reg has room for */
    uint64_t random; /* state; 0: nothing is random */
} ra_state;

/* --------------------------------------------------------------------------- questions (needs.c) */

/* The class that a value's register is of; CG_NO_CLASS for leaves and what is in no register. */
uint8_t ra_class(const cg_target *t, const ir_inst *v);
/* Can the instruction be made again where its result is needed? */
bool ra_may_repeat(const cg_target *t, const ir_inst *i);
static inline uint32_t ra_bit(unsigned reg) { return UINT32_C(1) << reg; }

/* ------------------------------------------------------------------------- changes (regalloc.c) */

static inline unsigned ra_reg(const ra_state *s, const ir_inst *v) {
    return v->id < s->a->nregs ? s->a->reg[v->id] : CG_ANY_REG;
}
void ra_set_reg(ra_state *s, const ir_inst *v, unsigned reg);
/* A register of the set, which is not empty: the first, or any when choices are random. */
unsigned ra_pick(ra_state *s, uint32_t set);
uint32_t ra_new_slot(ra_state *s, unsigned class);
/* New instructions before `at`; NULL: at the end of the block. */
ir_inst *ra_move(ra_state *s, ir_inst *v, ir_block *b, ir_inst *at);
ir_inst *ra_reload(ra_state *s, ir_type type, uint32_t slot, ir_block *b, ir_inst *at);
ir_inst *ra_spill(ra_state *s, ir_inst *v, uint32_t slot, ir_block *b, ir_inst *at);
/* Removes phis of which no code is left. */
void ra_remove_phi(ir_inst *phi);

/* --------------------------------------------------------------------------------------- the ways */

/* False after a reported error. */
bool ra_stack(ra_state *s);

#endif
