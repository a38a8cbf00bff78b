/* reader.h — what the files of frontend/ share.
 *
 * One `reader` lives on the stack of spv_read.  Reading goes in four steps:
 *   1. notes         names, decorations, entry points (module.c, decorate.c)
 *   2. declarations  types, constants, variables, in order (types.c, constant*.c, variables.c)
 *   3. signatures    all functions, so that calls may look ahead (functions.c)
 *   4. bodies        one function after another (body.c): a first pass finds labels, results and
 *                    edges, a second one reads the blocks that the entry reaches, in reverse
 *                    post-order, so that definitions come before uses however the text is ordered
 * The result of every instruction is kept in the table of ids.  Values of struct and array type are
 * split into their leaves and exist in that table only (parts.c).
 *
 * Errors leave through spv_fail (something is malformed) or spv_refuse (something is not
 * supported).  Either way only a part is given up, and reading goes on: a function becomes a
 * declaration, and an id of the module becomes one that refuses each function which uses it.  Only
 * what cannot be parsed refuses the module (spv_give_up).
 */
#ifndef SPVFUSE_READER_H
#define SPVFUSE_READER_H

#include "frontend/frontend.h"
#include "ir/build.h"

#include <stdlib.h>

#include <spirv/unified1/spirv.h>

typedef struct reader reader;
typedef struct spv_type spv_type;
typedef struct spv_const spv_const;
typedef struct spv_parts spv_parts;
typedef struct spv_variable spv_variable;
typedef struct spv_pointer spv_pointer;
typedef struct spv_function spv_function;
typedef struct spv_block spv_block;
typedef struct spv_decor spv_decor;
typedef struct spv_named spv_named;

enum {
    SPV_MAX_LEAVES = 4096,   /* parts of one struct or array value */
    SPV_MAX_INIT = 64 << 20, /* bytes of all initializers together */
    SPV_FIRST_WORD = 5       /* after the header */
};

/* ------------------------------------------------------------------------ the instruction table */

typedef enum { FORM_N, FORM_R, FORM_V } spv_form;
typedef enum {
    PLACE_SKIP,
    PLACE_NOTE,
    PLACE_DECL,
    PLACE_SHAPE,
    PLACE_LINE,
    PLACE_BODY,
    PLACE_ACT,
    PLACE_END,
    PLACE_BOTH
} spv_place;

typedef struct {
    const char *name; /* without "Op" */
    void (*read)(reader *r);
    const char *lack; /* what is not supported about it, or NULL */
    uint16_t min, max;
    uint8_t form, place;
} spv_row;

enum {
#define INST(name, number, form, min, max, place, reader) ROW_##name,
#define LACK(name, number, form, min, what) ROW_##name,
#include "frontend/spirv.def"
#undef INST
#undef LACK
    SPV_ROWS
};
enum {
#define INST(name, number, form, min, max, place, reader) SPV_OP_##name = number,
#define LACK(name, number, form, min, what) SPV_OP_##name = number,
#include "frontend/spirv.def"
#undef INST
#undef LACK
};
enum { SPV_OPCODES = 8192 }; /* above all opcodes in spirv.def */
extern const spv_row spv_rows[SPV_ROWS];
extern const uint16_t spv_row_numbers[SPV_OPCODES]; /* by opcode: the row + 1, or 0 */
/* NULL: unknown */
static inline const spv_row *spv_row_of(uint32_t opcode) {
    unsigned row = opcode < SPV_OPCODES ? spv_row_numbers[opcode] : 0;
    return row ? &spv_rows[row - 1] : NULL;
}
/* The extension that an unknown opcode belongs to, or NULL. */
const char *spv_family_of(uint32_t opcode);

#define INST(name, number, form, min, max, place, reader_name)                                     \
    void spv_read_##reader_name(reader *r);
#define LACK(name, number, form, min, what)
#include "frontend/spirv.def"
#undef INST
#undef LACK

typedef struct {
    const char *name;
    void (*read)(reader *r);
    uint16_t number, min, max;
} spv_ext_row;

