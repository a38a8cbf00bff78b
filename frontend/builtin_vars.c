/* builtin_vars.c — built-in input variables as work-item queries.
 *
 * A load of a whole variable, or of one component through a constant offset, is the query itself.
 * Anything else that is done with the pointer (a dynamic index, a call) gets a private variable
 * that is filled at the head of the function.
 */
#include "frontend/reader.h"

typedef struct {
    uint32_t builtin;
    ir_op op;
    uint32_t lanes; /* 3: one query per dimension; 4: a sub-group mask */
    uint32_t mask;  /* which one */
    const char *name;
} builtin_row;

static const builtin_row builtins[] = {
    {SpvBuiltInNumWorkgroups, IR_OP_num_groups, 3, 0, "NumWorkgroups"},
    {SpvBuiltInWorkgroupSize, IR_OP_local_size, 3, 0, "WorkgroupSize"},
    {SpvBuiltInWorkgroupId, IR_OP_group_id, 3, 0, "WorkgroupId"},
    {SpvBuiltInLocalInvocationId, IR_OP_local_id, 3, 0, "LocalInvocationId"},
    {SpvBuiltInGlobalInvocationId, IR_OP_global_id, 3, 0, "GlobalInvocationId"},
    {SpvBuiltInLocalInvocationIndex, IR_OP_local_linear_id, 1, 0, "LocalInvocationIndex"},
    {SpvBuiltInWorkDim, IR_OP_work_dim, 1, 0, "WorkDim"},
    {SpvBuiltInGlobalSize, IR_OP_global_size, 3, 0, "GlobalSize"},
    {SpvBuiltInEnqueuedWorkgroupSize, IR_OP_enqueued_local_size, 3, 0, "EnqueuedWorkgroupSize"},
    {SpvBuiltInGlobalOffset, IR_OP_global_offset, 3, 0, "GlobalOffset"},
    {SpvBuiltInGlobalLinearId, IR_OP_global_linear_id, 1, 0, "GlobalLinearId"},
    {SpvBuiltInSubgroupSize, IR_OP_subgroup_size, 1, 0, "SubgroupSize"},
    {SpvBuiltInSubgroupMaxSize, IR_OP_subgroup_max_size, 1, 0, "SubgroupMaxSize"},
    {SpvBuiltInNumSubgroups, IR_OP_num_subgroups, 1, 0, "NumSubgroups"},
    {SpvBuiltInNumEnqueuedSubgroups, IR_OP_enqueued_num_subgroups, 1, 0, "NumEnqueuedSubgroups"},
    {SpvBuiltInSubgroupId, IR_OP_subgroup_id, 1, 0, "SubgroupId"},
    {SpvBuiltInSubgroupLocalInvocationId, IR_OP_subgroup_local_id, 1, 0,
     "SubgroupLocalInvocationId"},
    {SpvBuiltInSubgroupEqMask, IR_OP_subgroup_mask, 4, 0, "SubgroupEqMask"},
    {SpvBuiltInSubgroupGeMask, IR_OP_subgroup_mask, 4, 1, "SubgroupGeMask"},
    {SpvBuiltInSubgroupGtMask, IR_OP_subgroup_mask, 4, 2, "SubgroupGtMask"},
    {SpvBuiltInSubgroupLeMask, IR_OP_subgroup_mask, 4, 3, "SubgroupLeMask"},
    {SpvBuiltInSubgroupLtMask, IR_OP_subgroup_mask, 4, 4, "SubgroupLtMask"},
};
enum { BUILTINS = sizeof builtins / sizeof *builtins };

static const builtin_row *find_row(uint32_t builtin) {
    for (int i = 0; i < BUILTINS; i++)
        if (builtins[i].builtin == builtin) return &builtins[i];
    return NULL;
}

bool spv_builtin_of_name(const char *name, uint32_t *builtin) {
    static const char prefix[] = "__spirv_BuiltIn";
    if (strncmp(name, prefix, sizeof prefix - 1) != 0) return false;
    for (int i = 0; i < BUILTINS; i++)
        if (!strcmp(name + sizeof prefix - 1, builtins[i].name)) {
            *builtin = builtins[i].builtin;
            return true;
        }
    return false;
}

