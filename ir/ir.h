/* ir.h — the language: types, values, blocks, functions, modules, how they are built, written as
 * text, read and verified.  Further headers are
 *   ir/context.h errors, messages, memory, stages
 *   ir/build.h   the builder: instructions at a place
 *   ir/flow.h    what the graph of a function says: order, dominators, loops, liveness
 *   ir/change.h  larger changes: SSA construction, stack variables, copies of code
 *   ir/eval.h    arithmetic on constants
 *   ir/interp.h  the interpreter
 *
 * Shape of the IR
 *   module -> functions -> blocks -> instructions, all arena objects linked by pointers.
 *   SSA over a control-flow graph.  Dense ids (f->next_id, f->next_block) index side tables.
 *   A value *is* the instruction that makes it.  Constants, undef, parameters and addresses of
 *   globals are instructions without a block, interned per function.
 *   Pointers are opaque and carry an address space; address arithmetic is in bytes.
 *   Aggregates exist in memory only: the reader splits struct values into their leaves.
 *
 * Order inside a block: phis first, one terminator last.  Phi argument i belongs to block->pred[i];
 * an edge that occurs twice has two entries with the same argument.
 *
 * Undef: each use of `undef` may see another value.  Only operations that pass values on as they
 * are keep such an operand (ir_may_be_undef); everything else reads zero.
 *
 * Memory: everything lives in arenas of its module and is freed with it.  No mutable globals.
 * Errors: bad input and lack of memory leave through ir_throw to the nearest ir_try; bugs assert,
 * which leaves there as well, as IR_ERR_INTERNAL with a message.
 * Threads: one context per thread at a time; modules are not shared while they change.
 */
#ifndef SPVFUSE_IR_H
#define SPVFUSE_IR_H

#include "ir/context.h"
#include "ir/launch.h"

/* For arithmetic whose intermediate results need more than 64 bits. */
__extension__ typedef __int128 ir_i128;
__extension__ typedef unsigned __int128 ir_u128;

typedef struct ir_layout ir_layout;
typedef struct ir_block ir_block;
typedef struct ir_global ir_global;

/* ---------------------------------------------------------------------------------- types (type.c)
 *
 * A type is one 32-bit word; equal words are equal types within a module, and scalars, vectors and
 * pointers are equal between modules as well.
 *   bits 0-4 kind · bits 5-11 lanes (vector) or address space (pointer) · bits 12-31 table index */

typedef uint32_t ir_type;

typedef enum {
    IR_VOID,
    IR_I1,
    IR_I8,
    IR_I16,
    IR_I32,
    IR_I64,
    IR_F16,
    IR_BF16,
    IR_F32,
    IR_F64,
    IR_PTR,
    IR_STRUCT,
    IR_ARRAY,
    IR_IMAGE,
    IR_SAMPLER,
    IR_SAMPLED_IMAGE,
    IR_EVENT
} ir_kind;

typedef enum {
    IR_PRIVATE, /* one per work-item; stack variables, by-value structs */
    IR_LOCAL,   /* one per work-group */
    IR_GLOBAL,
    IR_CONST,
    IR_GENERIC /* private, local or global, known at run time */
} ir_space;

#define IR_MAX_LANES 64u
/* Bounds on nested structs and arrays, so that walks and text stay small; beyond: IR_ERR_LIMIT. */
#define IR_MAX_TYPE_DEPTH 64u
#define IR_MAX_TYPE_PARTS (1u << 16)

/* What a struct, array or image type is made of. */
typedef struct {
    ir_kind kind;
    bool packed;            /* struct: no padding, alignment 1 */
    uint32_t count;         /* members, or elements of an array */
    const ir_type *member;  /* struct: count of them; array: one */
    const uint64_t *offset; /* struct: byte offset of each member */
    const bool *marked;     /* struct: for each member, is it specialized?  NULL: none is */
    uint64_t size, align;   /* bytes, with tail padding */
    const char *name;       /* struct: SPIR-V name or NULL; not part of identity */
    uint32_t index;         /* in the module's table */
    uint32_t chain;         /* older type of the same hash + 1, or 0 */
    uint32_t depth;         /* nesting, at most IR_MAX_TYPE_DEPTH */
    uint32_t parts;         /* types in its text, at most IR_MAX_TYPE_PARTS */
    struct {                /* image: the operands of OpTypeImage */
        uint8_t dim, depth, arrayed, ms, sampled, format, access;
        ir_type texel; /* sampled type: void, i32 or f32 … */
    } image;
} ir_type_info;

ir_type ir_scalar(ir_kind kind);
ir_type ir_vector(ir_type elem, unsigned lanes); /* lanes 1 gives elem */
ir_type ir_ptr(ir_space space);
ir_type ir_struct_type(ir_module *m, const char *name, bool packed, const ir_type *member,
                       uint32_t n);
