/* analysis.h — analyses of code that passes use; alias.h has those of addresses.
 *
 * Results are valid until the code changes; no analysis changes IR.  There are two sorts of forms,
 * sums of factors times symbols.  Those of affine.c consist of ids, arguments and iteration numbers
 * of a kernel in its launch, and mean the same in other kernels.  Those of sum.c consist of values
 * of one function. */
#ifndef SPVFUSE_ANALYSIS_H
#define SPVFUSE_ANALYSIS_H

#include "passes/passes.h"

/* -------------------------------------------- loop counters (counter.c, trips.c, unroll_cost.c) */

/* A phi that is init + k * step, modulo its width, in iteration k. */
typedef struct {
    const ir_loop *loop;
    ir_inst *init, *next; /* next: its value in the next iteration */
    ir_block *latch;      /* the one block that jumps back */
    int64_t step;
} pass_counter;

/* Describes the counter that phi is; false: it is none. */
bool pass_find_counter(const ir_loops *l, const ir_inst *phi, pass_counter *c);

#define PASS_MAX_ROUNDS INT64_C(0xffffffff)
/* In how many iterations the branch that ends b, a block of the loop itself, stays in the loop, if
 * each iteration executes it once; -1: unknown, or more than PASS_MAX_ROUNDS. */
int64_t pass_count_passes(const ir_loops *l, const ir_loop *loop, const ir_block *b);
/* In how many it stays at most, since the counter goes down to 0; -1: that is not known. */
int64_t pass_count_most_passes(const ir_loops *l, const ir_loop *loop, const ir_block *b);
/* The same for few iterations, whatever the operations of one are. */
int64_t pass_count_by_execution(const ir_loops *l, const ir_loop *loop, const ir_block *b);
/* Does the counter phi, which grows by 1, never wrap because a test before the loop and one in it
 * let through only what is less than the same? */
bool pass_counts_guarded(const ir_loops *l, const ir_inst *phi, bool is_signed);
/* Does the counter phi never wrap, as a signed or unsigned number? */
bool pass_counts_whole(const ir_loops *l, const ir_inst *phi, bool is_signed);

/* What one more copy of a loop's body costs (unroll_cost.c). */
typedef struct {
    uint32_t size;   /* instructions of the loop */
    uint32_t copied; /* those of them that remain in each copy, once its iteration is known */
    bool convergent;
    bool indexed; /* it accesses stack variables, at indices that are constant in a copy */
} pass_loop_cost;
/* False: the loop has more than `limit` instructions.  Changes their marks. */
bool pass_estimate_copies(const ir_loops *l, const ir_loop *loop, uint32_t limit,
                          pass_loop_cost *cost);

/* ------------------------------------------------------------------------------ bits (zeros.c) */

enum { PASS_MOST_ZEROS = 6 };
static_assert(1 << PASS_MOST_ZEROS == IR_LINE, "more is known of no address");

/* How many of the lowest bits of scalar integers and addresses are 0, up to PASS_MOST_ZEROS. */
typedef struct {
    const bool *is_line;   /* by value id: it is taken for a multiple of a line; NULL: none is */
    uint8_t *zeros;        /* by value id */
    const ir_func *kernel; /* whose parameters are arguments of a launch, or NULL */
} pass_zeros;

/* False: they have not been found. */
bool pass_find_zeros(ir_func *f, pass_zeros *z, ir_arena *scratch);
unsigned pass_zeros_of(const pass_zeros *z, const ir_inst *v);

/* ----------------------------------------------------------------------------- forms (affine.c) */

/* What a form is made of: an id or size (kind is the query's op, index its dimension), a by-value
 * parameter (IR_OP_param, its argument), the iteration number of a loop (IR_OP_phi, value is its
 * counter), or a value that is not analysed further (IR_OP_COUNT, the value, as a signed number).
 */
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

