/* run_rules.h — programs made of the rules of isel.rules. */
#ifndef SPVFUSE_TESTS_RUN_RULES_H
#define SPVFUSE_TESTS_RUN_RULES_H

#include "ir/rule_types.h"

typedef struct {
    const char *text; /* of the rule */
    ir_op op;         /* its root */
    unsigned member;  /* the number of that operation in its family; 0: it is in none */
    ir_type from, to; /* operand 0, or what the root works on; what it gives or writes */
    unsigned attempt; /* other constants, other lanes */
    bool keeps;       /* parameters live on, so that they are in registers, not in operands */
} rule_program;

/* The module with the pattern as function @f; addresses are those of one variable. */
const char *run_rule_text(const rule_program *p, ir_arena *a);

#endif
