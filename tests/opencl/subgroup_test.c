/* subgroup_test.c — the extensions for sub-groups and work-groups, and integer dot products: that
 * they are announced everywhere, what the kernels of the corpus leave, and what is known of the
 * sub-groups of a kernel. */
#include "tests/file.h"
#include "tests/frontend/words.h"
#include "tests/opencl/programs.h"
#include "tests/subgroups.h"

#include <CL/cl_ext.h>
#include <spirv/unified1/spirv.h>

TestSuite(subgroup, .init = begin_opencl, .fini = end_opencl);

/* -------------------------------------------------------------------------------- announcements */

static const char *const extensions[] = {
    "cl_khr_subgroup_extended_types",
    "cl_khr_subgroup_non_uniform_vote",
    "cl_khr_subgroup_ballot",
    "cl_khr_subgroup_non_uniform_arithmetic",
    "cl_khr_subgroup_shuffle",
    "cl_khr_subgroup_shuffle_relative",
    "cl_khr_subgroup_clustered_reduce",
    "cl_khr_subgroup_rotate",
    "cl_khr_work_group_uniform_arithmetic",
    "cl_khr_integer_dot_product",
    "cl_khr_expect_assume",
    "cl_intel_required_subgroup_size",
};
enum { EXTENSIONS = sizeof extensions / sizeof *extensions };

static bool has_version(const cl_name_version *list, size_t n, const char *name, cl_uint major) {
    for (size_t k = 0; k < n; k++)
        if (strcmp(list[k].name, name) == 0) return list[k].version == CL_MAKE_VERSION(major, 0, 0);
    return false;
}

Test(subgroup, announced) {
    char names[2048], word[64];
    cl_name_version versions[64];
    size_t size;
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DEVICE_EXTENSIONS, sizeof names, names, NULL));
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DEVICE_EXTENSIONS_WITH_VERSION, sizeof versions,
                             versions, &size));
    for (int k = 0; k < EXTENSIONS; k++) {
        bool dots = strcmp(extensions[k], "cl_khr_integer_dot_product") == 0;
        snprintf(word, sizeof word, "%s ", extensions[k]);
        cr_expect(strstr(names, word) != NULL, "%s", extensions[k]);
        cr_expect(has_version(versions, size / sizeof *versions, extensions[k], dots ? 2 : 1), "%s",
                  extensions[k]);
    }
    cr_expect(!strstr(names, "named_barrier"));
}

/* Items of a group run one after the other: what waits for another one waits forever.  That is
 * what cl_khr_subgroups promises and sub-groups of OpenCL 3.0 do not. */
Test(subgroup, progress) {
    char names[2048];
    TELLS(cl_bool, CL_FALSE, clGetDeviceInfo, ocl.device,
          CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS);
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DEVICE_EXTENSIONS, sizeof names, names, NULL));
    cr_expect(!strstr(names, "cl_khr_subgroups "));
    for (int version = 2; version < 4; version++) {
        cl_program p = built("#ifdef cl_khr_subgroups\n#error progress\n#endif\n"
                             "kernel void k(global int *out) {\n"
                             "  *out = sub_group_reduce_add(*out + 3) + get_num_sub_groups();\n"
                             "}\n",
                             version == 2 ? "-cl-std=CL2.0" : "-cl-std=CL3.0");
        cl_kernel k = MAKE(clCreateKernel(p, "k", &error));
        SUCCEEDS(clReleaseKernel(k));
        SUCCEEDS(clReleaseProgram(p));
    }
}

Test(subgroup, versions) {
    cl_name_version list[64];
    size_t size;
    TELLS(cl_version, CL_MAKE_VERSION(3, 0, 0), clGetPlatformInfo, ocl.platform,
          CL_PLATFORM_NUMERIC_VERSION_KHR);
    TELLS(cl_version, CL_MAKE_VERSION(3, 0, 0), clGetDeviceInfo, ocl.device,
          CL_DEVICE_NUMERIC_VERSION_KHR);
    TELLS(cl_version, CL_MAKE_VERSION(1, 2, 0), clGetDeviceInfo, ocl.device,
          CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR);
    SUCCEEDS(clGetPlatformInfo(ocl.platform, CL_PLATFORM_EXTENSIONS_WITH_VERSION_KHR, sizeof list,
                               list, &size));
    cr_expect(has_version(list, size / sizeof *list, "cl_khr_extended_versioning", 1));
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DEVICE_ILS_WITH_VERSION_KHR, sizeof list, list, &size));
    cr_expect(has_version(list, size / sizeof *list, "SPIR-V", 1));
}

Test(subgroup, expect_and_assume) {
    cl_program p = built("kernel void k(global int *out) {\n"
                         "  *out = 1;\n"
                         "  __builtin_assume(get_global_size(0) > 0);\n"
                         "  if (__builtin_expect(get_global_id(0), 1)) *out = 5; else *out = 6;\n"
                         "}\n",
                         NULL);
    cr_expect(result_of(p, "k") == 6);
    SUCCEEDS(clReleaseProgram(p));
}