/* Adds factor * f to *to; false: there are too many terms. */
bool pass_affine_add(pass_affine *to, const pass_affine *f, int64_t factor);
/* Are two forms equal for all values of their symbols? */
bool pass_is_same_form(const pass_affine *a, const pass_affine *b);
bool pass_is_same_symbol(const pass_symbol *a, const pass_symbol *b);
static inline uint64_t pass_magnitude(int64_t x) { return x < 0 ? 0 - (uint64_t)x : (uint64_t)x; }

/* A kernel and what is known about its launch. */
typedef struct {
    ir_func *kernel;             /* without calls */
    const ir_range *range;       /* NULL: unknown */
    const uint32_t *argument;    /* by parameter: its name in symbols; NULL: its index */
    const int64_t *const *value; /* by parameter: its value, where one is known; may be NULL */
    /* By parameter: the bytes of a struct by value that is only read, where they are known; may be
     * NULL. */
    const uint8_t *const *bytes;
} pass_launch;

/* The form that an integer has in block `at`: always one, perhaps just a symbol. */
void pass_find_affine(const pass_launch *l, ir_inst *v, const ir_block *at, pass_affine *out);
/* Replaces group id * local size + local id by the global id minus its offset. */
void pass_join_ids(const pass_launch *l, pass_affine *f);
void pass_print_affine(ir_text *out, const pass_launch *l, const pass_affine *f);

/* --------------------------------------------------------------------------------- sums (sum.c) */

/* The form of an integer of at most 64 bits as a sum of other values, modulo 2^width.  A symbol is
 * a value (kind: its op), or the extension of a narrower one (kind: IR_OP_sext, IR_OP_zext).
 * Returns whether terms have cancelled. */
bool pass_find_sum(ir_inst *v, pass_affine *out);

/* What a phi that goes up by a constant is less than, or its next value is, whenever its loop goes
 * on; NULL: nothing is known.  (counter.c) */
const ir_inst *pass_find_end(const ir_loops *l, const ir_inst *phi, pass_counter *c,
                             bool *is_signed);

/* ---------------------------------------------------------------------------- bounds (bounds.c) */

/* The number that v is: a constant, a parameter or size that the launch gives, or computed from
 * those.  False: it is not known. */
bool pass_known_number(const pass_launch *l, const ir_inst *v, int64_t *n);
/* The same as pass_count_passes, with numbers that are known at launch. (counter.c) */
int64_t pass_count_launched(const pass_launch *l, const ir_loop *loop, const ir_block *b);
/* Does the loop have one exit, and a known number of iterations? */
bool pass_is_counted(const pass_launch *l, const ir_loop *loop);
/* The values that a symbol can have in block `at`; false: unknown. */
bool pass_symbol_bounds(const pass_launch *l, const pass_symbol *s, const ir_block *at,
                        int64_t *low, int64_t *high);
/* The values that a form can have in block `at`; false: unknown, or beyond 63 bits. */
bool pass_affine_bounds(const pass_launch *l, const pass_affine *f, const ir_block *at,
                        int64_t *low, int64_t *high);
/* The values that a number can have in block `at`, signed, by its operations and by guards that
 * compare it or what it is made of; false: unknown. */
bool pass_number_bounds(const pass_launch *l, const ir_inst *v, const ir_block *at, int64_t *low,
                        int64_t *high);
/* The same without guards.  `at` NULL: wherever the symbols have values. */
bool pass_affine_own_bounds(const pass_launch *l, const pass_affine *f, const ir_block *at,
                            int64_t *low, int64_t *high);

/* ---------------------------------------------------------------------------- guards (guards.c) */

/* Does i compare two integers that are no vectors? */
bool pass_is_comparison(const ir_inst *i);
/* The comparison of y and x that holds if `op` of x and y does not: y <= x for x < y. */
ir_op pass_opposite(ir_op op);

/* A branch that an item takes on its way to a block. */
typedef struct {
    const ir_inst *test; /* i1 */
    bool holds;          /* its value on that way */
    bool compares;       /* it compares two integers, left and right */
    pass_affine left, right;
} pass_guard;

