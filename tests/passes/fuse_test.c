/* fuse_test.c — fusion of kernels: ranges, parameters, bodies, attributes, refusals and errors.
 *
 * Kernels are IR text.  Where the meaning counts, the members are run one after another and the
 * fused kernel once, on equal memories, which must then be equal. */
#include "passes/fuse_impl.h"
#include "tests/passes/items.h"
#include "tests/passes/ranges.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static ir_ctx cx;
static ir_arena arena;
static char message[2048]; /* of the first error */
static ir_module *parsed[4];
static unsigned nparsed;
static pass_fuse_result fused;

static void keep_error(void *user, const ir_message *m) {
    (void)user;
    if (m->severity == IR_ERROR && !message[0]) snprintf(message, sizeof message, "%s", m->text);
}

static void setup(void) {
    cx = (ir_ctx){.report = keep_error};
    ir_arena_init(&arena, &cx);
    message[0] = 0;
    nparsed = 0;
    fused = (pass_fuse_result){0};
}

static void teardown(void) {
    ir_module_free(fused.module);
    while (nparsed) ir_module_free(parsed[--nparsed]);
    ir_arena_free(&arena);
    cr_assert_eq(cx.used, 0, "everything is given back");
}

TestSuite(fuse, .init = setup, .fini = teardown);

/* -------------------------------------------------------------------------------------- helpers */

static void parse_text(void *text) {
    parsed[nparsed] = ir_parse(&cx, "test.ir", text, strlen(text));
}

static ir_module *parse(const char *text) {
    bool ok = ir_try(&cx, parse_text, (void *)(uintptr_t)text);
    cr_assert(ok && parsed[nparsed], "the text of the test is right: %s", message);
    return parsed[nparsed++];
}

static pass_fuse_member member(ir_module *m, const char *name, const char *sizes) {
    const ir_func *k = ir_func_find(m, name);
    cr_assert(k, "kernel @%s", name);
    return (pass_fuse_member){k, parse_range(sizes)};
}

static void print_kernel(void *text) { ir_print_func(text, fused.kernel, 0); }

static const char *fused_text(void) {
    ir_text t = {.arena = &arena};
    cr_assert(ir_try(&cx, print_kernel, &t));
    return t.data;
}

#define assert_has(text, part) cr_assert(strstr(text, part), "\"%s\" is in\n%s", part, text)
#define assert_lacks(text, part) cr_assert(!strstr(text, part), "\"%s\" is not in\n%s", part, text)

static void assert_fuses(const pass_fuse_request *q) {
    cr_assert(pass_fuse(&cx, q, &arena, &fused), "fuses: %s", message);
    cr_assert(fused.kernel, "not refused: %s",
              fused.decisions.n ? fused.decisions.data[fused.decisions.n - 1].text : "");
}

static void assert_error(const pass_fuse_request *q, const char *start) {
    cr_assert(!pass_fuse(&cx, q, &arena, &fused));
    cr_assert(!fused.kernel && !fused.module);
    cr_assert(strncmp(message, start, strlen(start)) == 0, "\"%s\" starts with \"%s\"", message,
              start);
}

static void assert_refused(const pass_fuse_request *q, const char *rule, const char *start) {
    cr_assert(pass_fuse(&cx, q, &arena, &fused), "no error: %s", message);
    cr_assert(!fused.kernel && !fused.module && fused.decisions.n);
    const pass_decision *d = &fused.decisions.data[fused.decisions.n - 1];
    cr_assert(d->refusal);
    cr_assert_str_eq(d->rule, rule);
    cr_assert(strncmp(d->text, start, strlen(start)) == 0, "\"%s\" starts with \"%s\"", d->text,
              start);
}

static bool has_decision(const char *rule) {
    for (uint32_t n = 0; n < fused.decisions.n; n++)
        if (strcmp(fused.decisions.data[n].rule, rule) == 0) return true;
    return false;
}

/* ---------------------------------------------------------------------------------------
 * equivalence
 *
 * Arguments by parameter of each member; pointers are addresses in the memory of items.h. */

typedef struct {
    const pass_fuse_request *request;
    const uint64_t (*args)[8];
    items *before, *after;
} both;

static void run_members(void *user) {
    const both *r = user;
    for (uint32_t m = 0; m < r->request->nmembers; m++) {
        const pass_fuse_member *k = &r->request->members[m];
        ir_value args[8] = {0};
        for (uint32_t p = 0; p < k->kernel->nparams; p++) args[p].bits[0] = r->args[m][p];
        items_run(r->before, ir_func_find(k->kernel->module, k->kernel->name), args, &k->range);
    }
}

static void run_fused(void *user) {
    const both *r = user;
    ir_value args[16] = {0};
    for (uint32_t a = 0; a < fused.nargs; a++) {
        const pass_fuse_arg *arg = &fused.args[a];
        if (arg->index != PASS_NO_PARAM)
            args[arg->index].bits[0] = r->args[arg->member][arg->param];
    }
    items_run(r->after, fused.kernel, args, &fused.range);
}

static items *make_items(void) {
    items *q = calloc(1, sizeof *q);
    ir_arena_init(&q->arena, &cx);
    for (unsigned n = 0; n < ITEMS_LOCALS; n += 4) memcpy(q->memory + n, &n, 4);
    return q;
}

static void free_items(items *q) {
    ir_arena_free(&q->arena);
    free(q);
}

static void assert_same_result(const pass_fuse_request *q, const uint64_t (*args)[8]) {
    both r = {q, args, make_items(), make_items()};
    cr_assert(ir_try(&cx, run_members, &r));
    cr_assert(ir_try(&cx, run_fused, &r));
    cr_assert_eq(r.before->faults, 0);
    cr_assert_eq(r.after->faults, 0);
    for (unsigned n = 0; n < ITEMS_LOCALS; n += 4)
        cr_assert_eq(memcmp(r.before->memory + n, r.after->memory + n, 4), 0, "at byte %u", n);
    free_items(r.before);
    free_items(r.after);
}

