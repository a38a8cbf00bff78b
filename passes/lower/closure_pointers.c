/* closure_pointers.c — pointers that a layout declares as structs by value.
 *
 *   does        some compilers give a kernel its closure as a generic pointer, or as one to private
 *               memory whose type they no longer know.  If the layout describes such a parameter,
 *               it becomes the address of a copy of that many bytes, which the host gives
 *   needs       kernels as they are read
 *   leaves      structs by value for `closures`, and casts to generic pointers, which `spaces`
 *               removes
 *   gives up    without a word on what the layout says wrongly: `closures` reports it
 */
#include "ir/build.h"
#include "passes/lower/closures.h"

void closure_find_called(ir_module *m, ir_arena *scratch, ir_map *called) {
    foreach_func (f, m)
        if (!ir_is_declaration(f))
            foreach_block (b, f)
                foreach_inst (i, b)
                    if (i->op == IR_OP_call)
                        ir_map_set(scratch, called, (uintptr_t)i->imm.func, i->imm.func);
}

/* Does the type of the parameter leave open how many bytes it has?  A compiler that does not know a
 * type writes i8. */
static bool may_be_described(const ir_func *f, uint32_t n) {
    const ir_type t = f->param_val[n]->type;
    const ir_param *p = &f->param[n];
    if (t == ir_ptr(IR_GENERIC)) return true;
    if (t != ir_ptr(IR_PRIVATE)) return false;
    return !(p->attrs & IR_PARAM_BYVAL) || p->pointee == IR_I8;
}

static uint32_t alignment_of(const ir_module *m, const ir_param *p, const ir_layout_closure *c) {
    uint64_t align = p->align ? p->align : 1;
    if (p->pointee != IR_VOID && ir_sizeof(m, p->pointee) == c->size) {
        const uint64_t own = ir_alignof(m, p->pointee);
        if (own > align) align = own;
    }
    for (uint32_t k = 0; k < c->members.n; k++) {
        const ir_layout_member *member = &c->members.data[k];
        const uint64_t own = member->kind == IR_MEMBER_VALUE ? ir_alignof(m, member->type) : 1;
        if (own > align) align = own;
    }
    return (uint32_t)align;
}

static void take_struct(ir_func *f, const ir_layout_closure *c) {
    const ir_param old = f->param[c->param];
    ir_inst *value = f->param_val[c->param];
    if (value->type == ir_ptr(IR_GENERIC)) {
        const ir_type address = ir_ptr(IR_PRIVATE);
        ir_builder b;
        ir_builder_init(&b, f);
        ir_before(&b, f->first->first);
        ir_split_param(f, c->param, 1, &address);
        ir_replace_uses(value, ir_build1(&b, IR_OP_ptrcast, value->type, f->param_val[c->param]));
    }
    f->param[c->param] = (ir_param){.name = old.name,
                                    .type_name = old.type_name,
                                    .pointee = old.pointee,
                                    .align = alignment_of(f->module, &old, c),
                                    .attrs = IR_PARAM_BYVAL | (old.attrs & IR_PARAM_SPECIALIZED),
                                    .byval_size = c->size};
}

bool pass_take_structs(ir_module *m, ir_arena *scratch) {
    ir_map called = {0};
    bool changed = false;
    if (!m->layout || !m->layout->closures.n) return false;
    closure_find_called(m, scratch, &called);
    for (uint32_t k = 0; k < m->layout->closures.n; k++) {
        const ir_layout_closure *c = &m->layout->closures.data[k];
        ir_func *f = ir_func_find(m, c->kernel);
        if (!f || ir_is_declaration(f) || !(f->flags & IR_FUNC_KERNEL)) continue;
        if (ir_map_get(&called, (uintptr_t)f)) continue;
        if (c->param >= f->nparams || !may_be_described(f, c->param)) continue;
        take_struct(f, c);
        changed = true;
    }
    return changed;
}
