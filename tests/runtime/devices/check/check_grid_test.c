/* check_grid_test.c — the check device on barriers of all work-groups. */
#include "check_bench.h"

/* Each item writes its own element, waits as `barrier` says, and reads that of the item across. */
#define ACROSS(barrier)                                                                            \
    "kernel @k(%x: ptr.global, %y: ptr.global) {\nentry:\n"                                        \
    "  %g: i64 = global_id 0\n  %n: i64 = global_size 0\n  %w: i32 = trunc %g\n" ELEMENT(          \
        "g", "x", "p") "  store %w, %p align 4\n" barrier                                          \
                       "  %a: i64 = sub %n, %g\n  %o: i64 = sub %a, 1\n" ELEMENT(                  \
                           "o", "x",                                                               \
                           "q") "  %v: i32 = load %q align 4\n" ELEMENT("g", "y",                  \
                                                                        "r") "  store %v, %r "     \
                                                                             "align 4\n  ret\n}\n"

Test(check_grid, all_groups_have_written) {
    open_text(ACROSS("  barrier device device seq_cst global\n"));
    check_buffer *x = zeros(24), *y = zeros(24);
    set_range(24, 4);
    RUN(arg_buffer(x), arg_buffer(y));
    SAYS_NOTHING();
    for (unsigned k = 0; k < 24; k++) cr_expect_eq(int_at(y, k), (int32_t)(23 - k));
    close_all();
}

Test(check_grid, a_barrier_of_the_group_is_not_enough) {
    open_text(ACROSS("  barrier workgroup device seq_cst global\n"));
    check_buffer *x = zeros(24), *y = zeros(24);
    set_range(24, 4);
    RUN(arg_buffer(x), arg_buffer(y));
    cr_assert_eq(w.last.kind, CHECK_RACE, "%s", w.reports);
    close_all();
}

Test(check_grid, a_barrier_that_orders_no_global_memory) {
    open_text(ACROSS("  barrier device device seq_cst local\n"));
    check_buffer *x = zeros(24), *y = zeros(24);
    set_range(24, 4);
    RUN(arg_buffer(x), arg_buffer(y));
    cr_assert_eq(w.last.kind, CHECK_RACE, "%s", w.reports);
    close_all();
}

/* Local memory, variables and values survive; three phases, the groups of different sizes. */
Test(check_grid, what_belongs_to_a_group_stays) {
    open_text("@tile: local [4 x i32] align 4\n"
              "kernel @k(%x: ptr.global) {\nentry:\n"
              "  %v: ptr.private = alloca i32 align 4\n"
              "  %g: i64 = global_id 0\n  %l: i64 = local_id 0\n  %w: i32 = trunc %g\n"
              "  store %w, %v align 4\n"
              "  %to: i64 = shl %l, 2\n  %t: ptr.local = ptradd @tile, %to\n"
              "  store %w, %t align 4\n"
              "  barrier device device seq_cst local global\n"
              "  %a: i32 = load %t align 4\n"
              "  barrier device device seq_cst local global\n"
              "  %b: i32 = load %v align 4\n  %s: i32 = add %a, %b\n  %u: i32 = add %s, "
              "%w\n" ELEMENT("g", "x", "p") "  store %u, %p align 4\n  ret\n}\n");
    check_buffer *x = zeros(12);
    set_range(12, 4);
    RUN(arg_buffer(x));
    SAYS_NOTHING();
    for (unsigned k = 0; k < 12; k++) cr_expect_eq(int_at(x, k), (int32_t)(3 * k));
    close_all();
}

Test(check_grid, a_group_that_never_comes) {
    open_text(LINES "kernel @k(%n: i64) {\nentry:\n"
                    "  %w: i64 = group_id 0\n  %c: i1 = ne %w, %n\n  br %c, wait, out\n"
                    "wait:\n  barrier device device seq_cst global !20\n  jmp out\n"
                    "out:\n  ret\n}\n");
    set_range(12, 4);
    RUN(arg_bytes(&(const int64_t){1}, 8));
    SAYS("t.spv: word 0x14, k.cl:7: error: work-groups diverge: some wait at barrier for all, "
         "others have finished\n" AT_KERNEL "barrier device device seq_cst global\n"
         "  and work-item (4, 0, 0) of group (1, 0, 0): has finished\n");
    RUN(arg_bytes(&(const int64_t){7}, 8));
    SAYS_NOTHING();
    close_all();
}

Test(check_grid, an_item_that_never_comes) {
    open_text("kernel @k() {\nentry:\n"
              "  %g: i64 = global_id 0\n  %c: i1 = ne %g, i64 5\n  br %c, wait, out\n"
              "wait:\n  barrier device device seq_cst global\n  jmp out\n"
              "out:\n  ret\n}\n");
    set_range(12, 4);
    RUN_PLAIN();
    cr_assert(strstr(w.reports, "work-items of a work-group diverge: some wait at barrier, others "
                                "have finished"),
              "%s", w.reports);
    close_all();
}
