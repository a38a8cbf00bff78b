/* explain_page.c — `spvfuse explain --html`: a page in one file, without network.
 *
 * The page is explain_page.html, which the build turns into an array (textarray.c); what it shows
 * is JSON in it, where the template has the word DATA.  All that comes from modules and plans is
 * in that JSON and nowhere else, without any "<", so it cannot end the element that holds it.  The
 * script of the page puts it into the document as text.
 *
 * Source files are those that modules name, next to the plan or where the command runs.  Modules
 * may name any file, and pages are passed on: only files whose names are those of sources are
 * shown.
 */
#include "runtime/cli/explain.h"

#include <stdlib.h>
#include <string.h>

extern const char cli_page_template[];

/* -------------------------------------------------------------------------------------- sources */

enum { MOST_FILES = 64, PATH = 4096, MOST_SOURCE = 1 << 20 };

typedef struct {
    const char *names[MOST_FILES];
    size_t count;
} file_list;

static void add_file(file_list *l, const char *name) {
    for (size_t k = 0; k < l->count; k++)
        if (strcmp(l->names[k], name) == 0) return;
    if (l->count < MOST_FILES) l->names[l->count++] = name;
}

static void add_dependence(file_list *l, const spvf_dependence *d) {
    if (d->first && d->first->source_file) add_file(l, d->first->source_file);
    if (d->second && d->second->source_file) add_file(l, d->second->source_file);
}

static void add_files(file_list *l, const spvf_explanation *e) {
    for (size_t k = 0; k < e->decision_count; k++) add_dependence(l, &e->decisions[k].why);
    for (size_t k = 0; k < e->gap_count; k++) add_dependence(l, &e->gaps[k].why);
    for (size_t k = 0; k < e->code_count; k++)
        for (size_t n = 0; n < e->codes[k].loop_count; n++)
            if (e->codes[k].loops[n].source_file) add_file(l, e->codes[k].loops[n].source_file);
}

static bool is_source(const char *name) {
    static const char *const endings[] = {".cl",  ".clcpp", ".clc", ".c",   ".cc", ".cpp",
                                          ".cxx", ".h",     ".hpp", ".hip", ".cu", ".sycl"};
    const char *dot = strrchr(name, '.');
    for (size_t k = 0; dot && k < sizeof endings / sizeof *endings; k++)
        if (strcmp(dot, endings[k]) == 0) return true;
    return false;
}

/* NULL: it cannot be read. */
static char *read_text(const char *path) {
    FILE *f = fopen(path, "rb");
    char *text = f ? malloc(MOST_SOURCE + 1) : NULL;
    if (text) text[fread(text, 1, MOST_SOURCE, f)] = 0;
    if (f) fclose(f);
    return text;
}

/* By its own path, in the plan's folder, or there by its last name. */
static char *read_source(const char *plan, const char *name) {
    char path[PATH];
    const char *slash = strrchr(plan, '/'), *last = strrchr(name, '/');
    int folder = slash ? (int)(slash - plan + 1) : 0;
    if (!is_source(name)) return NULL;
    char *text = read_text(name);
    snprintf(path, sizeof path, "%.*s%s", folder, plan, name);
    if (!text) text = read_text(path);
    snprintf(path, sizeof path, "%.*s%s", folder, plan, last ? last + 1 : name);
    return text ? text : read_text(path);
}

static void put_sources(FILE *f, const cli_explained *all) {
    file_list l = {.count = 0};
    for (size_t k = 0; k < all->count; k++) {
        add_files(&l, all->parts[k].explanation);
        if (all->parts[k].cut) add_files(&l, all->parts[k].cut);
    }
    for (size_t k = 0; k < l.count; k++) {
        char *text = read_source(all->file, l.names[k]);
        fputs(k ? ",{\"name\":" : "{\"name\":", f);
        json_put_string(f, l.names[k]);
        fputs(",\"text\":", f);
        json_put_string(f, text);
        putc('}', f);
        free(text);
    }
}

/* ----------------------------------------------------------------------------------------- data */

static void put_data(FILE *f, const cli_explained *all) {
    char *summary = spvf_explained_parts_summary(all->parts, all->count);
    fputs("{\"plan\":", f);
    json_put_string(f, all->file);
    fprintf(f, ",\"version\":\"%d.%d\",\"divided\":%s,\"summary\":", SPVF_VERSION_MAJOR,
            SPVF_VERSION_MINOR, all->divided ? "true" : "false");
    json_put_string(f, summary);
    free(summary);
    fputs(",\"groups\":[", f);
    for (size_t k = 0; k < all->count; k++) {
        if (k) putc(',', f);
        cli_print_json(f, all->parts[k].explanation);
    }
    fputs("],\"parts\":[", f);
    cli_print_parts(f, all);
    fputs("],\"sources\":[", f);
    put_sources(f, all);
    fputs("]}", f);
}

/* In JSON, "<" is in strings only, where it may be written by its number. */
static void put_without_markup(FILE *f, const char *json) {
    for (const char *s = json; *s; s++)
        if (*s == '<')
            fputs("\\u003c", f);
        else
            putc(*s, f);
}

void cli_print_page(FILE *f, const cli_explained *all) {
    const char *data = strstr(cli_page_template, "DATA");
    char *json = NULL;
    size_t size;
    FILE *to = open_memstream(&json, &size);
    if (to) put_data(to, all);
    if (!to || fclose(to) != 0) {
        free(json);
        fprintf(stderr, "spvfuse: out of memory\n");
        return;
    }
    fwrite(cli_page_template, 1, (size_t)(data - cli_page_template), f);
    put_without_markup(f, json);
    fputs(data + strlen("DATA"), f);
    free(json);
}