/* The same structure with some members marked as specialized: kernels that are given one by value
 * have code for the values of these.  It is a type of its own.  NULL, or all false: t itself. */
ir_type ir_mark_members(ir_module *m, const char *name, ir_type t, const bool *marked);
ir_type ir_array_type(ir_module *m, ir_type elem, uint32_t n);
ir_type ir_image_type(ir_module *m, const ir_type_info *image);
const ir_type_info *ir_type_get(const ir_module *m, ir_type t); /* struct, array, image */

static inline ir_kind ir_kind_of(ir_type t) { return (ir_kind)(t & 31u); }
static inline bool ir_is_ptr(ir_type t) { return ir_kind_of(t) == IR_PTR; }
static inline ir_space ir_space_of(ir_type t) { return (ir_space)(t >> 5 & 127u); }
static inline unsigned ir_lanes(ir_type t) { return ir_is_ptr(t) || t < 32 ? 1 : (t >> 5 & 127u); }
static inline bool ir_is_vector(ir_type t) { return !ir_is_ptr(t) && (t >> 5 & 127u) > 1; }
static inline ir_type ir_elem(ir_type t) { return ir_is_vector(t) ? t & 31u : t; }
static inline bool ir_is_int(ir_type t) {
    return ir_kind_of(t) >= IR_I1 && ir_kind_of(t) <= IR_I64;
}
static inline bool ir_is_float(ir_type t) {
    return ir_kind_of(t) >= IR_F16 && ir_kind_of(t) <= IR_F64;
}
static inline bool ir_is_bool(ir_type t) { return ir_kind_of(t) == IR_I1; }
static inline bool ir_is_opaque(ir_type t) { return ir_kind_of(t) >= IR_IMAGE; }
static inline bool ir_is_aggregate(ir_type t) {
    return ir_kind_of(t) == IR_STRUCT || ir_kind_of(t) == IR_ARRAY;
}
/* Does the type have a row in the module's table, so that its word is not the whole type? */
static inline bool ir_is_in_table(ir_type t) {
    return ir_is_aggregate(t) || ir_kind_of(t) == IR_IMAGE || ir_kind_of(t) == IR_SAMPLED_IMAGE;
}
static inline ir_type ir_with_elem(ir_type shape, ir_type elem) {
    return ir_vector(elem, ir_lanes(shape));
}
unsigned ir_bits(const ir_module *m, ir_type t);   /* of one lane; pointers: the module's size */
uint64_t ir_sizeof(const ir_module *m, ir_type t); /* in memory; a vector of 3 takes 4 elements */
uint64_t ir_alignof(const ir_module *m, ir_type t);
/* Bytes that a load or store touches; three lanes are three elements. */
uint64_t ir_access_size(const ir_module *m, ir_type t);
void ir_print_type(ir_text *out, const ir_module *m, ir_type t);

/* ------------------------------------------------------------------------- operations (ops.def) */

typedef enum {
#define OP(name, spirv, rule, nargs, imm, levels, flags, eval, doc) IR_OP_##name,
#include "ir/ops.def"
#undef OP
    IR_OP_COUNT
} ir_op;

/* Type rules: the types of an op's operands and result (type_rules.def). */
typedef enum {
#define RULE(name, ...) R_##name,
#include "ir/type_rules.def"
#undef RULE
} ir_rule;

/* What the 8 bytes of inst->imm hold. */
typedef enum {
    I_NONE,
    I_BITS,   /* const: imm.bits (scalar) or imm.lanes (vector) */
    I_INDEX,  /* param: imm.index */
    I_DIM,    /* imm.dim: 0, 1, 2 */
    I_MEM,    /* imm.mem */
    I_VAR,    /* imm.var */
    I_MASK,   /* imm.mask */
    I_ROUND,  /* imm.round */
    I_SYNC,   /* imm.sync */
    I_GROUP,  /* imm.group */
    I_FUNC,   /* imm.func */
    I_GLOBAL, /* imm.global */
    I_STRING, /* imm.string */
    I_IMAGE,  /* imm.image */
    I_WORD    /* imm.bits: a plain number (sampler bits, image operands) */
} ir_imm_kind;

/* Op flags. */
enum {
    F_PURE = 1,        /* value depends on operands and imm only; may be merged and deleted */
    F_COMMUTES = 2,    /* first two operands may be swapped */
    F_TERMINATOR = 4,  /* ends a block */
    F_READS = 8,       /* reads memory */
    F_WRITES = 16,     /* writes memory or has another effect */
    F_CONVERGENT = 32, /* executed by work-items together: not moved into or out of control flow */
    F_TRAPS = 64,      /* undefined for some operands (division by 0): not speculated */
    F_NOFOLD = 128,    /* not evaluated at compile time (libm decides the last bit) */
    F_VARIADIC = 256,  /* nargs is a minimum */
    F_LANEWISE = 512,  /* lane i of the result depends on lane i of the operands only */
    F_WORKITEM = 1024, /* value depends on the work-item that asks (pure within one) */
    F_LOW_BITS = 2048  /* no bit of the result depends on higher bits of any operand */
};

