/* template.h — a target that exists to test what all targets share.  It has few registers and one
 * instruction of every shape that asks something of them; nothing encodes it, and no table of the
 * library names it.
 *
 *   class r   r0 r1 r2, free to use, and r3 r4, which calls keep; r5 is in use for something else
 *   class v   v0 v1 v2 v3, which calls do not keep
 *   class m   m1 m2; m0 cannot be chosen
 */
#ifndef SPVFUSE_CODEGEN_TEMPLATE_H
#define SPVFUSE_CODEGEN_TEMPLATE_H

#include "codegen/native/native.h"

enum { TEMPLATE_R, TEMPLATE_V, TEMPLATE_M, TEMPLATE_CLASSES };

typedef enum {
    TEMPLATE_SET,    /* r: the number of the instruction */
    TEMPLATE_ADD,    /* r: tied, r, which may be in a slot; they commute */
    TEMPLATE_SUB,    /* r: r, r, in three registers */
    TEMPLATE_SHL,    /* r: tied, count in r1 */
    TEMPLATE_DIV,    /* r0: r0, r2, r; r2 is lost */
    TEMPLATE_MULH,   /* r2: r0, r; r0 is lost */
    TEMPLATE_EARLY,  /* r, early: r, r */
    TEMPLATE_MIX,    /* r, tied and early: r, r */
    TEMPLATE_SUM,    /* r: five r */
    TEMPLATE_CALL,   /* r0: r0, r1, v0; all that a call does not keep is lost */
    TEMPLATE_BUSY,   /* nothing: r, all other r but r3 are lost */
    TEMPLATE_OUT,    /* nothing: r, an effect */
    TEMPLATE_TO_V,   /* v: r */
    TEMPLATE_FROM_V, /* r: v */
    TEMPLATE_VADD,   /* v: v, v, which may be in a slot */
    TEMPLATE_FMA,    /* v: tied, v, v */
    TEMPLATE_BLEND,  /* v, tied: v, v, mask in m1 */
    TEMPLATE_LESS,   /* m: r, r */
    TEMPLATE_AND,    /* m: m, m */
    TEMPLATE_PICK,   /* r: m, r, r */
    TEMPLATE_BR,     /* branch: r, r */
    TEMPLATE_LOOP,   /* branch: r in r1; r2 is lost */
    TEMPLATE_ROWS
} template_row;

/* The fields of a mach or mach_br. */
static inline ir_imm template_imm(template_row row, int32_t number) {
    return (ir_imm){.mach = {.row = (uint16_t)row, .disp = number}};
}
static inline template_row template_row_of(const ir_inst *i) {
    return (template_row)i->imm.mach.row;
}
static inline int32_t template_number_of(const ir_inst *i) { return i->imm.mach.disp; }

extern const cg_target template_target;
/* i32 in r, f32 in v, i1 in m; mach_br and what has no result: IR_VOID. */
ir_type template_result(template_row row);
ir_type template_operand(template_row row, unsigned n);
unsigned template_operands(template_row row);

#endif
