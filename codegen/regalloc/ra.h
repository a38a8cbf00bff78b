/* ra.h — what the files of register allocation share.
 *
 *   regalloc.c      the driver: the order of the steps
 *
 * The steps, in this order:
 *   hoist.c         constants before loops
 *   schedule.c      another order for blocks that need too many registers
 *   commute.c       which operand is overwritten
 *   spill.c         few enough values in registers at every place (spill.h lists its parts)
 *   assign.c        a register for every value
 *   evict.c         values for which assignment has found no register, to slots
 *   moves.c         the moves that follow from registers and constraints
 *   stack.c         instead of all that: every value in a slot
 *
 * What steps use:
 *   constraints.c   what instructions require of registers
 *   insert.c        registers of values, slots, and new instructions
 *   pressure.c      how many registers are needed where
 *   ranges.c        registers that a live range cannot have, and those that it prefers
 *   parcopy.c       the order of copies that take place at once
 *
 * check.h lists the files of the proof of the result; print.c writes the result as text.
 */
#ifndef SPVFUSE_CODEGEN_RA_H
#define SPVFUSE_CODEGEN_RA_H

#include "codegen/native/native.h"

typedef ir_vec(ir_inst *) ra_values;

/* One allocation. */
typedef struct {
    const cg_target *t;
    ir_func *f;
    ir_arena scratch;
    uint64_t random; /* the state of random choices; 0: nothing is random */
    ir_map minimal;  /* by id: values whose live range is minimal, so that no eviction helps */
    /* The result. */
    cg_allocation *a;
    ir_arena *arena;
    uint32_t capacity;                   /* of a->reg */
    uint32_t slot_bytes[CG_MAX_CLASSES]; /* of slots: for the largest value of the function */
} ra_state;

/* A number of values or registers of each class. */
typedef struct {
    uint32_t n[CG_MAX_CLASSES];
} ra_count;

static inline uint32_t ra_bit(unsigned reg) { return UINT32_C(1) << reg; }
unsigned ra_count_bits(uint32_t set);

/* ------------------------------------------------------------------ constraints (constraints.c) */

/* The class of the register that holds v; CG_NO_CLASS for leaves and what is in no register. */
uint8_t ra_class(const cg_target *t, const ir_inst *v);
/* As cg_describe; a tied operand and its result are fixed alike. */
void ra_describe(const cg_target *t, const ir_inst *i, cg_constraints *out);
/* Can the value be rematerialized, by repeating its instruction where the value is needed? */
bool ra_may_repeat(const cg_target *t, const ir_inst *i);
/* Bytes that a value needs in a slot of the frame. */
uint32_t ra_slot_bytes(const cg_target *t, ir_type type);

/* How many registers of a class no live value can have, although no value is in them: before an
 * instruction, where its operands are live; across it; and after it, where its result is live. */
typedef struct {
    uint8_t before, across, after;
} ra_reserved;
/* `survives`: by operand, is it live after the instruction? */
void ra_find_reserved(const cg_target *t, const cg_constraints *constraints, const bool *survives,
                      ra_reserved out[CG_MAX_CLASSES]);

/* --------------------------------------------------------------------------- changes (insert.c) */

static inline unsigned ra_reg(const ra_state *s, const ir_inst *v) {
    return v->id < s->a->nregs ? s->a->reg[v->id] : CG_ANY_REG;
}
void ra_set_reg(ra_state *s, const ir_inst *v, unsigned reg);
/* Gives every id an entry in the table of registers. */
void ra_complete_registers(ra_state *s);
/* Below n; only if choices are random. */
uint32_t ra_random(ra_state *s, uint32_t n);
/* A register of the set, which is not empty: the first, or any if choices are random. */
unsigned ra_pick(ra_state *s, uint32_t set);

/* Finds the size of slots. */
void ra_measure_slots(ra_state *s);
uint32_t ra_new_slot(ra_state *s, unsigned class);

/* Where new instructions go: before `before`, or to the end of the block if it is NULL. */
typedef struct {
    ir_block *block;
    ir_inst *before;
} ra_point;
static inline ra_point ra_before(ir_inst *i) { return (ra_point){i->block, i}; }
/* The first point at which v can be used. */
ra_point ra_after_definition(const ir_inst *v);
/* The points at which the phi arguments of an edge are used. */
static inline ra_point ra_end_of(ir_block *b) { return (ra_point){b, b->last}; }

