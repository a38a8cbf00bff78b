/* hcf_test.c — AdaptiveCpp's text containers: what its compiler writes comes back byte for byte, other
 * nodes are kept, and each mistake has its line.
 */
#include "runtime/container/container.h"
#include "tests/runtime/bench.h"

#define MARKER "__acpp_hcf_binary_appendix"

static spvf_context *context;
static void begin(void) { context = new_context(); }
static void end(void) {
    spvf_context_destroy(context);
    cr_expect_eq(bytes_held, 0, "%zu bytes are kept", bytes_held);
}
TestSuite(hcf, .init = begin, .fini = end);

/* In the order of its compiler, TargetSeparationPass. */
static const char written[] = "object-id=10872634534\n"
                              "generator=hipSYCL SSCP\n"
                              "{.images\n"
                              "{.llvm-ir.global\n"
                              "variant=global-module\n"
                              "format=llvm-ir\n"
                              "{.__binary\nstart=0\nsize=6\n}.__binary\n"
                              "{.exported-symbols\n{._Z3addff\n}._Z3addff\n}.exported-symbols\n"
                              "{.imported-symbols\n{._Z3subff\n}._Z3subff\n{.f\n}.f\n"
                              "}.imported-symbols\n"
                              "}.llvm-ir.global\n"
                              "}.images\n"
                              "{.kernels\n"
                              "{._Z1k\n"
                              "{.image-providers\n{.llvm-ir.global\n}.llvm-ir.global\n"
                              "}.image-providers\n"
                              "{.compile-flags\nfast-math=1\n}.compile-flags\n"
                              "{.compile-options\nptx-version=70\n}.compile-options\n"
                              "{.parameters\n"
                              "{.0\nbyte-offset=0\nbyte-size=8\noriginal-index=0\ntype=pointer\n"
                              "{.annotations\nspecialized=1\n}.annotations\n}.0\n"
                              "{.1\nbyte-offset=8\nbyte-size=4\noriginal-index=0\ntype=integer\n"
                              "{.annotations\n}.annotations\n}.1\n"
                              "}.parameters\n"
                              "}._Z1k\n"
                              "{.empty\n{.image-providers\n}.image-providers\n"
                              "{.compile-flags\n}.compile-flags\n"
                              "{.compile-options\n}.compile-options\n"
                              "{.parameters\n}.parameters\n}.empty\n"
                              "}.kernels\n" MARKER "BC\xc0\xde\n\0";

static spvf_blob through_container(const char *text, size_t size) {
    spvf_container *c;
    spvf_blob out;
    cr_assert_eq(spvf_container_load(context, "x.hcf", text, size, &c), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_container_hcf(c, &out), SPVF_OK, "%s", messages);
    spvf_container_destroy(c);
    return out;
}

static void expect_same(const char *text, size_t size, const char *wanted, size_t wanted_size) {
    spvf_blob out = through_container(text, size);
    cr_expect(out.size == wanted_size && memcmp(out.data, wanted, out.size) == 0, "%s",
              (const char *)out.data);
    spvf_blob_destroy(&out);
}

Test(hcf, comes_back) { expect_same(written, sizeof written - 1, written, sizeof written - 1); }

Test(hcf, contents) {
    spvf_container *c;
    spvf_image_info image;
    spvf_symbol s;
    spvf_property p;
    size_t size, count;
    cr_assert_eq(spvf_container_load(context, "x", written, sizeof written - 1, &c), SPVF_OK);
    cr_assert(spvf_container_image(c, 0, &image) && strcmp(image.format, "llvm-ir") == 0);
    cr_expect(memcmp(spvf_container_code(c, 0, &size), "BC\xc0\xde\n", 6) == 0 && size == 6);
    cr_expect(spvf_container_symbol(c, 2, &s) && s.imported && strcmp(s.name, "f") == 0);
    const spvf_kernel_info *k = spvf_container_kernel(c, 0);
    cr_assert(k && k->arg_count == 2 && k->args[1]->kind == SPVF_ARG_VALUE);
    cr_expect(k->args[0]->kind == SPVF_ARG_BUFFER && k->args[1]->offset == 8 &&
              k->args[1]->size == 4);
    cr_expect(spvf_container_providers(c, 0, &count) && count == 1);
    cr_expect_null(spvf_container_providers(c, 1, &count));
    bool found = false;
    for (size_t n = 0; spvf_container_property(c, n, &p); n++)
        found |= p.owner == SPVF_OF_ARG && strcmp(p.key, "annotations/specialized") == 0;
    cr_expect(found);
    spvf_container_destroy(c);
}

