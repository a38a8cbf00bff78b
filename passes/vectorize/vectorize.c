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
 * All loops are replaced before anything is found again that describes the whole function, such as
 * dominators, so that time is linear in the number of loops, too.  A loop is analysed by what was
 * found before the first one was replaced, which holds for its blocks until its turn comes.
 *
 * Before: switches and truth values in memory have been lowered (switches.c, bools.c).  After:
 * uses after the loops see the values of vector loops (combine.c), and every definition dominates
 * its uses again (repair.c).
 */
#include "passes/vectorize/groups.h"

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
    if (fr->is_masked) { /* there is an item */
        fr->end = l->end;
        ir_build_br(&s->b, ir_const(s->f, IR_I1, 1), s->preheader, fr->skip);
        return;
    }
    ir_inst *n = ir_build2(&s->b, IR_OP_sub, t, l->end, fr->start);
    if (l->is_innermost) n = count_iterations(s, fr->start, n);
    ir_inst *full = ir_build2(&s->b, IR_OP_and, t, n, number(s, ~(uint64_t)(s->lanes - 1)));
    if (s->enter && simd_is_part(s)) full = ir_build_select(&s->b, s->enter, full, number(s, 0));
    fr->end = ir_build2(&s->b, IR_OP_add, t, fr->start, full);
    ir_inst *any = ir_build2(&s->b, IR_OP_ne, IR_I1, full, number(s, 0));
    if (s->enter) any = ir_build2(&s->b, IR_OP_and, IR_I1, any, s->enter);
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
                assert_at(i, i->id < s->code->nvalues); /* its shape is known */
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
    ir_at_end(&s->b, s->node[0].head);
    if (fr->is_masked) simd_mask_items(s, fr->counter);
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
    if (fr->is_masked)
        ir_build_jmp(&s->b, l->exit);
    else
        ir_build_br(&s->b, ir_build2(&s->b, l->test, IR_I1, fr->end, l->end), l->loop->header,
                    l->exit);
    foreach_phi (phi, l->exit) ir_append_arg(phi, ir_arg(phi, latch));
    if (fr->is_masked) return;
    simd_leave_loops(s, fr->rest, fr->end);
}

static void build(simd *s, simd_frame *fr) {
    s->first = s->f->next_block;
    ir_builder_init(&s->b, s->f);
    build_setup(s, fr);
    build_nodes(s, fr);
    build_end(s, fr);
}

/* The vector loop becomes code without a loop if it has one iteration. */
static void note_straight(const simd *s, const simd_frame *fr) {
    bool known = ir_is_const(fr->start) && ir_is_const(fr->end);
    bool once = known && fr->end->imm.bits - fr->start->imm.bits == s->lanes;
    if (!once && !(fr->is_masked && simd_most_items(s) <= s->lanes)) return;
    *ir_push(s->code->memory, &s->code->straight) =
        (simd_straight){s->node[0].head, fr->rest->pred[0]};
}

static void straighten(const simd_straight *loop) {
    ir_make_jmp(loop->latch, 1);
    loop->header->loop_hint = 0;
    for (ir_inst *phi; (phi = loop->header->first)->op == IR_OP_phi;) {
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
    simd_frame fr = {.is_masked = simd_shares_rest(s)};
    fr.has_rest = fr.is_masked || simd_has_rest(s);
    s->is_rest = fr.is_masked;
    if (!fr.has_rest) simd_enter_strips(s);
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
    if (fr.has_rest && fr.is_masked) ir_make_jmp(s->preheader->pred[0], 0);
    if (fr.has_rest && !fr.is_masked) {
        simd_build_rest(s, &fr);
        ir_count(s->f->module->cx, vectorize_rests, 1);
    }
    simd_remove_strips(s);
    if (!s->refusal) note_straight(s, &fr);
}

/* A list of loops to replace at once, and by block id, below n: loops that have been done, loops
 * of items that have been split, and loops that have vector loops beside them. */
typedef struct {
    uint32_t n;
    bool *done, *is_split, *has_strips, *is_vector;
    simd_strips_list *strips; /* by block id: those of the loop */
    bool any_items;           /* of the loops with vector loops are loops over items */
    simd_code code;
    const ir_loops *loops;
    pass_uniformity uniformity;
    pass_loop_finder *finder;
    ir_vec(const ir_loop *) list;
} progress;

static bool can_be_replaced(simd *s) {
    if (!simd_find_loop(s) || !simd_find_graph(s)) return false;
    simd_find_progressions(s);
    simd_find_shapes(s);
    if (!s->scalar.is_innermost) simd_find_arrays(s);
    if (!simd_is_legal(s) || (s->scalar.is_innermost && !simd_are_independent(s))) return false;
    return simd_find_width(s);
}

/* Does what can be done about the loop; true: the code has changed. */
static bool do_loop(simd *s, progress *p) {
    bool ok = can_be_replaced(s), has_strips = s->strips->n > 0;
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
    }
    return ok || has_strips || simd_is_part(s);
}

