/* prints_test.c — printf of kernels on device cuda: the text is that of device check. */
#include "tests/runtime/devices/cuda/cuda_bench.h"

/* What has been printed by each device. */
static char said[2][1 << 20];

static void keep_text(void *user, const char *text) {
    char *to = user;
    size_t n = strlen(to);
    snprintf(to + n, sizeof said[0] - n, "%s", text);
}

static void launch_on(rt_device *d, rt_program *p, const char *kernel, uint64_t items,
                      const rt_arg *args, size_t n) {
    const spvf_range r = {.dims = 1, .global = {items}, .local = {items < 64 ? items : 64}};
    rt_device_launch(d, &(rt_launch){.function = d->driver->find(d, p, kernel),
                                     .range = &r,
                                     .args = args,
                                     .count = n,
                                     .uneven = true});
}

/* The text of check. */
static const char *expected_text(const char *kernels, const char *kernel, uint64_t items) {
    spvf_module *m = load_text(bench.host, kernels);
    rt_device *check = rt_device_open(bench.host, "check");
    check->output = keep_text;
    check->output_user = said[1];
    rt_program *p = check->driver->build(check, m->ir);
    launch_on(check, p, kernel, items, NULL, 0);
    rt_device_close(check);
    spvf_module_destroy(m);
    return said[1];
}

static void open_to_print(const char *kernels) {
    open_bench(kernels);
    bench.device->output = keep_text;
    bench.device->output_user = said[0];
    said[0][0] = said[1][0] = 0;
}

static void expect_same(const char *kernels, const char *kernel, uint64_t items) {
    open_to_print(kernels);
    launch_on(bench.device, bench.program, kernel, items, NULL, 0);
    cr_expect_str_eq(said[0], expected_text(kernels, kernel, items));
    cr_expect_gt(strlen(said[0]), 0);
    close_bench();
    remove_cache_folder();
}

static const char formats[] =
    "target 64\n"
    "@text: const [5 x i8] constant = {116, 101, 120, 116, 0}\n"
    "@more: const [3 x i8] constant = {91, 93, 0}\n"
    "kernel @k() {\n"
    "entry:\n"
    "  %r0: i32 = printf \"plain\\n\"\n"
    "  %r1: i32 = printf \"int %d, unsigned %u, hex %#x, padded %05d|%-6d|\\n\""
    ", i32 -7, i32 14, i32 21, i32 28, i32 35\n"
    "  %r2: i32 = printf \"long %ld %lu, char %c, 100%%\\n\""
    ", i64 -5000000000, i64 7, i32 122\n"
    "  %r3: i32 = printf \"short %hd %hhd %hhu\\n\", i16 -3, i8 -4, i8 200\n"
    "  %r4: i32 = printf \"float %.3f %e %g %a\\n\""
    ", f32 1.5, f64 0.125, f32 1.0e10, f64 0.5\n"
    "  %r5: i32 = printf \"half %f\\n\", f16 0.5\n"
    "  %r6: i32 = printf \"string %s|%8s|%-8s|%.2s|%.0s|\\n\""
    ", @text, @text, @text, @text, @text\n"
    "  %r7: i32 = printf \"two %s%s, pointer %p\\n\", @text, @more, i64 4660\n"
    "  %r8: i32 = printf \"vectors %v4hld %v2hlf %v3hhd %v2lf\\n\""
    ", v4i32 <1, 2, -3, 4>, v2f32 <0.5, -1.0>, v3i8 <1, -2, 3>, v2f64 <0.25, 8.0>\n"
    "  %r9: i32 = printf \"wrong %d\\n\", f32 1.0\n"
    "  %r10: i32 = printf \"missing %d %d\\n\", i32 1\n"
    "  %r11: i32 = printf \"\\n\"\n"
    "  ret\n"
    "}\n";

Test(cuda_prints, all_conversions) { expect_same(formats, "k", 1); }

/* Each item prints a line with its number, in order within the item. */
static const char order[] = "target 64\n"
                            "kernel @k() {\n"
                            "entry:\n"
                            "  %i: i64 = global_id 0\n"
                            "  jmp loop\n"
                            "loop:\n"
                            "  %n: i32 = phi [entry: 0, loop: %m]\n"
                            "  %r: i32 = printf \"%ld:%d\\n\", %i, %n\n"
                            "  %m: i32 = add %n, 1\n"
                            "  %t: i1 = ult %m, i32 3\n"
                            "  br %t, loop, done\n"
                            "done:\n"
                            "  ret\n"
                            "}\n";

