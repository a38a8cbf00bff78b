/* write.c — contents to the bytes of a container.
 *
 * Records are made first, while their texts go into one table of strings, in which equal texts are
 * one.
 * Then places follow from sizes: the sections with records in the order of sections.def, then the
 * code of each image.
 */
#include "runtime/container/container.h"

typedef struct text_at {
    const char *text;
    uint32_t at;
    struct text_at *next; /* of the same hash */
} text_at;

typedef struct {
    const void *bytes;
    uint64_t size;
    rt_section_kind kind;
} section;

typedef struct {
    const spvf_pack *p;
    ir_arena *arena;
    ir_text strings;
    ir_map texts; /* hash -> text_at */
    ir_vec(section) sections;
} writing;

/* -------------------------------------------------------------------------------------- records */

static uint32_t put_text(writing *w, const char *text) {
    if (!text || !*text) return 0;
    size_t n = strlen(text);
    uint64_t hash = ir_hash(0, text, n);
    text_at *first = ir_map_get(&w->texts, hash), *t = first;
    while (t && strcmp(t->text, text) != 0) t = t->next;
    if (t) return t->at;
    if (w->strings.n + n >= UINT32_MAX) ir_throw(w->arena->cx, IR_ERR_LIMIT);
    t = ir_new(w->arena, text_at);
    *t = (text_at){text, (uint32_t)w->strings.n, first};
    ir_putn(&w->strings, text, n + 1);
    ir_map_set(w->arena, &w->texts, hash, t);
    return t->at;
}

/* Empty sections are left out. */
static void put_section(writing *w, rt_section_kind kind, const void *bytes, uint64_t size) {
    if (size || kind == RT_SECTION_CODE)
        *ir_push(w->arena, &w->sections) = (section){bytes, size, kind};
}

static rt_arg_record record_arg(writing *w, const spvf_arg_info *a) {
    return (rt_arg_record){
        .name = put_text(w, a->name),
        .type_name = put_text(w, a->type_name),
        .kind = a->kind,
        .flags = (a->constant ? RT_ARG_CONSTANT : 0u) | (a->read_only ? RT_ARG_READ_ONLY : 0u) |
                 (a->no_alias ? RT_ARG_NO_ALIAS : 0u) | (a->member ? RT_ARG_MEMBER : 0u) |
                 (a->padding ? RT_ARG_PADDING : 0u) | (a->used ? 0u : RT_ARG_UNUSED) |
                 RT_ARG_ACCESS * (unsigned)a->access,
        .size = a->size,
        .offset = a->offset,
        .align = a->align,
        .closure = a->closure};
}

typedef struct {
    ir_vec(rt_kernel_record) kernels;
    ir_vec(rt_arg_record) args;
    ir_vec(uint32_t) providers;
} kernel_records;

static void record_kernel(writing *w, const rt_packed_kernel *k, kernel_records *to) {
    const spvf_kernel_info *info = &k->info;
    rt_kernel_record r = {.name = put_text(w, info->name),
                          .args = (uint32_t)info->arg_count,
                          .host_args = (uint32_t)info->host_arg_count,
                          .providers = k->images.n,
                          .subgroup_size = info->required_subgroup_size,
                          .first_arg = to->args.n,
                          .first_provider = to->providers.n,
                          .local_memory = info->local_memory};
    memcpy(r.local_size, info->required_local_size, sizeof r.local_size);
    memcpy(r.local_size_hint, info->local_size_hint, sizeof r.local_size_hint);
    *ir_push(w->arena, &to->kernels) = r;
    for (size_t a = 0; a < info->arg_count; a++)
        *ir_push(w->arena, &to->args) = record_arg(w, info->args[a]);
    for (size_t a = 0; a < info->host_arg_count; a++)
        *ir_push(w->arena, &to->args) = record_arg(w, info->host_args[a]);
    foreach_in (const uint32_t, image, k->images) *ir_push(w->arena, &to->providers) = *image;
}

static void put_kernels(writing *w) {
    kernel_records to = {0};
    for (uint32_t n = 0; n < w->p->kernels.n; n++) record_kernel(w, w->p->kernels.data[n], &to);
    put_section(w, RT_SECTION_KERNELS, to.kernels.data, to.kernels.n * sizeof *to.kernels.data);
    put_section(w, RT_SECTION_ARGS, to.args.data, to.args.n * sizeof *to.args.data);
    put_section(w, RT_SECTION_PROVIDERS, to.providers.data,
                to.providers.n * sizeof *to.providers.data);
}

