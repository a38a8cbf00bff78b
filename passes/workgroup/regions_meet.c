/* regions_meet.c — operations at which the items of a sub-group meet, for the sub-group.
 *
 * They are computed in the preheader of the region that begins where items meet, with vectors that
 * have an element for each lane.  The mask says which items are there: those of the last sub-group
 * that exist, and, where items part, those that have come to this place.  Others count as the
 * neutral element of the operation.
 *
 *   reductions   by halves of the vector
 *   clusters     by a butterfly: lanes whose numbers differ in one bit
 *   scans        log2(lanes) steps, which add what is 1, 2, 4 … lanes before (Kogge and Stone 1973)
 *   ballots      the mask as bits
 *   shuffles     the operation `permute` (or `shuffle`, if the lanes are known)
 *
 * An operation of the whole group becomes one of its sub-groups: of their totals, or of what the
 * sub-group that has the asked item gives.
 */
#include "passes/workgroup/regions_impl.h"

typedef struct {
    pass_group_builder *g;
    const pass_item_ids *ids;
    const pass_exchange *x;
    ir_builder b;  /* at the end of the preheader */
    ir_inst *mask; /* of the lanes that are there; NULL: all */
} meeting;

/* ------------------------------------------------------------------------------------ vectors */

static unsigned lanes_of(const meeting *m) { return m->g->lanes; }

static ir_type vector_of(const meeting *m, ir_type elem) { return ir_vector(elem, lanes_of(m)); }

static uint64_t bytes_of(const meeting *m) {
    return ir_sizeof(m->g->f->module, ir_elem(m->x->type));
}

static ir_inst *place_of(meeting *m, ir_inst *place, unsigned part) {
    uint64_t offset = bytes_of(m) * lanes_of(m) * part;
    return ir_build_ptradd(&m->b, place, pass_number(m->g, offset), true);
}

static unsigned align_of(const meeting *m) {
    uint64_t bytes = bytes_of(m) * lanes_of(m);
    return bytes < IR_LOCAL_ALIGN ? (unsigned)bytes : IR_LOCAL_ALIGN;
}

/* What the items have given: one component. */
static ir_inst *given(meeting *m, unsigned part) {
    ir_type t = vector_of(m, ir_elem(m->x->type));
    return ir_build_load(&m->b, t, place_of(m, m->x->in, part), align_of(m), 0);
}

static ir_inst *given_by(meeting *m, unsigned part, ir_inst *lane) {
    ir_inst *offset = pass_build_plain(&m->b, IR_OP_mul, pass_fit(&m->b, lane, IR_I64),
                                       pass_number(m->g, bytes_of(m)));
    ir_inst *at = ir_build_ptradd(&m->b, place_of(m, m->x->in, part), offset, true);
    return ir_build_load(&m->b, ir_elem(m->x->type), at, (unsigned)bytes_of(m), 0);
}

/* Lane k of the result is lane from[k] of x, or of y if that is above those of x. */
static ir_inst *permute(meeting *m, ir_inst *x, ir_inst *y, const uint8_t *from, unsigned n) {
    return ir_build_shuffle(&m->b, x, y, n, from);
}

/* 0, 1, 2 … */
static ir_inst *numbers(const meeting *m, ir_type t) {
    uint64_t lane[IR_MAX_LANES];
    for (unsigned k = 0; k < lanes_of(m); k++) lane[k] = k;
    return ir_const_lanes(m->g->f, vector_of(m, t), lane);
}

static ir_inst *splat(meeting *m, ir_inst *v) { return ir_build_splat(&m->b, v, lanes_of(m)); }

/* A mask as bits, lane 0 in the lowest one. */
static ir_inst *bits_of(meeting *m, ir_inst *mask) {
    unsigned n = lanes_of(m) < 8 ? 8 : lanes_of(m); /* masks of so many lanes are integers */
    uint8_t lane[IR_MAX_LANES];
    for (unsigned k = 0; k < n; k++) lane[k] = (uint8_t)(k < lanes_of(m) ? k : lanes_of(m));
    if (n > lanes_of(m)) mask = permute(m, mask, ir_const(m->g->f, mask->type, 0), lane, n);
    ir_type t = n == 8 ? IR_I8 : n == 16 ? IR_I16 : n == 32 ? IR_I32 : IR_I64;
    return pass_fit(&m->b, ir_build1(&m->b, IR_OP_bitcast, t, mask), n == 64 ? t : IR_I32);
}

