/* math.c — math functions in programs of OpenCL C, with the options that relax arithmetic.
 *
 * ulp.c tests the functions as operations; here they come as hosts ask for them: from source, with
 * each set of options, through the compiler of the source, reader and pipeline, vectorized.  For
 * each function, type and set of options a kernel computes the edges of edges.c.
 *
 * The limits are those of functions.c, whatever the options: the specification allows more with
 * some of them.  Where options promise that there is no NaN or infinity, points with one are left
 * out, and where they say that signs of zeros do not count, they do not.  Denormals are right with
 * -cl-denorms-are-zero too, which is only a permission.
 *
 * Prints what is wrong, and "N passed, M failed"; a kernel counts as one.
 */
#include "tests/codegen/math/edges.h"
#include "tests/opencl/stress.h"

typedef struct {
    const char *text;
    bool finite, unsigned_zeros;
} options;

static const options modes[] = {
    {""},
    {"-cl-denorms-are-zero"},
    {"-cl-opt-disable"},
    {"-cl-mad-enable -cl-no-signed-zeros", .unsigned_zeros = true},
    {"-cl-unsafe-math-optimizations", .unsigned_zeros = true},
    {"-cl-finite-math-only", .finite = true},
    {"-cl-fast-relaxed-math -cl-denorms-are-zero", .finite = true, .unsigned_zeros = true},
};

enum { MODES = sizeof modes / sizeof *modes, TYPES = 3 };

typedef struct {
    ir_kind k;
    const char *name;
    int step; /* through the modes, from the last to the first */
} type;

static const type types[TYPES] = {
    {IR_F32, "float", 1}, {IR_F64, "double", MODES - 1}, {IR_F16, "half", MODES - 1}};

/* ------------------------------------------------------------------------------------ programs */

static bool has_function(const math_function *f, const type *t) {
    const char *name = ir_ops[f->op].name;
    if (is_exact(f)) return false;
    return t->k == IR_F32 || (strncmp(name, "half_", 5) != 0 && strncmp(name, "native_", 7) != 0);
}

static void print_source(FILE *out, const type *t) {
    fprintf(out, "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n");
    for (unsigned n = 0; n < MATH_FUNCTIONS; n++) {
        const math_function *f = &math_functions[n];
        const char *name = ir_ops[f->op].name;
        if (!has_function(f, t)) continue;
        fprintf(out,
                "kernel void run_%s(global const %s *a, global const %s *b, global %s *out) {\n"
                "    size_t i = get_global_id(0);\n"
                "    out[i] = %s(a[i]%s);\n"
                "}\n",
                name, t->name, takes_integer(f) ? "int" : t->name, t->name, name,
                f->two ? ", b[i]" : "");
    }
}

static cl_program build(const type *t, const options *o) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    print_source(out, t);
    fclose(out);
    cl_program p = clCreateProgramWithSource(context, 1, (const char **)&text, &size, NULL);
    expect(!clBuildProgram(p, 0, NULL, o->text, NULL, NULL));
    free(text);
    return p;
}

/* ----------------------------------------------------------------------------------- one kernel */

static cl_mem make_buffer(size_t bytes, const void *data) {
    return clCreateBuffer(context, data ? CL_MEM_COPY_HOST_PTR : 0, bytes, (void *)data, NULL);
}

/* One argument of all points, in as many bytes as it has. */
static cl_mem buffer_of(const math_points *p, bool second, size_t bytes) {
    unsigned char *data = malloc(p->n * bytes);
    for (size_t i = 0; i < p->n; i++)
        memcpy(data + i * bytes, second ? &p->data[i].b : &p->data[i].a, bytes);
    cl_mem m = make_buffer(p->n * bytes, data);
    free(data);
    return m;
}

