/* lanes_flow.c — control flow of random kernels: branches, loops of several forms, switches, jumps
 * out of loops and to the end, loops with several entries, barriers.
 *
 * Every loop has a counter, so each kernel ends.  Items meet only where all of a group come: where
 * conditions and ends of loops are the same for all, and none has gone to the end before.
 */
#include "tests/fuzz/lanes_impl.h"

/* An arm that ends in `next`; items of a group need not agree on entering it. */
static void arm(lanes *g, ir_block *b, ir_block *next, unsigned most, unsigned depth) {
    ir_at_end(&g->b, b);
    lanes_statements(g, most, depth + 1);
    ir_build_jmp(&g->b, next);
}

void lanes_branch(lanes *g, unsigned depth) {
    ir_block *yes = lanes_block(g), *next = lanes_block(g);
    bool common = lanes_byte(g) % 4 == 3 || g->calm, alike = g->alike, both = lanes_byte(g) & 1;
    ir_block *no = both ? lanes_block(g) : next;
    g->k->flow[LANES_BRANCH] |= !common;
    ir_build_br(&g->b, common ? lanes_common_test(g) : lanes_test(g), yes, no);
    g->alike = alike && common;
    arm(g, yes, next, 4, depth);
    g->alike = alike && common;
    if (both) arm(g, no, next, 3, depth);
    g->alike = alike && !g->gone;
    ir_at_end(&g->b, next);
}

/* A number of 0 to 7 as one of any type, from the first one that is given on; the values likewise. */
static ir_inst *move_cases(lanes *g, ir_inst *on, unsigned n, uint64_t *values) {
    static const ir_type types[] = {IR_I32, IR_I32, IR_I64, IR_I16, IR_I8};
    ir_type t = types[lanes_below(g, 5)];
    unsigned bits = ir_bits(g->f->module, t);
    const uint64_t half = UINT64_C(1) << (bits - 1), firsts[] = {0, 0, half - 3, UINT64_MAX - 4};
    uint64_t first = firsts[lanes_below(g, 4)];
    for (unsigned k = 0; k < n; k++) values[k] = ir_zext(values[k] + first, bits);
    return lanes_op(g, IR_OP_add, lanes_as(g, on, t), lanes_number(g, t, ir_zext(first, bits)));
}

void lanes_switch(lanes *g, unsigned depth) {
    ir_block *cases[3], *other = lanes_block(g), *next = lanes_block(g);
    uint64_t values[3] = {0, 1, 2 + lanes_below(g, 6)};
    bool common = lanes_byte(g) % 4 == 3 || g->calm, alike = g->alike;
    unsigned n = 1 + lanes_below(g, 3);
    ir_inst *on = common ? g->u : lanes_some(g, IR_I32);
    on = move_cases(g, lanes_op(g, IR_OP_and, on, lanes_number(g, IR_I32, 7)), n, values);
    for (unsigned k = 0; k < n; k++) cases[k] = lanes_block(g);
    g->k->flow[LANES_SWITCH] |= !common;
    ir_build_switch(&g->b, on, other, (ir_cases){n, values, cases});
    g->alike = alike && common;
    arm(g, other, next, 2, depth);
    /* Some cases go on in the next one. */
    for (unsigned k = 0; k < n; k++) {
        g->alike = alike && common;
        bool falls = k + 1 < n && lanes_byte(g) % 4 == 3;
        g->k->flow[LANES_FALL] |= falls;
        arm(g, cases[k], falls ? cases[k + 1] : next, 2, depth);
    }
    g->alike = alike && !g->gone;
    ir_at_end(&g->b, next);
}

/* ---------------------------------------------------------------------------------------- loops */

/* How often it runs at most: the same for all items, or not. */
static ir_inst *rounds_of(lanes *g, bool common) {
    ir_inst *x = common ? g->u : lanes_some(g, IR_I32);
    unsigned how = lanes_below(g, 4);
    if (common && how < 2) return lanes_number(g, IR_I32, how + 2);
    return lanes_op(g, IR_OP_and, x, lanes_number(g, IR_I32, how == 3 ? 7 : 3));
}

