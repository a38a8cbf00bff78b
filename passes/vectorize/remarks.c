/* remarks.c — what has become of a loop over work-items, as a note with the place in the source:
 *
 *   @f: a loop runs 16 work-items at a time; accesses: 2 contiguous; 0.14 of the estimated time of
 *       one at a time
 *   @g: a loop runs one work-item at a time: an access is volatile
 *   @g: a loop runs 8 iterations at a time; accesses: 1 contiguous
 *
 * The note counts accesses in the vector loop as it has been built, before legalization.  Programs
 * get an ir_remark instead, which lists the accesses of the source (remark_accesses.c).
 */
#include "passes/vectorize/simd.h"

/* ---------------------------------------------------------------------------------------- facts */

static const ir_inst *first_place(const simd *s) {
    for (uint32_t k = 0; k < s->scalar.loop->nblocks; k++)
        foreach_inst (i, s->scalar.loop->block[k])
            if (i->loc) return i;
    return NULL;
}

static ir_remark describe(const simd *s, bool has_rest) {
    const ir_module *m = s->f->module;
    const ir_inst *at = first_place(s);
    uint8_t hint = (uint8_t)s->scalar.loop->header->loop_hint;
    ir_remark r = {.func = s->f,
                   .at = simd_source_of(m, at),
                   .lanes = s->refusal ? 1 : s->lanes,
                   .rows = simd_rows_of(s),
                   .iterations = s->scalar.is_innermost,
                   .components = hint & IR_LOOP_COMPONENTS,
                   .is_part = hint & IR_LOOP_PART,
                   .has_rest = has_rest,
                   .refusal = s->refusal,
                   .refused = s->refusal && s->refused ? ir_ops[s->refused->op].name : NULL,
                   .refused_at = simd_source_of(m, s->refusal ? s->refused : NULL)};
    if (s->scalar_price) r.ratio = (double)s->vector_price / (double)s->scalar_price;
    return r;
}

/* ------------------------------------------------------------------------------------- the note */

typedef enum {
    UNIFORM,
    CONTIGUOUS,
    MASKED,
    APART, /* gather, scatter */
    ATOMIC,
    FORMS
} form;

static form form_of(const ir_inst *i) {
    if (i->op == IR_OP_gather || i->op == IR_OP_scatter) return APART;
    if (ir_is_atomic(i)) return ATOMIC;
    if (i->op == IR_OP_masked_load || i->op == IR_OP_masked_store) return MASKED;
    ir_type t = i->op == IR_OP_store ? ir_arg(i, 0)->type : i->type;
    return ir_is_vector(t) ? CONTIGUOUS : UNIFORM;
}

static bool is_access(const ir_inst *i) {
    return i->op == IR_OP_load || i->op == IR_OP_store || ir_is_masked(i) || ir_is_atomic(i);
}

/* "3 contiguous, 1 lane by lane" */
static void put_accesses(const simd *s, ir_text *out) {
    static const char *const names[FORMS] = {"of one address", "contiguous", "under a mask",
                                             "of addresses that lanes have for themselves",
                                             "atomic"};
    unsigned count[FORMS] = {0}, any = 0;
    foreach_simd_block (b, s)
        if (b->mark != SIMD_NONE)
            foreach_inst (i, b)
                if (is_access(i)) count[form_of(i)]++;
    for (unsigned k = 0; k < FORMS; k++)
        if (count[k]) ir_putf(out, "%s%u %s", any++ ? ", " : "; accesses: ", count[k], names[k]);
}

static void put_note(const simd *s, const ir_remark *r, ir_text *text) {
    const char *const kind = r->iterations ? "iteration" : "work-item";
    ir_putf(text, "@%s: ", s->f->name);
    if (r->refusal) {
        ir_putf(text, "a loop runs one %s at a time: %s", kind, r->refusal);
        if (r->refused) ir_putf(text, " (%s)", r->refused);
    } else {
        ir_putf(text, "a loop runs %u %s%ss at a time", r->lanes,
                r->components ? "components of " : "", kind);
        if (r->rows > 1) ir_putf(text, " in each of %u rows", r->rows);
        if (r->has_rest) ir_put(text, ", and those that are left under a mask");
        put_accesses(s, text);
    }
    if (s->scalar_price) ir_putf(text, "; %.2f of the estimated time of one at a time", r->ratio);
}

static void report_note(const simd *s, const ir_remark *r) {
    ir_text text = {.arena = s->scratch};
    bool refused_at = s->refusal && s->refused && s->refused->loc;
    const ir_inst *at = refused_at ? s->refused : first_place(s);
    const ir_source *source = refused_at ? &r->refused_at : &r->at;
    put_note(s, r, &text);
    ir_report(s->f->module->cx,
              (ir_message){.severity = IR_NOTE,
                           .file = s->f->module->name,
                           .word = at ? ir_word_of(at->loc) : 0,
                           .source = source->file,
                           .source_line = source->line},
              "%s", text.data);
}

void simd_remark(const simd *s, bool has_rest) {
    const ir_inspection *asked = s->f->module->cx->inspection;
    if (!asked || (!asked->remarks && !asked->remark)) return;
    ir_remark r = describe(s, has_rest);
    if (asked->remarks) report_note(s, &r);
    if (!asked->remark) return;
    if (!s->refusal || s->scalar_price) simd_list_accesses(s, &r);
    asked->remark(asked->remark_user, &r);
}
