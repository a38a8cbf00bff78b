/* type.c — types: packing, interning, sizes, text.
 *
 * Scalars, vectors and pointers are complete in their 32-bit word.  Structs, arrays and images have
 * an entry in the module's table, found by hash and compared by content, so that equal types are
 * equal words.  Layout follows OpenCL C: natural alignment, a vector of 3 takes the room of 4.
 */
#include "ir/ir.h"

enum { LANES_SHIFT = 5, INDEX_SHIFT = 12, MAX_TYPES = 1 << 20 };

ir_type ir_scalar(ir_kind kind) { return (ir_type)kind; }

ir_type ir_vector(ir_type elem, unsigned lanes) {
    assert(lanes >= 1 && lanes <= IR_MAX_LANES && elem < 32);
    return lanes == 1 ? elem : elem | lanes << LANES_SHIFT;
}

ir_type ir_ptr(ir_space space) { return IR_PTR | (ir_type)space << LANES_SHIFT; }

const ir_type_info *ir_type_get(const ir_module *m, ir_type t) {
    assert(t >> INDEX_SHIFT < m->types.n);
    return m->types.data[t >> INDEX_SHIFT];
}

/* ---------------------------------------------------------------------------------------- sizes */

unsigned ir_bits(const ir_module *m, ir_type t) {
    switch (ir_kind_of(t)) {
    case IR_I1: return 1;
    case IR_I8: return 8;
    case IR_I16:
    case IR_F16:
    case IR_BF16: return 16;
    case IR_I32:
    case IR_F32: return 32;
    case IR_I64:
    case IR_F64: return 64;
    case IR_VOID: return 0;
    default: return m->pointer_bits; /* pointers and handles */
    }
}

static uint64_t scalar_size(const ir_module *m, ir_type t) { return (ir_bits(m, t) + 7) / 8; }

uint64_t ir_access_size(const ir_module *m, ir_type t) {
    if (ir_is_aggregate(t)) return ir_sizeof(m, t);
    return scalar_size(m, ir_elem(t)) * ir_lanes(t);
}

uint64_t ir_sizeof(const ir_module *m, ir_type t) {
    if (ir_is_aggregate(t)) return ir_type_get(m, t)->size;
    unsigned lanes = ir_lanes(t);
    return scalar_size(m, ir_elem(t)) * (lanes == 3 ? 4 : lanes);
}

uint64_t ir_alignof(const ir_module *m, ir_type t) {
    if (ir_is_aggregate(t)) return ir_type_get(m, t)->align;
    uint64_t size = ir_sizeof(m, t), align = 1;
    while (align < size) align *= 2;
    return align;
}

/* ------------------------------------------------------------------------------------ interning */

static uint64_t hash_info(const ir_type_info *t) {
    uint64_t h = ir_mix(t->kind, t->count * 2u + t->packed);
    uint32_t members = t->kind == IR_STRUCT ? t->count : t->kind == IR_ARRAY;
    if (members) h = ir_hash(h, t->member, members * sizeof *t->member);
    if (t->marked) h = ir_hash(h, t->marked, members * sizeof *t->marked);
    return t->kind < IR_IMAGE ? h : ir_hash(h, &t->image, 7) ^ t->image.texel;
}

static bool same_marks(const ir_type_info *a, const ir_type_info *b) {
    if (!a->marked || !b->marked) return a->marked == b->marked;
    return memcmp(a->marked, b->marked, a->count * sizeof *a->marked) == 0;
}

static bool same_info(const ir_type_info *a, const ir_type_info *b) {
    if (a->kind != b->kind || a->count != b->count || a->packed != b->packed) return false;
    uint32_t members = a->kind == IR_STRUCT ? a->count : a->kind == IR_ARRAY;
    if (members && memcmp(a->member, b->member, members * sizeof *a->member) != 0) return false;
    if (!same_marks(a, b)) return false;
    return memcmp(&a->image, &b->image, 7) == 0 && a->image.texel == b->image.texel;
}

