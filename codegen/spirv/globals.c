/* globals.c — module-scope variables and their initializers.
 *
 * A variable is written when it is first used, after those whose addresses are in its initializer
 * (with an explicit stack: such chains are as long as the input makes them).  Initializers are made
 * from bytes along the type; an address is a constant expression: the variable as a pointer to
 * bytes, plus the addend, in the address space of the leaf.  Exported variables are written even if
 * they are not used.
 *
 * Refused: private and generic variables, local ones whose initial value is not zero, variables
 * whose initializers need each other's address.
 */
#include "codegen/spirv/spirv.h"

#include <stdlib.h>

/* --------------------------------------------------------------------------------- initializers */

typedef struct {
    sw_writer *w;
    const ir_global *g;
    const ir_reloc *reloc; /* ascending by offset */
    uint32_t next;         /* the first one at or after the current leaf */
} initializer;

static uint32_t constant_expression(sw_writer *w, SpvOp op, uint32_t type, uint32_t a, uint32_t b) {
    return sw_intern(w, SpvOpSpecConstantOp, type,
                     (sw_list){b ? 3 : 2, (const uint32_t[]){(uint32_t)op, a, b}});
}

/* &target + addend as a pointer to bytes in the address space of the target. */
static uint32_t byte_address(sw_writer *w, ir_global *target, int64_t addend) {
    uint32_t type = sw_pointer_type(w, target->space, IR_I8), id = sw_global(w, target);
    if (target->type != IR_I8) id = constant_expression(w, SpvOpBitcast, type, id, 0);
    if (addend == 0) return id;
    return constant_expression(w, SpvOpPtrAccessChain, type, id, sw_size(w, (uint64_t)addend));
}

static uint32_t address_leaf(sw_writer *w, ir_type t, const ir_reloc *r) {
    uint32_t id = byte_address(w, r->global, r->addend);
    if (!ir_is_ptr(t)) return constant_expression(w, SpvOpConvertPtrToU, sw_type(w, t), id, 0);
    if (ir_space_of(t) == r->global->space) return id;
    if (ir_space_of(t) != IR_GENERIC)
        sw_refuse_module(w, "an initializer holds the address of '%s' in another space",
                         r->global->name);
    return constant_expression(w, SpvOpPtrCastToGeneric, sw_type(w, t), id, 0);
}

static uint64_t read_bits(const uint8_t *bytes, uint64_t size) {
    uint64_t bits = 0;
    for (uint64_t i = 0; i < size; i++) bits |= (uint64_t)bytes[i] << i * 8;
    return bits;
}

static uint32_t plain_leaf(sw_writer *w, ir_type t, const uint8_t *bytes) {
    if (ir_is_ptr(t)) {
        uint64_t bits = read_bits(bytes, w->m->pointer_bits / 8);
        if (bits == 0) return sw_null(w, sw_type(w, t));
        return constant_expression(w, SpvOpConvertUToPtr, sw_type(w, t), sw_size(w, bits), 0);
    }
    uint64_t size = ir_sizeof(w->m, ir_elem(t));
    if (!ir_is_vector(t)) return sw_int(w, t, read_bits(bytes, size));
    uint32_t lane[IR_MAX_LANES];
    for (unsigned i = 0; i < ir_lanes(t); i++)
        lane[i] = sw_int(w, ir_elem(t), read_bits(bytes + i * size, size));
    return sw_intern(w, SpvOpConstantComposite, sw_type(w, t), (sw_list){ir_lanes(t), lane});
}

static bool is_zero(const initializer *in, uint64_t offset, uint64_t size) {
    if (in->next < in->g->nreloc && in->reloc[in->next].offset < offset + size) return false;
    for (uint64_t i = 0; i < size; i++)
        if (in->g->init[offset + i]) return false;
    return true;
}

