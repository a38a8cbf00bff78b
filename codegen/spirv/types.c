/* types.c — types, the pointees of pointers, and constants.
 *
 * Integers have no sign.  i1 is OpTypeBool as a value and i8 in memory, where a bool has no size.
 * Pointers are opaque in the IR: a pointer in memory is written as a pointer to bytes, all others
 * have the pointee that typing.c has chosen.  Declaring a type adds the capabilities that it needs:
 * Int8, Int64, Vector16, ImageBasic and the like; Float16 is needed for values only.  Nesting of
 * types is bounded (IR_MAX_TYPE_DEPTH), so the walk over members may recurse.
 *
 * Types and constants are in one file because the type of an array has a constant as its length.
 * Narrow integers and halves are in the low bits of a word, 64-bit constants take two words, low
 * one first.  A vector with 0 in every lane is OpConstantNull.
 */
#include "codegen/spirv/spirv.h"

/* -------------------------------------------------------------------------------------- scalars */

static uint32_t int_type(sw_writer *w, uint32_t bits) {
    if (bits == 8) sw_capability(w, SpvCapabilityInt8);
    if (bits == 16) sw_capability(w, SpvCapabilityInt16);
    if (bits == 64) sw_capability(w, SpvCapabilityInt64);
    return sw_intern(w, SpvOpTypeInt, 0, SW_LIST(bits, 0));
}

static uint32_t float_type(sw_writer *w, uint32_t bits) {
    if (bits == 16) w->types.has_halves = true;
    if (bits == 64) sw_capability(w, SpvCapabilityFloat64);
    return sw_intern(w, SpvOpTypeFloat, 0, SW_LIST(bits));
}

static uint32_t vector_type(sw_writer *w, ir_type t) {
    uint32_t lanes = ir_lanes(t), elem = sw_held_type(w, ir_elem(t));
    bool legal = lanes == 2 || lanes == 3 || lanes == 4 || lanes == 8 || lanes == 16;
    if (!legal) sw_refuse_module(w, "vectors of %u lanes cannot be written as SPIR-V", lanes);
    if (lanes >= 8) sw_capability(w, SpvCapabilityVector16);
    return sw_intern(w, SpvOpTypeVector, 0, SW_LIST(elem, lanes));
}

static uint32_t plain_type(sw_writer *w, ir_type t) {
    switch (ir_kind_of(t)) {
    case IR_VOID: return sw_intern(w, SpvOpTypeVoid, 0, SW_NONE);
    case IR_I1: return sw_intern(w, SpvOpTypeBool, 0, SW_NONE);
    case IR_I8: return int_type(w, 8);
    case IR_I16: return int_type(w, 16);
    case IR_I32: return int_type(w, 32);
    case IR_I64: return int_type(w, 64);
    case IR_F16: return float_type(w, 16);
    case IR_F32: return float_type(w, 32);
    case IR_F64: return float_type(w, 64);
    case IR_BF16: sw_refuse_module(w, "type bf16 cannot be written as SPIR-V");
    case IR_PTR: return sw_pointer_type(w, ir_space_of(t), IR_I8);
    case IR_SAMPLER: return sw_intern(w, SpvOpTypeSampler, 0, SW_NONE);
    case IR_EVENT: return sw_intern(w, SpvOpTypeEvent, 0, SW_NONE);
    default: assert(0 && "a type with an entry in the table"); return 0;
    }
}

/* ---------------------------------------------------------------------- structs, arrays, images */

static uint32_t struct_type(sw_writer *w, const ir_type_info *t) {
    uint32_t *members = ir_new_array(w->arena, uint32_t, t->count + 1), id;
    for (uint32_t i = 0; i < t->count; i++)
        members[i + 1] = sw_held_type(w, sw_memory_type(t->member[i]));
    id = members[0] = sw_new_id(w);
    sw_put(w, SEC_GLOBAL, SpvOpTypeStruct, (sw_list){t->count + 1, members});
    sw_name(w, id, t->name);
    if (t->packed) sw_decorate0(w, id, SpvDecorationCPacked);
    for (uint32_t i = 0; t->marked && i < t->count; i++)
        if (t->marked[i]) sw_decorate_member(w, id, i, "specialized");
    return id;
}

static uint32_t array_type(sw_writer *w, const ir_type_info *t) {
    uint32_t elem = sw_held_type(w, sw_memory_type(t->member[0]));
    if (t->count == 0) sw_refuse_module(w, "SPIR-V has no arrays of 0 elements");
    return sw_intern(w, SpvOpTypeArray, 0, SW_LIST(elem, sw_size(w, t->count)));
}

static void need_image_capabilities(sw_writer *w, const ir_type_info *t) {
    sw_capability(w, SpvCapabilityImageBasic);
    if (t->image.dim == SpvDim1D)
        sw_capability(w, t->image.sampled == 2 ? SpvCapabilityImage1D : SpvCapabilitySampled1D);
    if (t->image.dim == SpvDimBuffer)
        sw_capability(w, t->image.sampled == 2 ? SpvCapabilityImageBuffer
                                               : SpvCapabilitySampledBuffer);
    if (t->image.access == SpvAccessQualifierReadWrite)
        sw_capability(w, SpvCapabilityImageReadWrite);
}

