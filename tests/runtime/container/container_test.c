/* container_test.c — containers: what is packed is found again, on every way in; every damaged bit is
 * found or changes nothing; images are picked and linked.
 */
#include "runtime/container/container.h"
#include "tests/runtime/bench.h"

#include <unistd.h>

/* ----------------------------------------------------------------------------------- containers */

static const char twice[] = "target 64\n"
                            "func @scale(%v: f32): f32 export {\nentry:\n"
                            "  %d: f32 = fadd %v, %v\n  ret %d\n}\n"
                            "kernel @twice(%p: ptr.global of f32) {\nentry:\n"
                            "  %v: f32 = load %p align 4\n"
                            "  %d: f32 = call @scale(%v)\n"
                            "  store %d, %p align 4\n  ret\n}\n";
static const char uses[] = "target 64\n"
                           "func @scale(%v: f32): f32 import\n"
                           "kernel @uses(%p: ptr.global of f32, %n: i32) {\nentry:\n"
                           "  %v: f32 = load %p align 4\n"
                           "  %d: f32 = call @scale(%v)\n"
                           "  store %d, %p align 4\n  ret\n}\n";
static const char ptx[] = "// made by hand\n.version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry twice(.param .u64 p)\n{\nret;\n}\n";

static spvf_context *context;

static void add_text(spvf_pack *p, const char *name, const char *text, const char *targets) {
    spvf_module *m = load_text(context, text);
    char target[40];
    for (; *targets; targets += strcspn(targets, " "), targets += *targets == ' ') {
        snprintf(target, sizeof target, "%.*s", (int)strcspn(targets, " "), targets);
        cr_assert_eq(spvf_pack_emit(p, name, m, target), SPVF_OK, "%s", messages);
    }
    spvf_module_destroy(m);
}

static spvf_pack *begin_pack(void) {
    spvf_pack *p;
    cr_assert_eq(spvf_pack_create(context, &p), SPVF_OK);
    return p;
}

static spvf_blob end_pack(spvf_pack *p) {
    spvf_blob blob;
    cr_assert_eq(spvf_pack_write(p, &blob), SPVF_OK, "%s", messages);
    spvf_pack_destroy(p);
    return blob;
}

/* Is argument n marked in the module, where a property of argument `arg` says so? */
static bool is_marked(size_t n, uint32_t arg, const char *value) {
    spvf_pack *p = begin_pack();
    spvf_module *m;
    add_text(p, "u", uses, "spirv");
    const spvf_property mark = {SPVF_OF_ARG, 0, arg, "annotations/specialized", value};
    cr_assert_eq(spvf_pack_set(p, &mark), SPVF_OK, "%s", messages);
    spvf_blob blob = end_pack(p);
    cr_assert_eq(spvf_module_load(context, "u", blob.data, blob.size, NULL, &m), SPVF_OK);
    bool marked = spvf_module_kernel(m, 0)->args[n]->specialized;
    spvf_module_destroy(m);
    spvf_blob_destroy(&blob);
    return marked;
}

Test(container, arguments_that_are_specialized) {
    cr_expect(is_marked(1, 1, "1"));
    cr_expect_not(is_marked(1, 1, "0"));
    cr_expect_not(is_marked(0, 1, "1"));
    cr_expect_not(is_marked(0, 0, "1"), "a pointer");
}

static spvf_container *load(const void *bytes, size_t size) {
    spvf_container *c;
    cr_assert_eq(spvf_container_load(context, "c", bytes, size, &c), SPVF_OK, "%s", messages);
    return c;
}

static spvf_blob pack_text(const char *name, const char *text, const char *targets) {
    spvf_pack *p = begin_pack();
    add_text(p, name, text, targets);
    return end_pack(p);
}

