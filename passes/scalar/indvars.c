/* indvars.c — fewer and wider loop counters.
 *
 * Merging: two counters of a loop that have one type and constant starts are merged if one of them
 * steps by the other's step, or by a power of two times it.  That one becomes a sum or shift of the
 * other.  Equal counters become one.
 *
 * Extension: a counter whose uses are all extensions to one type, and comparisons with
 * loop-invariant values, counts in that type, which saves an extension in each iteration.
 * Extension and step must commute: nothing wraps, because of a flag (nsw for sext, nuw for zext)
 * or because the number of iterations proves it.  A counter that is never negative is extended by
 * sext, which then equals zext.  What the counter is compared with is extended before the loop.
 *
 * A no-wrap flag is about values that are used.  A counter that gains uses keeps it only if a test
 * uses the counter in every iteration anyway.
 *
 * Counters without other uses are removed by dce.  A target with short ids computes with 32 bits
 * twice as fast, so counters are not extended for it.
 */
#include "passes/analysis/analysis.h"

enum { MAX_COUNTERS = 16 };

typedef struct {
    pass_counter c;
    ir_inst *phi;
    bool gone; /* replaced by another one */
} variable;

typedef struct {
    ir_func *f;
    const ir_loops *loops;
    const ir_loop *loop;
    ir_builder b;
    variable var[MAX_COUNTERS];
    unsigned n;
    bool changed;
} rewriter;

static bool is_of_loop(const rewriter *r, const ir_inst *v) {
    return v->block && ir_in_loop(r->loops, v->block, r->loop);
}

/* -------------------------------------------------------------------------------------- merging */

/* Does a test use each value of the counter, in the iteration in which it has it? */
static bool is_tested_by(const ir_block *b, const ir_inst *x) {
    const ir_inst *test = b->last->op == IR_OP_br ? ir_arg(b->last, 0) : NULL;
    if (!test || ir_info(test)->rule != R_CMPI) return false;
    return ir_arg(test, 0) == x || ir_arg(test, 1) == x;
}

static bool is_tested(const rewriter *r, const variable *v) {
    const ir_block *h = r->loop->header;
    return is_tested_by(h, v->phi) || is_tested_by(h, v->c.next) ||
           is_tested_by(v->c.latch, v->c.next);
}

/* Counters that a test uses come first: these are kept. */
static void find_variables(rewriter *r) {
    unsigned tested = 0;
    r->n = 0;
    foreach_phi (phi, r->loop->header) {
        variable v = {.phi = phi};
        if (r->n == MAX_COUNTERS || !pass_find_counter(r->loops, phi, &v.c)) continue;
        r->var[r->n++] = v;
        if (!is_tested(r, &v)) continue;
        r->var[r->n - 1] = r->var[tested];
        r->var[tested++] = v;
    }
}

/* v = (by << shift) + offset in every iteration? */
static bool find_relation(const variable *v, const variable *by, unsigned *shift,
                          uint64_t *offset) {
    unsigned bits = ir_bits(NULL, v->phi->type);
    if (v->phi->type != by->phi->type || v->c.step == 0) return false;
    *shift = 0;
    while (*shift < bits &&
           ir_zext((uint64_t)by->c.step << *shift, bits) != ir_zext((uint64_t)v->c.step, bits))
        ++*shift;
    *offset = 0;
    if (*shift == bits) return false;
    if (v->c.init == by->c.init && *shift == 0) return true;
    if (!ir_is_const(v->c.init) || !ir_is_const(by->c.init)) return false;
    *offset = ir_zext(v->c.init->imm.bits - (by->c.init->imm.bits << *shift), bits);
    return *shift == 0 || *offset == 0;
}

