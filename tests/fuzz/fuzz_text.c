/* fuzz_text.c — bytes as IR text: parsed, verified, printed to a fixed point, optimized. */
#include "runtime/spvfuse.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print_twice(spvf_context *c, const spvf_module *m) {
    spvf_blob first = {0}, second = {0};
    spvf_module *again = NULL;
    if (spvf_module_emit(m, "ir", &first) != SPVF_OK) return;
    spvf_status status = spvf_module_load(c, "printed", first.data, first.size, NULL, &again);
    if (status != SPVF_OK && status != SPVF_ERROR_MEMORY) abort();
    if (again && spvf_module_emit(again, "ir", &second) == SPVF_OK &&
        (first.size != second.size || memcmp(first.data, second.data, first.size) != 0))
        abort();
    spvf_module_destroy(again);
    spvf_blob_destroy(&first);
    spvf_blob_destroy(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    spvf_context_options o = {.size = sizeof o, .memory_limit = 256u << 20};
    spvf_pass_options p = {.size = sizeof p, .verify_each = true};
    spvf_context *c;
    spvf_module *m;
    if (spvf_context_create(&o, &c) != SPVF_OK) return 0;
    if (spvf_module_load(c, "fuzz.ir", data, size, NULL, &m) == SPVF_OK) {
        print_twice(c, m);
        if (spvf_module_optimize(m, &p) == SPVF_OK) print_twice(c, m);
        spvf_module_destroy(m);
    }
    spvf_context_destroy(c);
    return 0;
}
