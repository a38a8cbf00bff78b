/* faults.c — programs with one fault each: `faults NAME FILE.cl` runs one, `faults` prints their names.
 *
 * A case is a kernel of the file, or a host program of its own.  faults.sh compares what the
 * interpreter reports with the expected text.
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "loader.h"

#include <CL/cl.h>
#include <stdio.h>

enum { COUNT = 16, BYTES = COUNT * sizeof(cl_int) };

typedef struct {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    cl_mem x, y;
} world;

static char *read_file(const char *path) {
    static char text[1 << 16];
    FILE *f = fopen(path, "r");
    if (f) text[fread(text, 1, sizeof text - 1, f)] = 0;
    if (f) fclose(f);
    return text;
}

static bool make(world *w, const char *path, const char *kernel) {
    cl_platform_id platform;
    const char *source = read_file(path);
    cl_int numbers[COUNT];
    for (int n = 0; n < COUNT; n++) numbers[n] = n;
    clGetPlatformIDs(1, &platform, NULL);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &w->device, NULL);
    w->context = clCreateContext(NULL, 1, &w->device, NULL, NULL, NULL);
    w->queue = clCreateCommandQueue(w->context, w->device, 0, NULL);
    w->program = clCreateProgramWithSource(w->context, 1, &source, NULL, NULL);
    if (clBuildProgram(w->program, 1, &w->device, "-cl-std=CL1.2", NULL, NULL)) return false;
    w->program = made_from_binary(w->context, w->device, w->program);
    w->kernel = clCreateKernel(w->program, kernel, NULL);
    w->x =
        clCreateBuffer(w->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, BYTES, numbers, NULL);
    w->y = clCreateBuffer(w->context, CL_MEM_READ_WRITE, BYTES, NULL, NULL);
    return w->kernel && w->x && w->y;
}

static void set_args(const world *w) {
    clSetKernelArg(w->kernel, 0, sizeof w->x, &w->x);
    clSetKernelArg(w->kernel, 1, sizeof w->y, &w->y);
}

static cl_int launch(const world *w, size_t global, size_t local) {
    return clEnqueueNDRangeKernel(w->queue, w->kernel, 1, NULL, &global, local ? &local : NULL, 0,
                                  NULL, NULL);
}

static void read_result(const world *w) {
    cl_int out[COUNT];
    clEnqueueReadBuffer(w->queue, w->y, CL_TRUE, 0, BYTES, out, 0, NULL, NULL);
}

static void end(const world *w) {
    clReleaseMemObject(w->x);
    clReleaseMemObject(w->y);
    clReleaseKernel(w->kernel);
    clReleaseProgram(w->program);
    clReleaseCommandQueue(w->queue);
    clReleaseContext(w->context);
}

/* ------------------------------------------------------------------------------------- kernels */

typedef struct {
    const char *name;
    size_t global, local;
    void (*host)(world *w); /* NULL: a launch with x and y */
    const char *kernel;     /* NULL: that of the name */
    bool unlisted;          /* not a row of docs/CHECK.md */
} fault;

static void run_kernel(world *w, const fault *f) {
    set_args(w);
    launch(w, f->global, f->local);
    clFinish(w->queue);
    end(w);
}

static void pass_short_local(world *w) {
    set_args(w);
    clSetKernelArg(w->kernel, 2, 8 * sizeof(cl_int), NULL);
    launch(w, COUNT, COUNT);
    clFinish(w->queue);
    end(w);
}

static void pass_no_local(world *w) {
    set_args(w);
    clSetKernelArg(w->kernel, 2, 0, NULL);
    end(w);
}

static void pass_null(world *w) {
    clSetKernelArg(w->kernel, 0, sizeof(cl_mem), NULL);
    clSetKernelArg(w->kernel, 1, sizeof w->y, &w->y);
    clEnqueueFillBuffer(w->queue, w->y, &(cl_int){0}, sizeof(cl_int), 0, BYTES, 0, NULL, NULL);
    launch(w, 4, 4);
    clFinish(w->queue);
    end(w);
}

static void fill_first(world *w) {
    set_args(w);
    clEnqueueFillBuffer(w->queue, w->y, &(cl_int){0}, sizeof(cl_int), 0, BYTES, 0, NULL, NULL);
    launch(w, COUNT, 4);
    clFinish(w->queue);
    end(w);
}

