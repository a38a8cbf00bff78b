/* versions.c — memory SSA: the versions of memory, and the last one that may write some bytes.
 *
 * Memory phis are placed on the iterated dominance frontier of the blocks that write.  A walk in
 * reverse postorder numbers the versions.
 *
 * A search goes back over writes that alias.c proves to be disjoint, one at a time.  Code that was
 * unrolled, or fills an array, writes to one line (alias.c) many times in a row.  So every eighth
 * write of such a run records the bounds of the last eight, and if the bytes are outside of these
 * bounds, all eight are skipped at once.  They count as eight steps, so the result is the same.
 */
#include "passes/analysis/versions.h"

/* ------------------------------------------------------------------------------------ numbering */

/* Constants and sizes up to this can be compared without wrapping. */
enum { SMALL = 1 << 28 };

static bool is_small(pass_on_line on, uint64_t size) {
    return size <= SMALL && on.at + SMALL <= 2 * (uint64_t)SMALL;
}

/* The object that an address leads to, if it is one of those of which two are apart: a variable, or
 * what no other address leads to. */
static const ir_inst *known_object_of(const pass_versions *m, const ir_inst *address) {
    const ir_inst *object = pass_object_of(&m->alias, address);
    bool variable = object->op == IR_OP_alloca || object->op == IR_OP_address;
    return variable || pass_is_closed(&m->alias, object) ? object : NULL;
}

/* Counts the writes to one line, and sums up the last of them. */
static void extend_run(pass_version *v) {
    if (!v->is_range || !is_small(v->on, v->size)) return;
    bool goes_on = v->before->run && v->before->on.line == v->on.line;
    v->run = goes_on ? v->before->run + 1 : 1;
    if (v->run % PASS_RUN) return;
    v->low = INT64_MAX;
    v->high = INT64_MIN;
    v->skip = v;
    for (unsigned k = 0; k < PASS_RUN; k++, v->skip = v->skip->before) {
        int64_t from = (int64_t)v->skip->on.at, to = from + (int64_t)v->skip->size;
        if (from < v->low) v->low = from;
        if (to > v->high) v->high = to;
    }
}

static pass_version *new_version(pass_versions *m, ir_block *b, ir_inst *by, pass_version *before) {
    pass_version *v = ir_new(m->scratch, pass_version);
    *v = (pass_version){.by = by, .before = before, .block = b, .number = m->n++};
    const ir_inst *to = by ? pass_written(&m->alias, by, &v->size) : NULL;
    if (!to) return v;
    v->is_range = true;
    v->on = pass_find_line(&m->alias, &m->lines, to);
    v->object = known_object_of(m, to);
    extend_run(v);
    return v;
}

static bool has_write(const ir_block *b) {
    for (const ir_inst *i = b->first; i; i = i->next)
        if (pass_writes(i)) return true;
    return false;
}

static void place_memory_phis(pass_versions *m) {
    const ir_order *order = &m->dom->order;
    ir_block_list writers = {0}, joins = {0};
    for (uint32_t k = 0; k < order->n; k++)
        if (has_write(order->rpo[k])) *ir_push(m->scratch, &writers) = order->rpo[k];
    ir_iterated_frontier(m->f, &writers, NULL, m->scratch, &joins);
    for (uint32_t k = 0; k < joins.n; k++)
        m->head[joins.data[k]->id] = new_version(m, joins.data[k], NULL, NULL);
}

static void number_block(pass_versions *m, ir_block *b) {
    ir_block *up = m->dom->idom[b->id];
    pass_version *now = m->head[b->id];
    if (!now) now = up ? m->end[up->id] : new_version(m, b, NULL, NULL);
    m->head[b->id] = now;
    foreach_inst (i, b)
        if (pass_writes(i)) now = m->made[i->id] = new_version(m, b, i, now);
    m->end[b->id] = now;
}

void pass_find_versions(pass_versions *m, ir_func *f, ir_arena *scratch) {
    *m = (pass_versions){.f = f, .dom = ir_dominators(f), .scratch = scratch};
    pass_alias_begin(&m->alias, f, scratch);
    m->head = ir_new_array(scratch, pass_version *, f->next_block);
    m->end = ir_new_array(scratch, pass_version *, f->next_block);
    m->made = ir_new_array(scratch, pass_version *, f->next_id);
    place_memory_phis(m);
    for (uint32_t k = 0; k < m->dom->order.n; k++) number_block(m, m->dom->order.rpo[k]);
}

/* ------------------------------------------------------------------------------------- searches */

pass_bytes pass_begin_search(pass_versions *m, ir_inst *address, uint64_t size, unsigned steps) {
    return (pass_bytes){.address = address,
                        .size = size,
                        .steps = steps,
                        .on = pass_find_line(&m->alias, &m->lines, address),
                        .is_constant = pass_is_constant(&m->alias, address),
                        .object = known_object_of(m, address)};
}

/* The relation of the bytes to a line; neighbours in a search are mostly on the same one. */
static const pass_relation *relate(pass_versions *m, pass_bytes *q, uint32_t line) {
    if (q->line != line + 1) {
        q->relation = pass_relate_lines(&m->alias, &m->lines, line, q->on.line);
        q->line = line + 1;
    }
    return &q->relation;
}

static bool may_write(pass_versions *m, const pass_version *v, pass_bytes *q) {
    if (!v->by || q->is_constant) return false;
    if (!v->is_range) return pass_may_write(&m->alias, v->by, q->address, q->size);
    if (v->object && q->object && v->object != q->object) return false;
    const pass_relation *r = relate(m, q, v->on.line);
    return pass_may_overlap_at(r, q->on.at - v->on.at, v->size, q->size);
}

/* Are the bytes elsewhere on the line of the last PASS_RUN versions? */
static bool is_beside(pass_versions *m, pass_bytes *q, const pass_version *v) {
    if (!v->skip || q->steps < PASS_RUN || !is_small(q->on, q->size)) return false;
    const pass_relation *r = relate(m, q, v->on.line);
    int64_t at = (int64_t)q->on.at;
    return r->how == PASS_AT_DISTANCE && r->exact &&
           (at >= v->high || at + (int64_t)q->size <= v->low);
}

pass_version *pass_last_writer(pass_versions *m, pass_bytes *q, pass_version *v) {
    while (v->before && q->steps) {
        bool beside = is_beside(m, q, v);
        if (!beside && may_write(m, v, q)) break;
        q->steps -= beside ? PASS_RUN : 1;
        v = beside ? v->skip : v->before;
    }
    return v;
}

bool pass_is_store_near(const pass_versions *m, const ir_inst *by, const ir_inst *address,
                        int64_t *step) {
    bool stores = by && (by->op == IR_OP_store || by->op == IR_OP_masked_store);
    return stores && pass_writes_all(by) && !(by->imm.mem.flags & IR_MEM_VOLATILE) &&
           pass_find_step(&m->alias, ir_arg(by, 1), address, step);
}