/* SPIR-V, objects of two levels, PTX, symbols and properties of each owner. */
static spvf_blob pack_everything(void) {
    spvf_pack *p = begin_pack();
    add_text(p, "a", twice, "spirv x86_64:v2 x86_64:v4");
    cr_assert_eq(spvf_pack_add(p, "b", NULL, ptx, sizeof ptx - 1), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_pack_set(p, &(spvf_property){.key = "id", .value = "7"}), SPVF_OK);
    for (int owner = SPVF_OF_IMAGE; owner <= SPVF_OF_ARG; owner++)
        cr_assert_eq(
            spvf_pack_set(
                p, &(spvf_property){.owner = (spvf_property_owner)owner, .key = "k", .value = "v"}),
            SPVF_OK);
    return end_pack(p);
}

static void begin(void) { context = new_context(); }
static void end(void) {
    spvf_context_destroy(context);
    cr_expect_eq(bytes_held, 0, "%zu bytes are kept", bytes_held);
}
TestSuite(container, .init = begin, .fini = end);

/* ----------------------------------------------------------------------------- what is in it */

static void expect_images(spvf_container *c) {
    static const spvf_image_info wanted[] = {{"a", "spirv", "", 0},
                                             {"a.1", "object", "x86_64:v2", 0},
                                             {"a.2", "object", "x86_64:v4", 0},
                                             {"b", "ptx", "sm_70", sizeof ptx - 1}};
    spvf_image_info info;
    cr_assert_eq(spvf_container_image_count(c), 4);
    for (size_t n = 0; n < 4; n++) {
        cr_assert(spvf_container_image(c, n, &info));
        cr_expect_str_eq(info.name, wanted[n].name);
        cr_expect_str_eq(info.format, wanted[n].format);
        cr_expect_str_eq(info.target, wanted[n].target);
        size_t size;
        const char *code = spvf_container_code(c, n, &size);
        cr_expect(code && size == info.size && (uintptr_t)code % 16 == 0);
    }
    cr_expect(!spvf_container_image(c, 4, &info));
}

static void expect_kernel(spvf_container *c) {
    size_t count;
    const spvf_kernel_info *k = spvf_container_kernel(c, 0);
    cr_assert_eq(spvf_container_kernel_count(c), 1);
    cr_expect_str_eq(k->name, "twice");
    cr_assert_eq(k->arg_count, 1);
    cr_expect(k->args[0]->kind == SPVF_ARG_BUFFER && k == spvf_container_kernel(c, 0));
    cr_expect_null(spvf_container_kernel(c, 1));
    const uint32_t *images = spvf_container_providers(c, 0, &count);
    cr_assert_eq(count, 4);
    for (uint32_t n = 0; n < 4; n++) cr_expect_eq(images[n], n);
    cr_expect_eq(spvf_container_find_kernel(c, "twice"), 0);
    cr_expect_eq(spvf_container_find_kernel(c, "twic"), SIZE_MAX);
}

static void expect_everything(spvf_container *c) {
    spvf_symbol s;
    spvf_property p;
    expect_images(c);
    expect_kernel(c);
    cr_assert(spvf_container_symbol_count(c) == 1 && spvf_container_symbol(c, 0, &s));
    cr_expect(strcmp(s.name, "scale") == 0 && s.image == 0 && !s.imported);
    cr_assert_eq(spvf_container_property_count(c), 4);
    for (size_t n = 0; n < 4; n++)
        cr_expect(spvf_container_property(c, n, &p) && p.owner == n &&
                  strcmp(p.value, n ? "v" : "7") == 0);
    cr_expect_eq(spvf_container_verify(c), SPVF_OK);
}

Test(container, bytes) {
    spvf_blob blob = pack_everything(), again = pack_everything();
    cr_expect(blob.size == again.size && memcmp(blob.data, again.data, blob.size) == 0);
    spvf_container *c = load(blob.data, blob.size);
    expect_everything(c);
    spvf_container_destroy(c);
    spvf_blob_destroy(&again);
    spvf_blob_destroy(&blob);
}

/* Bytes at any address. */
Test(container, odd_address) {
    spvf_blob blob = pack_everything();
    char *room = malloc(blob.size + 1);
    memcpy(room + 1, blob.data, blob.size);
    spvf_container *c = load(room + 1, blob.size);
    free(room);
    expect_everything(c);
    spvf_container_destroy(c);
    spvf_blob_destroy(&blob);
}

