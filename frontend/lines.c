/* lines.c — source positions and the kernel argument strings of llvm-spirv.
 *
 * OpLine holds for what follows it, up to the next OpLine or OpNoLine or the end of the block.  The
 * module's line table has one entry per change, ascending by word.
 */
#include "frontend/reader.h"

/* The number, in the module's list, of the file that a string names. */
static uint32_t file_number(reader *r, spv_id *name) {
    ir_module *m = r->m;
    if (!name->cached_in) {
        *ir_push(&m->arena, &m->files) = ir_strdup(&m->arena, name->text);
        name->cached_in = m->files.n;
    }
    return name->cached_in - 1;
}

static void add_line(reader *r, uint32_t file, uint32_t line, uint32_t column) {
    ir_module *m = r->m;
    if (m->lines.n && m->lines.data[m->lines.n - 1].word >= r->in.at) return;
    *ir_push(&m->arena, &m->lines) =
        (ir_line){.word = r->in.at, .file = file, .line = line, .column = column};
}

void spv_end_line(reader *r) {
    const ir_module *m = r->m;
    if (m->lines.n && m->lines.data[m->lines.n - 1].line) add_line(r, 0, 0, 0);
}

void spv_line(reader *r) {
    if (!r->m) return;
    if (r->in.opcode == SPV_OP_NoLine) {
        spv_end_line(r);
        return;
    }
    spv_id *e = spv_find(r, r->in.arg[0]);
    if (e->kind != ID_STRING) spv_fail(r, "OpLine: %%%u is not a string", r->in.arg[0]);
    add_line(r, file_number(r, e), r->in.arg[1], r->in.arg[2]);
}

void spv_debug_line(reader *r) {
    uint64_t line, column;
    if (r->in.n < 7) return;
    spv_id *source = spv_find(r, r->in.arg[2]);
    if (source->kind != ID_OTHER || !source->text) return;
    if (!spv_int_constant(r, r->in.arg[3], &line) || !spv_int_constant(r, r->in.arg[5], &column))
        return;
    add_line(r, file_number(r, source), (uint32_t)line, (uint32_t)column);
}

/* ------------------------------------------------------------------------- kernel argument strings
 *
 * "kernel_arg_type.NAME.float*,int," and "kernel_arg_type_qual.NAME.const,,": how the kernel's
 * source spelled the types and qualifiers of its arguments. */

static void note_arg_string(reader *r, ir_map *map, const char *text, const char *prefix) {
    size_t n = strlen(prefix);
    const char *dot = strncmp(text, prefix, n) ? NULL : strchr(text + n, '.');
    if (!dot || dot == text + n) return;
    spv_note_name(r, map, text + n, (size_t)(dot - text) - n, dot + 1);
}

void spv_note_arg_string(reader *r, const char *text) {
    note_arg_string(r, &r->facts.arg_types, text, "kernel_arg_type.");
    note_arg_string(r, &r->facts.arg_quals, text, "kernel_arg_type_qual.");
}

/* The text before the next comma that is not inside brackets; moves after the comma. */
static size_t next_item(const char **list) {
    const char *s = *list;
    int depth = 0;
    size_t n = 0;
    for (; s[n] && (s[n] != ',' || depth > 0); n++)
        depth += (s[n] == '<' || s[n] == '(') - (s[n] == '>' || s[n] == ')');
    *list = s + n + (s[n] == ',');
    return n;
}

static bool has_word(const char *s, size_t n, const char *word) {
    size_t len = strlen(word);
    for (size_t i = 0; i + len <= n; i++)
        if (!memcmp(s + i, word, len)) return true;
    return false;
}

static uint32_t qualifiers(const char *s, size_t n) {
    return (has_word(s, n, "const") ? IR_PARAM_CONST : 0u) |
           (has_word(s, n, "restrict") ? IR_PARAM_RESTRICT : 0u) |
           (has_word(s, n, "volatile") ? IR_PARAM_VOLATILE : 0u);
}

void spv_name_args(reader *r, ir_func *f) {
    const char *types = spv_noted(&r->facts.arg_types, f->name);
    const char *quals = spv_noted(&r->facts.arg_quals, f->name);
    for (uint32_t i = 0; i < f->nparams; i++) {
        const char *type = types, *qual = quals;
        size_t ntype = types ? next_item(&types) : 0, nqual = quals ? next_item(&quals) : 0;
        if (ntype) f->param[i].type_name = ir_strndup(&f->module->arena, type, ntype);
        if (nqual) f->param[i].attrs |= qualifiers(qual, nqual);
    }
}
