/* cpu_test.c — device cpu with kernels that are functions of this program: what a launch makes of
 * its range and arguments, what it refuses, and when it compiles.
 */
#include "runtime/devices/cpu/cpu.h"
#include "runtime/system/memory.h"
#include "tests/codegen/sample.h"
#include "tests/runtime/bench.h"

#include <stdatomic.h>

static const char kernels[] =
    "target 64\n"
    "kernel @look(%p: ptr.global of i32, %v: v4f32, %n: i8) {\n"
    "entry:\n"
    "  %i: i64 = global_id 0\n"
    "  %q: ptr.global = ptradd %p, %i\n"
    "  store %n, %q align 1\n"
    "  ret\n"
    "}\n"
    "kernel @groups(%p: ptr.global of i32, %a: ptr.local of i32, %b: ptr.local of i32) {\n"
    "entry:\n"
    "  %x: i32 = load %a align 4\n"
    "  store %x, %p align 4\n"
    "  ret\n"
    "}\n"
    "kernel @locals(%p: ptr.global of i32, %a: ptr.local, %b: ptr.local, %n: i32, %c: ptr.local, "
    "%d: ptr.local, %e: ptr.local, %f: ptr.local) {\n"
    "entry:\n"
    "  ret\n"
    "}\n"
    "kernel @sees(%p: ptr.global of i32, %v: v4f32, %n: i8) {\n"
    "entry:\n"
    "  %g: i32 = group_id 0\n"
    "  store %g, %p align 4\n"
    "  ret\n"
    "}\n"
    "kernel @asks(%p: ptr.global of i32) {\n"
    "entry:\n"
    "  call @helper(%p)\n"
    "  ret\n"
    "}\n"
    "func @helper(%p: ptr.global) {\n"
    "entry:\n"
    "  %l: i32 = local_id 0\n"
    "  store %l, %p align 4\n"
    "  ret\n"
    "}\n"
    "kernel @three(%p: ptr.global, %q: ptr.global, %r: ptr.const) {\n"
    "entry:\n"
    "  store i32 1, %p align 4\n"
    "  ret\n"
    "}\n"
    "kernel @counts(%p: ptr.global, %n: i32) {\n"
    "entry:\n"
    "  jmp loop\n"
    "loop:\n"
    "  %i: i32 = phi [entry: 0, loop: %j]\n"
    "  store %i, %p align 4\n"
    "  %j: i32 = add %i, 1\n"
    "  %more: i1 = ult %j, %n\n"
    "  br %more, loop, done\n"
    "done:\n"
    "  ret\n"
    "}\n"
    "kernel @six() subgroup_size 1 subgroups 6 {\n"
    "entry:\n"
    "  ret\n"
    "}\n"
    "kernel @required() local_size 4 2 1 {\n"
    "entry:\n"
    "  ret\n"
    "}\n";

/* ------------------------------------------------------------------- a compiler of this program */

static _Atomic int groups_seen;
static ir_group_info seen; /* of the last group */
static void *seen_args[8];
static float seen_value[4];
static unsigned nargs;
static bool has_value; /* the second of three is a v4f32 */
static ir_group_need need;
static int compiled;
static rt_native_options facts;
static const char *fault; /* not NULL: compiling fails */

static void look(const ir_group_info *g, void *const *args) {
    seen = *g;
    memcpy(seen_args, args, nargs * sizeof *args);
    if (nargs == 3 && has_value) memcpy(seen_value, seen_args[1], sizeof seen_value);
    groups_seen += (int)((g->group_end[0] - g->group_id[0]) * (g->group_end[1] - g->group_id[1]) *
                         (g->group_end[2] - g->group_id[2]));
}

static void say(const ir_group_info *g, void *const *args) {
    (void)args;
    for (uint64_t x = g->group_id[0]; x < g->group_end[0]; x++) {
        uint64_t list[6] = {x, 0, 0, 0, (uint64_t)(uintptr_t) "text", 'c'};
        const double number = 0.5;
        const float lanes[3] = {1, 2, 3};
        memcpy(&list[1], &number, 8);
        memcpy(&list[2], lanes, 12);
        int32_t ok = g->print(g->user, "%d %g %v3hlg %s %c\n", list, sizeof list);
        int32_t missing = g->print(g->user, "%d%d", list, 8);
        if (ok != 0 || missing != -1) groups_seen = -1;
    }
}

