/* promote.c — decides which buffers become private or local memory.
 *
 * A request may say that the contents of a buffer are not needed before or after the fused kernel.
 * Then it can be memory of each work-item (private) or of each work-group (local), if
 *   - its address is used for accesses only (promote_uses.c),
 *   - no two items (groups) use the same byte, which a layout proves (layout.c); every offset
 *     becomes a position in the own part of the item (group), and
 *   - everything is written before it is read (assigned.c).
 * In place of the layout, the caller may assert that each item uses the n elements i, i + n, i + 2n
 * and so on, counted modulo n.  The offset is then taken modulo the size of the part.
 *
 * If a promotion was requested by name and is not possible, the fusion is refused.  A buffer that
 * may be promoted but need not (auto) remains in global memory, and the report gives the reason.
 */
#include "passes/fusion/fuse_impl.h"

enum {
    MAX_PRIVATE = 16384, /* bytes of each item, of each group, and of each item if auto */
    MAX_LOCAL = 32768,
    MAX_AUTO = 256
};

typedef struct {
    uint32_t member, param;
} member_param;

/* What the request says about one argument, and where it is used. */
typedef struct {
    const pass_promotion *buffer; /* the last property of the buffer itself, or NULL */
    uint32_t accessors;           /* how many parameters have a property of their own */
    const pass_promotion *local, *private, *any;
    ir_vec(member_param) params;
    ir_vec(pass_side) sides;
} subject;

typedef struct {
    const pass_fuse_input *in;
    const pass_summary *summary; /* by member */
    const subject *by_arg;
    pass_fuse_result *result; /* decisions, and what becomes of arguments */
} promoter;

/* ------------------------------------------------------------------------------------- requests */

static void add_request(subject *s, const pass_promotion *p, bool *has_own) {
    s->any = p;
    if (p->kind == PASS_PROMOTE_LOCAL) s->local = p;
    if (p->kind == PASS_PROMOTE_PRIVATE) s->private = p;
    if (!p->accessor) s->buffer = p;
    s->accessors += p->accessor && !*has_own;
    *has_own |= p->accessor;
}

static bool read_requests(const pass_fuse_input *in, const pass_fuse_result *result,
                          subject *by_arg) {
    const pass_fuse_request *r = in->request;
    bool **has_own = ir_new_array(in->scratch, bool *, r->nmembers);
    for (uint32_t m = 0; m < r->nmembers; m++)
        has_own[m] = ir_new_array(in->scratch, bool, r->members[m].kernel->nparams);
    for (uint32_t k = 0; k < r->npromotions; k++) {
        const pass_promotion *p = &r->promotions[k];
        if (p->member >= r->nmembers || p->param >= r->members[p->member].kernel->nparams)
            return ir_error(in->cx, "promotion of (%u, %u), which does not exist", p->member,
                            p->param);
        add_request(&by_arg[result->arg_of[p->member][p->param]], p, &has_own[p->member][p->param]);
    }
    return true;
}

/* Lists the parameters that each argument became, and its accesses. */
static void add_uses(const pass_summary *s, uint32_t m, ir_arena *scratch, subject *by_arg) {
    for (uint32_t p = 0; p < s->launch.kernel->nparams; p++)
        *ir_push(scratch, &by_arg[s->launch.argument[p]].params) = (member_param){m, p};
    for (uint32_t k = 0; k < s->accesses.n; k++) {
        const pass_side side = {s, &s->accesses.data[k]};
        uint32_t arg;
        if (pass_argument_of(&s->launch, side.access, &arg))
            *ir_push(scratch, &by_arg[arg].sides) = side;
    }
}

/* The promotion that is requested; *asked is NULL for none.  A property of a buffer holds for all
 * its parameters, and nothing may contradict it.  Properties of parameters count only when each has
 * one; local and private are local.  False after a reported error. */
