/* content.c — what a container will hold: spvf_pack.
 *
 * Images are added one by one.  What the kernels of an image take is known of SPIR-V only; an image
 * of another format names the kernels that it holds.  Images of SPIR-V that hold the same kernel
 * have to agree on its parameters.
 */
#include "runtime/container/container.h"
#include "runtime/container/hcf.h"
#include "runtime/native/native.h"

rt_format rt_format_of(const char *name) {
    rt_format f = 0;
    while (f < RT_FORMATS && strcmp(rt_format_name(f), name) != 0) f++;
    return f;
}

const char *rt_format_name(rt_format f) {
    static const char *const names[] = {
#define FORMAT(id, name, extension) name,
#include "runtime/container/formats.def"
#undef FORMAT
    };
    return names[f];
}

/* ---------------------------------------------------------------------------------------- parts */

static uint64_t hash_of(const char *name) { return ir_hash(0, name, strlen(name)); }

static bool is_taken(const spvf_pack *p, const char *name) {
    const rt_packed_name *n = ir_map_get(&p->image_names, hash_of(name));
    while (n && strcmp(n->name, name) != 0) n = n->next;
    return n;
}

static const char *free_name(spvf_pack *p, const char *name) {
    const char *tried = *name ? name : "image";
    for (uint32_t n = p->images.n; is_taken(p, tried); n++)
        tried = ir_sprintf(&p->arena, "%s.%u", name, n);
    return tried;
}

uint32_t rt_pack_image(spvf_pack *p, const rt_packed_image *image) {
    rt_packed_name *n = ir_new(&p->arena, rt_packed_name);
    const char *name = ir_strdup(&p->arena, free_name(p, image->name));
    rt_packed_image *added = ir_push(&p->arena, &p->images);
    *added = *image;
    added->name = name;
    added->format = ir_strdup(&p->arena, image->format);
    added->target = ir_strdup(&p->arena, image->target ? image->target : "");
    uint64_t hash = hash_of(added->name);
    *n = (rt_packed_name){added->name, ir_map_get(&p->image_names, hash)};
    ir_map_set(&p->arena, &p->image_names, hash, n);
    return p->images.n - 1;
}

rt_packed_kernel *rt_pack_find(const spvf_pack *p, const char *name) {
    rt_packed_kernel *k = ir_map_get(&p->kernel_names, hash_of(name));
    while (k && strcmp(k->info.name, name) != 0) k = k->next;
    return k;
}

static rt_packed_kernel *add_kernel(spvf_pack *p, const char *name) {
    rt_packed_kernel *k = ir_new(&p->arena, rt_packed_kernel);
    uint64_t hash = hash_of(name);
    *k = (rt_packed_kernel){.info.name = ir_strdup(&p->arena, name), .number = p->kernels.n};
    k->next = ir_map_get(&p->kernel_names, hash);
    ir_map_set(&p->arena, &p->kernel_names, hash, k);
    return *ir_push(&p->arena, &p->kernels) = k;
}

static bool same_arg(const spvf_arg_info *a, const spvf_arg_info *b) {
    return a->kind == b->kind && a->size == b->size && a->member == b->member &&
           a->closure == b->closure && a->offset == b->offset;
}

static bool same_args(const spvf_kernel_info *a, const spvf_kernel_info *b) {
    bool same = a->arg_count == b->arg_count;
    for (size_t n = 0; same && n < a->arg_count; n++) same = same_arg(a->args[n], b->args[n]);
    return same;
}

static void describe(spvf_pack *p, rt_packed_kernel *k, const spvf_kernel_info *info) {
    const char *name = k->info.name;
    bool had_closures = info->host_args != info->args;
    k->info = *info;
    k->info.name = name;
    k->info.args = rt_copy_args(&p->arena, info->args, info->arg_count);
    k->info.host_arg_count = had_closures ? info->host_arg_count : 0;
    k->info.host_args = rt_copy_args(&p->arena, info->host_args, k->info.host_arg_count);
    k->info.refusal = NULL;
    k->info.all_arg_count = 0;
    k->info.arg_mask = NULL;
    k->described = info->arg_count > 0 || k->described;
}

