/* check_groups_test.c — the check device on divergence, group operations and async copies.
 */
#include "check_bench.h"

/* ----------------------------------------------------------------------------------- divergence */

Test(check_groups, some_finish_before_a_barrier) {
    open_text(LINES "kernel @k(%n: i32) {\nentry:\n"
                    "  %i: i32 = global_id 0\n"
                    "  %c: i1 = ult %i, %n\n"
                    "  br %c, body, out\n"
                    "body:\n"
                    "  barrier workgroup workgroup seq_cst local !20\n"
                    "  ret\n"
                    "out:\n  ret\n}\n");
    set_range(4, 4);
    RUN(INT(3));
    SAYS("t.spv: word 0x14, k.cl:7: error: work-items of a work-group diverge: some wait at "
         "barrier, "
         "others have finished\n" AT_KERNEL "barrier workgroup workgroup seq_cst local\n"
         "  and work-item (3, 0, 0) of group (0, 0, 0): has finished\n");
    cr_assert_eq(w.last.kind, CHECK_DIVERGENCE);
    RUN(INT(4));
    SAYS_NOTHING();
    RUN(INT(0));
    SAYS_NOTHING();
    close_all();
}

Test(check_groups, two_barriers) {
    open_text(LINES "kernel @k() {\nentry:\n"
                    "  %i: i32 = global_id 0\n"
                    "  %c: i1 = eq %i, i32 2\n"
                    "  br %c, a, b\n"
                    "a:\n  barrier workgroup workgroup seq_cst local !20\n  ret\n"
                    "b:\n  barrier workgroup workgroup seq_cst local !30\n  ret\n}\n");
    set_range(4, 4);
    RUN_PLAIN();
    cr_assert(strstr(w.reports, "error: work-items of a work-group diverge: some wait at barrier, "
                                "others elsewhere\n"),
              "%s", w.reports);
    cr_assert(strstr(w.reports, "k.cl:9: barrier") || strstr(w.reports, "k.cl:7: barrier"));
    close_all();
}

Test(check_groups, one_barrier_from_two_calls) {
    open_text(
        "kernel @k() {\nentry:\n"
        "  %i: i32 = global_id 0\n"
        "  %c: i1 = eq %i, i32 0\n"
        "  br %c, a, b\n"
        "a:\n  call @sync()\n  ret\n"
        "b:\n  call @sync()\n  ret\n}\n"
        "func @sync(): void {\nentry:\n  barrier workgroup workgroup seq_cst local\n  ret\n}\n");
    set_range(2, 2);
    RUN_PLAIN();
    cr_assert(strstr(w.reports, "in kernel @k, @sync: barrier"), "%s", w.reports);
    close_all();
}

/* ----------------------------------------------------------------------------- group operations */

/* out[i] = op of (i * i), for 12 work-items in sub-groups of 8 and 4. */
static void run_group_op(const char *op) {
    static const char before[] = "kernel @k(%out: ptr.global) {\nentry:\n"
                                 "  %i: i64 = local_id 0\n"
                                 "  %i32: i32 = trunc %i\n"
                                 "  %x: i32 = mul %i32, %i32\n"
                                 "  %c: i1 = eq %i32, i32 5\n"
                                 "  %f: f32 = uitofp %x\n"
                                 "  %one: i32 = add %i32, 1\n"
                                 "  %b: v4i32 = group_ballot %c subgroup nonuniform\n";
    static const char after[] = ELEMENT("i", "out", "p") "  store %r, %p align 4\n  ret\n}\n";
    char text[1024];
    snprintf(text, sizeof text, "%s%s%s", before, op, after);
    open_text(text);
    set_range(12, 12);
}

static void group_op(const char *op, const int32_t *expected) {
    memset(&w, 0, sizeof w);
    run_group_op(op);
    check_buffer *out = zeros(12);
    RUN(arg_buffer(out));
    SAYS_NOTHING();
    for (unsigned k = 0; k < 12; k++)
        cr_assert_eq(int_at(out, k), expected[k], "%s: item %u gives %d", op, k, int_at(out, k));
    close_all();
}

