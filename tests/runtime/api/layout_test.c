/* layout_test.c — declarations of structs by value, as C structs and as text: what kernels are then,
 * what spvf_closure_arguments gives, and how each error is told. */
#include "runtime/spvfuse.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const char accessors[] =
    "target 64\n"
    "struct \"accessor\" = {ptr.global, i64}\n"
    "func @begin(%self: ptr.private, %data: ptr.global, %first: i64) export {\n"
    "entry:\n"
    "  store %data, %self align 8\n"
    "  %f0: ptr.private = ptradd %self, 8\n"
    "  store %first, %f0 align 8\n"
    "  ret\n"
    "}\n"
    "func @finish(%self: ptr.private) export {\n"
    "entry:\n"
    "  ret\n"
    "}\n"
    "kernel @k(%n: i32, %s: ptr.private byval(40) align 8 of {i32, {ptr.global, i64}, "
    "{ptr.global, i64}}, %e: ptr.private byval(1) align 1 of {i8}, %q: ptr.global) {\n"
    "entry:\n"
    "  %0: ptr.private = ptradd %s, 8\n"
    "  %p: ptr.global = load %0 align 8\n"
    "  %x: i32 = load %s align 4\n"
    "  store %x, %p align 4\n"
    "  %1: ptr.private = ptradd %s, 24\n"
    "  %r: ptr.global = load %1 align 8\n"
    "  %y: i32 = load %r align 4\n"
    "  store %y, %q align 4\n"
    "  ret\n"
    "}\n";

static const spvf_layout_special accessor = {"accessor", "begin", "finish"};
static const spvf_layout types = {.size = sizeof types, .specials = &accessor, .special_count = 1};

static char messages[1000], name[40];

static void keep_message(void *user, const spvf_message *m) {
    (void)user;
    size_t n = strlen(messages);
    snprintf(messages + n, sizeof messages - n, "%s\n", m->formatted);
    snprintf(name, sizeof name, "%s", m->name ? m->name : "");
}

static spvf_context *context;

static void set_up(void) {
    const spvf_context_options o = {.size = sizeof o, .message = keep_message};
    cr_assert_eq(spvf_context_create(&o, &context), SPVF_OK);
}

static void tear_down(void) { spvf_context_destroy(context); }

TestSuite(layout, .init = set_up, .fini = tear_down);

static spvf_status load(const char *text, const spvf_layout *layout, spvf_module **out) {
    const spvf_module_options o = {.size = sizeof o, .layout = layout};
    messages[0] = name[0] = 0;
    return spvf_module_load(context, "k", text, strlen(text), &o, out);
}

static spvf_module *load_right(const char *text, const spvf_layout *layout) {
    spvf_module *m;
    cr_assert_eq(load(text, layout, &m), SPVF_OK, "%s", messages);
    return m;
}

/* ----------------------------------------------------------------------------------- reflection */

typedef struct {
    const char *name;
    spvf_arg_kind kind;
    uint64_t size;
    uint32_t closure;
    int offset; /* -1: no member */
    uint32_t special, special_arg;
    spvf_arg_access access;
    bool used;
} wanted;

static void expect_arg(const spvf_arg_info *a, const wanted *w) {
    cr_expect_str_eq(a->name, w->name);
    cr_expect(a->kind == w->kind && a->size == w->size, "%s", w->name);
    cr_expect_eq(a->closure, w->closure, "%s", w->name);
    cr_expect_eq(a->member, w->offset >= 0, "%s", w->name);
    if (a->member) cr_expect_eq(a->offset, (uint64_t)w->offset, "%s", w->name);
    cr_expect(a->special == w->special && a->special_arg == w->special_arg, "%s", w->name);
    cr_expect_eq(a->access, w->access, "%s: %d", w->name, (int)a->access);
    cr_expect_eq(a->used, w->used, "%s", w->name);
}

