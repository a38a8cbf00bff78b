/* extensions.c — the extensions of the device and the features of its OpenCL C, as names, as lists
 * with versions, and in the words of clang.
 *
 * SPVFUSE_WITHOUT_EXTENSIONS leaves extensions out by name, for programs that one of them breaks:
 * they are not announced then, and OpenCL C does not define them.
 */
#include "runtime/opencl/ocl.h"
#include "runtime/system/process.h"

#include <stdlib.h>

static const cl_name_version features[] = {
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_atomic_order_acq_rel"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_atomic_order_seq_cst"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_atomic_scope_device"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_atomic_scope_all_devices"},
    {CL_MAKE_VERSION(1, 0, 0), "__opencl_c_ext_fp32_global_atomic_add"},
    {CL_MAKE_VERSION(1, 0, 0), "__opencl_c_ext_fp32_global_atomic_min_max"},
    {CL_MAKE_VERSION(1, 0, 0), "__opencl_c_ext_fp32_local_atomic_add"},
    {CL_MAKE_VERSION(1, 0, 0), "__opencl_c_ext_fp32_local_atomic_min_max"},
    {CL_MAKE_VERSION(1, 0, 0), "__opencl_c_ext_fp64_global_atomic_add"},
    {CL_MAKE_VERSION(1, 0, 0), "__opencl_c_ext_fp64_global_atomic_min_max"},
    {CL_MAKE_VERSION(1, 0, 0), "__opencl_c_ext_fp64_local_atomic_add"},
    {CL_MAKE_VERSION(1, 0, 0), "__opencl_c_ext_fp64_local_atomic_min_max"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_fp64"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_generic_address_space"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_int64"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_integer_dot_product_input_4x8bit"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_integer_dot_product_input_4x8bit_packed"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_program_scope_global_variables"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_subgroups"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_work_group_collective_functions"},
};

/* Of the Khronos registry, and ours. */
static const cl_name_version extensions[] = {
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_icd"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_il_program"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_spirv_no_integer_wrap_decoration"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_byte_addressable_store"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_fp64"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_fp16"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_global_int32_base_atomics"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_global_int32_extended_atomics"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_local_int32_base_atomics"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_local_int32_extended_atomics"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_int64_base_atomics"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_int64_extended_atomics"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_subgroup_extended_types"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_subgroup_non_uniform_vote"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_subgroup_ballot"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_subgroup_non_uniform_arithmetic"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_subgroup_shuffle"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_subgroup_shuffle_relative"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_subgroup_clustered_reduce"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_subgroup_rotate"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_work_group_uniform_arithmetic"},
    {CL_MAKE_VERSION(2, 0, 0), "cl_khr_integer_dot_product"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_expect_assume"},
    {CL_MAKE_VERSION(0, 9, 8), "cl_khr_command_buffer"},
    {CL_MAKE_VERSION(0, 9, 5), "cl_khr_command_buffer_mutable_dispatch"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_create_command_queue"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_suggested_local_work_size"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_device_uuid"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_priority_hints"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_throttle_hints"},
    {CL_MAKE_VERSION(1, 0, 2), "cl_ext_buffer_device_address"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_ext_float_atomics"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_extended_versioning"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_intel_required_subgroup_size"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_intel_subgroups"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_intel_subgroups_char"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_intel_subgroups_short"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_intel_subgroups_long"},
    {CL_MAKE_VERSION(1, 1, 0), "cl_intel_unified_shared_memory"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_amd_media_ops"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_amd_media_ops2"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_spvf_command_buffer_fusion"},
};

enum {
    FEATURES = sizeof features / sizeof *features,
    EXTENSIONS = sizeof extensions / sizeof *extensions,
    NAMES = (FEATURES + EXTENSIONS) * CL_NAME_VERSION_MAX_NAME_SIZE
};

/* What is announced. */
static struct {
    cl_name_version list[EXTENSIONS];
    size_t count;
    char names[NAMES], words[NAMES]; /* with spaces after; of -cl-ext */
} announced;

/* Is the name in the list, between spaces or commas? */
static bool is_in(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *s = list; s && *s; s += strspn(s, " ,")) {
        size_t n = strcspn(s, " ,");
        if (n == length && strncmp(s, name, n) == 0) return true;
        s += n;
    }
    return false;
}

static void append(char *to, const char *before, const char *name, const char *behind) {
    size_t n = strlen(to);
    snprintf(to + n, NAMES - n, "%s%s%s", before, name, behind);
}

static void announce_all(void) {
    const char *without = rt_setting(RT_ENV_WITHOUT_EXTENSIONS);
    append(announced.words, "-all", "", "");
    for (unsigned n = 0; n < EXTENSIONS; n++) {
        const char *name = extensions[n].name;
        if (is_in(without, name)) continue;
        announced.list[announced.count++] = extensions[n];
        append(announced.names, "", name, " ");
        append(announced.words, ",+", name, "");
    }
    for (unsigned n = 0; n < FEATURES; n++) append(announced.words, ",+", features[n].name, "");
}

static void announce(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, announce_all);
}

const char *ocl_c_extensions(void) {
    announce();
    return announced.words;
}

cl_int ocl_give_extensions(const ocl_answer *a, bool versions) {
    announce();
    return versions ? ocl_give(a, announced.list, announced.count * sizeof *announced.list)
                    : ocl_give_string(a, announced.names);
}

cl_int ocl_give_features(const ocl_answer *a) { return ocl_give(a, features, sizeof features); }
