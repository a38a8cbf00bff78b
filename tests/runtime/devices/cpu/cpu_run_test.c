/* cpu_run_test.c — plans on device cpu: code that was generated, in memory, on threads. */
#include "tests/runtime/bench.h"

static const char kernels[] = "target 64\n"
                              "@count: global i32 = 40\n"
                              "@where: global ptr.global = &@count\n"
                              "@table: const [4 x i32] constant = {10, 11, 12, 13}\n"
                              "@nowhere: global i32 import\n"
                              "@two_over_pi: const i64 constant = 5\n"
                              "kernel @five(%p: ptr.global of i64) {\n"
                              "entry:\n"
                              "  %v: i64 = load @two_over_pi align 8\n"
                              "  store %v, %p align 8\n"
                              "  ret\n"
                              "}\n"
                              "kernel @sine(%p: ptr.global of f32) {\n"
                              "entry:\n"
                              "  %x: f32 = load %p align 4\n"
                              "  %s: f32 = sin %x\n"
                              "  store %s, %p align 4\n"
                              "  ret\n"
                              "}\n"
                              "kernel @bump(%by: i32) {\n"
                              "entry:\n"
                              "  %i: i64 = global_id 0\n"
                              "  %old: i32 = atomic_add @count, %by device relaxed\n"
                              "  ret\n"
                              "}\n"
                              "kernel @tell(%p: ptr.global of i32) {\n"
                              "entry:\n"
                              "  %at: ptr.global = load @where align 8\n"
                              "  %v: i32 = load %at align 4\n"
                              "  store %v, %p align 4\n"
                              "  %e: ptr.const = ptradd @table, 8 inbounds\n"
                              "  %t: i32 = load %e align 4\n"
                              "  %q: ptr.global = ptradd %p, 4 inbounds\n"
                              "  store %t, %q align 4\n"
                              "  ret\n"
                              "}\n"
                              "kernel @lost(%p: ptr.global of i32) {\n"
                              "entry:\n"
                              "  %v: i32 = load @nowhere align 4\n"
                              "  store %v, %p align 4\n"
                              "  ret\n"
                              "}\n"
                              "kernel @ids(%p: ptr.global of i32, %k: i32) {\n"
                              "entry:\n"
                              "  %x: i64 = global_id 0\n"
                              "  %o: i64 = global_offset 0\n"
                              "  %i: i64 = sub %x, %o\n"
                              "  %b: i64 = shl %i, 2\n"
                              "  %q: ptr.global = ptradd %p, %b inbounds\n"
                              "  %w: i32 = trunc %x\n"
                              "  %v: i32 = mul %w, %k\n"
                              "  store %v, %q align 4\n"
                              "  ret\n"
                              "}\n"
                              "kernel @narrow(%p: ptr.global of i64) {\n"
                              "entry:\n"
                              "  %x: i64 = global_id 0\n"
                              "  %o: i64 = global_offset 0\n"
                              "  %i: i64 = sub %x, %o\n"
                              "  %b: i64 = shl %i, 3\n"
                              "  %q: ptr.global = ptradd %p, %b inbounds\n"
                              "  %w: i32 = trunc %x\n"
                              "  %v: i64 = sext %w\n"
                              "  store %v, %q align 8\n"
                              "  ret\n"
                              "}\n"
                              "kernel @turn(%p: ptr.global of i32, %l: ptr.local of i32) {\n"
                              "entry:\n"
                              "  %x: i64 = global_id 0\n"
                              "  %i: i64 = local_id 0\n"
                              "  %n: i64 = local_size 0\n"
                              "  %b: i64 = shl %x, 2\n"
                              "  %q: ptr.global = ptradd %p, %b inbounds\n"
                              "  %v: i32 = load %q align 4\n"
                              "  %c: i64 = shl %i, 2\n"
                              "  %s: ptr.local = ptradd %l, %c inbounds\n"
                              "  store %v, %s align 4\n"
                              "  barrier workgroup workgroup acq_rel local\n"
                              "  %m: i64 = sub %n, 1\n"
                              "  %j: i64 = sub %m, %i\n"
                              "  %d: i64 = shl %j, 2\n"
                              "  %t: ptr.local = ptradd %l, %d inbounds\n"
                              "  %w: i32 = load %t align 4\n"
                              "  store %w, %q align 4\n"
                              "  ret\n"
                              "}\n"
                              /* n turns around a ring of all items, with all that they have */
                              "@tile: local [64 x i32] align 4\n"
                              "kernel @ring(%p: ptr.global of i32, %q: ptr.global of i32, %k: i32)"
                              " {\n"
                              "entry:\n"
                              "  %own: ptr.private = alloca [4 x i32] align 4\n"
                              "  %x: i64 = global_linear_id\n"
                              "  %i: i64 = local_linear_id\n"
                              "  %w: i32 = trunc %x\n"
                              "  %b: i64 = shl %x, 2\n"
                              "  %px: ptr.global = ptradd %p, %b inbounds\n"
                              "  %qx: ptr.global = ptradd %q, %b inbounds\n"
                              "  %was: i32 = load %px align 4\n"
                              "  store %w, %px align 4\n"
                              "  %e: i64 = zext %k\n"
                              "  %f: i64 = shl %e, 2\n"
                              "  %at: ptr.private = ptradd %own, %f inbounds\n"
                              "  store %w, %at align 4\n"
                              "  %c: i64 = shl %i, 2\n"
                              "  %s: ptr.local = ptradd @tile, %c inbounds\n"
                              "  store %w, %s align 4\n"
                              "  %said: i32 = printf \"a\"\n"
                              "  barrier device device acq_rel local global\n"
                              "  %n0: i64 = global_size 0\n"
                              "  %n1: i64 = global_size 1\n"
                              "  %n: i64 = mul %n0, %n1\n"
                              "  %m: i64 = sub %n, 1\n"
                              "  %y: i64 = sub %m, %x\n"
                              "  %d: i64 = shl %y, 2\n"
                              "  %py: ptr.global = ptradd %p, %d inbounds\n"
                              "  %other: i32 = load %py align 4\n"
                              "  store %other, %qx align 4\n"
                              "  %told: i32 = printf \"b\"\n"
                              "  barrier device device acq_rel local global\n"
                              "  %mine: i32 = load %at align 4\n"
                              "  %shared: i32 = load %s align 4\n"
                              "  %qy: ptr.global = ptradd %q, %d inbounds\n"
                              "  %back: i32 = load %qy align 4\n"
                              "  %s1: i32 = add %mine, %shared\n"
                              "  %s2: i32 = add %s1, %back\n"
                              "  %s3: i32 = add %s2, %was\n"
                              "  store %s3, %px align 4\n"
                              "  ret\n"
                              "}\n"
                              "kernel @twice(%p: ptr.global, %q: ptr.global, %r: ptr.global) {\n"
                              "entry:\n"
                              "  %x: i64 = global_id 0\n"
                              "  %o: i64 = shl %x, 2\n"
                              "  %a: ptr.global = ptradd %p, %o inbounds\n"
                              "  %b: ptr.global = ptradd %q, %o inbounds\n"
                              "  %c: ptr.global = ptradd %r, %o inbounds\n"
                              "  %v: i32 = load %a align 4\n"
                              "  %w: i32 = add %v, %v\n"
                              "  store %w, %b align 4\n"
                              "  %again: i32 = load %a align 4\n"
                              "  store %again, %c align 4\n"
                              "  ret\n"
                              "}\n"
                              "kernel @turns(%k: i32) {\n"
                              "entry:\n"
                              "  jmp head\n"
                              "head:\n"
                              "  %i: i32 = phi [entry: 0, head: %j]\n"
                              "  barrier device device acq_rel global\n"
                              "  %j: i32 = add %i, 1\n"
                              "  %c: i1 = ult %j, %k\n"
                              "  br %c, head, end\n"
                              "end:\n"
                              "  ret\n"
                              "}\n";

