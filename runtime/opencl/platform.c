/* platform.c — the platform, and how the loader and programs find the entries.
 *
 * The table is filled when the platform is asked for first.
 */
#include "runtime/opencl/ocl.h"

#include <stdlib.h>

static ocl_entries entries;
static struct _cl_platform_id platform;

void ocl_add_extension(ocl_entries *e, const char *name, ocl_function function) {
    assert(e->extensions < OCL_MAX_EXTENSION_ENTRIES);
    e->extension[e->extensions].name = name;
    e->extension[e->extensions++].function = function;
}

ocl_object ocl_new_object(ocl_kind kind) {
    ocl_object o = {.dispatch = &entries.core, .kind = kind};
    rt_refs_init(&o.refs);
    return o;
}

void ocl_free_object(ocl_object *o) {
    o->kind = OCL_NOTHING;
    if (!ocl_is_checking()) free(o);
}

static void fill_entries(void) {
    ocl_fill_platform(&entries);
    ocl_fill_device(&entries);
    ocl_fill_context(&entries);
    ocl_fill_event(&entries);
    ocl_fill_queue(&entries);
    ocl_fill_memory(&entries);
    ocl_fill_transfer(&entries);
    ocl_fill_rect(&entries);
    ocl_fill_map(&entries);
    ocl_fill_svm(&entries);
    ocl_fill_usm(&entries);
    ocl_fill_program(&entries);
    ocl_fill_build(&entries);
    ocl_fill_kernel(&entries);
    ocl_fill_launch(&entries);
    ocl_fill_command_buffer(&entries);
    ocl_fill_command_record(&entries);
    ocl_fill_command_mutable(&entries);
    ocl_fill_absent(&entries);
    if (ocl_is_checking()) ocl_fill_checks(&entries);
    platform.object = ocl_new_object(OCL_PLATFORM);
}

cl_platform_id ocl_platform(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill_entries);
    return &platform;
}

/* -------------------------------------------------------------------------------------- entries */

static cl_int CL_API_CALL get_platforms(cl_uint room, cl_platform_id *list, cl_uint *count) {
    if ((list && !room) || (!list && !count)) return CL_INVALID_VALUE;
    if (list) list[0] = ocl_platform();
    if (count) *count = 1;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL get_platform_info(cl_platform_id p, cl_platform_info what, size_t room,
                                            void *to, size_t *size) {
    const ocl_answer a = {room, to, size};
    if (p && p != &platform) return CL_INVALID_PLATFORM;
    switch (what) {
    case CL_PLATFORM_PROFILE: return ocl_give_string(&a, "FULL_PROFILE");
    case CL_PLATFORM_VERSION: return ocl_give_string(&a, "OpenCL 3.0 spvfuse " OCL_VERSION_TEXT);
    case CL_PLATFORM_NUMERIC_VERSION: return ocl_give_uint(&a, CL_MAKE_VERSION(3, 0, 0));
    case CL_PLATFORM_NAME: return ocl_give_string(&a, "spvfuse");
    case CL_PLATFORM_VENDOR: return ocl_give_string(&a, "spvfuse");
    case CL_PLATFORM_EXTENSIONS: return ocl_give_extensions(&a, false);
    case CL_PLATFORM_EXTENSIONS_WITH_VERSION: return ocl_give_extensions(&a, true);
    case CL_PLATFORM_HOST_TIMER_RESOLUTION: return ocl_give_ulong(&a, 1);
    case CL_PLATFORM_ICD_SUFFIX_KHR: return ocl_give_string(&a, "SPVF");
    default: return CL_INVALID_VALUE;
    }
}

static void *CL_API_CALL get_extension_function(cl_platform_id p, const char *name) {
    if ((p && p != ocl_platform()) || !name) return NULL;
    ocl_platform();
    for (unsigned n = 0; n < entries.extensions; n++) {
        void *address;
        if (strcmp(entries.extension[n].name, name) != 0) continue;
        memcpy(&address, &entries.extension[n].function, sizeof address); /* ISO C has no cast */
        return address;
    }
    return NULL;
}

static void *CL_API_CALL get_extension_function_1_1(const char *name) {
    return get_extension_function(ocl_platform(), name);
}

void ocl_fill_platform(ocl_entries *e) {
    e->core.clGetPlatformIDs = get_platforms;
    e->core.clGetPlatformInfo = get_platform_info;
    e->core.clGetExtensionFunctionAddress = get_extension_function_1_1;
    e->core.clGetExtensionFunctionAddressForPlatform = get_extension_function;
    ocl_add_extension(e, "clIcdGetPlatformIDsKHR", (ocl_function)get_platforms);
    ocl_add_extension(e, "clGetPlatformInfo", (ocl_function)get_platform_info); /* ocl-icd asks */
}

/* ------------------------------------------------------------------------ what the loader finds */

void *spvf_opencl_entry(const char *name) { return get_extension_function_1_1(name); }
