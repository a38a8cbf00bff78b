/* legality_test.c — which pairs of kernels may be fused, and which need a barrier.
 *
 * Each row has the offset at which the first kernel writes and the second reads one buffer of i32,
 * as lines of IR that define %o, the ranges, and the decision.
 */
#include "tests/passes/world.h"

typedef struct {
    const char *what;
    const char *write, *read; /* define %o, perhaps in a block of their own */
    const char *range[2];
    const char *rule; /* of the decision that must be there */
    const char *text; /* how it begins, or NULL */
} row;

#define OWN "%g: i64 = global_id 0\n %o: i64 = shl %g, 2\n"
#define GROUP_START                                                                                \
    "%w: i64 = group_id 0\n %n: i64 = local_size 0\n %s: i64 = mul %w, %n\n %l: i64 = local_id "   \
    "0\n"
#define REVERSED_IN_GROUP                                                                          \
    GROUP_START "%a: i64 = add %s, %n\n %b: i64 = sub %a, 1\n %c: i64 = sub %b, %l\n"              \
                " %o: i64 = shl %c, 2\n"
#define FIRST_OF_GROUP GROUP_START "%o: i64 = shl %s, 2\n"
#define ROW_MAJOR(x, y, width)                                                                     \
    "%i: i64 = global_id " x "\n %j: i64 = global_id " y "\n %m: i64 = mul %j, " width             \
    "\n %k: i64 = add %m, %i\n %o: i64 = shl %k, 2\n"

