/* phases_test.c — kernels whose work-groups wait for each other: in one launch, or one for each
 * phase; which way is taken, and what happens when the driver refuses. */
#include "runtime/devices/cuda/cuda.h"
#include "tests/runtime/devices/cuda/cuda_bench.h"

enum { PROCESSORS = 132 /* of fake_cuda.c */, GROUP = 256, USUAL = PROCESSORS - 1 /* groups */ };
enum { ROOM = 1536 / GROUP * PROCESSORS };

#define LATE "cuda:early=never" /* so that phases may be one launch */

#define WAIT "  barrier device device seq_cst global\n"

/* y[i] = x[n - 1 - i] + x[i], after x[i] + 1 has been written to x[i] by each item.  "reverse" has two
 * phases, and "rounds" four. */
#define REVERSE(name, waits)                                                                       \
    "kernel @" name "(%x: ptr.global of i32, %y: ptr.global of i32) {\n"                           \
    "entry:\n"                                                                                     \
    "  %i: i64 = global_id 0\n"                                                                    \
    "  %o: i64 = shl %i, 2\n"                                                                      \
    "  %px: ptr.global = ptradd %x, %o inbounds\n"                                                 \
    "  %v: i32 = load %px align 4\n"                                                               \
    "  %w: i32 = add %v, 1\n"                                                                      \
    "  store %w, %px align 4\n" WAIT waits "  %n: i64 = global_size 0\n"                           \
    "  %m: i64 = sub %n, %i\n"                                                                     \
    "  %l: i64 = sub %m, 1\n"                                                                      \
    "  %q: i64 = shl %l, 2\n"                                                                      \
    "  %pq: ptr.global = ptradd %x, %q inbounds\n"                                                 \
    "  %t: i32 = load %pq align 4\n"                                                               \
    "  %s: i32 = add %t, %v\n"                                                                     \
    "  %py: ptr.global = ptradd %y, %o inbounds\n"                                                 \
    "  store %s, %py align 4\n"                                                                    \
    "  ret\n"                                                                                      \
    "}\n"

#define BEGIN(name)                                                                                \
    "kernel @" name "(%x: ptr.global of i32, %y: ptr.global of i32) {\n"                           \
    "entry:\n"                                                                                     \
    "  %v: ptr.private = alloca [4 x i32] align 4\n"                                               \
    "  %i: i64 = global_id 0\n"                                                                    \
    "  %o: i64 = shl %i, 2\n"                                                                      \
    "  %px: ptr.global = ptradd %x, %o inbounds\n"                                                 \
    "  %py: ptr.global = ptradd %y, %o inbounds\n"                                                 \
    "  %l: i64 = local_id 0\n"                                                                     \
    "  %j: i32 = load %px align 4\n"

/* Variables of two phases.  "array" puts x[i] into one of four elements, and y[i] gets it from there;
 * "tile" reverses the elements of each group, and adds 1, after a look at what is there before; "tells" stores the address. */
#define VARIABLES                                                                                  \
    "@lines: local [256 x i32] align 4\n" BEGIN(                                                   \
        "array") "  %m: i64 = and %o, i64 12\n"                                                    \
                 "  %p: ptr.private = ptradd %v, %m\n"                                             \
                 "  store %j, %p align 4\n" WAIT "  %q: ptr.private = ptradd %v, %m\n"             \
                 "  %c: i1 = eq %i, i64 0\n"                                                       \
                 "  %s: ptr.private = select %c, %v, %q\n"                                         \
                 "  %d: i32 = load %s align 4\n"                                                   \
                 "  store %d, %py align 4\n"                                                       \
                 "  ret\n"                                                                         \
                 "}\n" BEGIN("tile") "  %a: i64 = shl %l, 2\n"                                     \
                                     "  %p: ptr.local = ptradd @lines, %a\n"                       \
                                     "  store %j, %p align 4\n" WAIT                               \
                                     "  %k: i32 = load %p align 4\n"                               \
                                     "  %g: i32 = add %k, i32 1\n"                                 \
                                     "  store %g, %p align 4\n"                                    \
                                     "  %b: i64 = sub i64 1020, %a\n"                              \
                                     "  %q: ptr.local = ptradd @lines, %b\n"                       \
                                     "  %e: i32 = load %q align 4\n"                               \
                                     "  store %e, %px align 4\n"                                   \
                                     "  barrier workgroup workgroup seq_cst local\n"               \
                                     "  %d: i32 = load %q align 4\n"                               \
                                     "  store %d, %py align 4\n"                                   \
                                     "  ret\n"                                                     \
                                     "}\n" BEGIN("tells") "  store %j, %v align 4\n" WAIT          \
                                                          "  %n: i64 = ptrtoint %v\n"              \
                                                          "  %d: i32 = trunc %n\n"                 \
                                                          "  store %d, %py align 4\n"              \
                                                          "  ret\n"                                \
                                                          "}\n"

