/* device_test.c — the device: how it is found, what it says of itself, sub-devices, and its clock.
 */
#include "tests/opencl/programs.h"

#include <sys/wait.h>

TestSuite(device, .init = begin_opencl, .fini = end_opencl);

Test(device, types) {
    static const cl_device_type ours[] = {CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU,
                                          CL_DEVICE_TYPE_DEFAULT,
                                          CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU};
    static const cl_device_type others[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR,
                                            CL_DEVICE_TYPE_CUSTOM,
                                            CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_CUSTOM};
    for (unsigned k = 0; k < 4; k++) {
        cl_device_id found[2] = {NULL, NULL};
        cl_uint n = 7;
        SUCCEEDS(clGetDeviceIDs(ocl.platform, ours[k], 2, found, &n));
        cr_expect(n == 1 && found[0] == ocl.device && !found[1]);
        FAILS(CL_DEVICE_NOT_FOUND, clGetDeviceIDs(ocl.platform, others[k], 2, found, &n));
        cr_expect_eq(n, 0);
    }
}

Test(device, wrong_types) {
    cl_device_id found;
    cl_uint n;
    FAILS(CL_INVALID_PLATFORM,
          clGetDeviceIDs((cl_platform_id)(void *)ocl.device, CL_DEVICE_TYPE_ALL, 1, &found, &n));
    FAILS(CL_INVALID_DEVICE_TYPE, clGetDeviceIDs(ocl.platform, 0, 1, &found, &n));
    FAILS(CL_INVALID_DEVICE_TYPE, clGetDeviceIDs(ocl.platform, 1 << 10, 1, &found, &n));
    FAILS(CL_INVALID_VALUE, clGetDeviceIDs(ocl.platform, CL_DEVICE_TYPE_ALL, 0, &found, &n));
    FAILS(CL_INVALID_VALUE, clGetDeviceIDs(ocl.platform, CL_DEVICE_TYPE_ALL, 1, NULL, NULL));
    SUCCEEDS(clGetDeviceIDs(ocl.platform, CL_DEVICE_TYPE_ALL, 1, &found, NULL));
    SUCCEEDS(clGetDeviceIDs(ocl.platform, CL_DEVICE_TYPE_ALL, 0, NULL, &n));
}

/* ------------------------------------------------------------------------------------ all sizes */

/* Parameters of OpenCL 3.0 by the sizes of their values; `unit` times any number with ANY. */
typedef struct {
    size_t unit;
    bool any;
    cl_device_info parameters[64];
} answers;

