/* verify.h — what the files of the verifier share; private to ir/.
 *
 * verify_module.c has the entries, verify.c checks the structure of functions, verify_ops.c and
 * verify_imm.c check single instructions.
 */
#ifndef SPVFUSE_IR_VERIFY_H
#define SPVFUSE_IR_VERIFY_H

#include "ir/text.h"

enum { VERIFY_MAX_ERRORS = 20 };

typedef struct {
    ir_module *m;
    ir_func *f;
    const ir_block *block; /* the place that is checked (verify_at), or NULL */
    const ir_inst *inst;   /* or NULL */
    ir_arena scratch;
    unsigned errors;
    const ir_inst **values;  /* of the function, by id */
    const ir_block **blocks; /* of the function, by id */
    uint32_t *uses;          /* by value id: operands that name it */
    uint32_t *place;         /* by value id: position in its block */
} verifier;

/* Sets the place that messages name: an instruction, a block, or the function. */
static inline void verify_at(verifier *v, const ir_block *block, const ir_inst *inst) {
    v->block = block;
    v->inst = inst;
}
/* Reports a violation at that place.  Always false. */
bool verify_fail(verifier *v, const char *fmt, ...) IR_PRINTF(2, 3);

/* The body of v->f: lists, edges, uses, types, order (verify.c). */
void verify_body(verifier *v);
/* What one instruction must fulfil by itself (verify_ops.c); its imm and flags (verify_imm.c). */
void verify_inst(verifier *v, const ir_inst *i);
void verify_imm(verifier *v, const ir_inst *i);

/* Parts of checks; false after a report. */
const char *verify_show_type(verifier *v, ir_type t);
bool verify_operand(verifier *v, unsigned n, ir_type want);
bool verify_result(verifier *v, ir_type want);
bool verify_is_value(ir_type t);      /* may an instruction have this type? */
bool verify_is_align(uint64_t align); /* a power of 2, at most 2^31 */

#endif
