/* regions.h — the code of a work-item becomes the code of a work-group (regions.c), in phases where
 * groups wait for each other (phases.c). */
#ifndef SPVFUSE_REGIONS_H
#define SPVFUSE_REGIONS_H

#include "ir/launch.h"
#include "ir/target.h"
#include "passes/passes.h"

enum { PASS_LOCAL_ARGS = 4 };

/* What all launches of the code have in common; zeros: nothing is known.  A local size that the
 * kernel requires counts as known.  Work-groups have less than 2^31 items. */
typedef struct {
    uint64_t local[3]; /* work-items of a group; 0: the launch decides */
    /* Bytes that arguments of local memory have, by their order; 0: the launch decides. */
    uint64_t local_args[PASS_LOCAL_ARGS];
    bool whole_groups;  /* no group is smaller */
    bool no_offset;     /* the global offset is 0 */
    bool small_ids;     /* all global ids are below 2^31 */
    bool short_numbers; /* global ids are short, and so are integers by value: pass_may_be_short */
    unsigned dims;      /* 1 to 3: sizes beyond are 1; 0: the launch decides */
    bool apart;         /* no two arguments lead to the same memory */
    bool on_lines;      /* all that lead to memory are multiples of IR_LINE */
    bool streams;       /* more memory is accessed than caches hold */
    bool small;         /* too little to do for code that takes long to make */
    unsigned inner;     /* the dimension of the innermost loop over items: pass_find_inner */
    bool transposes;    /* items that are lanes are those of the loop around it: pass_find_inner */
    /* Work-items of a sub-group, a power of two up to PASS_MAX_SUBGROUP; 0: one.  It is not a fact
     * about launches but a decision (pass_subgroup_size), on which all code of a kernel agrees. */
    unsigned subgroup;
} pass_group_shape;

enum { PASS_MAX_SUBGROUP = 64 };

/* The work-items of a full sub-group of the kernel: what it requires, if that is possible,
 * otherwise as many as a vector of the target has lanes of 32 bits.  NULL: of one that requires
 * nothing. */
unsigned pass_subgroup_size(const ir_func *kernel, const ir_target *target);
/* The same for kernels that do not depend on it: one. */
unsigned pass_subgroup_needed(const ir_func *kernel, const ir_target *target);

/* Arguments of the kernel do not overlap: each pointer is marked as leading to memory that no other
 * one leads to.  False: the kernel has addresses from elsewhere, so nothing is known.
 * (regions_promises.c) */
bool pass_promise_apart(ir_func *kernel);
/* Can a value of this type be marked as short?  Numbers of 8 bits may be negative. */
static inline bool pass_may_be_short(ir_type t) {
    return ir_is_int(t) && !ir_is_vector(t) && ir_bits(NULL, t) > 15;
}
/* Global ids and integers by value are short: the kernel and its parameters are marked. */
void pass_promise_short(ir_func *kernel);

/* What is known of a launch. */
typedef struct {
    const ir_range *range;
    const int64_t *const *value; /* by parameter: its value; NULL: it is not known */
    const uint8_t *const *bytes; /* by parameter: the bytes of a struct by value, or NULL */
} pass_given;
/* What an item has to do. */
typedef struct {
    double steps; /* instructions that it executes */
    double size;  /* instructions of the kernel */
} pass_work;
/* An estimate; false: the loops of the kernel are not known.  (work.c) */
bool pass_estimate_work(const ir_func *kernel, const pass_given *given, ir_arena *scratch,
                        pass_work *out);

/* How a kernel is made for launches that are parts of a range (boxes.c). */
typedef enum {
    PASS_WHOLE,   /* it is not */
    PASS_GUARDED, /* items beyond the end of the range do nothing */
    PASS_BOXES    /* each launch has groups of one size */
} pass_parts;
enum { PASS_BOX_NUMBERS = 12 };
/* Makes a kernel that calls nothing such a one.  Numbers of the given type, IR_I32 if ids and sizes
 * fit, otherwise IR_I64, follow its parameters, three of each.  Guarded: the end of the range,
 * which is the offset and the size, and the offset, whereas global ids have that of the launch.
 * Boxes: the first group of the launch, the number of groups, local sizes without those that are
 * smaller at the ends, global sizes. */
