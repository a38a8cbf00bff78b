/* rect_test.c — boxes of bytes: reading, writing and copying them, against copies of single bytes,
 * and every error. */
#include "tests/opencl/buffers.h"
#include "tests/random.h"

TestSuite(rect, .init = begin_buffers, .fini = end_buffers);

/* A box as the entries want it. */
typedef struct {
    size_t origin[3], row, slice;
} shape;

static size_t pitch_of_rows(const shape *s, const size_t region[3]) {
    return s->row ? s->row : region[0];
}

static size_t pitch_of_slices(const shape *s, const size_t region[3]) {
    return s->slice ? s->slice : region[1] * pitch_of_rows(s, region);
}

static size_t offset_of(const shape *s, const size_t region[3], size_t x, size_t y, size_t z) {
    return (s->origin[2] + z) * pitch_of_slices(s, region) +
           (s->origin[1] + y) * pitch_of_rows(s, region) + s->origin[0] + x;
}

/* Copies byte by byte. */
static void copy_box(unsigned char *to, const shape *t, const unsigned char *from, const shape *f,
                     const size_t region[3]) {
    for (size_t z = 0; z < region[2]; z++)
        for (size_t y = 0; y < region[1]; y++)
            for (size_t x = 0; x < region[0]; x++)
                to[offset_of(t, region, x, y, z)] = from[offset_of(f, region, x, y, z)];
}

static bool fits(const shape *s, const size_t region[3]) {
    return offset_of(s, region, region[0] - 1, region[1] - 1, region[2] - 1) < SIZE;
}

/* Some have pitches of 0; a slice has a number of rows. */
static shape draw_shape(uint64_t *random, const size_t region[3]) {
    shape s = {{draw_below(random, 20), draw_below(random, 6), draw_below(random, 3)}, 0, 0};
    if (draw_below(random, 3)) s.row = region[0] + draw_below(random, 3) * 4;
    if (draw_below(random, 3))
        s.slice = (region[1] + draw_below(random, 3)) * pitch_of_rows(&s, region);
    return s;
}

static void draw_region(uint64_t *random, size_t region[3]) {
    for (unsigned n = 0; n < 3; n++) region[n] = 1 + draw_below(random, n ? 4 : 12);
}

static void fill_with_noise(uint64_t *random, unsigned char bytes[SIZE]) {
    for (size_t n = 0; n < SIZE; n++) bytes[n] = (unsigned char)draw_below(random, 256);
}

static void write_all(const unsigned char bytes[SIZE]) {
    SUCCEEDS(clEnqueueWriteBuffer(ocl.queue, buffer, CL_TRUE, 0, SIZE, bytes, 0, NULL, NULL));
}

static cl_int read_rect(cl_mem m, const shape *b, const shape *h, const size_t *region,
                        void *host) {
    return clEnqueueReadBufferRect(ocl.queue, m, CL_TRUE, b->origin, h->origin, region, b->row,
                                   b->slice, h->row, h->slice, host, 0, NULL, NULL);
}

static cl_int write_rect(cl_mem m, const shape *b, const shape *h, const size_t *region,
                         const void *host) {
    return clEnqueueWriteBufferRect(ocl.queue, m, CL_TRUE, b->origin, h->origin, region, b->row,
                                    b->slice, h->row, h->slice, host, 0, NULL, NULL);
}

static cl_int copy_rect(cl_mem from, cl_mem to, const shape *f, const shape *t,
                        const size_t *region) {
    return clEnqueueCopyBufferRect(ocl.queue, from, to, f->origin, t->origin, region, f->row,
                                   f->slice, t->row, t->slice, 0, NULL, NULL);
}

/* --------------------------------------------------------------------------------- random boxes */

enum { ROUNDS = 3000 };

