/* object_line.c — .debug_line, and as much of .debug_info as debuggers need to read it.
 *
 * DWARF 4.  .debug_info has one unit, with the name and the range of each function and nothing
 * about values.  .debug_line is a program for a machine with a few registers: each of its rows says
 * which place of the source the code from an address on was made of.  Code whose line is not known
 * gets line 0.
 */
#include "codegen/object/object.h"

enum {
    TAG_COMPILE_UNIT = 0x11,
    TAG_SUBPROGRAM = 0x2e,
    AT_NAME = 0x03,
    AT_STMT_LIST = 0x10,
    AT_LOW_PC = 0x11,
    AT_HIGH_PC = 0x12,
    AT_LANGUAGE = 0x13,
    AT_PRODUCER = 0x25,
    AT_EXTERNAL = 0x3f,
    FORM_ADDR = 0x01,
    FORM_DATA2 = 0x05,
    FORM_DATA4 = 0x06,
    FORM_STRING = 0x08,
    FORM_FLAG = 0x0c,
    FORM_SEC_OFFSET = 0x17,
    LANG_OPENCL = 0x15,
    ABBREV_UNIT = 1,
    ABBREV_FUNCTION,
    VERSION = 4
};

/* ---------------------------------------------------------------------- .debug_info and _abbrev */

typedef struct {
    uint8_t attribute, form;
} field;

static const field unit_fields[] = {{AT_PRODUCER, FORM_STRING},
                                    {AT_LANGUAGE, FORM_DATA2},
                                    {AT_NAME, FORM_STRING},
                                    {AT_STMT_LIST, FORM_SEC_OFFSET},
                                    {AT_LOW_PC, FORM_ADDR},
                                    {AT_HIGH_PC, FORM_DATA4},
                                    {0, 0}};
static const field function_fields[] = {{AT_NAME, FORM_STRING},
                                        {AT_EXTERNAL, FORM_FLAG},
                                        {AT_LOW_PC, FORM_ADDR},
                                        {AT_HIGH_PC, FORM_DATA4},
                                        {0, 0}};

static void write_abbreviation(obj_bytes *b, unsigned number, unsigned tag, bool children,
                               const field *f) {
    obj_uleb(b, number);
    obj_uleb(b, tag);
    obj_u8(b, children);
    do {
        obj_uleb(b, f->attribute);
        obj_uleb(b, f->form);
    } while (f++->attribute);
}

static void write_abbreviations(obj_bytes *b) {
    write_abbreviation(b, ABBREV_UNIT, TAG_COMPILE_UNIT, true, unit_fields);
    write_abbreviation(b, ABBREV_FUNCTION, TAG_SUBPROGRAM, false, function_fields);
    obj_u8(b, 0);
}

static void write_functions(obj_file *f) {
    const cg_object *o = f->object;
    obj_bytes *b = &f->part[OBJ_INFO].bytes;
    foreach_in (const cg_symbol, s, o->symbols) {
        if (!s->function) continue;
        obj_uleb(b, ABBREV_FUNCTION);
        obj_string(b, s->name);
        obj_u8(b, s->exported);
        obj_address(f, OBJ_INFO, CG_TEXT, s->at);
        obj_u32(b, s->size);
    }
}

static void write_unit(obj_file *f) {
    obj_bytes *b = &f->part[OBJ_INFO].bytes;
    obj_u32(b, 0); /* length */
    obj_u16(b, VERSION);
    obj_offset(f, OBJ_INFO, OBJ_ABBREV, 0);
    obj_u8(b, 8); /* bytes of an address */
    obj_uleb(b, ABBREV_UNIT);
    obj_string(b, "spvfuse");
    obj_u16(b, LANG_OPENCL);
    obj_string(b, f->object->files.n ? f->object->files.data[0] : "");
    obj_offset(f, OBJ_INFO, OBJ_LINE, 0);
    obj_address(f, OBJ_INFO, CG_TEXT, 0);
    obj_u32(b, f->object->size[CG_TEXT]);
    write_functions(f);
    obj_u8(b, 0); /* end of the unit's children */
    obj_set_u32(b, 0, (uint32_t)b->n - 4);
}

/* ---------------------------------------------------------------------------------- .debug_line */

