/* coarsen.c — thread coarsening: each thread of a GPU runs several work-items.
 *
 * A thread has more loads in flight then, and what its items share it computes and loads once
 * (Volkov, "Better performance at lower occupancy", 2010; Magni, Dubach and O'Boyle, "A large-scale
 * cross-architecture evaluation of thread-coarsening", 2013).  The items of a thread are a
 * work-group apart along one axis, so neighbours still access memory side by side:
 *
 *   item r of thread t of group g   =   (g * items + r) * local size + t
 *
 * Rows side by side instead (g * local size + t) * items + r, with the loads that they share made
 * once, took as long on an H200 for stencils, and 5 % longer for products of matrices.
 *
 * What depends on the item exists once for each of them, in the same blocks: unroll-and-jam (Allen
 * and Kennedy, "Optimizing compilers for modern architectures", 2001), without a loop.  So no
 * branch may depend on the item.  Those at the beginning may, as guards do, where all before
 * them is pure: if they go the same way for all items, that is the way on, and otherwise a copy of
 * the kernel runs one item after the other:
 *
 *   guards of all items -> [all items at once]
 *                       -> [loop over the items: copy of the kernel]
 *
 * Items do not depend on each other, so those of a thread may run in any order.  Kernels that can
 * tell their groups are left as they are.
 */
#include "passes/analysis/analysis.h"
#include "passes/workgroup/regions.h"

enum {
    MOST_ITEMS = 4,
    MOST_GUARDS = 8,  /* branches that are decided for all items at once */
    MOST_SIZE = 2000, /* instructions of the kernel */
    MOST_COST = 240,  /* of what all items of a thread have for themselves */
    FUNCTION_COST = 24,
    MOST_CARRIED = 32, /* values that go around in loops */
    ENOUGH_BYTES = 24  /* that an item loads: more do not come faster */
};

typedef struct {
    ir_func *f;
    pass_ctx *cx;
    unsigned axis, items;
    ir_type id;      /* of ids and sizes */
    bool is_linear;  /* it has asked for the linear id, so its range may have one axis */
    ir_block *start; /* what the entry leads to; until then the entry */
    bool *varies;    /* by value id: it differs between the items of a thread */
    ir_block *guard[MOST_GUARDS];
    unsigned guards, side[MOST_GUARDS]; /* the successor that is the way on */
    ir_block_list body;                 /* blocks after the guards, in reverse postorder */
    ir_inst **of[MOST_ITEMS];           /* by value id: what it is for item r > 0; NULL: the same */
    uint32_t nvalues;                   /* ids of what was there before are below */
    ir_builder b;
} coarse;

/* ------------------------------------------------------------------------------------ analysis */

static bool is_query_along(const ir_inst *i, ir_op op, unsigned axis) {
    return i->op == op && i->imm.dim == axis;
}

static bool may_be_repeated(const ir_inst *i) {
    if (i->op == IR_OP_load || i->op == IR_OP_store)
        return !(i->imm.mem.flags & IR_MEM_VOLATILE) &&
               ir_space_of(ir_arg(i, i->op == IR_OP_store)->type) != IR_PRIVATE;
    return i->op == IR_OP_phi || ir_has_flag(i, F_PURE) || ir_is_terminator(i);
}

static bool is_candidate(const ir_func *f, ir_arena *scratch) {
    unsigned size = 0;
    if (!(f->flags & IR_FUNC_KERNEL) || f->level != L_SPMD) return false;
    foreach_block (b, f)
        foreach_inst (i, b)
            if (++size > MOST_SIZE || !may_be_repeated(i)) return false;
    return !pass_observes_groups(f, scratch);
}

/* Finds the type of ids, and whether it asks for the linear one; false: for others in a greater
 * type. */
static bool find_id_type(coarse *c) {
    const ir_target *t = c->cx->target;
    c->id = t && t->has_short_ids ? IR_I32 : IR_I64;
    foreach_block (b, c->f)
        foreach_inst (i, b) {
            bool asks = i->op == IR_OP_global_id || i->op == IR_OP_global_size;
            c->is_linear |= i->op == IR_OP_global_linear_id;
            if (asks && ir_kind_of(i->type) > ir_kind_of(c->id)) return false;
        }
    return true;
}

