/* fuse_params.c — the parameters of a fused kernel.
 *
 * All parameters of all members form classes: two that an identity names are in one class, closed
 * transitively (union-find with path halving; the first parameter of a class represents it).  Each
 * class becomes one parameter, in the order of the representatives.
 *
 * Names: <kernel>_<parameter>, or <kernel>_arg<N> when the parameter has none.  The second and
 * further occurrences of a kernel get _1, _2 … after that; a name that is still taken gets the
 * first free _N.
 *
 * Facts about a parameter describe one body; of the fused kernel they must hold for all of them:
 *   type, address space, by-value size     must agree, or the identity is an error
 *   align                                  the greatest: each is a promise about the same pointer
 *   noalias, restrict                      dropped, except for a single member: one body may use
 *                                          through another parameter what this one promises alone;
 *                                          legality.c gives them back where it can
 *   readonly, noaccess, nocapture          if they hold in every body that uses the parameter
 *   volatile                               if it holds in one
 *   all other attributes                   if they hold in all
 *   type name                              if it is the same in all
 */
#include "passes/fusion/fuse_impl.h"

/* One parameter of one member. */
typedef struct {
    uint32_t member, param;
    uint32_t parent; /* union-find: a place of the same class, not after this one */
    ir_type type;    /* in the fused module */
} member_param;

/* All parameters of all members, and the kernel that is declared. */
typedef struct {
    const pass_fuse_input *in;
    pass_fuse_result *result;
    member_param *places;
    uint32_t *first; /* by member: its first place */
    uint32_t n;
    ir_param *facts; /* by argument */
} merging;

/* --------------------------------------------------------------------------------------- places */

static const ir_func *kernel_of(const merging *q, const member_param *p) {
    return q->in->request->members[p->member].kernel;
}

static const ir_param *param_of(const merging *q, const member_param *p) {
    return &kernel_of(q, p)->param[p->param];
}

static void list_places(merging *q) {
    uint32_t members = q->in->request->nmembers;
    q->first = ir_new_array(q->in->out, uint32_t, members);
    for (uint32_t m = 0; m < members; m++) {
        q->first[m] = q->n;
        q->n += q->in->request->members[m].kernel->nparams;
    }
    q->places = ir_new_array(q->in->out, member_param, q->n);
    for (uint32_t m = 0, at = 0; m < members; m++) {
        const ir_func *k = q->in->request->members[m].kernel;
        for (uint32_t p = 0; p < k->nparams; p++, at++) {
            ir_type t = ir_import_type(q->result->module, k->module, k->param_val[p]->type);
            q->places[at] = (member_param){m, p, at, t};
        }
    }
}

static uint32_t find_class(merging *q, uint32_t at) {
    while (q->places[at].parent != at) {
        q->places[at].parent = q->places[q->places[at].parent].parent;
        at = q->places[at].parent;
    }
    return at;
}

static bool is_place(const pass_fuse_request *r, uint32_t member, uint32_t param) {
    return member < r->nmembers && param < r->members[member].kernel->nparams;
}

/* ----------------------------------------------------------------------------------- identities */

/* "@k parameter 2 x (ptr.global)" */
static const char *describe(const merging *q, const member_param *p) {
    ir_text t = {.arena = q->in->out};
    const ir_param *info = param_of(q, p);
    ir_putf(&t, "@%s parameter %u%s%s (", kernel_of(q, p)->name, p->param, info->name ? " " : "",
            info->name ? info->name : "");
    if (info->attrs & IR_PARAM_BYVAL)
        ir_putf(&t, "struct of %llu bytes", (unsigned long long)info->byval_size);
    else
        ir_print_type(&t, q->result->module, p->type);
    ir_put(&t, ")");
    return t.data;
}

static bool have_same_kind(const merging *q, const member_param *a, const member_param *b) {
    const ir_param *x = param_of(q, a), *y = param_of(q, b);
    return a->type == b->type && !((x->attrs ^ y->attrs) & IR_PARAM_BYVAL) &&
           x->byval_size == y->byval_size;
}

static bool unite(merging *q, const pass_identity *i) {
    uint32_t a = find_class(q, q->first[i->member_a] + i->param_a);
    uint32_t b = find_class(q, q->first[i->member_b] + i->param_b);
    if (!have_same_kind(q, &q->places[a], &q->places[b]))
        return ir_error(q->in->cx, "parameters declared identical differ in type: %s, %s",
                        describe(q, &q->places[q->first[i->member_a] + i->param_a]),
                        describe(q, &q->places[q->first[i->member_b] + i->param_b]));
    q->places[a < b ? b : a].parent = a < b ? a : b;
    return true;
}

static bool unite_all(merging *q) {
    const pass_fuse_request *r = q->in->request;
    for (uint32_t n = 0; n < r->nidentities; n++) {
        const pass_identity *i = &r->identities[n];
        if (!is_place(r, i->member_a, i->param_a) || !is_place(r, i->member_b, i->param_b))
            return ir_error(q->in->cx,
                            "identity (%u, %u) = (%u, %u) names a parameter that does not exist",
                            i->member_a, i->param_a, i->member_b, i->param_b);
        if (!unite(q, i)) return false;
    }
    return true;
}

