/* recognize.c — what a file is, by its bytes, and the kernels of code that is no SPIR-V.
 *
 * PTX names kernels as `.entry NAME`.  A cubin is an ELF file with a section `.text.NAME` for each.
 * An object of spvf_module_emit has, for a kernel NAME, the functions NAME and NAME.block.
 */
#include "runtime/container/container.h"
#include "runtime/container/elf.h"

#include <ctype.h>

static bool list_cubin(const elf_file *f, rt_name_body *each, void *user) {
    static const char prefix[] = ".text.";
    elf_section names, s;
    if (!elf_section_of(f, f->head.names, &names)) return false;
    for (uint32_t n = 0; n < f->head.sections; n++) {
        const char *name = elf_section_of(f, n, &s) ? elf_text(f, &names, s.name) : NULL;
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
    if (!elf_part(f, table->offset, table->size) || !elf_section_of(f, table->link, &strings))
        return false;
    for (uint64_t k = 0; elf_record(f, table, k, &s, sizeof s); k++) {
        const char *name = elf_text(f, &strings, s.name);
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
        if (!elf_section_of(f, n, &s)) return false;
        if (s.type == ELF_SYMBOL_TABLE) return list_functions(f, &s, each, user);
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
    const elf_file f = elf_open(bytes, size);
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
    const elf_file f = elf_open(bytes, size);
    return format == RT_FORMAT_CUBIN ? list_cubin(&f, each, user) : list_object(&f, each, user);
}
