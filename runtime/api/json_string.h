/* json_string.h — a string of JSON on a stream. */
#ifndef SPVFUSE_JSON_STRING_H
#define SPVFUSE_JSON_STRING_H

#include <stdio.h>

/* Bytes of the UTF-8 sequence at s; 0: it is none. */
unsigned json_utf8_length(const unsigned char *s);
/* In quotes; bytes that are no UTF-8 become U+FFFD.  NULL gives null. */
void json_put_string(FILE *f, const char *text);

#endif
