/* extend_indices.c — extends the operands of sums in place of their results.
 *
 * An index that is computed in 32 bits is extended before it becomes an address.  If nothing in the
 * computation wraps (nsw for sext, nuw for zext), the sum of the extended operands is the same.
 * Then loop-invariant operands are extended before the loop, constants become part of the address,
 * and operands that were truncated from 64 bits need no extension.
 *
 * A number without a sign to which a negative constant is added wraps by that.  The result is a sum
 * all the same if the number is known not to be below the constant, for example under a guard:
 * `if (i >= 4) … a[i - 4]`.  So it is with a positive constant if both are less than half of what
 * fits, as local ids are, and with another number of which that is known: a column and a product of
 * a row, where guards and clamps say how many there are.
 *
 * Where sums of 64 bits cost twice those of 32 (ir_target.has_short_ids), only a number with a
 * constant is taken apart: neighbours are at constant distances then.
 *
 * The result for a sum with several uses is memoized, so the cost is linear.
 */
#include "passes/analysis/analysis.h"

enum { MAX_DEPTH = 12 };

typedef struct {
    ir_func *f;
    const ir_loops *loops;
    ir_arena *scratch;
    bool is_short; /* only sums with constants are taken apart */
    ir_builder b;
    ir_map extended; /* what shared sums have become, by extension_key */
    /* The extension at hand. */
    const ir_loop *loop; /* around it */
    ir_op op;            /* IR_OP_sext or IR_OP_zext */
    ir_type wide;
    ir_map varying; /* by id of a shared sum: its parts that vary, + 1 */
} extender;

static uint32_t promise(const extender *w) { return w->op == IR_OP_sext ? IR_NSW : IR_NUW; }

/* A product with a power of two? */
static bool is_shift(const ir_inst *x) {
    const ir_inst *by = x->op == IR_OP_shl ? ir_arg(x, 1) : NULL;
    return by && ir_is_const(by) && by->imm.bits < ir_bits(NULL, x->type);
}

static bool is_distance(const ir_inst *x) {
    return (x->op == IR_OP_add || x->op == IR_OP_sub) && ir_is_const(ir_arg(x, 1));
}

static bool is_sum(const extender *w, const ir_inst *x) {
    if (w->is_short && !is_distance(x)) return false;
    bool known = is_shift(x) || x->op == IR_OP_add || x->op == IR_OP_sub || x->op == IR_OP_mul;
    return known && (x->flags & promise(w));
}

/* Does x change while the loop runs? */
static bool varies(const extender *w, const ir_inst *x) {
    return x->block && w->loop && ir_in_loop(w->loops, x->block, w->loop);
}

static bool is_shared(const ir_inst *x) { return x->uses && x->uses->next; }

/* Parts that would have to be extended in every round; of many, 2. */
static unsigned count_varying(extender *w, const ir_inst *x, unsigned depth) {
    if (!is_sum(w, x) || depth >= MAX_DEPTH) return varies(w, x);
    uintptr_t known = is_shared(x) ? (uintptr_t)ir_map_get(&w->varying, x->id) : 0;
    if (known) return (unsigned)known - 1;
    unsigned n = count_varying(w, ir_arg(x, 0), depth + 1);
    if (n < 2) n += count_varying(w, ir_arg(x, 1), depth + 1);
    if (n > 2) n = 2;
    if (is_shared(x)) ir_map_set(w->scratch, &w->varying, x->id, (void *)(uintptr_t)(n + 1));
    return n;
}

/* Moves the builder after x. */
static void build_after(extender *w, ir_inst *x) {
    if (!x->block)
        ir_before(&w->b, ir_first_non_phi(w->f->first));
    else
        ir_before(&w->b, x->op == IR_OP_phi ? ir_first_non_phi(x->block) : x->next);
}

static uint64_t extension_key(const extender *w, const ir_inst *x) {
    return (uint64_t)x->id << 32 | (uint64_t)w->wide << 1 | (w->op == IR_OP_sext);
}

static ir_inst *extend(extender *w, ir_inst *x, unsigned depth);

static ir_inst *extend_sum(extender *w, ir_inst *x, unsigned depth) {
    ir_inst *args[] = {NULL, NULL};
    for (unsigned n = 0; n < 2; n++) args[n] = extend(w, ir_arg(x, n), depth + 1);
    build_after(w, x);
    return ir_build(&w->b, (ir_op)x->op, w->wide, ir_with_flags(promise(w)), (ir_args){2, args});
}

