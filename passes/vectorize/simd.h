/* simd.h — what the files of vectorization share.
 *
 * A loop over work-items is copied into a loop whose iteration runs W of them, one in each lane:
 *
 *   vectorize.c    the pass: which loops, how many lanes; the loops before and after
 *   switches.c     switches as branches
 *   bools.c        truth values in memory
 *   copies.c       assignments of structures
 *   flow.c         the order of blocks, and the graph of the vector loop (partial linearization)
 *   iterations.c   other loops whose iterations are independent
 *   shape.c        how values differ between lanes: not at all, by a constant stride, or anyhow
 *   wrap.c         strided values of which no lane wraps
 *   rounds.c       loops of items that end at almost the same time
 *   strips.c       loops that go along rows of the items
 *   strips_copies.c  their copies
 *   close.c        values that are used after a loop that is copied
 *   legal.c        what cannot be vectorized
 *   masks.c        which lanes are active in a block; phis that become selects
 *   exits.c        what lanes have when they leave a loop one by one
 *   width.c        how many lanes
 *   widen.c        instructions for all lanes
 *   bitcast.c      bitcasts between components of different sizes
 *   access.c       loads and stores
 *   groups.c       accesses of members of a structure, which are done together
 *   members.c      their loads and stores
 *   tiles.c        the same of lanes that are apart
 *   transpose.c    the shuffles of these
 *   carried.c      what goes from one item to the next
 *   combine.c      its form in the vector loop and after it
 *   arrays.c       memory that each item has for itself
 *   updates.c      atomic updates
 *   parts.c        loops that leave items to others
 *   repair.c       uses that lost the dominance of their definition
 *   price.c        whether the vector loop is the faster one
 *   rest.c         the items that are left: an iteration under a mask
 *   remarks.c      what has become of a loop; remark_accesses.c: and of its accesses
 */
#ifndef SPVFUSE_PASSES_SIMD_H
#define SPVFUSE_PASSES_SIMD_H

#include "ir/change.h"
#include "ir/remark.h"
#include "passes/analysis/analysis.h"

enum { SIMD_MAX_NODES = 512, SIMD_NONE = 0xffff };

/* A scalar loop over items, or another one, whose iterations are as independent as items are
 * (iterations.c).  It is entered by one edge, and left by one, from its latch. */
typedef struct {
    const ir_loop *loop;
    bool is_innermost;      /* it is no loop over items, and there is no loop in it */
    ir_inst *counter, *end; /* the loop goes on while counter + 1 < end */
    ir_op test;             /* how they are compared: ult, or slt in an innermost loop */
    ir_block *latch, *exit;
    uint32_t entry; /* the predecessor of the header that is outside */
} simd_loop;

/* ------------------------------------------------------------------------------- graph (flow.c)
 *
 * Nodes are blocks of the loop, and two more for each loop inside of it: ENTER, to which edges into
 * the loop lead, and LATCH, to which back edges lead.  They are numbered in an order in which every
 * edge but that from LATCH to the header leads forward, the nodes of a loop are contiguous, and so
 * are, within a loop, those that a block dominates.
 *
 * The new graph has the same nodes.  A node whose branch diverges leads to the first of its targets
 * in the order, and the others are deferred: they are entered later, by way of what comes first. */

typedef enum { SIMD_BLOCK, SIMD_ENTER, SIMD_LATCH } simd_kind;

/* A mask that holds if a block has been executed; lanes NULL: all. */
typedef struct {
    ir_inst *lanes;
    ir_block *at;
} simd_lanes;

/* Successor n of a node in the scalar code. */
typedef struct {
    uint16_t from;
    uint8_t n;
} simd_edge;

typedef struct {
    simd_kind kind;
    ir_block *block;         /* ENTER, LATCH: the header of the loop */
    const ir_loop *loop;     /* the innermost one that the node is in; ENTER: the loop around */
    uint16_t nsucc, succ[2]; /* targets of the scalar code, as nodes */
    uint16_t npred;
    simd_edge *pred;         /* edges of the scalar code that lead here */
    uint16_t nnext, next[2]; /* successors in the new graph */
    uint16_t idom, postdom;  /* without back edges; SIMD_NONE: none */
    uint16_t skip;           /* where to go if no lane is active; SIMD_NONE: some lane is */
    bool folded;             /* the branch diverges, or its targets are deferred */
    bool deferred;           /* some edges do not lead here directly */
    bool costly;             /* not to be executed for nothing */
    uint16_t mask_of;        /* a node with the same mask, or itself */
    bool full;               /* all lanes are active wherever it is executed */
    bool diverges;           /* the header of a loop that lanes leave in different iterations */
    /* The copy. */
    ir_block *head, *tail; /* first and last block */
    ir_inst *mask;         /* of active lanes; NULL: all are */
    simd_lanes edge[2];    /* lanes that take an edge of the scalar code */
    uint32_t left;         /* the latch of the last loop that has been left for this node, or 0 */
} simd_node;

