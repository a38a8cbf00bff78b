/* func.c — modules, functions, globals, and their names.
 *
 * Functions and globals of a module share one table of symbols, found by hash; a name that is taken
 * gets a suffix: "name.1".  Values and blocks have names of their own in each function, which are
 * kept for printing only.  All objects are in the module's arena and are freed with it.
 */
#include "ir/ir.h"

#include <stdatomic.h>

/* -------------------------------------------------------------------------------- names of symbols
 *
 * One name space for functions and globals.  An entry is never removed, only emptied, so that a
 * chain of equal hashes stays whole. */

typedef struct symbol symbol;
struct symbol {
    const char *name;
    ir_func *func;
    ir_global *global;
    symbol *next;
    symbol *base;    /* of "name.N": that of "name", once N was looked at */
    uint32_t number; /* N */
    uint32_t taken;  /* "name.1" up to this one are in use */
};

static symbol *find_symbol(const ir_module *m, const char *name) {
    symbol *s = ir_map_get(&m->symbols, ir_hash(0, name, strlen(name)));
    while (s && strcmp(s->name, name) != 0) s = s->next;
    return s;
}

static symbol *make_symbol(ir_module *m, const char *name) {
    symbol *s = find_symbol(m, name);
    if (s) return s;
    uint64_t hash = ir_hash(0, name, strlen(name));
    s = ir_new(&m->arena, symbol);
    s->name = ir_strdup(&m->arena, name);
    s->next = ir_map_get(&m->symbols, hash);
    ir_map_set(&m->arena, &m->symbols, hash, s);
    return s;
}

/* The symbol of `name`, or of the first free "name.N". */
static symbol *free_symbol(ir_module *m, const char *name) {
    symbol *base = make_symbol(m, name), *s = base;
    for (uint32_t n = base->taken + 1; s->func || s->global; n++) {
        s = make_symbol(m, ir_sprintf(&m->arena, "%s.%u", base->name, n));
        s->base = base;
        s->number = n;
        base->taken = n - 1;
    }
    return s;
}

/* The name is free again. */
static void empty_symbol(symbol *s) {
    s->func = NULL;
    s->global = NULL;
    if (s->base && s->base->taken >= s->number) s->base->taken = s->number - 1;
}

/* -------------------------------------------------------------------------------------- modules */

static _Atomic uint64_t last_number;

ir_module *ir_module_new(ir_ctx *cx, const char *name, unsigned pointer_bits) {
    ir_arena arena;
    ir_arena_init(&arena, cx);
    ir_module *m = ir_new(&arena, ir_module);
    m->number = atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed) + 1;
    m->cx = cx;
    m->arena = arena;
    m->name = ir_strdup(&m->arena, name);
    m->pointer_bits = pointer_bits;
    return m;
}

void ir_module_free(ir_module *m) {
    if (!m) return;
    ir_arena arena = m->arena;
    ir_arena_free(&arena);
}

/* -------------------------------------------------------------------------------------- globals */

ir_global *ir_global_new(ir_module *m, const char *name, ir_space space, ir_type type) {
    symbol *s = free_symbol(m, name);
    ir_global *g = ir_new(&m->arena, ir_global);
    *g = (ir_global){.module = m, .prev = m->last_global, .name = s->name, .space = space};
    g->type = type;
    g->align = (uint32_t)ir_alignof(m, type);
    s->global = g;
    if (m->last_global)
        m->last_global->next = g;
    else
        m->first_global = g;
    m->last_global = g;
    return g;
}

ir_global *ir_global_find(const ir_module *m, const char *name) {
    symbol *s = find_symbol(m, name);
    return s ? s->global : NULL;
}

void ir_global_remove(ir_global *g) {
    ir_module *m = g->module;
    empty_symbol(find_symbol(m, g->name));
    if (g->prev)
        g->prev->next = g->next;
    else
        m->first_global = g->next;
    if (g->next)
        g->next->prev = g->prev;
    else
        m->last_global = g->prev;
}

/* ------------------------------------------------------------------------------------ functions */

static void link_func(ir_module *m, ir_func *f) {
    f->prev = m->last_func;
    if (m->last_func)
        m->last_func->next = f;
    else
        m->first_func = f;
    m->last_func = f;
}

