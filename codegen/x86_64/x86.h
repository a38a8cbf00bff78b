/* x86.h — what the files of the x86-64 target share.
 *
 * A machine instruction names a row of encodings.def in mach.row.  Its arguments are in the order
 * of the row's operands:
 *
 *   operand of the row                 arguments of the instruction
 *   a register that is read            the value
 *   a register that is also written    the value, which is tied to the result
 *   a register that is only written    none: it is the result
 *   memory (MACH_MEMORY in mach.mode)  the base, and with MACH_INDEX the index; the displacement is
 *                                      mach.disp
 *   an immediate                       a constant
 *
 * The base of a memory operand is a value, a variable of the frame, a global, or a constant that is
 * placed after the code.  An undef base denotes the slot of the frame with the number mach.disp.
 *
 * After these come the registers that the row reads implicitly (such as rax of cmpxchg), in the
 * order rax, rcx, rdx, and the arguments that the kind of the instruction requires.
 *
 * Flags are never values: a jump, setcc or cmov is one instruction together with the comparison
 * that sets its flags.  So nothing but registers is live between two instructions.
 */
#ifndef SPVFUSE_CODEGEN_X86_64_X86_H
#define SPVFUSE_CODEGEN_X86_64_X86_H

#include "codegen/codegen.h"
#include "codegen/native/unit.h"
#include "codegen/x86_64/encode.h"

enum { CLASS_GENERAL, CLASS_VECTOR, CLASS_MASK };

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };

/* Bits of mach.mode; the kind is in the three highest. */
enum {
    MACH_MEMORY = 1,
    MACH_INDEX = 2,
    MACH_SCALE = 4, /* times 0 to 3 */
    MACH_LOCK = 16,
    MACH_KIND = 32 /* times x86_mach_kind */
};

typedef enum {
    MACH_PLAIN,
    MACH_SET,    /* a comparison, and a result that is 1 when mach.aux holds, otherwise 0 */
    MACH_CMOV,   /* a comparison, then two arguments: the result is the second when mach.aux holds,
                    else the first, which is tied to it */
    MACH_ZERO,   /* the row with one register as all of its operands: makes 0 */
    MACH_MASKED, /* the row under the mask that is the argument after its own */
    MACH_CALL /* CALL_rm64: argument 0 is the address of a C function; CALL_rel32: mach.disp is the
                    number of a function (ir_func.number).  Then its arguments */
} x86_mach_kind;

/* What flags say: numbered as the opcodes of conditional jumps; the last two take two jumps. */
typedef enum {
    CC_O,
    CC_NO,
    CC_B,
    CC_AE,
    CC_E,
    CC_NE,
    CC_BE,
    CC_A,
    CC_S,
    CC_NS,
    CC_P,
    CC_NP,
    CC_L,
    CC_GE,
    CC_LE,
    CC_G,
    CC_E_NP, /* equal, both ordered */
    CC_NE_P  /* not equal, or not ordered */
} x86_cc;

/* Multiplications and divisions: the half that is the result. */
enum { MACH_LOW, MACH_HIGH };

static inline x86_mach_kind x86_kind_of(const ir_inst *i) {
    return (x86_mach_kind)(i->imm.mach.mode / MACH_KIND);
}

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
void x86_add_nativecpu(cg_object *o, ir_arena *arena);

/* Bytes of a vector or float. */
static inline unsigned x86_bytes_of(ir_type t) { return ir_lanes(t) * ir_bits(NULL, t) / 8; }
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
/* Is the memory whose base is this argument a slot of the frame? */
static inline bool x86_reads_slot(const ir_inst *i, unsigned arg) {
    return ir_arg(i, arg)->op == IR_OP_undef;
}
void x86_describe(const cg_target *t, const ir_inst *i, cg_needs *out);
/* Has every value a register of the class that the row wants at its place, and has the machine
 * every row?  Otherwise false, after a message: selection broke its own rules. */
bool x86_check_rows(const x86_cpu *t, const ir_func *f);
bool x86_has_effect(const cg_target *t, const ir_inst *i);
bool x86_fold_reload(const cg_target *t, ir_inst *i, unsigned n, uint32_t slot);
ir_type x86_reads_constant(const cg_target *t, const ir_inst *i);
ir_inst *x86_unfold(const cg_target *t, ir_inst *i);

/* ------------------------------------------------------------------------- selection (select.c) */

/* From level `group`, after cg_legalize, to `machine`. */
bool x86_select(const x86_cpu *t, ir_func *f, const cg_options *o, ir_arena *scratch);

/* ----------------------------------------------------------------------------- writing (emit.c) */

typedef struct {
    cg_unit unit;
    const x86_cpu *cpu;
    x86_code *code;
} x86_writer;

/* cg_native.emit. */
bool x86_emit(cg_unit *u, ir_func *f, const cg_allocation *a);

#endif
