/* memory.c — loads, stores, copies, and what else is done with pointers except address arithmetic.
 *
 * SPIR-V pointers have a pointee, IR pointers have none: accesses carry their type.  Compilers with
 * opaque pointers often write a pointee that differs from what is accessed; then the type of the
 * value counts.
 */
#include "frontend/reader.h"

/* What the optional memory operands at operand k say; *k moves after them. */
static spv_access take_access(reader *r, uint32_t *k) {
    spv_access a = {0};
    if (*k >= r->in.n) return a;
    uint32_t mask = r->in.arg[(*k)++];
    if (mask & SpvMemoryAccessVolatileMask) a.flags |= IR_MEM_VOLATILE;
    if (mask & SpvMemoryAccessNontemporalMask) a.flags |= IR_MEM_NONTEMPORAL;
    if (mask & SpvMemoryAccessAlignedMask) {
        if (*k >= r->in.n) spv_fail(r, "%s: the alignment is missing", spv_op_name(r));
        a.align = spv_power_of_two(r, r->in.arg[(*k)++]);
    }
    /* scopes of availability and visibility, aliasing scopes: one id each */
    for (uint32_t rest = mask & ~7u; rest && *k < r->in.n; rest &= rest - 1)
        if (rest & (0u - rest) & 0x30018u) ++*k;
    return a;
}

/* Raises the alignment of a variable to what accesses to it claim. */
static void align_variable(reader *r, ir_inst *p, uint32_t align) {
    enum { ENOUGH = 128 };
    ir_global *g = p->op == IR_OP_address ? p->imm.global : NULL;
    if (align > ENOUGH) return;
    if (g && g->align < align && !(g->flags & IR_FUNC_IMPORT)) g->align = align;
    if (p->op == IR_OP_alloca && p->imm.var->align < align) {
        ir_var *var = ir_dup(&r->m->arena, p->imm.var, sizeof *var);
        var->align = align;
        p->imm.var = var;
    }
}

static uint32_t align_of(reader *r, spv_access a, const spv_type *t, ir_inst *p) {
    uint32_t align = a.align ? a.align : (uint32_t)ir_alignof(r->m, t->memory);
    align_variable(r, p, align);
    return align;
}

/* The memory type of an access, checked against the pointer's pointee. */
static void check_pointee(reader *r, uint32_t k, const spv_type *t) {
    const spv_type *p = spv_arg_type(r, k);
    if (p->form != T_POINTER) spv_bad_type(r, k, "a pointer");
    const spv_type *pointee = spv_pointee(r, p);
    if (pointee && !spv_same_type(pointee, t)) spv_warn(r, WARN_POINTEE);
    if (t->form == T_VOID) spv_fail(r, "%s: void is not in memory", spv_op_name(r));
}

static uint32_t variable_flags(reader *r, uint32_t id) {
    return spv_has(r, id, D_VOLATILE) ? IR_MEM_VOLATILE : 0;
}

/* ----------------------------------------------------------------------------- loads and stores */

/* A sampler variable holds what it was initialized with. */
static bool load_opaque_variable(reader *r, const spv_id *e) {
    const spv_variable *v = e->kind == ID_VARIABLE ? e->var : NULL;
    if (!v || !v->init || v->init->form != C_SAMPLER) return false;
    spv_define_checked(r, spv_const_value(r, v->init));
    return true;
}

static bool load_builtin(reader *r, const spv_id *e, spv_type *t) {
    spv_pointer start = {.var = e->var};
    if (e->kind != ID_BUILTIN && !(e->kind == ID_VARIABLE && e->var->is_builtin)) return false;
    ir_inst *v = spv_builtin_load(r, e->kind == ID_BUILTIN ? e->pointer : &start, t);
    if (v) spv_define(r, v);
    return v != NULL;
}

