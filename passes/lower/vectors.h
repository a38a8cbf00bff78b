/* vectors.h — vectors in pieces, for passes `legalize_vectors` and `scalarize`.
 *
 * A vector value is an array of pieces of `unit` lanes, a power of two: as many as fit the
 * registers of the target, or 1.  Lanes after the last one of the value mean nothing.  Where a
 * value was made lane by lane its scalars are known besides.
 *
 * Vectors of i1 are themselves where the target has masks; elsewhere integers, 0 or -1 in each
 * lane, as wide as the operands of the comparison that made them.  What no comparison made is
 * scalars.
 */
#ifndef SPVFUSE_PASSES_VECTORS_H
#define SPVFUSE_PASSES_VECTORS_H

#include "passes/passes.h"

typedef struct {
    unsigned unit;   /* lanes of a piece; 0: nothing is known of the value */
    unsigned bits;   /* i1: of a lane of the pieces, 1 where the target has masks, 0: only scalars
                        are there; else 0 */
    ir_inst **piece; /* NULL: only scalars are there */
    ir_inst **lane;  /* NULL: not known */
} vec_parts;

typedef struct {
    ir_func *f;
    ir_arena *scratch;
    const ir_target *target; /* NULL: everything becomes scalars */
    ir_builder b;
    vec_parts *of; /* by value id */
    uint32_t n;    /* entries */
    ir_vec(ir_inst *) phis, dead;
} vec_state;

/* Lanes of the widest piece that values of a type come in; 1: scalars. */
unsigned vec_unit(const vec_state *s, ir_type t);
/* The same for truth values, which are integers of so many bits, or masks when that is 1. */
unsigned vec_mask_unit(const vec_state *s, unsigned lanes, unsigned bits);
/* What is known of v, or NULL: it stays a vector, or is a constant. */
const vec_parts *vec_parts_of(const vec_state *s, const ir_inst *v);

/* Lane k of v; v itself when it is no vector. */
ir_inst *vec_lane(vec_state *s, ir_inst *v, unsigned k);
/* Lanes first … first + n - 1 of v, a piece of it or a part of one. */
ir_inst *vec_piece(vec_state *s, ir_inst *v, unsigned first, unsigned n);
/* Are vectors of i1 values of their own?  Bits of lanes of truth values that go with lanes of so
 * many. */
bool vec_has_masks(const vec_state *s);
unsigned vec_mask_bits(const vec_state *s, unsigned bits);
/* The same of a vector of i1, as integers, or with 1 as it is. */
ir_inst *vec_mask(vec_state *s, ir_inst *v, unsigned first, unsigned n, unsigned bits);
/* The low bits of integers: lanes of the narrower ones that they are made of. */
ir_inst *vec_narrow(vec_state *s, ir_inst *x, ir_type elem);
/* n lanes; the first `known` are given. */
ir_inst *vec_of_lanes(vec_state *s, ir_type elem, ir_inst *const *lane, unsigned known, unsigned n);
/* The mask as an operand of select, any and all. */
ir_inst *vec_truth(vec_state *s, ir_inst *mask);

ir_type vec_bits_type(unsigned bits); /* the integer of so many */
/* Pieces that lanes come in, and room for as many. */
unsigned vec_count(unsigned lanes, unsigned unit);
ir_inst **vec_room(vec_state *s, unsigned n);

/* i's value is made of these pieces of n lanes. */
void vec_set_pieces(vec_state *s, ir_inst *i, ir_inst **piece, unsigned n);

/* Is i, for which the target has no instruction, done by others?  Then a piece of it, of these
 * operands.  (vectors_instead.c) */
bool vec_goes_instead(vec_state *s, const ir_inst *i);
ir_inst *vec_build_instead(vec_state *s, const ir_inst *i, ir_inst *const *args);

/* Lane by lane.  (vectors_lanes.c) */
void vec_set_lanes(vec_state *s, ir_inst *i, ir_inst **lane);
void vec_by_lanes(vec_state *s, ir_inst *i);
void vec_insert_lane(vec_state *s, ir_inst *i);
void vec_shuffle_lanes(vec_state *s, ir_inst *i);
ir_inst *vec_pick_lane(vec_state *s, const ir_inst *i);
ir_inst *vec_reduce_lanes(vec_state *s, const ir_inst *i);
ir_inst *vec_cast_lane(vec_state *s, const ir_inst *i, unsigned k);
/* The operation i on other operands; x under another type of as many bits. */
ir_inst *vec_build_like(vec_state *s, const ir_inst *i, ir_type t, ir_inst *const *args);
ir_inst *vec_cast(vec_state *s, ir_type t, ir_inst *x);

/* Memory: pieces of the load i; the store of v at p.  (vectors_memory.c) */
void vec_load(vec_state *s, const ir_inst *i, unsigned unit, ir_inst **out);
void vec_store(vec_state *s, const ir_inst *i, unsigned unit);

#endif
