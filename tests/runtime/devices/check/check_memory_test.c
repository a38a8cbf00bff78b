/* check_memory_test.c — the check device on bad addresses and undefined values: the exact text of
 * each kind of report.
 */
#include "check_bench.h"

/* -------------------------------------------------------------------------------- bad addresses */

Test(check_memory, out_of_bounds) {
    open_text(LINES
              "kernel @k(%x: ptr.global) {\n"
              "entry:\n"
              "  %i: i64 = global_id 0 !10\n"
              "  %j: i64 = sub %i, 1\n" ELEMENT("j", "x", "p") "  %v: i32 = load %p align 4 !20\n"
                                                               "  ret\n}\n");
    check_buffer *x = zeros(8);
    set_range(12, 4);
    RUN(arg_buffer(x));
    SAYS("t.spv: word 0x14, k.cl:7: error: read of 4 bytes at x - 4 is out of bounds: x has 32 "
         "bytes\n"
         "  work-item (0, 0, 0) of group (0, 0, 0) in kernel @k: %v: i32 = load %p align 4\n"
         "  4 times\n");
    cr_assert_eq(w.last.kind, CHECK_OUT_OF_BOUNDS);
    cr_assert_eq(w.last.severity, IR_ERROR);
    cr_assert_eq(w.last.offset, -4);
    cr_assert_eq(w.last.object_size, 32);
    cr_assert_eq(w.last.size, 4);
    cr_assert_eq(w.last.count, 4);
    cr_assert_eq(w.last.here.line, 7);
    cr_assert_eq(w.last.here.column, 5);
    cr_assert_eq(w.result.errors, 1);
    close_all();
}

Test(check_memory, out_of_bounds_counts_from_the_argument) {
    open_text("kernel @k(%x: ptr.global) {\nentry:\n"
              "  %p: ptr.global = ptradd %x, i64 1000000\n"
              "  store i32 1, %p align 4\n  ret\n}\n");
    check_buffer *x = zeros(8);
    set_range(1, 1);
    RUN((check_arg){.kind = IR_ARG_POINTER, .buffer = x, .offset = 8});
    SAYS("t.spv: error: write of 4 bytes at x + 1000000 is out of bounds: x has 24 bytes\n"
         "  work-item (0, 0, 0) of group (0, 0, 0) in kernel @k: store i32 1, %p align 4\n");
    close_all();
}

Test(check_memory, misaligned) {
    open_text("kernel @k(%x: ptr.global) {\nentry:\n"
              "  %p: ptr.global = ptradd %x, i64 6\n"
              "  %v: i32 = load %p align 4\n"
              "  %b: v4i32 = load %x align 16\n" /* buffers are aligned well enough */
              "  store %v, %x align 4\n  ret\n}\n");
    check_buffer *x = ints(4, (const int32_t[]){0, 0x22220000, 0x1111, 0});
    set_range(1, 1);
    RUN(arg_buffer(x));
    SAYS("t.spv: error: read of 4 bytes at x + 6 is not aligned to 4 bytes\n"
         "  work-item (0, 0, 0) of group (0, 0, 0) in kernel @k: %v: i32 = load %p align 4\n");
    cr_assert_eq(int_at(x, 0), 0x11112222);
    close_all();
}

Test(check_memory, variables_are_not_aligned_by_luck) {
    open_text("kernel @k() {\nentry:\n"
              "  %v: ptr.private = alloca [4 x i32] align 4\n"
              "  store v4i32 <1, 2, 3, 4>, %v align 16\n  ret\n}\n");
    set_range(1, 1);
    RUN_PLAIN();
    SAYS(
        "t.spv: error: write of 16 bytes at %v + 0 is not aligned to 16 bytes\n"
        "  work-item (0, 0, 0) of group (0, 0, 0) in kernel @k: store v4i32 <1, 2, 3, 4>, %v align "
        "16\n");
    close_all();
}

