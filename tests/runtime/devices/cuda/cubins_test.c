/* cubins_test.c — cubins of a container in place of what the driver would compile: those that were
 * assembled from the text that the device makes, for a processor whose code it can run.
 *
 * The cubins of these tests are files with the text in them, which the driver of fake_cuda.c takes.
 */
#include "runtime/container/container.h"
#include "runtime/container/elf.h"
#include "runtime/devices/cuda/cuda.h"
#include "runtime/native/native.h"
#include "tests/runtime/devices/cuda/cuda_bench.h"

static const char kernel[] = "target 64\nkernel @k(%p: ptr.global of i32) {\nentry:\n"
                             "  %i: i32 = global_id 0\n  store %i, %p align 4\n  ret\n}\n";

/* ------------------------------------------------------------------------------------- containers */

static const char names[] = "\0.names\0.text.k";
typedef struct {
    elf_header head;
    elf_section sections[3];
    char names[sizeof names];
    char text[4096];
} cubin;

static cubin make_cubin(const char *text, unsigned sm) {
    cubin c = {.head = {.ident = {0x7f, 'E', 'L', 'F', 2, 1},
                        .machine = ELF_CUDA,
                        .entry = offsetof(cubin, text),
                        .section_headers = offsetof(cubin, sections),
                        .flags = sm,
                        .section_size = sizeof(elf_section),
                        .sections = 3,
                        .names = 1},
               .sections = {{0},
                            {.name = 1, .offset = offsetof(cubin, names), .size = sizeof names},
                            {.name = 8, .type = ELF_PROGRAM_BITS, .offset = sizeof(elf_header)}}};
    memcpy(c.names, names, sizeof names);
    snprintf(c.text, sizeof c.text, "%s", text);
    return c;
}

typedef struct {
    unsigned device, sm; /* of the device, of the cubin */
    const char *options; /* of the text */
    bool other_text, damaged;
} variation;

static spvf_blob emit(spvf_context *c, const spvf_blob *code, const char *target) {
    spvf_module *m;
    spvf_blob out;
    cr_assert_eq(spvf_module_load(c, "k", code->data, code->size, NULL, &m), SPVF_OK);
    cr_assert_eq(spvf_module_emit(m, target, &out), SPVF_OK, "%s", messages);
    spvf_module_destroy(m);
    return out;
}

static void add_cubin(spvf_pack *p, const variation *v, const char *text) {
    char hash[20];
    cubin c = make_cubin(text, v->sm);
    if (v->damaged) c.head.entry = 0;
    cr_assert_eq(spvf_pack_add(p, "cubin", NULL, &c, sizeof c), SPVF_OK, "%s", messages);
    snprintf(hash, sizeof hash, "%llx",
             (unsigned long long)rt_hash_text(text) + (v->other_text ? 1 : 0));
    cr_assert_eq(spvf_pack_set(p, &(spvf_property){SPVF_OF_IMAGE, 1, 0, RT_MADE_OF, hash}),
                 SPVF_OK);
}

static spvf_module *load_packed(spvf_context *c, const variation *v) {
    const spvf_blob text = {.data = (void *)(uintptr_t)kernel, .size = sizeof kernel - 1};
    char target[60];
    spvf_pack *p;
    spvf_module *m;
    spvf_blob spirv = emit(c, &text, "spirv"), all;
    snprintf(target, sizeof target, "ptx:sm_%u%s", v->sm, v->options);
    spvf_blob ptx = emit(c, &spirv, target);
    cr_assert_eq(spvf_pack_create(c, &p), SPVF_OK);
    cr_assert_eq(spvf_pack_add(p, "k", NULL, spirv.data, spirv.size), SPVF_OK);
    add_cubin(p, v, ptx.data);
    cr_assert_eq(spvf_pack_write(p, &all), SPVF_OK, "%s", messages);
    spvf_pack_destroy(p);
    cr_assert_eq(spvf_module_load(c, "c", all.data, all.size, NULL, &m), SPVF_OK, "%s", messages);
    spvf_blob_destroy(&spirv);
    spvf_blob_destroy(&ptx);
    spvf_blob_destroy(&all);
    return m;
}

/* ------------------------------------------------------------------------------------------- runs */

