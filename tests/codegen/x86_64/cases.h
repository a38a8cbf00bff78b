/* cases.h — operands to try a row of encodings.def with.
 *
 * Each operand of a row goes through everything that it can be while the others stay: all
 * registers, every shape of memory, immediates at the ends of their ranges; then masks, zeroing,
 * broadcast, rounding and lock.  Random combinations come on top.
 */
#ifndef SPVFUSE_TESTS_X86_64_CASES_H
#define SPVFUSE_TESTS_X86_64_CASES_H

#include "codegen/x86_64/encode.h"

typedef struct {
    x86_row row;
    x86_operands operands;
} x86_case;
typedef ir_vec(x86_case) x86_cases;

void cases_of_row(ir_arena *arena, x86_row row, x86_cases *out);
void cases_at_random(ir_arena *arena, x86_row row, unsigned n, uint64_t *seed, x86_cases *out);
/* The same with one thing changed to something at random, where that is still an instruction. */
void cases_changed(ir_arena *arena, x86_row row, unsigned n, uint64_t *seed, x86_cases *out);
/* One case with registers only, where the row has one, and one with memory. */
void cases_of_kinds(ir_arena *arena, x86_row row, x86_cases *out);

#endif
