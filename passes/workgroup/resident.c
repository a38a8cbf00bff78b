/* resident.c — a kernel whose work-groups wait for each other runs all of its phases in one launch,
 * of as many work-groups as run at once.
 *
 *   for each phase
 *     for each work-group of the range, from the number of this one on, by as many as there are
 *       the phase
 *       barrier workgroup
 *     barrier device, except after the last phase
 *
 * Work-groups of the launch are those of one dimension.  What the kernel asks about its group and
 * sizes is computed from parameters (boxes.c), of which those for the first group are 0, and from
 * the number of the group in the range.  The barrier after each group lets the next one use
 * local memory again.  Values that later phases need are in memory of the launch, as if each phase
 * was launched (phases_context.c).
 */
#include "passes/workgroup/regions_impl.h"

enum { GROUPS = 3 /* place of their numbers among those of boxes */ };

typedef struct {
    ir_func *f;
    ir_builder b;
    ir_type number;
    ir_vec(ir_inst *) queries; /* of ids of groups */
    ir_inst *groups[3];        /* of the range */
    ir_inst *phase, *group;    /* counters of the loops */
    ir_block *entry, *body;    /* variables; the branch to a phase */
    ir_block *phases, *next;   /* head of the outer loop; after a phase */
    ir_block *head, *latch;    /* of the inner one */
} resident;

static ir_inst *build(resident *r, ir_op op, ir_inst *x, ir_inst *y) {
    return ir_build2(&r->b, op, r->number, x, y);
}

static ir_inst *ask(resident *r, ir_op op) { return ir_build_query(&r->b, op, r->number, 0); }

static void answer(resident *r, ir_inst *query, ir_inst *v) {
    if (query->type != v->type) {
        ir_before(&r->b, query);
        v = ir_build1(&r->b, query->type == IR_I64 ? IR_OP_zext : IR_OP_trunc, query->type, v);
    }
    ir_replace_uses(query, v);
    ir_remove(query);
}

static void find_queries(resident *r) {
    foreach_block (b, r->f)
        foreach_inst (i, b)
            if (i->op == IR_OP_group_id) *ir_push(&r->f->module->arena, &r->queries) = i;
}

/* Ids of groups are those of the range. */
static void answer_all(resident *r) {
    ir_before(&r->b, r->body->first);
    ir_inst *plane = build(r, IR_OP_udiv, r->group, r->groups[0]);
    ir_inst *id[] = {build(r, IR_OP_urem, r->group, r->groups[0]),
                     build(r, IR_OP_urem, plane, r->groups[1]),
                     build(r, IR_OP_udiv, plane, r->groups[1])};
    for (uint32_t n = 0; n < r->queries.n; n++) {
        unsigned dim = r->queries.data[n]->imm.dim;
        answer(r, r->queries.data[n], id[dim < 3 ? dim : 0]);
    }
}

/* Phases end at the latch. */
static void end_phases(resident *r) {
    foreach_block (b, r->f) {
        if (!b->last || b->last->op != IR_OP_ret) continue;
        ir_remove(b->last);
        ir_at_end(&r->b, b);
        ir_build_jmp(&r->b, r->latch);
    }
}

static void add_blocks(resident *r) {
    ir_inst *i = r->f->first->first;
    while (i->op == IR_OP_alloca) i = i->next;
    r->entry = r->f->first;
    r->body = ir_split_block(r->entry, i);
    r->latch = ir_block_new(r->f, "latch");
    ir_at_end(&r->b, r->latch);
    ir_build_barrier(&r->b, IR_SCOPE_WORKGROUP, IR_SCOPE_WORKGROUP, IR_SEM_SEQ_CST | IR_SEM_LOCAL);
    end_phases(r);
    r->phases = ir_block_new(r->f, "phases");
    r->head = ir_block_new(r->f, "groups");
    r->next = ir_block_new(r->f, "next");
}

/* Counters get the values that they have after the first round when these are there. */
static void build_heads(resident *r, ir_inst *first, ir_inst *count) {
    ir_at_end(&r->b, r->entry);
    ir_build_jmp(&r->b, r->phases);
    r->phase = ir_append_arg(ir_build_phi(r->phases, IR_I32), ir_const(r->f, IR_I32, 0));
    ir_at_end(&r->b, r->phases);
    ir_build_jmp(&r->b, r->head);
    r->group = ir_append_arg(ir_build_phi(r->head, r->number), first);
    ir_at_end(&r->b, r->head);
    ir_build_br(&r->b, ir_build2(&r->b, IR_OP_ult, IR_I1, r->group, count), r->body, r->next);
}

static void build_ends(resident *r, ir_inst *step, uint64_t phases) {
    ir_block *again = ir_block_new(r->f, "again"), *end = ir_block_new(r->f, "end");
    ir_at_end(&r->b, r->latch);
    ir_inst *group = build(r, IR_OP_add, r->group, step);
    ir_build_jmp(&r->b, r->head);
    ir_append_arg(r->group, group);
    ir_at_end(&r->b, r->next);
    ir_inst *one = ir_const(r->f, IR_I32, 1), *n = ir_const(r->f, IR_I32, phases);
    ir_inst *phase = ir_build2(&r->b, IR_OP_add, IR_I32, r->phase, one);
    ir_build_br(&r->b, ir_build2(&r->b, IR_OP_ult, IR_I1, phase, n), again, end);
    ir_at_end(&r->b, again);
    ir_build_barrier(&r->b, IR_SCOPE_DEVICE, IR_SCOPE_DEVICE,
                     IR_SEM_SEQ_CST | IR_SEM_GLOBAL | IR_SEM_LOCAL);
    ir_build_jmp(&r->b, r->phases);
    ir_append_arg(r->phase, phase);
    ir_at_end(&r->b, end);
    ir_build_ret(&r->b, NULL);
}

void pass_make_resident(ir_func *kernel, const ir_phases *phases, ir_type number) {
    resident r = {.f = kernel, .number = number};
    uint32_t given = kernel->nparams;
    pass_make_boxes(kernel, number);
    for (unsigned k = 0; k < 3; k++) r.groups[k] = kernel->param_val[given + GROUPS + k];
    ir_builder_init(&r.b, kernel);
    find_queries(&r);
    add_blocks(&r);
    ir_at_end(&r.b, r.entry);
    ir_inst *first = ask(&r, IR_OP_group_id), *step = ask(&r, IR_OP_num_groups);
    ir_inst *count = build(&r, IR_OP_mul, r.groups[0], r.groups[1]);
    count = build(&r, IR_OP_mul, count, r.groups[2]);
    build_heads(&r, first, count);
    ir_set_arg(r.body->last, 0, r.phase);
    answer_all(&r);
    build_ends(&r, step, phases->n);
}

/* Does:  makes a kernel that waits for all work-groups one that loops over phases and groups, with
 *        the parameters that pass_cut_launches and pass_make_boxes add.
 * Needs: no calls; few values that cross such barriers (the standard pipeline).
 * Leaves: barriers of the device in a loop, for a launch whose groups all run at once.
 * Gives up: as pass_phases does, and where several phases use a variable. */
bool pass_resident(ir_func *f, pass_ctx *cx) {
    ir_phases phases;
    if (!(f->flags & IR_FUNC_KERNEL)) return false;
    const char *refusal = pass_cut_launches(f, cx->scratch, &phases);
    ir_message place = {.severity = IR_WARNING, .file = f->module->name};
    if (refusal) ir_report(cx->cx, place, "no phases of @%s: %s", f->name, refusal);
    if (!refusal && phases.n) pass_make_resident(f, &phases, IR_I32);
    return refusal || phases.n;
}
