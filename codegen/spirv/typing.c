/* typing.c — one pointee for every pointer, and which instructions are still needed.
 *
 * Three linear passes over a function, before anything is written:
 *   1. backwards (reverse of reverse post-order): what does each use want a pointer to point to?
 *      An access says so directly; a ptradd, phi, select or cast hands on what its result is wanted
 *      for.  Direct wishes win over handed-on ones, earlier ones over later ones.
 *   2. forwards: parameters, variables and globals keep the pointee that the IR remembers; a ptradd
 *      gets a plan (address.c), everything else what was wished, and bytes when nothing was.
 *   3. what the results of the function need, through the plans: offsets that became indices are
 *      needed no more, and are not written.
 * Pointers that come out of memory or of a call point to bytes.  Where a use disagrees with the
 * pointee, pointer.c casts.
 */
#include "codegen/spirv/spirv.h"

typedef struct {
    sw_writer *w;
    sw_info *info;
    ir_func *f;
    const ir_dom *dom;
    ir_type *wish;    /* by value id; IR_VOID: none */
    uint8_t *urgency; /* by value id */
    ir_vec(const ir_inst *) work;
} typing;

enum { HANDED_ON = 1, DIRECT = 2 };

/* ---------------------------------------------------------------------------- 1: what is wished */

static void wish(typing *t, const ir_inst *p, ir_type pointee, uint8_t urgency) {
    if (pointee == IR_VOID || urgency < t->urgency[p->id]) return;
    t->wish[p->id] = sw_memory_type(pointee);
    t->urgency[p->id] = urgency;
}

static void wish_base(typing *t, const ir_inst *i) {
    ir_type wanted = t->wish[i->id];
    sw_linear l;
    if (wanted == IR_VOID) return;
    sw_linearize(t->w->m, ir_arg(i, 1), &l);
    if (sw_is_multiple(&l, ir_sizeof(t->w->m, wanted))) wish(t, ir_arg(i, 0), wanted, HANDED_ON);
}

static void wish_params(typing *t, const ir_inst *call) {
    const ir_func *callee = call->imm.func;
    for (unsigned n = 0; n < call->nargs; n++)
        if (ir_is_ptr(ir_arg(call, n)->type))
            wish(t, ir_arg(call, n), callee->param[n].pointee, HANDED_ON);
}

static void wish_operands(typing *t, const ir_inst *i) {
    for (unsigned n = 0; n < i->nargs; n++)
        if (ir_is_ptr(ir_arg(i, n)->type)) wish(t, ir_arg(i, n), t->wish[i->id], HANDED_ON);
}

/* What the pointer of a load or store points to: vload_half takes vectors by their first lane. */
static ir_type accessed_type(const typing *t, const ir_inst *i, ir_type value) {
    return sw_is_half_access(t->w, i) ? IR_F16 : value;
}

static void collect_wishes(typing *t, const ir_inst *i) {
    switch ((ir_op)i->op) {
    case IR_OP_load: wish(t, ir_arg(i, 0), accessed_type(t, i, i->type), DIRECT); break;
    case IR_OP_store: wish(t, ir_arg(i, 1), accessed_type(t, i, ir_arg(i, 0)->type), DIRECT); break;
    case IR_OP_atomic_store: wish(t, ir_arg(i, 0), ir_arg(i, 1)->type, DIRECT); break;
    case IR_OP_wait_events: wish(t, ir_arg(i, 1), IR_EVENT, DIRECT); break;
    case IR_OP_ptradd: wish_base(t, i); break;
    case IR_OP_call: wish_params(t, i); break;
    case IR_OP_phi:
    case IR_OP_select:
    case IR_OP_ptrcast:
    case IR_OP_ptrcast_to:
        if (ir_is_ptr(i->type)) wish_operands(t, i);
        break;
    default:
        if (ir_info(i)->rule == R_ATOMIC) wish(t, ir_arg(i, 0), i->type, DIRECT);
    }
}

/* --------------------------------------------------------------------------- 2: what is decided */

ir_type sw_pointee(const sw_info *info, const ir_inst *v) {
    switch ((ir_op)v->op) {
    case IR_OP_address: return sw_memory_type(v->imm.global->type);
    case IR_OP_const:
    case IR_OP_undef: return IR_VOID;
    default: return info->pointee[v->id];
    }
}

ir_type sw_param_pointee(const sw_info *info, unsigned n) {
    ir_type declared = sw_memory_type(info->f->param[n].pointee);
    if (declared != IR_VOID) return declared;
    return info->pointee ? info->pointee[info->f->param_val[n]->id] : IR_I8;
}