#define INTS(...)                                                                                  \
    (const int32_t[12]) { __VA_ARGS__ }
#define SAME(v) INTS(v, v, v, v, v, v, v, v, v, v, v, v)
#define HALVES(a, b) INTS(a, a, a, a, a, a, a, a, b, b, b, b)

Test(check_groups, reductions) {
    group_op("  %r: i32 = group_add %x workgroup reduce\n", SAME(506));
    group_op("  %r: i32 = group_add %x subgroup reduce\n", HALVES(140, 366));
    group_op("  %r: i32 = group_umax %x subgroup reduce\n", HALVES(49, 121));
    group_op("  %r: i32 = group_smin %x subgroup reduce\n", HALVES(0, 64));
    group_op("  %r: i32 = group_or %x subgroup reduce\n", HALVES(61, 125));
    group_op("  %r: i32 = group_mul %one subgroup reduce\n", HALVES(40320, 11880));
    group_op("  %s: f32 = group_fadd %f workgroup reduce\n  %r: i32 = fptoui %s\n", SAME(506));
    group_op("  %s: f32 = group_fmax %f subgroup reduce\n  %r: i32 = fptoui %s\n", HALVES(49, 121));
    group_op("  %r: i32 = group_add %i32 subgroup clustered 4 nonuniform\n",
             INTS(6, 6, 6, 6, 22, 22, 22, 22, 38, 38, 38, 38));
}

Test(check_groups, scans) {
    group_op("  %r: i32 = group_add %i32 workgroup inclusive\n",
             INTS(0, 1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 66));
    group_op("  %r: i32 = group_add %i32 workgroup exclusive\n",
             INTS(0, 0, 1, 3, 6, 10, 15, 21, 28, 36, 45, 55));
    group_op("  %r: i32 = group_mul %one subgroup exclusive nonuniform\n",
             INTS(1, 1, 2, 6, 24, 120, 720, 5040, 1, 9, 90, 990));
    group_op("  %r: i32 = group_smax %i32 subgroup exclusive\n",
             INTS(INT32_MIN, 0, 1, 2, 3, 4, 5, 6, INT32_MIN, 8, 9, 10));
    group_op("  %r: i32 = group_umin %i32 subgroup exclusive\n",
             INTS(-1, 0, 0, 0, 0, 0, 0, 0, -1, 8, 8, 8));
    group_op("  %s: f32 = group_fmin %f subgroup exclusive\n  %r: i32 = bitcast %s\n",
             INTS(0x7f800000, 0, 0, 0, 0, 0, 0, 0, 0x7f800000, 0x42800000, 0x42800000, 0x42800000));
}

Test(check_groups, votes_and_ballots) {
    group_op("  %s: i1 = group_any %c subgroup\n  %r: i32 = zext %s\n", HALVES(1, 0));
    group_op("  %s: i1 = group_all %c workgroup\n  %r: i32 = zext %s\n", SAME(0));
    group_op("  %z: i32 = lshr %i32, 3\n  %s: i1 = group_all_equal %z subgroup nonuniform\n"
             "  %r: i32 = zext %s\n",
             SAME(1));
    group_op("  %s: i1 = group_elect subgroup nonuniform\n  %r: i32 = zext %s\n",
             INTS(1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0));
    group_op("  %r: i32 = extract %b, i32 0\n", HALVES(32, 0));
    group_op("  %s: i1 = group_inverse_ballot %b subgroup nonuniform\n  %r: i32 = zext %s\n",
             INTS(0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0));
    group_op("  %s: i1 = group_ballot_bit %b, i32 5 subgroup nonuniform\n  %r: i32 = zext %s\n",
             HALVES(1, 0));
    group_op("  %r: i32 = group_ballot_count v4i32 <255, 1, 0, 0> subgroup reduce nonuniform\n",
             SAME(8));
    group_op("  %r: i32 = group_ballot_count v4i32 <2, 0, 0, 0> subgroup inclusive nonuniform\n",
             INTS(0, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1));
    group_op("  %r: i32 = group_ballot_lsb v4i32 <12, 0, 0, 0> subgroup nonuniform\n", SAME(2));
    group_op("  %r: i32 = group_ballot_msb v4i32 <12, 0, 0, 0> subgroup nonuniform\n", SAME(3));
    group_op("  %r: i32 = group_ballot_msb v4i32 <511, 0, 0, 0> subgroup nonuniform\n", SAME(7));
    group_op("  %m: v4i32 = subgroup_mask 1\n  %r: i32 = extract %m, i32 0\n",
             INTS(255, 254, 252, 248, 240, 224, 192, 128, 15, 14, 12, 8));
    group_op("  %m: v4i32 = subgroup_mask 4\n  %r: i32 = extract %m, i32 0\n",
             INTS(0, 1, 3, 7, 15, 31, 63, 127, 0, 1, 3, 7));
}

