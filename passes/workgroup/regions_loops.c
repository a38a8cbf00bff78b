/* regions_loops.c — puts each region into loops over the items of the work-group, x innermost.
 *
 *   before -> z -> y -> x -> the region's blocks -> next x -> next y -> next z -> after
 *
 * Every loop has a counter that starts at 0, a single latch, and at least one iteration.  If guards
 * have become the start or the bound of the counter (regions_bounds.c), the loop may be skipped.  A
 * dimension of one item gets no loop.  A region gets no loops at all if all items do the same in it
 * and it writes only values that are kept once for the group.
 *
 * An exit of a region becomes a jump to the innermost latch.  If a region has several successors,
 * each item stores the number of the one that it takes.  All items store the same number, and the
 * block after the loops branches on it.
 */
#include "passes/workgroup/regions_impl.h"

typedef struct {
    pass_grouping *g;
    ir_builder b;
    uint32_t *region;    /* by block id: to whose loops it belongs */
    uint32_t nblocks;    /* entries of it */
    ir_block *after;     /* of the current region */
    ir_block *before[3]; /* its loops */
} looper;

static ir_block *block_before(const looper *l, ir_block *target) {
    const pass_grouping *g = l->g;
    if (target == g->end) return target;
    return g->regions[g->region_of[target->id]].before;
}

/* -------------------------------------------------------------------------------- once or often */

static bool is_kept_once(const looper *l, const ir_inst *address) {
    bool variable = address->op == IR_OP_alloca || address->op == IR_OP_inttoptr; /* that stands */
    return variable && address->block == l->g->entry.block;
}

static bool is_id(const pass_grouping *g, const ir_inst *v) {
    return v == g->item || v == g->id[0] || v == g->id[1] || v == g->id[2];
}

/* Need only one item do it? */
static bool is_for_all(const looper *l, const ir_inst *i) {
    for (unsigned n = 0; n < i->nargs; n++)
        if (is_id(l->g, ir_arg(i, n)) && !ir_is_leaf(ir_arg(i, n))) return false;
    if (is_id(l->g, i) || ir_has_flag(i, F_PURE) || ir_is_terminator(i)) return true;
    if (i->op == IR_OP_phi || i->op == IR_OP_fence) return true;
    if (i->op == IR_OP_load) return !(i->imm.mem.flags & IR_MEM_VOLATILE);
    return i->op == IR_OP_store && is_kept_once(l, ir_arg(i, 1));
}

static bool runs_once(const looper *l, const pass_region *r) {
    for (uint32_t k = 0; k < r->blocks.n; k++)
        foreach_inst (i, r->blocks.data[k])
            if (!is_for_all(l, i)) return false;
    return true;
}

/* ---------------------------------------------------------------------------------------- exits */

/* The branch that says where to go on follows the loops; its operand comes there through a
 * variable, unless it is there already. */
static ir_inst *move_decision(looper *l, const pass_region *r, ir_block *latch, ir_inst *chosen) {
    ir_block *from = r->decider;
    ir_inst *slot = NULL;
    if (chosen->block && chosen->block != l->g->entry.block && chosen->block != l->g->group.block &&
        chosen->block != r->before) {
        slot = ir_build_alloca(&l->g->entry, chosen->type, 0);
        ir_before(&l->b, from->last);
        ir_build_store(&l->b, chosen, slot, 0, 0);
    }
    ir_make_jmp(from, 0);
    ir_redirect_edge(from, 0, latch);
    ir_at_end(&l->b, l->after);
    return slot ? ir_build_load(&l->b, chosen->type, slot, 0, 0) : chosen;
}

static void decide_once(looper *l, const pass_region *r, ir_block *latch) {
    ir_block *from = r->decider;
    uint32_t n = from->nsucc;
    ir_inst *end = from->last, *chosen = ir_arg(end, 0);
    ir_op op = (ir_op)end->op;
    ir_block **to = ir_new_array(l->g->scratch, ir_block *, n);
    uint64_t *values = ir_new_array(l->g->scratch, uint64_t, n);
    for (uint32_t k = 0; k < n; k++) to[k] = block_before(l, from->succ[k]);
    for (uint32_t k = 1; op == IR_OP_switch && k < n; k++) values[k] = ir_arg(end, k)->imm.bits;
    chosen = move_decision(l, r, latch, chosen);
    if (op == IR_OP_br)
        ir_build_br(&l->b, chosen, to[0], to[1]);
    else
        ir_build_switch(&l->b, chosen, to[0], n - 1, values + 1, to + 1);
}

static uint32_t number_of(const pass_region *r, const ir_block *target) {
    for (uint32_t k = 0; k < r->targets.n; k++)
        if (r->targets.data[k] == target) return k;
    return PASS_NO_REGION;
}