enum {
#define EXT(name, number, min, max, reader) EXT_##name,
#include "frontend/opencl_std.def"
#undef EXT
    SPV_EXT_ROWS
};
enum {
#define EXT(name, number, min, max, reader) SPV_STD_##name = number,
#include "frontend/opencl_std.def"
#undef EXT
};
extern const spv_ext_row spv_ext_rows[SPV_EXT_ROWS];
const spv_ext_row *spv_ext_row_of(uint32_t number); /* NULL: unknown */

#define EXT(name, number, min, max, reader_name) void spv_ext_##reader_name(reader *r);
#include "frontend/opencl_std.def"
#undef EXT

/* The current instruction.  Operands are those after the result type and id. */
typedef struct {
    uint32_t at; /* word offset */
    uint32_t opcode;
    const spv_row *row;     /* NULL: unknown */
    const spv_ext_row *ext; /* of OpenCL.std, or NULL */
    const uint32_t *arg;
    uint32_t n;     /* operand words */
    spv_type *type; /* of the result, or NULL */
    uint32_t id;    /* of the result, or 0 */
} spv_inst;

/* ---------------------------------------------------------------------------------------- types */

typedef enum {
    T_VOID,
    T_BOOL,
    T_INT,
    T_FLOAT,
    T_VECTOR,
    T_POINTER,
    T_ARRAY,
    T_STRUCT,
    T_OPAQUE, /* image, sampler, sampled image, event */
    T_FUNCTION,
    T_LACKING /* no type that can be used: `reason` says why, in a sentence */
} spv_type_form;

struct spv_type {
    spv_type_form form;
    uint32_t id;
    uint32_t bits;      /* of an integer, as declared */
    bool odd;           /* an integer (vector) of a width that is held in a wider one */
    bool forward;       /* pointer: announced, not yet declared */
    uint32_t depth;     /* nesting of structs and arrays */
    ir_type value;      /* of an SSA value; structs and arrays: IR_VOID */
    ir_type memory;     /* in memory: i1 is i8 there */
    uint32_t count;     /* lanes, elements, members, parameters */
    uint32_t leaves;    /* scalars, vectors and pointers it is made of; saturates */
    spv_type *elem;     /* vector, array; function: the result */
    spv_type **member;  /* struct: members; function: parameters */
    uint32_t *first;    /* struct: number of each member's first leaf */
    uint32_t storage;   /* pointer: SpvStorageClass */
    uint32_t pointee;   /* pointer: id of what it points to; 0: untyped */
    const char *reason; /* T_LACKING */
};

/* Integers but bool, and floats, of any number of lanes. */
static inline bool spv_is_integer(ir_type t) { return ir_is_int(t) && !ir_is_bool(t); }
static inline bool spv_is_number(ir_type t) { return spv_is_integer(t) || ir_is_float(t); }

static inline bool spv_is_aggregate(const spv_type *t) {
    return t->form == T_ARRAY || t->form == T_STRUCT;
}

/* The place of one leaf in an aggregate. */
typedef struct {
    spv_type *type;
    uint64_t offset;
} spv_place_of_leaf;

spv_type *spv_type_at(reader *r, uint32_t id);       /* fails unless id is a type */
spv_type *spv_pointee(reader *r, const spv_type *p); /* NULL: untyped */
spv_type *spv_value_type(reader *r, spv_type *t);    /* refuses types without values */
spv_type *spv_member(reader *r, spv_type *t, uint32_t i);
uint64_t spv_member_offset(reader *r, const spv_type *t, uint64_t i);
uint32_t spv_member_leaf(const spv_type *t, uint32_t i);
uint32_t spv_member_of_leaf(const spv_type *t, uint32_t leaf);
spv_place_of_leaf spv_find_leaf(reader *r, spv_type *t, uint32_t leaf);
bool spv_same_type(const spv_type *a, const spv_type *b);
const char *spv_type_name(reader *r, const spv_type *t);
const char *spv_ir_type_name(reader *r, ir_type t);
const char *spv_storage_name(uint32_t storage);
/* OpType…Continued and OpConstant…Continued: all operands of the instruction and its sequels. */
const uint32_t *spv_gather(reader *r, uint32_t sequel, uint32_t *n);