static ir_type wished_or_bytes(const typing *t, const ir_inst *i) {
    return t->wish[i->id] == IR_VOID ? IR_I8 : t->wish[i->id];
}

/* What all arguments point to that are decided already; IR_VOID when they differ. */
static ir_type common_pointee(const typing *t, const ir_inst *i) {
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

/* A phi of one pointee keeps it unless the uses want another one: the loop then steps in it. */
static ir_type choose(const typing *t, const ir_inst *i) {
    ir_type common = common_pointee(t, i);
    if (i->op == IR_OP_phi && t->wish[i->id] != IR_VOID) return t->wish[i->id];
    return common != IR_VOID ? common : wished_or_bytes(t, i);
}

static ir_type plan_ptradd(typing *t, const ir_inst *i) {
    sw_plan *plan = sw_plan_address(t->w, t->info, i, t->wish[i->id]);
    t->info->plan[i->id] = plan;
    return plan->pointee;
}

static ir_type decide(typing *t, const ir_inst *i) {
    switch ((ir_op)i->op) {
    case IR_OP_alloca: return sw_memory_type(i->imm.var->type);
    case IR_OP_ptradd: return plan_ptradd(t, i);
    case IR_OP_phi:
    case IR_OP_select:
    case IR_OP_ptrcast:
    case IR_OP_ptrcast_to: return choose(t, i);
    case IR_OP_inttoptr: return wished_or_bytes(t, i);
    default: return IR_I8;
    }
}

static void decide_params(typing *t) {
    const ir_func *f = t->f;
    bool kernel = (f->flags & IR_FUNC_KERNEL) != 0;
    for (uint32_t n = 0; n < f->nparams; n++) {
        ir_type declared = sw_memory_type(f->param[n].pointee);
        const ir_inst *p = f->param_val[n];
        ir_type guess = kernel ? wished_or_bytes(t, p) : IR_I8;
        if (ir_is_ptr(p->type)) t->info->pointee[p->id] = declared == IR_VOID ? guess : declared;
    }
}

/* ---------------------------------------------------------------------------- 3: what is needed */

static void need(typing *t, const ir_inst *v) {
    if (!v->block || t->info->needed[v->id]) return;
    if (t->dom->order.index[v->block->id] == UINT32_MAX) return; /* a phi's, from a dead edge */
    t->info->needed[v->id] = 1;
    *ir_push(t->w->arena, &t->work) = v;
}

static void need_plan(typing *t, const ir_inst *i) {
    const sw_plan *plan = t->info->plan[i->id];
    need(t, plan->root);
    for (unsigned n = 0; n < plan->n; n++)
        for (unsigned k = 0; k < plan->index[n].n; k++) need(t, plan->index[n].term[k].value);
}

static void need_operands(typing *t, const ir_inst *i) {
    if (i->op == IR_OP_ptradd) {
        need_plan(t, i);
        return;
    }
    const ir_inst *narrowing = i->op == IR_OP_store ? sw_narrowing(t->w, i) : NULL;
    if (narrowing) need(t, ir_arg(narrowing, 0));
    for (unsigned n = narrowing ? 1 : 0; n < i->nargs; n++) need(t, ir_arg(i, n));
}

static void note_callee(typing *t, const ir_inst *call) {
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

/* Float additions, and multiplications that they could swallow, decide on contraction (entry.c). */
static void note_arithmetic(typing *t, const ir_inst *i) {
    bool add = is_sum(i), mul = i->op == IR_OP_fmul && is_in_sum(i);
    t->info->adds |= add;
    t->info->muls |= mul;
    t->info->strict |= (add || mul) && !(i->flags & IR_CONTRACT);
}

static void find_needed(typing *t) {
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
    typing t = {.w = w, .info = info, .f = f, .dom = ir_dominators(f)};
    t.wish = ir_new_array(w->arena, ir_type, f->next_id);
    t.urgency = ir_new_array(w->arena, uint8_t, f->next_id);
    info->pointee = ir_new_array(w->arena, ir_type, f->next_id);
    info->plan = ir_new_array(w->arena, sw_plan *, f->next_id);
    info->needed = ir_new_array(w->arena, uint8_t, f->next_id);
    for (uint32_t k = t.dom->order.n; k-- > 0;)
        foreach_inst_reverse (i, t.dom->order.rpo[k]) collect_wishes(&t, i);
    decide_params(&t);
    for (uint32_t k = 0; k < t.dom->order.n; k++)
        foreach_inst (i, t.dom->order.rpo[k])
            if (ir_is_ptr(i->type)) info->pointee[i->id] = decide(&t, i);
    find_needed(&t);
}
