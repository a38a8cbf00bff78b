/* access.c — what a container holds, as spvfuse_container.h shows it.
 *
 * A record becomes what the user sees when it is asked for; descriptions of kernels are kept, since
 * their arguments need memory.  The first lookup of a kernel makes a map of their names.
 */
#define _DEFAULT_SOURCE /* MAP_PRIVATE of older headers */
#include "runtime/container/container.h"
#include "runtime/container/hcf.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* -------------------------------------------------------------------------------------- loading */

typedef struct {
    spvf_context *context;
    const char *name;
    const void *bytes;
    size_t size;
    void *map;
    spvf_container *container;
} load_job;

static void take_hcf(load_job *j) {
    spvf_container *c = j->container;
    uint8_t *bytes;
    const rt_source hcf = {.name = j->name, .bytes = j->bytes, .size = j->size};
    rt_hcf_to_container(j->context, &hcf, &c->arena, &bytes, &c->size);
    c->bytes = bytes;
}

static void load(void *arg) {
    load_job *j = arg;
    ir_arena arena;
    ir_arena_init(&arena, &j->context->cx);
    spvf_container *c = j->container = ir_new(&arena, spvf_container);
    *c =
        (spvf_container){.context = j->context, .arena = arena, .bytes = j->bytes, .size = j->size};
    c->name = ir_strdup(&c->arena, j->name);
    if (!rt_is_container(j->bytes, j->size) && rt_is_hcf(j->bytes, j->size))
        take_hcf(j);
    else if ((uintptr_t)j->bytes % RT_SECTION_ALIGN)
        c->bytes = ir_dup(&c->arena, j->bytes, j->size);
    rt_container_check_head(c);
}

static spvf_status load_guarded(load_job *j, spvf_container **out) {
    spvf_status status = rt_guard(j->context, load, j);
    if (status == SPVF_OK)
        *out = j->container;
    else
        spvf_container_destroy(j->container);
    return status;
}

spvf_status spvf_container_load(spvf_context *context, const char *name, const void *bytes,
                                size_t size, spvf_container **out) {
    if (out) *out = NULL;
    if (!context || !out || !bytes)
        return rt_refuse_call(context, __func__, "%s is NULL", out ? "bytes" : "out");
    load_job j = {.context = context, .name = name ? name : "<container>"};
    j.bytes = bytes;
    j.size = size;
    return load_guarded(&j, out);
}

/* NULL: it cannot be mapped, or is empty. */
static void *map_file(const char *path, size_t *size) {
    struct stat s;
    void *map = MAP_FAILED;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0 && fstat(file, &s) == 0 && S_ISREG(s.st_mode) && s.st_size > 0) {
        *size = (size_t)s.st_size;
        map = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0);
    }
    if (file >= 0) close(file);
    return map == MAP_FAILED ? NULL : map;
}

spvf_status spvf_container_open(spvf_context *context, const char *path, spvf_container **out) {
    if (out) *out = NULL;
    if (!context || !out || !path)
        return rt_refuse_call(context, __func__, "%s is NULL", out ? "path" : "out");
    load_job j = {.context = context, .name = path};
    j.bytes = j.map = map_file(path, &j.size);
    if (!j.map) {
        ir_report(&context->cx, (ir_message){.severity = IR_ERROR, .file = path},
                  "it cannot be mapped, or is empty");
        return SPVF_ERROR_IO;
    }
    spvf_status status = load_guarded(&j, out);
    if (status == SPVF_OK)
        (*out)->map = j.map;
    else
        munmap(j.map, j.size);
    if (status == SPVF_OK) (*out)->mapped = j.size;
    return status;
}

void spvf_container_destroy(spvf_container *c) {
    if (!c) return;
    ir_arena arena = c->arena;
    if (c->map) munmap(c->map, c->mapped);
    ir_arena_free(&arena);
}

/* -------------------------------------------------------------------------------------- records */

typedef struct {
    spvf_container *container;
    rt_section_kind kind;
    size_t index;
    const void *record; /* NULL: there is no such index */
} record_job;

static void read_record(void *arg) {
    record_job *j = arg;
    uint32_t n;
    const char *records = rt_records(j->container, j->kind, &n);
    size_t size = n ? j->container->rows[j->container->row_of[j->kind] - 1].size / n : 0;
    j->record = j->index < n ? records + j->index * size : NULL;
    rt_container_text(j->container, 0);
}

