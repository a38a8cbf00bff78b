/* images_test.c — objects of a container as the first code of kernels on device cpu: a first launch
 * compiles nothing; code that does not belong to the module or does not suit the device is not run.
 */
#include "runtime/devices/cpu/cpu.h"
#include "runtime/queue/objects.h"
#include "runtime/spvfuse_container.h"
#include "tests/runtime/bench.h"

static const char twice[] = "target 64\n"
                            "kernel @k(%p: ptr.global of i32, %n: i32) {\nentry:\n"
                            "  %i: i64 = global_id 0\n"
                            "  %o: i64 = shl %i, 2\n"
                            "  %q: ptr.global = ptradd %p, %o\n"
                            "  %v: i32 = load %q align 4\n"
                            "  %w: i32 = mul %v, 2\n"
                            "  %x: i32 = add %w, %n\n"
                            "  store %x, %q align 4\n  ret\n}\n";
static const char thrice[] = "target 64\n"
                             "kernel @k(%p: ptr.global of i32, %n: i32) {\nentry:\n"
                             "  %i: i64 = global_id 0\n"
                             "  %o: i64 = shl %i, 2\n"
                             "  %q: ptr.global = ptradd %p, %o\n"
                             "  %v: i32 = load %q align 4\n"
                             "  %w: i32 = mul %v, 3\n"
                             "  %x: i32 = add %w, %n\n"
                             "  store %x, %q align 4\n  ret\n}\n";

enum { ITEMS = 256 };

static spvf_context *context;

static void begin(void) { context = new_context(); }
static void end(void) {
    spvf_context_destroy(context);
    cr_expect_eq(bytes_held, 0, "%zu bytes are kept", bytes_held);
}
TestSuite(images, .init = begin, .fini = end);

/* --------------------------------------------------------------------------------- containers */

static spvf_module *load_bytes(const void *bytes, size_t size) {
    spvf_module *m;
    cr_assert_eq(spvf_module_load(context, "c", bytes, size, NULL, &m), SPVF_OK, "%s", messages);
    return m;
}

static spvf_blob emit(const spvf_module *m, const char *target) {
    spvf_blob code;
    cr_assert_eq(spvf_module_emit(m, target, &code), SPVF_OK, "%s", messages);
    return code;
}

static void add(spvf_pack *p, const char *target, const spvf_blob *code) {
    cr_assert_eq(spvf_pack_add(p, "k", target, code->data, code->size), SPVF_OK, "%s", messages);
}

/* An object of each target, "T1 T2 …", made of the SPIR-V. */
static void add_objects(spvf_pack *p, const spvf_blob *spirv, const char *targets) {
    spvf_module *m = load_bytes(spirv->data, spirv->size);
    char target[40];
    for (; *targets; targets += strcspn(targets, " "), targets += *targets == ' ') {
        snprintf(target, sizeof target, "%.*s", (int)strcspn(targets, " "), targets);
        spvf_blob code = emit(m, target);
        add(p, target, &code);
        spvf_blob_destroy(&code);
    }
    spvf_module_destroy(m);
}

static spvf_blob to_spirv(const char *text) {
    spvf_module *m = load_text(context, text);
    spvf_blob code = emit(m, "spirv");
    spvf_module_destroy(m);
    return code;
}

/* The SPIR-V of one text, and objects made of another. */
static spvf_blob pack_both(const char *text, const char *made_of, const char *targets) {
    spvf_pack *p;
    spvf_blob spirv = to_spirv(text), other = to_spirv(made_of), out;
    cr_assert_eq(spvf_pack_create(context, &p), SPVF_OK);
    add(p, NULL, &spirv);
    add_objects(p, &other, targets);
    cr_assert_eq(spvf_pack_write(p, &out), SPVF_OK, "%s", messages);
    spvf_pack_destroy(p);
    spvf_blob_destroy(&spirv);
    spvf_blob_destroy(&other);
    return out;
}

static spvf_blob pack(const char *text, const char *targets) {
    return pack_both(text, text, targets);
}

/* ------------------------------------------------------------------------------------- launches */

typedef struct {
    const char *device;
    const spvf_module *module;
    unsigned launches;
    spvf_range range;
    uint64_t variants; /* that were compiled */
    int32_t result[ITEMS];
} run;

static void launch_all(void *arg) {
    run *r = arg;
    rt_device *d = rt_device_open(context, r->device);
    int32_t data[ITEMS];
    for (int32_t n = 0; n < ITEMS; n++) data[n] = n;
    rt_memory *m = d->driver->allocate(d, "p", sizeof data, data);
    rt_program *p = d->driver->build(d, r->module->ir);
    rt_function *f = d->driver->find(d, p, "k");
    const int32_t n = 5;
    const rt_arg args[] = {rt_memory_arg(m, 0), rt_value_arg(&n, sizeof n)};
    for (unsigned k = 0; k < r->launches; k++)
        rt_device_launch(d, &(rt_launch){f, &r->range, args, 2, .uneven = false});
    rt_device_read(d, m, 0, r->result, sizeof r->result);
    r->variants = d->code.variants;
    rt_device_close(d);
}

