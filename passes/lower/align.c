/* align.c — accesses learn how their addresses are aligned.
 *
 * Front ends say that an access is aligned as its type, but arguments of launches often begin at
 * lines, and vectors of items at multiples of them.  For each integer and address, the pass finds
 * how many of the lowest bits are 0: a shift by 2 adds two, a sum has the fewest of its terms.
 * Values of loops are computed optimistically, in rounds over the blocks in reverse postorder,
 * until nothing changes (conditional constant propagation has the same scheme: Wegman and Zadeck
 * 1991).  Numbers only fall and end at 0, so rounds are few; the pass gives up after a fixed
 * number.
 *
 * Alignment begins at arguments that lead to lines (flag `line`), and at pointers that a kernel is
 * given; functions without any are left alone.
 */
#include "passes/passes.h"

enum { MOST_ZEROS = 6, ROUNDS = 16 }; /* 2^MOST_ZEROS == IR_LINE */
static_assert(1 << MOST_ZEROS == IR_LINE, "more is known of no address");

typedef struct {
    uint8_t *zeros;        /* by value id, of scalar integers and addresses */
    const ir_func *kernel; /* whose parameters are arguments of a launch, or NULL */
} aligner;

static unsigned least(unsigned x, unsigned y) { return x < y ? x : y; }

static unsigned zeros_of(const aligner *a, const ir_inst *v) {
    if (ir_is_const(v) && !v->imm.bits) return MOST_ZEROS;
    if (ir_is_const(v)) return least(MOST_ZEROS, (unsigned)__builtin_ctzll(v->imm.bits));
    if (v->op == IR_OP_param && a->kernel) {
        uint32_t align = a->kernel->param[v->imm.index].align;
        return align ? least(MOST_ZEROS, (unsigned)__builtin_ctz(align)) : 0;
    }
    return v->block ? a->zeros[v->id] : 0;
}

static unsigned fewest(const aligner *a, const ir_inst *i, unsigned first) {
    unsigned zeros = MOST_ZEROS;
    for (unsigned n = first; n < i->nargs; n++) zeros = least(zeros, zeros_of(a, ir_arg(i, n)));
    return zeros;
}

static unsigned shifted(const aligner *a, const ir_inst *i) {
    const ir_inst *by = ir_arg(i, 1);
    unsigned zeros = zeros_of(a, ir_arg(i, 0));
    return ir_is_const(by) ? least(MOST_ZEROS, zeros + (unsigned)(by->imm.bits & 63)) : zeros;
}

static unsigned find_zeros(const aligner *a, const ir_inst *i) {
    unsigned x = i->nargs > 0 ? zeros_of(a, ir_arg(i, 0)) : 0;
    unsigned y = i->nargs > 1 ? zeros_of(a, ir_arg(i, 1)) : 0;
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
    case IR_OP_umax: return fewest(a, i, 0);
    case IR_OP_select: return fewest(a, i, 1);
    case IR_OP_and: return MOST_ZEROS - least(MOST_ZEROS - x, MOST_ZEROS - y);
    case IR_OP_mul: return least(MOST_ZEROS, x + y);
    case IR_OP_shl: return shifted(a, i);
    default: return 0;
    }
}

static bool has_promises(ir_func *f) {
    for (uint32_t n = 0; n < f->nparams && f->flags & IR_FUNC_KERNEL; n++)
        if (ir_is_ptr(f->param_val[n]->type) && f->param[n].align > 1) return true;
    foreach_block (b, f)
        foreach_inst (i, b)
            if (i->op == IR_OP_load && i->imm.mem.flags & IR_MEM_LINE) return true;
    return false;
}

/* One round; true: something has changed. */
static bool update(aligner *a, const ir_order *order) {
    bool changed = false;
    for (uint32_t k = 0; k < order->n; k++)
        foreach_inst (i, order->rpo[k]) {
            if (ir_is_vector(i->type) || !(ir_is_int(i->type) || ir_is_ptr(i->type))) continue;
            unsigned zeros = find_zeros(a, i);
            changed |= zeros != a->zeros[i->id];
            a->zeros[i->id] = (uint8_t)zeros;
        }
    return changed;
}

static const ir_inst *accessed(const ir_inst *i) {
    if (i->op == IR_OP_load) return ir_arg(i, 0);
    return i->op == IR_OP_store ? ir_arg(i, 1) : NULL;
}

static bool raise_alignment(const aligner *a, ir_func *f) {
    bool changed = false;
    foreach_block (b, f)
        foreach_inst (i, b) {
            const ir_inst *p = accessed(i);
            if (!p || zeros_of(a, p) <= i->imm.mem.align) continue;
            i->imm.mem.align = (uint8_t)zeros_of(a, p);
            changed = true;
        }
    return changed;
}

/* Does:  raises the alignment of loads and stores to what is known of their addresses.
 * Needs: nothing.
 * Leaves: all else as it was.
 * Gives up: on functions whose arguments promise nothing. */
bool pass_align(ir_func *f, pass_ctx *cx) {
    aligner a = {ir_new_array(cx->scratch, uint8_t, f->next_id),
                 f->flags & IR_FUNC_KERNEL ? f : NULL};
    const ir_order *order = &ir_dominators(f)->order;
    unsigned rounds = 0;
    if (!has_promises(f)) return false;
    memset(a.zeros, MOST_ZEROS, f->next_id);
    while (update(&a, order))
        if (++rounds == ROUNDS) return false;
    return raise_alignment(&a, f);
}
