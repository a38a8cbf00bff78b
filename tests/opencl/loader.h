/* loader.h — tells the OpenCL loader to find the implementation of this build, and no other; and
 * finds entries that it does not know. */
#ifndef SPVFUSE_TESTS_LOADER_H
#define SPVFUSE_TESTS_LOADER_H

#include <CL/cl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* To be called before any entry.  The program is BUILD/tests/opencl/NAME, the loader's file
 * BUILD/spvfuse.icd. */
static inline bool find_implementation(void) {
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - sizeof "/spvfuse.icd");
    if (n <= 0) return false;
    path[n] = 0;
    for (int up = 0; up < 3; up++) {
        char *slash = strrchr(path, '/');
        if (!slash) return false;
        *slash = 0;
    }
    return setenv("OCL_ICD_VENDORS", strcat(path, "/spvfuse.icd"), 1) == 0;
}

/* With the variable FROM_BINARY: the same program, made from its binary; otherwise p itself. */
static inline cl_program made_from_binary(cl_context c, cl_device_id d, cl_program p) {
    size_t size = 0;
    if (!getenv("FROM_BINARY")) return p;
    clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL);
    unsigned char *bytes = malloc(size);
    clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL);
    const unsigned char *read = bytes;
    cl_program again = clCreateProgramWithBinary(c, 1, &d, &size, &read, NULL, NULL);
    if (again && clBuildProgram(again, 1, &d, "", NULL, NULL)) again = NULL;
    clReleaseProgram(p);
    free(bytes);
    return again;
}

/* Stores the entry of that name, or NULL, in *to. */
static inline void load_entry(cl_platform_id platform, const char *name, void *to) {
    void *entry = clGetExtensionFunctionAddressForPlatform(platform, name);
    memcpy(to, &entry, sizeof entry); /* ISO C has no cast */
}

#endif
