/* passes.h — everything that turns IR into IR: the pass context, the registry, the pipeline, and
 * fusion.  No pass includes a header of another pass; what two of them need lives in ir/. */
#ifndef SPVFUSE_PASSES_H
#define SPVFUSE_PASSES_H

#include "ir/ir.h"

/* An nd-range, x first; beyond `dims` sizes count as 1 and offsets as 0. */
typedef struct {
    unsigned dims; /* 1 to 3 */
    uint64_t global[3], local[3], offset[3];
    bool has_local; /* false: whoever launches the kernel chooses */
} pass_range;

/* What passes share while a pipeline runs.  `scratch` is emptied between passes. */
typedef struct {
    ir_ctx *cx;
    ir_arena *scratch;
    uint32_t *rule_hits;     /* counts by rule number, or NULL */
    bool trace_rules;        /* report each rewrite as a note */
    const pass_range *range; /* that kernels are launched on, for printers; NULL: unknown */
} pass_ctx;

/* A pass says whether it changed anything.  Function passes run on functions with a body. */
typedef bool pass_func_fn(ir_func *f, pass_ctx *cx);
typedef bool pass_module_fn(ir_module *m, pass_ctx *cx);
/* A printer changes nothing: it writes what it finds in f, as comments of the text form. */
typedef void pass_printer_fn(ir_func *f, pass_ctx *cx, ir_text *out);

typedef struct {
    const char *name;
    const char *doc;
    pass_func_fn *on_func; /* one of the three */
    pass_module_fn *on_module;
    pass_printer_fn *print;
} pass_info;

extern const pass_info passes[];
extern const unsigned pass_count;

#define PASS(name, kind, doc) pass_##kind##_fn pass_##name;
#define PRINTER(name, doc) pass_printer_fn pass_show_##name;
#define ORDER(first, second, why)
#include "passes/passes.def"
#undef PASS
#undef PRINTER
#undef ORDER

/* A pipeline is a comma-separated list of pass names; NULL means the standard one. */
typedef struct {
    const char *passes;
    bool verify_each;       /* ir_verify after each pass; a violation names the pass */
    const char *dump_after; /* pass name, or "*": text of the module into `dump` */
    bool dump_changed;      /* only when the pass changed something */
    const char *stop_after;
    long bisect; /* run only the first N pass executions; < 0: all */
    bool time;   /* report nanoseconds per pass as notes */
    void (*dump)(void *user, const char *pass, const char *text); /* also what printers write */
    void *dump_user;
    bool trace_rules;
    uint32_t *rule_hits;
    const pass_range *range; /* that kernels are launched on, for printers; NULL: unknown */
} pass_options;

extern const char pass_standard[]; /* the standard pipeline */

/* Runs a pipeline over a module.  False after a reported error (unknown pass, violation). */
bool pass_run(ir_module *m, const pass_options *options);

/* Calls `found` for each kernel that inlining would refuse, with the chain of calls that is why.
 * Changes nothing; `why` is valid as long as scratch. (inline.c) */
typedef void pass_refusal_fn(void *user, const ir_func *kernel, const char *why);
void pass_find_refusals(ir_module *m, ir_arena *scratch, pass_refusal_fn *found, void *user);

/* The generated rules of simplify.rules. */
ir_inst *pass_apply_rules(ir_builder *b, ir_inst *i, pass_ctx *cx);
extern const unsigned pass_rule_count;
const char *pass_rule_place(unsigned rule); /* "simplify.rules:17" */
/* The rules for builders: keep it as long as the module's `simplifier` points to it. */
ir_simplifier pass_simplifier(pass_ctx *cx);

/* A fact of order: `first` must have run before `second` runs for the first time. */
typedef struct {
    const char *first, *second, *why;
} pass_order;
extern const pass_order pass_orders[];
extern const unsigned pass_order_count;

/* -------------------------------------------------------------------- loop counters (counter.c) */

