/* regions_once.c — what all items of a region do alike moves in front of the loops over them.
 *
 *   store s / 2, slot      a value that is kept once for the group, when all items store it
 *   br (s < 2), …          the branch by which they choose the next synchronization point
 *
 * What is left has no effect, so a guard that skips the rest of a region can become the bound of
 * its loop (regions_bounds.c).  This is how `for (s = n / 2; s; s /= 2) if (id < s) …` becomes
 * loops that run s items.
 *
 * A value moves if it is computed by few cheap operations, without memory, from what is known
 * before the loops.  A store moves if every item executes it, and if the region does nothing else
 * with the variable.  The preheader has read what regions need of variables before.
 */
#include "passes/workgroup/regions_impl.h"

enum { MAX_HOIST = 4 };

static bool is_before(const pass_hoister *h, const ir_inst *v) {
    return pass_is_outside(h->g, v) || v->block == h->region->preheader;
}

/* A division by a constant, which does not trap. */
static bool is_safe_division(const ir_inst *v) {
    if (!ir_has_flag(v, F_TRAPS) || ir_is_vector(v->type)) return false;
    const ir_inst *by = ir_arg(v, 1);
    return ir_is_const(by) && by->imm.bits && ir_signed_const(by) != -1;
}

static bool may_hoist(const pass_hoister *h, const ir_inst *v, unsigned *left) {
    if (is_before(h, v)) return true;
    if (v->op == IR_OP_phi || v->nargs > 3 || !*left) return false;
    if (ir_info(v)->rule == R_QUERY || (!ir_is_cheap(v) && !is_safe_division(v))) return false;
    --*left;
    for (unsigned n = 0; n < v->nargs; n++)
        if (!may_hoist(h, ir_arg(v, n), left)) return false;
    return true;
}

bool pass_may_hoist(const pass_hoister *h, const ir_inst *v) {
    unsigned left = MAX_HOIST;
    return may_hoist(h, v, &left);
}

/* Recursion is bounded by MAX_HOIST. */
ir_inst *pass_hoist(pass_hoister *h, ir_inst *v) {
    ir_inst *args[3];
    if (is_before(h, v)) return v;
    for (unsigned n = 0; n < v->nargs; n++) args[n] = pass_hoist(h, ir_arg(v, n));
    return ir_build_like(&h->b, v, v->type, args);
}

/* --------------------------------------------------------------------------------------- stores */

static bool is_kept_once(const pass_hoister *h, const ir_inst *address) {
    bool variable = address->op == IR_OP_alloca || address->op == IR_OP_inttoptr;
    return variable && address->block == h->g->entry.block;
}

static bool is_in_region(const pass_hoister *h, const ir_block *b) {
    return b->id < h->nblocks && h->region_of[b->id] == h->index;
}

/* Is the store all that the region does with its variable?  Others load and store it whole. */
static bool is_only_use(const pass_hoister *h, const ir_inst *store) {
    foreach_use (u, ir_arg(store, 1)) {
        const ir_inst *i = u->user;
        bool whole = i->op == IR_OP_load || (i->op == IR_OP_store && ir_arg(i, 1) == u->val);
        if (!whole || (i != store && is_in_region(h, i->block))) return false;
    }
    return true;
}

static void hoist_stores(pass_hoister *h, const ir_block *b) {
    foreach_inst (i, b) {
        if (i->op != IR_OP_store || !is_kept_once(h, ir_arg(i, 1)) || !is_only_use(h, i)) continue;
        if (!pass_may_hoist(h, ir_arg(i, 0))) continue;
        ir_inst *args[] = {pass_hoist(h, ir_arg(i, 0)), ir_arg(i, 1)};
        ir_build_raw(&h->b, IR_OP_store, IR_VOID, (ir_attrs){i->flags, i->imm}, (ir_args){2, args});
        ir_remove(i);
    }
}

/* ----------------------------------------------------------------------------------- the region */

/* The only block from which items leave the region; NULL: there are several. */
static ir_block *find_exit(const pass_region *r) {
    ir_block *exit = NULL;
    for (uint32_t k = 0; k < r->blocks.n; k++)
        for (uint32_t n = 0; n < r->blocks.data[k]->nsucc; n++)
            for (uint32_t t = 0; t < r->targets.n; t++) {
                if (r->blocks.data[k]->succ[n] != r->targets.data[t]) continue;
                if (exit && exit != r->blocks.data[k]) return NULL;
                exit = r->blocks.data[k];
            }
    return exit;
}

void pass_begin_hoisting(pass_hoister *h) {
    const pass_region *r = h->region;
    ir_builder_init(&h->b, h->g->f);
    ir_at_end(&h->b, r->preheader);
    ir_block *exit = find_exit(r);
    hoist_stores(h, r->head);
    if (exit && exit != r->head) hoist_stores(h, exit);
    if (!r->chooser || r->targets.n < 2) return;
    ir_inst *end = r->chooser->last, *choice = ir_arg(end, 0);
    if (pass_may_hoist(h, choice)) ir_set_arg(end, 0, pass_hoist(h, choice));
    h->chooses_before = is_before(h, ir_arg(end, 0));
}
