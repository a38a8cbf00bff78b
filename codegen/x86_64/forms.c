/* forms.c — the tables of encode.h, made from encodings.def by rowgen.c. */
#include "codegen/x86_64/encode.h"

#include "codegen/x86_64/forms.inc"
