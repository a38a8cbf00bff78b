/* graph_test.c — recorded launches: what is fused, what stays apart and why, and that either way
 * the results are those of one launch after the other.
 */
#include "tests/runtime/queue/launches.h"

static spvf_graph *graph;

static void begin_graph(bench *t, const spvf_graph_options *o) {
    begin(t);
    cr_assert_eq(spvf_graph_create(t->device, o, &graph), SPVF_OK);
}

static void end_graph(bench *t) {
    spvf_graph_destroy(graph);
    end(t);
}

static size_t add(bench *t, int to, int from, int32_t k) {
    const spvf_argument args[] = {
        {.buffer = t->b[to]}, {.buffer = t->b[from]}, {.bytes = &k, .size = sizeof k}};
    const spvf_launch what = launch_of(t, "add", args, 3);
    size_t index;
    cr_assert_eq(spvf_graph_launch(graph, &what, &index), SPVF_OK);
    return index;
}

static size_t of_two(bench *t, const char *kernel, int to, int from) {
    const spvf_argument args[] = {{.buffer = t->b[to]}, {.buffer = t->b[from]}};
    const spvf_launch what = launch_of(t, kernel, args, 2);
    size_t index;
    cr_assert_eq(spvf_graph_launch(graph, &what, &index), SPVF_OK);
    return index;
}

static size_t reverse(bench *t, int to, int from) { return of_two(t, "reverse", to, from); }

static void run(bench *t, int from) {
    spvf_event *e;
    cr_assert_eq(spvf_graph_run(graph, t->q, NULL, &e), SPVF_OK);
    cr_assert_eq(spvf_event_wait(e), SPVF_OK, "%s", messages);
    spvf_event_destroy(e);
    read_back(t, t->q, from);
}

Test(graph, a_chain_becomes_one_kernel_without_its_temporaries) {
    bench t;
    begin_graph(&t, NULL);
    for (int k = 0; k < 8; k++) cr_expect_eq(add(&t, k + 1, k, k), (size_t)k);
    for (int k = 1; k < 8; k++)
        cr_expect_eq(spvf_graph_internal(graph, t.b[k], SPVF_PROMOTE_AUTO), SPVF_OK);
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_graph_kernel_count(graph), 1);
    spvf_graph_kernel k = spvf_graph_get_kernel(graph, 0);
    cr_expect(k.first == 0 && k.count == 8 && k.explanation && k.explanation->fused && !k.refusal);
    run(&t, 8);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(t.back[n], n + 28);
    for (int n = 1; n < 8; n++) cr_expect_null(t.b[n]->memory, "it was never there");
    end_graph(&t);
}

/* A product that goes from kernel to kernel is rounded before anything is added to it. */
Test(graph, numbers_are_those_that_memory_would_hold) {
    bench t;
    begin_graph(&t, NULL);
    of_two(&t, "scale", 1, 0);
    of_two(&t, "shift", 2, 1);
    cr_expect_eq(spvf_graph_internal(graph, t.b[1], SPVF_PROMOTE_AUTO), SPVF_OK);
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_graph_kernel_count(graph), 1);
    run(&t, 2);
    for (int n = 0; n < COUNT; n++) {
        float want = (float)n * 0.1F, got;
        want += 1 / 3.F;
        memcpy(&got, &t.back[n], sizeof got);
        cr_assert(got == want, "%d: %a, not %a", n, (double)got, (double)want);
    }
    end_graph(&t);
}

Test(graph, values_and_buffers_change_between_runs) {
    bench t;
    begin_graph(&t, NULL);
    add(&t, 1, 0, 10);
    size_t second = add(&t, 2, 1, 20);
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_graph_kernel_count(graph), 1);
    run(&t, 2);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(t.back[n], n + 30);
    int32_t k = 100;
    cr_expect_eq(spvf_graph_set_value(graph, second, 2, &k, sizeof k), SPVF_OK);
    cr_expect_eq(spvf_graph_set_value(graph, second, 1, &k, sizeof k), SPVF_ERROR_ARGUMENT);
    cr_expect_eq(spvf_graph_set_value(graph, second, 2, &k, 2), SPVF_ERROR_ARGUMENT);
    cr_expect_eq(spvf_graph_set_buffer(graph, t.b[2], t.b[5]), SPVF_OK);
    cr_expect_eq(spvf_graph_set_buffer(graph, t.b[5], t.b[0]), SPVF_ERROR_ARGUMENT,
                 "in it already");
    cr_expect_eq(spvf_graph_set_buffer(graph, t.b[7], t.b[8]), SPVF_ERROR_ARGUMENT, "not in it");
    run(&t, 5);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(t.back[n], n + 110);
    end_graph(&t);
}

