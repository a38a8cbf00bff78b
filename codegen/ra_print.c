/* ra_print.c — allocated code as text: every instruction with the registers that it writes and reads.
 *
 *   b2: from b0 b1
 *     %7: i32 = mach %5, %6 4                 ; r3 <- r3 r1
 *     spill %7 0                              ; slot 0 <- r3
 */
#include "codegen/ra.h"

typedef struct {
    ir_text *out;
    const cg_target *t;
    const cg_allocation *a;
} printer;

static void put_reg(printer *p, const ir_inst *v) {
    uint8_t class = ra_class(p->t, v);
    unsigned reg = v->id < p->a->nregs ? p->a->reg[v->id] : CG_ANY_REG;
    if (class == CG_NO_CLASS)
        ir_put(p->out, "-");
    else if (reg == CG_ANY_REG)
        ir_putf(p->out, "%s?", p->t->class[class].name);
    else if (p->t->reg_name)
        ir_put(p->out, p->t->reg_name(p->t, class, reg));
    else
        ir_putf(p->out, "%s%u", p->t->class[class].name, reg);
}

static void put_slot(printer *p, uint64_t slot) { ir_putf(p->out, "slot %u", (unsigned)slot); }

static void put_written(printer *p, const ir_inst *i) {
    if (i->op == IR_OP_spill)
        put_slot(p, i->imm.bits);
    else
        put_reg(p, i);
}

static void put_read(printer *p, const ir_inst *i) {
    cg_needs needs;
    cg_describe(p->t, i, &needs);
    if (i->op == IR_OP_reload) put_slot(p, i->imm.bits);
    for (unsigned n = 0; n < needs.nargs; n++) {
        if (n) ir_put(p->out, " ");
        if (needs.arg[n].class == CG_IN_SLOT)
            put_slot(p, needs.slot);
        else
            put_reg(p, ir_arg(i, n));
    }
}

static void put_inst(printer *p, const ir_inst *i) {
    size_t from = p->out->n;
    ir_put(p->out, "  ");
    ir_print_inst(p->out, i);
    ir_putf(p->out, "%*s; ", p->out->n - from < 42 ? (int)(42 - (p->out->n - from)) : 1, "");
    put_written(p, i);
    ir_put(p->out, " <- ");
    put_read(p, i);
    ir_put(p->out, "\n");
}

void cg_print_allocation(ir_text *out, const cg_target *t, const ir_func *f,
                         const cg_allocation *a) {
    printer p = {out, t, a};
    foreach_block (b, f) {
        ir_putf(out, "b%u:", b->id);
        for (uint32_t n = 0; n < b->npred; n++)
            ir_putf(out, "%sb%u", n ? " " : " from ", b->pred[n]->id);
        ir_put(out, "\n");
        foreach_inst (i, b) put_inst(&p, i);
    }
}
