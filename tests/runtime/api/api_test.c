/* api_test.c — the library as a program sees it: modules, fusion, and what happens when memory is
 * short.  The modules are IR text, so that nothing outside the library is needed.
 */
#include "runtime/spvfuse.h"
#include "tests/file.h"
#include "tests/temporary.h"

#include <criterion/criterion.h>
#include <string.h>

static const char kernels[] =
    "target 64\n"
    "kernel @vadd(%a: ptr.global readonly of f32, %b: ptr.global readonly of f32,\n"
    "             %c: ptr.global of f32) {\n"
    "entry:\n"
    "  %i: i64 = global_id 0\n"
    "  %o: i64 = shl %i, 2\n"
    "  %pa: ptr.global = ptradd %a, %o inbounds\n"
    "  %pb: ptr.global = ptradd %b, %o inbounds\n"
    "  %pc: ptr.global = ptradd %c, %o inbounds\n"
    "  %x: f32 = load %pa align 4\n"
    "  %y: f32 = load %pb align 4\n"
    "  %s: f32 = fadd %x, %y\n"
    "  store %s, %pc align 4\n"
    "  ret\n"
    "}\n"
    "kernel @scale(%in: ptr.global readonly of f32, %k: f32, %out: ptr.global of f32) {\n"
    "entry:\n"
    "  %i: i64 = global_id 0\n"
    "  %o: i64 = shl %i, 2\n"
    "  %p: ptr.global = ptradd %in, %o inbounds\n"
    "  %q: ptr.global = ptradd %out, %o inbounds\n"
    "  %x: f32 = load %p align 4\n"
    "  %r: f32 = fmul %x, %k\n"
    "  store %r, %q align 4\n"
    "  ret\n"
    "}\n";

/* ------------------------------------------------------------------------- counting allocations */

typedef struct {
    long live, made, fail_at; /* fail_at < 0: never */
    bool alone;               /* the next ones succeed again */
} counter;

static void *count_allocate(void *user, size_t bytes) {
    counter *c = user;
    long n = c->made++;
    if (c->fail_at >= 0 && (c->alone ? n == c->fail_at : n >= c->fail_at)) return NULL;
    c->live++;
    return malloc(bytes);
}

static void count_release(void *user, void *block) {
    counter *c = user;
    if (block) c->live--;
    free(block);
}

static char last_error[512];

static void keep_error(void *user, const spvf_message *m) {
    (void)user;
    if (m->severity == SPVF_ERROR) snprintf(last_error, sizeof last_error, "%s", m->formatted);
}

static spvf_context *counted_context(counter *n) {
    spvf_context_options o = {.size = sizeof o,
                              .allocate = count_allocate,
                              .release = count_release,
                              .alloc_user = n,
                              .message = keep_error};
    spvf_context *c;
    last_error[0] = 0;
    return spvf_context_create(&o, &c) == SPVF_OK ? c : NULL;
}

static spvf_context *plain_context(void) {
    static counter n;
    n = (counter){.fail_at = -1};
    return counted_context(&n);
}

static spvf_module *load(spvf_context *c) {
    spvf_module *m;
    spvf_status s = spvf_module_load(c, "kernels.ir", kernels, sizeof kernels - 1, NULL, &m);
    cr_assert_eq(s, SPVF_OK, "%s", last_error);
    return m;
}

/* -------------------------------------------------------------------------------------- modules */

