/* images.c — image and sampler instructions, carried over as they are.
 *
 * The image operands keep SPIR-V's mask; their values follow as arguments in the order of its bits.
 */
#include "frontend/reader.h"

static ir_inst *arg_of_kind(reader *r, uint32_t k, ir_kind kind, const char *want) {
    ir_inst *v = spv_arg(r, k);
    if (ir_kind_of(v->type) != kind) spv_bad_type(r, k, want);
    return v;
}

static ir_inst *image_arg(reader *r, uint32_t k) { return arg_of_kind(r, k, IR_IMAGE, "an image"); }

static bool is_number(ir_type t) { return (ir_is_int(t) && !ir_is_bool(t)) || ir_is_float(t); }

static ir_inst *coordinate_arg(reader *r, uint32_t k) {
    ir_inst *v = spv_arg(r, k);
    if (!is_number(v->type) || ir_lanes(v->type) > 4) spv_bad_type(r, k, "a coordinate");
    return v;
}

static bool is_texel(ir_type t) { return is_number(t) && (ir_lanes(t) == 1 || ir_lanes(t) == 4); }

static ir_type texel_result(reader *r) {
    ir_type t = spv_value_type(r, r->in.type)->value;
    if (!is_texel(t))
        spv_fail(r, "%s: the result has type %s, want a texel", spv_op_name(r),
                 spv_type_name(r, r->in.type));
    return t;
}

void spv_read_sampled_image(reader *r) {
    ir_type t = spv_value_type(r, r->in.type)->value;
    ir_inst *args[2] = {image_arg(r, 0), arg_of_kind(r, 1, IR_SAMPLER, "a sampler")};
    if (ir_kind_of(t) != IR_SAMPLED_IMAGE)
        spv_fail(r, "OpSampledImage: the result is not a sampled image");
    spv_define(r, ir_build(&r->b, IR_OP_sampled_image, t, 0, (ir_imm){0}, 2, args));
}

/* The image that a sampled image was made of. */
void spv_read_image(reader *r) {
    ir_inst *v = arg_of_kind(r, 0, IR_SAMPLED_IMAGE, "a sampled image");
    if (v->op != IR_OP_sampled_image) spv_refuse_inst(r, "of a sampled image from elsewhere");
    spv_define_checked(r, ir_arg(v, 0));
}

/* ----------------------------------------------------------------------------- reads and writes */

enum {
    ONE_VALUE = SpvImageOperandsBiasMask | SpvImageOperandsLodMask |
                SpvImageOperandsConstOffsetMask | SpvImageOperandsOffsetMask |
                SpvImageOperandsConstOffsetsMask | SpvImageOperandsSampleMask |
                SpvImageOperandsMinLodMask,
    NO_VALUE = SpvImageOperandsSignExtendMask | SpvImageOperandsZeroExtendMask |
               SpvImageOperandsNontemporalMask
};

/* Appends the values of the image operands at operand k; returns how many. */
static unsigned take_operands(reader *r, uint32_t k, ir_inst **args, uint32_t *mask) {
    unsigned n = 0, want = 0;
    *mask = k < r->in.n ? r->in.arg[k] : 0;
    if (*mask & ~(uint32_t)(ONE_VALUE | NO_VALUE | SpvImageOperandsGradMask))
        spv_refuse(r, "%s with image operands 0x%x is not supported", spv_op_name(r), *mask);
    for (uint32_t rest = *mask & ONE_VALUE; rest; rest &= rest - 1) want++;
    if (*mask & SpvImageOperandsGradMask) want += 2;
    if (k < r->in.n && r->in.n - k - 1 != want)
        spv_fail(r, "%s: image operands 0x%x take %u values", spv_op_name(r), *mask, want);
    for (; n < want; n++) args[n] = spv_arg(r, k + 1 + n);
    return n;
}

static void access(reader *r, ir_op op, ir_type t, unsigned n, ir_inst **args) {
    ir_imm imm = {0};
    n += take_operands(r, n, args + n, &imm.image.operands);
    ir_inst *v = ir_build_raw(&r->b, op, t, 0, imm, n, args);
    if (t != IR_VOID) spv_define(r, v);
}

void spv_read_image_sample(reader *r) {
    ir_inst *args[16] = {arg_of_kind(r, 0, IR_SAMPLED_IMAGE, "a sampled image"),
                         coordinate_arg(r, 1)};
    access(r, IR_OP_image_sample, texel_result(r), 2, args);
}

void spv_read_image_read(reader *r) {
    ir_inst *args[16] = {image_arg(r, 0), coordinate_arg(r, 1)};
    access(r, IR_OP_image_read, texel_result(r), 2, args);
}

void spv_read_image_write(reader *r) {
    ir_inst *args[16] = {image_arg(r, 0), coordinate_arg(r, 1), spv_arg(r, 2)};
    if (!is_texel(args[2]->type)) spv_bad_type(r, 2, "a texel");
    access(r, IR_OP_image_write, IR_VOID, 3, args);
}

/* -------------------------------------------------------------------------------------- queries */

void spv_read_image_query(reader *r) {
    ir_op op = spv_op_of_row(r);
    ir_type t = spv_value_type(r, r->in.type)->value;
    bool size = op == IR_OP_image_size || op == IR_OP_image_size_lod;
    ir_inst *args[2] = {image_arg(r, 0)};
    bool fits = size ? ir_is_int(t) && !ir_is_bool(t) && ir_lanes(t) <= 4 : t == IR_I32;
    if (!fits)
        spv_fail(r, "%s: the result has type %s, want %s", spv_op_name(r),
                 spv_type_name(r, r->in.type), size ? "integers" : "i32");
    if (op == IR_OP_image_size_lod) args[1] = spv_arg_int(r, 1);
    spv_define(r, ir_build(&r->b, op, t, 0, (ir_imm){0}, ir_ops[op].nargs, args));
}
