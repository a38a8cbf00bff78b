/* intel_subgroup_test.c — cl_intel_subgroups and its additions for chars, shorts and longs: each
 * function for each type (intel_subgroups.cl), against C, for all sizes of sub-groups. */
#include "tests/file.h"
#include "tests/opencl/programs.h"

#include <CL/cl_ext.h>

TestSuite(intel_subgroup, .init = begin_opencl, .fini = end_opencl);

enum { SUBGROUPS = 8, MOST = 64 * SUBGROUPS, LINES = 9, BYTES = 16 * 8 };

/* The items of a launch. */
typedef struct {
    unsigned size, n, local; /* of sub-groups, of all, of groups */
} shape;

/* Bytes of values; a line of the output is n values. */
static unsigned char in[MOST * BYTES], out[MOST * LINES * BYTES], own[MOST * BYTES];

static void fill(void) {
    uint32_t x = 1;
    for (size_t k = 0; k < sizeof in; k++)
        in[k] = (unsigned char)((x = x * 1664525 + 1013904223) >> 24);
}

static cl_program sized_program(unsigned size, const char *more) {
    char options[100];
    char *source = read_file("tests/opencl/intel_subgroups.cl", NULL);
    cr_assert(source);
    snprintf(options, sizeof options, "-DSIZE=%u %s", size, more);
    cl_program p = built(source, options);
    free(source);
    return p;
}

/* Runs the kernel on `in`; what it leaves is in `out`, and in `own` if it has such an argument. */
static void run(cl_program p, const char *name, const shape *s, size_t bytes) {
    cl_kernel k = MAKE(clCreateKernel(p, name, &error));
    cl_mem buffers[3];
    buffers[0] = MAKE(clCreateBuffer(ocl.context, CL_MEM_COPY_HOST_PTR, sizeof in, in, &error));
    buffers[1] = MAKE(clCreateBuffer(ocl.context, 0, sizeof out, NULL, &error));
    buffers[2] = MAKE(clCreateBuffer(ocl.context, 0, sizeof own, NULL, &error));
    const size_t global = s->n, local = s->local;
    cl_uint arguments;
    SUCCEEDS(clGetKernelInfo(k, CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments, NULL));
    for (cl_uint n = 0; n < arguments; n++)
        SUCCEEDS(clSetKernelArg(k, n, sizeof *buffers, &buffers[n]));
    SUCCEEDS(clEnqueueNDRangeKernel(ocl.queue, k, 1, NULL, &global, &local, 0, NULL, NULL));
    SUCCEEDS(clEnqueueReadBuffer(ocl.queue, buffers[1], CL_TRUE, 0, bytes, out, 0, NULL, NULL));
    SUCCEEDS(
        clEnqueueReadBuffer(ocl.queue, buffers[2], CL_TRUE, 0, sizeof own, own, 0, NULL, NULL));
    for (int n = 0; n < 3; n++) SUCCEEDS(clReleaseMemObject(buffers[n]));
    SUCCEEDS(clReleaseKernel(k));
}

/* --------------------------------------------------------------------------------------- blocks */

static void check_block(cl_program p, unsigned size, const char *suffix, unsigned bytes,
                        unsigned n) {
    const shape s = {size, size * SUBGROUPS, 2 * size};
    const size_t all = (size_t)s.n * n * bytes;
    char name[32];
    snprintf(name, sizeof name, n > 1 ? "block%s%u" : "block%s", suffix, n);
    run(p, name, &s, all);
    cr_expect(memcmp(in, out, all) == 0, "%s writes, sub-groups of %u", name, size);
    for (unsigned i = 0; i < s.n; i++)
        for (unsigned k = 0; k < n; k++) {
            size_t from = i / size * size * n + k * size + i % size, to = (size_t)i * n + k;
            cr_assert(memcmp(in + from * bytes, own + to * bytes, bytes) == 0,
                      "%s, sub-groups of %u, item %u, element %u", name, size, i, k);
        }
}

