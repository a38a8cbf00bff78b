/* cuda_bench.h — what the tests of device cuda share: the device on the driver of fake_cuda.c, whose
 * launches device cpu runs, from the same kernels.  So results are right, too, although nothing
 * executes PTX. */
#ifndef TESTS_CUDA_BENCH_H
#define TESTS_CUDA_BENCH_H

#include "runtime/cache/cache.h"
#include "passes/workgroup/regions.h"
#include "runtime/devices/device.h"
#include "runtime/devices/printf.h"
#include "tests/runtime/bench.h"
#include "tests/runtime/devices/cuda/fake_cuda.h"

#include <time.h>

typedef struct {
    spvf_context *context, *host;
    spvf_module *module, *same; /* for each of the two devices */
    spvf_module *whole, *parts; /* kernels as the device changes them, also for parts of ranges */
    rt_device *device, *cpu;
    rt_program *program, *cpu_program, *cpu_whole, *cpu_parts;
    const char *name;            /* of the device; NULL: "cuda" */
    char folder[TEMPORARY_NAME]; /* of the cache */
} cuda_bench;

static cuda_bench bench; /* of this process: each test is one */

/* ------------------------------------------------------------------- launches are those of the cpu */

static void place_arg(const ir_func *f, uint32_t n, void *param, unsigned size, rt_arg *out) {
    const ir_param *p = &f->param[n];
    ir_arg_kind kind = ir_arg_kind_of(f->param_val[n]->type, p);
    if (kind == IR_ARG_POINTER)
        *out = rt_address_arg(*(void **)param, 0);
    else if (kind == IR_ARG_LOCAL)
        *out = rt_local_arg(64 << 10);
    else
        *out = rt_value_arg(param, size);
}

static spvf_range range_of(const fake_cuda_launch *l) {
    spvf_range r = {.dims = 3};
    for (unsigned k = 0; k < 3; k++) {
        r.local[k] = l->block[k];
        r.global[k] = (uint64_t)l->grid[k] * l->block[k];
    }
    return r;
}

/* Of the kernel as it is, or for parts: the one whose parameters these can be.  Hidden parameters are
 * the offset, if any: kernels of these tests do not ask for dimensions. */
static bool is_whole(const fake_cuda_launch *l) {
    return l->params <= ir_func_find(bench.whole->ir, l->kernel)->nparams + 3;
}

/* All groups at once: on the cpu, too. */
static void run_on_cpu(const fake_cuda_launch *l, void **params) {
    const ir_module *m = l->together   ? bench.same->ir
                         : is_whole(l) ? bench.whole->ir
                                       : bench.parts->ir;
    rt_program *program = l->together   ? bench.cpu_program
                          : is_whole(l) ? bench.cpu_whole
                                        : bench.cpu_parts;
    const ir_func *f = ir_func_find(m, l->kernel);
    rt_arg args[FAKE_CUDA_PARAMS];
    spvf_range r = range_of(l);
    cr_assert_not_null(f, "%s", l->kernel);
    const uint32_t resident = f->nparams + 2 + PASS_BOX_NUMBERS;
    const bool loops = l->together && l->params >= resident; /* over groups of the range */
    const uint32_t hidden = l->params - (loops ? resident : f->nparams);
    cr_assert(hidden == 0 || hidden == 3, "%s", l->kernel);
    for (unsigned k = 0; k < 3 && loops; k++) r.global[k] = *(uint32_t *)params[resident - 3 + k];
    for (uint32_t n = 0; n < f->nparams; n++) place_arg(f, n, params[n], l->size[n], &args[n]);
    for (uint32_t k = 0; k < hidden; k++)
        memcpy(&r.offset[k], params[l->params - hidden + k], sizeof r.offset[k]);
    rt_device_launch(
        bench.cpu, &(rt_launch){.function = bench.cpu->driver->find(bench.cpu, program, l->kernel),
                                .range = &r,
                                .args = args,
                                .count = f->nparams});
}

static inline spvf_module *load_changed(const char *kernels, bool parts) {
    spvf_module *m = load_text(bench.host, kernels);
    pass_print_list prints = {0};
    ir_arena arena;
    ir_arena_init(&arena, &bench.host->cx);
    foreach_func (f, m->ir) {
        ir_phases phases;
        if (!(f->flags & IR_FUNC_KERNEL)) continue;
        pass_cut_launches(f, &arena, &phases);
        if (parts) pass_make_parts(f, IR_I32, &arena);
        pass_record_prints(f, rt_string_limit, &arena, &prints);
    }
    cr_assert(ir_verify_module(m->ir), "%s", messages);
    ir_arena_free(&arena);
    return m;
}