static unsigned lines_in_order(const char *text, unsigned *next, unsigned items) {
    unsigned lines = 0;
    for (; *text; text = strchr(text, '\n') + 1, lines++) {
        unsigned item, n;
        cr_assert_eq(sscanf(text, "%u:%u", &item, &n), 2, "%.20s", text);
        cr_assert_lt(item, items);
        cr_assert_eq(n, next[item], "item %u", item);
        next[item]++;
    }
    return lines;
}

Test(cuda_prints, order_within_an_item_and_ranges_in_parts) {
    static unsigned next[1000];
    open_to_print(order);
    launch_on(bench.device, bench.program, "k", 1000, NULL, 0);
    cr_expect_eq(lines_in_order(said[0], next, 1000), 3000);
    close_bench();
    remove_cache_folder();
}

/* Memory is kept, and used again by one launch after the other. */
Test(cuda_prints, memory_is_kept) {
    open_to_print(order);
    launch_on(bench.device, bench.program, "k", 64, NULL, 0);
    unsigned before = fake_cuda_memories(), host = fake_cuda_count("cuMemHostAlloc");
    for (unsigned n = 0; n < 5; n++) launch_on(bench.device, bench.program, "k", 64, NULL, 0);
    cr_expect_eq(fake_cuda_memories(), before);
    cr_expect_eq(fake_cuda_count("cuMemHostAlloc"), host);
    close_bench();
    remove_cache_folder();
}

/* printf gives 0, or -1 where there was no room: each item prints as often as it is told. */
static const char many[] = "target 64\n"
                           "kernel @k(%out: ptr.global of i32, %times: i32) {\n"
                           "entry:\n"
                           "  jmp loop\n"
                           "loop:\n"
                           "  %n: i32 = phi [entry: 0, loop: %m]\n"
                           "  %f: i32 = phi [entry: 0, loop: %g]\n"
                           "  %r: i32 = printf \"%d\\n\", %n\n"
                           "  %g: i32 = add %f, %r\n"
                           "  %m: i32 = add %n, 1\n"
                           "  %t: i1 = ult %m, %times\n"
                           "  br %t, loop, done\n"
                           "done:\n"
                           "  store %g, %out align 4\n"
                           "  ret\n"
                           "}\n";

Test(cuda_prints, what_finds_no_room_is_lost_and_told) {
    enum { TIMES = 10000, ROOM = 65536, RECORD = 16 };
    const int32_t times = TIMES;
    int32_t failed = 1;
    open_to_print(many);
    rt_memory *m = new_memory(NULL, 4);
    const rt_arg args[] = {rt_memory_arg(m, 0), rt_value_arg(&times, sizeof times)};
    launch_on(bench.device, bench.program, "k", 1, args, 2);
    rt_device_read(bench.device, m, 0, &failed, sizeof failed);
    cr_expect_eq(failed, -(TIMES - ROOM / RECORD), "%d", failed);
    char last[16];
    snprintf(last, sizeof last, "\n%d\n", ROOM / RECORD - 1);
    cr_expect_str_eq(said[0] + strlen(said[0]) - strlen(last), last);
    close_bench();
    remove_cache_folder();
}

static void launch_body(void *arg) {
    (void)arg;
    launch_on(bench.device, bench.program, "k", 64, NULL, 0);
}

Test(cuda_prints, memory_that_is_not_there) {
    static const char *const calls[] = {"cuMemAlloc_v2", "cuMemHostAlloc", "cuMemsetD32Async",
                                        "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize"};
    for (size_t n = 0; n < sizeof calls / sizeof *calls; n++) {
        bench.folder[0] = 0;
        open_to_print(order);
        fake_cuda_forget();
        fake_cuda_fail(calls[n], 1, 2, false);
        cr_expect_not(try_to(launch_body, NULL), "%s", calls[n]);
        cr_expect(try_to(launch_body, NULL), "%s: %s", calls[n], messages);
        cr_expect_gt(strlen(said[0]), 0);
        close_bench();
        remove_cache_folder();
    }
}

Test(cuda_prints, code_assembles) {
    const rt_ptx_options options = {.code = {.sm = 75, .offset = true}, .print = rt_string_limit};
    open_to_print(formats);
    expect_assembles(&options, 1);
    close_bench();
    remove_cache_folder();
}
