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
    const char *end = u->prologue_ends ? " prologue_end" : "";
    bool known = line && line->line;
    if (known)
        ir_putf(u->listing, "    .loc %u %u %u%s\n",
                cg_number_file(u, u->module->files.data[line->file]) + 1, line->line, line->column,
                end);
    else if (u->object->files.n)
        ir_putf(u->listing, "    .loc 1 0 0%s\n", end);
}

/* A comment: "    # saxpy.cl:3" */
static void list_line(cg_unit *u, uint32_t loc) {
    const ir_line *line = ir_line_of(u->module, loc);
    if (line && line->file >= u->module->files.n) line = NULL;
    if (u->assembly) list_place(u, line);
    if (line) ir_putf(u->listing, "    # %s:%u\n", u->module->files.data[line->file], line->line);
}

static void note_line(cg_unit *u, uint32_t loc) {
    if (!u->want_lines || !loc) return;
    if (loc == u->loc && !u->prologue_ends) return;
    uint32_t here = u->target->new_label(u);
    u->target->bind(u, here);
    *ir_push(u->arena, &u->lines) = (cg_open_line){here, loc, u->prologue_ends};
    if (u->listing) list_line(u, loc);
    u->loc = loc;
    u->prologue_ends = false;
}

/* Code with the loc of the function belongs to its prologue. */
static bool is_prologue(const ir_func *f, const ir_inst *i) {
    return i->op == IR_OP_mach && i->loc && i->loc == f->loc;
}

void cg_note_line(cg_unit *u, const ir_func *f, const ir_inst *i) {
    note_line(u, i->loc);
    if (is_prologue(f, i) && --u->prologue_left == 0) u->prologue_ends = true;
}

static uint32_t first_loc(const cg_code_order *order) {
    for (uint32_t n = 0; n < order->n; n++)
        foreach_inst (i, order->block[n])
            if (i->loc) return i->loc;
    return 0;
}

static uint32_t count_prologue(const ir_func *f, const cg_code_order *order) {
    uint32_t count = 0;
    for (uint32_t n = 0; n < order->n; n++)
        foreach_inst (i, order->block[n]) count += is_prologue(f, i);
    return count;
}

void cg_begin_prologue(cg_unit *u, const ir_func *f, const cg_code_order *order) {
    u->loc = 0;
    u->prologue_ends = false;
    u->prologue_left = count_prologue(f, order);
    note_line(u, ir_line_of(u->module, f->loc) ? f->loc : first_loc(order));
}

void cg_end_prologue(cg_unit *u) {
    u->prologue_ends = u->prologue_left == 0;
    if (u->prologue_ends) note_line(u, u->loc);
}
