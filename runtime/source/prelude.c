/* prelude.c — the text before a source of OpenCL C, so that it finds the language of the device:
 * names that headers of clang define although the device lacks what they stand for are undefined,
 * and functions that the device has and these headers do not know are declared.
 *
 * clang looks functions up by name, in the source first: all types of a function are declared.
 */
#include "runtime/source/source.h"

/* -------------------------------------------------------------------------- what compilers have */

/* What some headers of clang define for all SPIR-V, whatever -cl-ext says. */
static const char *const too_much[] = {"__IMAGE_SUPPORT__",
                                       "__opencl_c_images",
                                       "__opencl_c_read_write_images",
                                       "__opencl_c_pipes",
                                       "__opencl_c_device_enqueue",
                                       "cl_khr_subgroup_extended_types",
                                       "cl_khr_subgroup_non_uniform_vote",
                                       "cl_khr_subgroup_ballot",
                                       "cl_khr_subgroup_non_uniform_arithmetic",
                                       "cl_khr_subgroup_shuffle",
                                       "cl_khr_subgroup_shuffle_relative",
                                       "cl_khr_subgroup_clustered_reduce",
                                       "cl_khr_subgroup_rotate",
                                       "cl_khr_integer_dot_product",
                                       "__opencl_c_integer_dot_product_input_4x8bit",
                                       "__opencl_c_integer_dot_product_input_4x8bit_packed",
                                       "cl_khr_extended_bit_ops",
                                       "cl_ext_float_atomics",
                                       "__opencl_c_ext_fp16_global_atomic_load_store",
                                       "__opencl_c_ext_fp16_local_atomic_load_store",
                                       "__opencl_c_ext_fp16_global_atomic_add",
                                       "__opencl_c_ext_fp16_local_atomic_add",
                                       "__opencl_c_ext_fp16_global_atomic_min_max",
                                       "__opencl_c_ext_fp16_local_atomic_min_max"};

/* Is there "+NAME" in the list of -cl-ext? */
static bool has_extension(const char *name) {
    size_t n = strlen(name);
    const char *s = rt_clc_words();
    while ((s = strstr(s + 1, name)))
        if (s[-1] == '+' && (!s[n] || s[n] == ',')) return true;
    return false;
}

/* ------------------------------------------------------------------------------ what is missing */

/* Names of extensions that clang has no list for. */
static const char *const too_little[] = {"cl_intel_required_subgroup_size",
                                         "cl_intel_subgroups",
                                         "cl_intel_subgroups_char",
                                         "cl_intel_subgroups_short",
                                         "cl_intel_subgroups_long",
                                         "cl_khr_expect_assume",
                                         "cl_khr_work_group_uniform_arithmetic"};

/* Work-group functions of the integers come first. */
static const char *const numbers[] = {"int",    "uint", "long",  "ulong", "half",  "float",
                                      "double", "char", "uchar", "short", "ushort"};
enum { INTEGERS = 4, GROUP_NUMBERS = 7, NUMBERS = 11 };

/* type name(type more) */
static void declare(ir_text *to, const char *type, const char *name, const char *more) {
    ir_putf(to, "%s __attribute__((__overloadable__, __convergent__)) %s(%s%s);\n", type, name,
            type, more);
}

/* Of reductions and scans of work-groups, for the first n types. */
static void declare_group(ir_text *to, const char *op, int n) {
    static const char *const kinds[] = {"reduce", "scan_inclusive", "scan_exclusive"};
    for (int kind = 0; kind < 3; kind++)
        for (int k = 0; k < n; k++)
            declare(to, numbers[k], ir_sprintf(to->arena, "work_group_%s_%s", kinds[kind], op), "");
}

static void declare_all(ir_text *to) {
    for (int k = 0; k < NUMBERS; k++) {
        declare(to, numbers[k], "sub_group_rotate", ", int");
        declare(to, numbers[k], "sub_group_clustered_rotate", ", int, uint");
    }
    declare_group(to, "mul", GROUP_NUMBERS);
    declare_group(to, "and", INTEGERS);
    declare_group(to, "or", INTEGERS);
    declare_group(to, "xor", INTEGERS);
    declare_group(to, "logical_and", 1);
    declare_group(to, "logical_or", 1);
    declare_group(to, "logical_xor", 1);
}

/* Can the program use a name with this part?  Whatever includes files can. */
static bool wants(const rt_clc_source *s, const char *part) {
    bool found = strstr(s->source, part) || strstr(s->source, "include");
    for (size_t k = 0; k < s->header_count && !found; k++)
        found = strstr(s->headers[k].text, part) != NULL;
    for (uint32_t k = 0; k < s->options->words.n && !found; k++)
        found = strstr(s->options->words.data[k], part) != NULL;
    return found;
}

void rt_clc_put_prelude(ir_text *to, const rt_clc_source *source) {
    ir_put(to,
           "#pragma clang diagnostic push\n#pragma clang diagnostic ignored \"-Weverything\"\n");
    for (size_t k = 0; k < sizeof too_much / sizeof *too_much; k++)
        if (!has_extension(too_much[k])) ir_putf(to, "#undef %s\n", too_much[k]);
    for (size_t k = 0; k < sizeof too_little / sizeof *too_little; k++)
        if (has_extension(too_little[k]))
            ir_putf(to, "#ifndef %s\n#define %s 1\n#endif\n", too_little[k], too_little[k]);
    ir_put(to, "#if __OPENCL_C_VERSION__ >= 200\n");
    ir_put(to, "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n");
    declare_all(to);
    ir_put(to, "#pragma OPENCL EXTENSION cl_khr_fp16 : disable\n#endif\n");
    if (wants(source, "amd_")) rt_clc_put_media_ops(to);
    if (wants(source, "sub_group") && has_extension("cl_intel_subgroups"))
        rt_clc_put_intel_subgroups(to);
    ir_put(to, "#pragma clang diagnostic pop\n");
}
