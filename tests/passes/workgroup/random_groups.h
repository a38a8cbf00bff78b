/* random_groups.h — random kernels in which the items of a group synchronize:
 * @k(out, same, tile, n).
 *
 * The graph has a few parts.  Control goes between them at random, for all items alike, until the
 * fuel is used up.  Half of the branches are decided by numbers that are the same for all items,
 * which no analysis can find.  A part computes with variables of several types, among them an array
 * and a pointer, has branches and loops that differ between items, and exchanges numbers with other
 * items through local memory.  With sub-groups, it also has operations of sub-groups of all sorts, in
 * branches and loops of each item as well.  With phases, all groups wait for each other a few times, before and
 * after these parts, and local memory is the kernel's own.  In the end every item writes all its
 * variables to its own piece of out.
 */
#ifndef SPVFUSE_TESTS_RANDOM_GROUPS_H
#define SPVFUSE_TESTS_RANDOM_GROUPS_H

#include "ir/ir.h"
#include "tests/random.h"

enum { RG_INTS = 4, RG_PIECE = 96, RG_PARTS = 8, RG_TILE = 1024 };

typedef struct {
    ir_func *f;
    ir_builder b;
    uint64_t state;
    ir_inst *integer[RG_INTS], *wide, *real, *byte, *bit, *vector, *array, *pointer, *fuel;
    ir_inst *out, *same, *tile, *n, *piece, *item, *items;
    ir_block *part[RG_PARTS], *end;
    unsigned parts;
    bool meets;  /* operations of sub-groups may be here */
    bool cycles; /* other parts may come before this one again */
} rg;

static inline unsigned rg_pick(rg *q, unsigned n) { return draw_below(&q->state, n); }

static inline ir_inst *rg_int(rg *q, int64_t n) {
    return ir_const(q->f, IR_I32, (uint64_t)n & 0xffffffff);
}
static inline ir_inst *rg_op(rg *q, ir_op op, ir_inst *x, ir_inst *y) {
    return ir_build2(&q->b, op, x->type, x, y);
}
static inline ir_inst *rg_to(rg *q, ir_op op, ir_type t, ir_inst *x) {
    return ir_build1(&q->b, op, t, x);
}
static inline ir_inst *rg_get(rg *q, ir_inst *v) {
    return ir_build_load(&q->b, v->imm.var->type, v, v->imm.var->align, 0);
}
static inline void rg_set(rg *q, ir_inst *v, ir_inst *x) {
    ir_build_store(&q->b, x, v, v->imm.var->align, 0);
}
static inline ir_inst *rg_some(rg *q) { return rg_get(q, q->integer[rg_pick(q, RG_INTS)]); }
static inline void rg_put(rg *q, ir_inst *x) { rg_set(q, q->integer[rg_pick(q, RG_INTS)], x); }

/* base + i * 4 */
static inline ir_inst *rg_at(rg *q, ir_inst *base, ir_inst *i) {
    ir_inst *offset =
        rg_op(q, IR_OP_shl, rg_to(q, IR_OP_zext, IR_I64, i), ir_const(q->f, IR_I64, 2));
    return ir_build_ptradd(&q->b, base, offset, true);
}

static inline ir_inst *rg_query(rg *q) {
    static const ir_op ops[] = {IR_OP_global_id,     IR_OP_local_id,           IR_OP_group_id,
                                IR_OP_global_size,   IR_OP_local_size,         IR_OP_num_groups,
                                IR_OP_global_offset, IR_OP_enqueued_local_size};
    unsigned k = rg_pick(q, sizeof ops / sizeof *ops + 3);
    if (k == 8) return ir_build_query(&q->b, IR_OP_global_linear_id, IR_I32, 0);
    if (k == 9) return ir_build_query(&q->b, IR_OP_local_linear_id, IR_I32, 0);
    if (k == 10) return ir_build_query(&q->b, IR_OP_work_dim, IR_I32, 0);
    return ir_build_query(&q->b, ops[k], IR_I32, rg_pick(q, 3));
}

static inline void rg_arithmetic(rg *q) {
    static const ir_op ops[] = {IR_OP_add, IR_OP_sub, IR_OP_mul, IR_OP_xor, IR_OP_umin, IR_OP_smax};
    ir_op op = ops[rg_pick(q, sizeof ops / sizeof *ops)];
    ir_inst *x = rg_some(q), *y = rg_pick(q, 3) ? rg_some(q) : rg_query(q);
    rg_put(q, rg_op(q, op, x, y));
}