#define GUARDED(n, guard, value)                                                                   \
    WAIT guard "  br %c" n ", in" n ", out" n "\n"                                                 \
               "in" n ":\n" value "  store %v" n ", %py align 4\n"                                 \
               "  jmp out" n "\n"                                                                  \
               "out" n ":\n"

/* Phases of fewer and fewer items; the last one learns from the grid how many there are. */
#define SHRINKING                                                                                  \
    BEGIN("shrinking")                                                                             \
    "  store i32 1, %py align 4\n" GUARDED("1",                                                    \
                                           "  %g: i64 = group_id 0\n"                              \
                                           "  %c1: i1 = ult %g, i64 3\n",                          \
                                           "  %v1: i32 = add %j, 2\n")                             \
        GUARDED("2", "  %c2: i1 = ult %i, i64 300\n", "  %v2: i32 = add %j, 3\n")                  \
            GUARDED("3", "  %c3: i1 = ult %i, i64 10\n",                                           \
                    "  %s: i32 = global_size 0\n"                                                  \
                    "  %v3: i32 = add %s, 4\n") "  ret\n"                                          \
                                                "}\n"

/* A phase of all items, and one of few.  "narrow" does not observe its groups, and "local" has
 * local memory. */
#define NARROW(name, more, first)                                                                  \
    "kernel @" name "(%x: ptr.global of i32, %y: ptr.global of i32" more ") {\n"                   \
    "entry:\n"                                                                                     \
    "  %i: i64 = global_id 0\n"                                                                    \
    "  %o: i64 = shl %i, 2\n"                                                                      \
    "  %px: ptr.global = ptradd %x, %o inbounds\n"                                                 \
    "  %py: ptr.global = ptradd %y, %o inbounds\n"                                                 \
    "  %j: i32 = load %px align 4\n"                                                               \
    "  store %j, %py align 4\n" first GUARDED("1", "  %c1: i1 = ult %i, i64 300\n",                \
                                              "  %v1: i32 = load %px align 4\n") "  ret\n}\n"

static const char kernels[] = "target 64\n" REVERSE("reverse", "")
    REVERSE("rounds", WAIT WAIT) "kernel @alone(%x: ptr.global of i32) {\n"
                                 "entry:\n"
                                 "  %i: i64 = global_id 0\n"
                                 "  ret\n"
                                 "}\n" VARIABLES SHRINKING;

static const char narrow[] = "target 64\n" NARROW("narrow", "", "")
    NARROW("local", ", %l: ptr.local", "  store i32 1, %l align 4\n");

typedef struct {
    rt_function *function;
    spvf_range range;
    rt_memory *x, *y;
    uint32_t n;
    int32_t runs; /* so far */
} launching;

static void launch_body(void *arg) {
    const launching *l = arg;
    const rt_arg args[] = {rt_memory_arg(l->x, 0), rt_memory_arg(l->y, 0)};
    rt_device_launch(
        bench.device,
        &(rt_launch){
            .function = l->function, .range = &l->range, .args = args, .count = 2, .uneven = true});
}

static launching begin_with(const char *text, const char *kernel, uint32_t items) {
    int32_t *x = calloc(items, sizeof *x);
    open_bench(text);
    for (uint32_t n = 0; n < items; n++) x[n] = (int32_t)n;
    launching l = {.function = find(kernel),
                   .range = {.dims = 1, .global = {items}, .local = {GROUP}},
                   .x = new_memory(x, items * sizeof *x),
                   .y = new_memory(NULL, items * sizeof *x),
                   .n = items};
    free(x);
    fake_cuda_forget();
    return l;
}

