/* fuzz_spirv.c — bytes as SPIR-V: read, verified, optimized, printed, written, read again.
 *
 * What is accepted must stay acceptable: the text must parse, and our own SPIR-V must be read. */
#include "runtime/spvfuse.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void round_trip(spvf_context *c, const spvf_module *m, const char *target, bool must) {
    spvf_blob out = {0};
    spvf_module *again = NULL;
    if (spvf_module_emit(m, target, &out) == SPVF_OK) {
        spvf_status status = spvf_module_load(c, target, out.data, out.size, NULL, &again);
        if (status != SPVF_OK && status != SPVF_ERROR_MEMORY) abort();
    } else if (must) {
        abort();
    }
    spvf_module_destroy(again);
    spvf_blob_destroy(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    spvf_context_options o = {.size = sizeof o, .memory_limit = 256u << 20};
    spvf_pass_options p = {.size = sizeof p, .verify_each = true};
    spvf_context *c;
    spvf_module *m;
    if (size < 20 || spvf_context_create(&o, &c) != SPVF_OK) return 0;
    if (spvf_module_load(c, "fuzz.spv", data, size, NULL, &m) == SPVF_OK) {
        round_trip(c, m, "ir", true);
        round_trip(c, m, "spirv", false);
        if (spvf_module_optimize(m, &p) == SPVF_OK) round_trip(c, m, "spirv:1.4", false);
        spvf_module_destroy(m);
    }
    spvf_context_destroy(c);
    return 0;
}