static run run_on(const char *device, const spvf_module *m) {
    run r = {device, m, 1, {.dims = 1, .global = {ITEMS}}, 0, {0}};
    cr_assert_eq(rt_guard(context, launch_all, &r), SPVF_OK, "%s", messages);
    return r;
}

static run run_packed(const char *device, spvf_blob blob) {
    spvf_module *m = load_bytes(blob.data, blob.size);
    spvf_blob_destroy(&blob); /* the module has what it needs */
    run r = run_on(device, m);
    spvf_module_destroy(m);
    return r;
}

static void expect(const run *r, uint64_t variants, int32_t factor) {
    cr_expect_eq(r->variants, variants, "%s: %u variants", r->device, (unsigned)r->variants);
    for (int32_t n = 0; n < ITEMS; n++)
        cr_assert_eq(r->result[n], factor * n + 5, "%s: item %d", r->device, n);
}

static bool has_x86(unsigned level) {
    const cg_machine *m = cg_host_machine();
    return m && strcmp(m->name, "x86_64") == 0 && rt_cpu_level() >= level;
}

/* ---------------------------------------------------------------------------------------- tests */

Test(images, a_first_launch_compiles_nothing) {
    if (!has_x86(2)) return;
    run r = run_packed("cpu", pack(twice, "x86_64:v2"));
    expect(&r, 0, 2);
    r = run_packed("cpu:v2", pack(twice, "x86_64:v2"));
    expect(&r, 0, 2);
}

Test(images, options_of_code_make_it_anew) {
    if (!has_x86(2)) return;
    static const char *const devices[] = {"cpu:recompile", "cpu:simd=4", "cpu:regalloc=stack",
                                          "cpu:seed=7", "cpu:eager"};
    for (unsigned n = 0; n < sizeof devices / sizeof *devices; n++) {
        run r = run_packed(devices[n], pack(twice, "x86_64:v2"));
        cr_expect_gt(r.variants, 0, "%s", devices[n]);
        expect(&r, r.variants, 2);
    }
}

Test(images, levels) {
    if (!has_x86(3)) return;
    run r = run_packed("cpu:v2", pack(twice, "x86_64:v3"));
    expect(&r, 1, 2);
    r = run_packed("cpu:v3", pack(twice, "x86_64:v2 x86_64:v3"));
    expect(&r, 0, 2);
    r = run_packed("cpu:v2", pack(twice, "x86_64:v3 x86_64:v2"));
    expect(&r, 0, 2);
}

Test(images, tables_of_other_names_are_for_other_programs) {
    if (!has_x86(2)) return;
    run r = run_packed("cpu", pack(twice, "x86_64:v2,table=mine"));
    expect(&r, 1, 2);
    r = run_packed("cpu", pack(twice, "x86_64:v2,table=mine x86_64:v2"));
    expect(&r, 0, 2);
}

Test(images, code_of_another_source) {
    if (!has_x86(2)) return;
    run r = run_packed("cpu", pack_both(thrice, twice, "x86_64:v2"));
    expect(&r, 1, 3);
}

/* Two images of SPIR-V that define @k, thrice first, each with a kernel of its own, and objects of the
 * image of this number. */
static spvf_blob pack_twins(unsigned objects_of) {
    spvf_blob spirv[2], out;
    spvf_pack *p;
    char text[1000];
    cr_assert_eq(spvf_pack_create(context, &p), SPVF_OK);
    for (unsigned n = 0; n < 2; n++) {
        snprintf(text, sizeof text,
                 "%skernel @only_%u(%%p: ptr.global of i32) {\nentry:\n  ret\n}\n",
                 n ? twice : thrice, n);
        spirv[n] = to_spirv(text);
        add(p, NULL, &spirv[n]);
    }
    add_objects(p, &spirv[objects_of], "x86_64:v2");
    cr_assert_eq(spvf_pack_write(p, &out), SPVF_OK, "%s", messages);
    spvf_pack_destroy(p);
    for (unsigned n = 0; n < 2; n++) spvf_blob_destroy(&spirv[n]);
    return out;
}

