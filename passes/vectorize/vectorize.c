/* vectorize.c — the pass: loops over work-items become loops whose iterations run W items at once,
 * and innermost loops of scalar code (iterations.c) loops that run W of their iterations.
 *
 *   entry -> setup -> vector loop -> rest -> after the loop
 *              |                      |
 *              +---> scalar loop <----+
 *
 * The scalar loop remains for the items that are left, and for ranges of less than W items; rest.c
 * replaces it by an iteration under a mask where that pays.
 *
 * Each loop is done by itself.  Its graph is linearized (flow.c), values get shapes (shape.c), and
 * the width is chosen (width.c).  The vector loop is then built next to the scalar one, node by
 * node, and both are priced (price.c): if vectors do not pay, the branch into the vector loop
 * becomes constant, and the loop is removed as unreachable.  A loop whose rounds are split
 * (rounds.c) is analysed again.
 *
 * Before: switches and truth values in memory have been lowered (switches.c, bools.c).  After:
 * every definition dominates its uses again (repair.c).
 */
#include "passes/vectorize/simd.h"

enum { MOST_LOOPS = 64 }; /* of a function */

/* ---------------------------------------------------------------------------------- recognition */

static bool is_bound(const simd *s, const ir_inst *end) {
    const ir_loops *loops = s->uniformity->loops;
    return !end->block || !ir_in_loop(loops, end->block, s->scalar.loop);
}

static bool is_order(const simd *s, const ir_inst *test) {
    return test->op == IR_OP_ult || (test->op == IR_OP_slt && s->scalar.is_innermost);
}

/* The counter of a loop goes up by one, from the one edge into the loop, and is compared with what
 * does not change in it. */
static bool find_counter(simd *s) {
    simd_loop *l = &s->scalar;
    ir_block *h = l->loop->header;
    pass_counter c;
    foreach_phi (phi, h) {
        if (!pass_find_counter(s->uniformity->loops, phi, &c) || c.step != 1) continue;
        const ir_inst *test = c.latch->last->op == IR_OP_br ? ir_arg(c.latch->last, 0) : NULL;
        if (!test || !is_order(s, test) || ir_arg(test, 0) != c.next) continue;
        if (!is_bound(s, ir_arg(test, 1)) || c.latch->succ[0] != h) continue;
        *l = (simd_loop){.loop = l->loop,
                         .is_innermost = l->is_innermost,
                         .counter = phi,
                         .end = ir_arg(test, 1),
                         .test = (ir_op)test->op,
                         .latch = c.latch,
                         .exit = c.latch->succ[1],
                         .entry = h->pred[0] == c.latch};
        return true;
    }
    return simd_refuse(s, NULL, "it has no counter that is compared with its end");
}

bool simd_find_loop(simd *s) {
    if (!find_counter(s)) return false;
    const ir_loops *loops = s->uniformity->loops;
    for (uint32_t k = 0; k < s->scalar.loop->nblocks; k++) {
        const ir_block *b = s->scalar.loop->block[k];
        for (uint32_t n = 0; n < b->nsucc; n++)
            if (b != s->scalar.latch && !ir_in_loop(loops, b->succ[n], s->scalar.loop))
                return simd_refuse(s, b->last, "it is left in its middle");
    }
    return true;
}

/* ------------------------------------------------------------------------------ the vector loop */

static ir_inst *number(const simd *s, uint64_t n) {
    return ir_const(s->f, s->scalar.counter->type, n);
}

/* A loop over items has one at least; another loop may begin at its end, and has one iteration. */
static ir_inst *count_iterations(simd *s, ir_inst *start, ir_inst *n) {
    ir_inst *several = ir_build2(&s->b, s->scalar.test, IR_I1, start, s->scalar.end);
    return ir_build_select(&s->b, several, n, number(s, 0));
}

/* The items of the vector loop, and a branch around it if there may be none. */
static void build_setup(simd *s, simd_frame *fr) {
    const simd_loop *l = &s->scalar;
    ir_block *h = l->loop->header, *from = h->pred[l->entry];
    ir_type t = l->counter->type;
    unsigned edge = from->succ[0] == h ? 0 : 1;
    ir_block *setup = ir_block_new(s->f, NULL);
    fr->skip = ir_split_edge(from, edge);
    s->preheader = ir_block_new(s->f, NULL);
    fr->rest = ir_block_new(s->f, NULL);
    setup->mark = fr->skip->mark = s->preheader->mark = fr->rest->mark = SIMD_NONE;
    ir_redirect_edge(from, edge, setup);
    fr->start = ir_arg(l->counter, l->entry);
    ir_at_end(&s->b, setup);
    ir_inst *n = ir_build2(&s->b, IR_OP_sub, t, l->end, fr->start);
    if (l->is_innermost) n = count_iterations(s, fr->start, n);
    ir_inst *full = ir_build2(&s->b, IR_OP_and, t, n, number(s, ~(uint64_t)(s->lanes - 1)));
    fr->end = ir_build2(&s->b, IR_OP_add, t, fr->start, full);
    ir_inst *any = ir_build2(&s->b, IR_OP_ne, IR_I1, full, number(s, 0));
    ir_build_br(&s->b, any, s->preheader, fr->skip);
}

