/* remap_test.c — work-item queries of members whose ids are computed from the linear id.
 *
 * The probe stores all its queries.  It is fused with an empty kernel of another shape, and what
 * the fused kernel stores must be what the probe's own range says: that keeps the linear id, is a
 * bijection, and counts work-groups of one item.  Small ranges run whole, in memory; of large ones
 * single items run, at the ends and at random places.
 */
#include "tests/passes/items.h"
#include "tests/passes/world.h"
#include "tests/random.h"

typedef struct {
    ir_op op;
    bool has_dim;
} query;

static const query queries[] = {
    {IR_OP_global_id, true},         {IR_OP_local_id, true},
    {IR_OP_group_id, true},          {IR_OP_num_groups, true},
    {IR_OP_global_size, true},       {IR_OP_local_size, true},
    {IR_OP_global_offset, true},     {IR_OP_enqueued_local_size, true},
    {IR_OP_global_linear_id, false}, {IR_OP_local_linear_id, false},
    {IR_OP_work_dim, false},
};

enum { QUERIES = sizeof queries / sizeof *queries, PROBED = 3 * QUERIES, SMALL = 400 };

typedef struct {
    world w;
    ir_func *probe, *empty;
    ir_range own, other;
    bool whole; /* each item has its place in memory; else all store at 0 */
    items *memory;
} trial;

/* ---------------------------------------------------------------------------------- the kernels */

static void store_query(ir_builder *b, ir_inst *to, unsigned n, unsigned d) {
    ir_type t = queries[n].op == IR_OP_work_dim ? IR_I32 : IR_I64;
    ir_inst *v = ir_build_query(b, queries[n].op, t, queries[n].has_dim ? d : 0);
    if (t != IR_I64) v = ir_build1(b, IR_OP_zext, IR_I64, v);
    ir_inst *at = ir_build_ptradd(b, to, ir_const(b->f, IR_I64, 8 * (3 * n + d)), true);
    ir_build_store(b, v, at, 8, 0);
}

static void make_probe(trial *t) {
    const ir_type params[] = {ir_ptr(IR_GLOBAL)};
    ir_builder b;
    t->probe = ir_func_new(t->w.m, "probe", IR_VOID, 1, params);
    t->probe->flags |= IR_FUNC_KERNEL;
    ir_builder_init(&b, t->probe);
    ir_at_end(&b, ir_block_new(t->probe, "entry"));
    ir_inst *to = t->probe->param_val[0];
    if (t->whole) {
        ir_inst *id = ir_build_query(&b, IR_OP_global_linear_id, IR_I64, 0);
        ir_inst *size = ir_const(t->probe, IR_I64, 8 * PROBED);
        to = ir_build_ptradd(&b, to, ir_build2(&b, IR_OP_mul, IR_I64, id, size), true);
    }
    for (unsigned n = 0; n < QUERIES; n++)
        for (unsigned d = 0; d < 3; d++) store_query(&b, to, n, d);
    ir_build_ret(&b, NULL);
}

static void make_empty(trial *t) {
    ir_builder b;
    t->empty = ir_func_new(t->w.m, "empty", IR_VOID, 0, NULL);
    t->empty->flags |= IR_FUNC_KERNEL;
    ir_builder_init(&b, t->empty);
    ir_at_end(&b, ir_block_new(t->empty, "entry"));
    ir_build_ret(&b, NULL);
}

static void fuse(void *user) {
    trial *t = user;
    t->w.m = ir_module_new(&t->w.cx, "test", 64);
    make_probe(t);
    make_empty(t);
    const pass_fuse_member members[] = {{t->probe, t->own}, {t->empty, t->other}};
    const pass_fuse_request q = {.name = "fused", .members = members, .nmembers = 2};
    const pass_options options = {.verify_each = true, .bisect = -1};
    cr_assert(pass_fuse(&t->w.cx, &q, &t->w.arena, &t->w.fused), "%s", t->w.message);
    cr_assert(t->w.fused.kernel);
    cr_assert(pass_run(t->w.fused.module, &options), "%s", t->w.message);
}

/* --------------------------------------------------------------------------------- expectations */

static void split(uint64_t linear, const ir_range *r, uint64_t id[3]) {
    for (unsigned d = 0; d < 3; d++) {
        id[d] = d < 2 ? linear % pass_global_size(r, d) : linear;
        linear /= pass_global_size(r, d);
    }
}

static uint64_t expected(const ir_range *own, uint64_t linear, ir_op op, unsigned d) {
    uint64_t id[3];
    split(linear, own, id);
    switch (op) {
    case IR_OP_global_id:
    case IR_OP_group_id: return id[d];
    case IR_OP_global_size:
    case IR_OP_num_groups: return pass_global_size(own, d);
    case IR_OP_local_size:
    case IR_OP_enqueued_local_size: return 1;
    case IR_OP_global_linear_id: return linear;
    case IR_OP_work_dim: return own->dims;
    default: return 0;
    }
}

