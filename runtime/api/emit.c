/* emit.c — a module as bytes for another program: IR text, graphs, SPIR-V, native code as an object
 * file or assembly, code of an NVIDIA GPU as PTX or assembled.
 *
 * A target is a name, for native code one of codegen/targets.def, followed by ":" and options with
 * commas between them.
 * Kernels are made together; if that fails, each is tried by itself, and those that cannot be made
 * are left out.
 */
#include "ir/change.h"
#include "runtime/devices/cpu/cpu.h"

#include <stdlib.h>

typedef struct {
    const spvf_module *module;
    const char *target;
    ir_arena *scratch;
    const void *data;
    size_t size;
    spvf_blob *out;
} emit_job;

/* ------------------------------------------------------------------------- kernels of a module */

typedef struct {
    const ir_func *func;
    bool left_out;
} one_kernel;

/* A try to make code, of all kernels that are not left out or of one. */
typedef struct emit_try emit_try;
struct emit_try {
    emit_job *job;
    bool (*make)(emit_try *t, ir_module *m); /* code of a module */
    const void *options;                     /* of make */
    bool keeps_exports;                      /* of functions and variables */
    ir_vec(one_kernel) kernels;
    const one_kernel *only; /* or NULL */
    ir_text said;           /* what is wrong with the kernels */
    bool ok;
    void (*report)(void *user, const ir_message *m); /* the user's */
    void *report_user;
};

static void note_error(void *user, const ir_message *m) {
    emit_try *t = user;
    ir_message placed = *m;
    if (m->fault && !m->file) placed.file = t->job->module->ir->name;
    if (m->severity == IR_ERROR && !m->fault)
        ir_putf(&t->said, "%s%s", t->said.n ? "; " : "", m->text);
    else if (t->report)
        t->report(t->report_user, &placed);
}

static void copy_exports(ir_importer *importer, const ir_module *from) {
    foreach_func (f, from)
        if (f->flags & IR_FUNC_EXPORT && !(f->flags & IR_FUNC_KERNEL) && !ir_is_declaration(f))
            ir_importer_copy(importer, f, f->name);
    foreach_global (g, from)
        if (g->flags & IR_FUNC_EXPORT) ir_importer_global(importer, g);
}

static void make_copies(void *user, ir_module *m) {
    emit_try *t = user;
    const ir_module *from = t->job->module->ir;
    ir_importer importer = {.m = m};
    m->source_language = from->source_language;
    m->source_version = from->source_version;
    foreach_in (const one_kernel, k, t->kernels)
        if (!k->left_out && (!t->only || t->only == k))
            ir_importer_copy(&importer, k->func, k->func->name);
    if (t->keeps_exports && !t->only) copy_exports(&importer, from);
    t->ok = t->make(t, m);
}

static void make_in_new_module(void *user) {
    const ir_module *m = ((emit_try *)user)->job->module->ir;
    rt_in_new_module(m->cx, m, make_copies, user);
}

static void make_in_place(void *user) {
    emit_try *t = user;
    t->ok = t->make(t, t->job->module->ir);
}

/* Reports what is wrong with the kernels as an error of the module, and throws. */
IR_NORETURN static void say_all(emit_try *t, ir_status status) {
    const ir_module *m = t->job->module->ir;
    if (t->said.n)
        ir_report(m->cx, (ir_message){.severity = IR_ERROR, .file = m->name}, "%s", t->said.data);
    ir_throw(m->cx, status);
}

/* Errors are no messages, but text. */
static void try_to_make(emit_try *t, void (*body)(void *user)) {
    ir_ctx *cx = t->job->module->ir->cx;
    t->said = (ir_text){.arena = t->job->scratch};
    ir_put(&t->said, "");
    t->report = cx->report;
    t->report_user = cx->report_user;
    cx->report = note_error;
    cx->report_user = t;
    bool finished = ir_try(cx, body, t);
    cx->report = t->report;
    cx->report_user = t->report_user;
    t->ok &= finished;
    if (!t->ok && cx->status == IR_ERR_MEMORY) ir_throw(cx, cx->status);
    if (!t->ok && cx->status == IR_ERR_INTERNAL) say_all(t, cx->status);
    if (!finished && !t->said.n) ir_put(&t->said, "it is beyond a limit");
}

/* What is said about a kernel may begin with its name. */
static const char *without_name(const emit_try *t, const one_kernel *k) {
    static const char *const kinds[] = {"kernel", "function"};
    for (unsigned n = 0; n < 2; n++) {
        const char *name = ir_sprintf(t->job->scratch, "%s '%s'", kinds[n], k->func->name);
        const char *rest = t->said.data + strlen(name);
        if (strncmp(t->said.data, name, strlen(name)) != 0) continue;
        return *rest == ':' ? rest + 2 : ir_sprintf(t->job->scratch, "it%s", rest);
    }
    return t->said.data;
}