static bool resolve(ir_ctx *cx, const subject *s, const pass_fuse_arg *arg,
                    const pass_promotion **asked) {
    *asked = NULL;
    if (s->buffer && s->local && s->private)
        return ir_error(cx, "%s is asked to be both local and private memory", arg->name);
    if (!s->buffer && s->accessors < arg->nparams) return true;
    *asked = s->local ? s->local : s->private ? s->private : s->any;
    return true;
}

/* ----------------------------------------------------------------------------------- candidates */

/* A buffer that may be promoted. */
typedef struct {
    const promoter *q;
    const char *name;
    const pass_promotion *asked;
    pass_promoted *to;
    struct {
        const char *rule, *text;
        pass_dependence_info accesses; /* that are the reason */
    } reason;                          /* against it */
} candidate;

static bool stop(candidate *c, const char *rule, const char *text) {
    c->reason.rule = rule;
    c->reason.text = text;
    return false;
}

/* Names an access, which the report shows, too. */
static const char *access_text(candidate *c, const pass_side *s) {
    pass_dependence_info *accesses = &c->reason.accesses;
    ir_text t = {.arena = c->q->in->out};
    pass_access_info *x = pass_describe_side(c->q->in, c->q->summary, s);
    *(accesses->first ? &accesses->second : &accesses->first) = x;
    pass_print_side(&t, x);
    return t.data;
}

static bool is_of_group(const candidate *c) { return c->to->space == IR_LOCAL; }

static const char *owner_text(const candidate *c) {
    return is_of_group(c) ? "work-group" : "work-item";
}

static bool uses_are_plain(candidate *c) {
    const promoter *q = c->q;
    const subject *x = &q->by_arg[c->to->arg];
    for (uint32_t k = 0; k < x->params.n; k++) {
        const member_param *at = &x->params.data[k];
        const ir_func *f = q->summary[at->member].launch.kernel;
        pass_address_uses uses;
        if (!pass_find_address_uses(f->param_val[at->param], is_of_group(c), q->in->scratch, &uses))
            return stop(c, uses.rule,
                        ir_sprintf(q->in->out, "@%s %s",
                                   q->in->request->members[at->member].kernel->name, uses.why));
    }
    return true;
}

/* --------------------------------------------------------------------------------------- layout */

static bool find_layout(const candidate *c, const pass_side *sides, uint32_t n) {
    pass_layout *l = &c->to->layout;
    return is_of_group(c) ? pass_find_layout(sides, n, PASS_BY_GROUP, l)
                          : pass_find_item_layout(sides, n, l);
}

/* Names the first access, or pair, that has no layout. */
static bool stop_for_layout(candidate *c) {
    const pass_side *s = c->to->sides;
    uint32_t n = c->to->nsides, b = n - 1;
    for (uint32_t k = 0; k < n; k++)
        if (!pass_is_understood(s[k].access))
            return stop(c, "promote.unknown",
                        ir_sprintf(c->q->in->out, "where %s is not known", access_text(c, &s[k])));
    while (b > 0 && find_layout(c, (const pass_side[]){s[0], s[b]}, 2)) b--;
    const char *first = access_text(c, &s[0]), *second = access_text(c, &s[b]);
    return stop(c, "promote.shared",
                ir_sprintf(c->q->in->out, "another %s may use the same bytes: %s; %s",
                           owner_text(c), first, second));
}

static bool has_groups(candidate *c) {
    const promoter *q = c->q;
    if (!is_of_group(c)) return true;
    if (!ir_has_local_size(&q->result->range))
        return stop(c, "promote.work-group", "the size of work-groups is not specified");
    for (uint32_t k = 0; k < c->to->nsides; k++)
        if (c->to->sides[k].of->remapped)
            return stop(
                c, "promote.remap",
                ir_sprintf(q->in->out, "ids are computed: %s", access_text(c, &c->to->sides[k])));
    return true;
}

/* ------------------------------------------------------------------------------------- elements */

static uint64_t count_groups(const ir_range *r) {
    uint64_t n = 1;
    for (unsigned d = 0; d < r->dims && ir_has_local_size(r); d++) n *= r->global[d] / r->local[d];
    return n;
}

