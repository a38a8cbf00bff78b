/* variables_test.c — sroa, mem2reg and simplifycfg keep the meaning of random memory traffic.
 *
 *   f(%a: i64, %b: i64): i64
 *
 * Three variables of 24 bytes, filled at the start, are stored to, loaded from, copied and filled
 * at random constant places with random types, so accesses overlap in every way; addresses also
 * travel through a variable.  The traffic is in a random structured graph of branches and
 * counted loops.  The result mixes everything that was loaded.  The interpreter must give the same
 * answer before and after the passes; no variable may be left.
 */
#include "ir/interp.h"
#include "passes/passes.h"
#include "tests/random.h"

#include <criterion/criterion.h>

enum { SEEDS = RANDOM_CASES(1200), VARS = 3, BYTES = 24, DEPTH = 3 };

typedef struct {
    ir_ctx cx;
    ir_module *m;
    ir_func *f;
    ir_builder b;
    uint64_t seed, state;
    ir_inst *var[VARS], *pointer, *sum; /* sum: a variable of its own */
} subject;

static uint32_t below(subject *s, uint32_t n) { return draw_below(&s->state, n); }

static ir_inst *number(subject *s, uint64_t n) { return ir_const(s->f, IR_I64, n); }

/* The address of a byte, sometimes in two steps, sometimes by way of the pointer variable. */
static ir_inst *address(subject *s, ir_inst *var, uint32_t at) {
    uint32_t first = below(s, at + 1);
    if (below(s, 8) == 0) {
        ir_build_store(&s->b, var, s->pointer, 8, 0);
        var = ir_build_load(&s->b, ir_ptr(IR_PRIVATE), s->pointer, 8, 0);
    }
    var = ir_build_ptradd(&s->b, var, number(s, first), true);
    return ir_build_ptradd(&s->b, var, number(s, at - first), true);
}

static ir_type pick_type(subject *s) {
    const ir_type types[] = {IR_I8,
                             IR_I16,
                             IR_I32,
                             IR_I64,
                             IR_F32,
                             IR_F64,
                             ir_vector(IR_I8, 4),
                             ir_vector(IR_I16, 3),
                             ir_vector(IR_F32, 2),
                             ir_vector(IR_I32, 4)};
    return types[below(s, sizeof types / sizeof *types)];
}

/* A place where size bytes fit: mostly aligned, so that pieces stay of a reasonable size. */
static uint32_t pick_place(subject *s, uint32_t size) {
    uint32_t step = below(s, 6) ? 4 : 1;
    return below(s, (BYTES - size) / step + 1) * step;
}

static void add_to_sum(subject *s, ir_inst *v) {
    ir_inst *old = ir_build_load(&s->b, IR_I64, s->sum, 8, 0);
    ir_inst *mixed = ir_build2(&s->b, IR_OP_mul, IR_I64, old, number(s, 1000003));
    mixed = ir_build2(&s->b, IR_OP_xor, IR_I64, mixed, v);
    ir_build_store(&s->b, mixed, s->sum, 8, 0);
}

static ir_inst *to_i64(subject *s, ir_inst *v) {
    unsigned bits = ir_bits(s->m, ir_elem(v->type)) * ir_lanes(v->type);
    if (bits == 128) {
        v = ir_build1(&s->b, IR_OP_bitcast, ir_vector(IR_I64, 2), v);
        return ir_build2(&s->b, IR_OP_xor, IR_I64, ir_build_extract(&s->b, v, 0),
                         ir_build_extract(&s->b, v, 1));
    }
    if (bits == 48) v = ir_build_extract(&s->b, v, below(s, 3));
    bits = ir_bits(s->m, ir_elem(v->type)) * ir_lanes(v->type);
    ir_type t = bits == 8 ? IR_I8 : bits == 16 ? IR_I16 : bits == 32 ? IR_I32 : IR_I64;
    if (v->type != t) v = ir_build1(&s->b, IR_OP_bitcast, t, v);
    return t == IR_I64 ? v : ir_build1(&s->b, IR_OP_zext, IR_I64, v);
}

static void build_load(subject *s) {
    ir_type t = pick_type(s);
    uint32_t at = pick_place(s, (uint32_t)ir_access_size(s->m, t));
    ir_inst *p = address(s, s->var[below(s, VARS)], at);
    add_to_sum(s, to_i64(s, ir_build_load(&s->b, t, p, 1, 0)));
}

