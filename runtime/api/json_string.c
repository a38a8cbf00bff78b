/* json_string.c — a string of JSON, in UTF-8.
 *
 * The command has this file, too, which uses nothing of the library.
 */
#include "runtime/api/json_string.h"

/* Bytes of the UTF-8 sequence at s, 0 when it is none: cut short, longer than needed, a surrogate,
 * or beyond the last character (Unicode 15, table 3-7). */
unsigned json_utf8_length(const unsigned char *s) {
    unsigned char low = 0x80, high = 0xbf;
    unsigned n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (s[0] > 0xf4) return 0;
    if (s[0] == 0xe0) low = 0xa0;
    if (s[0] == 0xed) high = 0x9f;
    if (s[0] == 0xf0) low = 0x90;
    if (s[0] == 0xf4) high = 0x8f;
    for (unsigned i = 1; i < n; i++, low = 0x80, high = 0xbf)
        if (s[i] < low || s[i] > high) return 0;
    return n;
}

void json_put_string(FILE *f, const char *text) {
    const unsigned char *s = (const unsigned char *)text;
    if (!s) {
        fputs("null", f);
        return;
    }
    putc('"', f);
    for (unsigned n; *s; s += n ? n : 1) {
        n = json_utf8_length(s);
        if (n == 0)
            fputs("\\ufffd", f);
        else if (*s < 0x20)
            fprintf(f, "\\u%04x", *s);
        else
            fprintf(f, "%s%.*s", *s == '"' || *s == '\\' ? "\\" : "", (int)n, (const char *)s);
    }
    putc('"', f);
}
