/* fuse_impl.h — private to the files of fusion: the steps of pass_fuse, in the order in which
 * fuse.c calls them, and what each hands on to the next.
 *
 * A step reads pass_fuse_input and the outputs of earlier steps, which are const to it.  Its own
 * output is its return value or its last parameter.  Steps that decide add to result->decisions. */
#ifndef SPVFUSE_FUSE_IMPL_H
#define SPVFUSE_FUSE_IMPL_H

#include "passes/fusion/fuse.h"

/* What all steps are given. */
typedef struct {
    ir_ctx *cx;
    const pass_fuse_request *request;
    const pass_fuse_member *members; /* the bodies to fuse, and their ranges in full */
    ir_arena *scratch;               /* as long as the fusion runs */
    ir_arena *out;                   /* as long as the result */
} pass_fuse_input;

/* Adds a decision, or a refusal, to the result; the latter returns false. (fuse_report.c) */
void pass_decide(const pass_fuse_input *in, pass_fuse_result *result, const char *rule,
                 const char *text);
bool pass_refuse(const pass_fuse_input *in, pass_fuse_result *result, const char *rule,
                 const char *text);

/* ------------------------------------------------------- ranges and ids (fuse_range.c, remap.c) */

/* The nd-range of the fused kernel; false after a reported error. */
bool pass_fuse_range(ir_ctx *cx, const pass_fuse_member *members, uint32_t n, ir_arena *scratch,
                     ir_range *fused);
/* Is each fused work-group inside the member's range as a whole, or outside of it? */
bool pass_has_whole_groups(const ir_range *member, const ir_range *fused);

/* What the queries of a member become in the fused kernel. */
typedef struct {
    const ir_range *own, *fused;
    bool computed;  /* ids come from the linear id, and work-groups are single items */
    ir_inst *id[3]; /* then: global ids */
} pass_remap;

/* The linear id of the item in the fused range; every item has it. */
ir_inst *pass_linear_id(const pass_remap *r, ir_builder *b);
/* Builds what the queries need, at a place that only the member's items reach. */
void pass_remap_begin(pass_remap *r, ir_builder *b);
/* The answer to a query of the member; NULL: the same as in the fused kernel. */
ir_inst *pass_remap_query(const pass_remap *r, ir_func *f, ir_inst *query);

/* --------------------------------------------------------------------- members (fuse_attrs.c …) */

/* The attributes that hold for all members; false after a reported error. (fuse_attrs.c) */
bool pass_fuse_attrs(const pass_fuse_input *in, pass_fuse_result *result, ir_kernel_attrs *into);
/* Replaces the members by bodies without calls, and with few variables.  Copies are made in
 * *stage, which is to be freed by the caller; NULL: no member was replaced. (fuse_stage.c) */
void pass_fuse_stage(const pass_fuse_input *in, pass_fuse_member *members, ir_module **stage);
/* Can their bodies be taken as they are?  False after a refusal.  `staged`: they are copies.
 * (fuse_fit.c) */
bool pass_fuse_fit(const pass_fuse_input *in, bool staged, pass_fuse_result *result);
/* Declares the fused kernel in result->module: one parameter per class of identical ones, with the
 * facts that hold for all of the class.  Fills args and arg_of.  False after a reported error.
 * (fuse_params.c) */
bool pass_fuse_params(const pass_fuse_input *in, pass_fuse_result *result);

/* ------------------------------------------------------------------- summaries (fuse_summary.c) */

/* An element of a list of accesses, which is sorted by object and then by order in the kernel. */
typedef struct {
    uint64_t object; /* pass_number_of_object */
    const pass_access *access;
    uint32_t writes_before; /* writes that precede it in the list */
} pass_object_access;

/* The accesses of one object: [at, end). */
typedef struct {
    const pass_object_access *at, *end;
} pass_object_span;

/* The accesses of a member by object.  A set of objects has one bit for each, by its number modulo
 * 64, and all bits if one is unknown. */
typedef struct {
    const pass_object_access *list; /* n, and one that ends them */
    uint32_t n;
    bool has_unknown; /* an access of an object that is not known */
    uint64_t used, written;
} pass_object_index;

/* What is the same for all members. */
typedef struct {
    uint32_t nargs;           /* of the fused kernel */
    const bool *own;          /* by argument: see pass_is_own */
    bool one_group, one_item; /* the fused kernel runs as no more than that */
} pass_fused_facts;