static const row rows[] = {
    {"the same element", OWN, OWN, {"64/16", "64/16"}, "fuse.no-barrier", NULL},
    {"an id that is always the offset",
     OWN,
     ROW_MAJOR("0", "1", "32"),
     {"64,1+0,1", "64,1+0,1"},
     "fuse.grid",
     NULL},
    {"an id put together from group and local id",
     OWN,
     GROUP_START "%g: i64 = add %s, %l\n %o: i64 = shl %g, 2\n",
     {"64/16", "64/16"},
     "fuse.no-barrier",
     NULL},
    {"the same element, no local size", OWN, OWN, {"60", "60"}, "fuse.no-barrier", NULL},
    {"a smaller writer", OWN, OWN, {"32/16", "64/16"}, "fuse.no-barrier", NULL},
    {"the next element",
     OWN,
     "%g: i64 = global_id 0\n %h: i64 = shl %g, 2\n %o: i64 = add %h, 4\n",
     {"64/16", "64/16"},
     "fuse.grid",
     "work-groups depend on each other: @write writes 4 bytes at "
     "%x + 4*global_id.0, always; @read reads 4 bytes at %x + "
     "4*global_id.0 + 4, always"},
    {"an element of a single item",
     "%g: i64 = global_id 0\n %o: i64 = shl %g, 3\n",
     "%g: i64 = global_id 0\n %h: i64 = shl %g, 3\n %o: i64 = add %h, 4\n",
     {"64/16", "64/16"},
     "fuse.no-barrier",
     NULL},
    {"half of what another has",
     "%g: i64 = global_id 0\n %o: i64 = shl %g, 2\n",
     "%g: i64 = global_id 0\n %h: i64 = shl %g, 2\n %o: i64 = add %h, 2\n",
     {"64/16", "64/16"},
     "fuse.grid",
     NULL},
    {"another of the group", OWN, REVERSED_IN_GROUP, {"64/16", "64/16"}, "fuse.barrier", NULL},
    {"another of the group, written",
     REVERSED_IN_GROUP,
     OWN,
     {"64/16", "64/16"},
     "fuse.barrier",
     NULL},
    {"another of a group of unknown size",
     OWN,
     REVERSED_IN_GROUP,
     {"64", "64"},
     "fuse.unknown",
     NULL},
    {"the first of the group", OWN, FIRST_OF_GROUP, {"64/16", "64/16"}, "fuse.barrier", NULL},
    {"the first of all", OWN, "%o: i64 = shl 0, 2\n", {"64/16", "64/16"}, "fuse.grid", NULL},
    {"what all items write",
     "%o: i64 = shl 0, 2\n",
     "%o: i64 = shl 0, 2\n",
     {"64/16", "64/16"},
     "fuse.grid",
     NULL},
    {"what an item of each group writes",
     "%l: i64 = local_id 0\n %o: i64 = shl %l, 2\n",
     "%l: i64 = local_id 0\n %o: i64 = shl %l, 2\n",
     {"64/16", "64/16"},
     "fuse.grid",
     NULL},
    {"a reversal of everything",
     OWN,
     "%g: i64 = global_id 0\n %h: i64 = sub 63, %g\n %o: i64 = shl %h, 2\n",
     {"64/16", "64/16"},
     "fuse.grid",
     NULL},
    {"modulo of the half: i and i + N/2",
     OWN,
     "%g: i64 = global_id 0\n %h: i64 = and %g, 31\n %o: i64 = shl %h, 2\n",
     {"64/16", "64/16"},
     "fuse.grid",
     NULL},
    {"rows as wide as the range",
     ROW_MAJOR("0", "1", "16"),
     ROW_MAJOR("0", "1", "16"),
     {"16,8/4,2", "16,8/4,2"},
     "fuse.no-barrier",
     NULL},
    {"rows wider than the range",
     ROW_MAJOR("0", "1", "20"),
     ROW_MAJOR("0", "1", "20"),
     {"16,8/4,2", "16,8/4,2"},
     "fuse.no-barrier",
     NULL},
    {"a transposition",
     ROW_MAJOR("0", "1", "16"),
     ROW_MAJOR("1", "0", "16"),
     {"16,16/4,4", "16,16/4,4"},
     "fuse.grid",
     NULL},
    {"one shape read as another",
     OWN,
     ROW_MAJOR("0", "1", "16"),
     {"128", "16,8"},
     "fuse.no-barrier",
     NULL},
    {"one shape read as another, wider rows",
     OWN,
     ROW_MAJOR("0", "1", "20"),
     {"200", "16,8"},
     "fuse.grid",
     NULL},
    {"a factor with which offsets wrap",
     "%g: i64 = global_id 0\n %o: i64 = shl %g, 62\n",
     "%g: i64 = global_id 0\n %h: i64 = shl %g, 62\n %o: i64 = add %h, 2\n",
     {"64/16", "64/16"},
     "fuse.unknown",
     NULL},
    {"what a loop ends with",
     "jmp h\nh:\n %k: i64 = phi [e: 0, b: %n]\n %c: i1 = ult %k, i64 16\n br %c, b, d\n"
     "b:\n %n: i64 = add %k, 1\n jmp h\nd:\n %o: i64 = shl %k, 2\n",
     "%g: i64 = global_id 0\n %o: i64 = add 64, 0\n",
     {"64/16", "64/16"},
     "fuse.grid",
     NULL},
    {"a counter of 8 bits that jumps over its limit",
     "jmp h\nh:\n %k: i8 = phi [e: 0, h: %n]\n %n: i8 = add %k, 96\n %c: i1 = slt %n, i8 100\n"
     " br %c, h, d\nd:\n %w: i64 = sext %k\n %o: i64 = shl %w, 2\n",
     "%o: i64 = add 1000, 0\n",
     {"64/16", "64/16"},
     "fuse.unknown",
     NULL},
    {"different sides of a guard",
     "%g: i64 = global_id 0\n %o: i64 = shl %g, 2\n %c: i1 = ult %g, i64 32\n br %c, t, f\n"
     "f:\n ret\nt:\n",
     "%g: i64 = global_id 0\n %h: i64 = add %g, 32\n %o: i64 = shl %h, 2\n"
     " %c: i1 = ult %g, i64 32\n br %c, t, f\nf:\n ret\nt:\n",
     {"64/16", "64/16"},
     "fuse.no-barrier",
     NULL},
    {"the group and the item in it",
     OWN,
     GROUP_START "%a: i64 = add %s, %l\n %o: i64 = shl %a, 2\n",
     {"64/16", "64/16"},
     "fuse.no-barrier",
     NULL},
    {"an index that is loaded",
     OWN,
     "%g: i64 = global_id 0\n %h: i64 = shl %g, 2\n %q: ptr.global = ptradd %y, %h\n"
     " %v: i32 = load %q align 4\n %o: i64 = zext %v\n",
     {"64/16", "64/16"},
     "fuse.unknown",
     "not proved to be independent: @write"},
    {"half the address space away",
     OWN,
     "%g: i64 = global_id 0\n %h: i64 = shl %g, 2\n %o: i64 = add %h, -9223372036854775808\n",
     {"64/16", "64/16"},
     "fuse.unknown",
     NULL},
    {"more items than signed numbers, few of which read",
     OWN,
     OWN " %c: i1 = ult %g, i64 10\n br %c, t, f\nf:\n ret\nt:\n",
     {"18446744073709551615", "18446744073709551615"},
     "fuse.unknown",
     NULL},
};

