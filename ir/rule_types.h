/* rule_types.h — the types that a rewrite rule takes, as sets of bits.
 *
 * A type is a scalar kind, or a vector of one with any number of lanes.  What an instruction works
 * on is the type of its result, or of an operand where that says more: what is compared, stored or
 * taken apart.  Conversions and choices work on two types: that of operand 0 and that of the
 * result.
 *
 * Shared by rulegen, which writes the tests of types, and by what counts the rules that were used.
 */
#ifndef SPVFUSE_RULE_TYPES_H
#define SPVFUSE_RULE_TYPES_H

#include "ir/ir.h"

enum { IR_NUMBER_OF_VECTORS = 16, IR_TYPE_NUMBERS = 32 };

/* The number of a type: of its bit in a set. */
static inline unsigned ir_type_number(ir_type t) {
    return (unsigned)ir_kind_of(t) + (ir_is_vector(t) ? IR_NUMBER_OF_VECTORS : 0u);
}

/* Does an instruction of this sort work on two types? */
static inline bool ir_has_two_types(ir_rule rule) {
    return (rule >= R_TRUNC && rule <= R_PTOP) || rule == R_SELECT;
}

typedef struct {
    const char *place, *text; /* "isel.rules:12"; the rule on one line */
    uint32_t from, to;        /* the types that it takes; equal where it works on one; 0: any */
} ir_rule_info;

enum { IR_TYPE_OF_RESULT = -1 };

/* The operand whose type an instruction works on, or IR_TYPE_OF_RESULT. */
static inline int ir_typed_operand(ir_rule rule) {
    switch (rule) {
    case R_CMPI:
    case R_CMPF:
    case R_TESTF:
    case R_REDUCE:
    case R_EXTRACT:
    case R_STORE:
    case R_MASKED_STORE:
    case R_SCATTER: return 0;
    case R_ATOMIC_STORE: return 1;
    default: return ir_has_two_types(rule) ? 0 : IR_TYPE_OF_RESULT;
    }
}

#endif
