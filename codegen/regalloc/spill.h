/* spill.h — what the files of spilling share.
 *
 *   spill.c        the driver: which values are in registers at every place
 *   distance.c     how far away next uses are
 *   congruence.c   values that a phi joins, which share a slot
 *   slots.c        a slot for every congruence class
 *   stores.c       where values are stored
 *   reload.c       the reloads, phis and stores that follow from the plan
 */
#ifndef SPVFUSE_CODEGEN_SPILL_H
#define SPVFUSE_CODEGEN_SPILL_H

#include "codegen/regalloc/ra.h"

/* A value and the distance to its next use, or the position of that use. */
typedef struct {
    ir_inst *v;
    uint32_t next;
} spill_use;

/* -------------------------------------------------------------------------- next uses (distance.c)
 *
 * Distances count instructions; leaving a loop counts as many. */

enum { SPILL_LOOP_EXIT = 100000 };
#define SPILL_NEVER UINT32_MAX
#define SPILL_FAR (UINT32_MAX / 2)

/* The values that are live at the start of a block: all, or only the nearest. */
typedef struct {
    uint32_t n;
    bool cut; /* others are live, too, and are far */
    spill_use *use;
} spill_live_in;

/* What is known at the borders of blocks. */
typedef struct {
    spill_live_in *in; /* by block id */
    uint32_t *phi;     /* by id of a phi: its distance from the start of the block */
    uint32_t *edge;    /* by block id: its place among the predecessors of its only successor */
    bool cut;          /* of some block, not all live values are kept */
} spill_next_uses;

/* Distances from one place of the function. */
typedef struct {
    ra_state *s;
    const ra_graph *g;
    uint32_t *next, *epoch; /* by value id: the distance, if it was set in epoch `now` */
    uint32_t now;
    const ir_live_set *far; /* values of this set without a distance are far; or NULL */
    ra_values *set;         /* if not NULL, lists the values that are set */
} spill_distances;

spill_distances spill_new_distances(ra_state *s, const ra_graph *g);
spill_next_uses spill_find_next_uses(spill_distances *d);
/* Forgets all distances. */
void spill_clear_distances(spill_distances *d);
/* Sets the distances of what is live at the end of b, counted from its start.  Returns the number
 * of its instructions. */
uint32_t spill_load_distances(spill_distances *d, const spill_next_uses *uses, const ir_block *b);
uint32_t spill_distance(const spill_distances *d, const ir_inst *v);

static inline void spill_set_distance(spill_distances *d, ir_inst *v, uint32_t distance) {
    if (d->set && d->epoch[v->id] != d->now) *ir_push(&d->s->scratch, d->set) = v;
    d->epoch[v->id] = d->now;
    d->next[v->id] = distance;
}

/* ------------------------------------------------------------ congruence classes (congruence.c) */

/* A phi whose operands are moves of its own, and the move that is its only use. */
typedef struct {
    ir_inst *phi, *move;
} spill_isolated;

typedef struct {
    uint32_t *parent; /* by value id: union-find */
    uint32_t nvalues; /* values from here on are made by spilling, and are in no class */
    uint32_t nold;    /* values from here on are moves of isolated phis */
    ir_vec(spill_isolated) isolated;
} spill_classes;

/* Isolates phis where that is necessary. */
spill_classes spill_find_classes(ra_state *s);
/* The value that stands for the class of v. */
uint32_t spill_root(const spill_classes *c, const ir_inst *v);

/* ------------------------------------------------------------------------------ slots (slots.c) */

/* The interval of code in which some member of a class is live, in the order of blocks. */
typedef struct {
    uint32_t *from, *to; /* by root */
} spill_intervals;

spill_intervals spill_find_intervals(ra_state *s, const ir_live *live, const spill_classes *c);
/* Slots by root, of all classes with a member in `stored`. */
const uint32_t *spill_find_slots(ra_state *s, const spill_classes *c, const spill_intervals *in,
                                 const bool *stored);

/* --------------------------------------------------------------------------- the plan (spill.c) */

/* An instruction that has been inserted to have v in a register again. */
typedef struct {
    ir_inst *inst, *v;
} spill_reload;

/* What spilling has decided. */
typedef struct {
    ra_values *entry; /* by block id: values in registers at its start, phis included */
    ra_values *exit;  /* by block id: values in registers at its end */
    bool *in_memory;  /* by value id: phis that have no register */
    bool *stored;     /* by value id: values that have to be in their slot */
    ir_vec(spill_reload) reloads;
} spill_plan;

static inline bool spill_contains(const ra_values *list, const ir_inst *v) {
    for (uint32_t k = 0; k < list->n; k++)
        if (list->data[k] == v) return true;
    return false;
}

/* What tells where values are stored (stores.c): a list of the reloads of each value, which is used
 * by others, too. */
typedef struct {
    const ra_graph *graph;
    const ir_dom *dom;
    const spill_plan *plan;
    uint32_t *first, *next; /* by value id: its first reload + 1; by reload: the next one + 1 */
    bool *with_phi;         /* by root: a phi in memory has the slot, too */
} spill_stores;
spill_stores spill_find_stores(ra_state *s, const ra_graph *g, const spill_classes *c,
                               const spill_plan *plan);
/* Where v is to be stored. */
ra_point spill_find_store(const spill_stores *x, const spill_classes *c, const ir_inst *v);

/* Has v in a register again: repeats its instruction, or reloads it.  (reload.c) */
ir_inst *spill_insert_reload(ra_state *s, spill_plan *plan, ir_inst *v, ra_point at);
/* Makes the function do what the plan says.  (reload.c) */
void spill_write_code(ra_state *s, const ra_graph *g, const spill_classes *c,
                      const spill_intervals *intervals, spill_plan *plan);

#endif
