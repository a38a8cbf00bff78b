/* module.c — SPIR-V of one or more containers as one module.
 *
 * The images are those that hold the wanted kernels, then, again and again, those that export what
 * the images so far import and do not export.  Among several that export a name, the first one is
 * taken, in the order of containers.  One image is read as it is; several are linked (ir/link.c).
 * A kernel that several of them define is that of the first image which the container lists for it;
 * in the others it is no kernel, and objects that were made of these do not belong to the module.
 */
#include "ir/change.h"
#include "runtime/container/container.h"
#include "runtime/container/hcf.h"

typedef struct {
    uint32_t container, image;
    bool taken;
} image_ref;

typedef struct export {
    const char *name;
    image_ref *from;
    struct export *next; /* of the same hash */
}
export;

/* The image whose kernel of a name becomes that of the module. */
typedef struct definition {
    const char *name;
    const image_ref *from;
    struct definition *next; /* of the same hash */
} definition;

typedef struct {
    spvf_context *context;
    spvf_container *const *containers;
    size_t count;
    const char *kernel; /* NULL: all */
    ir_arena arena;
    image_ref **refs; /* by container and image */
    ir_map exports;   /* hash of a name -> export */
    ir_map kernels;   /* hash of a name -> definition */
    ir_vec(image_ref *) work;
    ir_vec(ir_module *) parts;
    uint64_t *sources; /* of the parts */
    const spvf_module_options *options;
    ir_module *out;
} collecting;

/* ----------------------------------------------------------------------------------- the images */

static bool is_spirv_image(spvf_container *c, uint32_t image) {
    uint32_t n;
    const rt_image_record *r = rt_records(c, RT_SECTION_IMAGES, &n);
    return rt_format_of(rt_container_text(c, r[image].format)) == RT_FORMAT_SPIRV;
}

static export *find_export(const collecting *x, const char *name) {
    export *e = ir_map_get(&x->exports, ir_hash(0, name, strlen(name)));
    while (e && strcmp(e->name, name) != 0) e = e->next;
    return e;
}

static void add_exports(collecting *x, uint32_t container) {
    spvf_container *c = x->containers[container];
    uint32_t n;
    const rt_symbol_record *r = rt_records(c, RT_SECTION_SYMBOLS, &n);
    for (uint32_t k = 0; k < n; k++) {
        const char *name = rt_container_text(c, r[k].name);
        if (r[k].imported || !is_spirv_image(c, r[k].image) || find_export(x, name)) continue;
        uint64_t hash = ir_hash(0, name, strlen(name));
        export *e = ir_new(&x->arena, export);
        *e = (export){name, &x->refs[container][r[k].image], ir_map_get(&x->exports, hash)};
        ir_map_set(&x->arena, &x->exports, hash, e);
    }
}

static void list_images(collecting *x) {
    x->refs = ir_new_array(&x->arena, image_ref *, x->count);
    for (uint32_t c = 0; c < x->count; c++) {
        uint32_t n = rt_count_records(x->containers[c], RT_SECTION_IMAGES);
        x->refs[c] = ir_new_array(&x->arena, image_ref, n);
        for (uint32_t i = 0; i < n; i++) x->refs[c][i] = (image_ref){c, i, false};
        add_exports(x, c);
    }
}

static void take(collecting *x, image_ref *r) {
    if (r->taken) return;
    r->taken = true;
    *ir_push(&x->arena, &x->work) = r;
}

static definition *find_definition(const collecting *x, const char *name) {
    definition *d = ir_map_get(&x->kernels, ir_hash(0, name, strlen(name)));
    while (d && strcmp(d->name, name) != 0) d = d->next;
    return d;
}

static void define(collecting *x, const char *name, const image_ref *from) {
    uint64_t hash = ir_hash(0, name, strlen(name));
    definition *d = ir_new(&x->arena, definition);
    *d = (definition){name, from, ir_map_get(&x->kernels, hash)};
    ir_map_set(&x->arena, &x->kernels, hash, d);
}

/* The first SPIR-V that holds the kernel; false: there is none. */
static bool take_kernel(collecting *x, size_t kernel) {
    spvf_container *c = x->containers[0];
    const rt_kernel_record *k = rt_records(c, RT_SECTION_KERNELS, NULL);
    const uint32_t *images = rt_records(c, RT_SECTION_PROVIDERS, NULL);
    k += kernel;
    for (uint32_t n = 0; n < k->providers; n++) {
        image_ref *r = &x->refs[0][images[k->first_provider + n]];
        if (!is_spirv_image(c, r->image)) continue;
        define(x, rt_container_text(c, k->name), r);
        take(x, r);
        return true;
    }
    return false;
}

