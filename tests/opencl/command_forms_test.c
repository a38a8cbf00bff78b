/* command_forms_test.c — the entries that record commands as version 0.9.5 and newer of
 * cl_khr_command_buffer have them, with a list of properties, beside the form without it that
 * command_buffer_test.c uses: each call is read as it was meant. */
#define _GNU_SOURCE /* MAP_FIXED_NOREPLACE */
#include "tests/opencl/command_buffer.h"

#include <sys/mman.h>

typedef const cl_properties *properties;
typedef cl_uint count;
typedef const cl_sync_point_khr *points;
#define TARGET cl_command_buffer_khr b, cl_command_queue q
#define ORDER count n, points wait, cl_sync_point_khr *point, cl_mutable_command_khr *handle

/* The same entries in both forms; o_: the older one. */
static struct {
    cl_int(CL_API_CALL *barrier)(TARGET, properties p, ORDER);
    cl_int(CL_API_CALL *o_barrier)(TARGET, ORDER);
    cl_int(CL_API_CALL *copy)(TARGET, properties p, cl_mem from, cl_mem to, size_t from_offset,
                              size_t to_offset, size_t size, ORDER);
    cl_int(CL_API_CALL *o_copy)(TARGET, cl_mem from, cl_mem to, size_t from_offset,
                                size_t to_offset, size_t size, ORDER);
    cl_int(CL_API_CALL *rect)(TARGET, properties p, cl_mem from, cl_mem to,
                              const size_t *from_origin, const size_t *to_origin,
                              const size_t *region, size_t from_row, size_t from_slice,
                              size_t to_row, size_t to_slice, ORDER);
    cl_int(CL_API_CALL *fill)(TARGET, properties p, cl_mem m, const void *pattern,
                              size_t pattern_size, size_t offset, size_t size, ORDER);
    cl_int(CL_API_CALL *o_fill)(TARGET, cl_mem m, const void *pattern, size_t pattern_size,
                                size_t offset, size_t size, ORDER);
    cl_int(CL_API_CALL *memcpy)(TARGET, properties p, void *to, const void *from, size_t size,
                                ORDER);
    cl_int(CL_API_CALL *memfill)(TARGET, properties p, void *to, const void *pattern,
                                 size_t pattern_size, size_t size, ORDER);
    cl_int(CL_API_CALL *o_memcpy)(TARGET, void *to, const void *from, size_t size, ORDER);
    cl_int(CL_API_CALL *o_memfill)(TARGET, void *to, const void *pattern, size_t pattern_size,
                                   size_t size, ORDER);
} form;

static void begin(void) {
    begin_commands();
    find_entry("clCommandBarrierWithWaitListKHR", &form.barrier);
    find_entry("clCommandBarrierWithWaitListKHR", &form.o_barrier);
    find_entry("clCommandCopyBufferKHR", &form.copy);
    find_entry("clCommandCopyBufferKHR", &form.o_copy);
    find_entry("clCommandCopyBufferRectKHR", &form.rect);
    find_entry("clCommandFillBufferKHR", &form.fill);
    find_entry("clCommandFillBufferKHR", &form.o_fill);
    find_entry("clCommandSVMMemcpyKHR", &form.memcpy);
    find_entry("clCommandSVMMemFillKHR", &form.memfill);
    find_entry("clCommandSVMMemcpyKHR", &form.o_memcpy);
    find_entry("clCommandSVMMemFillKHR", &form.o_memfill);
}

TestSuite(command_forms, .init = begin, .fini = end_commands);

static const cl_properties no_properties[] = {0}, some_properties[] = {1, 1, 0};

/* ----------------------------------------------------------------------------- what is recorded */