static inline void rg_types(rg *q) {
    ir_inst *x = rg_some(q);
    switch (rg_pick(q, 6)) {
    case 0:
        rg_set(q, q->wide,
               rg_op(q, IR_OP_add, rg_get(q, q->wide), rg_to(q, IR_OP_sext, IR_I64, x)));
        break;
    case 1:
        x = rg_to(q, IR_OP_sitofp, IR_F32, rg_op(q, IR_OP_and, x, rg_int(q, 255)));
        rg_set(q, q->real, rg_op(q, IR_OP_fadd, rg_get(q, q->real), x));
        break;
    case 2: rg_set(q, q->byte, rg_to(q, IR_OP_trunc, IR_I8, x)); break;
    case 3: rg_set(q, q->bit, ir_build2(&q->b, IR_OP_ult, IR_I1, x, rg_some(q))); break;
    case 4:
        rg_set(q, q->vector, ir_build_insert(&q->b, rg_get(q, q->vector), x, rg_pick(q, 3)));
        break;
    default:
        rg_put(q, ir_build_select(&q->b, rg_get(q, q->bit), x,
                                  rg_to(q, IR_OP_sext, IR_I32, rg_get(q, q->byte))));
    }
}

static inline void rg_memory(rg *q) {
    ir_inst *at = rg_at(q, q->array, rg_op(q, IR_OP_and, rg_some(q), rg_int(q, 3)));
    switch (rg_pick(q, 4)) {
    case 0: ir_build_store(&q->b, rg_some(q), at, 4, 0); break;
    case 1: rg_put(q, ir_build_load(&q->b, IR_I32, at, 4, 0)); break;
    case 2:
        rg_set(q, q->pointer, rg_at(q, q->piece, rg_op(q, IR_OP_and, rg_some(q), rg_int(q, 7))));
        break;
    default: ir_build_store(&q->b, rg_some(q), rg_get(q, q->pointer), 4, 0);
    }
}

static inline void rg_barrier(rg *q) {
    ir_build_barrier(&q->b, IR_SCOPE_WORKGROUP, IR_SCOPE_WORKGROUP, IR_SEM_SEQ_CST | IR_SEM_LOCAL);
}

/* A number of another item. */
static inline void rg_exchange(rg *q) {
    ir_build_store(&q->b, rg_some(q), rg_at(q, q->tile, q->item), 4, 0);
    rg_barrier(q);
    ir_inst *other = rg_op(q, IR_OP_add, q->item, rg_int(q, rg_pick(q, 5)));
    other = rg_op(q, IR_OP_urem, other, q->items);
    rg_put(q, ir_build_load(&q->b, IR_I32, rg_at(q, q->tile, other), 4, 0));
    rg_barrier(q);
}

/* What all items have, or all up to this one. */
static inline void rg_collect(rg *q) {
    static const ir_op ops[] = {IR_OP_group_add, IR_OP_group_umin, IR_OP_group_smax,
                                IR_OP_group_xor};
    ir_imm imm = {.group = {.scope = IR_SCOPE_WORKGROUP, .uniform = 1}};
    imm.group.op = (uint8_t)rg_pick(q, 3); /* reduce, inclusive, exclusive */
    ir_inst *args[] = {rg_some(q), rg_int(q, 0)};
    if (rg_pick(q, 5)) {
        rg_put(q, ir_build_raw(&q->b, ops[rg_pick(q, 4)], IR_I32, ir_with_imm(imm),
                               (ir_args){1, args}));
        return;
    }
    imm.group.op = 0;
    rg_put(q, ir_build_raw(&q->b, IR_OP_group_broadcast, IR_I32, ir_with_imm(imm),
                           (ir_args){2, args}));
}

/* ---- sub-groups */

static inline ir_inst *rg_group(rg *q, ir_op op, ir_type t, ir_imm imm, ir_inst *x, ir_inst *y) {
    ir_inst *args[] = {x, y};
    imm.group.scope = IR_SCOPE_SUBGROUP;
    return ir_build_raw(&q->b, op, t, ir_with_imm(imm), (ir_args){y ? 2 : x ? 1 : 0, args});
}