static void expect_args(const spvf_kernel_info *k, const wanted *w, size_t n) {
    cr_assert_eq(k->arg_count, n, "%zu", k->arg_count);
    for (size_t i = 0; i < n; i++) expect_arg(k->args[i], &w[i]);
    cr_expect_eq(k->host_arg_count, 4);
}

Test(layout, each_parameter_says_what_it_is) {
    static const wanted all[] = {
        {"n", SPVF_ARG_VALUE, 4, 0, -1, 0, 0, SPVF_ACCESS_NONE, false},
        {"s.0", SPVF_ARG_VALUE, 4, 1, 0, 0, 0, SPVF_ACCESS_NONE, true},
        {"s.8.data", SPVF_ARG_BUFFER, 0, 1, 8, 1, 0, SPVF_ACCESS_WRITE, true},
        {"s.8.first", SPVF_ARG_VALUE, 8, 1, 8, 1, 1, SPVF_ACCESS_NONE, false},
        {"s.24.data", SPVF_ARG_BUFFER, 0, 1, 24, 2, 0, SPVF_ACCESS_READ, true},
        {"s.24.first", SPVF_ARG_VALUE, 8, 1, 24, 2, 1, SPVF_ACCESS_NONE, false},
        {"e", SPVF_ARG_VALUE, 1, 2, -1, 0, 0, SPVF_ACCESS_NONE, false},
        {"q", SPVF_ARG_BUFFER, 0, 3, -1, 0, 0, SPVF_ACCESS_WRITE, true}};
    spvf_module *m = load_right(accessors, &types);
    cr_expect_eq(spvf_module_kernel(m, 0)->arg_count, 9, "with padding");
    cr_assert_eq(spvf_module_optimize(m, NULL), SPVF_OK);
    expect_args(spvf_module_kernel(m, 0), all, 8);
    spvf_module_destroy(m);
}

/* With a struct that is described to be empty, so that all of it is dropped. */
Test(layout, a_mask_says_what_was_dropped) {
    static const wanted left[] = {
        {"n", SPVF_ARG_VALUE, 4, 0, -1, 0, 0, SPVF_ACCESS_NONE, false},
        {"s.0", SPVF_ARG_VALUE, 4, 1, 0, 0, 0, SPVF_ACCESS_NONE, true},
        {"s.8.data", SPVF_ARG_BUFFER, 0, 1, 8, 1, 0, SPVF_ACCESS_WRITE, true},
        {"s.24.data", SPVF_ARG_BUFFER, 0, 1, 24, 2, 0, SPVF_ACCESS_READ, true},
        {"q", SPVF_ARG_BUFFER, 0, 3, -1, 0, 0, SPVF_ACCESS_WRITE, true}};
    const spvf_layout_closure empty = {.kernel = "k", .arg = 2, .size = 1};
    spvf_layout l = types;
    l.drop_unused = true;
    l.closures = &empty;
    l.closure_count = 1;
    spvf_module *m = load_right(accessors, &l);
    const spvf_kernel_info *k = spvf_module_kernel(m, 0);
    cr_expect(k->all_arg_count == 9 && k->arg_mask[0] == 0x1ff, "%llx",
              (unsigned long long)k->arg_mask[0]);
    cr_assert_eq(spvf_module_optimize(m, NULL), SPVF_OK);
    k = spvf_module_kernel(m, 0);
    expect_args(k, left, 5);
    /* n, s.0, padding, two and two of the specials, padding of e, q */
    cr_expect_eq(k->all_arg_count, 9);
    cr_expect_eq(k->arg_mask[0], 0x12b, "%llx", (unsigned long long)k->arg_mask[0]);
    spvf_module_destroy(m);
}