/* What a value is, where no type has a name. */
Test(api, values_are_described) {
    static const char text[] =
        "target 64\nkernel @k(%a: i8, %b: v3f64, %c: bf16, %d: v4i32, %e: f16) {\n"
        "entry:\n  ret\n}\n";
    static const struct {
        uint32_t numbers;
        bool floating;
        uint64_t size;
    } wanted[] = {{1, false, 1}, {3, true, 32}, {0, false, 2}, {4, false, 16}, {1, true, 2}};
    spvf_context *c = plain_context();
    spvf_module *m;
    cr_assert_eq(spvf_module_load(c, "k.ir", text, sizeof text - 1, NULL, &m), SPVF_OK, "%s",
                 last_error);
    const spvf_kernel_info *k = spvf_module_find_kernel(m, "k");
    cr_assert(k && k->arg_count == 5);
    for (size_t n = 0; n < 5; n++) {
        cr_expect_eq(k->args[n]->numbers, wanted[n].numbers, "%zu", n);
        cr_expect_eq(k->args[n]->floating, wanted[n].floating, "%zu", n);
        cr_expect_eq(k->args[n]->size, wanted[n].size, "%zu", n);
        cr_expect_null(k->args[n]->type_name);
    }
    spvf_module_destroy(m);
    spvf_context_destroy(c);
}

Test(api, kernels_are_described) {
    spvf_context *c = plain_context();
    spvf_module *m = load(c);
    cr_assert_eq(spvf_module_kernel_count(m), 2);
    const spvf_kernel_info *k = spvf_module_find_kernel(m, "scale");
    cr_assert_eq(k->arg_count, 3);
    cr_assert_eq(k->args[0]->kind, SPVF_ARG_BUFFER);
    cr_assert(k->args[0]->read_only && !k->args[2]->read_only);
    cr_assert_eq(k->args[1]->kind, SPVF_ARG_VALUE);
    cr_assert_eq(k->args[1]->size, 4);
    cr_assert_str_eq(k->args[1]->name, "k");
    cr_expect(k->args[1]->numbers == 1 && k->args[1]->floating && !k->args[0]->numbers);
    cr_assert_null(spvf_module_find_kernel(m, "nothing"));
    char name[8] = "scale"; /* memory that is used for another name */
    cr_expect_eq(spvf_module_find_kernel(m, name), k);
    strcpy(name, "vadd");
    cr_expect_str_eq(spvf_module_find_kernel(m, name)->name, "vadd");
    cr_expect_eq(spvf_module_find_kernel(m, k->name), k);
    cr_assert_null(spvf_module_kernel(m, 2));
    spvf_module_destroy(m);
    spvf_context_destroy(c);
}

static void expect_args(const spvf_kernel_info *k, const spvf_arg_info *wanted,
                        const unsigned *which, size_t count) {
    cr_assert_eq(k->arg_count, count);
    for (size_t i = 0; i < count; i++) {
        const spvf_arg_info *a = k->args[i], *w = &wanted[which[i]];
        cr_expect(a->kind == w->kind && a->size == w->size, "%zu", i);
        cr_expect(a->member == w->member && a->closure == w->closure, "%zu", i);
        cr_expect_eq(a->offset, w->offset, "%zu", i);
        cr_expect_eq(a->padding, which[i] >= 2 && which[i] <= 4, "%zu", i);
    }
    cr_assert_eq(k->host_arg_count, 3);
    cr_expect_eq(k->host_args[1]->kind, SPVF_ARG_VALUE);
    cr_expect_eq(k->host_args[1]->size, 24);
}

static void note_argument(void *user, size_t index, const void *bytes) {
    ((const void **)user)[index] = bytes;
}

static void expect_arguments(const spvf_kernel_info *k) {
    const char bytes[24] = "";
    const void *at[6] = {NULL};
    cr_expect_eq(spvf_closure_arguments(k, 1, bytes, 24, note_argument, NULL, at), SPVF_OK);
    cr_expect(!at[0] && !at[5]);
    for (size_t i = 1; i < 5; i++) cr_expect_eq(at[i], bytes + k->args[i]->offset, "%zu", i);
    const spvf_status bad = SPVF_ERROR_ARGUMENT;
    cr_expect_eq(spvf_closure_arguments(NULL, 1, bytes, 24, note_argument, NULL, at), bad);
    cr_expect_eq(spvf_closure_arguments(k, 1, NULL, 24, note_argument, NULL, at), bad);
    cr_expect_eq(spvf_closure_arguments(k, 1, bytes, 24, NULL, NULL, at), bad);
    cr_expect_eq(spvf_closure_arguments(k, 1, bytes, 23, note_argument, NULL, at), bad);
    cr_expect_eq(spvf_closure_arguments(k, 2, bytes, 0, note_argument, NULL, at), bad, "a buffer");
    cr_expect_eq(spvf_closure_arguments(k, 3, bytes, 24, note_argument, NULL, at), bad);
}