/* The branch to strips of an inner loop, and the one around the loop if it has no rounds
 * (strips.c). */
typedef struct {
    ir_inst *guard;
    const ir_block *first; /* the header of the loop of strips */
    unsigned rounds;       /* of a strip */
    ir_inst *test;         /* its condition, if that is known before the loop over items, or NULL */
    ir_inst *empty;        /* the other branch, or NULL */
    ir_inst *condition;    /* of that, while it is a constant instead, or NULL */
    bool is_taken;         /* the condition if there are rounds */
} simd_strips;
typedef ir_vec(simd_strips) simd_strips_list;

/* What all loops of a function have in common while they are replaced one after the other.  It
 * describes the code before the first of them was, and so does the loop tree: in the meantime
 * neither this nor dominators are computed again.  Loops have no blocks and values in common, so
 * each one only touches its part of the tables. */
typedef struct {
    ir_arena *memory;
    const ir_dom *dom;
    uint32_t nblocks, nvalues;               /* ids of this code are below */
    struct pass_alias *alias;                /* NULL: it has not been asked for */
    struct simd_value *value;                /* by value id; empty between loops */
    uint32_t *number;                        /* by value id: of use within one step */
    uint16_t *node_of, *enter_of, *latch_of; /* by block id; SIMD_NONE between loops */
    ir_vec(struct simd_hole) holes;          /* operands to be checked (repair.c) */
    ir_vec(struct simd_after) after;         /* values of loops that are used after them */
    ir_vec(struct simd_straight) straight;   /* loops that have one iteration */
} simd_code;

typedef struct {
    ir_func *f;
    pass_ctx *cx;
    ir_arena *scratch; /* of this loop */
    simd_code *code;
    const pass_uniformity *uniformity;
    simd_loop scalar;
    unsigned lanes; /* W */

    simd_node *node; /* n, the header of the loop first, its latch last */
    uint32_t n;
    uint16_t *node_of;             /* by block id, SIMD_NONE outside of the loop */
    uint16_t *enter_of, *latch_of; /* by block id of a header */

    struct simd_value *value; /* by value id */
    ir_vec(uint32_t) touched; /* ids of values that are not empty, or are in the loop */
    ir_builder b;
    ir_block *preheader; /* of the vector loop */
    bool *is_split;      /* by id of a header, below nsplit: rounds.c has seen it */
    uint32_t nsplit;
    bool *has_strips;         /* the same of strips.c */
    simd_strips_list *strips; /* of the scalar loop, which is analysed again */
    ir_inst *enter;           /* i1, known before the loop: may vectors do it?  NULL: they may */
    uint32_t first;           /* the least id of a block of the vector code */
    ir_vec(struct simd_carried) carried;
    ir_vec(struct simd_after) after; /* values of the loop that are used after it */
    ir_vec(ir_inst *) phis;          /* scalar phis whose copies get their arguments at the end */
    bool is_rest;                    /* iterations that are built have a mask of their items */
    ir_inst *last;                   /* rest: the number of the last active lane, i32 */
    uint64_t scalar_price, vector_price; /* of an item, if they have been compared */
    ir_inst *aside[4];                   /* memory of the function for lanes (updates.c) */
    const char *refusal;
    const ir_inst *refused; /* the instruction that it is about, or NULL */
} simd;

/* Do lanes leave the loop in different iterations, or to where others will come later? */
static inline bool simd_diverges(const simd *s, const ir_loop *loop) {
    return loop != s->scalar.loop && s->node[s->node_of[loop->header->id]].diverges;
}
static inline bool simd_is_inside(const simd *s, const ir_inst *v) {
    return v->block && v->block->id < s->code->nblocks && s->node_of[v->block->id] != SIMD_NONE;
}
/* Is b a block of this loop in the scalar code? */
static inline bool simd_is_in(const simd *s, const ir_block *b, const ir_loop *loop) {
    return b->id < s->code->nblocks && ir_in_loop(s->uniformity->loops, b, loop);
}
/* The blocks of vector code, the last ones of the function. */
#define foreach_simd_block(b, s)                                                                   \
    for (const ir_block *b = (s)->f->last; b && b->id >= (s)->first; b = b->prev)