static void check_blocks(unsigned size, const char *options) {
    static const struct {
        const char *suffix;
        unsigned bytes, most;
    } kinds[] = {{"", 4, 8}, {"_ui", 4, 8}, {"_us", 2, 8}, {"_uc", 1, 16}, {"_ul", 8, 8}};
    cl_program p = sized_program(size, options);
    for (int k = 0; k < 5; k++)
        for (unsigned n = 1; n <= kinds[k].most; n *= 2)
            check_block(p, size, kinds[k].suffix, kinds[k].bytes, n);
    SUCCEEDS(clReleaseProgram(p));
}

Test(intel_subgroup, blocks) {
    fill();
    for (unsigned size = 1; size <= 64; size *= 2) check_blocks(size, "-cl-std=CL3.0");
}

Test(intel_subgroup, blocks_not_optimized) {
    fill();
    check_blocks(16, "-cl-opt-disable");
}

/* ---------------------------------------------------------------------------------------- moves */

/* The place of the value that item i gets in a line, and whether it is of the second operand. */
static unsigned source(const shape *s, unsigned line, unsigned i, bool *second) {
    unsigned lane = i % s->size, first = i - lane, delta = line < 4 ? 3 : lane % 4, at;
    *second = false;
    switch (line) {
    case 0: return first + (lane * 5 + 3) % s->size;
    case 1: return first + (lane ^ 3);
    case 6: return first + 2;
    case 2:
    case 4:
        at = lane + delta;
        *second = at >= s->size;
        return first + at % s->size;
    default: *second = lane >= delta; return first + (lane + s->size - delta) % s->size;
    }
}

/* bytes: of a value in memory, of which `used` are its components. */
static void check_move(cl_program p, unsigned size, const char *type, size_t bytes, size_t used) {
    const shape s = {size, size * 4, 2 * size};
    char name[32];
    snprintf(name, sizeof name, "move_%s", type);
    run(p, name, &s, s.n * 7 * bytes);
    for (unsigned line = 0; line < 7; line++)
        for (unsigned i = 0; i < s.n; i++) {
            bool second;
            unsigned from = source(&s, line, i, &second);
            if (second) from = s.n - 1 - from; /* each item gives that of its opposite */
            cr_assert(memcmp(out + (line * s.n + i) * bytes, in + from * bytes, used) == 0,
                      "%s, sub-groups of %u, line %u, item %u", name, size, line, i);
        }
}

static void check_moves(unsigned size, const char *type, size_t bytes, const char *options) {
    static const unsigned lanes[] = {1, 2, 3, 4, 8, 16};
    char more[64], name[16];
    snprintf(more, sizeof more, "-DMOVED=%s %s", type, options);
    cl_program p = sized_program(size, more);
    for (int k = 0; k < 6; k++) {
        unsigned room = lanes[k] == 3 ? 4 : lanes[k];
        snprintf(name, sizeof name, k ? "%s%u" : "%s", type, lanes[k]);
        check_move(p, size, name, room * bytes, lanes[k] * bytes);
    }
    SUCCEEDS(clReleaseProgram(p));
}

/* Each size, with types that take turns; all types with 16. */
Test(intel_subgroup, moves) {
    static const char *const types[] = {"char", "uchar", "short", "ushort", "int",
                                        "uint", "long",  "ulong", "float"};
    static const size_t bytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4};
    fill();
    for (int t = 0; t < 9; t++) check_moves(16, types[t], bytes[t], "-cl-std=CL3.0");
    for (int t = 0; t < 8; t += 2) check_moves(t & 2 ? 64 : 4, types[t], bytes[t], "");
    for (int t = 0; t < 8; t += 2) check_moves(t & 2 ? 8 : 32, types[t + 1], bytes[t], "");
    check_moves(64, "long", 8, "-cl-std=CL3.0");
}

Test(intel_subgroup, moves_of_floats) {
    fill();
    for (unsigned size = 4; size <= 64; size *= 2) {
        cl_program p = sized_program(size, "-cl-std=CL3.0");
        check_move(p, size, "half", 2, 2);
        check_move(p, size, "double", 8, 8);
        SUCCEEDS(clReleaseProgram(p));
    }
}

