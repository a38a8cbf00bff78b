/* indexsets.c — index-set splitting: loops over items without what holds for some of them only.
 *
 * A condition such as `x > 0`, a clamp, or the extension of an index that might wrap holds for the
 * items of an interval (Allen and Kennedy, "Optimizing compilers for modern architectures", 2001).
 * The loop is copied, and the copy does the items from `low` to `high`, where all of this is
 * decided; the loop itself does the others.  It stays one loop that runs twice:
 *
 *   setup -> again: from = start, then done; to = low, then end
 *              |
 *              +-> [loop: from .. to] -> after -> [copy: low .. high] -> done -> again
 *                                          |
 *                                          +-> the code after the loop
 *
 * If all items from the first one on are in the interval, it runs once:
 *
 *   setup -> [copy: start .. high] -> done -> [loop: done .. end] -> the code after the loop
 *
 * The copy has the hint `part`: it may leave any number of its last items to the loop, and the phi
 * in `done` says where it has ended.  The loop has the hint `ends`.  Without an item in the
 * interval, the loop does all.
 */
#include "passes/vectorize/indexsets.h"

#include "ir/eval.h"

enum { MOST_ITEMS = 512, MOST_SIZE = 40 /* operations */ };

typedef struct {
    ir_clone_map map;
    uint32_t values, blocks; /* entries of the map */
    uint32_t mark;           /* of the blocks of copies; one more: of the current one */
    const ir_target *target;
    ir_vec(sets_plan) plans;
    sets s;
} splitter;

/* ------------------------------------------------------------------------------------- planning */

static const ir_loop *items_loop(const ir_loops *loops, const ir_block *b) {
    const ir_loop *l = loops->of[b->id];
    while (l && !(l->header->loop_hint & IR_LOOP_ITEMS)) l = l->parent;
    return l;
}

/* Is all that the loop computes what its items write to memory? */
static bool is_plain(const sets_plan *p) {
    foreach_phi (phi, p->blocks.data[0])
        if (phi != p->loop.counter) return false;
    for (uint32_t k = 0; k < p->blocks.n; k++)
        foreach_inst (i, p->blocks.data[k])
            foreach_use (use, i)
                if (use->user->block->mark != p->blocks.data[0]->mark) return false;
    const ir_inst *test = ir_arg(p->loop.latch->last, 0);
    return !test->uses->next && p->loop.exit->first->op != IR_OP_phi;
}

static void list_loops(splitter *q) {
    sets *s = &q->s;
    const ir_order *order = &ir_dominators(s->f)->order;
    foreach_block (b, s->f) b->mark = 0;
    for (uint32_t k = 0; k < order->n; k++) {
        ir_block *b = order->rpo[k];
        const ir_loop *l = items_loop(s->uniformity->loops, b);
        if (!l) continue;
        if (l->header == b) {
            *ir_push(s->scratch, &q->plans) = (sets_plan){.loop.loop = l};
            b->mark = q->plans.n;
        }
        b->mark = l->header->mark;
        if (b->mark) *ir_push(s->scratch, &q->plans.data[b->mark - 1].blocks) = b;
    }
}

/* Is it memory that items of a group share? */
static bool is_shared(const ir_inst *i) {
    if (i->op != IR_OP_load && i->op != IR_OP_store) return false;
    ir_space space = ir_space_of(simd_address(i)->type);
    return space == IR_LOCAL || space == IR_PRIVATE;
}

/* Is it a loop over so few items that each of its vectors gets code of its own (unroll_items), in
 * which masks are constants? */
static bool is_short(const splitter *q, const sets_plan *p) {
    const ir_inst *start = ir_arg(p->loop.counter, p->loop.entry), *end = p->loop.end;
    if (!q->target || !q->target->has_masks || p->loop.loop->child) return false;
    if (!ir_is_const(start) || start->imm.bits || !ir_is_const(end)) return false;
    uint64_t size = 0;
    bool exchange = false;
    for (uint32_t k = 0; k < p->blocks.n; k++)
        foreach_inst (i, p->blocks.data[k]) {
            exchange |= is_shared(i);
            size++;
        }
    return exchange && end->imm.bits <= MOST_ITEMS && size <= MOST_SIZE;
}

