/* misuse_test.c — calls that make no sense, and requests that cannot be met: each has its status
 * and its message, and none crashes. */
#include "tests/runtime/bench.h"

static const char kernels[] = "target 64\n"
                              "kernel @put(%p: ptr.global of i32, %v: i32) {\n"
                              "entry:\n"
                              "  store %v, %p align 4\n"
                              "  ret\n"
                              "}\n"
                              "kernel @get(%p: ptr.global of i32, %l: ptr.local of i32) {\n"
                              "entry:\n"
                              "  %v: i32 = load %p align 4\n"
                              "  store %v, %l align 4\n"
                              "  ret\n"
                              "}\n"
                              "kernel @add(%p: ptr.global of i32, %v: i32) {\n"
                              "entry:\n"
                              "  %o: i32 = load %p align 4\n"
                              "  %s: i32 = add %o, %v\n"
                              "  store %s, %p align 4\n"
                              "  ret\n"
                              "}\n";

static spvf_context *c;
static spvf_module *m;
static spvf_member members[2];
static spvf_fuse_options request;

static void set_up(void) {
    spvf_range range = {.dims = 1, .global = {64}, .local = {16}};
    c = new_context();
    m = load_text(c, kernels);
    members[0] = (spvf_member){m, "put", range};
    members[1] = (spvf_member){m, "get", range};
    request = (spvf_fuse_options){
        .size = sizeof request, .members = members, .member_count = 2, .strict = true};
}

static void tear_down(void) {
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    cr_assert_eq(bytes_held, 0);
}

TestSuite(misuse, .init = set_up, .fini = tear_down);

/* Fuses the request; no fusion comes out, and this is said. */
static void expect_failure(spvf_status want, const char *text) {
    spvf_fusion *f = (spvf_fusion *)1;
    messages[0] = 0;
    spvf_status got = spvf_fuse(c, &request, &f);
    cr_expect_eq(got, want, "%s: %s", text, spvf_status_name(got));
    cr_expect_null(f);
    cr_expect_str_eq(messages, text);
}

Test(misuse, lists_at_null) {
    request.identity_count = 1;
    expect_failure(SPVF_ERROR_ARGUMENT, "error: 1 identities at NULL\n");
    request.identity_count = 0;
    request.constant_count = 2;
    expect_failure(SPVF_ERROR_ARGUMENT, "error: 2 constants at NULL\n");
    request.constant_count = 0;
    request.members = NULL;
    expect_failure(SPVF_ERROR_ARGUMENT, "error: 2 members at NULL\n");
    spvf_module_options o = {.size = sizeof o, .spec_count = 1};
    spvf_module *other = (spvf_module *)1;
    cr_assert_eq(spvf_module_load(c, "k", kernels, sizeof kernels - 1, &o, &other),
                 SPVF_ERROR_ARGUMENT);
    cr_assert_null(other);
}

Test(misuse, counts_beyond_32_bits) {
    request.member_count = (UINT64_C(1) << 32) + 2;
    expect_failure(SPVF_ERROR_LIMIT, "error: 4294967298 members are too many\n"
                                     "error: a limit of the library was exceeded\n");
}

Test(misuse, identities_of_what_is_not_there) {
    spvf_identity same = {0, 0, 5, 0};
    request.identities = &same;
    request.identity_count = 1;
    expect_failure(SPVF_ERROR_ARGUMENT, "error: there is no member 5 among 2\n");
    same = (spvf_identity){0, 7, 1, 0};
    expect_failure(SPVF_ERROR_ARGUMENT, "error: member 0: kernel 'put' has 2 parameters, no 7\n");
}

Test(misuse, constants_that_are_none) {
    int value = 3;
    spvf_constant k = {9, 0, &value, sizeof value};
    request.constants = &k;
    request.constant_count = 1;
    expect_failure(SPVF_ERROR_ARGUMENT, "error: there is no member 9 among 2\n");
    k.member = 0;
    expect_failure(SPVF_ERROR_ARGUMENT, "error: member 0: parameter 0 of 'put' takes no value\n");
    k.param = 1;
    k.bytes = NULL;
    expect_failure(SPVF_ERROR_ARGUMENT, "error: member 0: the bytes for parameter 1 are NULL\n");
    k = (spvf_constant){0, 1, &value, 3};
    expect_failure(SPVF_ERROR_ARGUMENT,
                   "error: member 0: parameter 1 of 'put' takes 4 bytes, the constant has 3\n");
}

