/* clone.c — copies of code: a function's body into another function, a region within its function,
 * functions and globals into another module.
 *
 * Bodies and regions go the same way.  First all blocks and edges of the copy are made, so that
 * each new block knows its predecessors; then phis with undef for every predecessor; then the other
 * instructions, of a body in reverse postorder, so that definitions come first.  A region's blocks
 * come in any order: there an operand without a copy is the original, and a second look replaces
 * it. At last phis get their arguments, matched by the block that each predecessor is a copy of. A
 * parameter may be replaced by undef; where undef may not stand the copy gets zero.
 *
 * Imports never recurse: a function or global is declared when something refers to it and waits in
 * the importer's lists for its body or initial bytes.  Two definitions are never joined because of
 * their names, which differ from module to module without meaning to; only constants of equal name,
 * type and bytes are.
 */
#include "ir/change.h"

typedef struct {
    ir_clone_map map;
    const ir_func *from;
    ir_importer *im;      /* NULL: the same module */
    ir_inst *const *args; /* for the body's parameters; NULL: a region */
    ir_block *after;      /* where returns go; NULL: they stay returns */
    ir_block *const *blocks;
    uint32_t n;
    uint32_t first_copy;     /* id of the first new block; the others follow */
    uint32_t ids, block_ids; /* value and block ids of the source are below */
} copier;

static ir_type import_type(ir_importer *im, const ir_module *from, ir_type t);
static ir_func *import_func(ir_importer *im, const ir_func *f);
static ir_global *import_global(ir_importer *im, const ir_global *g);

static ir_arena *arena_of(const copier *c) { return &c->map.to->module->arena; }

/* -------------------------------------------------------------------------------- blocks, edges */

static void copy_blocks(copier *c) {
    c->first_copy = c->map.to->next_block;
    for (uint32_t k = 0; k < c->n; k++) {
        const ir_block *b = c->blocks[k];
        ir_block *copy = ir_block_new(c->map.to, b->name);
        copy->loop_hint = b->loop_hint;
        c->map.block[b->id] = copy;
    }
}

/* NULL when b is no copy. */
static ir_block *original_of(const copier *c, const ir_block *b) {
    uint32_t k = b->id - c->first_copy;
    return b->id >= c->first_copy && k < c->n ? c->blocks[k] : NULL;
}

static bool leaves_body(const copier *c, const ir_block *b) {
    return c->after && b->last->op == IR_OP_ret;
}

static void copy_edges(copier *c) {
    ir_vec(ir_block *) to = {0};
    for (uint32_t k = 0; k < c->n; k++) {
        const ir_block *b = c->blocks[k];
        to.n = 0;
        for (uint32_t s = 0; s < b->nsucc; s++) {
            ir_block *copy = c->map.block[b->succ[s]->id];
            *ir_push(arena_of(c), &to) = copy ? copy : b->succ[s];
        }
        if (leaves_body(c, b)) *ir_push(arena_of(c), &to) = c->after;
        ir_set_succs(c->map.block[b->id], to.n, to.data);
    }
}

/* ------------------------------------------------------------------------------------- operands */

static ir_inst *copy_leaf(copier *c, ir_inst *v) {
    ir_func *to = c->map.to;
    switch (v->op) {
    case IR_OP_param: return c->args[v->imm.index];
    case IR_OP_undef: return ir_undef(to, v->type);
    case IR_OP_address:
        return ir_address(to, c->im ? import_global(c->im, v->imm.global) : v->imm.global);
    default: break;
    }
    assert(ir_is_const(v) && "operand comes before its definition");
    return ir_is_vector(v->type) ? ir_const_lanes(to, v->type, v->imm.lanes)
                                 : ir_const(to, v->type, v->imm.bits);
}

static ir_inst *copy_of(copier *c, ir_inst *v) {
    if (v->id >= c->ids) return v;
    ir_inst **known = &c->map.value[v->id];
    if (*known) return *known;
    return c->args ? (*known = copy_leaf(c, v)) : v;
}