/* Levels: where an op is legal, and what a function claims to be: code of one work-item (spmd), of
 * a work-group (group), of a target (machine), and with registers (allocated). */
enum { L_SPMD = 1, L_GROUP = 2, L_MACHINE = 4, L_ALLOCATED = 8 };

typedef struct {
    const char *name;
    const char *spirv; /* "OpIAdd", "ext fma", or NULL */
    ir_rule rule;
    uint8_t nargs;
    ir_imm_kind imm;
    uint8_t levels;
    uint16_t flags;
    const char *eval; /* text of the meaning of one lane; "NONE": it has none */
    const char *doc;
} ir_op_info;
extern const ir_op_info ir_ops[IR_OP_COUNT];

/* ------------------------------------------------------- types of an operation (type_rules.c) */

enum { IR_RESULT = -1 };

/* A type that does not follow the type rule. */
typedef struct {
    int operand;        /* whose type it is; IR_RESULT: the result's */
    ir_type have, want; /* want: the only type that fits, or IR_VOID */
    const char *name;   /* if there are several: "an integer type"; NULL: the op has no result */
} ir_type_error;

/* Do the result and the n operands of op have types that its rule allows? */
bool ir_types_fit(const ir_module *m, ir_op op, ir_type result, unsigned n, const ir_type *operand);
bool ir_types_of_inst_fit(const ir_module *m, const ir_inst *i);
/* The first type that does not fit, where ir_types_fit is false. */
ir_type_error ir_find_type_error(const ir_module *m, ir_op op, ir_type result, unsigned n,
                                 const ir_type *operand);
/* The type of operand n, if it follows from that of the result; otherwise IR_VOID. */
ir_type ir_operand_type(const ir_module *m, ir_op op, ir_type result, unsigned n);

/* --------------------------------------------------------------------------- instructions (func.c)
 *
 * 64 bytes plus 32 per operand.  Only ir_set_arg, ir_append_arg and ir_remove (with what they are
 * made of) touch operands and use lists. */

typedef struct ir_use ir_use;
struct ir_use {
    ir_inst *val;
    ir_inst *user;
    ir_use *next, *prev; /* in val->uses */
};

/* What a debugger reads in a stack variable. */
typedef struct {
    const char *name;
    ir_type type;    /* of what the name means */
    ir_type pointee; /* IR_VOID: not known, or `type` is no pointer */
    bool is_address; /* the variable holds the address of what is read */
    bool parameter;
} ir_shown;

/* A stack variable: what alloca makes. */
typedef struct {
    ir_type type; /* of memory; size and writer's pointee */
    uint32_t align;
    const ir_shown *shown; /* it is written for debuggers, anew after each barrier; or NULL */
} ir_var;

/* Rounding modes of conversions, numbered as SPIR-V numbers them; IR_RTE is the default. */
typedef enum { IR_RTE, IR_RTZ, IR_RTP, IR_RTN } ir_round;

typedef struct {
    uint8_t mode; /* ir_round */
    bool sat;     /* clamp to the range of the result; NaN gives 0 */
} ir_rounding;

enum {
    IR_MEM_VOLATILE = 1,
    IR_MEM_NONTEMPORAL = 2,
    /* Of a load of an address, what holds for the memory that it leads to: */
    IR_MEM_NOALIAS = 4, /* no address leads there that is not made from it */
    IR_MEM_LINE = 8,    /* it begins at a multiple of IR_LINE bytes */
    /* Accesses for several lanes may read what all of them have, and write back what those have
     * that do not access it. */
    IR_MEM_WHOLE = 16
};
enum { IR_LINE = 64 };

/* Group operations, numbered as SPIR-V numbers them. */
typedef enum {
    IR_GROUP_REDUCE,
    IR_GROUP_INCLUSIVE,
    IR_GROUP_EXCLUSIVE,
    IR_GROUP_CLUSTERED
} ir_groupop;
enum { IR_MAX_CLUSTER_LOG = 16 }; /* more than work-groups have */