/* A phi that is init + k * step, modulo its width, in iteration k. */
typedef struct {
    const ir_loop *loop;
    ir_inst *init, *next; /* next: its value in the next iteration */
    ir_block *latch;      /* the one block that jumps back */
    int64_t step;
} pass_counter;

/* False when phi is none. */
bool pass_find_counter(const ir_loops *l, const ir_inst *phi, pass_counter *c);

#define PASS_MAX_ROUNDS INT64_C(0xffffffff)
/* How many iterations the branch that ends b, a block of the loop itself, goes on in the loop when
 * it is reached once in each; -1: unknown, or more than PASS_MAX_ROUNDS. */
int64_t pass_count_passes(const ir_loops *l, const ir_loop *loop, const ir_block *b);
/* Does it never wrap, read as signed or unsigned, when it begins with a whole number? */
bool pass_counts_whole(const ir_loops *l, const ir_inst *phi, bool is_signed);

/* What one more copy of a loop's body costs (unroll_cost.c). */
typedef struct {
    uint32_t size;   /* instructions of the loop */
    uint32_t copied; /* of them, those that each copy has, when its iteration is known */
    bool convergent;
    bool indexed; /* stack variables, by what is constant then */
} pass_loop_cost;
/* False: the loop has more than `limit` instructions.  Uses their marks. */
bool pass_estimate_copies(const ir_loops *l, const ir_loop *loop, uint32_t limit,
                          pass_loop_cost *cost);

/* ---------------------------------------------------------------- fusion (fuse.c, fuse_params.c …)
 *
 * Several kernels become one that runs their bodies one after another in each work-item.  The
 * caller simplifies the result with pass_run and then drops what is left unused with
 * pass_fuse_trim. */

/* The kernels may live in different modules; one may occur several times. */
typedef struct {
    const ir_func *kernel;
    pass_range range;
} pass_fuse_member;

/* Two parameters that are given the same argument. */
typedef struct {
    uint32_t member_a, param_a, member_b, param_b;
} pass_identity;

/* The argument of a by-value parameter: its bytes as they lie in memory, with padding. */
typedef struct {
    uint32_t member, param;
    const void *bytes;
    size_t size;
} pass_constant;

/* What a buffer may become whose contents nobody needs before or after the fused kernel. */
typedef enum {
    PASS_PROMOTE_AUTO,    /* private memory where that is proved to be right */
    PASS_PROMOTE_PRIVATE, /* private memory, else refuse */
    PASS_PROMOTE_LOCAL    /* local memory, else refuse */
} pass_promote;

typedef struct {
    uint32_t member, param;
    pass_promote kind;
    bool accessor;         /* of this parameter alone: all that are the buffer have to ask */
    bool assume;           /* no proof: elements count modulo those of one item or group */
    uint64_t elements;     /* of the buffer; 0: not known */
    uint32_t element_size; /* in bytes; 0: not known */
} pass_promotion;

/* The memory that the barrier between two bodies orders. */
typedef enum {
    PASS_BARRIER_BOTH,
    PASS_BARRIER_LOCAL,
    PASS_BARRIER_GLOBAL,
    PASS_BARRIER_NONE /* no barrier */
} pass_barrier;

typedef struct {
    const char *name; /* of the fused kernel */
    const pass_fuse_member *members;
    uint32_t nmembers;
    const pass_identity *identities;
    uint32_t nidentities;
    const pass_constant *constants;
    uint32_t nconstants;
    const pass_promotion *promotions;
    uint32_t npromotions;
    pass_barrier barrier;
    bool phases;      /* the device can make all work-groups of a launch wait for each other */
    bool force;       /* fuse also where members are not proved independent */
    bool known_range; /* it will be launched with the range of the result only */
    ir_module *into;  /* where the kernel goes; NULL: a fresh module */
} pass_fuse_request;

typedef enum {
    PASS_ARG_BUFFER,
    PASS_ARG_VALUE, /* a scalar, a vector, or a struct by value */
    PASS_ARG_LOCAL, /* local memory: the argument is a size */
    PASS_ARG_IMAGE,
    PASS_ARG_SAMPLER
} pass_arg_kind;

