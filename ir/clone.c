/* clone.c — copies of code: a function's body into another function, which may be in another module
 * (import.c), and a region within its function.
 *
 * Bodies and regions go the same way.  First all blocks and edges of the copy are made, so that
 * each new block knows its predecessors; then phis with undef for every predecessor; then the other
 * instructions, of a body in reverse postorder, so that definitions come first.  A region's blocks
 * come in any order: there an operand without a copy is the original, and a second look replaces
 * it.  At last phis get their arguments, matched by the block that each predecessor is a copy of.
 * A parameter may be replaced by undef; where undef is not allowed the copy gets zero.
 */
#include "ir/clone.h"

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
        return ir_address(to, c->im ? ir_importer_reference(c->im, v->imm.global) : v->imm.global);
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
    copy->type = ir_importer_type(c->im, c->from->module, v->type);
    return copy;
}

/* What an imm points to belongs to the module. */
static ir_imm import_imm(copier *c, const ir_inst *i) {
    ir_imm imm = i->imm;
    switch (ir_info(i)->imm) {
    case I_VAR: imm.var = import_var(c, imm.var); break;
    case I_MASK: imm.mask = ir_dup(arena_of(c), imm.mask, ir_lanes(i->type)); break;
    case I_FUNC: imm.func = ir_importer_callee(c->im, imm.func); break;
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
    ir_type t = c->im ? ir_importer_type(c->im, c->from->module, i->type) : i->type;
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
    ir_type ret = c->im ? ir_importer_type(c->im, c->from->module, c->from->ret) : c->from->ret;
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

void ir_clone_into(ir_importer *im, const ir_func *from, ir_func *to) {
    bool foreign = to->module != from->module;
    copier c = {.map.to = to, .from = from, .im = foreign ? im : NULL, .args = to->param_val};
    copy_body(&c);
}

ir_inst *ir_clone_body(ir_func *to, const ir_func *from, ir_inst *const *args, ir_block *after,
                       ir_block **entry) {
    static ir_inst *const none[1];
    ir_importer im = {.m = to->module};
    bool foreign = to->module != from->module;
    copier c = {.map.to = to, .from = from, .im = foreign ? &im : NULL, .after = after};
    assert(after->npred == 0);
    c.args = from->nparams ? args : none;
    copy_body(&c);
    ir_importer_finish(&im);
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

/* Blocks after the region have got new predecessors at the end of their lists. */
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