/* A kernel that fails to compile when a name is missing. */
Test(subgroup, defined) {
    char source[4096] = "kernel void k(global int *out) { *out = 1; }\n";
    for (int k = 0; k < EXTENSIONS; k++)
        snprintf(source + strlen(source), sizeof source - strlen(source),
                 "#if %s != 1\n#error %s\n#endif\n", extensions[k], extensions[k]);
    cl_program p = built(source, "-cl-std=CL2.0");
    SUCCEEDS(clReleaseProgram(p));
    p = built(source, "-cl-std=CL3.0");
    SUCCEEDS(clReleaseProgram(p));
}

Test(subgroup, dot_products) {
    static const cl_device_integer_dot_product_acceleration_properties_khr none;
    cl_device_integer_dot_product_acceleration_properties_khr told = {.signed_accelerated = 7};
    cl_name_version features[32];
    size_t size;
    TELLS(cl_device_integer_dot_product_capabilities_khr,
          CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_PACKED_KHR |
              CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_KHR,
          clGetDeviceInfo, ocl.device, CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES_KHR);
    SUCCEEDS(clGetDeviceInfo(ocl.device,
                             CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT_KHR,
                             sizeof told, &told, NULL));
    cr_expect(memcmp(&told, &none, sizeof none) == 0);
    told.signed_accelerated = 7;
    SUCCEEDS(clGetDeviceInfo(
        ocl.device, CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED_KHR,
        sizeof told, &told, NULL));
    cr_expect(memcmp(&told, &none, sizeof none) == 0);
    SUCCEEDS(
        clGetDeviceInfo(ocl.device, CL_DEVICE_OPENCL_C_FEATURES, sizeof features, features, &size));
    cr_expect(has_version(features, size / sizeof *features,
                          "__opencl_c_integer_dot_product_input_4x8bit", 3));
    cr_expect(has_version(features, size / sizeof *features,
                          "__opencl_c_integer_dot_product_input_4x8bit_packed", 3));
}

/* -------------------------------------------------------------------- the kernels of the corpus */

static reference expected;

static size_t largest_subgroup(cl_kernel k, size_t local) {
    size_t most;
    SUCCEEDS(clGetKernelSubGroupInfo(k, ocl.device, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE,
                                     sizeof local, &local, sizeof most, &most, NULL));
    return most;
}

/* Runs the kernel on the inputs; what it writes, to be freed. */
static unsigned char *run(cl_kernel k) {
    const reference *r = &expected;
    const size_t global = r->n, local = r->local, size = (size_t)r->n * r->steps * r->type->bytes;
    unsigned char in[(MOST_ITEMS + 15) * 8], *out = malloc(size);
    pack(r->type, r->in, r->n + 15, in);
    cl_mem from = MAKE(clCreateBuffer(ocl.context, CL_MEM_COPY_HOST_PTR,
                                      (r->n + 15) * r->type->bytes, in, &error));
    cl_mem to = MAKE(clCreateBuffer(ocl.context, 0, size, NULL, &error));
    SUCCEEDS(clSetKernelArg(k, 0, sizeof from, &from));
    SUCCEEDS(clSetKernelArg(k, 1, sizeof to, &to));
    SUCCEEDS(clEnqueueNDRangeKernel(ocl.queue, k, 1, NULL, &global, &local, 0, NULL, NULL));
    SUCCEEDS(clEnqueueReadBuffer(ocl.queue, to, CL_TRUE, 0, size, out, 0, NULL, NULL));
    SUCCEEDS(clReleaseMemObject(from));
    SUCCEEDS(clReleaseMemObject(to));
    return out;
}

static void compare(cl_kernel k, const char *name) {
    const reference *r = &expected;
    unsigned char *out = run(k);
    for (uint32_t i = 0; i < r->n * r->steps; i++)
        cr_assert(unpack(r->type, out, i) == r->out[i], "%s, step %u, item %u: %llx, not %llx",
                  name, i / r->n, i % r->n, (unsigned long long)unpack(r->type, out, i),
                  (unsigned long long)r->out[i]);
    free(out);
}

static void run_type(cl_program p, const group_kernel *kernel, const number *t, unsigned required) {
    static const uint32_t ranges[][2] = {{60, 20}, {50, 40}, {64, 1}, {150, 100}};
    char name[32];
    snprintf(name, sizeof name, "%s%s", kernel->kernel, t->name);
    cl_kernel k = MAKE(clCreateKernel(p, name, &error));
    for (int n = 0; n < 4; n++) {
        expected.n = ranges[n][0];
        expected.local = ranges[n][1];
        expected.most = (uint32_t)largest_subgroup(k, expected.local);
        if (required) cr_assert(expected.most == required, "%s: %u items", name, expected.most);
        compute(kernel, t, &expected);
        compare(k, name);
    }
    SUCCEEDS(clReleaseKernel(k));
}

