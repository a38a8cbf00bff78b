/* select.c — instruction selection: from the last instruction of a function to its first.
 *
 * Rules (isel.rules) say what an instruction becomes; they see its operands as they were, because
 * those come later.  What a rule takes in loses its use and, when that was the last one, is not
 * selected at all.  Machine instructions take the place of what they are made of.
 *
 * Blocks are met in reverse order of the graph, so that users outside of loops come before what
 * they use.  Constants in phis are made at the ends of predecessors.
 */
#include "codegen/x86_64/select.h"

typedef x86_select_ctx x86_ctx;

/* -------------------------------------------------------------------------- predicates of rules */

static inline ir_inst *operand(const ir_inst *v, unsigned n) { return ir_arg(v, n); }

static bool matches_int(const ir_inst *x, int64_t n) {
    uint64_t bits;
    if (!ir_is_const(x) || !ir_is_int(x->type) || !ir_is_splat(x, &bits)) return false;
    unsigned width = ir_bits(NULL, x->type);
    return bits == ir_zext((uint64_t)n, width);
}

static bool is_alone(const ir_inst *x) { return x->uses && !x->uses->next; }

/* Are truth values of vectors in registers of their own? */
static bool has_masks(const ir_builder *b) { return x86_has(b, X86_V4); }

/* Are n and the operation on bits that uses it one for AVX-512? */
static bool is_ternary(const ir_builder *b, const ir_inst *n) {
    return is_alone(n) && x86_has(b, X86_V4);
}

/* Two shifts that copy the sign of a narrower number: by how much they shift. */
static bool is_sign_copy(const ir_inst *v, const ir_inst *left, const ir_inst *right) {
    unsigned bits = 8u << x86_size_of(v);
    uint64_t by = left->imm.bits, narrow = bits - by;
    return by == right->imm.bits && by < bits && (narrow == 8 || narrow == 16 || narrow == 32);
}

/* Low bytes of a number: all bits of i8, i16 or i32 set. */
static bool is_low_part(const ir_inst *v, const ir_inst *mask) {
    uint64_t m = mask->imm.bits;
    return m == 0xff || m == 0xffff || (m == UINT32_MAX && x86_size_of(v) == 3);
}

/* Does a shift of v's width look at these bits of its amount only, as the machine does? */
static bool keeps_amount(const ir_inst *v, const ir_inst *mask) {
    return mask->imm.bits == (8u << x86_size_of(v)) - 1;
}

static bool contract(const ir_inst *v, const ir_inst *m) {
    unsigned both = v->flags & m->flags;
    return (both & (IR_CONTRACT | IR_FAST)) && is_alone(m);
}

static bool is_relaxed(const ir_inst *v) { return !(v->imm.sync.semantics & IR_SEM_SEQ_CST); }

static const char *rule_text(unsigned rule);

/* Notes that the rule was used, and for which types. */
static void note_hit(uint32_t hits[IR_TYPE_NUMBERS], const ir_inst *v) {
    int n = ir_typed_operand(ir_info(v)->rule);
    unsigned from = ir_type_number(n < 0 ? v->type : ir_arg(v, (unsigned)n)->type);
    unsigned to = ir_has_two_types(ir_info(v)->rule) ? ir_type_number(v->type) : from;
    hits[from] |= UINT32_C(1) << to;
}

static ir_inst *fire(const x86_ctx *cx, const ir_inst *v, unsigned rule, ir_inst *r) {
    const cg_options *o = cx->options;
    if (o->rule_hits) note_hit(o->rule_hits[rule], v);
    if (o->trace_rules)
        ir_report(v->block->func->module->cx, (ir_message){.severity = IR_NOTE}, "%s: %s",
                  x86_rule_place(rule), rule_text(rule));
    return r;
}

#include "codegen/x86_64/isel_rules.inc"

/* ----------------------------------------------------------------------------- what has no rule */

/* The copy of a parameter's register, at the head of the entry block. */
static void select_params(x86_select_ctx *s) {
    static const uint8_t order[] = {RDI, RSI, RDX, RCX, R8, R9};
    assert(s->f->nparams <= sizeof order);
    ir_before(&s->b, s->f->first->first);
    for (uint32_t n = 0; n < s->f->nparams; n++) {
        ir_inst *p = s->f->param_val[n];
        if (!p->uses) continue;
        ir_imm reg = {.bits = order[n]};
        ir_replace_uses(p, ir_build_raw(&s->b, IR_OP_reg_in, p->type, 0, reg, 0, NULL));
    }
}

