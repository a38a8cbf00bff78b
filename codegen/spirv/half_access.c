/* half_access.c — loads and stores of halves in modules that only store them (half.c).
 *
 * A load that is widened becomes vload_half, whose floats are the result of the widening; a store
 * of a narrowed value becomes vstore_half of the value before narrowing.  Halves that are only
 * copied are loaded and stored as 16-bit integers.
 */
#include "codegen/spirv/spirv.h"

/* A pointer to the halves; to the first one if they are a vector. */
static uint32_t half_pointer(sw_func *fn, ir_inst *p, unsigned lanes) {
    return lanes == 1 ? sw_access_pointer(fn, p, IR_F16) : sw_pointer(fn, p, IR_F16);
}

/* Is the access aligned as vloada_half and vstorea_half require?  Three lanes count as four. */
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
    /* A volatile load is never widened here (half.c). */
    bool widened = false, moved = i->imm.mem.flags & IR_MEM_VOLATILE;
    foreach_use (u, i) {
        moved |= u->user->op == IR_OP_store;
        widened |= u->user->op == IR_OP_fpcast && fn->info->typing.needed[u->user->id];
    }
    if (moved) sw_set_value(fn, i, load_bits(fn, i));
    if (!widened) return;
    uint32_t id = load_widened(fn, i);
    foreach_use (u, i)
        if (u->user->op == IR_OP_fpcast) fn->id[u->user->id] = id;
}

/* The load has set its floats as the value of the widening; doubles are converted from them. */
void sw_emit_half_widening(sw_func *fn, const ir_inst *i) {
    uint32_t id = fn->id[i->id];
    if (ir_elem(i->type) == IR_F64)
        id = sw_emit_result(fn, SpvOpFConvert, sw_type(fn->w, i->type), SW_LIST(id));
    fn->id[i->id] = 0; /* so that sw_set_value gives the value its name */
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

static void store_bits(sw_func *fn, const ir_inst *i) {
    ir_inst *v = ir_arg(i, 0);
    ir_type bits = ir_with_elem(v->type, IR_I16);
    sw_access a = sw_access_of(i);
    uint32_t value = v->op == IR_OP_const   ? sw_constant_as(fn->w, v, bits)
                     : v->op == IR_OP_undef ? sw_undef(fn->w, sw_type(fn->w, bits))
                                            : sw_value(fn, v);
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
