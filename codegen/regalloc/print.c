/* print.c — machine code as text: the function as it is always written, and after every instruction
 * a comment with what the target calls it and, once there are any, the registers that it writes and
 * reads.
 *
 *   %7: i32 = mach %5, %6 4                 ; add
 *   %7: i32 = mach %5, %6 4                 ; add r3 <- r3 r1
 *   spill %7 0                              ; slot 0 <- r3
 */
#include "codegen/regalloc/ra.h"

enum { COLUMN = 44 }; /* of the comments */

typedef struct {
    ir_text *out;
    const cg_target *t;
    const cg_allocation *a; /* NULL: there are no registers yet */
} printer;

/* ------------------------------------------------------------------------------------ registers */

static void put_reg(printer *p, const ir_inst *v) {
    uint8_t class = ra_class(p->t, v);
    unsigned reg = v->id < p->a->nregs ? p->a->reg[v->id] : CG_ANY_REG;
    if (class == CG_NO_CLASS)
        ir_put(p->out, "-");
    else if (reg == CG_ANY_REG)
        ir_put(p->out, "?");
    else if (p->t->reg_name)
        ir_put(p->out, p->t->reg_name(p->t, class, reg));
    else
        ir_putf(p->out, "%s%u", p->t->class[class].name, reg);
}

static void put_slot(printer *p, const ir_inst *i) { ir_putf(p->out, "slot %u", cg_slot_of(i)); }

/* What the instruction writes, and what it reads. */
static void put_registers(printer *p, const ir_inst *i) {
    cg_constraints constraints;
    cg_describe(p->t, i, &constraints);
    if (i->op == IR_OP_spill)
        put_slot(p, i);
    else
        put_reg(p, i);
    ir_put(p->out, " <-");
    if (i->op == IR_OP_reload) {
        ir_put(p->out, " ");
        put_slot(p, i);
    }
    for (unsigned n = 0; n < constraints.nargs; n++) {
        ir_put(p->out, " ");
        if (ir_arg(i, n)->op == IR_OP_slot)
            put_slot(p, ir_arg(i, n));
        else
            put_reg(p, ir_arg(i, n));
    }
}

/* ------------------------------------------------------------------------------------ functions */

/* `width`: of the line so far. */
static void put_comment(printer *p, const ir_inst *i, size_t width) {
    bool named = p->t->put_name && (i->op == IR_OP_mach || i->op == IR_OP_mach_br);
    bool has_registers = p->a && (i->type != IR_VOID || i->nargs);
    if (!named && !has_registers) return;
    ir_putf(p->out, "%*s;", width < COLUMN ? (int)(COLUMN - width) : 1, "");
    if (named) {
        ir_put(p->out, " ");
        p->t->put_name(p->t, i, p->out);
    }
    if (!has_registers) return;
    ir_put(p->out, " ");
    put_registers(p, i);
}

/* The next instruction in the order of the text. */
static const ir_inst *next_inst(const ir_func *f, const ir_inst *i) {
    const ir_block *b = i ? i->block : f->first;
    if (!i || i->next) return i ? i->next : b->first;
    return b->next ? b->next->first : NULL;
}

/* Instructions are the lines that are indented. */
void cg_print_machine(ir_text *out, const cg_target *t, const ir_func *f, const cg_allocation *a) {
    printer p = {out, t, a};
    ir_text text = {.arena = out->arena};
    const ir_inst *i = NULL;
    ir_print_func(&text, f, 0);
    for (const char *line = text.data, *end; *line; line = end + (*end == '\n')) {
        end = line + strcspn(line, "\n");
        size_t width = (size_t)(end - line);
        ir_putn(out, line, width);
        if (line[0] == ' ') i = next_inst(f, i);
        if (line[0] == ' ') put_comment(&p, i, width);
        ir_put(out, "\n");
    }
}