static void take_wanted(collecting *x) {
    spvf_container *c = x->containers[0];
    uint32_t kernels = rt_count_records(c, RT_SECTION_KERNELS);
    uint32_t images = rt_count_records(c, RT_SECTION_IMAGES);
    size_t only = x->kernel ? rt_container_find(c, x->kernel) : 0;
    if (only == SIZE_MAX)
        rt_throw(x->context, IR_ERR_ARGUMENT, "%s has no kernel '%s'", c->name, x->kernel);
    if (x->kernel && !take_kernel(x, only))
        rt_throw(x->context, IR_ERR_REFUSED, "%s: no SPIR-V holds kernel '%s'", c->name, x->kernel);
    for (uint32_t k = 0; k < kernels && !x->kernel; k++) take_kernel(x, k);
    for (uint32_t i = 0; !kernels && i < images; i++)
        if (is_spirv_image(c, i)) take(x, &x->refs[0][i]);
    if (!x->work.n) rt_throw(x->context, IR_ERR_REFUSED, "%s holds no SPIR-V", c->name);
}

/* The first symbol of an image, by bisection: they are in order of images. */
static uint32_t first_symbol(const rt_symbol_record *r, uint32_t n, uint32_t image) {
    uint32_t low = 0;
    while (low < n) {
        uint32_t middle = low + (n - low) / 2;
        if (r[middle].image < image)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

static void take_imports(collecting *x, const image_ref *ref) {
    spvf_container *c = x->containers[ref->container];
    uint32_t n;
    const rt_symbol_record *r = rt_records(c, RT_SECTION_SYMBOLS, &n);
    for (uint32_t k = first_symbol(r, n, ref->image); k < n && r[k].image == ref->image; k++) {
        const char *name = rt_container_text(c, r[k].name);
        const export *e = r[k].imported ? find_export(x, name) : NULL;
        if (e) take(x, e->from);
    }
}

/* ----------------------------------------------------------------------------------- the module */

static ir_module *read_image(const collecting *x, const image_ref *ref) {
    spvf_container *c = x->containers[ref->container];
    spvf_image_info info;
    rt_source source = {.name = c->name};
    if (!spvf_container_image(c, ref->image, &info)) ir_throw(&x->context->cx, IR_ERR_INPUT);
    source.name = ir_sprintf((ir_arena *)&x->arena, "%s(%s)", c->name, info.name);
    source.bytes = rt_container_code(c, ref->image, &source.size);
    if (!rt_is_spirv(source.bytes, source.size))
        rt_throw(x->context, IR_ERR_INPUT, "%s: it is no SPIR-V", source.name);
    return rt_read_source(x->context, &source, x->options);
}

/* Leaves the kernels of a part that are its own; false: others define some of them.  One that a
 * function of the part calls stays as a function, under another name. */
static bool keep_kernels(collecting *x, ir_module *part, const image_ref *ref) {
    bool all = true;
    foreach_func (f, part) {
        if (!(f->flags & IR_FUNC_KERNEL)) continue;
        const definition *d = find_definition(x, f->name);
        if (!d) define(x, f->name, ref);
        if (!d || d->from == ref) continue;
        f->flags &= ~(uint32_t)(IR_FUNC_KERNEL | IR_FUNC_EXPORT);
        all = false;
    }
    return all;
}

static void link_parts(collecting *x) {
    for (uint32_t n = 0; n < x->parts.n; n++)
        if (!keep_kernels(x, x->parts.data[n], x->work.data[n])) x->sources[n] = 0;
    for (uint32_t n = 0; n < x->parts.n; n++)
        if (!ir_verify_module(x->parts.data[n])) ir_throw(&x->context->cx, IR_ERR_INPUT);
    x->out = ir_module_new(&x->context->cx, x->containers[0]->name, x->parts.data[0]->pointer_bits);
    if (!ir_link(x->out, x->parts.data, x->parts.n, true)) ir_throw(&x->context->cx, IR_ERR_INPUT);
}

static void collect(void *arg) {
    collecting *x = arg;
    list_images(x);
    take_wanted(x);
    for (uint32_t n = 0; n < x->work.n; n++) take_imports(x, x->work.data[n]);
    x->sources = ir_new_array(&x->arena, uint64_t, x->work.n);
    for (uint32_t n = 0; n < x->work.n; n++) {
        ir_module *m = *ir_push(&x->arena, &x->parts) = read_image(x, x->work.data[n]);
        x->sources[n] = m->source;
    }
    if (x->parts.n > 1) link_parts(x);
    rt_take_images(x->out ? x->out : x->parts.data[0], x->containers, x->count, x->sources,
                   x->parts.n);
}

static ir_module *finish(collecting *x) {
    ir_ctx *cx = &x->context->cx;
    bool ok = ir_try(cx, collect, x);
    bool alone = ok && x->parts.n == 1;
    ir_status status = cx->status;
    if (alone) x->out = x->parts.data[0];
    for (uint32_t n = 0; n < x->parts.n && !alone; n++) ir_module_free(x->parts.data[n]);
    if (!ok && x->out) ir_module_free(x->out);
    ir_arena_free(&x->arena);
    if (!ok) ir_throw(cx, status);
    return x->out;
}

/* ---------------------------------------------------------------------------------------- marks */

/* An argument that a property calls specialized, as AdaptiveCpp's compiler does, is marked if the
 * SPIR-V has the parameters that the container says. */
static void take_mark(spvf_container *c, ir_module *m, const spvf_property *p) {
    if (p->owner != SPVF_OF_ARG || strcmp(p->key, "annotations/specialized") != 0) return;
    const spvf_kernel_info *k = spvf_container_kernel(c, p->index);
    ir_func *f = k ? ir_func_find(m, k->name) : NULL;
    if (!f || !(f->flags & IR_FUNC_KERNEL) || f->nparams != k->arg_count) return;
    if (p->arg < f->nparams && strcmp(p->value, "0") != 0) rt_mark_param(f, p->arg);
}

static void take_marks(spvf_container *c, ir_module *m) {
    spvf_property p;
    size_t n = spvf_container_property_count(c);
    for (size_t k = 0; k < n && spvf_container_property(c, k, &p); k++) take_mark(c, m, &p);
}

static ir_module *read_containers(spvf_context *context, void *user,
                                  const spvf_module_options *options) {
    collecting *x = user;
    x->options = options;
    ir_arena_init(&x->arena, &context->cx);
    ir_module *m = finish(x);
    for (size_t n = 0; n < x->count; n++) take_marks(x->containers[n], m);
    return m;
}

bool rt_is_container_source(const rt_source *source) {
    bool is_spirv = rt_is_spirv(source->bytes, source->size);
    return rt_is_container(source->bytes, source->size) ||
           (!is_spirv && rt_is_hcf(source->bytes, source->size));
}

typedef struct {
    collecting *collecting;
    const spvf_module_options *options;
} read_job;

static void read_one(void *arg) {
    const read_job *j = arg;
    read_containers(j->collecting->context, j->collecting, j->options);
}

ir_module *rt_read_container(spvf_context *context, const rt_source *source,
                             const spvf_module_options *options) {
    spvf_container *c;
    if (spvf_container_load(context, source->name, source->bytes, source->size, &c) != SPVF_OK)
        ir_throw(&context->cx, context->cx.status);
    collecting x = {.context = context, .containers = &c, .count = 1};
    read_job j = {&x, options};
    bool ok = ir_try(&context->cx, read_one, &j);
    spvf_container_destroy(c);
    if (!ok) ir_throw(&context->cx, context->cx.status);
    return x.out;
}

spvf_status spvf_container_module(spvf_container *const *containers, size_t count,
                                  const char *kernel, const spvf_module_options *options,
                                  spvf_module **out) {
    spvf_module_options o;
    if (out) *out = NULL;
    if (!containers || !count || !out || !containers[0])
        return rt_refuse_call(NULL, __func__, "there is no container");
    spvf_context *context = containers[0]->context;
    for (size_t n = 0; n < count; n++)
        if (!containers[n] || containers[n]->context != context)
            return rt_refuse_call(context, __func__, "container %zu is of another context", n);
    if (!rt_take_options(context, __func__, &o, options)) return SPVF_ERROR_ARGUMENT;
    collecting x = {.context = context, .containers = containers, .count = count, .kernel = kernel};
    return rt_load_module(context, read_containers, &x, &o, out);
}
