/* widths.c — operands wider than the result: truncated, or refused where high bits count.
 *
 *   widths WORK-FOLDER
 *
 * Compilers lose truncations.  For each row, an instruction, modules are made in which one or both
 * operands are wider than the result, for several pairs of widths, as scalars and in vectors.  What
 * is accepted must leave the same bytes as the module with an OpUConvert for each such operand: as
 * read on devices check and cpu, and after the SPIR-V writer and spirv-val.  The other kernels of
 * the module are refused, each by itself. */
#include "runtime/spvfuse_queue.h"
#include "tests/file.h"
#include "tests/random.h"

#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ------------------------------------------------------------------------------------- the rows */

enum {
    SCALAR = 1, /* only as scalars */
    VECTOR = 2, /* only in vectors */
    WORDS = 4,  /* only with a result of 32 bits */
    ONE = 8,    /* takes $a alone */
    REFUSED = 16
};

/* $T: the result's type, $W: the wider one; $a and $b: operands, $A and $B their types, $E the type
 * of a component of $a; $x and $y: operands that fit, $w: the wide $a; $n: a number of the kernel's
 * own.  The result is %r$n. */
typedef struct {
    const char *text;
    unsigned flags;
} row;

#define PLACE "%m$n = OpInBoundsPtrAccessChain %pT %out$n %id$n\nOpStore %m$n $y\n"
#define ATOMIC(name)                                                                               \
    { PLACE "%o$n = " name " $T %m$n %i1 %i0 $a\n%r$n = OpLoad $T %m$n", SCALAR | WORDS | ONE }
#define PART "%p$n = OpCompositeExtract $E $a 0\n"
#define LESS "%c$n = OpULessThan %bool %id$n %far\n"

