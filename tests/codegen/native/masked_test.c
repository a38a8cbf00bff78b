/* masked_test.c — accesses of lanes by a mask as machine code of each level of this machine.
 *
 * Memory is a few pages between pages that may not be accessed.  Random types, widths, masks and
 * offsets are chosen so that lanes which are not active lie outside, and active ones often at the
 * very edge: an access of a lane too many ends the test.  Values and all bytes of the memory are
 * compared with what a loop over the lanes gives.
 */
#define _DEFAULT_SOURCE
#include "ir/build.h"
#include "ir/eval.h"
#include "tests/codegen/native/levels.h"
#include "tests/guarded.h"
#include "tests/native_call.h"
#include "tests/random.h"
#include "tests/report.h"

#include <criterion/criterion.h>

enum { PAGES = 2, CASES = RANDOM_CASES(4000) };

typedef enum { BY_PARAMETER, BY_COMPARISON, BY_BITS, BY_CONSTANT, KINDS_OF_MASKS } mask_kind;
typedef enum { ANY_VALUE, ZERO, CONSTANT, KINDS_OF_OTHERS } other_kind;

typedef struct {
    uint64_t random;
    ir_op op;
    ir_type type, offset; /* offset: its element */
    unsigned lanes, size;
    mask_kind mask_kind;
    other_kind other_kind;
    uint8_t *memory, *want; /* the pages, and what they shall hold */
    size_t bytes;
    uint64_t base;                  /* address */
    uint64_t mask;                  /* a bit for each lane */
    uint64_t value[IR_MAX_LANES];   /* stored, or of lanes that are not active */
    int64_t distance[IR_MAX_LANES]; /* of a lane from the base */
} subject;

static unsigned below(subject *s, unsigned n) { return (unsigned)(splitmix64(&s->random) % n); }

static bool is_active(const subject *s, unsigned k) { return s->mask >> k & 1; }
static bool is_load(const subject *s) {
    return s->op == IR_OP_masked_load || s->op == IR_OP_gather;
}
static bool is_apart(const subject *s) { return s->op == IR_OP_gather || s->op == IR_OP_scatter; }

/* --------------------------------------------------------------------------------------- memory */

static void open_memory(subject *s) {
    s->memory = guarded_open(PAGES);
    s->bytes = PAGES * guarded_page();
    s->want = malloc(s->bytes);
}

static void close_memory(subject *s) {
    guarded_close(s->memory, PAGES);
    free(s->want);
}

/* --------------------------------------------------------------------------------------- places */

static uint64_t start_of(const subject *s) { return (uint64_t)(uintptr_t)s->memory; }

/* Consecutive lanes: the first or the last active one is at an edge of the memory. */
static void place_together(subject *s) {
    unsigned first = 0, last = s->lanes - 1;
    while (first < last && !is_active(s, first)) first++;
    while (last > first && !is_active(s, last)) last--;
    uint64_t end = start_of(s) + s->bytes;
    s->base = below(s, 2) ? end - (uint64_t)(last + 1) * s->size
                          : start_of(s) - (uint64_t)first * s->size;
    for (unsigned k = 0; k < s->lanes; k++) s->distance[k] = (int64_t)k * s->size;
}

static int64_t some_place(subject *s) {
    uint64_t last = s->bytes - s->size;
    switch (below(s, 8)) {
    case 0: return 0;
    case 1: return (int64_t)last;
    case 2:
    case 3: return below(s, 4); /* lanes overlap */
    default: return (int64_t)(splitmix64(&s->random) % (last + 1));
    }
}

/* Lanes at offsets, of any sign, from a base of which nothing is asked; those of lanes that are not
 * active lead anywhere. */
static void place_apart(subject *s) {
    s->base = start_of(s) + (uint64_t)(int64_t)((int)below(s, 40000) - 20000);
    if (s->offset == IR_I64 && below(s, 4) == 0) s->base = 0;
    for (unsigned k = 0; k < s->lanes; k++) {
        uint64_t any = splitmix64(&s->random);
        s->distance[k] = (int64_t)(start_of(s) + (uint64_t)some_place(s) - s->base);
        if (!is_active(s, k)) s->distance[k] = s->offset == IR_I32 ? (int32_t)any : (int64_t)any;
    }
}