/* Scopes and semantics keep SPIR-V's numbers. */
enum {
    IR_SCOPE_CROSS_DEVICE,
    IR_SCOPE_DEVICE,
    IR_SCOPE_WORKGROUP,
    IR_SCOPE_SUBGROUP,
    IR_SCOPE_ITEM
};
enum {
    IR_SEM_ACQUIRE = 0x2,
    IR_SEM_RELEASE = 0x4,
    IR_SEM_ACQ_REL = 0x8,
    IR_SEM_SEQ_CST = 0x10,
    IR_SEM_LOCAL = 0x100,  /* WorkgroupMemory */
    IR_SEM_GLOBAL = 0x200, /* CrossWorkgroupMemory */
    IR_SEM_IMAGE = 0x800
};

typedef union {
    uint64_t bits;
    const uint64_t *lanes;
    uint32_t index, dim;
    struct {
        uint8_t align; /* log2 of bytes */
        uint8_t flags; /* IR_MEM_… */
    } mem;
    const ir_var *var;
    const uint8_t *mask; /* source lane of each result lane, counted over both operands; 255: any */
    ir_rounding round;
    struct {
        uint8_t exec;  /* barrier: scope of execution */
        uint8_t scope; /* scope of memory */
        uint16_t semantics;
        uint16_t unequal; /* cmpxchg: semantics when unequal */
    } sync;
    struct {
        uint8_t scope;
        uint8_t op;       /* ir_groupop */
        uint8_t uniform;  /* 1: Group…, all items reach it; 0: GroupNonUniform… */
        uint8_t log_size; /* clustered: log2 of the cluster size */
    } group;
    ir_func *func;
    ir_global *global;
    const char *string;
    struct {
        uint32_t operands; /* SPIR-V image operand mask; the operands follow as arguments */
    } image;
    struct {          /* mach, mach_br: the target's, see its header */
        uint16_t row; /* of its table of instructions */
        uint8_t aux, mode;
        int32_t disp;
    } mach;
} ir_imm;

/* Instruction flags. */
enum {
    IR_NSW = 1,      /* no signed wrap: the result is not used where it would */
    IR_NUW = 2,      /* no unsigned wrap */
    IR_INBOUNDS = 4, /* ptradd: stays inside its object */
    IR_NNAN = 8,     /* fast-math, as SPIR-V's FPFastMathMode */
    IR_NINF = 16,
    IR_NSZ = 32,
    IR_ARCP = 64,
    IR_FAST = 128,     /* reassociation and everything above */
    IR_CONTRACT = 256, /* a multiply and an add may become fma */
    IR_REASSOC = 512,  /* operands may be regrouped, and nothing else */
    IR_UNIFORM = 1024  /* br, switch: all work-items of a sub-group go the same way */
};

struct ir_inst {
    uint16_t op; /* ir_op */
    uint16_t nargs;
    uint32_t id;
    ir_type type;    /* of the result; IR_VOID when none */
    uint32_t loc;    /* SPIR-V word offset; key of the module's line table; 0: unknown */
    ir_block *block; /* NULL for interned leaves and removed instructions */
    ir_inst *prev, *next;
    ir_use *uses;
    ir_imm imm;
    uint32_t flags;
    uint32_t mark; /* scratch of the running pass; any value between passes */
    ir_use arg[];
};

static inline const ir_op_info *ir_info(const ir_inst *i) { return &ir_ops[i->op]; }
static inline ir_inst *ir_arg(const ir_inst *i, unsigned n) {
    assert(n < i->nargs);
    return i->arg[n].val;
}
static inline bool ir_has_flag(const ir_inst *i, unsigned f) {
    return (ir_info(i)->flags & f) != 0;
}
static inline bool ir_is_terminator(const ir_inst *i) { return ir_has_flag(i, F_TERMINATOR); }
static inline bool ir_is_const(const ir_inst *i) { return i->op == IR_OP_const; }
static inline bool ir_is_load(const ir_inst *i) { /* gives values from memory */
    return i->op == IR_OP_load || i->op == IR_OP_masked_load || i->op == IR_OP_gather;
}
static inline bool ir_is_masked(const ir_inst *i) { /* accesses lanes where a mask is set */
    return i->op >= IR_OP_masked_load && i->op <= IR_OP_scatter;
}
static inline bool ir_is_image_op(ir_op op) { /* on images and samplers */
    return op >= IR_OP_sampler && op <= IR_OP_image_samples;
}
static inline bool ir_is_atomic(const ir_inst *i) {
    return ir_info(i)->rule >= R_ATOMIC_INT && ir_info(i)->rule <= R_ATOMIC_STORE;
}
static inline bool ir_is_leaf(const ir_inst *i) { return ir_info(i)->rule == R_LEAF; }
unsigned ir_count_uses(const ir_inst *i);
/* Does the instruction's result or effect depend on the size of sub-groups? */
bool ir_asks_subgroup(const ir_inst *i);

/* Lowest level: an instruction with `nargs` empty operands, outside any block, and its placement.
 * All other code uses the builder. */
