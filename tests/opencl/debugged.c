/* debugged.c — a program that gdb looks at: `debugged FILE.cl KERNEL` launches 16 work-items in groups of
 * 8 with x[i] = i, y and 8, and prints y. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "loader.h"

#include <stdio.h>

int main(int argc, char **argv) {
    static char text[1 << 16];
    const char *source = text;
    cl_platform_id platform;
    cl_device_id device;
    float x[16], y[16] = {0};
    FILE *f = argc == 3 && find_implementation() ? fopen(argv[1], "r") : NULL;
    if (!f) return 2;
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    for (int i = 0; i < 16; i++) x[i] = (float)i;
    clGetPlatformIDs(1, &platform, NULL);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
    cl_context c = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue q = clCreateCommandQueue(c, device, 0, NULL);
    cl_program p = clCreateProgramWithSource(c, 1, &source, NULL, NULL);
    if (clBuildProgram(p, 1, &device, getenv("OPTIONS"), NULL, NULL)) return 3;
    p = made_from_binary(c, device, p);
    cl_kernel k = clCreateKernel(p, argv[2], NULL);
    cl_mem in = clCreateBuffer(c, CL_MEM_COPY_HOST_PTR, sizeof x, x, NULL);
    cl_mem out = clCreateBuffer(c, CL_MEM_COPY_HOST_PTR, sizeof y, y, NULL);
    clSetKernelArg(k, 0, sizeof in, &in);
    clSetKernelArg(k, 1, sizeof out, &out);
    clSetKernelArg(k, 2, sizeof(cl_int), &(cl_int){8});
    clEnqueueNDRangeKernel(q, k, 1, NULL, &(size_t){16}, &(size_t){8}, 0, NULL, NULL);
    clEnqueueReadBuffer(q, out, CL_TRUE, 0, sizeof y, y, 0, NULL, NULL);
    for (int i = 0; i < 16; i++) printf("%g ", y[i]);
    return 0;
}