/* Expresses v by another counter, if they are related. */
static void merge_counter(rewriter *r, variable *v, const variable *by) {
    unsigned shift;
    uint64_t offset;
    if (v->gone || by->gone || !find_relation(v, by, &shift, &offset)) return;
    if ((shift || offset) && is_tested(r, v)) return;
    ir_type t = v->phi->type;
    ir_inst *x = by->phi;
    bool equal = v->c.init == by->c.init && v->c.step == by->c.step;
    if (!is_tested(r, by)) by->c.next->flags &= equal ? v->c.next->flags : 0;
    ir_before(&r->b, ir_first_non_phi(r->loop->header));
    if (shift) x = ir_build2(&r->b, IR_OP_shl, t, x, ir_const(r->f, t, shift));
    if (offset) x = ir_build2(&r->b, IR_OP_add, t, x, ir_const(r->f, t, offset));
    ir_replace_uses(v->phi, x);
    ir_remove(v->phi);
    if (!v->c.next->uses) ir_remove(v->c.next);
    ir_count(r->f->module->cx, indvars_merged, 1);
    v->gone = r->changed = true;
}

/* ------------------------------------------------------------------------------------ extension */

/* How a counter may be extended. */
typedef struct {
    variable *v;
    ir_op op; /* IR_OP_sext or IR_OP_zext */
    ir_type type;
    bool counted; /* the number of iterations keeps it in range */
    bool either;  /* sext and zext are the same */
    ir_inst *phi, *next;
} extension;

static bool is_extension(const ir_inst *i) { return i->op == IR_OP_sext || i->op == IR_OP_zext; }

/* The first extension among the uses, which all others must agree with. */
static const ir_inst *find_extension(const variable *v) {
    const ir_inst *const of[] = {v->phi, v->c.next};
    for (unsigned k = 0; k < 2; k++)
        for (const ir_use *u = of[k]->uses; u; u = u->next)
            if (is_extension(u->user)) return u->user;
    return NULL;
}

/* Are all values of the counter and its next value in the range of its type? */
static bool is_counted(const rewriter *r, const extension *e) {
    const pass_counter *c = &e->v->c;
    int64_t passes_latch = pass_count_passes(r->loops, r->loop, c->latch);
    int64_t passes_header = pass_count_passes(r->loops, r->loop, r->loop->header);
    int64_t n = passes_latch >= 0 ? passes_latch : passes_header;
    unsigned bits = ir_bits(NULL, e->v->phi->type);
    if (n < 0 || !ir_is_const(c->init)) return false;
    bool is_signed = e->op == IR_OP_sext;
    ir_i128 first = is_signed ? (ir_i128)ir_signed_const(c->init) : (ir_i128)c->init->imm.bits;
    ir_i128 last = first + ((ir_i128)n + 1) * c->step;
    ir_i128 low = is_signed ? -((ir_i128)1 << (bits - 1)) : 0;
    ir_i128 high = low + ((ir_i128)1 << bits) - 1;
    return last >= low && last <= high;
}

/* It counts upwards from 0 or more, and does not wrap. */
static bool is_never_negative(const variable *v) {
    bool from = ir_is_const(v->c.init) && ir_signed_const(v->c.init) >= 0;
    return from && v->c.step >= 0 && v->c.next->flags & IR_NSW;
}

/* Can the use take the wide counter?  Sign extension keeps the order of unsigned numbers, too. */
static bool is_served(const rewriter *r, const extension *e, const ir_use *u) {
    const ir_inst *i = u->user;
    if (i == e->v->phi || i == e->v->c.next) return true;
    if (is_extension(i)) return (i->op == e->op || e->either) && i->type == e->type;
    if (!i->uses && ir_is_dead_safe(i)) return true;
    bool is_signed = i->op == IR_OP_slt || i->op == IR_OP_sle;
    if (ir_info(i)->rule != R_CMPI || (is_signed && e->op != IR_OP_sext)) return false;
    return is_of_loop(r, i) && !is_of_loop(r, ir_arg(i, u == &i->arg[0]));
}

static bool is_all_served(const rewriter *r, const extension *e) {
    const ir_inst *const of[] = {e->v->phi, e->v->c.next};
    for (unsigned k = 0; k < 2; k++)
        for (const ir_use *u = of[k]->uses; u; u = u->next)
            if (!is_served(r, e, u)) return false;
    return true;
}