/* From 0 on along an axis. */
static ir_inst *build_place(coarse *c, unsigned axis) {
    ir_inst *id = ir_build_query(&c->b, IR_OP_global_id, c->id, axis);
    ir_inst *offset = ir_build_query(&c->b, IR_OP_global_offset, c->id, axis);
    id = ir_build2(&c->b, IR_OP_sub, c->id, id, offset);
    return c->id == IR_I64 ? id : ir_build1(&c->b, IR_OP_zext, IR_I64, id);
}

/* (z * height + y) * width + x */
static ir_inst *build_linear_id(coarse *c) {
    ir_inst *id = build_place(c, 2);
    for (unsigned axis = 2; axis-- > 0;) {
        ir_inst *size = ir_build_query(&c->b, IR_OP_global_size, c->id, axis);
        if (c->id != IR_I64) size = ir_build1(&c->b, IR_OP_zext, IR_I64, size);
        id = ir_build2(&c->b, IR_OP_mul, IR_I64, id, size);
        id = ir_build2(&c->b, IR_OP_add, IR_I64, id, build_place(c, axis));
    }
    return id;
}

/* What remains asks for ids and sizes along an axis, in one type. */
static void unify_queries(coarse *c) {
    foreach_block (b, c->f)
        foreach_inst (i, b) {
            bool linear = i->op == IR_OP_global_linear_id;
            bool other =
                (i->op == IR_OP_global_id || i->op == IR_OP_global_size) && i->type != c->id;
            if (!linear && !other) continue;
            ir_before(&c->b, i);
            c->b.loc = i->loc;
            ir_inst *v = linear ? build_linear_id(c)
                                : ir_build_query(&c->b, (ir_op)i->op, c->id, i->imm.dim);
            ir_replace_uses(i, v->type == i->type ? v : ir_build1(&c->b, IR_OP_trunc, i->type, v));
            ir_remove(i);
        }
}

static void find_varying(coarse *c) {
    ir_value_list pending = {0};
    c->varies = ir_new_array(c->cx->scratch, bool, c->f->next_id);
    foreach_block (b, c->f)
        foreach_inst (i, b)
            if (i->op == IR_OP_global_linear_id || is_query_along(i, IR_OP_global_id, c->axis))
                *ir_push(c->cx->scratch, &pending) = i;
    while (pending.n) {
        ir_inst *v = pending.data[--pending.n];
        if (c->varies[v->id]) continue;
        c->varies[v->id] = true;
        foreach_use (u, v) *ir_push(c->cx->scratch, &pending) = u->user;
    }
}

static bool accesses_vary(const coarse *c) {
    foreach_block (b, c->f)
        foreach_inst (i, b)
            if ((i->op == IR_OP_load || i->op == IR_OP_store) && c->varies[i->id]) return true;
    return false;
}

/* Along y, or along x if no access depends on y: what items along y share is what neighbours along
 * x load together.  False: no access depends on either. */
static bool find_axis(coarse *c) {
    for (c->axis = c->is_linear ? 1 : 2; c->axis-- > 0;) {
        find_varying(c);
        if (accesses_vary(c)) return true;
    }
    return false;
}

/* Is the branch at the end of b one on which items may differ? */
static bool differs(const coarse *c, const ir_block *b) {
    return b->nsucc > 1 && c->varies[ir_arg(b->last, 0)->id];
}

/* -------------------------------------------------------------------------------------- guards */

static bool is_harmless(const ir_block *b) {
    foreach_inst (i, b)
        if (i != b->last && (!ir_has_flag(i, F_PURE) || ir_has_flag(i, F_TRAPS))) return false;
    return b->last->op == IR_OP_br;
}