/* Can the elements of the buffer be divided among its owners? */
static bool fits_elements(candidate *c) {
    const ir_range *range = &c->q->result->range;
    uint64_t owners = is_of_group(c) ? count_groups(range) : pass_range_items(range);
    uint64_t n = c->asked->elements;
    if (!n || c->asked->kind == PASS_PROMOTE_AUTO) return true;
    if (n >= owners && n % owners == 0) {
        c->to->elements = n / owners;
        return true;
    }
    return stop(c, "promote.elements",
                ir_sprintf(c->q->in->out, "its %llu elements cannot be divided among %llu %ss",
                           (unsigned long long)n, (unsigned long long)owners, owner_text(c)));
}

/* Is an access, wherever it begins, inside an element or an aligned piece of the part? */
static bool stays_inside(const pass_access *x, uint64_t element, uint64_t part) {
    uint64_t align = pass_access_align(x);
    return x->size && (x->size <= element || (x->size <= align && part % align == 0));
}

/* The caller asserts which elements an item uses: every access is in its own part. */
static bool assume_layout(candidate *c) {
    pass_promoted *to = c->to;
    if (!to->elements || !c->asked->element_size)
        return stop(c, "promote.elements",
                    "an asserted map needs the numbers of elements and bytes");
    to->assumed = true;
    to->bytes = UINT64_MAX;
    if (to->elements <= UINT64_MAX / c->asked->element_size)
        to->bytes = to->elements * c->asked->element_size;
    for (uint32_t k = 0; k < to->nsides; k++)
        if (!stays_inside(to->sides[k].access, c->asked->element_size, to->bytes))
            return stop(c, "promote.elements",
                        ir_sprintf(c->q->in->out, "it may reach over the end of a part: %s",
                                   access_text(c, &to->sides[k])));
    return true;
}

/* ------------------------------------------------------------------------------------ promotion */

static bool prove_layout(candidate *c) {
    pass_promoted *to = c->to;
    if (!to->nsides) return true;
    if (!find_layout(c, to->sides, to->nsides)) return stop_for_layout(c);
    to->bytes = pass_layout_bytes(&to->layout);
    const pass_side *read =
        pass_find_unassigned(&to->layout, to->sides, to->nsides, c->q->in->scratch);
    if (!read) return true;
    return stop(c, "promote.unassigned",
                ir_sprintf(c->q->in->out, "%s, and not all of it is known to be written",
                           access_text(c, read)));
}

static bool fits_memory(candidate *c) {
    uint64_t most = is_of_group(c) ? MAX_LOCAL : MAX_PRIVATE;
    if (c->asked->kind == PASS_PROMOTE_AUTO) most = MAX_AUTO;
    if (c->to->bytes <= most) return true;
    return stop(c, "promote.size",
                ir_sprintf(c->q->in->out, "each %s would need %llu bytes, more than %llu",
                           owner_text(c), (unsigned long long)c->to->bytes,
                           (unsigned long long)most));
}

static bool may_promote(candidate *c) {
    if (c->q->result->args[c->to->arg].kind != IR_ARG_POINTER)
        return stop(c, "promote.no-buffer", "it is no buffer");
    if (!uses_are_plain(c)) return false;
    if (!has_groups(c) || !fits_elements(c)) return false;
    return (c->asked->assume ? assume_layout(c) : prove_layout(c)) && fits_memory(c);
}

static const char *map_text(const candidate *c) {
    const pass_promoted *to = c->to;
    ir_text t = {.arena = c->q->in->out};
    if (to->assumed)
        ir_putf(&t, "element modulo %llu", (unsigned long long)to->elements);
    else if (to->nsides)
        pass_print_layout(&t, &to->layout);
    else
        ir_put(&t, "nothing");
    return t.data;
}

