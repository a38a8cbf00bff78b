/* regions_loops.c — puts each region into loops over the items of the work-group.
 *
 *   preheader -> z -> y -> x -> the blocks of the region -> next x -> next y -> next z -> after
 *
 * The innermost loop runs along x, or along another dimension that has been chosen (inner.c).  Its
 * items become lanes of vectors, or those of the loop around it if the kernel transposes.
 * Each loop has one counter, one latch, and at least one iteration.  If guards have become bounds
 * of the counter (regions_bounds.c), the loop may be skipped.  A dimension of one item gets no
 * loop. A region gets no loops at all if all items do the same in it and it writes only values that
 * are kept once for the group.
 *
 * An edge that leaves the region becomes a jump to the innermost latch.  If the region has several
 * targets, each item stores the number of its own.  All items store the same number, and the block
 * after the loops branches on it.
 */
#include "passes/workgroup/regions_impl.h"

typedef struct {
    pass_group_builder *g;
    const pass_item_ids *ids;
    const pass_region_graph *graph;
    ir_builder b;
    pass_item_loops *loops; /* by region */
    uint32_t *region;       /* by block id: the region in whose loops it is */
    uint32_t nblocks;       /* ids are below */
    ir_block *after;        /* the loops of the current region */
} looper;

static ir_block *preheader_of(const looper *l, ir_block *target) {
    if (target == l->g->end) return target;
    return l->graph->region[l->graph->region_of[target->id]].preheader;
}

/* ------------------------------------------------------------------------ regions without loops */

static bool is_kept_once(const looper *l, const ir_inst *address) {
    bool variable = address->op == IR_OP_alloca ||
                    address->op == IR_OP_inttoptr; /* a placeholder (regions_collective.c) */
    return variable && address->block == l->g->entry.block;
}

