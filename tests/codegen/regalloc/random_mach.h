/* random_mach.h — small random functions of the target of shapes.
 *
 *   random_mach(m, source) -> func @f at level machine
 *
 * Any block may go to any other one but the entry, so loops have several entries, edges are double
 * and critical, and loops may not end: runs are cut off.  Values are used wherever their definition
 * dominates, so they live long and many at a time; phis take values and constants; operands that
 * must be in registers may be constants.  The choices are bytes as far as there are any, and
 * pseudo-random from then on.
 */
#ifndef SPVFUSE_TESTS_RANDOM_MACH_H
#define SPVFUSE_TESTS_RANDOM_MACH_H

#include "tests/codegen/regalloc/shapes.h"
#include "tests/random.h"

enum { MACH_BLOCKS = 16, MACH_PHIS = 6, MACH_BODY = 24 };

typedef struct {
    const uint8_t *data; /* choices, then */
    size_t n, at;
    uint64_t state; /* random numbers */
} mach_source;

typedef ir_vec(ir_inst *) mach_pool;

typedef struct {
    mach_source *src;
    ir_func *f;
    ir_builder b;
    unsigned nblocks, body; /* the most instructions of a block */
    ir_block *block[MACH_BLOCKS];
    mach_pool pool[MACH_BLOCKS][SHAPE_CLASSES]; /* by block id: what is there at its end */
    mach_pool *here;
} mach_maker;

static inline uint32_t mach_below(mach_source *s, uint32_t n) {
    if (s->at < s->n) return s->data[s->at++] % n;
    return draw_below(&s->state, n);
}

static inline ir_type mach_type(unsigned class) {
    static const ir_type types[] = {IR_I32, IR_F32, IR_I1};
    return types[class];
}

static inline unsigned mach_class(ir_type t) { return shapes_target.class_of(&shapes_target, t); }

static inline ir_inst *mach_offer(mach_maker *k, ir_inst *i) {
    if (i->type != IR_VOID) *ir_push(&k->f->module->arena, &k->here[mach_class(i->type)]) = i;
    return i;
}

static inline ir_inst *mach_leaf(mach_maker *k, ir_type t) {
    uint64_t bits = mach_below(k->src, 200);
    return ir_const(k->f, t, ir_is_bool(t) ? bits & 1 : bits);
}

/* --------------------------------------------------------------------------------- instructions */

static inline ir_inst *mach_build(mach_maker *k, shape_row row, ir_inst *const *args) {
    int32_t number = row == SHAPE_SET ? (int32_t)mach_below(k->src, 256) : 0;
    return mach_offer(k, ir_build_raw(&k->b, IR_OP_mach, shape_result(row),
                                      ir_with_imm(shape_imm(row, number)),
                                      (ir_args){shape_operands(row), args}));
}

/* Often something recent, sometimes something old. */
static inline ir_inst *mach_operand(mach_maker *k, ir_type t) {
    mach_pool *p = &k->here[mach_class(t)];
    if (mach_below(k->src, 20) == 0) return mach_leaf(k, t);
    if (p->n) {
        uint32_t range = mach_below(k->src, 2) && p->n > 6 ? 6 : p->n;
        return p->data[p->n - 1 - mach_below(k->src, range)];
    }
    ir_inst *set = mach_build(k, SHAPE_SET, NULL);
    if (ir_is_float(t)) return mach_build(k, SHAPE_TO_V, &set);
    return ir_is_bool(t) ? mach_build(k, SHAPE_LESS, (ir_inst *[]){set, set}) : set;
}

static inline ir_inst *mach_random(mach_maker *k) {
    ir_inst *args[CG_MAX_ARGS];
    uint32_t what = mach_below(k->src, SHAPE_BR + 8);
    if (what >= SHAPE_BR + 6) {
        ir_inst *v = mach_operand(k, mach_type(mach_below(k->src, SHAPE_CLASSES)));
        return mach_offer(k, ir_build_raw(&k->b, IR_OP_move, v->type, IR_PLAIN, IR_ARGS(v)));
    }
    static const shape_row plain[] = {SHAPE_SET, SHAPE_ADD, SHAPE_SUB,
                                      SHAPE_OUT, SHAPE_ADD, SHAPE_VADD};
    shape_row row = what < SHAPE_BR ? (shape_row)what : plain[what - SHAPE_BR];
    bool rare = row == SHAPE_CALL || row == SHAPE_BUSY;
    if (rare && mach_below(k->src, 3)) row = SHAPE_SUB;
    for (unsigned n = 0; n < shape_operands(row); n++)
        args[n] = mach_operand(k, shape_operand(row, n));
    return mach_build(k, row, args);
}

static inline void mach_arrivals(mach_maker *k) {
    for (unsigned r = 0; r < 6; r++) {
        ir_imm imm = {.bits = r};
        if (mach_below(k->src, 2))
            mach_offer(k, ir_build_raw(&k->b, IR_OP_reg_in, IR_I32, ir_with_imm(imm), IR_NO_ARGS));
        if (r < 4 && mach_below(k->src, 3) == 0)
            mach_offer(k, ir_build_raw(&k->b, IR_OP_reg_in, IR_F32, ir_with_imm(imm), IR_NO_ARGS));
    }
}

