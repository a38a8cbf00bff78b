/* read.c — header, table and sections of a container, each checked before it is used.
 *
 * Loading reads the header and the table, and nothing else.  Any other section is checked when
 * something of it is asked for: first its checksum, then each field of its records, so that no
 * reader needs to check a field again.  No other page of a file that is mapped is touched before.
 *
 * The checksum mixes in one word of 8 bytes after the other, and each step is a bijection of the
 * state for a given word, and of the word for a given state.  So two sections that differ in one
 * word always have different checksums: each damaged bit is found.  Bytes between sections mean
 * nothing.
 */
#include "runtime/container/container.h"

const char rt_container_magic[8] = {'s', 'p', 'v', 'f', 'u', 's', 'e', 0x1a};

static const struct {
    const char *name;
    uint32_t record;
} kinds[] = {
    {"", 1},
#define SECTION(id, name, record, doc) {name, (uint32_t)sizeof(record)},
#include "runtime/container/sections.def"
#undef SECTION
};

static_assert(sizeof(rt_container_header) == 32 && sizeof(rt_section_row) == 32, "no padding");
static_assert(sizeof(rt_kernel_record) == 64 && sizeof(rt_arg_record) == 40, "no padding");

uint64_t rt_header_checksum(const rt_container_header *h, const rt_section_row *rows) {
    rt_container_header plain = *h;
    plain.checksum = 0;
    return ir_hash(ir_hash(0, &plain, sizeof plain), rows, h->sections * sizeof *rows);
}

uint64_t rt_section_checksum(const rt_section_row *row, const void *bytes) {
    return ir_hash(row->kind, bytes, row->size);
}

bool rt_is_container(const void *bytes, size_t size) {
    return size >= sizeof rt_container_magic &&
           memcmp(bytes, rt_container_magic, sizeof rt_container_magic) == 0;
}

/* --------------------------------------------------------------------------------------- errors */

void rt_container_fail(const spvf_container *c, uint32_t number, uint64_t at, const char *fmt,
                       ...) {
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    const rt_section_row *row = &c->rows[number];
    const char *kind = row->kind < RT_SECTION_KINDS ? kinds[row->kind].name : "unknown";
    ir_report(&c->context->cx, (ir_message){.severity = IR_ERROR, .file = c->name},
              "byte 0x%llx, section %u (%s): %s", (unsigned long long)(row->offset + at), number,
              kind, text);
    ir_throw(&c->context->cx, IR_ERR_INPUT);
}

IR_NORETURN IR_PRINTF(3, 4) static void fail_head(const spvf_container *c, size_t at,
                                                  const char *fmt, ...) {
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    ir_report(&c->context->cx, (ir_message){.severity = IR_ERROR, .file = c->name},
              "byte 0x%zx, header: %s", at, text);
    ir_throw(&c->context->cx, IR_ERR_INPUT);
}

/* ----------------------------------------------------------------------------- header and table */

static void check_header(const spvf_container *c, const rt_container_header *h) {
    if (c->size < sizeof *h || !rt_is_container(c->bytes, c->size))
        fail_head(c, 0, "it is no container");
    if (h->version != RT_CONTAINER_VERSION)
        fail_head(c, offsetof(rt_container_header, version), "version %u, where %u is known",
                  h->version, RT_CONTAINER_VERSION);
    if (h->size != c->size)
        fail_head(c, offsetof(rt_container_header, size), "size %llu, where there are %zu bytes",
                  (unsigned long long)h->size, c->size);
    if (h->sections > (c->size - sizeof *h) / sizeof(rt_section_row))
        fail_head(c, offsetof(rt_container_header, sections), "the table of %u sections is cut",
                  h->sections);
    if (h->checksum != rt_header_checksum(h, c->rows))
        fail_head(c, offsetof(rt_container_header, checksum), "the checksum is wrong");
}

