/* cfg.c — blocks in reverse post-order, branches, phis, dominance.
 *
 * A depth-first walk with an explicit stack finds the order.  Edges are counted on the way, so
 * that phis are made with the right number of arguments before their blocks' predecessors are
 * known; the arguments are filled in last, in the order of the IR's predecessor lists.
 */
#include "frontend/reader.h"
#include "ir/flow.h"

static spv_block *block_of(reader *r, uint32_t label) {
    const spv_id *e = spv_find(r, label);
    if (e->kind != ID_LABEL || e->owner != r->serial)
        spv_fail(r, "%s: %%%u is not a label of this function", spv_op_name(r), label);
    return e->block;
}

/* ------------------------------------------------------------------------------------ the order */

/* Words of one case literal, by the type of the selector. */
static uint32_t case_words(reader *r, uint32_t selector) {
    const spv_type *t = spv_type_of(r, selector);
    if (t->form != T_INT)
        spv_fail(r, "OpSwitch: the selector has type %s, want an integer", spv_type_name(r, t));
    return t->bits > 32 ? 2 : 1;
}

static void find_switch_succs(reader *r, spv_block *b) {
    uint32_t words = case_words(r, r->in.arg[0]), rest = r->in.n - 2;
    if (rest % (words + 1)) spv_fail(r, "OpSwitch: the last case is incomplete");
    b->other = r->in.arg[1];
    b->succ = r->in.arg + 2 + words;
    b->stride = words + 1;
    b->nsucc = 1 + rest / (words + 1);
}

static void find_succs(reader *r, spv_block *b) {
    spv_decode(r, b->end);
    b->stride = 1;
    b->succ = r->in.arg;
    switch (r->in.opcode) {
    case SPV_OP_Branch: b->nsucc = 1; break;
    case SPV_OP_BranchConditional:
        b->succ = r->in.arg + 1;
        b->nsucc = 2;
        break;
    case SPV_OP_Switch: find_switch_succs(r, b); break;
    default: b->nsucc = 0;
    }
}

static uint32_t succ_label(const spv_block *b, uint32_t i) {
    if (!b->other) return b->succ[i * b->stride];
    return i == 0 ? b->other : b->succ[(i - 1) * b->stride];
}

/* Counts the edge to successor i; returns its target when it is new. */
static spv_block *walk_edge(reader *r, spv_block *b, uint32_t i) {
    spv_block *to = block_of(r, succ_label(b, i));
    to->edges++;
    if (to == r->body.first_block) spv_fail(r, "a branch to the entry block");
    if (to->reached) return NULL;
    to->reached = true;
    return to;
}

/* Fills r->body.order from its end; successors are walked last to first: the first one comes
 * next. */
static void walk(reader *r) {
    spv_block **stack = ir_new_array(&r->scratch, spv_block *, r->body.nblocks);
    uint32_t depth = 1, free = r->body.nblocks;
    stack[0] = r->body.first_block;
    r->body.first_block->reached = true;
    find_succs(r, r->body.first_block);
    while (depth > 0) {
        spv_block *b = stack[depth - 1], *to = NULL;
        spv_decode(r, b->end);
        while (!to && b->walked < b->nsucc) to = walk_edge(r, b, b->nsucc - 1 - b->walked++);
        if (to) {
            stack[depth++] = to;
            find_succs(r, to);
        } else {
            r->body.order[--free] = stack[--depth];
        }
    }
    r->body.order += free;
    r->body.nreached = r->body.nblocks - free;
}

void spv_order_blocks(reader *r) {
    if (!r->body.first_block) spv_fail(r, "the function has no blocks");
    r->body.order = ir_new_array(&r->scratch, spv_block *, r->body.nblocks);
    walk(r);
    for (uint32_t i = 0; i < r->body.nreached; i++) {
        spv_block *b = r->body.order[i];
        if (b->edges > UINT16_MAX)
            spv_refuse(r, "a block with %u predecessors is not supported", b->edges);
        b->ir = ir_block_new(r->f->ir, spv_name(r, b->label));
    }
}

