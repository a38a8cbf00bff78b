/* strips_copies.c — the copies of a loop that is cut into strips (strips.c):
 *
 *   guard -> enter -> round 0 … round U - 1 -> after -> exit
 *     |               ^                 |        |       ^
 *     |               +-----------------+        v       |
 *     +---------------------------------------> join -> the rounds that are left
 *
 * Round 0 is the loop itself.  The loads of all rounds of a strip are done where that of round 0
 * is, at constant distances from an address that steps from strip to strip.
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

/* The copies of a strip follow each other, and the last one leads back to the first. */
static void link_strip(strips *t) {
    for (unsigned c = 0; c < t->u; c++) {
        ir_block *latch = t->copy[c].latch, *to = t->copy[(c + 1) % t->u].header;
        if (c + 1 < t->u) ir_make_jmp(latch, 0);
        ir_redirect_edge(latch, 0, to);
        append_args(to, &t->copy[c].next);
    }
}

/* after the strips -> are there more rounds? -> the loop for these, which `guard` leads to, too */
static void link_rest(strips *t, ir_block *guard, ir_block *enter) {
    simd *s = t->s;
    const strips_copy *last = &t->copy[t->u - 1], *rest = &t->copy[t->u];
    ir_block *after = ir_split_edge(last->latch, 1), *join = ir_block_new(s->f, NULL);
    ir_value_list out = {0}, phis = {0};
    unsigned edge = ir_pred_index(t->exit, after), first = ir_pred_index(t->header, enter);
    foreach_phi (phi, t->exit) *ir_push(s->scratch, &out) = ir_arg(phi, edge);
    ir_before(&s->b, guard->last);
    ir_inst *any = ir_build2(&s->b, IR_OP_ne, IR_I1, t->full, ir_const(s->f, IR_I64, 0));
    replace_jump(t, guard, any, enter, join);
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

/* A counter of the rounds of strips. */
static void count_strips(strips *t, ir_block *enter) {
    simd *s = t->s;
    ir_block *latch = t->copy[t->u - 1].latch;
    ir_inst *old = ir_arg(latch->last, 0);
    t->j = ir_build_phi(t->header, IR_I64);
    ir_before(&s->b, latch->last);
    ir_inst *next = ir_build_raw(&s->b, IR_OP_add, IR_I64, ir_with_flags(IR_NSW | IR_NUW),
                                 IR_ARGS(t->j, ir_const(s->f, IR_I64, t->u)));
    ir_set_arg(latch->last, 0, ir_build2(&s->b, IR_OP_ult, IR_I1, next, t->full));
    bool is_first = t->header->pred[0] == enter;
    t->j = ir_append_arg(t->j, is_first ? ir_const(s->f, IR_I64, 0) : next);
    t->j = ir_append_arg(t->j, is_first ? next : ir_const(s->f, IR_I64, 0));
    remove_unused(old);
}

/* The loads of all rounds of a strip, where that of the first one is. */
static void gather_loads(strips *t, unsigned n, ir_inst *first) {
    simd *s = t->s;
    ir_inst *load = t->load[n];
    ir_before(&s->b, load);
    s->b.loc = load->loc;
    ir_inst *by = ir_const(s->f, IR_I64, (uint64_t)t->step[n]);
    ir_inst *row =
        ir_build_ptradd(&s->b, first, ir_build2(&s->b, IR_OP_mul, IR_I64, t->j, by), false);
    for (unsigned c = 0; c < t->u; c++) {
        ir_inst *old = t->copy[c].load[n], *address = simd_address(old);
        ir_inst *p = simd_step(s, row, t->step[n] * c);
        ir_before(&s->b, load);
        ir_replace_uses(old,
                        ir_build_raw(&s->b, IR_OP_load, old->type, ir_attrs_of(old), IR_ARGS(p)));
        if (old != load) ir_remove(old);
        if (old != load) remove_unused(address);
    }
    ir_inst *address = simd_address(load);
    ir_remove(load);
    remove_unused(address);
}

static void join_copies(const strips *t) {
    for (unsigned c = 1; c < t->u; c++)
        foreach_phi (phi, t->copy[c].header) {
            ir_replace_uses(phi, ir_arg(phi, 0));
            ir_remove(phi);
        }
    for (unsigned c = t->u - 1; c-- > 0;) ir_merge_block(t->copy[c].latch);
}

void strips_cut(strips *t) {
    simd *s = t->s;
    ir_inst *first[STRIPS_LOADS];
    ir_block *guard = ir_split_edge(t->before, t->before->succ[0] == t->header ? 0 : 1);
    ir_block *enter = ir_split_edge(guard, 0);
    ir_before(&s->b, enter->last);
    for (unsigned n = 0; n < t->nloads; n++) first[n] = first_of(t, simd_address(t->load[n]));
    t->exit = simd_close_loop(s, t->loop, t->latch);
    make_copies(t);
    link_strip(t);
    link_rest(t, guard, enter);
    count_strips(t, enter);
    for (unsigned n = 0; n < t->nloads; n++) gather_loads(t, n, first[n]);
    join_copies(t);
    *ir_push(s->code->memory, s->strips) = t->guard;
    ir_count(s->f->module->cx, vectorize_strips, 1);
}