void spv_read_load(reader *r) {
    spv_type *t = spv_value_type(r, r->in.type);
    const spv_id *e = spv_find(r, r->in.arg[0]);
    uint32_t k = 1;
    check_pointee(r, 0, t);
    if (load_builtin(r, e, t) || load_opaque_variable(r, e)) return;
    spv_access a = take_access(r, &k);
    ir_inst *p = spv_arg_pointer(r, 0);
    spv_define_load(r, t, p, align_of(r, a, t, p), a.flags | variable_flags(r, r->in.arg[0]));
}

/* Unoptimized code copies its parameters to variables, and annotations are of those. */
static void mark_stored(reader *r, const ir_inst *v) {
    if (!spv_has(r, r->in.arg[0], D_SPECIALIZED) || !r->f->entry) return;
    if (v->op != IR_OP_param) return;
    ir_param *p = &r->f->ir->param[v->imm.index];
    if (ir_arg_kind_of(v->type, p) == IR_ARG_VALUE)
        p->attrs |= IR_PARAM_SPECIALIZED;
    else
        spv_warn(r, WARN_SPECIALIZED);
}

void spv_read_store(reader *r) {
    spv_type *t = spv_value_type(r, spv_arg_type(r, 1));
    uint32_t k = 2;
    check_pointee(r, 0, t);
    spv_access a = take_access(r, &k);
    ir_inst *p = spv_arg_pointer(r, 0);
    a.align = align_of(r, a, t, p);
    a.flags |= variable_flags(r, r->in.arg[0]);
    const spv_id *stored = spv_find(r, r->in.arg[1]);
    if (stored->kind == ID_VALUE) mark_stored(r, stored->val);
    spv_store_any(r, r->in.arg[1], p, a);
}

/* --------------------------------------------------------------------------------------- copies */

/* What an address is a known distance from: *offset bytes. */
static ir_inst *base_of(ir_inst *p, uint64_t *offset) {
    *offset = 0;
    for (;; p = ir_arg(p, 0)) {
        const bool sum = p->op == IR_OP_ptradd && ir_is_const(ir_arg(p, 1));
        if (sum) *offset += ir_arg(p, 1)->imm.bits;
        if (!sum && p->op != IR_OP_ptrcast) return p;
    }
}

/* LLVM gives a copy the alignment of its target, also if that of a parameter is less: of a struct
 * by value, or of a pointer to one. */
static uint32_t limit_align(reader *r, ir_inst *p, uint32_t align) {
    uint64_t offset;
    const ir_inst *base = base_of(p, &offset);
    const ir_param *param = base->op == IR_OP_param ? &r->b.f->param[base->imm.index] : NULL;
    if (!param || !param->align) return align;
    uint32_t known = param->align;
    while (offset & (known - 1)) known /= 2;
    if (known >= align) return align;
    spv_warn(r, WARN_COPY_ALIGNMENT);
    return known;
}

/* LLVM gives a struct in a variable the type of its first member, if that is all it knows of it. */
static void make_room(reader *r, ir_inst *p, const ir_inst *bytes) {
    enum { MOST = 1 << 20 };
    uint64_t offset, size = ir_is_const(bytes) ? bytes->imm.bits : 0;
    ir_inst *base = base_of(p, &offset);
    if (base->op != IR_OP_alloca || ir_is_aggregate(base->imm.var->type)) return;
    if (offset > MOST || size > MOST) return;
    if (offset + size <= ir_sizeof(r->m, base->imm.var->type)) return;
    ir_var *var = ir_dup(&r->m->arena, base->imm.var, sizeof *var);
    var->type = ir_array_type(r->m, IR_I8, (uint32_t)(offset + size));
    base->imm.var = var;
    spv_warn(r, WARN_VARIABLE_SIZE);
}