void simd_make_nodes(simd *s) {
    for (uint32_t k = 0; k < s->n; k++) {
        simd_node *n = &s->node[k];
        n->head = n->tail = ir_block_new(s->f, NULL);
        n->head->mark = k;
    }
}

/* The next number of an item and the test against the end have no copy if nothing else uses
 * them. */
static bool only_counts(const simd *s, const ir_inst *i) {
    const ir_inst *test = ir_arg(s->scalar.latch->last, 0);
    if (i == test) return !i->uses->next;
    return i == ir_arg(test, 0) && ir_count_uses(i) == 2 && !test->uses->next;
}

void simd_fill_nodes(simd *s) {
    for (uint32_t k = 0; k < s->n; k++) {
        simd_enter_node(s, k);
        const simd_node *n = &s->node[k];
        if (n->kind == SIMD_BLOCK)
            foreach_inst (i, n->block) {
                assert_at(i, i->id < s->first_new); /* its shape is known */
                if (i->op != IR_OP_phi && !ir_is_terminator(i) && !only_counts(s, i))
                    simd_widen(s, i, n);
            }
        if (k + 1 < s->n) simd_leave_node(s, k);
    }
}

static void build_nodes(simd *s, simd_frame *fr) {
    simd_make_nodes(s);
    if (!s->scalar.is_innermost) s->node[0].head->loop_hint |= IR_LOOP_ITEMS;
    ir_at_end(&s->b, s->preheader);
    ir_build_jmp(&s->b, s->node[0].head);
    fr->counter = ir_append_arg(ir_build_phi(s->node[0].head, s->scalar.counter->type), fr->start);
    s->value[s->scalar.counter->id].base = fr->counter;
    simd_begin_carried(s);
    simd_fill_nodes(s);
}

/* The end of an iteration, and what comes after the loop. */
static void build_end(simd *s, simd_frame *fr) {
    const simd_loop *l = &s->scalar;
    ir_type t = l->counter->type;
    simd_close_carried(s);
    const uint32_t flags = !l->is_innermost       ? IR_NSW | IR_NUW
                           : l->test == IR_OP_slt ? IR_NSW
                                                  : IR_NUW;
    ir_inst *next = ir_build_raw(&s->b, IR_OP_add, t, ir_with_flags(flags),
                                 IR_ARGS(fr->counter, number(s, s->lanes)));
    ir_build_br(&s->b, ir_build2(&s->b, l->test, IR_I1, next, fr->end), s->node[0].head, fr->rest);
    ir_append_arg(fr->counter, next);
    ir_at_end(&s->b, fr->rest);
    if (simd_is_part(s) && !fr->has_rest) {
        ir_build_jmp(&s->b, l->exit);
        simd_exit_part(s, fr->end);
        return;
    }
    simd_find_results(s);
    uint32_t latch = ir_pred_index(l->exit, l->latch);
    ir_build_br(&s->b, ir_build2(&s->b, l->test, IR_I1, fr->end, l->end), l->loop->header, l->exit);
    foreach_phi (phi, l->exit) ir_append_arg(phi, ir_arg(phi, latch));
    simd_leave_loops(s, fr->rest, fr->end);
}

static void build(simd *s, simd_frame *fr) {
    foreach_block (b, s->f) b->mark = SIMD_NONE;
    ir_builder_init(&s->b, s->f);
    build_setup(s, fr);
    build_nodes(s, fr);
    build_end(s, fr);
}

/* The vector loop becomes code without a loop if it has one iteration. */
static void straighten(const simd *s, const simd_frame *fr) {
    ir_block *h = s->node[0].head;
    bool known = ir_is_const(fr->start) && ir_is_const(fr->end);
    if (!known || fr->end->imm.bits - fr->start->imm.bits != s->lanes) return;
    ir_make_jmp(fr->rest->pred[0], 1);
    h->loop_hint = 0;
    for (ir_inst *phi; (phi = h->first)->op == IR_OP_phi;) {
        ir_replace_uses(phi, ir_arg(phi, 0));
        ir_remove(phi);
    }
}

