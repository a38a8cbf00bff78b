/* select.h — instruction selection: the walk that all targets share, and what a target adds to it.
 *
 * The walk goes from the last instruction of a function to its first, so the users of a value are
 * selected before the value itself.  Rules see operands as they were.  What a rule takes in loses
 * its use; without any other use it is not selected at all.
 *
 * Before: level `group`, after cg_legalize.  After: level `machine` (native.h).
 */
#ifndef SPVFUSE_CODEGEN_NATIVE_SELECT_H
#define SPVFUSE_CODEGEN_NATIVE_SELECT_H

#include "codegen/native/native.h"

typedef struct cg_selection cg_selection;

/* What a target says of its instructions.  Every function builds before the builder's place, and
 * gets the builder of a cg_selection. */
typedef struct {
    const char *title; /* of the target, in messages */
    /* The registers of parameters and of the arguments of calls, in order; all are of class 0. */
    const uint8_t *params;
    unsigned nparams;
    /* The value of v as instructions of the target, by the rules of isel.rules: NULL if none fits.
     * An instruction without a value gives itself. */
    ir_inst *(*rules)(ir_builder *b, ir_inst *v, cg_selection *s);
    /* One instruction that puts a constant, an undef, or the address of a global or variable into a
     * register. */
    ir_inst *(*constant)(ir_builder *b, ir_inst *leaf);
    ir_inst *(*branch)(ir_builder *b, ir_inst *br);      /* builds the mach_br for a br */
    ir_inst *(*host_call)(ir_builder *b, ir_inst *call); /* builds a call of operand 0 */
    ir_inst *(*strip)(ir_inst *x); /* x without casts that cost nothing; NULL: there are none */
    /* May rules be asked about i?  NULL: about all. */
    bool (*is_selectable)(const cg_selection *s, const ir_inst *i);
} cg_selector;

struct cg_selection {
    ir_builder b; /* first: rules hand it around */
    const cg_selector *selector;
    const cg_target *target;
    const cg_options *options;
    ir_func *f;
    ir_arena *scratch;
    const ir_loops *loops;
    ir_map constants; /* leaf -> the instruction that makes it, and for which user */
};

static inline cg_selection *cg_selection_of(const ir_builder *b) { return (cg_selection *)b; }

/* False after a reported error: the target has no instruction for something. */
bool cg_select(const cg_selector *selector, const cg_target *t, ir_func *f, const cg_options *o,
               ir_arena *scratch);
/* x as an operand in a register: itself, or what makes it.  Constants are made in the block that
 * needs them, once; if one is needed again further up, what makes it moves up. */
ir_inst *cg_in_register(ir_builder *b, ir_inst *x);
/* Counts a use of a rule, and traces it if options ask for that. */
void cg_note_rule(const cg_selection *s, const ir_inst *v, unsigned rule, const ir_rule_info *info);

#endif