Test(container, mapped) {
    char folder[TEMPORARY_NAME];
    spvf_container *c;
    spvf_blob blob = pack_everything();
    cr_assert(enter_temporary_folder(folder));
    FILE *f = fopen("c", "wb");
    cr_assert(f && fwrite(blob.data, 1, blob.size, f) == blob.size && fclose(f) == 0);
    cr_assert_eq(spvf_container_open(context, "c", &c), SPVF_OK);
    expect_everything(c);
    spvf_container_destroy(c);
    cr_expect_eq(spvf_container_open(context, "d", &c), SPVF_ERROR_IO);
    cr_expect_null(c);
    remove("c");
    rmdir(folder);
    spvf_blob_destroy(&blob);
}

/* A container in a container, twice: its images get other names, its kernels more providers. */
Test(container, of_containers) {
    spvf_blob blob = pack_everything();
    spvf_pack *p = begin_pack();
    for (int n = 0; n < 2; n++)
        cr_assert_eq(spvf_pack_add(p, "c", NULL, blob.data, blob.size), SPVF_OK, "%s", messages);
    spvf_blob both = end_pack(p);
    spvf_container *c = load(both.data, both.size);
    size_t count;
    spvf_image_info info;
    spvf_symbol s;
    cr_expect(spvf_container_image_count(c) == 8 && spvf_container_kernel_count(c) == 1);
    cr_expect(spvf_container_providers(c, 0, &count) && count == 8);
    cr_expect(spvf_container_image(c, 4, &info) && strcmp(info.name, "a.4") == 0);
    cr_expect(spvf_container_symbol(c, 1, &s) && s.image == 4);
    spvf_container_destroy(c);
    spvf_blob_destroy(&both);
    spvf_blob_destroy(&blob);
}

Test(container, wrong_packs) {
    static const char other[] = "target 64\nkernel @twice(%p: i32) {\nentry:\n  ret\n}\n";
    spvf_module *m = load_text(context, other);
    spvf_pack *p = begin_pack();
    add_text(p, "a", twice, "spirv");
    cr_expect_eq(spvf_pack_emit(p, "b", m, "spirv"), SPVF_ERROR_INPUT);
    cr_expect(strstr(messages, "kernel 'twice' has other parameters elsewhere"), "%s", messages);
    cr_expect_eq(spvf_pack_emit(p, "b", m, "z80"), SPVF_ERROR_ARGUMENT);
    cr_expect_eq(spvf_pack_add(p, "x", NULL, "nothing", 7), SPVF_ERROR_INPUT);
    cr_expect(strstr(messages, "x: it is neither a container nor code"), "%s", messages);
    cr_expect_eq(spvf_pack_set(p, &(spvf_property){SPVF_OF_KERNEL, 5, 0, "k", "v"}),
                 SPVF_ERROR_ARGUMENT);
    cr_expect_eq(spvf_pack_add(p, "x", NULL, NULL, 7), SPVF_ERROR_ARGUMENT);
    spvf_pack_destroy(p);
    spvf_module_destroy(m);
}

/* --------------------------------------------------------------------------------------- damage */

/* All that a container says, as a number; 0: it is refused. */
static uint64_t content_of(const void *bytes, size_t size) {
    spvf_container *c;
    spvf_image_info info;
    uint64_t h = 1;
    if (spvf_container_load(context, "c", bytes, size, &c) != SPVF_OK) return 0;
    if (spvf_container_verify(c) != SPVF_OK) h = 0;
    for (size_t n = 0; h && n < spvf_container_image_count(c); n++) {
        size_t code_size;
        const void *code = spvf_container_code(c, n, &code_size);
        spvf_container_image(c, n, &info);
        h = ir_hash(ir_hash(h, info.name, strlen(info.name)), code, code_size);
    }
    for (size_t n = 0; h && n < spvf_container_kernel_count(c); n++) {
        const spvf_kernel_info *k = spvf_container_kernel(c, n);
        h = ir_hash(ir_mix(h, k->arg_count), k->name, strlen(k->name));
    }
    spvf_container_destroy(c);
    return h;
}