/* Are there lanes that do not get there? */
static inline bool simd_is_masked(const simd *s, const ir_block *b) {
    return s->is_rest || !s->node[s->node_of[b->id]].full;
}
/* The address of a load or store, and the type of what it accesses. */
static inline ir_inst *simd_address(const ir_inst *i) { return ir_arg(i, i->op == IR_OP_store); }
static inline ir_type simd_accessed(const ir_inst *i) {
    return i->op == IR_OP_store ? ir_arg(i, 0)->type : i->type;
}
/* Refuses the loop; false. */
bool simd_refuse(simd *s, const ir_inst *at, const char *why);

/* --------------------------------------------------------------- other loops (iterations.c) */

/* May lanes do what iterations of the innermost loop do one after the other?  False: refused. */
bool simd_are_independent(simd *s);

/* True: there were switches in loops over items. (switches.c) */
bool simd_lower_switches(ir_func *f, ir_arena *scratch);

/* Finds the counter of the loop and what follows it.  False: refused. (vectorize.c) */
bool simd_find_loop(simd *s);
/* Does the loop leave items to what follows it? (parts.c) */
static inline bool simd_is_part(const simd *s) {
    return s->scalar.loop->header->loop_hint & IR_LOOP_PART;
}
/* After a new edge to the exit of a part: the items from `end` on are left. */
void simd_exit_part(simd *s, ir_inst *end);
/* Leaves all items of a part that has no vector loop. */
void simd_leave_part(simd *s);
/* The vector loop, which ends at `end`, takes the place of the part; end == start: it does not. */
void simd_replace_part(simd *s, ir_block *setup, ir_inst *start, ir_inst *end);

/* What is known about addresses of all loops, when it is asked for. (groups.c) */
const struct pass_alias *simd_find_aliases(simd *s);

/* Numbers of the values of the loop become 0. */
static inline void simd_clear_numbers(const simd *s) {
    for (uint32_t k = 0; k < s->scalar.loop->nblocks; k++)
        foreach_inst (i, s->scalar.loop->block[k]) s->code->number[i->id] = 0;
}

/* Makes the nodes and the new graph.  False: refused. */
bool simd_find_graph(simd *s);

/* ----------------------------------------------------------------------------- values (shape.c) */

typedef enum {
    SIMD_UNSEEN,
    SIMD_UNIFORM, /* the same in all lanes */
    SIMD_STRIDED, /* lane k is lane 0 plus k times a constant, modulo the width */
    SIMD_VARYING
} simd_shape;

/* What a phi gets from a loop that lanes leave one by one, by exits that differ in it. */
typedef struct simd_left {
    const ir_loop *loop;
    ir_inst **part; /* by component */
    struct simd_left *next;
} simd_left;

/* A value of the scalar loop, and what it is in the vector loop. */
typedef struct simd_value {
    simd_shape shape;
    int64_t stride;
    /* The copy: the scalar that all lanes have, or that lane 0 has; of a varying pointer, what its
     * lanes are offsets from. */
    ir_inst *base;
    ir_inst *offset; /* of a varying pointer: bytes of each lane, i64 */
    /* W lanes of each component, when they are asked for; of a varying pointer, those of lanes. */
    ir_inst **part;
    ir_inst **last;               /* its components after a loop that lanes leave one by one */
    struct simd_left *left;       /* of a phi: what it gets from such loops with several exits */
    struct simd_group *group;     /* of an access, or NULL */
    struct simd_carried *carried; /* the phi of the header that it is, or takes part in */
    struct simd_array *array;     /* that the address leads to, or NULL */
    ir_inst **word;               /* of a load from one: the elements */
} simd_value;

void simd_find_shapes(simd *s);
simd_shape simd_shape_of(const simd *s, const ir_inst *v);
/* The shape that v has at a block; it varies after loops that lanes leave one by one. */
simd_shape simd_shape_at(const simd *s, const ir_inst *v, const ir_block *at);
/* The loop that lanes leave one by one, the outermost that has v but not the block; NULL: none. */
const ir_loop *simd_left_loop(const simd *s, const ir_inst *v, const ir_block *at);

/* Finds how many lanes the vector loop has.  False: refused. (width.c) */
bool simd_find_width(simd *s);
/* The number of items that the loop is known to have, or 0. */
uint64_t simd_known_items(const simd *s);

