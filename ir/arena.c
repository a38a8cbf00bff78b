/* arena.c — memory that is freed all at once.
 *
 * Chunks come from the context's allocator and are counted against its limit; a request that cannot
 * be met leaves through ir_throw(IR_ERR_MEMORY).  Blocks are zeroed and 16-byte aligned.  Chunks
 * double in size up to 1 MiB, so a small module costs one small chunk.
 *
 * A context may keep freed chunks for its next arenas.  Otherwise one job after the other would end
 * with so much free memory that malloc gives it back to the system, which then has to map and clear
 * the same pages again: a tenth of the time of fusing eight kernels.  Kept chunks are poisoned for
 * the address sanitizer, so it reports their use as it reports the use of freed memory.
 */
#include "ir/ir.h"

#include <stdlib.h>
#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h> /* its macros do nothing without the sanitizer */
#else
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

struct ir_chunk {
    ir_chunk *next;
    size_t size;
};

enum { FIRST_CHUNK = 16 << 10, LAST_CHUNK = 1 << 20, HEADER = 16, ALIGN = 16 };
_Static_assert(sizeof(ir_chunk) <= HEADER, "blocks start after the header");

void ir_arena_init(ir_arena *a, ir_ctx *cx) { *a = (ir_arena){.cx = cx}; }

/* NULL: out of memory, or above the limit. */
static void *raw_allocate(ir_ctx *cx, size_t size) {
    size_t held = cx->used + cx->spared;
    if (cx->limit && (size > cx->limit || held > cx->limit - size)) return NULL;
    return cx->allocate ? cx->allocate(cx->alloc_user, size) : malloc(size);
}

static void raw_release(ir_ctx *cx, void *block) {
    if (cx->allocate)
        cx->release(cx->alloc_user, block);
    else
        free(block);
}

static void poison(ir_chunk *c) { ASAN_POISON_MEMORY_REGION((char *)c + HEADER, c->size - HEADER); }

static void unpoison(ir_chunk *c) {
    ASAN_UNPOISON_MEMORY_REGION((char *)c + HEADER, c->size - HEADER);
}

void ir_ctx_trim(ir_ctx *cx) {
    for (ir_chunk *c = cx->spare, *next; c; c = next) {
        next = c->next;
        unpoison(c);
        raw_release(cx, c);
    }
    cx->spare = NULL;
    cx->spared = 0;
}

/* A kept chunk of the size or somewhat more, so that small ones leave large ones alone; or NULL. */
static ir_chunk *take_spare(ir_ctx *cx, size_t size) {
    ir_chunk **at = &cx->spare, *c;
    while ((c = *at) && (c->size < size || c->size / 2 > size)) at = &c->next;
    if (!c) return NULL;
    *at = c->next;
    cx->spared -= c->size;
    unpoison(c);
    return c;
}

static ir_chunk *new_chunk(ir_ctx *cx, size_t size) {
    ir_chunk *c = take_spare(cx, size);
    if (c) return c;
    c = raw_allocate(cx, size);
    if (!c && cx->spare) {
        ir_ctx_trim(cx);
        c = raw_allocate(cx, size);
    }
    if (!c) ir_throw(cx, IR_ERR_MEMORY);
    c->size = size;
    return c;
}

static void free_chunk(ir_ctx *cx, ir_chunk *c) {
    cx->used -= c->size;
    if (c->size > cx->keep || cx->spared > cx->keep - c->size) {
        raw_release(cx, c);
        return;
    }
    c->next = cx->spare;
    cx->spare = c;
    cx->spared += c->size;
    poison(c);
}

void ir_arena_free(ir_arena *a) {
    for (ir_chunk *c = a->chunks, *next; c; c = next) {
        next = c->next;
        free_chunk(a->cx, c);
    }
    ir_arena_init(a, a->cx);
}

static void add_chunk(ir_arena *a, size_t bytes) {
    size_t size = a->total < LAST_CHUNK ? a->total : LAST_CHUNK;
    if (size < FIRST_CHUNK) size = FIRST_CHUNK;
    if (bytes > SIZE_MAX / 2) ir_throw(a->cx, IR_ERR_MEMORY);
    if (size < bytes + HEADER) size = bytes + HEADER;
    ir_chunk *c = new_chunk(a->cx, size);
    c->next = a->chunks;
    a->chunks = c;
    a->cx->used += c->size;
    a->total += c->size;
    a->next = (char *)c + HEADER;
    a->end = (char *)c + c->size;
}

static size_t round_up(const ir_arena *a, size_t bytes) {
    if (bytes > SIZE_MAX - ALIGN) ir_throw(a->cx, IR_ERR_MEMORY);
    return bytes ? (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1) : ALIGN;
}

/* Takes a rounded number of bytes, which are not zeroed. */
static char *take(ir_arena *a, size_t bytes) {
    if ((size_t)(a->end - a->next) < bytes) add_chunk(a, bytes);
    char *block = a->next;
    a->next += bytes;
    return block;
}

void *ir_alloc(ir_arena *a, size_t bytes) {
    bytes = round_up(a, bytes);
    return memset(take(a, bytes), 0, bytes);
}

void *ir_alloc_raw(ir_arena *a, size_t bytes) { return take(a, round_up(a, bytes)); }

/* A block of so many bytes that begins with n that are copied; only the rest is zeroed. */
static void *begin_with(ir_arena *a, const void *data, size_t n, size_t bytes) {
    bytes = round_up(a, bytes);
    char *block = take(a, bytes);
    if (n) memcpy(block, data, n);
    if (n < bytes) memset(block + n, 0, bytes - n);
    return block;
}

void *ir_dup(ir_arena *a, const void *data, size_t bytes) {
    return begin_with(a, data, bytes, bytes);
}

char *ir_strndup(ir_arena *a, const char *s, size_t n) {
    char *copy = ir_alloc_raw(a, n + 1);
    if (n) memcpy(copy, s, n);
    copy[n] = 0;
    return copy;
}

char *ir_strdup(ir_arena *a, const char *s) { return ir_strndup(a, s, strlen(s)); }

void *ir_vec_grow(ir_arena *a, const void *data, uint32_t *cap, uint32_t n, size_t size) {
    if (*cap > UINT32_MAX / 4) ir_throw(a->cx, IR_ERR_LIMIT);
    *cap = *cap ? *cap * 2 : 8;
    return begin_with(a, data, n * size, *cap * size);
}
