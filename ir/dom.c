/* dom.c — dominators and dominance frontiers.
 *
 * Dominators: Lengauer and Tarjan, "A fast algorithm for finding dominators in a flowgraph" (1979),
 * with path compression: O(m log n) whatever the graph looks like.  The iterative algorithms that
 * are often used instead are quadratic on a long chain of checks that share one exit, which is what
 * bounds-checked kernels are made of.  The tree gets preorder intervals, so that dominance is two
 * comparisons.
 *
 * Iterated frontier: Sreedhar and Gao, "A linear time algorithm for placing phi-nodes" (1995).  An
 * edge u -> v where u is not the immediate dominator of v is a join edge.  Blocks are taken from a
 * heap deepest first; the join edges that leave the dominator subtree of x and go to a place no
 * deeper than x lead to the frontier of x.  No subtree is walked twice, and none that has no such
 * edge: `lowest` knows the least depth that join edges of a subtree go to.  If only blocks count
 * where a variable is live, others are not walked into: from there, a block where it is live can
 * only be reached through a definition or a phi in between, from which the walk starts again.
 *
 * The result is kept in the function and recomputed when cfg_version has moved on; its arrays live
 * in the module's arena and are used again, so recomputing does not grow memory.
 *
 * Unreachable blocks have no dominator and are dominated by everything.
 */
#include "ir/change.h"

/* What the frontier needs in addition, and the working space of Lengauer-Tarjan, whose arrays are
 * indexed by preorder number. */
typedef struct {
    ir_dom dom;
    uint32_t room;    /* entries of each array */
    uint32_t *depth;  /* by block id: in the dominator tree, entry 0 */
    uint32_t *lowest; /* by block id: least depth that join edges of the subtree lead to */
    uint32_t *seen;   /* by block id: stamp of the frontier query that walked it */
    uint32_t *met;    /* by block id: stamp of the query that put it in its result */
    uint32_t stamp;
    uint32_t *semi, *forest, *label, *bucket, *next; /* next: chain within a bucket */
    uint32_t *idom;                                  /* preorder number of the dominator */
    ir_block_list heap, stack;
} dom_cache;

#define NOWHERE UINT32_MAX

static void make_dom_room(ir_func *f, dom_cache *c) {
    if (c->room >= f->next_block) return;
    ir_arena *a = &f->module->arena;
    uint32_t n = f->next_block + f->next_block / 2;
    ir_order *o = &c->dom.order;
    ir_block ***blocks[] = {&o->rpo, &o->pre, &c->dom.idom, &c->dom.child, &c->dom.sibling};
    uint32_t **numbers[] = {&o->index,  &o->number, &o->parent, &c->dom.enter, &c->dom.leave,
                            &c->depth,  &c->lowest, &c->seen,   &c->met,       &c->semi,
                            &c->forest, &c->label,  &c->bucket, &c->next,      &c->idom};
    enum { BLOCKS = sizeof blocks / sizeof *blocks, NUMBERS = sizeof numbers / sizeof *numbers };
    ir_block **block = ir_new_array(a, ir_block *, (size_t)BLOCKS * n);
    uint32_t *number = ir_new_array(a, uint32_t, (size_t)NUMBERS * n);
    for (unsigned i = 0; i < BLOCKS; i++, block += n) *blocks[i] = block;
    for (unsigned i = 0; i < NUMBERS; i++, number += n) *numbers[i] = number;
    c->stamp = 0;
    c->room = n;
}

/* ------------------------------------------------------------------------------ Lengauer-Tarjan */

/* Compresses the path from v to the root of its tree in the forest, top down, after reversing the
 * links to find the way back.  Afterwards label[v] has the least semidominator of the path. */
static void compress(dom_cache *c, uint32_t v) {
    uint32_t below = NOWHERE, u = v;
    while (c->forest[c->forest[u]] != NOWHERE) {
        uint32_t up = c->forest[u];
        c->forest[u] = below;
        below = u;
        u = up;
    }
    uint32_t root = c->forest[u];
    while (below != NOWHERE) {
        uint32_t down = c->forest[below];
        if (c->semi[c->label[u]] < c->semi[c->label[below]]) c->label[below] = c->label[u];
        c->forest[below] = root;
        u = below;
        below = down;
    }
}

static uint32_t least_label(dom_cache *c, uint32_t v) {
    if (c->forest[v] == NOWHERE) return v;
    compress(c, v);
    return c->label[v];
}

static void find_semidominator(dom_cache *c, uint32_t w) {
    const ir_order *o = &c->dom.order;
    const ir_block *b = o->pre[w];
    for (uint32_t p = 0; p < b->npred; p++) {
        uint32_t v = o->number[b->pred[p]->id];
        if (v == NOWHERE) continue;
        uint32_t semi = c->semi[least_label(c, v)];
        if (semi < c->semi[w]) c->semi[w] = semi;
    }
}

