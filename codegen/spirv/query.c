/* query.c — work-item queries: built-in variables, loaded once in a block.
 *
 * A variable is declared when it is first used, with the name that other producers give it.  Those
 * with a dimension are vectors of three sizes; those of sub-groups and the number of dimensions
 * have 32 bits.  A query of another width is converted.
 */
#include "codegen/spirv/spirv.h"

/* What is loaded: sizes of all dimensions, one size, or 32 bits. */
typedef enum { SIZES, SIZE, NARROW } query_shape;

typedef struct {
    SpvBuiltIn builtin;
    const char *name;
    query_shape shape;
} query_row;

static const query_row rows[IR_OP_COUNT] = {
    [IR_OP_global_id] = {SpvBuiltInGlobalInvocationId, "GlobalInvocationId", SIZES},
    [IR_OP_local_id] = {SpvBuiltInLocalInvocationId, "LocalInvocationId", SIZES},
    [IR_OP_group_id] = {SpvBuiltInWorkgroupId, "WorkgroupId", SIZES},
    [IR_OP_global_size] = {SpvBuiltInGlobalSize, "GlobalSize", SIZES},
    [IR_OP_local_size] = {SpvBuiltInWorkgroupSize, "WorkgroupSize", SIZES},
    [IR_OP_enqueued_local_size] = {SpvBuiltInEnqueuedWorkgroupSize, "EnqueuedWorkgroupSize", SIZES},
    [IR_OP_num_groups] = {SpvBuiltInNumWorkgroups, "NumWorkgroups", SIZES},
    [IR_OP_global_offset] = {SpvBuiltInGlobalOffset, "GlobalOffset", SIZES},
    [IR_OP_work_dim] = {SpvBuiltInWorkDim, "WorkDim", NARROW},
    [IR_OP_global_linear_id] = {SpvBuiltInGlobalLinearId, "GlobalLinearId", SIZE},
    [IR_OP_local_linear_id] = {SpvBuiltInLocalInvocationIndex, "LocalInvocationIndex", SIZE},
    [IR_OP_subgroup_size] = {SpvBuiltInSubgroupSize, "SubgroupSize", NARROW},
    [IR_OP_subgroup_max_size] = {SpvBuiltInSubgroupMaxSize, "SubgroupMaxSize", NARROW},
    [IR_OP_num_subgroups] = {SpvBuiltInNumSubgroups, "NumSubgroups", NARROW},
    [IR_OP_enqueued_num_subgroups] = {SpvBuiltInNumEnqueuedSubgroups, "NumEnqueuedSubgroups",
                                      NARROW},
    [IR_OP_subgroup_id] = {SpvBuiltInSubgroupId, "SubgroupId", NARROW},
    [IR_OP_subgroup_local_id] = {SpvBuiltInSubgroupLocalInvocationId, "SubgroupLocalInvocationId",
                                 NARROW},
};

static uint32_t declare(sw_writer *w, uint32_t type, uint32_t builtin, const char *name) {
    uint32_t id = sw_new_id(w);
    sw_put_result(w, SEC_GLOBAL, SpvOpVariable,
                  (sw_result){sw_pointer_type_of(w, SpvStorageClassInput, type), id},
                  SW_LIST(SpvStorageClassInput));
    sw_name(w, id, ir_sprintf(w->arena, "__spirv_BuiltIn%s", name));
    sw_decorate(w, id, SpvDecorationBuiltIn, SW_LIST(builtin));
    sw_decorate0(w, id, SpvDecorationConstant);
    return id;
}

static uint32_t variable_of(sw_func *fn, const query_row *q, uint32_t type) {
    uint32_t *id = &fn->w->builtins.variable[q->builtin];
    if (!*id) *id = declare(fn->w, type, (uint32_t)q->builtin, q->name);
    *ir_push(fn->w->arena, &fn->info->inputs) = *id;
    return *id;
}

static uint32_t loaded(sw_func *fn, const query_row *q, ir_type t) {
    sw_loaded *known = &fn->query[q->builtin];
    if (known->id && known->block == fn->block) return known->id;
    uint32_t type = sw_type(fn->w, t);
    known->id = sw_emit_result(fn, SpvOpLoad, type, SW_LIST(variable_of(fn, q, type)));
    known->block = fn->block;
    return known->id;
}

/* Masks of lanes relative to this one. */
static void emit_mask(sw_func *fn, const ir_inst *i) {
    static const struct {
        SpvBuiltIn builtin;
        const char *name;
    } masks[5] = {{SpvBuiltInSubgroupEqMask, "SubgroupEqMask"},
                  {SpvBuiltInSubgroupGeMask, "SubgroupGeMask"},
                  {SpvBuiltInSubgroupGtMask, "SubgroupGtMask"},
                  {SpvBuiltInSubgroupLeMask, "SubgroupLeMask"},
                  {SpvBuiltInSubgroupLtMask, "SubgroupLtMask"}};
    uint64_t n = i->imm.bits;
    sw_need_version(fn, 0x00010300, "a sub-group mask");
    sw_capability(fn->w, SpvCapabilityGroupNonUniformBallot);
    uint32_t type = sw_type(fn->w, i->type), *id = &fn->w->builtins.mask[n];
    if (!*id) *id = declare(fn->w, type, (uint32_t)masks[n].builtin, masks[n].name);
    *ir_push(fn->w->arena, &fn->info->inputs) = *id;
    sw_set_value(fn, i, sw_emit_result(fn, SpvOpLoad, type, SW_LIST(*id)));
}

uint32_t sw_load_query(sw_func *fn, const ir_inst *i) {
    return loaded(fn, &rows[i->op], ir_vector(ir_size_type(fn->w->m), 3));
}

void sw_emit_query(sw_func *fn, const ir_inst *i) {
    if (i->op == IR_OP_subgroup_mask) {
        emit_mask(fn, i);
        return;
    }
    const query_row *q = &rows[i->op];
    ir_type lane = q->shape == NARROW ? IR_I32 : ir_size_type(fn->w->m);
    uint32_t id = loaded(fn, q, q->shape == SIZES ? ir_vector(lane, 3) : lane);
    if (q->shape == SIZES)
        id = sw_emit_result(fn, SpvOpCompositeExtract, sw_type(fn->w, lane),
                            SW_LIST(id, i->imm.dim));
    if (lane != i->type)
        id = sw_emit_result(fn, SpvOpUConvert, sw_type(fn->w, i->type), SW_LIST(id));
    sw_set_value(fn, i, id);
}
