/* hcf_read.c — a tree of HCF to contents.
 *
 * Images, their symbols, kernels, the images that hold them and their parameters have places of
 * their own in a container.  Everything else is kept as properties of what it is found below; the
 * key of a property is the path to the key of HCF, with "/" between the names of nodes; "%" and "/"
 * in names are written as "%25" and "%2f".  A node without keys is the path that ends in "/".
 */
#include "runtime/container/hcf.h"

typedef struct {
    rt_hcf tree;
    spvf_pack *pack;
    ir_map images; /* node -> its number plus 1 */
} reading;

/* ----------------------------------------------------------------------------------- properties */

static const char *join_path(const reading *r, const char *path, const char *name) {
    ir_text t = {.arena = r->tree.arena};
    ir_put(&t, path);
    for (; *name; name++)
        if (*name == '/' || *name == '%')
            ir_putf(&t, "%%%02x", *name);
        else
            ir_putn(&t, name, 1);
    return t.data;
}

static void keep(reading *r, spvf_property owner, const char *key, const char *value) {
    owner.key = key;
    owner.value = value;
    rt_pack_property(r->pack, &owner);
}

static void keep_pair(reading *r, spvf_property owner, const char *path, const rt_hcf_pair *p) {
    keep(r, owner, join_path(r, path, p->key), p->value);
}

typedef struct {
    const rt_hcf_node *node;
    const char *path; /* of what is in it */
} visit;

/* All that is in a node, and in those in it. */
static void keep_node(reading *r, spvf_property owner, const rt_hcf_node *node) {
    ir_vec(visit) todo = {0};
    *ir_push(r->tree.arena, &todo) = (visit){node, ""};
    for (uint32_t k = 0; k < todo.n; k++) {
        const visit v = todo.data[k];
        const char *path = ir_sprintf(r->tree.arena, "%s/", join_path(r, v.path, v.node->name));
        if (strcmp(v.node->name, "__binary") == 0)
            rt_hcf_fail(&r->tree, v.node->line, "bytes of a node that is no image");
        if (!v.node->pairs.n && !v.node->first) keep(r, owner, path, "");
        foreach_in (const rt_hcf_pair, p, v.node->pairs) keep_pair(r, owner, path, p);
        for (const rt_hcf_node *n = v.node->first; n; n = n->next)
            *ir_push(r->tree.arena, &todo) = (visit){n, path};
    }
}

/* Keys and nodes that have a place of their own, and nodes that are written when they are empty. */
typedef struct {
    const char *known[5], *implied[3];
} level;

static bool is_one_of(const char *name, const char *const *names) {
    while (*names && strcmp(*names, name) != 0) names++;
    return *names;
}

/* What is in a node, but for what has a place of its own. */
static void keep_rest(reading *r, spvf_property owner, const rt_hcf_node *node, const level *l) {
    foreach_in (const rt_hcf_pair, p, node->pairs)
        if (!is_one_of(p->key, l->known)) keep_pair(r, owner, "", p);
    for (const rt_hcf_node *n = node->first; n; n = n->next) {
        bool empty = !n->pairs.n && !n->first;
        if (!is_one_of(n->name, l->known) && !(empty && is_one_of(n->name, l->implied)))
            keep_node(r, owner, n);
    }
}

/* The keys of a node whose nodes have places of their own. */
static void keep_pairs(reading *r, spvf_property owner, const rt_hcf_node *node) {
    const char *path = ir_sprintf(r->tree.arena, "%s/", node->name);
    foreach_in (const rt_hcf_pair, p, node->pairs) keep_pair(r, owner, path, p);
}

/* The entries of a list are names and nothing else; gives the first one. */
static const rt_hcf_node *open_list(const reading *r, const rt_hcf_node *parent, const char *name) {
    const rt_hcf_node *list = rt_hcf_find(&r->tree, parent, name);
    if (!list) return NULL;
    if (list->pairs.n) rt_hcf_fail(&r->tree, list->line, "'%s' is a list, and has keys", name);
    for (const rt_hcf_node *n = list->first; n; n = n->next)
        if (n->pairs.n || n->first)
            rt_hcf_fail(&r->tree, n->line, "'%s' is in a list, and has contents", n->name);
    return list->first;
}

