/* interpret.h — the template machine: runs code that codegen/template/ has made.
 *
 * It knows the machine by the words of codegen/template/template.h and instructions.def, but shares
 * no code with the target: opcodes, fields and shapes are in a table of its own.
 */
#ifndef SPVFUSE_TESTS_INTERPRET_H
#define SPVFUSE_TESTS_INTERPRET_H

#include "codegen/codegen.h"

/* Calls the function of a symbol with one argument, the address of so many bytes.  NULL: it ends
 * well; otherwise what goes wrong: an instruction that is none, an access outside of the object,
 * the stack and these bytes, a division that has no result, too many steps, or registers that are
 * not kept for the caller. */
const char *template_interpret(const cg_object *o, uint32_t symbol, void *argument, size_t bytes);

/* The address of the C function that code may call; 0: none. */
extern uint64_t template_outside;

/* The first instruction that has not been run in this process; NULL: all have, but for callr and
 * trap, which no function of the IR's language reaches by itself. */
const char *template_never_run(void);

#endif