static ir_type type_of_index(ir_kind kind, uint32_t index) { return kind | index << INDEX_SHIFT; }

/* The map holds, for a hash, the newest type with it; `chain` leads to older ones. */
static bool find_type(const ir_module *m, uint64_t hash, const ir_type_info *info, ir_type *found) {
    const ir_type_info *t = ir_map_get(&m->type_map, hash);
    while (t && !same_info(t, info)) t = t->chain ? m->types.data[t->chain - 1] : NULL;
    if (t) *found = type_of_index(t->kind, t->index);
    return t != NULL;
}

static ir_type add_type(ir_module *m, uint64_t hash, ir_type_info *info) {
    const ir_type_info *older = ir_map_get(&m->type_map, hash);
    if (m->types.n >= MAX_TYPES) ir_throw(m->cx, IR_ERR_LIMIT);
    info->index = m->types.n;
    info->chain = older ? older->index + 1 : 0;
    *ir_push(&m->arena, &m->types) = info;
    ir_map_set(&m->arena, &m->type_map, hash, info);
    return type_of_index(info->kind, info->index);
}

/* Counts one more member into the bounds of its aggregate. */
static void nest(const ir_module *m, ir_type_info *t, ir_type member) {
    bool inner = ir_is_aggregate(member);
    uint32_t depth = inner ? ir_type_get(m, member)->depth + 1 : 1;
    t->parts += inner ? ir_type_get(m, member)->parts + 1 : 1;
    if (depth > t->depth) t->depth = depth;
    if (depth > IR_MAX_TYPE_DEPTH || t->parts > IR_MAX_TYPE_PARTS) ir_throw(m->cx, IR_ERR_LIMIT);
}

static uint64_t round_up(uint64_t n, uint64_t align) { return (n + align - 1) / align * align; }

/* Offsets, size and alignment of a struct; sizes past 2^62 are refused. */
static void lay_out_struct(ir_module *m, ir_type_info *t) {
    uint64_t *offset = ir_new_array(&m->arena, uint64_t, t->count), at = 0;
    t->align = 1;
    for (uint32_t i = 0; i < t->count; i++) {
        uint64_t align = t->packed ? 1 : ir_alignof(m, t->member[i]);
        offset[i] = at = round_up(at, align);
        at += ir_sizeof(m, t->member[i]);
        if (at >> 62) ir_throw(m->cx, IR_ERR_LIMIT);
        if (align > t->align) t->align = align;
        nest(m, t, t->member[i]);
    }
    t->offset = offset;
    t->size = round_up(at, t->align);
}

static ir_type intern_struct(ir_module *m, const char *name, const ir_type_info *key) {
    uint64_t hash = hash_info(key);
    ir_type found;
    if (find_type(m, hash, key, &found)) return found;
    ir_type_info *t = ir_dup(&m->arena, key, sizeof *key);
    t->member = ir_dup(&m->arena, key->member, key->count * sizeof *key->member);
    if (key->marked) t->marked = ir_dup(&m->arena, key->marked, key->count * sizeof *key->marked);
    t->name = name ? ir_strdup(&m->arena, name) : NULL;
    lay_out_struct(m, t);
    return add_type(m, hash, t);
}

ir_type ir_struct_type(ir_module *m, const char *name, bool packed, const ir_type *member,
                       uint32_t n) {
    const ir_type_info key = {.kind = IR_STRUCT, .packed = packed, .count = n, .member = member};
    return intern_struct(m, name, &key);
}

ir_type ir_mark_members(ir_module *m, const char *name, ir_type t, const bool *marked) {
    const ir_type_info *info = ir_type_get(m, t);
    bool any = false;
    for (uint32_t k = 0; marked && k < info->count; k++) any |= marked[k];
    if (!any) return t;
    const ir_type_info key = {.kind = IR_STRUCT,
                              .packed = info->packed,
                              .count = info->count,
                              .member = info->member,
                              .marked = marked};
    return intern_struct(m, name, &key);
}

