/* rows.c — several rows of work-items in one iteration: unroll-and-jam of the loop over y.
 *
 * In a product of matrices, the items of a column load the same elements of one factor in each
 * iteration of their inner loops.  If R rows run at once, what does not depend on y exists once,
 * and what does R times, in the same blocks (Allen and Kennedy, "Optimizing compilers for modern
 * architectures", 2001).  No branch may depend on y, so all rows take the same way.
 *
 * Groups have the same number of rows, but the end of the range may cut one off.  If R divides that
 * number, a group that is cut off repeats its last row: row r of an iteration is
 * min(y + r, end - 1).  Rows go in step, one instruction after the other, and have only loads,
 * stores and operations without effects.  So copies of a row load the same, since nothing is stored
 * between their loads, and store the same to the same place.  Otherwise a copy of the loops does
 * the rows that are left:
 *
 *   setup -> [rows: start .. full] -> middle -> [copy: full .. end] -> after the loops
 *
 * Items do not depend on each other, so those of different rows may be executed in any order; each
 * item keeps its own.  Loads with an address that rows have in common see the same value, as all
 * analyses of uniform values assume.
 *
 * R is 2 or 4: as many as there are rows, and as fit into registers with two registers for each
 * value that goes around in the innermost loops.  More rows share little more, as the loads of each
 * row remain, and their code was larger and no faster.
 */
#include "passes/vectorize/simd.h"

enum {
    MOST_ROWS = 4,
    MOST_SIZE = 400, /* instructions of the loops */
    SPARE = 4,       /* registers */
    FEW = 4          /* shared loads that pay without a loop inside */
};

typedef struct {
    ir_func *f;
    pass_ctx *cx;
    const pass_uniformity *by_row, *by_item;
    simd_loop loop;       /* over y */
    ir_block_list blocks; /* of it, in reverse postorder */
    unsigned rows;
    uint32_t mark;            /* of the blocks */
    uint32_t nvalues;         /* ids of what was there before are below */
    ir_inst **row[MOST_ROWS]; /* by value id: what it is in row r; NULL: the same */
    ir_builder b;
} jam;

/* ------------------------------------------------------------------------------------- legality */

static bool is_own_variable(const ir_inst *p) {
    while (p->op == IR_OP_ptradd || p->op == IR_OP_ptrcast) p = ir_arg(p, 0);
    return p->op == IR_OP_alloca ||
           (ir_is_ptr(p->type) && ir_space_of(p->type) == IR_PRIVATE && p->op == IR_OP_phi);
}

static bool may_repeat(const jam *j, const ir_inst *i) {
    bool access = i->op == IR_OP_load || i->op == IR_OP_store;
    foreach_use (u, i)
        if (u->user->block->mark != j->mark) return false;
    if (access && is_own_variable(ir_arg(i, i->op == IR_OP_store))) return false;
    if (access) return !(i->imm.mem.flags & IR_MEM_VOLATILE);
    return i->op == IR_OP_phi || ir_is_terminator(i) || ir_has_flag(i, F_PURE);
}

/* The counter has no uses but those of a counter, and nothing else goes from row to row. */
static bool has_plain_counter(const jam *j) {
    const simd_loop *l = &j->loop;
    const ir_inst *test = ir_arg(l->latch->last, 0), *next = ir_arg(test, 0);
    foreach_phi (phi, l->loop->header)
        if (phi != l->counter) return false;
    return ir_count_uses(test) == 1 && ir_count_uses(next) == 2 && l->exit->first->op != IR_OP_phi;
}

static bool is_legal(const jam *j) {
    unsigned size = 0;
    if (!has_plain_counter(j)) return false;
    for (uint32_t k = 0; k < j->blocks.n; k++) {
        const ir_block *b = j->blocks.data[k];
        if (b->nsucc > 1 && b != j->loop.latch && j->by_row->divergent[b->id]) return false;
        foreach_inst (i, b)
            if (++size > MOST_SIZE || !may_repeat(j, i)) return false;
    }
    return true;
}

/* --------------------------------------------------------------------------------------- profit */

