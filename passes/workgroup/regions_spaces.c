/* regions_spaces.c — answers queries of the space of a generic pointer.
 *
 * An address alone does not tell its space, but the memory of an item is known: local memory is one
 * range, whose size the launch gives, and private memory is the variables of the item.  All other
 * addresses are global.
 */
#include "passes/workgroup/regions_impl.h"

#define FIELD(name) offsetof(ir_group_info, name)

static ir_inst *is_within(ir_builder *b, ir_inst *at, ir_inst *start, ir_inst *bytes) {
    start = ir_build1(b, IR_OP_ptrtoint, IR_I64, start);
    return ir_build2(b, IR_OP_ult, IR_I1, ir_build2(b, IR_OP_sub, IR_I64, at, start), bytes);
}

static ir_inst *is_local(pass_group_builder *g, ir_builder *b, ir_inst *at) {
    ir_inst *bytes = pass_info_field(g, FIELD(local_bytes), IR_I32);
    ir_inst *size = ir_build1(b, IR_OP_zext, IR_I64, bytes);
    return is_within(b, at, pass_info_field(g, FIELD(local), ir_ptr(IR_LOCAL)), size);
}

static ir_inst *is_private(pass_group_builder *g, ir_builder *b, ir_inst *at) {
    ir_inst *any = ir_const(g->f, IR_I1, 0);
    foreach_inst (i, g->entry.block) {
        if (i->op != IR_OP_alloca) continue;
        ir_inst *bytes = pass_number(g, ir_sizeof(g->f->module, i->imm.var->type));
        any = ir_build2(b, IR_OP_or, IR_I1, any, is_within(b, at, i, bytes));
    }
    return any;
}

static ir_inst *answer_space(pass_group_builder *g, ir_builder *b, const ir_inst *query) {
    ir_inst *p = ir_arg(query, 0), *at = ir_build1(b, IR_OP_ptrtoint, IR_I64, p);
    ir_inst *local = is_local(g, b, at), *private = is_private(g, b, at);
    ir_type t = query->type;
    if (query->op == IR_OP_ptr_space) {
        ir_inst *other =
            ir_build_select(b, private, ir_const(g->f, t, 0), ir_const(g->f, t, IR_SEM_GLOBAL));
        return ir_build_select(b, local, ir_const(g->f, t, IR_SEM_LOCAL), other);
    }
    ir_inst *same = ir_build1(b, IR_OP_ptrcast, t, p), *null = ir_const(g->f, t, 0);
    ir_inst *elsewhere = ir_build2(b, IR_OP_or, IR_I1, local, private);
    switch (ir_space_of(t)) {
    case IR_LOCAL: return ir_build_select(b, local, same, null);
    case IR_PRIVATE: return ir_build_select(b, private, same, null);
    default: return ir_build_select(b, elsewhere, null, same);
    }
}

void pass_answer_spaces(pass_group_builder *g) {
    ir_builder b;
    ir_builder_init(&b, g->f);
    foreach_block (block, g->f)
        foreach_inst (i, block) {
            if (i->op != IR_OP_ptr_space && i->op != IR_OP_ptrcast_to) continue;
            ir_before(&b, i);
            ir_replace_uses(i, answer_space(g, &b, i));
            ir_remove(i);
        }
}
