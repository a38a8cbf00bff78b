/* cpu_promises.c — what arguments of a launch have to do with each other.
 *
 * Code is faster if it knows that arguments do not overlap and how they are aligned.  Programs do
 * not say so, but a launch has the addresses, and mostly the sizes: of a buffer, and of a part of
 * one.  So that is part of the shape that code is made for, and a launch with other arguments runs
 * other code.  Nothing is promised about addresses if a launch is not told the size of what
 * lies there.
 *
 * A launch that accesses more memory than caches hold may store past them.  An item of a kernel
 * that streams accesses a few bytes of an argument, so a launch of few items is not taken for one
 * that reads all of a large buffer.
 */
#include "runtime/devices/cpu/cpu.h"
#include "runtime/system/memory.h"

enum { MOST_AREAS = 16, BYTES_OF_ITEM = 16, LEAST_CACHE = 1 << 20 };

typedef struct {
    uintptr_t at;
    uint64_t bytes;
} area;

/* Of what is not there yet, only the place in it is known. */
static area area_of(const rt_arg *a) {
    if (a->kind == RT_ARG_ADDRESS) return (area){(uintptr_t)a->address, a->size};
    if (!a->memory) return (area){a->offset, 0};
    bool inside = a->offset < a->memory->size;
    return (area){(uintptr_t)a->memory->bytes + a->offset,
                  inside ? a->memory->size - a->offset : 0};
}

/* Does the last area overlap with none before it? */
static bool is_apart(const area *list, unsigned n) {
    const area *last = &list[n - 1];
    for (const area *a = list; a < last; a++)
        if (a->at < last->at + last->bytes && last->at < a->at + a->bytes) return false;
    return true;
}

/* Is it more than the caches hold?  Their size is not asked for if it is little. */
static bool is_beyond_caches(const cpu_launch *l, uint64_t bytes) {
    uint64_t caches = l->machine->options.caches;
    if (!caches && bytes > LEAST_CACHE) caches = rt_cache_size();
    return caches && bytes > caches;
}

void cpu_find_promises(const cpu_launch *l, uint64_t items, pass_group_shape *out) {
    area list[MOST_AREAS];
    unsigned n = 0;
    uint64_t all = 0, most = UINT64_MAX;
    if (items < most / BYTES_OF_ITEM) most = items * BYTES_OF_ITEM;
    out->apart = out->on_lines = true;
    for (size_t k = 0; k < l->launch->count; k++) {
        const rt_arg *a = &l->launch->args[k];
        if (a->kind != RT_ARG_MEMORY && a->kind != RT_ARG_ADDRESS) continue;
        out->apart &= n < MOST_AREAS;
        if (n < MOST_AREAS) list[n++] = area_of(a);
        const area where = area_of(a);
        /* NULL and memory that is not there yet overlap with nothing. */
        bool bounded = where.bytes || !where.at || (a->kind == RT_ARG_MEMORY && !a->memory);
        out->apart = out->apart && bounded && is_apart(list, n);
        out->on_lines &= where.at % IR_LINE == 0;
        uint64_t bytes = where.bytes < most ? where.bytes : most;
        all = all < UINT64_MAX - bytes ? all + bytes : UINT64_MAX;
    }
    out->streams = is_beyond_caches(l, all);
}