static inline ir_inst *rg_plain(rg *q, ir_op op, ir_type t, ir_inst *x, ir_inst *y) {
    return rg_group(q, op, t, (ir_imm){0}, x, y);
}

static inline ir_inst *rg_ask(rg *q, ir_op op) { return ir_build_query(&q->b, op, IR_I32, 0); }

/* Who is there. */
static inline ir_inst *rg_present(rg *q) {
    return rg_plain(q, IR_OP_group_ballot, ir_vector(IR_I32, 4), ir_const(q->f, IR_I1, 1), NULL);
}

/* A variable of some type that can be moved. */
static inline ir_inst *rg_movable(rg *q) {
    ir_inst *of[] = {q->integer[0], q->integer[1], q->wide, q->real, q->byte, q->bit, q->vector};
    return of[rg_pick(q, 7)];
}

static inline void rg_vote(rg *q) {
    static const ir_op ops[] = {IR_OP_group_all, IR_OP_group_any};
    ir_inst *of[] = {q->integer[0], q->wide, q->byte, q->vector};
    ir_inst *v = of[rg_pick(q, 4)];
    switch (rg_pick(q, 3)) {
    case 0: rg_set(q, q->bit, rg_plain(q, IR_OP_group_elect, IR_I1, NULL, NULL)); break;
    case 1: rg_set(q, q->bit, rg_plain(q, IR_OP_group_all_equal, IR_I1, rg_get(q, v), NULL)); break;
    default: rg_set(q, q->bit, rg_plain(q, ops[rg_pick(q, 2)], IR_I1, rg_get(q, q->bit), NULL));
    }
}

static inline void rg_ballot(rg *q) {
    static const ir_op ends[] = {IR_OP_group_ballot_lsb, IR_OP_group_ballot_msb};
    ir_imm imm = {.group = {.op = (uint8_t)rg_pick(q, 3)}};
    ir_inst *ballot =
        rg_plain(q, IR_OP_group_ballot, ir_vector(IR_I32, 4), rg_get(q, q->bit), NULL);
    ir_inst *index = rg_op(q, IR_OP_and, rg_some(q), rg_int(q, 127));
    switch (rg_pick(q, 6)) {
    case 0: rg_put(q, rg_group(q, IR_OP_group_ballot_count, IR_I32, imm, ballot, NULL)); break;
    case 1: rg_set(q, q->bit, rg_plain(q, IR_OP_group_inverse_ballot, IR_I1, ballot, NULL)); break;
    case 2: rg_set(q, q->bit, rg_plain(q, IR_OP_group_ballot_bit, IR_I1, ballot, index)); break;
    case 3: rg_put(q, rg_plain(q, ends[rg_pick(q, 2)], IR_I32, rg_present(q), NULL)); break;
    case 4:
        imm = (ir_imm){.bits = rg_pick(q, 5)};
        ballot = ir_build_raw(&q->b, IR_OP_subgroup_mask, ir_vector(IR_I32, 4), ir_with_imm(imm),
                              IR_NO_ARGS);
        rg_put(q, ir_build_extract(&q->b, ballot, 0));
        break;
    default: rg_put(q, ir_build_extract(&q->b, ballot, rg_pick(q, 4)));
    }
}

static inline void rg_broadcast(rg *q) {
    static const ir_op ends[] = {IR_OP_group_ballot_lsb, IR_OP_group_ballot_msb};
    ir_inst *v = rg_movable(q), *x = rg_get(q, v);
    if (rg_pick(q, 2)) {
        rg_set(q, v, rg_plain(q, IR_OP_group_broadcast_first, x->type, x, NULL));
        return;
    }
    ir_inst *from = rg_plain(q, ends[rg_pick(q, 2)], IR_I32, rg_present(q), NULL);
    rg_set(q, v, rg_plain(q, IR_OP_group_broadcast, x->type, x, from));
}

