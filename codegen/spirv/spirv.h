/* spirv.h — what the files of the SPIR-V writer share.
 *
 * One `sw_writer` lives while a module is written, one `sw_func` while a function is.  The steps:
 *
 *   write.c        the driver: plans all functions, writes them, and puts the sections together
 *   typing.c       gives every pointer one pointee type, chooses how each ptradd becomes an access
 *                  chain (address.c), and finds the instructions that are still needed
 *   func.c         functions, block by block in reverse post-order (loop.c: loop merges, phi.c:
 *                  phis)
 *   ops.c          the instructions; their kinds are in convert.c, memory.c, half_access.c,
 *                  atomic.c, special.c, query.c, groups.c and images.c
 *   entry.c        entry points, their interfaces and execution modes
 *
 * What all of them use:
 *   words.c        sections, ids, and what a module declares
 *   opcodes.c      opcodes by name, names of versions
 *   types.c        types and constants
 *   globals.c      module-scope variables
 *   half.c         which modules only store halves
 *   emit.c         instructions of the function that is being written
 *   pointer.c      pointers with the pointee that a use wants
 *
 * Types, constants, module-scope variables, capabilities and extensions are made when they are
 * first asked for, so a module contains only what it uses.
 *
 * What SPIR-V cannot express ends the writing by sw_refuse, which names function and instruction.
 */
#ifndef SPVFUSE_CODEGEN_SPIRV_H
#define SPVFUSE_CODEGEN_SPIRV_H

#include "codegen/codegen.h"
#include "ir/change.h"

#include <spirv/unified1/OpenCL.std.h>
#include <spirv/unified1/spirv.h>

/* ----------------------------------------------------------------------------------- the writer */

/* Sections in the order of a module; the last three hold the function that is being written. */
typedef enum {
    SEC_ENTRY,
    SEC_MODE,
    SEC_STRING,
    SEC_SOURCE,
    SEC_NAME,
    SEC_DECORATION,
    SEC_GLOBAL,      /* types, constants, variables */
    SEC_DECLARATION, /* functions without a body */
    SEC_FUNCTION,
    SEC_COUNT,
    SEC_HEAD = SEC_COUNT, /* OpFunction to the variables of the entry block */
    SEC_CAST,             /* casts of parameters, variables and globals: end of the head */
    SEC_BODY,
    SEC_ALL
} sw_section;

typedef ir_vec(uint32_t) sw_words;
typedef ir_vec(const char *) sw_strings;

enum { SW_MAX_WORDS = 0xffff, SW_BUILTINS = 42, SW_PLAIN_TYPES = 1 << 12 };

typedef struct sw_func sw_func;
typedef struct sw_plan sw_plan;
typedef struct sw_info sw_info;
typedef struct sw_cast sw_cast;

/* Types and constants that are in SEC_GLOBAL: an open hash table of places there, + 1. */
typedef struct {
    uint32_t *place;
    uint32_t n, capacity;
} sw_interned;

/* The module that is being made. (words.c) */
typedef struct {
    uint32_t version; /* 0x000MMmm00 */
    uint32_t bound;   /* next id */
    uint32_t std;     /* id of the import of OpenCL.std, or 0 */
    sw_words capabilities;
    sw_strings extensions;
    sw_words section[SEC_ALL];
    sw_interned interned;
} sw_module;

/* Ids of types. (types.c) */
typedef struct {
    uint32_t *plain; /* by ir_type below SW_PLAIN_TYPES */
    uint32_t *table; /* by index in the module's table */
    ir_map pointers; /* (pointee, storage class) -> id */
    bool has_halves; /* the type of halves is declared */
} sw_types;

/* Module-scope variables. (globals.c) */
typedef struct {
    ir_map ids;         /* ir_global -> id */
    ir_map of_id;       /* id -> ir_global */
    ir_map strings;     /* hash of a format -> the newest with it */
    ir_map byte_arrays; /* (count, alignment, byte) -> id */
} sw_globals;

/* Ids of built-in variables; 0: not declared yet. (query.c) */
typedef struct {
    uint32_t variable[SW_BUILTINS];
    uint32_t mask[5]; /* masks of sub-groups */
} sw_builtins;

