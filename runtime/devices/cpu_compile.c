/* cpu_compile.c — from a kernel to an object.
 *
 * Compiling uses up a module, so a kernel is copied to one of its own, with what it calls and
 * refers to.  Program-scope variables belong to the program, not to a kernel: they are an object by
 * themselves, and those of kernels are bound to it by name.
 */
#include "runtime/devices/cpu.h"

const char *rt_cpu_missing(void) { return NULL; }

typedef struct {
    const ir_module *from;
    const ir_func *kernel; /* NULL: all globals */
    const rt_native_options *options;
    ir_arena *arena;
    cg_object *out;
    ir_module *module;
} compilation;

static void compile_kernel(void *arg) {
    compilation *c = arg;
    ir_import_func(c->module, c->kernel, c->kernel->name);
    if (!rt_native_compile(c->module, c->kernel->name, c->options, c->arena, c->out))
        ir_throw(c->from->cx, IR_ERR_DEVICE);
}

static void compile_globals(void *arg) {
    compilation *c = arg;
    ir_importer im = {.m = c->module};
    foreach_global (g, c->from)
        if (g->space != IR_LOCAL && !(g->flags & IR_FUNC_IMPORT)) ir_importer_global(&im, g);
    if (!cg_x86_64_compile(c->module, &c->options->code, c->arena, c->out))
        ir_throw(c->from->cx, IR_ERR_DEVICE);
}

/* The module in between is freed, however it ends. */
static void in_new_module(compilation *c, void (*body)(void *arg)) {
    ir_ctx *cx = c->from->cx;
    c->module = ir_module_new(cx, c->from->name, c->from->pointer_bits);
    bool ok = ir_try(cx, body, c);
    ir_status status = cx->status;
    ir_module_free(c->module);
    if (!ok) ir_throw(cx, status);
}

void rt_cpu_compile(const ir_module *m, const ir_func *kernel, const rt_native_options *o,
                    ir_arena *arena, cg_object *out) {
    compilation c = {m, kernel, o, arena, out, NULL};
    in_new_module(&c, compile_kernel);
}

void rt_cpu_compile_globals(const ir_module *m, const rt_native_options *o, ir_arena *arena,
                            cg_object *out) {
    compilation c = {m, NULL, o, arena, out, NULL};
    in_new_module(&c, compile_globals);
}
