/* ulp.c — the functions of the library against MPFR, in units of the last place.
 *     ulp [-i | -e | -d DEVICE [--shard I/N]] POINTS [NAME]
 *
 * For every math function of OpenCL.std in f32, f64 and f16: the edges of edges.c, then POINTS
 * arguments, half of them any bits, half within a range that matters.  The greatest error must be
 * within the limit that functions.c gives.  Prints a row per function and type, and "N passed, M
 * failed".
 *
 * What computes the values is a function `batch`: code of this machine, of each level that it has.
 * It is a loop over items, which exists twice, as scalar code and with vectors of 16 lanes; both
 * must give the same bits, except for those of NaN.
 * The highest level gets all points, the others all edges and a quarter of the points.  With -i, or
 * where there is no code for the machine, it is the interpreter, on what passes expand and builtins
 * make of vectors of 16 lanes, with as many edges as points at most.  With -e it is the
 * interpreter, too, on code for a target with estimates (ptx), which are taken to be exact.  With
 * -d, it is a kernel on a device; quotients and roots of floats may err there as OpenCL allows, and
 * native_ functions as the device does.
 */
#include "codegen/codegen.h"
#include "ir/interp.h"
#include "passes/passes.h"
#include "runtime/native/native.h"
#include "runtime/spvfuse_queue.h"
#include "tests/codegen/math/edges.h"
#include "tests/native_call.h"
#include "tests/report.h"
#include "tests/progress.h"

#include <stdlib.h>

enum { LANES = 16, CALLS = 32, BATCH = LANES * CALLS, DEVICE_BATCH = 1 << 16 };

static const char *kind_name(ir_kind k) {
    static const char *const names[] = {"f16", "bf16", "f32", "f64"};
    return names[k - IR_F16];
}

/* Values of n points: in[0], and in[1] of functions of two. */
typedef void batch(void *user, const uint64_t *const in[2], uint64_t *out, unsigned n);

/* ------------------------------------------------------------------------------ the interpreter */

typedef enum { PLAIN, RICH, ESTIMATES } target_kind;

static ir_target target_of(target_kind kind) {
    if (kind == ESTIMATES) return cg_ptx_target(&(cg_ptx_options){.sm = 90});
    return (ir_target){.has_fma = kind == RICH, .has_f16c = kind == RICH};
}

static const char passes_of_library[] = "expand,builtins,simplifycfg,scalarize,gvn,licm,dce";

static bool lower(ir_module *m, target_kind kind) {
    const ir_target target = target_of(kind);
    pass_options o = {.passes = passes_of_library,
                      .bisect = -1,
                      .verify_each = true,
                      .target = &target,
                      .library = &cg_math_library};
    return pass_run(m, &o);
}

static ir_func *make_function(ir_module *m, ir_op op, ir_kind k, target_kind target) {
    unsigned nargs = ir_ops[op].nargs;
    ir_type v = ir_vector(k, LANES);
    ir_type types[2] = {v, ir_ops[op].rule == R_FLT_INT ? ir_vector(IR_I32, LANES) : v};
    ir_func *f = ir_func_new(m, "f", v, nargs, types);
    ir_builder b;
    ir_builder_init(&b, f);
    ir_at_end(&b, ir_block_new(f, "entry"));
    ir_build_ret(&b, ir_build_raw(&b, op, v, IR_PLAIN, (ir_args){nargs, f->param_val}));
    return lower(m, target) ? f : NULL;
}

static void interpret(void *user, const uint64_t *const in[2], uint64_t *out, unsigned n) {
    static ir_value args[2 * CALLS], results[CALLS];
    ir_func *f = user;
    for (unsigned i = 0; i < n; i++)
        for (unsigned p = 0; p < f->nparams; p++)
            args[i / LANES * f->nparams + p].bits[i % LANES] = in[p][i];
    if (!ir_interp_calls(f, n / LANES, args, results)) memset(results, 0, sizeof results);
    for (unsigned i = 0; i < n; i++) out[i] = results[i / LANES].bits[i % LANES];
}

/* ---------------------------------------------------------------------------------- native code */

