/* simplify.c — folds constants and applies the rewrite rules until nothing changes.
 *
 *   does        moves constants to the right of commutative operations; folds constants; applies
 *               the rules of simplify.rules; replaces phis whose arguments are all the same
 *               value; removes unused instructions
 *   needs       valid SSA form; finds more after mem2reg, because the rules do not apply to memory
 *   leaves      the control flow graph as it is
 *   gives up    when the number of steps exceeds a multiple of the function's size.  Rules are
 *               meant to terminate; if a combination of them does not, the result is still correct
 *
 * The worklist holds all instructions in program order at first.  When an instruction is replaced,
 * its users and the new instructions are added again, and so are its operands, which may have lost
 * their last use.  Unreachable blocks are ignored, because a value there may depend on itself
 * without a phi.
 */
#include "ir/eval.h"
#include "passes/passes.h"

typedef struct {
    ir_func *f;
    pass_ctx *cx;
    ir_builder b;
    const ir_dom *dom;
    ir_vec(ir_inst *) work; /* i->mark: is i in it? */
    uint64_t budget;
    bool changed;
} simplifier;

static void push(simplifier *s, ir_inst *i) {
    if (!i->block || i->mark) return;
    i->mark = 1;
    *ir_push(s->cx->scratch, &s->work) = i;
}

/* Without `leaving`, x may have a single use, which some rules require. */
static void push_last_user(simplifier *s, const ir_inst *x, const ir_inst *leaving) {
    ir_inst *last = NULL;
    for (const ir_use *u = x->uses; u; u = u->next) {
        if (u->user == leaving) continue;
        if (last) return;
        last = u->user;
    }
    if (last) push(s, last);
}

static void push_operands(simplifier *s, const ir_inst *i) {
    for (unsigned n = 0; n < i->nargs; n++) {
        ir_inst *x = ir_arg(i, n);
        if (!x->block) continue;
        push(s, x);
        push_last_user(s, x, i);
    }
}

static void remove_inst(simplifier *s, ir_inst *i) {
    push_operands(s, i);
    ir_remove(i);
    ir_count(s->f->module->cx, simplify_removed, 1);
    s->changed = true;
}

/* A new value takes the name of i. */
static void pass_on_name(const simplifier *s, const ir_inst *i, ir_inst *with) {
    const char *name = ir_name_of(s->f, i);
    if (name && with->block && !ir_name_of(s->f, with)) ir_set_name(s->f, with, name);
}

static void replace_inst(simplifier *s, ir_inst *i, ir_inst *with) {
    foreach_use (u, i) push(s, u->user);
    push(s, with);
    pass_on_name(s, i, with);
    ir_replace_uses(i, with);
    remove_inst(s, i);
}

static bool is_known(const ir_inst *i) { return ir_is_const(i) || i->op == IR_OP_undef; }

/* Constants to the right. */
static void order_operands(simplifier *s, ir_inst *i) {
    if (!ir_has_flag(i, F_COMMUTES) || !is_known(ir_arg(i, 0)) || is_known(ir_arg(i, 1))) return;
    ir_inst *known = ir_arg(i, 0);
    ir_set_arg(i, 0, ir_arg(i, 1));
    ir_set_arg(i, 1, known);
    s->changed = true;
}

static ir_inst *simpler(simplifier *s, ir_inst *i) {
    if (i->op == IR_OP_phi) return ir_only_argument(s->f, s->dom, i);
    order_operands(s, i);
    ir_inst *constant = i->nargs && is_known(ir_arg(i, 0)) ? ir_fold(s->f, i) : NULL;
    if (constant) return constant;
    ir_before(&s->b, i);
    s->b.loc = i->loc;
    return pass_apply_rules(&s->b, i, s->cx);
}

/* A store of lanes that is known to be one of all lanes, or of none, is a plain one, or nothing. */
static bool settle_store(simplifier *s, ir_inst *i) {
    uint64_t all;
    if (i->op != IR_OP_masked_store || !ir_is_const(ir_arg(i, 2))) return false;
    if (!ir_is_splat(ir_arg(i, 2), &all)) return false;
    ir_before(&s->b, i);
    s->b.loc = i->loc;
    if (all & 1)
        ir_build_raw(&s->b, IR_OP_store, IR_VOID, ir_attrs_of(i),
                     IR_ARGS(ir_arg(i, 0), ir_arg(i, 1)));
    remove_inst(s, i);
    return true;
}

static void simplify_inst(simplifier *s, ir_inst *i) {
    if (settle_store(s, i)) return;
    if (!i->uses && ir_is_dead_safe(i)) {
        remove_inst(s, i);
        return;
    }
    ir_inst *before = i->prev;
    ir_inst *with = simpler(s, i);
    for (ir_inst *made = i->prev; made != before; made = made->prev) push(s, made);
    if (with) replace_inst(s, i, with);
}

/* Queues all instructions of reachable blocks; the first ones are taken first. */
static void push_function(simplifier *s) {
    foreach_block (b, s->f)
        foreach_inst (i, b) i->mark = 0;
    for (uint32_t n = s->dom->order.n; n-- > 0;)
        foreach_inst_reverse (i, s->dom->order.rpo[n]) push(s, i);
    s->budget = 64 * (uint64_t)s->work.n + 1024;
}

bool pass_simplify(ir_func *f, pass_ctx *cx) {
    simplifier s = {.f = f, .cx = cx, .dom = ir_dominators(f)};
    ir_builder_init(&s.b, f);
    push_function(&s);
    while (s.work.n && s.budget-- > 0) {
        ir_inst *i = s.work.data[--s.work.n];
        i->mark = 0;
        bool reachable = i->block && s.dom->order.index[i->block->id] != UINT32_MAX;
        if (reachable) simplify_inst(&s, i);
    }
    return s.changed;
}

static ir_inst *apply_rules(ir_builder *b, ir_inst *i, void *cx) {
    return pass_apply_rules(b, i, cx);
}

ir_simplifier pass_simplifier(pass_ctx *cx) { return (ir_simplifier){apply_rules, cx}; }