/* Tables are empty before and after. */
static void clear_tables(const simd *s) {
    const ir_loop *loop = s->scalar.loop;
    foreach_in (const uint32_t, id, s->touched) s->value[*id] = (simd_value){0};
    for (uint32_t k = 0; k < loop->nblocks; k++) {
        uint32_t id = loop->block[k]->id;
        s->code->node_of[id] = s->code->enter_of[id] = s->code->latch_of[id] = SIMD_NONE;
    }
}

static bool vectorize_loop(ir_func *f, const ir_loop *loop, progress *p, pass_ctx *cx) {
    simd s = {.f = f,
              .cx = cx,
              .scratch = cx->scratch,
              .code = &p->code,
              .uniformity = &p->uniformity,
              .scalar.loop = loop,
              .scalar.is_innermost = !(loop->header->loop_hint & IR_LOOP_ITEMS),
              .value = p->code.value,
              .is_split = p->is_split,
              .has_strips = p->has_strips,
              .strips = &p->strips[loop->header->id],
              .nsplit = p->n};
    pass_find_uniform_loop(p->finder, loop);
    for (uint32_t k = 0; k < loop->nblocks; k++)
        foreach_inst (i, loop->block[k]) *ir_push(s.scratch, &s.touched) = i->id;
    bool changed = do_loop(&s, p);
    clear_tables(&s);
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

/* Does it with memory that lasts for one loop. */
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

/* -------------------------------------------------------------------------- all loops at once */

static bool is_over_items(const ir_block *header) {
    return header->loop_hint & IR_LOOP_ITEMS && !(header->loop_hint & IR_LOOP_ENDS);
}

/* Is it a loop of the kernel itself, with no other in it, in code that has no vectors?  Loops that
 * do a few items at the ends of vector loops are not worth it. */
static bool is_innermost(const ir_loop *loop, const progress *p) {
    const uint32_t made = IR_LOOP_ITEMS | IR_LOOP_ROWS | IR_LOOP_PART | IR_LOOP_COMPONENTS;
    if (loop->child || loop->header->loop_hint & made) return false;
    for (const ir_loop *l = loop->parent; l; l = l->parent) {
        bool is_end = l->header->loop_hint & IR_LOOP_ENDS;
        if (l->header->id >= p->n || p->is_vector[l->header->id]) return false;
        if (is_end && p->any_items) return false;
    }
    return true;
}

typedef bool is_wanted_fn(const ir_loop *loop, const progress *p);

static bool has_items(const ir_loop *loop, const progress *p) {
    (void)p;
    return is_over_items(loop->header);
}

/* The loop that b is the header of, if it is wanted and has not been done. */
static const ir_loop *candidate_at(const progress *p, const ir_block *b, is_wanted_fn *is_wanted) {
    const ir_loop *loop = p->loops->of[b->id];
    if (b->id >= p->n || p->done[b->id] || !loop || loop->header != b) return NULL;
    return is_wanted(loop, p) ? loop : NULL;
}

/* Loops that contain others of the list wait for those. */
static void list_loops_of(ir_func *f, progress *p, ir_arena *scratch, is_wanted_fn *is_wanted) {
    bool *waits = ir_new_array(scratch, bool, f->next_block);
    foreach_block (b, f) {
        const ir_loop *loop = candidate_at(p, b, is_wanted);
        while (loop && (loop = loop->parent) && !waits[loop->header->id])
            waits[loop->header->id] = true;
    }
    foreach_block (b, f) {
        const ir_loop *loop = candidate_at(p, b, is_wanted);
        if (loop && !waits[b->id]) *ir_push(scratch, &p->list) = loop;
    }
}

/* Loops over items come first: the innermost loops of those that remain scalar follow. */
static bool list_loops(ir_func *f, progress *p, ir_arena *scratch) {
    p->loops = ir_loop_tree(f);
    p->list.n = 0;
    list_loops_of(f, p, scratch, has_items);
    if (!p->list.n) list_loops_of(f, p, scratch, is_innermost);
    return p->list.n > 0;
}

static uint16_t *block_table(const ir_func *f, ir_arena *a) {
    uint16_t *table = ir_new_array(a, uint16_t, f->next_block);
    memset(table, 0xff, f->next_block * sizeof *table);
    return table;
}

static void begin_loops(ir_func *f, progress *p, ir_arena *a) {
    p->code = (simd_code){.memory = a,
                          .dom = ir_dominators(f),
                          .nblocks = f->next_block,
                          .nvalues = f->next_id,
                          .value = ir_new_array(a, simd_value, f->next_id),
                          .number = ir_new_array(a, uint32_t, f->next_id),
                          .node_of = block_table(f, a),
                          .enter_of = block_table(f, a),
                          .latch_of = block_table(f, a)};
    p->finder = pass_begin_uniform(f, a, &p->uniformity);
    foreach_block (b, f) b->mark = SIMD_NONE;
}

/* Does another loop that has been replaced lead to this one?  Then it waits. */
static bool is_led_to(const progress *p, const ir_block *header) {
    for (uint32_t k = 0; k < header->npred; k++)
        if (header->pred[k]->id >= p->code.nblocks) return true;
    return false;
}

/* The function is in order again. */
static void finish_loops(ir_func *f, progress *p) {
    simd_replace_after(f, &p->code, p->loops);
    simd_repair(f, &p->code);
    foreach_in (const simd_straight, loop, p->code.straight) straighten(loop);
    ir_remove_unreachable(f);
}

/* Does:  copies loops with the hint `items` into loops that run W items in an iteration, as lanes
 *        of vectors; the scalar loop does the rest.  The same with iterations of innermost loops in
 *        code that remains scalar.
 * Needs: code of a work-group, with the loops that `regions` makes.
 * Leaves: vectors of any width, and masked accesses, for `legalize_vectors`; splats in front of
 *        the loop; masks that nothing asks for.
 * Gives up: on loops with values that go from one item to the next; on private memory whose
 *        accesses are not all known, or differ in size; on calls; on switches with many
 *        cases; on innermost loops whose iterations may access what others write. */
bool pass_vectorize(ir_func *f, pass_ctx *cx) {
    progress p = {.n = f->next_block,
                  .done = ir_new_array(cx->scratch, bool, f->next_block),
                  .is_split = ir_new_array(cx->scratch, bool, f->next_block),
                  .has_strips = ir_new_array(cx->scratch, bool, f->next_block),
                  .strips = ir_new_array(cx->scratch, simd_strips_list, f->next_block),
                  .is_vector = ir_new_array(cx->scratch, bool, f->next_block)};
    if (f->level != L_GROUP || cx->lanes == 1) return false;
    bool changed = simd_lower_switches(f, cx->scratch);
    while (list_loops(f, &p, cx->scratch)) {
        for (uint32_t k = 0; k < p.list.n; k++) {
            changed |= simd_lower_bools(f, p.list.data[k]);
            changed |= simd_lower_copies(f, p.list.data[k]);
        }
        begin_loops(f, &p, cx->scratch);
        for (uint32_t k = p.list.n; k-- > 0;)
            if (!is_led_to(&p, p.list.data[k]->header))
                changed |= vectorize_apart(f, p.list.data[k], &p, cx);
        finish_loops(f, &p);
    }
    return changed;
}