/* ------------------------------------------------------------------------------------ constants */

typedef enum {
    C_BITS, /* scalar */
    C_NULL, /* zero of any type */
    C_UNDEF,
    C_PARTS,   /* vector, struct or array: one constant per lane, member or element */
    C_ADDRESS, /* of a global, plus bytes; as pointer or integer */
    C_SAMPLER,
    C_LACKING
} spv_const_form;

struct spv_const {
    spv_const_form form;
    spv_type *type;
    uint64_t bits; /* C_BITS, C_SAMPLER; C_ADDRESS: bytes to add */
    const spv_const **part;
    ir_global *global;  /* C_ADDRESS */
    const char *reason; /* C_LACKING: a sentence */
};

const spv_const *spv_constant(reader *r, uint32_t id); /* NULL: id is not a constant */
const spv_const *spv_const_leaf(reader *r, const spv_const *c, uint32_t leaf);
ir_inst *spv_const_value(reader *r, const spv_const *c); /* not of structs and arrays */
/* The value of an integer constant (null counts as 0); false when id is no such thing. */
bool spv_int_constant(reader *r, uint32_t id, uint64_t *bits);
bool spv_signed_constant(reader *r, uint32_t id, int64_t *value);
spv_const *spv_new_const(reader *r, spv_const_form form);
void spv_define_const(reader *r, const spv_const *c);
uint64_t spv_cut(const spv_type *scalar, uint64_t bits);
void spv_check_specs(reader *r);

/* ---------------------------------------------------------------------------------- decorations */

enum {
    D_CPACKED = 1,
    D_CONSTANT = 2,
    D_VOLATILE = 4,
    D_RESTRICT = 8,
    D_NSW = 16,
    D_NUW = 32,
    D_SATURATED = 64,
    D_NO_CONTRACTION = 128,
    D_ALIGNMENT = 256, /* from here on: with a value */
    D_BUILTIN = 512,
    D_FAST_MATH = 1024,
    D_ROUNDING = 2048,
    D_SPEC_ID = 4096,
    D_LINKAGE = 8192,
    D_SPECIALIZED = 16384
};

/* A member offset that was given by decoration. */
typedef struct spv_offset spv_offset;
struct spv_offset {
    uint32_t member;
    uint64_t offset;
    spv_offset *next;
};

/* A member that was marked as specialized. */
typedef struct spv_mark spv_mark;
struct spv_mark {
    uint32_t member;
    spv_mark *next;
};

struct spv_decor {
    uint32_t has;   /* D_… */
    uint32_t attrs; /* bit per FuncParamAttr */
    uint32_t alignment, builtin, fast_math, rounding, spec_id;
    const char *link_name;
    uint32_t link_type;
    const char *lack; /* why what is decorated cannot be used, or NULL */
    spv_offset *offsets;
    spv_mark *marks;
};

/* ------------------------------------------------------------------------------------------ ids */

typedef enum {
    ID_FREE,
    ID_STRING,
    ID_SET, /* of extended instructions */
    ID_TYPE,
    ID_CONST,
    ID_VARIABLE, /* of the module */
    ID_FUNCTION,
    ID_LABEL,
    ID_PENDING, /* result of an instruction that is still to be read */
    ID_VALUE,   /* scalar, vector, pointer, opaque */
    ID_PARTS,   /* struct or array */
    ID_BUILTIN, /* pointer into a built-in variable */
    ID_OTHER
} spv_id_kind;

typedef enum { SET_OPENCL, SET_DEBUG, SET_SHADER_DEBUG, SET_LACKING } spv_set_kind;

