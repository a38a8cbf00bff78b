/* regions_order.c — items of a sub-group that part, and where they come together again.
 *
 * Items take branches of their own to different places where they meet others.  Then no region is
 * run by all items.  Each item stores the number of the region where it goes on, and the sub-group
 * runs the region with the lowest number that an item waits for, for these items
 * (Diamos et al. 2011).  After a region, this is one of its targets or a region with a greater
 * number, so it is found by a few tests, one region after the other, and loops remain loops.  The
 * order is that of the program, except that
 *   the header of a loop comes after all other blocks of the loop: items that go around once more
 *   wait for those that are still in the loop, so that all begin the next iteration together;
 *   barriers of the group come last: all items get there, in every program that is defined.
 * So items that have parted are together again where their paths join, as on device `check`.
 *
 * Blocks are numbered in reverse postorder, loop by loop, without recursion.
 */
#include "passes/workgroup/regions_impl.h"

/* ------------------------------------------------------------------------------------ numbers */

typedef struct {
    ir_block_list *members; /* by id of the header + 1; 0: outside of loops.  Headers are loops */
    const ir_loops *loops;
    uint32_t *number; /* by block id */
    uint32_t n;
} numberer;

/* A list of members of a loop, and how many have numbers. */
typedef struct {
    const ir_loop *loop;
    uint32_t done;
} level;

static uint32_t slot_of(const ir_loop *l) { return l ? l->header->id + 1 : 0; }

static void list_members(numberer *c, const ir_order *order, ir_arena *scratch) {
    for (uint32_t k = 0; k < order->n; k++) {
        ir_block *b = order->rpo[k];
        const ir_loop *l = c->loops->of[b->id];
        if (l && l->header == b) l = l->parent;
        *ir_push(scratch, &c->members[slot_of(l)]) = b;
    }
}

/* The next member of the innermost level gets its number, or its loop becomes the innermost level.
 * At the end of a loop its header gets one. */
static void number_blocks(numberer *c, ir_arena *scratch) {
    ir_vec(level) stack = {0};
    *ir_push(scratch, &stack) = (level){0};
    while (stack.n) {
        level *l = &stack.data[stack.n - 1];
        const ir_block_list *members = &c->members[slot_of(l->loop)];
        if (l->done == members->n) {
            if (l->loop) c->number[l->loop->header->id] = c->n++;
            stack.n--;
            continue;
        }
        const ir_block *b = members->data[l->done++];
        const ir_loop *own = c->loops->of[b->id];
        if (own && own->header == b)
            *ir_push(scratch, &stack) = (level){.loop = own};
        else
            c->number[b->id] = c->n++;
    }
}

static bool waits_for_group(const ir_block *head) {
    foreach_inst (i, head)
        if (i->op == IR_OP_barrier && pass_synchronizes(i)) return true;
    return false;
}

void pass_number_regions(pass_group_builder *g, const pass_item_ids *ids,
                         pass_region_graph *graph) {
    numberer c = {.members = ir_new_array(g->scratch, ir_block_list, graph->nblocks + 1),
                  .loops = ir_loop_tree(g->f),
                  .number = ir_new_array(g->scratch, uint32_t, graph->nblocks)};
    list_members(&c, &ir_dominators(g->f)->order, g->scratch);
    number_blocks(&c, g->scratch);
    graph->number = ir_new_array(g->scratch, uint32_t, graph->n);
    for (uint32_t k = 0; k < graph->n; k++) {
        const ir_block *head = graph->region[k].head;
        graph->number[k] = c.number[head->id] + (waits_for_group(head) ? c.n : 0);
    }
    graph->next = pass_subgroup_storage(g, ids, sizeof(uint32_t));
    ir_count(g->f->module->cx, regions_parted, 1);
}

uint32_t pass_number_of(const pass_group_builder *g, const pass_region_graph *graph,
                        const ir_block *head) {
    return head == g->end ? INT32_MAX : graph->number[graph->region_of[head->id]];
}

/* -------------------------------------------------------------------------------------- masks */

static ir_type vector_of(const pass_group_builder *g, ir_type elem) {
    return ir_vector(elem, g->lanes);
}

static unsigned align_of(const pass_group_builder *g) {
    unsigned bytes = g->lanes * (unsigned)sizeof(uint32_t);
    return bytes < IR_LOCAL_ALIGN ? bytes : IR_LOCAL_ALIGN;
}

static ir_inst *load_next(const pass_group_builder *g, const pass_region_graph *graph,
                          ir_builder *b) {
    return ir_build_load(b, vector_of(g, IR_I32), graph->next, align_of(g), 0);
}

