/* fusion_row.c — the part before the arrow of a row (fusion.c), as a plan.
 *
 * The plan declares the buffers of the row, random ones, prints them, fuses, and prints them again.
 */
#include "tests/conformance/fusion.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void append_part(char *to, const char *text, size_t n) {
    size_t at = strlen(to);
    if (at + n + 1 < LINE) snprintf(to + at, n + 1, "%.*s", (int)n, text);
}

void row_append(char *to, const char *text) { append_part(to, text, strlen(text)); }

/* What follows "WORD NAME " in the lines of the theme, or NULL. */
static const char *find_declared(const runner *r, const char *word, const char *name, size_t n) {
    size_t skip = strlen(word) + 1;
    for (const char *s = r->declared; (s = strstr(s, word)) != NULL; s += skip)
        if (strncmp(s + skip, name, n) == 0 && s[skip + n] == ' ') return s + skip + n + 1;
    return NULL;
}

/* Its number, or MAX_BUFFERS when the name is none of a buffer. */
static unsigned note_buffer(runner *r, const char *name, size_t n) {
    if (!islower((unsigned char)*name) || n >= 32 || find_declared(r, "scalar", name, n))
        return MAX_BUFFERS;
    if (n == 5 && memcmp(name, "local", n) == 0) return MAX_BUFFERS;
    for (unsigned k = 0; k < r->nbuffers; k++)
        if (strlen(r->buffers[k].name) == n && memcmp(r->buffers[k].name, name, n) == 0) return k;
    if (r->nbuffers == MAX_BUFFERS) abort();
    buffer *b = &r->buffers[r->nbuffers];
    snprintf(b->name, sizeof b->name, "%.*s", (int)n, name);
    b->internal[0] = b->printed[0][0] = b->printed[1][0] = 0;
    return r->nbuffers++;
}

static void take_args(runner *r, const char *s, size_t n) {
    unsigned args = 0;
    if (r->nmembers == MAX_MEMBERS) abort();
    for (size_t i = 0; i < n && args < MAX_ARGS;) {
        while (i < n && strchr(" ,{}", s[i])) i++;
        size_t end = i;
        while (end < n && s[end] != ',') end++;
        if (end > i)
            r->buffer_of[r->nmembers][args++] = note_buffer(r, s + i, strcspn(s + i, " ,)}"));
        i = end;
    }
    r->nmembers++;
    if (n) row_append(r->launches, " args ");
    append_part(r->launches, s, n);
    row_append(r->launches, "\n");
}

/* "64,4" as the plan writes it; what follows. */
static const char *take_sizes(runner *r, const char *word, const char *s, unsigned *dims) {
    row_append(r->launches, word);
    for (unsigned n = 0; isdigit((unsigned char)*s); n++, *dims = n > *dims ? n : *dims) {
        size_t digits = strspn(s, "0123456789");
        row_append(r->launches, " ");
        append_part(r->launches, s, digits);
        s += digits + (s[digits] == ',');
    }
    return s;
}

/* kernel@range(arguments) */
static const char *take_launch(runner *r, const char *s) {
    size_t name = strcspn(s, "@");
    unsigned dims = 0;
    row_append(r->launches, "  launch \"kernels.ir\":");
    append_part(r->launches, s, name);
    s = take_sizes(r, " global", s + name + 1, &dims);
    if (*s == '/') s = take_sizes(r, " local", s + 1, &dims);
    if (*s == '+') s = take_sizes(r, " offset", s + 1, &dims);
    if (*s != '(') return s + strlen(s);
    const char *close = strchr(s, ')');
    take_args(r, s + 1, (size_t)(close - s) - 1);
    return close + 1;
}

const char *row_word(const char *s, const char *word) {
    size_t n = strlen(word);
    return strncmp(s, word, n) == 0 && s[n] == ' ' ? s + n + 1 : NULL;
}

/* NAME [private|local [assume]] */
static const char *take_internal(runner *r, const char *s) {
    static const char *const words[] = {"private", "local", "assume"};
    size_t n = strcspn(s, " ");
    unsigned at = note_buffer(r, s, n);
    if (at == MAX_BUFFERS) abort();
    buffer *b = &r->buffers[at];
    snprintf(b->internal, sizeof b->internal, " internal");
    s += n + 1;
    for (size_t k = 0; k < 3; k++) {
        const char *next = row_word(s, words[k]);
        if (!next) continue;
        n = strlen(b->internal);
        snprintf(b->internal + n, sizeof b->internal - n, " %s", words[k]);
        s = next;
    }
    return s;
}

static void take_group(runner *r, const char *s, const char *arrow) {
    while (s < arrow) {
        size_t n = strcspn(s, " ");
        if (n == 0) {
            s++;
        } else if (memchr(s, '@', n)) {
            s = take_launch(r, s);
        } else if (row_word(s, "internal")) {
            s = take_internal(r, s + 9);
        } else {
            append_part(r->options, s, n + 1);
            s += n;
        }
    }
}

/* Buffer k as the theme declares it, else as ints; without a value random. */
static size_t write_buffer(const runner *r, unsigned k, char *to, size_t room) {
    const buffer *b = &r->buffers[k];
    const char *said = find_declared(r, "buffer", b->name, strlen(b->name));
    if (!said) said = "i32[1024]\n";
    int length = (int)strcspn(said, "\n");
    size_t n = (size_t)snprintf(to, room, "buffer %s %.*s", b->name, length, said);
    if (!memchr(said, '=', (size_t)length))
        n += (size_t)snprintf(to + n, room - n, " = random %u", k + 1);
    return n + (size_t)snprintf(to + n, room - n, "%s\n", b->internal);
}

static size_t write_prints(const runner *r, char *to, size_t room) {
    size_t n = 0;
    for (unsigned k = 0; k < r->nbuffers; k++)
        n += (size_t)snprintf(to + n, room - n, "print %s\n", r->buffers[k].name);
    return n;
}

static void write_plan(runner *r) {
    size_t n = 0, room = sizeof r->plan;
    for (const char *s = r->declared; *s; s = strchr(s, '\n') + 1)
        if (row_word(s, "scalar"))
            n += (size_t)snprintf(r->plan + n, room - n, "%.*s\n", (int)strcspn(s, "\n"), s);
    for (unsigned k = 0; k < r->nbuffers; k++) n += write_buffer(r, k, r->plan + n, room - n);
    n += write_prints(r, r->plan + n, room - n);
    n += (size_t)snprintf(r->plan + n, room - n, "fuse fused %s{\n%s}\n", r->options, r->launches);
    write_prints(r, r->plan + n, room - n);
}

void row_plan(runner *r, const char *arrow) {
    take_group(r, r->row, arrow);
    write_plan(r);
}
