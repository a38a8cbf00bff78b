/* define.c — a function calls others, which the user of a module names: functions that are put
 * together when a module is loaded.
 *
 *   does        gives a function, with or without a body, a new one that calls the functions of a
 *               list in turn, with its own arguments.  The result of a single function is that of
 *               the call; functions of several have none
 *   needs       code as it was read, in which calls of the function are still calls
 *   leaves      calls that inline replaces; so fusion and keys of caches see the code itself
 *   gives up    on names that are no functions, kernels, and differing signatures, after an error
 *
 * A list that leads back to the function is a recursion, which inlining refuses with its calls.
 */
#include "ir/build.h"
#include "passes/lower/reflect.h"

static const char *type_text(const ir_module *m, ir_type t, ir_arena *a) {
    ir_text text = {.arena = a};
    ir_print_type(&text, m, t);
    return text.data;
}

IR_PRINTF(2, 3) static bool fail(const ir_module *m, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    ir_vreport(m->cx, (ir_message){.severity = IR_ERROR, .file = m->name}, fmt, ap);
    va_end(ap);
    return false;
}

static ir_func *find_function(ir_module *m, const char *name) {
    ir_func *f = ir_func_find(m, name);
    if (!f)
        fail(m, "definition: there is no function '%s'", name);
    else if (f->flags & IR_FUNC_KERNEL)
        fail(m, "definition: '%s' is a kernel", name);
    else if (f->flags & IR_FUNC_REFUSED)
        fail(m, "definition: '%s' is refused: %s", name, f->refusal);
    else
        return f;
    return NULL;
}

static bool check_type(const ir_func *f, ir_type have, ir_type want, const char *what) {
    ir_module *m = f->module;
    if (have == want) return true;
    return fail(m, "definition: '%s' has %s of type %s, want %s", f->name, what,
                type_text(m, have, &m->arena), type_text(m, want, &m->arena));
}

static bool check_signature(const ir_func *f, const ir_func *called) {
    char what[40];
    if (f == called) return fail(f->module, "definition: '%s' cannot call itself", f->name);
    if (ir_is_declaration(called))
        return fail(f->module, "definition: '%s' has no body", called->name);
    if (called->nparams != f->nparams)
        return fail(f->module, "definition: '%s' has %u parameters, want %u as '%s'", called->name,
                    called->nparams, f->nparams, f->name);
    for (uint32_t p = 0; p < f->nparams; p++) {
        snprintf(what, sizeof what, "parameter %u", p);
        if (!check_type(called, called->param_val[p]->type, f->param_val[p]->type, what))
            return false;
    }
    return check_type(called, called->ret, f->ret, "a result");
}

/* What was known of the old body is not known of the new one. */
static void forget_body(ir_func *f) {
    const uint32_t promises =
        IR_PARAM_READONLY | IR_PARAM_NOACCESS | IR_PARAM_NOCAPTURE | IR_PARAM_NOALIAS;
    if (!ir_is_declaration(f)) ir_func_drop_body(f);
    f->flags &= ~(uint32_t)(IR_FUNC_IMPORT | IR_FUNC_PURE | IR_FUNC_CONST | IR_FUNC_ODR);
    for (uint32_t p = 0; p < f->nparams; p++) f->param[p].attrs &= ~promises;
}

static void build_body(ir_func *f, ir_func *const *calls, size_t n) {
    ir_builder b;
    ir_inst *result = NULL;
    ir_builder_init(&b, f);
    ir_at_end(&b, ir_block_new(f, NULL));
    for (size_t k = 0; k < n; k++) result = ir_build_call(&b, calls[k], f->nparams, f->param_val);
    ir_build_ret(&b, f->ret == IR_VOID ? NULL : result);
}

bool pass_define(ir_module *m, const pass_definition *d) {
    ir_func *f = find_function(m, d->name);
    if (!f) return false;
    if (d->n != 1 && f->ret != IR_VOID)
        return fail(m, "definition: '%s' has a result, so it calls one function, not %zu", d->name,
                    d->n);
    ir_func **calls = ir_new_array(&m->arena, ir_func *, d->n);
    for (size_t k = 0; k < d->n; k++) {
        calls[k] = find_function(m, d->calls[k]);
        if (!calls[k] || !check_signature(f, calls[k])) return false;
    }
    forget_body(f);
    build_body(f, calls, d->n);
    return true;
}
