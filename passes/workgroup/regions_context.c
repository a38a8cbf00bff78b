/* regions_context.c — the context of work-items: values that they need in more than one region.
 *
 * A value that is live at the head of a region is
 *   uniform         kept in a variable of the function, which becomes a value again; it is read in
 *                   the preheader of the loops over items, so that the next item does not see what
 *                   one writes at the end of the region
 *   cheap           computed again, from ids, arguments, and values of the other two sorts, if that
 *                   costs less than to keep it (regions_again.c)
 *   anything else   kept in scratch memory, in an array with an element for each item
 * Phis at the heads of regions are kept in the same way, and written by the regions that lead
 * there.
 *
 * A variable of the kernel stays one if a single region has all of its uses and is not entered
 * again.  Otherwise it has an element for each item in scratch memory.
 *
 * Values are read at the head of a region, once each.  If the region defines the value again, or if
 * it shares the reading block with other regions, each use reads instead.
 */
#include "passes/analysis/alias.h"
#include "passes/workgroup/regions_impl.h"

/* Operations that uses repeat, for each item and in all, rather than to read an index. */
enum { MAX_ADDRESS = 16, MAX_ALL = 48, MAX_EXITING = 4 };

typedef struct {
    pass_group_builder *g;
    const pass_item_ids *ids;
    const pass_region_graph *graph;
    const ir_live *live;
    pass_crossing of;
    uint32_t crossing; /* of its values; what others are computed from follows */
    bool *has_slot;    /* by value id: PASS_PER_ITEM, and neither mixed nor needed */
    ir_inst **slot;    /* by value id: the address of the variable, or of item 0's element */
    pass_context context;
    ir_map read;           /* by region and value: the value in that region */
    ir_inst **first_store; /* by block id: where phis of the next region are written */
} keeper;

static pass_keeping keeping_of(const keeper *k, const ir_inst *v) {
    return v->id < k->of.n ? (pass_keeping)k->of.how[v->id] : PASS_NOT_KEPT;
}

/* -------------------------------------------------------------------------------------- keeping */

static uint32_t region_of(const keeper *k, const ir_block *b) { return k->graph->region_of[b->id]; }

static bool is_everywhere(const keeper *k, const ir_inst *v) {
    return pass_is_outside(k->g, v) || pass_is_item_id(k->ids, v);
}

static bool is_head_phi(const keeper *k, const ir_inst *v) {
    return v->op == IR_OP_phi && k->graph->is_head[v->block->id];
}

static bool comes_in(const keeper *k, const ir_inst *v, const ir_block *head) {
    if (is_head_phi(k, v) && v->block == head) return true;
    return ir_is_live(k->live, &k->live->in[head->id], v);
}

/* Is the head after a loop around v that items leave in different iterations? */
static bool leaves_loop(const keeper *k, const ir_inst *v, const ir_block *head) {
    const pass_uniformity *u = &k->graph->uniform;
    for (const ir_loop *l = u->loops->of[v->block->id]; l; l = l->parent)
        if (u->divergent_exits[l->header->id] && !ir_in_loop(u->loops, head, l)) return true;
    return false;
}

static void add_value(keeper *k, ir_inst *v, const pass_region *r) {
    if (is_everywhere(k, v)) return;
    if (!k->of.how[v->id]) {
        k->of.how[v->id] = PASS_UNIFORM;
        *ir_push(k->g->scratch, &k->of.values) = v;
    }
    uint32_t defined = region_of(k, v->block), here = region_of(k, r->head);
    bool phi = is_head_phi(k, v);
    if (!phi && (defined == here || defined == PASS_SHARED)) k->of.mixed[v->id] = true;
    k->of.leaves[v->id] |= leaves_loop(k, v, r->head);
    if (!pass_is_uniform(&k->graph->uniform, v, r->head)) k->of.how[v->id] = PASS_PER_ITEM;
}

