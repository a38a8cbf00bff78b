/* regions_collective.c — expands operations of the whole group into barriers and variables that the
 * group shares.
 *
 * Items run one after another, in linear order.  So an operation that combines values is a variable
 * of the group, to which each item adds its own at its turn, and which is read once all have done
 * so:
 *
 *   inclusive:  %t = load total          any, all, reductions:  add as on the left
 *               %r = op %t, %v                                  barrier
 *               store %r, total                                 %r = load total
 *               barrier                                         barrier
 *               store neutral, total                            store neutral, total
 *               barrier                                         barrier
 *
 * Code between two of these barriers does the same for all items, so in most cases it runs once.
 * Floats are combined in the order of linear ids, by operations that may be regrouped.  The neutral
 * operands are exact: -0 for sums, NaN for fmin and fmax; the result of an exclusive scan for the
 * first item is a number of its own.
 *
 * The last item that gets to an async copy performs it.  Waiting for it is a barrier, and events
 * are null.
 *
 * If a sub-group has one item, all of its operations are simple, in any control flow.  If it has
 * several, items expand only what they can answer alone; what they meet for remains, and the
 * sub-groups expand what is left of it later (regions_subgroups.c).
 *
 * Until regions are made, the variables are represented by addresses that are the same for all
 * items, or, if items access them in turns, by addresses that may differ.
 */
#include "ir/interp.h"
#include "passes/workgroup/regions_impl.h"

#include <math.h>

typedef struct {
    pass_group_builder *g;
    const pass_item_ids *ids;
    pass_group_variables *variables;
    ir_builder b;
} expander;

/* ----------------------------------------------------------------------- variables of the group */

static ir_inst *new_variable(expander *c, ir_type t) {
    pass_group_builder *g = c->g;
    ir_inst *size = ir_const(g->f, IR_I64, ir_sizeof(g->f->module, t));
    ir_inst *placeholder =
        ir_build_raw(&g->entry, IR_OP_inttoptr, ir_ptr(IR_PRIVATE), IR_PLAIN, IR_ARGS(size));
    *ir_push(g->scratch, c->variables) = (pass_group_variable){placeholder, t};
    return placeholder;
}

/* The same address, at an item's turn. */
static ir_inst *at_turn(expander *c, ir_inst *variable) {
    ir_inst *offset = c->ids->item;
    return ir_build_raw(&c->b, IR_OP_ptradd, variable->type, IR_PLAIN, IR_ARGS(variable, offset));
}

void pass_make_variables(pass_group_builder *g, const pass_group_variables *variables) {
    for (uint32_t k = 0; k < variables->n; k++) {
        const pass_group_variable *v = &variables->data[k];
        unsigned align = (unsigned)ir_alignof(g->f->module, v->type);
        ir_inst *variable = ir_build_alloca(&g->entry, v->type, align);
        foreach_use (u, v->placeholder) {
            ir_inst *turn = u->user;
            if (turn->op != IR_OP_ptradd) continue;
            ir_replace_uses(turn, variable);
            ir_remove(turn);
        }
        ir_replace_uses(v->placeholder, variable);
        ir_remove(v->placeholder);
    }
}

static ir_inst *read(expander *c, ir_inst *at, ir_type t) {
    return ir_build_load(&c->b, t, at, (unsigned)ir_alignof(c->g->f->module, t), 0);
}

static void write_slot(expander *c, ir_inst *at, ir_inst *v) {
    ir_build_store(&c->b, v, at, (unsigned)ir_alignof(c->g->f->module, v->type), 0);
}

static void synchronize(expander *c) {
    ir_build_barrier(&c->b, IR_SCOPE_WORKGROUP, IR_SCOPE_WORKGROUP, IR_SEM_SEQ_CST | IR_SEM_LOCAL);
}

/* ---------------------------------------------------------------------------------- the numbers */

static ir_inst *all_lanes(ir_func *f, ir_type t, double value) {
    return ir_const(f, t, ir_const_float(f, ir_elem(t), value)->imm.bits);
}

ir_inst *pass_neutral(ir_func *f, ir_op op, ir_type t) {
    uint64_t ones = ir_zext(UINT64_MAX, ir_bits(f->module, t));
    switch (op) {
    case IR_OP_group_fadd: return all_lanes(f, t, -0.0);
    case IR_OP_group_mul: return ir_const(f, t, 1);
    case IR_OP_group_fmul: return all_lanes(f, t, 1);
    case IR_OP_group_fmin:
    case IR_OP_group_fmax: return all_lanes(f, t, NAN);
    case IR_OP_group_all:
    case IR_OP_group_and:
    case IR_OP_group_umin: return ir_const(f, t, ones);
    case IR_OP_group_smin: return ir_const(f, t, ones >> 1);
    case IR_OP_group_smax: return ir_const(f, t, ones ^ ones >> 1);
    default: return ir_const(f, t, 0);
    }
}

