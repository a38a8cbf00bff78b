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
    ir_func *f;
    const ir_dom *dom;
    /* The table; NULL: free.  Their marks are the hashes by which they were entered. */
    ir_inst **leader;
    uint32_t mask;
} gvn;

/* ------------------------------------------------------------------------------------- equality */

/* The first two operands of commutative operations count in the order of their ids. */
static uint32_t hash_of(const ir_inst *i) {
    const ir_op_info *info = ir_info(i);
    bool mask = info->imm == I_MASK;
    uint64_t own = i->op == IR_OP_phi ? i->block->id : i->imm.bits;
    uint64_t h = ir_mix((uint64_t)i->op << 32 | i->type, mask ? 0 : own);
    unsigned n = 0;
    if (info->flags & F_COMMUTES) {
        uint64_t x = ir_arg(i, 0)->id, y = ir_arg(i, 1)->id;
        h = ir_mix(h, x < y ? x << 32 | y : y << 32 | x);
        n = 2;
    }
    for (; n < i->nargs; n++) h = ir_mix(h, ir_arg(i, n)->id);
    return (uint32_t)(mask ? ir_hash(h, i->imm.mask, ir_lanes(i->type)) : h);
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
static ir_inst **find_slot(const gvn *g, ir_inst *i) {
    i->mark = hash_of(i);
    for (uint32_t at = i->mark & g->mask;; at = (at + 1) & g->mask) {
        ir_inst **s = &g->leader[at];
        if (!*s || ((*s)->mark == i->mark && is_equal(*s, i))) return s;
    }
}

static void replace_by(ir_inst *i, ir_inst *by) {
    ir_count(i->block->func->module->cx, gvn_merged, 1);
    ir_replace_uses(i, by);
    ir_remove(i);
}

static bool merge_equal(const gvn *g, ir_inst *i) {
    ir_inst **leader = find_slot(g, i);
    if (!*leader || !ir_block_dominates(g->dom, (*leader)->block, i->block)) {
        *leader = i;
        return false;
    }
    (*leader)->flags &= i->flags;
    replace_by(i, *leader);
    return true;
}

static bool number_value(const gvn *g, ir_inst *i) {
    if (i->op != IR_OP_phi) return ir_has_flag(i, F_PURE) && merge_equal(g, i);
    ir_inst *only = ir_only_argument(g->f, g->dom, i);
    if (!only) return merge_equal(g, i);
    replace_by(i, only);
    return true;
}

/* Those that may be entered; many ids are those of instructions that are gone. */
static uint32_t count_numbered(const ir_func *f) {
    uint32_t n = 0;
    foreach_block (b, f)
        for (const ir_inst *i = b->first; i; i = i->next)
            n += i->op == IR_OP_phi || ir_has_flag(i, F_PURE);
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
    uint32_t size = 16, numbered = count_numbered(f);
    while (size < 2 * numbered) size *= 2;
    gvn g = {.f = f, .dom = ir_dominators(f), .mask = size - 1};
    g.leader = ir_new_array(cx->scratch, ir_inst *, size);
    for (ir_block *b = f->first; b; b = next_in_tree(g.dom, b))
        foreach_inst (i, b) changed |= number_value(&g, i);
    return changed;
}
