/* large_mach.h — large functions of the target of shapes, in four shapes:
 *
 *   one block of n instructions
 *   a chain of n / 10 small blocks, some of which jump over the next one
 *   loops in loops, with n / 16 instructions before and after each
 *   n / 10 blocks that all lead to one, with phis for values of each
 *
 * Each instruction reads recent values mostly, so some are live at once; now and then one that was
 * made long ago.
 */
#ifndef SPVFUSE_TESTS_LARGE_MACH_H
#define SPVFUSE_TESTS_LARGE_MACH_H

#include "tests/codegen/regalloc/shapes.h"
#include "tests/random.h"

enum { LARGE_SHAPES = 4, LARGE_DEPTH = 8, LARGE_FAR = 500, LARGE_PHIS = 3 };

typedef struct {
    ir_func *f;
    ir_builder b;
    uint64_t state;
    ir_vec(ir_inst *) made; /* in r; those that dominate the place at work */
    unsigned reach;         /* how far back operands are, mostly */
} large_maker;

static inline uint32_t large_below(large_maker *k, uint32_t n) { return draw_below(&k->state, n); }

static inline ir_inst *large_operand(large_maker *k) {
    uint32_t reach = large_below(k, 50) ? k->reach : LARGE_FAR;
    if (reach > k->made.n) reach = k->made.n;
    return k->made.data[k->made.n - 1 - large_below(k, reach)];
}

static inline void large_inst(large_maker *k) {
    static const shape_row rows[] = {SHAPE_ADD, SHAPE_SUB, SHAPE_ADD,  SHAPE_SUB,
                                     SHAPE_SHL, SHAPE_OUT, SHAPE_MULH, SHAPE_SET};
    shape_row row = k->made.n < 4 ? SHAPE_SET : rows[large_below(k, 8)];
    if (large_below(k, 400) == 0) row = SHAPE_BUSY;
    ir_inst *args[CG_MAX_ARGS];
    if (k->made.n == 0) row = SHAPE_SET;
    for (unsigned n = 0; n < shape_operands(row); n++) args[n] = large_operand(k);
    ir_inst *i = ir_build_raw(&k->b, IR_OP_mach, shape_result(row), ir_with_imm(shape_imm(row, 0)),
                              (ir_args){shape_operands(row), args});
    if (i->type != IR_VOID) *ir_push(&k->f->module->arena, &k->made) = i;
}

static inline void large_body(large_maker *k, uint32_t n) {
    while (n--) large_inst(k);
}

/* Ends the block at work; two successors: a branch. */
static inline void large_end(large_maker *k, ir_block *to, ir_block *other) {
    ir_inst *args[] = {large_operand(k), large_operand(k)};
    ir_block *b = k->b.block;
    unsigned n = other ? 2 : 0;
    ir_inst *i = ir_inst_new(k->f, other ? IR_OP_mach_br : IR_OP_jmp, IR_VOID, n);
    for (unsigned a = 0; a < n; a++) ir_set_arg(i, a, args[a]);
    if (other) i->imm = shape_imm(SHAPE_BR, 0);
    ir_insert(i, b, NULL);
    ir_set_succs(b, other ? 2 : 1, (ir_block *[]){to, other});
    ir_at_end(&k->b, to);
}

static inline void large_chain(large_maker *k, uint32_t blocks) {
    for (uint32_t n = 0; n < blocks; n++) {
        ir_block *side = ir_block_new(k->f, NULL), *next = ir_block_new(k->f, NULL);
        large_body(k, 5);
        large_end(k, side, next);
        uint32_t keep = k->made.n;
        large_body(k, 5);
        large_end(k, next, NULL);
        k->made.n = keep;
    }
}

static inline void large_loops(large_maker *k, uint32_t n) {
    ir_block *head[LARGE_DEPTH];
    for (unsigned d = 0; d < LARGE_DEPTH; d++) {
        head[d] = ir_block_new(k->f, NULL);
        large_body(k, n);
        large_end(k, head[d], NULL);
    }
    for (unsigned d = LARGE_DEPTH; d > 0; d--) {
        ir_block *out = ir_block_new(k->f, NULL);
        large_body(k, n);
        large_end(k, head[d - 1], out);
        ir_at_end(&k->b, out);
    }
}

static inline void large_star(large_maker *k, uint32_t blocks) {
    ir_block *join = ir_block_new(k->f, NULL);
    ir_inst *phi[LARGE_PHIS];
    for (unsigned n = 0; n < LARGE_PHIS; n++) phi[n] = ir_build_phi(join, IR_I32);
    for (uint32_t b = 0; b < blocks; b++) {
        ir_block *next = ir_block_new(k->f, NULL);
        large_body(k, 8);
        large_end(k, next, join);
        for (unsigned n = 0; n < LARGE_PHIS; n++) phi[n] = ir_append_arg(phi[n], large_operand(k));
    }
    large_end(k, join, NULL);
    for (unsigned n = 0; n < LARGE_PHIS; n++) phi[n] = ir_append_arg(phi[n], large_operand(k));
    k->made.n = 0;
    for (unsigned n = 0; n < LARGE_PHIS; n++) *ir_push(&k->f->module->arena, &k->made) = phi[n];
}

static inline ir_func *large_mach(ir_module *m, unsigned shape, uint32_t n, unsigned reach) {
    large_maker k = {.f = ir_func_new(m, "f", IR_I32, 0, NULL), .state = 1, .reach = reach};
    ir_builder_init(&k.b, k.f);
    ir_at_end(&k.b, ir_block_new(k.f, NULL));
    large_body(&k, 4);
    if (shape == 0) large_body(&k, n);
    if (shape == 1) large_chain(&k, n / 10);
    if (shape == 2) large_loops(&k, n / 16);
    if (shape == 3) large_star(&k, n / 10);
    ir_build_ret(&k.b, large_operand(&k));
    k.f->level = L_MACHINE;
    return k.f;
}

#endif
