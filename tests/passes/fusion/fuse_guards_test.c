/* fuse_guards_test.c — fusion of kernels: members that run on a part of the items, and what bodies
 * and modules share. */
#include "tests/passes/fusion/fusing.h"

/* --------------------------------------------------------------------------------------- guards */

Test(fuse, guards_by_item) {
    ir_module *m = parse(add_mul);
    const pass_fuse_member members[] = {member(m, "add", "10"), member(m, "mul", "20"),
                                        member(m, "add", "30")};
    const pass_fuse_request q = {.name = "g", .members = members, .nmembers = 3};
    const uint64_t args[][8] = {{1024, 2048, 3072}, {3072, 4096, 5120}, {5120, 6144, 7168}};
    assert_fuses(&q);
    assert_has(fused_text(), "ult %0, i64 10");
    assert_has(fused_text(), "i64 20");
    assert_same_result(&q, args);
}

Test(fuse, guards_with_offset) {
    ir_module *m = parse(add_mul);
    const pass_fuse_member members[] = {member(m, "add", "10+5"), member(m, "mul", "30+5")};
    const pass_fuse_request q = {.name = "g", .members = members, .nmembers = 2};
    const uint64_t args[][8] = {{1024, 2048, 3072}, {3072, 4096, 5120}};
    assert_fuses(&q);
    assert_has(fused_text(), "i64 15");
    assert_same_result(&q, args);
}

/* A group that is inside or outside as a whole may wait, ask for sizes and use local memory. */
static const char reverse[] =
    "@tile: local [16 x i32] align 4\n"
    "kernel @reverse(%x: ptr.global, %s: ptr.global) {\nentry:\n" INDEX
    "  %l: i64 = local_id 0\n  %n: i64 = local_size 0\n  %g: i64 = num_groups 0\n"
    "  %all: i64 = global_size 0\n  %d: i32 = work_dim\n"
    "  %p: ptr.global = ptradd %x, %o\n  %a: i32 = load %p align 4\n  %lo: i64 = shl %l, 2\n"
    "  %t: ptr.local = ptradd @tile, %lo\n  store %a, %t align 4\n"
    "  barrier workgroup workgroup seq_cst local\n"
    "  %m: i64 = sub %n, 1\n  %r: i64 = sub %m, %l\n  %ro: i64 = shl %r, 2\n"
    "  %u: ptr.local = ptradd @tile, %ro\n  %b: i32 = load %u align 4\n  store %b, %p align 4\n"
    "  %q: ptr.global = ptradd %s, %o\n  %g32: i32 = trunc %g\n  %all32: i32 = trunc %all\n"
    "  %e: i32 = mul %g32, %all32\n  %f: i32 = add %e, %d\n  store %f, %q align 4\n  ret\n}\n";

Test(fuse, whole_groups) {
    ir_module *m = parse(reverse);
    const pass_fuse_member members[] = {member(m, "reverse", "64/16"),
                                        member(m, "reverse", "32/16"),
                                        member(m, "reverse", "16,1/16,1")};
    const pass_fuse_request q = {.name = "g", .members = members, .nmembers = 3};
    const uint64_t args[][8] = {{1024, 2048}, {1024, 3072}, {1024, 4096}};
    assert_fuses(&q);
    assert_has(fused_text(), "group_id 0");
    assert_lacks(fused_text(), "global_linear_id");
    assert_same_result(&q, args);
}

Test(fuse, whole_groups_in_two_dimensions) {
    ir_module *m = parse(add_mul);
    const pass_fuse_member members[] = {member(m, "add", "8,8/4,2"), member(m, "mul", "8,4/4,2")};
    const pass_fuse_request q = {.name = "g", .members = members, .nmembers = 2};
    assert_fuses(&q);
    assert_has(fused_text(), "group_id 1");
    assert_has(fused_text(), "i64 2");
}

