/* check_race_test.c — the check device on data races: what is one, what is none, what orders
 * accesses.
 */
#include "check_bench.h"

/* ---------------------------------------------------------------------------------------- races */

Test(check_race, race_without_barrier) {
    open_text(TREE(""));
    check_buffer *in = zeros(16), *out = zeros(2);
    set_range(8, 8);
    RUN(arg_buffer(in), arg_buffer(out));
    cr_assert(strstr(w.reports, "t.spv: error: data race at @tmp + 4: write and read of different "
                                "work-items\n"
                                "  work-item (1, 0, 0) of group (0, 0, 0) in kernel @k: store %v, "
                                "%t align 4\n"
                                "  and work-item (0, 0, 0) of group (0, 0, 0): %b: i32 = load %u "
                                "align 4\n"),
              "%s", w.reports);
    close_all();
}

Test(check_race, barrier_for_the_wrong_memory) {
    open_text(LINES "kernel @k(%x: ptr.global) {\nentry:\n"
                    "  %l: i64 = local_id 0\n" ELEMENT(
                        "l", "x", "p") "  store i32 1, %p align 4 !20\n"
                                       "  barrier workgroup workgroup seq_cst local\n"
                                       "  %m: i64 = xor %l, 1\n" ELEMENT(
                                           "m", "x", "q") "  %v: i32 = load %q align 4 !30\n"
                                                          "  ret\n}\n");
    check_buffer *x = zeros(2);
    set_range(2, 2);
    RUN(arg_buffer(x));
    SAYS("t.spv: word 0x1e, k.cl:9: error: data race at x + 4: read and write of different "
         "work-items\n" AT_KERNEL "%v: i32 = load %q align 4\n"
         "  and work-item (1, 0, 0) of group (0, 0, 0), k.cl:7: store i32 1, %p align 4\n"
         "  2 times\n");
    cr_assert_eq(w.last.kind, CHECK_RACE);
    cr_assert(w.last.has_other);
    cr_assert_eq(w.last.other.global_id[0], 1);
    cr_assert_eq(w.last.other.line, 7);
    close_all();
}

Test(check_race, barrier_for_the_right_memory) {
    open_text("kernel @k(%x: ptr.global) {\nentry:\n"
              "  %l: i64 = local_id 0\n" ELEMENT(
                  "l", "x", "p") "  store i32 1, %p align 4\n"
                                 "  barrier workgroup workgroup seq_cst global\n"
                                 "  %m: i64 = xor %l, 1\n" ELEMENT(
                                     "m", "x", "q") "  %v: i32 = load %q align 4\n"
                                                    "  ret\n}\n");
    check_buffer *x = zeros(4);
    set_range(2, 2);
    RUN(arg_buffer(x));
    SAYS_NOTHING();
    close_all();
}

Test(check_race, race_between_groups) {
    open_text("kernel @k(%x: ptr.global) {\nentry:\n"
              "  %i: i32 = global_id 0\n"
              "  store %i, %x align 4\n"
              "  barrier workgroup workgroup seq_cst global\n"
              "  ret\n}\n");
    check_buffer *x = zeros(1);
    set_range(6, 3);
    RUN(arg_buffer(x));
    SAYS("t.spv: error: data race at x + 0: write and write of different work-items\n"
         "  work-item (1, 0, 0) of group (0, 0, 0) in kernel @k: store %i, %x align 4\n"
         "  and work-item (0, 0, 0) of group (0, 0, 0): store %i, %x align 4\n"
         "  5 times\n");
    close_all();
}

Test(check_race, bytes_next_to_each_other_are_no_race) {
    open_text("kernel @k(%x: ptr.global) {\nentry:\n"
              "  %i: i64 = global_id 0\n"
              "  %p: ptr.global = ptradd %x, %i\n"
              "  store i8 1, %p align 1\n"
              "  %v: i8 = load %p align 1\n"
              "  ret\n}\n");
    check_buffer *x = zeros(4);
    set_range(16, 4);
    RUN(arg_buffer(x));
    SAYS_NOTHING();
    close_all();
}

