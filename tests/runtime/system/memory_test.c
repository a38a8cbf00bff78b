/* memory_test.c — memory for buffers: its alignment, and pages of which size it asks for. */
#include "runtime/system/memory.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const size_t large_page = (size_t)2 << 20;

/* Does the system know that this byte should lie in a large page?  (proc(5), smaps: VmFlags) */
static bool is_advised(const char *byte) {
    FILE *f = fopen("/proc/self/smaps", "r");
    char line[1000];
    bool here = false, advised = false;
    while (f && fgets(line, sizeof line, f)) {
        unsigned long begin, end;
        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
            here = (uintptr_t)byte >= begin && (uintptr_t)byte < end;
        if (here && strncmp(line, "VmFlags:", 8) == 0) advised = strstr(line, " hg") != NULL;
    }
    if (f) fclose(f);
    return advised;
}

static bool has_large_pages(void) {
    return access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) == 0;
}

Test(memory, sizes) {
    const size_t sizes[] = {
        0, 1, 127, 128, 16383, 16384, 100000, large_page - 1, large_page, 3 * large_page + 5};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t n = sizes[k];
        char *p = rt_new_memory(n);
        cr_assert_not_null(p);
        memset(p, 1, n);
        cr_expect_eq((uintptr_t)p % IR_LOCAL_ALIGN, 0);
        bool large = n >= large_page;
        if (large) cr_expect_lt((uintptr_t)p % large_page, 4096, "%zu", n);
        if (has_large_pages()) cr_expect_eq(is_advised(p), large, "%zu", n);
        rt_free_memory(p, n);
    }
}

static void check_places(size_t bytes) {
    enum { BUFFERS = 8 };
    char *p[BUFFERS];
    for (unsigned k = 0; k < BUFFERS; k++) {
        p[k] = rt_new_memory(bytes);
        cr_assert_not_null(p[k]);
        for (unsigned j = 0; j < k; j++) {
            unsigned distance = ((uintptr_t)p[k] - (uintptr_t)p[j]) % 4096;
            cr_expect(distance >= 256 && distance <= 4096 - 256, "%u and %u: %u", j, k, distance);
        }
    }
    for (unsigned k = 0; k < BUFFERS; k++) rt_free_memory(p[k], bytes);
}

/* Stores into one do not delay loads from the same place of another. */
Test(memory, buffers_begin_at_different_places_of_a_page) {
    check_places(16384);
    check_places(1000000);
    check_places(large_page);
    rt_free_memory(NULL, large_page);
}

/* Of one processor, not of all: the system lists it for the first one. */
Test(memory, caches) {
    unsigned long kib = 0;
    FILE *f = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r");
    if (f && fscanf(f, "%luK", &kib) == 1) cr_expect_eq(rt_cache_size(), (uint64_t)kib << 10);
    if (f) fclose(f);
}

Test(memory, what_does_not_exist) { cr_expect_null(rt_new_memory(SIZE_MAX - 5)); }