typedef struct {
    uint8_t kind;   /* spv_id_kind */
    uint8_t set;    /* ID_SET */
    bool listed;    /* in an entry point's interface */
    uint32_t owner; /* serial of the function it belongs to; 0: the module */
    spv_type *type; /* of the value; ID_TYPE: itself */
    union {
        ir_inst *val;
        spv_parts *parts;
        const spv_const *konst;
        spv_variable *var;
        spv_pointer *pointer;
        spv_function *func;
        spv_block *block;
        const char *text;
    };
    ir_inst *cached;    /* leaf for a constant in function `cached_in` */
    uint32_t cached_in; /* ID_STRING, ID_OTHER: number of the file it names, + 1 */
    uint32_t name;      /* word offset of its OpName string, or 0 */
    spv_decor *decor;
} spv_id;

/* ------------------------------------------------------------------------------------ variables */

/* A variable of the module: a global, a built-in, a literal sampler, or something not supported. */
struct spv_variable {
    uint32_t id;
    spv_type *type; /* pointer */
    ir_global *global;
    const spv_const *init;
    int fill; /* the value of all bytes of a constant, or -1 */
    bool is_builtin;
    uint32_t builtin;   /* SpvBuiltIn */
    const char *reason; /* why it cannot be used, in a sentence */
    ir_inst *copy;      /* built-in: variable with its value in function `copy_in` */
    uint32_t copy_in;
};

/* Pointer into a built-in variable. */
struct spv_pointer {
    spv_variable *var;
    int64_t offset;
};

/* ------------------------------------------------------------------------- functions and blocks */

/* A function that calls this one. */
typedef struct spv_caller spv_caller;
struct spv_caller {
    spv_function *func;
    spv_caller *next;
};

struct spv_function {
    uint32_t gap;    /* after the function before */
    uint32_t id, at; /* OpFunction */
    uint32_t body;   /* first OpLabel, or 0 */
    uint32_t end;    /* OpFunctionEnd */
    uint32_t nparams;
    uint32_t *param; /* OpFunctionParameter */
    spv_type *type;
    ir_func *ir;
    uint32_t entry;    /* the first OpEntryPoint that names it, or 0 */
    uint32_t unlisted; /* the first use of a variable that no entry point's interface has, or 0 */
    bool refused;
    const char *lack; /* why it was refused before it was declared, or NULL */
    bool sret;        /* result through an extra first parameter */
    spv_caller *callers;
    const struct spv_builtin *builtin; /* import that stands for an operation, or NULL */
    const char *builtin_key;
    spv_function *next;
};

struct spv_block {
    uint32_t label;
    uint32_t begin, end; /* first instruction, terminator */
    uint32_t order;      /* in the text */
    ir_block *ir;        /* NULL: not reached */
    uint32_t edges;      /* from reached blocks */
    uint32_t walked;     /* successors already visited */
    uint32_t nsucc;
    const uint32_t *succ; /* first successor label in the words */
    uint32_t stride;      /* words from one successor label to the next */
    uint32_t other;       /* switch: default label, which comes first; or 0 */
    bool reached;
    uint32_t pair;    /* the operand pair that the phi pair_of has from this block */
    uint32_t pair_of; /* the last phi that was filled in and has such a pair */
    bool pair_used;   /* this block is a predecessor, or is not reached */
    spv_block *next;  /* in the text */
};

/* A phi whose arguments are filled in when all blocks have been read. */
typedef struct {
    uint32_t at;
    ir_inst *inst;
    uint32_t leaf;
} spv_phi;

/* ------------------------------------------------------------------------------ values in parts */

/* A struct or array value.  A load is delayed: if the value is only stored again, a copy
 * suffices; otherwise each leaf that is used is loaded, at the place of the original load. */
struct spv_parts {
    ir_inst **part;   /* by leaf; with a pending load NULL or holding NULLs */
    ir_inst *pointer; /* where a pending load reads; NULL: no load is pending */
    uint64_t offset;  /* bytes from the pointer */
    uint32_t align, flags;
    ir_block *block; /* the block of the load */
    ir_inst *after;  /* the load comes after this one; NULL: at the head of the block */
    uint32_t loc;
    uint64_t writes; /* body.writes when it was loaded */
};