typedef enum {
    PASS_ARG_USED,
    PASS_ARG_UNUSED,  /* dropped by pass_fuse_trim */
    PASS_ARG_FOLDED,  /* became a constant */
    PASS_ARG_PROMOTED /* became private or local memory */
} pass_arg_state;

#define PASS_NO_PARAM UINT32_MAX

typedef struct {
    uint32_t member, param; /* the first of the parameters that became this argument */
    uint32_t nparams;       /* how many did */
    const char *name;       /* <kernel>_<parameter> */
    pass_arg_kind kind;
    pass_arg_state state;
    uint32_t index; /* parameter of the fused kernel; PASS_NO_PARAM unless used */
    /* When promoted: */
    ir_space memory;
    uint64_t bytes;  /* of each work-item, or work-group */
    const char *map; /* "offset - 4*global_linear_id": where its bytes are among those */
} pass_fuse_arg;

/* Who can touch the same byte from both sides, with at least one write. */
typedef enum {
    PASS_DEP_NONE,    /* nobody */
    PASS_DEP_ITEM,    /* an item, with itself */
    PASS_DEP_GROUP,   /* items of one work-group */
    PASS_DEP_UNKNOWN, /* not understood */
    PASS_DEP_GRID     /* items of different work-groups */
} pass_dependence_kind;

/* An access, for those who read about it. */
typedef struct {
    uint32_t member;
    const char *kernel;
    unsigned kind; /* PASS_READS … */
    uint64_t size; /* in bytes; 0: unknown */
    bool always;
    const char *place; /* "%out + 4*global_id.0" */
    const char *file;  /* of the source, with line and column; NULL: unknown */
    uint32_t line, column;
} pass_access_info;

typedef struct {
    pass_dependence_kind kind;
    pass_access_info *first, *second; /* NULL when there is none */
} pass_dependence_info;

/* Why the result is as it is: one line of the explain report. */
typedef struct {
    const char *rule; /* "fuse.guard" … listed in fuse_rules.def */
    const char *text;
    bool refusal;
    pass_dependence_info why; /* of what follows from accesses */
} pass_decision;

/* Between a member and the next. */
/* Who waits for whom between two members. */
typedef enum { PASS_WAIT_NONE, PASS_WAIT_GROUP, PASS_WAIT_GRID } pass_wait;

typedef struct {
    pass_wait wait;
    pass_dependence_info why; /* the worst of the next member on those before it */
} pass_fuse_gap;

/* Bytes that all items together read and write, those of an element that an item touches again
 * counted once. */
typedef struct {
    uint64_t read, written;
} pass_traffic;

/* The memory behind an argument. */
typedef struct {
    bool read, written;
    pass_dependence_info dependence; /* the worst between two members */
    pass_traffic unfused, fused;
} pass_fuse_buffer;

/* What fusing is expected to bring. */
typedef struct {
    uint32_t launches; /* that are saved */
    uint64_t bytes;    /* of memory traffic that are saved */
    uint32_t pressure; /* words of 32 bits that live at once in an item of the fused kernel */
    uint32_t excess;   /* how many of them no register may hold, and that members did not need */
    bool worth;
} pass_profit;

/* A rule of fuse_rules.def. */
typedef struct {
    const char *id;
    bool refuses; /* at least some of its decisions */
    const char *cause;
    const char *cure; /* what the user can do; NULL: nothing has to be done */
} pass_fuse_rule;
extern const pass_fuse_rule pass_fuse_rules[];
extern const unsigned pass_fuse_rule_count;
const pass_fuse_rule *pass_find_fuse_rule(const char *id); /* NULL: there is none */

typedef struct {
    ir_module *module; /* holds the kernel; when fresh, to be freed by the caller */
    ir_func *kernel;   /* NULL: refused, and the last decision says why */
    pass_range range;  /* to launch it with */
    pass_fuse_arg *args;
    uint32_t nargs;
    uint32_t **arg_of;         /* arg_of[member][param]: the element of args it became */
    pass_fuse_buffer *buffers; /* by argument; NULL: refused before accesses were looked at */
    pass_fuse_gap *gaps;       /* by member, the last aside; NULL: as buffers */
    bool exact_traffic;        /* all accesses were understood */
    pass_profit profit;        /* after pass_find_profit */
    ir_vec(pass_decision) decisions;
} pass_fuse_result;

