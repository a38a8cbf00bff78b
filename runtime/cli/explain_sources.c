/* explain_sources.c — the source files that a page of `spvfuse explain --html` shows.
 *
 * A module names the files it was made from, and a page is passed on.  So that no module has a
 * file of the reader's machine put into a page, a file is shown only if its name is that of a
 * source, and if it lies in the folder of the plan or of one of its modules, or below; links are
 * followed before that is decided.  It is looked for by the name that the module has, then by that
 * name from these folders, and at last there by the last part of the name.
 */
#define _XOPEN_SOURCE 700 /* realpath */
#include "runtime/cli/explain.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILES = 64, MOST_FOLDERS = 16, PATH = 4096, MOST_SOURCE = 1 << 20 };

typedef struct {
    const char *names[MOST_FILES];
    size_t count;
    char *folders[MOST_FOLDERS]; /* without links, to be freed */
    size_t folder_count;
} sources;

/* -------------------------------------------------------------------------------------- folders */

static void add_folder_of(sources *s, const char *path) {
    char folder[PATH];
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path + 1) : 0;
    if (length >= PATH || s->folder_count == MOST_FOLDERS) return;
    snprintf(folder, sizeof folder, "%.*s", length, path);
    char *real = realpath(length ? folder : ".", NULL);
    for (size_t k = 0; real && k < s->folder_count; k++)
        if (strcmp(s->folders[k], real) == 0) {
            free(real);
            return;
        }
    if (real) s->folders[s->folder_count++] = real;
}

/* What the plan names is relative to its own folder. */
static void add_folders(sources *s, const cli_explained *all) {
    const char *slash = strrchr(all->file, '/'), *module;
    int length = slash ? (int)(slash - all->file + 1) : 0;
    add_folder_of(s, all->file);
    for (size_t k = 0; (module = spvf_plan_module_file(all->plan, k)) != NULL; k++) {
        char path[PATH];
        int n =
            snprintf(path, sizeof path, "%.*s%s", module[0] == '/' ? 0 : length, all->file, module);
        if (n < PATH) add_folder_of(s, path);
    }
}

/* Is it in one of the folders, or below? */
static bool is_inside(const sources *s, const char *real) {
    for (size_t k = 0; k < s->folder_count; k++) {
        size_t n = strlen(s->folders[k]);
        n -= n == 1; /* the root ends with the slash that is looked for */
        if (strncmp(real, s->folders[k], n) == 0 && real[n] == '/') return true;
    }
    return false;
}

/* ---------------------------------------------------------------------------------------- files */

static void add_file(sources *l, const char *name) {
    for (size_t k = 0; k < l->count; k++)
        if (strcmp(l->names[k], name) == 0) return;
    if (l->count < MOST_FILES) l->names[l->count++] = name;
}

static void add_dependence(sources *l, const spvf_dependence *d) {
    if (d->first && d->first->source_file) add_file(l, d->first->source_file);
    if (d->second && d->second->source_file) add_file(l, d->second->source_file);
}

static void add_files(sources *l, const spvf_explanation *e) {
    for (size_t k = 0; k < e->decision_count; k++) add_dependence(l, &e->decisions[k]->why);
    for (size_t k = 0; k < e->gap_count; k++) add_dependence(l, &e->gaps[k]->why);
    for (size_t k = 0; k < e->code_count; k++)
        for (size_t n = 0; n < e->codes[k]->loop_count; n++)
            if (e->codes[k]->loops[n]->source_file) add_file(l, e->codes[k]->loops[n]->source_file);
}

static bool is_source(const char *name) {
    static const char *const endings[] = {".cl",  ".clcpp", ".clc", ".c",   ".cc", ".cpp",
                                          ".cxx", ".h",     ".hpp", ".hip", ".cu", ".sycl"};
    const char *dot = strrchr(name, '.');
    for (size_t k = 0; dot && k < sizeof endings / sizeof *endings; k++)
        if (strcmp(dot, endings[k]) == 0) return true;
    return false;
}

/* Nothing waits for a writer here, as it would if the file were a pipe. */
static char *read_file(const char *real) {
    struct stat s;
    int fd = open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    FILE *f = fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode) ? fdopen(fd, "rb") : NULL;
    char *text = f ? malloc(MOST_SOURCE + 1) : NULL;
    if (text) text[fread(text, 1, MOST_SOURCE, f)] = 0;
    if (f)
        fclose(f);
    else if (fd >= 0)
        close(fd);
    return text;
}

/* NULL: there is none, or it is not to be shown. */
static char *read_text(const sources *s, const char *folder, const char *name) {
    char path[PATH];
    int n = snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", name);
    char *real = n < PATH ? realpath(path, NULL) : NULL;
    char *text = real && is_source(real) && is_inside(s, real) ? read_file(real) : NULL;
    free(real);
    return text;
}

static char *find_text(const sources *s, const char *name) {
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
    char *text = read_text(s, "", name);
    for (size_t k = 0; k < s->folder_count && !text; k++) text = read_text(s, s->folders[k], name);
    for (size_t k = 0; k < s->folder_count && !text; k++) text = read_text(s, s->folders[k], last);
    return text;
}

void cli_print_sources(FILE *f, const cli_explained *all) {
    sources s = {.count = 0};
    add_folders(&s, all);
    for (size_t k = 0; k < all->count; k++) {
        add_files(&s, all->parts[k].explanation);
        if (all->parts[k].cut) add_files(&s, all->parts[k].cut);
    }
    for (size_t k = 0; k < s.count; k++) {
        char *text = find_text(&s, s.names[k]);
        fputs(k ? ",{\"name\":" : "{\"name\":", f);
        json_put_string(f, s.names[k]);
        fputs(",\"text\":", f);
        json_put_string(f, text);
        putc('}', f);
        free(text);
    }
    for (size_t k = 0; k < s.folder_count; k++) free(s.folders[k]);
}