enum {
    LNS_COPY = 1,
    LNS_ADVANCE_PC,
    LNS_ADVANCE_LINE,
    LNS_SET_FILE,
    LNS_SET_COLUMN,
    LNE_END_SEQUENCE = 1,
    LNE_SET_ADDRESS,
    /* A special opcode advances the line by -5 to 8, and the address by the quotient. */
    LINE_BASE = -5,
    LINE_RANGE = 14,
    OPCODE_BASE = 13 /* the first special opcode */
};

static void write_files(obj_file *f, obj_bytes *b) {
    obj_u8(b, 0); /* no folders */
    for (uint32_t i = 0; i < f->object->files.n; i++) {
        obj_string(b, f->object->files.data[i]);
        for (int n = 0; n < 3; n++) obj_uleb(b, 0); /* folder, time, size: not known */
    }
    obj_u8(b, 0);
}

static void write_line_header(obj_file *f, obj_bytes *b) {
    static const uint8_t operands[OPCODE_BASE - 1] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    obj_u32(b, 0); /* length of all */
    obj_u16(b, VERSION);
    size_t length = b->n;
    obj_u32(b, 0); /* length of the header */
    obj_u8(b, 1);  /* bytes of the shortest instruction */
    obj_u8(b, 1);  /* operations of an instruction */
    obj_u8(b, 1);  /* lines are statements */
    obj_u8(b, (uint8_t)LINE_BASE);
    obj_u8(b, LINE_RANGE);
    obj_u8(b, OPCODE_BASE);
    ir_putn(b, (const char *)operands, sizeof operands);
    write_files(f, b);
    obj_set_u32(b, length, (uint32_t)(b->n - length - 4));
}

/* The registers of the machine that runs the program. */
typedef struct {
    uint32_t at, file, line, column;
} line_state;

static void write_row(obj_bytes *b, line_state *from, const line_state *to) {
    uint64_t bytes = to->at - from->at;
    int64_t lines = (int64_t)to->line - from->line - LINE_BASE;
    if (to->file != from->file) {
        obj_u8(b, LNS_SET_FILE);
        obj_uleb(b, to->file);
    }
    if (to->column != from->column) {
        obj_u8(b, LNS_SET_COLUMN);
        obj_uleb(b, to->column);
    }
    if (lines < 0 || lines >= LINE_RANGE) {
        obj_u8(b, LNS_ADVANCE_LINE);
        obj_sleb(b, lines + LINE_BASE);
        lines = -LINE_BASE;
    }
    if (bytes > (uint64_t)(255 - OPCODE_BASE - lines) / LINE_RANGE) {
        obj_u8(b, LNS_ADVANCE_PC);
        obj_uleb(b, bytes);
        bytes = 0;
    }
    obj_u8(b, (unsigned)(lines + LINE_RANGE * (int64_t)bytes + OPCODE_BASE));
    *from = *to;
}

static void write_rows(obj_file *f, obj_bytes *b) {
    const cg_object *o = f->object;
    line_state now = {0, 1, 1, 0};
    foreach_in (const cg_line, l, o->lines) {
        line_state next = {l->at, now.file, 0, 0};
        if (l->line) next = (line_state){l->at, l->file + 1, l->line, l->column};
        bool same = next.file == now.file && next.line == now.line && next.column == now.column;
        if (!same || l == o->lines.data) write_row(b, &now, &next);
    }
    obj_u8(b, LNS_ADVANCE_PC);
    obj_uleb(b, o->size[CG_TEXT] - now.at);
}

static void write_table(obj_file *f) {
    obj_bytes *b = &f->part[OBJ_LINE].bytes;
    write_line_header(f, b);
    obj_u8(b, 0); /* an extended opcode of nine bytes */
    obj_uleb(b, 9);
    obj_u8(b, LNE_SET_ADDRESS);
    obj_address(f, OBJ_LINE, CG_TEXT, 0);
    write_rows(f, b);
    obj_u8(b, 0);
    obj_uleb(b, 1);
    obj_u8(b, LNE_END_SEQUENCE);
    obj_set_u32(b, 0, (uint32_t)b->n - 4);
}

void obj_write_lines(obj_file *f) {
    write_abbreviations(&f->part[OBJ_ABBREV].bytes);
    write_unit(f);
    write_table(f);
}