/* One row; gives the end of its section. */
static uint64_t check_row(spvf_container *c, uint32_t number, uint64_t end) {
    const rt_section_row *r = &c->rows[number];
    if (r->offset != rt_section_place(end))
        rt_container_fail(c, number, 0, "it does not follow the section before");
    if (r->offset > c->size || r->size > c->size - r->offset)
        rt_container_fail(c, number, 0, "its %llu bytes are beyond the end of the file",
                          (unsigned long long)r->size);
    if (r->reserved || r->kind == RT_NO_SECTION)
        rt_container_fail(c, number, 0, "kind %u, reserved %u", r->kind, r->reserved);
    if (r->kind >= RT_SECTION_KINDS || r->kind == RT_SECTION_CODE) return r->offset + r->size;
    if (c->row_of[r->kind]) rt_container_fail(c, number, 0, "it is the second one of its kind");
    if (r->size % kinds[r->kind].record || r->size > UINT32_MAX)
        rt_container_fail(c, number, 0, "%llu bytes, in records of %u", (unsigned long long)r->size,
                          kinds[r->kind].record);
    c->row_of[r->kind] = number + 1;
    return r->offset + r->size;
}

void rt_container_check_head(spvf_container *c) {
    rt_container_header h = {.version = 0};
    if (c->size >= sizeof h) memcpy(&h, c->bytes, sizeof h);
    c->rows = (const void *)(c->bytes + sizeof h);
    check_header(c, &h);
    c->section_count = h.sections;
    c->checked = ir_new_array(&c->arena, bool, h.sections);
    uint64_t end = sizeof h + h.sections * sizeof *c->rows;
    for (uint32_t n = 0; n < h.sections; n++) end = check_row(c, n, end);
    if (end != c->size) fail_head(c, end, "%llu bytes follow", (unsigned long long)(c->size - end));
}

/* ---------------------------------------------------------------------------- fields of records */

typedef struct {
    spvf_container *c;
    uint32_t section; /* its number */
    uint32_t record_size;
    uint32_t strings;         /* their bytes */
    uint64_t args, providers; /* of the kernels so far */
} checking;

/* A field of a record, for a message. */
IR_NORETURN static void fail_field(const checking *k, uint32_t record, const char *field,
                                   uint64_t value) {
    rt_container_fail(k->c, k->section, (uint64_t)record * k->record_size,
                      "record %u: %s is %llu, which does not exist", record, field,
                      (unsigned long long)value);
}

static void check_text(const checking *k, uint32_t record, const char *field, uint32_t at) {
    if (at >= k->strings && at) fail_field(k, record, field, at);
}

static void check_name(const checking *k, uint32_t record, uint32_t at) {
    check_text(k, record, "name", at);
    if (!*rt_container_text(k->c, at)) fail_field(k, record, "name", at);
}

/* Is the value the number of a record there? */
static void check_number(const checking *k, uint32_t record, const char *field, uint32_t value,
                         rt_section_kind kind) {
    if (value >= rt_count_records(k->c, kind)) fail_field(k, record, field, value);
}

static void check_kernel(checking *k, uint32_t n, const void *record) {
    const rt_kernel_record *r = record;
    check_name(k, n, r->name);
    if (r->first_arg != k->args) fail_field(k, n, "first_arg", r->first_arg);
    if (r->first_provider != k->providers) fail_field(k, n, "first_provider", r->first_provider);
    if (r->reserved) fail_field(k, n, "reserved", r->reserved);
    k->args += (uint64_t)r->args + r->host_args;
    k->providers += r->providers;
    if (k->args > rt_count_records(k->c, RT_SECTION_ARGS)) fail_field(k, n, "args", r->args);
    if (k->providers > rt_count_records(k->c, RT_SECTION_PROVIDERS))
        fail_field(k, n, "providers", r->providers);
}

static void check_arg(checking *k, uint32_t n, const void *record) {
    const rt_arg_record *r = record;
    check_text(k, n, "name", r->name);
    check_text(k, n, "type_name", r->type_name);
    if (r->kind > SPVF_ARG_SAMPLER) fail_field(k, n, "kind", r->kind);
    if (r->flags >= 4 * RT_ARG_ACCESS) fail_field(k, n, "flags", r->flags);
}

