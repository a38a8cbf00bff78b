/* staging_test.c — small copies of device cuda, which go through memory that the device reads and
 * writes by itself. */
#include "tests/random.h"
#include "tests/runtime/devices/cuda/cuda_queue.h"

#include <stdatomic.h>

enum { LARGE = 300000, FIRST_COPIES = 16 };

static void read_to(spvf_buffer *from, void *to, size_t size) {
    cr_assert_eq(spvf_queue_read(t.queue, from, 0, to, size, NULL, NULL), SPVF_OK, "%s", messages);
}

static void write_from(spvf_buffer *to, const void *from, size_t size) {
    cr_assert_eq(spvf_queue_write(t.queue, to, 0, from, size, NULL, NULL), SPVF_OK, "%s", messages);
}

static void finish(void) { cr_expect_eq(spvf_queue_finish(t.queue), SPVF_OK, "%s", messages); }

static void launch(int to, int from) {
    const int32_t one = 1;
    spvf_argument args[3];
    const spvf_launch l = add(args, to, from, &one);
    cr_assert_eq(spvf_queue_launch(t.queue, &l, NULL, NULL), SPVF_OK, "%s", messages);
}

/* After as many copies as it takes. */
static void open_staged(void) {
    int32_t back[N];
    fake_cuda_forget();
    open_queue();
    for (int k = 0; k < FIRST_COPIES; k++) {
        read_to(t.b[0], back, BYTES);
        finish();
    }
    cr_expect_eq(fake_cuda_count("cuMemHostAlloc"), 1);
}

static spvf_buffer *large_buffer(const void *data) {
    spvf_buffer *b;
    cr_assert_eq(spvf_buffer_create(t.device, LARGE, (void *)(uintptr_t)data, 0, &b), SPVF_OK);
    return b;
}

Test(cuda_staging, a_few_copies_are_the_drivers) {
    int32_t back[N];
    open_queue();
    for (int k = 0; k < FIRST_COPIES / 2; k++) read_to(t.b[0], back, BYTES);
    finish();
    cr_expect_eq(fake_cuda_count("cuMemHostAlloc"), 0);
    close_queue();
}

/* What has been read is there when the command has ended, and launches go on meanwhile. */
Test(cuda_staging, a_read_does_not_wait_for_the_device) {
    int32_t back[N] = {0};
    open_staged();
    launch(1, 0);
    finish();
    fake_cuda_hold(true);
    unsigned before = fake_cuda_launches();
    launch(1, 1);
    read_to(t.b[1], back, BYTES);
    launch(1, 1);
    cr_expect_eq(fake_cuda_launches(), before + 2);
    cr_expect_eq(back[5], 0);
    fake_cuda_hold(false);
    finish();
    for (int k = 0; k < N; k++) cr_assert_eq(back[k], k + 2);
    close_queue();
}

/* Nor does a write, whose bytes the program may not change before it has ended all the same. */
Test(cuda_staging, a_write_does_not_wait_for_the_device) {
    int32_t data[N];
    open_staged();
    launch(1, 0);
    finish();
    fake_cuda_hold(true);
    for (int k = 0; k < N; k++) data[k] = 7 * k;
    unsigned before = fake_cuda_count("cuMemcpyHtoDAsync_v2");
    write_from(t.b[1], data, BYTES);
    cr_expect_eq(fake_cuda_count("cuMemcpyHtoDAsync_v2"), before + 1);
    fake_cuda_hold(false);
    read_to(t.b[1], data, BYTES);
    finish();
    for (int k = 0; k < N; k++) cr_assert_eq(data[k], 7 * k);
    close_queue();
}

Test(cuda_staging, contents_of_new_buffers_do_not_wait_for_the_device) {
    int32_t data[N] = {1, 2, 3};
    spvf_buffer *b;
    open_staged();
    unsigned before = fake_cuda_count("cuStreamSynchronize");
    cr_assert_eq(spvf_buffer_create(t.device, BYTES, data, 0, &b), SPVF_OK);
    cr_expect_eq(fake_cuda_count("cuStreamSynchronize"), before);
    data[0] = 0;
    read_to(b, data, BYTES);
    finish();
    cr_expect_eq(data[0], 1);
    spvf_buffer_destroy(b);
    close_queue();
}