Test(misuse, barriers_that_are_none) {
    request.barrier = (spvf_barrier)99;
    expect_failure(SPVF_ERROR_ARGUMENT, "error: 99 is no barrier policy\n");
}

Test(misuse, passes_that_are_none) {
    spvf_pass_options o = {.size = sizeof o, .passes = "nope"};
    spvf_fusion *f;
    request.passes = &o;
    cr_assert_eq(spvf_fuse(c, &request, &f), SPVF_ERROR_ARGUMENT);
    cr_assert_eq(spvf_module_optimize(m, &o), SPVF_ERROR_ARGUMENT);
}

Test(misuse, contradictions_are_refusals) {
    members[1].range.local[0] = 32;
    expect_failure(
        SPVF_ERROR_REFUSED,
        "error: not fused: different local sizes: @put {64/16}, @get {64/32} [fuse.request]\n");
}

Test(misuse, more_parameters_than_a_function_can_have) {
    enum { MEMBERS = 300 };
    spvf_member many[MEMBERS];
    spvf_identity same[MEMBERS - 1];
    int value = 1;
    spvf_constant ones[MEMBERS];
    for (uint32_t i = 0; i < MEMBERS; i++) {
        many[i] = members[0];
        many[i].kernel = "add";
        many[i].range = (spvf_range){.dims = 1, .global = {1}};
        ones[i] = (spvf_constant){i, 1, &value, sizeof value};
        if (i) same[i - 1] = (spvf_identity){0, 0, i, 0};
    }
    request = (spvf_fuse_options){.size = sizeof request,
                                  .name = "f",
                                  .members = many,
                                  .member_count = MEMBERS,
                                  .identities = same,
                                  .identity_count = MEMBERS - 1,
                                  .strict = true};
    expect_failure(SPVF_ERROR_REFUSED, "error: not fused: the fused kernel would have 301 "
                                       "parameters, more than 255 [fuse.params]\n");
    request.constants = ones;
    request.constant_count = MEMBERS;
    spvf_fusion *f;
    cr_assert_eq(spvf_fuse(c, &request, &f), SPVF_OK, "%s", messages);
    spvf_fusion_destroy(f);
}

Test(misuse, modules_without_anything) {
    static const char *const blank[] = {"", " \n\t\n"};
    for (int i = 0; i < 2; i++) {
        spvf_module *other;
        messages[0] = 0;
        cr_expect_eq(spvf_module_load(c, "e", blank[i], strlen(blank[i]), NULL, &other),
                     SPVF_ERROR_INPUT);
        cr_expect_str_eq(messages, "e: error: the module is empty\n");
    }
}

Test(misuse, kernels_that_cannot_be_complete) {
    static const char text[] = "target 64\n"
                               "func @far() import\n"
                               "func @near() {\n"
                               "entry:\n"
                               "  call @far()\n"
                               "  call @near()\n"
                               "  ret\n"
                               "}\n"
                               "kernel @k() {\n"
                               "entry:\n"
                               "  call @near()\n"
                               "  ret\n"
                               "}\n"
                               "kernel @l() {\n"
                               "entry:\n"
                               "  call @far()\n"
                               "  ret\n"
                               "}\n";
    spvf_module *bad = load_text(c, text);
    cr_expect_str_eq(spvf_module_find_kernel(bad, "k")->refusal,
                     "it calls 'near' -> 'near': recursion is not supported");
    cr_expect_str_eq(spvf_module_find_kernel(bad, "l")->refusal,
                     "it calls 'far': imported without a definition");
    cr_expect_str_eq(messages, "");
    spvf_module_destroy(bad);
}

