/* fuse_shared_test.c — groups that share many arguments, or one argument among many members. */
#include "tests/passes/fusion/fusing.h"

enum { MEMBERS = 5, BUFFERS = 130 };

/* @bump adds one to each element of %x; @blind stores to an address that is a number. */
static const char kernels[] =
    "kernel @bump(%x: ptr.global) {\n"
    "e:\n"
    " %g: i64 = global_id 0\n %o: i64 = shl %g, 2\n %p: ptr.global = ptradd %x, %o\n"
    " %v: i32 = load %p align 4\n %w: i32 = add %v, 1\n store %w, %p align 4\n ret\n"
    "}\n"
    "kernel @blind(%x: i64) {\n"
    "e:\n"
    " %p: ptr.global = inttoptr %x\n store i32 1, %p align 4\n ret\n"
    "}\n";

/* Members 0 to 4 with @bump, but one with @blind; those of @bump share %x. */
static pass_fuse_request request_with_blind(ir_module *m, uint32_t blind,
                                            pass_fuse_member members[MEMBERS],
                                            pass_identity same[MEMBERS]) {
    uint32_t n = 0, first = blind == 0;
    for (uint32_t k = 0; k < MEMBERS; k++) {
        members[k] = member(m, k == blind ? "blind" : "bump", "64/16");
        if (k != blind && k != first) same[n++] = (pass_identity){first, 0, k, 0};
    }
    return (pass_fuse_request){
        .name = "f", .members = members, .nmembers = MEMBERS, .identities = same, .nidentities = n};
}

Test(fuse, an_unknown_place_meets_a_shared_argument) {
    pass_fuse_member members[MEMBERS];
    pass_identity same[MEMBERS];
    ir_module *m = parse(kernels);
    for (uint32_t blind = 0; blind < MEMBERS; blind++) {
        pass_fuse_request q = request_with_blind(m, blind, members, same);
        fused = (pass_fuse_result){0};
        assert_refused(&q, "fuse.unknown", "not proved to be independent");
    }
}

Test(fuse, a_shared_argument_of_which_each_item_has_its_bytes) {
    pass_fuse_member members[MEMBERS];
    pass_identity same[MEMBERS];
    pass_fuse_request q = request_with_blind(parse(kernels), MEMBERS, members, same);
    assert_fuses(&q);
    cr_assert(has_decision("fuse.no-barrier"));
    cr_assert_eq(fused.buffers[0].dependence.kind, PASS_DEP_ITEM);
    for (uint32_t gap = 0; gap + 1 < MEMBERS; gap++) {
        cr_assert_eq(fused.gaps[gap].why.kind, PASS_DEP_ITEM);
        cr_assert_eq(fused.gaps[gap].why.first->member, gap);
        cr_assert_eq(fused.gaps[gap].why.second->member, gap + 1);
    }
}

/* A kernel that adds one to an element of each of its buffers. */
static const char *kernel_of_many(void) {
    ir_text t = {.arena = &arena};
    ir_put(&t, "kernel @many(");
    for (int k = 0; k < BUFFERS; k++) ir_putf(&t, "%s%%x%d: ptr.global", k ? ", " : "", k);
    ir_put(&t, ") {\ne:\n %g: i64 = global_id 0\n %o: i64 = shl %g, 2\n");
    for (int k = 0; k < BUFFERS; k++)
        ir_putf(&t,
                " %%p%d: ptr.global = ptradd %%x%d, %%o\n %%v%d: i32 = load %%p%d align 4\n"
                " %%w%d: i32 = add %%v%d, 1\n store %%w%d, %%p%d align 4\n",
                k, k, k, k, k, k, k, k);
    ir_put(&t, " ret\n}\n");
    return t.data;
}

/* The accesses of one member are compared with those of another that go to the same buffer. */
Test(fuse, many_buffers) {
    pass_identity same[BUFFERS];
    ir_module *m = parse(kernel_of_many());
    const pass_fuse_member one = member(m, "many", "64/16");
    const pass_fuse_member members[] = {one, one};
    for (uint32_t k = 0; k < BUFFERS; k++) same[k] = (pass_identity){0, k, 1, k};
    pass_fuse_request q = {
        .name = "f", .members = members, .nmembers = 2, .identities = same, .nidentities = BUFFERS};
    assert_fuses(&q);
    cr_assert_eq(fused.nargs, BUFFERS);
    cr_assert(has_decision("fuse.no-barrier"));
}