/* ------------------------------------------------------------------------------------- branches */

void spv_read_branch(reader *r) { ir_build_jmp(&r->b, block_of(r, r->in.arg[0])->ir); }

void spv_read_branch_conditional(reader *r) {
    ir_inst *cond = spv_arg_of(r, 0, IR_I1);
    ir_build_br(&r->b, cond, block_of(r, r->in.arg[1])->ir, block_of(r, r->in.arg[2])->ir);
}

static int compare_values(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void check_distinct(reader *r, const uint64_t *values, uint32_t n) {
    uint64_t *sorted = ir_dup(&r->scratch, values, n * sizeof *values);
    qsort(sorted, n, sizeof *sorted, compare_values);
    for (uint32_t i = 1; i < n; i++)
        if (sorted[i] == sorted[i - 1])
            spv_fail(r, "OpSwitch: the case %llu occurs twice", (unsigned long long)sorted[i]);
}

void spv_read_switch(reader *r) {
    const spv_block *b = r->body.block;
    const spv_type *t = spv_arg_type(r, 0);
    uint32_t n = b->nsucc - 1;
    uint64_t *values = ir_new_array(&r->scratch, uint64_t, n);
    ir_block **to = ir_new_array(&r->scratch, ir_block *, n);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t *literal = r->in.arg + 2 + i * b->stride;
        uint64_t high = b->stride == 3 ? literal[1] : 0;
        values[i] = spv_cut(t, literal[0] | high << 32);
        to[i] = block_of(r, succ_label(b, 1 + i))->ir;
    }
    check_distinct(r, values, n);
    ir_build_switch(&r->b, spv_arg(r, 0), block_of(r, b->other)->ir, (ir_cases){n, values, to});
}

void spv_read_unreachable(reader *r) { ir_build_unreachable(&r->b); }

void spv_read_kill(reader *r) { spv_refuse_inst(r, "graphics"); }

/* Loop merges carry hints; their structural information is not needed. */
void spv_read_loop_merge(reader *r) {
    uint32_t next = r->in.at + (r->input.words[r->in.at] >> 16), control = r->in.arg[2];
    if (next != r->body.block->end) spv_warn(r, WARN_MERGE);
    if (control & SpvLoopControlUnrollMask) r->body.block->ir->loop_hint |= IR_LOOP_UNROLL;
    if (control & SpvLoopControlDontUnrollMask) r->body.block->ir->loop_hint |= IR_LOOP_NO_UNROLL;
}

void spv_read_selection_merge(reader *r) {
    if (r->in.at + (r->input.words[r->in.at] >> 16) != r->body.block->end) spv_warn(r, WARN_MERGE);
}

/* ----------------------------------------------------------------------------------------- phis */

static ir_inst *new_phi(reader *r, ir_type t, uint32_t leaf) {
    uint32_t n = r->body.block->edges;
    spv_charge(r, n); /* there may be many more edges than operands */
    ir_inst **undef = ir_new_array(&r->scratch, ir_inst *, n);
    for (uint32_t i = 0; i < n; i++) undef[i] = ir_undef(r->b.f, t);
    ir_inst *phi = ir_build_raw(&r->b, IR_OP_phi, t, IR_PLAIN, (ir_args){n, undef});
    *ir_push(&r->scratch, &r->body.phis) = (spv_phi){.at = r->in.at, .inst = phi, .leaf = leaf};
    return phi;
}

void spv_read_phi(reader *r) {
    spv_type *t = spv_value_type(r, r->in.type);
    if (r->in.n % 2) spv_fail(r, "OpPhi: a value without its parent");
    if (!r->body.block->edges) spv_fail(r, "OpPhi in the entry block");
    if (!spv_is_aggregate(t)) {
        spv_define(r, new_phi(r, t->value, 0));
        return;
    }
    spv_parts *p = spv_parts_new(r, t);
    for (uint32_t i = 0; i < t->leaves; i++)
        p->part[i] = new_phi(r, spv_find_leaf(r, t, i).type->value, i);
    spv_define_parts(r, p);
}

