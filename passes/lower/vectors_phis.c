/* vectors_phis.c — phis of vectors: one for each piece.
 *
 * Operands come before users, except for those of phis: a phi's pieces are made first and get their
 * arguments at the end.  So the width of a mask that is a phi is not known from its arguments.  It
 * is that of most of its users: of what is chosen or accessed by it, or compared for what it is
 * joined with. */
#include "passes/lower/vectors.h"

enum { MOST_USES = 16, DEPTH = 3, USUAL_BITS = 32 };

/* ------------------------------------------------------------------------------ width of a mask */

/* How many users ask for lanes of 1 << n bytes. */
typedef struct {
    unsigned of[4];
} votes;

static void vote(const vec_state *s, votes *v, ir_type t) {
    unsigned bits = ir_is_ptr(t) ? 64 : ir_bits(s->f->module, t);
    if (bits >= 8 && bits <= 64) v->of[__builtin_ctz(bits) - 3]++;
}

static bool compares(const ir_inst *i) {
    return ir_info(i)->rule == R_CMPI || ir_info(i)->rule == R_CMPF;
}

static void ask_users(const vec_state *s, const ir_inst *mask, unsigned depth, votes *v);

static void ask_user(const vec_state *s, const ir_inst *mask, const ir_inst *user, unsigned depth,
                     votes *v) {
    bool joins =
        ir_is_bool(user->type) && (ir_info(user)->rule == R_BITS || user->op == IR_OP_select);
    if (user->op == IR_OP_select && ir_arg(user, 0) == mask && !ir_is_bool(user->type))
        vote(s, v, user->type);
    else if (ir_is_masked(user))
        vote(s, v, ir_is_load(user) ? user->type : ir_arg(user, 0)->type);
    else if (user->op == IR_OP_zext || user->op == IR_OP_sext)
        vote(s, v, user->type);
    for (unsigned n = 0; joins && n < user->nargs; n++)
        if (compares(ir_arg(user, n))) vote(s, v, ir_arg(ir_arg(user, n), 0)->type);
    if (joins) ask_users(s, user, depth + 1, v);
}

static void ask_users(const vec_state *s, const ir_inst *mask, unsigned depth, votes *v) {
    unsigned n = 0;
    if (depth == DEPTH) return;
    foreach_use (u, mask)
        if (n++ < MOST_USES) ask_user(s, mask, u->user, depth, v);
}

/* The bits of the lanes that most users of a mask have. */
static unsigned find_bits(const vec_state *s, const ir_inst *mask) {
    votes v = {{0}};
    unsigned best = __builtin_ctz(USUAL_BITS) - 3;
    ask_users(s, mask, 0, &v);
    for (unsigned n = 0; n < 4; n++)
        if (v.of[n] > v.of[best]) best = n;
    return 8u << best;
}

/* ----------------------------------------------------------------------------------------- phis */

/* The form of the pieces of a mask; unit 1: scalars. */
static vec_parts form_of_mask(const vec_state *s, const ir_inst *phi) {
    unsigned bits = find_bits(s, phi), unit = vec_mask_unit(s, ir_lanes(phi->type), bits);
    return (vec_parts){.unit = unit, .bits = unit == 1 ? 0 : vec_mask_bits(s, bits)};
}

void vec_split_phi(vec_state *s, ir_inst *i) {
    bool truth = ir_is_bool(i->type);
    vec_parts p = truth ? form_of_mask(s, i) : (vec_parts){.unit = vec_unit(s, i->type)};
    unsigned count = vec_count(ir_lanes(i->type), p.unit);
    ir_type t = ir_vector(p.bits ? vec_bits_type(p.bits) : ir_elem(i->type), p.unit);
    ir_inst *none = ir_undef(s->f, t);
    p.piece = vec_room(s, count);
    for (unsigned k = 0; k < count; k++) {
        p.piece[k] = ir_inst_new(s->f, IR_OP_phi, t, 0);
        ir_insert(p.piece[k], i->block, i);
        for (unsigned n = 0; n < i->nargs; n++) p.piece[k] = ir_append_arg(p.piece[k], none);
    }
    if (p.unit == 1) p.lane = p.piece;
    s->of[i->id] = p;
    *ir_push(s->scratch, &s->phis) = i;
}

/* The argument of one edge; the block that it comes from, where it has several edges to here, gives
 * the same for all. */
static void fill_phi(vec_state *s, ir_inst *phi, unsigned edge) {
    const vec_parts *p = &s->of[phi->id];
    ir_block *pred = phi->block->pred[edge];
    ir_before(&s->b, pred->last);
    for (unsigned k = 0; k < vec_count(ir_lanes(phi->type), p->unit); k++) {
        ir_inst *v = ir_arg(phi, edge), *x;
        if (pred->mark < edge)
            x = ir_arg(p->piece[k], pred->mark);
        else
            x = p->bits ? vec_mask(s, v, k * p->unit, p->unit, p->bits)
                        : vec_piece(s, v, k * p->unit, p->unit);
        ir_set_arg(p->piece[k], edge, x);
    }
}

void vec_fill_phis(vec_state *s) {
    for (uint32_t n = 0; n < s->phis.n; n++) {
        ir_inst *phi = s->phis.data[n];
        for (unsigned edge = phi->nargs; edge-- > 0;) phi->block->pred[edge]->mark = edge;
        for (unsigned edge = 0; edge < phi->nargs; edge++) fill_phi(s, phi, edge);
        for (unsigned edge = 0; edge < phi->nargs; edge++)
            ir_set_arg(phi, edge, ir_undef(s->f, phi->type));
    }
}
