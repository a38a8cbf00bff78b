/* select.h — how portable programs choose a device: by the extensions that it announces, of all
 * platforms that the loader finds. */
#ifndef SPVFUSE_TESTS_SELECT_H
#define SPVFUSE_TESTS_SELECT_H

#include "tests/opencl/opencl.h"

/* Is the name one of the words of the device's list? */
static inline bool has_extension(cl_device_id d, const char *name) {
    size_t size, n = strlen(name);
    SUCCEEDS(clGetDeviceInfo(d, CL_DEVICE_EXTENSIONS, 0, NULL, &size));
    char *list = malloc(size);
    SUCCEEDS(clGetDeviceInfo(d, CL_DEVICE_EXTENSIONS, size, list, NULL));
    bool found = false;
    for (const char *at = list; !found && (at = strstr(at, name)); at += n)
        found = (at == list || at[-1] == ' ') && (at[n] == ' ' || !at[n]);
    free(list);
    return found;
}

/* The first device of any platform for which `fits` is true becomes ocl.device, with ocl.platform;
 * false: there is none. */
static inline bool select_device(bool (*fits)(cl_device_id d)) {
    cl_platform_id platforms[16];
    cl_device_id devices[16];
    cl_uint np, nd;
    if (clGetPlatformIDs(16, platforms, &np) != CL_SUCCESS) return false;
    for (cl_uint p = 0; p < np && p < 16; p++) {
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, devices, &nd) != CL_SUCCESS)
            continue;
        for (cl_uint d = 0; d < nd && d < 16; d++) {
            if (!fits(devices[d])) continue;
            ocl.platform = platforms[p];
            ocl.device = devices[d];
            return true;
        }
    }
    return false;
}

#endif
