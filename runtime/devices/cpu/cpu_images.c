/* cpu_images.c — kernels whose code comes with the module, from the container it was read from.
 *
 * Such code is made for any launch.  It becomes the code of the kernel for any shape before the
 * first launch, so this one compiles nothing.  Everything else is as for other kernels: a shape
 * that is launched often enough gets code of its own, from SPIR-V (native/variants.c).
 *
 * Code is not taken where it would differ from what the device makes: for other parameters, for
 * sub-groups of another size, for a required local size that launches of the device do not keep,
 * for variables that all kernels of the program share, and under options about code.
 */
#include "runtime/devices/cpu/cpu.h"

struct cpu_object {
    const rt_object_image *image;
    rt_loaded_object loaded;
    cpu_object *next;
};

static bool are_wanted(const cpu_machine *m) {
    const cg_options *code = &m->options.code;
    bool usual = !code->lanes && !code->regalloc.how && !code->regalloc.seed;
    return usual && !m->options.recompile && !rt_are_told(&m->tools);
}

/* ------------------------------------------------------------------------------- does it suit? */

static bool has_same_args(const ir_func *f, const spvf_native_kernel *k) {
    if (k->arg_count != f->nparams) return false;
    for (uint32_t n = 0; n < f->nparams; n++) {
        ir_type t = f->param_val[n]->type;
        ir_arg_kind kind = ir_arg_kind_of(t, &f->param[n]);
        if (ir_is_opaque(t) || k->args[n].kind != (uint32_t)kind) return false;
        if (kind != IR_ARG_VALUE) continue;
        if (k->args[n].size != rt_arg_info(f->module, t, &f->param[n]).size) return false;
    }
    return true;
}

/* What the kernel calls may ask, too. */
static bool has_same_subgroups(const ir_func *kernel, unsigned made, unsigned here) {
    const ir_target a = cg_host_machine()->describe(made), b = cg_host_machine()->describe(here);
    if (made == here || pass_subgroup_size(kernel, &a) == pass_subgroup_size(kernel, &b))
        return true;
    foreach_func (f, kernel->module)
        if (!ir_is_declaration(f) && pass_subgroup_needed(f, &a) != pass_subgroup_needed(f, &b))
            return false;
    return true;
}

static bool shares_variables(const ir_module *m) {
    foreach_global (g, m)
        if (g->space != IR_LOCAL && g->space != IR_CONST) return true;
    return false;
}

/* Groups of a kernel that cannot observe them have sizes that the device chooses. */
static bool suits(const rt_function *f, const spvf_native_kernel *k, unsigned level) {
    bool any_groups = !k->local_size[0], keeps_groups = f->observes_groups;
    return has_same_args(f->ir, k) && (any_groups || keeps_groups) &&
           has_same_subgroups(f->ir, level, f->program->machine->options.code.level);
}

/* ------------------------------------------------------------------------------------- objects */

/* An object is placed in memory when a kernel is looked for in it first. */
static const cpu_object *load_object(rt_program *p, const rt_object_image *image) {
    for (const cpu_object *o = p->objects; o; o = o->next)
        if (o->image == image) return o;
    cpu_object *o = ir_new(&p->arena, cpu_object);
    rt_load_object(p->arena.cx, image, &p->arena, &o->loaded);
    o->image = image;
    o->next = p->objects;
    return p->objects = o;
}

static const spvf_native_kernel *find_kernel(const cpu_object *o, const char *name) {
    for (const spvf_native_kernel *k = o->loaded.kernels; k && k->name; k++)
        if (strcmp(k->name, name) == 0) return k;
    return NULL;
}

/* What compiling one of its kernels takes at the usual speed: variants are made when launches have
 * taken several times as long. */
static uint64_t guess_compile_time(const cpu_object *o) {
    enum { NS_PER_BYTE = 500 };
    uint64_t kernels = 1;
    while (o->loaded.kernels[kernels].name) kernels++;
    return o->image->size / kernels * NS_PER_BYTE;
}

static void take_code(rt_function *f, const cpu_object *o, const spvf_native_kernel *k) {
    rt_compiled *any = &f->code.any;
    void (*block)(const spvf_group_info *, void *const *) = k->run_block;
    any->state = RT_COMPILED;
    any->ns = guess_compile_time(o);
    memcpy(&any->variant.run, &block, sizeof block); /* the same parameters by other names */
    memcpy(&any->variant.need, &k->need, sizeof any->variant.need);
    any->variant.stack = k->stack;
}

void cpu_take_image(rt_function *f) {
    rt_program *p = f->program;
    const struct rt_images *images = p->module->images;
    if (!images || !are_wanted(p->machine) || shares_variables(p->module)) return;
    for (uint32_t n = 0; n < images->n; n++) {
        const rt_object_image *image = &images->list[n];
        if (image->level > p->machine->options.code.level) continue;
        const cpu_object *o = load_object(p, image);
        const spvf_native_kernel *k = find_kernel(o, f->ir->name);
        if (!k || !suits(f, k, image->level)) continue;
        take_code(f, o, k);
        return;
    }
}

void cpu_unload_images(rt_program *p) {
    for (cpu_object *o = p->objects; o; o = o->next) rt_code_unload(&o->loaded.code);
}
