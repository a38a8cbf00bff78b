/* fuse_build.c — builds the fused kernel from the bodies of its members.
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
 * member's range, each group lies inside or outside as a whole; the guard then compares group ids,
 * which are uniform, and queries of sizes in the body are answered from the member's own range.
 *
 * Module-scope variables in local memory belong to one body: the second body that refers to one
 * gets a copy.  Those that promotion has made belong to all bodies.  Constants are shared.
 *
 * A struct by value is a private copy that its body may change; when several bodies are given the
 * same one, each gets a copy of its own.
 */
#include "passes/fusion/fuse_impl.h"

/* Which body uses which variable in local memory. */
typedef struct {
    ir_map owner;  /* variable -> the first member that uses it */
    ir_map copies; /* (variable, member) -> the copy that the member's body uses */
    ir_map shared; /* variables of all bodies */
} local_variables;

typedef struct {
    const pass_fuse_input *in;
    pass_fuse_result *result;
    ir_inst **memory; /* by argument: what promotion has made of it, or NULL */
    local_variables locals;
    ir_inst *after_vars; /* in the entry: variables go before it */
    pass_cost length;    /* of the bodies since the last barrier */
} kernel_builder;

static const pass_fuse_member *member_of(const kernel_builder *q, uint32_t m) {
    return &q->in->members[m];
}

static const char *name_of(const kernel_builder *q, uint32_t m) {
    return q->in->request->members[m].kernel->name;
}

/* --------------------------------------------------------------------------------- local memory */

static ir_global *copy_variable(ir_module *m, const ir_global *g) {
    ir_global *copy = ir_global_new(m, g->name, g->space, g->type);
    copy->align = g->align;
    copy->init = g->init;
    copy->reloc = g->reloc;
    copy->nreloc = g->nreloc;
    return copy;
}

/* The variable that body m uses in place of g, which is in local memory. */
static ir_global *own_variable(kernel_builder *q, uint32_t m, ir_global *g) {
    ir_arena *scratch = q->in->scratch;
    uint64_t key = (uintptr_t)g, mine = ir_mix(key, m) | 1;
    uint32_t *owner = ir_map_get(&q->locals.owner, key);
    if (ir_map_get(&q->locals.shared, key)) return g;
    if (!owner) {
        owner = ir_dup(scratch, &m, sizeof m);
        ir_map_set(scratch, &q->locals.owner, key, owner);
    }
    if (*owner == m) return g;
    ir_global *copy = ir_map_get(&q->locals.copies, mine);
    if (!copy) copy = copy_variable(q->result->module, g);
    ir_map_set(scratch, &q->locals.copies, mine, copy);
    return copy;
}

static void use_own_variables(kernel_builder *q, uint32_t m, ir_inst *i) {
    for (unsigned n = 0; n < i->nargs; n++) {
        const ir_inst *v = ir_arg(i, n);
        if (v->op != IR_OP_address || v->imm.global->space != IR_LOCAL) continue;
        ir_global *own = own_variable(q, m, v->imm.global);
        if (own != v->imm.global) ir_set_arg(i, n, ir_address(q->result->kernel, own));
    }
}

/* Makes the memory of promoted buffers; b is at the beginning of the kernel. */
static void make_memory(kernel_builder *q, const pass_promotions *list, ir_builder *b) {
    q->memory = ir_new_array(q->in->scratch, ir_inst *, q->result->nargs);
    for (uint32_t k = 0; k < list->n; k++) {
        const pass_promoted *p = &list->data[k];
        ir_inst *memory = pass_promoted_memory(p, q->result->args[p->arg].name, b);
        q->memory[p->arg] = memory;
        if (memory->op == IR_OP_address)
            ir_map_set(q->in->scratch, &q->locals.shared, (uintptr_t)memory->imm.global, memory);
    }
}

/* --------------------------------------------------------------------------------------- copies */

static bool is_float_sum(const ir_inst *i) { return i->op == IR_OP_fadd || i->op == IR_OP_fsub; }

