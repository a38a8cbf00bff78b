/* explain_code_test.c — what native code does with the loops over work-items of a kernel, as the
 * library tells it: loops, accesses, reasons and places; groups of plans; mistakes; lack of memory.
 *
 * Machines and levels are named, so all machines say the same.
 */
#include "tests/runtime/bench.h"

static const char kernels[] =
    "target 64\nfile \"k.cl\"\nline 10 0 3 9\nline 11 0 4 5\nline 12 0 9 1\n"
    "kernel @scale(%a: ptr.global of i32, %k: i32, %out: ptr.global of i32) {\nentry:\n"
    "  %i: i64 = global_id 0\n  %o: i64 = shl %i, 2\n"
    "  %p: ptr.global = ptradd %a, %o inbounds\n  %r: ptr.global = ptradd %out, %o inbounds\n"
    "  %x: i32 = load %p align 4 !10\n  %z: i32 = mul %x, %k !11\n  store %z, %r align 4 !12\n"
    "  ret\n}\n"
    "kernel @noted(%a: ptr.global of i32) {\nentry:\n"
    "  %i: i64 = global_id 0\n  %o: i64 = shl %i, 2\n"
    "  %p: ptr.global = ptradd %a, %o inbounds\n  store i32 1, %p align 4 volatile !11\n  ret\n}\n"
    "kernel @square(%out: ptr.global of i32) {\nentry:\n"
    "  %i: i64 = global_id 0\n  %j: i64 = global_id 1\n  %n: i64 = shl %j, 6\n"
    "  %s: i64 = add %n, %i\n  %o: i64 = shl %s, 2\n  %r: ptr.global = ptradd %out, %o inbounds\n"
    "  %v: i32 = trunc %i\n  store %v, %r align 4\n  ret\n}\n"
    "kernel @kept(%a: ptr.global of i32, %l: ptr.local of i32) {\nentry:\n"
    "  %i: i64 = global_id 0\n  %j: i64 = local_id 0\n  %o: i64 = shl %i, 2\n"
    "  %k: i64 = shl %j, 2\n  %p: ptr.global = ptradd %a, %o inbounds\n"
    "  %q: ptr.local = ptradd %l, %k inbounds\n  %x: i32 = load %p align 4\n"
    "  store %x, %q align 4\n  barrier workgroup workgroup seq_cst local\n"
    "  %y: i32 = load %q align 4\n  store %y, %p align 4\n  ret\n}\n"
    "kernel @absent(%a: ptr.global of i32) refused \"it has no end\"\n";

static spvf_context *c;
static spvf_module *m;
static spvf_explained_code *code;
static const spvf_range range = {.dims = 1, .global = {1024}, .local = {64}};

static void set_up(void) {
    c = new_context();
    m = load_text(c, kernels);
    code = NULL;
}

static void tear_down(void) {
    spvf_explained_code_destroy(code);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    cr_assert_eq(bytes_held, 0);
}

TestSuite(explain_code, .init = set_up, .fini = tear_down);

static void explain(const char *kernel, const spvf_range *r, const char *target) {
    spvf_explained_code_destroy(code);
    cr_assert_eq(spvf_explain_code(m, kernel, r, target, &code), SPVF_OK, "%s", messages);
    cr_assert_str_eq(messages, "");
    cr_assert_str_eq(code->kernel, kernel);
}

static bool is_at(const char *file, uint32_t line, uint32_t wanted) {
    return file && strcmp(file, "k.cl") == 0 && line == wanted;
}

Test(explain_code, a_loop_and_its_accesses) {
    explain("scale", &range, "x86_64:v3,simd=8");
    cr_assert_str_eq(code->target, "x86_64:v3,simd=8");
    cr_assert(code->range.global[0] == 1024 && code->range.local[0] == 64 && !code->failure);
    cr_assert_eq(code->loop_count, 1);
    const spvf_explained_loop *l = code->loops[0];
    cr_expect(l->lanes == 8 && l->rows == 1 && !l->refusal && !l->refused && l->ratio == 0);
    cr_expect(is_at(l->source_file, l->source_line, 3));
    cr_assert_eq(l->access_count, 2);
    const spvf_lane_access *read = l->accesses[0], *write = l->accesses[1];
    cr_expect(read->reads && !read->writes && write->writes && !write->reads);
    cr_expect(read->form == SPVF_FORM_CONTIGUOUS && write->form == SPVF_FORM_CONTIGUOUS);
    cr_expect(read->arg == 0 && write->arg == 2);
    cr_expect_str_eq(read->memory, "a");
    cr_expect_str_eq(write->memory, "out");
    cr_expect(is_at(read->source_file, read->source_line, 3) && read->source_column == 9);
    cr_expect(is_at(write->source_file, write->source_line, 9));
}

