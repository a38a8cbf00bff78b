/* images.c — native code of a container that devices run in place of what they would make of its
 * SPIR-V.
 *
 * An object says what it was made of (ir_object_origin): a hash of SPIR-V, which has to be that of
 * an image that the module was read from.  So code that does not belong to a module is never run:
 * that of another version of the source, or of other values of specialization constants.  Code for
 * another machine, or of another version of the contract of launches, is passed over.
 */
#include "runtime/container/container.h"
#include "runtime/container/elf.h"
#include "runtime/devices/cpu/cpu.h"

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

/* ---------------------------------------------------------------------------------- the choice */

typedef struct {
    ir_module *module;
    const uint64_t *sources;
    size_t n;
    ir_vec(rt_object_image) images; /* the highest level first */
} choice;

static bool is_wanted(const choice *x, const ir_object_origin *o) {
    bool made_of = false;
    for (size_t n = 0; n < x->n; n++) made_of |= x->sources[n] && x->sources[n] == o->source;
    return made_of && o->version == IR_LAUNCH_VERSION && o->level <= rt_cpu_level();
}

static void insert(choice *x, const rt_object_image *image) {
    ir_arena *a = &x->module->arena;
    uint32_t at = x->images.n;
    *ir_push(a, &x->images) = *image;
    while (at && x->images.data[at - 1].level < image->level) {
        x->images.data[at] = x->images.data[at - 1];
        at--;
    }
    x->images.data[at] = *image;
}

/* The bytes are copied, since the module outlives the container. */
static void take_object(choice *x, spvf_container *c, uint32_t number, const char *name) {
    ir_arena *a = &x->module->arena;
    ir_object_origin origin;
    size_t size;
    const void *bytes = rt_container_code(c, number, &size);
    if (!read_origin(bytes, size, &origin) || !is_wanted(x, &origin)) return;
    insert(x, &(rt_object_image){.name = ir_sprintf(a, "%s(%s)", c->name, name),
                                 .bytes = ir_dup(a, bytes, size),
                                 .size = size,
                                 .level = origin.level});
}

static void take_objects(choice *x, spvf_container *c) {
    uint32_t count;
    const rt_image_record *r = rt_records(c, RT_SECTION_IMAGES, &count);
    for (uint32_t n = 0; n < count; n++) {
        bool is_object = rt_format_of(rt_container_text(c, r[n].format)) == RT_FORMAT_OBJECT;
        if (is_object && rt_runs_here(rt_container_text(c, r[n].target)))
            take_object(x, c, n, rt_container_text(c, r[n].name));
    }
}

static void keep(ir_module *m, const rt_object_image *list, uint32_t n) {
    struct rt_images *images = ir_new(&m->arena, struct rt_images);
    *images = (struct rt_images){list, n};
    if (n) m->images = images;
}

void rt_take_images(ir_module *m, spvf_container *const *containers, size_t count,
                    const uint64_t *sources, size_t n) {
    choice x = {.module = m, .sources = sources, .n = n};
    for (size_t c = 0; c < count; c++) take_objects(&x, containers[c]);
    keep(m, x.images.data, x.images.n);
}

void rt_copy_images(ir_module *to, const ir_module *from) {
    if (!from->images) return;
    uint32_t n = from->images->n;
    rt_object_image *list = ir_new_array(&to->arena, rt_object_image, n);
    for (uint32_t k = 0; k < n; k++) {
        list[k] = from->images->list[k];
        list[k].name = ir_strdup(&to->arena, list[k].name);
        list[k].bytes = ir_dup(&to->arena, list[k].bytes, list[k].size);
    }
    keep(to, list, n);
}