/* The second phase has the items of a corner, and the third one two columns of groups. */
static const char corner[] = "target 64\n"
                             "kernel @corner(%p: ptr.global of i32) {\n"
                             "entry:\n"
                             "  %x: i64 = global_linear_id\n"
                             "  %b: i64 = shl %x, 2\n"
                             "  %px: ptr.global = ptradd %p, %b inbounds\n"
                             "  store i32 1, %px align 4\n"
                             "  barrier device device acq_rel global\n"
                             "  %i: i64 = global_id 0\n"
                             "  %j: i64 = global_id 1\n"
                             "  %c0: i1 = ult %i, i64 20\n"
                             "  %c1: i1 = ult %j, i64 7\n"
                             "  %c: i1 = and %c0, %c1\n"
                             "  br %c, in, out\n"
                             "in:\n"
                             "  %a: i32 = load %px align 4\n"
                             "  %d: i32 = add %a, 2\n"
                             "  store %d, %px align 4\n"
                             "  jmp out\n"
                             "out:\n"
                             "  barrier device device acq_rel global\n"
                             "  %g: i64 = group_id 0\n"
                             "  %e: i1 = ult %g, i64 2\n"
                             "  br %e, more, end\n"
                             "more:\n"
                             "  %f: i32 = load %px align 4\n"
                             "  %h: i32 = mul %f, 5\n"
                             "  store %h, %px align 4\n"
                             "  jmp end\n"
                             "end:\n"
                             "  ret\n"
                             "}\n";