/* ------------------------------------------------------------------------- reductions and scans */

typedef struct {
    const char *name;
    size_t bytes;
    bool is_signed;
} number;

static int64_t number_at(const number *t, const unsigned char *from, size_t k) {
    uint16_t word = 0;
    memcpy(&word, from + k * t->bytes, t->bytes);
    if (!t->is_signed) return word;
    return t->bytes == 1 ? (int8_t)word : (int16_t)word;
}

static int64_t cut(const number *t, int64_t v) {
    if (t->bytes == 1) return t->is_signed ? (int8_t)v : (uint8_t)v;
    return t->is_signed ? (int16_t)v : (uint16_t)v;
}

/* op 0: sum, 1: least, 2: greatest; of items first to end - 1. */
static int64_t combine(const number *t, unsigned op, unsigned first, unsigned end) {
    int64_t top = INT64_C(1) << (8 * t->bytes - t->is_signed);
    int64_t v = op == 0 ? 0 : op == 1 ? top - 1 : t->is_signed ? -top : 0;
    for (unsigned i = first; i < end; i++) {
        int64_t x = number_at(t, in, i);
        v = op == 0 ? cut(t, v + x) : (op == 1 ? x < v : x > v) ? x : v;
    }
    return v;
}

static void check_combined(cl_program p, unsigned size, const number *t) {
    const shape s = {size, 3 * (size + 3), size + 3};
    char name[32];
    snprintf(name, sizeof name, "combine_%s", t->name);
    run(p, name, &s, s.n * LINES * t->bytes);
    for (unsigned line = 0; line < LINES; line++)
        for (unsigned i = 0; i < s.n; i++) {
            unsigned group = i - i % s.local, first = i - (i - group) % size;
            unsigned last = first + size < group + s.local ? first + size : group + s.local;
            unsigned end = line < 3 ? last : line < 6 ? i + 1 : i;
            int64_t got = number_at(t, out, line * s.n + i);
            cr_assert(got == combine(t, line % 3, first, end),
                      "%s, sub-groups of %u, line %u, item %u: %lld", name, size, line, i,
                      (long long)got);
        }
}

Test(intel_subgroup, combined) {
    static const number types[] = {
        {"char", 1, true}, {"uchar", 1, false}, {"short", 2, true}, {"ushort", 2, false}};
    fill();
    for (unsigned size = 1; size <= 64; size *= 2) {
        cl_program p = sized_program(size, "-cl-std=CL3.0");
        for (int t = 0; t < 4; t++) check_combined(p, size, &types[t]);
        SUCCEEDS(clReleaseProgram(p));
    }
}

/* ------------------------------------------------------------------------------------ languages */

Test(intel_subgroup, versions) {
    static const char *const versions[] = {"", "-cl-std=CL1.2", "-cl-std=CL2.0", "-cl-std=CL3.0"};
    const shape s = {8, 64, 16};
    for (int k = 0; k < 4; k++) {
        cl_program p = sized_program(8, versions[k]);
        cl_kernel basics = MAKE(clCreateKernel(p, "basics", &error));
        cl_mem to = MAKE(clCreateBuffer(ocl.context, 0, 64 * 4, NULL, &error));
        const size_t global = s.n, local = s.local;
        cl_uint got[64];
        SUCCEEDS(clSetKernelArg(basics, 0, sizeof to, &to));
        SUCCEEDS(
            clEnqueueNDRangeKernel(ocl.queue, basics, 1, NULL, &global, &local, 0, NULL, NULL));
        SUCCEEDS(clEnqueueReadBuffer(ocl.queue, to, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
        for (int i = 0; i < 64; i++) cr_expect(got[i] == 1, "%s: item %d", versions[k], i);
        SUCCEEDS(clReleaseMemObject(to));
        SUCCEEDS(clReleaseKernel(basics));
        SUCCEEDS(clReleaseProgram(p));
    }
}