/* Items that have parted have a phi each, even if all of them find the same value there. */
static void find_staggered(keeper *k) {
    if (!k->graph->parts) return;
    const bool *staggered = pass_find_staggered(k->g, k->graph);
    for (uint32_t n = 0; n < k->of.values.n; n++) {
        const ir_inst *v = k->of.values.data[n];
        if (is_head_phi(k, v) && staggered[v->block->id]) k->of.how[v->id] = PASS_PER_ITEM;
    }
}

static void find_values(keeper *k) {
    for (uint32_t n = 0; n < k->graph->n; n++) {
        const pass_region *r = &k->graph->region[n];
        foreach_live (w, k->live, &k->live->in[r->head->id]) add_value(k, w.v, r);
        foreach_phi (phi, r->head) add_value(k, phi, r);
    }
}

static void find_mixed(keeper *k) {
    for (uint32_t n = 0; n < k->of.values.n; n++) {
        ir_inst *v = k->of.values.data[n];
        foreach_use (u, v) k->of.mixed[v->id] |= region_of(k, ir_use_block(u)) == PASS_SHARED;
        if (k->of.mixed[v->id] && k->of.how[v->id] == PASS_UNIFORM)
            k->of.how[v->id] = PASS_PER_ITEM;
    }
}

/* ------------------------------------------------------------------------------------ variables */

/* Does one region have all of it, and only once for each item? */
static bool stays(keeper *k, const ir_inst *alloca) {
    pass_use_list uses = {0};
    uint32_t only = PASS_NO_REGION;
    if (alloca->imm.var->shown) return true;
    if (!pass_follow_address(alloca, k->g->scratch, &uses)) return false;
    for (uint32_t n = 0; n < uses.n; n++) {
        uint32_t region = region_of(k, ir_use_block(uses.data[n]));
        if (region == PASS_NO_REGION) continue;
        if (region == PASS_SHARED || (only != PASS_NO_REGION && only != region)) return false;
        only = region;
    }
    return only == PASS_NO_REGION || !k->graph->uniform.loops->of[k->graph->region[only].head->id];
}

static void find_variables(keeper *k) {
    if (k->graph->n == 1) return;
    foreach_inst (i, k->g->f->first) {
        if (i->op != IR_OP_alloca || i->id >= k->of.n || stays(k, i)) continue;
        k->of.how[i->id] = PASS_VARIABLE;
        *ir_push(k->g->scratch, &k->of.values) = i;
    }
}

/* ------------------------------------------------------------------------------------ repeating */

/* How many operations may be repeated yet. */
typedef struct {
    unsigned varying; /* for each item */
    unsigned all;     /* with those that are the same for all items, and leave the loops */
} budget;

/* Can it be computed at any use, from what is available everywhere? */
static bool is_repeatable(const keeper *k, const ir_inst *v, budget *left) {
    if (keeping_of(k, v) == PASS_VARIABLE || is_everywhere(k, v)) return true;
    if (v->op == IR_OP_phi || !ir_is_cheap(v) || !left->all || !left->varying) return false;
    left->all--;
    left->varying -= k->graph->uniform.varies[v->id];
    for (unsigned n = 0; n < v->nargs; n++)
        if (!is_repeatable(k, ir_arg(v, n), left)) return false;
    return true;
}

/* Recursion is bounded by MAX_ALL. */
static void note_operands(keeper *k, const ir_inst *v) {
    bool copied = keeping_of(k, v) != PASS_VARIABLE && !is_everywhere(k, v);
    if (!copied || ir_map_get(&k->of.operands, (uintptr_t)v)) return;
    ir_inst **args = ir_new_array(k->g->scratch, ir_inst *, v->nargs + 1u);
    for (unsigned n = 0; n < v->nargs; n++) args[n] = ir_arg(v, n);
    ir_map_set(k->g->scratch, &k->of.operands, (uintptr_t)v, args);
    for (unsigned n = 0; n < v->nargs; n++) note_operands(k, args[n]);
}