/* size: of sub-groups, which all kernels require; 0: none. */
static char *read_kernels(const char *file, unsigned size) {
    char path[64], required[96] = "";
    snprintf(path, sizeof path, "tests/corpus/%s.cl", file);
    char *text = read_file(path, NULL);
    cr_assert(text, "%s is not there", path);
    if (size)
        snprintf(required, sizeof required,
                 "#define kernel __attribute__((intel_reqd_sub_group_size(%u))) __kernel\n", size);
    char *source = malloc(strlen(required) + strlen(text) + 1);
    strcpy(source, required);
    strcat(source, text);
    free(text);
    return source;
}

static void run_file(const char *file, const char *options, unsigned size) {
    char *source = read_kernels(file, size);
    cl_program p = built(source, options);
    for (int k = 0; k < GROUP_KERNELS; k++)
        for (int t = 0; t < NUMBERS; t++)
            if (strcmp(group_kernels[k].file, file) == 0 &&
                has_type(&group_kernels[k], &numbers[t]))
                run_type(p, &group_kernels[k], &numbers[t], size);
    SUCCEEDS(clReleaseProgram(p));
    free(source);
}

Test(subgroup, reductions) { run_file("subgroup_arith", "-cl-std=CL3.0", 0); }
Test(subgroup, moves) { run_file("subgroup_moves", "-cl-std=CL3.0", 0); }
Test(subgroup, uniform) { run_file("subgroup_uniform", "-cl-std=CL2.0", 0); }
Test(subgroup, votes) { run_file("subgroup_votes", "-cl-std=CL2.0 -cl-opt-disable", 0); }
Test(subgroup, groups) { run_file("wg_arith", "-cl-std=CL3.0", 0); }
Test(subgroup, dots) { run_file("dot_products", "-cl-std=CL3.0", 0); }

/* With sanitizers, every third size is enough: their code is slow. */
#ifdef __SANITIZE_ADDRESS__
enum { NEXT_SIZE = 3 };
#else
enum { NEXT_SIZE = 1 };
#endif

/* Whatever sizes a kernel can require. */
static void run_sizes(const char *file) {
    size_t sizes[16], bytes;
    SUCCEEDS(
        clGetDeviceInfo(ocl.device, CL_DEVICE_SUB_GROUP_SIZES_INTEL, sizeof sizes, sizes, &bytes));
    cr_expect(bytes == 7 * sizeof *sizes && sizes[6] == 64);
    for (size_t k = 0; k < bytes / sizeof *sizes; k += NEXT_SIZE)
        run_file(file, "-cl-std=CL3.0", (unsigned)sizes[k]);
}

Test(subgroup, reductions_of_sizes) { run_sizes("subgroup_arith"); }
Test(subgroup, moves_of_sizes) { run_sizes("subgroup_moves"); }
Test(subgroup, uniform_of_sizes) { run_sizes("subgroup_uniform"); }
Test(subgroup, votes_of_sizes) { run_sizes("subgroup_votes"); }
Test(subgroup, groups_of_sizes) { run_sizes("wg_arith"); }

/* Every level of x86-64 that the machine has, and registers as they come. */
static void run_all(const char *options) {
    cl_uint n;
    cl_platform_id platform;
    setenv("SPVF_CPU", options, 1);
    cr_assert(find_implementation());
    SUCCEEDS(clGetPlatformIDs(1, &platform, NULL));
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &n) == CL_DEVICE_NOT_FOUND)
        cr_skip("the machine is not of that level");
    begin_opencl();
    for (int k = 0; k < GROUP_KERNELS; k++)
        if (k == 0 || strcmp(group_kernels[k].file, group_kernels[k - 1].file) != 0)
            run_file(group_kernels[k].file, "-cl-std=CL3.0", 0);
    end_opencl();
}

Test(subgroup_levels, v2) { run_all("v2"); }
Test(subgroup_levels, v3) { run_all("v3"); }
Test(subgroup_levels, v4) { run_all("v4"); }
Test(subgroup_levels, stack) { run_all("v2,regalloc=stack"); }

/* What headers of clang lack is declared, for all types. */
Test(subgroup, declared) {
    cl_program p = built("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
                         "kernel void k(global int *out) {\n"
                         "  half h = sub_group_rotate((half)*out, 0);\n"
                         "  double d = sub_group_clustered_rotate(1.5, 2, 2);\n"
                         "  ulong u = work_group_scan_inclusive_xor(7ul);\n"
                         "  *out = (d == 1.5) + 2 * (u == 7) + 4 * (h == (half)*out)\n"
                         "       + 8 * work_group_reduce_logical_or((int)u);\n"
                         "}\n",
                         "-cl-std=CL3.0 -DF=1 -DT=2");
    cr_expect(result_of(p, "k") == 15);
    SUCCEEDS(clReleaseProgram(p));
}

