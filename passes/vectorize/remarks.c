/* remarks.c — what has become of a loop over work-items, as a note with the place in the source:
 *
 *   @f: a loop runs 16 work-items at a time; accesses: 2 contiguous; 0.14 of the estimated time of
 *       one at a time
 *   @g: a loop runs one work-item at a time: an access is volatile
 *
 * Accesses are counted in the vector loop as it has been built, before legalization.
 */
#include "passes/vectorize/simd.h"

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
    foreach_block (b, s->f)
        if (b->mark != SIMD_NONE)
            foreach_inst (i, b)
                if (is_access(i)) count[form_of(i)]++;
    for (unsigned k = 0; k < FORMS; k++)
        if (count[k]) ir_putf(out, "%s%u %s", any++ ? ", " : "; accesses: ", count[k], names[k]);
}

static const ir_inst *place_of(const simd *s) {
    if (s->refused && s->refused->loc) return s->refused;
    for (uint32_t k = 0; k < s->scalar.loop->nblocks; k++)
        foreach_inst (i, s->scalar.loop->block[k])
            if (i->loc) return i;
    return NULL;
}

void simd_remark(const simd *s, bool has_rest) {
    ir_ctx *cx = s->f->module->cx;
    ir_text text = {.arena = s->scratch};
    if (!cx->inspection || !cx->inspection->remarks) return;
    const ir_inst *at = place_of(s);
    const ir_line *line = at ? ir_line_of(s->f->module, at->loc) : NULL;
    ir_message m = {
        .severity = IR_NOTE, .file = s->f->module->name, .word = at ? ir_word_of(at->loc) : 0};
    if (line && line->file < s->f->module->files.n) {
        m.source = s->f->module->files.data[line->file];
        m.source_line = line->line;
    }
    ir_putf(&text, "@%s: ", s->f->name);
    if (s->refusal) {
        ir_putf(&text, "a loop runs one work-item at a time: %s", s->refusal);
        if (s->refused) ir_putf(&text, " (%s)", ir_ops[s->refused->op].name);
    } else {
        bool parts = s->scalar.loop->header->loop_hint & IR_LOOP_COMPONENTS;
        ir_putf(&text, "a loop runs %u %s at a time", s->lanes,
                parts ? "components of work-items" : "work-items");
        if (has_rest) ir_put(&text, ", and those that are left under a mask");
        put_accesses(s, &text);
    }
    if (s->scalar_price)
        ir_putf(&text, "; %.2f of the estimated time of one at a time",
                (double)s->vector_price / (double)s->scalar_price);
    ir_report(cx, m, "%s", text.data);
}
