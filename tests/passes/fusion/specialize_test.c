/* specialize_test.c — what a kernel becomes when the nd-range of its launch is known.
 *
 * Each row has lines of IR in which %g is the id and %v the value looked at, the range, and what %v
 * has become: its instruction as text, without its name.
 */
#include "passes/fusion/fuse_impl.h"
#include "tests/passes/world.h"

typedef struct {
    const char *what, *range, *body, *want;
} row;

static const row rows[] = {
    {"a global size", "96,4/8,2", " %v: i64 = global_size 0\n", "96"},
    {"a size beyond", "96,4/8,2", " %v: i64 = global_size 2\n", "1"},
    {"the local size", "96,4/8,2", " %v: i64 = local_size 1\n", "2"},
    {"an unknown local size", "96", " %v: i64 = local_size 0\n", "local_size 0"},
    {"groups", "96,4/8,2", " %v: i64 = num_groups 0\n", "12"},
    {"no offset", "96", " %v: i64 = global_offset 0\n", "0"},
    {"dimensions", "96,4", " %v: i32 = work_dim\n", "2"},
    {"a guard that all pass", "96", " %v: i1 = ult %g, i64 96\n", "true"},
    {"a guard that the last does not", "96", " %v: i1 = ult %g, i64 95\n", "ult %g, i64 95"},
    {"a guard that holds for no item", "96", " %v: i1 = ult i64 95, %g\n", "false"},
    {"a guard as an int", "96", " %i: i32 = trunc %g\n %v: i1 = slt %i, i32 96\n", "true"},
    {"an int that wraps", "4294967296", " %i: i32 = trunc %g\n %v: i1 = sle i32 0, %i\n",
     "sle i32 0, %i"},
    {"the id of a group", "96/8", " %w: i64 = group_id 0\n %v: i1 = ult %w, i64 12\n", "true"},
    {"a remainder that is no division", "96/8", " %l: i64 = local_id 0\n %v: i64 = urem %l, 8\n",
     "local_id 0"},
    {"a remainder that is one", "96/8", " %l: i64 = local_id 0\n %v: i64 = urem %l, 7\n",
     "zext %1"},
    {"a division in 32 bits", "96", " %v: i64 = udiv %g, 7\n", "zext %1"},
    {"a division by another id", "96/8", " %n: i64 = local_size 0\n %v: i64 = srem %g, %n\n",
     "zext %1"},
    {"a division that needs 64 bits", "8589934592", " %v: i64 = udiv %g, 7\n", "udiv %g, 7"},
    {"a quotient that is 0", "96", " %i: i32 = trunc %g\n %v: i32 = sdiv %i, 96\n", "0"},
    {"an int that may be negative", "96",
     " %i: i32 = trunc %g\n %s: i32 = sub %i, 1\n"
     " %v: i32 = srem %s, 96\n",
     "srem %s, 96"},
    {"an id that was an int", "96", " %i: i32 = trunc %g\n %v: i64 = sext %i\n", "global_id 0"},
    {"an id that does not fit", "4294967296", " %i: i32 = trunc %g\n %v: i64 = zext %i\n",
     "global_id 0"},
    {"an id that does not fit, signed", "4294967296", " %i: i32 = trunc %g\n %v: i64 = sext %i\n",
     "sext %i"},
    {"an id that was shifted up and down", "96", " %u: i64 = shl %g, 32\n %v: i64 = ashr %u, 32\n",
     "global_id 0"},
    {"an id that loses its top", "4294967296", " %u: i64 = shl %g, 32\n %v: i64 = ashr %u, 32\n",
     "ashr %u, 32"},
    {"an index that was an int", "96",
     " %i: i32 = trunc %g\n %m: i32 = mul %i, 3\n %a: i32 = add %m, -5\n %v: i64 = sext %a\n",
     "add %0, -5"},
    {"an index that wraps below 0", "96",
     " %i: i32 = trunc %g\n %a: i32 = add %i, -5\n %v: i64 = zext %a\n", "zext %a"},
    {"an unsigned index, one before another", "96",
     " %i: i32 = trunc %g\n %a: i32 = add %i, 5\n %b: i32 = add %a, -5\n %v: i64 = zext %b\n",
     "add %0, -5"},
    {"a known number that was cut", "96", " %c: i32 = trunc i64 4294967303\n %v: i64 = sext %c\n",
     "7"},
    {"a known sum that wraps", "96", " %s: i8 = add i8 100, 100\n %v: i64 = sext %s\n", "-56"},
    {"a known sum that wraps, unsigned", "96", " %s: i8 = add i8 100, 100\n %v: i64 = zext %s\n",
     "200"},
    {"an index and a known number that was cut", "96",
     " %i: i32 = trunc %g\n %c: i32 = trunc i64 4294967303\n %a: i32 = add %i, %c\n"
     " %v: i64 = sext %a\n",
     "add %g, 7"},
    {"an index with another use", "96",
     " %i: i32 = trunc %g\n %a: i32 = add %i, 5\n store %a, %p align 4\n %v: i64 = sext %a\n",
     "sext %a"},
    {"an index with a part that is no id", "96",
     " %i: i32 = trunc %g\n %n: i32 = load %p align 4\n %a: i32 = add %i, %n\n %v: i64 = sext %a\n",
     "sext %a"},
};

typedef struct {
    world w;
    const row *row;
} trial;

/* The instruction that defines what is stored last, or the constant. */
static const char *result_of(world *w) {
    const ir_inst *v = ir_arg(w->m->first_func->last->last->prev, 0);
    ir_text t = {.arena = &w->arena};
    if (ir_is_const(v) && v->type == IR_I1) return v->imm.bits ? "true" : "false";
    if (ir_is_const(v)) return ir_sprintf(&w->arena, "%lld", (long long)ir_signed_const(v));
    ir_print_inst(&t, v);
    const char *text = strstr(t.data, " = ");
    return text ? text + 3 : t.data;
}

static void apply(void *user) {
    const row *r = ((trial *)user)->row;
    world *w = &((trial *)user)->w;
    const ir_range range = parse_range(r->range);
    world_parse(w, r->what,
                ir_sprintf(&w->arena,
                           "kernel @k(%%p: ptr.global) {\ne:\n %%g: i64 = global_id 0\n%s"
                           " store %%v, %%p align 1\n ret\n}\n",
                           r->body));
    const pass_launch l = {.kernel = w->m->first_func, .range = &range};
    const char *before = result_of(w);
    bool changed = pass_apply_range(&l);
    cr_assert(ir_verify_module(w->m), "%s", r->what);
    const char *got = result_of(w);
    cr_expect_str_eq(got, r->want, "%s: %s", r->what, got);
    cr_expect_eq(changed, strcmp(before, got) != 0, "%s", r->what);
}

Test(specialize, rows) {
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        trial t = {.row = &rows[k]};
        world_begin(&t.w);
        cr_assert(ir_try(&t.w.cx, apply, &t), "%s", rows[k].what);
        world_end(&t.w);
    }
}
