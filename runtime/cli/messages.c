/* messages.c — messages on standard error, and the sums of the times that they tell.
 *
 * On a terminal they have colours, and the line that they are about is printed below, with a
 * caret at its column, if the file can be read.  --color and the variable NO_COLOR decide
 * otherwise.  After an internal error follows the command that shows it again.
 */
#include "runtime/cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool cli_has_colors(FILE *f) {
    const char *when = cli_get("--color"), *no = getenv("NO_COLOR"), *term = getenv("TERM");
    if (when && strcmp(when, "auto") != 0) return strcmp(when, "always") == 0;
    return !(no && *no) && !(term && strcmp(term, "dumb") == 0) && isatty(fileno(f));
}

/* --------------------------------------------------------------------------------- the message */

static const struct {
    const char *word, *color;
} severities[] = {[SPVF_NOTE] = {": note: ", "\033[1;36m"},
                  [SPVF_WARNING] = {": warning: ", "\033[1;35m"},
                  [SPVF_ERROR] = {": error: ", "\033[1;31m"}};

/* The place in bold, then the severity in its colour. */
static void print_colored(const spvf_message *m) {
    const char *word = severities[m->severity].word, *at = strstr(m->formatted, word);
    const char *begin = m->formatted;
    int place = at ? (int)(at - begin) + 2 : 0;
    if (!at && strncmp(begin, word + 2, strlen(word + 2)) == 0) at = begin - 2;
    if (!at) {
        fprintf(stderr, "%s\n", begin);
        return;
    }
    size_t length = strlen(word) - 3;
    fprintf(stderr, "\033[1m%.*s%s%.*s\033[0m%s\n", place, begin, severities[m->severity].color,
            (int)length, at + 2, at + 2 + length);
}

/* Reads the line of the file; false: there is none, or it is no text. */
static bool read_line(const char *path, unsigned line, char *to, size_t size) {
    FILE *f = path && line && strcmp(path, "-") != 0 ? fopen(path, "r") : NULL;
    bool found = f != NULL;
    for (unsigned n = 0; found && n < line; n++) found = fgets(to, (int)size, f) != NULL;
    if (f) fclose(f);
    if (found) to[strcspn(to, "\r\n")] = 0;
    return found;
}

/* A tab under a tab, and nothing under the later bytes of a character. */
static void print_caret(const char *line, unsigned column) {
    for (unsigned n = 0; n + 1 < column && line[n]; n++)
        if ((line[n] & 0xc0) != 0x80) putc(line[n] == '\t' ? '\t' : ' ', stderr);
    fputs("\033[1;32m^\033[0m\n", stderr);
}

static void print_place(const spvf_message *m) {
    char line[256];
    bool own = m->line != 0;
    unsigned number = own ? m->line : m->source_line;
    if (!read_line(own ? m->file : m->source_file, number, line, sizeof line)) return;
    fprintf(stderr, "%5u | %s\n", number, line);
    if (!own || !m->column) return;
    fputs("      | ", stderr);
    print_caret(line, m->column);
}

/* ---------------------------------------------------------------------------------------- bugs */

/* An argument as a shell reads it. */
static void print_argument(FILE *f, const char *s) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789,-_./=:+@%";
    if (*s && !s[strspn(s, plain)]) {
        fputs(s, f);
        return;
    }
    putc('\'', f);
    for (; *s; s++)
        if (*s == '\'')
            fputs("'\\''", f);
        else
            putc(*s, f);
    putc('\'', f);
}

/* Compiling is deterministic: the same command has the same bug, and can show the code before it.
 * Where compiled kernels may have come from the cache, stages have other numbers the next time. */
static void print_how_to_repeat(FILE *f, const spvf_fault *fault) {
    bool counts = fault->number > 1 && !cli_takes("-d");
    fputs("spvfuse: this shows it again, after the code before it:", f);
    for (char *const *a = cli_arguments(); *a; a++) {
        putc(' ', f);
        print_argument(f, *a);
    }
    if (cli_takes("--dump-after") && counts)
        fprintf(f, " --dump-after %llu", (unsigned long long)fault->number - 1);
    else if (cli_takes("--dump-after"))
        fputs(" --dump-after '*'", f);
    putc('\n', f);
}

/* --------------------------------------------------------------------------------------- times */

/* Passes run several times, and stages for each function: sums by what a note calls them. */
static struct {
    char name[32];
    unsigned long long ns;
    unsigned runs;
} times[128];
static unsigned time_count;

/* "WHAT: N ns" or "WHERE: WHAT: N ns". */
static void add_time(const char *text) {
    const char *number = strstr(text, " ns");
    while (number && number > text && number[-1] >= '0' && number[-1] <= '9') number--;
    if (!number || number - text < 3 || strncmp(number - 2, ": ", 2) != 0) return;
    const char *end = number - 2, *name = end;
    while (name > text && name[-1] != ' ') name--;
    unsigned k = 0;
    int length = (int)(end - name);
    while (k < time_count &&
           (strncmp(times[k].name, name, (size_t)length) || times[k].name[length]))
        k++;
    if (k == sizeof times / sizeof *times || length >= (int)sizeof times->name) return;
    if (k == time_count)
        snprintf(times[time_count++].name, sizeof times->name, "%.*s", length, name);
    times[k].ns += strtoull(number, NULL, 10);
    times[k].runs++;
}

static int by_time(const void *a, const void *b) {
    unsigned long long x = ((const unsigned long long *)a)[0],
                       y = ((const unsigned long long *)b)[0];
    return x < y ? 1 : x > y ? -1 : 0;
}

void cli_print_times(FILE *f) {
    struct {
        unsigned long long ns;
        unsigned k;
    } order[sizeof times / sizeof *times];
    unsigned long long sum = 0;
    if (!cli_has("--time")) return;
    for (unsigned k = 0; k < time_count; k++) {
        order[k].ns = times[k].ns;
        order[k].k = k;
        sum += times[k].ns;
    }
    qsort(order, time_count, sizeof *order, by_time);
    for (unsigned n = 0; n < time_count; n++)
        fprintf(f, "%-20s%10.3f ms%6.1f %%%6u run%s\n", times[order[n].k].name,
                (double)order[n].ns / 1e6, sum ? 100.0 * (double)order[n].ns / (double)sum : 0,
                times[order[n].k].runs, times[order[n].k].runs == 1 ? "" : "s");
    fprintf(f, "%-20s%10.3f ms\n", "all", (double)sum / 1e6);
}

/* --------------------------------------------------------------------------------------- entry */

void cli_print_message(void *user, const spvf_message *m) {
    (void)user;
    bool noted =
        cli_has("-v") || cli_has("--time") || cli_has("--trace-rules") || cli_has("--stats");
    if (m->severity == SPVF_NOTE && cli_has("--time")) add_time(m->text);
    if (m->severity == SPVF_NOTE && !noted) return;
    cli_clear_progress();
    bool colored = cli_has_colors(stderr);
    if (colored)
        print_colored(m);
    else
        fprintf(stderr, "%s\n", m->formatted);
    if (colored && m->severity != SPVF_NOTE) print_place(m);
    if (m->fault) print_how_to_repeat(stderr, m->fault);
}
