/* check_impl.h — private to check_*.c: memory, work-items, one launch.
 *
 *   check.c          devices, buffers, programs, and the way into a launch
 *   check_setup.c    kernel, range and arguments of a launch, checked before it starts
 *   check_launch.c   nd-range, work-groups, scheduling of work-items, the interpreter's host
 *   check_memory.c   address spaces, objects, every access
 *   check_host.c     memory of the process that kernels use in place
 *   check_grid.c     work-groups that wait for each other
 *   check_race.c     which work-item touched which byte last, and is that ordered before now
 *   check_groups.c   where work-items wait; barriers, divergence
 *   check_values.c   what group operations compute
 *   check_async.c    async copies and events
 *   check_printf.c   OpenCL's printf
 *   check_origin.c   where undefined values came from
 *   check_report.c   findings: merging, naming, text
 *
 * Time is counted in slices: one run of one work-item from where it was to where it waits next.  In
 * each round every work-item of the group has a number, and one more is that of the async copies of
 * the group:
 *   slice = first slice of the group + round * (items + 1) + item
 * so a slice alone says which work-item it was, and comparing it with the slice of the last barrier
 * says whether it is ordered before now.  A group that goes on after a barrier of all groups
 * starts a new run of slices; what was before it is ordered.
 */
#ifndef SPVFUSE_CHECK_IMPL_H
#define SPVFUSE_CHECK_IMPL_H

#include "ir/interp.h"
#include "runtime/devices/check/check.h"

enum {
    CHECK_MAX_SUBGROUP = 128,
    CHECK_MAX_GROUP = 1 << 16,
    CHECK_BUFFER_ALIGN = 128, /* the largest of OpenCL's types */
    CHECK_CLASSES = 48        /* storage of 2^0 … 2^47 bytes */
};

/* --------------------------------------------------------------------------------------- memory */

typedef struct check_page check_page;

/* Bytes and their undefined flags; recycled within a launch by size class. */
typedef struct check_storage check_storage;
struct check_storage {
    uint8_t *bytes, *undef;
    check_page **pages; /* of the race shadow, or NULL */
    uint64_t cap;
    check_storage *next;
};

/* An object: buffer, global, local memory, variable.  It stays in the table after its end, until
 * its addresses are needed again. */
typedef struct check_object check_object;
struct check_object {
    uint64_t base, size;
    check_storage *store;
    uint64_t launch; /* whose race shadow store->pages is */
    ir_space space;
    bool alive, read_only;
    bool temporary;   /* made by a launch and forgotten with it */
    uint32_t owner;   /* private: the work-item in its group */
    const char *name; /* "x", "@tab"; NULL: that of the variable */
    const ir_inst *variable;
    const char *origin;  /* of a buffer: what check_buffer_describe said */
    uint64_t named_from; /* offset that the name stands for: that of the argument */
    uint32_t entries;    /* of the table that name it */
    check_object *next;  /* unused ones */
};

/* Addresses of one pointer width.  table[address >> shift] is the object there or near, or NULL;
 * entries are reused in a circle, so an ended object is remembered for as long as possible. */
typedef struct {
    unsigned shift;
    uint64_t start; /* of the addresses that the table is for */
    check_object **table;
    uint32_t n, cap, cursor;
    check_object *unused;
} check_space;

struct check_device {
    ir_ctx *cx;
    ir_arena arena;
    check_space space[2];         /* 32-bit, 64-bit */
    ir_vec(check_object *) hosts; /* at their addresses in this process, ascending */
    uint64_t launches;
    bool for_people; /* names are those of the source; what a fault gives counts as defined */
};

struct check_buffer {
    check_device *device;
    ir_arena arena;
    check_storage store;
    uint64_t size;
    unsigned flags;
    const char *origin;
    check_object *object[2]; /* in each space; NULL until a launch needs it */
};

typedef struct {
    const ir_global *global;
    const char *name;
    uint32_t index;
    check_object *object; /* global and constant ones; NULL: local, private, imported */
} check_global;

struct check_program {
    check_device *device;
    ir_arena arena;
    ir_module *module;
    ir_interp_code *code;
    ir_map global_of; /* ir_global -> check_global */
    ir_vec(check_global *) globals;
    ir_map prepared; /* kernels that were found fit to run */
};

/* ------------------------------------------------------------------------------------- a launch */

