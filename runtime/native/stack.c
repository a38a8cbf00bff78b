/* stack.c — memory that functions run on, in place of the stack of their thread.
 *
 * A program may call from a thread, or a coroutine, whose stack is small, and how much of it is
 * left cannot be found out.  What needs more than LITTLE runs on a mapping of its own, with a page
 * below that cannot be touched.  Code of kernels touches each page of its frame in order, and so
 * does the library (-fstack-clash-protection): what is too deep all the same ends at that page.
 *
 * Frames are linked by rbp, and the switch has unwinding information: debuggers walk through it.
 * The address sanitizer is told of the switch.  With the thread sanitizer, which expects landing
 * places of longjmp to descend, and on other machines everything runs on the caller's stack.
 */
#define _GNU_SOURCE
#include "runtime/native/native.h"

#include <sys/mman.h>
#include <unistd.h>

enum {
    LITTLE = 2048,   /* bytes, which every caller has */
    SPARE = 64 << 10 /* for what is between the switch and the kernel, and handlers of signals */
};

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

/* Of the mapping for a stack of so many bytes: whole pages, and the one that guards them. */
static size_t mapping_size(uint64_t bytes) {
    size_t page = page_size();
    return ((size_t)bytes + SPARE + page - 1) / page * page + page;
}

bool rt_stack_reserve(rt_stack *s, uint64_t bytes) {
    if (bytes <= LITTLE) return true;
    if (bytes > SIZE_MAX / 4) return false;
    size_t size = mapping_size(bytes);
    if (size <= s->bytes) return true;
    rt_stack_free(s);
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
    uint8_t *base = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (base == MAP_FAILED) return false;
    *s = (rt_stack){base, size};
    if (mprotect(base, page_size(), PROT_NONE) == 0) return true;
    rt_stack_free(s);
    return false;
}

void rt_stack_free(rt_stack *s) {
    if (s->base) munmap(s->base, s->bytes);
    *s = (rt_stack){0};
}

#if !defined(__SANITIZE_THREAD__)

#if defined(__SANITIZE_ADDRESS__)
void __sanitizer_start_switch_fiber(void **from, const void *bottom, size_t bytes);
void __sanitizer_finish_switch_fiber(void *from, const void **bottom, size_t *bytes);

typedef struct {
    void (*run)(void *arg);
    void *arg;
    const void *bottom; /* of the stack that is left */
    size_t bytes;
} told;

static void run_told(void *arg) {
    told *t = arg;
    void *here;
    __sanitizer_finish_switch_fiber(NULL, &t->bottom, &t->bytes);
    t->run(t->arg);
    __sanitizer_start_switch_fiber(&here, t->bottom, t->bytes);
}

static void switch_to(const rt_stack *s, void (*run)(void *arg), void *arg) {
    told t = {.run = run, .arg = arg};
    void *here;
    __sanitizer_start_switch_fiber(&here, s->base, s->bytes);
    cg_host_machine()->host->call_on_stack(s->base + s->bytes, run_told, &t);
    __sanitizer_finish_switch_fiber(here, NULL, NULL);
}
#else
static void switch_to(const rt_stack *s, void (*run)(void *arg), void *arg) {
    cg_host_machine()->host->call_on_stack(s->base + s->bytes, run, arg);
}
#endif

void rt_stack_run(const rt_stack *s, void (*run)(void *arg), void *arg) {
    if (s->base && cg_host_machine())
        switch_to(s, run, arg);
    else
        run(arg);
}

#else
void rt_stack_run(const rt_stack *s, void (*run)(void *arg), void *arg) {
    (void)s;
    run(arg);
}
#endif

/* ------------------------------------------------------------------------- stacks for compiling */

enum { DEEP = 8 << 20 };

static _Atomic(uint8_t *) kept; /* the base of a stack of DEEP bytes that no thread uses, or NULL */

bool rt_stack_run_deep(void (*run)(void *arg), void *arg) {
    uint8_t *base = atomic_exchange(&kept, NULL), *none = NULL;
    rt_stack s = {base, base ? mapping_size(DEEP) : 0};
    if (!rt_stack_reserve(&s, DEEP)) return false;
    rt_stack_run(&s, run, arg);
    if (!atomic_compare_exchange_strong(&kept, &none, s.base)) rt_stack_free(&s);
    return true;
}
