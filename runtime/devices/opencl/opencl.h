/* opencl.h — private to runtime/devices/opencl: the device `opencl`.
 *
 *   opencl.c     the loader, the list of devices, opening and closing one
 *   memory.c     buffers and programs
 *   commands.c   copies, fills, launches, and their submission
 */
#ifndef SPVFUSE_RUNTIME_OPENCL_DEVICE_H
#define SPVFUSE_RUNTIME_OPENCL_DEVICE_H

#include "runtime/devices/device.h"

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_icd.h>

/* The calls that are used: the loader's names and types. */
/* clang-format off */
#define CL_CALLS(X)                                                                                \
    X(clGetPlatformIDs) X(clGetDeviceIDs) X(clGetDeviceInfo) X(clCreateContext)                    \
    X(clReleaseContext) X(clCreateCommandQueue) X(clReleaseCommandQueue) X(clCreateBuffer)         \
    X(clReleaseMemObject) X(clEnqueueReadBuffer) X(clEnqueueWriteBuffer) X(clEnqueueCopyBuffer)    \
    X(clCreateProgramWithIL) X(clCreateProgramWithBinary) X(clBuildProgram)                        \
    X(clGetProgramBuildInfo) X(clReleaseProgram) X(clCreateKernel) X(clReleaseKernel)              \
    X(clSetKernelArg) X(clEnqueueNDRangeKernel) X(clEnqueueMarkerWithWaitList)                     \
    X(clSetEventCallback) X(clReleaseEvent) X(clFlush) X(clFinish)
/* clang-format on */

typedef struct {
#define X(name) cl_api_##name name;
    CL_CALLS(X)
#undef X
} cl_calls;

enum { MAX_DEVICES = 64 };

/* How a device takes a module. */
typedef enum { TAKES_NOTHING, TAKES_SPIRV, TAKES_SPIR } intake;

struct rt_memory {
    rt_owned owned; /* the first member */
    cl_mem mem;
    uint64_t bytes;
};

struct rt_function {
    const char *name;
    cl_kernel kernel;
    const ir_func *ir;
    rt_function *next;
};

struct rt_program {
    rt_owned owned; /* the first member */
    cl_program program;
    const ir_module *module;
    ir_arena arena;
    rt_function *functions; /* that have been asked for */
};

typedef struct {
    rt_device base;
    ir_arena arena;
    cl_calls cl;
    cl_device_id device;
    intake takes;
    unsigned version;      /* newest SPIR-V that it takes */
    cl_uint address_bits;  /* of its pointers */
    cl_ulong local_memory; /* bytes for one work-group */
    cl_context context;
    cl_command_queue queue;
    rt_owned *memories, *programs;
    const char *kernel; /* that is being launched, for messages; NULL: none */
} opencl;

/* Throws after a message that names the call and the kernel, unless it has succeeded. */
void opencl_must(opencl *o, const char *call, cl_int error);
/* The path of llvm-spirv, or NULL. */
const char *opencl_find_translator(ir_arena *a);

/* Functions of the driver. */
rt_memory *opencl_allocate(rt_device *d, const char *name, uint64_t bytes, const void *data);
void opencl_release(rt_device *d, rt_memory *m);
rt_program *opencl_build(rt_device *d, const ir_module *m);
rt_function *opencl_find(rt_device *d, rt_program *p, const char *kernel);
void opencl_discard(rt_device *d, rt_program *p);
rt_progress opencl_submit(rt_device *d, rt_submission *s);

#endif