Test(rect, random_transfers) {
    uint64_t random = 1;
    unsigned good = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned char host[SIZE], want[SIZE], got[SIZE];
        size_t region[3];
        draw_region(&random, region);
        const shape b = draw_shape(&random, region), h = draw_shape(&random, region);
        fill_with_noise(&random, host);
        if (!fits(&h, region)) continue;
        bool reads = draw_below(&random, 2), ok = fits(&b, region);
        read_all(buffer, want);
        cl_int status = reads ? read_rect(buffer, &b, &h, region, memcpy(got, host, SIZE))
                              : write_rect(buffer, &b, &h, region, host);
        cr_assert_eq(status, ok ? CL_SUCCESS : CL_INVALID_VALUE);
        if (!ok) continue;
        if (reads)
            copy_box(host, &h, want, &b, region);
        else
            copy_box(want, &b, host, &h, region);
        if (!reads) read_all(buffer, got);
        cr_assert_arr_eq(got, reads ? host : want, SIZE);
        good++;
    }
    cr_expect(good > ROUNDS / 4);
}

static bool overlap(const shape *a, const shape *b, const size_t region[3]) {
    unsigned char first[SIZE] = {0}, second[SIZE] = {0}, ones[SIZE];
    memset(ones, 1, sizeof ones);
    copy_box(first, a, ones, a, region);
    copy_box(second, b, ones, b, region);
    for (size_t n = 0; n < SIZE; n++)
        if (first[n] && second[n]) return true;
    return false;
}

static cl_int copy_status(const shape *f, const shape *t, const size_t region[3]) {
    if (!fits(f, region) || !fits(t, region)) return CL_INVALID_VALUE;
    if (pitch_of_rows(f, region) != pitch_of_rows(t, region) &&
        pitch_of_slices(f, region) != pitch_of_slices(t, region))
        return CL_INVALID_VALUE;
    return overlap(f, t, region) ? CL_MEM_COPY_OVERLAP : CL_SUCCESS;
}

Test(rect, random_copies) {
    uint64_t random = 2;
    unsigned good = 0, overlaps = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned char want[SIZE], got[SIZE];
        size_t region[3];
        draw_region(&random, region);
        const shape f = draw_shape(&random, region);
        shape t = draw_shape(&random, region);
        if (draw_below(&random, 2)) t.row = f.row, t.slice = f.slice;
        const cl_int status = copy_status(&f, &t, region);
        fill_with_noise(&random, want);
        write_all(want);
        cr_assert_eq(copy_rect(buffer, buffer, &f, &t, region), status);
        overlaps += status == CL_MEM_COPY_OVERLAP;
        if (status) continue;
        copy_box(want, &t, want, &f, region);
        read_all(buffer, got);
        cr_assert_arr_eq(got, want, SIZE);
        good++;
    }
    cr_expect(good > ROUNDS / 50 && overlaps > ROUNDS / 50, "%u good, %u overlap", good, overlaps);
}

Test(rect, copy_between_buffers) {
    unsigned char got[SIZE], want[SIZE];
    const size_t region[3] = {3, 4, 5};
    const shape f = {{1, 2, 3}, 5, 30}, t = {{4, 0, 1}, 7, 28};
    cl_mem m = new_buffer(0);
    cl_event done;
    SUCCEEDS(clEnqueueFillBuffer(ocl.queue, m, "z", 1, 0, SIZE, 0, NULL, NULL));
    SUCCEEDS(clEnqueueCopyBufferRect(ocl.queue, buffer, m, f.origin, t.origin, region, f.row,
                                     f.slice, t.row, t.slice, 0, NULL, &done));
    TELLS(cl_command_type, CL_COMMAND_COPY_BUFFER_RECT, clGetEventInfo, done,
          CL_EVENT_COMMAND_TYPE);
    read_all(buffer, got);
    memset(want, 'z', SIZE);
    copy_box(want, &t, got, &f, region);
    read_all(m, got);
    cr_expect_arr_eq(got, want, SIZE);
    SUCCEEDS(clReleaseEvent(done));
    SUCCEEDS(clReleaseMemObject(m));
}