Test(check_race, equal_values_are_a_note) {
    open_text("kernel @k(%x: ptr.global) {\nentry:\n"
              "  store i32 1, %x align 4\n  ret\n}\n");
    check_buffer *x = zeros(1);
    set_range(2, 2);
    RUN(arg_buffer(x));
    SAYS("t.spv: note: data race at x + 0: write and write of different work-items, of the same "
         "value\n"
         "  work-item (1, 0, 0) of group (0, 0, 0) in kernel @k: store i32 1, %x align 4\n"
         "  and work-item (0, 0, 0) of group (0, 0, 0): store i32 1, %x align 4\n");
    cr_assert_eq(w.result.notes, 1);
    cr_assert_eq(w.result.errors, 0);
    w.options.strict_races = true;
    RUN(arg_buffer(x));
    cr_assert_eq(w.result.errors, 1);
    close_all();
}

Test(check_race, atomics_race_with_plain_accesses_only) {
    open_text("kernel @k(%x: ptr.global, %plain: i32) {\nentry:\n"
              "  %old: i32 = atomic_add %x, i32 1 device relaxed\n"
              "  %c: i1 = ne %plain, i32 0\n"
              "  br %c, read, done\n"
              "read:\n"
              "  %v: i32 = load %x align 4\n"
              "  jmp done\n"
              "done:\n  ret\n}\n");
    check_buffer *x = zeros(1);
    set_range(8, 4);
    RUN(arg_buffer(x), INT(0));
    SAYS_NOTHING();
    cr_assert_eq(int_at(x, 0), 8);
    cr_assert_eq(w.result.memory[IR_GLOBAL].atomics, 8);
    RUN(arg_buffer(x), INT(1));
    SAYS("t.spv: error: data race at x + 0: atomic access and read of different work-items\n"
         "  work-item (1, 0, 0) of group (0, 0, 0) in kernel @k: %old: i32 = atomic_add %x, 1 "
         "device relaxed\n"
         "  and work-item (0, 0, 0) of group (0, 0, 0): %v: i32 = load %x align 4\n"
         "  7 times\n");
    close_all();
}

/* The first item of a group accesses x, then all of them change it. */
#define BEFORE_ATOMIC(plain, order)                                                                \
    "kernel @k(%x: ptr.global) {\nentry:\n"                                                        \
    "  %l: i64 = local_id 0\n"                                                                     \
    "  %c: i1 = eq %l, i64 0\n"                                                                    \
    "  br %c, first, all\n"                                                                        \
    "first:\n" plain "  jmp all\n"                                                                 \
    "all:\n" order "  %old: i32 = atomic_add %x, i32 1 device relaxed\n"                           \
    "  ret\n}\n"
#define READ "  %v: i32 = load %x align 4\n"
#define WRITE "  store i32 5, %x align 4\n"

Test(check_race, own_atomics_hide_no_plain_access) {
    static const struct {
        const char *text, *other;
    } cases[] = {
        {BEFORE_ATOMIC(READ, ""), "read"},
        {BEFORE_ATOMIC(WRITE, ""), "write"},
        {BEFORE_ATOMIC(READ WRITE, ""), "write"},
        {BEFORE_ATOMIC(WRITE READ, ""), "read"},
        {BEFORE_ATOMIC(WRITE, "  %more: i32 = atomic_add %x, i32 1 device relaxed\n"), "write"}};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        char text[80];
        snprintf(text, sizeof text, "atomic access and %s of different work-items", cases[n].other);
        w.reports[0] = 0;
        open_text(cases[n].text);
        check_buffer *x = zeros(1);
        set_range(4, 4);
        RUN(arg_buffer(x));
        cr_assert(strstr(w.reports, text), "%zu: %s", n, w.reports);
        close_all();
    }
}

Test(check_race, barriers_order_plain_accesses_and_atomics) {
    open_text(BEFORE_ATOMIC(READ WRITE, "  barrier workgroup workgroup seq_cst global\n"));
    check_buffer *x = zeros(1);
    set_range(4, 4);
    RUN(arg_buffer(x));
    SAYS_NOTHING();
    close_all();
}