typedef struct {
    const ir_module *m;
    ir_ctx *cx;
    ir_arena *arena; /* everything but the result */
    cg_spirv_options options;
    bool stores_halves; /* halves are only in memory: no value has the type (half.c) */
    sw_module out;
    sw_types types;
    sw_globals globals;
    sw_builtins builtins;
    uint16_t *opcode; /* by ir_op: number of its spirv column + 1, or 0 */
    uint32_t *file;   /* by index in the module's files: id of its OpString */
    ir_map infos;     /* ir_func -> sw_info */
    ir_vec(sw_info *) functions;
} sw_writer;

/* What typing.c finds, by value id. */
typedef struct {
    ir_type *pointee; /* what a pointer points to, as memory type */
    sw_plan **plan;   /* of ptradd */
    bool *needed;     /* instructions that are written */
} sw_typing;

/* What decides on contraction: what a function contains. */
typedef struct {
    bool adds, muls; /* float additions; multiplications that these could swallow */
    bool strict;     /* one of them must not be contracted */
} sw_arithmetic;

/* What is known about a function of the module. */
struct sw_info {
    ir_func *f;
    uint32_t id;    /* of the OpFunction that is called; 0: not written */
    uint32_t entry; /* kernels: of the OpFunction that is the entry point; may equal id */
    bool written;   /* has a body to write */
    bool called;    /* by a written function */
    bool declared;  /* as an import */
    sw_typing typing;
    sw_arithmetic arithmetic;
    ir_vec(sw_info *) callees;
    ir_vec(uint32_t) inputs, variables; /* used here: built-in variables, others */
};

/* A value that a pointer was cast to. */
struct sw_cast {
    ir_type pointee;
    bool inside; /* by stepping into what it points to: for accesses alone */
    uint32_t id;
    ir_block *block; /* the block of the cast */
    sw_cast *next;
};

/* A phi whose operands are written when the function is complete. */
typedef struct {
    const ir_inst *phi;
    const uint32_t *edge; /* places in the list of predecessors */
    uint32_t n;           /* edges */
    uint32_t at;          /* first operand, in SEC_BODY */
} sw_open_phi;

/* A variable for what an instruction returns through a pointer. */
typedef struct {
    ir_type type;
    uint32_t id;
} sw_result_variable;

/* A built-in variable that was loaded. */
typedef struct {
    uint32_t id;
    ir_block *block;
} sw_loaded;

/* SPIR-V blocks, by id of the block. */
typedef struct {
    uint32_t *label;    /* 0: unreachable */
    uint32_t *exit;     /* label of the last SPIR-V block that it became */
    bool *is_merge;     /* merge block of a loop already */
    ir_map edge_blocks; /* (block, successor) -> label of the block between them (phi.c) */
} sw_blocks;

/* Which blocks a walk over edges has visited. (phi.c) */
typedef struct {
    uint32_t *walk; /* by block id: the last walk that has visited it */
    uint32_t now;   /* the present walk */
} sw_visits;

struct sw_func {
    sw_writer *w;
    ir_func *f;
    sw_info *info;
    const ir_dom *dom;
    /* By value id: */
    uint32_t *id; /* 0: not written yet */
    sw_cast **cast;
    sw_blocks blocks;
    sw_visits visits;
    /* Being written: */
    ir_block *block;
    const ir_inst *inst; /* or NULL */
    const ir_line *line; /* of the last OpLine in this block */
    sw_loaded query[SW_BUILTINS];
    ir_vec(sw_result_variable) result_variables;
    ir_vec(sw_open_phi) phis;
    ir_map edge_casts; /* (phi, predecessor) -> id of the operand, cast there */
};

/* ------------------------------------------------------------------------- words and ids (words.c)
 *
 * Operands are passed as a list: SW_LIST(a, b, c) is one whose words live as long as the block. */
typedef struct {
    unsigned n;
    const uint32_t *word;
} sw_list;

#define SW_LIST(...)                                                                               \
    ((sw_list){(unsigned)(sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)),             \
               (const uint32_t[]){__VA_ARGS__}})
