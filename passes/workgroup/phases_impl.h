/* phases_impl.h — private to phases*.c.
 *
 * phases.c finds the phases of a kernel, between barriers of all work-groups, and makes a kernel
 * that runs one of them.  phases_context.c gives what several phases use a place in memory of the
 * launch.  Blocks belong to one phase each; only the entry belongs to all.
 */
#ifndef SPVFUSE_PHASES_IMPL_H
#define SPVFUSE_PHASES_IMPL_H

#include "passes/analysis/analysis.h"
#include "passes/workgroup/regions_impl.h"

typedef struct {
    ir_block *start; /* begins with a barrier, but for the first one */
    ir_block *end;   /* leads to the start of the next phase; NULL: it is the last one */
} pass_phase;

typedef struct {
    ir_func *kernel;
    ir_arena *scratch;
    ir_phases *out;
    ir_inst *kept, *number; /* the parameters that are added: memory, and the phase */
    ir_vec(pass_phase) phases;
    uint32_t *phase_of; /* by block id, plus 1; 0: the entry, where variables are */
    uint32_t nblocks;   /* ids are below */
} pass_phasing;

/* Is it a barrier of all work-groups? */
bool pass_waits_for_all(const ir_inst *i);
/* Values and variables that several phases use lie in `kept`.  Gives NULL, or why they cannot; the
 * kernel does what it did then.  (phases_context.c) */
const char *pass_keep_over_phases(pass_phasing *p);
/* Finds which items do anything in which phase, before phases are linked.  (phases_extent.c) */
void pass_find_extents(pass_phasing *p);
/* Variables that have been moved there are accessed as global memory.  False: one of their
 * addresses is more than accessed, and nothing has changed.  (phases_moved.c) */
bool pass_move_to_global(ir_func *kernel, ir_arena *scratch);

#endif
