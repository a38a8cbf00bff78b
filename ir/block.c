/* block.c — blocks and edges.
 *
 * The terminator says how an edge is chosen; the edges themselves are block->succ, mirrored by
 * block->pred of the target.  Phi argument i belongs to pred[i].  All changes of edges go through
 * the few functions here, which keep both sides and the phis in step and bump cfg_version.
 *
 * The order of predecessors means nothing, and removing one may change it.
 *
 * A block that leads to the same target by two edges is twice in its predecessors, with the
 * same phi argument, so it never matters which of the two entries is taken away.
 */
#include "ir/ir.h"

/* ----------------------------------------------------------------------------------- block list */

static void link_block(ir_func *f, ir_block *b, ir_block *after) {
    b->prev = after;
    b->next = after ? after->next : f->first;
    if (b->prev)
        b->prev->next = b;
    else
        f->first = b;
    if (b->next)
        b->next->prev = b;
    else
        f->last = b;
}

static void unlink_block(ir_block *b) {
    ir_func *f = b->func;
    if (b->prev)
        b->prev->next = b->next;
    else
        f->first = b->next;
    if (b->next)
        b->next->prev = b->prev;
    else
        f->last = b->prev;
}

ir_block *ir_block_new(ir_func *f, const char *name) {
    ir_block *b = ir_new(&f->module->arena, ir_block);
    b->func = f;
    b->id = f->next_block++;
    b->name = name ? ir_strdup(&f->module->arena, name) : NULL;
    link_block(f, b, f->last);
    f->cfg_version++;
    return b;
}

void ir_block_move_after(ir_block *b, ir_block *where) {
    unlink_block(b);
    link_block(b->func, b, where);
    b->func->cfg_version++;
}

ir_inst *ir_first_non_phi(const ir_block *b) {
    ir_inst *i = b->first;
    while (i && i->op == IR_OP_phi) i = i->next;
    return i;
}

/* ---------------------------------------------------------------------------------------- edges */

static void add_pred(ir_block *b, ir_block *pred) {
    if (b->npred == b->cap_pred)
        b->pred =
            ir_vec_grow(&b->func->module->arena, b->pred, &b->cap_pred, b->npred, sizeof *b->pred);
    b->pred[b->npred++] = pred;
}

unsigned ir_pred_index(const ir_block *b, const ir_block *pred) {
    unsigned i = 0;
    while (i < b->npred && b->pred[i] != pred) i++;
    assert(i < b->npred && "not a predecessor");
    return i;
}

void ir_set_succs(ir_block *b, unsigned n, ir_block *const *succ) {
    assert(b->nsucc == 0);
    b->succ = ir_dup(&b->func->module->arena, succ, n * sizeof *succ);
    b->nsucc = n;
    for (unsigned i = 0; i < n; i++) add_pred(succ[i], b);
    b->func->cfg_version++;
}

/* The last predecessor takes the place of the one that is removed, so that taking all edges of a
 * large switch away one by one stays linear.  Phis must have all their arguments. */
static void drop_pred(ir_block *b, ir_block *pred) {
    unsigned at = ir_pred_index(b, pred), last = b->npred - 1;
    foreach_phi (phi, b) {
        assert(phi->nargs == b->npred);
        if (at != last) ir_set_arg(phi, at, ir_arg(phi, last));
        ir_drop_arg(phi, last);
    }
    b->pred[at] = b->pred[last];
    b->npred--;
}

void ir_remove_edge(ir_block *b, unsigned n) {
    assert(n < b->nsucc);
    drop_pred(b->succ[n], b);
    memmove(&b->succ[n], &b->succ[n + 1], (b->nsucc - n - 1) * sizeof *b->succ);
    b->nsucc--;
    b->func->cfg_version++;
}

void ir_redirect_edge(ir_block *b, unsigned n, ir_block *to) {
    drop_pred(b->succ[n], b);
    b->succ[n] = to;
    add_pred(to, b);
    b->func->cfg_version++;
}

void ir_swap_succs(ir_block *b) {
    ir_block *first = b->succ[0];
    b->succ[0] = b->succ[1];
    b->succ[1] = first;
    b->func->cfg_version++;
}

ir_block *ir_split_edge(ir_block *b, unsigned n) {
    ir_block *to = b->succ[n], *middle = ir_block_new(b->func, NULL);
    ir_block_move_after(middle, b);
    to->pred[ir_pred_index(to, b)] = middle;
    b->succ[n] = middle;
    add_pred(middle, b);
    middle->succ = ir_dup(&b->func->module->arena, &to, sizeof to);
    middle->nsucc = 1;
    ir_insert(ir_inst_new(b->func, IR_OP_jmp, IR_VOID, 0), middle, NULL);
    return middle;
}

ir_block *ir_split_block(ir_block *b, ir_inst *first) {
    ir_block *tail = ir_block_new(b->func, NULL);
    ir_block_move_after(tail, b);
    for (ir_inst *i = first, *next; i; i = next) {
        next = i->next;
        ir_move_to_end(i, tail);
    }
    tail->succ = b->succ;
    tail->nsucc = b->nsucc;
    b->succ = NULL;
    b->nsucc = 0;
    for (unsigned s = 0; s < tail->nsucc; s++) {
        ir_block *to = tail->succ[s];
        for (unsigned p = 0; p < to->npred; p++)
            if (to->pred[p] == b) to->pred[p] = tail;
    }
    return tail;
}

void ir_merge_block(ir_block *b) {
    ir_block *tail = b->succ[0];
    assert(b->nsucc == 1 && tail->npred == 1 && tail != b && tail->first->op != IR_OP_phi);
    ir_remove(b->last);
    foreach_inst (i, tail) ir_move_to_end(i, b);
    b->succ = tail->succ;
    b->nsucc = tail->nsucc;
    tail->succ = NULL;
    tail->nsucc = tail->npred = 0;
    for (unsigned s = 0; s < b->nsucc; s++) b->succ[s]->pred[ir_pred_index(b->succ[s], tail)] = b;
    unlink_block(tail);
    b->func->cfg_version++;
}

/* ------------------------------------------------------------------------- terminators, removal */

static void replace_terminator(ir_block *b, ir_op op) {
    ir_inst *old = ir_term(b), *now = ir_inst_new(b->func, op, IR_VOID, 0);
    if (old) {
        now->loc = old->loc;
        ir_remove(old);
    }
    ir_insert(now, b, NULL);
}

void ir_make_jmp(ir_block *b, unsigned keep) {
    for (unsigned n = b->nsucc; n-- > 0;)
        if (n != keep) ir_remove_edge(b, n);
    replace_terminator(b, IR_OP_jmp);
}

void ir_make_unreachable(ir_block *b) {
    while (b->nsucc) ir_remove_edge(b, b->nsucc - 1);
    replace_terminator(b, IR_OP_unreachable);
}

static void empty_block(ir_block *b) {
    while (b->nsucc) ir_remove_edge(b, b->nsucc - 1);
    foreach_inst_reverse (i, b) {
        if (i->uses) ir_replace_uses(i, ir_undef(b->func, i->type));
        ir_remove(i);
    }
}

void ir_block_remove(ir_block *b) {
    empty_block(b);
    assert(b->npred == 0);
    unlink_block(b);
    b->func->cfg_version++;
}