static launching begin(const char *device, const char *kernel, uint32_t items) {
    bench.name = device;
    return begin_with(kernels, kernel, items);
}

static void end(const launching *l) {
    bench.device->driver->release(bench.device, l->x);
    bench.device->driver->release(bench.device, l->y);
    close_bench();
    remove_cache_folder();
}

/* Of the run that has just been. */
static void expect_results(launching *l) {
    const int32_t *y = (const int32_t *)(uintptr_t)l->y->at;
    for (uint32_t n = 0; n < l->n; n++)
        cr_assert_eq(y[n], (int32_t)l->n + 2 * l->runs, "%u: %d", n, y[n]);
    l->runs++;
}

static void launch(launching *l) {
    fake_cuda_forget();
    cr_assert(try_to(launch_body, l), "%s", messages);
    expect_results(l);
}

static void expect_together(launching *l) {
    launch(l);
    cr_assert_eq(fake_cuda_launches(), 1);
    cr_expect(fake_cuda_launch_at(0)->together);
}

static void expect_launches(launching *l, unsigned count) {
    launch(l);
    cr_assert_eq(fake_cuda_launches(), count);
    for (unsigned n = 0; n < count; n++) cr_expect_not(fake_cuda_launch_at(n)->together);
}

Test(cuda_phases, few_groups_wait_in_one_launch) {
    launching l = begin(LATE, "rounds", USUAL * GROUP);
    expect_together(&l);
    expect_together(&l);
    cr_expect_eq(fake_cuda_count("cuOccupancyMaxActiveBlocksPerMultiprocessor"), 0, "asked before");
    cr_expect_eq(fake_cuda_modules(), 2);
    end(&l);
}

Test(cuda_phases, of_more_groups_each_phase_is_a_launch) {
    launching l = begin(LATE, "rounds", (USUAL + 1) * GROUP);
    expect_launches(&l, 4);
    const fake_cuda_launch *a = fake_cuda_launch_at(0), *b = fake_cuda_launch_at(1);
    cr_expect_eq(*(const uint32_t *)(const void *)a->value[3], 0);
    cr_expect_eq(*(const uint32_t *)(const void *)b->value[3], 1);
    cr_expect_eq(memcmp(a->value[2], b->value[2], 8), 0, "the same memory");
    cr_expect_eq(fake_cuda_count("cuLaunchCooperativeKernel"), 0);
    end(&l);
}

Test(cuda_phases, a_phase_is_a_launch_of_the_groups_that_do_anything_in_it) {
    static const unsigned blocks[] = {8, 3, 2, 8};
    launching l = begin("cuda", "shrinking", 8 * GROUP);
    cr_assert(try_to(launch_body, &l), "%s", messages);
    cr_assert_eq(fake_cuda_launches(), 4);
    for (unsigned n = 0; n < 4; n++) {
        cr_expect_eq(fake_cuda_launch_at(n)->grid[0], blocks[n], "%u: %u", n,
                     fake_cuda_launch_at(n)->grid[0]);
    }
    const int32_t *y = (const int32_t *)(uintptr_t)l.y->at;
    for (int32_t n = 0; n < (int32_t)l.n; n++) {
        int32_t want = n < 10 ? (int32_t)l.n + 4 : n < 300 ? n + 3 : n < 3 * GROUP ? n + 2 : 1;
        cr_assert_eq(y[n], want, "%d: %d", n, y[n]);
    }
    end(&l);
}

/* Usual code has no registers for such groups, so it is not that of small phases either. */
Test(cuda_phases, of_groups_that_registers_leave_no_room_for) {
    setenv("FAKE_CUDA_THREADS", "128", 1);
    launching l = begin_with(narrow, "narrow", 8 * GROUP);
    cr_expect(try_to(launch_body, &l), "%s", messages);
    cr_expect_eq(fake_cuda_launches(), 2);
    end(&l);
}

Test(cuda_phases, of_such_groups_each_phase_is_a_launch) {
    setenv("FAKE_CUDA_THREADS", "128", 1);
    launching l = begin(LATE, "rounds", 2 * GROUP);
    expect_launches(&l, 4);
    end(&l);
}

