/* unroll.c — unrolls loops whose number of iterations is known.
 *
 * A loop qualifies if a branch that each iteration executes once stays in the loop a known number
 * of times, `passes`, and then leaves (counter.c).  The iterations 0 to `passes` become copies of
 * its blocks, one after the other.  In all copies but the last, that branch becomes a jump to the
 * next copy; in the last one it becomes a jump out of the loop.  If there are only u copies, fewer
 * than iterations, iteration k runs in copy k modulo u and the last copy jumps back to the first.
 * The branch remains in copy `passes` modulo u, the only one in which it can leave.  So every u is
 * correct, without a remainder.  Other exits remain in every copy.
 *
 * The loop is first brought into loop-closed SSA form: values that are used after it get a phi in
 * the block that all exits lead to, so that copies only have to extend these phis.  Constants are
 * folded at once.  Inner loops may become countable by that, and the cost of outer ones is
 * estimated after folding.
 *
 * Where private arrays are far, loops whose counter goes down to some number, and so at most to 0,
 * are copied that often if they have indices into such arrays; the branch remains in all copies.
 *
 * Loops are unrolled inside out, in rounds: first those that contain no other candidate, then those
 * around them, by a new loop tree.  Plans are made before anything is changed and contain no
 * instructions, because phis move when they grow.
 */
#include "ir/eval.h"
#include "ir/target.h"
#include "passes/analysis/analysis.h"

enum {
    MAX_ROUNDS = 8,     /* nesting of loops that disappear */
    MAX_BLOCKS = 256,   /* of a loop */
    MAX_SIZE = 1 << 10, /* instructions of a loop */
    MAX_COPIES = 256,
    MAX_COPIED = 1 << 14, /* instructions of all copies, before folding */
    LIMIT = 256,          /* instructions of all copies, after folding */
    GREAT_LIMIT = 4096,   /* the same if variables become values, or the source has a hint */
    PARTIAL_SIZE = 10,    /* greatest body that is copied a few times */
    PARTIAL_COPIES = 4,
    MOST_CHECKED = 8, /* copies that may be left each */
    ITEMS_COPIES = 8, /* of loops over items */
    ITEMS_SIZE = 512  /* registers of values in all copies */
};

typedef struct {
    const ir_loop *loop;
    uint32_t test; /* place among the loop's blocks of the block whose branch counts */
    unsigned stay; /* the edge of it that stays in the loop */
    uint32_t passes, copies;
    bool at_most; /* there may be fewer passes, so the branch remains in all copies */
    bool whole;   /* nothing of the loop remains */
} plan;

typedef struct {
    ir_func *f;
    ir_arena *scratch;
    const ir_loops *loops;
    const ir_dom *dom;
    const ir_target *target; /* of loops over items; NULL: of all loops */
    bool private_is_far;     /* ir_target */
    ir_vec(plan) plans;
    ir_clone_map map;
    uint32_t values, blocks; /* entries of the map */
    uint64_t room;           /* instructions by which the function may still grow */
    uint32_t mark;           /* of the blocks of the current loop; of copies when all are made */
    ir_block **block;        /* its blocks, copy after copy */
} unroller;

/* ------------------------------------------------------------------------------------- planning */

static bool leaves(const unroller *u, const ir_block *b, const ir_loop *loop) {
    for (uint32_t n = 0; n < b->nsucc; n++)
        if (!ir_in_loop(u->loops, b->succ[n], loop)) return true;
    return false;
}

/* Finds the exit that is taken first, and how many blocks can be left through. */
static bool find_test(const unroller *u, plan *p, uint32_t *exits) {
    const ir_loop *loop = p->loop;
    int64_t least = -1;
    *exits = 0;
    for (uint32_t k = 0; k < loop->nblocks; k++) {
        const ir_block *b = loop->block[k];
        if (!leaves(u, b, loop)) continue;
        ++*exits;
        int64_t n = pass_count_passes(u->loops, loop, b);
        if (n < 0 || (least >= 0 && n >= least)) continue;
        least = n;
        p->test = k;
        p->stay = ir_in_loop(u->loops, b->succ[0], loop) ? 0 : 1;
    }
    p->passes = (uint32_t)least;
    return least >= 0;
}