/* What the innermost loops have for all lanes of items. */
typedef struct {
    unsigned depth;
    bool has_inner;   /* they are inside of the loop over x */
    unsigned shared;  /* loads that rows have in common */
    unsigned carried; /* values of each row that go around */
} contents;

static contents find_contents(const jam *j) {
    const ir_loops *loops = j->by_row->loops;
    contents c = {0};
    for (uint32_t k = 0; k < j->blocks.n; k++) {
        const ir_block *b = j->blocks.data[k];
        const ir_loop *own = loops->of[b->id];
        if (own->depth < c.depth || own == j->loop.loop) continue;
        if (own->depth > c.depth)
            c = (contents){.depth = own->depth,
                           .has_inner = !(own->header->loop_hint & IR_LOOP_ITEMS)};
        foreach_inst (i, b) {
            bool wide = j->by_item->varies[i->id], own_row = j->by_row->varies[i->id];
            c.shared += i->op == IR_OP_load && wide && !own_row;
            c.carried += i->op == IR_OP_phi && wide && own_row && own->header == b;
        }
    }
    return c;
}

/* The number of rows of a group that is not cut off by the end of the range; 0: it is not known. */
static uint64_t whole_rows(const jam *j) {
    const ir_inst *start = ir_arg(j->loop.counter, j->loop.entry), *end = j->loop.end;
    if (!ir_is_const(start) || start->imm.bits) return 0;
    if (end->op == IR_OP_umin && ir_is_const(ir_arg(end, 1))) end = ir_arg(end, 1);
    return ir_is_const(end) ? end->imm.bits : 0;
}

static unsigned choose_rows(const jam *j) {
    const contents c = find_contents(j);
    if (c.shared < (c.has_inner ? 1 : FEW)) return 1;
    const ir_target *t = j->cx->target;
    unsigned registers = t && t->vector_registers ? t->vector_registers : 16;
    unsigned carried = c.carried ? c.carried : 1, rows = MOST_ROWS;
    uint64_t whole = whole_rows(j);
    while (rows > 1 &&
           ((whole && rows > whole) || 2 * rows * carried + rows + 2 > registers - SPARE))
        rows /= 2;
    return rows;
}

/* --------------------------------------------------------------------------------------- copies */

static ir_inst *in_row(const jam *j, ir_inst *v, unsigned r) {
    ir_inst *own = v->block && v->id < j->nvalues ? j->row[r][v->id] : NULL;
    return own ? own : v;
}

static void repeat(jam *j, ir_inst *i) {
    ir_inst **args = ir_new_array(j->cx->scratch, ir_inst *, i->nargs + 1u);
    for (unsigned r = 1; r < j->rows; r++) {
        for (unsigned n = 0; n < i->nargs; n++) args[n] = in_row(j, ir_arg(i, n), r);
        ir_attrs attrs = ir_attrs_of(i);
        const ir_args all = {i->nargs, args};
        j->b.loc = i->loc;
        ir_inst *copy = ir_has_flag(i, F_PURE)
                            ? ir_build(&j->b, (ir_op)i->op, i->type, attrs, all)
                            : ir_build_raw(&j->b, (ir_op)i->op, i->type, attrs, all);
        if (i->type != IR_VOID) j->row[r][i->id] = copy;
    }
}

/* Its arguments are those of the first row until all rows are there. */
static void repeat_phi(jam *j, const ir_inst *phi, ir_value_list *phis) {
    for (unsigned r = 1; r < j->rows; r++) {
        ir_inst *copy = ir_build_phi(phi->block, phi->type);
        for (unsigned n = 0; n < phi->nargs; n++) copy = ir_append_arg(copy, ir_arg(phi, n));
        j->row[r][phi->id] = copy;
    }
    *ir_push(j->cx->scratch, phis) = (ir_inst *)phi;
}