/* Is all that has been decided the outcome of comparisons of the counter with constants? */
static bool has_constant_tests(const sets_plan *p) {
    for (uint32_t k = 0; k < p->decisions.n; k++)
        if (p->decisions.data[k].how != SETS_IS_CONST) return false;
    for (uint32_t k = 0; k < p->tests.n; k++) {
        const pass_affine *sum = &p->tests.data[k].sum;
        bool counts = sum->n == 1 && sum->term[0].of.value == p->loop.counter;
        if (!counts || p->tests.data[k].bound.n) return false;
    }
    return true;
}

static void make_plan(splitter *q, uint32_t k) {
    sets *s = &q->s;
    simd loop = {.f = s->f, .uniformity = s->uniformity, .scalar = q->plans.data[k].loop};
    s->plan = &q->plans.data[k];
    s->mark = k + 1;
    unsigned whole = IR_LOOP_PART | IR_LOOP_ENDS | IR_LOOP_LANES;
    bool found = !(s->plan->blocks.data[0]->loop_hint & whole) && simd_find_loop(&loop);
    s->plan->loop = loop.scalar;
    if (!found || !is_plain(s->plan)) return;
    sets_find_decisions(s);
    if (is_short(q, s->plan) && has_constant_tests(s->plan)) s->plan->decisions.n = 0;
}

/* --------------------------------------------------------------------------------------- copies */

static void make_room(splitter *q) {
    const ir_func *f = q->s.f;
    if (q->values >= f->next_id && q->blocks >= f->next_block) return;
    q->values = 2 * f->next_id;
    q->blocks = 2 * f->next_block;
    q->map = (ir_clone_map){.value = ir_new_array(q->s.scratch, ir_inst *, q->values),
                            .block = ir_new_array(q->s.scratch, ir_block *, q->blocks),
                            .edge = ir_new_array(q->s.scratch, uint32_t, q->blocks)};
}

static void copy_loop(splitter *q) {
    const ir_block_list *blocks = &q->s.plan->blocks;
    make_room(q);
    ir_clone_region(q->s.f, blocks->data, blocks->n, &q->map);
    for (uint32_t k = 0; k < blocks->n; k++) q->map.block[blocks->data[k]->id]->mark = q->mark + 1;
}

static void forget_copy(splitter *q) {
    const ir_block_list *blocks = &q->s.plan->blocks;
    for (uint32_t k = 0; k < blocks->n; k++) {
        q->map.block[blocks->data[k]->id]->mark = q->mark;
        q->map.block[blocks->data[k]->id] = NULL;
        foreach_inst (i, blocks->data[k])
            if (i->id < q->values) q->map.value[i->id] = NULL;
    }
}

/* ------------------------------------------------------------------------ what has been decided */

static ir_inst *scale(ir_builder *b, ir_inst *v, int64_t by) {
    if (by == 1) return v;
    return ir_build2(b, IR_OP_mul, v->type, v, ir_const(b->f, v->type, (uint64_t)by));
}

/* The sum that an extension is, in the copy. */
static ir_inst *build_sum(splitter *q, const sets_decision *d, ir_inst *at) {
    sets *s = &q->s;
    const sets_test *t = &s->plan->tests.data[d->test];
    ir_builder *b = &s->b;
    ir_inst *item = q->map.value[s->plan->loop.counter->id], *inner = NULL;
    ir_before(b, at);
    for (uint32_t k = 0; k < d->inner.n; k++) {
        const pass_term *term = &d->inner.term[k];
        ir_inst *v = scale(b, q->map.value[term->of.value->id], term->factor);
        inner = inner ? ir_build2(b, IR_OP_add, v->type, inner, v) : v;
    }
    ir_inst *sum = t->base;
    if (inner) sum = ir_build2(b, IR_OP_add, IR_I64, sum, ir_build1(b, IR_OP_zext, IR_I64, inner));
    sum = ir_build2(b, IR_OP_add, IR_I64, sum, scale(b, item, t->stride));
    uint64_t more = (uint64_t)d->more - (uint64_t)t->low;
    return more ? ir_build2(b, IR_OP_add, IR_I64, sum, ir_const(s->f, IR_I64, more)) : sum;
}