Test(container, damaged_bits) {
    spvf_blob blob = pack_everything();
    uint8_t *bytes = blob.data;
    uint64_t whole = content_of(bytes, blob.size);
    unsigned harmless = 0;
    cr_assert_neq(whole, 0);
    for (size_t n = 0; n < blob.size * 8; n++) {
        bytes[n / 8] ^= (uint8_t)(1u << n % 8);
        messages[0] = 0;
        uint64_t now = content_of(bytes, blob.size);
        cr_expect(now == 0 || now == whole, "bit %zu changes what is read", n);
        cr_expect((now == 0) == (messages[0] != 0), "bit %zu: %s", n, messages);
        harmless += now == whole;
        bytes[n / 8] ^= (uint8_t)(1u << n % 8);
    }
    cr_expect_lt(harmless, 16 * 8 * 12, "only those between sections");
    spvf_blob_destroy(&blob);
}

Test(container, cut) {
    spvf_blob blob = pack_everything();
    for (size_t n = 1; n < blob.size; n++) cr_expect_eq(content_of(blob.data, n), 0, "%zu", n);
    spvf_blob_destroy(&blob);
}

/* Checksums that fit, so that the fields themselves are checked. */
static void seal(uint8_t *bytes) {
    rt_container_header h;
    memcpy(&h, bytes, sizeof h);
    rt_section_row *rows = (void *)(bytes + sizeof h);
    for (uint32_t n = 0; n < h.sections; n++)
        if (rows[n].offset <= h.size && rows[n].size <= h.size - rows[n].offset)
            rows[n].checksum = rt_section_checksum(&rows[n], bytes + rows[n].offset);
    h.checksum = rt_header_checksum(&h, rows);
    memcpy(bytes, &h, sizeof h);
}

/* Each number of records and table becomes others; what is read stays within the bytes. */
Test(container, wrong_fields) {
    spvf_blob blob = pack_everything();
    static const uint32_t values[] = {0, 1, 2, 5, 0x7fffffff, 0xffffffff};
    uint8_t *copy = malloc(blob.size);
    rt_container_header h;
    memcpy(&h, blob.data, sizeof h);
    unsigned refused = 0;
    const rt_section_row *rows = (const void *)((const uint8_t *)blob.data + sizeof h);
    for (size_t at = sizeof h; at < rows[h.sections - 4].offset; at += 4)
        for (unsigned v = 0; v < sizeof values / sizeof *values; v++) {
            memcpy(copy, blob.data, blob.size);
            memcpy(copy + at, &values[v], 4);
            seal(copy);
            refused += content_of(copy, blob.size) == 0;
        }
    cr_expect_gt(refused, 300);
    free(copy);
    spvf_blob_destroy(&blob);
}

static void expect_message(uint8_t *bytes, size_t size, const char *wanted) {
    messages[0] = 0;
    seal(bytes);
    cr_expect_eq(content_of(bytes, size), 0);
    cr_expect(strstr(messages, wanted), "'%s', not '%s'", messages, wanted);
}

static rt_image_record *images_of(uint8_t *bytes) {
    rt_container_header h;
    memcpy(&h, bytes, sizeof h);
    const rt_section_row *rows = (const void *)(bytes + sizeof h);
    for (uint32_t n = 0; n < h.sections; n++)
        if (rows[n].kind == RT_SECTION_IMAGES) return (void *)(bytes + rows[n].offset);
    return NULL;
}

/* Nodes of HCF have different names. */
Test(container, images_of_one_name) {
    spvf_blob blob = pack_everything(), hcf;
    spvf_container *c, *again;
    rt_image_record *image = images_of(blob.data);
    image[1].name = image[0].name;
    seal(blob.data);
    cr_assert_eq(spvf_container_load(context, "x", blob.data, blob.size, &c), SPVF_OK);
    cr_assert_eq(spvf_container_hcf(c, &hcf), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_container_load(context, "y", hcf.data, hcf.size, &again), SPVF_OK, "%s",
                 messages);
    cr_expect_eq(spvf_container_image_count(again), spvf_container_image_count(c));
    spvf_container_destroy(again);
    spvf_container_destroy(c);
    spvf_blob_destroy(&hcf);
    spvf_blob_destroy(&blob);
}

