/* encode.h — machine code of x86-64: instructions to bytes and to text, labels, constants.
 *
 * A row of encodings.def names a form of an instruction; operands fill it.  encode.c makes the
 * bytes of one instruction, layout.c keeps the code of a module: a growing buffer, labels that
 * jumps and addresses refer to, constants after the code.  print.c writes one instruction as GNU
 * objdump does (Intel syntax).  forms.c holds the tables, made from the rows by rowgen.c.
 *
 * Prefixes are the shortest that the operands allow: no REX where none is needed, two bytes of VEX
 * before three, VEX before EVEX where both say the same, one byte of displacement before four.
 * The choice of the row (a short immediate, a fixed register) is the caller's.
 *
 * Memory: tables are constant; code lives in an arena.  Errors: operands that do not fit the row
 * make x86_encode false and add nothing; a caller that knows its rows asserts.  Threads: a piece of
 * code belongs to one at a time.
 */
#ifndef SPVFUSE_CODEGEN_X86_64_ENCODE_H
#define SPVFUSE_CODEGEN_X86_64_ENCODE_H

#include "codegen/native/image.h"
#include "ir/ir.h"

/* ------------------------------------------------------------------------------------- operands */

typedef enum {
    X86_NONE,
    X86_R8, /* al cl dl bl spl bpl sil dil r8b …; ah to bh are never used */
    X86_R16,
    X86_R32,
    X86_R64,
    X86_XMM,
    X86_YMM,
    X86_ZMM,
    X86_K,
    X86_MEM,
    X86_IMM,
    X86_LABEL
} x86_kind;

enum { X86_RIP = 0xfe, X86_NO_REG = 0xff, X86_MAX_ARGS = 4, X86_MAX_BYTES = 15, X86_NO_LABEL = -1 };

typedef struct {
    uint8_t kind;  /* x86_kind */
    uint8_t reg;   /* number of the register; of memory: its base, X86_RIP or X86_NO_REG */
    uint8_t index; /* of memory: number of the index (general or vector by the row) or X86_NO_REG */
    uint8_t scale; /* of memory: the index counts 1 << scale bytes */
    int32_t disp;  /* of memory; from the label where there is one */
    int64_t value; /* of an immediate; the label of a jump or of memory at X86_RIP, X86_NO_LABEL */
} x86_operand;

static inline x86_operand x86_reg(x86_kind kind, unsigned number) {
    return (x86_operand){.kind = (uint8_t)kind, .reg = (uint8_t)number};
}
static inline x86_operand x86_imm(int64_t value) {
    return (x86_operand){.kind = X86_IMM, .value = value};
}
static inline x86_operand x86_target(uint32_t label) {
    return (x86_operand){.kind = X86_LABEL, .value = label};
}
/* [base + index << scale + disp] */
static inline x86_operand x86_mem(unsigned base, unsigned index, unsigned scale, int32_t disp) {
    return (x86_operand){X86_MEM,        (uint8_t)base, (uint8_t)index,
                         (uint8_t)scale, disp,          X86_NO_LABEL};
}
static inline x86_operand x86_at(uint32_t label, int32_t disp) { /* [rip to label + disp] */
    return (x86_operand){X86_MEM, X86_RIP, X86_NO_REG, 0, disp, label};
}

typedef enum { X86_NOT_ROUNDED, X86_RN, X86_RD, X86_RU, X86_RZ, X86_SAE } x86_round;

typedef struct {
    x86_operand arg[X86_MAX_ARGS]; /* in the order of the row, the fixed ones (cl) included */
    uint8_t mask;                  /* k1 to k7; 0: none */
    uint8_t round;                 /* x86_round: for this instruction, exceptions suppressed */
    bool zero;                     /* masked lanes become 0; otherwise they stay */
    bool broadcast;                /* memory is one element for all lanes */
    bool lock;
} x86_operands;

/* ------------------------------------------------------------------------------ forms (forms.c) */

typedef enum {
#define X86(name, mnemonic, operands, opcode, places, level, implicit) X86_##name,
#include "codegen/x86_64/encodings.def"
#undef X86
    X86_ROWS
} x86_row;

/* Levels, also the numbers of cg_level. */
typedef enum {
    X86_V1 = 1, /* SSE2 */
    X86_V2,     /* SSE4.2, POPCNT */
    X86_V3,     /* AVX2, FMA, F16C, BMI2, LZCNT, MOVBE */
    X86_V4,     /* AVX-512 F, DQ, CD, BW, VL */
    X86_ICELAKE /* AVX-512 IFMA, VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ: Ice Lake, Zen 4, later */
} x86_level;
typedef enum { X86_LEGACY, X86_VEX, X86_EVEX } x86_encoding;
typedef enum {
    X86_IN_NOTHING, /* A */
    X86_IN_REG,     /* R */
    X86_IN_RM,      /* M */
    X86_IN_VVVV,    /* V */
    X86_IN_OPCODE,  /* O */
    X86_IN_IMM,     /* I */
    X86_IN_SIMM,    /* S */
    X86_IN_DISP,    /* D */
    X86_IN_IS4      /* 4 */
} x86_place;
enum { X86_READ = 1, X86_WRITE = 2 }; /* roles, or-ed; 0: an address that is not followed */

typedef enum { X86_ROUNDS_NOT, X86_ROUNDS_ER, X86_ROUNDS_SAE } x86_rounding;
enum { /* flags of a form */
       X86_MASKED = 1,
       X86_ZEROED = 2,
       X86_MASK_NEEDED = 4, /* a gather or scatter, which clears its mask */
       X86_LOCKED = 8,
       X86_DIGIT = 16,    /* ModRM.reg is a part of the opcode */
       X86_MODRM = 32,    /* all of ModRM is */
       X86_SIZE16 = 64,   /* a prefix 66 besides `prefix` */
       X86_ONE_LANE = 128 /* the other lanes of a vector pass, whatever a mask says */
};