/* Where threads of a large launch run four items, those of phases with few items run one. */
Test(cuda_phases, few_items_of_a_large_launch_have_usual_code) {
    static const unsigned blocks[] = {160, 2};
    launching l = begin_with(narrow, "narrow", 160 * 4 * GROUP);
    fake_cuda_run_with(NULL);
    cr_assert(try_to(launch_body, &l), "%s", messages);
    cr_assert_eq(fake_cuda_launches(), 2);
    for (unsigned n = 0; n < 2; n++)
        cr_expect_eq(fake_cuda_launch_at(n)->grid[0], blocks[n], "%u: %u", n,
                     fake_cuda_launch_at(n)->grid[0]);
    end(&l);
}

static void launch_with_local(void *arg) {
    const launching *l = arg;
    const rt_arg args[] = {rt_memory_arg(l->x, 0), rt_memory_arg(l->y, 0), rt_local_arg(60000)};
    rt_device_launch(
        bench.device,
        &(rt_launch){.function = l->function, .range = &l->range, .args = args, .count = 3});
}

Test(cuda_phases, both_codes_of_a_large_launch_are_allowed_much_local_memory) {
    launching l = begin_with(narrow, "local", 160 * 4 * GROUP);
    fake_cuda_run_with(NULL);
    cr_assert(try_to(launch_with_local, &l), "%s", messages);
    cr_expect_eq(fake_cuda_launches(), 2);
    cr_expect_eq(fake_cuda_count("cuFuncSetAttribute"), 2);
    end(&l);
}

Test(cuda_phases, so_it_is_of_more_groups_that_are_small) {
    launching l = begin(LATE, "rounds", (2 * PROCESSORS + 1) * 64);
    l.range.local[0] = 64;
    expect_launches(&l, 4);
    l.range.global[0] -= 64;
    cr_assert(try_to(launch_body, &l), "%s", messages);
    cr_expect_eq(fake_cuda_launches(), 4 + 1);
    end(&l);
}

Test(cuda_phases, few_phases_are_launches) {
    launching l = begin("cuda", "reverse", GROUP);
    expect_launches(&l, 2);
    end(&l);
}

Test(cuda_phases, an_option_asks_for_one_launch_where_there_is_room) {
    launching l = begin("cuda:phases=together", "reverse", ROOM * GROUP);
    expect_together(&l);
    cr_expect_eq(fake_cuda_launch_at(0)->grid[0], ROOM);
    cr_expect_eq(fake_cuda_launch_at(0)->params, 2 + 3);
    end(&l);
}

Test(cuda_phases, groups_that_run_at_once_take_turns_with_more_if_the_option_asks) {
    launching l = begin("cuda:0,phases=together", "reverse", (2 * ROOM + 1) * GROUP);
    expect_together(&l);
    cr_expect_eq(fake_cuda_launch_at(0)->grid[0], ROOM);
    cr_expect_eq(fake_cuda_launch_at(0)->params, 2 + 2 + PASS_BOX_NUMBERS + 3);
    expect_together(&l);
    end(&l);
}

Test(cuda_phases, an_option_asks_for_launches) {
    launching l = begin("cuda:phases=launches", "reverse", GROUP);
    expect_launches(&l, 2);
    end(&l);
}

Test(cuda_phases, some_devices_have_no_cooperative_launches) {
    setenv("FAKE_CUDA_TOGETHER", "0", 1);
    launching l = begin("cuda:phases=together", "reverse", GROUP);
    expect_launches(&l, 2);
    end(&l);
}

/* Groups of the end are smaller, or go beyond it. */
Test(cuda_phases, ranges_that_are_no_grid_are_launches) {
    launching l = begin("cuda:phases=together", "reverse", GROUP + 1);
    expect_launches(&l, 2);
    end(&l);
}

/* Too large, not supported. */
Test(cuda_phases, what_the_driver_refuses_becomes_launches) {
    static const int errors[] = {720, 801};
    for (int n = 0; n < 2; n++) {
        bench.folder[0] = 0;
        launching l = begin(LATE, "rounds", GROUP);
        fake_cuda_fail("cuLaunchCooperativeKernel", 1, errors[n], false);
        cr_assert(try_to(launch_body, &l), "%s", messages);
        cr_expect(fake_cuda_has_failed());
        cr_expect_eq(fake_cuda_launches(), 4);
        expect_results(&l);
        expect_launches(&l, 4);
        cr_expect_eq(fake_cuda_count("cuLaunchCooperativeKernel"), 0, "it is not tried again");
        end(&l);
    }
}