/* The lowest lane that is there. */
static ir_inst *first_lane(meeting *m) {
    if (!m->mask) return ir_const(m->g->f, IR_I32, 0);
    ir_inst *bits = bits_of(m, m->mask);
    return pass_fit(&m->b, ir_build1(&m->b, IR_OP_ctz, bits->type, bits), IR_I32);
}

/* ----------------------------------------------------------------------- reductions and scans */

static ir_inst *neutral(const meeting *m) {
    return pass_neutral(m->g->f, m->x->op, vector_of(m, ir_elem(m->x->type)));
}

static ir_inst *combine(meeting *m, ir_inst *x, ir_inst *y) {
    return pass_combine(&m->b, m->x->op, x, y);
}

/* With the neutral element where no item is. */
static ir_inst *given_or_neutral(meeting *m, unsigned part) {
    ir_inst *v = given(m, part);
    return m->mask ? ir_build_select(&m->b, m->mask, v, neutral(m)) : v;
}

static ir_inst *reduce(meeting *m, ir_inst *v) {
    uint8_t low[IR_MAX_LANES], high[IR_MAX_LANES];
    for (unsigned n = lanes_of(m) / 2; n > 1; n /= 2) {
        for (unsigned k = 0; k < n; k++) low[k] = (uint8_t)k, high[k] = (uint8_t)(n + k);
        ir_inst *upper = permute(m, v, v, high, n);
        v = combine(m, permute(m, v, v, low, n), upper);
    }
    ir_inst *second = ir_build_extract(&m->b, v, 1);
    return combine(m, ir_build_extract(&m->b, v, 0), second);
}

/* `by` lanes of the first ones of `before`, and then the first lanes of v. */
static ir_inst *shift(meeting *m, ir_inst *v, ir_inst *before, unsigned by) {
    uint8_t from[IR_MAX_LANES];
    for (unsigned k = 0; k < lanes_of(m); k++)
        from[k] = (uint8_t)(k < by ? lanes_of(m) + k : k - by);
    return permute(m, v, before, from, lanes_of(m));
}

static ir_inst *inclusive(meeting *m, ir_inst *v) {
    for (unsigned by = 1; by < lanes_of(m); by *= 2) v = combine(m, shift(m, v, neutral(m), by), v);
    return v;
}

/* From the inclusive scan. */
static ir_inst *exclusive(meeting *m, ir_inst *sums) {
    ir_inst *first = pass_first_of_scan(m->g->f, m->x->op, sums->type);
    ir_inst *v = shift(m, sums, first, 1);
    if (!m->mask || first == neutral(m)) return v;
    ir_inst *begins =
        ir_build2(&m->b, IR_OP_ule, m->mask->type, numbers(m, IR_I32), splat(m, first_lane(m)));
    return ir_build_select(&m->b, begins, first, v);
}

static ir_inst *reduce_clusters(meeting *m, ir_inst *v) {
    unsigned log = m->x->imm.group.log_size;
    uint8_t from[IR_MAX_LANES];
    for (unsigned by = 1; by < lanes_of(m) && by < 1u << log; by *= 2) {
        for (unsigned k = 0; k < lanes_of(m); k++) from[k] = (uint8_t)(k ^ by);
        v = combine(m, v, permute(m, v, v, from, lanes_of(m)));
    }
    return v;
}

/* ---------------------------------------------------------------------------- of whole groups */

static bool is_of_group(const meeting *m) { return m->x->imm.group.scope == IR_SCOPE_WORKGROUP; }

/* The operation of sub-groups. */
static ir_inst *in_group(meeting *m, unsigned mode, ir_inst *v, ir_inst *index) {
    ir_imm imm = m->x->imm;
    ir_inst *args[] = {v, index};
    imm.group.op = (uint8_t)mode;
    return ir_build_raw(&m->b, m->x->op, v->type, ir_with_imm(imm), (ir_args){index ? 2 : 1, args});
}