/* Those that a kernel reaches, once each, also when it cannot be used. */
Test(misuse, local_memory_is_that_of_the_kernel) {
    static const char text[] = "target 64\n"
                               "@a: local [100 x i8] align 4\n"
                               "@b: local i64 align 8\n"
                               "@c: local [1000 x i8] align 4\n"
                               "func @far() import\n"
                               "func @inner() {\ne:\n  store i64 1, @b align 8\n  ret\n}\n"
                               "func @outer() {\ne:\n  store i32 1, @a align 4\n"
                               "  call @inner()\n  call @inner()\n  ret\n}\n"
                               "func @none() {\ne:\n  ret\n}\n"
                               "kernel @both() {\ne:\n  call @outer()\n  call @inner()\n  ret\n}\n"
                               "kernel @one() {\ne:\n  call @none()\n  store i32 1, @c align 4\n"
                               "  ret\n}\n"
                               "kernel @refused() {\ne:\n  call @far()\n  call @inner()\n  ret\n}\n"
                               "kernel @nothing() {\ne:\n  call @none()\n  ret\n}\n";
    spvf_module *k = load_text(c, text);
    cr_expect_eq(spvf_module_find_kernel(k, "both")->local_memory, 108);
    cr_expect_eq(spvf_module_find_kernel(k, "one")->local_memory, 1000);
    cr_expect_eq(spvf_module_find_kernel(k, "refused")->local_memory, 8);
    cr_expect_str_eq(spvf_module_find_kernel(k, "refused")->refusal,
                     "it calls 'far': imported without a definition");
    cr_expect_eq(spvf_module_find_kernel(k, "nothing")->local_memory, 0);
    spvf_module_destroy(k);
}

Test(misuse, the_source_language_survives) {
    static const char text[] = "target 64\nsource 3 102000\nkernel @k() {\nentry:\n  ret\n}\n";
    spvf_module *from = load_text(c, text);
    members[0] = (spvf_member){from, "k", members[0].range};
    request.member_count = 1;
    spvf_fusion *f;
    spvf_blob blob;
    cr_assert_eq(spvf_fuse(c, &request, &f), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_module_emit(spvf_fusion_module(f), "ir", &blob), SPVF_OK);
    cr_expect_not_null(strstr(blob.data, "source 3 102000\n"));
    spvf_blob_destroy(&blob);
    spvf_fusion_destroy(f);
    spvf_module_destroy(from);
}

/* A call that is told of, in that many words. */
static void expect_refusal(spvf_status got, const char *text) {
    cr_expect_eq(got, SPVF_ERROR_ARGUMENT, "%s: %s", text, spvf_status_name(got));
    cr_expect_str_eq(messages, text);
    messages[0] = 0;
}

static void ignore_device(void *user, const spvf_device_info *info) { (void)user, (void)info; }
static void ignore_cache(void *user, const spvf_cache_info *info) { (void)user, (void)info; }

Test(misuse, modules_at_null) {
    const spvf_module_options no_size = {.spec_count = 1}, no_specs = {sizeof no_specs, NULL, 1};
    const spvf_pass_options no_passes = {.verify_each = true};
    spvf_module *other = NULL;
    spvf_blob blob;
    spvf_spec_value spec;
    messages[0] = 0;
    expect_refusal(spvf_module_load(NULL, "k", kernels, 1, NULL, &other), "");
    expect_refusal(spvf_module_load(c, "k", NULL, 1, NULL, &other),
                   "error: spvf_module_load: bytes is NULL\n");
    expect_refusal(spvf_module_load(c, "k", kernels, 1, NULL, NULL),
                   "error: spvf_module_load: out is NULL\n");
    expect_refusal(spvf_module_load(c, "k", kernels, 1, &no_size, &other),
                   "error: spvf_module_load: options: size is 0, not that of the struct\n");
    expect_refusal(spvf_module_load(c, "k", kernels, 1, &no_specs, &other),
                   "error: spvf_module_load: 1 specs at NULL\n");
    expect_refusal(spvf_module_optimize(NULL, NULL), "");
    expect_refusal(spvf_module_optimize(m, &no_passes),
                   "error: spvf_module_optimize: options: size is 0, not that of the struct\n");
    expect_refusal(spvf_module_emit(NULL, "ir", &blob), "");
    expect_refusal(spvf_module_emit(m, NULL, &blob), "error: spvf_module_emit: target is NULL\n");
    expect_refusal(spvf_module_emit(m, "ir", NULL), "error: spvf_module_emit: out is NULL\n");
    expect_refusal(spvf_module_spec(m, 0, &spec, NULL),
                   "error: spvf_module_spec: there is no constant 0 among 0\n");
    expect_refusal(spvf_module_spec(m, 0, NULL, NULL), "error: spvf_module_spec: value is NULL\n");
}

