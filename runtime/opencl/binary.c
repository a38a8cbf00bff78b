/* binary.c — programs as bytes that last: a header, the values of specialization constants, SPIR-V,
 * and the source, where reports or debuggers want it.
 *
 * A container (docs/CONTAINER.md) is such a program, too, with default values.
 *
 * The header has a checksum of all the rest, so that what was damaged or cut is found out; other
 * versions of the library refuse what this one writes when the layout's number changes.
 */
#include "runtime/opencl/build.h"
#include "runtime/spvfuse_container.h"

#include <stdlib.h>

enum { LAYOUT = 3 };
static const char magic[8] = "SPVFOCL";

typedef struct {
    char magic[8];
    uint32_t layout, type;
    uint32_t uniform, arg_info, steps, unused;
    uint64_t spec_count, il_size, source_size; /* with the 0 at its end, or 0: none */
    uint64_t checksum;                         /* of the whole with 0 here */
} header;

static uint64_t checksum(const header *h, const void *rest, size_t size) {
    header plain = *h;
    plain.checksum = 0;
    return ir_hash(ir_hash(LAYOUT, &plain, sizeof plain), rest, size);
}

/* The same value always has the same bytes: specs have no padding that memcpy could bring along. */
static void put_specs(char *to, const ocl_code *code) {
    for (size_t k = 0; k < code->spec_count; k++) {
        spvf_spec_value s;
        memset(&s, 0, sizeof s);
        s.id = code->specs[k].id;
        s.value = code->specs[k].value;
        memcpy(to + k * sizeof s, &s, sizeof s);
    }
}

ocl_binary ocl_encode(const ocl_code *code) {
    size_t source = code->source ? strlen(code->source) + 1 : 0;
    size_t specs = code->spec_count * sizeof *code->specs, rest = specs + code->il_size + source;
    char *bytes = malloc(sizeof(header) + rest), *body = bytes + sizeof(header);
    if (!bytes) return (ocl_binary){0};
    header h = {.layout = LAYOUT,
                .type = code->type,
                .uniform = code->uniform,
                .arg_info = code->arg_info,
                .steps = code->steps,
                .spec_count = code->spec_count,
                .il_size = code->il_size,
                .source_size = source};
    memcpy(h.magic, magic, sizeof magic);
    put_specs(body, code);
    memcpy(body + specs, code->il, code->il_size);
    if (source) memcpy(body + specs + code->il_size, code->source, source);
    h.checksum = checksum(&h, body, rest);
    memcpy(bytes, &h, sizeof h);
    return (ocl_binary){bytes, sizeof h + rest};
}

ocl_binary ocl_copy_binary(const void *bytes, size_t size) {
    ocl_binary b = {malloc(size), size};
    if (b.bytes) memcpy(b.bytes, bytes, size);
    return b;
}

static bool is_whole(const header *h, const void *rest, size_t size) {
    if (memcmp(h->magic, magic, sizeof magic) != 0 || h->layout != LAYOUT) return false;
    if (h->type < CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT ||
        h->type > CL_PROGRAM_BINARY_TYPE_EXECUTABLE || (h->type & (h->type - 1)))
        return false;
    if (h->spec_count > size / sizeof(spvf_spec_value)) return false;
    size_t left = size - h->spec_count * sizeof(spvf_spec_value);
    if (h->il_size > left || h->source_size != left - h->il_size) return false;
    if (h->source_size && ((const char *)rest)[size - 1]) return false;
    return h->checksum == checksum(h, rest, size);
}

/* Of a container only the SPIR-V is of use here: it is a program that has been linked. */
static bool decode_container(const void *bytes, size_t size, ocl_code *code) {
    spvf_context *context;
    spvf_container *c = NULL;
    if (rt_context_create(NULL, &context) != SPVF_OK) return false;
    bool ok = spvf_container_load(context, "binary", bytes, size, &c) == SPVF_OK &&
              spvf_container_verify(c) == SPVF_OK;
    spvf_container_destroy(c);
    spvf_context_destroy(context);
    *code = (ocl_code){.type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE, .il = bytes, .il_size = size};
    return ok;
}

bool ocl_decode(const void *bytes, size_t size, ocl_code *code) {
    const rt_source source = {.bytes = bytes, .size = size};
    header h;
    bool ours = size >= sizeof h && memcmp(bytes, magic, sizeof magic) == 0;
    if (!ours) return rt_is_container_source(&source) && decode_container(bytes, size, code);
    memcpy(&h, bytes, sizeof h);
    const char *body = (const char *)bytes + sizeof h;
    if (!is_whole(&h, body, size - sizeof h)) return false;
    const spvf_spec_value *specs = (const void *)body;
    const char *il = (const void *)(specs + h.spec_count);
    *code = (ocl_code){.type = h.type,
                       .uniform = h.uniform != 0,
                       .arg_info = h.arg_info != 0,
                       .steps = h.steps != 0,
                       .specs = specs,
                       .spec_count = h.spec_count,
                       .il = il,
                       .il_size = h.il_size,
                       .source = h.source_size ? il + h.il_size : NULL};
    return true;
}
