/* fuzz_container.c — bytes as a container: all that it holds is looked at, packed again, and written
 * as HCF.  Checksums are made right first, so that fields are reached.
 *
 * What is accepted must stay acceptable: what is packed again must be a container, and so must HCF. */
#include "tests/fuzz/container.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void seal(uint8_t *bytes, size_t size) {
    rt_container_header h;
    if (size < sizeof h) return;
    memcpy(&h, bytes, sizeof h);
    h.size = size;
    if (h.sections > (size - sizeof h) / sizeof(rt_section_row)) return;
    rt_section_row *rows = (void *)(bytes + sizeof h);
    for (uint32_t n = 0; n < h.sections; n++)
        if (rows[n].offset <= size && rows[n].size <= size - rows[n].offset)
            rows[n].checksum = rt_section_checksum(&rows[n], bytes + rows[n].offset);
    h.checksum = rt_header_checksum(&h, rows);
    memcpy(bytes, &h, sizeof h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size ? size : 1);
    if (copy && size) memcpy(copy, data, size);
    if (copy) {
        look_at_container(copy, size);
        seal(copy, size);
        look_at_container(copy, size);
    }
    free(copy);
    return 0;
}
