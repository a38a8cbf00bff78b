/* container_test.c — programs from containers: as SPIR-V and as binaries, with constants, of several
 * images that are linked, as HCF, and damaged ones.
 */
#include "runtime/spvfuse_container.h"
#include "tests/opencl/module.h"

TestSuite(container, .init = begin_opencl, .fini = end_opencl);

static const char helper[] = "target 64\n"
                             "func @five(): i32 export {\nentry:\n  ret i32 5\n}\n";
static const char caller[] = "target 64\n"
                             "func @five(): i32 import\n"
                             "kernel @k(%p: ptr.global of i32) {\nentry:\n"
                             "  %v: i32 = call @five()\n"
                             "  store %v, %p align 4\n  ret\n}\n";

typedef struct {
    spvf_context *context;
    spvf_pack *pack;
} packing;

static packing begin_pack(void) {
    packing p;
    cr_assert_eq(spvf_context_create(NULL, &p.context), SPVF_OK);
    cr_assert_eq(spvf_pack_create(p.context, &p.pack), SPVF_OK);
    return p;
}

static void add_text(const packing *p, const char *text) {
    spvf_module *m;
    cr_assert_eq(spvf_module_load(p->context, "k", text, strlen(text), NULL, &m), SPVF_OK);
    cr_assert_eq(spvf_pack_emit(p->pack, "k", m, "spirv"), SPVF_OK);
    spvf_module_destroy(m);
}

/* The bytes, to be freed. */
static unsigned char *end_pack(packing *p, bool hcf, size_t *size) {
    spvf_blob blob, text;
    cr_assert_eq(spvf_pack_write(p->pack, &blob), SPVF_OK);
    if (hcf) {
        spvf_container *c;
        cr_assert_eq(spvf_container_load(p->context, "c", blob.data, blob.size, &c), SPVF_OK);
        cr_assert_eq(spvf_container_hcf(c, &text), SPVF_OK);
        spvf_container_destroy(c);
        spvf_blob_destroy(&blob);
        blob = text;
    }
    unsigned char *bytes = malloc(blob.size);
    memcpy(bytes, blob.data, *size = blob.size);
    spvf_blob_destroy(&blob);
    spvf_pack_destroy(p->pack);
    spvf_context_destroy(p->context);
    return bytes;
}

static unsigned char *pack_words(bool hcf, size_t *size) {
    packing p = begin_pack();
    write_module();
    cr_assert_eq(spvf_pack_add(p.pack, "k", NULL, words, nwords * 4), SPVF_OK);
    return end_pack(&p, hcf, size);
}

/* Its constants can be set, and what was given is given back. */
Test(container, il) {
    for (int hcf = 0; hcf < 2; hcf++) {
        size_t size, back;
        unsigned char *bytes = pack_words(hcf, &size), again[4000];
        cl_program p = MAKE(clCreateProgramWithIL(ocl.context, bytes, size, &error));
        SUCCEEDS(clGetProgramInfo(p, CL_PROGRAM_IL, sizeof again, again, &back));
        cr_expect(back == size && memcmp(again, bytes, size) == 0);
        free(bytes);
        build(p, NULL);
        cr_expect(result_of(p, "k") == 5);
        SUCCEEDS(clSetProgramSpecializationConstant(p, 7, 4, &(cl_uint){30}));
        build(p, NULL);
        cr_expect(result_of(p, "k") == 30);
        p = through_binary(p);
        build(p, NULL);
        cr_expect(result_of(p, "k") == 30);
        SUCCEEDS(clReleaseProgram(p));
    }
}

