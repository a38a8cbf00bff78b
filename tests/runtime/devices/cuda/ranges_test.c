/* ranges_test.c — ranges that are no grid of equally large groups: every item runs once, and what it
 * asks has the answer that device check gives. */
#include "runtime/api/runtime.h"
#include "tests/random.h"
#include "tests/runtime/devices/cuda/cuda_bench.h"

enum { MOST_ITEMS = 1 << 14 };

/* The text of a kernel that stores what `queries` answer; its last word counts the runs. */
static void write_kernel(char *text, size_t size, const char *name, const char *const *queries,
                         unsigned n) {
    size_t at = strlen(text);
    at += (size_t)snprintf(text + at, size - at,
                           "kernel @%s(%%out: ptr.global of i64) {\n"
                           "entry:\n"
                           "  %%l: i64 = global_linear_id\n"
                           "  %%o: i64 = mul %%l, %u\n"
                           "  %%at: ptr.global = ptradd %%out, %%o inbounds\n",
                           name, 8 * (n + 1));
    for (unsigned k = 0; k < n; k++)
        at += (size_t)snprintf(text + at, size - at,
                               "  %%a%u: i64 = %s\n"
                               "  %%p%u: ptr.global = ptradd %%at, %u inbounds\n"
                               "  store %%a%u, %%p%u align 8\n",
                               k, queries[k], k, 8 * k, k, k);
    snprintf(text + at, size - at,
             "  %%pc: ptr.global = ptradd %%at, %u inbounds\n"
             "  %%c: i64 = load %%pc align 8\n"
             "  %%d: i64 = add %%c, 1\n"
             "  store %%d, %%pc align 8\n"
             "  ret\n"
             "}\n",
             8 * n);
}

static const char *const free_queries[] = {
    "global_id 0",   "global_id 1",     "global_id 2",     "global_size 0",   "global_size 1",
    "global_size 2", "global_offset 0", "global_offset 1", "global_offset 2", "global_linear_id"};
static const char *const group_queries[] = {"global_id 0",
                                            "global_id 1",
                                            "global_id 2",
                                            "global_size 0",
                                            "global_size 1",
                                            "global_size 2",
                                            "global_offset 0",
                                            "global_offset 1",
                                            "global_offset 2",
                                            "global_linear_id",
                                            "local_id 0",
                                            "local_id 1",
                                            "local_id 2",
                                            "local_size 0",
                                            "local_size 1",
                                            "local_size 2",
                                            "enqueued_local_size 0",
                                            "enqueued_local_size 1",
                                            "enqueued_local_size 2",
                                            "group_id 0",
                                            "group_id 1",
                                            "group_id 2",
                                            "num_groups 0",
                                            "num_groups 1",
                                            "num_groups 2",
                                            "local_linear_id"};
enum {
    FREE = sizeof free_queries / sizeof *free_queries,
    GROUP = sizeof group_queries / sizeof *group_queries,
    MOST = GROUP + 1
};

static char text[1 << 14];

static void open_with_kernels(void) {
    strcpy(text, "target 64\n");
    write_kernel(text, sizeof text, "free", free_queries, FREE);
    write_kernel(text, sizeof text, "group", group_queries, GROUP);
    open_bench(text);
}

/* ----------------------------------------------------------------------------------- one launch */

static uint64_t items_of(const spvf_range *r) {
    uint64_t n = 1;
    for (unsigned k = 0; k < r->dims; k++) n *= r->global[k];
    return n;
}

static void launch_on(rt_device *d, rt_program *p, const char *kernel, const spvf_range *r,
                      rt_memory *m) {
    const rt_arg arg = rt_memory_arg(m, 0);
    rt_device_launch(d, &(rt_launch){.function = d->driver->find(d, p, kernel),
                                     .range = r,
                                     .args = &arg,
                                     .count = 1,
                                     .uneven = true});
}

typedef struct {
    const char *kernel;
    const spvf_range *range;
    uint64_t *answers, bytes;
} asking;

static void ask_cuda(void *arg) {
    const asking *a = arg;
    rt_memory *m = new_memory(a->answers, a->bytes);
    launch_on(bench.device, bench.program, a->kernel, a->range, m);
    rt_device_read(bench.device, m, 0, a->answers, a->bytes);
    bench.device->driver->release(bench.device, m);
}

/* What the cpu says: the same range with the same local size, at once. */
static void ask_cpu(const asking *a) {
    rt_memory *m = bench.cpu->driver->allocate(bench.cpu, "m", a->bytes, a->answers);
    launch_on(bench.cpu, bench.cpu_program, a->kernel, a->range, m);
    rt_device_read(bench.cpu, m, 0, a->answers, a->bytes);
    bench.cpu->driver->release(bench.cpu, m);
}

static uint64_t got[MOST_ITEMS * MOST], wanted[MOST_ITEMS * MOST];

