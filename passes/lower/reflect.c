/* reflect.c — queries about the device become constants.
 *
 *   does        SYCL and CUDA compilers leave questions about the device in their code as calls of
 *               functions without a body.  Two conventions are known: functions whose names begin
 *               with __acpp_sscp_jit_reflect_ or __acpp_sscp_s2_reflect_ (AdaptiveCpp's SSCP
 *               compiler), the rest being the query, or knows_ and the query; and __nvvm_reflect,
 *               which is given the query as a string (CUDA's libdevice)
 *   needs       code as it was read: kernels that call what has no body are refused later
 *   leaves      constants, and dead branches for sccp and simplifycfg
 *   gives up    on queries that it does not know, whose calls stay, unless they ask whether a query
 *               is known; and on strings that are not constants
 */
#include "passes/lower/reflect.h"

typedef struct {
    const char *name;
    bool known;
    uint64_t value;
} answer;

static bool find(const answer *list, size_t n, const char *name, uint64_t *value) {
    for (size_t k = 0; k < n; k++)
        if (!strcmp(list[k].name, name)) {
            *value = list[k].value;
            return list[k].known;
        }
    return false;
}

#define FIND(list, name, value) find(list, sizeof list / sizeof *list, name, value)

static bool answer_acpp(const pass_reflection *r, const char *query, uint64_t *value) {
    const answer list[] = {
        {"target_is_cpu", true, !r->is_gpu},
        {"target_is_gpu", true, r->is_gpu},
        {"target_vendor_id", r->vendor != 0, r->vendor},
        {"target_arch", true, r->arch},
        {"target_has_independent_forward_progress", true, r->forward_progress},
        {"runtime_backend", true, r->runtime},
        {"compiler_backend", true, r->compiler},
        {"warp_size", r->subgroup != 0, r->subgroup},
    };
    return FIND(list, query, value);
}

/* What is not known is 0 by convention. */
static bool answer_nvvm(const pass_reflection *r, const char *query, uint64_t *value) {
    const answer list[] = {
        {"__CUDA_ARCH", true, (uint64_t)r->arch * 10},
        {"__CUDA_PREC_DIV", true, 1},
        {"__CUDA_PREC_SQRT", true, 1},
    };
    *value = 0;
    FIND(list, query, value);
    return true;
}

/* What follows the prefix; NULL: it is another one. */
static const char *after(const char *name, const char *prefix) {
    size_t n = strlen(prefix);
    return strncmp(name, prefix, n) ? NULL : name + n;
}

/* The string that a pointer leads to, or NULL. */
static const char *string_at(const ir_inst *p) {
    while (p->op == IR_OP_ptrcast ||
           (p->op == IR_OP_ptradd && ir_arg(p, 1)->op == IR_OP_const && !ir_arg(p, 1)->imm.bits))
        p = ir_arg(p, 0);
    const ir_global *g = p->op == IR_OP_address ? p->imm.global : NULL;
    if (!g || !g->constant || !g->init) return NULL;
    return memchr(g->init, 0, ir_sizeof(g->module, g->type)) ? (const char *)g->init : NULL;
}

static const char *acpp_query(const char *name) {
    const char *query = after(name, "__acpp_sscp_jit_reflect_");
    return query ? query : after(name, "__acpp_sscp_s2_reflect_");
}

static bool find_answer(const pass_reflection *r, const ir_inst *call, uint64_t *value) {
    const char *name = call->imm.func->name, *query = acpp_query(name);
    if (!strcmp(name, "__nvvm_reflect") || !strcmp(name, "__nvvm_reflect_ocl")) {
        query = call->nargs == 1 && ir_is_ptr(ir_arg(call, 0)->type) ? string_at(ir_arg(call, 0))
                                                                     : NULL;
        return query && answer_nvvm(r, query, value);
    }
    if (!query) return false;
    const char *known = after(query, "knows_");
    if (!known) return answer_acpp(r, query, value);
    *value = answer_acpp(r, known, value);
    return true;
}

static bool is_query(const ir_inst *i) {
    if (i->op != IR_OP_call || !ir_is_declaration(i->imm.func)) return false;
    return (ir_is_int(i->type) || ir_is_bool(i->type)) && !ir_is_vector(i->type);
}

static unsigned reflect(ir_func *f, const pass_reflection *r) {
    unsigned answered = 0;
    uint64_t value;
    foreach_block (b, f)
        foreach_inst (i, b) {
            if (!is_query(i) || !find_answer(r, i, &value)) continue;
            ir_replace_uses(i, ir_const(f, i->type, value));
            ir_remove(i);
            answered++;
        }
    return answered;
}

unsigned pass_reflect(ir_module *m, const pass_reflection *r) {
    unsigned answered = 0;
    if (!r->known) return 0;
    foreach_func (f, m)
        if (!ir_is_declaration(f)) answered += reflect(f, r);
    return answered;
}