/* Addresses and indices that uses read for themselves. */
static void find_repeated_at_uses(keeper *k) {
    for (uint32_t n = 0; n < k->of.values.n; n++) {
        const ir_inst *v = k->of.values.data[n];
        budget left = {MAX_ADDRESS, MAX_ALL};
        bool is_index = ir_is_ptr(v->type) || v->type == IR_I32 || v->type == IR_I64;
        if (k->of.how[v->id] != PASS_PER_ITEM || !k->of.mixed[v->id]) continue;
        if (!is_index || is_head_phi(k, v) || !is_repeatable(k, v, &left)) continue;
        k->of.how[v->id] = PASS_REPEATED;
        note_operands(k, v);
    }
}

/* -------------------------------------------------------------------------------------- storage */

static uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

static ir_inst *scratch(pass_group_builder *g) {
    return pass_info_field(g, offsetof(ir_group_info, scratch), ir_ptr(IR_PRIVATE));
}

ir_inst *pass_group_storage(pass_group_builder *g, uint64_t bytes) {
    uint64_t before = g->need->scratch;
    g->need->scratch += round_up(bytes, IR_LOCAL_ALIGN);
    return ir_build_ptradd(&g->entry, scratch(g), ir_const(g->f, IR_I64, before), true);
}

/* Do sub-groups that run one after the other need it one after the other? */
bool pass_is_reused(const pass_group_builder *g) { return g->lanes && !g->has_barriers; }

unsigned pass_lane_flags(const pass_group_builder *g) {
    return pass_is_reused(g) ? IR_MEM_WHOLE : 0;
}

/* `bytes` for each item, after what the group has: the address of item 0's.  Items count in
 * multiples of 64, and so does what precedes it.  Sub-groups have what their items have. */
ir_inst *pass_item_storage(pass_group_builder *g, const pass_item_ids *ids, uint64_t bytes,
                           uint64_t align) {
    uint64_t *need = &g->need->scratch_item, items = g->shape->subgroup;
    if (pass_is_reused(g)) return pass_group_storage(g, bytes * IR_MAX_LANES);
    if (items > 1 && !g->lanes) bytes = (bytes + items - 1) / items;
    *need = round_up(*need, align > 64 ? align / 64 : 1);
    ir_inst *before = ir_const(g->f, IR_I64, *need);
    ir_inst *offset = ir_build2(&g->entry, IR_OP_mul, IR_I64, ids->rounded, before);
    offset =
        ir_build2(&g->entry, IR_OP_add, IR_I64, offset, ir_const(g->f, IR_I64, g->need->scratch));
    *need += bytes;
    return ir_build_ptradd(&g->entry, scratch(g), offset, true);
}

/* Bytes from the element of an item to the next one's. */
static uint64_t stride_of(const keeper *k, const ir_inst *v) {
    const ir_module *m = k->g->f->module;
    if (v->op != IR_OP_alloca) return ir_sizeof(m, v->type);
    return round_up(ir_sizeof(m, v->imm.var->type), v->imm.var->align ? v->imm.var->align : 1);
}

static unsigned align_of(const keeper *k, const ir_inst *v) {
    uint64_t align = ir_alignof(k->g->f->module, v->type);
    return align > IR_LOCAL_ALIGN ? IR_LOCAL_ALIGN : (unsigned)align;
}

static ir_inst *element(keeper *k, ir_builder *b, const ir_inst *v) {
    ir_inst *size = ir_const(k->g->f, IR_I64, stride_of(k, v)), *item = k->ids->item;
    if (k->g->lanes && !pass_is_reused(k->g))
        item = pass_build_plain(b, IR_OP_add, k->ids->first, item);
    ir_inst *offset = pass_build_plain(b, IR_OP_mul, item, size);
    return ir_build_ptradd(b, k->slot[v->id], offset, true);
}