/* The value of another item, if it is there. */
static inline void rg_shuffle(rg *q) {
    static const ir_op ops[] = {IR_OP_group_shuffle, IR_OP_group_shuffle_xor,
                                IR_OP_group_shuffle_up, IR_OP_group_shuffle_down,
                                IR_OP_group_rotate};
    ir_inst *v = rg_movable(q), *x = rg_get(q, v), *lane = rg_ask(q, IR_OP_subgroup_local_id);
    ir_inst *size = rg_ask(q, IR_OP_subgroup_max_size), *from;
    ir_inst *by =
        rg_pick(q, 3) ? rg_int(q, rg_pick(q, 9)) : rg_op(q, IR_OP_and, q->n, rg_int(q, 7));
    ir_imm imm = {0};
    ir_op op = ops[rg_pick(q, 5)];
    if (rg_pick(q, 3) == 0 && op != IR_OP_group_rotate)
        by = rg_op(q, IR_OP_and, rg_some(q), rg_int(q, 31));
    if (op == IR_OP_group_rotate && rg_pick(q, 2)) {
        imm.group.op = IR_GROUP_CLUSTERED;
        imm.group.log_size = (uint8_t)rg_pick(q, 2);
        size = rg_int(q, 1 << imm.group.log_size);
    }
    switch (op) {
    case IR_OP_group_shuffle: from = by; break;
    case IR_OP_group_shuffle_xor: from = rg_op(q, IR_OP_xor, lane, by); break;
    case IR_OP_group_shuffle_up: from = rg_op(q, IR_OP_sub, lane, by); break;
    case IR_OP_group_shuffle_down: from = rg_op(q, IR_OP_add, lane, by); break;
    default:
        size = rg_op(q, IR_OP_sub, size, rg_int(q, 1));
        from = rg_op(q, IR_OP_add, lane, by);
        from =
            rg_op(q, IR_OP_xor, lane, rg_op(q, IR_OP_and, size, rg_op(q, IR_OP_xor, from, lane)));
    }
    ir_inst *present = rg_present(q);
    ir_inst *there = rg_plain(q, IR_OP_group_ballot_bit, IR_I1, present,
                              rg_op(q, IR_OP_and, from, rg_int(q, 127)));
    there = rg_op(q, IR_OP_and, there, ir_build2(&q->b, IR_OP_ult, IR_I1, from, rg_int(q, 128)));
    ir_inst *other = rg_group(q, op, x->type, imm, x, by);
    rg_set(q, v, ir_build_select(&q->b, there, other, x));
}

/* A reduction or scan.  Floats are small numbers, whose sums are exact. */
static inline void rg_reduce(rg *q) {
    static const ir_op ops[] = {IR_OP_group_and,  IR_OP_group_or,   IR_OP_group_xor,
                                IR_OP_group_add,  IR_OP_group_umin, IR_OP_group_smin,
                                IR_OP_group_umax, IR_OP_group_smax, IR_OP_group_mul};
    static const ir_op real_ops[] = {IR_OP_group_fadd, IR_OP_group_fmin, IR_OP_group_fmax};
    ir_inst *of[] = {q->integer[0], q->integer[1], q->wide, q->byte, q->bit, q->vector, q->real};
    ir_inst *v = of[rg_pick(q, 7)], *x = rg_get(q, v);
    ir_imm imm = {.group = {.op = (uint8_t)rg_pick(q, 4)}};
    if (imm.group.op == IR_GROUP_CLUSTERED) imm.group.log_size = (uint8_t)rg_pick(q, 7);
    ir_op op = ops[rg_pick(q, v == q->bit ? 3 : 9)];
    if (v == q->real) {
        x = rg_to(q, IR_OP_sitofp, IR_F32, rg_op(q, IR_OP_and, rg_some(q), rg_int(q, 255)));
        op = real_ops[rg_pick(q, 3)];
        if (op != IR_OP_group_fadd && imm.group.op == IR_GROUP_EXCLUSIVE) imm.group.op = 0;
    }
    rg_set(q, v, rg_group(q, op, x->type, imm, x, NULL));
}

static inline void rg_meet(rg *q) {
    static const ir_op queries[] = {IR_OP_subgroup_size,          IR_OP_subgroup_max_size,
                                    IR_OP_num_subgroups,          IR_OP_subgroup_id,
                                    IR_OP_enqueued_num_subgroups, IR_OP_subgroup_local_id};
    switch (rg_pick(q, 7)) {
    case 0: rg_vote(q); break;
    case 1: rg_ballot(q); break;
    case 2: rg_broadcast(q); break;
    case 3:
    case 4: rg_shuffle(q); break;
    case 5: rg_reduce(q); break;
    default: rg_put(q, rg_ask(q, queries[rg_pick(q, 6)]));
    }
}

