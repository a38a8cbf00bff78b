/* library.h — functions of the library, for the passes that put their code into kernels
 * (library.c): `builtins`, and `functions` before vectorization.
 *
 * Functions are loaded from the archive of codegen/math when they are first needed, expanded for
 * the target once, called in place of operations, and then inlined. */
#ifndef SPVFUSE_PASSES_LIBRARY_H
#define SPVFUSE_PASSES_LIBRARY_H

#include "passes/passes.h"

typedef struct {
    pass_ctx *cx;
    ir_unpacker source;
    bool expands;  /* code is expanded for the target when it is loaded */
    bool branches; /* only functions with branches are replaced */
    ir_map loaded; /* op and kind -> function; the library itself as a mark: there is none */
    ir_vec(ir_func *) functions;
} library;

/* Calls of library functions in place of i, or straight code; false: nothing was done. */
bool library_replace(library *l, ir_builder *b, ir_inst *i);
/* The bodies of library functions in place of all calls in f. */
void library_splice(library *l, ir_func *f);
/* Removes the functions that have been loaded from the module. */
void library_drop(library *l);

#endif
