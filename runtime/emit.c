/* emit.c — a module as bytes for somebody else: IR text, SPIR-V, an object file or assembly for
 * x86-64.
 *
 * A target is a name, for x86-64 followed by ":v2" to ":v4" and by options, each behind a comma.
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
    return rt_take_code_option(s, &x->native.code);
}

/* "x86_64[:v2|:v3|:v4]{,text|,lines|,abi=nativecpu|,regalloc=stack}" */
static bool x86_target(const char *s, x86_job *x) {
    *x = (x86_job){.native.code.level = CG_X86_64_V3};
    if (strncmp(s, "x86_64", 6) != 0) return false;
    s += 6;
    if (*s && ((*s != ':' && *s != ',') || !*++s)) return false;
    while (*s && take_option(&s, x)) continue;
    return !*s;
}

static void copy_kernel(ir_importer *im, const ir_func *f) {
    if (!ir_is_declaration(f))
        ir_importer_copy(im, f, f->name);
    else
        ir_report(f->module->cx, (ir_message){.severity = IR_WARNING, .file = f->module->name},
                  "kernel @%s is left out: %s", f->name,
                  f->refusal ? f->refusal : "it has no body");
}

/* The kernels as they are. */
static void copy_module(ir_module *to, const ir_module *from) {
    ir_importer importer = {.m = to};
    foreach_func (f, from)
        if (f->flags & IR_FUNC_KERNEL) copy_kernel(&importer, f);
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
    emit_job *job;
    x86_job *x86;
} x86_work;

static void emit_x86(void *user, ir_module *m) {
    const x86_work *w = user;
    emit_job *j = w->job;
    cg_object object;
    ir_text text = {.arena = j->scratch};
    copy_module(m, j->module->ir);
    ir_put(&text, "");
    if (w->x86->text) w->x86->native.code.listing = &text;
    w->x86->native.code.lines = w->x86->lines;
    if (!rt_native_compile(m, NULL, &w->x86->native, j->scratch, &object))
        ir_throw(m->cx, IR_ERR_REFUSED);
    if (!w->x86->text) {
        write_object(j, w->x86, &object);
        return;
    }
    j->data = text.data;
    j->size = text.n;
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
        rt_in_new_module(j->module->ir->cx, j->module->ir, emit_x86, &(x86_work){j, &x86});
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
