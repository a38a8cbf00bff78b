/* promote.c — stack variables become values.
 *
 * A variable qualifies when it is only loaded and stored, whole, by accesses of one size that are
 * not volatile; where types differ the bits are read as the other type.  Its accesses are sorted by
 * their place in reverse postorder.  Within a block a load takes the value of the last store; a
 * load before any store waits for the value at the block's head, which ssa.c finds once the last
 * store of every block is known.  Such a value may itself be a waiting load, of a block further up:
 * its replacement is known by then.  Reading bits as another type and back gives the first value
 * again, so a replacement may be a waiting load too.  Loads before any store give undef.
 *
 * If one block has all stores and dominates all loads outside of it, all of them have the value at
 * its end, and no search is needed.  Values that are kept over barriers make many such variables.
 *
 * Variables are taken last to first: a variable that holds the address of another one usually
 * comes after it, and the other qualifies when this one is gone.
 */
#include "ir/change.h"

#include <stdlib.h>

typedef struct {
    ir_inst *inst;
    uint32_t place; /* in reverse postorder of the function's instructions */
} var_access;

typedef ir_vec(var_access) access_list;
typedef ir_vec(ir_inst *) inst_list;

typedef struct {
    ir_func *f;
    ir_arena *scratch;
    ir_builder b;
    ir_ssa ssa;
    uint32_t *place; /* by value id; 0: in an unreachable block */
    /* of the current variable */
    ir_type type;
    ir_var_uses uses;
    access_list accesses;
    inst_list waiting;     /* loads that need the value at their block's head */
    inst_list replacement; /* of each waiting load */
} promoter;

/* ------------------------------------------------------------------------------------ selection */

static ir_type access_type(const ir_inst *i) {
    return i->op == IR_OP_load ? i->type : ir_arg(i, 0)->type;
}

static bool is_whole_access(const promoter *p, const ir_var_use *u, const ir_inst *first) {
    if (u->inst->op != IR_OP_load && u->inst->op != IR_OP_store) return false;
    if (u->offset != 0 || (u->inst->imm.mem.flags & IR_MEM_VOLATILE)) return false;
    return ir_can_reinterpret(p->f->module, access_type(u->inst), access_type(first));
}

/* The type of all accesses, otherwise the variable's own type when that fits. */
static ir_type choose_type(const promoter *p, const ir_inst *alloca) {
    const ir_var_uses *uses = &p->uses;
    ir_type own = alloca->imm.var->type, first = access_type(uses->data[0].inst);
    bool same = true;
    for (uint32_t k = 1; k < uses->n; k++) same &= access_type(uses->data[k].inst) == first;
    return !same && ir_can_reinterpret(p->f->module, own, first) ? own : first;
}

static bool qualifies(promoter *p, const ir_inst *alloca) {
    p->uses.n = 0;
    if (!ir_find_var_uses(alloca, p->scratch, &p->uses)) return false;
    for (uint32_t k = 0; k < p->uses.n; k++)
        if (!is_whole_access(p, &p->uses.data[k], p->uses.data[0].inst)) return false;
    return p->uses.n == 0 || ir_access_size(p->f->module, access_type(p->uses.data[0].inst)) <=
                                 ir_sizeof(p->f->module, alloca->imm.var->type);
}

static int compare_places(const void *a, const void *b) {
    uint32_t x = ((const var_access *)a)->place, y = ((const var_access *)b)->place;
    return x < y ? -1 : x > y;
}

/* Accesses in unreachable blocks have no place: loads there give undef, stores do nothing. */
static void sort_accesses(promoter *p) {
    p->accesses.n = 0;
    for (uint32_t k = 0; k < p->uses.n; k++) {
        ir_inst *i = p->uses.data[k].inst;
        if (p->place[i->id]) {
            *ir_push(p->scratch, &p->accesses) = (var_access){i, p->place[i->id]};
        } else {
            if (i->op == IR_OP_load) ir_replace_uses(i, ir_undef(p->f, i->type));
            ir_remove(i);
        }
    }
    if (p->accesses.n)
        qsort(p->accesses.data, p->accesses.n, sizeof *p->accesses.data, compare_places);
}

/* ------------------------------------------------------------------------------------ rewriting */

static ir_inst *convert(promoter *p, ir_inst *v, ir_type t, ir_inst *where) {
    ir_before(&p->b, where);
    p->b.loc = where->loc;
    return ir_build_reinterpret(&p->b, v, t);
}

static void replace_load(ir_inst *load, ir_inst *v) {
    ir_replace_uses(load, v);
    ir_remove(load);
}