static ir_inst *new_param(ir_func *f, uint32_t index, ir_type t) {
    ir_inst *p = ir_inst_new(f, IR_OP_param, t, 0);
    p->imm.index = index;
    return p;
}

ir_func *ir_func_new(ir_module *m, const char *name, ir_type ret, uint32_t nparams,
                     const ir_type *types) {
    symbol *s = free_symbol(m, name);
    ir_func *f = ir_new(&m->arena, ir_func);
    f->module = m;
    f->name = s->name;
    f->level = L_SPMD;
    f->ret = ret;
    f->nparams = nparams;
    f->cfg_version = f->ssa_version = 1;
    f->param = ir_new_array(&m->arena, ir_param, nparams);
    f->param_val = ir_new_array(&m->arena, ir_inst *, nparams);
    for (uint32_t i = 0; i < nparams; i++) f->param_val[i] = new_param(f, i, types[i]);
    s->func = f;
    link_func(m, f);
    return f;
}

ir_func *ir_func_find(const ir_module *m, const char *name) {
    symbol *s = find_symbol(m, name);
    return s ? s->func : NULL;
}

void ir_func_remove(ir_func *f) {
    ir_module *m = f->module;
    empty_symbol(find_symbol(m, f->name));
    if (f->prev)
        f->prev->next = f->next;
    else
        m->first_func = f->next;
    if (f->next)
        f->next->prev = f->prev;
    else
        m->last_func = f->prev;
}

void ir_func_rename(ir_func *f, const char *name) {
    empty_symbol(find_symbol(f->module, f->name));
    symbol *s = free_symbol(f->module, name);
    s->func = f;
    f->name = s->name;
}

void ir_func_drop_body(ir_func *f) {
    f->first = f->last = NULL;
    f->leaves = (ir_map){0};
    for (uint32_t i = 0; i < f->nparams; i++) f->param_val[i]->uses = NULL;
    f->cfg_version++;
    f->ssa_version++;
}

ir_inst *ir_add_param(ir_func *f, ir_type t, const char *name) {
    ir_arena *a = &f->module->arena;
    uint32_t n = f->nparams++;
    ir_param *param = ir_new_array(a, ir_param, n + 1);
    ir_inst **val = ir_new_array(a, ir_inst *, n + 1);
    if (n) memcpy(param, f->param, n * sizeof *param);
    if (n) memcpy(val, f->param_val, n * sizeof *val);
    param[n].name = ir_strdup(a, name);
    val[n] = new_param(f, n, t);
    f->param = param;
    f->param_val = val;
    ir_set_name(f, val[n], name);
    return val[n];
}

void ir_split_param(ir_func *f, uint32_t at, uint32_t n, const ir_type *types) {
    ir_arena *a = &f->module->arena;
    uint32_t behind = f->nparams - at - 1, total = at + n + behind;
    ir_param *param = ir_new_array(a, ir_param, total);
    ir_inst **val = ir_new_array(a, ir_inst *, total);
    for (uint32_t i = 0; i < at; i++) {
        param[i] = f->param[i];
        val[i] = f->param_val[i];
    }
    for (uint32_t i = 0; i < n; i++) val[at + i] = new_param(f, at + i, types[i]);
    for (uint32_t i = 0; i < behind; i++) {
        param[at + n + i] = f->param[at + 1 + i];
        val[at + n + i] = f->param_val[at + 1 + i];
        val[at + n + i]->imm.index = at + n + i;
    }
    f->param = param;
    f->param_val = val;
    f->nparams = total;
}

void ir_keep_params(ir_func *f, const bool *keep) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->nparams; i++) {
        assert(keep[i] || !f->param_val[i]->uses);
        if (!keep[i]) continue;
        f->param[n] = f->param[i];
        f->param_val[n] = f->param_val[i];
        f->param_val[n]->imm.index = n;
        n++;
    }
    f->nparams = n;
}

/* ---------------------------------------------------------------------------------- value names */

void ir_set_name(ir_func *f, const ir_inst *i, const char *name) {
    ir_arena *a = &f->module->arena;
    while (f->names.n <= i->id) *ir_push(a, &f->names) = NULL;
    f->names.data[i->id] = name ? ir_strdup(a, name) : NULL;
}

const char *ir_name_of(const ir_func *f, const ir_inst *i) {
    return i->id < f->names.n ? f->names.data[i->id] : NULL;
}
