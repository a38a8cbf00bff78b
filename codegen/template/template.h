/* template.h — a smallest complete target, for a machine that does not exist: built and run by
 * tests, and made to be copied (docs/ADDING.md).  The library does not list it.
 *
 * The machine has registers r0 to r15 and f0 to f15 of 8 bytes, and memory of bytes, the lowest one
 * first.  r13 (lr) holds the return address of the last call, r14 (fp) the frame, r15 (sp) the end
 * of the stack, which is a multiple of 16.  Arguments are in r0 to r5, a result is in r0; r9 to r12
 * and fp belong to the caller, all other registers are lost by a call.
 *
 * An instruction has 8 bytes: the opcode; width << 4 | result; b << 4 | a; c; a number of 4 bytes.
 * The width is log2 of the bytes that it works on; a, b and c are its register operands in order.
 * A distance counts from the start of the instruction.
 *
 *   machine.c         the target as the library sees it, and as the stages of native code do
 *   target.c          the target as register allocation sees it
 *   select.c          instruction selection; isel.rules
 *   emit.c            allocated functions as instructions; frames
 *   code.c            instructions as bytes and text, labels, constants
 */
#ifndef SPVFUSE_CODEGEN_TEMPLATE_H
#define SPVFUSE_CODEGEN_TEMPLATE_H

#include "codegen/native/unit.h"

enum { TEMPLATE_GENERAL, TEMPLATE_FLOAT }; /* classes of registers */
enum { TEMPLATE_LR = 13, TEMPLATE_FP, TEMPLATE_SP };

/* -------------------------------------------------------------------------------- instructions */

typedef enum {
#define INST(name, mnemonic, opcode, shape, effect) TEMPLATE_##name,
#include "codegen/template/instructions.def"
#undef INST
    TEMPLATE_ROWS
} template_row;

typedef struct {
    const char *mnemonic, *shape; /* see instructions.def */
    uint8_t opcode;
    bool has_effect;
} template_form;
extern const template_form template_forms[TEMPLATE_ROWS];

/* The fields of a mach or mach_br; disp belongs to its operand in memory. */
static inline ir_imm template_imm(template_row row, unsigned width, int32_t disp) {
    return (ir_imm){.mach = {.row = (uint16_t)row, .aux = (uint8_t)width, .disp = disp}};
}
static inline template_row template_row_of(const ir_inst *i) {
    return (template_row)i->imm.mach.row;
}
static inline unsigned template_width_of(const ir_inst *i) { return i->imm.mach.aux; }
static inline int32_t template_disp_of(const ir_inst *i) { return i->imm.mach.disp; }

/* log2 of the bytes of a scalar. */
static inline unsigned template_log2_of(ir_type t) {
    unsigned bits = ir_is_ptr(t) ? 64 : ir_bits(NULL, t);
    return bits <= 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3;
}

/* ------------------------------------------------------------------------------- code (code.c) */

typedef struct {
    template_row row;
    unsigned width, result, a, b, c;
    int32_t number;
} template_word;

enum { TEMPLATE_BYTES = 8 }; /* of an instruction */

typedef struct template_code template_code;
template_code *template_code_new(ir_arena *arena);
uint32_t template_label_new(template_code *c);
void template_bind(template_code *c, uint32_t label); /* here; once */
uint32_t template_here(const template_code *c);       /* bytes so far */
void template_put(template_code *c, const template_word *w);
/* The number becomes the distance to the label, and w->number more. */
void template_put_to(template_code *c, const template_word *w, uint32_t label);
/* The label of 8 bytes that follow the code. */
uint32_t template_constant(template_code *c, uint64_t bits);
/* Once, at the end.  False: the code is too large. */
bool template_finish(template_code *c, cg_image *out);
/* One instruction as a line of text; `to`: what its place in the code is called, or NULL. */
void template_print(ir_text *out, const template_word *w, const char *to);

/* ----------------------------------------------------------------------------------- the stages */

typedef struct {
    cg_unit unit;
    template_code *code;
} template_writer;

extern const cg_target template_target; /* target.c */
bool template_select(const cg_target *t, ir_func *f, const cg_options *o, ir_arena *scratch);
const ir_rule_info *template_rule_info(unsigned n); /* NULL: there are fewer */
bool template_emit(cg_unit *u, ir_func *f, const cg_allocation *a);

#endif
