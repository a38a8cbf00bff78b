/* copies_test.c — copies and fills of device cuda, next to those of the host. */
#include "tests/random.h"
#include "tests/runtime/devices/cuda/cuda_bench.h"

enum { BYTES = 4096 };

static const char nothing[] = "target 64\nkernel @k() {\nentry:\n  ret\n}\n";
static uint8_t memory[2][BYTES], host[BYTES], back[BYTES];

static void number(uint8_t *bytes, unsigned step) {
    for (unsigned n = 0; n < BYTES; n++) bytes[n] = (uint8_t)(n * step + n / 251);
}

static unsigned rows_called(void) {
    return fake_cuda_count("cuMemcpyDtoDAsync_v2") + fake_cuda_count("cuMemcpyHtoDAsync_v2") +
           fake_cuda_count("cuMemcpyDtoHAsync_v2");
}

static void expect_bytes(rt_memory *m, const uint8_t *wanted, const char *what) {
    rt_device_read(bench.device, m, 0, back, BYTES);
    cr_expect_arr_eq(back, wanted, BYTES, "%s", what);
}

/* --------------------------------------------------------------------------------------- copies */

typedef struct {
    size_t region[3], to_row, to_slice, from_row, from_slice;
    unsigned rows, boxes; /* calls of the driver */
    const char *what;
} shape;

static const shape shapes[] = {
    {{100, 1, 1}, 0, 0, 0, 0, 1, 0, "bytes"},
    {{16, 8, 1}, 16, 0, 16, 0, 1, 0, "rows without gaps"},
    {{16, 8, 2}, 16, 128, 16, 128, 1, 0, "slices without gaps"},
    {{12, 8, 1}, 16, 0, 20, 0, 0, 1, "rows with gaps"},
    {{12, 4, 3}, 16, 64, 12, 60, 0, 1, "slices with gaps"},
    {{12, 4, 3}, 16, 70, 12, 60, 12, 0, "slices that begin amid rows"},
    {{12, 4, 1}, 4, 0, 12, 0, 4, 0, "rows that overlap"},
    {{0, 4, 1}, 16, 0, 16, 0, 0, 0, "nothing"},
};

/* way 0: in memory, 1: from the host, 2: to it. */
static void copy_one(const shape *s, unsigned way, rt_memory *const m[2]) {
    rt_copy c = {.to = {.row = s->to_row, .slice = s->to_slice},
                 .from = {.row = s->from_row, .slice = s->from_slice},
                 .region = {s->region[0], s->region[1], s->region[2]}};
    rt_copy wanted = c;
    if (way == 2) {
        c.to.bytes = (char *)host;
    } else {
        c.to.memory = m[1];
        c.to.offset = 8;
    }
    if (way == 1) {
        c.from.bytes = (char *)host;
    } else {
        c.from.memory = m[0];
        c.from.offset = 24;
    }
    uint8_t *to = way == 2 ? host : memory[1] + 8;
    uint8_t expected[BYTES];
    fake_cuda_forget();
    memcpy(expected, way == 2 ? host : memory[1], BYTES);
    rt_copy_rows((char *)expected + (way == 2 ? 0 : 8),
                 (const char *)(way == 1 ? host : memory[0] + 24), &wanted);
    cr_assert(run(&(rt_command){.kind = RT_COMMAND_COPY, .copy = c}), "%s: %s", s->what, messages);
    cr_expect_eq(rows_called(), s->rows, "%s, way %u: %u", s->what, way, rows_called());
    cr_expect_eq(fake_cuda_count("cuMemcpy3DAsync_v2"), s->boxes, "%s, way %u", s->what, way);
    if (way == 2) {
        cr_expect_arr_eq(to, expected, BYTES, "%s", s->what);
        return;
    }
    memcpy(memory[1], expected, BYTES);
    expect_bytes(m[1], memory[1], s->what);
}

Test(cuda_copies, boxes_are_one_call) {
    number(memory[0], 3);
    number(memory[1], 5);
    open_bench(nothing);
    rt_memory *m[] = {new_memory(memory[0], BYTES), new_memory(memory[1], BYTES)};
    for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++)
        for (unsigned way = 0; way < 3; way++) {
            number(host, 7 + way);
            copy_one(&shapes[n], way, m);
        }
    close_bench();
    remove_cache_folder();
}

/* A driver that refuses distances gets the rows. */
Test(cuda_copies, rows_where_the_driver_takes_no_boxes) {
    const shape s = {{12, 8, 1}, 16, 0, 20, 0, 8, 1, "refused"};
    open_bench(nothing);
    rt_memory *m[] = {new_memory(memory[0], BYTES), new_memory(memory[1], BYTES)};
    rt_copy c = {.to = {.memory = m[1], .row = s.to_row},
                 .from = {.memory = m[0], .row = s.from_row},
                 .region = {12, 8, 1}};
    number(memory[0], 3);
    fake_cuda_forget();
    fake_cuda_fail("cuMemcpy3DAsync_v2", 1, 1, false);
    cr_assert(run(&(rt_command){.kind = RT_COMMAND_COPY, .copy = c}), "%s", messages);
    cr_expect_eq(rows_called(), 8);
    close_bench();
    remove_cache_folder();
}

/* ---------------------------------------------------------------------------------------- fills */

Test(cuda_copies, fills_with_patterns_of_each_size) {
    uint64_t random = 1;
    number(memory[0], 3);
    open_bench(nothing);
    rt_memory *m = new_memory(memory[0], BYTES);
    for (unsigned size = 1; size <= RT_MAX_PATTERN; size++)
        for (unsigned kind = 0; kind < 3; kind++) {
            uint8_t pattern[RT_MAX_PATTERN];
            for (unsigned k = 0; k < size; k++)
                pattern[k] = kind == 0   ? 0
                             : kind == 1 ? (uint8_t)(k % 2)
                                         : (uint8_t)splitmix64(&random);
            rt_fill f = {.to = {.memory = m, .offset = size * (kind + 1)},
                         .size = size * 7,
                         .pattern_size = size,
                         .pattern = pattern};
            fake_cuda_forget();
            rt_repeat_pattern((char *)memory[0] + f.to.offset, &f);
            cr_assert(run(&(rt_command){.kind = RT_COMMAND_FILL, .fill = f}), "%s", messages);
            cr_expect_eq(rows_called(), 0, "size %u", size);
            cr_expect_leq(fake_cuda_count("cuStreamSynchronize"), 1, "only for its end");
            expect_bytes(m, memory[0], "fill");
        }
    close_bench();
    remove_cache_folder();
}
