/* strips.c — inner loops that go along rows of the items.
 *
 *   for (k = 0; k < n; k++) sum += x[item * n + k];       lanes are a row apart, rounds an element
 *
 * A gather in each round would visit a line of memory for each lane, and each line many times.  The
 * loop is cut into strips of U rounds (strip mining; Allen and Kennedy 2001, 9.3):
 *
 *   if (n >= U, and no index wraps)
 *       for (j = 0; j < n; j += U)
 *           from = min(j, n - U)
 *           the loads of rounds `from` to from + U - 1, and then, in their order, those of these
 *           rounds that are not below j
 *   else for (k = 0; k < n; k++)  the loop as it was
 *
 * The U loads of an item are neighbours, so tiles.c makes rows and columns of them.  The order of
 * operations remains, and so does each bit of the result.  The last strip loads again what it does
 * not use, which is cheaper than other code for the rounds that are left.
 *
 * Code is small: runs have 16 bytes, so that 4 rows of 4 elements become columns within parts of
 * registers.  Where the condition is known before the loop over items, the vector loop has only
 * strips, and scalar code does all items if it does not hold.
 *
 * A loop that writes, too, has larger strips, which fill a register with the elements of a lane:
 * its lanes write neighbours, and lines are best written, and read, at once.  Where strips have
 * many rounds, as these, or those of bytes, the rounds that are left are a loop of their own:
 *
 *   full = n - n % U
 *   for (j = 0; j < full; j += U)  the loads of U rounds, and then these rounds in their order
 *   for (k = full; k < n; k++)     the rounds that are left
 *
 * All items execute all rounds: the loop has one exit, after its last block, and a number of rounds
 * that is known before it and the same for all items.  A load must be executed in each round, and
 * what the loop writes must be in other memory.  Its address is followed back to the phis of the
 * loop; where it extends an index of 32 bits, strips are entered only if the greatest index of all
 * items stays below the limit, which is computed in 64 bits.
 *
 * Before: shapes are known, and all is legal.  After: the scalar code has changed, and is to be
 * analysed again.  Strips are for the vector loop only.  Once that has been built, the branch to
 * them becomes constant in the scalar loop, which so has its old form (simd_remove_strips).
 */
#include "passes/analysis/alias.h"
#include "passes/vectorize/groups.h"
#include "passes/vectorize/strips.h"

enum {
    MAX_SIZE = 512, /* instructions of a strip */
    MAX_BLOCKS = 64,
    MAX_DEPTH = 10,
    MAX_SKIPPED = 8, /* rounds of a strip that branches may lead past */
    PART = 16        /* bytes, of a register */
};

/* ------------------------------------------------------------------------------------- the loop */

static bool is_in(const strips *t, const ir_block *b) { return simd_is_in(t->s, b, t->loop); }
static bool is_uniform(const strips *t, const ir_inst *v) {
    return simd_shape_of(t->s, v) == SIMD_UNIFORM;
}

/* One edge into the loop, one back, and one out, which are the edges of the latch. */
static bool has_form(strips *t) {
    unsigned exits = 0;
    t->header = t->loop->header;
    if (t->header->npred != 2 || t->loop->nblocks > MAX_BLOCKS) return false;
    t->back = is_in(t, t->header->pred[1]);
    t->latch = t->header->pred[t->back];
    t->before = t->header->pred[!t->back];
    for (uint32_t k = 0; k < t->loop->nblocks; k++) {
        const ir_block *b = t->loop->block[k];
        for (uint32_t n = 0; n < b->nsucc; n++) exits += !is_in(t, b->succ[n]);
    }
    const ir_block *l = t->latch;
    return is_in(t, l) && !is_in(t, t->before) && exits == 1 && l->last->op == IR_OP_br &&
           l->succ[0] == t->header && l->succ[1] != t->header;
}

/* The number of rounds is known, or that of a counter which goes up to a limit by 1. */
static bool has_rounds(strips *t) {
    const ir_loops *loops = t->s->uniformity->loops;
    const ir_inst *test = ir_arg(t->latch->last, 0);
    t->rounds = pass_count_passes(loops, t->loop, t->latch) + 1;
    if (t->rounds) return true;
    if (test->op != IR_OP_ult && test->op != IR_OP_slt && test->op != IR_OP_ne) return false;
    t->limit = ir_arg(test, 1);
    t->order = (ir_op)test->op;
    if (!strips_is_fixed(t, t->limit) || !is_uniform(t, t->limit)) return false;
    foreach_phi (phi, t->header)
        if (pass_find_counter(loops, phi, &t->counter) && t->counter.next == ir_arg(test, 0))
            return t->counter.step == 1 && is_uniform(t, t->counter.init);
    return false;
}