Test(check_groups, broadcasts_and_shuffles) {
    group_op("  %r: i32 = group_broadcast %x, i64 10 workgroup\n", SAME(100));
    group_op("  %r: i32 = group_broadcast %x, i32 3 subgroup\n", HALVES(9, 121));
    group_op("  %r: i32 = group_broadcast_first %x subgroup nonuniform\n", HALVES(0, 64));
    group_op("  %r: i32 = group_shuffle_xor %i32, i32 1 subgroup nonuniform\n",
             INTS(1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10));
    group_op("  %k: i32 = and %i32, 3\n  %r: i32 = group_shuffle %i32, %k subgroup nonuniform\n",
             INTS(0, 1, 2, 3, 0, 1, 2, 3, 8, 9, 10, 11));
    group_op("  %r: i32 = group_rotate %i32, i32 5 workgroup\n",
             INTS(5, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4));
    group_op("  %r: i32 = group_rotate %i32, i32 3 subgroup clustered 4 nonuniform\n",
             INTS(3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10));
    group_op("  %s: i32 = group_shuffle_up %i32, i32 1 subgroup nonuniform\n"
             "  %sl: i32 = subgroup_local_id\n  %z: i1 = eq %sl, i32 0\n"
             "  %r: i32 = select %z, -1, %s\n",
             INTS(-1, 0, 1, 2, 3, 4, 5, 6, -1, 8, 9, 10));
}

Test(check_groups, shuffle_from_an_absent_item_is_undefined) {
    run_group_op("  %r: i32 = group_shuffle_down %i32, i32 1 subgroup nonuniform\n");
    check_buffer *out = zeros(12);
    RUN(arg_buffer(out));
    SAYS("t.spv: error: undefined value stored to out + 28\n"
         "  work-item (7, 0, 0) of group (0, 0, 0) in kernel @k: store %r, %p align 4\n"
         "  2 times\n");
    close_all();
}

/* Both sides of a branch use the same kind of operation; then all meet again. */
Test(check_groups, work_items_part_and_meet_again) {
    open_text("kernel @k(%out: ptr.global) {\nentry:\n"
              "  %i: i64 = local_id 0\n" ELEMENT(
                  "i", "out", "p") "  %one: i32 = trunc %i\n"
                                   "  %c: i1 = ult %i, i64 3\n"
                                   "  br %c, few, many\n"
                                   "few:\n"
                                   "  %a: i32 = group_add i32 1 subgroup reduce nonuniform\n"
                                   "  jmp join\n"
                                   "many:\n"
                                   "  %b: i32 = group_add i32 1 subgroup reduce nonuniform\n"
                                   "  %b2: i32 = group_add %b subgroup reduce nonuniform\n"
                                   "  jmp join\n"
                                   "join:\n"
                                   "  %ab: i32 = phi [few: %a, many: %b2]\n"
                                   "  %all: i32 = group_add i32 1 subgroup reduce nonuniform\n"
                                   "  %t: i32 = mul %all, 100\n"
                                   "  %r: i32 = add %t, %ab\n"
                                   "  store %r, %p align 4\n  ret\n}\n");
    check_buffer *out = zeros(8);
    set_range(8, 8);
    RUN(arg_buffer(out));
    SAYS_NOTHING();
    for (unsigned k = 0; k < 8; k++) cr_assert_eq(int_at(out, k), k < 3 ? 803 : 825);
    close_all();
}

