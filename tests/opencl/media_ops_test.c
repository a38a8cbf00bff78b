/* media_ops_test.c — the functions of cl_amd_media_ops and cl_amd_media_ops2, each for scalars and
 * all vectors, compared with what the extensions' texts say, written in C. */
#include "tests/opencl/programs.h"
#include "tests/random.h"

TestSuite(media_ops, .init = begin_opencl, .fini = end_opencl);

/* ---------------------------------------------------------------------------------- the kernels */

/* The order is that of the references below; every result is kept in a ulong. */
static const char source[] =
    "#pragma OPENCL EXTENSION cl_amd_media_ops : enable\n"
    "#pragma OPENCL EXTENSION cl_amd_media_ops2 : enable\n"
    "#if !defined(cl_amd_media_ops) || !defined(cl_amd_media_ops2)\n"
    "#error\n"
    "#endif\n"
    "#define PUT(n, value) out[k++ * get_global_size(0)] = convert_ulong##n(value) & 0xffffffff\n"
    "#define PUT_LONG(value) out[k++ * get_global_size(0)] = value\n"
    "#define ORDER(n, cast, a, b, c) \\\n"
    "    PUT(n, cast(amd_min3(a, b, c))); PUT(n, cast(amd_max3(a, b, c))); \\\n"
    "    PUT(n, cast(amd_median3(a, b, c)));\n"
    "#define KERNEL(n) kernel void k##n(global const uint##n *x, global const uint##n *y, \\\n"
    "        global const uint##n *z, global const ulong##n *l, global const ulong##n *m, \\\n"
    "        global ulong##n *out) { \\\n"
    "    int i = get_global_id(0), k = 0; \\\n"
    "    uint##n a = x[i], b = y[i], c = z[i]; \\\n"
    "    int##n s = as_int##n(a), t = as_int##n(b), u = as_int##n(c); \\\n"
    "    float##n f = convert_float##n(s), g = convert_float##n(t), h = convert_float##n(u); \\\n"
    "    out += i; \\\n"
    "    PUT(n, amd_bitalign(a, b, c)); PUT(n, amd_bytealign(a, b, c)); \\\n"
    "    PUT(n, amd_lerp(a, b, c)); PUT(n, amd_sad(a, b, c)); PUT(n, amd_sadhi(a, b, c)); \\\n"
    "    PUT(n, amd_sadw(a, b, c)); PUT(n, amd_sadd(a, b, c)); PUT(n, amd_msad(a, b, c)); \\\n"
    "    PUT(n, amd_bfm(b, c)); PUT(n, amd_bfe(a, b, c)); \\\n"
    "    PUT(n, as_uint##n(amd_bfe(s, b, c))); \\\n"
    "    PUT(n, amd_unpack0(a)); PUT(n, amd_unpack1(a)); \\\n"
    "    PUT(n, amd_unpack2(a)); PUT(n, amd_unpack3(a)); \\\n"
    "    PUT_LONG(amd_qsad(l[i], b, m[i])); PUT_LONG(amd_mqsad(l[i], b, m[i])); \\\n"
    "    ORDER(n, as_uint##n, s, t, u) ORDER(n, as_uint##n, a, b, c) \\\n"
    "    ORDER(n, as_uint##n, f, g, h) }\n"
    "KERNEL() KERNEL(2) KERNEL(3) KERNEL(4) KERNEL(8) KERNEL(16)\n"
    "kernel void whole(global const uint4 *x, global const uint4 *y, global ulong *out) {\n"
    "    int i = get_global_id(0);\n"
    "    out[2 * i] = amd_sad4(x[i], y[i], x[i].x);\n"
    "    out[2 * i + 1] = amd_pack(convert_float4(x[i] & 1023) + 0.75f); }\n";

/* ------------------------------------------------------------------------------- the references */

typedef struct {
    uint32_t a, b, c;
    uint64_t l, m;
} lane;

static uint32_t byte(uint64_t x, int k) { return x >> 8 * k & 255; }

static uint32_t apart(uint32_t x, uint32_t y) { return x > y ? x - y : y - x; }

static uint64_t bitalign(const lane *v) {
    return (uint32_t)(((uint64_t)v->a << 32 | v->b) >> (v->c & 31));
}

static uint64_t bytealign(const lane *v) {
    return (uint32_t)(((uint64_t)v->a << 32 | v->b) >> (v->c & 3) * 8);
}

static uint64_t lerp(const lane *v) {
    uint32_t sum = 0;
    for (int k = 0; k < 4; k++)
        sum += (byte(v->a, k) + byte(v->b, k) + (v->c >> 8 * k & 1)) >> 1 << 8 * k;
    return sum;
}

static uint32_t sum_apart(uint32_t a, uint32_t b, uint32_t c, bool masked) {
    for (int k = 0; k < 4; k++)
        if (!masked || byte(b, k)) c += apart(byte(a, k), byte(b, k));
    return c;
}

