/* affine_test.c — the affine form of a random integer has the value of the integer in every item.
 *
 * Integers are made of ids, sizes and constants by the operations that affine.c follows, and their
 * values in each item of a range with groups and an offset are computed at once.  A form is
 * evaluated with the values of its symbols; the result must be congruent to the integer. */
#include "ir/build.h"
#include "ir/eval.h"
#include "passes/analysis/analysis.h"
#include "tests/random.h"

#include <criterion/criterion.h>

enum { SEEDS = 20000, VALUES = 16, ITEMS = 32, LOCAL = 8, OFFSET = 24, CONSTANT = VALUES };

static const ir_range line = {
    .dims = 1, .global = {ITEMS, 1, 1}, .local = {LOCAL, 1, 1}, .offset = {OFFSET}};

static const ir_op queries[] = {IR_OP_global_id, IR_OP_group_id, IR_OP_local_id, IR_OP_local_size};
static const ir_op operations[] = {
    IR_OP_add, IR_OP_sub,  IR_OP_mul,  IR_OP_shl,  IR_OP_lshr, IR_OP_ashr,  IR_OP_and,  IR_OP_or,
    IR_OP_xor, IR_OP_udiv, IR_OP_sdiv, IR_OP_urem, IR_OP_srem, IR_OP_trunc, IR_OP_sext, IR_OP_zext};
enum { OPERATIONS = sizeof operations / sizeof *operations };

typedef struct {
    ir_ctx cx;
    ir_module *m;
    ir_func *kernel;
    ir_builder b;
    uint64_t random;
    ir_inst *value[VALUES];
    uint64_t is[VALUES][ITEMS]; /* by value and item */
    unsigned n;
    unsigned *followed; /* by operation: how many are more than a symbol */
} subject;

static uint64_t query_in(ir_op query, unsigned item) {
    switch (query) {
    case IR_OP_global_id: return OFFSET + item;
    case IR_OP_group_id: return item / LOCAL;
    case IR_OP_local_id: return item % LOCAL;
    default: return LOCAL;
    }
}

static void add_query(subject *s, ir_op query) {
    s->value[s->n] = ir_build_query(&s->b, query, IR_I64, 0);
    for (unsigned item = 0; item < ITEMS; item++) s->is[s->n][item] = query_in(query, item);
    s->n++;
}

/* Numbers on both sides of powers of two, and the negatives of some. */
static uint64_t draw_number(subject *s) {
    uint64_t n = (UINT64_C(1) << draw_below(&s->random, 8)) + draw_below(&s->random, 3) - 1;
    return draw_below(&s->random, 8) ? n : 0 - n;
}

typedef struct {
    ir_inst *inst;
    unsigned index; /* of the value, or CONSTANT */
} operand;

static operand draw_constant(subject *s, ir_op op, ir_type t) {
    bool shifts = op == IR_OP_shl || op == IR_OP_lshr || op == IR_OP_ashr;
    bool divides = op == IR_OP_udiv || op == IR_OP_sdiv || op == IR_OP_urem || op == IR_OP_srem;
    uint64_t n = shifts ? draw_below(&s->random, 9) : draw_number(s);
    return (operand){ir_const(s->kernel, t, divides && !n ? 8 : n), CONSTANT};
}

static operand draw_value(subject *s) {
    unsigned k = draw_below(&s->random, s->n);
    return (operand){s->value[k], k};
}

/* Divisors are constants or the local size, since others may be 0. */
static operand draw_second(subject *s, ir_op op, ir_type t) {
    operand o = draw_value(s);
    bool any = op == IR_OP_add || op == IR_OP_sub || op == IR_OP_or || op == IR_OP_xor;
    bool size = o.inst->op == IR_OP_local_size && op != IR_OP_shl && op != IR_OP_ashr;
    return (any || size) && o.inst->type == t ? o : draw_constant(s, op, t);
}

static uint64_t operand_in(const subject *s, operand o, unsigned item) {
    return o.index == CONSTANT ? o.inst->imm.bits : s->is[o.index][item];
}

