/* texts_test.c — what the cache keeps of texts in PTX: all that launches need, by all that a text is
 * made of. */
#include "runtime/devices/cuda/cuda.h"
#include "tests/runtime/devices/cuda/cuda_bench.h"

#define WAIT "  barrier device device seq_cst global\n"

/* Kernels of which each fact is true once, with records of printf. */
static const char many[] =
    "target 64\n"
    "@large: local [16384 x i32] align 4\n"
    "kernel @rounds(%x: ptr.global of i32, %y: ptr.global of i32) {\n"
    "entry:\n"
    "  %i: i64 = global_id 0\n"
    "  %o: i64 = shl %i, 2\n"
    "  %p: ptr.global = ptradd %x, %o inbounds\n"
    "  %v: i32 = load %p align 4\n"
    "  store %v, %p align 4\n" WAIT "  %q: ptr.global = ptradd %y, %o inbounds\n"
    "  store %v, %q align 4\n"
    "  ret\n"
    "}\n"
    "kernel @prints(%x: i32) local_size 8 4 2 {\n"
    "entry:\n"
    "  %d: i32 = work_dim\n"
    "  %a: i32 = printf \"%d %d\\n\", %x, %d\n"
    "  %l: i64 = local_id 0\n"
    "  ret\n"
    "}\n"
    "kernel @plain(%x: ptr.global of f32) {\n"
    "entry:\n"
    "  %i: i64 = global_id 0\n"
    "  %o: i64 = shl %i, 2\n"
    "  %p: ptr.global = ptradd %x, %o inbounds\n"
    "  store f32 1.0, %p align 4\n"
    "  store i32 1, @large align 4\n"
    "  ret\n"
    "}\n";

static rt_ptx_options options_of(unsigned facts) {
    return (rt_ptx_options){.code = {.sm = 90,
                                     .offset = true,
                                     .wide = facts & CUDA_WIDE,
                                     .together = facts & CUDA_TOGETHER,
                                     .coarsen = facts & CUDA_COARSE ? CUDA_ITEMS : 0},
                            .parts = facts & CUDA_PARTS,
                            .print = rt_string_limit};
}

typedef struct {
    rt_ptx_options options;
    cuda_text text;
} finding;

static void find_text(void *arg) {
    finding *f = arg;
    f->text = cuda_find_text((cuda *)bench.device, bench.program, &f->options);
}

static cuda_text text_of(rt_ptx_options o) {
    finding f = {.options = o};
    cr_assert(try_to(find_text, &f), "%s", messages);
    return f.text;
}

static void expect_same_kernel(const rt_ptx_kernel *a, const rt_ptx_kernel *b) {
    cr_expect_str_eq(a->name, b->name);
    cr_expect_str_eq(a->entry, b->entry);
    cr_expect(a->waits == b->waits && a->resident == b->resident && a->prints == b->prints);
    cr_expect(!memcmp(&a->phases, &b->phases, sizeof a->phases));
    cr_expect_eq(a->parts, b->parts);
    cr_expect(a->hidden.offset == b->hidden.offset && a->hidden.work_dim == b->hidden.work_dim);
    cr_expect_eq(a->hidden.variables, b->hidden.variables);
    cr_expect_eq(a->observes_groups, b->observes_groups);
    cr_expect(!memcmp(a->local, b->local, sizeof a->local));
    cr_expect(!memcmp(a->coarsened, b->coarsened, sizeof a->coarsened));
}

static void expect_same_print(const pass_print *a, const pass_print *b) {
    cr_expect_str_eq(a->format, b->format);
    cr_assert_eq(a->n, b->n);
    for (uint32_t n = 0; n < a->n; n++) {
        cr_expect_eq(a->operand[n].kind, b->operand[n].kind);
        cr_expect_eq(a->operand[n].lanes, b->operand[n].lanes);
        cr_expect_eq(a->operand[n].bits, b->operand[n].bits);
        cr_expect_eq(a->operand[n].limit, b->operand[n].limit);
    }
}