/* Compilers must not make one operation of two that different items execute. */
Test(subgroup, sides_of_a_branch) {
    const size_t n = 8;
    cl_int got[8];
    cl_program p = built("kernel void k(global int *out) {\n"
                         "  int i = get_global_id(0);\n"
                         "  if (i % 3 == 0) out[i] = sub_group_non_uniform_reduce_add(i);\n"
                         "  else out[i] = sub_group_non_uniform_reduce_add(i + 100);\n"
                         "}\n",
                         "-cl-std=CL3.0");
    cl_mem out = MAKE(clCreateBuffer(ocl.context, 0, sizeof got, NULL, &error));
    cl_kernel k = MAKE(clCreateKernel(p, "k", &error));
    if (largest_subgroup(k, n) >= n) {
        SUCCEEDS(clSetKernelArg(k, 0, sizeof out, &out));
        SUCCEEDS(clEnqueueNDRangeKernel(ocl.queue, k, 1, NULL, &n, &n, 0, NULL, NULL));
        SUCCEEDS(clEnqueueReadBuffer(ocl.queue, out, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
        for (int i = 0; i < 8; i++) cr_expect(got[i] == (i % 3 ? 519 : 9), "%d: %d", i, got[i]);
    }
    SUCCEEDS(clReleaseMemObject(out));
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseProgram(p));
}

/* The bits that a full sub-group has count, also in a smaller one: the last of 37 items. */
Test(subgroup, ballots_of_smaller_groups) {
    const size_t n = 37;
    cl_int got[37];
    cl_program p = built("kernel void k(global int *out) {\n"
                         "  uint4 all = (uint4)(~0u), size = get_max_sub_group_size();\n"
                         "  out[get_global_id(0)] = size.x == sub_group_ballot_bit_count(all)\n"
                         "      && size.x == sub_group_ballot_find_msb(all) + 1\n"
                         "      && sub_group_ballot_find_lsb(all) == 0;\n"
                         "}\n",
                         "-cl-std=CL3.0");
    cl_mem out = MAKE(clCreateBuffer(ocl.context, 0, sizeof got, NULL, &error));
    cl_kernel k = MAKE(clCreateKernel(p, "k", &error));
    SUCCEEDS(clSetKernelArg(k, 0, sizeof out, &out));
    SUCCEEDS(clEnqueueNDRangeKernel(ocl.queue, k, 1, NULL, &n, &n, 0, NULL, NULL));
    SUCCEEDS(clEnqueueReadBuffer(ocl.queue, out, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
    for (int i = 0; i < 37; i++) cr_expect(got[i] == 1, "item %d", i);
    SUCCEEDS(clReleaseMemObject(out));
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseProgram(p));
}

/* clang makes one call of those in the cases, whose cluster size is no constant then. */
#define CASES(call)                                                                                \
    "  switch (out[1]) {\n"                                                                        \
    "  case 1: r = " call "1); break;\n"                                                           \
    "  case 2: r = " call "2); break;\n"                                                           \
    "  case 4: r = " call "4); break;\n"                                                           \
    "  case 64: r = " call "64); break;\n"                                                         \
    "  }\n"

Test(subgroup, sizes_of_clusters) {
    static const char *const calls[] = {
        CASES("sub_group_clustered_reduce_add(v, "),
        CASES("sub_group_clustered_reduce_max(v, "),
        CASES("1 + sub_group_clustered_reduce_logical_xor(v, "),
        CASES("sub_group_clustered_rotate(v, out[2], "),
        "  r = sub_group_clustered_reduce_mul(v, out[1]);\n",
    };
    static const cl_int wanted[] = {8, 8, 2, 8, 8};
    char source[1024];
    for (int n = 0; n < 5; n++) {
        snprintf(source, sizeof source,
                 "kernel void k(global int *out) {\n"
                 "  out[0] = 8; out[1] = 4; out[2] = 4;\n"
                 "  mem_fence(CLK_GLOBAL_MEM_FENCE);\n"
                 "  volatile global int *in = out;\n"
                 "  int v = in[0], r = 0;\n"
                 "%s"
                 "  *out = r;\n"
                 "}\n",
                 calls[n]);
        cl_program p = built(source, "-cl-std=CL3.0");
        cl_mem out = MAKE(clCreateBuffer(ocl.context, 0, 64, NULL, &error));
        cl_kernel k = MAKE(clCreateKernel(p, "k", &error));
        cl_int got = 0;
        SUCCEEDS(clSetKernelArg(k, 0, sizeof out, &out));
        SUCCEEDS(clEnqueueTask(ocl.queue, k, 0, NULL, NULL));
        SUCCEEDS(clEnqueueReadBuffer(ocl.queue, out, CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL));
        cr_expect(got == wanted[n], "%s%d", calls[n], got);
        SUCCEEDS(clReleaseMemObject(out));
        SUCCEEDS(clReleaseKernel(k));
        SUCCEEDS(clReleaseProgram(p));
    }
}

/* ---------------------------------------------------------------------- clGetKernelSubGroupInfo */

typedef cl_int CL_API_CALL subgroup_info(cl_kernel, cl_device_id, cl_kernel_sub_group_info, size_t,
                                         const void *, size_t, void *, size_t *);

static subgroup_info *find_khr(void) {
    subgroup_info *f;
    find_entry("clGetKernelSubGroupInfoKHR", &f);
    return f;
}

static cl_program three_kernels(void) {
    return built("kernel void k(global int *out) { *out = 1; }\n"
                 "kernel __attribute__((reqd_work_group_size(6, 1, 1))) void line() { }\n"
                 "kernel __attribute__((reqd_work_group_size(3, 2, 1))) void plane() { }\n",
                 NULL);
}

/* Of kernels that require none: lanes of 32 bits. */
static size_t size_of_subgroups(void) {
    cl_uint lanes;
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, sizeof lanes, &lanes,
                             NULL));
    return lanes;
}