static bool has_rows(const jam *j, const ir_inst *i) {
    const bool *varies = j->by_row->varies;
    const ir_inst *test = ir_arg(j->loop.latch->last, 0);
    if (i->id >= j->nvalues || i == test || i == ir_arg(test, 0) || i == j->loop.counter)
        return false;
    if (i->op == IR_OP_store) return varies[ir_arg(i, 0)->id] || varies[ir_arg(i, 1)->id];
    return i->type != IR_VOID && varies[i->id];
}

static void repeat_block(jam *j, ir_block *b, ir_value_list *phis) {
    foreach_inst (i, b) {
        if (!has_rows(j, i)) continue;
        if (i->op == IR_OP_phi) {
            repeat_phi(j, i, phis);
        } else {
            ir_before(&j->b, i->next);
            repeat(j, i);
        }
    }
}

/* Rows after the first have the next numbers, up to `last` if there is one. */
static void number_rows(jam *j, ir_inst *last) {
    ir_inst *y = j->loop.counter;
    ir_before(&j->b, ir_first_non_phi(y->block));
    for (unsigned r = 1; r < j->rows; r++) {
        ir_inst *n = ir_build(&j->b, IR_OP_add, y->type, ir_with_flags(IR_NSW | IR_NUW),
                              IR_ARGS(y, ir_const(j->f, y->type, r)));
        j->row[r][y->id] = last ? ir_build2(&j->b, IR_OP_umin, y->type, n, last) : n;
    }
}

static void repeat_blocks(jam *j, ir_inst *last) {
    ir_value_list phis = {0};
    number_rows(j, last);
    for (uint32_t k = 0; k < j->blocks.n; k++) repeat_block(j, j->blocks.data[k], &phis);
    for (uint32_t k = 0; k < phis.n; k++)
        for (unsigned r = 1; r < j->rows; r++) {
            const ir_inst *phi = phis.data[k];
            for (unsigned n = 0; n < phi->nargs; n++)
                ir_set_arg(j->row[r][phi->id], n, in_row(j, ir_arg(phi, n), r));
        }
}

/* ---------------------------------------------------------------------------------------- loops */

/* Copies the loops for rows that are left from `full` on; edge n of `middle` leads there. */
static void build_rest(jam *j, ir_block *setup, ir_inst *start, ir_inst *full) {
    const simd_loop *l = &j->loop;
    ir_func *f = j->f;
    ir_clone_map map = {.value = ir_new_array(j->cx->scratch, ir_inst *, f->next_id),
                        .block = ir_new_array(j->cx->scratch, ir_block *, f->next_block),
                        .edge = ir_new_array(j->cx->scratch, uint32_t, f->next_block)};
    ir_clone_region(f, j->blocks.data, j->blocks.n, &map);
    ir_block *choose = ir_block_new(f, NULL), *enter = ir_block_new(f, NULL),
             *middle = ir_block_new(f, NULL), *first = ir_block_new(f, NULL);
    ir_redirect_edge(setup, 0, choose);
    ir_at_end(&j->b, first);
    ir_build_jmp(&j->b, l->loop->header);
    ir_at_end(&j->b, choose);
    ir_build_br(&j->b, ir_build2(&j->b, IR_OP_ult, IR_I1, start, full), first, enter);
    ir_redirect_edge(l->latch, 1, middle);
    ir_at_end(&j->b, middle);
    ir_build_br(&j->b, ir_build2(&j->b, IR_OP_ult, IR_I1, full, l->end), enter, l->exit);
    ir_inst *from = ir_append_arg(ir_build_phi(enter, start->type), start);
    from = ir_append_arg(from, full);
    ir_at_end(&j->b, enter);
    ir_build_jmp(&j->b, map.block[l->loop->header->id]);
    ir_append_arg(map.value[l->counter->id], from);
    j->loop.counter = ir_append_arg(l->counter, start);
}