/* In round 0 of the outer loop, items with odd numbers begin round 1 of the inner one while the
 * others still wait in round 0.  The result is decimal: 2 items in its first round, then 4. */
#define ROUNDS(OP)                                                                                 \
    "kernel @k(%out: ptr.global) {\nentry:\n"                                                      \
    "  %i: i64 = local_id 0\n"                                                                     \
    "  %x: i32 = trunc %i\n"                                                                       \
    "  %odd: i32 = and %x, 1\n"                                                                    \
    "  jmp outer\n"                                                                                \
    "outer:\n"                                                                                     \
    "  %m: i32 = phi [entry: 0, after: %m1]\n"                                                     \
    "  %t: i32 = phi [entry: 0, after: %s1]\n"                                                     \
    "  jmp head\n"                                                                                 \
    "head:\n"                                                                                      \
    "  %k: i32 = phi [outer: 0, next: %k1]\n"                                                      \
    "  %s: i32 = phi [outer: %t, next: %s1]\n"                                                     \
    "  %skips: i1 = ult %k, %odd\n"                                                                \
    "  br %skips, next, meet\n"                                                                    \
    "meet:\n"                                                                                      \
    "  %n: i32 = " OP "\n"                                                                         \
    "  %ten: i32 = mul %s, 10\n"                                                                   \
    "  %sum: i32 = add %ten, %n\n"                                                                 \
    "  jmp next\n"                                                                                 \
    "next:\n"                                                                                      \
    "  %s1: i32 = phi [head: %s, meet: %sum]\n"                                                    \
    "  %k1: i32 = add %k, 1\n"                                                                     \
    "  %c: i1 = ult %k1, i32 3\n"                                                                  \
    "  br %c, head, after\n"                                                                       \
    "after:\n"                                                                                     \
    "  %m1: i32 = add %m, 1\n"                                                                     \
    "  %d: i1 = ult %m1, i32 2\n"                                                                  \
    "  br %d, outer, end\n"                                                                        \
    "end:\n" ELEMENT("i", "out", "p") "  store %s1, %p align 4\n  ret\n}\n"

Test(check_groups, work_items_in_different_rounds_do_not_meet) {
    open_text(ROUNDS("group_add i32 1 subgroup reduce nonuniform"));
    set_range(4, 4);
    check_buffer *out = zeros(4);
    RUN(arg_buffer(out));
    SAYS_NOTHING();
    for (unsigned k = 0; k < 4; k++) cr_expect_eq(int_at(out, k), k & 1 ? 4444 : 244244);
    close_all();
}

Test(check_groups, different_rounds_where_all_must_be) {
    open_text(LINES ROUNDS("group_add i32 1 subgroup reduce !20"));
    set_range(4, 4);
    check_buffer *out = zeros(4);
    RUN(arg_buffer(out));
    cr_assert(strstr(w.reports, "work-items of a sub-group diverge: some wait at group_add, others "
                                "elsewhere"),
              "%s", w.reports);
    close_all();
}

Test(check_groups, different_operands_where_they_must_agree) {
    open_text("kernel @k(%out: ptr.global) {\nentry:\n"
              "  %i: i32 = local_id 0\n"
              "  %v: i32 = group_broadcast %i, %i workgroup\n  ret\n}\n");
    set_range(2, 2);
    RUN((check_arg){.kind = IR_ARG_POINTER});
    SAYS("t.spv: error: work-items give different ids to group_broadcast\n"
         "  work-item (1, 0, 0) of group (0, 0, 0) in kernel @k: %v: i32 = group_broadcast %i, %i "
         "workgroup\n"
         "  and work-item (0, 0, 0) of group (0, 0, 0): %v: i32 = group_broadcast %i, %i "
         "workgroup\n");
    close_all();
}

