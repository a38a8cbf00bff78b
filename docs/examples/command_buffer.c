/* command_buffer.c KERNELS.cl: an OpenCL program that does not know spvfuse.  It records two
 * kernels in a command buffer and replays that; spvfuse makes one kernel of them when it is
 * finalized. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_ENABLE_BETA_EXTENSIONS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <stdio.h>

enum { COUNT = 4096 };

static cl_program build(cl_context context, const char *name) {
    static char text[1 << 16];
    FILE *file = fopen(name, "r");
    if (!file) return NULL;
    size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    const char *source = text;
    cl_program program = clCreateProgramWithSource(context, 1, &source, &size, NULL);
    return clBuildProgram(program, 0, NULL, "", NULL, NULL) == CL_SUCCESS ? program : NULL;
}

int main(int argc, char **argv) {
    static float x[COUNT], y[COUNT], z[COUNT];
    for (int i = 0; i < COUNT; i++) x[i] = (float)i, y[i] = 1;
    cl_platform_id platform;
    cl_device_id device;
    if (argc != 2 || clGetPlatformIDs(1, &platform, NULL) ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
        return 1;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, NULL);
    cl_program program = build(context, argv[1]);
#define EXTENSION(f) f##_fn f = (f##_fn)clGetExtensionFunctionAddressForPlatform(platform, #f)
    EXTENSION(clCreateCommandBufferKHR);
    EXTENSION(clCommandNDRangeKernelKHR);
    EXTENSION(clFinalizeCommandBufferKHR);
    EXTENSION(clEnqueueCommandBufferKHR);
    EXTENSION(clReleaseCommandBufferKHR);
    if (!program || !clCreateCommandBufferKHR) return 1;
    const cl_mem_flags copied = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    cl_mem in = clCreateBuffer(context, copied, sizeof x, x, NULL);
    cl_mem more = clCreateBuffer(context, copied, sizeof y, y, NULL);
    cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof z, NULL, NULL);
    cl_kernel scale = clCreateKernel(program, "scale", NULL),
              add = clCreateKernel(program, "add", NULL);
    const float a = 2;
    clSetKernelArg(scale, 0, sizeof a, &a);
    clSetKernelArg(scale, 1, sizeof in, &in);
    clSetKernelArg(scale, 2, sizeof out, &out);
    clSetKernelArg(add, 0, sizeof out, &out);
    clSetKernelArg(add, 1, sizeof more, &more);
    clSetKernelArg(add, 2, sizeof out, &out);

    cl_command_buffer_khr buffer = clCreateCommandBufferKHR(1, &queue, NULL, NULL);
    const size_t global = COUNT, local = 64;
    cl_sync_point_khr scaled;
    clCommandNDRangeKernelKHR(buffer, NULL, NULL, scale, 1, NULL, &global, &local, 0, NULL, &scaled,
                              NULL);
    clCommandNDRangeKernelKHR(buffer, NULL, NULL, add, 1, NULL, &global, &local, 1, &scaled, NULL,
                              NULL);
    clFinalizeCommandBufferKHR(buffer);
    for (int run = 0; run < 3; run++) clEnqueueCommandBufferKHR(0, NULL, buffer, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof z, z, 0, NULL, NULL);
    printf("%g * %g + %g = %g\n", a, x[10], y[10], z[10]);

    clReleaseCommandBufferKHR(buffer);
    clReleaseKernel(scale);
    clReleaseKernel(add);
    cl_mem buffers[] = {in, more, out};
    for (int i = 0; i < 3; i++) clReleaseMemObject(buffers[i]);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return z[10] != 21;
}