/* The place and the name of what is wrong. */
Test(container, messages) {
    spvf_blob blob = pack_everything();
    uint8_t *bytes = blob.data;
    rt_section_row *rows = (void *)(bytes + sizeof(rt_container_header));
    rt_kernel_record *k = (void *)(bytes + rows[1].offset);
    cr_assert(rows[1].kind == RT_SECTION_KERNELS && rows[0].kind == RT_SECTION_STRINGS);
    char wanted[200];
    uint32_t name = k->name;
    k->name = 1u << 20;
    snprintf(wanted, sizeof wanted,
             "c: error: byte 0x%x, section 1 (kernels): record 0: name is 1048576, which does not",
             (unsigned)rows[1].offset);
    expect_message(bytes, blob.size, wanted);
    k->name = name;
    k->providers++;
    expect_message(bytes, blob.size, "(kernels): record 0: providers is 5");
    k->providers--;
    rows[1].offset += 16;
    expect_message(bytes, blob.size, "section 1 (kernels): it does not follow the section before");
    rows[1].offset -= 16;
    rows[1].kind = RT_SECTION_STRINGS;
    expect_message(bytes, blob.size, "section 1 (strings): it is the second one of its kind");
    rows[1].kind = RT_SECTION_KERNELS;
    bytes[8] = 2;
    expect_message(bytes, blob.size, "c: error: byte 0x8, header: version 2, where 1 is known");
    bytes[8] = 1;
    bytes[rows[0].offset] = 'x';
    expect_message(bytes, blob.size, "(strings): strings begin and end with a 0");
    spvf_blob_destroy(&blob);
}

/* Kinds of later versions are passed over. */
Test(container, unknown_section) {
    spvf_blob blob = pack_everything();
    uint8_t *bytes = blob.data;
    rt_section_row *rows = (void *)(bytes + sizeof(rt_container_header));
    uint32_t n = 0;
    while (rows[n].kind != RT_SECTION_PROPERTIES) n++;
    rows[n].kind = 1000;
    seal(bytes);
    spvf_container *c = load(bytes, blob.size);
    cr_expect_eq(spvf_container_verify(c), SPVF_OK);
    cr_expect_eq(spvf_container_property_count(c), 0);
    expect_kernel(c);
    spvf_container_destroy(c);
    spvf_blob_destroy(&blob);
}

/* Only what is asked for is checked. */
Test(container, lazy) {
    spvf_blob blob = pack_everything();
    uint8_t *bytes = blob.data;
    size_t size;
    bytes[blob.size - 1] ^= 1;
    spvf_container *c = load(bytes, blob.size);
    expect_kernel(c);
    cr_expect_not_null(spvf_container_code(c, 2, &size));
    cr_expect_str_empty(messages);
    cr_expect_null(spvf_container_code(c, 3, &size));
    cr_expect(strstr(messages, "(code): the checksum is wrong"), "%s", messages);
    spvf_container_destroy(c);
    spvf_blob_destroy(&blob);
}

/* Each allocation fails in turn. */
static size_t allocations_left;
static void *allocate_few(void *user, size_t n) {
    return allocations_left-- ? hold(user, n) : NULL;
}

Test(container, memory) {
    spvf_blob blob = pack_everything();
    spvf_context_options o = {.size = sizeof o, .allocate = allocate_few, .release = let_go};
    bool ok = false;
    for (size_t n = 1; n < 200 && !ok; n++) {
        spvf_context *few;
        spvf_container *c;
        spvf_module *m = NULL;
        allocations_left = n;
        if (spvf_context_create(&o, &few) != SPVF_OK) continue;
        if (spvf_container_load(few, "c", blob.data, blob.size, &c) == SPVF_OK)
            ok = spvf_container_module(&c, 1, "twice", NULL, &m) == SPVF_OK;
        spvf_module_destroy(m);
        spvf_container_destroy(c);
        spvf_context_destroy(few);
    }
    cr_expect(ok);
    spvf_blob_destroy(&blob);
}

