/* kinds.c — what a file is that is given as a module or plan by mistake, by its first bytes or
 * words.
 *
 * Containers and the text of the IR are not looked for: the caller has, or will.  Text counts as
 * that of another language only if a line begins with words that no text of the IR has.
 */
#include "runtime/api/runtime.h"

#include <ctype.h>

/* How a file begins, what that is, and what to do. */
static const struct {
    const char *begin;
    size_t size;
    const char *name, *advice;
} magics[] = {
    {"\x7f"
     "ELF",
     4, "an ELF object file", "give the SPIR-V that it was made of"},
    {"BC\xc0\xde", 4, "LLVM bitcode", "run llvm-spirv"},
    {"\xde\xc0\x17\x0b", 4, "LLVM bitcode", "run llvm-spirv"},
    {"!<arch>\n", 8, "an archive of object files", "give the SPIR-V that they were made of"},
    {"MZ", 2, "a program or library of Windows", NULL},
    {"\xcf\xfa\xed\xfe", 4, "a Mach-O object file", "give the SPIR-V that it was made of"},
    {"\x50\xed\x55\xba", 4, "a fat binary of CUDA", "give the SPIR-V that it was made of"},
    {"\x1f\x8b", 2, "compressed by gzip", "run gunzip"},
    {"\xfd"
     "7zXZ",
     5, "compressed by xz", "run unxz"},
    {"\x28\xb5\x2f\xfd", 4, "compressed by zstd", "run unzstd"},
    {"BZh", 3, "compressed by bzip2", "run bunzip2"},
    {"%PDF", 4, "a PDF document", NULL},
    {"\x89PNG", 4, "a picture (PNG)", NULL},
    {"\xff\xd8\xff", 3, "a picture (JPEG)", NULL},
    {"#!", 2, "a script", NULL},
    {"PK\x03\x04", 4, "a zip archive", NULL},
    {"\xff\xfe", 2, "text in UTF-16", NULL},
    {"\xfe\xff", 2, "text in UTF-16", NULL},
    {"BUNDLE", 6, "a bundle of clang-offload-bundler", "run clang-offload-bundler -unbundle"},
    {"__CLANG_OFFLOAD_BUNDLE__", 24, "a bundle of clang-offload-bundler",
     "run clang-offload-bundler -unbundle"},
};

static const char opencl_c[] = "name it .cl, or set opencl_c of spvf_module_options";
#define LIKE_C "C or a language like it", "OpenCL C is compiled if its name ends in .cl"

/* How a line begins. */
static const struct {
    const char *begin, *name, *advice;
} words[] = {
    {"OpCapability ", "text of SPIR-V assembly", "run spirv-as"},
    {"; SPIR-V", "text of SPIR-V assembly", "run spirv-as"},
    {"; ModuleID = ", "text of LLVM IR", "run llvm-as and llvm-spirv"},
    {"target triple = ", "text of LLVM IR", "run llvm-as and llvm-spirv"},
    {"source_filename = ", "text of LLVM IR", "run llvm-as and llvm-spirv"},
    {".version ", "text of PTX", "give the SPIR-V that it was made of"},
    {"kernel void ", "OpenCL C", opencl_c},
    {"__kernel ", "OpenCL C", opencl_c},
    {"#include ", LIKE_C},
    {"#define ", LIKE_C},
    {"#pragma ", LIKE_C},
    {"int ", LIKE_C},
    {"void ", LIKE_C},
    {"static ", LIKE_C},
    {"typedef ", LIKE_C},
    {"extern ", LIKE_C},
    {"namespace ", LIKE_C},
    {"template", LIKE_C},
    {"__global__ ", "CUDA C or HIP", NULL},
    {"buffer ", "a plan", "run, explain and fuse take plans"},
    {"launch ", "a plan", "run, explain and fuse take plans"},
    {"fuse ", "a plan", "run, explain and fuse take plans"},
    {"scalar ", "a plan", "run, explain and fuse take plans"},
    {"expect ", "a plan", "run, explain and fuse take plans"},
    {"<!DOCTYPE ", "HTML", NULL},
    {"<html", "HTML", NULL},
};

enum { TAR = 262 };    /* bytes, of which the last ones say that it is one */
enum { FIRST = 4096 }; /* bytes are looked at, so that the time does not depend on the size */

typedef struct {
    const char *name, *advice; /* NULL: not known; nothing to be said */
} kind;

/* The line at the begin, blanks apart. */
static kind kind_of_line(const char *s, size_t n) {
    while (n && isblank((unsigned char)*s)) s++, n--;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        size_t length = strlen(words[k].begin);
        if (n >= length && memcmp(s, words[k].begin, length) == 0)
            return (kind){words[k].name, words[k].advice};
    }
    return (kind){NULL, NULL};
}

/* Of the first lines. */
static kind kind_of_text(const char *s, size_t size) {
    size_t n = size < FIRST ? size : FIRST;
    for (size_t at = 0; at < n;) {
        const char *end = memchr(s + at, '\n', n - at);
        size_t length = end ? (size_t)(end - s) - at : n - at;
        kind found = kind_of_line(s + at, length);
        if (found.name) return found;
        at += length + 1;
    }
    return (kind){NULL, NULL};
}

/* Numbers below 256 have zeros in them, in any byte order; texts have none, and few other bytes
 * below blanks. */
static bool is_text(const char *s, size_t size) {
    for (size_t n = 0; n < size && n < FIRST; n++)
        if ((unsigned char)s[n] < ' ' && !memchr("\t\n\v\f\r", s[n], 5)) return false;
    return true;
}

static kind find_kind(const void *bytes, size_t size) {
    if (rt_is_spirv(bytes, size)) return (kind){"SPIR-V", NULL};
    for (size_t k = 0; k < sizeof magics / sizeof *magics; k++)
        if (size >= magics[k].size && memcmp(bytes, magics[k].begin, magics[k].size) == 0)
            return (kind){magics[k].name, magics[k].advice};
    if (size > TAR && memcmp((const char *)bytes + TAR - 5, "ustar", 5) == 0)
        return (kind){"a tar archive", "run tar -x"};
    if (!is_text(bytes, size))
        return (kind){"binary data", "SPIR-V begins with the number 0x07230203"};
    if (size && (*(const char *)bytes == '{' || *(const char *)bytes == '['))
        return (kind){"JSON", NULL};
    return kind_of_text(bytes, size);
}

void rt_refuse_other_kinds(spvf_context *context, const rt_source *source, const char *wanted) {
    kind found = find_kind(source->bytes, source->size);
    if (!found.name || strcmp(found.name, wanted) == 0) return;
    const char *advice = found.advice;
    /* Something of the wanted kind may be in it. */
    bool packed = strncmp(found.name, "compressed ", 11) == 0 || strstr(found.name, " archive");
    if (strcmp(wanted, "SPIR-V") != 0 && !packed)
        advice = found.advice || rt_is_spirv(source->bytes, source->size)
                     ? "info, opt and compile take modules"
                     : NULL;
    ir_report(&context->cx, (ir_message){.severity = IR_ERROR, .file = source->name},
              "this is %s, not %s%s%s", found.name, wanted, advice ? ": " : "",
              advice ? advice : "");
    ir_throw(&context->cx, IR_ERR_INPUT);
}