/* Fuses the kernels of a request; what the result points to lies in `out`.  False after a reported
 * error: a request that contradicts itself (IR_ERR_INPUT), a fused kernel that the verifier does
 * not accept (IR_ERR_INTERNAL), or lack of memory.  A legal request that this compiler
 * does not fuse is a refusal: true, without a kernel. */
bool pass_fuse(ir_ctx *cx, const pass_fuse_request *request, ir_arena *out,
               pass_fuse_result *result);
/* Drops the parameters of the fused kernel that nothing uses, and marks their arguments unused. */
void pass_fuse_trim(pass_fuse_result *result);

/* Fills result->profit for a fused kernel that has been simplified. (profit.c) */
void pass_find_profit(const pass_fuse_request *request, pass_fuse_result *result,
                      ir_arena *scratch);

/* The nd-range of the fused kernel; false after a reported error. (range.c) */
bool pass_fuse_range(ir_ctx *cx, const pass_fuse_member *members, uint32_t n, ir_arena *scratch,
                     pass_range *fused);
static inline uint64_t pass_global_size(const pass_range *r, unsigned d) {
    return d < r->dims ? r->global[d] : 1;
}
/* Of a range with a local size. */
static inline uint64_t pass_local_size(const pass_range *r, unsigned d) {
    return d < r->dims ? r->local[d] : 1;
}
static inline uint64_t pass_global_offset(const pass_range *r, unsigned d) {
    return d < r->dims ? r->offset[d] : 0;
}
/* Do the ids that a member's items had equal those of the fused items of the same linear id? */
bool pass_same_ids(const pass_range *member, const pass_range *fused);
/* Does it run on some of the fused items only? */
bool pass_needs_guard(const pass_range *member, const pass_range *fused);
/* Do the fused work-groups lie inside or outside of the member's range as a whole? */
bool pass_has_whole_groups(const pass_range *member, const pass_range *fused);
uint64_t pass_range_items(const pass_range *r);

/* What the queries of a member become in the fused kernel. (remap.c) */
typedef struct {
    const pass_range *own, *fused;
    bool computed;  /* ids come from the linear id, and work-groups are single items */
    ir_inst *id[3]; /* then: global ids */
} pass_remap;
/* The linear id of the item in the fused range; every item has it. */
ir_inst *pass_linear_id(const pass_remap *r, ir_builder *b);
/* Builds what the queries need, at a place that only the member's items reach. */
void pass_remap_begin(pass_remap *r, ir_builder *b);
/* The answer to a query of the member; NULL: the same as in the fused kernel. */
ir_inst *pass_remap_query(const pass_remap *r, ir_func *f, const ir_inst *query);
/* Writes "{64,4/16,1}", with " offset 8,0" where there is one. */
void pass_print_range(ir_text *out, const pass_range *r);
const char *pass_range_text(ir_arena *a, const pass_range *r);

/* ------------------------------------------------- access summaries (affine.c, bounds.c, access.c)
 *
 * Where a kernel reads and writes, as far as it can be said before it runs. */

/* What a form is made of: an id or size (kind is the query's op, index its dimension), a by-value
 * parameter (IR_OP_param, its argument), the iteration number of a loop (IR_OP_phi, value is its
 * counter), or a value that is not looked into (IR_OP_COUNT, and itself, as a signed number). */
typedef struct {
    ir_op kind;
    uint32_t index;
    const ir_inst *value;
} pass_symbol;

typedef struct {
    pass_symbol of;
    int64_t factor; /* not 0 */
} pass_term;

enum { PASS_MAX_TERMS = 6 };

/* constant + sum of factor * symbol. */
typedef struct {
    pass_term term[PASS_MAX_TERMS];
    uint32_t n;
    int64_t constant;
} pass_affine;

