/* container.h — what the targets for containers do with bytes. */
#ifndef SPVFUSE_TESTS_FUZZ_CONTAINER_H
#define SPVFUSE_TESTS_FUZZ_CONTAINER_H

#include "runtime/container/container.h"
#include "runtime/container/hcf.h"

#include <stdlib.h>

/* Aborts if what the library has written is no container. */
static inline void read_again(spvf_context *c, spvf_blob *blob) {
    spvf_container *again = NULL;
    spvf_status status = spvf_container_load(c, "again", blob->data, blob->size, &again);
    if (status == SPVF_OK) status = spvf_container_verify(again);
    if (status != SPVF_OK && status != SPVF_ERROR_MEMORY) abort();
    spvf_container_destroy(again);
    spvf_blob_destroy(blob);
}

static inline void look_at_kernels(spvf_container *c) {
    uint32_t image;
    const spvf_kernel_info *k;
    for (size_t n = 0; (k = spvf_container_kernel(c, n)); n++) {
        static const char *const targets[] = {NULL, "sm_90", "x86_64:v3"};
        if (spvf_container_find_kernel(c, k->name) == SIZE_MAX) return;
        for (unsigned t = 0; t < 3; t++) spvf_container_pick(c, k->name, targets[t], &image);
        if (n == 20) return;
    }
}

static inline void look_at_container(const void *bytes, size_t size) {
    spvf_context_options o = {.size = sizeof o, .memory_limit = 256u << 20};
    spvf_context *c;
    spvf_container *x = NULL;
    spvf_pack *p = NULL;
    spvf_module *m = NULL;
    spvf_blob blob;
    if (spvf_context_create(&o, &c) != SPVF_OK) return;
    if (spvf_container_load(c, "x", bytes, size, &x) == SPVF_OK) {
        look_at_kernels(x);
        spvf_container_module(&x, 1, NULL, NULL, &m);
        if (spvf_container_hcf(x, &blob) == SPVF_OK) read_again(c, &blob);
        if (spvf_pack_create(c, &p) == SPVF_OK &&
            spvf_pack_add(p, "x", NULL, bytes, size) == SPVF_OK &&
            spvf_pack_write(p, &blob) == SPVF_OK)
            read_again(c, &blob);
    }
    spvf_module_destroy(m);
    spvf_pack_destroy(p);
    spvf_container_destroy(x);
    spvf_context_destroy(c);
}

#endif