#define SW_NONE ((sw_list){0, NULL})

/* The type and the id of a result. */
typedef struct {
    uint32_t type, id;
} sw_result;

/* Operands before a string, the string, and operands after it. */
typedef struct {
    sw_list before;
    const char *string;
    sw_list after;
} sw_text;

uint32_t sw_new_id(sw_writer *w);
/* Writes an instruction without result; the operands are all its words. */
void sw_put(sw_writer *w, sw_section s, SpvOp op, sw_list operands);
/* Writes an instruction with type and result. */
void sw_put_result(sw_writer *w, sw_section s, SpvOp op, sw_result result, sw_list operands);
/* Writes an instruction with a string among its operands. */
void sw_put_string(sw_writer *w, sw_section s, SpvOp op, sw_text operands);
/* The id of a type (type 0) or constant with these operands; equal ones are one. */
uint32_t sw_intern(sw_writer *w, SpvOp op, uint32_t type, sw_list operands);
void sw_capability(sw_writer *w, SpvCapability c);
bool sw_has_capability(const sw_writer *w, SpvCapability c);
void sw_extension(sw_writer *w, const char *name); /* a string literal */
void sw_name(sw_writer *w, uint32_t id, const char *name);
void sw_decorate(sw_writer *w, uint32_t id, SpvDecoration d, sw_list operands);
#define sw_decorate0(w, id, d) sw_decorate((w), (id), (d), SW_NONE)
void sw_decorate_semantic(sw_writer *w, uint32_t id, const char *word);
void sw_decorate_member(sw_writer *w, uint32_t id, uint32_t member, const char *word);
void sw_decorate_linkage(sw_writer *w, uint32_t id, const char *name, bool import);
uint32_t sw_import_std(sw_writer *w);
IR_NORETURN void sw_refuse_module(sw_writer *w, const char *fmt, ...) IR_PRINTF(2, 3);

/* -------------------------------------------------------------------------- opcodes (opcodes.c) */

/* The number of "OpX" or "ext x", or -1. */
int sw_opcode_of(const char *spirv);
const char *sw_version_name(uint32_t version); /* "1.2" */

/* ------------------------------------------------------------------------------ types (types.c) */

uint32_t sw_type(sw_writer *w, ir_type t);      /* of a value */
uint32_t sw_held_type(sw_writer *w, ir_type t); /* of what memory holds */
/* The type that memory holds for t: i8 for i1. */
ir_type sw_memory_type(ir_type t);
uint32_t sw_pointer_type(sw_writer *w, ir_space space, ir_type pointee);
uint32_t sw_pointer_type_of(sw_writer *w, SpvStorageClass storage, uint32_t type);
uint32_t sw_function_type(sw_writer *w, const sw_info *info);
SpvStorageClass sw_storage_class(sw_writer *w, ir_space space);
uint32_t sw_bool_type(sw_writer *w, ir_type shape);
/* What a pointer points to, after typing; IR_VOID for null and undef: anything. */
ir_type sw_pointee(const sw_info *info, const ir_inst *v);
ir_type sw_param_pointee(const sw_info *info, unsigned n);
/* The type of an instruction, after typing. */
uint32_t sw_value_type(sw_writer *w, const sw_info *info, const ir_inst *v);

/* Constants. */
uint32_t sw_int(sw_writer *w, ir_type t, uint64_t value); /* scalar integer */
uint32_t sw_u32(sw_writer *w, uint32_t value);
uint32_t sw_size(sw_writer *w, uint64_t value); /* of the pointer's width */
/* A constant of type t with the same bits in every lane. */
uint32_t sw_splat(sw_writer *w, ir_type t, uint64_t bits);
uint32_t sw_constant(sw_writer *w, const ir_inst *c); /* no pointer */
/* The same bits as a constant of type t. */
uint32_t sw_constant_as(sw_writer *w, const ir_inst *c, ir_type t);
uint32_t sw_null(sw_writer *w, uint32_t type);
uint32_t sw_undef(sw_writer *w, uint32_t type);

/* -------------------------------------------------------------------------- globals (globals.c) */