Test(rect, copy_between_sub_buffers) {
    cl_mem low = sub_buffer(0, 512), high = sub_buffer(256, 512);
    const size_t region[3] = {8, 8, 1};
    const shape first = {{0, 0, 0}, 16, 0}, second = {{8, 0, 0}, 16, 0},
                later = {{0, 16, 0}, 16, 0};
    FAILS(CL_MEM_COPY_OVERLAP, copy_rect(low, high, &later, &first, region)); /* the same bytes */
    FAILS(CL_SUCCESS, copy_rect(low, high, &later, &second, region));
    FAILS(CL_SUCCESS, copy_rect(low, high, &first, &first, region));
    FAILS(CL_MEM_COPY_OVERLAP, copy_rect(buffer, low, &first, &first, region));
    SUCCEEDS(clReleaseMemObject(low));
    SUCCEEDS(clReleaseMemObject(high));
}

/* --------------------------------------------------------------------------------------- errors */

static const size_t unit[3] = {4, 2, 2};
static const shape plain = {{0, 0, 0}, 0, 0};

/* Shapes that are wrong for `unit`, whatever they are shapes of. */
static const shape wrong_shapes[] = {
    {{0, 0, 0}, 3, 0},        /* rows that overlap */
    {{0, 0, 0}, 4, 7},        /* slices that do */
    {{0, 0, 0}, SIZE_MAX, 0}, /* sizes that are none */
    {{0, 0, 0}, 0, SIZE_MAX}, {{SIZE_MAX, 0, 0}, 0, 0},     {{0, SIZE_MAX, 0}, 0, 0},
    {{0, 0, SIZE_MAX}, 0, 0}, {{SIZE_MAX - 7, 1, 1}, 0, 0},
};
enum { WRONG_SHAPES = sizeof wrong_shapes / sizeof *wrong_shapes };

/* Shapes with which `unit` does not fit into a buffer. */
static const shape outside[] = {
    {{SIZE, 0, 0}, 0, 0},
    {{SIZE - 15, 0, 0}, 0, 0},
    {{0, SIZE / 4, 0}, 0, 0},
    {{0, 0, 0}, SIZE, 0},
};
enum { OUTSIDE = sizeof outside / sizeof *outside };

Test(rect, wrong_shapes) {
    unsigned char host[SIZE];
    for (unsigned n = 0; n < WRONG_SHAPES + OUTSIDE; n++) {
        const shape *s = n < WRONG_SHAPES ? &wrong_shapes[n] : &outside[n - WRONG_SHAPES];
        FAILS(CL_INVALID_VALUE, read_rect(buffer, s, &plain, unit, host));
        FAILS(CL_INVALID_VALUE, write_rect(buffer, s, &plain, unit, host));
        FAILS(CL_INVALID_VALUE, copy_rect(buffer, buffer, s, &plain, unit));
        FAILS(CL_INVALID_VALUE, copy_rect(buffer, buffer, &plain, s, unit));
        if (n >= WRONG_SHAPES) continue;
        FAILS(CL_INVALID_VALUE, read_rect(buffer, &plain, s, unit, host));
        FAILS(CL_INVALID_VALUE, write_rect(buffer, &plain, s, unit, host));
    }
}

Test(rect, uneven_slices) {
    const shape uneven = {{0, 0, 0}, 4, 10}, later = {{512, 0, 0}, 0, 0};
    unsigned char host[SIZE];
    FAILS(CL_SUCCESS, read_rect(buffer, &uneven, &plain, unit, host));
    FAILS(CL_SUCCESS, write_rect(buffer, &plain, &uneven, unit, host));
    FAILS(CL_INVALID_VALUE, copy_rect(buffer, buffer, &uneven, &later, unit));
    FAILS(CL_INVALID_VALUE, copy_rect(buffer, buffer, &later, &uneven, unit));
}

Test(rect, wrong_regions) {
    const shape later = {{512, 0, 0}, 0, 0};
    unsigned char host[SIZE];
    for (unsigned n = 0; n < 4; n++) {
        size_t region[3] = {4, 2, 2};
        if (n < 3) region[n] = 0;
        const size_t *given = n < 3 ? region : NULL;
        FAILS(CL_INVALID_VALUE, read_rect(buffer, &plain, &plain, given, host));
        FAILS(CL_INVALID_VALUE, write_rect(buffer, &plain, &plain, given, host));
        FAILS(CL_INVALID_VALUE, copy_rect(buffer, buffer, &plain, &later, given));
    }
    const size_t most[3] = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
    FAILS(CL_INVALID_VALUE, read_rect(buffer, &plain, &plain, most, host));
    FAILS(CL_INVALID_VALUE, copy_rect(buffer, buffer, &plain, &later, most));
}

