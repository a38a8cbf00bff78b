/* transpose.h — shuffles of vectors whose elements change places (transpose.c). */
#ifndef SPVFUSE_PASSES_TRANSPOSE_H
#define SPVFUSE_PASSES_TRANSPOSE_H

#include "ir/ir.h"

/* Of k vectors that lie in memory, element `lane * k + member` in turn, those members that are
 * wanted.  (transpose.c) */
void simd_take_apart(ir_builder *b, unsigned k, ir_inst *const *x, uint32_t wanted, ir_inst **out);
/* All members, of `unit` elements that follow each other. */
void simd_take_parts(ir_builder *b, unsigned k, unsigned unit, ir_inst *const *x, ir_inst **out);
/* The opposite; out may be member. */
void simd_put_together(ir_builder *b, unsigned k, ir_inst *const *member, ir_inst **out);
/* The same with all k vectors in one, for k a power of two. */
void simd_split(ir_builder *b, unsigned k, ir_inst *x, ir_inst **out);
ir_inst *simd_join(ir_builder *b, unsigned k, ir_inst *const *member);
/* n vectors after one another, n a power of two. */
ir_inst *simd_concatenate(ir_builder *b, unsigned n, ir_inst *const *x);

#endif