Test(command_forms, commands_run_in_order) {
    const size_t target[3] = {8, 1, 0}, source[3] = {0, 0, 0}, region[3] = {4, 3, 1};
    const int pattern = 7;
    cl_sync_point_khr at[4] = {0};
    record_add(commands, 1, 0, 5);
    SUCCEEDS(
        form.copy(commands, NULL, NULL, buffers[1], buffers[2], 0, 40, 400, 0, NULL, &at[0], NULL));
    SUCCEEDS(form.barrier(commands, NULL, NULL, 1, at, &at[1], NULL));
    SUCCEEDS(form.fill(commands, NULL, no_properties, buffers[2], &pattern, 4, 20, 12, 2, at,
                       &at[2], NULL));
    SUCCEEDS(form.rect(commands, NULL, NULL, buffers[1], buffers[3], source, target, region, 40, 0,
                       20, 0, 0, NULL, &at[3], NULL));
    record_add(commands, 2, 2, 1000);
    cr_expect(at[0] == 2 && at[1] == 3 && at[2] == 4 && at[3] == 5);
    finalize(commands);
    run(commands);
    expect_copies();
}

/* Every way to call for a barrier, as the first call that could tell the form. */
static cl_command_buffer_khr with_three(cl_sync_point_khr at[3]) {
    cl_command_buffer_khr b = new_commands(NULL);
    for (int n = 0; n < 3; n++) {
        record_add(b, 1, 0, n);
        at[n] = (cl_sync_point_khr)n + 1;
    }
    return b;
}

static void check_barrier(bool newer, properties p, count n, bool wants_point) {
    cl_sync_point_khr at[4], got = 77, *point = wants_point ? &got : NULL;
    cl_command_buffer_khr b = with_three(at);
    points wait = n ? at : NULL;
    SUCCEEDS(newer ? form.barrier(b, NULL, p, n, wait, point, NULL)
                   : form.o_barrier(b, NULL, n, wait, point, NULL));
    cr_expect(got == (wants_point ? 4 : 77), "%s, %u, %d: %u", newer ? "newer" : "older", n,
              wants_point, got);
    SUCCEEDS(form.copy(b, NULL, NULL, buffers[0], buffers[1], 0, 0, 4, 0, NULL, &got, NULL));
    cr_expect(got == 5);
    SUCCEEDS(khr.clReleaseCommandBufferKHR(b));
}

Test(command_forms, barriers) {
    for (count n = 0; n < 4; n++)
        for (int point = 0; point < 2; point++) {
            check_barrier(false, NULL, n, point);
            check_barrier(true, NULL, n, point);
            check_barrier(true, no_properties, n, point);
        }
}

/* Both forms in one process, each in command buffers of its own. */
Test(command_forms, beside_each_other) {
    cl_sync_point_khr at[3], got;
    cl_command_buffer_khr old = with_three(at), new = with_three(at);
    for (int n = 0; n < 3; n++) {
        SUCCEEDS(form.o_copy(old, NULL, buffers[0], buffers[1], 0, 0, 4, 1, at, &got, NULL));
        cr_expect(got == (cl_sync_point_khr)(4 + 2 * n));
        SUCCEEDS(form.copy(new, NULL, NULL, buffers[0], buffers[1], 0, 0, 4, 1, at, &got, NULL));
        cr_expect(got == (cl_sync_point_khr)(4 + 2 * n));
        SUCCEEDS(form.o_barrier(old, NULL, 3, at, &got, NULL));
        cr_expect(got == (cl_sync_point_khr)(5 + 2 * n));
        SUCCEEDS(form.barrier(new, NULL, NULL, 3, at, &got, NULL));
        cr_expect(got == (cl_sync_point_khr)(5 + 2 * n));
    }
    SUCCEEDS(khr.clReleaseCommandBufferKHR(old));
    SUCCEEDS(khr.clReleaseCommandBufferKHR(new));
}

/* Copies and fills of shared memory, each as the first call of a command buffer. */
typedef struct {
    bool newer;
    properties p;
    count n;
    bool wants_point;
} memory_case;

static const cl_sync_point_khr three[] = {1, 2, 3};