pass_parts pass_make_parts(ir_func *kernel, ir_type number, ir_arena *scratch);
/* Boxes, whether it observes its groups or not. */
void pass_make_boxes(ir_func *kernel, ir_type number);

/* A printf whose operands are written to memory (prints.c), and what they are. */
typedef enum { PASS_INTEGER, PASS_FLOAT, PASS_POINTER, PASS_STRING } pass_printed_kind;
typedef struct {
    pass_printed_kind kind;
    unsigned lanes, bits; /* of a lane */
    uint64_t limit;       /* bytes of a string that are wanted, at most */
} pass_printed;
typedef struct {
    const char *format;
    const pass_printed *operand;
    uint32_t n;
} pass_print;
typedef ir_vec(pass_print) pass_print_list;
/* Is the operand printed as a string, and of how many bytes at most? */
typedef bool pass_string_limit(const char *format, uint32_t operand, uint64_t *limit);
/* Makes each printf of a kernel, which calls nothing, a record in memory, whose address becomes its
 * last parameter.  Adds them to the list, whose places are their numbers, in `out`.  False: the
 * kernel prints nothing, and stays as it is. */
bool pass_record_prints(ir_func *kernel, pass_string_limit *limit_of, ir_arena *out,
                        pass_print_list *list);

/* In which order loops should visit items.  It pays only if groups have a fitting form, so a kernel
 * must not observe them. */
typedef struct {
    unsigned inner; /* the dimension of the innermost loop: not 0 if neighbours are nearer in memory
                       in another one, or if it transposes and reads along that one */
    bool crosses;   /* other neighbours are near in some accesses, whose lines of a cache are used
                       again if groups are short in that dimension */
    bool transposes; /* what it reads is near in that dimension, and what it writes in the next one,
                        which is that of lanes then */
} pass_item_order;
/* has_lanes: may items be lanes of vectors?  Otherwise nothing is gained by transposing.
 * (inner.c) */
pass_item_order pass_find_inner(const ir_func *kernel, bool has_lanes, ir_arena *scratch);
/* The dimensions of the loops over items, from the innermost to the outermost. */
static inline void pass_order_loops(unsigned inner, unsigned order[3]) {
    order[0] = inner;
    order[1] = inner == 0;
    order[2] = inner == 2 ? 1 : 2;
}

/* What is known of launches on a range. */
pass_group_shape pass_shape_of(const ir_range *r);
/* Are all global ids below IR_SHORT? */
bool pass_has_short_ids(const ir_range *r);

typedef struct {
    ir_func *block, *one; /* k.block and k of launch.h, at level group */
    ir_group_need need;
    uint32_t item_steps; /* instructions of an item; 0: it loops, so the number is not known */
    const char *refusal; /* why there is no code, in the arena that was given; NULL: there is */
} pass_group_code;

/* Makes the two functions next to a kernel that calls nothing; the kernel is used up, and its name
 * is that of out->one.  A kernel that is refused stays as it is. */
void pass_make_group(ir_func *kernel, const pass_group_shape *shape, ir_arena *arena,
                     pass_group_code *out);

/* Makes a kernel that waits for all work-groups, and calls nothing, one of several phases
 * (phases.c); one that does not wait stays as it is.  Gives why it cannot be done, or NULL. */
const char *pass_cut_phases(ir_func *kernel, ir_arena *scratch, ir_phases *out);
/* The same where a launch for each phase runs work-items as threads: no barrier begins a phase, and
 * variables in local or private memory that several of them use become global memory, since the
 * other kinds have addresses of their own. */
const char *pass_cut_launches(ir_func *kernel, ir_arena *scratch, ir_phases *out);
/* What pass_cut_launches has made of a kernel becomes one that runs all phases, for a launch whose
 * groups all run at once, in one dimension, and loop over those of the range, which is whole
 * groups.  Parameters follow as in boxes, whose first group is 0.  (resident.c) */
void pass_make_resident(ir_func *kernel, const ir_phases *phases, ir_type number);
/* Does it wait for all work-groups, not counting functions that it calls? */
bool pass_has_phases(const ir_func *kernel);

#endif
