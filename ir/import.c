/* import.c — types, functions and globals of one module become those of another.
 *
 * Imports never recurse: a function or global is declared when something refers to it and waits in
 * the importer's lists for its body or initial bytes.  Names of different modules may be equal by
 * accident, so definitions are not joined by name, except constants of equal name, type and bytes.
 */
#include "ir/clone.h"

static void *known_copy(const ir_importer *im, const void *source) {
    return ir_map_get(&im->done, (uintptr_t)source);
}

static void remember(ir_importer *im, const void *source, void *copy) {
    ir_map_set(&im->m->arena, &im->done, (uintptr_t)source, copy);
}

/* ---------------------------------------------------------------------------------------- types */

/* Recursion is bounded by IR_MAX_TYPE_DEPTH. */
static ir_type import_members(ir_importer *im, const ir_module *from, const ir_type_info *t) {
    uint32_t n = t->kind == IR_ARRAY ? 1 : t->count;
    ir_type *member = ir_new_array(&im->m->arena, ir_type, n);
    for (uint32_t k = 0; k < n; k++) member[k] = ir_importer_type(im, from, t->member[k]);
    if (t->kind == IR_ARRAY) return ir_array_type(im->m, member[0], t->count);
    const ir_type plain = ir_struct_type(im->m, t->marked ? NULL : t->name, t->packed, member, n);
    return ir_mark_members(im->m, t->name, plain, t->marked);
}

ir_type ir_importer_type(ir_importer *im, const ir_module *from, ir_type t) {
    if (!ir_is_in_table(t) || from == im->m) return t;
    const ir_type_info *info = ir_type_get(from, t);
    uintptr_t known = (uintptr_t)known_copy(im, info);
    if (known) return (ir_type)known;
    ir_type copy = ir_is_aggregate(t) ? import_members(im, from, info) : ir_image_type(im->m, info);
    remember(im, info, (void *)(uintptr_t)copy);
    return copy;
}

/* ------------------------------------------------------------------------------------ functions */

static bool is_same_signature(ir_importer *im, const ir_func *f, const ir_func *there) {
    bool same = f->nparams == there->nparams;
    same = same && ir_importer_type(im, f->module, f->ret) == there->ret;
    for (uint32_t p = 0; same && p < f->nparams; p++)
        same = ir_importer_type(im, f->module, f->param_val[p]->type) == there->param_val[p]->type;
    return same;
}

static const char *import_string(ir_importer *im, const char *s) {
    return s ? ir_strdup(&im->m->arena, s) : NULL;
}

static void import_facts(ir_importer *im, const ir_func *f, ir_func *copy) {
    copy->flags = f->flags;
    copy->level = f->level;
    copy->attrs = f->attrs;
    copy->refusal = import_string(im, f->refusal);
    for (uint32_t p = 0; p < f->nparams; p++) {
        copy->param[p] = f->param[p];
        copy->param[p].name = import_string(im, f->param[p].name);
        copy->param[p].type_name = import_string(im, f->param[p].type_name);
        copy->param[p].pointee = ir_importer_type(im, f->module, f->param[p].pointee);
        if (ir_name_of(f, f->param_val[p]))
            ir_set_name(copy, copy->param_val[p], ir_name_of(f, f->param_val[p]));
    }
}

static ir_func *new_func(ir_importer *im, const ir_func *f, const char *name) {
    ir_type *params = ir_new_array(&im->m->arena, ir_type, f->nparams);
    for (uint32_t p = 0; p < f->nparams; p++)
        params[p] = ir_importer_type(im, f->module, f->param_val[p]->type);
    return ir_func_new(im->m, name, ir_importer_type(im, f->module, f->ret), f->nparams, params);
}

/* Makes `copy` (declared, without body) stand for f; the body follows in ir_importer_finish. */
static ir_func *adopt(ir_importer *im, const ir_func *f, ir_func *copy) {
    import_facts(im, f, copy);
    remember(im, f, copy);
    if (!ir_is_declaration(f)) *ir_push(&im->m->arena, &im->funcs) = f;
    return copy;
}

/* A declaration in m that waits for a function like f, or NULL. */
static ir_func *find_declaration(ir_importer *im, const ir_func *f, const char *name) {
    ir_func *there = ir_func_find(im->m, name);
    if (!there || !(there->flags & IR_FUNC_IMPORT)) return NULL;
    return is_same_signature(im, f, there) ? there : NULL;
}

bool ir_importer_join(ir_importer *im, const ir_func *f, ir_func *there) {
    if (!is_same_signature(im, f, there)) return false;
    remember(im, f, there);
    return true;
}

ir_func *ir_importer_declare(ir_importer *im, const ir_func *f) {
    return adopt(im, f, new_func(im, f, f->name));
}

