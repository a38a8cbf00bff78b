/* broken.c — a spvfuse with a bug: in the pass or stage that BREAK in the environment names, the
 * first operand that it sets fails an assertion.  The linker puts __wrap_ir_set_arg in the place of
 * ir_set_arg (bugs.sh).
 */
#include "ir/ir.h"

#include <stdlib.h>

void __real_ir_set_arg(ir_inst *i, unsigned n, ir_inst *val);
void __wrap_ir_set_arg(ir_inst *i, unsigned n, ir_inst *val);

void __wrap_ir_set_arg(ir_inst *i, unsigned n, ir_inst *val) {
    const char *name = getenv("BREAK");
    const ir_func *f = i->block ? i->block->func : NULL;
    const char *stage = f ? f->module->cx->where.stage : NULL;
    assert_at(i, (!name || !stage || strcmp(name, stage) != 0) && "not broken");
    __real_ir_set_arg(i, n, val);
}
