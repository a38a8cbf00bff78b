/* cache_kernel_test.c — kernels in the cache: what their keys depend on, code as bytes and back,
 * and devices that find what others have compiled.
 */
#include "runtime/devices/cpu/cpu.h"
#include "tests/codegen/sample.h"
#include "tests/runtime/bench.h"

#include <dirent.h>

static const char kernels[] = "target 64\n"
                              "@count: global i32 align 4 = 40\n"
                              "@table: const [4 x i32] align 4 constant = {10, 11, 12, 13}\n"
                              "@where: const ptr.const align 8 constant = &@table+4\n"
                              "kernel @k(%p: ptr.global align 4 of i32, %n: i32) hint 8 1 1 {\n"
                              "entry:\n"
                              "  %pair: ptr.private = alloca {i32, i8} align 4\n"
                              "  store %n, %pair align 4\n"
                              "  %i: i32 = global_id 0\n"
                              "  %l: i32 = local_id 0\n"
                              "  %old: i32 = atomic_add @count, %l device relaxed\n"
                              "  %at: ptr.const = load @where align 8\n"
                              "  %t: i32 = load %at align 4\n"
                              "  jmp loop\n"
                              "loop: no_unroll\n"
                              "  %j: i32 = phi [entry: 0, loop: %next]\n"
                              "  %sum: i32 = phi [entry: %t, loop: %more]\n"
                              "  %more: i32 = call @helper(%sum, %pair)\n"
                              "  %next: i32 = add %j, 1 nsw\n"
                              "  %again: i1 = slt %next, i32 7\n"
                              "  br %again, loop, done\n"
                              "done:\n"
                              "  %o: i64 = zext %i\n"
                              "  %b: i64 = shl %o, 2\n"
                              "  %q: ptr.global = ptradd %p, %b inbounds\n"
                              "  store %more, %q align 4\n"
                              "  ret\n"
                              "}\n"
                              "func @helper(%x: i32, %from: ptr.private): i32 {\n"
                              "entry:\n"
                              "  %y: i32 = load %from align 4\n"
                              "  %z: i32 = add %x, %y\n"
                              "  ret %z\n"
                              "}\n"
                              "func @other(%x: i32): i32 {\n"
                              "entry:\n"
                              "  ret %x\n"
                              "}\n";

/* The text with one thing replaced, everywhere. */
static char edited[8192];
static const char *edit(const char *from, const char *to) {
    size_t n = 0, length = strlen(from), places = 0;
    for (const char *s = kernels; *s;) {
        bool here = strncmp(s, from, length) == 0;
        n += (size_t)snprintf(edited + n, sizeof edited - n, "%.*s", here ? (int)strlen(to) : 1,
                              here ? to : s);
        s += here ? length : 1;
        places += here;
    }
    cr_assert_gt(places, 0, "'%s' is there", from);
    return edited;
}

/* ----------------------------------------------------------------------------------------- keys */

static const cg_machine machine = {.name = "one"}, other_machine = {.name = "other"};
static const rt_native_options options = {.shape = {.local = {64, 1, 1}, .whole_groups = true},
                                          .only_blocks = true,
                                          .machine = &machine,
                                          .code.level = 3};

/* The first edge into each block becomes the last. */
static void turn_edges(const ir_func *f) {
    foreach_block (b, f) {
        ir_inst *args[8];
        unsigned n = 0, edge = 0;
        if (b->npred < 2 || b->first->op != IR_OP_phi) continue;
        ir_block *from = b->pred[0];
        while (from->succ[edge] != b) edge++;
        foreach_phi (phi, b) args[n++] = ir_arg(phi, 0);
        ir_redirect_edge(from, edge, b);
        n = 0;
        foreach_phi (phi, b) ir_append_arg(phi, args[n++]);
    }
}

typedef struct {
    ir_arena arena;
    const ir_func *kernel;
    rt_key key;
} key_job;

static void copy_kernel(void *user, ir_module *m) {
    key_job *j = user;
    ir_global_list globals = {0};
    ir_func *copy = ir_import_func(m, j->kernel, j->kernel->name);
    turn_edges(copy);
    cr_expect(ir_verify_module(m));
    j->key = rt_key_of(copy, &options, &j->arena, &globals);
}

static rt_key key_of(const char *text, const rt_native_options *o) {
    ir_global_list globals = {0};
    spvf_context *c = new_context();
    spvf_module *m = load_text(c, text);
    ir_arena arena;
    ir_arena_init(&arena, &c->cx);
    rt_key key = rt_key_of(ir_func_find(m->ir, "k"), o, &arena, &globals);
    ir_arena_free(&arena);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    return key;
}

static bool is_same_key(rt_key a, rt_key b) { return memcmp(&a, &b, sizeof a) == 0; }

