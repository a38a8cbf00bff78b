/* cuda_test.c — device cuda without a GPU: code in the cache, copies, fills, launches, errors. */
#include "tests/runtime/devices/cuda/cuda_bench.h"
#include "tests/runtime/queue/add_kernel.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

static const char kernels[] =
    "target 64\n" ADD_KERNEL LAST_KERNEL "kernel @where(%p: ptr.global of i64) {\n"
    "entry:\n"
    "  %x: i64 = global_id 0\n"
    "  %o: i64 = global_offset 0\n"
    "  %i: i64 = sub %x, %o\n"
    "  %b: i64 = shl %i, 3\n"
    "  %q: ptr.global = ptradd %p, %b inbounds\n"
    "  store %x, %q align 8\n"
    "  ret\n"
    "}\n";

static unsigned entries(void) {
    unsigned n = 0;
    DIR *d = opendir(bench.folder);
    cr_assert_not_null(d);
    for (struct dirent *e; (e = readdir(d));) n += strlen(e->d_name) == RT_NAME_BYTES;
    closedir(d);
    return n;
}

/* ----------------------------------------------------------------------------- code in the cache */

static void find_in_new_bench(const char *kernel) {
    open_bench(kernels);
    find(kernel);
    close_bench();
}

static unsigned compiled(void) { return fake_cuda_count("cuLinkAddData_v2"); }

Test(cuda_cache, kernels_of_a_program_are_one_module_that_is_compiled_once) {
    open_bench(kernels);
    find("add");
    find("last");
    cr_expect_eq(fake_cuda_modules(), 1);
    close_bench();
    cr_expect_eq(compiled(), 1);
    find_in_new_bench("where");
    cr_expect_eq(compiled(), 1, "the cache has it");
    cr_expect_eq(entries(), 2, "its text, and its code");
    remove_cache_folder();
}

Test(cuda_cache, another_process_compiles_nothing) {
    find_in_new_bench("add");
    pid_t child = fork();
    if (!child) {
        fake_cuda_forget();
        find_in_new_bench("add");
        _exit(compiled() == 0 ? 0 : 1);
    }
    int status = -1;
    cr_expect_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
    remove_cache_folder();
}

Test(cuda_cache, another_driver_or_device_is_another_entry) {
    find_in_new_bench("add");
    setenv("FAKE_CUDA_VERSION", "13010", 1);
    find_in_new_bench("add");
    cr_expect_eq(compiled(), 2);
    setenv("FAKE_CUDA_SM", "105", 1); /* it gets the text that sm_103 does */
    find_in_new_bench("add");
    setenv("FAKE_CUDA_SM", "103", 1);
    find_in_new_bench("add");
    cr_expect_eq(compiled(), 4);
    cr_expect_eq(entries(), 4 + 2, "and two texts");
    remove_cache_folder();
}

static void change_entries(void (*change)(FILE *f)) {
    DIR *d = opendir(bench.folder);
    for (struct dirent *e; (e = readdir(d));) {
        char path[2 * TEMPORARY_NAME];
        if (strlen(e->d_name) != RT_NAME_BYTES) continue;
        snprintf(path, sizeof path, "%s/%s", bench.folder, e->d_name);
        FILE *f = fopen(path, "r+b");
        cr_assert_not_null(f);
        change(f);
        fclose(f);
    }
    closedir(d);
}

static void change_last_byte(FILE *f) {
    fseek(f, -1, SEEK_END);
    fputc('?', f);
}

static void cut(FILE *f) { cr_expect_eq(ftruncate(fileno(f), 200), 0); }

Test(cuda_cache, a_damaged_entry_is_made_again) {
    find_in_new_bench("add");
    change_entries(change_last_byte);
    find_in_new_bench("add");
    cr_expect_eq(compiled(), 2);
    change_entries(cut);
    find_in_new_bench("add");
    cr_expect_eq(compiled(), 3);
    find_in_new_bench("add");
    cr_expect_eq(compiled(), 3);
    remove_cache_folder();
}

Test(cuda_cache, what_was_found_and_cannot_be_loaded_is_made_again) {
    find_in_new_bench("add");
    fake_cuda_fail("cuModuleLoadData", 1, 209, false);
    find_in_new_bench("add");
    cr_expect_eq(compiled(), 2);
    cr_expect_eq(entries(), 2);
    remove_cache_folder();
}

Test(cuda_cache, no_cache_if_the_environment_says_so) {
    use_cache_folder();
    setenv("SPVFUSE_CACHE", "0", 1);
    find_in_new_bench("add");
    find_in_new_bench("add");
    cr_expect_eq(compiled(), 2);
    cr_expect_eq(entries(), 0);
    remove_cache_folder();
}

