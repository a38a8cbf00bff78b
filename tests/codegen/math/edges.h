/* edges.h — arguments at which math functions go wrong, for the test of their accuracy. */
#ifndef SPVFUSE_TESTS_MATH_EDGES_H
#define SPVFUSE_TESTS_MATH_EDGES_H

#include "tests/codegen/math/functions.h"

typedef struct {
    uint64_t a, b; /* b is of functions of two arguments */
} math_point;

typedef struct {
    math_point *data;
    size_t n, capacity;
} math_points;

/* The same in every run; the caller frees `data`. */
math_points collect_edges(const math_function *f, ir_kind k);

#endif