static uint64_t some_mask(subject *s) {
    uint64_t any = splitmix64(&s->random), all = ir_zext(UINT64_MAX, s->lanes);
    switch (below(s, 6)) {
    case 0: return any & splitmix64(&s->random) & all;
    case 1: return below(s, 2) ? all : 0;
    case 2: return ir_zext(UINT64_MAX, below(s, s->lanes) + 1);
    case 3: return all << below(s, s->lanes) & all;
    default: return any & all;
    }
}

static void choose(subject *s) {
    static const ir_type types[] = {IR_I8, IR_I16, IR_I32, IR_I64, IR_F16, IR_BF16, IR_F32, IR_F64};
    static const uint8_t widths[] = {2, 3, 4, 5, 7, 8, 9, 16, 17, 32, 33, 64};
    static const ir_op ops[] = {IR_OP_masked_load, IR_OP_masked_store, IR_OP_gather, IR_OP_scatter};
    s->op = ops[below(s, 4)];
    s->type = types[below(s, 8)];
    s->size = ir_bits(NULL, s->type) / 8;
    s->lanes = below(s, 4) ? widths[below(s, 12)] : 2 + below(s, 63);
    s->offset = below(s, 2) ? IR_I32 : IR_I64;
    s->mask_kind = (mask_kind)below(s, KINDS_OF_MASKS);
    s->other_kind = (other_kind)below(s, KINDS_OF_OTHERS);
    if (s->mask_kind == BY_BITS) s->lanes = 8u << below(s, 4);
    s->mask = some_mask(s);
    if (is_apart(s))
        place_apart(s);
    else
        place_together(s);
    for (unsigned k = 0; k < s->lanes; k++) {
        uint64_t any = splitmix64(&s->random);
        s->value[k] = s->other_kind == ZERO && is_load(s) ? 0 : ir_zext(any, 8 * s->size);
    }
    for (size_t n = 0; n < s->bytes; n++) s->memory[n] = (uint8_t)(splitmix64(&s->random) >> 8);
    memcpy(s->want, s->memory, s->bytes);
}

/* ------------------------------------------------------------------------------------- function */

enum { BASE, MASK, VALUE, OFFSETS, PARAMS };

static ir_type mask_type(const subject *s) {
    static const ir_type bits[] = {IR_I8, IR_I16, IR_I32, IR_I64};
    static const ir_type ints[] = {IR_I8, IR_I16, IR_I32, IR_I64};
    if (s->mask_kind == BY_BITS) return bits[__builtin_ctz(s->lanes) - 3];
    if (s->mask_kind == BY_COMPARISON) return ir_vector(ints[s->random % 4], s->lanes);
    return ir_vector(IR_I1, s->lanes);
}

static ir_inst *build_mask(const subject *s, ir_builder *b, ir_inst *x) {
    uint64_t lane[IR_MAX_LANES];
    ir_type t = ir_vector(IR_I1, s->lanes);
    for (unsigned k = 0; k < s->lanes; k++) lane[k] = is_active(s, k);
    switch (s->mask_kind) {
    case BY_COMPARISON: return ir_build2(b, IR_OP_eq, t, x, ir_const(b->f, x->type, 0));
    case BY_BITS: return ir_build1(b, IR_OP_bitcast, t, x);
    case BY_CONSTANT: return ir_const_lanes(b->f, t, lane);
    default: return x;
    }
}

static ir_inst *build_value(const subject *s, ir_builder *b, ir_inst *x) {
    if (s->other_kind == CONSTANT) return ir_const_lanes(b->f, x->type, s->value);
    return s->other_kind == ZERO && is_load(s) ? ir_const(b->f, x->type, 0) : x;
}