rt_packed_kernel *rt_pack_describe(spvf_pack *p, const char *name, const spvf_kernel_info *info) {
    rt_packed_kernel *k = rt_pack_find(p, name);
    if (!k) k = add_kernel(p, name);
    if (k->described && info->arg_count && !same_args(&k->info, info))
        rt_throw(p->context, IR_ERR_INPUT, "kernel '%s' has other parameters elsewhere", name);
    if (!k->described) describe(p, k, info);
    return k;
}

void rt_pack_provide(spvf_pack *p, rt_packed_kernel *k, uint32_t image) {
    *ir_push(&p->arena, &k->images) = image;
}

void rt_pack_symbol(spvf_pack *p, uint32_t image, const char *name, bool imported) {
    *ir_push(&p->arena, &p->symbols) =
        (rt_packed_symbol){ir_strdup(&p->arena, name), image, imported};
}

void rt_pack_property(spvf_pack *p, const spvf_property *property) {
    spvf_property *added = ir_push(&p->arena, &p->properties);
    *added = *property;
    added->key = ir_strdup(&p->arena, property->key);
    added->value = ir_strdup(&p->arena, property->value);
}

/* -------------------------------------------------------------------------------------- modules */

static void add_symbol(spvf_pack *p, uint32_t image, const char *name, uint32_t flags) {
    bool imported = flags & IR_FUNC_IMPORT, exported = flags & IR_FUNC_EXPORT;
    if ((imported || exported) && !(flags & IR_FUNC_KERNEL))
        rt_pack_symbol(p, image, name, imported);
}

static void add_module(spvf_pack *p, uint32_t image, const spvf_module *m) {
    for (size_t k = 0; k < m->kernel_count; k++)
        rt_pack_provide(p, rt_pack_describe(p, m->kernels[k].name, &m->kernels[k]), image);
    foreach_func (f, m->ir) add_symbol(p, image, f->name, f->flags);
    foreach_global (g, m->ir) add_symbol(p, image, g->name, g->flags);
}

typedef struct {
    spvf_pack *pack;
    const char *name, *target;
    const void *bytes;
    size_t size;
    const spvf_module *module;
    spvf_container *container;
    uint32_t image;
} add_job;

static void describe_module(void *arg) {
    const add_job *j = arg;
    add_module(j->pack, j->image, j->module);
}

/* Kernels get a parameter for each member of a struct with pointers, as plans have them. */
static void add_spirv(add_job *j) {
    const spvf_module_options closures = {.size = sizeof closures, .closures = true};
    spvf_context *c = j->pack->context;
    spvf_module *m;
    if (spvf_module_load(c, j->name, j->bytes, j->size, &closures, &m) != SPVF_OK)
        ir_throw(&c->cx, c->cx.status);
    j->module = m;
    bool ok = ir_try(&c->cx, describe_module, j);
    spvf_module_destroy(m);
    if (!ok) ir_throw(&c->cx, c->cx.status);
}

static void add_name(void *user, const char *name) {
    const add_job *j = user;
    const spvf_kernel_info unknown = {.name = name};
    rt_pack_provide(j->pack, rt_pack_describe(j->pack, name, &unknown), j->image);
}

/* ----------------------------------------------------------------------------------- containers */

static void copy_images(spvf_pack *p, spvf_container *c) {
    spvf_image_info info;
    for (size_t n = 0; spvf_container_image(c, n, &info); n++) {
        size_t size;
        const void *code = rt_container_code(c, n, &size);
        const rt_packed_image image = {.name = info.name,
                                       .format = info.format,
                                       .target = info.target,
                                       .bytes = ir_dup(&p->arena, code, size),
                                       .size = size};
        rt_pack_image(p, &image);
    }
}

