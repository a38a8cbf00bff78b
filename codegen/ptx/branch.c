/* branch.c — the ends of blocks: phis, which are copies at the ends of the blocks that lead to
 * them, branches and switches.
 *
 * Copies of an edge are simultaneous: where one of them reads a phi of the same block, all go
 * through registers of their own.  ptxas makes SSA form again and removes them.  An edge out of a
 * block with several successors has its copies in a block of its own.
 */
#include "codegen/ptx/ptx.h"

/* ----------------------------------------------------------------------------------------- phis */

const char *ptx_block_name(ptx_func *fn, const ir_block *b) {
    return ir_sprintf(fn->w->arena, "$L%u", b->id);
}

/* Does a phi of b get another one of b from its predecessor number `from`? */
static bool phis_depend(const ir_block *b, unsigned from) {
    foreach_phi (phi, b) {
        const ir_inst *v = ir_arg(phi, from);
        if (v->op == IR_OP_phi && v->block == b && v != phi) return true;
    }
    return false;
}

typedef struct {
    ptx_class class;
    const char *to, *from;
} copy;

static void write_copies(ptx_func *fn, const ir_block *b, unsigned from) {
    ir_vec(copy) copies = {0};
    bool apart = phis_depend(b, from);
    foreach_phi (phi, b) {
        const ir_inst *v = ir_arg(phi, from);
        if (v == phi || v->op == IR_OP_undef) continue;
        for (unsigned lane = 0; lane < ir_lanes(phi->type); lane++) {
            ptx_class c = ptx_class_of(fn->w->m, ir_elem(phi->type));
            const char *to = ptx_result(fn, phi, lane), *value = ptx_operand(fn, v, lane);
            const char *first = apart ? ptx_temporary(fn, c) : to;
            ptx_move(fn, c, first, value);
            if (apart) *ir_push(fn->w->arena, &copies) = (copy){c, to, first};
        }
    }
    foreach_in (const copy, c, copies) ptx_move(fn, c->class, c->to, c->from);
}

/* ------------------------------------------------------------------------------------- branches */

static void go_on(ptx_func *fn, const ir_block *b, unsigned edge) {
    const ir_block *to = b->succ[edge];
    write_copies(fn, to, ptx_place_of_edge(fn, b, edge));
    if (to != b->next) ptx_put(fn, "bra.uni %s", ptx_block_name(fn, to));
}

/* An edge whose copies are written after the branch, at a label of their own. */
typedef struct {
    unsigned edge;
    const char *label;
} late_edge;
typedef ir_vec(late_edge) late_edges;

static bool has_phis(const ir_block *b) { return b->first->op == IR_OP_phi; }

/* The label to jump to for an edge. */
static const char *edge_label(ptx_func *fn, const ir_block *b, unsigned edge, late_edges *late) {
    const ir_block *to = b->succ[edge];
    if (!has_phis(to)) return ptx_block_name(fn, to);
    const char *label = ptx_new_label(fn);
    *ir_push(fn->w->arena, late) = (late_edge){edge, label};
    return label;
}

static void write_late_edges(ptx_func *fn, const ir_block *b, const late_edges *late) {
    foreach_in (const late_edge, e, *late) {
        ptx_label(fn, e->label);
        write_copies(fn, b->succ[e->edge], ptx_place_of_edge(fn, b, e->edge));
        ptx_put(fn, "bra.uni %s", ptx_block_name(fn, b->succ[e->edge]));
    }
}

/* Is `to` outside of a loop whose header has no phi that is used outside?  Liveness would say the
 * same, but takes longer; it is asked if there are many uses. */
static bool is_past_all_uses(ptx_func *fn, const ir_block *header, const ir_block *to) {
    enum { MOST = 64 };
    const ir_loops *loops = ir_loop_tree(fn->f);
    const ir_loop *loop = loops->of[header->id];
    unsigned uses = 0;
    if (!loop || loop->header != header || loop->irreducible || ir_in_loop(loops, to, loop))
        return false;
    foreach_phi (phi, header)
        foreach_use (u, phi)
            if (++uses > MOST || !ir_in_loop(loops, ir_use_block(u), loop)) return false;
    return true;
}

