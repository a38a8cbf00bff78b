/* address_test.c — cl_ext_buffer_device_address: buffers whose address the program may ask for, and
 * kernels that are given such addresses. */
#include "tests/opencl/buffers.h"
#include "tests/opencl/programs.h"

#include "runtime/opencl/newer.h"

typedef cl_int CL_API_CALL set_address(cl_kernel k, cl_uint n, cl_mem_device_address_ext value);

static set_address *set_arg;

static void begin(void) {
    begin_buffers();
    find_entry("clSetKernelArgDevicePointerEXT", &set_arg);
}

TestSuite(address, .init = begin, .fini = end_buffers);

static const cl_mem_properties wanted[] = {CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, CL_TRUE, 0};

static cl_mem create(const cl_mem_properties *p, cl_mem_flags flags, size_t size, void *host) {
    return clCreateBufferWithProperties(ocl.context, p, flags, size, host, &error);
}

static cl_mem_device_address_ext address_of(cl_mem m) {
    cl_mem_device_address_ext at = 0;
    SUCCEEDS(clGetMemObjectInfo(m, CL_MEM_DEVICE_ADDRESS_EXT, sizeof at, &at, NULL));
    return at;
}

/* ---------------------------------------------------------------------------------------- buffers */

Test(address, buffers_tell_it) {
    cl_mem m = MAKE(create(wanted, CL_MEM_READ_WRITE, SIZE, NULL));
    const cl_buffer_region r = {256, 64};
    cl_mem part = MAKE(clCreateSubBuffer(m, 0, CL_BUFFER_CREATE_TYPE_REGION, &r, &error));
    cl_mem_properties told[4];
    size_t size;
    cr_expect(address_of(m) && address_of(m) == address_of(m));
    cr_expect_eq(address_of(part), address_of(m) + 256);
    CHECK_INFO(clGetMemObjectInfo, m, CL_MEM_DEVICE_ADDRESS_EXT, sizeof(cl_ulong));
    SUCCEEDS(clGetMemObjectInfo(m, CL_MEM_PROPERTIES, sizeof told, told, &size));
    cr_expect(size == sizeof wanted && !memcmp(told, wanted, size));
    SUCCEEDS(clReleaseMemObject(part));
    SUCCEEDS(clReleaseMemObject(m));
}

Test(address, memory_of_the_program) {
    void *svm = clSVMAlloc(ocl.context, 0, SIZE, 0);
    cl_mem m = MAKE(create(wanted, CL_MEM_USE_HOST_PTR, SIZE, svm));
    cr_expect_eq(address_of(m), (uintptr_t)svm);
    SUCCEEDS(clReleaseMemObject(m));
    clSVMFree(ocl.context, svm);
}

Test(address, others_do_not_tell_it) {
    const cl_mem_properties no[] = {CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, CL_FALSE, 0};
    cl_mem m = MAKE(create(no, 0, SIZE, NULL));
    cl_ulong at;
    FAILS(CL_INVALID_OPERATION,
          clGetMemObjectInfo(m, CL_MEM_DEVICE_ADDRESS_EXT, sizeof at, &at, NULL));
    FAILS(CL_INVALID_OPERATION,
          clGetMemObjectInfo(buffer, CL_MEM_DEVICE_ADDRESS_EXT, sizeof at, &at, NULL));
    SUCCEEDS(clReleaseMemObject(m));
}

Test(address, wrong_properties) {
    const cl_mem_properties twice[] = {CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, CL_TRUE,
                                       CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, CL_TRUE, 0},
                            two[] = {CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, 2, 0},
                            unknown[] = {CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, CL_TRUE, 1, 2, 0};
    REFUSES(CL_INVALID_PROPERTY, create(twice, 0, SIZE, NULL));
    REFUSES(CL_INVALID_PROPERTY, create(two, 0, SIZE, NULL));
    REFUSES(CL_INVALID_PROPERTY, create(unknown, 0, SIZE, NULL));
}

/* ---------------------------------------------------------------------------------------- kernels */

