/* hip_runtime_test.c — programs for a runtime like those of HIP (hip_runtime.h), with kernels whose
 * warps have 32 threads (tests/corpus/hip_warps.cl).  Each of them runs with each of the three ways
 * of memory: an implementation may lack the extensions that the runtime likes best.
 */
#include "tests/opencl/hip_runtime.h"

#include <pthread.h>

static void begin_without(const char *names, memory_way wanted) {
    cr_assert_eq(setenv("SPVF_WITHOUT_EXTENSIONS", names, 1), 0);
    begin_hip();
    cr_assert_eq(hip.way, wanted);
}

#define USM "cl_intel_unified_shared_memory"
static void begin_usm(void) { begin_without("", BY_USM); }
static void begin_address(void) { begin_without(USM, BY_ADDRESS); }
static void begin_svm(void) { begin_without(USM " cl_ext_buffer_device_address", BY_SVM); }

TestSuite(hip_usm, .init = begin_usm, .fini = end_hip);
TestSuite(hip_address, .init = begin_address, .fini = end_hip);
TestSuite(hip_svm, .init = begin_svm, .fini = end_hip);

#define PROGRAM(name)                                                                              \
    static void name(void);                                                                        \
    Test(hip_usm, name) { name(); }                                                                \
    Test(hip_address, name) { name(); }                                                            \
    Test(hip_svm, name) { name(); }                                                                \
    static void name(void)

enum { COUNT = 4096 };

static int value_of(int i) { return (int)((unsigned)i * 2654435761u >> 20) - 2048; }

static int host[COUNT], back[COUNT];

static int *new_input(void) {
    int *in = hip_malloc(sizeof host);
    for (int i = 0; i < COUNT; i++) host[i] = value_of(i);
    copy(in, host, sizeof host);
    return in;
}

/* ------------------------------------------------------------------------------------------ warps */

static int sum_of(int first, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += host[first + i];
    return sum;
}

/* In blocks of one warp to 32 of them. */
PROGRAM(sums_and_scans) {
    int *in = new_input(), *out = hip_malloc(sizeof back);
    for (unsigned threads = 32; threads <= 1024; threads *= 2) {
        enqueue((launch){"sums", {COUNT / threads}, {threads}, 2, 0, {P(in), P(out)}}, ocl.queue);
        copy(back, out, sizeof back);
        for (int i = 0; i < COUNT; i++)
            cr_assert_eq(back[i], sum_of(i / WARP * WARP, WARP), "%u: %d", threads, i);
        enqueue((launch){"block_scan", {COUNT / threads}, {threads}, 2, 128, {P(in), P(out)}},
                ocl.queue);
        copy(back, out, sizeof back);
        for (int i = 0, sum = 0; i < COUNT; i++) {
            sum = (unsigned)i % threads ? sum + host[i] : host[i];
            cr_assert_eq(back[i], sum, "%u: %d", threads, i);
        }
    }
    hip_free(in);
    hip_free(out);
}

static unsigned bits_of(int first, bool (*test)(int)) {
    unsigned bits = 0;
    for (int n = 0; n < WARP; n++) bits |= (unsigned)test(host[first + n]) << n;
    return bits;
}

static bool is_odd(int x) { return x & 1; }
static bool is_large(int x) { return x > 100; }
static bool is_small(int x) { return x <= -100; }
static bool is_third(int x) { return x % 3 == 0; }
static bool is_third_with_2(int x) { return x % 3 == 0 && x & 2; }
static bool is_next(int x) { return x % 3 == 1; }

static unsigned first_of(int first, bool (*test)(int)) {
    for (int n = 0; n < WARP; n++)
        if (test(host[first + n])) return (unsigned)host[first + n];
    return 0;
}

PROGRAM(votes_and_ballots) {
    enum { ITEMS = COUNT / 4 };
    int *in = new_input(), *out = hip_malloc(3 * ITEMS * 4);
    const unsigned *got = (const unsigned *)back;
    enqueue((launch){"votes", {ITEMS / 256}, {256}, 2, 0, {P(in), P(out)}}, ocl.queue);
    copy(back, out, 3 * ITEMS * 4);
    for (int i = 0; i < ITEMS; i++) {
        const int w = i / WARP * WARP;
        const unsigned votes = (bits_of(w, is_large) ? 1u : 0) | (bits_of(w, is_small) ? 0 : 2u);
        unsigned active = 0;
        if (is_third(host[i])) active = bits_of(w, is_third) ^ bits_of(w, is_third_with_2) << 1;
        if (is_next(host[i])) active = first_of(w, is_next);
        cr_assert_eq(got[i], bits_of(w, is_odd));
        cr_assert_eq(got[ITEMS + i], votes, "%d", i);
        cr_assert_eq(got[2 * ITEMS + i], active, "%d", i);
    }
    hip_free(in);
    hip_free(out);
}

