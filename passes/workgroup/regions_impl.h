/* regions_impl.h — private to the files of regions: the steps in the order in which regions.c takes
 * them, and what each hands to the next ones. */
#ifndef SPVFUSE_REGIONS_IMPL_H
#define SPVFUSE_REGIONS_IMPL_H

#include "passes/analysis/analysis.h"
#include "passes/workgroup/regions.h"

/* ------------------------------- what is known of arguments (regions_promises.c, …_streams.c) */

typedef struct {
    bool apart; /* no two lead to the same memory, and the kernel has no other addresses */
    bool waits; /* items may wait for each other */
} pass_group_promises;

/* The kernel's parameters and stores have what follows from the shape. */
void pass_take_promises(ir_func *kernel, const pass_group_shape *shape, ir_arena *scratch,
                        pass_group_promises *out);
/* The flags of the load of an argument that is an address. */
unsigned pass_promises_of(const pass_group_promises *known, const pass_group_shape *shape,
                          const ir_param *p);
/* Marks stores that go past the caches, of a kernel none of whose arguments overlap. */
void pass_mark_streams(ir_func *kernel, ir_arena *scratch);

/* ---------------------------------------------------------- the new function (regions_params.c) */

/* The function k.block in the making.  Its blocks run in this order: entry, group, start (the first
 * one of the code of an item), the rest of that code, end (where all items have finished). */
typedef struct {
    const ir_func *kernel;
    const pass_group_shape *shape;
    pass_group_promises promises;
    ir_arena *scratch;
    ir_func *f;
    ir_builder entry; /* where values of the launch are computed */
    ir_builder group; /* where values of the group are computed */
    ir_block *start, *end;
    /* Of sub-groups of several items.  While regions of a sub-group are made, `lanes` is the number
     * of its items, the sub-group takes the place of the group, and `outer` is the group's
     * block. */
    ir_builder subgroup; /* where values of the sub-group are computed */
    unsigned lanes;
    const ir_block *outer;
    bool has_barriers;   /* sub-groups wait for each other */
    bool has_parted;     /* the code of a sub-group runs regions in turns (regions_order.c) */
    ir_map fields;       /* of info that have been loaded, by offset and type */
    ir_group_need *need; /* grows with the memory that the function uses */
} pass_group_builder;

/* Begins the function and copies the kernel into it: parameters are read from args. */
void pass_copy_kernel(pass_group_builder *g);
/* A field of info, at its offset; an element of an array of sizes or ids. */
ir_inst *pass_info_field(pass_group_builder *g, size_t offset, ir_type t);
ir_inst *pass_info_size(pass_group_builder *g, size_t array, unsigned d);
ir_inst *pass_number(const pass_group_builder *g, uint64_t n);
/* A sum or product of sizes or ids, which does not wrap. */
ir_inst *pass_build_plain(ir_builder *b, ir_op op, ir_inst *x, ir_inst *y);
/* Gives v, a value of the function, the name of a value of the kernel. */
void pass_copy_name(pass_group_builder *g, const ir_inst *from, const ir_inst *v);
/* `bytes` of scratch memory for the group, in front of what items have. */
ir_inst *pass_group_storage(pass_group_builder *g, uint64_t bytes);
/* Replaces variables in local memory by addresses of the launch's local memory. */
void pass_place_locals(pass_group_builder *g);
/* Are all sizes of the dimension 1, whatever the launch? */
bool pass_is_flat(const pass_group_builder *g, unsigned d);
/* The id of the first group; of the current one, once there are loops over groups. */
ir_inst *pass_group_id(pass_group_builder *g, unsigned d);
/* Puts all that depends on the group into loops over the groups of the box in info. */
void pass_loop_over_groups(pass_group_builder *g);

/* --------------------------------------------------- structs by value (regions_structs.c) */

/* Is a struct that is passed by value only read? */
bool pass_is_only_read(const ir_inst *param, ir_arena *scratch);
/* `given`, or the copy that each item has of it if items write to it. */
ir_inst *pass_take_struct(pass_group_builder *g, const ir_inst *param, ir_inst *given);
/* Members of structs that are only read are loaded once, as parameters are.  `args`, by parameter,
 * are what the copy of the kernel has in place of them. */
void pass_load_members(pass_group_builder *g, ir_inst *const *args);

/* Answers queries of spaces by comparisons of addresses. (regions_spaces.c) */
void pass_answer_spaces(pass_group_builder *g);

/* ----------------------------------------------------------------- ids of items (regions_ids.c) */

