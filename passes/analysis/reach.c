/* reach.c — how far from where a pointer parameter leads a launch of a kernel accesses memory.
 *
 * The bytes are an interval, from the accesses of access.c: their forms have bounds by the range of
 * the launch and by guards.  An access whose bounds are not known makes the interval unknown.  One
 * through an address of unknown origin does not count here: it may lead anywhere, whatever
 * parameters there are.
 *
 * Which parameters a kernel writes through is asked without a launch, of code that need not be
 * optimized.  There an address of unknown origin counts for all parameters.
 */
#include "passes/analysis/analysis.h"

/* False: the sum is beyond 63 bits. */
static bool widen(pass_reach *to, const pass_access *x) {
    int64_t end;
    if (!pass_is_understood(x) || x->size > INT64_MAX) return false;
    if (__builtin_add_overflow(x->high, (int64_t)x->size, &end)) return false;
    const bool empty = to->low == to->high;
    if (empty || x->low < to->low) to->low = x->low;
    if (empty || end > to->high) to->high = end;
    return true;
}

/* Accesses of constant memory are in no list of accesses. */
static bool is_listed(const ir_func *f, uint32_t param) {
    const ir_type t = f->param_val[param]->type;
    return ir_is_ptr(t) && ir_space_of(t) != IR_CONST && f->module->pointer_bits == 64;
}

void pass_find_reach(const pass_launch *l, ir_arena *a, pass_reach *by_param) {
    const ir_func *f = l->kernel;
    pass_accesses list = {0};
    pass_find_accesses(l, a, &list);
    for (uint32_t p = 0; p < f->nparams; p++) by_param[p] = (pass_reach){.known = is_listed(f, p)};
    for (uint32_t k = 0; k < list.n; k++) {
        const pass_access *x = &list.data[k];
        if (!x->object || x->object->op != IR_OP_param) continue;
        pass_reach *r = &by_param[x->object->imm.index];
        r->known = r->known && widen(r, x);
    }
}

/* ------------------------------------------------------------------------------------ writes */

/* The operand that is the address which an instruction writes at; UINT32_MAX: it writes none, or
 * nothing that is memory. */
static uint32_t written_operand(const ir_inst *i) {
    switch (i->op) {
    case IR_OP_store: return 1;
    case IR_OP_copy:
    case IR_OP_fill:
    case IR_OP_async_copy: return 0;
    case IR_OP_atomic_load: return UINT32_MAX;
    default: return ir_is_atomic(i) ? 0 : UINT32_MAX;
    }
}

static const ir_inst *origin_of(const ir_inst *p) {
    while (p->op == IR_OP_ptradd || p->op == IR_OP_ptrcast || p->op == IR_OP_ptrcast_to)
        p = ir_arg(p, 0);
    return p;
}

/* Does it write memory that it does not name? */
static bool writes_elsewhere(const ir_inst *i) {
    switch (i->op) {
    case IR_OP_assume:
    case IR_OP_barrier:
    case IR_OP_fence:
    case IR_OP_wait_events:
    case IR_OP_printf:
    case IR_OP_prefetch:
    case IR_OP_image_write: return false;
    default: return ir_has_flag(i, F_WRITES) && i->op != IR_OP_atomic_load;
    }
}

/* False: it may write through any parameter. */
static bool note_write(const ir_inst *i, bool *written) {
    const uint32_t operand = written_operand(i);
    if (operand == UINT32_MAX) return !writes_elsewhere(i);
    const ir_inst *origin = origin_of(ir_arg(i, operand));
    if (origin->op == IR_OP_param) written[origin->imm.index] = true;
    return origin->op == IR_OP_param || origin->op == IR_OP_alloca || origin->op == IR_OP_address;
}

void pass_find_written(const ir_func *f, bool *written) {
    bool known = f->first != NULL;
    foreach_block (b, f)
        for (const ir_inst *i = b->first; i && known; i = i->next) known = note_write(i, written);
    for (uint32_t p = 0; p < f->nparams && !known; p++) written[p] = true;
}
