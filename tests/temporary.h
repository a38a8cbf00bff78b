/* temporary.h — files and folders that a test makes for itself, in TMPDIR or /tmp.  The caller
 * removes them.  (Their names end in the six letters that mkstemp and mkdtemp replace.) */
#ifndef SPVFUSE_TESTS_TEMPORARY_H
#define SPVFUSE_TESTS_TEMPORARY_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TEMPORARY_NAME = 300 };

static inline void temporary_name(char name[TEMPORARY_NAME]) {
    const char *folder = getenv("TMPDIR");
    snprintf(name, TEMPORARY_NAME, "%s/spvfuse-XXXXXX", folder && *folder ? folder : "/tmp");
}

/* An empty file, open for writing, or -1. */
static inline int temporary_file(char name[TEMPORARY_NAME]) {
    temporary_name(name);
    return mkstemp(name);
}

/* An empty folder; false when none can be made. */
static inline bool temporary_folder(char name[TEMPORARY_NAME]) {
    temporary_name(name);
    return mkdtemp(name) != NULL;
}

/* The same; it becomes the working folder of the test. */
static inline bool enter_temporary_folder(char name[TEMPORARY_NAME]) {
    return temporary_folder(name) && chdir(name) == 0;
}

#endif