static void leave_out(one_kernel *k, const char *why) {
    const ir_module *m = k->func->module;
    k->left_out = true;
    ir_report(m->cx, (ir_message){.severity = IR_WARNING, .file = m->name},
              "kernel '%s' is left out: %s", k->func->name, why);
}

static void list_kernels(emit_try *t) {
    foreach_func (f, t->job->module->ir)
        if (f->flags & IR_FUNC_KERNEL)
            *ir_push(t->job->scratch, &t->kernels) = (one_kernel){.func = f};
}

static void try_each(emit_try *t) {
    foreach_in (one_kernel, k, t->kernels) {
        if (k->left_out) continue;
        t->only = k;
        try_to_make(t, make_in_new_module);
        if (!t->ok) leave_out(k, without_name(t, k));
    }
    t->only = NULL;
}

static bool is_any_left(const emit_try *t) {
    bool any = false;
    foreach_in (const one_kernel, k, t->kernels) any |= !k->left_out;
    return any;
}

/* A module with kernels has one at the end. */
static void check_kernels(emit_try *t) {
    if (t->kernels.n && !is_any_left(t))
        rt_throw(t->job->module->context, IR_ERR_REFUSED, "no kernel is left");
    if (!t->ok) say_all(t, IR_ERR_REFUSED);
}

/* All kernels that have a body and can be made. */
static void make_kernels(emit_try *t) {
    list_kernels(t);
    foreach_in (one_kernel, k, t->kernels)
        if (ir_is_declaration(k->func))
            leave_out(k, k->func->refusal ? k->func->refusal : "it has no body");
    try_to_make(t, make_in_new_module);
    if (!t->ok) {
        try_each(t);
        try_to_make(t, make_in_new_module);
    }
    check_kernels(t);
}

/* --------------------------------------------------------------------------------------- SPIR-V */

/* The version word of "spirv:1.N", 0 for "spirv"; false for anything else. */
static bool spirv_target(const char *target, unsigned *version) {
    *version = 0;
    if (strcmp(target, "spirv") == 0) return true;
    if (strncmp(target, "spirv:1.", 8) != 0 || target[8] < '0' || target[8] > '4' || target[9])
        return false;
    *version = 0x00010000u + ((unsigned)(target[8] - '0') << 8);
    return true;
}

static bool write_spirv(emit_try *t, ir_module *m) {
    uint32_t *words;
    if (!cg_spirv_write(m, t->options, t->job->scratch, &words, &t->job->size)) return false;
    t->job->data = words;
    t->job->size *= 4;
    return true;
}

/* The writer itself says which kernels without a body it leaves out. */
static void emit_spirv(emit_job *j, const cg_spirv_options *o) {
    emit_try t = {.job = j, .make = write_spirv, .options = o, .keeps_exports = true};
    list_kernels(&t);
    foreach_in (one_kernel, k, t.kernels) k->left_out = ir_is_declaration(k->func);
    try_to_make(&t, make_in_place);
    if (!t.ok && is_any_left(&t)) {
        try_each(&t);
        if (is_any_left(&t)) try_to_make(&t, make_in_new_module);
    }
    check_kernels(&t);
}

/* ---------------------------------------------------------------------------------- native code */

typedef struct {
    rt_native_options native;
    bool text, lines, nativecpu;
    char stop_after[40]; /* "": nowhere */
    char table[128];     /* "": spvf_kernels */
    ir_text *listing;
} native_job;

/* "NAME=VALUE", to at most `size` bytes. */
static bool take_text(const char **s, const char *name, char *to, size_t size) {
    size_t n = strcspn(*s, ","), begin = strlen(name);
    if (strncmp(*s, name, begin) != 0 || n == begin || n - begin >= size) return false;
    snprintf(to, size, "%.*s", (int)(n - begin), *s + begin);
    *s += n;
    if (**s) ++*s;
    return true;
}

static bool take_option(const char **s, native_job *x) {
    if (rt_take_option(s, "text")) return x->text = true;
    if (rt_take_option(s, "lines")) return x->lines = true;
    if (rt_take_option(s, "abi=nativecpu")) return x->nativecpu = true;
    if (rt_take_option(s, "calls")) return x->native.keep_calls = true;
    if (rt_take_option(s, "time")) return x->native.time = true;
    if (take_text(s, "stop=", x->stop_after, sizeof x->stop_after)) return true;
    if (take_text(s, "table=", x->table, sizeof x->table)) return true;
    return rt_take_code_option(s, x->native.machine, &x->native.code);
}

/* "MACHINE[:LEVEL]", then options: text, lines, abi=nativecpu, calls, regalloc=stack, stop=STAGE,
 * table=NAME, time, each after a comma. */