ir_inst *pass_next_of(pass_group_builder *g, const pass_region_graph *graph, ir_builder *b,
                      ir_inst *lane) {
    ir_inst *offset = pass_build_plain(b, IR_OP_mul, lane, pass_number(g, sizeof(uint32_t)));
    return ir_build_ptradd(b, graph->next, offset, true);
}

/* The lanes that have items; NULL: all. */
static ir_inst *find_lanes(const pass_group_builder *g, const pass_item_ids *ids, ir_builder *b) {
    uint64_t lane[IR_MAX_LANES];
    if (ir_is_const(ids->lanes) && ids->lanes->imm.bits == g->lanes) return NULL;
    for (unsigned k = 0; k < g->lanes; k++) lane[k] = k;
    ir_inst *numbers = ir_const_lanes(g->f, vector_of(g, IR_I32), lane);
    ir_inst *n = ir_build_splat(b, pass_fit(b, ids->lanes, IR_I32), g->lanes);
    return ir_build2(b, IR_OP_ult, vector_of(g, IR_I1), numbers, n);
}

ir_inst *pass_find_active(pass_group_builder *g, const pass_item_ids *ids,
                          const pass_region_graph *graph, const ir_block *head, ir_builder *b) {
    if (!graph->parts) return find_lanes(g, ids, b);
    ir_inst *number = ir_const(g->f, vector_of(g, IR_I32), pass_number_of(g, graph, head));
    return ir_build2(b, IR_OP_eq, vector_of(g, IR_I1), load_next(g, graph, b), number);
}

/* -------------------------------------------------------------------------------------- tests */

/* All items begin in the first region. */
static void begin_numbers(pass_group_builder *g, const pass_item_ids *ids,
                          const pass_region_graph *graph) {
    ir_builder *b = &g->group;
    ir_type t = vector_of(g, IR_I32);
    ir_inst *lanes = find_lanes(g, ids, b), *first = ir_const(g->f, t, graph->number[0]);
    if (lanes) first = ir_build_select(b, lanes, first, ir_const(g->f, t, INT32_MAX));
    ir_build_store(b, first, graph->next, align_of(g), 0);
}

/* The regions by ascending numbers. */
static uint32_t *sort_regions(const pass_group_builder *g, const pass_region_graph *graph) {
    uint32_t most = 0, n = 0, *sorted = ir_new_array(g->scratch, uint32_t, graph->n);
    for (uint32_t k = 0; k < graph->n; k++)
        if (graph->number[k] > most) most = graph->number[k];
    uint32_t *by_number = ir_new_array(g->scratch, uint32_t, most + 1); /* a region + 1, or 0 */
    for (uint32_t k = 0; k < graph->n; k++) by_number[graph->number[k]] = k + 1;
    for (uint32_t k = 0; k <= most; k++)
        if (by_number[k]) sorted[n++] = by_number[k] - 1;
    return sorted;
}

void pass_build_tests(pass_group_builder *g, const pass_item_ids *ids, pass_region_graph *graph) {
    const uint32_t *sorted = sort_regions(g, graph);
    ir_builder b;
    begin_numbers(g, ids, graph);
    ir_builder_init(&b, g->f);
    graph->test = ir_new_array(g->scratch, ir_block *, graph->n);
    graph->following = ir_new_array(g->scratch, uint32_t, graph->n);
    for (uint32_t k = 0; k < graph->n; k++) graph->test[k] = ir_block_new(g->f, NULL);
    for (uint32_t k = 0; k < graph->n; k++) {
        uint32_t r = sorted[k], next = k + 1 < graph->n ? sorted[k + 1] : PASS_NO_REGION;
        graph->following[r] = next;
        ir_at_end(&b, graph->test[r]);
        ir_inst *waits = pass_find_active(g, ids, graph, graph->region[r].head, &b);
        ir_build_br(&b, ir_build1(&b, IR_OP_any, IR_I1, waits), graph->region[r].preheader,
                    next == PASS_NO_REGION ? g->end : graph->test[next]);
    }
}

/* Items wait in no region before r, unless they come from r: there the first one of its targets is
 * next, and otherwise the one after r. */
ir_block *pass_find_next(const pass_group_builder *g, const pass_region_graph *graph,
                         const pass_region *r) {
    uint32_t self = (uint32_t)(r - graph->region), next = graph->following[self];
    for (uint32_t k = 0; k < r->targets.n; k++) {
        if (r->targets.data[k] == g->end) continue;
        uint32_t to = graph->region_of[r->targets.data[k]->id];
        if (next == PASS_NO_REGION || graph->number[to] <= graph->number[next]) next = to;
    }
    if (next == PASS_NO_REGION) return g->end;
    bool certain = r->targets.n == 1 && r->targets.data[0] == graph->region[next].head;
    return certain ? graph->region[next].preheader : graph->test[next];
}
