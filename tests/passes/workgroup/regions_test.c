/* regions_test.c — code of work-groups does what the items of a kernel do: random kernels give the
 * same bytes on the `check` device and, by interpretation, as code of groups. */
#include "runtime/devices/check/check.h"
#include "tests/passes/workgroup/group_kernels.h"
#include "tests/passes/workgroup/groups.h"
#include "tests/passes/workgroup/random_groups.h"
#include "tests/passes/ranges.h"
#include "tests/random.h"

#include <criterion/criterion.h>

enum {
    SEEDS = RANDOM_CASES(800),
    MEETING_SEEDS = RANDOM_CASES(300),
    ITEMS = 4096,
    OUT = ITEMS * RG_PIECE
};

static const char *const ranges[] = {"5/1",          "9/3",          "96/48",
                                     "100/100+7",    "50/48",        "35,10/7,5",
                                     "10,7/7,5+3,2", "10,6,4/5,3,2", "11,5,3/5,3,2+1,2,3",
                                     "64/16",        "3,40/1,40",    "2,2,9/1,1,9"};

typedef struct {
    ir_ctx cx;
    ir_arena arena, scratch;
    ir_module *m;
    ir_func *kernel;
    ir_range range;
    uint64_t seed;
    const char *body;       /* NULL: a random kernel */
    const char *name;       /* for messages */
    bool known;             /* the code is for this range only */
    bool optimize, improve; /* the standard passes before, those for groups after */
    unsigned subgroup; /* work-items of a sub-group; 0: one, and there are no such operations */
    bool cut;          /* all groups wait for each other: they run in phases */
    uint8_t *want, *got, *same;
    ir_phases phases;
    pass_group_code code;
    groups groups;
    ir_map globals;
    check_result result;
} subject;

static void show(void *user, const ir_message *m) {
    (void)user;
    fprintf(stderr, "%s\n", m->text);
}

static void say(void *user, const check_report *r) {
    cr_assert(r->severity == IR_NOTE, "%s, seed %llu is no proper program: %s",
              ((const subject *)user)->name, (unsigned long long)((const subject *)user)->seed,
              r->text);
}

/* On the check device: what is right. */
static void run_items(void *user) {
    subject *s = user;
    check_device *d = check_device_new(&s->cx);
    check_buffer *out = check_buffer_new(d, OUT, s->want, 0);
    check_buffer *same = check_buffer_new(d, ITEMS * 4, s->same, 0);
    check_program *p = check_program_new(d, s->m);
    const uint32_t n = (uint32_t)s->seed * 77;
    const check_arg args[] = {{.kind = IR_ARG_POINTER, .buffer = out},
                              {.kind = IR_ARG_POINTER, .buffer = same},
                              {.kind = IR_ARG_LOCAL, .size = RG_TILE * 4},
                              {.kind = IR_ARG_VALUE, .bytes = &n, .size = 4}};
    check_launch l = {
        .kernel = "k",
        .range = s->range,
        .args = args,
        .nargs = 4,
        .options = {
            .allow_non_uniform = true, .subgroup_size = s->subgroup, .report = say, .user = s}};
    cr_assert(check_run(p, &l, &s->result));
    check_buffer_read(out, 0, OUT, s->want);
    check_program_free(p);
    check_buffer_free(same);
    check_buffer_free(out);
    check_device_free(d);
}

static void run_groups(void *user) {
    subject *s = user;
    const uint32_t n = (uint32_t)s->seed * 77;
    uint32_t phase = 0;
    groups *q = &s->groups;
    uint64_t kept = s->phases.item * ITEMS + s->phases.group * ITEMS;
    void *args[] = {s->got,
                    s->same,
                    (void *)(uintptr_t)s->code.need.local,
                    (void *)(uintptr_t)&n,
                    groups_alloc(q, kept, IR_LOCAL_ALIGN),
                    &phase};
    q->globals = &s->globals;
    q->forever = &s->arena;
    q->budget = 1000000000;
    groups_add(q, s->got, OUT, IR_GLOBAL);
    groups_add(q, s->same, ITEMS * 4, IR_GLOBAL);
    groups_add(q, &n, sizeof n, IR_CONST);
    groups_add(q, args[4], kept, IR_GLOBAL);
    groups_add(q, &phase, sizeof phase, IR_CONST);
    do groups_run(q, &s->code, &s->range, args, 6, RG_TILE * 4, s->known);
    while (++phase < s->phases.n);
}

static void make(void *user) {
    subject *s = user;
    if (s->body) {
        const char *text = ir_sprintf(&s->arena, "%s%s}\n", HEAD, s->body);
        s->m = ir_parse(&s->cx, s->name, text, strlen(text));
        cr_assert(s->m, "%s", s->name);
        s->kernel = ir_func_find(s->m, "k");
        return;
    }
    s->m = ir_module_new(&s->cx, "random", 64);
    s->kernel = rg_make(s->m, s->seed, s->cut, s->subgroup > 0);
}