static bool native_target(const char *s, native_job *x) {
    *x = (native_job){0};
    x->native.machine = rt_take_machine(&s, &x->native.code);
    if (!x->native.machine) return false;
    while (*s && take_option(&s, x)) continue;
    return !*s && (!x->nativecpu || x->native.machine->add_nativecpu);
}

/* Devices run objects that say what they were made of, and look for the table by its usual name. */
static void add_tables(const emit_job *j, const native_job *x, cg_object *o) {
    bool for_devices = !x->nativecpu && !x->table[0] && j->module->ir->source;
    const ir_object_origin origin = {IR_LAUNCH_VERSION, x->native.code.level,
                                     j->module->ir->source};
    if (x->nativecpu)
        x->native.machine->add_nativecpu(o, j->scratch);
    else
        cg_add_kernel_table(o, x->table[0] ? x->table : "spvf_kernels", j->scratch);
    if (for_devices) cg_add_origin(o, &origin, j->scratch);
}

static void write_object(emit_job *j, const native_job *x, const cg_object *o) {
    cg_file_options file = {.elf = x->native.machine->elf, .lines = x->lines};
    uint8_t *bytes;
    cg_write_object(o, &file, j->scratch, &bytes, &j->size);
    j->data = bytes;
}

/* Where no assembler reads the listing, it is all that there is. */
static bool is_listing(const native_job *x) {
    return x->stop_after[0] || (x->text && !x->native.machine->listing_begin);
}

static void write_text(emit_job *j, const native_job *x, const cg_object *o) {
    const cg_machine *machine = x->native.machine;
    const cg_assembly code = {.listing = x->listing->data,
                              .begin = machine->listing_begin,
                              .end = machine->listing_end,
                              .file = {.elf = machine->elf, .lines = x->lines}};
    ir_text text = {.arena = j->scratch};
    if (is_listing(x))
        text = *x->listing;
    else
        cg_write_assembly(o, &code, &text);
    j->data = text.data;
    j->size = text.n;
}

static bool compile_native(emit_try *t, ir_module *m) {
    const native_job *x = t->options;
    rt_native_options o = x->native;
    cg_object object; /* the names in it are the module's */
    *x->listing = (ir_text){.arena = t->job->scratch};
    ir_put(x->listing, "");
    if (x->text || x->stop_after[0]) o.code.listing = x->listing;
    o.code.assembly = x->text && !is_listing(x);
    if (x->stop_after[0]) o.code.stop_after = x->stop_after;
    o.code.lines = x->lines;
    bool ok = rt_native_compile(m, NULL, &o, t->job->scratch, &object);
    if (!ok || t->only) return ok;
    if (!is_listing(x)) add_tables(t->job, x, &object);
    if (o.code.listing)
        write_text(t->job, x, &object);
    else
        write_object(t->job, x, &object);
    return true;
}

static void emit_native(emit_job *j, native_job *x) {
    ir_text listing;
    emit_try t = {.job = j, .make = compile_native, .options = x};
    x->listing = &listing;
    if (x->stop_after[0]) rt_check_stage(j->module->context, x->stop_after, false, j->scratch);
    if (x->text && x->nativecpu)
        rt_throw(j->module->context, IR_ERR_ARGUMENT,
                 "'%s': what Native CPU calls is not written as assembly", j->target);
    make_kernels(&t);
}

/* ------------------------------------------------------------------------------------------ PTX */

enum { USUAL_SM = 75 };

static bool take_ptx_option(const char **s, cg_ptx_options *o) {
    uint64_t threads;
    if (rt_take_option(s, "exact")) return o->exact = true;
    if (rt_take_option(s, "offset")) return o->offset = true;
    if (rt_take_option(s, "wide")) return o->wide = true;
    if (rt_take_option(s, "disjoint")) return o->disjoint = true;
    if (rt_take_option(s, "aligned")) return o->aligned = true;
    if (rt_take_option(s, "together")) return o->together = true;
    if (rt_take_option(s, "dependent")) return o->dependent = true;
    if (rt_take_number(s, "threads=", &threads)) {
        o->threads = threads <= CG_PTX_MOST_THREADS ? (unsigned)threads : 0;
        return o->threads;
    }
    if (rt_take_option(s, "coarsen=2")) return (o->coarsen = 2) != 0;
    return rt_take_option(s, "coarsen=4") && (o->coarsen = 4) != 0;
}

/* "ptx[:sm_N]{,exact|,offset|,wide|,disjoint|,aligned|,together|,dependent|,threads=N|,coarsen=2|
 * ,coarsen=4}", or "cubin…" */
