/* lanes_impl.h — what the files of the generator of kernels share.
 *
 *   lanes.c         the kernel and its launch; statements
 *   lanes_count.c   what kernels are made of, counted
 *   lanes_dots.c    sums of products of bytes and words
 *   lanes_flow.c    control flow
 *   lanes_fold.c    innermost loops that combine elements
 *   lanes_memory.c  accesses
 *   lanes_subgroup.c  operations of sub-groups
 *   lanes_value.c   values, and operations on them
 */
#ifndef SPVFUSE_TESTS_FUZZ_LANES_IMPL_H
#define SPVFUSE_TESTS_FUZZ_LANES_IMPL_H

#include "ir/build.h"
#include "tests/fuzz/defined.h"
#include "tests/fuzz/lanes.h"

enum { LANES_VARIABLES = 9, LANES_ARRAY = 8, LANES_DEPTH = 3, LANES_MOST = 45 };

typedef struct {
    const uint8_t *at, *end;
    lanes_kernel *k;
    ir_func *f;
    ir_builder b;
    unsigned statements; /* so far */
    /* Variables of the kernel, of different types; the first ones are i1, i32, f32 and i64. */
    ir_inst *variable[LANES_VARIABLES];
    unsigned nvariables;
    ir_inst *array, *pointer, *fuel; /* variables, too */
    ir_type cell;                    /* an element of the array */
    ir_inst *param[LANES_BUFFERS], *tile, *n, *u, *w, *x;
    ir_inst *position; /* of the item, as an i64 */
    ir_block *end_block, *bare;
    ir_block *leave, *again; /* of the innermost loop, or NULL */
    ir_inst *counter[LANES_DEPTH + 1];
    unsigned loops, alike_loops; /* around, and those of them that all items run alike */
    bool loop_alike;             /* the innermost one is one of them */
    bool alike;                  /* all items of a group are here, or none */
    bool gone;                   /* some may have gone to the end */
    bool tangled;                /* within a loop of several entries */
    bool meets;                  /* sub-groups do */
    bool calm;                   /* items branch alike after a guard, and know nothing of groups */
} lanes;

/* ------------------------------------------------------------------------------- values (…value) */

static inline unsigned lanes_byte(lanes *g) { return g->at < g->end ? *g->at++ : 0; }
static inline unsigned lanes_below(lanes *g, unsigned n) { return lanes_byte(g) % n; }
static inline ir_inst *lanes_number(lanes *g, ir_type t, uint64_t n) {
    return ir_const(g->f, t, ir_zext(n, ir_bits(NULL, ir_elem(t))));
}
static inline ir_inst *lanes_op(lanes *g, ir_op op, ir_inst *x, ir_inst *y) {
    return ir_build2(&g->b, op, x->type, x, y);
}
static inline ir_block *lanes_block(lanes *g) { return ir_block_new(g->f, NULL); }

void lanes_make_variables(lanes *g);
ir_type lanes_any_type(lanes *g);
ir_inst *lanes_get(lanes *g, ir_inst *variable);
void lanes_set(lanes *g, ir_inst *variable, ir_inst *v);
/* Something of type t: what a variable holds, a number, or what all items have. */
ir_inst *lanes_some(lanes *g, ir_type t);
/* Some variable of this type gets the value, if there is one. */
void lanes_put(lanes *g, ir_inst *v);
ir_inst *lanes_as(lanes *g, ir_inst *v, ir_type t); /* scalars */
/* An i1 that items may disagree on, and one that they do not. */
ir_inst *lanes_test(lanes *g);
ir_inst *lanes_common_test(lanes *g);
void lanes_compute(lanes *g); /* a statement */

/* ----------------------------------------------------------------------------- memory (…memory) */

void lanes_make_buffers(lanes *g);
void lanes_access(lanes *g);  /* a statement */
void lanes_row(lanes *g);     /* a loop along neighbours, from a place that is the item's own */
void lanes_private(lanes *g); /* a statement */
void lanes_atomic(lanes *g);  /* a statement */
void lanes_first_pointer(lanes *g);
/* The address of so many bytes that are only read, or NULL: no such buffer has them. */
ir_inst *lanes_input_place(lanes *g, uint64_t bytes);
void lanes_own_store(lanes *g, ir_inst *v, unsigned buffer, unsigned element);

/* ---------------------------------------------------------------------------------- dots (…dots) */

void lanes_dot_product(lanes *g); /* a statement */

/* ---------------------------------------------------------------------------------- fold (…fold) */

void lanes_fold(lanes *g); /* a statement */

/* ---------------------------------------------------------------------------------- flow (…flow) */

void lanes_statements(lanes *g, unsigned most, unsigned depth);
void lanes_branch(lanes *g, unsigned depth);
void lanes_loop(lanes *g, unsigned depth);
void lanes_grid(lanes *g, unsigned depth); /* a loop from the item's number on, in large steps */
void lanes_switch(lanes *g, unsigned depth);
void lanes_tangle(lanes *g, unsigned depth); /* a loop with several entries */
void lanes_jump(lanes *g);                   /* out of a loop, to its next round, or to the end */
void lanes_meet(lanes *g);                   /* barriers, and operations of groups */

/* -------------------------------------------------------------------------- meetings (…subgroup) */

void lanes_subgroup(lanes *g); /* a statement */

#endif