static void expect_answers(const char *kernel, const spvf_range *r) {
    unsigned n = strcmp(kernel, "free") == 0 ? FREE + 1 : GROUP + 1;
    uint64_t items = items_of(r), bytes = items * n * 8;
    cr_assert_leq(items, MOST_ITEMS);
    memset(got, 0, bytes);
    memset(wanted, 0, bytes);
    cr_assert(try_to(ask_cuda, &(asking){kernel, r, got, bytes}), "%s", messages);
    ask_cpu(&(asking){kernel, r, wanted, bytes});
    for (uint64_t k = 0; k < items * n; k++)
        cr_assert_eq(got[k], wanted[k],
                     "%s on %llu %llu %llu / %llu %llu %llu: item %llu, answer %u: %llu, not %llu",
                     kernel, (unsigned long long)r->global[0], (unsigned long long)r->global[1],
                     (unsigned long long)r->global[2], (unsigned long long)r->local[0],
                     (unsigned long long)r->local[1], (unsigned long long)r->local[2],
                     (unsigned long long)(k / n), (unsigned)(k % n), (unsigned long long)got[k],
                     (unsigned long long)wanted[k]);
}

/* --------------------------------------------------------------------------------------- ranges */

Test(cuda_ranges, groups_that_are_smaller_at_the_ends) {
    static const spvf_range ranges[] = {
        {.dims = 1, .global = {1000}, .local = {64}},
        {.dims = 1, .global = {37}, .local = {64}},
        {.dims = 1, .global = {1000}, .local = {64}, .offset = {5}},
        {.dims = 2, .global = {33, 17}, .local = {8, 4}},
        {.dims = 2, .global = {32, 17}, .local = {8, 4}, .offset = {3, 1000}},
        {.dims = 3, .global = {17, 9, 5}, .local = {8, 4, 2}},
        {.dims = 3, .global = {17, 9, 5}, .local = {8, 4, 2}, .offset = {1, 2, 3}},
        {.dims = 3, .global = {3, 9, 70}, .local = {2, 2, 64}},
    };
    open_with_kernels();
    for (size_t n = 0; n < sizeof ranges / sizeof *ranges; n++) {
        expect_answers("free", &ranges[n]);
        expect_answers("group", &ranges[n]);
    }
    close_bench();
    remove_cache_folder();
}

static unsigned launches_of(const char *kernel, const spvf_range *r) {
    fake_cuda_forget();
    expect_answers(kernel, r);
    return fake_cuda_launches();
}

Test(cuda_ranges, as_few_launches_as_can_be) {
    open_with_kernels();
    cr_expect_eq(launches_of("free", &(spvf_range){.dims = 1, .global = {128}, .local = {64}}), 1);
    cr_expect_eq(launches_of("free", &(spvf_range){.dims = 1, .global = {130}, .local = {64}}), 1);
    cr_expect_eq(launches_of("group", &(spvf_range){.dims = 1, .global = {128}, .local = {64}}), 1);
    cr_expect_eq(launches_of("group", &(spvf_range){.dims = 1, .global = {130}, .local = {64}}), 2);
    cr_expect_eq(launches_of("group", &(spvf_range){.dims = 1, .global = {37}, .local = {64}}), 1);
    const spvf_range corner = {.dims = 3, .global = {17, 9, 5}, .local = {8, 4, 2}};
    cr_expect_eq(launches_of("group", &corner), 8);
    cr_expect_eq(launches_of("free", &corner), 1);
    close_bench();
    remove_cache_folder();
}

/* Usual code has no parameters for parts, and is not compiled again for them. */
Test(cuda_ranges, parts_are_code_of_their_own) {
    open_with_kernels();
    launches_of("free", &(spvf_range){.dims = 1, .global = {128}, .local = {64}});
    cr_expect_eq(fake_cuda_modules(), 1);
    cr_expect_eq(fake_cuda_launch_at(0)->params, 4);
    launches_of("free", &(spvf_range){.dims = 1, .global = {130}, .local = {64}});
    cr_expect_eq(fake_cuda_modules(), 2);
    cr_expect_eq(fake_cuda_launch_at(0)->params, 10);
    launches_of("group", &(spvf_range){.dims = 1, .global = {130}, .local = {64}});
    cr_expect_eq(fake_cuda_modules(), 2);
    close_bench();
    remove_cache_folder();
}

/* A launch of many small groups has larger ones if the kernel cannot tell, in one grid. */
Test(cuda_ranges, small_groups_of_large_launches) {
    static const spvf_range flat = {.dims = 1, .global = {1 << 16}, .local = {64}};
    static const spvf_range deep = {.dims = 2, .global = {1, 70000}, .local = {1, 1}};
    static const spvf_range few = {.dims = 1, .global = {1 << 12}, .local = {64}};
    open_with_kernels();
    fake_cuda_run_with(NULL);
    rt_memory *m = new_memory(NULL, 64);
    const struct {
        const char *kernel;
        const spvf_range *range;
        unsigned threads;
    } rows[] = {
        {"free", &flat, 256}, {"group", &flat, 64}, {"free", &deep, 250}, {"free", &few, 64}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        fake_cuda_forget();
        launch_on(bench.device, bench.program, rows[k].kernel, rows[k].range, m);
        cr_assert_eq(fake_cuda_launches(), 1);
        const fake_cuda_launch *l = fake_cuda_launch_at(0);
        cr_expect_eq(l->block[0] * l->block[1], rows[k].threads, "%zu: %u, %u", k, l->block[0],
                     l->block[1]);
    }
    close_bench();
    remove_cache_folder();
}

