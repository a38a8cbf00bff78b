/* select_merge.c — masks go into the instructions whose results they choose (AVX-512).
 *
 * Selection makes two instructions of a choice between lanes: one that computes, and one that
 * blends.  Nearly every instruction of AVX-512 takes a mask itself, so where nothing else uses what
 * is computed, it is computed under the mask in the place of the blend: the other lanes become 0,
 * or are those of the other operand, whose register the result takes.  That pays only where the
 * operand ends with the choice; a copy of it would cost what the blend does.  In the same way, a
 * comparison is made under the mask that it is joined with.
 *
 * If the mask is a comparison with no other user, it may be turned around, so that the second
 * operand of the choice is computed under it.
 *
 * Before and after: machine instructions (mach.h).  A bit of the mask must be for as many bytes as
 * a lane of the choice (x86_form.lane).  An instruction is moved down only within its block, and
 * what reads memory not past a write.
 */
#include "codegen/x86_64/select.h"
#include "ir/flow.h"

enum { MOST_USES = 8, WINDOW = 40 }; /* that are looked at, so that time is linear */

typedef struct {
    ir_builder b;
    const x86_cpu *cpu;
    const ir_loops *loops;
} merging;

/* ----------------------------------------------------------------------------- what takes masks */

/* The row that does what x does under a mask for lanes of a t; X86_ROWS: there is none. */
static x86_row masked_row(const merging *m, const ir_inst *x, ir_type t) {
    const x86_form *f = &x86_forms[x86_row_of(x)];
    unsigned row = f->encoding == X86_EVEX ? (unsigned)x86_row_of(x) : f->upper;
    if (x86_row_of(x) == x86_vector_load(m->cpu, x86_bytes_of(t)) && x86_bytes_of(t) >= 16)
        return x86_masked_load(t);
    if (row == X86_ROWS || x86_forms[row].lane != x86_lane_bytes(t)) return X86_ROWS;
    unsigned flags = x86_forms[row].flags;
    bool all = ir_lanes(t) == 1 || !(flags & X86_ONE_LANE);
    return all && flags & X86_MASKED ? (x86_row)row : X86_ROWS;
}

/* Would x, which is before i, give the same at i? */
static bool may_move(const merging *m, const ir_inst *x, const ir_inst *i) {
    if (!x86_has_effect(&m->cpu->base, x)) return true;
    unsigned n = 0;
    for (x = x->next; x != i; x = x->next)
        if (n++ == WINDOW || x86_writes_memory(x)) return false;
    return true;
}

/* Is x a constant that can be had before the loop that it is in? */
static bool is_invariant(const merging *m, const ir_inst *x) {
    return m->loops->of[x->block->id] && m->cpu->base.may_repeat(&m->cpu->base, x);
}

/* Is x computed for i alone, and may it be computed there? */
static bool is_for(const merging *m, const ir_inst *x, const ir_inst *i) {
    bool plain = x->op == IR_OP_mach && x86_kind_of(x) == MACH_PLAIN && x->block == i->block;
    return plain && !x->uses->next && !is_invariant(m, x) && may_move(m, x, i);
}

/* Is i the last use of x, a value of the same loop? */
static bool ends_at(const merging *m, const ir_inst *x, const ir_inst *i) {
    unsigned n = 0;
    if (!x->block || m->loops->of[x->block->id] != m->loops->of[i->block->id]) return false;
    foreach_use (u, x) {
        const ir_inst *user = u->user;
        if (n++ == MOST_USES || user->op == IR_OP_phi || user->block != i->block) return false;
        if (user->mark > i->mark) return false;
    }
    return true;
}

/* The argument whose register the result takes; -1: none. */
static int tied_of(const merging *m, const ir_inst *x) {
    cg_constraints c;
    cg_describe(&m->cpu->base, x, &c);
    return c.tied;
}

/* --------------------------------------------------------------------------- computing in place */

/* How x is computed under a mask. */
typedef struct {
    x86_row row;
    x86_mach_kind kind;
    ir_inst *mask, *other; /* other: what lanes are that are not set; NULL: the kind says it */
} masked;

/* x under a mask, in the place of i; true. */
static bool compute_at(merging *m, ir_inst *i, ir_inst *x, masked how) {
    ir_inst *arg[CG_MAX_ARGS];
    unsigned n = 0;
    for (; n < x->nargs; n++) arg[n] = ir_arg(x, n);
    arg[n++] = how.mask;
    if (how.other) arg[n++] = how.other;
    ir_before(&m->b, i);
    m->b.loc = x->loc;
    ir_inst *r = ir_build_raw(&m->b, IR_OP_mach, i->type, ir_with_imm(x->imm), (ir_args){n, arg});
    r->imm.mach.row = (uint16_t)how.row;
    r->imm.mach.mode = (uint8_t)(r->imm.mach.mode % X86_MODE_KIND + how.kind * X86_MODE_KIND);
    r->mark = i->mark;
    ir_replace_uses(i, r);
    ir_remove(i);
    ir_remove(x);
    return true;
}

static bool is_zero(const ir_inst *x) { return x->op == IR_OP_mach && x86_kind_of(x) == MACH_ZERO; }

/* Makes x, a multiply-add, take the register of its third operand if that is `other` and ends at
 * i. */
