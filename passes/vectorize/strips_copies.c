/* strips_copies.c — the copies of a loop that is cut into strips (strips.c).
 *
 * Strips for all rounds, with a head before each but the last, which leads past rounds that have
 * been done:
 *
 *   guard -> enter -> head 0 -> round 0 -> head 1 -> … -> round U - 1 -> exit
 *     |               ^  |                 ^                     |       ^
 *     |               |  +-----------------+                     |       |
 *     |               +------------------------------------------+       |
 *     +-> join -> the loop as it was ------------------------------------+
 *
 * Strips for as many rounds as fill them:
 *
 *   guard -> enter -> round 0 … round U - 1 -> after -> exit
 *     |               ^                 |        |       ^
 *     |               +-----------------+        v       |
 *     +---------------------------------------> join -> the rounds that are left
 *
 * Round 0 is the loop itself.  The loads of all rounds of a strip are done in head 0, or where that
 * of round 0 is, at constant distances from an address that steps from strip to strip.
 */
#include "passes/vectorize/strips.h"

/* The index v in the first round, as a number of 64 bits: none of its operations wraps. */
static ir_inst *wide_first_of(strips *t, ir_inst *v) {
    simd *s = t->s;
    bool is_known = strips_is_fixed(t, v) && simd_shape_of(s, v) == SIMD_UNIFORM;
    if (is_known || v == s->scalar.counter)
        return v->type == IR_I64 ? v : ir_build1(&s->b, IR_OP_zext, IR_I64, v);
    if (v->op == IR_OP_phi) return wide_first_of(t, ir_arg(v, !t->back));
    ir_inst *x = wide_first_of(t, ir_arg(v, 0));
    if (v->nargs == 1) return x;
    return ir_build2(&s->b, (ir_op)v->op, IR_I64, x, wide_first_of(t, ir_arg(v, 1)));
}

/* Is v an extension of an index that does not wrap where strips are entered? */
static bool is_tested(const strips *t, const ir_inst *v) {
    bool is_ext = v->op == IR_OP_zext || v->op == IR_OP_sext, any = false;
    for (unsigned n = 0; n < t->ntests; n++)
        any |= t->test[n].index == ir_arg(v, 0) && t->test[n].is_signed == (v->op == IR_OP_sext);
    return is_ext && any && v->type == IR_I64;
}

/* v in the first round, at the builder's place. */
static ir_inst *first_of(strips *t, ir_inst *v) {
    ir_inst *args[2];
    if (strips_is_fixed(t, v)) return v;
    if (v->op == IR_OP_phi) return ir_arg(v, !t->back);
    if (is_tested(t, v)) return wide_first_of(t, ir_arg(v, 0));
    for (unsigned n = 0; n < v->nargs; n++) args[n] = first_of(t, ir_arg(v, n));
    return ir_build_raw(&t->s->b, (ir_op)v->op, v->type, ir_attrs_of(v), (ir_args){v->nargs, args});
}

/* --------------------------------------------------------------------------------------- copies */

/* Notes what of copy c is needed later; map NULL: it is the loop itself. */
static void note_copy(strips *t, strips_copy *c, const ir_clone_map *map) {
    c->header = map ? map->block[t->header->id] : t->header;
    c->latch = map ? map->block[t->latch->id] : t->latch;
    for (unsigned n = 0; n < t->nloads; n++)
        c->load[n] = map ? map->value[t->load[n]->id] : t->load[n];
    foreach_phi (phi, c->header) *ir_push(t->s->scratch, &c->next) = ir_arg(phi, map ? 0 : t->back);
}

static void make_copies(strips *t) {
    ir_arena *a = t->s->scratch;
    ir_func *f = t->s->f;
    uint32_t values = 0, blocks = 0;
    ir_clone_map map = {0};
    note_copy(t, &t->copy[0], NULL);
    for (unsigned c = 1; c <= t->u; c++) {
        if (values < f->next_id || blocks < f->next_block) {
            values = 2 * f->next_id;
            blocks = 2 * f->next_block;
            map = (ir_clone_map){.value = ir_new_array(a, ir_inst *, values),
                                 .block = ir_new_array(a, ir_block *, blocks),
                                 .edge = ir_new_array(a, uint32_t, blocks)};
        }
        ir_clone_region(f, t->loop->block, t->loop->nblocks, &map);
        note_copy(t, &t->copy[c], &map);
        for (uint32_t k = 0; k < t->loop->nblocks; k++) {
            map.block[t->loop->block[k]->id] = NULL;
            foreach_inst (i, t->loop->block[k]) map.value[i->id] = NULL;
        }
    }
}

