/* language.c — the extensions and features of OpenCL C, and of the devices that run it, as lists
 * with versions and in the words of clang.
 *
 * SPVFUSE_WITHOUT_EXTENSIONS leaves extensions out by name, for programs that one of them breaks:
 * they are not announced then, and OpenCL C does not define them.
 */
#include "runtime/source/source.h"
#include "runtime/system/process.h"

#include <pthread.h>

#define VERSION(major, minor, patch) ((uint32_t)(major) << 22 | (minor) << 12 | (patch))

static const rt_clc_name features[] = {
    {VERSION(3, 0, 0), "__opencl_c_atomic_order_acq_rel"},
    {VERSION(3, 0, 0), "__opencl_c_atomic_order_seq_cst"},
    {VERSION(3, 0, 0), "__opencl_c_atomic_scope_device"},
    {VERSION(3, 0, 0), "__opencl_c_atomic_scope_all_devices"},
    {VERSION(1, 0, 0), "__opencl_c_ext_fp32_global_atomic_add"},
    {VERSION(1, 0, 0), "__opencl_c_ext_fp32_global_atomic_min_max"},
    {VERSION(1, 0, 0), "__opencl_c_ext_fp32_local_atomic_add"},
    {VERSION(1, 0, 0), "__opencl_c_ext_fp32_local_atomic_min_max"},
    {VERSION(1, 0, 0), "__opencl_c_ext_fp64_global_atomic_add"},
    {VERSION(1, 0, 0), "__opencl_c_ext_fp64_global_atomic_min_max"},
    {VERSION(1, 0, 0), "__opencl_c_ext_fp64_local_atomic_add"},
    {VERSION(1, 0, 0), "__opencl_c_ext_fp64_local_atomic_min_max"},
    {VERSION(3, 0, 0), "__opencl_c_fp64"},
    {VERSION(3, 0, 0), "__opencl_c_generic_address_space"},
    {VERSION(3, 0, 0), "__opencl_c_int64"},
    {VERSION(3, 0, 0), "__opencl_c_integer_dot_product_input_4x8bit"},
    {VERSION(3, 0, 0), "__opencl_c_integer_dot_product_input_4x8bit_packed"},
    {VERSION(3, 0, 0), "__opencl_c_program_scope_global_variables"},
    {VERSION(3, 0, 0), "__opencl_c_subgroups"},
    {VERSION(3, 0, 0), "__opencl_c_work_group_collective_functions"},
};

