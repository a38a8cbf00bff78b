/* object_bytes.c — bytes of a file as they are appended: numbers, strings, addresses.
 *
 * An address is zero in the file; a relocation says what the linker puts there.  Numbers are
 * little-endian, as are all machines that code is made for.  LEB128, the form of numbers of any
 * size in DWARF, has seven bits in each byte, the lowest first; the eighth bit says that more
 * follow.
 */
#include "codegen/object/object.h"

/* ---------------------------------------------------------------------------------------- bytes */

static void store_number(char *to, uint64_t v, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) to[i] = (char)(v >> 8 * i);
}

static void put_number(obj_bytes *b, uint64_t v, unsigned bytes) {
    char field[8];
    store_number(field, v, bytes);
    ir_putn(b, field, bytes);
}

void obj_u8(obj_bytes *b, unsigned v) { put_number(b, v, 1); }
void obj_u16(obj_bytes *b, unsigned v) { put_number(b, v, 2); }
void obj_u32(obj_bytes *b, uint32_t v) { put_number(b, v, 4); }
void obj_u64(obj_bytes *b, uint64_t v) { put_number(b, v, 8); }

void obj_uleb(obj_bytes *b, uint64_t v) {
    for (; v >= 0x80; v >>= 7) obj_u8(b, 0x80 | (unsigned)(v & 0x7f));
    obj_u8(b, (unsigned)v);
}

void obj_sleb(obj_bytes *b, int64_t v) {
    for (; v < -0x40 || v >= 0x40; v >>= 7) obj_u8(b, 0x80 | (unsigned)(v & 0x7f));
    obj_u8(b, (unsigned)(v & 0x7f));
}

void obj_string(obj_bytes *b, const char *s) { ir_putn(b, s, strlen(s) + 1); }

void obj_align(obj_bytes *b, unsigned multiple, uint8_t fill) {
    while (b->n % multiple) obj_u8(b, fill);
}

void obj_set_u32(obj_bytes *b, size_t at, uint32_t v) { store_number(b->data + at, v, 4); }

/* ------------------------------------------------------------------------------------ addresses */

static void add_reloc(obj_file *f, unsigned in, uint32_t type, unsigned section, uint64_t at) {
    obj_part *p = &f->part[in];
    *ir_push(f->arena, &p->relocs) = (obj_reloc){(uint32_t)p->bytes.n, type, section, (int64_t)at};
}

void obj_address(obj_file *f, unsigned in, unsigned section, uint64_t at) {
    add_reloc(f, in, f->elf->abs64, section, at);
    obj_u64(&f->part[in].bytes, 0);
}

void obj_offset(obj_file *f, unsigned in, unsigned section, uint32_t at) {
    add_reloc(f, in, f->elf->abs32, section, at);
    obj_u32(&f->part[in].bytes, 0);
}

void obj_distance(obj_file *f, unsigned in, unsigned section, uint32_t at) {
    add_reloc(f, in, f->elf->pc32, section, at);
    obj_u32(&f->part[in].bytes, 0);
}
