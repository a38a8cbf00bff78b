/* strips.h — an inner loop that is cut into strips: what strips.c finds out about it, and
 * strips_copies.c builds. */
#ifndef SPVFUSE_PASSES_STRIPS_H
#define SPVFUSE_PASSES_STRIPS_H

#include "passes/vectorize/simd.h"

enum {
    STRIPS_ROUNDS = 16, /* of a strip, at most */
    STRIPS_LOADS = 32,
    STRIPS_TESTS = 4
};

/* An extension of an index that may wrap. */
typedef struct {
    const ir_inst *index;
    bool is_signed;
} strips_test;

/* A copy of the loop. */
typedef struct {
    ir_block *head; /* leads to the header, or past the copy; NULL: there is none */
    ir_block *header, *latch;
    ir_inst *load[STRIPS_LOADS];
    ir_value_list next; /* of the phis of the header: the values for the next round */
} strips_copy;

typedef struct {
    simd *s;
    const ir_loop *loop;
    ir_block *header, *latch, *before, *exit;
    unsigned back; /* the operand of the header's phis that is for the next round */
    pass_counter counter;
    ir_inst *limit; /* of the counter; NULL: `rounds` is known */
    ir_op order;    /* how they are compared */
    int64_t rounds;
    ir_inst *load[STRIPS_LOADS];
    int64_t step[STRIPS_LOADS]; /* bytes from round to round */
    unsigned nloads, u;
    bool writes; /* does the loop write? */
    bool leaves; /* rounds that do not fill a strip are left to another loop */
    bool skips;  /* the last strip ends where the loop does, and leaves out what has been done */
    strips_test test[STRIPS_TESTS];
    unsigned ntests;
    ir_inst *guard;      /* the branch to strips */
    ir_inst *enter;      /* i1: there are strips */
    ir_inst *all, *full; /* i64: rounds of the loop, and of all strips */
    ir_inst *j;          /* i64: rounds before a strip */
    ir_inst *from;       /* i64: the round whose element the first one of a tile is */
    bool is_outside;     /* all of this is known before the loop over items */
    /* Of the loop: itself, U - 1 others, and that for the rounds that are left. */
    strips_copy copy[STRIPS_ROUNDS + 1];
} strips;

/* Does v not change in the loop? */
static inline bool strips_is_fixed(const strips *t, const ir_inst *v) {
    return !v->block || !simd_is_in(t->s, v->block, t->loop);
}

/* Puts the strips in front of the loop; all but the copies is known. */
void strips_cut(strips *t);

#endif