static void await_entry(void) {
    for (int k = 0; k < 1000 && !entries(); k++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

/* What a writer leaves that is killed is no entry, and its claim ends with it. */
Test(cuda_cache, a_writer_that_is_killed_leaves_no_entry) {
    use_cache_folder();
    setenv("FAKE_CUDA_SLOW", "60000", 1);
    pid_t child = fork();
    if (!child) {
        find_in_new_bench("add");
        _exit(0);
    }
    await_entry();
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL); /* the driver compiles it */
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    cr_expect_eq(entries(), 1, "the text");
    unsetenv("FAKE_CUDA_SLOW");
    find_in_new_bench("add");
    cr_expect_eq(compiled(), 1);
    cr_expect_eq(entries(), 2);
    remove_cache_folder();
}

/* Each that compiles says so by its status.  A machine that has much else to do may make one wait for
 * longer than it is willing to. */
Test(cuda_cache, of_processes_that_begin_at_once_few_compile) {
    enum { PROCESSES = 8 };
    pid_t child[PROCESSES];
    unsigned total = 0;
    use_cache_folder();
    setenv("FAKE_CUDA_SLOW", "100", 1);
    for (unsigned n = 0; n < PROCESSES; n++) {
        child[n] = fork();
        if (child[n]) continue;
        find_in_new_bench("add");
        _exit((int)compiled());
    }
    for (unsigned n = 0; n < PROCESSES; n++) {
        int status = 0;
        waitpid(child[n], &status, 0);
        cr_expect(WIFEXITED(status));
        total += (unsigned)WEXITSTATUS(status);
    }
    cr_expect(total >= 1 && total < PROCESSES / 2, "%u have compiled", total);
    remove_cache_folder();
}

Test(cuda_cache, the_line_that_the_compiler_refuses_is_in_the_message) {
    open_bench(kernels);
    fake_cuda_fail("cuLinkAddData_v2", 1, 218, false);
    cr_expect_not(can_find("add"));
    cr_expect_not_null(strstr(messages, "line 3; error   : Unknown symbol"), "%s", messages);
    cr_expect_not_null(strstr(messages, "The line is: .address_size 64"), "%s", messages);
    cr_expect_eq(entries(), 1, "the text");
    cr_expect(can_find("add"), "the next try does: %s", messages);
    close_bench();
    remove_cache_folder();
}

/* ------------------------------------------------------------------------------------- launches */

static bool launch_add(rt_memory *to, rt_memory *from, int32_t k, const spvf_range *r) {
    const rt_arg args[] = {rt_memory_arg(to, 0), rt_memory_arg(from, 0),
                           rt_value_arg(&k, sizeof k)};
    rt_command c = {.kind = RT_COMMAND_LAUNCH,
                    .launch = {.function = find("add"), .range = r, .args = args, .count = 3}};
    return run(&c);
}

Test(cuda_launch, arguments_and_results) {
    enum { N = 1000 };
    int32_t in[N], out[N];
    for (int n = 0; n < N; n++) in[n] = n;
    open_bench(kernels);
    rt_memory *a = new_memory(in, sizeof in), *b = new_memory(NULL, sizeof in);
    const spvf_range r = {.dims = 1, .global = {N}};
    cr_assert(launch_add(b, a, 7, &r), "%s", messages);
    rt_device_read(bench.device, b, 0, out, sizeof out);
    for (int n = 0; n < N; n++) cr_assert_eq(out[n], n + 7);
    const fake_cuda_launch *l = fake_cuda_launch_at(0);
    cr_expect_eq(l->params, 6, "three, and the offset");
    cr_expect_eq(l->grid[0] * l->block[0], N);
    close_bench();
    remove_cache_folder();
}

Test(cuda_launch, the_size_of_groups_is_the_first_that_keeps_the_device_busy) {
    open_bench(kernels);
    rt_memory *a = new_memory(NULL, 4 << 12);
    const spvf_range r = {.dims = 1, .global = {1 << 12}};
    setenv("FAKE_CUDA_THREADS_AT_ONCE", "1100", 1); /* 4 of 256, 2 of 512, 8 of 128, 17 of 64 */
    cr_assert(launch_add(a, a, 7, &r), "%s", messages);
    cr_expect_eq(fake_cuda_launch_at(0)->block[0], 64, "%u", fake_cuda_launch_at(0)->block[0]);
    unsigned asked = fake_cuda_count("cuOccupancyMaxActiveBlocksPerMultiprocessor");
    cr_assert(launch_add(a, a, 7, &r), "%s", messages);
    cr_expect_eq(fake_cuda_count("cuOccupancyMaxActiveBlocksPerMultiprocessor"), asked, "once");
    close_bench();
    remove_cache_folder();
}

/* --------------------------------------------------------------------------------------- errors */

static bool fill_word(rt_memory *m) {
    const uint32_t word = 5;
    return run(&(rt_command){
        .kind = RT_COMMAND_FILL,
        .fill = {.to = {.memory = m}, .size = 4, .pattern_size = 4, .pattern = &word}});
}

Test(cuda_errors, a_kernel_that_ends_the_device) {
    open_bench(kernels);
    rt_memory *a = new_memory(NULL, 4096);
    const spvf_range r = {.dims = 1, .global = {1024}};
    fake_cuda_fail("kernel", 1, 700, false);
    cr_expect_not(launch_add(a, a, 7, &r));
    cr_expect_not_null(strstr(messages, "CUDA_ERROR_ILLEGAL_ADDRESS), in 'add'"), "%s", messages);
    cr_expect_not(fill_word(a));
    cr_expect_not_null(strstr(messages, "cannot be used any more: it was lost by an access"), "%s",
                       messages);
    cr_expect_not_null(strstr(messages, "in 'add'"), "%s", messages);
    cr_expect_not(can_find("last") && launch_add(a, a, 7, &r));
    cr_expect_not_null(strstr(messages, "in 'add'"), "%s", messages);
    close_bench();
    remove_cache_folder();
}

static void allocate_body(void *arg) {
    rt_memory **m = arg;
    *m = new_memory(NULL, 64);
}

Test(cuda_errors, memory_that_is_not_there_ends_nothing) {
    open_bench(kernels);
    rt_memory *m = NULL;
    fake_cuda_fail("cuMemAlloc_v2", 1, 2, false);
    cr_expect_not(try_to(allocate_body, &m));
    cr_expect_not_null(
        strstr(messages, "cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY (2: out of memory)"), "%s",
        messages);
    cr_expect(try_to(allocate_body, &m), "%s", messages);
    cr_expect(fill_word(m), "%s", messages);
    close_bench();
    remove_cache_folder();
}

/* Each call that fails is a message that names it, and the next try works. */
static const char *const calls_of_a_launch[] = {
    "cuMemAlloc_v2",    "cuMemcpyHtoDAsync_v2", "cuStreamSynchronize",
    "cuLinkCreate_v2",  "cuLinkAddData_v2",     "cuLinkComplete",
    "cuModuleLoadData", "cuModuleGetFunction",  "cuFuncGetAttribute",
    "cuLaunchKernelEx", "cuCtxSetCurrent",      "cuOccupancyMaxActiveBlocksPerMultiprocessor"};

static void whole_launch(void *arg) {
    (void)arg;
    const int32_t data[256] = {1}, k = 3;
    const spvf_range r = {.dims = 1, .global = {256}};
    rt_memory *m = new_memory(data, sizeof data);
    const rt_arg args[] = {rt_memory_arg(m, 0), rt_memory_arg(m, 0), rt_value_arg(&k, sizeof k)};
    rt_function *f = bench.device->driver->find(bench.device, bench.program, "add");
    rt_device_launch(bench.device,
                     &(rt_launch){.function = f, .range = &r, .args = args, .count = 3});
}

Test(cuda_errors, each_call_may_fail) {
    use_cache_folder();
    setenv("SPVFUSE_CACHE", "0", 1);
    for (size_t n = 0; n < sizeof calls_of_a_launch / sizeof *calls_of_a_launch; n++) {
        const char *symbol = calls_of_a_launch[n];
        open_bench(kernels);
        fake_cuda_forget();
        fake_cuda_fail(symbol, 1, 999, false);
        cr_expect_not(try_to(whole_launch, NULL), "%s", symbol);
        cr_expect_not_null(strstr(messages, " failed: an unknown error (999"), "%s: %s", symbol,
                           messages);
        cr_expect(try_to(whole_launch, NULL), "%s: %s", symbol, messages);
        close_bench();
    }
    remove_cache_folder();
}

static void open_body(void *arg) { rt_device_close(rt_device_open(arg, "cuda")); }

Test(cuda_errors, opening_says_what_fails) {
    static const char *const calls[] = {"cuDeviceGetCount",   "cuDeviceGet",
                                        "cuDriverGetVersion", "cuDevicePrimaryCtxRetain",
                                        "cuCtxSetCurrent",    "cuStreamCreate"};
    use_cache_folder();
    setenv("SPVFUSE_CACHE", "0", 1);
    bench.context = new_context();
    for (size_t n = 0; n < sizeof calls / sizeof *calls; n++) {
        fake_cuda_forget();
        fake_cuda_fail(calls[n], 1, 2, false);
        cr_expect_not(try_to(open_body, bench.context), "%s", calls[n]);
        cr_expect_not_null(strstr(messages, calls[n]), "%s: %s", calls[n], messages);
    }
    cr_expect(try_to(open_body, bench.context), "%s", messages);
    spvf_context_destroy(bench.context);
    remove_cache_folder();
}