/* Does no lane of the strided value v wrap? (wrap.c) */
bool simd_cannot_wrap(const simd *s, const ir_inst *v, int64_t stride, bool is_signed);
/* What is known of the bits of y in which lanes of the strided value x differ, and no others:
 * lane 0 of x has zeros there. */
typedef enum { SIMD_LOW_UNKNOWN, SIMD_LOW_ZEROS, SIMD_LOW_ONES } simd_low_bits;
simd_low_bits simd_find_low_bits(const simd *s, const ir_inst *x, int64_t stride, const ir_inst *y);
/* The number of items that the loop has at most. */
uint64_t simd_most_items(const simd *s);
/* The number of lanes, or what it is at most. */
static inline unsigned simd_most_lanes(const simd *s) {
    return s->cx->lanes ? s->cx->lanes : IR_MAX_LANES;
}

/* Makes truth values in memory bytes.  True: there are some. (bools.c) */
bool simd_lower_bools(ir_func *f, const ir_loop *loop);
/* Makes small copies loads and stores.  True: there are some. (copies.c) */
bool simd_lower_copies(ir_func *f, const ir_loop *loop);
/* Can all instructions be vectorized?  False: refused. (legal.c) */
bool simd_is_legal(simd *s);

/* --------------------------------------------------------------------------- private (arrays.c) */

/* A variable that each item uses for itself.  Values of addresses in it are distances from its
 * beginning: `base` what all lanes have, `offset` what they have of their own, i32, or NULL. */
typedef struct simd_array {
    ir_inst *variable;
    unsigned bytes;   /* of an element */
    uint64_t n;       /* elements of an item */
    bool is_indexed;  /* by indices that differ between lanes */
    bool is_selected; /* elements are variables of their own */
    const char *refusal;
    const ir_inst *refused;
    ir_inst *copies;   /* of all lanes */
    ir_inst **element; /* the same by element, if it is selected */
} simd_array;

/* Finds the variables that the loop uses. */
void simd_find_arrays(simd *s);
/* Bytes of those that would be in registers. */
uint64_t simd_small_arrays(const simd *s);
/* Comparisons and selections that i would become if those are. */
unsigned simd_selections_of(const simd *s, const ir_inst *i);
/* Chooses where their copies are.  False: refused. */
bool simd_place_arrays(simd *s);
void simd_move_in_array(simd *s, ir_inst *i);
void simd_load_array(simd *s, ir_inst *i, const simd_node *n);
void simd_store_array(simd *s, ir_inst *i, const simd_node *n);
void simd_fill_array(simd *s, ir_inst *i, const simd_node *n);

/* --------------------------------------------------------------------------- atomic (updates.c) */

/* Is i an atomic operation that writes what depends on what it reads? */
bool simd_is_update(const ir_inst *i);
/* Can it be done for lanes?  False: refused. */
bool simd_may_update(simd *s, const ir_inst *i);
void simd_update(simd *s, const ir_inst *i);
/* Does i exist for each lane only, as a step to what is updated lane by lane? */
bool simd_is_apart(const simd *s, const ir_inst *i);

/* ------------------------------------------------------------------- the scalar code changes */

/* Gives a loop, whose latch is left by edge 1, an exit of its own, with a phi for each value that
 * is used after it; returns the exit.  (close.c) */
ir_block *simd_close_loop(simd *s, const ir_loop *loop, ir_block *latch);

/* Cuts loops that go along rows of the items into strips.  True: the scalar code has changed.
 * After the vector loop has been built, the scalar loop gets its old form.  (strips.c) */
bool simd_cut_strips(simd *s);
/* If all conditions are known before, the vector loop is only entered if all strips are, which
 * s->enter says, and consists of strips alone. */
void simd_enter_strips(simd *s);
void simd_remove_strips(simd *s);

/* Splits loops of items that end at almost the same time.  True: the scalar code has changed.
 * (rounds.c) */
bool simd_split_rounds(simd *s);
/* Does the loop do the few rounds that are left? */
static inline bool simd_is_last(const simd *s, const ir_loop *loop) {
    return loop->header->id >= s->nsplit;
}

/* ----------------------------------------------------------------------------- copies (widen.c) */

