/* icd.c — the library that the OpenCL loader opens: libspvfuse_icd.so.
 *
 * A loader looks for functions with names of its own.  In libspvfuse.so they would take the place
 * of the loader's in each program that is linked with both.  So they are in this library, which no
 * program links with, and call libspvfuse.so, which is in the same folder.
 */
#include "runtime/opencl/ocl.h"

#include <string.h>

SPVF_API CL_API_ENTRY cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id *list,
                                                                cl_uint *count);
SPVF_API CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddress(const char *name);

void *CL_API_CALL clGetExtensionFunctionAddress(const char *name) {
    return spvf_opencl_entry(name);
}

cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id *list, cl_uint *count) {
    cl_int(CL_API_CALL * get)(cl_uint, cl_platform_id *, cl_uint *);
    void *entry = spvf_opencl_entry("clIcdGetPlatformIDsKHR");
    memcpy(&get, &entry, sizeof get); /* ISO C has no cast */
    return get(room, list, count);
}