static void build_store(subject *s) {
    ir_type t = pick_type(s);
    uint32_t size = (uint32_t)ir_access_size(s->m, t), at = pick_place(s, size);
    ir_inst *v = ir_build_load(&s->b, IR_I64, s->sum, 8, 0), *lanes[2] = {v, s->f->param_val[1]};
    if (size < 8) {
        ir_type part = size == 1 ? IR_I8 : size == 2 ? IR_I16 : size == 4 ? IR_I32 : IR_I16;
        v = ir_build1(&s->b, IR_OP_trunc, part, v);
    }
    if (size == 6) v = ir_build_splat(&s->b, v, 3);
    if (size == 16) v = ir_build_vec(&s->b, ir_vector(IR_I64, 2), lanes);
    if (v->type != t) v = ir_build1(&s->b, IR_OP_bitcast, t, v);
    ir_build_store(&s->b, v, address(s, s->var[below(s, VARS)], at), 1, 0);
}

static void build_copy(subject *s) {
    uint32_t size = 1 + below(s, BYTES / 2), to = pick_place(s, size), from = pick_place(s, size);
    uint32_t x = below(s, VARS), y = (x + 1 + below(s, VARS - 1)) % VARS;
    if (below(s, 3)) size = to = from = 8;
    ir_inst *args[] = {address(s, s->var[x], to), address(s, s->var[y], from), number(s, size)};
    ir_build_raw(&s->b, IR_OP_copy, IR_VOID, IR_PLAIN, (ir_args){3, args});
}

static void build_fill(subject *s) {
    uint32_t size = 1 + below(s, BYTES), at = pick_place(s, size);
    ir_inst *byte = below(s, 2) ? ir_const(s->f, IR_I8, below(s, 256))
                                : ir_build1(&s->b, IR_OP_trunc, IR_I8, s->f->param_val[0]);
    ir_inst *args[] = {address(s, s->var[below(s, VARS)], at), byte, number(s, size)};
    ir_build_raw(&s->b, IR_OP_fill, IR_VOID, IR_PLAIN, (ir_args){3, args});
}

static void build_traffic(subject *s) {
    for (uint32_t n = 1 + below(s, 5); n-- > 0;) {
        switch (below(s, 6)) {
        case 0: build_copy(s); break;
        case 1: build_fill(s); break;
        case 2:
        case 3: build_store(s); break;
        default: build_load(s); break;
        }
    }
}

/* --------------------------------------------------------------------------------- control flow */

static ir_inst *condition(subject *s) {
    ir_inst *sum = ir_build_load(&s->b, IR_I64, s->sum, 8, 0);
    ir_inst *bit = ir_build2(&s->b, IR_OP_and, IR_I64, sum, number(s, 1u << below(s, 8)));
    if (below(s, 10) == 0) return ir_const(s->f, IR_I1, below(s, 2));
    return ir_build2(&s->b, IR_OP_eq, IR_I1, bit, number(s, 0));
}

static void build_body(subject *s, unsigned depth);

static void build_if(subject *s, unsigned depth) {
    ir_block *yes = ir_block_new(s->f, NULL), *no = ir_block_new(s->f, NULL);
    ir_block *join = ir_block_new(s->f, NULL);
    ir_build_br(&s->b, condition(s), yes, below(s, 2) ? no : join);
    ir_at_end(&s->b, yes);
    build_body(s, depth);
    ir_build_jmp(&s->b, join);
    ir_at_end(&s->b, no);
    build_body(s, depth);
    ir_build_jmp(&s->b, join);
    ir_at_end(&s->b, join);
}

static void build_switch(subject *s, unsigned depth) {
    ir_block *target[4], *join = ir_block_new(s->f, NULL);
    for (unsigned k = 0; k < 4; k++) target[k] = below(s, 3) ? ir_block_new(s->f, NULL) : join;
    ir_inst *on = ir_build_load(&s->b, IR_I64, s->sum, 8, 0);
    on = ir_build2(&s->b, IR_OP_and, IR_I64, on, number(s, 3));
    ir_build_switch(&s->b, on, target[0], (ir_cases){3, (const uint64_t[]){0, 1, 2}, target + 1});
    for (unsigned k = 0; k < 4; k++) {
        if (target[k] == join) continue;
        ir_at_end(&s->b, target[k]);
        build_body(s, depth);
        ir_build_jmp(&s->b, join);
    }
    ir_at_end(&s->b, join);
}

