/* flow.c — the nodes of a loop over items, their order, and the graph of the vector loop.
 *
 * The graph is made by partial linearization (Moll and Hack 2018): branches that all lanes take
 * alike stay, the targets of others are entered one after the other.  No node is copied.
 */
#include "passes/vectorize/simd.h"

enum { WORDS = SIMD_MAX_NODES / 64, CHEAP = 12 };

typedef struct {
    uint64_t bits[WORDS];
} node_set;

bool simd_refuse(simd *s, const ir_inst *at, const char *why) {
    if (s->refusal) return false;
    s->refusal = why;
    s->refused = at;
    return false;
}

/* ---------------------------------------------------------------------------------------- order */

typedef struct {
    simd *s;
    const ir_loops *loops;
    const ir_dom *dom;
} orderer;

static uint16_t add_node(simd *s, simd_kind kind, ir_block *b, const ir_loop *loop) {
    if (s->n == SIMD_MAX_NODES) ir_throw(s->f->module->cx, IR_ERR_LIMIT);
    s->node[s->n] = (simd_node){.kind = kind, .block = b, .loop = loop};
    return (uint16_t)s->n++;
}

static void order_block(orderer *o, ir_block *b, const ir_loop *loop, ir_block_list *outside);

/* Blocks that the loop dominates, and that are outside of it, come right after it. */
static void order_outside(orderer *o, ir_block_list *list, const ir_loop *loop,
                          ir_block_list *outside) {
    const uint32_t *index = o->dom->order.index;
    for (uint32_t n = 1; n < list->n; n++) /* few: sorted by insertion */
        for (uint32_t k = n; k && index[list->data[k]->id] < index[list->data[k - 1]->id]; k--) {
            ir_block *b = list->data[k];
            list->data[k] = list->data[k - 1];
            list->data[k - 1] = b;
        }
    for (uint32_t n = 0; n < list->n; n++)
        if (ir_in_loop(o->loops, list->data[n], loop))
            order_block(o, list->data[n], loop, outside);
        else
            *ir_push(o->s->scratch, outside) = list->data[n];
}

static void order_inner(orderer *o, ir_block *header, const ir_loop *loop, ir_block_list *outside) {
    simd *s = o->s;
    ir_block_list left = {0};
    const ir_loop *inner = o->loops->of[header->id];
    s->enter_of[header->id] = add_node(s, SIMD_ENTER, header, loop);
    order_block(o, header, inner, &left);
    s->latch_of[header->id] = add_node(s, SIMD_LATCH, header, inner);
    order_outside(o, &left, loop, outside);
}

/* Adds b, a block of `loop` or the header of a loop in it, and what b dominates there.  The depth
 * of the recursion is the number of nodes at most, which is limited. */
static void order_block(orderer *o, ir_block *b, const ir_loop *loop, ir_block_list *outside) {
    if (o->loops->of[b->id] != loop) {
        order_inner(o, b, loop, outside);
        return;
    }
    o->s->node_of[b->id] = add_node(o->s, SIMD_BLOCK, b, loop);
    for (ir_block *c = o->dom->child[b->id]; c; c = o->dom->sibling[c->id])
        if (ir_in_loop(o->loops, c, loop))
            order_block(o, c, loop, outside);
        else
            *ir_push(o->s->scratch, outside) = c;
}

static bool make_room(simd *s) {
    const ir_loop *loop = s->scalar.loop;
    const ir_loops *loops = s->uniformity->loops;
    uint32_t n = 0;
    for (uint32_t k = 0; k < loop->nblocks; k++) {
        const ir_loop *own = loops->of[loop->block[k]->id];
        if (own->irreducible) return simd_refuse(s, NULL, "it has a loop with several entries");
        n += own->header == loop->block[k] ? 3 : 1;
    }
    if (n > SIMD_MAX_NODES) return simd_refuse(s, NULL, "it has too many blocks");
    s->node = ir_new_array(s->scratch, simd_node, n);
    return true;
}

/* ---------------------------------------------------------------------------------------- edges */

static bool is_back_edge(const simd *s, const ir_block *from, const ir_block *to) {
    const ir_loop *loop = s->uniformity->loops->of[to->id];
    return loop && loop->header == to && ir_in_loop(s->uniformity->loops, from, loop);
}

static uint16_t target_of(const simd *s, const ir_block *from, const ir_block *to) {
    if (is_back_edge(s, from, to)) return s->latch_of[to->id];
    return s->enter_of[to->id] != SIMD_NONE ? s->enter_of[to->id] : s->node_of[to->id];
}

