/* pool_stress.c — many threads launch and compile at a time; for the thread sanitizer too, with
 * which Criterion does not run.
 *
 * Each launch must have run all of its groups when it returns, in memory of their own, and no more
 * threads may be at it than the pool or the callers are.
 */
#include "runtime/native/native.h"
#include "tests/temporary.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { CALLERS = 8, LAUNCHES = 300, MOST_GROUPS = 100, LOCAL = 3000 };

typedef struct {
    rt_pool *pool;
    rt_cost cost;
    _Atomic int running, most, wrong;
} stress;

static void note_running(stress *s) {
    int now = ++s->running, most = s->most;
    while (now > most && !atomic_compare_exchange_weak(&s->most, &most, now)) continue;
}

/* args: the stress, and a plain counter per group, which the caller reads. */
static void run_box(const ir_group_info *g, void *const *args) {
    stress *s = args[0];
    int *count = args[1], *local = g->local, mark = (int)(uintptr_t)count;
    note_running(s);
    for (uint64_t i = g->group_id[0]; i < g->group_end[0]; i++) {
        for (int k = 0; k < LOCAL / 4; k++) local[k] = mark;
        for (int k = 0; k < LOCAL / 4; k++) s->wrong += local[k] != mark;
        count[i]++;
    }
    s->running--;
}

static void *launch_many(void *arg) {
    stress *s = arg;
    unsigned seed = (unsigned)(uintptr_t)&seed;
    for (int i = 0; i < LAUNCHES; i++) {
        int count[MOST_GROUPS] = {0};
        uint64_t n = 1 + (uint64_t)(rand_r(&seed) % MOST_GROUPS);
        ir_group_info g = {.num_groups = {n, 1, 1}};
        rt_work w = {.run = run_box,
                     .info = &g,
                     .args = (void *[]){s, count},
                     .local = LOCAL,
                     .cost = i & 1 ? &s->cost : NULL};
        s->wrong += rt_pool_run(s->pool, &w) != IR_OK;
        for (uint64_t k = 0; k < n; k++) s->wrong += count[k] != 1;
    }
    return NULL;
}

static bool run_stress(unsigned threads, unsigned callers) {
    stress s = {.pool = rt_pool_new(&(rt_pool_options){.threads = threads})};
    pthread_t t[CALLERS];
    for (unsigned i = 0; i < callers; i++) pthread_create(&t[i], NULL, launch_many, &s);
    for (unsigned i = 0; i < callers; i++) pthread_join(t[i], NULL);
    rt_pool_free(s.pool);
    /* A caller begins at once; a helper that is too much leaves at its next chunk. */
    unsigned most = (threads > callers ? threads : callers) + callers;
    bool ok = s.wrong == 0 && (unsigned)s.most <= most;
    if (!ok)
        printf("%u threads, %u callers: %d wrong, %d at once\n", threads, callers, s.wrong, s.most);
    return ok;
}

/* Callers that share a pool come and go. */
static void *share(void *arg) {
    for (int i = 0; i < 50; i++) {
        stress s = {.pool = rt_pool_share()};
        int count[MOST_GROUPS] = {0};
        ir_group_info g = {.num_groups = {MOST_GROUPS, 1, 1}};
        rt_work w = {.run = run_box, .info = &g, .args = (void *[]){&s, count}, .local = LOCAL};
        if (rt_pool_run(s.pool, &w) != IR_OK || s.wrong) *(_Atomic int *)arg = 1;
        rt_pool_give_back(s.pool);
    }
    return NULL;
}

static bool share_pools(void) {
    _Atomic int wrong = 0;
    pthread_t t[CALLERS];
    for (unsigned i = 0; i < CALLERS; i++) pthread_create(&t[i], NULL, share, &wrong);
    for (unsigned i = 0; i < CALLERS; i++) pthread_join(t[i], NULL);
    return !wrong;
}

/* ------------------------------------------------------------------------------------- variants */

typedef struct {
    rt_kernel kernel;
    _Atomic int compiled, wrong;
} variants;

static ir_status compile(void *user, const pass_group_shape *shape, const rt_values *values,
                         rt_variant *out) {
    variants *v = user;
    v->compiled++;
    for (volatile int i = 0; i < 100000; i++) continue;
    out->shape = *shape;
    out->item_steps = values ? (uint32_t)values->value[0] : 0;
    return IR_OK;
}

static void *launch_sizes(void *arg) {
    variants *v = arg;
    rt_compiler c = {compile, v};
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        rt_use use;
        const pass_group_shape shape = {.local = {1 + i % 4, 1, 1}};
        const rt_values values = {.known = 1, .value = {1 + i / (LAUNCHES / 2)}};
        if (rt_kernel_begin(&v->kernel, &shape, &values, &c, &use) != IR_OK) v->wrong++;
        uint64_t x = use.variant->shape.local[0];
        uint64_t value = use.variant->item_steps;
        v->wrong += value != 0 && value != values.value[0];
        v->wrong += x != 0 && x != shape.local[0];
        rt_kernel_end(&v->kernel, &use, 1000000);
    }
    return NULL;
}

/* Each variant is compiled once, by the thread that needs it first; code for values again when
 * callers that are half-way through have run often, while others have not. */
static bool share_variants(void) {
    variants v = {.wrong = 0};
    pthread_t t[CALLERS];
    rt_kernel_init(&v.kernel);
    for (unsigned i = 0; i < CALLERS; i++) pthread_create(&t[i], NULL, launch_sizes, &v);
    for (unsigned i = 0; i < CALLERS; i++) pthread_join(t[i], NULL);
    rt_kernel_free(&v.kernel);
    return !v.wrong && v.compiled <= CALLERS * LAUNCHES / 10;
}

