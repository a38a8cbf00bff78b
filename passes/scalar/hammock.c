/* hammock.c — triangles and diamonds of a few cheap instructions become selects.
 *
 * The instructions in the arms move above the branch, and the phis after them become selects.  Arms
 * have only instructions that are pure and cannot trap.
 */
#include "passes/passes.h"

enum { MAX_SPECULATED = 4, MAX_SELECTS = 4, NARROW = 128 /* bits */ };

/* A block that b alone leads to, that only computes something cheap and jumps on. */
static bool is_arm(const ir_block *arm, const ir_block *b, unsigned *cost) {
    if (arm->npred != 1 || arm->pred[0] != b || arm->last->op != IR_OP_jmp) return false;
    unsigned n = 0;
    for (const ir_inst *i = arm->first; i != arm->last; i = i->next)
        if (i->op == IR_OP_phi || !ir_is_cheap(i) || ++n > MAX_SPECULATED) return false;
    *cost += n;
    return *cost <= MAX_SPECULATED;
}

/* b branches, over one or two arms, to `join`; from[n] leads there when edge n of b is taken. */
typedef struct {
    ir_block *b, *join, *from[2];
    unsigned arm; /* an edge of b that leads to an arm */
} hammock;

static bool find_hammock(ir_block *b, hammock *h) {
    ir_block *x = b->succ[0], *y = b->succ[1];
    unsigned cost = 0;
    bool arm_x = is_arm(x, b, &cost), arm_y = is_arm(y, b, &cost);
    *h = (hammock){.b = b, .from = {b, b}};
    if (arm_x && arm_y && x->succ[0] == y->succ[0])
        *h = (hammock){.b = b, .join = x->succ[0], .from = {x, y}};
    else if (arm_x && x->succ[0] == y)
        *h = (hammock){.b = b, .join = y, .from = {x, b}};
    else if (arm_y && y->succ[0] == x)
        *h = (hammock){.b = b, .join = x, .from = {b, y}, .arm = 1};
    return h->join && h->join != b;
}

static ir_inst *value_on(const hammock *h, const ir_inst *phi, unsigned edge) {
    return ir_arg(phi, ir_pred_index(h->join, h->from[edge]));
}

/* Is it a vector of many lanes, and the condition the same for all of them?  That would have to
 * become a mask first, where a branch does nothing else. */
static bool is_for_all_lanes(const hammock *h, ir_type t) {
    if (!ir_is_vector(t) || ir_is_ptr(ir_elem(t)) || ir_is_bool(t)) return false;
    bool is_wide = ir_bits(h->b->func->module, ir_elem(t)) * ir_lanes(t) > NARROW;
    return is_wide && !ir_is_vector(ir_arg(h->b->last, 0)->type);
}

static bool is_worth_selects(const hammock *h) {
    unsigned n = 0;
    foreach_phi (phi, h->join) {
        if (value_on(h, phi, 0) == value_on(h, phi, 1)) continue;
        if (ir_is_opaque(phi->type) || is_for_all_lanes(h, phi->type) || ++n > MAX_SELECTS)
            return false;
    }
    return true;
}

/* The value of a phi after the hammock. */
static ir_inst *build_select(ir_builder *b, const hammock *h, const ir_inst *phi) {
    ir_inst *yes = value_on(h, phi, 0), *no = value_on(h, phi, 1);
    if (yes == no || no->op == IR_OP_undef) return yes;
    if (yes->op == IR_OP_undef) return no;
    return ir_build_select(b, ir_arg(h->b->last, 0), yes, no);
}

bool pass_select_arms(ir_builder *at, ir_block *b, unsigned *edge) {
    hammock h;
    if (b->last->op != IR_OP_br || b->succ[0] == b->succ[1] || !find_hammock(b, &h)) return false;
    if (!is_worth_selects(&h)) return false;
    for (unsigned n = 0; n < 2; n++)
        foreach_inst (i, h.from[n])
            if (h.from[n] != b && i != h.from[n]->last) ir_move_before(i, b->last);
    ir_before(at, b->last);
    at->loc = b->last->loc;
    unsigned k = ir_pred_index(h.join, h.from[h.arm]);
    foreach_phi (phi, h.join) ir_set_arg(phi, k, build_select(at, &h, phi));
    *edge = h.arm;
    return true;
}
