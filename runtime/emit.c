/* emit.c — a module as bytes for another program: IR text, SPIR-V, an object file or assembly for
 * x86-64.
 *
 * A target is a name, for x86-64 followed by ":v2" to ":v4" and by options, each after a comma.
 * Kernels are compiled together for x86-64; if that fails, each is tried by itself, and those that
 * cannot be made are left out.
 */
#include "ir/change.h"
#include "runtime/devices/cpu.h"

#include <stdlib.h>

typedef struct {
    const spvf_module *module;
    const char *target;
    ir_arena *scratch;
    const void *data;
    size_t size;
} emit_job;

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

static void emit_spirv(emit_job *j, const cg_spirv_options *o) {
    spvf_context *context = j->module->context;
    uint32_t *words;
    if (!cg_spirv_write(j->module->ir, o, j->scratch, &words, &j->size))
        ir_throw(&context->cx, context->cx.status);
    j->data = words;
    j->size *= 4;
}

/* --------------------------------------------------------------------------------------- x86-64 */

typedef struct {
    rt_native_options native;
    bool text, lines, nativecpu;
} x86_job;

static bool take_option(const char **s, x86_job *x) {
    if (rt_take_option(s, "text")) return x->text = true;
    if (rt_take_option(s, "lines")) return x->lines = true;
    if (rt_take_option(s, "abi=nativecpu")) return x->nativecpu = true;
    if (rt_take_option(s, "calls")) return x->native.keep_calls = true;
    if (rt_take_option(s, "time")) return x->native.time = true;
    return rt_take_code_option(s, &x->native.code);
}

/* "x86_64[:v2|:v3|:v4]{,text|,lines|,abi=nativecpu|,calls|,regalloc=stack|,time}" */
static bool x86_target(const char *s, x86_job *x) {
    *x = (x86_job){.native.code.level = CG_X86_64_V3};
    if (strncmp(s, "x86_64", 6) != 0) return false;
    s += 6;
    if (*s && ((*s != ':' && *s != ',') || !*++s)) return false;
    while (*s && take_option(&s, x)) continue;
    return !*s;
}

static void write_object(emit_job *j, const x86_job *x, cg_object *o) {
    cg_file_options file = {.machine = &cg_x86_64_machine, .lines = x->lines};
    uint8_t *bytes;
    if (x->nativecpu)
        cg_x86_64_add_nativecpu(o, j->scratch);
    else
        cg_add_kernel_table(o, "spvf_kernels", j->scratch);
    cg_write_object(o, &file, j->scratch, &bytes, &j->size);
    j->data = bytes;
}

typedef struct {
    const ir_func *func;
    bool left_out;
} x86_kernel;

/* A try to make code, of all kernels that are not left out or of one. */
typedef struct {
    emit_job *job;
    const x86_job *x86;
    ir_vec(x86_kernel) kernels;
    const x86_kernel *only; /* or NULL */
    ir_text text, said;     /* the listing; what is wrong with the kernels */
    bool ok;
    void (*report)(void *user, const ir_message *m); /* the user's */
    void *report_user;
} x86_try;

static void note_error(void *user, const ir_message *m) {
    x86_try *t = user;
    if (m->severity == IR_ERROR)
        ir_putf(&t->said, "%s%s", t->said.n ? "; " : "", m->text);
    else if (t->report)
        t->report(t->report_user, m);
}

static void compile_kernels(void *user, ir_module *m) {
    x86_try *t = user;
    rt_native_options o = t->x86->native;
    ir_importer importer = {.m = m};
    cg_object object; /* the names in it are the module's */
    foreach_in (const x86_kernel, k, t->kernels)
        if (!k->left_out && (!t->only || t->only == k))
            ir_importer_copy(&importer, k->func, k->func->name);
    if (t->x86->text) o.code.listing = &t->text;
    o.code.lines = t->x86->lines;
    t->ok = rt_native_compile(m, NULL, &o, t->job->scratch, &object);
    if (t->ok && !t->only && !t->x86->text) write_object(t->job, t->x86, &object);
}

static void compile_in_module(void *user) {
    const ir_module *m = ((x86_try *)user)->job->module->ir;
    rt_in_new_module(m->cx, m, compile_kernels, user);
}