static sample_function *body = look;

static void compile(const ir_func *kernel, const rt_native_options *f, ir_arena *arena,
                    cg_object *out) {
    compiled++;
    facts = *f;
    nargs = kernel->nparams;
    has_value = strcmp(kernel->name, "sees") == 0;
    if (fault) {
        ir_error(arena->cx, "%s", fault);
        ir_throw(arena->cx, IR_ERR_REFUSED);
    }
    sample_add_call(arena, out, kernel->name, body, body);
    out->kernels.data[0].need = need;
}

/* ------------------------------------------------------------------------------------- launches */

typedef struct {
    spvf_context *context;
    spvf_module *module;
    rt_device *device;
    rt_program *program;
    rt_memory *memory;
    const char *kernel;
    spvf_range range;
    const rt_arg *args;
    size_t count;
    bool untiered;
} bench;

static void open_device(void *arg) {
    bench *b = arg;
    const rt_cpu_options o = {.compile = compile, .untiered = b->untiered};
    b->device = rt_cpu_open_with(b->context, &o);
    b->memory = b->device->driver->allocate(b->device, "p", 100, NULL);
    b->program = b->device->driver->build(b->device, b->module->ir);
}

static void begin_with(bench *b, bool untiered) {
    *b = (bench){.context = new_context(), .untiered = untiered};
    b->module = load_text(b->context, kernels);
    cr_assert_eq(rt_guard(b->context, open_device, b), SPVF_OK, "%s", messages);
}

static void begin(bench *b) { begin_with(b, false); }

static void end(bench *b) {
    rt_device_close(b->device);
    spvf_module_destroy(b->module);
    spvf_context_destroy(b->context);
    cr_expect_eq(bytes_held, 0);
}

static void launch_one(void *arg) {
    bench *b = arg;
    rt_function *f = b->device->driver->find(b->device, b->program, b->kernel);
    rt_device_launch(b->device, &(rt_launch){f, &b->range, b->args, b->count, .uneven = false});
}

static spvf_status launch(bench *b, const char *kernel, const spvf_range *range, const rt_arg *args,
                          size_t count) {
    messages[0] = 0;
    groups_seen = 0;
    b->kernel = kernel;
    b->range = *range;
    b->args = args;
    b->count = count;
    return rt_guard(b->context, launch_one, b);
}

static const float sent[4] = {1, 2, 3, 4};

/* A kernel with the parameters of @look. */
static spvf_status launch_look(bench *b, const char *kernel, const spvf_range *range) {
    const uint8_t n = 7;
    const rt_arg args[] = {rt_memory_arg(b->memory, 0), rt_value_arg(sent, 16),
                           rt_value_arg(&n, 1)};
    return launch(b, kernel, range, args, 3);
}

Test(cpu, arguments_and_sizes) {
    bench b;
    begin(&b);
    spvf_range r = {.dims = 2, .global = {12, 10}, .local = {4, 5}, .offset = {3, 100}};
    need = (ir_group_need){.scratch = 1000, .scratch_item = 64};
    cr_assert_eq(launch_look(&b, "sees", &r), SPVF_OK, "%s", messages);
    cr_expect_eq(groups_seen, 6);
    const uint64_t groups[] = {3, 2, 1}, local[] = {4, 5, 1}, global[] = {12, 10, 1},
                   offset[] = {3, 100, 0};
    cr_expect_arr_eq(seen.num_groups, groups, sizeof groups);
    cr_expect_arr_eq(seen.local_size, local, sizeof local);
    cr_expect_arr_eq(seen.global_size, global, sizeof global);
    cr_expect_arr_eq(seen.global_offset, offset, sizeof offset);
    cr_expect_eq(seen.work_dim, 2);
    cr_expect_eq(seen_args[0], b.memory->bytes);
    cr_expect_eq((uintptr_t)seen_args[0] % 128, 0);
    cr_expect_eq((uintptr_t)seen_args[1] % 16, 0);
    cr_expect_arr_eq(seen_value, sent, sizeof sent);
    end(&b);
}

