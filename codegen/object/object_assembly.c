/* object_assembly.c — an object as text for the assembler of its machine.
 *
 * The code is the listing, whose labels are unique in the object; constants and data follow as
 * numbers and strings, cut at the labels, symbols and addresses in them.  The assembler chooses
 * the lengths of instructions itself, so places in the code differ from those in the object.
 * Names are written where the syntax of data holds, in which no name is an operator or a register.
 *
 * The listing has directives for unwinding, and with lines those for places in the source, of which
 * the assembler makes .eh_frame and .debug_line.  What else debuggers read is written as bytes, in
 * which addresses of code are labels.
 */
#include "codegen/object/object.h"

#include <stdlib.h>

typedef enum { MARK_END, MARK_SYMBOL, MARK_LABEL, MARK_ADDRESS } mark_kind;

/* Something at a place of a section. */
typedef struct {
    uint32_t at;
    mark_kind kind;
    uint32_t n; /* of the symbol, label or relocation */
} mark;

typedef struct {
    const cg_object *object;
    ir_text *out;
    ir_vec(mark) marks; /* of the section that is written, ascending */
    ir_map functions;   /* by place + 1: the name */
} writer;

/* ---------------------------------------------------------------------------------------- names */

static bool is_plain(const char *name) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$";
    return *name && !(*name >= '0' && *name <= '9') && !name[strspn(name, plain)];
}

