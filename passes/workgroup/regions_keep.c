/* regions_keep.c — what work-items keep from one region to the next.
 *
 * A value that is live where another region begins is
 *   the same for all items   kept once, in a variable of the function, which becomes a value again;
 *                            it is read before the loops over items, so that the next item does
 *                            not see what one writes there at its end
 *   cheap                    computed again from ids, arguments and values of the first sort
 *   anything else            kept in scratch memory: one array for each value, an element for each
 *                            item, in the order of items
 * Phis at the heads of regions are kept in the same way, and written by the regions in front.
 *
 * A variable stays a variable of the function when one region has all of its uses and is not
 * entered again; otherwise it has a place in scratch memory for each item.
 *
 * Reads are at the head of a region, one for each value.  Where that would not be right, because
 * the region makes the value anew or shares the reading block with others, each use reads.
 */
#include "passes/analysis/alias.h"
#include "passes/workgroup/regions_impl.h"

enum { MAX_AGAIN = 4, MAX_EXITS = 4 };

typedef enum {
    KEEP_NOT, /* one region has all uses, or the value is available everywhere */
    KEEP_ONCE,
    KEEP_AGAIN,
    KEEP_EACH,
    KEEP_PLACE /* a variable; what is kept is its address */
} keep_how;

typedef struct {
    pass_grouping *g;
    const ir_live *live;
    uint8_t *how;   /* by value id, keep_how */
    ir_inst **slot; /* by value id: the address of where it is kept, of item 0 */
    bool *mixed;    /* by value id: regions that get it make it as well, or share blocks */
    uint32_t nvalues;
    ir_vec(ir_inst *) values; /* that cross heads */
    bool *each;               /* by value id: KEEP_EACH, and not mixed */
    pass_kept kept;           /* which of them share places */
    ir_map read;              /* by region and value: the value in that region */
    ir_inst **first_store;    /* by block id: where phis of the next region are written */
} keeper;

static bool is_known(const keeper *k, const ir_inst *v) { return v->id < k->nvalues; }

/* -------------------------------------------------------------------------------- where it goes */

static uint32_t region_of(const keeper *k, const ir_block *b) { return k->g->region_of[b->id]; }

static bool is_everywhere(const keeper *k, const ir_inst *v) {
    const pass_grouping *g = k->g;
    if (!v->block || v->block == g->entry.block || v->block == g->group.block) return true;
    return v == g->id[0] || v == g->id[1] || v == g->id[2] || v == g->item;
}

static bool is_head_phi(const keeper *k, const ir_inst *v) {
    return v->op == IR_OP_phi && k->g->is_head[v->block->id];
}

static bool comes_in(const keeper *k, const ir_inst *v, const ir_block *head) {
    if (is_head_phi(k, v) && v->block == head) return true;
    return ir_is_live(k->live, &k->live->in[head->id], v);
}

static void add_value(keeper *k, ir_inst *v, const pass_region *r) {
    if (is_everywhere(k, v)) return;
    if (!k->how[v->id]) {
        k->how[v->id] = KEEP_ONCE;
        *ir_push(k->g->scratch, &k->values) = v;
    }
    uint32_t made = region_of(k, v->block), here = region_of(k, r->head);
    bool phi = is_head_phi(k, v);
    if (!phi && (made == here || made == PASS_SHARED)) k->mixed[v->id] = true;
    if (!pass_is_uniform(&k->g->uniform, v, r->head)) k->how[v->id] = KEEP_EACH;
}

static void find_values(keeper *k) {
    for (uint32_t n = 0; n < k->g->nregions; n++) {
        const pass_region *r = &k->g->regions[n];
        foreach_live (w, k->live, &k->live->in[r->head->id]) add_value(k, w.v, r);
        foreach_phi (phi, r->head) add_value(k, phi, r);
    }
}

static void find_mixed(keeper *k) {
    for (uint32_t n = 0; n < k->values.n; n++) {
        ir_inst *v = k->values.data[n];
        foreach_use (u, v) k->mixed[v->id] |= region_of(k, ir_use_block(u)) == PASS_SHARED;
        if (k->mixed[v->id] && k->how[v->id] == KEEP_ONCE) k->how[v->id] = KEEP_EACH;
    }
}