/* A kernel and what is known about its launch. */
typedef struct {
    ir_func *kernel; /* without calls */
    const pass_range *range;
    const uint32_t *argument;    /* by parameter: its name in symbols; NULL: its index */
    const int64_t *const *value; /* by parameter: its value, where one is known; may be NULL */
} pass_launch;

/* The form that an integer has in block `at`: always one, perhaps just a symbol. */
void pass_find_affine(const pass_launch *l, ir_inst *v, const ir_block *at, pass_affine *out);
/* to += factor * f; false when there are too many terms. */
bool pass_affine_add(pass_affine *to, const pass_affine *f, int64_t factor);
static inline uint64_t pass_magnitude(int64_t x) { return x < 0 ? 0 - (uint64_t)x : (uint64_t)x; }
/* Are they equal for all values of their symbols? */
bool pass_is_same_form(const pass_affine *a, const pass_affine *b);
/* Is it made of ids, sizes and arguments alone, which other kernels have as well? */
bool pass_is_common_form(const pass_affine *f);
/* Writes group id * local size + local id as what it is: the global id, less its offset. */
void pass_join_ids(const pass_launch *l, pass_affine *f);
bool pass_is_same_symbol(const pass_symbol *a, const pass_symbol *b);
void pass_print_affine(ir_text *out, const pass_launch *l, const pass_affine *f);

/* The number that v is: a constant, or a parameter or size that the launch gives. (bounds.c) */
bool pass_known_number(const pass_launch *l, const ir_inst *v, int64_t *n);
/* As pass_count_passes, with the numbers that are known at launch. */
int64_t pass_count_launched(const pass_launch *l, const ir_loop *loop, const ir_block *b);
/* Does the loop have one exit, and a known number of iterations? */
bool pass_is_counted(const pass_launch *l, const ir_loop *loop);
/* The values that a symbol can have in block `at`; false: unknown. */
bool pass_symbol_bounds(const pass_launch *l, const pass_symbol *s, const ir_block *at,
                        int64_t *low, int64_t *high);
/* The same of a form; also false where the bounds leave 63 bits. */
bool pass_affine_bounds(const pass_launch *l, const pass_affine *f, const ir_block *at,
                        int64_t *low, int64_t *high);
/* Without what guards say; at NULL: wherever the symbols have values. */
bool pass_affine_own_bounds(const pass_launch *l, const pass_affine *f, const ir_block *at,
                            int64_t *low, int64_t *high);

enum { PASS_READS = 1, PASS_WRITES = 2, PASS_ATOMIC = 4 };

typedef struct {
    const ir_inst *at;
    const ir_inst *object; /* parameter or address of a global; NULL: unknown */
    pass_affine offset;    /* in bytes */
    uint32_t arg;          /* the operand that is the address */
    uint64_t size;         /* in bytes; 0: unknown */
    unsigned kind;         /* PASS_READS … */
    bool always;           /* every item of the range gets there */
    bool bounded;          /* then the offset lies between these */
    int64_t low, high;
} pass_access;

typedef ir_vec(pass_access) pass_accesses;

/* Appends all accesses of memory that items share, in program order of reachable blocks. */
void pass_find_accesses(const pass_launch *l, ir_arena *a, pass_accesses *out);
/* The same for those who read about it, without member and its name; lies in `a` and outlives the
 * kernel. */
pass_access_info pass_describe_access(const pass_launch *l, const pass_access *x, ir_arena *a);
/* "writes 4 bytes at %out + 4*global_id.0 + 8, always" */
void pass_print_access(ir_text *out, const pass_access_info *x);
/* One line each. */
void pass_print_accesses(ir_text *out, const pass_launch *l, const pass_accesses *list);

/* All that is known of a member's memory. */
typedef struct {
    pass_launch launch; /* argument numbers are those of the fused kernel */
    pass_accesses accesses;
    bool remapped;
    uint64_t objects; /* a bit for each, by its number modulo 64; all: one is unknown */
} pass_summary;