/* The same for an exit of which only the most passes are known. */
static bool find_greatest_test(const unroller *u, plan *p) {
    const ir_loop *loop = p->loop;
    p->at_most = true;
    for (uint32_t k = 0; k < loop->nblocks && u->private_is_far; k++) {
        int64_t n = pass_count_most_passes(u->loops, loop, loop->block[k]);
        if (n < 0 || n >= MOST_CHECKED) continue;
        p->test = k;
        p->stay = ir_in_loop(u->loops, loop->block[k]->succ[0], loop) ? 0 : 1;
        p->passes = (uint32_t)n;
        return true;
    }
    return false;
}

/* Is the test reached in every iteration? */
static bool is_always_reached(const unroller *u, const plan *p) {
    const ir_block *h = p->loop->header;
    for (uint32_t n = 0; n < h->npred; n++)
        if (ir_in_loop(u->loops, h->pred[n], p->loop) &&
            !ir_block_dominates(u->dom, p->loop->block[p->test], h->pred[n]))
            return false;
    return true;
}

static bool plan_whole(const unroller *u, plan *p, const pass_loop_cost *cost) {
    uint64_t copies = (uint64_t)p->passes + 1, growth = copies * cost->copied;
    bool asked = p->loop->header->loop_hint & IR_LOOP_UNROLL || cost->indexed;
    p->copies = (uint32_t)copies;
    p->whole = copies <= MAX_COPIES && copies * cost->size <= MAX_COPIED && growth <= u->room &&
               growth <= (asked ? GREAT_LIMIT : LIMIT);
    return p->whole;
}

/* Copies so that the test keeps its place at the head or at the end of the loop. */
static bool plan_part(const unroller *u, plan *p, const pass_loop_cost *cost) {
    const ir_block *test = p->loop->block[p->test];
    uint32_t iterations = p->passes + (test != p->loop->header || p->loop->nblocks == 1);
    if (p->loop->child || cost->convergent) return false;
    if (!cost->copied || cost->copied > PARTIAL_SIZE) return false;
    if (cost->copied * PARTIAL_COPIES > u->room) return false;
    for (p->copies = PARTIAL_COPIES; p->copies > 1; p->copies--)
        if (iterations % p->copies == 0) return true;
    return false;
}

/* Registers that the vectors of an instruction need, or 1. */
static uint64_t registers_of(const unroller *u, const ir_inst *i) {
    ir_type t = i->op == IR_OP_store ? ir_arg(i, 0)->type : i->type;
    uint64_t bytes = ir_is_vector(t) ? ir_access_size(u->f->module, t) : 0;
    uint64_t size = u->target->vector_bytes;
    return bytes > size ? (bytes + size - 1) / size : 1;
}

/* Does it access memory that items of a group share, or keep values in, as a vector?  A pair of
 * items is none. */
static bool exchanges(const ir_inst *i, bool pair) {
    bool stores = i->op == IR_OP_store || i->op == IR_OP_masked_store;
    if (!stores && i->op != IR_OP_load && i->op != IR_OP_masked_load) return false;
    ir_space space = ir_space_of(ir_arg(i, stores)->type);
    return (space == IR_LOCAL || space == IR_PRIVATE) &&
           (pair || ir_is_vector(stores ? ir_arg(i, 0)->type : i->type));
}

/* Is it a loop over items of a group that are few vectors, and exchange values? */
static bool is_short(const unroller *u, const plan *p) {
    const ir_loop *loop = p->loop;
    uint64_t size = 0;
    bool exchange = false;
    for (uint32_t k = 0; k < loop->nblocks; k++)
        foreach_inst (i, loop->block[k]) {
            size += registers_of(u, i);
            exchange |= exchanges(i, p->copies == 2);
        }
    return exchange && p->copies <= ITEMS_COPIES && size * p->copies <= ITEMS_SIZE;
}

static bool make_plan(unroller *u, plan *p) {
    const ir_loop *loop = p->loop;
    uint32_t exits;
    pass_loop_cost cost;
    if (u->target && (!(loop->header->loop_hint & IR_LOOP_ITEMS) || loop->child)) return false;
    if (loop->irreducible || loop->nblocks > MAX_BLOCKS) return false;
    if (loop->header->loop_hint & IR_LOOP_NO_UNROLL) return false;
    if (!find_test(u, p, &exits) && !find_greatest_test(u, p)) return false;
    if (!is_always_reached(u, p)) return false;
    if (!pass_estimate_copies(u->loops, loop, MAX_SIZE, &cost)) return false;
    if (p->at_most && !(cost.indexed && plan_whole(u, p, &cost))) return false;
    if (cost.convergent && exits > 1) return false;
    if (!plan_whole(u, p, &cost) && (u->target || !plan_part(u, p, &cost))) return false;
    if (u->target && !is_short(u, p)) return false;
    u->room -= (uint64_t)p->copies * cost.copied;
    return true;
}

