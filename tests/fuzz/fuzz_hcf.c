/* fuzz_hcf.c — bytes as a text container of AdaptiveCpp; see fuzz_container.c. */
#include "tests/fuzz/container.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (rt_is_hcf(data, size)) look_at_container(data, size);
    return 0;
}
