/* float_atomics_test.c — cl_ext_float_atomics: what is announced, to programs and to sources, and
 * that all of it works: float and double, in global, local and generic memory. */
#include "tests/opencl/programs.h"

#include "runtime/opencl/newer.h"

#include <math.h>

TestSuite(float_atomics, .init = begin_opencl, .fini = end_opencl);

Test(float_atomics, capabilities) {
    const cl_device_fp_atomic_capabilities_ext all =
        CL_DEVICE_GLOBAL_FP_ATOMIC_LOAD_STORE_EXT | CL_DEVICE_GLOBAL_FP_ATOMIC_ADD_EXT |
        CL_DEVICE_GLOBAL_FP_ATOMIC_MIN_MAX_EXT | CL_DEVICE_LOCAL_FP_ATOMIC_LOAD_STORE_EXT |
        CL_DEVICE_LOCAL_FP_ATOMIC_ADD_EXT | CL_DEVICE_LOCAL_FP_ATOMIC_MIN_MAX_EXT;
    TELLS(cl_device_fp_atomic_capabilities_ext, all, clGetDeviceInfo, ocl.device,
          CL_DEVICE_SINGLE_FP_ATOMIC_CAPABILITIES_EXT);
    TELLS(cl_device_fp_atomic_capabilities_ext, all, clGetDeviceInfo, ocl.device,
          CL_DEVICE_DOUBLE_FP_ATOMIC_CAPABILITIES_EXT);
    TELLS(cl_device_fp_atomic_capabilities_ext, 0, clGetDeviceInfo, ocl.device,
          CL_DEVICE_HALF_FP_ATOMIC_CAPABILITIES_EXT);
}

static bool has_feature(const char *name) {
    cl_name_version list[64];
    size_t size;
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DEVICE_OPENCL_C_FEATURES, sizeof list, list, &size));
    for (size_t n = 0; n < size / sizeof *list; n++)
        if (!strcmp(list[n].name, name)) return true;
    return false;
}

/* The features that are told are the macros that a source finds. */
Test(float_atomics, features) {
    static const char *const types[] = {"fp16", "fp32", "fp64"},
                             *const ops[] = {"load_store", "add", "min_max"},
                             *const spaces[] = {"global", "local"};
    char source[2048] = "kernel void f(global int *out) { *out = 0", name[80], line[200];
    int bit = 0, wanted = 0;
    for (int type = 0; type < 3; type++)
        for (int op = type != 0; op < 3; op++)
            for (int space = 0; space < 2; space++, bit++) {
                snprintf(name, sizeof name, "__opencl_c_ext_%s_%s_atomic_%s", types[type],
                         spaces[space], ops[op]);
                snprintf(line, sizeof line, "\n#ifdef %s\n  + %d\n#endif\n", name, 1 << bit);
                strcat(source, line);
                cr_expect_eq(has_feature(name), type != 0, "%s", name);
                wanted += type != 0 ? 1 << bit : 0;
            }
    strcat(source, "; }\n");
    cl_program p = built(source, "-cl-std=CL3.0");
    cr_expect_eq(result_of(p, "f"), wanted);
    SUCCEEDS(clReleaseProgram(p));
}

Test(float_atomics, extension_macro) {
    cl_program p = built("#ifndef cl_ext_float_atomics\n#error missing\n#endif\n"
                         "kernel void f(global int *out) { *out = 5; }",
                         "-cl-std=CL3.0");
    cr_expect_eq(result_of(p, "f"), 5);
    SUCCEEDS(clReleaseProgram(p));
}

/* ------------------------------------------------------------------------------------ operations */

/* R is float or double, A its atomic type.  Items of all groups work on one number, and items of a
 * group on one of their own.  Sums of small integers are exact in any order. */
static const char source[] =
    "#define X get_global_id(0)\n"
    "#define DEVICE memory_order_relaxed, memory_scope_device\n"
    "kernel void everywhere(global A *a) {\n"
    "    R x = X;\n"
    "    atomic_fetch_add_explicit(&a[0], x, DEVICE);\n"
    "    atomic_fetch_sub(&a[1], x);\n"
    "    atomic_fetch_min_explicit(&a[2], 7 - x, DEVICE);\n"
    "    atomic_fetch_max_explicit(&a[3], x * 2, memory_order_relaxed);\n"
    "    volatile A *any = &a[4];\n"
    "    atomic_fetch_add(any, (R)0.5);\n"
    "}\n"
    "kernel void groups(global R *out) {\n"
    "    local A sum, least, most;\n"
    "    if (!get_local_id(0)) {\n"
    "        atomic_store(&sum, (R)1);\n"
    "        atomic_init(&least, (R)0);\n"
    "        atomic_init(&most, (R)0);\n"
    "    }\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    atomic_fetch_add_explicit(&sum, (R)get_local_id(0), memory_order_relaxed,\n"
    "                              memory_scope_work_group);\n"
    "    atomic_fetch_sub(&sum, (R)0.25);\n"
    "    atomic_fetch_min(&least, -(R)get_local_id(0));\n"
    "    atomic_fetch_max(&most, (R)X);\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (get_local_id(0)) return;\n"
    "    out[3 * get_group_id(0)] = atomic_load(&sum);\n"
    "    out[3 * get_group_id(0) + 1] = atomic_exchange(&least, (R)0);\n"
    "    out[3 * get_group_id(0) + 2] = atomic_load(&most);\n"
    "}\n"
    /* old value and result, for numbers in pairs; 0: add, 1: min, 2: max */
    "kernel void pairs(global A *a, global const R *b, global R *old, int op) {\n"
    "    old[X] = op == 0   ? atomic_fetch_add(&a[X], b[X])\n"
    "             : op == 1 ? atomic_fetch_min(&a[X], b[X])\n"
    "                       : atomic_fetch_max(&a[X], b[X]);\n"
    "}\n";