/* Writes down in `slot` where the edge goes, and jumps to the latch. */
static void leave(looper *l, const pass_region *r, ir_block *from, uint32_t edge, ir_inst *slot,
                  ir_block *latch) {
    uint32_t target = number_of(r, from->succ[edge]);
    if (slot && from->nsucc > 1) {
        from = ir_split_edge(from, edge);
        edge = 0;
    }
    if (slot) {
        ir_before(&l->b, from->last);
        ir_build_store(&l->b, ir_const(l->g->f, IR_I32, target), slot, 4, 0);
    }
    ir_redirect_edge(from, edge, latch);
}

static void redirect_exits(looper *l, const pass_region *r, ir_inst *slot, ir_block *latch) {
    for (uint32_t k = 0; k < r->blocks.n; k++) {
        ir_block *b = r->blocks.data[k];
        for (uint32_t n = 0; n < b->nsucc; n++)
            if (number_of(r, b->succ[n]) != PASS_NO_REGION) leave(l, r, b, n, slot, latch);
    }
}

static void go_on(looper *l, const pass_region *r, ir_inst *slot) {
    const ir_block_list *targets = &r->targets;
    ir_at_end(&l->b, l->after);
    if (!targets->n) {
        ir_build_unreachable(&l->b);
        return;
    }
    if (!slot) {
        ir_build_jmp(&l->b, block_before(l, targets->data[0]));
        return;
    }
    ir_block **to = ir_new_array(l->g->scratch, ir_block *, targets->n);
    uint64_t *values = ir_new_array(l->g->scratch, uint64_t, targets->n);
    for (uint32_t k = 0; k < targets->n; k++) {
        to[k] = block_before(l, targets->data[k]);
        values[k] = k;
    }
    ir_inst *target = ir_build_load(&l->b, IR_I32, slot, 4, 0);
    ir_build_switch(&l->b, target, to[0], targets->n - 1, values + 1, to + 1);
}

static void link_exits(looper *l, const pass_region *r, ir_block *latch) {
    if (r->decider && r->targets.n > 1) {
        decide_once(l, r, latch);
        return;
    }
    ir_inst *slot = r->targets.n > 1 ? ir_build_alloca(&l->g->entry, IR_I32, 4) : NULL;
    redirect_exits(l, r, slot, latch);
    go_on(l, r, slot);
}

/* ---------------------------------------------------------------------------------------- loops */

static bool is_one(const ir_inst *v) { return v && ir_is_const(v) && v->imm.bits == 1; }

/* Is only one item concerned? */
static bool is_single(const looper *l, const pass_region *r, unsigned d) {
    return !l->g->count[d] || is_one(r->bound[d]);
}

static ir_inst *start_of(const looper *l, const pass_region *r, unsigned d) {
    return r->start[d] ? r->start[d] : pass_number(l->g, 0);
}

static ir_inst *end_of(const looper *l, const pass_region *r, unsigned d) {
    return r->bound[d] ? r->bound[d] : l->g->count[d];
}

/* Begins the loop of dimension d after `from`; its header. */
static ir_block *begin_loop(looper *l, pass_region *r, unsigned d, ir_block *from) {
    l->before[d] = from;
    if (is_single(l, r, d)) {
        r->id[d] = pass_number(l->g, 0);
        return from;
    }
    ir_block *header = ir_block_new(l->g->f, NULL);
    r->id[d] = ir_append_arg(ir_build_phi(header, IR_I64), start_of(l, r, d));
    return header;
}

/* Leads into the loop, past it when guards may leave no round of it. */
static void enter_loop(looper *l, const pass_region *r, unsigned d, ir_block *header,
                       ir_block *out) {
    ir_inst *start = start_of(l, r, d), *end = end_of(l, r, d);
    ir_at_end(&l->b, l->before[d]);
    if (r->bound[d] || r->start[d])
        ir_build_br(&l->b, ir_build2(&l->b, IR_OP_ult, IR_I1, start, end), header, out);
    else
        ir_build_jmp(&l->b, header);
}

/* Ends it: the latch, which leads to `out`. */
static ir_block *end_loop(looper *l, pass_region *r, unsigned d, ir_block *header, ir_block *out) {
    ir_block *latch = ir_block_new(l->g->f, NULL);
    enter_loop(l, r, d, header, out);
    ir_at_end(&l->b, latch);
    ir_inst *next = pass_build_plain(&l->b, IR_OP_add, r->id[d], pass_number(l->g, 1));
    ir_inst *more = ir_build2(&l->b, IR_OP_ult, IR_I1, next, end_of(l, r, d));
    ir_build_br(&l->b, more, header, out);
    r->id[d] = ir_append_arg(r->id[d], next);
    return latch;
}