/* Ends a block that leads on by a branch instead. */
static void replace_jump(strips *t, ir_block *b, ir_inst *test, ir_block *yes, ir_block *no) {
    ir_make_unreachable(b);
    ir_remove(b->last);
    ir_at_end(&t->s->b, b);
    ir_build_br(&t->s->b, test, yes, no);
}

static void append_args(ir_block *b, const ir_value_list *list) {
    uint32_t k = 0;

    foreach_phi (phi, b) ir_append_arg(phi, list->data[k++]);
}

/* What leads to copy c. */
static ir_block *head_of(const strips *t, unsigned c) {
    const strips_copy *copy = &t->copy[c % t->u];
    return copy->head ? copy->head : copy->header;
}

/* The copies of a strip follow each other, and the last one leads back to the first. */
static void link_strip(strips *t) {
    for (unsigned c = 0; c < t->u; c++) {
        ir_block *latch = t->copy[c].latch, *to = head_of(t, c + 1);
        if (c + 1 < t->u) ir_make_jmp(latch, 0);
        ir_redirect_edge(latch, 0, to);
        append_args(to, &t->copy[c].next);
    }
}

/* The blocks before all copies but the last, which may leave out their copy, and phis for those of
 * the header: what that gets from `first`, the arguments of the edge into the loop. */
static void make_heads(strips *t, ir_block *enter, const ir_value_list *first) {
    simd *s = t->s;
    for (unsigned c = 0; c + 1 < t->u; c++) {
        strips_copy *copy = &t->copy[c];
        copy->head = ir_block_new(s->f, NULL);
        foreach_phi (phi, t->header) ir_build_phi(copy->head, phi->type);
    }
    ir_redirect_edge(enter, 0, t->copy[0].head);
    append_args(t->copy[0].head, first);
}

/* Branches around copies whose rounds have been done. */
static void link_heads(strips *t) {
    simd *s = t->s;
    for (unsigned c = 0; c + 1 < t->u; c++) {
        strips_copy *copy = &t->copy[c];
        ir_block *next = head_of(t, c + 1);
        ir_value_list state = {0};
        foreach_phi (phi, copy->head) *ir_push(s->scratch, &state) = phi;
        ir_at_end(&s->b, copy->head);
        ir_inst *round = ir_build2(&s->b, IR_OP_add, IR_I64, t->from, ir_const(s->f, IR_I64, c));
        ir_inst *skip = ir_build2(&s->b, IR_OP_ult, IR_I1, round, t->j);
        ir_build_br(&s->b, skip, next, copy->header);
        append_args(next, &state);
        append_args(copy->header, &state);
    }
}

/* guard -> the strips, or the loop as it was */
static void link_other(strips *t, ir_block *guard, ir_block *enter, const ir_value_list *first) {
    simd *s = t->s;
    const strips_copy *other = &t->copy[t->u];
    ir_block *join = ir_block_new(s->f, NULL);
    replace_jump(t, guard, t->enter, enter, join);
    t->guard = guard->last;
    ir_at_end(&s->b, join);
    ir_build_jmp(&s->b, other->header);
    append_args(other->header, first);
}

/* after the strips -> are there more rounds? -> the loop for these, which `guard` leads to, too */
static void link_rest(strips *t, ir_block *guard, ir_block *enter) {
    simd *s = t->s;
    const strips_copy *last = &t->copy[t->u - 1], *rest = &t->copy[t->u];
    ir_block *after = ir_split_edge(last->latch, 1), *join = ir_block_new(s->f, NULL);
    ir_value_list out = {0}, phis = {0};
    unsigned edge = ir_pred_index(t->exit, after), first = ir_pred_index(t->header, enter);
    foreach_phi (phi, t->exit) *ir_push(s->scratch, &out) = ir_arg(phi, edge);
    replace_jump(t, guard, t->enter, enter, join);
    t->guard = guard->last;
    ir_before(&s->b, after->last);
    ir_inst *more = ir_build2(&s->b, IR_OP_ult, IR_I1, t->full, t->all);
    replace_jump(t, after, more, join, t->exit);
    append_args(t->exit, &out);
    uint32_t k = 0;
    foreach_phi (phi, t->header) {
        ir_inst *both = ir_append_arg(ir_build_phi(join, phi->type), ir_arg(phi, first));
        *ir_push(s->scratch, &phis) = ir_append_arg(both, last->next.data[k++]);
    }
    ir_at_end(&s->b, join);
    ir_build_jmp(&s->b, rest->header);
    append_args(rest->header, &phis);
}