/* --------------------------------------------------------------------------------------- values */

static const char *need(const reading *r, const rt_hcf_node *n, const char *key) {
    const rt_hcf_pair *p = rt_hcf_get(n, key);
    if (!p) rt_hcf_fail(&r->tree, n->line, "node '%s' has no key '%s'", n->name, key);
    return p->value;
}

static uint64_t need_number(const reading *r, const rt_hcf_node *n, const char *key) {
    const char *s = need(r, n, key);
    uint64_t value = 0;
    bool good = *s;
    for (; *s && good; s++) {
        good = *s >= '0' && *s <= '9' && value <= (UINT64_MAX - 9) / 10;
        if (good) value = value * 10 + (uint64_t)(*s - '0');
    }
    if (!good)
        rt_hcf_fail(&r->tree, rt_hcf_get(n, key)->line, "%s is no number, or a large one", key);
    return value;
}

/* --------------------------------------------------------------------------------------- images */

static void read_symbols(reading *r, const rt_hcf_node *image, uint32_t number, bool imported) {
    const char *list = imported ? "imported-symbols" : "exported-symbols";
    for (const rt_hcf_node *n = open_list(r, image, list); n; n = n->next)
        rt_pack_symbol(r->pack, number, n->name, imported);
}

static void read_image(reading *r, const rt_hcf_node *node) {
    static const level image_level = {
        {"format", "__binary", "exported-symbols", "imported-symbols"}, {NULL}};
    const rt_hcf_node *binary = rt_hcf_find(&r->tree, node, "__binary");
    rt_packed_image image = {
        .name = node->name, .format = need(r, node, "format"), .target = need(r, node, "variant")};
    rt_format format = rt_format_of(image.format);
    if (format == RT_FORMAT_SPIRV || format == RT_FORMAT_LLVM_IR) image.target = "";
    if (!binary) rt_hcf_fail(&r->tree, node->line, "image '%s' has no bytes", node->name);
    uint64_t start = need_number(r, binary, "start"), size = need_number(r, binary, "size");
    if (binary->pairs.n != 2 || binary->first)
        rt_hcf_fail(&r->tree, binary->line, "there is more than start and size");
    if (start > r->tree.size || size > r->tree.size - start)
        rt_hcf_fail(&r->tree, binary->line, "image '%s' is beyond the %zu bytes after the text",
                    node->name, r->tree.size);
    image.bytes = ir_dup(&r->pack->arena, r->tree.bytes + start, size);
    image.size = size;
    uint32_t number = rt_pack_image(r->pack, &image);
    ir_map_set(r->tree.arena, &r->images, (uintptr_t)node, (void *)(uintptr_t)(number + 1));
    read_symbols(r, node, number, false);
    read_symbols(r, node, number, true);
    keep_rest(r, (spvf_property){.owner = SPVF_OF_IMAGE, .index = number}, node, &image_level);
}

/* -------------------------------------------------------------------------------------- kernels */

static spvf_arg_info read_arg(const reading *r, const rt_hcf_node *node) {
    const char *type = need(r, node, "type");
    bool pointer = strcmp(type, "pointer") == 0;
    return (spvf_arg_info){.type_name = type,
                           .kind = pointer ? SPVF_ARG_BUFFER : SPVF_ARG_VALUE,
                           .size = need_number(r, node, "byte-size"),
                           .member = true,
                           .closure = (uint32_t)need_number(r, node, "original-index"),
                           .offset = need_number(r, node, "byte-offset")};
}

static const rt_hcf_node *find_arg(const reading *r, const rt_hcf_node *list, size_t n) {
    char name[24];
    snprintf(name, sizeof name, "%zu", n);
    return rt_hcf_find(&r->tree, list, name);
}

