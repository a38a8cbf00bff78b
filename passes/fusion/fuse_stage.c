/* fuse_stage.c — the bodies that fusion works with.
 *
 * Fusion needs bodies without calls, and addresses that it can analyse: ids are values, not in
 * stack variables, and pointers do not step through loops.  If all kernels are like that, they are
 * used as they are.  Otherwise all of them are copied into one module, so that shared variables
 * remain shared, and simplified there.  Promotion changes bodies, each in its own way, so each
 * member then gets its own copy of the simplified body.
 */
#include "passes/fusion/fuse_impl.h"

static const char simple[] =
    "inline,sroa,mem2reg,simplify,sccp,simplifycfg,ptrvars,simplify,gvn,memopt,dce";

static bool is_simple_inst(const ir_inst *i) {
    return i->op != IR_OP_call && i->op != IR_OP_alloca &&
           !(i->op == IR_OP_phi && ir_is_ptr(i->type));
}

static bool is_simple(const ir_func *f) {
    foreach_block (b, f)
        foreach_inst (i, b)
            if (!is_simple_inst(i)) return false;
    return true;
}

/* Replaces each kernel by its copy in `stage`; members that run one kernel share the copy. */
static void copy_kernels(const pass_fuse_input *in, ir_module *stage, pass_fuse_member *members) {
    ir_importer im = {.m = stage};
    ir_map copies = {0};
    for (uint32_t m = 0; m < in->request->nmembers; m++) {
        const ir_func *k = in->request->members[m].kernel;
        ir_func *copy = ir_map_get(&copies, (uintptr_t)k);
        if (!copy) copy = ir_importer_copy(&im, k, k->name);
        ir_map_set(in->scratch, &copies, (uintptr_t)k, copy);
        members[m].kernel = copy;
    }
}

/* The second member that runs a copy, and each further one, gets a copy of its own. */
static void separate_members(const pass_fuse_input *in, ir_module *stage,
                             pass_fuse_member *members) {
    ir_map taken = {0};
    for (uint32_t m = 0; m < in->request->nmembers; m++) {
        const ir_func *k = members[m].kernel;
        if (ir_map_get(&taken, (uintptr_t)k) && !ir_is_declaration(k))
            members[m].kernel =
                ir_import_func(stage, k, ir_sprintf(in->scratch, "%s.member%u", k->name, m));
        ir_map_set(in->scratch, &taken, (uintptr_t)k, members);
    }
}

void pass_fuse_stage(const pass_fuse_input *in, pass_fuse_member *members, ir_module **stage) {
    const pass_fuse_request *r = in->request;
    const pass_options options = {.passes = simple, .bisect = -1};
    bool all_simple = true;
    for (uint32_t m = 0; m < r->nmembers; m++) all_simple &= is_simple(r->members[m].kernel);
    if (all_simple && !r->npromotions) return;
    *stage = ir_module_new(in->cx, "fuse", r->members[0].kernel->module->pointer_bits);
    copy_kernels(in, *stage, members);
    if (!all_simple && !pass_run(*stage, &options)) ir_throw(in->cx, in->cx->status);
    if (r->npromotions) separate_members(in, *stage, members);
}
