/* report.c — the reader's messages.
 *
 * What is malformed leaves through spv_fail, what is not supported through spv_refuse.  Both give
 * up the declaration or function that is being read, and spv_attempt, which reads it, returns the
 * reason.  Outside spv_attempt, and through spv_give_up, the whole module is refused.  Messages
 * name the word, the instruction, its result and the source line.  Warnings are counted by kind and
 * reported once, when the module has been read, with the place of the first.
 */
#include "frontend/reader.h"

const char *spv_op_name(reader *r) {
    const spv_inst *in = &r->in;
    if (in->ext) return ir_sprintf(&r->scratch, "OpExtInst %s", in->ext->name);
    if (in->row) return ir_sprintf(&r->scratch, "Op%s", in->row->name);
    return ir_sprintf(&r->scratch, "opcode %u", in->opcode);
}

/* "OpFMul %57 "r"" */
static void describe(reader *r, char *out, size_t size) {
    const spv_inst *in = &r->in;
    int n = in->row ? snprintf(out, size, "Op%s", in->row->name)
                    : snprintf(out, size, "opcode %u", in->opcode);
    if (n < 0 || (size_t)n >= size || !in->id) return;
    const spv_id *e =
        in->id < r->ids.dense ? &r->ids.table[in->id] : ir_map_get(&r->ids.sparse, in->id);
    if (e && e->name)
        snprintf(out + n, size - (size_t)n, " %%%u \"%s\"", in->id, spv_string_at(r, e->name));
    else
        snprintf(out + n, size - (size_t)n, " %%%u", in->id);
}

static ir_message message_at(reader *r, ir_severity severity, uint32_t word, const char *inst) {
    const ir_line *line = r->m ? ir_line_of(r->m, word) : NULL;
    ir_message m = {.severity = severity, .file = r->input.file, .word = word, .inst = inst};
    if (line) {
        m.source = r->m->files.data[line->file];
        m.source_line = line->line;
    }
    return m;
}

static void report(reader *r, ir_severity severity, const char *fmt, va_list ap) {
    char inst[96];
    describe(r, inst, sizeof inst);
    ir_vreport(r->cx, message_at(r, severity, r->in.at, inst), fmt, ap);
}

void spv_give_up(reader *r, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    report(r, IR_ERROR, fmt, ap);
    va_end(ap);
    ir_throw(r->cx, IR_ERR_INPUT);
}

IR_NORETURN static void leave(reader *r, bool malformed, const char *fmt, va_list ap) {
    char text[512];
    vsnprintf(text, sizeof text, fmt, ap);
    if (!r->attempt.active) spv_give_up(r, "%s", text);
    if (malformed) spv_report_malformed(r, text);
    r->attempt.refusal = ir_strdup(&r->scratch, text);
    ir_throw(r->cx, IR_ERR_INPUT);
}

void spv_fail(reader *r, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    leave(r, true, fmt, ap);
}

void spv_refuse(reader *r, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    leave(r, false, fmt, ap);
}

void spv_report_malformed(reader *r, const char *text) {
    char inst[96];
    describe(r, inst, sizeof inst);
    ir_report(r->cx, message_at(r, IR_WARNING, r->in.at, inst), "%s", text);
}

const char *spv_attempt(reader *r, void (*read)(void *reader)) {
    bool outer = r->attempt.active;
    r->attempt.active = true;
    bool ok = ir_try(r->cx, read, r);
    const char *why = r->attempt.refusal;
    r->attempt.active = outer;
    r->attempt.refusal = NULL;
    if (ok) return NULL;
    if (!why) ir_throw(r->cx, r->cx->status);
    r->cx->status = IR_OK;
    return why;
}

void spv_refuse_inst(reader *r, const char *why) {
    const char *noun = r->in.row ? "instruction " : "";
    if (why) spv_refuse(r, "%s%s (%s) is not supported", noun, spv_op_name(r), why);
    spv_refuse(r, "%s%s is not supported", noun, spv_op_name(r));
}

/* ------------------------------------------------------------------------------------- warnings */

static const char *const warning_texts[] = {
#define WARNING(name, text) text,
#include "frontend/warnings.def"
#undef WARNING
};

void spv_warn(reader *r, spv_warning which) {
    spv_warned *w = &r->warned[which];
    if (w->count++) return;
    w->at = r->in.at;
    describe(r, w->inst, sizeof w->inst);
}

void spv_report_warnings(reader *r) {
    for (int i = 0; i < SPV_WARNINGS; i++) {
        const spv_warned *w = &r->warned[i];
        ir_message m = message_at(r, IR_WARNING, w->at, w->inst);
        if (w->count == 1) ir_report(r->cx, m, "%s", warning_texts[i]);
        if (w->count > 1) ir_report(r->cx, m, "%s (%u times)", warning_texts[i], w->count);
    }
}
