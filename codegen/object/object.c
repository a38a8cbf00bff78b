/* object.c — an object as a linkable ELF file (System V ABI, ELF-64).
 *
 *   header · bytes of sections · relocations · symbols · strings · section headers
 *
 * All symbols of an object are its own, so each relocation names a section and a place in it: the
 * linker has nothing to look up, and a function calls an exported one directly, also in a shared
 * library.  (A program that uses exported data of such a library must be compiled with -fPIC: if
 * the linker copied the data to the program, the library would use another copy.)  Constants that
 * contain addresses are in .data.rel.ro, where they are relocated before they become read-only.
 *
 * A file for a debugger describes sections that are in memory already: they have addresses, and
 * their contents are not relocated.
 */
#include "codegen/object/object.h"

#include <elf.h>

/* The bytes and relocations of the object, as the first parts of the file. */
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

/* ---------------------------------------------------------------------------------------- sections
 *
 * The order of section headers: an empty one, the parts, relocations of those that have any,
 * .note.GNU-stack, .symtab, .strtab, .shstrtab.  The order of symbols: an empty one, the parts,
 * local ones, exported ones. */

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
} section_facts[OBJ_SECTIONS] = {
    [CG_TEXT] = {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR},
    [CG_RODATA] = {".rodata", SHT_PROGBITS, SHF_ALLOC},
    [CG_DATA] = {".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE},
    [OBJ_FRAME] = {".eh_frame", 0, SHF_ALLOC},
    [OBJ_INFO] = {".debug_info", SHT_PROGBITS, 0},
    [OBJ_ABBREV] = {".debug_abbrev", SHT_PROGBITS, 0},
    [OBJ_LINE] = {".debug_line", SHT_PROGBITS, 0},
};

/* A header for the bytes that are appended next. */
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
    uint32_t type = s == OBJ_FRAME ? f->elf->unwind : section_facts[s].type;
    w->part_header[s] = w->nheaders;
    Elf64_Shdr *h =
        add_header(w, relro ? ".data.rel.ro" : section_facts[s].name, type, align ? align : 1);
    h->sh_flags = section_facts[s].flags | (relro ? SHF_WRITE : 0);
    if (is_loaded(s) && f->options->address) h->sh_addr = f->options->address[s];
    add_bytes(w, h, &f->part[s].bytes);
}

static bool is_present(const obj_file *f, unsigned s) { return is_loaded(s) || f->part[s].bytes.n; }

static void add_relocs(elf_writer *w, unsigned s, uint32_t symtab) {
    obj_part *p = &w->f->part[s];
    const char *name = s == CG_RODATA ? ".data.rel.ro" : section_facts[s].name;
    Elf64_Shdr *h = add_header(w, ir_sprintf(w->f->arena, ".rela%s", name), SHT_RELA, 8);
    h->sh_flags = SHF_INFO_LINK;
    h->sh_link = symtab;
    h->sh_info = w->part_header[s];
    h->sh_entsize = sizeof(Elf64_Rela);
    h->sh_size = p->relocs.n * sizeof(Elf64_Rela);
    foreach_in (const obj_reloc, r, p->relocs) {
        obj_u64(&w->out, r->at);
        obj_u64(&w->out, ELF64_R_INFO((uint64_t)w->part_header[r->section], r->type));
        obj_u64(&w->out, (uint64_t)r->addend);
    }
}

/* -------------------------------------------------------------------------------------- symbols */

/* The name is filled in here. */
static void add_symbol(elf_writer *w, const char *name, Elf64_Sym s) {
    obj_u32(&w->symbols, name ? (uint32_t)w->strings.n : 0);
    obj_u8(&w->symbols, s.st_info);
    obj_u8(&w->symbols, s.st_other);
    obj_u16(&w->symbols, s.st_shndx);
    obj_u64(&w->symbols, s.st_value);
    obj_u64(&w->symbols, s.st_size);
    if (name) obj_string(&w->strings, name);
}

/* Symbols of sections come first, so that their numbers are those of the headers. */
static void add_section_symbols(elf_writer *w) {
    Elf64_Sym symbol = {.st_shndx = SHN_UNDEF};
    add_symbol(w, NULL, symbol);
    symbol.st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION);
    for (unsigned s = 0; s < OBJ_SECTIONS; s++) {
        if (!is_present(w->f, s)) continue;
        symbol.st_shndx = (Elf64_Section)w->part_header[s];
        add_symbol(w, NULL, symbol);
    }
}

/* Names that begin with .L are not for the linker, as in assembly. */
static bool is_hidden(const cg_symbol *s) { return strncmp(s->name, ".L", 2) == 0; }

static void add_symbols(elf_writer *w, bool exported) {
    const cg_object *o = w->f->object;
    foreach_in (const cg_symbol, s, o->symbols) {
        if (s->exported != exported || is_hidden(s)) continue;
        unsigned type = s->function ? STT_FUNC : STT_OBJECT;
        unsigned bind = exported ? STB_GLOBAL : STB_LOCAL;
        add_symbol(w, s->name,
                   (Elf64_Sym){.st_info = (unsigned char)ELF64_ST_INFO(bind, type),
                               .st_shndx = (Elf64_Section)w->part_header[s->section],
                               .st_value = s->at,
                               .st_size = s->size});
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

/* ------------------------------------------------------------------------------------- the file */

/* The headers of relocations name the symbol table, whose header is after theirs and one more. */
static void add_all_relocs(elf_writer *w) {
    uint32_t symtab = w->nheaders + 1;
    for (unsigned s = 0; s < OBJ_SECTIONS; s++) symtab += has_relocs(w, s);
    for (unsigned s = 0; s < OBJ_SECTIONS; s++)
        if (has_relocs(w, s)) add_relocs(w, s, symtab);
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
    Elf64_Shdr *names = add_header(w, ".shstrtab", SHT_STRTAB, 1);
    add_bytes(w, names, &w->names);
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
    if (options->lines) obj_write_info(&f);
    if (options->lines) obj_write_lines(&f);
    write_file(&w);
    *bytes = (uint8_t *)w.out.data;
    *size = w.out.n;
}