/* The vector loop is never entered, so it will be removed. */
static void discard(simd *s, simd_frame *fr) {
    simd_refuse(s, NULL, "it would not be faster");
    ir_set_arg(s->preheader->pred[0]->last, 0, ir_const(s->f, IR_I1, 0));
    fr->end = fr->start;
}

/* ------------------------------------------------------------------------------------- the pass */

/* Builds the vector loop, and keeps it if it pays. */
static void replace_loop(simd *s) {
    simd_frame fr = {.has_rest = simd_has_rest(s)};
    simd_find_groups(s);
    build(s, &fr);
    if (s->cx->lanes || simd_pays(s, &fr))
        ir_count(s->f->module->cx, vectorize_loops, 1);
    else
        discard(s, &fr);
    fr.has_rest &= !s->refusal;
    if (simd_is_part(s) && !fr.has_rest)
        simd_replace_part(s, s->preheader->pred[0], fr.start, fr.end);
    simd_remark(s, fr.has_rest);
    if (fr.has_rest) {
        simd_build_rest(s, &fr);
        ir_count(s->f->module->cx, vectorize_rests, 1);
    }
    simd_remove_strips(s);
    simd_repair(s);
    if (!s->refusal) straighten(s, &fr);
    ir_remove_unreachable(s->f);
}

/* By block id, below n: loops that have been done, loops of items that have been split, and loops
 * that have vector loops beside them. */
typedef struct {
    uint32_t n;
    bool *done, *is_split, *has_strips, *is_vector;
    bool any_items;       /* of these are loops over items */
    ir_value_list strips; /* of the loop at hand, for which it is analysed again */
    simd_value *value;    /* by value id, below nvalues; empty between loops */
    uint32_t nvalues;
    uint32_t loops;   /* that have been looked at */
    ir_arena *memory; /* of all this */
} progress;

/* The values of all loops have one array, of which each loop clears what it has used. */
static void begin_values(simd *s, progress *p) {
    if (p->nvalues < s->f->next_id) {
        p->nvalues = 2 * s->f->next_id;
        p->value = ir_new_array(p->memory, simd_value, p->nvalues);
    }
    s->value = p->value;
    s->nvalues = p->nvalues;
    s->first_new = s->f->next_id;
    for (uint32_t k = 0; k < s->scalar.loop->nblocks; k++)
        foreach_inst (i, s->scalar.loop->block[k]) *ir_push(s->scratch, &s->touched) = i->id;
}

static bool can_be_replaced(simd *s, const progress *p) {
    if (!simd_find_loop(s)) return false;
    if (p->loops > MOST_LOOPS) return simd_refuse(s, NULL, "the kernel has too many loops");
    if (!simd_find_graph(s)) return false;
    simd_find_progressions(s);
    simd_find_shapes(s);
    if (!s->scalar.is_innermost) simd_find_arrays(s);
    if (!simd_is_legal(s) || (s->scalar.is_innermost && !simd_are_independent(s))) return false;
    return simd_find_width(s);
}

/* Does what can be done about the loop; true: the code has changed. */
static bool do_loop(simd *s, progress *p) {
    bool ok = can_be_replaced(s, p), has_strips = s->strips->n > 0;
    if (ok && (simd_split_rounds(s) || simd_cut_strips(s))) return true;
    const ir_block *header = s->scalar.loop->header;
    p->done[header->id] = true;
    ok = ok && simd_place_arrays(s);
    if (ok) replace_loop(s);
    if (ok && !s->refusal) {
        p->is_vector[header->id] = true;
        p->any_items |= !s->scalar.is_innermost;
    } else if (!ok && s->scalar.counter && simd_is_part(s))
        simd_leave_part(s);
    if (!ok) {
        simd_remark(s, false);
        simd_remove_strips(s);
        if (has_strips) ir_remove_unreachable(s->f);
    }
    return ok || has_strips;
}

static bool vectorize_loop(ir_func *f, const ir_loop *loop, progress *p, pass_ctx *cx) {
    p->loops++;
    pass_uniformity u;
    simd s = {.f = f, .cx = cx, .scratch = cx->scratch, .uniformity = &u, .scalar.loop = loop};
    s.scalar.is_innermost = !(loop->header->loop_hint & IR_LOOP_ITEMS);
    pass_find_uniform_loop(f, cx->scratch, loop, &u);
    s.is_split = p->is_split;
    s.has_strips = p->has_strips;
    s.strips = &p->strips;
    s.memory = p->memory;
    s.nsplit = p->n;
    s.nblocks = f->next_block;
    begin_values(&s, p);
    bool changed = do_loop(&s, p);
    foreach_in (uint32_t, id, s.touched) s.value[*id] = (simd_value){0};
    return changed;
}