static void assert_optimizes(void) {
    const pass_options options = {.passes = "sccp,gvn,dce", .verify_each = true, .bisect = -1};
    cr_assert(pass_run(fused.module, &options), "%s", message);
    pass_fuse_trim(&fused);
    cr_assert(ir_verify_func(fused.kernel), "%s", message);
}

/* --------------------------------------------------------------------------------------- ranges */

static const char three[] = "kernel @a() {\ne:\n ret\n}\n"
                            "kernel @b() {\ne:\n ret\n}\n"
                            "kernel @c() {\ne:\n ret\n}\n";

typedef struct {
    const char *range[3];
    const char *result; /* or, with a ':' in front, how the error begins */
} range_row;

/* What plans cannot say; the rest is in tests/conformance/fusion/ranges.txt. */
static const range_row rows[] = {
    {{"10/4"}, ":work-groups would not be uniform (10 % 4)"},
    {{"0"}, ":empty nd-range"},
    {{"8/0"}, ":local size 0"},
    {{"4294967296,4294967296"}, ":too many work-items"},
    {{"30,67", "76,55", "64,64"}, "{76,55}"},
};

static void check_row(const range_row *row, const ir_module *m) {
    static const char *const names[] = {"a", "b", "c"};
    pass_fuse_member members[3];
    uint32_t n = 0;
    pass_range r;
    for (; n < 3 && row->range[n]; n++) {
        members[n].kernel = ir_func_find(m, names[n]);
        members[n].range = parse_range(row->range[n]);
    }
    message[0] = 0;
    bool ok = pass_fuse_range(&cx, members, n, &arena, &r);
    ir_text t = {.arena = &arena};
    if (ok) pass_print_range(&t, &r);
    const char *want = row->result, *got = ok ? t.data : message;
    bool same = *want == ':' ? !ok && strncmp(got, want + 1, strlen(want + 1)) == 0
                             : ok && strcmp(got, want) == 0;
    cr_expect(same, "%s %s %s: %s, want %s", row->range[0], n > 1 ? row->range[1] : "",
              n > 2 ? row->range[2] : "", got, want);
}

Test(fuse, range_table) {
    ir_module *m = parse(three);
    for (unsigned n = 0; n < sizeof rows / sizeof *rows; n++) check_row(&rows[n], m);
    cr_assert(!pass_fuse_range(&cx, NULL, 0, &arena, &(pass_range){0}));
    pass_range bad = {.dims = 4};
    cr_assert(!pass_fuse_range(&cx, &(pass_fuse_member){ir_func_find(m, "a"), bad}, 1, &arena,
                               &(pass_range){0}));
}

Test(fuse, ids_agree_when_one_range_is_a_prefix_of_the_other) {
    static const struct {
        const char *member, *fused;
        bool same;
    } pairs[] = {{"256", "512", true},   {"10", "10,10", true},    {"20", "10,10", false},
                 {"8,4", "8,8", true},   {"4,8", "8,8", false},    {"8,8", "8,8,1", true},
                 {"5", "10,10", true},   {"2,2,2", "2,2,8", true}, {"2,1,2", "2,2,2", false},
                 {"1,1,1", "7,5", true}, {"3,1,1", "3,4,5", true}};
    for (unsigned n = 0; n < sizeof pairs / sizeof *pairs; n++) {
        pass_range a = parse_range(pairs[n].member), b = parse_range(pairs[n].fused);
        cr_expect_eq(pass_same_ids(&a, &b), pairs[n].same, "%s in %s", pairs[n].member,
                     pairs[n].fused);
    }
}

Test(fuse, nothing) { assert_error(&(pass_fuse_request){.name = "f"}, "nothing to fuse"); }

/* --------------------------------------------------------------------------------------- bodies */

#define INDEX "  %i: i64 = global_id 0\n  %o: i64 = shl %i, 2\n"
#define BINARY(name, op)                                                                           \
    "kernel @" name "(%x: ptr.global noalias align 4 of i32, %y: ptr.global align 8 of i32,"       \
    " %z: ptr.global align 4 of i32) {\nentry:\n" INDEX                                            \
    "  %px: ptr.global = ptradd %x, %o\n  %py: ptr.global = ptradd %y, %o\n"                       \
    "  %pz: ptr.global = ptradd %z, %o\n  %a: i32 = load %px align 4\n"                            \
    "  %b: i32 = load %py align 4\n  %c: i32 = " op " %a, %b\n  store %c, %pz align 4\n  ret\n}\n"

static const char add_mul[] = BINARY("add", "add") BINARY("mul", "mul");

Test(fuse, add_then_mul) {
    ir_module *m = parse(add_mul);
    const pass_fuse_member members[] = {member(m, "add", "512/64"), member(m, "mul", "512/64")};
    const pass_identity same[] = {{0, 2, 1, 0}};
    const pass_fuse_request q = {
        .name = "add_mul", .members = members, .nmembers = 2, .identities = same, .nidentities = 1};
    assert_fuses(&q);
    cr_assert_eq(fused.nargs, 5);
    static const char *const names[] = {"add_x", "add_y", "add_z", "mul_y", "mul_z"};
    for (unsigned a = 0; a < 5; a++) {
        cr_assert_str_eq(fused.args[a].name, names[a]);
        cr_assert_str_eq(fused.kernel->param[a].name, names[a]);
        cr_assert_eq(fused.args[a].index, a);
        cr_assert_eq(fused.args[a].kind, PASS_ARG_BUFFER);
    }
    cr_assert_eq(fused.arg_of[1][0], 2, "the identical parameter is add_z");
    cr_assert(fused.kernel->param[0].attrs & IR_PARAM_NOALIAS, "arguments are different memory");
    cr_assert_eq(fused.kernel->param[2].align, 4);
    assert_lacks(fused_text(), "barrier");
    cr_assert(has_decision("fuse.no-barrier"));
    const uint64_t args[][8] = {{4096, 8192, 12288}, {12288, 16384, 20480}};
    assert_same_result(&q, args);
    assert_optimizes();
    assert_same_result(&q, args);
}

