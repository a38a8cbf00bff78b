/* closure_layout.c — what a module declares of structs by value, with the functions that it names.
 *
 * Everything that is wrong ends the pass before it has taken a struct apart, with an error whose
 * name stays the same: docs/PASSES.md has a list of them.
 */
#include "passes/lower/closures.h"

#include <stdlib.h>

void closure_fail(const closure_pass *p, const char *name, const char *fmt, ...) {
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    const ir_message m = {.severity = IR_ERROR, .file = p->m->name, .name = name};
    ir_report(p->m->cx, m, "%s: %s", name, text);
    ir_throw(p->m->cx, IR_ERR_INPUT);
}

/* ------------------------------------------------------------------------------------ functions */

static bool takes_address(const ir_func *f) {
    if (f->nparams == 0) return false;
    const ir_type t = f->param_val[0]->type;
    return t == ir_ptr(IR_PRIVATE) || t == ir_ptr(IR_GENERIC);
}

/* Can a kernel take what the parameter takes? */
static bool is_argument(const ir_func *f, uint32_t n) {
    const ir_type t = f->param_val[n]->type;
    if (t == ir_ptr(IR_PRIVATE)) return f->param[n].attrs & IR_PARAM_BYVAL;
    return !ir_is_bool(t) && !ir_is_aggregate(t);
}

static ir_func *find_function(const closure_pass *p, const char *name) {
    ir_func *f = ir_func_find(p->m, name);
    if (f && ir_map_get(p->checked, (uintptr_t)f)) return f;
    if (!f || ir_is_declaration(f))
        closure_fail(p, "init-missing", "the module has no function '%s'", name);
    if (f->ret != IR_VOID || f->flags & IR_FUNC_KERNEL || !takes_address(f))
        closure_fail(p, "init-type",
                     "function '%s' must take the address of a special and return nothing", name);
    for (uint32_t n = 1; n < f->nparams; n++)
        if (!is_argument(f, n))
            closure_fail(p, "init-type", "no kernel can take parameter %u of function '%s'", n,
                         name);
    if (pass_call_node_of(&p->calls, f)->recursive)
        closure_fail(p, "recursion", "function '%s' calls itself", name);
    ir_map_set(p->scratch, p->checked, (uintptr_t)f, f);
    return f;
}

const closure_functions *closure_find_functions(const closure_pass *p, const char *init,
                                                const char *finalize) {
    closure_functions *found = ir_new(p->scratch, closure_functions);
    found->init = find_function(p, init);
    found->finalize = finalize ? find_function(p, finalize) : NULL;
    if (finalize && found->finalize->nparams != 1)
        closure_fail(p, "init-type", "function '%s' takes more than the address of a special",
                     finalize);
    return found;
}

/* --------------------------------------------------------------------------------- declarations */

/* Structures with names, in the order of the names; one for each name. */
typedef ir_vec(const ir_type_info *) named_types;

/* Of those with one name, the oldest is first. */
static int compare_types(const void *a, const void *b) {
    const ir_type_info *const *x = a, *const *y = b;
    const int order = strcmp((*x)->name, (*y)->name);
    return order ? order : (*x)->index < (*y)->index ? -1 : 1;
}

static int compare_type_name(const void *name, const void *type) {
    return strcmp(name, (*(const ir_type_info *const *)type)->name);
}

static named_types find_structures(const closure_pass *p) {
    named_types list = {0};
    uint32_t n = 0;
    for (uint32_t k = 0; k < p->m->types.n; k++) {
        const ir_type_info *t = p->m->types.data[k];
        if (t->kind == IR_STRUCT && t->name) *ir_push(p->scratch, &list) = t;
    }
    if (list.n) qsort(list.data, list.n, sizeof *list.data, compare_types);
    for (uint32_t k = 0; k < list.n; k++)
        if (n == 0 || strcmp(list.data[n - 1]->name, list.data[k]->name) != 0)
            list.data[n++] = list.data[k];
    list.n = n;
    return list;
}

static ir_type find_structure(const closure_pass *p, const named_types *list, const char *name) {
    const ir_type_info *const *found =
        list->n ? bsearch(name, list->data, list->n, sizeof *list->data, compare_type_name) : NULL;
    if (!found) closure_fail(p, "layout-mismatch", "the module has no structure '%s'", name);
    return (ir_type)IR_STRUCT | (*found)->index << 12;
}