/* Each group writes its part; the group that comes last, by a counter, adds them up. */
#define LAST_GROUP(fence)                                                                          \
    "@last: local i32 align 4\n"                                                                   \
    "kernel @k(%part: ptr.global, %count: ptr.global, %out: ptr.global) {\n"                       \
    "entry:\n"                                                                                     \
    "  %l: i64 = local_id 0\n"                                                                     \
    "  %g: i64 = group_id 0\n" ELEMENT(                                                            \
        "g", "part", "p") "  barrier workgroup workgroup seq_cst local\n"                          \
                          "  %first: i1 = eq %l, i64 0\n"                                          \
                          "  br %first, write, wait\n"                                             \
                          "write:\n"                                                               \
                          "  %v: i32 = trunc %g\n"                                                 \
                          "  store %v, %p align 4\n" fence                                         \
                          "  %old: i32 = atomic_add %count, i32 1 device relaxed\n" fence          \
                          "  %is: i1 = eq %old, i32 2\n"                                           \
                          "  %isz: i32 = zext %is\n"                                               \
                          "  store %isz, @last align 4\n"                                          \
                          "  jmp wait\n"                                                           \
                          "wait:\n"                                                                \
                          "  barrier workgroup workgroup seq_cst local global\n"                   \
                          "  %flag: i32 = load @last align 4\n"                                    \
                          "  %c: i1 = ne %flag, i32 0\n"                                           \
                          "  br %c, sum, done\n"                                                   \
                          "sum:\n"                                                                 \
                          "  %i: i64 = phi [wait: 0, sum: %i1]\n"                                  \
                          "  %s: i32 = phi [wait: 0, sum: %s1]\n" ELEMENT(                         \
                              "i", "part", "q") "  %e: i32 = load %q align 4\n"                    \
                                                "  %s1: i32 = add %s, %e\n"                        \
                                                "  %i1: i64 = add %i, 1\n"                         \
                                                "  %more: i1 = ult %i1, i64 3\n"                   \
                                                "  br %more, sum, put\n"                           \
                                                "put:\n" ELEMENT("l", "out",                       \
                                                                 "r") "  store %s1, %r align 4\n"  \
                                                                      "  jmp done\n"               \
                                                                      "done:\n  ret\n}\n"

Test(check_race, atomics_with_fences_order_groups) {
    open_text(LAST_GROUP("  fence device acq_rel global\n"));
    check_buffer *part = zeros(3), *count = zeros(1), *out = zeros(2);
    set_range(6, 2);
    RUN(arg_buffer(part), arg_buffer(count), arg_buffer(out));
    SAYS_NOTHING();
    cr_assert_eq(int_at(out, 1), 3);
    close_all();
}

Test(check_race, atomics_without_fences_do_not) {
    open_text(LAST_GROUP(""));
    check_buffer *part = zeros(3), *count = zeros(1), *out = zeros(2);
    set_range(6, 2);
    RUN(arg_buffer(part), arg_buffer(count), arg_buffer(out));
    SAYS("t.spv: error: data race at part + 0: read and write of different work-groups\n"
         "  work-item (4, 0, 0) of group (2, 0, 0) in kernel @k: %e: i32 = load %q align 4\n"
         "  and work-item (0, 0, 0) of group (0, 0, 0): store %v, %p align 4\n"
         "  4 times\n");
    close_all();
}

/* Items of a sub-group exchange through memory. */
#define NEIGHBOUR(scope)                                                                           \
    "@tmp: local [16 x i32] align 4\n"                                                             \
    "kernel @k(%d: i64) {\nentry:\n"                                                               \
    "  %l: i64 = local_id 0\n" LOCAL_ELEMENT(                                                      \
        "l", "@tmp", "p") "  store i32 1, %p align 4\n"                                            \
                          "  barrier " scope " workgroup seq_cst local\n"                          \
                          "  %m: i64 = xor %l, %d\n" LOCAL_ELEMENT(                                \
                              "m", "@tmp", "q") "  %v: i32 = load %q align 4\n"                    \
                                                "  ret\n}\n"

Test(check_race, barriers_of_sub_groups) {
    open_text(NEIGHBOUR("subgroup"));
    set_range(16, 16);
    RUN(arg_bytes(&(const int64_t){1}, 8));
    SAYS_NOTHING();
    RUN(arg_bytes(&(const int64_t){8}, 8)); /* the other sub-group */
    cr_assert(strstr(w.reports, "error: data race at @tmp"));
    w.options.subgroup_size = 16;
    RUN(arg_bytes(&(const int64_t){8}, 8));
    SAYS_NOTHING();
    close_all();
}