static void share_memory(world *w) {
    cl_int *p = clSVMAlloc(w->context, CL_MEM_READ_WRITE, 8 * sizeof(cl_int), 0);
    for (int n = 0; n < 8; n++) p[n] = n;
    set_args(w);
    clSetKernelArgSVMPointer(w->kernel, 0, p);
    launch(w, COUNT, COUNT);
    clFinish(w->queue);
    clSVMFree(w->context, p);
    end(w);
}

static void use_freed(world *w) {
    cl_int *p = clSVMAlloc(w->context, CL_MEM_READ_WRITE, BYTES, 0);
    set_args(w);
    clSetKernelArgSVMPointer(w->kernel, 0, p);
    clSVMFree(w->context, p);
    launch(w, COUNT, COUNT);
    clFinish(w->queue);
    end(w);
}

static void map_with_undefined(world *w) {
    read_result(w);
    end(w);
}

/* --------------------------------------------------------------------------------------- hosts */

static void leak(world *w) {
    run_kernel(w, &(fault){.global = COUNT, .local = COUNT});
    w->x =
        clCreateBuffer(clCreateContext(NULL, 1, &w->device, NULL, NULL, NULL), 0, 64, NULL, NULL);
}

static void release_twice(world *w) {
    clRetainMemObject(w->x);
    clReleaseMemObject(w->x);
    clReleaseMemObject(w->x);
    clReleaseMemObject(w->x);
    w->x = clCreateBuffer(w->context, 0, BYTES, NULL, NULL);
    end(w);
}

static void argument_not_set(world *w) {
    clSetKernelArg(w->kernel, 0, sizeof w->x, &w->x);
    launch(w, COUNT, COUNT);
    end(w);
}

static void argument_size(world *w) {
    clSetKernelArg(w->kernel, 0, sizeof(cl_int), &w->x);
    end(w);
}

static void argument_number(world *w) {
    set_args(w);
    clSetKernelArg(w->kernel, 2, sizeof w->y, &w->y);
    end(w);
}

static void released_argument(world *w) {
    set_args(w);
    clReleaseMemObject(w->x);
    launch(w, COUNT, COUNT);
    w->x = clCreateBuffer(w->context, 0, BYTES, NULL, NULL);
    end(w);
}

static void read_outside(world *w) {
    cl_int out[COUNT + 1];
    clEnqueueReadBuffer(w->queue, w->x, CL_TRUE, 8, BYTES, out, 0, NULL, NULL);
    end(w);
}

static void write_outside(world *w) {
    cl_int in[COUNT + 1] = {0};
    clEnqueueWriteBuffer(w->queue, w->y, CL_TRUE, 0, sizeof in, in, 0, NULL, NULL);
    end(w);
}

static void copy_outside(world *w) {
    clEnqueueCopyBuffer(w->queue, w->x, w->y, 0, 4, BYTES, 0, NULL, NULL);
    end(w);
}

static void local_size(world *w) {
    set_args(w);
    launch(w, COUNT, 5000);
    end(w);
}

static void kernel_name(world *w) {
    clCreateKernel(w->program, "rigth", NULL);
    end(w);
}

static void mapped(world *w) {
    clEnqueueMapBuffer(w->queue, w->y, CL_TRUE, CL_MAP_WRITE, 0, BYTES, 0, NULL, NULL, NULL);
    set_args(w);
    launch(w, COUNT, COUNT);
    clFinish(w->queue);
    end(w);
}

static void unmap_other(world *w) {
    cl_int *p =
        clEnqueueMapBuffer(w->queue, w->y, CL_TRUE, CL_MAP_WRITE, 0, BYTES, 0, NULL, NULL, NULL);
    clEnqueueUnmapMemObject(w->queue, w->y, p + 1, 0, NULL, NULL);
    clEnqueueUnmapMemObject(w->queue, w->y, p, 0, NULL, NULL);
    clFinish(w->queue);
    end(w);
}

static void not_waited(world *w) {
    static cl_int out[COUNT];
    set_args(w);
    launch(w, COUNT, COUNT);
    clEnqueueReadBuffer(w->queue, w->y, CL_FALSE, 0, BYTES, out, 0, NULL, NULL);
    end(w);
}

static void event_left(world *w) {
    cl_event e;
    set_args(w);
    clEnqueueNDRangeKernel(w->queue, w->kernel, 1, NULL, &(size_t){COUNT}, NULL, 0, NULL, &e);
    end(w);
}

static void queue_after_release(world *w) {
    clReleaseCommandQueue(w->queue);
    clFinish(w->queue);
    w->queue = clCreateCommandQueue(w->context, w->device, 0, NULL);
    end(w);
}