const char *spv_builtin_lack(reader *r, uint32_t builtin, const spv_type *t) {
    const builtin_row *row = find_row(builtin);
    if (!row) return ir_sprintf(&r->m->arena, "built-in variable %u is not supported", builtin);
    bool ok = t && (t->form == T_INT || t->form == T_VECTOR) && ir_lanes(t->value) == row->lanes;
    ir_type elem = ok ? ir_elem(t->value) : IR_VOID;
    if (elem == IR_I32 || (elem == IR_I64 && row->lanes != 4)) return NULL;
    return ir_sprintf(&r->m->arena, "built-in variable %s of type %s is not supported", row->name,
                      spv_type_name(r, t));
}

/* -------------------------------------------------------------------------------------- queries */

static ir_inst *whole(ir_builder *b, const builtin_row *row, ir_type t) {
    ir_inst *lane[3];
    if (row->lanes == 4) {
        ir_imm imm = {.bits = row->mask};
        return ir_build(b, row->op, t, ir_with_imm(imm), IR_NO_ARGS);
    }
    if (row->lanes == 1) return ir_build0(b, row->op, t);
    for (unsigned i = 0; i < 3; i++) lane[i] = ir_build_query(b, row->op, ir_elem(t), i);
    return ir_build_vec(b, t, lane);
}

ir_inst *spv_builtin_load(reader *r, spv_pointer *p, spv_type *t) {
    spv_variable *v = p->var;
    if (v->reason) spv_refuse(r, "%s", v->reason);
    const builtin_row *row = find_row(v->builtin);
    ir_type have = spv_pointee(r, v->type)->value;
    int64_t size = (int64_t)ir_sizeof(r->m, ir_elem(have));
    if (t->value == have && p->offset == 0) return whole(&r->b, row, have);
    bool component = row->lanes == 3 && t->value == ir_elem(have) && p->offset >= 0 &&
                     p->offset % size == 0 && p->offset / size < 3;
    if (!component) return NULL;
    return ir_build_query(&r->b, row->op, t->value, (unsigned)(p->offset / size));
}

static bool is_whole(const ir_inst *v) {
    if (v->op != IR_OP_vec || v->nargs != 3 || ir_info(ir_arg(v, 0))->imm != I_DIM) return false;
    bool whole = true;
    for (unsigned d = 0; d < 3; d++) {
        const ir_inst *q = ir_arg(v, d);
        whole &= q->op == ir_arg(v, 0)->op && q->imm.dim == d;
    }
    return whole;
}

/* Beyond the third dimension, ids and offsets are 0 and sizes are 1. */
ir_inst *spv_builtin_component(reader *r, const ir_inst *v, ir_inst *index) {
    if (!is_whole(v)) return NULL;
    ir_op op = ir_arg(v, 0)->op;
    bool zero = op == IR_OP_global_id || op == IR_OP_local_id || op == IR_OP_group_id ||
                op == IR_OP_global_offset;
    return spv_query_dim(r, op, ir_elem(v->type), index, !zero);
}

/* -------------------------------------------------------------------------------- as a variable */

static ir_inst *make_copy(reader *r, const spv_variable *v) {
    ir_type t = spv_pointee(r, v->type)->value;
    unsigned align = (unsigned)ir_alignof(r->m, t);
    ir_builder head;
    ir_inst *copy = spv_temporary(r, spv_pointee(r, v->type));
    spv_at_head(r, &head);
    ir_build_store(&head, whole(&head, find_row(v->builtin), t), copy, align, 0);
    return copy;
}

ir_inst *spv_builtin_address(reader *r, spv_pointer *p) {
    spv_variable *v = p->var;
    if (v->reason) spv_refuse(r, "%s", v->reason);
    if (v->copy_in != r->serial) {
        v->copy = make_copy(r, v);
        v->copy_in = r->serial;
    }
    return spv_step(r, v->copy, (uint64_t)p->offset);
}