Test(explain_code, widths_that_the_compiler_chooses) {
    explain("scale", &range, "x86_64:v4");
    cr_assert_eq(code->loop_count, 1);
    cr_expect(code->loops[0]->lanes >= 16 && code->loops[0]->ratio > 0 &&
              code->loops[0]->ratio < 0.8);
}

Test(explain_code, a_reason_and_its_place) {
    explain("noted", &range, "x86_64:v4");
    cr_assert_eq(code->loop_count, 1);
    const spvf_explained_loop *l = code->loops[0];
    cr_expect(l->lanes == 1 && l->access_count == 0);
    cr_expect_str_eq(l->refusal, "an access is volatile");
    cr_expect_str_eq(l->refused, "store");
    cr_expect(is_at(l->refused_file, l->refused_line, 4) && l->refused_column == 5);
    char *text = spvf_explained_code_text(code);
    cr_assert(text && strstr(text, "an access is volatile (store in line 4)\n"), "%s", text);
    free(text);
}

Test(explain_code, no_vectors) {
    explain("scale", &range, "x86_64:v4,simd=1");
    cr_expect(code->loop_count == 0 && !code->failure);
    explain("absent", &range, "x86_64:v4");
    cr_assert(code->failure && code->loop_count == 0);
    cr_expect_str_eq(code->failure, "it has no end");
    char *text = spvf_explained_code_text(code);
    cr_assert(text && strstr(text, "\n  none: it has no end\n"), "%s", text);
    free(text);
}

/* Of a range that is not given, the dimensions are those that the kernel asks for. */
Test(explain_code, any_range) {
    explain("scale", NULL, "x86_64:v4");
    cr_expect(code->range.dims == 1 && code->range.global[0] >= 1 << 16 && code->range.local[0]);
    cr_expect_eq(code->loop_count, 1);
    explain("square", NULL, "x86_64:v4");
    cr_expect(code->range.dims == 2 && code->range.global[1] >= 64);
}

/* The context's own inspection shows nothing of it, and goes on after it. */
Test(explain_code, inspections_are_kept) {
    const spvf_pass_options counted = {.size = sizeof counted, .stats = true, .remarks = true};
    const char *name;
    size_t n = 0;
    cr_assert_eq(spvf_context_inspect(c, &counted), SPVF_OK);
    explain("scale", &range, "x86_64:v4");
    while ((name = spvf_counter_name(n, NULL)) != NULL)
        cr_expect_eq(spvf_context_counter(c, n++), 0, "%s", name);
    spvf_blob blob;
    cr_assert_eq(spvf_module_emit(m, "x86_64:v4", &blob), SPVF_OK);
    cr_expect(strstr(messages, "note: @scale.block: a loop runs"), "%s", messages);
    spvf_blob_destroy(&blob);
}

Test(explain_code, mistakes) {
    const spvf_range none = {.dims = 4};
    static const char *const wrong[] = {"", "x86_64:", "x86_64:v9", "x86_64:v4,text", "spirv"};
    cr_expect_eq(spvf_explain_code(NULL, "scale", &range, NULL, &code), SPVF_ERROR_ARGUMENT);
    cr_expect_eq(spvf_explain_code(m, NULL, &range, NULL, &code), SPVF_ERROR_ARGUMENT);
    cr_expect_eq(spvf_explain_code(m, "scale", &range, NULL, NULL), SPVF_ERROR_ARGUMENT);
    cr_expect_eq(spvf_explain_code(m, "scale", &none, NULL, &code), SPVF_ERROR_ARGUMENT);
    cr_expect_eq(spvf_explain_code(m, "other", &range, "x86_64", &code), SPVF_ERROR_ARGUMENT);
    cr_expect(strstr(messages, "error: no kernel @other\n"), "%s", messages);
    for (size_t n = 0; n < sizeof wrong / sizeof *wrong; n++) {
        messages[0] = 0;
        cr_expect_eq(spvf_explain_code(m, "scale", &range, wrong[n], &code), SPVF_ERROR_ARGUMENT);
        cr_expect(strstr(messages, "of native code: x86_64[:v2|"), "%s: %s", wrong[n], messages);
        cr_expect_null(code);
    }
}

/* ---------------------------------------------------------------------------------------- plans */

static const char plan_text[] = "buffer a i32[1024] = iota\nbuffer b i32[1024] = 0\n"
                                "buffer d i32[1024]\nfuse one {\n"
                                "  launch \"k.ir\":scale global 1024 local 64 args a, 3, b\n"
                                "  launch \"k.ir\":scale global 1024 local 64 args b, 4, d\n}\n"
                                "fuse two {\n"
                                "  launch \"k.ir\":scale global 1024 local 64 args a, 3, b\n"
                                "  launch \"k.ir\":scale global 1024 local 64 args a, 3, d\n"
                                "  launch \"k.ir\":noted global 512 local 16 args b\n}\n";

