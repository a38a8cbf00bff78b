/* remark_accesses.c — the accesses of a scalar loop, each with the form that it has in the vector
 * loop, for a remark.
 *
 * Accesses that differ in nothing that a reader could see are one row with a count: those of rows
 * that run together, or of a line.  Memory is named by the argument of the kernel that leads to it:
 * arguments of a work-group are loads from its second parameter.
 */
#include "passes/vectorize/groups.h"

enum { MOST_STEPS = 64, MOST_ROWS = 64, ARG_BYTES = 8 };

ir_source simd_source_of(const ir_module *m, const ir_inst *i) {
    const ir_line *line = i && i->loc ? ir_line_of(m, i->loc) : NULL;
    if (!line || line->file >= m->files.n) return (ir_source){.file = NULL};
    return (ir_source){m->files.data[line->file], line->line, line->column};
}

/* The argument that is loaded, or IR_NO_ARG. */
static uint32_t loaded_argument(const ir_func *f, const ir_inst *load) {
    const ir_inst *p = load->op == IR_OP_load ? ir_arg(load, 0) : NULL;
    uint64_t offset = 0;
    if (p && p->op == IR_OP_ptradd && ir_is_const(ir_arg(p, 1))) {
        offset = ir_arg(p, 1)->imm.bits;
        p = ir_arg(p, 0);
    }
    if (!p || f->nparams < 2 || p != f->param_val[1]) return IR_NO_ARG;
    return (uint32_t)(offset / ARG_BYTES);
}

/* What a phi begins with, if it is an address that moves. */
static const ir_inst *begin_of(const ir_inst *phi) {
    const ir_inst *first = phi->nargs ? ir_arg(phi, 0) : phi;
    bool moves = first->op == IR_OP_ptradd && ir_arg(first, 0) == phi;
    return moves && phi->nargs > 1 ? ir_arg(phi, 1) : first;
}

/* Local memory of an argument begins at a distance that is the argument. */
static uint32_t argument_of(const ir_func *f, const ir_inst *p) {
    for (unsigned n = 0; n < MOST_STEPS; n++) {
        uint32_t arg = loaded_argument(f, p);
        if (p->op == IR_OP_ptradd && arg == IR_NO_ARG) arg = loaded_argument(f, ir_arg(p, 1));
        if (arg != IR_NO_ARG) return arg;
        if (p->op == IR_OP_phi)
            p = begin_of(p);
        else if (p->op == IR_OP_ptradd || p->op == IR_OP_ptrcast)
            p = ir_arg(p, 0);
        else
            break;
    }
    return IR_NO_ARG;
}

static ir_remark_access describe(const simd *s, const ir_inst *i) {
    bool is_plain = i->op == IR_OP_load || i->op == IR_OP_store;
    const ir_inst *p = is_plain ? simd_address(i) : ir_arg(i, 0);
    const simd_group *g = s->value[i->id].group;
    return (ir_remark_access){.form = is_plain ? simd_form_of(s, i) : IR_FORM_ATOMIC,
                              .reads = i->op != IR_OP_store,
                              .writes = i->op != IR_OP_load,
                              .masked = simd_is_masked(s, i->block),
                              .space = ir_space_of(p->type),
                              .arg = argument_of(s->f, p),
                              .step = g ? g->k : 0,
                              .count = 1,
                              .at = simd_source_of(s->f->module, i)};
}

static bool is_alike(const ir_remark_access *a, const ir_remark_access *b) {
    return a->form == b->form && a->reads == b->reads && a->writes == b->writes &&
           a->masked == b->masked && a->space == b->space && a->arg == b->arg &&
           a->step == b->step && a->at.file == b->at.file && a->at.line == b->at.line;
}

/* The place is that of the first of those that are alike. */
static void add(ir_remark *r, ir_remark_access *list, const ir_remark_access *a) {
    for (uint32_t k = 0; k < r->naccesses; k++)
        if (is_alike(&list[k], a)) {
            list[k].count++;
            return;
        }
    if (r->naccesses < MOST_ROWS) list[r->naccesses++] = *a;
}

void simd_list_accesses(const simd *s, ir_remark *r) {
    ir_remark_access *list = ir_new_array(s->scratch, ir_remark_access, MOST_ROWS);
    r->access = list;
    for (uint32_t k = 0; k < s->n; k++) {
        if (s->node[k].kind != SIMD_BLOCK) continue;
        foreach_inst (i, s->node[k].block) {
            if (i->op != IR_OP_load && i->op != IR_OP_store && !simd_is_update(i)) continue;
            const ir_remark_access a = describe(s, i);
            add(r, list, &a);
        }
    }
}