ir_inst *ra_move(ra_state *s, ir_inst *v, ra_point at);
ir_inst *ra_reload(ra_state *s, ir_type type, uint32_t slot, ra_point at);
ir_inst *ra_spill(ra_state *s, ir_inst *v, uint32_t slot, ra_point at);
/* The same instruction again. */
ir_inst *ra_repeat(ra_state *s, const ir_inst *v, ra_point at);
/* The live range of v is minimal: it ends at the next instruction. */
void ra_note_minimal(ra_state *s, ir_inst *v);
bool ra_is_minimal(const ra_state *s, const ir_inst *v);
/* Removes a phi that needs no register any more. */
void ra_remove_phi(ir_inst *phi);

/* ------------------------------------------------------------------------ pressure (pressure.c) */

/* Analyses of the function, valid until it changes. */
typedef struct {
    const ir_live *live;
    const ir_order *order;
    const ir_loops *loops;
} ra_graph;
ra_graph ra_find_graph(ra_state *s);

/* Counts the values of live sets by class.  Consecutive sets mostly differ in few words, so the
 * last one is kept; it points into `live`, which must not be computed anew. */
typedef struct {
    const ir_live *live;
    unsigned nclasses;
    uint32_t *of_class[CG_MAX_CLASSES]; /* as bits: the numbers of the values of a class */
    ir_live_set last;
    ra_count count; /* of `last` */
} ra_counter;
ra_counter ra_new_counter(ra_state *s, const ir_live *live);
ra_count ra_count_live(ra_counter *c, const ir_live_set *set);

/* The most registers that are needed at once. */
typedef struct {
    ra_count *block;    /* by block id */
    ra_count *loop;     /* by id of the header */
    ra_count registers; /* that the target has */
    bool exceeds;       /* more are needed somewhere */
} ra_pressure;
ra_pressure ra_find_pressure(ra_state *s, const ra_graph *g, ra_counter *c);

/* ----------------------------------------------------------------------- live ranges (ranges.c) */

/* What is known about the live range of a value before it has a register. */
typedef struct {
    uint32_t excluded; /* registers that hold something else at some time in the range */
    uint32_t parent;   /* union-find: ranges that save a move if they share a register */
    uint8_t hint;      /* the register that an instruction requires for the value, or CG_ANY_REG */
    uint8_t shared;    /* of a root: the register that a member has got, or CG_ANY_REG */
    bool unused;       /* the value has no use */
    float cost;        /* of being in memory: accesses, weighted by loops */
} ra_range;

typedef struct {
    ra_range *of;       /* by value id */
    uint32_t *last_use; /* by id of an instruction, as bits: operands whose ranges end there; one of
                           them if a value is several operands */
} ra_ranges;

ra_ranges ra_find_ranges(ra_state *s);
/* The root of the ranges that save moves if they share a register with this one. */
uint32_t ra_range_root(ra_range *of, uint32_t id);

/* ------------------------------------------------------------------ parallel copies (parcopy.c) */

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
/* Steps that do n copies of one class at once, whose `to` differ; at most n and a half.  `spare` is
 * a register that is free, or becomes it, or CG_ANY_REG: then the slot is used. */
unsigned ra_order_copies(const ra_copy *copies, unsigned n, unsigned spare, ra_step *out);

/* ------------------------------------------------------------------------------------ the steps */

/* Moves constants before loops in which a register is free. (hoist.c) */
void ra_hoist(ra_state *s, const ra_graph *g, const ra_pressure *p);
/* Changes the order within blocks; true: some block needs too many registers nevertheless.
 * (schedule.c) */
bool ra_schedule(ra_state *s, const ra_graph *g, ra_counter *c, const ra_pressure *p);
/* Exchanges operands where that saves a copy. (commute.c) */
void ra_commute(ra_state *s);
/* Spills until at every place there are registers for all live values.  `exceeds`: it is known that
 * there are not. (spill.c) */
void ra_spill_values(ra_state *s, bool exceeds);
/* Chooses the register of every live range.  Values for which it finds none, or that are in the way
 * of others, are appended to `evicted`.  False: nothing can be done. (assign.c) */
bool ra_assign(ra_state *s, ra_values *evicted);
/* Moves these values to slots. (evict.c) */
void ra_evict(ra_state *s, const ra_values *values);
/* Inserts moves from and to fixed registers, and to those of phis. (moves.c) */
void ra_insert_moves(ra_state *s);
/* Gives every value a slot.  False after a reported error. (stack.c) */
bool ra_allocate_slots(ra_state *s);

#endif