static ir_inst *operand_for(copier *c, const ir_inst *user, unsigned n, ir_inst *v) {
    return ir_settle(c->map.to, (ir_op)user->op, n, copy_of(c, v));
}

/* --------------------------------------------------------------------------------- instructions */

static const ir_var *import_var(copier *c, const ir_var *v) {
    ir_var *copy = ir_dup(arena_of(c), v, sizeof *v);
    copy->type = import_type(c->im, c->from->module, v->type);
    return copy;
}

/* What an imm points to belongs to the module. */
static ir_imm import_imm(copier *c, const ir_inst *i) {
    ir_imm imm = i->imm;
    switch (ir_info(i)->imm) {
    case I_VAR: imm.var = import_var(c, imm.var); break;
    case I_MASK: imm.mask = ir_dup(arena_of(c), imm.mask, ir_lanes(i->type)); break;
    case I_FUNC: imm.func = import_func(c->im, imm.func); break;
    case I_STRING: imm.string = ir_strdup(arena_of(c), imm.string); break;
    default: break;
    }
    return imm;
}

static void copy_name(copier *c, const ir_inst *i, const ir_inst *copy) {
    const char *name = ir_name_of(c->from, i);
    if (!name) return;
    if (c->im) {
        ir_set_name(c->map.to, copy, name);
        return;
    }
    while (c->map.to->names.n <= copy->id) *ir_push(arena_of(c), &c->map.to->names) = NULL;
    c->map.to->names.data[copy->id] = name;
}

static uint32_t loc_of(copier *c, const ir_inst *i) {
    return c->im ? ir_import_loc(c->im, c->from->module, i->loc) : i->loc;
}

static ir_inst *start_copy(copier *c, const ir_inst *i, unsigned nargs) {
    ir_type t = c->im ? import_type(c->im, c->from->module, i->type) : i->type;
    ir_inst *copy = ir_inst_new(c->map.to, i->op, t, nargs);
    copy->flags = i->flags;
    copy->imm = c->im ? import_imm(c, i) : i->imm;
    copy->loc = loc_of(c, i);
    c->map.value[i->id] = copy;
    copy_name(c, i, copy);
    return copy;
}

static void copy_phis(copier *c, const ir_block *b) {
    ir_block *to = c->map.block[b->id];
    foreach_phi (phi, b) {
        ir_inst *copy = start_copy(c, phi, to->npred);
        for (unsigned p = 0; p < to->npred; p++)
            ir_set_arg(copy, p, ir_undef(c->map.to, copy->type));
        ir_insert(copy, to, NULL);
    }
}

static void copy_rest(copier *c, const ir_block *b) {
    ir_block *to = c->map.block[b->id];
    for (ir_inst *i = ir_first_non_phi(b); i != b->last; i = i->next) {
        ir_inst *copy = start_copy(c, i, i->nargs);
        for (unsigned n = 0; n < i->nargs; n++)
            ir_set_arg(copy, n, operand_for(c, i, n, ir_arg(i, n)));
        ir_insert(copy, to, NULL);
    }
    bool leaves = leaves_body(c, b);
    unsigned nargs = leaves ? 0 : b->last->nargs;
    ir_inst *end = ir_inst_new(c->map.to, leaves ? IR_OP_jmp : b->last->op, IR_VOID, nargs);
    end->loc = loc_of(c, b->last);
    for (unsigned n = 0; n < nargs; n++)
        ir_set_arg(end, n, operand_for(c, b->last, n, ir_arg(b->last, n)));
    ir_insert(end, to, NULL);
}

/* map.edge of a predecessor of b, which is of the source, becomes its place among them. */
static void number_edges(copier *c, const ir_block *b) {
    for (uint32_t p = 0; p < b->npred; p++)
        if (b->pred[p]->id < c->block_ids) c->map.edge[b->pred[p]->id] = p;
}