Test(cuda_phases, other_errors_are_told) {
    launching l = begin(LATE, "rounds", GROUP);
    fake_cuda_fail("cuLaunchCooperativeKernel", 1, 999, false);
    cr_expect(!try_to(launch_body, &l));
    cr_expect(strstr(messages, "kernel 'rounds': cuLaunchCooperativeKernel failed"), "%s",
              messages);
    end(&l);
}

/* What is kept has 4 bytes for each item, rounded up; a block of memory is used again, and a larger
 * one added. */
Test(cuda_phases, memory_grows) {
    launching l = begin("cuda:phases=launches", "reverse", 8 * GROUP), large = l;
    const uint32_t many = 1 << 16;
    unsigned before = fake_cuda_memories();
    expect_launches(&l, 2);
    expect_launches(&l, 2);
    cr_expect_eq(fake_cuda_memories(), before + 1);
    large.range.global[0] = many;
    large.x = new_memory(NULL, many * sizeof(int32_t));
    large.y = new_memory(NULL, many * sizeof(int32_t));
    before = fake_cuda_memories();
    cr_assert(try_to(launch_body, &large), "%s", messages);
    cr_expect_eq(fake_cuda_memories(), before + 1);
    expect_launches(&l, 2);
    bench.device->driver->release(bench.device, large.x);
    bench.device->driver->release(bench.device, large.y);
    end(&l);
}

Test(cuda_phases, memory_may_be_short) {
    launching l = begin("cuda:phases=launches", "reverse", GROUP);
    fake_cuda_fail("cuMemAlloc_v2", 1, 2, false);
    cr_expect(!try_to(launch_body, &l));
    cr_expect(strstr(messages, "cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY"), "%s", messages);
    expect_launches(&l, 2);
    end(&l);
}

static int32_t element_of(const rt_memory *m, uint32_t n) {
    return ((const int32_t *)(uintptr_t)m->at)[n];
}

Test(cuda_phases, variables_of_several_phases_are_global_memory) {
    static const char *const names[] = {"array", "tile"};
    for (int k = 0; k < 2; k++) {
        launching l = begin("cuda", names[k], 3 * GROUP);
        cr_assert(try_to(launch_body, &l), "%s", messages);
        cr_expect_eq(fake_cuda_launches(), 2);
        for (uint32_t n = 0; n < l.n; n++) {
            const uint32_t reversed = n / GROUP * GROUP + GROUP - 1 - n % GROUP;
            cr_assert_eq(element_of(l.y, n), k ? (int32_t)reversed + 1 : (int32_t)n, "%s, %u: %d",
                         names[k], n, element_of(l.y, n));
        }
        end(&l);
        bench.folder[0] = 0;
    }
}

Test(cuda_phases, barriers_are_for_that_memory) {
    launching l = begin(LATE, "rounds", GROUP);
    unsigned barriers = 0;
    foreach_block (b, ir_func_find(bench.whole->ir, "tile"))
        foreach_inst (i, b) {
            if (i->op != IR_OP_barrier) continue;
            cr_expect(i->imm.sync.semantics & IR_SEM_GLOBAL);
            barriers++;
        }
    cr_expect_geq(barriers, 1);
    end(&l);
}

Test(cuda_phases, their_addresses_are_not) {
    launching l = begin(LATE, "rounds", GROUP);
    char caught[RT_CAUGHT_SIZE] = "";
    cr_expect(!can_find("tells"));
    cr_expect(
        strstr(messages, "no phases of @tells: several phases use one variable, whose address"),
        "%s", messages);
    cr_expect(can_find("alone"), "%s", messages);
    bench.context->caught = caught;
    cr_expect(!can_find("tells"));
    bench.context->caught = NULL;
    cr_expect(strstr(caught, "several phases use one variable"), "%s", caught);
    end(&l);
}

