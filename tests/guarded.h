/* guarded.h — memory between pages that may not be accessed: a byte too many ends the test. */
#ifndef SPVFUSE_TESTS_GUARDED_H
#define SPVFUSE_TESTS_GUARDED_H

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static inline size_t guarded_page(void) { return (size_t)sysconf(_SC_PAGESIZE); }

/* So many pages, which hold zeros.  The caller needs _DEFAULT_SOURCE for the flags of mmap. */
static inline uint8_t *guarded_open(size_t pages) {
    size_t page = guarded_page(), bytes = pages * page;
    uint8_t *all = mmap(NULL, bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || mprotect(all + page, bytes, PROT_READ | PROT_WRITE) != 0) abort();
    return all + page;
}

static inline void guarded_close(uint8_t *memory, size_t pages) {
    munmap(memory - guarded_page(), (pages + 2) * guarded_page());
}

#endif