static uint32_t image_type(sw_writer *w, const ir_type_info *t) {
    need_image_capabilities(w, t);
    return sw_intern(w, SpvOpTypeImage, 0,
                     SW_LIST(sw_type(w, t->image.texel), t->image.dim, t->image.depth,
                             t->image.arrayed, t->image.ms, t->image.sampled, t->image.format,
                             t->image.access));
}

static uint32_t table_type(sw_writer *w, const ir_type_info *t) {
    switch (t->kind) {
    case IR_STRUCT: return struct_type(w, t);
    case IR_ARRAY: return array_type(w, t);
    case IR_IMAGE: return image_type(w, t);
    case IR_SAMPLED_IMAGE: return sw_intern(w, SpvOpTypeSampledImage, 0, SW_LIST(image_type(w, t)));
    default: assert(0 && "a type without an entry in the table"); return 0;
    }
}

/* ------------------------------------------------------------------------------------- any type */

uint32_t sw_held_type(sw_writer *w, ir_type t) {
    ir_kind k = ir_kind_of(t);
    bool in_table = ir_is_aggregate(t) || k == IR_IMAGE || k == IR_SAMPLED_IMAGE;
    const ir_type_info *info = in_table ? ir_type_get(w->m, t) : NULL;
    uint32_t *id = info ? &w->types.table[info->index] : &w->types.plain[t];
    if (!*id)
        *id = info ? table_type(w, info) : ir_is_vector(t) ? vector_type(w, t) : plain_type(w, t);
    return *id;
}

uint32_t sw_type(sw_writer *w, ir_type t) {
    if (ir_elem(t) == IR_F16) sw_capability(w, SpvCapabilityFloat16);
    return sw_held_type(w, t);
}

ir_type sw_memory_type(ir_type t) { return ir_is_bool(t) ? ir_with_elem(t, IR_I8) : t; }

uint32_t sw_bool_type(sw_writer *w, ir_type shape) {
    return sw_type(w, ir_with_elem(shape, IR_I1));
}

/* ------------------------------------------------------------------------------------- pointers */

SpvStorageClass sw_storage_class(sw_writer *w, ir_space space) {
    switch (space) {
    case IR_PRIVATE: return SpvStorageClassFunction;
    case IR_LOCAL: return SpvStorageClassWorkgroup;
    case IR_GLOBAL: return SpvStorageClassCrossWorkgroup;
    case IR_CONST: return SpvStorageClassUniformConstant;
    case IR_GENERIC: break;
    }
    sw_capability(w, SpvCapabilityGenericPointer);
    return SpvStorageClassGeneric;
}

uint32_t sw_pointer_type_of(sw_writer *w, SpvStorageClass storage, uint32_t type) {
    return sw_intern(w, SpvOpTypePointer, 0, SW_LIST((uint32_t)storage, type));
}

uint32_t sw_pointer_type(sw_writer *w, ir_space space, ir_type pointee) {
    uint64_t key = (uint64_t)pointee << 3 | (uint64_t)space;
    const void *known = ir_map_get(&w->types.pointers, key);
    if (known) return (uint32_t)(uintptr_t)known;
    uint32_t to = sw_held_type(w, pointee);
    uint32_t id = sw_pointer_type_of(w, sw_storage_class(w, space), to);
    ir_map_set(w->arena, &w->types.pointers, key, (void *)(uintptr_t)id);
    return id;
}

ir_type sw_pointee(const sw_info *info, const ir_inst *v) {
    switch ((ir_op)v->op) {
    case IR_OP_address: return sw_memory_type(v->imm.global->type);
    case IR_OP_const:
    case IR_OP_undef: return IR_VOID;
    default: return info->typing.pointee[v->id];
    }
}

ir_type sw_param_pointee(const sw_info *info, unsigned n) {
    ir_type declared = sw_memory_type(info->f->param[n].pointee);
    if (declared != IR_VOID) return declared;
    return info->typing.pointee ? info->typing.pointee[info->f->param_val[n]->id] : IR_I8;
}

uint32_t sw_value_type(sw_writer *w, const sw_info *info, const ir_inst *v) {
    return ir_is_ptr(v->type) ? sw_pointer_type(w, ir_space_of(v->type), sw_pointee(info, v))
                              : sw_type(w, v->type);
}

uint32_t sw_function_type(sw_writer *w, const sw_info *info) {
    const ir_func *f = info->f;
    uint32_t *operands = ir_new_array(w->arena, uint32_t, f->nparams + 1);
    operands[0] = sw_type(w, f->ret);
    for (uint32_t i = 0; i < f->nparams; i++) {
        ir_type t = f->param_val[i]->type;
        operands[i + 1] = ir_is_ptr(t)
                              ? sw_pointer_type(w, ir_space_of(t), sw_param_pointee(info, i))
                              : sw_type(w, t);
    }
    return sw_intern(w, SpvOpTypeFunction, 0, (sw_list){f->nparams + 1, operands});
}

/* ------------------------------------------------------------------------------------ constants */

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