Test(cuda_phases, code_assembles) {
    launching l = begin(LATE, "rounds", GROUP);
    const rt_ptx_options launches = {.code = {.sm = 75, .offset = true}, .only = "rounds"};
    const rt_ptx_options together = {.code = {.sm = 75, .offset = true, .together = true}};
    const rt_ptx_options turns = {
        .code = {.sm = 75, .offset = true, .together = true}, .only = "rounds", .parts = true};
    const rt_ptx_options parts = {
        .code = {.sm = 90, .offset = true}, .only = "rounds", .parts = true};
    const rt_ptx_options array = {.code = {.sm = 75, .offset = true}, .only = "array"};
    const rt_ptx_options tile = {.code = {.sm = 75, .offset = true}, .only = "tile"};
    expect_assembles(&launches, 1);
    expect_assembles(&array, 1);
    expect_assembles(&tile, 1);
    expect_assembles(&together, 6);
    expect_assembles(&turns, 1);
    expect_assembles(&parts, 1);
    end(&l);
}

/* ---------------------------------------------------------------------------------------- graphs */

/* Twice in a recording, and run three times: into the stream, and as a graph. */
static void run_recording(launching *l) {
    static uint64_t recording = 1000;
    const rt_arg args[] = {rt_memory_arg(l->x, 0), rt_memory_arg(l->y, 0)};
    const rt_launch one = {.function = l->function, .range = &l->range, .args = args, .count = 2};
    const rt_command list[] = {{.kind = RT_COMMAND_LAUNCH, .launch = one},
                               {.kind = RT_COMMAND_LAUNCH, .launch = one}};
    recording++;
    for (int k = 0; k < 3; k++) {
        cuda_replay_launches((cuda *)bench.device,
                             &(rt_more){.commands = list, .count = 2, .recording = recording}, 0,
                             &bench.program->arena);
        l->runs++;
        expect_results(l);
    }
}

static void record_body(void *arg) { run_recording(arg); }

Test(cuda_phases, graphs_have_nodes_whose_groups_wait) {
    launching l = begin(LATE, "rounds", GROUP);
    cr_assert(try_to(record_body, &l), "%s", messages);
    cr_expect_eq(fake_cuda_count("cuLaunchCooperativeKernel"), 2);
    cr_expect_eq(fake_cuda_count("cuGraphKernelNodeSetAttribute"), 2);
    cr_expect_eq(fake_cuda_count("cuGraphLaunch"), 2);
    cr_expect(fake_cuda_launch_at(5)->together);
    end(&l);
}

Test(cuda_phases, graphs_have_a_node_for_each_phase) {
    launching l = begin("cuda:phases=launches", "reverse", GROUP);
    cr_assert(try_to(record_body, &l), "%s", messages);
    cr_expect_eq(fake_cuda_count("cuLaunchKernelEx"), 4);
    cr_expect_eq(fake_cuda_count("cuGraphAddKernelNode_v2"), 4);
    cr_expect_eq(fake_cuda_count("cuGraphLaunch"), 2);
    end(&l);
}

/* The launches that a graph was to have go into the stream, and what is refused there is cut. */
Test(cuda_phases, nodes_may_be_refused) {
    launching l = begin(LATE, "rounds", GROUP);
    fake_cuda_fail("cuGraphKernelNodeSetAttribute", 1, 1, false);
    fake_cuda_fail("cuLaunchCooperativeKernel", 3, 720, false);
    cr_assert(try_to(record_body, &l), "%s", messages);
    cr_expect_eq(fake_cuda_count("cuGraphLaunch"), 0);
    cr_expect_eq(fake_cuda_count("cuLaunchKernel"), 16);
    end(&l);
}

Test(cuda_phases, options_are_read) {
    static const char *const wrong[] = {"cuda:phases=", "cuda:phases=both", "cuda:0,phases"};
    launching l = begin("cuda:0,without=apart,phases=launches", "reverse", GROUP);
    for (size_t n = 0; n < sizeof wrong / sizeof *wrong; n++)
        cr_expect_null(rt_cuda_driver.open(bench.context, strchr(wrong[n], ':') + 1), "%s",
                       wrong[n]);
    end(&l);
}

/* --------------------------------------------------------------------------------- what is told */

static char told[4][300];
static unsigned tellings;

static void note_way(void *user, const rt_phase_way *way) {
    (void)user;
    cr_assert_lt(tellings, 4);
    snprintf(told[tellings++], sizeof *told, "@%s %s [%s]", way->kernel, way->text, way->rule);
}

