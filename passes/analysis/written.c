/* written.c — accesses as a source would write them: "y[2*i+1]", "y[idx[i]]", "y[(i+64)%4096]".
 *
 * An offset is a number of elements of the accessed size.  The global ids of the first three
 * dimensions are i, j and k, unless the kernel has parameters of that name.  A value that forms do
 * not analyse is written as the operation that computes it, if that has few operations below it;
 * otherwise by its own name, which compilers often have made up.
 */
#include "passes/analysis/analysis.h"

enum { MAX_DEPTH = 8, MAX_LENGTH = 60 };

/* ------------------------------------------------------------------------------------- symbols */

static bool is_param_name(const ir_func *f, const char *name) {
    for (uint32_t p = 0; p < f->nparams; p++)
        if (f->param[p].name && strcmp(f->param[p].name, name) == 0) return true;
    return false;
}

/* The parameter that is that argument, by name. */
static const char *name_argument(const pass_launch *l, uint32_t argument) {
    const ir_func *f = l->kernel;
    for (uint32_t p = 0; p < f->nparams; p++)
        if ((l->argument ? l->argument[p] : p) == argument) return f->param[p].name;
    return NULL;
}

static const char *name_query(ir_arena *a, const pass_launch *l, const pass_symbol *s) {
    static const char *const usual[] = {"i", "j", "k"};
    if (s->kind == IR_OP_global_id && !is_param_name(l->kernel, usual[s->index]))
        return usual[s->index];
    if (ir_ops[s->kind].imm == I_DIM)
        return ir_sprintf(a, "get_%s(%u)", ir_ops[s->kind].name, s->index);
    return ir_sprintf(a, "get_%s()", ir_ops[s->kind].name);
}

/* Variables of kernels are named KERNEL.VARIABLE by compilers. */
static const char *name_object(const ir_func *f, const ir_inst *object) {
    const char *name;
    if (object->op == IR_OP_param) return f->param[object->imm.index].name;
    if (object->op != IR_OP_address) return NULL;
    name = object->imm.global->name;
    return strrchr(name, '.') && strrchr(name, '.')[1] ? strrchr(name, '.') + 1 : name;
}

/* ---------------------------------------------------------------------------------- expressions */

typedef struct {
    const pass_launch *launch;
    ir_arena *a;
    unsigned depth; /* of operations around it */
} writer;

static const char *write_form(const writer *w, const pass_affine *f, int64_t size);

/* The value as a form of what it consists of; a symbol of its own is written as an operation. */
static const char *write_value(const writer *w, ir_inst *v) {
    pass_affine form;
    writer inner = *w;
    if (++inner.depth > MAX_DEPTH) return NULL;
    pass_find_affine(w->launch, v, v->block, &form);
    return write_form(&inner, &form, 1);
}

static const char sums[] = "+-&|^<>", products[] = "+-&|^<>*/%";

/* Parentheses, if one of these signs is outside of all others. */
static const char *enclose(const writer *w, const char *text, const char *signs) {
    unsigned open = 0;
    bool single = true;
    for (const char *s = text; *s; s++) {
        open += *s == '(' || *s == '[';
        open -= *s == ')' || *s == ']';
        single &= open || !strchr(signs, *s);
    }
    return single ? text : ir_sprintf(w->a, "(%s)", text);
}

/* Of optimized code: x % 2^n has become x & (2^n - 1). */
static const char *write_remainder(const writer *w, const ir_inst *v) {
    const char *name = ir_name_of(w->launch->kernel, v), *left;
    const ir_inst *mask = ir_arg(v, 1);
    if (v->op != IR_OP_and || !ir_is_const(mask) || (mask->imm.bits & (mask->imm.bits + 1)))
        return NULL;
    if (!name || strncmp(name, "rem", 3) != 0) return NULL;
    left = write_value(w, ir_arg(v, 0));
    return left ? ir_sprintf(w->a, "%s%%%llu", enclose(w, left, products),
                             (unsigned long long)mask->imm.bits + 1)
                : NULL;
}

