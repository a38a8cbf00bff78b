/* seat.c — memory of one thread that runs work-groups.
 *
 * Local memory and scratch are page-aligned, mapped and touched first by the thread, and kept for
 * the next launch.  Kernels that need more stack than the threads of a program surely have run on
 * that of the seat.
 */
#define _GNU_SOURCE
#include "runtime/native/native.h"

#include <sys/mman.h>
#include <unistd.h>

static uint64_t aligned(uint64_t bytes) {
    return (bytes + IR_LOCAL_ALIGN - 1) & ~(uint64_t)(IR_LOCAL_ALIGN - 1);
}

static void unmap(rt_seat *s) {
    if (s->base) munmap(s->base, s->bytes);
    s->base = NULL;
    s->bytes = 0;
}

void rt_seat_free(rt_seat *s) {
    unmap(s);
    rt_stack_free(&s->stack);
}

/* Scratch comes right after local memory. */
bool rt_seat_fill(rt_seat *s, const rt_work *w) {
    uint64_t bytes = aligned(w->local) + w->scratch;
    if (!rt_stack_reserve(&s->stack, w->stack)) return false;
    if (bytes < w->local || bytes < w->scratch || bytes > SIZE_MAX / 2) return false;
    if (bytes <= s->bytes) return true;
    unmap(s);
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = ((size_t)bytes + page - 1) & ~(page - 1);
    void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) return false;
    s->base = base;
    s->bytes = size;
    return true;
}

void rt_seat_place(const rt_seat *s, const rt_work *w, ir_group_info *g) {
    g->local = s->base;
    g->scratch = s->base ? s->base + aligned(w->local) : NULL;
}
