/* elf.h — ELF files (System V ABI) as far as containers look into them: those of 64 bits whose low
 * byte comes first.  Every offset is checked. */
#ifndef SPVFUSE_RUNTIME_ELF_H
#define SPVFUSE_RUNTIME_ELF_H

#include "ir/ir.h"

enum {
    ELF_CUDA = 190,       /* a machine */
    ELF_CUDA_ABI_2 = 8,   /* of ident[8] */
    ELF_PROGRAM_BITS = 1, /* types of sections */
    ELF_SYMBOL_TABLE = 2,
    ELF_RELOCATIONS = 4,
    ELF_ALLOCATED = 2, /* a flag of sections */
    ELF_FUNCTION = 2   /* a type of symbols */
};

typedef struct {
    uint8_t ident[16];
    uint16_t type, machine;
    uint32_t version;
    uint64_t entry, program_headers, section_headers;
    uint32_t flags;
    uint16_t size, program_size, programs, section_size, sections, names;
} elf_header;

typedef struct {
    uint32_t name, type;
    uint64_t flags, address, offset, size;
    uint32_t link, info;
    uint64_t align, entry_size;
} elf_section;

typedef struct {
    uint32_t name;
    uint8_t info, other;
    uint16_t section;
    uint64_t value, size;
} elf_symbol;

typedef struct {
    uint64_t at;
    uint32_t type, symbol;
    int64_t addend;
} elf_relocation;

static_assert(sizeof(elf_header) == 64 && sizeof(elf_section) == 64 && sizeof(elf_symbol) == 24 &&
                  sizeof(elf_relocation) == 24,
              "as the file has them");

typedef struct {
    const uint8_t *bytes;
    size_t size;
    elf_header head;
} elf_file;

static inline bool is_elf(const void *bytes, size_t size) {
    static const uint8_t ident[] = {0x7f, 'E', 'L', 'F', 2, 1};
    return size >= sizeof(elf_header) && memcmp(bytes, ident, sizeof ident) == 0;
}

static inline elf_file elf_open(const void *bytes, size_t size) {
    elf_file f = {.bytes = bytes, .size = size};
    memcpy(&f.head, bytes, sizeof f.head);
    return f;
}

/* n bytes at an offset, or NULL. */
static inline const uint8_t *elf_part(const elf_file *f, uint64_t at, uint64_t n) {
    return at <= f->size && n <= f->size - at ? f->bytes + at : NULL;
}

/* False: there is no such section, or the file is cut. */
static inline bool elf_section_of(const elf_file *f, uint32_t n, elf_section *out) {
    uint64_t all = (uint64_t)f->head.sections * sizeof *out;
    const uint8_t *table = elf_part(f, f->head.section_headers, all);
    if (!table || n >= f->head.sections || f->head.section_size != sizeof *out) return false;
    memcpy(out, table + n * sizeof *out, sizeof *out);
    return true;
}

/* A text that ends within a section, or NULL. */
static inline const char *elf_text(const elf_file *f, const elf_section *strings, uint32_t at) {
    const char *bytes = (const char *)elf_part(f, strings->offset, strings->size);
    if (!bytes || at >= strings->size) return NULL;
    return memchr(bytes + at, 0, strings->size - at) ? bytes + at : NULL;
}

/* Record n of a section of symbols or relocations, of `size` bytes; false: there is none. */
static inline bool elf_record(const elf_file *f, const elf_section *s, uint64_t n, void *out,
                              size_t size) {
    const uint8_t *records = elf_part(f, s->offset, s->size);
    if (!records || n >= s->size / size) return false;
    memcpy(out, records + n * size, size);
    return true;
}

#endif