spv_parts *spv_parts_new(reader *r, const spv_type *t);
ir_inst *spv_leaf(reader *r, uint32_t id, uint32_t leaf);
spv_parts *spv_parts_of(reader *r, uint32_t id); /* with every leaf at hand */
void spv_define_parts(reader *r, spv_parts *p);
/* The value of type t in memory, as the result of this instruction. */
void spv_define_load(reader *r, spv_type *t, ir_inst *p, uint32_t align, uint32_t flags);
/* How memory is accessed. */
typedef struct {
    uint32_t align; /* in bytes; 0: not given */
    uint32_t flags; /* IR_MEM_… */
} spv_access;
void spv_store_any(reader *r, uint32_t id, ir_inst *p, spv_access a);
void spv_store_const(reader *r, const spv_const *c, ir_inst *p, spv_access a);
void spv_fill(reader *r, ir_inst *to, uint8_t byte, ir_inst *bytes, spv_access a);
void spv_copy(reader *r, ir_inst *to, ir_inst *from, ir_inst *bytes, spv_access a);
ir_inst *spv_step(reader *r, ir_inst *p, uint64_t bytes); /* p + bytes, in bounds */
ir_inst *spv_times(reader *r, ir_inst *i, uint64_t size); /* i * size; a shift where it can be */
ir_inst *spv_lane(reader *r, ir_inst *v, ir_inst *index); /* undef where there is none */
void spv_charge(reader *r, uint64_t parts);

/* ----------------------------------------------------------------------------------- the reader */

typedef enum {
#define WARNING(name, text) WARN_##name,
#include "frontend/warnings.def"
#undef WARNING
    SPV_WARNINGS
} spv_warning;

typedef struct {
    uint32_t count, at;
    char inst[96];
} spv_warned;

/* What is read.  Nothing here changes after take_header. */
typedef struct {
    const char *file; /* its name, for messages */
    const spv_read_options *options;
    const uint32_t *words; /* in the byte order of this machine */
    uint32_t nwords, version, bound;
} spv_input;

typedef struct {
    uint32_t dense; /* ids below this index `table`; others are in `sparse` */
    spv_id *table;
    ir_map sparse;
} spv_id_table;

/* What the instructions before the types say about the whole module. */
typedef struct {
    bool has_model;
    bool any_odd; /* some integer type has an odd width */
    bool cap_int64, cap_int16, cap_int8, cap_half, cap_double, cap_odd;
    bool any_entry, contraction_off; /* some entry point forbids contraction */
    ir_vec(uint32_t) entries;        /* OpEntryPoint */
    ir_vec(uint32_t) modes;          /* OpExecutionMode(Id) */
    ir_map arg_types, arg_quals;     /* spv_named: argument strings of kernels */
    ir_map entry_names;              /* spv_named */
} spv_facts;

/* Where reading is before the first function (read_head). */
typedef struct {
    uint32_t at;     /* the word that is being read */
    uint32_t end;    /* where the functions begin */
    spv_place place; /* which instructions are read this time */
    ir_map unshaped; /* why an instruction outside of bodies cannot be decoded, by word */
} spv_head;

/* The body that is being read (body.c, cfg.c); emptied for each function. */
typedef struct {
    spv_block *first_block;
    spv_block *block;     /* being read */
    ir_inst *last_alloca; /* or NULL */
    bool contract;        /* a multiply and an add may be contracted */
    spv_block **order;    /* reached blocks in reverse post-order */
    uint32_t nblocks, nreached;
    ir_vec(spv_phi) phis;
    ir_vec(ir_inst *) clusters; /* operations whose cluster size is no constant */
    uint64_t writes; /* instructions so far that may write memory, and blocks; never decreases */
} spv_body;

/* A part of the module that may fail by itself (spv_attempt). */
typedef struct {
    bool active;
    const char *refusal; /* why it is left */
} spv_attempted;