/* ---------------------------------------------------------------------------------- the strips */

static void remove_unused(ir_inst *i) {
    ir_inst *args[2];
    unsigned n = i->nargs;
    if (i->uses || !i->block || !ir_has_flag(i, F_PURE) || n > 2) return;
    for (unsigned k = 0; k < n; k++) args[k] = ir_arg(i, k);
    ir_remove(i);
    for (unsigned k = 0; k < n; k++)
        if (k == 0 || args[k] != args[0]) remove_unused(args[k]);
}

/* The block that a strip begins with. */
static ir_block *top_of(const strips *t) { return head_of(t, 0); }

/* Where the elements of a strip begin: the last one ends where the loop does. */
static void find_place(strips *t, ir_block *enter) {
    simd *s = t->s;
    ir_inst *u = ir_const(s->f, IR_I64, t->u);
    ir_before(&s->b, enter->last);
    ir_inst *last = ir_build2(&s->b, IR_OP_sub, IR_I64, t->all, u);
    ir_at_end(&s->b, top_of(t));
    t->from = ir_build2(&s->b, IR_OP_umin, IR_I64, t->j, last);
}

/* A counter of the rounds of strips. */
static void count_strips(strips *t, ir_block *enter) {
    simd *s = t->s;
    ir_block *latch = t->copy[t->u - 1].latch, *top = top_of(t);
    ir_inst *old = ir_arg(latch->last, 0);
    t->from = t->j = ir_build_phi(top, IR_I64);
    ir_before(&s->b, latch->last);
    ir_inst *next = ir_build_raw(&s->b, IR_OP_add, IR_I64, ir_with_flags(IR_NSW | IR_NUW),
                                 IR_ARGS(t->j, ir_const(s->f, IR_I64, t->u)));
    ir_set_arg(latch->last, 0, ir_build2(&s->b, IR_OP_ult, IR_I1, next, t->full));
    bool is_first = top->pred[0] == enter;
    t->j = ir_append_arg(t->j, is_first ? ir_const(s->f, IR_I64, 0) : next);
    t->j = ir_append_arg(t->j, is_first ? next : ir_const(s->f, IR_I64, 0));
    remove_unused(old);
}

/* The loads of all rounds of a strip, where that of the first one is, or before all of them. */
static void gather_loads(strips *t, unsigned n, ir_inst *first) {
    simd *s = t->s;
    ir_inst *load = t->load[n], *at = t->skips ? top_of(t)->last : load;
    ir_before(&s->b, at);
    s->b.loc = load->loc;
    ir_inst *by = ir_const(s->f, IR_I64, (uint64_t)t->step[n]);
    ir_inst *row =
        ir_build_ptradd(&s->b, first, ir_build2(&s->b, IR_OP_mul, IR_I64, t->from, by), false);
    for (unsigned c = 0; c < t->u; c++) {
        ir_inst *old = t->copy[c].load[n], *address = simd_address(old);
        ir_inst *p = simd_step(s, row, t->step[n] * c);
        ir_before(&s->b, at);
        ir_replace_uses(old,
                        ir_build_raw(&s->b, IR_OP_load, old->type, ir_attrs_of(old), IR_ARGS(p)));
        if (old != load) ir_remove(old);
        if (old != load) remove_unused(address);
    }
    ir_inst *address = simd_address(load);
    ir_remove(load);
    remove_unused(address);
}

/* ----------------------------------------------------------------------------------------- phis */

static ir_inst *find_phi(const ir_block *b, unsigned n) {
    ir_inst *phi = b->first;
    while (n--) phi = phi->next;
    return phi;
}

/* Phi n of the header counts, also where rounds are left out. */
static void place_counter(strips *t, unsigned n, const pass_counter *counter) {
    simd *s = t->s;
    ir_type type = counter->init->type;
    ir_before(&s->b, top_of(t)->last);
    ir_inst *from = t->from;
    if (type != IR_I64)
        from = ir_build1(&s->b, ir_bits(NULL, type) < 64 ? IR_OP_trunc : IR_OP_zext, type, from);
    from = ir_build2(&s->b, IR_OP_mul, type, from, ir_const(s->f, type, (uint64_t)counter->step));
    from = ir_build2(&s->b, IR_OP_add, type, from, counter->init);
    for (unsigned c = 0; c < t->u; c++) {
        uint64_t by = (uint64_t)ir_wrap_mul(counter->step, c);
        ir_inst *value = ir_build2(&s->b, IR_OP_add, type, from, ir_const(s->f, type, by));
        ir_replace_uses(find_phi(t->copy[c].header, n), value);
    }
}

