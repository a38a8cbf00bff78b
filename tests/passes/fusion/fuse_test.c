/* fuse_test.c — fusion of kernels: the range of several, bodies and what is between them. */
#include "tests/passes/fusion/fusing.h"

/* --------------------------------------------------------------------------------------- ranges */

typedef struct {
    const char *range[3];
    const char *result; /* or, with a ':' in front, how the error begins */
} range_row;

/* What plans cannot say; the rest is in tests/conformance/fusion/ranges.txt. */
static const range_row rows[] = {
    {{"10/4"}, ":work-groups would not be uniform (10 % 4)"},
    {{"0"}, ":empty nd-range"},
    {{"8,8/8,0"}, ":local size 0"},
    {{"4294967296,4294967296"}, ":too many work-items"},
    {{"30,67", "76,55", "64,64"}, "{76,55}"},
};

static void check_row(const range_row *row, const ir_module *m) {
    static const char *const names[] = {"a", "b", "c"};
    pass_fuse_member members[3];
    uint32_t n = 0;
    ir_range r;
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
    cr_assert(!pass_fuse_range(&cx, NULL, 0, &arena, &(ir_range){0}));
    ir_range bad = {.dims = 4};
    cr_assert(!pass_fuse_range(&cx, &(pass_fuse_member){ir_func_find(m, "a"), bad}, 1, &arena,
                               &(ir_range){0}));
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
        ir_range a = parse_range(pairs[n].member), b = parse_range(pairs[n].fused);
        cr_expect_eq(pass_same_ids(&a, &b), pairs[n].same, "%s in %s", pairs[n].member,
                     pairs[n].fused);
    }
}

Test(fuse, nothing) { assert_error(&(pass_fuse_request){.name = "f"}, "nothing to fuse"); }

/* --------------------------------------------------------------------------------------- bodies */

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
        cr_assert_eq(fused.args[a].kind, IR_ARG_POINTER);
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

static const char with_image[] =
    "kernel @k(%im: image(void, 1, 0, 0, 0, 0, 0, 0)) {\ne:\n  ret\n}\n";

Test(fuse, barriers_order_images_where_there_are_some) {
    ir_module *m = parse(with_image), *n = parse(neighbours);
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
    cr_assert_eq(fused.args[1].kind, IR_ARG_VALUE);
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

/* ------------------------------------------------------------------------------- lack of memory */

/* An allocator whose allocation number `fails_at`, counted from 0, fails. */
typedef struct {
    unsigned made, fails_at;
} supply;

static void *supply_block(void *user, size_t bytes) {
    supply *s = user;
    return s->made++ == s->fails_at ? NULL : malloc(bytes);
}

static void release_block(void *user, void *block) {
    (void)user;
    free(block);
}

static bool fuse_and_free(const pass_fuse_request *q) {
    ir_arena out;
    ir_arena_init(&out, &cx);
    bool ok = pass_fuse(&cx, q, &out, &fused);
    ir_module_free(fused.module);
    fused.module = NULL;
    ir_arena_free(&out);
    return ok;
}

/* Every allocation fails in turn: that is a status, nothing is allocated after it, and everything
 * is given back. */
Test(fuse, every_lack_of_memory_is_a_status) {
    ir_module *m = parse(tangled);
    const pass_fuse_member members[] = {member(m, "odd", "64/16"), member(m, "shift", "32/16")};
    const pass_fuse_request q = {.name = "f", .members = members, .nmembers = 2};
    size_t before = cx.used;
    supply all = {.fails_at = UINT32_MAX};
    cx.allocate = supply_block;
    cx.release = release_block;
    cx.alloc_user = &all;
    cr_assert(fuse_and_free(&q));
    cr_assert_geq(all.made, 3, "a module, what the result points to, and scratch memory");
    for (unsigned n = 0; n < all.made; n++) {
        supply some = {.fails_at = n};
        cx.alloc_user = &some;
        cr_assert_not(fuse_and_free(&q), "allocation %u fails", n);
        cr_assert_eq(cx.status, IR_ERR_MEMORY);
        cr_assert_eq(some.made, n + 1);
        cr_assert_eq(cx.used, before);
    }
}
