/* environment.c — reads the environment variables of environment.def, and finds values that are not
 * understood.
 *
 * A value that is not understood counts as not set, except that a FLAG is on unless it is 0, and
 * TEXT is judged by its reader.  A variable without a row is looked for among those that have one:
 * the nearest is named, by the number of letters to be inserted, removed or replaced
 * (Levenshtein's distance).
 */
#define _GNU_SOURCE /* secure_getenv, environ */
#include "runtime/system/environment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum { NUMBER, STATUS, COUNT, SIZE, FLAG, WORD, WORDS, VERSION, TEXT } kind;
enum { NEW, OLD };

typedef struct {
    const char *name, *old_name; /* old_name "": there was none */
    kind kind;
    const char *values;
} row;

static const row rows[] = {
#define VARIABLE(id, old, kind, values, doc)                                                       \
    {"SPVFUSE_" #id, (old) ? "SPVF_" #id : "", kind, values},
#include "runtime/system/environment.def"
#undef VARIABLE
};

const char *rt_environment(const char *name) { return secure_getenv(name); }

static const char *read_row(const row *r, const char **name) {
    const char *value = secure_getenv(*name = r->name);
    if ((!value || !*value) && *r->old_name) value = secure_getenv(*name = r->old_name);
    return value && *value ? value : NULL;
}

const char *rt_setting(rt_setting_id id) {
    const char *name;
    return read_row(&rows[id], &name);
}

/* --------------------------------------------------------------------------------------- values */

bool rt_setting_is_on(rt_setting_id id) {
    const char *value = rt_setting(id);
    return value && strcmp(value, "0") != 0;
}

/* Digits and nothing else up to *end. */
static bool read_number(const char *text, unsigned long long *n, char **end) {
    if (*text < '0' || *text > '9') return false;
    errno = 0;
    *n = strtoull(text, end, 10);
    return errno == 0;
}

static bool take_number(const char *text, unsigned long long least, unsigned long long *n) {
    char *end;
    return read_number(text, n, &end) && !*end && *n >= least;
}

/* Bytes, or as many times 2^10, 2^20, 2^30 with K, M, G after the number. */
static bool take_size(const char *text, unsigned long long *n) {
    static const char units[] = "KMG";
    char *end;
    if (!read_number(text, n, &end)) return false;
    const char *unit = *end ? strchr(units, *end) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    bool good = (!*end || (unit && !end[1])) && *n <= ~0ull >> shift;
    *n <<= shift;
    return good;
}

unsigned long long rt_setting_number(rt_setting_id id, unsigned long long otherwise) {
    const char *value = rt_setting(id);
    unsigned long long n;
    return value && take_number(value, rows[id].kind == NUMBER, &n) ? n : otherwise;
}

unsigned long long rt_setting_size(rt_setting_id id, unsigned long long otherwise) {
    const char *value = rt_setting(id);
    unsigned long long n;
    return value && take_size(value, &n) ? n : otherwise;
}

static const char separators[] = ", ";

/* The place of a word of so many characters in a list; -1: it is none of them. */
static int find_word(const char *list, const char *word, size_t length) {
    for (int n = 0; *list; n++) {
        size_t here = strcspn(list, separators);
        if (here == length && memcmp(list, word, length) == 0) return n;
        list += here;
        list += strspn(list, separators);
    }
    return -1;
}

int rt_setting_word(rt_setting_id id) {
    const char *value = rt_setting(id);
    return value ? find_word(rows[id].values, value, strlen(value)) : -1;
}

bool rt_setting_has(rt_setting_id id, const char *word) {
    const char *value = rt_setting(id);
    return value && find_word(value, word, strlen(word)) >= 0;
}

/* ------------------------------------------------------------------------------------- checking */

static bool are_words(const char *list, const char *value) {
    while (*value) {
        size_t n = strcspn(value, separators);
        if (n && find_word(list, value, n) < 0) return false;
        value += n;
        value += strspn(value, separators);
    }
    return true;
}

static bool is_understood(const row *r, const char *value) {
    unsigned long long n;
    switch (r->kind) {
    case NUMBER: return take_number(value, 1, &n);
    case STATUS: return take_number(value, 1, &n) && n <= 255;
    case COUNT: return take_number(value, 0, &n);
    case SIZE: return take_size(value, &n);
    case FLAG: return (*value == '0' || *value == '1') && !value[1];
    case WORD: return find_word(r->values, value, strlen(value)) >= 0;
    case WORDS: return are_words(r->values, value);
    case VERSION: return strspn(value, "0123456789.") == strlen(value) && strchr(value, '.');
    default: return true;
    }
}

/* What the value should be, as the end of a sentence. */
static const char *wanted_by(const row *r) {
    switch (r->kind) {
    case NUMBER: return "a number from 1 on";
    case STATUS: return "a number from 1 to 255";
    case COUNT: return "a number from 0 on";
    case SIZE: return "a number of bytes, with K, M or G after it or without";
    case FLAG: return "0 or 1";
    case WORD: return "one of";
    case WORDS: return "one or several of";
    default: return "a version, such as";
    }
}

typedef struct {
    void (*say)(void *user, const char *text);
    void *user;
} listener;

static void check_row(const row *r, const listener *l) {
    const char *name, *value = read_row(r, &name);
    char text[400];
    if (!value || is_understood(r, value)) return;
    bool lists = r->kind == WORD || r->kind == WORDS || r->kind == VERSION;
    snprintf(text, sizeof text, "%s is '%.100s', which is not understood: it takes %s%s%s", name,
             value, wanted_by(r), lists ? " " : "", lists ? r->values : "");
    l->say(l->user, text);
}

/* Of two short words. */
static unsigned distance(const char *a, size_t n, const char *b) {
    enum { MOST = 40 };
    unsigned line[MOST + 1];
    size_t m = strlen(b);
    if (n > MOST || m > MOST) return MOST;
    for (unsigned k = 0; k <= m; k++) line[k] = k;
    for (size_t i = 0; i < n; i++) {
        unsigned diagonal = line[0];
        line[0] = (unsigned)i + 1;
        for (size_t k = 0; k < m; k++) {
            unsigned replaced = diagonal + (a[i] != b[k]);
            unsigned least = line[k] < line[k + 1] ? line[k] : line[k + 1];
            diagonal = line[k + 1];
            line[k + 1] = replaced < least + 1 ? replaced : least + 1;
        }
    }
    return line[m];
}

static bool is_known(const char *name, size_t n) {
    for (unsigned k = 0; k < RT_ENV_COUNT; k++)
        if (strncmp(rows[k].name, name, n) == 0 && !rows[k].name[n]) return true;
    return false;
}

static void check_name(const char *text, const listener *l) {
    enum { FAR = 4 };
    size_t n = strcspn(text, "=");
    const char *nearest = NULL;
    unsigned best = FAR;
    if (is_known(text, n)) return;
    for (unsigned k = 0; k < RT_ENV_COUNT; k++) {
        unsigned d = distance(text, n, rows[k].name);
        if (d < best) best = d, nearest = rows[k].name;
    }
    char line[200];
    snprintf(line, sizeof line, "there is no variable %.*s%s%s%s", n < 80 ? (int)n : 80, text,
             nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    l->say(l->user, line);
}

void rt_check_settings(void (*say)(void *user, const char *text), void *user) {
    static const char prefix[] = "SPVFUSE_", old_prefix[] = "SPVF"; /* of all names, old and new */
    const listener l = {say, user};
    char **first = environ;
    while (first && *first && strncmp(*first, old_prefix, sizeof old_prefix - 1) != 0) first++;
    if (!first || !*first) return; /* as for most programs */
    for (unsigned k = 0; k < RT_ENV_COUNT; k++) check_row(&rows[k], &l);
    for (char **e = environ; e && *e; e++)
        if (strncmp(*e, prefix, sizeof prefix - 1) == 0) check_name(*e, &l);
}
