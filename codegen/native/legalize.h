/* legalize.h — what the files of legalization share. */
#ifndef SPVFUSE_CODEGEN_LEGALIZE_H
#define SPVFUSE_CODEGEN_LEGALIZE_H

#include "codegen/native/native.h"

typedef struct {
    ir_func *f;
    ir_arena *scratch;
    ir_builder b;
    bool lacks_count; /* no instruction counts leading or trailing zeros */
} cg_legalizer;

/* Instructions that become several blocks; the walk goes on after them.  (legalize_flow.c) */
void cg_legalize_flow(cg_legalizer *l);
/* Branches on two conditions become two branches.  (legalize_branches.c) */
void cg_legalize_branches(cg_legalizer *l);

#endif