Test(container, binary) {
    for (int hcf = 0; hcf < 2; hcf++) {
        size_t size;
        unsigned char *bytes = pack_words(hcf, &size);
        cl_program p = from_binary(bytes, size);
        cr_expect(type_of(p) == CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
        build(p, NULL);
        cr_expect(result_of(p, "k") == 5);
        p = through_binary(p);
        build(p, NULL);
        cr_expect(result_of(p, "k") == 5);
        free(bytes);
        SUCCEEDS(clReleaseProgram(p));
    }
}

Test(container, linked) {
    size_t size;
    packing all = begin_pack();
    add_text(&all, caller);
    add_text(&all, helper);
    unsigned char *bytes = end_pack(&all, false, &size);
    cl_program p = from_binary(bytes, size);
    build(p, NULL);
    cr_expect(result_of(p, "k") == 5);
    free(bytes);
    SUCCEEDS(clReleaseProgram(p));
}

Test(container, damaged) {
    size_t size;
    unsigned char *bytes = pack_words(false, &size);
    const unsigned char *binary = bytes;
    bytes[size - 1] ^= 1;
    REFUSES(CL_INVALID_BINARY,
            clCreateProgramWithBinary(ocl.context, 1, &ocl.device, &size, &binary, NULL, &error));
    cl_program p = MAKE(clCreateProgramWithIL(ocl.context, bytes, size, &error));
    FAILS(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
    cr_expect(log_has(p, "(code): the checksum is wrong"));
    SUCCEEDS(clReleaseProgram(p));
    free(bytes);
}

/* --------------------------------------------------------------------------------------- objects */

static bool is_x86(void) {
#ifdef __x86_64__
    return true;
#else
    return false;
#endif
}

static spvf_blob emit(const packing *p, const void *code, size_t size, const char *target) {
    spvf_module *m;
    spvf_blob out;
    cr_assert_eq(spvf_module_load(p->context, "k", code, size, NULL, &m), SPVF_OK);
    cr_assert_eq(spvf_module_emit(m, target, &out), SPVF_OK);
    spvf_module_destroy(m);
    return out;
}

/* An object, and what it says of itself: version 1, level 2, and what it was made of. */
static char *find_origin(const spvf_blob *object) {
    static const unsigned char head[8] = {1, 0, 0, 0, 2};
    for (size_t n = 0; n + 16 <= object->size; n += 8)
        if (memcmp((char *)object->data + n, head, sizeof head) == 0)
            return (char *)object->data + n;
    cr_assert_fail("the object says nothing of itself");
    return NULL;
}

/* The SPIR-V says 5; the object beside it 6, though it claims to be made of that SPIR-V. */
static unsigned char *pack_two(size_t *size) {
    static const char five[] = "target 64\nkernel @k(%p: ptr.global of i32) {\nentry:\n"
                               "  store i32 5, %p align 4\n  ret\n}\n";
    char six[sizeof five];
    packing p = begin_pack();
    memcpy(six, five, sizeof six);
    *strchr(six, '5') = '6';
    spvf_blob spirv = emit(&p, five, sizeof five - 1, "spirv");
    spvf_blob mine = emit(&p, spirv.data, spirv.size, "x86_64:v2");
    spvf_blob other_spirv = emit(&p, six, sizeof six - 1, "spirv");
    spvf_blob other = emit(&p, other_spirv.data, other_spirv.size, "x86_64:v2");
    memcpy(find_origin(&other), find_origin(&mine), 16);
    cr_assert_eq(spvf_pack_add(p.pack, "k", NULL, spirv.data, spirv.size), SPVF_OK);
    cr_assert_eq(spvf_pack_add(p.pack, "o", "x86_64:v2", other.data, other.size), SPVF_OK);
    spvf_blob_destroy(&spirv);
    spvf_blob_destroy(&mine);
    spvf_blob_destroy(&other_spirv);
    spvf_blob_destroy(&other);
    return end_pack(&p, false, size);
}

Test(container, objects_are_run) {
    const char *why;
    size_t size;
    unsigned char *bytes = pack_two(&size);
    spvf_default_device(&why);
    cl_program p = MAKE(clCreateProgramWithIL(ocl.context, bytes, size, &error));
    build(p, NULL);
    cr_expect_eq(result_of(p, "k"), why || !is_x86() ? 5 : 6);
    p = through_binary(p);
    build(p, NULL);
    cr_expect_eq(result_of(p, "k"), why || !is_x86() ? 5 : 6);
    free(bytes);
    SUCCEEDS(clReleaseProgram(p));
}