/* A struct by value, with nothing to take apart. */
Test(layout, kernels_that_stay_have_the_arguments_of_the_host) {
    static const char text[] = "target 64\n"
                               "kernel @k(%s: ptr.private byval(8) align 4 of {i32, i32}) {\n"
                               "entry:\n"
                               "  ret\n"
                               "}\n";
    const spvf_layout nothing = {.size = sizeof nothing};
    spvf_module *m = load_right(text, &nothing);
    const spvf_kernel_info *k = spvf_module_kernel(m, 0);
    cr_expect(k->args == k->host_args && k->arg_count == 1);
    cr_expect(k->all_arg_count == 1 && k->arg_mask[0] == 1);
    spvf_module_destroy(m);
}

Test(layout, by_value_the_struct_remains) {
    static const wanted all[] = {
        {"n", SPVF_ARG_VALUE, 4, 0, -1, 0, 0, SPVF_ACCESS_NONE, false},
        {"s", SPVF_ARG_VALUE, 40, 1, -1, 0, 0, SPVF_ACCESS_NONE, true},
        {"s.8.data", SPVF_ARG_BUFFER, 0, 1, 8, 1, 0, SPVF_ACCESS_WRITE, true},
        {"s.8.first", SPVF_ARG_VALUE, 8, 1, 8, 1, 1, SPVF_ACCESS_NONE, false},
        {"s.24.data", SPVF_ARG_BUFFER, 0, 1, 24, 2, 0, SPVF_ACCESS_READ, true},
        {"s.24.first", SPVF_ARG_VALUE, 8, 1, 24, 2, 1, SPVF_ACCESS_NONE, false},
        {"e", SPVF_ARG_VALUE, 1, 2, -1, 0, 0, SPVF_ACCESS_NONE, false},
        {"q", SPVF_ARG_BUFFER, 0, 3, -1, 0, 0, SPVF_ACCESS_WRITE, true}};
    spvf_layout l = types;
    l.convention = SPVF_BY_VALUE;
    spvf_module *m = load_right(accessors, &l);
    cr_assert_eq(spvf_module_optimize(m, NULL), SPVF_OK);
    expect_args(spvf_module_kernel(m, 0), all, 8);
    spvf_module_destroy(m);
}

Test(layout, large_structs_are_in_a_buffer) {
    spvf_layout l = types;
    l.convention = SPVF_BY_VALUE;
    l.spill = true;
    l.parameter_area = 64;
    spvf_module *m = load_right(accessors, &l);
    const spvf_kernel_info *k = spvf_module_kernel(m, 0);
    cr_assert_eq(k->arg_count, 8);
    const spvf_arg_info *a = k->args[1];
    cr_expect(a->spilled && a->member && a->constant && a->kind == SPVF_ARG_BUFFER);
    cr_expect(a->size == 40 && a->closure == 1 && a->offset == 0 && a->align == 8);
    cr_expect(k->args[2]->special == 1 && k->args[7]->closure == 3);
    spvf_module_destroy(m);
}

/* ------------------------------------------------------------------------------------ arguments */

typedef struct {
    const char *bytes;
    const void *set[16], *special[16];
    size_t last;
} given;

static void note_order(given *g, size_t index) {
    cr_expect(index >= g->last);
    g->last = index;
}

static void note_argument(void *user, size_t index, const void *bytes) {
    note_order(user, index);
    ((given *)user)->set[index] = bytes;
}

static void note_special(void *user, size_t index, const void *bytes) {
    note_order(user, index);
    ((given *)user)->special[index] = bytes;
}

Test(layout, specials_are_asked_for) {
    const char bytes[40] = "";
    given g = {.bytes = bytes};
    spvf_module *m = load_right(accessors, &types);
    cr_assert_eq(spvf_module_optimize(m, NULL), SPVF_OK);
    const spvf_kernel_info *k = spvf_module_kernel(m, 0);
    cr_expect_eq(spvf_closure_arguments(k, 1, bytes, 40, note_argument, note_special, &g), SPVF_OK);
    for (size_t n = 0; n < k->arg_count; n++) {
        const spvf_arg_info *a = k->args[n];
        const void *place = a->member ? bytes + a->offset : NULL;
        cr_expect_eq(g.set[n], a->special ? NULL : place, "%zu", n);
        cr_expect_eq(g.special[n], a->special ? place : NULL, "%zu", n);
    }
    cr_expect_eq(spvf_closure_arguments(k, 1, bytes, 40, note_argument, NULL, &g),
                 SPVF_ERROR_ARGUMENT);
    cr_expect_eq(spvf_closure_arguments(k, 2, bytes, 1, note_argument, NULL, &g), SPVF_OK,
                 "no special is in it");
    spvf_module_destroy(m);
}