typedef struct {
    ir_vec(pass_guard) list;
    bool exact; /* items for which all guards hold get there, in all iterations of counted loops */
} pass_guards;

/* The test of the only branch that leads to b, if its value is *holds; NULL: there is none. */
ir_inst *pass_test_before(const ir_block *b, bool *holds);
/* Splits a condition whose value is `holds` into parts with the same value: an `and` that is true,
 * an `or` that is false.  Returns their number; a part may be such a condition itself. */
enum { PASS_MAX_PARTS = 16 };
unsigned pass_split_test(ir_inst *test, bool holds, ir_inst *part[PASS_MAX_PARTS]);
/* The guards of block b. */
void pass_find_guards(const pass_launch *l, ir_block *b, ir_arena *a, pass_guards *out);
/* Does the list have a guard that consists of ids and arguments?  Both are of members that keep
 * their ids. */
bool pass_has_guard(const pass_guards *list, const pass_guard *g);
/* Does a guard hold for all items of the range? */
bool pass_is_always_true(const pass_launch *l, const pass_guard *g);

/* ----------------------------------------------------------------------------- accesses (access.c)
 *
 * Where a kernel reads and writes, as far as it is known before it runs. */

enum { PASS_READS = 1, PASS_WRITES = 2, PASS_ATOMIC = 4 };

typedef struct {
    const ir_inst *at;
    const ir_inst *object; /* parameter or address of a global; NULL: unknown */
    pass_affine offset;    /* in bytes */
    uint32_t arg;          /* the operand that is the address */
    uint64_t size;         /* in bytes; 0: unknown */
    unsigned kind;         /* PASS_READS … */
    bool always;           /* every item of the range executes it */
    bool bounded;          /* the offset is from low to high */
    int64_t low, high;
} pass_access;

typedef ir_vec(pass_access) pass_accesses;

/* Appends all accesses of memory that items share, in program order of reachable blocks. */
void pass_find_accesses(const pass_launch *l, ir_arena *a, pass_accesses *out);

/* The number of the argument that x accesses; false: it accesses something else. */
bool pass_argument_of(const pass_launch *l, const pass_access *x, uint32_t *arg);
/* Is it an access of local memory?  Of a variable there, of which each body has its own? */
bool pass_is_local(const pass_access *x);
bool pass_is_local_variable(const pass_access *x);
/* Are all ids and values in its offset bounded?  Then a dependence that is not disproved probably
 * exists. */
bool pass_is_understood(const pass_access *x);

/* The description of an access in messages and reports. */
typedef struct {
    uint32_t member;
    const char *kernel;
    unsigned kind; /* PASS_READS … */
    uint64_t size; /* in bytes; 0: unknown */
    bool always;
    const char *place;  /* "%out + 4*global_id.0" */
    const char *source; /* "out[i]", where i, j and k are global ids; NULL: not known */
    const char *file;   /* of the source, with line and column; NULL: unknown */
    uint32_t line, column;
} pass_access_info;

/* Describes an access, except for the member and its name.  The result is in `a` and outlives the
 * kernel. */
pass_access_info pass_describe_access(const pass_launch *l, const pass_access *x, ir_arena *a);
/* "out[i+2]", in `a`; NULL: it cannot be written so.  (written.c) */
const char *pass_write_access(const pass_launch *l, const pass_access *x, ir_arena *a);
/* "writes 4 bytes at %out + 4*global_id.0 + 8, always" */
void pass_print_access(ir_text *out, const pass_access_info *x);
/* Prints one line for each access. */
void pass_print_accesses(ir_text *out, const pass_launch *l, const pass_accesses *list);

/* The number of loads that read bytes of which an item has just stored some, so that a processor
 * waits until the store has reached its cache.  The function has no unreachable blocks.
 * (stalls.c) */
uint32_t pass_count_stalls(ir_func *f, ir_arena *scratch);

/* ------------------------------------------------------------------------------ reach (reach.c) */

