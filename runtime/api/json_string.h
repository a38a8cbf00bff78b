/* json_string.h — a string of JSON on a stream. */
#ifndef SPVFUSE_JSON_STRING_H
#define SPVFUSE_JSON_STRING_H

#include <stdio.h>

/* In quotes; bytes that are no UTF-8 become U+FFFD.  NULL gives null. */
void json_put_string(FILE *f, const char *text);

#endif