/* May items come in any order?  Scans of a group go from the first to the last. */
static bool is_order_free(const ir_func *f) {
    foreach_block (b, f)
        foreach_inst (i, b)
            if (ir_has_flag(i, F_CONVERGENT) && i->op != IR_OP_barrier) return false;
    return true;
}

static void convert(void *user) {
    subject *s = user;
    pass_group_shape shape = {0};
    if (s->known) shape = pass_shape_of(&s->range);
    if (is_order_free(s->kernel)) {
        shape.inner = (unsigned)(s->seed / 3 % 3);
        shape.transposes = s->seed / 9 % 2;
    }
    shape.subgroup = s->subgroup;
    cr_assert_null(pass_cut_phases(s->kernel, &s->scratch, &s->phases));
    cr_assert(ir_verify_module(s->m));
    pass_make_group(s->kernel, &shape, &s->scratch, &s->code);
}

static void improve(subject *s, const char *list) {
    const pass_options options = {.passes = list, .verify_each = true, .bisect = -1};
    cr_assert(pass_run(s->m, &options), "%s, seed %llu", s->name, (unsigned long long)s->seed);
}

static void compare(const subject *s) {
    if (memcmp(s->want, s->got, OUT) == 0) return;
    for (unsigned k = 0; k < OUT; k++)
        cr_assert_eq(s->want[k], s->got[k], "%s, seed %llu, item %u, byte %u: %02x, not %02x",
                     s->name, (unsigned long long)s->seed, k / RG_PIECE, k % RG_PIECE, s->got[k],
                     s->want[k]);
}

static void check(subject *s) {
    s->cx.report = show;
    ir_arena_init(&s->arena, &s->cx);
    ir_arena_init(&s->scratch, &s->cx);
    ir_arena_init(&s->groups.arena, &s->cx);
    cr_assert(ir_try(&s->cx, make, s));
    cr_assert(ir_verify_module(s->m), "%s, seed %llu", s->name, (unsigned long long)s->seed);
    if (s->optimize) improve(s, NULL);
    cr_assert(ir_try(&s->cx, run_items, s));
    cr_assert(ir_try(&s->cx, convert, s));
    cr_assert_null(s->code.refusal, "%s, seed %llu: %s", s->name, (unsigned long long)s->seed,
                   s->code.refusal);
    cr_assert(ir_verify_module(s->m), "%s, seed %llu", s->name, (unsigned long long)s->seed);
    if (s->improve) improve(s, pass_group_pipeline);
    cr_assert(ir_try(&s->cx, run_groups, s));
    ir_text fault = {.arena = &s->arena};
    if (s->groups.fault) ir_print_inst(&fault, s->groups.fault);
    cr_assert_eq(s->groups.faults, 0, "%s, seed %llu: %s", s->name, (unsigned long long)s->seed,
                 fault.data);
    compare(s);
    ir_module_free(s->m);
    ir_arena_free(&s->groups.arena);
    ir_arena_free(&s->scratch);
    ir_arena_free(&s->arena);
    cr_assert_eq(s->cx.used, 0);
}

enum { RANGES = sizeof ranges / sizeof *ranges };

/* In memory that `memory` is for. */
static void check_in(uint8_t *memory, subject s, const char *range) {
    s.range = parse_range(range);
    s.want = memory;
    s.got = memory + OUT;
    s.same = memory + 2 * OUT;
    memset(memory, 0, 2 * OUT);
    const uint32_t same = (uint32_t)s.seed * 40503;
    for (unsigned k = 0; k < ITEMS; k++) memcpy(s.same + k * 4, &same, 4);
    check(&s);
}

/* With sub-groups: they are of 1 to 32 items. */
static void check_seeds(const subject *how, bool subgroups) {
    uint8_t *memory = calloc(3, OUT);
    for (uint64_t seed = 0; seed < (subgroups ? MEETING_SEEDS : SEEDS); seed++) {
        subject s = *how;
        s.name = subgroups ? "sub-groups" : "random";
        s.seed = seed;
        s.known = seed % 2;
        if (subgroups) s.subgroup = 1u << seed / 2 % 7;
        check_in(memory, s, ranges[seed / (subgroups ? 3 : 2) % RANGES]);
    }
    free(memory);
}

static const subject plain = {0}, optimized = {.optimize = true},
                     improved = {.optimize = true, .improve = true}, cut = {.cut = true},
                     cut_improved = {.optimize = true, .improve = true, .cut = true};

Test(regions, random_kernels) { check_seeds(&plain, false); }
Test(regions, random_kernels_optimized) { check_seeds(&optimized, false); }
Test(regions, random_kernels_improved) { check_seeds(&improved, false); }
Test(regions, random_phases) { check_seeds(&cut, false); }
Test(regions, random_phases_improved) { check_seeds(&cut_improved, false); }
Test(regions, random_subgroups) { check_seeds(&plain, true); }
Test(regions, random_subgroups_optimized) { check_seeds(&optimized, true); }
Test(regions, random_subgroups_improved) { check_seeds(&improved, true); }
Test(regions, random_subgroups_phases) { check_seeds(&cut_improved, true); }

