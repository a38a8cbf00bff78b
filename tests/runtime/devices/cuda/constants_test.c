/* constants_test.c — code for the values of marked arguments: of kernels, and of members of structs
 * by value; how many values have it; that it is turned off, told of, and given back.
 */
#include "tests/runtime/devices/cuda/cuda_bench.h"

enum { ITEMS = 64, MANY = 4 * 256 * 132 /* which have code of their own */ };

/* x[i] = n m + a, of which n and the struct are marked. */
static const char kernels[] =
    "target 64\n"
    "kernel @k(%x: ptr.global, %n: i32 specialized, %m: i32, %s: ptr.private specialized byval(8) "
    "align 4 of {i8, i32}) {\n"
    "entry:\n"
    "  %i: i64 = global_id 0\n"
    "  %o: i64 = shl %i, 2\n"
    "  %p: ptr.global = ptradd %x, %o\n"
    "  %q: ptr.private = ptradd %s, 4\n"
    "  %a: i32 = load %q align 4\n"
    "  %r: i32 = mul %n, %m\n"
    "  %t: i32 = add %r, %a\n"
    "  store %t, %p align 4\n"
    "  ret\n"
    "}\n"
    "kernel @other(%x: ptr.global, %n: i32, %m: i32, %s: ptr.private byval(8) align 4) {\n"
    "entry:\n"
    "  store %n, %x align 4\n"
    "  ret\n"
    "}\n";

typedef struct {
    char c;
    int32_t a;
} object;

typedef struct {
    uint64_t items;
    rt_memory *x;
    int32_t n, m;
    object s;
} launching;

static void launch_body(void *arg) {
    const launching *l = arg;
    const spvf_range range = {.dims = 1, .global = {l->items}, .local = {ITEMS}};
    const rt_arg args[] = {rt_memory_arg(l->x, 0), rt_value_arg(&l->n, 4), rt_value_arg(&l->m, 4),
                           rt_value_arg(&l->s, sizeof l->s)};
    rt_device_launch(
        bench.device,
        &(rt_launch){.function = find("k"), .range = &range, .args = args, .count = 4});
}

static launching begin(const char *device) {
    open_bench(kernels);
    rt_device_close(bench.device);
    bench.device = rt_device_open(bench.context, device);
    bench.program = bench.device->driver->build(bench.device, bench.module->ir);
    return (launching){ITEMS, new_memory(NULL, MANY * sizeof(int32_t)), 3, 5, {7, 11}};
}

static void end(const launching *l) {
    bench.device->driver->release(bench.device, l->x);
    close_bench();
    remove_cache_folder();
}

/* The modules that there are after a launch with a right result. */
static unsigned modules_after(launching l) {
    int32_t got[ITEMS];
    cr_assert(try_to(launch_body, &l), "%s", messages);
    rt_device_read(bench.device, l.x, 0, got, sizeof got);
    for (int k = 0; k < ITEMS; k++) cr_expect_eq(got[k], l.n * l.m + l.s.a, "%d: %d", k, got[k]);
    return fake_cuda_modules();
}

Test(cuda_constants, each_value_has_a_module) {
    launching l = begin("cuda");
    cr_expect_eq(modules_after(l), 2, "of the kernels as they are, and of one for these values");
    cr_expect_eq(modules_after(l), 2);
    l.m = 6;
    cr_expect_eq(modules_after(l), 2, "it is not marked");
    l.n = 4;
    cr_expect_eq(modules_after(l), 3);
    l.s.a = 12;
    cr_expect_eq(modules_after(l), 4);
    l.n = 3;
    l.s.a = 11;
    cr_expect_eq(modules_after(l), 4, "the first ones");
    end(&l);
}

Test(cuda_constants, with_variants) {
    launching l = begin("cuda");
    modules_after(l);
    l.items = MANY;
    cr_expect_eq(modules_after(l), 3, "threads run four items");
    cr_expect_eq(fake_cuda_launch_at(fake_cuda_launches() - 1)->grid[0], MANY / 256 / 4);
    l.n++;
    cr_expect_eq(modules_after(l), 5);
    l.items = ITEMS;
    cr_expect_eq(modules_after(l), 5);
    l.n--;
    cr_expect_eq(modules_after(l), 5);
    end(&l);
}

