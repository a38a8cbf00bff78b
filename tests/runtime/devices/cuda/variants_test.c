/* variants_test.c — which code launches get, and as how many blocks: of many work-items, with
 * arguments that overlap or do not. */
#include "tests/runtime/devices/cuda/cuda_bench.h"

enum {
    PROCESSORS = 132, /* of fake_cuda.c */
    FEW = 128 * PROCESSORS,
    LARGE = 256 * PROCESSORS, /* threads, for which code is made anew */
    MANY = 4 * LARGE,         /* items, of which threads run four */
    GROUP = 256
};

#define HEAD(name)                                                                                 \
    "kernel @" name "(%x: ptr.global of i8, %y: ptr.global of i8) {\n"                             \
    "entry:\n"                                                                                     \
    "  %i: i64 = global_id 0\n"                                                                    \
    "  %p: ptr.global = ptradd %x, %i inbounds\n"                                                  \
    "  %q: ptr.global = ptradd %y, %i inbounds\n"

static const char kernels[] = "target 64\n" HEAD(
    "copy") "  %v: i8 = load %p align 1\n"
            "  store %v, %q align 1\n"
            "  ret\n}\n" HEAD("group") "  %g: i64 = group_id 0\n"
                                       "  %b: i8 = trunc %g\n"
                                       "  store %b, %q align 1\n"
                                       "  ret\n}\n"
                                       "kernel @count(%x: ptr.global, %y: ptr.global) {\n"
                                       "entry:\n"
                                       "  %n: i32 = atomic_add %x, 1 device relaxed\n"
                                       "  ret\n}\n";

typedef struct {
    const char *kernel;
    spvf_range range;
    rt_memory *x, *y;
} launching;

static void launch_body(void *arg) {
    const launching *l = arg;
    const rt_arg args[] = {rt_memory_arg(l->x, 0), rt_memory_arg(l->y, 0)};
    rt_device_launch(bench.device, &(rt_launch){.function = find(l->kernel),
                                                .range = &l->range,
                                                .args = args,
                                                .count = 2,
                                                .uneven = true});
}

static void skip_launch(const fake_cuda_launch *l, void **params) { (void)l, (void)params; }

static launching begin(uint64_t items) {
    open_bench(kernels);
    fake_cuda_run_with(skip_launch);
    return (launching){"copy",
                       {.dims = 1, .global = {items}, .local = {GROUP}},
                       new_memory(NULL, items),
                       new_memory(NULL, items)};
}

static void end(const launching *l) {
    bench.device->driver->release(bench.device, l->x);
    bench.device->driver->release(bench.device, l->y);
    close_bench();
    remove_cache_folder();
}

/* The modules that there are then. */
static unsigned expect_blocks(const launching *l, unsigned blocks, unsigned params) {
    fake_cuda_forget();
    cr_assert(try_to(launch_body, l), "%s", messages);
    cr_assert_eq(fake_cuda_launches(), 1);
    cr_expect_eq(fake_cuda_launch_at(0)->grid[0], blocks, "%u blocks",
                 fake_cuda_launch_at(0)->grid[0]);
    cr_expect_eq(fake_cuda_launch_at(0)->block[0], GROUP);
    cr_expect_eq(fake_cuda_launch_at(0)->params, params);
    return fake_cuda_modules();
}

enum { WHOLE = 2 + 3, PART = 2 + 6 + 3 }; /* parameters: hidden ones are the end and the offset */

Test(cuda_variants, few_items_have_a_thread_each_of_usual_code) {
    launching l = begin(FEW);
    cr_expect_eq(expect_blocks(&l, FEW / GROUP, WHOLE), 1);
    end(&l);
}

Test(cuda_variants, threads_run_four_of_many_items) {
    launching l = begin(MANY);
    cr_expect_eq(expect_blocks(&l, MANY / GROUP / 4, WHOLE), 2);
    cr_expect_eq(expect_blocks(&l, MANY / GROUP / 4, WHOLE), 2, "it is made once");
    end(&l);
}

Test(cuda_variants, other_numbers_of_items_go_beyond_the_end) {
    launching l = begin(MANY + 1);
    cr_expect_eq(expect_blocks(&l, MANY / GROUP / 4 + 1, PART), 2);
    l.range.global[0] = MANY - GROUP; /* whole groups, and no multiple of four */
    expect_blocks(&l, MANY / GROUP / 4, PART);
    end(&l);
}

/* They are large enough to know their arguments. */
Test(cuda_variants, fewer_items_have_a_thread_each) {
    launching l = begin(MANY - 4 * GROUP);
    expect_blocks(&l, MANY / GROUP - 4, WHOLE);
    end(&l);
}

Test(cuda_variants, groups_that_are_observed_stay) {
    launching l = begin(MANY);
    l.kernel = "group";
    cr_expect_eq(expect_blocks(&l, MANY / GROUP, WHOLE), 2);
    end(&l);
}

