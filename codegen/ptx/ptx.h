/* ptx.h — what the files of the PTX writer share.
 *
 * One `ptx_writer` lives while a module is written, one `ptx_func` while a function is.  The steps:
 *
 *   write.c      the driver: variables, functions, and the head, which says what all of it needs
 *   func.c       entry points, their parameters and blocks
 *   branch.c     the ends of blocks: phis, branches, switches
 *   edges.c      numbers edges, by which phis have their operands
 *   inst.c       finds the file that writes an instruction
 *
 * and kinds of instructions:
 *   rows.c       operations on numbers, which ptx.def lists by operation and type
 *   wide.c       products of 64 bits of numbers of 32 bits
 *   convert.c    conversions, and the same bits as another type
 *   structs.c    which structs by value are read where they were given
 *   local.c      variables in local memory
 *   lanes.c      vectors, which are as many registers as they have lanes
 *   memory.c     addresses, loads, stores, copies
 *   atomic.c     atomic operations, fences, barriers
 *   query.c      what a work-item asks about itself
 *   subgroup.c   what the work-items of a warp do together (with collect.c)
 *   warp.c       their reductions and scans
 *   group.c      what those of a work-group do together
 *
 * All of them use values.c: registers and constants.
 *
 * The code given is that of work-items (level spmd), expanded for cg_ptx_target.  PTX has as many
 * registers as code wants, so nothing is allocated; phis are copies at the ends of blocks.
 * Integers of 8 and 16 bits are in registers of 32 bits, whose higher bits are not defined:
 * operations that depend on them extend their operands first.
 *
 * What cannot be written ends the writing by ptx_refuse, which names the function and the
 * instruction.
 *
 * Source: PTX ISA.
 */
#ifndef SPVFUSE_CODEGEN_PTX_H
#define SPVFUSE_CODEGEN_PTX_H

#include "codegen/codegen.h"
#include "ir/flow.h"

/* Registers by what they hold. */
typedef enum { PTX_PRED, PTX_B16, PTX_B32, PTX_B64, PTX_F32, PTX_F64, PTX_CLASSES } ptx_class;

enum { PTX_WARP = 32 };         /* threads */
enum { PTX_GROUP_BYTES = 256 }; /* of shared memory for what a work-group does together */

/* The parts of a function, in their order. */
typedef struct {
    ir_text head, variables, body;
} ptx_parts;

typedef struct {
    const ir_module *m;
    ir_ctx *cx;
    ir_arena *arena;
    const cg_ptx_options *options;
    unsigned version; /* of the language that the text needs, times 10 */
    ir_text variables;
    ir_vec(ptx_parts) functions;
    uint8_t first_row[IR_OP_COUNT]; /* by operation (ptx_index_rows) */
    ir_map named;           /* variables in local memory that are no part of the dynamic one */
    bool has_group_memory;  /* for what the items of a work-group do together */
    bool has_dynamic_local; /* local memory whose size the launch gives */
    bool has_grid_barrier;  /* barriers of all work-groups, and the word that they change */
} ptx_writer;

typedef ir_vec(const char *) ptx_names;

typedef struct {
    ptx_writer *w;
    ir_func *f;
    uint32_t *first;              /* by value id: number of its first register + 1 */
    bool *in_param;               /* by value id: it is an address in the memory of parameters */
    uint32_t *first_edge, *place; /* edges.c */
    uint32_t count[PTX_CLASSES];  /* registers so far */
    ptx_names names[PTX_CLASSES]; /* of registers, as far as they have been asked for */
    uint32_t labels;              /* besides those of blocks */
    cg_ptx_hidden hidden;
    ir_map places; /* of variables in local memory, + 1, if they are in its dynamic part */
    ir_text variables, body; /* of the function */
    const ir_inst *inst;     /* that is being written, or NULL */
} ptx_func;

/* ------------------------------------------------------------------------------ text (values.c) */

