/* object_table.c — data that is added to an object after its code was made, and the table of its
 * kernels.
 *
 * The table is an array of ir_kernel_entry, one for each kernel (ir/launch.h), with an empty one at
 * the end.  A program that is linked with the object finds there what it needs to launch them.
 * Pointers in the data are relocations.
 */
#include "codegen/object/object.h"

#include <stdalign.h>

uint32_t cg_next_place(const cg_object *o, cg_section s, uint64_t bytes, uint32_t align,
                       ir_ctx *cx) {
    uint64_t at = ((uint64_t)o->size[s] + align - 1) / align * align;
    if (at > INT32_MAX || bytes > INT32_MAX - at) ir_throw(cx, IR_ERR_LIMIT);
    return (uint32_t)at;
}

/* Makes room for `end` bytes; a section that grows at least doubles. */
static void reserve_room(cg_object *o, ir_arena *a, cg_section s, uint32_t end) {
    if (end <= o->room[s]) return;
    uint64_t room = (uint64_t)end + o->size[s];
    uint8_t *grown = ir_alloc(a, room);
    if (o->size[s]) memcpy(grown, o->bytes[s], o->size[s]);
    o->bytes[s] = grown;
    o->room[s] = room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
}

/* Appends room for `bytes` bytes at a multiple of `align`, and returns its place. */
static uint32_t append_room(cg_object *o, ir_arena *a, cg_section s, uint32_t bytes,
                            uint32_t align) {
    uint32_t at = cg_next_place(o, s, bytes, align, a->cx);
    reserve_room(o, a, s, at + bytes);
    o->size[s] = at + bytes;
    if (o->align[s] < align) o->align[s] = align;
    return at;
}

uint32_t obj_add_symbol(cg_object *o, ir_arena *a, cg_symbol s) {
    *ir_push(a, &o->symbols) = s;
    return o->symbols.n - 1;
}

uint32_t obj_add_data(cg_object *o, ir_arena *a, cg_section s, obj_data d) {
    uint32_t at = append_room(o, a, s, d.size, d.align);
    if (d.size) memcpy(o->bytes[s] + at, d.bytes, d.size);
    return obj_add_symbol(o, a,
                          (cg_symbol){.name = d.name, .section = s, .at = at, .size = d.size});
}

void obj_put_address(cg_object *o, ir_arena *a, uint32_t from, size_t offset, uint32_t to) {
    const cg_symbol *s = &o->symbols.data[from];
    *ir_push(a, &o->relocs) = (cg_reloc){
        .section = s->section, .kind = CG_ABS64, .at = s->at + (uint32_t)offset, .symbol = to};
}

void obj_put_string_address(cg_object *o, ir_arena *a, uint32_t from, size_t offset,
                            const char *string) {
    if (!string) return;
    const obj_data d = {ir_sprintf(a, ".Lstring%u", o->symbols.n), string,
                        (uint32_t)strlen(string) + 1, 1};
    obj_put_address(o, a, from, offset, obj_add_data(o, a, CG_RODATA, d));
}

/* ------------------------------------------------------------------------------------ the table */

static uint32_t add_args(cg_object *o, ir_arena *a, const cg_kernel *k) {
    ir_arg_entry *list = ir_new_array(a, ir_arg_entry, k->nargs);
    for (uint32_t n = 0; n < k->nargs; n++)
        list[n] = (ir_arg_entry){
            .kind = k->arg[n].kind, .size = k->arg[n].size, .align = k->arg[n].align};
    const obj_data d = {ir_sprintf(a, "%s.args", k->name), list, k->nargs * (uint32_t)sizeof *list,
                        alignof(ir_arg_entry)};
    uint32_t args = obj_add_data(o, a, CG_DATA, d);
    for (uint32_t n = 0; n < k->nargs; n++)
        obj_put_string_address(o, a, args, n * sizeof *list + offsetof(ir_arg_entry, name),
                               k->arg[n].name);
    return args;
}

static void fill_entry(const cg_kernel *k, ir_kernel_entry *e) {
    e->nargs = k->nargs;
    e->need = k->need;
    e->stack = k->stack < UINT32_MAX ? (uint32_t)k->stack : UINT32_MAX;
    memcpy(e->local_size, k->local_size, sizeof e->local_size);
}

static void put_entry_addresses(cg_object *o, ir_arena *a, uint32_t table, uint32_t n) {
    const cg_kernel *k = &o->kernels.data[n];
    size_t at = n * sizeof(ir_kernel_entry);
    obj_put_string_address(o, a, table, at + offsetof(ir_kernel_entry, name), k->name);
    obj_put_address(o, a, table, at + offsetof(ir_kernel_entry, run), k->entry);
    obj_put_address(o, a, table, at + offsetof(ir_kernel_entry, run_block), k->block);
    obj_put_address(o, a, table, at + offsetof(ir_kernel_entry, args), add_args(o, a, k));
}

void cg_add_kernel_table(cg_object *o, const char *name, ir_arena *arena) {
    uint32_t n = o->kernels.n;
    ir_kernel_entry *list = ir_new_array(arena, ir_kernel_entry, n + 1);
    for (uint32_t k = 0; k < n; k++) fill_entry(&o->kernels.data[k], &list[k]);
    const obj_data d = {name, list, (n + 1) * (uint32_t)sizeof *list, alignof(ir_kernel_entry)};
    uint32_t table = obj_add_data(o, arena, CG_DATA, d);
    o->symbols.data[table].exported = true;
    for (uint32_t k = 0; k < n; k++) put_entry_addresses(o, arena, table, k);
}

void cg_add_origin(cg_object *o, const ir_object_origin *origin, ir_arena *arena) {
    const obj_data d = {"spvf_origin", origin, sizeof *origin, alignof(ir_object_origin)};
    obj_add_data(o, arena, CG_RODATA, d);
}
