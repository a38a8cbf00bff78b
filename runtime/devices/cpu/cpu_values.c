/* cpu_values.c — arguments by value that become constants of code.
 *
 * Those that are marked as specialized are constants at once: launches with equal values of theirs
 * have code of their own (constants.c).  Of the others, integers become constants once they have
 * been the same for long enough (variants.c).
 */
#include "runtime/devices/cpu/cpu.h"

static const rt_arg *value_of(const cpu_launch *l, uint32_t param) {
    const ir_func *f = cpu_kernel_of(l);
    const rt_arg *a = &l->launch->args[param];
    spvf_arg_info info = rt_arg_info(f->module, f->param_val[param]->type, &f->param[param]);
    return a->kind == RT_ARG_VALUE && a->size == info.size ? a : NULL;
}

static bool is_marked(const cpu_launch *l, uint32_t param) {
    return cpu_kernel_of(l)->param[param].attrs & IR_PARAM_SPECIALIZED;
}

static uint32_t count_params(const cpu_launch *l) {
    const ir_func *f = cpu_kernel_of(l);
    return f->nparams < l->launch->count ? f->nparams : (uint32_t)l->launch->count;
}

static rt_constants find_constants(const cpu_launch *l, ir_arena *a) {
    uint32_t marked = 0, n = count_params(l);
    if (l->machine->options.without & RT_FACT(SPECIALIZED)) return (rt_constants){0};
    for (uint32_t p = 0; p < n; p++) marked += is_marked(l, p);
    if (!marked) return (rt_constants){0};
    rt_constant *list = ir_new_array(a, rt_constant, marked);
    marked = 0;
    for (uint32_t p = 0; p < n; p++) {
        const rt_arg *value = is_marked(l, p) ? value_of(l, p) : NULL;
        if (value) list[marked++] = (rt_constant){p, value->size, value->bytes};
    }
    return (rt_constants){list, marked};
}

/* Integers that are no constants yet. */
static rt_values find_values(const cpu_launch *l, bool marked_too) {
    const ir_func *f = cpu_kernel_of(l);
    rt_values v = {0};
    if (l->machine->options.without & RT_FACT(VALUES)) return v;
    for (uint32_t p = 0, n = count_params(l); p < RT_MAX_VALUES && p < n; p++) {
        ir_type t = f->param_val[p]->type;
        if (!ir_is_int(t) || ir_is_vector(t) || (is_marked(l, p) && !marked_too)) continue;
        const rt_arg *a = value_of(l, p);
        if (!a) continue;
        memcpy(&v.value[p], a->bytes, a->size);
        v.known |= UINT32_C(1) << p;
    }
    return v;
}

bool cpu_has_short_values(const cpu_launch *l) {
    const ir_func *f = cpu_kernel_of(l);
    for (uint32_t p = 0; p < f->nparams; p++) {
        const rt_arg *a = p < l->launch->count ? value_of(l, p) : NULL;
        if (!rt_is_short(f->param_val[p]->type, a ? a->bytes : NULL)) return false;
    }
    return true;
}

static void tell_of_more(const cpu_launch *l) {
    ir_report(l->cx, (ir_message){.severity = IR_NOTE},
              "kernel @%s: its specialized arguments have had more than %d values; launches with "
              "further ones run code for any value",
              cpu_kernel_of(l)->name, RT_MAX_CONSTANTS);
}

void cpu_find_values(const cpu_launch *l, ir_arena *a, cpu_wanted *wanted) {
    rt_function *f = l->launch->function;
    bool news = false;
    wanted->constants = find_constants(l, a);
    wanted->kernel = NULL;
    if (wanted->constants.n)
        wanted->kernel = rt_constants_find(&f->constants, &wanted->constants, &news);
    if (news) tell_of_more(l);
    if (!wanted->kernel) wanted->constants = (rt_constants){0};
    if (!wanted->kernel) wanted->kernel = &f->code;
    wanted->values = find_values(l, !wanted->constants.n);
}
