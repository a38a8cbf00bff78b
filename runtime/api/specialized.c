/* specialized.c — arguments that the options of a module mark as specialized, by name or number;
 * code for their values.
 */
#include "runtime/api/runtime.h"

bool rt_mark_param(ir_func *f, uint32_t param) {
    if (ir_arg_kind_of(f->param_val[param]->type, &f->param[param]) != IR_ARG_VALUE) return false;
    f->param[param].attrs |= IR_PARAM_SPECIALIZED;
    return true;
}

static bool is_meant(const ir_func *f, uint32_t param, const spvf_marked_arg *what) {
    const char *name = f->param[param].name;
    return what->name ? name && !strcmp(name, what->name) : param == what->index;
}

/* How many parameters of the kernel were marked. */
static size_t mark_in_kernel(const spvf_module *m, ir_func *f, const spvf_marked_arg *what) {
    size_t marked = 0;
    for (uint32_t p = 0; p < f->nparams; p++) {
        if (!is_meant(f, p, what)) continue;
        if (!rt_mark_param(f, p))
            rt_throw(m->context, IR_ERR_ARGUMENT,
                     "argument %u of kernel '%s' cannot be specialized: it is no value", p,
                     f->name);
        marked++;
    }
    return marked;
}

IR_NORETURN static void fail(const spvf_module *m, const spvf_marked_arg *what) {
    ir_arena *a = &m->ir->arena;
    const char *who =
        what->kernel ? ir_sprintf(a, "kernel '%s' has no", what->kernel) : "no kernel has an";
    if (what->name)
        rt_throw(m->context, IR_ERR_ARGUMENT, "%s argument '%s' to be specialized", who,
                 what->name);
    rt_throw(m->context, IR_ERR_ARGUMENT, "%s argument %zu to be specialized", who, what->index);
}

static void mark(const spvf_module *m, const spvf_marked_arg *what) {
    size_t kernels = 0, marked = 0;
    foreach_func (f, m->ir) {
        if (!(f->flags & IR_FUNC_KERNEL)) continue;
        if (what->kernel && strcmp(f->name, what->kernel) != 0) continue;
        kernels++;
        marked += mark_in_kernel(m, f, what);
    }
    if (what->kernel && !kernels)
        rt_throw(m->context, IR_ERR_ARGUMENT,
                 "there is no kernel '%s' with arguments to be specialized", what->kernel);
    if (!marked) fail(m, what);
}

void rt_mark_specialized(const spvf_module *m, const spvf_module_options *o) {
    for (size_t k = 0; k < o->specialized_count; k++) mark(m, &o->specialized[k]);
}

void rt_use_constants(ir_func *f, const rt_constants *c) {
    for (uint32_t n = 0; n < c->n; n++) {
        const rt_constant *v = &c->list[n];
        if (!pass_fold_argument(f, v->param, v->bytes, v->size))
            ir_throw(f->module->cx, IR_ERR_DEVICE);
    }
}
