/* x86.h — what the files of the x86-64 target share.
 *
 *   machine.c, host.c  the target as the library sees it, and the machine that runs the library
 *   compile.c          the target as the stages of native code see it
 *   target.c           the target as register allocation sees it: classes, moves, constants
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
/* Has every value a register of the class that the row wants at its place, and has the machine
 * every row?  Otherwise false, after a message: selection broke its own rules. */
bool x86_check_rows(const x86_cpu *t, const ir_func *f);
bool x86_has_effect(const cg_target *t, const ir_inst *i);
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

typedef struct {
    cg_unit unit;
    const x86_cpu *cpu;
    x86_code *code;
} x86_writer;

/* cg_native.emit. */
bool x86_emit(cg_unit *u, ir_func *f, const cg_allocation *a);

#endif