static void other_object(world *w) {
    set_args(w);
    clSetKernelArg(w->kernel, 0, sizeof w->queue, &w->queue);
    end(w);
}

static void free_twice(world *w) {
    void *p = clSVMAlloc(w->context, CL_MEM_READ_WRITE, 64, 0);
    clSVMFree(w->context, p);
    clSVMFree(w->context, p);
    end(w);
}

static const fault faults[] = {
    {"right", COUNT, 4, NULL, NULL},
    {"read_beyond", COUNT, 4, NULL, NULL},
    {"write_beyond", COUNT, 4, NULL, NULL},
    {"write_before", COUNT, 4, NULL, NULL},
    {"far_beyond", COUNT, 4, NULL, NULL},
    {"local_beyond", COUNT, COUNT, NULL, NULL},
    {"private_beyond", 5, 5, NULL, NULL},
    {"local_argument", 0, 0, pass_short_local, NULL},
    {"shared_beyond", 0, 0, share_memory, "right"},
    {"null_pointer", 0, 0, pass_null, NULL},
    {"write_constant", COUNT, 4, NULL, NULL},
    {"misaligned", 4, 4, NULL, NULL},
    {"freed_memory", 0, 0, use_freed, "right"},
    {"no_value", COUNT, 4, NULL, NULL},
    {"no_value_copied", COUNT, 4, NULL, NULL},
    {"decides", 4, 4, NULL, NULL},
    {"local_without_value", COUNT, COUNT, NULL, NULL},
    {"by_index_without_value", 4, 4, NULL, NULL},
    {"dangling", 4, 4, NULL, NULL},
    {"race_of_groups", 8, 4, NULL, NULL},
    {"race_in_group", 4, 4, NULL, NULL},
    {"race_of_sums", 0, 0, fill_first, NULL},
    {"race_with_read", 0, 0, fill_first, NULL},
    {"weak_fence", 4, 4, NULL, NULL},
    {"divergent", 4, 4, NULL, NULL},
    {"early_return", 4, 4, NULL, NULL},
    {"divides", COUNT, 4, NULL, NULL},
    {"async_not_waited", 4, 4, NULL, NULL},
    {"different_copies", 4, 4, NULL, NULL},
    {"endless", 2, 1, NULL, NULL},
    {"in_function", COUNT, 4, NULL, NULL},
    {"read_without_value", 0, 0, map_with_undefined, "right"},
    {"leak", 0, 0, leak, "right"},
    {"release_twice", 0, 0, release_twice, "right"},
    {"argument_not_set", 0, 0, argument_not_set, "right"},
    {"argument_size", 0, 0, argument_size, "right"},
    {"argument_number", 0, 0, argument_number, "right"},
    {"released_argument", 0, 0, released_argument, "right"},
    {"read_outside", 0, 0, read_outside, "right"},
    {"write_outside", 0, 0, write_outside, "right"},
    {"copy_outside", 0, 0, copy_outside, "right"},
    {"local_size", 0, 0, local_size, "right"},
    {"kernel_name", 0, 0, kernel_name, "right"},
    {"mapped", 0, 0, mapped, "right"},
    {"unmap_other", 0, 0, unmap_other, "right"},
    {"not_waited", 0, 0, not_waited, "right"},
    {"event_left", 0, 0, event_left, "right"},
    {"queue_after_release", 0, 0, queue_after_release, "right"},
    {"other_object", 0, 0, other_object, "right"},
    {"free_twice", 0, 0, free_twice, "right"},
    {"no_local", 0, 0, pass_no_local, "local_argument", .unlisted = true},
    /* Right, but long: no work-group has much to do. */
    {"many_groups", 1 << 23, 4, NULL, NULL, .unlisted = true},
};
enum { FAULTS = sizeof faults / sizeof *faults };

static int run(const fault *f, const char *path) {
    world w;
    if (!make(&w, path, f->kernel ? f->kernel : f->name)) return 3;
    if (f->host)
        f->host(&w);
    else
        run_kernel(&w, f);
    return 0;
}

int main(int argc, char **argv) {
    if (!find_implementation()) return 2;
    for (int n = 0; n < FAULTS; n++)
        if (argc < 3) {
            if (!faults[n].unlisted) puts(faults[n].name);
        } else if (strcmp(faults[n].name, argv[1]) == 0)
            return run(&faults[n], argv[2]);
    return argc < 3 ? 0 : 2;
}
