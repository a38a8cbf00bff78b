/* fuse.c — fusion: several kernels become one, whose work-items run the bodies one after another.
 *
 * The steps, each in a file of its own:
 *
 *   attributes   those that hold for all members                              (fuse_attrs.c)
 *   range        one nd-range for all; smaller members get guards             (fuse_range.c)
 *   bodies       copies without calls and stack variables                     (fuse_stage.c)
 *   fit          refuses bodies that would not mean the same                  (fuse_fit.c)
 *   parameters   one for each class of identical ones                         (fuse_params.c)
 *   summaries    what each member reads and writes                            (fuse_summary.c)
 *   promotion    which buffers become private or local memory                 (promote.c)
 *   legality     whether the bodies may follow each other, and where to wait  (legality.c)
 *   kernel       bodies, guards and barriers                                  (fuse_build.c)
 *   constants    arguments and sizes that are known                (argconst.c, specialize.c)
 *
 * The members are not changed.  A request that contradicts itself is an error, and a legal request
 * that cannot be fused is a refusal.  In both cases nothing is left of the fused kernel.
 */
#include "passes/fusion/fuse_impl.h"

/* BROKEN: the fused kernel breaks the rules of the IR. */
typedef enum { FAILED, REFUSED, BROKEN, FUSED } outcome;

typedef struct {
    pass_fuse_input in;
    pass_fuse_member *members; /* those of the input, as long as steps complete them */
    ir_module *stage;          /* holds bodies that are copies, or NULL */
    pass_fuse_result *result;
    outcome outcome;
} fusion;

/* -------------------------------------------------------------------------------------- members */

static bool is_kernel(const pass_fuse_input *in, const ir_func *k) {
    if (!(k->flags & IR_FUNC_KERNEL)) return ir_error(in->cx, "@%s is not a kernel", k->name);
    if (ir_is_declaration(k))
        return ir_error(in->cx, "@%s has no body%s%s", k->name, k->refusal ? ": " : "",
                        k->refusal ? k->refusal : "");
    const ir_module *like = in->request->into;
    if (!like) like = in->request->members[0].kernel->module;
    if (k->module->pointer_bits != like->pointer_bits)
        return ir_error(in->cx, "@%s has pointers of %u bits, the fused kernel of %u", k->name,
                        k->module->pointer_bits, like->pointer_bits);
    return true;
}

static bool are_kernels(const pass_fuse_input *in) {
    if (in->request->nmembers == 0) return ir_error(in->cx, "nothing to fuse");
    for (uint32_t m = 0; m < in->request->nmembers; m++)
        if (!is_kernel(in, in->request->members[m].kernel)) return false;
    return true;
}

/* A required work-group size is an explicit local size. */
static bool require_local_size(const pass_fuse_input *in, pass_fuse_member *member) {
    ir_range *r = &member->range;
    const uint32_t *size = member->kernel->attrs.local_size;
    if (!size[0]) return true;
    for (unsigned d = 0; d < 3; d++) {
        uint64_t local = pass_local_size(r, d);
        bool given = ir_has_local_size(r) || d >= r->dims;
        if (given && local != size[d])
            return ir_error(in->cx, "@%s requires work-groups of %u,%u,%u: %s",
                            member->kernel->name, size[0], size[1], size[2],
                            pass_range_text(in->out, r));
    }
    for (unsigned d = 0; d < r->dims && d < 3; d++) r->local[d] = size[d];
    return true;
}

static bool find_range(const pass_fuse_input *in, pass_fuse_member *members,
                       pass_fuse_result *result) {
    uint32_t n = in->request->nmembers;
    ir_range *fused = &result->range;
    for (uint32_t m = 0; m < n; m++)
        if (!require_local_size(in, &members[m])) return false;
    if (!pass_fuse_range(in->cx, members, n, in->scratch, fused)) return false;
    for (unsigned d = 0; d < 3 && members[0].kernel->module->pointer_bits == 32; d++)
        if (fused->global[d] + fused->offset[d] > UINT32_MAX)
            return ir_error(in->cx, "too many work-items for 32-bit ids: %s",
                            pass_range_text(in->out, fused));
    pass_decide(in, result, "fuse.range",
                ir_sprintf(in->out, "runs on %s", pass_range_text(in->out, fused)));
    return true;
}

