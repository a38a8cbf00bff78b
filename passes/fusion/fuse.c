/* fuse.c — several kernels become one.
 *
 * Each work-item of the fused kernel runs the bodies of the members in order:
 *
 *   entry:  variables of all bodies
 *           guard of body 0 ? body 0 : join 0
 *   join 0: work-group barrier, where one is needed
 *           guard of body 1 ? body 1 : join 1
 *   join 1: ret
 *
 * A body is a copy of the member without calls; where the member returned, early or late, the copy
 * jumps to its join.  Every work-item reaches every join, so the barriers are outside all guards
 * and all items of a group execute them.
 *
 * Guards.  A member with a smaller range than the fused one runs on the items with linear id < N.
 * Where it keeps its ids (pass_same_ids), these are the items whose ids lie inside its range; where
 * ids are computed (remap.c) the linear id itself is compared.  Where the local size divides the
 * member's range, groups lie inside or outside as a whole; the guard then compares group ids, which
 * are uniform, and what the body asks about sizes is answered from its own range.
 *
 * Module-scope variables in local memory belong to one body: the second body that refers to one
 * gets a copy.  Constants are shared.
 *
 * A struct by value is a private copy that its body may change; when several bodies are given the
 * same one, each gets a copy of its own.
 *
 * Which bodies can be taken at all is decided in fuse_fit.c; whether they may follow each other,
 * and where a barrier is needed, in fuse_legal.c; which buffers become private or local memory,
 * in promote.c.
 */
#include "passes/fusion/fuse_impl.h"

typedef struct {
    ir_ctx *cx;
    const pass_fuse_request *request;
    ir_arena *out;
    pass_fuse_result *result;
    pass_fuse_member *members; /* bodies without calls; ranges with the required local size */
    ir_kernel_attrs attrs;     /* merged */
    ir_module *stage;          /* holds bodies that are copies, or NULL */
    ir_arena scratch;
    ir_block *last;      /* the join that the next body starts from */
    ir_inst *after_vars; /* in the entry: variables go before it */
    ir_map owner;        /* local variable -> the first member that uses it */
    ir_map copies;       /* (local variable, member) -> the copy that the member's body uses */
    ir_map shared;       /* local variables that are promoted buffers: of all bodies */
    pass_wait *wait;     /* after each member */
    pass_cost length;    /* of the bodies since the last barrier */
    pass_promotions promotions;
    ir_inst **memory;  /* by argument: what it became, or NULL */
    bool done, broken; /* broken: the fused kernel breaks the rules of the IR */
} fusion;

static void decide(fusion *q, const char *rule, const char *text) {
    *ir_push(q->out, &q->result->decisions) = (pass_decision){.rule = rule, .text = text};
}

static const ir_func *kernel(const fusion *q, uint32_t m) { return q->request->members[m].kernel; }

/* -------------------------------------------------------------------------------------- members */

static bool is_kernel(const fusion *q, uint32_t m) {
    const ir_func *k = kernel(q, m);
    if (!(k->flags & IR_FUNC_KERNEL)) return ir_error(q->cx, "@%s is not a kernel", k->name);
    if (ir_is_declaration(k))
        return ir_error(q->cx, "@%s has no body%s%s", k->name, k->refusal ? ": " : "",
                        k->refusal ? k->refusal : "");
    unsigned bits = k->module->pointer_bits, want = kernel(q, 0)->module->pointer_bits;
    if (q->request->into) want = q->request->into->pointer_bits;
    if (bits != want)
        return ir_error(q->cx, "@%s has pointers of %u bits, the fused kernel of %u", k->name, bits,
                        want);
    return true;
}

static bool have_kernels(fusion *q) {
    for (uint32_t m = 0; m < q->request->nmembers; m++)
        if (!is_kernel(q, m)) return false;
    return true;
}

/* ---------------------------------------------------------------------------------------- range */

/* A required work-group size is an explicit local size. */
static bool require_local_size(fusion *q, uint32_t m) {
    ir_range *r = &q->members[m].range;
    const uint32_t *size = kernel(q, m)->attrs.local_size;
    if (!size[0]) return true;
    for (unsigned d = 0; d < 3; d++) {
        uint64_t local = pass_local_size(r, d);
        bool given = ir_has_local_size(r) || d >= r->dims;
        if (given && local != size[d])
            return ir_error(q->cx, "@%s requires work-groups of %u,%u,%u: %s", kernel(q, m)->name,
                            size[0], size[1], size[2], pass_range_text(q->out, r));
    }
    for (unsigned d = 0; d < r->dims && d < 3; d++) r->local[d] = size[d];
    return true;
}

