/* uniform.c — which values are the same for all items of a work-group, and which branches do not
 * diverge.
 *
 * A value varies because an operand does, because each item has its own (ids, variables, atomics),
 * or because of control flow.  A branch on a varying value is divergent: a phi at which paths from
 * the branch first join sees different arguments.  Such joins are found as LLVM and Karrenberg and
 * Hack do ("Improving performance of OpenCL on CPUs", 2012): every successor of the branch is a
 * label, labels flow along edges in reverse postorder, and a block that two of them reach is a join
 * and a label itself.  Labels stop where only one block is left that they all lead to.
 *
 * Loops are taken level by level.  If paths from the branch lead both to the header and out of the
 * loop, items leave the loop in different iterations: its exits are divergent.  A value of the loop
 * is then the same for all items of an iteration, and yet varies after the loop.  The exits are
 * labels of the next level.
 *
 * A branch on a varying value is uniform in every defined program if its successors lead to
 * different synchronization points (barriers, operations of the whole group, and the end): each to
 * one that no other leads to in the same iteration of all loops; one successor may lead to several.
 * So loops around barriers, and conditions around them, do not diverge whatever decides them.
 *
 * Loads are as uniform as their address: items that see different values there race, unless they
 * are volatile or atomic.
 */
#include "passes/analysis/analysis.h"

/* The synchronization point that all paths from a block lead to: none, several, the end of the
 * kernel, or FIRST_SYNC and the id of the instruction. */
enum { NO_SYNC = 0, SEVERAL_SYNCS = 1, END_SYNC = 2, FIRST_SYNC = 3 };
enum { STEPS_PER_BLOCK = 32, MAX_SUCCS = 8 };

typedef struct {
    uint32_t *next;   /* by block id: the one that all paths lead to */
    ir_block **block; /* by id of the instruction */
} sync_points;

/* The propagation of labels from one branch after the other. */
typedef struct {
    ir_block **label; /* by block id */
    uint32_t *stamp;  /* by block id: of the branch that labelled it */
    uint32_t branch;
    ir_block_list pending; /* blocks of the loop whose labels have not been followed yet */
    ir_block_list next;    /* the same outside of the loop */
    uint64_t steps;        /* that are left */
} label_flow;

typedef struct pass_loop_finder {
    pass_uniformity *u;
    ir_arena *scratch;
    const ir_loops *loops;
    const ir_dom *dom;
    const ir_order *order;
    sync_points syncs;
    label_flow labels;
    ir_vec(ir_inst *) work; /* varying values and divergent branches, users not visited */
    unsigned scope;         /* IR_SCOPE_WORKGROUP or IR_SCOPE_SUBGROUP, whose items are compared */
    bool lost;              /* the limit of steps was reached: everything may vary */
    bool *is_latch;         /* by block id: it ends a loop over items; NULL: code of one item */
    uint32_t nblocks;       /* ids of blocks are below */
    const ir_loop *within;  /* what is used outside is not followed; NULL: everything is */
} finder;

/* ----------------------------------------------------------------------- synchronization points */

bool pass_synchronizes(const ir_inst *i) {
    if (i->op == IR_OP_barrier) return i->imm.sync.exec <= IR_SCOPE_WORKGROUP;
    if (i->op == IR_OP_call) return !(i->imm.func->flags & IR_FUNC_SHARED);
    return ir_has_flag(i, F_CONVERGENT) && i->imm.group.scope <= IR_SCOPE_WORKGROUP;
}

static uint32_t first_sync(const finder *s, ir_block *b) {
    for (const ir_inst *i = b->first; i; i = i->next) {
        if (!pass_synchronizes(i)) continue;
        s->syncs.block[i->id] = b;
        return FIRST_SYNC + i->id;
    }
    return b->last->op == IR_OP_ret ? END_SYNC : NO_SYNC;
}

static uint32_t join_syncs(uint32_t a, uint32_t b) {
    return a == b || b == NO_SYNC ? a : a == NO_SYNC ? b : SEVERAL_SYNCS;
}

/* Each block changes twice at most. */
static void find_next_syncs(finder *s, const ir_func *f) {
    uint32_t *sync = s->syncs.next;
    bool *is_fixed = ir_new_array(s->scratch, bool, f->next_block); /* it contains its point */
    ir_block_list work = {0};
    for (uint32_t k = 0; k < s->order->n; k++) {
        ir_block *b = s->order->rpo[k];
        sync[b->id] = first_sync(s, b);
        is_fixed[b->id] = sync[b->id] != NO_SYNC;
        if (is_fixed[b->id]) *ir_push(s->scratch, &work) = b;
    }
    while (work.n) {
        ir_block *b = work.data[--work.n];
        for (uint32_t p = 0; p < b->npred; p++) {
            ir_block *pred = b->pred[p];
            uint32_t joined = join_syncs(sync[pred->id], sync[b->id]);
            if (is_fixed[pred->id] || joined == sync[pred->id]) continue;
            sync[pred->id] = joined;
            *ir_push(s->scratch, &work) = pred;
        }
    }
}

