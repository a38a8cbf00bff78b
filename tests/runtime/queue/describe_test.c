/* describe_test.c — what devices say of their sizes, by name and when they have been opened. */
#include "tests/runtime/queue/launches.h"

typedef struct {
    unsigned calls;
    char name[80], target[80];
    spvf_device_sizes sizes;
    spvf_capabilities can;
} seen;

static void look(void *user, const spvf_device_info *info) {
    seen *s = user;
    s->calls++;
    snprintf(s->name, sizeof s->name, "%s", info->name);
    snprintf(s->target, sizeof s->target, "%s", info->sizes->target ? info->sizes->target : "");
    s->sizes = *info->sizes;
    s->can = *info->can;
}

static seen describe(const char *name) {
    bench t;
    seen s = {0};
    begin_with(&t, rt_device_open, name);
    cr_assert_eq(spvf_device_describe(t.device, look, &s), SPVF_OK, "%s", messages);
    cr_expect_eq(s.calls, 1);
    end(&t);
    return s;
}

Test(describe, an_opened_device_tells_of_its_options) {
    seen s = describe("cpu:v2,simd=4");
    cr_expect_str_eq(s.name, "cpu:v2,simd=4");
    cr_expect_str_eq(s.target, "x86_64:v2,simd=4");
    cr_expect(s.can.host_memory && s.can.lanes);
    cr_expect(!describe("cpu:simd=1").can.lanes);
    s = describe("check");
    cr_expect_str_eq(s.name, "check");
    cr_expect_str_eq(s.target, "");
    cr_expect(!s.can.host_memory);
    cr_expect_eq(s.sizes.parallel, 1);
}

/* A launch of as many work-items in a group runs, and of one more is refused. */
Test(describe, groups_have_the_size_that_is_told) {
    bench t;
    seen s = describe("cpu");
    begin(&t);
    const spvf_range most = {
        .dims = 1, .global = {s.sizes.group_items}, .local = {s.sizes.group_items}};
    const spvf_range more = {
        .dims = 1, .global = {s.sizes.group_items + 1}, .local = {s.sizes.group_items + 1}};
    cr_expect_eq(s.sizes.group_size[0], s.sizes.group_items);
    cr_expect_eq(spvf_program_prepare(t.program, "last", &most), SPVF_OK, "%s", messages);
    cr_expect_neq(spvf_program_prepare(t.program, "last", &more), SPVF_OK);
    end(&t);
}

Test(describe, sizes_are_those_of_the_machine) {
    seen s = describe("cpu");
    cr_expect_gt(s.sizes.memory, 1 << 20);
    cr_expect_geq(s.sizes.parallel, 1);
    cr_expect_geq(s.sizes.vector_bytes, 16);
    cr_expect_str_eq(s.sizes.version, spvf_version_text());
    cr_expect_str_eq(s.target, spvf_feature("native"));
    cr_assert_eq(s.sizes.subgroup_size_count, 7);
    for (size_t n = 0; n < 7; n++) cr_expect_eq(s.sizes.subgroup_sizes[n], 1u << n);
}

Test(describe, what_makes_no_sense_is_refused) {
    bench t;
    begin(&t);
    cr_expect_eq(spvf_device_describe(NULL, look, NULL), SPVF_ERROR_ARGUMENT);
    cr_expect_eq(spvf_device_describe(t.device, NULL, NULL), SPVF_ERROR_ARGUMENT);
    cr_expect(strstr(messages, "spvf_device_describe: answer is NULL"), "%s", messages);
    end(&t);
}
