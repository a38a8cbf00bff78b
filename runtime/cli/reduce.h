/* reduce.h — the parts of a text of the IR that `spvfuse reduce` leaves out (reduce_parts.c). */
#ifndef SPVFUSE_CLI_REDUCE_H
#define SPVFUSE_CLI_REDUCE_H

#include "runtime/cli/cli.h"

typedef enum {
    CLI_PART_TOP,       /* functions, and lines outside of them */
    CLI_PART_STATEMENT, /* without a result: stores, calls, barriers */
    CLI_PART_VALUE,     /* uses become zero */
    CLI_PART_CONDITION, /* values of type i1: uses become true */
    CLI_PART_KINDS
} cli_part_kind;

/* Lines of the text, and for a value what it is called, in which function, and its type. */
typedef struct {
    size_t begin, end; /* bytes of the text */
    size_t function;   /* number of its function */
    const char *name, *type;
    size_t name_size, type_size;
} cli_part;

typedef struct {
    cli_part_kind kind;
    cli_part *list;
    size_t n, room;
} cli_parts;

/* They point into the text.  Without memory there are fewer. */
cli_parts cli_find_parts(const char *text, cli_part_kind kind);
void cli_free_parts(cli_parts *p);
/* The text without `many` parts from one on, for free(); NULL: no memory. */
char *cli_without_parts(const char *text, const cli_parts *p, size_t from, size_t many);

#endif