/* A loop over places of 8 bytes. */
static const char loop_text[] =
    "func @run(%%a: ptr.global, %%b: ptr.global, %%c: ptr.global) level group {\n"
    "entry:\n"
    "  jmp body\n"
    "body: items\n"
    "  %%i: i64 = phi [entry: 0, body: %%j]\n"
    "  %%at: i64 = shl %%i, 3\n"
    "  %%pa: ptr.global = ptradd %%a, %%at\n"
    "  %%pb: ptr.global = ptradd %%b, %%at\n"
    "  %%pc: ptr.global = ptradd %%c, %%at\n"
    "  %%x: %s = load %%pa align 8\n"
    "  %%y: %s = load %%pb align 8\n"
    "  %%r: %s = %s %%x%s\n"
    "  store %%r, %%pc align 8\n"
    "  %%j: i64 = add %%i, 1 nsw nuw\n"
    "  %%more: i1 = ult %%j, i64 %u\n"
    "  br %%more, body, done\n"
    "done:\n"
    "  ret\n"
    "}\n";

static ir_module *make_loop(ir_ctx *cx, ir_op op, ir_kind k) {
    char text[2048];
    const char *x = kind_name(k), *y = ir_ops[op].rule == R_FLT_INT ? "i32" : x;
    int n = snprintf(text, sizeof text, loop_text, x, y, x, ir_ops[op].name,
                     ir_ops[op].nargs > 1 ? ", %y" : "", BATCH);
    return ir_parse(cx, "loop", text, (size_t)n);
}

typedef void loop_function(const uint64_t *, const uint64_t *, uint64_t *);

/* The loop as scalar code and as vector code. */
typedef struct {
    loop_function *scalar, *vector;
    ir_kind kind;
    bool differ;
} loops;

static bool is_same(ir_kind k, uint64_t x, uint64_t y) {
    return x == y || (ir_fp_is_nan(k, x) && ir_fp_is_nan(k, y));
}

static void run_native(void *user, const uint64_t *const in[2], uint64_t *out, unsigned n) {
    static uint64_t scalar[BATCH];
    loops *l = user;
    memset(out, 0, n * sizeof *out);
    memset(scalar, 0, sizeof scalar);
    l->scalar(in[0], in[1], scalar);
    l->vector(in[0], in[1], out);
    for (unsigned i = 0; i < n; i++) l->differ |= !is_same(l->kind, scalar[i], out[i]);
}

/* ------------------------------------------------------------------------------------- a device */

static const char kernel_text[] = "target 64\n"
                                  "kernel @k(%%a: ptr.global, %%b: ptr.global, %%c: ptr.global) {\n"
                                  "entry:\n"
                                  "  %%i: i64 = global_id 0\n"
                                  "  %%at: i64 = shl %%i, 3\n"
                                  "  %%pa: ptr.global = ptradd %%a, %%at\n"
                                  "  %%pb: ptr.global = ptradd %%b, %%at\n"
                                  "  %%pc: ptr.global = ptradd %%c, %%at\n"
                                  "  %%x: %s = load %%pa align 8\n"
                                  "  %%y: %s = load %%pb align 8\n"
                                  "  %%r: %s = %s %%x%s\n"
                                  "  store %%r, %%pc align 8\n"
                                  "  ret\n"
                                  "}\n";

/* The device, and its buffers of arguments and results. */
typedef struct {
    spvf_context *context;
    spvf_device *device;
    spvf_queue *queue;
    spvf_buffer *buffer[3];
    spvf_program *program; /* of the function that is measured */
    bool failed;
} remote;

static void print_one(void *user, const spvf_message *m) {
    (void)user;
    fprintf(stderr, "%s\n", m->formatted);
}

static bool open_remote(remote *r, const char *name) {
    const spvf_context_options o = {.size = sizeof o, .message = print_one};
    const spvf_queue_options in_order = {.size = sizeof in_order};
    bool ok = spvf_context_create(&o, &r->context) == SPVF_OK &&
              spvf_device_open(r->context, name, &r->device) == SPVF_OK &&
              spvf_queue_create(r->device, &in_order, &r->queue) == SPVF_OK;
    for (unsigned n = 0; ok && n < 3; n++)
        ok = spvf_buffer_create(r->device, DEVICE_BATCH * 8, NULL, 0, &r->buffer[n]) == SPVF_OK;
    return ok;
}

