/* shapes.h — a target that exists to test what all targets share.  It has few registers and one
 * instruction of every shape that asks something of them; nothing encodes it, and no table of the
 * library names it.
 *
 *   class r   r0 r1 r2, free to use, and r3 r4, which calls keep; r5 is in use for something else
 *   class v   v0 v1 v2 v3, which calls do not keep
 *   class m   m1 m2; m0 cannot be chosen
 */
#ifndef SPVFUSE_TESTS_SHAPES_H
#define SPVFUSE_TESTS_SHAPES_H

#include "codegen/native/native.h"

enum { SHAPE_R, SHAPE_V, SHAPE_M, SHAPE_CLASSES };

typedef enum {
    SHAPE_SET,    /* r: the number of the instruction */
    SHAPE_ADD,    /* r: tied, r, which may be in a slot; they commute */
    SHAPE_SUB,    /* r: r, r, in three registers */
    SHAPE_SHL,    /* r: tied, count in r1 */
    SHAPE_DIV,    /* r0: r0, r2, r; r2 is lost */
    SHAPE_MULH,   /* r2: r0, r; r0 is lost */
    SHAPE_EARLY,  /* r, early: r, r */
    SHAPE_MIX,    /* r, tied and early: r, r */
    SHAPE_SUM,    /* r: five r */
    SHAPE_CALL,   /* r0: r0, r1, v0; all that a call does not keep is lost */
    SHAPE_BUSY,   /* nothing: r, all other r but r3 are lost */
    SHAPE_OUT,    /* nothing: r, an effect */
    SHAPE_TO_V,   /* v: r */
    SHAPE_FROM_V, /* r: v */
    SHAPE_VADD,   /* v: v, v, which may be in a slot */
    SHAPE_FMA,    /* v: tied, v, v */
    SHAPE_BLEND,  /* v, tied: v, v, mask in m1 */
    SHAPE_LESS,   /* m: r, r */
    SHAPE_AND,    /* m: m, m */
    SHAPE_PICK,   /* r: m, r, r */
    SHAPE_BR,     /* branch: r, r */
    SHAPE_LOOP,   /* branch: r in r1; r2 is lost */
    SHAPE_ROWS
} shape_row;

/* The fields of a mach or mach_br. */
static inline ir_imm shape_imm(shape_row row, int32_t number) {
    return (ir_imm){.mach = {.row = (uint16_t)row, .disp = number}};
}
static inline shape_row shape_row_of(const ir_inst *i) { return (shape_row)i->imm.mach.row; }
static inline int32_t shape_number_of(const ir_inst *i) { return i->imm.mach.disp; }

extern const cg_target shapes_target;
/* i32 in r, f32 in v, i1 in m; mach_br and what has no result: IR_VOID. */
ir_type shape_result(shape_row row);
ir_type shape_operand(shape_row row, unsigned n);
unsigned shape_operands(shape_row row);

#endif
