/* lines.c — which source line each piece of code comes from: a label wherever the line changes.
 */
#include "codegen/native/emit.h"

/* A comment: "    # saxpy.cl:3" */
static void list_line(const cg_unit *u, uint32_t loc) {
    const ir_line *line = ir_line_of(u->module, loc);
    if (line && line->file < u->module->files.n)
        ir_putf(u->listing, "    # %s:%u\n", u->module->files.data[line->file], line->line);
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
