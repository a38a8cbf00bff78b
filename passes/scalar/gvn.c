/* gvn.c — global value numbering: equal computations become one.
 *
 * Dominator-based value numbering after Briggs, Cooper and Simpson, "Value numbering" (1997).  The
 * dominator tree is walked in preorder, children in reverse postorder, so that the operands of an
 * instruction are merged before it is visited, and a join is visited after the blocks that lead to
 * it by forward edges.  An instruction that equals an earlier one in a dominating block is replaced
 * by it.  Its users have the merged operand at once, so chains of equal expressions are merged in
 * one walk.
 *
 * One hash table holds at most one leader per expression, without scopes: once the walk has left
 * the subtree of a leader's block, that leader never dominates again, and the next equal
 * instruction takes its slot.  Instructions are equal by operation, type, immediate and operands;
 * operands are compared as pointers, and constants are interned by their bits, so -0.0 is not 0.0.
 * Commutative operands are compared in the order of their ids.
 *
 * Flags are promises about one instruction, or permissions for it; the leader keeps those that all
 * merged instructions have.
 *
 * Work-item queries are pure within a work-item and merge.  Group operations and loads do not.
 * Phis merge with phis of the same block and arguments.  Cycles are numbered pessimistically: two
 * equal induction variables stay two.
 */
#include "passes/passes.h"

typedef struct {
    uint64_t hash;
    ir_inst *leader; /* NULL: free */
} slot;

typedef struct {
    ir_func *f;
    const ir_dom *dom;
    slot *table;
    uint32_t mask;
} gvn;

/* ------------------------------------------------------------------------------------- equality */

static uint64_t hash_commutative(const ir_inst *i) {
    uint32_t a = ir_arg(i, 0)->id, b = ir_arg(i, 1)->id;
    uint64_t h = ir_mix(ir_mix(i->op, i->type), a < b ? a : b);
    h = ir_mix(h, a < b ? b : a);
    return i->nargs > 2 ? ir_mix(h, ir_arg(i, 2)->id) : h;
}

static uint64_t hash_of(const ir_inst *i) {
    if (i->op == IR_OP_phi) return ir_mix(ir_hash_value(i), i->block->id);
    return ir_has_flag(i, F_COMMUTES) ? hash_commutative(i) : ir_hash_value(i);
}

static bool is_swapped(const ir_inst *a, const ir_inst *b) {
    if (!ir_has_flag(a, F_COMMUTES) || a->op != b->op || a->type != b->type) return false;
    if (ir_arg(a, 0) != ir_arg(b, 1) || ir_arg(a, 1) != ir_arg(b, 0)) return false;
    return a->nargs < 3 || ir_arg(a, 2) == ir_arg(b, 2);
}

static bool is_equal(const ir_inst *a, const ir_inst *b) {
    if (a->op == IR_OP_phi && a->block != b->block) return false;
    return ir_same_value(a, b) || is_swapped(a, b);
}

/* ------------------------------------------------------------------------------------ numbering */

/* The slot of an instruction equal to i, or the free one where i belongs.  A phi of which an
 * argument has been merged since it was entered is not found any more, which is harmless. */
static slot *find_slot(const gvn *g, const ir_inst *i) {
    uint64_t hash = hash_of(i);
    uint32_t at = (uint32_t)hash & g->mask;
    for (;; at = (at + 1) & g->mask) {
        slot *s = &g->table[at];
        if (s->leader && (s->hash != hash || !is_equal(s->leader, i))) continue;
        s->hash = hash;
        return s;
    }
}

static void replace_by(ir_inst *i, ir_inst *by) {
    ir_count(i->block->func->module->cx, gvn_merged, 1);
    ir_replace_uses(i, by);
    ir_remove(i);
}

static bool merge_equal(const gvn *g, ir_inst *i) {
    slot *s = find_slot(g, i);
    if (!s->leader || !ir_block_dominates(g->dom, s->leader->block, i->block)) {
        s->leader = i;
        return false;
    }
    s->leader->flags &= i->flags;
    replace_by(i, s->leader);
    return true;
}

static bool number_value(const gvn *g, ir_inst *i) {
    if (i->op != IR_OP_phi) return ir_has_flag(i, F_PURE) && merge_equal(g, i);
    ir_inst *only = ir_only_argument(g->f, g->dom, i);
    if (!only) return merge_equal(g, i);
    replace_by(i, only);
    return true;
}

/* Many ids are those of instructions that are gone. */
static uint32_t count_instructions(const ir_func *f) {
    uint32_t n = 0;
    foreach_block (b, f)
        for (const ir_inst *i = b->first; i; i = i->next) n++;
    return n;
}

static ir_block *next_in_tree(const ir_dom *d, ir_block *b) {
    if (d->child[b->id]) return d->child[b->id];
    while (b && !d->sibling[b->id]) b = d->idom[b->id];
    return b ? d->sibling[b->id] : NULL;
}

/* Does:  merges equal pure instructions and phis; removes phis that are always one value.
 * Needs: canonical operands find more; nothing is required.
 * Leaves: every block reachable; instructions whose operands are now equal, for simplify.
 * Gives up: on equality through memory or around loops. */
bool pass_gvn(ir_func *f, pass_ctx *cx) {
    bool changed = ir_remove_unreachable(f);
    uint32_t size = 16;
    while (size < 2 * count_instructions(f)) size *= 2;
    gvn g = {.f = f, .dom = ir_dominators(f), .mask = size - 1};
    g.table = ir_new_array(cx->scratch, slot, size);
    for (ir_block *b = f->first; b; b = next_in_tree(g.dom, b))
        foreach_inst (i, b) changed |= number_value(&g, i);
    return changed;
}