/* The first image that holds a kernel gives it to the module; no other code of it is run. */
Test(images, a_kernel_in_two_images) {
    for (unsigned objects_of = 0; objects_of < 2; objects_of++) {
        spvf_blob blob = pack_twins(objects_of);
        spvf_module *m = load_bytes(blob.data, blob.size);
        spvf_blob_destroy(&blob);
        cr_expect_eq(spvf_module_kernel_count(m), 3);
        cr_expect(spvf_module_find_kernel(m, "only_0") && spvf_module_find_kernel(m, "only_1"));
        run r = run_on("cpu", m);
        expect(&r, has_x86(2) ? objects_of : 1, 3);
        spvf_module_destroy(m);
    }
}

/* The place of what an object says of itself. */
static ir_object_origin *find_origin(const spvf_blob *blob, uint64_t source) {
    for (size_t n = 0; n + sizeof(ir_object_origin) <= blob->size; n += 8) {
        ir_object_origin *o = (void *)((char *)blob->data + n);
        if (o->source == source && o->version == IR_LAUNCH_VERSION) return o;
    }
    cr_assert_fail("the object says nothing of itself");
    return NULL;
}

Test(images, another_version_of_launches) {
    if (!has_x86(2)) return;
    for (unsigned change = 0; change < 3; change++) {
        spvf_blob spirv = to_spirv(twice), blob;
        spvf_module *m = load_bytes(spirv.data, spirv.size);
        spvf_blob code = emit(m, "x86_64:v2");
        ir_object_origin *o = find_origin(&code, m->ir->source);
        cr_expect_eq(o->level, 2);
        if (change == 1) o->version++;
        if (change == 2) o->level = 99;
        spvf_pack *p;
        cr_assert_eq(spvf_pack_create(context, &p), SPVF_OK);
        add(p, NULL, &spirv);
        add(p, "x86_64:v2", &code);
        cr_assert_eq(spvf_pack_write(p, &blob), SPVF_OK);
        spvf_pack_destroy(p);
        spvf_module_destroy(m);
        spvf_blob_destroy(&spirv);
        spvf_blob_destroy(&code);
        run r = run_packed("cpu", blob);
        expect(&r, change > 0, 2);
    }
}

/* A module that was read with other values, or with functions replaced, is another one. */
Test(images, modules_that_are_changed) {
    if (!has_x86(2)) return;
    const spvf_spec_value spec = {.id = 9};
    const char *const calls[] = {"none"};
    const spvf_definition definition = {"nothing", calls, 0};
    for (unsigned change = 0; change < 2; change++) {
        spvf_blob blob = pack(twice, "x86_64:v2");
        spvf_module_options o = {.size = sizeof o};
        spvf_module *m;
        o.specs = &spec;
        o.spec_count = change == 0;
        o.definitions = &definition;
        o.definition_count = change == 1;
        spvf_status status = spvf_module_load(context, "c", blob.data, blob.size, &o, &m);
        spvf_blob_destroy(&blob);
        if (status != SPVF_OK) continue;
        run r = run_on("cpu", m);
        expect(&r, 1, 2);
        spvf_module_destroy(m);
    }
}

Test(images, damaged) {
    if (!has_x86(2)) return;
    spvf_blob blob = pack(twice, "x86_64:v2");
    spvf_module *m;
    char *bytes = blob.data;
    size_t at = 0;
    while (memcmp(bytes + at,
                  "\x7f"
                  "ELF",
                  4) != 0)
        at++;
    for (size_t n = at; n < blob.size; n += 13) {
        bytes[n] ^= 4;
        messages[0] = 0;
        cr_expect_neq(spvf_module_load(context, "c", blob.data, blob.size, NULL, &m), SPVF_OK);
        cr_expect(strstr(messages, "the checksum is wrong"), "%s", messages);
        bytes[n] ^= 4;
    }
    spvf_blob_destroy(&blob);
}

/* Variants come from SPIR-V, as for any kernel, once a shape has been launched for long enough. */
Test(images, shapes_get_code_of_their_own) {
    if (!has_x86(2)) return;
    spvf_blob blob = pack(twice, "x86_64:v2");
    spvf_module *m = load_bytes(blob.data, blob.size);
    run r = {"cpu", m, 100000, {.dims = 1, .global = {1}}, 0, {0}};
    cr_assert_eq(rt_guard(context, launch_all, &r), SPVF_OK, "%s", messages);
    cr_expect_gt(r.variants, 0);
    spvf_module_destroy(m);
    spvf_blob_destroy(&blob);
}

/* ---------------------------------------------------------- kernels that have code of their own */

/* A kernel with the parameters of `twice`, and what comes before it. */
static const char *kernel_text(const char *before, const char *attributes, const char *body) {
    static char text[2000];
    snprintf(text, sizeof text,
             "target 64\n%skernel @k(%%p: ptr.global of i32, %%n: i32)%s {\nentry:\n"
             "  %%i: i64 = global_id 0\n"
             "  %%o: i64 = shl %%i, 2\n"
             "  %%q: ptr.global = ptradd %%p, %%o\n%s"
             "  %%w: i32 = mul %%v, 2\n  %%x: i32 = add %%w, %%n\n"
             "  store %%x, %%q align 4\n  ret\n}\n",
             before, attributes, body);
    return text;
}