static void check_ndrange(subgroup_info *info, cl_kernel k) {
    const size_t local[] = {5, 3, 2};
    size_t most, count, size;
    for (size_t dims = 1, items = 1; dims <= 3; dims++) {
        items *= local[dims - 1];
        SUCCEEDS(info(k, ocl.device, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, dims * sizeof *local,
                      local, sizeof most, &most, &size));
        cr_expect(most == size_of_subgroups() && size == sizeof most);
        SUCCEEDS(info(k, NULL, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, dims * sizeof *local, local,
                      sizeof count, &count, &size));
        cr_expect(count == (items + most - 1) / most && size == sizeof count);
    }
}

Test(subgroup, of_ranges) {
    cl_program p = three_kernels();
    cl_kernel k = MAKE(clCreateKernel(p, "k", &error));
    check_ndrange(clGetKernelSubGroupInfo, k);
    check_ndrange(find_khr(), k);
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseProgram(p));
}

/* A size for that many sub-groups, in `dims` numbers. */
static void expect_size(cl_program p, const char *name, size_t count, size_t dims, size_t x,
                        size_t y, size_t z) {
    size_t got[4] = {9, 9, 9, 9}, size;
    const size_t wanted[] = {x, y, z};
    cl_kernel k = MAKE(clCreateKernel(p, name, &error));
    SUCCEEDS(clGetKernelSubGroupInfo(k, ocl.device, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT,
                                     sizeof count, &count, dims * sizeof *got, got, &size));
    cr_expect(size == dims * sizeof *got);
    for (size_t d = 0; d < dims; d++)
        cr_expect(got[d] == wanted[d], "%s, %zu sub-groups: %zu, not %zu", name, count, got[d],
                  wanted[d]);
    cr_expect(got[dims] == 9);
    SUCCEEDS(clReleaseKernel(k));
}

Test(subgroup, size_for_count) {
    cl_program p = three_kernels();
    size_t most, full = size_of_subgroups(), six = (6 + full - 1) / full;
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, NULL));
    for (size_t dims = 1; dims <= 3; dims++) {
        expect_size(p, "k", 7, dims, 7 * full, 1, 1);
        expect_size(p, "k", most / full, dims, most, 1, 1);
        expect_size(p, "k", most / full + 1, dims, 0, 0, 0);
        expect_size(p, "k", SIZE_MAX / full + 2, dims, 0, 0, 0);
        expect_size(p, "k", 0, dims, 0, 0, 0);
        expect_size(p, "line", six, dims, 6, 1, 1);
        expect_size(p, "line", six + 1, dims, 0, 0, 0);
    }
    expect_size(p, "plane", six, 3, 3, 2, 1);
    expect_size(p, "plane", six, 2, 3, 2, 0);
    expect_size(p, "plane", six, 1, 0, 0, 0);
    SUCCEEDS(clReleaseProgram(p));
}

Test(subgroup, numbers) {
    cl_program p = three_kernels();
    cl_kernel k = MAKE(clCreateKernel(p, "k", &error)),
              line = MAKE(clCreateKernel(p, "line", &error));
    size_t n, most, full = size_of_subgroups();
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, NULL));
    SUCCEEDS(clGetKernelSubGroupInfo(k, NULL, CL_KERNEL_MAX_NUM_SUB_GROUPS, 0, NULL, sizeof n, &n,
                                     NULL));
    cr_expect(n == most / full);
    SUCCEEDS(clGetKernelSubGroupInfo(line, NULL, CL_KERNEL_MAX_NUM_SUB_GROUPS, 0, NULL, sizeof n,
                                     &n, NULL));
    cr_expect(n == (6 + full - 1) / full);
    SUCCEEDS(clGetKernelSubGroupInfo(k, NULL, CL_KERNEL_COMPILE_NUM_SUB_GROUPS, 0, NULL, sizeof n,
                                     &n, NULL));
    cr_expect(n == 0);
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseKernel(line));
    SUCCEEDS(clReleaseProgram(p));
}