static const row rows[] = {
    {"%r$n = OpIAdd $T $a $b", 0},
    {"%r$n = OpISub $T $a $b", 0},
    {"%r$n = OpIMul $T $a $b", 0},
    {"%r$n = OpBitwiseAnd $T $a $b", 0},
    {"%r$n = OpBitwiseOr $T $a $b", 0},
    {"%r$n = OpBitwiseXor $T $a $b", 0},
    {"%r$n = OpNot $T $a", ONE},
    {"%r$n = OpSNegate $T $a", ONE},
    {"%r$n = OpShiftLeftLogical $T $a %few", ONE},
    {"%r$n = OpCopyObject $T $a", ONE},
    {"%r$n = OpBitFieldInsert $T $a $b %i2 %i3", 0},
    {LESS "%r$n = OpSelect $T %c$n $a $b", 0},
    {LESS "OpBranchConditional %c$n %l$n %m$n\n%l$n = OpLabel\nOpBranch %j$n\n"
          "%m$n = OpLabel\nOpBranch %j$n\n%j$n = OpLabel\n%r$n = OpPhi $T $a %l$n $b %m$n",
     0},
    {"%r$n = OpFunctionCall $T %sum $a $b", 0},
    {"%r$n = OpFunctionCall $T %cut $w", ONE},
    {"%s$n = OpCompositeConstruct %pair $a $b\n%r$n = OpCompositeExtract $T %s$n 1", 0},
    {"%s$n = OpCompositeConstruct %pair $x $y\n%t$n = OpCompositeInsert %pair $a %s$n 0\n"
     "%r$n = OpCompositeExtract $T %t$n 0",
     ONE},
    {"%r$n = OpVectorShuffle $T $a $b 0 5 2 7", VECTOR},
    {PART "%r$n = OpCompositeConstruct $T %p$n %p$n %p$n %p$n", VECTOR | ONE},
    {PART "%r$n = OpCompositeInsert $T %p$n $y 2", VECTOR | ONE},
    {PART "%r$n = OpVectorInsertDynamic $T $y %p$n %i2", VECTOR | ONE},
    {"%r$n = OpExtInst $T %std bitselect $a $b $x", 0},
    {"%r$n = OpExtInst $T %std u_mul24 $a $b", WORDS},
    {"%r$n = OpExtInst $T %std s_mad24 $a $b $x", WORDS},
    {"%r$n = OpGroupIAdd $T %i2 Reduce $a", SCALAR | WORDS | ONE},
    ATOMIC("OpAtomicIAdd"),
    ATOMIC("OpAtomicISub"),
    ATOMIC("OpAtomicAnd"),
    ATOMIC("OpAtomicOr"),
    ATOMIC("OpAtomicXor"),
    ATOMIC("OpAtomicExchange"),
    {"%r$n = OpUDiv $T $a $b", REFUSED},
    {"%r$n = OpSDiv $T $a $b", REFUSED},
    {"%r$n = OpUMod $T $a $b", REFUSED},
    {"%r$n = OpSRem $T $a $b", REFUSED},
    {"%r$n = OpSMod $T $a $b", REFUSED},
    {"%r$n = OpShiftRightLogical $T $a %few", REFUSED | ONE},
    {"%r$n = OpShiftRightArithmetic $T $a %few", REFUSED | ONE},
    {"%r$n = OpBitReverse $T $a", REFUSED | ONE},
    {"%r$n = OpBitFieldUExtract $T $a %i2 %i3", REFUSED | ONE},
    {"%r$n = OpBitFieldSExtract $T $a %i2 %i3", REFUSED | ONE},
    {"%c$n = OpIEqual %bool $a $y\n%r$n = OpSelect $T %c$n $x $y", REFUSED | ONE | SCALAR},
    {"%c$n = OpULessThan %bool $a $y\n%r$n = OpSelect $T %c$n $x $y", REFUSED | ONE | SCALAR},
    {"%c$n = OpSGreaterThan %bool $a $y\n%r$n = OpSelect $T %c$n $x $y", REFUSED | ONE | SCALAR},
    {"%s$n = OpIAddCarry %pair $a $b\n%r$n = OpCompositeExtract $T %s$n 0", REFUSED},
    {"%s$n = OpUMulExtended %pair $a $b\n%r$n = OpCompositeExtract $T %s$n 0", REFUSED},
    {"%r$n = OpExtInst $T %std s_max $a $b", REFUSED},
    {"%r$n = OpExtInst $T %std u_min $a $b", REFUSED},
    {"%r$n = OpExtInst $T %std s_abs $a", REFUSED | ONE},
    {"%r$n = OpExtInst $T %std clz $a", REFUSED | ONE},
    {"%r$n = OpExtInst $T %std rotate $a $y", REFUSED | ONE},
    {"%r$n = OpExtInst $T %std s_mul_hi $a $b", REFUSED},
    {"%r$n = OpExtInst $T %std u_hadd $a $b", REFUSED},
    {"%r$n = OpExtInst $T %std s_add_sat $a $b", REFUSED},
    {PLACE "%r$n = OpAtomicUMax $T %m$n %i1 %i0 $a", REFUSED | SCALAR | WORDS | ONE},
    {"%q$n = OpIAdd $W $x $y\n%r$n = OpCopyObject $T $x", REFUSED | ONE},
    {"%q$n = OpBitwiseOr $W $w $y\n%r$n = OpCopyObject $T $x", REFUSED | ONE},
    {"%q$n = OpShiftLeftLogical $W $x $y\n%r$n = OpCopyObject $T $x", REFUSED | ONE},
    {"%q$n = OpNot $W $x\n%r$n = OpCopyObject $T $x", REFUSED | ONE},
    {"%q$n = OpCopyObject $W $x\n%r$n = OpCopyObject $T $x", REFUSED | ONE},
    {LESS "%q$n = OpSelect $W %c$n $w $y\n%r$n = OpCopyObject $T $x", REFUSED | ONE},
};
enum { ROWS = sizeof rows / sizeof *rows, MASKS = 3 };

/* ----------------------------------------------------------------------------------- the module */

enum { ITEMS = 8, LANES = 4, ROOM = 1 << 20 };

typedef struct {
    unsigned narrow, wide, lanes;
    bool exact; /* with the truncations that are lost otherwise */
    char *text;
    size_t size;
} module_text;

__attribute__((format(printf, 2, 3))) static void put(module_text *t, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(t->text + t->size, ROOM - t->size, fmt, ap);
    va_end(ap);
    t->size += (size_t)n;
    if (t->size >= ROOM) abort();
}

static bool fits(const module_text *t, const row *r, unsigned mask) {
    if ((r->flags & SCALAR && t->lanes > 1) || (r->flags & VECTOR && t->lanes == 1)) return false;
    if (r->flags & WORDS && t->narrow != 32) return false;
    if (r->flags & REFUSED && t->exact) return false;
    return mask == 1 || !(r->flags & ONE);
}

static void put_mark(module_text *t, char mark, unsigned mask, unsigned n) {
    bool wide_a = mask & 1 && !t->exact, wide_b = mask & 2 && !t->exact;
    switch (mark) {
    case 'T': put(t, "%%T"); break;
    case 'W': put(t, "%%W"); break;
    case 'A': put(t, wide_a ? "%%W" : "%%T"); break;
    case 'B': put(t, wide_b ? "%%W" : "%%T"); break;
    case 'E': put(t, "%%u%u", wide_a ? t->wide : t->narrow); break;
    case 'a': put(t, "%%%c%u", wide_a ? 'v' : 'x', n); break;
    case 'b': put(t, "%%%c%u", wide_b ? 'w' : 'y', n); break;
    case 'w': put(t, "%%v%u", n); break;
    case 'n': put(t, "%u", n); break;
    default: put(t, "%%%c%u", mark, n);
    }
}