ir_inst *ir_inst_new(ir_func *f, ir_op op, ir_type t, unsigned nargs);
void ir_insert(ir_inst *i, ir_block *b, ir_inst *before); /* before NULL: at the end */

/* May operand n be undef?  Only where the value is passed on as it is. */
bool ir_may_be_undef(ir_op op, unsigned n);
/* The value for operand n: v, or zero if v is an undef that is not allowed there.  The builder,
 * copies and ir_replace_uses do this; code that sets operands in another way must do it, too. */
ir_inst *ir_settle(ir_func *f, ir_op op, unsigned n, ir_inst *v);
void ir_set_arg(ir_inst *i, unsigned n, ir_inst *val);
/* Appends to a variadic instruction; it may move, so the result replaces i everywhere. */
ir_inst *ir_append_arg(ir_inst *i, ir_inst *val);
void ir_drop_arg(ir_inst *i, unsigned n);          /* phis and calls: closes the gap */
void ir_replace_uses(ir_inst *old, ir_inst *with); /* everywhere; old keeps its operands */
void ir_remove(ir_inst *i);                      /* unlinks from block and operands; no uses left */
void ir_move_before(ir_inst *i, ir_inst *where); /* also between blocks */
void ir_move_to_end(ir_inst *i, ir_block *b);

/* May i be removed if it has no uses? */
bool ir_is_dead_safe(const ir_inst *i);
/* Is i cheap, and without effect where it was not executed before? */
bool ir_is_cheap(const ir_inst *i);

