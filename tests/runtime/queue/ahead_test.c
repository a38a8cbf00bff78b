/* ahead_test.c — code of kernels before they are launched, and without that; arguments of fused
 * kernels out of those of their members.
 */
#include "tests/runtime/queue/launches.h"

static uint64_t compiled(const bench *t) { return t->device->shared.base->code.variants; }

static void launch_add(bench *t, spvf_range range) {
    int32_t k = 5;
    const spvf_argument args[] = {
        {.buffer = t->b[1]}, {.buffer = t->b[0]}, {.bytes = &k, .size = sizeof k}};
    spvf_launch what = launch_of(t, "add", args, 3);
    what.range = range;
    cr_assert_eq(spvf_queue_launch(t->q, &what, NULL, NULL), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_queue_finish(t->q), SPVF_OK, "%s", messages);
}

Test(ahead, a_launch_compiles_nothing_any_more) {
    const spvf_range ranges[] = {{.dims = 1, .global = {COUNT}},
                                 {.dims = 1, .global = {COUNT}, .local = {8}},
                                 {.dims = 1, .global = {COUNT - 8}, .offset = {8}}};
    for (size_t n = 0; n < sizeof ranges / sizeof *ranges; n++) {
        bench t;
        begin(&t);
        cr_assert_eq(spvf_program_prepare(t.program, "add", &ranges[n]), SPVF_OK, "%s", messages);
        const uint64_t before = compiled(&t);
        cr_expect_gt(before, 0);
        launch_add(&t, ranges[n]);
        cr_expect_eq(compiled(&t), before, "range %zu", n);
        read_back(&t, t.q, 1);
        cr_expect_eq(t.back[COUNT - 1], COUNT + 4);
        end(&t);
    }
}

Test(ahead, what_makes_no_sense_is_refused) {
    bench t;
    const spvf_range r = {.dims = 1, .global = {COUNT}};
    begin(&t);
    cr_expect_eq(spvf_program_prepare(NULL, "add", &r), SPVF_ERROR_ARGUMENT);
    cr_expect_eq(spvf_program_prepare(t.program, NULL, &r), SPVF_ERROR_ARGUMENT);
    cr_expect_eq(spvf_program_prepare(t.program, "add", NULL), SPVF_ERROR_ARGUMENT);
    cr_expect_eq(spvf_program_prepare(t.program, "nothing", &r), SPVF_ERROR_ARGUMENT);
    static const spvf_range wrong[] = {{.dims = 0, .global = {1}},
                                       {.dims = 4, .global = {1, 1, 1}},
                                       {.dims = 2, .global = {8, 0}},
                                       {.dims = 2, .global = {8, 8}, .local = {8, 0}}};
    for (size_t n = 0; n < sizeof wrong / sizeof *wrong; n++)
        cr_expect_eq(spvf_program_prepare(t.program, "add", &wrong[n]), SPVF_ERROR_ARGUMENT);
    cr_expect(strstr(messages, "spvf_program_prepare: range: a global size is 0"), "%s", messages);
    end(&t);
}

Test(ahead, on_device_check_there_is_nothing_to_do) {
    bench t;
    const spvf_range r = {.dims = 1, .global = {COUNT}};
    const spvf_native_kernel *k;
    begin_with(&t, rt_device_open, "check");
    cr_expect_eq(spvf_program_prepare(t.program, "add", &r), SPVF_OK, "%s", messages);
    cr_expect_eq(spvf_program_native(t.program, "add", &k), SPVF_ERROR_REFUSED);
    cr_expect_null(k);
    cr_expect(strstr(messages, "device check does not run code of this process"), "%s", messages);
    end(&t);
}

static void call_add(const spvf_native_kernel *k, int32_t *out, int32_t *in) {
    int32_t five = 5;
    void *args[] = {out, in, &five};
    cr_assert_eq(k->arg_count, 3);
    spvf_group_info g = {.num_groups = {COUNT / 8, 1, 1},
                         .local_size = {8, 1, 1},
                         .global_size = {COUNT, 1, 1},
                         .work_dim = 1};
    for (; g.group_id[0] < COUNT / 8; g.group_id[0]++) k->run(&g, args);
}

Test(ahead, code_is_called_by_the_program) {
    const char *names[] = {"cpu", "cpu:v2", "cpu:simd=8"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        bench t;
        const spvf_native_kernel *k, *again, *other;
        int32_t in[COUNT], out[COUNT] = {0};
        begin_with(&t, rt_device_open, names[n]);
        cr_assert_eq(spvf_program_native(t.program, "add", &k), SPVF_OK, "%s", messages);
        cr_assert_eq(spvf_program_native(t.program, "add", &again), SPVF_OK);
        cr_assert_eq(spvf_program_native(t.program, "copy", &other), SPVF_OK, "%s", messages);
        cr_expect_eq(k, again);
        cr_expect_neq(k, other);
        cr_expect_str_eq(other->name, "copy");
        for (int i = 0; i < COUNT; i++) in[i] = i;
        call_add(k, out, in);
        for (int i = 0; i < COUNT; i++) cr_assert_eq(out[i], i + 5);
        cr_expect_eq(spvf_program_native(t.program, "nothing", &k), SPVF_ERROR_ARGUMENT);
        cr_expect_null(k);
        cr_expect_eq(spvf_program_native(t.program, "add", NULL), SPVF_ERROR_ARGUMENT);
        cr_expect_eq(spvf_program_native(t.program, NULL, &k), SPVF_ERROR_ARGUMENT);
        cr_expect_eq(spvf_program_native(NULL, "add", &k), SPVF_ERROR_ARGUMENT);
        end(&t);
    }
}