static uint64_t sad(const lane *v) { return sum_apart(v->a, v->b, v->c, false); }
static uint64_t sadhi(const lane *v) {
    return (uint32_t)((sum_apart(v->a, v->b, 0, false) << 16) + v->c);
}
static uint64_t sadw(const lane *v) {
    uint32_t low = apart(v->a & 65535, v->b & 65535), high = apart(v->a >> 16, v->b >> 16);
    return (uint32_t)(v->c + low + high);
}
static uint64_t sadd(const lane *v) { return (uint32_t)(v->c + apart(v->a, v->b)); }
static uint64_t msad(const lane *v) { return sum_apart(v->a, v->b, v->c, true); }
static uint64_t bfm(const lane *v) {
    return (uint32_t)((((uint32_t)1 << (v->b & 31)) - 1) << (v->c & 31));
}

static uint64_t bfe_unsigned(const lane *v) {
    uint32_t offset = v->b & 31, width = v->c & 31;
    if (width == 0) return 0;
    if (offset + width >= 32) return v->a >> offset;
    return (uint32_t)(v->a << (32 - offset - width)) >> (32 - width);
}

static uint64_t bfe_signed(const lane *v) {
    uint32_t offset = v->b & 31, width = v->c & 31;
    if (width == 0) return 0;
    if (offset + width >= 32) return (uint32_t)((int32_t)v->a >> offset);
    return (uint32_t)((int32_t)(v->a << (32 - offset - width)) >> (32 - width));
}

static uint64_t unpack0(const lane *v) { return byte(v->a, 0); }
static uint64_t unpack1(const lane *v) { return byte(v->a, 1); }
static uint64_t unpack2(const lane *v) { return byte(v->a, 2); }
static uint64_t unpack3(const lane *v) { return byte(v->a, 3); }

static uint64_t four(const lane *v, bool masked) {
    uint64_t sums = 0;
    for (int k = 0; k < 4; k++) {
        uint16_t add = (uint16_t)(v->m >> 16 * k);
        uint16_t sum = (uint16_t)sum_apart((uint32_t)(v->l >> 8 * k), v->b, add, masked);
        sums |= (uint64_t)sum << 16 * k;
    }
    return sums;
}

static uint64_t qsad(const lane *v) { return four(v, false); }
static uint64_t mqsad(const lane *v) { return four(v, true); }

/* Of three numbers in order, the one with that place. */
static double placed(double x, double y, double z, int place) {
    double least = x < y ? x : y, most = x < y ? y : x;
    if (place == 0) return z < least ? z : least;
    if (place == 2) return z > most ? z : most;
    return z < least ? least : z > most ? most : z;
}

static uint64_t order_int(const lane *v, int place) {
    double r = placed((int32_t)v->a, (int32_t)v->b, (int32_t)v->c, place);
    return (uint32_t)(int32_t)r;
}

static uint64_t order_uint(const lane *v, int place) {
    return (uint32_t)placed(v->a, v->b, v->c, place);
}

static uint64_t order_float(const lane *v, int place) {
    float x = (float)(int32_t)v->a, y = (float)(int32_t)v->b, z = (float)(int32_t)v->c;
    float r = (float)placed(x, y, z, place);
    uint32_t bits;
    memcpy(&bits, &r, sizeof bits);
    return bits;
}

#define ORDER(type)                                                                                \
    static uint64_t min3_##type(const lane *v) { return order_##type(v, 0); }                      \
    static uint64_t max3_##type(const lane *v) { return order_##type(v, 2); }                      \
    static uint64_t median3_##type(const lane *v) { return order_##type(v, 1); }
ORDER(int)
ORDER(uint)
ORDER(float)

static const struct {
    const char *name;
    uint64_t (*want)(const lane *v);
} functions[] = {{"bitalign", bitalign},
                 {"bytealign", bytealign},
                 {"lerp", lerp},
                 {"sad", sad},
                 {"sadhi", sadhi},
                 {"sadw", sadw},
                 {"sadd", sadd},
                 {"msad", msad},
                 {"bfm", bfm},
                 {"bfe of uint", bfe_unsigned},
                 {"bfe of int", bfe_signed},
                 {"unpack0", unpack0},
                 {"unpack1", unpack1},
                 {"unpack2", unpack2},
                 {"unpack3", unpack3},
                 {"qsad", qsad},
                 {"mqsad", mqsad},
                 {"min3 of int", min3_int},
                 {"max3 of int", max3_int},
                 {"median3 of int", median3_int},
                 {"min3 of uint", min3_uint},
                 {"max3 of uint", max3_uint},
                 {"median3 of uint", median3_uint},
                 {"min3 of float", min3_float},
                 {"max3 of float", max3_float},
                 {"median3 of float", median3_float}};

/* ----------------------------------------------------------------------------------------- runs */