static void join_copies(const strips *t) {
    for (unsigned c = 0; c < t->u; c++)
        foreach_phi (phi, t->copy[c].header) {
            if (phi->nargs > 1) continue;
            ir_replace_uses(phi, ir_arg(phi, 0));
            ir_remove(phi);
        }
    for (unsigned c = t->u - 1; c-- > 0 && !t->skips;) ir_merge_block(t->copy[c].latch);
}

/* ------------------------------------------------------------------------------- the new loops */

/* Strips for all rounds.  The last one begins where its rounds fit, and leaves out what has been
 * done: more branches in each, but no other loop. */
static void cut_with_skips(strips *t, ir_block *guard, ir_block *enter) {
    simd *s = t->s;
    ir_value_list first = {0};
    ir_vec(pass_counter) counters = {0};
    foreach_phi (phi, t->header) {
        pass_counter c;
        if (!pass_find_counter(s->uniformity->loops, phi, &c)) c.init = NULL;
        *ir_push(s->scratch, &counters) = c;
        *ir_push(s->scratch, &first) = ir_arg(phi, !t->back);
    }
    make_copies(t);
    make_heads(t, enter, &first);
    link_strip(t);
    count_strips(t, enter);
    find_place(t, enter);
    link_heads(t);
    link_other(t, guard, enter, &first);
    for (unsigned n = 0; n < counters.n; n++)
        if (counters.data[n].init) place_counter(t, n, &counters.data[n]);
}

/* Strips for all rounds that are known to fill them, or else a loop for the others after them. */
static void cut(strips *t, ir_block *guard, ir_block *enter) {
    make_copies(t);
    link_strip(t);
    link_rest(t, guard, enter);
    count_strips(t, enter);
}

/* Notes the branch around the loop if it has no rounds, which leads to `before`. */
static void find_empty(const strips *t, simd_strips *out) {
    ir_block *b = t->before;
    unsigned edge = 0;
    if (b->last->op != IR_OP_br) {
        if (b->npred != 1) return;
        edge = b->pred[0]->succ[1] == b;
        b = b->pred[0];
    } else {
        edge = b->succ[1] == t->guard->block;
    }
    const ir_inst *test = b->last->op == IR_OP_br ? ir_arg(b->last, 0) : NULL;
    if (!test || !t->limit || test->nargs != 2 || !simd_is_inside(t->s, b->last)) return;
    const ir_inst *x = ir_arg(test, 0), *y = ir_arg(test, 1), *init = t->counter.init;
    bool same = (x == init && y == t->limit) || (x == t->limit && y == init);
    bool less = test->op == t->order && x == init;
    bool differs = test->op == IR_OP_ne || test->op == IR_OP_eq;
    if (!same || (!less && !differs) || (edge == 1) != (test->op == IR_OP_eq)) return;
    out->empty = b->last;
    out->is_taken = edge == 0;
}

void strips_cut(strips *t) {
    simd *s = t->s;
    ir_inst *first[STRIPS_LOADS];
    simd_strips note = {0};
    ir_block *guard = ir_split_edge(t->before, t->before->succ[0] == t->header ? 0 : 1);
    ir_block *enter = ir_split_edge(guard, 0);
    ir_before(&s->b, enter->last);
    for (unsigned n = 0; n < t->nloads; n++) first[n] = first_of(t, simd_address(t->load[n]));
    t->exit = simd_close_loop(s, t->loop, t->latch);
    if (t->skips)
        cut_with_skips(t, guard, enter);
    else
        cut(t, guard, enter);
    for (unsigned n = 0; n < t->nloads; n++) gather_loads(t, n, first[n]);
    join_copies(t);
    note.guard = t->guard;
    note.first = top_of(t);
    note.rounds = t->u;
    if (t->is_outside) {
        note.test = t->enter;
        find_empty(t, &note);
    }
    *ir_push(s->code->memory, s->strips) = note;
    ir_count(s->f->module->cx, vectorize_strips, 1);
    ir_count(s->f->module->cx, vectorize_skips, t->skips);
}
