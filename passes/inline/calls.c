/* calls.c — the calling convention of functions that are not inlined (inline_keep.c).
 *
 * Code of a work-group is loops over items, and an id is a counter of such a loop, which a function
 * outside of the loops cannot query.  So the caller queries what the function or its callees ask
 * about their work-item, and passes it on, and so do its callers up to the kernel.
 *
 * A function has one parameter: the address of a frame in private memory of its caller.  The frame
 * holds the arguments, then the answers to queries, then the result:
 *
 *   func @f(%x: i32, %y: v4f32): f32      func @f(%frame: ptr.private)
 *                                           %x = load %frame
 *   %r = call @f(%a, %b)                  store %a, %frame; store %b, %frame + 16
 *                                         store global_id 0, %frame + 32
 *                                         call @f(%frame); %r = load %frame + 40
 *
 * So targets only call functions with one pointer, whatever types the arguments have.  A caller has
 * one frame for all of its calls, as large as the largest one requires: the callee reads all of it
 * at its start, and the result is read right after the call.
 *
 * Truth values are i8 in memory.  Assumptions (assume) have been used by then, and are removed.
 */
#include "passes/analysis/callgraph.h"

typedef struct {
    ir_op op;
    ir_imm imm;
    ir_type type;
} query;

/* A function that stays, and what becomes of it. */
typedef struct {
    ir_func *old, *new;
    ir_vec(query) queries;
    uint64_t *at; /* offsets: of each argument, each answer, the result */
    uint64_t bytes;
    unsigned align;
    ir_inst **answers; /* in `new`, one for each query */
} callee;

typedef struct {
    ir_module *m;
    ir_arena *scratch;
    ir_map callees;         /* old function -> callee */
    ir_vec(callee *) order; /* callees of a function come before it */
} lowering;

static callee *callee_of(const lowering *l, const ir_func *f) {
    return ir_map_get(&l->callees, (uintptr_t)f);
}

/* ------------------------------------------------------------------------------------ queries */

static bool is_query(const ir_inst *i) { return ir_info(i)->rule == R_QUERY; }

static uint64_t dimension(const query *q) { return ir_ops[q->op].imm == I_DIM ? q->imm.dim : 0; }

static bool is_same(const query *a, const query *b) {
    return a->op == b->op && a->type == b->type && dimension(a) == dimension(b);
}

static uint32_t number_of_query(const callee *c, query q) {
    uint32_t k = 0;
    while (k < c->queries.n && !is_same(&c->queries.data[k], &q)) k++;
    return k;
}

static query query_of(const ir_inst *i) { return (query){(ir_op)i->op, i->imm, i->type}; }

static void add_query(lowering *l, callee *c, query q) {
    if (number_of_query(c, q) == c->queries.n) *ir_push(l->scratch, &c->queries) = q;
}

/* Its own, and those of the functions that it calls. */
static void find_queries(lowering *l, callee *c) {
    foreach_block (b, c->old)
        foreach_inst (i, b) {
            if (is_query(i)) add_query(l, c, query_of(i));
            if (i->op != IR_OP_call) continue;
            const callee *to = callee_of(l, i->imm.func);
            for (uint32_t k = 0; k < to->queries.n; k++) add_query(l, c, to->queries.data[k]);
        }
}

/* ------------------------------------------------------------------------------------ the frame */

/* The type of a value of type t in memory. */
static ir_type memory_type(ir_type t) {
    if (!ir_is_bool(t)) return t;
    return ir_is_vector(t) ? ir_vector(IR_I8, ir_lanes(t)) : ir_scalar(IR_I8);
}

static uint64_t add_field(const lowering *l, callee *c, ir_type t) {
    ir_type in_memory = memory_type(t);
    unsigned align = (unsigned)ir_alignof(l->m, in_memory);
    uint64_t at = (c->bytes + align - 1) / align * align;
    c->bytes = at + ir_sizeof(l->m, in_memory);
    if (align > c->align) c->align = align;
    return at;
}