Test(cuda_variants, overlapping_arguments_have_other_code) {
    launching l = begin(MANY), same = l;
    same.y = same.x;
    unsigned n = expect_blocks(&l, MANY / GROUP / 4, WHOLE);
    cr_expect_eq(expect_blocks(&same, MANY / GROUP / 4, WHOLE), n + 1);
    cr_expect_eq(expect_blocks(&l, MANY / GROUP / 4, WHOLE), n + 1);
    end(&l);
}

static void launch_part(void *arg) {
    const launching *l = arg;
    const rt_arg args[] = {rt_memory_arg(l->x, 4), rt_memory_arg(l->y, 0)};
    rt_device_launch(
        bench.device,
        &(rt_launch){.function = find(l->kernel), .range = &l->range, .args = args, .count = 2});
}

Test(cuda_variants, arguments_that_are_not_aligned_have_other_code) {
    launching l = begin(MANY);
    unsigned n = expect_blocks(&l, MANY / GROUP / 4, WHOLE);
    cr_assert(try_to(launch_part, &l), "%s", messages);
    cr_expect_eq(fake_cuda_modules(), n + 1);
    end(&l);
}

/* Each variant has registers of its own, so it may have more or fewer threads than usual code. */
Test(cuda_variants, other_usual_sizes_leave_no_item_out) {
    launching l = begin(97 * 1000);
    l.kernel = "count";
    l.range = (spvf_range){.dims = 2, .global = {97, 10}};
    cr_assert(try_to(launch_body, &l), "%s", messages);
    setenv("FAKE_CUDA_THREADS_AT_ONCE", "64", 1);
    l.range.global[1] = 1000;
    fake_cuda_forget();
    cr_assert(try_to(launch_body, &l), "%s", messages);
    cr_assert_eq(fake_cuda_launches(), 1);
    const fake_cuda_launch *got = fake_cuda_launch_at(0);
    cr_expect_geq(got->grid[0] * got->block[0], 97, "%u blocks of %u", got->grid[0], got->block[0]);
    cr_expect_geq(got->grid[1] * got->block[1], 1000, "%u blocks of %u", got->grid[1],
                  got->block[1]);
    cr_expect_eq(got->params, PART);
    end(&l);
}

Test(cuda_variants, groups_that_registers_leave_no_room_for) {
    setenv("FAKE_CUDA_THREADS", "128", 1);
    launching l = begin(FEW);
    cr_expect_eq(expect_blocks(&l, FEW / GROUP, WHOLE), 2, "usual code, and code for full groups");
    end(&l);
}

Test(cuda_variants, code_with_fewer_threads_than_the_group_is_not_taken) {
    launching l = begin(MANY);
    l.range.global[0] = FEW;
    expect_blocks(&l, FEW / GROUP, WHOLE);
    setenv("FAKE_CUDA_THREADS", "128", 1);
    l.range.global[0] = MANY;
    expect_blocks(&l, MANY / GROUP, WHOLE);
    end(&l);
}

/* ------------------------------------------------------------------------------------ local memory */

enum { LARGE_LOCAL = 65536 };

static const char local[] = "target 64\n"
                            "@large: local [16384 x i32] align 4\n"
                            "kernel @k(%x: ptr.global, %l: ptr.local, %m: ptr.local) {\n"
                            "entry:\n"
                            "  store i32 1, @large align 4\n"
                            "  store i32 2, %l align 4\n"
                            "  store i32 3, %m align 4\n"
                            "  %v: i32 = load @large align 4\n"
                            "  store %v, %x align 4\n"
                            "  ret\n}\n";

static void launch_local(void *arg) {
    const rt_arg args[] = {rt_memory_arg(arg, 0), rt_local_arg(100), rt_local_arg(8)};
    const spvf_range range = {.dims = 1, .global = {GROUP}, .local = {GROUP}};
    rt_device_launch(
        bench.device,
        &(rt_launch){.function = find("k"), .range = &range, .args = args, .count = 3});
}

static unsigned word_of(const fake_cuda_launch *l, unsigned param) {
    unsigned word;
    memcpy(&word, l->value[param], sizeof word);
    return word;
}

Test(cuda_variants, more_variables_than_a_module_may_declare_come_before_local_arguments) {
    open_bench(local);
    fake_cuda_run_with(skip_launch);
    rt_memory *x = new_memory(NULL, 4);
    fake_cuda_forget();
    cr_assert(try_to(launch_local, x), "%s", messages);
    cr_assert_eq(fake_cuda_launches(), 1);
    const fake_cuda_launch *l = fake_cuda_launch_at(0);
    cr_expect_eq(l->shared, LARGE_LOCAL + 128 + 128, "%u bytes", l->shared);
    cr_expect_eq(word_of(l, 1), LARGE_LOCAL);
    cr_expect_eq(word_of(l, 2), LARGE_LOCAL + 128);
    cr_expect_eq(fake_cuda_count("cuFuncSetAttribute"), 1);
    bench.device->driver->release(bench.device, x);
    close_bench();
    remove_cache_folder();
}