/* Does nothing but sums use v, or its negative? */
static bool is_term(const ir_inst *v, bool may_negate) {
    foreach_use (u, v)
        if (!is_float_sum(u->user) &&
            !(may_negate && u->user->op == IR_OP_fneg && is_term(u->user, false)))
            return false;
    return true;
}

/* Changes a copy of body m to what it is in the fused kernel.  A product that leaves its member is
 * rounded there, also when the next one adds to it. */
static void adapt_copy(kernel_builder *q, uint32_t m, const pass_remap *remap, ir_block *b) {
    foreach_inst (i, b) {
        if (i->op == IR_OP_fmul && !is_term(i, true)) i->flags &= ~(unsigned)IR_CONTRACT;
        use_own_variables(q, m, i);
        ir_inst *answer = ir_info(i)->rule == R_QUERY ? pass_remap_query(remap, b->func, i) : NULL;
        if (!answer) continue;
        ir_replace_uses(i, answer);
        ir_remove(i);
    }
}

/* A copy of the struct that `param` points to, made at the position of b. */
static ir_inst *copy_struct(const kernel_builder *q, ir_builder *b, ir_inst *param) {
    const ir_param *info = &q->result->kernel->param[param->imm.index];
    ir_builder vars = *b;
    if (q->after_vars) ir_before(&vars, q->after_vars);
    ir_inst *copy = ir_build_byval(&vars, info);
    ir_build_byval_copy(b, info, copy, param);
    return copy;
}

/* What body m is given as its parameters. */
static ir_inst **find_arguments(const kernel_builder *q, uint32_t m, ir_builder *b) {
    const pass_fuse_result *r = q->result;
    const ir_func *k = q->in->request->members[m].kernel;
    ir_inst **args = ir_new_array(q->in->scratch, ir_inst *, k->nparams);
    for (uint32_t p = 0; p < k->nparams; p++) {
        const pass_fuse_arg *arg = &r->args[r->arg_of[m][p]];
        bool shared = arg->nparams > 1 && k->param[p].attrs & IR_PARAM_BYVAL;
        args[p] = q->memory[r->arg_of[m][p]];
        if (!args[p]) args[p] = r->kernel->param_val[arg->index];
        if (shared) args[p] = copy_struct(q, b, args[p]);
    }
    return args;
}

static void hoist_variables(kernel_builder *q, ir_block *body) {
    if (!q->after_vars) q->after_vars = q->result->kernel->first->first;
    foreach_inst (i, body)
        if (i->op == IR_OP_alloca) ir_move_before(i, q->after_vars);
}

/* --------------------------------------------------------------------------------------- guards */

/* Does a guard of member m compare ids of groups, so that whole groups go one way?  A phase whose
 * member cannot tell its groups compares ids of items, so that a device may choose its groups. */
static bool guards_groups(const kernel_builder *q, uint32_t m, const pass_remap *remap) {
    const pass_fuse_gap *gaps = q->result->gaps;
    const bool begins = m == 0 || gaps[m - 1].wait == PASS_WAIT_GRID;
    const bool ends = m + 1 == q->in->request->nmembers || gaps[m].wait == PASS_WAIT_GRID;
    const bool alone = begins && ends;
    return pass_has_whole_groups(remap->own, remap->fused) &&
           !(alone && !pass_observes_groups(member_of(q, m)->kernel, q->in->scratch));
}

/* Is the item's id, or its group, inside the member's range in dimension d? */
static ir_inst *build_inside(const pass_remap *remap, ir_builder *b, unsigned d, bool groups) {
    const ir_range *own = remap->own, *fused = remap->fused;
    ir_type t = ir_size_type(b->f->module);
    uint64_t end = pass_global_size(own, d);
    end = groups ? end / fused->local[d] : end + fused->offset[d];
    ir_inst *id = ir_build_query(b, groups ? IR_OP_group_id : IR_OP_global_id, t, d);
    return ir_build2(b, IR_OP_ult, IR_I1, id, ir_const(b->f, t, end));
}