/* What queries have become. */
typedef struct {
    ir_inst *count[3];             /* items of this group; NULL: one */
    ir_inst *id[3], *item;         /* local ids and linear id, until there are counters of loops */
    ir_inst *rounded;              /* items of a full group, rounded up to a multiple of 64 */
    ir_value_list global_id;       /* sums of a value of the group and an id */
    ir_value_list base;            /* these values of the group */
    ir_inst *subgroup, *subgroups; /* its number, and how many the group has; NULL: one item each */
    ir_inst *lane, *lanes;         /* the place of the item in its sub-group; items of that */
    ir_inst *first_x;              /* local id 0 is this plus the lane; NULL: it is no such sum */
    ir_inst *first;                /* the number of item 0 among those of the group; NULL: 0 */
} pass_item_ids;

/* Is v known before the loops over items, or no instruction? */
static inline bool pass_is_outside(const pass_group_builder *g, const ir_inst *v) {
    return !v->block || v->block == g->entry.block || v->block == g->group.block ||
           v->block == g->outer;
}
ir_inst *pass_multiply(ir_builder *b, ir_inst *const factor[3]); /* without those that are NULL */

/* Replaces the queries of the kernel. */
void pass_answer_queries(pass_group_builder *g, pass_item_ids *out);
bool pass_is_item_id(const pass_item_ids *ids, const ir_inst *v);

/* ----------------------------- collective operations (regions_collective.c), printf (…_print.c) */

/* A variable of the group, represented by an address until the regions have their loops. */
typedef struct {
    ir_inst *placeholder;
    ir_type type;
} pass_group_variable;

typedef ir_vec(pass_group_variable) pass_group_variables;

/* Why i, an operation of several items, cannot be expanded; NULL: it can. */
const char *pass_refuse_collective(const ir_inst *i);
/* Replaces operations of the group by barriers and variables of the group. */
void pass_expand_collectives(pass_group_builder *g, const pass_item_ids *ids,
                             pass_group_variables *out);
/* op(neutral, x) is x, bit for bit. */
ir_inst *pass_neutral(ir_func *f, ir_op group_op, ir_type t);
/* What an exclusive scan gives the first item. */
ir_inst *pass_first_of_scan(ir_func *f, ir_op group_op, ir_type t);
ir_inst *pass_combine(ir_builder *b, ir_op group_op, ir_inst *x, ir_inst *y);
/* The linear id that operand 1 of a broadcast in the group means. */
ir_inst *pass_find_source(ir_builder *b, const pass_item_ids *ids, const ir_inst *broadcast);
/* Replaces the placeholders by variables. */
void pass_make_variables(pass_group_builder *g, const pass_group_variables *variables);
/* Replaces printf by calls. */
void pass_expand_prints(pass_group_builder *g);

/* ------------------------------------ sub-groups of several items (regions_subgroups.c, …_lanes.c) */

/* Makes the block where values of a sub-group are computed, and the end of its code. */
void pass_begin_subgroups(pass_group_builder *g);
/* Ids of items as functions of the sub-group and the lane; ids->count is given. */
void pass_make_lane_ids(pass_group_builder *g, pass_item_ids *ids);
/* How many sub-groups so many items have. */
ir_inst *pass_count_subgroups(pass_group_builder *g, ir_builder *b, ir_inst *items);
/* Answers a query. */
ir_inst *pass_answer_lane(pass_group_builder *g, const pass_item_ids *ids, const ir_inst *query);
/* The lanes that are equal to, at least, above, at most or below that of the item: v4i32. */
ir_inst *pass_mask_of_lane(pass_group_builder *g, const pass_item_ids *ids, ir_builder *b,
                           unsigned relation);
/* What the item asks about a ballot; NULL: the operation is not such a question. */
ir_inst *pass_ask_ballot(pass_group_builder *g, const pass_item_ids *ids, ir_builder *b,
                         const ir_inst *question);
/* A ballot with these bits, a number of 32 or 64. */
ir_inst *pass_to_ballot(ir_builder *b, ir_inst *bits);
/* Bit `index` of a ballot. */
ir_inst *pass_ballot_bit(ir_builder *b, ir_inst *ballot, ir_inst *index);
/* To another width, without sign. */
ir_inst *pass_fit(ir_builder *b, ir_inst *v, ir_type t);
/* So many bytes for each item of the sub-group: the address of the first one's. */
ir_inst *pass_subgroup_storage(pass_group_builder *g, const pass_item_ids *ids, uint64_t bytes);
/* The flags of accesses to what items of a sub-group have there or in slots (regions_context.c). */
unsigned pass_lane_flags(const pass_group_builder *g);
/* Makes the code of sub-groups that of items, as which the code of the group sees them from then
 * on: *ids becomes that of sub-groups.  NULL, or why it gives up. */
const char *pass_join_lanes(pass_group_builder *g, pass_item_ids *ids);

/* ------------- operations of sub-groups of several items (regions_exchange.c, regions_meet.c) */