static void lay_out(lowering *l, callee *c) {
    const ir_func *f = c->old;
    uint64_t *at = c->at = ir_new_array(l->scratch, uint64_t, f->nparams + c->queries.n + 1);
    for (uint32_t k = 0; k < f->nparams; k++) *at++ = add_field(l, c, f->param_val[k]->type);
    for (uint32_t k = 0; k < c->queries.n; k++) *at++ = add_field(l, c, c->queries.data[k].type);
    if (f->ret != IR_VOID) *at = add_field(l, c, f->ret);
}

static ir_inst *address(ir_builder *b, ir_inst *frame, uint64_t at) {
    return at ? ir_build_ptradd(b, frame, ir_const(b->f, ir_size_type(b->f->module), at), true)
              : frame;
}

static void put(ir_builder *b, ir_inst *frame, uint64_t at, ir_inst *v) {
    ir_type t = memory_type(v->type);
    if (t != v->type) v = ir_build1(b, IR_OP_zext, t, v);
    ir_build_store(b, v, address(b, frame, at), (unsigned)ir_alignof(b->f->module, t), 0);
}

static ir_inst *get(ir_builder *b, ir_inst *frame, uint64_t at, ir_type t) {
    ir_type in_memory = memory_type(t);
    unsigned align = (unsigned)ir_alignof(b->f->module, in_memory);
    ir_inst *v = ir_build_load(b, in_memory, address(b, frame, at), align, 0);
    return t == in_memory ? v : ir_build1(b, IR_OP_trunc, t, v);
}

/* -------------------------------------------------------------------------------- the functions */

/* The new function calls the old one at first, which is then put in place of the call. */
static void build_function(lowering *l, callee *c) {
    const char *name = ir_strdup(l->scratch, c->old->name);
    ir_type frame = ir_ptr(IR_PRIVATE);
    ir_inst **args = ir_new_array(l->scratch, ir_inst *, c->old->nparams + 1);
    ir_builder b;
    ir_func_rename(c->old, ir_sprintf(l->scratch, "%s.inlined", name));
    c->new = ir_func_new(l->m, name, IR_VOID, 1, &frame);
    c->new->loc = c->old->loc;
    c->new->flags = c->old->flags & ~(uint32_t)(IR_FUNC_PURE | IR_FUNC_CONST); /* its frame */
    ir_set_name(c->new, c->new->param_val[0], "frame");
    ir_builder_init(&b, c->new);
    ir_at_end(&b, ir_block_new(c->new, "entry"));
    uint32_t n = c->old->nparams;
    for (uint32_t k = 0; k < n; k++)
        args[k] = get(&b, c->new->param_val[0], c->at[k], c->old->param_val[k]->type);
    c->answers = ir_new_array(l->scratch, ir_inst *, c->queries.n + 1);
    for (uint32_t k = 0; k < c->queries.n; k++)
        c->answers[k] = get(&b, c->new->param_val[0], c->at[n + k], c->queries.data[k].type);
    ir_inst *call = ir_build_call(&b, c->old, n, args);
    if (c->old->ret != IR_VOID) put(&b, c->new->param_val[0], c->at[n + c->queries.n], call);
    ir_build_ret(&b, NULL);
    ir_splice(call, c->old, args);
}

/* ------------------------------------------------------------------------------------ the calls */

static void replace_call(ir_inst *call, const callee *c, ir_inst *frame) {
    ir_builder b;
    uint32_t n = call->nargs;
    ir_builder_init(&b, call->block->func);
    ir_before(&b, call);
    b.loc = call->loc;
    for (uint32_t k = 0; k < n; k++) put(&b, frame, c->at[k], ir_arg(call, k));
    for (uint32_t k = 0; k < c->queries.n; k++) {
        const query *q = &c->queries.data[k];
        put(&b, frame, c->at[n + k], ir_build(&b, q->op, q->type, ir_with_imm(q->imm), IR_NO_ARGS));
    }
    ir_build_call(&b, c->new, 1, &frame);
    if (call->type != IR_VOID && call->uses)
        ir_replace_uses(call, get(&b, frame, c->at[n + c->queries.n], call->type));
    ir_remove(call);
}