uint32_t sw_global(sw_writer *w, ir_global *g);
/* A constant array with the bytes of a string and its ending 0, as sw_global. */
uint32_t sw_format_string(sw_writer *w, const char *string);
/* A constant variable: an array of n bytes, all of them `byte`; align is below 1 << 24. */
uint32_t sw_constant_bytes(sw_writer *w, uint32_t n, uint8_t byte, uint32_t align);
void sw_write_exported_globals(sw_writer *w);

/* ---------------------------------------------------- pointers (typing.c, address.c, pointer.c) */

enum { SW_MAX_TERMS = 4 };

typedef struct {
    ir_inst *value;
    int64_t factor;
} sw_term;

/* An affine form: a sum of value * factor, and a constant.  Exact: nothing on the way can wrap. */
typedef struct {
    sw_term term[SW_MAX_TERMS];
    unsigned n;
    int64_t constant;
    bool exact;
} sw_affine;

typedef struct {
    const sw_term *term;
    unsigned n;
    int64_t constant;
    bool member; /* of a struct: an i32 constant */
} sw_index;

/* How a ptradd is written: the root as a pointer to `base`, indexed, gives a pointer to
 * `pointee`. */
struct sw_plan {
    ir_inst *root;    /* the base of the ptradd, or of one that it adds to */
    sw_affine offset; /* from the root */
    ir_type base, pointee;
    bool inbounds;
    unsigned n;
    sw_index *index;
};

void sw_find_affine(const ir_module *m, ir_inst *v, sw_affine *out);
bool sw_is_multiple(const sw_affine *a, uint64_t size);
/* The plan of a ptradd where something of type `wanted` is expected (IR_VOID: anything).  The plans
 * and pointees of what comes before it are known. */
sw_plan *sw_plan_address(sw_writer *w, const sw_info *info, const ir_inst *ptradd, ir_type wanted);
/* A plan that steps down from `base` to `wanted` at offset 0, or NULL. */
sw_plan *sw_plan_descent(sw_writer *w, ir_type base, ir_type wanted);

void sw_type_pointers(sw_writer *w, sw_info *info);

/* v as a pointer to `pointee`, by a cast if necessary. */
uint32_t sw_pointer(sw_func *fn, ir_inst *v, ir_type pointee);
/* v; a pointer as one to `pointee`. */
uint32_t sw_value_as(sw_func *fn, ir_inst *v, ir_type pointee);
/* v as a pointer for an access of a `pointee` only. */
uint32_t sw_access_pointer(sw_func *fn, ir_inst *v, ir_type pointee);
void sw_emit_ptradd(sw_func *fn, const ir_inst *i);

/* ------------------------------------------------ instructions of the present function (emit.c) */

uint32_t sw_value(sw_func *fn, ir_inst *v); /* a pointer: with the pointee that it has */
static inline uint32_t sw_arg(sw_func *fn, const ir_inst *i, unsigned n) {
    return sw_value(fn, ir_arg(i, n));
}
void sw_set_value(sw_func *fn, const ir_inst *i, uint32_t id);
/* Writes an instruction into the body. */
void sw_emit(sw_func *fn, SpvOp op, sw_list operands);
uint32_t sw_emit_result(sw_func *fn, SpvOp op, uint32_t type, sw_list operands);
/* The same, whose result is the value of i. */
void sw_emit_value(sw_func *fn, const ir_inst *i, SpvOp op, sw_list operands);
uint32_t sw_emit_ext(sw_func *fn, uint32_t number, uint32_t type, sw_list operands);
/* A vector of type t with the same value in every lane. */
uint32_t sw_emit_splat(sw_func *fn, uint32_t lane, ir_type t);
/* Is the lowest bit of an integer of type t set, lane by lane? */
uint32_t sw_emit_lowest_bit(sw_func *fn, uint32_t id, ir_type t);
/* Begins a SPIR-V block within the present block of the IR; a jump has ended the one before. */
void sw_begin_block(sw_func *fn, uint32_t label);
/* A variable for what an instruction returns through a pointer; one for each type. */
uint32_t sw_variable_for_result(sw_func *fn, ir_type t);
/* The memory operands of an access. */
typedef struct {
    uint32_t mask, align;
} sw_access;
sw_access sw_access_of(const ir_inst *i);
IR_NORETURN void sw_refuse(sw_func *fn, const char *fmt, ...) IR_PRINTF(2, 3);
/* Makes the module as new as `version`, or refuses if its version was asked for. */
void sw_need_version(sw_func *fn, uint32_t version, const char *what);

