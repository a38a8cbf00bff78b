/* reduce_parts.c — the parts of a text of the IR, and the text without some of them.
 *
 * The text is as the library prints it: a statement is a line that begins with two blanks, a
 * function begins with "func" or "kernel" and ends with the line "}".  A value that is left out
 * is replaced by the zero of its type, which the language allows with the type before it wherever
 * a value may be.
 */
#include "runtime/cli/reduce.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------- finding */

static bool begins(const char *s, const char *word) { return strncmp(s, word, strlen(word)) == 0; }

static size_t line_size(const char *s) {
    size_t n = strcspn(s, "\n");
    return n + (s[n] == '\n');
}

/* Of a function all lines. */
static size_t top_size(const char *s) {
    size_t n = line_size(s);
    if ((!begins(s, "func ") && !begins(s, "kernel ")) || n < 2 || s[n - 2] != '{') return n;
    while (s[n] && s[n] != '}') n += line_size(s + n);
    return n + (s[n] ? line_size(s + n) : 0);
}

/* The size of a name at "%", with quotes if it has them. */
static size_t name_size(const char *s) {
    size_t n = 1;
    if (s[n] == '"') {
        for (n++; s[n] && s[n] != '"'; n++) n += s[n] == '\\' && s[n + 1];
        return n + (s[n] == '"');
    }
    while (isalnum((unsigned char)s[n]) || (s[n] && strchr("_$.", s[n]))) n++;
    return n;
}

/* "  %NAME: TYPE = …" */
static bool read_value(const char *s, cli_part *p) {
    if (!begins(s, "  %")) return false;
    p->name = s + 2;
    p->name_size = name_size(p->name);
    const char *type = p->name + p->name_size, *end = strstr(type, " = ");
    if (!begins(type, ": ") || !end || end > s + line_size(s)) return false;
    p->type = type + 2;
    p->type_size = (size_t)(end - p->type);
    return true;
}

static bool is_terminator(const char *s) {
    static const char *const words[] = {"  br ", "  jmp ", "  ret", "  switch ", "  unreachable"};
    for (size_t n = 0; n < sizeof words / sizeof *words; n++)
        if (begins(s, words[n])) return true;
    return false;
}

static bool is_part(const char *s, cli_part_kind kind, cli_part *p) {
    bool value = read_value(s, p);
    switch (kind) {
    case CLI_PART_TOP: return *s != ' ' && *s != '\n' && !begins(s, "target");
    case CLI_PART_STATEMENT: return begins(s, "  ") && !value && !is_terminator(s) && s[2] != '%';
    case CLI_PART_VALUE: return value;
    default: return value && p->type_size == 2 && begins(p->type, "i1");
    }
}

static bool add_part(cli_parts *parts, const cli_part *p) {
    if (parts->n == parts->room) {
        size_t room = parts->room ? 2 * parts->room : 64;
        cli_part *list = realloc(parts->list, room * sizeof *list);
        if (!list) return false;
        parts->list = list;
        parts->room = room;
    }
    parts->list[parts->n++] = *p;
    return true;
}

cli_parts cli_find_parts(const char *text, cli_part_kind kind) {
    cli_parts parts = {.kind = kind};
    size_t function = 0;
    for (size_t at = 0; text[at];) {
        const char *s = text + at;
        cli_part p = {0};
        function += begins(s, "func ") || begins(s, "kernel ");
        size_t n = kind == CLI_PART_TOP ? top_size(s) : line_size(s);
        p.begin = at;
        p.end = at + n;
        p.function = function;
        if (is_part(s, kind, &p) && !add_part(&parts, &p)) break;
        at += n;
    }
    return parts;
}

void cli_free_parts(cli_parts *p) {
    free(p->list);
    *p = (cli_parts){0};
}

/* --------------------------------------------------------------------------------- leaving out */

/* By function, then by name. */
static int compare(const void *a, const void *b) {
    const cli_part *x = a, *y = b;
    if (x->function != y->function) return x->function < y->function ? -1 : 1;
    size_t n = x->name_size < y->name_size ? x->name_size : y->name_size;
    int order = memcmp(x->name, y->name, n);
    return order ? order : x->name_size < y->name_size ? -1 : x->name_size > y->name_size;
}

static void put_zero(FILE *f, const cli_part *p, bool is_true) {
    const char *type = p->type;
    bool vector = *type == 'v' && isdigit((unsigned char)type[1]);
    const char *of = type;
    if (vector)
        for (of++; isdigit((unsigned char)*of);) of++;
    const char *zero = *of == 'i' && of[1] == '1' && !isdigit((unsigned char)of[2])
                           ? (is_true ? "true" : "false")
                       : *of == 'i' && isdigit((unsigned char)of[1]) ? "0"
                       : *of == 'f' || *of == 'b'                    ? "0.0"
                                                                     : "null";
    fprintf(f, vector ? "%.*s splat(%s)" : "%.*s %s", (int)p->type_size, type, zero);
}

typedef struct {
    const cli_part *list; /* sorted */
    size_t n;
    bool is_true;
} replacing;

/* A line, with zeros for the values that are left out; strings stay as they are. */
static void put_line(FILE *f, const char *s, size_t size, size_t function, const replacing *r) {
    for (const char *end = s + size; s < end;) {
        cli_part key = {.function = function, .name = s};
        const cli_part *found = NULL;
        size_t n = 1;
        if (*s == '%') {
            key.name_size = n = name_size(s);
            found = bsearch(&key, r->list, r->n, sizeof key, compare);
        } else if (*s == '"') {
            n = name_size(s - 1) - 1;
        }
        if (found)
            put_zero(f, found, r->is_true);
        else
            fwrite(s, 1, n, f);
        s += n;
    }
}

/* The lines between the parts. */
static void put_rest(FILE *f, const char *text, const cli_part *out, size_t n, const replacing *r) {
    size_t function = 0, next = 0;
    for (size_t at = 0; text[at];) {
        if (next < n && out[next].begin == at) {
            if (!out[next].name) function = out[next].function;
            at = out[next++].end;
            continue;
        }
        size_t size = line_size(text + at);
        function += begins(text + at, "func ") || begins(text + at, "kernel ");
        put_line(f, text + at, size, function, r);
        at += size;
    }
}

char *cli_without_parts(const char *text, const cli_parts *p, size_t from, size_t many) {
    char *result = NULL;
    size_t size, n = p->n - from < many ? p->n - from : many;
    bool values = p->kind == CLI_PART_VALUE || p->kind == CLI_PART_CONDITION;
    cli_part *sorted = calloc(n + 1, sizeof *sorted);
    FILE *f = sorted ? open_memstream(&result, &size) : NULL;
    replacing r = {sorted, values ? n : 0, p->kind == CLI_PART_CONDITION};
    if (f) {
        memcpy(sorted, p->list + from, n * sizeof *sorted);
        if (values) qsort(sorted, n, sizeof *sorted, compare);
        put_rest(f, text, p->list + from, n, &r);
        fclose(f);
    }
    free(sorted);
    return result;
}
