/* hcf.h — AdaptiveCpp's text containers (HCF): nodes with keys and values, as text, and bytes after it.
 *
 *   hcf_tree.c       text to a tree, and back
 *   hcf_read.c       a tree to contents
 *   hcf_write.c      a container to a tree
 *
 * The format is that of doc/hcf.md of AdaptiveCpp: lines `key=value`, `{.name`, `}.name`, with white
 * space around them that means nothing; after the text a marker, and the bytes of all images.  What
 * the nodes mean is what its runtime reads: docs/CONTAINER.md has the table.
 */
#ifndef SPVFUSE_RUNTIME_HCF_H
#define SPVFUSE_RUNTIME_HCF_H

#include "runtime/container/container.h"

typedef struct {
    const char *key, *value;
    uint32_t line;
} rt_hcf_pair;

/* Of nodes in nodes: the path to a key is no long text. */
enum { RT_HCF_MAX_DEPTH = 64 };

typedef struct rt_hcf_node {
    const char *name;
    uint32_t line, depth;
    struct rt_hcf_node *parent, *first, *last, *next;
    ir_vec(rt_hcf_pair) pairs;
} rt_hcf_node;

typedef struct {
    spvf_context *context;
    const char *file; /* in messages */
    ir_arena *arena;
    rt_hcf_node *root;
    ir_map index;      /* hash of parent and name -> the node with that name */
    const char *bytes; /* after the text */
    size_t size;
} rt_hcf;

/* Does the text have the marker after which bytes follow? */
bool rt_is_hcf(const void *bytes, size_t size);
/* A tree without nodes but the root. */
rt_hcf rt_hcf_new(spvf_context *context, const char *file, ir_arena *a);
/* Parses all of what rt_is_hcf; throws after a message with the line. */
void rt_hcf_parse(rt_hcf *t, const char *bytes, size_t size);
void rt_hcf_print(const rt_hcf *t, ir_text *out);
/* A node of this name, or NULL. */
rt_hcf_node *rt_hcf_find(const rt_hcf *t, const rt_hcf_node *parent, const char *name);
/* The same, made if there is none. */
rt_hcf_node *rt_hcf_make(rt_hcf *t, rt_hcf_node *parent, const char *name, uint32_t line);
void rt_hcf_set(rt_hcf *t, rt_hcf_node *n, const char *key, const char *value, uint32_t line);
/* NULL: there is no such key. */
const rt_hcf_pair *rt_hcf_get(const rt_hcf_node *n, const char *key);
IR_NORETURN void rt_hcf_fail(const rt_hcf *t, uint32_t line, const char *fmt, ...) IR_PRINTF(3, 4);

/* A container as HCF, appended to the text.  Throws after a message about what HCF cannot hold.
 * (hcf_write.c) */
void rt_container_to_hcf(spvf_container *c, ir_text *out);
/* HCF to the bytes of a container, which lie in the arena.  (hcf_read.c) */
void rt_hcf_to_container(spvf_context *context, const rt_source *hcf, ir_arena *a, uint8_t **bytes,
                         size_t *size);

#endif