Test(api, structs_with_pointers_are_described_by_their_members) {
    static const char text[] = "target 64\n"
                               "kernel @k(%n: i32, %s: ptr.private byval(24) align 8 of {i8, "
                               "ptr.global, f32, i32}, %p: ptr.global) {\n"
                               "entry:\n"
                               "  %0: ptr.private = ptradd %s, 16\n"
                               "  %x: f32 = load %0 align 4\n"
                               "  store %x, %p align 4\n"
                               "  ret\n"
                               "}\n";
    static const spvf_arg_info wanted[] = {
        {.kind = SPVF_ARG_VALUE, .size = 4},
        {.kind = SPVF_ARG_VALUE, .size = 1, .member = true, .closure = 1},
        {.kind = SPVF_ARG_VALUE, .size = 1, .member = true, .closure = 1, .offset = 1},
        {.kind = SPVF_ARG_VALUE, .size = 2, .member = true, .closure = 1, .offset = 2},
        {.kind = SPVF_ARG_VALUE, .size = 4, .member = true, .closure = 1, .offset = 4},
        {.kind = SPVF_ARG_BUFFER, .member = true, .closure = 1, .offset = 8},
        {.kind = SPVF_ARG_VALUE, .size = 4, .member = true, .closure = 1, .offset = 16},
        {.kind = SPVF_ARG_VALUE, .size = 4, .member = true, .closure = 1, .offset = 20},
        {.kind = SPVF_ARG_BUFFER, .closure = 2}};
    static const unsigned with_padding[] = {0, 1, 2, 3, 4, 5, 6, 7, 8},
                          without[] = {0, 1, 5, 6, 7, 8};
    spvf_context *c = plain_context();
    const spvf_module_options o = {.size = sizeof o, .closures = true};
    spvf_module *m;
    cr_assert_eq(spvf_module_load(c, "k.ir", text, sizeof text - 1, &o, &m), SPVF_OK);
    expect_args(spvf_module_kernel(m, 0), wanted, with_padding, 9);
    cr_assert_eq(spvf_module_optimize(m, NULL), SPVF_OK);
    expect_args(spvf_module_kernel(m, 0), wanted, without, 6);
    expect_arguments(spvf_module_kernel(m, 0));
    spvf_module_destroy(m);
    cr_assert_eq(spvf_module_load(c, "k.ir", text, sizeof text - 1, NULL, &m), SPVF_OK);
    const spvf_kernel_info *k = spvf_module_kernel(m, 0);
    cr_expect_eq(k->arg_count, 3);
    cr_expect_eq(k->args, k->host_args);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
}

Test(api, what_is_written_is_read_again) {
    spvf_context *c = plain_context();
    spvf_module *m = load(c), *again;
    const char *targets[] = {"spirv", "spirv:1.0", "spirv:1.4", "ir"};
    for (int i = 0; i < 4; i++) {
        spvf_blob blob;
        cr_assert_eq(spvf_module_emit(m, targets[i], &blob), SPVF_OK, "%s", last_error);
        cr_assert_eq(spvf_module_load(c, targets[i], blob.data, blob.size, NULL, &again), SPVF_OK);
        cr_assert_eq(spvf_module_kernel_count(again), 2);
        spvf_module_destroy(again);
        spvf_blob_destroy(&blob);
    }
    static const char *const wrong[] = {"sparc",          "ptxexact",          "ptx:exact",
                                        "ptx:sm_",        "ptx:sm_75exact",    "ptx,coarsen=3",
                                        "ptx:sm_75wide,", "ptx:sm_4294967371", "cubin:disjoint"};
    for (size_t n = 0; n < sizeof wrong / sizeof *wrong; n++) {
        spvf_blob none;
        cr_expect_eq(spvf_module_emit(m, wrong[n], &none), SPVF_ERROR_ARGUMENT, "%s", wrong[n]);
        cr_assert_null(none.data);
    }
    spvf_module_destroy(m);
    spvf_context_destroy(c);
}