/* A record, with the strings checked as well; NULL: there is none, or it is damaged. */
static const void *record_of(spvf_container *c, rt_section_kind kind, size_t index) {
    record_job j = {.container = c, .kind = kind, .index = index};
    return c && rt_guard(c->context, read_record, &j) == SPVF_OK ? j.record : NULL;
}

static size_t count(const spvf_container *c, rt_section_kind kind) {
    return c ? rt_count_records(c, kind) : 0;
}

size_t spvf_container_image_count(const spvf_container *c) { return count(c, RT_SECTION_IMAGES); }

bool spvf_container_image(spvf_container *c, size_t index, spvf_image_info *out) {
    const rt_image_record *r = out ? record_of(c, RT_SECTION_IMAGES, index) : NULL;
    if (!r) return false;
    *out = (spvf_image_info){.name = rt_container_text(c, r->name),
                             .format = rt_container_text(c, r->format),
                             .target = rt_container_text(c, r->target),
                             .size = c->rows[r->section].size};
    return true;
}

size_t spvf_container_symbol_count(const spvf_container *c) { return count(c, RT_SECTION_SYMBOLS); }

bool spvf_container_symbol(spvf_container *c, size_t index, spvf_symbol *out) {
    const rt_symbol_record *r = out ? record_of(c, RT_SECTION_SYMBOLS, index) : NULL;
    if (!r) return false;
    *out = (spvf_symbol){rt_container_text(c, r->name), r->image, r->imported};
    return true;
}

size_t spvf_container_property_count(const spvf_container *c) {
    return count(c, RT_SECTION_PROPERTIES);
}

bool spvf_container_property(spvf_container *c, size_t index, spvf_property *out) {
    const rt_property_record *r = out ? record_of(c, RT_SECTION_PROPERTIES, index) : NULL;
    if (!r) return false;
    *out = (spvf_property){(spvf_property_owner)r->owner, r->index, r->arg,
                           rt_container_text(c, r->key), rt_container_text(c, r->value)};
    return true;
}

typedef struct {
    spvf_container *container;
    size_t image;
    const void *code;
    size_t size;
} code_job;

const void *rt_container_code(spvf_container *c, size_t image, size_t *size) {
    uint32_t n;
    const rt_image_record *images = rt_records(c, RT_SECTION_IMAGES, &n);
    if (image >= n) return NULL;
    *size = c->rows[images[image].section].size;
    return rt_section_bytes(c, images[image].section);
}

static void read_code(void *arg) {
    code_job *j = arg;
    j->code = rt_container_code(j->container, j->image, &j->size);
}

const void *spvf_container_code(spvf_container *c, size_t index, size_t *size) {
    code_job j = {.container = c, .image = index};
    if (size) *size = 0;
    if (!c || !size || rt_guard(c->context, read_code, &j) != SPVF_OK) return NULL;
    *size = j.size;
    return j.code;
}

/* -------------------------------------------------------------------------------------- kernels */

size_t spvf_container_kernel_count(const spvf_container *c) { return count(c, RT_SECTION_KERNELS); }

static const char *name_or_null(spvf_container *c, uint32_t at) {
    return at ? rt_container_text(c, at) : NULL;
}

static spvf_arg_info show_arg(spvf_container *c, const rt_arg_record *r) {
    return (spvf_arg_info){.name = name_or_null(c, r->name),
                           .type_name = name_or_null(c, r->type_name),
                           .kind = (spvf_arg_kind)r->kind,
                           .size = r->size,
                           .align = r->align,
                           .constant = r->flags & RT_ARG_CONSTANT,
                           .read_only = r->flags & RT_ARG_READ_ONLY,
                           .no_alias = r->flags & RT_ARG_NO_ALIAS,
                           .member = r->flags & RT_ARG_MEMBER,
                           .padding = r->flags & RT_ARG_PADDING,
                           .closure = r->closure,
                           .offset = r->offset,
                           .used = !(r->flags & RT_ARG_UNUSED),
                           .access = (spvf_arg_access)(r->flags / RT_ARG_ACCESS & 3)};
}

typedef struct {
    spvf_container *container;
    size_t index;
    const spvf_kernel_info *info;
} kernel_job;

