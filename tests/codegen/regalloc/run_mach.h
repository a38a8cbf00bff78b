/* run_mach.h — runs functions of the target of shapes: in SSA form, or with registers and slots.
 *
 * What can be seen of a run is one number: the effects, the blocks of the original function in the
 * order in which they were entered, and what is returned.  Runs end after so many blocks.
 * Instructions compute hashes of their operands, so reading a wrong register changes that number.
 * A register that an instruction clobbers is overwritten with rubbish, and so is the register of an
 * early result before the operands are read.
 */
#ifndef SPVFUSE_TESTS_RUN_MACH_H
#define SPVFUSE_TESTS_RUN_MACH_H

#include "tests/codegen/regalloc/shapes.h"

enum { MACH_VISITS = 200 };

typedef struct {
    const ir_func *f;
    const cg_allocation *a; /* NULL: SSA form */
    uint32_t old_blocks;    /* blocks from here on are new, and not seen */
    uint32_t *value;        /* by id: SSA form */
    uint32_t *slot;
    uint32_t reg[CG_MAX_CLASSES][CG_MAX_REGS];
    uint64_t seen;
    uint64_t rubbish;
} mach_run;

static inline unsigned run_class(const ir_inst *v) {
    return shapes_target.class_of(&shapes_target, v->type);
}

static inline uint32_t run_read(const mach_run *r, const ir_inst *v) {
    if (ir_is_const(v)) return (uint32_t)v->imm.bits;
    if (v->op == IR_OP_slot) return r->slot[cg_slot_of(v)];
    return r->a ? r->reg[run_class(v)][r->a->reg[v->id] % CG_MAX_REGS] : r->value[v->id];
}

static inline void run_write(mach_run *r, const ir_inst *v, uint32_t x) {
    if (ir_is_bool(v->type)) x &= 1;
    if (r->a)
        r->reg[run_class(v)][r->a->reg[v->id] % CG_MAX_REGS] = x;
    else
        r->value[v->id] = x;
}

static inline void run_see(mach_run *r, uint64_t x) { r->seen = ir_mix(r->seen, x); }

static inline uint32_t run_rubbish(mach_run *r) {
    return (uint32_t)(r->rubbish = ir_mix(r->rubbish, 1));
}

static inline void run_clobber(mach_run *r, const ir_inst *i) {
    cg_constraints constraints;
    cg_describe(&shapes_target, i, &constraints);
    for (unsigned c = 0; r->a && c < SHAPE_CLASSES; c++)
        for (unsigned n = 0; n < CG_MAX_REGS; n++)
            if (constraints.clobbers[c] >> n & 1) r->reg[c][n] = run_rubbish(r);
}

static inline void run_operands(mach_run *r, const ir_inst *i, uint32_t *out) {
    cg_constraints constraints;
    cg_describe(&shapes_target, i, &constraints);
    if (constraints.tied >= 0)
        out[constraints.tied] = run_read(r, ir_arg(i, (unsigned)constraints.tied));
    if (r->a && constraints.early) run_write(r, i, run_rubbish(r));
    for (unsigned n = 0; n < i->nargs; n++)
        if ((int)n != constraints.tied) out[n] = run_read(r, ir_arg(i, n));
}

/* What a mach or mach_br computes; that of a branch is a condition. */
static inline uint32_t run_meaning(const ir_inst *i, const uint32_t *x) {
    uint64_t h = shape_row_of(i);
    if (shape_row_of(i) == SHAPE_SET) return (uint32_t)shape_number_of(i);
    if (shape_row_of(i) == SHAPE_PICK) return x[0] ? x[1] : x[2];
    if (shape_row_of(i) == SHAPE_ADD) return (x[0] + x[1]) * 0x9e3779b1;
    for (unsigned n = 0; n < i->nargs; n++) h = ir_mix(h, x[n]);
    return (uint32_t)(h >> 7);
}

static inline void run_mach(mach_run *r, const ir_inst *i) {
    uint32_t x[CG_MAX_ARGS];
    run_operands(r, i, x);
    run_clobber(r, i);
    if (i->type != IR_VOID)
        run_write(r, i, run_meaning(i, x));
    else
        run_see(r, run_meaning(i, x));
}

static inline void run_inst(mach_run *r, const ir_inst *i) {
    switch (i->op) {
    case IR_OP_mach: run_mach(r, i); return;
    case IR_OP_move: run_write(r, i, run_read(r, ir_arg(i, 0))); return;
    case IR_OP_spill: r->slot[cg_slot_of(i)] = run_read(r, ir_arg(i, 0)); return;
    case IR_OP_reload: run_write(r, i, r->slot[cg_slot_of(i)]); return;
    case IR_OP_reg_in:
        if (!r->a) r->value[i->id] = r->reg[run_class(i)][cg_register_of(i)];
        return;
    default: return;
    }
}

static inline void run_phis(mach_run *r, const ir_block *from, const ir_block *to) {
    uint32_t next[64];
    unsigned n = 0, edge = from ? ir_pred_index(to, from) : 0;
    if (r->a) return;
    foreach_phi (phi, to) next[n++] = run_read(r, ir_arg(phi, edge));
    n = 0;
    foreach_phi (phi, to) run_write(r, phi, next[n++]);
}

static inline const ir_block *run_leave(mach_run *r, const ir_block *b) {
    const ir_inst *i = b->last;
    uint32_t x[CG_MAX_ARGS];
    if (i->op == IR_OP_jmp) return b->succ[0];
    run_operands(r, i, x);
    if (i->op == IR_OP_ret) {
        run_see(r, i->nargs ? x[0] : 0);
        return NULL;
    }
    run_clobber(r, i);
    return b->succ[run_meaning(i, x) >> 3 & 1];
}

static inline uint64_t run_func(ir_arena *arena, const ir_func *f, const cg_allocation *a,
                                uint32_t old_blocks, uint64_t seed) {
    mach_run r = {.f = f, .a = a, .old_blocks = old_blocks, .rubbish = seed};
    unsigned visits = 0;
    r.value = ir_new_array(arena, uint32_t, f->next_id);
    if (a) r.slot = ir_new_array(arena, uint32_t, a->slots.n);
    for (unsigned c = 0; c < SHAPE_CLASSES; c++)
        for (unsigned n = 0; n < CG_MAX_REGS; n++)
            r.reg[c][n] = (uint32_t)ir_mix(seed, c * 100 + n) & (c == SHAPE_M ? 1 : UINT32_MAX);
    for (const ir_block *from = NULL, *b = f->first; b;) {
        bool is_old = b->id < old_blocks;
        if (is_old && visits++ == MACH_VISITS) break;
        if (is_old) run_see(&r, b->id);
        run_phis(&r, from, b);
        foreach_inst (i, b)
            if (i != b->last) run_inst(&r, i);
        from = b;
        b = run_leave(&r, b);
    }
    return r.seen;
}

#endif