/* All vertices whose semidominator is `parent` have now a complete path below it. */
static void empty_bucket(dom_cache *c, uint32_t parent) {
    for (uint32_t v = c->bucket[parent]; v != NOWHERE; v = c->next[v]) {
        uint32_t u = least_label(c, v);
        c->idom[v] = c->semi[u] < parent ? u : parent;
    }
    c->bucket[parent] = NOWHERE;
}

static void find_dominators(dom_cache *c) {
    const ir_order *o = &c->dom.order;
    for (uint32_t v = 0; v < o->n; v++) {
        c->semi[v] = c->label[v] = v;
        c->forest[v] = c->bucket[v] = NOWHERE;
    }
    for (uint32_t w = o->n; w-- > 1;) {
        find_semidominator(c, w);
        c->next[w] = c->bucket[c->semi[w]];
        c->bucket[c->semi[w]] = w;
        c->forest[w] = o->parent[w];
        empty_bucket(c, o->parent[w]);
    }
    for (uint32_t w = 1; w < o->n; w++)
        if (c->idom[w] != c->semi[w]) c->idom[w] = c->idom[c->idom[w]];
}

/* ------------------------------------------------------------------------------------- the tree */

static void clear_tree(ir_func *f, dom_cache *c) {
    ir_dom *d = &c->dom;
    memset(d->idom, 0, f->next_block * sizeof *d->idom);
    memset(d->child, 0, f->next_block * sizeof *d->child);
    memset(d->sibling, 0, f->next_block * sizeof *d->sibling);
    memset(d->leave, 0, f->next_block * sizeof *d->leave);
}

/* Sizes of subtrees (in `leave`) and lists of children in reverse postorder. */
static void link_children(dom_cache *c) {
    ir_dom *d = &c->dom;
    for (uint32_t i = d->order.n; i-- > 1;) {
        ir_block *b = d->order.rpo[i];
        ir_block *up = d->order.pre[c->idom[d->order.number[b->id]]];
        d->idom[b->id] = up;
        d->sibling[b->id] = d->child[up->id];
        d->child[up->id] = b;
        d->leave[b->id]++;
        d->leave[up->id] += d->leave[b->id];
    }
    if (d->order.n) d->leave[d->order.rpo[0]->id]++;
}

/* Preorder intervals and depths; a block's dominator comes before it in reverse postorder. */
static void number_tree(dom_cache *c) {
    ir_dom *d = &c->dom;
    for (uint32_t i = 0; i < d->order.n; i++) {
        ir_block *b = d->order.rpo[i], *up = d->idom[b->id];
        if (!up) d->enter[b->id] = 0;
        c->depth[b->id] = up ? c->depth[up->id] + 1 : 0;
        uint32_t at = d->enter[b->id] + 1;
        for (ir_block *k = d->child[b->id]; k; k = d->sibling[k->id]) {
            d->enter[k->id] = at;
            at += d->leave[k->id];
        }
        d->leave[b->id] += d->enter[b->id] - 1;
    }
}

static bool is_join_edge(const ir_dom *d, const ir_block *from, const ir_block *to) {
    return d->idom[to->id] != from;
}

static void find_lowest(const ir_func *f, dom_cache *c) {
    const ir_dom *d = &c->dom;
    memset(c->lowest, 0xff, f->next_block * sizeof *c->lowest);
    for (uint32_t i = d->order.n; i-- > 0;) {
        const ir_block *b = d->order.rpo[i];
        uint32_t *low = &c->lowest[b->id];
        for (uint32_t s = 0; s < b->nsucc; s++) {
            const ir_block *to = b->succ[s];
            if (is_join_edge(d, b, to) && c->depth[to->id] < *low) *low = c->depth[to->id];
        }
        if (d->idom[b->id] && *low < c->lowest[d->idom[b->id]->id])
            c->lowest[d->idom[b->id]->id] = *low;
    }
}

const ir_dom *ir_dominators(ir_func *f) {
    dom_cache *c = (dom_cache *)(void *)f->dom;
    if (c && c->dom.version == f->cfg_version) return f->dom;
    if (!c) {
        c = ir_new(&f->module->arena, dom_cache);
        f->dom = &c->dom;
    }
    const char *outer = ir_enter_part(f->module->cx, "dominators");
    c->dom.version = f->cfg_version - 1; /* not valid should an allocation fail */
    make_dom_room(f, c);
    ir_find_order(f, &c->dom.order);
    find_dominators(c);
    clear_tree(f, c);
    link_children(c);
    number_tree(c);
    find_lowest(f, c);
    c->dom.version = f->cfg_version;
    ir_enter_part(f->module->cx, outer);
    return f->dom;
}

/* -------------------------------------------------------------------------------------- queries */

static bool is_reachable(const ir_dom *d, const ir_block *b) {
    return d->order.index[b->id] != NOWHERE;
}

