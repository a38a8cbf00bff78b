/* random.h — random numbers of tests, the same in every run, and how many cases are made of them. */
#ifndef SPVFUSE_TESTS_RANDOM_H
#define SPVFUSE_TESTS_RANDOM_H

#include <stdint.h>

/* splitmix64 (Steele, Lea and Flood 2014); any state is good to begin with. */
static inline uint64_t splitmix64(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Less than n. */
static inline uint32_t draw_below(uint64_t *state, uint32_t n) {
    return (uint32_t)(splitmix64(state) >> 32) % n;
}

/* How many of n random cases run.  The release variant compares the results of all of them.  In the
 * sanitizer variant, a case takes four times as long, and the first sixth of them run. */
#ifdef __SANITIZE_ADDRESS__
#define RANDOM_CASES(n) ((n) / 6)
#else
#define RANDOM_CASES(n) (n)
#endif

#endif