/* The memory that a member uses. */
typedef struct {
    pass_launch launch; /* argument numbers are those of the fused kernel */
    pass_accesses accesses;
    pass_object_index objects;
    const pass_fused_facts *fused;
    bool remapped;
    bool repeated; /* another member is like it */
    uint32_t like; /* the first member with these accesses to these arguments */
} pass_summary;

/* An access of a member. */
typedef struct {
    const pass_summary *of;
    const pass_access *access;
} pass_side;

/* What the members read and write. */
pass_summary *pass_fuse_summaries(const pass_fuse_input *in, const pass_fuse_result *result);
/* The number of the known object of an access: that of the argument, or a larger one for a variable
 * of the program. */
uint64_t pass_number_of_object(const pass_launch *l, const pass_access *x);
/* The accesses of an object in a member. */
pass_object_span pass_find_object(const pass_summary *s, uint64_t object);
/* Is it proved that no two items share a byte of this argument?  That is tried for arguments that
 * are written and that many members use. */
bool pass_is_own(const pass_summary *s, uint64_t object);
static inline bool pass_is_write(const pass_access *x) { return (x->kind & PASS_WRITES) != 0; }

/* ------------------------------------------------------------------ layouts (layout.c, assigned.c)
 *
 * Accesses of a buffer touch the bytes base(ids) + block * stride + place, and no other item (or
 * work-group) touches those that one does. */

typedef enum { PASS_BY_ITEM, PASS_BY_LINEAR_ID, PASS_BY_GROUP } pass_basis;

typedef struct {
    pass_basis basis;
    int64_t factor[3]; /* of global ids, the linear id, or group ids; in bytes */
    uint64_t size[3];  /* how many of these ids there are */
    pass_affine arguments;
    int64_t origin;      /* base = factors * ids + arguments + origin */
    int64_t stride;      /* 0: one block */
    int64_t first, last; /* blocks */
    int64_t low, high;   /* low <= place, place + size of the access <= high */
    uint64_t align;      /* the greatest alignment of an access */
} pass_layout;

/* The alignment of an access, in bytes. */
uint64_t pass_access_align(const pass_access *x);
/* The layout of n > 0 accesses of one buffer; false: not proved. */
bool pass_find_layout(const pass_side *sides, uint32_t n, pass_basis basis, pass_layout *out);
/* The layout by items: by linear id, or by ids if that is not proved. */
bool pass_find_item_layout(const pass_side *sides, uint32_t n, pass_layout *out);
/* Prints "offset - 4*global_id.0", and ", 2 blocks of 4 bytes from every 2048" if there are several
 * blocks. */
void pass_print_layout(ir_text *out, const pass_layout *l);

/* The position of an access in its owner's part, where blocks follow each other; false: the access
 * does not fit the layout. */
bool pass_find_position(const pass_layout *l, const pass_side *s, pass_affine *position);
/* The size of an owner's part. */
uint64_t pass_layout_bytes(const pass_layout *l);
/* A read among the sides before which its owner may not have written all bytes that it reads, or
 * NULL.  Sides of one member have one summary, and those of earlier members have summaries at lower
 * addresses. (assigned.c) */
const pass_side *pass_find_unassigned(const pass_layout *l, const pass_side *sides, uint32_t n,
                                      ir_arena *scratch);

/* The lanes of a load that are used other than to be stored back, and those of a store that change
 * memory, a bit each.  UINT64_MAX: it is no vector. (lanes.c) */
uint64_t pass_used_lanes(const pass_side *s);
uint64_t pass_changed_lanes(const pass_side *s);
uint64_t pass_all_lanes(ir_type t);

/* ----------------------------------------------------------------------- promotion (promote*.c) */

typedef struct {
    ir_value_list addresses;
    const char *rule, *why; /* "promote.stored", "stores its address in memory" */
} pass_address_uses;

/* Lists an address and those that are made from it by offsets and casts.  False with a reason: one
 * of them is used other than for accesses, or for atomics that are not allowed. */
bool pass_find_address_uses(ir_inst *address, bool allow_atomics, ir_arena *scratch,
                            pass_address_uses *u);

/* A buffer that has become memory of its own. */
typedef struct {
    uint32_t arg;
    ir_space space; /* IR_PRIVATE, IR_LOCAL */
    pass_side *sides;
    uint32_t nsides;
    uint64_t bytes; /* of each owner: item or group */
    pass_layout layout;
    bool assumed;      /* the caller asserts what a layout would prove (promote.c) */
    uint64_t elements; /* of each owner; assumed: indices count modulo these */
} pass_promoted;

