/* lines.c — which source line each piece of code comes from: a label wherever the line changes.
 */
#include "codegen/native/emit.h"

void cg_note_line(cg_unit *u, uint32_t loc) {
    if (!u->want_lines || !loc) return;
    if (u->lines.n && u->lines.data[u->lines.n - 1].loc == loc) return;
    uint32_t here = u->target->new_label(u);
    u->target->bind(u, here);
    *ir_push(u->arena, &u->lines) = (cg_open_line){here, loc};
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