/* Errors are no messages, but text. */
static void try_kernels(x86_try *t) {
    ir_ctx *cx = t->job->module->ir->cx;
    t->text = t->said = (ir_text){.arena = t->job->scratch};
    ir_put(&t->text, "");
    ir_put(&t->said, "");
    t->report = cx->report;
    t->report_user = cx->report_user;
    cx->report = note_error;
    cx->report_user = t;
    bool finished = ir_try(cx, compile_in_module, t);
    cx->report = t->report;
    cx->report_user = t->report_user;
    if (!finished && cx->status == IR_ERR_MEMORY) ir_throw(cx, cx->status);
    t->ok &= finished;
    if (!finished && !t->said.n) ir_put(&t->said, "it is beyond a limit");
}

/* What is said about a kernel may begin with its name. */
static const char *without_name(const x86_try *t, const x86_kernel *k) {
    const char *said = t->said.data,
               *name = ir_sprintf(t->job->scratch, "kernel '%s'", k->func->name);
    size_t n = strlen(name);
    if (strncmp(said, name, n) != 0) return said;
    return said[n] == ':' ? said + n + 2 : ir_sprintf(t->job->scratch, "it%s", said + n);
}

static void leave_out(x86_kernel *k, const char *why) {
    const ir_module *m = k->func->module;
    k->left_out = true;
    ir_report(m->cx, (ir_message){.severity = IR_WARNING, .file = m->name},
              "kernel @%s is left out: %s", k->func->name, why);
}

/* Kernels without a body cannot be made. */
static void list_kernels(x86_try *t) {
    foreach_func (f, t->job->module->ir) {
        if (!(f->flags & IR_FUNC_KERNEL)) continue;
        x86_kernel *k = ir_push(t->job->scratch, &t->kernels);
        *k = (x86_kernel){.func = f};
        if (ir_is_declaration(f)) leave_out(k, f->refusal ? f->refusal : "it has no body");
    }
}

static void try_each(x86_try *t) {
    foreach_in (x86_kernel, k, t->kernels) {
        if (k->left_out) continue;
        t->only = k;
        try_kernels(t);
        if (!t->ok) leave_out(k, without_name(t, k));
    }
    t->only = NULL;
}

static void emit_x86(emit_job *j, const x86_job *x86) {
    x86_try t = {.job = j, .x86 = x86};
    bool any = false;
    list_kernels(&t);
    try_kernels(&t);
    if (!t.ok) {
        try_each(&t);
        try_kernels(&t);
    }
    foreach_in (const x86_kernel, k, t.kernels) any |= !k->left_out;
    if (!t.ok || (t.kernels.n && !any))
        rt_throw(j->module->context, IR_ERR_REFUSED, "%s", any ? t.said.data : "no kernel is left");
    if (!x86->text) return;
    j->data = t.text.data;
    j->size = t.text.n;
}

/* ----------------------------------------------------------------------------------- the choice */

static void emit_module(void *arg) {
    emit_job *j = arg;
    cg_spirv_options spirv = {0};
    x86_job x86;
    if (strcmp(j->target, "ir") == 0) {
        ir_text text = {.arena = j->scratch};
        ir_print_module(&text, j->module->ir, 0);
        j->data = text.data;
        j->size = text.n;
    } else if (spirv_target(j->target, &spirv.version)) {
        emit_spirv(j, &spirv);
    } else if (x86_target(j->target, &x86)) {
        emit_x86(j, &x86);
    } else {
        rt_throw(j->module->context, IR_ERR_ARGUMENT,
                 "unknown target '%s': ir, spirv, spirv:1.0 … spirv:1.4, x86_64[:v2|:v3|:v4]",
                 j->target);
    }
}

static spvf_status copy_out(spvf_context *context, const void *data, size_t size, spvf_blob *out) {
    ir_ctx *cx = &context->cx;
    void *copy = cx->allocate ? cx->allocate(cx->alloc_user, size + 1) : malloc(size + 1);
    if (!copy) {
        rt_say_failure(context, IR_ERR_MEMORY);
        return SPVF_ERROR_MEMORY;
    }
    if (size) memcpy(copy, data, size);
    ((char *)copy)[size] = 0;
    *out = (spvf_blob){copy, size, context};
    return SPVF_OK;
}

spvf_status spvf_module_emit(const spvf_module *module, const char *target, spvf_blob *out) {
    if (out) *out = (spvf_blob){0};
    if (!module || !target || !out)
        return rt_refuse_call(module ? module->context : NULL, __func__, "%s is NULL",
                              target ? "out" : "target");
    ir_arena scratch;
    ir_arena_init(&scratch, &module->context->cx);
    emit_job j = {.module = module, .target = target, .scratch = &scratch};
    spvf_status status = rt_guard(module->context, emit_module, &j);
    if (status == SPVF_OK) status = copy_out(module->context, j.data, j.size, out);
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