/* The argument of an original phi for the edge that `pred`, a copy, has taken over. */
static ir_inst *phi_arg_for(copier *c, const ir_inst *phi, const ir_block *pred) {
    return copy_of(c, ir_arg(phi, c->map.edge[original_of(c, pred)->id]));
}

static void fill_phis(copier *c, const ir_block *b) {
    const ir_block *to = c->map.block[b->id];
    if (b->first->op == IR_OP_phi) number_edges(c, b);
    foreach_phi (phi, b) {
        ir_inst *copy = c->map.value[phi->id];
        for (uint32_t p = 0; p < to->npred; p++)
            ir_set_arg(copy, p, phi_arg_for(c, phi, to->pred[p]));
    }
}

/* Copies c->blocks, in which definitions come before their uses by instructions other than phis. */
static void copy_all(copier *c) {
    c->block_ids = c->from->next_block;
    copy_blocks(c);
    copy_edges(c);
    for (uint32_t k = 0; k < c->n; k++) copy_phis(c, c->blocks[k]);
    for (uint32_t k = 0; k < c->n; k++) copy_rest(c, c->blocks[k]);
    for (uint32_t k = 0; k < c->n; k++) fill_phis(c, c->blocks[k]);
}

/* --------------------------------------------------------------------------------------- bodies */

static ir_inst *returned_by(copier *c, const ir_block *copy) {
    return copy_of(c, ir_arg(original_of(c, copy)->last, 0));
}

static ir_inst *join_returns(copier *c) {
    ir_block *after = c->after;
    ir_type ret = c->im ? import_type(c->im, c->from->module, c->from->ret) : c->from->ret;
    if (ret == IR_VOID) return NULL;
    if (after->npred == 0) return ir_undef(c->map.to, ret);
    if (after->npred == 1) return returned_by(c, after->pred[0]);
    ir_inst *phi = ir_inst_new(c->map.to, IR_OP_phi, ret, after->npred);
    for (uint32_t p = 0; p < after->npred; p++) ir_set_arg(phi, p, returned_by(c, after->pred[p]));
    ir_insert(phi, after, after->first);
    return phi;
}

static void find_body_order(ir_arena *a, const ir_func *f, ir_order *o) {
    uint32_t n = f->next_block;
    *o = (ir_order){.rpo = ir_new_array(a, ir_block *, n),
                    .index = ir_new_array(a, uint32_t, n),
                    .pre = ir_new_array(a, ir_block *, n),
                    .number = ir_new_array(a, uint32_t, n),
                    .parent = ir_new_array(a, uint32_t, n)};
    ir_find_order(f, o);
}

static void copy_body(copier *c) {
    ir_order order;
    find_body_order(arena_of(c), c->from, &order);
    c->blocks = order.rpo;
    c->n = order.n;
    c->ids = c->from->next_id;
    c->map.value = ir_new_array(arena_of(c), ir_inst *, c->ids);
    c->map.block = ir_new_array(arena_of(c), ir_block *, c->from->next_block);
    c->map.edge = ir_new_array(arena_of(c), uint32_t, c->from->next_block);
    copy_all(c);
}

static void finish_imports(ir_importer *im);

ir_inst *ir_clone_body(ir_func *to, const ir_func *from, ir_inst *const *args, ir_block *after,
                       ir_block **entry) {
    static ir_inst *const none[1];
    ir_importer im = {.m = to->module};
    bool foreign = to->module != from->module;
    copier c = {.map.to = to, .from = from, .im = foreign ? &im : NULL, .after = after};
    assert(after->npred == 0);
    c.args = from->nparams ? args : none;
    copy_body(&c);
    finish_imports(&im);
    *entry = c.map.block[from->first->id];
    return join_returns(&c);
}