static void tie_to(const merging *m, ir_inst *x, const ir_inst *other, const ir_inst *i) {
    x86_row row = x86_tied_to_sum(x86_row_of(x));
    if (row == X86_ROWS || x86_has_memory(x) || ir_arg(x, 2) != other || !ends_at(m, other, i))
        return;
    ir_inst *factor = ir_arg(x, 0), *other_factor = ir_arg(x, 1), *sum = ir_arg(x, 2);
    x->imm.mach.row = (uint16_t)row;
    ir_set_arg(x, 0, sum);
    ir_set_arg(x, 1, factor);
    ir_set_arg(x, 2, other_factor);
}

/* Lanes of x where the mask is set, otherwise of other, in the place of i. */
static bool merge(merging *m, ir_inst *i, ir_inst *mask, ir_inst *x, ir_inst *other) {
    if (x == other || !is_for(m, x, i) || x86_bytes_of(x->type) != x86_bytes_of(i->type))
        return false;
    tie_to(m, x, other, i);
    x86_row row = masked_row(m, x, i->type);
    if (row == X86_ROWS || x->nargs + 2 > CG_MAX_ARGS) return false;
    bool zeroes = x86_forms[row].flags & X86_ZEROED;
    int tied = tied_of(m, x);
    if (zeroes && is_zero(other)) {
        compute_at(m, i, x, (masked){row, MACH_ZEROED, mask, NULL});
        if (!other->uses) ir_remove(other);
        return true;
    }
    if (tied >= 0 && ir_arg(x, (unsigned)tied) == other)
        return compute_at(m, i, x, (masked){row, MACH_MASKED, mask, NULL});
    return tied < 0 && ends_at(m, other, i) &&
           compute_at(m, i, x, (masked){row, MACH_MERGED, mask, other});
}

/* ---------------------------------------------------------------------------------- comparisons */

static bool gives_mask(const ir_inst *x) {
    return x->op == IR_OP_mach && x86_shape_of(x86_row_of(x))->slot[0].kind == X86_K;
}

/* Has i an immediate that says which relation holds? */
static bool is_relation(const ir_inst *i) {
    const x86_shape *shape = x86_shape_of(x86_row_of(i));
    return gives_mask(i) && x86_kind_of(i) == MACH_PLAIN && shape->nargs == 4 &&
           shape->slot[3].kind == X86_IMM;
}

/* Relations of floats and of integers have their opposites at a distance of 4. */
static void turn_around(const merging *m, ir_inst *relation) {
    unsigned last = relation->nargs - 1u;
    const ir_inst *n = ir_arg(relation, last);
    ir_set_arg(relation, last, ir_const(m->b.f, n->type, n->imm.bits ^ 4));
}

/* Is c a comparison that nothing but i asks for, and can its opposite be had? */
static bool may_turn(const ir_inst *c, const ir_inst *i) {
    return c->op == IR_OP_mach && c->block == i->block && is_relation(c) && !c->uses->next;
}

static void merge_choice(merging *m, ir_inst *i) {
    ir_inst *y = ir_arg(i, 0), *x = ir_arg(i, 1), *mask = ir_arg(i, 2);
    if (merge(m, i, mask, x, y) || !may_turn(mask, i)) return;
    if (merge(m, i, mask, y, x)) turn_around(m, mask);
}

/* The comparison c under a mask, in the place of i, which joins them. */
static bool compare_under(merging *m, ir_inst *i, ir_inst *c, ir_inst *mask) {
    if (c == mask || !gives_mask(c) || !is_for(m, c, i)) return false;
    x86_row row = x86_row_of(c);
    if (!(x86_forms[row].flags & X86_MASKED)) return false;
    return compute_at(m, i, c, (masked){row, MACH_MASKED, mask, NULL});
}

static void merge_join(merging *m, ir_inst *i) {
    ir_inst *x = ir_arg(i, 0), *y = ir_arg(i, 1);
    if (!compare_under(m, i, y, x)) compare_under(m, i, x, y);
}

/* ~x & y */
static void merge_difference(merging *m, ir_inst *i) {
    ir_inst *x = ir_arg(i, 0);
    if (!may_turn(x, i) || !may_move(m, x, i) || x == ir_arg(i, 1)) return;
    turn_around(m, x);
    compare_under(m, i, x, ir_arg(i, 1));
}

/* ----------------------------------------------------------------------------------------- walk */

static void merge_at(merging *m, ir_inst *i) {
    if (i->op != IR_OP_mach || i->type == IR_VOID) return;
    x86_row row = x86_row_of(i);
    x86_mach_kind kind = x86_kind_of(i);
    if (row == X86_KANDQ_k_k_k && kind == MACH_PLAIN)
        merge_join(m, i);
    else if (row == X86_KANDNQ_k_k_k && kind == MACH_PLAIN)
        merge_difference(m, i);
    else if (kind == MACH_MASKED && x86_is_blend(i) && !x86_has_memory(i))
        merge_choice(m, i);
}

void x86_merge_masks(const x86_cpu *cpu, ir_func *f) {
    merging m = {.cpu = cpu, .loops = ir_loop_tree(f)};
    ir_builder_init(&m.b, f);
    foreach_block (b, f) {
        uint32_t n = 0;
        foreach_inst (i, b) i->mark = n++;
        for (ir_inst *i = b->first, *next; i; i = next) {
            next = i->next;
            merge_at(&m, i);
        }
    }
}
