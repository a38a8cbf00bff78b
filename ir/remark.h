/* remark.h — what a pass has decided about a loop over work-items, or an innermost loop, for those
 * who want to know why code is as fast as it is.
 *
 * ir_inspection.remark is called for each such loop once its fate is known.  A remark and what it
 * points to last as long as the call.
 */
#ifndef SPVFUSE_IR_REMARK_H
#define SPVFUSE_IR_REMARK_H

#include "ir/ir.h"

/* A place in the source; file NULL: it is not known. */
typedef struct {
    const char *file;
    uint32_t line, column;
} ir_source;

/* How the items of an iteration access memory together. */
typedef enum {
    IR_FORM_UNIFORM,    /* one access for all */
    IR_FORM_CONTIGUOUS, /* neighbours in memory, one vector */
    IR_FORM_REVERSED,   /* the same, backwards */
    IR_FORM_MEMBERS,    /* every step-th element: whole vectors, and shuffles */
    IR_FORM_TILES,      /* neighbours of each item: a vector of each, and shuffles */
    IR_FORM_ARRAY,      /* private memory, items side by side */
    IR_FORM_APART,      /* an address for each item: gather, scatter */
    IR_FORM_ATOMIC      /* updates, one after the other */
} ir_access_form;

#define IR_NO_ARG UINT32_MAX

typedef struct {
    ir_access_form form;
    bool reads, writes;
    bool masked; /* items of an iteration may be left out */
    ir_space space;
    uint32_t arg;   /* the argument of the kernel that leads to the memory, or IR_NO_ARG */
    uint32_t step;  /* MEMBERS: elements from an item to the next; TILES: of an item */
    uint32_t count; /* accesses of which all this is true */
    ir_source at;
} ir_remark_access;

typedef struct ir_remark {
    const ir_func *func;
    ir_source at;        /* of the first instruction of the loop whose place is known */
    bool iterations;     /* it is an innermost loop: below, its iterations are meant by items */
    unsigned lanes;      /* work-items of an iteration; 1: the loop is not vectorized */
    unsigned rows;       /* of so many work-items in an iteration */
    bool components;     /* what is counted is components of work-items */
    bool is_part;        /* at the ends of the range, where conditions differ, other code runs */
    bool has_rest;       /* items that are left are one iteration under a mask */
    const char *refusal; /* why it is not vectorized, or NULL */
    const char *refused; /* the operation because of which it is not, or NULL */
    ir_source refused_at;
    double ratio; /* estimated time of an item, divided by that in scalar code; 0: not estimated */
    const ir_remark_access *access; /* naccesses; none if the loop was refused before */
    uint32_t naccesses;
} ir_remark;

#endif