static ir_func *build(const subject *s, ir_module *m) {
    ir_type t = ir_vector(s->type, s->lanes);
    const ir_type params[] = {IR_I64, mask_type(s), t, ir_vector(s->offset, s->lanes)};
    ir_func *f = ir_func_new(m, "f", is_load(s) ? t : IR_VOID, PARAMS, params);
    ir_builder b;
    ir_inst *args[4];
    unsigned n = 0;
    f->level = L_GROUP;
    ir_builder_init(&b, f);
    ir_at_end(&b, ir_block_new(f, NULL));
    ir_inst *p = ir_build1(&b, IR_OP_inttoptr, ir_ptr(IR_GLOBAL), f->param_val[BASE]);
    ir_inst *mask = build_mask(s, &b, f->param_val[MASK]);
    ir_inst *value = build_value(s, &b, f->param_val[VALUE]);
    if (!is_load(s)) args[n++] = value;
    args[n++] = p;
    if (is_apart(s)) args[n++] = f->param_val[OFFSETS];
    args[n++] = mask;
    if (is_load(s)) args[n++] = value;
    ir_inst *r = ir_build_raw(&b, s->op, f->ret, ir_with_imm(ir_mem_imm(1, 0)), (ir_args){n, args});
    ir_build_ret(&b, is_load(s) ? r : NULL);
    cr_assert(ir_verify_module(m));
    return f;
}

static void set_arguments(const subject *s, ir_value args[PARAMS]) {
    memset(args, 0, PARAMS * sizeof *args);
    args[BASE].bits[0] = s->base;
    if (s->mask_kind == BY_BITS) args[MASK].bits[0] = s->mask;
    for (unsigned k = 0; k < s->lanes; k++) {
        bool zero = s->mask_kind == BY_COMPARISON; /* so are lanes that no vector has */
        if (s->mask_kind != BY_BITS) args[MASK].bits[k] = is_active(s, k) != zero;
        args[VALUE].bits[k] = s->value[k];
        args[OFFSETS].bits[k] = ir_zext((uint64_t)s->distance[k], ir_bits(NULL, s->offset));
    }
}

/* --------------------------------------------------------------------------------------- result */

/* Stores into what is wanted; gives what is loaded. */
static void expect(subject *s, uint64_t *loaded) {
    for (unsigned k = 0; k < s->lanes; k++) {
        loaded[k] = s->value[k];
        if (!is_active(s, k)) continue;
        uint8_t *at = s->want + (s->base + (uint64_t)s->distance[k] - start_of(s));
        if (is_load(s)) loaded[k] = 0;
        memcpy(is_load(s) ? (void *)&loaded[k] : at, is_load(s) ? at : (void *)&s->value[k],
               s->size);
    }
}

static void check(unsigned level, uint64_t seed) {
    subject own = {.random = seed}, *s = &own;
    ir_ctx cx = {.report = print_message};
    ir_value args[PARAMS], got;
    uint64_t loaded[IR_MAX_LANES];
    native_way way = {.code = {.level = level,
                               .regalloc = {seed % 8 ? CG_REGALLOC_FAST : CG_REGALLOC_STACK,
                                            seed % 3 ? seed | 1 : 0, true}},
                      .is_plain = seed & 1};
    open_memory(s);
    choose(s);
    expect(s, loaded);
    ir_module *m = ir_module_new(&cx, "masked", 64);
    ir_func *f = build(s, m);
    set_arguments(s, args);
    memset(&got, 0, sizeof got);
    cr_assert_eq(native_call(f, &way, args, &got), NATIVE_DONE, "seed %llu",
                 (unsigned long long)seed);
    for (unsigned k = 0; k < s->lanes && is_load(s); k++)
        cr_assert_eq(got.bits[k], loaded[k], "seed %llu: %s, lane %u of %u",
                     (unsigned long long)seed, ir_ops[s->op].name, k, s->lanes);
    cr_assert_eq(memcmp(s->memory, s->want, s->bytes), 0, "seed %llu: %s of %u lanes, memory",
                 (unsigned long long)seed, ir_ops[s->op].name, s->lanes);
    ir_module_free(m);
    close_memory(s);
}

TEST_LEVELS(masked, CASES, check)