static void run_remote(void *user, const uint64_t *const in[2], uint64_t *out, unsigned n) {
    remote *r = user;
    spvf_argument args[3] = {{0}};
    for (unsigned k = 0; k < 3; k++) args[k].buffer = r->buffer[k];
    const spvf_launch l = {.size = sizeof l,
                           .program = r->program,
                           .kernel = "k",
                           .range = {.dims = 1, .global = {n}},
                           .args = args,
                           .arg_count = 3};
    const uint8_t zero = 0;
    bool ok = true;
    for (unsigned k = 0; k < 2; k++)
        ok &= spvf_queue_write(r->queue, r->buffer[k], 0, in[k], n * 8, NULL, NULL) == SPVF_OK;
    ok &= spvf_queue_fill(r->queue, r->buffer[2], 0, n * 8, &zero, 1, NULL, NULL) == SPVF_OK &&
          spvf_queue_launch(r->queue, &l, NULL, NULL) == SPVF_OK &&
          spvf_queue_read(r->queue, r->buffer[2], 0, out, n * 8, NULL, NULL) == SPVF_OK &&
          spvf_queue_finish(r->queue) == SPVF_OK;
    r->failed |= !ok;
}

static bool build_remote(remote *r, ir_op op, ir_kind k) {
    char text[2048];
    spvf_module *m = NULL;
    const char *x = kind_name(k), *y = ir_ops[op].rule == R_FLT_INT ? "i32" : x;
    int n = snprintf(text, sizeof text, kernel_text, x, y, x, ir_ops[op].name,
                     ir_ops[op].nargs > 1 ? ", %y" : "");
    bool ok = spvf_module_load(r->context, "k.ir", text, (size_t)n, NULL, &m) == SPVF_OK &&
              spvf_program_create(r->device, m, &r->program) == SPVF_OK;
    spvf_module_destroy(m);
    return ok;
}

/* ------------------------------------------------------------------------------------ arguments */

/* First edges, then all values of 16 bits or random ones. */
typedef struct {
    const math_function *f;
    ir_kind k;
    math_points edges;
    size_t stride;       /* of the edges that are tried */
    unsigned long least; /* how many random points, if not all are tried */
    bool all;            /* every value of 16 bits */
} source;

static uint64_t integer(double x) {
    return (uint32_t)(int32_t)(fabs(x) < 0x1p31 ? x : isnan(x) ? 0 : x < 0 ? -0x1p31 : 0x1p31 - 1);
}

static math_point random_point(const source *s) {
    unsigned width = ir_bits(NULL, s->k);
    uint64_t a = ir_zext(random_bits(), width);
    return (math_point){a, takes_integer(s->f) ? random_bits() >> 32 >> (random_bits() & 31)
                                               : ir_zext(random_bits(), width)};
}

static math_point likely_point(const source *s) {
    uint64_t a = ir_fp_from_double(s->k, argument(s->f->low, s->f->high));
    double y = takes_two(s->f) ? argument(s->f->low2, s->f->high2) : 0;
    return (math_point){a, takes_integer(s->f) ? integer(y) : ir_fp_from_double(s->k, y)};
}

static size_t edges_of(const source *s) { return (s->edges.n + s->stride - 1) / s->stride; }

static math_point point_of(const source *s, size_t n) {
    if (n < edges_of(s)) return s->edges.data[n * s->stride];
    if (has_range(s->f)) return likely_point(s);
    if (s->all) return (math_point){(n - edges_of(s)) & 0xffff, 0};
    return n & 1 ? random_point(s) : likely_point(s);
}

static size_t points_of(const source *s) { return edges_of(s) + (s->all ? 65536 : s->least); }

typedef struct {
    double error;
    uint64_t a, b, got;
} worst;

