/* mathpack.c — host tool: the library of math functions as an array of C.
 *     mathpack OUT.inc FILE.ir…          writes OUT.inc.d too
 *
 * Two sources.  Functions of ours are text in codegen/math, by name: "@sin.f32".  A line that
 * begins with ";; each" makes a file several, one for each alternative, in which $NAME stands for a
 * text:
 *     ;; each F=f32 I=i32 | F=f64 I=i64
 * Functions without a dot in their names are parts of others; a file imports what another exports.
 * All other functions of OpenCL.std are those of libclc (https://libclc.llvm.org), as SPIR-V, found
 * in $LIBCLC or where Debian has it.  They are C compiled for any target, with tables and branches.
 *
 * Each function takes in all that it calls and is optimized; what the library then needs is written
 * with ir_pack_write.
 */
#include "frontend/frontend.h"
#include "ir/change.h"
#include "ir/pack.h"
#include "passes/passes.h"

#include <stdlib.h>

enum { MAX_FILE = 16 << 20 };

typedef struct {
    ir_ctx cx;
    int argc;
    char **argv;
    ir_vec(ir_module *) parts; /* our files, as modules; those with ";; each" are several */
    ir_module *library, *libclc;
    const char *libclc_path;
    bool failed;
} tool;

static void show(void *user, const ir_message *m) {
    char text[1024];
    (void)user;
    ir_format_message(m, text, sizeof text);
    if (m->severity == IR_ERROR) fprintf(stderr, "%s\n", text);
}

static char *read_file(tool *t, const char *path, size_t *n) {
    FILE *f = path ? fopen(path, "rb") : NULL;
    if (!f) return NULL;
    char *data = ir_alloc(&t->library->arena, MAX_FILE);
    *n = fread(data, 1, MAX_FILE - 1, f);
    fclose(f);
    return data;
}

static bool fail(tool *t, const char *what, const char *name) {
    fprintf(stderr, "mathpack: %s %s\n", what, name);
    t->failed = true;
    return false;
}

/* -------------------------------------------------------------------------------- our functions */

/* The value of NAME in "A=x B=y", up to a blank; NULL: it has none. */
static const char *value_of(const char *names, size_t length, const char *name, size_t n) {
    for (size_t k = 0; k + n < length; k++) {
        bool begins = k == 0 || names[k - 1] == ' ';
        if (begins && !strncmp(names + k, name, n) && names[k + n] == '=') return names + k + n + 1;
    }
    return NULL;
}