/* The initial value of what lies at `offset`; recursion is bounded by the nesting of types. */
static uint32_t initial_value(initializer *in, ir_type t, uint64_t offset) {
    sw_writer *w = in->w;
    t = sw_memory_type(t);
    if (ir_is_aggregate(t) && is_zero(in, offset, ir_sizeof(w->m, t)))
        return sw_null(w, sw_type(w, t));
    if (!ir_is_aggregate(t)) {
        bool address = in->next < in->g->nreloc && in->reloc[in->next].offset == offset;
        return address ? address_leaf(w, t, &in->reloc[in->next++])
                       : plain_leaf(w, t, in->g->init + offset);
    }
    const ir_type_info *info = ir_type_get(w->m, t);
    bool array = info->kind == IR_ARRAY;
    uint64_t stride = array ? ir_sizeof(w->m, info->member[0]) : 0;
    uint32_t *part = ir_new_array(w->arena, uint32_t, info->count);
    for (uint32_t i = 0; i < info->count; i++)
        part[i] = initial_value(in, info->member[array ? 0 : i],
                                offset + (array ? i * stride : info->offset[i]));
    return sw_intern(w, SpvOpConstantComposite, sw_type(w, t), (sw_list){info->count, part});
}

static int compare_relocs(const void *a, const void *b) {
    uint64_t x = ((const ir_reloc *)a)->offset, y = ((const ir_reloc *)b)->offset;
    return x < y ? -1 : x > y;
}

static uint32_t initializer_of(sw_writer *w, const ir_global *g) {
    ir_reloc *sorted = ir_dup(w->arena, g->reloc, g->nreloc * sizeof *g->reloc);
    if (g->nreloc > 1) qsort(sorted, g->nreloc, sizeof *sorted, compare_relocs);
    initializer in = {.w = w, .g = g, .reloc = sorted};
    return initial_value(&in, g->type, 0);
}

/* ------------------------------------------------------------------------------------ variables */

static uint32_t write_variable(sw_writer *w, SpvStorageClass storage, uint32_t type,
                               uint32_t init) {
    uint32_t id = sw_new_id(w);
    sw_put_result(w, SEC_GLOBAL, SpvOpVariable,
                  (sw_result){sw_pointer_type_of(w, storage, type), id},
                  (sw_list){init ? 2 : 1, (const uint32_t[]){(uint32_t)storage, init}});
    return id;
}

/* Is the initial value zero throughout?  Local memory can have no other one. */
static bool is_null(sw_writer *w, const ir_global *g) {
    initializer in = {.w = w, .g = g};
    return !g->nreloc && is_zero(&in, 0, ir_sizeof(w->m, g->type));
}

static void check_variable(sw_writer *w, const ir_global *g) {
    if (g->space == IR_PRIVATE || g->space == IR_GENERIC)
        sw_refuse_module(w,
                         "variable '%s': SPIR-V kernels have no module-scope variables in %s space",
                         g->name, g->space == IR_PRIVATE ? "private" : "generic");
    if (g->space == IR_LOCAL && g->init && !is_null(w, g))
        sw_refuse_module(w, "variable '%s': local memory has no initial value", g->name);
}

static void write_global(sw_writer *w, ir_global *g) {
    check_variable(w, g);
    uint32_t type = sw_held_type(w, sw_memory_type(g->type));
    uint32_t init = g->init ? initializer_of(w, g) : 0;
    uint32_t id = write_variable(w, sw_storage_class(w, g->space), type, init);
    sw_name(w, id, g->name);
    if (g->constant || g->space == IR_CONST) sw_decorate0(w, id, SpvDecorationConstant);
    if (g->align) sw_decorate(w, id, SpvDecorationAlignment, SW_LIST(g->align));
    if (g->flags & IR_FUNC_IMPORT) sw_decorate_linkage(w, id, g->name, true);
    if (g->flags & IR_FUNC_EXPORT) sw_decorate_linkage(w, id, g->name, false);
    ir_map_set(w->arena, &w->globals.ids, (uint64_t)(uintptr_t)g, (void *)(uintptr_t)id);
    ir_map_set(w->arena, &w->globals.of_id, id, g);
}

static uint32_t find_global(const sw_writer *w, const ir_global *g) {
    return (uint32_t)(uintptr_t)ir_map_get(&w->globals.ids, (uint64_t)(uintptr_t)g);
}

/* Variables that are to be written: each waits for those whose addresses its initializer needs. */
typedef struct {
    ir_global *g;
    uint32_t next; /* reloc to look at */
} pending;

