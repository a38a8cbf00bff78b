/* object.c — code of one kernel as the bytes of an entry.
 *
 *   head · relocations · symbols · bytes of the sections
 *
 * Only what loading and launching need is kept: no lines, no frames and no names.  Relocations and
 * sections stay where they are when an entry is read.  The names by which globals are bound to
 * those of the program belong to the program: an entry has numbers instead, since another module
 * may name them otherwise.  A symbol that is no global of the kernel gets a name that nothing else
 * has.
 *
 * Entries come with a checksum; still, nothing here trusts what it reads.
 */
#include "runtime/cache/cache.h"

#include <stdlib.h>

typedef struct {
    uint32_t size[CG_SECTIONS], align[CG_SECTIONS];
    uint32_t relocs, symbols;
    uint32_t block, item_steps, unused, zero;
    ir_group_need need;
    ir_phases phases;
    uint64_t stack;
} head;

typedef struct {
    uint32_t section, at, size;
    uint32_t global; /* plus 1; 0: none */
} stored_symbol;

static_assert(sizeof(rt_entry_head) % 8 == 0 && sizeof(head) % 8 == 0, "relocations are aligned");
static_assert(sizeof(cg_reloc) == 24, "no byte is without a meaning");

/* -------------------------------------------------------------------------------------- writing */

typedef struct {
    const char *name;
    uint32_t number; /* plus 1 */
} named;

static int by_name(const void *a, const void *b) {
    return strcmp(((const named *)a)->name, ((const named *)b)->name);
}

static named *sort_globals(const ir_global_list *globals, ir_arena *a) {
    named *list = ir_new_array(a, named, globals->n + 1);
    for (uint32_t n = 0; n < globals->n; n++) list[n] = (named){globals->data[n]->name, n + 1};
    qsort(list, globals->n, sizeof *list, by_name);
    return list;
}

static uint32_t number_of(const cg_symbol *s, const named *sorted, uint32_t n) {
    if (s->section == CG_TEXT) return 0;
    const named key = {.name = s->name};
    const named *found = bsearch(&key, sorted, n, sizeof key, by_name);
    return found ? found->number : 0;
}

static void put(ir_text *out, const void *data, size_t n) {
    if (n) ir_putn(out, data, n);
}

void rt_object_write(const cg_object *o, const ir_global_list *globals, ir_text *out) {
    const cg_kernel *k = &o->kernels.data[0];
    const named *sorted = sort_globals(globals, out->arena);
    head h = {.relocs = o->relocs.n,
              .symbols = o->symbols.n,
              .block = k->block,
              .item_steps = k->item_steps,
              .unused = k->unused,
              .need = k->need,
              .phases = k->phases,
              .stack = k->stack};
    memcpy(h.size, o->size, sizeof h.size);
    memcpy(h.align, o->align, sizeof h.align);
    put(out, &h, sizeof h);
    put(out, o->relocs.data, o->relocs.n * sizeof *o->relocs.data);
    foreach_in (const cg_symbol, s, o->symbols) {
        uint32_t global = number_of(s, sorted, globals->n);
        put(out, &(stored_symbol){s->section, s->at, s->size, global}, sizeof(stored_symbol));
    }
    for (int s = 0; s < CG_SECTIONS; s++) put(out, o->bytes[s], o->size[s]);
}

/* -------------------------------------------------------------------------------------- reading */

static uint64_t size_of(const head *h) {
    uint64_t n = sizeof *h + (uint64_t)h->relocs * sizeof(cg_reloc);
    n += (uint64_t)h->symbols * sizeof(stored_symbol);
    for (int s = 0; s < CG_SECTIONS; s++) n += h->size[s];
    return n;
}

static bool is_symbol(const head *h, const stored_symbol *s, uint32_t globals) {
    return s->section < CG_SECTIONS && s->at <= h->size[s->section] && s->global <= globals;
}

static bool is_reloc(const head *h, const cg_reloc *r) {
    if (r->section >= CG_SECTIONS || r->kind > CG_ABS64 || r->symbol >= h->symbols) return false;
    uint32_t bytes = r->kind == CG_PC32 ? 4 : 8, size = h->size[r->section];
    return bytes <= size && r->at <= size - bytes;
}

static bool are_right(const head *h, const cg_reloc *r, const stored_symbol *s, uint32_t globals) {
    for (uint32_t n = 0; n < h->relocs; n++)
        if (!is_reloc(h, &r[n])) return false;
    for (uint32_t n = 0; n < h->symbols; n++)
        if (!is_symbol(h, &s[n], globals)) return false;
    return h->block < h->symbols && s[h->block].section == CG_TEXT &&
           s[h->block].at < h->size[CG_TEXT];
}

static void read_symbols(const stored_symbol *s, uint32_t n, const ir_global_list *globals,
                         ir_arena *a, cg_object *out) {
    for (const stored_symbol *end = s + n; s < end; s++) {
        const char *name = s->global ? globals->data[s->global - 1]->name : "";
        *ir_push(a, &out->symbols) =
            (cg_symbol){name, (cg_section)s->section, s->at, s->size, s->section == CG_TEXT, false};
    }
}

static void place_sections(const head *h, const uint8_t *bytes, cg_object *out) {
    for (int s = 0; s < CG_SECTIONS; s++) {
        out->size[s] = h->size[s];
        out->align[s] = h->align[s];
        out->bytes[s] = (uint8_t *)(uintptr_t)bytes; /* which are never changed */
        bytes += h->size[s];
    }
}

bool rt_object_read(const uint8_t *bytes, size_t size, const ir_global_list *globals, ir_arena *a,
                    cg_object *out) {
    const head *h = (const void *)bytes;
    if (size < sizeof *h || size_of(h) != size) return false;
    const cg_reloc *relocs = (const void *)(h + 1);
    const stored_symbol *symbols = (const void *)(relocs + h->relocs);
    if (!are_right(h, relocs, symbols, globals->n)) return false;
    *out = (cg_object){0};
    read_symbols(symbols, h->symbols, globals, a, out);
    place_sections(h, (const uint8_t *)(symbols + h->symbols), out);
    out->relocs.data = (cg_reloc *)(uintptr_t)relocs;
    out->relocs.n = h->relocs;
    *ir_push(a, &out->kernels) = (cg_kernel){.entry = h->block,
                                             .block = h->block,
                                             .need = h->need,
                                             .phases = h->phases,
                                             .stack = h->stack,
                                             .item_steps = h->item_steps,
                                             .unused = h->unused};
    return true;
}