static const char source[] =
    "kernel void tell(global int *p, global ulong *to) { *to = (ulong)p; }\n"
    "kernel void follow(global ulong *at, global int *to) { *to = **(global int *global *)at; }\n"
    "kernel void before(global int *p, global int *to) { *to = p[-2]; }\n"
    "kernel void add(global int *to, global const int *from, int k) {\n"
    "    to[get_global_id(0)] = from[get_global_id(0)] + k;\n"
    "}\n"
    "kernel void read(constant int *p, local int *l, int k) {}\n";

static void launch(cl_kernel k, size_t items) {
    SUCCEEDS(clEnqueueNDRangeKernel(ocl.queue, k, 1, NULL, &items, NULL, 0, NULL, NULL));
    SUCCEEDS(clFinish(ocl.queue));
}

static cl_kernel kernel(cl_program p, const char *name) {
    return MAKE(clCreateKernel(p, name, &error));
}

Test(address, kernels_use_it) {
    cl_program p = built(source, "");
    cl_kernel tell = kernel(p, "tell"), follow = kernel(p, "follow"), before = kernel(p, "before");
    cl_mem m = MAKE(create(wanted, 0, SIZE, NULL)), out = MAKE(create(wanted, 0, 8, NULL));
    const cl_mem_device_address_ext at = address_of(m);
    cl_int *bytes = (cl_int *)(uintptr_t)at; /* the host has the same memory */
    const cl_ulong *got = (const cl_ulong *)(uintptr_t)address_of(out);
    SUCCEEDS(clSetKernelArg(tell, 0, sizeof m, &m));
    SUCCEEDS(set_arg(tell, 1, address_of(out)));
    launch(tell, 1);
    cr_expect_eq(*got, at);
    bytes[0] = 1234;
    SUCCEEDS(set_arg(follow, 0, address_of(out)));
    SUCCEEDS(clSetKernelExecInfo(follow, CL_KERNEL_EXEC_INFO_DEVICE_PTRS_EXT, sizeof at, &at));
    cl_mem value = MAKE(create(wanted, 0, 4, NULL));
    SUCCEEDS(clSetKernelArg(follow, 1, sizeof value, &value));
    launch(follow, 1);
    cr_expect_eq(*(cl_int *)(uintptr_t)address_of(value), 1234);
    bytes[3] = 77;
    SUCCEEDS(set_arg(before, 0, at + 20));
    SUCCEEDS(clSetKernelArg(before, 1, sizeof value, &value));
    launch(before, 1);
    cr_expect_eq(*(cl_int *)(uintptr_t)address_of(value), 77);
    const cl_mem mems[] = {m, out, value};
    for (int n = 0; n < 3; n++) SUCCEEDS(clReleaseMemObject(mems[n]));
    SUCCEEDS(clReleaseKernel(tell));
    SUCCEEDS(clReleaseKernel(follow));
    SUCCEEDS(clReleaseKernel(before));
    SUCCEEDS(clReleaseProgram(p));
}

Test(address, wrong_arguments) {
    cl_program p = built(source, "");
    cl_kernel k = kernel(p, "read"), add = kernel(p, "add");
    FAILS(CL_INVALID_KERNEL, set_arg(NULL, 0, 0));
    for (cl_uint n = 0; n < 4; n++) FAILS(CL_INVALID_ARG_INDEX, set_arg(k, n, 0));
    FAILS(CL_INVALID_ARG_INDEX, set_arg(add, 2, 0));
    FAILS(CL_SUCCESS, set_arg(add, 0, 12345)); /* any address, as long as it is not used */
    FAILS(CL_SUCCESS, clSetKernelExecInfo(add, CL_KERNEL_EXEC_INFO_DEVICE_PTRS_EXT, 0, NULL));
    FAILS(CL_INVALID_VALUE, clSetKernelExecInfo(add, CL_KERNEL_EXEC_INFO_DEVICE_PTRS_EXT, 8, NULL));
    FAILS(CL_INVALID_VALUE, clSetKernelExecInfo(add, CL_KERNEL_EXEC_INFO_DEVICE_PTRS_EXT, 9, k));
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseKernel(add));
    SUCCEEDS(clReleaseProgram(p));
}