/* Rewrites one block's accesses, from number k on; returns the number of the next block's first. */
static uint32_t serve_block(promoter *p, uint32_t k) {
    ir_block *block = p->accesses.data[k].inst->block;
    ir_inst *value = NULL;
    for (; k < p->accesses.n && p->accesses.data[k].inst->block == block; k++) {
        ir_inst *i = p->accesses.data[k].inst;
        if (i->op == IR_OP_store) {
            value = convert(p, ir_arg(i, 0), p->type, i);
            ir_remove(i);
        } else if (value) {
            replace_load(i, convert(p, value, i->type, i));
        } else {
            *ir_push(p->scratch, &p->waiting) = i;
            i->mark = p->waiting.n;
        }
    }
    if (value) ir_ssa_def(&p->ssa, block, value);
    return k;
}

/* What v is replaced by: waiting loads further up have their replacement.  Their mark is their
 * number; the marks of other values mean nothing. */
static ir_inst *final_value(const promoter *p, ir_inst *v) {
    while (v->mark && v->mark <= p->replacement.n && p->waiting.data[v->mark - 1] == v)
        v = p->replacement.data[v->mark - 1];
    return v;
}

static void name_phis(promoter *p, const char *name) {
    if (!name) return;
    for (uint32_t k = 0; k < p->ssa.phis.n; k++)
        ir_set_name(p->f, p->ssa.head[p->ssa.phis.data[k]->id], name);
}

/* The value of the only block that stores, if it dominates all blocks of waiting loads. */
static ir_inst *find_only_value(const promoter *p) {
    if (p->ssa.defs.n != 1) return NULL;
    const ir_dom *d = ir_dominators(p->f);
    const ir_block *b = p->ssa.defs.data[0];
    for (uint32_t k = 0; k < p->waiting.n; k++) {
        const ir_block *at = p->waiting.data[k]->block;
        if (at == b || !ir_block_dominates(d, b, at)) return NULL;
    }
    return p->ssa.end[b->id];
}

static void use_only_value(promoter *p, ir_inst *v) {
    for (uint32_t k = 0; k < p->waiting.n; k++) {
        ir_inst *load = p->waiting.data[k];
        replace_load(load, convert(p, v, load->type, load));
    }
}

static void serve_waiting(promoter *p, const char *name) {
    if (!p->waiting.n) return;
    ir_inst *only = find_only_value(p);
    if (only) {
        use_only_value(p, only);
        return;
    }
    ir_ssa_place(&p->ssa, NULL);
    for (uint32_t k = 0; k < p->waiting.n; k++) {
        ir_inst *load = p->waiting.data[k];
        ir_inst *v = final_value(p, ir_ssa_at_head(&p->ssa, load->block));
        v = final_value(p, convert(p, v, load->type, load));
        *ir_push(p->scratch, &p->replacement) = v;
    }
    ir_ssa_finish(&p->ssa);
    name_phis(p, name);
    for (uint32_t k = 0; k < p->waiting.n; k++)
        replace_load(p->waiting.data[k], p->replacement.data[k]);
}

static void promote(promoter *p, ir_inst *alloca) {
    if (p->uses.n) {
        p->type = choose_type(p, alloca);
        p->waiting.n = p->replacement.n = 0;
        sort_accesses(p);
        ir_ssa_begin(&p->ssa, p->f, p->scratch, p->type);
        for (uint32_t k = 0; k < p->accesses.n;) k = serve_block(p, k);
        serve_waiting(p, ir_name_of(p->f, alloca));
    }
    ir_count(p->f->module->cx, vars_promoted, 1);
    ir_remove_var(alloca, p->scratch);
}

/* ---------------------------------------------------------------------------------------- entry */

static void number_places(promoter *p) {
    const ir_order *o = &ir_dominators(p->f)->order;
    uint32_t place = 0;
    p->place = ir_new_array(p->scratch, uint32_t, p->f->next_id);
    for (uint32_t k = 0; k < o->n; k++)
        foreach_inst (i, o->rpo[k]) p->place[i->id] = ++place;
}

bool ir_promote_vars(ir_func *f, ir_arena *scratch) {
    promoter p = {.f = f, .scratch = scratch};
    inst_list vars = {0};
    bool changed = false;
    foreach_inst (i, f->first)
        if (i->op == IR_OP_alloca) *ir_push(scratch, &vars) = i;
    if (!vars.n) return false;
    ir_builder_init(&p.b, f);
    number_places(&p);
    while (vars.n) {
        ir_inst *alloca = vars.data[--vars.n];
        if (!qualifies(&p, alloca)) continue;
        promote(&p, alloca);
        changed = true;
    }
    return changed;
}
