/* regions_cut.c — cuts the control flow graph into regions.
 *
 * A region has a head, and all that can be reached from the head without passing another one.
 * Heads are
 *   synchronization points   the start, the end, and what begins with a barrier: all items of a
 *                            group come to the same next one, in every defined program
 *   further heads            the targets of uniform branches that choose the next synchronization
 *                            point (regions_branches.c), and the blocks where regions would join
 *                            (the iterated dominance frontier of the heads)
 * All items of a region must leave it to the same head.  They do if there is only one target, if
 * one uniform branch leads to all of them, or if all are synchronization points.  Otherwise the
 * targets that are no synchronization points are given up as heads, and the search starts again.
 * With synchronization points as the only heads, all items leave every region to the same head.
 *
 * Items of a sub-group may come to different synchronization points, unless these are barriers of
 * the group.  Then all heads are kept, and items part (regions_order.c).
 *
 * After that a block may be in several regions, which get copies of it.
 */
#include "passes/workgroup/regions_impl.h"

enum { MAX_ROUNDS = 8, GROWTH = 8, SMALL = 1000 };

/* --------------------------------------------------------------------------------------- blocks */

/* Critical edges to phis. */
static void split_edges(ir_block *b) {
    for (uint32_t n = 0; b->nsucc > 1 && n < b->nsucc; n++)
        if (b->succ[n]->first->op == IR_OP_phi) ir_split_edge(b, n);
}

/* Do all items whose regions are made come together at i? */
static bool is_meeting(const pass_group_builder *g, const ir_inst *i) {
    bool barrier = i->op == IR_OP_barrier && i->imm.sync.exec <= IR_SCOPE_SUBGROUP;
    return pass_synchronizes(i) || (g->lanes && barrier);
}

static void cut_block(const pass_group_builder *g, ir_block *block, ir_block_list *syncs) {
    ir_builder b;
    ir_builder_init(&b, g->f);
    foreach_inst_reverse (i, block) {
        if (!is_meeting(g, i)) continue;
        ir_block *tail = ir_split_block(block, i);
        ir_at_end(&b, block);
        ir_build_jmp(&b, tail);
        *ir_push(g->scratch, syncs) = tail;
    }
}

/* ---------------------------------------------------------------------------------------- heads */

typedef struct {
    const pass_group_builder *g;
    pass_region_graph *graph;
    const ir_order *order;
    bool *sync;          /* by block id: synchronization points, the start and the end */
    bool *shared;        /* those of them where no other item can be elsewhere */
    const bool *chooses; /* by block id: its branch chooses the next one */
    bool *refused;       /* by block id: cannot be a head */
    ir_block_list heads;
    uint32_t *seen, stamp; /* by block id */
    uint64_t visits;       /* that are left */
} cutter;

static void add_head(cutter *c, ir_block *b) {
    if (c->graph->is_head[b->id] || c->refused[b->id]) return;
    c->graph->is_head[b->id] = true;
    if (b != c->g->end) *ir_push(c->g->scratch, &c->heads) = b;
}

static bool may_cut(const cutter *c, const ir_block *b) {
    if (!c->chooses[b->id] || c->graph->uniform.divergent[b->id]) return false;
    for (uint32_t n = 0; n < b->nsucc; n++)
        if (c->refused[b->succ[n]->id]) return false;
    return true;
}

static void find_heads(cutter *c) {
    const ir_block_list *syncs = &c->graph->syncs;
    ir_block_list joins = {0};
    memset(c->graph->is_head, 0, c->graph->nblocks);
    c->heads.n = 0;
    add_head(c, c->g->start);
    add_head(c, c->g->end);
    for (uint32_t k = 0; k < syncs->n; k++)
        if (c->order->index[syncs->data[k]->id] != UINT32_MAX) add_head(c, syncs->data[k]);
    for (uint32_t k = 0; k < c->order->n; k++) {
        ir_block *b = c->order->rpo[k];
        for (uint32_t n = 0; may_cut(c, b) && n < b->nsucc; n++) add_head(c, b->succ[n]);
    }
    ir_iterated_frontier(c->g->f, &c->heads, NULL, c->g->scratch, &joins);
    for (uint32_t k = 0; k < joins.n; k++) add_head(c, joins.data[k]);
}

