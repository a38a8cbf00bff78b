/* loop.c — the loop tree, irreducible loops included.
 *
 * Loops are Havlak's ("Nesting of reducible and irreducible loops", 1997): the header w of a loop
 * is the target of a back edge of the depth-first tree, and its loop is the strongly connected part
 * of w's descendants that contains w.  A loop that is also entered elsewhere is irreducible; which
 * of its entries is called the header then depends on the order of the walk.
 *
 * Havlak's algorithm works on headers from the last in preorder to the first, collapses each loop
 * into its header by union-find, and finds a loop by walking edges backwards from its back edges.
 * On irreducible graphs it may look at an edge once per loop that the edge enters.  Ramalingam's
 * change ("Identifying loops in almost linear time", 1999) avoids that: an edge u -> v that does
 * not follow the tree is set aside until its least common ancestor is reached; no loop further in
 * can contain u, so the edge enters all of those around v from outside.
 *
 * The blocks of all loops share one array in which inner loops are slices of outer ones.  Arrays
 * and loops are used again when the tree is recomputed.
 */
#include "ir/flow.h"

#define NOWHERE UINT32_MAX

/* An edge that waits for the common ancestor of its ends; all by preorder number. */
typedef struct {
    uint32_t from, to, next;
} side_edge;

typedef struct {
    ir_loops loops;
    uint32_t room;   /* entries of the arrays by block id or preorder number */
    uint32_t *place; /* by block id: the index of the block in `slice` */
    ir_block **slice;
    ir_loop *pool;
    uint32_t *last;    /* by preorder number: last descendant */
    uint32_t *rep;     /* union-find: what the block has been collapsed into */
    uint32_t *over;    /* header of the innermost loop that contains it and is not its own */
    uint32_t *entered; /* union-find over `over`: next header not known to be irreducible */
    uint32_t *waiting; /* first side edge that waits for this common ancestor */
    uint32_t *extra;   /* first side edge into each collapsed loop */
    uint32_t *work;
    uint32_t *member; /* preorder number of the last header that collected it */
    uint8_t *kind;    /* IS_… */
    ir_vec(side_edge) edges;
} loop_cache;

enum { IS_HEADER = 1, IS_IRREDUCIBLE = 2 };

static void make_loop_room(ir_func *f, loop_cache *c) {
    if (c->room >= f->next_block) return;
    ir_arena *a = &f->module->arena;
    uint32_t n = f->next_block + f->next_block / 2;
    uint32_t **numbers[] = {&c->place,   &c->last,  &c->rep,  &c->over,  &c->entered,
                            &c->waiting, &c->extra, &c->work, &c->member};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = ir_new_array(a, uint32_t, n);
    c->slice = ir_new_array(a, ir_block *, n);
    c->loops.of = ir_new_array(a, ir_loop *, n);
    c->pool = ir_new_array(a, ir_loop, n);
    c->kind = ir_new_array(a, uint8_t, n);
    c->room = n;
}

static uint32_t find(uint32_t *up, uint32_t v) {
    uint32_t root = v;
    while (up[root] != root) root = up[root];
    while (up[v] != root) {
        uint32_t next = up[v];
        up[v] = root;
        v = next;
    }
    return root;
}

static bool is_below(const loop_cache *c, uint32_t ancestor, uint32_t v) {
    return ancestor <= v && v <= c->last[ancestor];
}

/* --------------------------------------------------------------------------- preparing the walk */

static void clear_tree(loop_cache *c, const ir_order *o) {
    for (uint32_t v = 0; v < o->n; v++) {
        c->rep[v] = c->entered[v] = c->last[v] = v;
        c->over[v] = c->waiting[v] = c->extra[v] = c->member[v] = NOWHERE;
        c->kind[v] = 0;
    }
    for (uint32_t v = o->n; v-- > 1;)
        if (c->last[v] > c->last[o->parent[v]]) c->last[o->parent[v]] = c->last[v];
    c->edges.n = 0;
}

static void set_aside(ir_arena *a, loop_cache *c, uint32_t *list, side_edge e) {
    e.next = *list;
    *list = c->edges.n;
    *ir_push(a, &c->edges) = e;
}

/* Finds the common ancestor of each edge that goes neither to an ancestor nor to a child (Tarjan's
 * off-line method): when u is finished, in postorder, every finished block leads by union-find to
 * its nearest ancestor that is not.  `work` is that forest. */
static void find_side_edges(ir_arena *a, loop_cache *c, const ir_order *o) {
    for (uint32_t v = 0; v < o->n; v++) c->work[v] = v;
    for (uint32_t i = o->n; i-- > 0;) {
        const ir_block *b = o->rpo[i];
        uint32_t u = o->number[b->id];
        for (uint32_t s = 0; s < b->nsucc; s++) {
            uint32_t v = o->number[b->succ[s]->id];
            if (is_below(c, v, u) || o->parent[v] == u) continue;
            set_aside(a, c, &c->waiting[find(c->work, v)], (side_edge){.from = u, .to = v});
        }
        c->work[u] = o->parent[u];
    }
}

/* -------------------------------------------------------------------------------- finding loops */

/* The side edge enters, from outside, all loops around its target that have been found so far. */
static void mark_entered(loop_cache *c, uint32_t v) {
    uint32_t h = c->over[v];
    while (h != NOWHERE) {
        h = find(c->entered, h);
        c->kind[h] |= IS_IRREDUCIBLE;
        uint32_t out = c->over[h];
        if (out != NOWHERE) c->entered[h] = out;
        h = out;
    }
}