/* ------------------------------------------------------------------------------------ variables */

/* Does one region have all of it, and only once for each item? */
static bool stays(keeper *k, const ir_inst *alloca) {
    pass_use_list uses = {0};
    uint32_t only = PASS_NO_REGION;
    if (!pass_follow_address(alloca, k->g->scratch, &uses)) return false;
    for (uint32_t n = 0; n < uses.n; n++) {
        uint32_t region = region_of(k, ir_use_block(uses.data[n]));
        if (region == PASS_NO_REGION) continue;
        if (region == PASS_SHARED || (only != PASS_NO_REGION && only != region)) return false;
        only = region;
    }
    return only == PASS_NO_REGION || !k->g->uniform.loops->of[k->g->regions[only].head->id];
}

static void find_variables(keeper *k) {
    if (k->g->nregions == 1) return;
    foreach_inst (i, k->g->f->first) {
        if (i->op != IR_OP_alloca || !is_known(k, i) || stays(k, i)) continue;
        k->how[i->id] = KEEP_PLACE;
        *ir_push(k->g->scratch, &k->values) = i;
    }
}

/* ------------------------------------------------------------------------------------ repeating */

/* Can it be computed at any head, from what is available there? */
static bool is_again(const keeper *k, const ir_inst *v, unsigned *left) {
    uint8_t how = is_known(k, v) ? k->how[v->id] : KEEP_NOT;
    if (how == KEEP_ONCE || how == KEEP_PLACE || is_everywhere(k, v)) return true;
    if (v->op == IR_OP_phi || !ir_is_cheap(v) || !*left) return false;
    --*left;
    for (unsigned n = 0; n < v->nargs; n++)
        if (!is_again(k, ir_arg(v, n), left)) return false;
    return true;
}

static void find_again(keeper *k) {
    for (uint32_t n = 0; n < k->values.n; n++) {
        const ir_inst *v = k->values.data[n];
        unsigned left = MAX_AGAIN;
        if (k->how[v->id] != KEEP_EACH || k->mixed[v->id] || is_head_phi(k, v)) continue;
        if (is_again(k, v, &left)) k->how[v->id] = KEEP_AGAIN;
    }
}

/* -------------------------------------------------------------------------------------- storage */

static uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

static ir_inst *scratch(pass_grouping *g) {
    return pass_info_field(g, offsetof(ir_group_info, scratch), ir_ptr(IR_PRIVATE));
}

ir_inst *pass_group_storage(pass_grouping *g, uint64_t bytes) {
    uint64_t before = g->out->need.scratch;
    g->out->need.scratch += round_up(bytes, IR_LOCAL_ALIGN);
    return ir_build_ptradd(&g->entry, scratch(g), ir_const(g->f, IR_I64, before), true);
}

/* `bytes` for each item, after what the group has: the address of item 0's.  Items count in
 * multiples of 64, and so does what precedes it. */
static ir_inst *item_storage(pass_grouping *g, uint64_t bytes, uint64_t align) {
    uint64_t *need = &g->out->need.scratch_item;
    *need = round_up(*need, align > 64 ? align / 64 : 1);
    ir_inst *before = ir_const(g->f, IR_I64, *need);
    ir_inst *offset = ir_build2(&g->entry, IR_OP_mul, IR_I64, g->rounded, before);
    offset = ir_build2(&g->entry, IR_OP_add, IR_I64, offset,
                       ir_const(g->f, IR_I64, g->out->need.scratch));
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
    ir_inst *size = ir_const(k->g->f, IR_I64, stride_of(k, v));
    ir_inst *offset = ir_build(b, IR_OP_mul, IR_I64, IR_NSW | IR_NUW, (ir_imm){0}, 2,
                               (ir_inst *[]){k->g->item, size});
    return ir_build_ptradd(b, k->slot[v->id], offset, true);
}

