/* x86.h — what the files of the x86-64 target share.
 *
 *   machine.c, host.c  the target as the library sees it, and the machine that runs the library
 *   compile.c          the target as the stages of native code and object files see it
 *   target.c           the target as register allocation sees it
 *   moves.c            loads, stores and broadcasts by width and level
 *   operands.c         what the arguments of machine instructions are (mach.h), and what they need
 *   select*.c          instruction selection (select.h)
 *   emit.c             allocated functions as bytes
 *   encode.h           bytes and text of single instructions, labels, jumps
 *   nativecpu.c        the calling convention of DPC++'s Native CPU
 */
#ifndef SPVFUSE_CODEGEN_X86_64_X86_H
#define SPVFUSE_CODEGEN_X86_64_X86_H

#include "codegen/codegen.h"
#include "codegen/native/unit.h"
#include "codegen/x86_64/encode.h"
#include "codegen/x86_64/mach.h"

enum { CLASS_GENERAL, CLASS_VECTOR, CLASS_MASK };

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };

/* The calling convention of System V: general registers that a callee may change, and those of the
 * first six integers and pointers (operands.c). */
enum {
    X86_CALLER_SAVED = 1 << RAX | 1 << RCX | 1 << RDX | 1 << RSI | 1 << RDI | 1 << R8 | 1 << R9 |
                       1 << R10 | 1 << R11
};
extern const uint8_t x86_argument_registers[6];

typedef struct {
    cg_target base;
    x86_level level;
} x86_cpu;

/* For a level from X86_V2 on. */
const x86_cpu *x86_cpu_of(x86_level level);

/* The entries of the registry (machine.c). */
extern const cg_elf x86_elf;
extern const cg_host x86_host;
bool x86_takes(const ir_inst *i, unsigned level);
bool x86_compile(ir_module *m, const cg_options *options, ir_arena *arena, cg_object *out);
/* Rule n of isel.rules; NULL: there are fewer. */
const ir_rule_info *x86_rule_info(unsigned n);
void x86_add_nativecpu(cg_object *o, ir_arena *arena);

/* Bytes of a lane; of a vector or float. */
static inline unsigned x86_lane_bytes(ir_type t) { return ir_bits(NULL, t) / 8; }
static inline unsigned x86_bytes_of(ir_type t) { return ir_lanes(t) * x86_lane_bytes(t); }
/* Between a vector register and its slot: no move of one has less than 4 bytes. */
static inline unsigned x86_transfer_bytes(ir_type t) {
    return x86_bytes_of(t) < 4 ? 4 : x86_bytes_of(t);
}

/* ------------------------------------------------------------------------------ moves (moves.c) */

/* Moves of 4 to 64 bytes between memory, aligned or not, and a vector register. */
x86_row x86_vector_load(const x86_cpu *t, unsigned bytes);
x86_row x86_vector_store(const x86_cpu *t, unsigned bytes);
/* What spreads an element of so many bytes, in a vector register or memory, over a t; a lane of a t
 * that is in a general register. */
x86_row x86_broadcast_row(ir_type t, unsigned element);
x86_row x86_general_broadcast_row(ir_type t);
/* Loads the constant *c of f, which follows the code, or what it repeats, which is *c then. */
x86_row x86_constant_load(const x86_cpu *t, ir_func *f, ir_inst **c);

/* ------------------------------------------------------------------------ operands (operands.c) */

typedef enum {
    X86_AS_RESULT, /* the register of the result */
    X86_AS_ARG,    /* that of an argument */
    X86_AS_TIED,   /* that of the result, which holds an argument before */
    X86_AS_MEMORY,
    X86_AS_CONSTANT, /* an immediate */
    X86_AS_FIXED     /* said by the row */
} x86_role;

/* The argument for an operand of the row. */
typedef struct {
    x86_role as;
    uint8_t arg; /* the first argument that it takes */
} x86_binding;

/* Fills one binding per operand; gives the number of arguments that they take. */
unsigned x86_bind_operands(const ir_inst *i, x86_binding out[X86_MAX_ARGS]);
void x86_describe(const cg_target *t, const ir_inst *i, cg_constraints *out);
/* Checks the result of selection: every row exists at this level and every operand has the class
 * that its row requires.  False after a reported internal error. */
bool x86_check_rows(const x86_cpu *t, const ir_func *f);
bool x86_has_effect(const cg_target *t, const ir_inst *i);
bool x86_only_reads(const cg_target *t, const ir_inst *i);
bool x86_writes_memory(const ir_inst *i); /* or may do so */
bool x86_fold_reload(const cg_target *t, ir_inst *i, unsigned n);
ir_type x86_reads_constant(const cg_target *t, const ir_inst *i);
ir_inst *x86_unfold(const cg_target *t, ir_inst *i);
/* (names.c) */
const char *x86_reg_name(const cg_target *t, unsigned class, unsigned reg);
void x86_put_name(const cg_target *t, const ir_inst *i, ir_text *out);

/* ------------------------------------------------------------------------- selection (select.c) */

/* cg_native.select. */
bool x86_select(const cg_target *t, ir_func *f, const cg_options *o, ir_arena *scratch);

/* ----------------------------------------------------------------------------- writing (emit.c) */

/* Bytes of slots and variables.  Code in an object runs on the stack of its caller.  Most threads
 * have stacks of 8 MiB, which hold such a frame and those of the callers. */
enum { X86_MAX_FRAME = 6 << 20 };

typedef struct {
    cg_unit unit;
    const x86_cpu *cpu;
    x86_code *code;
} x86_writer;

/* cg_native.emit. */
bool x86_emit(cg_unit *u, ir_func *f, const cg_allocation *a);

#endif
