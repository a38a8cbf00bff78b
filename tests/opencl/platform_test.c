/* platform_test.c — the platform: how it is found, what it says of itself, and the entries that are
 * asked for by name. */
#include "tests/opencl/opencl.h"

#include <dlfcn.h>

TestSuite(platform, .init = begin_opencl, .fini = end_opencl);

Test(platform, is_one) {
    cl_platform_id found[2] = {NULL, NULL};
    cl_uint n = 0;
    SUCCEEDS(clGetPlatformIDs(2, found, &n));
    cr_expect_eq(n, 1);
    cr_expect_eq(found[0], ocl.platform);
    cr_expect_null(found[1]);
    SUCCEEDS(clGetPlatformIDs(0, NULL, &n));
    FAILS(CL_INVALID_VALUE, clGetPlatformIDs(0, found, &n));
    FAILS(CL_INVALID_VALUE, clGetPlatformIDs(1, NULL, NULL));
}

/* What the loader looks for in the library. */
static void find_symbol(const char *name, void *function) {
    char path[4096] = "";
    FILE *f = fopen(getenv("OCL_ICD_VENDORS"), "r");
    cr_assert(f && fgets(path, sizeof path, f));
    fclose(f);
    path[strcspn(path, "\n")] = 0;
    void *address = dlsym(dlopen(path, RTLD_NOW), name);
    cr_assert(address, "%s", name);
    memcpy(function, &address, sizeof address);
}

Test(platform, is_found_by_the_loader) {
    cl_int (*find)(cl_uint, cl_platform_id *, cl_uint *);
    cl_platform_id found[2] = {NULL, NULL};
    cl_uint n = 0;
    find_symbol("clIcdGetPlatformIDsKHR", &find);
    SUCCEEDS(find(2, found, &n));
    cr_expect_eq(n, 1);
    cr_expect_eq(found[0], ocl.platform);
    SUCCEEDS(find(1, found, NULL));
    SUCCEEDS(find(0, NULL, &n));
    FAILS(CL_INVALID_VALUE, find(0, found, &n));
    FAILS(CL_INVALID_VALUE, find(0, NULL, NULL));
}

/* -------------------------------------------------------------------------------------- answers */

static const char *text_of(cl_platform_info what) {
    static char text[2048];
    size_t size;
    SUCCEEDS(clGetPlatformInfo(ocl.platform, what, sizeof text, text, &size));
    cr_expect_eq(size, strlen(text) + 1);
    return text;
}

Test(platform, info) {
    cr_expect_str_eq(text_of(CL_PLATFORM_PROFILE), "FULL_PROFILE");
    cr_expect_eq(strncmp(text_of(CL_PLATFORM_VERSION), "OpenCL 3.0 ", 11), 0);
    cr_expect_str_eq(text_of(CL_PLATFORM_NAME), "spvfuse");
    cr_expect_str_eq(text_of(CL_PLATFORM_VENDOR), "spvfuse");
    cr_expect_str_eq(text_of(CL_PLATFORM_ICD_SUFFIX_KHR), "SPVF");
    TELLS(cl_version, CL_MAKE_VERSION(3, 0, 0), clGetPlatformInfo, ocl.platform,
          CL_PLATFORM_NUMERIC_VERSION);
    TELLS(cl_ulong, 1, clGetPlatformInfo, ocl.platform, CL_PLATFORM_HOST_TIMER_RESOLUTION);
}

Test(platform, wrong_info) {
    char little[4];
    size_t size;
    FAILS(CL_INVALID_PLATFORM,
          clGetPlatformInfo((cl_platform_id)(void *)ocl.device, CL_PLATFORM_NAME, 0, NULL, &size));
    CHECK_INFO(clGetPlatformInfo, ocl.platform, CL_PLATFORM_NAME, sizeof "spvfuse");
    FAILS(CL_INVALID_VALUE,
          clGetPlatformInfo(ocl.platform, CL_PLATFORM_NAME, sizeof little, little, &size));
}

/* Names and versions are the same extensions; the device has them all. */
Test(platform, extensions) {
    cl_name_version list[64], of_device[64];
    char names[2048] = "", told[2048];
    size_t size, device_size;
    SUCCEEDS(clGetPlatformInfo(ocl.platform, CL_PLATFORM_EXTENSIONS_WITH_VERSION, sizeof list, list,
                               &size));
    for (size_t k = 0; k < size / sizeof *list; k++) {
        cr_expect(list[k].version, "%s", list[k].name);
        strcat(strcat(names, list[k].name), " ");
    }
    cr_expect_str_eq(text_of(CL_PLATFORM_EXTENSIONS), names);
    cr_expect(strstr(names, "cl_khr_icd "));
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DEVICE_EXTENSIONS, sizeof told, told, NULL));
    cr_expect_str_eq(told, names);
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DEVICE_EXTENSIONS_WITH_VERSION, sizeof of_device,
                             of_device, &device_size));
    cr_expect_eq(device_size, size);
    cr_expect_eq(memcmp(of_device, list, size), 0);
}

/* ------------------------------------------------------------------------------ entries by name */

Test(platform, entries_by_name) {
    static const char *const names[] = {
        "clIcdGetPlatformIDsKHR",     "clCreateProgramWithILKHR",
        "clGetKernelSubGroupInfoKHR", "clCreateCommandQueueWithPropertiesKHR",
        "clGetPlatformInfo",          "clGetKernelSuggestedLocalWorkSizeKHR",
    };
    void *(*find)(const char *name);
    find_symbol("clGetExtensionFunctionAddress", &find);
    for (unsigned k = 0; k < sizeof names / sizeof *names; k++) {
        void *address;
        find_entry(names[k], &address);
        cr_expect_not_null(find(names[k]), "%s", names[k]);
    }
    cr_expect_null(find("clNobodyKnows"));
    cr_expect_null(find(""));
    cr_expect_null(find(NULL));
    cr_expect_null(clGetExtensionFunctionAddressForPlatform(ocl.platform, "clNobodyKnows"));
    cr_expect_null(clGetExtensionFunctionAddressForPlatform(ocl.platform, NULL));
}

Test(platform, unload_compiler) {
    SUCCEEDS(clUnloadPlatformCompiler(ocl.platform));
    FAILS(CL_INVALID_PLATFORM, clUnloadPlatformCompiler((cl_platform_id)(void *)ocl.device));
    SUCCEEDS(clUnloadCompiler());
}
