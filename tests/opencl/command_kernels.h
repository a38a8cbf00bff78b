/* command_kernels.h — kernels of all kinds for random commands, and what each may be given.
 *
 * The result of a launch does not depend on the order of its items, as long as memory overlaps only
 * where the letters of the table allow it. */
#ifndef SPVFUSE_TESTS_COMMAND_KERNELS_H
#define SPVFUSE_TESTS_COMMAND_KERNELS_H

#include <CL/cl.h>

static const char source[] =
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "#define X get_global_id(0)\n"
    "#define KERNEL kernel void\n"
    "#define IN global const int *from\n"
    "#define OUT global int *to\n"
    "typedef struct { char a; short b; int c[3]; long d; int3 e; } all;\n"
    "constant int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};\n"
    "global int total = 1;\n"
    "KERNEL reset() { total = 1; }\n"
    "KERNEL add(OUT, IN, int k) { to[X] = from[X] + k; }\n"
    "KERNEL mix(OUT, IN, global const int *other) { to[X] = from[X] * 3 ^ other[X]; }\n"
    "KERNEL some(OUT, IN, int k) { if (from[X] & 1) to[X] = k; }\n"
    "KERNEL sum(OUT, IN) { to[X] += from[X]; }\n"
    "KERNEL both(OUT, global int *to2, IN) { int x = from[X]; to[X] = x - 1; to2[X] += x; }\n"
    "KERNEL loop(OUT, IN, int k) {\n"
    "  int sum = k;\n"
    "  for (int n = 0; n < (from[X] & 7); n++) sum = sum * 31 + n;\n"
    "  to[X] = sum;\n"
    "}\n"
    "KERNEL leave(OUT, IN, int k) {\n"
    "  if (from[X] > 0) return;\n"
    "  for (int n = 0;; n++) if (((from[X] + n) & 15) == 3) { to[X] = n; return; }\n"
    "}\n"
    "KERNEL reverse(global int *restrict to, IN) {\n"
    "  size_t o = get_global_offset(0);\n"
    "  to[X] = from[2 * o + get_global_size(0) - 1 - X];\n"
    "}\n"
    "KERNEL scatter(OUT, global const int *restrict from, int k) {\n"
    "  size_t o = get_global_offset(0), n = get_global_size(0);\n"
    "  to[o + (X - o + (k & 63)) % n] = from[X];\n"
    "}\n"
    "KERNEL gather(OUT, IN, global const int *at) { to[X] = from[at[X] & 31]; }\n"
    "KERNEL spread(OUT, IN) { to[X] = *from; }\n"
    "KERNEL first(OUT, IN) { if (X == get_global_offset(0)) *to += *from; }\n"
    "KERNEL count(OUT, IN) { atomic_add(&to[from[X] & 15], 1); }\n"
    "KERNEL most(OUT, IN) { atomic_max(&to[X & 3], from[X]); }\n"
    "KERNEL flip(volatile OUT, IN) { atomic_xor(&to[X & 3], from[X]); to[4] = 4; }\n"
    "KERNEL own(OUT, IN) { to[X] = atomic_xchg(&to[X], from[X]) + 1; }\n"
    "KERNEL table(OUT, IN) { to[X] = primes[from[X] & 7]; }\n"
    "KERNEL total_add(IN) { atomic_add(&total, from[X]); }\n"
    "KERNEL total_get(OUT) { to[X] = total; }\n"
    "KERNEL structs(OUT, all s) { to[X] += s.a + s.b * s.c[2] + (int)s.d + s.e.z; }\n"
    "KERNEL three(OUT, IN, int k) {\n"
    "  if (X < 16) vstore3(vload3(X, from) * 3 + (int3)(1, 2, k), X, to);\n"
    "}\n"
    "KERNEL bytes(OUT, global const uchar4 *from) {\n"
    "  uchar4 v = from[X].wzxy;\n"
    "  ((global uchar4 *)to)[X] = v + (uchar4)1;\n"
    "}\n"
    "KERNEL half_bytes(OUT, IN) {\n"
    "  ushort h[2];\n"
    "  vstore_half((float)(from[X] & 0xffff) / 7, X & 1, (half *)h);\n"
    "  to[X] = h[X & 1];\n"
    "}\n"
    "KERNEL plane(OUT, IN) {\n"
    "  size_t i = (get_global_id(2) * 4 + get_global_id(1)) * 4 + X;\n"
    "  to[i] = from[i] - (int)get_global_id(1);\n"
    "}\n"
    "KERNEL groups(OUT, IN, local int *scratch) {\n"
    "  int l = get_local_id(0), n = get_local_size(0), sum = 0;\n"
    "  scratch[l] = from[X];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  for (int k = 0; k < n; k++) sum = sum * 3 + scratch[k];\n"
    "  to[X] = sum;\n"
    "}\n"
    "KERNEL rotate_group(OUT, IN) {\n"
    "  local int tile[64];\n"
    "  int l = get_local_id(0), n = get_local_size(0);\n"
    "  tile[l] = from[X];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  to[X] = tile[(l + 1) % n];\n"
    "}\n"
    "KERNEL neighbour(OUT) {\n"
    "  int l = get_local_id(0), n = get_local_size(0), x = to[X + (l + 1) % n - l];\n"
    "  barrier(CLK_GLOBAL_MEM_FENCE);\n"
    "  to[X] = x + 1;\n"
    "}\n"
    "KERNEL ids(OUT) {\n"
    "  to[X] = get_local_id(0) + 100 * get_group_id(0) + 10000 * get_num_groups(0) +\n"
    "          1000000 * get_local_size(0) + get_global_size(0) + get_enqueued_local_size(0);\n"
    "}\n"
    "KERNEL __attribute__((reqd_work_group_size(8, 1, 1))) eights(OUT, IN) {\n"
    "  to[X] = from[X] + work_group_reduce_add(from[X]) * get_group_id(0);\n"
    "}\n"
    "KERNEL product(global float *to, global const float *from, global const float *other) {\n"
    "  to[X] = from[X] * other[X];\n"
    "}\n"
    "KERNEL plus(global float *to, global const float *from, global const float *other) {\n"
    "  to[X] = from[X] + other[X];\n"
    "}\n"
    "KERNEL quotient(global float *to, global const float *from, global const float *other) {\n"
    "  to[X] = sqrt(from[X] / (other[X] + 1));\n"
    "}\n"
    "KERNEL wide(global double *to, global const double *from, global const float *other) {\n"
    "  to[X] = from[X] * other[X] + 1;\n"
    "}\n"
    "KERNEL narrow(global float *to, global const double *from) { to[X] = from[X]; }\n";