typedef ir_vec(pass_promoted) pass_promotions;

/* Decides what becomes of the buffers that the request names; a refusal is the last decision.
 * Accesses with an asserted map get offsets that say so.  False after a reported error. */
bool pass_fuse_promote(const pass_fuse_input *in, pass_summary *summaries, pass_fuse_result *result,
                       pass_promotions *list);
/* Changes the bodies: parameters become pointers to private or local memory.
 * (promote_rewrite.c) */
void pass_promote_bodies(const pass_fuse_input *in, const pass_promotions *list,
                         const pass_summary *summaries, const pass_fuse_result *result);
/* Makes the memory of a promoted buffer; b is at the beginning of the kernel. */
ir_inst *pass_promoted_memory(const pass_promoted *p, const char *name, ir_builder *b);

/* ---------------------------------------------------------- legality (dependence.c, legality.c) */

/* The dependence of a member on an earlier one, with the two accesses that are the reason; NULL for
 * none. */
typedef struct {
    pass_dependence_kind kind;
    pass_side first, second;
} pass_dependence;

/* Places in lists by argument, after the arguments, for all other memory. */
enum { PASS_PROGRAM, PASS_ANYWHERE, PASS_OTHERS };
/* Keeps the worse dependence in the list, for the argument or place of each of the two sides. */
void pass_keep_worse(pass_dependence *by_arg, const pass_dependence *d);

/* The worst dependence of b on a, an earlier member; keeps the worst of each argument. */
pass_dependence pass_find_dependence(const pass_summary *a, const pass_summary *b,
                                     pass_dependence *by_arg);
/* The first dependence of the accesses in y, of member b, on those in x, of member a. */
pass_dependence pass_find_first_dependence(const pass_summary *a, pass_object_span x,
                                           const pass_summary *b, pass_object_span y);
/* The number of pairs of accesses that pass_find_dependence compares. */
uint64_t pass_count_pairs(const pass_summary *a, const pass_summary *b);

/* Decides whether the members may be fused, and after which of them items wait, and fills buffers
 * and gaps.  False if the last decision is a refusal, of this step or an earlier one.
 * (legality.c) */
bool pass_fuse_legal(const pass_fuse_input *in, const pass_summary *summaries,
                     pass_fuse_result *result);

/* ------------------------------------------------------------------------------ loops (split.c) */

/* The cost of an item of a body, without addresses, loads and stores; zeros: the body has loops. */
pass_cost pass_find_length(ir_func *f, ir_arena *scratch);
/* Should a body that depends on those before it run in another loop over the items? */
bool pass_should_split(const ir_range *r, bool lanes, const pass_cost *before,
                       const pass_cost *next);

/* ----------------------------------------------------------- reports (fuse_report.c, traffic.c) */

/* The dependence that items wait for between a member and the next one, or the worst that needs no
 * waiting. */
typedef struct {
    pass_wait wait;
    pass_dependence why;
} pass_gap;

/* The result of legality.c. */
typedef struct {
    const pass_fuse_input *in;
    const pass_summary *summary; /* by member */
    pass_dependence *by_arg;     /* by argument: the worst between two members */
    pass_gap *gap;               /* by member, the last aside */
} pass_findings;

/* Fills the buffers and gaps of the result: what the dependences are to the user.
 * (fuse_report.c) */
void pass_fuse_report(const pass_findings *found, pass_fuse_result *result);
/* The description of a side in a report, and its text; `all`: the summaries of the members. */
pass_access_info *pass_describe_side(const pass_fuse_input *in, const pass_summary *all,
                                     const pass_side *s);
void pass_print_side(ir_text *out, const pass_access_info *x);
pass_dependence_info pass_describe_dependence(const pass_findings *found, const pass_dependence *d);
/* The bytes that each buffer moves, fused and not. (traffic.c) */
void pass_find_traffic(const pass_findings *found, pass_fuse_result *result);

/* ------------------------------------- the kernel (fuse_build.c, fuse_params.c, specialize.c) */

/* Builds the fused kernel from the bodies, with guards, and barriers where gaps wait. */
void pass_fuse_build(const pass_fuse_input *in, const pass_promotions *list,
                     pass_fuse_result *result);

/* Applies the constants of the request to the built kernel and drops their parameters. */
bool pass_fuse_constants(const pass_fuse_input *in, pass_fuse_result *result);
/* Specializes a kernel for the range of its launch; returns whether anything changed.
 * (specialize.c) */
bool pass_apply_range(const pass_launch *l);

#endif