/* The scalar that a uniform value is, or lane 0 of a strided one. */
ir_inst *simd_base(simd *s, ir_inst *v);
/* W lanes of component k of v, as they are used in `at`. */
ir_inst *simd_part(simd *s, ir_inst *v, unsigned k, const ir_block *at);
void simd_set_part(simd *s, const ir_inst *v, unsigned k, ir_inst *part);
ir_inst *simd_splat(simd *s, ir_inst *scalar);
/* base + k * stride in lane k. */
ir_inst *simd_ramp(simd *s, ir_inst *base, int64_t stride);
/* Builds the copy of i at the end of the current block. */
void simd_widen(simd *s, ir_inst *i, const simd_node *n);
/* Component k of the bitcast i, and whether it can be built. (bitcast.c) */
ir_inst *simd_cast(simd *s, const ir_inst *i, unsigned k);
bool simd_may_cast(const ir_inst *i);
void simd_load(simd *s, ir_inst *i, const simd_node *n);
void simd_store(simd *s, ir_inst *i, const simd_node *n);
/* How a load or store is done for all lanes, once shapes and groups are known. (access.c) */
ir_access_form simd_form_of(const simd *s, const ir_inst *i);
/* The access i, but so many bytes after where it begins. */
ir_imm simd_imm(const ir_inst *i, int64_t bytes);
ir_inst *simd_step(simd *s, ir_inst *p, int64_t bytes);

/* ------------------------------------------------------------------------------ masks (masks.c) */

static inline ir_type simd_mask_type(const simd *s) { return ir_vector(IR_I1, s->lanes); }
static inline ir_inst *simd_no_lanes(simd *s) { return ir_const(s->f, simd_mask_type(s), 0); }
ir_inst *simd_and(simd *s, ir_inst *mask, ir_inst *test); /* mask NULL: all */
/* The bits of a mask as an integer, which has at least 8 of them. */
ir_inst *simd_mask_bits(simd *s, ir_inst *mask);
/* Builds the mask of node k, at its head, and its phis. */
void simd_enter_node(simd *s, uint32_t k);
/* Builds the branch that ends node k. */
void simd_leave_node(simd *s, uint32_t k);
/* The argument that a phi of the scalar code has for an edge. */
ir_inst *simd_scalar_arg(const simd *s, const ir_inst *phi, const simd_edge *in);
/* Operations with operands that are repaired later: or, select, and the same by lanes of an
 * edge. */
ir_inst *simd_merge_masks(simd *s, ir_inst *mask, const simd_lanes *more);
ir_inst *simd_choose(simd *s, ir_inst *mask, ir_inst *x, ir_inst *y);
ir_inst *simd_blend(simd *s, const simd_lanes *mask, ir_inst *x, ir_inst *y);
/* The second argument of a phi of a loop. */
void simd_close_phi(simd *s, ir_inst *phi, ir_inst *arg);

/* Does the edge leave a loop that lanes leave one by one, and no other such loop? */
static inline bool simd_is_exit(const simd *s, const simd_edge *in, const simd_node *to) {
    const ir_loop *loop = s->node[in->from].loop;
    return loop != s->scalar.loop && loop->parent == to->loop && simd_diverges(s, loop);
}
/* At the latch of such a loop: collects the lanes of its exits and the values that are used after
 * it. (exits.c) */
void simd_leave_loop(simd *s, uint32_t latch);
/* What a phi gets from all exits of the loop that the edge leaves; NULL: what it gets from the
 * edge. */
ir_inst **simd_find_left(const simd *s, const ir_inst *phi, const simd_edge *in);

/* ----------------------------------- values between items and after them (carried.c, combine.c) */

typedef enum { SIMD_UNKNOWN, SIMD_PROGRESSION, SIMD_REDUCTION, SIMD_SCAN, SIMD_LAST } simd_carry;

/* A phi of the header, other than the counter. */
typedef struct simd_carried {
    ir_inst *phi, *init, *next;
    simd_carry kind;
    ir_op op;    /* that combines; IR_OP_const: none */
    bool chosen; /* `last`: by a condition that differs between lanes */
    ir_inst *by; /* progression, scan: the other operand */
    /* In the vector loop. */
    ir_inst **copy;  /* phis: of each component, or the first one for all */
    ir_inst *mask;   /* chosen: lanes that had a value in the iteration that had one */
    ir_inst *step;   /* progression: W times */
    ir_inst *result; /* after the loop: what the next item gets */
} simd_carried;

typedef struct simd_after {
    ir_inst *value, *last; /* in the loop; after the vector loop */
    const ir_loop *loop;
    ir_block *rest; /* the block after the vector loop */
    ir_vec(ir_use *) uses;
} simd_after;

