/* hip_runtime.h — a runtime like those of HIP over OpenCL: streams, pointers, events, and launches
 * with memory of a block whose size they give.
 *
 * Memory is that of cl_intel_unified_shared_memory; without it, buffers that tell their address;
 * without these, shared virtual memory.  A stream is a queue in order.  The default stream waits
 * for what all others have been given, and they wait for it.
 */
#ifndef SPVFUSE_TESTS_HIP_RUNTIME_H
#define SPVFUSE_TESTS_HIP_RUNTIME_H

#include "tests/file.h"
#include "tests/opencl/programs.h"
#include "tests/opencl/select.h"
#include "tests/opencl/usm.h"

#include "runtime/opencl/newer.h"

enum { WARP = 32, MAX_STREAMS = 16, MAX_BLOCKS = 64 };
typedef enum { BY_USM, BY_ADDRESS, BY_SVM } memory_way;
typedef cl_command_queue stream;

/* A block of memory; the buffer is NULL unless it is one that tells its address. */
typedef struct {
    char *begin;
    size_t size;
    cl_mem buffer;
} block;

static struct {
    memory_way way;
    cl_program program;
    stream streams[MAX_STREAMS]; /* the first is the default one */
    unsigned count;
    block blocks[MAX_BLOCKS];
    cl_int(CL_API_CALL *set_address)(cl_kernel k, cl_uint n, cl_ulong at);
} hip;

/* ------------------------------------------------------------------------------------- begin, end */

static inline bool has_warps(cl_device_id d) {
    size_t sizes[16], size;
    if (!has_extension(d, "cl_intel_required_subgroup_size") ||
        !has_extension(d, "cl_khr_subgroup_shuffle") || !has_extension(d, "cl_khr_subgroup_ballot"))
        return false;
    SUCCEEDS(clGetDeviceInfo(d, CL_DEVICE_SUB_GROUP_SIZES_INTEL, sizeof sizes, sizes, &size));
    for (size_t n = 0; n < size / sizeof *sizes; n++)
        if (sizes[n] == WARP) return true;
    return false;
}

static inline memory_way way_of_memory(void) {
    if (has_extension(ocl.device, "cl_intel_unified_shared_memory") && find_usm(ocl.platform))
        return BY_USM;
    if (!has_extension(ocl.device, "cl_ext_buffer_device_address")) return BY_SVM;
    load_entry(ocl.platform, "clSetKernelArgDevicePointerEXT", &hip.set_address);
    return hip.set_address ? BY_ADDRESS : BY_SVM;
}