static void check_item(const trial *t, uint64_t linear, uint64_t place) {
    for (unsigned n = 0; n < QUERIES; n++)
        for (unsigned d = 0; d < 3; d++) {
            uint64_t got, want = expected(&t->own, linear, queries[n].op, d);
            memcpy(&got, t->memory->memory + 8 * (place * PROBED + 3 * n + d), 8);
            cr_assert_eq(got, want, "%s %u of item %llu is %llu, not %llu",
                         ir_ops[queries[n].op].name, d, (unsigned long long)linear,
                         (unsigned long long)got, (unsigned long long)want);
        }
}

/* -------------------------------------------------------------------------------------- running */

static void run_whole(void *user) {
    trial *t = user;
    const ir_value to = {.bits = {0}};
    items_run(t->memory, t->w.fused.kernel, &to, &t->w.fused.range);
}

static void run_item(trial *t, uint64_t linear) {
    const ir_value to = {.bits = {0}};
    uint64_t id[3];
    split(linear, &t->w.fused.range, id);
    memset(t->memory->memory, 0xee, 8 * PROBED);
    items_run_one(t->memory, t->w.fused.kernel, &to, &t->w.fused.range, id);
    if (linear < pass_range_items(&t->own))
        check_item(t, linear, 0);
    else
        cr_assert_eq(t->memory->memory[0], 0xee, "item %llu is outside",
                     (unsigned long long)linear);
}

static void run_some(void *user) {
    trial *t = user;
    uint64_t all = pass_range_items(&t->w.fused.range), mine = pass_range_items(&t->own),
             state = all;
    const uint64_t ends[] = {0, 1, mine - 1, mine / 2, all - 1, pass_global_size(&t->own, 0) - 1};
    for (unsigned k = 0; k < sizeof ends / sizeof *ends; k++) run_item(t, ends[k]);
    for (unsigned k = 0; k < 200; k++) run_item(t, splitmix64(&state) % (k % 4 ? mine : all));
}

static void check(ir_range own, ir_range other, bool whole) {
    trial t = {.own = own, .other = other, .whole = whole};
    world_begin(&t.w);
    t.memory = calloc(1, sizeof *t.memory);
    ir_arena_init(&t.memory->arena, &t.w.cx);
    cr_assert(ir_try(&t.w.cx, fuse, &t), "%s", t.w.message);
    cr_assert(ir_try(&t.w.cx, whole ? run_whole : run_some, &t));
    for (uint64_t n = 0; whole && n < pass_range_items(&own); n++) check_item(&t, n, n);
    cr_assert_eq(t.memory->faults, 0);
    ir_arena_free(&t.memory->arena);
    free(t.memory);
    world_end(&t.w);
}

/* ---------------------------------------------------------------------------------------- tests */

static ir_range shape(unsigned dims, uint64_t x, uint64_t y, uint64_t z) {
    return (ir_range){.dims = dims, .global = {x, y, z}};
}

Test(remap, shapes_of_the_reference) {
    check(shape(3, 2, 3, 7), shape(1, 100, 0, 0), true);
    check(shape(2, 2, 4, 0), shape(1, 8, 0, 0), true);
    check(shape(1, 20, 0, 0), shape(2, 10, 10, 0), true);
    check(shape(2, 4, 8, 0), shape(2, 8, 8, 0), true);
    check(shape(3, 4, 3, 5), shape(3, 4, 5, 5), true);
    check(shape(2, 2, 2, 0), shape(2, 4, 4, 0), true);
}

Test(remap, random_ranges, .timeout = 60) {
    uint64_t state = 7;
    for (unsigned n = 0; n < 120;) {
        ir_range r[2];
        for (unsigned k = 0; k < 2; k++) {
            r[k] = shape(1 + draw_below(&state, 3), 1, 1, 1);
            for (unsigned d = 0; d < r[k].dims; d++)
                r[k].global[d] = 1 + draw_below(&state, r[k].dims == 1 ? SMALL : 7);
        }
        const ir_range *larger = &r[pass_range_items(&r[1]) > pass_range_items(&r[0])];
        if (pass_same_ids(&r[0], larger)) continue;
        check(r[0], r[1], true);
        n++;
    }
}

/* Where the reciprocal has to be exact up to the last id, in 32 and in 64 bits. */
Test(remap, large_ranges, .timeout = 60) {
    check(shape(2, 65535, 65537, 0), shape(1, UINT32_MAX, 0, 0), false);
    check(shape(2, 7, 613566756, 0), shape(1, UINT32_MAX, 0, 0), false);
    check(shape(3, 641, 3, 1000003), shape(2, UINT64_C(1) << 20, 1 << 12, 0), false);
    check(shape(3, 641, 6700417, 7), shape(1, UINT64_C(1) << 40, 0, 0), false);
    check(shape(3, 4294967291, 4294967279, 1), shape(1, UINT64_MAX, 0, 0), false);
    check(shape(2, 3, UINT64_MAX / 3, 0), shape(1, UINT64_MAX, 0, 0), false);
    check(shape(2, 1 << 16, 1 << 15, 0), shape(1, UINT32_MAX, 0, 0), false);
}