static void check_image(checking *k, uint32_t n, const void *record) {
    const rt_image_record *r = record;
    check_name(k, n, r->name);
    check_text(k, n, "format", r->format);
    check_text(k, n, "target", r->target);
    if (r->section >= k->c->section_count || k->c->rows[r->section].kind != RT_SECTION_CODE)
        fail_field(k, n, "section", r->section);
}

static void check_provider(checking *k, uint32_t n, const void *record) {
    check_number(k, n, "image", *(const uint32_t *)record, RT_SECTION_IMAGES);
}

static void check_symbol(checking *k, uint32_t n, const void *record) {
    const rt_symbol_record *r = record;
    check_name(k, n, r->name);
    check_number(k, n, "image", r->image, RT_SECTION_IMAGES);
    if (n && r[-1].image > r->image) fail_field(k, n, "image, after a later one,", r->image);
    if (r->imported > 1) fail_field(k, n, "imported", r->imported);
}

static void check_property(checking *k, uint32_t n, const void *record) {
    const rt_property_record *r = record;
    check_text(k, n, "key", r->key);
    check_text(k, n, "value", r->value);
    if (r->owner > SPVF_OF_ARG) fail_field(k, n, "owner", r->owner);
    if (r->owner == SPVF_OF_CONTAINER && r->index) fail_field(k, n, "index", r->index);
    if (r->owner == SPVF_OF_IMAGE) check_number(k, n, "index", r->index, RT_SECTION_IMAGES);
    if (r->owner < SPVF_OF_KERNEL) return;
    check_number(k, n, "index", r->index, RT_SECTION_KERNELS);
    const rt_kernel_record *kernels = rt_records(k->c, RT_SECTION_KERNELS, NULL);
    if (r->owner == SPVF_OF_ARG && r->arg >= kernels[r->index].args)
        fail_field(k, n, "arg", r->arg);
}

static void (*const field_checks[RT_SECTION_KINDS])(checking *k, uint32_t n, const void *record) = {
    [RT_SECTION_KERNELS] = check_kernel, [RT_SECTION_ARGS] = check_arg,
    [RT_SECTION_IMAGES] = check_image,   [RT_SECTION_PROVIDERS] = check_provider,
    [RT_SECTION_SYMBOLS] = check_symbol, [RT_SECTION_PROPERTIES] = check_property,
};

/* ------------------------------------------------------------------------------------- sections */

static void check_fields(spvf_container *c, uint32_t number) {
    const rt_section_row *row = &c->rows[number];
    const uint8_t *bytes = c->bytes + row->offset;
    checking k = {.c = c,
                  .section = number,
                  .record_size = kinds[row->kind].record,
                  .strings = rt_count_records(c, RT_SECTION_STRINGS)};
    if (row->kind == RT_SECTION_STRINGS && (!row->size || bytes[0] || bytes[row->size - 1]))
        rt_container_fail(c, number, 0, "strings begin and end with a 0");
    if (!field_checks[row->kind]) return;
    uint32_t n = (uint32_t)row->size / k.record_size;
    for (uint32_t r = 0; r < n; r++) field_checks[row->kind](&k, r, bytes + r * k.record_size);
}

const void *rt_section_bytes(spvf_container *c, uint32_t number) {
    const rt_section_row *row = &c->rows[number];
    const uint8_t *bytes = c->bytes + row->offset;
    if (c->checked[number]) return bytes;
    if (row->checksum != rt_section_checksum(row, bytes))
        rt_container_fail(c, number, 0, "the checksum is wrong");
    if (row->kind < RT_SECTION_KINDS) check_fields(c, number);
    c->checked[number] = true;
    return bytes;
}

uint32_t rt_count_records(const spvf_container *c, rt_section_kind kind) {
    uint32_t row = c->row_of[kind];
    return row ? (uint32_t)c->rows[row - 1].size / kinds[kind].record : 0;
}

const void *rt_records(spvf_container *c, rt_section_kind kind, uint32_t *count) {
    if (count) *count = rt_count_records(c, kind);
    return c->row_of[kind] ? rt_section_bytes(c, c->row_of[kind] - 1) : NULL;
}

const char *rt_container_strings(spvf_container *c) {
    const char *strings = rt_records(c, RT_SECTION_STRINGS, NULL);
    return c->strings = strings ? strings : "";
}