/* Notes at each parent which operand pair comes from it; `stamp` tells one OpPhi from another. */
static void note_parents(reader *r, uint32_t stamp) {
    for (uint32_t k = 0; k < r->in.n; k += 2) {
        spv_block *parent = block_of(r, r->in.arg[k + 1]);
        bool again = parent->pair_of == stamp;
        if (again && r->in.arg[parent->pair] != r->in.arg[k])
            spv_fail(r, "OpPhi: two values for the parent %%%u", parent->label);
        parent->pair = k;
        parent->pair_of = stamp;
        parent->pair_used = !parent->ir;
    }
}

static spv_block *parent_of(const reader *r, const ir_block *b, uint32_t i) {
    return r->body.order[b->pred[i]->id];
}

/* Every predecessor has a value of the right type, and every parent is a predecessor. */
static void check_parents(reader *r, const ir_block *b, uint32_t stamp) {
    for (uint32_t i = 0; i < b->npred; i++) {
        spv_block *parent = parent_of(r, b, i);
        if (parent->pair_of != stamp)
            spv_fail(r, "OpPhi: no value for the predecessor %%%u", parent->label);
        if (!spv_fits(r, parent->pair, r->in.type))
            spv_bad_type(r, parent->pair, spv_type_name(r, r->in.type));
        parent->pair_used = true;
    }
    for (uint32_t k = 1; k < r->in.n; k += 2)
        if (!block_of(r, r->in.arg[k])->pair_used)
            spv_fail(r, "OpPhi: %%%u is not a predecessor", r->in.arg[k]);
}

static void fill_phi(reader *r, const spv_phi *phi) {
    const ir_block *b = phi->inst->block;
    for (uint32_t i = 0; i < b->npred; i++) {
        uint32_t id = r->in.arg[parent_of(r, b, i)->pair];
        ir_before(&r->b, ir_term(b->pred[i]));
        bool whole = !spv_is_aggregate(r->in.type);
        ir_inst *v = whole ? spv_low_value(r, id, r->in.type) : spv_leaf(r, id, phi->leaf);
        ir_set_arg(phi->inst, i, v);
    }
}

/* The leaves of one OpPhi follow each other, the first one first. */
void spv_fill_phis(reader *r) {
    for (uint32_t i = 0; i < r->body.phis.n; i++) {
        const spv_phi *phi = &r->body.phis.data[i];
        if (phi->leaf == 0) {
            spv_decode(r, phi->at);
            note_parents(r, i + 1);
            check_parents(r, phi->inst->block, i + 1);
        }
        fill_phi(r, phi);
    }
}

/* ------------------------------------------------------------------------------------ dominance */

static bool is_defined_at(const ir_dom *d, const ir_inst *user, unsigned n) {
    const ir_inst *val = ir_arg(user, n);
    const ir_block *at = user->op == IR_OP_phi ? user->block->pred[n] : user->block;
    if (!val->block || (val->block == user->block && user->op != IR_OP_phi)) return true;
    return ir_block_dominates(d, val->block, at);
}

static void check_block(reader *r, const ir_dom *d, const ir_block *b) {
    foreach_inst (i, b)
        for (unsigned n = 0; n < i->nargs; n++) {
            if (is_defined_at(d, i, n)) continue;
            if (i->loc) spv_decode(r, i->loc);
            spv_fail(r, "%s: an operand is used where its definition does not dominate",
                     spv_op_name(r));
        }
}

/* Within a block, definitions were read before their uses; between blocks, dominators decide. */
void spv_check_dominance(reader *r) {
    const ir_dom *d = ir_dominators(r->f->ir);
    for (uint32_t i = 0; i < r->body.nreached; i++) {
        const spv_block *b = r->body.order[i];
        const ir_block *idom = d->idom[b->ir->id];
        check_block(r, d, b->ir);
        if (!idom || r->body.order[idom->id]->order <= b->order) continue;
        spv_decode(r, b->begin);
        spv_warn(r, WARN_BLOCK_ORDER);
    }
}
