/* emit.c — what all files that write instructions of a function use: ids of values, instructions,
 * blocks, variables, errors.
 *
 * The value of a leaf is written when it is first used; that of an instruction is set when the
 * instruction is written (sw_set_value).
 */
#include "codegen/spirv/spirv.h"

/* --------------------------------------------------------------------------------------- values */

void sw_set_value(sw_func *fn, const ir_inst *i, uint32_t id) {
    bool is_first = fn->id[i->id] == 0;
    fn->id[i->id] = id;
    if (is_first && i->op != IR_OP_address) sw_name(fn->w, id, ir_name_of(fn->f, i));
}

static uint32_t leaf_value(sw_func *fn, const ir_inst *v) {
    if (v->op == IR_OP_address) {
        uint32_t id = sw_global(fn->w, v->imm.global);
        *ir_push(fn->w->arena, &fn->info->variables) = id;
        return id;
    }
    if (v->op == IR_OP_const && !ir_is_ptr(v->type)) return sw_constant(fn->w, v);
    uint32_t type = sw_type(fn->w, v->type);
    return v->op == IR_OP_const ? sw_null(fn->w, type) : sw_undef(fn->w, type);
}

uint32_t sw_value(sw_func *fn, ir_inst *v) {
    uint32_t *id = &fn->id[v->id];
    if (!*id) *id = leaf_value(fn, v);
    return *id;
}

void sw_emit(sw_func *fn, SpvOp op, sw_list operands) { sw_put(fn->w, SEC_BODY, op, operands); }

uint32_t sw_emit_result(sw_func *fn, SpvOp op, uint32_t type, sw_list operands) {
    uint32_t id = sw_new_id(fn->w);
    sw_put_result(fn->w, SEC_BODY, op, (sw_result){type, id}, operands);
    return id;
}

void sw_emit_value(sw_func *fn, const ir_inst *i, SpvOp op, sw_list operands) {
    sw_set_value(fn, i, sw_emit_result(fn, op, sw_value_type(fn->w, fn->info, i), operands));
}

uint32_t sw_emit_ext(sw_func *fn, uint32_t number, uint32_t type, sw_list operands) {
    uint32_t *all = ir_new_array(fn->w->arena, uint32_t, operands.n + 2);
    all[0] = sw_import_std(fn->w);
    all[1] = number;
    if (operands.n) memcpy(all + 2, operands.word, operands.n * sizeof *all);
    return sw_emit_result(fn, SpvOpExtInst, type, (sw_list){operands.n + 2, all});
}

uint32_t sw_emit_lowest_bit(sw_func *fn, uint32_t id, ir_type t) {
    uint32_t one = sw_splat(fn->w, t, 1), zero = sw_splat(fn->w, t, 0);
    uint32_t bit = sw_emit_result(fn, SpvOpBitwiseAnd, sw_type(fn->w, t), SW_LIST(id, one));
    return sw_emit_result(fn, SpvOpINotEqual, sw_bool_type(fn->w, t), SW_LIST(bit, zero));
}

uint32_t sw_variable_for_result(sw_func *fn, ir_type t) {
    for (uint32_t i = 0; i < fn->result_variables.n; i++)
        if (fn->result_variables.data[i].type == t) return fn->result_variables.data[i].id;
    uint32_t id = sw_new_id(fn->w);
    sw_put_result(fn->w, SEC_HEAD, SpvOpVariable,
                  (sw_result){sw_pointer_type(fn->w, IR_PRIVATE, t), id},
                  SW_LIST(SpvStorageClassFunction));
    *ir_push(fn->w->arena, &fn->result_variables) = (sw_result_variable){t, id};
    return id;
}

void sw_begin_block(sw_func *fn, uint32_t label) {
    sw_emit(fn, SpvOpLabel, SW_LIST(label));
    fn->blocks.exit[fn->block->id] = label;
    fn->line = NULL;
}

sw_access sw_access_of(const ir_inst *i) {
    sw_access a = {SpvMemoryAccessAlignedMask, 1u << i->imm.mem.align};
    if (i->imm.mem.flags & IR_MEM_VOLATILE) a.mask |= SpvMemoryAccessVolatileMask;
    if (i->imm.mem.flags & IR_MEM_NONTEMPORAL) a.mask |= SpvMemoryAccessNontemporalMask;
    return a;
}

uint32_t sw_emit_splat(sw_func *fn, uint32_t lane, ir_type t) {
    uint32_t type = sw_type(fn->w, t), v = sw_undef(fn->w, type);
    uint32_t first = sw_emit_result(fn, SpvOpCompositeInsert, type, SW_LIST(lane, v, 0));
    uint32_t operands[IR_MAX_LANES + 2] = {first, v};
    return sw_emit_result(fn, SpvOpVectorShuffle, type, (sw_list){ir_lanes(t) + 2, operands});
}

/* --------------------------------------------------------------------------------------- errors */

void sw_refuse(sw_func *fn, const char *fmt, ...) {
    ir_text text = {.arena = fn->w->arena};
    char why[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    if (fn->inst) ir_print_inst(&text, fn->inst);
    sw_refuse_module(fn->w, "function '%s': %s%s%s", fn->f->name, why, fn->inst ? ": " : "",
                     fn->inst ? text.data : "");
}

void sw_need_version(sw_func *fn, uint32_t version, const char *what) {
    sw_writer *w = fn->w;
    if (w->out.version >= version) return;
    if (w->options.version)
        sw_refuse(fn, "%s needs SPIR-V %s, and this module is to be %s", what,
                  sw_version_name(version), sw_version_name(w->out.version));
    w->out.version = version;
}