static ir_inst *reduce_all(meeting *m, ir_inst *v) {
    ir_inst *total = reduce(m, v);
    return is_of_group(m) ? in_group(m, IR_GROUP_REDUCE, total, NULL) : total;
}

/* The scan of a sub-group of v, of which `sums` is the inclusive one, after what those before it
 * have. */
static ir_inst *scan_after(meeting *m, ir_inst *sums, ir_inst *scan) {
    ir_inst *total = ir_build_extract(&m->b, sums, lanes_of(m) - 1);
    ir_inst *before = splat(m, in_group(m, IR_GROUP_EXCLUSIVE, total, NULL));
    bool whole = m->x->imm.group.op == IR_GROUP_INCLUSIVE;
    ir_inst *after = combine(m, before, whole ? sums : shift(m, sums, neutral(m), 1));
    ir_inst *first = ir_build2(&m->b, IR_OP_eq, IR_I1, m->ids->subgroup, pass_number(m->g, 0));
    return ir_build_select(&m->b, splat(m, first), scan, after);
}

static ir_inst *scan_all(meeting *m, ir_inst *v) {
    ir_inst *sums = inclusive(m, v);
    bool whole = m->x->imm.group.op == IR_GROUP_INCLUSIVE;
    ir_inst *scan = whole ? sums : exclusive(m, sums);
    return is_of_group(m) ? scan_after(m, sums, scan) : scan;
}

/* What an item of the group has given. */
static ir_inst *given_in_group(meeting *m, unsigned part) {
    unsigned log = (unsigned)__builtin_ctz(lanes_of(m));
    ir_inst *item = ir_build_load(&m->b, IR_I64, m->x->index, sizeof(uint64_t), 0);
    ir_inst *from = ir_build2(&m->b, IR_OP_lshr, IR_I64, item, pass_number(m->g, log));
    ir_inst *lane = ir_build2(&m->b, IR_OP_and, IR_I64, item, pass_number(m->g, lanes_of(m) - 1));
    return in_group(m, 0, given_by(m, part, lane), from);
}

/* -------------------------------------------------------------------------- votes and ballots */

static ir_inst *given_truth(meeting *m) {
    ir_inst *v = given(m, 0);
    return ir_build2(&m->b, IR_OP_ne, vector_of(m, IR_I1), v, ir_const(m->g->f, v->type, 0));
}

static ir_inst *holds_for_all(meeting *m, ir_inst *truth) {
    ir_type t = truth->type;
    if (m->mask) {
        ir_inst *others = ir_build2(&m->b, IR_OP_xor, t, m->mask, ir_const(m->g->f, t, 1));
        truth = ir_build2(&m->b, IR_OP_or, t, truth, others);
    }
    return ir_build1(&m->b, IR_OP_all, IR_I1, truth);
}

static ir_inst *truth_of_active(meeting *m) {
    ir_inst *truth = given_truth(m);
    return m->mask ? ir_build2(&m->b, IR_OP_and, truth->type, truth, m->mask) : truth;
}

static ir_inst *are_equal(meeting *m) {
    ir_type truth = vector_of(m, IR_I1);
    ir_inst *all = ir_const(m->g->f, truth, 1), *first = first_lane(m);
    ir_op equal = ir_is_float(m->x->type) ? IR_OP_foeq : IR_OP_eq;
    for (unsigned k = 0; k < ir_lanes(m->x->type); k++) {
        ir_inst *one = splat(m, given_by(m, k, first));
        ir_inst *same = ir_build2(&m->b, equal, truth, given(m, k), one);
        all = ir_build2(&m->b, IR_OP_and, truth, all, same);
    }
    return holds_for_all(m, all);
}

static ir_inst *vote(meeting *m, ir_inst *result) {
    return is_of_group(m) ? in_group(m, IR_GROUP_REDUCE, result, NULL) : result;
}

/* ------------------------------------------------------------------------------------ results */

static ir_inst *same_part(meeting *m, unsigned part) {
    switch (m->x->op) {
    case IR_OP_group_broadcast_first: return given_by(m, part, first_lane(m));
    case IR_OP_group_broadcast: return given_in_group(m, part);
    default: return reduce_all(m, given_or_neutral(m, part));
    }
}

