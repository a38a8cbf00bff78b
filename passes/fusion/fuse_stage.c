/* fuse_stage.c — the bodies that fusion works with.
 *
 * Fusion needs bodies without calls, and addresses that can be understood: ids are in values, not
 * in stack variables, and pointers do not step through loops.  If all kernels are like that, they
 * are taken as they are.  Otherwise all of them are copied into one module, so that what they share
 * stays shared, and simplified there.  Promotion changes bodies, each in its own way; then each
 * member gets its own copy of the simplified body.
 */
#include "passes/fusion/fuse_impl.h"

static const char simple[] =
    "inline,sroa,mem2reg,simplify,sccp,simplifycfg,ptrvars,simplify,gvn,memopt,dce";

typedef struct {
    const pass_fuse_request *request;
    pass_fuse_member *members;
    ir_arena *scratch;
    ir_importer im;
    ir_map known; /* kernel -> its copy */
    ir_map taken; /* copies that a member has for itself */
} stager;

static bool is_plain(const ir_inst *i) {
    return i->op != IR_OP_call && i->op != IR_OP_alloca &&
           !(i->op == IR_OP_phi && ir_is_ptr(i->type));
}

static bool is_simple(const ir_func *f) {
    foreach_block (b, f)
        foreach_inst (i, b)
            if (!is_plain(i)) return false;
    return true;
}

static void copy_kernel(stager *s, uint32_t m) {
    const ir_func *k = s->request->members[m].kernel;
    ir_func *copy = ir_map_get(&s->known, (uintptr_t)k);
    if (!copy) copy = ir_importer_copy(&s->im, k, k->name);
    ir_map_set(s->scratch, &s->known, (uintptr_t)k, copy);
    s->members[m].kernel = copy;
}

/* The second member that runs a kernel, and each further one, gets a copy of its own. */
static void copy_again(stager *s, uint32_t m) {
    const ir_func *k = s->members[m].kernel;
    const char *name = ir_sprintf(s->scratch, "%s.member%u", k->name, m);
    if (ir_map_get(&s->taken, (uintptr_t)k) && !ir_is_declaration(k))
        s->members[m].kernel = ir_import_func(s->im.m, k, name);
    ir_map_set(s->scratch, &s->taken, (uintptr_t)k, s);
}

void pass_fuse_stage(ir_ctx *cx, const pass_fuse_request *request, pass_fuse_member *members,
                     ir_arena *scratch, ir_module **stage) {
    bool all_simple = true;
    for (uint32_t m = 0; m < request->nmembers; m++)
        all_simple &= is_simple(request->members[m].kernel);
    if (all_simple && !request->npromotions) return;
    *stage = ir_module_new(cx, "fuse", request->members[0].kernel->module->pointer_bits);
    stager s = {.request = request, .members = members, .scratch = scratch, .im.m = *stage};
    for (uint32_t m = 0; m < request->nmembers; m++) copy_kernel(&s, m);
    const pass_options o = {.passes = simple, .bisect = -1};
    if (!all_simple && !pass_run(*stage, &o)) ir_throw(cx, cx->status);
    for (uint32_t m = 0; m < request->nmembers && request->npromotions; m++) copy_again(&s, m);
}