/* The sections of code follow those with records: their numbers are known when all of these are. */
static rt_image_record *put_images(writing *w) {
    const spvf_pack *p = w->p;
    rt_image_record *r = ir_new_array(w->arena, rt_image_record, p->images.n);
    for (uint32_t n = 0; n < p->images.n; n++) {
        const rt_packed_image *i = &p->images.data[n];
        r[n] = (rt_image_record){put_text(w, i->name), put_text(w, i->format),
                                 put_text(w, i->target), n};
    }
    put_section(w, RT_SECTION_IMAGES, r, p->images.n * sizeof *r);
    return r;
}

static void put_symbols(writing *w) {
    const spvf_pack *p = w->p;
    rt_symbol_record *r = ir_new_array(w->arena, rt_symbol_record, p->symbols.n);
    for (uint32_t n = 0; n < p->symbols.n; n++) {
        const rt_packed_symbol *s = &p->symbols.data[n];
        r[n] = (rt_symbol_record){put_text(w, s->name), s->image, s->imported};
    }
    put_section(w, RT_SECTION_SYMBOLS, r, p->symbols.n * sizeof *r);
}

static void put_properties(writing *w) {
    const spvf_pack *p = w->p;
    rt_property_record *r = ir_new_array(w->arena, rt_property_record, p->properties.n);
    for (uint32_t n = 0; n < p->properties.n; n++) {
        const spvf_property *x = &p->properties.data[n];
        r[n] = (rt_property_record){x->owner, x->index, x->arg, put_text(w, x->key),
                                    put_text(w, x->value)};
    }
    put_section(w, RT_SECTION_PROPERTIES, r, p->properties.n * sizeof *r);
}

/* ---------------------------------------------------------------------------------------- bytes */

/* Rows without checksums; gives the size of the file. */
static uint64_t place(const writing *w, rt_section_row *rows) {
    uint64_t end = sizeof(rt_container_header) + w->sections.n * sizeof *rows;
    foreach_in (const section, s, w->sections) {
        *rows = (rt_section_row){.offset = rt_section_place(end), .size = s->size, .kind = s->kind};
        end = rows++->offset + s->size;
    }
    return end;
}

static void fill(const writing *w, uint8_t *bytes, uint64_t size) {
    rt_section_row *rows = (void *)(bytes + sizeof(rt_container_header));
    place(w, rows);
    for (uint32_t n = 0; n < w->sections.n; n++) {
        const section *s = &w->sections.data[n];
        if (s->size) memcpy(bytes + rows[n].offset, s->bytes, s->size);
        rows[n].checksum = rt_section_checksum(&rows[n], bytes + rows[n].offset);
    }
    rt_container_header h = {
        .version = RT_CONTAINER_VERSION, .sections = w->sections.n, .size = size};
    memcpy(h.magic, rt_container_magic, sizeof h.magic);
    h.checksum = rt_header_checksum(&h, rows);
    memcpy(bytes, &h, sizeof h);
}

void rt_pack_bytes(const spvf_pack *p, ir_arena *a, uint8_t **bytes, size_t *size) {
    writing w = {.p = p, .arena = a, .strings = {.arena = a}};
    ir_putn(&w.strings, "", 1);
    put_section(&w, RT_SECTION_STRINGS, "", 1); /* it is known at the end */
    put_kernels(&w);
    rt_image_record *images = put_images(&w);
    put_symbols(&w);
    put_properties(&w);
    w.sections.data[0].bytes = w.strings.data;
    w.sections.data[0].size = w.strings.n;
    uint32_t first_code = w.sections.n;
    for (uint32_t n = 0; n < p->images.n; n++) images[n].section += first_code;
    foreach_in (const rt_packed_image, i, p->images)
        put_section(&w, RT_SECTION_CODE, i->bytes, i->size);
    rt_section_row *scratch = ir_new_array(a, rt_section_row, w.sections.n);
    *size = place(&w, scratch);
    *bytes = ir_alloc(a, *size);
    fill(&w, *bytes, *size);
}