Test(fuse, twelve_parameters_two_identities_give_ten) {
    ir_module *m = parse(add_mul);
    const pass_fuse_member members[] = {member(m, "add", "64"), member(m, "mul", "64"),
                                        member(m, "add", "64"), member(m, "mul", "64")};
    const pass_identity same[] = {{0, 2, 1, 0}, {3, 1, 2, 2}};
    const pass_fuse_request q = {
        .members = members, .nmembers = 4, .identities = same, .nidentities = 2};
    assert_fuses(&q);
    cr_assert_str_eq(fused.kernel->name, "fused");
    cr_assert_eq(fused.nargs, 10);
    cr_assert_str_eq(fused.args[5].name, "add_x_1");
    cr_assert_str_eq(fused.args[9].name, "mul_z_1");
    cr_assert_eq(fused.arg_of[3][1], fused.arg_of[2][2]);
}

/* in1 = 2i, in2 = 3i, in3 = 4i, in4 = 5i; tmp1 = in1+in2, tmp2 = tmp1*in3, tmp3 = tmp1*in4 … */
Test(fuse, diamond_with_a_kernel_twice) {
    ir_module *m = parse(add_mul);
    const pass_fuse_member members[] = {member(m, "add", "128/32"), member(m, "mul", "128/32"),
                                        member(m, "mul", "128/32"), member(m, "add", "128/32")};
    const pass_identity same[] = {{0, 2, 1, 0}, {0, 2, 2, 0}, {1, 2, 3, 0}, {2, 2, 3, 1}};
    const pass_fuse_request q = {
        .name = "diamond", .members = members, .nmembers = 4, .identities = same, .nidentities = 4};
    assert_fuses(&q);
    cr_assert_eq(fused.nargs, 8);
    const uint64_t args[][8] = {
        {1024, 2048, 3072}, {3072, 4096, 5120}, {3072, 6144, 7168}, {5120, 7168, 8192}};
    assert_same_result(&q, args);
    assert_optimizes();
    assert_same_result(&q, args);
}

Test(fuse, identities_close_transitively) {
    ir_module *m = parse(add_mul);
    const pass_fuse_member members[] = {member(m, "add", "64"), member(m, "add", "64"),
                                        member(m, "add", "64")};
    const pass_identity same[] = {{2, 0, 1, 1}, {0, 2, 1, 1}, {2, 0, 2, 0}};
    const pass_fuse_request q = {
        .members = members, .nmembers = 3, .identities = same, .nidentities = 3};
    assert_fuses(&q);
    cr_assert_eq(fused.nargs, 7);
    cr_assert_eq(fused.arg_of[1][1], 2);
    cr_assert_eq(fused.arg_of[2][0], 2);
    cr_assert_eq(fused.kernel->param[2].align, 8, "the strongest promise about the pointer");
}

static unsigned count_barriers(void) {
    unsigned n = 0;
    foreach_block (b, fused.kernel)
        foreach_inst (i, b) n += i->op == IR_OP_barrier;
    return n;
}

/* The second kernel reads what the neighbour in the group has written in the first. */
static const char neighbours[] =
    "kernel @write(%x: ptr.global) {\nentry:\n" INDEX
    "  %p: ptr.global = ptradd %x, %o\n  %v: i32 = trunc %i\n  store %v, %p align 4\n  ret\n}\n"
    "kernel @read(%x: ptr.global, %y: ptr.global) {\nentry:\n" INDEX
    "  %n: i64 = xor %o, 4\n  %p: ptr.global = ptradd %x, %n\n  %a: i32 = load %p align 4\n"
    "  %q: ptr.global = ptradd %y, %o\n  store %a, %q align 4\n  ret\n}\n";

Test(fuse, barrier_policies) {
    static const struct {
        pass_barrier policy;
        const char *text;
    } policies[] = {{PASS_BARRIER_LOCAL, "seq_cst local\n"},
                    {PASS_BARRIER_GLOBAL, "seq_cst global\n"}};
    ir_module *m = parse(neighbours);
    const pass_fuse_member members[] = {member(m, "write", "8"), member(m, "read", "8")};
    const pass_identity same[] = {{0, 0, 1, 0}};
    pass_fuse_request q = {.name = "f",
                           .members = members,
                           .nmembers = 2,
                           .identities = same,
                           .nidentities = 1,
                           .force = true};
    for (unsigned n = 0; n < 2; n++) {
        q.barrier = policies[n].policy;
        assert_fuses(&q);
        assert_has(fused_text(), policies[n].text);
        ir_module_free(fused.module);
    }
    q.barrier = PASS_BARRIER_NONE;
    assert_fuses(&q);
    assert_lacks(fused_text(), "barrier");
    cr_assert(has_decision("fuse.no-barrier"));
}

Test(fuse, barriers_order_the_bodies) {
    ir_module *m = parse(neighbours);
    const pass_fuse_member members[] = {member(m, "write", "16/4"), member(m, "read", "16/4"),
                                        member(m, "read", "16/4")};
    const pass_identity same[] = {{0, 0, 1, 0}, {1, 1, 2, 0}};
    const pass_fuse_request q = {.name = "f",
                                 .members = members,
                                 .nmembers = 3,
                                 .identities = same,
                                 .nidentities = 2,
                                 .force = true};
    const uint64_t args[][8] = {{1024}, {1024, 2048}, {2048, 3072}};
    assert_fuses(&q);
    cr_assert_eq(count_barriers(), 2, "between two bodies, not after the last");
    cr_assert_eq(ir_term(fused.kernel->last)->op, IR_OP_ret);
    cr_assert_eq(fused.kernel->last->first->op, IR_OP_ret);
    assert_same_result(&q, args);
    assert_optimizes();
    assert_same_result(&q, args);
}

Test(fuse, one_kernel_keeps_its_promises) {
    ir_module *m = parse(add_mul);
    const pass_fuse_member one = member(m, "add", "8");
    assert_fuses(&(pass_fuse_request){.name = "f", .members = &one, .nmembers = 1});
    cr_assert(fused.kernel->param[0].attrs & IR_PARAM_NOALIAS);
    assert_lacks(fused_text(), "barrier");
}

