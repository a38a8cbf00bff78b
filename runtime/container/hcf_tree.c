/* hcf_tree.c — the text of HCF to a tree of nodes, and back.
 *
 * Nodes end in the reverse order of their beginnings, so one pass over the lines with the open node
 * is enough.  What a name or a value cannot be, since it would be read otherwise, is an error when
 * it is to be written.
 */
#include "runtime/container/hcf.h"

#include <ctype.h>

static const char marker[] = "__acpp_hcf_binary_appendix";
enum { MARKER = sizeof marker - 1 };

/* The first marker, or NULL. */
static const char *find_marker(const char *s, size_t n) {
    const char *end = s + n;
    while (n >= MARKER && (s = memchr(s, marker[0], (size_t)(end - s) - MARKER + 1))) {
        if (memcmp(s, marker, MARKER) == 0) return s;
        n = (size_t)(end - ++s);
    }
    return NULL;
}

/* Other files may have the marker in something that they contain, after a byte that no text has. */
bool rt_is_hcf(const void *bytes, size_t size) {
    const char *end = find_marker(bytes, size);
    return end && !memchr(bytes, 0, (size_t)(end - (const char *)bytes));
}

void rt_hcf_fail(const rt_hcf *t, uint32_t line, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    ir_vreport(&t->context->cx, (ir_message){.severity = IR_ERROR, .file = t->file, .line = line},
               fmt, ap);
    va_end(ap);
    ir_throw(&t->context->cx, IR_ERR_INPUT);
}

/* ---------------------------------------------------------------------------------------- nodes */

rt_hcf rt_hcf_new(spvf_context *context, const char *file, ir_arena *a) {
    rt_hcf t = {.context = context, .file = file, .arena = a, .root = ir_new(a, rt_hcf_node)};
    t.root->name = "root";
    return t;
}

/* Names are told apart by 64 bits of a hash, and then compared: a node whose hash is taken by
 * another name is found under the next number. */
static rt_hcf_node *find(const rt_hcf *t, const rt_hcf_node *parent, const char *name,
                         uint64_t *hash) {
    uint64_t plain = ir_mix((uintptr_t)parent, ir_hash(0, name, strlen(name)));
    for (uint64_t more = 0;; more++) {
        *hash = ir_mix(plain, more);
        rt_hcf_node *n = ir_map_get(&t->index, *hash);
        if (!n || (n->parent == parent && strcmp(n->name, name) == 0)) return n;
    }
}

rt_hcf_node *rt_hcf_find(const rt_hcf *t, const rt_hcf_node *parent, const char *name) {
    uint64_t hash;
    return find(t, parent, name, &hash);
}

rt_hcf_node *rt_hcf_make(rt_hcf *t, rt_hcf_node *parent, const char *name, uint32_t line) {
    uint64_t hash;
    rt_hcf_node *n = find(t, parent, name, &hash);
    if (n) return n;
    n = ir_new(t->arena, rt_hcf_node);
    *n = (rt_hcf_node){.name = name, .line = line, .parent = parent, .depth = parent->depth + 1};
    *(parent->last ? &parent->last->next : &parent->first) = n;
    parent->last = n;
    ir_map_set(t->arena, &t->index, hash, n);
    return n;
}

void rt_hcf_set(rt_hcf *t, rt_hcf_node *n, const char *key, const char *value, uint32_t line) {
    *ir_push(t->arena, &n->pairs) = (rt_hcf_pair){key, value, line};
}

const rt_hcf_pair *rt_hcf_get(const rt_hcf_node *n, const char *key) {
    foreach_in (const rt_hcf_pair, p, n->pairs)
        if (strcmp(p->key, key) == 0) return p;
    return NULL;
}

/* -------------------------------------------------------------------------------------- parsing */

/* Without white space around it. */
static const char *trim(const rt_hcf *t, const char *s, const char *end) {
    while (s < end && isspace((unsigned char)*s)) s++;
    while (s < end && isspace((unsigned char)end[-1])) end--;
    return ir_strndup(t->arena, s, (size_t)(end - s));
}

