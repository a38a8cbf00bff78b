/* divide_test.c — explanations of whole plans: the division of launches, addresses as sources write
 * them, summaries, texts of kernels and code, JSON; mistakes; lack of memory.
 */
#include "tests/runtime/bench.h"

#define ADDRESS(of, name) "  %" name ": ptr.global = ptradd %" of ", %o inbounds\n"

static const char kernels[] =
    "target 64\nfile \"k.cl\"\nline 10 0 3 9\nline 11 0 7 5\n"
    "kernel @copy(%a: ptr.global of i32, %b: ptr.global of i32) {\nentry:\n"
    "  %i: i64 = global_id 0\n  %o: i64 = shl %i, 2\n" ADDRESS("a", "p") ADDRESS(
        "b",
        "q") "  %x: i32 = load %p align 4 !10\n  store %x, %q align 4 !10\n  ret\n}\n"
             "kernel @next(%a: ptr.global of i32, %b: ptr.global of i32) {\nentry:\n"
             "  %i: i64 = global_id 0\n  %o: i64 = shl %i, 2\n" ADDRESS("a", "p") ADDRESS(
                 "b",
                 "q") "  %n: ptr.global = ptradd %p, 4 inbounds\n"
                      "  %x: i32 = load %n align 4 !11\n  store %x, %q align 4 !11\n  ret\n}\n"
                      /* a[2*j - i + k - 3], where k is a parameter */
                      "kernel @far(%a: ptr.global of i32, %b: ptr.global of i32, %k: i64) "
                      "{\nentry:\n"
                      "  %i: i64 = global_id 0\n  %o: i64 = shl %i, 2\n  %j: i64 = global_id 1\n"
                      "  %l: i64 = shl %j, 3\n  %m: i64 = sub %l, %o\n  %k4: i64 = shl %k, 2\n"
                      "  %s: i64 = add %m, %k4\n  %t: i64 = add %s, -12\n"
                      "  %p: ptr.global = ptradd %a, %t\n" ADDRESS(
                          "b",
                          "q") "  %x: i32 = load %p align 4\n  store %x, %q align 4\n  ret\n}\n"
                               /* a parameter has the name of the first id, and the offset is no number of elements */
                               "kernel @odd(%a: ptr.global of i32, %i: ptr.global of i32) "
                               "{\nentry:\n"
                               "  %g: i64 = global_id 0\n  %o: i64 = shl %g, 2\n" ADDRESS("a", "p")
                                   ADDRESS("i", "q") "  %n: ptr.global = ptradd %p, 2\n"
                                                     "  %x: i32 = load %n align 2\n  store %x, %q "
                                                     "align 4\n  ret\n}\n";

#define BUFFERS                                                                                    \
    "buffer a i32[1024] = iota\nbuffer b i32[1024]\nbuffer c i32[1024]\nbuffer d i32[1024]\n"
#define LAUNCH(kernel, from, to)                                                                   \
    "launch \"k.ir\":" kernel " global 1024 local 64 args " from ", " to "\n"

static spvf_context *c;
static spvf_plan *p;
static spvf_explained_part *parts;
static size_t count;
static const spvf_explain_options plain = {.size = sizeof plain};
static const spvf_explain_options all = {
    .size = sizeof all, .code = true, .target = "x86_64:v4", .listings = true};

static void set_up(void) {
    c = new_context();
    in_folder_with(kernels);
}

static void tear_down(void) {
    spvf_explained_parts_destroy(parts, count);
    spvf_plan_destroy(p);
    spvf_context_destroy(c);
    leave_folder();
    cr_assert_eq(bytes_held, 0);
}

TestSuite(divide, .init = set_up, .fini = tear_down);

static void divide(const char *text, const spvf_explain_options *o) {
    spvf_explained_parts_destroy(parts, count);
    spvf_plan_destroy(p);
    p = load_plan(c, text);
    cr_assert_eq(spvf_plan_divide(p, o, &parts, &count), SPVF_OK, "%s", messages);
    cr_expect_str_eq(messages, "");
}

static void expect_summary(const char *want) {
    char *text = spvf_explained_parts_summary(parts, count);
    cr_assert_not_null(text);
    cr_expect_str_eq(text, want);
    free(text);
}

/* ------------------------------------------------------------------------------------- division */

