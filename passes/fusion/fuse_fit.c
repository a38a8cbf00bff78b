/* fuse_fit.c — can the body of each member be taken into the fused kernel as it is?
 *
 * What a body asks must have the same answer there.
 *   - A member whose ids are computed has work-groups of single items: it cannot work as a group.
 *   - A member that runs on some items only may end inside a work-group, or the local size is
 *     not known: then it cannot ask about its group or wait for it.
 *   - Variables of the program in global memory stay with their program: a kernel that uses them
 *     can only be fused into their module.
 *   - Calls that could not be inlined have no place in a body (fuse_stage.c).
 *   - All that one member prints comes before what the next one prints, so only one may print.
 */
#include "passes/fusion/fuse_impl.h"

typedef struct {
    const pass_fuse_request *request;
    const pass_fuse_member *members; /* without calls */
    bool staged;                     /* they are copies in a module of their own */
    ir_arena *out;
    pass_fuse_result *result;
    const pass_fuse_member *printer; /* the member that prints, if there is one */
} fitter;

/* -------------------------------------------------------------------------------- what is asked */

/* Does i need to know, or to wait for, the other items of its work-group? */
static bool asks_about_group(const ir_inst *i) {
    switch (i->op) {
    case IR_OP_local_size:
    case IR_OP_enqueued_local_size:
    case IR_OP_num_groups: return true;
    default: return ir_has_flag(i, F_CONVERGENT) || ir_asks_subgroup(i);
    }
}

static bool is_program_variable(const ir_global *g) {
    return g->space == IR_GLOBAL && !g->constant;
}

/* Does v lead to a variable of the program?  Of tables of tables it is assumed. */
static bool has_program_variable(const ir_inst *v) {
    if (v->op != IR_OP_address) return false;
    const ir_global *g = v->imm.global;
    bool found = is_program_variable(g);
    for (uint32_t k = 0; k < g->nreloc; k++)
        found |= is_program_variable(g->reloc[k].global) || g->reloc[k].global->nreloc;
    return found;
}

/* A remapped member must not meet others: its work-groups are single items. */
static bool needs_group(const ir_inst *i) {
    for (unsigned n = 0; n < i->nargs; n++)
        if (ir_is_ptr(ir_arg(i, n)->type) && ir_space_of(ir_arg(i, n)->type) == IR_LOCAL)
            return true;
    return ir_has_flag(i, F_CONVERGENT) || ir_asks_subgroup(i);
}

/* ------------------------------------------------------------------------------------- refusals */

static bool refuse(fitter *q, const char *rule, const char *text) {
    *ir_push(q->out, &q->result->decisions) =
        (pass_decision){.rule = rule, .text = text, .refusal = true};
    return false;
}

static const char *name_of(const fitter *q, uint32_t m) {
    return q->request->members[m].kernel->name;
}

static const char *own_range(const fitter *q, uint32_t m) {
    return pass_range_text(q->out, &q->members[m].range);
}

static const char *fused_range(const fitter *q) {
    return pass_range_text(q->out, &q->result->range);
}

static bool refuse_program(fitter *q, uint32_t m, const ir_global *variable) {
    return refuse(q, "fuse.program-variable",
                  ir_sprintf(q->out, "@%s uses @%s, which belongs to its program", name_of(q, m),
                             variable->name));
}

static bool refuse_remapped(fitter *q, uint32_t m, const ir_inst *i) {
    return refuse(q, "fuse.remap-group",
                  ir_sprintf(q->out,
                             "the ids of @%s have to be remapped, from %s to %s, but it works as a "
                             "group: %s",
                             name_of(q, m), own_range(q, m), fused_range(q), ir_info(i)->name));
}

static bool refuse_partial(fitter *q, uint32_t m, const ir_inst *i) {
    return refuse(q, "fuse.partial-group",
                  ir_sprintf(q->out,
                             "@%s uses %s, but runs on %s, which need not be whole work-groups of "
                             "%s",
                             name_of(q, m), ir_info(i)->name, own_range(q, m), fused_range(q)));
}

static bool refuse_call(fitter *q, uint32_t m) {
    const char *why = q->members[m].kernel->refusal;
    return refuse(q, "fuse.call",
                  ir_sprintf(q->out, "the calls of @%s cannot be inlined: %s", name_of(q, m),
                             why ? why : "it has no body"));
}

static bool refuse_printer(fitter *q, uint32_t m) {
    return refuse(q, "fuse.printf",
                  ir_sprintf(q->out, "@%s and @%s print: what @%s prints would not all come first",
                             q->printer->kernel->name, name_of(q, m), q->printer->kernel->name));
}

/* ------------------------------------------------------------------------------------ judgement */

static bool prints_alone(fitter *q, uint32_t m) {
    const pass_fuse_member *printer = &q->members[m];
    if (q->printer && q->printer != printer && !q->request->force) return refuse_printer(q, m);
    q->printer = printer;
    return true;
}

static bool keeps_its_program(fitter *q, uint32_t m, const ir_inst *i) {
    bool same_program = q->request->into == q->request->members[m].kernel->module && !q->staged;
    for (unsigned n = 0; n < i->nargs && !same_program; n++)
        if (has_program_variable(ir_arg(i, n)))
            return refuse_program(q, m, ir_arg(i, n)->imm.global);
    return true;
}

static bool fits(fitter *q, uint32_t m) {
    const ir_range *own = &q->members[m].range, *fused = &q->result->range;
    const ir_func *body = q->members[m].kernel;
    bool remapped = !pass_same_ids(own, fused);
    bool partial = !remapped && pass_needs_guard(own, fused) && !pass_has_whole_groups(own, fused);
    if (ir_is_declaration(body)) return refuse_call(q, m);
    foreach_block (b, body)
        foreach_inst (i, b) {
            if (remapped && needs_group(i)) return refuse_remapped(q, m, i);
            if (partial && asks_about_group(i)) return refuse_partial(q, m, i);
            if (!keeps_its_program(q, m, i)) return false;
            if (i->op == IR_OP_printf && !prints_alone(q, m)) return false;
        }
    return true;
}

bool pass_fuse_fit(const pass_fuse_request *request, const pass_fuse_member *members, bool staged,
                   ir_arena *out, pass_fuse_result *result) {
    fitter q = {request, members, staged, out, result, NULL};
    for (uint32_t m = 0; m < request->nmembers; m++)
        if (!fits(&q, m)) return false;
    return true;
}
