/* typing.c — one pointee for every pointer, and the instructions that are still needed.
 *
 * Three linear passes over a function, before anything is written:
 *   1. backwards (reverse of reverse post-order): what does each use want a pointer to point to?
 *      An access says so directly; a ptradd, phi, select or cast passes on what its result should
 *      point to.  A direct hint replaces one that was passed on, and the hint of an earlier use
 *      that of a later one.
 *   2. forwards: parameters, variables and globals keep the pointee that the IR remembers; a ptradd
 *      gets a plan (address.c); every other pointer gets its hint, or bytes if it has none.
 *   3. backwards from instructions with an effect, through the plans: offsets that became indices
 *      are not needed any more, and are not written.
 * Pointers from memory or from a call point to bytes.  Where a use disagrees with the pointee,
 * pointer.c casts.
 */
#include "codegen/spirv/spirv.h"

typedef struct {
    sw_writer *w;
    sw_info *info;
    ir_func *f;
    const ir_dom *dom;
    ir_type *hint;     /* by value id; IR_VOID: none */
    uint8_t *strength; /* by value id: of the hint */
    ir_vec(const ir_inst *) work;
} typer;

enum { PASSED_ON = 1, DIRECT = 2 };

/* ------------------------------------------------------------------------------------- 1: hints */

static void add_hint(typer *t, const ir_inst *p, ir_type pointee, uint8_t strength) {
    if (pointee == IR_VOID || strength < t->strength[p->id]) return;
    t->hint[p->id] = sw_memory_type(pointee);
    t->strength[p->id] = strength;
}

static void hint_base(typer *t, const ir_inst *i) {
    ir_type wanted = t->hint[i->id];
    sw_affine offset;
    if (wanted == IR_VOID) return;
    sw_find_affine(t->w->m, ir_arg(i, 1), &offset);
    if (sw_is_multiple(&offset, ir_sizeof(t->w->m, wanted)))
        add_hint(t, ir_arg(i, 0), wanted, PASSED_ON);
}

static void hint_arguments(typer *t, const ir_inst *call) {
    const ir_func *callee = call->imm.func;
    for (unsigned n = 0; n < call->nargs; n++)
        if (ir_is_ptr(ir_arg(call, n)->type))
            add_hint(t, ir_arg(call, n), callee->param[n].pointee, PASSED_ON);
}

static void hint_operands(typer *t, const ir_inst *i) {
    for (unsigned n = 0; n < i->nargs; n++)
        if (ir_is_ptr(ir_arg(i, n)->type)) add_hint(t, ir_arg(i, n), t->hint[i->id], PASSED_ON);
}

/* What the pointer of a load or store points to: vload_half takes a pointer to the first lane. */
static ir_type accessed_type(const typer *t, const ir_inst *i, ir_type value) {
    return sw_is_half_access(t->w, i) ? IR_F16 : value;
}

static void collect_hints(typer *t, const ir_inst *i) {
    switch ((ir_op)i->op) {
    case IR_OP_load: add_hint(t, ir_arg(i, 0), accessed_type(t, i, i->type), DIRECT); break;
    case IR_OP_store:
        add_hint(t, ir_arg(i, 1), accessed_type(t, i, ir_arg(i, 0)->type), DIRECT);
        break;
    case IR_OP_atomic_store: add_hint(t, ir_arg(i, 0), ir_arg(i, 1)->type, DIRECT); break;
    case IR_OP_wait_events: add_hint(t, ir_arg(i, 1), IR_EVENT, DIRECT); break;
    case IR_OP_ptradd: hint_base(t, i); break;
    case IR_OP_call: hint_arguments(t, i); break;
    case IR_OP_phi:
    case IR_OP_select:
    case IR_OP_ptrcast:
    case IR_OP_ptrcast_to:
        if (ir_is_ptr(i->type)) hint_operands(t, i);
        break;
    default:
        if (ir_is_atomic(i)) add_hint(t, ir_arg(i, 0), i->type, DIRECT);
    }
}

/* ---------------------------------------------------------------------------------- 2: pointees */

static ir_type hinted_or_bytes(const typer *t, const ir_inst *i) {
    return t->hint[i->id] == IR_VOID ? IR_I8 : t->hint[i->id];
}

/* The pointee of all operands that have one already; IR_VOID if they differ. */
static ir_type common_pointee(const typer *t, const ir_inst *i) {
    ir_type common = IR_VOID;
    for (unsigned n = 0; n < i->nargs; n++) {
        const ir_inst *a = ir_arg(i, n);
        ir_type pointee = ir_is_ptr(a->type) ? sw_pointee(t->info, a) : IR_VOID;
        if (pointee == IR_VOID) continue;
        if (common != IR_VOID && common != pointee) return IR_VOID;
        common = pointee;
    }
    return common;
}

/* A phi takes the hint of its uses first: a loop then advances by elements of that type. */
static ir_type choose_pointee(const typer *t, const ir_inst *i) {
    ir_type common = common_pointee(t, i);
    if (i->op == IR_OP_phi && t->hint[i->id] != IR_VOID) return t->hint[i->id];
    return common != IR_VOID ? common : hinted_or_bytes(t, i);
}