/* Groups do not count: the chain ends where an item reads what another work-group writes. */
Test(divide, a_chain_and_its_cut) {
    divide(BUFFERS "fuse one {\n" LAUNCH("copy", "a", "b") "}\n" LAUNCH("copy", "b", "c")
               LAUNCH("next", "c", "d"),
           &plain);
    cr_assert_eq(count, 2);
    cr_expect(parts[0].first == 0 && parts[0].count == 2 && parts[0].explanation->fused);
    cr_expect(parts[1].first == 2 && parts[1].count == 1 &&
              parts[1].explanation->member_count == 1);
    cr_expect(parts[0].explanation->code_count == 0 && !parts[0].explanation->ir);
    cr_assert(parts[0].cut && parts[0].cut->refusal && !parts[1].cut);
    const spvf_dependence *why = &parts[0].cut->refusal->why;
    cr_expect(why->kind == SPVF_DEPENDENCE_GRID && why->second->member == 2);
    cr_expect_str_eq(why->first->source, "b[i]");
    cr_expect_str_eq(why->second->source, "a[i+1]");
    expect_summary(
        "3 launches become 2\n24.6 kB become 20.5 kB: at most 1.20 times as fast\n"
        "the cut is between 2 and 3 (@copy, @next), since line 3 of k.cl writes b[i], and "
        "line 7 reads a[i+1]\n    in another work-group [fuse.grid]\n");
}

Test(divide, nothing_is_moved_over_statements_that_look_at_buffers) {
    divide(BUFFERS LAUNCH("copy", "a", "b") "expect b[1] = 1\n" LAUNCH("copy", "b", "c"), &plain);
    cr_assert_eq(count, 2);
    cr_expect(parts[1].first == 1 && parts[1].count == 1 && !parts[0].cut);
    expect_summary("2 launches: none are fused\n16.4 kB are moved, as before\n"
                   "groups or statements between them keep launches apart, and no access does\n");
    divide(BUFFERS LAUNCH("copy", "a", "b"), &plain);
    expect_summary("1 launch: none are fused\n8.2 kB are moved, as before\n"
                   "nothing keeps launches apart\n");
    divide(BUFFERS, &plain);
    cr_expect_eq(count, 0);
}

Test(divide, internal_buffers_are_promoted) {
    divide("buffer a i32[1024] = iota\nbuffer b i32[1024] internal\nbuffer c i32[1024]\n" LAUNCH(
               "copy", "a", "b") LAUNCH("copy", "b", "c"),
           &plain);
    cr_assert(count == 1 && parts->explanation->buffer_count == 3);
    cr_expect_eq(parts->explanation->buffers[1]->promoted, SPVF_PROMOTED_PRIVATE);
    cr_expect_eq(parts->explanation->fused_bytes, 8192);
}

/* Values that are variable stay arguments, and others are constants. */
Test(divide, variable_values) {
    static const char *const sizes[] = {"5", "variable 5"};
    char text[500];
    for (unsigned k = 0; k < 2; k++) {
        snprintf(text, sizeof text,
                 BUFFERS "launch \"k.ir\":far global 1024 local 64 args a, b, %s\n"
                         "launch \"k.ir\":copy global 1024 local 64 args b, c\n",
                 sizes[k]);
        divide(text, &plain);
        cr_assert(count == 1 && parts->explanation->fused);
        const spvf_param_info *value = parts->explanation->params[2];
        cr_expect_eq(value->use, k ? SPVF_PARAM_USED : SPVF_PARAM_CONSTANT);
    }
}

/* ------------------------------------------------------------------------------------ addresses */

Test(divide, addresses_as_sources_write_them) {
    divide(BUFFERS "launch \"k.ir\":copy global 32 32 local 8 8 args a, b\n"
                   "launch \"k.ir\":far global 32 32 local 8 8 args b, c, 5\n",
           &plain);
    cr_assert(parts->cut && parts->cut->refusal->why.second);
    cr_expect_str_eq(parts->cut->refusal->why.second->source, "a[2*j-i+2]");
    divide(BUFFERS LAUNCH("copy", "a", "b") LAUNCH("odd", "b", "c") LAUNCH("next", "c", "d"),
           &plain);
    cr_assert(parts->cut && parts->cut->refusal->why.second);
    cr_expect_null(parts->cut->refusal->why.second->source);
    divide(BUFFERS LAUNCH("odd", "a", "b") LAUNCH("next", "b", "d"), &plain);
    cr_expect_str_eq(parts->cut->refusal->why.first->source, "i[get_global_id(0)]");
}

