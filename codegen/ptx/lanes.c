/* lanes.c — vectors, which are a register for each lane: choosing lanes is moving registers. */
#include "codegen/ptx/ptx.h"

static void move_lane(ptx_func *fn, const ir_inst *i, unsigned lane, const ir_inst *v,
                      unsigned from) {
    ptx_class c = ptx_class_of(fn->w->m, ir_elem(i->type));
    const char *value = ptx_operand(fn, v, from);
    ptx_move(fn, c, ptx_result(fn, i, lane), value);
}

static void write_select(ptx_func *fn, const ir_inst *i) {
    const ir_inst *c = ir_arg(i, 0), *x = ir_arg(i, 1), *y = ir_arg(i, 2);
    ptx_class class = ptx_class_of(fn->w->m, ir_elem(i->type));
    for (unsigned lane = 0; lane < ir_lanes(i->type); lane++) {
        const char *to = ptx_result(fn, i, lane);
        const char *test = ptx_register(fn, c, ir_is_vector(c->type) ? lane : 0);
        if (class != PTX_PRED) {
            const char *other = ptx_operand(fn, y, lane);
            ptx_put(fn, "selp.%s %s, %s, %s, %s", ptx_class_type(class), to,
                    ptx_operand(fn, x, lane), other, test);
            continue;
        }
        const char *yes = ptx_temporary(fn, PTX_PRED), *no = ptx_temporary(fn, PTX_PRED);
        ptx_put(fn, "and.pred %s, %s, %s", yes, test, ptx_register(fn, x, lane));
        ptx_put(fn, "not.pred %s, %s", no, test);
        ptx_put(fn, "and.pred %s, %s, %s", no, no, ptx_register(fn, y, lane));
        ptx_put(fn, "or.pred %s, %s, %s", to, yes, no);
    }
}

/* Is the index of lane `lane`, in a register of 32 bits? */
static const char *is_lane(ptx_func *fn, const char *index, unsigned lane) {
    const char *p = ptx_temporary(fn, PTX_PRED);
    ptx_put(fn, "setp.eq.u32 %s, %s, %u", p, index, lane);
    return p;
}

/* `to` becomes `from` where `test` is true. */
static void move_if(ptx_func *fn, ptx_class c, const char *test, const char *to, const char *from) {
    ptx_put(fn, "@%s mov.%s %s, %s", test, ptx_class_type(c), to, from);
}

static void write_extract(ptx_func *fn, const ir_inst *i) {
    const ir_inst *v = ir_arg(i, 0), *at = ir_arg(i, 1);
    if (ir_is_const(at)) {
        uint64_t lane = at->imm.bits;
        move_lane(fn, i, 0, v, lane < ir_lanes(v->type) ? (unsigned)lane : 0);
        return;
    }
    ptx_class c = ptx_class_of(fn->w->m, i->type);
    const char *index = ptx_amount(fn, at, 0, IR_MAX_LANES), *to = ptx_result(fn, i, 0);
    ptx_move(fn, c, to, ptx_operand(fn, v, 0));
    for (unsigned lane = 1; lane < ir_lanes(v->type); lane++) {
        const char *from = ptx_operand(fn, v, lane);
        move_if(fn, c, is_lane(fn, index, lane), to, from);
    }
}

static void write_insert(ptx_func *fn, const ir_inst *i) {
    const ir_inst *v = ir_arg(i, 0), *x = ir_arg(i, 1), *at = ir_arg(i, 2);
    ptx_class c = ptx_class_of(fn->w->m, x->type);
    const char *index = ir_is_const(at) ? NULL : ptx_amount(fn, at, 0, IR_MAX_LANES);
    for (unsigned lane = 0; lane < ir_lanes(i->type); lane++) {
        bool here = !index && at->imm.bits == lane;
        move_lane(fn, i, lane, here ? x : v, here ? 0 : lane);
        if (!index) continue;
        const char *from = ptx_operand(fn, x, 0);
        move_if(fn, c, is_lane(fn, index, lane), ptx_result(fn, i, lane), from);
    }
}

static void write_vec(ptx_func *fn, const ir_inst *i) {
    for (unsigned lane = 0; lane < ir_lanes(i->type); lane++)
        move_lane(fn, i, lane, ir_arg(i, lane), 0);
}

static void write_shuffle(ptx_func *fn, const ir_inst *i) {
    unsigned n = ir_lanes(ir_arg(i, 0)->type);
    for (unsigned lane = 0; lane < ir_lanes(i->type); lane++) {
        unsigned from = i->imm.mask[lane] < 2 * n ? i->imm.mask[lane] : 0;
        move_lane(fn, i, lane, ir_arg(i, from / n), from % n);
    }
}

static void write_reduction(ptx_func *fn, const ir_inst *i) {
    const ir_inst *v = ir_arg(i, 0);
    const char *to = ptx_result(fn, i, 0), *op = i->op == IR_OP_any ? "or" : "and";
    ptx_move(fn, PTX_PRED, to, ptx_register(fn, v, 0));
    for (unsigned lane = 1; lane < ir_lanes(v->type); lane++)
        ptx_put(fn, "%s.pred %s, %s, %s", op, to, to, ptx_register(fn, v, lane));
}

bool ptx_write_lanes(ptx_func *fn, const ir_inst *i) {
    switch (i->op) {
    case IR_OP_select: write_select(fn, i); return true;
    case IR_OP_extract: write_extract(fn, i); return true;
    case IR_OP_insert: write_insert(fn, i); return true;
    case IR_OP_vec: write_vec(fn, i); return true;
    case IR_OP_shuffle: write_shuffle(fn, i); return true;
    case IR_OP_any:
    case IR_OP_all: write_reduction(fn, i); return true;
    default: return false;
    }
}
