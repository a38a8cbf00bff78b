/* fuse_fit.c — refuses bodies that would not mean the same in the fused kernel.
 *
 *   - A member whose ids are computed has work-groups of single items, so it cannot work as a
 *     group.
 *   - A member that runs on some items only may end inside a work-group, or the local size is not
 *     known.  Then it cannot query its group or wait for it.
 *   - Variables of the program in global memory remain with their program: a kernel that uses them
 *     can be fused into their module only.
 *   - Calls that could not be inlined are not supported (fuse_stage.c).
 *   - The output of one member precedes that of the next one, so only one member may print.
 */
#include "passes/fusion/fuse_impl.h"

/* ------------------------------------------------------------------------------------- queries */

/* Does i query its work-group, or wait for it? */
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

/* The variable of its program that i refers to, or NULL.  A table of tables is taken to lead to
 * one. */
static const ir_global *find_program_variable(const ir_inst *i) {
    for (unsigned n = 0; n < i->nargs; n++) {
        if (ir_arg(i, n)->op != IR_OP_address) continue;
        const ir_global *g = ir_arg(i, n)->imm.global;
        bool found = is_program_variable(g);
        for (uint32_t k = 0; k < g->nreloc; k++)
            found |= is_program_variable(g->reloc[k].global) || g->reloc[k].global->nreloc;
        if (found) return g;
    }
    return NULL;
}

/* Does i need other items of its work-group?  Those of a remapped member are single items. */
static bool needs_group(const ir_inst *i) {
    for (unsigned n = 0; n < i->nargs; n++)
        if (ir_is_ptr(ir_arg(i, n)->type) && ir_space_of(ir_arg(i, n)->type) == IR_LOCAL)
            return true;
    return ir_has_flag(i, F_CONVERGENT) || ir_asks_subgroup(i);
}

/* ------------------------------------------------------------------------------------- refusals */

static const char *name_of(const pass_fuse_input *in, uint32_t m) {
    return in->request->members[m].kernel->name;
}

static const char *own_range(const pass_fuse_input *in, uint32_t m) {
    return pass_range_text(in->out, &in->members[m].range);
}

static bool refuse_remapped(const pass_fuse_input *in, uint32_t m, const ir_inst *i,
                            pass_fuse_result *r) {
    return pass_refuse(
        in, r, "fuse.remap-group",
        ir_sprintf(in->out,
                   "the ids of @%s have to be remapped, from %s to %s, but it works as a group: %s",
                   name_of(in, m), own_range(in, m), pass_range_text(in->out, &r->range),
                   ir_info(i)->name));
}

static bool refuse_partial(const pass_fuse_input *in, uint32_t m, const ir_inst *i,
                           pass_fuse_result *r) {
    return pass_refuse(
        in, r, "fuse.partial-group",
        ir_sprintf(in->out,
                   "@%s uses %s, but runs on %s, which need not be whole work-groups of %s",
                   name_of(in, m), ir_info(i)->name, own_range(in, m),
                   pass_range_text(in->out, &r->range)));
}

static bool refuse_call(const pass_fuse_input *in, uint32_t m, pass_fuse_result *r) {
    const char *why = in->members[m].kernel->refusal;
    return pass_refuse(in, r, "fuse.call",
                       ir_sprintf(in->out, "the calls of @%s cannot be inlined: %s", name_of(in, m),
                                  why ? why : "it has no body"));
}

static bool refuse_program(const pass_fuse_input *in, uint32_t m, const ir_global *variable,
                           pass_fuse_result *r) {
    return pass_refuse(in, r, "fuse.program-variable",
                       ir_sprintf(in->out, "@%s uses @%s, which belongs to its program",
                                  name_of(in, m), variable->name));
}

static bool refuse_printer(const pass_fuse_input *in, uint32_t first, uint32_t m,
                           pass_fuse_result *r) {
    return pass_refuse(
        in, r, "fuse.printf",
        ir_sprintf(in->out, "@%s and @%s print: the output of @%s would not precede that of @%s",
                   name_of(in, first), name_of(in, m), name_of(in, first), name_of(in, m)));
}

/* ---------------------------------------------------------------------------------------- entry */

#define NO_MEMBER UINT32_MAX

/* *printer: the member that prints, among this one and those before it. */
static bool fits(const pass_fuse_input *in, uint32_t m, bool staged, uint32_t *printer,
                 pass_fuse_result *r) {
    const ir_range *own = &in->members[m].range, *fused = &r->range;
    const ir_func *body = in->members[m].kernel;
    bool remapped = !pass_same_ids(own, fused);
    bool partial = !remapped && pass_needs_guard(own, fused) && !pass_has_whole_groups(own, fused);
    bool same_program = in->request->into == in->request->members[m].kernel->module && !staged;
    if (ir_is_declaration(body)) return refuse_call(in, m, r);
    foreach_block (b, body)
        foreach_inst (i, b) {
            const ir_global *variable = same_program ? NULL : find_program_variable(i);
            if (remapped && needs_group(i)) return refuse_remapped(in, m, i, r);
            if (partial && asks_about_group(i)) return refuse_partial(in, m, i, r);
            if (variable) return refuse_program(in, m, variable, r);
            if (i->op != IR_OP_printf) continue;
            if (*printer != NO_MEMBER && *printer != m && !in->request->force)
                return refuse_printer(in, *printer, m, r);
            *printer = m;
        }
    return true;
}

bool pass_fuse_fit(const pass_fuse_input *in, bool staged, pass_fuse_result *result) {
    uint32_t printer = NO_MEMBER;
    for (uint32_t m = 0; m < in->request->nmembers; m++)
        if (!fits(in, m, staged, &printer, result)) return false;
    return true;
}
