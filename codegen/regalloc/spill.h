/* spill.h — what the files of spilling share.
 *
 *   demand.c      how many registers instructions leave to others, and where the next uses are
 *   spill.c       which values are in registers at every place
 *   spill_code.c  the stores, reloads and phis that follow from that
 *   webs.c        values that share a slot
 */
#ifndef SPVFUSE_CODEGEN_SPILL_H
#define SPVFUSE_CODEGEN_SPILL_H

#include "codegen/regalloc/ra.h"

/* Distances are instructions; leaving a loop counts as many.  Of what lives at the start of a
 * block, the distances of so many are kept, the nearest; others are far. */
enum { SPILL_LOOP_EXIT = 100000, SPILL_MOST_NEAR = 128 };
#define SPILL_NEVER UINT32_MAX
#define SPILL_FAR (UINT32_MAX / 2)

/* Registers of a class that are not there for others: in front of an instruction, when its operands
 * are in registers too; across it; and after it, the result among those that count. */
typedef struct {
    uint8_t before, across, behind;
} spill_pads;

typedef struct {
    uint32_t n[CG_MAX_CLASSES];
} spill_count;

typedef struct {
    ir_inst *v;
    uint32_t next; /* position of the next use in this block, or beyond */
} spill_entry;

/* Values of one class in registers. */
typedef struct {
    unsigned n;
    spill_entry e[2 * CG_MAX_REGS];
} spill_set;

/* What lives at the start of a block: all of it, ascending by id, or the nearest. */
typedef struct {
    uint32_t n;
    bool cut;                 /* others live there, too, and are far */
    uint32_t changed, looked; /* the last change, of all blocks', that made it and that it knows */
    spill_entry *e;           /* next: distance */
} spill_near;

typedef struct {
    ir_inst *inst, *v;
} spill_reload;

/* A phi that moves keep apart, and the one after it. */
typedef struct {
    ir_inst *phi, *move;
} spill_isolated;

typedef struct {
    ra_state *s;
    const ir_live *live;
    const ir_order *order;
    const ir_loops *loops;
    /* demand.c */
    spill_near *near;       /* by block id */
    uint32_t changes;       /* of them, so far */
    uint32_t *phi_distance; /* by value id */
    uint32_t *edge; /* by block id: its place among the predecessors of its only successor */
    uint32_t *next, *epoch, now;        /* by value id: distance from here, when set `now` */
    bool is_cut;                        /* what is near is not all, in some block */
    ra_values touched;                  /* those that are set */
    ir_vec(spill_entry) nearest;        /* while they are chosen */
    const ir_live_set *far;             /* those that are far when they are not; or NULL */
    uint32_t *of_class[CG_MAX_CLASSES]; /* bits of the numbers of its values */
    /* The set that was counted last, and its count.  Its words are those of `live`, so liveness
     * must not be computed anew before the next spill_look. */
    ir_live_set counted_set;
    spill_count counted;
    spill_count *pressure, *loop_pressure; /* by block id; loops: by that of their header */
    unsigned registers[CG_MAX_CLASSES];
    /* spill.c */
    spill_set w[CG_MAX_CLASSES];
    ir_vec(uint32_t) uses;       /* next uses of what the block mentions, from its end */
    ra_values *entry, *exit;     /* by block id: in registers, phis included */
    uint32_t *with, *with_epoch; /* by value id: predecessors that have it in a register */
    ir_inst **name;              /* by value id: its last reload */
    uint32_t *named;             /* by value id: the block of that reload, + 1 */
    /* spill_code.c */
    bool *in_memory; /* by value id: phis that have no register */
    bool *stored;    /* by value id: values that have to be in their slot */
    ir_vec(spill_reload) reloads;
    /* webs.c */
    uint32_t own_ids; /* values from here to old_ids are moves that keep phis apart */
    uint32_t old_ids; /* values from here on are made by the spiller */
    ir_vec(spill_isolated) isolated;
    uint32_t *web;       /* by value id: union-find */
    uint32_t *from, *to; /* by web: its life, in the order of blocks */
    uint32_t *slot;      /* by web: its slot + 1 */
} spill_state;

/* demand.c */
void spill_find_pads(const spill_state *p, const cg_needs *needs, const bool *lives_on,
                     spill_pads out[CG_MAX_CLASSES]);
/* Looks at the graph and the target, after each change of the graph. */
void spill_look(spill_state *p);
/* Values of a set that need registers. */
spill_count spill_count_live(spill_state *p, const ir_live_set *set);
/* Finds how many registers each block and each loop needs at once, after spill_look; true: more
 * than there are, somewhere. */
bool spill_find_pressure(spill_state *p);
void spill_find_distances(spill_state *p);
/* Sets next[] for what is live at the end of b, counted from its start. */
void spill_load_distances(spill_state *p, const ir_block *b, uint32_t length);
uint32_t spill_distance(const spill_state *p, const ir_inst *v);

static inline void spill_set_distance(spill_state *p, ir_inst *v, uint32_t d) {
    if (p->is_cut && p->epoch[v->id] != p->now) *ir_push(&p->s->scratch, &p->touched) = v;
    p->epoch[v->id] = p->now;
    p->next[v->id] = d;
}

/* hoist.c */
void spill_hoist(spill_state *p);
/* schedule.c; true: some block needs too many registers all the same */
bool spill_schedule(spill_state *p);

/* webs.c */
void spill_find_webs(spill_state *p);
void spill_give_slots(spill_state *p);
uint32_t spill_web(spill_state *p, const ir_inst *v);

/* spill_code.c */
ir_inst *spill_fetch(spill_state *p, ir_inst *v, ir_block *b, ir_inst *at);
void spill_write_code(spill_state *p);

#endif
