/* forms.c — the tables of encode.h: one row for each form of an instruction.
 *
 * rowgen.c makes them of encodings.def when the compiler is built.
 */
#include "codegen/x86_64/encode.h"

#include "codegen/x86_64/forms.inc"