/* `size` points at once. */
static void measure_by(const source *s, unsigned size, batch *compute, void *user, worst *w) {
    static uint64_t a[DEVICE_BATCH], b[DEVICE_BATCH], out[DEVICE_BATCH];
    for (size_t n = 0; n < points_of(s); n += size) {
        for (unsigned i = 0; i < size; i++) {
            math_point p = point_of(s, n + i);
            a[i] = p.a, b[i] = p.b;
        }
        compute(user, (const uint64_t *const[2]){a, b}, out, size);
        for (unsigned i = 0; i < size; i++) {
            double error = error_of(s->f, s->k, a[i], b[i], out[i]);
            if (error > w->error) *w = (worst){error, a[i], b[i], out[i]};
        }
    }
}

static void measure(const source *s, batch *compute, void *user, worst *w) {
    measure_by(s, BATCH, compute, user, w);
}

/* ------------------------------------------------------------------------------------- a report */

static bool report(const source *s, const worst *w) {
    double limit = limit_of(s->f, s->k);
    double b = takes_integer(s->f) ? (double)(int32_t)w->b : ir_fp_to_double(s->k, w->b);
    printf("%-14s %s %9.3f of %4g at %.13a", ir_ops[s->f->op].name, kind_name(s->k), w->error,
           limit, ir_fp_to_double(s->k, w->a));
    if (takes_two(s->f)) printf(", %.13a", b);
    if (w->error > limit) printf(": %.13a  FAILED", ir_fp_to_double(s->k, w->got));
    printf("\n");
    return w->error <= limit;
}

typedef struct {
    ir_ctx cx;
    source s;
    remote *remote; /* NULL: this machine */
    ir_op op;       /* that is measured */
    bool native, estimates, pass;
} job;

/* With the interpreter half of the functions are made for each of the other targets. */
static bool check_interpreted(job *j, worst *w) {
    ir_module *m = ir_module_new(&j->cx, "ulp", 64);
    ir_func *f = make_function(m, j->s.f->op, j->s.k,
                               j->estimates     ? ESTIMATES
                               : j->s.f->op & 1 ? RICH
                                                : PLAIN);
    if (f) measure(&j->s, interpret, f, w);
    ir_module_free(m);
    return f;
}

static bool has_vectors(const ir_func *f) {
    foreach_block (b, f)
        foreach_inst (i, b)
            if (ir_lanes(i->type) == LANES) return true;
    return false;
}

/* False if lanes are not done at once as they should be. */
static bool lower_loop(ir_module *m, pass_options o) {
    o.passes = "vectors";
    if (!pass_run(m, &o) || has_vectors(m->first_func) != (o.lanes > 1)) return false;
    o.passes = "lowering";
    return pass_run(m, &o);
}

static bool compile(job *j, unsigned level, unsigned lanes, loop_function **run, rt_code *code) {
    ir_module *m = make_loop(&j->cx, j->s.f->op, j->s.k);
    const cg_machine *machine = cg_host_machine();
    const ir_target target = machine->describe(level);
    const pass_options list = {.bisect = -1,
                               .verify_each = true,
                               .target = &target,
                               .library = &cg_math_library,
                               .lanes = lanes};
    const cg_options o = {.level = level};
    cg_object object;
    if (!m || !lower_loop(m, list) || !machine->compile(m, &o, &m->arena, &object)) return false;
    if (rt_code_load(&object, NULL, code) != IR_OK) return false;
    uint32_t n = 0; /* tables come first */
    while (strcmp(object.symbols.data[n].name, "run") != 0) n++;
    void *symbol = rt_code_symbol(code, &object, n);
    memcpy(run, &symbol, sizeof symbol);
    ir_module_free(m);
    return true;
}

static bool check_level(job *j, worst *w, unsigned level) {
    rt_code code[2];
    loops l = {.kind = j->s.k};
    if (!compile(j, level, 1, &l.scalar, &code[0]) ||
        !compile(j, level, LANES, &l.vector, &code[1]))
        return false;
    measure(&j->s, run_native, &l, w);
    for (unsigned k = 0; k < 2; k++) rt_code_unload(&code[k]);
    if (l.differ) printf("%s: vector code gives other bits\n", ir_ops[j->s.f->op].name);
    return !l.differ;
}

static bool check_native(job *j, worst *w) {
    bool highest = true;
    unsigned n = 0;
    while (test_host_level(n)) n++;
    while (n-- > 0) {
        if (!check_level(j, w, test_host_level(n))) return false;
        if (highest) j->s.least /= 4;
        j->s.all = highest = false;
    }
    return true;
}