/* Instructions of the blocks that can be reached from b without passing `avoided`. */
static unsigned size_from(const coarse *c, ir_block *b, const ir_block *avoided) {
    ir_block_list list = {0};
    bool *seen = ir_new_array(c->cx->scratch, bool, c->f->next_block);
    unsigned size = 0;
    *ir_push(c->cx->scratch, &list) = b;
    seen[b->id] = seen[avoided->id] = true;
    for (uint32_t k = 0; k < list.n; k++) {
        foreach_inst (i, list.data[k]) size++;
        for (uint32_t n = 0; n < list.data[k]->nsucc; n++) {
            ir_block *to = list.data[k]->succ[n];
            if (!seen[to->id]) *ir_push(c->cx->scratch, &list) = to;
            seen[to->id] = true;
        }
    }
    return size;
}

/* The branches at the beginning up to the last one on which items may differ.  The way on is where
 * more of the kernel is. */
static void find_guards(coarse *c) {
    ir_block *b = c->start;
    unsigned n = 0;
    while (n < MOST_GUARDS && is_harmless(b) && b->succ[0] != b->succ[1]) {
        unsigned side = size_from(c, b->succ[1], b->succ[0]) > size_from(c, b->succ[0], b->succ[1]);
        c->guard[n] = b;
        c->side[n++] = side;
        if (differs(c, b)) c->guards = n;
        b = b->succ[side];
        if (b->npred > 1) break;
    }
}

static void mark_from(const coarse *c, ir_block *first) {
    ir_block_list list = {0};
    *ir_push(c->cx->scratch, &list) = first;
    first->mark = 1;
    for (uint32_t k = 0; k < list.n; k++)
        for (uint32_t n = 0; n < list.data[k]->nsucc; n++) {
            ir_block *to = list.data[k]->succ[n];
            if (!to->mark) *ir_push(c->cx->scratch, &list) = to;
            to->mark = 1;
        }
}

/* Lists the blocks after the guards; false: a branch there depends on the item. */
static bool find_body(coarse *c) {
    const ir_order *order = &ir_dominators(c->f)->order;
    const unsigned last = c->guards - 1;
    ir_block *first = c->guards ? c->guard[last]->succ[c->side[last]] : c->start;
    foreach_block (b, c->f) b->mark = 0;
    mark_from(c, first);
    for (uint32_t k = 0; k < order->n; k++) {
        if (!order->rpo[k]->mark) continue;
        if (differs(c, order->rpo[k])) return false;
        *ir_push(c->cx->scratch, &c->body) = order->rpo[k];
    }
    return true;
}

/* --------------------------------------------------------------------------------------- price */

/* What items of a thread have for themselves in some blocks, and what they share. */
typedef struct {
    unsigned cost, carried, shared, accesses;
    uint64_t bytes;
    bool has_loops;
} price;

static void add_price(const coarse *c, const ir_block *b, price *to) {
    const ir_loop *loop = ir_loop_tree(c->f)->of[b->id];
    to->has_loops |= loop != NULL;
    foreach_inst (i, b) {
        bool own = c->varies[i->id], access = i->op == IR_OP_load || i->op == IR_OP_store;
        to->cost += own ? ir_has_flag(i, F_NOFOLD) ? FUNCTION_COST : 1 : 0;
        to->accesses += own && access;
        to->carried += own && i->op == IR_OP_phi && loop;
        to->shared += !own && i->op == IR_OP_load && loop;
        to->bytes += own && i->op == IR_OP_load ? ir_sizeof(c->f->module, i->type) : 0;
    }
}

/* With loops it pays to share loads in them, and otherwise to have more loads in flight. */
static unsigned items_for(const price *p, unsigned items) {
    if (p->accesses && (p->has_loops ? !p->shared : p->bytes >= ENOUGH_BYTES)) return 1;
    while (items > 1 && (items * p->cost > MOST_COST || items * p->carried > MOST_CARRIED))
        items /= 2;
    return items;
}