/* Groups depend on each other through b[2]. */
Test(graph, a_refusal_splits_it_and_is_kept) {
    bench t;
    begin_graph(&t, NULL);
    add(&t, 1, 0, 1);
    add(&t, 2, 1, 1);
    reverse(&t, 3, 2);
    add(&t, 4, 3, 1);
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK);
    cr_assert_eq(spvf_graph_kernel_count(graph), 2);
    spvf_graph_kernel a = spvf_graph_get_kernel(graph, 0), b = spvf_graph_get_kernel(graph, 1);
    cr_expect(a.first == 0 && a.count == 2 && a.explanation);
    cr_expect(b.first == 2 && b.count == 2 && b.explanation);
    cr_assert(a.refusal && a.refusal->refusal);
    cr_expect_str_eq(a.refusal->refusal->rule, "fuse.grid");
    cr_expect_str_eq(messages, "");
    run(&t, 4);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(t.back[n], COUNT - 1 - n + 3);
    end_graph(&t);
}

/* Three phases; the temporaries that lie between groups are needed, those within items are not. */
Test(graph, launches_become_phases) {
    const spvf_graph_options phases = {.size = sizeof phases, .strict = true, .phases = true};
    bench t;
    begin_graph(&t, &phases);
    add(&t, 1, 0, 1);
    reverse(&t, 2, 1);
    add(&t, 3, 2, 5);
    reverse(&t, 4, 3);
    cr_expect_eq(spvf_graph_internal(graph, t.b[2], SPVF_PROMOTE_AUTO), SPVF_OK);
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_graph_kernel_count(graph), 1);
    cr_expect(spvf_graph_get_kernel(graph, 0).explanation->gaps[2]->phase);
    cr_expect_not(spvf_graph_get_kernel(graph, 0).explanation->gaps[1]->phase);
    for (int k = 0; k < 3; k++) run(&t, 4);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(t.back[n], n + 6);
    cr_expect_null(t.b[2]->memory, "it was never there");
    end_graph(&t);
}

Test(graph, strict_graphs_are_fused_or_refused) {
    const spvf_graph_options strict = {.size = sizeof strict, .strict = true};
    bench t;
    begin_graph(&t, &strict);
    add(&t, 1, 0, 1);
    reverse(&t, 2, 1);
    cr_expect_eq(spvf_graph_commit(graph), SPVF_ERROR_REFUSED);
    cr_expect(strstr(messages, "error: not fused: work-groups depend on each other"), "%s",
              messages);
    end_graph(&t);
}

Test(graph, a_strict_graph_does_not_leave_launches_out) {
    const spvf_graph_options strict = {.size = sizeof strict, .strict = true};
    bench t;
    begin_graph(&t, &strict);
    add(&t, 1, 0, 1);
    cr_expect_eq(spvf_graph_exclude(graph, add(&t, 2, 1, 1)), SPVF_OK);
    cr_expect_eq(spvf_graph_commit(graph), SPVF_ERROR_REFUSED);
    cr_expect(strstr(messages, "not fused: launch 1 is to stay by itself"), "%s", messages);
    end_graph(&t);
}

/* Each border is found, whatever the lengths of the pieces. */
Test(graph, many_launches_are_divided_where_they_must_be) {
    enum { PIECES = 12 };
    bench t;
    int32_t sum = 0;
    begin_graph(&t, NULL);
    for (int n = 0; n < PIECES; n++) {
        for (int k = 0; k <= n; k++, sum++) add(&t, 1, k ? 1 : n ? 2 : 0, 1);
        reverse(&t, 2, 1);
    }
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_graph_kernel_count(graph), 2 * PIECES);
    for (size_t n = 0; n < PIECES; n++) {
        cr_expect_eq(spvf_graph_get_kernel(graph, 2 * n).count, n + 1);
        cr_expect_eq(spvf_graph_get_kernel(graph, 2 * n + 1).count, 1);
    }
    run(&t, 2);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(t.back[n], n + sum);
    end_graph(&t);
}

Test(graph, launches_that_stay_by_themselves) {
    const spvf_graph_options unfused = {.size = sizeof unfused, .unfused = true};
    bench t;
    begin_graph(&t, NULL);
    add(&t, 1, 0, 1);
    size_t alone = add(&t, 2, 1, 1);
    add(&t, 3, 2, 1);
    add(&t, 4, 3, 1);
    cr_expect_eq(spvf_graph_exclude(graph, alone), SPVF_OK);
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK);
    cr_expect_eq(spvf_graph_kernel_count(graph), 3);
    cr_expect_eq(spvf_graph_get_kernel(graph, 2).count, 2);
    run(&t, 4);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(t.back[n], n + 4);
    end_graph(&t);
    begin_graph(&t, &unfused);
    add(&t, 1, 0, 1);
    add(&t, 2, 1, 1);
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK);
    cr_expect_eq(spvf_graph_kernel_count(graph), 2);
    run(&t, 2);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(t.back[n], n + 2);
    end_graph(&t);
}

/* It does nothing, by itself: the others are fused. */
Test(graph, a_launch_of_no_items) {
    bench t;
    begin_graph(&t, NULL);
    const int32_t k = 7;
    const spvf_argument args[] = {
        {.buffer = t.b[2]}, {.buffer = t.b[0]}, {.bytes = &k, .size = sizeof k}};
    spvf_launch what = launch_of(&t, "add", args, 3);
    what.range.global[0] = 0;
    cr_assert_eq(spvf_graph_launch(graph, &what, NULL), SPVF_OK);
    add(&t, 1, 0, 1);
    add(&t, 2, 1, 1);
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK, "%s", messages);
    cr_expect_eq(spvf_graph_kernel_count(graph), 2);
    run(&t, 2);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(t.back[n], n + 2);
    end_graph(&t);
}