/* A launch on such a device, and one that only asks, say the same. */
static void expect_told(const char *device, const char *kernel, uint32_t items, const char *want) {
    launching l = begin(device, kernel, items);
    const rt_arg args[] = {rt_memory_arg(l.x, 0), rt_memory_arg(l.y, 0)};
    const rt_launch asked = {
        .function = l.function, .range = &l.range, .args = args, .count = 2, .uneven = true};
    rt_phase_way way;
    tellings = 0;
    bench.device->on_phases = note_way;
    cr_assert(rt_cuda_driver.phases(bench.device, &asked, &way));
    cr_expect_eq(fake_cuda_launches(), 0);
    launch(&l);
    cr_assert_eq(tellings, 1);
    cr_expect_str_eq(told[0], want);
    char text[sizeof *told];
    snprintf(text, sizeof text, "@%s %s [%s]", way.kernel, way.text, way.rule);
    cr_expect_str_eq(text, want);
    cr_expect_eq(way.together, fake_cuda_launches() == 1);
    end(&l);
    bench.folder[0] = 0;
}

Test(cuda_phases, the_way_is_told_with_its_reason) {
    expect_told(
        LATE, "rounds", 2 * GROUP,
        "@rounds 4 phases are one launch: 2 groups, and there is room for 792 [phase.together]");
    expect_told("cuda:phases=together", "reverse", (2 * ROOM + 1) * GROUP,
                "@reverse 2 phases are one launch: 1585 groups, in turns, as there is room for 792 "
                "[phase.turns]");
    expect_told("cuda:phases=launches", "rounds", GROUP,
                "@rounds 4 phases are a launch each: the device was opened with phases=launches "
                "[phase.option]");
    expect_told("cuda", "reverse", GROUP,
                "@reverse 2 phases are a launch each: that costs less for so few [phase.few]");
    expect_told("cuda", "rounds", GROUP,
                "@rounds 4 phases are a launch each: that costs less, as launches of the device "
                "begin early [phase.early]");
    expect_told(LATE, "rounds", (USUAL + 1) * GROUP,
                "@rounds 4 phases are a launch each: that costs less for as many as 132 groups "
                "[phase.groups]");
    expect_told(LATE, "rounds", GROUP + 1,
                "@rounds 4 phases are a launch each: the range is no grid of equal groups "
                "[phase.range]");
}

Test(cuda_phases, a_device_may_be_the_reason) {
    setenv("FAKE_CUDA_TOGETHER", "0", 1);
    expect_told(
        LATE, "rounds", GROUP,
        "@rounds 4 phases are a launch each: the device or its driver has no launches whose "
        "groups wait [phase.device]");
}

Test(cuda_phases, there_may_be_no_room) {
    setenv("FAKE_CUDA_THREADS_AT_ONCE", "128", 1);
    expect_told(LATE, "rounds", GROUP,
                "@rounds 4 phases are a launch each: 1 groups, and there is room for 0 at once "
                "[phase.room]");
}

Test(cuda_phases, what_has_none_is_not_told) {
    launching l = begin("cuda", "alone", GROUP);
    rt_phase_way way;
    const rt_launch asked = {.function = l.function, .range = &l.range};
    cr_expect_not(rt_cuda_driver.phases(bench.device, &asked, &way));
    end(&l);
}

/* Each way of a kernel is a note, once, if remarks are asked for; what the driver refuses, too. */
Test(cuda_phases, remarks_are_notes) {
    launching l = begin(LATE, "rounds", GROUP);
    launch(&l);
    cr_expect_str_empty(messages);
    const spvf_pass_options remarks = {.size = sizeof remarks, .remarks = true};
    cr_assert_eq(spvf_context_inspect(bench.context, &remarks), SPVF_OK);
    fake_cuda_fail("cuLaunchCooperativeKernel", 1, 720, false);
    l.function->last.function = NULL;
    cr_assert(try_to(launch_body, &l), "%s", messages);
    cr_expect_str_eq(messages,
                     "note: @rounds: 4 phases are one launch: 1 groups, and there is room for 792 "
                     "[phase.together]\n"
                     "note: @rounds: 4 phases are a launch each: the driver has refused one launch "
                     "[phase.refused]\n");
    l.function->last.function = NULL;
    cr_assert(try_to(launch_body, &l), "%s", messages);
    cr_expect_str_empty(messages);
    end(&l);
}