/* -------------------------------------------------------------------------------------- helpers */

typedef struct {
    world w;
    const row *row;
    bool force, none;
} trial;

static void fuse(void *user) {
    trial *t = user;
    const row *r = t->row;
    world_parse(
        &t->w, r->what,
        ir_sprintf(&t->w.arena,
                   "kernel @write(%%x: ptr.global) {\ne:\n %s %%p: ptr.global = ptradd %%x, %%o\n"
                   " store i32 7, %%p align 1\n ret\n}\n"
                   "kernel @read(%%x: ptr.global, %%y: ptr.global) {\ne:\n %s"
                   " %%p: ptr.global = ptradd %%x, %%o\n %%t: i32 = load %%p align 1\n"
                   " %%me: i64 = global_linear_id\n %%at: i64 = shl %%me, 2\n"
                   " %%z: ptr.global = ptradd %%y, %%at\n store %%t, %%z align 4\n ret\n}\n",
                   r->write, r->read));
    static const pass_identity same[] = {{0, 0, 1, 0}};
    const pass_fuse_request q = {.identities = same,
                                 .nidentities = 1,
                                 .force = t->force,
                                 .barrier = t->none ? PASS_BARRIER_NONE : PASS_BARRIER_BOTH};
    world_fuse(&t->w, r->what, r->range, q);
}

static const pass_decision *find_decision(const trial *t, const char *rule) {
    const pass_fuse_result *r = &t->w.fused;
    for (uint32_t n = 0; n < r->decisions.n; n++)
        if (strcmp(r->decisions.data[n].rule, rule) == 0) return &r->decisions.data[n];
    return NULL;
}

static void begin(trial *t) {
    world_begin(&t->w);
    cr_assert(ir_try(&t->w.cx, fuse, t), "%s", t->row->what);
}

/* ---------------------------------------------------------------------------------------- tests */

static void check(const row *r) {
    trial t = {.row = r};
    begin(&t);
    const pass_decision *d = find_decision(&t, r->rule);
    const pass_decision *last = &t.w.fused.decisions.data[t.w.fused.decisions.n - 1];
    cr_expect(d, "%s: no %s, but %s: %s", r->what, r->rule, last->rule, last->text);
    if (d && r->text)
        cr_expect_eq(strncmp(d->text, r->text, strlen(r->text)), 0, "%s: %s", r->what, d->text);
    if (d) cr_expect_eq(d->refusal, !t.w.fused.kernel, "%s", r->what);
    world_end(&t.w);
}

Test(legality, rows) {
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) check(&rows[k]);
}

static const row *find_row(const char *what) {
    size_t k = 0;
    while (strcmp(rows[k].what, what) != 0) k++;
    return &rows[k];
}

Test(legality, force_overrides_with_a_barrier) {
    trial t = {.row = find_row("the next element"), .force = true};
    begin(&t);
    cr_assert(t.w.fused.kernel);
    cr_assert(find_decision(&t, "fuse.forced") && find_decision(&t, "fuse.barrier"));
    world_end(&t.w);
}

Test(legality, no_barriers_refuses_what_needs_one) {
    trial t = {.row = find_row("another of the group"), .none = true};
    begin(&t);
    cr_assert(!t.w.fused.kernel && find_decision(&t, "fuse.needs-barrier"));
    world_end(&t.w);
}

Test(legality, no_barriers_takes_what_needs_none) {
    trial t = {.row = find_row("the same element"), .none = true};
    begin(&t);
    cr_assert(t.w.fused.kernel && find_decision(&t, "fuse.no-barrier"));
    world_end(&t.w);
}
