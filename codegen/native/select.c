/* select.c — the walk of instruction selection: from the last instruction to the first.
 *
 * Blocks are visited in postorder: apart from phis, every user is selected before the values it
 * uses.  Machine instructions take the place of what they are made of.  Constants of phis are
 * made at the ends of predecessors.
 */
#include "codegen/native/select.h"

/* ---------------------------------------------------------------------------------------- rules */

static void count_rule(uint32_t hits[IR_TYPE_NUMBERS], const ir_inst *v) {
    int n = ir_typed_operand(ir_info(v)->rule);
    unsigned from = ir_type_number(n < 0 ? v->type : ir_arg(v, (unsigned)n)->type);
    unsigned to = ir_has_two_types(ir_info(v)->rule) ? ir_type_number(v->type) : from;
    hits[from] |= UINT32_C(1) << to;
}

void cg_note_rule(const cg_selection *s, const ir_inst *v, unsigned rule,
                  const ir_rule_info *info) {
    if (s->options->rule_hits) count_rule(s->options->rule_hits[rule], v);
    ir_count(s->f->module->cx, select_rules, 1);
    if (s->options->trace_rules)
        ir_report(s->f->module->cx, (ir_message){.severity = IR_NOTE}, "%s: %s", info->place,
                  info->text);
}

/* ------------------------------------------------------------------------------------ constants */

/* A constant in a register. */
typedef struct {
    ir_inst *inst; /* makes it */
    uint32_t user; /* id of the instruction whose selection used it last */
} materialized;

static materialized *constant_of(cg_selection *s, const ir_inst *x) {
    materialized *made = ir_map_get(&s->constants, (uintptr_t)x);
    if (made) return made;
    made = ir_new(s->scratch, materialized);
    ir_map_set(s->scratch, &s->constants, (uintptr_t)x, made);
    return made;
}

ir_inst *cg_in_register(ir_builder *b, ir_inst *x) {
    cg_selection *s = cg_selection_of(b);
    if (s->selector->strip) x = s->selector->strip(x);
    if (x->op == IR_OP_alloca) return s->selector->constant(b, x);
    if (!ir_is_leaf(x)) return x;
    assert(x->op != IR_OP_param);
    materialized *made = constant_of(s, x);
    bool here = made->inst && made->inst->block == b->block;
    /* It is already used by instructions built for this user, so it must not move down. */
    if (here && made->user == b->before->id) return made->inst;
    if (here)
        ir_move_before(made->inst, b->before);
    else
        made->inst = s->selector->constant(b, x);
    made->user = b->before->id;
    return made->inst;
}

static void select_phi_constants(cg_selection *s, ir_block *b) {
    foreach_phi (phi, b)
        for (unsigned n = 0; n < phi->nargs; n++) {
            ir_before(&s->b, b->pred[n]->last);
            if (cg_is_constant(ir_arg(phi, n)))
                ir_set_arg(phi, n, cg_in_register(&s->b, ir_arg(phi, n)));
        }
}

/* ----------------------------------------------------------------------------- what has no rule */

/* The copy of a parameter's register, at the head of the entry block. */
static void select_params(cg_selection *s) {
    assert(s->f->nparams <= s->selector->nparams);
    ir_before(&s->b, s->f->first->first);
    for (uint32_t n = 0; n < s->f->nparams; n++) {
        ir_inst *p = s->f->param_val[n];
        if (!p->uses) continue;
        ir_imm reg = {.bits = s->selector->params[n]};
        ir_replace_uses(p,
                        ir_build_raw(&s->b, IR_OP_reg_in, p->type, ir_with_imm(reg), IR_NO_ARGS));
    }
}

/* A call of a function of the module. */
static ir_inst *select_call(ir_builder *b, const ir_inst *i) {
    ir_inst *args[CG_MAX_ARGS];
    for (unsigned n = 0; n < i->nargs; n++) args[n] = cg_in_register(b, ir_arg(i, n));
    return ir_build_raw(b, IR_OP_mach_call, i->type, ir_with_imm(i->imm),
                        (ir_args){i->nargs, args});
}

static bool refuse(const cg_selection *s, const ir_inst *i) {
    ir_text text = {.arena = s->scratch};
    ir_print_inst(&text, i);
    return ir_error(s->f->module->cx, "%s has no instruction for '%s'", s->selector->title,
                    text.data);
}

/* ----------------------------------------------------------------------------------------- walk */

static bool is_selected(const ir_inst *i) {
    switch (i->op) {
    case IR_OP_phi:
    case IR_OP_alloca:
    case IR_OP_mach:
    case IR_OP_mach_br:
    case IR_OP_mach_call:
    case IR_OP_reg_in: return true;
    default: return ir_is_terminator(i) && i->op != IR_OP_br;
    }
}

/* NULL: the target has no instruction for i. */
static ir_inst *select_inst(cg_selection *s, ir_inst *i) {
    switch (i->op) {
    case IR_OP_br: return s->selector->branch(&s->b, i);
    case IR_OP_call: return select_call(&s->b, i);
    case IR_OP_host_call: return s->selector->host_call(&s->b, i);
    default: break;
    }
    if (s->selector->is_selectable && !s->selector->is_selectable(s, i)) return NULL;
    return s->selector->rules(&s->b, i, s);
}

/* Replaces i by r, which has the same register class.  A phi needs operands of its own type, so it
 * gets a move if r has another one. */
static void replace(cg_selection *s, ir_inst *i, ir_inst *r) {
    ir_inst *same = r->type == i->type ? r : NULL;
    foreach_use (u, i) {
        bool is_phi = u->user->op == IR_OP_phi;
        if (is_phi && !same) same = ir_build_raw(&s->b, IR_OP_move, i->type, IR_PLAIN, IR_ARGS(r));
        ir_set_arg(u->user, (unsigned)(u - u->user->arg), is_phi ? same : r);
    }
}

/* False after a reported error. */
static bool select_block(cg_selection *s, ir_block *b) {
    for (ir_inst *i = b->last, *before; i; i = before) {
        before = i->prev;
        if (is_selected(i)) continue;
        ir_look_at(s->f->module->cx, i);
        if (i->uses || !ir_is_dead_safe(i)) {
            ir_before(&s->b, i);
            s->b.loc = i->loc;
            ir_inst *r = select_inst(s, i);
            if (!r) return refuse(s, i);
            if (r != i) replace(s, i, r);
        }
        ir_remove(i);
    }
    return true;
}

bool cg_select(const cg_selector *selector, const cg_target *t, ir_func *f, const cg_options *o,
               ir_arena *scratch) {
    cg_selection s = {.selector = selector, .target = t, .options = o, .f = f, .scratch = scratch};
    const ir_dom *dom = ir_dominators(f);
    ir_builder_init(&s.b, f);
    s.loops = ir_loop_tree(f);
    select_params(&s);
    uint32_t n = dom->order.n;
    ir_block **order = ir_dup(scratch, dom->order.rpo, n * sizeof *order);
    for (uint32_t k = 0; k < n; k++) select_phi_constants(&s, order[k]);
    for (uint32_t k = n; k-- > 0;)
        if (!select_block(&s, order[k])) return false;
    f->level = L_MACHINE;
    return true;
}
