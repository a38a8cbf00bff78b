/* values.h — values to try: special ones, such that are near special ones, and random ones. */
#ifndef SPVFUSE_TESTS_VALUES_H
#define SPVFUSE_TESTS_VALUES_H

#include "ir/eval.h"
#include "tests/random.h"

#include <math.h>

static inline uint64_t some_int(uint64_t *state, unsigned width) {
    uint64_t r = splitmix64(state);
    switch (r >> 8 & 7) {
    case 0: return ir_zext(r >> 11 & 15, width);
    case 1: return ir_zext(0 - (r >> 11 & 15), width);
    case 2: return ir_zext(UINT64_C(1) << (r >> 11) % width, width);
    case 3: return ir_zext((UINT64_C(1) << (width - 1)) + (r >> 11 & 7) - 4, width);
    case 4: return ir_zext((UINT64_C(1) << (r >> 16) % width) + (r >> 11 & 7) - 4, width);
    default: return ir_zext(splitmix64(state) >> (r >> 16) % width, width);
    }
}

/* Also near powers of two, where conversions to integers end, and halves. */
static inline uint64_t some_float(uint64_t *state, ir_kind k) {
    static const double edges[] = {0,     1,      0.5,     1.5,      2.5,      3.5,
                                   255.5, 127.5,  65504,   65519.99, 65520,    65535.5,
                                   1e300, 1e-310, 0x1p-24, 0x1p-126, 0x1p-149, 0x1p-1074};
    uint64_t r = splitmix64(state), bits;
    switch (r & 7) {
    case 0: bits = r >> 8 & 1 ? ir_fp_nan(k) : ir_fp_inf(k, false); break;
    case 1: bits = ir_fp_from_double(k, edges[(r >> 8) % (sizeof edges / sizeof *edges)]); break;
    case 2: bits = ir_fp_from_double(k, ldexp(1, (int)(r >> 8) % 66)); break;
    case 3:
        bits = ir_fp_from_double(k, (double)(r >> 40) * 0.125 / (double)(1 + (r >> 8 & 1023)));
        break;
    case 4: bits = splitmix64(state) & 0xff; break;
    default: bits = splitmix64(state);
    }
    if (r >> 62 & 1) bits ^= ir_fp_inf(k, true) ^ ir_fp_inf(k, false);
    if (r >> 60 & 1) bits += 1;
    return ir_zext(bits, ir_bits(NULL, k));
}

/* Of a lane. */
static inline uint64_t some_value(uint64_t *state, const ir_module *m, ir_type t) {
    if (ir_is_float(t)) return some_float(state, ir_kind_of(t));
    return some_int(state, ir_bits(m, ir_elem(t)));
}

#endif