static void set_up(void) { in_folder_with(kernels); }

TestSuite(cpu_run, .init = set_up, .fini = leave_folder);

static void expect_run(const char *text, spvf_status want, const char *said) {
    spvf_run_options o = {.size = sizeof o, .device = "cpu"};
    spvf_status got = run_text(text, &o);
    cr_expect_eq(got, want, "%s", spvf_status_name(got));
    cr_expect_str_eq(messages, said);
    cr_expect_eq(bytes_held, 0);
}

Test(cpu_run, kernels_share_the_variables_of_their_program) {
    expect_run("buffer x i32[2]\n"
               "launch \"k.ir\":bump global 100 local 4 args 3\n"
               "launch \"k.ir\":bump global 1 local 1 args 2\n"
               "launch \"k.ir\":tell global 1 args x\n"
               "expect x[0..1] = 342, 12\n",
               SPVF_OK, "");
}

/* The sine of a large number takes a table, which is called as a variable here. */
Test(cpu_run, variables_are_not_those_of_math_functions) {
    expect_run("buffer x f32[1] = 1e30\nbuffer n i64[1]\n"
               "launch \"k.ir\":five global 1 args n\nexpect n[0..0] = 5\n"
               "launch \"k.ir\":sine global 1 args x\n"
               "expect x[0..0] = -0.79116344 ~ 1e-6\n",
               SPVF_OK, "");
}

Test(cpu_run, variables_without_a_definition) {
    expect_run("buffer x i32[1]\n"
               "launch \"k.ir\":lost global 1 args x\n",
               SPVF_ERROR_DEVICE, "p:2:8: error: @nowhere is imported and has no definition\n");
}

Test(cpu_run, groups_at_the_end_are_smaller) {
    expect_run("buffer x i32[100003]\n"
               "launch \"k.ir\":ids global 100003 args x, 3\n"
               "expect x[0..3] = 0, 3, 6, 9\n"
               "expect x[99997..100002] = 299991, 299994, 299997, 300000, 300003, 300006\n",
               SPVF_OK, "");
}

Test(cpu_run, offsets) {
    expect_run("buffer x i32[8]\n"
               "launch \"k.ir\":ids global 8 local 4 offset 100 args x, 1\n"
               "expect x[0..7] = 100, 101, 102, 103, 104, 105, 106, 107\n",
               SPVF_OK, "");
}

/* 2^31 - 4 to 2^31 + 3, as i32 and back: code for small ids says otherwise for the last four. */
Test(cpu_run, ids_that_are_not_small) {
    expect_run("buffer x i64[8]\n"
               "launch \"k.ir\":narrow global 8 local 4 args x\n"
               "expect x[0..7] = 0, 1, 2, 3, 4, 5, 6, 7\n"
               "launch \"k.ir\":narrow global 8 local 4 offset 2147483644 args x\n"
               "expect x[0..3] = 2147483644, 2147483645, 2147483646, 2147483647\n"
               "expect x[4..7] = -2147483648, -2147483647, -2147483646, -2147483645\n",
               SPVF_OK, "");
}

