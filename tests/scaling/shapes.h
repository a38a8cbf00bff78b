/* shapes.h — modules that grow in one dimension, for scaling.c. */
#ifndef SPVFUSE_TESTS_SCALING_SHAPES_H
#define SPVFUSE_TESTS_SCALING_SHAPES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Writes a module of size n as IR text: kernel @k, or several. */
typedef void shape_fn(FILE *out, uint32_t n);

/* The way that it goes. */
typedef enum {
    INLINED, /* optimized, then native code */
    LANES,   /* the same, as vectors of 16 lanes */
    CALLED,  /* functions stay functions: native code at once */
    THREADS, /* threads that run several work-items, as PTX */
    FUSED,   /* the text has a plan, whose group is explained and fused, then native code */
    STEPPED  /* the same, and one doubling reaches a limit beyond which a stage has more to do */
} shape_way;

typedef struct {
    const char *name;
    const char *what; /* is doubled */
    shape_fn *write;
    uint32_t first; /* the smallest size of a short run */
    shape_way way;
} shape;

extern const shape shapes[];
extern const unsigned shape_count;

#endif
