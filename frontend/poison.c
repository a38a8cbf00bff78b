/* poison.c — what becomes of declarations that cannot be read.
 *
 * The id that such an instruction defines becomes a type, or a constant, that carries the reason:
 * each function that uses it is refused for that reason, and so are declarations made of it.  A
 * decoration that cannot be read makes its target such an id; other notes are without effect.  So
 * one bad declaration never costs more than the kernels which need it.
 *
 * The instruction may have any shape: nothing here trusts its length.
 */
#include "frontend/reader.h"

/* Word k of the instruction at r->head.at as an id; NULL: it has no such word, or it is no id. */
static spv_id *id_at(reader *r, uint32_t k) {
    uint32_t n = r->input.words[r->head.at] >> 16, id = k < n ? r->input.words[r->head.at + k] : 0;
    return id && id < r->input.bound ? spv_find(r, id) : NULL;
}

static spv_type *poisoned_type(reader *r, uint32_t id, const char *why) {
    spv_type *t = ir_new(&r->scratch, spv_type);
    *t = (spv_type){.form = T_LACKING, .id = id, .reason = why, .leaves = 1};
    return t;
}

static void poison_constant(reader *r, spv_id *e, spv_type *t, const char *why) {
    spv_const *c = ir_new(&r->scratch, spv_const);
    *c = (spv_const){.form = C_LACKING, .type = t, .reason = why};
    e->kind = ID_CONST;
    e->konst = c;
}

/* Earlier or partial declarations of the id are forgotten. */
static void poison_result(reader *r, const spv_row *row, const char *why) {
    spv_id *e = id_at(r, row->form);
    if (row->form == FORM_N || !e || e->kind == ID_FUNCTION) return;
    e->type = poisoned_type(r, r->input.words[r->head.at + row->form], why);
    e->owner = 0;
    e->cached_in = 0;
    if (!strncmp(row->name, "Type", 4))
        e->kind = ID_TYPE;
    else
        poison_constant(r, e, e->type, why);
}

static void poison_target(reader *r, const char *why) {
    spv_id *e = id_at(r, 1);
    if (!e) return;
    if (!e->decor) e->decor = ir_new(&r->scratch, spv_decor);
    e->decor->lack = why;
}

void spv_leave_out(reader *r, const char *why) {
    uint32_t opcode = r->input.words[r->head.at] & 0xffff;
    const spv_row *row = spv_row_of(opcode);
    bool decorates = opcode == SPV_OP_Decorate || opcode == SPV_OP_MemberDecorate;
    if (decorates && r->head.place == PLACE_NOTE) poison_target(r, why);
    if (r->head.place == PLACE_DECL && row->place != PLACE_NOTE) poison_result(r, row, why);
}