enum { ITEMS = 64, WIDEST = 16, LANES = ITEMS * WIDEST };
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static uint32_t a[LANES], b[LANES], c[LANES];
static uint64_t l[LANES], m[LANES], out[FUNCTIONS * LANES];

/* Any bits; every few numbers one that is small, or has bytes of 0. */
static void make_input(void) {
    uint64_t state = 3;
    for (int k = 0; k < LANES; k++) {
        uint64_t x = splitmix64(&state), y = splitmix64(&state);
        a[k] = (uint32_t)x;
        b[k] = (uint32_t)(x >> 32) & (k % 3 ? UINT32_MAX : 0x1f00ff1f);
        c[k] = (uint32_t)y & (k % 2 ? UINT32_MAX : 31);
        if (k % 7 == 0) b[k] = a[k];
        l[k] = splitmix64(&state);
        m[k] = splitmix64(&state);
    }
}

static cl_mem buffer(const void *data, size_t size) {
    return MAKE(
        clCreateBuffer(ocl.context, CL_MEM_COPY_HOST_PTR, size, (void *)(uintptr_t)data, &error));
}

static void run(cl_program p, const char *name, cl_uint n, const cl_mem *args) {
    size_t items = ITEMS;
    cl_kernel k = MAKE(clCreateKernel(p, name, &error));
    for (cl_uint i = 0; i < n; i++) SUCCEEDS(clSetKernelArg(k, i, sizeof args[i], &args[i]));
    SUCCEEDS(clEnqueueNDRangeKernel(ocl.queue, k, 1, NULL, &items, NULL, 0, NULL, NULL));
    SUCCEEDS(
        clEnqueueReadBuffer(ocl.queue, args[n - 1], CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    SUCCEEDS(clReleaseKernel(k));
}

/* Vectors of 3 take the place of 4. */
static void check_width(cl_program p, const cl_mem *args, int width) {
    char name[16] = "k";
    int stride = width == 3 ? 4 : width;
    if (width > 1) snprintf(name, sizeof name, "k%d", width);
    run(p, name, 6, args);
    for (int f = 0; f < FUNCTIONS; f++)
        for (int k = 0; k < ITEMS * stride; k++) {
            const lane v = {a[k], b[k], c[k], l[k], m[k]};
            uint64_t want = functions[f].want(&v), got = out[f * ITEMS * stride + k];
            if (k % stride < width && want != got)
                cr_expect(false, "%s, %d lanes: %llx, not %llx", functions[f].name, width,
                          (unsigned long long)got, (unsigned long long)want);
        }
}

static void check_whole(cl_program p, const cl_mem *args) {
    run(p, "whole", 3, (const cl_mem[]){args[0], args[1], args[5]});
    for (int i = 0; i < ITEMS; i++) {
        uint32_t sum = a[4 * i], packed = 0;
        for (int k = 0; k < 4; k++) {
            sum = sum_apart(a[4 * i + k], b[4 * i + k], sum, false);
            packed |= (a[4 * i + k] & 255) << 8 * k;
        }
        cr_expect(out[2 * i] == sum, "sad4 of item %d", i);
        cr_expect(out[2 * i + 1] == packed, "pack of item %d", i);
    }
}

static void check_all(const char *options) {
    static const int widths[] = {1, 2, 3, 4, 8, 16};
    make_input();
    cl_program p = built(source, options);
    cl_mem args[] = {buffer(a, sizeof a), buffer(b, sizeof b), buffer(c, sizeof c),
                     buffer(l, sizeof l), buffer(m, sizeof m), buffer(out, sizeof out)};
    cr_expect_str_empty(log_of(p));
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) check_width(p, args, widths[k]);
    check_whole(p, args);
    for (int k = 0; k < 6; k++) SUCCEEDS(clReleaseMemObject(args[k]));
    SUCCEEDS(clReleaseProgram(p));
}

Test(media_ops, optimized) { check_all("-Wall -Wextra"); }

Test(media_ops, not_optimized) { check_all("-cl-std=CL3.0 -cl-opt-disable"); }

/* A program that has functions of its own where the extension is missing does not need them. */
Test(media_ops, guarded) {
    cl_program p = built("#ifndef cl_amd_media_ops2\n"
                         "static int amd_bfe(int a, uint b, uint c) { return 0; }\n"
                         "#endif\n"
                         "kernel void k(global int *out) { *out = amd_bfe(0x1234, 4u, 8u); }",
                         NULL);
    cr_expect_eq(result_of(p, "k"), 0x23);
    SUCCEEDS(clReleaseProgram(p));
    p = built("#define TWICE(x) amd_sad(x, 0u, 0u)\n"
              "kernel void k(global int *out) { *out = TWICE(0x01020304u); }",
              NULL);
    cr_expect_eq(result_of(p, "k"), 10);
    SUCCEEDS(clReleaseProgram(p));
}
