/* jit.c — an object in memory that can be executed.
 *
 * One mapping holds text, constants and data, each on pages of its own, so that references of 32
 * bits reach.  It is written while no page can be executed; then text becomes read and execute,
 * constants read only.  Per object, rather than an arena of code that is mapped twice through a
 * file in memory: no page of code has an alias that stays writable, an object goes back to the
 * system when it is unloaded, and what it costs (three system calls, some 10 us, and up to three
 * pages that are not full) is little beside compiling.  The kernels of an object share its pages.
 */
#define _GNU_SOURCE
#include "runtime/native.h"

#include <sys/mman.h>
#include <unistd.h>

static const int protection[CG_SECTIONS] = {
    [CG_TEXT] = PROT_READ | PROT_EXEC, [CG_RODATA] = PROT_READ, [CG_DATA] = PROT_READ | PROT_WRITE};

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static size_t whole_pages(size_t bytes) { return (bytes + page_size() - 1) & ~(page_size() - 1); }

static void write_field(uint8_t *to, uint64_t v, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) to[i] = (uint8_t)(v >> 8 * i);
}

static bool relocate(const rt_code *c, const cg_object *o, const cg_reloc *r) {
    uint8_t *field = c->at[r->section] + r->at;
    uint64_t value = (uint64_t)(uintptr_t)rt_code_symbol(c, o, r->symbol) + (uint64_t)r->addend;
    assert(r->at + (r->kind == CG_PC32 ? 4u : 8u) <= o->size[r->section]);
    if (r->kind == CG_ABS64) {
        write_field(field, value, 8);
        return true;
    }
    int64_t distance = (int64_t)(value - (uint64_t)(uintptr_t)field);
    write_field(field, (uint64_t)distance, 4);
    return distance == (int32_t)distance;
}

static bool relocate_all(const rt_code *c, const cg_object *o) {
    for (const cg_reloc *r = o->relocs.data; r < o->relocs.data + o->relocs.n; r++)
        if (!relocate(c, o, r)) return false;
    return true;
}

static void copy_sections(const rt_code *c, const cg_object *o) {
    for (int s = 0; s < CG_SECTIONS; s++)
        if (o->size[s]) memcpy(c->at[s], o->bytes[s], o->size[s]);
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

static ir_status map(const cg_object *o, rt_code *c) {
    for (int s = 0; s < CG_SECTIONS; s++) {
        if (o->align[s] > page_size()) return IR_ERR_LIMIT;
        c->bytes += whole_pages(o->size[s]);
    }
    if (c->bytes == 0) c->bytes = page_size();
    void *base = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) return IR_ERR_MEMORY;
    c->base = c->at[CG_TEXT] = base;
    for (int s = CG_TEXT + 1; s < CG_SECTIONS; s++)
        c->at[s] = c->at[s - 1] + whole_pages(o->size[s - 1]);
    return IR_OK;
}

ir_status rt_code_load(const cg_object *o, rt_code *out) {
    *out = (rt_code){0};
    ir_status status = map(o, out);
    if (status != IR_OK) return status;
    copy_sections(out, o);
    if (!relocate_all(out, o)) status = IR_ERR_LIMIT;
    if (status == IR_OK && !protect(out, o)) status = IR_ERR_MEMORY;
    if (status != IR_OK) rt_code_unload(out);
    return status;
}

void rt_code_unload(rt_code *c) {
    if (c->gdb) rt_code_withdraw(c);
    if (c->base) munmap(c->base, c->bytes);
    *c = (rt_code){0};
}