static void check_errors(subgroup_info *info, cl_kernel k, cl_kernel_sub_group_info what) {
    const size_t in[4] = {4, 1, 1, 1};
    size_t out, size;
    cl_platform_id no_device = ocl.platform;
    FAILS(CL_INVALID_KERNEL, info(NULL, NULL, what, 8, in, sizeof out, &out, NULL));
    FAILS(CL_INVALID_DEVICE,
          info(k, (cl_device_id)(void *)no_device, what, 8, in, sizeof out, &out, NULL));
    FAILS(CL_INVALID_VALUE, info(k, NULL, what, 8, NULL, sizeof out, &out, NULL));
    FAILS(CL_INVALID_VALUE, info(k, NULL, what, 0, in, sizeof out, &out, NULL));
    FAILS(CL_INVALID_VALUE, info(k, NULL, what, 7, in, sizeof out, &out, NULL));
    FAILS(CL_INVALID_VALUE, info(k, NULL, what, 32, in, sizeof out, &out, NULL));
    FAILS(CL_INVALID_VALUE, info(k, NULL, what, 8, in, sizeof out - 1, &out, NULL));
    SUCCEEDS(info(k, NULL, what, 8, in, 0, NULL, &size));
    SUCCEEDS(info(k, NULL, what, 8, in, sizeof out, &out, NULL));
}

Test(subgroup, info_errors) {
    cl_program p = three_kernels();
    cl_kernel k = MAKE(clCreateKernel(p, "k", &error));
    size_t n;
    check_errors(clGetKernelSubGroupInfo, k, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE);
    check_errors(clGetKernelSubGroupInfo, k, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE);
    check_errors(clGetKernelSubGroupInfo, k, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT);
    check_errors(find_khr(), k, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE_KHR);
    check_errors(find_khr(), k, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE_KHR);
    FAILS(CL_INVALID_VALUE, clGetKernelSubGroupInfo(k, NULL, CL_KERNEL_MAX_NUM_SUB_GROUPS, 0, NULL,
                                                    sizeof n - 1, &n, NULL));
    FAILS(CL_INVALID_VALUE, clGetKernelSubGroupInfo(k, NULL, CL_KERNEL_COMPILE_NUM_SUB_GROUPS, 0,
                                                    NULL, sizeof n - 1, &n, NULL));
    FAILS(CL_INVALID_VALUE,
          clGetKernelSubGroupInfo(k, NULL, CL_KERNEL_WORK_GROUP_SIZE, 0, NULL, sizeof n, &n, NULL));
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseProgram(p));
}

/* ------------------------------------------------------------------------- what kernels ask for */

/* kernel void k(global uint *out) { *out = get_num_sub_groups() + 16 × get_enqueued_…(); }, for six
 * sub-groups of one item */
static cl_program make_six(void) {
    enum { VOID = 1, UINT, OUT, IN, FUNCTION, SIXTEEN, NUMBER, FULL, KERNEL, PARAM, LABEL, A, B };
    enum { C = B + 1, D, BOUND };
    memcpy(words, (const uint32_t[]){SpvMagicNumber, 0x00010100, 0, BOUND, 0}, 20);
    nwords = 5;
    OP(SpvOpCapability, SpvCapabilityAddresses);
    OP(SpvOpCapability, SpvCapabilityKernel);
    OP(SpvOpCapability, SpvCapabilitySubgroupDispatch);
    OP(SpvOpMemoryModel, SpvAddressingModelPhysical64, SpvMemoryModelOpenCL);
    OPS("k", SpvOpEntryPoint, SpvExecutionModelKernel, KERNEL);
    OP(SpvOpExecutionMode, KERNEL, SpvExecutionModeSubgroupsPerWorkgroup, 6);
    OP(SpvOpExecutionMode, KERNEL, SpvExecutionModeSubgroupSize, 1);
    OP(SpvOpDecorate, NUMBER, SpvDecorationBuiltIn, SpvBuiltInNumSubgroups);
    OP(SpvOpDecorate, FULL, SpvDecorationBuiltIn, SpvBuiltInNumEnqueuedSubgroups);
    OP(SpvOpTypeVoid, VOID);
    OP(SpvOpTypeInt, UINT, 32, 0);
    OP(SpvOpTypePointer, OUT, SpvStorageClassCrossWorkgroup, UINT);
    OP(SpvOpTypePointer, IN, SpvStorageClassInput, UINT);
    OP(SpvOpTypeFunction, FUNCTION, VOID, OUT);
    OP(SpvOpConstant, UINT, SIXTEEN, 16);
    OP(SpvOpVariable, IN, NUMBER, SpvStorageClassInput);
    OP(SpvOpVariable, IN, FULL, SpvStorageClassInput);
    OP(SpvOpFunction, VOID, KERNEL, SpvFunctionControlMaskNone, FUNCTION);
    OP(SpvOpFunctionParameter, OUT, PARAM);
    OP(SpvOpLabel, LABEL);
    OP(SpvOpLoad, UINT, A, NUMBER);
    OP(SpvOpLoad, UINT, B, FULL);
    OP(SpvOpIMul, UINT, C, B, SIXTEEN);
    OP(SpvOpIAdd, UINT, D, A, C);
    OP(SpvOpStore, PARAM, D);
    OP(SpvOpReturn);
    OP(SpvOpFunctionEnd);
    return MAKE(clCreateProgramWithIL(ocl.context, words, nwords * 4, &error));
}

