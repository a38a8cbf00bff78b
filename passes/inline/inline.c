/* inline.c — replaces calls by the body of the callee, and removes unreachable functions.
 *
 * Kernels.  A module with kernels is compiled kernel by kernel, so every kernel inlines all that it
 * calls, whatever the hints of the callee say, unless that would make it disproportionately large
 * (inline_keep.c).  The walk over the blocks of a kernel also visits inlined code, and inlines the
 * calls in it.  So the callees remain unchanged, and the cost is linear in the final size of the
 * kernels.  A kernel that only wraps a function takes over its body without a copy.  Afterwards
 * functions that no kernel calls are removed, exported ones too, and so are unused globals.
 *
 * Refusals (inline_refuse.c).  A kernel is refused, with a warning and the chain of calls, if it
 * reaches recursion, a function
 * without a definition, a function that the reader has refused, or if it would have more than
 * PASS_MOST_INSTRUCTIONS.
 *
 * Libraries.  A module without kernels keeps its functions and calls; only calls of tiny functions
 * of one block are inlined.  Functions that are neither exported nor used are removed, unless the
 * module exports nothing.
 *
 * Variables of the callee move to the entry block of the caller.  If the call is in a loop, all
 * iterations share them; this is correct because the contents of a variable are undefined when its
 * function starts.  A by-value argument is copied, since the callee may change it.
 */
#include "passes/inline/inline_impl.h"

enum { TINY = 12 };

/* ------------------------------------------------------------------------------------- inlining */

/* A variable of the caller for a by-value argument. */
static ir_inst *copy_byval(ir_inst *call, const ir_param *p, ir_inst *arg) {
    ir_builder b;
    ir_builder_init(&b, call->block->func);
    b.loc = call->loc;
    ir_before(&b, b.f->first->first);
    ir_inst *copy = ir_build_byval(&b, p);
    ir_before(&b, call);
    ir_build_byval_copy(&b, p, copy, arg);
    return copy;
}

static ir_inst **arguments(pass_inliner *n, ir_inst *call) {
    const ir_func *callee = call->imm.func;
    ir_inst **args = ir_new_array(n->cx->scratch, ir_inst *, call->nargs + 1u);
    for (unsigned k = 0; k < call->nargs; k++) {
        const ir_param *p = &callee->param[k];
        bool owned = (p->attrs & IR_PARAM_BYVAL) && p->byval_size && p->byval_size < UINT32_MAX;
        owned = owned && ir_arg(call, k)->type == ir_ptr(IR_PRIVATE);
        args[k] = owned ? copy_byval(call, p, ir_arg(call, k)) : ir_arg(call, k);
    }
    return args;
}

/* Is b the continuation of its only predecessor? */
static bool continues(const ir_block *b) {
    if (b->npred != 1 || b->first->op == IR_OP_phi) return false;
    return b->pred[0]->last->op == IR_OP_jmp && b->pred[0] != b;
}

/* Joins blocks that follow each other.  Only the head of a chain takes in others, so that no
 * instruction moves twice. */
static void merge_chains(ir_func *f) {
    foreach_block (b, f) b->mark = continues(b);
    for (ir_block *b = f->first; b; b = b->next)
        while (!b->mark && b->last->op == IR_OP_jmp && b->succ[0]->mark) ir_merge_block(b);
}

/* Goes from the last call of a block to the first, so that no instruction moves twice.  Copied
 * blocks come after their call and are visited later. */
static void inline_calls(pass_inliner *n, ir_func *f,
                         bool (*wanted)(pass_inliner *n, const ir_inst *call)) {
    bool any = false;
    for (ir_block *b = f->first; b; b = b->next)
        foreach_inst_reverse (i, b) {
            if (i->op != IR_OP_call || !wanted(n, i)) continue;
            ir_splice(i, i->imm.func, arguments(n, i));
            ir_count(f->module->cx, inline_calls, 1);
            any = true;
        }
    if (!any) return;
    ir_remove_unreachable(f); /* after calls that do not return */
    merge_chains(f);
    n->changed = true;
}