Test(cuda_texts, all_that_launches_need_is_kept) {
    static const unsigned facts[] = {
        0, CUDA_WIDE, CUDA_PARTS, CUDA_TOGETHER, CUDA_TOGETHER | CUDA_PARTS, CUDA_COARSE};
    open_bench(many);
    for (size_t k = 0; k < sizeof facts / sizeof *facts; k++) {
        const rt_ptx_options o = options_of(facts[k]);
        const cuda_text made = text_of(o), kept = text_of(o);
        cr_assert_not_null(made.ptx.text);
        cr_expect_null(kept.ptx.text);
        cr_expect(!memcmp(made.hash, kept.hash, sizeof made.hash));
        cr_assert_eq(made.ptx.n, facts[k] & CUDA_TOGETHER ? 1 : 3);
        cr_assert_eq(made.ptx.n, kept.ptx.n);
        for (uint32_t n = 0; n < made.ptx.n; n++)
            expect_same_kernel(&made.ptx.kernel[n], &kept.ptx.kernel[n]);
        cr_assert_eq(made.ptx.prints.n, kept.ptx.prints.n);
        for (uint32_t n = 0; n < made.ptx.prints.n; n++)
            expect_same_print(&made.ptx.prints.data[n], &kept.ptx.prints.data[n]);
    }
    close_bench();
    remove_cache_folder();
}

/* ------------------------------------------------------------------------------------------- keys */

#define STORES(name, param, value, store)                                                          \
    "kernel @" name "(%" param ": ptr.global of i32, %k: i32) {\n"                                 \
    "entry:\n"                                                                                     \
    "  %" value ": i64 = global_id 0\n"                                                            \
    "  %o: i64 = shl %" value ", 2\n"                                                              \
    "  %p: ptr.global = ptradd %" param ", %o inbounds\n"                                          \
    "  store " store ", %p align 4\n"                                                              \
    "  ret\n"                                                                                      \
    "}\n"
#define USES(name, global)                                                                         \
    "kernel @" name "(%x: i32) {\n"                                                                \
    "entry:\n"                                                                                     \
    "  store %x, @" global " align 4\n"                                                            \
    "  ret\n"                                                                                      \
    "}\n"
#define VARIABLE(name) "@" name ": global i32 align 4 = 0\n"

static void find_plain(const char *kernels, rt_ptx_options o, bool *known) {
    open_bench(kernels);
    *known = text_of(o).ptx.text == NULL;
    close_bench();
}

/* Are both the same to the cache? */
static bool are_alike(const char *first, const char *second) {
    bool known;
    bench.folder[0] = 0;
    find_plain(first, options_of(0), &known);
    cr_expect_not(known);
    find_plain(second, options_of(0), &known);
    remove_cache_folder();
    return known;
}

Test(cuda_texts, names_of_values_do_not_matter) {
    cr_expect(are_alike("target 64\n" STORES("k", "x", "i", "i32 1"),
                        "target 64\n" STORES("k", "a", "n", "i32 1")));
}

Test(cuda_texts, what_kernels_do_matters) {
    static const char k[] = "target 64\n" STORES("k", "x", "i", "i32 1");
    cr_expect_not(are_alike(k, "target 64\n" STORES("k", "x", "i", "i32 2")));
    cr_expect_not(are_alike(k, "target 64\n" STORES("k", "x", "i", "%k")));
    cr_expect_not(are_alike(k, "target 64\n" STORES("l", "x", "i", "i32 1")));
    cr_expect_not(
        are_alike(k, "target 64\n" STORES("k", "x", "i", "i32 1") STORES("l", "x", "i", "i32 1")));
}

/* Two kernels use one variable, or two that are alike. */
Test(cuda_texts, what_kernels_share_matters) {
    cr_expect_not(are_alike("target 64\n" VARIABLE("v") USES("k", "v") USES("l", "v"),
                            "target 64\n" VARIABLE("v") VARIABLE("w") USES("k", "v")
                                USES("l", "w")));
}