static bool link_block(simd *s, simd_node *n) {
    const ir_block *b = n->block;
    if (b == s->scalar.latch) return true;
    if (b->nsucc > 2) return simd_refuse(s, b->last, "it has a switch");
    if (b->nsucc == 2 && b->succ[0] == b->succ[1])
        return simd_refuse(s, b->last, "it has a branch with one target");
    for (n->nsucc = 0; n->nsucc < b->nsucc; n->nsucc++)
        n->succ[n->nsucc] = target_of(s, b, b->succ[n->nsucc]);
    return true;
}

static bool link_nodes(simd *s) {
    for (uint32_t k = 0; k < s->n; k++) {
        simd_node *n = &s->node[k];
        if (n->kind == SIMD_BLOCK && !link_block(s, n)) return false;
        if (n->kind == SIMD_ENTER) n->succ[n->nsucc++] = s->node_of[n->block->id];
    }
    return true;
}

/* -------------------------------------------------------------------- loops whose exits diverge */

static bool is_inside(const simd *s, const ir_loop *l, uint16_t k) {
    const simd_node *n = &s->node[k];
    return n->kind == SIMD_ENTER ? ir_loop_contains(l, n->loop)
                                 : ir_in_loop(s->uniformity->loops, n->block, l);
}

/* The outermost loop that diverges of those that an edge leaves, or NULL. */
static const ir_loop *left_divergent(const simd *s, const simd_node *from, uint16_t to) {
    const ir_loop *found = NULL;
    for (const ir_loop *l = from->loop; l != s->scalar.loop && !is_inside(s, l, to); l = l->parent)
        if (simd_diverges(s, l)) found = l;
    return found;
}

/* Lanes that leave several loops at once wait for the outermost of them that diverges, so the inner
 * ones diverge, too.  True: there are more of these now. */
static bool spread_divergence(simd *s) {
    bool changed = false;
    for (uint32_t k = 0; k < s->n; k++)
        for (unsigned e = 0; e < s->node[k].nsucc; e++) {
            const ir_loop *outer = left_divergent(s, &s->node[k], s->node[k].succ[e]);
            if (!outer) continue;
            for (const ir_loop *l = s->node[k].loop; l != outer; l = l->parent) {
                changed |= !simd_diverges(s, l);
                s->node[s->node_of[l->header->id]].diverges = true;
            }
        }
    return changed;
}

static void find_divergent_loops(simd *s) {
    for (uint32_t k = 0; k < s->n; k++) {
        simd_node *n = &s->node[k];
        bool is_header = n->kind == SIMD_BLOCK && n->block == n->loop->header;
        n->diverges = is_header && s->uniformity->divergent_exits[n->block->id];
    }
    while (spread_divergence(s)) continue;
}

/* In the order of the nodes that they come from. */
static void find_preds(simd *s) {
    for (uint32_t k = 0; k < s->n; k++)
        for (unsigned e = 0; e < s->node[k].nsucc; e++) s->node[s->node[k].succ[e]].npred++;
    for (uint32_t k = 0; k < s->n; k++) {
        simd_node *n = &s->node[k];
        n->pred = ir_new_array(s->scratch, simd_edge, n->npred);
        n->npred = 0;
    }
    for (uint32_t k = 0; k < s->n; k++)
        for (unsigned e = 0; e < s->node[k].nsucc; e++) {
            simd_node *to = &s->node[s->node[k].succ[e]];
            to->pred[to->npred++] = (simd_edge){(uint16_t)k, (uint8_t)e};
        }
}

/* ----------------------------------------------------------------------------------- dominators */

static uint16_t common_dominator(const simd *s, uint16_t a, uint16_t b) {
    while (a != b)
        if (a > b)
            a = s->node[a].idom;
        else
            b = s->node[b].idom;
    return a;
}

static uint16_t common_postdominator(const simd *s, uint16_t a, uint16_t b) {
    while (a != b) {
        if (a == SIMD_NONE || b == SIMD_NONE) return SIMD_NONE;
        if (a < b)
            a = s->node[a].postdom;
        else
            b = s->node[b].postdom;
    }
    return a;
}

/* Adds a target of node k to what postdominates it. */
static void add_target(simd *s, uint32_t k, uint16_t to, bool *any) {
    simd_node *n = &s->node[k];
    n->postdom = *any ? common_postdominator(s, n->postdom, to) : to;
    *any = true;
}

/* After a latch comes the next iteration, and in the end an exit of the loop. */
static void add_exits(simd *s, uint32_t latch, bool *any) {
    for (uint32_t k = s->enter_of[s->node[latch].block->id]; k < latch; k++)
        for (unsigned n = 0; n < s->node[k].nsucc; n++)
            if (s->node[k].succ[n] > latch) add_target(s, latch, s->node[k].succ[n], any);
}