static void put_row(module_text *t, const row *r, unsigned mask, unsigned n) {
    for (const char *s = r->text; *s; s++) {
        if (*s == '$')
            put_mark(t, *++s, mask, n);
        else
            put(t, "%c", *s);
    }
    put(t, "\n");
}

/* %NAME: the input %from, as the wider type; equal types are copied. */
static void put_wide(module_text *t, char name, const char *from, unsigned n) {
    put(t, "%%%c%u = %s %%W %%%s%u\n", name, n, t->wide == 64 ? "OpCopyObject" : "OpUConvert", from,
        n);
}

/* Kernel n: the items read two neighbours of `in`, and write one result. */
static void put_kernel(module_text *t, const row *r, unsigned mask, unsigned n) {
    put(t, "%%k%u = OpFunction %%void None %%fn\n%%in%u = OpFunctionParameter %%pL\n", n, n);
    put(t, "%%out%u = OpFunctionParameter %%pT\n%%e%u = OpLabel\n", n, n);
    put(t, "%%g%u = OpLoad %%vec %%gid\n%%id%u = OpCompositeExtract %%u64 %%g%u 0\n", n, n, n);
    put(t, "%%pa%u = OpInBoundsPtrAccessChain %%pL %%in%u %%id%u\n", n, n, n);
    put(t, "%%pb%u = OpInBoundsPtrAccessChain %%pL %%pa%u %%i1\n", n, n);
    put(t, "%%la%u = OpLoad %%L %%pa%u\n%%lb%u = OpLoad %%L %%pb%u\n", n, n, n, n);
    put_wide(t, 'v', "la", n);
    put_wide(t, 'w', "lb", n);
    put(t, "%%x%u = OpUConvert %%T %%la%u\n%%y%u = OpUConvert %%T %%lb%u\n", n, n, n, n);
    put_row(t, r, mask, n);
    put(t, "%%pr%u = OpInBoundsPtrAccessChain %%pT %%out%u %%id%u\n", n, n, n);
    put(t, "OpStore %%pr%u %%r%u\nOpReturn\nOpFunctionEnd\n", n, n);
}

static void put_type(module_text *t, const char *name, unsigned bits) {
    if (t->lanes == 1)
        put(t, "%%%s = OpTypeInt %u 0\n", name, bits);
    else
        put(t, "%%%s = OpTypeVector %%u%u %u\n", name, bits, t->lanes);
}

static void put_types(module_text *t) {
    put(t, "%%void = OpTypeVoid\n%%bool = OpTypeBool\n");
    for (unsigned bits = 8; bits <= 64; bits *= 2) put(t, "%%u%u = OpTypeInt %u 0\n", bits, bits);
    put(t, "%%vec = OpTypeVector %%u64 3\n%%pgid = OpTypePointer Input %%vec\n");
    put_type(t, "T", t->narrow);
    put_type(t, "W", t->wide);
    put_type(t, "L", 64);
    put(t, "%%pL = OpTypePointer CrossWorkgroup %%L\n%%pT = OpTypePointer CrossWorkgroup %%T\n");
    put(t, "%%pair = OpTypeStruct %%T %%T\n%%fn = OpTypeFunction %%void %%pL %%pT\n");
    put(t, "%%f2 = OpTypeFunction %%T %%T %%T\n%%f1 = OpTypeFunction %%T %%W\n");
    for (unsigned k = 0; k < 4; k++) put(t, "%%i%u = OpConstant %%u32 %u\n", k, k);
    put(t, "%%far = OpConstant %%u64 %u\n%%three = OpConstant %%u%u 3\n", ITEMS / 2, t->narrow);
    if (t->lanes == 1)
        put(t, "%%few = OpConstant %%T 3\n");
    else
        put(t, "%%few = OpConstantComposite %%T %%three %%three %%three %%three\n");
    put(t, "%%gid = OpVariable %%pgid Input\n");
}