static void read_special(closure_pass *p, const named_types *structures,
                         const ir_layout_special *s) {
    const ir_type t = find_structure(p, structures, s->type);
    if (!ir_sizeof(p->m, t))
        closure_fail(p, "layout-mismatch", "structure '%s', which is special, has no bytes",
                     s->type);
    if (ir_map_get(&p->specials, t))
        closure_fail(p, "name-clash", "structure '%s' is special twice", s->type);
    const closure_functions *f = closure_find_functions(p, s->init, s->finalize);
    ir_map_set(p->scratch, &p->specials, t, (void *)(uintptr_t)f);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void check_names(const closure_pass *p, const ir_layout_closure *c) {
    const char **names = ir_new_array(p->scratch, const char *, c->members.n);
    uint32_t n = 0;
    for (uint32_t k = 0; k < c->members.n; k++)
        if (c->members.data[k].name) names[n++] = c->members.data[k].name;
    qsort(names, n, sizeof *names, compare_names);
    for (uint32_t k = 1; k < n; k++)
        if (strcmp(names[k - 1], names[k]) == 0)
            closure_fail(p, "name-clash", "kernel '%s', parameter %u: two members are '%s'",
                         c->kernel, c->param, names[k]);
}

static void read_closure(closure_pass *p, const ir_layout_closure *c) {
    const ir_func *f = ir_func_find(p->m, c->kernel);
    if (!f || ir_is_declaration(f) || !(f->flags & IR_FUNC_KERNEL))
        closure_fail(p, "layout-mismatch", "the module has no kernel '%s'", c->kernel);
    if (ir_map_get(&p->called, (uintptr_t)f))
        closure_fail(p, "called", "other functions call kernel '%s'", f->name);
    if (c->param >= f->nparams || !(f->param[c->param].attrs & IR_PARAM_BYVAL))
        closure_fail(p, "layout-mismatch", "kernel '%s' takes no struct as parameter %u", c->kernel,
                     c->param);
    if (f->param[c->param].byval_size != c->size)
        closure_fail(p, "layout-mismatch", "kernel '%s', parameter %u has %llu bytes, not %llu",
                     c->kernel, c->param, (unsigned long long)f->param[c->param].byval_size,
                     (unsigned long long)c->size);
    const uintptr_t key = (uintptr_t)f->param_val[c->param];
    if (ir_map_get(&p->described, key))
        closure_fail(p, "name-clash", "kernel '%s', parameter %u is described twice", c->kernel,
                     c->param);
    check_names(p, c);
    ir_map_set(p->scratch, &p->described, key, (void *)(uintptr_t)c);
}

/* Types are in the table after those that they consist of. */
static const bool *find_holders(const closure_pass *p) {
    const ir_module *m = p->m;
    bool *holders = ir_new_array(p->scratch, bool, m->types.n);
    for (uint32_t n = 0; n < m->types.n; n++) {
        const ir_type_info *t = m->types.data[n];
        if (t->kind != IR_STRUCT && t->kind != IR_ARRAY) continue;
        const ir_type own = (ir_type)t->kind | t->index << 12;
        const uint32_t parts = t->kind == IR_ARRAY ? t->count > 0 : t->count;
        holders[n] = ir_map_get(&p->specials, own) != NULL;
        for (uint32_t k = 0; k < parts && !holders[n]; k++)
            holders[n] = ir_is_aggregate(t->member[k]) && holders[t->member[k] >> 12];
    }
    return holders;
}

void closure_read_layout(closure_pass *p) {
    const ir_layout *l = p->layout;
    if (!l->specials.n && !l->closures.n) return;
    pass_find_calls(p->m, p->scratch, &p->calls);
    const named_types structures = find_structures(p);
    for (uint32_t k = 0; k < l->specials.n; k++) read_special(p, &structures, &l->specials.data[k]);
    if (l->specials.n) p->holders = find_holders(p);
    for (uint32_t k = 0; k < l->closures.n; k++) read_closure(p, &l->closures.data[k]);
}