/* All loops, inner ones first. */
static void list_loops(const unroller *u, const ir_loop **list) {
    uint32_t n = u->loops->n;
    const ir_loop *l = u->loops->first;
    while (l) {
        list[--n] = l;
        const ir_loop *next = l->child;
        for (; l && !next; l = l->parent) next = l->sibling;
        l = next;
    }
}

/* Blocks that are marked already are headers around a loop that has a plan. */
static void make_plans(unroller *u) {
    const ir_loop **list = ir_new_array(u->scratch, const ir_loop *, u->loops->n);
    list_loops(u, list);
    u->plans.n = 0;
    foreach_block (b, u->f) b->mark = 0;
    for (uint32_t k = 0; k < u->loops->n; k++) {
        plan p = {.loop = list[k]};
        bool waits = list[k]->header->mark;
        if (!waits && !make_plan(u, &p)) continue;
        if (!waits) *ir_push(u->scratch, &u->plans) = p;
        if (list[k]->parent) list[k]->parent->header->mark = 1;
    }
}

/* ------------------------------------------------------------------------- loop-closed SSA form */

static bool is_inside(const unroller *u, const ir_block *b) { return b->mark == u->mark; }

/* A phi after the loop uses its argument at the end of the loop. */
static bool is_used_outside(const unroller *u, const ir_use *use) {
    const ir_inst *user = use->user;
    if (user->op == IR_OP_phi) return !is_inside(u, user->block->pred[use - user->arg]);
    return !is_inside(u, user->block);
}

static bool has_use_outside(const unroller *u, const ir_inst *v) {
    for (const ir_use *use = v->uses; use; use = use->next)
        if (is_used_outside(u, use)) return true;
    return false;
}

/* Are all predecessors of b in the loop? */
static bool is_dedicated_exit(const unroller *u, const ir_block *b) {
    for (uint32_t p = 0; p < b->npred; p++)
        if (!is_inside(u, b->pred[p])) return false;
    return true;
}

/* The block that all edges out of the loop lead to, and no other edge; NULL: there is none. */
static ir_block *find_exit(const unroller *u, const plan *p) {
    ir_block *from = NULL;
    uint32_t edge = 0, edges = 0;
    for (uint32_t k = 0; k < p->loop->nblocks; k++) {
        ir_block *b = p->loop->block[k];
        for (uint32_t n = 0; n < b->nsucc; n++) {
            if (is_inside(u, b->succ[n])) continue;
            if (from && from->succ[edge] != b->succ[n]) return NULL;
            from = b;
            edge = n;
            edges++;
        }
    }
    if (is_dedicated_exit(u, from->succ[edge])) return from->succ[edge];
    return edges == 1 ? ir_split_edge(from, edge) : NULL;
}

static void close_value(const unroller *u, ir_inst *v, ir_block *exit) {
    ir_inst *phi = ir_inst_new(u->f, IR_OP_phi, v->type, exit->npred);
    foreach_use (use, v)
        if (is_used_outside(u, use)) ir_set_arg(use->user, (unsigned)(use - use->user->arg), phi);
    for (uint32_t n = 0; n < exit->npred; n++) ir_set_arg(phi, n, v);
    ir_insert(phi, exit, exit->first);
}

/* Gives the values that are used after the loop a phi in its exit; false: that is not possible. */
static bool close_loop(const unroller *u, const plan *p) {
    ir_value_list live_out = {0};
    bool opaque = false;
    for (uint32_t k = 0; k < p->loop->nblocks; k++)
        foreach_inst (i, p->loop->block[k]) {
            if (!has_use_outside(u, i)) continue;
            *ir_push(u->scratch, &live_out) = i;
            opaque |= ir_is_opaque(i->type);
        }
    ir_block *exit = live_out.n && !opaque ? find_exit(u, p) : NULL;
    for (uint32_t k = 0; k < live_out.n && exit; k++) close_value(u, live_out.data[k], exit);
    return exit || !live_out.n;
}

