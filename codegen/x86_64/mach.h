/* mach.h — machine instructions of x86-64 in the IR: `mach`, `mach_br` and `mach_call`.
 *
 * A `mach` or `mach_br` names a row of encodings.def.  Its arguments are in the order of the row's
 * operands:
 *
 *   operand of the row                 arguments of the instruction
 *   a register that is read            the value
 *   a register that is also written    the value, which is tied to the result
 *   a register that is only written    none: it is the result
 *   memory (x86_has_memory)            the base, and with x86_has_index the index; the displacement
 *                                      is x86_disp_of
 *   an immediate                       a constant
 *
 * Memory may be one element that is read into all lanes (x86_has_broadcast); a constant that
 * repeats itself is such an element where the row allows it, without being called one.
 *
 * The base of a memory operand is a value, a variable or a slot of the frame, a global, or a
 * constant that is placed after the code.
 *
 * After these come the registers that the row reads implicitly (such as rax of cmpxchg), in the
 * order rax, rcx, rdx, and the arguments that the kind of the instruction requires.
 *
 * Flags are never values: a jump, setcc or cmov is one instruction together with the comparison
 * that sets its flags.  So nothing but registers is live between two instructions.
 *
 * The arguments of `mach_call` are those of the function.
 *
 * How these facts are stored in imm.mach is known in this file only.
 */
#ifndef SPVFUSE_CODEGEN_X86_64_MACH_H
#define SPVFUSE_CODEGEN_X86_64_MACH_H

#include "codegen/native/native.h"
#include "codegen/x86_64/encode.h"

typedef enum {
    MACH_PLAIN,  /* the row alone */
    MACH_SET,    /* a comparison, and a result that is 1 if the condition holds, otherwise 0 */
    MACH_CMOV,   /* a comparison, then two arguments: the result is the second if the condition
                    holds, otherwise the first, which is tied to it */
    MACH_ZERO,   /* the row with one register as all of its operands: makes 0 */
    MACH_MASKED, /* the row under the mask that is the argument after its own */
    MACH_ZEROED, /* the same; lanes that are not set become 0 */
    MACH_MERGED, /* the same; lanes that are not set are those of the argument after the mask, which
                    is tied to the result */
    MACH_CALL    /* CALL_rm64: argument 0 is the address of a C function, whose arguments follow */
} x86_mach_kind;

/* Conditions: numbered as the opcodes of conditional jumps; the last two take two jumps. */
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

static inline x86_cc x86_negate(x86_cc cc) {
    if (cc >= CC_E_NP) return cc == CC_E_NP ? CC_NE_P : CC_E_NP;
    return (x86_cc)((unsigned)cc ^ 1u);
}

/* A machine instruction in the making. */
typedef struct {
    x86_row row;
    x86_mach_kind kind;
    x86_cc cc;      /* the condition of MACH_SET, MACH_CMOV and mach_br */
    bool high;      /* multiplications and divisions: the result is in rdx, not in rax */
    bool lock;      /* the access is atomic */
    bool ordered;   /* the access is volatile, or an atomic load */
    bool memory;    /* the operand that may be memory is memory */
    bool broadcast; /* which is one element for all lanes */
    bool index;     /* its address has an index, which counts 1 << scale bytes */
    unsigned scale; /* 0 to 3 */
    int32_t disp;   /* of the address */
    ir_type type;   /* of the result; IR_VOID: none */
    unsigned n;     /* arguments */
    ir_inst *arg[CG_MAX_ARGS];
} x86_draft;

/* Bits of imm.mach.aux and imm.mach.mode. */
enum {
    X86_AUX_CC = 31,
    X86_AUX_HIGH = 32,
    X86_AUX_BROADCAST = 64,
    X86_AUX_ORDERED = 128,
    X86_MODE_MEMORY = 1,
    X86_MODE_INDEX = 2,
    X86_MODE_SCALE = 4, /* times 0 to 3 */
    X86_MODE_LOCK = 16,
    X86_MODE_KIND = 32 /* times x86_mach_kind */
};

static inline ir_imm x86_imm_of(const x86_draft *d) {
    unsigned aux = (unsigned)d->cc | (d->high ? X86_AUX_HIGH : 0) |
                   (d->broadcast ? X86_AUX_BROADCAST : 0) | (d->ordered ? X86_AUX_ORDERED : 0);
    unsigned mode = d->kind * X86_MODE_KIND | (d->lock ? X86_MODE_LOCK : 0) |
                    d->scale * X86_MODE_SCALE | (d->index ? X86_MODE_INDEX : 0) |
                    (d->memory ? X86_MODE_MEMORY : 0);
    return (ir_imm){.mach = {(uint16_t)d->row, (uint8_t)aux, (uint8_t)mode, d->disp}};
}

static inline x86_row x86_row_of(const ir_inst *i) { return (x86_row)i->imm.mach.row; }
static inline x86_mach_kind x86_kind_of(const ir_inst *i) {
    return (x86_mach_kind)(i->imm.mach.mode / X86_MODE_KIND);
}
static inline bool x86_has_mask(const ir_inst *i) {
    return x86_kind_of(i) >= MACH_MASKED && x86_kind_of(i) <= MACH_MERGED;
}
static inline x86_cc x86_cc_of(const ir_inst *i) { return (x86_cc)(i->imm.mach.aux & X86_AUX_CC); }
static inline bool x86_gives_high(const ir_inst *i) { return i->imm.mach.aux & X86_AUX_HIGH; }
static inline bool x86_has_broadcast(const ir_inst *i) {
    return i->imm.mach.aux & X86_AUX_BROADCAST;
}
static inline bool x86_is_ordered(const ir_inst *i) { return i->imm.mach.aux & X86_AUX_ORDERED; }
static inline bool x86_has_lock(const ir_inst *i) { return i->imm.mach.mode & X86_MODE_LOCK; }
static inline bool x86_has_memory(const ir_inst *i) { return i->imm.mach.mode & X86_MODE_MEMORY; }
static inline bool x86_has_index(const ir_inst *i) { return i->imm.mach.mode & X86_MODE_INDEX; }
static inline unsigned x86_scale_of(const ir_inst *i) {
    return i->imm.mach.mode / X86_MODE_SCALE & 3;
}
static inline int32_t x86_disp_of(const ir_inst *i) { return i->imm.mach.disp; }

/* The operand that may be memory is memory from now on, without index or displacement, or it is a
 * register. */
static inline void x86_set_memory(ir_inst *i, bool memory) {
    unsigned others = i->imm.mach.mode & ~(unsigned)X86_MODE_MEMORY;
    i->imm.mach.mode = (uint8_t)(others | (memory ? X86_MODE_MEMORY : 0));
}

static inline bool x86_is_mach(const ir_inst *i) {
    return i->op == IR_OP_mach || i->op == IR_OP_mach_br;
}

#endif
