/* rule_words.h — what the C code that rulegen makes of rules calls: literals and types.
 *
 * The file that includes the generated code defines the predicates and helpers that its rules name.
 */
#ifndef SPVFUSE_RULE_WORDS_H
#define SPVFUSE_RULE_WORDS_H

#include "ir/ir.h"

/* ir_arg without its check: rulegen knows how many operands an op has. */
static inline ir_inst *operand(const ir_inst *i, unsigned n) { return i->arg[n].val; }

static inline ir_inst *int_literal(ir_builder *b, ir_type t, int64_t n) {
    return ir_const(b->f, t, (uint64_t)n);
}

static inline ir_inst *float_literal(ir_builder *b, ir_type t, double value) {
    return ir_const_float(b->f, t, value);
}

/* The types that rules name, in as many lanes. */
static inline ir_type bool_like(ir_type t) { return ir_with_elem(t, IR_I1); }
static inline ir_type i32_like(ir_type t) { return ir_with_elem(t, IR_I32); }

#endif