/* ----------------------------------------------------------------------------------- the fixture */

static inline void use_cache_folder(void) {
    cr_assert(temporary_folder(bench.folder));
    setenv("SPVFUSE_CACHE_DIR", bench.folder, 1);
    unsetenv("SPVFUSE_CACHE"); /* suites run without a cache */
}

static inline void open_bench(const char *kernels) {
    if (!*bench.folder) use_cache_folder();
    bench.context = new_context();
    bench.host = new_context();
    bench.module = load_text(bench.context, kernels);
    bench.same = load_text(bench.host, kernels);
    bench.whole = load_changed(kernels, false);
    bench.parts = load_changed(kernels, true);
    bench.device = rt_device_open(bench.context, bench.name ? bench.name : "cuda");
    bench.cpu = rt_device_open(bench.host, "cpu");
    bench.program = bench.device->driver->build(bench.device, bench.module->ir);
    bench.cpu_program = bench.cpu->driver->build(bench.cpu, bench.same->ir);
    bench.cpu_whole = bench.cpu->driver->build(bench.cpu, bench.whole->ir);
    bench.cpu_parts = bench.cpu->driver->build(bench.cpu, bench.parts->ir);
    fake_cuda_run_with(run_on_cpu);
}

static inline unsigned things_of_the_driver(void) {
    return fake_cuda_memories() + fake_cuda_modules() + fake_cuda_graphs() + fake_cuda_events();
}

/* The last command of a queue may be what closes its device, by a thread of its own. */
static inline void await_nothing_left(void) {
    const struct timespec ms = {.tv_nsec = 1000000};
    for (int k = 0; k < 5000 && things_of_the_driver(); k++) nanosleep(&ms, NULL);
}

static inline void close_bench(void) {
    rt_device_close(bench.device);
    rt_device_close(bench.cpu);
    spvf_module_destroy(bench.module);
    spvf_module_destroy(bench.same);
    spvf_module_destroy(bench.whole);
    spvf_module_destroy(bench.parts);
    spvf_context_destroy(bench.context);
    spvf_context_destroy(bench.host);
    await_nothing_left();
    cr_expect_eq(fake_cuda_memories(), 0);
    cr_expect_eq(fake_cuda_modules(), 0);
    cr_expect_eq(fake_cuda_graphs(), 0);
    cr_expect_eq(fake_cuda_events(), 0);
    cr_expect_eq(bytes_held, 0);
}

static inline void remove_cache_folder(void) {
    char command[TEMPORARY_NAME + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", bench.folder);
    cr_expect_eq(system(command), 0);
}

/* --------------------------------------------------------------------------- calls that may throw */

static inline rt_memory *new_memory(const void *data, size_t bytes) {
    return bench.device->driver->allocate(bench.device, "m", bytes, data);
}

static inline void find_body(void *name) {
    bench.device->driver->find(bench.device, bench.program, name);
}

static inline void run_body(void *command) { rt_device_run(bench.device, command); }

/* False: it has thrown, and `messages` says why. */
static inline bool try_to(void (*body)(void *arg), const void *arg) {
    messages[0] = 0;
    return ir_try(&bench.context->cx, body, (void *)(uintptr_t)arg);
}

static inline bool can_find(const char *kernel) { return try_to(find_body, kernel); }

static inline rt_function *find(const char *kernel) {
    cr_assert(can_find(kernel), "%s", messages);
    return bench.device->driver->find(bench.device, bench.program, kernel);
}

static inline bool run(const rt_command *command) { return try_to(run_body, command); }

typedef struct {
    const rt_ptx_options *options;
    uint32_t kernels;
    ir_arena arena;
} assembly;

static inline void assemble_body(void *arg) {
    assembly *a = arg;
    rt_ptx ptx = rt_make_ptx(bench.context, bench.module->ir, a->options, &a->arena);
    const rt_bytes input = {ptx.text, strlen(ptx.text)};
    cr_expect_eq(ptx.n, a->kernels);
    cr_expect_gt(rt_assemble_ptx(bench.context, &a->arena, input, a->options->code.sm).size, 0);
}

/* Where there is an assembler, it takes so many kernels of the module. */
static inline void expect_assembles(const rt_ptx_options *o, uint32_t kernels) {
    assembly a = {.options = o, .kernels = kernels};
    ir_arena_init(&a.arena, &bench.context->cx);
    bool ok = try_to(assemble_body, &a);
    cr_expect(ok || strstr(messages, "there is no ptxas"), "%s", messages);
    ir_arena_free(&a.arena);
}

#endif
