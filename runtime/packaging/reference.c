/* reference.c — host tool: the reference of the library, made from the comments of its headers.
 *
 *   reference --html HEADER…       prints one page of HTML, which needs no other file
 *   reference --man DIR HEADER…    writes a page of section 3 for each function and each header
 *   reference --check HEADER…      fails, and says where, when a function has no comment of its
 *                                  own, or returns a status and its comment names none, or its
 *                                  first sentence, which is all that apropos shows, needs the
 *                                  declaration before it
 *
 * A header is read as comments, directives and declarations, up to the semicolon that ends each,
 * as far as our style of writing headers goes: it is no parser of C.  A comment belongs to a
 * declaration if no blank line is between them.  A comment that begins with dashes is the heading
 * of a section, and the rest of it, and comments of their own, are the section's text.
 */
#include "runtime/packaging/reference_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { HEADING, TEXT, FUNCTION, TYPE, MACRO } kind;

typedef struct {
    kind kind;
    char *name;    /* of a heading: its words; of a text: NULL */
    char *comment; /* without stars; or NULL */
    char *code;
    const char *header; /* its name, without folders */
    const char *path;
    int line;
} item;

enum { MOST = 2000 };
static item items[MOST];
static int nitems;

/* ---------------------------------------------------------------------------------------- text */