static bool resolve_range(fusion *q) {
    const pass_fuse_request *r = q->request;
    ir_range *fused = &q->result->range;
    q->members = ir_dup(&q->scratch, r->members, r->nmembers * sizeof *r->members);
    for (uint32_t m = 0; m < r->nmembers; m++)
        if (!require_local_size(q, m)) return false;
    if (!pass_fuse_range(q->cx, q->members, r->nmembers, &q->scratch, fused)) return false;
    for (unsigned d = 0; d < 3 && kernel(q, 0)->module->pointer_bits == 32; d++)
        if (fused->global[d] + fused->offset[d] > UINT32_MAX)
            return ir_error(q->cx, "too many work-items for 32-bit ids: %s",
                            pass_range_text(q->out, fused));
    decide(q, "fuse.range", ir_sprintf(q->out, "runs on %s", pass_range_text(q->out, fused)));
    return true;
}

static bool has_guard(const fusion *q, uint32_t m) {
    return pass_needs_guard(&q->members[m].range, &q->result->range);
}

static bool has_whole_groups(const fusion *q, uint32_t m) {
    return pass_has_whole_groups(&q->members[m].range, &q->result->range);
}

/* -------------------------------------------------------------------------------- fixing a copy */

static ir_global *copy_local(fusion *q, const ir_global *g) {
    ir_global *copy = ir_global_new(q->result->module, g->name, g->space, g->type);
    copy->align = g->align;
    copy->init = g->init;
    copy->reloc = g->reloc;
    copy->nreloc = g->nreloc;
    return copy;
}

/* The variable that body m uses in place of g, which is in local memory. */
static ir_global *own_local(fusion *q, uint32_t m, ir_global *g) {
    uint64_t key = (uintptr_t)g, mine = ir_mix(key, m) | 1;
    uint32_t *owner = ir_map_get(&q->owner, key);
    if (ir_map_get(&q->shared, key)) return g;
    if (!owner) {
        owner = ir_dup(&q->scratch, &m, sizeof m);
        ir_map_set(&q->scratch, &q->owner, key, owner);
    }
    if (*owner == m) return g;
    ir_global *copy = ir_map_get(&q->copies, mine);
    if (!copy) copy = copy_local(q, g);
    ir_map_set(&q->scratch, &q->copies, mine, copy);
    return copy;
}

static void split_locals(fusion *q, uint32_t m, ir_inst *i) {
    for (unsigned n = 0; n < i->nargs; n++) {
        const ir_inst *v = ir_arg(i, n);
        if (v->op != IR_OP_address || v->imm.global->space != IR_LOCAL) continue;
        ir_global *own = own_local(q, m, v->imm.global);
        if (own != v->imm.global) ir_set_arg(i, n, ir_address(q->result->kernel, own));
    }
}

static bool is_sum(const ir_inst *i) { return i->op == IR_OP_fadd || i->op == IR_OP_fsub; }

static bool is_summed(const ir_inst *i) {
    foreach_use (u, i)
        if (!is_sum(u->user)) return false;
    return true;
}

/* Does nothing but sums use it, or its negative? */
static bool is_term(const ir_inst *product) {
    foreach_use (u, product)
        if (!is_sum(u->user) && !(u->user->op == IR_OP_fneg && is_summed(u->user))) return false;
    return true;
}

/* A product that leaves its member is rounded there, also when the next one adds to it. */
static void keep_rounding(ir_inst *i) {
    if (i->op == IR_OP_fmul && !is_term(i)) i->flags &= ~(unsigned)IR_CONTRACT;
}

static void fix_copy(fusion *q, uint32_t m, const pass_remap *remap, ir_block *b) {
    foreach_inst (i, b) {
        keep_rounding(i);
        split_locals(q, m, i);
        ir_inst *answer = ir_info(i)->rule == R_QUERY ? pass_remap_query(remap, b->func, i) : NULL;
        if (!answer) continue;
        ir_replace_uses(i, answer);
        ir_remove(i);
    }
}

/* ----------------------------------------------------------------------------- guards, barriers */