/* --------------------------------------------------------------------------------- declarations */

/* The same by members, as structs and as text. */
static void expect_equal_modules(spvf_module *a, spvf_module *b) {
    spvf_blob x, y;
    cr_assert_eq(spvf_module_emit(a, "ir", &x), SPVF_OK);
    cr_assert_eq(spvf_module_emit(b, "ir", &y), SPVF_OK);
    cr_expect(x.size == y.size && memcmp(x.data, y.data, x.size) == 0, "%.*s\n%.*s", (int)x.size,
              (char *)x.data, (int)y.size, (char *)y.data);
    spvf_blob_destroy(&x);
    spvf_blob_destroy(&y);
    spvf_module_destroy(a);
    spvf_module_destroy(b);
}

Test(layout, structs_and_text_say_the_same) {
    static const spvf_layout_member members[] = {
        {"flags", 0, NULL, 4, NULL, NULL, true},
        {NULL, 4, "[2 x i16]", 0, NULL, NULL, true},
        {"from", 8, NULL, 16, "begin", "finish", true},
        {"to", 24, NULL, 16, "begin", NULL, false},
    };
    static const spvf_layout_closure closure = {"k", 1, 40, members, 4};
    const spvf_layout structs = {.size = sizeof structs,
                                 .parameter_area = 1000,
                                 .drop_unused = true,
                                 .spill = true,
                                 .closures = &closure,
                                 .closure_count = 1};
    const spvf_layout text = {
        .size = sizeof text,
        .text = "layout drop area 1000 spill ; a comment\n"
                "closure @k 1 size 40 {\n"
                "  0 \"flags\": bytes 4 specialized\n"
                "  4: [2 x i16] specialized\n"
                "  8 \"from\": special 16 init @begin finalize @finish specialized\n"
                "  24 \"to\": special 16 init @begin\n"
                "}\n"};
    spvf_module *m = load_right(accessors, &text);
    const spvf_kernel_info *k = spvf_module_kernel(m, 0);
    for (size_t n = 0; n < k->arg_count; n++) {
        const spvf_arg_info *a = k->args[n];
        const bool marked = a->closure == 1 && a->offset < 24 && a->kind == SPVF_ARG_VALUE;
        cr_expect_eq(a->specialized, marked, "argument %zu", n);
    }
    spvf_module_destroy(m);
    expect_equal_modules(load_right(accessors, &structs), load_right(accessors, &text));
}

/* A text of a module may hold them, too; without `closures` nothing is done with them. */
Test(layout, texts_of_modules_have_declarations) {
    char whole[sizeof accessors + 200];
    snprintf(whole, sizeof whole, "%sspecial \"accessor\" init @begin finalize @finish\n",
             accessors);
    const spvf_module_options closures = {.size = sizeof closures, .closures = true};
    spvf_module *plain, *lowered;
    cr_assert_eq(spvf_module_load(context, "k", whole, strlen(whole), NULL, &plain), SPVF_OK);
    cr_expect_eq(spvf_module_kernel(plain, 0)->arg_count, 4);
    spvf_blob text;
    cr_assert_eq(spvf_module_emit(plain, "ir", &text), SPVF_OK);
    cr_assert_eq(spvf_module_load(context, "k", text.data, text.size, &closures, &lowered),
                 SPVF_OK);
    expect_equal_modules(lowered, load_right(accessors, &types));
    spvf_blob_destroy(&text);
    spvf_module_destroy(plain);
}