/* The condition for items to run the body; NULL: all of them do. */
static ir_inst *build_guard(const pass_remap *remap, ir_builder *b, bool groups) {
    ir_inst *guard = NULL;
    if (!pass_needs_guard(remap->own, remap->fused)) return NULL;
    if (remap->computed) {
        ir_inst *linear = pass_linear_id(remap, b);
        ir_inst *end = ir_const(b->f, linear->type, pass_range_items(remap->own));
        return ir_build2(b, IR_OP_ult, IR_I1, linear, end);
    }
    for (unsigned d = 0; d < 3; d++) {
        if (pass_global_size(remap->own, d) == pass_global_size(remap->fused, d)) continue;
        ir_inst *inside = build_inside(remap, b, d, groups);
        guard = guard ? ir_build2(b, IR_OP_and, IR_I1, guard, inside) : inside;
    }
    return guard;
}

/* A block for the ids of a member whose ids are computed, after its guard; NULL: it keeps them. */
static ir_block *build_ids(kernel_builder *q, uint32_t m, pass_remap *remap) {
    ir_builder b;
    bool computed = !pass_same_ids(remap->own, remap->fused);
    ir_block *ids = computed ? ir_block_new(q->result->kernel, "ids") : NULL;
    ir_builder_init(&b, q->result->kernel);
    ir_at_end(&b, ids);
    pass_remap_begin(remap, &b);
    ir_count(q->in->cx, fusion_remaps, computed);
    if (computed)
        pass_decide(q->in, q->result, "fuse.remap",
                    ir_sprintf(q->in->out, "ids of @%s are computed from the linear id: %s in %s",
                               name_of(q, m), pass_range_text(q->in->out, remap->own),
                               pass_range_text(q->in->out, remap->fused)));
    return ids;
}

/* Ends b's block: items that meet the guard go to the body. */
static void build_entrance(kernel_builder *q, uint32_t m, const pass_remap *remap, ir_builder *b,
                           ir_block *const to[2]) {
    const bool groups = guards_groups(q, m, remap);
    ir_inst *guard = build_guard(remap, b, groups);
    if (!guard) {
        ir_build_jmp(b, to[0]);
        return;
    }
    ir_build_br(b, guard, to[0], to[1]);
    ir_count(q->in->cx, fusion_guards, 1);
    pass_decide(q->in, q->result, "fuse.guard",
                ir_sprintf(q->in->out, "@%s runs on the items of %s only%s", name_of(q, m),
                           pass_range_text(q->in->out, remap->own),
                           groups && !remap->computed ? ", whole work-groups" : ""));
}

/* Adds body m after b's block; b is then at the end of its join. */
static void add_body(kernel_builder *q, uint32_t m, ir_builder *b) {
    ir_func *f = q->result->kernel;
    ir_inst **args = find_arguments(q, m, b);
    pass_remap remap = {.own = &member_of(q, m)->range, .fused = &q->result->range};
    ir_block *body, *ids = build_ids(q, m, &remap), *join = ir_block_new(f, "join");
    ir_clone_body(f, member_of(q, m)->kernel, args, join, &body);
    for (ir_block *copy = join->next; copy; copy = copy->next) adapt_copy(q, m, &remap, copy);
    build_entrance(q, m, &remap, b, (ir_block *const[]){ids ? ids : body, join});
    if (ids) {
        ir_at_end(b, ids);
        ir_build_jmp(b, body);
    }
    hoist_variables(q, body);
    ir_block_move_after(join, f->last);
    ir_at_end(b, join);
}

/* ------------------------------------------------------------------------------------- barriers */

static const char *const barrier_text[] = {"local and global memory", "local memory",
                                           "global memory"};
static const unsigned barrier_memory[] = {IR_SEM_LOCAL | IR_SEM_GLOBAL, IR_SEM_LOCAL,
                                          IR_SEM_GLOBAL};

