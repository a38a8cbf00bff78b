/* json.c — is standard input one JSON value (RFC 8259)?  Says where it is not.
 *
 * A list of open brackets in place of recursion; a value is allowed where `wants` says so. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 64, MAX_SIZE = 1 << 22 };

static char text[MAX_SIZE + 1];
static const char *at = text;
static char open[MAX_DEPTH];
static int depth;

static void skip_space(void) { at += strspn(at, " \t\r\n"); }

static bool take(const char *word) {
    size_t n = strlen(word);
    if (strncmp(at, word, n) != 0) return false;
    at += n;
    return true;
}

static bool take_escape(void) {
    if (*at == 'u') {
        for (int n = 1; n <= 4; n++)
            if (!isxdigit((unsigned char)at[n])) return false;
        at += 5;
        return true;
    }
    return *at && strchr("\"\\/bfnrt", *at++) != NULL;
}

static bool take_string(void) {
    if (!take("\"")) return false;
    while (*at != '"') {
        if ((unsigned char)*at < 0x20) return false;
        if (*at++ == '\\' && !take_escape()) return false;
    }
    at++;
    return true;
}

static bool take_digits(void) {
    size_t n = strspn(at, "0123456789");
    at += n;
    return n > 0;
}

static bool take_number(void) {
    if (*at == '-') at++;
    if (!take("0") && !take_digits()) return false;
    if (take(".") && !take_digits()) return false;
    if (!take("e") && !take("E")) return true;
    if (!take("-")) take("+");
    return take_digits();
}

static bool take_key(void) {
    skip_space();
    if (!take_string()) return false;
    skip_space();
    return take(":");
}

/* Opens a bracket; a list or object that is empty is closed by the caller. */
static bool take_bracket(bool *empty) {
    char close = *at == '{' ? '}' : ']';
    if (depth == MAX_DEPTH) return false;
    open[depth++] = close;
    at++;
    skip_space();
    *empty = *at == close;
    return *empty || close == ']' || take_key();
}

static bool take_value(bool *opened) {
    bool empty = true;
    skip_space();
    *opened = false;
    if (*at == '{' || *at == '[') {
        if (!take_bracket(&empty)) return false;
        *opened = !empty;
        return true;
    }
    return take("null") || take("true") || take("false") ||
           (*at == '"' ? take_string() : take_number());
}

/* Behind a value: closing brackets, then a comma and what follows it, or the end. */
static bool take_rest(bool *done) {
    skip_space();
    while (depth && *at == open[depth - 1]) {
        at++;
        depth--;
        skip_space();
    }
    *done = depth == 0;
    if (*done) return *at == 0;
    return take(",") && (open[depth - 1] == ']' || take_key());
}

int main(void) {
    size_t n = fread(text, 1, MAX_SIZE, stdin);
    bool opened, done = false, ok = strlen(text) == n;
    while (ok && !done) {
        ok = take_value(&opened);
        if (ok && !opened) ok = take_rest(&done);
    }
    if (!ok) fprintf(stderr, "no JSON at byte %td: %.40s\n", at - text, at);
    return ok ? 0 : 1;
}
