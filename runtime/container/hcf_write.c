/* hcf_write.c — a container as HCF.
 *
 * The nodes are those that AdaptiveCpp writes, in its order, so what it has written comes back byte
 * for byte.  Properties become keys again, at the paths that they have (hcf_read.c).  What its
 * runtime wants and other containers have not gets a value: object-id is a hash of the images,
 * generator and variant are names.
 */
#include "runtime/container/hcf.h"

typedef struct {
    rt_hcf tree;
    spvf_container *container;
    ir_text bytes;
    rt_hcf_node **images, **kernels;
    rt_hcf_node ***args; /* by kernel */
} writing;

static const char *print_number(const writing *w, uint64_t n) {
    return ir_sprintf(w->tree.arena, "%llu", (unsigned long long)n);
}

static void set(writing *w, rt_hcf_node *n, const char *key, const char *value) {
    rt_hcf_set(&w->tree, n, key, value, 0);
}

static void set_number(writing *w, rt_hcf_node *n, const char *key, uint64_t value) {
    set(w, n, key, print_number(w, value));
}

/* ----------------------------------------------------------------------------------- properties */

static unsigned digit(char c) {
    return c >= '0' && c <= '9'   ? (unsigned)(c - '0')
           : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                  : 16;
}

/* A part of a path, without its escapes. */
static const char *part(const writing *w, const char *s, size_t n) {
    char *to = ir_alloc(w->tree.arena, n + 1), *out = to;
    for (const char *end = s + n; s < end; s++) {
        bool escape = *s == '%' && end - s > 2 && digit(s[1]) < 16 && digit(s[2]) < 16;
        *out++ = escape ? (char)(digit(s[1]) << 4 | digit(s[2])) : *s;
        if (escape) s += 2;
    }
    return to;
}

static void put_property(writing *w, rt_hcf_node *n, const spvf_property *p) {
    const char *s = p->key;
    for (const char *slash; (slash = strchr(s, '/')); s = slash + 1)
        n = rt_hcf_make(&w->tree, n, part(w, s, (size_t)(slash - s)), 0);
    if (n->depth > RT_HCF_MAX_DEPTH)
        rt_throw(w->tree.context, IR_ERR_REFUSED, "%s: HCF has no path '%s'", w->tree.file, p->key);
    if (*s) set(w, n, part(w, s, strlen(s)), p->value);
}

static rt_hcf_node *owner_of(const writing *w, const spvf_property *p) {
    switch (p->owner) {
    case SPVF_OF_CONTAINER: break;
    case SPVF_OF_IMAGE: return w->images[p->index];
    case SPVF_OF_KERNEL: return w->kernels[p->index];
    case SPVF_OF_ARG: return w->args[p->index][p->arg];
    }
    return w->tree.root;
}

static void put_properties(writing *w) {
    spvf_property p;
    for (size_t n = 0; spvf_container_property(w->container, n, &p); n++)
        put_property(w, owner_of(w, &p), &p);
}

/* --------------------------------------------------------------------------------------- images */

/* Keys of an image that its runtime wants: the variant comes first. */
static void put_image(writing *w, rt_hcf_node *node, size_t number) {
    spvf_container *c = w->container;
    spvf_image_info info;
    size_t size;
    spvf_container_image(c, number, &info);
    const void *code = rt_container_code(c, number, &size);
    if (!rt_hcf_get(node, "variant"))
        set(w, node, "variant", *info.target ? info.target : "global-module");
    set(w, node, "format", info.format);
    rt_hcf_node *binary = rt_hcf_make(&w->tree, node, "__binary", 0);
    set_number(w, binary, "start", w->bytes.n);
    set_number(w, binary, "size", size);
    if (size) ir_putn(&w->bytes, code, size);
    rt_hcf_make(&w->tree, node, "exported-symbols", 0);
    rt_hcf_make(&w->tree, node, "imported-symbols", 0);
}

static void put_symbols(writing *w) {
    spvf_symbol s;
    for (size_t n = 0; spvf_container_symbol(w->container, n, &s); n++) {
        const char *list = s.imported ? "imported-symbols" : "exported-symbols";
        rt_hcf_make(&w->tree, rt_hcf_find(&w->tree, w->images[s.image], list), s.name, 0);
    }
}

/* -------------------------------------------------------------------------------------- kernels */

static const char *type_of(const spvf_arg_info *a) {
    static const char *const types[] = {"integer", "floating-point", "pointer", "other-by-value"};
    for (unsigned n = 0; a->type_name && n < sizeof types / sizeof *types; n++)
        if (strcmp(a->type_name, types[n]) == 0) return types[n];
    return a->kind == SPVF_ARG_VALUE ? "other-by-value" : "pointer";
}