/* Early returns, a loop with two entries, and variables of both bodies. */
static const char tangled[] =
    "kernel @odd(%x: ptr.global, %n: i32) {\nentry:\n" INDEX
    "  %v: ptr.private = alloca [2 x i32] align 4\n  %i32: i32 = trunc %i\n"
    "  %low: i32 = and %i32, 1\n  %c: i1 = eq %low, i32 0\n  br %c, out, go\nout:\n  ret\ngo:\n"
    "  store %i32, %v align 4\n  %p: ptr.global = ptradd %x, %o\n"
    "  %more: i1 = ult %i32, %n\n  br %more, a, b\n"
    "a:\n  %s: i32 = phi [go: 0, b: %t]\n  %s1: i32 = add %s, 3\n  jmp b\n"
    "b:\n  %t: i32 = phi [go: 1, a: %s1]\n  %big: i1 = ult %t, i32 20\n  br %big, a, done\n"
    "done:\n  %w: i32 = load %v align 4\n  %r: i32 = mul %w, %t\n  store %r, %p align 4\n  ret\n}\n"
    "kernel @shift(%x: ptr.global, %y: ptr.global) {\nentry:\n" INDEX
    "  %v: ptr.private = alloca i32 align 4\n  %p: ptr.global = ptradd %x, %o\n"
    "  %q: ptr.global = ptradd %y, %o\n  %a: i32 = load %p align 4\n  store %a, %v align 4\n"
    "  %b: i32 = load %v align 4\n  %r: i32 = lshr %b, 1\n  store %r, %q align 4\n  ret\n}\n";

Test(fuse, tangled_bodies) {
    ir_module *m = parse(tangled);
    const pass_fuse_member members[] = {member(m, "odd", "60/12"), member(m, "shift", "60/12"),
                                        member(m, "odd", "60/12")};
    const pass_identity same[] = {{0, 0, 1, 0}, {2, 0, 1, 1}};
    const pass_fuse_request q = {
        .name = "t", .members = members, .nmembers = 3, .identities = same, .nidentities = 2};
    const uint64_t args[][8] = {{1024, 30}, {1024, 4096}, {4096, 7}};
    assert_fuses(&q);
    cr_assert_eq(fused.args[1].kind, PASS_ARG_VALUE);
    assert_same_result(&q, args);
    assert_optimizes();
    assert_same_result(&q, args);
}

/* Each body owns its copy of a struct by value, also where both are given the same. */
static const char changes_struct[] =
    "kernel @k(%x: ptr.global, %s: ptr.private byval(8) align 4 of {i32, i32}) {\nentry:\n" INDEX
    "  %p: ptr.global = ptradd %x, %o\n  %t: ptr.private = ptradd %s, 4\n"
    "  %a: i32 = load %t align 4\n  %b: i32 = load %p align 4\n  %c: i32 = add %a, %b\n"
    "  store %c, %t align 4\n  store %c, %p align 4\n  ret\n}\n";

Test(fuse, structs_by_value_are_not_shared) {
    ir_module *m = parse(changes_struct);
    const pass_fuse_member members[] = {member(m, "k", "8"), member(m, "k", "8")};
    const pass_identity same[] = {{0, 1, 1, 1}};
    static const int32_t pair[2] = {0, 1000};
    const pass_constant constant = {1, 1, pair, sizeof pair};
    const pass_fuse_request q = {.name = "f",
                                 .members = members,
                                 .nmembers = 2,
                                 .identities = same,
                                 .nidentities = 1,
                                 .constants = &constant,
                                 .nconstants = 1};
    assert_fuses(&q);
    cr_assert_eq(fused.nargs, 3);
    cr_assert_eq(fused.args[1].nparams, 2);
    cr_assert_eq(fused.kernel->nparams, 2);
    items *r = make_items();
    ir_value args[2] = {{.bits = {1024}}, {.bits = {1024}}};
    items_run(r, fused.kernel, args, &fused.range);
    int32_t sum;
    memcpy(&sum, r->memory + 1024, 4);
    cr_assert_eq(r->faults, 0);
    cr_assert_eq(sum, 1024 + 1000 + 1000);
    free_items(r);
}

/* A body that never ends leaves nothing for the next one, but what is built is well-formed. */
Test(fuse, endless_body) {
    ir_module *m = parse("kernel @a(%p: ptr.global) {\ne:\n  jmp l\nl:\n"
                         "  store i32 1, %p align 4\n  jmp l\n}\nkernel @b() {\ne:\n  ret\n}\n");
    const pass_fuse_member members[] = {member(m, "a", "8"), member(m, "b", "8")};
    assert_fuses(&(pass_fuse_request){.name = "f", .members = members, .nmembers = 2});
    assert_optimizes();
    assert_lacks(fused_text(), "barrier");
}

/* --------------------------------------------------------------------------------------- guards */

Test(fuse, guards_by_item) {
    ir_module *m = parse(add_mul);
    const pass_fuse_member members[] = {member(m, "add", "10"), member(m, "mul", "20"),
                                        member(m, "add", "30")};
    const pass_fuse_request q = {.name = "g", .members = members, .nmembers = 3};
    const uint64_t args[][8] = {{1024, 2048, 3072}, {3072, 4096, 5120}, {5120, 6144, 7168}};
    assert_fuses(&q);
    assert_has(fused_text(), "ult %0, i64 10");
    assert_has(fused_text(), "i64 20");
    assert_same_result(&q, args);
}

Test(fuse, guards_with_offset) {
    ir_module *m = parse(add_mul);
    const pass_fuse_member members[] = {member(m, "add", "10+5"), member(m, "mul", "30+5")};
    const pass_fuse_request q = {.name = "g", .members = members, .nmembers = 2};
    const uint64_t args[][8] = {{1024, 2048, 3072}, {3072, 4096, 5120}};
    assert_fuses(&q);
    assert_has(fused_text(), "i64 15");
    assert_same_result(&q, args);
}