static void share_places(keeper *k) {
    for (uint32_t n = 0; n < k->values.n; n++) {
        uint32_t id = k->values.data[n]->id;
        k->each[id] = k->how[id] == KEEP_EACH && !k->mixed[id];
    }
    k->kept = (pass_kept){.live = k->live,
                          .values = k->values.data,
                          .nvalues = k->values.n,
                          .n = k->nvalues,
                          .each = k->each,
                          .same = ir_new_array(k->g->scratch, uint32_t, k->nvalues),
                          .place = ir_new_array(k->g->scratch, pass_kept_place, k->nvalues)};
    pass_share_places(k->g, &k->kept);
}

static void make_slot(keeper *k, const ir_inst *v) {
    uint8_t how = k->how[v->id];
    ir_inst **shared = &k->slot[k->kept.same[v->id]];
    if (how == KEEP_ONCE) k->slot[v->id] = ir_build_alloca(&k->g->entry, v->type, align_of(k, v));
    if (how != KEEP_EACH && how != KEEP_PLACE) return;
    uint64_t align = how == KEEP_PLACE ? v->imm.var->align : align_of(k, v);
    if (!*shared) *shared = item_storage(k->g, stride_of(k, v), align);
    k->slot[v->id] = *shared;
}

static void begin_at(const keeper *k, ir_builder *b, ir_inst *before) {
    ir_builder_init(b, k->g->f);
    ir_before(b, before);
}

/* ---------------------------------------------------------------------------------------- reads */

static ir_inst *read_at(keeper *k, ir_builder *b, ir_inst *v, uint32_t region);

static ir_inst *copy_at(keeper *k, ir_builder *b, const ir_inst *v, uint32_t region) {
    ir_inst *args[IR_MAX_LANES];
    for (unsigned n = 0; n < v->nargs; n++) args[n] = read_at(k, b, ir_arg(v, n), region);
    return ir_build(b, v->op, v->type, v->flags, v->imm, v->nargs, args);
}

static ir_inst *read_once(keeper *k, const ir_inst *v, uint32_t region) {
    ir_builder b;
    ir_builder_init(&b, k->g->f);
    ir_at_end(&b, k->g->regions[region].before);
    return ir_build_load(&b, v->type, k->slot[v->id], align_of(k, v), 0);
}

/* v as it is when a region begins; NO_REGION: in any region. */
static ir_inst *build_read(keeper *k, ir_builder *b, ir_inst *v, uint32_t region) {
    switch (is_known(k, v) ? k->how[v->id] : KEEP_NOT) {
    case KEEP_ONCE: return read_once(k, v, region);
    case KEEP_EACH: return ir_build_load(b, v->type, element(k, b, v), align_of(k, v), 0);
    case KEEP_PLACE: return element(k, b, v);
    default: return copy_at(k, b, v, region);
    }
}

static ir_inst *read_at(keeper *k, ir_builder *b, ir_inst *v, uint32_t region) {
    uint8_t how = is_known(k, v) ? k->how[v->id] : KEEP_NOT;
    uint64_t key = (uint64_t)region << 32 | v->id;
    if (is_everywhere(k, v) && how != KEEP_PLACE) return v;
    ir_inst *known = ir_map_get(&k->read, key);
    if (known) return known;
    known = build_read(k, b, v, region);
    ir_map_set(k->g->scratch, &k->read, key, known);
    return known;
}

static ir_inst *read_at_head(keeper *k, ir_inst *v, uint32_t region) {
    ir_builder b;
    begin_at(k, &b, k->g->regions[region].first);
    return read_at(k, &b, v, region);
}

/* At the use itself, which is in several regions, or in one that makes the value anew. */
static ir_inst *read_at_use(keeper *k, ir_inst *v, const ir_use *u) {
    ir_builder b;
    ir_block *place = ir_use_block(u);
    ir_inst *at = u->user->op == IR_OP_phi ? place->last : u->user;
    if (place->id < k->g->nblocks && at->op == IR_OP_store && k->first_store[place->id])
        at = k->first_store[place->id];
    begin_at(k, &b, at);
    return build_read(k, &b, v, PASS_NO_REGION);
}

