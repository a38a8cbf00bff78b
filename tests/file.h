/* file.h — a file in memory. */
#ifndef SPVFUSE_TESTS_FILE_H
#define SPVFUSE_TESTS_FILE_H

#include <stdio.h>
#include <stdlib.h>

/* With a 0 after it, to be freed; NULL when it cannot be read.  `size` may be NULL. */
static inline char *read_file(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    if (size) *size = 0;
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    size_t room = (size_t)ftell(f);
    rewind(f);
    char *data = malloc(room + 1);
    size_t n = data ? fread(data, 1, room, f) : 0;
    fclose(f);
    if (!data) return NULL;
    data[n] = 0;
    if (size) *size = n;
    return data;
}

#endif
