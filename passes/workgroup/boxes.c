/* boxes.c — kernels for launches that are parts of a range, on machines whose groups are all
 * equally large and limited in number: the kernel gets as parameters what the machine cannot know.
 *
 *   guarded   a kernel that does not observe its groups: they go beyond the end of the range, and
 *             items beyond it return at once
 *   boxes     any other one: each launch is a box of groups of one size, and what is asked about
 *             groups and sizes is computed from where the box lies in the range
 *
 * Needs a kernel that calls nothing.  Leaves queries of what the machine knows: ids within a group,
 * and, of guarded kernels, global ids.
 */
#include "passes/workgroup/regions_impl.h"

typedef struct {
    ir_func *f;
    ir_type number; /* of what is added, IR_I32 or IR_I64 */
    ir_inst *given[PASS_BOX_NUMBERS];
} boxes;

static void add_numbers(boxes *x, unsigned n) {
    static const char *const guarded[] = {"end", "offset"};
    static const char *const boxed[] = {"first", "groups", "local", "size"};
    for (unsigned k = 0; k < 3 * n; k++) {
        const char *name = n == 2 ? guarded[k / 3] : boxed[k / 3];
        x->given[k] = ir_add_param(x->f, x->number,
                                   ir_sprintf(&x->f->module->arena, "%s_%c", name, "xyz"[k % 3]));
    }
}

static ir_inst *as(ir_builder *b, ir_inst *v, ir_type t) {
    if (v->type == t) return v;
    return ir_build1(b, t == IR_I64 ? IR_OP_zext : IR_OP_trunc, t, v);
}

/* ------------------------------------------------------------------------------------- answers */

typedef struct {
    boxes *x;
    ir_builder *b;
    bool guarded;
} answering;

static ir_inst *sum(const answering *a, ir_inst *p, ir_inst *q) {
    return ir_build2(a->b, IR_OP_add, p->type, p, q);
}

static ir_inst *product(const answering *a, ir_inst *p, ir_inst *q) {
    return ir_build2(a->b, IR_OP_mul, p->type, p, q);
}

static ir_inst *query(const answering *a, ir_op op, unsigned dim) {
    return ir_build_query(a->b, op, a->x->number, dim);
}

static ir_inst *given(const answering *a, unsigned what, unsigned dim) {
    return a->x->given[3 * what + dim];
}

/* Guarded: the end and the offset; boxes: the first group, groups, local sizes, global sizes. */
enum { END, OFFSET };
enum { FIRST, GROUPS, LOCAL, SIZE };

static ir_inst *size(const answering *a, unsigned dim) {
    if (!a->guarded) return given(a, SIZE, dim);
    return ir_build2(a->b, IR_OP_sub, a->x->number, given(a, END, dim), given(a, OFFSET, dim));
}

static ir_inst *group_id(const answering *a, unsigned dim) {
    return sum(a, given(a, FIRST, dim), query(a, IR_OP_group_id, dim));
}

/* Without the offset. */
static ir_inst *id_in_range(const answering *a, unsigned dim) {
    if (a->guarded)
        return ir_build2(a->b, IR_OP_sub, a->x->number, query(a, IR_OP_global_id, dim),
                         given(a, OFFSET, dim));
    ir_inst *id = query(a, IR_OP_local_id, dim);
    return sum(a, product(a, group_id(a, dim), given(a, LOCAL, dim)), id);
}

static ir_inst *global_linear_id(const answering *a) {
    ir_inst *id = as(a->b, id_in_range(a, 2), IR_I64);
    for (unsigned d = 2; d-- > 0;) {
        ir_inst *next = as(a->b, id_in_range(a, d), IR_I64);
        id = sum(a, product(a, id, as(a->b, size(a, d), IR_I64)), next);
    }
    return id;
}