static void coalesce_slots(keeper *k) {
    for (uint32_t n = 0; n < k->of.values.n; n++) {
        uint32_t id = k->of.values.data[n]->id;
        k->has_slot[id] = k->of.how[id] == PASS_PER_ITEM && !k->of.mixed[id] && !k->of.needed[id];
    }
    k->context = (pass_context){.live = k->live,
                                .values = k->of.values.data,
                                .nvalues = k->of.values.n,
                                .n = k->of.n,
                                .has_slot = k->has_slot,
                                .same = ir_new_array(k->g->scratch, uint32_t, k->of.n),
                                .slot = ir_new_array(k->g->scratch, pass_slot, k->of.n)};
    pass_coalesce_slots(k->g, k->graph, &k->context);
}

static void make_slot(keeper *k, const ir_inst *v) {
    uint8_t how = k->of.how[v->id];
    ir_inst **shared = &k->slot[k->context.same[v->id]];
    if (how == PASS_UNIFORM)
        k->slot[v->id] = ir_build_alloca(&k->g->entry, v->type, align_of(k, v));
    if (how != PASS_PER_ITEM && how != PASS_VARIABLE) return;
    uint64_t align = how == PASS_VARIABLE ? v->imm.var->align : align_of(k, v);
    if (!*shared) *shared = pass_item_storage(k->g, k->ids, stride_of(k, v), align);
    k->slot[v->id] = *shared;
}

static void begin_at(const keeper *k, ir_builder *b, ir_inst *before) {
    ir_builder_init(b, k->g->f);
    ir_before(b, before);
}

/* ---------------------------------------------------------------------------------------- reads */

static ir_inst *read_at(keeper *k, ir_builder *b, ir_inst *v, uint32_t region);

/* Recursion is bounded by the operations that pass_choose_repeated allows a value.  What all items
 * compute alike is computed once, where uniform values are read. */
static ir_inst *copy_at(keeper *k, ir_builder *b, const ir_inst *v, uint32_t region) {
    ir_inst *args[IR_MAX_LANES], **operand = ir_map_get(&k->of.operands, (uintptr_t)v);
    ir_block *before = k->graph->region[region].preheader;
    ir_builder once;
    bool alike = !k->graph->uniform.varies[v->id];
    for (unsigned n = 0; n < v->nargs; n++) {
        args[n] = read_at(k, b, operand ? operand[n] : ir_arg(v, n), region);
        alike &= pass_is_outside(k->g, args[n]) || args[n]->block == before;
    }
    ir_builder_init(&once, k->g->f);
    ir_at_end(&once, before);
    return ir_build_like(alike ? &once : b, v, v->type, args);
}

static ir_inst *read_once(keeper *k, const ir_inst *v, uint32_t region) {
    ir_builder b;
    ir_builder_init(&b, k->g->f);
    ir_at_end(&b, k->graph->region[region].preheader);
    return ir_build_load(&b, v->type, k->slot[v->id], align_of(k, v), 0);
}

/* The same from what is available everywhere. */
static ir_inst *copy_anywhere(keeper *k, ir_builder *b, ir_inst *v) {
    ir_inst *args[IR_MAX_LANES], **operand = ir_map_get(&k->of.operands, (uintptr_t)v);
    if (keeping_of(k, v) == PASS_VARIABLE) return element(k, b, v);
    if (is_everywhere(k, v)) return v;
    for (unsigned n = 0; n < v->nargs; n++)
        args[n] = copy_anywhere(k, b, operand ? operand[n] : ir_arg(v, n));
    return ir_build_like(b, v, v->type, args);
}

/* v as it is when a region begins; NO_REGION: in any region. */
static ir_inst *build_read(keeper *k, ir_builder *b, ir_inst *v, uint32_t region) {
    switch (keeping_of(k, v)) {
    case PASS_UNIFORM: return read_once(k, v, region);
    case PASS_PER_ITEM:
        return ir_build_load(b, v->type, element(k, b, v), align_of(k, v), pass_lane_flags(k->g));
    case PASS_VARIABLE: return element(k, b, v);
    default: return region == PASS_NO_REGION ? copy_anywhere(k, b, v) : copy_at(k, b, v, region);
    }
}