/* Are the item's id and group in dimension d inside the range of body m? */
static ir_inst *is_inside(const fusion *q, uint32_t m, ir_builder *b, unsigned d) {
    const ir_range *own = &q->members[m].range, *fused = &q->result->range;
    ir_type t = ir_size_type(b->f->module);
    bool groups = has_whole_groups(q, m);
    uint64_t end = pass_global_size(own, d);
    end = groups ? end / fused->local[d] : end + fused->offset[d];
    ir_inst *id = ir_build_query(b, groups ? IR_OP_group_id : IR_OP_global_id, t, d);
    return ir_build2(b, IR_OP_ult, IR_I1, id, ir_const(b->f, t, end));
}

static ir_inst *build_guard(const fusion *q, uint32_t m, const pass_remap *remap, ir_builder *b) {
    ir_inst *guard = NULL;
    if (!has_guard(q, m)) return NULL;
    if (remap->computed) {
        ir_inst *linear = pass_linear_id(remap, b);
        ir_inst *end = ir_const(b->f, linear->type, pass_range_items(remap->own));
        return ir_build2(b, IR_OP_ult, IR_I1, linear, end);
    }
    for (unsigned d = 0; d < 3; d++) {
        if (pass_global_size(&q->members[m].range, d) == pass_global_size(&q->result->range, d))
            continue;
        ir_inst *inside = is_inside(q, m, b, d);
        guard = guard ? ir_build2(b, IR_OP_and, IR_I1, guard, inside) : inside;
    }
    return guard;
}

static void build_entrance(fusion *q, uint32_t m, const pass_remap *remap, ir_builder *b,
                           ir_block *body) {
    ir_block *join = q->last;
    ir_inst *guard = build_guard(q, m, remap, b);
    if (!guard) {
        ir_build_jmp(b, body);
        return;
    }
    ir_build_br(b, guard, body, join);
    decide(q, "fuse.guard",
           ir_sprintf(q->out, "@%s runs on the items of %s only%s", kernel(q, m)->name,
                      pass_range_text(q->out, &q->members[m].range),
                      !remap->computed && has_whole_groups(q, m) ? ", whole work-groups" : ""));
}

static const char *const barrier_text[] = {"local and global memory", "local memory",
                                           "global memory"};
static const unsigned barrier_memory[] = {IR_SEM_LOCAL | IR_SEM_GLOBAL, IR_SEM_LOCAL,
                                          IR_SEM_GLOBAL};

/* Images are global memory with a bit of their own. */
static unsigned ordered_memory(const fusion *q) {
    unsigned memory = barrier_memory[q->request->barrier];
    for (uint32_t a = 0; a < q->result->nargs && memory & IR_SEM_GLOBAL; a++)
        if (q->result->args[a].kind == IR_ARG_IMAGE) memory |= IR_SEM_IMAGE;
    return memory;
}

static pass_cost length_of(fusion *q, uint32_t m) {
    return pass_find_length((ir_func *)(uintptr_t)q->members[m].kernel, &q->scratch);
}

/* Does the next body run in another loop of a device that runs items one after the other? */
static bool should_split(fusion *q, uint32_t m) {
    if (!q->request->serial || q->request->barrier == PASS_BARRIER_NONE) return false;
    const pass_cost next = length_of(q, m + 1), *now = &q->length;
    bool waits = q->result->gaps[m].why.kind == PASS_DEP_ITEM;
    bool split = !q->wait[m] && waits && pass_should_split(&q->result->range, now, &next);
    bool alone = split || q->wait[m] || !now->cycles || !next.cycles;
    q->length =
        alone ? next : (pass_cost){now->operations + next.operations, now->cycles + next.cycles};
    return split;
}

static void build_barrier(fusion *q, uint32_t m, ir_builder *b) {
    const char *before = kernel(q, m)->name, *after = kernel(q, m + 1)->name;
    bool asked = q->request->barrier == PASS_BARRIER_NONE && q->request->force;
    pass_decision d = {.rule = "fuse.no-barrier", .why = q->result->gaps[m].why};
    bool phase = q->wait[m] == PASS_WAIT_GRID;
    unsigned scope = phase ? IR_SCOPE_DEVICE : IR_SCOPE_WORKGROUP;
    bool split = should_split(q, m);
    if (q->wait[m] || split) ir_build_barrier(b, scope, scope, IR_SEM_SEQ_CST | ordered_memory(q));
    if (split) {
        d.rule = "fuse.split";
        d.text = ir_sprintf(q->out, "@%s and @%s run in loops of their own in each work-group",
                            before, after);
    } else if (q->wait[m]) {
        d.rule = phase ? "fuse.phase" : "fuse.barrier";
        d.text = ir_sprintf(q->out, "%s between @%s and @%s: %s",
                            phase ? "barrier of all work-groups" : "work-group barrier", before,
                            after, barrier_text[q->request->barrier]);
    } else {
        d.text = ir_sprintf(q->out, "no barrier between @%s and @%s%s", before, after,
                            asked ? ", as asked" : " is needed");
    }
    *ir_push(q->out, &q->result->decisions) = d;
}

