/* target.h — facts about a target, for the passes that make code ready for it.
 *
 * Each machine fills in one ir_target (cg_machine.describe).  It is all that passes know about a
 * target; zeros describe a machine with scalars and basic operations only.
 */
#ifndef SPVFUSE_IR_TARGET_H
#define SPVFUSE_IR_TARGET_H

#include "ir/ir.h"

/* What a CPU has beyond the basic operations of docs/PASSES.md. */
typedef struct {
    bool has_fma;          /* of f32 and f64 */
    bool has_f16c;         /* f16 to f32 and back */
    bool has_unsigned;     /* floats from unsigned i32 and i64, and back with saturation */
    unsigned vector_bytes; /* of its widest vectors; 0: it has none */
    unsigned vector_registers;
    bool has_masks;        /* truth values of vectors are values of their own */
    bool scatters_slowly;  /* 64 bits and more: stores of all lanes are faster */
    bool gathers_slowly;   /* loads of all lanes at offsets from memory are faster */
    bool has_estimates;    /* of f32: native_rsqrt within 2 ulp, and codegen/math/estimates.ir */
    bool has_short_ids;    /* ids and sizes of a launch are below 2^32 along each dimension */
    bool has_bf16;         /* f32 to bf16 */
    bool converts_at_once; /* between integers, f16, f32 and f64, with each rounding; to integers
                              from f32 and f64 alone, also with saturation */
    bool lacks_calls;      /* all functions are inlined, however large kernels become */
    bool private_is_far;   /* arrays of a work-item are slow unless all their indices are known */
    /* Does it have an instruction for i, which works on vectors, with lanes of these types? */
    bool (*takes)(const ir_inst *i, unsigned level);
    unsigned cache_bytes, cache_ways; /* of the nearest cache of data; 0: not known */
    unsigned level;                   /* of the machine (codegen/codegen.h), for `takes` */
} ir_target;

#endif