Test(regions, kernels_of_all_shapes) {
    uint8_t *memory = calloc(3, OUT);
    for (unsigned k = 0; k < sizeof group_kernels / sizeof *group_kernels; k++)
        for (uint64_t seed = 0; seed < 2 * RANGES; seed++) {
            subject s = {
                .seed = seed, .body = group_kernels[k].body, .name = group_kernels[k].name};
            s.known = seed % 2;
            s.optimize = s.improve = (seed / 2 + k) % 3 == 0;
            check_in(memory, s, ranges[seed / 2]);
            s.subgroup = 1u << (seed + k) % 7;
            if (strcmp(s.name, "sums and products") == 0) continue; /* floats are rounded */
            check_in(memory, s, ranges[seed / 2]);
        }
    free(memory);
}

/* What a launch has to bring for a kernel of that body. */
static ir_group_need need_of(const char *body) {
    subject s = {.name = "need", .body = body, .known = true, .range = parse_range("64/16")};
    s.cx.report = show;
    ir_arena_init(&s.arena, &s.cx);
    ir_arena_init(&s.scratch, &s.cx);
    cr_assert(ir_try(&s.cx, make, &s));
    cr_assert(ir_try(&s.cx, convert, &s));
    cr_assert_null(s.code.refusal);
    ir_module_free(s.m);
    ir_arena_free(&s.scratch);
    ir_arena_free(&s.arena);
    return s.code.need;
}

/* A value of so many operations on ids, which is used after a barrier. */
static ir_group_need need_of_chain(unsigned operations, bool is_float) {
    char body[4000];
    int at = snprintf(body, sizeof body,
                      is_float ? "%%v0: f32 = uitofp %%l\n" : "%%v0: i64 = mul %%l, 3\n");
    for (unsigned n = 1; n < operations; n++)
        at += snprintf(body + at, sizeof body - (size_t)at,
                       is_float ? "%%v%u: f32 = fmul %%v%u, f32 %u.5\n"
                                : "%%v%u: i64 = xor %%v%u, %u\n",
                       n, n - 1, n);
    snprintf(body + at, sizeof body - (size_t)at, "%sstore %%v%u, %%po align 4\nret\n", B,
             operations - 1);
    return need_of(body);
}

Test(regions, long_chains_are_kept_and_indices_repeated) {
    cr_expect_eq(need_of_chain(4, true).scratch_item, 0);
    cr_expect_eq(need_of_chain(5, true).scratch_item, 4);
    cr_expect_eq(need_of_chain(16, false).scratch_item, 0);
    cr_expect_eq(need_of_chain(17, false).scratch_item, 8);
}

/* Each value is computed from two others, and all are used after a barrier: what is computed again
 * is bounded, although the operations that lead to a value grow with the golden ratio. */
Test(regions, ladders_are_kept_in_places) {
    enum { STEPS = 300 };
    static char body[STEPS * 100];
    int at = snprintf(body, sizeof body, "%%v0: i64 = mul %%l, 3\n%%v1: i64 = mul %%l, 5\n");
    for (unsigned n = 2; n < STEPS; n++)
        at += snprintf(body + at, sizeof body - (size_t)at, "%%v%u: i64 = sub %%v%u, %%v%u\n", n,
                       n - 1, n - 2);
    at += snprintf(body + at, sizeof body - (size_t)at, "%s", B);
    for (unsigned n = 0; n < STEPS; n++)
        at += snprintf(body + at, sizeof body - (size_t)at, "store %%v%u, %%po align 4\n", n);
    snprintf(body + at, sizeof body - (size_t)at, "ret\n");
    uint64_t kept = need_of(body).scratch_item;
    cr_expect(kept > 0 && kept < STEPS * 8 / 2, "%llu bytes", (unsigned long long)kept);
}

Test(regions, needs) {
    ir_group_need none = need_of(B "store i32 1, %po align 4\nret\n");
    cr_assert(none.local == 0 && none.scratch == 0 && none.scratch_item == 0);
    ir_group_need local = need_of("store %v, @one align 4\nstore %v, @own align 4\nret\n");
    cr_assert_eq(local.local, 4 + 1024 * 4);
    /* %u of each item, although it is loaded from where all have the same */
    ir_group_need item = need_of(B PUT("%u") "ret\n");
    cr_assert(item.scratch == 0 && item.scratch_item == 4);
    ir_group_need array =
        need_of("%a: ptr.private = alloca [3 x i64] align 8\nstore %g, %a align 8\n" B
                "%x: i64 = load %a align 8\nstore %x, %po align 8\nret\n");
    cr_assert_eq(array.scratch_item, 24);
    ir_group_need text = need_of("%r: i32 = printf \"%d %f\", %v, f32 1.0\nret\n");
    cr_assert(text.scratch == IR_LOCAL_ALIGN && text.scratch_item == 0);
}