/* Adds what another group has written before. */
static const char fold[] = "kernel @fold(%x: ptr.global, %y: ptr.global) {\nentry:\n" INDEX
                           "  %p: ptr.global = ptradd %x, %o\n  %a: i32 = load %p align 4\n"
                           "  %n: i64 = global_size 0\n  %no: i64 = shl %n, 2\n"
                           "  %q: ptr.global = ptradd %p, %no\n  %b: i32 = load %q align 4\n"
                           "  %s: i32 = add %a, %b\n  store %s, %p align 4\n  ret\n}\n";

Test(fuse, phases_that_cannot_tell_their_groups_are_guarded_by_item) {
    ir_module *m = parse(fold);
    const pass_fuse_member members[] = {member(m, "fold", "64/16"), member(m, "fold", "32/16")};
    const pass_identity same = {0, 0, 1, 0};
    const pass_fuse_request q = {.name = "g",
                                 .members = members,
                                 .nmembers = 2,
                                 .identities = &same,
                                 .nidentities = 1,
                                 .phases = true};
    assert_fuses(&q);
    assert_has(fused_text(), "barrier device");
    assert_has(fused_text(), "ult %0, i64 32");
    assert_lacks(fused_text(), "group_id");
}

Test(fuse, partial_groups_are_refused_to_a_body_that_waits) {
    ir_module *m = parse(reverse);
    const pass_fuse_member part[] = {member(m, "reverse", "64/16"), member(m, "reverse", "40")};
    assert_refused(&(pass_fuse_request){.members = part, .nmembers = 2}, "fuse.partial-group",
                   "@reverse uses local_size, but runs on {40}");
    const pass_fuse_member unknown[] = {member(m, "reverse", "64"), member(m, "reverse", "32")};
    assert_refused(&(pass_fuse_request){.members = unknown, .nmembers = 2}, "fuse.partial-group",
                   "@reverse uses");
}

Test(fuse, remapped_members_work_alone) {
    ir_module *m = parse("kernel @k() {\ne:\n barrier workgroup workgroup seq_cst local\n ret\n}\n"
                         "kernel @plain() {\ne:\n ret\n}\n");
    const pass_fuse_member members[] = {member(m, "k", "20"), member(m, "plain", "10,10")};
    assert_refused(&(pass_fuse_request){.members = members, .nmembers = 2}, "fuse.remap-group",
                   "the ids of @k have to be remapped, from {20} to {10,10}, but it works as a "
                   "group: barrier");
}

Test(fuse, prefix_of_another_shape_needs_no_remapping) {
    ir_module *m = parse(add_mul);
    const pass_fuse_member members[] = {member(m, "add", "10"), member(m, "mul", "10,3")};
    const pass_fuse_request q = {.name = "g", .members = members, .nmembers = 2};
    const uint64_t args[][8] = {{1024, 2048, 3072}, {3072, 4096, 5120}};
    assert_fuses(&q);
    assert_same_result(&q, args);
}

/* -------------------------------------------------------------------------------- shared things */

static const char with_table[] =
    "@tab: const [4 x i32] align 4 = {5, 6, 7, 8}\n"
    "@tile: local [16 x i32] align 4\n"
    "kernel @k(%x: ptr.global) {\nentry:\n" INDEX
    "  %w: i64 = and %o, 12\n  %p: ptr.const = ptradd @tab, %w\n  %a: i32 = load %p align 4\n"
    "  %q: ptr.global = ptradd %x, %o\n  %b: i32 = load %q align 4\n  %c: i32 = add %a, %b\n"
    "  %l: i64 = local_id 0\n  %m: i64 = shl %l, 2\n  %t: ptr.local = ptradd @tile, %m\n"
    "  store %c, %t align 4\n  %d: i32 = load %t align 4\n  store %d, %q align 4\n  ret\n}\n";

static unsigned count_globals(const ir_module *m, ir_space space) {
    unsigned n = 0;
    foreach_global (g, m) n += g->space == space;
    return n;
}

