/* temporary.h — files and folders that a test makes for itself, in TMPDIR or /tmp.  The caller
 * removes them.  (Their names end in the six letters that mkstemp and mkdtemp replace.) */
#ifndef SPVFUSE_TESTS_TEMPORARY_H
#define SPVFUSE_TESTS_TEMPORARY_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TEMPORARY_NAME = 300 };

static inline void temporary_name(char name[TEMPORARY_NAME]) {
    const char *folder = getenv("TMPDIR");
    snprintf(name, TEMPORARY_NAME, "%s/spvfuse-XXXXXX", folder && *folder ? folder : "/tmp");
}

/* An empty file, open for writing. */
static inline int temporary_file(char name[TEMPORARY_NAME]) {
    temporary_name(name);
    int fd = mkstemp(name);
    cr_assert_geq(fd, 0, "%s can be made", name);
    return fd;
}

/* The test goes on in a fresh folder. */
static inline void enter_temporary_folder(char name[TEMPORARY_NAME]) {
    temporary_name(name);
    cr_assert_not_null(mkdtemp(name), "%s can be made", name);
    cr_assert_eq(chdir(name), 0);
}

#endif