Test(cpu, local_memory_lies_behind_the_kernels_own) {
    bench b;
    begin(&b);
    const rt_arg args[] = {rt_memory_arg(b.memory, 0), rt_local_arg(10), rt_local_arg(1)};
    spvf_range r = {.dims = 1, .global = {4}, .local = {4}};
    need = (ir_group_need){.local = 130};
    cr_assert_eq(launch(&b, "groups", &r, args, 3), SPVF_OK, "%s", messages);
    cr_expect_eq((uintptr_t)seen_args[1], 0, "a variable of the kernel");
    ((cpu_device *)b.device)->machine.options.without = RT_FACT(LOCAL_MEMORY);
    cr_assert_eq(launch(&b, "groups", &r, args, 3), SPVF_OK, "%s", messages);
    cr_expect_eq((uintptr_t)seen_args[1], 256);
    cr_expect_eq((uintptr_t)seen_args[2], 384);
    cr_expect_eq((uintptr_t)seen.local % IR_LOCAL_ALIGN, 0);
    end(&b);
}

/* The first PASS_LOCAL_ARGS are variables of code that is made for their sizes. */
Test(cpu, many_arguments_of_local_memory) {
    bench b;
    begin(&b);
    const int32_t n = 7;
    rt_arg args[] = {rt_memory_arg(b.memory, 0), rt_local_arg(10), rt_local_arg(20),
                     rt_value_arg(&n, sizeof n), rt_local_arg(30), rt_local_arg(40),
                     rt_local_arg(50),           rt_local_arg(60)};
    const spvf_range r = {.dims = 1, .global = {4}, .local = {4}};
    const uintptr_t places[] = {0, 0, 0, 0, 256, 384}, all[] = {0, 128, 256, 384, 512, 640};
    static const unsigned locals[] = {1, 2, 4, 5, 6, 7};
    need = (ir_group_need){.local = 130};
    cr_assert_eq(launch(&b, "locals", &r, args, 8), SPVF_OK, "%s", messages);
    for (unsigned k = 0; k < PASS_LOCAL_ARGS; k++)
        cr_expect_eq(facts.shape.local_args[k], 10 * (k + 1));
    for (unsigned k = 0; k < 6; k++) cr_expect_eq((uintptr_t)seen_args[locals[k]], places[k]);
    /* Code for any sizes, of which none may be 0. */
    args[1] = rt_local_arg(11);
    need = (ir_group_need){0};
    cr_assert_eq(launch(&b, "locals", &r, args, 8), SPVF_OK, "%s", messages);
    cr_expect_eq(facts.shape.local_args[0], 0);
    for (unsigned k = 0; k < 6; k++) cr_expect_eq((uintptr_t)seen_args[locals[k]], all[k]);
    args[5] = rt_local_arg(0);
    cr_expect_eq(launch(&b, "locals", &r, args, 8), SPVF_ERROR_DEVICE);
    end(&b);
}

Test(cpu, no_groups) {
    bench b;
    begin(&b);
    spvf_range r = {.dims = 2, .global = {0, 7}};
    rt_arg buffer = rt_memory_arg(b.memory, 0);
    cr_expect_eq(launch(&b, "asks", &r, &buffer, 1), SPVF_OK, "%s", messages);
    cr_expect_eq(groups_seen, 0);
    end(&b);
}

/* ---------------------------------------------------------------------------------- local sizes */

static void expect_local(bench *b, const char *kernel, const uint64_t global[3],
                         const uint64_t want[3]) {
    uint64_t local[3];
    ir_arena scratch;
    ir_arena_init(&scratch, &b->context->cx);
    spvf_range r = {.dims = 3, .global = {global[0], global[1], global[2]}};
    rt_cpu_local_size(ir_func_find(b->module->ir, kernel), 1, &r, local, &scratch);
    ir_arena_free(&scratch);
    cr_expect_arr_eq(local, want, sizeof local, "%s on %d,%d,%d: %d,%d,%d", kernel, (int)global[0],
                     (int)global[1], (int)global[2], (int)local[0], (int)local[1], (int)local[2]);
}

