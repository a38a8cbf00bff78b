/* lines.c — which source line each piece of code comes from: a label wherever the line changes.
 */
#include "codegen/native/emit.h"

uint32_t cg_number_file(cg_unit *u, const char *name) {
    cg_object *o = u->object;
    uintptr_t known = (uintptr_t)ir_map_get(&u->number_of_file, (uintptr_t)name);
    if (known) return (uint32_t)known - 1;
    *ir_push(u->arena, &o->files) = ir_strdup(u->arena, name);
    ir_map_set(u->arena, &u->number_of_file, (uintptr_t)name, (void *)(uintptr_t)o->files.n);
    return o->files.n - 1;
}

/* For assemblers; line 0 belongs to the first file. */
static void list_place(cg_unit *u, const ir_line *line) {
    bool known = line && line->line;
    if (known)
        ir_putf(u->listing, "    .loc %u %u %u\n",
                cg_number_file(u, u->module->files.data[line->file]) + 1, line->line, line->column);
    else if (u->object->files.n)
        ir_put(u->listing, "    .loc 1 0 0\n");
}

/* A comment: "    # saxpy.cl:3" */
static void list_line(cg_unit *u, uint32_t loc) {
    const ir_line *line = ir_line_of(u->module, loc);
    if (line && line->file >= u->module->files.n) line = NULL;
    if (u->assembly) list_place(u, line);
    if (line) ir_putf(u->listing, "    # %s:%u\n", u->module->files.data[line->file], line->line);
}

void cg_note_line(cg_unit *u, uint32_t loc) {
    if (!u->want_lines || !loc) return;
    if (u->lines.n && u->lines.data[u->lines.n - 1].loc == loc) return;
    uint32_t here = u->target->new_label(u);
    u->target->bind(u, here);
    *ir_push(u->arena, &u->lines) = (cg_open_line){here, loc};
    if (u->listing) list_line(u, loc);
}

static uint32_t first_loc(const cg_code_order *order) {
    for (uint32_t n = 0; n < order->n; n++)
        foreach_inst (i, order->block[n])
            if (i->loc) return i->loc;
    return 0;
}

void cg_note_first_line(cg_unit *u, const cg_code_order *order) {
    if (u->want_lines) cg_note_line(u, first_loc(order));
}