ir_inst *pass_first_of_scan(ir_func *f, ir_op op, ir_type t) {
    switch (op) {
    case IR_OP_group_fadd: return ir_const(f, t, 0);
    case IR_OP_group_fmin: return all_lanes(f, t, INFINITY);
    case IR_OP_group_fmax: return all_lanes(f, t, -INFINITY);
    default: return pass_neutral(f, op, t);
    }
}

ir_inst *pass_combine(ir_builder *b, ir_op group_op, ir_inst *x, ir_inst *y) {
    ir_op op = ir_combining_op(group_op);
    if (group_op == IR_OP_group_any) op = IR_OP_or;
    if (group_op == IR_OP_group_all) op = IR_OP_and;
    uint32_t flags = ir_is_float(x->type) ? IR_REASSOC : 0;
    return ir_build(b, op, x->type, ir_with_flags(flags), IR_ARGS(x, y));
}

static ir_inst *is_item(expander *c, ir_inst *number) {
    return ir_build2(&c->b, IR_OP_eq, IR_I1, c->ids->item, number);
}

static ir_inst *choose(expander *c, ir_inst *test, ir_inst *yes, ir_inst *no) {
    return ir_build_select(&c->b, test, yes, no);
}

/* --------------------------------------------------------------------------- of the whole group */

/* The value of the variable after the turns of all items.  Once they have read it, it is `next`. */
static ir_inst *finish(expander *c, ir_inst *variable, ir_inst *next) {
    synchronize(c);
    ir_inst *result = read(c, variable, next->type);
    synchronize(c);
    write_slot(c, variable, next);
    synchronize(c);
    return result;
}

static ir_inst *begin_expansion(expander *c, ir_inst *first) {
    ir_inst *variable = new_variable(c, first->type);
    unsigned align = (unsigned)ir_alignof(c->g->f->module, first->type);
    ir_build_store(&c->g->group, first, variable, align, 0);
    return variable;
}

static ir_inst *reduce_or_scan(expander *c, const ir_inst *i) {
    ir_func *f = c->g->f;
    ir_inst *none = pass_neutral(f, (ir_op)i->op, i->type);
    ir_inst *first = pass_first_of_scan(f, (ir_op)i->op, i->type);
    ir_inst *variable = begin_expansion(c, none), *turn = at_turn(c, variable);
    ir_inst *before = read(c, turn, none->type);
    ir_inst *after = pass_combine(&c->b, (ir_op)i->op, before, ir_arg(i, 0));
    write_slot(c, turn, after);
    if (first != none) before = choose(c, is_item(c, ir_const(f, IR_I64, 0)), first, before);
    ir_inst *total = finish(c, variable, none);
    bool vote = i->op == IR_OP_group_any || i->op == IR_OP_group_all;
    if (!vote && i->imm.group.op == IR_GROUP_INCLUSIVE) return after;
    if (!vote && i->imm.group.op == IR_GROUP_EXCLUSIVE) return before;
    return total;
}

/* Operand 0 of the item with that number. */
static ir_inst *take_from(expander *c, const ir_inst *i, ir_inst *number) {
    ir_inst *v = ir_arg(i, 0), *variable = begin_expansion(c, ir_const(c->g->f, v->type, 0));
    ir_inst *turn = at_turn(c, variable);
    ir_inst *before = read(c, turn, v->type);
    write_slot(c, turn, choose(c, is_item(c, number), v, before));
    return finish(c, variable, ir_const(c->g->f, v->type, 0));
}

ir_inst *pass_find_source(ir_builder *b, const pass_item_ids *ids, const ir_inst *broadcast) {
    ir_inst *id = ir_arg(broadcast, 1), *linear = NULL;
    for (unsigned d = ir_lanes(id->type); d-- > 0;) {
        ir_inst *part = ir_is_vector(id->type) ? ir_build_extract(b, id, d) : id;
        part = pass_fit(b, part, IR_I64);
        if (linear && ids->count[d])
            linear = ir_build2(b, IR_OP_mul, IR_I64, linear, ids->count[d]);
        linear = linear ? ir_build2(b, IR_OP_add, IR_I64, linear, part) : part;
    }
    return linear;
}

/* ---------------------------------------------------------------------------- of one item alone */