Test(api, foolish_calls_are_refused) {
    spvf_context *c = plain_context();
    spvf_module *m = (spvf_module *)1;
    cr_assert_eq(spvf_module_load(c, "x", "@", 1, NULL, &m), SPVF_ERROR_INPUT);
    cr_assert_null(m);
    cr_assert_eq(spvf_module_load(NULL, "x", "", 0, NULL, &m), SPVF_ERROR_ARGUMENT);
    cr_assert_eq(spvf_module_load(c, "x", NULL, 4, NULL, &m), SPVF_ERROR_ARGUMENT);
    cr_assert_eq(spvf_context_create(NULL, NULL), SPVF_ERROR_ARGUMENT);
    cr_assert_eq(spvf_module_optimize(NULL, NULL), SPVF_ERROR_ARGUMENT);
    spvf_module_destroy(NULL);
    spvf_fusion_destroy(NULL);
    spvf_plan_destroy(NULL);
    spvf_blob_destroy(NULL);
    spvf_context_destroy(NULL);
    spvf_context_destroy(c);
}

/* --------------------------------------------------------------------------------------- fusion */

static spvf_status fuse(spvf_context *c, const spvf_module *m, spvf_fusion **out) {
    spvf_range range = {.dims = 1, .global = {512}, .local = {64}};
    spvf_member members[] = {{m, "vadd", range}, {m, "scale", range}};
    spvf_identity same = {0, 2, 1, 0};
    float k = 3;
    spvf_constant three = {1, 1, &k, sizeof k};
    spvf_fuse_options o = {.size = sizeof o,
                           .members = members,
                           .member_count = 2,
                           .identities = &same,
                           .identity_count = 1,
                           .constants = &three,
                           .constant_count = 1};
    return spvf_fuse(c, &o, out);
}

Test(api, fusion_describes_its_arguments) {
    spvf_context *c = plain_context();
    spvf_module *m = load(c);
    spvf_fusion *f;
    cr_assert_eq(fuse(c, m, &f), SPVF_OK, "%s", last_error);
    const spvf_fusion_info *info = spvf_fusion_get_info(f);
    cr_assert_str_eq(info->name, "vadd_scale");
    cr_assert_eq(info->arg_count, 4);
    cr_assert_str_eq(info->args[2]->info->name, "vadd_c");
    cr_assert_str_eq(info->args[3]->info->name, "scale_out");
    cr_assert_eq(info->param_count, 6);
    cr_assert_eq(info->params[3]->use, SPVF_PARAM_SAME);
    cr_assert_eq(info->params[3]->arg, 2);
    cr_assert_eq(info->params[4]->use, SPVF_PARAM_CONSTANT);
    cr_assert_eq(info->range.global[0], 512);
    cr_assert_eq(info->range.local[0], 64);
    spvf_fusion_destroy(f);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
}

Test(api, fusion_errors_name_their_cause) {
    spvf_context *c = plain_context();
    spvf_module *m = load(c);
    spvf_fusion *f;
    spvf_range range = {.dims = 1, .global = {8}};
    spvf_member none[] = {{m, "nothing", range}}, flat[] = {{m, "vadd", {.dims = 0}}};
    spvf_fuse_options o = {.size = sizeof o, .members = none, .member_count = 1};
    cr_assert_eq(spvf_fuse(c, &o, &f), SPVF_ERROR_ARGUMENT);
    cr_assert_str_eq(last_error, "error: kernels.ir: no kernel 'nothing'");
    o.members = flat;
    cr_assert_eq(spvf_fuse(c, &o, &f), SPVF_ERROR_ARGUMENT);
    cr_assert_str_eq(last_error, "error: member 0: an nd-range has 1 to 3 dimensions");
    o.member_count = 0;
    cr_assert_eq(spvf_fuse(c, &o, &f), SPVF_ERROR_ARGUMENT);
    cr_assert_str_eq(last_error, "error: nothing to fuse");
    cr_assert_null(f);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
}