static void copy_kernel(spvf_pack *p, spvf_container *c, size_t n, uint32_t first) {
    size_t count;
    const spvf_kernel_info *info = spvf_container_kernel(c, n);
    if (!info) ir_throw(&p->context->cx, p->context->cx.status);
    rt_packed_kernel *k = rt_pack_describe(p, info->name, info);
    const uint32_t *images = spvf_container_providers(c, n, &count);
    for (size_t i = 0; i < count; i++) rt_pack_provide(p, k, first + images[i]);
}

static void copy_property(spvf_pack *p, spvf_container *c, spvf_property property, uint32_t first) {
    if (property.owner == SPVF_OF_IMAGE) property.index += first;
    if (property.owner >= SPVF_OF_KERNEL)
        property.index = rt_pack_find(p, spvf_container_kernel(c, property.index)->name)->number;
    rt_pack_property(p, &property);
}

static void copy_container(void *arg) {
    const add_job *j = arg;
    spvf_pack *p = j->pack;
    spvf_container *c = j->container;
    uint32_t first = p->images.n;
    spvf_symbol symbol;
    spvf_property property;
    if (spvf_container_verify(c) != SPVF_OK) ir_throw(&p->context->cx, p->context->cx.status);
    copy_images(p, c);
    for (size_t n = 0; n < spvf_container_kernel_count(c); n++) copy_kernel(p, c, n, first);
    for (size_t n = 0; spvf_container_symbol(c, n, &symbol); n++)
        rt_pack_symbol(p, first + symbol.image, symbol.name, symbol.imported);
    for (size_t n = 0; spvf_container_property(c, n, &property); n++)
        copy_property(p, c, property, first);
}

static void add_container(add_job *j) {
    ir_ctx *cx = &j->pack->context->cx;
    if (spvf_container_load(j->pack->context, j->name, j->bytes, j->size, &j->container) != SPVF_OK)
        ir_throw(cx, cx->status);
    bool ok = ir_try(cx, copy_container, j);
    spvf_container_destroy(j->container);
    if (!ok) ir_throw(cx, cx->status);
}

/* ---------------------------------------------------------------------------------------- calls */

static void add_image(add_job *j) {
    spvf_pack *p = j->pack;
    const rt_recognized r = rt_recognize(j->bytes, j->size, &p->arena);
    if (r.format == RT_FORMATS)
        rt_throw(p->context, IR_ERR_INPUT, "%s: it is neither a container nor code that is known",
                 j->name);
    j->image = rt_pack_image(
        p, &(rt_packed_image){.name = j->name,
                              .format = rt_format_name(r.format),
                              .target = j->target && *j->target ? j->target : r.target,
                              .bytes = ir_dup(&p->arena, j->bytes, j->size),
                              .size = j->size});
    if (r.format == RT_FORMAT_SPIRV)
        add_spirv(j);
    else if (!rt_list_code_kernels(r.format, j->bytes, j->size, add_name, j))
        rt_throw(p->context, IR_ERR_INPUT, "%s: the %s is damaged", j->name,
                 rt_format_name(r.format));
}

static void add(void *arg) {
    add_job *j = arg;
    if (rt_is_container(j->bytes, j->size) || rt_is_hcf(j->bytes, j->size))
        add_container(j);
    else
        add_image(j);
}

spvf_pack *rt_pack_new(spvf_context *context) {
    ir_arena arena;
    ir_arena_init(&arena, &context->cx);
    spvf_pack *p = ir_new(&arena, spvf_pack);
    *p = (spvf_pack){.context = context, .arena = arena};
    return p;
}

typedef struct {
    spvf_context *context;
    spvf_pack *pack;
} create_job;

static void create(void *arg) {
    create_job *j = arg;
    j->pack = rt_pack_new(j->context);
}

spvf_status spvf_pack_create(spvf_context *context, spvf_pack **out) {
    if (out) *out = NULL;
    if (!context || !out) return rt_refuse_call(context, __func__, "out is NULL");
    create_job j = {.context = context};
    spvf_status status = rt_guard(context, create, &j);
    if (status == SPVF_OK) *out = j.pack;
    return status;
}

void spvf_pack_destroy(spvf_pack *p) {
    if (!p) return;
    ir_arena arena = p->arena;
    ir_arena_free(&arena);
}

