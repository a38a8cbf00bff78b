/* memory.c — variables, loads, stores, copies and fills.
 *
 * A bool in memory is a byte: a load tests its lowest bit, and a store chooses between 1 and 0.
 * SPIR-V has copies but no fills.  A fill of known and small size copies from a constant array of
 * equal bytes; any other one is a loop.
 */
#include "codegen/spirv/spirv.h"

enum { MAX_CONSTANT_FILL = 4096, MAX_CONSTANT_ALIGN = 128 };

/* -------------------------------------------------------------------------------- loads, stores */

static void emit_load(sw_func *fn, const ir_inst *i) {
    if (sw_is_half_access(fn->w, i)) {
        sw_emit_half_load(fn, i);
        return;
    }
    ir_type held = sw_memory_type(i->type);
    sw_access a = sw_access_of(i);
    uint32_t p = sw_access_pointer(fn, ir_arg(i, 0), held);
    uint32_t id = sw_emit_result(fn, SpvOpLoad, sw_type(fn->w, held), SW_LIST(p, a.mask, a.align));
    sw_set_value(fn, i, held == i->type ? id : sw_emit_lowest_bit(fn, id, held));
}

static uint32_t stored_value(sw_func *fn, ir_inst *v, ir_type held) {
    uint32_t id = sw_value_as(fn, v, IR_I8);
    if (held == v->type) return id;
    uint32_t one = sw_splat(fn->w, held, 1), zero = sw_splat(fn->w, held, 0);
    return sw_emit_result(fn, SpvOpSelect, sw_type(fn->w, held), SW_LIST(id, one, zero));
}

static void emit_store(sw_func *fn, const ir_inst *i) {
    if (sw_is_half_access(fn->w, i)) {
        sw_emit_half_store(fn, i);
        return;
    }
    ir_type held = sw_memory_type(ir_arg(i, 0)->type);
    sw_access a = sw_access_of(i);
    uint32_t value = stored_value(fn, ir_arg(i, 0), held);
    uint32_t p = sw_access_pointer(fn, ir_arg(i, 1), held);
    sw_emit(fn, SpvOpStore, SW_LIST(p, value, a.mask, a.align));
}

static void emit_variable(sw_func *fn, const ir_inst *i) {
    const ir_var *var = i->imm.var;
    uint32_t type = sw_pointer_type(fn->w, IR_PRIVATE, sw_pointee(fn->info, i));
    uint32_t id = sw_new_id(fn->w);
    sw_put_result(fn->w, SEC_HEAD, SpvOpVariable, (sw_result){type, id},
                  SW_LIST(SpvStorageClassFunction));
    if (var->align > ir_alignof(fn->w->m, var->type))
        sw_decorate(fn->w, id, SpvDecorationAlignment, SW_LIST(var->align));
    sw_set_value(fn, i, id);
}

void sw_emit_memory(sw_func *fn, const ir_inst *i) {
    switch ((ir_op)i->op) {
    case IR_OP_alloca: emit_variable(fn, i); break;
    case IR_OP_load: emit_load(fn, i); break;
    default: emit_store(fn, i);
    }
}

/* --------------------------------------------------------------------------------------- copies */

static bool is_nothing(const ir_inst *size) { return ir_is_const(size) && size->imm.bits == 0; }

void sw_emit_copy(sw_func *fn, const ir_inst *i) {
    sw_access a = sw_access_of(i);
    if (is_nothing(ir_arg(i, 2))) return;
    uint32_t to = sw_pointer(fn, ir_arg(i, 0), IR_I8), from = sw_pointer(fn, ir_arg(i, 1), IR_I8);
    sw_emit(fn, SpvOpCopyMemorySized, SW_LIST(to, from, sw_arg(fn, i, 2), a.mask, a.align));
}

/* ---------------------------------------------------------------------------------------- fills */

/* Copies from a constant array of equal bytes, cast to a pointer to bytes.  The alignment of a copy
 * applies to both ends, so the array has it, too. */
static void fill_from_constant(sw_func *fn, const ir_inst *i) {
    sw_access a = sw_access_of(i);
    uint32_t n = (uint32_t)ir_arg(i, 2)->imm.bits;
    if (a.align > MAX_CONSTANT_ALIGN) a.align = MAX_CONSTANT_ALIGN;
    uint32_t array = sw_constant_bytes(fn->w, n, (uint8_t)ir_arg(i, 1)->imm.bits, a.align);
    uint32_t type = sw_pointer_type(fn->w, IR_CONST, IR_I8);
    uint32_t from = sw_emit_result(fn, SpvOpBitcast, type, SW_LIST(array));
    *ir_push(fn->w->arena, &fn->info->variables) = array;
    sw_emit(fn, SpvOpCopyMemorySized,
            SW_LIST(sw_pointer(fn, ir_arg(i, 0), IR_I8), from, sw_size(fn->w, n), a.mask, a.align));
}

/* for (k = 0; k != n; k++) p[k] = byte; */
static void fill_in_loop(sw_func *fn, const ir_inst *i) {
    sw_writer *w = fn->w;
    ir_type size = ir_size_type(w->m);
    sw_access a = sw_access_of(i);
    uint32_t p = sw_pointer(fn, ir_arg(i, 0), IR_I8), byte = sw_arg(fn, i, 1), n = sw_arg(fn, i, 2);
    uint32_t before = fn->blocks.exit[fn->block->id], head = sw_new_id(w), body = sw_new_id(w);
    uint32_t done = sw_new_id(w), next = sw_new_id(w);
    sw_emit(fn, SpvOpBranch, SW_LIST(head));
    sw_begin_block(fn, head);
    uint32_t k =
        sw_emit_result(fn, SpvOpPhi, sw_type(w, size), SW_LIST(sw_size(w, 0), before, next, body));
    uint32_t ends = sw_emit_result(fn, SpvOpIEqual, sw_type(w, IR_I1), SW_LIST(k, n));
    sw_emit(fn, SpvOpBranchConditional, SW_LIST(ends, done, body));
    sw_begin_block(fn, body);
    uint32_t at =
        sw_emit_result(fn, SpvOpInBoundsPtrAccessChain,
                       sw_pointer_type(w, ir_space_of(ir_arg(i, 0)->type), IR_I8), SW_LIST(p, k));
    sw_emit(fn, SpvOpStore, SW_LIST(at, byte, a.mask, 1));
    sw_put_result(w, SEC_BODY, SpvOpIAdd, (sw_result){sw_type(w, size), next},
                  SW_LIST(k, sw_size(w, 1)));
    sw_emit(fn, SpvOpBranch, SW_LIST(head));
    sw_begin_block(fn, done);
}

/* A volatile fill must not read other memory, so it is always a loop. */
bool sw_fills_in_loop(const ir_inst *i) {
    const ir_inst *byte = ir_arg(i, 1), *size = ir_arg(i, 2);
    bool known = ir_is_const(byte) && ir_is_const(size) && size->imm.bits <= MAX_CONSTANT_FILL;
    return !is_nothing(size) && (!known || i->imm.mem.flags & IR_MEM_VOLATILE);
}

void sw_emit_fill(sw_func *fn, const ir_inst *i) {
    if (is_nothing(ir_arg(i, 2))) return;
    if (sw_fills_in_loop(i))
        fill_in_loop(fn, i);
    else
        fill_from_constant(fn, i);
}
