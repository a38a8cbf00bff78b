/* options.c — the options of this call: read by the command's table, asked for by name.
 *
 * An option is a row with one or two names: "-o, --output".  A value follows as the next word or
 * after "=".  Long names may be given with one dash, as earlier versions had them.  After "--"
 * all words are files.  A name that is not known is an error, which tells the nearest one that
 * is.
 */
#include "runtime/cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPTIONS = 64 };

/* The command and options of this call; it runs once per process. */
static const cli_command *running;
static struct {
    const cli_option *option;
    const char *value;
} given[MAX_OPTIONS];
static int ngiven;

const cli_option cli_common_options[] = {
    {"-v, --verbose", NULL, "show notes"},
    {"--color", "WHEN", "colours in messages, and the lines they are about: auto, always, never"},
    {"-h, --help", NULL, "show this"},
    {NULL, NULL, NULL}};

bool cli_next_name(const cli_option *o, const char **at, size_t *length) {
    const char *s = *at ? *at + *length : o->name;
    while (*s == ',' || *s == ' ') s++;
    *at = s;
    *length = strcspn(s, ",");
    return *length != 0;
}

/* --------------------------------------------------------------------------------- what is set */

/* Equal, or a long name with one dash. */
static bool is_name(const char *name, size_t length, const char *arg, size_t n) {
    if (length == n) return memcmp(name, arg, n) == 0;
    return n > 2 && arg[0] == '-' && arg[1] != '-' && length == n + 1 && name[0] == '-' &&
           memcmp(name + 1, arg, n) == 0;
}

static bool is_named(const cli_option *o, const char *arg, size_t n) {
    size_t length = 0;
    for (const char *name = NULL; cli_next_name(o, &name, &length);)
        if (is_name(name, length, arg, n)) return true;
    return false;
}

const char *cli_get(const char *name) {
    for (int i = ngiven; i-- > 0;)
        if (is_named(given[i].option, name, strlen(name))) return given[i].value;
    return NULL;
}

const char *cli_get_nth(const char *name, int n) {
    for (int i = 0; i < ngiven; i++)
        if (is_named(given[i].option, name, strlen(name)) && n-- == 0) return given[i].value;
    return NULL;
}

/* --------------------------------------------------------------------------------- suggestions */

/* How many letters have to be put in, left out, replaced, or exchanged with the next one: the
 * optimal string alignment of Damerau and Levenshtein. */
static unsigned distance(const char *a, const char *b) {
    enum { MOST = 32 };
    unsigned d[MOST + 1][MOST + 1];
    size_t n = strlen(a), m = strlen(b);
    if (n > MOST || m > MOST) return MOST;
    for (unsigned i = 0; i <= n; i++) d[i][0] = i;
    for (unsigned j = 0; j <= m; j++) d[0][j] = j;
    for (unsigned i = 1; i <= n; i++)
        for (unsigned j = 1; j <= m; j++) {
            unsigned best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && d[i - 2][j - 2] + 1 < best) best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[n][m];
}

void cli_suggest(cli_suggestion *s, const char *name) {
    if (!name) return;
    size_t length = strlen(s->given);
    bool begins = length > 2 && strncmp(s->given, name, length) == 0;
    unsigned d = begins ? 1 : distance(s->given, name);
    if (length < 4 && !begins) return; /* short words are all near to each other */
    if (d > (length < 6 ? 1 : 2) || (s->nearest && d >= s->distance)) return;
    s->nearest = name;
    s->distance = d;
}

static bool wrong(const cli_command *c, const char *what, const char *which) {
    fprintf(stderr, "spvfuse %s: %s '%s'; see 'spvfuse %s --help'\n", c->name, what, which,
            c->name);
    return false;
}

static bool suggest_option(const cli_command *c, const char *arg) {
    char names[2 * MAX_OPTIONS][32], name[32];
    unsigned n = 0;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(arg, "="), arg);
    cli_suggestion s = {.given = name};
    for (int list = 0; list < 2; list++)
        for (const cli_option *o = list ? cli_common_options : c->options; o->name; o++) {
            size_t length = 0;
            for (const char *at = NULL; cli_next_name(o, &at, &length) && n < 2 * MAX_OPTIONS;) {
                snprintf(names[n], sizeof *names, "%.*s", (int)length, at);
                cli_suggest(&s, names[n++]);
            }
        }
    if (!s.nearest) return wrong(c, "unknown option", arg);
    fprintf(stderr, "spvfuse %s: unknown option '%s'; did you mean '%s'?\n", c->name, name,
            s.nearest);
    return false;
}