static void evaluate(subject *s, const operand *with, unsigned count) {
    for (unsigned item = 0; item < ITEMS; item++) {
        uint64_t value[2], *args[2] = {&value[0], &value[1]};
        for (unsigned k = 0; k < count; k++) value[k] = operand_in(s, with[k], item);
        cr_assert(ir_eval(s->m, s->value[s->n], args, &s->is[s->n][item], false));
    }
    s->n++;
}

static void add_operation(subject *s) {
    ir_op op = operations[draw_below(&s->random, OPERATIONS)];
    const operand first = draw_value(s);
    ir_type t = first.inst->type;
    bool narrows = op == IR_OP_trunc, widens = op == IR_OP_sext || op == IR_OP_zext;
    if (narrows ? t != IR_I64 : widens && t != IR_I32) return;
    if (narrows || widens) {
        s->value[s->n] =
            ir_build_raw(&s->b, op, narrows ? IR_I32 : IR_I64, IR_PLAIN, IR_ARGS(first.inst));
        evaluate(s, &first, 1);
        return;
    }
    const operand both[] = {first, draw_second(s, op, t)};
    s->value[s->n] = ir_build_raw(&s->b, op, t, IR_PLAIN, IR_ARGS(both[0].inst, both[1].inst));
    evaluate(s, both, 2);
}

static uint64_t symbol_in(const subject *s, const pass_symbol *of, unsigned item) {
    if (!of->value) return query_in(of->kind, item);
    unsigned k = 0;
    while (k < s->n && s->value[k] != of->value) k++;
    cr_assert_lt(k, s->n, "a symbol of the form is none of the values");
    return (uint64_t)ir_sext(s->is[k][item], ir_bits(s->m, of->value->type));
}

static void check_value(const subject *s, unsigned k, uint64_t seed) {
    const pass_launch l = {.kernel = s->kernel, .range = &line};
    unsigned bits = ir_bits(s->m, s->value[k]->type);
    pass_affine f;
    pass_find_affine(&l, s->value[k], s->b.block, &f);
    for (unsigned o = 0; o < OPERATIONS; o++)
        if (operations[o] == s->value[k]->op && (f.n != 1 || f.term[0].of.value != s->value[k]))
            s->followed[o]++;
    for (unsigned item = 0; item < ITEMS; item++) {
        uint64_t sum = (uint64_t)f.constant;
        for (uint32_t t = 0; t < f.n; t++)
            sum += (uint64_t)f.term[t].factor * symbol_in(s, &f.term[t].of, item);
        cr_assert_eq(ir_zext(sum, bits), ir_zext(s->is[k][item], bits),
                     "seed %llu, value %u (%s), item %u", (unsigned long long)seed, k,
                     ir_ops[s->value[k]->op].name, item);
    }
}

static void make(void *user) {
    subject *s = user;
    s->m = ir_module_new(&s->cx, "random", 64);
    s->kernel = ir_func_new(s->m, "k", IR_VOID, 0, NULL);
    s->b = (ir_builder){.f = s->kernel};
    ir_at_end(&s->b, ir_block_new(s->kernel, NULL));
    for (unsigned q = 0; q < sizeof queries / sizeof *queries; q++) add_query(s, queries[q]);
    while (s->n < VALUES) add_operation(s);
    ir_build_ret(&s->b, NULL);
}

Test(affine, forms_have_the_values_of_integers) {
    unsigned followed[OPERATIONS] = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        subject s = {.random = seed, .followed = followed};
        cr_assert(ir_try(&s.cx, make, &s));
        for (unsigned k = 0; k < s.n; k++) check_value(&s, k, seed);
        ir_module_free(s.m);
        cr_assert_eq(s.cx.used, 0);
    }
    for (unsigned o = 0; o < OPERATIONS; o++)
        cr_expect_gt(followed[o], 200, "%s: %u", ir_ops[operations[o]].name, followed[o]);
}