static ir_type decide(typer *t, const ir_inst *i) {
    sw_plan **plan = &t->info->typing.plan[i->id];
    switch ((ir_op)i->op) {
    case IR_OP_alloca: return sw_memory_type(i->imm.var->type);
    case IR_OP_ptradd: return (*plan = sw_plan_address(t->w, t->info, i, t->hint[i->id]))->pointee;
    case IR_OP_phi:
    case IR_OP_select:
    case IR_OP_ptrcast:
    case IR_OP_ptrcast_to: return choose_pointee(t, i);
    case IR_OP_inttoptr: return hinted_or_bytes(t, i);
    default: return IR_I8;
    }
}

static void decide_params(typer *t) {
    const ir_func *f = t->f;
    bool kernel = (f->flags & IR_FUNC_KERNEL) != 0;
    for (uint32_t n = 0; n < f->nparams; n++) {
        ir_type declared = sw_memory_type(f->param[n].pointee);
        const ir_inst *p = f->param_val[n];
        ir_type guess = kernel ? hinted_or_bytes(t, p) : IR_I8;
        if (ir_is_ptr(p->type))
            t->info->typing.pointee[p->id] = declared == IR_VOID ? guess : declared;
    }
}

/* ----------------------------------------------------------------------- 3: needed instructions */

static void need(typer *t, const ir_inst *v) {
    if (!v->block || t->info->typing.needed[v->id]) return;
    if (t->dom->order.index[v->block->id] == UINT32_MAX) return; /* unreachable: of a phi */
    t->info->typing.needed[v->id] = true;
    *ir_push(t->w->arena, &t->work) = v;
}

static void need_plan(typer *t, const ir_inst *i) {
    const sw_plan *plan = t->info->typing.plan[i->id];
    need(t, plan->root);
    for (unsigned n = 0; n < plan->n; n++)
        for (unsigned k = 0; k < plan->index[n].n; k++) need(t, plan->index[n].term[k].value);
}

static void need_operands(typer *t, const ir_inst *i) {
    if (i->op == IR_OP_ptradd) {
        need_plan(t, i);
        return;
    }
    const ir_inst *narrowing = i->op == IR_OP_store ? sw_narrowing(t->w, i) : NULL;
    if (narrowing) need(t, ir_arg(narrowing, 0));
    for (unsigned n = narrowing ? 1 : 0; n < i->nargs; n++) need(t, ir_arg(i, n));
}

static void note_callee(typer *t, const ir_inst *call) {
    sw_info *callee = sw_info_of(t->w, call->imm.func);
    callee->called = true;
    *ir_push(t->w->arena, &t->info->callees) = callee;
}

static bool is_sum(const ir_inst *i) { return i->op == IR_OP_fadd || i->op == IR_OP_fsub; }

static bool is_in_sum(const ir_inst *i) {
    foreach_use (u, i)
        if (is_sum(u->user) || u->user->op == IR_OP_fneg) return true;
    return false;
}

/* Float additions, and multiplications that they could contract, decide on a mode (entry.c). */
static void note_arithmetic(typer *t, const ir_inst *i) {
    bool add = is_sum(i), mul = i->op == IR_OP_fmul && is_in_sum(i);
    t->info->arithmetic.adds |= add;
    t->info->arithmetic.muls |= mul;
    t->info->arithmetic.strict |= (add || mul) && !(i->flags & IR_CONTRACT);
}

static void find_needed(typer *t) {
    for (uint32_t k = 0; k < t->dom->order.n; k++)
        foreach_inst (i, t->dom->order.rpo[k])
            if (!ir_is_dead_safe(i)) need(t, i);
    while (t->work.n) {
        const ir_inst *i = t->work.data[--t->work.n];
        if (i->op == IR_OP_call) note_callee(t, i);
        note_arithmetic(t, i);
        need_operands(t, i);
    }
}

/* ---------------------------------------------------------------------------------------- entry */

void sw_type_pointers(sw_writer *w, sw_info *info) {
    ir_func *f = info->f;
    typer t = {.w = w, .info = info, .f = f, .dom = ir_dominators(f)};
    t.hint = ir_new_array(w->arena, ir_type, f->next_id);
    t.strength = ir_new_array(w->arena, uint8_t, f->next_id);
    info->typing.pointee = ir_new_array(w->arena, ir_type, f->next_id);
    info->typing.plan = ir_new_array(w->arena, sw_plan *, f->next_id);
    info->typing.needed = ir_new_array(w->arena, bool, f->next_id);
    for (uint32_t k = t.dom->order.n; k-- > 0;)
        foreach_inst_reverse (i, t.dom->order.rpo[k]) collect_hints(&t, i);
    decide_params(&t);
    for (uint32_t k = 0; k < t.dom->order.n; k++)
        foreach_inst (i, t.dom->order.rpo[k])
            if (ir_is_ptr(i->type)) info->typing.pointee[i->id] = decide(&t, i);
    find_needed(&t);
}