/* for (k = 0; k < rounds; k++), or do … while (++k < rounds) */
void lanes_loop(lanes *g, unsigned depth) {
    ir_block *head = lanes_block(g), *body = lanes_block(g), *latch = lanes_block(g);
    ir_block *next = lanes_block(g);
    const lanes around = *g;
    bool common = lanes_byte(g) & 1 || g->calm, at_end = lanes_byte(g) % 4 == 3;
    ir_inst *rounds = rounds_of(g, common);
    g->k->flow[common ? LANES_COMMON_LOOP : LANES_LOOP] = true;
    ir_build_jmp(&g->b, head);
    ir_inst *k = ir_append_arg(ir_build_phi(head, IR_I32), lanes_number(g, IR_I32, 0));
    ir_at_end(&g->b, head);
    ir_inst *more = ir_build2(&g->b, IR_OP_ult, IR_I1, k, rounds);
    ir_build_br(&g->b, at_end ? ir_const(g->f, IR_I1, 1) : more, body, next);
    g->counter[g->loops++] = k;
    g->leave = next;
    g->again = latch;
    g->alike = g->loop_alike = around.alike && common;
    g->alike_loops += g->alike;
    arm(g, body, latch, 5, depth);
    ir_at_end(&g->b, latch);
    ir_inst *up = lanes_op(g, IR_OP_add, k, lanes_number(g, IR_I32, 1));
    ir_append_arg(k, up);
    if (at_end)
        ir_build_br(&g->b, ir_build2(&g->b, IR_OP_ult, IR_I1, up, rounds), head, next);
    else
        ir_build_jmp(&g->b, head);
    g->loops = around.loops;
    g->leave = around.leave;
    g->again = around.again;
    g->loop_alike = around.loop_alike;
    g->alike_loops = around.alike_loops;
    g->alike = around.alike && !g->gone;
    ir_at_end(&g->b, next);
}

/* for (k = id; k < limit; k += step), with a test at the end as well or only there. */
void lanes_grid(lanes *g, unsigned depth) {
    ir_block *body = lanes_block(g), *next = lanes_block(g);
    const lanes around = *g;
    unsigned draw = lanes_byte(g);
    ir_inst *id =
        ir_build_query(&g->b, draw & 1 ? IR_OP_local_id : IR_OP_global_linear_id, IR_I32, 0);
    ir_inst *step = lanes_number(g, IR_I32, 128u << (draw / 2 % 3));
    ir_inst *limit = draw & 32 ? lanes_op(g, IR_OP_and, g->u, lanes_number(g, IR_I32, 1023)) : g->n;
    g->k->flow[LANES_GRID] = true;
    if (draw & 64) id = lanes_op(g, IR_OP_mul, id, lanes_number(g, IR_I32, 2));
    ir_build_br(&g->b, ir_build2(&g->b, IR_OP_slt, IR_I1, id, limit), body, next);
    ir_inst *k = ir_append_arg(ir_build_phi(body, IR_I32), id);
    g->alike = g->loop_alike = false;
    g->leave = g->again = NULL;
    ir_at_end(&g->b, body);
    lanes_put(g, k);
    lanes_statements(g, 3, depth + 1);
    ir_append_arg(k, lanes_op(g, IR_OP_add, k, step));
    ir_build_br(&g->b, ir_build2(&g->b, IR_OP_slt, IR_I1, ir_arg(k, 1), limit), body, next);
    g->leave = around.leave;
    g->again = around.again;
    g->loop_alike = around.loop_alike;
    g->alike = around.alike && !g->gone;
    ir_at_end(&g->b, next);
}

/* Three blocks that lead to each other in any order, entered at two of them, until the fuel, which
 * is a variable, is used up. */
void lanes_tangle(lanes *g, unsigned depth) {
    ir_block *part[3], *next = lanes_block(g);
    bool alike = g->alike;
    ir_inst *fuel = g->fuel;
    for (unsigned k = 0; k < 3; k++) part[k] = lanes_block(g);
    lanes_set(g, fuel, lanes_number(g, IR_I32, 2 + lanes_below(g, 5)));
    ir_block *leave = g->leave, *again = g->again;
    g->leave = g->again = NULL;
    g->alike = false;
    g->tangled = g->k->flow[LANES_TANGLE] = true;
    ir_build_br(&g->b, lanes_test(g), part[0], part[1]);
    for (unsigned k = 0; k < 3; k++) {
        ir_block *more = lanes_block(g);
        ir_at_end(&g->b, part[k]);
        lanes_statements(g, 2, depth + 1);
        ir_inst *left = lanes_op(g, IR_OP_sub, lanes_get(g, fuel), lanes_number(g, IR_I32, 1));
        lanes_set(g, fuel, left);
        ir_inst *done = ir_build2(&g->b, IR_OP_eq, IR_I1, left, lanes_number(g, IR_I32, 0));
        ir_build_br(&g->b, done, next, more);
        ir_at_end(&g->b, more);
        unsigned to = lanes_below(g, 3), other = lanes_below(g, 4);
        ir_build_br(&g->b, lanes_test(g), part[to], other == 3 ? next : part[other]);
    }
    g->tangled = false;
    g->leave = leave;
    g->again = again;
    g->alike = alike && !g->gone;
    ir_at_end(&g->b, next);
}