/* In one pass each, since the order is topological. */
static void find_dominators(simd *s) {
    for (uint32_t k = 0; k < s->n; k++) s->node[k].idom = s->node[k].postdom = SIMD_NONE;
    for (uint32_t k = 0; k < s->n; k++)
        for (unsigned n = 0; n < s->node[k].nsucc; n++) {
            simd_node *to = &s->node[s->node[k].succ[n]];
            to->idom =
                to->idom == SIMD_NONE ? (uint16_t)k : common_dominator(s, to->idom, (uint16_t)k);
        }
    for (uint32_t k = s->n - 1; k-- > 0;) {
        bool any = false;
        for (unsigned n = 0; n < s->node[k].nsucc; n++) add_target(s, k, s->node[k].succ[n], &any);
        if (s->node[k].kind == SIMD_LATCH) add_exits(s, k, &any);
    }
}

static bool postdominates(const simd *s, uint16_t a, uint16_t b) {
    while (b < a) b = s->node[b].postdom;
    return a == b;
}

/* The next dominator of node k in its loop; SIMD_NONE: there is none. */
static uint16_t dominator_in_loop(const simd *s, uint32_t k) {
    uint16_t d = s->node[k].idom;
    while (d != SIMD_NONE && s->node[d].loop != s->node[k].loop) d = s->node[d].idom;
    return d;
}

/* The lanes of a node are those of its dominator if all paths from there lead to it. */
static uint16_t find_mask_of(const simd *s, uint16_t k) {
    const simd_node *n = &s->node[k];
    bool is_header = n->kind == SIMD_BLOCK && n->block == n->loop->header && k;
    if (is_header || n->kind == SIMD_LATCH) {
        if (simd_diverges(s, n->loop)) return k;
        return s->node[s->enter_of[n->block->id]].mask_of;
    }
    uint16_t d = dominator_in_loop(s, k);
    return d != SIMD_NONE && postdominates(s, k, d) ? s->node[d].mask_of : k;
}

/* ------------------------------------------------------------------------------------ new graph */

static void add_to(node_set *set, uint16_t k) { set->bits[k / 64] |= UINT64_C(1) << k % 64; }

static void remove_from(node_set *set, uint16_t k) {
    set->bits[k / 64] &= ~(UINT64_C(1) << k % 64);
}

static void add_all(node_set *to, const node_set *from) {
    for (unsigned w = 0; w < WORDS; w++) to->bits[w] |= from->bits[w];
}

static uint16_t first_of(const node_set *set) {
    for (unsigned w = 0; w < WORDS; w++)
        if (set->bits[w]) return (uint16_t)(w * 64 + (unsigned)__builtin_ctzll(set->bits[w]));
    return SIMD_NONE;
}

typedef struct {
    simd *s;
    node_set *waiting; /* by node: what is deferred when it is entered */
    bool *is_live;     /* by node: if it is executed, some lane is active */
} linearizer;

/* Node k leads to the first of the set, and defers the others. */
static void lead_to_first(linearizer *l, uint32_t k, node_set set) {
    simd_node *n = &l->s->node[k];
    uint16_t first = first_of(&set);
    remove_from(&set, first);
    add_all(&l->waiting[first], &set);
    for (uint16_t d; (d = first_of(&set)) != SIMD_NONE; remove_from(&set, d))
        l->s->node[d].deferred = true;
    n->next[n->nnext++] = first;
}

static bool is_folded(const linearizer *l, uint32_t k) {
    const simd *s = l->s;
    const simd_node *n = &s->node[k];
    uint16_t waits = first_of(&l->waiting[k]);
    bool all_wait = n->nsucc > 0;
    if (n->kind == SIMD_BLOCK && n->nsucc > 1 && s->uniformity->divergent[n->block->id])
        return true;
    for (unsigned e = 0; e < n->nsucc; e++) {
        if (left_divergent(s, n, n->succ[e])) return true;
        all_wait &= waits < n->succ[e];
    }
    return all_wait;
}

/* Without active lanes, uniform loads may trap, and loops are a waste. */
static bool is_costly(const simd *s, const simd_node *n) {
    unsigned size = 0;
    if (n->kind == SIMD_ENTER) return true;
    if (n->kind == SIMD_LATCH) return false;
    foreach_inst (i, n->block) {
        bool same = i->op == IR_OP_load && !s->uniformity->varies[i->id];
        if (same || ir_has_flag(i, F_NOFOLD) || i->op == IR_OP_call) return true;
        size += i->op != IR_OP_phi;
    }
    return size > CHEAP;
}

