/* flow.h — what the graph of a function says: the order of blocks, dominators, loops, liveness.
 *
 * The function keeps the results, and they are found again when its versions say that they are
 * stale.  What they point to lives until then. (cfg.c, dom.c, places.c, loop.c, live.c)
 */
#ifndef SPVFUSE_IR_FLOW_H
#define SPVFUSE_IR_FLOW_H

#include "ir/ir.h"

typedef ir_vec(ir_block *) ir_block_list;

/* A depth-first walk from the entry, last successor first. */
typedef struct {
    uint32_t n; /* blocks reachable from the entry */
    ir_block **rpo;
    uint32_t *index;  /* by block id: place in rpo; UINT32_MAX when unreachable */
    ir_block **pre;   /* the same blocks in the order in which the walk met them */
    uint32_t *number; /* by block id: place in pre; UINT32_MAX when unreachable */
    uint32_t *parent; /* by place in pre: the parent's in the spanning tree; entry: 0 */
} ir_order;
/* Fills `o`, whose arrays have room for f->next_block entries each. */
void ir_find_order(const ir_func *f, ir_order *o);

/* --------------------------------------------------------------------------- dominators (dom.c) */

struct ir_dom {
    uint32_t version;
    ir_order order;
    ir_block **idom;             /* by block id; NULL for the entry and unreachable blocks */
    uint32_t *enter, *leave;     /* by block id: preorder interval in the dominator tree */
    ir_block **child, **sibling; /* by block id: dominator tree, children in rpo */
};
const ir_dom *ir_dominators(ir_func *f); /* Lengauer and Tarjan 1979 */
bool ir_block_dominates(const ir_dom *d, const ir_block *a, const ir_block *b);
/* Does value v dominate the place just before `at`? Leaves dominate everything. */
bool ir_value_dominates(const ir_dom *d, const ir_inst *v, const ir_inst *at);

/* The same in constant time within a block, for passes that only add instructions (places.c). */
typedef struct {
    const ir_dom *dom;
    ir_arena *scratch;
    uint32_t *place; /* by id: in its block, from 1 on */
    uint32_t n;      /* entries of it */
    ir_map fresh;    /* place + 1 of what was built since, by id */
} ir_places;
void ir_number_places(ir_places *p, ir_func *f, ir_arena *scratch);
/* Gives v, which was built in front of `before`, its place; returns v. */
ir_inst *ir_place_before(ir_places *p, ir_inst *v, const ir_inst *before);
void ir_place_phi(ir_places *p, const ir_inst *phi);
/* As ir_value_dominates. */
bool ir_precedes(const ir_places *p, const ir_inst *v, const ir_inst *at);

/* The only value, other than itself, that a phi can have; undef when there is none, NULL when
 * there are several.  With dominators, arguments that are undef count as the others where that
 * is allowed. */
ir_inst *ir_only_argument(ir_func *f, const ir_dom *d, const ir_inst *phi);
ir_block *ir_common_dominator(const ir_dom *d, ir_block *a, ir_block *b);
/* Removes blocks that the entry does not reach; true when there were any. */
bool ir_remove_unreachable(ir_func *f);

/* ------------------------------------------------------------------------------- loops (loop.c) */

typedef struct ir_loop ir_loop;
struct ir_loop {
    ir_block *header;
    ir_loop *parent, *child, *sibling;
    uint32_t depth;   /* 1: outermost */
    ir_block **block; /* header first */
    uint32_t nblocks;
    bool irreducible; /* entered other than through the header */
};
struct ir_loops {
    uint32_t version;
    ir_loop *first; /* outermost loops */
    ir_loop **of;   /* by block id: innermost loop, or NULL */
    uint32_t n;
};
const ir_loops *ir_loop_tree(ir_func *f); /* Havlak 1997 */
bool ir_in_loop(const ir_loops *l, const ir_block *b, const ir_loop *loop);
/* Is `outer` the loop `inner` or one around it?  NULL is the code around all loops. */
bool ir_loop_contains(const ir_loop *outer, const ir_loop *inner);

/* ---------------------------------------------------------------------------- liveness (live.c) */

typedef ir_vec(ir_inst *) ir_value_list;

/* 32 numbers of values, and which of them are in the set. */
typedef struct {
    uint32_t index, bits;
} ir_live_word;
typedef struct {
    uint32_t n;
    ir_live_word *word; /* ascending, none without bits */
} ir_live_set;

/* Values live at the start and end of each block: parameters and instructions, no other leaves.  A
 * phi's result is not in `in` of its block; its arguments are in `out` of the predecessors. */
struct ir_live {
    uint32_t cfg_version, ssa_version;
    ir_live_set *in, *out; /* by block id */
    ir_inst **value;       /* by number: ascending by id */
    uint32_t nvalues;
    uint32_t *number; /* by value id: its number + 1; 0: it is in no set */
    uint32_t nids;    /* entries of it */
};
const ir_live *ir_liveness(ir_func *f); /* Brandner, Boissinot et al. 2011 */
bool ir_is_live(const ir_live *live, const ir_live_set *set, const ir_inst *v);

/* Visits the values of a set, ascending by id, as w.v. */
typedef struct {
    ir_inst *v;
    const ir_live *live;
    const ir_live_word *word, *end;
    uint32_t bits; /* of the word that are left */
} ir_live_walk;
ir_live_walk ir_walk_live(const ir_live *live, const ir_live_set *set);
void ir_step_live(ir_live_walk *w);
#define foreach_live(w, live, set)                                                                 \
    for (ir_live_walk w = ir_walk_live(live, set); w.v; ir_step_live(&w))

/* The values that are live at a place of a block, for walks from its end to its start.  It asks
 * for the set at the end, and is told of each instruction that the walk passes.  Costs nothing
 * for values that it does not ask for. */
typedef struct {
    const ir_live *live;
    const ir_live_set *out;
    uint32_t *seen; /* by value id, all 0 at first; the lowest bit: it is live */
    uint32_t now;   /* what `seen` is above that bit, in this block */
} ir_live_here;
void ir_live_begin(ir_live_here *h, const ir_block *b);
bool ir_live_has(const ir_live_here *h, const ir_inst *v);
void ir_live_mark(ir_live_here *h, const ir_inst *v, bool is_live);

#endif