static inline stream new_stream(void) {
    const cl_queue_properties p[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
    cr_assert(hip.count < MAX_STREAMS);
    stream s = MAKE(clCreateCommandQueueWithProperties(ocl.context, ocl.device, p, &error));
    return hip.streams[hip.count++] = s;
}

static inline void begin_hip(void) {
    cr_assert(find_implementation());
    cr_assert(select_device(has_warps), "no device has warps");
    hip.way = way_of_memory();
    ocl.context = new_context();
    ocl.queue = new_stream();
    char *source = read_file("tests/corpus/hip_warps.cl", NULL);
    cr_assert(source);
    hip.program = built(source, "-cl-std=CL3.0");
    free(source);
}

static inline void end_hip(void) {
    for (unsigned n = 0; n < hip.count; n++) {
        SUCCEEDS(clFinish(hip.streams[n]));
        SUCCEEDS(clReleaseCommandQueue(hip.streams[n]));
    }
    for (int n = 0; n < MAX_BLOCKS; n++) cr_expect_null(hip.blocks[n].begin, "a leak");
    SUCCEEDS(clReleaseProgram(hip.program));
    end_context(ocl.context);
}

/* ---------------------------------------------------------------------------------------- memory */

static inline void *new_bytes(size_t size, cl_mem *buffer) {
    const cl_mem_properties p[] = {CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, CL_TRUE, 0};
    cl_ulong at;
    switch (hip.way) {
    case BY_USM: return usm.device_alloc(ocl.context, ocl.device, NULL, size, 0, &error);
    case BY_SVM: return clSVMAlloc(ocl.context, CL_MEM_READ_WRITE, size, 0);
    default: break;
    }
    *buffer = MAKE(clCreateBufferWithProperties(ocl.context, p, 0, size, NULL, &error));
    SUCCEEDS(clGetMemObjectInfo(*buffer, CL_MEM_DEVICE_ADDRESS_EXT, sizeof at, &at, NULL));
    return (void *)(uintptr_t)at;
}

static inline void *hip_malloc(size_t size) {
    for (int n = 0; n < MAX_BLOCKS; n++) {
        block *b = &hip.blocks[n];
        if (b->begin) continue;
        b->begin = new_bytes(size, &b->buffer);
        b->size = size;
        cr_assert(b->begin);
        return b->begin;
    }
    cr_assert(false, "too many blocks");
    return NULL;
}

/* The block that has the byte; NULL: memory of the host. */
static inline block *find_block(const void *p) {
    for (int n = 0; n < MAX_BLOCKS; n++) {
        block *b = &hip.blocks[n];
        if (b->begin && (const char *)p >= b->begin && (const char *)p < b->begin + b->size)
            return b;
    }
    return NULL;
}

static inline void finish_all(void) {
    for (unsigned n = 0; n < hip.count; n++) SUCCEEDS(clFinish(hip.streams[n]));
}

/* Waits for the device, as hipFree does. */
static inline void hip_free(void *p) {
    block *b = find_block(p);
    cr_assert(b && b->begin == p);
    finish_all();
    if (b->buffer) SUCCEEDS(clReleaseMemObject(b->buffer));
    if (!b->buffer && hip.way == BY_USM) SUCCEEDS(usm.free(ocl.context, p));
    if (!b->buffer && hip.way == BY_SVM) clSVMFree(ocl.context, p);
    *b = (block){NULL};
}

/* --------------------------------------------------------------------------------- order of work */

static inline cl_event record(stream s) {
    cl_event e;
    SUCCEEDS(clEnqueueMarkerWithWaitList(s, 0, NULL, &e));
    return e;
}

static inline void wait_for(stream s, cl_event e) {
    SUCCEEDS(clEnqueueBarrierWithWaitList(s, 1, &e, NULL));
}

static inline void link_streams(stream from, stream to) {
    cl_event e = record(from);
    wait_for(to, e);
    SUCCEEDS(clReleaseEvent(e));
    SUCCEEDS(clFlush(from));
}

static inline void before_work(stream s) {
    for (unsigned n = 1; n < hip.count; n++)
        if (s == hip.streams[0])
            link_streams(hip.streams[n], s);
        else if (s == hip.streams[n])
            link_streams(hip.streams[0], s);
}

/* --------------------------------------------------------------------------- copies and launches */

static inline void copy_by_buffers(void *to, const void *from, size_t size, stream s) {
    block *const t = find_block(to), *const f = find_block(from);
    const size_t to_at = t ? (size_t)((char *)to - t->begin) : 0,
                 from_at = f ? (size_t)((const char *)from - f->begin) : 0;
    if (t && f)
        SUCCEEDS(clEnqueueCopyBuffer(s, f->buffer, t->buffer, from_at, to_at, size, 0, NULL, NULL));
    else if (t)
        SUCCEEDS(clEnqueueWriteBuffer(s, t->buffer, CL_FALSE, to_at, size, from, 0, NULL, NULL));
    else
        SUCCEEDS(clEnqueueReadBuffer(s, f->buffer, CL_FALSE, from_at, size, to, 0, NULL, NULL));
}

static inline void copy_async(void *to, const void *from, size_t size, stream s) {
    before_work(s);
    if (hip.way == BY_USM)
        SUCCEEDS(usm.copy(s, CL_FALSE, to, from, size, 0, NULL, NULL));
    else if (hip.way == BY_SVM)
        SUCCEEDS(clEnqueueSVMMemcpy(s, CL_FALSE, to, from, size, 0, NULL, NULL));
    else
        copy_by_buffers(to, from, size, s);
}

static inline void copy(void *to, const void *from, size_t size) {
    copy_async(to, from, size, hip.streams[0]);
    SUCCEEDS(clFinish(hip.streams[0]));
}

static inline void set_async(void *to, unsigned char value, size_t size, stream s) {
    before_work(s);
    if (hip.way == BY_USM)
        SUCCEEDS(usm.fill(s, to, &value, 1, size, 0, NULL, NULL));
    else if (hip.way == BY_SVM)
        SUCCEEDS(clEnqueueSVMMemFill(s, to, &value, 1, size, 0, NULL, NULL));
    else {
        block *b = find_block(to);
        SUCCEEDS(clEnqueueFillBuffer(s, b->buffer, &value, 1, (size_t)((char *)to - b->begin), size,
                                     0, NULL, NULL));
    }
}

/* An argument: a pointer of the device, or a number of 32 bits. */
typedef struct {
    const void *pointer;
    cl_uint number;
} argument;
#define P(p)                                                                                       \
    (argument) { .pointer = (p) }
#define N(n)                                                                                       \
    (argument) { .number = (n) }

/* Of blocks, in threads, and bytes of the block's memory, which is the last parameter. */
typedef struct {
    const char *kernel;
    unsigned blocks[2], threads[2], count;
    size_t shared;
    argument args[5];
} launch;

static inline cl_int set_pointer(cl_kernel k, cl_uint n, const void *p) {
    switch (hip.way) {
    case BY_USM: return usm.set_arg(k, n, p);
    case BY_SVM: return clSetKernelArgSVMPointer(k, n, p);
    default: return hip.set_address(k, n, (uintptr_t)p);
    }
}

static inline void enqueue(launch l, stream s) {
    cl_kernel k = MAKE(clCreateKernel(hip.program, l.kernel, &error));
    size_t global[2], local[2];
    before_work(s);
    for (cl_uint n = 0; n < l.count; n++)
        if (l.args[n].pointer)
            SUCCEEDS(set_pointer(k, n, l.args[n].pointer));
        else
            SUCCEEDS(clSetKernelArg(k, n, sizeof(cl_uint), &l.args[n].number));
    if (l.shared) SUCCEEDS(clSetKernelArg(k, l.count, l.shared, NULL));
    for (int d = 0; d < 2; d++) {
        local[d] = l.threads[d] ? l.threads[d] : 1;
        global[d] = (l.blocks[d] ? l.blocks[d] : 1) * local[d];
    }
    SUCCEEDS(clEnqueueNDRangeKernel(s, k, 2, NULL, global, local, 0, NULL, NULL));
    SUCCEEDS(clReleaseKernel(k));
}

#endif