/* -------------------------------------------------------------------------------------- regions */

/* Does its branch leave the region, with all items? */
static bool is_exit_of_all(const cutter *c, const ir_block *b) {
    for (uint32_t n = 0; n < b->nsucc; n++)
        if (!c->graph->is_head[b->succ[n]->id]) return false;
    return !c->graph->uniform.divergent[b->id];
}

static void add_target(cutter *c, pass_region *r, ir_block *from, ir_block *to) {
    if (!r->targets.n && is_exit_of_all(c, from)) r->chooser = from;
    if (r->chooser != from) r->chooser = NULL;
    bool again = r->exiting.n && r->exiting.data[r->exiting.n - 1] == from;
    if (!again) *ir_push(c->g->scratch, &r->exiting) = from;
    if (c->seen[to->id] == c->stamp) return;
    c->seen[to->id] = c->stamp;
    *ir_push(c->g->scratch, &r->targets) = to;
}

static void add_block(cutter *c, pass_region *r, uint32_t number, ir_block *b) {
    uint32_t *of = &c->graph->region_of[b->id];
    *of = *of == PASS_NO_REGION ? number : PASS_SHARED;
    c->seen[b->id] = c->stamp;
    *ir_push(c->g->scratch, &r->blocks) = b;
}

static void collect_region(cutter *c, pass_region *r, uint32_t number, ir_block *head) {
    c->stamp++;
    *r = (pass_region){.head = head};
    add_block(c, r, number, head);
    c->seen[head->id] = 0; /* as a target it has not been */
    for (uint32_t k = 0; k < r->blocks.n && c->visits; k++, c->visits--) {
        ir_block *b = r->blocks.data[k];
        for (uint32_t n = 0; n < b->nsucc; n++) {
            ir_block *to = b->succ[n];
            if (c->graph->is_head[to->id])
                add_target(c, r, b, to);
            else if (c->seen[to->id] != c->stamp)
                add_block(c, r, number, to);
        }
    }
}

static void find_members(cutter *c) {
    pass_region_graph *graph = c->graph;
    graph->n = c->heads.n;
    graph->region = ir_new_array(c->g->scratch, pass_region, graph->n);
    for (uint32_t b = 0; b < graph->nblocks; b++) graph->region_of[b] = PASS_NO_REGION;
    for (uint32_t k = 0; k < graph->n; k++)
        collect_region(c, &graph->region[k], k, c->heads.data[k]);
}

/* Do all items of the region continue at the same head?  If not, heads are refused. */
static bool check_targets(cutter *c, const pass_region *r, bool *again) {
    bool fine = true;
    if (r->targets.n < 2 || r->chooser) return true;
    for (uint32_t k = 0; k < r->targets.n; k++) {
        uint32_t target = r->targets.data[k]->id;
        fine &= c->shared[target];
        *again |= !c->sync[target];
        c->refused[target] |= !c->sync[target];
    }
    return fine;
}

/* All heads are used, and items go where they go. */
static void let_part(cutter *c) {
    memset(c->refused, 0, c->graph->nblocks);
    find_heads(c);
    find_members(c);
    for (uint32_t k = 0; k < c->graph->n; k++) c->graph->region[k].chooser = NULL;
    c->graph->parts = true;
}

static void search(cutter *c) {
    const pass_region_graph *graph = c->graph;
    for (unsigned round = 0;; round++) {
        bool fine = true, again = false;
        find_heads(c);
        find_members(c);
        for (uint32_t k = 0; k < graph->n; k++) fine &= check_targets(c, &graph->region[k], &again);
        if (!fine && !again) let_part(c);
        if (fine || !again || !c->visits) return;
        for (uint32_t b = 0; b < graph->nblocks && round == MAX_ROUNDS; b++)
            c->refused[b] = !c->sync[b];
    }
}

static bool *find_syncs(const pass_group_builder *g, const pass_region_graph *graph) {
    bool *sync = ir_new_array(g->scratch, bool, graph->nblocks);
    sync[g->start->id] = sync[g->end->id] = true;
    for (uint32_t k = 0; k < graph->syncs.n; k++) sync[graph->syncs.data[k]->id] = true;
    return sync;
}