/* --------------------------------------------------------------------------------------- errors */

static void expect_refused(const spvf_layout *l, spvf_status status, const char *error,
                           const char *text) {
    spvf_module *m = (spvf_module *)1;
    cr_expect_eq(load(accessors, l, &m), status, "%s: %s", error, messages);
    cr_expect_null(m);
    cr_expect_str_eq(name, error, "%s", messages);
    cr_expect(strstr(messages, text), "%s", messages);
}

static void expect_text_refused(const char *text, const char *error, const char *message) {
    const spvf_layout l = {.size = sizeof l, .text = text, .text_name = "k.layout"};
    expect_refused(&l, SPVF_ERROR_INPUT, error, message);
}

Test(layout, errors_have_names) {
    expect_text_refused("closure @k 1 size 40 { 0: i64 4: i32 }", "overlap",
                        "kernel 'k', parameter 1, byte 4");
    expect_text_refused("closure @k 1 size 39 { 0: i64 }", "layout-mismatch", "40 bytes, not 39");
    expect_text_refused("closure @k 1 size 40 { 0: bytes 16 8: special 16 init @begin }",
                        "special-in-union", "byte 8");
    expect_text_refused("special \"accessor\" init @other", "init-missing", "'other'");
    expect_text_refused("special \"accessor\" init @begin finalize @begin", "init-type", "'begin'");
    expect_text_refused("layout area 41", "area-too-large", "more than 41 bytes");
    expect_text_refused("closure @k 1 size 40 {} closure @k 1 size 40 {}", "name-clash",
                        "described twice");
    expect_text_refused("closure @k 1 size 40 {\n  0 i32\n}", "", "k.layout:2:5: error: expected");
    expect_text_refused("kernel", "", "k.layout:1:1: error: expected 'layout'");
}

Test(layout, foolish_declarations_are_refused) {
    const spvf_layout_special nameless = {NULL, "begin", NULL}, endless = {"accessor", NULL, NULL};
    const spvf_layout_member typo = {.type = "i31"}, behind = {.type = "i32 i32"},
                             far = {.offset = UINT64_C(1) << 33, .bytes = 1};
    spvf_layout l = {.size = 4};
    expect_refused(&l, SPVF_ERROR_ARGUMENT, "", "size is 4");
    l = (spvf_layout){.size = sizeof l, .special_count = 1};
    expect_refused(&l, SPVF_ERROR_ARGUMENT, "", "specials are at NULL");
    l.specials = &nameless;
    expect_refused(&l, SPVF_ERROR_ARGUMENT, "", "the type of a special is NULL");
    l.specials = &endless;
    expect_refused(&l, SPVF_ERROR_ARGUMENT, "", "init is NULL");
    l = (spvf_layout){.size = sizeof l, .closure_count = 1};
    expect_refused(&l, SPVF_ERROR_ARGUMENT, "", "closures are at NULL");
    spvf_layout_closure c = {.size = 40, .arg = 1, .member_count = 1};
    l.closures = &c;
    expect_refused(&l, SPVF_ERROR_ARGUMENT, "", "the kernel of a closure is NULL");
    c.kernel = "k";
    expect_refused(&l, SPVF_ERROR_ARGUMENT, "", "1 members at NULL");
    c.members = &typo;
    expect_refused(&l, SPVF_ERROR_INPUT, "", "expected a type, found 'i31'");
    c.members = &behind;
    expect_refused(&l, SPVF_ERROR_INPUT, "", "expected the end of the type");
    c.members = &far;
    expect_refused(&l, SPVF_ERROR_ARGUMENT, "", "beyond 4 GiB");
    l = (spvf_layout){.size = sizeof l, .convention = (spvf_closure_convention)7};
    expect_refused(&l, SPVF_ERROR_ARGUMENT, "", "no convention 7");
}