static void show_kernel(void *arg) {
    kernel_job *j = arg;
    spvf_container *c = j->container;
    uint32_t n;
    const rt_kernel_record *r = rt_records(c, RT_SECTION_KERNELS, &n);
    if (j->index >= n) return;
    r += j->index;
    uint32_t all = r->args + r->host_args;
    const rt_arg_record *args = all ? rt_records(c, RT_SECTION_ARGS, NULL) : NULL;
    if (!c->kernels) c->kernels = ir_new_array(&c->arena, const spvf_kernel_info *, n);
    spvf_arg_info *shown = ir_new_array(&c->arena, spvf_arg_info, all);
    for (uint32_t a = 0; a < all; a++) shown[a] = show_arg(c, &args[r->first_arg + a]);
    const spvf_arg_info *const *list = RT_LIST(&c->arena, shown, all);
    spvf_kernel_info *info = ir_new(&c->arena, spvf_kernel_info);
    *info = (spvf_kernel_info){.name = rt_container_text(c, r->name),
                               .args = list,
                               .arg_count = r->args,
                               .required_subgroup_size = r->subgroup_size,
                               .local_memory = r->local_memory,
                               .host_args = r->host_args ? list + r->args : list,
                               .host_arg_count = r->host_args ? r->host_args : r->args};
    memcpy(info->required_local_size, r->local_size, sizeof r->local_size);
    memcpy(info->local_size_hint, r->local_size_hint, sizeof r->local_size_hint);
    c->kernels[j->index] = j->info = info;
}

const spvf_kernel_info *spvf_container_kernel(spvf_container *c, size_t index) {
    kernel_job j = {.container = c, .index = index};
    if (c && c->kernels && index < spvf_container_kernel_count(c) && c->kernels[index])
        return c->kernels[index];
    return c && rt_guard(c->context, show_kernel, &j) == SPVF_OK ? j.info : NULL;
}

/* A kernel among those whose names have the same hash. */
typedef struct named_kernel {
    const char *name;
    size_t index;
    struct named_kernel *next;
} named_kernel;

static const named_kernel *look_up(const spvf_container *c, const char *name) {
    const named_kernel *k = ir_map_get(&c->kernel_names, ir_hash(0, name, strlen(name)));
    while (k && strcmp(k->name, name) != 0) k = k->next;
    return k;
}

static void name_kernels(spvf_container *c) {
    uint32_t n;
    const rt_kernel_record *r = rt_records(c, RT_SECTION_KERNELS, &n);
    named_kernel *all = ir_new_array(&c->arena, named_kernel, n);
    for (uint32_t k = 0; k < n; k++) {
        const char *name = rt_container_text(c, r[k].name);
        uint64_t hash = ir_hash(0, name, strlen(name));
        if (look_up(c, name))
            rt_container_fail(c, c->row_of[RT_SECTION_KERNELS] - 1, k * sizeof *r,
                              "record %u: there are two kernels '%s'", k, name);
        all[k] = (named_kernel){name, k, ir_map_get(&c->kernel_names, hash)};
        ir_map_set(&c->arena, &c->kernel_names, hash, &all[k]);
    }
    c->named = true;
}

size_t rt_container_find(spvf_container *c, const char *name) {
    if (!c->named) c->kernel_names = (ir_map){0};
    if (!c->named) name_kernels(c);
    const named_kernel *k = look_up(c, name);
    return k ? k->index : SIZE_MAX;
}

typedef struct {
    spvf_container *container;
    const char *name;
    size_t index;
} find_job;

static void find(void *arg) {
    find_job *j = arg;
    j->index = rt_container_find(j->container, j->name);
}

size_t spvf_container_find_kernel(spvf_container *c, const char *name) {
    find_job j = {.container = c, .name = name, .index = SIZE_MAX};
    return c && name && rt_guard(c->context, find, &j) == SPVF_OK ? j.index : SIZE_MAX;
}

const uint32_t *spvf_container_providers(spvf_container *c, size_t kernel, size_t *n) {
    if (n) *n = 0;
    const rt_kernel_record *r = n ? record_of(c, RT_SECTION_KERNELS, kernel) : NULL;
    const uint32_t *first = r ? record_of(c, RT_SECTION_PROVIDERS, r->first_provider) : NULL;
    if (first) *n = r->providers;
    return first;
}

/* ---------------------------------------------------------------------------------------- whole */

static void verify(void *arg) {
    spvf_container *c = arg;
    for (uint32_t n = 0; n < c->section_count; n++) rt_section_bytes(c, n);
    rt_container_find(c, "");
}

spvf_status spvf_container_verify(spvf_container *c) {
    return c ? rt_guard(c->context, verify, c) : SPVF_ERROR_ARGUMENT;
}