/* Places that threads take by one atomic operation of their warp; each warp has room of its own. */
PROGRAM(compaction) {
    int *in = new_input(), *out = hip_malloc(sizeof back), *counts = hip_malloc(COUNT / WARP * 4);
    int kept[COUNT / WARP];
    set_async(out, 0, sizeof back, ocl.queue);
    set_async(counts, 0, sizeof kept, ocl.queue);
    enqueue((launch){"compact", {COUNT / 128}, {128}, 3, 0, {P(in), P(out), P(counts)}}, ocl.queue);
    copy(back, out, sizeof back);
    copy(kept, counts, sizeof kept);
    for (int w = 0; w < COUNT / WARP; w++) {
        int n = 0;
        for (int i = w * WARP; i < (w + 1) * WARP; i++)
            if (host[i] & 4) cr_assert_eq(back[w * WARP + n++], host[i], "%d", i);
        cr_assert_eq(kept[w], n);
    }
    hip_free(in);
    hip_free(out);
    hip_free(counts);
}

static int compare(const void *a, const void *b) {
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

PROGRAM(sorted_warps) {
    int *data = new_input();
    enqueue((launch){"sort_warps", {COUNT / 64}, {64}, 1, 0, {P(data)}}, ocl.queue);
    copy(back, data, sizeof back);
    for (int w = 0; w < COUNT; w += WARP) qsort(host + w, WARP, sizeof *host, compare);
    cr_expect(!memcmp(back, host, sizeof back));
    hip_free(data);
}

/* --------------------------------------------------------------------------------- memory of blocks */

/* Pointers in the middle of blocks, atomic operations of all blocks, and memory that a launch
 * gives them. */
PROGRAM(block_sums) {
    int *in = new_input(), *total = hip_malloc(64), got;
    set_async(total, 0, 64, ocl.queue);
    enqueue((launch){"block_sum", {5}, {256}, 3, 32, {P(in + 100), P(total + 3), N(3000)}},
            ocl.queue);
    copy(&got, total + 3, 4);
    cr_expect_eq(got, sum_of(100, 3000));
    hip_free(in);
    hip_free(total);
}

PROGRAM(tiles) {
    static float matrix[64 * 64], turned[64 * 64];
    float *in = hip_malloc(sizeof matrix), *out = hip_malloc(sizeof matrix);
    for (int i = 0; i < 64 * 64; i++) matrix[i] = (float)i;
    copy(in, matrix, sizeof matrix);
    enqueue((launch){"transpose", {2, 2}, {32, 8}, 3, 33 * 32 * 4, {P(in), P(out), N(64)}},
            ocl.queue);
    copy(turned, out, sizeof turned);
    for (int i = 0; i < 64 * 64; i++) cr_assert_eq(turned[i], matrix[i % 64 * 64 + i / 64]);
    hip_free(in);
    hip_free(out);
}

PROGRAM(histograms) {
    enum { BINS = 37 };
    int *in = new_input(), *bins = hip_malloc(BINS * 4), wanted[BINS] = {0};
    set_async(bins, 0, BINS * 4, ocl.queue);
    enqueue((launch){"histogram", {COUNT / 64}, {64}, 3, BINS * 4, {P(in), P(bins), N(BINS)}},
            ocl.queue);
    copy(back, bins, BINS * 4);
    for (int i = 0; i < COUNT; i++) wanted[(unsigned)host[i] % BINS]++;
    cr_expect(!memcmp(back, wanted, sizeof wanted));
    hip_free(in);
    hip_free(bins);
}

/* -------------------------------------------------------------------------------------- streams */

/* Each stream has a part of the data; the default stream is after all, and before what follows. */
PROGRAM(many_streams) {
    enum { STREAMS = 8, PART = COUNT / STREAMS };
    int *in = hip_malloc(sizeof host), *out = hip_malloc(sizeof host);
    for (int i = 0; i < COUNT; i++) host[i] = value_of(i);
    for (int n = 0; n < STREAMS; n++) {
        stream s = new_stream();
        copy_async(in + n * PART, host + n * PART, PART * 4, s);
        for (int r = 0; r < 4; r++) {
            int *const from = (r % 2 ? out : in) + n * PART, *const to =
                                                                 (r % 2 ? in : out) + n * PART;
            enqueue((launch){"scan_of_warps", {PART / 64}, {64}, 2, 0, {P(from), P(to)}}, s);
        }
    }
    copy_async(back, in, sizeof back, hip.streams[0]);
    copy_async(back, in + PART, 4, hip.streams[3]);
    finish_all();
    for (int r = 0; r < 4; r++)
        for (int i = 0; i < COUNT; i++)
            if (i % WARP) host[i] += host[i - 1];
    cr_expect_eq(back[0], host[PART]);
    cr_expect(!memcmp(back + 1, host + 1, sizeof back - 4));
    hip_free(in);
    hip_free(out);
}

/* A stream waits for an event that another one has recorded; events tell times in their order. */
PROGRAM(events) {
    int *in = new_input(), *a = hip_malloc(sizeof host), *b = hip_malloc(sizeof host);
    stream first = new_stream(), second = new_stream();
    cl_event start = record(first);
    for (int r = 0; r < 10; r++)
        enqueue((launch){"scan_of_warps", {COUNT / 256}, {256}, 2, 0, {P(in), P(a)}}, first);
    cl_event stop = record(first);
    wait_for(second, stop);
    enqueue((launch){"sums", {COUNT / 256}, {256}, 2, 0, {P(a), P(b)}}, second);
    copy_async(back, b, sizeof back, second);
    SUCCEEDS(clFinish(second));
    for (int i = 0; i < COUNT; i += WARP) {
        int sum = 0;
        for (int n = 0, x = 0; n < WARP; n++) sum += x += host[i + n];
        cr_assert_eq(back[i], sum);
    }
    cl_ulong t0, t1;
    SUCCEEDS(clGetEventProfilingInfo(start, CL_PROFILING_COMMAND_END, 8, &t0, NULL));
    SUCCEEDS(clGetEventProfilingInfo(stop, CL_PROFILING_COMMAND_END, 8, &t1, NULL));
    cr_expect_leq(t0, t1);
    SUCCEEDS(clReleaseEvent(start));
    SUCCEEDS(clReleaseEvent(stop));
    hip_free(in);
    hip_free(a);
    hip_free(b);
}

typedef struct {
    stream s;
    int *in, *out, got[256];
} worker;

/* Without the default stream, as with --default-stream=per-thread. */
static void *work(void *user) {
    worker *w = user;
    size_t items = 256, local = 64;
    for (int r = 0; r < 50; r++) {
        cl_kernel k = clCreateKernel(hip.program, "sums", &(cl_int){0});
        bool ok = k && !set_pointer(k, 0, w->in) && !set_pointer(k, 1, w->out) &&
                  !clEnqueueNDRangeKernel(w->s, k, 1, NULL, &items, &local, 0, NULL, NULL);
        if (!ok || clReleaseKernel(k)) return "a launch has failed";
    }
    return clFinish(w->s) ? "clFinish has failed" : NULL;
}

PROGRAM(threads) {
    enum { THREADS = 6 };
    int *in = new_input(), *out = hip_malloc(sizeof host);
    static worker w[THREADS];
    pthread_t threads[THREADS];
    for (int n = 0; n < THREADS; n++) {
        w[n] = (worker){.s = new_stream(), .in = in + 256 * n, .out = out + 256 * n};
        cr_assert_eq(pthread_create(&threads[n], NULL, work, &w[n]), 0);
    }
    for (int n = 0; n < THREADS; n++) {
        void *why;
        pthread_join(threads[n], &why);
        cr_assert_null(why, "%s", (char *)why);
    }
    copy(back, out, THREADS * 1024);
    for (int i = 0; i < THREADS * 256; i++) cr_assert_eq(back[i], sum_of(i / WARP * WARP, WARP));
    hip_free(in);
    hip_free(out);
}