/* A group that is inside or outside as a whole may wait, ask for sizes and use local memory. */
static const char reverse[] =
    "@tile: local [16 x i32] align 4\n"
    "kernel @reverse(%x: ptr.global, %s: ptr.global) {\nentry:\n" INDEX
    "  %l: i64 = local_id 0\n  %n: i64 = local_size 0\n  %g: i64 = num_groups 0\n"
    "  %all: i64 = global_size 0\n  %d: i32 = work_dim\n"
    "  %p: ptr.global = ptradd %x, %o\n  %a: i32 = load %p align 4\n  %lo: i64 = shl %l, 2\n"
    "  %t: ptr.local = ptradd @tile, %lo\n  store %a, %t align 4\n"
    "  barrier workgroup workgroup seq_cst local\n"
    "  %m: i64 = sub %n, 1\n  %r: i64 = sub %m, %l\n  %ro: i64 = shl %r, 2\n"
    "  %u: ptr.local = ptradd @tile, %ro\n  %b: i32 = load %u align 4\n  store %b, %p align 4\n"
    "  %q: ptr.global = ptradd %s, %o\n  %g32: i32 = trunc %g\n  %all32: i32 = trunc %all\n"
    "  %e: i32 = mul %g32, %all32\n  %f: i32 = add %e, %d\n  store %f, %q align 4\n  ret\n}\n";

Test(fuse, whole_groups) {
    ir_module *m = parse(reverse);
    const pass_fuse_member members[] = {member(m, "reverse", "64/16"),
                                        member(m, "reverse", "32/16"),
                                        member(m, "reverse", "16,1/16,1")};
    const pass_fuse_request q = {.name = "g", .members = members, .nmembers = 3};
    const uint64_t args[][8] = {{1024, 2048}, {1024, 3072}, {1024, 4096}};
    assert_fuses(&q);
    assert_has(fused_text(), "group_id 0");
    assert_lacks(fused_text(), "global_linear_id");
    assert_same_result(&q, args);
}

Test(fuse, whole_groups_in_two_dimensions) {
    ir_module *m = parse(add_mul);
    const pass_fuse_member members[] = {member(m, "add", "8,8/4,2"), member(m, "mul", "8,4/4,2")};
    const pass_fuse_request q = {.name = "g", .members = members, .nmembers = 2};
    assert_fuses(&q);
    assert_has(fused_text(), "group_id 1");
    assert_has(fused_text(), "i64 2");
}

Test(fuse, partial_groups_are_refused_to_a_body_that_waits) {
    ir_module *m = parse(reverse);
    const pass_fuse_member part[] = {member(m, "reverse", "64/16"), member(m, "reverse", "40")};
    assert_refused(&(pass_fuse_request){.members = part, .nmembers = 2}, "fuse.partial-group",
                   "@reverse uses local_size, but runs on {40}");
    const pass_fuse_member unknown[] = {member(m, "reverse", "64"), member(m, "reverse", "32")};
    assert_refused(&(pass_fuse_request){.members = unknown, .nmembers = 2}, "fuse.partial-group",
                   "@reverse uses");
}

Test(fuse, remapped_members_work_alone) {
    ir_module *m = parse("kernel @k() {\ne:\n barrier workgroup workgroup seq_cst local\n ret\n}\n"
                         "kernel @plain() {\ne:\n ret\n}\n");
    const pass_fuse_member members[] = {member(m, "k", "20"), member(m, "plain", "10,10")};
    assert_refused(&(pass_fuse_request){.members = members, .nmembers = 2}, "fuse.remap-group",
                   "the ids of @k have to be remapped, from {20} to {10,10}, but it works as a "
                   "group: barrier");
}

Test(fuse, prefix_of_another_shape_needs_no_remapping) {
    ir_module *m = parse(add_mul);
    const pass_fuse_member members[] = {member(m, "add", "10"), member(m, "mul", "10,3")};
    const pass_fuse_request q = {.name = "g", .members = members, .nmembers = 2};
    const uint64_t args[][8] = {{1024, 2048, 3072}, {3072, 4096, 5120}};
    assert_fuses(&q);
    assert_same_result(&q, args);
}

/* -------------------------------------------------------------------------------- shared things */

static const char with_table[] =
    "@tab: const [4 x i32] align 4 = {5, 6, 7, 8}\n"
    "@tile: local [16 x i32] align 4\n"
    "kernel @k(%x: ptr.global) {\nentry:\n" INDEX
    "  %w: i64 = and %o, 12\n  %p: ptr.const = ptradd @tab, %w\n  %a: i32 = load %p align 4\n"
    "  %q: ptr.global = ptradd %x, %o\n  %b: i32 = load %q align 4\n  %c: i32 = add %a, %b\n"
    "  %l: i64 = local_id 0\n  %m: i64 = shl %l, 2\n  %t: ptr.local = ptradd @tile, %m\n"
    "  store %c, %t align 4\n  %d: i32 = load %t align 4\n  store %d, %q align 4\n  ret\n}\n";

static unsigned count_globals(const ir_module *m, ir_space space) {
    unsigned n = 0;
    foreach_global (g, m) n += g->space == space;
    return n;
}

Test(fuse, local_variables_are_split_and_constants_shared) {
    ir_module *m = parse(with_table);
    const pass_fuse_member members[] = {member(m, "k", "32/16"), member(m, "k", "32/16"),
                                        member(m, "k", "32/16")};
    const pass_fuse_request q = {.name = "f", .members = members, .nmembers = 3};
    const uint64_t args[][8] = {{1024}, {1024}, {2048}};
    assert_fuses(&q);
    cr_assert_eq(count_globals(fused.module, IR_LOCAL), 3);
    cr_assert_eq(count_globals(fused.module, IR_CONST), 1);
    assert_same_result(&q, args);
}

Test(fuse, into_the_module_of_the_kernels) {
    ir_module *m = parse(with_table);
    const pass_fuse_member members[] = {member(m, "k", "32/16"), member(m, "k", "32/16")};
    pass_fuse_request q = {.name = "f", .members = members, .nmembers = 2, .into = m};
    const uint64_t args[][8] = {{1024}, {2048}};
    assert_fuses(&q);
    cr_assert_eq(fused.module, m);
    cr_assert_eq(count_globals(m, IR_LOCAL), 2);
    cr_assert_eq(count_globals(m, IR_CONST), 1);
    assert_same_result(&q, args);
    fused.module = NULL;
    q.name = "k";
    assert_error(&q, "there is already a @k in ");
}