/* ------------------------------------------------------------------------------------- reading */

static const cli_option *find_in(const cli_option *list, const char *arg, size_t n) {
    for (const cli_option *o = list; o->name; o++)
        if (is_named(o, arg, n)) return o;
    return NULL;
}

static const cli_option *find_option(const cli_command *c, const char *arg, size_t n) {
    const cli_option *o = find_in(c->options, arg, n);
    return o ? o : find_in(cli_common_options, arg, n);
}

bool cli_takes(const char *name) { return running && find_option(running, name, strlen(name)); }

static bool is_number(const char *s) {
    errno = 0;
    if (!*s || strspn(s, "0123456789") != strlen(s)) return false;
    strtoull(s, NULL, 10);
    return errno == 0;
}

/* What is wrong with the value, or NULL. */
static const char *fault_of(const cli_option *o, const char *value) {
    if (strcmp(o->value, "N") == 0 && !is_number(value)) return "not a number:";
    if (strcmp(o->value, "WHEN") != 0) return NULL;
    bool known = !strcmp(value, "auto") || !strcmp(value, "always") || !strcmp(value, "never");
    return known ? NULL : "neither auto, always nor never:";
}

/* Takes one option, and its value from "=VALUE" or the next argument. */
static bool take_option(const cli_command *c, char **argv, int *i) {
    const char *arg = argv[*i], *equals = strchr(arg, '=');
    const cli_option *o = find_option(c, arg, equals ? (size_t)(equals - arg) : strlen(arg));
    if (!o) return suggest_option(c, arg);
    if (!o->value && equals) return wrong(c, "no value is taken by", o->name);
    if (ngiven == MAX_OPTIONS) return wrong(c, "too many options at", arg);
    const char *value = !o->value ? "" : equals ? equals + 1 : argv[++*i];
    if (!value) return wrong(c, "a value is missing after", o->name);
    const char *fault = o->value ? fault_of(o, value) : NULL;
    if (fault) return wrong(c, fault, value);
    if (o->value && !cli_check_value(c, o, value)) return false;
    given[ngiven].option = o;
    given[ngiven++].value = value;
    return true;
}

int cli_read_arguments(const cli_command *c, char **argv, const char **files) {
    int n = 0;
    bool only_files = false;
    running = c;
    for (int i = 0; argv[i]; i++) {
        bool ok = true;
        if (!only_files && strcmp(argv[i], "--") == 0)
            only_files = true;
        else if (!only_files && argv[i][0] == '-' && argv[i][1])
            ok = take_option(c, argv, &i);
        else if (n < c->nfiles || c->many)
            files[n++] = argv[i];
        else
            ok = wrong(c, "one argument too many", argv[i]);
        if (!ok) return -1;
        if (!argv[i]) break;
    }
    return n;
}

uint64_t cli_number(const char *name) {
    const char *value = cli_get(name);
    return value ? strtoull(value, NULL, 10) : 0;
}

static const char *read_sizes(const char *s, uint64_t out[3], uint32_t *n) {
    for (*n = 0; *n < 3 && *s >= '0' && *s <= '9';) {
        char *end;
        errno = 0;
        out[*n] = strtoull(s, &end, 10);
        if (errno || !out[(*n)++]) return "?"; /* 0, or more than 64 bits */
        s = *end == ',' ? end + 1 : end;
    }
    return s;
}

bool cli_range(const char *text, spvf_range *r) {
    uint32_t locals = 0;
    *r = (spvf_range){0};
    const char *s = read_sizes(text, r->global, &r->dims);
    bool has_local = *s == '/';
    if (has_local) s = read_sizes(s + 1, r->local, &locals);
    return !*s && r->dims && locals == (has_local ? r->dims : 0);
}
