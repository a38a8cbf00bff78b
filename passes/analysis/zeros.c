/* zeros.c — how many of the lowest bits of integers and addresses are 0.
 *
 * A shift by 2 adds two, a sum has the fewest of its terms.  Values of loops are computed
 * optimistically, in rounds over the blocks in reverse postorder, until nothing changes
 * (conditional constant propagation has the same scheme: Wegman and Zadeck 1991).  Numbers only
 * fall and end at 0, so rounds are few; the analysis gives up after a fixed number.
 *
 * What is known begins at arguments that lead to lines (flag `line`), and at pointers that a kernel
 * is given.  A caller may also ask what would be known if some values were multiples of a line.
 */
#include "passes/analysis/analysis.h"

enum { MOST_ZEROS = PASS_MOST_ZEROS, ROUNDS = 16 };

static unsigned least(unsigned x, unsigned y) { return x < y ? x : y; }

unsigned pass_zeros_of(const pass_zeros *z, const ir_inst *v) {
    if (ir_is_const(v) && !v->imm.bits) return MOST_ZEROS;
    if (ir_is_const(v)) return least(MOST_ZEROS, (unsigned)__builtin_ctzll(v->imm.bits));
    if (v->op == IR_OP_param && z->kernel) {
        uint32_t align = z->kernel->param[v->imm.index].align;
        return align ? least(MOST_ZEROS, (unsigned)__builtin_ctz(align)) : 0;
    }
    return v->block ? z->zeros[v->id] : 0;
}

static unsigned fewest(const pass_zeros *z, const ir_inst *i, unsigned first) {
    unsigned zeros = MOST_ZEROS;
    for (unsigned n = first; n < i->nargs; n++)
        zeros = least(zeros, pass_zeros_of(z, ir_arg(i, n)));
    return zeros;
}

static unsigned shifted(const pass_zeros *z, const ir_inst *i) {
    const ir_inst *by = ir_arg(i, 1);
    unsigned zeros = pass_zeros_of(z, ir_arg(i, 0));
    return ir_is_const(by) ? least(MOST_ZEROS, zeros + (unsigned)(by->imm.bits & 63)) : zeros;
}

static unsigned zeros_in(const pass_zeros *z, const ir_inst *i) {
    unsigned x = i->nargs > 0 ? pass_zeros_of(z, ir_arg(i, 0)) : 0;
    unsigned y = i->nargs > 1 ? pass_zeros_of(z, ir_arg(i, 1)) : 0;
    switch (i->op) {
    case IR_OP_load: return i->imm.mem.flags & IR_MEM_LINE ? MOST_ZEROS : 0;
    case IR_OP_ptradd:
    case IR_OP_add:
    case IR_OP_sub:
    case IR_OP_or:
    case IR_OP_xor:
    case IR_OP_zext:
    case IR_OP_sext:
    case IR_OP_trunc:
    case IR_OP_ptrcast:
    case IR_OP_phi:
    case IR_OP_smin:
    case IR_OP_smax:
    case IR_OP_umin:
    case IR_OP_umax: return fewest(z, i, 0);
    case IR_OP_select: return fewest(z, i, 1);
    case IR_OP_and: return MOST_ZEROS - least(MOST_ZEROS - x, MOST_ZEROS - y);
    case IR_OP_mul: return least(MOST_ZEROS, x + y);
    case IR_OP_shl: return shifted(z, i);
    default: return 0;
    }
}

/* One round; true: something has changed. */
static bool update(const pass_zeros *z, const ir_order *order) {
    bool changed = false;
    for (uint32_t k = 0; k < order->n; k++)
        foreach_inst (i, order->rpo[k]) {
            if (ir_is_vector(i->type) || !(ir_is_int(i->type) || ir_is_ptr(i->type))) continue;
            unsigned zeros = z->is_line && z->is_line[i->id] ? MOST_ZEROS : zeros_in(z, i);
            changed |= zeros != z->zeros[i->id];
            z->zeros[i->id] = (uint8_t)zeros;
        }
    return changed;
}

bool pass_find_zeros(ir_func *f, pass_zeros *z, ir_arena *scratch) {
    const ir_order *order = &ir_dominators(f)->order;
    unsigned rounds = 0;
    z->zeros = ir_new_array(scratch, uint8_t, f->next_id);
    z->kernel = f->flags & IR_FUNC_KERNEL ? f : NULL;
    memset(z->zeros, MOST_ZEROS, f->next_id);
    while (update(z, order))
        if (++rounds == ROUNDS) return false;
    return true;
}