static pass_decision decide(const candidate *c, bool done, const char *map) {
    ir_arena *out = c->q->in->out;
    const char *kind = is_of_group(c) ? "local" : "private";
    bool refusal = !done && c->asked->kind != PASS_PROMOTE_AUTO;
    pass_decision d = {.rule = c->reason.rule, .refusal = refusal, .why = c->reason.accesses};
    if (d.why.first) d.why.kind = PASS_DEP_UNKNOWN;
    if (done) {
        d.rule = is_of_group(c) ? "promote.local" : "promote.private";
        d.text = ir_sprintf(out, "%s is %s memory: %llu bytes in each %s, at %s", c->name, kind,
                            (unsigned long long)c->to->bytes, owner_text(c), map);
    } else if (refusal) {
        d.text = ir_sprintf(out, "%s cannot be %s memory: %s", c->name, kind, c->reason.text);
    } else {
        d.text = ir_sprintf(out, "%s stays in global memory: %s", c->name, c->reason.text);
    }
    return d;
}

/* Is the argument promoted? */
static bool promote(const promoter *q, uint32_t arg, const pass_promotion *asked,
                    pass_promoted *to) {
    pass_fuse_arg *a = &q->result->args[arg];
    candidate c = {.q = q, .name = a->name, .asked = asked, .to = to};
    *to = (pass_promoted){.arg = arg,
                          .space = asked->kind == PASS_PROMOTE_LOCAL ? IR_LOCAL : IR_PRIVATE,
                          .sides = q->by_arg[arg].sides.data,
                          .nsides = q->by_arg[arg].sides.n};
    bool done = may_promote(&c);
    const char *map = done ? map_text(&c) : NULL;
    if (done) {
        a->state = PASS_ARG_PROMOTED;
        a->memory = to->space;
        a->bytes = to->bytes;
        a->map = map;
    }
    *ir_push(q->in->out, &q->result->decisions) = decide(&c, done, map);
    return done;
}

/* Legality takes an asserted map from here on: accesses are somewhere in the owner's part, items of
 * a group perhaps at different places. */
static void assert_offsets(pass_summary *summaries, const ir_range *r, const pass_promoted *p) {
    bool group = p->space == IR_LOCAL;
    pass_affine own = {0};
    int64_t stride = (int64_t)p->bytes;
    for (unsigned d = 0; d < r->dims && group; d++) {
        own.term[own.n++] = (pass_term){{IR_OP_group_id, d, NULL}, stride};
        stride = ir_wrap_mul(stride, (int64_t)(r->global[d] / r->local[d]));
    }
    if (!group) own = (pass_affine){.term = {{{IR_OP_global_linear_id, 0, NULL}, stride}}, .n = 1};
    for (uint32_t k = 0; k < p->nsides; k++) {
        const pass_summary *of = p->sides[k].of;
        pass_access *x =
            &summaries[of - summaries].accesses.data[p->sides[k].access - of->accesses.data];
        x->offset = own;
        x->size = p->bytes;
        x->always = x->bounded = false;
    }
}

bool pass_fuse_promote(const pass_fuse_input *in, pass_summary *summaries, pass_fuse_result *result,
                       pass_promotions *list) {
    if (!in->request->npromotions) return true;
    subject *by_arg = ir_new_array(in->scratch, subject, result->nargs);
    const promoter q = {in, summaries, by_arg, result};
    if (!read_requests(in, result, by_arg)) return false;
    for (uint32_t m = 0; m < in->request->nmembers; m++)
        add_uses(&summaries[m], m, in->scratch, by_arg);
    for (uint32_t a = 0; a < result->nargs; a++) {
        const pass_promotion *asked;
        pass_promoted p;
        if (!resolve(in->cx, &by_arg[a], &result->args[a], &asked)) return false;
        if (!asked) continue;
        if (promote(&q, a, asked, &p)) {
            if (p.assumed) assert_offsets(summaries, &result->range, &p);
            *ir_push(in->scratch, list) = p;
        } else if (asked->kind != PASS_PROMOTE_AUTO) {
            break;
        }
    }
    return true;
}