/* v, which is loop-invariant, extended before the loop. */
static ir_inst *extend_invariant(rewriter *r, const extension *e, ir_inst *v) {
    const ir_block *h = r->loop->header;
    ir_before(&r->b, h->pred[h->pred[0] == e->v->c.latch]->last);
    return ir_build1(&r->b, e->op, e->type, v);
}

static void build_wide(rewriter *r, extension *e) {
    const pass_counter *c = &e->v->c;
    ir_block *h = r->loop->header;
    bool as_unsigned = e->op == IR_OP_zext && !e->counted;
    unsigned bits = ir_bits(NULL, e->v->phi->type);
    uint64_t step = as_unsigned ? ir_zext((uint64_t)c->step, bits) : (uint64_t)c->step;
    ir_inst *init = extend_invariant(r, e, c->init), *by = ir_const(r->f, e->type, step);
    e->phi = ir_inst_new(r->f, IR_OP_phi, e->type, 2);
    ir_before(&r->b, c->next);
    r->b.loc = c->next->loc;
    e->next = ir_build_raw(&r->b, IR_OP_add, e->type, ir_with_flags(as_unsigned ? IR_NUW : IR_NSW),
                           IR_ARGS(e->phi, by));
    for (unsigned p = 0; p < 2; p++) ir_set_arg(e->phi, p, h->pred[p] == c->latch ? e->next : init);
    ir_insert(e->phi, h, h->first);
}

/* Extensions become the wide counter, and tests compare it. */
static void serve_uses(rewriter *r, const extension *e, ir_inst *narrow, ir_inst *wide) {
    foreach_use (u, narrow) {
        ir_inst *i = u->user;
        if (is_extension(i)) {
            ir_replace_uses(i, wide);
            ir_remove(i);
        } else if (ir_info(i)->rule == R_CMPI) {
            unsigned n = (unsigned)(u - i->arg);
            ir_set_arg(i, !n, extend_invariant(r, e, ir_arg(i, !n)));
            ir_set_arg(i, n, wide);
        }
    }
}

static void extend_counter(rewriter *r, variable *v) {
    const ir_inst *first = find_extension(v);
    if (!first) return;
    extension e = {.v = v, .op = (ir_op)first->op, .type = first->type};
    e.either = is_never_negative(v);
    if (e.either) e.op = IR_OP_sext;
    e.counted = is_counted(r, &e);
    bool wraps = !(v->c.next->flags & (e.op == IR_OP_sext ? IR_NSW : IR_NUW));
    if ((wraps && !e.counted) || !is_all_served(r, &e)) return;
    build_wide(r, &e);
    serve_uses(r, &e, v->phi, e.phi);
    serve_uses(r, &e, v->c.next, e.next);
    ir_count(r->f->module->cx, indvars_extended, 1);
    r->changed = true;
}

/* ---------------------------------------------------------------------------------------- entry */

/* Does:  expresses loop counters by others whose steps fit; extends those that are extended and
 *        compared only.
 * Needs: counters as phis (mem2reg), steps in one form (simplify).
 * Leaves: counters that only feed themselves, for dce; extensions in front of loops.
 * Gives up: on loops that several edges enter or that have several back edges; on starts that are
 *        not constant, for merging; on uses that need the narrow value, for extending. */
bool pass_indvars(ir_func *f, pass_ctx *cx) {
    bool extends = !cx->target || !cx->target->has_short_ids;
    rewriter r = {.f = f, .loops = ir_loop_tree(f)};
    ir_builder_init(&r.b, f);
    foreach_block (b, f) {
        const ir_loop *loop = r.loops->n ? r.loops->of[b->id] : NULL;
        if (!loop || loop->header != b) continue;
        r.loop = loop;
        find_variables(&r);
        for (unsigned k = 0; k < r.n && extends; k++) extend_counter(&r, &r.var[k]);
        find_variables(&r);
        for (unsigned k = 0; k < r.n; k++)
            for (unsigned n = 0; n < r.n; n++)
                if (n != k) merge_counter(&r, &r.var[n], &r.var[k]);
    }
    return r.changed;
}
