/* explain_page.c — `spvfuse explain --html`: a page in one file, without network.
 *
 * The page is explain_page.html, which the build turns into an array (textarray.c); what it shows
 * is JSON in it, where the template has the word DATA.  All that comes from modules and plans is
 * in that JSON and nowhere else, without any "<", so it cannot end the element that holds it.  The
 * script of the page puts it into the document as text.
 */
#include "runtime/cli/explain.h"

#include <stdlib.h>
#include <string.h>

extern const char cli_page_template[];

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
    cli_print_sources(f, all);
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