/* Images are global memory with a bit of their own. */
static unsigned ordered_memory(const kernel_builder *q) {
    unsigned memory = barrier_memory[q->in->request->barrier];
    for (uint32_t a = 0; a < q->result->nargs && memory & IR_SEM_GLOBAL; a++)
        if (q->result->args[a].kind == IR_ARG_IMAGE) memory |= IR_SEM_IMAGE;
    return memory;
}

static pass_cost length_of(const kernel_builder *q, uint32_t m) {
    return pass_find_length((ir_func *)(uintptr_t)member_of(q, m)->kernel, q->in->scratch);
}

/* Does the next body run in another loop of a device that runs items one after the other? */
static bool should_split(kernel_builder *q, uint32_t m) {
    if (!q->in->request->serial || q->in->request->barrier == PASS_BARRIER_NONE) return false;
    const pass_fuse_gap *gap = &q->result->gaps[m];
    const pass_cost next = length_of(q, m + 1), *now = &q->length;
    bool depends = gap->why.kind == PASS_DEP_ITEM;
    bool split = !gap->wait && depends &&
                 pass_should_split(&q->result->range, q->in->request->lanes, now, &next);
    bool alone = split || gap->wait || !now->cycles || !next.cycles;
    q->length =
        alone ? next : (pass_cost){now->operations + next.operations, now->cycles + next.cycles};
    return split;
}

static void add_barrier(kernel_builder *q, uint32_t m, ir_builder *b) {
    const pass_fuse_request *r = q->in->request;
    const pass_fuse_gap *gap = &q->result->gaps[m];
    const char *before = name_of(q, m), *after = name_of(q, m + 1);
    pass_decision d = {.rule = "fuse.no-barrier", .why = gap->why};
    bool phase = gap->wait == PASS_WAIT_GRID, split = should_split(q, m);
    unsigned scope = phase ? IR_SCOPE_DEVICE : IR_SCOPE_WORKGROUP;
    if (gap->wait || split) ir_build_barrier(b, scope, scope, IR_SEM_SEQ_CST | ordered_memory(q));
    if (split) {
        d.rule = "fuse.split";
        d.text = ir_sprintf(q->in->out, "@%s and @%s run in loops of their own in each work-group",
                            before, after);
    } else if (gap->wait) {
        d.rule = phase ? "fuse.phase" : "fuse.barrier";
        d.text = ir_sprintf(q->in->out, "%s between @%s and @%s: %s",
                            phase ? "barrier of all work-groups" : "work-group barrier", before,
                            after, barrier_text[r->barrier]);
    } else {
        bool asked = r->barrier == PASS_BARRIER_NONE && r->force;
        d.text = ir_sprintf(q->in->out, "no barrier between @%s and @%s%s", before, after,
                            asked ? ", as asked" : " is needed");
    }
    ir_count(q->in->cx, fusion_splits, split);
    ir_count(q->in->cx, fusion_phases, phase);
    ir_count(q->in->cx, fusion_barriers, gap->wait == PASS_WAIT_GROUP);
    ir_count(q->in->cx, fusion_adjacent, !gap->wait && !split);
    *ir_push(q->in->out, &q->result->decisions) = d;
}

/* ---------------------------------------------------------------------------------------- entry */

void pass_fuse_build(const pass_fuse_input *in, const pass_promotions *list,
                     pass_fuse_result *result) {
    kernel_builder q = {.in = in, .result = result};
    ir_func *f = result->kernel;
    uint32_t n = in->request->nmembers;
    ir_builder b;
    ir_builder_init(&b, f);
    ir_at_end(&b, ir_block_new(f, "entry"));
    make_memory(&q, list, &b);
    if (in->request->serial) q.length = length_of(&q, 0);
    for (uint32_t m = 0; m < n; m++) {
        add_body(&q, m, &b);
        if (m + 1 < n) add_barrier(&q, m, &b);
        f->flags |= in->request->members[m].kernel->flags & IR_FUNC_CONTRACTION_OFF;
    }
    ir_build_ret(&b, NULL);
}
