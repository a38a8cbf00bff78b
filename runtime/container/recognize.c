/* recognize.c — what a file is, by its bytes, and the kernels of code that is no SPIR-V.
 *
 * PTX names kernels as `.entry NAME`.  A cubin is an ELF file with a section `.text.NAME` for each.
 * An object of spvf_module_emit has, for a kernel NAME, the functions NAME and NAME.block.  Of ELF
 * files only those of 64 bits are read whose low byte comes first; every offset is checked.
 */
#include "runtime/container/container.h"

#include <ctype.h>

enum { ELF_CUDA = 190, ELF_SYMTAB = 2, ELF_FUNCTION = 2, ELF_CUDA_ABI_2 = 8 };

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

static_assert(sizeof(elf_header) == 64 && sizeof(elf_section) == 64 && sizeof(elf_symbol) == 24,
              "as the file has them");

typedef struct {
    const uint8_t *bytes;
    size_t size;
    elf_header head;
} elf_file;

static bool is_elf(const void *bytes, size_t size) {
    static const uint8_t ident[] = {0x7f, 'E', 'L', 'F', 2, 1};
    return size >= sizeof(elf_header) && memcmp(bytes, ident, sizeof ident) == 0;
}

static elf_file open_elf(const void *bytes, size_t size) {
    elf_file f = {.bytes = bytes, .size = size};
    memcpy(&f.head, bytes, sizeof f.head);
    return f;
}

/* n bytes at an offset, or NULL. */
static const void *part(const elf_file *f, uint64_t at, uint64_t n) {
    return at <= f->size && n <= f->size - at ? f->bytes + at : NULL;
}

static bool get_section(const elf_file *f, uint32_t n, elf_section *out) {
    const uint8_t *table =
        part(f, f->head.section_headers, (uint64_t)f->head.sections * sizeof *out);
    if (!table || n >= f->head.sections || f->head.section_size != sizeof *out) return false;
    memcpy(out, table + n * sizeof *out, sizeof *out);
    return true;
}

/* A text that ends within a section, or NULL. */
static const char *get_text(const elf_file *f, const elf_section *strings, uint32_t at) {
    const char *bytes = part(f, strings->offset, strings->size);
    if (!bytes || at >= strings->size) return NULL;
    return memchr(bytes + at, 0, strings->size - at) ? bytes + at : NULL;
}

static bool list_cubin(const elf_file *f, rt_name_body *each, void *user) {
    static const char prefix[] = ".text.";
    elf_section names, s;
    if (!get_section(f, f->head.names, &names)) return false;
    for (uint32_t n = 0; n < f->head.sections; n++) {
        const char *name = get_section(f, n, &s) ? get_text(f, &names, s.name) : NULL;
        if (!name) return false;
        if (strncmp(name, prefix, strlen(prefix)) == 0) each(user, name + strlen(prefix));
    }
    return true;
}

/* The functions of an object are in order: NAME.block comes before NAME. */
static bool list_functions(const elf_file *f, const elf_section *table, rt_name_body *each,
                           void *user) {
    elf_section strings;
    elf_symbol s;
    const char *block = NULL;
    const uint8_t *symbols = part(f, table->offset, table->size);
    if (!symbols || !get_section(f, table->link, &strings)) return false;
    for (uint64_t at = 0; table->size - at >= sizeof s; at += sizeof s) {
        memcpy(&s, symbols + at, sizeof s);
        const char *name = get_text(f, &strings, s.name);
        if (!name) return false;
        size_t n = strlen(name);
        if ((s.info & 15) != ELF_FUNCTION) continue;
        if (block && strncmp(block, name, n) == 0 && strcmp(block + n, ".block") == 0)
            each(user, name);
        block = name;
    }
    return true;
}

static bool list_object(const elf_file *f, rt_name_body *each, void *user) {
    elf_section s;
    for (uint32_t n = 0; n < f->head.sections; n++) {
        if (!get_section(f, n, &s)) return false;
        if (s.type == ELF_SYMTAB) return list_functions(f, &s, each, user);
    }
    return false;
}

/* ------------------------------------------------------------------------------------------ PTX */

