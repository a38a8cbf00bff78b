/* frame.c — places for slots and variables in the frame of a function: slots first, each aligned to
 * its size, then variables as they ask for.
 */
#include "codegen/native/emit.h"

/* Reserves bytes at the end of the frame and returns their offset; UINT64_MAX: the frame would
 * exceed `most`. */
static uint64_t reserve(cg_frame_places *p, uint64_t bytes, uint32_t align, uint32_t most) {
    if (align > p->align) p->align = align;
    uint64_t at = ((uint64_t)p->bytes + align - 1) / align * align;
    if (bytes > most || at > most - bytes) return UINT64_MAX;
    p->bytes = (uint32_t)(at + bytes);
    return at;
}

bool cg_place_frame(cg_unit *u, const ir_func *f, const cg_allocation *a, uint32_t most,
                    cg_frame_places *out) {
    uint64_t last = 0;
    *out = (cg_frame_places){.align = 16,
                             .slot = ir_new_array(u->arena, uint32_t, a->slots.n + 1),
                             .variable = ir_new_array(u->arena, uint32_t, f->next_id)};
    for (uint32_t n = 0; n < a->slots.n && last != UINT64_MAX; n++) {
        uint32_t bytes = a->slots.data[n].size;
        last = reserve(out, bytes, bytes, most);
        out->slot[n] = (uint32_t)last;
    }
    for (const ir_inst *i = f->first->first; i && last != UINT64_MAX; i = i->next) {
        if (i->op != IR_OP_alloca) continue;
        const uint32_t align = i->imm.var->align ? i->imm.var->align : 1;
        last = reserve(out, ir_sizeof(f->module, i->imm.var->type), align, most);
        out->variable[i->id] = (uint32_t)last;
        if (i->imm.var->shown)
            *ir_push(u->arena, &u->variables) =
                (cg_open_variable){f, i->imm.var->shown, (uint32_t)last};
    }
    if (last == UINT64_MAX) cg_refuse_frame(f, most);
    return last != UINT64_MAX;
}
