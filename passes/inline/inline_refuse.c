/* inline_refuse.c — kernels that inlining cannot complete, and why.
 *
 * A kernel is refused with the chain of calls that leads to the first function that has no body or
 * calls itself; of a cycle the shortest is named (a breadth-first search).  One that would be too
 * large names the callee that adds most.  The reason does not name the kernel: every message about
 * it does.
 */
#include "passes/inline/inline_impl.h"

/* The call as the place of a message. */
static ir_message place_of(const ir_module *m, uint32_t word) {
    const ir_line *line = ir_line_of(m, word);
    ir_message at = {.severity = IR_WARNING, .file = m->name, .word = ir_word_of(word)};
    if (line && line->file < m->files.n) {
        at.source = m->files.data[line->file];
        at.source_line = line->line;
    }
    return at;
}

static void refuse(pass_inliner *n, ir_func *f, uint32_t word, const char *why) {
    if (n->found) {
        n->found(n->user, f, why);
        return;
    }
    f->refusal = ir_strdup(&n->m->arena, why);
    f->flags |= IR_FUNC_REFUSED;
    ir_func_drop_body(f);
    ir_report(n->cx->cx, place_of(n->m, word), "kernel '%s': %s", f->name, why);
    n->changed = true;
}

/* Appends a shortest chain of calls from x back to x. */
static void put_cycle(pass_inliner *n, ir_text *t, pass_callee *x) {
    pass_callee_list work = {0}, back = {0};
    foreach_func (f, n->m) pass_callee_of(n, f)->from = NULL;
    *ir_push(n->cx->scratch, &work) = x;
    for (uint32_t k = 0; !x->from; k++) {
        pass_callee *y = work.data[k];
        for (uint32_t c = 0; c < y->calls.n; c++) {
            pass_callee *to = y->calls.data[c].to;
            if (to->from) continue;
            to->from = y;
            *ir_push(n->cx->scratch, &work) = to;
        }
    }
    for (pass_callee *y = x->from; y != x; y = y->from) *ir_push(n->cx->scratch, &back) = y;
    while (back.n) ir_putf(t, " -> '%s'", back.data[--back.n]->f->name);
    ir_putf(t, " -> '%s'", x->f->name);
}

static void refuse_recursion(pass_inliner *n, const pass_callee *kernel, pass_callee *last) {
    ir_text t = {.arena = n->cx->scratch};
    ir_put(&t, "it calls");
    const char *arrow = "";
    for (const pass_callee *x = kernel; x != last; x = x->bad->to) {
        ir_putf(&t, "%s '%s'", arrow, x->bad->to->f->name);
        arrow = " ->";
    }
    if (kernel == last) ir_putf(&t, " '%s'", last->f->name);
    put_cycle(n, &t, last);
    ir_put(&t, ": recursion is not supported");
    refuse(n, kernel->f, kernel->bad->at->loc, t.data);
}

static void refuse_missing(pass_inliner *n, const pass_callee *kernel, const pass_callee *last) {
    ir_text t = {.arena = n->cx->scratch};
    const char *why = last->f->refusal ? last->f->refusal : "imported without a definition";
    const char *arrow = " through";
    ir_putf(&t, "it %s '%s'", kernel->bad->to == last ? "calls" : "reaches", last->f->name);
    for (const pass_callee *x = kernel->bad->to; x != last; x = x->bad->to) {
        ir_putf(&t, "%s '%s'", arrow, x->f->name);
        arrow = " ->";
    }
    ir_putf(&t, ": %s", why);
    refuse(n, kernel->f, kernel->bad->at->loc, t.data);
}

static void refuse_size(pass_inliner *n, const pass_callee *kernel) {
    const pass_call_edge *largest = &kernel->calls.data[0];
    for (uint32_t k = 1; k < kernel->calls.n; k++)
        if (kernel->calls.data[k].to->size > largest->to->size) largest = &kernel->calls.data[k];
    ir_text t = {.arena = n->cx->scratch};
    ir_putf(&t,
            "it has more than %d instructions with the functions that it calls, of which '%s' is "
            "the largest",
            PASS_MOST_INSTRUCTIONS, largest->to->f->name);
    refuse(n, kernel->f, largest->at->loc, t.data);
}

bool pass_refuse_kernel(pass_inliner *n, pass_callee *kernel) {
    pass_callee *last = kernel;
    if (kernel->bad || kernel->recursive) {
        while (!last->recursive && last->bad) last = last->bad->to;
        if (last->recursive)
            refuse_recursion(n, kernel, last);
        else
            refuse_missing(n, kernel, last);
        return true;
    }
    if (kernel->size <= PASS_MOST_INSTRUCTIONS || !kernel->calls.n) return false;
    refuse_size(n, kernel);
    return true;
}