static void put_helpers(module_text *t) {
    put(t, "%%sum = OpFunction %%T None %%f2\n%%sa = OpFunctionParameter %%T\n");
    put(t, "%%sb = OpFunctionParameter %%T\n%%se = OpLabel\n%%sr = OpIAdd %%T %%sa %%sb\n");
    put(t, "OpReturnValue %%sr\nOpFunctionEnd\n%%cut = OpFunction %%T None %%f1\n");
    put(t, "%%ca = OpFunctionParameter %%W\n%%ce = OpLabel\n%%cr = OpUConvert %%T %%ca\n");
    put(t, "OpReturnValue %s\nOpFunctionEnd\n", t->exact ? "%cr" : "%ca");
}

static void put_module(module_text *t) {
    t->size = 0;
    put(t, "OpCapability Kernel\nOpCapability Addresses\nOpCapability Int64\nOpCapability Int16\n"
           "OpCapability Int8\nOpCapability Groups\n%%std = OpExtInstImport \"OpenCL.std\"\n"
           "OpMemoryModel Physical64 OpenCL\n");
    for (unsigned n = 0; n < ROWS * MASKS; n++)
        if (fits(t, &rows[n / MASKS], n % MASKS + 1))
            put(t, "OpEntryPoint Kernel %%k%u \"k%u\" %%gid\n", n, n);
    put(t, "OpDecorate %%gid BuiltIn GlobalInvocationId\n");
    put_types(t);
    put_helpers(t);
    for (unsigned n = 0; n < ROWS * MASKS; n++)
        if (fits(t, &rows[n / MASKS], n % MASKS + 1))
            put_kernel(t, &rows[n / MASKS], n % MASKS + 1, n);
}

/* -------------------------------------------------------------------------------------- reading */

static const char *work;
static int passed, failed;
static char said[4096];

static void keep(void *user, const spvf_message *m) {
    (void)user;
    if (m->severity == SPVF_ERROR) snprintf(said, sizeof said, "%s", m->formatted);
}

static void fail(const module_text *t, unsigned n, const char *what) {
    printf("%s, with operands of %u bits for a result of %u x %u (operands %u): %s: %s\n",
           rows[n / MASKS].text, t->wide, t->lanes, t->narrow, n % MASKS + 1, what, said);
    failed++;
}

static bool run_tool(char **argv) {
    pid_t child;
    int status = 1;
    if (posix_spawnp(&child, argv[0], NULL, NULL, argv, environ) == 0) waitpid(child, &status, 0);
    return status == 0;
}

static void write_bytes(const char *name, const void *bytes, size_t size) {
    FILE *f = fopen(name, "wb");
    if (!f || fwrite(bytes, 1, size, f) != size || fclose(f)) abort();
}

static spvf_module *assemble(spvf_context *c, const module_text *t) {
    char in[512], out[512];
    size_t size;
    spvf_module *m = NULL;
    snprintf(in, sizeof in, "%s/%ld.spvasm", work, (long)getpid());
    snprintf(out, sizeof out, "%s/%ld.spv", work, (long)getpid());
    write_bytes(in, t->text, t->size);
    char *argv[] = {"spirv-as", "--target-env", "spv1.4", in, "-o", out, NULL};
    char *bytes = run_tool(argv) ? read_file(out, &size) : NULL;
    if (!bytes || spvf_module_load(c, "widths.spv", bytes, size, NULL, &m) != SPVF_OK) {
        printf("the module with %u bits for %u is not read: %s\n", t->wide, t->narrow, said);
        failed++;
    }
    free(bytes);
    unlink(in);
    unlink(out);
    return m;
}

/* What the writer makes of m, read again. */
static spvf_module *rewrite(spvf_context *c, const spvf_module *m) {
    char name[512];
    spvf_blob blob = {0};
    spvf_module *again = NULL;
    snprintf(name, sizeof name, "%s/%ld.out.spv", work, (long)getpid());
    if (spvf_module_emit(m, "spirv:1.4", &blob) != SPVF_OK) return NULL;
    write_bytes(name, blob.data, blob.size);
    char *argv[] = {"spirv-val", "--target-env", "spv1.4", name, NULL};
    if (run_tool(argv)) spvf_module_load(c, name, blob.data, blob.size, NULL, &again);
    spvf_blob_destroy(&blob);
    unlink(name);
    return again;
}

/* -------------------------------------------------------------------------------------- running */

static uint64_t input[(ITEMS + 1) * LANES];

typedef struct {
    spvf_device *device;
    spvf_queue *queue;
    spvf_buffer *in, *out;
    spvf_program *program;
    bool ok;
} bench;

static bench open_bench(spvf_context *c, const char *device, const spvf_module *m) {
    bench b = {0};
    b.ok = m && spvf_device_open(c, device, &b.device) == SPVF_OK &&
           spvf_queue_create(b.device, NULL, &b.queue) == SPVF_OK &&
           spvf_buffer_create(b.device, sizeof input, input, 0, &b.in) == SPVF_OK &&
           spvf_buffer_create(b.device, sizeof input, input, 0, &b.out) == SPVF_OK &&
           spvf_program_create(b.device, m, &b.program) == SPVF_OK;
    return b;
}

