/* fuse_params_test.c — fusion of kernels: parameters, their facts, and constants for them. */
#include "tests/passes/fusion/fusing.h"

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
    static const ir_arg_kind want[] = {IR_ARG_POINTER, IR_ARG_VALUE,   IR_ARG_VALUE,
                                       IR_ARG_LOCAL,   IR_ARG_SAMPLER, IR_ARG_IMAGE,
                                       IR_ARG_POINTER, IR_ARG_POINTER};
    assert_fuses(&q);
    cr_assert_str_eq(fused.args[0].name, "k_arg0");
    cr_assert_str_eq(fused.args[3].name, "k_l");
    for (unsigned a = 0; a < 8; a++) cr_assert_eq(fused.args[a].kind, want[a], "argument %u", a);
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
