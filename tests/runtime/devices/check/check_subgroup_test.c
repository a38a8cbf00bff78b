/* check_subgroup_test.c — group operations and dot products of the corpus on the check device, for
 * sub-groups of many sizes, against values computed in C.
 *
 * The modules are those of a compiler that leaves branches alone, and of one that keeps convergent
 * calls in theirs. */
#include "check_bench.h"
#include "frontend/frontend.h"
#include "tests/file.h"
#include "tests/subgroups.h"

static const char *const producers[] = {"clang15-O0", "clang22-O2"};
static reference expected;

static void open_module(const char *producer, const char *name) {
    char path[128];
    size_t size;
    const spv_read_options options = {.file = name};
    snprintf(path, sizeof path, "build/corpus/%s/%s.spv", producer, name);
    char *words = read_file(path, &size);
    cr_assert(words, "%s is not there", path);
    w.cx.report = keep_message;
    w.m = spv_read(&w.cx, words, size, &options);
    cr_assert(w.m, "%s", w.message);
    free(words);
    w.d = check_device_new(&w.cx);
    w.p = check_program_new(w.d, w.m);
    cr_assert(w.d && w.p);
}

static void close_module(void) {
    close_all();
    memset(&w, 0, sizeof w);
}

/* What the launch leaves, to be freed. */
static unsigned char *run(const char *kernel, const unsigned char *in) {
    const reference *r = &expected;
    size_t size = (size_t)r->n * r->steps * r->type->bytes;
    unsigned char *bytes = calloc(size, 1);
    check_buffer *from = check_buffer_new(w.d, (r->n + 15) * r->type->bytes, in, 0);
    check_buffer *to = check_buffer_new(w.d, size, bytes, 0);
    const check_arg args[] = {arg_buffer(from), arg_buffer(to)};
    check_launch l = {kernel, w.range, args, 2, w.options};
    l.options.report = keep_report;
    cr_assert(check_run(w.p, &l, &w.result), "%s", w.message);
    SAYS_NOTHING();
    cr_assert(check_buffer_read(to, 0, size, bytes));
    check_buffer_free(from);
    check_buffer_free(to);
    return bytes;
}

static void compare(const char *kernel) {
    const reference *r = &expected;
    unsigned char in[(MOST_ITEMS + 15) * 8];
    pack(r->type, r->in, r->n + 15, in);
    unsigned char *out = run(kernel, in);
    for (uint32_t i = 0; i < r->n * r->steps; i++) {
        uint64_t got = unpack(r->type, out, i);
        cr_assert(got == r->out[i], "%s, sub-groups of %u, step %u, item %u: %llx, not %llx",
                  kernel, w.options.subgroup_size, i / r->n, i % r->n, (unsigned long long)got,
                  (unsigned long long)r->out[i]);
    }
    free(out);
}

static void run_types(const group_kernel *k, uint32_t n, uint32_t local, uint32_t most) {
    w.range = (ir_range){.dims = 1, .global = {n}, .local = {local}};
    w.options.allow_non_uniform = n % local != 0;
    w.options.subgroup_size = most;
    for (int t = 0; t < NUMBERS; t++) {
        char kernel[32];
        if (!has_type(k, &numbers[t])) continue;
        expected.n = n;
        expected.local = local;
        expected.most = most;
        compute(k, &numbers[t], &expected);
        snprintf(kernel, sizeof kernel, "%s%s", k->kernel, numbers[t].name);
        compare(kernel);
    }
}

/* Sub-groups and groups may be smaller at the end. */
static void run_kernels(const char *file) {
    static const uint32_t sizes[] = {1, 2, 5, 8, 16, 32, 64};
    for (int p = 0; p < 2; p++) {
        open_module(producers[p], file);
        for (int k = 0; k < GROUP_KERNELS; k++) {
            if (strcmp(group_kernels[k].file, file) != 0) continue;
            for (int size = 0; size < 7; size++) {
                run_types(&group_kernels[k], 60, 20, sizes[size]);
                run_types(&group_kernels[k], 50, 40, sizes[size]);
                if (sizes[size] >= 32) run_types(&group_kernels[k], 150, 100, sizes[size]);
            }
        }
        close_module();
    }
}

Test(check_subgroup, reductions) { run_kernels("subgroup_arith"); }
Test(check_subgroup, moves) { run_kernels("subgroup_moves"); }
Test(check_subgroup, uniform) { run_kernels("subgroup_uniform"); }
Test(check_subgroup, votes) { run_kernels("subgroup_votes"); }
Test(check_subgroup, groups) { run_kernels("wg_arith"); }
Test(check_subgroup, dots) { run_kernels("dot_products"); }