/* The way from the first block on which b is: the number of a successor, plus 1; 0: all ways. */
static unsigned way_of(const coarse *c, const unsigned *way, const ir_block *b) {
    const ir_block *first = c->body.data[0], *before = ir_dominators(c->f)->idom[b->id];
    if (before != first || b->npred > 1) return way[before->id];
    for (unsigned n = 0; n < first->nsucc; n++)
        if (first->succ[n] == b) return n + 1;
    return 0;
}

/* A launch takes one way from a switch at the beginning, such as that to the phases of a kernel.
 * So the number of items has to suit each way, with what is before and after all of them. */
static void choose_items(coarse *c, unsigned most) {
    const ir_block *first = c->body.data[0];
    const unsigned ways = first->last->op == IR_OP_switch ? first->nsucc : 0;
    unsigned accesses = 0, *way = ir_new_array(c->cx->scratch, unsigned, c->f->next_block);
    price *of = ir_new_array(c->cx->scratch, price, ways + 1);
    for (uint32_t k = 0; k < c->body.n; k++) {
        const ir_block *b = c->body.data[k];
        if (ways && k) way[b->id] = way_of(c, way, b);
        if (!way[b->id]) add_price(c, b, of);
    }
    for (unsigned n = 1; n <= ways; n++) of[n] = of[0];
    for (uint32_t k = 0; k < c->body.n; k++)
        if (way[c->body.data[k]->id]) add_price(c, c->body.data[k], &of[way[c->body.data[k]->id]]);
    c->items = most < MOST_ITEMS ? most : MOST_ITEMS;
    for (unsigned n = ways ? 1 : 0; n <= ways; n++) {
        accesses += of[n].accesses;
        c->items = items_for(&of[n], c->items);
    }
    if (!accesses) c->items = 1;
}

/* ------------------------------------------------------------------------- one after the other */

/* Copies all blocks but the entry. */
static void copy_kernel(const coarse *c, ir_block_list *blocks, ir_clone_map *map) {
    ir_func *f = c->f;
    ir_arena *scratch = c->cx->scratch;
    foreach_block (b, f)
        if (b != f->first) *ir_push(scratch, blocks) = b;
    *map = (ir_clone_map){.value = ir_new_array(scratch, ir_inst *, f->next_id),
                          .block = ir_new_array(scratch, ir_block *, f->next_block),
                          .edge = ir_new_array(scratch, uint32_t, f->next_block)};
    ir_clone_region(f, blocks->data, blocks->n, map);
}

static void jump_instead(coarse *c, ir_block *from, ir_block *to) {
    ir_remove(from->last);
    ir_at_end(&c->b, from);
    ir_build_jmp(&c->b, to);
}

/* A loop over the items around a copy of the kernel.  Returns its header, whose other edge comes
 * with item 0. */
static ir_block *build_copy(coarse *c, ir_inst *first, ir_inst *distance) {
    ir_func *f = c->f;
    ir_block_list blocks = {0};
    ir_clone_map map;
    copy_kernel(c, &blocks, &map);
    ir_block *header = ir_block_new(f, NULL), *latch = ir_block_new(f, NULL),
             *end = ir_block_new(f, NULL);
    ir_inst *r = ir_build_phi(header, c->id);
    foreach_block (b, f) b->mark = 0;
    for (uint32_t k = 0; k < blocks.n; k++) {
        ir_block *copy = map.block[blocks.data[k]->id];
        copy->mark = 1;
        if (copy->last->op == IR_OP_ret) jump_instead(c, copy, latch);
    }
    ir_at_end(&c->b, latch);
    ir_inst *next = ir_build2(&c->b, IR_OP_add, c->id, r, ir_const(f, c->id, 1));
    ir_inst *more = ir_build2(&c->b, IR_OP_ult, IR_I1, next, ir_const(f, c->id, c->items));
    ir_build_br(&c->b, more, header, end);
    r = ir_append_arg(r, next);
    ir_at_end(&c->b, header);
    ir_inst *away = ir_build2(&c->b, IR_OP_mul, c->id, r, distance);
    ir_inst *id = ir_build2(&c->b, IR_OP_add, c->id, first, away);
    ir_build_jmp(&c->b, map.block[c->start->id]);
    foreach_use (u, first)
        if (ir_use_block(u)->mark) ir_set_arg(u->user, (unsigned)(u - u->user->arg), id);
    ir_at_end(&c->b, end);
    ir_build_ret(&c->b, NULL);
    header->loop_hint = IR_LOOP_NO_UNROLL;
    return header;
}

