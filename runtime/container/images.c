/* images.c — native code of a container that devices run in place of what they would make of its
 * SPIR-V.
 *
 * An object says what it was made of (ir_object_origin): a hash of SPIR-V, which has to be that of
 * an image that the module was read from.  So code that does not belong to a module is never run:
 * that of another version of the source, or of other values of specialization constants.  Code for
 * another machine, or of another version of the contract of launches, is passed over.  A cubin says
 * by a property which text it was assembled from, and the device compares that with its own.
 */
#include "runtime/container/container.h"
#include "runtime/container/elf.h"
#include "runtime/devices/cpu/cpu.h"

#include <stdlib.h>

uint64_t rt_hash_source(const void *bytes, size_t size) {
    return ir_hash(RT_SECTION_CODE, bytes, size);
}

/* ---------------------------------------------------------------------------------- its origin */

static bool read_place(const elf_file *f, const elf_symbol *s, ir_object_origin *out) {
    elf_section in;
    if (!elf_section_of(f, s->section, &in) || in.type != ELF_PROGRAM_BITS) return false;
    const uint8_t *bytes = elf_part(f, in.offset, in.size);
    if (!bytes || s->value > in.size || in.size - s->value < sizeof *out) return false;
    memcpy(out, bytes + s->value, sizeof *out);
    return true;
}

static bool read_symbols(const elf_file *f, const elf_section *table, ir_object_origin *out) {
    elf_section strings;
    elf_symbol s;
    if (!elf_section_of(f, table->link, &strings)) return false;
    for (uint64_t n = 0; elf_record(f, table, n, &s, sizeof s); n++) {
        const char *name = elf_text(f, &strings, s.name);
        if (name && strcmp(name, "spvf_origin") == 0) return read_place(f, &s, out);
    }
    return false;
}

/* False: the object does not say. */
static bool read_origin(const void *bytes, size_t size, ir_object_origin *out) {
    elf_section s;
    if (!is_elf(bytes, size)) return false;
    const elf_file f = elf_open(bytes, size);
    for (uint32_t n = 0; n < f.head.sections && elf_section_of(&f, n, &s); n++)
        if (s.type == ELF_SYMBOL_TABLE) return read_symbols(&f, &s, out);
    return false;
}

/* ----------------------------------------------------------------------------------- the choice */

typedef ir_vec(rt_object_image) image_list;

typedef struct {
    ir_module *module;
    const uint64_t *sources;
    size_t n;
    image_list objects; /* the highest level first */
    image_list cubins;
} choice;

static bool is_wanted(const choice *x, const ir_object_origin *o) {
    bool made_of = false;
    for (size_t n = 0; n < x->n; n++) made_of |= x->sources[n] && x->sources[n] == o->source;
    return made_of && o->version == IR_LAUNCH_VERSION && o->level <= rt_cpu_level();
}

static void insert(ir_arena *a, image_list *list, const rt_object_image *image) {
    uint32_t at = list->n;
    *ir_push(a, list) = *image;
    while (at && list->data[at - 1].level < image->level) {
        list->data[at] = list->data[at - 1];
        at--;
    }
    list->data[at] = *image;
}

/* The bytes are copied, since the module outlives the container. */
static rt_object_image copy_image(const choice *x, spvf_container *c, uint32_t number) {
    ir_arena *a = &x->module->arena;
    const rt_image_record *r = rt_records(c, RT_SECTION_IMAGES, NULL);
    rt_object_image image = {
        .name = ir_sprintf(a, "%s(%s)", c->name, rt_container_text(c, r[number].name))};
    const void *bytes = rt_container_code(c, number, &image.size);
    image.bytes = ir_dup(a, bytes, image.size);
    return image;
}

static void take_object(choice *x, spvf_container *c, uint32_t number) {
    ir_object_origin origin;
    size_t size;
    const void *bytes = rt_container_code(c, number, &size);
    if (!read_origin(bytes, size, &origin) || !is_wanted(x, &origin)) return;
    rt_object_image image = copy_image(x, c, number);
    image.level = origin.level;
    insert(&x->module->arena, &x->objects, &image);
}

static void take_objects(choice *x, spvf_container *c) {
    uint32_t count;
    const rt_image_record *r = rt_records(c, RT_SECTION_IMAGES, &count);
    for (uint32_t n = 0; n < count; n++) {
        bool is_object = rt_format_of(rt_container_text(c, r[n].format)) == RT_FORMAT_OBJECT;
        if (is_object && rt_runs_here(rt_container_text(c, r[n].target))) take_object(x, c, n);
    }
}

/* A cubin says by a property what it was made of. */
static void take_cubin(choice *x, spvf_container *c, const rt_property_record *p) {
    const rt_image_record *r = rt_records(c, RT_SECTION_IMAGES, NULL);
    bool says = strcmp(rt_container_text(c, p->key), RT_MADE_OF) == 0;
    if (p->owner != SPVF_OF_IMAGE || !says) return;
    r += p->index;
    const char *target = rt_container_text(c, r->target);
    bool is_cubin = rt_format_of(rt_container_text(c, r->format)) == RT_FORMAT_CUBIN;
    if (!is_cubin || strncmp(target, "sm_", 3) != 0) return;
    rt_object_image image = copy_image(x, c, p->index);
    image.level = (unsigned)strtoul(target + 3, NULL, 10);
    image.text = strtoull(rt_container_text(c, p->value), NULL, 16);
    insert(&x->module->arena, &x->cubins, &image);
}

static void take_cubins(choice *x, spvf_container *c) {
    uint32_t count;
    const rt_property_record *p = rt_records(c, RT_SECTION_PROPERTIES, &count);
    for (uint32_t n = 0; n < count; n++) take_cubin(x, c, &p[n]);
}

void rt_take_images(ir_module *m, spvf_container *const *containers, size_t count,
                    const uint64_t *sources, size_t n) {
    choice x = {.module = m, .sources = sources, .n = n};
    for (size_t c = 0; c < count; c++) {
        take_objects(&x, containers[c]);
        take_cubins(&x, containers[c]);
    }
    if (!x.objects.n && !x.cubins.n) return;
    struct rt_images *images = ir_new(&m->arena, struct rt_images);
    *images = (struct rt_images){x.objects.data, x.objects.n, x.cubins.data, x.cubins.n};
    m->images = images;
}

static const rt_object_image *copy_list(ir_arena *a, const rt_object_image *from, uint32_t n) {
    rt_object_image *list = ir_new_array(a, rt_object_image, n);
    for (uint32_t k = 0; k < n; k++) {
        list[k] = from[k];
        list[k].name = ir_strdup(a, from[k].name);
        list[k].bytes = ir_dup(a, from[k].bytes, from[k].size);
    }
    return list;
}

void rt_copy_images(ir_module *to, const ir_module *from) {
    const struct rt_images *x = from->images;
    ir_arena *a = &to->arena;
    if (!x) return;
    struct rt_images *images = ir_new(a, struct rt_images);
    *images = (struct rt_images){copy_list(a, x->list, x->n), x->n,
                                 copy_list(a, x->cubins, x->cubin_count), x->cubin_count};
    to->images = images;
}
