/* scalar_peer.h — what scalar code is measured against. */
#ifndef SPVFUSE_TESTS_BENCH_SCALAR_PEER_H
#define SPVFUSE_TESTS_BENCH_SCALAR_PEER_H

#include <stdint.h>

enum { SCALAR_KERNELS = 12 };

typedef struct {
    const char *name;
    /* All items of a range; args as ir/launch.h says. */
    void (*run)(const uint64_t items[2], void *const *args);
} scalar_peer;

extern const scalar_peer scalar_peers[SCALAR_KERNELS];

#endif