static const answers all_answers[] = {
    {sizeof(cl_uint),
     false,
     {CL_DEVICE_VENDOR_ID,
      CL_DEVICE_MAX_COMPUTE_UNITS,
      CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS,
      CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR,
      CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT,
      CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT,
      CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG,
      CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT,
      CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE,
      CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF,
      CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR,
      CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT,
      CL_DEVICE_NATIVE_VECTOR_WIDTH_INT,
      CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG,
      CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT,
      CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE,
      CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF,
      CL_DEVICE_MAX_CLOCK_FREQUENCY,
      CL_DEVICE_ADDRESS_BITS,
      CL_DEVICE_IMAGE_SUPPORT,
      CL_DEVICE_MAX_READ_IMAGE_ARGS,
      CL_DEVICE_MAX_WRITE_IMAGE_ARGS,
      CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS,
      CL_DEVICE_MAX_SAMPLERS,
      CL_DEVICE_IMAGE_PITCH_ALIGNMENT,
      CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT,
      CL_DEVICE_MAX_PIPE_ARGS,
      CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS,
      CL_DEVICE_PIPE_MAX_PACKET_SIZE,
      CL_DEVICE_MEM_BASE_ADDR_ALIGN,
      CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE,
      CL_DEVICE_GLOBAL_MEM_CACHE_TYPE,
      CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE,
      CL_DEVICE_MAX_CONSTANT_ARGS,
      CL_DEVICE_LOCAL_MEM_TYPE,
      CL_DEVICE_ERROR_CORRECTION_SUPPORT,
      CL_DEVICE_HOST_UNIFIED_MEMORY,
      CL_DEVICE_ENDIAN_LITTLE,
      CL_DEVICE_AVAILABLE,
      CL_DEVICE_COMPILER_AVAILABLE,
      CL_DEVICE_LINKER_AVAILABLE,
      CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE,
      CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE,
      CL_DEVICE_MAX_ON_DEVICE_QUEUES,
      CL_DEVICE_MAX_ON_DEVICE_EVENTS,
      CL_DEVICE_PREFERRED_INTEROP_USER_SYNC,
      CL_DEVICE_PARTITION_MAX_SUB_DEVICES,
      CL_DEVICE_REFERENCE_COUNT,
      CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT,
      CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT,
      CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT,
      CL_DEVICE_MAX_NUM_SUB_GROUPS,
      CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS,
      CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT,
      CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT,
      CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT,
      CL_DEVICE_PIPE_SUPPORT,
      CL_DEVICE_NUMERIC_VERSION}},
    {sizeof(cl_ulong),
     false,
     {CL_DEVICE_TYPE, CL_DEVICE_MAX_MEM_ALLOC_SIZE, CL_DEVICE_SINGLE_FP_CONFIG,
      CL_DEVICE_DOUBLE_FP_CONFIG, CL_DEVICE_HALF_FP_CONFIG, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE,
      CL_DEVICE_GLOBAL_MEM_SIZE, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, CL_DEVICE_LOCAL_MEM_SIZE,
      CL_DEVICE_EXECUTION_CAPABILITIES, CL_DEVICE_QUEUE_ON_HOST_PROPERTIES,
      CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, CL_DEVICE_PARTITION_AFFINITY_DOMAIN,
      CL_DEVICE_SVM_CAPABILITIES, CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES,
      CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES}},
    {sizeof(size_t),
     false,
     {CL_DEVICE_MAX_WORK_GROUP_SIZE, CL_DEVICE_IMAGE2D_MAX_WIDTH, CL_DEVICE_IMAGE2D_MAX_HEIGHT,
      CL_DEVICE_IMAGE3D_MAX_WIDTH, CL_DEVICE_IMAGE3D_MAX_HEIGHT, CL_DEVICE_IMAGE3D_MAX_DEPTH,
      CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, CL_DEVICE_MAX_PARAMETER_SIZE,
      CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE,
      CL_DEVICE_PROFILING_TIMER_RESOLUTION, CL_DEVICE_PRINTF_BUFFER_SIZE,
      CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, CL_DEVICE_PLATFORM, CL_DEVICE_PARENT_DEVICE}},
    {3 * sizeof(size_t), false, {CL_DEVICE_MAX_WORK_ITEM_SIZES}},
    {sizeof(cl_device_partition_property),
     true,
     {CL_DEVICE_PARTITION_PROPERTIES, CL_DEVICE_PARTITION_TYPE}},
    {sizeof(cl_name_version),
     true,
     {CL_DEVICE_ILS_WITH_VERSION, CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION,
      CL_DEVICE_EXTENSIONS_WITH_VERSION, CL_DEVICE_OPENCL_C_ALL_VERSIONS,
      CL_DEVICE_OPENCL_C_FEATURES}},
    {sizeof(char),
     true,
     {CL_DEVICE_IL_VERSION, CL_DEVICE_BUILT_IN_KERNELS, CL_DEVICE_NAME, CL_DEVICE_VENDOR,
      CL_DRIVER_VERSION, CL_DEVICE_PROFILE, CL_DEVICE_VERSION, CL_DEVICE_OPENCL_C_VERSION,
      CL_DEVICE_EXTENSIONS, CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED}},
};

static void check_answer(const answers *a, cl_device_info what) {
    char room[4096];
    size_t size = SIZE_MAX;
    SUCCEEDS(clGetDeviceInfo(ocl.device, what, 0, NULL, &size));
    cr_expect(a->any ? size % a->unit == 0 : size == a->unit, "%#x: %zu bytes", what, size);
    cr_assert_leq(size, sizeof room);
    SUCCEEDS(clGetDeviceInfo(ocl.device, what, size, room, NULL));
    if (a->unit == 1) cr_expect(size && strlen(room) == size - 1, "%#x ends", what);
    if (size) FAILS(CL_INVALID_VALUE, clGetDeviceInfo(ocl.device, what, size - 1, room, NULL));
}