/* Memory for the largest frame of f's callees, or NULL if it calls nothing. */
static ir_inst *build_frame(const lowering *l, ir_func *f) {
    uint64_t bytes = 0;
    unsigned align = 1;
    bool any = false;
    foreach_block (b, f)
        foreach_inst (i, b) {
            const callee *c = i->op == IR_OP_call ? callee_of(l, i->imm.func) : NULL;
            if (!c) continue;
            any = true;
            if (c->bytes > bytes) bytes = c->bytes;
            if (c->align > align) align = c->align;
        }
    if (!any) return NULL;
    ir_builder b;
    ir_builder_init(&b, f);
    ir_before(&b, f->first->first);
    ir_type t = ir_array_type(l->m, IR_I8, (uint32_t)(bytes ? bytes : 1));
    return ir_build_alloca(&b, t, align);
}

static void replace_calls(const lowering *l, ir_func *f) {
    ir_inst *frame = build_frame(l, f);
    if (!frame) return;
    foreach_block (b, f)
        foreach_inst (i, b) {
            const callee *c = i->op == IR_OP_call ? callee_of(l, i->imm.func) : NULL;
            if (c) replace_call(i, c, frame);
        }
}

/* Replaces queries by the answers in the frame, also those that its calls have added. */
static void answer_queries(const callee *c) {
    foreach_block (b, c->new)
        foreach_inst (i, b) {
            if (is_query(i)) ir_replace_uses(i, c->answers[number_of_query(c, query_of(i))]);
            if (is_query(i) || i->op == IR_OP_assume) ir_remove(i);
        }
    c->new->level = L_GROUP;
}

/* ---------------------------------------------------------------------------------------- entry */

/* Collects the functions that f calls, callees first.  Inlining has refused recursion, so the depth
 * is that of the call graph; the walk is not recursive. */
static void collect(lowering *l, const pass_call_graph *g) {
    for (uint32_t k = 0; k < g->order.n; k++) {
        ir_func *f = g->order.data[k]->f;
        if (!(f->flags & IR_FUNC_SHARED) || ir_is_declaration(f) || f->level == L_GROUP) continue;
        callee *c = ir_new(l->scratch, callee);
        *c = (callee){.old = f, .align = 1};
        ir_map_set(l->scratch, &l->callees, (uintptr_t)f, c);
        *ir_push(l->scratch, &l->order) = c;
        find_queries(l, c);
        lay_out(l, c);
    }
}

/* Does: gives functions that stay one parameter, a frame; their callers answer their queries.
 * Needs: pass inline.
 * Leaves: such functions at level group, without queries.  Gives up: never. */
bool pass_calls(ir_module *m, pass_ctx *cx) {
    pass_call_graph graph;
    lowering l = {.m = m, .scratch = cx->scratch};
    bool changed = false;
    foreach_func (f, m)
        if (!ir_is_declaration(f)) changed |= ir_remove_unreachable(f);
    pass_find_calls(m, cx->scratch, &graph);
    collect(&l, &graph);
    for (uint32_t k = 0; k < l.order.n; k++) build_function(&l, l.order.data[k]);
    foreach_func (f, m)
        if (!ir_is_declaration(f) && !callee_of(&l, f)) replace_calls(&l, f);
    for (uint32_t k = 0; k < l.order.n; k++) answer_queries(l.order.data[k]);
    for (uint32_t k = l.order.n; k-- > 0;) ir_func_remove(l.order.data[k]->old);
    return l.order.n != 0 || changed;
}
