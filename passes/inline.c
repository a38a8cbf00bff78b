/* inline.c — calls become the callee's body; what nothing reaches is dropped.
 *
 * A module with kernels is compiled kernel by kernel, so every kernel takes in all that it calls,
 * whatever the callee's hints say.  A call in copied code is met when the walk over the kernel's
 * blocks gets there, so each kernel costs its final size, and the callees stay as they are; but a
 * kernel that only wraps a function takes over its body.  Then
 * functions that are no kernels have no purpose and are removed, exported ones too, with all
 * globals that nothing refers to.
 *
 * A kernel that cannot be complete is refused, with a warning and the chain of calls in its
 * refusal: one that reaches recursion (a strongly connected part of the call graph, Tarjan 1972), a
 * function without a definition, a function that the reader has refused, or more than MAX_SIZE
 * instructions.
 *
 * A module without kernels is a library: its functions and calls stay, but a call of a tiny
 * function of one block is not worth a call.  Only what is neither exported nor used is removed,
 * and nothing when the module exports nothing at all.
 *
 * Variables of the callee move to the caller's entry.  In a loop they are then shared by all
 * rounds; that is right because a variable's contents are undefined when its activation starts.  A
 * by-value argument is copied, since the callee owns what it points to.
 */
#include "passes/passes.h"

enum { MAX_SIZE = 4 << 20, TINY = 12 };

typedef struct node node;

typedef struct {
    node *to;
    ir_inst *at;
} edge;

/* A function in the call graph. */
struct node {
    ir_func *f;
    ir_vec(edge) calls;
    uint32_t callers;     /* calls of it */
    uint32_t next_call;   /* the depth-first walk has followed those before */
    uint32_t number, low; /* Tarjan's; number 0: not met */
    bool open, recursive;
    const edge *bad; /* the first call on the way to something that cannot be inlined */
    node *from;      /* how the search for a cycle came here */
    uint64_t size;   /* instructions with all calls expanded */
};

typedef ir_vec(node *) node_list;

typedef struct {
    ir_module *m;
    pass_ctx *cx;
    ir_map nodes;    /* by function */
    node_list order; /* callees first */
    node_list path;  /* of the depth-first walk */
    node_list open;  /* nodes whose strongly connected part is not complete */
    uint32_t numbered;
    bool has_kernels;
    bool is_open; /* neither kernels nor exports: everything may be wanted */
    bool changed;
    pass_refusal_fn *found; /* told of refusals instead of carrying them out; NULL: inlines */
    void *user;
} inliner;

static node *node_of(inliner *n, const ir_func *f) { return ir_map_get(&n->nodes, (uintptr_t)f); }

static bool is_kernel(const ir_func *f) { return (f->flags & IR_FUNC_KERNEL) != 0; }

/* ----------------------------------------------------------------------------------- call graph */

static void add_nodes(inliner *n) {
    n->is_open = true;
    foreach_func (f, n->m) {
        node *x = ir_new(n->cx->scratch, node);
        x->f = f;
        ir_map_set(n->cx->scratch, &n->nodes, (uintptr_t)f, x);
        if (is_kernel(f)) n->has_kernels = true;
        if (f->flags & (IR_FUNC_KERNEL | IR_FUNC_EXPORT)) n->is_open = false;
    }
}

static void add_block(inliner *n, node *x, ir_block *b) {
    foreach_inst (i, b) {
        x->size++;
        if (i->op != IR_OP_call) continue;
        *ir_push(n->cx->scratch, &x->calls) = (edge){.to = node_of(n, i->imm.func), .at = i};
        node_of(n, i->imm.func)->callers++;
    }
}

/* Who only looks leaves unreachable blocks where they are, and counts none of their calls. */
static void add_calls(inliner *n, node *x) {
    if (ir_is_declaration(x->f)) return;
    if (!n->found) n->changed |= ir_remove_unreachable(x->f);
    const uint32_t *index = n->found ? ir_dominators(x->f)->order.index : NULL;
    foreach_block (b, x->f)
        if (!index || index[b->id] != UINT32_MAX) add_block(n, x, b);
}