Test(device, all_parameters) {
    for (unsigned k = 0; k < sizeof all_answers / sizeof *all_answers; k++)
        for (const cl_device_info *what = all_answers[k].parameters; *what; what++)
            check_answer(&all_answers[k], *what);
}

Test(device, wrong_info) {
    FAILS(CL_INVALID_DEVICE, clGetDeviceInfo(NULL, CL_DEVICE_TYPE, 0, NULL, NULL));
    FAILS(CL_INVALID_DEVICE,
          clGetDeviceInfo((cl_device_id)(void *)ocl.platform, CL_DEVICE_TYPE, 0, NULL, NULL));
    CHECK_INFO(clGetDeviceInfo, ocl.device, CL_DEVICE_TYPE, sizeof(cl_device_type));
}

/* --------------------------------------------------------------------------------------- values */

static cl_uint uint_of(cl_device_info what) {
    cl_uint n;
    SUCCEEDS(clGetDeviceInfo(ocl.device, what, sizeof n, &n, NULL));
    return n;
}

static cl_ulong ulong_of(cl_device_info what) {
    cl_ulong n;
    SUCCEEDS(clGetDeviceInfo(ocl.device, what, sizeof n, &n, NULL));
    return n;
}

static const char *text_of(cl_device_info what) {
    static char text[4096];
    SUCCEEDS(clGetDeviceInfo(ocl.device, what, sizeof text, text, NULL));
    return text;
}

Test(device, identity) {
    TELLS(cl_device_type, CL_DEVICE_TYPE_CPU, clGetDeviceInfo, ocl.device, CL_DEVICE_TYPE);
    TELLS(cl_platform_id, ocl.platform, clGetDeviceInfo, ocl.device, CL_DEVICE_PLATFORM);
    TELLS(cl_device_id, NULL, clGetDeviceInfo, ocl.device, CL_DEVICE_PARENT_DEVICE);
    TELLS(cl_uint, 1, clGetDeviceInfo, ocl.device, CL_DEVICE_REFERENCE_COUNT);
    TELLS(cl_bool, CL_TRUE, clGetDeviceInfo, ocl.device, CL_DEVICE_AVAILABLE);
    TELLS(cl_version, CL_MAKE_VERSION(3, 0, 0), clGetDeviceInfo, ocl.device,
          CL_DEVICE_NUMERIC_VERSION);
    cr_expect_eq(strncmp(text_of(CL_DEVICE_VERSION), "OpenCL 3.0 ", 11), 0);
    cr_expect_eq(strncmp(text_of(CL_DEVICE_OPENCL_C_VERSION), "OpenCL C 1.2 ", 13), 0);
    cr_expect_str_eq(text_of(CL_DEVICE_PROFILE), "FULL_PROFILE");
    cr_expect_str_not_empty(text_of(CL_DEVICE_NAME));
    cr_expect_str_not_empty(text_of(CL_DEVICE_VENDOR));
    cr_expect_str_not_empty(text_of(CL_DRIVER_VERSION));
    cr_expect_str_eq(text_of(CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED), "v0000-01-01-00");
}

/* What the specification asks of a device of the full profile. */
Test(device, minima) {
    const cl_ulong memory = ulong_of(CL_DEVICE_GLOBAL_MEM_SIZE);
    const cl_ulong quarter = memory / 4 < 1 << 30 ? memory / 4 : 1 << 30;
    cr_expect_geq(ulong_of(CL_DEVICE_MAX_MEM_ALLOC_SIZE), quarter);
    cr_expect_leq(ulong_of(CL_DEVICE_MAX_MEM_ALLOC_SIZE), memory);
    cr_expect_geq(ulong_of(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE), 64 << 10);
    cr_expect_geq(ulong_of(CL_DEVICE_LOCAL_MEM_SIZE), 32 << 10);
    cr_expect_geq(ulong_of(CL_DEVICE_MAX_PARAMETER_SIZE), 1024);
    cr_expect_geq(ulong_of(CL_DEVICE_PRINTF_BUFFER_SIZE), 1 << 20);
    cr_expect_geq(ulong_of(CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE), 64 << 10);
    cr_expect_geq(ulong_of(CL_DEVICE_PROFILING_TIMER_RESOLUTION), 1);
    cr_expect_geq(uint_of(CL_DEVICE_MAX_CONSTANT_ARGS), 8);
    cr_expect_geq(uint_of(CL_DEVICE_MEM_BASE_ADDR_ALIGN), 8 * sizeof(cl_long16));
    cr_expect_geq(uint_of(CL_DEVICE_MAX_COMPUTE_UNITS), 1);
    cr_expect_geq(uint_of(CL_DEVICE_MAX_NUM_SUB_GROUPS), 1);
    cr_expect_eq(uint_of(CL_DEVICE_ADDRESS_BITS), 64);
    cr_expect_eq(uint_of(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS), 3);
}