/* A copy has its blocks and edges as copying made them. */
Test(cache, how_a_kernel_came_to_be_is_not_in_the_key) {
    spvf_context *c = new_context();
    spvf_module *m = load_text(c, kernels);
    key_job j = {.kernel = ir_func_find(m->ir, "k")};
    ir_arena_init(&j.arena, &c->cx);
    rt_in_new_module(&c->cx, m->ir, copy_kernel, &j);
    cr_expect(is_same_key(j.key, key_of(kernels, &options)));
    ir_arena_free(&j.arena);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
}

Test(cache, names_and_neighbours_are_not_in_the_key) {
    static const struct {
        const char *from, *to;
    } same[] = {{"%sum", "%total"},
                {"@helper", "@h"},
                {"@count", "@c"},
                {"@table", "@a.table"},
                {"loop", "again"},
                {"@count: global", "@unused: global i8 = 1\n@count: global"},
                {"func @other", "func @f() {\nentry:\n  ret\n}\nfunc @more"},
                {"kernel @k(", "kernel @l(%p: ptr.local) {\nentry:\n  ret\n}\nkernel @k("},
                {"align 4 of i32, %n", "align 4 of i32 as \"int*\", %n"}};
    rt_key key = key_of(kernels, &options);
    for (unsigned n = 0; n < sizeof same / sizeof *same; n++)
        cr_expect(is_same_key(key, key_of(edit(same[n].from, same[n].to), &options)), "%s",
                  same[n].to);
}

Test(cache, code_is_in_the_key) {
    static const struct {
        const char *from, *to;
    } other[] = {{"%next, i32 7", "%next, i32 8"},
                 {"= 40", "= 41"},
                 {"13}", "14}"},
                 {"+4\n", "+8\n"},
                 {"const [4 x i32] align 4", "const [4 x i32] align 8"},
                 {"1 nsw", "1 nuw"},
                 {"slt", "ult"},
                 {"{i32, i8}", "{i32, i16}"},
                 {"{i32, i8}", "<{i32, i8}>"},
                 {"[entry: 0, loop: %next]", "[entry: %n, loop: %next]"},
                 {"no_unroll", "unroll"},
                 {"add %x, %y", "sub %x, %y"},
                 {"hint 8 1 1", "local_size 8 1 1"},
                 {"align 4 of", "noalias align 4 of"},
                 {"device relaxed", "workgroup relaxed"},
                 {"global_id 0", "global_id 1"},
                 {"br %again, loop, done", "br %again, done, loop"},
                 {"func @helper(", "func @helper("}};
    rt_key key = key_of(kernels, &options);
    unsigned last = sizeof other / sizeof *other - 1;
    for (unsigned n = 0; n <= last; n++) {
        bool same = is_same_key(key, key_of(edit(other[n].from, other[n].to), &options));
        cr_expect_eq(same, n == last, "%s", other[n].to);
    }
}

Test(cache, launches_and_options_are_in_the_key) {
    enum { OTHERS = 22 };
    rt_native_options o[OTHERS];
    rt_key keys[OTHERS + 1] = {key_of(kernels, &options)};
    for (unsigned n = 0; n < sizeof o / sizeof *o; n++) o[n] = options;
    o[0].shape.local[0] = 32;
    o[1].shape.local[2] = 2;
    o[2].shape.whole_groups = false;
    o[3].shape.no_offset = true;
    o[4].shape.small_ids = true;
    o[5].shape.dims = 1;
    o[6].code.level = 2;
    o[7].code.regalloc.how = CG_REGALLOC_STACK;
    o[8].code.regalloc.seed = 1;
    o[9].machine = &other_machine;
    o[10].shape.inner = 1;
    o[11].code.lanes = 8;
    o[12].keep_calls = true;
    o[13].code.lines = true;
    o[14].shape.apart = true;
    o[15].shape.on_lines = true;
    o[16].shape.streams = true;
    o[17].shape.subgroup = 16;
    o[18].only_blocks = false;
    o[19].code.lanes = 1;
    o[20].shape.short_numbers = true;
    o[21].shape.transposes = true;
    for (unsigned n = 0; n < OTHERS; n++) keys[n + 1] = key_of(kernels, &o[n]);
    for (unsigned n = 0; n <= OTHERS; n++)
        for (unsigned k = 0; k < n; k++)
            cr_expect_not(is_same_key(keys[k], keys[n]), "%u %u", k, n);
}

/* -------------------------------------------------------------------------------------- objects */

typedef void entry(const ir_group_info *g, void *const *args);