struct reader {
    ir_ctx *cx;
    ir_module *m;     /* the result */
    ir_arena scratch; /* freed when reading ends */
    spv_input input;
    spv_id_table ids;
    spv_inst in; /* the current instruction: set by spv_decode, and the place of messages */
    spv_facts facts;
    spv_head head;
    spv_function *first_function, *last_function;
    spv_function *declared; /* whose declaration is being read */
    spv_function *f;        /* whose body is being read, or NULL */
    uint32_t serial;        /* of f; that of fold is 1 */
    ir_func *fold;          /* the function in which constants are computed */
    spv_body body;
    ir_builder b;
    spv_attempted attempt;
    uint64_t budget;     /* parts of aggregates that may still be made */
    uint64_t init_bytes; /* of initializers so far */
    ir_map variables;    /* by address of their global */
    spv_warned warned[SPV_WARNINGS];
    uint16_t plain[SPV_ROWS]; /* IR op + 1 of a plain row, once looked up */
    uint16_t plain_ext[SPV_EXT_ROWS];
};

/* ------------------------------------------------------------------------------------- messages */

/* The module cannot be read: reports "k.spv: word 0x1a3 (OpFMul %57), a.cl:12: error: …", and
 * leaves. */
IR_NORETURN void spv_give_up(reader *r, const char *fmt, ...) IR_PRINTF(2, 3);
/* The input is malformed: warns, and gives up the function or declaration. */
IR_NORETURN void spv_fail(reader *r, const char *fmt, ...) IR_PRINTF(2, 3);
/* The input is not supported: gives up the function or declaration. */
IR_NORETURN void spv_refuse(reader *r, const char *fmt, ...) IR_PRINTF(2, 3);
/* Why `read` was left by one of the two, or NULL. */
const char *spv_attempt(reader *r, void (*read)(void *reader));
void spv_report_malformed(reader *r, const char *text); /* a warning at r->in */
/* Names the instruction: "instruction OpKill is not supported". */
IR_NORETURN void spv_refuse_inst(reader *r, const char *why);
void spv_warn(reader *r, spv_warning which);
void spv_report_warnings(reader *r);
const char *spv_op_name(reader *r); /* "OpFMul", "OpExtInst fma", "opcode 7000" */

/* -------------------------------------------------------------------------------- words and ids */

/* Makes r->in the instruction at that word, whose shape has been checked. */
void spv_decode(reader *r, uint32_t at);
spv_id *spv_find_slow(reader *r, uint32_t id);
static inline spv_id *spv_find(reader *r, uint32_t id) {
    return id < r->ids.dense ? &r->ids.table[id] : spv_find_slow(r, id);
}
/* The string that starts at operand k, and its length in words; both fail when it does not end. */
const char *spv_string(reader *r, uint32_t k);
uint32_t spv_string_words(reader *r, uint32_t k);
const char *spv_string_at(reader *r, uint32_t word);
const char *spv_name(reader *r, uint32_t id); /* its OpName, or NULL */
/* `name` for a symbol, or a similar one that is free, found in constant time. */
const char *spv_free_name(reader *r, const char *name, uint32_t id);
/* Notes a text under a name that stays where it is; the newest of a name counts. */
void spv_note_name(reader *r, ir_map *names, const char *name, size_t length, const char *text);
const char *spv_noted(const ir_map *names, const char *name); /* NULL: none */
/* Takes the result id of this instruction; fails when it is defined already. */
spv_id *spv_new_id(reader *r, spv_id_kind kind);
const spv_decor *spv_decor_of(reader *r, uint32_t id); /* never NULL */
static inline bool spv_has(reader *r, uint32_t id, uint32_t decoration) {
    const spv_id *e = spv_find(r, id);
    return e->decor && (e->decor->has & decoration);
}

/* ------------------------------------------------------------------------------------- operands */

