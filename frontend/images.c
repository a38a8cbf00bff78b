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

void spv_read_sampled_image(reader *r) {
    ir_type t = spv_value_type(r, r->in.type)->value;
    ir_inst *args[2] = {spv_arg(r, 0), spv_arg(r, 1)};
    spv_check_types(r, IR_OP_sampled_image, t, args, 0);
    spv_define(r, ir_build(&r->b, IR_OP_sampled_image, t, IR_PLAIN, (ir_args){2, args}));
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

static ir_type result_type(reader *r) { return spv_value_type(r, r->in.type)->value; }

/* An op of n operands and image operands. */
static void access(reader *r, ir_op op, ir_type t, unsigned n) {
    ir_inst *args[16];
    ir_imm imm = {0};
    for (unsigned k = 0; k < n; k++) args[k] = spv_arg(r, k);
    spv_check_types(r, op, t, args, 0);
    n += take_operands(r, n, args + n, &imm.image.operands);
    ir_inst *v = ir_build_raw(&r->b, op, t, ir_with_imm(imm), (ir_args){n, args});
    if (t != IR_VOID) spv_define(r, v);
}

void spv_read_image_sample(reader *r) { access(r, IR_OP_image_sample, result_type(r), 2); }

void spv_read_image_read(reader *r) { access(r, IR_OP_image_read, result_type(r), 2); }

void spv_read_image_write(reader *r) { access(r, IR_OP_image_write, IR_VOID, 3); }

/* -------------------------------------------------------------------------------------- queries */

void spv_read_image_query(reader *r) {
    ir_op op = spv_op_of_row(r);
    ir_inst *args[2] = {spv_arg(r, 0)};
    if (op == IR_OP_image_size_lod) args[1] = spv_arg(r, 1);
    spv_check_types(r, op, result_type(r), args, 0);
    spv_define(r, ir_build(&r->b, op, result_type(r), IR_PLAIN, (ir_args){ir_ops[op].nargs, args}));
}

/* ---------------------------------------------------------------- image functions left as calls */

/* The image operands for the signedness of integer texels, which is in the last letters of
 * read_imageui and the like. */
static uint32_t sign_of(const char *key) {
    size_t n = strlen(key);
    if (key[n - 1] != 'i') return 0;
    return key[n - 2] == 'u' ? SpvImageOperandsZeroExtendMask : SpvImageOperandsSignExtendMask;
}

/* read_imagef(image, coordinate) and the like */
static void call_read(reader *r, const char *key) {
    ir_inst *args[2] = {spv_arg(r, 0), spv_arg(r, 1)};
    ir_imm imm = {.image.operands = sign_of(key)};
    spv_check_types(r, IR_OP_image_read, result_type(r), args, 0);
    spv_define(r, ir_build_raw(&r->b, IR_OP_image_read, result_type(r), ir_with_imm(imm),
                               (ir_args){2, args}));
}

/* The sampled image of the image and the sampler that are operands 0 and 1. */
static ir_inst *sampled_image(reader *r) {
    ir_inst *pair[2] = {image_arg(r, 0), spv_arg(r, 1)};
    ir_type_info info = *ir_type_get(r->m, pair[0]->type);
    info.kind = IR_SAMPLED_IMAGE;
    ir_type t = ir_image_type(r->m, &info);
    spv_check_types(r, IR_OP_sampled_image, t, pair, 0);
    return ir_build(&r->b, IR_OP_sampled_image, t, IR_PLAIN, (ir_args){2, pair});
}

/* read_imagef(image, sampler, coordinate) and the like: operand 0 of the op is operand 1 here */
static void call_sample(reader *r, const char *key) {
    ir_inst *args[3] = {sampled_image(r), spv_arg(r, 2), ir_const(r->b.f, IR_F32, 0)};
    ir_imm imm = {.image.operands = SpvImageOperandsLodMask | sign_of(key)};
    spv_check_types(r, IR_OP_image_sample, result_type(r), args, 1);
    spv_define(r, ir_build_raw(&r->b, IR_OP_image_sample, result_type(r), ir_with_imm(imm),
                               (ir_args){3, args}));
}

void spv_call_read_image(reader *r, const spv_builtin *b, const char *key) {
    (void)b;
    spv_want_args(r, key, 2);
    if (r->in.n == 2)
        call_read(r, key);
    else
        call_sample(r, key);
}

/* write_imagef(image, coordinate, texel) and the like */
void spv_call_write_image(reader *r, const spv_builtin *b, const char *key) {
    (void)b;
    spv_want_args(r, key, 3);
    ir_inst *args[3] = {spv_arg(r, 0), spv_arg(r, 1), spv_arg(r, 2)};
    ir_imm imm = {.image.operands = sign_of(key)};
    spv_check_types(r, IR_OP_image_write, IR_VOID, args, 0);
    ir_build_raw(&r->b, IR_OP_image_write, IR_VOID, ir_with_imm(imm), (ir_args){3, args});
}

static unsigned size_components(const ir_type_info *image) {
    unsigned n = image->image.dim == SpvDim2D ? 2 : image->image.dim == SpvDim3D ? 3 : 1;
    return n + image->image.arrayed;
}

/* get_image_width and the like: data is the component, 3 the last one */
void spv_call_image_size(reader *r, const spv_builtin *b, const char *key) {
    spv_want_args(r, key, 1);
    ir_inst *args[2] = {image_arg(r, 0), ir_const(r->b.f, IR_I32, 0)};
    const ir_type_info *image = ir_type_get(r->m, args[0]->type);
    unsigned n = size_components(image), component = b->data == 3 ? n - 1 : b->data;
    if (component >= n || !ir_is_int(spv_value_type(r, r->in.type)->value) ||
        ir_is_vector(r->in.type->value) || ir_is_bool(r->in.type->value))
        spv_refuse(r, "the call of %s is not supported", spv_key_name(key));
    bool levels = image->image.dim != SpvDimBuffer;
    ir_inst *size = ir_build(&r->b, levels ? IR_OP_image_size_lod : IR_OP_image_size,
                             ir_vector(IR_I32, n), IR_PLAIN, (ir_args){levels ? 2 : 1, args});
    ir_inst *v = n == 1 ? size : ir_build_extract(&r->b, size, component);
    spv_define(r, spv_to_int(r, v, r->in.type->value, false));
}

/* get_image_channel_order, get_image_channel_data_type: data is the op, more is OpenCL C's number
 * for its first value */
void spv_call_image_kind(reader *r, const spv_builtin *b, const char *key) {
    spv_want_args(r, key, 1);
    ir_inst *image = image_arg(r, 0);
    ir_inst *v = spv_op1(r, (ir_op)b->data, IR_I32, image);
    spv_define_checked(r, spv_op2(r, IR_OP_add, IR_I32, v, ir_const(r->b.f, IR_I32, b->more)));
}

/* get_image_dim: width and height; of 3D images depth and 0 as well */
void spv_call_image_dim(reader *r, const spv_builtin *b, const char *key) {
    (void)b;
    spv_want_args(r, key, 1);
    ir_inst *args[2] = {image_arg(r, 0), ir_const(r->b.f, IR_I32, 0)}, *lane[4];
    unsigned n = size_components(ir_type_get(r->m, args[0]->type));
    unsigned lanes = ir_lanes(spv_value_type(r, r->in.type)->value);
    if (r->in.type->value != ir_vector(IR_I32, lanes == 4 ? 4 : 2) || n < 2)
        spv_refuse(r, "the call of %s is not supported", spv_key_name(key));
    ir_inst *size =
        ir_build(&r->b, IR_OP_image_size_lod, ir_vector(IR_I32, n), IR_PLAIN, (ir_args){2, args});
    for (unsigned i = 0; i < lanes; i++)
        lane[i] = i < n ? ir_build_extract(&r->b, size, i) : ir_const(r->b.f, IR_I32, 0);
    spv_define(r, ir_build_vec(&r->b, r->in.type->value, lane));
}

/* __translate_sampler_initializer(bits): OpenCL C's CLK_ constants */
void spv_call_sampler(reader *r, const spv_builtin *b, const char *key) {
    enum { NORMALIZED = 1, ADDRESSING = 2, LINEAR = 0x20 };
    uint64_t bits;
    (void)b;
    spv_want_args(r, key, 1);
    if (!spv_int_constant(r, r->in.arg[0], &bits))
        spv_refuse(r, "a sampler that is not constant is not supported");
    uint64_t addressing = bits / ADDRESSING & 7, linear = (bits & LINEAR) != 0;
    ir_imm imm = {.bits = addressing | (bits & NORMALIZED) << 8 | linear << 16};
    spv_define_checked(r, ir_build(&r->b, IR_OP_sampler, IR_SAMPLER, ir_with_imm(imm), IR_NO_ARGS));
}