typedef struct {
    const ir_inst *inst; /* NULL: has finished */
    uint64_t group;      /* linear */
    uint32_t item;       /* in its group; the number of items: the group's copies */
} check_who;

typedef enum { CHECK_READY, CHECK_WAITING, CHECK_DONE, CHECK_TRAPPED } check_item_state;

typedef struct {
    check_item_state state;
    uint32_t index; /* linear local id */
    uint64_t local_id[3], global_id[3];
    ir_interp *run;       /* NULL before it starts and after it ends */
    uint64_t acquired[2]; /* local, global: slices up to here are ordered before this work-item */
    uint64_t pending[2];  /* what `acquired` becomes at its next acquire fence */
    unsigned released;    /* it has executed a release fence: 1 for local, 2 for global memory */
    ir_vec(check_object *) variables;
    check_object **private_globals; /* by index */
} check_item;

/* count pieces of size bytes, step bytes apart, from an offset in an object on. */
typedef struct {
    const check_object *object;
    uint64_t first, step, size, count;
} check_pieces;

/* An async copy that has not been waited for. */
typedef struct {
    uint64_t event, slice;
    const ir_inst *at;
    check_pieces to, from;
} check_copy;

typedef struct {
    uint64_t index, id[3], size[3];
    uint32_t nitems, nsubgroups;
    uint64_t steps;                    /* instructions so far */
    uint64_t first_slice, round_slice; /* of the group; of the round that runs */
    uint64_t fence[2];                 /* local, global: earlier slices are ordered before now */
    uint64_t (*sub_fence)[2];          /* the same by sub-group */
    check_object **locals;             /* by global, then by parameter */
    ir_vec(check_copy) copies;
    uint64_t last_event;
    bool alive; /* its local memory exists */
} check_group;

/* A group that waits for the others, with what is of it alone. */
typedef struct {
    check_group group;
    check_item *items;
} check_parked;

typedef struct {
    uint64_t slice; /* the first */
    uint64_t group;
} check_visit;

/* What runs on which range with which arguments (check_setup.c).  It does not change while groups
 * run. */
typedef struct {
    check_program *program;
    const check_launch *info;
    ir_arena *arena;
    check_options options;
    ir_func *kernel;
    unsigned wide; /* index of the address space */
    uint64_t global[3], local[3], offset[3], groups[3];
    const ir_value *args;   /* by parameter; pointers to memory of groups and items are missing */
    const char **arg_names; /* by parameter */
} check_setup;

/* Time, in slices. */
typedef struct {
    uint64_t slice, next; /* that runs; that has not begun */
    uint64_t phase[2];    /* local, global: slices before are ordered by a barrier of all groups */
    ir_vec(check_visit) visits; /* of groups, in the order of time */
    uint64_t ask; /* after so many instructions of the launch, whether it has taken too long */
} check_clock;

typedef struct {
    check_result *result;
    ir_vec(check_report *) reports;
    ir_map by_key;         /* reports, by what makes findings equal */
    ir_map variable_names; /* by alloca */
    check_who last_write;  /* to what is watched; no instruction: none yet */
} check_findings;

/* Memory that one step leaves for the next one of its kind. */
typedef struct {
    ir_vec(ir_interp *) idle;
    ir_value *args;               /* of the work-item that starts, by parameter */
    check_item **members;         /* that meet */
    ir_value *operands, *results; /* of a group operation, by work-item; NULL until the first one */
    ir_text printed, string;      /* of one printf, one %s */
    check_storage *storage[CHECK_CLASSES];
} check_scratch;

/* Where undefined bytes were read and written (check_origin.c). */
typedef struct {
    ir_map reads;      /* by instruction */
    ir_map writes;     /* the instruction, by address */
    unsigned noted[2]; /* reads, writes */
} check_origins;

/* A launch while its groups run. */
typedef struct {
    const check_setup *setup;
    check_device *device;
    ir_arena *arena;
    uint64_t number; /* of the launch */
    ir_interp_host host;
    check_group group; /* the one that runs */
    check_item *items; /* of the group */
    check_item *item;  /* the one that runs; NULL: the group as a whole */
    ir_vec(check_parked) parked;
    bool stop;
    check_clock clock;
    check_findings findings;
    check_origins origins;
    check_scratch scratch;
} check_state;

/* check_setup.c: what a launch asks for, in the setup's arena.  Throws, after a message, when the
 * device cannot run it, or when range or arguments do not fit the kernel. */
