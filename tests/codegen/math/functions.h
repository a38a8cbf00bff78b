/* functions.h — the math functions of OpenCL.std, their limits, and the error of a result.
 *
 * Limits are those of the OpenCL C specification, "Relative Error as ULPs", for the full profile.
 * native_ functions have none there; the one given here is that of half_ functions.
 */
#ifndef SPVFUSE_TESTS_MATH_FUNCTIONS_H
#define SPVFUSE_TESTS_MATH_FUNCTIONS_H

#include "tests/oracle.h"

typedef int oracle1(mpfr_t out, const mpfr_t x, mpfr_rnd_t mode);
typedef int oracle2(mpfr_t out, const mpfr_t x, const mpfr_t y, mpfr_rnd_t mode);

typedef struct {
    ir_op op;
    oracle1 *one; /* or two; neither: the operation is exact, ir_eval gives its results */
    double low, high;
    double f32, f64, f16; /* limits */
    oracle2 *two;
    double low2, high2;
} math_function;

enum { MATH_FUNCTIONS = 83 };
extern const math_function math_functions[MATH_FUNCTIONS];

double limit_of(const math_function *f, ir_kind k);
bool is_exact(const math_function *f);
bool takes_two(const math_function *f);
/* Is the second argument an integer? */
bool takes_integer(const math_function *f);
/* Is the function only for arguments from low to high? */
bool has_range(const math_function *f);
/* The result, correctly rounded; b is of functions of two arguments. */
uint64_t expected(const math_function *f, ir_kind k, uint64_t a, uint64_t b);
/* The error of `got` in units of the last place; INFINITY where none is allowed. */
double error_of(const math_function *f, ir_kind k, uint64_t a, uint64_t b, uint64_t got);

#endif