static cl_kernel with_output(cl_program p, cl_mem out) {
    cl_kernel k = MAKE(clCreateKernel(p, "k", &error));
    SUCCEEDS(clSetKernelArg(k, 0, sizeof out, &out));
    return k;
}

static cl_mem make_output(void) {
    return MAKE(clCreateBuffer(ocl.context, 0, sizeof(cl_uint), NULL, &error));
}

Test(subgroup, required_number) {
    const size_t global = 12, six = 6, four = 4;
    size_t n;
    cl_program p = make_six();
    build(p, NULL);
    cl_mem out = make_output();
    cl_kernel k = with_output(p, out);
    SUCCEEDS(clGetKernelSubGroupInfo(k, NULL, CL_KERNEL_COMPILE_NUM_SUB_GROUPS, 0, NULL, sizeof n,
                                     &n, NULL));
    cr_expect(n == 6);
    SUCCEEDS(clEnqueueNDRangeKernel(ocl.queue, k, 1, NULL, &global, &six, 0, NULL, NULL));
    FAILS(CL_INVALID_WORK_GROUP_SIZE,
          clEnqueueNDRangeKernel(ocl.queue, k, 1, NULL, &global, &four, 0, NULL, NULL));
    SUCCEEDS(clEnqueueNDRangeKernel(ocl.queue, k, 1, NULL, &global, NULL, 0, NULL, NULL));
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseMemObject(out));
    SUCCEEDS(clReleaseProgram(p));
}

/* What the sub-groups of the only group of a launch count; it has fewer items than are required. */
static void check_counts(cl_kernel k, cl_mem out, const size_t *local) {
    const size_t four = 4;
    cl_uint got;
    SUCCEEDS(clEnqueueNDRangeKernel(ocl.queue, k, 1, NULL, &four, local, 0, NULL, NULL));
    SUCCEEDS(clEnqueueReadBuffer(ocl.queue, out, CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL));
    cr_expect(got == 4 + 16 * 6, "%u of %u", got % 16, got / 16);
}

/* A range that is smaller than a group is one group that is not full, and no error; of a program
 * that has full groups only, it is one. */
Test(subgroup, range_below_required_number) {
    const size_t four = 4, six = 6;
    cl_program whole = make_six(), any = make_six();
    build(any, NULL);
    build(whole, "-cl-uniform-work-group-size");
    cl_mem out = make_output();
    cl_kernel k = with_output(any, out), w = with_output(whole, out);
    check_counts(k, out, &six);
    check_counts(k, out, NULL);
    FAILS(CL_INVALID_WORK_GROUP_SIZE,
          clEnqueueNDRangeKernel(ocl.queue, k, 1, NULL, &four, &four, 0, NULL, NULL));
    FAILS(CL_INVALID_WORK_GROUP_SIZE,
          clEnqueueNDRangeKernel(ocl.queue, w, 1, NULL, &four, &six, 0, NULL, NULL));
    FAILS(CL_INVALID_WORK_GROUP_SIZE,
          clEnqueueNDRangeKernel(ocl.queue, w, 1, NULL, &four, NULL, 0, NULL, NULL));
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseKernel(w));
    SUCCEEDS(clReleaseMemObject(out));
    SUCCEEDS(clReleaseProgram(any));
    SUCCEEDS(clReleaseProgram(whole));
}

typedef cl_int CL_API_CALL suggest(cl_command_queue q, cl_kernel k, cl_uint dims,
                                   const size_t *offset, const size_t *global, size_t *local);

