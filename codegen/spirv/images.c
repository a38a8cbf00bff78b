/* images.c — images and samplers.
 *
 * Operands are the same as in SPIR-V, with a mask in front of the image operands.  OpSampledImage
 * must be in the block of its use, so it is written again for each use.
 */
#include "codegen/spirv/spirv.h"

/* Literal samplers are addressing | normalized << 8 | filter << 16. */
static void emit_sampler(sw_func *fn, const ir_inst *i) {
    uint32_t bits = (uint32_t)i->imm.bits;
    sw_capability(fn->w, SpvCapabilityLiteralSampler);
    sw_set_value(fn, i,
                 sw_intern(fn->w, SpvOpConstantSampler, sw_type(fn->w, i->type),
                           SW_LIST(bits & 255, bits >> 8 & 255, bits >> 16 & 255)));
}

/* The id of an operand; a sampled image is made for it. */
static uint32_t operand(sw_func *fn, ir_inst *v) {
    if (v->op != IR_OP_sampled_image) return sw_value(fn, v);
    uint32_t image = sw_type(fn->w, ir_arg(v, 0)->type);
    uint32_t type = sw_intern(fn->w, SpvOpTypeSampledImage, 0, SW_LIST(image));
    return sw_emit_result(fn, SpvOpSampledImage, type, SW_LIST(sw_arg(fn, v, 0), sw_arg(fn, v, 1)));
}

/* Image operands without a value are the newest ones.  SPIR-V states the sign of texels in no other
 * way, so the module becomes as new as necessary.  Nontemporal is a hint, which older modules omit.
 */
static uint32_t mask_of(sw_func *fn, const ir_inst *i) {
    uint32_t mask = i->imm.image.operands;
    if (mask & (SpvImageOperandsSignExtendMask | SpvImageOperandsZeroExtendMask))
        sw_need_version(fn, 0x00010400, "the sign of texels");
    if (fn->w->out.version < 0x00010600) mask &= ~(uint32_t)SpvImageOperandsNontemporalMask;
    return mask;
}

static uint32_t collect_operands(sw_func *fn, const ir_inst *i, unsigned fixed,
                                 uint32_t *operands) {
    uint32_t n = 0, mask = mask_of(fn, i);
    for (unsigned k = 0; k < i->nargs; k++) {
        if (k == fixed && mask) operands[n++] = mask;
        operands[n++] = operand(fn, ir_arg(i, k));
    }
    if (fixed == i->nargs && mask) operands[n++] = mask;
    return n;
}

static void emit_access(sw_func *fn, const ir_inst *i) {
    uint32_t *operands = ir_new_array(fn->w->arena, uint32_t, i->nargs + 1u);
    uint32_t n = collect_operands(fn, i, ir_info(i)->nargs, operands);
    SpvOp op = (SpvOp)sw_opcode_of(ir_info(i)->spirv);
    if (i->op == IR_OP_image_write)
        sw_emit(fn, op, (sw_list){n, operands});
    else
        sw_emit_value(fn, i, op, (sw_list){n, operands});
}

static void emit_simple(sw_func *fn, const ir_inst *i) {
    uint32_t operands[2];
    for (unsigned k = 0; k < i->nargs; k++) operands[k] = sw_arg(fn, i, k);
    SpvOp op = (SpvOp)sw_opcode_of(ir_info(i)->spirv);
    sw_emit_value(fn, i, op, (sw_list){i->nargs, operands});
}

void sw_emit_image(sw_func *fn, const ir_inst *i) {
    switch ((ir_op)i->op) {
    case IR_OP_sampled_image: break; /* written with its uses */
    case IR_OP_sampler: emit_sampler(fn, i); break;
    case IR_OP_image_sample:
    case IR_OP_image_read:
    case IR_OP_image_write: emit_access(fn, i); break;
    default: emit_simple(fn, i);
    }
}
