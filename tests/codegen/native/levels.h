/* levels.h — random cases for each level of this machine. */
#ifndef SPVFUSE_TESTS_CODEGEN_NATIVE_LEVELS_H
#define SPVFUSE_TESTS_CODEGEN_NATIVE_LEVELS_H

#include "tests/machines.h"

#include <criterion/criterion.h>

/* Seeds from 1 at level n, if the machine has so many. */
static inline void check_level(unsigned n, uint64_t cases,
                               void (*check)(unsigned level, uint64_t seed)) {
    unsigned level = test_host_level(n);
    for (uint64_t seed = 1; level && seed <= cases; seed++) check(level, seed);
}

/* A test for each level, so that they run beside each other. */
#define TEST_LEVELS(suite, cases, check)                                                           \
    Test(suite, first_level) { check_level(0, cases, check); }                                     \
    Test(suite, second_level) { check_level(1, cases, check); }                                    \
    Test(suite, third_level) { check_level(2, cases, check); }

#endif
