/* interp.h — the interpreter (interp.c, interp_*.c).
 *
 * Runs one work-item of a function until it needs the others: at a barrier, a group operation, an
 * async copy or a wait.  No recursion in C; the depth of calls is bounded.  A lane is 64 bits and a
 * mask of its undefined bytes; the mask follows the data byte by byte through copies, shifts and
 * bitwise operations, and covers the whole result of everything else.  Memory, ids, printing and
 * every decision about errors belong to the host. */
#ifndef SPVFUSE_IR_INTERP_H
#define SPVFUSE_IR_INTERP_H

#include "ir/ir.h"

typedef struct ir_interp_code
    ir_interp_code;                 /* functions of one module, decoded when first called */
typedef struct ir_interp ir_interp; /* one work-item */

typedef struct {
    uint64_t bits[IR_MAX_LANES];
    uint8_t undef[IR_MAX_LANES]; /* bit k: byte k of the lane is undefined */
} ir_value;

enum { IR_ACCESS_READ = 1, IR_ACCESS_WRITE = 2, IR_ACCESS_ATOMIC = 4 };

typedef struct {
    const ir_inst *at;
    uint32_t site; /* number of that instruction within the code, from 1 */
    uint64_t address;
    uint32_t size, align; /* bytes */
    ir_space space;       /* of the pointer */
    uint32_t kind;        /* IR_ACCESS_… */
} ir_access;

/* What goes wrong outside of memory.  After the first group the work-item goes on (a quotient is
 * 0), after the second it is trapped. */
typedef enum {
    IR_PROBLEM_UNDEFINED, /* an undefined condition, address, divisor, or the like */
    IR_PROBLEM_DIVISION,  /* by zero, or overflow */
    IR_PROBLEM_ASSUME,    /* an assumption is false */
    IR_PROBLEM_UNREACHABLE,
    IR_PROBLEM_NO_BODY, /* a call of an import or of a refused function */
    IR_PROBLEM_DEPTH,   /* too many nested calls */
    IR_PROBLEM_UNSUPPORTED
} ir_problem;

/* Operand number of a problem: the value that an atomic found in memory. */
#define IR_OPERAND_MEMORY UINT32_MAX

/* undef: one byte per byte of data, 0 or 1. */
typedef struct {
    void *user;
    /* False: failed; a read then gives undefined zeros. */
    bool (*read)(void *user, const ir_access *a, uint8_t *bytes, uint8_t *undef);
    bool (*write)(void *user, const ir_access *a, const uint8_t *bytes, const uint8_t *undef);
    uint64_t (*variable)(void *user, const ir_inst *alloca); /* a new variable's address */
    void (*release)(void *user, uint32_t n);                 /* the n newest variables end */
    uint64_t (*address)(void *user, const ir_global *g);
    int (*space_of)(void *user, uint64_t address); /* ir_space, or -1 */
    uint64_t (*query)(void *user, const ir_inst *i, unsigned lane);
    /* printf, and calls of functions of the host. */
    int32_t (*print)(void *user, const ir_interp *w, const ir_inst *i);
    void (*fence)(void *user, const ir_inst *i);
    void (*problem)(void *user, ir_problem what, const ir_inst *i, unsigned operand);
} ir_interp_host;

typedef enum {
    IR_RUN_MORE,    /* the budget is used up */
    IR_RUN_BLOCKED, /* before ir_interp_at(): a barrier, group op, async copy or wait */
    IR_RUN_DONE,
    IR_RUN_TRAPPED
} ir_run;

ir_interp_code *ir_interp_code_new(ir_arena *a, const ir_module *m);
/* The instruction with that site number. */
const ir_inst *ir_interp_site(const ir_interp_code *code, uint32_t site);
ir_interp *ir_interp_new(ir_arena *a, ir_interp_code *code, const ir_interp_host *host);
/* Enters f, from any state; the work-item starts anew. */
void ir_interp_start(ir_interp *w, ir_func *f, const ir_value *args);
/* Takes one from *budget per instruction; the host's functions may set it to 0 to stop early. */
ir_run ir_interp_run(ir_interp *w, uint64_t *budget);
const ir_inst *ir_interp_at(const ir_interp *w);
uint32_t ir_interp_site_at(const ir_interp *w);
/* Operand n of that instruction. */
void ir_interp_operand(const ir_interp *w, unsigned n, ir_value *out);
/* Completes it with its result (NULL: none). */
void ir_interp_resume(ir_interp *w, const ir_value *result);
/* The result of the function after IR_RUN_DONE. */
void ir_interp_result(const ir_interp *w, ir_value *out);
/* The op that makes the new value of an atomic from the old one and the operand, or that a group
 * reduction combines two values with; IR_OP_const for an exchange and for what is neither. */
ir_op ir_combining_op(ir_op op);
/* Which work-item has the earlier place in the program?  Negative: a; 0: both are at the same
 * place. */
int ir_interp_order(const ir_interp *a, const ir_interp *b);

/* f(args…), one value per parameter, as the only work-item of its range, with memory of its own for
 * variables and globals.  False after a reported error: it traps, does not end, reaches memory that
 * it does not own, or meets a group operation.  A void function does not change *result. */
bool ir_interp_call(ir_func *f, const ir_value *args, ir_value *result);
/* The same n times, with args for each; ends at the first that fails.  Globals keep what was
 * written to them. */
bool ir_interp_calls(ir_func *f, size_t n, const ir_value *args, ir_value *results);

#endif