/* Code for arguments that are apart loads once what items load twice. */
Test(cpu_run, arguments_that_are_apart_and_others) {
    expect_run("buffer x i32[5] = iota\nbuffer y i32[5]\nbuffer z i32[5]\n"
               "launch \"k.ir\":twice global 5 args x, y, z\n"
               "expect y[0..4] = 0, 2, 4, 6, 8\nexpect z[0..4] = 0, 1, 2, 3, 4\n"
               "launch \"k.ir\":twice global 5 args x, x, z\n"
               "expect x[0..4] = 0, 2, 4, 6, 8\nexpect z[0..4] = 0, 2, 4, 6, 8\n"
               "launch \"k.ir\":twice global 5 args x, y, x\n"
               "expect y[0..4] = 0, 4, 8, 12, 16\nexpect x[0..4] = 0, 2, 4, 6, 8\n",
               SPVF_OK, "");
}

Test(cpu_run, local_memory_and_barriers) {
    expect_run("buffer x i32[12] = iota\n"
               "launch \"k.ir\":turn global 12 local 4 args x, local 16\n"
               "expect x[0..11] = 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8\n",
               SPVF_OK, "");
}

/* Is a library of this name in the memory of the process? */
static bool is_loaded(const char *library) {
    char line[4096];
    bool found = false;
    FILE *f = fopen("/proc/self/maps", "r");
    cr_assert_not_null(f);
    while (fgets(line, sizeof line, f)) found |= strstr(line, library) != NULL;
    fclose(f);
    return found;
}

Test(cpu_run, opencl_stays_where_it_is) {
    static const char text[] = "buffer x i32[8]\nlaunch \"k.ir\":ids global 8 args x, 1\n";
    expect_run(text, SPVF_OK, "");
    cr_expect_eq(run_text(text, NULL), SPVF_OK);
    cr_expect_not(is_loaded("libOpenCL"));
}

/* ------------------------------------------------------------------------- memory that is short */

static int allocations_left;

static void *hold_some(void *user, size_t bytes) {
    return allocations_left-- > 0 ? hold(user, bytes) : NULL;
}

static spvf_status run_with(int allocations, const char *text) {
    spvf_context_options o = {.size = sizeof o, .allocate = hold_some, .release = let_go};
    spvf_run_options on_cpu = {.size = sizeof on_cpu, .device = "cpu"};
    spvf_context *c;
    spvf_plan *p = NULL;
    allocations_left = allocations;
    spvf_status status = spvf_context_create(&o, &c);
    if (status != SPVF_OK) return status;
    status = spvf_plan_load(c, "p", text, strlen(text), &p);
    if (status == SPVF_OK) status = spvf_plan_run(p, &on_cpu, NULL);
    spvf_plan_destroy(p);
    spvf_context_destroy(c);
    return status;
}

Test(cpu_run, every_allocation_may_fail) {
    static const char text[] = "buffer x i32[12] = iota\n"
                               "launch \"k.ir\":turn global 12 local 4 args x, local 16\n"
                               "launch \"k.ir\":tell global 1 args x\n"
                               "expect x[0..3] = 40, 12, 1, 0\n";
    spvf_status status = SPVF_ERROR_MEMORY;
    int n = 0;
    for (; status == SPVF_ERROR_MEMORY && n < 100000; n++) {
        status = run_with(n, text);
        cr_expect_eq(bytes_held, 0, "after %d allocations", n);
    }
    cr_expect_eq(status, SPVF_OK, "%s after %d allocations", spvf_status_name(status), n);
    cr_expect_gt(n, 10);
}

/* So often that code for these launches alone pays. */
Test(cpu_run, the_same_launch_many_times) {
    enum { TIMES = 400, LINE = 80 };
    char *text = malloc(TIMES * LINE);
    size_t n = (size_t)sprintf(text, "buffer x i32[65536] = iota\n");
    for (int i = 0; i < TIMES; i++)
        n += (size_t)sprintf(text + n, "launch \"k.ir\":turn global 65536 local 256 args x, local "
                                       "1024\n");
    sprintf(text + n, "expect x[0..1] = 0, 1\nexpect x[65534..65535] = 65534, 65535\n");
    expect_run(text, SPVF_OK, "");
    free(text);
}

