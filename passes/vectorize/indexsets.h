/* indexsets.h — what the files of index-set splitting share.
 *
 *   indexsets.c          the pass: the two loops that a loop becomes
 *   indexsets_forms.c    values as sums, and what can be decided of them
 *   indexsets_bits.c     operations on bits of an index
 *   indexsets_bounds.c   the items for which that holds
 *   indexsets_lines.c    where they begin if they store past the caches
 */
#ifndef SPVFUSE_PASSES_INDEXSETS_H
#define SPVFUSE_PASSES_INDEXSETS_H

#include "passes/vectorize/simd.h"

enum { SETS_MAX_TESTS = 64 };

/* A value of the loop as a sum of other values, modulo its width. */
typedef struct {
    bool inner;      /* it has terms that change while an item is executed */
    int64_t stride;  /* from one item to the next */
    pass_affine sum; /* of values outside of the loop, its counter, decided extensions, and values
                        that change in loops inside */
} sets_form;

/* Sets of numbers, and what is then known. */
typedef enum {
    SETS_BELOW,     /* v < bound */
    SETS_NOT_ABOVE, /* v <= bound */
    SETS_NOT_BELOW, /* v >= bound */
    SETS_ABOVE,     /* v > bound */
    SETS_UNEQUAL,   /* v != bound */
    SETS_EXACT      /* v does not wrap from one item to the next */
} sets_kind;

/* Where items of a loop are expected that have the value `bound`. */
typedef enum { SETS_ANYWHERE, SETS_AT_START, SETS_AT_END } sets_side;

/* A condition that holds in the new loop, of all values `sum + k` with k from low to high. */
typedef struct {
    sets_kind kind;
    bool is_signed;
    ir_type type;
    pass_affine sum; /* without its constant */
    int64_t stride;
    int64_t low, high;
    pass_affine bound;
    sets_side side; /* SETS_UNEQUAL */
    ir_inst *base;  /* SETS_EXACT: sum + low extended, less stride * counter */
} sets_test;

/* What an instruction is in the new loop. */
typedef struct {
    ir_inst *at;
    enum { SETS_IS_CONST, SETS_IS_OPERAND, SETS_IS_SUM, SETS_IS_ROUND } how;
    unsigned n;    /* the constant, the number of the operand, or whether low bits are 1 */
    ir_inst *with; /* SETS_IS_ROUND: what takes the place of `at`, which is outside of the loop */
    uint32_t test; /* SETS_IS_SUM: the extension is test->base + stride * counter + more */
    int64_t more;  /* and what is in `inner`, extended */
    pass_affine inner; /* of the type of what is extended */
} sets_decision;

/* A loop over items, and what is decided in it. */
typedef struct {
    simd_loop loop;
    ir_block_list blocks;    /* in reverse postorder, the header first */
    ir_vec(sets_test) tests; /* up to SETS_MAX_TESTS */
    ir_vec(sets_decision) decisions;
    unsigned line; /* items, with a multiple of which the interval begins; 0: with any */
} sets_plan;

typedef struct {
    ir_func *f;
    ir_arena *scratch;
    const pass_uniformity *uniformity;
    uint32_t nvalues;
    sets_form **form; /* by value id; NULL: not known */
    sets_plan *plan;  /* the current one */
    uint32_t mark;    /* of its blocks */
    ir_builder b;     /* before the loop */
    ir_inst *fits;    /* an i1, without which no item is in the interval; NULL: there is none */
    ir_inst *small;   /* bits of numbers, all of which must have 32 bits; NULL: there are none */
} sets;

static inline bool sets_is_inside(const sets *s, const ir_inst *v) {
    return v->block && v->block->mark == s->mark;
}
static inline bool sets_is_extension(const ir_inst *v) {
    return v->op == IR_OP_zext || v->op == IR_OP_sext;
}

/* Finds what can be decided in the current loop. */
void sets_find_decisions(sets *s);
/* How much an integer grows from one item to the next; 0: it does not, or that is not known. */
int64_t sets_stride_of(const sets *s, const ir_inst *v);
/* Decides an operation on bits, and builds what takes the place of its operands.
 * (indexsets_bits.c) */
void sets_decide_bits(sets *s, ir_inst *i);
void sets_build_bits(sets *s);

/* Can the greatest number that v has in the loop be computed before it? */
bool sets_has_bound(const sets *s, const ir_inst *v);
/* The value of a sum for item x, before the loop; it has no inner terms. */
ir_inst *sets_value_at(sets *s, const pass_affine *sum, ir_type t, ir_inst *x);

/* No item is in the interval unless `holds`. */
void sets_require(sets *s, ir_inst *holds);

/* Finds `line` of plans. (indexsets_lines.c) */
void sets_find_lines(sets *s, sets_plan *plans, uint32_t n);

typedef struct {
    ir_inst *low, *high; /* counters: from low to high, high excluded; NULL: from the first one */
} sets_interval;
/* Computes before the loop for which items all tests hold, and the bases of extensions. */
sets_interval sets_find_interval(sets *s);

#endif