/* ------------------------------------------------------------------- arguments of fused kernels */

/* y = x + k, z = y + k, with the same k, and y internal or not. */
static spvf_fusion *fuse_two(spvf_context *c, const spvf_module *m, bool internal) {
    const spvf_range r = {.dims = 1, .global = {COUNT}, .local = {8}};
    const spvf_member members[] = {{m, "add", r}, {m, "add", r}};
    const spvf_identity same[] = {{0, 0, 1, 1}, {0, 2, 1, 2}};
    const spvf_promotion inside = {.member = 0, .param = 0};
    const spvf_fuse_options o = {.size = sizeof o,
                                 .members = members,
                                 .member_count = 2,
                                 .identities = same,
                                 .identity_count = 2,
                                 .promotions = &inside,
                                 .promotion_count = internal};
    spvf_fusion *f;
    cr_assert_eq(spvf_fuse(c, &o, &f), SPVF_OK, "%s", messages);
    return f;
}

typedef struct {
    int32_t k, other;
    spvf_argument first[3], second[3], fused[4];
    const spvf_argument *members[2];
    size_t counts[2];
} given;

static void give(given *g, const bench *t) {
    *g = (given){.k = 5, .other = 5};
    const spvf_argument first[] = {
        {.buffer = t->b[1]}, {.buffer = t->b[0]}, {.bytes = &g->k, .size = 4}};
    const spvf_argument second[] = {
        {.buffer = t->b[2]}, {.buffer = t->b[1]}, {.bytes = &g->other, .size = 4}};
    memcpy(g->first, first, sizeof first);
    memcpy(g->second, second, sizeof second);
    g->members[0] = g->first;
    g->members[1] = g->second;
    g->counts[0] = g->counts[1] = 3;
}

static void run_fused(bench *t, spvf_fusion *f, const given *g, size_t count) {
    const spvf_fusion_info *info = spvf_fusion_get_info(f);
    spvf_program *p;
    cr_assert_eq(spvf_program_create(t->device, spvf_fusion_module(f), &p), SPVF_OK);
    const spvf_launch what = {.size = sizeof what,
                              .program = p,
                              .kernel = info->name,
                              .range = info->range,
                              .args = g->fused,
                              .arg_count = count};
    cr_assert_eq(spvf_queue_launch(t->q, &what, NULL, NULL), SPVF_OK, "%s", messages);
    read_back(t, t->q, 2);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(t->back[n], n + 10);
    spvf_program_destroy(p);
}

Test(ahead, arguments_of_members_are_those_of_the_fused_kernel) {
    for (int internal = 0; internal < 2; internal++) {
        bench t;
        given g;
        begin(&t);
        spvf_context *c = new_context();
        spvf_module *m = load_text(c, kernels);
        spvf_fusion *f = fuse_two(c, m, internal);
        const size_t count = spvf_fusion_get_info(f)->arg_count;
        cr_assert_eq(count, internal ? 3 : 4);
        give(&g, &t);
        cr_assert_eq(spvf_fusion_arguments(f, g.members, g.counts, g.fused, count), SPVF_OK, "%s",
                     messages);
        run_fused(&t, f, &g, count);
        spvf_fusion_destroy(f);
        spvf_module_destroy(m);
        spvf_context_destroy(c);
        end(&t);
    }
}

Test(ahead, arguments_that_contradict_the_fusion_are_named) {
    bench t;
    given g;
    begin(&t);
    spvf_context *c = new_context();
    spvf_module *m = load_text(c, kernels);
    spvf_fusion *f = fuse_two(c, m, false);
    const size_t n = spvf_fusion_get_info(f)->arg_count;
#define REFUSED(call, words)                                                                       \
    messages[0] = 0;                                                                               \
    cr_expect_eq(call, SPVF_ERROR_ARGUMENT);                                                       \
    cr_expect(strstr(messages, words), "%s", messages)
    give(&g, &t);
    REFUSED(spvf_fusion_arguments(f, NULL, g.counts, g.fused, n), "members is NULL");
    REFUSED(spvf_fusion_arguments(f, g.members, NULL, g.fused, n), "counts is NULL");
    REFUSED(spvf_fusion_arguments(f, g.members, g.counts, NULL, n), "args is NULL");
    REFUSED(spvf_fusion_arguments(f, g.members, g.counts, g.fused, n + 1),
            "takes 4 arguments, not 5");
    g.counts[1] = 2;
    REFUSED(spvf_fusion_arguments(f, g.members, g.counts, g.fused, n),
            "member 1: parameter 2 (k) of 'add' is given no argument");
    g.counts[1] = 4;
    REFUSED(spvf_fusion_arguments(f, g.members, g.counts, g.fused, n),
            "member 1: parameter 2 (k) of 'add' is the last one");
    give(&g, &t);
    g.other = 6;
    REFUSED(spvf_fusion_arguments(f, g.members, g.counts, g.fused, n),
            "member 1: parameter 2 (k) of 'add' is the same as an earlier one");
    give(&g, &t);
    g.second[1].buffer = t.b[3];
    REFUSED(spvf_fusion_arguments(f, g.members, g.counts, g.fused, n), "member 1: parameter 1");
    give(&g, &t);
    g.members[0] = NULL;
    REFUSED(spvf_fusion_arguments(f, g.members, g.counts, g.fused, n), "at NULL");
    cr_expect_eq(spvf_fusion_arguments(NULL, g.members, g.counts, g.fused, n), SPVF_ERROR_ARGUMENT);
    spvf_fusion_destroy(f);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    end(&t);
}