/* --------------------------------------------------------------------------------------- copies */

static ir_block *copied(const unroller *u, const plan *p, uint32_t copy, uint32_t place) {
    return u->block[(size_t)copy * p->loop->nblocks + place];
}

static void make_room(unroller *u) {
    if (u->values >= u->f->next_id && u->blocks >= u->f->next_block) return;
    u->values = 2 * u->f->next_id;
    u->blocks = 2 * u->f->next_block;
    u->map = (ir_clone_map){.value = ir_new_array(u->scratch, ir_inst *, u->values),
                            .block = ir_new_array(u->scratch, ir_block *, u->blocks),
                            .edge = ir_new_array(u->scratch, uint32_t, u->blocks)};
}

static void forget_copy(const unroller *u, const plan *p) {
    for (uint32_t k = 0; k < p->loop->nblocks; k++) {
        u->map.block[p->loop->block[k]->id] = NULL;
        foreach_inst (i, p->loop->block[k]) u->map.value[i->id] = NULL;
    }
}

static void make_copies(unroller *u, const plan *p) {
    uint32_t n = p->loop->nblocks;
    u->block = ir_new_array(u->scratch, ir_block *, (size_t)p->copies * n);
    memcpy(u->block, p->loop->block, n * sizeof *u->block);
    for (uint32_t c = 1; c < p->copies; c++) {
        make_room(u);
        ir_clone_region(u->f, p->loop->block, n, &u->map);
        for (uint32_t k = 0; k < n; k++) {
            ir_block *copy = u->map.block[p->loop->block[k]->id];
            ir_block_move_after(copy, u->block[(size_t)c * n + k - 1]);
            u->block[(size_t)c * n + k] = copy;
        }
        forget_copy(u, p);
    }
}

/* Edge n of `from` leads to the header `to` instead of its own, which has the same phis. */
static void move_back_edge(ir_block *from, unsigned n, ir_block *to) {
    const ir_block *own = from->succ[n];
    unsigned place = ir_pred_index(own, from);
    const ir_inst *phi = own->first;
    foreach_phi (next, to) {
        ir_append_arg(next, ir_arg(phi, place));
        phi = phi->next;
    }
    ir_redirect_edge(from, n, to);
}

/* The back edges of a copy; nothing else leads to its header yet but, in the first, the entry. */
static void move_back_edges(const unroller *u, const plan *p, uint32_t copy, ir_block *to) {
    ir_block *header = copied(u, p, copy, 0);
    for (uint32_t k = 0; k < p->loop->nblocks; k++) {
        ir_block *b = copied(u, p, copy, k);
        for (uint32_t n = 0; n < b->nsucc; n++)
            if (b->succ[n] == header) move_back_edge(b, n, to);
    }
}

/* The last copy is left by its test: what would jump back is not reached. */
static void end_last_copy(const unroller *u, const plan *p) {
    ir_block *header = copied(u, p, p->copies - 1, 0);
    ir_make_jmp(copied(u, p, p->copies - 1, p->test), !p->stay);
    for (uint32_t k = 0; k < p->loop->nblocks; k++) {
        ir_block *b = copied(u, p, p->copies - 1, k);
        for (uint32_t n = 0; n < b->nsucc; n++)
            if (b->succ[n] == header) ir_make_unreachable(b);
    }
}

static void link_copies(const unroller *u, const plan *p) {
    if (p->whole)
        end_last_copy(u, p);
    else
        move_back_edges(u, p, p->copies - 1, copied(u, p, 0, 0));
    for (uint32_t c = p->copies - 1; c-- > 0;) move_back_edges(u, p, c, copied(u, p, c + 1, 0));
    for (uint32_t c = 0; c < p->copies; c++)
        if (c != p->passes % p->copies && !p->at_most)
            ir_make_jmp(copied(u, p, c, p->test), p->stay);
}

/* -------------------------------------------------------------------------------------- folding */

static void fold_phis(ir_block *header) {
    if (header->npred != 1) return;
    foreach_phi (phi, header) {
        ir_replace_uses(phi, ir_arg(phi, 0));
        ir_remove(phi);
    }
}