/* Another value takes the place of one from outside in the copy. */
static void replace_outer(const splitter *q, const sets_decision *d) {
    foreach_use (use, d->at)
        if (use->user->block->mark == q->mark + 1)
            ir_set_arg(use->user, (unsigned)(use - use->user->arg), d->with);
}

static void apply(splitter *q, const sets_decision *d) {
    if (d->how == SETS_IS_ROUND) {
        replace_outer(q, d);
        return;
    }
    ir_inst *i = q->map.value[d->at->id], *with = NULL;
    switch (d->how) {
    case SETS_IS_ROUND: break;
    case SETS_IS_CONST: with = ir_const(q->s.f, IR_I1, d->n); break;
    case SETS_IS_OPERAND: with = ir_arg(i, d->n); break;
    case SETS_IS_SUM: with = build_sum(q, d, i); break;
    }
    ir_replace_uses(i, with);
    q->map.value[d->at->id] = with;
    ir_remove(i);
}

/* What a condition is if one of its operands is known; NULL: not that. */
static ir_inst *known_condition(const ir_inst *i) {
    for (unsigned n = 0; n < 2 && i->nargs >= 2; n++) {
        const ir_inst *x = ir_arg(i, n);
        if (!ir_is_const(x) || x->type != IR_I1) continue;
        bool holds = x->imm.bits & 1;
        if (i->op == IR_OP_select && n == 0) return ir_arg(i, holds ? 1 : 2);
        if (i->op == IR_OP_and || i->op == IR_OP_or)
            return holds == (i->op == IR_OP_and) ? ir_arg(i, 1 - n) : ir_arg(i, n);
    }
    return NULL;
}

static void fold_block(ir_func *f, ir_block *b) {
    foreach_inst (i, b) {
        if (i->op == IR_OP_phi || !ir_has_flag(i, F_PURE)) continue;
        ir_inst *with = known_condition(i);
        if (!with) with = ir_fold(f, i);
        if (!with) continue;
        ir_replace_uses(i, with);
        ir_remove(i);
    }
    if (b->last->op == IR_OP_br && ir_is_const(ir_arg(b->last, 0)))
        ir_make_jmp(b, ir_arg(b->last, 0)->imm.bits & 1 ? 0 : 1);
}

static void decide(splitter *q) {
    const sets_plan *p = q->s.plan;
    for (uint32_t k = 0; k < p->decisions.n; k++) apply(q, &p->decisions.data[k]);
    for (uint32_t k = 0; k < p->blocks.n; k++)
        fold_block(q->s.f, q->map.block[p->blocks.data[k]->id]);
}

/* ---------------------------------------------------------------------------------------- edges */

/* The blocks around the two loops, and values of the counter. */
typedef struct {
    ir_block *setup, *enter; /* the latter leads to the loop */
    ir_block *enter_copy, *done;
    ir_inst *start, *end, *low, *high;
    ir_inst *first; /* `low`, or, if that is a multiple of a line, a value of which this is known */
    ir_inst *done_at;
} frame;

static ir_block *new_block(const splitter *q) {
    ir_block *b = ir_block_new(q->s.f, NULL);
    b->mark = 0;
    return b;
}

