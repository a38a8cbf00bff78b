/* link.c — several modules become one.
 *
 * Names are given in this order: first to kernels and exports, which keep theirs; then to imports
 * that no module defines, for a later link.  All else is private to its module: it is imported with
 * the functions that use it, and renamed if its name is taken.  Bodies are copied last, so modules
 * may refer to each other.
 *
 * Where several modules define a name, the first definition is kept if both say that they are the
 * same (LinkOnceODR), or are equal functions: each module that includes a header defines its inline
 * functions.
 */
#include "ir/clone.h"
#include "ir/pack.h"

typedef struct {
    ir_importer importer;
    ir_map origin; /* a function of the linked module, which has no body yet -> where it is from */
    bool ok;
} linking;

static void complain(linking *l, const ir_module *m, const char *name, const char *what) {
    ir_report(l->importer.m->cx, (ir_message){.severity = IR_ERROR, .file = m->name}, "'%s' %s",
              name, what);
    l->ok = false;
}

/* May one definition replace the other? */
static bool are_same(uint32_t flags, uint32_t other) { return (flags | other) & IR_FUNC_ODR; }

/* Is f equal to the function that became `there`, with all that it refers to?  Kernels never are.
 */
static bool are_equal(linking *l, const ir_func *f, const ir_func *there) {
    ir_arena *a = &l->importer.m->arena;
    const ir_func *first = ir_map_get(&l->origin, (uintptr_t)there);
    ir_text x = {.arena = a}, y = {.arena = a};
    ir_global_list in_x = {0}, in_y = {0};
    if (!first || !f->first || !first->first || (f->flags | first->flags) & IR_FUNC_KERNEL)
        return false;
    ir_content(f, &x, &in_x);
    ir_content(first, &y, &in_y);
    for (uint32_t k = 0; k < in_x.n; k++)
        if (!in_x.data[k]->constant) return false;
    return x.n == y.n && memcmp(x.data, y.data, x.n) == 0;
}

static bool is_taken(const linking *l, const char *name) {
    return ir_func_find(l->importer.m, name) || ir_global_find(l->importer.m, name);
}

/* ---------------------------------------------------------------------------------- definitions */

static void define_func(linking *l, const ir_func *f) {
    ir_module *m = l->importer.m;
    ir_func *there = ir_func_find(m, f->name);
    if (!is_taken(l, f->name))
        ir_map_set(&m->arena, &l->origin, (uintptr_t)ir_importer_declare(&l->importer, f),
                   (void *)(uintptr_t)f);
    else if (!there || (!are_same(f->flags, there->flags) && !are_equal(l, f, there)))
        complain(l, f->module, f->name, "is defined more than once");
    else if (!ir_importer_join(&l->importer, f, there))
        complain(l, f->module, f->name, "has other parameters or another result elsewhere");
}

static void define_global(linking *l, const ir_global *g) {
    ir_global *there = ir_global_find(l->importer.m, g->name);
    if (!is_taken(l, g->name))
        ir_importer_reference(&l->importer, g);
    else if (!there || !are_same(g->flags, there->flags))
        complain(l, g->module, g->name, "is defined more than once");
    else if (!ir_importer_join_global(&l->importer, g, there))
        complain(l, g->module, g->name, "has another type elsewhere");
}

static void define_all(linking *l, const ir_module *m) {
    foreach_func (f, m)
        if (f->flags & (IR_FUNC_KERNEL | IR_FUNC_EXPORT)) define_func(l, f);
    foreach_global (g, m)
        if (g->flags & IR_FUNC_EXPORT) define_global(l, g);
}

/* -------------------------------------------------------------------------------------- imports */

static void resolve_func(linking *l, const ir_func *f) {
    ir_func *there = ir_func_find(l->importer.m, f->name);
    if (!there || there->flags & IR_FUNC_IMPORT)
        ir_importer_callee(&l->importer, f);
    else if (!ir_importer_join(&l->importer, f, there))
        complain(l, f->module, f->name, "is defined with other parameters or another result");
}

static void resolve_global(linking *l, const ir_global *g) {
    ir_global *there = ir_global_find(l->importer.m, g->name);
    if (!there || there->flags & IR_FUNC_IMPORT)
        ir_importer_reference(&l->importer, g);
    else if (!ir_importer_join_global(&l->importer, g, there))
        complain(l, g->module, g->name, "is defined with another type");
}

static void resolve_all(linking *l, const ir_module *m) {
    foreach_func (f, m)
        if (f->flags & IR_FUNC_IMPORT) resolve_func(l, f);
    foreach_global (g, m)
        if (g->flags & IR_FUNC_IMPORT) resolve_global(l, g);
}

/* -------------------------------------------------------------------------------------- results */

static void close_func(linking *l, ir_func *f) {
    if (f->flags & IR_FUNC_IMPORT) complain(l, f->module, f->name, "is not defined");
    f->flags &= ~(uint32_t)(IR_FUNC_EXPORT | IR_FUNC_ODR);
}

static void close_global(linking *l, ir_global *g) {
    if (g->flags & IR_FUNC_IMPORT) complain(l, g->module, g->name, "is not defined");
    g->flags &= ~(uint32_t)(IR_FUNC_EXPORT | IR_FUNC_ODR);
}

static void close_names(linking *l) {
    foreach_func (f, l->importer.m) close_func(l, f);
    foreach_global (g, l->importer.m) close_global(l, g);
}

static void take_source(ir_module *m, const ir_module *from) {
    if (from->source_version <= m->source_version) return;
    m->source_language = from->source_language;
    m->source_version = from->source_version;
}

bool ir_link(ir_module *m, ir_module *const *from, size_t n, bool whole) {
    linking l = {.importer = {.m = m}, .ok = true};
    for (size_t k = 0; k < n; k++) {
        if (from[k]->pointer_bits != m->pointer_bits)
            complain(&l, m, from[k]->name, "has pointers of another size");
        take_source(m, from[k]);
        define_all(&l, from[k]);
    }
    for (size_t k = 0; k < n; k++) resolve_all(&l, from[k]);
    if (!l.ok) return false;
    ir_importer_finish(&l.importer);
    if (whole) close_names(&l);
    return l.ok;
}