Test(cpu, default_local_sizes) {
    static const struct {
        const char *kernel;
        uint64_t global[3], local[3];
    } rows[] = {
        {"six", {12, 1, 1}, {6, 1, 1}},           {"six", {4, 9, 1}, {2, 3, 1}},
        {"six", {5, 7, 12}, {1, 1, 6}},           {"six", {35, 1, 1}, {6, 1, 1}},
        {"look", {1 << 20, 1, 1}, {256, 1, 1}},   {"look", {1000003, 1, 1}, {256, 1, 1}},
        {"asks", {1 << 20, 1, 1}, {256, 1, 1}},   {"asks", {1000003, 1, 1}, {1, 1, 1}},
        {"asks", {1000000, 1, 1}, {250, 1, 1}},   {"look", {2048, 1, 1}, {32, 1, 1}},
        {"look", {100, 1, 1}, {16, 1, 1}},        {"look", {3, 1, 1}, {3, 1, 1}},
        {"look", {8, 100000, 1}, {8, 32, 1}},     {"groups", {8, 99999, 1}, {8, 9, 1}},
        {"look", {1, 1, 1024}, {1, 1, 16}},       {"look", {0, 5, 5}, {1, 5, 3}},
        {"required", {1 << 20, 2, 1}, {4, 2, 1}},
    };
    bench b;
    begin(&b);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_local(&b, rows[i].kernel, rows[i].global, rows[i].local);
    end(&b);
}