static const char *write_binary(const writer *w, const ir_inst *v, const char *sign) {
    const char *left = write_remainder(w, v), *right;
    if (left) return left;
    left = write_value(w, ir_arg(v, 0));
    right = write_value(w, ir_arg(v, 1));
    return left && right ? ir_sprintf(w->a, "%s%s%s", enclose(w, left, products), sign,
                                      enclose(w, right, products))
                         : NULL;
}

/* What is loaded, from memory that has a name. */
static const char *write_load(const writer *w, const ir_inst *load) {
    pass_affine offset = {.n = 0}, step;
    ir_inst *p = ir_arg(load, 0);
    const char *name, *index;
    for (; p->op == IR_OP_ptradd; p = ir_arg(p, 0)) {
        pass_find_affine(w->launch, ir_arg(p, 1), load->block, &step);
        if (!pass_affine_add(&offset, &step, 1)) return NULL;
    }
    pass_join_ids(w->launch, &offset);
    name = name_object(w->launch->kernel, p);
    index = write_form(w, &offset, (int64_t)ir_access_size(w->launch->kernel->module, load->type));
    return name && index ? ir_sprintf(w->a, "%s[%s]", name, index) : NULL;
}

static const char *write_operation(const writer *w, const ir_inst *v) {
    switch (v->op) {
    case IR_OP_load: return write_load(w, v);
    case IR_OP_zext:
    case IR_OP_sext:
    case IR_OP_trunc: return write_value(w, ir_arg(v, 0));
    case IR_OP_add: return write_binary(w, v, "+");
    case IR_OP_sub: return write_binary(w, v, "-");
    case IR_OP_mul: return write_binary(w, v, "*");
    case IR_OP_udiv:
    case IR_OP_sdiv: return write_binary(w, v, "/");
    case IR_OP_urem:
    case IR_OP_srem: return write_binary(w, v, "%");
    case IR_OP_and: return write_binary(w, v, "&");
    case IR_OP_or: return write_binary(w, v, "|");
    case IR_OP_xor: return write_binary(w, v, "^");
    case IR_OP_shl: return write_binary(w, v, "<<");
    case IR_OP_lshr:
    case IR_OP_ashr: return write_binary(w, v, ">>");
    default: return NULL;
    }
}

/* NULL: it cannot be written. */
static const char *write_symbol(const writer *w, const pass_symbol *s) {
    const pass_launch *l = w->launch;
    const char *text = NULL;
    if (!s->value)
        return s->kind == IR_OP_param ? name_argument(l, s->index) : name_query(w->a, l, s);
    writer inner = *w;
    if (++inner.depth <= MAX_DEPTH) text = write_operation(&inner, s->value);
    return text && strlen(text) <= MAX_LENGTH ? text : ir_name_of(l->kernel, s->value);
}

/* In elements of so many bytes; NULL: it is no number of them, or has a symbol without a name. */
static const char *write_form(const writer *w, const pass_affine *f, int64_t size) {
    ir_text t = {.arena = w->a};
    if (size <= 0 || f->constant % size != 0) return NULL;
    for (uint32_t k = 0; k < f->n; k++) {
        const int64_t factor = f->term[k].factor / size;
        const char *name = write_symbol(w, &f->term[k].of);
        if (!name || f->term[k].factor % size != 0) return NULL;
        ir_put(&t, factor < 0 ? "-" : k ? "+" : "");
        if (pass_magnitude(factor) != 1)
            ir_putf(&t, "%llu*", (unsigned long long)pass_magnitude(factor));
        const bool single = f->n == 1 && !f->constant;
        ir_put(&t, factor != 1 ? enclose(w, name, products)
                   : single    ? name
                               : enclose(w, name, sums));
    }
    if (f->constant || !f->n) ir_putf(&t, f->n ? "%+lld" : "%lld", (long long)f->constant / size);
    return t.data;
}

const char *pass_write_access(const pass_launch *l, const pass_access *x, ir_arena *a) {
    const writer w = {.launch = l, .a = a};
    const char *name = x->object ? name_object(l->kernel, x->object) : NULL, *index;
    if (!name || x->at->op == IR_OP_call) return NULL;
    index = write_form(&w, &x->offset, (int64_t)x->size);
    return index ? ir_sprintf(a, "%s[%s]", name, index) : NULL;
}
