/* gen.h — random programs for fuzzing. */
#ifndef SPVFUSE_GEN_H
#define SPVFUSE_GEN_H

#include "ir/build.h"
#include "ir/interp.h"

/* Does the program compute nothing that an implementation may choose, the last bits of math
 * functions? */
bool gen_is_exact(const uint8_t *data, size_t size);
/* A module with one function @f of well-defined behaviour, shaped by the bytes: every choice takes
 * a byte, and when they are used up the function ends soon.  Throws when memory is short. */
ir_module *gen_module(ir_ctx *cx, const uint8_t *data, size_t size);
/* Arguments for @f, from a seed; special values are likely. */
void gen_arguments(const ir_func *f, uint64_t seed, ir_value *args);

#endif