static void select_br(x86_select_ctx *s, ir_inst *br) {
    ir_inst *c = ir_arg(br, 0);
    x86_draft d = {.type = IR_VOID};
    d.cc = x86_add_condition(&s->b, &d, br, c);
    ir_build_raw(&s->b, IR_OP_mach_br, IR_VOID, 0, x86_imm_of(&d), d.n, d.arg);
    ir_remove(br);
}

/* A call of a function of the module, or of a C function whose address is operand 0. */
static void select_call(x86_select_ctx *s, ir_inst *i) {
    x86_draft d = {.row = X86_CALL_rm64, .kind = MACH_CALL, .type = i->type};
    for (unsigned n = 0; n < i->nargs; n++) x86_add_reg(&s->b, &d, ir_arg(i, n));
    ir_inst *r = i->op == IR_OP_host_call
                     ? x86_build(&s->b, &d)
                     : ir_build_raw(&s->b, IR_OP_mach_call, i->type, 0, i->imm, d.n, d.arg);
    if (i->type != IR_VOID) ir_replace_uses(i, r);
    ir_remove(i);
}

static void select_phi_constants(x86_select_ctx *s, ir_block *b) {
    foreach_phi (phi, b) {
        for (unsigned n = 0; n < phi->nargs; n++) {
            ir_block *from = b->pred[n];
            ir_before(&s->b, from->last);
            ir_inst *x = ir_arg(phi, n);
            if (ir_is_leaf(x) || x->op == IR_OP_alloca)
                ir_set_arg(phi, n, x86_in_register(&s->b, x));
        }
    }
}

static bool refuse(x86_select_ctx *s, const ir_inst *i) {
    ir_text text = {.arena = s->scratch};
    ir_print_inst(&text, i);
    return ir_error(s->f->module->cx, "x86-64 has no instruction for '%s'", text.data);
}

static bool stays(const ir_inst *i) {
    return i->op == IR_OP_phi || i->op == IR_OP_alloca || x86_is_mach(i) ||
           i->op == IR_OP_mach_call || i->op == IR_OP_reg_in ||
           (ir_is_terminator(i) && i->op != IR_OP_br);
}

/* Rules say nothing of levels: operations on lanes that the level has not do not get that far. */
static bool is_selectable(const x86_select_ctx *s, const ir_inst *i) {
    bool truth = i->nargs && ir_is_bool(ir_arg(i, 0)->type);
    if (!ir_is_vector(i->type) || !ir_has_flag(i, F_LANEWISE) || truth) return true;
    return x86_takes(i, s->target->level) || x86_is_product_of_halves(i);
}

/* r is in the register that i would be in, perhaps as another type, which phis look at. */
static void replace(x86_select_ctx *s, ir_inst *i, ir_inst *r) {
    ir_inst *same = r->type == i->type ? r : NULL;
    foreach_use (u, i) {
        bool looks = u->user->op == IR_OP_phi;
        if (looks && !same) same = ir_build_raw(&s->b, IR_OP_move, i->type, 0, (ir_imm){0}, 1, &r);
        ir_set_arg(u->user, (unsigned)(u - u->user->arg), looks ? same : r);
    }
}

static bool select_inst(x86_select_ctx *s, ir_inst *i) {
    if (stays(i)) return true;
    if (!i->uses && ir_is_dead_safe(i)) {
        ir_remove(i);
        return true;
    }
    ir_before(&s->b, i);
    s->b.loc = i->loc;
    if (i->op == IR_OP_br) {
        select_br(s, i);
        return true;
    }
    if (i->op == IR_OP_call || i->op == IR_OP_host_call) {
        select_call(s, i);
        return true;
    }
    ir_inst *r = is_selectable(s, i) ? x86_apply_rules(&s->b, i, s) : NULL;
    if (!r) return refuse(s, i);
    if (r != i) replace(s, i, r);
    ir_remove(i);
    return true;
}

bool x86_select(const x86_cpu *t, ir_func *f, const cg_options *o, ir_arena *scratch) {
    x86_select_ctx s = {.target = t, .options = o, .f = f, .scratch = scratch};
    const ir_dom *dom = ir_dominators(f);
    ir_builder_init(&s.b, f);
    s.loops = ir_loop_tree(f);
    select_params(&s);
    uint32_t n = dom->order.n;
    ir_block **order = ir_dup(scratch, dom->order.rpo, n * sizeof *order);
    for (uint32_t k = 0; k < n; k++) select_phi_constants(&s, order[k]);
    for (uint32_t k = n; k-- > 0;)
        for (ir_inst *i = order[k]->last, *before; i; i = before) {
            before = i->prev;
            if (!select_inst(&s, i)) return false;
        }
    f->level = L_MACHINE;
    return x86_check_rows(t, f);
}