/* --------------------------------------------------------------------------------- all at once */

static ir_inst *for_item(const coarse *c, ir_inst *v, unsigned r) {
    ir_inst *own = r && v->block && v->id < c->nvalues ? c->of[r][v->id] : NULL;
    return own ? own : v;
}

static void repeat(coarse *c, const ir_inst *i) {
    ir_inst **args = ir_new_array(c->cx->scratch, ir_inst *, i->nargs + 1u);
    for (unsigned r = 1; r < c->items; r++) {
        for (unsigned n = 0; n < i->nargs; n++) args[n] = for_item(c, ir_arg(i, n), r);
        const ir_args all = {i->nargs, args};
        c->b.loc = i->loc;
        ir_inst *copy = ir_has_flag(i, F_PURE)
                            ? ir_build(&c->b, (ir_op)i->op, i->type, ir_attrs_of(i), all)
                            : ir_build_raw(&c->b, (ir_op)i->op, i->type, ir_attrs_of(i), all);
        if (i->type != IR_VOID) c->of[r][i->id] = copy;
    }
}

/* Its arguments are those of the first item until all items are there. */
static void repeat_phi(coarse *c, ir_inst *phi, ir_value_list *phis) {
    for (unsigned r = 1; r < c->items; r++) {
        ir_inst *copy = ir_build_phi(phi->block, phi->type);
        for (unsigned n = 0; n < phi->nargs; n++) copy = ir_append_arg(copy, ir_arg(phi, n));
        c->of[r][phi->id] = copy;
    }
    *ir_push(c->cx->scratch, phis) = phi;
}

static void repeat_block(coarse *c, ir_block *b, ir_value_list *phis) {
    foreach_inst (i, b) {
        if (i->id >= c->nvalues || !c->varies[i->id] || ir_is_terminator(i)) continue;
        if (i->op == IR_OP_phi) {
            repeat_phi(c, i, phis);
        } else {
            ir_before(&c->b, i->next);
            repeat(c, i);
        }
    }
}

/* The way on from all guards, for all items; 1 where only one of them differs. */
static ir_inst *all_go_on(coarse *c, unsigned guard, ir_inst *before) {
    const ir_inst *branch = c->guard[guard]->last;
    ir_inst *cond = ir_arg(branch, 0);
    const unsigned n = c->varies[cond->id] ? c->items : 1;
    for (unsigned r = 0; r < n; r++) {
        ir_inst *on = for_item(c, cond, r);
        if (c->side[guard]) on = ir_build2(&c->b, IR_OP_xor, IR_I1, on, ir_const(c->f, IR_I1, 1));
        before = before ? ir_build2(&c->b, IR_OP_and, IR_I1, before, on) : on;
    }
    return before;
}

/* Guards jump on; the last one leads to the copy unless all items go on. */
static void decide_at_once(coarse *c, ir_block *one_by_one) {
    ir_block *last = c->guard[c->guards - 1];
    ir_inst *all = NULL;
    ir_before(&c->b, last->last);
    for (unsigned g = 0; g < c->guards; g++) all = all_go_on(c, g, all);
    for (unsigned g = 0; g + 1 < c->guards; g++) ir_make_jmp(c->guard[g], c->side[g]);
    if (c->side[c->guards - 1]) ir_swap_succs(last);
    ir_set_arg(last->last, 0, all);
    ir_redirect_edge(last, 1, one_by_one);
    ir_append_arg(one_by_one->first, ir_const(c->f, c->id, 0));
}