/* `body` computes %v, the index of what @read reads of %a, from %i and what %b holds there. */
static void expect_index(const char *body, const char *want) {
    char code[2000], plan[400];
    snprintf(
        code, sizeof code,
        "target 64\nkernel @write(%%a: ptr.global of i32) {\nentry:\n  %%i: i64 = global_id 0\n"
        "  %%o: i64 = shl %%i, 2\n  %%p: ptr.global = ptradd %%a, %%o inbounds\n"
        "  store i32 1, %%p align 4\n  ret\n}\n"
        "kernel @read(%%a: ptr.global of i32, %%b: ptr.global of i32, %%c: ptr.global of i32) {\n"
        "entry:\n  %%i: i64 = global_id 0\n  %%o: i64 = shl %%i, 2\n"
        "  %%q: ptr.global = ptradd %%b, %%o inbounds\n  %%r: ptr.global = ptradd %%c, %%o "
        "inbounds\n"
        "  %%l: i32 = load %%q align 4\n  %%w: i64 = sext %%l\n%s"
        "  %%s: i64 = shl %%v, 2\n  %%p: ptr.global = ptradd %%a, %%s\n"
        "  %%x: i32 = load %%p align 4\n  store %%x, %%r align 4\n  ret\n}\n",
        body);
    write_file("w.ir", code);
    snprintf(plan, sizeof plan,
             BUFFERS "launch \"w.ir\":write global 1024 local 64 args a\n"
                     "launch \"w.ir\":read global 1024 local 64 args a, b, c\n");
    divide(plan, &plain);
    cr_assert(parts->cut && parts->cut->refusal->why.second, "%s", body);
    const char *got = parts->cut->refusal->why.second->source;
    cr_expect_str_eq(got ? got : "nothing", want);
    remove("w.ir");
}

Test(divide, indices_that_are_no_sums) {
    expect_index("  %v: i64 = add %w, 3\n", "a[b[i]+3]");
    expect_index("  %v: i64 = mul %w, %i\n", "a[b[i]*i]");
    expect_index("  %t: i64 = add %i, 64\n  %rem: i64 = and %t, 511\n  %v: i64 = add %rem, 1\n",
                 "a[(i+64)%512+1]");
    expect_index("  %t: i64 = add %i, 64\n  %v: i64 = and %t, 511\n", "a[(i+64)&511]");
    expect_index("  %t: i64 = urem %i, 7\n  %v: i64 = mul %t, 3\n", "a[3*(i%7)]");
    expect_index("  %t: i64 = xor %w, %i\n  %v: i64 = sub %i, %t\n", "a[i-(b[i]^i)]");
    expect_index("  %f: f32 = sitofp %l\n  %v: i64 = fptosi %f\n", "a[v]");
}

/* ---------------------------------------------------------------------------------------- texts */

Test(divide, texts_and_sizes) {
    divide(BUFFERS LAUNCH("copy", "a", "b") LAUNCH("copy", "b", "c"), &all);
    const spvf_explanation *e = parts->explanation;
    cr_assert(count == 1 && e->code_count == 1 && e->ir && e->codes[0]->assembly);
    cr_expect(strstr(e->members[0]->ir, "kernel @copy(") &&
              strstr(e->members[0]->ir, "  ; k.cl:3\n"));
    cr_expect(strstr(e->ir, "kernel @copy_copy("));
    cr_expect(strstr(e->codes[0]->assembly, "copy_copy.block:") &&
              strstr(e->codes[0]->assembly, "    # k.cl:3\n"));
    cr_expect(e->codes[0]->code_bytes > 40 && e->codes[0]->code_bytes < 4096);
    cr_expect(e->codes[0]->general_registers > 2 && e->codes[0]->general_registers <= 16);
    cr_expect(e->codes[0]->vector_registers > 0 && e->codes[0]->vector_registers <= 32);
}