/* An access of a member. */
typedef struct {
    const pass_summary *of;
    const pass_access *access;
} pass_side;

/* The argument that an access of a member goes to; false: to something else. */
bool pass_argument_of(const pass_summary *s, const pass_access *x, uint32_t *arg);
bool pass_is_local(const pass_access *x); /* to local memory? */
/* Are all ids and values in its offset bounded, so that what is not proved is probably so? */
bool pass_is_understood(const pass_access *x);
/* Is it a variable in local memory?  Each body has its own. */
bool pass_is_local_variable(const pass_access *x);

/* ---------------------------------------------------------------------------- guards (guards.c) */

/* A branch that an item takes on its way. */
typedef struct {
    const ir_inst *test; /* i1 */
    bool holds;          /* how it has to come out */
    bool compares;       /* two integers: left, right */
    pass_affine left, right;
} pass_guard;

typedef struct {
    ir_vec(pass_guard) list;
    bool exact; /* every item of which all this holds gets there, in all rounds of counted loops */
} pass_guards;

/* Control comes to b from a branch alone, when this test comes out as `holds`; NULL: not so. */
ir_inst *pass_test_before(const ir_block *b, bool *holds);
/* What holds for the items that get to block b. */
void pass_find_guards(const pass_launch *l, ir_block *b, ir_arena *a, pass_guards *out);
/* Is a guard made of ids and arguments on the list?  Both are of members that keep their ids. */
bool pass_has_guard(const pass_guards *list, const pass_guard *g);
/* Does a guard hold for all items of the range? */
bool pass_is_always_true(const pass_launch *l, const pass_guard *g);

/* Simplifies what the range of the launch decides; true when anything was. (known.c) */
bool pass_apply_range(const pass_launch *l);

/* ------------------------------------------------------------------------------ layouts (layout.c)
 *
 * Accesses of a buffer touch the bytes base(ids) + block * stride + place, and no other item (or
 * work-group) touches those that one does. */

typedef enum { PASS_BY_ITEM, PASS_BY_LINEAR_ID, PASS_BY_GROUP } pass_basis;

typedef struct {
    pass_basis basis;
    int64_t factor[3]; /* of global ids, the linear id, or group ids; in bytes */
    uint64_t size[3];  /* how many of these ids there are */
    pass_affine arguments;
    int64_t origin;      /* the base is all this together */
    int64_t stride;      /* 0: one block */
    int64_t first, last; /* blocks */
    int64_t low, high;   /* low <= place, place + size of the access <= high */
    uint64_t align;      /* the greatest of all accesses */
} pass_layout;

/* The layout of n > 0 accesses of one buffer; false: not proved. */
bool pass_find_layout(const pass_side *sides, uint32_t n, pass_basis basis, pass_layout *out);
/* That of items: by linear id, or where that is not proved by ids. */
bool pass_find_item_layout(const pass_side *sides, uint32_t n, pass_layout *out);
/* "offset - 4*global_id.0", with ", 2 blocks of 4 bytes from every 2048" when there are several. */
void pass_print_layout(ir_text *out, const pass_layout *l);

/* The same as one number of bytes: blocks lie behind each other, from place `low` of the first. */
bool pass_find_position(const pass_layout *l, const pass_side *s, pass_affine *position);
/* How many bytes that makes in all. */
uint64_t pass_layout_bytes(const pass_layout *l);
/* A read of the layout's accesses before which not all it reads has been written by the same item
 * (or group), or NULL.  The sides of one member have one summary, and those of earlier members
 * summaries at lower addresses. (assigned.c) */
const pass_side *pass_find_unassigned(const pass_layout *l, const pass_side *sides, uint32_t n,
                                      ir_arena *scratch);

/* ------------------------------------------------------------------------ legality (legality.c) */

/* The pair of accesses that makes it so, of two members; NULL for none. */
typedef struct {
    pass_dependence_kind kind;
    pass_side first, second;
} pass_dependence;

/* by_arg goes by arguments of the fused kernel: of those that the sides go to, the worse one stays
 * there. */
