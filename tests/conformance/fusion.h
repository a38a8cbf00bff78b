/* fusion.h — a row of a table of fusions (fusion.c), the plan that comes of it (fusion_row.c), and
 * its kernels (fusion_kernels.c). */
#ifndef SPVFUSE_TESTS_CONFORMANCE_FUSION_H
#define SPVFUSE_TESTS_CONFORMANCE_FUSION_H

#include "runtime/spvfuse.h"

enum { ELEMENTS = 1024, MAX_BUFFERS = 16, MAX_MEMBERS = 16, MAX_ARGS = 16, LINE = 4096 };

typedef struct {
    char name[32], internal[32];
    int32_t fused[ELEMENTS], unfused[ELEMENTS], there[ELEMENTS];
    char printed[2][8 * LINE]; /* before and after the group */
} buffer;

typedef struct {
    const char *folder, *theme, *device; /* device: another one than check, or NULL */
    unsigned line, passed, failed;
    char *kernels;       /* kernels.ir of the folder */
    char scratch[500];   /* a folder that has those of the row */
    char declared[LINE]; /* by the theme */
    char row[LINE];

    /* of the row */
    char options[LINE], launches[LINE];
    buffer buffers[MAX_BUFFERS];
    unsigned nbuffers, nmembers;
    unsigned buffer_of[MAX_MEMBERS][MAX_ARGS];
    char plan[2 * LINE];
    unsigned prints;
    bool elsewhere;     /* the run is one on the other device */
    char warning[LINE]; /* the first */
    char errors[LINE];
    spvf_context *context;
    spvf_plan *loaded;
    spvf_fusion *fusion; /* NULL: refused */
    bool right;
} runner;

/* Behind a word and its space, or NULL when another one is here. */
const char *row_word(const char *s, const char *word);
void row_append(char *to, const char *text);
/* Reads the row up to its arrow. */
void row_plan(runner *r, const char *arrow);

/* Reads the kernels of the folder; exits if they, or the folder for those of a row, are not to be
 * had. */
void row_begin(runner *r);
void row_write_kernels(const runner *r);
void row_end(runner *r);

#endif