/* Does it lead to a synchronization point that no other path leads to, in the same iteration of all
 * loops? */
static bool is_only_path(const finder *s, const ir_block *from, const ir_block *to) {
    uint32_t sync = s->syncs.next[to->id];
    if (sync < FIRST_SYNC || to->npred != 1) return false;
    const ir_block *at = s->syncs.block[sync - FIRST_SYNC];
    return ir_loop_contains(s->loops->of[from->id], s->loops->of[at->id]) &&
           ir_block_dominates(s->dom, to, at);
}

/* Does nothing else lead to the synchronization point that this successor leads to? */
static bool has_own_sync(const finder *s, const ir_block *b, uint32_t n) {
    const uint32_t *sync = s->syncs.next, own = sync[b->succ[n]->id];
    if (own == NO_SYNC) return false;
    for (uint32_t m = 0; m < b->nsucc; m++) {
        uint32_t other = sync[b->succ[m]->id];
        if (m == n || (other > SEVERAL_SYNCS && own > SEVERAL_SYNCS && other != own)) continue;
        if (other == NO_SYNC || other == own || !is_only_path(s, b, b->succ[n])) return false;
    }
    return true;
}

/* Do its successors lead to synchronization points of their own, where one may lead to several? */
static bool is_uniform_by_syncs(const finder *s, const ir_block *b) {
    unsigned others = 0;
    if (b->nsucc > MAX_SUCCS) return false;
    for (uint32_t n = 0; n < b->nsucc; n++) others += !has_own_sync(s, b, n);
    return others < 2 && b->nsucc > 1;
}

/* ---------------------------------------------------------------------------------------- marks */

static void mark_value(finder *s, ir_inst *v) {
    if (s->u->varies[v->id]) return;
    s->u->varies[v->id] = true;
    *ir_push(s->scratch, &s->work) = v;
}

static bool follows_operands(const ir_inst *i) {
    return ir_has_flag(i, F_PURE) || ir_is_load(i) || i->op == IR_OP_phi;
}

static void mark_user(finder *s, ir_inst *i) {
    bool is_new = i->block->id >= s->nblocks; /* code of a loop that has been replaced */
    bool reached = !is_new && s->order->index[i->block->id] != UINT32_MAX;
    if (!reached || (s->within && !ir_in_loop(s->loops, i->block, s->within))) return;
    if (follows_operands(i) || (ir_is_terminator(i) && i->block->nsucc > 1)) mark_value(s, i);
}

static void mark_join(finder *s, ir_block *b) {
    if (s->within && !ir_in_loop(s->loops, b, s->within)) return;
    foreach_phi (phi, b) mark_value(s, phi);
}

static bool is_outside(const finder *s, const ir_block *b, const ir_loop *loop) {
    return b->id >= s->nblocks || !ir_in_loop(s->loops, b, loop);
}

static void mark_divergent_exits(finder *s, const ir_loop *loop) {
    if (s->u->divergent_exits[loop->header->id]) return;
    s->u->divergent_exits[loop->header->id] = true;
    for (uint32_t k = 0; k < loop->nblocks; k++)
        foreach_inst (i, loop->block[k])
            foreach_use (use, i)
                if (is_outside(s, use->user->block, loop)) mark_user(s, use->user);
}

/* ---------------------------------------------------------------------------------------- joins */

/* `pending` is a heap by place in reverse postorder. */
static bool is_before(const finder *s, const ir_block *a, const ir_block *b) {
    return s->order->index[a->id] < s->order->index[b->id];
}

static void push_pending(finder *s, ir_block *b) {
    *ir_push(s->scratch, &s->labels.pending) = b;
    ir_block **heap = s->labels.pending.data;
    uint32_t k = s->labels.pending.n - 1;
    for (; k && is_before(s, b, heap[(k - 1) / 2]); k = (k - 1) / 2) heap[k] = heap[(k - 1) / 2];
    heap[k] = b;
}

