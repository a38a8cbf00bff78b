/* type_rules_test.c — the rules of operand types.  For each operation and random types, an error
 * names the type that does not fit, types that fit are found by replacing what errors name, and an
 * operand whose type follows from that of the result accepts no other.
 */
#include "ir/ir.h"
#include "tests/random.h"

#include <criterion/criterion.h>

enum { MOST = 6, TRIES = 200 };

static ir_ctx cx;
static ir_module *m;

static void make_module(void *user) {
    (void)user;
    m = ir_module_new(&cx, "types", 64);
}

static void setup(void) { cr_assert(ir_try(&cx, make_module, NULL)); }

static void teardown(void) { ir_module_free(m); }

TestSuite(type_rules, .init = setup, .fini = teardown);

static ir_type any_type(uint64_t *random) {
    static const ir_kind scalars[] = {IR_I1,  IR_I8,   IR_I16, IR_I32, IR_I64,
                                      IR_F16, IR_BF16, IR_F32, IR_F64};
    static const ir_type others[] = {IR_VOID, IR_EVENT, IR_SAMPLER};
    uint64_t n = splitmix64(random);
    if (n % 16 == 0) return others[n / 16 % 3];
    if (n % 16 == 1) return ir_ptr((ir_space)(n / 16 % (IR_GENERIC + 1)));
    return ir_vector(scalars[n / 16 % 9], n % 16 < 10 ? 1 : 2 + (unsigned)(n / 256 % 4));
}

static unsigned operands_of(ir_op op) {
    return ir_ops[op].nargs + (ir_ops[op].flags & F_VARIADIC ? 1u : 0u);
}

/* Types that often are equal, as most rules ask for. */
static void draw(uint64_t *random, unsigned n, ir_type *result, ir_type *operand) {
    ir_type common = any_type(random);
    *result = splitmix64(random) % 3 ? common : any_type(random);
    for (unsigned k = 0; k < n; k++)
        operand[k] = splitmix64(random) % 3 ? common : any_type(random);
}

/* Replaces types that do not fit, by the only one that does or by random ones, until all fit. */
static bool repair(ir_op op, unsigned n, ir_type *result, ir_type *operand, uint64_t *random) {
    for (unsigned tries = 0; tries < 500; tries++) {
        if (ir_types_fit(m, op, *result, n, operand)) return true;
        ir_type_error e = ir_find_type_error(m, op, *result, n, operand);
        ir_type *place = e.operand == IR_RESULT ? result : &operand[e.operand];
        cr_assert(e.operand >= IR_RESULT && e.operand < (int)n, "%s", ir_ops[op].name);
        cr_assert_eq(*place, e.have, "%s names another type", ir_ops[op].name);
        cr_assert(e.want == IR_VOID || e.want != e.have, "%s wants what it has", ir_ops[op].name);
        *place = e.want == IR_VOID ? any_type(random) : e.want;
    }
    return false;
}

static void follow_result(ir_op op, unsigned n, ir_type result, ir_type *operand, ir_type other) {
    for (unsigned k = 0; k < n; k++) {
        ir_type known = ir_operand_type(m, op, result, k), had = operand[k];
        if (known == IR_VOID) continue;
        cr_assert_eq(had, known, "operand %u of %s", k, ir_ops[op].name);
        operand[k] = other;
        cr_assert_eq(ir_types_fit(m, op, result, n, operand), other == known, "operand %u of %s", k,
                     ir_ops[op].name);
        operand[k] = had;
    }
}

Test(type_rules, errors_name_what_does_not_fit) {
    uint64_t random = 1;
    for (int op = 0; op < IR_OP_COUNT; op++) {
        unsigned n = operands_of((ir_op)op), fitting = 0;
        for (unsigned k = 0; k < TRIES; k++) {
            ir_type result, operand[MOST + 1];
            draw(&random, n, &result, operand);
            if (!repair((ir_op)op, n, &result, operand, &random)) continue;
            follow_result((ir_op)op, n, result, operand, any_type(&random));
            fitting++;
        }
        bool image = ir_ops[op].rule >= R_SAMPLED && ir_ops[op].rule <= R_FACT;
        cr_assert_eq(fitting > 0, !image, "%s fits %u times", ir_ops[op].name, fitting);
    }
}
