/* atomic.c — atomic operations, fences and barriers.
 *
 * Scope and memory semantics are operands in SPIR-V, and are constants here.  Float atomics need
 * capabilities and extensions of their own, by operation and width.
 *
 * Refused: atomic operations on pointers, and on integers of less than 32 bits.
 */
#include "codegen/spirv/spirv.h"

/* Which capability and extension a float atomic needs: by operation, then f16, f32, f64. */
static void need_float_atomic(sw_func *fn, const ir_inst *i) {
    static const SpvCapability add[] = {SpvCapabilityAtomicFloat16AddEXT,
                                        SpvCapabilityAtomicFloat32AddEXT,
                                        SpvCapabilityAtomicFloat64AddEXT};
    static const SpvCapability minmax[] = {SpvCapabilityAtomicFloat16MinMaxEXT,
                                           SpvCapabilityAtomicFloat32MinMaxEXT,
                                           SpvCapabilityAtomicFloat64MinMaxEXT};
    unsigned width = i->type == IR_F16 ? 0 : i->type == IR_F32 ? 1 : 2;
    if (i->op == IR_OP_atomic_fadd) {
        sw_capability(fn->w, add[width]);
        sw_extension(fn->w, width ? "SPV_EXT_shader_atomic_float_add"
                                  : "SPV_EXT_shader_atomic_float16_add");
    } else {
        sw_capability(fn->w, minmax[width]);
        sw_extension(fn->w, "SPV_EXT_shader_atomic_float_min_max");
    }
}

static void need_capabilities(sw_func *fn, const ir_inst *i, ir_type t) {
    if (ir_is_ptr(t)) sw_refuse(fn, "an atomic operation on a pointer cannot be written as SPIR-V");
    if (ir_is_int(t) && ir_bits(fn->w->m, t) < 32)
        sw_refuse(fn, "an atomic operation on %u bits cannot be written as SPIR-V",
                  ir_bits(fn->w->m, t));
    if (t == IR_I64) sw_capability(fn->w, SpvCapabilityInt64Atomics);
    if (i->op == IR_OP_atomic_fadd || i->op == IR_OP_atomic_fmin || i->op == IR_OP_atomic_fmax)
        need_float_atomic(fn, i);
}

static void emit_exchange(sw_func *fn, const ir_inst *i, uint32_t p) {
    sw_writer *w = fn->w;
    uint32_t scope = sw_u32(w, i->imm.sync.scope), equal = sw_u32(w, i->imm.sync.semantics);
    uint32_t unequal = sw_u32(w, i->imm.sync.unequal);
    sw_emit_value(fn, i, SpvOpAtomicCompareExchange,
                  SW_LIST(p, scope, equal, unequal, sw_arg(fn, i, 1), sw_arg(fn, i, 2)));
}

void sw_emit_atomic(sw_func *fn, const ir_inst *i) {
    sw_writer *w = fn->w;
    bool store = i->op == IR_OP_atomic_store;
    ir_type t = store ? ir_arg(i, 1)->type : i->type;
    need_capabilities(fn, i, t);
    uint32_t p = sw_access_pointer(fn, ir_arg(i, 0), t);
    if (i->op == IR_OP_atomic_cmpxchg) {
        emit_exchange(fn, i, p);
        return;
    }
    uint32_t scope = sw_u32(w, i->imm.sync.scope), semantics = sw_u32(w, i->imm.sync.semantics);
    uint32_t operands[4] = {p, scope, semantics, i->nargs > 1 ? sw_arg(fn, i, 1) : 0};
    SpvOp op = (SpvOp)sw_opcode_of(ir_info(i)->spirv);
    if (store)
        sw_emit(fn, op, (sw_list){4, operands});
    else
        sw_set_value(fn, i,
                     sw_emit_result(fn, op, sw_type(w, t), (sw_list){i->nargs + 2u, operands}));
}

void sw_emit_sync(sw_func *fn, const ir_inst *i) {
    uint32_t exec = sw_u32(fn->w, i->imm.sync.exec), scope = sw_u32(fn->w, i->imm.sync.scope);
    uint32_t semantics = sw_u32(fn->w, i->imm.sync.semantics);
    if (i->op == IR_OP_barrier)
        sw_emit(fn, SpvOpControlBarrier, SW_LIST(exec, scope, semantics));
    else
        sw_emit(fn, SpvOpMemoryBarrier, SW_LIST(scope, semantics));
}
