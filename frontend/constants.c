/* constants.c — OpConstant… and OpSpecConstant…, except OpSpecConstantOp (fold.c).
 *
 * Constants are kept as a graph of small nodes that belongs to the module; shared parts stay
 * shared, and a null of any size is one node.  They become leaves of a function when it uses them.
 */
#include "frontend/reader.h"

/* ------------------------------------------------------------------------------------ questions */

static const spv_const *address_of(reader *r, spv_variable *v) {
    spv_const *c = ir_new(&r->scratch, spv_const);
    *c = (spv_const){.form = C_ADDRESS, .type = v->type, .global = v->global};
    if (v->is_builtin || v->reason || !v->global) {
        c->form = C_LACKING;
        c->reason = v->reason ? v->reason
                              : "the address of a built-in variable in a constant is not supported";
    }
    return c;
}

const spv_const *spv_constant(reader *r, uint32_t id) {
    const spv_id *e = spv_find(r, id);
    if (e->kind == ID_CONST) return e->konst;
    return e->kind == ID_VARIABLE ? address_of(r, e->var) : NULL;
}

bool spv_int_constant(reader *r, uint32_t id, uint64_t *bits) {
    const spv_id *e = spv_find(r, id);
    if (e->kind == ID_CONST && e->konst->form == C_LACKING) spv_refuse(r, "%s", e->konst->reason);
    if (e->kind != ID_CONST || e->type->form != T_INT) return false;
    if (e->konst->form != C_BITS && e->konst->form != C_NULL) return false;
    if (e->konst->form == C_NULL) spv_warn(r, WARN_NULL_INDEX);
    *bits = e->konst->bits;
    return true;
}

bool spv_signed_constant(reader *r, uint32_t id, int64_t *value) {
    uint64_t bits;
    if (!spv_int_constant(r, id, &bits)) return false;
    *value = ir_sext(bits, spv_find(r, id)->type->bits);
    return true;
}

uint64_t spv_cut(const spv_type *scalar, uint64_t bits) {
    return scalar->form == T_INT ? ir_zext(bits, scalar->bits) : bits;
}

/* A part of a constant without parts of its own: null stays null, undef stays undef. */
static const spv_const *same_form_part(reader *r, const spv_const *c, spv_type *type) {
    spv_const *part = ir_new(&r->scratch, spv_const);
    *part = (spv_const){.form = c->form, .type = type, .reason = c->reason};
    return part;
}

const spv_const *spv_const_leaf(reader *r, const spv_const *c, uint32_t leaf) {
    spv_type *t = c->type;
    while (spv_is_aggregate(t) && c->form == C_PARTS) {
        uint32_t i = spv_member_of_leaf(t, leaf);
        leaf -= spv_member_leaf(t, i);
        c = c->part[i];
        t = c->type;
    }
    return spv_is_aggregate(t) ? same_form_part(r, c, spv_find_leaf(r, t, leaf).type) : c;
}

/* --------------------------------------------------------------------------------- as IR values */

/* Made at the head of the function, where it dominates all uses of the constant. */
static ir_inst *address_value(reader *r, const spv_const *c) {
    ir_builder b;
    ir_type t = c->type->value;
    spv_at_head(r, &b);
    ir_inst *bytes = ir_const(b.f, ir_size_type(r->m), c->bits);
    ir_inst *p = ir_build_ptradd(&b, ir_address(b.f, c->global), bytes, true);
    return ir_is_ptr(t) ? spv_cast_space(&b, p, t) : ir_build1(&b, IR_OP_ptrtoint, t, p);
}

static ir_inst *sampler_value(reader *r, const spv_const *c) {
    ir_builder b;
    spv_at_head(r, &b);
    return ir_build(&b, IR_OP_sampler, IR_SAMPLER, ir_with_imm((ir_imm){.bits = c->bits}),
                    IR_NO_ARGS);
}