Test(cuda_texts, each_option_matters) {
    static const uint32_t two = 2, three = 3;
    const rt_constant a = {1, 4, &two}, b = {1, 4, &three};
    const rt_ptx_options plain = options_of(0);
    rt_ptx_options o[12];
    for (int n = 0; n < 12; n++) o[n] = plain;
    o[0].code.sm = 80;
    o[1].code.exact = true;
    o[2].code.offset = false;
    o[3].code.wide = true;
    o[4].code.disjoint = true;
    o[5].code.aligned = true;
    o[6].code.dependent = true;
    o[7].code.coarsen = 2;
    o[8].parts = true;
    o[9].only = "k";
    o[10].only = o[11].only = "k";
    o[10].constants = (rt_constants){&a, 1};
    o[11].constants = (rt_constants){&b, 1};
    open_bench("target 64\n" STORES("k", "x", "i", "%k"));
    cr_expect_not_null(text_of(plain).ptx.text);
    for (int n = 0; n < 12; n++) cr_expect_not_null(text_of(o[n]).ptx.text, "%d", n);
    for (int n = 0; n < 12; n++) cr_expect_null(text_of(o[n]).ptx.text, "%d", n);
    close_bench();
    remove_cache_folder();
}

/* ---------------------------------------------------------------------------------------- entries */

typedef struct {
    const uint8_t *bytes;
    size_t size;
    bool ok;
} taking;

static void take(void *arg) {
    taking *t = arg;
    ir_arena arena;
    cuda_text text;
    ir_arena_init(&arena, &bench.context->cx);
    t->ok = cuda_take_text(t->bytes, t->size, &arena, &text);
    ir_arena_free(&arena);
}

static bool can_take(const uint8_t *bytes, size_t size) {
    uint8_t *copy = malloc(size + 1); /* as long as what may be read */
    taking t = {copy, size, false};
    memcpy(copy, bytes, size);
    cr_assert(try_to(take, &t), "%s", messages);
    free(copy);
    return t.ok;
}

/* No part of an entry is one, nor is one with more; other bytes are read, or are not. */
Test(cuda_texts, entries_are_not_trusted) {
    static const uint8_t values[] = {0, 1, 0x7f, 0xff};
    open_bench(many);
    const cuda_text made = text_of(options_of(0));
    ir_text entry = {.arena = &bench.program->arena};
    cuda_put_text(&made, &entry);
    uint8_t *bytes = (uint8_t *)entry.data;
    cr_expect(can_take(bytes, entry.n));
    for (size_t n = 0; n < entry.n; n++) cr_expect_not(can_take(bytes, n), "%zu", n);
    for (size_t n = 0; n < entry.n; n++) {
        const uint8_t before = bytes[n];
        for (size_t k = 0; k < sizeof values; k++) {
            bytes[n] = values[k];
            can_take(bytes, entry.n);
        }
        bytes[n] = before;
    }
    ir_putn(&entry, "", 1);
    cr_expect_not(can_take((uint8_t *)entry.data, entry.n));
    close_bench();
    remove_cache_folder();
}

static void remove_code(void) {
    char command[TEMPORARY_NAME + 80];
    snprintf(command, sizeof command, "ls -S '%s'/* | head -n 1 | xargs rm", bench.folder);
    cr_assert_eq(system(command), 0);
}

/* The text is written again if its code is not there. */
Test(cuda_texts, the_code_may_be_gone) {
    for (int k = 0; k < 2; k++) {
        open_bench(many);
        find("plain");
        close_bench();
        if (!k) remove_code();
    }
    cr_expect_eq(fake_cuda_count("cuLinkAddData_v2"), 2);
    remove_cache_folder();
}

static unsigned dumped;

static void count_dump(void *user, const char *pass, const char *text) {
    (void)user;
    (void)pass;
    dumped += *text != 0;
}

/* Code from the cache is not taken if the context is to show what passes do. */
Test(cuda_texts, passes_run_if_they_are_inspected) {
    const spvf_pass_options shown = {.size = sizeof shown, .dump_after = "*", .dump = count_dump};
    open_bench(many);
    find("plain");
    close_bench();
    open_bench(many);
    cr_assert_eq(spvf_context_inspect(bench.context, &shown), SPVF_OK, "%s", messages);
    find("plain");
    close_bench();
    cr_expect_gt(dumped, 0);
    cr_expect_eq(fake_cuda_count("cuLinkAddData_v2"), 1);
    remove_cache_folder();
}
