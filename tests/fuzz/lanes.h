/* lanes.h — bytes as a kernel and a launch of it, for vectorization over work-items. */
#ifndef SPVFUSE_TESTS_FUZZ_LANES_H
#define SPVFUSE_TESTS_FUZZ_LANES_H

#include "ir/launch.h"

enum { LANES_BUFFERS = 6, LANES_COUNTS = 16 };

typedef enum {
    LANES_OWN,   /* written: a work-item reads and writes the elements that are its own */
    LANES_INPUT, /* read anywhere */
    LANES_SAME,  /* read anywhere, and every byte is the same */
    LANES_COUNT, /* LANES_COUNTS integers that all items change atomically */
    LANES_PLACE  /* one element, which items set to what all of them agree on */
} lanes_role;

/* Forms of control flow that are counted. */
typedef enum {
    LANES_BRANCH,
    LANES_SWITCH,
    LANES_FALL,
    LANES_LOOP,
    LANES_COMMON_LOOP,
    LANES_GRID,
    LANES_TANGLE,
    LANES_BREAK,
    LANES_CONTINUE,
    LANES_RETURN,
    LANES_ARRAY_INDEX,
    LANES_BARRIER,
    LANES_MEETING,
    LANES_FLOW
} lanes_flow;

typedef struct {
    lanes_role role;
    ir_type elem;
    unsigned per, gap; /* elements of an item, and bytes that follow them */
    bool reversed;     /* the first item's are the last ones */
    bool at_end;       /* of a page; otherwise it begins a page */
    uint64_t count;    /* of elements, or of items if it is LANES_OWN */
    uint64_t bytes;
} lanes_buffer;

typedef struct {
    ir_module *module; /* kernel @k: a pointer for each buffer, local memory, n, u, w, x */
    ir_range range;
    bool known;        /* the code is for the range only */
    bool whole;        /* one call for all groups */
    bool exact;        /* no operation whose last bits the target decides */
    bool spread;       /* there are barriers or operations of groups */
    unsigned subgroup; /* items of a sub-group, which the kernel requires */
    uint64_t local_bytes;
    lanes_buffer buffer[LANES_BUFFERS];
    unsigned nbuffers;
    uint32_t n, u;
    uint64_t w;
    float x;
    uint8_t choice[4]; /* bytes for the test that runs it */
    bool flow[LANES_FLOW];
} lanes_kernel;

/* Makes the module in the context; the bytes decide everything else. */
void lanes_make(ir_ctx *cx, const uint8_t *data, size_t size, lanes_kernel *out);

/* Counts what a kernel is made of (lanes_count.c); writes the table to stderr, a line for each cell:
 * "made: add: i8: 12". */
void lanes_count(const lanes_kernel *k);
void lanes_show_counts(void);

#endif
