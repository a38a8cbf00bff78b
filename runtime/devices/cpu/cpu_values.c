/* cpu_values.c — arguments by value that become constants of code.
 *
 * Those that are marked as specialized are constants at once: launches with equal values of theirs
 * have code of their own (constants.c).  Of the others, integers become constants once they have
 * been the same for long enough (variants.c).
 */
#include "runtime/devices/cpu/cpu.h"

static const rt_arg *value_of(const cpu_launch *l, uint32_t param) {
    return rt_value_given(cpu_kernel_of(l), l->launch, param);
}

static uint32_t count_params(const cpu_launch *l) {
    const ir_func *f = cpu_kernel_of(l);
    return f->nparams < l->launch->count ? f->nparams : (uint32_t)l->launch->count;
}

static rt_constants find_constants(const cpu_launch *l, ir_arena *a) {
    if (l->machine->options.without & RT_FACT(SPECIALIZED)) return (rt_constants){0};
    return rt_marked_values(cpu_kernel_of(l), l->launch, a);
}

/* Integers that are no constants yet. */
static rt_values find_values(const cpu_launch *l, bool marked_too) {
    const ir_func *f = cpu_kernel_of(l);
    rt_values v = {0};
    if (l->machine->options.without & RT_FACT(VALUES)) return v;
    for (uint32_t p = 0, n = count_params(l); p < RT_MAX_VALUES && p < n; p++) {
        ir_type t = f->param_val[p]->type;
        const bool marked = f->param[p].attrs & IR_PARAM_SPECIALIZED;
        if (!ir_is_int(t) || ir_is_vector(t) || (marked && !marked_too)) continue;
        const rt_arg *a = value_of(l, p);
        if (!a) continue;
        memcpy(&v.value[p], a->bytes, a->size);
        v.known |= UINT32_C(1) << p;
    }
    return v;
}

void cpu_know_values(const cpu_launch *l, ir_arena *a, pass_given *out) {
    const ir_func *f = cpu_kernel_of(l);
    int64_t *number = ir_new_array(a, int64_t, f->nparams + 1);
    const int64_t **value = ir_new_array(a, const int64_t *, f->nparams + 1);
    const uint8_t **bytes = ir_new_array(a, const uint8_t *, f->nparams + 1);
    for (uint32_t p = 0, n = count_params(l); p < n; p++) {
        const rt_arg *given = value_of(l, p);
        ir_type t = f->param_val[p]->type;
        if (given && f->param[p].attrs & IR_PARAM_BYVAL) bytes[p] = given->bytes;
        if (!given || !ir_is_int(t) || ir_is_vector(t)) continue;
        memcpy(&number[p], given->bytes, given->size);
        number[p] = ir_sext((uint64_t)number[p], ir_bits(f->module, t));
        value[p] = &number[p];
    }
    out->value = value;
    out->bytes = bytes;
}

bool cpu_has_short_values(const cpu_launch *l) {
    const ir_func *f = cpu_kernel_of(l);
    for (uint32_t p = 0; p < f->nparams; p++) {
        const rt_arg *a = p < l->launch->count ? value_of(l, p) : NULL;
        if (!rt_is_short(f->param_val[p]->type, a ? a->bytes : NULL)) return false;
    }
    return true;
}

void cpu_find_values(const cpu_launch *l, ir_arena *a, cpu_wanted *wanted) {
    rt_function *f = l->launch->function;
    bool news = false;
    wanted->constants = find_constants(l, a);
    wanted->kernel = NULL;
    if (wanted->constants.n)
        wanted->kernel = rt_constants_find(&f->constants, &wanted->constants, &news);
    if (news) rt_tell_of_constants(l->cx, cpu_kernel_of(l)->name);
    if (!wanted->kernel) wanted->constants = (rt_constants){0};
    if (!wanted->kernel) wanted->kernel = &f->code;
    wanted->values = find_values(l, !wanted->constants.n);
}