static ir_inst *vector_value(reader *r, const spv_const *c) {
    uint64_t lane[IR_MAX_LANES] = {0};
    for (uint32_t i = 0; i < c->type->count; i++) {
        const spv_const *part = c->part[i];
        if (part->form == C_LACKING) spv_refuse(r, "%s", part->reason);
        if (part->form == C_ADDRESS) spv_refuse(r, "a vector of addresses is not supported");
        lane[i] = part->bits;
    }
    if (c->type->count == 1) return ir_const(r->b.f, c->type->value, lane[0]);
    return ir_const_lanes(r->b.f, c->type->value, lane);
}

ir_inst *spv_const_value(reader *r, const spv_const *c) {
    ir_type t = c->type->value;
    switch (c->form) {
    case C_BITS:
    case C_NULL: return ir_const(r->b.f, t, c->bits);
    case C_UNDEF: return ir_undef(r->b.f, t);
    case C_PARTS: return vector_value(r, c);
    case C_ADDRESS: return address_value(r, c);
    case C_SAMPLER: return sampler_value(r, c);
    default: spv_refuse(r, "%s", c->reason);
    }
}

/* --------------------------------------------------------------------------------- declarations */

void spv_define_const(reader *r, const spv_const *c) {
    spv_id *e = spv_new_id(r, ID_CONST);
    e->type = c->type;
    e->konst = c;
}

/* A constant of the type that this instruction declares; C_LACKING if it is not supported. */
spv_const *spv_new_const(reader *r, spv_const_form form) {
    spv_const *c = ir_new(&r->scratch, spv_const);
    if (!r->in.type) spv_fail(r, "%s: %%%u is not a type", spv_op_name(r), r->in.arg[-2]);
    *c = (spv_const){.form = form, .type = r->in.type};
    if (c->type->form == T_LACKING) {
        c->form = C_LACKING;
        c->reason = c->type->reason;
    }
    if (c->type->form == T_VOID || c->type->form == T_FUNCTION)
        spv_fail(r, "%s: no constant has type %s", spv_op_name(r), spv_type_name(r, c->type));
    return c;
}

/* The user's value for a specialization constant, or the module's own; it is listed either way. */
static uint64_t specialize(reader *r, const spv_type *t, uint64_t bits) {
    const spv_decor *d = spv_decor_of(r, r->in.id);
    ir_module *m = r->m;
    if (!(d->has & D_SPEC_ID)) return bits;
    for (size_t i = 0; i < r->input.options->nspecs; i++)
        if (r->input.options->specs[i].id == d->spec_id)
            bits = t->form == T_BOOL ? r->input.options->specs[i].bits != 0
                                     : r->input.options->specs[i].bits;
    bits = ir_zext(bits, t->form == T_INT ? t->bits : ir_bits(m, t->value));
    const char *name = spv_name(r, r->in.id);
    *ir_push(&m->arena, &m->specs) = (ir_spec){.id = d->spec_id,
                                               .type = t->value,
                                               .value = bits,
                                               .name = name ? ir_strdup(&m->arena, name) : NULL};
    return bits;
}

void spv_check_specs(reader *r) {
    r->in = (spv_inst){0};
    for (size_t i = 0; i < r->input.options->nspecs; i++) {
        uint32_t k = 0, id = r->input.options->specs[i].id;
        while (k < r->m->specs.n && r->m->specs.data[k].id != id) k++;
        if (k < r->m->specs.n) continue;
        ir_report(r->cx, (ir_message){.severity = IR_ERROR, .file = r->input.file},
                  "the module has no specialization constant %u", id);
        ir_throw(r->cx, IR_ERR_INPUT);
    }
}

void spv_read_constant_bool(reader *r) {
    spv_const *c = spv_new_const(r, C_BITS);
    bool value = r->in.opcode == SPV_OP_ConstantTrue || r->in.opcode == SPV_OP_SpecConstantTrue;
    if (c->type->form != T_BOOL) spv_fail(r, "%s: the type is not bool", spv_op_name(r));
    c->bits = value;
    if (r->in.opcode >= SPV_OP_SpecConstantTrue) c->bits = specialize(r, c->type, value);
    spv_define_const(r, c);
}