typedef struct {
    ir_func *f;
    const ir_loop *loop;
    progress *p;
    pass_ctx cx;
    bool changed;
} loop_job;

static void run_job(void *arg) {
    loop_job *j = arg;
    j->changed = vectorize_loop(j->f, j->loop, j->p, &j->cx);
}

/* Does it with memory that lasts for one loop: tables by id would add up to the square of the
 * number of loops. */
static bool vectorize_apart(ir_func *f, const ir_loop *loop, progress *p, const pass_ctx *cx) {
    ir_arena own;
    loop_job j = {.f = f, .loop = loop, .p = p, .cx = *cx};
    ir_arena_init(&own, cx->cx);
    j.cx.scratch = &own;
    bool ok = ir_try(cx->cx, run_job, &j);
    ir_status why = cx->cx->status;
    ir_arena_free(&own);
    if (!ok) ir_throw(cx->cx, why);
    return j.changed;
}

static bool is_over_items(const ir_block *header) {
    return header->loop_hint & IR_LOOP_ITEMS && !(header->loop_hint & IR_LOOP_ENDS);
}

/* Is it a loop of the kernel itself, with no other in it, in code that has no vectors?  Loops that
 * do a few items at the ends of vector loops are not worth it. */
static bool is_innermost(const ir_loop *loop, const progress *p) {
    const uint32_t made = IR_LOOP_ITEMS | IR_LOOP_ROWS | IR_LOOP_PART | IR_LOOP_COMPONENTS;
    if (loop->child || loop->header->loop_hint & made || p->loops >= MOST_LOOPS) return false;
    for (const ir_loop *l = loop->parent; l; l = l->parent) {
        bool is_end = l->header->loop_hint & IR_LOOP_ENDS;
        if (l->header->id >= p->n || p->is_vector[l->header->id]) return false;
        if (is_end && p->any_items) return false;
    }
    return true;
}

/* Loops over items come first: the innermost loops of those that remain scalar follow. */
static const ir_loop *next_loop(ir_func *f, const progress *p) {
    const ir_loop *items = NULL, *innermost = NULL;
    const ir_loops *loops = ir_loop_tree(f);
    foreach_block (b, f) {
        const ir_loop *loop = loops->of[b->id];
        if (b->id >= p->n || p->done[b->id] || !loop || loop->header != b) continue;
        if (is_over_items(b))
            items = loop;
        else if (is_innermost(loop, p))
            innermost = loop;
    }
    return items ? items : innermost;
}

/* Does:  copies loops with the hint `items` into loops that run W items in an iteration, as lanes
 *        of vectors; the scalar loop does the rest.  The same with iterations of innermost loops in
 *        code that remains scalar.
 * Needs: code of a work-group, with the loops that `regions` makes.
 * Leaves: vectors of any width, and masked accesses, for `legalize_vectors`; splats in front of
 *        the loop; masks that nothing asks for.
 * Gives up: on loops beyond MOST_LOOPS of a function, since each needs the graph of the whole; on
 *        loops with values that go from one item to the next; on private memory whose
 *        accesses are not all known, or differ in size; on calls; on switches with many
 *        cases; on innermost loops whose iterations may access what others write. */
bool pass_vectorize(ir_func *f, pass_ctx *cx) {
    bool changed = false;
    progress p = {.n = f->next_block,
                  .done = ir_new_array(cx->scratch, bool, f->next_block),
                  .is_split = ir_new_array(cx->scratch, bool, f->next_block),
                  .has_strips = ir_new_array(cx->scratch, bool, f->next_block),
                  .is_vector = ir_new_array(cx->scratch, bool, f->next_block),
                  .memory = cx->scratch};
    if (f->level != L_GROUP || cx->lanes == 1) return false;
    changed = simd_lower_switches(f, cx->scratch);
    for (const ir_loop *loop; (loop = next_loop(f, &p));) {
        const ir_block *header = loop->header;
        changed |= simd_lower_bools(f, loop);
        changed |= simd_lower_copies(f, loop);
        changed |= vectorize_apart(f, loop, &p, cx);
        if (header->loop_hint & IR_LOOP_PART) changed |= ir_remove_unreachable(f);
    }
    return changed;
}