static void jam_rows(jam *j) {
    simd_loop *l = &j->loop;
    ir_block *h = l->loop->header, *from = h->pred[l->entry];
    ir_type t = l->counter->type;
    ir_inst *start = ir_arg(l->counter, l->entry), *test = ir_arg(l->latch->last, 0);
    ir_block *setup = ir_split_edge(from, from->succ[0] == h ? 0 : 1);
    ir_before(&j->b, setup->last);
    ir_inst *n = ir_build2(&j->b, IR_OP_sub, t, l->end, start);
    ir_inst *whole = ir_build2(&j->b, IR_OP_and, t, n, ir_const(j->f, t, ~(uint64_t)(j->rows - 1)));
    ir_inst *full = ir_build2(&j->b, IR_OP_add, t, start, whole);
    uint64_t group = whole_rows(j);
    bool cut_off = full != l->end, copies = cut_off && (!group || group % j->rows);
    ir_inst *last =
        cut_off && !copies ? ir_build2(&j->b, IR_OP_sub, t, l->end, ir_const(j->f, t, 1)) : NULL;
    if (copies) build_rest(j, setup, start, full);
    repeat_blocks(j, last);
    if (copies) ir_set_arg(test, 1, full);
    ir_set_arg(ir_arg(test, 0), 1, ir_const(j->f, t, j->rows));
    ir_count(j->f->module->cx, rows_loops, 1);
}

/* ------------------------------------------------------------------------------------- the pass */

static bool find_loop(jam *j) {
    simd s = {.f = j->f, .uniformity = j->by_row, .scalar = j->loop};
    if (!simd_find_loop(&s)) return false;
    j->loop = s.scalar;
    return true;
}

static const ir_loop *rows_loop(const ir_loops *loops, const ir_block *b) {
    const ir_loop *l = loops->of[b->id];
    while (l && !(l->header->loop_hint & IR_LOOP_ROWS)) l = l->parent;
    return l;
}

typedef ir_vec(jam) jam_list;

/* Lists the loops over rows, with their blocks. */
static void list_loops(const jam *like, jam_list *list) {
    const ir_order *order = &ir_dominators(like->f)->order;
    foreach_block (b, like->f) b->mark = 0;
    for (uint32_t k = 0; k < order->n; k++) {
        ir_block *b = order->rpo[k];
        const ir_loop *l = rows_loop(like->by_row->loops, b);
        if (!l) continue;
        if (l->header == b) {
            jam *j = ir_push(like->cx->scratch, list);
            *j = *like;
            j->loop.loop = l;
            j->mark = list->n;
            b->mark = j->mark;
        }
        b->mark = l->header->mark;
        if (b->mark) *ir_push(like->cx->scratch, &list->data[b->mark - 1].blocks) = b;
    }
}

/* Does:  runs 2 or 4 iterations of loops with the hint `rows` at once, where they share loads.
 * Needs: code of a work-group, with the loops that `regions` makes; what is the same for a row is
 *        computed before its loop (licm).
 * Leaves: a copy of the loops for rows that are left, if there may be less than run at once.
 * Gives up: on branches that depend on the row, and on values that go from row to row. */
bool pass_rows(ir_func *f, pass_ctx *cx) {
    pass_uniformity by_row, by_item;
    jam like = {.f = f, .cx = cx, .by_row = &by_row, .by_item = &by_item, .nvalues = f->next_id};
    jam_list list = {0};
    bool changed = false;
    if (f->level != L_GROUP || cx->lanes == 1) return false;
    pass_find_uniform_loops(f, cx->scratch, IR_LOOP_ROWS, &by_row);
    pass_find_uniform_loops(f, cx->scratch, IR_LOOP_ITEMS, &by_item);
    ir_builder_init(&like.b, f);
    list_loops(&like, &list);
    for (unsigned r = 1; r < MOST_ROWS && list.n; r++)
        like.row[r] = ir_new_array(cx->scratch, ir_inst *, f->next_id);
    for (uint32_t k = 0; k < list.n; k++) {
        jam *j = &list.data[k];
        memcpy(j->row, like.row, sizeof j->row);
        j->rows = find_loop(j) && is_legal(j) ? choose_rows(j) : 1;
    }
    for (uint32_t k = 0; k < list.n; k++) {
        if (list.data[k].rows == 1) continue;
        jam_rows(&list.data[k]);
        changed = true;
    }
    return changed;
}