/* -------------------------------------------------------------------------------------- kernels */

enum { RUNS = 10 };

/* Both kernels observe their groups, so launches of other shapes have code of their own. */
static const char kernel_text[] = "target 64\n"
                                  "kernel @number(%p: ptr.global of i32, %k: i32) {\n"
                                  "entry:\n"
                                  "  %i: i64 = global_id 0\n"
                                  "  %o: i64 = shl %i, 2\n"
                                  "  %q: ptr.global = ptradd %p, %o\n"
                                  "  %n: i32 = trunc %i\n"
                                  "  barrier workgroup workgroup acq_rel local\n"
                                  "  %v: i32 = mul %n, %k\n"
                                  "  store %v, %q align 4\n"
                                  "  ret\n"
                                  "}\n"
                                  "kernel @turn(%p: ptr.global of i32, %q: ptr.global of i32) {\n"
                                  "entry:\n"
                                  "  %i: i64 = global_id 0\n"
                                  "  %m: i64 = sub 4999, %i\n"
                                  "  %o: i64 = shl %i, 2\n"
                                  "  %u: i64 = shl %m, 2\n"
                                  "  %a: ptr.global = ptradd %p, %o\n"
                                  "  %b: ptr.global = ptradd %p, %u\n"
                                  "  %c: ptr.global = ptradd %q, %o\n"
                                  "  %w: i32 = load %a align 4\n"
                                  "  %n: i32 = trunc %i\n"
                                  "  store %n, %a align 4\n"
                                  "  barrier device device acq_rel global\n"
                                  "  %v: i32 = load %b align 4\n"
                                  "  %s: i32 = add %v, %w\n"
                                  "  store %s, %c align 4\n"
                                  "  ret\n"
                                  "}\n";

typedef struct {
    char file[TEMPORARY_NAME];
    const char *devices[2]; /* by turns */
    _Atomic int wrong;
} plans;

/* Compiled in a context of its own, run by the threads of all. */
static bool run_plan(const char *file, const char *device) {
    char text[500];
    int n = snprintf(text, sizeof text,
                     "buffer x i32[5000]\nbuffer y i32[5000]\n"
                     "launch \"%s\":number global 5000 args x, 3\n"
                     "launch \"%s\":number global 5000 local 100 args x, 7\n"
                     "expect x[0..1] = 0, 7\nexpect x[4999..4999] = 34993\n"
                     "launch \"%s\":turn global 5000 local 50 args x, y\n"
                     "expect y[0..1] = 4999, 5005\nexpect y[4999..4999] = 34993\n",
                     file, file, file);
    const spvf_run_options o = {.size = sizeof o, .device = device};
    spvf_context *c;
    spvf_plan *p;
    if (spvf_context_create(NULL, &c) != SPVF_OK) return false;
    bool ok = spvf_plan_load(c, "plan", text, (size_t)n, &p) == SPVF_OK &&
              spvf_plan_run(p, &o, NULL) == SPVF_OK;
    spvf_plan_destroy(p);
    spvf_context_destroy(c);
    return ok;
}

static void *run_plans(void *arg) {
    plans *p = arg;
    for (int turn = 0; turn < RUNS; turn++) p->wrong += !run_plan(p->file, p->devices[turn & 1]);
    return NULL;
}

static bool has_cpu(void) { return strcmp(spvf_default_device(NULL), "cpu") == 0; }

static bool share_kernels(const char *device, const char *other) {
    plans p = {.devices = {device, other}};
    pthread_t t[CALLERS];
    if (!has_cpu()) return true;
    int fd = temporary_file(p.file);
    bool written = fd >= 0 && write(fd, kernel_text, sizeof kernel_text - 1) > 0 && close(fd) == 0;
    for (unsigned i = 0; i < CALLERS; i++) pthread_create(&t[i], NULL, run_plans, &p);
    for (unsigned i = 0; i < CALLERS; i++) pthread_join(t[i], NULL);
    remove(p.file);
    return written && !p.wrong;
}

static void count_entries(void *user, const spvf_cache_info *i) {
    *(uint64_t *)user = i->entries * (i->bytes <= i->limit);
}

/* Four kinds of code, and nothing but four entries. */
static bool share_cache(void) {
    char folder[TEMPORARY_NAME];
    spvf_context *c;
    uint64_t entries = 0;
    if (!has_cpu()) return true;
    if (!temporary_folder(folder) || setenv("SPVFUSE_CACHE_DIR", folder, 1) != 0) return false;
    bool ok = share_kernels("cpu:untiered,cache", "cpu:eager,cache");
    if (spvf_context_create(NULL, &c) != SPVF_OK) return false;
    ok = spvf_cache(c, SPVF_CACHE_CLEAR, count_entries, &entries) == SPVF_OK && ok;
    spvf_context_destroy(c);
    return rmdir(folder) == 0 && ok && entries == 4;
}

int main(void) {
    static const unsigned threads[] = {1, 4, 12, 12}, callers[] = {8, 8, 8, 2};
    int passed = 0;
    for (int i = 0; i < 4; i++) passed += run_stress(threads[i], callers[i]);
    passed += share_pools();
    passed += share_variants();
    passed += share_kernels("cpu", "cpu:eager");
    passed += share_cache();
    printf("launches at a time: %d passed, %d failed\n", passed, 8 - passed);
    return passed != 8;
}