/* Of the Khronos registry, and ours. */
static const rt_clc_name extensions[] = {
    {VERSION(1, 0, 0), "cl_khr_icd"},
    {VERSION(1, 0, 0), "cl_khr_il_program"},
    {VERSION(1, 0, 0), "cl_khr_spirv_no_integer_wrap_decoration"},
    {VERSION(1, 0, 0), "cl_khr_byte_addressable_store"},
    {VERSION(1, 0, 0), "cl_khr_fp64"},
    {VERSION(1, 0, 0), "cl_khr_fp16"},
    {VERSION(1, 0, 0), "cl_khr_global_int32_base_atomics"},
    {VERSION(1, 0, 0), "cl_khr_global_int32_extended_atomics"},
    {VERSION(1, 0, 0), "cl_khr_local_int32_base_atomics"},
    {VERSION(1, 0, 0), "cl_khr_local_int32_extended_atomics"},
    {VERSION(1, 0, 0), "cl_khr_int64_base_atomics"},
    {VERSION(1, 0, 0), "cl_khr_int64_extended_atomics"},
    {VERSION(1, 0, 0), "cl_khr_subgroup_extended_types"},
    {VERSION(1, 0, 0), "cl_khr_subgroup_non_uniform_vote"},
    {VERSION(1, 0, 0), "cl_khr_subgroup_ballot"},
    {VERSION(1, 0, 0), "cl_khr_subgroup_non_uniform_arithmetic"},
    {VERSION(1, 0, 0), "cl_khr_subgroup_shuffle"},
    {VERSION(1, 0, 0), "cl_khr_subgroup_shuffle_relative"},
    {VERSION(1, 0, 0), "cl_khr_subgroup_clustered_reduce"},
    {VERSION(1, 0, 0), "cl_khr_subgroup_rotate"},
    {VERSION(1, 0, 0), "cl_khr_work_group_uniform_arithmetic"},
    {VERSION(2, 0, 0), "cl_khr_integer_dot_product"},
    {VERSION(1, 0, 0), "cl_khr_expect_assume"},
    {VERSION(0, 9, 8), "cl_khr_command_buffer"},
    {VERSION(0, 9, 5), "cl_khr_command_buffer_mutable_dispatch"},
    {VERSION(1, 0, 0), "cl_khr_create_command_queue"},
    {VERSION(1, 0, 0), "cl_khr_suggested_local_work_size"},
    {VERSION(1, 0, 0), "cl_khr_device_uuid"},
    {VERSION(1, 0, 0), "cl_khr_priority_hints"},
    {VERSION(1, 0, 0), "cl_khr_throttle_hints"},
    {VERSION(1, 0, 2), "cl_ext_buffer_device_address"},
    {VERSION(1, 0, 0), "cl_ext_float_atomics"},
    {VERSION(1, 0, 0), "cl_khr_extended_versioning"},
    {VERSION(1, 0, 0), "cl_intel_required_subgroup_size"},
    {VERSION(1, 0, 0), "cl_intel_subgroups"},
    {VERSION(1, 0, 0), "cl_intel_subgroups_char"},
    {VERSION(1, 0, 0), "cl_intel_subgroups_short"},
    {VERSION(1, 0, 0), "cl_intel_subgroups_long"},
    {VERSION(1, 1, 0), "cl_intel_unified_shared_memory"},
    {VERSION(1, 0, 0), "cl_amd_media_ops"},
    {VERSION(1, 0, 0), "cl_amd_media_ops2"},
    {VERSION(1, 0, 0), "cl_spvf_command_buffer_fusion"},
};

enum {
    FEATURES = sizeof features / sizeof *features,
    EXTENSIONS = sizeof extensions / sizeof *extensions,
    NAMES = (FEATURES + EXTENSIONS) * 64
};

/* What is announced. */
static struct {
    rt_clc_name list[EXTENSIONS];
    size_t count;
    char words[NAMES]; /* of -cl-ext */
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

static void append(const char *before, const char *name) {
    size_t n = strlen(announced.words);
    snprintf(announced.words + n, NAMES - n, "%s%s", before, name);
}

static void announce_all(void) {
    const char *without = rt_setting(RT_ENV_WITHOUT_EXTENSIONS);
    append("-all", "");
    for (unsigned n = 0; n < EXTENSIONS; n++) {
        const char *name = extensions[n].name;
        if (is_in(without, name)) continue;
        announced.list[announced.count++] = extensions[n];
        append(",+", name);
    }
    for (unsigned n = 0; n < FEATURES; n++) append(",+", features[n].name);
}

static void announce(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, announce_all);
}

static bool is_extension(const char *name, size_t length) {
    for (unsigned n = 0; n < EXTENSIONS; n++)
        if (strncmp(extensions[n].name, name, length) == 0 && !extensions[n].name[length])
            return true;
    return false;
}

void rt_clc_find_unknown(void (*say)(void *user, const char *name, size_t length), void *user) {
    const char *s = rt_setting(RT_ENV_WITHOUT_EXTENSIONS);
    for (; s && *s; s += strspn(s, " ,")) {
        size_t n = strcspn(s, " ,");
        if (n && !is_extension(s, n)) say(user, s, n);
        s += n;
    }
}

const char *rt_clc_words(void) {
    announce();
    return announced.words;
}

const rt_clc_name *rt_clc_extensions(size_t *n) {
    announce();
    *n = announced.count;
    return announced.list;
}

const rt_clc_name *rt_clc_features(size_t *n) {
    *n = FEATURES;
    return features;
}
