/* half.c — modules that only store halves.
 *
 * Arithmetic on halves is an optional feature of devices (Float16).  Reading and writing them as
 * floats is not: vload_half and vstore_half need Float16Buffer only.  Those suffice for a module in
 * which every half
 *   - is loaded to be widened, or to be stored again,
 *   - is stored after it was narrowed or loaded, or is a constant.
 * Then a load becomes vload_half and its widening nothing, a narrowing becomes part of the stores
 * of its result, and halves that are only copied are 16-bit integers (half_access.c).  If a single
 * half is used in another way, the module needs Float16, and all accesses are plain ones.
 * vload_half and vstore_half cannot be volatile and require the alignment of a half.
 */
#include "codegen/spirv/spirv.h"

static bool is_half(ir_type t) { return ir_elem(t) == IR_F16; }

static bool is_float_or_double(ir_type t) { return ir_elem(t) == IR_F32 || ir_elem(t) == IR_F64; }

/* ----------------------------------------------------------------------------- which modules do */

static bool can_convert(const ir_inst *access) {
    return !(access->imm.mem.flags & IR_MEM_VOLATILE) && access->imm.mem.align >= 1;
}

static bool is_load_of_storage(const ir_inst *i) {
    foreach_use (u, i) {
        bool widens = u->user->op == IR_OP_fpcast && can_convert(i);
        if (!widens && u->user->op != IR_OP_store) return false;
    }
    return true;
}

static bool is_stored_only(const ir_inst *narrowing) {
    foreach_use (u, narrowing)
        if (u->user->op != IR_OP_store || !can_convert(u->user)) return false;
    return true;
}

static bool is_cast_of_storage(const ir_inst *i) {
    const ir_inst *from = ir_arg(i, 0);
    if (is_half(from->type)) return from->op == IR_OP_load && is_float_or_double(i->type);
    return is_float_or_double(from->type) && is_stored_only(i);
}

static bool can_store(const ir_inst *v) {
    return v->op == IR_OP_load || v->op == IR_OP_fpcast || v->op == IR_OP_const ||
           v->op == IR_OP_undef;
}

static bool touches_half(const ir_inst *i) {
    if (is_half(i->type)) return true;
    for (unsigned n = 0; n < i->nargs; n++)
        if (is_half(ir_arg(i, n)->type)) return true;
    return false;
}

static bool is_storage(const ir_inst *i) {
    if (!touches_half(i)) return true;
    switch ((ir_op)i->op) {
    case IR_OP_load: return is_load_of_storage(i);
    case IR_OP_store: return can_store(ir_arg(i, 0));
    case IR_OP_fpcast: return is_cast_of_storage(i);
    default: return false;
    }
}

static bool has_half_signature(const ir_func *f) {
    bool half = is_half(f->ret);
    for (uint32_t n = 0; n < f->nparams; n++) half |= is_half(f->param_val[n]->type);
    return half;
}

bool sw_only_stores_halves(const ir_module *m) {
    foreach_func (f, m) {
        if (has_half_signature(f)) return false;
        foreach_block (b, f)
            foreach_inst (i, b)
                if (!is_storage(i)) return false;
    }
    return true;
}

bool sw_is_half_access(const sw_writer *w, const ir_inst *i) {
    if (!w->stores_halves) return false;
    return is_half(i->op == IR_OP_store ? ir_arg(i, 0)->type : i->type);
}

const ir_inst *sw_narrowing(const sw_writer *w, const ir_inst *store) {
    const ir_inst *v = ir_arg(store, 0);
    return sw_is_half_access(w, store) && v->op == IR_OP_fpcast ? v : NULL;
}
