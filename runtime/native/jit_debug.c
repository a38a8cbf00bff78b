/* jit_debug.c — loaded code made known to gdb, perf and VTune.
 *
 * gdb stops in __jit_debug_register_code and reads the list that __jit_debug_descriptor heads: each
 * entry points to an object file in memory, here one whose sections have the addresses of the
 * loaded ones.  What perf reads is in jit_perf.c, what VTune is told in
 * jit_vtune.c.
 *
 * These are the only variables of the library that a thread can change and another see: the
 * interface is one per process.  The lock is theirs.  Kernels keep frame pointers, so profilers
 * walk their stacks; nothing is registered for C++ exceptions, which must not pass through kernels.
 */
#define _GNU_SOURCE
#include "runtime/native/native.h"

#include <sys/mman.h>

/* ------------------------------------------------------------------------------------------ gdb */

typedef struct rt_announced {
    struct rt_announced *next, *prev;
    const uint8_t *file;
    uint64_t size;
    size_t mapped; /* gdb does not look here */
} announced;

typedef struct {
    uint32_t version, action;
    announced *relevant, *first;
} descriptor;

enum { NO_ACTION, REGISTER, UNREGISTER };

/* Names that gdb looks for among all symbols of each file.  They are hidden from other
 * libraries: LLVM, in the same process, has a list of its own under the same name. */
#define FOR_GDB __attribute__((visibility("hidden"), used))
extern descriptor __jit_debug_descriptor;
extern void __jit_debug_register_code(void);
FOR_GDB descriptor __jit_debug_descriptor = {.version = 1};
FOR_GDB __attribute__((noinline)) void __jit_debug_register_code(void) {
    __asm__ volatile("" ::: "memory");
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void rt_code_before_fork(void) { pthread_mutex_lock(&lock); }

void rt_code_after_fork(bool in_child) { rt_mutex_after_fork(&lock, in_child); }

static void notify(announced *e, uint32_t action) {
    __jit_debug_descriptor.relevant = e;
    __jit_debug_descriptor.action = action;
    __jit_debug_register_code();
    __jit_debug_descriptor.relevant = NULL;
    __jit_debug_descriptor.action = NO_ACTION;
}

static void enlist(announced *e) {
    pthread_mutex_lock(&lock);
    e->next = __jit_debug_descriptor.first;
    if (e->next) e->next->prev = e;
    __jit_debug_descriptor.first = e;
    notify(e, REGISTER);
    pthread_mutex_unlock(&lock);
}

void rt_code_withdraw(rt_code *c) {
    announced *e = c->gdb;
    pthread_mutex_lock(&lock);
    if (e->next) e->next->prev = e->prev;
    *(e->prev ? &e->prev->next : &__jit_debug_descriptor.first) = e->next;
    notify(e, UNREGISTER);
    pthread_mutex_unlock(&lock);
    munmap(e, e->mapped);
    c->gdb = NULL;
}

static void tell_gdb(rt_code *c, const cg_object *o, ir_arena *a) {
    uint64_t address[CG_SECTIONS];
    uint8_t *file;
    size_t size;
    for (int s = 0; s < CG_SECTIONS; s++) address[s] = (uint64_t)(uintptr_t)c->at[s];
    cg_file_options options = {
        .elf = cg_host_machine()->elf, .lines = o->lines.n != 0, .address = address};
    cg_write_object(o, &options, a, &file, &size);
    size_t mapped = sizeof(announced) + size;
    announced *e = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (e == MAP_FAILED) return;
    memcpy(e + 1, file, size);
    *e = (announced){.file = (uint8_t *)(e + 1), .size = size, .mapped = mapped};
    c->gdb = e;
    enlist(e);
}

/* ----------------------------------------------------------------------------------------- both */

static void tell_perf(const rt_code *c, const cg_object *o, ir_arena *a) {
    ir_text records = {.arena = a};
    rt_tell_perf(c, o, a, &records);
    pthread_mutex_lock(&lock);
    rt_append_to_dump(&records);
    pthread_mutex_unlock(&lock);
}

typedef struct {
    rt_code *code;
    const cg_object *object;
    const rt_tools *tools;
    ir_arena arena;
} job;

/* Only what may throw comes before the lock. */
static void tell_vtune(const rt_code *c, const cg_object *o, ir_arena *a) {
    rt_method_list methods = rt_list_methods(c, o, a);
    pthread_mutex_lock(&lock);
    rt_tell_vtune(&methods);
    pthread_mutex_unlock(&lock);
}

/* A kernel of which only the code of blocks was made has its own name. */
static cg_object with_plain_names(const cg_object *from, ir_arena *a) {
    cg_object o = *from;
    o.symbols.data = ir_dup(a, o.symbols.data, o.symbols.n * sizeof *o.symbols.data);
    foreach_in (const cg_kernel, k, from->kernels)
        if (k->entry == k->block) o.symbols.data[k->block].name = k->name;
    return o;
}

static void announce(void *arg) {
    job *j = arg;
    cg_object o = with_plain_names(j->object, &j->arena);
    if (j->tools->perf) tell_perf(j->code, &o, &j->arena);
    if (j->tools->vtune) tell_vtune(j->code, &o, &j->arena);
    if (j->tools->gdb) tell_gdb(j->code, &o, &j->arena);
}

void rt_code_announce(rt_code *c, const cg_object *o, const rt_tools *tools, ir_ctx *cx) {
    job j = {.code = c, .object = o, .tools = tools};
    ir_arena_init(&j.arena, cx);
    bool ok = ir_try(cx, announce, &j);
    ir_arena_free(&j.arena);
    if (!ok) ir_throw(cx, cx->status);
}
