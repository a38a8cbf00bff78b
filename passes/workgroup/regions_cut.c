/* regions_cut.c — the graph is cut into regions.
 *
 * A region has a head, and all that can be reached from it without passing another head.  Heads are
 *   hard   the first block, the end, and whatever begins with a meeting (barrier): of these, all
 *          items of a group come to the same next one, in every program that is defined
 *   soft   the targets of branches that are taken alike and before which it is open what comes
 *          next, and the places where regions would meet (the iterated dominance frontier of the
 *          heads)
 * All items of a region must go on at the same head.  They do when there is only one, when one
 * branch that is taken alike leads to all of them, or when all are hard.  Otherwise the soft ones
 * are given up as heads, and the search starts again; hard ones alone are always right.
 *
 * Then a block may be in several regions, which get copies of it.
 */
#include "passes/workgroup/regions_impl.h"

enum { MAX_ROUNDS = 8, GROWTH = 8, SMALL = 1000 };

/* --------------------------------------------------------------------------- blocks at meetings */

static void cut_block(pass_grouping *g, ir_builder *b, ir_block *block) {
    foreach_inst_reverse (i, block) {
        if (!pass_is_meeting(i)) continue;
        ir_block *tail = ir_split_block(block, i);
        ir_at_end(b, block);
        ir_build_jmp(b, tail);
        *ir_push(g->scratch, &g->meetings) = tail;
    }
}

/* Phis get their arguments where only one way goes on. */
static void split_edges(ir_block *b) {
    for (uint32_t n = 0; b->nsucc > 1 && n < b->nsucc; n++)
        if (b->succ[n]->first->op == IR_OP_phi) ir_split_edge(b, n);
}

static void cut_blocks(pass_grouping *g) {
    ir_builder b;
    ir_builder_init(&b, g->f);
    foreach_block (block, g->f) {
        split_edges(block);
        cut_block(g, &b, block);
    }
}

/* ---------------------------------------------------------------------------------------- heads */

typedef struct {
    pass_grouping *g;
    const ir_order *order;
    const bool *open; /* by block id: the branch may decide */
    bool *refused;    /* by block id: cannot be a head */
    ir_block_list heads;
    uint32_t *seen, stamp; /* by block id */
    uint64_t visits;       /* that are left */
} cutter;

static void add_head(cutter *c, ir_block *b) {
    if (c->g->is_head[b->id] || c->refused[b->id]) return;
    c->g->is_head[b->id] = true;
    if (b != c->g->end) *ir_push(c->g->scratch, &c->heads) = b;
}

static bool may_cut(const cutter *c, const ir_block *b) {
    if (!c->open[b->id] || !pass_goes_alike(&c->g->uniform, b)) return false;
    for (uint32_t n = 0; n < b->nsucc; n++)
        if (c->refused[b->succ[n]->id]) return false;
    return true;
}

static void find_heads(cutter *c) {
    pass_grouping *g = c->g;
    ir_block_list met = {0};
    memset(g->is_head, 0, g->nblocks);
    c->heads.n = 0;
    add_head(c, g->start);
    add_head(c, g->end);
    for (uint32_t k = 0; k < g->meetings.n; k++)
        if (c->order->index[g->meetings.data[k]->id] != UINT32_MAX)
            add_head(c, g->meetings.data[k]);
    for (uint32_t k = 0; k < c->order->n; k++) {
        ir_block *b = c->order->rpo[k];
        for (uint32_t n = 0; may_cut(c, b) && n < b->nsucc; n++) add_head(c, b->succ[n]);
    }
    ir_iterated_frontier(g->f, &c->heads, NULL, g->scratch, &met);
    for (uint32_t k = 0; k < met.n; k++) add_head(c, met.data[k]);
}

/* -------------------------------------------------------------------------------------- regions */

/* Does its branch leave the region, with all items? */
static bool may_decide(const cutter *c, const ir_block *b) {
    for (uint32_t n = 0; n < b->nsucc; n++)
        if (!c->g->is_head[b->succ[n]->id]) return false;
    return pass_goes_alike(&c->g->uniform, b);
}

static void add_target(cutter *c, pass_region *r, ir_block *from, ir_block *to) {
    if (!r->targets.n && may_decide(c, from)) r->decider = from;
    if (r->decider != from) r->decider = NULL;
    bool again = r->exits.n && r->exits.data[r->exits.n - 1] == from;
    if (!again) *ir_push(c->g->scratch, &r->exits) = from;
    if (c->seen[to->id] == c->stamp) return;
    c->seen[to->id] = c->stamp;
    *ir_push(c->g->scratch, &r->targets) = to;
}

static void add_block(cutter *c, pass_region *r, uint32_t number, ir_block *b) {
    uint32_t *of = &c->g->region_of[b->id];
    *of = *of == PASS_NO_REGION ? number : PASS_SHARED;
    c->seen[b->id] = c->stamp;
    *ir_push(c->g->scratch, &r->blocks) = b;
}