/* There is no ring yet, and the few bytes are copied. */
Test(cuda_staging, contents_of_the_first_buffers_do_not_wait_either) {
    int32_t data[N] = {1, 2, 3};
    spvf_buffer *b, *large;
    open_queue();
    cr_expect_eq(fake_cuda_count("cuStreamSynchronize"), 0);
    cr_assert_eq(spvf_buffer_create(t.device, BYTES, data, 0, &b), SPVF_OK);
    cr_expect_eq(fake_cuda_count("cuStreamSynchronize"), 0);
    data[0] = 0;
    read_to(b, data, BYTES);
    finish();
    cr_expect_eq(data[0], 1);
    unsigned before = fake_cuda_count("cuStreamSynchronize");
    static char zeros[LARGE];
    large = large_buffer(zeros);
    cr_expect_eq(fake_cuda_count("cuStreamSynchronize"), before + 1);
    spvf_buffer_destroy(large);
    spvf_buffer_destroy(b);
    close_queue();
}

Test(cuda_staging, what_is_read_is_there_before_it_is_written) {
    int32_t data[N], back[N];
    open_staged();
    launch(1, 0);
    read_to(t.b[1], data, BYTES);
    write_from(t.b[2], data, BYTES);
    launch(3, 2);
    read_to(t.b[3], back, BYTES);
    finish();
    for (int k = 0; k < N; k++) cr_assert_eq(back[k], k + 2);
    close_queue();
}

Test(cuda_staging, a_later_read_to_the_same_memory_is_the_last) {
    static char zeros[LARGE], back[LARGE];
    open_staged();
    spvf_buffer *b = large_buffer(zeros);
    read_to(t.b[0], back, BYTES);
    read_to(b, back, LARGE);
    finish();
    cr_expect_arr_eq(back, zeros, LARGE);
    spvf_buffer_destroy(b);
    close_queue();
}

Test(cuda_staging, where_there_is_no_room_the_driver_copies) {
    enum { READS = 60, BIG = 200000 };
    static char data[LARGE], back[READS][BIG];
    for (int k = 0; k < LARGE; k++) data[k] = (char)(k * 7 + k / 251);
    open_staged();
    spvf_buffer *b = large_buffer(data);
    fake_cuda_hold(true);
    for (int k = 0; k < READS; k++) read_to(b, back[k], BIG);
    fake_cuda_hold(false);
    finish();
    for (int k = 0; k < READS; k++) cr_expect_arr_eq(back[k], data, BIG, "%d", k);
    spvf_buffer_destroy(b);
    close_queue();
}

/* ------------------------------------------------------------------------------------------ failures */

Test(cuda_staging, without_that_memory_the_driver_copies) {
    int32_t back[N];
    open_queue();
    fake_cuda_fail("cuMemHostAlloc", 1, 2, false);
    for (int k = 0; k < 2 * FIRST_COPIES; k++) {
        back[7] = 0;
        read_to(t.b[0], back, BYTES);
        finish();
        cr_expect_eq(back[7], 7);
    }
    cr_expect_eq(fake_cuda_count("cuMemHostAlloc"), 1, "it is asked for once");
    close_queue();
}

Test(cuda_staging, a_copy_that_fails_leaves_the_others_alone) {
    static const char *const calls[] = {"cuMemcpyDtoHAsync_v2", "cuMemcpyHtoDAsync_v2"};
    for (unsigned n = 0; n < 2; n++) {
        int32_t back[N] = {0}, other[N] = {0}, data[N] = {0};
        bench.folder[0] = 0;
        open_staged();
        fake_cuda_fail(calls[n], 1, 999, false);
        read_to(t.b[0], back, BYTES);
        write_from(t.b[1], data, BYTES);
        read_to(t.b[0], other, BYTES);
        cr_expect_eq(spvf_queue_finish(t.queue), SPVF_ERROR_DEVICE, "%s", calls[n]);
        cr_expect_eq(back[5], n == 0 ? 0 : 5, "%s", calls[n]);
        cr_expect_eq(other[5], 5, "%s", calls[n]);
        close_queue();
    }
}