static ir_block *pop_pending(finder *s) {
    ir_block **heap = s->labels.pending.data, *top = heap[0], *last = heap[--s->labels.pending.n];
    uint32_t k = 0, n = s->labels.pending.n;
    for (uint32_t c; (c = 2 * k + 1) < n; k = c) {
        c += c + 1 < n && is_before(s, heap[c + 1], heap[c]);
        if (!is_before(s, heap[c], last)) break;
        heap[k] = heap[c];
    }
    heap[k] = last;
    return top;
}

/* A label reaches b; false: b had one already. */
static bool give_label(finder *s, ir_block *b, ir_block *label) {
    if (s->labels.stamp[b->id] != s->labels.branch) {
        s->labels.stamp[b->id] = s->labels.branch;
        s->labels.label[b->id] = label;
        return true;
    }
    if (s->labels.label[b->id] != label) {
        s->labels.label[b->id] = b;
        mark_join(s, b);
    }
    return false;
}

/* Blocks with labels that have not been followed yet, in one loop. */
typedef struct {
    const ir_loop *loop; /* NULL: around all loops */
    bool again;          /* some have come to the header */
} level;

static void send_label(finder *s, level *l, ir_block *to, ir_block *label) {
    bool inside = !l->loop || ir_in_loop(s->loops, to, l->loop);
    bool header = inside && l->loop && to == l->loop->header;
    if (!give_label(s, to, label)) return;
    l->again |= header;
    if (!inside) *ir_push(s->scratch, &s->labels.next) = to;
    if (inside && !header) push_pending(s, to);
}

/* Follows labels until they leave the loop or come to its header; false: only one is left. */
static bool follow_labels(finder *s, level *l) {
    while (s->labels.pending.n) {
        ir_block *b = pop_pending(s);
        if (!s->labels.pending.n && !s->labels.next.n && !l->again) return false;
        for (uint32_t n = 0; n < b->nsucc; n++)
            if (is_before(s, b, b->succ[n]) || (l->loop && b->succ[n] == l->loop->header))
                send_label(s, l, b->succ[n], s->labels.label[b->id]);
        if (s->labels.steps < 1 + b->nsucc) s->lost = true;
        if (s->lost) return false;
        s->labels.steps -= 1 + b->nsucc;
    }
    return s->labels.next.n > 0;
}

/* Every exit is a label: items leave the loop in different iterations. */
static void label_exits(finder *s, const ir_loop *loop) {
    for (uint32_t k = 0; k < loop->nblocks; k++) {
        const ir_block *b = loop->block[k];
        for (uint32_t n = 0; n < b->nsucc; n++) {
            ir_block *to = b->succ[n];
            if (ir_in_loop(s->loops, to, loop)) continue;
            bool first = s->labels.stamp[to->id] != s->labels.branch;
            if (first) *ir_push(s->scratch, &s->labels.next) = to;
            if (!first && s->labels.label[to->id] == to) mark_join(s, to);
            s->labels.stamp[to->id] = s->labels.branch;
            s->labels.label[to->id] = to;
        }
    }
}

static void start_level(finder *s, level *l, const ir_loop *loop) {
    ir_block_list from = s->labels.next;
    *l = (level){.loop = loop};
    s->labels.next = (ir_block_list){0};
    for (uint32_t k = 0; k < from.n; k++) {
        ir_block *b = from.data[k];
        bool inside = !loop || ir_in_loop(s->loops, b, loop);
        bool header = inside && loop && b == loop->header;
        l->again |= header;
        if (!inside) *ir_push(s->scratch, &s->labels.next) = b;
        if (inside && !header) push_pending(s, b);
    }
}

/* Marks what varies because the branch that ends b diverges. */
static void diverge(finder *s, ir_block *b) {
    const ir_loop *loop = s->loops->of[b->id];
    level l;
    if (s->is_latch ? s->is_latch[b->id] : is_uniform_by_syncs(s, b)) return;
    s->u->divergent[b->id] = true;
    s->labels.branch++;
    s->labels.pending.n = s->labels.next.n = 0;
    for (uint32_t n = 0; n < b->nsucc; n++)
        if (give_label(s, b->succ[n], b->succ[n]))
            *ir_push(s->scratch, &s->labels.next) = b->succ[n];
    for (; s->labels.next.n > 1 || (loop && s->labels.next.n); loop = loop->parent) {
        start_level(s, &l, loop);
        if (!follow_labels(s, &l) || !loop || loop == s->within) return;
        if (l.again) mark_divergent_exits(s, loop);
        if (l.again) label_exits(s, loop);
        if (s->labels.next.n < 2) return;
    }
}

