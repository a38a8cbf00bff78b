/* build.h — the builder: makes instructions at a place, and simplifies them. */
#ifndef SPVFUSE_IR_BUILD_H
#define SPVFUSE_IR_BUILD_H

#include "ir/ir.h"

/* ------------------------------------------------------------------------------- builder (build.c)
 *
 * Inserts before `before`, or at the end of `block` when that is NULL.  ir_build folds constants,
 * applies the module's simplifier, and gives back an equal instruction of the same block when it
 * has just built one; so the result may be a leaf or an older value. */

typedef struct {
    ir_func *f;
    ir_block *block;
    ir_inst *before;
    uint32_t loc;
    uint32_t depth;       /* nesting of simplification, bounded */
    bool has_recent;      /* many builders need no value numbers, and then do not clear them */
    ir_inst *recent[256]; /* value numbers of pure instructions of this block */
} ir_builder;

void ir_builder_init(ir_builder *b, ir_func *f);
void ir_at_end(ir_builder *b, ir_block *block);
void ir_before(ir_builder *b, ir_inst *where);

/* What an instruction is beside its operation, type and operands. */
typedef struct {
    uint32_t flags;
    ir_imm imm;
} ir_attrs;
#define IR_PLAIN ((ir_attrs){0})
static inline ir_attrs ir_with_flags(uint32_t flags) { return (ir_attrs){.flags = flags}; }
static inline ir_attrs ir_with_imm(ir_imm imm) { return (ir_attrs){.imm = imm}; }
static inline ir_attrs ir_attrs_of(const ir_inst *i) { return (ir_attrs){i->flags, i->imm}; }

/* Operands: IR_ARGS(x, y) or, of an array, (ir_args){n, array}. */
typedef struct {
    unsigned n;
    ir_inst *const *val;
} ir_args;
#define IR_NO_ARGS ((ir_args){0})
#define IR_ARGS(...)                                                                               \
    ((ir_args){sizeof((ir_inst *[]){__VA_ARGS__}) / sizeof(ir_inst *), (ir_inst *[]){__VA_ARGS__}})

ir_inst *ir_build(ir_builder *b, ir_op op, ir_type t, ir_attrs attrs, ir_args args);
/* As ir_build, and never folded, simplified or merged. */
ir_inst *ir_build_raw(ir_builder *b, ir_op op, ir_type t, ir_attrs attrs, ir_args args);
/* What i is, with another type and as many other operands. */
ir_inst *ir_build_like(ir_builder *b, const ir_inst *i, ir_type t, ir_inst *const *args);
ir_inst *ir_build0(ir_builder *b, ir_op op, ir_type t);
ir_inst *ir_build1(ir_builder *b, ir_op op, ir_type t, ir_inst *x);
ir_inst *ir_build2(ir_builder *b, ir_op op, ir_type t, ir_inst *x, ir_inst *y);
ir_inst *ir_build_select(ir_builder *b, ir_inst *cond, ir_inst *yes, ir_inst *no);
/* A vector of type t from its lanes. */
ir_inst *ir_build_vec(ir_builder *b, ir_type t, ir_inst *const *lanes);
/* The imm of an access; align is a power of two, or 0 for 1. */
ir_imm ir_mem_imm(unsigned align, unsigned flags);
ir_inst *ir_build_load(ir_builder *b, ir_type t, ir_inst *p, unsigned align, unsigned mem_flags);
ir_inst *ir_build_store(ir_builder *b, ir_inst *v, ir_inst *p, unsigned align, unsigned mem_flags);
ir_inst *ir_build_alloca(ir_builder *b, ir_type t, unsigned align);
ir_inst *ir_build_phi(ir_block *b, ir_type t); /* at the head, no arguments yet */
ir_inst *ir_build_query(ir_builder *b, ir_op op, ir_type t, unsigned dim);
ir_inst *ir_build_barrier(ir_builder *b, unsigned exec, unsigned scope, unsigned semantics);
ir_inst *ir_build_call(ir_builder *b, ir_func *callee, unsigned n, ir_inst *const *args);
ir_inst *ir_build_shuffle(ir_builder *b, ir_inst *x, ir_inst *y, unsigned n, const uint8_t *mask);
ir_inst *ir_build_extract(ir_builder *b, ir_inst *v, unsigned lane);
ir_inst *ir_build_insert(ir_builder *b, ir_inst *v, ir_inst *s, unsigned lane);
ir_inst *ir_build_splat(ir_builder *b, ir_inst *s, unsigned lanes);
/* p + bytes; nothing when bytes is constant 0 */
ir_inst *ir_build_ptradd(ir_builder *b, ir_inst *p, ir_inst *bytes, bool inbounds);
ir_inst *ir_build_jmp(ir_builder *b, ir_block *to);
ir_inst *ir_build_br(ir_builder *b, ir_inst *cond, ir_block *taken, ir_block *other);
/* The cases of a switch: the block for each value. */
typedef struct {
    unsigned n;
    const uint64_t *values;
    ir_block *const *blocks;
} ir_cases;
ir_inst *ir_build_switch(ir_builder *b, ir_inst *on, ir_block *other, ir_cases cases);
ir_inst *ir_build_ret(ir_builder *b, ir_inst *value); /* NULL: void */
ir_inst *ir_build_unreachable(ir_builder *b);

/* Value numbering: do two pure instructions compute the same (flags apart)? */
bool ir_same_value(const ir_inst *a, const ir_inst *b);
uint64_t ir_hash_value(const ir_inst *i);

/* A set of rewrite rules.  `apply` looks at an instruction that need not be in a block and returns
 * what it equals (built through b, or an existing value), or NULL. */
typedef struct ir_simplifier {
    ir_inst *(*apply)(ir_builder *b, ir_inst *i, void *user);
    void *user;
} ir_simplifier;

#endif