static void put_quoted(ir_text *out, const char *s) {
    ir_put(out, "\"");
    for (; *s; s++) ir_putf(out, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
    ir_put(out, "\"");
}

void cg_put_symbol(ir_text *out, const char *name) {
    (is_plain(name) ? ir_put : put_quoted)(out, name);
}

/* "    .globl name" */
static void put_directive(writer *w, const char *directive, const char *name, const char *rest) {
    ir_putf(w->out, "    %s ", directive);
    cg_put_symbol(w->out, name);
    ir_putf(w->out, "%s\n", rest);
}

static bool is_local(const cg_symbol *s) { return strncmp(s->name, ".L", 2) == 0; }

static void declare(writer *w, const cg_symbol *s) {
    if (s->exported) put_directive(w, ".globl", s->name, "");
    if (!is_local(s)) put_directive(w, ".type", s->name, s->function ? ",@function" : ",@object");
}

/* ---------------------------------------------------------------------------------------- bytes */

static bool is_string(const uint8_t *b, uint32_t n) {
    for (uint32_t i = 0; i + 1 < n; i++)
        if (b[i] < ' ' || b[i] > '~') return false;
    return n > 1 && !b[n - 1];
}

static void put_string(ir_text *out, const uint8_t *b) {
    ir_put(out, "    .asciz ");
    put_quoted(out, (const char *)b);
    ir_put(out, "\n");
}

static bool is_zero(const uint8_t *b, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (b[i]) return false;
    return true;
}

/* Eight numbers a line. */
static void put_numbers(ir_text *out, const uint8_t *b, uint32_t n) {
    uint32_t step = n % 4 ? 1 : 4;
    for (uint32_t i = 0; i < n; i += step) {
        uint32_t value = b[i];
        if (step == 4) memcpy(&value, b + i, 4);
        bool first = i % (8 * step) == 0;
        ir_putf(out, first ? "%s    %s 0x%x" : "%s%s0x%x", first && i ? "\n" : "",
                !first      ? ","
                : step == 4 ? ".long"
                            : ".byte",
                value);
    }
    ir_put(out, "\n");
}

static void put_bytes(ir_text *out, const uint8_t *b, uint32_t n) {
    if (!n) return;
    if (is_zero(b, n))
        ir_putf(out, "    .zero %u\n", n);
    else if (is_string(b, n))
        put_string(out, b);
    else
        put_numbers(out, b, n);
}

/* ------------------------------------------------------------------------------------- sections */

static int compare_marks(const void *a, const void *b) {
    const mark *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    return x->n < y->n ? -1 : x->n > y->n;
}

static void add_mark(writer *w, uint32_t at, mark_kind kind, uint32_t n) {
    *ir_push(w->out->arena, &w->marks) = (mark){at, kind, n};
}

/* All that lies in a section from a place on. */
static void list_marks(writer *w, cg_section section, uint32_t from) {
    const cg_object *o = w->object;
    w->marks.n = 0;
    for (uint32_t n = 0; n < o->symbols.n; n++) {
        const cg_symbol *s = &o->symbols.data[n];
        if (s->section != section || s->function) continue;
        add_mark(w, s->at, MARK_SYMBOL, n);
        add_mark(w, s->at + s->size, MARK_END, n);
    }
    for (uint32_t n = 0; n < o->labels.n; n++) {
        const cg_label *l = &o->labels.data[n];
        if (l->section == section && l->at >= from) add_mark(w, l->at, MARK_LABEL, n);
    }
    for (uint32_t n = 0; n < o->relocs.n; n++) {
        const cg_reloc *r = &o->relocs.data[n];
        if (r->section == section && r->kind == CG_ABS64) add_mark(w, r->at, MARK_ADDRESS, n);
    }
    if (w->marks.n) qsort(w->marks.data, w->marks.n, sizeof *w->marks.data, compare_marks);
}

static void put_symbol(writer *w, const cg_symbol *s) {
    declare(w, s);
    if (!is_local(s)) put_directive(w, ".size", s->name, ir_sprintf(w->out->arena, ",%u", s->size));
    cg_put_symbol(w->out, s->name);
    ir_put(w->out, ":\n");
}

static void put_address(writer *w, const cg_reloc *r) {
    const char *rest = r->addend ? ir_sprintf(w->out->arena, "%+lld", (long long)r->addend) : "";
    put_directive(w, ".quad", w->object->symbols.data[r->symbol].name, rest);
}

/* What a mark says; the number of bytes that it has written. */
static uint32_t put_mark(writer *w, const mark *m) {
    switch (m->kind) {
    case MARK_END: break;
    case MARK_SYMBOL: put_symbol(w, &w->object->symbols.data[m->n]); return 0;
    case MARK_LABEL: ir_putf(w->out, ".L%u:\n", w->object->labels.data[m->n].number); return 0;
    case MARK_ADDRESS: put_address(w, &w->object->relocs.data[m->n]); return 8;
    }
    return 0;
}

static void put_contents(writer *w, cg_section section, uint32_t from) {
    const cg_object *o = w->object;
    const uint8_t *bytes = o->bytes[section];
    ir_putf(w->out, "    .balign %u\n", o->align[section] ? o->align[section] : 1);
    foreach_in (const mark, m, w->marks) {
        if (m->at > from) put_bytes(w->out, bytes + from, m->at - from);
        if (m->at > from) from = m->at;
        from += put_mark(w, m);
    }
    put_bytes(w->out, bytes + from, o->size[section] - from);
}

static void put_data(writer *w, cg_section section) {
    bool addresses = false;
    if (!w->object->size[section]) return;
    list_marks(w, section, 0);
    foreach_in (const mark, m, w->marks) addresses |= m->kind == MARK_ADDRESS;
    ir_putf(w->out, "    .section %s\n",
            section == CG_DATA ? ".data"
            : addresses        ? ".data.rel.ro,\"aw\",@progbits"
                               : ".rodata");
    put_contents(w, section, 0);
}

/* ----------------------------------------------------------------------------------------- code */

static void put_size(writer *w, const char *name, const char *end) {
    put_directive(w, ".size", name, ",");
    w->out->n--; /* the operand goes on in this line */
    cg_put_symbol(w->out, end);
    ir_put(w->out, "-");
    cg_put_symbol(w->out, name);
    ir_put(w->out, "\n");
}

/* A function ends where the next one begins; constants begin after all of them. */
static void measure_functions(writer *w) {
    const cg_symbol *before = NULL;
    ir_put(w->out, ".Lend:\n");
    foreach_in (const cg_symbol, s, w->object->symbols) {
        if (!s->function) continue;
        if (before) put_size(w, before->name, s->name);
        before = s;
    }
    if (before) put_size(w, before->name, ".Lend");
}

static void name_functions(writer *w) {
    foreach_in (const cg_symbol, s, w->object->symbols)
        if (s->function)
            ir_map_set(w->out->arena, &w->functions, s->at + 1ull, (void *)(uintptr_t)s->name);
}

/* Calls name functions by their labels. */
static void put_function_labels(writer *w, uint32_t end) {
    foreach_in (const cg_label, l, w->object->labels) {
        if (l->section != CG_TEXT || l->at >= end) continue;
        ir_putf(w->out, "    .set .L%u,", l->number);
        cg_put_symbol(w->out, ir_map_get(&w->functions, l->at + 1ull));
        ir_put(w->out, "\n");
    }
}

static uint32_t end_of_code(const cg_object *o) {
    uint32_t end = 0;
    foreach_in (const cg_symbol, s, o->symbols)
        if (s->function && s->at + s->size > end) end = s->at + s->size;
    return end;
}

static void put_code(writer *w, const cg_assembly *a) {
    uint32_t end = end_of_code(w->object);
    name_functions(w);
    ir_put(w->out, "    .text\n");
    foreach_in (const cg_symbol, s, w->object->symbols)
        if (s->function) declare(w, s);
    ir_putf(w->out, "    %s\n%s    %s\n", a->begin, a->listing, a->end);
    measure_functions(w);
    put_function_labels(w, end);
    list_marks(w, CG_TEXT, end);
    if (w->marks.n) put_contents(w, CG_TEXT, w->marks.data[0].at);
}

/* ---------------------------------------------------------------------------- for debuggers */

static const char *const part_names[OBJ_SECTIONS] = {
    [OBJ_INFO] = ".debug_info", [OBJ_ABBREV] = ".debug_abbrev", [OBJ_LINE] = ".debug_line"};

/* The assembler writes the lines after this label. */
static void put_files(writer *w) {
    ir_putf(w->out, "    .section %s,\"\",@progbits\n.L%s:\n", part_names[OBJ_LINE],
            part_names[OBJ_LINE]);
    for (uint32_t n = 0; n < w->object->files.n; n++) {
        ir_putf(w->out, "    .file %u ", n + 1);
        put_quoted(w->out, w->object->files.data[n]);
        ir_put(w->out, "\n");
    }
}

/* The label of a place in code, where a function begins, or all of them end. */
static const char *place_of(const writer *w, int64_t at) {
    const char *name = ir_map_get(&w->functions, (uint64_t)at + 1);
    return name ? name : ".Lend";
}

static void put_part(writer *w, const obj_part *p, unsigned section) {
    uint32_t from = 0;
    const uint8_t *bytes = (const uint8_t *)p->bytes.data;
    ir_putf(w->out, "    .section %s,\"\",@progbits\n.L%s:\n", part_names[section],
            part_names[section]);
    foreach_in (const obj_reloc, r, p->relocs) {
        bool code = r->section == CG_TEXT;
        put_bytes(w->out, bytes + from, r->at - from);
        ir_put(w->out, code ? "    .quad " : "    .long .L");
        cg_put_symbol(w->out, code ? place_of(w, r->addend) : part_names[r->section]);
        ir_put(w->out, "\n");
        from = r->at + (code ? 8 : 4);
    }
    put_bytes(w->out, bytes + from, (uint32_t)p->bytes.n - from);
}

static void put_debug_parts(writer *w, const cg_file_options *options) {
    obj_file f = {.object = w->object, .options = options, .elf = options->elf};
    f.arena = w->out->arena;
    for (int s = 0; s < OBJ_SECTIONS; s++) f.part[s].bytes.arena = f.arena;
    obj_write_info(&f);
    put_part(w, &f.part[OBJ_ABBREV], OBJ_ABBREV);
    put_part(w, &f.part[OBJ_INFO], OBJ_INFO);
}

void cg_write_assembly(const cg_object *o, const cg_assembly *assembly, ir_text *out) {
    writer w = {.object = o, .out = out};
    bool lines = assembly->file.lines && o->files.n;
    if (lines) put_files(&w);
    put_code(&w, assembly);
    put_data(&w, CG_RODATA);
    put_data(&w, CG_DATA);
    if (lines) put_debug_parts(&w, &assembly->file);
    ir_put(out, "    .section .note.GNU-stack,\"\",@progbits\n");
}