static void check_memcpy(const memory_case *c, int *memory, size_t size) {
    cl_sync_point_khr at[3], got = 77, *point = c->wants_point ? &got : NULL;
    cl_command_buffer_khr b = with_three(at);
    points wait = c->n ? three : NULL;
    int *to = memory + size / 4;
    memset(to, 0, size);
    for (size_t k = 0; k < size / 4; k++) memory[k] = (int)k + 1;
    SUCCEEDS(c->newer ? form.memcpy(b, NULL, c->p, to, memory, size, c->n, wait, point, NULL)
                      : form.o_memcpy(b, NULL, to, memory, size, c->n, wait, point, NULL));
    cr_expect(got == (c->wants_point ? 4 : 77));
    finalize(b);
    run(b);
    cr_expect(memcmp(to, memory, size) == 0, "%s, %s, %u, %d, %zu", c->newer ? "newer" : "older",
              c->p ? "a list" : "none", c->n, c->wants_point, size);
    SUCCEEDS(khr.clReleaseCommandBufferKHR(b));
}

static void check_memfill(const memory_case *c, int *memory, size_t size) {
    cl_sync_point_khr at[3], got = 77, *point = c->wants_point ? &got : NULL;
    cl_command_buffer_khr b = with_three(at);
    points wait = c->n ? three : NULL;
    const int pattern = 9;
    memset(memory, 0, size + 4);
    SUCCEEDS(c->newer
                 ? form.memfill(b, NULL, c->p, memory, &pattern, 4, size, c->n, wait, point, NULL)
                 : form.o_memfill(b, NULL, memory, &pattern, 4, size, c->n, wait, point, NULL));
    cr_expect(got == (c->wants_point ? 4 : 77));
    finalize(b);
    run(b);
    for (size_t k = 0; k <= size / 4; k++)
        cr_assert(memory[k] == (k < size / 4 ? 9 : 0), "%zu of %zu: %d", k, size / 4, memory[k]);
    SUCCEEDS(khr.clReleaseCommandBufferKHR(b));
}

/* A page whose address a size can be, as the code of programs at fixed addresses has. */
enum { LOW = 1 << 19, MOST = LOW };