static void explain_group(spvf_plan *p, size_t group, const char *target, spvf_explanation **e) {
    cr_assert_eq(spvf_plan_explain_code(p, group, target, e), SPVF_OK, "%s", messages);
}

/* A fused group has one kernel; of one that is refused, each kernel is there once. */
Test(explain_code, groups_of_plans) {
    spvf_explanation *e;
    in_folder_with(kernels);
    spvf_plan *p = load_plan(c, plan_text);
    explain_group(p, 0, "x86_64:v4,simd=16", &e);
    cr_assert(e->fused && e->code_count == 1);
    cr_expect_str_eq(e->codes[0]->kernel, "one");
    cr_expect(e->codes[0]->loop_count == 1 && e->codes[0]->loops[0]->lanes == 16);
    char *text = spvf_explanation_text(e);
    cr_assert(text &&
              strstr(text,
                     "  code of @one for x86_64:v4,simd=16 on {1024/64}\n"
                     "    made for: local-size, no-offset, small-ids, dimensions, apart, on-lines\n"
                     "    loop at k.cl:3: 16 work-items at a time\n"));
    free(text);
    spvf_explanation_destroy(e);
    explain_group(p, 1, "x86_64:v4", &e);
    cr_assert(!e->fused && e->code_count == 2);
    cr_expect_str_eq(e->codes[0]->kernel, "scale");
    cr_expect_str_eq(e->codes[1]->kernel, "noted");
    cr_expect(e->codes[1]->range.global[0] == 512 && e->codes[1]->range.local[0] == 16);
    spvf_explanation_destroy(e);
    cr_assert_eq(spvf_plan_explain(p, 0, &e), SPVF_OK);
    cr_expect(e->code_count == 0);
    spvf_explanation_destroy(e);
    cr_expect_eq(spvf_plan_explain_code(p, 0, "pdp11", &e), SPVF_ERROR_ARGUMENT);
    cr_expect_eq(spvf_plan_explain_code(p, 0, NULL, NULL), SPVF_ERROR_ARGUMENT);
    cr_expect_null(e);
    spvf_plan_destroy(p);
    leave_folder();
}

/* The code of launches knows sizes of local memory, unless these are more than a group can have. */
Test(explain_code, local_memory_of_launches) {
    static const char *const sizes[] = {"256", "4294967552"};
    in_folder_with(kernels);
    for (int n = 0; n < 2; n++) {
        spvf_explanation *e;
        char text[200];
        snprintf(text, sizeof text,
                 "buffer a i32[64]\nfuse one {\n"
                 "  launch \"k.ir\":kept global 64 local 64 args a, local %s\n"
                 "  launch \"k.ir\":noted global 32 local 32 args a\n}\n",
                 sizes[n]);
        spvf_plan *p = load_plan(c, text);
        explain_group(p, 0, "x86_64:v3", &e);
        cr_assert(!e->fused && e->code_count == 2 && !e->codes[0]->failure, "%s", messages);
        cr_expect_eq(e->codes[0]->facts >> SPVF_FACT_LOCAL_MEMORY & 1, n == 0);
        spvf_explanation_destroy(e);
        spvf_plan_destroy(p);
    }
    leave_folder();
}

/* --------------------------------------------------------------------------------------- memory */

static size_t room; /* allocations that succeed */

static void *hold_some(void *user, size_t bytes) {
    if (!room) return NULL;
    room--;
    return hold(user, bytes);
}

/* Allocations are large, so few are made. */
Test(explain_code, lack_of_memory) {
    spvf_context_options o = {
        .size = sizeof o, .allocate = hold_some, .release = let_go, .message = keep_message};
    spvf_context *small;
    spvf_module *module;
    room = SIZE_MAX;
    cr_assert_eq(spvf_context_create(&o, &small), SPVF_OK);
    cr_assert_eq(spvf_module_load(small, "k.ir", kernels, strlen(kernels), NULL, &module), SPVF_OK);
    spvf_status status = SPVF_ERROR_MEMORY;
    size_t n = 0;
    for (; status != SPVF_OK; n++) {
        room = n;
        status = spvf_explain_code(module, "scale", &range, "x86_64:v4", &code);
        cr_assert(status == SPVF_OK || status == SPVF_ERROR_MEMORY);
        cr_assert(!code == (status != SPVF_OK));
    }
    cr_expect(n > 3);
    spvf_explained_code_destroy(code);
    code = NULL;
    spvf_module_destroy(module);
    spvf_context_destroy(small);
}