static bool is_live(const linearizer *l, uint32_t k) {
    const simd *s = l->s;
    const simd_node *n = &s->node[k];
    bool is_header = n->kind == SIMD_BLOCK && n->block == n->loop->header;
    if (!k || is_header || n->kind == SIMD_LATCH || first_of(&l->waiting[k]) == SIMD_NONE)
        return true;
    uint16_t d = dominator_in_loop(s, k);
    if (d == SIMD_NONE || !l->is_live[d]) return false;
    return n->mask_of != k || (d == n->idom && !s->node[d].folded && !n->deferred);
}

static void guard(linearizer *l, uint32_t k) {
    simd_node *n = &l->s->node[k];
    n->skip = SIMD_NONE;
    l->is_live[k] = is_live(l, k);
    if (l->is_live[k] || !is_costly(l->s, n)) return;
    node_set rest = l->waiting[k];
    n->skip = first_of(&rest);
    remove_from(&rest, n->skip);
    add_all(&l->waiting[n->skip], &rest);
    l->is_live[k] = true;
}

/* Lanes that leave a loop wait at its latch until the iteration ends. */
static void wait_at_latch(linearizer *l, uint32_t k) {
    const simd_node *n = &l->s->node[k];
    if (n->kind != SIMD_BLOCK || n->block != n->loop->header || !simd_diverges(l->s, n->loop))
        return;
    uint16_t latch = l->s->latch_of[n->block->id];
    add_to(&l->waiting[k], latch);
    l->s->node[latch].deferred = true;
}

static void linearize(linearizer *l, uint32_t k) {
    simd *s = l->s;
    simd_node *n = &s->node[k];
    wait_at_latch(l, k);
    node_set targets = l->waiting[k];
    guard(l, k);
    if (n->kind == SIMD_LATCH && !simd_diverges(s, n->loop)) return; /* no exit is deferred */
    n->folded = is_folded(l, k);
    if (n->nsucc == 2 && !n->folded) {
        for (unsigned e = 0; e < 2; e++) {
            node_set set = targets;
            add_to(&set, n->succ[e]);
            lead_to_first(l, k, set);
        }
        return;
    }
    for (unsigned e = 0; e < n->nsucc; e++) add_to(&targets, n->succ[e]);
    if (first_of(&targets) != SIMD_NONE) lead_to_first(l, k, targets);
}

/* A node has the lanes of its dominator, or those of its edges; a branch of lanes divides them. */
static void find_full(simd *s) {
    for (uint32_t k = 0; k < s->n; k++) {
        simd_node *n = &s->node[k];
        n->full = !k || (n->mask_of == k && !n->deferred && !simd_diverges(s, n->loop));
    }
    for (uint32_t k = 0; k < s->n; k++) {
        simd_node *n = &s->node[k];
        if (n->mask_of != k) n->full = s->node[n->mask_of].full;
        for (unsigned e = 0; e < n->nsucc; e++) {
            simd_node *to = &s->node[n->succ[e]];
            to->full &= n->full && (n->nsucc == 1 || !n->folded);
        }
    }
}

/* A value that is the same for all lanes is no join of lanes, nor of several ways back to the head
 * of a loop. */
static bool check_phis(simd *s) {
    for (uint32_t k = 0; k < s->n; k++) {
        const simd_node *n = &s->node[k];
        if (!n->deferred) continue;
        foreach_phi (phi, n->block)
            if (!s->uniformity->varies[phi->id] && (n->kind != SIMD_LATCH || phi->nargs > 2))
                return simd_refuse(s, phi, "a value depends on its control flow");
    }
    return true;
}

bool simd_find_graph(simd *s) {
    orderer o = {.s = s, .loops = s->uniformity->loops, .dom = s->code->dom};
    ir_block_list outside = {0};
    if (!make_room(s)) return false;
    s->node_of = s->code->node_of;
    s->enter_of = s->code->enter_of;
    s->latch_of = s->code->latch_of;
    order_block(&o, s->scalar.loop->header, s->scalar.loop, &outside);
    if (!link_nodes(s)) return false;
    find_divergent_loops(s);
    find_preds(s);
    assert(s->node[s->n - 1].block == s->scalar.latch);
    find_dominators(s);
    for (uint32_t k = 0; k < s->n; k++) s->node[k].mask_of = find_mask_of(s, (uint16_t)k);
    linearizer l = {.s = s,
                    .waiting = ir_new_array(s->scratch, node_set, s->n),
                    .is_live = ir_new_array(s->scratch, bool, s->n)};
    for (uint32_t k = 0; k < s->n; k++) linearize(&l, k);
    find_full(s);
    return check_phis(s);
}
