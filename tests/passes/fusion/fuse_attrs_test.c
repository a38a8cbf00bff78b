/* fuse_attrs_test.c — fusion of kernels: attributes, kernels that cannot be members, and calls. */
#include "tests/passes/fusion/fusing.h"

/* ----------------------------------------------------------------------------------- attributes */

static ir_func *mutable_kernel(ir_module *m, const char *name) { return ir_func_find(m, name); }

Test(fuse, attributes_merge) {
    ir_module *m = parse(three);
    ir_func *a = mutable_kernel(m, "a"), *b = mutable_kernel(m, "b");
    const pass_fuse_member members[] = {member(m, "a", "8"), member(m, "b", "8")};
    const pass_fuse_request q = {.name = "f", .members = members, .nmembers = 2};
    a->attrs = (ir_kernel_attrs){.local_size = {4, 1, 1}, .hint = {8, 1, 1}, .subgroup_size = 4};
    b->attrs = (ir_kernel_attrs){.hint = {4, 1, 1}, .has_vec_hint = true, .vec_hint = 3};
    b->flags |= IR_FUNC_CONTRACTION_OFF;
    assert_fuses(&q);
    const ir_kernel_attrs *merged = &fused.kernel->attrs;
    cr_assert_eq(merged->local_size[0], 4);
    cr_assert(fused.range.local[0] == 4, "required is explicit");
    cr_assert_eq(merged->hint[0], 0, "different hints are dropped");
    cr_assert(has_decision("fuse.hint"));
    cr_assert_eq(merged->vec_hint, 3);
    cr_assert_eq(merged->subgroup_size, 4);
    cr_assert(fused.kernel->flags & IR_FUNC_CONTRACTION_OFF);
}

Test(fuse, attributes_that_contradict) {
    ir_module *m = parse(three);
    ir_func *a = mutable_kernel(m, "a"), *b = mutable_kernel(m, "b");
    const pass_fuse_member members[] = {member(m, "a", "8"), member(m, "b", "8")};
    const pass_fuse_request q = {.name = "f", .members = members, .nmembers = 2};
    a->attrs.local_size[0] = a->attrs.local_size[1] = a->attrs.local_size[2] = 1;
    b->attrs = a->attrs;
    b->attrs.local_size[0] = 2;
    assert_error(&q, "required work-group sizes differ: @b 2,1,1, before it 1,1,1");
    message[0] = 0;
    a->attrs = b->attrs = (ir_kernel_attrs){.subgroup_size = 8};
    b->attrs.subgroup_size = 16;
    assert_error(&q, "required sub-group sizes differ: @b 16, before it 8");
    message[0] = 0;
    a->attrs = b->attrs = (ir_kernel_attrs){0};
    b->attrs.float_controls[1] = IR_FC_DENORM_FLUSH;
    assert_error(&q, "float controls of f32 differ: @a, @b");
    message[0] = 0;
    a->attrs = b->attrs = (ir_kernel_attrs){.local_size = {4, 2, 1}};
    assert_error(&q, "@a requires work-groups of 4,2,1: {8}");
}

Test(fuse, what_cannot_be_a_member) {
    ir_module *m = parse("func @f() {\ne:\n  ret\n}\nkernel @k() refused \"it has a pipe\"\n");
    ir_module *n = parse("target 32\nkernel @a() {\ne:\n  ret\n}\n"), *o = parse(three);
    const pass_fuse_member func = member(m, "f", "8"), empty = member(m, "k", "8");
    const pass_fuse_member mixed[] = {member(o, "a", "8"), member(n, "a", "8")};
    assert_error(&(pass_fuse_request){.members = &func, .nmembers = 1}, "@f is not a kernel");
    message[0] = 0;
    assert_error(&(pass_fuse_request){.members = &empty, .nmembers = 1},
                 "@k has no body: it has a pipe");
    message[0] = 0;
    assert_error(&(pass_fuse_request){.members = mixed, .nmembers = 2},
                 "@a has pointers of 32 bits, the fused kernel of 64");
    message[0] = 0;
    const pass_fuse_member large = member(n, "a", "4294967296");
    assert_error(&(pass_fuse_request){.members = &large, .nmembers = 1},
                 "too many work-items for 32-bit ids");
}

/* ---------------------------------------------------------------------------------------- calls */

static const char calls[] =
    "func @twice(%x: i32): i32 {\ne:\n  %r: i32 = add %x, %x\n  ret %r\n}\n"
    "kernel @k(%x: ptr.global) {\nentry:\n" INDEX
    "  %p: ptr.global = ptradd %x, %o\n  %a: i32 = load %p align 4\n"
    "  %b: i32 = call @twice(%a)\n  store %b, %p align 4\n  ret\n}\n"
    "func @elsewhere(%x: i32): i32 import\n"
    "kernel @open(%x: ptr.global) {\nentry:\n  %b: i32 = call @elsewhere(i32 3)\n"
    "  store %b, %x align 4\n  ret\n}\n";

Test(fuse, calls_are_inlined_first) {
    ir_module *m = parse(calls);
    const pass_fuse_member members[] = {member(m, "k", "16/4"), member(m, "k", "16/4")};
    const pass_fuse_request q = {.name = "f", .members = members, .nmembers = 2};
    const uint64_t args[][8] = {{1024}, {1024}};
    assert_fuses(&q);
    assert_lacks(fused_text(), "call");
    assert_same_result(&q, args);
    cr_assert(mutable_kernel(m, "twice"), "the members stay as they were");
}

Test(fuse, calls_without_body_are_refused) {
    ir_module *m = parse(calls);
    const pass_fuse_member one = member(m, "open", "4");
    assert_refused(&(pass_fuse_request){.name = "f", .members = &one, .nmembers = 1}, "fuse.call",
                   "the calls of @open cannot be inlined: ");
}

/* What a function that stays one does is not looked at. */
Test(fuse, functions_that_stay_are_a_reason) {
    ir_module *m =
        parse("func @deep(%p: ptr.global) shared {\ne:\n  store i32 1, %p align 4\n  ret\n}\n"
              "kernel @k(%x: ptr.global) {\nentry:\n" INDEX
              "  %p: ptr.global = ptradd %x, %o\n  call @deep(%p)\n  ret\n}\n"
              "kernel @l(%x: ptr.global) {\nentry:\n" INDEX
              "  %p: ptr.global = ptradd %x, %o\n  store i32 2, %p align 4\n  ret\n}\n");
    const pass_fuse_member members[] = {member(m, "l", "16/4"), member(m, "k", "16/4")};
    pass_fuse_request q = {.name = "f", .members = members, .nmembers = 2};
    assert_refused(&q, "fuse.function",
                   "a member keeps a function, since inlining would make it too large: @l writes 4 "
                   "bytes at %x + 4*global_id.0, always; @k updates some bytes at an unknown place "
                   "in @deep, always");
    q.nmembers = 1;
    assert_fuses(&q);
    ir_module_free(fused.module);
    q.nmembers = 2;
    q.force = true;
    assert_fuses(&q);
}