static bool ptx_target(const char *s, const char *format, cg_ptx_options *o) {
    uint64_t sm = USUAL_SM;
    *o = (cg_ptx_options){0};
    if (strncmp(s, format, strlen(format)) != 0) return false;
    s += strlen(format);
    if (*s == ',')
        ++s;
    else if (*s && !rt_take_number(&s, ":sm_", &sm))
        return false;
    while (*s && take_ptx_option(&s, o)) continue;
    o->sm = sm <= UINT16_MAX ? (unsigned)sm : 0;
    if (o->dependent && o->sm < CG_PTX_DEPENDENT_SM) return false;
    return !*s && cg_ptx_version_of(o->sm) != 0;
}

static bool write_ptx(emit_try *t, ir_module *m) {
    ir_text text = {.arena = t->job->scratch};
    if (!rt_write_ptx(m, t->options, t->job->scratch, &text)) return false;
    t->job->data = text.data;
    t->job->size = text.n;
    return true;
}

static void emit_ptx(emit_job *j, const cg_ptx_options *o) {
    emit_try t = {.job = j, .make = write_ptx, .options = o};
    make_kernels(&t);
}

/* By NVIDIA's assembler, which makes the same of a text everywhere, otherwise by the driver. */
static rt_bytes assemble(const emit_job *j, rt_bytes text, unsigned sm) {
    spvf_context *cx = j->module->context;
    const char *why_not = "";
    rt_bytes code = rt_assemble_ptx(cx, j->scratch, text, sm);
    if (!code.size) code = rt_assemble_by_driver(cx, j->scratch, text, sm, &why_not);
    if (!code.size)
        rt_throw(cx, IR_ERR_DEVICE,
                 "cubin: there is no ptxas in PATH, in CUDA_HOME or in /usr/local/cuda, and %s",
                 why_not);
    return code;
}

static void emit_cubin(emit_job *j, const cg_ptx_options *o) {
    emit_ptx(j, o);
    rt_bytes code = assemble(j, (rt_bytes){j->data, j->size}, o->sm);
    j->data = code.data;
    j->size = code.size;
}

/* ----------------------------------------------------------------------------------- the choice */

static void emit_module(emit_job *j) {
    cg_spirv_options spirv = {0};
    cg_ptx_options ptx;
    native_job native;
    bool dot = strcmp(j->target, "dot") == 0;
    if (dot || strcmp(j->target, "ir") == 0) {
        ir_text text = {.arena = j->scratch};
        if (dot)
            ir_print_dot(&text, j->module->ir);
        else
            ir_print_module(&text, j->module->ir, 0);
        j->data = text.data;
        j->size = text.n;
    } else if (spirv_target(j->target, &spirv.version)) {
        emit_spirv(j, &spirv);
    } else if (ptx_target(j->target, "ptx", &ptx)) {
        emit_ptx(j, &ptx);
    } else if (ptx_target(j->target, "cubin", &ptx)) {
        emit_cubin(j, &ptx);
    } else if (native_target(j->target, &native)) {
        emit_native(j, &native);
    } else {
        rt_throw(j->module->context, IR_ERR_ARGUMENT,
                 "unknown target '%s': ir, dot, spirv, spirv:1.0 … spirv:1.4, ptx[:sm_N], "
                 "cubin[:sm_N]%s",
                 j->target, rt_list_machines(j->scratch));
    }
}

void rt_copy_out(spvf_context *context, const void *data, size_t size, spvf_blob *out) {
    ir_ctx *cx = &context->cx;
    void *copy = cx->allocate ? cx->allocate(cx->alloc_user, size + 1) : malloc(size + 1);
    if (!copy) ir_throw(cx, IR_ERR_MEMORY);
    if (size) memcpy(copy, data, size);
    ((char *)copy)[size] = 0;
    *out = (spvf_blob){copy, size, context};
}

static void emit_blob(void *arg) {
    emit_job *j = arg;
    emit_module(j);
    rt_copy_out(j->module->context, j->data, j->size, j->out);
}

spvf_status spvf_module_emit(const spvf_module *module, const char *target, spvf_blob *out) {
    if (out) *out = (spvf_blob){0};
    if (!module || !target || !out)
        return rt_refuse_call(module ? module->context : NULL, __func__, "%s is NULL",
                              target ? "out" : "target");
    ir_arena scratch;
    ir_arena_init(&scratch, &module->context->cx);
    emit_job j = {.module = module, .target = target, .scratch = &scratch, .out = out};
    spvf_status status = rt_guard(module->context, emit_blob, &j);
    ir_arena_free(&scratch);
    return status;
}

void spvf_blob_destroy(spvf_blob *blob) {
    if (!blob || !blob->data) return;
    const ir_ctx *cx = &blob->context->cx;
    if (cx->allocate)
        cx->release(cx->alloc_user, blob->data);
    else
        free(blob->data);
    *blob = (spvf_blob){0};
}