/* --------------------------------------------------------------------------------------- values */

static const ir_inst *root_of(const ir_inst *p) {
    while (p->op == IR_OP_ptradd || p->op == IR_OP_ptrcast) p = ir_arg(p, 0);
    return p;
}

/* Is it memory of a launch in which items, or sub-groups, keep what is their own?  Its address has
 * been loaded. */
static bool is_kept(const ir_inst *p) {
    bool is_private = ir_space_of(p->type) == IR_PRIVATE;
    return is_private && root_of(p)->op == IR_OP_load;
}

static bool is_own(const ir_inst *i, unsigned scope) {
    switch (i->op) {
    case IR_OP_subgroup_size:
    case IR_OP_subgroup_id: return scope == IR_SCOPE_WORKGROUP;
    case IR_OP_global_id:
    case IR_OP_local_id:
    case IR_OP_global_linear_id:
    case IR_OP_local_linear_id:
    case IR_OP_subgroup_local_id:
    case IR_OP_subgroup_mask:
    case IR_OP_alloca: return true;
    case IR_OP_load:
        if (scope == IR_SCOPE_WORKGROUP && is_kept(ir_arg(i, 0))) return true;
        return i->imm.mem.flags & IR_MEM_VOLATILE;
    case IR_OP_masked_load:
    case IR_OP_gather: return i->imm.mem.flags & IR_MEM_VOLATILE;
    case IR_OP_group_all:
    case IR_OP_group_any:
    case IR_OP_group_broadcast: return i->imm.group.scope > scope;
    case IR_OP_async_copy: return false;
    default: break;
    }
    if (ir_info(i)->imm == I_GROUP)
        return i->imm.group.scope > scope || i->imm.group.op != IR_GROUP_REDUCE;
    return !follows_operands(i) && i->type != IR_VOID;
}

static void mark_own(finder *s, const ir_func *f) {
    for (uint32_t p = 0; p < f->nparams; p++)
        if (f->param[p].attrs & IR_PARAM_BYVAL) mark_value(s, f->param_val[p]);
    for (uint32_t k = 0; k < s->order->n; k++)
        foreach_inst (i, s->order->rpo[k])
            if (is_own(i, s->scope)) mark_value(s, i);
}

/* All loops have divergent exits: what is used outside of its own loop varies there. */
static void mark_live_outs(finder *s, const ir_block *b) {
    const ir_loop *loop = s->loops->of[b->id];
    if (!loop) return;
    if (loop->header == b) s->u->divergent_exits[b->id] = true;
    foreach_inst (i, b)
        foreach_use (use, i)
            if (is_outside(s, use->user->block, loop)) mark_user(s, use->user);
}

/* Without an order of blocks in loops, all phis vary and all branches diverge. */
static void mark_all(finder *s) {
    uint32_t n = s->within ? s->within->nblocks : s->order->n;
    for (uint32_t k = 0; k < n; k++) {
        ir_block *b = s->within ? s->within->block[k] : s->order->rpo[k];
        mark_join(s, b);
        bool together = s->is_latch ? s->is_latch[b->id] : is_uniform_by_syncs(s, b);
        if (b->nsucc > 1 && !together) s->u->divergent[b->id] = true;
        mark_live_outs(s, b);
    }
}

static bool has_irreducible(const finder *s) {
    for (uint32_t k = 0; k < s->order->n; k++) {
        const ir_loop *loop = s->loops->of[s->order->rpo[k]->id];
        if (loop && loop->irreducible) return true;
    }
    return false;
}

static void follow_work(finder *s) {
    while (s->work.n) {
        ir_inst *v = s->work.data[--s->work.n];
        if (ir_is_terminator(v) && !s->lost) diverge(s, v->block);
        foreach_use (use, v) mark_user(s, use->user);
    }
}

static uint64_t steps_for(uint32_t blocks) { return (uint64_t)STEPS_PER_BLOCK * blocks + 1000; }

static void begin(finder *s, ir_func *f, ir_arena *a, pass_uniformity *out) {
    *s = (finder){.u = out, .scratch = a, .loops = ir_loop_tree(f), .dom = ir_dominators(f)};
    s->order = &s->dom->order;
    s->nblocks = f->next_block;
    *out = (pass_uniformity){.loops = s->loops,
                             .varies = ir_new_array(a, bool, f->next_id),
                             .divergent = ir_new_array(a, bool, f->next_block),
                             .divergent_exits = ir_new_array(a, bool, f->next_block)};
    s->labels.stamp = ir_new_array(a, uint32_t, f->next_block);
    s->labels.label = ir_new_array(a, ir_block *, f->next_block);
    s->labels.steps = steps_for(s->order->n);
    s->lost = has_irreducible(s);
}

