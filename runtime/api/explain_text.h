/* explain_text.h — what the texts of explanations share. */
#ifndef SPVFUSE_EXPLAIN_TEXT_H
#define SPVFUSE_EXPLAIN_TEXT_H

#include "runtime/api/runtime.h"

/* Words, `start` first, that go on in the next line where that would be too long. */
void rt_print_paragraph(FILE *f, int indent, const char *start, const char *text);
/* "{1024/64}" */
void rt_print_range(FILE *f, const spvf_range *r);
/* What became of the loops over work-items of a kernel. (explain_code_text.c) */
void rt_print_code(FILE *f, int indent, const spvf_explained_code *code);
/* What is printed, to be given to free(); NULL: there is no memory, or nothing to print. */
char *rt_text_of(void (*print)(FILE *f, const void *what), const void *what);

#endif