enum { GROUP = 64, GROUPS = 20, ITEMS = GROUP * GROUPS };

typedef struct {
    bool is_double;
    cl_program program;
} numbers;

static numbers begin(bool is_double) {
    return (numbers){is_double,
                     built(source, is_double ? "-cl-std=CL3.0 -DR=double -DA=atomic_double"
                                             : "-cl-std=CL3.0 -DR=float -DA=atomic_float")};
}

static double get(const numbers *n, const void *p, size_t at) {
    return n->is_double ? ((const double *)p)[at] : (double)((const float *)p)[at];
}

static void put(const numbers *n, void *p, size_t at, double x) {
    if (n->is_double)
        ((double *)p)[at] = x;
    else
        ((float *)p)[at] = (float)x;
}

static void launch(const numbers *n, const char *name, size_t items, void *const *args, int op) {
    const size_t group = GROUP;
    cl_kernel k = MAKE(clCreateKernel(n->program, name, &error));
    cl_uint at = 0;
    for (; args[at]; at++) SUCCEEDS(clSetKernelArgSVMPointer(k, at, args[at]));
    if (op >= 0) SUCCEEDS(clSetKernelArg(k, at, sizeof op, &op));
    SUCCEEDS(clEnqueueNDRangeKernel(ocl.queue, k, 1, NULL, &items, op < 0 ? &group : NULL, 0, NULL,
                                    NULL));
    SUCCEEDS(clFinish(ocl.queue));
    SUCCEEDS(clReleaseKernel(k));
}

static void expect_global(const numbers *n) {
    double a[8] = {0}; /* room for either type */
    for (int k = 0; k < 5; k++) put(n, a, (size_t)k, 0);
    launch(n, "everywhere", ITEMS, (void *const[]){a, NULL}, -1);
    const double all = ITEMS * (ITEMS - 1) / 2.0;
    const double wanted[] = {all, -all, 7 - (ITEMS - 1), 2 * (ITEMS - 1), (double)ITEMS / 2};
    for (size_t k = 0; k < 5; k++) cr_expect_eq(get(n, a, k), wanted[k], "%zu", k);
}

static void expect_local(const numbers *n) {
    double out[3 * GROUPS];
    launch(n, "groups", ITEMS, (void *const[]){out, NULL}, -1);
    for (size_t g = 0; g < GROUPS; g++) {
        cr_expect_eq(get(n, out, 3 * g), 1 + GROUP * (GROUP - 1) / 2 - GROUP / 4);
        cr_expect_eq(get(n, out, 3 * g + 1), 1 - GROUP);
        cr_expect_eq(get(n, out, 3 * g + 2), (double)(g * GROUP + GROUP - 1));
    }
}

static bool same(double x, double y) { return isnan(x) ? isnan(y) : x == y; }

/* A quiet NaN is no number that could be the least or most; of zeros either may be taken. */
static void expect_pairs(const numbers *n, int op) {
    static const double x[] = {0, -0.0, 1, -1, 0.1, 1e30, INFINITY, -INFINITY, NAN, 1e-40};
    enum { NUMBERS = sizeof x / sizeof *x, PAIRS = NUMBERS * NUMBERS };
    double a[PAIRS], b[PAIRS], old[PAIRS];
    for (size_t k = 0; k < PAIRS; k++) {
        put(n, a, k, x[k / NUMBERS]);
        put(n, b, k, x[k % NUMBERS]);
    }
    launch(n, "pairs", PAIRS, (void *const[]){a, b, old, NULL}, op);
    for (size_t k = 0; k < PAIRS; k++) {
        double l = x[k / NUMBERS], r = get(n, b, k), got = get(n, a, k);
        if (!n->is_double) l = (float)l;
        double wanted = op == 1 ? fmin(l, r) : op == 2 ? fmax(l, r) : l + r;
        if (!n->is_double && op == 0) wanted = (float)((float)l + (float)r);
        cr_expect(same(get(n, old, k), l), "%d: %a, not %a", op, get(n, old, k), l);
        cr_expect(same(got, wanted), "%d: %a %a: %a, not %a", op, l, r, got, wanted);
    }
}

static void expect_all(bool is_double) {
    const numbers n = begin(is_double);
    expect_global(&n);
    expect_local(&n);
    for (int op = 0; op < 3; op++) expect_pairs(&n, op);
    SUCCEEDS(clReleaseProgram(n.program));
}

Test(float_atomics, floats) { expect_all(false); }

Test(float_atomics, doubles) { expect_all(true); }