/* Is it enough if one item does it? */
static bool is_for_all(const looper *l, const ir_inst *i) {
    for (unsigned n = 0; n < i->nargs; n++)
        if (pass_is_item_id(l->ids, ir_arg(i, n)) && !ir_is_leaf(ir_arg(i, n))) return false;
    if (pass_is_item_id(l->ids, i) || ir_has_flag(i, F_PURE) || ir_is_terminator(i)) return true;
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

/* Moves the branch of the chooser to the end of the loops.  Gives its operand there, which comes
 * through a variable unless it is computed before the loops. */
static ir_inst *move_choice(looper *l, const pass_region *r, ir_block *latch, ir_inst *chosen) {
    ir_block *from = r->chooser;
    ir_inst *slot = NULL;
    if (!pass_is_outside(l->g, chosen) && chosen->block != r->preheader) {
        slot = ir_build_alloca(&l->g->entry, chosen->type, 0);
        ir_before(&l->b, from->last);
        ir_build_store(&l->b, chosen, slot, 0, 0);
    }
    ir_make_jmp(from, 0);
    ir_redirect_edge(from, 0, latch);
    ir_at_end(&l->b, l->after);
    return slot ? ir_build_load(&l->b, chosen->type, slot, 0, 0) : chosen;
}

static void leave_by_choice(looper *l, const pass_region *r, ir_block *latch) {
    ir_block *from = r->chooser;
    uint32_t n = from->nsucc;
    ir_inst *end = from->last, *chosen = ir_arg(end, 0);
    ir_op op = (ir_op)end->op;
    ir_block **to = ir_new_array(l->g->scratch, ir_block *, n);
    uint64_t *values = ir_new_array(l->g->scratch, uint64_t, n);
    for (uint32_t k = 0; k < n; k++) to[k] = preheader_of(l, from->succ[k]);
    for (uint32_t k = 1; op == IR_OP_switch && k < n; k++) values[k] = ir_arg(end, k)->imm.bits;
    chosen = move_choice(l, r, latch, chosen);
    if (op == IR_OP_br)
        ir_build_br(&l->b, chosen, to[0], to[1]);
    else
        ir_build_switch(&l->b, chosen, to[0], (ir_cases){n - 1, values + 1, to + 1});
}

/* The target of an edge that leaves a region. */
typedef struct {
    ir_inst *slot;   /* where items store the number of the target; NULL: there is one target */
    uint32_t target; /* its number */
} exit_number;

static uint32_t number_of(const pass_region *r, const ir_block *target) {
    for (uint32_t k = 0; k < r->targets.n; k++)
        if (r->targets.data[k] == target) return k;
    return PASS_NO_REGION;
}

/* Makes an edge that leaves the region a jump to the latch.  If there is a slot, the number of the
 * target is stored there. */
static void redirect_exit(looper *l, ir_block *from, uint32_t edge, ir_block *latch,
                          const exit_number *exit) {
    if (exit->slot && from->nsucc > 1) {
        from = ir_split_edge(from, edge);
        edge = 0;
    }
    if (exit->slot) {
        ir_before(&l->b, from->last);
        ir_build_store(&l->b, ir_const(l->g->f, IR_I32, exit->target), exit->slot, 4, 0);
    }
    ir_redirect_edge(from, edge, latch);
}

static void redirect_exits(looper *l, const pass_region *r, ir_inst *slot, ir_block *latch) {
    for (uint32_t k = 0; k < r->blocks.n; k++) {
        ir_block *b = r->blocks.data[k];
        for (uint32_t n = 0; n < b->nsucc; n++) {
            const exit_number exit = {slot, number_of(r, b->succ[n])};
            if (exit.target != PASS_NO_REGION) redirect_exit(l, b, n, latch, &exit);
        }
    }
}

/* Ends the block after the loops: with a switch over the number in the slot, if there is one. */
static void end_after(looper *l, const pass_region *r, ir_inst *slot) {
    const ir_block_list *targets = &r->targets;
    ir_at_end(&l->b, l->after);
    if (!targets->n) {
        ir_build_unreachable(&l->b);
        return;
    }
    if (!slot) {
        ir_build_jmp(&l->b, preheader_of(l, targets->data[0]));
        return;
    }
    ir_block **to = ir_new_array(l->g->scratch, ir_block *, targets->n);
    uint64_t *values = ir_new_array(l->g->scratch, uint64_t, targets->n);
    for (uint32_t k = 0; k < targets->n; k++) {
        to[k] = preheader_of(l, targets->data[k]);
        values[k] = k;
    }
    ir_inst *target = ir_build_load(&l->b, IR_I32, slot, 4, 0);
    ir_build_switch(&l->b, target, to[0], (ir_cases){targets->n - 1, values + 1, to + 1});
}

/* Each item stores where it goes on. */
static void part(looper *l, const pass_region *r, ir_block *latch) {
    ir_inst *lane = l->loops[r - l->graph->region].id[0];
    for (uint32_t k = 0; k < r->blocks.n; k++) {
        ir_block *b = r->blocks.data[k];
        for (uint32_t n = 0; n < b->nsucc; n++) {
            if (number_of(r, b->succ[n]) == PASS_NO_REGION) continue;
            uint32_t number = pass_number_of(l->g, l->graph, b->succ[n]);
            bool splits = b->nsucc > 1;
            ir_block *from = splits ? ir_split_edge(b, n) : b;
            ir_before(&l->b, from->last);
            ir_inst *at = pass_next_of(l->g, l->graph, &l->b, lane);
            ir_build_store(&l->b, ir_const(l->g->f, IR_I32, number), at, sizeof number,
                           pass_lane_flags(l->g));
            ir_redirect_edge(from, splits ? 0 : n, latch);
        }
    }
    ir_at_end(&l->b, l->after);
    ir_build_jmp(&l->b, pass_find_next(l->g, l->graph, r));
}

static void link_exits(looper *l, const pass_region *r, ir_block *latch) {
    if (l->graph->parts) {
        part(l, r, latch);
        return;
    }
    if (r->chooser && r->targets.n > 1) {
        leave_by_choice(l, r, latch);
        return;
    }
    ir_inst *slot = r->targets.n > 1 ? ir_build_alloca(&l->g->entry, IR_I32, 4) : NULL;
    redirect_exits(l, r, slot, latch);
    end_after(l, r, slot);
}

/* ---------------------------------------------------------------------------------------- loops */

/* The loop of one dimension. */
typedef struct {
    ir_inst *start, *end; /* values of the counter; end NULL: a single item */
    bool may_be_empty;
    ir_block *before, *header; /* the same block if there is no loop */
} item_loop;

static item_loop begin_loop(looper *l, pass_item_loops *all, unsigned d, ir_block *before) {
    ir_inst *start = all->start[d], *bound = all->bound[d], *count = l->ids->count[d];
    bool single = !count || (!start && bound && ir_is_const(bound) && bound->imm.bits == 1);
    if (single) {
        all->id[d] = pass_number(l->g, 0);
        return (item_loop){.before = before, .header = before};
    }
    item_loop loop = {.start = start ? start : pass_number(l->g, 0),
                      .end = bound ? bound : count,
                      .may_be_empty = start || bound,
                      .before = before,
                      .header = ir_block_new(l->g->f, NULL)};
    all->id[d] = ir_append_arg(ir_build_phi(loop.header, IR_I64), loop.start);
    return loop;
}

/* Builds the entry and the latch of the loop, which is left to `out`.  Gives the latch. */
static ir_block *end_loop(looper *l, const item_loop *loop, ir_inst **id, ir_block *out) {
    ir_block *latch = ir_block_new(l->g->f, NULL);
    ir_count(l->g->f->module->cx, regions_loops, 1);
    ir_at_end(&l->b, loop->before);
    if (loop->may_be_empty)
        ir_build_br(&l->b, ir_build2(&l->b, IR_OP_ult, IR_I1, loop->start, loop->end), loop->header,
                    out);
    else
        ir_build_jmp(&l->b, loop->header);
    ir_at_end(&l->b, latch);
    ir_inst *next = pass_build_plain(&l->b, IR_OP_add, *id, pass_number(l->g, 1));
    ir_inst *more = ir_build2(&l->b, IR_OP_ult, IR_I1, next, loop->end);
    ir_build_br(&l->b, more, loop->header, out);
    *id = ir_append_arg(*id, next);
    return latch;
}

/* The linear id of the first item of a row, which runs along x. */
static ir_inst *find_row(looper *l, const pass_item_loops *all) {
    ir_inst *const *count = l->ids->count, *row = all->id[2];
    if (count[1])
        row = pass_build_plain(&l->b, IR_OP_add, pass_build_plain(&l->b, IR_OP_mul, row, count[1]),
                               all->id[1]);
    return count[0] ? pass_build_plain(&l->b, IR_OP_mul, row, count[0]) : row;
}

/* The block before the loops.  With a guard it is a new one, which is skipped with the loops if no
 * item has something to do. */
static ir_block *build_guard(looper *l, const pass_region *r, ir_inst *guard) {
    if (!guard) return r->preheader;
    ir_block *to = ir_block_new(l->g->f, NULL);
    ir_at_end(&l->b, r->preheader);
    ir_build_br(&l->b, guard, to, l->after);
    return to;
}

/* Moves what is done once in front of the loops, and finds their bounds. */
static void find_bounds(looper *l, const pass_region *r, pass_item_loops *all) {
    pass_hoister h = {.g = l->g,
                      .region = r,
                      .region_of = l->region,
                      .nblocks = l->nblocks,
                      .index = (uint32_t)(r - l->graph->region)};
    pass_begin_hoisting(&h);
    pass_find_bounds(l->g, l->ids, l->graph, &h, all);
}

/* Only items that are in the region run it. */
static void enter(looper *l, const pass_region *r, ir_block *at, ir_block *latch, ir_inst *lane) {
    ir_at_end(&l->b, at);
    if (!l->graph->parts) {
        ir_build_jmp(&l->b, r->head);
        return;
    }
    ir_inst *next = pass_next_of(l->g, l->graph, &l->b, lane);
    ir_inst *number = ir_const(l->g->f, IR_I32, pass_number_of(l->g, l->graph, r->head));
    next = ir_build_load(&l->b, IR_I32, next, sizeof(uint32_t), pass_lane_flags(l->g));
    ir_build_br(&l->b, ir_build2(&l->b, IR_OP_eq, IR_I1, next, number), r->head, latch);
}

static void build_loops(looper *l, const pass_region *r, pass_item_loops *all) {
    if (!l->graph->parts) find_bounds(l, r, all);
    item_loop loop[3]; /* outermost last */
    unsigned order[3];
    pass_order_loops(l->g->shape->inner, order);
    ir_block *before = build_guard(l, r, all->guard), *at = before, *latch = l->after;
    for (unsigned k = 3; k-- > 1; at = loop[k].header) loop[k] = begin_loop(l, all, order[k], at);
    ir_at_end(&l->b, at);
    ir_inst *row = order[0] == 0 ? find_row(l, all) : NULL; /* once for all its items */
    loop[0] = begin_loop(l, all, order[0], at);
    at = loop[0].header;
    bool items = l->g->lanes || l->g->shape->subgroup < 2;
    ir_at_end(&l->b, at);
    if (!row) row = find_row(l, all);
    all->item = pass_build_plain(&l->b, IR_OP_add, row, all->id[0]);
    bool has_rows = loop[0].end && loop[1].end, across = has_rows && l->g->shape->transposes;
    ir_block *lanes = across ? loop[1].header : at;
    if (items && lanes != before)
        lanes->loop_hint |= IR_LOOP_ITEMS | (l->g->lanes ? IR_LOOP_LANES : 0);
    if (has_rows && !across) loop[1].header->loop_hint |= IR_LOOP_ROWS;
    for (unsigned k = 3; k-- > 0;)
        if (loop[k].end) latch = end_loop(l, &loop[k], &all->id[order[k]], latch);
    enter(l, r, at, latch, all->id[0]);
    link_exits(l, r, latch);
}

static void build_once(looper *l, const pass_region *r) {
    ir_count(l->g->f->module->cx, regions_once, 1);
    ir_at_end(&l->b, r->preheader);
    ir_build_jmp(&l->b, r->head);
    link_exits(l, r, l->after);
}

/* ------------------------------------------------------------------------------------------ ids */

static void number_blocks(looper *l) {
    const pass_region_graph *graph = l->graph;
    l->nblocks = l->g->f->next_block;
    l->region = ir_new_array(l->g->scratch, uint32_t, l->nblocks);
    for (uint32_t b = 0; b < l->nblocks; b++) l->region[b] = PASS_NO_REGION;
    for (uint32_t k = 0; k < graph->n; k++)
        for (uint32_t n = 0; n < graph->region[k].blocks.n; n++)
            l->region[graph->region[k].blocks.data[n]->id] = k;
}

/* The counter that an id is in the loops of a block; NULL: there are no loops. */
static ir_inst *counter_of(const looper *l, const ir_block *at, const ir_inst *id) {
    uint32_t region = at->id < l->nblocks ? l->region[at->id] : PASS_NO_REGION;
    if (region == PASS_NO_REGION) return NULL;
    if (id == l->ids->item) return l->loops[region].item;
    for (unsigned d = 0; d < 3; d++)
        if (id == l->ids->id[d]) return l->loops[region].id[d];
    return NULL;
}

static void replace_id(looper *l, ir_inst *id) {
    if (ir_is_leaf(id)) return;
    foreach_use (u, id) {
        ir_inst *counter = counter_of(l, u->user->block, id);
        unsigned arg = (unsigned)(u - u->user->arg);
        ir_set_arg(u->user, arg, counter ? counter : pass_number(l->g, 0));
    }
    ir_remove(id);
}

/* ------------------------------------------------------------------------------------ the whole */

static void remove_barriers(const pass_region_graph *graph) {
    for (uint32_t k = 0; k < graph->syncs.n; k++)
        foreach_inst (i, graph->syncs.data[k])
            if (i->op == IR_OP_barrier) ir_remove(i);
}

/* What regions do not need since they compute it again, or read it. */
static void remove_unused(const looper *l) {
    for (uint32_t k = l->graph->n; k-- > 0;)
        for (uint32_t n = l->graph->region[k].blocks.n; n-- > 0;)
            foreach_inst_reverse (i, l->graph->region[k].blocks.data[n])
                if (!i->uses && ir_is_dead_safe(i) && !pass_is_item_id(l->ids, i)) ir_remove(i);
}

void pass_loop_over_items(pass_group_builder *g, const pass_item_ids *ids,
                          pass_region_graph *graph) {
    looper l = {.g = g, .ids = ids, .graph = graph};
    ir_builder_init(&l.b, g->f);
    l.loops = ir_new_array(g->scratch, pass_item_loops, graph->n);
    remove_barriers(graph);
    remove_unused(&l);
    number_blocks(&l);
    if (graph->parts) pass_build_tests(g, ids, graph);
    for (uint32_t k = 0; k < graph->n; k++) {
        const pass_region *r = &graph->region[k];
        l.after = ir_block_new(g->f, NULL);
        if (!graph->parts && runs_once(&l, r))
            build_once(&l, r);
        else
            build_loops(&l, r, &l.loops[k]);
    }
    ir_redirect_edge(g->group.block, 0, graph->region[0].preheader);
    if (ids->item != ids->id[0]) replace_id(&l, ids->item);
    for (unsigned d = 0; d < 3; d++) replace_id(&l, ids->id[d]);
}