static ir_inst *read_at(keeper *k, ir_builder *b, ir_inst *v, uint32_t region) {
    uint64_t key = (uint64_t)region << 32 | v->id;
    if (is_everywhere(k, v) && keeping_of(k, v) != PASS_VARIABLE) return v;
    ir_inst *known = ir_map_get(&k->read, key);
    if (known) return known;
    known = build_read(k, b, v, region);
    ir_map_set(k->g->scratch, &k->read, key, known);
    return known;
}

static ir_inst *read_at_head(keeper *k, ir_inst *v, uint32_t region) {
    ir_builder b;
    begin_at(k, &b, k->graph->region[region].first);
    return read_at(k, &b, v, region);
}

/* At the use itself, which is in several regions, or in one that defines the value again. */
static ir_inst *read_at_use(keeper *k, ir_inst *v, const ir_use *u) {
    ir_builder b;
    const ir_block *block = ir_use_block(u);
    ir_inst *at = u->user->op == IR_OP_phi ? block->last : u->user;
    if (block->id < k->graph->nblocks && at->op == IR_OP_store && k->first_store[block->id])
        at = k->first_store[block->id];
    begin_at(k, &b, at);
    return build_read(k, &b, v, PASS_NO_REGION);
}

static void replace_use(keeper *k, ir_inst *v, ir_use *u) {
    const ir_block *block = ir_use_block(u);
    uint32_t region = region_of(k, block);
    unsigned arg = (unsigned)(u - u->user->arg);
    bool variable = v->op == IR_OP_alloca, computed = !variable && !is_head_phi(k, v);
    if (region == PASS_NO_REGION || is_head_phi(k, u->user)) return;
    if (computed && block == v->block) return;
    bool in = region == PASS_SHARED || variable || comes_in(k, v, k->graph->region[region].head);
    if (!in) return;
    bool again = computed && region_of(k, v->block) == region;
    ir_inst *read =
        region == PASS_SHARED || again ? read_at_use(k, v, u) : read_at_head(k, v, region);
    ir_set_arg(u->user, arg, read);
}

/* --------------------------------------------------------------------------------------- writes */

static ir_inst *write(keeper *k, ir_builder *b, const ir_inst *slot_of, ir_inst *v) {
    ir_inst *slot = k->slot[slot_of->id];
    bool per_item = k->of.how[slot_of->id] == PASS_PER_ITEM;
    if (per_item) slot = element(k, b, slot_of);
    unsigned flags = per_item ? pass_lane_flags(k->g) : 0;
    return ir_build_store(b, v, slot, align_of(k, slot_of), flags);
}

/* Values that an inner loop computes are written where control leaves the region, if few blocks do
 * so. */
static bool write_at_exits(keeper *k, ir_inst *v) {
    const ir_loops *loops = k->graph->uniform.loops;
    if (k->of.mixed[v->id] || k->of.needed[v->id]) return false;
    const pass_region *r = &k->graph->region[region_of(k, v->block)];
    if (loops->of[v->block->id] == loops->of[r->head->id] || r->exiting.n > MAX_EXITING)
        return false;
    for (uint32_t n = 0; n < r->exiting.n; n++)
        if (region_of(k, r->exiting.data[n]) == PASS_SHARED) return false;
    ir_builder b;
    for (uint32_t n = 0; n < r->exiting.n; n++) {
        ir_block *from = r->exiting.data[n];
        if (!ir_is_live(k->live, &k->live->out[from->id], v)) continue;
        begin_at(k, &b, from->last);
        write(k, &b, v, v);
    }
    return true;
}

static void write_value(keeper *k, ir_inst *v) {
    ir_builder b;
    if (write_at_exits(k, v)) return;
    begin_at(k, &b, v->op == IR_OP_phi ? ir_first_non_phi(v->block) : v->next);
    write(k, &b, v, v);
}

/* Is argument p of the phi in its slot already? */
static bool is_in_slot(const keeper *k, const ir_inst *phi, uint32_t p) {
    uint32_t region = region_of(k, phi->block->pred[p]);
    if (region >= k->graph->n || k->of.how[phi->id] != PASS_PER_ITEM) return false;
    return pass_is_in_slot(k->graph, &k->context, ir_arg(phi, p), phi, region);
}