/* Without a local size it is chosen: six items, in groups that are whole where that can be. */
Test(subgroup, chosen_number) {
    static const struct {
        size_t global[3], local[3];
    } rows[] = {{{12, 1, 1}, {6, 1, 1}}, {{4, 9, 1}, {2, 3, 1}},  {{5, 7, 12}, {1, 1, 6}},
                {{6, 0, 6}, {6, 1, 1}},  {{35, 1, 1}, {6, 1, 1}}, {{2, 2, 2}, {6, 1, 1}}};
    size_t local[3];
    suggest *f;
    cl_program whole = make_six(), any = make_six();
    find_entry("clGetKernelSuggestedLocalWorkSizeKHR", &f);
    build(any, NULL);
    build(whole, "-cl-uniform-work-group-size");
    cl_mem out = make_output();
    cl_kernel k = with_output(any, out), w = with_output(whole, out);
    for (int n = 0; n < 6; n++) {
        const size_t *global = rows[n].global;
        SUCCEEDS(clEnqueueNDRangeKernel(ocl.queue, k, 3, NULL, global, NULL, 0, NULL, NULL));
        FAILS(n < 4 ? CL_SUCCESS : CL_INVALID_WORK_GROUP_SIZE,
              clEnqueueNDRangeKernel(ocl.queue, w, 3, NULL, global, NULL, 0, NULL, NULL));
        if (!global[1]) continue;
        SUCCEEDS(f(ocl.queue, k, 3, NULL, global, local));
        cr_expect(memcmp(local, rows[n].local, sizeof local) == 0, "row %d: %zu %zu %zu", n,
                  local[0], local[1], local[2]);
    }
    SUCCEEDS(clFinish(ocl.queue));
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseKernel(w));
    SUCCEEDS(clReleaseMemObject(out));
    SUCCEEDS(clReleaseProgram(any));
    SUCCEEDS(clReleaseProgram(whole));
}

/* Kernels with sub-groups of each size that the device names see that size, alone and everywhere. */
static void check_required(size_t required) {
    char source[512];
    const size_t n = 40;
    size_t told = 0;
    cl_int got[40], most = (cl_int)required;
    snprintf(
        source, sizeof source,
        "kernel __attribute__((intel_reqd_sub_group_size(%zu))) void k(global int *out) {\n"
        "  out[get_global_id(0)] = get_max_sub_group_size() * 1000 + get_sub_group_size() * 10\n"
        "      + (sub_group_broadcast(get_local_id(0), 0)\n"
        "         == get_sub_group_id() * get_max_sub_group_size());\n"
        "}\n",
        required);
    cl_program p = built(source, "-cl-std=CL3.0");
    cl_mem out = MAKE(clCreateBuffer(ocl.context, 0, sizeof got, NULL, &error));
    cl_kernel k = MAKE(clCreateKernel(p, "k", &error));
    SUCCEEDS(clGetKernelSubGroupInfo(k, ocl.device, CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL, 0, NULL,
                                     sizeof told, &told, NULL));
    cr_expect(told == required && largest_subgroup(k, n) == required);
    SUCCEEDS(clSetKernelArg(k, 0, sizeof out, &out));
    SUCCEEDS(clEnqueueNDRangeKernel(ocl.queue, k, 1, NULL, &n, &n, 0, NULL, NULL));
    SUCCEEDS(clEnqueueReadBuffer(ocl.queue, out, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
    for (int i = 0; i < 40; i++) {
        int left = 40 - i / most * most, size = left < most ? left : most;
        cr_expect(got[i] == most * 1000 + size * 10 + 1, "%zu, item %d: %d", required, i, got[i]);
    }
    SUCCEEDS(clReleaseMemObject(out));
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseProgram(p));
}

Test(subgroup, required_sizes) {
    size_t sizes[16], bytes;
    SUCCEEDS(
        clGetDeviceInfo(ocl.device, CL_DEVICE_SUB_GROUP_SIZES_INTEL, sizeof sizes, sizes, &bytes));
    cr_expect(bytes >= 4 * sizeof *sizes);
    bool own = false;
    for (size_t n = 0; n < bytes / sizeof *sizes; n++) own |= sizes[n] == size_of_subgroups();
    for (size_t n = 0; n < bytes / sizeof *sizes; n++) check_required(sizes[n]);
    cr_expect(own);
}

static void refuses(const char *source) {
    cl_program p = make_program(source);
    FAILS(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(p, 0, NULL, "-cl-std=CL3.0", NULL, NULL));
    cr_expect(
        log_has(p, "it requires sub-groups of 128 work-items; the device has those of powers"));
    SUCCEEDS(clReleaseProgram(p));
}

/* A size that the device has not does no harm where nothing depends on it. */
Test(subgroup, required_size) {
#define REQUIRES "kernel __attribute__((intel_reqd_sub_group_size(128))) void k(global int *out) "
    cl_program p = built(REQUIRES "{ *out = get_local_id(0) + 3; }", NULL);
    cr_expect(result_of(p, "k") == 3);
    SUCCEEDS(clReleaseProgram(p));
    refuses(REQUIRES "{ *out = sub_group_any(*out); }");
    refuses("__attribute__((noinline)) int any(int v) { return sub_group_any(v); }\n" REQUIRES
            "{ *out = any(*out); }");
}
