/* constants.c — constants of scalar and vector type, null and undef.
 *
 * Bits travel as they are: narrow integers and halves are in the low bits of a word, 64-bit ones
 * take two words, low one first.  A vector with the same 0 in every lane is OpConstantNull.
 */
#include "codegen/spirv/spirv.h"

static uint32_t scalar(sw_writer *w, ir_type t, uint64_t bits) {
    uint32_t type = sw_type(w, t);
    unsigned width = ir_bits(w->m, t);
    if (ir_is_bool(t))
        return sw_intern(w, bits & 1 ? SpvOpConstantTrue : SpvOpConstantFalse, type, SW_NONE);
    bits = ir_zext(bits, width);
    return sw_intern(
        w, SpvOpConstant, type,
        (sw_list){width == 64 ? 2 : 1, (const uint32_t[]){(uint32_t)bits, (uint32_t)(bits >> 32)}});
}

uint32_t sw_int(sw_writer *w, ir_type t, uint64_t value) { return scalar(w, t, value); }
uint32_t sw_u32(sw_writer *w, uint32_t value) { return scalar(w, IR_I32, value); }
uint32_t sw_size(sw_writer *w, uint64_t value) { return scalar(w, ir_size_type(w->m), value); }
uint32_t sw_null(sw_writer *w, uint32_t type) {
    return sw_intern(w, SpvOpConstantNull, type, SW_NONE);
}
uint32_t sw_undef(sw_writer *w, uint32_t type) { return sw_intern(w, SpvOpUndef, type, SW_NONE); }

uint32_t sw_splat(sw_writer *w, ir_type t, uint64_t bits) {
    if (!ir_is_vector(t)) return scalar(w, t, bits);
    uint32_t type = sw_type(w, t), lane = scalar(w, ir_elem(t), bits), lanes[IR_MAX_LANES];
    if (bits == 0) return sw_null(w, type);
    for (unsigned i = 0; i < ir_lanes(t); i++) lanes[i] = lane;
    return sw_intern(w, SpvOpConstantComposite, type, (sw_list){ir_lanes(t), lanes});
}

uint32_t sw_constant_as(sw_writer *w, const ir_inst *c, ir_type t) {
    uint64_t bits;
    if (ir_is_opaque(t)) return sw_null(w, sw_type(w, t));
    if (ir_is_splat(c, &bits)) return sw_splat(w, t, bits);
    uint32_t type = sw_type(w, t), lanes[IR_MAX_LANES];
    for (unsigned i = 0; i < ir_lanes(t); i++) lanes[i] = scalar(w, ir_elem(t), ir_lane_bits(c, i));
    return sw_intern(w, SpvOpConstantComposite, type, (sw_list){ir_lanes(t), lanes});
}

uint32_t sw_constant(sw_writer *w, const ir_inst *c) { return sw_constant_as(w, c, c->type); }