/* b[0], from an offset on, of `count` elements becomes b[1] + 1. */
static void add_to_part(bench *t, size_t offset, uint64_t count) {
    const int32_t k = 1;
    const spvf_argument args[] = {{.buffer = t->b[0], .offset = offset},
                                  {.buffer = t->b[1]},
                                  {.bytes = &k, .size = sizeof k}};
    spvf_launch what = launch_of(t, "add", args, 3);
    what.range = (spvf_range){.dims = 1, .global = {count}, .local = {1}};
    cr_assert_eq(spvf_graph_launch(graph, &what, NULL), SPVF_OK);
}

/* Element n of one view is element n + 1 of the other: they must not be taken for two buffers. */
Test(graph, views_that_overlap_are_not_fused) {
    bench t;
    begin_graph(&t, NULL);
    add_to_part(&t, 4, 2);
    add_to_part(&t, 0, 2);
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK);
    cr_assert_eq(spvf_graph_kernel_count(graph), 2);
    spvf_graph_kernel first = spvf_graph_get_kernel(graph, 0);
    cr_assert(first.refusal && first.refusal->refusal);
    cr_expect_str_eq(first.refusal->refusal->rule, "fuse.overlap");
    run(&t, 0);
    cr_expect_eq(t.back[1], t.back[2]);
    end_graph(&t);
}

/* By what is accessed, and not by where the buffer ends. */
Test(graph, views_that_are_apart_are_fused) {
    bench t;
    begin_graph(&t, NULL);
    add_to_part(&t, 0, 2);
    add_to_part(&t, 8, 2);
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK);
    cr_assert_eq(spvf_graph_kernel_count(graph), 1);
    run(&t, 0);
    cr_expect(t.back[0] == t.back[2] && t.back[1] == t.back[3] && t.back[4] == 4);
    end_graph(&t);
}

static void launch_some(spvf_launch what) {
    what.range.global[0] = 100;
    cr_assert_eq(spvf_graph_launch(graph, &what, NULL), SPVF_OK, "%s", messages);
}

/* The same place is read by one kernel, of which that is not known before calls are inlined, and
 * written by another; a third one reads around it. */
Test(graph, a_view_that_one_of_two_kernels_writes) {
    bench t;
    begin_graph(&t, NULL);
    const int32_t k = 1;
    const spvf_argument first[] = {{.buffer = t.b[2]}, {.buffer = t.b[1]}},
                        second[] = {{.buffer = t.b[1]},
                                    {.buffer = t.b[0]},
                                    {.bytes = &k, .size = sizeof k}},
                        third[] = {{.buffer = t.b[3]}, {.buffer = t.b[1], .offset = 4}};
    launch_some(launch_of(&t, "copy", first, 2));
    launch_some(launch_of(&t, "add", second, 3));
    launch_some(launch_of(&t, "copy", third, 2));
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK);
    cr_expect_eq(spvf_graph_kernel_count(graph), 2);
    run(&t, 3);
    for (int n = 0; n < 99; n++) cr_assert_eq(t.back[n], n + 2);
    end_graph(&t);
}

Test(graph, a_temporary_that_others_read_stays) {
    bench t;
    begin_graph(&t, NULL);
    add(&t, 1, 0, 1);
    add(&t, 2, 1, 1);
    reverse(&t, 3, 1);
    cr_expect_eq(spvf_graph_internal(graph, t.b[1], SPVF_PROMOTE_AUTO), SPVF_OK);
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK);
    cr_expect_eq(spvf_graph_kernel_count(graph), 2);
    run(&t, 3);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(t.back[n], COUNT - n);
    end_graph(&t);
}

Test(graph, what_makes_no_sense_is_refused) {
    bench t;
    begin_graph(&t, NULL);
    cr_expect_eq(spvf_graph_commit(graph), SPVF_ERROR_ARGUMENT, "nothing is in it");
    cr_expect_eq(spvf_graph_run(graph, t.q, NULL, NULL), SPVF_ERROR_ARGUMENT);
    add(&t, 1, 0, 1);
    cr_expect_eq(spvf_graph_exclude(graph, 1), SPVF_ERROR_ARGUMENT);
    cr_expect_eq(spvf_graph_run(graph, t.q, NULL, NULL), SPVF_ERROR_ARGUMENT);
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK);
    cr_expect_eq(spvf_graph_commit(graph), SPVF_ERROR_ARGUMENT);
    cr_expect_eq(spvf_graph_internal(graph, t.b[1], SPVF_PROMOTE_AUTO), SPVF_ERROR_ARGUMENT);
    run(&t, 1);
    cr_expect_eq(t.back[3], 4);
    end_graph(&t);
}