Test(misuse, fusions_at_null) {
    const spvf_fuse_options no_size = {.members = members, .member_count = 2};
    spvf_fusion *f;
    spvf_explanation *e;
    messages[0] = 0;
    expect_refusal(spvf_fuse(NULL, &request, &f), "");
    expect_refusal(spvf_fuse(c, NULL, &f), "error: spvf_fuse: options is NULL\n");
    expect_refusal(spvf_fuse(c, &request, NULL), "error: spvf_fuse: out is NULL\n");
    expect_refusal(spvf_fuse(c, &no_size, &f),
                   "error: spvf_fuse: options: size is 0, not that of the struct\n");
    expect_refusal(spvf_explain(NULL, &request, &e), "");
    expect_refusal(spvf_explain(c, NULL, &e), "error: spvf_explain: options is NULL\n");
    expect_refusal(spvf_explain(c, &request, NULL), "error: spvf_explain: out is NULL\n");
}

Test(misuse, plans_and_devices_at_null) {
    const spvf_run_options no_size = {.unfused = true};
    const spvf_range range = {.dims = 1, .global = {64}}, none = {.dims = 4};
    uint64_t local[3];
    spvf_plan *p;
    spvf_fusion *f;
    spvf_explanation *e;
    messages[0] = 0;
    expect_refusal(spvf_plan_load(NULL, "p", "", 0, &p), "");
    expect_refusal(spvf_plan_load(c, "p", NULL, 1, &p), "error: spvf_plan_load: text is NULL\n");
    expect_refusal(spvf_plan_load(c, "p", "", 0, NULL), "error: spvf_plan_load: out is NULL\n");
    p = load_plan(c, "");
    expect_refusal(spvf_plan_run(NULL, NULL, NULL), "");
    expect_refusal(spvf_plan_run(p, &no_size, NULL),
                   "error: spvf_plan_run: options: size is 0, not that of the struct\n");
    expect_refusal(spvf_plan_fuse(p, 2, &f),
                   "error: spvf_plan_fuse: the plan has 0 groups, no 2\n");
    expect_refusal(spvf_plan_fuse(p, 0, NULL), "error: spvf_plan_fuse: out is NULL\n");
    expect_refusal(spvf_plan_explain(p, 0, &e),
                   "error: spvf_plan_explain: the plan has 0 groups, no 0\n");
    expect_refusal(spvf_plan_explain(p, 0, NULL), "error: spvf_plan_explain: out is NULL\n");
    spvf_plan_destroy(p);
    expect_refusal(spvf_devices(NULL, ignore_device, NULL), "");
    expect_refusal(spvf_devices(c, NULL, NULL), "error: spvf_devices: each is NULL\n");
    expect_refusal(spvf_cpu_local_size(m, NULL, &range, local),
                   "error: spvf_cpu_local_size: kernel is NULL\n");
    expect_refusal(spvf_cpu_local_size(m, "put", NULL, local),
                   "error: spvf_cpu_local_size: range is NULL\n");
    expect_refusal(spvf_cpu_local_size(m, "put", &range, NULL),
                   "error: spvf_cpu_local_size: local is NULL\n");
    expect_refusal(spvf_cpu_local_size(m, "put", &none, local),
                   "error: spvf_cpu_local_size: range: 1 to 3 dimensions, not 4\n");
    expect_refusal(spvf_cache(c, SPVF_CACHE_STATS, NULL, NULL),
                   "error: spvf_cache: answer is NULL\n");
    expect_refusal(spvf_cache(c, (spvf_cache_action)9, ignore_cache, NULL),
                   "error: spvf_cache: 9 is no action\n");
}
