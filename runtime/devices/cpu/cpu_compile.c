/* cpu_compile.c — from a kernel to an object.
 *
 * A kernel is copied to a module of its own, with what it calls and refers to.  Program-scope
 * variables belong to the program, not to a kernel: they are an object by themselves, and those of
 * kernels are bound to it by name.
 */
#include "runtime/devices/cpu/cpu.h"

const char *rt_cpu_missing(void) { return NULL; }

typedef struct {
    const ir_module *from;
    const ir_func *kernel; /* NULL: all globals */
    const rt_native_options *options;
    ir_arena *arena;
    cg_object *out;
} compilation;

/* Constants of the compiler's own may be called as a variable of the program that the kernel does
 * not use: that one must not be found in their place. */
static void hide_own_constants(const compilation *c, const ir_importer *im) {
    foreach_in (cg_symbol, s, c->out->symbols) {
        if (s->section == CG_TEXT) continue;
        const ir_global *g = ir_global_find(c->from, s->name);
        if (g && !ir_map_get(&im->done, (uintptr_t)g)) s->name = "";
    }
}

static void use_values(ir_func *f, const rt_values *v) {
    for (uint32_t n = 0; v && n < RT_MAX_VALUES; n++)
        if (v->known >> n & 1)
            ir_replace_uses(f->param_val[n], ir_const(f, f->param_val[n]->type, v->value[n]));
}

/* Local memory of a known size is a variable of the kernel, which nothing else points to and whose
 * place is known. */
static void use_local_args(ir_func *f, const pass_group_shape *shape) {
    ir_module *m = f->module;
    for (uint32_t p = 0, n = 0; p < f->nparams && n < PASS_LOCAL_ARGS; p++) {
        ir_inst *param = f->param_val[p];
        if (param->type != ir_ptr(IR_LOCAL)) continue;
        uint64_t bytes = shape->local_args[n++];
        if (!bytes || !param->uses) continue;
        const char *name = ir_sprintf(&m->arena, "%s.local%u", f->name, p);
        while (ir_global_find(m, name) || ir_func_find(m, name))
            name = ir_sprintf(&m->arena, "%s.", name);
        ir_global *g = ir_global_new(m, name, IR_LOCAL, ir_array_type(m, IR_I8, (uint32_t)bytes));
        g->align = IR_LOCAL_ALIGN;
        ir_replace_uses(param, ir_address(f, g));
    }
}

/* The local size as a constant, in dimension d of all groups; NULL: it is not known. */
static ir_inst *known_size(ir_func *f, ir_type t, const pass_group_shape *shape, unsigned d) {
    uint64_t size = shape->dims && d >= shape->dims ? 1 : shape->local[d];
    return size ? ir_const(f, t, size) : NULL;
}

/* Loops whose number of iterations depends on the local size are unrolled as others are, and that
 * is done before queries are answered (regions_ids.c). */
static void use_sizes(ir_func *f, const pass_group_shape *shape) {
    foreach_block (b, f)
        foreach_inst (i, b) {
            bool asks = i->op == IR_OP_enqueued_local_size ||
                        (i->op == IR_OP_local_size && shape->whole_groups);
            ir_inst *size = asks ? known_size(f, i->type, shape, i->imm.dim) : NULL;
            if (!size) continue;
            ir_replace_uses(i, size);
            ir_remove(i);
        }
}

/* A local size that a kernel requires but does not observe says nothing about launches: these have
 * groups of our own. */
static void forget_local_size(const compilation *c, ir_func *copy) {
    if (!pass_observes_groups(c->kernel, c->arena))
        memset(copy->attrs.local_size, 0, sizeof copy->attrs.local_size);
}

static void compile_kernel(void *user, ir_module *m) {
    const compilation *c = user;
    ir_importer im = {.m = m};
    ir_func *copy = ir_importer_copy(&im, c->kernel, c->kernel->name);
    if (!c->options->keep_calls) pass_copy_idle(copy, c->kernel);
    use_values(copy, c->options->values);
    rt_use_constants(copy, &c->options->constants);
    use_local_args(copy, &c->options->shape);
    if (c->options->shape.short_numbers) pass_promise_short(copy);
    foreach_func (f, m) use_sizes(f, &c->options->shape);
    forget_local_size(c, copy);
    if (!rt_native_compile(m, c->kernel->name, c->options, c->arena, c->out))
        ir_throw(m->cx, IR_ERR_DEVICE);
    hide_own_constants(c, &im);
}

static void compile_globals(void *user, ir_module *m) {
    const compilation *c = user;
    ir_importer im = {.m = m};
    foreach_global (g, c->from)
        if (g->space != IR_LOCAL && !(g->flags & IR_FUNC_IMPORT)) ir_importer_global(&im, g);
    if (!c->options->machine->compile(m, &c->options->code, c->arena, c->out))
        ir_throw(m->cx, IR_ERR_DEVICE);
}

void rt_cpu_compile(const ir_func *kernel, const rt_native_options *o, ir_arena *arena,
                    cg_object *out) {
    compilation c = {kernel->module, kernel, o, arena, out};
    rt_in_new_module(arena->cx, kernel->module, compile_kernel, &c);
}

void rt_cpu_compile_globals(const ir_module *m, const rt_native_options *o, ir_arena *arena,
                            cg_object *out) {
    compilation c = {m, NULL, o, arena, out};
    rt_in_new_module(arena->cx, m, compile_globals, &c);
}