Test(check_memory, null_and_nothing) {
    open_text("kernel @k(%x: ptr.global) {\nentry:\n"
              "  %p: ptr.global = ptradd %x, i64 16\n"
              "  store i32 1, %p align 4\n"
              "  %q: ptr.global = inttoptr i64 0x7fffffffffff0\n"
              "  %v: i32 = load %q align 4\n"
              "  ret\n}\n");
    set_range(1, 1);
    RUN((check_arg){.kind = IR_ARG_POINTER});
    SAYS("t.spv: error: write of 4 bytes through a null pointer (address 0x10)\n"
         "  work-item (0, 0, 0) of group (0, 0, 0) in kernel @k: store i32 1, %p align 4\n"
         "t.spv: error: read of 4 bytes through a pointer to nothing (address 0x7fffffffffff0)\n"
         "  work-item (0, 0, 0) of group (0, 0, 0) in kernel @k: %v: i32 = load %q align 4\n");
    close_all();
}

Test(check_memory, private_memory_of_a_function_that_returned) {
    open_text(LINES "kernel @k(%x: ptr.global) {\nentry:\n"
                    "  %p: ptr.private = call @f() !10\n"
                    "  %v: i32 = load %p align 4 !20\n"
                    "  ret\n}\n"
                    "func @f(): ptr.private {\nentry:\n"
                    "  %a: ptr.private = alloca i32 align 4\n"
                    "  store i32 1, %a align 4 !30\n"
                    "  ret %a\n}\n");
    set_range(1, 1);
    RUN((check_arg){.kind = IR_ARG_POINTER});
    SAYS(
        "t.spv: word 0x14, k.cl:7: error: read of 4 bytes at %a + 0 after the end of its lifetime\n"
        "  work-item (0, 0, 0) of group (0, 0, 0) in kernel @k: %v: i32 = load %p align 4\n");
    close_all();
}

/* Work-item 0 of the first group leaves an address behind, the other group uses it. */
Test(check_memory, local_memory_of_a_group_that_ended) {
    open_text("@tmp: local i32 align 4\n"
              "kernel @k(%x: ptr.global) {\nentry:\n"
              "  %g: i64 = group_id 0\n"
              "  %first: i1 = eq %g, i64 0\n"
              "  br %first, leave, use\n"
              "leave:\n"
              "  store @tmp, %x align 8\n"
              "  ret\n"
              "use:\n"
              "  %p: ptr.local = load %x align 8\n"
              "  store i32 1, %p align 4\n"
              "  ret\n}\n");
    check_buffer *x = zeros(2);
    set_range(2, 1);
    RUN(arg_buffer(x));
    SAYS("t.spv: error: data race at x + 0: read and write of different work-groups\n"
         "  work-item (1, 0, 0) of group (1, 0, 0) in kernel @k: %p: ptr.local = load %x align 8\n"
         "  and work-item (0, 0, 0) of group (0, 0, 0): store @tmp, %x align 8\n"
         "t.spv: error: write of 4 bytes at @tmp + 0 after the end of its lifetime\n"
         "  work-item (1, 0, 0) of group (1, 0, 0) in kernel @k: store i32 1, %p align 4\n");
    close_all();
}

Test(check_memory, private_memory_of_another_work_item) {
    open_text("@where: local ptr.private align 8\n"
              "kernel @k() {\nentry:\n"
              "  %a: ptr.private = alloca i32 align 4\n"
              "  store i32 1, %a align 4\n"
              "  %l: i64 = local_id 0\n"
              "  %first: i1 = eq %l, i64 0\n"
              "  br %first, tell, wait\n"
              "tell:\n"
              "  store %a, @where align 8\n"
              "  jmp wait\n"
              "wait:\n"
              "  barrier workgroup workgroup seq_cst local\n"
              "  %p: ptr.private = load @where align 8\n"
              "  %v: i32 = load %p align 4\n"
              "  barrier workgroup workgroup seq_cst local\n"
              "  ret\n}\n");
    set_range(2, 2);
    RUN_PLAIN();
    SAYS("t.spv: error: read of 4 bytes at %a + 0, private memory of another work-item\n"
         "  work-item (1, 0, 0) of group (0, 0, 0) in kernel @k: %v: i32 = load %p align 4\n");
    close_all();
}