static ir_inst *enqueued_subgroups(const answering *a) {
    ir_inst *items =
        product(a, product(a, given(a, LOCAL, 0), given(a, LOCAL, 1)), given(a, LOCAL, 2));
    ir_inst *most = query(a, IR_OP_subgroup_max_size, 0);
    ir_inst *one = ir_const(a->x->f, a->x->number, 1);
    ir_inst *rounded = ir_build2(a->b, IR_OP_sub, a->x->number, sum(a, items, most), one);
    return ir_build2(a->b, IR_OP_udiv, a->x->number, rounded, most);
}

static ir_inst *global_id(const answering *a, unsigned dim) {
    ir_inst *offset = query(a, IR_OP_global_offset, dim);
    return sum(a, id_in_range(a, dim), offset);
}

/* NULL: the machine knows it. */
static ir_inst *answer(const answering *a, const ir_inst *i) {
    unsigned dim = i->imm.dim < 3 ? i->imm.dim : 0;
    switch (i->op) {
    case IR_OP_global_size: return size(a, dim);
    case IR_OP_global_linear_id: return global_linear_id(a);
    case IR_OP_global_offset: return a->guarded ? given(a, OFFSET, dim) : NULL;
    case IR_OP_global_id: return a->guarded ? NULL : global_id(a, dim);
    case IR_OP_group_id: return a->guarded ? NULL : group_id(a, dim);
    case IR_OP_num_groups: return a->guarded ? NULL : given(a, GROUPS, dim);
    case IR_OP_enqueued_local_size: return a->guarded ? NULL : given(a, LOCAL, dim);
    case IR_OP_enqueued_num_subgroups: return a->guarded ? NULL : enqueued_subgroups(a);
    default: return NULL;
    }
}

static void answer_all(boxes *x, bool guarded) {
    ir_vec(ir_inst *) queries = {0};
    ir_builder b;
    ir_builder_init(&b, x->f);
    foreach_block (block, x->f)
        foreach_inst (i, block)
            if (ir_info(i)->rule == R_QUERY) *ir_push(&x->f->module->arena, &queries) = i;
    for (uint32_t n = 0; n < queries.n; n++) {
        ir_inst *i = queries.data[n];
        ir_before(&b, i);
        b.loc = i->loc;
        ir_inst *v = answer(&(answering){x, &b, guarded}, i);
        if (!v) continue;
        ir_replace_uses(i, as(&b, v, i->type));
        ir_remove(i);
    }
}

/* ------------------------------------------------------------------------------------ the guard */

static ir_inst *first_after_variables(const ir_func *f) {
    ir_inst *i = f->first->first;
    while (i->op == IR_OP_alloca) i = i->next;
    return i;
}

static void add_guard(boxes *x) {
    ir_builder b;
    ir_block *entry = x->f->first, *body = ir_split_block(entry, first_after_variables(x->f));
    ir_block *beyond = ir_block_new(x->f, "beyond");
    ir_builder_init(&b, x->f);
    ir_at_end(&b, beyond);
    ir_build_ret(&b, NULL);
    ir_at_end(&b, entry);
    const answering a = {x, &b, true};
    ir_inst *inside = ir_const(x->f, IR_I1, 1);
    for (unsigned d = 0; d < 3; d++) {
        ir_inst *id = query(&a, IR_OP_global_id, d);
        ir_inst *here = ir_build2(&b, IR_OP_ult, IR_I1, id, given(&a, END, d));
        inside = ir_build2(&b, IR_OP_and, IR_I1, inside, here);
    }
    ir_build_br(&b, inside, body, beyond);
}

void pass_make_boxes(ir_func *kernel, ir_type number) {
    boxes x = {.f = kernel, .number = number};
    add_numbers(&x, 4);
    answer_all(&x, false);
}

pass_parts pass_make_parts(ir_func *kernel, ir_type number, ir_arena *scratch) {
    boxes x = {.f = kernel, .number = number};
    bool guarded = !pass_observes_groups(kernel, scratch);
    add_numbers(&x, guarded ? 2 : 4);
    answer_all(&x, guarded);
    if (guarded) add_guard(&x);
    return guarded ? PASS_GUARDED : PASS_BOXES;
}
