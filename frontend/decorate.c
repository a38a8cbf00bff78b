/* decorate.c — decorations.
 *
 * What the decorations of one id say is gathered in one record of fixed size, so that a group is
 * applied to a target in constant time and no list is walked later.
 */
#include "frontend/reader.h"

const spv_decor *spv_decor_of(reader *r, uint32_t id) {
    static const spv_decor none = {0};
    const spv_decor *d = spv_find(r, id)->decor;
    return d ? d : &none;
}

static spv_decor *decor_of_target(reader *r, uint32_t id) {
    spv_id *e = spv_find(r, id);
    if (!e->decor) e->decor = ir_new(&r->scratch, spv_decor);
    return e->decor;
}

/* Operand k, a literal of a decoration. */
static uint32_t literal(reader *r, uint32_t k) {
    if (k >= r->in.n) spv_fail(r, "%s: the decoration lacks an operand", spv_op_name(r));
    return r->in.arg[k];
}

static void set_linkage(reader *r, spv_decor *d, uint32_t k) {
    uint32_t words = spv_string_words(r, k);
    d->has |= D_LINKAGE;
    d->link_name = spv_string(r, k);
    d->link_type = literal(r, k + words);
    if (d->link_type > SpvLinkageTypeLinkOnceODR)
        spv_fail(r, "linkage type %u is not known", d->link_type);
}

static void set_attribute(reader *r, spv_decor *d, uint32_t attribute) {
    if (attribute < 32)
        d->attrs |= 1u << attribute;
    else
        spv_warn(r, WARN_DECORATION);
}

/* Decorations without effect: hints, and promises that matter to other targets only. */
static bool is_harmless(uint32_t decoration) {
    switch (decoration) {
    case SpvDecorationRelaxedPrecision:
    case SpvDecorationAliased:
    case SpvDecorationCoherent:
    case SpvDecorationNonWritable:
    case SpvDecorationNonReadable:
    case SpvDecorationUniform:
    case SpvDecorationMaxByteOffset:
    case SpvDecorationReferencedIndirectlyINTEL:
    case SpvDecorationStackCallINTEL:
    case SpvDecorationSideEffectsINTEL: return true;
    default: return false;
    }
}

/* Of what programs say there, one word has a meaning. */
static bool is_specialized(reader *r, uint32_t k) {
    spv_string_words(r, k);
    return !strcmp(spv_string(r, k), "specialized");
}

static void apply_flag(reader *r, spv_decor *d, uint32_t decoration) {
    switch (decoration) {
    case SpvDecorationCPacked: d->has |= D_CPACKED; break;
    case SpvDecorationConstant: d->has |= D_CONSTANT; break;
    case SpvDecorationVolatile: d->has |= D_VOLATILE; break;
    case SpvDecorationRestrict: d->has |= D_RESTRICT; break;
    case SpvDecorationNoSignedWrap: d->has |= D_NSW; break;
    case SpvDecorationNoUnsignedWrap: d->has |= D_NUW; break;
    case SpvDecorationSaturatedConversion: d->has |= D_SATURATED; break;
    case SpvDecorationNoContraction: d->has |= D_NO_CONTRACTION; break;
    default:
        if (!is_harmless(decoration)) spv_warn(r, WARN_DECORATION);
    }
}

/* Applies the decoration at operand k. */
static void apply(reader *r, spv_decor *d, uint32_t k) {
    uint32_t decoration = r->in.arg[k];
    switch (decoration) {
    case SpvDecorationBuiltIn:
        d->builtin = literal(r, k + 1);
        d->has |= D_BUILTIN;
        break;
    case SpvDecorationAlignment:
        d->alignment = literal(r, k + 1);
        d->has |= D_ALIGNMENT;
        break;
    case SpvDecorationFPFastMathMode:
        d->fast_math = literal(r, k + 1);
        d->has |= D_FAST_MATH;
        break;
    case SpvDecorationFPRoundingMode:
        d->rounding = literal(r, k + 1);
        d->has |= D_ROUNDING;
        break;
    case SpvDecorationSpecId:
        d->spec_id = literal(r, k + 1);
        d->has |= D_SPEC_ID;
        break;
    case SpvDecorationFunctionRoundingModeINTEL:
        if (literal(r, k + 2) != SpvFPRoundingModeRTE)
            d->lack = "FunctionRoundingModeINTEL is not supported";
        break;
    case SpvDecorationFunctionDenormModeINTEL:
        if (literal(r, k + 2) != SpvFPDenormModePreserve)
            d->lack = "FunctionDenormModeINTEL is not supported";
        break;
    case SpvDecorationFuncParamAttr: set_attribute(r, d, literal(r, k + 1)); break;
    case SpvDecorationLinkageAttributes: set_linkage(r, d, k + 1); break;
    case SpvDecorationUserSemantic:
        if (is_specialized(r, k + 1)) d->has |= D_SPECIALIZED;
        break;
    default: apply_flag(r, d, decoration);
    }
}

void spv_read_decorate(reader *r) { apply(r, decor_of_target(r, r->in.arg[0]), 1); }

void spv_read_decorate_string(reader *r) {
    if (r->in.arg[1] == SpvDecorationUserSemantic && is_specialized(r, 2))
        decor_of_target(r, r->in.arg[0])->has |= D_SPECIALIZED;
}

static void add_offset(reader *r) {
    spv_decor *d = decor_of_target(r, r->in.arg[0]);
    spv_offset *o = ir_new(&r->scratch, spv_offset);
    *o = (spv_offset){.member = r->in.arg[1], .offset = literal(r, 3), .next = d->offsets};
    d->offsets = o;
}

static void add_mark(reader *r) {
    spv_decor *d = decor_of_target(r, r->in.arg[0]);
    spv_mark *m = ir_new(&r->scratch, spv_mark);
    *m = (spv_mark){.member = r->in.arg[1], .next = d->marks};
    d->marks = m;
}

void spv_read_member_decorate(reader *r) {
    if (r->in.arg[2] == SpvDecorationOffset) add_offset(r);
    if (r->in.arg[2] == SpvDecorationUserSemantic && is_specialized(r, 3)) add_mark(r);
}

void spv_read_decoration_group(reader *r) { spv_new_id(r, ID_OTHER); }

/* Adds the decorations of the group to those of the target. */
static void merge(spv_decor *d, const spv_decor *group) {
    d->has |= group->has;
    d->attrs |= group->attrs;
    if (group->lack) d->lack = group->lack;
    if (group->has & D_ALIGNMENT) d->alignment = group->alignment;
    if (group->has & D_BUILTIN) d->builtin = group->builtin;
    if (group->has & D_FAST_MATH) d->fast_math = group->fast_math;
    if (group->has & D_ROUNDING) d->rounding = group->rounding;
    if (group->has & D_SPEC_ID) d->spec_id = group->spec_id;
    if (!(group->has & D_LINKAGE)) return;
    d->link_name = group->link_name;
    d->link_type = group->link_type;
}

void spv_read_group_decorate(reader *r) {
    const spv_decor group = *spv_decor_of(r, r->in.arg[0]);
    for (uint32_t i = 1; i < r->in.n; i++) merge(decor_of_target(r, r->in.arg[i]), &group);
}