spvf_status spvf_pack_add(spvf_pack *p, const char *name, const char *target, const void *bytes,
                          size_t size) {
    if (!p || !bytes) return rt_refuse_call(p ? p->context : NULL, __func__, "bytes is NULL");
    add_job j = {.pack = p, .name = name ? name : "image", .target = target, .bytes = bytes};
    j.size = size;
    return rt_guard(p->context, add, &j);
}

/* The last image has been assembled from this text of the module. */
static spvf_status note_text(spvf_pack *p, const spvf_module *m, const char *target) {
    char text_target[64], value[17];
    spvf_blob text;
    snprintf(text_target, sizeof text_target, "ptx%s", target + strlen("cubin"));
    spvf_status status = spvf_module_emit(m, text_target, &text);
    if (status != SPVF_OK) return status;
    snprintf(value, sizeof value, "%016llx", (unsigned long long)rt_hash_text(text.data));
    spvf_blob_destroy(&text);
    return spvf_pack_set(p, &(spvf_property){SPVF_OF_IMAGE, p->images.n - 1, 0, RT_MADE_OF, value});
}

spvf_status spvf_pack_emit(spvf_pack *p, const char *name, const spvf_module *module,
                           const char *target) {
    spvf_blob blob;
    if (!p || !module || !target)
        return rt_refuse_call(p ? p->context : NULL, __func__, "%s is NULL",
                              module ? "target" : "module");
    spvf_status status = spvf_module_emit(module, target, &blob);
    cg_options code;
    const char *s = target;
    bool is_native = rt_take_machine(&s, &code); /* other code says itself what it is for */
    if (status == SPVF_OK)
        status = spvf_pack_add(p, name, is_native ? target : NULL, blob.data, blob.size);
    spvf_blob_destroy(&blob);
    bool is_cubin = strncmp(target, "cubin", strlen("cubin")) == 0;
    return status == SPVF_OK && is_cubin ? note_text(p, module, target) : status;
}

typedef struct {
    spvf_pack *pack;
    const spvf_property *property;
    spvf_blob *out;
    ir_arena scratch;
} pack_job;

static uint32_t owners(const spvf_pack *p, const spvf_property *property) {
    switch (property->owner) {
    case SPVF_OF_CONTAINER: return 1;
    case SPVF_OF_IMAGE: return p->images.n;
    case SPVF_OF_KERNEL:
    case SPVF_OF_ARG: return p->kernels.n;
    }
    return 0;
}

static void set(void *arg) {
    const pack_job *j = arg;
    const spvf_property *x = j->property;
    bool exists = x->index < owners(j->pack, x);
    if (exists && x->owner == SPVF_OF_ARG)
        exists = x->arg < j->pack->kernels.data[x->index]->info.arg_count;
    if (!exists || !x->key || !x->value)
        rt_throw(j->pack->context, IR_ERR_ARGUMENT,
                 "spvf_pack_set: there is no owner %u of kind %d, or no text", x->index,
                 (int)x->owner);
    rt_pack_property(j->pack, x);
}

spvf_status spvf_pack_set(spvf_pack *p, const spvf_property *property) {
    if (!p || !property) return rt_refuse_call(p ? p->context : NULL, __func__, "property is NULL");
    pack_job j = {.pack = p, .property = property};
    return rt_guard(p->context, set, &j);
}

static void write_bytes(void *arg) {
    pack_job *j = arg;
    uint8_t *bytes;
    size_t size;
    rt_pack_bytes(j->pack, &j->scratch, &bytes, &size);
    rt_copy_out(j->pack->context, bytes, size, j->out);
}

spvf_status spvf_pack_write(spvf_pack *p, spvf_blob *out) {
    if (out) *out = (spvf_blob){0};
    if (!p || !out) return rt_refuse_call(p ? p->context : NULL, __func__, "out is NULL");
    pack_job j = {.pack = p, .out = out};
    ir_arena_init(&j.scratch, &p->context->cx);
    spvf_status status = rt_guard(p->context, write_bytes, &j);
    ir_arena_free(&j.scratch);
    return status;
}
