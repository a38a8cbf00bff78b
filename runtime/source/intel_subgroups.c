/* intel_subgroups.c — the functions of cl_intel_subgroups and of its additions for chars, shorts
 * and longs, as declarations in OpenCL C.
 *
 * Headers of clang declare some of them, depending on their version.  A translator to SPIR-V makes
 * instructions of some, and leaves the others as calls, which the reader knows by name
 * (frontend/builtin_names.def).  There are no images, so blocks are in buffers only.
 *
 * These extensions give OpenCL C 1.2 the functions of sub-groups that version 2.0 has anyway.
 */
#include "runtime/source/source.h"

/* A list of declarations as a macro of OpenCL C takes most of them: for a type, for its vectors,
 * and for the elements of a block. */
static const char macros[] =
    "#define SPVF_INTEL(t) t __attribute__((__overloadable__, __convergent__))\n"
    "#define SPVF_MOVES(t) SPVF_INTEL(t) intel_sub_group_shuffle(t, uint); \\\n"
    "SPVF_INTEL(t) intel_sub_group_shuffle_down(t, t, uint); \\\n"
    "SPVF_INTEL(t) intel_sub_group_shuffle_up(t, t, uint); \\\n"
    "SPVF_INTEL(t) intel_sub_group_shuffle_xor(t, uint); \\\n"
    "SPVF_INTEL(t) intel_sub_group_broadcast(t, uint);\n"
    "#define SPVF_VECTORS(t) SPVF_MOVES(t) SPVF_MOVES(t##2) SPVF_MOVES(t##3) SPVF_MOVES(t##4) \\\n"
    "SPVF_MOVES(t##8) SPVF_MOVES(t##16)\n"
    "#define SPVF_COMBINED(p, op, t) SPVF_INTEL(t) p##sub_group_reduce_##op(t); \\\n"
    "SPVF_INTEL(t) p##sub_group_scan_inclusive_##op(t); \\\n"
    "SPVF_INTEL(t) p##sub_group_scan_exclusive_##op(t);\n"
    "#define SPVF_COMBINE(p, t) SPVF_COMBINED(p, add, t) SPVF_COMBINED(p, min, t) \\\n"
    "SPVF_COMBINED(p, max, t)\n"
    "#define SPVF_BLOCK(s, n, t) SPVF_INTEL(t##n) intel_sub_group_block_read##s##n( \\\n"
    "const global t *); SPVF_INTEL(void) intel_sub_group_block_write##s##n(global t *, t##n);\n"
    "#define SPVF_BLOCKS(s, t) SPVF_BLOCK(s,, t) SPVF_BLOCK(s, 2, t) SPVF_BLOCK(s, 4, t) \\\n"
    "SPVF_BLOCK(s, 8, t)\n";

static const char functions[] =
    "SPVF_VECTORS(char) SPVF_VECTORS(uchar) SPVF_VECTORS(short) SPVF_VECTORS(ushort)\n"
    "SPVF_VECTORS(int) SPVF_VECTORS(uint) SPVF_VECTORS(long) SPVF_VECTORS(ulong)\n"
    "SPVF_VECTORS(float) SPVF_MOVES(half) SPVF_MOVES(double)\n"
    "SPVF_COMBINE(intel_, char) SPVF_COMBINE(intel_, uchar)\n"
    "SPVF_COMBINE(intel_, short) SPVF_COMBINE(intel_, ushort)\n"
    "SPVF_BLOCKS(, uint) SPVF_BLOCKS(_ui, uint) SPVF_BLOCKS(_us, ushort)\n"
    "SPVF_BLOCKS(_uc, uchar) SPVF_BLOCKS(_ul, ulong)\n"
    "SPVF_BLOCK(_uc, 16, uchar)\n";

static const char of_version_1[] =
    "#define SPVF_GROUP(t) SPVF_INTEL(t) sub_group_broadcast(t, uint); SPVF_COMBINE(, t)\n"
    "SPVF_INTEL(uint) get_sub_group_size(void); SPVF_INTEL(uint) get_max_sub_group_size(void);\n"
    "SPVF_INTEL(uint) get_num_sub_groups(void); SPVF_INTEL(uint) get_sub_group_id(void);\n"
    "SPVF_INTEL(uint) get_sub_group_local_id(void);\n"
    "SPVF_INTEL(void) sub_group_barrier(cl_mem_fence_flags);\n"
    "SPVF_INTEL(int) sub_group_all(int); SPVF_INTEL(int) sub_group_any(int);\n"
    "SPVF_GROUP(int) SPVF_GROUP(uint) SPVF_GROUP(long) SPVF_GROUP(ulong) SPVF_GROUP(float)\n"
    "SPVF_GROUP(half) SPVF_GROUP(double)\n"
    "#undef SPVF_GROUP\n";

static const char end[] =
    "#undef SPVF_INTEL\n#undef SPVF_MOVES\n#undef SPVF_VECTORS\n#undef SPVF_COMBINED\n"
    "#undef SPVF_COMBINE\n#undef SPVF_BLOCK\n#undef SPVF_BLOCKS\n";

void rt_clc_put_intel_subgroups(ir_text *to) {
    ir_put(to, "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n");
    ir_put(to, macros);
    ir_put(to, functions);
    ir_putf(to, "#if __OPENCL_C_VERSION__ < 200\n%s#endif\n", of_version_1);
    ir_put(to, end);
    ir_put(to, "#pragma OPENCL EXTENSION cl_khr_fp16 : disable\n");
}