/* --------------------------------------------------------------------------------- control flow */

/* Successors of every block, and which blocks the entry reaches. */
typedef struct {
    unsigned n[MACH_BLOCKS], to[MACH_BLOCKS][2];
    bool reached[MACH_BLOCKS];
} mach_graph;

static inline void mach_reach(mach_graph *g, unsigned nblocks) {
    g->reached[0] = true;
    for (unsigned round = 0; round < nblocks; round++)
        for (unsigned b = 0; b < nblocks; b++)
            for (unsigned e = 0; g->reached[b] && e < g->n[b]; e++) g->reached[g->to[b][e]] = true;
}

static inline void mach_edges(mach_maker *k) {
    mach_graph g = {0};
    ir_block *block[MACH_BLOCKS] = {0};
    unsigned n = 1 + mach_below(k->src, MACH_BLOCKS);
    for (unsigned b = 0; b < n; b++) {
        g.n[b] = n == 1 ? 0 : (mach_below(k->src, 8) + 5) / 6;
        for (unsigned e = 0; e < g.n[b]; e++) g.to[b][e] = 1 + mach_below(k->src, n - 1);
    }
    mach_reach(&g, n);
    for (unsigned b = 0; b < n; b++)
        if (g.reached[b]) k->block[k->nblocks++] = block[b] = ir_block_new(k->f, NULL);
    for (unsigned b = 0; b < n; b++) {
        if (!g.reached[b]) continue;
        ir_block *to[] = {block[g.to[b][0]], block[g.to[b][1]]};
        ir_set_succs(block[b], g.n[b], to);
    }
}

/* The terminator of a block whose edges are there already. */
static inline void mach_terminate(mach_maker *k, ir_block *b) {
    bool loop = mach_below(k->src, 2);
    shape_row row = loop ? SHAPE_LOOP : SHAPE_BR;
    ir_op op = b->nsucc == 2 ? IR_OP_mach_br : b->nsucc == 1 ? IR_OP_jmp : IR_OP_ret;
    unsigned nargs = b->nsucc == 2 ? shape_operands(row) : b->nsucc == 0;
    ir_inst *args[2];
    for (unsigned n = 0; n < nargs; n++) args[n] = mach_operand(k, IR_I32);
    ir_inst *i = ir_inst_new(k->f, op, IR_VOID, nargs);
    for (unsigned n = 0; n < nargs; n++) ir_set_arg(i, n, args[n]);
    if (op == IR_OP_mach_br) i->imm = shape_imm(row, 0);
    ir_insert(i, b, NULL);
}

static inline void mach_phis(mach_maker *k, ir_block *b) {
    ir_inst *args[2 * MACH_BLOCKS];
    for (unsigned n = b->npred ? mach_below(k->src, MACH_PHIS) : 0; n > 0; n--) {
        ir_type t = mach_type(mach_below(k->src, SHAPE_CLASSES));
        for (uint32_t p = 0; p < b->npred; p++) args[p] = ir_const(k->f, t, 0);
        mach_offer(k, ir_build_raw(&k->b, IR_OP_phi, t, IR_PLAIN, (ir_args){b->npred, args}));
    }
}

static inline void mach_block(mach_maker *k, ir_block *b) {
    const ir_block *up = ir_dominators(k->f)->idom[b->id];
    k->here = k->pool[b->id];
    for (unsigned c = 0; up && c < SHAPE_CLASSES; c++) {
        const mach_pool *from = &k->pool[up->id][c];
        for (uint32_t n = 0; n < from->n; n++)
            *ir_push(&k->f->module->arena, &k->here[c]) = from->data[n];
    }
    ir_at_end(&k->b, b);
    mach_phis(k, b);
    if (!up) mach_arrivals(k);
    for (uint32_t n = mach_below(k->src, k->body + 1); n > 0; n--) mach_random(k);
    mach_terminate(k, b);
}

static inline ir_inst *mach_argument(mach_maker *k, const ir_block *pred, ir_type t) {
    const mach_pool *p = &k->pool[pred->id][mach_class(t)];
    if (p->n == 0 || mach_below(k->src, 8) == 0) return mach_leaf(k, t);
    return p->data[mach_below(k->src, p->n)];
}

static inline void mach_fill_phis(mach_maker *k, const ir_block *b) {
    foreach_phi (phi, b)
        for (uint32_t p = 0; p < b->npred; p++) {
            unsigned first = ir_pred_index(b, b->pred[p]);
            ir_set_arg(phi, p,
                       first < p ? ir_arg(phi, first) : mach_argument(k, b->pred[p], phi->type));
        }
}

static inline ir_func *random_mach(ir_module *m, mach_source *src) {
    mach_maker k = {.src = src, .f = ir_func_new(m, "f", IR_I32, 0, NULL)};
    k.body = mach_below(src, 4) ? MACH_BODY : 2;
    ir_builder_init(&k.b, k.f);
    mach_edges(&k);
    const ir_order *o = &ir_dominators(k.f)->order;
    for (uint32_t n = 0; n < o->n; n++) mach_block(&k, o->rpo[n]);
    for (unsigned b = 0; b < k.nblocks; b++) mach_fill_phis(&k, k.block[b]);
    k.f->level = L_MACHINE;
    return k.f;
}

#endif