/* The struct as the host has it. */
typedef struct {
    cl_char a;
    cl_short b;
    cl_int c[3];
    cl_long d;
    cl_int3 e;
} all;

/* What a kernel is given, a letter each: i f d — memory of ints, floats, doubles of which an item
 * uses its own element — or I, all elements; v — an int, l — local memory, s — the struct.  What is
 * written has > in front. */
typedef struct {
    const char *name, *args;
    enum { ANY, GROUPS, EIGHTS, PLANE } range;
} kernel;

static const kernel kernels[] = {
    {"add", ">iiv", ANY},        {"mix", ">iii", ANY},
    {"some", ">iiv", ANY},       {"sum", ">ii", ANY},
    {"both", ">i>ii", ANY},      {"loop", ">iiv", ANY},
    {"leave", ">iiv", ANY},      {"reverse", ">II", ANY},
    {"scatter", ">IIv", ANY},    {"gather", ">IIi", ANY},
    {"spread", ">II", ANY},      {"first", ">II", ANY},
    {"count", ">II", ANY},       {"most", ">II", ANY},
    {"flip", ">II", ANY},        {"own", ">ii", ANY},
    {"table", ">ii", ANY},       {"total_add", "I", ANY},
    {"total_get", ">i", ANY},    {"structs", ">is", ANY},
    {"three", ">iiv", ANY},      {"bytes", ">ii", ANY},
    {"half_bytes", ">ii", ANY},  {"plane", ">ii", PLANE},
    {"groups", ">iil", GROUPS},  {"rotate_group", ">ii", GROUPS},
    {"neighbour", ">i", GROUPS}, {"ids", ">i", GROUPS},
    {"eights", ">ii", EIGHTS},   {"product", ">fff", ANY},
    {"plus", ">fff", ANY},       {"quotient", ">fff", ANY},
    {"wide", ">ddf", ANY},       {"narrow", ">fd", ANY},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

#endif