static char *read_file(const char *path) {
    FILE *f = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    if (!f || !text) {
        perror(path);
        exit(2);
    }
    size_t n = fread(text, 1, (1 << 20) - 1, f);
    text[n] = 0;
    fclose(f);
    return text;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* ------------------------------------------------------------------------------------- reading */

typedef struct {
    const char *path, *header;
    const char *text, *at;
    char *comment; /* that comes before what is next */
    const char *comment_end;
    int depth; /* of conditions of the preprocessor around the declarations */
} reader;

static item *add(reader *r, kind k, char *name, char *code, const char *at) {
    if (nitems == MOST) abort();
    items[nitems] = (item){.kind = k, .name = name, .comment = r->comment, .code = code};
    items[nitems].header = r->header;
    items[nitems].path = r->path;
    items[nitems].line = 1;
    for (const char *s = r->text; s < at; s++) items[nitems].line += *s == '\n';
    r->comment = NULL;
    return &items[nitems++];
}

/* A comment that nothing follows is text of the section, or its heading. */
static void flush_comment(reader *r) {
    char *s = r->comment;
    if (!s) return;
    bool heading = strncmp(s, "---", 3) == 0;
    s += strspn(s, "- ");
    size_t n = heading ? strcspn(s, "\n") : 0;
    if (heading) {
        char *rest = s + n + strspn(s + n, "\n");
        r->comment = *rest ? rest : NULL;
        add(r, HEADING, copy(s, n), NULL, r->comment_end);
    } else {
        add(r, TEXT, NULL, NULL, r->comment_end);
    }
    r->comment = NULL;
}

static void read_comment(reader *r) {
    const char *end = strstr(r->at, "*/") + 2;
    flush_comment(r);
    r->comment = strip_comment(r->at, (size_t)(end - r->at));
    r->comment_end = end;
    r->at = end;
    if (strncmp(r->comment, "---", 3) == 0) flush_comment(r);
}

/* A directive, with the lines that continue it; #define of a value or a macro is an item. */
static void read_directive(reader *r) {
    static const char define[] = "#define SPVF_";
    const char *end = r->at;
    do end += strcspn(end, "\n") + 1;
    while (end[-2] == '\\');
    const char *name = r->at + sizeof "#define " - 1;
    size_t length = 0;
    while (is_word(name[length])) length++;
    bool wanted = strncmp(r->at, define, sizeof define - 1) == 0 &&
                  !(length == 8 && memcmp(name, "SPVF_API", 8) == 0) && strchr(" (", name[length]);
    if (wanted) {
        add(r, MACRO, copy(name, length), copy(r->at, (size_t)(end - r->at) - 1), r->at);
    } else {
        flush_comment(r);
    }
    r->at = end - 1;
}

/* The end of a declaration: past its semicolon, and a comment on the same line. */
static const char *declaration_end(const char *s) {
    int depth = 0;
    for (; *s; s++) {
        if (strncmp(s, "/*", 2) == 0) s = strstr(s, "*/") + 1;
        depth += (*s == '{') - (*s == '}');
        if (*s == ';' && depth == 0) break;
    }
    if (*s) s++;
    size_t blank = strspn(s, " ");
    if (strncmp(s + blank, "/*", 2) == 0) s = strstr(s, "*/") + 2;
    return s;
}

/* The last word before `at`. */
static char *word_before(const char *begin, const char *at) {
    while (at > begin && !is_word(at[-1])) at--;
    const char *end = at;
    while (at > begin && is_word(at[-1])) at--;
    return copy(at, (size_t)(end - at));
}

static const char *name_end(const char *s, const char *end, bool function) {
    if (function) return strchr(s, '(');
    if (strncmp(s, "struct ", 7) == 0) return strchr(s, '{') ? strchr(s, '{') : end;
    while (end > s && *end != '}' && *end != '(') end--;
    return *end == '(' ? end : strchr(end, ';');
}

/* A struct that was named before it is defined: only the definition counts. */
static void forget_type(const char *name) {
    for (item *i = items; i < items + nitems; i++)
        if (i->kind == TYPE && strcmp(i->name, name) == 0)
            *i = (item){.kind = TEXT, .header = i->header, .path = i->path};
}

static void read_declaration(reader *r) {
    const char *end = declaration_end(r->at);
    bool function = strncmp(r->at, "SPVF_API", 8) == 0;
    const char *s = r->at + (function ? 9 : 0);
    char *code = copy(s, (size_t)(end - s));
    char *name = word_before(s, name_end(s, end, function));
    if (!function) forget_type(name);
    if (strncmp(name, "spvf_", 5) == 0 || strncmp(name, "cl_", 3) == 0)
        add(r, function ? FUNCTION : TYPE, name, code, s);
    r->comment = NULL;
    r->at = end;
}

static void read_header(const char *path) {
    const char *slash = strrchr(path, '/');
    reader r = {.path = path, .header = slash ? slash + 1 : path, .text = read_file(path)};
    r.at = r.text;
    while (*r.at) {
        size_t blank = strspn(r.at, " \t\n"), lines = 0;
        for (size_t k = 0; k < blank; k++) lines += r.at[k] == '\n';
        if (lines > 1) flush_comment(&r);
        r.at += blank;
        if (!*r.at) break;
        if (strncmp(r.at, "/*", 2) == 0)
            read_comment(&r);
        else if (*r.at == '#')
            read_directive(&r);
        else if (strncmp(r.at, "extern \"C\" {", 12) == 0 || *r.at == '}')
            r.at += strcspn(r.at, "\n");
        else
            read_declaration(&r);
    }
    flush_comment(&r);
}

/* ------------------------------------------------------------------------------------ checking */

/* The first sentence ends before a colon, too. */
static size_t summary_length(const char *s) {
    size_t n = 0;
    while (s[n] && !(strchr(".:;", s[n]) && (!s[n + 1] || strchr(" \n", s[n + 1])))) n++;
    return n;
}

static bool stands_alone(const char *comment) {
    static const char *const begins[] = {"The same", "It ",  "Its ", "SPVF_ERROR_", "NULL ",
                                         "Not ",     "For ", "In ",  "Whether it ", "Where it "};
    size_t words = 1, n = summary_length(comment);
    for (size_t k = 0; k < sizeof begins / sizeof *begins; k++)
        if (strncmp(comment, begins[k], strlen(begins[k])) == 0) return false;
    for (size_t k = 0; k < n; k++) words += comment[k] == ' ' || comment[k] == '\n';
    return words > 2;
}

static int check(void) {
    int bad = 0, functions = 0;
    for (const item *i = items; i < items + nitems; i++) {
        if (i->kind != FUNCTION) continue;
        bool status = strncmp(i->code, "spvf_status ", 12) == 0;
        bool names =
            i->comment && (strstr(i->comment, "SPVF_ERROR_") || strstr(i->comment, "Never fails"));
        const char *wrong = !i->comment        ? "has no comment of its own"
                            : status && !names ? "returns a status, and its comment names none"
                            : !stands_alone(i->comment)
                                ? "has a comment that does not say by itself what it does"
                                : NULL;
        functions++;
        if (!wrong) continue;
        printf("%s:%d: %s %s\n", i->path, i->line, i->name, wrong);
        bad++;
    }
    printf("%d passed, %d failed\n", functions - bad, bad);
    return bad || !functions;
}

/* ---------------------------------------------------------------------------------------- HTML */

/* The item that a word names: itself, or an enumerator in it. */
static const item *find(const char *word, size_t n) {
    char name[100];
    if (n >= sizeof name || (strncmp(word, "spvf_", 5) != 0 && strncmp(word, "SPVF_", 5) != 0))
        return NULL;
    snprintf(name, sizeof name, "%.*s", (int)n, word);
    for (const item *i = items; i < items + nitems; i++)
        if (i->kind >= FUNCTION && strcmp(i->name, name) == 0) return i;
    for (const item *i = items; i < items + nitems; i++) {
        const char *s = i->kind == TYPE && !islower((unsigned char)*word) ? i->code : "";
        while ((s = strstr(s, name)) && is_word(s[n])) s += n;
        if (s) return i;
    }
    return NULL;
}

static void put_escaped(char c) {
    switch (c) {
    case '<': fputs("&lt;", stdout); break;
    case '>': fputs("&gt;", stdout); break;
    case '&': fputs("&amp;", stdout); break;
    default: putchar(c);
    }
}

/* Text with a link for each name that the reference has, but for that of `self`. */
static void put_linked(const char *s, size_t size, const item *self) {
    const char *end = s + size;
    while (s < end) {
        size_t n = 0;
        while (s + n < end && is_word(s[n])) n++;
        const item *to = n ? find(s, n) : NULL;
        if (to && to != self)
            printf("<a href=\"#%s\">%.*s</a>", to->name, (int)n, s);
        else if (n)
            printf("%.*s", (int)n, s);
        else
            put_escaped(*s);
        s += n ? n : 1;
    }
}

static void put_html_text(const char *s, const item *self) {
    for (part p = next_part(s); p.n; p = next_part(p.next)) {
        const char *text = p.code ? shift_left(&p) : p.text;
        fputs(p.code ? "<pre>" : "<p>", stdout);
        put_linked(text, p.code ? strlen(text) : p.n, self);
        fputs(p.code ? "</pre>\n" : "</p>\n", stdout);
    }
}

static const char style[] =
    "<style>\n:root{color-scheme:light dark;--line:#8884;--back:#8881}\n"
    "body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;padding:1rem;max-width:62rem}\n"
    "pre{background:var(--back);padding:.6rem .8rem;overflow-x:auto;border-radius:.3rem;"
    "font-size:.85rem;line-height:1.4}\n"
    "h1,h2,h3{line-height:1.2}h2{border-top:2px solid var(--line);padding-top:1rem}\n"
    "h3{font-family:ui-monospace,monospace;margin:1.6rem 0 .4rem}\n"
    "nav h4{margin:1.2rem 0 .3rem}\n"
    "nav ul{columns:15rem;padding-left:1.1rem;font-size:.9rem;margin:0}\n"
    "a{text-decoration:none}a:hover,a:focus{text-decoration:underline}\n</style>\n";

static void put_contents(void) {
    const char *open = "";
    printf("<nav>\n");
    for (const item *i = items; i < items + nitems; i++) {
        if (i->kind == TEXT) continue;
        if (i->kind == HEADING || strcmp(open, i->header) != 0) {
            printf("%s<h4>%s%s%s</h4>\n<ul>\n", *open ? "</ul>\n" : "", i->header,
                   i->kind == HEADING ? ": " : "", i->kind == HEADING ? i->name : "");
            open = i->header;
        }
        if (i->kind != HEADING) printf("<li><a href=\"#%s\">%s</a></li>\n", i->name, i->name);
    }
    printf("</ul>\n</nav>\n");
}

static void put_html(const item *i) {
    if (i->kind == HEADING) printf("<h2>%s</h2>\n", i->name);
    if (i->kind >= FUNCTION) {
        printf("<h3 id=\"%s\">%s</h3>\n<pre>", i->name, i->name);
        put_linked(i->code, strlen(i->code), i);
        printf("</pre>\n");
    }
    if (i->comment) put_html_text(i->comment, i);
}

static int write_html(void) {
    const char *header = "";
    printf("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width\">\n"
           "<title>spvfuse: the library</title>\n%s</head>\n<body>\n"
           "<h1>spvfuse: the library</h1>\n",
           style);
    put_contents();
    for (const item *i = items; i < items + nitems; i++) {
        if (strcmp(header, i->header) != 0) printf("<h2>%s</h2>\n", header = i->header);
        put_html(i);
    }
    printf("</body>\n</html>\n");
    return 0;
}

/* ----------------------------------------------------------------------------------- man pages */

/* What troff does not take as it is, and how it is written. */
static const struct {
    const char *text, *roff;
} escapes[] = {{"\\", "\\e"}, {"-", "\\-"}, {"…", "..."}, {"—", "\\(em"}, {"→", "\\(->"}};

/* Text for troff; points and quotes mean something at the beginning of a line only. */
static void put_roff(FILE *f, const char *s, size_t n) {
    enum { ESCAPES = sizeof escapes / sizeof *escapes };
    for (size_t k = 0; k < n;) {
        unsigned e = 0;
        bool begins = k == 0 || s[k - 1] == '\n';
        if (begins && (s[k] == '.' || s[k] == '\'')) fputs("\\&", f);
        while (e < ESCAPES && strncmp(s + k, escapes[e].text, strlen(escapes[e].text)) != 0) e++;
        if (e < ESCAPES)
            fputs(escapes[e].roff, f);
        else
            putc(s[k], f);
        k += e < ESCAPES ? strlen(escapes[e].text) : 1;
    }
}

static void put_roff_code(FILE *f, const char *s, size_t n) {
    fputs(".PP\n.nf\n.RS 4\n", f);
    put_roff(f, s, n);
    fputs("\n.RE\n.fi\n", f);
}

static void put_roff_text(FILE *f, const char *s) {
    for (part p = next_part(s); p.n; p = next_part(p.next)) {
        if (p.code) {
            const char *text = shift_left(&p);
            put_roff_code(f, text, strlen(text));
        } else {
            fputs(".PP\n", f);
            put_roff(f, p.text, p.n);
            putc('\n', f);
        }
    }
}

/* The first sentence, on one line, for apropos. */
static void put_summary(FILE *f, const char *s) {
    size_t n = summary_length(s);
    char *line = copy(s, n);
    for (char *c = line; *c; c++)
        if (*c == '\n') *c = ' ';
    put_roff(f, line, n);
}

static FILE *open_page(const char *folder, const char *name, const char *version) {
    char path[1000];
    snprintf(path, sizeof path, "%s/%s.3", folder, name);
    FILE *f = fopen(path, "w");
    if (!f) {
        perror(path);
        exit(2);
    }
    fprintf(f, ".TH \"%s\" 3 \"\" \"spvfuse %s\" \"The library spvfuse\"\n.SH NAME\n%s \\- ", name,
            version, name);
    return f;
}

/* The types that a declaration names. */
static void put_types(FILE *f, const item *i) {
    bool first = true;
    for (const item *t = items; t < items + nitems; t++) {
        const char *s = t->kind == TYPE && strchr(t->code, '{') ? strstr(i->code, t->name) : NULL;
        while (s && is_word(s[strlen(t->name)])) s = strstr(s + 1, t->name);
        if (!s) continue;
        if (first) fputs(".SH TYPES\n", f);
        first = false;
        if (t->comment) put_roff_text(f, t->comment);
        put_roff_code(f, t->code, strlen(t->code));
    }
}

static void write_function(const char *folder, const item *i, const char *version) {
    FILE *f = open_page(folder, i->name, version);
    put_summary(f, i->comment ? i->comment : i->name);
    fprintf(f, "\n.SH SYNOPSIS\n.nf\n#include <%s>\n.sp\n", i->header);
    put_roff(f, i->code, strlen(i->code));
    fputs("\n.fi\n.SH DESCRIPTION\n", f);
    if (i->comment) put_roff_text(f, i->comment);
    put_types(f, i);
    fprintf(f, ".SH \"SEE ALSO\"\n.BR %s (3),\n.BR spvfuse (1)\n", i->header);
    fclose(f);
}

/* Ownership, threads and errors in general, and what there is. */
static void write_overview(const char *folder, const item *head, const char *version) {
    const char *text = head->comment, *dash = strstr(text, "— ");
    FILE *f = open_page(folder, head->header, version);
    put_summary(f, dash ? dash + strlen("— ") : text);
    fprintf(f, "\n.SH SYNOPSIS\n.nf\n#include <%s>\n.fi\n.SH DESCRIPTION\n", head->header);
    put_roff_text(f, text);
    for (const item *i = items; i < items + nitems; i++) {
        if (strcmp(i->header, head->header) != 0) continue;
        if (i->kind == HEADING) fprintf(f, ".SS %s\n", i->name);
        if (i->kind == HEADING && i->comment) put_roff_text(f, i->comment);
        if (i->kind != FUNCTION) continue;
        fprintf(f, ".TP\n.BR %s (3)\n", i->name);
        put_summary(f, i->comment ? i->comment : i->name);
        putc('\n', f);
    }
    fprintf(f, ".SH \"SEE ALSO\"\n.BR spvfuse (1)\n");
    fclose(f);
}

/* "0.1" */
static const char *version(void) {
    static char text[100];
    for (const item *i = items; i < items + nitems; i++) {
        if (i->kind != MACRO || strncmp(i->name, "SPVF_VERSION_M", 14) != 0) continue;
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s%d", n ? "." : "", atoi(strrchr(i->code, ' ')));
    }
    return text;
}

static int write_man(const char *folder) {
    const char *now = version();
    for (const item *i = items; i < items + nitems; i++) {
        if (i == items || strcmp(i[-1].header, i->header) != 0) write_overview(folder, i, now);
        if (i->kind == FUNCTION) write_function(folder, i, now);
    }
    return 0;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    int first = strcmp(what, "--man") == 0 ? 3 : 2;
    for (int n = first; n < argc; n++) read_header(argv[n]);
    if (argc <= first)
        return fputs("usage: reference --html|--man DIR|--check HEADER…\n", stderr), 2;
    if (strcmp(what, "--html") == 0) return write_html();
    if (strcmp(what, "--man") == 0) return write_man(argv[2]);
    return check();
}