bool ir_block_dominates(const ir_dom *d, const ir_block *a, const ir_block *b) {
    if (a == b || !is_reachable(d, b)) return true;
    if (!is_reachable(d, a)) return false;
    return d->enter[a->id] <= d->enter[b->id] && d->enter[b->id] <= d->leave[a->id];
}

/* Is v before `at` in their block?  Looks in both directions at once, so that the answer costs no
 * more than the distance to the nearer of v and the end of the block. */
static bool comes_before(const ir_inst *v, const ir_inst *at) {
    const ir_inst *back = at->prev, *ahead = at;
    while (back && ahead) {
        if (back == v) return true;
        if (ahead == v) return false;
        back = back->prev;
        ahead = ahead->next;
    }
    return back != NULL;
}

bool ir_value_dominates(const ir_dom *d, const ir_inst *v, const ir_inst *at) {
    if (!v->block) return true;
    if (v->block != at->block) return ir_block_dominates(d, v->block, at->block);
    return comes_before(v, at);
}

/* NULL when one of them cannot be reached. */
ir_block *ir_common_dominator(const ir_dom *d, ir_block *a, ir_block *b) {
    while (a && !ir_block_dominates(d, a, b)) a = d->idom[a->id];
    return a && is_reachable(d, b) ? a : NULL;
}

/* ------------------------------------------------------------------------------- iterated frontier
 *
 * The heap holds blocks by depth, the deepest on top. */

typedef struct {
    dom_cache *c;
    const bool *live_in;
    ir_arena *scratch, *keep;
    ir_block_list *out;
} frontier;

static bool is_deeper(const frontier *q, uint32_t i, uint32_t k) {
    ir_block *const *heap = q->c->heap.data;
    return q->c->depth[heap[i]->id] > q->c->depth[heap[k]->id];
}

static void swap_blocks(ir_block_list *l, uint32_t i, uint32_t k) {
    ir_block *b = l->data[i];
    l->data[i] = l->data[k];
    l->data[k] = b;
}

static void push_heap(frontier *q, ir_block *b) {
    ir_block_list *heap = &q->c->heap;
    uint32_t i = heap->n;
    *ir_push(q->keep, heap) = b;
    for (; i && is_deeper(q, i, (i - 1) / 2); i = (i - 1) / 2) swap_blocks(heap, i, (i - 1) / 2);
}

static ir_block *pop_heap(frontier *q) {
    ir_block_list *heap = &q->c->heap;
    ir_block *top = heap->data[0];
    heap->data[0] = heap->data[--heap->n];
    for (uint32_t i = 0, k; (k = 2 * i + 1) < heap->n; i = k) {
        if (k + 1 < heap->n && is_deeper(q, k + 1, k)) k++;
        if (!is_deeper(q, k, i)) break;
        swap_blocks(heap, i, k);
    }
    return top;
}

/* A join of the frontier: part of the result and, as a definition, a start of its own. */
static void add_join(frontier *q, ir_block *b) {
    if (q->c->met[b->id] == q->c->stamp) return;
    q->c->met[b->id] = q->c->stamp;
    if (q->live_in && !q->live_in[b->id]) return;
    *ir_push(q->scratch, q->out) = b;
    push_heap(q, b);
}

static void walk_into(frontier *q, ir_block *b, uint32_t depth) {
    if (q->c->seen[b->id] == q->c->stamp || q->c->lowest[b->id] > depth) return;
    q->c->seen[b->id] = q->c->stamp;
    *ir_push(q->keep, &q->c->stack) = b;
}

/* Follows the join edges that leave the subtree of `root` for a place no deeper than it. */
static void walk_subtree(frontier *q, ir_block *root) {
    dom_cache *c = q->c;
    uint32_t depth = c->depth[root->id];
    walk_into(q, root, depth);
    while (c->stack.n) {
        ir_block *b = c->stack.data[--c->stack.n];
        for (uint32_t s = 0; s < b->nsucc; s++)
            if (is_join_edge(&c->dom, b, b->succ[s]) && c->depth[b->succ[s]->id] <= depth)
                add_join(q, b->succ[s]);
        for (ir_block *k = c->dom.child[b->id]; k; k = c->dom.sibling[k->id])
            if (!q->live_in || q->live_in[k->id]) walk_into(q, k, depth);
    }
}

void ir_iterated_frontier(ir_func *f, const ir_block_list *in, const bool *live_in,
                          ir_arena *scratch, ir_block_list *out) {
    dom_cache *c = (dom_cache *)(void *)ir_dominators(f);
    frontier q = {.c = c, .live_in = live_in, .scratch = scratch, .keep = &f->module->arena};
    q.out = out;
    c->stamp++;
    c->heap.n = c->stack.n = 0;
    for (uint32_t i = 0; i < in->n; i++)
        if (is_reachable(&c->dom, in->data[i])) push_heap(&q, in->data[i]);
    while (c->heap.n) walk_subtree(&q, pop_heap(&q));
}