/* Both loops get an entry block, and the copy a block after it. */
static void build_frame(splitter *q, frame *fr) {
    sets *s = &q->s;
    const simd_loop *l = &s->plan->loop;
    ir_block *copy = q->map.block[l->loop->header->id], *latch = q->map.block[l->latch->id];
    fr->end = l->end;
    fr->enter = new_block(q);
    fr->enter_copy = new_block(q);
    fr->done = new_block(q);
    ir_redirect_edge(latch, 1, fr->done);
    fr->done_at = ir_append_arg(ir_build_phi(fr->done, l->counter->type), fr->high);
    ir_set_arg(ir_arg(latch->last, 0), 1, fr->high);
    ir_at_end(&s->b, fr->enter_copy);
    ir_build_jmp(&s->b, copy);
    ir_append_arg(q->map.value[l->counter->id], fr->first);
    copy->loop_hint |= IR_LOOP_PART;
    l->loop->header->loop_hint |= IR_LOOP_ENDS;
}

/* The loop does what is left. */
static void link_once(splitter *q, frame *fr) {
    sets *s = &q->s;
    ir_block *choose = new_block(q);
    ir_redirect_edge(fr->setup, 0, choose);
    ir_at_end(&s->b, choose);
    ir_build_br(&s->b, ir_build2(&s->b, IR_OP_ult, IR_I1, fr->start, fr->high), fr->enter_copy,
                fr->enter);
    ir_at_end(&s->b, fr->done);
    ir_build_br(&s->b, ir_build2(&s->b, IR_OP_ult, IR_I1, fr->done_at, fr->end), fr->enter,
                s->plan->loop.exit);
    ir_inst *from = ir_append_arg(ir_build_phi(fr->enter, fr->start->type), fr->start);
    from = ir_append_arg(from, fr->done_at);
    ir_at_end(&s->b, fr->enter);
    ir_build_jmp(&s->b, s->plan->loop.loop->header);
    ir_append_arg(s->plan->loop.counter, from);
}

/* The loop does what is left on both sides. */
static void link_twice(splitter *q, frame *fr) {
    sets *s = &q->s;
    const simd_loop *l = &s->plan->loop;
    ir_type t = fr->start->type;
    ir_block *again = new_block(q), *after = new_block(q);
    ir_redirect_edge(fr->setup, 0, again);
    ir_at_end(&s->b, fr->done);
    ir_build_jmp(&s->b, again);
    ir_inst *from = ir_append_arg(ir_build_phi(again, t), fr->start);
    from = ir_append_arg(from, fr->done_at);
    ir_inst *to = ir_append_arg(ir_build_phi(again, t), fr->low);
    to = ir_append_arg(to, fr->end);
    ir_at_end(&s->b, again);
    ir_build_br(&s->b, ir_build2(&s->b, IR_OP_ult, IR_I1, from, to), fr->enter, after);
    ir_redirect_edge(l->latch, 1, after);
    ir_at_end(&s->b, after);
    ir_build_br(&s->b, ir_build2(&s->b, IR_OP_ult, IR_I1, to, fr->end), fr->enter_copy, l->exit);
    ir_at_end(&s->b, fr->enter);
    ir_build_jmp(&s->b, l->loop->header);
    ir_set_arg(ir_arg(l->latch->last, 0), 1, to);
    ir_append_arg(l->counter, from);
}

/* ----------------------------------------------------------------------------------- the whole */

/* Are there many items in the interval, as far as that is known? */
static bool is_worth_it(const frame *fr) {
    const ir_inst *low = fr->low ? fr->low : fr->start;
    if (!ir_is_const(low) || !ir_is_const(fr->high)) return true;
    if (low->imm.bits >= fr->high->imm.bits) return false;
    if (!ir_is_const(fr->start) || !ir_is_const(fr->end)) return true;
    uint64_t items = fr->end->imm.bits - fr->start->imm.bits;
    return fr->high->imm.bits - low->imm.bits >= items - items / 4;
}

/* The interval begins with a multiple of so many items. */
static void begin_at_line(sets *s, frame *fr, unsigned items) {
    ir_type t = fr->low->type;
    ir_inst *low = ir_build2(&s->b, IR_OP_umin, t, fr->low, fr->end);
    low = ir_build2(&s->b, IR_OP_add, t, low, ir_const(s->f, t, items - 1));
    fr->low = ir_build2(&s->b, IR_OP_and, t, low, ir_const(s->f, t, ~(uint64_t)(items - 1)));
}

