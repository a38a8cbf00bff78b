/* sample.h — an object of code written by hand, with everything that an object can have. */
#ifndef SPVFUSE_TESTS_CODEGEN_SAMPLE_H
#define SPVFUSE_TESTS_CODEGEN_SAMPLE_H

#include "codegen/x86_64/encode.h"

#include "codegen/codegen.h"

enum { SAMPLE_BIAS = 1000, SAMPLE_LOCAL = 256, SAMPLE_LINE = 17 };

/* One kernel, fill(out: int *, value: int, part: local int *), a work-group of which
 *   - puts value + SAMPLE_BIAS + part[0] into out[group_id[0]], part[0] having been set to 5 there,
 *   - counts itself in `calls`, an exported int;
 * fill.block does so for group_id[0] to group_end[0], calling fill.  The data has a pointer to a
 * constant, `where`.  fill was made of lines 17 and 18 of sample.cl. */
void sample_object(ir_arena *arena, cg_object *out);

/* A kernel that is a function of this program; what it needs is the caller's to say. */
typedef void sample_function(const ir_group_info *g, void *const *args);
void sample_add_call(ir_arena *arena, cg_object *o, const char *name, sample_function *run,
                     sample_function *block);

/* A kernel without arguments that calls what the exported variable `hook` points to. */
void sample_add_hook(ir_arena *arena, cg_object *o, const char *name, const char *hook);

#endif