static unsigned char *run(cl_program program, const math_function *f, ir_kind k,
                          const math_points *p, cl_command_queue queue) {
    char name[64];
    size_t bytes = ir_bits(NULL, k) / 8;
    unsigned char *out = calloc(p->n, bytes);
    cl_mem mem[3] = {buffer_of(p, false, bytes), buffer_of(p, true, takes_integer(f) ? 4 : bytes),
                     make_buffer(p->n * bytes, NULL)};
    snprintf(name, sizeof name, "run_%s", ir_ops[f->op].name);
    cl_kernel kernel = clCreateKernel(program, name, NULL);
    for (cl_uint n = 0; n < 3; n++) expect(!clSetKernelArg(kernel, n, sizeof mem[n], &mem[n]));
    expect(!clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &p->n, NULL, 0, NULL, NULL));
    expect(!clEnqueueReadBuffer(queue, mem[2], CL_TRUE, 0, p->n * bytes, out, 0, NULL, NULL));
    clReleaseKernel(kernel);
    for (int n = 0; n < 3; n++) clReleaseMemObject(mem[n]);
    return out;
}

/* -------------------------------------------------------------------------------- what is wrong */

static bool counts(const math_function *f, ir_kind k, math_point p, const options *o) {
    if (!o->finite) return true;
    double x = ir_fp_to_double(k, p.a), y = f->two ? ir_fp_to_double(k, p.b) : 0;
    double r = ir_fp_to_double(k, expected(f, k, p.a, p.b));
    return isfinite(x) && (takes_integer(f) || isfinite(y)) && isfinite(r);
}

static bool is_right(const math_function *f, ir_kind k, math_point p, const options *o,
                     uint64_t got) {
    double want = ir_fp_to_double(k, expected(f, k, p.a, p.b));
    if (o->unsigned_zeros && want == 0 && ir_fp_to_double(k, got) == 0) return true;
    return !counts(f, k, p, o) || error_of(f, k, p.a, p.b, got) <= limit_of(f, k);
}

static bool check(const math_function *f, const type *t, const math_points *p, const options *o,
                  const unsigned char *out) {
    size_t bytes = ir_bits(NULL, t->k) / 8, bad = 0;
    for (size_t i = 0; i < p->n; i++) {
        uint64_t got = 0;
        memcpy(&got, out + i * bytes, bytes);
        if (is_right(f, t->k, p->data[i], o, got) || bad++) continue;
        printf("%s, %s, \"%s\": at %a, %a: %a\n", ir_ops[f->op].name, t->name, o->text,
               ir_fp_to_double(t->k, p->data[i].a), ir_fp_to_double(t->k, p->data[i].b),
               ir_fp_to_double(t->k, got));
    }
    return bad == 0;
}

/* With one set of options; how many kernels were wrong. */
static unsigned check_mode(const type *t, const options *o, const math_points *points,
                           cl_command_queue queue) {
    unsigned bad = 0;
    cl_program p = build(t, o);
    for (unsigned n = 0; n < MATH_FUNCTIONS; n++) {
        const math_function *f = &math_functions[n];
        if (!has_function(f, t)) continue;
        unsigned char *out = run(p, f, t->k, &points[n], queue);
        bad += !check(f, t, &points[n], o, out);
        free(out);
    }
    clReleaseProgram(p);
    return bad;
}

int main(void) {
    unsigned passed = 0, failed = 0;
    begin_context();
    cl_command_queue queue = new_queue(true);
    for (const type *t = types; t < types + TYPES; t++) {
        math_points points[MATH_FUNCTIONS] = {0};
        unsigned kernels = 0;
        for (unsigned n = 0; n < MATH_FUNCTIONS; n++) {
            if (!has_function(&math_functions[n], t)) continue;
            points[n] = collect_edges(&math_functions[n], t->k);
            kernels++;
        }
        for (int mode = MODES - 1; mode >= 0; mode -= t->step) {
            unsigned bad = check_mode(t, &modes[mode], points, queue);
            failed += bad;
            passed += kernels - bad;
        }
        for (unsigned n = 0; n < MATH_FUNCTIONS; n++) free(points[n].data);
    }
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    printf("%u passed, %u failed\n", passed, failed + wrong);
    return failed + wrong != 0;
}