/* --------------------------------------------------------------------------------------- bodies */

static void hoist_variables(fusion *q, ir_block *body) {
    if (!q->after_vars) q->after_vars = q->result->kernel->first->first;
    foreach_inst (i, body)
        if (i->op == IR_OP_alloca) ir_move_before(i, q->after_vars);
}

/* A copy of the struct that `param` points to, made at the position of b. */
static ir_inst *copy_struct(const fusion *q, ir_builder *b, ir_inst *param) {
    const ir_param *info = &q->result->kernel->param[param->imm.index];
    ir_builder vars = *b;
    if (q->after_vars) ir_before(&vars, q->after_vars);
    ir_inst *copy = ir_build_byval(&vars, info);
    ir_build_byval_copy(b, info, copy, param);
    return copy;
}

static ir_inst **arguments_of(const fusion *q, uint32_t m, ir_builder *b, ir_arena *scratch) {
    const pass_fuse_result *r = q->result;
    const ir_func *k = kernel(q, m);
    ir_inst **args = ir_new_array(scratch, ir_inst *, k->nparams);
    for (uint32_t p = 0; p < k->nparams; p++) {
        const pass_fuse_arg *arg = &r->args[r->arg_of[m][p]];
        bool shared = arg->nparams > 1 && k->param[p].attrs & IR_PARAM_BYVAL;
        args[p] = q->memory[r->arg_of[m][p]];
        if (!args[p]) args[p] = r->kernel->param_val[arg->index];
        if (shared) args[p] = copy_struct(q, b, args[p]);
    }
    return args;
}

/* A block for the ids of a remapped member, after its guard; NULL when it keeps its ids. */
static ir_block *begin_ids(fusion *q, uint32_t m, pass_remap *remap) {
    ir_builder b;
    bool computed = !pass_same_ids(&q->members[m].range, &q->result->range);
    ir_block *ids = computed ? ir_block_new(q->result->kernel, "ids") : NULL;
    ir_builder_init(&b, q->result->kernel);
    ir_at_end(&b, ids);
    pass_remap_begin(remap, &b);
    if (!ids) return NULL;
    decide(q, "fuse.remap",
           ir_sprintf(q->out, "ids of @%s are computed from the linear id: %s in %s",
                      kernel(q, m)->name, pass_range_text(q->out, remap->own),
                      pass_range_text(q->out, remap->fused)));
    return ids;
}

static void end_ids(ir_block *ids, ir_block *body) {
    ir_builder b;
    ir_builder_init(&b, ids->func);
    ir_at_end(&b, ids);
    ir_build_jmp(&b, body);
}

/* Copies body m after b's block; b is then at the end of its join. */
static void add_body(fusion *q, uint32_t m, ir_builder *b) {
    ir_func *f = q->result->kernel;
    ir_inst **args = arguments_of(q, m, b, &q->scratch);
    pass_remap remap = {.own = &q->members[m].range, .fused = &q->result->range};
    ir_block *body, *ids = begin_ids(q, m, &remap), *join = ir_block_new(f, "join");
    ir_clone_body(f, q->members[m].kernel, args, join, &body);
    for (ir_block *copy = join->next; copy; copy = copy->next) fix_copy(q, m, &remap, copy);
    q->last = join;
    build_entrance(q, m, &remap, b, ids ? ids : body);
    if (ids) end_ids(ids, body);
    hoist_variables(q, body);
    ir_block_move_after(join, f->last);
    ir_at_end(b, join);
}