static ir_inst *extend(extender *w, ir_inst *x, unsigned depth) {
    if (!is_sum(w, x) || depth >= MAX_DEPTH) {
        build_after(w, x);
        return ir_build1(&w->b, w->op, w->wide, x);
    }
    if (!is_shared(x)) return extend_sum(w, x, depth);
    ir_inst *known = ir_map_get(&w->extended, extension_key(w, x));
    if (!known) {
        known = extend_sum(w, x, depth);
        ir_map_set(w->scratch, &w->extended, extension_key(w, x), known);
    }
    return known;
}

/* Are all numbers that v is in block `at` from `least` up to `most`, which are no more than half of
 * those of its type? */
static bool is_between(const extender *w, ir_inst *v, const ir_block *at, int64_t least,
                       int64_t most) {
    const pass_launch nothing = {.kernel = w->f};
    pass_affine form;
    int64_t low, high;
    if (pass_number_bounds(&nothing, v, at, &low, &high) && low >= least && high <= most)
        return true;
    pass_find_affine(&nothing, v, at, &form);
    return pass_affine_bounds(&nothing, &form, at, &low, &high) && low >= least && high <= most;
}

/* The value that v, which has no sign, was truncated from, if nothing was lost by that. */
static ir_inst *find_whole(const extender *w, ir_inst *v, int64_t most) {
    ir_inst *whole = v->op == IR_OP_trunc ? ir_arg(v, 0) : NULL;
    return whole && whole->type == w->wide && is_between(w, whole, v->block, 0, most) ? whole
                                                                                      : NULL;
}

/* A number that is at most `most`, in the type that is wanted. */
static ir_inst *extend_part(extender *w, ir_inst *v, int64_t most) {
    if (ir_is_const(v)) return ir_const(w->f, w->wide, (uint64_t)ir_signed_const(v));
    ir_inst *whole = find_whole(w, v, most);
    if (whole) return whole;
    w->varying = (ir_map){0};
    if (is_sum(w, v) && count_varying(w, v, 0) <= 1) return extend(w, v, 0);
    return ir_build1(&w->b, IR_OP_zext, w->wide, v);
}

/* Extends a sum that is neither negative nor too large: of two numbers, or of one and a constant,
 * which may be less than 0. */
static bool extend_known_sum(extender *w, ir_inst *i) {
    ir_inst *sum = ir_arg(i, 0);
    if (i->op != IR_OP_zext || sum->op != IR_OP_add) return false;
    if (w->is_short && !is_distance(sum)) return false;
    ir_inst *x = ir_arg(sum, 0), *y = ir_arg(sum, 1);
    int64_t most = (int64_t)(UINT64_MAX >> 1 >> (64 - ir_bits(NULL, x->type)));
    bool falls = ir_is_const(y) && ir_signed_const(y) < 0;
    if (varies(w, x) && varies(w, y)) return false;
    if (!is_between(w, x, i->block, falls ? -ir_signed_const(y) : 0, most)) return false;
    if (!falls && !is_between(w, y, i->block, 0, most)) return false;
    w->wide = i->type;
    ir_before(&w->b, i);
    ir_inst *wide[] = {extend_part(w, x, most), NULL};
    ir_before(&w->b, i);
    wide[1] = extend_part(w, y, most);
    ir_before(&w->b, i);
    ir_replace_uses(i, ir_build_raw(&w->b, IR_OP_add, w->wide, ir_with_flags(IR_NSW),
                                    IR_ARGS(wide[0], wide[1])));
    ir_remove(i);
    return true;
}

static bool extend_inst(extender *w, ir_inst *i) {
    ir_inst *x = ir_arg(i, 0);
    w->op = (ir_op)i->op;
    if (ir_is_vector(i->type) || ir_is_bool(x->type)) return false;
    w->loop = w->loops->of[i->block->id];
    if (!is_sum(w, x)) return extend_known_sum(w, i);
    w->varying = (ir_map){0};
    if (count_varying(w, x, 0) > 1) return false;
    w->wide = i->type;
    w->b.loc = i->loc;
    ir_replace_uses(i, extend(w, x, 0));
    ir_remove(i);
    return true;
}

/* Does: extends the operands of sums, differences, products and shifts by constants that do not
 * wrap, in place of their results.
 * Needs: reachable blocks only.
 * Leaves: sums in 32 bits that are used otherwise, too.
 * Gives up when: more than one part changes in the loop. */
bool pass_extend_indices(ir_func *f, pass_ctx *cx) {
    extender w = {.f = f,
                  .loops = ir_loop_tree(f),
                  .scratch = cx->scratch,
                  .is_short = cx->target && cx->target->has_short_ids};
    bool changed = false;
    ir_builder_init(&w.b, f);
    foreach_block (b, f)
        foreach_inst (i, b)
            if (i->op == IR_OP_sext || i->op == IR_OP_zext) changed |= extend_inst(&w, i);
    return changed;
}