ir_func *ir_importer_callee(ir_importer *im, const ir_func *f) {
    ir_func *known = known_copy(im, f);
    if (known) return known;
    ir_func *there = f->flags & IR_FUNC_IMPORT ? find_declaration(im, f, f->name) : NULL;
    ir_func *copy = adopt(im, f, there ? there : new_func(im, f, f->name));
    copy->flags &= ~(uint32_t)IR_FUNC_KERNEL;
    return copy;
}

/* -------------------------------------------------------------------------------------- globals */

static bool is_same_constant(const ir_importer *im, const ir_global *g, const ir_global *there) {
    if (!g->constant || !there->constant || !g->init || !there->init) return false;
    if (g->nreloc || there->nreloc || g->align > there->align) return false;
    return memcmp(g->init, there->init, ir_sizeof(im->m, there->type)) == 0;
}

/* A global of m that may stand for g: its twin if both are constant, or a declaration of what g
 * declares, or, when asked, defines. */
static ir_global *find_twin(const ir_importer *im, const ir_global *g, ir_type type, bool define) {
    ir_global *there = ir_global_find(im->m, g->name);
    if (!there || there->space != g->space || there->type != type) return NULL;
    bool declares = (there->flags & IR_FUNC_IMPORT) && (define || (g->flags & IR_FUNC_IMPORT));
    return declares || is_same_constant(im, g, there) ? there : NULL;
}

static ir_global *adopt_global(ir_importer *im, const ir_global *g, bool define) {
    ir_global *known = known_copy(im, g);
    if (known) return known;
    ir_type type = ir_importer_type(im, g->module, g->type);
    ir_global *copy = find_twin(im, g, type, define);
    bool fill = !copy || (copy->flags & IR_FUNC_IMPORT);
    if (!copy) {
        copy = ir_global_new(im->m, g->name, g->space, type);
        copy->flags = g->flags;
    }
    remember(im, g, copy);
    if (fill) *ir_push(&im->m->arena, &im->globals) = g;
    return copy;
}

bool ir_importer_join_global(ir_importer *im, const ir_global *g, ir_global *there) {
    if (g->space != there->space || ir_importer_type(im, g->module, g->type) != there->type)
        return false;
    remember(im, g, there);
    return true;
}

ir_global *ir_importer_reference(ir_importer *im, const ir_global *g) {
    return adopt_global(im, g, false);
}

static void fill_global(ir_importer *im, const ir_global *g) {
    ir_global *copy = known_copy(im, g);
    ir_reloc *reloc = ir_new_array(&im->m->arena, ir_reloc, g->nreloc);
    copy->align = g->align;
    copy->flags = g->flags;
    copy->constant = g->constant;
    if (g->init) copy->init = ir_dup(&im->m->arena, g->init, ir_sizeof(im->m, copy->type));
    for (uint32_t k = 0; k < g->nreloc; k++) {
        reloc[k] = g->reloc[k];
        reloc[k].global = ir_importer_reference(im, g->reloc[k].global);
    }
    copy->reloc = reloc;
    copy->nreloc = g->nreloc;
}

/* --------------------------------------------------------------------------------- from outside */

void ir_importer_finish(ir_importer *im) {
    while (im->funcs.n || im->globals.n) {
        while (im->globals.n) fill_global(im, im->globals.data[--im->globals.n]);
        if (!im->funcs.n) continue;
        const ir_func *f = im->funcs.data[--im->funcs.n];
        ir_clone_into(im, f, known_copy(im, f));
    }
}

/* Within one module everything but the function itself is shared. */
ir_func *ir_importer_copy(ir_importer *im, const ir_func *f, const char *name) {
    ir_func *there = im->m == f->module ? NULL : find_declaration(im, f, name);
    ir_func *copy = adopt(im, f, there ? there : new_func(im, f, name));
    ir_importer_finish(im);
    return copy;
}

ir_func *ir_import_func(ir_module *m, const ir_func *f, const char *name) {
    ir_importer im = {.m = m};
    return ir_importer_copy(&im, f, name);
}

ir_global *ir_importer_global(ir_importer *im, const ir_global *g) {
    if (im->m == g->module) return (ir_global *)(uintptr_t)g;
    ir_global *copy = adopt_global(im, g, true);
    ir_importer_finish(im);
    return copy;
}

ir_global *ir_import_global(ir_module *m, const ir_global *g) {
    ir_importer im = {.m = m};
    return ir_importer_global(&im, g);
}

ir_type ir_import_type(ir_module *m, const ir_module *from, ir_type t) {
    ir_importer im = {.m = m};
    return ir_importer_type(&im, from, t);
}
