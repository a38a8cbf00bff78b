/* pointer_test.c — arguments that are addresses, and what an address leads to: launches are ordered,
 * fused and checked as if they were given the buffer and the offset.
 */
#include "tests/runtime/queue/launches.h"

static bench t;
static spvf_graph *graph;

static void set_up(void) {
    begin(&t);
    cr_assert_eq(spvf_graph_create(t.device, NULL, &graph), SPVF_OK);
}

static void tear_down(void) {
    spvf_graph_destroy(graph);
    end(&t);
}

TestSuite(pointer, .init = set_up, .fini = tear_down);

static spvf_argument at(int buffer, size_t offset) {
    const char *p = spvf_buffer_address(t.b[buffer]);
    cr_assert(p);
    return (spvf_argument){.address = p + offset};
}

static const int32_t ten = 10;

static spvf_launch add(spvf_argument args[3]) {
    args[2] = (spvf_argument){.bytes = &ten, .size = sizeof ten};
    return launch_of(&t, "add", args, 3);
}

/* --------------------------------------------------------------------------------------- launches */

Test(pointer, launches_take_addresses) {
    spvf_argument args[3] = {at(1, 0), at(0, 0)};
    const spvf_launch what = add(args);
    cr_assert_eq(spvf_queue_launch(t.q, &what, NULL, NULL), SPVF_OK, "%s", messages);
    read_back(&t, t.q, 1);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(t.back[n], n + 10);
}

/* The queue has no order of its own. */
Test(pointer, addresses_order_commands) {
    spvf_event *gate;
    cr_assert_eq(spvf_event_create(t.device, &gate), SPVF_OK);
    spvf_argument first[3] = {at(1, 0), at(0, 0)}, second[3] = {at(2, 0), at(1, 0)};
    const spvf_launch one = add(first), two = add(second);
    cr_assert_eq(spvf_queue_launch(t.other, &one, &(spvf_wait){&gate, 1}, NULL), SPVF_OK);
    cr_assert_eq(spvf_queue_launch(t.other, &two, NULL, NULL), SPVF_OK);
    cr_assert_eq(spvf_event_end(gate, SPVF_OK), SPVF_OK);
    read_back(&t, t.other, 2);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(t.back[n], n + 20);
    spvf_event_destroy(gate);
}

Test(pointer, an_address_in_a_buffer_is_an_offset) {
    spvf_argument args[3] = {at(1, 400), at(0, 800)};
    spvf_launch what = add(args);
    what.range.global[0] = 100;
    cr_assert_eq(spvf_queue_fill(t.q, t.b[1], 0, BYTES, "\0\0\0\0", 4, NULL, NULL), SPVF_OK);
    cr_assert_eq(spvf_queue_launch(t.q, &what, NULL, NULL), SPVF_OK, "%s", messages);
    read_back(&t, t.q, 1);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(t.back[n], n >= 100 && n < 200 ? n + 100 + 10 : 0);
}

/* Of buffers that share the byte, it is the one that ends last, whichever was made first. */
Test(pointer, the_buffer_that_ends_last) {
    int32_t here[20];
    spvf_buffer *part[3];
    size_t offset;
    for (int k = 0; k < 3; k++)
        cr_assert_eq(spvf_buffer_create(t.device, k == 1 ? 80 : 40, here, SPVF_USE_HOST, &part[k]),
                     SPVF_OK);
    cr_expect_eq(buf_find(t.device, here + 9, &offset), part[1]);
    cr_expect_eq(offset, 36);
    cr_expect_eq(buf_find(t.device, here + 19, &offset), part[1]);
    cr_expect_null(buf_find(t.device, here + 20, &offset));
    for (int k = 0; k < 2; k++) buf_release(part[1]);
    for (int k = 0; k < 3; k++) spvf_buffer_destroy(part[k]);
    cr_expect_null(buf_find(t.device, here, &offset));
}

/* ----------------------------------------------------------------------------------------- fusion */

Test(pointer, graphs_fuse_launches_with_addresses) {
    spvf_argument first[3] = {at(1, 0), at(0, 0)}, second[3] = {at(2, 0), at(1, 0)};
    const spvf_launch one = add(first), two = add(second);
    cr_assert_eq(spvf_graph_launch(graph, &one, NULL), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_graph_launch(graph, &two, NULL), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_graph_internal(graph, t.b[1], SPVF_PROMOTE_AUTO), SPVF_OK);
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK, "%s", messages);
    cr_expect_eq(spvf_graph_kernel_count(graph), 1);
    cr_assert_eq(spvf_graph_run(graph, t.q, NULL, NULL), SPVF_OK);
    read_back(&t, t.q, 2);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(t.back[n], n + 20);
}