static inline void rg_statements(rg *q, unsigned n, unsigned depth, bool alike);

static inline ir_block *rg_block(rg *q) { return ir_block_new(q->f, NULL); }

/* if (odd) … else …; as each item likes. */
static inline void rg_branch(rg *q, unsigned depth) {
    ir_block *yes = rg_block(q), *no = rg_block(q), *join = rg_block(q);
    ir_inst *odd = rg_to(q, IR_OP_trunc, IR_I1, rg_some(q));
    bool meets = q->meets;
    ir_build_br(&q->b, odd, yes, rg_pick(q, 2) ? no : join);
    q->meets &= !q->cycles;
    ir_at_end(&q->b, yes);
    rg_statements(q, 3, depth, false);
    ir_build_jmp(&q->b, join);
    ir_at_end(&q->b, no);
    rg_statements(q, 2, depth, false);
    ir_build_jmp(&q->b, join);
    ir_at_end(&q->b, join);
    q->meets = meets;
}

static inline ir_inst *rg_test_of_id(rg *q) {
    static const ir_op ops[] = {IR_OP_eq, IR_OP_ult, IR_OP_ule, IR_OP_slt, IR_OP_sle, IR_OP_ne};
    ir_op op = rg_pick(q, 2) ? IR_OP_local_id : IR_OP_global_id, test = ops[rg_pick(q, 6)];
    ir_inst *id = ir_build_query(&q->b, op, IR_I32, rg_pick(q, 8) ? 0 : 1);
    ir_inst *limit = rg_pick(q, 3)   ? rg_int(q, (int64_t)rg_pick(q, 2) * rg_pick(q, 40))
                     : rg_pick(q, 2) ? rg_op(q, IR_OP_and, q->n, rg_int(q, 31))
                                     : rg_some(q);
    bool first = rg_pick(q, 4);
    return ir_build2(&q->b, test, IR_I1, first ? id : limit, first ? limit : id);
}

/* if (test) if (test) if (test) …; of ids. */
static inline void rg_guards(rg *q, unsigned depth) {
    ir_block *join = rg_block(q);
    bool meets = q->meets;
    for (unsigned n = 1 + rg_pick(q, 3); n; n--) {
        ir_block *next = rg_block(q);
        ir_inst *test = rg_test_of_id(q);
        bool holds = rg_pick(q, 4);
        ir_build_br(&q->b, test, holds ? next : join, holds ? join : next);
        ir_at_end(&q->b, next);
    }
    q->meets &= !q->cycles;
    rg_statements(q, 3, depth, false);
    ir_build_jmp(&q->b, join);
    ir_at_end(&q->b, join);
    q->meets = meets;
}

/* Up to four rounds, as each item likes. */
static inline void rg_loop(rg *q, unsigned depth) {
    ir_block *before = q->b.block, *head = rg_block(q), *body = rg_block(q), *after = rg_block(q);
    ir_inst *rounds = rg_op(q, IR_OP_and, rg_some(q), rg_int(q, 3));
    ir_build_jmp(&q->b, head);
    ir_inst *k = ir_append_arg(ir_build_phi(head, IR_I32), rg_int(q, 0));
    ir_at_end(&q->b, head);
    ir_build_br(&q->b, ir_build2(&q->b, IR_OP_ult, IR_I1, k, rounds), body, after);
    ir_at_end(&q->b, body);
    /* Device check lets items meet that are in different iterations. */
    bool meets = q->meets;
    if (meets && !q->cycles && rg_pick(q, 2)) rg_meet(q);
    q->meets = false;
    rg_statements(q, 2, depth, false);
    q->meets = meets;
    ir_append_arg(k, rg_op(q, IR_OP_add, k, rg_int(q, 1)));
    ir_build_jmp(&q->b, head);
    ir_at_end(&q->b, after);
    (void)before;
}

/* What follows a barrier: in half of the cases guards, which may become bounds of loops. */
static inline void rg_begin_region(rg *q) {
    rg_barrier(q);
    if (rg_pick(q, 2)) rg_guards(q, 0);
}

