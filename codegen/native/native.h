/* native.h — what the stages of native code generation share.
 *
 * The stages lead from instructions of a target to registers:
 *
 *   legalize -> select -> schedule -> spill -> assign -> emit
 *
 * (stages.def, compile.c).  All stages work on ir_func in SSA form.
 *
 * Selection produces level `machine`, which has the instructions
 *   mach, mach_br    an instruction of the target; only the target interprets imm.mach
 *   mach_call        a call of a function of the module
 *   reg_in           a value that arrives in a register; at the start of the entry block
 *   phi, move        as on every level
 *   jmp, ret, unreachable
 *   alloca           a place in the frame: it needs no register, and instructions of the target
 *                    have it as an operand
 * Constants, globals and undef are operands, too; the target encodes them into the instruction.
 *
 * Spilling adds spill and reload, operands that are read from a slot of the frame (the leaf slot),
 * and copies of instructions that are cheaper to repeat than to reload.
 *
 * Assignment gives every value one register for its whole live range.  An operand that an
 * instruction needs in another register is moved there before the instruction.  Moves at the ends
 * of predecessors put all arguments of a phi into the register of the phi.  The function is then at
 * level `allocated`, and can be encoded from top to bottom.
 *
 * A register is a class and a number below 32.  Sets of registers are masks of 32 bits per class.
 */
#ifndef SPVFUSE_CODEGEN_NATIVE_H
#define SPVFUSE_CODEGEN_NATIVE_H

#include "codegen/codegen.h"
#include "ir/change.h"

/* ----------------------------------------------------------------------- legalization (legalize.c)
 *
 * Replaces what no native target has by what all have: switches, updates of shared memory, copies,
 * shifts that may be too long, divisions of bytes and words, branches on two conditions.
 * lacks_count: also the counting of leading and trailing zeros. */
void cg_legalize(ir_func *f, bool lacks_count, ir_arena *scratch);

/* ---------------------------------------------------------------- the description of a target */

enum { CG_MAX_CLASSES = 3, CG_MAX_REGS = 32, CG_MAX_ARGS = 12 };
enum { CG_NO_CLASS = 0xff, CG_ANY_REG = 0xff };

/* The number of the slot: of a leaf `slot`, a spill or a reload. */
static inline uint32_t cg_slot_of(const ir_inst *i) { return (uint32_t)i->imm.bits; }
static inline void cg_set_slot(ir_inst *i, uint32_t slot) { i->imm.bits = slot; }
/* The register of a reg_in. */
static inline uint8_t cg_register_of(const ir_inst *i) { return (uint8_t)i->imm.bits; }

/* A constant or an address that an instruction may name without a register. */
static inline bool cg_is_constant(const ir_inst *x) {
    return ir_is_leaf(x) || x->op == IR_OP_alloca;
}

/* Where a value has to be. */
typedef struct {
    uint8_t class; /* CG_NO_CLASS: in no register (a constant, a place in the frame, no result) */
    uint8_t fixed; /* number of the register, or CG_ANY_REG */
} cg_constraint;

/* What one instruction requires of registers. */
typedef struct {
    cg_constraint result;
    int8_t tied; /* the argument whose register becomes the result's; -1: none */
    bool early;  /* the result is written before all arguments have been read */
    uint8_t nargs;
    cg_constraint arg[CG_MAX_ARGS]; /* a constant is moved to a register if one is required */
    /* Registers whose contents are lost.  Arguments may be in them, a result only if it is fixed
     * there. */
    uint32_t clobbers[CG_MAX_CLASSES];
} cg_constraints;

typedef struct {
    const char *name; /* "xmm"; reg_name gives names of registers */
    uint32_t usable;  /* registers that may be given to values */
    uint32_t cheap;   /* those of `usable` that are taken first: free to use, short to encode */
    uint32_t slot;    /* bytes of a frame slot that holds any value of the class; see slot_of */
} cg_class;