/* An instruction, without the semicolon. */
void ptx_put(ptx_func *fn, const char *fmt, ...) IR_PRINTF(2, 3);
/* The same in parts, which are put into the text that ptx_begin gives, until ptx_end. */
ir_text *ptx_begin(ptx_func *fn);
void ptx_end(ptx_func *fn);
void ptx_label(ptx_func *fn, const char *name);
const char *ptx_new_label(ptx_func *fn);
IR_NORETURN void ptx_refuse(const ptx_func *fn, const char *fmt, ...) IR_PRINTF(2, 3);
/* `what` needs this processor and this version of the language. */
void ptx_need(ptx_func *fn, unsigned sm, unsigned version, const char *what);
/* A name of the module's as an identifier. */
const char *ptx_name(ptx_writer *w, const char *name);

/* ---------------------------------------------------------------------------- values (values.c) */

/* Most functions that give a register number it, and may write an instruction.  Arguments of a call
 * are evaluated in any order, so at most one of them is such a call. */

ptx_class ptx_class_of(const ir_module *m, ir_type t); /* of one lane */
const char *ptx_class_type(ptx_class c);               /* "b32" */
const char *ptx_class_prefix(ptx_class c);             /* "%r" */
/* A register for nothing but this function's next instructions. */
const char *ptx_temporary(ptx_func *fn, ptx_class c);
/* The register of a lane of what i gives. */
const char *ptx_result(ptx_func *fn, const ir_inst *i, unsigned lane);
/* A lane as an operand: a register or a literal. */
const char *ptx_operand(ptx_func *fn, const ir_inst *v, unsigned lane);
/* The same, always a register. */
const char *ptx_register(ptx_func *fn, const ir_inst *v, unsigned lane);
/* A lane of an integer of at most 32 bits, extended to 32 bits; of 64 bits, as it is. */
const char *ptx_extended(ptx_func *fn, const ir_inst *v, unsigned lane, bool is_signed);
/* A lane of an integer as an unsigned number of 32 bits; of 64 bits, greater ones are `most`. */
const char *ptx_amount(ptx_func *fn, const ir_inst *v, unsigned lane, unsigned most);
/* A literal of class c. */
const char *ptx_literal(ptx_func *fn, ptx_class c, uint64_t bits);
/* The lowest bit of a register of 32 bits, as a truth value. */
void ptx_test_bit(ptx_func *fn, const char *to, const char *word);
/* `from` in the register `to` of class c. */
void ptx_move(ptx_func *fn, ptx_class c, const char *to, const char *from);

/* ------------------------------------------------------------------------- instructions by kind */

/* True: it is one of those, and has been written. */
bool ptx_write_wide(ptx_func *fn, const ir_inst *i);
bool ptx_write_row(ptx_func *fn, const ir_inst *i);
/* By operation: the number of its first row; greater than all of them if there is none. */
void ptx_index_rows(uint8_t first[IR_OP_COUNT]);
bool ptx_has_row(const ir_inst *i, unsigned sm); /* on this processor */
bool ptx_write_conversion(ptx_func *fn, const ir_inst *i);
bool ptx_write_lanes(ptx_func *fn, const ir_inst *i);
bool ptx_write_memory(ptx_func *fn, const ir_inst *i);
bool ptx_write_atomic(ptx_func *fn, const ir_inst *i);
bool ptx_write_query(ptx_func *fn, const ir_inst *i);
bool ptx_write_subgroup(ptx_func *fn, const ir_inst *i);
bool ptx_write_group(ptx_func *fn, const ir_inst *i);
void ptx_write_inst(ptx_func *fn, const ir_inst *i);

/* What a work-item is, as numbers of 32 bits (query.c). */
const char *ptx_special(ptx_func *fn, const char *name); /* of the special register %name */
const char *ptx_local_linear_id(ptx_func *fn);
const char *ptx_group_items(ptx_func *fn);
const char *ptx_warp_number(ptx_func *fn);
/* Has each warp 32 threads, as the size of the work-group that the kernel requires says? */
bool ptx_has_full_warps(const ptx_func *fn);
const char *ptx_warps(ptx_func *fn);
const char *ptx_warp_size(ptx_func *fn); /* the last one may have fewer threads */

/* ---------------------------------------------------------- values of several items (collect.c) */

