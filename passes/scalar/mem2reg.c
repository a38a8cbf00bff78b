/* mem2reg.c — stack variables that are only loaded and stored become values.
 *
 * The work is done in ir/promote.c, which sroa shares.  What is left afterwards are variables whose
 * address escapes, that are accessed in parts (sroa splits those), volatile, or never accessed
 * through a constant offset.
 */
#include "passes/passes.h"

/* Does: replaces scalar and vector variables by SSA values; loads before any store by undef.
 * Needs: allocas in the entry block.
 * Leaves: phis only where a load needs them.
 * Gives up: on each variable that is used in any other way. */
bool pass_mem2reg(ir_func *f, pass_ctx *cx) { return ir_promote_vars(f, cx->scratch); }