/* ------------------------------------------------------------------------------------ addresses */

static bool find_step(strips *t, const ir_inst *v, unsigned depth, int64_t *step);

/* Does x, a counter or one plus what is fixed, never wrap? */
static bool is_whole(const strips *t, const ir_inst *x, bool is_signed) {
    const ir_inst *counter = x;
    if (x->op == IR_OP_add) {
        if (!(x->flags & (is_signed ? IR_NSW : IR_NUW))) return false;
        counter = ir_arg(x, strips_is_fixed(t, ir_arg(x, 0)));
        if (!strips_is_fixed(t, ir_arg(x, 0)) && !strips_is_fixed(t, ir_arg(x, 1))) return false;
    }
    return counter->op == IR_OP_phi &&
           pass_counts_whole(t->s->uniformity->loops, counter, is_signed);
}

/* An extension of what does not wrap, or only if a test before the loop fails. */
static bool find_extended(strips *t, const ir_inst *i, unsigned depth, int64_t *step) {
    const ir_inst *x = ir_arg(i, 0);
    bool is_signed = i->op == IR_OP_sext;
    if (!find_step(t, x, depth, step)) return false;
    if (!*step || is_whole(t, x, is_signed)) return true;
    if (*step < 0 || t->ntests == STRIPS_TESTS) return false;
    for (unsigned n = 0; n < t->ntests; n++)
        if (t->test[n].index == x && t->test[n].is_signed == is_signed) return true;
    t->test[t->ntests++] = (strips_test){x, is_signed};
    return true;
}

/* By how much v, modulo its width, grows from round to round. */
static bool find_step(strips *t, const ir_inst *v, unsigned depth, int64_t *step) {
    int64_t other;
    pass_counter c;
    *step = 0;
    if (strips_is_fixed(t, v)) return true;
    if (depth == MAX_DEPTH || ir_is_vector(v->type)) return false;
    switch (v->op) {
    case IR_OP_phi:
        if (!pass_find_counter(t->s->uniformity->loops, v, &c) || c.loop != t->loop) return false;
        *step = c.step;
        return true;
    case IR_OP_add:
    case IR_OP_sub:
    case IR_OP_ptradd:
        if (!find_step(t, ir_arg(v, 0), depth + 1, step)) return false;
        if (!find_step(t, ir_arg(v, 1), depth + 1, &other)) return false;
        *step = ir_wrap_add(*step, v->op == IR_OP_sub ? ir_wrap_mul(other, -1) : other);
        return true;
    case IR_OP_mul:
    case IR_OP_shl:
        if (!find_step(t, ir_arg(v, 0), depth + 1, step)) return false;
        if (!ir_is_const(ir_arg(v, 1))) return false;
        other = ir_signed_const(ir_arg(v, 1));
        if (v->op == IR_OP_shl) other = other >= 0 && other < 63 ? INT64_C(1) << other : 0;
        *step = ir_wrap_mul(*step, other);
        return true;
    case IR_OP_ptrcast: return find_step(t, ir_arg(v, 0), depth + 1, step);
    case IR_OP_sext:
    case IR_OP_zext: return find_extended(t, v, depth + 1, step);
    default: return false;
    }
}

/* ---------------------------------------------------------------------------------------- loads */

static bool may_overwrite(const strips *t, const pass_alias *a, const ir_inst *load) {
    const ir_inst *p = simd_address(load), *object = pass_object_of(a, p);
    for (uint32_t k = 0; k < t->loop->nblocks; k++)
        foreach_inst (w, t->loop->block[k]) {
            if (!pass_writes(w)) continue;
            if (w->op != IR_OP_store || pass_object_of(a, simd_address(w)) == object) return true;
            if (pass_may_write(a, w, p, ir_access_size(t->s->f->module, load->type))) return true;
        }
    return false;
}

static bool writes(const strips *t) {
    for (uint32_t k = 0; k < t->loop->nblocks; k++)
        foreach_inst (w, t->loop->block[k])
            if (pass_writes(w)) return true;
    return false;
}