/* Before shapes are found, and with their help.  False: refused. */
void simd_find_progressions(simd *s);
bool simd_find_carried(simd *s);
/* Builds phis; the copy of i, if it is more than that of an operation; arguments of the phis. */
void simd_begin_carried(simd *s);
bool simd_widen_carried(simd *s, const ir_inst *i);
void simd_close_carried(simd *s);
/* Operations on lanes of one value, with flags of floats.  op(neutral, x) is x, bit for bit. */
ir_inst *simd_neutral(const simd *s, ir_op op, ir_type t);
ir_inst *simd_reduce(simd *s, ir_op op, uint32_t flags, ir_inst *x);
/* Lane k gets the result of lanes 0 to k. */
ir_inst *simd_prefix(simd *s, ir_op op, uint32_t flags, ir_inst *x);
/* What `before` has in its last `by` lanes, and then the first lanes of x. */
ir_inst *simd_shift_lanes(simd *s, ir_inst *x, ir_inst *before, unsigned by);
/* In the block after the vector loop; and once that is complete, with the end of the vector
 * loop. */
void simd_find_results(simd *s);
void simd_leave_loops(simd *s, ir_block *rest, ir_inst *end);
/* When all loops have been replaced: what is used after them. */
void simd_replace_after(ir_func *f, simd_code *code, const ir_loops *loops);

/* ------------------------------------------------------------------------------------- repair.c */

/* Operand `arg` of `user`, which has its value only after block `at`.  On paths that do not pass
 * it, it is false if it is a mask, and otherwise any value. */
typedef struct simd_hole {
    ir_inst *user;
    unsigned arg;
    bool is_mask; /* of lanes that take an edge */
    ir_block *at;
    ir_block *preheader; /* of the loop that it is in */
    uint32_t first;      /* the least id of a block of that vector code */
} simd_hole;
/* When all loops have been replaced; dominators and loops are found again. */
void simd_repair(ir_func *f, const simd_code *code);

/* --------------------------------------------------------------------- copies of the body (vectorize.c) */

/* What is around the vector loop. */
typedef struct {
    ir_block *skip, *rest; /* lead to the scalar loop: in place of the vector loop, and after it */
    ir_inst *start, *end;  /* of the vector loop */
    ir_inst *counter;
    bool has_rest;  /* the remaining items are an iteration under a mask */
    bool is_masked; /* so are all others, which the same code does */
} simd_frame;

/* A vector loop with one iteration. */
typedef struct simd_straight {
    ir_block *header, *latch;
} simd_straight;

/* Makes the blocks of all nodes, and then their contents. */
void simd_make_nodes(simd *s);
void simd_fill_nodes(simd *s);

/* --------------------------------------------------------------------------------------- rest.c */

/* Are the remaining items to be done by an iteration under a mask? */
bool simd_has_rest(const simd *s);
/* The loop over y around this one takes so many rows at a time (rows.c). */
unsigned simd_rows_of(const simd *s);
/* Could they be? */
bool simd_may_have_rest(const simd *s);
/* Are all items to be done by iterations under a mask? */
bool simd_shares_rest(const simd *s);
/* The mask of an iteration in the vector loop, which begins at item `first`. */
void simd_mask_items(simd *s, ir_inst *first);
/* Builds it in place of the scalar loop, which cannot be reached after that. */
void simd_build_rest(simd *s, const simd_frame *fr);

/* -------------------------------------------------------------------------------------- price.c */

/* Does the vector loop, which has been built, take less time than the scalar one? */
bool simd_pays(simd *s, const simd_frame *fr);
/* Does an inner loop access elements of items side by side, and step over lines from round to
 * round, as loops do that share a range among all items? */
bool simd_steps_over(const simd *s);

/* The number of lanes whose lines are in the nearest cache together, in loops that go along rows
 * of items; `full` are the lanes of a register. (far.c) */
unsigned simd_lanes_in_cache(const simd *s, unsigned full);
/* What vector code loses where they are not; frequencies are those of its nodes. */
uint64_t simd_price_far(const simd *s, const uint64_t *frequency);

/* ------------------------------------------------------------------------------------ remarks.c */

/* Reports, if it is asked for, what has become of the loop. */
void simd_remark(const simd *s, bool has_rest);
/* The accesses of the loop, after the vector loop has been built; and where an instruction is, or
 * NULL. (remark_accesses.c) */
void simd_list_accesses(const simd *s, ir_remark *r);
ir_source simd_source_of(const ir_module *m, const ir_inst *i);

#endif