Test(fuse, variables_of_the_program_stay_with_it) {
    ir_module *m = parse("@count: global i32 align 4\nkernel @k() {\ne:\n"
                         "  store i32 1, @count align 4\n  ret\n}\n");
    const pass_fuse_member one = member(m, "k", "4");
    pass_fuse_request q = {.name = "f", .members = &one, .nmembers = 1};
    assert_refused(&q, "fuse.program-variable", "@k uses @count");
    q.into = m;
    assert_fuses(&q);
    cr_assert_eq(count_globals(m, IR_GLOBAL), 1);
    fused.module = NULL;
}

Test(fuse, kernels_of_several_modules) {
    ir_module *m = parse(with_table), *n = parse(add_mul), *o = parse(with_table);
    const pass_fuse_member members[] = {member(m, "k", "32/16"), member(n, "add", "32/16"),
                                        member(o, "k", "32/16")};
    const pass_fuse_request q = {.name = "f", .members = members, .nmembers = 3};
    const uint64_t args[][8] = {{1024}, {1024, 2048, 3072}, {3072}};
    assert_fuses(&q);
    cr_assert_str_eq(fused.args[4].name, "k_x_1", "the same name from another module");
    assert_same_result(&q, args);
    cr_assert_eq(count_globals(fused.module, IR_LOCAL), 2);
}

/* ----------------------------------------------------------------------------------- parameters */

static const char kinds[] =
    "kernel @k(%0: ptr.global readonly, %n: i32, %f: f32, %l: ptr.local, %s: sampler,"
    " %im: image(void, 1, 0, 0, 0, 0, 0, 0), %c: ptr.const) {\ne:\n  %a: i32 = load %0 align 4\n  "
    "ret\n}\n"
    "kernel @w(%p: ptr.global, %q: ptr.global readonly) {\ne:\n  store i32 1, %p align 4\n"
    "  %a: i32 = load %q align 4\n  ret\n}\n"
    "kernel @u(%p: ptr.global) {\ne:\n  ret\n}\n";

Test(fuse, kinds_and_names_of_arguments) {
    ir_module *m = parse(kinds);
    const pass_fuse_member members[] = {member(m, "k", "4"), member(m, "w", "4")};
    const pass_fuse_request q = {.name = "f", .members = members, .nmembers = 2};
    static const pass_arg_kind want[] = {PASS_ARG_BUFFER, PASS_ARG_VALUE,   PASS_ARG_VALUE,
                                         PASS_ARG_LOCAL,  PASS_ARG_SAMPLER, PASS_ARG_IMAGE,
                                         PASS_ARG_BUFFER, PASS_ARG_BUFFER};
    assert_fuses(&q);
    cr_assert_str_eq(fused.args[0].name, "k_arg0");
    cr_assert_str_eq(fused.args[3].name, "k_l");
    for (unsigned a = 0; a < 8; a++) cr_assert_eq(fused.args[a].kind, want[a], "argument %u", a);
}

Test(fuse, barriers_order_images_where_there_are_some) {
    ir_module *m = parse(kinds), *n = parse(neighbours);
    const pass_fuse_member members[] = {member(n, "write", "4"), member(n, "read", "4"),
                                        member(m, "k", "4")};
    const pass_identity same[] = {{0, 0, 1, 0}};
    const pass_fuse_request q = {.name = "f",
                                 .members = members,
                                 .nmembers = 3,
                                 .identities = same,
                                 .nidentities = 1,
                                 .force = true};
    assert_fuses(&q);
    assert_has(fused_text(), "seq_cst local global image\n");
}

Test(fuse, access_facts_hold_for_all_that_use_it) {
    ir_module *m = parse(kinds);
    const pass_fuse_member members[] = {member(m, "k", "1"), member(m, "w", "1"),
                                        member(m, "u", "1")};
    const pass_identity reads[] = {{0, 0, 1, 1}, {0, 0, 2, 0}}, writes[] = {{0, 0, 1, 0}};
    pass_fuse_request q = {
        .name = "f", .members = members, .nmembers = 3, .identities = reads, .nidentities = 2};
    assert_fuses(&q);
    cr_assert(fused.kernel->param[0].attrs & IR_PARAM_READONLY, "unused does not write");
    ir_module_free(fused.module);
    q.identities = writes;
    q.nidentities = 1;
    assert_fuses(&q);
    cr_assert_not(fused.kernel->param[0].attrs & IR_PARAM_READONLY);
}

Test(fuse, identities_must_agree) {
    ir_module *m = parse(kinds);
    const pass_fuse_member members[] = {member(m, "k", "4"), member(m, "w", "4")};
    static const struct {
        pass_identity same;
        const char *error;
    } wrong[] = {{{0, 1, 1, 0},
                  "parameters declared identical differ in type: @k parameter 1 n (i32), "
                  "@w parameter 0 p (ptr.global)"},
                 {{0, 3, 1, 0},
                  "parameters declared identical differ in type: @k parameter 3 l (ptr.local)"},
                 {{0, 1, 0, 2},
                  "parameters declared identical differ in type: @k parameter 1 n (i32), "
                  "@k parameter 2 f (f32)"},
                 {{0, 7, 1, 0}, "identity (0, 7) = (1, 0) names a parameter that does not exist"},
                 {{0, 0, 2, 0}, "identity (0, 0) = (2, 0) names"}};
    for (unsigned n = 0; n < sizeof wrong / sizeof *wrong; n++) {
        message[0] = 0;
        assert_error(
            &(pass_fuse_request){
                .members = members, .nmembers = 2, .identities = &wrong[n].same, .nidentities = 1},
            wrong[n].error);
    }
}