/* --------------------------------------------------------------------------------------- module */

static ir_module *make_module(const pass_fuse_input *in) {
    const pass_fuse_request *r = in->request;
    const ir_module *like = r->members[0].kernel->module;
    ir_module *m = r->into;
    if (!m) m = ir_module_new(in->cx, r->name ? r->name : "fused", like->pointer_bits);
    if (!m->source_language && !m->source_version) {
        m->source_language = like->source_language;
        m->source_version = like->source_version;
    }
    return m;
}

static void discard(const pass_fuse_request *request, pass_fuse_result *r) {
    if (request->into && r->kernel) ir_func_remove(r->kernel);
    if (!request->into) ir_module_free(r->module);
    r->module = NULL;
    r->kernel = NULL;
}

/* ---------------------------------------------------------------------------------------- steps */

static outcome run_steps(fusion *q) {
    const pass_fuse_input *in = &q->in;
    pass_fuse_result *r = q->result;
    ir_kernel_attrs attrs;
    pass_promotions promotions = {0};
    if (!are_kernels(in) || !pass_fuse_attrs(in, r, &attrs)) return FAILED;
    if (!find_range(in, q->members, r)) return FAILED;
    pass_fuse_stage(in, q->members, &q->stage);
    if (!pass_fuse_fit(in, q->stage != NULL, r)) return REFUSED;
    r->module = make_module(in);
    if (!pass_fuse_params(in, r)) return FAILED;
    pass_summary *summaries = pass_fuse_summaries(in, r);
    if (!pass_fuse_promote(in, summaries, r, &promotions)) return FAILED;
    if (!pass_fuse_legal(in, summaries, r)) return REFUSED;
    pass_promote_bodies(in, &promotions, summaries, r);
    pass_fuse_build(in, &promotions, r);
    r->kernel->attrs = attrs;
    if (!pass_fuse_constants(in, r)) return FAILED;
    const pass_launch launch = {.kernel = r->kernel, .range = &r->range};
    if (in->request->known_range) pass_apply_range(&launch);
    return ir_verify_func(r->kernel) ? FUSED : BROKEN;
}

/* A refused or wrong request counts as nothing; guards and barriers are counted where they are
 * built. */
static void count_result(const pass_fuse_input *in, const pass_fuse_result *r) {
    ir_count(in->cx, fusion_kernels, 1);
    ir_count(in->cx, fusion_members, in->request->nmembers);
    for (uint32_t a = 0; a < r->nargs; a++) {
        const pass_fuse_arg *arg = &r->args[a];
        bool promoted = arg->state == PASS_ARG_PROMOTED;
        ir_count(in->cx, fusion_merged, arg->nparams - 1);
        ir_count(in->cx, fusion_constants, arg->state == PASS_ARG_FOLDED);
        ir_count(in->cx, fusion_private, promoted && arg->memory == IR_PRIVATE);
        ir_count(in->cx, fusion_local, promoted && arg->memory == IR_LOCAL);
    }
}

static void fuse(void *user) {
    fusion *q = user;
    const pass_fuse_request *r = q->in.request;
    q->members = ir_dup(q->in.scratch, r->members, r->nmembers * sizeof *r->members);
    q->in.members = q->members;
    q->outcome = run_steps(q);
    if (q->outcome == FUSED) count_result(&q->in, q->result);
}

bool pass_fuse(ir_ctx *cx, const pass_fuse_request *request, ir_arena *out,
               pass_fuse_result *result) {
    ir_arena scratch;
    fusion q = {.in = {.cx = cx, .request = request, .scratch = &scratch, .out = out},
                .result = result};
    *result = (pass_fuse_result){0};
    ir_arena_init(&scratch, cx);
    bool finished = ir_try(cx, fuse, &q);
    if (q.outcome != FUSED) discard(request, result);
    if (finished && q.outcome == FAILED) cx->status = IR_ERR_INPUT;
    if (q.outcome == BROKEN) cx->status = IR_ERR_INTERNAL;
    ir_module_free(q.stage);
    ir_arena_free(&scratch);
    return finished && (q.outcome == FUSED || q.outcome == REFUSED);
}