/* The number of the first item of a row. */
static ir_inst *find_row(looper *l, const pass_region *r) {
    ir_inst *const *count = l->g->count, *row = r->id[2];
    if (count[1])
        row = pass_build_plain(&l->b, IR_OP_add, pass_build_plain(&l->b, IR_OP_mul, row, count[1]),
                               r->id[1]);
    return count[0] ? pass_build_plain(&l->b, IR_OP_mul, row, count[0]) : row;
}

/* The block before the loops; with a guard, a new block that is skipped, as the loops are, when no
 * item has something to do. */
static ir_block *begin_guarded(looper *l, const pass_region *r) {
    if (!r->guard) return r->before;
    ir_block *to = ir_block_new(l->g->f, NULL);
    ir_at_end(&l->b, r->before);
    ir_build_br(&l->b, r->guard, to, l->after);
    return to;
}

static void build_loops(looper *l, pass_region *r) {
    pass_find_bounds(l->g, r);
    ir_block *header[3], *before = begin_guarded(l, r), *at = before, *latch = l->after;
    for (unsigned d = 3; d-- > 1;) at = header[d] = begin_loop(l, r, d, at);
    ir_at_end(&l->b, at);
    ir_inst *row = find_row(l, r);
    at = header[0] = begin_loop(l, r, 0, at);
    ir_at_end(&l->b, at);
    r->item = pass_build_plain(&l->b, IR_OP_add, row, r->id[0]);
    ir_build_jmp(&l->b, r->head);
    if (at != before) at->loop_hint |= IR_LOOP_ITEMS;
    for (unsigned d = 3; d-- > 0;)
        if (!is_single(l, r, d)) latch = end_loop(l, r, d, header[d], latch);
    link_exits(l, r, latch);
}

static void run_once(looper *l, const pass_region *r) {
    ir_at_end(&l->b, r->before);
    ir_build_jmp(&l->b, r->head);
    link_exits(l, r, l->after);
}

/* ------------------------------------------------------------------------------------------ ids */

static void number_blocks(looper *l) {
    const pass_grouping *g = l->g;
    l->nblocks = g->f->next_block;
    l->region = ir_new_array(g->scratch, uint32_t, l->nblocks);
    for (uint32_t b = 0; b < l->nblocks; b++) l->region[b] = PASS_NO_REGION;
    for (uint32_t k = 0; k < g->nregions; k++)
        for (uint32_t n = 0; n < g->regions[k].blocks.n; n++)
            l->region[g->regions[k].blocks.data[n]->id] = k;
}

static ir_inst *counter_of(const looper *l, const pass_region *r, const ir_inst *id) {
    if (id == l->g->item) return r->item;
    for (unsigned d = 0; d < 3; d++)
        if (id == l->g->id[d]) return r->id[d];
    return NULL;
}

static void replace_id(looper *l, ir_inst *id) {
    if (ir_is_leaf(id)) return;
    foreach_use (u, id) {
        const ir_block *at = u->user->block;
        uint32_t region = at->id < l->nblocks ? l->region[at->id] : PASS_NO_REGION;
        ir_inst *counter =
            region == PASS_NO_REGION ? NULL : counter_of(l, &l->g->regions[region], id);
        unsigned arg = (unsigned)(u - u->user->arg);
        ir_set_arg(u->user, arg, counter ? counter : pass_number(l->g, 0));
    }
    ir_remove(id);
}

static void replace_ids(looper *l) {
    pass_grouping *g = l->g;
    if (g->item != g->id[0]) replace_id(l, g->item);
    for (unsigned d = 0; d < 3; d++) replace_id(l, g->id[d]);
}

static void remove_meetings(const pass_grouping *g) {
    for (uint32_t k = 0; k < g->meetings.n; k++)
        foreach_inst (i, g->meetings.data[k])
            if (i->op == IR_OP_barrier) ir_remove(i);
}

/* What regions do not need since they compute it again, or read it. */
static void remove_unused(const pass_grouping *g) {
    for (uint32_t k = g->nregions; k-- > 0;)
        for (uint32_t n = g->regions[k].blocks.n; n-- > 0;)
            foreach_inst_reverse (i, g->regions[k].blocks.data[n])
                if (!i->uses && ir_is_dead_safe(i) && !is_id(g, i)) ir_remove(i);
}

void pass_loop_over_items(pass_grouping *g) {
    looper l = {.g = g};
    ir_builder_init(&l.b, g->f);
    remove_meetings(g);
    remove_unused(g);
    number_blocks(&l);
    for (uint32_t k = 0; k < g->nregions; k++) {
        pass_region *r = &g->regions[k];
        l.after = ir_block_new(g->f, NULL);
        if (runs_once(&l, r))
            run_once(&l, r);
        else
            build_loops(&l, r);
    }
    ir_redirect_edge(g->group.block, 0, g->regions[0].before);
    replace_ids(&l);
}