/* White space, other nodes, other orders, names with signs that paths have. */
Test(hcf, other_nodes) {
    static const char odd[] =
        "  object-id = 5 \n\t generator=x y\n\n{.a/b \n c%2fd= 1\n{.deep\n}.deep\n"
        "}.a/b\n{.images\nnote=n\n}.images\n" MARKER;
    static const char plain[] = "object-id=5\ngenerator=x y\n{.images\nnote=n\n}.images\n"
                                "{.a/b\nc%2fd=1\n{.deep\n}.deep\n}.a/b\n" MARKER;
    spvf_blob out = through_container(odd, sizeof odd - 1);
    expect_same(out.data, out.size, out.data, out.size);
    cr_expect(strstr(out.data, "{.a/b\nc%2fd=1\n{.deep\n}.deep\n}.a/b\n"), "%s",
              (const char *)out.data);
    cr_expect_eq(out.size, sizeof plain - 1);
    spvf_blob_destroy(&out);
}

/* What spvfuse packs has what AdaptiveCpp's runtime needs. */
Test(hcf, of_a_pack) {
    spvf_module *m =
        load_text(context, "target 64\nkernel @k(%p: ptr.global, %v: i32) {\nentry:\n  ret\n}\n");
    spvf_pack *p;
    spvf_blob blob;
    cr_assert_eq(spvf_pack_create(context, &p), SPVF_OK);
    cr_assert_eq(spvf_pack_emit(p, "k.spv", m, "spirv"), SPVF_OK);
    cr_assert_eq(spvf_pack_write(p, &blob), SPVF_OK);
    spvf_blob out = through_container(blob.data, blob.size);
    static const char *const wanted[] = {
        "object-id=", "generator=spvfuse\n", "{.k.spv\nvariant=global-module\nformat=spirv\n",
        "{.image-providers\n{.k.spv\n",
        "{.1\nbyte-offset=0\nbyte-size=4\noriginal-index=1\ntype=other-by-value\n"};
    for (unsigned n = 0; n < sizeof wanted / sizeof *wanted; n++)
        cr_expect(strstr(out.data, wanted[n]), "%s: %s", wanted[n], (const char *)out.data);
    expect_same(out.data, out.size, out.data, out.size);
    spvf_blob_destroy(&out);
    spvf_blob_destroy(&blob);
    spvf_pack_destroy(p);
    spvf_module_destroy(m);
}

Test(hcf, mistakes) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"a=1\n{.b\n}.c\n", "x:3: error: node 'c' ends, where 'b' of line 2 is open"},
        {"}.b\n", "x:1: error: node 'b' ends, and has not begun"},
        {"\n{.b\n", "x:2: error: node 'b' does not end"},
        {"{.b\n}.b\n{.b\n}.b\n", "x:3: error: node 'b' has been in line 1 already"},
        {"a\n", "x:1: error: 'a' is no node and has no '='"},
        {"{.\n}.\n", "x:1: error: a node has no name"},
        {"{.images\n{.i\nvariant=v\n}.i\n}.images\n", "x:2: error: node 'i' has no key 'format'"},
        {"{.images\n{.i\nvariant=v\nformat=f\n}.i\n}.images\n",
         "x:2: error: image 'i' has no bytes"},
        {"{.images\n{.i\nvariant=v\nformat=f\n{.__binary\nstart=0\nsize=5\n}.__binary\n}.i\n"
         "}.images\n",
         "x:5: error: image 'i' is beyond the 4 bytes after the text"},
        {"{.images\n{.i\nvariant=v\nformat=f\n{.__binary\nstart=18446744073709551617\nsize=1\n"
         "}.__binary\n}.i\n}.images\n",
         "x:6: error: start is no number, or a large one"},
        {"{.o\n{.__binary\nstart=0\nsize=1\n}.__binary\n}.o\n",
         "x:2: error: bytes of a node that is no image"},
        {"{.kernels\n{.k\n{.image-providers\n{.i\n}.i\n}.image-providers\n}.k\n}.kernels\n",
         "x:4: error: there is no image 'i'"},
        {"{.kernels\n{.k\n{.parameters\n{.1\n}.1\n}.parameters\n}.k\n}.kernels\n",
         "x:3: error: there are 1 parameters, and no parameter 0"},
        {"{.kernels\n{.k\n{.parameters\n{.0\ntype=integer\nbyte-size=x\n}.0\n}.parameters\n}.k\n"
         "}.kernels\n",
         "x:6: error: byte-size is no number"},
        {"{.images\n{.i\nvariant=v\nformat=f\n{.__binary\nstart=0\nsize=1\n}.__binary\n"
         "{.exported-symbols\n{.s\na=b\n}.s\n}.exported-symbols\n}.i\n}.images\n",
         "x:10: error: 's' is in a list, and has contents"},
    };
    for (unsigned n = 0; n < sizeof cases / sizeof *cases; n++) {
        char text[1000];
        spvf_container *c;
        messages[0] = 0;
        int size = snprintf(text, sizeof text, "%s%sABCD", cases[n].text, MARKER);
        cr_expect_eq(spvf_container_load(context, "x", text, (size_t)size, &c), SPVF_ERROR_INPUT,
                     "%s", cases[n].text);
        cr_expect(strncmp(messages, cases[n].message, strlen(cases[n].message)) == 0, "'%s': %s",
                  cases[n].text, messages);
        spvf_container_destroy(c);
    }
}