static void propagate(finder *s) {
    follow_work(s);
    if (s->lost) mark_all(s);
    follow_work(s);
}

static void find_uniform(ir_func *f, ir_arena *a, unsigned scope, bool barriers,
                         pass_uniformity *out) {
    finder s;
    begin(&s, f, a, out);
    s.scope = scope;
    s.syncs.block = ir_new_array(a, ir_block *, f->next_id);
    s.syncs.next = ir_new_array(a, uint32_t, f->next_block);
    if (barriers) find_next_syncs(&s, f);
    mark_own(&s, f);
    propagate(&s);
}

void pass_find_uniform(ir_func *f, ir_arena *a, pass_uniformity *out) {
    find_uniform(f, a, IR_SCOPE_WORKGROUP, true, out);
}

void pass_find_uniform_subgroup(ir_func *f, ir_arena *a, pass_uniformity *out) {
    find_uniform(f, a, IR_SCOPE_SUBGROUP, true, out);
}

void pass_find_uniform_warp(ir_func *f, ir_arena *a, pass_uniformity *out) {
    find_uniform(f, a, IR_SCOPE_SUBGROUP, false, out);
}

void pass_find_uniform_alone(ir_func *f, ir_arena *a, pass_uniformity *out) {
    find_uniform(f, a, IR_SCOPE_WORKGROUP, false, out);
}

/* Memory of a variable is used by one item after the other, so each reads what it has written. */
static bool reads_variable(const ir_inst *i) {
    if (!ir_is_load(i)) return false;
    const ir_inst *p = root_of(ir_arg(i, 0));
    return ir_space_of(p->type) == IR_PRIVATE && p->op != IR_OP_load; /* what is kept */
}

/* What differs between the iterations of a loop over items by itself. */
static void mark_own_of_items(finder *s, const ir_loop *loop) {
    bool has_items = loop->header->loop_hint & (IR_LOOP_ITEMS | IR_LOOP_ROWS);
    mark_join(s, loop->header);
    for (uint32_t k = 0; k < loop->nblocks; k++)
        foreach_inst (i, loop->block[k]) {
            bool own = !follows_operands(i) || (has_items && reads_variable(i));
            if (i->type != IR_VOID && own) mark_value(s, i);
        }
}

static void begin_items(finder *s, const ir_loop *loop) {
    const ir_block *h = loop->header;
    for (uint32_t p = 0; p < h->npred; p++)
        if (ir_in_loop(s->loops, h->pred[p], loop)) s->is_latch[h->pred[p]->id] = true;
    mark_own_of_items(s, loop);
}

void pass_find_uniform_items(ir_func *f, ir_arena *a, pass_uniformity *out) {
    pass_find_uniform_loops(f, a, IR_LOOP_ITEMS, out);
}

void pass_find_uniform_loops(ir_func *f, ir_arena *a, unsigned hint, pass_uniformity *out) {
    finder s;
    begin(&s, f, a, out);
    s.is_latch = ir_new_array(a, bool, f->next_block);
    foreach_block (b, f) {
        const ir_loop *loop = s.loops->of[b->id];
        if (b->loop_hint & hint && loop && loop->header == b) begin_items(&s, loop);
    }
    propagate(&s);
}

pass_loop_finder *pass_begin_uniform(ir_func *f, ir_arena *a, pass_uniformity *out) {
    finder *s = ir_new(a, finder);
    begin(s, f, a, out);
    s->is_latch = ir_new_array(a, bool, f->next_block);
    return s;
}

static bool is_irreducible(const finder *s, const ir_loop *loop) {
    for (uint32_t k = 0; k < loop->nblocks; k++)
        if (s->loops->of[loop->block[k]->id]->irreducible) return true;
    return false;
}

void pass_find_uniform_loop(pass_loop_finder *s, const ir_loop *loop) {
    s->within = loop;
    s->labels.steps = steps_for(loop->nblocks);
    s->lost = is_irreducible(s, loop);
    begin_items(s, loop);
    propagate(s);
}

bool pass_is_uniform(const pass_uniformity *u, const ir_inst *v, const ir_block *at) {
    if (u->varies[v->id]) return false;
    if (!v->block) return true;
    for (const ir_loop *l = u->loops->of[v->block->id]; l; l = l->parent)
        if (u->divergent_exits[l->header->id] && !ir_in_loop(u->loops, at, l)) return false;
    return true;
}