/* A load of all rounds whose lanes are apart, and whose rounds are not. */
static bool is_candidate(strips *t, const ir_inst *i, int64_t *step) {
    simd *s = t->s;
    const ir_inst *p = i->op == IR_OP_load ? ir_arg(i, 0) : NULL;
    if (!p || t->nloads == STRIPS_LOADS || ir_is_vector(i->type)) return false;
    if (!simd_has_far_lanes(s, i) || !ir_block_dominates(s->code->dom, i->block, t->latch))
        return false;
    unsigned before = t->ntests;
    int64_t bytes = (int64_t)ir_sizeof(s->f->module, i->type);
    bool ok = find_step(t, p, 0, step) && *step > 0 && *step % bytes == 0 &&
              *step / bytes <= STRIPS_ROUNDS / 2;
    if (!ok) t->ntests = before;
    return ok;
}

static bool find_loads(strips *t) {
    int64_t step, longest = 0, bytes = 0;
    for (uint32_t k = 0; k < t->loop->nblocks; k++)
        foreach_inst (i, t->loop->block[k]) {
            if (!is_candidate(t, i, &step)) continue;
            if (may_overwrite(t, simd_find_aliases(t->s), i)) continue;
            t->load[t->nloads] = i;
            t->step[t->nloads++] = step;
            if (step > longest) longest = step;
            bytes += (int64_t)ir_sizeof(t->s->f->module, i->type);
        }
    return t->nloads && longest <= bytes; /* rounds leave out little */
}

/* The elements of a lane in a strip.  Where lines are written, they are filled at once by registers
 * of what is read.  Otherwise runs are the smallest ones that are not moved across parts. */
static unsigned room_for(const strips *t, unsigned bytes, unsigned step) {
    unsigned limit = simd_tile_limit(t->s, bytes) * bytes, room = 2 * step > PART ? 2 * step : PART;
    return t->writes || room > limit ? limit : room;
}

/* As many rounds as a strip has room for. */
static bool choose_rounds(strips *t) {
    unsigned size = 0, least = STRIPS_ROUNDS;
    for (uint32_t k = 0; k < t->loop->nblocks; k++)
        foreach_inst (i, t->loop->block[k]) size++;
    for (unsigned n = 0; n < t->nloads; n++) {
        unsigned bytes = (unsigned)ir_sizeof(t->s->f->module, t->load[n]->type);
        unsigned step = (unsigned)t->step[n], rounds = room_for(t, bytes, step) / step;
        if (rounds < least) least = rounds;
    }
    for (t->u = least; t->u > 1 && (t->u & (t->u - 1) || t->u * size > MAX_SIZE);) t->u--;
    while (t->u > 1 && t->u * t->loop->nblocks > MAX_BLOCKS) t->u /= 2;
    t->leaves = t->writes || t->u > MAX_SKIPPED;
    t->skips = !t->leaves && (!t->rounds || t->rounds % t->u);
    return t->u > 1 && (!t->rounds || t->rounds >= t->u);
}

/* ----------------------------------------------------------------------------- how many rounds */

/* Is v known where the rounds are counted? */
static bool is_there(const strips *t, const ir_inst *v) {
    return !t->is_outside || !simd_is_inside(t->s, v);
}

/* Is x a number without sign of so many bits, if an item is there? */
static bool is_short(const ir_inst *x, unsigned bits) {
    if (x->op == IR_OP_sub && ir_is_const(ir_arg(x, 1)) && ir_arg(x, 1)->imm.bits == 1)
        x = ir_arg(x, 0);
    return bits == 64 || (x->op == IR_OP_zext && ir_bits(NULL, ir_arg(x, 0)->type) <= bits);
}

static ir_inst *greatest(strips *t, ir_inst *v, unsigned depth);

/* The number of the last item, if v is that of an item in the launch and a guard compares it: the
 * end of the loop is the guard's less v's beginning, or earlier.  Otherwise NULL. */
static ir_inst *find_last(strips *t, const ir_inst *v) {
    const ir_inst *end = t->s->scalar.end, *counter = t->s->scalar.counter;
    bool second = ir_arg(v, 1) == counter;
    if (!second && ir_arg(v, 0) != counter) return NULL;
    if (end->op == IR_OP_umin && ir_is_const(ir_arg(end, 1))) end = ir_arg(end, 0);
    if (end->op != IR_OP_usubsat || ir_arg(end, 1) != ir_arg(v, !second)) return NULL;
    ir_inst *guard = ir_arg(end, 0);
    if (!is_there(t, guard)) return NULL;
    return ir_build2(&t->s->b, IR_OP_sub, v->type, guard, ir_const(t->s->f, v->type, 1));
}