Test(fuse, unused_arguments_are_dropped_after_optimization) {
    ir_module *m = parse(kinds);
    const pass_fuse_member members[] = {member(m, "k", "4"), member(m, "w", "4")};
    assert_fuses(&(pass_fuse_request){.name = "f", .members = members, .nmembers = 2});
    assert_optimizes();
    cr_assert_eq(fused.kernel->nparams, 1, "only the store is left");
    for (unsigned a = 0; a < fused.nargs; a++) {
        bool used = fused.args[a].member == 1 && fused.args[a].param == 0;
        cr_assert_eq(fused.args[a].state, used ? PASS_ARG_USED : PASS_ARG_UNUSED);
        cr_assert_eq(fused.args[a].index, used ? 0 : PASS_NO_PARAM);
    }
    pass_fuse_trim(&fused);
    cr_assert_eq(fused.kernel->nparams, 1, "trimming twice is harmless");
}

/* ------------------------------------------------------------------------------------ constants */

static const char constants[] =
    "kernel @k(%x: ptr.global, %a: i32, %v: v3i16, %f: f64,"
    " %s: ptr.private byval(16) align 8 of {i8, i32, [2 x i16], ptr.global}) {\nentry:\n" INDEX
    "  %p: ptr.global = ptradd %x, %o\n"
    "  %w: i16 = extract %v, i32 2\n  %w32: i32 = zext %w\n  %g: i32 = fptosi %f\n"
    "  %s1: ptr.private = ptradd %s, 4\n  %s2: ptr.private = ptradd %s, 10\n"
    "  %b: i8 = load %s align 1\n  %c: i32 = load %s1 align 4\n  %d: i16 = load %s2 align 2\n"
    "  %b32: i32 = zext %b\n  %d32: i32 = zext %d\n"
    "  store i8 0, %s align 1\n"
    "  %r0: i32 = add %a, %w32\n  %r1: i32 = add %r0, %g\n  %r2: i32 = add %r1, %b32\n"
    "  %r3: i32 = add %r2, %c\n  %r4: i32 = add %r3, %d32\n  store %r4, %p align 4\n  ret\n}\n";

static const int32_t number = 1000;
static const uint16_t three_lanes[4] = {1, 2, 300, 9999};
static const double seven = 7.0;
static const uint8_t bytes[24] = {1, 0xff, 0xff, 0xff, 0x40, 0x42, 0x0f, 0, 5, 0, 0x10, 0x27};

Test(fuse, constants_are_folded) {
    ir_module *m = parse(constants);
    ((ir_func *)(uintptr_t)ir_func_find(m, "k"))->param[4].byval_size = 24;
    const pass_fuse_member members[] = {member(m, "k", "8"), member(m, "k", "8")};
    const pass_constant given[] = {
        {0, 1, &number, 4}, {0, 2, three_lanes, 8}, {0, 3, &seven, 8},
        {0, 4, bytes, 24},  {1, 1, &number, 4},     {1, 2, three_lanes, 8},
        {1, 3, &seven, 8},  {1, 4, bytes, 24},      {1, 4, bytes, 24}};
    const pass_fuse_request q = {
        .name = "f", .members = members, .nmembers = 2, .constants = given, .nconstants = 9};
    assert_fuses(&q);
    cr_assert_eq(fused.kernel->nparams, 2);
    cr_assert_eq(fused.args[4].state, PASS_ARG_FOLDED);
    cr_assert_eq(fused.args[5].index, 1);
    items *r = make_items();
    ir_value args[2] = {{.bits = {1024}}, {.bits = {2048}}};
    items_run(r, fused.kernel, args, &fused.range);
    int32_t sum;
    memcpy(&sum, r->memory + 2048 + 4 * 7, 4);
    cr_assert_eq(r->faults, 0);
    cr_assert_eq(sum, 1000 + 300 + 7 + 1 + 1000000 + 10000);
    free_items(r);
}

Test(fuse, constants_of_the_wrong_kind) {
    ir_module *m = parse(constants);
    const pass_fuse_member members[] = {member(m, "k", "8"), member(m, "k", "8")};
    const pass_identity same = {0, 1, 1, 1};
    static const int32_t other = 1001;
    static const struct {
        pass_constant given[2];
        const char *error;
    } wrong[] = {
        {{{0, 1, bytes, 8}}, "@f: parameter 1 k_a takes 4 bytes, the constant has 8"},
        {{{0, 2, bytes, 6}}, "@f: parameter 2 k_v takes 8 bytes, the constant has 6"},
        {{{0, 4, bytes, 12}}, "@f: parameter 4 k_s takes 16 bytes, the constant has 12"},
        {{{0, 0, bytes, 8}}, "@f: parameter 0 k_x is not passed by value"},
        {{{0, 5, bytes, 8}}, "constant for (0, 5), which does not exist"},
        {{{0, 1, &number, 4}, {1, 1, &other, 4}}, "argument k_a is given two different constants"}};
    for (unsigned n = 0; n < sizeof wrong / sizeof *wrong; n++) {
        message[0] = 0;
        assert_error(&(pass_fuse_request){.name = "f",
                                          .members = members,
                                          .nmembers = 2,
                                          .identities = &same,
                                          .nidentities = 1,
                                          .constants = wrong[n].given,
                                          .nconstants = wrong[n].given[1].bytes ? 2 : 1},
                     wrong[n].error);
    }
}

/* ----------------------------------------------------------------------------------- attributes */

static ir_func *mutable_kernel(ir_module *m, const char *name) { return ir_func_find(m, name); }

Test(fuse, attributes_merge) {
    ir_module *m = parse(three);
    ir_func *a = mutable_kernel(m, "a"), *b = mutable_kernel(m, "b");
    const pass_fuse_member members[] = {member(m, "a", "8"), member(m, "b", "8")};
    const pass_fuse_request q = {.name = "f", .members = members, .nmembers = 2};
    a->attrs = (ir_kernel_attrs){.local_size = {4, 1, 1}, .hint = {8, 1, 1}, .subgroup_size = 4};
    b->attrs = (ir_kernel_attrs){.hint = {4, 1, 1}, .has_vec_hint = true, .vec_hint = 3};
    b->flags |= IR_FUNC_CONTRACTION_OFF;
    assert_fuses(&q);
    const ir_kernel_attrs *merged = &fused.kernel->attrs;
    cr_assert_eq(merged->local_size[0], 4);
    cr_assert(fused.range.has_local && fused.range.local[0] == 4, "required is explicit");
    cr_assert_eq(merged->hint[0], 0, "different hints are dropped");
    cr_assert(has_decision("fuse.hint"));
    cr_assert_eq(merged->vec_hint, 3);
    cr_assert_eq(merged->subgroup_size, 4);
    cr_assert(fused.kernel->flags & IR_FUNC_CONTRACTION_OFF);
}