/* -------------------------------------------------------------------------- allocation failures */

static const char plan_text[] = "buffer a f32[64] = iota\nbuffer b f32[64] = 1.0\n"
                                "buffer t f32[64]\nbuffer o f32[64]\n"
                                "fuse g {\n"
                                "launch \"kernels.ir\":vadd global 64 local 8 args a, b, t\n"
                                "launch \"kernels.ir\":scale global 64 local 8 args t, 2.0, o\n}\n"
                                "fuse h {\n"
                                "launch \"kernels.ir\":vadd global 64 local 8 args a, b, t\n"
                                "launch \"kernels.ir\":scale global 64 local 4 args t, 2.0, o\n}\n"
                                "expect o[0..3] = 2.0, 4.0, 6.0, 8.0\nprint o[3]\n";

/* Uses every part of the library once; true when nothing failed. */
static bool use_everything(spvf_context *c) {
    spvf_module *m = NULL, *again = NULL;
    spvf_fusion *f = NULL;
    spvf_plan *p = NULL;
    spvf_explanation *e = NULL;
    spvf_blob blob = {0};
    bool ok = spvf_module_load(c, "kernels.ir", kernels, sizeof kernels - 1, NULL, &m) == SPVF_OK;
    ok = ok && spvf_module_emit(m, "spirv", &blob) == SPVF_OK;
    ok = ok && spvf_module_load(c, "k.spv", blob.data, blob.size, NULL, &again) == SPVF_OK;
    ok = ok && fuse(c, again, &f) == SPVF_OK;
    ok = ok && spvf_plan_load(c, "p", plan_text, sizeof plan_text - 1, &p) == SPVF_OK;
    ok = ok && spvf_plan_run(p, NULL, NULL) == SPVF_OK;
    ok = ok && spvf_plan_explain(p, 0, &e) == SPVF_OK;
    spvf_explanation_destroy(e);
    e = NULL;
    ok = ok && spvf_plan_explain(p, 1, &e) == SPVF_OK && !e->fused;
    ok = ok && spvf_module_optimize(m, NULL) == SPVF_OK;
    spvf_explanation_destroy(e);
    spvf_plan_destroy(p);
    spvf_fusion_destroy(f);
    spvf_blob_destroy(&blob);
    spvf_module_destroy(again);
    spvf_module_destroy(m);
    return ok;
}

static void write_kernels(void) {
    FILE *f = fopen("kernels.ir", "wb");
    cr_assert_not_null(f);
    fwrite(kernels, 1, sizeof kernels - 1, f);
    fclose(f);
}

/* Allocation n fails, and all that follow do, or not, for each n that there is: then the context
 * still gives back all that it has, and what fails says why.  When a single one fails, it may be
 * made up for. */
static void let_each_fail(bool (*use)(spvf_context *c), bool alone) {
    bool all = false;
    for (long n = 0; !all; n++) {
        counter count = {.fail_at = n, .alone = alone};
        spvf_context *c = counted_context(&count);
        bool done = c && use(c);
        all = count.made <= n;
        cr_assert(all ? done : alone || !done, "allocation %ld of %ld", n, count.made);
        if (c && !done)
            cr_assert(strstr(last_error, "error: out of memory"), "allocation %ld: %s", n,
                      last_error);
        spvf_context_destroy(c);
        cr_assert_eq(count.live, 0, "allocation %ld failed: %ld blocks leaked", n, count.live);
        cr_assert_lt(n, 10000);
    }
}