/* ------------------------------------------------------------------------------ picks and links */

Test(container, picks) {
    static const struct {
        const char *target;
        uint32_t image;
    } cases[] = {{"x86_64:v2", 1}, {"x86_64:v3", 1}, {"x86_64:v4", 2}, {"x86_64:icelake", 2},
                 {"x86_64", 1},    {"spirv", 0},     {"check", 0},     {"opencl:0", 0},
                 {"sm_70", 3},     {"sm_90", 3},     {"ptx:sm_80", 3}, {"sm_60", 0}};
    spvf_blob blob = pack_everything();
    spvf_container *c = load(blob.data, blob.size);
    for (unsigned n = 0; n < sizeof cases / sizeof *cases; n++) {
        uint32_t image = 99;
        cr_expect_eq(spvf_container_pick(c, "twice", cases[n].target, &image), SPVF_OK);
        cr_expect_eq(image, cases[n].image, "%s: %u", cases[n].target, image);
    }
    uint32_t image;
    cr_expect_eq(spvf_container_pick(c, "twice", NULL, &image), SPVF_OK);
    cr_expect_eq(spvf_container_pick(c, "other", NULL, &image), SPVF_ERROR_ARGUMENT);
    spvf_container_destroy(c);
    spvf_blob_destroy(&blob);
}

/* PTX that is made here says itself what it is for. */
Test(container, emitted_ptx) {
    spvf_image_info info;
    uint32_t image;
    spvf_blob blob = pack_text("a", twice, "spirv ptx:sm_70 ptx:sm_80");
    spvf_container *c = load(blob.data, blob.size);
    cr_assert_eq(spvf_container_pick(c, "twice", "sm_75", &image), SPVF_OK);
    cr_expect(image == 1 && spvf_container_image(c, 1, &info));
    cr_expect(strcmp(info.format, "ptx") == 0 && strcmp(info.target, "sm_70") == 0);
    cr_assert_eq(spvf_container_pick(c, "twice", "ptx:sm_90", &image), SPVF_OK);
    cr_expect_eq(image, 2);
    spvf_container_destroy(c);
    spvf_blob_destroy(&blob);
}

/* A cubin is no SPIR-V, and no machine of here runs it. */
Test(container, nothing_to_pick) {
    spvf_pack *p = begin_pack();
    cr_assert_eq(spvf_pack_add(p, "b", NULL, ptx, sizeof ptx - 1), SPVF_OK);
    spvf_blob blob = end_pack(p);
    spvf_container *c = load(blob.data, blob.size);
    spvf_module *m;
    uint32_t image;
    cr_expect_eq(spvf_container_pick(c, "twice", "sm_60", &image), SPVF_ERROR_REFUSED);
    cr_expect(strstr(messages, "c: no image of kernel 'twice' is for sm_60"), "%s", messages);
    cr_expect_eq(spvf_container_module(&c, 1, "twice", NULL, &m), SPVF_ERROR_REFUSED);
    cr_expect(strstr(messages, "c: no SPIR-V holds kernel 'twice'"), "%s", messages);
    spvf_container_destroy(c);
    spvf_blob_destroy(&blob);
}

static bool has_body(const spvf_module *m, const char *name) {
    const ir_func *f = ir_func_find(m->ir, name);
    return f && !ir_is_declaration(f);
}