Test(fuse, local_variables_are_split_and_constants_shared) {
    ir_module *m = parse(with_table);
    const pass_fuse_member members[] = {member(m, "k", "32/16"), member(m, "k", "32/16"),
                                        member(m, "k", "32/16")};
    const pass_fuse_request q = {.name = "f", .members = members, .nmembers = 3};
    const uint64_t args[][8] = {{1024}, {1024}, {2048}};
    assert_fuses(&q);
    cr_assert_eq(count_globals(fused.module, IR_LOCAL), 3);
    cr_assert_eq(count_globals(fused.module, IR_CONST), 1);
    assert_same_result(&q, args);
}

Test(fuse, into_the_module_of_the_kernels) {
    ir_module *m = parse(with_table);
    const pass_fuse_member members[] = {member(m, "k", "32/16"), member(m, "k", "32/16")};
    pass_fuse_request q = {.name = "f", .members = members, .nmembers = 2, .into = m};
    const uint64_t args[][8] = {{1024}, {2048}};
    assert_fuses(&q);
    cr_assert_eq(fused.module, m);
    cr_assert_eq(count_globals(m, IR_LOCAL), 2);
    cr_assert_eq(count_globals(m, IR_CONST), 1);
    assert_same_result(&q, args);
    fused.module = NULL;
    q.name = "k";
    assert_error(&q, "there is already a @k in ");
}

Test(fuse, variables_of_the_program_stay_with_it) {
    ir_module *m = parse("@count: global i32 align 4\nkernel @k() {\ne:\n"
                         "  store i32 1, @count align 4\n  ret\n}\n");
    const pass_fuse_member one = member(m, "k", "4");
    pass_fuse_request q = {.name = "f", .members = &one, .nmembers = 1};
    assert_refused(&q, "fuse.program-variable", "@k uses @count");
    q.into = m;
    assert_fuses(&q);
    cr_assert_eq(count_globals(m, IR_GLOBAL), 1);
    fused.module = NULL;
}

Test(fuse, what_one_member_prints_comes_before_what_the_next_prints) {
    ir_module *m = parse("kernel @say() {\ne:\n  %r: i32 = printf \"hi\"\n  ret\n}\n"
                         "kernel @quiet() {\ne:\n  ret\n}\n");
    const pass_fuse_member members[] = {member(m, "say", "4"), member(m, "quiet", "4"),
                                        member(m, "say", "4")};
    pass_fuse_request q = {.name = "f", .members = members, .nmembers = 2};
    assert_fuses(&q);
    ir_module_free(fused.module);
    q.nmembers = 3;
    assert_refused(&q, "fuse.printf", "@say and @say print");
    q.force = true;
    assert_fuses(&q);
}

Test(fuse, kernels_of_several_modules) {
    ir_module *m = parse(with_table), *n = parse(add_mul), *o = parse(with_table);
    const pass_fuse_member members[] = {member(m, "k", "32/16"), member(n, "add", "32/16"),
                                        member(o, "k", "32/16")};
    const pass_fuse_request q = {.name = "f", .members = members, .nmembers = 3};
    const uint64_t args[][8] = {{1024}, {1024, 2048, 3072}, {3072}};
    assert_fuses(&q);
    cr_assert_str_eq(fused.args[4].name, "k_x_1", "the same name from another module");
    assert_same_result(&q, args);
    cr_assert_eq(count_globals(fused.module, IR_LOCAL), 2);
}

Test(fuse, same_request_same_text) {
    ir_module *m = parse(with_table);
    const pass_fuse_member members[] = {member(m, "k", "32/16"), member(m, "k", "16/16")};
    const pass_fuse_request q = {.name = "f", .members = members, .nmembers = 2};
    assert_fuses(&q);
    const char *first = fused_text();
    ir_module_free(fused.module);
    assert_fuses(&q);
    cr_assert_str_eq(first, fused_text());
}
