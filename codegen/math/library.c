/* library.c — the math functions of OpenCL.std, packed by mathpack.c when the compiler is built. */
#include "codegen/codegen.h"

static const uint8_t bytes[] = {
#include "codegen/math/library.inc"
};

const ir_pack cg_math_library = {bytes, sizeof bytes};