Test(device, abilities) {
    const cl_ulong floats = CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN;
    const cl_ulong doubles =
        floats | CL_FP_FMA | CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF | CL_FP_DENORM;
    cr_expect_eq(ulong_of(CL_DEVICE_SINGLE_FP_CONFIG) & floats, floats);
    cr_expect_eq(ulong_of(CL_DEVICE_DOUBLE_FP_CONFIG) & doubles, doubles);
    cr_expect_eq(ulong_of(CL_DEVICE_EXECUTION_CAPABILITIES),
                 CL_EXEC_KERNEL | CL_EXEC_NATIVE_KERNEL);
    cr_expect_eq(ulong_of(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES),
                 CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE);
    cr_expect(ulong_of(CL_DEVICE_SVM_CAPABILITIES) & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER);
    cr_expect(ulong_of(CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES) & CL_DEVICE_ATOMIC_ORDER_RELAXED);
    cr_expect(ulong_of(CL_DEVICE_ATOMIC_FENCE_CAPABILITIES) & CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP);
    cr_expect_eq(uint_of(CL_DEVICE_ENDIAN_LITTLE), CL_TRUE);
    cr_expect_eq(uint_of(CL_DEVICE_LINKER_AVAILABLE), CL_TRUE);
    cr_expect_eq(uint_of(CL_DEVICE_IMAGE_SUPPORT), CL_FALSE);
    cr_expect_eq(uint_of(CL_DEVICE_PIPE_SUPPORT), CL_FALSE);
    cr_expect_eq(ulong_of(CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES), 0);
    cr_expect_str_eq(text_of(CL_DEVICE_IL_VERSION), "SPIR-V_1.0 SPIR-V_1.1 SPIR-V_1.2 SPIR-V_1.3 "
                                                    "SPIR-V_1.4 SPIR-V_1.5 SPIR-V_1.6");
}

Test(device, group_sizes) {
    size_t most, each[3];
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, NULL));
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof each, each, NULL));
    cr_expect_eq(most, 4096);
    for (int d = 0; d < 3; d++) cr_expect_eq(each[d], most);
}

static void read_uuids(cl_uchar to[2][CL_UUID_SIZE_KHR]) {
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DEVICE_UUID_KHR, CL_UUID_SIZE_KHR, to[0], NULL));
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DRIVER_UUID_KHR, CL_UUID_SIZE_KHR, to[1], NULL));
}

/* Another process is told the same. */
Test(device_uuid, is_stable) {
    cl_uchar here[2][CL_UUID_SIZE_KHR], there[2][CL_UUID_SIZE_KHR] = {{0}};
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    pid_t child = fork();
    begin_opencl();
    read_uuids(here);
    if (!child) _exit(write(ends[1], here, sizeof here) != sizeof here);
    cr_assert_eq(read(ends[0], there, sizeof there), sizeof there);
    cr_expect(!memcmp(here, there, sizeof here));
    cr_expect(memcmp(here[0], here[1], CL_UUID_SIZE_KHR));
    waitpid(child, NULL, 0);
    end_opencl();
}

Test(device, uuid) {
    CHECK_INFO(clGetDeviceInfo, ocl.device, CL_DEVICE_UUID_KHR, CL_UUID_SIZE_KHR);
    CHECK_INFO(clGetDeviceInfo, ocl.device, CL_DRIVER_UUID_KHR, CL_UUID_SIZE_KHR);
    CHECK_INFO(clGetDeviceInfo, ocl.device, CL_DEVICE_LUID_KHR, CL_LUID_SIZE_KHR);
    TELLS(cl_bool, CL_FALSE, clGetDeviceInfo, ocl.device, CL_DEVICE_LUID_VALID_KHR);
    TELLS(cl_uint, 0, clGetDeviceInfo, ocl.device, CL_DEVICE_NODE_MASK_KHR);
}