Test(images, groups_that_the_device_chooses) {
    if (!has_x86(2)) return;
    static const char load[] = "  %v: i32 = load %q align 4\n";
    run r = run_packed("cpu", pack(kernel_text("", " local_size 64 1 1", load), "x86_64:v2"));
    expect(&r, 1, 2);
    static const char by_groups[] = "  %l: i64 = local_id 0\n  %g: i64 = group_id 0\n"
                                    "  %b: i64 = mul %g, 64\n  %s: i64 = add %b, %l\n"
                                    "  %v: i32 = trunc %s\n";
    r = run_packed("cpu", pack(kernel_text("", " local_size 64 1 1", by_groups), "x86_64:v2"));
    expect(&r, 0, 2);
}

Test(images, variables_of_the_program) {
    if (!has_x86(2)) return;
    static const char counts[] = "  %c: i32 = load @count align 4\n"
                                 "  %d: i32 = load %q align 4\n  %v: i32 = add %c, %d\n";
    run r = run_packed(
        "cpu", pack(kernel_text("@count: global i32 align 4 = zero\n", "", counts), "x86_64:v2"));
    cr_expect_gt(r.variants, 0);
    expect(&r, r.variants, 2);
    r = run_packed("cpu", pack(kernel_text("@count: const i32 align 4 = zero\n", "",
                                           "  %c: i32 = load @count align 4\n"
                                           "  %d: i32 = load %q align 4\n"
                                           "  %v: i32 = add %c, %d\n"),
                               "x86_64:v2"));
    expect(&r, 0, 2);
}

Test(images, sizes_of_subgroups) {
    if (!has_x86(3)) return;
    static const char asks[] = "  %s: i32 = subgroup_size\n  %t: i32 = sub %s, %s\n"
                               "  %d: i32 = load %q align 4\n  %v: i32 = add %t, %d\n";
    run r = run_packed("cpu:v3", pack(kernel_text("", "", asks), "x86_64:v2"));
    expect(&r, 1, 2);
    r = run_packed("cpu:v3", pack(kernel_text("", "", asks), "x86_64:v3"));
    expect(&r, 0, 2);
    r = run_packed("cpu:v3", pack(kernel_text("", " subgroup_size 8", asks), "x86_64:v2"));
    expect(&r, 0, 2);
}

/* ------------------------------------------------------------------------------- on other paths */

Test(images, programs_of_queues) {
    if (!has_x86(2)) return;
    spvf_blob blob = pack(twice, "x86_64:v2");
    spvf_module *m = load_bytes(blob.data, blob.size);
    spvf_device *d;
    spvf_program *p;
    cr_assert_eq(spvf_device_open(context, "cpu", &d), SPVF_OK);
    cr_assert_eq(spvf_program_create(d, m, &p), SPVF_OK);
    spvf_module_destroy(m);
    spvf_blob_destroy(&blob);
    spvf_device_destroy(d);
    cr_expect_not_null(p->module->ir->images);
    cr_expect_eq(p->module->ir->images->n, 1);
    spvf_program_destroy(p);
}

/* What is fused is made of SPIR-V; what is launched alone is not. */
Test(images, plans) {
    static const char plan[] = "buffer x i32[256] = iota\nbuffer y i32[256] = iota\n"
                               "launch \"k.spvc\":k global 256 args y, 5\n"
                               "fuse pair {\n  launch \"k.spvc\":k global 256 args x, 5\n"
                               "  launch \"k.spvc\":k global 256 args x, 5\n}\n"
                               "expect x[0..2] = 15, 19, 23\nexpect y[0..2] = 5, 7, 9\n";
    if (!has_x86(2)) return;
    spvf_blob blob = pack(twice, "x86_64:v2");
    in_folder_with("");
    FILE *f = fopen("k.spvc", "wb");
    cr_assert(f && fwrite(blob.data, 1, blob.size, f) == blob.size && fclose(f) == 0);
    spvf_blob_destroy(&blob);
    spvf_plan *p = load_plan(context, plan);
    const spvf_run_options o = {.size = sizeof o, .device = "cpu"};
    spvf_run_result result = {.size = sizeof result};
    cr_expect_eq(spvf_plan_run(p, &o, &result), SPVF_OK, "%s", messages);
    cr_expect_eq(result.fused_groups, 1);
    cr_expect_eq(result.variants, 1);
    cr_expect_eq(result.native_launches, 2);
    spvf_plan_destroy(p);
    remove("k.spvc");
    leave_folder();
}
