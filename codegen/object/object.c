/* object.c — an object as a linkable ELF file.
 *
 *   header · sections' bytes · relocations · symbols · strings · section headers
 *
 * All symbols of an object are its own, so each relocation names a section and a place in it: the
 * linker has nothing to look up, and an exported function may be called by its neighbours also in a
 * shared library.  (A program that uses exported data of such a library is compiled with -fPIC: a
 * copy in the program would not be what the library uses.)  Constants that hold addresses are in
 * .data.rel.ro, where a program that is placed anywhere may relocate them before they become read
 * only.
 */
#include "codegen/object/object.h"

#include <elf.h>

/* ---------------------------------------------------------------------------------------- bytes */

static void put_number(obj_bytes *b, uint64_t v, unsigned bytes) {
    char field[8];
    for (unsigned i = 0; i < bytes; i++) field[i] = (char)(v >> 8 * i);
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

void obj_set_u32(obj_bytes *b, size_t at, uint32_t v) {
    for (unsigned i = 0; i < 4; i++) b->data[at + i] = (char)(v >> 8 * i);
}

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

static void take_sections(obj_file *f) {
    const cg_object *o = f->object;
    for (int s = 0; s < CG_SECTIONS; s++) {
        f->part[s].bytes.arena = f->arena;
        ir_putn(&f->part[s].bytes, (const char *)o->bytes[s], o->size[s]);
    }
    if (f->options->address) return;
    foreach_in (const cg_reloc, r, o->relocs) {
        const cg_symbol *to = &o->symbols.data[r->symbol];
        uint32_t type = r->kind == CG_PC32 ? f->elf->pc32 : f->elf->abs64;
        *ir_push(f->arena, &f->part[r->section].relocs) =
            (obj_reloc){r->at, type, to->section, to->at + r->addend};
    }
}

/* --------------------------------------------------------------------------------- the file itself
 *
 * Section headers: none, the parts, their relocations (where there are any), .note.GNU-stack,
 * .symtab, .strtab, .shstrtab.  Symbols: none, the parts, what is local, what is exported. */

enum { MAX_HEADERS = 2 * OBJ_SECTIONS + 5 };

typedef struct {
    obj_file *f;
    obj_bytes out, names, strings, symbols;
    Elf64_Shdr header[MAX_HEADERS];
    unsigned nheaders, part_header[OBJ_SECTIONS];
} elf_writer;

static const struct {
    const char *name;
    uint32_t type;
    uint64_t flags;
} facts[OBJ_SECTIONS] = {
    [CG_TEXT] = {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR},
    [CG_RODATA] = {".rodata", SHT_PROGBITS, SHF_ALLOC},
    [CG_DATA] = {".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE},
    [OBJ_FRAME] = {".eh_frame", 0, SHF_ALLOC},
    [OBJ_INFO] = {".debug_info", SHT_PROGBITS, 0},
    [OBJ_ABBREV] = {".debug_abbrev", SHT_PROGBITS, 0},
    [OBJ_LINE] = {".debug_line", SHT_PROGBITS, 0},
};

/* A header for bytes that come next. */
static Elf64_Shdr *add_header(elf_writer *w, const char *name, uint32_t type, uint64_t align) {
    assert(w->nheaders < MAX_HEADERS);
    Elf64_Shdr *h = &w->header[w->nheaders++];
    obj_align(&w->out, (unsigned)align, 0);
    *h = (Elf64_Shdr){.sh_name = (uint32_t)w->names.n,
                      .sh_type = type,
                      .sh_offset = w->out.n,
                      .sh_addralign = align};
    obj_string(&w->names, name);
    return h;
}

static void add_bytes(elf_writer *w, Elf64_Shdr *h, const obj_bytes *b) {
    h->sh_size = b->n;
    ir_putn(&w->out, b->data, b->n);
}

static bool is_loaded(unsigned s) { return s < CG_SECTIONS; }

static bool has_relocs(const elf_writer *w, unsigned s) { return w->f->part[s].relocs.n != 0; }

static void add_part(elf_writer *w, unsigned s) {
    const obj_file *f = w->f;
    bool relro = s == CG_RODATA && has_relocs(w, s);
    uint64_t align = is_loaded(s) ? f->object->align[s] : s == OBJ_FRAME ? 8 : 1;
    uint32_t type = s == OBJ_FRAME ? f->elf->unwind : facts[s].type;
    w->part_header[s] = w->nheaders;
    Elf64_Shdr *h = add_header(w, relro ? ".data.rel.ro" : facts[s].name, type, align ? align : 1);
    h->sh_flags = facts[s].flags | (relro ? SHF_WRITE : 0);
    if (is_loaded(s) && f->options->address) h->sh_addr = f->options->address[s];
    add_bytes(w, h, &f->part[s].bytes);
}

static bool is_present(const obj_file *f, unsigned s) { return is_loaded(s) || f->part[s].bytes.n; }

static uint64_t reloc_info(const elf_writer *w, const obj_reloc *r) {
    return ELF64_R_INFO((uint64_t)w->part_header[r->section], r->type);
}

static void add_relocs(elf_writer *w, unsigned s, uint32_t symtab) {
    obj_part *p = &w->f->part[s];
    const char *name = facts[s].name;
    if (s == CG_RODATA) name = ".data.rel.ro";
    Elf64_Shdr *h = add_header(w, ir_sprintf(w->f->arena, ".rela%s", name), SHT_RELA, 8);
    h->sh_flags = SHF_INFO_LINK;
    h->sh_link = symtab;
    h->sh_info = w->part_header[s];
    h->sh_entsize = sizeof(Elf64_Rela);
    h->sh_size = p->relocs.n * sizeof(Elf64_Rela);
    foreach_in (const obj_reloc, r, p->relocs) {
        obj_u64(&w->out, r->at);
        obj_u64(&w->out, reloc_info(w, r));
        obj_u64(&w->out, (uint64_t)r->addend);
    }
}

/* -------------------------------------------------------------------------------------- symbols */

static void add_symbol(elf_writer *w, const char *name, unsigned info, unsigned section,
                       uint64_t value, uint64_t size) {
    obj_u32(&w->symbols, name ? (uint32_t)w->strings.n : 0);
    obj_u8(&w->symbols, info);
    obj_u8(&w->symbols, STV_DEFAULT);
    obj_u16(&w->symbols, section);
    obj_u64(&w->symbols, value);
    obj_u64(&w->symbols, size);
    if (name) obj_string(&w->strings, name);
}

/* Those of the parts come first, so that their numbers are those of the headers. */
static void add_section_symbols(elf_writer *w) {
    add_symbol(w, NULL, 0, SHN_UNDEF, 0, 0);
    for (unsigned s = 0; s < OBJ_SECTIONS; s++)
        if (is_present(w->f, s))
            add_symbol(w, NULL, ELF64_ST_INFO(STB_LOCAL, STT_SECTION), w->part_header[s], 0, 0);
}

/* Names that are not for the linker begin with .L, as everywhere. */
static bool is_hidden(const cg_symbol *s) { return strncmp(s->name, ".L", 2) == 0; }

static void add_symbols(elf_writer *w, bool exported) {
    const cg_object *o = w->f->object;
    foreach_in (const cg_symbol, s, o->symbols) {
        if (s->exported != exported || is_hidden(s)) continue;
        unsigned type = s->function ? STT_FUNC : STT_OBJECT;
        unsigned bind = exported ? STB_GLOBAL : STB_LOCAL;
        add_symbol(w, s->name, ELF64_ST_INFO(bind, type), w->part_header[s->section], s->at,
                   s->size);
    }
}

static void add_symbol_table(elf_writer *w) {
    obj_u8(&w->strings, 0);
    add_section_symbols(w);
    add_symbols(w, false);
    uint32_t nlocal = (uint32_t)(w->symbols.n / sizeof(Elf64_Sym));
    add_symbols(w, true);
    Elf64_Shdr *h = add_header(w, ".symtab", SHT_SYMTAB, 8);
    h->sh_link = w->nheaders; /* .strtab is next */
    h->sh_info = nlocal;
    h->sh_entsize = sizeof(Elf64_Sym);
    add_bytes(w, h, &w->symbols);
    add_bytes(w, add_header(w, ".strtab", SHT_STRTAB, 1), &w->strings);
}

/* ------------------------------------------------------------------------------------ the whole */

/* The headers of relocations name the symbol table, which comes after them and one more. */
static void add_all_relocs(elf_writer *w) {
    uint32_t symtab = w->nheaders + 1;
    for (unsigned s = 0; s < OBJ_SECTIONS; s++) symtab += has_relocs(w, s);
    for (unsigned s = 0; s < OBJ_SECTIONS; s++)
        if (has_relocs(w, s)) add_relocs(w, s, symtab);
}

static void add_names(elf_writer *w) {
    Elf64_Shdr *h = add_header(w, ".shstrtab", SHT_STRTAB, 1);
    add_bytes(w, h, &w->names);
}

static void finish_file(elf_writer *w) {
    obj_align(&w->out, 8, 0);
    Elf64_Ehdr e = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_REL,
        .e_machine = w->f->elf->machine,
        .e_version = EV_CURRENT,
        .e_shoff = w->out.n,
        .e_ehsize = sizeof(Elf64_Ehdr),
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = (uint16_t)w->nheaders,
        .e_shstrndx = (uint16_t)(w->nheaders - 1)};
    memcpy(w->out.data, &e, sizeof e);
    ir_putn(&w->out, (const char *)w->header, w->nheaders * sizeof *w->header);
}

static void write_file(elf_writer *w) {
    obj_file *f = w->f;
    static const char header[sizeof(Elf64_Ehdr)];
    ir_putn(&w->out, header, sizeof header);
    add_header(w, "", SHT_NULL, 1);
    w->header[0] = (Elf64_Shdr){0};
    for (unsigned s = 0; s < OBJ_SECTIONS; s++)
        if (is_present(f, s)) add_part(w, s);
    add_all_relocs(w);
    add_header(w, ".note.GNU-stack", SHT_PROGBITS, 1);
    add_symbol_table(w);
    add_names(w);
    finish_file(w);
}

void cg_write_object(const cg_object *o, const cg_file_options *options, ir_arena *out,
                     uint8_t **bytes, size_t *size) {
    obj_file f = {.object = o, .options = options, .elf = options->elf, .arena = out};
    elf_writer w = {.f = &f};
    w.out.arena = w.names.arena = w.strings.arena = w.symbols.arena = out;
    for (int s = 0; s < OBJ_SECTIONS; s++) f.part[s].bytes.arena = out;
    take_sections(&f);
    obj_write_frames(&f);
    if (options->lines) obj_write_lines(&f);
    write_file(&w);
    *bytes = (uint8_t *)w.out.data;
    *size = w.out.n;
}