/* Nodes in nodes. */
Test(hcf, deep) {
    enum { DEEP = 70 };
    char text[DEEP * 12 + 100] = "";
    spvf_container *c;
    for (int n = 0; n < DEEP; n++) strcat(text, "{.n\n");
    for (int n = 0; n < DEEP; n++) strcat(text, "}.n\n");
    strcat(text, MARKER);
    cr_expect_eq(spvf_container_load(context, "x", text, strlen(text), &c), SPVF_ERROR_INPUT);
    cr_expect(strstr(messages, "x:65: error: nodes are nested more than 64 deep"), "%s", messages);
}

/* A name that would end the text, and others that would be read as something else. */
Test(hcf, what_it_cannot_hold) {
    static const spvf_property wrong[] = {
        {.key = "a\nb", .value = "1"}, {.key = "a", .value = "x\ny"}, {.key = "{.a", .value = "1"},
        {.key = "a=b", .value = "1"},  {.key = "a", .value = " x"},   {.key = " a", .value = "x"},
        {.key = "a", .value = MARKER}};
    for (unsigned n = 0; n < sizeof wrong / sizeof *wrong; n++) {
        spvf_pack *p;
        spvf_blob blob, out;
        spvf_container *c;
        cr_assert_eq(spvf_pack_create(context, &p), SPVF_OK);
        cr_assert_eq(spvf_pack_set(p, &wrong[n]), SPVF_OK);
        cr_assert_eq(spvf_pack_write(p, &blob), SPVF_OK);
        cr_assert_eq(spvf_container_load(context, "c", blob.data, blob.size, &c), SPVF_OK);
        cr_expect_eq(spvf_container_hcf(c, &out), SPVF_ERROR_REFUSED, "%u", n);
        spvf_container_destroy(c);
        spvf_blob_destroy(&blob);
        spvf_pack_destroy(p);
    }
}

/* Each bit is read as it is, or refused; nothing is read beyond the end. */
Test(hcf, damaged) {
    char *copy = malloc(sizeof written - 1);
    for (size_t n = 0; n < (sizeof written - 1) * 8; n++) {
        spvf_container *c;
        spvf_blob out;
        memcpy(copy, written, sizeof written - 1);
        copy[n / 8] ^= (char)(1 << n % 8);
        messages[0] = 0;
        if (spvf_container_load(context, "x", copy, sizeof written - 1, &c) != SPVF_OK) {
            cr_expect_neq(messages[0], 0);
            continue;
        }
        if (spvf_container_hcf(c, &out) == SPVF_OK) {
            spvf_blob again = through_container(out.data, out.size);
            cr_expect(again.size == out.size && memcmp(again.data, out.data, out.size) == 0,
                      "bit %zu", n);
            spvf_blob_destroy(&again);
            spvf_blob_destroy(&out);
        }
        spvf_container_destroy(c);
    }
    free(copy);
}