Test(check_memory, read_only) {
    open_text("@tab: const i32 align 4 = 7\n"
              "kernel @k(%x: ptr.global) {\nentry:\n"
              "  store i32 1, %x align 4\n"
              "  %t: i64 = ptrtoint @tab\n"
              "  %c: ptr.generic = inttoptr %t\n"
              "  store i32 1, %c align 4\n"
              "  ret\n}\n");
    check_buffer *x =
        keep_buffer(check_buffer_new(w.d, 4, &(const int32_t){3}, CHECK_BUFFER_READ_ONLY));
    set_range(1, 1);
    RUN(arg_buffer(x));
    SAYS("t.spv: error: write of 4 bytes at x + 0, which is read-only\n"
         "  work-item (0, 0, 0) of group (0, 0, 0) in kernel @k: store i32 1, %x align 4\n"
         "t.spv: error: write of 4 bytes at @tab + 0, which is read-only\n"
         "  work-item (0, 0, 0) of group (0, 0, 0) in kernel @k: store i32 1, %c align 4\n");
    cr_assert_eq(int_at(x, 0), 3);
    close_all();
}

Test(check_memory, wrong_address_space) {
    open_text("kernel @k(%x: ptr.global, %y: ptr.const) {\nentry:\n"
              "  %a: i64 = ptrtoint %x\n"
              "  %l: ptr.local = inttoptr %a\n"
              "  %v: i32 = load %l align 4\n"
              "  %c: i32 = load %y align 4\n"
              "  %g: ptr.generic = ptrcast %x\n"
              "  %n: ptr.local = ptrcast_to %g\n"
              "  %is: i1 = eq %n, ptr.local null\n"
              "  %s: i32 = ptr_space %g\n"
              "  %z: i32 = zext %is\n"
              "  %r: i32 = or %s, %z\n"
              "  store %r, %x align 4\n"
              "  ret\n}\n");
    check_buffer *x = zeros(1), *y = zeros(1);
    set_range(1, 1);
    RUN(arg_buffer(x), arg_buffer(y));
    SAYS(
        "t.spv: error: read of 4 bytes at x + 0, which is not in the address space of the pointer\n"
        "  work-item (0, 0, 0) of group (0, 0, 0) in kernel @k: %v: i32 = load %l align 4\n");
    cr_assert_eq(int_at(x, 0), IR_SEM_GLOBAL | 1);
    close_all();
}

Test(check_memory, freed_buffers) {
    open_text("kernel @k(%x: ptr.global, %y: ptr.global) {\nentry:\n"
              "  %old: ptr.global = load %x align 8\n"
              "  store %y, %x align 8\n"
              "  %v: i32 = load %old align 4\n"
              "  ret\n}\n");
    check_buffer *x = zeros(2), *y = check_buffer_new(w.d, 4, &(const int32_t){1}, 0);
    set_range(1, 1);
    RUN(arg_buffer(x), arg_buffer(y));
    cr_assert(strstr(w.reports, "null pointer"));
    check_buffer_free(y);
    RUN(arg_buffer(x), (check_arg){.kind = IR_ARG_POINTER});
    SAYS("t.spv: error: read of 4 bytes at a freed buffer + 0 after the end of its lifetime\n"
         "  work-item (0, 0, 0) of group (0, 0, 0) in kernel @k: %v: i32 = load %old align 4\n");
    close_all();
}

/* ----------------------------------------------------------------------------- undefined values */

#define FRESH "  %f: ptr.private = alloca i32 align 4\n  %u: i32 = load %f align 4\n"