Test(rect, wrong_objects) {
    const size_t *o = plain.origin;
    char host[64];
#define READ(q, m, host, n, list)                                                                  \
    clEnqueueReadBufferRect(q, m, CL_FALSE, o, o, unit, 0, 0, 0, 0, host, n, list, NULL)
#define WRITE(q, m, host, n, list)                                                                 \
    clEnqueueWriteBufferRect(q, m, CL_FALSE, o, o, unit, 0, 0, 0, 0, host, n, list, NULL)
#define COPY(q, from, to, n, list)                                                                 \
    clEnqueueCopyBufferRect(q, from, to, o, (size_t[]){64, 0, 0}, unit, 0, 0, 0, 0, n, list, NULL)
    FAILS(CL_INVALID_COMMAND_QUEUE, READ(NULL, NULL, NULL, 1, NULL));
    FAILS(CL_INVALID_COMMAND_QUEUE, WRITE(NULL, NULL, NULL, 1, NULL));
    FAILS(CL_INVALID_COMMAND_QUEUE, COPY(NULL, buffer, buffer, 1, NULL));
    FAILS(CL_INVALID_MEM_OBJECT, READ(ocl.queue, NULL, NULL, 1, NULL));
    FAILS(CL_INVALID_MEM_OBJECT, WRITE(ocl.queue, NULL, NULL, 1, NULL));
    FAILS(CL_INVALID_MEM_OBJECT, COPY(ocl.queue, NULL, buffer, 1, NULL));
    FAILS(CL_INVALID_MEM_OBJECT, COPY(ocl.queue, buffer, NULL, 1, NULL));
    FAILS(CL_INVALID_CONTEXT, READ(ocl.queue, other_buffer, NULL, 1, NULL));
    FAILS(CL_INVALID_CONTEXT, WRITE(ocl.queue, other_buffer, NULL, 1, NULL));
    FAILS(CL_INVALID_CONTEXT, COPY(ocl.queue, other_buffer, buffer, 1, NULL));
    FAILS(CL_INVALID_CONTEXT, COPY(ocl.queue, buffer, other_buffer, 1, NULL));
    FAILS(CL_INVALID_VALUE, READ(ocl.queue, buffer, NULL, 1, NULL));
    FAILS(CL_INVALID_VALUE, WRITE(ocl.queue, buffer, NULL, 1, NULL));
    CHECK_WAIT_LIST(READ(ocl.queue, buffer, host, n, list));
    CHECK_WAIT_LIST(WRITE(ocl.queue, buffer, host, n, list));
    CHECK_WAIT_LIST(COPY(ocl.queue, buffer, buffer, n, list));
}

Test(rect, blocking_fails_with_its_events) {
    const size_t *o = plain.origin;
    char host[64];
    cl_event bad = failed_event();
    FAILS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
          clEnqueueReadBufferRect(ocl.queue, buffer, CL_TRUE, o, o, unit, 0, 0, 0, 0, host, 1, &bad,
                                  NULL));
    FAILS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
          clEnqueueWriteBufferRect(ocl.queue, buffer, CL_TRUE, o, o, unit, 0, 0, 0, 0, host, 1,
                                   &bad, NULL));
    SUCCEEDS(clReleaseEvent(bad));
}

Test(rect, host_access) {
    const cl_mem_flags flags[] = {CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY,
                                  CL_MEM_HOST_NO_ACCESS};
    char host[64] = "";
    for (unsigned n = 0; n < 3; n++) {
        cl_mem m = new_buffer(flags[n]);
        FAILS(n == 1 ? CL_SUCCESS : CL_INVALID_OPERATION, read_rect(m, &plain, &plain, unit, host));
        FAILS(n == 0 ? CL_SUCCESS : CL_INVALID_OPERATION,
              write_rect(m, &plain, &plain, unit, host));
        SUCCEEDS(copy_rect(buffer, m, &plain, &plain, unit));
        SUCCEEDS(clReleaseMemObject(m));
    }
}