static void fold_block(ir_func *f, ir_block *b) {
    foreach_inst (i, b) {
        ir_inst *c = ir_has_flag(i, F_PURE) && i->op != IR_OP_phi ? ir_fold(f, i) : NULL;
        if (!c) continue;
        ir_replace_uses(i, c);
        ir_remove(i);
    }
    if (b->last->op == IR_OP_br && ir_is_const(ir_arg(b->last, 0)))
        ir_make_jmp(b, ir_arg(b->last, 0)->imm.bits & 1 ? 0 : 1);
}

static void fold_copies(const unroller *u, const plan *p) {
    for (uint32_t c = 0; c < p->copies; c++) {
        ir_block *header = copied(u, p, c, 0);
        header->loop_hint = p->whole || c ? 0 : IR_LOOP_NO_UNROLL;
        fold_phis(header);
        for (uint32_t k = 0; k < p->loop->nblocks; k++) fold_block(u->f, copied(u, p, c, k));
    }
}

/* -------------------------------------------------------------------------------------- joining */

static bool may_join(const unroller *u, const ir_block *b) {
    const ir_block *tail = b->last->op == IR_OP_jmp ? b->succ[0] : b;
    return tail != b && tail->npred == 1 && is_inside(u, tail) && tail->first->op != IR_OP_phi;
}

/* Copies that follow each other become one block; what has been taken in is empty. */
static void join_copies(const unroller *u, const plan *p) {
    size_t n = (size_t)p->copies * p->loop->nblocks;
    for (size_t k = 0; k < n; k++) u->block[k]->mark = u->mark;
    for (size_t k = 0; k < n; k++)
        while (u->block[k]->first && may_join(u, u->block[k])) ir_merge_block(u->block[k]);
}

/* ---------------------------------------------------------------------------------------- entry */

static bool unroll(unroller *u, const plan *p) {
    u->mark++;
    for (uint32_t k = 0; k < p->loop->nblocks; k++) p->loop->block[k]->mark = u->mark;
    if (!close_loop(u, p)) return false;
    make_copies(u, p);
    link_copies(u, p);
    fold_copies(u, p);
    join_copies(u, p);
    ir_count(u->f->module->cx, unroll_loops, 1);
    return true;
}

static bool unroll_round(unroller *u) {
    bool changed = false;
    u->loops = ir_loop_tree(u->f);
    u->dom = ir_dominators(u->f);
    if (!u->loops->n) return false;
    make_plans(u);
    u->mark = 1;
    for (uint32_t k = 0; k < u->plans.n; k++) changed |= unroll(u, &u->plans.data[k]);
    ir_remove_unreachable(u->f);
    return changed;
}

/* Does:  copies the bodies of loops with a known number of iterations one after the other, and
 *        those of small innermost loops a few times; folds constants in the copies.
 * Needs: counters as phis (mem2reg), comparisons in one form (simplify).
 * Leaves: what is left of branches, for simplifycfg; variables with constant indices, for sroa.
 * Gives up: on loops that would become too large, that have a hint against it, or that are
 *        left to several places with values that have no phi there; on convergent operations in
 *        loops with several exits. */
bool pass_unroll(ir_func *f, pass_ctx *cx) {
    if (!ir_loop_tree(f)->n) return false;
    bool changed = ir_remove_unreachable(f);
    unroller u = {.f = f, .scratch = cx->scratch};
    u.private_is_far = cx->target && cx->target->private_is_far;
    u.room = 8 * ir_count_instructions(f) + GREAT_LIMIT;
    for (unsigned round = 0; round < MAX_ROUNDS && unroll_round(&u); round++) changed = true;
    return changed;
}

/* Does:  the same with loops over items whose iterations are few vectors, which they store to local
 *        memory or keep over a barrier: then addresses are constant, and memopt finds what a region
 *        after the barrier reads among the values of the one before.
 * Needs: vectors of items (vectorize).
 * Leaves: the same as unroll.
 * Gives up: on loops that contain loops, and the same as unroll. */
bool pass_unroll_items(ir_func *f, pass_ctx *cx) {
    if (f->level != L_GROUP || !cx->target || !ir_loop_tree(f)->n) return false;
    unroller u = {.f = f, .scratch = cx->scratch, .target = cx->target};
    u.room = 8 * ir_count_instructions(f) + GREAT_LIMIT;
    return unroll_round(&u);
}
