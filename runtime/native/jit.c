/* jit.c — an object in memory that can be executed.
 *
 * One mapping holds text, constants and data, each on pages of its own, so that references of 32
 * bits reach.  It is written while no page can be executed; then text becomes read and execute,
 * constants read only.  Per object, rather than an arena of code that is mapped twice through a
 * file in memory: no page of code has an alias that stays writable, an object goes back to the
 * system when it is unloaded, and what it costs (three system calls, some 10 us, and up to three
 * pages that are not full) is little beside compiling.  The kernels of an object share its pages.
 *
 * Code that refers to variables of another object is mapped where its references reach them.
 */
#define _GNU_SOURCE
#include "runtime/native/native.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const int protection[CG_SECTIONS] = {
    [CG_TEXT] = PROT_READ | PROT_EXEC, [CG_RODATA] = PROT_READ, [CG_DATA] = PROT_READ | PROT_WRITE};

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static size_t whole_pages(size_t bytes) { return (bytes + page_size() - 1) & ~(page_size() - 1); }

/* ------------------------------------------------------------------------------------ variables */

static int by_name(const void *a, const void *b) {
    return strcmp(((const rt_variable *)a)->name, ((const rt_variable *)b)->name);
}

rt_variables rt_code_variables(const rt_code *c, const cg_object *o, ir_arena *a) {
    rt_variables v = {.code = *c, .list = ir_new_array(a, rt_variable, o->symbols.n)};
    for (uint32_t n = 0; n < o->symbols.n; n++) {
        const cg_symbol *s = &o->symbols.data[n];
        if (s->section == CG_TEXT) continue;
        v.list[v.n++] = (rt_variable){ir_strdup(a, s->name), rt_code_symbol(c, o, n)};
    }
    qsort(v.list, v.n, sizeof *v.list, by_name);
    return v;
}

typedef struct {
    const cg_object *object;
    const rt_variables *shared;
    rt_code *code;
} loading;

static void *place_of(const loading *l, uint32_t symbol) {
    rt_variable key = {.name = l->object->symbols.data[symbol].name}, *found = NULL;
    if (l->shared && l->object->symbols.data[symbol].section != CG_TEXT)
        found = bsearch(&key, l->shared->list, l->shared->n, sizeof key, by_name);
    return found ? found->at : rt_code_symbol(l->code, l->object, symbol);
}

/* ---------------------------------------------------------------------------------- relocations */

static void write_field(uint8_t *to, uint64_t v, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) to[i] = (uint8_t)(v >> 8 * i);
}

static bool relocate(const loading *l, const cg_reloc *r) {
    uint8_t *field = l->code->at[r->section] + r->at;
    uint64_t value = (uint64_t)(uintptr_t)place_of(l, r->symbol) + (uint64_t)r->addend;
    assert(r->at + (r->kind == CG_PC32 ? 4u : 8u) <= l->object->size[r->section]);
    if (r->kind == CG_ABS64) {
        write_field(field, value, 8);
        return true;
    }
    int64_t distance = (int64_t)(value - (uint64_t)(uintptr_t)field);
    write_field(field, (uint64_t)distance, 4);
    return distance == (int32_t)distance;
}

static bool relocate_all(const loading *l) {
    const cg_object *o = l->object;
    foreach_in (const cg_reloc, r, o->relocs)
        if (!relocate(l, r)) return false;
    return true;
}

/* --------------------------------------------------------------------------------------- memory */

static void copy_sections(const rt_code *c, const cg_object *o) {
    for (int s = 0; s < CG_SECTIONS; s++)
        if (o->size[s]) memcpy(c->at[s], o->bytes[s], o->size[s]);
}

/* Some machines fetch instructions past the memory that was written, until they are told. */
static void flush_text(const rt_code *c, const cg_object *o) {
    char *text = (char *)c->at[CG_TEXT];
    __builtin___clear_cache(text, text + o->size[CG_TEXT]);
}

static bool protect(const rt_code *c, const cg_object *o) {
    for (int s = 0; s < CG_SECTIONS; s++) {
        size_t bytes = whole_pages(o->size[s]);
        if (bytes && protection[s] != (PROT_READ | PROT_WRITE) &&
            mprotect(c->at[s], bytes, protection[s]) != 0)
            return false;
    }
    return true;
}

static void *map_at(void *hint, size_t bytes) {
    void *at = mmap(hint, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* Within the reach of 32 bits of `base`, if there is room: the system takes the place that it is
 * asked for when that is free. */
static void *map_near(uint8_t *base, size_t bytes) {
    enum { STEP = 32 << 20, TRIES = 48 };
    for (intptr_t n = 1; n <= TRIES; n++) {
        uintptr_t want =
            (uintptr_t)base + (uintptr_t)(n & 1 ? -STEP : STEP) * (uintptr_t)((n + 1) / 2);
        void *at = map_at((void *)want, bytes);
        if (!at || (uintptr_t)at == want) return at;
        munmap(at, bytes);
    }
    return map_at(NULL, bytes);
}

static ir_status map(const loading *l) {
    const cg_object *o = l->object;
    rt_code *c = l->code;
    for (int s = 0; s < CG_SECTIONS; s++) {
        if (o->align[s] > page_size()) return IR_ERR_LIMIT;
        c->bytes += whole_pages(o->size[s]);
    }
    if (c->bytes == 0) c->bytes = page_size();
    c->base = l->shared ? map_near(l->shared->code.base, c->bytes) : map_at(NULL, c->bytes);
    if (!c->base) return IR_ERR_MEMORY;
    c->at[CG_TEXT] = c->base;
    for (int s = CG_TEXT + 1; s < CG_SECTIONS; s++)
        c->at[s] = c->at[s - 1] + whole_pages(o->size[s - 1]);
    return IR_OK;
}

ir_status rt_code_load(const cg_object *o, const rt_variables *shared, rt_code *out) {
    const loading l = {o, shared, out};
    *out = (rt_code){0};
    ir_status status = map(&l);
    if (status != IR_OK) return status;
    copy_sections(out, o);
    if (!relocate_all(&l)) status = IR_ERR_LIMIT;
    flush_text(out, o);
    if (status == IR_OK && !protect(out, o)) status = IR_ERR_MEMORY;
    if (status != IR_OK) rt_code_unload(out);
    return status;
}

void rt_code_unload(rt_code *c) {
    if (c->gdb) rt_code_withdraw(c);
    if (c->base) munmap(c->base, c->bytes);
    *c = (rt_code){0};
}
