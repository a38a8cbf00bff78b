/* fuse.h — several kernels become one that runs their bodies one after another in each work-item.
 *
 * The caller simplifies the result with pass_run and then drops what is left unused with
 * pass_fuse_trim. */
#ifndef SPVFUSE_FUSE_H
#define SPVFUSE_FUSE_H

#include "passes/analysis/analysis.h"

/* ------------------------------------------------------------------------------------- requests */

/* The kernels may live in different modules; one may occur several times. */
typedef struct {
    const ir_func *kernel;
    ir_range range;
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

/* The integer that a constant of f is; NULL: it is none of at most 64 bits. */
const int64_t *pass_constant_number(const ir_func *f, const pass_constant *c, ir_arena *a);
/* The bytes of the struct by value that a constant of f is, which f only reads; NULL: it is
 * none. */
const uint8_t *pass_constant_bytes(const ir_func *f, const pass_constant *c);

/* What a buffer may become whose contents are not needed before or after the fused kernel. */
typedef enum {
    PASS_PROMOTE_AUTO,    /* private memory if that is proved to be correct */
    PASS_PROMOTE_PRIVATE, /* private memory, otherwise the fusion is refused */
    PASS_PROMOTE_LOCAL    /* local memory, otherwise the fusion is refused */
} pass_promote;

typedef struct {
    uint32_t member, param;
    pass_promote kind;
    bool accessor;     /* of this parameter alone: it counts if all those of the buffer have one */
    bool assume;       /* without proof: elements count modulo those of one item or group */
    uint64_t elements; /* of the buffer; 0: not known */
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
    bool serial;      /* the device runs the items of a work-group one after the other */
    bool lanes;       /* several of them at once, as lanes of vectors, where it can */
    bool force;       /* fuse also where members are not proved independent */
    bool known_range; /* it will be launched with the range of the result only */
    ir_module *into;  /* where the kernel goes; NULL: a fresh module */
} pass_fuse_request;

/* ------------------------------------------------------------------------------------ arguments */

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
    ir_arg_kind kind;
    pass_arg_state state;
    uint32_t index; /* parameter of the fused kernel; PASS_NO_PARAM unless used */
    /* The fields below are set when it is promoted. */
    ir_space memory;
    uint64_t bytes;  /* of each work-item, or work-group */
    const char *map; /* "offset - 4*global_linear_id": where its bytes are among those */
} pass_fuse_arg;

/* ---------------------------------------------------------------------------------- dependences */

/* Which items can touch the same byte from both sides, with at least one write. */
typedef enum {
    PASS_DEP_NONE,    /* no items */
    PASS_DEP_ITEM,    /* an item, with itself */
    PASS_DEP_GROUP,   /* items of one work-group */
    PASS_DEP_UNKNOWN, /* not understood */
    PASS_DEP_GRID     /* items of different work-groups */
} pass_dependence_kind;

typedef struct {
    pass_dependence_kind kind;
    pass_access_info *first, *second; /* NULL when there is none */
} pass_dependence_info;

/* "@a (a.cl:3) writes …; @b reads …" (fuse_report.c) */
void pass_print_dependence(ir_text *out, const pass_dependence_info *d);

/* Which items wait for each other between two members. */
typedef enum { PASS_WAIT_NONE, PASS_WAIT_GROUP, PASS_WAIT_GRID } pass_wait;

/* The gap between a member and the next one. */
typedef struct {
    pass_wait wait;
    pass_dependence_info why; /* the worst of the next member on those before it */
} pass_fuse_gap;

/* ---------------------------------------------------- decisions (fuse_rules.def, fuse_report.c) */

/* A reason for the result: one line of the report. */
typedef struct {
    const char *rule; /* "fuse.guard" … listed in fuse_rules.def */
    const char *text;
    bool refusal;
    pass_dependence_info why; /* the accesses that it is about, if any */
} pass_decision;

/* A rule of fuse_rules.def. */
typedef struct {
    const char *id;
    bool refuses; /* at least some of its decisions */
    const char *cause;
    const char *cure; /* what the user can do, or NULL */
} pass_fuse_rule;

extern const pass_fuse_rule pass_fuse_rules[];
extern const unsigned pass_fuse_rule_count;
const pass_fuse_rule *pass_find_fuse_rule(const char *id); /* NULL: there is none */

/* -------------------------------------------------------------------------------------- results */

/* Bytes that all items together read and write.  An element that an item accesses repeatedly counts
 * once. */
typedef struct {
    uint64_t read, written;
} pass_traffic;

/* The memory of an argument. */
typedef struct {
    bool read, written;
    pass_dependence_info dependence; /* the worst between two members */
    pass_traffic unfused, fused;
} pass_fuse_buffer;

/* What fusion is expected to save and to cost. */
typedef struct {
    uint32_t launches; /* that are saved */
    uint64_t bytes;    /* of memory traffic that are saved */
    uint32_t pressure; /* words of 32 bits that are live at once in an item of the fused kernel */
    uint32_t excess;   /* those beyond registers, and beyond the pressure of the members */
    uint32_t stalls;   /* additional loads of more bytes than the item has just stored */
    uint32_t cycles;   /* additional ones of an item, as one chain of operations (delay.c) */
    bool worth;
} pass_profit;

typedef struct {
    ir_module *module; /* holds the kernel; when fresh, to be freed by the caller */
    ir_func *kernel;   /* NULL: refused, and the last decision is the reason */
    ir_range range;    /* to launch it with */
    pass_fuse_arg *args;
    uint32_t nargs;
    uint32_t **arg_of;         /* arg_of[member][param]: the element of args it became */
    pass_fuse_buffer *buffers; /* by argument; NULL: refused before accesses were analysed */
    pass_fuse_gap *gaps;       /* by member, the last aside; NULL: as buffers */
    bool exact_traffic;        /* all accesses were understood */
    pass_profit profit;        /* after pass_find_profit */
    ir_vec(pass_decision) decisions;
} pass_fuse_result;

/* Fuses the kernels of a request; what the result points to lies in `out`.  False after a reported
 * error: a request that contradicts itself (IR_ERR_INPUT), a fused kernel that the verifier does
 * not accept (IR_ERR_INTERNAL), or lack of memory.  A legal request that this compiler does not
 * fuse is a refusal: true, without a kernel. */
bool pass_fuse(ir_ctx *cx, const pass_fuse_request *request, ir_arena *out,
               pass_fuse_result *result);
/* Drops the parameters of the fused kernel that nothing uses, and marks their arguments unused;
 * drops local memory that no kernel of the module uses. */
void pass_fuse_trim(pass_fuse_result *result);

/* Fills result->profit for a fused kernel that has been simplified. (profit.c) */
void pass_find_profit(const pass_fuse_request *request, pass_fuse_result *result,
                      ir_arena *scratch);

/* Gives parameter `index` of f a value: `size` bytes in memory form.  The parameter stays, without
 * uses.  False after a reported error: it is no value, or has another size. (argconst.c) */
bool pass_fold_argument(ir_func *f, uint32_t index, const void *bytes, size_t size);

/* Do the ids of the member's items equal those of the fused items with the same linear ids? */
bool pass_same_ids(const ir_range *member, const ir_range *fused);
/* Does the member run on some of the fused items only? */
bool pass_needs_guard(const ir_range *member, const ir_range *fused);

#endif
