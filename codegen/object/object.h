/* object.h — what the files of the writer of object files share.
 *
 *   object.c        the file: headers, symbols, relocations
 *   object_frame.c  .eh_frame: how to unwind a function
 *   object_line.c   .debug_line: which source line code was made of
 *   object_info.c   .debug_info: functions, and variables that debuggers read
 *   object_assembly.c  the same as text for an assembler
 *   object_bytes.c  numbers, strings and addresses, appended
 *   object_table.c  data that lists the kernels of an object
 */
#ifndef SPVFUSE_CODEGEN_OBJECT_H
#define SPVFUSE_CODEGEN_OBJECT_H

#include "codegen/codegen.h"

/* ----------------------------------------------------------------------- bytes (object_bytes.c) */

typedef ir_text obj_bytes;

void obj_u8(obj_bytes *b, unsigned v);
void obj_u16(obj_bytes *b, unsigned v);
void obj_u32(obj_bytes *b, uint32_t v);
void obj_u64(obj_bytes *b, uint64_t v);
void obj_uleb(obj_bytes *b, uint64_t v);
void obj_sleb(obj_bytes *b, int64_t v);
void obj_string(obj_bytes *b, const char *s); /* with its 0 */
void obj_align(obj_bytes *b, unsigned multiple, uint8_t fill);
void obj_set_u32(obj_bytes *b, size_t at, uint32_t v);

/* The sections of a file: those of an object (cg_section), and these. */
enum { OBJ_FRAME = CG_SECTIONS, OBJ_INFO, OBJ_ABBREV, OBJ_LINE, OBJ_SECTIONS };

/* ------------------------------------------------------------------------------ parts of a file */

/* A field that the linker fills with the address of a section, + addend. */
typedef struct {
    uint32_t at;
    uint32_t type; /* ELF's number */
    unsigned section;
    int64_t addend;
} obj_reloc;

typedef struct {
    obj_bytes bytes;
    ir_vec(obj_reloc) relocs;
} obj_part;

/* A file in the making. */
typedef struct {
    const cg_object *object;
    const cg_file_options *options;
    const cg_elf *elf;
    ir_arena *arena;
    obj_part part[OBJ_SECTIONS];
} obj_file;

/* Appends a field of eight bytes with the address of a place in another section. */
void obj_address(obj_file *f, unsigned in, unsigned section, uint64_t at);
/* Appends a field of four bytes with the offset of a place in a section that is not loaded. */
void obj_offset(obj_file *f, unsigned in, unsigned section, uint32_t at);
/* Appends a field of four bytes with the distance from the field to a place. */
void obj_distance(obj_file *f, unsigned in, unsigned section, uint32_t at);

void obj_write_frames(obj_file *f);
void obj_write_lines(obj_file *f);
void obj_write_info(obj_file *f);

/* ----------------------------------------------------------- data of an object (object_table.c) */

uint32_t obj_add_symbol(cg_object *o, ir_arena *a, cg_symbol s);
typedef struct {
    const char *name;
    const void *bytes;
    uint32_t size, align;
} obj_data;

/* Appends data to a section, and returns its symbol. */
uint32_t obj_add_data(cg_object *o, ir_arena *a, cg_section s, obj_data d);
/* Puts the address of another symbol, or of a string, at `offset` of what symbol `from` names. */
void obj_put_address(cg_object *o, ir_arena *a, uint32_t from, size_t offset, uint32_t to);
void obj_put_string_address(cg_object *o, ir_arena *a, uint32_t from, size_t offset,
                            const char *string);

#endif