static bool is_inlined_everywhere(pass_inliner *n, const ir_inst *call) {
    (void)n;
    return !(call->imm.func->flags & IR_FUNC_SHARED);
}

static bool is_inlined_when_large(pass_inliner *n, const ir_inst *call) {
    return !pass_callee_of(n, call->imm.func)->keep.stays;
}

/* Does f only pass its parameters on to a function that has no other call?  Some front ends write
 * every kernel in this way. */
static bool is_wrapper(pass_inliner *n, const ir_func *f) {
    const ir_inst *call = f->first->first;
    if (call->op != IR_OP_call || call->next->op != IR_OP_ret || call->next->nargs) return false;
    const ir_func *callee = call->imm.func;
    if (pass_is_kernel(callee) || pass_callee_of(n, callee)->node->callers > 1) return false;
    if (call->nargs != f->nparams || callee->ret != IR_VOID) return false;
    for (unsigned k = 0; k < call->nargs; k++)
        if (ir_arg(call, k) != f->param_val[k]) return false;
    return true;
}

static void complete_kernel(pass_inliner *n, const pass_callee *x) {
    ir_func *kernel = x->f;
    if (is_wrapper(n, kernel)) {
        ir_take_body(kernel, kernel->first->first->imm.func);
        n->changed = true;
    }
    inline_calls(n, kernel, x->keep.large ? is_inlined_when_large : is_inlined_everywhere);
}

static bool is_tiny_call(pass_inliner *n, const ir_inst *call) {
    const ir_func *f = call->imm.func;
    if (ir_is_declaration(f) || f->first != f->last || f->flags & IR_FUNC_NOINLINE) return false;
    if (pass_callee_of(n, f)->node->recursive || f->first->last->op != IR_OP_ret) return false;
    unsigned size = 0;
    for (const ir_inst *i = f->first->first; i && size <= TINY; i = i->next) size++;
    return size <= TINY;
}

/* ----------------------------------------------------------------------- functions that stay */

static void mark_shared(ir_func *f) {
    f->flags |= IR_FUNC_SHARED;
    f->flags &= ~(uint32_t)IR_FUNC_EXPORT;
    for (uint32_t k = 0; k < f->nparams; k++) {
        f->param[k].attrs &= ~(uint32_t)(IR_PARAM_BYVAL | IR_PARAM_SRET);
        f->param[k].byval_size = 0;
    }
}

/* Callers copy what is passed by value, so that parameters of callees are plain pointers. */
static void share_functions(pass_inliner *n) {
    foreach_func (f, n->m)
        foreach_block (b, f)
            foreach_inst (i, b) {
                if (i->op != IR_OP_call || i->imm.func->flags & IR_FUNC_SHARED) continue;
                ir_inst **args = arguments(n, i);
                for (unsigned k = 0; k < i->nargs; k++) ir_set_arg(i, k, args[k]);
            }
    foreach_func (f, n->m)
        if (!ir_is_declaration(f) && !pass_is_kernel(f)) mark_shared(f);
}

/* -------------------------------------------------------------------------- dropping the unused */

static void keep(pass_inliner *n, ir_map *kept, pass_callee_list *work, const ir_func *f) {
    if (ir_map_get(kept, (uintptr_t)f)) return;
    pass_callee *x = pass_callee_of(n, f);
    ir_map_set(n->cx->scratch, kept, (uintptr_t)f, x);
    *ir_push(n->cx->scratch, work) = x;
}

static bool is_root(const pass_inliner *n, const ir_func *f) {
    if (pass_is_kernel(f) || n->is_open) return true;
    return !n->has_kernels && (f->flags & IR_FUNC_EXPORT);
}

