/* dce.c — dead code elimination.
 *
 * Instructions are dead until a live one needs them.  Marking begins at instructions that have an
 * effect of their own and follows operands, so cycles of phis that only feed each other are
 * removed together.
 *
 * A write to a stack variable is not an effect.  The same holds for variables in local memory of a
 * kernel without calls, since other work-items read them in the same kernel only.  If its address
 * lies in one known variable, by any chain of ptradd and ptrcast, the write is *pending* on that
 * variable.  It becomes live when a live instruction uses the variable for anything but the address
 * of such a write: a load, a call, a copy out of it, or its address as a value.  So a variable that
 * is only written is removed with all its writes, and so is one that only feeds its own next value.
 *
 * All terminators are live, so control flow remains as it is.  Volatile accesses are effects.
 */
#include "passes/passes.h"

typedef struct pending pending;
struct pending {
    ir_inst *write;
    pending *next;
};

typedef struct {
    ir_func *f;
    ir_arena *scratch;
    bool owns_local;    /* no other kernel can reach the variables in local memory */
    bool has_writes;    /* some are pending */
    ir_inst **variable; /* by value id: the variable that a pointer points into, or NULL */
    pending **writes;   /* by value id of a variable */
    ir_vec(ir_inst *) work;
} dce;

/* -------------------------------------------------------------------------------------- marking */

static void mark(dce *d, ir_inst *i) {
    if (i->mark || !i->block) return;
    i->mark = 1;
    *ir_push(d->scratch, &d->work) = i;
}

/* A live instruction uses a variable: its pending writes are live. */
static void mark_writes(dce *d, const ir_inst *variable) {
    for (const pending *p = d->writes[variable->id]; p; p = p->next) mark(d, p->write);
    d->writes[variable->id] = NULL;
}

static void mark_needs(dce *d, const ir_inst *i) {
    for (unsigned n = 0; n < i->nargs; n++) {
        ir_inst *x = ir_arg(i, n);
        mark(d, x);
        if (x->op == IR_OP_address && d->has_writes) mark_writes(d, x);
    }
    if (i->op == IR_OP_alloca && d->has_writes) mark_writes(d, i);
}

/* The address of a write, or NULL if it has other effects as well. */
static ir_inst *written_address(const ir_inst *i) {
    bool write = i->op == IR_OP_store || i->op == IR_OP_copy || i->op == IR_OP_fill;
    if (!write || i->imm.mem.flags & IR_MEM_VOLATILE) return NULL;
    return ir_arg(i, i->op == IR_OP_store ? 1 : 0);
}

/* The variable that p, visited before, points into; NULL: unknown. */
static ir_inst *variable_of(const dce *d, ir_inst *p) {
    if (!ir_is_leaf(p)) return d->variable[p->id];
    bool local = p->op == IR_OP_address && p->imm.global->space == IR_LOCAL;
    return local && d->owns_local ? p : NULL;
}

static ir_inst *find_variable(const dce *d, ir_inst *i) {
    if (i->op == IR_OP_alloca) return i;
    if (i->op != IR_OP_ptradd && i->op != IR_OP_ptrcast) return NULL;
    return variable_of(d, ir_arg(i, 0));
}

/* Is all that can read a variable in local memory in f?  Its address is not stored in constants. */
static bool owns_local(ir_func *f) {
    if (!(f->flags & IR_FUNC_KERNEL)) return false;
    foreach_global (g, f->module)
        for (uint32_t k = 0; k < g->nreloc; k++)
            if (g->reloc[k].global->space == IR_LOCAL) return false;
    foreach_block (b, f)
        foreach_inst (i, b)
            if (i->op == IR_OP_call) return false;
    return true;
}

/* A write of undef leaves memory as it may have been. */
static bool writes_undef(const ir_inst *i) {
    const ir_inst *address = written_address(i);
    unsigned value = i->op == IR_OP_fill ? 1 : 0;
    return address && i->op != IR_OP_copy && ir_arg(i, value)->op == IR_OP_undef;
}

/* In reverse postorder the definition of a pointer comes before its uses. */
static void find_roots(dce *d) {
    const ir_order *order = &ir_dominators(d->f)->order;
    for (uint32_t n = 0; n < order->n; n++)
        foreach_inst (i, order->rpo[n]) {
            i->mark = 0;
            d->variable[i->id] = find_variable(d, i);
            ir_inst *address = written_address(i);
            const ir_inst *variable = address ? variable_of(d, address) : NULL;
            if (variable) {
                pending **list = &d->writes[variable->id], p = {.write = i, .next = *list};
                *list = ir_dup(d->scratch, &p, sizeof p);
                d->has_writes = true;
            } else if (!ir_is_dead_safe(i) && !writes_undef(i)) {
                mark(d, i);
            }
        }
}

/* ------------------------------------------------------------------------------------- sweeping */

/* Users first, so that only cycles still have uses when they go. */
static bool sweep(ir_func *f) {
    const ir_order *order = &ir_dominators(f)->order;
    bool changed = false;
    for (uint32_t n = order->n; n-- > 0;)
        foreach_inst_reverse (i, order->rpo[n]) {
            if (i->mark) continue;
            if (i->uses) ir_replace_uses(i, ir_undef(f, i->type));
            ir_remove(i);
            ir_count(f->module->cx, dce_removed, 1);
            changed = true;
        }
    return changed;
}

/* Does:  removes what no effect needs: unused values, dead phi cycles, unused variables, writes to
 *        variables that are never read, writes of undef, calls of pure functions.
 * Needs: nothing.
 * Leaves: every block reachable; nothing unused.
 * Gives up: on control flow, and on writes through pointers that a phi or select chooses. */
bool pass_dce(ir_func *f, pass_ctx *cx) {
    bool changed = ir_remove_unreachable(f);
    dce d = {.f = f, .scratch = cx->scratch, .owns_local = owns_local(f)};
    d.variable = ir_new_array(cx->scratch, ir_inst *, f->next_id);
    d.writes = ir_new_array(cx->scratch, pending *, f->next_id);
    find_roots(&d);
    while (d.work.n) mark_needs(&d, d.work.data[--d.work.n]);
    return sweep(f) || changed;
}
