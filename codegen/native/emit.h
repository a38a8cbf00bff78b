/* emit.h — what targets share when they write the code of a function: the order of its blocks, the
 * places in its frame, and lines of the source.  The bytes are the target's.
 */
#ifndef SPVFUSE_CODEGEN_NATIVE_EMIT_H
#define SPVFUSE_CODEGEN_NATIVE_EMIT_H

#include "codegen/native/unit.h"

/* The register of v. */
static inline unsigned cg_reg_of(const cg_allocation *a, const ir_inst *v) {
    assert(v->id < a->nregs && a->reg[v->id] != CG_ANY_REG);
    return a->reg[v->id];
}

/* ---------------------------------------------------------------------------- blocks (blocks.c) */

typedef struct {
    ir_block **block; /* n blocks that have code, in reverse postorder */
    uint32_t n;
    ir_block **target; /* by block id: where a jump there leads in the end */
    uint32_t *label;   /* by block id, for those that have code */
} cg_code_order;

/* Leaves out blocks that only jump, such as split edges all of whose moves have no code.
 * has_no_code: does i have none? */
cg_code_order cg_order_blocks(cg_unit *u, ir_func *f, const cg_allocation *a,
                              bool (*has_no_code)(const cg_allocation *a, const ir_inst *i));

/* ------------------------------------------------------------------------------ lines (lines.c) */

/* The code of i, an instruction of f, comes next. */
void cg_note_line(cg_unit *u, const ir_func *f, const ir_inst *i);
/* The prologue of f comes next; it belongs to the line of f, or to the first one that is known. */
void cg_begin_prologue(cg_unit *u, const ir_func *f, const cg_code_order *order);
/* It has ended.  Debuggers that are asked for f stop here, or, if instructions have the loc of f,
 * at the next line after these. */
void cg_end_prologue(cg_unit *u);

/* ------------------------------------------------------------------------------ frame (frame.c) */

/* Slots and variables, from the lowest address of the frame on. */
typedef struct {
    uint32_t bytes, align; /* of all; align is 16 or more */
    uint32_t *slot;        /* by slot: its place */
    uint32_t *variable;    /* by id of an alloca: its place */
} cg_frame_places;

/* False after a reported error: they have more than `most` bytes. */
bool cg_place_frame(cg_unit *u, const ir_func *f, const cg_allocation *a, uint32_t most,
                    cg_frame_places *out);

#endif