/* A function that another container exports; without it, the kernel is refused. */
Test(container, links) {
    spvf_blob a = pack_text("uses", uses, "spirv"), b = pack_text("twice", twice, "spirv");
    spvf_container *c[] = {load(a.data, a.size), load(b.data, b.size)};
    spvf_module *m;
    cr_assert_eq(spvf_container_module(c, 2, "uses", NULL, &m), SPVF_OK, "%s", messages);
    cr_expect(has_body(m, "scale") && spvf_module_find_kernel(m, "uses"));
    cr_expect_null(spvf_module_find_kernel(m, "uses")->refusal);
    spvf_module_destroy(m);
    cr_assert_eq(spvf_container_module(c, 1, NULL, NULL, &m), SPVF_OK);
    cr_expect(!has_body(m, "scale") && spvf_module_find_kernel(m, "uses")->refusal);
    spvf_module_destroy(m);
    cr_expect_eq(spvf_container_module(c, 2, "none", NULL, &m), SPVF_ERROR_ARGUMENT);
    spvf_container_destroy(c[0]);
    spvf_container_destroy(c[1]);
    spvf_blob_destroy(&a);
    spvf_blob_destroy(&b);
}

/* All images of one container, as a module that is loaded from its bytes. */
Test(container, as_a_module) {
    spvf_pack *p = begin_pack();
    spvf_module *m;
    add_text(p, "uses", uses, "spirv");
    add_text(p, "twice", twice, "spirv");
    spvf_blob blob = end_pack(p);
    cr_assert_eq(spvf_module_load(context, "c", blob.data, blob.size, NULL, &m), SPVF_OK, "%s",
                 messages);
    cr_expect_eq(spvf_module_kernel_count(m), 2);
    cr_expect_null(spvf_module_find_kernel(m, "uses")->refusal);
    spvf_module_destroy(m);
    spvf_blob_destroy(&blob);
}

/* --------------------------------------------------------------------------------- native objects */

/* The best image for this machine, in memory, run. */
Test(container, native) {
    spvf_blob blob = pack_everything();
    spvf_container *c = load(blob.data, blob.size);
    spvf_image_info info;
    spvf_native *n;
    uint32_t image;
    size_t size;
    cr_assert_eq(spvf_container_pick(c, "twice", "cpu", &image), SPVF_OK);
    cr_assert(spvf_container_image(c, image, &info));
    const void *code = spvf_container_code(c, image, &size);
    if (strcmp(info.format, "object") == 0) {
        cr_assert_eq(spvf_native_load(context, info.name, code, size, &n), SPVF_OK, "%s", messages);
        const spvf_native_kernel *k = spvf_native_kernels(n);
        cr_expect(strcmp(k[0].name, "twice") == 0 && !k[1].name);
        cr_expect(k->arg_count == 1 && k->args[0].kind == 0);
        float value = 1.5f;
        const spvf_group_info group = {.group_end = {1, 1, 1},
                                       .num_groups = {1, 1, 1},
                                       .local_size = {1, 1, 1},
                                       .global_size = {1, 1, 1},
                                       .work_dim = 1};
        k->run(&group, (void *const[]){&value});
        cr_expect_eq(value, 3.0f);
        spvf_native_destroy(n);
    }
    spvf_container_destroy(c);
    spvf_blob_destroy(&blob);
}

/* Constants with addresses, data, tables of jumps: all kinds of relocations. */
Test(container, native_data) {
    static const char text[] = "target 64\n@table: const [4 x i32] align 4 = {3, 5, 7, 9}\n"
                               "kernel @look(%p: ptr.global of i32, %i: i64) {\nentry:\n"
                               "  %o: i64 = shl %i, 2\n"
                               "  %q: ptr.const = ptradd @table, %o\n"
                               "  %v: i32 = load %q align 4\n"
                               "  store %v, %p align 4\n  ret\n}\n";
    spvf_module *m = load_text(context, text);
    const char *target = rt_default_target(&m->arena);
    spvf_blob o;
    spvf_native *n;
    if (target) {
        cr_assert_eq(spvf_module_emit(m, target, &o), SPVF_OK);
        cr_assert_eq(spvf_native_load(context, "o", o.data, o.size, &n), SPVF_OK, "%s", messages);
        uint32_t value = 0;
        uint64_t i = 2;
        const spvf_group_info group = {.group_end = {1, 1, 1},
                                       .num_groups = {1, 1, 1},
                                       .local_size = {1, 1, 1},
                                       .global_size = {1, 1, 1},
                                       .work_dim = 1};
        spvf_native_kernels(n)->run(&group, (void *const[]){&value, &i});
        cr_expect_eq(value, 7);
        spvf_native_destroy(n);
        spvf_blob_destroy(&o);
    }
    spvf_module_destroy(m);
}