static void collect(cutter *c, pass_region *r, uint32_t number, ir_block *head) {
    c->stamp++;
    *r = (pass_region){.head = head};
    add_block(c, r, number, head);
    c->seen[head->id] = 0; /* as a target it has not been */
    for (uint32_t k = 0; k < r->blocks.n && c->visits; k++, c->visits--) {
        ir_block *b = r->blocks.data[k];
        for (uint32_t n = 0; n < b->nsucc; n++) {
            ir_block *to = b->succ[n];
            if (c->g->is_head[to->id])
                add_target(c, r, b, to);
            else if (c->seen[to->id] != c->stamp)
                add_block(c, r, number, to);
        }
    }
}

static void find_members(cutter *c) {
    pass_grouping *g = c->g;
    g->nregions = c->heads.n;
    g->regions = ir_new_array(g->scratch, pass_region, g->nregions);
    for (uint32_t b = 0; b < g->nblocks; b++) g->region_of[b] = PASS_NO_REGION;
    for (uint32_t k = 0; k < g->nregions; k++) collect(c, &g->regions[k], k, c->heads.data[k]);
}

/* Do all items of the region go on at the same head?  If not, heads are refused. */
static bool check_targets(cutter *c, const pass_region *r) {
    bool fine = true;
    if (r->targets.n < 2 || r->decider) return true;
    for (uint32_t k = 0; k < r->targets.n; k++) {
        uint32_t target = r->targets.data[k]->id;
        fine &= c->g->hard[target];
        c->refused[target] |= !c->g->hard[target];
    }
    return fine;
}

static void refuse_soft(cutter *c) {
    for (uint32_t b = 0; b < c->g->nblocks; b++) c->refused[b] = !c->g->hard[b];
}

static void search(cutter *c) {
    const pass_grouping *g = c->g;
    for (unsigned round = 0;; round++) {
        bool fine = true;
        find_heads(c);
        find_members(c);
        for (uint32_t k = 0; k < g->nregions; k++) fine &= check_targets(c, &g->regions[k]);
        if (fine || !c->visits) return;
        if (round == MAX_ROUNDS) refuse_soft(c);
    }
}

static void make_tables(pass_grouping *g) {
    g->nblocks = g->f->next_block;
    g->is_head = ir_new_array(g->scratch, bool, g->nblocks);
    g->hard = ir_new_array(g->scratch, bool, g->nblocks);
    g->region_of = ir_new_array(g->scratch, uint32_t, g->nblocks);
    g->hard[g->start->id] = g->hard[g->end->id] = true;
    for (uint32_t k = 0; k < g->meetings.n; k++) g->hard[g->meetings.data[k]->id] = true;
}

bool pass_find_regions(pass_grouping *g) {
    cut_blocks(g);
    make_tables(g);
    pass_find_uniform(g->f, g->scratch, &g->uniform);
    cutter c = {.g = g,
                .order = &ir_dominators(g->f)->order,
                .open = pass_find_open(g),
                .refused = ir_new_array(g->scratch, bool, g->nblocks),
                .seen = ir_new_array(g->scratch, uint32_t, g->nblocks),
                .visits = (uint64_t)(MAX_ROUNDS + 2) * GROWTH * (g->nblocks + SMALL)};
    search(&c);
    uint64_t blocks = 0;
    for (uint32_t k = 0; k < g->nregions; k++) blocks += g->regions[k].blocks.n;
    if (c.visits && blocks <= (uint64_t)GROWTH * (g->nblocks + SMALL)) return true;
    g->out->refusal = "its barriers are reached in too many ways";
    return false;
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

static void copy_shared(pass_grouping *g, pass_region *r, ir_block_list *shared) {
    ir_clone_map map = {.value = ir_new_array(g->scratch, ir_inst *, g->f->next_id),
                        .block = ir_new_array(g->scratch, ir_block *, g->f->next_block),
                        .edge = ir_new_array(g->scratch, uint32_t, g->f->next_block)};
    ir_clone_region(g->f, shared->data, shared->n, &map);
    for (uint32_t k = 0; k < r->blocks.n; k++) {
        ir_block *b = r->blocks.data[k], *copy = map.block[b->id];
        for (uint32_t n = 0; !copy && n < b->nsucc; n++)
            if (map.block[b->succ[n]->id]) move_edge(b, n, &map, g->scratch);
        if (r->decider == b && copy) r->decider = copy;
        if (copy) r->blocks.data[k] = copy;
    }
}

void pass_unshare_regions(pass_grouping *g) {
    for (uint32_t k = 0; k < g->nregions; k++) {
        pass_region *r = &g->regions[k];
        ir_block_list shared = {0};
        for (uint32_t n = 0; n < r->blocks.n; n++) {
            uint32_t *of = &g->region_of[r->blocks.data[n]->id];
            if (*of == PASS_SHARED) *ir_push(g->scratch, &shared) = r->blocks.data[n];
        }
        if (shared.n) copy_shared(g, r, &shared);
    }
}
