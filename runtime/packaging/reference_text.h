/* reference_text.h — the text of comments, for reference.c: paragraphs and code, without what
 * comments have at the margin.  What is given is copied, and never freed. */
#ifndef SPVFUSE_REFERENCE_TEXT_H
#define SPVFUSE_REFERENCE_TEXT_H

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline char *copy(const char *s, size_t n) {
    char *to = calloc(1, n + 1);
    if (!to) abort();
    return memcpy(to, s, n);
}

/* A paragraph of a comment, or lines that begin with four blanks, which stay as they are. */
typedef struct {
    const char *text, *next;
    size_t n; /* 0: there is none */
    bool code;
} part;

/* A line that begins with one of these words begins a paragraph. */
static inline bool begins_topic(const char *line) {
    static const char *const topics[] = {
        "Order: ", "Ownership: ", "Threads: ", "Errors: ", "Versions: ", "Several devices: "};
    for (unsigned k = 0; k < sizeof topics / sizeof *topics; k++)
        if (strncmp(line, topics[k], strlen(topics[k])) == 0) return true;
    return false;
}

static inline part next_part(const char *s) {
    part p = {.text = s, .code = strncmp(s, "    ", 4) == 0};
    const char *end = s;
    while (*end && *end != '\n' && (strncmp(end, "    ", 4) == 0) == p.code &&
           (end == s || p.code || !begins_topic(end))) {
        end += strcspn(end, "\n");
        end += *end == '\n';
    }
    p.next = end + strspn(end, "\n");
    while (end > s && end[-1] == '\n') end--;
    p.n = (size_t)(end - s);
    return p;
}

/* The lines of a code part without the blanks that all of them begin with. */
static inline char *shift_left(const part *p) {
    char *to = copy(p->text, p->n), *out = to;
    size_t blanks = p->n;
    for (const char *s = to; *s; s += strcspn(s, "\n"), s += *s == '\n')
        if (strspn(s, " ") < blanks && s[strspn(s, " ")] != '\n') blanks = strspn(s, " ");
    for (const char *s = to; *s;) {
        size_t skip = strspn(s, " "), n;
        s += skip < blanks ? skip : blanks;
        n = strcspn(s, "\n") + (strchr(s, '\n') != NULL);
        memmove(out, s, n);
        out += n;
        s += n;
    }
    *out = 0;
    return to;
}

/* The text between the marks of a comment, without the stars that its lines begin with. */
static inline char *strip_comment(const char *s, size_t n) {
    char *to = copy(s, n), *out = to;
    const char *end = s + n - 2;
    for (s += 2; s < end;) {
        while (s < end && (*s == ' ' || *s == '\t')) s++;
        if (s < end && *s == '*') s += 1 + (s[1] == ' ');
        while (s < end && *s != '\n') *out++ = *s++;
        if (s < end) *out++ = *s++;
    }
    while (out > to && isspace((unsigned char)out[-1])) out--;
    *out = 0;
    return to;
}

#endif