ir_type ir_array_type(ir_module *m, ir_type elem, uint32_t n) {
    ir_type_info key = {.kind = IR_ARRAY, .count = n, .member = &elem};
    uint64_t hash = hash_info(&key), size = ir_sizeof(m, elem);
    ir_type found;
    if (find_type(m, hash, &key, &found)) return found;
    if (size && n > (UINT64_C(1) << 62) / size) ir_throw(m->cx, IR_ERR_LIMIT);
    ir_type_info *t = ir_dup(&m->arena, &key, sizeof key);
    t->member = ir_dup(&m->arena, &elem, sizeof elem);
    t->size = size * n;
    t->align = ir_alignof(m, elem);
    nest(m, t, elem);
    return add_type(m, hash, t);
}

ir_type ir_image_type(ir_module *m, const ir_type_info *image) {
    ir_type_info key = {.kind = image->kind, .image = image->image};
    uint64_t hash = hash_info(&key);
    ir_type found;
    if (find_type(m, hash, &key, &found)) return found;
    return add_type(m, hash, ir_dup(&m->arena, &key, sizeof key));
}

/* ----------------------------------------------------------------------------------------- text */

static const char *const kind_names[] = {"void", "i1",  "i8",   "i16", "i32",
                                         "i64",  "f16", "bf16", "f32", "f64"};
static const char *const space_names[] = {"private", "local", "global", "const", "generic"};

static void print_image(ir_text *out, const ir_module *m, ir_type t) {
    const ir_type_info *i = ir_type_get(m, t);
    ir_put(out, i->kind == IR_IMAGE ? "image(" : "sampled_image(");
    ir_print_type(out, m, i->image.texel);
    ir_putf(out, ", %u, %u, %u, %u, %u, %u, %u)", i->image.dim, i->image.depth, i->image.arrayed,
            i->image.ms, i->image.sampled, i->image.format, i->image.access);
}

static void print_aggregate_head(ir_text *out, const ir_type_info *t) {
    if (t->kind == IR_ARRAY)
        ir_putf(out, "[%u x ", t->count);
    else
        ir_put(out, t->packed ? "<{" : "{");
}

static void print_plain(ir_text *out, const ir_module *m, ir_type t) {
    ir_kind k = ir_kind_of(t);
    if (k == IR_PTR)
        ir_putf(out, "ptr.%s", space_names[ir_space_of(t)]);
    else if (k == IR_IMAGE || k == IR_SAMPLED_IMAGE)
        print_image(out, m, t);
    else if (k == IR_SAMPLER || k == IR_EVENT)
        ir_put(out, k == IR_SAMPLER ? "sampler" : "event");
    else if (ir_is_vector(t))
        ir_putf(out, "v%u%s", ir_lanes(t), kind_names[ir_elem(t)]);
    else
        ir_put(out, kind_names[k]);
}

/* Walks nested aggregates with an explicit stack: nesting is input. */
void ir_print_type(ir_text *out, const ir_module *m, ir_type t) {
    struct {
        const ir_type_info *info;
        uint32_t next;
    } stack[IR_MAX_TYPE_DEPTH];
    int depth = 0;
    for (;;) {
        if (ir_is_aggregate(t)) {
            const ir_type_info *info = ir_type_get(m, t);
            print_aggregate_head(out, info);
            stack[depth].info = info;
            stack[depth++].next = 0;
        } else {
            print_plain(out, m, t);
        }
        while (depth > 0) {
            const ir_type_info *info = stack[depth - 1].info;
            uint32_t n = info->kind == IR_ARRAY ? 1 : info->count, i = stack[depth - 1].next++;
            if (i && info->marked && info->marked[i - 1]) ir_put(out, " specialized");
            if (i < n) {
                if (i) ir_put(out, ", ");
                t = info->member[i];
                break;
            }
            ir_put(out, info->kind == IR_ARRAY ? "]" : info->packed ? "}>" : "}");
            depth--;
        }
        if (depth == 0) return;
    }
}