/* Only NaN differs from itself. */
static ir_inst *is_own_equal(expander *c, ir_inst *v) {
    if (!ir_is_float(v->type)) return ir_const(c->g->f, IR_I1, 1);
    ir_inst *same = ir_build2(&c->b, IR_OP_foeq, ir_with_elem(v->type, IR_I1), v, v);
    return ir_is_vector(v->type) ? ir_build1(&c->b, IR_OP_all, IR_I1, same) : same;
}

static ir_inst *count_ballot(expander *c, const ir_inst *i) {
    ir_inst *bit = pass_ballot_bit(&c->b, ir_arg(i, 0), ir_const(c->g->f, IR_I32, 0));
    if (i->imm.group.op == IR_GROUP_EXCLUSIVE) return ir_const(c->g->f, i->type, 0);
    return ir_build1(&c->b, IR_OP_zext, i->type, bit);
}

static ir_inst *answer_alone(expander *c, const ir_inst *i) {
    ir_func *f = c->g->f;
    switch (i->op) {
    case IR_OP_group_elect: return ir_const(f, IR_I1, 1);
    case IR_OP_group_all_equal: return is_own_equal(c, ir_arg(i, 0));
    case IR_OP_group_ballot:
        return ir_build(&c->b, IR_OP_insert, i->type, IR_PLAIN,
                        IR_ARGS(ir_const(f, i->type, 0),
                                ir_build1(&c->b, IR_OP_zext, IR_I32, ir_arg(i, 0)),
                                ir_const(f, IR_I32, 0)));
    case IR_OP_group_inverse_ballot:
        return pass_ballot_bit(&c->b, ir_arg(i, 0), ir_const(f, IR_I32, 0));
    case IR_OP_group_ballot_bit: return pass_ballot_bit(&c->b, ir_arg(i, 0), ir_arg(i, 1));
    case IR_OP_group_ballot_count: return count_ballot(c, i);
    case IR_OP_group_ballot_lsb:
    case IR_OP_group_ballot_msb: return ir_const(f, i->type, 0);
    default: break;
    }
    bool scans = ir_combining_op((ir_op)i->op) != IR_OP_const;
    if (scans && i->imm.group.op == IR_GROUP_EXCLUSIVE)
        return pass_first_of_scan(f, (ir_op)i->op, i->type);
    return ir_arg(i, 0);
}

/* --------------------------------------------------------------------------------- async copies */

enum { TO, FROM, ELEMENTS, STRIDE, EVENT, ELEMENT_SIZE };

static ir_inst *to_size(expander *c, ir_inst *v) {
    if (v->type == IR_I64) return v;
    return ir_build1(&c->b, IR_OP_zext, IR_I64, v);
}

static unsigned alignment_of_size(const ir_inst *size) {
    uint64_t bytes = ir_is_const(size) ? size->imm.bits : 1;
    uint64_t align = bytes & (0 - bytes);
    return align == 0 ? 1 : align > 16 ? 16 : (unsigned)align;
}

static void copy_bytes(expander *c, ir_inst *to, ir_inst *from, ir_inst *bytes, unsigned align) {
    ir_build_raw(&c->b, IR_OP_copy, IR_VOID, ir_with_imm(ir_mem_imm(align, 0)),
                 IR_ARGS(to, from, bytes));
}

/* for (k = 0; k < n; k++) copy(to + k * to_step, from + k * from_step, size); ends in a new block,
 * which leads to `after`. */
static void copy_elements(expander *c, const ir_inst *i, ir_inst *n, ir_inst *size,
                          ir_block *after) {
    ir_func *f = c->g->f;
    ir_block *head = ir_block_new(f, NULL), *body = ir_block_new(f, NULL);
    ir_inst *wide = ir_build2(&c->b, IR_OP_mul, IR_I64, to_size(c, ir_arg(i, STRIDE)), size);
    bool to_local = ir_space_of(ir_arg(i, TO)->type) == IR_LOCAL;
    ir_build_jmp(&c->b, head);
    ir_inst *k = ir_append_arg(ir_build_phi(head, IR_I64), ir_const(f, IR_I64, 0));
    ir_at_end(&c->b, head);
    ir_build_br(&c->b, ir_build2(&c->b, IR_OP_ult, IR_I1, k, n), body, after);
    ir_at_end(&c->b, body);
    ir_inst *to = ir_build2(&c->b, IR_OP_mul, IR_I64, k, to_local ? size : wide);
    ir_inst *from = ir_build2(&c->b, IR_OP_mul, IR_I64, k, to_local ? wide : size);
    ir_inst *source = ir_build_ptradd(&c->b, ir_arg(i, FROM), from, false);
    copy_bytes(c, ir_build_ptradd(&c->b, ir_arg(i, TO), to, false), source, size,
               alignment_of_size(size));
    ir_append_arg(k, ir_build2(&c->b, IR_OP_add, IR_I64, k, ir_const(f, IR_I64, 1)));
    ir_build_jmp(&c->b, head);
}