/* The text with every $NAME replaced. */
static const char *substitute(tool *t, const char *text, const char *names, size_t length) {
    ir_text out = {.arena = &t->library->arena};
    for (const char *s = text; *s;) {
        size_t plain = strcspn(s, "$");
        ir_putn(&out, s, plain);
        s += plain;
        if (!*s) break;
        size_t n = strspn(++s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
        const char *value = value_of(names, length, s, n);
        if (value)
            ir_putn(&out, value, strcspn(value, " \n|"));
        else
            fail(t, "nothing is said about", ir_strndup(out.arena, s, n));
        s += n;
    }
    return out.data;
}

static void import_text(tool *t, const char *path, const char *text) {
    ir_module *m = ir_parse(&t->cx, path, text, strlen(text));
    if (!m || !ir_verify_module(m)) {
        fail(t, "cannot read", path);
        return;
    }
    *ir_push(&t->library->arena, &t->parts) = m;
}

static void import_file(tool *t, const char *path) {
    static const char each[] = ";; each ";
    size_t n;
    const char *text = read_file(t, path, &n);
    if (!text) {
        fail(t, "cannot open", path);
        return;
    }
    const char *line = strstr(text, each);
    if (!line) {
        import_text(t, path, text);
        return;
    }
    for (line += sizeof each - 1; *line != '\n';) {
        size_t length = strcspn(line, "|\n");
        import_text(t, path, substitute(t, text, line, length));
        line += length;
        while (*line == '|' || *line == ' ') line++;
    }
}

/* Functions of one file may call those that another exports. */
static void link_parts(tool *t) {
    if (!ir_link(t->library, t->parts.data, t->parts.n, true)) fail(t, "cannot link", "our files");
    for (uint32_t k = 0; k < t->parts.n; k++) ir_module_free(t->parts.data[k]);
}

/* --------------------------------------------------------------------------------------- libclc */

/* libclc calls functions to ask whether denormals are kept; targets replace them. */
static void keep_denormals(tool *t) {
    static const char *const questions[] = {"__clc_fp16_subnormals_supported",
                                            "__clc_fp32_subnormals_supported",
                                            "__clc_fp64_subnormals_supported"};
    for (unsigned k = 0; k < sizeof questions / sizeof *questions; k++) {
        ir_func *f = ir_func_find(t->libclc, questions[k]);
        ir_inst *ret = f && !ir_is_declaration(f) ? ir_term(f->first) : NULL;
        if (ret && ret->op == IR_OP_ret && ret->nargs) ir_set_arg(ret, 0, ir_const(f, IR_I1, 1));
    }
}

/* Tables of libclc are read at places that NaN and infinity make, and the result is not used: the
 * places are brought into the table. */
static void guard_load(ir_inst *load) {
    ir_module *m = load->block->func->module;
    ir_inst *base = ir_arg(load, 0), *offset;
    ir_builder b;
    ir_builder_init(&b, load->block->func);
    ir_before(&b, load);
    offset = ir_const(b.f, ir_size_type(m), 0);
    for (; base->op == IR_OP_ptradd; base = ir_arg(base, 0))
        offset = ir_build2(&b, IR_OP_add, offset->type, offset, ir_arg(base, 1));
    if (base->op != IR_OP_address || ir_is_const(offset)) return;
    uint64_t last = ir_sizeof(m, base->imm.global->type) - ir_access_size(m, load->type);
    last &= ~(uint64_t)0 << load->imm.mem.align;
    offset = ir_build2(&b, IR_OP_umin, offset->type, offset, ir_const(b.f, offset->type, last));
    ir_set_arg(load, 0, ir_build_ptradd(&b, base, offset, true));
}

static void guard_tables(ir_module *m) {
    foreach_func (f, m)
        foreach_block (b, f)
            foreach_inst (i, b)
                if (i->op == IR_OP_load) guard_load(i);
}

static void read_libclc(tool *t) {
    static const char *const places[] = {"/usr/lib/clc/spirv64-mesa3d-.spv",
                                         "/usr/share/clc/spirv64-mesa3d-.spv",
                                         "/usr/lib64/clc/spirv64-mesa3d-.spv"};
    size_t size;
    const char *path = getenv("LIBCLC"), *data = read_file(t, path, &size);
    for (unsigned k = 0; !data && k < sizeof places / sizeof *places; k++)
        data = read_file(t, path = places[k], &size);
    if (data) t->libclc = spv_read(&t->cx, data, size, &(spv_read_options){.file = path});
    if (!t->libclc) fail(t, "cannot read libclc: set LIBCLC to", "spirv64-mesa3d-.spv");
    if (!t->libclc) return;
    t->libclc_path = path;
    keep_denormals(t);
    guard_tables(t->libclc);
}

/* The name that C++ gives to the function: "_Z4pownfi". */
static const ir_func *find_mangled(tool *t, ir_op op, ir_kind kind) {
    const ir_op_info *info = &ir_ops[op];
    char name[64], letter = kind == IR_F64 ? 'd' : 'f';
    bool with_int = info->rule == R_FLT_INT;
    snprintf(name, sizeof name, "_Z%zu%s%c%.*s", strlen(info->name), info->name, letter,
             info->nargs - 1, with_int ? "i" : (char[]){letter, 0});
    const ir_func *f = ir_func_find(t->libclc, name);
    return f && !ir_is_declaration(f) ? f : NULL;
}

/* half_ and native_ functions are the precise ones where we have none, and what pass expand writes
 * otherwise is no function. */
static bool is_wanted(ir_op op) {
    const char *name = ir_ops[op].name;
    bool function = (ir_ops[op].flags & F_NOFOLD) && (ir_ops[op].flags & F_LANEWISE);
    if (op == IR_OP_rsqrt || !function) return false;
    return strncmp(name, "half_", 5) != 0 && strncmp(name, "native_", 7) != 0;
}

/* libclc loses the sign of zero here and there. */
static bool keeps_zero(ir_op op) {
    switch (op) {
    case IR_OP_asin:
    case IR_OP_asinh:
    case IR_OP_asinpi:
    case IR_OP_atan:
    case IR_OP_atanh:
    case IR_OP_atanpi:
    case IR_OP_cbrt:
    case IR_OP_erf:
    case IR_OP_expm1:
    case IR_OP_log1p:
    case IR_OP_sin:
    case IR_OP_sinh:
    case IR_OP_sinpi:
    case IR_OP_tan:
    case IR_OP_tanh:
    case IR_OP_tanpi: return true;
    default: return false;
    }
}

static void keep_zero(ir_func *f) {
    ir_inst *x = f->param_val[0];
    ir_builder b;
    ir_builder_init(&b, f);
    foreach_block (block, f) {
        ir_inst *ret = ir_term(block);
        if (ret->op != IR_OP_ret) continue;
        ir_before(&b, ret);
        ir_inst *zero = ir_build2(&b, IR_OP_foeq, IR_I1, x, ir_const(f, x->type, 0));
        ir_set_arg(ret, 0, ir_build_select(&b, zero, x, ir_arg(ret, 0)));
    }
}

/* lgamma_r, whose second result is not used. */
static ir_func *import_lgamma(tool *t, ir_importer *im, const char *name, ir_kind kind) {
    const char *mangled = kind == IR_F64 ? "_Z8lgamma_rdPi" : "_Z8lgamma_rfPi";
    const ir_func *f = ir_func_find(t->libclc, mangled);
    if (!f || ir_is_declaration(f)) return NULL;
    ir_func *both = ir_importer_copy(im, f, mangled), *copy;
    copy = ir_func_new(t->library, name, kind, 1, &(ir_type){kind});
    ir_builder b;
    ir_builder_init(&b, copy);
    ir_at_end(&b, ir_block_new(copy, NULL));
    ir_inst *sign = ir_build_alloca(&b, IR_I32, 4);
    ir_build_ret(&b, ir_build_call(&b, both, 2, (ir_inst *[]){copy->param_val[0], sign}));
    return copy;
}

static void import_missing(tool *t, ir_importer *im, ir_op op, ir_kind kind) {
    char name[64];
    snprintf(name, sizeof name, "%s.%s", ir_ops[op].name, kind == IR_F64 ? "f64" : "f32");
    if (ir_func_find(t->library, name)) return;
    const ir_func *f = find_mangled(t, op, kind);
    ir_func *copy = op == IR_OP_lgamma ? import_lgamma(t, im, name, kind)
                    : f                ? ir_importer_copy(im, f, name)
                                       : NULL;
    if (copy && keeps_zero(op)) keep_zero(copy);
    if (!copy) fail(t, "neither codegen/math nor libclc has", name);
}

/* ---------------------------------------------------------------------------------- the library */

static bool is_public(const ir_func *f) { return strchr(f->name, '.') && f->name[0] != '_'; }

static bool run(tool *t, const char *list) {
    pass_options options = {.passes = list, .bisect = -1};
    return pass_run(t->library, &options) || fail(t, "cannot run", list);
}

/* As kernels, functions take in all that they call, and others are dropped. */
static void flatten(tool *t) {
    foreach_func (f, t->library)
        f->flags = is_public(f) ? IR_FUNC_KERNEL : f->flags & ~(uint32_t)IR_FUNC_KERNEL;
    run(t, "inline");
    foreach_func (f, t->library) f->flags = IR_FUNC_EXPORT;
    run(t, pass_standard + strlen("inline,"));
    run(t, "simplify,gvn,dce,simplifycfg");
}

static void write_array(tool *t, const char *path) {
    ir_text bytes = {.arena = &t->library->arena};
    FILE *out = fopen(path, "w");
    if (!out || !ir_pack_write(t->library, &bytes)) {
        fail(t, "cannot write", path);
        return;
    }
    for (size_t k = 0; k < bytes.n; k++)
        fprintf(out, k % 24 == 23 ? "%u,\n" : "%u,", (unsigned char)bytes.data[k]);
    fputc('\n', out);
    if (fclose(out)) fail(t, "cannot write", path);
}

/* For ninja: OUT.d names what was read besides the arguments. */
static void write_dependencies(tool *t, const char *path) {
    const char *name = ir_sprintf(&t->library->arena, "%s.d", path);
    FILE *out = fopen(name, "w");
    bool ok = out && fprintf(out, "%s: %s\n", path, t->libclc_path) > 0;
    if ((out && fclose(out)) || !ok) fail(t, "cannot write", name);
}

static void build(void *arg) {
    tool *t = arg;
    t->library = ir_module_new(&t->cx, "math", 64);
    for (int k = 2; k < t->argc; k++) import_file(t, t->argv[k]);
    if (!t->failed) link_parts(t);
    read_libclc(t);
    if (t->failed) return;
    ir_importer im = {.m = t->library};
    for (ir_op op = 0; op < IR_OP_COUNT; op++)
        for (ir_kind kind = IR_F32; kind <= IR_F64 && is_wanted(op); kind++)
            import_missing(t, &im, op, kind);
    if (!t->failed) flatten(t);
    if (!t->failed) write_array(t, t->argv[1]);
    if (!t->failed) write_dependencies(t, t->argv[1]);
}

int main(int argc, char **argv) {
    tool t = {.cx = {.report = show}, .argc = argc, .argv = argv};
    if (argc < 2) {
        fprintf(stderr, "usage: mathpack OUT.inc FILE.ir...\n");
        return 2;
    }
    bool done = ir_try(&t.cx, build, &t) && !t.failed;
    if (!done) remove(argv[1]);
    return !done;
}
