/* launch.h — the contract between the code of a work-group and its caller on this machine.
 *
 * A kernel becomes two functions with C linkage and the same parameters:
 *   void k(const ir_group_info *g, void *const *args)        runs the work-group g->group_id
 *   void k.block(const ir_group_info *g, void *const *args)  runs all groups of the box from
 *                                                           group_id up to, without, group_end
 *
 * args, one entry per parameter of the kernel:
 *   pointer to global, constant memory or an opaque object   the pointer itself
 *   pointer to local memory                                  its byte offset from g->local
 *   scalar, vector, struct passed by value                   the address of the value
 *
 * Local memory: g->local, aligned to IR_LOCAL_ALIGN, holds the kernel's own variables first
 * (ir_group_need.local bytes) and then what the launch adds for parameters; it belongs to the
 * thread that runs the group.  g->scratch holds what work-items keep over barriers.
 *
 * The public header of the runtime shows the same struct under another name. */
#ifndef SPVFUSE_IR_LAUNCH_H
#define SPVFUSE_IR_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

enum { IR_LOCAL_ALIGN = 128 };

typedef struct {
    uint64_t group_id[3];      /* of the first group */
    uint64_t group_end[3];     /* k.block: after the last one, per dimension */
    uint64_t num_groups[3];    /* of the launch */
    uint64_t local_size[3];    /* as launched; the last group of a dimension may be smaller */
    uint64_t global_size[3];   /* work-items */
    uint64_t global_offset[3]; /* work-items */
    uint32_t work_dim;
    uint32_t local_bytes; /* of local memory: where generic pointers lead is asked */
    void *local;          /* see above */
    void *scratch;        /* at least what ir_group_need asks for, aligned to IR_LOCAL_ALIGN */
    /* printf of a kernel: arguments are one after the other at multiples of 8 bytes, vectors lane
     * by lane without gaps; scalar floats are f64, strings are addresses.  Gives 0, or -1 when it
     * could not.  May be NULL: nothing is printed. */
    int32_t (*print)(void *user, const char *format, const void *arguments, uint64_t bytes);
    void *user;
} ir_group_info;

/* What one work-group needs, besides its arguments. */
typedef struct {
    uint64_t local;        /* bytes of local memory for the kernel's own variables */
    uint64_t scratch;      /* bytes of scratch memory, whatever the local size */
    uint64_t scratch_item; /* bytes for each work-item besides; their number is rounded up to 64 */
} ir_group_need;

/* What a phase asks about the range, besides ids.  Linear ids depend on all sizes but the last. */
typedef enum { IR_ASKS_NOTHING, IR_ASKS_LINEAR_IDS, IR_ASKS_SIZES } ir_question;

/* The work-items that do anything in a phase: along each dimension their global id, which counts
 * from the offset, is below `end`; or, if of_groups, the id of their work-group is. */
typedef struct {
    uint32_t end[3];    /* 0: all of them */
    uint16_t of_groups; /* 1 or 0 */
    uint16_t asks;      /* ir_question */
} ir_extent;

/* How many of `groups` work-groups along dimension d have an item that does anything; these are the
 * first ones.  A group has `size` items. */
static inline uint64_t ir_groups_within(const ir_extent *e, unsigned d, uint64_t offset,
                                        uint64_t size, uint64_t groups) {
    uint64_t end = e->end[d], n = end;
    if (!end) return groups;
    if (!e->of_groups) {
        end = end > offset ? end - offset : 0;
        n = (end + size - 1) / size;
    }
    return n < groups ? n : groups;
}

enum { IR_EXTENTS = 32 };

/* What a kernel of several phases needs (passes/workgroup/phases.c): all of its groups run once for
 * each phase, before any begins the next one.  Two arguments follow those that it has: the address
 * of memory that lasts as long as the launch, aligned to IR_LOCAL_ALIGN, and a uint32_t, the phase.
 * Groups in which no item does anything in a phase may be left out.
 */
typedef struct {
    uint64_t n; /* 0: it has none, and no such arguments */
    /* Bytes of that memory for each work-item; their number is rounded up as above. */
    uint64_t item;
    uint64_t group;               /* bytes of it for each work-group */
    ir_extent extent[IR_EXTENTS]; /* of the first phases; further ones may need all work-items */
} ir_phases;

/* An nd-range: what a kernel is launched on.  Sizes are in work-items, x first. */
typedef struct {
    uint32_t dims;                           /* 1 to 3 */
    uint64_t global[3], local[3], offset[3]; /* local all 0: the launch chooses */
} ir_range;

static inline bool ir_has_local_size(const ir_range *r) {
    return r->local[0] || (r->dims > 1 && r->local[1]) || (r->dims > 2 && r->local[2]);
}

/* What a parameter of a kernel is given. */
typedef enum {
    IR_ARG_POINTER, /* to global or constant memory */
    IR_ARG_LOCAL,   /* a pointer to local memory; a launch gives its size */
    IR_ARG_VALUE,   /* a scalar, a vector, or a struct by value */
    IR_ARG_IMAGE,
    IR_ARG_SAMPLER
} ir_arg_kind;

/* How object files list their kernels: an array of entries, ended by one without a name. */
typedef struct {
    const char *name; /* or NULL */
    uint32_t kind;    /* ir_arg_kind: how args[n] is read, see above */
    uint32_t size;    /* IR_ARG_VALUE: bytes */
    uint32_t align;   /* of the value, or of what the address of local memory must be */
    uint32_t reserved;
} ir_arg_entry;

/* What the code of an object was made of and for, as data with the name `spvf_origin`.  The version
 * counts changes of this contract: code of another one is not run by devices. */
enum { IR_LAUNCH_VERSION = 1 };
typedef struct {
    uint32_t version;
    uint32_t level;  /* of the machine */
    uint64_t source; /* ir_module.source */
} ir_object_origin;

typedef struct {
    const char *name;
    void (*run)(const ir_group_info *g, void *const *args);
    void (*run_block)(const ir_group_info *g, void *const *args);
    const ir_arg_entry *args;
    uint64_t nargs;
    ir_group_need need;
    uint32_t local_size[3]; /* that the code is made for; all 0: for any */
    uint32_t stack;         /* bytes that a call needs at most */
} ir_kernel_entry;

_Static_assert(sizeof(void *) != 8 || (sizeof(ir_group_info) == 184 && sizeof(ir_arg_entry) == 24 &&
                                       sizeof(ir_kernel_entry) == 80),
               "another layout is another version");

#endif