/* Processors are on no bus. */
Test(device, bus) {
    cl_device_pci_bus_info_khr bus;
    FAILS(CL_INVALID_VALUE,
          clGetDeviceInfo(ocl.device, CL_DEVICE_PCI_BUS_INFO_KHR, sizeof bus, &bus, NULL));
}

/* Names of the Khronos registry (cl.xml, 2026); others are for what is ours. */
Test(device, registered_extensions) {
    static const char registered[] =
        " cl_khr_icd cl_khr_il_program cl_khr_spirv_no_integer_wrap_decoration"
        " cl_khr_byte_addressable_store cl_khr_fp64 cl_khr_fp16 cl_khr_global_int32_base_atomics"
        " cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics"
        " cl_khr_local_int32_extended_atomics cl_khr_int64_base_atomics"
        " cl_khr_int64_extended_atomics cl_khr_subgroups cl_khr_subgroup_extended_types"
        " cl_khr_subgroup_non_uniform_vote cl_khr_subgroup_ballot"
        " cl_khr_subgroup_non_uniform_arithmetic cl_khr_subgroup_shuffle"
        " cl_khr_subgroup_shuffle_relative cl_khr_subgroup_clustered_reduce"
        " cl_khr_subgroup_rotate cl_khr_work_group_uniform_arithmetic cl_khr_integer_dot_product"
        " cl_khr_expect_assume cl_khr_command_buffer cl_khr_command_buffer_mutable_dispatch "
        "cl_khr_create_command_queue"
        " cl_khr_suggested_local_work_size cl_khr_extended_versioning"
        " cl_intel_required_subgroup_size cl_intel_subgroups cl_intel_subgroups_char"
        " cl_intel_subgroups_short cl_intel_subgroups_long cl_intel_unified_shared_memory "
        "cl_amd_media_ops"
        " cl_amd_media_ops2 cl_khr_device_uuid cl_khr_priority_hints cl_khr_throttle_hints"
        " cl_ext_buffer_device_address cl_ext_float_atomics ";
    char names[2048], word[80];
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DEVICE_EXTENSIONS, sizeof names, names, NULL));
    cr_expect(strstr(names, "cl_spvf_command_buffer_fusion "));
    for (char *name = strtok(names, " "); name; name = strtok(NULL, " ")) {
        snprintf(word, sizeof word, " %s ", name);
        cr_expect(strstr(registered, word) || !strncmp(name, "cl_spvf_", 8), "%s", name);
    }
}

static void begin_without(void) {
    setenv("SPVF_WITHOUT_EXTENSIONS", "cl_khr_fp64, cl_khr_expect_assume,cl_khr", 1);
    begin_opencl();
}

static bool has_version_of(const char *name) {
    cl_name_version list[64];
    size_t size;
    bool found = false;
    SUCCEEDS(
        clGetDeviceInfo(ocl.device, CL_DEVICE_EXTENSIONS_WITH_VERSION, sizeof list, list, &size));
    for (size_t n = 0; n < size / sizeof *list; n++) found |= strcmp(list[n].name, name) == 0;
    return found;
}

/* Extensions can be left out by name: everywhere. */
Test(device_without, extensions, .init = begin_without, .fini = end_opencl) {
    char names[2048];
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DEVICE_EXTENSIONS, sizeof names, names, NULL));
    cr_expect(!strstr(names, "cl_khr_fp64 ") && !has_version_of("cl_khr_fp64"));
    cr_expect(!strstr(names, "cl_khr_expect_assume ") && !has_version_of("cl_khr_expect_assume"));
    cr_expect(strstr(names, "cl_khr_fp16 ") && has_version_of("cl_khr_fp16"));
    cl_program p = built("#if defined cl_khr_fp64 || defined cl_khr_expect_assume\n#error\n#endif\n"
                         "#ifndef cl_khr_fp16\n#error\n#endif\n"
                         "kernel void k() {}\n",
                         NULL);
    SUCCEEDS(clReleaseProgram(p));
}

/* ---------------------------------------------------------- what is announced, and that it runs */