ir_inst *spv_value_slow(reader *r, uint32_t id);
/* The value of an id of scalar, vector, pointer or opaque type. */
static inline ir_inst *spv_value(reader *r, uint32_t id) {
    const spv_id *e = spv_find(r, id);
    return e->kind == ID_VALUE && e->owner == r->serial ? e->val : spv_value_slow(r, id);
}
static inline ir_inst *spv_arg(reader *r, uint32_t k) { return spv_value(r, r->in.arg[k]); }
spv_type *spv_type_of(reader *r, uint32_t id); /* of a value; fails when id is none */
static inline spv_type *spv_arg_type(reader *r, uint32_t k) { return spv_type_of(r, r->in.arg[k]); }
/* Operand k, which must have this IR type. */
ir_inst *spv_arg_of(reader *r, uint32_t k, ir_type want);
ir_inst *spv_arg_pointer(reader *r, uint32_t k);
/* Operand k, one integer of any width: as it is, or zero-extended or cut to the width of a pointer
 * or to 32 bits. */
ir_inst *spv_arg_int(reader *r, uint32_t k);
ir_inst *spv_arg_size(reader *r, uint32_t k);
ir_inst *spv_arg_i32(reader *r, uint32_t k);
/* An operand whose bits above those of type t do not matter: a wider integer is cut. */
ir_inst *spv_low_value(reader *r, uint32_t id, const spv_type *t);
bool spv_is_wider(const spv_type *have, const spv_type *want); /* an integer that can be cut */
bool spv_fits(reader *r, uint32_t k, const spv_type *t); /* operand k has type t or can be cut */
/* Operand k as an integer of type t, or cut to it; fails when it is neither. */
ir_inst *spv_arg_low(reader *r, uint32_t k, const spv_type *t);
IR_NORETURN void spv_bad_type(reader *r, uint32_t k, const char *want);
/* Makes v the result of this instruction; checked: fails when v does not have the type that the
 * instruction declares. */
void spv_define(reader *r, ir_inst *v);
void spv_define_checked(reader *r, ir_inst *v);
/* Another integer width, lane by lane. */
ir_inst *spv_to_int(reader *r, ir_inst *v, ir_type t, bool is_signed);

static inline ir_inst *spv_op1(reader *r, ir_op op, ir_type t, ir_inst *x) {
    return ir_build1(&r->b, op, t, x);
}
static inline ir_inst *spv_op2(reader *r, ir_op op, ir_type t, ir_inst *x, ir_inst *y) {
    return ir_build2(&r->b, op, t, x, y);
}
static inline ir_inst *spv_splat_const(reader *r, ir_type t, uint64_t bits) {
    return ir_const(r->b.f, t, bits);
}

/* ------------------------------------------------------------------------------------ the files */

/* module.c, modes.c: which functions are entry points, and their execution modes */
void spv_mark_entries(reader *r);
void spv_set_modes(reader *r);

/* poison.c: the instruction at r->head.at is left out; what uses its result or target is
 * refused. */
void spv_leave_out(reader *r, const char *why);

/* lines.c: OpLine and OpNoLine, the end of a line at the end of its block, DebugLine of
 * NonSemantic.Shader.DebugInfo.100, the argument strings of kernels */
void spv_line(reader *r);
void spv_end_line(reader *r);
void spv_debug_line(reader *r);
void spv_note_arg_string(reader *r, const char *text);
void spv_name_args(reader *r, ir_func *f);

/* fold.c: the function in which constant expressions are computed */
void spv_begin_fold(reader *r);
void spv_end_fold(reader *r);

/* variables.c */
ir_inst *spv_variable_address(reader *r, spv_variable *v);
spv_variable *spv_variable_of(reader *r, const ir_inst *p); /* whose address p is, or NULL */
void spv_hoist_variables(reader *r, const uint32_t *at, uint32_t n);
ir_inst *spv_temporary(reader *r, const spv_type *t); /* an alloca for a value of this type */
void spv_at_head(reader *r, ir_builder *b); /* a builder after the allocas of the function */
uint32_t spv_power_of_two(reader *r, uint32_t align);
uint32_t spv_linkage(reader *r, uint32_t id); /* IR_FUNC_EXPORT, _IMPORT, _ODR */

/* builtin_vars.c */
ir_inst *spv_builtin_load(reader *r, spv_pointer *p, spv_type *t); /* NULL: no single query */
ir_inst *spv_builtin_address(reader *r, spv_pointer *p);
/* Component `index` of a whole built-in variable; an index that is too large gives what OpenCL C
 * says. NULL: v is no such variable. */