/* Groups that no kernel observes: of power-of-two sizes, several for each thread. */
Test(cpu, groups_of_our_own) {
    static const struct {
        unsigned threads;
        uint64_t global[3], local[3];
        unsigned inner;
        bool crosses;
    } rows[] = {
        {1, {1 << 20, 1, 1}, {2048, 1, 1}},
        {16, {1 << 20, 1, 1}, {2048, 1, 1}},
        {16, {4096, 1, 1}, {64, 1, 1}},
        {16, {100, 1, 1}, {16, 1, 1}},
        {1, {100, 1, 1}, {128, 1, 1}},
        {1, {37, 1000, 1}, {64, 32, 1}},
        {2, {512, 512, 1}, {256, 8, 1}},
        {2, {1, 5000, 1}, {1, 512, 1}},
        {2, {100, 3, 7}, {128, 2, 1}},
        {2, {2, 2, 4000}, {2, 2, 512}},
        {2, {3, 1, 1}, {4, 1, 1}},
        {2, {0, 5, 5}, {1, 8, 2}},
        {2, {512, 512, 1}, {8, 256, 1}, 1},
        {2, {5000, 1, 1}, {512, 1, 1}, 1},
        {2, {512, 1, 512}, {8, 1, 256}, 2},
        {2, {64, 64, 64}, {32, 1, 64}, 2},
        {2, {512, 512, 1}, {32, 64, 1}, 0, true},
        {2, {512, 512, 1}, {64, 32, 1}, 1, true},
        {2, {4096, 4, 1}, {512, 4, 1}, 0, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint64_t *g = rows[i].global;
        const spvf_range r = {.dims = 3, .global = {g[0], g[1], g[2]}};
        uint64_t local[3];
        rt_cpu_own_groups(&r, rows[i].inner, rows[i].crosses, rows[i].threads, local);
        cr_expect_arr_eq(local, rows[i].local, sizeof local, "row %zu: %d,%d,%d", i, (int)local[0],
                         (int)local[1], (int)local[2]);
    }
}

Test(cpu, launches_have_them_unless_they_are_observed) {
    bench b;
    begin(&b);
    spvf_range r = {.dims = 2, .global = {100000, 10}, .local = {1, 1}};
    cr_assert_eq(launch_look(&b, "look", &r), SPVF_OK, "%s", messages);
    cr_expect_eq(seen.local_size[0] * seen.local_size[1], 2048);
    cr_expect_eq(facts.shape.local[0], seen.local_size[0]);
    cr_expect_not(facts.shape.whole_groups);
    cr_assert_eq(launch_look(&b, "sees", &r), SPVF_OK, "%s", messages);
    cr_expect_eq(seen.local_size[0], 1);
    cr_expect_eq(groups_seen, 1000000);
    r.local[0] = 3;
    cr_expect_eq(launch_look(&b, "look", &r), SPVF_ERROR_DEVICE);
    cr_expect_str_eq(messages, "error: kernel @look: global size 100000 is not a multiple of local "
                               "size 3 in dimension 0\n");
    end(&b);
}

Test(cpu, the_local_size_can_be_asked_for) {
    bench b;
    begin(&b);
    uint64_t local[3];
    spvf_range r = {.dims = 1, .global = {1 << 20}};
    cr_expect_eq(spvf_cpu_local_size(b.module, "look", &r, local), SPVF_OK);
    cr_expect_eq(local[0], 256);
    cr_expect_eq(spvf_cpu_local_size(b.module, "helper", &r, local), SPVF_ERROR_ARGUMENT);
    cr_expect_str_eq(messages, "error: no kernel @helper\n");
    r.dims = 4;
    cr_expect_eq(spvf_cpu_local_size(b.module, "look", &r, local), SPVF_ERROR_ARGUMENT);
    end(&b);
}

/* ------------------------------------------------------------------------------ what is refused */

static void expect_refused(bench *b, const char *kernel, const spvf_range *r, const rt_arg *args,
                           size_t count, const char *why) {
    cr_expect_eq(launch(b, kernel, r, args, count), SPVF_ERROR_DEVICE);
    cr_expect_str_eq(messages, why);
    cr_expect_eq(groups_seen, 0);
}

Test(cpu, launches_that_are_refused) {
    bench b;
    begin(&b);
    const rt_arg none = rt_local_arg(0), much = rt_local_arg(UINT64_C(1) << 40),
                 some = rt_local_arg(8);
    const rt_arg buffer = rt_memory_arg(b.memory, 0);
    spvf_range one = {.dims = 1, .global = {4}, .local = {4}};
    spvf_range odd = {.dims = 1, .global = {5}, .local = {4}},
               zero = {.dims = 2, .global = {4, 4}, .local = {4}};
    spvf_range large = {.dims = 1, .global = {1 << 20}, .local = {1 << 20}};
    spvf_range huge = {.dims = 2, .global = {UINT64_C(1) << 32, UINT64_C(1) << 31}};
    spvf_range flat = {.dims = 0}, few = {.dims = 1, .global = {4}};
    need = (ir_group_need){0};
    expect_refused(&b, "nobody", &one, NULL, 0, "error: no kernel @nobody\n");
    expect_refused(&b, "required", &one, NULL, 0,
                   "error: kernel @required: it requires local size 2 in dimension 1, not 1\n");
    expect_refused(&b, "six", &one, NULL, 0,
                   "error: kernel @six: it requires 6 sub-groups, not 4\n");
    expect_refused(&b, "six", &few, NULL, 0,
                   "error: kernel @six: global size 4 is not a multiple of local size 6 in "
                   "dimension 0\n");
    expect_refused(&b, "asks", &odd, &buffer, 1,
                   "error: kernel @asks: global size 5 is not a multiple of local size 4 in "
                   "dimension 0\n");
    expect_refused(&b, "asks", &zero, &buffer, 1,
                   "error: kernel @asks: local size is 0 in dimension 1\n");
    expect_refused(&b, "asks", &large, &buffer, 1,
                   "error: kernel @asks: a work-group has more than 65536 work-items\n");
    expect_refused(&b, "asks", &huge, &buffer, 1,
                   "error: kernel @asks: the nd-range has 2^63 work-items or more\n");
    expect_refused(&b, "asks", &flat, &buffer, 1,
                   "error: kernel @asks: an nd-range has 1 to 3 dimensions, not 0\n");
    expect_refused(&b, "asks", &one, NULL, 0, "error: kernel @asks: it takes 1 arguments, not 0\n");
    expect_refused(&b, "asks", &one, &some, 1,
                   "error: kernel @asks: argument 0: wants a value or a buffer\n");
    expect_refused(&b, "groups", &one, (rt_arg[]){buffer, buffer, some}, 3,
                   "error: kernel @groups: argument 1: wants local memory\n");
    expect_refused(&b, "groups", &one, (rt_arg[]){buffer, none, some}, 3,
                   "error: kernel @groups: argument 1: local memory of 0 bytes\n");
    expect_refused(&b, "groups", &one, (rt_arg[]){buffer, some, much}, 3,
                   "error: kernel @groups: argument 2: 1099511627776 bytes of local memory are too "
                   "many: device cpu has 1073741824\n");
    end(&b);
}

Test(cpu, needs_that_are_too_much) {
    bench b;
    begin(&b);
    const rt_arg buffer = rt_memory_arg(b.memory, 0);
    spvf_range r = {.dims = 1, .global = {640}, .local = {640}};
    need = (ir_group_need){.scratch_item = 1 << 21};
    expect_refused(
        &b, "asks", &r, &buffer, 1,
        "error: kernel @asks: what 640 work-items of a group keep over barriers has more "
        "than 1073741824 bytes\n");
    end(&b);
    begin(&b);
    need = (ir_group_need){.local = UINT64_MAX};
    expect_refused(&b, "asks", &r, (rt_arg[]){rt_memory_arg(b.memory, 0)}, 1,
                   "error: kernel @asks: its local variables have 18446744073709551615 bytes, "
                   "device cpu has 1073741824\n");
    end(&b);
}

/* ------------------------------------------------------------------------------------ compiling */

Test(cpu, kernels_are_compiled_once) {
    bench b;
    begin_with(&b, true); /* this compiler takes no time, so it would soon pay to do better */
    spvf_range r = {.dims = 1, .global = {64}, .local = {8}};
    rt_arg buffer = rt_memory_arg(b.memory, 0);
    for (int i = 0; i < 3; i++) cr_expect_eq(launch(&b, "asks", &r, &buffer, 1), SPVF_OK);
    cr_expect_eq(compiled, 1);
    cr_expect_eq(facts.shape.local[0], 8);
    cr_expect(facts.shape.whole_groups && facts.shape.no_offset && facts.shape.small_ids);
    r.offset[0] = INT32_MAX - 63;
    cr_expect_eq(launch(&b, "asks", &r, &buffer, 1), SPVF_OK);
    cr_expect_eq(compiled, 2);
    cr_expect_eq(facts.shape.local[0], 0);
    cr_expect_eq(facts.code.level, rt_cpu_level());
    end(&b);
}

static char bytes[4096] __attribute__((aligned(64)));

static rt_arg part(size_t at, size_t size) { return rt_address_arg(bytes + at, size); }

/* Three arguments, and what code for them knows. */
static void expect_known(const rt_arg *args, unsigned items, const char *want) {
    bench b;
    begin(&b);
    const spvf_range r = {.dims = 1, .global = {items}};
    cr_assert_eq(launch(&b, "three", &r, args, 3), SPVF_OK, "%s", messages);
    char got[40];
    snprintf(got, sizeof got, "%s%s%s", facts.shape.apart ? "apart " : "",
             facts.shape.on_lines ? "lines " : "", facts.shape.streams ? "streams" : "");
    cr_expect_str_eq(got, want);
    end(&b);
}

Test(cpu, code_knows_how_arguments_lie) {
    const rt_arg none = rt_address_arg(NULL, 0), missing = rt_memory_arg(NULL, 0);
    const rt_arg apart[] = {part(0, 64), part(64, 64), part(128, 64)};
    const rt_arg end_within[] = {part(0, 65), part(64, 64), part(128, 64)};
    const rt_arg within[] = {part(128, 64), part(0, 1024), part(2048, 64)};
    const rt_arg same[] = {part(0, 64), part(64, 64), part(64, 64)};
    const rt_arg between_lines[] = {part(0, 64), part(96, 32), part(128, 64)};
    const rt_arg unknown_size[] = {part(0, 64), part(64, 0), part(128, 64)};
    const rt_arg absent[] = {part(0, 64), none, missing};
    expect_known(apart, 1, "apart lines ");
    expect_known(end_within, 1, "lines ");
    expect_known(within, 1, "lines ");
    expect_known(same, 1, "lines ");
    expect_known(between_lines, 1, "apart ");
    expect_known(unknown_size, 1, "lines ");
    expect_known(absent, 1, "apart lines ");
}

/* Sixteen bytes of an argument for each item, unless it has less. */
Test(cpu, launches_that_access_more_than_caches_hold) {
    static char *const nowhere = (char *)0x40000000000;
    const uint64_t caches = rt_cache_size();
    const rt_arg args[] = {rt_address_arg(nowhere, 2 * caches), part(0, 64), part(64, 64)};
    if (!caches) cr_skip_test("the size of the caches is not known");
    expect_known(args, (unsigned)(caches / 16 - 8), "apart lines ");
    expect_known(args, (unsigned)(caches / 16 - 7), "apart lines streams");
    const rt_arg large[] = {part(0, 64), rt_address_arg(nowhere, caches - 128), part(64, 64)};
    expect_known(large, 1 << 30, "apart lines ");
}

/* Few items run one at a time at first, unless an option says otherwise. */
Test(cpu, small_launches_have_scalar_code) {
    static const struct {
        const char *kernel;
        unsigned items, lanes;
        bool untiered;
        unsigned rows; /* of two dimensions, if there are any */
    } launches[] = {{"three", 9000, 1},
                    {"three", 9001, 0},
                    {"three", 512, 0, true},
                    {"asks", 64, 1},
                    {"asks", 65, 0},
                    {"asks", 1, 0, true},
                    {"three", 16000, 1, false, 2},
                    {"three", 16001, 0, false, 2}};
    for (size_t n = 0; n < sizeof launches / sizeof *launches; n++) {
        bench b;
        begin_with(&b, launches[n].untiered);
        const spvf_range r = {.dims = launches[n].rows ? 2 : 1,
                              .global = {launches[n].items, launches[n].rows}};
        const rt_arg args[] = {part(0, 64), part(64, 64), part(128, 64)};
        unsigned count = launches[n].kernel[0] == 't' ? 3 : 1;
        cr_assert_eq(launch(&b, launches[n].kernel, &r, args, count), SPVF_OK, "%s", messages);
        cr_expect_eq(facts.code.lanes, launches[n].lanes, "launch %zu", n);
        cr_expect_eq(facts.code.regalloc.how == CG_REGALLOC_STACK, launches[n].lanes == 1);
        end(&b);
    }
}

Test(cpu, an_option_makes_all_code_quickly) {
    bench b;
    begin(&b);
    ((cpu_device *)b.device)->machine.options.quick = true;
    const spvf_range r = {.dims = 1, .global = {1 << 20}};
    const rt_arg args[] = {part(0, 64), part(64, 64), part(128, 64)};
    for (unsigned n = 0; n < 2; n++)
        cr_assert_eq(launch(&b, "three", &r, args, 3), SPVF_OK, "%s", messages);
    cr_expect(facts.shape.small && facts.code.lanes == 1);
    cr_expect_eq(facts.code.regalloc.how, CG_REGALLOC_STACK);
    cr_expect_eq(b.device->code.variants, 1, "it stays");
    end(&b);
}

/* Is code made quickly for 100 items with so many rounds each? */
static void expect_rounds(bench *b, uint32_t rounds, bool quick) {
    const spvf_range r = {.dims = 1, .global = {100}};
    const rt_arg args[] = {part(0, 64), rt_value_arg(&rounds, 4)};
    cr_assert_eq(launch(b, "counts", &r, args, 2), SPVF_OK, "%s", messages);
    cr_expect_eq(facts.code.lanes == 1, quick, "%u rounds", rounds);
}

/* The rounds of loops are those that the arguments say: 7 instructions for the kernel, and 2 and 5
 * for each round for an item. */
Test(cpu, small_launches_have_loops_of_few_rounds) {
    for (uint32_t first = 125; first <= 126; first++) {
        bench b;
        begin(&b);
        ir_loop_tree(ir_func_find(b.module->ir, "counts"));
        expect_rounds(&b, first, first == 125);
        expect_rounds(&b, 126, false);
        end(&b);
    }
}

Test(cpu, a_compiler_that_refuses) {
    bench b;
    begin(&b);
    spvf_range r = {.dims = 1, .global = {64}};
    rt_arg buffer = rt_memory_arg(b.memory, 0);
    fault = "no such instruction";
    cr_expect_eq(launch(&b, "asks", &r, &buffer, 1), SPVF_ERROR_REFUSED);
    cr_expect_str_eq(messages, "error: no such instruction\n");
    fault = NULL;
    cr_expect_eq(launch(&b, "asks", &r, &buffer, 1), SPVF_OK);
    end(&b);
}

/* --------------------------------------------------------------------------------------- printf */

static char printed[4096];

static void keep_output(void *user, const char *text) {
    (void)user;
    strcat(printed, text);
}

Test(cpu, kernels_print) {
    bench b;
    begin(&b);
    body = say;
    b.device->output = keep_output;
    spvf_range r = {.dims = 1, .global = {4}, .local = {4}};
    rt_arg buffer = rt_memory_arg(b.memory, 0);
    cr_expect_eq(launch(&b, "asks", &r, &buffer, 1), SPVF_OK);
    cr_expect_str_eq(printed, "0 0.5 1,2,3 text c\n0");
    cr_expect_eq(groups_seen, 0);
    end(&b);
}

/* --------------------------------------------------------------------------------------- levels */

static void open_by_name(void *arg) {
    bench *b = arg;
    b->device = rt_cpu_driver.open(b->context, b->kernel);
}

static void expect_unknown(const char *list, const char *option) {
    char want[200];
    bench b = {.context = new_context(), .kernel = list};
    snprintf(
        want, sizeof want,
        "error: unknown option '%s' of device cpu: v2, v3, v4, icelake, simd=N, regalloc=stack, "
        "seed=N, eager, untiered, quick, waiting, cache, calls, recompile, caches=N, "
        "without=FACT\n",
        option);
    cr_expect_eq(rt_guard(b.context, open_by_name, &b), SPVF_ERROR_ARGUMENT, "%s", list);
    cr_expect_str_eq(messages, want);
    spvf_context_destroy(b.context);
}

Test(cpu, options_by_name) {
    bench b = {
        .context = new_context(),
        .kernel =
            "v2,eager,untiered,quick,without=apart,without=values,regalloc=stack,seed=12,simd=8"};
    cr_expect_eq(rt_guard(b.context, open_by_name, &b), SPVF_OK, "%s", messages);
    const cg_options *o = &((cpu_device *)b.device)->machine.options.code;
    cr_expect(o->level == 2 && o->regalloc.how == CG_REGALLOC_STACK && o->regalloc.seed == 12);
    const rt_cpu_options *all = &((cpu_device *)b.device)->machine.options;
    cr_expect(all->eager && all->untiered && all->quick && !all->cache);
    cr_expect_eq(all->without, RT_FACT(APART) | RT_FACT(VALUES));
    rt_device_close(b.device);
    spvf_context_destroy(b.context);
    expect_unknown("v5", "v5");
    expect_unknown("v2,", "v2,");
    expect_unknown("v2,seed=0", "seed=0");
    expect_unknown("without=luck", "without=luck");
    expect_unknown("v2,regalloc=stacks", "regalloc=stacks");
}

static void open_too_high(void *arg) {
    bench *b = arg;
    b->device =
        rt_cpu_open_with(b->context, &(rt_cpu_options){.code.level = 9, .compile = compile});
}

Test(cpu, levels_that_the_machine_lacks) {
    bench b = {.context = new_context()};
    cr_expect_eq(rt_guard(b.context, open_too_high, &b), SPVF_ERROR_DEVICE);
    cr_expect_str_eq(messages, "error: cpu: this machine is no x86-64-?\n");
    spvf_context_destroy(b.context);
}