static bool is_any_live(ptx_func *fn, const ir_block *phis, const ir_block *at) {
    if (is_past_all_uses(fn, phis, at)) return false;
    const ir_live *live = ir_liveness(fn->f);
    foreach_phi (phi, phis)
        if (ir_is_live(live, &live->in[at->id], phi)) return true;
    return false;
}

/* Does what follows edge `edge` of b need a phi that the other edge gives a new value? */
static bool needs_old_phis(ptx_func *fn, const ir_block *b, unsigned edge) {
    const ir_block *to = b->succ[edge], *other = b->succ[!edge];
    unsigned from = ptx_place_of_edge(fn, b, edge);
    foreach_phi (phi, other)
        if (phi == ir_arg(ir_term(b), 0)) return true;
    if (is_any_live(fn, other, to)) return true;
    foreach_phi (phi, to) {
        const ir_inst *v = ir_arg(phi, from);
        if (v->op == IR_OP_phi && v->block == other) return true;
    }
    return false;
}

/* Should ptxas unroll a loop that ends with this branch?  It does not pay if the loop has a second
 * test, which each copy needs, nor if loads of several work-items are there together already. */
static bool may_be_unrolled(const ptx_func *fn, const ir_block *b) {
    const ir_op test = (ir_op)ir_arg(ir_term(b), 0)->op;
    const uint32_t *items = fn->f->attrs.coarsened;
    return test != IR_OP_and && test != IR_OP_or && !(items[0] || items[1] || items[2]);
}

/* The edge of a branch to the header of a loop whose copies can be made before the branch; 2: there
 * is none.  Such a branch is the loop's last instruction, and ptxas unrolls those loops. */
static unsigned edge_to_header(ptx_func *fn, const ir_block *b) {
    if (!may_be_unrolled(fn, b)) return 2;
    for (unsigned edge = 0; edge < 2; edge++) {
        const ir_block *to = b->succ[edge];
        bool back =
            has_phis(to) && to != b->succ[!edge] && ir_block_dominates(ir_dominators(fn->f), to, b);
        if (back && !needs_old_phis(fn, b, !edge)) return edge;
    }
    return 2;
}

/* Do all threads of a warp go the same way?  ptxas unrolls no loops whose branch back says so. */
static const char *uniform(ptx_func *fn, const ir_block *b, unsigned edge) {
    bool back = ir_block_dominates(ir_dominators(fn->f), b->succ[edge], b);
    return ir_term(b)->flags & IR_UNIFORM && !back ? ".uni" : "";
}

static void write_branch(ptx_func *fn, const ir_block *b, const ir_inst *i) {
    late_edges late = {0};
    unsigned header = edge_to_header(fn, b);
    if (header < 2) write_copies(fn, b->succ[header], ptx_place_of_edge(fn, b, header));
    const char *test = ptx_register(fn, ir_arg(i, 0), 0);
    unsigned jump = header < 2 ? header : b->succ[0] == b->next; /* the edge that is a jump */
    ptx_put(fn, "@%s%s bra%s %s", jump ? "!" : "", test, uniform(fn, b, jump),
            header < 2 ? ptx_block_name(fn, b->succ[header]) : edge_label(fn, b, jump, &late));
    write_copies(fn, b->succ[!jump], ptx_place_of_edge(fn, b, !jump));
    if (late.n || b->succ[!jump] != b->next)
        ptx_put(fn, "bra.uni %s", ptx_block_name(fn, b->succ[!jump]));
    write_late_edges(fn, b, &late);
}

/* A switch as a table of labels, of the numbers from `least` on, which are extended by sign. */
typedef struct {
    int64_t least;
    uint64_t span; /* from the least to the greatest one */
} case_table;

enum { LEAST_TABLE = 6, MOST_GAPS = 3 }; /* cases; places of the table for each */

static int64_t case_number(const ptx_func *fn, const ir_inst *i, unsigned n) {
    const ir_inst *v = ir_arg(i, n);
    return ir_sext(v->imm.bits, ir_bits(fn->w->m, v->type));
}

