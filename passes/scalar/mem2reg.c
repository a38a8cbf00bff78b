/* mem2reg.c — turns stack variables that are only loaded and stored into values.
 *
 * ir/promote.c, which sroa shares, does the work.  Variables remain whose address escapes, or whose
 * accesses are partial (sroa splits those), volatile, or not at a constant offset.
 */
#include "passes/passes.h"

/* Does: replaces scalar and vector variables by SSA values; loads before any store by undef.
 * Needs: allocas in the entry block.
 * Leaves: phis only where a load needs them.
 * Gives up: on each variable that is used in any other way. */
bool pass_mem2reg(ir_func *f, pass_ctx *cx) { return ir_promote_vars(f, cx->scratch); }