static void open_node(inliner *n, node *x) {
    x->number = x->low = ++n->numbered;
    x->open = true;
    *ir_push(n->cx->scratch, &n->path) = x;
    *ir_push(n->cx->scratch, &n->open) = x;
}

/* x is the root of a strongly connected part: all that was opened since. */
static void close_part(inliner *n, node *x) {
    bool alone = n->open.data[n->open.n - 1] == x;
    node *y;
    do {
        y = n->open.data[--n->open.n];
        y->open = false;
        y->recursive = !alone;
        for (uint32_t k = 0; k < y->calls.n; k++) y->recursive |= y->calls.data[k].to == y;
        *ir_push(n->cx->scratch, &n->order) = y;
    } while (y != x);
}

static void leave_node(inliner *n, node *x) {
    n->path.n--;
    if (x->low == x->number) close_part(n, x);
    if (!n->path.n) return;
    node *caller = n->path.data[n->path.n - 1];
    if (x->low < caller->low) caller->low = x->low;
}

static void order_from(inliner *n, node *root) {
    if (root->number) return;
    open_node(n, root);
    while (n->path.n) {
        node *x = n->path.data[n->path.n - 1];
        if (x->next_call == x->calls.n) {
            leave_node(n, x);
            continue;
        }
        node *y = x->calls.data[x->next_call++].to;
        if (!y->number)
            open_node(n, y);
        else if (y->open && y->number < x->low)
            x->low = y->number;
    }
}

/* --------------------------------------------------------------------- what a function leads to */

/* Cannot be inlined itself? */
static bool is_offender(const node *x) { return x->recursive || ir_is_declaration(x->f); }

static void judge(node *x) {
    for (uint32_t k = 0; k < x->calls.n; k++) {
        const edge *e = &x->calls.data[k];
        if (!x->bad && (is_offender(e->to) || e->to->bad)) x->bad = e;
        x->size += e->to->size;
        if (x->size > UINT64_MAX / 4) x->size = UINT64_MAX / 4;
    }
}

/* ------------------------------------------------------------------------------------- refusals */

/* Where the call stands in the source, for a message. */
static ir_message place_of(const ir_module *m, uint32_t word) {
    const ir_line *line = ir_line_of(m, word);
    ir_message at = {.severity = IR_WARNING, .file = m->name, .word = ir_word_of(word)};
    if (line && line->file < m->files.n) {
        at.source = m->files.data[line->file];
        at.source_line = line->line;
    }
    return at;
}

static void refuse(inliner *n, ir_func *f, uint32_t word, const char *why) {
    if (n->found) {
        n->found(n->user, f, why);
        return;
    }
    f->refusal = ir_strdup(&n->m->arena, why);
    f->flags |= IR_FUNC_REFUSED;
    ir_func_drop_body(f);
    ir_report(n->cx->cx, place_of(n->m, word), "%s", f->refusal);
    n->changed = true;
}

/* Appends a shortest chain of calls from x back to x. */
static void put_cycle(inliner *n, ir_text *t, node *x) {
    node_list work = {0}, back = {0};
    foreach_func (f, n->m) node_of(n, f)->from = NULL;
    *ir_push(n->cx->scratch, &work) = x;
    for (uint32_t k = 0; !x->from; k++) {
        node *y = work.data[k];
        for (uint32_t c = 0; c < y->calls.n; c++) {
            node *to = y->calls.data[c].to;
            if (to->from) continue;
            to->from = y;
            *ir_push(n->cx->scratch, &work) = to;
        }
    }
    for (node *y = x->from; y != x; y = y->from) *ir_push(n->cx->scratch, &back) = y;
    while (back.n) ir_putf(t, " -> '%s'", back.data[--back.n]->f->name);
    ir_putf(t, " -> '%s'", x->f->name);
}

