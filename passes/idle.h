/* idle.h — private to the pipeline: passes that have nothing to do in a function. (idle.c) */
#ifndef SPVFUSE_PASSES_IDLE_H
#define SPVFUSE_PASSES_IDLE_H

#include "passes/passes.h"

/* Has this pass, by its number, found nothing to do in f as it is? */
bool pass_is_idle(const ir_func *f, uint32_t pass);
/* A pass has run on f, which was in the state `before`. */
uint32_t pass_state_of(const ir_func *f);
void pass_note_run(ir_func *f, uint32_t pass, uint32_t before, bool changed);
/* Another pass may have changed f, or what f calls. */
void pass_forget_idle(ir_func *f);

#endif