typedef struct {
    const char *at, *end;
} text_range;

/* The next word that begins with a letter, digit, '.', '_', '$' or '%', outside of comments. */
static bool next_word(text_range *t, text_range *word) {
    const char *s = t->at;
    while (s < t->end && !isalnum((unsigned char)*s) && !strchr("._$%", *s)) {
        const char *line =
            *s == '/' && s + 1 < t->end && s[1] == '/' ? memchr(s, '\n', (size_t)(t->end - s)) : s;
        s = line ? line + 1 : t->end;
    }
    *word = (text_range){s, s};
    while (s < t->end && *s && (isalnum((unsigned char)*s) || strchr("._$%", *s))) s++;
    word->end = t->at = s;
    return word->end > word->at;
}

static bool is_word(const text_range *w, const char *text) {
    size_t n = (size_t)(w->end - w->at);
    return n == strlen(text) && memcmp(w->at, text, n) == 0;
}

/* The word after the first `key`. */
static bool find_after(text_range *t, const char *key, text_range *out) {
    text_range w;
    while (next_word(t, &w))
        if (is_word(&w, key)) return next_word(t, out);
    return false;
}

static bool list_ptx(const void *bytes, size_t size, rt_name_body *each, void *user) {
    text_range t = {bytes, (const char *)bytes + size}, name;
    while (find_after(&t, ".entry", &name)) {
        char text[1024];
        size_t n = (size_t)(name.end - name.at);
        if (n >= sizeof text) return false;
        memcpy(text, name.at, n);
        text[n] = 0;
        each(user, text);
    }
    return true;
}

/* ------------------------------------------------------------------------------------- any code */

static rt_recognized recognize_elf(const void *bytes, size_t size, ir_arena *a) {
    const elf_file f = open_elf(bytes, size);
    if (f.head.machine == ELF_CUDA) {
        bool second = f.head.ident[8] == ELF_CUDA_ABI_2;
        uint32_t sm = (second ? f.head.flags >> 8 : f.head.flags) & 0xff;
        return (rt_recognized){RT_FORMAT_CUBIN, ir_sprintf(a, "sm_%u", sm)};
    }
    for (unsigned n = 0; n < cg_machine_count; n++)
        if (cg_machines[n]->elf->machine == f.head.machine)
            return (rt_recognized){RT_FORMAT_OBJECT, cg_machines[n]->name};
    return (rt_recognized){RT_FORMATS, ""};
}

/* PTX begins with .version, after comments. */
static rt_recognized recognize_text(const void *bytes, size_t size, ir_arena *a) {
    text_range t = {bytes, (const char *)bytes + size}, w;
    if (!next_word(&t, &w) || !is_word(&w, ".version") || !find_after(&t, ".target", &w))
        return (rt_recognized){RT_FORMATS, ""};
    return (rt_recognized){RT_FORMAT_PTX, ir_strndup(a, w.at, (size_t)(w.end - w.at))};
}

rt_recognized rt_recognize(const void *bytes, size_t size, ir_arena *a) {
    static const uint8_t bitcode[] = {'B', 'C', 0xc0, 0xde};
    if (rt_is_spirv(bytes, size)) return (rt_recognized){RT_FORMAT_SPIRV, ""};
    if (is_elf(bytes, size)) return recognize_elf(bytes, size, a);
    if (size >= sizeof bitcode && memcmp(bytes, bitcode, sizeof bitcode) == 0)
        return (rt_recognized){RT_FORMAT_LLVM_IR, ""};
    return recognize_text(bytes, size, a);
}

bool rt_list_code_kernels(rt_format format, const void *bytes, size_t size, rt_name_body *each,
                          void *user) {
    if (format == RT_FORMAT_PTX) return list_ptx(bytes, size, each, user);
    if (format != RT_FORMAT_CUBIN && format != RT_FORMAT_OBJECT) return true;
    if (!is_elf(bytes, size)) return false;
    const elf_file f = open_elf(bytes, size);
    return format == RT_FORMAT_CUBIN ? list_cubin(&f, each, user) : list_object(&f, each, user);
}