Test(command_forms, shared_memory) {
    static const size_t sizes[] = {4, 4096, 12288, LOW};
    int *memory = clSVMAlloc(ocl.context, 0, 2 * MOST + 4, 0);
    void *low = mmap((void *)LOW, 4096, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    cr_assert((uintptr_t)low == LOW);
    for (unsigned k = 0; k < 4; k++)
        for (count n = 0; n < 4; n++)
            for (int which = 0; which < 6; which++) {
                const bool newer = which >= 2;
                const properties p = which >= 4 ? no_properties : NULL;
                const memory_case c = {newer, p, n, which % 2};
                check_memcpy(&c, memory, sizes[k]);
                check_memfill(&c, memory, sizes[k]);
            }
    clSVMFree(ocl.context, memory);
    munmap(low, 4096);
}

/* What the calls for shared memory tell holds for the barriers after them. */
Test(command_forms, shared_memory_tells) {
    int *p = clSVMAlloc(ocl.context, 0, 64, 0), pattern = 9;
    cl_mutable_command_khr handle;
    cl_sync_point_khr at;
    for (int n = 0; n < 16; n++) p[n] = n;
    SUCCEEDS(form.memfill(commands, NULL, NULL, p + 2, &pattern, 4, 8, 0, NULL, &at, NULL));
    SUCCEEDS(form.memcpy(commands, NULL, no_properties, p + 8, p, 32, 1, &at, NULL, NULL));
    FAILS(CL_INVALID_VALUE, form.barrier(commands, NULL, NULL, 0, NULL, NULL, &handle));
    finalize(commands);
    run(commands);
    cr_expect(p[1] == 1 && p[2] == 9 && p[3] == 9 && p[4] == 4 && p[10] == 9 && p[15] == 7);
    cl_command_buffer_khr old = new_commands(NULL);
    SUCCEEDS(form.o_memfill(old, NULL, p + 2, &pattern, 4, 8, 0, NULL, &at, NULL));
    SUCCEEDS(form.o_memcpy(old, NULL, p + 8, p, 32, 1, &at, NULL, NULL));
    FAILS(CL_INVALID_VALUE, form.o_barrier(old, NULL, 0, NULL, NULL, &handle));
    SUCCEEDS(khr.clReleaseCommandBufferKHR(old));
    clSVMFree(ocl.context, p);
}

/* --------------------------------------------------------------------------------------- errors */

/* In place of what was finalized. */
static void renew(void) {
    SUCCEEDS(khr.clReleaseCommandBufferKHR(commands));
    commands = new_commands(NULL);
}

Test(command_forms, errors_of_copies) {
    const int pattern = 3;
    CHECK_RECORDING(form.copy(b, q, NULL, buffers[0], buffers[1], 0, 0, 4, n, list, point, handle));
    renew();
    CHECK_RECORDING(
        form.fill(b, q, no_properties, buffers[0], &pattern, 4, 0, 4, n, list, point, handle));
}

Test(command_forms, errors_of_others) {
    const size_t o[3] = {0, 0, 0}, r[3] = {4, 4, 1};
    int *p = clSVMAlloc(ocl.context, 0, 64, 0), pattern = 9;
    CHECK_RECORDING(
        form.rect(b, q, NULL, buffers[0], buffers[1], o, o, r, 8, 0, 8, 0, n, list, point, handle));
    renew();
    CHECK_RECORDING(form.memcpy(b, q, NULL, p + 8, p, 32, n, list, point, handle));
    renew();
    CHECK_RECORDING(form.memfill(b, q, NULL, p, &pattern, 4, 32, n, list, point, handle));
    renew();
    CHECK_RECORDING(form.o_memcpy(b, q, p + 8, p, 32, n, list, point, handle));
    renew();
    CHECK_RECORDING(form.o_memfill(b, q, p, &pattern, 4, 32, n, list, point, handle));
    clSVMFree(ocl.context, p);
}

/* Nothing is learned from them: a barrier with a handle in the newer form is still one without it
 * in the older form. */
Test(command_forms, refused_calls) {
    int *p = clSVMAlloc(ocl.context, 0, 64, 0), pattern = 9;
    cl_mutable_command_khr handle;
    cl_sync_point_khr wrong = 9;
    FAILS(CL_INVALID_VALUE, form.memcpy(commands, NULL, NULL, p, NULL, 4, 0, NULL, NULL, NULL));
    FAILS(CL_INVALID_VALUE, form.memcpy(commands, NULL, NULL, NULL, p, 4, 0, NULL, NULL, NULL));
    FAILS(CL_INVALID_VALUE, form.memcpy(commands, NULL, NULL, p, p + 4, 4, 0, NULL, NULL, &handle));
    FAILS(CL_MEM_COPY_OVERLAP, form.memcpy(commands, NULL, NULL, p, p, 4, 0, NULL, NULL, NULL));
    FAILS(CL_INVALID_VALUE,
          form.memfill(commands, NULL, NULL, p, &pattern, 3, 9, 0, NULL, NULL, NULL));
    FAILS(CL_INVALID_VALUE,
          form.memfill(commands, NULL, some_properties, p, &pattern, 4, 8, 0, NULL, NULL, NULL));
    FAILS(CL_INVALID_SYNC_POINT_WAIT_LIST_KHR,
          form.memfill(commands, NULL, NULL, p, &pattern, 4, 8, 1, &wrong, NULL, NULL));
    FAILS(CL_INVALID_VALUE, form.copy(commands, NULL, NULL, buffers[0], buffers[1], 0, BYTES, 4, 0,
                                      NULL, NULL, NULL));
    FAILS(CL_INVALID_VALUE, form.o_memcpy(commands, NULL, NULL, p, 4, 0, NULL, NULL, NULL));
    SUCCEEDS(form.barrier(commands, NULL, NULL, 0, NULL, NULL, &handle));
    FAILS(CL_INVALID_VALUE, form.o_memfill(commands, NULL, NULL, p, 4, 8, 0, NULL, NULL, NULL));
    FAILS(CL_INVALID_VALUE, form.o_memcpy(commands, NULL, p, NULL, 8192, 0, NULL, NULL, NULL));
    FAILS(CL_INVALID_VALUE, form.o_memfill(commands, NULL, p, NULL, 4, 8, 0, NULL, NULL, NULL));
    FAILS(CL_INVALID_VALUE,
          form.o_memfill(commands, NULL, p, &pattern, 8192, 8192, 0, NULL, NULL, NULL));
    clSVMFree(ocl.context, p);
}

/* One command first, by which the form is known. */
Test(command_forms, errors_of_barriers) {
    cl_sync_point_khr at = 1, wrong = 9, got = 0;
    cl_mutable_command_khr handle;
    SUCCEEDS(form.copy(commands, NULL, NULL, buffers[0], buffers[1], 0, 0, 4, 0, NULL, &at, NULL));
    FAILS(CL_INVALID_COMMAND_BUFFER_KHR, form.barrier(NULL, NULL, NULL, 0, NULL, NULL, NULL));
    FAILS(CL_INVALID_COMMAND_QUEUE, form.barrier(commands, ocl.queue, NULL, 0, NULL, NULL, NULL));
    FAILS(CL_INVALID_VALUE, form.barrier(commands, NULL, some_properties, 0, NULL, NULL, NULL));
    FAILS(CL_INVALID_VALUE, form.barrier(commands, NULL, NULL, 0, NULL, NULL, &handle));
    FAILS(CL_INVALID_SYNC_POINT_WAIT_LIST_KHR,
          form.barrier(commands, NULL, NULL, 1, NULL, NULL, NULL));
    FAILS(CL_INVALID_SYNC_POINT_WAIT_LIST_KHR,
          form.barrier(commands, NULL, NULL, 0, &at, &got, NULL));
    FAILS(CL_INVALID_SYNC_POINT_WAIT_LIST_KHR,
          form.barrier(commands, NULL, NULL, 1, &wrong, &got, NULL));
    cr_expect(got == 0);
    finalize(commands);
    FAILS(CL_INVALID_OPERATION, form.barrier(commands, NULL, NULL, 0, NULL, NULL, NULL));
}

Test(command_forms, properties) {
    const int pattern = 3;
    cl_kernel k = with_buffers("reverse", buffers[1], buffers[0]);
    const size_t all = COUNT;
    FAILS(CL_INVALID_VALUE, form.copy(commands, NULL, some_properties, buffers[0], buffers[1], 0, 0,
                                      4, 0, NULL, NULL, NULL));
    FAILS(CL_INVALID_VALUE, form.fill(commands, NULL, some_properties, buffers[0], &pattern, 4, 0,
                                      4, 0, NULL, NULL, NULL));
    FAILS(CL_INVALID_VALUE,
          khr.clCommandNDRangeKernelKHR(commands, NULL, (const void *)some_properties, k, 1, NULL,
                                        &all, NULL, 0, NULL, NULL, NULL));
    SUCCEEDS(clReleaseKernel(k));
}

/* What is no buffer in either form is refused, and nothing is learned from it. */
Test(command_forms, buffers_that_are_none) {
    const size_t far = 123456 * 16;
    const int pattern = 3;
    cl_sync_point_khr at[3], got;
    cl_mem none = NULL, m = buffers[0];
    cl_command_buffer_khr b = with_three(at);
    FAILS(CL_INVALID_MEM_OBJECT, form.copy(b, NULL, NULL, none, m, 0, 0, 4, 0, NULL, NULL, NULL));
    FAILS(CL_INVALID_MEM_OBJECT, form.copy(b, NULL, NULL, m, none, 0, 0, 4, 0, NULL, NULL, NULL));
    FAILS(CL_INVALID_MEM_OBJECT, form.o_copy(b, NULL, none, m, far, 0, 4, 0, NULL, NULL, NULL));
    FAILS(CL_INVALID_MEM_OBJECT,
          form.o_fill(b, NULL, none, &pattern, 4, 0, 4, 0, NULL, NULL, NULL));
    FAILS(CL_INVALID_MEM_OBJECT,
          form.fill(b, NULL, NULL, none, &pattern, 4, 0, 4, 0, NULL, NULL, NULL));
    SUCCEEDS(form.o_barrier(b, NULL, 0, NULL, &got, NULL));
    cr_expect(got == 4);
    FAILS(CL_INVALID_MEM_OBJECT, form.o_copy(b, NULL, m, none, far, 0, 4, 0, NULL, NULL, NULL));
    SUCCEEDS(form.o_barrier(b, NULL, 2, at, &got, NULL));
    cr_expect(got == 5);
    SUCCEEDS(khr.clReleaseCommandBufferKHR(b));
}

/* ----------------------------------------------------------------------- what else tells a form */

/* CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR came with version 0.9.6. */
Test(command_forms, newer_queries) {
    cl_mutable_command_khr handle;
    SUCCEEDS(form.barrier(commands, NULL, NULL, 0, NULL, NULL, NULL));
    TELLS(cl_command_queue_properties,
          CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE, clGetDeviceInfo,
          ocl.device, 0x129A);
    FAILS(CL_INVALID_VALUE, form.barrier(commands, NULL, NULL, 0, NULL, NULL, &handle));
    SUCCEEDS(form.barrier(commands, NULL, NULL, 0, NULL, NULL, NULL));
}

static void begin_newer(void) {
    setenv("SPVF_COMMAND_BUFFER_VERSION", "0.9.8", 1);
    begin();
}

static void begin_older(void) {
    setenv("SPVF_COMMAND_BUFFER_VERSION", "0.9.4", 1);
    begin();
}

Test(command_forms_told, newer, .init = begin_newer, .fini = end_commands) {
    cl_mutable_command_khr handle;
    cl_sync_point_khr got;
    SUCCEEDS(form.barrier(commands, NULL, NULL, 0, NULL, &got, NULL));
    FAILS(CL_INVALID_VALUE, form.barrier(commands, NULL, NULL, 0, NULL, NULL, &handle));
    FAILS(CL_INVALID_SYNC_POINT_WAIT_LIST_KHR,
          form.barrier(commands, NULL, NULL, 0, &got, NULL, NULL));
}

Test(command_forms_told, older, .init = begin_older, .fini = end_commands) {
    cl_mutable_command_khr handle;
    cl_sync_point_khr got;
    SUCCEEDS(form.o_barrier(commands, NULL, 0, NULL, &got, NULL));
    FAILS(CL_INVALID_VALUE, form.o_barrier(commands, NULL, 0, NULL, NULL, &handle));
    FAILS(CL_INVALID_MEM_OBJECT,
          form.o_copy(commands, NULL, NULL, buffers[0], 0, 0, 4, 0, NULL, NULL, NULL));
    int *p = clSVMAlloc(ocl.context, 0, 64, 0), pattern = 9;
    SUCCEEDS(form.o_memcpy(commands, NULL, p, p + 8, 32, 1, &got, &got, NULL));
    cr_expect(got == 2);
    SUCCEEDS(form.o_memfill(commands, NULL, p, &pattern, 4, 64, 1, &got, &got, NULL));
    cr_expect(got == 3);
    clSVMFree(ocl.context, p);
}