#define foreach_use(u, i)                                                                          \
    for (ir_use *u = (i)->uses, *u##_next; u && (u##_next = u->next, 1); u = u##_next)
#define foreach_inst(i, b)                                                                         \
    for (ir_inst *i = (b)->first, *i##_next; i && (i##_next = i->next, 1); i = i##_next)
#define foreach_inst_reverse(i, b)                                                                 \
    for (ir_inst *i = (b)->last, *i##_prev; i && (i##_prev = i->prev, 1); i = i##_prev)
#define foreach_phi(i, b)                                                                          \
    for (ir_inst *i = (b)->first, *i##_next; i && i->op == IR_OP_phi && (i##_next = i->next, 1);   \
         i = i##_next)
#define foreach_block(b, f)                                                                        \
    for (ir_block *b = (f)->first, *b##_next; b && (b##_next = b->next, 1); b = b##_next)

/* --------------------------------------------------------------------------------- blocks (func.c)
 *
 * Successors by terminator: jmp: 1 · br: taken, not taken · switch: default, then one per case
 * constant (arg 0 is the selector, arg i the value of successor i) · ret, unreachable: none.
 * The first block of a function is its entry and has no predecessor. */

/* Facts about a loop, at its header: whether to unroll it, and whether its iterations are
 * work-items.  A part may leave any number of its last items, also all, to what follows: phis of
 * its exit whose value is its bound say where it has ended.  Ends are few items around such a part.
 * The iterations of a loop over rows are loops over items.  The iterations of a loop over
 * components are lanes of vectors that items have; those of a loop over lanes are the items of one
 * sub-group. */
enum {
    IR_LOOP_UNROLL = 1,
    IR_LOOP_NO_UNROLL = 2,
    IR_LOOP_ITEMS = 4,
    IR_LOOP_PART = 8,
    IR_LOOP_ENDS = 16,
    IR_LOOP_ROWS = 32,
    IR_LOOP_COMPONENTS = 64,
    IR_LOOP_LANES = 128
};

struct ir_block {
    ir_func *func;
    uint32_t id;
    uint32_t mark;
    const char *name; /* or NULL */
    ir_inst *first, *last;
    ir_block *prev, *next;
    ir_block **succ;
    ir_block **pred;
    uint32_t nsucc, npred, cap_pred;
    uint32_t loop_hint; /* IR_LOOP_…, on the header */
};

/* Where a use takes place: a phi's at the end of the predecessor. */
static inline ir_block *ir_use_block(const ir_use *u) {
    ir_block *b = u->user->block;
    return u->user->op == IR_OP_phi ? b->pred[u - u->user->arg] : b;
}

ir_block *ir_block_new(ir_func *f, const char *name); /* appended to the function */
void ir_block_move_after(ir_block *b, ir_block *where);
void ir_block_remove(ir_block *b); /* with its instructions and edges; nothing may use them */
static inline ir_inst *ir_term(const ir_block *b) {
    return b->last && ir_is_terminator(b->last) ? b->last : NULL;
}
ir_inst *ir_first_non_phi(const ir_block *b);

/* Edges.  Setting successors appends this block to their predecessor lists; phis of a successor
 * must then get their argument (ir_append_arg), in the same order. */
void ir_set_succs(ir_block *b, unsigned n, ir_block *const *succ);
/* Removes edge n, with the phi arguments of that edge; later successors move down one place and
 * the caller mends the terminator. */
void ir_remove_edge(ir_block *b, unsigned n);
/* A branch with the opposite condition: its two successors change places. */
void ir_swap_succs(ir_block *b);
/* Edge n leads to `to` from now on, as its last predecessor: phis there need an argument. */
void ir_redirect_edge(ir_block *b, unsigned n, ir_block *to);
unsigned ir_pred_index(const ir_block *b, const ir_block *pred);
/* Puts a new empty block on edge n of b; phis keep their places.  Returns it. */
ir_block *ir_split_edge(ir_block *b, unsigned n);
/* Moves `first` and all after it into a new block that inherits the edges of b; b is left without
 * terminator. */
ir_block *ir_split_block(ir_block *b, ir_inst *first);
/* The reverse: moves all that b's only successor holds into b, which must be its only predecessor;
 * it has no phis.  The block is removed. */
void ir_merge_block(ir_block *b);
/* Replaces the terminator; edges that are no longer there leave with their phi arguments. */
void ir_make_jmp(ir_block *b, unsigned keep);
void ir_make_unreachable(ir_block *b);

/* --------------------------------------------------------------------------- functions (func.c) */

enum {
    IR_PARAM_NOALIAS = 1,
    IR_PARAM_READONLY = 2, /* FuncParamAttr NoWrite */
    IR_PARAM_NOACCESS = 4, /* FuncParamAttr NoReadWrite */
    IR_PARAM_NOCAPTURE = 8,
    IR_PARAM_BYVAL = 16, /* ptr.private to a copy of byval_size bytes */
    IR_PARAM_SRET = 32,
    IR_PARAM_ZEXT = 64,
    IR_PARAM_SEXT = 128,
    IR_PARAM_VOLATILE = 256,
    IR_PARAM_RESTRICT = 512,
    IR_PARAM_CONST = 1024, /* type qualifier from the kernel's argument information */
    IR_PARAM_UNUSED = 2048,
    IR_PARAM_OWN = 4096, /* noalias, and no work-item uses bytes of it that another one uses */
    IR_PARAM_PADDING =
        8192, /* of a closure: bytes that no member has, though a union may use them */
    IR_PARAM_SPECIALIZED = 16384, /* code is made for its value; not for pointers to memory */
    IR_PARAM_OPTIONAL = 32768,    /* of a closure: need not be a parameter if it is not used */
    IR_PARAM_SPILLED = 65536,     /* to the byval_size bytes of a closure */
    IR_PARAM_SHORT = 131072       /* an integer that is below IR_SHORT, and not negative */
};

typedef struct {
    const char *name;      /* or NULL */
    const char *type_name; /* OpenCL C spelling when known, or NULL */
    ir_type pointee;       /* pointers: what SPIR-V said they point to; IR_VOID: unknown */
    uint32_t align;        /* bytes the pointer is known to be aligned to; 0: unknown */
    uint32_t attrs;        /* IR_PARAM_… */
    uint32_t closure;      /* it was a member of parameter closure - 1, a struct; 0: it was none */
    uint64_t offset;       /* bytes from the beginning of that struct */
    uint64_t byval_size;
    uint32_t special;     /* of the special members of that struct, this one - 1; 0: of none */
    uint32_t special_arg; /* which of the parameters of its function, after its address */
} ir_param;

/* What a launch gives to a parameter of this type. */
static inline ir_arg_kind ir_arg_kind_of(ir_type t, const ir_param *p) {
    if (ir_kind_of(t) == IR_SAMPLER) return IR_ARG_SAMPLER;
    if (ir_is_opaque(t)) return IR_ARG_IMAGE;
    if (!ir_is_ptr(t) || (p->attrs & IR_PARAM_BYVAL)) return IR_ARG_VALUE;
    return ir_space_of(t) == IR_LOCAL ? IR_ARG_LOCAL : IR_ARG_POINTER;
}

enum {
    IR_FUNC_KERNEL = 1,
    IR_FUNC_EXPORT = 2,
    IR_FUNC_IMPORT = 4, /* no body here: calls to it cannot run */
    IR_FUNC_ODR = 8,    /* linkonce_odr */
    IR_FUNC_INLINE = 16,
    IR_FUNC_NOINLINE = 32,
    IR_FUNC_PURE = 64,
    IR_FUNC_CONST = 128,
    IR_FUNC_REFUSED = 256, /* no body: it uses what `refusal` names */
    IR_FUNC_CONTRACTION_OFF = 512,
    IR_FUNC_SHARED = 1024,   /* kernels call it; each work-item runs it without others */
    IR_FUNC_SHORT_IDS = 2048 /* global ids are below IR_SHORT */
};

/* What is below that has 15 bits: the product of two such numbers, and a third one, have 31. */
enum { IR_SHORT = 1 << 15 };

/* SPV_KHR_float_controls per width: index 0 f16, 1 f32, 2 f64; bits as below. */
enum {
    IR_FC_DENORM_PRESERVE = 1,
    IR_FC_DENORM_FLUSH = 2,
    IR_FC_SIGNED_ZERO_INF_NAN = 4,
    IR_FC_ROUND_RTE = 8,
    IR_FC_ROUND_RTZ = 16
};

typedef struct {
    uint32_t local_size[3]; /* reqd_work_group_size; all 0: none */
    uint32_t hint[3];       /* work_group_size_hint */
    uint32_t vec_hint;      /* VecTypeHint's literal */
    bool has_vec_hint;
    uint32_t subgroup_size, subgroups; /* 0: none */
    uint32_t coarsened[3];             /* work-items that a thread runs along each axis; 0: one */
    uint8_t float_controls[3];
} ir_kernel_attrs;

typedef struct ir_dom ir_dom;
typedef struct ir_loops ir_loops;
typedef struct ir_live ir_live;

struct ir_func {
    ir_module *module;
    ir_func *prev, *next;
    const char *name; /* unique among functions and globals of the module */
    uint32_t flags;   /* IR_FUNC_… */
    uint8_t level;    /* L_… */
    ir_type ret;
    uint32_t nparams;
    ir_param *param;     /* facts about each parameter */
    ir_inst **param_val; /* the values */
    ir_kernel_attrs attrs;
    const char *refusal; /* why it was refused, or NULL */
    uint32_t loc;
    ir_block *first, *last; /* no blocks: a declaration */
    uint32_t next_id, next_block;
    uint32_t cfg_version, ssa_version;
    ir_map leaves;              /* interned constants, undef, addresses */
    ir_vec(const char *) names; /* by value id; may be shorter; NULL: unnamed */
    ir_dom *dom;
    ir_loops *loops;
    ir_live *live;
    struct ir_idle *idle; /* passes that found nothing to do, or NULL (passes/idle.c) */
};

/* A name that is taken gets a suffix: "f", "f.1", "f.2" … */
ir_func *ir_func_new(ir_module *m, const char *name, ir_type ret, uint32_t nparams,
                     const ir_type *types);
ir_func *ir_func_find(const ir_module *m, const char *name);
void ir_func_remove(ir_func *f);    /* nothing may call it */
void ir_func_drop_body(ir_func *f); /* leaves a declaration */
static inline bool ir_is_declaration(const ir_func *f) { return !f->first; }
void ir_func_rename(ir_func *f, const char *name); /* a taken name gets a suffix */
/* Names of values are kept for reading, and made unique when printed. */
void ir_set_name(ir_func *f, const ir_inst *i, const char *name);
const char *ir_name_of(const ir_func *f, const ir_inst *i);
/* One more parameter, after the others; nothing may call f. */
ir_inst *ir_add_param(ir_func *f, ir_type t, const char *name);
/* Drops parameters whose keep[i] is false and that have no uses left. */
void ir_keep_params(ir_func *f, const bool *keep);
/* Puts n parameters, without facts, in the place of one; the caller replaces the uses of its old
 * value. */
void ir_split_param(ir_func *f, uint32_t at, uint32_t n, const ir_type *types);

#define foreach_func(f, m)                                                                         \
    for (ir_func *f = (m)->first_func, *f##_next; f && (f##_next = f->next, 1); f = f##_next)

/* ----------------------------------------------------------------------------- modules (func.c) */

/* An address inside an initializer: the value at byte `offset` is &global + addend. */
typedef struct {
    uint64_t offset;
    ir_global *global;
    int64_t addend;
} ir_reloc;

struct ir_global {
    ir_module *module;
    ir_global *prev, *next;
    const char *name;
    ir_space space;
    ir_type type; /* of the memory */
    uint32_t align;
    uint32_t flags; /* IR_FUNC_EXPORT, _IMPORT, _ODR */
    bool constant;
    const uint8_t *init; /* ir_sizeof(type) bytes, or NULL: not initialised */
    const ir_reloc *reloc;
    uint32_t nreloc;
};

typedef struct {
    uint32_t word;         /* the first word of the instructions that come from this line */
    uint32_t file;         /* index into module->files */
    uint32_t line, column; /* line 0: no longer known */
} ir_line;

typedef struct {
    uint32_t id; /* SpecId */
    ir_type type;
    uint64_t value;
    const char *name;
} ir_spec;

struct ir_module {
    ir_ctx *cx;
    ir_arena arena;
    const char *name;      /* file name for messages */
    unsigned pointer_bits; /* 32 or 64 */
    ir_func *first_func, *last_func;
    ir_global *first_global, *last_global;
    ir_vec(ir_type_info *) types;
    ir_map type_map, symbols;
    ir_vec(ir_line) lines; /* ascending by word */
    ir_vec(const char *) files;
    ir_vec(ir_spec) specs;
    uint32_t source_language, source_version; /* OpSource */
    const struct ir_simplifier *simplifier;   /* the builder's rules, or NULL */
    ir_layout *layout; /* what is declared of structs that kernels take by value, or NULL */
    uint64_t source;   /* a hash of the bytes that say all of it; 0: there are no such bytes */
    const struct rt_images *images; /* code that came with it, for devices; or NULL */
    uint64_t number;                /* no other module of this process has it */
    bool steps; /* for debuggers: code is to follow the source, without optimization */
};

ir_module *ir_module_new(ir_ctx *cx, const char *name, unsigned pointer_bits);
void ir_module_free(ir_module *m);
ir_global *ir_global_new(ir_module *m, const char *name, ir_space space, ir_type type);
ir_global *ir_global_find(const ir_module *m, const char *name);
void ir_global_remove(ir_global *g);
const ir_line *ir_line_of(const ir_module *m, uint32_t word); /* NULL: unknown (lines.c) */
/* From here on, a loc is a key of the line table and no word offset: its line is imported or
 * made. */
enum { IR_LOC_MADE = 1 << 30 };
uint32_t ir_make_loc(ir_module *m, ir_line line); /* of that place; 0: there is no room (lines.c) */
/* The word offset that a message about a loc shows; 0: none. */
static inline uint32_t ir_word_of(uint32_t loc) { return loc < IR_LOC_MADE ? loc : 0; }
static inline ir_type ir_size_type(const ir_module *m) {
    return ir_scalar(m->pointer_bits == 32 ? IR_I32 : IR_I64);
}

#define foreach_global(g, m)                                                                       \
    for (ir_global *g = (m)->first_global, *g##_next; g && (g##_next = g->next, 1); g = g##_next)

/* ------------------------------------------------------------------------------ leaves (func.c) */

/* bits: of every lane; null is 0. */
ir_inst *ir_const(ir_func *f, ir_type t, uint64_t bits);
ir_inst *ir_const_lanes(ir_func *f, ir_type t, const uint64_t *lanes);
ir_inst *ir_const_float(ir_func *f, ir_type t, double value); /* rounded to nearest even */
ir_inst *ir_undef(ir_func *f, ir_type t);
ir_inst *ir_address(ir_func *f, ir_global *g);
ir_inst *ir_slot(ir_func *f, uint32_t number);
static inline uint64_t ir_lane_bits(const ir_inst *c, unsigned lane) {
    return ir_is_vector(c->type) ? c->imm.lanes[lane] : c->imm.bits;
}
/* The same bits in every lane? */
bool ir_is_splat(const ir_inst *c, uint64_t *bits);
/* Two's complement, without overflow. */
static inline int64_t ir_wrap_add(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
static inline int64_t ir_wrap_mul(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a * (uint64_t)b);
}
/* The greatest common divisor; that of a number and 0 is the number. */
static inline uint64_t ir_common_divisor(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}
static inline int64_t ir_sext(uint64_t v, unsigned bits) {
    return (int64_t)(v << (64 - bits)) >> (64 - bits);
}
static inline uint64_t ir_zext(uint64_t v, unsigned bits) {
    return bits >= 64 ? v : v & ((UINT64_C(1) << bits) - 1);
}
/* A constant integer as a signed number. */
static inline int64_t ir_signed_const(const ir_inst *c) {
    return ir_sext(c->imm.bits, ir_bits(NULL, c->type));
}

/* --------------------------------------------------------- text form (print.c, lex.re, parse.c) */

enum {
    IR_PRINT_LOC = 1,  /* trailing !word and the line table */
    IR_PRINT_LINES = 2 /* a trailing comment with the place in the source, where it is known */
};
void ir_print_module(ir_text *out, const ir_module *m, unsigned flags);
void ir_print_func(ir_text *out, const ir_func *f, unsigned flags);
void ir_print_inst(ir_text *out, const ir_inst *i); /* one line, for messages and dumps */
/* The control flow graphs of all functions, in the language of Graphviz. (print_dot.c) */
void ir_print_dot(ir_text *out, const ir_module *m);
/* NULL after errors have been reported as file:line:column. */
ir_module *ir_parse(ir_ctx *cx, const char *file, const char *text, size_t n);

/* ---------------------------------------------------------------------------- verify (verify.c) */

/* True when well-formed; otherwise reports each violation (at most 20) as an error. */
bool ir_verify_func(const ir_func *f);
bool ir_verify_module(const ir_module *m);

#endif