/* An operation at which the items of a sub-group meet.  Each has stored its operands before. */
typedef struct {
    ir_inst *marker; /* the barrier in its place */
    ir_op op;
    ir_imm imm;
    ir_type type;    /* of operand 0, in memory */
    unsigned lanes;  /* of the sub-group */
    ir_inst *by;     /* a shuffle's operand 1; NULL: it is no shuffle */
    ir_inst *from;   /* address of the lanes that items ask for; NULL: `by` is known */
    ir_inst *in;     /* address of operand 0: its components one after the other, lane by lane */
    ir_inst *index;  /* address of operand 1, which is the same for all */
    ir_inst *out;    /* address of the result, in the same order; NULL: it is the same for all */
    ir_inst *result; /* stands for the result that is the same for all */
} pass_exchange;
typedef ir_vec(pass_exchange) pass_exchanges;

/* Integers as wide as the elements of t, which number lanes. */
ir_type pass_number_type(const pass_group_builder *g, ir_type t);
/* The lane whose value a lane takes, in integers or vectors of them. */
ir_inst *pass_find_lane(ir_builder *b, const pass_exchange *x, ir_inst *lane, ir_inst *by);
/* Replaces operations at which items of a sub-group, or of the group, meet. */
void pass_find_exchanges(pass_group_builder *g, const pass_item_ids *ids, pass_exchanges *out);

/* ---------------------------------------------------------------------- regions (regions_cut.c) */

/* What all items of a group execute between two synchronization points: the blocks that can be
 * reached from the head without passing another head. */
typedef struct {
    ir_block *head;
    ir_block_list blocks;  /* head first */
    ir_block_list targets; /* the heads, or the end, that come next, each once */
    ir_block_list exiting; /* blocks that lead there */
    ir_block *chooser;   /* the only exiting block, if its branch is uniform; NULL: there is none */
    ir_inst *first;      /* of the head, phis aside; values that come in are read before it */
    ir_block *preheader; /* runs once for the group, in front of the loops */
} pass_region;

#define PASS_NO_REGION UINT32_MAX
#define PASS_SHARED (UINT32_MAX - 1)

typedef struct {
    pass_region *region;
    uint32_t n;
    uint32_t *region_of; /* by block id: the one that has it, PASS_NO_REGION or PASS_SHARED */
    bool *is_head;       /* by block id */
    uint32_t nblocks;    /* ids of blocks are below, until regions have loops */
    ir_block_list syncs; /* blocks that begin with a synchronization point */
    pass_uniformity uniform;
    /* Items of a sub-group may part: each has stored the number of the region where it goes on, and
     * the regions run in the order of these numbers, for the items that are there. */
    bool parts;
    uint32_t *number;    /* by region */
    ir_block **test;     /* by region: the block that asks whether an item waits there */
    uint32_t *following; /* by region: the one with the next number, or PASS_NO_REGION */
    ir_inst *next;       /* address of the numbers of the items, i32 */
} pass_region_graph;

/* By block id: the branch that ends it chooses where the items synchronize next.  `sync`, by block
 * id: all items come there, or none. (regions_branches.c) */
bool *pass_find_choices(const pass_group_builder *g, const pass_region_graph *graph,
                        const bool *sync);
/* Cuts blocks in front of synchronization points, and finds regions.  NULL, or why it gives up. */
const char *pass_find_regions(const pass_group_builder *g, pass_region_graph *out);
/* Gives each region blocks of its own. */
void pass_unshare_regions(const pass_group_builder *g, pass_region_graph *graph);
/* Computes in the preheaders what items get from exchanges. */
void pass_meet(pass_group_builder *g, const pass_item_ids *ids, const pass_region_graph *graph,
               const pass_exchanges *exchanges);

/* ---------------------------------------------- items that part (regions_order.c) */

/* Numbers the regions, and makes the memory for what items store. */
void pass_number_regions(pass_group_builder *g, const pass_item_ids *ids, pass_region_graph *graph);
/* The number of the region that has the head; of the end, one above all. */
uint32_t pass_number_of(const pass_group_builder *g, const pass_region_graph *graph,
                        const ir_block *head);
/* By block id: heads of loops whose next iteration items begin to write while others are still in
 * this one, after they have parted (regions_parted.c). */
bool *pass_find_staggered(const pass_group_builder *g, const pass_region_graph *graph);
/* Stores the numbers that items begin with, and makes a block for each region, which leads to its
 * preheader if an item waits there, and otherwise to the block for the next region. */
void pass_build_tests(pass_group_builder *g, const pass_item_ids *ids, pass_region_graph *graph);
/* Where the sub-group goes on after a region. */
ir_block *pass_find_next(const pass_group_builder *g, const pass_region_graph *graph,
                         const pass_region *r);
/* The address where an item stores the number. */
ir_inst *pass_next_of(pass_group_builder *g, const pass_region_graph *graph, ir_builder *b,
                      ir_inst *lane);
