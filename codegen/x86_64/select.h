/* select.h — what the files of instruction selection share.
 *
 * A draft is a machine instruction in the making.  mach_… are the words of isel.rules: each builds
 * the value of v, before v, out of what the rule matched, or gives NULL if it cannot.
 */
#ifndef SPVFUSE_CODEGEN_X86_64_SELECT_H
#define SPVFUSE_CODEGEN_X86_64_SELECT_H

#include "codegen/native/select.h"
#include "codegen/x86_64/x86.h"

/* The processor that code is selected for; has it a level? */
static inline const x86_cpu *x86_cpu_for(const ir_builder *b) {
    return (const x86_cpu *)cg_selection_of(b)->target;
}
static inline bool x86_has(const ir_builder *b, x86_level level) {
    return x86_cpu_for(b)->level >= level;
}

/* ------------------------------------------------------------------- drafts (select_operands.c) */

ir_inst *x86_build(ir_builder *b, const x86_draft *d);
/* x in a register, as the next argument: constants are made before, casts that do nothing are seen
 * through. */
void x86_add_reg(ir_builder *b, x86_draft *d, ir_inst *x);
/* x as the operand that may be memory: a load that v alone uses and that can be read at v, or a
 * constant that follows the code, if the row reads as many bytes; all lanes from such a load of an
 * element, if there is a row for that; otherwise in a register. */
void x86_add_rm(ir_builder *b, x86_draft *d, const ir_inst *v, ir_inst *x);
/* Does x load the same at v?  Not if they are in different blocks. */
bool x86_can_read_later(const ir_inst *v, const ir_inst *x);
/* Gives each instruction the number of the writes before it in its block, + 1, as its mark; what
 * selection builds has 0. */
void x86_number_writes(ir_func *f);
/* Would x86_add_rm read it from memory? */
bool x86_is_foldable(const ir_builder *b, x86_row row, const ir_inst *v, ir_inst *x);
/* The memory of the element that is in all lanes of v, if v can read it; otherwise false. */
bool x86_add_splat(ir_builder *b, x86_draft *d, const ir_inst *v);
/* The memory at address p. */
void x86_add_memory(ir_builder *b, x86_draft *d, const ir_inst *user, ir_inst *p);
/* Offsets of lanes as an address has them: (index << scale) + disp, where an index of 32 bits is
 * extended with its sign. */
typedef struct {
    ir_inst *index;
    unsigned scale;
    int32_t disp;
} x86_lanes;
x86_lanes x86_find_lanes(ir_inst *offsets);
/* The memory at p plus an offset for each lane. */
void x86_add_lanes_memory(ir_builder *b, x86_draft *d, ir_inst *p, x86_lanes l);
void x86_add_int(ir_builder *b, x86_draft *d, ir_type t, uint64_t bits);
/* Is x, an operand of v, needed after v: by others, or by v in the next round of its loop? */
bool x86_lives_on(const ir_builder *b, const ir_inst *v, const ir_inst *x);
/* What puts a constant, or the address of a global or variable, into a register. */
ir_inst *x86_build_leaf(ir_builder *b, ir_inst *x);
/* Without casts that cost nothing here. */
ir_inst *x86_strip(ir_inst *x);
/* A constant float none of whose lanes is NaN. */
bool x86_is_number(const ir_inst *x);
/* The value of a constant that an immediate of 32 bits, extended with its sign to the size of the
 * operand, can hold. */
bool x86_is_imm32(const ir_inst *x, int64_t *value);
/* log2 of the bytes that an integer or pointer has in a register: 0 to 3; i1 counts as 32 bits. */
unsigned x86_size_of(const ir_inst *x);
/* The same for arithmetic, 2 or 3: bytes and words are computed in 32 bits, whose upper bits mean
 * nothing. */
unsigned x86_word_of(const ir_inst *x);

/* Relations of CMPSS and CMPPS; those after ORD came with VEX. */
enum {
    X86_CMP_EQ,
    X86_CMP_LT,
    X86_CMP_LE,
    X86_CMP_UNORD,
    X86_CMP_NEQ,
    X86_CMP_NLT,
    X86_CMP_NLE,
    X86_CMP_ORD,
    X86_CMP_EQ_UNORD,
    X86_CMP_NGE,
    X86_CMP_NGT,
    X86_CMP_NEQ_ORD = 12,
    X86_CMP_GE,
    X86_CMP_GT
};
/* Which of them an op is; `swap`: with its operands exchanged.  False where there is none: for fone
 * and fueq before VEX. */