/* ---------------------------------------------------------------------------------------- jumps */

/* Items that others wait for in a loop go nowhere by themselves. */
void lanes_jump(lanes *g) {
    unsigned how = lanes_below(g, 8);
    bool ends = how > 5, common = !ends && g->alike;
    ir_block *to = how < 4 ? g->leave : how < 6 ? g->again : how == 7 ? g->bare : g->end_block;
    if (!to || (ends ? g->alike_loops != 0 : g->loop_alike && !g->alike)) return;
    ir_block *next = lanes_block(g);
    g->k->flow[ends ? LANES_RETURN : to == g->leave ? LANES_BREAK : LANES_CONTINUE] |= !common;
    ir_build_br(&g->b, common ? lanes_common_test(g) : lanes_test(g), to, next);
    if (ends) g->gone = true;
    if (ends) g->alike = false;
    ir_at_end(&g->b, next);
}

/* ------------------------------------------------------------------------------------- meetings */

static void barrier(lanes *g) {
    ir_build_barrier(&g->b, IR_SCOPE_WORKGROUP, IR_SCOPE_WORKGROUP, IR_SEM_SEQ_CST | IR_SEM_LOCAL);
}

static ir_inst *tile_at(lanes *g, ir_inst *k) {
    k = ir_build1(&g->b, IR_OP_zext, IR_I64, k);
    k = lanes_op(g, IR_OP_shl, k, lanes_number(g, IR_I64, 2));
    return ir_build_ptradd(&g->b, g->tile, k, true);
}

static ir_inst *load_tile(lanes *g, ir_inst *k) {
    return ir_build_load(&g->b, IR_I32, tile_at(g, k), 4, 0);
}

static ir_inst *items_of_group(lanes *g) {
    ir_inst *items = lanes_number(g, IR_I32, 1);
    for (unsigned d = 0; d < 3; d++)
        items = lanes_op(g, IR_OP_mul, items, ir_build_query(&g->b, IR_OP_local_size, IR_I32, d));
    return items;
}

/* What the item has plus what the one `by` before it has, for items that have one. */
static void add_before(lanes *g, ir_inst *item, ir_inst *by) {
    ir_block *yes = lanes_block(g), *next = lanes_block(g), *from = g->b.block;
    ir_inst *own = load_tile(g, item), *other = lanes_number(g, IR_I32, 5);
    ir_build_br(&g->b, ir_build2(&g->b, IR_OP_ult, IR_I1, item, by), next, yes);
    ir_at_end(&g->b, yes);
    ir_inst *before = load_tile(g, lanes_op(g, IR_OP_sub, item, by));
    ir_build_jmp(&g->b, next);
    ir_at_end(&g->b, next);
    ir_inst *x = ir_build_phi(next, IR_I32);
    for (uint32_t k = 0; k < 2; k++) x = ir_append_arg(x, next->pred[k] == from ? other : before);
    x = lanes_op(g, IR_OP_add, own, x);
    barrier(g);
    ir_build_store(&g->b, x, tile_at(g, item), 4, 0);
}

/* The first `by` items, as far as there are others for them, add what the others have. */
static void add_behind(lanes *g, ir_inst *item, ir_inst *by) {
    ir_block *yes = lanes_block(g), *next = lanes_block(g);
    ir_inst *other = lanes_op(g, IR_OP_add, item, by);
    ir_inst *low = ir_build2(&g->b, IR_OP_ult, IR_I1, item, by);
    ir_inst *there = ir_build2(&g->b, IR_OP_ult, IR_I1, other, items_of_group(g));
    ir_build_br(&g->b, lanes_op(g, IR_OP_and, low, there), yes, next);
    ir_at_end(&g->b, yes);
    ir_inst *x = lanes_op(g, IR_OP_add, load_tile(g, item), load_tile(g, other));
    ir_build_store(&g->b, x, tile_at(g, item), 4, 0);
    ir_build_jmp(&g->b, next);
    ir_at_end(&g->b, next);
}

