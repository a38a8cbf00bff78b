/* property_test.c — passes keep the meaning of random functions: the interpreter gives the same
 * answer before and after.  Every failure names the pass and the seed. */
#include "passes/passes.h"
#include "tests/passes/random_func.h"

#include <criterion/criterion.h>

enum { SEEDS = 1500 };

typedef struct {
    ir_ctx cx;
    ir_module *m;
    ir_func *f;
    uint64_t seed;
} subject;

static void make(void *user) {
    subject *s = user;
    s->m = ir_module_new(&s->cx, "random", 64);
    s->f = random_make(s->m, s->seed);
}

static uint64_t answer(ir_func *f, uint64_t seed) {
    ir_value args[3] = {{.bits = {(uint32_t)(seed * 77)}},
                        {.bits = {seed << 33 ^ 5}},
                        {.bits = {ir_fp_from_double(IR_F32, (double)seed / 8)}}};
    ir_value result = {0};
    cr_assert(ir_interp_call(f, args, &result), "seed %llu runs", (unsigned long long)seed);
    return result.bits[0];
}

static void check(const char *list, uint64_t seed) {
    subject s = {.seed = seed};
    const pass_options options = {.passes = list, .verify_each = true, .bisect = -1};
    cr_assert(ir_try(&s.cx, make, &s));
    cr_assert(ir_verify_func(s.f), "seed %llu is well-formed", (unsigned long long)seed);
    uint64_t before = answer(s.f, seed);
    cr_assert(pass_run(s.m, &options), "%s, seed %llu", list ? list : "standard",
              (unsigned long long)seed);
    cr_assert_eq(before, answer(s.f, seed), "%s changes the answer of seed %llu",
                 list ? list : "standard", (unsigned long long)seed);
    ir_module_free(s.m);
    cr_assert_eq(s.cx.used, 0);
}

static void check_all(const char *list) {
    for (uint64_t seed = 0; seed < SEEDS; seed++) check(list, seed);
}

Test(property, sccp) { check_all("sccp"); }
Test(property, gvn) { check_all("gvn"); }
Test(property, dce) { check_all("dce"); }
Test(property, my_passes_together) { check_all("gvn,sccp,gvn,dce,sccp,dce"); }
