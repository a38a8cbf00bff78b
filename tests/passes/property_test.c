/* property_test.c — passes keep the meaning of random functions: the interpreter gives the same
 * answer before and after.  Every failure names the pass and the seed. */
#include "passes/fusion/fuse.h"
#include "tests/passes/items.h"
#include "tests/passes/random_func.h"
#include "tests/random.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { SEEDS = RANDOM_CASES(1500) };

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

/* --------------------------------------------------------------------------------------- fusion
 *
 * Each kernel calls a random function with what it finds at its item's place of x, and puts the
 * answer into y, which is the x of the next. */

enum { KERNELS = 3, FUSE_SEEDS = RANDOM_CASES(150), PLACE = 4096 };

static const char *const ranges[][KERNELS] = {
    {"32/8", "32/8", "32/8"}, {"10", "30", "20"}, {"16/8", "32/8", "8/8"}};

typedef struct {
    ir_ctx cx;
    ir_arena out;
    ir_module *m;
    uint64_t seed;
    pass_fuse_member members[KERNELS];
    pass_fuse_result fused;
    items *before, *after;
} fusing;

static ir_inst *build_place(ir_builder *b, ir_inst *buffer) {
    ir_inst *item = ir_build_query(b, IR_OP_global_id, IR_I64, 0);
    ir_inst *offset = ir_build2(b, IR_OP_shl, IR_I64, item, ir_const(b->f, IR_I64, 3));
    return ir_build_ptradd(b, buffer, offset, true);
}

/* y[i] = f((i32)x[i], x[i], (f32)x[i]), and nothing where x[i] is divisible by 8 */
static ir_func *make_kernel(ir_module *m, ir_func *callee) {
    const ir_type types[] = {ir_ptr(IR_GLOBAL), ir_ptr(IR_GLOBAL)};
    ir_func *k = ir_func_new(m, "k", IR_VOID, 2, types);
    ir_builder b;
    k->flags = IR_FUNC_KERNEL;
    ir_builder_init(&b, k);
    ir_at_end(&b, ir_block_new(k, NULL));
    ir_block *skip = ir_block_new(k, NULL), *work = ir_block_new(k, NULL);
    ir_inst *x = ir_build_load(&b, IR_I64, build_place(&b, k->param_val[0]), 8, 0);
    ir_inst *low = ir_build2(&b, IR_OP_and, IR_I64, x, ir_const(k, IR_I64, 7));
    ir_build_br(&b, ir_build2(&b, IR_OP_eq, IR_I1, low, ir_const(k, IR_I64, 0)), skip, work);
    ir_at_end(&b, skip);
    ir_build_ret(&b, NULL);
    ir_at_end(&b, work);
    ir_inst *args[] = {ir_build1(&b, IR_OP_trunc, IR_I32, x), x,
                       ir_build1(&b, IR_OP_sitofp, IR_F32, x)};
    ir_inst *y = ir_build_call(&b, callee, 3, args);
    ir_build_store(&b, y, build_place(&b, k->param_val[1]), 8, 0);
    ir_build_ret(&b, NULL);
    return k;
}

/* "32/8" and "10" are all that is needed here. */
static ir_range parse_range(const char *s) {
    ir_range r = {.dims = 1};
    char *end;
    r.global[0] = strtoull(s, &end, 10);
    if (*end == '/') r.local[0] = strtoull(end + 1, NULL, 10);
    return r;
}

static void make_kernels(void *user) {
    fusing *q = user;
    q->m = ir_module_new(&q->cx, "random", 64);
    for (unsigned k = 0; k < KERNELS; k++) {
        ir_func *callee = random_make(q->m, q->seed * KERNELS + k);
        q->members[k].kernel = make_kernel(q->m, callee);
        q->members[k].range = parse_range(ranges[q->seed % 3][k]);
    }
}

static void run_both(void *user) {
    fusing *q = user;
    ir_value args[KERNELS + 1] = {0};
    for (unsigned k = 0; k <= KERNELS; k++) args[k].bits[0] = (k + 1) * PLACE;
    for (unsigned k = 0; k < KERNELS; k++)
        items_run(q->before, ir_func_find(q->m, q->members[k].kernel->name), args + k,
                  &q->members[k].range);
    items_run(q->after, q->fused.kernel, args, &q->fused.range);
}

static void fill_memory(fusing *q) {
    uint64_t state = q->seed;
    for (unsigned at = 0; at < ITEMS_LOCALS; at += 8) {
        uint64_t value = splitmix64(&state) >> 20;
        memcpy(q->before->memory + at, &value, 8);
    }
    memcpy(q->after->memory, q->before->memory, ITEMS_LOCALS);
}

static void check_fusion(fusing *q) {
    static const pass_identity same[] = {{0, 1, 1, 0}, {1, 1, 2, 0}};
    const pass_fuse_request request = {.name = "f",
                                       .members = q->members,
                                       .nmembers = KERNELS,
                                       .identities = same,
                                       .nidentities = 2};
    cr_assert(pass_fuse(&q->cx, &request, &q->out, &q->fused) && q->fused.kernel);
    const pass_options options = {.verify_each = true, .bisect = -1};
    cr_assert(q->seed % 2 || pass_run(q->fused.module, &options));
    fill_memory(q);
    cr_assert(ir_try(&q->cx, run_both, q));
    cr_assert_eq(q->before->faults, 0);
    cr_assert_eq(q->after->faults, 0);
    cr_assert_eq(memcmp(q->before->memory, q->after->memory, ITEMS_LOCALS), 0, "seed %llu",
                 (unsigned long long)q->seed);
}

Test(property, fusion) {
    items *memory = calloc(2, sizeof *memory);
    for (uint64_t seed = 0; seed < FUSE_SEEDS; seed++) {
        fusing q = {.seed = seed, .before = &memory[0], .after = &memory[1]};
        ir_arena_init(&q.out, &q.cx);
        ir_arena_init(&q.before->arena, &q.cx);
        ir_arena_init(&q.after->arena, &q.cx);
        cr_assert(ir_try(&q.cx, make_kernels, &q));
        check_fusion(&q);
        ir_module_free(q.fused.module);
        ir_module_free(q.m);
        ir_arena_free(&q.out);
        ir_arena_free(&q.before->arena);
        ir_arena_free(&q.after->arena);
        cr_assert_eq(q.cx.used, 0);
    }
    free(memory);
}

/* --------------------------------------------------------------------------------------- passes */

Test(property, sccp) { check_all("sccp"); }
Test(property, gvn) { check_all("gvn"); }
Test(property, memopt) { check_all("memopt"); }
Test(property, memopt_after_gvn) { check_all("gvn,memopt,gvn,memopt"); }
Test(property, reassociate) { check_all("gvn,reassociate,memopt,dce"); }
Test(property, dse) { check_all("gvn,dse"); }
Test(property, memopt_and_dse) { check_all("gvn,memopt,dse,dce,memopt,dse"); }
Test(property, dce) { check_all("dce"); }
Test(property, simplify) { check_all("simplify"); }
Test(property, simplifycfg) { check_all("simplifycfg"); }
Test(property, indvars) { check_all("indvars"); }
Test(property, strength) { check_all("strength"); }
Test(property, licm) { check_all("licm"); }
Test(property, extend_indices) { check_all("no_wrap,extend_indices"); }
Test(property, sink) { check_all("sink"); }
Test(property, sroa_and_mem2reg) { check_all("sroa,mem2reg"); }
Test(property, copies) { check_all("spaces,copies,dce"); }
Test(property, around_twice) { check_all("gvn,sccp,gvn,dce,sccp,dce"); }
Test(property, standard) { check_all(NULL); }
