/* opencl_memory.c — vload, vstore and their half forms, and printf.
 *
 * vloadn(offset, p) reads n elements at p[offset * n] with the alignment of one element.  The
 * `a` forms of half are aligned to the whole vector; a vector of 3 takes the room of 4.
 */
#include "frontend/reader.h"

/* p + offset * elements * bytes */
static ir_inst *element_address(reader *r, uint32_t offset, uint32_t pointer, uint64_t step) {
    ir_inst *p = spv_arg_pointer(r, pointer), *i = spv_arg_size(r, offset);
    return ir_build_ptradd(&r->b, p, spv_times(r, i, step), true);
}

static void check_pointee(reader *r, uint32_t k, ir_type elem) {
    const spv_type *p = spv_arg_type(r, k);
    if (p->form != T_POINTER) spv_bad_type(r, k, "a pointer");
    const spv_type *pointee = spv_pointee(r, p);
    if (pointee && pointee->memory != elem) spv_warn(r, WARN_POINTEE);
}

/* -------------------------------------------------------------------------------- vload, vstore */

void spv_ext_vload(reader *r) {
    ir_type t = spv_value_type(r, r->in.type)->value;
    if (!spv_is_number(t) || r->in.arg[2] != ir_lanes(t))
        spv_fail(r, "%s: the result has type %s, want %u components", spv_op_name(r),
                 spv_type_name(r, r->in.type), r->in.arg[2]);
    check_pointee(r, 1, ir_elem(t));
    uint64_t size = ir_sizeof(r->m, ir_elem(t));
    ir_inst *p = element_address(r, 0, 1, size * ir_lanes(t));
    spv_define(r, ir_build_load(&r->b, t, p, (unsigned)size, 0));
}

void spv_ext_vstore(reader *r) {
    ir_inst *v = spv_arg(r, 0);
    if (!spv_is_number(v->type)) spv_bad_type(r, 0, "a vector");
    check_pointee(r, 2, ir_elem(v->type));
    uint64_t size = ir_sizeof(r->m, ir_elem(v->type));
    ir_inst *p = element_address(r, 1, 2, size * ir_lanes(v->type));
    ir_build_store(&r->b, v, p, (unsigned)size, 0);
}

/* ----------------------------------------------------------------------------------------- half */

static bool is_aligned_form(uint32_t number) {
    return number == SPV_STD_vloada_halfn || number == SPV_STD_vstorea_halfn ||
           number == SPV_STD_vstorea_halfn_r;
}

/* The address of the halves, and their alignment. */
static ir_inst *half_address(reader *r, uint32_t offset, uint32_t pointer, unsigned lanes,
                             unsigned *align) {
    unsigned room = is_aligned_form(r->in.ext->number) && lanes == 3 ? 4 : lanes;
    *align = 2;
    if (is_aligned_form(r->in.ext->number))
        while (*align < 2 * room) *align *= 2;
    check_pointee(r, pointer, IR_F16);
    return element_address(r, offset, pointer, UINT64_C(2) * room);
}

void spv_ext_vload_half(reader *r) {
    ir_type t = spv_value_type(r, r->in.type)->value;
    unsigned align;
    if (!ir_is_float(t) || (r->in.n > 2 && r->in.arg[2] != ir_lanes(t)))
        spv_fail(r, "%s: the result has type %s", spv_op_name(r), spv_type_name(r, r->in.type));
    ir_inst *p = half_address(r, 0, 1, ir_lanes(t), &align);
    ir_inst *v = ir_build_load(&r->b, ir_with_elem(t, IR_F16), p, align, 0);
    spv_define(r, v->type == t ? v : spv_op1(r, IR_OP_fpcast, t, v));
}

void spv_ext_vstore_half(reader *r) {
    ir_inst *v = spv_arg(r, 0);
    ir_imm imm = {.round = {.mode = r->in.n > 3 ? (uint8_t)r->in.arg[3] : IR_RTE}};
    unsigned align;
    if (!ir_is_float(v->type)) spv_bad_type(r, 0, "a float");
    if (r->in.n > 3 && r->in.arg[3] > IR_RTN)
        spv_fail(r, "%s: there is no rounding mode %u", spv_op_name(r), r->in.arg[3]);
    ir_type t = ir_with_elem(v->type, IR_F16);
    ir_inst *p = half_address(r, 1, 2, ir_lanes(t), &align);
    if (v->type != t) v = ir_build(&r->b, IR_OP_fpcast, t, ir_with_imm(imm), IR_ARGS(v));
    ir_build_store(&r->b, v, p, align, 0);
}

/* --------------------------------------------------------------------------------------- printf */

/* The global and byte that a pointer value names, seen through casts and constant steps. */
static const ir_global *find_global(const ir_inst *p, uint64_t *offset) {
    for (*offset = 0; p->op == IR_OP_ptradd || p->op == IR_OP_ptrcast; p = ir_arg(p, 0)) {
        if (p->op != IR_OP_ptradd) continue;
        if (!ir_is_const(ir_arg(p, 1))) return NULL;
        *offset += ir_arg(p, 1)->imm.bits;
    }
    return p->op == IR_OP_address ? p->imm.global : NULL;
}

static const char *find_format(reader *r) {
    uint64_t offset;
    const ir_global *g = find_global(spv_arg_pointer(r, 0), &offset);
    uint64_t size = g && g->init ? ir_sizeof(r->m, g->type) : 0;
    const void *start = offset < size ? g->init + offset : NULL;
    if (!start || !g->constant || !memchr(start, 0, size - offset))
        spv_refuse(r, "printf with a format that is not a constant string is not supported");
    const spv_type *p = spv_arg_type(r, 0), *pointee = spv_pointee(r, p);
    if (g->space != IR_CONST || (pointee && pointee->memory != IR_I8))
        spv_warn(r, WARN_FORMAT_SPACE);
    return ir_strdup(&r->m->arena, start);
}

void spv_ext_printf(reader *r) {
    const char *format = find_format(r);
    ir_inst **args = ir_new_array(&r->scratch, ir_inst *, r->in.n);
    for (uint32_t k = 1; k < r->in.n; k++) args[k - 1] = spv_arg(r, k);
    ir_imm imm = {.string = format};
    ir_inst *v =
        ir_build_raw(&r->b, IR_OP_printf, IR_I32, ir_with_imm(imm), (ir_args){r->in.n - 1, args});
    spv_define_checked(r, v);
}
