/* short_memory.h — the program's own malloc and its kin, which are those of all that it loads: they
 * fail when a test wants it, and count blocks.  Sanitizers have their own: with them nothing fails.
 */
#ifndef SPVFUSE_TESTS_SHORT_MEMORY_H
#define SPVFUSE_TESTS_SHORT_MEMORY_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

static _Atomic int left = -1;   /* allocations that succeed; -1: all */
static _Atomic bool fails_once; /* the next one succeeds again */
static _Atomic bool has_failed;
static _Atomic long blocks;

/* That have not been given back. */
static inline long count_blocks(void) { return blocks; }

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { CAN_FAIL = false };
#else
enum { CAN_FAIL = true };

#pragma GCC visibility push(default)
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t align, size_t size);
void __libc_free(void *block);

static bool fails(void) {
    if (left < 0 || (left > 0 && left--)) return false;
    if (fails_once) left = -1;
    has_failed = true;
    errno = ENOMEM;
    return true;
}

static void *counted(void *block) {
    blocks += block != NULL;
    return block;
}

void *malloc(size_t size) { return fails() ? NULL : counted(__libc_malloc(size)); }

void *calloc(size_t count, size_t size) {
    return fails() ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *block, size_t size) {
    if (!block) return malloc(size);
    return fails() ? NULL : __libc_realloc(block, size);
}

void *aligned_alloc(size_t align, size_t size) {
    return fails() ? NULL : counted(__libc_memalign(align, size));
}

void free(void *block) {
    blocks -= block != NULL;
    __libc_free(block);
}
#pragma GCC visibility pop
#endif

#endif