/* Those of the group, and the start and the end; items of a sub-group come to others as they like.
 * */
static bool *find_shared(const pass_group_builder *g, const pass_region_graph *graph) {
    bool *shared = find_syncs(g, graph);
    for (uint32_t k = 0; k < graph->syncs.n; k++)
        shared[graph->syncs.data[k]->id] = pass_synchronizes(graph->syncs.data[k]->first);
    return shared;
}

const char *pass_find_regions(const pass_group_builder *g, pass_region_graph *out) {
    foreach_block (block, g->f) {
        split_edges(block);
        cut_block(g, block, &out->syncs);
    }
    out->nblocks = g->f->next_block;
    out->is_head = ir_new_array(g->scratch, bool, out->nblocks);
    out->region_of = ir_new_array(g->scratch, uint32_t, out->nblocks);
    if (g->lanes)
        pass_find_uniform_subgroup(g->f, g->scratch, &out->uniform);
    else if (g->has_parted)
        pass_find_uniform_alone(g->f, g->scratch, &out->uniform);
    else
        pass_find_uniform(g->f, g->scratch, &out->uniform);
    const uint64_t most = (uint64_t)GROWTH * (out->nblocks + SMALL);
    cutter c = {.g = g,
                .graph = out,
                .order = &ir_dominators(g->f)->order,
                .sync = find_syncs(g, out),
                .shared = find_shared(g, out),
                .refused = ir_new_array(g->scratch, bool, out->nblocks),
                .seen = ir_new_array(g->scratch, uint32_t, out->nblocks),
                .visits = (MAX_ROUNDS + 2) * most};
    c.chooses = pass_find_choices(g, out, c.sync);
    search(&c);
    uint64_t blocks = 0;
    for (uint32_t k = 0; k < out->n; k++) blocks += out->region[k].blocks.n;
    return c.visits && blocks <= most ? NULL : "its barriers are reached in too many ways";
}

/* ------------------------------------------------------------------------------ regions' copies */

/* An edge of a block that is not copied goes to the copy. */
static void move_edge(ir_block *from, uint32_t n, const ir_clone_map *map, ir_arena *scratch) {
    ir_block *to = from->succ[n], *copy = map->block[to->id];
    unsigned p = ir_pred_index(to, from);
    ir_vec(ir_inst *) args = {0};
    foreach_phi (phi, to) {
        *ir_push(scratch, &args) = ir_arg(phi, p);
    }
    unsigned k = 0;
    ir_redirect_edge(from, n, copy);
    foreach_phi (phi, copy) ir_append_arg(phi, args.data[k++]);
}

static void copy_shared(const pass_group_builder *g, pass_region *r, const ir_block_list *shared) {
    ir_clone_map map = {.value = ir_new_array(g->scratch, ir_inst *, g->f->next_id),
                        .block = ir_new_array(g->scratch, ir_block *, g->f->next_block),
                        .edge = ir_new_array(g->scratch, uint32_t, g->f->next_block)};
    ir_clone_region(g->f, shared->data, shared->n, &map);
    for (uint32_t k = 0; k < r->blocks.n; k++) {
        ir_block *b = r->blocks.data[k], *copy = map.block[b->id];
        for (uint32_t n = 0; !copy && n < b->nsucc; n++)
            if (map.block[b->succ[n]->id]) move_edge(b, n, &map, g->scratch);
        if (r->chooser == b && copy) r->chooser = copy;
        if (copy) r->blocks.data[k] = copy;
    }
}

void pass_unshare_regions(const pass_group_builder *g, pass_region_graph *graph) {
    for (uint32_t k = 0; k < graph->n; k++) {
        pass_region *r = &graph->region[k];
        ir_block_list shared = {0};
        for (uint32_t n = 0; n < r->blocks.n; n++)
            if (graph->region_of[r->blocks.data[n]->id] == PASS_SHARED)
                *ir_push(g->scratch, &shared) = r->blocks.data[n];
        if (shared.n) copy_shared(g, r, &shared);
    }
}