/* What is touched besides operands: bits of form.reads and form.writes. */
typedef enum {
    X86_RAX,
    X86_RCX,
    X86_RDX,
    X86_RBX,
    X86_RSP,
    X86_FLAGS,
    X86_MXCSR,
    X86_STACK,
    X86_MEMORY,
    X86_VECTORS,
    X86_RESOURCES
} x86_resource;

/* One operand of an instruction. */
typedef struct {
    uint8_t kind;  /* of register, X86_IMM, X86_LABEL; X86_NONE: memory only */
    uint8_t bytes; /* of memory (X86_ADDRESS: of no size), immediate or displacement */
    uint8_t index; /* kind of the index of memory: X86_R64, a vector; X86_NONE: no memory */
    uint8_t place; /* x86_place */
    uint8_t role;
    uint8_t fixed; /* X86_IN_NOTHING: number of the register, or the immediate */
} x86_slot;
enum { X86_ADDRESS = 0xff, X86_MNEMONIC = 16 };

/* The operands of a form; many forms share them. */
typedef struct {
    uint8_t nargs;
    x86_slot slot[X86_MAX_ARGS];
} x86_shape;

typedef struct {
    uint16_t mnemonic; /* in x86_mnemonics */
    uint16_t shape;    /* in x86_shapes */
    uint16_t shorter;  /* row of the same instruction that is shorter where it can be: VEX of EVEX,
                          rel8 of rel32; X86_ROWS: none */
    uint16_t upper;    /* row of the same instruction that takes vector registers above 15: EVEX of
                          VEX; X86_ROWS: none */
    uint16_t reads, writes; /* bits of x86_resource */
    uint8_t encoding, level;
    uint8_t map;    /* 0: one byte, 1: 0F, 2: 0F38, 3: 0F3A */
    uint8_t prefix; /* 0: none, 1: 66, 2: F3, 3: F2 */
    uint8_t opcode;
    uint8_t modrm; /* X86_DIGIT: its reg; X86_MODRM: all */
    uint8_t w, l;
    uint8_t flags;
    uint8_t unit;      /* bytes that a displacement of one byte counts (EVEX) */
    uint8_t broadcast; /* bytes of an element, or 0 */
    uint8_t rounding;  /* x86_rounding */
    uint8_t lane;      /* bytes that a bit of the mask is for; 0: it has no mask */
} x86_form;

extern const x86_form x86_forms[X86_ROWS];
extern const x86_shape x86_shapes[];
extern const char x86_mnemonics[][X86_MNEMONIC];

static inline const x86_shape *x86_shape_of(x86_row row) {
    return &x86_shapes[x86_forms[row].shape];
}

/* The row of the same instruction that takes these registers: another one for those above 15. */
x86_row x86_row_for(x86_row row, const x86_operands *o);

/* ------------------------------------------------------------------- one instruction (encode.c) */

/* Where the bytes of an instruction hold the distance to a label. */
typedef struct {
    uint8_t at;     /* of the field */
    uint8_t length; /* of the instruction, from which the distance counts */
    uint8_t arg;    /* the operand, or X86_MAX_ARGS: there is none */
} x86_patch;

/* Writes the instruction at `out`, which has room for X86_MAX_BYTES; gives its length, or 0 when
 * the operands do not fit the row.  Distances to labels are left 0. */
unsigned x86_put(uint8_t *out, x86_row row, const x86_operands *o, x86_patch *patch);
/* The same without the bytes.  A jump to a label counts as the row says. */
unsigned x86_length(x86_row row, const x86_operands *o);

/* ------------------------------------------------------------------------------ code (layout.c) */

typedef struct x86_code x86_code;

x86_code *x86_code_new(ir_arena *arena);
/* False: the operands do not fit.  Labels are of this code; rip needs one, since code moves. */
bool x86_encode(x86_code *c, x86_row row, const x86_operands *o);
uint32_t x86_label_new(x86_code *c);
void x86_bind(x86_code *c, uint32_t label); /* here; once */
/* Fills with nops up to a multiple of `bytes`, a power of two up to 64. */
void x86_align(x86_code *c, unsigned bytes);
/* Fills with nops up to the next line of 64 bytes unless the code from here to the label lies in
 * one line as it is.  A loop in as few lines as possible is fetched faster: on a Zen 5, one of 112
 * bytes took 3.1 ms where an instruction crossed a line, and 1.6 ms where none did. */
void x86_keep_together(x86_code *c, uint32_t end);
/* The label of a constant of 1 to 64 bytes (a power of two, to which it is aligned); equal ones are
 * one. */
uint32_t x86_constant(x86_code *c, const void *data, unsigned bytes);
/* Once, at the end: chooses the lengths of jumps and resolves labels.  The image lies in the arena.
 * False: a distance does not fit its field. */
bool x86_finish(x86_code *c, cg_image *out);

/* ------------------------------------------------------------------------------- text (print.c) */

#define X86_BY_LABEL UINT64_MAX
/* One instruction as objdump -M intel prints it, but with one space after the mnemonic.  `target`:
 * the address that stands for the label of a jump; X86_BY_LABEL: memory at rip is printed by its
 * label, as an assembler reads it. */
void x86_print(ir_text *out, x86_row row, const x86_operands *o, uint64_t target);

#endif