/* ---------------------------------------------------------------------------------------- names */

static uint64_t key_of(uint64_t seed, const char *s) { return ir_hash(seed, s, strlen(s)) | 1; }

/* The number of members before each member that run a kernel of the same name. */
static uint32_t *number_instances(const merging *q) {
    ir_map seen = {0}; /* kernel name -> its latest member's number, which is counted on */
    uint32_t *number = ir_new_array(q->in->out, uint32_t, q->in->request->nmembers);
    for (uint32_t m = 0; m < q->in->request->nmembers; m++) {
        uint64_t key = key_of(0, q->in->request->members[m].kernel->name);
        const uint32_t *before = ir_map_get(&seen, key);
        number[m] = before ? *before + 1 : 0;
        ir_map_set(q->in->out, &seen, key, &number[m]);
    }
    return number;
}

static const char *name_argument(const merging *q, const member_param *p, uint32_t instance,
                                 ir_map *taken) {
    const char *kernel = kernel_of(q, p)->name, *param = param_of(q, p)->name;
    char *name = param ? ir_sprintf(q->in->out, "%s_%s", kernel, param)
                       : ir_sprintf(q->in->out, "%s_arg%u", kernel, p->param);
    if (instance) name = ir_sprintf(q->in->out, "%s_%u", name, instance);
    const char *base = name;
    for (unsigned n = 1; ir_map_get(taken, key_of(1, name)); n++)
        name = ir_sprintf(q->in->out, "%s_%u", base, n);
    ir_map_set(q->in->out, taken, key_of(1, name), name);
    return name;
}

/* ---------------------------------------------------------------------------------------- facts */

enum {
    ACCESS = IR_PARAM_READONLY | IR_PARAM_NOACCESS | IR_PARAM_NOCAPTURE,
    NO_ALIAS = IR_PARAM_NOALIAS | IR_PARAM_RESTRICT
};

/* What a body promises about its access; without any use of the parameter, everything. */
static uint32_t access_of(const merging *q, const member_param *p) {
    uint32_t attrs = param_of(q, p)->attrs;
    if (!kernel_of(q, p)->param_val[p->param]->uses) return ACCESS;
    return attrs & IR_PARAM_NOACCESS ? attrs | IR_PARAM_READONLY : attrs;
}

static void merge_facts(const merging *q, ir_param *into, uint32_t *access, const member_param *p) {
    const ir_param *from = param_of(q, p);
    *access &= access_of(q, p);
    uint32_t in_all = into->attrs & from->attrs & ~(uint32_t)(ACCESS | NO_ALIAS);
    uint32_t in_one = (into->attrs | from->attrs) & (IR_PARAM_VOLATILE | IR_PARAM_SPECIALIZED);
    into->attrs = in_all | in_one | (*access & ACCESS);
    if (from->align > into->align) into->align = from->align;
    const char *name = into->type_name;
    if (name && !(from->type_name && strcmp(name, from->type_name) == 0)) into->type_name = NULL;
}

static ir_param first_facts(const merging *q, const member_param *p) {
    ir_module *m = q->result->module;
    ir_param facts = *param_of(q, p);
    facts.pointee = ir_import_type(m, kernel_of(q, p)->module, facts.pointee);
    facts.closure = 0; /* it is one of the member's parameters, not of the fused kernel's */
    facts.offset = 0;
    facts.special = facts.special_arg = 0;
    if (facts.attrs & IR_PARAM_SPILLED) facts.byval_size = 0;
    facts.attrs &= ~(uint32_t)(IR_PARAM_SPILLED | IR_PARAM_OPTIONAL);
    if (facts.type_name) facts.type_name = ir_strdup(&m->arena, facts.type_name);
    if (q->in->request->nmembers > 1) facts.attrs &= ~(uint32_t)NO_ALIAS;
    return facts;
}

/* ------------------------------------------------------------------------------------ arguments */

static void add_argument(merging *q, const member_param *p, const char *name) {
    pass_fuse_result *r = q->result;
    ir_param facts = first_facts(q, p);
    facts.name = ir_strdup(&r->module->arena, name);
    q->facts[r->nargs] = facts;
    r->args[r->nargs] = (pass_fuse_arg){.member = p->member,
                                        .param = p->param,
                                        .name = name,
                                        .kind = ir_arg_kind_of(p->type, &facts),
                                        .nparams = 1,
                                        .index = r->nargs};
    r->nargs++;
}