/* -------------------------------------------------------------------------------------- phases */

static size_t first_b; /* in what was printed */
static bool in_order;

static void check_order(void *user, const char *text) {
    (void)user;
    first_b = strcspn(text, "b");
    in_order = !strchr(text + first_b, 'a');
}

/* Every item finds what it left: 3 times its number, and what the buffer had. */
static void expect_ring(const char *device, const char *range, unsigned items) {
    char text[400];
    snprintf(text, sizeof text,
             "buffer p i32[%u] = 7\nbuffer q i32[%u]\nlaunch \"k.ir\":ring %s args p, q, 2\n"
             "expect p[0..3] = 7, 10, 13, 16\nexpect p[%u] = %u\nexpect q[0] = %u\n",
             items, items, range, items - 1, 3 * items + 4, items - 1);
    spvf_run_options o = {.size = sizeof o, .device = device, .output = check_order};
    cr_expect_eq(run_text(text, &o), SPVF_OK, "%s, %s: %s", device, range, messages);
    cr_expect(first_b == items && in_order, "%s: %zu of %u", range, first_b, items);
    cr_expect_eq(bytes_held, 0);
}

Test(cpu_run, all_groups_wait_for_each_other) {
    static const char *const devices[] = {"cpu", "cpu:eager", "cpu:regalloc=stack", "cpu:quick"};
    for (unsigned k = 0; k < sizeof devices / sizeof *devices; k++) {
        expect_ring(devices[k], "global 4 local 1", 4);
        expect_ring(devices[k], "global 6400 local 64", 6400);
        expect_ring(devices[k], "global 999 local 37 offset 5", 999);
        expect_ring(devices[k], "global 30, 14 local 15, 2 offset 1, 2", 420);
        expect_ring(devices[k], "global 7000", 7000);
    }
}

Test(cpu_run, phases_of_some_items) {
    static const struct {
        const char *range, *expect;
    } rows[] = {{"global 64, 16 local 8, 4",
                 "p[0] = 15\nexpect p[15..16] = 15, 3\nexpect p[399] = 15\n"
                 "expect p[403..404] = 3, 1\nexpect p[448..449] = 5, 5\n"
                 "expect p[463..464] = 5, 1\nexpect p[1023] = 1\n"},
                {"global 64, 16 local 8, 4 offset 3, 2",
                 "p[271..273] = 15, 3, 1\nexpect p[335..336] = 5, 1\nexpect p[1023] = 1\n"},
                {"global 64 local 16", "p[18..20] = 15, 15, 5\nexpect p[31..32] = 5, 1\n"},
                {"global 64 local 16 offset 30", "p[0] = 5\nexpect p[31..32] = 5, 1\n"}};
    write_file("k.ir", corner);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        static const char *const devices[] = {"check", "cpu"};
        char text[600];
        snprintf(text, sizeof text,
                 "buffer p i32[1024]\nlaunch \"k.ir\":corner %s args p\nexpect %s", rows[k].range,
                 rows[k].expect);
        for (unsigned d = 0; d < 2; d++) {
            const spvf_run_options o = {.size = sizeof o, .device = devices[d]};
            cr_expect_eq(run_text(text, &o), SPVF_OK, "%s, %s: %s", devices[d], rows[k].range,
                         messages);
        }
    }
}

Test(cpu_run, what_phases_leave_has_to_fit) {
    expect_run("buffer p i32[1]\n"
               "launch \"k.ir\":ring global 2305843009213693952 local 64 args p, p, 2\n",
               SPVF_ERROR_DEVICE,
               "p:2:8: error: kernel @ring: what its phases leave to later ones does not fit into "
               "memory\n");
}

Test(cpu_run, a_barrier_of_all_groups_that_comes_again) {
    expect_run("launch \"k.ir\":turns global 4 args 3\n", SPVF_ERROR_DEVICE,
               "p:1:8: error: kernel 'turns' cannot run on a CPU: a barrier of all work-groups is "
               "not passed once by all work-items\n");
}