Test(cuda_staging, nothing_is_read_from_a_lost_device) {
    int32_t back[N] = {0};
    open_staged();
    launch(1, 0);
    finish();
    fake_cuda_fail("kernel", 1, 700, false);
    launch(1, 0);
    read_to(t.b[0], back, BYTES);
    cr_expect_eq(spvf_queue_finish(t.queue), SPVF_ERROR_DEVICE);
    cr_expect_eq(back[5], 0);
    close_queue();
}

/* ------------------------------------------------------------------------------------ random commands */

enum { PLACES = 3, COMMANDS = 400 };

static uint8_t memory[PLACES][LARGE], host[PLACES][LARGE], wanted[PLACES][LARGE],
    wanted_host[PLACES][LARGE];
static _Atomic bool done;

static void *hold_again_and_again(void *arg) {
    while (!done) {
        fake_cuda_hold(true);
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
    fake_cuda_hold(false);
    return arg;
}

/* Mostly small; some are too large for a place. */
static size_t draw_size(uint64_t *seed) {
    const size_t most = draw_below(seed, 4) ? 5000 : LARGE;
    return 1 + draw_below(seed, (unsigned)most);
}

static void run_one(uint64_t *seed, spvf_buffer *const b[PLACES]) {
    const unsigned x = draw_below(seed, PLACES), y = draw_below(seed, PLACES);
    const size_t size = draw_size(seed), at = draw_below(seed, (unsigned)(LARGE - size + 1)),
                 from = draw_below(seed, (unsigned)(LARGE - size + 1));
    const uint8_t byte = (uint8_t)draw_below(seed, 256);
    spvf_status s = SPVF_OK;
    switch (draw_below(seed, 4)) {
    case 0:
        s = spvf_queue_read(t.queue, b[x], from, host[y] + at, size, NULL, NULL);
        memcpy(wanted_host[y] + at, wanted[x] + from, size);
        break;
    case 1:
        s = spvf_queue_write(t.queue, b[x], at, host[y] + from, size, NULL, NULL);
        memcpy(wanted[x] + at, wanted_host[y] + from, size);
        break;
    case 2:
        s = spvf_queue_fill(t.queue, b[x], at, size, &byte, 1, NULL, NULL);
        memset(wanted[x] + at, byte, size);
        break;
    default:
        if (x == y) break;
        s = spvf_queue_copy(t.queue, b[x], from, b[y], at, size, NULL, NULL);
        memcpy(wanted[y] + at, wanted[x] + from, size);
    }
    cr_assert_eq(s, SPVF_OK, "%s", messages);
}

Test(cuda_staging, random_copies_are_in_order, .timeout = 60) {
    uint64_t seed = 1;
    spvf_buffer *b[PLACES];
    pthread_t thread;
    open_staged();
    for (unsigned k = 0; k < PLACES; k++)
        for (unsigned n = 0; n < LARGE; n++) {
            wanted[k][n] = memory[k][n] = (uint8_t)draw_below(&seed, 256);
            wanted_host[k][n] = host[k][n] = (uint8_t)draw_below(&seed, 256);
        }
    for (unsigned k = 0; k < PLACES; k++) b[k] = large_buffer(memory[k]);
    cr_assert_eq(pthread_create(&thread, NULL, hold_again_and_again, NULL), 0);
    for (unsigned k = 0; k < COMMANDS; k++) run_one(&seed, b);
    finish();
    done = true;
    pthread_join(thread, NULL);
    for (unsigned k = 0; k < PLACES; k++) {
        cr_expect_arr_eq(host[k], wanted_host[k], LARGE, "host %u", k);
        read_to(b[k], memory[k], LARGE);
        finish();
        cr_expect_arr_eq(memory[k], wanted[k], LARGE, "buffer %u", k);
        spvf_buffer_destroy(b[k]);
    }
    close_queue();
}