static void make_memory(fusion *q, ir_builder *b) {
    q->memory = ir_new_array(&q->scratch, ir_inst *, q->result->nargs);
    for (uint32_t k = 0; k < q->promotions.all.n; k++) {
        const pass_promoted *p = &q->promotions.all.data[k];
        ir_inst *memory = pass_promoted_memory(p, q->result->args[p->arg].name, b);
        q->memory[p->arg] = memory;
        if (memory->op == IR_OP_address)
            ir_map_set(&q->scratch, &q->shared, (uintptr_t)memory->imm.global, memory);
    }
}

static void build_kernel(fusion *q) {
    ir_func *f = q->result->kernel;
    uint32_t n = q->request->nmembers;
    ir_builder b;
    ir_builder_init(&b, f);
    ir_at_end(&b, ir_block_new(f, "entry"));
    make_memory(q, &b);
    if (q->request->serial) q->length = length_of(q, 0);
    for (uint32_t m = 0; m < n; m++) {
        add_body(q, m, &b);
        if (m + 1 < n) build_barrier(q, m, &b);
    }
    ir_build_ret(&b, NULL);
    f->attrs = q->attrs;
    for (uint32_t m = 0; m < n; m++) f->flags |= kernel(q, m)->flags & IR_FUNC_CONTRACTION_OFF;
}

static void make_module(fusion *q) {
    const ir_module *like = kernel(q, 0)->module;
    const char *name = q->request->name ? q->request->name : "fused";
    ir_module *m = q->request->into;
    if (!m) m = q->result->module = ir_module_new(q->cx, name, like->pointer_bits);
    if (!m->source_language && !m->source_version) {
        m->source_language = like->source_language;
        m->source_version = like->source_version;
    }
    q->result->module = m;
}

/* ---------------------------------------------------------------------------------------- entry */

static void discard(fusion *q) {
    pass_fuse_result *r = q->result;
    if (q->request->into && r->kernel) ir_func_remove(r->kernel);
    if (!q->request->into) ir_module_free(r->module);
    r->module = NULL;
    r->kernel = NULL;
}

/* Decides about buffers and barriers; when false and not done, an error was reported. */
static bool is_legal(fusion *q) {
    const pass_fuse_request *r = q->request;
    pass_summary *summaries = pass_fuse_summaries(r, q->members, &q->scratch, q->result);
    q->wait = ir_new_array(&q->scratch, pass_wait, r->nmembers);
    pass_fuse_promote(q->cx, r, summaries, &q->scratch, q->out, q->result, &q->promotions);
    if (!q->promotions.ok) return false;
    q->done = !pass_fuse_legal(r, summaries, &q->scratch, q->out, q->result, q->wait);
    if (q->done) return false;
    pass_promote_bodies(&q->promotions, summaries, r->nmembers, q->result, &q->scratch);
    return true;
}

static void fuse(void *user) {
    fusion *q = user;
    if (q->request->nmembers == 0) {
        ir_error(q->cx, "nothing to fuse");
        return;
    }
    if (!have_kernels(q) || !pass_fuse_attrs(q->cx, q->request, q->out, q->result, &q->attrs))
        return;
    if (!resolve_range(q)) return;
    pass_fuse_stage(q->cx, q->request, q->members, &q->scratch, &q->stage);
    q->done = !pass_fuse_fit(q->request, q->members, q->stage != NULL, q->out, q->result);
    if (q->done) return;
    make_module(q);
    if (!pass_fuse_params(q->cx, q->request, q->out, q->result)) return;
    if (!is_legal(q)) {
        discard(q);
        return;
    }
    build_kernel(q);
    if (!pass_fuse_constants(q->cx, q->request, q->result)) return;
    const pass_launch launch = {.kernel = q->result->kernel, .range = &q->result->range};
    if (q->request->known_range) pass_apply_range(&launch);
    q->done = ir_verify_func(q->result->kernel);
    q->broken = !q->done;
}

bool pass_fuse(ir_ctx *cx, const pass_fuse_request *request, ir_arena *out,
               pass_fuse_result *result) {
    *result = (pass_fuse_result){0};
    fusion q = {.cx = cx, .request = request, .out = out, .result = result};
    ir_arena_init(&q.scratch, cx);
    bool finished = ir_try(cx, fuse, &q);
    if (!finished || !q.done) discard(&q);
    if (finished && !q.done) cx->status = q.broken ? IR_ERR_INTERNAL : IR_ERR_INPUT;
    ir_module_free(q.stage);
    ir_arena_free(&q.scratch);
    return finished && q.done;
}
