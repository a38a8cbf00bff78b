/* save_memory.c KERNELS.cl: launches of an OpenCL program whose arguments reach the same memory (two places
 * of an SVM allocation, two buffers within one), whose memory was written through a map, by the
 * host and by a fill, and whose last work-groups are smaller. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>

enum { COUNT = 1000, APART = 1024 };

static cl_kernel build(cl_context context, const char *name) {
    static char text[1 << 16];
    FILE *file = fopen(name, "r");
    if (!file) return NULL;
    size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    const char *source = text;
    cl_program program = clCreateProgramWithSource(context, 1, &source, &size, NULL);
    if (clBuildProgram(program, 0, NULL, "-cl-std=CL3.0", NULL, NULL)) return NULL;
    return clCreateKernel(program, "add", NULL);
}

static int run_svm(cl_context context, cl_command_queue queue, cl_kernel add) {
    const size_t global = COUNT, local = 64;
    float *svm = clSVMAlloc(context, CL_MEM_READ_WRITE, 3 * APART * sizeof *svm, 0);
    if (!svm ||
        clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, svm, 3 * APART * sizeof *svm, 0, NULL, NULL))
        return 1;
    for (int i = 0; i < 3 * APART; i++) svm[i] = (float)i;
    clEnqueueSVMUnmap(queue, svm, 0, NULL, NULL);
    clSetKernelArgSVMPointer(add, 0, svm);
    clSetKernelArgSVMPointer(add, 1, svm + APART);
    clSetKernelArgSVMPointer(add, 2, svm + 2 * APART);
    if (clEnqueueNDRangeKernel(queue, add, 1, NULL, &global, &local, 0, NULL, NULL) ||
        clFinish(queue))
        return 1;
    const int wrong =
        svm[2 * APART + 1] != APART + 2 || svm[2 * APART + COUNT] != 2 * APART + COUNT;
    clSVMFree(context, svm);
    return wrong;
}

static int run_buffers(cl_context context, cl_command_queue queue, cl_kernel add) {
    const size_t global = APART;
    const float one = 1;
    float z[2];
    cl_mem whole = clCreateBuffer(context, CL_MEM_READ_WRITE, 2 * APART * sizeof z[0], NULL, NULL);
    const cl_buffer_region region = {APART * sizeof z[0], APART * sizeof z[0]};
    cl_mem part =
        clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, NULL);
    clEnqueueFillBuffer(queue, part, &one, sizeof one, 0, APART * sizeof z[0], 0, NULL, NULL);
    float *x = clEnqueueMapBuffer(queue, whole, CL_TRUE, CL_MAP_WRITE, 0, APART * sizeof z[0], 0,
                                  NULL, NULL, NULL);
    for (int i = 0; x && i < APART; i++) x[i] = (float)i;
    clEnqueueUnmapMemObject(queue, whole, x, 0, NULL, NULL);
    clSetKernelArg(add, 0, sizeof whole, &whole);
    clSetKernelArg(add, 1, sizeof part, &part);
    clSetKernelArg(add, 2, sizeof whole, &whole);
    clEnqueueNDRangeKernel(queue, add, 1, NULL, &global, NULL, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, whole, CL_TRUE, 0, sizeof z, z, 0, NULL, NULL);
    clReleaseMemObject(part);
    clReleaseMemObject(whole);
    return z[0] != 1 || z[1] != 2;
}

int main(int argc, char **argv) {
    cl_platform_id platform;
    cl_device_id device;
    if (argc != 2 || clGetPlatformIDs(1, &platform, NULL) ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
        return 1;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, NULL);
    cl_kernel add = build(context, argv[1]);
    if (!add) return 1;
    const int wrong = run_svm(context, queue, add) | run_buffers(context, queue, add);
    clReleaseKernel(add);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return wrong;
}