typedef struct {
    spvf_context *context;
    const spvf_module *module;
} finding;

static void find_kernel(void *arg) {
    const finding *f = arg;
    rt_device *d = rt_device_open(f->context, "cuda");
    rt_program *p = d->driver->build(d, f->module->ir);
    d->driver->find(d, p, "k");
    rt_device_close(d);
}

/* How often the driver compiles. */
static unsigned compiles(variation v) {
    char sm[12];
    use_cache_folder();
    snprintf(sm, sizeof sm, "%u", v.device);
    setenv("FAKE_CUDA_SM", sm, 1);
    spvf_context *c = new_context();
    finding f = {c, load_packed(c, &v)};
    fake_cuda_forget();
    cr_assert_eq(rt_guard(c, find_kernel, &f), SPVF_OK, "%s", messages);
    spvf_module_destroy((spvf_module *)(uintptr_t)f.module);
    spvf_context_destroy(c);
    remove_cache_folder();
    cr_expect_eq(bytes_held, 0);
    cr_expect_eq(fake_cuda_modules(), 0);
    cr_expect_eq(fake_cuda_count("cuModuleLoadData"), v.damaged ? 2 : 1);
    return fake_cuda_count("cuLinkAddData_v2");
}

Test(cubins, the_driver_compiles_nothing) {
    cr_expect_eq(compiles((variation){90, 90, ",offset,dependent", false, false}), 0);
}

Test(cubins, an_older_processor_of_the_generation) {
    cr_expect_eq(compiles((variation){86, 80, ",offset", false, false}), 0);
}

Test(cubins, other_processors) {
    cr_expect_eq(compiles((variation){90, 80, ",offset", false, false}), 1);
}

Test(cubins, a_newer_processor) {
    cr_expect_eq(compiles((variation){80, 86, ",offset", false, false}), 1);
}

Test(cubins, code_for_other_launches) {
    cr_expect_eq(compiles((variation){90, 90, "", false, false}), 1);
}

Test(cubins, another_text) {
    cr_expect_eq(compiles((variation){90, 90, ",offset,dependent", true, false}), 1);
}

Test(cubins, what_the_driver_cannot_load) {
    cr_expect_eq(compiles((variation){90, 90, ",offset,dependent", false, true}), 1);
}

/* ----------------------------------------------------------------------------------- by the driver */

typedef struct {
    spvf_context *context;
    ir_arena arena;
    const char *text, *why_not;
    rt_bytes code;
} assembling;

static void assemble(void *arg) {
    assembling *j = arg;
    const rt_bytes text = {j->text, strlen(j->text)};
    j->code = rt_assemble_by_driver(j->context, &j->arena, text, 90, &j->why_not);
}

static void current_before(cu_context context) { cuda_driver(NULL)->set_current(context); }

static cu_context current_now(void) {
    cu_context context = NULL;
    cuda_driver(NULL)->get_current(&context);
    return context;
}

Test(cubins, the_driver_assembles_where_there_is_no_assembler) {
    spvf_context *c = new_context();
    assembling j = {.context = c, .text = ".version 7.8\n.target sm_90\n"};
    ir_arena_init(&j.arena, &c->cx);
    fake_cuda_forget();
    current_before(NULL);
    cr_assert_eq(rt_guard(c, assemble, &j), SPVF_OK, "%s", messages);
    cr_expect_null(current_now(), "the thread had no context");
    cr_assert_gt(j.code.size, strlen(j.text));
    const char *end = (const char *)j.code.data + j.code.size - strlen(j.text) - 1;
    cr_expect_str_eq(end, j.text, "a driver of tests keeps the text");
    int any;
    const cu_context own = (cu_context)(void *)&any;
    current_before(own);
    fake_cuda_fail("cuLinkAddData_v2", 1, 209, false);
    cr_expect_eq(rt_guard(c, assemble, &j), SPVF_ERROR_DEVICE);
    cr_expect_eq(current_now(), own, "the thread has its own context, also after a failure");
    cr_expect(strstr(messages, "cuda: the driver assembles nothing: "), "%s", messages);
    ir_arena_free(&j.arena);
    spvf_context_destroy(c);
    cr_expect_eq(bytes_held, 0);
}