static ir_inst *last_item(expander *c) {
    ir_func *f = c->g->f;
    ir_inst *n = ir_const(f, IR_I64, 1);
    for (unsigned d = 0; d < 3; d++)
        if (c->ids->count[d]) n = ir_build2(&c->b, IR_OP_mul, IR_I64, n, c->ids->count[d]);
    return ir_build2(&c->b, IR_OP_sub, IR_I64, n, ir_const(f, IR_I64, 1));
}

static ir_inst *copy_async(expander *c, ir_inst *i) {
    ir_block *before = i->block, *after = ir_split_block(before, i);
    ir_block *copies = ir_block_new(c->g->f, NULL);
    ir_inst *stride = ir_arg(i, STRIDE);
    ir_at_end(&c->b, before);
    ir_build_br(&c->b, is_item(c, last_item(c)), copies, after);
    ir_at_end(&c->b, copies);
    ir_inst *n = to_size(c, ir_arg(i, ELEMENTS)), *size = to_size(c, ir_arg(i, ELEMENT_SIZE));
    if (ir_is_const(stride) && stride->imm.bits == 1) {
        ir_inst *bytes = ir_build2(&c->b, IR_OP_mul, IR_I64, n, size);
        copy_bytes(c, ir_arg(i, TO), ir_arg(i, FROM), bytes, alignment_of_size(size));
        ir_build_jmp(&c->b, after);
    } else {
        copy_elements(c, i, n, size, after);
    }
    return ir_const(c->g->f, IR_EVENT, 0);
}

/* ------------------------------------------------------------------------------------ the whole */

static void replace(ir_inst *i, ir_inst *by) {
    if (i->type != IR_VOID) ir_replace_uses(i, by);
    ir_remove(i);
}

/* An operation of one item, though its sub-group has several. */
static void expand_question(expander *c, ir_inst *i) {
    ir_inst *answer = pass_ask_ballot(c->g, c->ids, &c->b, i);
    if (answer) replace(i, answer);
}

static void expand(expander *c, ir_inst *i) {
    ir_before(&c->b, i);
    if (i->op == IR_OP_async_copy) {
        replace(i, copy_async(c, i));
    } else if (i->op == IR_OP_wait_events) {
        synchronize(c);
        ir_remove(i);
    } else if (c->ids->lane) {
        expand_question(c, i);
    } else if (!pass_synchronizes(i)) {
        replace(i, answer_alone(c, i));
    } else if (i->op == IR_OP_group_broadcast) {
        replace(i, take_from(c, i, pass_find_source(&c->b, c->ids, i)));
    } else {
        replace(i, reduce_or_scan(c, i));
    }
}

/* Waiting is a barrier, so events say nothing: all of them are null, and none lies in memory. */
static void forget_events(ir_func *f) {
    foreach_block (b, f)
        foreach_inst (i, b) {
            bool stores = i->op == IR_OP_store && ir_arg(i, 0)->type == IR_EVENT;
            if (i->type == IR_EVENT) ir_replace_uses(i, ir_const(f, IR_EVENT, 0));
            if (stores || i->type == IR_EVENT) ir_remove(i);
        }
}

const char *pass_refuse_collective(const ir_inst *i) {
    bool whole = pass_synchronizes(i);
    if (whole && i->imm.group.scope < IR_SCOPE_WORKGROUP)
        return "it has an operation of more than a work-group";
    if (!whole || i->op == IR_OP_async_copy || i->op == IR_OP_wait_events) return NULL;
    bool known = i->op == IR_OP_group_any || i->op == IR_OP_group_all ||
                 i->op == IR_OP_group_broadcast || ir_combining_op((ir_op)i->op) != IR_OP_const;
    if (!known || !i->imm.group.uniform || i->imm.group.op == IR_GROUP_CLUSTERED)
        return ir_info(i)->name;
    return NULL;
}

void pass_expand_collectives(pass_group_builder *g, const pass_item_ids *ids,
                             pass_group_variables *out) {
    expander c = {.g = g, .ids = ids, .variables = out};
    ir_vec(ir_inst *) list = {0};
    ir_builder_init(&c.b, g->f);
    foreach_block (b, g->f)
        foreach_inst (i, b)
            if (ir_info(i)->imm == I_GROUP) *ir_push(g->scratch, &list) = i;
    for (uint32_t k = 0; k < list.n; k++) expand(&c, list.data[k]);
    forget_events(g->f);
}