static void refuse_recursion(inliner *n, const node *kernel, node *last) {
    ir_text t = {.arena = n->cx->scratch};
    ir_putf(&t, "kernel '%s' calls", kernel->f->name);
    const char *arrow = "";
    for (const node *x = kernel; x != last; x = x->bad->to) {
        ir_putf(&t, "%s '%s'", arrow, x->bad->to->f->name);
        arrow = " ->";
    }
    if (kernel == last) ir_putf(&t, " '%s'", last->f->name);
    put_cycle(n, &t, last);
    ir_put(&t, ": recursion is not supported");
    refuse(n, kernel->f, kernel->bad->at->loc, t.data);
}

static void refuse_missing(inliner *n, const node *kernel, const node *last) {
    ir_text t = {.arena = n->cx->scratch};
    const char *why = last->f->refusal ? last->f->refusal : "imported without a definition";
    const char *arrow = " through";
    ir_putf(&t, "kernel '%s' %s '%s'", kernel->f->name,
            kernel->bad->to == last ? "calls" : "reaches", last->f->name);
    for (const node *x = kernel->bad->to; x != last; x = x->bad->to) {
        ir_putf(&t, "%s '%s'", arrow, x->f->name);
        arrow = " ->";
    }
    ir_putf(&t, ": %s", why);
    refuse(n, kernel->f, kernel->bad->at->loc, t.data);
}

static void refuse_size(inliner *n, const node *kernel) {
    const edge *largest = &kernel->calls.data[0];
    for (uint32_t k = 1; k < kernel->calls.n; k++)
        if (kernel->calls.data[k].to->size > largest->to->size) largest = &kernel->calls.data[k];
    ir_text t = {.arena = n->cx->scratch};
    ir_putf(&t,
            "kernel '%s' has more than %d instructions with the functions that it calls, "
            "of which '%s' is the largest",
            kernel->f->name, MAX_SIZE, largest->to->f->name);
    refuse(n, kernel->f, largest->at->loc, t.data);
}

/* True when the kernel has been refused. */
static bool check_kernel(inliner *n, node *kernel) {
    node *last = kernel;
    if (kernel->bad || kernel->recursive) {
        while (!last->recursive && last->bad) last = last->bad->to;
        if (last->recursive)
            refuse_recursion(n, kernel, last);
        else
            refuse_missing(n, kernel, last);
        return true;
    }
    if (kernel->size <= MAX_SIZE || !kernel->calls.n) return false;
    refuse_size(n, kernel);
    return true;
}

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