typedef struct cg_target cg_target;
struct cg_target {
    const char *name;
    unsigned nclasses;
    cg_class class[CG_MAX_CLASSES];
    /* The constraints of a mach, mach_br, mach_call, or ret with operands; those of other
     * instructions are the same for all targets.  At first, *out has no constraints. */
    void (*describe)(const cg_target *t, const ir_inst *i, cg_constraints *out);
    /* The class that holds values of a type. */
    uint8_t (*class_of)(const cg_target *t, ir_type type);
    /* Bytes of a frame slot that holds values of a type, a power of two; NULL: the class says
     * it. */
    uint32_t (*slot_of)(const cg_target *t, ir_type type);
    /* Is i cheaper to repeat than to keep in memory?  It has no operands in registers and no
     * effect, and reads no memory that changes. */
    bool (*may_repeat)(const cg_target *t, const ir_inst *i);
    /* May the first two operands of a mach, both in registers and the first one tied, be exchanged?
     * May be NULL. */
    bool (*commutes)(const cg_target *t, const ir_inst *i);
    /* Makes i read argument n from a slot of the frame instead of a register; the caller replaces
     * the argument by the slot.  False, without a change, if i has no such form or it does not pay.
     * May be NULL. */
    bool (*fold_reload)(const cg_target *t, ir_inst *i, unsigned n);
    /* Does a mach read or write memory that changes, or have another effect? */
    bool (*has_effect)(const cg_target *t, const ir_inst *i);
    /* Is all of that a read that may change places with other reads?  May be NULL. */
    bool (*only_reads)(const cg_target *t, const ir_inst *i);
    /* The type of the constant that i reads from memory and could have in a register, or IR_VOID.
     * unfold makes i read it in a register, and returns the instruction before i that loads it and
     * may be repeated.  Both may be NULL. */
    ir_type (*reads_constant)(const cg_target *t, const ir_inst *i);
    ir_inst *(*unfold)(const cg_target *t, ir_inst *i);
    /* For dumps: how register r of a class is written; NULL: as the name of the class and r. */
    const char *(*reg_name)(const cg_target *t, unsigned class, unsigned r);
    /* For dumps: writes what a mach or mach_br does, as an assembler calls it.  May be NULL. */
    void (*put_name)(const cg_target *t, const ir_inst *i, ir_text *out);
};

/* The constraints of any instruction.  Operands of phis have none: they are where the phi is.
 * Selection leaves no constant or address as operand of a phi or a move. */
void cg_describe(const cg_target *t, const ir_inst *i, cg_constraints *out);

/* -------------------------------------------------------------------------- register allocation */

typedef struct {
    uint32_t size; /* bytes, which its place is aligned to as well */
} cg_slot;

/* The result of allocation; it is in the arena that was given. */
typedef struct {
    uint8_t *reg;   /* by value id: the register's number; CG_ANY_REG: in none */
    uint32_t nregs; /* entries of it */
    ir_vec(cg_slot) slots;
    uint32_t used[CG_MAX_CLASSES]; /* registers that are written somewhere */
} cg_allocation;

/* Allocation takes three stages, from level `machine` to `allocated`: another order of instructions
 * and operands, spilling, and registers.  The caller ends the allocator, also after a stage has
 * thrown.  That frees everything except the allocator and the result, which lie in the arena. */
typedef struct cg_allocator cg_allocator;
cg_allocator *cg_begin_allocation(const cg_target *t, ir_func *f, const cg_regalloc_options *o,
                                  ir_arena *arena, cg_allocation *out);
void cg_schedule(cg_allocator *g);
void cg_spill(cg_allocator *g);
/* False after a reported error: an instruction asks for more registers than there are. */
bool cg_assign(cg_allocator *g);
void cg_end_allocation(cg_allocator *g);

/* The three stages at once; false after a reported error, also lack of memory. */
bool cg_allocate(const cg_target *t, ir_func *f, const cg_regalloc_options *o, ir_arena *arena,
                 cg_allocation *out);

/* ----------------------------------------------------------------------------- proof of allocation
 *
 * A snapshot is what a function said before it was allocated: its instructions with their operands,
 * by id.  Unreachable blocks are gone by then. */

typedef struct cg_snapshot cg_snapshot;
const cg_snapshot *cg_take_snapshot(const cg_target *t, const ir_func *f, ir_arena *arena);

/* Does every instruction find the values of its operands in the registers that it reads?  The
 * answer does not depend on how the allocation was made.  Reports what is wrong. */
bool cg_check_allocation(const cg_target *t, const cg_snapshot *before, ir_func *f,
                         const cg_allocation *a);

/* A function at level `machine` or `allocated`, with a comment for each instruction: what the
 * target calls it, and with an allocation the registers that it writes and reads.  `a` may be
 * NULL. */
void cg_print_machine(ir_text *out, const cg_target *t, const ir_func *f, const cg_allocation *a);

#endif