Test(api, every_allocation_may_fail) {
    char folder[TEMPORARY_NAME];
    cr_assert(enter_temporary_folder(folder), "%s can be made", folder);
    write_kernels();
    let_each_fail(use_everything, false);
    let_each_fail(use_everything, true);
    remove("kernels.ir");
    rmdir(folder);
}

/* Kernels with accesses, control flow and barriers of all forms, as code for several items. */
static bool make_vectors(spvf_context *c) {
    static size_t size;
    static char *shapes;
    spvf_module *m = NULL;
    spvf_blob blob = {0};
    if (!shapes) shapes = read_file("build/tests/shapes.spv", &size);
    cr_assert(shapes, "build/tests/shapes.spv can be read");
    bool ok = spvf_module_load(c, "shapes.spv", shapes, size, NULL, &m) == SPVF_OK &&
              spvf_module_emit(m, "x86_64:v4,simd=8", &blob) == SPVF_OK;
    spvf_blob_destroy(&blob);
    spvf_module_destroy(m);
    return ok;
}

Test(api, every_allocation_for_vectors_may_fail) { let_each_fail(make_vectors, false); }

/* ---------------------------------------------------------------------------------- inspections */

static char shown[1 << 12];

static void keep_stage(void *user, const char *stage, const char *text) {
    (void)user;
    cr_assert(*text, "%s", stage);
    size_t n = strlen(shown);
    snprintf(shown + n, sizeof shown - n, "%s ", stage);
}

static uint64_t count_of(const spvf_context *c, const char *wanted) {
    const char *name, *what;
    for (size_t k = 0; (name = spvf_counter_name(k, &what)) != NULL; k++) {
        cr_assert(strlen(what) > 8, "%s", name);
        if (strcmp(name, wanted) == 0) return spvf_context_counter(c, k);
    }
    cr_assert_fail("there is no counter %s", wanted);
    return 0;
}

/* False: an allocation has failed. */
static bool inspect_native_code(spvf_context *c) {
    spvf_pass_options o = {
        .size = sizeof o, .dump_after = "*", .dump = keep_stage, .stats = true, .time = true};
    spvf_module *m = NULL;
    spvf_blob blob = {0};
    shown[0] = 0;
    bool ok = spvf_context_inspect(c, &o) == SPVF_OK &&
              spvf_module_load(c, "k.ir", kernels, sizeof kernels - 1, NULL, &m) == SPVF_OK &&
              spvf_module_emit(m, "x86_64", &blob) == SPVF_OK;
    if (ok) cr_assert(strstr(shown, "spill assign emit "));
    if (ok) cr_assert_gt(count_of(c, "select.rules"), 0);
    if (ok) ok = spvf_context_inspect(c, NULL) == SPVF_OK;
    if (ok) cr_assert_eq(count_of(c, "select.rules"), 0, "nothing is counted any more");
    spvf_blob_destroy(&blob);
    spvf_module_destroy(m);
    return ok;
}

Test(api, inspections_survive_lack_of_memory) {
    let_each_fail(inspect_native_code, false);
    let_each_fail(inspect_native_code, true);
}

Test(api, inspections_of_what_is_unknown) {
    spvf_context *c = plain_context();
    spvf_pass_options o = {.size = sizeof o, .dump_after = "spil"};
    cr_assert_eq(spvf_context_inspect(c, &o), SPVF_ERROR_ARGUMENT);
    cr_assert(strstr(last_error, "there is no pass or stage 'spil'; the passes are inline, "));
    o = (spvf_pass_options){.size = sizeof o, .stop_after = "*"};
    cr_assert_eq(spvf_context_inspect(c, &o), SPVF_ERROR_ARGUMENT);
    cr_assert_eq(spvf_context_inspect(NULL, &o), SPVF_ERROR_ARGUMENT);
    cr_assert_str_eq(spvf_stage_name(0, NULL), "legalize");
    cr_assert_null(spvf_stage_name(100, NULL));
    cr_assert_null(spvf_counter_name(1000, NULL));
    spvf_context_destroy(c);
}