void check_set_up(check_setup *s);
/* Names of arguments end with the launch. */
void check_unname_buffers(const check_setup *s);

/* check_memory.c */
check_object *check_object_new(check_device *d, unsigned wide, uint64_t size, uint64_t align);
/* Forgets the objects that launches made; no launch is under way. */
void check_forget_temporary(check_device *d, unsigned wide);
check_object *check_object_at(const check_state *l, uint64_t address);

/* check_host.c: the object of that address in this process, or one that it is just beyond; NULL: it
 * is far from all. */
check_object *check_host_at(const check_device *d, uint64_t address);
void check_host_add(check_device *d, check_object *o);
/* An object of this launch, undefined, with storage of the pool. */
check_object *check_make(check_state *l, ir_space space, uint64_t size, uint64_t align);
void check_end(check_state *l, check_object *o); /* its storage goes back */
bool check_read(void *user, const ir_access *a, uint8_t *bytes, uint8_t *undef);
bool check_write(void *user, const ir_access *a, const uint8_t *bytes, const uint8_t *undef);

/* check_race.c */
bool check_is_shared(const check_object *o);
void check_race_read(check_state *l, check_object *o, const ir_access *a);
void check_race_write(check_state *l, check_object *o, const ir_access *a, bool same_value);
void check_fence(void *user, const ir_inst *i);
/* Orders everything so far before the rest of these work-items, in the memories that the semantics
 * of a barrier name. */
void check_order(check_state *l, uint32_t first, uint32_t n, bool whole_group, unsigned semantics);

/* check_groups.c */
bool check_meet(check_state *l); /* lets waiting work-items go on; false: all have ended */

/* check_grid.c */
bool check_waits_for_grid(const ir_inst *i);
/* Puts the group aside when it waits for all others; it has then to be made anew. */
bool check_park(check_state *l);
/* Lets the groups that wait go on, one after another; they may wait again. */
void check_go_on(check_state *l);

/* check_values.c: from l->operands to l->results.  `first` is the first item of the scope. */
void check_group_op(check_state *l, check_item *const *member, uint32_t n, uint32_t first);
uint64_t check_subgroup_mask(const check_state *l, const ir_inst *i, unsigned lane);
uint32_t check_subgroup_first(const check_state *l, uint32_t item);
uint32_t check_subgroup_count(const check_state *l, uint32_t item); /* its work-items */

/* check_async.c */
void check_async_copy(check_state *l, check_item *const *member, uint32_t n);
void check_wait_events(check_state *l, check_item *const *member, uint32_t n);
void check_async_end(check_state *l); /* the group ends */
/* Reports an access to what a copy in flight reads or writes. */
void check_async_access(check_state *l, const check_object *o, const ir_access *a);

/* check_printf.c */
int32_t check_print(void *user, const ir_interp *w, const ir_inst *i);

/* check_report.c */
typedef struct {
    check_kind kind;
    ir_severity severity;
    unsigned detail; /* what else tells findings apart, such as the number of an operand */
    check_who here, other;
    bool has_other;
    const check_object *object;
    uint64_t address;
    uint32_t size;
} check_finding;

void check_find(check_state *l, const check_finding *f, const char *fmt, ...) IR_PRINTF(3, 4);
check_who check_current(const check_state *l, const ir_inst *at);
check_who check_who_of(const check_state *l, uint64_t slice, const ir_inst *at);
typedef struct {
    char text[192];
} check_place_text;
/* "x + 16" */
check_place_text check_place(check_state *l, const check_object *o, uint64_t address);
const char *check_name(check_state *l, const check_object *o);
void check_deliver(check_state *l);

/* check_origin.c */
void check_note_undefined_read(check_state *l, const ir_access *a, const check_object *o);
void check_note_undefined_write(check_state *l, const ir_access *a);
/* In words, where a value came from that the instruction uses and that is undefined; NULL: it is
 * not known. */
const char *check_origin_of(check_state *l, const ir_inst *i);

/* check_launch.c */
void check_run_groups(check_state *l);
void check_make_items(check_state *l); /* room for a group */
void check_run_group(check_state *l);  /* until it ends or waits for others */
void check_end_group(check_state *l);
void check_group_shape(const check_setup *s, uint64_t index, uint64_t id[3], uint64_t size[3]);

#endif