bool x86_find_relation(const ir_builder *b, ir_op op, int *relation, bool *swap);

/* --------------------------------------------------- stores past the caches (select_stream.c) */

/* Is i a store past the caches?  Its instruction, for so many bytes. */
bool x86_is_stream(const ir_inst *i);
x86_row x86_stream_row(const x86_cpu *t, unsigned bytes);
/* Before selection: does f have such stores?  If others may wait for what it stores, it has none
 * from then on.  After selection, if it has: fences where it returns. */
bool x86_begin_streams(ir_func *f);
void x86_end_streams(ir_func *f);

/* ------------------------------------------------------------------- conditions (select_cond.c) */

/* Adds the comparison that decides c, which `user` asks for; gives the flags that tell. */
x86_cc x86_add_condition(ir_builder *b, x86_draft *d, const ir_inst *user, ir_inst *c);

/* ------------------------------------------------ what scalars and lanes share (select_float.c) */

/* The immediate of ROUNDSS and ROUNDPS for rint, floor, ceil and trunc_f: no exception for results
 * that are not exact. */
int x86_rounding_of(ir_op op);
/* The row of a multiply-add with registers x, y, z (x * y + z) whose result takes the register of
 * z, with operands z, x, y, for one where it takes that of x; X86_ROWS: it is no such row. */
x86_row x86_tied_to_sum(x86_row row);

/* --------------------------------------------------------- vectors (select_packed.c, …_lanes.c) */

/* Rows of one instruction by the width of its registers; 0: there is none. */
enum { X86_SSE, X86_VEX_128, X86_VEX_256, X86_EVEX_512 };
typedef uint16_t x86_widths[4];

