/* count.h — what running our own code costs, exactly. (count.c) */
#ifndef SPVFUSE_TESTS_SCALING_COUNT_H
#define SPVFUSE_TESTS_SCALING_COUNT_H

#include <stddef.h>
#include <stdint.h>

/* Basic blocks executed since the program began, and units of 16 bytes that were copied or set. */
extern uint64_t count_steps;

/* An allocator for contexts, and what is held of it. */
typedef struct {
    size_t now, most;
} count_memory;
void *count_allocate(void *user, size_t bytes);
void count_release(void *user, void *block);

#endif
