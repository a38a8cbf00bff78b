/* inline_keep.c — chooses the functions that are not inlined.
 *
 * Inlining multiplies code: in a chain of functions, each of which calls the next one four times,
 * there are 4^n copies of the last one.  Path tracers have this form.  So a kernel keeps calls if
 * it would otherwise have more instructions than its share: FREE_SIZE, and GROWTH times what it is
 * made of.
 *
 * A function stays if copying it costs more than a threshold: its size times the number of its
 * calls minus one.  The threshold is halved until the kernel, with the functions that stay, fits
 * its share.  A round is a walk over the call graph, and there are at most LOG_MOST of them, so the
 * choice takes linear time.  Functions that stay have their other callees inlined.
 *
 * A function can stay only if each work-item can run it alone.  Barriers, operations of a group and
 * queries of the space of a pointer need all of a kernel in one body.  A function with such
 * operations, in its own code or in its callees, is inlined whatever its size.
 *
 * Functions that stay get the flag IR_FUNC_SHARED.  A second run keeps them, so it changes nothing,
 * although the first one has changed all sizes.  Where the target has no calls, none stays.
 */
#include "ir/launch.h"
#include "passes/inline/inline_impl.h"

enum { FREE_SIZE = 1 << 16, GROWTH = 4, LOG_MOST = 22 };

/* ------------------------------------------------------------------------ functions of one item */

static bool uses_local_variable(const ir_inst *i) {
    for (unsigned k = 0; k < i->nargs; k++) {
        const ir_inst *v = ir_arg(i, k);
        if (v->op == IR_OP_address && v->imm.global->space == IR_LOCAL) return true;
    }
    return false;
}

static bool works_alone(const ir_inst *i) {
    switch (i->op) {
    case IR_OP_call: return true; /* the callee is analysed by itself */
    case IR_OP_printf:
    case IR_OP_ptr_space:
    case IR_OP_ptrcast_to: return false;
    case IR_OP_alloca:
        if (i->imm.var->align > IR_LOCAL_ALIGN) return false;
        break;
    default: break;
    }
    if (ir_is_opaque(i->type) || ir_has_flag(i, F_CONVERGENT) || ir_asks_subgroup(i)) return false;
    return !uses_local_variable(i);
}

static bool has_plain_signature(const ir_func *f) {
    for (uint32_t k = 0; k < f->nparams; k++)
        if (ir_is_opaque(f->param_val[k]->type)) return false;
    return !ir_is_opaque(f->ret);
}

static bool body_works_alone(const ir_func *f) {
    foreach_block (b, f)
        foreach_inst (i, b)
            if (!works_alone(i)) return false;
    return true;
}

/* Callees come first. */
static void find_alone(const pass_inliner *n) {
    for (uint32_t k = 0; k < n->n; k++) {
        pass_callee *x = &n->callees[k];
        x->keep.alone = !ir_is_declaration(x->f) && !x->node->recursive && !pass_is_kernel(x->f) &&
                        has_plain_signature(x->f);
        for (uint32_t c = 0; c < x->node->calls.n; c++)
            x->keep.alone &= pass_called_by(n, &x->node->calls.data[c])->keep.alone;
        x->keep.alone = x->keep.alone && body_works_alone(x->f);
    }
}

/* ---------------------------------------------------------------------------------------- sizes */

/* The size of each function, callees first, with calls of functions that stay left as they are. */
static void measure(const pass_inliner *n) {
    for (uint32_t k = 0; k < n->n; k++) {
        pass_callee *x = &n->callees[k];
        x->size = x->node->size;
        for (uint32_t c = 0; c < x->node->calls.n; c++) {
            const pass_callee *to = pass_called_by(n, &x->node->calls.data[c]);
            if (!to->keep.stays) x->size += to->size;
            if (x->size > UINT64_MAX / 4) x->size = UINT64_MAX / 4;
        }
    }
}

/* What a kernel is made of, and the code that it becomes: its own, and the functions that stay. */
typedef struct {
    uint64_t source, code;
} kernel_size;

/* Walks over what kernels reach; each has a mark of its own. */
typedef struct {
    pass_inliner *n;
    pass_callee_list work;
    uint32_t mark;
} reach;

static void visit(reach *r, pass_callee *x) {
    x->mark = r->mark;
    *ir_push(r->n->cx->scratch, &r->work) = x;
}

static kernel_size size_of_kernel(reach *r, pass_callee *kernel) {
    kernel_size s = {.code = kernel->size};
    r->mark++;
    visit(r, kernel);
    while (r->work.n) {
        const pass_callee *x = r->work.data[--r->work.n];
        s.source += x->node->size;
        for (uint32_t c = 0; c < x->node->calls.n; c++) {
            pass_callee *to = pass_called_by(r->n, &x->node->calls.data[c]);
            if (to->mark == r->mark) continue;
            if (to->keep.stays) s.code += to->size;
            visit(r, to);
        }
    }
    return s;
}

static bool is_within_share(kernel_size s) { return s.code <= FREE_SIZE + GROWTH * s.source; }

/* --------------------------------------------------------------------------------------- choice */

static bool is_complete(const pass_callee *x) {
    return !ir_is_declaration(x->f) && !x->bad && !x->node->recursive;
}

/* For tests: all functions that may stay do. */
static void keep_all(const pass_inliner *n) {
    for (uint32_t k = 0; k < n->n; k++) {
        pass_callee *x = &n->callees[k];
        x->keep.stays |= x->keep.alone;
        x->keep.large = pass_is_kernel(x->f) && is_complete(x);
    }
}

static bool find_large(reach *r) {
    const pass_inliner *n = r->n;
    bool any = false;
    for (uint32_t k = 0; k < n->n; k++) {
        pass_callee *x = &n->callees[k];
        if (!pass_is_kernel(x->f) || !is_complete(x) || x->size <= FREE_SIZE) continue;
        x->keep.large = !is_within_share(size_of_kernel(r, x));
        any |= x->keep.large;
    }
    return any;
}

static void keep_above(const pass_inliner *n, uint64_t threshold) {
    for (uint32_t k = 0; k < n->n; k++) {
        pass_callee *x = &n->callees[k];
        if (x->keep.alone && x->node->callers > 1 && x->size > threshold / (x->node->callers - 1))
            x->keep.stays = true;
    }
}

static bool all_are_within(reach *r) {
    const pass_inliner *n = r->n;
    for (uint32_t k = 0; k < n->n; k++) {
        pass_callee *x = &n->callees[k];
        if (x->keep.large && !is_within_share(size_of_kernel(r, x))) return false;
    }
    return true;
}

void pass_choose_functions(pass_inliner *n) {
    reach r = {.n = n};
    const bool lacks_calls = n->cx->target && n->cx->target->lacks_calls;
    for (uint32_t k = 0; k < n->n; k++) {
        ir_func *f = n->callees[k].f;
        if (lacks_calls) f->flags &= ~(uint32_t)IR_FUNC_SHARED;
        n->callees[k].keep.stays = (f->flags & IR_FUNC_SHARED) != 0;
    }
    measure(n);
    if (lacks_calls) return;
    if (!n->cx->keep_calls && !find_large(&r)) return;
    find_alone(n);
    if (n->cx->keep_calls) keep_all(n);
    for (unsigned log = LOG_MOST; log-- && !all_are_within(&r);) {
        keep_above(n, UINT64_C(1) << log);
        measure(n);
    }
}