/* From what it is in memory. */
static ir_inst *convert(meeting *m, ir_inst *v, ir_type t) {
    if (v->type == t) return v;
    return ir_build1(&m->b, ir_is_ptr(t) ? IR_OP_inttoptr : IR_OP_trunc, t, v);
}

static ir_inst *same_for_all(meeting *m) {
    ir_inst *part[IR_MAX_LANES];
    switch (m->x->op) {
    case IR_OP_group_elect: return first_lane(m);
    case IR_OP_group_any: return vote(m, ir_build1(&m->b, IR_OP_any, IR_I1, truth_of_active(m)));
    case IR_OP_group_all: return vote(m, holds_for_all(m, given_truth(m)));
    case IR_OP_group_all_equal: return are_equal(m);
    case IR_OP_group_ballot: return pass_to_ballot(&m->b, bits_of(m, truth_of_active(m)));
    default: break;
    }
    for (unsigned k = 0; k < ir_lanes(m->x->type); k++) part[k] = same_part(m, k);
    ir_inst *all = ir_is_vector(m->x->type) ? ir_build_vec(&m->b, m->x->type, part) : part[0];
    return convert(m, all, m->x->result->type);
}

/* The lanes that the items take values from. */
static ir_inst *sources(meeting *m) {
    ir_type t = pass_number_type(m->g, m->x->type);
    if (m->x->from) return ir_build_load(&m->b, vector_of(m, t), m->x->from, align_of(m), 0);
    ir_inst *by = ir_const(m->g->f, vector_of(m, t), ir_zext(m->x->by->imm.bits, ir_bits(NULL, t)));
    return pass_find_lane(&m->b, m->x, numbers(m, t), by);
}

static ir_inst *own_part(meeting *m, unsigned part) {
    if (m->x->by) {
        ir_inst *v = given(m, part);
        return ir_build2(&m->b, IR_OP_permute, v->type, v, sources(m));
    }
    ir_inst *v = given_or_neutral(m, part);
    return m->x->imm.group.op == IR_GROUP_CLUSTERED ? reduce_clusters(m, v) : scan_all(m, v);
}

static void meet(meeting *m) {
    if (m->x->result) {
        ir_inst *v = same_for_all(m);
        ir_replace_uses(m->x->result, v);
        ir_remove(m->x->result);
        return;
    }
    for (unsigned k = 0; k < ir_lanes(m->x->type); k++) {
        ir_inst *v = own_part(m, k);
        ir_build_store(&m->b, v, place_of(m, m->x->out, k), align_of(m), 0);
    }
}

/* ---------------------------------------------------------------------------------- the whole */

static const pass_region *region_of(const pass_region_graph *graph, const ir_block *head) {
    uint32_t n = graph->region_of[head->id];
    return n < graph->n ? &graph->region[n] : NULL;
}

/* Barriers of the group: a sub-group waits before its items begin the region. */
static void move_barriers(const pass_region_graph *graph) {
    for (uint32_t k = 0; k < graph->syncs.n; k++) {
        const pass_region *r = region_of(graph, graph->syncs.data[k]);
        foreach_inst (i, graph->syncs.data[k])
            if (r && i->op == IR_OP_barrier && pass_synchronizes(i))
                ir_move_to_end(i, r->preheader);
    }
}

void pass_meet(pass_group_builder *g, const pass_item_ids *ids, const pass_region_graph *graph,
               const pass_exchanges *exchanges) {
    for (uint32_t k = 0; k < exchanges->n; k++) {
        pass_exchange *x = &exchanges->data[k];
        const pass_region *r = region_of(graph, x->marker->block);
        if (!r) continue;
        meeting m = {.g = g, .ids = ids, .x = x};
        ir_builder_init(&m.b, g->f);
        ir_at_end(&m.b, r->preheader);
        m.mask = pass_find_active(g, ids, graph, r->head, &m.b);
        ir_count(g->f->module->cx, regions_meetings, 1);
        meet(&m);
        ir_remove(x->marker);
    }
    move_barriers(graph);
}
