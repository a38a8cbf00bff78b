/* expand_parts.c — sums of products of the bytes or words of a lane, for targets that have no
 * instructions for them.
 *
 * Each part is cut out of its lane by shifts, which extend it as well.
 */
#include "passes/lower/expand.h"

/* The part of x that begins at bit `from`. */
static ir_inst *part_of(ir_builder *b, ir_inst *x, unsigned from, unsigned size, bool is_signed) {
    unsigned width = ir_bits(b->f->module, x->type);
    if (size >= width) return x;
    x = expand_2(b, IR_OP_shl, x, expand_bits(b, x, width - size - from));
    return expand_2(b, is_signed ? IR_OP_ashr : IR_OP_lshr, x, expand_bits(b, x, width - size));
}

static ir_inst *add_products(ir_builder *b, ir_inst *x, ir_inst *y, unsigned size, bool is_signed) {
    ir_inst *sum = NULL;
    for (unsigned from = 0; from < ir_bits(b->f->module, x->type); from += size) {
        ir_inst *other = part_of(b, y, from, size, true);
        ir_inst *product = expand_2(b, IR_OP_mul, part_of(b, x, from, size, is_signed), other);
        sum = sum ? expand_2(b, IR_OP_add, sum, product) : product;
    }
    return sum;
}

ir_inst *expand_byte_dot(ir_builder *b, ir_inst *x, ir_inst *y) {
    return add_products(b, x, y, 8, false);
}

ir_inst *expand_word_dot(ir_builder *b, ir_inst *x, ir_inst *y) {
    return add_products(b, x, y, 16, true);
}

/* Up to 16 bits: one or two products, whose sum with z fits into 32 bits. */
ir_inst *expand_narrow_dot_sat(ir_builder *b, ir_inst *x, ir_inst *y, ir_inst *z) {
    unsigned width = ir_bits(b->f->module, x->type);
    uint64_t most = ir_zext(UINT64_MAX, width - 1);
    ir_inst *wide_x = expand_to(b, IR_OP_zext, x, IR_I32);
    ir_inst *wide_y = expand_to(b, IR_OP_zext, y, IR_I32);
    ir_inst *wide_z = expand_to(b, IR_OP_sext, z, IR_I32);
    ir_inst *r = expand_2(b, IR_OP_bytedot, wide_x, wide_y);
    r = expand_2(b, IR_OP_add, r, wide_z);
    r = expand_2(b, IR_OP_smin, r, expand_bits(b, r, most));
    r = expand_2(b, IR_OP_smax, r, expand_bits(b, r, ~most));
    return expand_to(b, IR_OP_trunc, r, ir_kind_of(x->type));
}