/* From here on the edges that waited for w count as edges between collapsed loops. */
static void release_side_edges(loop_cache *c, uint32_t w) {
    for (uint32_t e = c->waiting[w], next; e != NOWHERE; e = next) {
        side_edge *edge = &c->edges.data[e];
        next = edge->next;
        mark_entered(c, edge->to);
        uint32_t *list = &c->extra[find(c->rep, edge->to)];
        edge->next = *list;
        *list = e;
    }
}

static void collect(loop_cache *c, uint32_t *n, uint32_t from, uint32_t w) {
    uint32_t v = find(c->rep, from);
    if (v == w || c->member[v] == w) return;
    c->member[v] = w;
    c->work[(*n)++] = v;
}

static void find_loop(loop_cache *c, const ir_order *o, uint32_t w) {
    const ir_block *b = o->pre[w];
    uint32_t n = 0;
    for (uint32_t p = 0; p < b->npred; p++) {
        uint32_t v = o->number[b->pred[p]->id];
        if (v == NOWHERE || !is_below(c, w, v)) continue;
        c->kind[w] |= IS_HEADER;
        collect(c, &n, v, w);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = c->work[i];
        collect(c, &n, o->parent[v], w);
        for (uint32_t e = c->extra[v]; e != NOWHERE; e = c->edges.data[e].next)
            collect(c, &n, c->edges.data[e].from, w);
    }
    for (uint32_t i = 0; i < n; i++) c->rep[c->work[i]] = c->over[c->work[i]] = w;
}

/* ------------------------------------------------------------------------------------- the tree */

static void make_loop(loop_cache *c, const ir_order *o, uint32_t v) {
    ir_loop *l = &c->pool[c->loops.n++];
    ir_loop *parent = c->over[v] == NOWHERE ? NULL : c->loops.of[o->pre[c->over[v]]->id];
    *l = (ir_loop){.header = o->pre[v],
                   .parent = parent,
                   .depth = parent ? parent->depth + 1 : 1,
                   .irreducible = (c->kind[v] & IS_IRREDUCIBLE) != 0};
    c->loops.of[l->header->id] = l;
    c->work[l - c->pool] = 0;
}

/* Loops in reverse postorder, so outer ones first; counts the blocks that are in no inner loop. */
static void make_loops(ir_func *f, loop_cache *c, const ir_order *o) {
    c->loops.n = 0;
    memset(c->loops.of, 0, f->next_block * sizeof(ir_loop *));
    for (uint32_t i = 0; i < o->n; i++) {
        ir_block *b = o->rpo[i];
        uint32_t v = o->number[b->id];
        if (c->kind[v] & IS_HEADER)
            make_loop(c, o, v);
        else if (c->over[v] != NOWHERE)
            c->loops.of[b->id] = c->loops.of[o->pre[c->over[v]]->id];
        if (c->loops.of[b->id]) c->work[c->loops.of[b->id] - c->pool]++;
    }
}

static void link_loops(loop_cache *c) {
    c->loops.first = NULL;
    for (uint32_t k = c->loops.n; k-- > 0;) {
        ir_loop *l = &c->pool[k];
        ir_loop **list = l->parent ? &l->parent->child : &c->loops.first;
        l->nblocks += c->work[k];
        if (l->parent) l->parent->nblocks += l->nblocks;
        l->sibling = *list;
        *list = l;
    }
}

static void lay_out_siblings(ir_loop *first, ir_block **at) {
    for (ir_loop *l = first; l; l = l->sibling) {
        l->block = at;
        at += l->nblocks;
    }
}

/* A slice holds a loop's own blocks, header first, then the slices of its inner loops. */
static void lay_out_slices(loop_cache *c, const ir_order *o) {
    lay_out_siblings(c->loops.first, c->slice);
    for (uint32_t k = 0; k < c->loops.n; k++) {
        ir_loop *l = &c->pool[k];
        lay_out_siblings(l->child, l->block + c->work[k]);
        c->work[k] = (uint32_t)(l->block - c->slice);
    }
    for (uint32_t i = 0; i < o->n; i++) {
        ir_block *b = o->rpo[i];
        ir_loop *l = c->loops.of[b->id];
        if (!l) continue;
        c->place[b->id] = c->work[l - c->pool]++;
        c->slice[c->place[b->id]] = b;
    }
}

const ir_loops *ir_loop_tree(ir_func *f) {
    loop_cache *c = (loop_cache *)(void *)f->loops;
    if (c && c->loops.version == f->cfg_version) return f->loops;
    const ir_order *o = &ir_dominators(f)->order;
    const char *outer = ir_enter_part(f->module->cx, "loops");
    if (!c) {
        c = ir_new(&f->module->arena, loop_cache);
        f->loops = &c->loops;
    }
    c->loops.version = f->cfg_version - 1; /* not valid should an allocation fail */
    make_loop_room(f, c);
    clear_tree(c, o);
    find_side_edges(&f->module->arena, c, o);
    for (uint32_t w = o->n; w-- > 0;) {
        release_side_edges(c, w);
        find_loop(c, o, w);
    }
    make_loops(f, c, o);
    link_loops(c);
    lay_out_slices(c, o);
    c->loops.version = f->cfg_version;
    ir_enter_part(f->module->cx, outer);
    return f->loops;
}

bool ir_in_loop(const ir_loops *l, const ir_block *b, const ir_loop *loop) {
    const loop_cache *c = (const loop_cache *)(const void *)l;
    if (!l->of[b->id]) return false;
    uint32_t first = (uint32_t)(loop->block - c->slice);
    return c->place[b->id] >= first && c->place[b->id] - first < loop->nblocks;
}

bool ir_loop_contains(const ir_loop *outer, const ir_loop *inner) {
    while (inner && (!outer || inner->depth > outer->depth)) inner = inner->parent;
    return outer == inner;
}