/* ------------------------------------------------------------- functions and blocks (func.c, …) */

static inline sw_info *sw_info_of(const sw_writer *w, const ir_func *f) {
    return ir_map_get(&w->infos, (uintptr_t)f);
}
void sw_write_function(sw_writer *w, sw_info *info);
void sw_declare_function(sw_writer *w, sw_info *info);
/* A loop merge before the terminator of b, if b is the header of a loop with a hint. (loop.c) */
void sw_write_loop_merge(sw_func *fn, ir_block *b);

/* Phis and edges. (phi.c) */
void sw_emit_phi(sw_func *fn, const ir_inst *i);
/* Casts pointers for the phis of this block's successors. */
void sw_cast_for_phis(sw_func *fn, const ir_block *b);
void sw_fill_phis(sw_func *fn);
/* Makes edge blocks where several edges of a block lead to one with phis; they are written after
 * the terminator. */
void sw_make_edge_blocks(sw_func *fn, const ir_block *b);
void sw_write_edge_blocks(sw_func *fn, const ir_block *b);
/* Where a jump from one block to the other goes first. */
uint32_t sw_edge_label(const sw_func *fn, const ir_block *from, const ir_block *to);

/* ------------------------------------------------------------------------------ halves (half.c) */

/* Are halves only loaded to be widened, and narrowed to be stored? */
bool sw_only_stores_halves(const ir_module *m);
/* Is the load or store one of halves, in such a module? */
bool sw_is_half_access(const sw_writer *w, const ir_inst *i);
/* The conversion to half that becomes part of this store, or NULL. */
const ir_inst *sw_narrowing(const sw_writer *w, const ir_inst *store);

/* -------------------------------------------------------------- instructions by kind (ops.c, …)
 *
 * Each sets the value of its result. */

void sw_emit_inst(sw_func *fn, const ir_inst *i); /* finds the right one */
/* convert.c */
void sw_emit_conversion(sw_func *fn, const ir_inst *i);
void sw_emit_compare(sw_func *fn, const ir_inst *i);
void sw_emit_select(sw_func *fn, const ir_inst *i);
void sw_emit_bitcast(sw_func *fn, const ir_inst *i);
/* memory.c, half_access.c */
void sw_emit_memory(sw_func *fn, const ir_inst *i);
void sw_emit_copy(sw_func *fn, const ir_inst *i);
void sw_emit_fill(sw_func *fn, const ir_inst *i);
bool sw_fills_in_loop(const ir_inst *i); /* the fill becomes several SPIR-V blocks */
void sw_emit_half_load(sw_func *fn, const ir_inst *i);
void sw_emit_half_store(sw_func *fn, const ir_inst *i);
void sw_emit_half_widening(sw_func *fn, const ir_inst *i);
/* atomic.c */
void sw_emit_atomic(sw_func *fn, const ir_inst *i);
void sw_emit_sync(sw_func *fn, const ir_inst *i);
/* special.c */
void sw_emit_shift(sw_func *fn, const ir_inst *i);
void sw_emit_bitrev(sw_func *fn, const ir_inst *i);
void sw_emit_part(sw_func *fn, const ir_inst *i);
void sw_emit_call(sw_func *fn, const ir_inst *i);
void sw_emit_printf(sw_func *fn, const ir_inst *i);
/* query.c */
void sw_emit_query(sw_func *fn, const ir_inst *i);
/* All three dimensions of a query as a vector of sizes. */
uint32_t sw_load_query(sw_func *fn, const ir_inst *i);
/* groups.c, images.c */
void sw_emit_group(sw_func *fn, const ir_inst *i);
void sw_emit_image(sw_func *fn, const ir_inst *i);

/* ---------------------------------------------------------------------- entry points (entry.c) */

void sw_write_entry_points(sw_writer *w);

#endif