ir_inst *spv_builtin_component(reader *r, const ir_inst *v, ir_inst *index);
const char *spv_builtin_lack(reader *r, uint32_t builtin, const spv_type *t); /* NULL: none */
bool spv_builtin_of_name(const char *name, uint32_t *builtin);

/* functions.c */
void spv_declare_params(reader *r, const spv_function *f);
void spv_bind_params(reader *r, const spv_function *f);
void spv_declare_function(reader *r, spv_function *f);
void spv_mark_refused(reader *r, spv_function *f, const char *why); /* a declared one */
void spv_refuse_callers(reader *r); /* of functions that were refused */
void spv_warn_interfaces(reader *r);
void spv_drop_builtins(reader *r);
void spv_make_entries(reader *r);

/* body.c, cfg.c */
void spv_read_body(reader *r, spv_function *f);
void spv_refuse_function(reader *r, spv_function *f, const char *why);
void spv_order_blocks(reader *r);
void spv_fill_phis(reader *r);
void spv_check_dominance(reader *r);
/* Clustered operations without a constant size (clusters.c): noted, expanded after the body. */
void spv_note_cluster(reader *r, ir_inst *op);
void spv_expand_clusters(reader *r);

/* atomics.c: does the atomic op work on values of type t? */
bool spv_is_atomic_type(reader *r, ir_op op, ir_type t);

/* ops.c: plain operations, with types checked by the op's rule and flags from decorations */
/* Fails unless op takes operands a of these types and gives a result of type t.  a[0] is operand
 * `first` of the instruction, and the others follow it. */
void spv_check_types(reader *r, ir_op op, ir_type t, ir_inst *const *a, uint32_t first);
ir_op spv_op_of_row(reader *r);
void spv_plain(reader *r, ir_op op);
ir_inst *spv_emit(reader *r, ir_op op, ir_type t, unsigned n, ir_inst *const *args);
/* Integers of odd widths: zeros, or the sign, into the unused bits. */
ir_inst *spv_mask_odd(reader *r, const spv_type *t, ir_inst *v);
ir_inst *spv_widen_odd(reader *r, const spv_type *t, ir_inst *v);

/* convert.c: to another address space, through generic if need be */
ir_inst *spv_cast_space(ir_builder *b, ir_inst *p, ir_type t);

/* --------------------------------------------------- built-in functions that were left as calls */

/* What a query gives for a dimension; `otherwise` for one that does not exist. */
ir_inst *spv_query_dim(reader *r, ir_op op, ir_type t, ir_inst *dim, uint64_t otherwise);

typedef struct spv_builtin spv_builtin;
struct spv_builtin {
    const char *name; /* a trailing '*' stands for any rest */
    void (*call)(reader *r, const spv_builtin *b, const char *key);
    uint32_t data, more;
};

/* A key is the class of the first parameter, 's', 'u', 'f' or '-', and the unmangled name. */
static inline char spv_key_class(const char *key) { return key[0]; }
static inline const char *spv_key_name(const char *key) { return key + 1; }

/* The row for the name of an import, and its key; NULL: not known. */
const spv_builtin *spv_find_builtin(reader *r, const char *mangled, const char **key);
void spv_call_builtin(reader *r, const spv_function *callee);
/* Fails unless the call has at least n arguments. */
void spv_want_args(reader *r, const char *key, uint32_t n);
/* Reads the call as the extended instruction; `literals` follow its operands. */
void spv_call_ext(reader *r, const spv_ext_row *row, uint32_t n, const uint32_t *literals);

#define OPENCL(name, reader_name, data, more)                                                      \
    void spv_call_##reader_name(reader *r, const spv_builtin *b, const char *key);
#define OTHER(name, reader_name, data, more) OPENCL(name, reader_name, data, more)
#include "frontend/builtin_names.def"
#undef OPENCL
#undef OTHER

#endif