Test(fuse, attributes_that_contradict) {
    ir_module *m = parse(three);
    ir_func *a = mutable_kernel(m, "a"), *b = mutable_kernel(m, "b");
    const pass_fuse_member members[] = {member(m, "a", "8"), member(m, "b", "8")};
    const pass_fuse_request q = {.name = "f", .members = members, .nmembers = 2};
    a->attrs.local_size[0] = a->attrs.local_size[1] = a->attrs.local_size[2] = 1;
    b->attrs = a->attrs;
    b->attrs.local_size[0] = 2;
    assert_error(&q, "required work-group sizes differ: @b 2,1,1, before it 1,1,1");
    message[0] = 0;
    a->attrs = b->attrs = (ir_kernel_attrs){.subgroup_size = 8};
    b->attrs.subgroup_size = 16;
    assert_error(&q, "required sub-group sizes differ: @b 16, before it 8");
    message[0] = 0;
    a->attrs = b->attrs = (ir_kernel_attrs){0};
    b->attrs.float_controls[1] = IR_FC_DENORM_FLUSH;
    assert_error(&q, "float controls of f32 differ: @a, @b");
    message[0] = 0;
    a->attrs = b->attrs = (ir_kernel_attrs){.local_size = {4, 2, 1}};
    assert_error(&q, "@a requires work-groups of 4,2,1: {8}");
}

Test(fuse, what_cannot_be_a_member) {
    ir_module *m = parse("func @f() {\ne:\n  ret\n}\nkernel @k() refused \"it has a pipe\"\n");
    ir_module *n = parse("target 32\nkernel @a() {\ne:\n  ret\n}\n"), *o = parse(three);
    const pass_fuse_member func = member(m, "f", "8"), empty = member(m, "k", "8");
    const pass_fuse_member mixed[] = {member(o, "a", "8"), member(n, "a", "8")};
    assert_error(&(pass_fuse_request){.members = &func, .nmembers = 1}, "@f is not a kernel");
    message[0] = 0;
    assert_error(&(pass_fuse_request){.members = &empty, .nmembers = 1},
                 "@k has no body: it has a pipe");
    message[0] = 0;
    assert_error(&(pass_fuse_request){.members = mixed, .nmembers = 2},
                 "@a has pointers of 32 bits, the fused kernel of 64");
    message[0] = 0;
    const pass_fuse_member large = member(n, "a", "4294967296");
    assert_error(&(pass_fuse_request){.members = &large, .nmembers = 1},
                 "too many work-items for 32-bit ids");
}

/* ---------------------------------------------------------------------------------------- calls */

static const char calls[] =
    "func @twice(%x: i32): i32 {\ne:\n  %r: i32 = add %x, %x\n  ret %r\n}\n"
    "kernel @k(%x: ptr.global) {\nentry:\n" INDEX
    "  %p: ptr.global = ptradd %x, %o\n  %a: i32 = load %p align 4\n"
    "  %b: i32 = call @twice(%a)\n  store %b, %p align 4\n  ret\n}\n"
    "func @elsewhere(%x: i32): i32 import\n"
    "kernel @open(%x: ptr.global) {\nentry:\n  %b: i32 = call @elsewhere(i32 3)\n"
    "  store %b, %x align 4\n  ret\n}\n";

Test(fuse, calls_are_inlined_first) {
    ir_module *m = parse(calls);
    const pass_fuse_member members[] = {member(m, "k", "16/4"), member(m, "k", "16/4")};
    const pass_fuse_request q = {.name = "f", .members = members, .nmembers = 2};
    const uint64_t args[][8] = {{1024}, {1024}};
    assert_fuses(&q);
    assert_lacks(fused_text(), "call");
    assert_same_result(&q, args);
    cr_assert(mutable_kernel(m, "twice"), "the members stay as they were");
}

Test(fuse, calls_without_body_are_refused) {
    ir_module *m = parse(calls);
    const pass_fuse_member one = member(m, "open", "4");
    assert_refused(&(pass_fuse_request){.name = "f", .members = &one, .nmembers = 1}, "fuse.call",
                   "the calls of @open cannot be inlined: ");
}

/* ------------------------------------------------------------------ determinism, lack of memory */

Test(fuse, same_request_same_text) {
    ir_module *m = parse(with_table);
    const pass_fuse_member members[] = {member(m, "k", "32/16"), member(m, "k", "16/16")};
    const pass_fuse_request q = {.name = "f", .members = members, .nmembers = 2};
    assert_fuses(&q);
    const char *first = fused_text();
    ir_module_free(fused.module);
    assert_fuses(&q);
    cr_assert_str_eq(first, fused_text());
}

Test(fuse, every_lack_of_memory_is_a_status) {
    ir_module *m = parse(tangled);
    const pass_fuse_member members[] = {member(m, "odd", "64/16"), member(m, "shift", "32/16")};
    const pass_fuse_request q = {.name = "f", .members = members, .nmembers = 2};
    size_t before = cx.used;
    unsigned failures = 0;
    for (size_t extra = 1;; extra += 8192) {
        cx.limit = before + extra;
        ir_arena out;
        ir_arena_init(&out, &cx);
        bool ok = pass_fuse(&cx, &q, &out, &fused);
        ir_module_free(fused.module);
        fused.module = NULL;
        ir_arena_free(&out);
        cr_assert_eq(cx.used, before);
        if (ok) break;
        failures++;
        cr_assert_eq(cx.status, IR_ERR_MEMORY);
    }
    cr_assert_gt(failures, 2);
}