/* The bytes that a launch accesses through a pointer parameter, from low up to, but not including,
 * high, counted from where it leads; low == high: none. */
typedef struct {
    bool known;
    int64_t low, high;
} pass_reach;
/* For each parameter. */
void pass_find_reach(const pass_launch *l, ir_arena *a, pass_reach *by_param);
/* Sets written[n] if f may write through parameter n; other elements stay as they are.  Reads
 * nothing but f. */
void pass_find_written(const ir_func *f, bool *written);

/* ---------------------------------------------------------------------------- latency (delay.c) */

/* The cost of an instruction or of code without loops: the number of operations, and the latency of
 * the longest chain of operations that wait for each other, in cycles. */
typedef struct {
    uint64_t operations;
    uint32_t cycles;
} pass_cost;
/* The cost of one operation, for one lane. (latency.c) */
pass_cost pass_cost_of(const ir_inst *i);
/* How long a core is occupied by it, in quarters of a cycle, for a scalar or a vector of up to 256
 * bits.  (latency.c) */
unsigned pass_quarters_of(const ir_inst *i);
/* The cost of a function without loops, by the costs of its instructions. */
pass_cost pass_find_chain(ir_func *f, pass_cost (*cost)(const ir_inst *i), ir_arena *scratch);
/* Does f have chains of operations that are long enough to matter: library functions, without loops
 * or barriers around them? */
bool pass_may_be_delayed(ir_func *f);
/* The cycles that a processor takes for an item of kernel f; 0: not known. */
uint32_t pass_estimate_cycles(ir_func *f, ir_arena *scratch);

/* -------------------------------------------------------------------------- uniformity (uniform.c)
 *
 * What is the same for all items of a work-group that get there in the same iteration of all
 * loops. */

typedef struct {
    const ir_loops *loops;
    bool *varies;          /* by value id: it differs between items */
    bool *divergent;       /* by block id: items take its branch to different successors */
    bool *divergent_exits; /* by id of a loop's header: items leave it in different iterations */
} pass_uniformity;

/* Computes the uniformity of f.  Values and blocks that are added later are not covered. */
void pass_find_uniform(ir_func *f, ir_arena *a, pass_uniformity *out);
/* The same for all items of a sub-group, of whose number and size there are queries. */
void pass_find_uniform_subgroup(ir_func *f, ir_arena *a, pass_uniformity *out);
/* The same for a sub-group, without conclusions from where it synchronizes. */
void pass_find_uniform_warp(ir_func *f, ir_arena *a, pass_uniformity *out);
/* The same for the group, without conclusions from where it synchronizes: of code in which a
 * barrier may be reached in different iterations of a loop. */
void pass_find_uniform_alone(ir_func *f, ir_arena *a, pass_uniformity *out);
/* The same of code of a work-group: `items` are the iterations of each loop that has this hint. */
void pass_find_uniform_items(ir_func *f, ir_arena *a, pass_uniformity *out);
/* The same with the iterations of loops that have another hint in place of items. */
void pass_find_uniform_loops(ir_func *f, ir_arena *a, unsigned hint, pass_uniformity *out);
/* The same for single loops over items, one after the other, at a cost of the size of the loop.
 * Nothing else is looked at: what is defined outside of the loop does not vary.  The loop tree is
 * that of the beginning, when nothing varies. */
typedef struct pass_loop_finder pass_loop_finder;
pass_loop_finder *pass_begin_uniform(ir_func *f, ir_arena *a, pass_uniformity *out);
void pass_find_uniform_loop(pass_loop_finder *s, const ir_loop *loop);
/* Is v, which dominates `at`, the same for all items that get there? */
bool pass_is_uniform(const pass_uniformity *u, const ir_inst *v, const ir_block *at);
/* Is i a synchronization point: does the whole work-group execute it together? */
bool pass_synchronizes(const ir_inst *i);

/* Can a kernel find out which of its items form a work-group?  (observes.c) */
bool pass_observes_groups(const ir_func *kernel, ir_arena *scratch);

#endif