static void put_arg(writing *w, rt_hcf_node *node, const spvf_arg_info *a) {
    bool pointer = a->kind != SPVF_ARG_VALUE && !a->size;
    set_number(w, node, "byte-offset", a->offset);
    set_number(w, node, "byte-size", pointer ? sizeof(void *) : a->size);
    set_number(w, node, "original-index", a->closure);
    set(w, node, "type", type_of(a));
    rt_hcf_make(&w->tree, node, "annotations", 0);
}

static void put_kernel(writing *w, rt_hcf_node *node, size_t number) {
    spvf_container *c = w->container;
    const spvf_kernel_info *info = spvf_container_kernel(c, number);
    size_t count;
    const uint32_t *providers = spvf_container_providers(c, number, &count);
    rt_hcf_node *list = rt_hcf_make(&w->tree, node, "image-providers", 0);
    for (size_t n = 0; n < count; n++)
        rt_hcf_make(&w->tree, list, w->images[providers[n]]->name, 0);
    rt_hcf_make(&w->tree, node, "compile-flags", 0);
    rt_hcf_make(&w->tree, node, "compile-options", 0);
    rt_hcf_node *args = rt_hcf_make(&w->tree, node, "parameters", 0);
    w->args[number] = ir_new_array(w->tree.arena, rt_hcf_node *, info->arg_count);
    for (size_t a = 0; a < info->arg_count; a++) {
        w->args[number][a] = rt_hcf_make(&w->tree, args, print_number(w, a), 0);
        put_arg(w, w->args[number][a], info->args[a]);
    }
}

/* ---------------------------------------------------------------------------------------- whole */

static rt_hcf_node *make_named(writing *w, const char *list, const char *name) {
    return rt_hcf_make(&w->tree, rt_hcf_make(&w->tree, w->tree.root, list, 0), name, 0);
}

/* Images may have the same name, and nodes may not. */
static rt_hcf_node *make_image(writing *w, const char *name, size_t number) {
    const char *tried = *name ? name : "image";
    const rt_hcf_node *list = rt_hcf_make(&w->tree, w->tree.root, "images", 0);
    for (size_t n = number; rt_hcf_find(&w->tree, list, tried); n++)
        tried = ir_sprintf(w->tree.arena, "%s.%zu", name, n);
    return make_named(w, "images", tried);
}

static void make_nodes(writing *w) {
    spvf_container *c = w->container;
    size_t images = spvf_container_image_count(c), kernels = spvf_container_kernel_count(c);
    spvf_image_info info;
    w->images = ir_new_array(w->tree.arena, rt_hcf_node *, images);
    w->kernels = ir_new_array(w->tree.arena, rt_hcf_node *, kernels);
    w->args = ir_new_array(w->tree.arena, rt_hcf_node **, kernels);
    for (size_t n = 0; spvf_container_image(c, n, &info); n++)
        w->images[n] = make_image(w, info.name, n);
    for (size_t n = 0; n < kernels; n++)
        w->kernels[n] = make_named(w, "kernels", spvf_container_kernel(c, n)->name);
}

static void put_root(writing *w) {
    uint64_t id = ir_hash(0, w->bytes.data, w->bytes.n);
    if (!rt_hcf_get(w->tree.root, "object-id")) set_number(w, w->tree.root, "object-id", id);
    if (!rt_hcf_get(w->tree.root, "generator")) set(w, w->tree.root, "generator", "spvfuse");
}

void rt_container_to_hcf(spvf_container *c, ir_text *out) {
    writing w = {.tree = rt_hcf_new(c->context, c->name, out->arena), .container = c};
    if (spvf_container_verify(c) != SPVF_OK) ir_throw(&c->context->cx, c->context->cx.status);
    w.bytes.arena = out->arena;
    ir_put(&w.bytes, "");
    make_nodes(&w);
    for (size_t n = 0; n < spvf_container_kernel_count(c); n++) put_kernel(&w, w.kernels[n], n);
    put_properties(&w);
    for (size_t n = 0; n < spvf_container_image_count(c); n++) put_image(&w, w.images[n], n);
    put_symbols(&w);
    put_root(&w);
    w.tree.bytes = w.bytes.data;
    w.tree.size = w.bytes.n;
    rt_hcf_print(&w.tree, out);
}

typedef struct {
    spvf_container *container;
    spvf_blob *out;
    ir_arena scratch;
} hcf_job;

static void write_hcf(void *arg) {
    hcf_job *j = arg;
    ir_text text = {.arena = &j->scratch};
    rt_container_to_hcf(j->container, &text);
    rt_copy_out(j->container->context, text.data, text.n, j->out);
}

spvf_status spvf_container_hcf(spvf_container *c, spvf_blob *out) {
    if (out) *out = (spvf_blob){0};
    if (!c || !out) return rt_refuse_call(c ? c->context : NULL, __func__, "out is NULL");
    hcf_job j = {.container = c, .out = out};
    ir_arena_init(&j.scratch, &c->context->cx);
    spvf_status status = rt_guard(c->context, write_hcf, &j);
    ir_arena_free(&j.scratch);
    return status;
}
