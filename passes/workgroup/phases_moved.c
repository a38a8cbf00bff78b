/* phases_moved.c — variables that several phases use, as global memory.
 *
 * A variable in private or local memory that later phases need is moved to memory of the launch
 * (phases_context.c), by a cast of an address in global memory.  A processor whose kinds of memory
 * have addresses and instructions of their own cannot access it so.  So what is computed of the
 * cast becomes global pointers: sums, selects and phis, up to accesses.  Barriers, fences
 * and atomics that order local memory then order global memory, too.
 */
#include "passes/analysis/alias.h"
#include "passes/workgroup/phases_impl.h"

typedef struct {
    ir_func *f;
    ir_arena *scratch;
    bool *moved; /* by value id: it becomes a global pointer */
    ir_vec(ir_inst *) list;
    bool has_local;
} moving;

static bool is_moved_cast(const ir_inst *i) {
    return i->op == IR_OP_inttoptr && ir_space_of(i->type) != IR_GLOBAL &&
           ir_arg(i, 0)->op == IR_OP_ptrtoint &&
           ir_space_of(ir_arg(ir_arg(i, 0), 0)->type) == IR_GLOBAL;
}

static void add(moving *m, ir_inst *v) {
    if (m->moved[v->id]) return;
    m->moved[v->id] = true;
    m->has_local |= ir_space_of(v->type) == IR_LOCAL;
    *ir_push(m->scratch, &m->list) = v;
}

static bool passes_on(const ir_inst *i) {
    return i->op == IR_OP_ptradd || i->op == IR_OP_select || i->op == IR_OP_phi;
}

/* What is computed of the casts; false: something needs an address of the other kind. */
static bool collect(moving *m) {
    foreach_block (b, m->f)
        foreach_inst (i, b)
            if (is_moved_cast(i)) add(m, i);
    for (uint32_t n = 0; n < m->list.n; n++)
        foreach_use (u, m->list.data[n]) {
            if (passes_on(u->user) && !ir_is_vector(u->user->type))
                add(m, u->user);
            else if (passes_on(u->user) || !pass_is_accessed(u->user, (unsigned)(u - u->user->arg)))
                return false;
        }
    return true;
}

static bool is_any(const ir_inst *v) { return ir_is_const(v) || v->op == IR_OP_undef; }

/* Has each of them operands that become global pointers, or may be any? */
static bool are_whole(const moving *m) {
    for (uint32_t k = 0; k < m->list.n; k++) {
        const ir_inst *v = m->list.data[k];
        for (unsigned n = 0; n < v->nargs && passes_on(v); n++) {
            const ir_inst *from = ir_arg(v, n);
            if (ir_is_ptr(from->type) && !is_any(from) && !m->moved[from->id]) return false;
        }
    }
    return true;
}

static void adapt_operands(const moving *m, ir_inst *v, ir_type t) {
    for (unsigned n = 0; n < v->nargs; n++) {
        const ir_inst *from = ir_arg(v, n);
        if (!ir_is_ptr(from->type) || !is_any(from)) continue;
        ir_set_arg(v, n, from->op == IR_OP_undef ? ir_undef(m->f, t) : ir_const(m->f, t, 0));
    }
}

static void rewrite(const moving *m) {
    const ir_type global = ir_ptr(IR_GLOBAL);
    for (uint32_t n = 0; n < m->list.n; n++) m->list.data[n]->type = global;
    for (uint32_t n = 0; n < m->list.n; n++) {
        ir_inst *v = m->list.data[n];
        if (passes_on(v)) {
            adapt_operands(m, v, global);
            continue;
        }
        ir_replace_uses(v, ir_arg(ir_arg(v, 0), 0));
        ir_remove(v);
    }
}

static void order_global_memory(ir_func *f) {
    foreach_block (b, f)
        foreach_inst (i, b)
            if (ir_info(i)->imm == I_SYNC) {
                if (i->imm.sync.semantics & IR_SEM_LOCAL) i->imm.sync.semantics |= IR_SEM_GLOBAL;
                if (i->imm.sync.unequal & IR_SEM_LOCAL) i->imm.sync.unequal |= IR_SEM_GLOBAL;
            }
}

bool pass_move_to_global(ir_func *f, ir_arena *scratch) {
    moving m = {.f = f, .scratch = scratch};
    m.moved = ir_new_array(scratch, bool, f->next_id);
    if (!collect(&m) || !are_whole(&m)) return false;
    rewrite(&m);
    if (m.has_local) order_global_memory(f);
    return true;
}