/* Like `greatest`; it may be more than v can be. */
static ir_inst *find_greatest(strips *t, ir_inst *v, unsigned depth) {
    simd *s = t->s;
    ir_builder *b = &s->b;
    if (strips_is_fixed(t, v) && is_uniform(t, v) && is_there(t, v)) {
        bool small = ir_is_const(v) && v->imm.bits >> (ir_bits(NULL, v->type) - 1);
        if (small) return NULL; /* a difference */
        return v->type == IR_I64 ? v : ir_build1(b, IR_OP_zext, IR_I64, v);
    }
    if (v == s->scalar.counter)
        return ir_build2(b, IR_OP_sub, v->type, s->scalar.end, ir_const(s->f, v->type, 1));
    if (v->op == IR_OP_phi && v->block == t->header)
        return depth == MAX_DEPTH ? NULL : greatest(t, ir_arg(v, !t->back), depth + 1);
    bool wide = ir_bits(NULL, v->type) > 32, is_sum = v->op == IR_OP_add;
    bool known = v->op == IR_OP_zext || v->op == IR_OP_trunc || is_sum ||
                 (!wide && (v->op == IR_OP_mul || v->op == IR_OP_shl));
    if (!known || depth == MAX_DEPTH) return NULL;
    ir_inst *last = is_sum && wide ? find_last(t, v) : NULL;
    if (last) return last;
    ir_inst *x = greatest(t, ir_arg(v, 0), depth + 1);
    ir_inst *y = v->nargs == 2 ? greatest(t, ir_arg(v, 1), depth + 1) : NULL;
    if (!x || (v->nargs == 2 && !y) || (v->op == IR_OP_shl && !ir_is_const(y))) return NULL;
    return y ? ir_build2(b, is_sum ? IR_OP_uaddsat : (ir_op)v->op, IR_I64, x, y) : x;
}

/* The greatest value that v, an integer, has for any item in the first round, as a number without
 * sign of 64 bits at the builder's place; NULL: that is not known. */
static ir_inst *greatest(strips *t, ir_inst *v, unsigned depth) {
    ir_inst *x = find_greatest(t, v, depth);
    unsigned bits = ir_bits(NULL, v->type);
    if (!x || is_short(x, bits)) return x;
    ir_inst *most = ir_const(t->s->f, IR_I64, ir_zext(UINT64_MAX, bits));
    return ir_build2(&t->s->b, IR_OP_umin, IR_I64, x, most);
}

/* The rounds of the loop; 0: there are more than numbers, or one although the limit is passed;
 * NULL: that is not known yet. */
static ir_inst *count_rounds(strips *t) {
    simd *s = t->s;
    ir_builder *b = &s->b;
    if (!t->limit) return ir_const(s->f, IR_I64, (uint64_t)t->rounds);
    ir_inst *init = t->counter.init;
    if (!is_there(t, t->limit) || !is_there(t, init)) return NULL;
    ir_inst *n = ir_build2(b, IR_OP_sub, init->type, t->limit, init);
    if (t->order != IR_OP_ne) {
        ir_inst *some = ir_build2(b, t->order, IR_I1, init, t->limit);
        n = ir_build_select(b, some, n, ir_const(s->f, n->type, 0));
    }
    return n->type == IR_I64 ? n : ir_build1(b, IR_OP_zext, IR_I64, n);
}

/* What is added to a counter that begins at 0, if v is such a sum; otherwise v. */
static ir_inst *find_row(const strips *t, ir_inst *v) {
    for (unsigned n = 0; n < 2 && v->op == IR_OP_add; n++) {
        const ir_inst *phi = ir_arg(v, n);
        bool counts = phi->op == IR_OP_phi && phi->block == t->header;
        if (counts && ir_is_const(ir_arg(phi, !t->back)) && !ir_arg(phi, !t->back)->imm.bits)
            return ir_arg(v, !n);
    }
    return v;
}

/* Is no index of the loop above its limit?  NULL: that cannot be told. */
static ir_inst *build_test(strips *t, const strips_test *w) {
    simd *s = t->s;
    ir_builder *b = &s->b;
    ir_inst *index = (ir_inst *)w->index, *row = find_row(t, index);
    ir_inst *most = find_greatest(t, row, 0);
    int64_t step;
    if (!most || !find_step(t, index, 0, &step)) return NULL;
    unsigned bits = ir_bits(NULL, index->type) - w->is_signed;
    if (step == 1 && row->op == IR_OP_mul && is_short(t->all, 32)) {
        /* products of numbers of 32 bits leave room for a number of rounds */
        ir_inst *end = ir_build2(b, IR_OP_add, IR_I64, most, t->all);
        end = ir_build2(b, IR_OP_sub, IR_I64, end, ir_const(s->f, IR_I64, 1));
        ir_inst *high = ir_build2(b, IR_OP_lshr, IR_I64, end, ir_const(s->f, IR_I64, bits));
        return ir_build2(b, IR_OP_eq, IR_I1, high, ir_const(s->f, IR_I64, 0));
    }
    ir_inst *end = ir_const(s->f, IR_I64, UINT64_C(1) << bits);
    ir_inst *room = ir_build2(b, IR_OP_usubsat, IR_I64, end, most);
    ir_inst *by = ir_const(s->f, IR_I64, (uint64_t)step);
    ir_inst *rounds = step == 1 ? room : ir_build2(b, IR_OP_udiv, IR_I64, room, by);
    return ir_build2(b, IR_OP_ule, IR_I1, t->all, rounds);
}