/* The lanes whose items are in the region: a mask; NULL: all.  b is in its preheader. */
ir_inst *pass_find_active(pass_group_builder *g, const pass_item_ids *ids,
                          const pass_region_graph *graph, const ir_block *head, ir_builder *b);

/* ------------------ values that cross regions (regions_context.c, …_again.c, …_coalesce.c) */

typedef enum {
    PASS_NOT_KEPT, /* one region has all uses, or the value is available everywhere */
    PASS_UNIFORM,
    PASS_REPEATED,
    PASS_PER_ITEM,
    PASS_VARIABLE /* a variable of the kernel, with memory for each item */
} pass_keeping;

/* Values that cross heads, and what has been decided of them, by value id. */
typedef struct {
    uint32_t n; /* ids are below */
    ir_value_list values;
    uint8_t *how;    /* pass_keeping */
    bool *mixed;     /* regions that the value comes into define it as well, or share blocks */
    bool *needed;    /* by what is repeated, also where the value itself is not live */
    bool *leaves;    /* it is read after a loop around it that items leave one by one */
    ir_map operands; /* by address of what is repeated: its operands, before reads replace them */
} pass_crossing;

/* Decides which values are computed again at heads, except mixed ones, for which that has been
 * decided.  What they are computed from is kept, and listed after the values that cross. */
void pass_choose_repeated(pass_group_builder *g, const pass_item_ids *ids,
                          const pass_region_graph *graph, pass_crossing *of);

/* Values that cross heads go through memory: a variable of the function if they are the same for
 * all items, otherwise a slot for each item.  Makes the preheaders of regions. */
void pass_build_context(pass_group_builder *g, const pass_item_ids *ids, pass_region_graph *graph);

/* Do sub-groups, which run one after the other, use memory of items again? */
bool pass_is_reused(const pass_group_builder *g);
/* `bytes` for each item: the address of item 0's.  No storage for the group may follow. */
ir_inst *pass_item_storage(pass_group_builder *g, const pass_item_ids *ids, uint64_t bytes,
                           uint64_t align);

/* A value, and the number of a region that it comes into or that defines it. */
typedef struct {
    uint32_t region;
    const ir_inst *value;
} pass_arrival;
typedef ir_vec(pass_arrival) pass_arrivals;

/* The values of a slot, by ascending regions; `in` is incomplete if it is more than can be joined.
 * */
typedef struct {
    pass_arrivals in, defined;
} pass_slot;

/* The values that cross heads, and their slots. */
typedef struct {
    const ir_live *live;
    ir_inst *const *values;
    uint32_t nvalues, n;  /* n: value ids are below */
    const bool *has_slot; /* by value id: kept for each item, and read at heads only */
    uint32_t *same;       /* out, by value id: the value that represents those of its slot */
    pass_slot *slot;      /* out, by that id */
} pass_context;

void pass_coalesce_slots(const pass_group_builder *g, const pass_region_graph *graph,
                         const pass_context *context);
/* Is v in phi's slot already, at the end of the region? */
bool pass_is_in_slot(const pass_region_graph *graph, const pass_context *context, const ir_inst *v,
                     const ir_inst *phi, uint32_t region);

/* ------------------------------------------------- in front of loops over items (regions_once.c) */

typedef struct {
    const pass_group_builder *g;
    const pass_region *region;
    const uint32_t *region_of; /* by block id: the number of the region that has it */
    uint32_t nblocks, index;   /* ids are below; of this region */
    ir_builder b;              /* at the end of the preheader */
    bool chooses_before;       /* the operand of the chooser's branch is known there */
} pass_hoister;

/* Moves what all items do alike to the preheader.  The fields but the last two are given. */
void pass_begin_hoisting(pass_hoister *h);
/* Can v be computed there, by few operations?  Computes it. */
bool pass_may_hoist(const pass_hoister *h, const ir_inst *v);
ir_inst *pass_hoist(pass_hoister *h, ir_inst *v);

/* ---------------------------------------------------- loops (regions_loops.c, regions_bounds.c) */

/* The loops of a region over items, x first. */
typedef struct {
    ir_inst *start[3]; /* the first value of the counter; NULL: 0 */
    ir_inst *bound[3]; /* where the loop ends before the number of items; NULL: at that number */
    ir_inst *guard;    /* does any item have something to do?  NULL: it is not known */
    ir_inst *id[3], *item; /* of the current item: local ids, and the linear id */
} pass_item_loops;

/* Finds bounds and the guard of the loops in what the region begins with. */
void pass_find_bounds(const pass_group_builder *g, const pass_item_ids *ids,
                      const pass_region_graph *graph, pass_hoister *hoister, pass_item_loops *out);
/* Removes the remaining barriers, puts each region into loops over the items and links the
 * regions. */
void pass_loop_over_items(pass_group_builder *g, const pass_item_ids *ids,
                          pass_region_graph *graph);

#endif