static void replace_use(keeper *k, ir_inst *v, ir_use *u) {
    ir_block *place = ir_use_block(u);
    uint32_t region = region_of(k, place);
    unsigned arg = (unsigned)(u - u->user->arg);
    bool made_here = place == v->block && !is_head_phi(k, v) && v->op != IR_OP_alloca;
    if (region == PASS_NO_REGION || made_here || is_head_phi(k, u->user)) return;
    bool in = region == PASS_SHARED || v->op == IR_OP_alloca ||
              comes_in(k, v, k->g->regions[region].head);
    if (!in) return;
    bool anew = v->op != IR_OP_alloca && !is_head_phi(k, v) && region_of(k, v->block) == region;
    ir_inst *read =
        region == PASS_SHARED || anew ? read_at_use(k, v, u) : read_at_head(k, v, region);
    ir_set_arg(u->user, arg, read);
}

/* --------------------------------------------------------------------------------------- writes */

static ir_inst *write(keeper *k, ir_builder *b, const ir_inst *slot_of, ir_inst *v) {
    ir_inst *slot = k->slot[slot_of->id];
    if (k->how[slot_of->id] == KEEP_EACH) slot = element(k, b, slot_of);
    return ir_build_store(b, v, slot, align_of(k, slot_of), 0);
}

/* Values that are made in an inner loop are written where control leaves the region, if that is at
 * few places. */
static bool write_at_exits(keeper *k, ir_inst *v) {
    const ir_loops *loops = k->g->uniform.loops;
    if (k->mixed[v->id]) return false;
    const pass_region *r = &k->g->regions[region_of(k, v->block)];
    if (loops->of[v->block->id] == loops->of[r->head->id] || r->exits.n > MAX_EXITS) return false;
    for (uint32_t n = 0; n < r->exits.n; n++)
        if (region_of(k, r->exits.data[n]) == PASS_SHARED) return false;
    ir_builder b;
    for (uint32_t n = 0; n < r->exits.n; n++) {
        ir_block *from = r->exits.data[n];
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

/* Does the phi's place have argument p already? */
static bool is_there(const keeper *k, const ir_inst *phi, uint32_t p) {
    uint32_t region = region_of(k, phi->block->pred[p]);
    if (region >= k->g->nregions || k->how[phi->id] != KEEP_EACH) return false;
    return pass_has_place(k->g, &k->kept, ir_arg(phi, p), phi, region);
}

/* The blocks in front of a head write what its phis will be. */
static void write_phis(keeper *k, const ir_block *head) {
    ir_builder b;
    for (uint32_t p = 0; p < head->npred; p++) {
        ir_block *from = head->pred[p];
        foreach_phi (phi, head) {
            if (!k->how[phi->id] || is_there(k, phi, p)) continue;
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
    k->nvalues = k->g->f->next_id;
    k->how = ir_new_array(k->g->scratch, uint8_t, k->nvalues);
    k->slot = ir_new_array(k->g->scratch, ir_inst *, k->nvalues);
    k->each = ir_new_array(k->g->scratch, bool, k->nvalues);
    k->mixed = ir_new_array(k->g->scratch, bool, k->nvalues);
    k->first_store = ir_new_array(k->g->scratch, ir_inst *, k->g->nblocks);
}

void pass_keep_values(pass_grouping *g) {
    keeper k = {.g = g, .live = ir_liveness(g->f)};
    make_tables(&k);
    for (uint32_t n = 0; n < g->nregions; n++) g->regions[n].before = ir_block_new(g->f, NULL);
    find_variables(&k);
    find_values(&k);
    find_mixed(&k);
    find_again(&k);
    share_places(&k);
    for (uint32_t n = 0; n < k.values.n; n++) make_slot(&k, k.values.data[n]);
    for (uint32_t n = 0; n < k.values.n; n++) {
        ir_inst *v = k.values.data[n];
        bool kept = k.how[v->id] == KEEP_ONCE || k.how[v->id] == KEEP_EACH;
        if (kept && !is_head_phi(&k, v)) write_value(&k, v);
    }
    for (uint32_t n = 0; n < g->nregions; n++) write_phis(&k, g->regions[n].head);
    for (uint32_t n = 0; n < g->nregions; n++)
        g->regions[n].first = ir_first_non_phi(g->regions[n].head);
    for (uint32_t n = 0; n < k.values.n; n++) replace_uses(&k, k.values.data[n]);
    for (uint32_t n = 0; n < g->nregions; n++) remove_phis(g->regions[n].head);
}