/* Builds what is known before the loop, at the end of a block.  False: that cannot be told. */
static bool build_counts(strips *t, const ir_block *at) {
    simd *s = t->s;
    ir_before(&s->b, at->last);
    ir_inst *u = ir_const(s->f, IR_I64, t->u), *none = ir_const(s->f, IR_I64, 0);
    t->full = t->all = count_rounds(t);
    if (!t->all) return false;
    if (t->leaves)
        t->full = ir_build2(&s->b, IR_OP_and, IR_I64, t->all,
                            ir_const(s->f, IR_I64, ~(uint64_t)(t->u - 1)));
    t->enter = t->leaves ? ir_build2(&s->b, IR_OP_ne, IR_I1, t->full, none)
                         : ir_build2(&s->b, IR_OP_ule, IR_I1, u, t->all);
    for (unsigned n = 0; n < t->ntests; n++) {
        ir_inst *fits = build_test(t, &t->test[n]);
        if (!fits) return false;
        t->enter = ir_build2(&s->b, IR_OP_and, IR_I1, t->enter, fits);
    }
    return true;
}

/* Where that is possible, and strips do all rounds, before the loop over items. */
static bool count_before(strips *t) {
    const simd_loop *l = &t->s->scalar;
    t->is_outside = !t->leaves;
    if (t->is_outside && build_counts(t, l->loop->header->pred[l->entry])) return true;
    t->is_outside = false;
    return build_counts(t, t->before);
}

/* ------------------------------------------------------------------------------------ the pass */

static bool is_loop_of_strips(const simd *s, const simd_node *n) {
    if (n->kind != SIMD_LATCH || n->loop->child || simd_diverges(s, n->loop)) return false;
    return n->loop != s->scalar.loop && n->block->id < s->nsplit && !s->has_strips[n->block->id];
}

/* Which loops are cut is known before the first one is, since that changes the code.  True: there
 * is new code, also where the indices of a loop turned out not to be known. */
bool simd_cut_strips(simd *s) {
    ir_vec(strips) list = {0};
    bool changed = false;
    ir_builder_init(&s->b, s->f);
    for (uint32_t k = 0; k < s->n; k++) {
        const simd_node *n = &s->node[k];
        strips t = {.s = s, .loop = n->loop};
        if (!is_loop_of_strips(s, n)) continue;
        s->has_strips[n->block->id] = true;
        if (!has_form(&t) || !has_rounds(&t) || !find_loads(&t)) continue;
        t.writes = writes(&t);
        if (!choose_rounds(&t)) continue;
        changed = true;
        if (count_before(&t)) *ir_push(s->scratch, &list) = t;
    }
    foreach_in (strips, t, list) strips_cut(t);
    return changed;
}

void simd_enter_strips(simd *s) {
    foreach_in (const simd_strips, t, *s->strips)
        if (!t->test) return;
    ir_before(&s->b, s->scalar.loop->header->pred[s->scalar.entry]->last);
    foreach_in (simd_strips, t, *s->strips) {
        s->enter = s->enter ? ir_build2(&s->b, IR_OP_and, IR_I1, s->enter, t->test) : t->test;
        ir_set_arg(t->guard, 0, ir_const(s->f, IR_I1, 1));
        if (!t->empty) continue;
        t->condition = ir_arg(t->empty, 0);
        ir_set_arg(t->empty, 0, ir_const(s->f, IR_I1, t->is_taken));
    }
    ir_count(s->f->module->cx, vectorize_entered, s->enter != NULL);
}

void simd_remove_strips(simd *s) {
    foreach_in (simd_strips, t, *s->strips) {
        ir_set_arg(t->guard, 0, ir_const(s->f, IR_I1, 0));
        if (t->condition) ir_set_arg(t->empty, 0, t->condition);
    }
    s->strips->n = 0;
}