static void run_sample(const cg_object *o) {
    _Alignas(IR_LOCAL_ALIGN) static char local[512];
    rt_code code;
    cr_assert_eq(rt_code_load(o, NULL, &code), IR_OK);
    void *at = rt_code_symbol(&code, o, o->kernels.data[0].block);
    entry *run;
    memcpy(&run, &at, sizeof run);
    int32_t out[4] = {0}, value = 1;
    void *args[] = {out, &value, (void *)64};
    ir_group_info g = {.group_id = {1}, .group_end = {4, 1, 1}, .local = local};
    run(&g, args);
    cr_expect_eq(out[3], SAMPLE_BIAS + 6);
    rt_code_unload(&code);
}

Test(cache, an_object_is_what_it_was) {
    ir_ctx cx = {0};
    ir_arena arena;
    ir_arena_init(&arena, &cx);
    ir_text bytes = {.arena = &arena};
    const ir_global_list none = {0};
    cg_object o = {0}, again;
    sample_object(&arena, &o);
    rt_object_write(&o, &none, &bytes);
    cr_assert(rt_object_read((uint8_t *)bytes.data, bytes.n, &none, &arena, &again));
    cr_expect_eq(again.relocs.n, o.relocs.n);
    cr_expect_arr_eq(&again.kernels.data[0].need, &o.kernels.data[0].need, sizeof(ir_group_need));
    cr_expect_eq(again.kernels.data[0].item_steps, o.kernels.data[0].item_steps);
    run_sample(&again);
    ir_arena_free(&arena);
}

/* Without the checksum: what is read back is refused, or lies within its bounds. */
Test(cache, a_damaged_object_is_refused_or_can_be_loaded) {
    ir_ctx cx = {0};
    ir_arena arena;
    ir_arena_init(&arena, &cx);
    ir_text bytes = {.arena = &arena};
    const ir_global_list none = {0};
    cg_object o = {0};
    rt_code code;
    sample_object(&arena, &o);
    rt_object_write(&o, &none, &bytes);
    unsigned refused = 0;
    for (size_t at = 0; at < 8 * bytes.n; at++) {
        uint8_t *copy = malloc(bytes.n);
        memcpy(copy, bytes.data, bytes.n);
        copy[at / 8] ^= (uint8_t)(1u << at % 8);
        bool read = rt_object_read(copy, bytes.n, &none, &arena, &o);
        if (read && rt_code_load(&o, NULL, &code) == IR_OK) rt_code_unload(&code);
        refused += !read;
        free(copy);
    }
    cr_expect_eq(refused, 1197);
    for (size_t n = 0; n < bytes.n; n++)
        cr_expect_not(rt_object_read((uint8_t *)bytes.data, n, &none, &arena, &o));
    ir_arena_free(&arena);
}

/* -------------------------------------------------------------------------------------- devices */

static int compiled;

static void compile(const ir_func *kernel, const rt_native_options *o, ir_arena *arena,
                    cg_object *out) {
    compiled += !o->values; /* which is not kept */
    rt_cpu_compile(kernel, o, arena, out);
}

typedef struct {
    spvf_context *context;
    spvf_module *module;
    spvf_range range;
    int32_t out[16];
    size_t room;       /* run_limited: bytes for a launch */
    spvf_status ended; /* run_limited: how the launch ended */
} job;

typedef struct {
    job *job;
    rt_device *device;
    rt_program *program;
    rt_memory *memory;
} launching;

static void launch_once(void *arg) {
    const launching *l = arg;
    const int32_t n = 3;
    const rt_arg args[] = {rt_memory_arg(l->memory, 0), rt_value_arg(&n, sizeof n)};
    rt_function *f = l->device->driver->find(l->device, l->program, "k");
    rt_device_launch(l->device, &(rt_launch){f, &l->job->range, args, 2, .uneven = false});
}

static void run_job(void *arg) {
    job *j = arg;
    const rt_cpu_options o = {.compile = compile, .cache = true, .eager = true};
    rt_device *d = rt_cpu_open_with(j->context, &o);
    rt_memory *m = d->driver->allocate(d, "p", sizeof j->out, NULL);
    rt_program *p = d->driver->build(d, j->module->ir);
    launching l = {j, d, p, m};
    launch_once(&l);
    launch_once(&l);
    rt_device_read(d, m, 0, j->out, sizeof j->out);
    rt_device_close(d);
}

/* While memory is limited, nothing but the device is to be given back. */
static void run_limited(void *arg) {
    job *j = arg;
    rt_device *d =
        rt_cpu_open_with(j->context, &(rt_cpu_options){.compile = compile, .cache = true});
    rt_memory *m = d->driver->allocate(d, "p", sizeof j->out, NULL);
    rt_program *p = d->driver->build(d, j->module->ir);
    launching l = {j, d, p, m};
    j->context->cx.limit = j->context->cx.used + j->room;
    j->ended = rt_guard(j->context, launch_once, &l);
    j->context->cx.limit = 0;
    rt_device_close(d);
}

