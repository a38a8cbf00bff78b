/* native_test.c — random functions as machine code: on every machine, by every level and every way to
 * give registers, the answer is the interpreter's.
 *
 * What machines may do as they like is taken out first: NaN becomes one NaN wherever it is made, a
 * zero that is the minimum or maximum of two becomes +0, mad rounds once.
 */
#include "ir/build.h"
#include "tests/native_call.h"
#include "tests/passes/random_func.h"
#include "tests/random.h"
#include "tests/report.h"

#include <criterion/criterion.h>

enum { SEEDS = RANDOM_CASES(500) };

typedef struct {
    ir_ctx cx;
    ir_module *m;
    ir_func *f;
    uint64_t seed;
    bool vectors;
} subject;

/* x, or the one NaN. */
static ir_inst *build_one_nan(ir_builder *b, ir_inst *x) {
    static const uint64_t nan[] = {[IR_F16] = 0x7e00,
                                   [IR_BF16] = 0x7fc0,
                                   [IR_F32] = 0x7fc00000,
                                   [IR_F64] = UINT64_C(0x7ff8) << 48};
    ir_inst *other = ir_const(b->f, x->type, nan[ir_kind_of(x->type)]);
    ir_type truth = ir_with_elem(x->type, IR_I1);
    ir_inst *c = ir_build_raw(b, IR_OP_fune, truth, IR_PLAIN, IR_ARGS(x, x));
    return ir_build_raw(b, IR_OP_select, x->type, IR_PLAIN, IR_ARGS(c, other, x));
}

static ir_inst *build_one_zero(ir_builder *b, ir_inst *x) {
    ir_inst *zero = ir_const(b->f, x->type, 0);
    return ir_build_raw(b, IR_OP_fadd, x->type, IR_PLAIN, IR_ARGS(x, zero));
}

static void define(ir_builder *b, ir_inst *i) {
    bool passes = i->op == IR_OP_phi || i->op == IR_OP_select;
    if (!ir_is_float(i->type) || passes) return;
    if (i->op == IR_OP_mad) i->op = IR_OP_fma;
    ir_before(b, i->next);
    bool chooses = i->op == IR_OP_fmin || i->op == IR_OP_fmax || i->op == IR_OP_fclamp ||
                   i->op == IR_OP_minmag || i->op == IR_OP_maxmag;
    ir_inst *y = chooses ? build_one_zero(b, i) : i, *x = build_one_nan(b, y);
    ir_replace_uses(i, x);
    if (chooses) {
        ir_set_arg(y, 0, i);
        return;
    }
    ir_set_arg(ir_arg(x, 0), 0, i);
    ir_set_arg(ir_arg(x, 0), 1, i);
    ir_set_arg(x, 2, i);
}

static void make(void *user) {
    subject *s = user;
    ir_builder b;
    s->m = ir_module_new(&s->cx, "random", 64);
    s->f = random_make_of(s->m, s->seed, s->vectors);
    ir_builder_init(&b, s->f);
    uint32_t made = s->f->next_id;
    foreach_block (block, s->f)
        foreach_inst (i, block)
            if (i->id < made) define(&b, i);
}

static void run(subject *s, const ir_value *args, const ir_value *want, native_way way) {
    ir_value got = {0};
    const cg_options o = way.code;
    native_outcome outcome = native_call(s->f, &way, args, &got);
    cr_assert_neq(outcome, NATIVE_FAILED, "seed %llu has no code", (unsigned long long)s->seed);
    if (outcome == NATIVE_DONE)
        cr_assert_eq(got.bits[0], want->bits[0], "seed %llu, %s:%u, registers %d/%llu",
                     (unsigned long long)s->seed, way.on->machine->name, o.level, o.regalloc.how,
                     (unsigned long long)o.regalloc.seed);
}

static void check(uint64_t seed, native_way way, bool vectors) {
    subject s = {.seed = seed, .vectors = vectors, .cx.report = print_message};
    cr_assert(ir_try(&s.cx, make, &s));
    cr_assert(ir_verify_func(s.f));
    ir_value args[3] = {{.bits = {(uint32_t)(seed * 77)}},
                        {.bits = {seed << 33 ^ 5}},
                        {.bits = {ir_fp_from_double(IR_F32, (double)seed / 8)}}};
    ir_value want = {0};
    cr_assert(ir_interp_call(s.f, args, &want), "seed %llu runs", (unsigned long long)seed);
    way.code.regalloc = (cg_regalloc_options){CG_REGALLOC_FAST, 0, true};
    run(&s, args, &want, way);
    way.is_called = true;
    run(&s, args, &want, way);
    way.is_called = false;
    way.code.regalloc.seed = seed + 1;
    run(&s, args, &want, way);
    way.code.regalloc = (cg_regalloc_options){CG_REGALLOC_STACK, 0, true};
    run(&s, args, &want, way);
    ir_module_free(s.m);
    cr_assert_eq(s.cx.used, 0);
}

/* On level n of each machine. */
static void check_all(unsigned n, bool vectors) {
    const test_machine *on;
    for (unsigned k = 0; (on = test_machine_at(k)); k++)
        for (uint64_t seed = 0; n < on->machine->nlevels && seed < SEEDS; seed++)
            check(seed, (native_way){{on->machine->levels[n].number}, .on = on}, vectors);
}

Test(native, first_level) { check_all(0, false); }
Test(native, second_level) { check_all(1, false); }
Test(native, third_level) { check_all(2, false); }
Test(native, vectors_first_level) { check_all(0, true); }
Test(native, vectors_second_level) { check_all(1, true); }
Test(native, vectors_third_level) { check_all(2, true); }