/* Without an item in the interval, the first run of the loop does all. */
static void settle_interval(sets *s, frame *fr) {
    ir_inst *low = fr->low, *any = ir_build2(&s->b, IR_OP_ult, IR_I1, low, fr->high);
    fr->low = ir_build_select(&s->b, any, low, fr->end);
    fr->high = ir_build_select(&s->b, any, fr->high, fr->end);
    fr->first = s->plan->line ? low : fr->low;
}

static bool split(splitter *q) {
    sets *s = &q->s;
    const simd_loop *l = &s->plan->loop;
    ir_block *h = l->loop->header, *from = h->pred[l->entry];
    frame fr = {.start = ir_arg(l->counter, l->entry), .end = l->end};
    fr.setup = ir_split_edge(from, from->succ[0] == h ? 0 : 1);
    fr.setup->mark = 0;
    ir_before(&s->b, fr.setup->last);
    sets_interval i = sets_find_interval(s);
    fr.low = i.low;
    fr.high = i.high;
    if (!is_worth_it(&fr)) return false;
    bool twice = fr.low;
    if (twice && s->plan->line) begin_at_line(s, &fr, s->plan->line);
    if (twice)
        settle_interval(s, &fr);
    else
        fr.first = fr.low = fr.start;
    copy_loop(q);
    decide(q);
    build_frame(q, &fr);
    if (twice)
        link_twice(q, &fr);
    else
        link_once(q, &fr);
    forget_copy(q);
    ir_count(s->f->module->cx, indexsets_loops, 1);
    return true;
}

/* Copies have lost edges: phis with one argument, and blocks that follow each other. */
static void clean_copies(const splitter *q) {
    ir_remove_unreachable(q->s.f);
    foreach_block (b, q->s.f) {
        if (b->mark != q->mark || b->npred > 1) continue;
        foreach_phi (phi, b) {
            ir_replace_uses(phi, ir_arg(phi, 0));
            ir_remove(phi);
        }
    }
    for (ir_block *b = q->s.f->first; b; b = b->next)
        while (b->mark == q->mark && b->last->op == IR_OP_jmp && b->succ[0] != b &&
               b->succ[0]->npred == 1 && b->succ[0]->mark == q->mark)
            ir_merge_block(b);
}

/* Does:  copies loops with the hint `items`, for those of their items for which comparisons with
 *        the counter have one outcome, clamps do nothing, and extended sums do not wrap.
 * Needs: code of a work-group, with the loops that `regions` makes; what is the same for all items
 *        is computed before their loop (licm).
 * Leaves: both loops, with the hints `part` and `ends` (ir.h).
 * Gives up: on loops with values that go from one item to the next, or that are used after it, and
 *        on those that a phi follows. */
bool pass_indexsets(ir_func *f, pass_ctx *cx) {
    pass_uniformity u;
    splitter q = {.target = cx->target,
                  .s = {.f = f, .scratch = cx->scratch, .uniformity = &u, .nvalues = f->next_id}};
    bool changed = false;
    if (f->level != L_GROUP || cx->lanes == 1) return false;
    pass_find_uniform_items(f, cx->scratch, &u);
    q.s.form = ir_new_array(cx->scratch, sets_form *, f->next_id);
    ir_builder_init(&q.s.b, f);
    list_loops(&q);
    for (uint32_t k = 0; k < q.plans.n; k++) make_plan(&q, k);
    sets_find_lines(&q.s, q.plans.data, q.plans.n);
    q.mark = q.plans.n + 1;
    for (uint32_t k = 0; k < q.plans.n; k++) {
        q.s.plan = &q.plans.data[k];
        q.s.mark = k + 1;
        if (q.s.plan->decisions.n) changed |= split(&q);
    }
    if (changed) clean_copies(&q);
    return changed;
}