Test(cuda_constants, further_values_have_the_code_for_any) {
    launching l = begin("cuda");
    for (l.n = 0; l.n < RT_MAX_CONSTANTS; l.n++) modules_after(l);
    messages[0] = 0;
    for (; l.n < 2 * RT_MAX_CONSTANTS; l.n++) {
        cr_expect_eq(modules_after(l), 1 + RT_MAX_CONSTANTS);
        cr_expect_eq(strstr(messages,
                            "note: kernel @k: its specialized arguments have had more than "
                            "8 values") != NULL,
                     l.n == RT_MAX_CONSTANTS, "told once: %s", messages);
    }
    l.n = 0;
    cr_expect_eq(modules_after(l), 1 + RT_MAX_CONSTANTS);
    end(&l);
}

Test(cuda_constants, turned_off) {
    static const char *const devices[] = {"cuda:without=specialized", "cuda:0,without=specialized",
                                          "cuda:without=all",
                                          "cuda:without=apart,without=specialized"};
    for (size_t n = 0; n < sizeof devices / sizeof *devices; n++) {
        launching l = begin(devices[n]);
        cr_expect_eq(modules_after(l), 1, "%s", devices[n]);
        l.n++;
        cr_expect_eq(modules_after(l), 1, "%s", devices[n]);
        end(&l);
        bench.folder[0] = 0;
    }
}

static void open_body(void *name) { rt_device_close(rt_device_open(bench.context, name)); }

Test(cuda_constants, no_such_option) {
    static const char *const names[] = {
        "cuda:",           "cuda:0,",      "cuda:luck", "cuda:0luck",         "cuda:without=luck",
        "cuda:0,without=", "cuda:without", "cuda:64",   "cuda:without=apart,"};
    bench.context = new_context();
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        cr_expect_not(try_to(open_body, names[n]), "%s", names[n]);
        cr_expect_not_null(strstr(messages, "cuda, cuda:N, cuda:without=FACT"), "%s", messages);
    }
    spvf_context_destroy(bench.context);
}

/* ----------------------------------------------------------------------------------------- code */

static void write_text(void *text) {
    static const int32_t n = 123457;
    static const object s = {1, 765431};
    const rt_constant list[] = {{1, sizeof n, &n}, {3, sizeof s, &s}};
    const rt_ptx_options o = {.code = {.sm = 80, .offset = true},
                              .only = "k",
                              .constants = {list, 2},
                              .print = rt_string_limit};
    rt_ptx ptx = rt_make_ptx(bench.context, bench.module->ir, &o, &bench.module->arena);
    cr_assert_eq(ptx.n, 1);
    *(const char **)text = ptx.text;
}

Test(cuda_constants, values_are_in_the_code) {
    launching l = begin("cuda");
    const char *text = "";
    cr_assert(try_to(write_text, &text), "%s", messages);
    cr_expect_not_null(strstr(text, "123457"), "%s", text);
    cr_expect_not_null(strstr(text, "765431"), "%s", text);
    cr_expect_null(strstr(text, "other"), "%s", text);
    cr_expect_not_null(strstr(text, "k$param_3"), "it has the same parameters: %s", text);
    end(&l);
}

/* -------------------------------------------------------------------------------------- failures */

Test(cuda_constants, each_call_may_fail) {
    for (unsigned n = 1, failed = 1; failed; n++) {
        launching l = begin("cuda");
        modules_after(l);
        l.n++;
        fake_cuda_forget();
        fake_cuda_fail("any", n, 2, false);
        cr_expect_eq(try_to(launch_body, &l), !fake_cuda_has_failed(), "%u: %s", n, messages);
        failed = (unsigned)fake_cuda_has_failed();
        fake_cuda_forget();
        cr_expect_eq(modules_after(l), 3, "%u", n);
        end(&l);
        bench.folder[0] = 0;
        cr_assert_lt(n, 100);
    }
}
