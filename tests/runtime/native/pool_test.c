/* pool_test.c — every group runs once, whatever the box and the threads.  pool_stress.c has many
 * launches at a time. */
#include "runtime/native/native.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fenv.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static rt_pool *new_pool(unsigned threads) {
    rt_pool *p = rt_pool_new(&(rt_pool_options){.threads = threads});
    cr_assert_not_null(p);
    return p;
}

/* ---------------------------------------------------------------------------------------- boxes */

/* args[0]: a counter per group; args[1]: boxes that were run. */
static void count_box(const ir_group_info *g, void *const *args) {
    _Atomic uint8_t *count = args[0];
    atomic_fetch_add_explicit((_Atomic unsigned *)args[1], 1, memory_order_relaxed);
    for (uint64_t z = g->group_id[2]; z < g->group_end[2]; z++)
        for (uint64_t y = g->group_id[1]; y < g->group_end[1]; y++)
            for (uint64_t x = g->group_id[0]; x < g->group_end[0]; x++)
                count[x + g->num_groups[0] * (y + g->num_groups[1] * z)]++;
}

Test(pool, a_range_of_groups_is_at_most_five_boxes) {
    static const uint64_t shapes[][3] = {{1, 1, 60}, {60, 1, 1}, {3, 4, 5}, {1, 12, 5}, {4, 1, 15}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (uint64_t at = 0; at < 60; at++)
            for (uint64_t n = 1; n <= 60 - at; n++) {
                uint8_t count[60] = {0}, want[60] = {0};
                unsigned boxes = 0;
                ir_group_info g = {0};
                memcpy(g.num_groups, shapes[s], sizeof g.num_groups);
                memset(want + at, 1, n);
                rt_run_groups(count_box, &g, (void *[]){count, &boxes}, at, n);
                cr_assert_arr_eq(count, want, 60);
                cr_assert(boxes <= 5);
            }
}

static void do_nothing(const ir_group_info *g, void *const *args) { (void)g, (void)args; }

Test(pool, groups_near_the_end_of_all_numbers) {
    const uint64_t n = UINT64_C(1) << 21;
    uint64_t last = n * n * n - 1;
    ir_group_info g = {.num_groups = {n, n, n}};
    rt_run_groups(do_nothing, &g, NULL, last, 1);
    for (int d = 0; d < 3; d++) cr_expect(g.group_id[d] == n - 1 && g.group_end[d] == n);
}

/* ------------------------------------------------------------------------------------- launches */

static void expect_once(rt_pool *p, uint64_t x, uint64_t y, uint64_t z, rt_cost *cost) {
    uint64_t total = x * y * z;
    uint8_t *count = calloc(total + 1, 1);
    unsigned boxes = 0;
    void *args[] = {count, &boxes};
    ir_group_info g = {.num_groups = {x, y, z}};
    rt_work w = {.run = count_box, .info = &g, .args = args, .cost = cost};
    cr_assert_eq(rt_pool_run(p, &w), IR_OK);
    for (uint64_t i = 0; i < total; i++) cr_assert_eq(count[i], 1, "group %d", (int)i);
    free(count);
}

Test(pool, every_group_runs_once) {
    for (unsigned threads = 1; threads <= 9; threads += 2) {
        rt_pool *p = new_pool(threads);
        rt_cost cost = {0};
        for (uint64_t n = 0; n < 70; n++) expect_once(p, n, 1, 1, n & 1 ? &cost : NULL);
        expect_once(p, 1, 1024, 1, NULL);
        expect_once(p, 1, 1, 1024, &cost);
        expect_once(p, 100, 100, 30, NULL);
        expect_once(p, 7, 1, 1000, &cost);
        rt_pool_free(p);
    }
}

/* ------------------------------------------------------------------------ memory of each thread */

typedef struct {
    _Atomic int wrong;
    uint64_t local, scratch;
} memory_check;

/* Fills its memory with its number, waits, and looks whether it is still there. */
static void use_memory(const ir_group_info *g, void *const *args) {
    memory_check *c = args[0];
    uint8_t mark = (uint8_t)g->group_id[0], *local = g->local, *scratch = g->scratch;
    c->wrong += (uintptr_t)local % IR_LOCAL_ALIGN != 0 || (uintptr_t)scratch % IR_LOCAL_ALIGN != 0;
    memset(local, mark, c->local);
    memset(scratch, mark + 1, c->scratch);
    sched_yield();
    for (uint64_t i = 0; i < c->local; i++) c->wrong += local[i] != mark;
    for (uint64_t i = 0; i < c->scratch; i++) c->wrong += scratch[i] != (uint8_t)(mark + 1);
}

Test(pool, threads_have_memory_of_their_own) {
    rt_pool *p = new_pool(4);
    for (uint64_t bytes = 1; bytes < 300000; bytes = bytes * 7 + 1) {
        memory_check c = {0, bytes, bytes / 2};
        ir_group_info g = {.num_groups = {40, 1, 1}};
        rt_work w = {.run = use_memory,
                     .info = &g,
                     .args = (void *[]){&c},
                     .local = bytes,
                     .scratch = bytes / 2};
        cr_assert_eq(rt_pool_run(p, &w), IR_OK);
        cr_expect_eq(c.wrong, 0);
    }
    rt_pool_free(p);
}

Test(pool, no_room_is_a_status) {
    rt_pool *p = new_pool(2);
    ir_group_info g = {.num_groups = {40, 1, 1}};
    rt_work w = {.run = use_memory, .info = &g, .local = UINT64_MAX, .scratch = 1};
    cr_expect_eq(rt_pool_run(p, &w), IR_ERR_MEMORY);
    w.local = UINT64_C(1) << 62;
    cr_expect_eq(rt_pool_run(p, &w), IR_ERR_MEMORY);
    expect_once(p, 100, 1, 1, NULL);
    rt_pool_free(p);
}

/* --------------------------------------------------------------------------------- surroundings */

/* args[0]: the threads that ran, by the address of their local memory. */
static void note_thread(const ir_group_info *g, void *const *args) {
    void *_Atomic *seen = args[0];
    nanosleep(&(struct timespec){0, 2000000}, NULL);
    for (int i = 0; i < 8; i++) {
        void *none = NULL;
        if (atomic_compare_exchange_strong(&seen[i], &none, g->local) || none == g->local) return;
    }
}

Test(pool, who_was_short_before_gets_help_when_not) {
    rt_pool *p = new_pool(8);
    rt_cost cost = {1};
    void *_Atomic seen[8] = {NULL};
    ir_group_info g = {.num_groups = {64, 1, 1}};
    rt_work w = {.run = note_thread,
                 .info = &g,
                 .args = (void *[]){(void *)seen},
                 .local = 1,
                 .cost = &cost};
    cr_assert_eq(rt_pool_run(p, &w), IR_OK);
    cr_expect_not_null(seen[1], "more than one thread");
    rt_pool_free(p);
}

static unsigned count_threads(void) {
    unsigned n = 0;
    DIR *tasks = opendir("/proc/self/task");
    while (readdir(tasks)) n++;
    closedir(tasks);
    return n;
}

/* How many threads a launch starts. */
static unsigned threads_started(rt_pool *p, uint64_t guess) {
    ir_group_info g = {.num_groups = {64, 1, 1}};
    const rt_work w = {.run = do_nothing, .info = &g, .guess = guess};
    unsigned before = count_threads();
    cr_assert_eq(rt_pool_run(p, &w), IR_OK);
    return count_threads() - before;
}

/* A launch that is interrupted by another process is not as short as it was guessed to be. */
Test(pool, a_launch_that_is_guessed_to_be_short_starts_no_thread) {
    rt_pool *p = new_pool(8);
    unsigned started = 1;
    for (int n = 0; n < 20 && started; n++) started = threads_started(p, 1);
    cr_expect_eq(started, 0);
    rt_pool_free(p);
}

Test(pool, a_launch_of_unknown_length_starts_threads) {
    rt_pool *p = new_pool(8);
    cr_expect_gt(threads_started(p, 0), 0);
    rt_pool_free(p);
}

static unsigned count_threads_in_time(unsigned want) {
    for (int n = 0; n < 500 && count_threads() != want; n++)
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    return count_threads();
}

Test(pool, helpers_that_are_idle_end_and_come_again) {
    rt_pool *p = new_pool(4);
    unsigned before = count_threads();
    for (int n = 0; n < 2; n++) {
        void *_Atomic seen[8] = {NULL};
        ir_group_info g = {.num_groups = {64, 1, 1}};
        rt_work w = {.run = note_thread, .info = &g, .args = (void *[]){(void *)seen}, .local = 1};
        cr_assert_eq(rt_pool_run(p, &w), IR_OK);
        cr_expect_not_null(seen[1], "more than one thread");
        cr_expect_gt(count_threads(), before);
        cr_expect_eq(count_threads_in_time(before), before);
    }
    rt_pool_free(p);
}

Test(pool, the_shared_one_is_freed_by_its_last_user) {
    rt_pool *a = rt_pool_share(), *b = rt_pool_share();
    cr_expect(a && a == b);
    rt_pool_give_back(a);
    expect_once(b, 1000, 1, 1, NULL);
    rt_pool_give_back(b);
    a = rt_pool_share();
    expect_once(a, 1000, 1, 1, NULL);
    rt_pool_give_back(a);
}

Test(pool, a_forked_child_works_alone) {
    rt_pool *p = new_pool(4);
    expect_once(p, 1000, 1, 1, NULL);
    pid_t child = fork();
    if (child == 0) {
        expect_once(p, 1000, 1, 1, NULL);
        rt_pool_free(p);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    rt_pool_free(p);
}

static void divide(const ir_group_info *g, void *const *args) {
    volatile float x = 1, y = 3;
    ((float *)args[0])[g->group_id[0]] = x / y;
}

Test(pool, kernels_round_to_nearest) {
    rt_pool *p = new_pool(1);
    float out[2];
    ir_group_info g = {.num_groups = {1, 1, 1}};
    rt_work w = {.run = divide, .info = &g, .args = (void *[]){out}};
    rt_pool_run(p, &w);
    fesetround(FE_UPWARD);
    rt_work again = {.run = divide, .info = &g, .args = (void *[]){out + 1}};
    rt_pool_run(p, &again);
    cr_expect_eq(fegetround(), FE_UPWARD);
    fesetround(FE_TONEAREST);
    cr_expect_eq(out[0], out[1]);
    rt_pool_free(p);
}

Test(pool, the_environment_says_how_many_threads) {
    unsigned n = rt_cpu_count();
    cr_expect(n >= 1 && n <= (unsigned long)sysconf(_SC_NPROCESSORS_ONLN));
    setenv("SPVFUSE_THREADS", "7", 1);
    cr_expect_eq(rt_default_threads(), 7);
    setenv("SPVFUSE_THREADS", "0", 1);
    cr_expect_eq(rt_default_threads(), n);
    setenv("SPVFUSE_THREADS", "2x", 1);
    cr_expect_eq(rt_default_threads(), n);
}
