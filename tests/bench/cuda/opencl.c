/* opencl.c — NVIDIA's OpenCL: its library is loaded by name, so nothing must be registered. */
#include "tests/bench/cuda/cuda.h"

bool open_opencl(opencl_peer *d) {
    cl_int error;
    *d = (opencl_peer){0};
    if (!open_implementation(&d->device, "libnvidia-opencl.so.1")) return false;
    d->queue = clCreateCommandQueue(d->device.context, d->device.device, CL_QUEUE_PROFILING_ENABLE,
                                    &error);
    return d->exists = error == CL_SUCCESS;
}

bool prepare_opencl(opencl_side *s, const opencl_peer *d, cl_program program, const benchmark *b,
                    const gpu_buffers *like) {
    bool ok = true;
    *s = (opencl_side){.on = d};
    while (ok && s->copies < like->copies)
        ok = prepare_launch(&s->launch[s->copies++], &d->device, program, b, like->of);
    return ok;
}

void free_opencl(opencl_side *s) {
    for (unsigned c = 0; c < s->copies; c++) free_launch(&s->launch[c]);
    *s = (opencl_side){0};
}

static cl_int enqueue(const opencl_side *s, const launch *l, unsigned kernel, cl_event *event) {
    return clEnqueueNDRangeKernel(s->on->queue, l->kernel[kernel], l->dims, NULL, l->global,
                                  l->local[0] ? l->local : NULL, 0, NULL, event);
}

static cl_ulong time_of(cl_event e, cl_profiling_info what) {
    cl_ulong t = 0;
    clGetEventProfilingInfo(e, what, sizeof t, &t, NULL);
    clReleaseEvent(e);
    return t;
}

double time_opencl(opencl_side *s, unsigned times) {
    cl_event first = NULL, last = NULL;
    cl_int error = CL_SUCCESS;
    for (unsigned n = 0; n < times; n++) {
        const launch *l = &s->launch[s->turn++ % s->copies];
        for (unsigned k = 0; k < l->kernels && error == CL_SUCCESS; k++) {
            bool begins = n == 0 && k == 0, ends = n + 1 == times && k + 1 == l->kernels;
            error = enqueue(s, l, k, begins ? &first : ends ? &last : NULL);
        }
    }
    if (error != CL_SUCCESS || clFinish(s->on->queue) != CL_SUCCESS) return 0;
    if (!last) clRetainEvent(last = first);
    cl_ulong end = time_of(last, CL_PROFILING_COMMAND_END);
    return (double)(end - time_of(first, CL_PROFILING_COMMAND_START)) / 1e3;
}