/* A value on its way between work-items: integers below 64 bits are extended to 32. */
typedef struct {
    ptx_class class; /* B32, B64, F32 or F64 */
    bool is_half;    /* F32: each result is rounded to f16 */
    unsigned width;  /* bits of the type */
    const char *r;
} ptx_carried;
/* A lane of v, and one that i gives. */
ptx_carried ptx_carry(ptx_func *fn, const ir_inst *v, unsigned lane, bool is_signed);
/* The same for arithmetic: halves are numbers. */
ptx_carried ptx_carry_number(ptx_func *fn, const ir_inst *v, unsigned lane, bool is_signed);
ptx_carried ptx_carried_like(ptx_func *fn, ptx_carried x); /* another one, without value */
void ptx_deliver(ptx_func *fn, const ir_inst *i, unsigned lane, ptx_carried from);
ptx_carried ptx_new_carried(ptx_func *fn, ptx_class c);
/* x op y into `to`, by the operation of a reduction; and what changes nothing. */
void ptx_combine(ptx_func *fn, ir_op op, ptx_carried to, ptx_carried x, ptx_carried y);
const char *ptx_identity(ptx_func *fn, ir_op op, ptx_carried like);
/* Is the operation of a reduction one of signed numbers? */
bool ptx_is_signed(ir_op op);
/* `from` of another thread of the warp: a mode of shfl with its operands. */
void ptx_shuffle(ptx_func *fn, const char *mode, ptx_carried to, ptx_carried from,
                 const char *operands);
/* Inclusive scan of x over a warp whose threads are those of `members`. */
ptx_carried ptx_scan_warp(ptx_func *fn, ir_op op, ptx_carried x, const char *members);
/* `sum` of the thread before this one in the warp; the first one gets what changes nothing. */
ptx_carried ptx_before(ptx_func *fn, ir_op op, ptx_carried sum, const char *members);
/* The operation of a reduction with its type: "add.s32". */
const char *ptx_operation_name(ptx_func *fn, ir_op op, ptx_class c);
/* Those threads of the warp that there are, as bits. */
const char *ptx_members(ptx_func *fn);
/* The threads that take part in an operation of a sub-group, as bits. */
const char *ptx_members_of(ptx_func *fn, const ir_inst *i);
/* Those whose values an operation reads: the ones before this thread, or all. */
const char *ptx_scanned(ptx_func *fn, const ir_inst *i);
/* The number of the lowest bit that is set. */
const char *ptx_lowest_bit(ptx_func *fn, const char *bits);
/* The operands of a shuffle that takes the value of thread number `at`. */
const char *ptx_from_thread(ptx_func *fn, const char *at, const char *members);
/* A reduction or a scan (warp.c). */
void ptx_write_collection(ptx_func *fn, const ir_inst *i);

/* ------------------------------------------------------------------------------ memory (memory.c) */

const char *ptx_space_name(const ptx_func *fn, ir_space s); /* ".global"; generic: "" */
/* That of what an address leads to. */
const char *ptx_space_of(const ptx_func *fn, const ir_inst *address);
/* The parameter or other value that an address is made from. */
const ir_inst *ptx_origin(const ir_inst *address);
/* "[%rd1+8]" */
const char *ptx_place(ptx_func *fn, const ir_inst *address, int64_t more);
static inline uint64_t ptx_round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }
/* The bytes of the kernel's variables, if they begin the dynamic part of local memory, otherwise 0;
 * `places`: by variable its first byte there, + 1 (local.c). */
uint64_t ptx_place_variables(const ir_func *f, ir_map *places, ir_arena *arena);
/* Fills in_param (structs.c). */
void ptx_find_structs(ptx_func *fn);

/* ------------------------------------------------------------------------------------ functions */

void ptx_write_function(ptx_writer *w, ir_func *f);
/* Numbers the edges of a function, so that a block can be asked which predecessor it is by one. */
void ptx_number_edges(ptx_func *fn);
unsigned ptx_place_of_edge(const ptx_func *fn, const ir_block *b, unsigned edge);
/* The terminator of a block, with copies for the phis that it leads to (branch.c). */
void ptx_write_end(ptx_func *fn, const ir_block *b);
const char *ptx_block_name(ptx_func *fn, const ir_block *b);

#endif
