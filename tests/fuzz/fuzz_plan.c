/* fuzz_plan.c — bytes as a plan: parsed, and its groups looked at.  Nothing is launched. */
#include "runtime/spvfuse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    spvf_context_options o = {.size = sizeof o, .memory_limit = 256u << 20};
    spvf_context *c;
    spvf_plan *plan;
    if (spvf_context_create(&o, &c) != SPVF_OK) return 0;
    if (spvf_plan_load(c, "fuzz.plan", (const char *)data, size, &plan) == SPVF_OK) {
        (void)spvf_plan_group_count(plan);
        spvf_plan_destroy(plan);
    }
    spvf_context_destroy(c);
    return 0;
}