static size_t size_of(cl_device_info what) {
    size_t n;
    SUCCEEDS(clGetDeviceInfo(ocl.device, what, sizeof n, &n, NULL));
    return n;
}

static cl_mem new_ints(size_t n) {
    return MAKE(clCreateBuffer(ocl.context, 0, n * sizeof(cl_int), NULL, &error));
}

static cl_int first_int(cl_mem m) {
    cl_int got = -1;
    SUCCEEDS(clEnqueueReadBuffer(ocl.queue, m, CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL));
    return got;
}

/* The largest group along each dimension, with all of the local memory. */
Test(device, largest_groups) {
    cl_program p = built("kernel void k(global int *out, local int *l, int last) {\n"
                         "  int i = get_local_linear_id();\n"
                         "  l[last - i] = i + 5;\n"
                         "  barrier(CLK_LOCAL_MEM_FENCE);\n"
                         "  out[i] = l[i];\n"
                         "}\n",
                         "-cl-std=CL3.0");
    cl_kernel k = MAKE(clCreateKernel(p, "k", &error));
    const size_t local = ulong_of(CL_DEVICE_LOCAL_MEM_SIZE);
    const cl_int last = (cl_int)(local / sizeof last) - 1;
    size_t each[3];
    cl_mem out = new_ints(size_of(CL_DEVICE_MAX_WORK_GROUP_SIZE));
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof each, each, NULL));
    SUCCEEDS(clSetKernelArg(k, 0, sizeof out, &out));
    SUCCEEDS(clSetKernelArg(k, 1, local, NULL));
    FAILS(CL_OUT_OF_RESOURCES, clSetKernelArg(k, 1, local + 1, NULL));
    SUCCEEDS(clSetKernelArg(k, 2, sizeof last, &last));
    for (int d = 0; d < 3; d++) {
        size_t size[3] = {1, 1, 1};
        size[d] = each[d];
        SUCCEEDS(clEnqueueNDRangeKernel(ocl.queue, k, 3, NULL, size, size, 0, NULL, NULL));
        SUCCEEDS(clFinish(ocl.queue));
        size[d]++;
        FAILS(CL_INVALID_WORK_ITEM_SIZE,
              clEnqueueNDRangeKernel(ocl.queue, k, 3, NULL, size, size, 0, NULL, NULL));
    }
    SUCCEEDS(clReleaseMemObject(out));
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseProgram(p));
}

/* All of the parameters, among them as many buffers of constants as there may be. */
Test(device, largest_parameters) {
    const cl_uint constants = uint_of(CL_DEVICE_MAX_CONSTANT_ARGS);
    const size_t rest = size_of(CL_DEVICE_MAX_PARAMETER_SIZE) - 8 * (size_t)(constants + 1);
    char *source = malloc(64 * (size_t)constants + 1024), *at = source;
    cr_assert_leq(8 * (constants + 1), size_of(CL_DEVICE_MAX_PARAMETER_SIZE));
    at += sprintf(at, "typedef struct { int a[%zu]; } rest;\nkernel void k(rest r", rest / 4);
    for (cl_uint n = 0; n < constants; n++) at += sprintf(at, ", constant int *c%u", n);
    at += sprintf(at, ", global int *out) {\n  *out = r.a[%zu]", rest / 4 - 1);
    for (cl_uint n = 0; n < constants; n++) at += sprintf(at, " + *c%u", n);
    sprintf(at, ";\n}\n");
    cl_program p = built(source, NULL);
    cl_kernel k = MAKE(clCreateKernel(p, "k", &error));
    const cl_int three = 3;
    cl_int *values = calloc(1, rest);
    cl_mem out = new_ints(1),
           in = MAKE(clCreateBuffer(ocl.context, CL_MEM_COPY_HOST_PTR, sizeof three,
                                    (void *)(uintptr_t)&three, &error));
    values[rest / 4 - 1] = 10;
    SUCCEEDS(clSetKernelArg(k, 0, rest, values));
    for (cl_uint n = 0; n < constants; n++) SUCCEEDS(clSetKernelArg(k, 1 + n, sizeof in, &in));
    SUCCEEDS(clSetKernelArg(k, 1 + constants, sizeof out, &out));
    SUCCEEDS(clEnqueueTask(ocl.queue, k, 0, NULL, NULL));
    cr_expect_eq(first_int(out), (cl_int)(10 + 3 * constants));
    SUCCEEDS(clReleaseMemObject(in));
    SUCCEEDS(clReleaseMemObject(out));
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseProgram(p));
    free(values);
    free(source);
}

