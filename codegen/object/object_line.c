/* object_line.c — .debug_line: which place of the source each piece of code was made of.
 *
 * DWARF 4.  .debug_line is a program for a machine with a few registers: each of its rows says
 * which place of the source the code from an address on was made of.  Code whose line is not known
 * gets line 0.
 */
#include "codegen/object/object.h"

enum { VERSION = 4 };

/* ---------------------------------------------------------------------------------- .debug_line */

enum {
    LNS_COPY = 1,
    LNS_ADVANCE_PC,
    LNS_ADVANCE_LINE,
    LNS_SET_FILE,
    LNS_SET_COLUMN,
    LNS_SET_PROLOGUE_END = 10,
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
        if (l->prologue_end) obj_u8(b, LNS_SET_PROLOGUE_END);
        if (!same || l->prologue_end || l == o->lines.data) write_row(b, &now, &next);
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

void obj_write_lines(obj_file *f) { write_table(f); }