static void read_args(const reading *r, const rt_hcf_node *list, spvf_kernel_info *info) {
    size_t n = 0;
    for (const rt_hcf_node *p = list->first; p; p = p->next) n++;
    spvf_arg_info *args = ir_new_array(r->tree.arena, spvf_arg_info, n);
    for (size_t k = 0; k < n; k++) {
        const rt_hcf_node *node = find_arg(r, list, k);
        if (!node)
            rt_hcf_fail(&r->tree, list->line, "there are %zu parameters, and no parameter %zu", n,
                        k);
        args[k] = read_arg(r, node);
    }
    info->args = RT_LIST(r->tree.arena, args, n);
    info->arg_count = n;
}

static void keep_args(reading *r, const rt_hcf_node *list, const rt_packed_kernel *k) {
    static const level arg_level = {{"byte-offset", "byte-size", "original-index", "type"},
                                    {"annotations"}};
    for (size_t n = 0; n < k->info.arg_count; n++)
        keep_rest(r, (spvf_property){.owner = SPVF_OF_ARG, .index = k->number, .arg = (uint32_t)n},
                  find_arg(r, list, n), &arg_level);
}

static void read_kernel(reading *r, const rt_hcf_node *node) {
    static const level kernel_level = {{"image-providers", "parameters"},
                                       {"compile-flags", "compile-options"}};
    const spvf_property owner = {.owner = SPVF_OF_KERNEL, .index = r->pack->kernels.n};
    const rt_hcf_node *list = rt_hcf_find(&r->tree, node, "parameters");
    const rt_hcf_node *images = rt_hcf_find(&r->tree, r->tree.root, "images");
    spvf_kernel_info info = {.name = node->name};
    if (list) read_args(r, list, &info);
    rt_packed_kernel *k = rt_pack_describe(r->pack, node->name, &info);
    for (const rt_hcf_node *p = open_list(r, node, "image-providers"); p; p = p->next) {
        const rt_hcf_node *image = images ? rt_hcf_find(&r->tree, images, p->name) : NULL;
        if (!image) rt_hcf_fail(&r->tree, p->line, "there is no image '%s'", p->name);
        uintptr_t number = (uintptr_t)ir_map_get(&r->images, (uintptr_t)image) - 1;
        rt_pack_provide(r->pack, k, (uint32_t)number);
    }
    keep_rest(r, owner, node, &kernel_level);
    if (list) keep_pairs(r, owner, list);
    if (list) keep_args(r, list, k);
}

/* ---------------------------------------------------------------------------------------- whole */

static void read_tree(reading *r) {
    static const level root_level = {{"images", "kernels"}, {NULL}};
    const spvf_property owner = {.owner = SPVF_OF_CONTAINER};
    const rt_hcf_node *images = rt_hcf_find(&r->tree, r->tree.root, "images");
    const rt_hcf_node *kernels = rt_hcf_find(&r->tree, r->tree.root, "kernels");
    keep_rest(r, owner, r->tree.root, &root_level);
    if (images) keep_pairs(r, owner, images);
    if (kernels) keep_pairs(r, owner, kernels);
    for (const rt_hcf_node *n = images ? images->first : NULL; n; n = n->next) read_image(r, n);
    for (const rt_hcf_node *n = kernels ? kernels->first : NULL; n; n = n->next) read_kernel(r, n);
}

typedef struct {
    reading reading;
    const rt_source *hcf;
    ir_arena *to;
    uint8_t **bytes;
    size_t *size;
} convert_job;

static void convert(void *arg) {
    convert_job *j = arg;
    reading *r = &j->reading;
    r->tree = rt_hcf_new(r->pack->context, j->hcf->name, &r->pack->arena);
    rt_hcf_parse(&r->tree, j->hcf->bytes, j->hcf->size);
    read_tree(r);
    rt_pack_bytes(r->pack, j->to, j->bytes, j->size);
}

void rt_hcf_to_container(spvf_context *context, const rt_source *hcf, ir_arena *a, uint8_t **bytes,
                         size_t *size) {
    convert_job j = {
        .reading.pack = rt_pack_new(context), .hcf = hcf, .to = a, .bytes = bytes, .size = size};
    bool ok = ir_try(&context->cx, convert, &j);
    spvf_pack_destroy(j.reading.pack);
    if (!ok) ir_throw(&context->cx, context->cx.status);
}