/* How often a new device compiled for two launches, with what the kernel should give. */
static int count_compiled(const char *text, uint64_t local, int32_t want) {
    job j = {.context = new_context(), .range = {.dims = 1, .global = {16}, .local = {local}}};
    j.module = load_text(j.context, text);
    compiled = 0;
    cr_assert_eq(rt_guard(j.context, run_job, &j), SPVF_OK, "%s", messages);
    for (unsigned k = 0; k < 16; k++) cr_expect_eq(j.out[k], want, "%d", j.out[k]);
    spvf_module_destroy(j.module);
    spvf_context_destroy(j.context);
    cr_expect_eq(bytes_held, 0);
    return compiled;
}

static void begin(char folder[TEMPORARY_NAME]) {
    cr_assert(enter_temporary_folder(folder));
    setenv("SPVFUSE_CACHE_DIR", folder, 1);
}

static void end(const char *folder) {
    DIR *d = opendir(folder);
    for (const struct dirent *f; (f = readdir(d));) remove(f->d_name);
    closedir(d);
    cr_expect_eq(rmdir(folder), 0);
}

Test(cache, a_device_finds_what_another_compiled) {
    char folder[TEMPORARY_NAME];
    if (rt_cpu_level() == 0) return;
    begin(folder);
    cr_expect_eq(count_compiled(kernels, 8, 11 + 7 * 3), 1);
    cr_expect_eq(count_compiled(kernels, 8, 11 + 7 * 3), 0);
    cr_expect_eq(count_compiled(kernels, 4, 11 + 7 * 3), 1, "another shape");
    cr_expect_eq(count_compiled(edit("13}", "14}"), 8, 11 + 7 * 3), 1, "another constant");
    cr_expect_eq(count_compiled(edit("%next, i32 7", "%next, i32 6"), 8, 11 + 6 * 3), 1,
                 "another bound");
    setenv("SPVFUSE_CACHE_DIR", "/dev/null/none", 1);
    cr_expect_eq(count_compiled(kernels, 8, 11 + 7 * 3), 1, "no folder");
    end(folder);
}

/* And of what is to become one. */
static unsigned count_entries(const char *folder) {
    unsigned n = 0;
    DIR *d = opendir(folder);
    for (const struct dirent *f; (f = readdir(d));) n += strlen(f->d_name) >= RT_NAME_BYTES;
    closedir(d);
    return n;
}

/* The variables of a program are its own, whatever they are called. */
Test(cache, variables_are_bound_by_what_they_are) {
    static const char text[] = "target 64\n"
                               "@a: global i32 align 4 = 0\n"
                               "@b: global i32 align 4 = 5\n"
                               "kernel @k(%p: ptr.global of i32, %n: i32) {\n"
                               "entry:\n"
                               "  %i: i64 = global_id 0\n"
                               "  %b: i64 = shl %i, 2\n"
                               "  %q: ptr.global = ptradd %p, %b\n"
                               "  %x: i32 = load @b align 4\n"
                               "  store %x, %q align 4\n"
                               "  store i32 9, @b align 4\n"
                               "  %y: i32 = load @a align 4\n"
                               "  ret\n"
                               "}\n";
    char folder[TEMPORARY_NAME], renamed[sizeof text];
    if (rt_cpu_level() == 0) return;
    begin(folder);
    for (size_t n = 0; n < sizeof text; n++)
        renamed[n] =
            n && text[n - 1] == '@' && text[n] != 'k' ? (char)('a' + 'b' - text[n]) : text[n];
    cr_expect_eq(count_compiled(text, 16, 9), 1);
    cr_expect_eq(count_compiled(renamed, 16, 9), 0);
    end(folder);
}

/* Whatever fails, no claim is left that others would wait for, and no part of an entry. */
Test(cache, memory_may_be_short) {
    char folder[TEMPORARY_NAME];
    if (rt_cpu_level() == 0) return;
    begin(folder);
    job j = {.context = new_context(), .range = {.dims = 1, .global = {16}, .local = {8}}};
    j.module = load_text(j.context, kernels);
    unsigned failed = 0;
    for (j.room = 0; failed == 0 || j.ended != SPVF_OK; j.room += 8192) {
        cr_assert_eq(rt_guard(j.context, run_limited, &j), SPVF_OK, "%s", messages);
        cr_assert(j.ended == SPVF_OK || j.ended == SPVF_ERROR_MEMORY);
        cr_expect_eq(count_entries(folder), j.ended == SPVF_OK);
        failed += j.ended != SPVF_OK;
    }
    cr_expect_gt(failed, 5);
    spvf_module_destroy(j.module);
    spvf_context_destroy(j.context);
    cr_expect_eq(bytes_held, 0);
    end(folder);
}
