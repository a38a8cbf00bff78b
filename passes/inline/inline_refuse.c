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

/* A function that a search has come to, and the number of the step before it. */
typedef struct {
    pass_callee *callee;
    uint32_t before;
} step;

/* Appends a shortest chain of calls from x back to x, which a breadth-first search finds. */
static void put_cycle(pass_inliner *n, ir_text *t, pass_callee *x) {
    ir_arena *scratch = n->cx->scratch;
    ir_vec(step) steps = {0};
    pass_callee_list back = {0};
    uint32_t last = 0;
    bool closed = false;
    for (uint32_t k = 0; k < n->n; k++) n->callees[k].mark = 0;
    *ir_push(scratch, &steps) = (step){x, 0};
    for (uint32_t k = 0; !closed; last = k++) {
        const pass_callee *y = steps.data[k].callee;
        for (uint32_t c = 0; c < y->node->calls.n; c++) {
            pass_callee *to = pass_called_by(n, &y->node->calls.data[c]);
            closed |= to == x;
            if (to->mark || to == x) continue;
            to->mark = 1;
            *ir_push(scratch, &steps) = (step){to, k};
        }
    }
    for (; last; last = steps.data[last].before) *ir_push(scratch, &back) = steps.data[last].callee;
    while (back.n) ir_putf(t, " -> '%s'", back.data[--back.n]->f->name);
    ir_putf(t, " -> '%s'", x->f->name);
}

static void refuse_recursion(pass_inliner *n, const pass_callee *kernel, pass_callee *last) {
    ir_text t = {.arena = n->cx->scratch};
    ir_put(&t, "it calls");
    const char *arrow = "";
    for (const pass_callee *x = kernel; x != last; x = pass_called_by(n, x->bad)) {
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
    ir_putf(&t, "it %s '%s'", kernel->bad->to == last->node ? "calls" : "reaches", last->f->name);
    for (const pass_callee *x = pass_called_by(n, kernel->bad); x != last;
         x = pass_called_by(n, x->bad)) {
        ir_putf(&t, "%s '%s'", arrow, x->f->name);
        arrow = " ->";
    }
    ir_putf(&t, ": %s", why);
    refuse(n, kernel->f, kernel->bad->at->loc, t.data);
}

static void refuse_size(pass_inliner *n, const pass_callee *kernel) {
    const pass_call_edge *calls = kernel->node->calls.data, *largest = calls;
    for (uint32_t k = 1; k < kernel->node->calls.n; k++)
        if (pass_called_by(n, &calls[k])->size > pass_called_by(n, largest)->size)
            largest = &calls[k];
    ir_text t = {.arena = n->cx->scratch};
    ir_putf(&t,
            "it has more than %d instructions with the functions that it calls, of which '%s' is "
            "the largest",
            PASS_MOST_INSTRUCTIONS, largest->to->f->name);
    refuse(n, kernel->f, largest->at->loc, t.data);
}

bool pass_refuse_kernel(pass_inliner *n, pass_callee *kernel) {
    pass_callee *last = kernel;
    if (kernel->bad || kernel->node->recursive) {
        while (!last->node->recursive && last->bad) last = pass_called_by(n, last->bad);
        if (last->node->recursive)
            refuse_recursion(n, kernel, last);
        else
            refuse_missing(n, kernel, last);
        return true;
    }
    if (kernel->size <= PASS_MOST_INSTRUCTIONS || !kernel->node->calls.n) return false;
    refuse_size(n, kernel);
    return true;
}