/* An instruction that came with SSE, then with VEX and EVEX: two operands or one, an immediate. */
#define X86_BINARY(N)                                                                              \
    { X86_##N##_x_xm, X86_V##N##_x_x_xm, X86_V##N##_y_y_ym, X86_V##N##_z_z_zm_e }
#define X86_UNARY(N)                                                                               \
    { X86_##N##_x_xm, X86_V##N##_x_xm, X86_V##N##_y_ym, X86_V##N##_z_zm_e }
#define X86_BINARY_IMM(N)                                                                          \
    {                                                                                              \
        X86_##N##_x_xm_imm8, X86_V##N##_x_x_xm_imm8, X86_V##N##_y_y_ym_imm8,                       \
            X86_V##N##_z_z_zm_imm8_e                                                               \
    }
#define X86_UNARY_IMM(N)                                                                           \
    { X86_##N##_x_xm_imm8, X86_V##N##_x_xm_imm8, X86_V##N##_y_ym_imm8, X86_V##N##_z_zm_imm8_e }
/* Bitwise operations have another name there. */
#define X86_BITWISE(N)                                                                             \
    { X86_##N##_x_xm, X86_V##N##_x_x_xm, X86_V##N##_y_y_ym, X86_V##N##D_z_z_zm_e }
/* With EVEX only. */
#define X86_EVEX_BINARY(N)                                                                         \
    { 0, X86_##N##_x_x_xm_e, X86_##N##_y_y_ym_e, X86_##N##_z_z_zm_e }
#define X86_EVEX_BINARY_IMM(N)                                                                     \
    { 0, X86_##N##_x_x_xm_imm8_e, X86_##N##_y_y_ym_imm8_e, X86_##N##_z_z_zm_imm8_e }

static inline unsigned x86_form_of(const ir_builder *b, ir_type t) {
    unsigned bytes = x86_bytes_of(t);
    if (bytes > 32) return X86_EVEX_512;
    return bytes > 16 ? X86_VEX_256 : x86_has(b, X86_V3) ? X86_VEX_128 : X86_SSE;
}
/* An instruction with operands in registers; and with an immediate after them. */
ir_inst *x86_build_regs(ir_builder *b, ir_type t, x86_row row, ir_args regs);
ir_inst *x86_build_imm(ir_builder *b, ir_type t, x86_row row, ir_args regs, int imm);
/* 16 bytes of x, of type t, from byte 16 * n on; x with others there. */
ir_inst *x86_part(ir_builder *b, ir_type t, ir_inst *x, unsigned n);
ir_inst *x86_with_part(ir_builder *b, ir_type t, ir_inst *x, ir_inst *part, unsigned n);
/* v, whose lanes are all one element in memory; NULL: they are not, or it takes more than that. */
ir_inst *x86_load_splat(ir_builder *b, ir_inst *v);
/* Lane 0 of x in all lanes. */
ir_inst *x86_broadcast(ir_builder *b, ir_type t, ir_inst *x);
/* Of vectors: is all that counts in the lower half of each operand's lanes? */
bool x86_is_product_of_halves(const ir_inst *v);
/* As x86_add_condition: some lane of (slt mask 0) is true, or all are. */
x86_cc x86_add_packed_any(ir_builder *b, x86_draft *d, const ir_inst *c);

/* ------------------------------------------- lanes that a register picks (select_permute.c) */

/* Is there an instruction for vectors of type t? */
bool x86_takes_permute(ir_type t, unsigned level);

/* --------------------------------------------------- 16 bytes of a shuffle (select_shuffle16.c) */

enum { X86_PART = 16, X86_MOST = 64, X86_NO_BYTE = -1 };

/* What byte k of the result is: 0 to 15 of x, 16 to 31 of y, or X86_NO_BYTE: any.  With wider forms
 * the same in all parts of the registers. */
typedef struct {
    ir_builder *b;
    ir_type type; /* of the result */
    unsigned form;
    ir_inst *x, *y;
    const int8_t *from; /* of X86_PART bytes */
} x86_shuffle16;

ir_inst *x86_build_shuffle16(x86_shuffle16 s);
/* With the type and form of s: the bytes of x in the order of a constant, which has 0x80 for bytes
 * that become 0; x | y. */
ir_inst *x86_build_pshufb(const x86_shuffle16 *s, ir_inst *x, ir_inst *order);
ir_inst *x86_build_or(const x86_shuffle16 *s, ir_inst *x, ir_inst *y);
/* The units that the `bytes` of n are made of; false: they are not made of units. */
bool x86_find_units(const int8_t *from, unsigned n, unsigned bytes, int *out);
/* Two bits for each of four units, counted from `base`; those that do not matter stay. */
int x86_order_of(const int *unit, int base);

/* ------------------------------------------------------- masks in registers (select_mask.c), v4 */

/* The type of the mask of a t, also of one lane. */
static inline ir_type x86_mask_of(ir_type t) {
    unsigned lanes = ir_lanes(t);
    return ir_vector(IR_I1, lanes < 2 ? 2 : lanes);
}
/* Where x and y are in a relation of VCMPPS. */
ir_inst *x86_mask_relation(ir_builder *b, int relation, ir_inst *x, ir_inst *y);
/* Lanes of x where the mask is set, otherwise of y. */
ir_inst *x86_mask_choose(ir_builder *b, ir_type t, ir_inst *mask, ir_inst *x, ir_inst *y);
/* What loads lanes of a t by a mask; t has 16 bytes or more. (select_masked.c) */
x86_row x86_masked_load(ir_type t);
/* Is i such a choice, of vectors or scalars? */
bool x86_is_blend(const ir_inst *i);
/* After selection: masks go into the instructions whose results they choose. (select_merge.c) */
void x86_merge_masks(const x86_cpu *cpu, ir_func *f);
/* As x86_add_condition: some lane of a mask is set, or all are. */
x86_cc x86_add_mask_any(ir_builder *b, x86_draft *d, const ir_inst *c);
/* A mask as a number, and the other way round. */
ir_inst *x86_mask_bits(ir_builder *b, ir_type t, ir_inst *mask);
ir_inst *x86_mask_of_bits(ir_builder *b, ir_type t, ir_inst *bits);

/* x where a mask of integers is set, otherwise y. (select_packed.c) */
ir_inst *x86_packed_choose(ir_builder *b, ir_inst *v, ir_inst *mask, ir_inst *x, ir_inst *y);

#define MACH1(name) ir_inst *mach_##name(ir_builder *b, ir_inst *v, ir_inst *x);
#define MACH2(name) ir_inst *mach_##name(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y);
#define MACH3(name)                                                                                \
    ir_inst *mach_##name(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y, ir_inst *z);
#include "codegen/x86_64/select.def"
#undef MACH1
#undef MACH2
#undef MACH3

#endif