static void expect_two(const char *kernel, const spvf_range *range, unsigned axis) {
    rt_memory *m = new_memory(NULL, 64);
    fake_cuda_forget();
    launch_on(bench.device, bench.program, kernel, range, m);
    cr_assert_eq(fake_cuda_launches(), 2);
    cr_expect_eq(fake_cuda_launch_at(0)->grid[axis], 65535);
    cr_expect_eq(fake_cuda_launch_at(1)->grid[axis], range->global[axis] - 65535);
}

/* Groups of 128 are kept also where the kernel cannot tell. */
Test(cuda_ranges, more_groups_than_a_grid_has) {
    open_with_kernels();
    fake_cuda_run_with(NULL);
    expect_two("group", &(spvf_range){2, {1, 70000}, {1, 1}, {0}}, 1);
    expect_two("group", &(spvf_range){3, {1, 1, 70001}, {1, 1, 1}, {0}}, 2);
    expect_two("free", &(spvf_range){3, {128, 1, 70001}, {128, 1, 1}, {0}}, 2);
    close_bench();
    remove_cache_folder();
}

Test(cuda_ranges, a_size_without_divisors_gets_whole_warps) {
    static const spvf_range prime = {.dims = 1, .global = {10007}};
    open_with_kernels();
    cr_expect_eq(launches_of("free", &prime), 1);
    cr_expect_eq(fake_cuda_launch_at(0)->block[0], 256, "%u", fake_cuda_launch_at(0)->block[0]);
    launches_of("free", &(spvf_range){.dims = 1, .global = {37}});
    cr_expect_eq(fake_cuda_launch_at(0)->block[0], 37);
    fake_cuda_forget();
    rt_memory *m = new_memory(NULL, 10007 * MOST * 8);
    fake_cuda_run_with(NULL);
    launch_on(bench.device, bench.program, "group", &prime, m);
    cr_expect_eq(fake_cuda_launch_at(0)->block[0], 1, "it could observe the difference");
    close_bench();
    remove_cache_folder();
}

static void refuse_body(void *arg) {
    rt_memory *m = new_memory(NULL, 1 << 16);
    const rt_arg a = rt_memory_arg(m, 0);
    rt_function *f = bench.device->driver->find(bench.device, bench.program, "free");
    rt_device_launch(bench.device,
                     &(rt_launch){.function = f, .range = arg, .args = &a, .count = 1});
}

Test(cuda_ranges, what_a_launch_must_not_have) {
    static const spvf_range uneven = {.dims = 1, .global = {130}, .local = {64}};
    static const spvf_range large = {.dims = 2, .global = {64, 64}, .local = {64, 64}};
    static const spvf_range huge = {.dims = 1, .global = {1u << 31}, .local = {1u << 31}};
    static const spvf_range deep = {.dims = 3, .global = {1, 1, 128}, .local = {1, 1, 128}};
    open_with_kernels();
    cr_expect_not(try_to(refuse_body, &uneven));
    cr_expect_not_null(strstr(messages, "is no multiple of the local size"), "%s", messages);
    const spvf_range *const ranges[] = {&large, &huge, &deep};
    for (unsigned n = 0; n < 3; n++) {
        cr_expect_not(try_to(refuse_body, ranges[n]));
        cr_expect_not_null(strstr(messages, "more work-items than"), "%s", messages);
    }
    close_bench();
    remove_cache_folder();
}

Test(cuda_ranges, code_for_parts_assembles) {
    rt_ptx_options options = {.code = {.sm = 75, .offset = true}, .parts = true};
    open_with_kernels();
    for (int wide = 0; wide < 2; wide++) {
        options.code.wide = wide;
        expect_assembles(&options, 2);
    }
    close_bench();
    remove_cache_folder();
}

Test(cuda_ranges, random_ones) {
    uint64_t random = 7;
    open_with_kernels();
    for (unsigned n = 0; n < RANDOM_CASES(60); n++) {
        spvf_range r = {.dims = 1 + draw_below(&random, 3)};
        for (unsigned k = 0; k < r.dims; k++) {
            r.global[k] = 1 + draw_below(&random, r.dims == 1 ? 3000 : r.dims == 2 ? 60 : 20);
            r.local[k] = 1 + draw_below(&random, 9);
            r.offset[k] = draw_below(&random, 2) ? draw_below(&random, 1000) : 0;
        }
        expect_answers(draw_below(&random, 2) ? "free" : "group", &r);
    }
    close_bench();
    remove_cache_folder();
}