static ir_inst **arguments(inliner *n, ir_inst *call) {
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

/* From the last call of a block to the first, so that no instruction moves twice; copied blocks
 * come after their call and are met later. */
static void inline_calls(inliner *n, ir_func *f, bool (*wanted)(inliner *n, const ir_inst *call)) {
    bool any = false;
    for (ir_block *b = f->first; b; b = b->next)
        foreach_inst_reverse (i, b) {
            if (i->op != IR_OP_call || !wanted(n, i)) continue;
            ir_splice(i, i->imm.func, arguments(n, i));
            any = true;
        }
    if (!any) return;
    ir_remove_unreachable(f); /* behind calls that do not return */
    merge_chains(f);
    n->changed = true;
}

static bool any_call(inliner *n, const ir_inst *call) {
    (void)n;
    (void)call;
    return true;
}

/* Does f nothing but pass its parameters on to a function that nobody else calls?  So front ends
 * write every kernel. */
static bool is_wrapper(inliner *n, const ir_func *f) {
    const ir_inst *call = f->first->first;
    if (call->op != IR_OP_call || call->next->op != IR_OP_ret || call->next->nargs) return false;
    const ir_func *callee = call->imm.func;
    if (is_kernel(callee) || node_of(n, callee)->callers > 1) return false;
    if (call->nargs != f->nparams || callee->ret != IR_VOID) return false;
    for (unsigned k = 0; k < call->nargs; k++)
        if (ir_arg(call, k) != f->param_val[k]) return false;
    return true;
}

static void inline_everything(inliner *n, ir_func *kernel) {
    if (is_wrapper(n, kernel)) {
        ir_take_body(kernel, kernel->first->first->imm.func);
        n->changed = true;
    }
    inline_calls(n, kernel, any_call);
}

static bool tiny_call(inliner *n, const ir_inst *call) {
    const ir_func *f = call->imm.func;
    if (ir_is_declaration(f) || f->first != f->last || f->flags & IR_FUNC_NOINLINE) return false;
    if (node_of(n, f)->recursive || f->first->last->op != IR_OP_ret) return false;
    unsigned size = 0;
    for (const ir_inst *i = f->first->first; i && size <= TINY; i = i->next) size++;
    return size <= TINY;
}

/* -------------------------------------------------------------------------- dropping the unused */

static void keep(inliner *n, ir_map *kept, node_list *work, const ir_func *f) {
    if (ir_map_get(kept, (uintptr_t)f)) return;
    node *x = node_of(n, f);
    ir_map_set(n->cx->scratch, kept, (uintptr_t)f, x);
    *ir_push(n->cx->scratch, work) = x;
}

static bool is_root(const inliner *n, const ir_func *f) {
    if (is_kernel(f) || n->is_open) return true;
    return !n->has_kernels && (f->flags & IR_FUNC_EXPORT);
}

static void drop_functions(inliner *n) {
    ir_map kept = {0};
    node_list work = {0};
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

static void keep_global(inliner *n, ir_map *kept, global_list *work, ir_global *g) {
    if (ir_map_get(kept, (uintptr_t)g)) return;
    ir_map_set(n->cx->scratch, kept, (uintptr_t)g, g);
    *ir_push(n->cx->scratch, work) = g;
}

static void keep_addresses(inliner *n, ir_map *kept, global_list *work, const ir_inst *i) {
    for (unsigned k = 0; k < i->nargs; k++)
        if (ir_arg(i, k)->op == IR_OP_address) keep_global(n, kept, work, ir_arg(i, k)->imm.global);
}

static void drop_globals(inliner *n) {
    ir_map kept = {0};
    global_list work = {0};
    foreach_global (g, n->m)
        if (n->is_open || (!n->has_kernels && (g->flags & IR_FUNC_EXPORT)))
            keep_global(n, &kept, &work, g);
    foreach_func (f, n->m)
        foreach_block (b, f)
            foreach_inst (i, b) keep_addresses(n, &kept, &work, i);
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

static void judge_all(inliner *n) {
    foreach_func (f, n->m) add_calls(n, node_of(n, f));
    foreach_func (f, n->m) order_from(n, node_of(n, f));
    for (uint32_t k = 0; k < n->order.n; k++) judge(n->order.data[k]);
}

void pass_find_refusals(ir_module *m, ir_arena *scratch, pass_refusal_fn *found, void *user) {
    pass_ctx cx = {.cx = m->cx, .scratch = scratch};
    inliner n = {.m = m, .cx = &cx, .found = found, .user = user};
    add_nodes(&n);
    if (!n.has_kernels) return;
    judge_all(&n);
    foreach_func (f, m)
        if (is_kernel(f) && !ir_is_declaration(f)) check_kernel(&n, node_of(&n, f));
}

/* Does: kernels take in all that they call; unused functions and globals go.
 * Needs: nothing.
 * Leaves: kernels without calls, or refused without a body; code of the callees at their call,
 * their variables in the entry. Gives up: on a kernel that cannot be complete, which is refused. */
bool pass_inline(ir_module *m, pass_ctx *cx) {
    inliner n = {.m = m, .cx = cx};
    add_nodes(&n);
    judge_all(&n);
    for (uint32_t k = 0; k < n.order.n; k++) {
        node *x = n.order.data[k];
        if (ir_is_declaration(x->f)) continue;
        if (!n.has_kernels)
            inline_calls(&n, x->f, tiny_call);
        else if (is_kernel(x->f) && !check_kernel(&n, x))
            inline_everything(&n, x->f);
    }
    drop_functions(&n);
    drop_globals(&n);
    return n.changed;
}
