/* frontend.h — reads SPIR-V as IR; the only header of frontend/ that other folders include. */
#ifndef SPVFUSE_FRONTEND_H
#define SPVFUSE_FRONTEND_H

#include "ir/ir.h"

/* A value for a specialization constant, by SpecId; bits as in the module (bool: 0 or 1). */
typedef struct {
    uint32_t id;
    uint64_t bits;
} spv_spec_value;

typedef struct {
    const char *file; /* name for messages; NULL: "<spirv>" */
    const spv_spec_value *specs;
    size_t nspecs;
    bool silent; /* nothing is said of what producers are known to write wrongly */
} spv_read_options;

/* Reads a SPIR-V module (either byte order).  The bytes are not kept.  Returns a module to be freed
 * with ir_module_free, or NULL after the errors have been reported through cx->report; then
 * cx->status tells input error from lack of memory.  Input is not trusted: time and memory are
 * bounded by a small multiple of its size.  Functions that use something malformed or unsupported
 * are kept as declarations with IR_FUNC_REFUSED and a reason, and only what cannot be parsed is an
 * error; sloppiness that real producers show is accepted with a warning. */
ir_module *spv_read(ir_ctx *cx, const void *bytes, size_t size, const spv_read_options *options);

#endif