typedef struct {
    sw_writer *w;
    ir_vec(pending) stack;
    ir_map met;
} pending_set;

static void push_pending(pending_set *set, ir_global *g) {
    uint64_t key = (uint64_t)(uintptr_t)g;
    if (ir_map_get(&set->met, key))
        sw_refuse_module(set->w, "the initializers of '%s' and '%s' need each other's address",
                         g->name, set->stack.data[set->stack.n - 1].g->name);
    ir_map_set(set->w->arena, &set->met, key, g);
    *ir_push(set->w->arena, &set->stack) = (pending){.g = g};
}

uint32_t sw_global(sw_writer *w, ir_global *g) {
    uint32_t id = find_global(w, g);
    if (id) return id;
    pending_set set = {.w = w};
    push_pending(&set, g);
    while (set.stack.n) {
        pending *top = &set.stack.data[set.stack.n - 1];
        if (top->next == top->g->nreloc) {
            write_global(w, top->g);
            set.stack.n--;
            continue;
        }
        ir_global *needed = top->g->reloc[top->next++].global;
        if (!find_global(w, needed)) push_pending(&set, needed);
    }
    return find_global(w, g);
}

void sw_write_exported_globals(sw_writer *w) {
    foreach_global (g, w->m)
        if (g->flags & IR_FUNC_EXPORT) sw_global(w, g);
}

/* --------------------------------------------------------------- variables of the writer itself */

typedef struct format format;
struct format {
    const char *text;
    uint32_t id;
    format *next; /* of the same hash */
};

static uint32_t byte_array_type(sw_writer *w, uint32_t n) {
    return sw_intern(w, SpvOpTypeArray, 0, SW_LIST(sw_type(w, IR_I8), sw_size(w, n)));
}

static uint32_t write_constant_bytes(sw_writer *w, uint32_t type, uint32_t init, uint32_t align) {
    uint32_t id = write_variable(w, SpvStorageClassUniformConstant, type, init);
    sw_decorate0(w, id, SpvDecorationConstant);
    sw_decorate(w, id, SpvDecorationAlignment, SW_LIST(align));
    return id;
}

static uint32_t write_string(sw_writer *w, const char *text) {
    size_t n = strlen(text) + 1;
    if (n > SW_MAX_WORDS) sw_refuse_module(w, "a format string has %zu characters", n - 1);
    uint32_t *bytes = ir_new_array(w->arena, uint32_t, n);
    for (size_t i = 0; i < n; i++) bytes[i] = sw_int(w, IR_I8, (unsigned char)text[i]);
    uint32_t type = byte_array_type(w, (uint32_t)n);
    uint32_t init = sw_intern(w, SpvOpConstantComposite, type, (sw_list){(unsigned)n, bytes});
    return write_constant_bytes(w, type, init, 1);
}

uint32_t sw_format_string(sw_writer *w, const char *text) {
    uint64_t key = ir_hash(1, text, strlen(text));
    format *newest = ir_map_get(&w->globals.strings, key), *f = newest;
    while (f && strcmp(f->text, text) != 0) f = f->next;
    if (f) return f->id;
    f = ir_new(w->arena, format);
    *f = (format){.text = text, .id = write_string(w, text), .next = newest};
    ir_map_set(w->arena, &w->globals.strings, key, f);
    return f->id;
}

uint32_t sw_constant_bytes(sw_writer *w, uint32_t n, uint8_t byte, uint32_t align) {
    uint64_t key = (uint64_t)n << 32 | (uint64_t)align << 8 | byte;
    const void *known = ir_map_get(&w->globals.byte_arrays, key);
    if (known) return (uint32_t)(uintptr_t)known;
    uint32_t type = byte_array_type(w, n), init = sw_null(w, type);
    if (byte) {
        uint32_t *bytes = ir_new_array(w->arena, uint32_t, n);
        for (uint32_t i = 0; i < n; i++) bytes[i] = sw_int(w, IR_I8, byte);
        init = sw_intern(w, SpvOpConstantComposite, type, (sw_list){n, bytes});
    }
    uint32_t id = write_constant_bytes(w, type, init, align);
    ir_map_set(w->arena, &w->globals.byte_arrays, key, (void *)(uintptr_t)id);
    return id;
}