void pass_keep_worse(pass_dependence *by_arg, const pass_dependence *d);

/* The worst dependence of b on a, which comes before it, and of each argument (pass_keep_worse). */
pass_dependence pass_find_dependence(const pass_summary *a, const pass_summary *b,
                                     pass_dependence *by_arg);

/* All that legality has found out. */
typedef struct {
    const pass_fuse_request *request;
    const pass_summary *summary;   /* by member */
    const pass_dependence *by_arg; /* by argument: the worst between two members */
    const pass_dependence *by_gap; /* by member, the last aside: the worst of the next one */
    const pass_wait *wait;         /* by member */
    ir_arena *scratch;
} pass_findings;

/* ---------------------------------------------------------------------- addresses (sum.c, alias.c)
 *
 * What may lead to the same memory within one function. */

/* The form of an integer of at most 64 bits as a sum of other values, modulo 2^width.  A symbol is
 * a value as it is (kind: its op), or a narrower one that is widened (kind: IR_OP_sext,
 * IR_OP_zext).  True when terms have cancelled. */
bool pass_find_sum(ir_inst *v, pass_affine *out);

/* Where an address leads to. */
typedef struct {
    const ir_inst *object; /* what is left of it without steps and casts */
    const ir_inst *base;   /* the object, or an address on the way beyond which sums are too long */
    pass_affine offset;    /* in bytes, from base */
} pass_place;

/* Values that come after pass_alias_begin are objects of their own, of which nothing is known; the
 * function may gain no other uses of addresses. */
typedef struct {
    const ir_func *f;
    ir_arena *scratch;
    const pass_place **place; /* by value id; NULL: the value is its own object */
    bool *escapes;            /* by value id of an object: other addresses may be made from it */
    uint32_t n;
} pass_alias;

void pass_alias_begin(pass_alias *a, ir_func *f, ir_arena *scratch);
pass_place pass_find_place(const pass_alias *a, const ir_inst *p);
const ir_inst *pass_object_of(const pass_alias *a, const ir_inst *p);
/* A stack variable or a struct by value: memory that ends with the function. */
bool pass_is_variable(const ir_func *f, const ir_inst *object);
/* Does the first range of bytes certainly contain the second?  A size of UINT64_MAX is unknown. */
bool pass_covers(const pass_alias *a, const ir_inst *p, uint64_t p_size, const ir_inst *q,
                 uint64_t q_size);
/* Is operand `arg` of i, a load, store, copy, fill or atomic, an address that it accesses? */
bool pass_is_accessed(const ir_inst *i, unsigned arg);
/* The range that a store, copy or fill writes; NULL: another op. */
const ir_inst *pass_written(const pass_alias *a, const ir_inst *i, uint64_t *size);
/* May i change memory at all, by itself or by what others do meanwhile? */
bool pass_writes(const ir_inst *i);
/* May i, or other work-items that it waits for, write these bytes?  Read them? */
bool pass_may_write(const pass_alias *a, const ir_inst *i, const ir_inst *p, uint64_t size);
bool pass_may_read(const pass_alias *a, const ir_inst *i, const ir_inst *p, uint64_t size);

/* ----------------------------------------------------------------------- promotion (promote*.c) */

typedef struct {
    bool atomics; /* in: they are allowed */
    ir_value_list addresses;
    const char *rule, *why; /* "promote.stored", "stores its address in memory" */
} pass_address_uses;

/* Lists an address and all that offsets and casts make of it.  False with a reason: it is used for
 * something else than accesses of memory. */
bool pass_find_address_uses(ir_inst *address, ir_arena *scratch, pass_address_uses *u);

/* A buffer that has become memory of its own. */
typedef struct {
    uint32_t arg;
    ir_space space; /* IR_PRIVATE, IR_LOCAL */
    pass_side *sides;
    uint32_t nsides;
    uint64_t bytes; /* of each item, or group */
    pass_layout layout;
    bool assumed;      /* no layout: elements count modulo … */
    uint64_t elements; /* … those of each item, or group */
} pass_promoted;