static void run_at_once(coarse *c, ir_block *one_by_one) {
    ir_value_list phis = {0};
    for (unsigned g = 0; g < c->guards; g++) repeat_block(c, c->guard[g], &phis);
    for (uint32_t k = 0; k < c->body.n; k++) repeat_block(c, c->body.data[k], &phis);
    for (uint32_t k = 0; k < phis.n; k++)
        for (unsigned r = 1; r < c->items; r++)
            for (unsigned n = 0; n < phis.data[k]->nargs; n++)
                ir_set_arg(c->of[r][phis.data[k]->id], n, for_item(c, ir_arg(phis.data[k], n), r));
    if (one_by_one) decide_at_once(c, one_by_one);
    ir_remove_unreachable(c->f);
}

/* ------------------------------------------------------------------------------------- queries */

/* What the entry has is in a block of its own then. */
static void leave_entry(coarse *c) {
    ir_block *entry = c->f->first;
    c->start = ir_split_block(entry, entry->first);
    if (c->guards)
        c->guard[0] = c->start;
    else
        c->body.data[0] = c->start;
    ir_at_end(&c->b, entry);
    ir_build_jmp(&c->b, c->start);
}

/* Puts v in place of all queries along the axis but those of the entry. */
static void answer(const coarse *c, ir_op op, ir_inst *v) {
    foreach_block (b, c->f) {
        if (b == c->f->first) continue;
        foreach_inst (i, b) {
            if (!is_query_along(i, op, c->axis)) continue;
            ir_replace_uses(i, v);
            ir_remove(i);
        }
    }
}

static ir_inst *query(coarse *c, ir_op op) { return ir_build_query(&c->b, op, c->id, c->axis); }

static void coarsen(coarse *c) {
    ir_func *f = c->f;
    unify_queries(c);
    find_varying(c);
    leave_entry(c);
    ir_before(&c->b, f->first->last);
    ir_inst *distance = query(c, IR_OP_local_size), *group = query(c, IR_OP_group_id);
    ir_inst *more = ir_build2(&c->b, IR_OP_mul, c->id, group, ir_const(f, c->id, c->items - 1));
    more = ir_build2(&c->b, IR_OP_mul, c->id, more, distance);
    ir_inst *first = ir_build2(&c->b, IR_OP_add, c->id, query(c, IR_OP_global_id), more);
    ir_inst *size = ir_build2(&c->b, IR_OP_mul, c->id, query(c, IR_OP_global_size),
                              ir_const(f, c->id, c->items));
    answer(c, IR_OP_global_id, first);
    answer(c, IR_OP_global_size, size);
    ir_block *one_by_one = c->guards ? build_copy(c, first, distance) : NULL;
    ir_before(&c->b, f->first->last);
    c->nvalues = f->next_id;
    for (unsigned r = 1; r < c->items; r++) {
        c->of[r] = ir_new_array(c->cx->scratch, ir_inst *, c->nvalues);
        ir_inst *before = r > 1 ? c->of[r - 1][first->id] : first;
        c->of[r][first->id] = ir_build2(&c->b, IR_OP_add, c->id, before, distance);
    }
    run_at_once(c, one_by_one);
    f->attrs.coarsened[c->axis] = c->items;
    ir_merge_block(f->first);
}

/* Does:  makes each thread run up to `coarsen` work-items, a group apart along x or y.
 * Needs: code of one work-item, in which functions are inlined and variables are values.
 * Leaves: `coarsened` at the kernel: how many items of a launch along each axis a thread runs; the
 *         launch has as many times fewer groups, and ids and sizes of threads.
 * Gives up: on kernels that can tell their groups, have memory of their own, calls or atomics, or
 *         branches after the first ones that depend on the item. */
bool pass_coarsen(ir_func *f, pass_ctx *cx) {
    coarse c = {.f = f, .cx = cx};
    if (cx->coarsen < 2 || !is_candidate(f, cx->scratch) || !find_id_type(&c)) return false;
    if (!find_axis(&c)) return false;
    ir_builder_init(&c.b, f);
    c.start = f->first;
    find_guards(&c);
    c.items = 1;
    if (find_body(&c)) choose_items(&c, cx->coarsen);
    if (c.items < 2) return false;
    coarsen(&c);
    return true;
}