/* Compilers write memset as a copy from a constant of equal bytes. */
static bool fill(reader *r, ir_inst *to, const ir_inst *from, ir_inst *bytes, spv_access a) {
    const spv_variable *v = spv_variable_of(r, from);
    if (!v || v->fill < 0 || !ir_is_const(bytes)) return false;
    if (bytes->imm.bits > ir_sizeof(r->m, v->global->type)) return false;
    spv_fill(r, to, (uint8_t)v->fill, bytes, a);
    return true;
}

static void copy(reader *r, ir_inst *bytes, uint32_t k, uint32_t natural) {
    spv_access to = take_access(r, &k), from = k < r->in.n ? take_access(r, &k) : to;
    ir_inst *target = spv_arg_pointer(r, 0), *source = spv_arg_pointer(r, 1);
    if (!to.align) to.align = natural;
    if (!from.align) from.align = natural;
    to.flags = from.flags = (to.flags | from.flags) & IR_MEM_VOLATILE;
    make_room(r, target, bytes);
    make_room(r, source, bytes);
    align_variable(r, target, to.align);
    if (fill(r, target, source, bytes, to)) return;
    align_variable(r, source, from.align);
    to.align = limit_align(r, target, to.align);
    from.align = limit_align(r, source, from.align);
    if (from.align < to.align) to.align = from.align;
    spv_copy(r, target, source, bytes, to);
}

void spv_read_copy_memory(reader *r) {
    const spv_type *p = spv_arg_type(r, 1);
    if (p->form != T_POINTER) spv_bad_type(r, 1, "a pointer");
    spv_type *t = spv_pointee(r, p);
    if (!t || t->form == T_VOID) spv_fail(r, "OpCopyMemory: the size is not known");
    spv_value_type(r, t);
    ir_inst *bytes = ir_const(r->b.f, ir_size_type(r->m), ir_sizeof(r->m, t->memory));
    copy(r, bytes, 2, (uint32_t)ir_alignof(r->m, t->memory));
}

void spv_read_copy_memory_sized(reader *r) { copy(r, spv_arg_size(r, 2), 3, 1); }

/* ------------------------------------------------------------------------------- about pointers */

void spv_read_ptr_compare(reader *r) {
    ir_inst *x = spv_arg_pointer(r, 0), *y = spv_arg_of(r, 1, x->type);
    bool equal = r->in.opcode == SPV_OP_PtrEqual;
    spv_define_checked(r, spv_op2(r, equal ? IR_OP_eq : IR_OP_ne, IR_I1, x, y));
}

void spv_read_ptr_diff(reader *r) {
    ir_inst *x = spv_arg_pointer(r, 0), *y = spv_arg_of(r, 1, x->type);
    ir_type t = spv_value_type(r, r->in.type)->value, size_type = ir_size_type(r->m);
    const spv_type *elem = spv_pointee(r, spv_arg_type(r, 0));
    uint64_t size = elem && elem->form != T_LACKING ? ir_sizeof(r->m, elem->memory) : 0;
    if (!ir_is_int(t) || ir_is_vector(t)) spv_fail(r, "OpPtrDiff: the result is not an integer");
    if (!size) spv_fail(r, "OpPtrDiff: the size of an element is not known");
    ir_inst *a = spv_op1(r, IR_OP_ptrtoint, size_type, x);
    ir_inst *b = spv_op1(r, IR_OP_ptrtoint, size_type, y);
    ir_inst *d = spv_op2(r, IR_OP_sub, size_type, a, b);
    d = spv_op2(r, IR_OP_sdiv, size_type, d, ir_const(r->b.f, size_type, size));
    if (ir_bits(r->m, t) > ir_bits(r->m, size_type)) d = spv_op1(r, IR_OP_sext, t, d);
    spv_define_checked(r, spv_to_int(r, d, t, false));
}

void spv_read_generic_ptr_mem_semantics(reader *r) {
    ir_inst *p = spv_arg_of(r, 0, ir_ptr(IR_GENERIC));
    spv_define_checked(r, spv_op1(r, IR_OP_ptr_space, IR_I32, p));
}