void spv_read_constant(reader *r) {
    spv_const *c = spv_new_const(r, C_BITS);
    if (c->form == C_LACKING) {
        spv_define_const(r, c);
        return;
    }
    if (c->type->form != T_INT && c->type->form != T_FLOAT)
        spv_fail(r, "%s: a constant of type %s has no literal", spv_op_name(r),
                 spv_type_name(r, c->type));
    unsigned bits = c->type->form == T_INT ? c->type->bits : ir_bits(r->m, c->type->value);
    if (r->in.n != (bits > 32 ? 2u : 1u))
        spv_fail(r, "%s: a literal of %u bits does not take %u words", spv_op_name(r), bits,
                 r->in.n);
    c->bits = r->in.arg[0] | (r->in.n > 1 ? (uint64_t)r->in.arg[1] << 32 : 0);
    c->bits = ir_zext(c->bits, bits);
    if (r->in.opcode == SPV_OP_SpecConstant) c->bits = specialize(r, c->type, c->bits);
    spv_define_const(r, c);
}

/* clang-22 adds to the null event of one async copy those of all others. */
void spv_read_constant_null(reader *r) {
    if (r->in.n) spv_warn(r, WARN_EXTRA_WORDS);
    spv_define_const(r, spv_new_const(r, C_NULL));
}

void spv_read_constant_sampler(reader *r) {
    spv_const *c = spv_new_const(r, C_SAMPLER);
    if (c->form != C_LACKING && c->type->value != IR_SAMPLER)
        spv_fail(r, "OpConstantSampler: the type is not a sampler");
    if (r->in.arg[0] > 4 || r->in.arg[1] > 1 || r->in.arg[2] > 1)
        spv_fail(r, "OpConstantSampler: no such sampler");
    c->bits = r->in.arg[0] | r->in.arg[1] << 8 | r->in.arg[2] << 16;
    spv_define_const(r, c);
}

void spv_read_constant_lacking(reader *r) {
    spv_const *c = spv_new_const(r, C_LACKING);
    c->reason = ir_sprintf(&r->scratch, "%s is not supported", spv_op_name(r));
    spv_define_const(r, c);
}

/* ----------------------------------------------------------------------------------- composites */

/* Part i, which must be a constant of the type of that part. */
static const spv_const *take_part(reader *r, spv_const *whole, uint32_t id, uint32_t i) {
    const spv_const *part = spv_constant(r, id);
    const spv_type *want = spv_member(r, whole->type, i);
    if (spv_find(r, id)->kind == ID_FUNCTION) {
        whole->form = C_LACKING;
        whole->reason = "a function pointer in a constant is not supported";
        return NULL;
    }
    if (!part) spv_fail(r, "%s: %%%u is not a constant", spv_op_name(r), id);
    if (part->form == C_LACKING) {
        whole->form = C_LACKING;
        whole->reason = part->reason;
    } else if (!spv_same_type(part->type, want)) {
        spv_fail(r, "%s: part %u has type %s, want %s", spv_op_name(r), i + 1,
                 spv_type_name(r, part->type), spv_type_name(r, want));
    }
    return part;
}

void spv_read_constant_composite(reader *r) {
    uint32_t n, sequel = r->in.opcode == SPV_OP_ConstantComposite
                             ? SPV_OP_ConstantCompositeContinuedINTEL
                             : SPV_OP_SpecConstantCompositeContinuedINTEL;
    const uint32_t *ids = spv_gather(r, sequel, &n);
    spv_const *c = spv_new_const(r, C_PARTS);
    if (c->form == C_LACKING) {
        spv_define_const(r, c);
        return;
    }
    if (c->type->form != T_VECTOR && !spv_is_aggregate(c->type))
        spv_fail(r, "%s: %s has no parts", spv_op_name(r), spv_type_name(r, c->type));
    if (n != c->type->count)
        spv_fail(r, "%s: %u parts for a type of %u", spv_op_name(r), n, c->type->count);
    const spv_const **part = ir_new_array(&r->scratch, const spv_const *, n);
    uint32_t undefined = 0;
    for (uint32_t i = 0; i < n; i++) {
        part[i] = take_part(r, c, ids[i], i);
        if (part[i] && part[i]->form == C_UNDEF) undefined++;
    }
    c->part = part;
    if (n && undefined == n) c->form = C_UNDEF;
    spv_define_const(r, c);
}