static void build_loop(subject *s, unsigned depth) {
    ir_block *before = s->b.block, *head = ir_block_new(s->f, NULL);
    ir_block *body = ir_block_new(s->f, NULL), *after = ir_block_new(s->f, NULL);
    ir_build_jmp(&s->b, head);
    ir_inst *count = ir_build_phi(head, IR_I64);
    count = ir_append_arg(count, number(s, 0));
    ir_at_end(&s->b, head);
    ir_inst *more = ir_build2(&s->b, IR_OP_ult, IR_I1, count, number(s, below(s, 4)));
    ir_build_br(&s->b, more, body, after);
    ir_at_end(&s->b, body);
    build_body(s, depth);
    ir_inst *next = ir_build2(&s->b, IR_OP_add, IR_I64, count, number(s, 1));
    ir_build_jmp(&s->b, head);
    cr_assert_eq(head->pred[0], before);
    ir_append_arg(count, next);
    ir_at_end(&s->b, after);
}

static void build_body(subject *s, unsigned depth) {
    for (uint32_t n = below(s, 3) + 1; n-- > 0;) {
        uint32_t what = depth ? below(s, 5) : 4;
        if (what == 0) build_if(s, depth - 1);
        if (what == 1) build_switch(s, depth - 1);
        if (what == 2) build_loop(s, depth - 1);
        if (what > 2) build_traffic(s);
    }
}

static void make(void *user) {
    subject *s = user;
    s->m = ir_module_new(&s->cx, "random", 64);
    s->f = ir_func_new(s->m, "f", IR_I64, 2, (ir_type[]){IR_I64, IR_I64});
    ir_builder_init(&s->b, s->f);
    ir_at_end(&s->b, ir_block_new(s->f, NULL));
    ir_type bytes = ir_array_type(s->m, IR_I8, BYTES);
    for (unsigned k = 0; k < VARS; k++) s->var[k] = ir_build_alloca(&s->b, bytes, 8);
    s->pointer = ir_build_alloca(&s->b, ir_ptr(IR_PRIVATE), 8);
    s->sum = ir_build_alloca(&s->b, IR_I64, 8);
    for (unsigned k = 0; k < VARS; k++) {
        ir_inst *args[] = {s->var[k], ir_const(s->f, IR_I8, k + 1), number(s, BYTES)};
        ir_build_raw(&s->b, IR_OP_fill, IR_VOID, IR_PLAIN, (ir_args){3, args});
    }
    ir_build_store(&s->b, s->f->param_val[0], s->sum, 8, 0);
    build_body(s, DEPTH);
    ir_build_ret(&s->b, ir_build_load(&s->b, IR_I64, s->sum, 8, 0));
}

/* ------------------------------------------------------------------------------------- checking */

static uint64_t answer(const subject *s, uint64_t salt) {
    ir_value args[2] = {{.bits = {s->seed * 77 + salt}}, {.bits = {s->seed << 33 ^ 5}}};
    ir_value result = {0};
    cr_assert(ir_interp_call(s->f, args, &result), "seed %llu runs", (unsigned long long)s->seed);
    return result.bits[0];
}

static unsigned count_variables(const ir_func *f) {
    unsigned n = 0;
    foreach_block (b, f)
        foreach_inst (i, b) n += i->op == IR_OP_alloca;
    return n;
}

/* Returns the number of variables that are left. */
static unsigned check(const char *list, uint64_t seed) {
    enum { RUNS = 3 };
    subject s = {.seed = seed, .state = seed};
    const pass_options options = {.passes = list, .verify_each = true, .bisect = -1};
    uint64_t before[RUNS];
    cr_assert(ir_try(&s.cx, make, &s));
    cr_assert(ir_verify_func(s.f), "seed %llu is well-formed", (unsigned long long)seed);
    for (unsigned k = 0; k < RUNS; k++) before[k] = answer(&s, k);
    cr_assert(pass_run(s.m, &options), "%s, seed %llu", list, (unsigned long long)seed);
    for (unsigned k = 0; k < RUNS; k++)
        cr_assert_eq(before[k], answer(&s, k), "%s changes the answer of seed %llu", list,
                     (unsigned long long)seed);
    unsigned left = count_variables(s.f);
    ir_module_free(s.m);
    cr_assert_eq(s.cx.used, 0);
    return left;
}

/* Random functions are the same in each run, so the number of variables that are left is known. */
static void check_all(const char *list, unsigned want) {
    unsigned left = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) left += check(list, seed);
    cr_assert_eq(left, want, "%s leaves %u variables", list, left);
}

Test(variables, mem2reg, .timeout = 120) { check_all("mem2reg", VARS * SEEDS); }
Test(variables, sroa, .timeout = 120) { check_all("sroa", 0); }
Test(variables, simplifycfg, .timeout = 120) { check_all("simplifycfg", (VARS + 2) * SEEDS); }
Test(variables, together, .timeout = 120) { check_all("sroa,simplifycfg,sroa,simplifycfg", 0); }
