/* vectors.h — vectors in pieces, for passes `legalize_vectors` and `scalarize`.
 *
 * A vector value is an array of pieces of `unit` lanes, a power of two: as many as fit a register
 * of the target, or 1.  Lanes after the last one of the value have any contents.  If a value was
 * made lane by lane, its scalars are recorded as well.
 *
 * Vectors of i1 remain what they are if the target has masks.  Otherwise they are integers, 0 or -1
 * in each lane, as wide as the operands of the comparison that made them, or scalars if no
 * comparison made them; those of phis are as wide as what most of their users choose.
 */
#ifndef SPVFUSE_PASSES_VECTORS_H
#define SPVFUSE_PASSES_VECTORS_H

#include "passes/passes.h"

typedef struct {
    unsigned unit; /* lanes of a piece; 0: the value has no pieces */
    unsigned bits; /* of a lane of a mask, 1 if the target has masks; 0: no mask, or scalars only */
    ir_inst **piece; /* NULL: there are scalars only */
    ir_inst **lane;  /* its scalars, or NULL */
} vec_parts;

typedef struct {
    ir_func *f;
    ir_arena *scratch;
    const ir_target *target; /* NULL: everything becomes scalars */
    ir_builder b;
    vec_parts *of; /* by value id */
    uint32_t n;    /* entries */
    ir_vec(ir_inst *) phis, dead;
    ir_inst *aside; /* the variable that vec_find_aside has made, or NULL */
} vec_state;

/* The number of lanes of a piece of values of type t; 1: scalars. */
unsigned vec_unit(const vec_state *s, ir_type t);
/* The same for masks whose lanes are integers of so many bits; 1: masks of the target. */
unsigned vec_mask_unit(const vec_state *s, unsigned lanes, unsigned bits);
/* The pieces of v; NULL: it remains a vector, or is a constant. */
const vec_parts *vec_parts_of(const vec_state *s, const ir_inst *v);

/* Lane k of v, or v itself if it is no vector. */
ir_inst *vec_lane(vec_state *s, ir_inst *v, unsigned k);
/* Lanes first to first + n - 1 of v: a piece, or a part of one. */
ir_inst *vec_piece(vec_state *s, ir_inst *v, unsigned first, unsigned n);
/* Does the target have masks? */
bool vec_has_masks(const vec_state *s);
/* The bits of a lane of a mask for vectors with lanes of so many bits. */
unsigned vec_mask_bits(const vec_state *s, unsigned bits);
/* The lanes first to first + n - 1 of a mask, as integers of so many bits; 1: as a mask. */
ir_inst *vec_mask(vec_state *s, ir_inst *v, unsigned first, unsigned n, unsigned bits);
/* Truncates the lanes of x to type elem. */
ir_inst *vec_narrow(vec_state *s, ir_inst *x, ir_type elem);
/* A vector of n lanes, the first `known` of which are given. */
ir_inst *vec_of_lanes(vec_state *s, ir_type elem, ir_inst *const *lane, unsigned known, unsigned n);
/* The mask as an operand of select, any and all. */
ir_inst *vec_truth(vec_state *s, ir_inst *mask);
/* The integer that i casts a mask to; NULL: it is made lane by lane. (vectors_numbers.c) */
ir_inst *vec_number_of_mask(vec_state *s, const ir_inst *i);

ir_type vec_bits_type(unsigned bits); /* the integer type of so many bits */
/* The number of pieces of so many lanes, and an array for n pieces. */
unsigned vec_count(unsigned lanes, unsigned unit);
ir_inst **vec_room(vec_state *s, unsigned n);

/* Sets the pieces of i's value, which have n lanes each. */
void vec_set_pieces(vec_state *s, ir_inst *i, ir_inst **piece, unsigned n);

/* Is i, for which the target has no instruction, expanded into others?  A piece of its expansion,
 * with these operands. (vectors_expand.c) */
bool vec_is_expanded(vec_state *s, const ir_inst *i);
ir_inst *vec_build_expansion(vec_state *s, const ir_inst *i, ir_inst *const *args);
/* Has the target op for lanes of type t, which are small numbers, with the second operand the same
 * in all of them and known, or not? */
bool vec_target_has(vec_state *s, ir_op op, ir_type t, bool known);
/* The same for counts of bits and high products. (vectors_bits.c) */
bool vec_is_of_bits(vec_state *s, const ir_inst *i);
ir_inst *vec_build_of_bits(vec_state *s, const ir_inst *i, ir_inst *const *args);

/* Makes the phis of the pieces of a phi; at the end, they get their arguments. (vectors_phis.c) */
void vec_split_phi(vec_state *s, ir_inst *i);
void vec_fill_phis(vec_state *s);

/* Operations that are done lane by lane. (vectors_lanes.c) */
void vec_set_lanes(vec_state *s, ir_inst *i, ir_inst **lane);
void vec_by_lanes(vec_state *s, ir_inst *i);
void vec_insert_lane(vec_state *s, ir_inst *i);
void vec_shuffle_lanes(vec_state *s, ir_inst *i);
/* A shuffle in pieces. (vectors_shuffle.c) */
void vec_shuffle(vec_state *s, ir_inst *i);
ir_inst *vec_pick_lane(vec_state *s, const ir_inst *i);
void vec_permute_lanes(vec_state *s, ir_inst *i);
ir_inst *vec_reduce_lanes(vec_state *s, const ir_inst *i);
ir_inst *vec_cast_lane(vec_state *s, const ir_inst *i, unsigned k);
/* The operation i on other operands; x as another type of the same size. */
ir_inst *vec_build_like(vec_state *s, const ir_inst *i, ir_type t, ir_inst *const *args);
ir_inst *vec_cast(vec_state *s, ir_type t, ir_inst *x);

/* The pieces of a permutation; false: the target has no instruction for it. (vectors_permute.c) */
bool vec_permute(vec_state *s, ir_inst *i);

/* The pieces of the load i.  The store i by pieces; false: it is no store of a vector.
 * (vectors_memory.c) */
void vec_load(vec_state *s, const ir_inst *i, unsigned unit, ir_inst **out);
bool vec_store(vec_state *s, const ir_inst *i);
/* A variable with room for so many bytes, for lanes that are not active, and for what is read again
 * at once.  The same for accesses by a mask. (vectors_masked.c) */
ir_inst *vec_find_aside(vec_state *s, uint32_t bytes);
void vec_masked_load(vec_state *s, ir_inst *i);
void vec_masked_store(vec_state *s, const ir_inst *i);

#endif