/* Steps of a scan, or of a tree, in local memory. */
static void combine(lanes *g) {
    ir_inst *item = ir_build_query(&g->b, IR_OP_local_linear_id, IR_I32, 0);
    unsigned draw = lanes_byte(g), steps = 1 + draw % 4;
    ir_build_store(&g->b, lanes_some(g, IR_I32), tile_at(g, item), 4, 0);
    barrier(g);
    for (unsigned k = 0; k < steps; k++) {
        ir_inst *by = lanes_number(g, IR_I32, draw & 8 ? 32u >> k : 1u << lanes_below(g, 7));
        if (draw & 16)
            add_before(g, item, by);
        else
            add_behind(g, item, by);
        barrier(g);
    }
    lanes_put(g, load_tile(g, item));
    barrier(g);
}

/* A number of another item of the group. */
static void exchange(lanes *g) {
    ir_inst *item = ir_build_query(&g->b, IR_OP_local_linear_id, IR_I32, 0);
    ir_inst *items = items_of_group(g);
    ir_build_store(&g->b, lanes_some(g, IR_I32), tile_at(g, item), 4, 0);
    barrier(g);
    unsigned how = lanes_below(g, 4);
    ir_inst *other = lanes_op(g, IR_OP_add, item, lanes_number(g, IR_I32, lanes_below(g, 5)));
    if (how == 3) other = lanes_op(g, IR_OP_add, item, lanes_some(g, IR_I32));
    if (how == 2)
        other =
            lanes_op(g, IR_OP_sub, items, lanes_op(g, IR_OP_add, item, lanes_number(g, IR_I32, 1)));
    else
        other = lanes_op(g, IR_OP_urem, other, items);
    lanes_put(g, load_tile(g, other));
    barrier(g);
}

/* What all items have, or all up to this one. */
static void collect(lanes *g) {
    static const ir_op ops[] = {IR_OP_group_add, IR_OP_group_umin, IR_OP_group_smax,
                                IR_OP_group_xor, IR_OP_group_and,  IR_OP_group_mul};
    unsigned draw = lanes_byte(g);
    ir_imm imm = {.group = {.scope = IR_SCOPE_WORKGROUP, .uniform = 1}};
    if (draw % 8 == 7) imm.group.scope = IR_SCOPE_SUBGROUP;
    ir_op op = ops[lanes_below(g, 6)];
    ir_type t = draw & 1 ? IR_I64 : IR_I32;
    ir_inst *args[] = {lanes_some(g, t), lanes_number(g, IR_I32, 0)};
    imm.group.op = (uint8_t)lanes_below(g, 3); /* reduce, inclusive, exclusive */
    if (draw % 8 == 6) {
        imm.group.op = 0;
        lanes_put(
            g, ir_build_raw(&g->b, IR_OP_group_broadcast, t, ir_with_imm(imm), (ir_args){2, args}));
    } else if (draw % 8 == 5) {
        imm.group.op = 0;
        args[0] = lanes_test(g);
        op = draw & 16 ? IR_OP_group_any : IR_OP_group_all;
        lanes_put(g, ir_build_raw(&g->b, op, IR_I1, ir_with_imm(imm), (ir_args){1, args}));
    } else {
        lanes_put(g, ir_build_raw(&g->b, op, t, ir_with_imm(imm), (ir_args){1, args}));
    }
}

/* Numbers in local memory that the items of a group change atomically. */
static void count_locally(lanes *g) {
    static const ir_op ops[] = {IR_OP_atomic_add, IR_OP_atomic_umax, IR_OP_atomic_xor};
    ir_inst *item = ir_build_query(&g->b, IR_OP_local_linear_id, IR_I32, 0);
    ir_inst *at = lanes_op(g, IR_OP_urem, lanes_some(g, IR_I32), items_of_group(g));
    ir_imm imm = {.sync = {.scope = IR_SCOPE_WORKGROUP}};
    ir_build_store(&g->b, lanes_number(g, IR_I32, 0), tile_at(g, item), 4, 0);
    barrier(g);
    ir_build_raw(&g->b, ops[lanes_below(g, 3)], IR_I32, ir_with_imm(imm),
                 IR_ARGS(tile_at(g, at), lanes_some(g, IR_I32)));
    barrier(g);
    lanes_put(g, ir_build_load(&g->b, IR_I32, tile_at(g, item), 4, 0));
    barrier(g);
}

void lanes_meet(lanes *g) {
    unsigned what = lanes_below(g, 7);
    if (!g->alike) return;
    g->k->spread = g->k->flow[LANES_BARRIER] = true;
    if (what == 0)
        barrier(g);
    else if (what == 1)
        collect(g);
    else if (what < 4)
        combine(g);
    else if (what == 4)
        count_locally(g);
    else
        exchange(g);
}
