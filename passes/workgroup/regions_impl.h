/* regions_impl.h — private to the files of regions: what they find out and hand on.
 *
 * It is in the order in which pass_make_group (regions.c) needs it. */
#ifndef SPVFUSE_REGIONS_IMPL_H
#define SPVFUSE_REGIONS_IMPL_H

#include "passes/analysis/analysis.h"
#include "passes/workgroup/regions.h"

/* What all items of a group execute before they meet again: the blocks that can be reached from the
 * head without passing another head. */
typedef struct {
    ir_block *head;
    ir_block_list blocks;  /* head first */
    ir_block_list targets; /* the heads, or the end, that come next, each once */
    ir_block_list exits;   /* blocks that lead there */
    ir_block *decider; /* its branch says which target: all exits are its; NULL: several blocks */
    ir_inst *first;    /* of the head, phis aside; values that come in are read before it */
    ir_block *before;  /* runs once for the group, in front of the loops */
    ir_inst *start[3]; /* where the loops begin; NULL: at 0 */
    ir_inst *bound[3]; /* where they end, below the number of items; NULL: at that number */
    ir_inst *guard;    /* does any item have something to do?  NULL: it is not known */
    ir_inst *id[3], *item; /* of the item that the loops are at: local ids, and in linear order */
} pass_region;

#define PASS_NO_REGION UINT32_MAX
#define PASS_SHARED (UINT32_MAX - 1)

typedef struct {
    ir_inst *stands; /* an address that is used until there is the variable */
    ir_type type;
} pass_shared;

/* A group function in the making.  Its blocks run in this order: entry, group, start (the first one
 * of the items' code), the rest of that code, end (where all items have finished). */
typedef struct {
    ir_func *kernel, *f;
    ir_arena *scratch;
    pass_group_shape shape;
    pass_group_code *out;
    ir_builder entry; /* where values of the launch are computed */
    ir_builder group; /* where values of the group are computed */
    ir_block *start, *end;
    ir_inst *info, *args;
    ir_map known; /* what has been loaded from info, by offset */

    ir_inst *first_group[3]; /* the group that the function is at, until there are loops */
    ir_inst *count[3];       /* items of this group; NULL: one */
    ir_inst *id[3], *item;   /* stand for the counters of the loops that there will be */

    ir_vec(ir_inst *) global_ids;

    ir_vec(pass_shared) shared;
    ir_vec(ir_block *) meetings; /* blocks that begin with a meeting */
    pass_uniformity uniform;
    uint32_t nblocks;     /* ids of blocks are below, until regions have loops */
    bool *is_head, *hard; /* by block id; hard: in every program all items come there, or none */
    pass_region *regions;
    uint32_t nregions;
    uint32_t *region_of; /* by block id: the one that has it, PASS_NO_REGION or PASS_SHARED */
    uint64_t items64;    /* items of a group, rounded up; 0: known at launch */
    ir_inst *rounded;    /* the same as a value */
} pass_grouping;

/* ------------------------------------------ arguments and ids (regions_launch.c, regions_ids.c) */

/* Begins out->block and copies the kernel into it: parameters are read from args. */
void pass_take_kernel(pass_grouping *g);
/* Is a struct that is passed by value only read? */
bool pass_is_only_read(const ir_inst *param, ir_arena *scratch);
/* A field of info, at its offset; an element of an array of sizes or ids. */
ir_inst *pass_info_field(pass_grouping *g, size_t offset, ir_type t);
ir_inst *pass_info_size(pass_grouping *g, size_t array, unsigned d);
ir_inst *pass_number(pass_grouping *g, uint64_t n);
/* A sum or product of sizes or ids: it does not wrap. */
ir_inst *pass_build_plain(ir_builder *b, ir_op op, ir_inst *x, ir_inst *y);
/* The name of a value of the kernel, for one of the function. */
void pass_keep_name(pass_grouping *g, const ir_inst *from, const ir_inst *v);
/* Replaces queries, by fields of info and by g->id and g->item. (regions_ids.c) */
void pass_answer_queries(pass_grouping *g);
/* Are all sizes of the dimension 1, whatever the launch? */
bool pass_is_flat(const pass_grouping *g, unsigned d);
ir_inst *pass_group_id(pass_grouping *g, unsigned d);
/* Gives variables in local memory their place. */
void pass_place_locals(pass_grouping *g);
/* Loops over all groups that info asks for, around all that depends on the group. */
void pass_loop_over_groups(pass_grouping *g);

/* --------------------------------- collective operations, printf (regions_collect.c, …_print.c) */

/* Why i, an operation of several items, cannot be expanded; NULL: it can. */
const char *pass_refuse_collective(const ir_inst *i);
/* Barriers and shared variables instead of operations of the group. */
void pass_expand_collectives(pass_grouping *g);
/* A new variable of the group: an address that stands for it until there is the variable. */
ir_inst *pass_shared_variable(pass_grouping *g, ir_type t);
/* Makes those variables, once the regions have their loops. */
void pass_make_shared(pass_grouping *g);
void pass_expand_prints(pass_grouping *g);
/* Comparisons of addresses instead of questions about spaces. (regions_spaces.c) */
void pass_answer_spaces(pass_grouping *g);
/* `bytes` of scratch memory for the group, until items have theirs. (regions_keep.c) */
ir_inst *pass_group_storage(pass_grouping *g, uint64_t bytes);

/* ---------------------------------------------------------------------- regions (regions_cut.c) */

/* By block id: where items meet after the branch that ends it is open until they do.
 * (regions_decide.c) */
bool *pass_find_open(pass_grouping *g);
/* Cuts blocks in front of meetings, and finds regions.  False: refused. */
bool pass_find_regions(pass_grouping *g);
/* Gives each region blocks of its own. */
void pass_unshare_regions(pass_grouping *g);

/* --------------------------------------------------------------------- context (regions_keep.c) */

/* Values that regions hand on go through memory: a variable of the function when they are the same
 * for all items, otherwise an element for each item. */
void pass_keep_values(pass_grouping *g);

/* A value and the number of a region that it comes into, or that makes it. */
typedef struct {
    uint32_t region;
    const ir_inst *value;
} pass_arrival;

/* Of a place in memory, ascending; `in` is not all if it is more than can be joined. */
typedef struct {
    ir_vec(pass_arrival) in, made;
} pass_kept_place;

/* Values that cross heads, and which of them have one place for each item. */
typedef struct {
    const ir_live *live;
    ir_inst *const *values;
    uint32_t nvalues, n;    /* n: value ids are below */
    const bool *each;       /* by value id: kept for each item, read at heads only */
    uint32_t *same;         /* by value id: of a value with the same place; found */
    pass_kept_place *place; /* by that id; found */
} pass_kept;

/* (regions_share.c) */
void pass_share_places(pass_grouping *g, const pass_kept *kept);
/* Is v in phi's place already, where the region ends? */
bool pass_has_place(const pass_grouping *g, const pass_kept *kept, const ir_inst *v,
                    const ir_inst *phi, uint32_t region);

/* ---------------------------------------------------------------------- loops (regions_loops.c) */

/* Finds bounds of the loops in what the region begins with. (regions_bounds.c) */
void pass_find_bounds(pass_grouping *g, pass_region *r);
/* Removes what is left of the meetings, puts each region into loops over the items and links the
 * regions. */
void pass_loop_over_items(pass_grouping *g);

#endif