/* All that the table of kernels leads to, but for code. */
static uint64_t read_table(const spvf_native *n) {
    uint64_t told = 0;
    for (const spvf_native_kernel *k = spvf_native_kernels(n); k->name; k++) {
        told += strlen(k->name);
        for (uint64_t a = 0; a < k->arg_count; a++) told += k->args[a].kind + k->args[a].size;
    }
    return told;
}

/* Any byte may be wrong, as long as nothing is run. */
Test(container, damaged_native) {
    spvf_module *m = load_text(context, twice);
    const char *target = rt_default_target(&m->arena);
    spvf_blob o;
    spvf_native *n;
    unsigned refused = 0;
    uint64_t told = 0;
    if (target) {
        cr_assert_eq(spvf_module_emit(m, target, &o), SPVF_OK);
        for (size_t at = 0; at < o.size; at++)
            for (unsigned flip = 0; flip < 3; flip++) {
                uint8_t *copy = malloc(o.size);
                memcpy(copy, o.data, o.size);
                copy[at] ^= (uint8_t[]){1, 0x80, 0xff}[flip];
                messages[0] = 0;
                spvf_status status =
                    spvf_native_load(context, "o", copy, flip ? o.size : at + 1, &n);
                cr_expect((status == SPVF_OK) == (n != NULL) && (n || messages[0]), "%zu", at);
                refused += !n;
                if (n) told += read_table(n);
                spvf_native_destroy(n);
                free(copy);
            }
        cr_expect_gt(refused, o.size);
        cr_expect_gt(told, 0, "tables of kernels are read");
        spvf_blob_destroy(&o);
    }
    cr_expect_eq(spvf_native_load(context, "o", "nothing", 7, &n), SPVF_ERROR_REFUSED);
    cr_expect(strstr(messages, "o: error: it is no object for this machine"), "%s", messages);
    spvf_module_destroy(m);
}

/* A kernel that is in no SPIR-V does not keep the others from being a module. */
Test(container, partly_spirv) {
    static const char other[] = ".version 7.0\n.target sm_70\n.visible .entry other()\n{\n}\n";
    spvf_pack *p = begin_pack();
    spvf_module *m;
    add_text(p, "a", twice, "spirv");
    cr_assert_eq(spvf_pack_add(p, "b", NULL, other, sizeof other - 1), SPVF_OK);
    spvf_blob blob = end_pack(p);
    cr_assert_eq(spvf_module_load(context, "c", blob.data, blob.size, NULL, &m), SPVF_OK);
    cr_expect(spvf_module_kernel_count(m) == 1 && spvf_module_find_kernel(m, "twice"));
    spvf_module_destroy(m);
    spvf_blob_destroy(&blob);
}

/* Objects and cubins of which any byte may be wrong: names are found, or the file is refused. */
static void count_name(void *user, const char *name) { *(size_t *)user += strlen(name); }

Test(container, damaged_objects) {
    spvf_module *m = load_text(context, twice);
    spvf_blob o;
    cr_assert_eq(spvf_module_emit(m, "x86_64:v3", &o), SPVF_OK);
    uint8_t *bytes = o.data;
    size_t names = 0;
    cr_expect(rt_list_code_kernels(RT_FORMAT_OBJECT, bytes, o.size, count_name, &names));
    cr_expect_eq(names, strlen("twice"));
    for (size_t n = 0; n < o.size; n++)
        for (unsigned f = RT_FORMAT_CUBIN; f <= RT_FORMAT_OBJECT; f++) {
            uint8_t *copy = malloc(o.size);
            memcpy(copy, bytes, o.size);
            copy[n] ^= 0x81;
            rt_list_code_kernels((rt_format)f, copy, o.size, count_name, &names);
            rt_list_code_kernels((rt_format)f, copy, n, count_name, &names);
            free(copy);
        }
    spvf_blob_destroy(&o);
    spvf_module_destroy(m);
}
