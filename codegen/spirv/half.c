/* half.c — modules that only store halves.
 *
 * Arithmetic on halves is an optional feature of devices (Float16); reading and writing them as
 * floats is not: vload_half and vstore_half ask for Float16Buffer alone.  A module keeps to that
 * when every half
 *   - is loaded to be widened, or to be stored again,
 *   - is stored after it was narrowed, loaded or written down as a constant.
 * There, a load becomes vload_half and the widening nothing, a narrowing becomes part of its
 * stores, and halves that only move are 16-bit integers.  As soon as one half is something else the
 * module has the feature, and all accesses are plain ones.  vload_half and vstore_half cannot be
 * volatile and want the alignment of a half.
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

/* ----------------------------------------------------------------------------- loads and stores */

/* The halves as their address: those of a vector follow the first. */
static uint32_t half_pointer(sw_func *fn, ir_inst *p, unsigned lanes) {
    return lanes == 1 ? sw_access_pointer(fn, p, IR_F16) : sw_pointer(fn, p, IR_F16);
}

/* Is the access aligned as the forms with an `a` want it?  Three lanes take the room of four. */
static bool is_aligned(const ir_inst *access, unsigned lanes) {
    unsigned room = lanes == 3 ? 4 : lanes;
    return UINT64_C(1) << access->imm.mem.align >= UINT64_C(2) * room;
}

static uint32_t load_widened(sw_func *fn, const ir_inst *i) {
    unsigned lanes = ir_lanes(i->type);
    uint32_t type = sw_type(fn->w, ir_with_elem(i->type, IR_F32)), zero = sw_size(fn->w, 0);
    uint32_t p = half_pointer(fn, ir_arg(i, 0), lanes);
    if (lanes == 1) return sw_emit_ext(fn, OpenCLstd_Vload_half, type, SW_LIST(zero, p));
    uint32_t number = is_aligned(i, lanes) ? OpenCLstd_Vloada_halfn : OpenCLstd_Vload_halfn;
    return sw_emit_ext(fn, number, type, SW_LIST(zero, p, lanes));
}

static uint32_t load_bits(sw_func *fn, const ir_inst *i) {
    ir_type bits = ir_with_elem(i->type, IR_I16);
    sw_access a = sw_access_of(i);
    uint32_t p = sw_access_pointer(fn, ir_arg(i, 0), bits);
    return sw_emit_result(fn, SpvOpLoad, sw_type(fn->w, bits), SW_LIST(p, a.mask, a.align));
}

void sw_emit_half_load(sw_func *fn, const ir_inst *i) {
    bool widened = false, moved = i->imm.mem.flags & IR_MEM_VOLATILE;
    foreach_use (u, i) {
        moved |= u->user->op == IR_OP_store;
        widened |= u->user->op == IR_OP_fpcast && fn->info->needed[u->user->id];
    }
    if (moved) sw_set_value(fn, i, load_bits(fn, i));
    if (!widened) return;
    uint32_t id = load_widened(fn, i);
    foreach_use (u, i)
        if (u->user->op == IR_OP_fpcast) fn->id[u->user->id] = id;
}

/* The load has left its floats here; doubles are made of them. */
void sw_emit_half_widening(sw_func *fn, const ir_inst *i) {
    uint32_t id = fn->id[i->id];
    if (ir_elem(i->type) == IR_F64)
        id = sw_emit_result(fn, SpvOpFConvert, sw_type(fn->w, i->type), SW_LIST(id));
    fn->id[i->id] = 0;
    sw_set_value(fn, i, id);
}

static void store_narrowed(sw_func *fn, const ir_inst *i, const ir_inst *narrowing) {
    static const uint32_t numbers[3][2] = {
        {OpenCLstd_Vstore_half, OpenCLstd_Vstore_half_r},
        {OpenCLstd_Vstore_halfn, OpenCLstd_Vstore_halfn_r},
        {OpenCLstd_Vstorea_halfn, OpenCLstd_Vstorea_halfn_r},
    };
    unsigned lanes = ir_lanes(narrowing->type), mode = narrowing->imm.round.mode;
    uint32_t value = sw_arg(fn, narrowing, 0), zero = sw_size(fn->w, 0);
    uint32_t p = half_pointer(fn, ir_arg(i, 1), lanes);
    uint32_t operands[4] = {value, zero, p, mode};
    unsigned row = lanes == 1 ? 0 : is_aligned(i, lanes) ? 2 : 1;
    bool rounds = mode != IR_RTE;
    sw_emit_ext(fn, numbers[row][rounds], sw_type(fn->w, IR_VOID),
                (sw_list){rounds ? 4 : 3, operands});
}

static uint32_t bits_of(sw_func *fn, ir_inst *v, ir_type bits) {
    if (v->op == IR_OP_const) return sw_constant_as(fn->w, v, bits);
    return v->op == IR_OP_undef ? sw_undef(fn->w, sw_type(fn->w, bits)) : sw_value(fn, v);
}

static void store_bits(sw_func *fn, const ir_inst *i) {
    ir_type bits = ir_with_elem(ir_arg(i, 0)->type, IR_I16);
    sw_access a = sw_access_of(i);
    uint32_t value = bits_of(fn, ir_arg(i, 0), bits);
    uint32_t p = sw_access_pointer(fn, ir_arg(i, 1), bits);
    sw_emit(fn, SpvOpStore, SW_LIST(p, value, a.mask, a.align));
}

void sw_emit_half_store(sw_func *fn, const ir_inst *i) {
    const ir_inst *narrowing = sw_narrowing(fn->w, i);
    if (narrowing)
        store_narrowed(fn, i, narrowing);
    else
        store_bits(fn, i);
}
