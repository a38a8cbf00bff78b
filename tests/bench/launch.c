/* launch.c — what launches cost beside the work of their groups.
 *
 * The empty groups are those of a compiled kernel.  Efficiency is the time of one thread by the
 * time of all, times their number: 1 is what cannot be beaten.  Groups of three kinds: equal, ever
 * longer, and one in 64 long.
 */
#include "runtime/native.h"

#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char empty_text[] = "target 64\nkernel @empty() {\nentry:\n  ret\n}\n";

typedef struct {
    ir_ctx cx;
    rt_code code;
    rt_block *block;
} empty_kernel;

static void compile_empty(void *arg) {
    empty_kernel *k = arg;
    const rt_native_options o = {.code.level = CG_X86_64_V2};
    ir_arena arena;
    cg_object object;
    ir_arena_init(&arena, &k->cx);
    ir_module *m = ir_parse(&k->cx, "empty", empty_text, sizeof empty_text - 1);
    if (!m || !rt_native_compile(m, NULL, &o, &arena, &object)) exit(1);
    if (rt_code_load(&object, NULL, &k->code) != IR_OK) exit(1);
    void *symbol = rt_code_symbol(&k->code, &object, object.kernels.data[0].block);
    memcpy(&k->block, &symbol, sizeof symbol);
    ir_module_free(m);
    ir_arena_free(&arena);
}

typedef enum { EQUAL, RISING, RARE, KINDS } kind;

static uint64_t length_of(kind k, uint64_t group, uint64_t groups, uint64_t mean) {
    if (k == RISING) return 2 * mean * group / groups;
    if (k == RARE) return group % 64 == 0 ? mean * 64 : 0;
    return mean;
}

/* args: kind, mean length of a group in turns of the loop */
static void spin_block(const ir_group_info *g, void *const *args) {
    kind k = *(const kind *)args[0];
    uint64_t mean = *(const uint64_t *)args[1];
    for (uint64_t x = g->group_id[0]; x < g->group_end[0]; x++)
        for (uint64_t n = length_of(k, x, g->num_groups[0], mean); n; n--) __asm__ volatile("");
}

/* The best of several, in seconds; the cost of the kernel is known then. */
static double time_launch(rt_pool *p, rt_block *run, void *const *args, uint64_t groups) {
    double best = 1e9;
    rt_cost cost = {0};
    ir_group_info g = {.num_groups = {groups, 1, 1}};
    rt_work w = {.run = run, .info = &g, .args = args, .cost = &cost};
    for (int i = 0; i < 30; i++) {
        double start = now();
        rt_pool_run(p, &w);
        double t = now() - start;
        if (t < best) best = t;
    }
    return best;
}

static void show_efficiency(rt_pool *one, rt_pool *all, uint64_t groups, uint64_t mean) {
    printf("  %6llu groups of %7llu turns:", (unsigned long long)groups, (unsigned long long)mean);
    for (kind k = EQUAL; k < KINDS; k++) {
        void *args[] = {&k, &mean};
        double alone = time_launch(one, spin_block, args, groups);
        double together = time_launch(all, spin_block, args, groups);
        printf("  %.2f", alone / together / rt_pool_threads(all));
    }
    printf("\n");
}

int main(int argc, char **argv) {
    rt_pool_options options = {.threads = argc > 1 ? (unsigned)atoi(argv[1]) : 0};
    rt_pool *one = rt_pool_new(&(rt_pool_options){.threads = 1}), *all = rt_pool_new(&options);
    if (!one || !all) return 1;
    printf("%u threads\n", rt_pool_threads(all));
    empty_kernel k = {.block = NULL};
    if (!ir_try(&k.cx, compile_empty, &k)) return 1;
    printf("  one empty group    %7.0f ns\n", 1e9 * time_launch(all, k.block, NULL, 1));
    printf("  10^6 empty groups  %7.2f ms alone, %.2f ms together\n",
           1e3 * time_launch(one, k.block, NULL, 1000000),
           1e3 * time_launch(all, k.block, NULL, 1000000));
    rt_code_unload(&k.code);
    printf("  efficiency of groups that are          equal rising rare\n");
    for (uint64_t mean = 100; mean <= 1000000; mean *= 10)
        for (uint64_t groups = 64; groups <= 65536 && groups * mean <= 100000000; groups *= 32)
            show_efficiency(one, all, groups, mean);
    rt_pool_free(one);
    rt_pool_free(all);
    return 0;
}