Test(check_memory, undefined_decisions) {
    open_text("kernel @k(%x: ptr.global) {\nentry:\n" FRESH "  %u64: i64 = zext %u\n"
              "  %p: ptr.global = ptradd %x, %u64\n"
              "  %v: i32 = load %p align 4\n"
              "  %q: i32 = udiv %v, %u\n"
              "  %c: i1 = eq %u, i32 3\n"
              "  br %c, a, b\na:\n  ret\nb:\n"
              "  store %u, %x align 4\n"
              "  %old: i32 = atomic_add %x, i32 1 device relaxed\n"
              "  switch %u, d [1: e]\nd:\n  ret\ne:\n  ret\n}\n");
    check_buffer *x = zeros(1);
    set_range(1, 1);
    RUN(arg_buffer(x));
    SAYS("t.spv: error: load through an undefined pointer\n" AT_KERNEL "%v: i32 = load %p align 4\n"
         "t.spv: error: division by an undefined value\n" AT_KERNEL "%q: i32 = udiv %v, %u\n"
         "t.spv: error: an undefined value decides where to go\n" AT_KERNEL "br %c, a, b\n"
         "t.spv: error: undefined value stored to x + 0\n" AT_KERNEL "store %u, %x align 4\n"
         "t.spv: error: atomic_add reads an undefined value from memory\n" AT_KERNEL
         "%old: i32 = atomic_add %x, 1 device relaxed\n"
         "t.spv: error: an undefined value decides where to go\n" AT_KERNEL
         "switch %u, d [1: e]\n");
    close_all();
}

/* A struct with padding, copied and stored whole: nothing to say. */
static const char padding[] = "kernel @k(%x: ptr.global) {\nentry:\n"
                              "  %s: ptr.private = alloca {i8, i32} align 4\n"
                              "  store i8 1, %s align 1\n"
                              "  %p: ptr.private = ptradd %s, i64 4\n"
                              "  store i32 2, %p align 4\n"
                              "  copy %x, %s, i64 8 align 4\n"
                              "  %whole: i64 = load %s align 4\n"
                              "  store %whole, %x align 8\n"
                              "  ret\n}\n";

Test(check_memory, padding_is_no_error) {
    open_text(padding);
    check_buffer *x = keep_buffer(check_buffer_new(w.d, 8, NULL, 0));
    cr_assert_eq(check_buffer_undefined(x, 0, 8), 8);
    set_range(1, 1);
    RUN(arg_buffer(x));
    SAYS_NOTHING();
    cr_assert_eq(check_buffer_undefined(x, 0, 8), 3);
    cr_assert_eq(check_buffer_undefined(x, 4, 4), 0);
    w.options.strict_undefined = true;
    RUN(arg_buffer(x));
    SAYS("t.spv: error: partly undefined value stored to x + 0\n" AT_KERNEL
         "store %whole, %x align 8\n");
    close_all();
}

Test(check_memory, undefined_buffers) {
    open_text("kernel @k(%x: ptr.global, %y: ptr.global) {\nentry:\n"
              "  %v: i32 = load %x align 4\n"
              "  %s: i32 = add %v, 1\n"
              "  store %s, %y align 4\n"
              "  %r: i32 = printf \"%d\", %v\n"
              "  ret\n}\n");
    check_buffer *x = keep_buffer(check_buffer_new(w.d, 4, NULL, 0)), *y = zeros(1);
    set_range(1, 1);
    RUN(arg_buffer(x), arg_buffer(y));
    SAYS("t.spv: error: undefined value stored to y + 0\n" AT_KERNEL "store %s, %y align 4\n"
         "t.spv: error: operand 0 of printf is undefined\n" AT_KERNEL
         "%r: i32 = printf \"%d\", %v\n");
    check_buffer_write(x, 0, 4, &(const int32_t){4});
    RUN(arg_buffer(x), arg_buffer(y));
    SAYS_NOTHING();
    cr_assert_eq(int_at(y, 0), 5);
    close_all();
}