/* False: there are too few of them, or they lie too far apart. */
static bool find_table(const ptx_func *fn, const ir_inst *i, case_table *out) {
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (unsigned n = 1; n < i->nargs; n++) {
        const int64_t number = case_number(fn, i, n);
        if (number < least) least = number;
        if (number > most) most = number;
    }
    *out = (case_table){least, (uint64_t)most - (uint64_t)least};
    return i->nargs > LEAST_TABLE && out->span < (uint64_t)i->nargs * MOST_GAPS;
}

/* The table has the labels of the cases, and in gaps that of the default. */
static void jump_by_table(ptx_func *fn, const ir_block *b, const ir_inst *i, const case_table *t,
                          late_edges *late) {
    const char *otherwise = edge_label(fn, b, 0, late), *test = ptx_temporary(fn, PTX_PRED);
    const char **target = ir_new_array(fn->w->arena, const char *, t->span + 1);
    bool is_wide = ir_bits(fn->w->m, ir_arg(i, 0)->type) == 64;
    const char *at = ptx_temporary(fn, PTX_B32), *table = ptx_new_label(fn), *all = at;
    const char *x = ptx_extended(fn, ir_arg(i, 0), 0, true);
    if (is_wide) all = ptx_temporary(fn, PTX_B64);
    for (unsigned n = 1; n < i->nargs; n++)
        target[(uint64_t)case_number(fn, i, n) - (uint64_t)t->least] = edge_label(fn, b, n, late);
    ptx_put(fn, "sub.s%d %s, %s, %lld", is_wide ? 64 : 32, all, x, (long long)t->least);
    ptx_put(fn, "setp.gt.u%d %s, %s, %llu", is_wide ? 64 : 32, test, all,
            (unsigned long long)t->span);
    ptx_put(fn, "@%s bra%s %s", test, uniform(fn, b, 0), otherwise);
    if (is_wide) ptx_put(fn, "cvt.u32.u64 %s, %s", at, all);
    ir_putf(&fn->body, "%s: .branchtargets ", table);
    for (uint64_t n = 0; n <= t->span; n++)
        ir_putf(&fn->body, "%s%s", n ? ", " : "", target[n] ? target[n] : otherwise);
    ptx_end(fn);
    ptx_put(fn, "brx.idx%s %s, %s", ir_term(b)->flags & IR_UNIFORM ? ".uni" : "", at, table);
}

static void compare_with_cases(ptx_func *fn, const ir_block *b, const ir_inst *i,
                               late_edges *late) {
    const ir_inst *x = ir_arg(i, 0);
    bool wide = ir_bits(fn->w->m, x->type) == 64;
    const char *value = ptx_extended(fn, x, 0, false);
    for (unsigned n = 1; n < i->nargs; n++) {
        const char *test = ptx_temporary(fn, PTX_PRED);
        ptx_put(fn, "setp.eq.%s %s, %s, %s", wide ? "u64" : "u32", test, value,
                ptx_extended(fn, ir_arg(i, n), 0, false));
        ptx_put(fn, "@%s bra%s %s", test, uniform(fn, b, n), edge_label(fn, b, n, late));
    }
    write_copies(fn, b->succ[0], ptx_place_of_edge(fn, b, 0));
    if (late->n || b->succ[0] != b->next) ptx_put(fn, "bra.uni %s", ptx_block_name(fn, b->succ[0]));
}

static void write_switch(ptx_func *fn, const ir_block *b, const ir_inst *i) {
    late_edges late = {0};
    case_table table;
    if (find_table(fn, i, &table))
        jump_by_table(fn, b, i, &table, &late);
    else
        compare_with_cases(fn, b, i, &late);
    write_late_edges(fn, b, &late);
}

void ptx_write_end(ptx_func *fn, const ir_block *b) {
    const ir_inst *i = ir_term(b);
    switch (i->op) {
    case IR_OP_jmp: go_on(fn, b, 0); break;
    case IR_OP_br: write_branch(fn, b, i); break;
    case IR_OP_switch: write_switch(fn, b, i); break;
    case IR_OP_ret: ptx_put(fn, "ret"); break;
    default: ptx_put(fn, "trap"); break;
    }
}
