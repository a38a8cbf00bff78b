/* ra.h — what the files of register allocation share.
 *
 *   regalloc.c    the order of the steps, and what all of them do to a function
 *   needs.c       what instructions ask of registers
 *   stack.c       every value in memory
 *   hoist.c       constants in front of loops
 *   schedule.c    the order of blocks that need too many registers
 *   commute.c     which operand is overwritten
 *   spill.c       so few values at once that registers suffice; spill.h lists its helpers
 *   limits.c      which registers a value cannot have, which it would like, what it costs in memory
 *   assign.c      a register for every value
 *   place.c       the moves that follow from that
 *   parcopy.c     the order of moves that happen at once
 *   evict.c       values that found no register, in memory
 *   ra_check.c    the proof
 */
#ifndef SPVFUSE_CODEGEN_RA_H
#define SPVFUSE_CODEGEN_RA_H

#include "codegen/native/native.h"

typedef ir_vec(ir_inst *) ra_values;

typedef enum { RA_UNKNOWN, RA_ENOUGH, RA_TOO_FEW } ra_room;

typedef struct {
    const cg_target *t;
    ir_func *f;
    ir_arena *arena;  /* of the result */
    ir_arena scratch; /* of the work */
    cg_allocation *a;
    uint32_t cap;                        /* entries that a->reg has room for */
    uint64_t random;                     /* state; 0: nothing is random */
    uint32_t slot_bytes[CG_MAX_CLASSES]; /* of slots, for the largest value of the function */
    ra_room room;                        /* are there registers for all values? */
    ir_map brief; /* by id: values that live for one instruction, and are never evicted */
} ra_state;

/* -------------------------------------------------------------------------- questions (needs.c) */

/* The class that a value's register is of; CG_NO_CLASS for leaves and what is in no register. */
uint8_t ra_class(const cg_target *t, const ir_inst *v);
/* As cg_describe; a tied operand and its result are fixed alike. */
void ra_describe(const cg_target *t, const ir_inst *i, cg_needs *out);
/* Can the instruction be made again where its result is needed? */
bool ra_may_repeat(const cg_target *t, const ir_inst *i);
/* Bytes that a value needs in a slot of the frame. */
uint32_t ra_slot_of(const cg_target *t, ir_type type);
static inline uint32_t ra_bit(unsigned reg) { return UINT32_C(1) << reg; }

/* ------------------------------------------------------------------------- changes (regalloc.c) */

static inline unsigned ra_reg(const ra_state *s, const ir_inst *v) {
    return v->id < s->a->nregs ? s->a->reg[v->id] : CG_ANY_REG;
}
void ra_set_reg(ra_state *s, const ir_inst *v, unsigned reg);
/* Below n; only when choices are random. */
uint32_t ra_random(ra_state *s, uint32_t n);
/* A register of the set, which is not empty: the first, or any when choices are random. */
unsigned ra_pick(ra_state *s, uint32_t set);
uint32_t ra_new_slot(ra_state *s, unsigned class);
/* New instructions before `at`; NULL: at the end of the block. */
ir_inst *ra_move(ra_state *s, ir_inst *v, ir_block *b, ir_inst *at);
ir_inst *ra_reload(ra_state *s, ir_type type, uint32_t slot, ir_block *b, ir_inst *at);
ir_inst *ra_spill(ra_state *s, ir_inst *v, uint32_t slot, ir_block *b, ir_inst *at);
/* The same instruction again. */
ir_inst *ra_repeat(ra_state *s, const ir_inst *v, ir_block *b, ir_inst *at);
/* The value lives for one instruction only. */
void ra_note_brief(ra_state *s, ir_inst *v);
/* In front of what something can be done with a value for the first time. */
ir_inst *ra_place_behind(const ir_inst *v);
/* Removes phis that need no code any more. */
void ra_remove_phi(ir_inst *phi);

/* --------------------------------------------------------------------------- copies (parcopy.c) */

/* What register `to` gets: the content of another one, or with CG_ANY_REG something that is in no
 * register. */
typedef struct {
    uint8_t to, from;
} ra_copy;
typedef enum {
    RA_MOVE,    /* to <- from */
    RA_SAVE,    /* slot <- from */
    RA_RESTORE, /* to <- slot */
    RA_CONSTANT /* to <- what copy number `from` says */
} ra_step_kind;
typedef struct {
    uint8_t kind, to, from;
} ra_step;
/* Steps that do n copies of one class, whose `to` differ, at once; at most n and a half.  `spare`
 * is a register that is free, or becomes it, or CG_ANY_REG: then the slot is used. */
unsigned ra_order_copies(const ra_copy *copies, unsigned n, unsigned spare, ra_step *out);

/* -------------------------------------------------------------------- limits and wishes (limits.c) */

typedef struct {
    uint32_t forbidden; /* registers that hold something else at some time in its life */
    uint32_t group;     /* union-find: values that would like to share a register */
    uint8_t wish;       /* register that some instruction wants it in, or CG_ANY_REG */
    uint8_t group_reg;  /* of the root: what a member has got, or CG_ANY_REG */
    bool unread;        /* read nowhere */
    float cost;         /* of being in memory: accesses, weighted by loops */
} ra_value;

typedef struct {
    ra_value *value;    /* by id */
    uint32_t *last_use; /* by id of an instruction: the operands that are read for the last time
                           there, as bits; one of them if the value is there twice */
} ra_limits;

ra_limits ra_find_limits(ra_state *s);
uint32_t ra_group(ra_value *table, uint32_t id);

/* ------------------------------------------------------------------------------ the other steps */

/* Constants in front of loops, and blocks in another order. (spill.c) */
void ra_arrange(ra_state *s);
/* Lets operands change places. */
void ra_commute(ra_state *s);
/* Spills so that there are registers enough for all that is live at once. (spill.c) */
void ra_spill_values(ra_state *s);
/* Chooses the register in which every value lives.  Those that found none, or are in the way of
 * others, are appended to `evicted`.  False when nothing can be done. */
bool ra_color(ra_state *s, ra_values *evicted);
/* These values live in slots from now on. */
void ra_evict(ra_state *s, const ra_values *values);
/* Moves to and from fixed registers, and to those of phis. */
void ra_place_moves(ra_state *s);

/* ------------------------------------------------------------------------------------- the ways */

/* False after a reported error. */
bool ra_stack(ra_state *s);
/* False when registers could not be found, without an error; the function is still one at level
 * machine. */
bool ra_fast(ra_state *s);

#endif