/* The blocks in front of a head write what its phis will be. */
static void write_phis(keeper *k, const ir_block *head) {
    ir_builder b;
    for (uint32_t p = 0; p < head->npred; p++) {
        ir_block *from = head->pred[p];
        foreach_phi (phi, head) {
            if (!k->of.how[phi->id] || is_in_slot(k, phi, p)) continue;
            begin_at(k, &b, from->last);
            ir_inst *store = write(k, &b, phi, ir_arg(phi, p));
            if (!k->first_store[from->id]) k->first_store[from->id] = store;
        }
    }
}

static void remove_phis(const ir_block *head) {
    foreach_phi (phi, head) ir_replace_uses(phi, ir_undef(head->func, phi->type));
    foreach_phi (phi, head) ir_remove(phi);
}

static void replace_uses(keeper *k, ir_inst *v) {
    ir_vec(ir_use *) uses = {0};
    foreach_use (u, v) *ir_push(k->g->scratch, &uses) = u;
    for (uint32_t n = 0; n < uses.n; n++)
        if (uses.data[n]->val == v) replace_use(k, v, uses.data[n]);
}

static void make_tables(keeper *k) {
    ir_arena *scratch = k->g->scratch;
    uint32_t n = k->g->f->next_id;
    k->of = (pass_crossing){.n = n,
                            .how = ir_new_array(scratch, uint8_t, n),
                            .mixed = ir_new_array(scratch, bool, n),
                            .needed = ir_new_array(scratch, bool, n),
                            .leaves = ir_new_array(scratch, bool, n)};
    k->has_slot = ir_new_array(scratch, bool, n);
    k->slot = ir_new_array(scratch, ir_inst *, n);
    k->first_store = ir_new_array(scratch, ir_inst *, k->graph->nblocks);
}

static void decide(keeper *k) {
    find_variables(k);
    find_values(k);
    find_staggered(k);
    find_mixed(k);
    find_repeated_at_uses(k);
    k->crossing = k->of.values.n;
    pass_choose_repeated(k->g, k->ids, k->graph, &k->of);
    coalesce_slots(k);
}

static void count(const keeper *k) {
    ir_ctx *cx = k->g->f->module->cx;
    ir_count(cx, regions_made, k->graph->n);
    for (uint32_t n = 0; n < k->of.values.n; n++) {
        pass_keeping how = keeping_of(k, k->of.values.data[n]);
        ir_count(cx, regions_kept, how == PASS_PER_ITEM);
        ir_count(cx, regions_uniform, how == PASS_UNIFORM);
        ir_count(cx, regions_repeated, how == PASS_REPEATED);
    }
}

void pass_build_context(pass_group_builder *g, const pass_item_ids *ids, pass_region_graph *graph) {
    keeper k = {.g = g, .ids = ids, .graph = graph, .live = ir_liveness(g->f)};
    make_tables(&k);
    decide(&k);
    for (uint32_t n = 0; n < graph->n; n++) graph->region[n].preheader = ir_block_new(g->f, NULL);
    count(&k);
    for (uint32_t n = 0; n < k.of.values.n; n++) make_slot(&k, k.of.values.data[n]);
    for (uint32_t n = 0; n < k.of.values.n; n++) {
        ir_inst *v = k.of.values.data[n];
        bool kept = keeping_of(&k, v) == PASS_UNIFORM || keeping_of(&k, v) == PASS_PER_ITEM;
        if (kept && !is_head_phi(&k, v)) write_value(&k, v);
    }
    for (uint32_t n = 0; n < graph->n; n++) write_phis(&k, graph->region[n].head);
    for (uint32_t n = 0; n < graph->n; n++)
        graph->region[n].first = ir_first_non_phi(graph->region[n].head);
    for (uint32_t n = 0; n < k.crossing; n++) replace_uses(&k, k.of.values.data[n]);
    for (uint32_t n = 0; n < graph->n; n++) remove_phis(graph->region[n].head);
}