/* A representative comes before the others of its class. */
static void make_arguments(merging *q) {
    pass_fuse_result *r = q->result;
    const uint32_t *instance = number_instances(q);
    uint32_t *access = ir_new_array(q->in->out, uint32_t, q->n);
    ir_map taken = {0};
    q->facts = ir_new_array(q->in->out, ir_param, q->n);
    r->args = ir_new_array(q->in->out, pass_fuse_arg, q->n);
    r->arg_of = ir_new_array(q->in->out, uint32_t *, q->in->request->nmembers);
    for (uint32_t m = 0; m < q->in->request->nmembers; m++)
        r->arg_of[m] =
            ir_new_array(q->in->out, uint32_t, q->in->request->members[m].kernel->nparams);
    for (uint32_t at = 0; at < q->n; at++) {
        const member_param *p = &q->places[at], *head = &q->places[find_class(q, at)];
        uint32_t arg = p == head ? r->nargs : r->arg_of[head->member][head->param];
        r->arg_of[p->member][p->param] = arg;
        if (p != head) {
            r->args[arg].nparams++;
            merge_facts(q, &q->facts[arg], &access[arg], p);
            continue;
        }
        access[arg] = access_of(q, p);
        add_argument(q, p, name_argument(q, p, instance[p->member], &taken));
    }
}

static bool declare(merging *q) {
    pass_fuse_result *r = q->result;
    const char *name = q->in->request->name ? q->in->request->name : "fused";
    ir_type *types = ir_new_array(q->in->out, ir_type, r->nargs);
    if (ir_func_find(r->module, name) || ir_global_find(r->module, name))
        return ir_error(q->in->cx, "there is already a @%s in %s", name, r->module->name);
    for (uint32_t a = 0; a < r->nargs; a++)
        types[a] = q->places[q->first[r->args[a].member] + r->args[a].param].type;
    r->kernel = ir_func_new(r->module, name, IR_VOID, r->nargs, types);
    r->kernel->flags = IR_FUNC_KERNEL;
    if (r->nargs) memcpy(r->kernel->param, q->facts, r->nargs * sizeof *q->facts);
    return true;
}

bool pass_fuse_params(const pass_fuse_input *in, pass_fuse_result *result) {
    merging q = {.in = in, .result = result};
    list_places(&q);
    if (!unite_all(&q)) return false;
    make_arguments(&q);
    return declare(&q);
}

/* ----------------------------------------------------------------------- arguments that go away */

/* Takes away the parameters of all arguments that are not used any more. */
static void drop_params(pass_fuse_result *r) {
    bool *keep = ir_new_array(&r->module->arena, bool, r->kernel->nparams);
    uint32_t left = 0;
    for (uint32_t a = 0; a < r->nargs; a++) {
        pass_fuse_arg *arg = &r->args[a];
        if (arg->index == PASS_NO_PARAM) continue;
        keep[arg->index] = arg->state == PASS_ARG_USED;
        arg->index = arg->state == PASS_ARG_USED ? left++ : PASS_NO_PARAM;
    }
    ir_keep_params(r->kernel, keep);
}

static bool is_referred_to(const ir_module *m, ir_global *g) {
    foreach_global (from, m)
        for (uint32_t k = 0; k < from->nreloc; k++)
            if (from->reloc[k].global == g) return true;
    foreach_func (f, m)
        if (!ir_is_declaration(f) && ir_address(f, g)->uses) return true;
    return false;
}

void pass_fuse_trim(pass_fuse_result *r) {
    for (uint32_t a = 0; a < r->nargs; a++) {
        pass_fuse_arg *arg = &r->args[a];
        if (arg->state == PASS_ARG_USED && !r->kernel->param_val[arg->index]->uses)
            arg->state = PASS_ARG_UNUSED;
    }
    drop_params(r);
    foreach_global (g, r->module)
        if (g->space == IR_LOCAL && !is_referred_to(r->module, g)) ir_global_remove(g);
}

/* by_arg: the constant that an argument already has, or NULL. */
static bool fold_constant(ir_ctx *cx, pass_fuse_result *r, const pass_constant *c,
                          const pass_constant **by_arg) {
    uint32_t at = r->arg_of[c->member][c->param];
    pass_fuse_arg *arg = &r->args[at];
    const pass_constant *other = by_arg[at];
    if (other && (other->size != c->size || memcmp(other->bytes, c->bytes, c->size) != 0))
        return ir_error(cx, "argument %s is given two different constants", arg->name);
    if (other) return true;
    by_arg[at] = c;
    arg->state = PASS_ARG_FOLDED;
    return pass_fold_argument(r->kernel, arg->index, c->bytes, c->size);
}

bool pass_fuse_constants(const pass_fuse_input *in, pass_fuse_result *result) {
    const pass_fuse_request *r = in->request;
    ir_arena *a = &result->module->arena;
    const pass_constant **by_arg = ir_new_array(a, const pass_constant *, result->nargs);
    for (uint32_t n = 0; n < r->nconstants; n++) {
        const pass_constant *c = &r->constants[n];
        if (!is_place(r, c->member, c->param))
            return ir_error(in->cx, "constant for (%u, %u), which does not exist", c->member,
                            c->param);
        if (!fold_constant(in->cx, result, c, by_arg)) return false;
    }
    drop_params(result);
    return true;
}