static inline void rg_statement(rg *q, unsigned depth, bool alike) {
    unsigned k = rg_pick(q, alike ? 14 : 10);
    if (q->meets && rg_pick(q, 3) == 0)
        rg_meet(q);
    else if (k < 4)
        rg_arithmetic(q);
    else if (k < 6)
        rg_types(q);
    else if (k < 8)
        rg_memory(q);
    else if (k == 8 && depth)
        (rg_pick(q, 2) ? rg_branch : rg_guards)(q, depth - 1);
    else if (k == 9 && depth)
        rg_loop(q, depth - 1);
    else if (k == 10)
        rg_begin_region(q);
    else if (k == 13)
        rg_collect(q);
    else if (k > 10)
        rg_exchange(q);
}

static inline void rg_statements(rg *q, unsigned n, unsigned depth, bool alike) {
    for (unsigned k = rg_pick(q, n + 1); k; k--) rg_statement(q, depth, alike);
}

/* The same for all items, known to be or not. */
static inline ir_inst *rg_decide(rg *q) {
    ir_inst *by = rg_get(q, q->fuel);
    switch (rg_pick(q, 4)) {
    case 0: return rg_op(q, IR_OP_lshr, q->n, rg_op(q, IR_OP_and, by, rg_int(q, 15)));
    case 1: return by;
    default: break;
    }
    ir_inst *item = ir_build_query(&q->b, IR_OP_global_linear_id, IR_I32, 0);
    ir_inst *same = ir_build_load(&q->b, IR_I32, rg_at(q, q->same, item), 4, 0);
    return rg_op(q, IR_OP_lshr, same, rg_op(q, IR_OP_and, by, rg_int(q, 15)));
}

static inline ir_block *rg_any_part(rg *q) {
    unsigned k = rg_pick(q, q->parts + 1);
    return k == q->parts ? q->end : q->part[k];
}

static inline void rg_leave(rg *q) {
    ir_inst *fuel = rg_op(q, IR_OP_sub, rg_get(q, q->fuel), rg_int(q, 1));
    ir_block *more = rg_block(q);
    rg_set(q, q->fuel, fuel);
    ir_build_br(&q->b, ir_build2(&q->b, IR_OP_eq, IR_I1, fuel, rg_int(q, 0)), q->end, more);
    ir_at_end(&q->b, more);
    ir_inst *by = rg_decide(q);
    const uint64_t cases[] = {1, 3};
    ir_block *to[] = {rg_any_part(q), rg_any_part(q)};
    if (rg_pick(q, 5) == 0)
        ir_build_switch(&q->b, rg_op(q, IR_OP_and, by, rg_int(q, 3)), rg_any_part(q),
                        (ir_cases){2, cases, to});
    else
        ir_build_br(&q->b, rg_to(q, IR_OP_trunc, IR_I1, by), to[0], to[1]);
}

static inline ir_inst *rg_var(rg *q, ir_type t) {
    return ir_build_alloca(&q->b, t, (unsigned)ir_alignof(q->f->module, t));
}

static inline void rg_begin(rg *q) {
    ir_inst *item = ir_build_query(&q->b, IR_OP_global_linear_id, IR_I64, 0);
    q->item = ir_build_query(&q->b, IR_OP_local_linear_id, IR_I32, 0);
    q->items = rg_int(q, 1);
    for (unsigned d = 0; d < 3; d++)
        q->items =
            rg_op(q, IR_OP_mul, q->items, ir_build_query(&q->b, IR_OP_local_size, IR_I32, d));
    item = rg_op(q, IR_OP_mul, item, ir_const(q->f, IR_I64, RG_PIECE));
    q->piece = ir_build_ptradd(&q->b, q->out, item, true);
    for (unsigned k = 0; k < RG_INTS; k++) q->integer[k] = rg_var(q, IR_I32);
    q->wide = rg_var(q, IR_I64);
    q->real = rg_var(q, IR_F32);
    q->byte = rg_var(q, IR_I8);
    q->bit = rg_var(q, IR_I1);
    q->vector = rg_var(q, ir_vector(IR_I32, 3));
    q->array = rg_var(q, ir_array_type(q->f->module, IR_I32, 4));
    q->pointer = rg_var(q, ir_ptr(IR_GLOBAL));
    q->fuel = rg_var(q, IR_I32);
    for (unsigned k = 0; k < RG_INTS; k++) rg_set(q, q->integer[k], rg_query(q));
    rg_set(q, q->wide, ir_const(q->f, IR_I64, 7));
    rg_set(q, q->real, ir_const_float(q->f, IR_F32, 1.5));
    rg_set(q, q->byte, ir_const(q->f, IR_I8, 3));
    rg_set(q, q->bit, ir_const(q->f, IR_I1, 1));
    rg_set(q, q->vector, ir_const(q->f, ir_vector(IR_I32, 3), 5));
    rg_set(q, q->pointer, q->piece);
    rg_set(q, q->fuel, rg_int(q, 1 + rg_pick(q, 12)));
    for (unsigned k = 0; k < 4; k++)
        ir_build_store(&q->b, rg_some(q), rg_at(q, q->array, rg_int(q, k)), 4, 0);
}