typedef struct {
    ir_vec(pass_promoted) all;
    bool ok; /* false: an error was reported */
} pass_promotions;

/* Decides what becomes of the buffers that the request names.  False after a refusal or an error.
 * Accesses with an asserted map get offsets that say so. */
bool pass_fuse_promote(ir_ctx *cx, const pass_fuse_request *request, pass_summary *summaries,
                       ir_arena *scratch, ir_arena *out, pass_fuse_result *result,
                       pass_promotions *list);
/* Changes the bodies: their parameters become pointers to that memory. (promote_rewrite.c) */
void pass_promote_bodies(const pass_promotions *list, const pass_summary *summaries,
                         uint32_t nmembers, const pass_fuse_result *result, ir_arena *scratch);
/* Makes it, for a kernel at the beginning of which b stands. */
ir_inst *pass_promoted_memory(const pass_promoted *p, const char *name, ir_builder *b);

/* Gives parameter `index` of f a value: `size` bytes in memory form.  The parameter stays, without
 * uses.  False after a reported error: it is no value, or has another size. (argconst.c) */
bool pass_fold_argument(ir_func *f, uint32_t index, const void *bytes, size_t size);

/* The attributes that hold for all members; false after a reported error. (fuse_attrs.c) */
bool pass_fuse_attrs(ir_ctx *cx, const pass_fuse_request *request, ir_arena *out,
                     pass_fuse_result *result, ir_kernel_attrs *into);

/* Declares the fused kernel in result->module: one parameter per class of identical ones, with the
 * facts that hold for all of the class.  Fills args and arg_of. (fuse_params.c) */
bool pass_fuse_params(ir_ctx *cx, const pass_fuse_request *request, ir_arena *out,
                      pass_fuse_result *result);
/* Replaces members by bodies without calls, and with few variables.  Copies are in *stage, which is
 * set when there are any; to be freed by the caller. (fuse_stage.c) */
void pass_fuse_stage(ir_ctx *cx, const pass_fuse_request *request, pass_fuse_member *members,
                     ir_arena *scratch, ir_module **stage);
/* Can their bodies be taken as they are?  False after a refusal.  `staged`: they are copies.
 * (fuse_fit.c) */
bool pass_fuse_fit(const pass_fuse_request *request, const pass_fuse_member *members, bool staged,
                   ir_arena *out, pass_fuse_result *result);
/* What the members read and write. */
pass_summary *pass_fuse_summaries(const pass_fuse_request *request, const pass_fuse_member *members,
                                  ir_arena *scratch, const pass_fuse_result *result);
/* Decides whether the members may be fused, and behind which of them items have to wait.  False
 * after a refusal, which is the last decision, also when that was before. (fuse_legal.c) */
bool pass_fuse_legal(const pass_fuse_request *request, const pass_summary *summaries,
                     ir_arena *scratch, ir_arena *out, pass_fuse_result *result, pass_wait *wait);
/* What the dependences found are to the user: fills buffers and gaps. (fuse_report.c) */
void pass_fuse_report(const pass_findings *found, ir_arena *out, pass_fuse_result *result);
/* A side of the members with these summaries as a report shows it, and in words: "@a (a.cl:3)
 * writes …"; a dependence: "@a (a.cl:3) writes …; @b reads …". */
pass_access_info *pass_describe_side(const pass_fuse_request *request, const pass_summary *all,
                                     const pass_side *s, ir_arena *out);
void pass_print_side(ir_text *out, const pass_access_info *x);
pass_dependence_info pass_describe_dependence(const pass_findings *found, const pass_dependence *d,
                                              ir_arena *out);
void pass_print_dependence(ir_text *out, const pass_dependence_info *d);
/* The bytes that each buffer moves, fused and not. (traffic.c) */
void pass_find_traffic(const pass_findings *found, ir_arena *scratch, pass_fuse_result *result);
/* Applies the constants of the request to the built kernel and drops their parameters. */
bool pass_fuse_constants(ir_ctx *cx, const pass_fuse_request *request, pass_fuse_result *result);

#endif
