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

/* Stores the entry of that name, or NULL, in *to. */
static inline void load_entry(cl_platform_id platform, const char *name, void *to) {
    void *entry = clGetExtensionFunctionAddressForPlatform(platform, name);
    memcpy(to, &entry, sizeof entry); /* ISO C has no cast */
}

#endif