static inline void rg_write(rg *q, ir_inst *v, uint64_t offset) {
    ir_inst *at = ir_build_ptradd(&q->b, q->piece, ir_const(q->f, IR_I64, offset), true);
    ir_build_store(&q->b, v, at, 1, 0);
}

static inline void rg_finish(rg *q) {
    for (unsigned k = 0; k < RG_INTS; k++) rg_write(q, rg_get(q, q->integer[k]), 32 + 4 * k);
    rg_write(q, rg_get(q, q->wide), 48);
    rg_write(q, rg_get(q, q->real), 56);
    rg_write(q, rg_get(q, q->byte), 60);
    rg_write(q, rg_get(q, q->bit), 61);
    rg_write(q, rg_get(q, q->vector), 64);
    for (unsigned k = 0; k < 4; k++)
        rg_write(q, ir_build_load(&q->b, IR_I32, rg_at(q, q->array, rg_int(q, k)), 4, 0),
                 76 + 4 * k);
    ir_build_ret(&q->b, NULL);
}

/* All groups wait now and then. */
static inline void rg_phases(rg *q) {
    for (unsigned k = rg_pick(q, 4); k; k--) {
        ir_build_barrier(&q->b, IR_SCOPE_DEVICE, IR_SCOPE_DEVICE,
                         IR_SEM_SEQ_CST | IR_SEM_LOCAL | IR_SEM_GLOBAL);
        rg_statements(q, 4, 2, true);
    }
}

static inline ir_inst *rg_own_tile(ir_module *m, ir_func *f) {
    ir_type t = ir_array_type(m, IR_I32, RG_TILE);
    return ir_address(f, ir_global_new(m, "tile", IR_LOCAL, t));
}

static inline ir_func *rg_make(ir_module *m, uint64_t seed, bool phases, bool subgroups) {
    const ir_type types[] = {ir_ptr(IR_GLOBAL), ir_ptr(IR_GLOBAL), ir_ptr(IR_LOCAL), IR_I32};
    rg q = {.f = ir_func_new(m, "k", IR_VOID, 4, types), .state = seed * 2 + 1};
    q.meets = subgroups;
    q.f->flags = IR_FUNC_KERNEL;
    q.out = q.f->param_val[0];
    q.same = q.f->param_val[1];
    q.tile = phases ? rg_own_tile(m, q.f) : q.f->param_val[2];
    q.n = q.f->param_val[3];
    for (unsigned k = 0; k < 5; k++) rg_pick(&q, 2);
    q.parts = 1 + rg_pick(&q, RG_PARTS);
    ir_builder_init(&q.b, q.f);
    ir_at_end(&q.b, rg_block(&q));
    for (unsigned k = 0; k < q.parts; k++) q.part[k] = rg_block(&q);
    q.end = rg_block(&q);
    rg_begin(&q);
    rg_statements(&q, 4, 2, true);
    if (phases) rg_phases(&q);
    ir_build_jmp(&q.b, q.part[0]);
    q.cycles = true;
    for (unsigned k = 0; k < q.parts; k++) {
        ir_at_end(&q.b, q.part[k]);
        rg_statements(&q, 5, 2, true);
        rg_leave(&q);
    }
    ir_at_end(&q.b, q.end);
    q.cycles = false;
    rg_statements(&q, 2, 2, true);
    if (phases) rg_phases(&q);
    rg_finish(&q);
    return q.f;
}

#endif