static rt_hcf_node *begin_node(rt_hcf *t, rt_hcf_node *open, const char *name, uint32_t line) {
    if (!*name) rt_hcf_fail(t, line, "a node has no name");
    if (open->depth == RT_HCF_MAX_DEPTH)
        rt_hcf_fail(t, line, "nodes are nested more than %d deep", RT_HCF_MAX_DEPTH);
    const rt_hcf_node *there = rt_hcf_find(t, open, name);
    if (there) rt_hcf_fail(t, line, "node '%s' has been in line %u already", name, there->line);
    return rt_hcf_make(t, open, name, line);
}

static rt_hcf_node *end_node(const rt_hcf *t, const rt_hcf_node *open, const char *name,
                             uint32_t line) {
    if (!open->parent) rt_hcf_fail(t, line, "node '%s' ends, and has not begun", name);
    if (strcmp(open->name, name) != 0)
        rt_hcf_fail(t, line, "node '%s' ends, where '%s' of line %u is open", name, open->name,
                    open->line);
    return open->parent;
}

/* A line; gives the node that is open after it. */
static rt_hcf_node *parse_line(rt_hcf *t, rt_hcf_node *open, const char *text, uint32_t line) {
    if (!*text) return open;
    if (strncmp(text, "{.", 2) == 0)
        return begin_node(t, open, trim(t, text + 2, text + strlen(text)), line);
    if (strncmp(text, "}.", 2) == 0)
        return end_node(t, open, trim(t, text + 2, text + strlen(text)), line);
    const char *equals = strchr(text, '=');
    if (!equals) rt_hcf_fail(t, line, "'%s' is no node and has no '='", text);
    rt_hcf_set(t, open, trim(t, text, equals), trim(t, equals + 1, text + strlen(text)), line);
    return open;
}

void rt_hcf_parse(rt_hcf *t, const char *bytes, size_t size) {
    const char *end = find_marker(bytes, size);
    rt_hcf_node *open = t->root;
    uint32_t line = 0;
    assert(end); /* rt_is_hcf */
    for (const char *s = bytes; s < end; s++) {
        const char *stop = memchr(s, '\n', (size_t)(end - s));
        if (!stop) stop = end;
        open = parse_line(t, open, trim(t, s, stop), ++line);
        s = stop;
    }
    if (open->parent) rt_hcf_fail(t, open->line, "node '%s' does not end", open->name);
    t->bytes = end + MARKER;
    t->size = size - (size_t)(end - bytes) - MARKER;
}

/* ------------------------------------------------------------------------------------- printing */

/* Would it be read as it is written? */
static void check_plain(const rt_hcf *t, const char *s, const char *what, bool is_key) {
    size_t n = strlen(s);
    bool empty = !n && is_key,
         spaced = n && (isspace((unsigned char)*s) || isspace((unsigned char)s[n - 1]));
    bool node = is_key && (strncmp(s, "{.", 2) == 0 || strncmp(s, "}.", 2) == 0);
    if (empty || spaced || node || strchr(s, '\n') || find_marker(s, n))
        rt_throw(t->context, IR_ERR_REFUSED, "%s: HCF has no %s '%s'", t->file, what, s);
}

static void print_pairs(const rt_hcf *t, const rt_hcf_node *n, ir_text *out) {
    foreach_in (const rt_hcf_pair, p, n->pairs) {
        check_plain(t, p->key, "key", true);
        check_plain(t, p->value, "value", false);
        if (strchr(p->key, '='))
            rt_throw(t->context, IR_ERR_REFUSED, "%s: HCF has no key '%s'", t->file, p->key);
        ir_putf(out, "%s=%s\n", p->key, p->value);
    }
}

/* Without recursion: a tree may be deep. */
void rt_hcf_print(const rt_hcf *t, ir_text *out) {
    const rt_hcf_node *n = t->root;
    print_pairs(t, n, out);
    while (n) {
        const rt_hcf_node *next = n->first;
        while (!next && n) {
            if (n != t->root) ir_putf(out, "}.%s\n", n->name);
            next = n->next;
            n = n->parent;
        }
        n = next;
        if (!n) break;
        check_plain(t, n->name, "name", true);
        ir_putf(out, "{.%s\n", n->name);
        print_pairs(t, n, out);
    }
    ir_putn(out, marker, MARKER);
    ir_putn(out, t->bytes, t->size);
}