static bool check_remote(job *j, worst *w) {
    if (!build_remote(j->remote, j->op, j->s.k)) return false;
    measure_by(&j->s, DEVICE_BATCH, run_remote, j->remote, w);
    spvf_program_destroy(j->remote->program);
    return !j->remote->failed;
}

static void check(void *arg) {
    job *j = arg;
    worst w = {.error = -1};
    bool done = j->remote   ? check_remote(j, &w)
                : j->native ? check_native(j, &w)
                            : check_interpreted(j, &w);
    j->pass = done && report(&j->s, &w);
}

/* Quotients and roots of floats, as OpenCL has them without an option of the compiler. */
static const math_function quotient = {IR_OP_half_divide, NULL, -100, 100, 2.5, 0, 0,
                                       mpfr_div,          -100, 100};
static const math_function root = {IR_OP_half_sqrt, mpfr_sqrt, 0, 100, 3};

/* OpenCL leaves the errors of native_ functions to the device.  Instructions of GPUs have absolute
 * ones, so any number of units where the result is close to 0: they are printed, and that is all. */
static math_function on_device(const math_function *f, ir_kind k) {
    math_function on = *f;
    if (k != IR_F32) return on;
    if (f->op == IR_OP_fdiv) return quotient;
    if (f->op == IR_OP_sqrt) return root;
    if (strncmp(ir_ops[f->op].name, "native_", 7) == 0) on.f32 = INFINITY;
    return on;
}

static bool check_function(const math_function *f, ir_kind k, unsigned long points, char how,
                           remote *r) {
    bool native = how == 'n';
    job j = {.cx = {.report = print_message},
             .native = native,
             .estimates = how == 'e',
             .remote = how == 'd' ? r : NULL,
             .op = f->op};
    const math_function on = on_device(f, k);
    if (how == 'd') f = &on;
    j.s = (source){.f = f, .k = k, .edges = collect_edges(f, k), .stride = 1, .least = points};
    j.s.all = k == IR_F16 && !takes_two(f) && points >= 16384;
    if (!native && how != 'd') j.s.stride = j.s.edges.n / points + 1;
    bool pass = ir_try(&j.cx, check, &j) && j.pass;
    free(j.s.edges.data);
    return pass;
}

/* What the command line says. */
typedef struct {
    const char *device, *name;
    unsigned shard, shards;
    unsigned long points;
    char how; /* n: native code; i, e, d: as the option */
} choice;

static choice take_arguments(int argc, char **argv) {
    choice c = {.shards = 1, .points = 2000, .how = test_host_level(0) ? 'n' : 'i'};
    for (; argc > 1 && argv[1][0] == '-'; argc--, argv++) {
        char option = argv[1][1];
        if (option != '-') c.how = option;
        if (option != '-' && option != 'd') continue;
        if (argc > 2 && option == 'd') c.device = argv[2];
        if (argc > 2 && option == '-') sscanf(argv[2], "%u/%u", &c.shard, &c.shards);
        argc--, argv++;
    }
    if (argc > 1) c.points = strtoul(argv[1], NULL, 10);
    if (argc > 2) c.name = argv[2];
    return c;
}

int main(int argc, char **argv) {
    static const ir_kind kinds[] = {IR_F32, IR_F64, IR_F16};
    const choice c = take_arguments(argc, argv);
    unsigned passed = 0, failed = 0;
    remote r = {0};
    if (c.device && !open_remote(&r, c.device)) return 1;
    progress p = progress_begin("functions", MATH_FUNCTIONS / c.shards * 3);
    for (unsigned n = c.shard; n < MATH_FUNCTIONS; n += c.shards)
        for (unsigned k = 0; k < 3; k++) {
            const math_function *f = &math_functions[n];
            if (c.name && strcmp(c.name, ir_ops[f->op].name) != 0) continue;
            bool pass = check_function(f, kinds[k], c.points, c.how, &r);
            *(pass ? &passed : &failed) += 1;
            progress_step(&p);
        }
    progress_end(&p);
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