Test(divide, json) {
    divide(BUFFERS LAUNCH("copy", "a", "b") LAUNCH("next", "b", "c"), &all);
    char *text = spvf_explanation_json(parts->cut);
    cr_assert(text && strstr(text, "\"fused\":false") && strstr(text, "\"source\":\"a[i+1]\""));
    cr_expect(strstr(text, "\"rule\":\"fuse.grid\",\"refusal\":true"));
    free(text);
    text = spvf_explanation_json(parts->explanation);
    cr_expect(text && strstr(text, "\"assembly\":\"copy.block:\\u000a"));
    free(text);
    cr_expect_null(spvf_explanation_json(NULL));
    cr_expect_null(spvf_explained_parts_summary(NULL, 1));
}

Test(divide, groups_with_options) {
    spvf_explanation *e;
    p = load_plan(c,
                  BUFFERS "fuse pair {\n" LAUNCH("copy", "a", "b") LAUNCH("next", "b", "c") "}\n");
    cr_assert_eq(spvf_plan_explain_with(p, 0, &all, &e), SPVF_OK);
    cr_expect(!e->fused && e->code_count == 2 && !e->ir && e->members[1]->ir);
    spvf_explanation_destroy(e);
    cr_assert_eq(spvf_plan_explain_with(p, 0, &plain, &e), SPVF_OK);
    cr_expect(e->code_count == 0 && !e->members[1]->ir);
    spvf_explanation_destroy(e);
}

/* ------------------------------------------------------------------------------------- mistakes */

Test(divide, mistakes) {
    spvf_explanation *e;
    const spvf_explain_options unset = {0},
                               wrong = {.size = sizeof wrong, .code = true, .target = "no"};
    p = load_plan(c, BUFFERS "fuse one {\n" LAUNCH("copy", "a", "b") "}\n");
    cr_expect_eq(spvf_plan_divide(NULL, &plain, &parts, &count), SPVF_ERROR_ARGUMENT);
    cr_expect_eq(spvf_plan_divide(p, &plain, NULL, &count), SPVF_ERROR_ARGUMENT);
    cr_expect_eq(spvf_plan_divide(p, &plain, &parts, NULL), SPVF_ERROR_ARGUMENT);
    cr_expect_eq(spvf_plan_divide(p, &unset, &parts, &count), SPVF_ERROR_ARGUMENT);
    cr_expect_eq(spvf_plan_divide(p, &wrong, &parts, &count), SPVF_ERROR_ARGUMENT);
    cr_expect(!parts && count == 0);
    cr_expect_eq(spvf_plan_explain_with(p, 0, &unset, &e), SPVF_ERROR_ARGUMENT);
    cr_expect_eq(spvf_plan_explain_with(p, 1, &plain, &e), SPVF_ERROR_ARGUMENT);
    cr_expect_eq(spvf_plan_explain_with(p, 0, &plain, NULL), SPVF_ERROR_ARGUMENT);
    cr_expect_null(e);
    spvf_plan_destroy(p);
    p = load_plan(c, BUFFERS LAUNCH("absent", "a", "b"));
    cr_expect_eq(spvf_plan_divide(p, &plain, &parts, &count), SPVF_ERROR_INPUT);
    cr_expect(!parts && count == 0);
}

/* --------------------------------------------------------------------------------------- memory */

static size_t room; /* allocations that succeed */

static void *hold_some(void *user, size_t bytes) {
    if (!room) return NULL;
    room--;
    return hold(user, bytes);
}

Test(divide, lack_of_memory) {
    static const char text[] = BUFFERS LAUNCH("copy", "a", "b") LAUNCH("next", "b", "c");
    spvf_context_options o = {
        .size = sizeof o, .allocate = hold_some, .release = let_go, .message = keep_message};
    spvf_context *small;
    spvf_plan *plan;
    spvf_status status = SPVF_ERROR_MEMORY;
    room = SIZE_MAX;
    cr_assert_eq(spvf_context_create(&o, &small), SPVF_OK);
    cr_assert_eq(spvf_plan_load(small, "k.plan", text, strlen(text), &plan), SPVF_OK);
    size_t n = 0;
    for (; status != SPVF_OK; n++) {
        room = n;
        status = spvf_plan_divide(plan, &all, &parts, &count);
        cr_assert(status == SPVF_OK || status == SPVF_ERROR_MEMORY, "%zu: %d", n, (int)status);
        cr_assert((count != 0) == (status == SPVF_OK));
    }
    cr_expect(n > 3);
    spvf_explained_parts_destroy(parts, count);
    parts = NULL;
    count = 0;
    spvf_plan_destroy(plan);
    spvf_context_destroy(small);
}