Test(pointer, graphs_keep_apart_what_overlaps) {
    spvf_argument first[3] = {at(1, 0), at(0, 0)}, second[3] = {at(2, 0), at(1, 4)};
    const spvf_launch one = add(first), two = add(second);
    cr_assert_eq(spvf_graph_launch(graph, &one, NULL), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_graph_launch(graph, &two, NULL), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK, "%s", messages);
    cr_expect_eq(spvf_graph_kernel_count(graph), 2);
    cr_expect_str_eq(spvf_graph_get_kernel(graph, 0).refusal->refusal->rule, "fuse.overlap");
}

/* The addresses are asked for before: that alone would end the fusion. */
Test(pointer, queues_fuse_launches_with_addresses) {
    spvf_argument first[3] = {at(1, 0), at(0, 0)}, second[3] = {at(2, 0), at(1, 0)};
    const spvf_launch one = add(first), two = add(second);
    cr_assert_eq(spvf_queue_start_fusion(t.q, NULL), SPVF_OK);
    cr_assert_eq(spvf_queue_launch(t.q, &one, NULL, NULL), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_queue_launch(t.q, &two, NULL, NULL), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_queue_complete_fusion(t.q, NULL), SPVF_OK, "%s", messages);
    cr_expect_eq(spvf_graph_kernel_count(spvf_queue_last_fusion(t.q)), 1);
    read_back(&t, t.q, 2);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(t.back[n], n + 20);
}

/* ----------------------------------------------------------------------------------------- misuse */

static void expect_refused(spvf_argument a, const char *why) {
    spvf_argument args[3] = {at(1, 0), a};
    const spvf_launch what = add(args);
    messages[0] = 0;
    cr_expect_eq(spvf_queue_launch(t.q, &what, NULL, NULL), SPVF_ERROR_ARGUMENT);
    cr_expect(strstr(messages, why), "%s", messages);
    messages[0] = 0;
    cr_expect_eq(spvf_graph_launch(graph, &what, NULL), SPVF_ERROR_ARGUMENT);
    cr_expect(strstr(messages, why), "%s", messages);
}

Test(pointer, addresses_of_no_buffer) {
    int32_t nowhere;
    expect_refused((spvf_argument){.address = &nowhere}, "no buffer of the device is at");
    spvf_argument end = at(0, BYTES);
    expect_refused(end, "no buffer of the device is at");
    cr_expect_eq(rt_ref_count(&t.b[1]->refs), 1, "what was found is given back");
}

Test(pointer, addresses_that_are_something_else_as_well) {
    spvf_argument a = at(0, 0);
    a.buffer = t.b[0];
    expect_refused(a, "argument 1 is an address, and a buffer as well");
    a = at(0, 0);
    a.bytes = &ten;
    expect_refused(a, "argument 1 is an address, and bytes as well");
}

Test(pointer, buffers_of_other_devices) {
    spvf_device *d;
    spvf_buffer *b;
    spvf_context *c = new_context();
    cr_assert_eq(spvf_device_open(c, "cpu", &d), SPVF_OK);
    cr_assert_eq(spvf_buffer_create(d, BYTES, NULL, 0, &b), SPVF_OK);
    expect_refused((spvf_argument){.address = spvf_buffer_address(b)}, "no buffer of the device");
    spvf_buffer_destroy(b);
    spvf_device_destroy(d);
    spvf_context_destroy(c);
}

/* ----------------------------------------------------------------------------- ranges of addresses */

/* An allocation comes before a part of it, even one that goes farther. */
Test(pointer, what_an_address_leads_to) {
    char bytes[100] = "";
    rt_range whole = {.kind = RT_RANGE_ALLOCATION, .owner = &t}, part = {RT_RANGE_RESOURCE};
    rt_position p;
    cr_expect_not(rt_find_memory(bytes, &p));
    rt_range_place(rt_scheduler_get(), &part, bytes + 20, 80);
    cr_assert(rt_find_memory(bytes + 30, &p));
    cr_expect(p.begin == (uintptr_t)bytes + 20 && p.size == 80 && p.offset == 10 && !p.is_whole);
    rt_range_place(rt_scheduler_get(), &whole, bytes, 40);
    cr_assert(rt_find_memory(bytes + 30, &p));
    cr_expect(p.begin == (uintptr_t)bytes && p.size == 40 && p.offset == 30 && p.is_whole);
    cr_assert(rt_find_memory(bytes + 40, &p));
    cr_expect(p.size == 80 && p.offset == 20);
    cr_expect_not(rt_find_memory(bytes + 100, &p));
    rt_range_remove(&whole);
    rt_range_remove(&whole); /* it is in no tree any more */
    cr_assert(rt_find_memory(bytes + 30, &p));
    cr_expect_eq(p.size, 80);
    rt_range_remove(&part);
    cr_expect_not(rt_find_memory(bytes + 30, &p));
}