static void drop_functions(pass_inliner *n) {
    ir_map kept = {0};
    pass_callee_list work = {0};
    foreach_func (f, n->m)
        if (is_root(n, f)) keep(n, &kept, &work, f);
    while (work.n) {
        ir_func *f = work.data[--work.n]->f;
        foreach_block (b, f)
            foreach_inst (i, b)
                if (i->op == IR_OP_call) keep(n, &kept, &work, i->imm.func);
    }
    foreach_func (f, n->m) {
        if (ir_map_get(&kept, (uintptr_t)f)) continue;
        ir_func_remove(f);
        n->changed = true;
    }
}

typedef ir_vec(ir_global *) global_list;

static void keep_global(pass_inliner *n, ir_map *kept, global_list *work, ir_global *g) {
    if (ir_map_get(kept, (uintptr_t)g)) return;
    ir_map_set(n->cx->scratch, kept, (uintptr_t)g, g);
    *ir_push(n->cx->scratch, work) = g;
}

static void drop_globals(pass_inliner *n) {
    ir_map kept = {0};
    global_list work = {0};
    foreach_global (g, n->m)
        if (n->is_open || (!n->has_kernels && (g->flags & IR_FUNC_EXPORT)))
            keep_global(n, &kept, &work, g);
    foreach_func (f, n->m)
        foreach_block (b, f)
            foreach_inst (i, b)
                for (unsigned k = 0; k < i->nargs; k++)
                    if (ir_arg(i, k)->op == IR_OP_address)
                        keep_global(n, &kept, &work, ir_arg(i, k)->imm.global);
    while (work.n) {
        const ir_global *g = work.data[--work.n];
        for (uint32_t k = 0; k < g->nreloc; k++) keep_global(n, &kept, &work, g->reloc[k].global);
    }
    foreach_global (g, n->m) {
        if (ir_map_get(&kept, (uintptr_t)g)) continue;
        ir_global_remove(g);
        n->changed = true;
    }
}

/* ---------------------------------------------------------------------------------------- entry */

void pass_find_refusals(ir_module *m, ir_arena *scratch, pass_refusal_fn *found, void *user) {
    pass_ctx cx = {.cx = m->cx, .scratch = scratch};
    pass_inliner n = {.m = m, .cx = &cx, .found = found, .user = user};
    pass_find_callees(&n);
    if (!n.has_kernels) return;
    pass_choose_functions(&n);
    foreach_func (f, m)
        if (pass_is_kernel(f) && !ir_is_declaration(f))
            pass_refuse_kernel(&n, pass_callee_of(&n, f));
}

/* Callees first, so that functions that stay are complete when a kernel copies one. */
static void inline_into_kernels(pass_inliner *n) {
    pass_choose_functions(n);
    for (uint32_t k = 0; k < n->n; k++) {
        pass_callee *x = &n->callees[k];
        if (ir_is_declaration(x->f)) continue;
        if (x->keep.stays) inline_calls(n, x->f, is_inlined_when_large);
        if (pass_is_kernel(x->f) && !pass_refuse_kernel(n, x)) complete_kernel(n, x);
    }
}

/* Does: inlines into kernels all that they call, except for functions that stay because a kernel
 *       would become too large; removes unused functions and globals.
 * Needs: nothing.
 * Leaves: kernels that only call functions with IR_FUNC_SHARED, or are refused and have no body;
 *         code of the callees at their call, their variables in the entry.
 * Gives up: on a kernel that cannot be complete, which is refused. */
bool pass_inline(ir_module *m, pass_ctx *cx) {
    pass_inliner n = {.m = m, .cx = cx};
    foreach_func (f, m)
        if (!ir_is_declaration(f)) n.changed |= ir_remove_unreachable(f);
    pass_find_callees(&n);
    if (n.has_kernels) inline_into_kernels(&n);
    for (uint32_t k = 0; k < n.n && !n.has_kernels; k++)
        if (!ir_is_declaration(n.callees[k].f)) inline_calls(&n, n.callees[k].f, is_tiny_call);
    drop_functions(&n);
    drop_globals(&n);
    if (n.has_kernels) share_functions(&n);
    return n.changed;
}