static void swap_bodies(ir_func *f, ir_func *g) {
    ir_func old = *f;
#define SWAP(field) f->field = g->field, g->field = old.field
    SWAP(first);
    SWAP(last);
    SWAP(param_val);
    SWAP(next_id);
    SWAP(next_block);
    SWAP(cfg_version);
    SWAP(ssa_version);
    SWAP(leaves);
    SWAP(names);
    SWAP(dom);
    SWAP(loops);
    SWAP(live);
#undef SWAP
}

void ir_take_body(ir_func *to, ir_func *from) {
    assert(to->module == from->module && to->nparams == from->nparams);
    swap_bodies(to, from);
    for (uint32_t p = 0; p < to->nparams; p++) {
        const char *name = ir_name_of(from, from->param_val[p]);
        assert(to->param_val[p]->type == from->param_val[p]->type);
        if (name) ir_set_name(to, to->param_val[p], name);
    }
    foreach_block (b, to) b->func = to;
    ir_func_drop_body(from);
}

/* -------------------------------------------------------------------------------------- regions */

static void follow_copies(copier *c, const ir_block *b) {
    foreach_inst (i, c->map.block[b->id])
        for (unsigned n = 0; n < i->nargs; n++) {
            ir_inst *v = copy_of(c, ir_arg(i, n));
            if (v != ir_arg(i, n)) ir_set_arg(i, n, v);
        }
}

/* Blocks behind the region have got new predecessors at the end of their lists. */
static void extend_phis(copier *c, const ir_block *b) {
    for (uint32_t s = 0; s < b->nsucc; s++) {
        ir_block *to = b->succ[s];
        if (c->map.block[to->id] || to->first->op != IR_OP_phi) continue;
        if (to->first->nargs == to->npred) continue;
        number_edges(c, to);
        foreach_phi (phi, to)
            while (phi->nargs < to->npred)
                phi = ir_append_arg(phi, phi_arg_for(c, phi, to->pred[phi->nargs]));
    }
}

void ir_clone_region(ir_func *f, ir_block *const *blocks, uint32_t n, ir_clone_map *map) {
    map->to = f;
    copier c = {.map = *map, .from = f, .blocks = blocks, .n = n, .ids = f->next_id};
    copy_all(&c);
    for (uint32_t k = 0; k < n; k++) follow_copies(&c, blocks[k]);
    for (uint32_t k = 0; k < n; k++) extend_phis(&c, blocks[k]);
}

/* -------------------------------------------------------------------------------------- imports */

static void *known_copy(const ir_importer *im, const void *source) {
    return ir_map_get(&im->done, (uintptr_t)source);
}

static void remember(ir_importer *im, const void *source, void *copy) {
    ir_map_set(&im->m->arena, &im->done, (uintptr_t)source, copy);
}

/* Recursion is bounded by IR_MAX_TYPE_DEPTH. */
static ir_type import_members(ir_importer *im, const ir_module *from, const ir_type_info *t) {
    uint32_t n = t->kind == IR_ARRAY ? 1 : t->count;
    ir_type *member = ir_new_array(&im->m->arena, ir_type, n);
    for (uint32_t k = 0; k < n; k++) member[k] = import_type(im, from, t->member[k]);
    return t->kind == IR_ARRAY ? ir_array_type(im->m, member[0], t->count)
                               : ir_struct_type(im->m, t->name, t->packed, member, n);
}

static bool needs_no_table(ir_type t) {
    return !ir_is_aggregate(t) && ir_kind_of(t) != IR_IMAGE && ir_kind_of(t) != IR_SAMPLED_IMAGE;
}

static ir_type import_type(ir_importer *im, const ir_module *from, ir_type t) {
    if (needs_no_table(t) || from == im->m) return t;
    const ir_type_info *info = ir_type_get(from, t);
    uintptr_t known = (uintptr_t)known_copy(im, info);
    if (known) return (ir_type)known;
    ir_type copy = ir_is_aggregate(t) ? import_members(im, from, info) : ir_image_type(im->m, info);
    remember(im, info, (void *)(uintptr_t)copy);
    return copy;
}