/* A buffer of constants, and a variable of the program, as large as they may be. */
Test(device, largest_memory) {
    char source[512];
    const size_t constants = ulong_of(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE) / sizeof(cl_int);
    const size_t variable = size_of(CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE) / sizeof(cl_int);
    cr_expect_leq(ulong_of(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE), (cl_ulong)256 << 20);
    cr_expect_leq(ulong_of(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE),
                  ulong_of(CL_DEVICE_MAX_MEM_ALLOC_SIZE));
    snprintf(source, sizeof source,
             "global int v[%zu];\n"
             "kernel void k(constant int *c, ulong last, global int *out) {\n"
             "  v[%zu] = c[last] + 1;\n"
             "  *out = v[%zu];\n"
             "}\n",
             variable, variable - 1, variable - 1);
    cl_program p = built(source, "-cl-std=CL3.0");
    cl_kernel k = MAKE(clCreateKernel(p, "k", &error));
    cl_mem in = new_ints(constants), out = new_ints(1);
    const cl_int seven = 7;
    const cl_ulong last = constants - 1;
    SUCCEEDS(clEnqueueFillBuffer(ocl.queue, in, &seven, sizeof seven, last * sizeof seven,
                                 sizeof seven, 0, NULL, NULL));
    SUCCEEDS(clSetKernelArg(k, 0, sizeof in, &in));
    SUCCEEDS(clSetKernelArg(k, 1, sizeof last, &last));
    SUCCEEDS(clSetKernelArg(k, 2, sizeof out, &out));
    SUCCEEDS(clEnqueueTask(ocl.queue, k, 0, NULL, NULL));
    cr_expect_eq(first_int(out), 8);
    SUCCEEDS(clReleaseMemObject(in));
    SUCCEEDS(clReleaseMemObject(out));
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseProgram(p));
}

/* ---------------------------------------------------------------------------- sub-devices, time */

Test(device, sub_devices) {
    const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    cl_device_id sub;
    cl_uint n;
    cr_expect_eq(uint_of(CL_DEVICE_PARTITION_MAX_SUB_DEVICES), 0);
    FAILS(CL_INVALID_VALUE, clCreateSubDevices(ocl.device, equally, 1, &sub, &n));
    FAILS(CL_INVALID_VALUE, clCreateSubDevices(ocl.device, NULL, 1, &sub, &n));
    FAILS(CL_INVALID_DEVICE, clCreateSubDevices(NULL, equally, 1, &sub, &n));
    SUCCEEDS(clRetainDevice(ocl.device)); /* a device of the platform has no references */
    SUCCEEDS(clReleaseDevice(ocl.device));
    SUCCEEDS(clReleaseDevice(ocl.device));
    FAILS(CL_INVALID_DEVICE, clRetainDevice(NULL));
    FAILS(CL_INVALID_DEVICE, clReleaseDevice(NULL));
}

/* One clock, which is also that of profiling. */
Test(device, timers) {
    cl_ulong before, device_now, host_now, after;
    SUCCEEDS(clGetHostTimer(ocl.device, &before));
    SUCCEEDS(clGetDeviceAndHostTimer(ocl.device, &device_now, &host_now));
    SUCCEEDS(clGetHostTimer(ocl.device, &after));
    cr_expect(before && before <= host_now && host_now <= after);
    cr_expect_eq(device_now, host_now);
    FAILS(CL_INVALID_DEVICE, clGetHostTimer(NULL, &after));
    FAILS(CL_INVALID_VALUE, clGetHostTimer(ocl.device, NULL));
    FAILS(CL_INVALID_DEVICE, clGetDeviceAndHostTimer(NULL, &device_now, &host_now));
    FAILS(CL_INVALID_VALUE, clGetDeviceAndHostTimer(ocl.device, NULL, &host_now));
    FAILS(CL_INVALID_VALUE, clGetDeviceAndHostTimer(ocl.device, &device_now, NULL));
}
