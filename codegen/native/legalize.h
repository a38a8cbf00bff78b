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
/* Atomic updates, and stores that later loads must not overtake.  (legalize_updates.c) */
bool cg_is_update(const ir_inst *i);
void cg_lower_update(cg_legalizer *l, ir_inst *i);
void cg_store_in_order(cg_legalizer *l, ir_inst *i);
/* Branches on two conditions become two branches.  (legalize_branches.c) */
void cg_legalize_branches(cg_legalizer *l);

#endif