/* --------------------------------------------------------------------------------- async copies */

/* Copies 4 elements, every `stride`th of x, and each work-item takes its own. */
#define ASYNC(before)                                                                              \
    "@tmp: local [4 x i32] align 4\n"                                                              \
    "kernel @k(%x: ptr.global, %out: ptr.global, %stride: i64) {\nentry:\n"                        \
    "  %list: ptr.private = alloca event align 8\n"                                                \
    "  %l: i64 = local_id 0\n" LOCAL_ELEMENT("l", "@tmp", "t") ELEMENT(                            \
        "l", "out",                                                                                \
        "p") "  %e: event = async_copy @tmp, %x, i64 4, %stride, event null, i64 4 workgroup\n"    \
             "  store %e, %list align 8\n" before "  %v: i32 = load %t align 4\n"                  \
             "  store %v, %p align 4\n  ret\n}\n"

Test(check_groups, async_copies) {
    int32_t x[12];
    for (int k = 0; k < 12; k++) x[k] = 10 * k;
    open_text(ASYNC("  wait_events i32 1, %list workgroup\n"));
    check_buffer *in = ints(12, x), *out = zeros(4);
    set_range(4, 4);
    RUN(arg_buffer(in), arg_buffer(out), arg_bytes(&(const int64_t){3}, 8));
    SAYS_NOTHING();
    for (unsigned k = 0; k < 4; k++) cr_assert_eq(int_at(out, k), (int32_t)(30 * k));
    cr_assert_eq(w.result.memory[IR_GLOBAL].bytes_read, 16);
    close_all();
}

Test(check_groups, async_copies_without_wait) {
    open_text(ASYNC(""));
    check_buffer *in = zeros(4), *out = zeros(4);
    set_range(4, 4);
    RUN(arg_buffer(in), arg_buffer(out), arg_bytes(&(const int64_t){1}, 8));
    SAYS("t.spv: error: data race at @tmp + 0: read while an async copy is in flight\n" AT_KERNEL
         "%v: i32 = load %t align 4\n"
         "  and an async copy of group (0, 0, 0): %e: event = async_copy @tmp, %x, i64 4, %stride, "
         "event null, i64 4 workgroup\n"
         "  4 times\n"
         "t.spv: error: no work-item waits for this async copy\n"
         "  an async copy of group (0, 0, 0) in kernel @k: %e: event = async_copy @tmp, %x, i64 4, "
         "%stride, event null, i64 4 workgroup\n");
    close_all();
}

Test(check_groups, async_copy_of_what_is_not_ordered) {
    open_text(
        "@tmp: local [2 x i32] align 4\n"
        "kernel @k(%out: ptr.global) {\nentry:\n"
        "  %list: ptr.private = alloca event align 8\n"
        "  %l: i64 = local_id 0\n" LOCAL_ELEMENT(
            "l", "@tmp",
            "t") "  store i32 5, %t align 4\n"
                 "  %e: event = async_copy %out, @tmp, i64 2, i64 1, event null, i64 4 workgroup\n"
                 "  store %e, %list align 8\n"
                 "  wait_events i32 1, %list workgroup\n"
                 "  store event null, %list align 8\n"
                 "  wait_events i32 1, %list workgroup\n"
                 "  ret\n}\n");
    check_buffer *out = zeros(2);
    set_range(2, 2);
    RUN(arg_buffer(out));
    SAYS("t.spv: error: data race at @tmp + 0: read and write of different work-items\n"
         "  an async copy of group (0, 0, 0) in kernel @k: %e: event = async_copy %out, @tmp, i64 "
         "2, "
         "i64 1, event null, i64 4 workgroup\n"
         "  and work-item (0, 0, 0) of group (0, 0, 0): store i32 5, %t align 4\n"
         "  2 times\n"
         "t.spv: error: waits for something that is not an event\n" AT_KERNEL
         "wait_events i32 1, %list workgroup\n"
         "  2 times\n");
    close_all();
}