static bool is_same_signature(ir_importer *im, const ir_func *f, const ir_func *there) {
    bool same = f->nparams == there->nparams;
    same = same && import_type(im, f->module, f->ret) == there->ret;
    for (uint32_t p = 0; same && p < f->nparams; p++)
        same = import_type(im, f->module, f->param_val[p]->type) == there->param_val[p]->type;
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
        copy->param[p].pointee = import_type(im, f->module, f->param[p].pointee);
        if (ir_name_of(f, f->param_val[p]))
            ir_set_name(copy, copy->param_val[p], ir_name_of(f, f->param_val[p]));
    }
}

static ir_func *new_func(ir_importer *im, const ir_func *f, const char *name) {
    ir_type *params = ir_new_array(&im->m->arena, ir_type, f->nparams);
    for (uint32_t p = 0; p < f->nparams; p++)
        params[p] = import_type(im, f->module, f->param_val[p]->type);
    return ir_func_new(im->m, name, import_type(im, f->module, f->ret), f->nparams, params);
}

/* Makes `copy` (declared, without body) stand for f; the body follows in finish_imports. */
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

/* A function that something imported refers to; as a callee it is no kernel any more. */
static ir_func *import_func(ir_importer *im, const ir_func *f) {
    ir_func *known = known_copy(im, f);
    if (known) return known;
    ir_func *there = f->flags & IR_FUNC_IMPORT ? find_declaration(im, f, f->name) : NULL;
    ir_func *copy = adopt(im, f, there ? there : new_func(im, f, f->name));
    copy->flags &= ~(uint32_t)IR_FUNC_KERNEL;
    return copy;
}

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
    ir_type type = import_type(im, g->module, g->type);
    ir_global *copy = find_twin(im, g, type, define);
    bool fill = !copy || (copy->flags & IR_FUNC_IMPORT);
    if (!copy) copy = ir_global_new(im->m, g->name, g->space, type);
    remember(im, g, copy);
    if (fill) *ir_push(&im->m->arena, &im->globals) = g;
    return copy;
}

static ir_global *import_global(ir_importer *im, const ir_global *g) {
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
        reloc[k].global = import_global(im, g->reloc[k].global);
    }
    copy->reloc = reloc;
    copy->nreloc = g->nreloc;
}

static void fill_func(ir_importer *im, const ir_func *f) {
    ir_func *to = known_copy(im, f);
    copier c = {.map.to = to, .from = f, .im = im, .args = to->param_val};
    if (im->m == f->module) c.im = NULL;
    copy_body(&c);
}

static void finish_imports(ir_importer *im) {
    while (im->funcs.n || im->globals.n) {
        if (im->globals.n)
            fill_global(im, im->globals.data[--im->globals.n]);
        else
            fill_func(im, im->funcs.data[--im->funcs.n]);
    }
}

/* Within one module everything but the function itself is shared. */
ir_func *ir_importer_copy(ir_importer *im, const ir_func *f, const char *name) {
    ir_func *there = im->m == f->module ? NULL : find_declaration(im, f, name);
    ir_func *copy = adopt(im, f, there ? there : new_func(im, f, name));
    finish_imports(im);
    return copy;
}

ir_func *ir_import_func(ir_module *m, const ir_func *f, const char *name) {
    ir_importer im = {.m = m};
    return ir_importer_copy(&im, f, name);
}

ir_global *ir_importer_global(ir_importer *im, const ir_global *g) {
    if (im->m == g->module) return (ir_global *)(uintptr_t)g;
    ir_global *copy = adopt_global(im, g, true);
    finish_imports(im);
    return copy;
}

ir_global *ir_import_global(ir_module *m, const ir_global *g) {
    ir_importer im = {.m = m};
    return ir_importer_global(&im, g);
}

ir_type ir_import_type(ir_module *m, const ir_module *from, ir_type t) {
    ir_importer im = {.m = m};
    return import_type(&im, from, t);
}
