// leave.cpp — objects of OpenCL that are released when the process ends: one by a handler of atexit, which
// is registered before the first call, one by the destructor of a variable.  With an argument both stay.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <cstdlib>

static cl_context context;
static bool stay;

struct Owner {
    cl_mem buffer = nullptr;
    ~Owner() {
        if (buffer && !stay) clReleaseMemObject(buffer);
    }
};
static Owner owner;

static void release_context() {
    if (!stay) clReleaseContext(context);
}

int main(int argc, char **) {
    cl_platform_id platform;
    cl_device_id device;
    stay = argc > 1;
    std::atexit(release_context);
    clGetPlatformIDs(1, &platform, nullptr);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr);
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
    owner.buffer = clCreateBuffer(context, 0, 64, nullptr, nullptr);
    return owner.buffer ? 0 : 1;
}