static void close_bench(bench *b) {
    spvf_program_destroy(b->program);
    spvf_buffer_destroy(b->out);
    spvf_buffer_destroy(b->in);
    spvf_queue_destroy(b->queue);
    spvf_device_destroy(b->device);
}

static bool run(bench *b, unsigned n, unsigned char *result) {
    char kernel[16];
    snprintf(kernel, sizeof kernel, "k%u", n);
    const spvf_argument args[] = {{.buffer = b->in}, {.buffer = b->out}};
    const spvf_launch what = {.size = sizeof what,
                              .program = b->program,
                              .kernel = kernel,
                              .range = {.dims = 1, .global = {ITEMS}, .local = {ITEMS}},
                              .args = args,
                              .arg_count = 2};
    spvf_event *e = NULL;
    bool ok = b->ok && spvf_queue_launch(b->queue, &what, NULL, NULL) == SPVF_OK &&
              spvf_queue_read(b->queue, b->out, 0, result, sizeof input, NULL, &e) == SPVF_OK &&
              spvf_event_wait(e) == SPVF_OK;
    spvf_event_destroy(e);
    return ok;
}

typedef struct {
    spvf_module *exact, *lost, *again;
    bench want, check, cpu, written;
} modules;

static void compare(const module_text *t, modules *m, unsigned n) {
    static const char *const names[] = {"device check", "device cpu", "the module written"};
    bench *all[] = {&m->check, &m->cpu, &m->written};
    unsigned char want[sizeof input], have[sizeof input];
    if (!run(&m->want, n, want)) fail(t, n, "the explicit truncation does not run");
    for (int k = 0; k < 3; k++) {
        bool same = run(all[k], n, have) && !memcmp(want, have, ITEMS * t->lanes * t->narrow / 8);
        if (!same) fail(t, n, names[k]);
        passed += same;
    }
}

static void check_kernel(const module_text *t, modules *m, unsigned n) {
    char name[16];
    snprintf(name, sizeof name, "k%u", n);
    const spvf_kernel_info *k = spvf_module_find_kernel(m->lost, name);
    bool refused = rows[n / MASKS].flags & REFUSED;
    if (!k || refused != (k->refusal != NULL))
        fail(t, n, k && k->refusal ? k->refusal : "not refused");
    else if (refused)
        passed++;
    else
        compare(t, m, n);
}

static void check_widths(spvf_context *c, module_text *t) {
    modules m = {0};
    t->exact = true;
    put_module(t);
    m.exact = assemble(c, t);
    t->exact = false;
    put_module(t);
    m.lost = assemble(c, t);
    if (!m.exact || !m.lost) return;
    m.again = rewrite(c, m.lost);
    m.want = open_bench(c, "check", m.exact);
    m.check = open_bench(c, "check", m.lost);
    m.cpu = open_bench(c, "cpu", m.lost);
    m.written = open_bench(c, "cpu", m.again);
    for (unsigned n = 0; n < ROWS * MASKS; n++)
        if (fits(t, &rows[n / MASKS], n % MASKS + 1)) check_kernel(t, &m, n);
    close_bench(&m.want), close_bench(&m.check), close_bench(&m.cpu), close_bench(&m.written);
    spvf_module_destroy(m.exact);
    spvf_module_destroy(m.lost);
    spvf_module_destroy(m.again);
}

int main(int argc, char **argv) {
    static const unsigned pairs[][2] = {{8, 16}, {8, 64}, {16, 32}, {32, 64}};
    spvf_context_options o = {.size = sizeof o, .message = keep};
    spvf_context *c;
    uint64_t state = 5;
    if (argc != 2 || spvf_context_create(&o, &c) != SPVF_OK) {
        fprintf(stderr, "usage: widths WORK-FOLDER\n");
        return 2;
    }
    work = argv[1];
    mkdir(work, 0777);
    for (size_t k = 0; k < sizeof input / sizeof *input; k++) input[k] = splitmix64(&state);
    module_text t = {.text = malloc(ROOM)};
    for (size_t k = 0; k < 2 * sizeof pairs / sizeof *pairs; k++) {
        t.narrow = pairs[k / 2][0];
        t.wide = pairs[k / 2][1];
        t.lanes = k % 2 ? LANES : 1;
        check_widths(c, &t);
    }
    free(t.text);
    spvf_context_destroy(c);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0 || passed == 0;
}
