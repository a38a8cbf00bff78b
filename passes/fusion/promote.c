/* promote.c — buffers that need not be memory of the device.
 *
 * A request may say that the contents of a buffer are not needed before or after the fused kernel.
 * Then it can be memory of each work-item (private) or of each work-group (local), when
 *   - its address goes nowhere but into accesses (promote_uses.c),
 *   - no two items (groups) use the same byte, which a layout proves (layout.c); every offset
 *     becomes a position in the item's (group's) own part, and
 *   - everything is written before it is read (assigned.c).
 * Instead of the proof that a layout is, the caller may assert that items use the elements i, i +
 * n, i + 2n and so on of n per item, counted modulo n: the offset is then taken modulo the size of
 * the part.
 *
 * A promotion that was asked for by name and cannot be done refuses the fusion.  A buffer that may
 * be promoted but need not (auto) stays where it is, and the report says why.
 */
#include "passes/fusion/fuse_impl.h"

enum {
    MAX_PRIVATE = 16384, /* bytes of each item, of each group, and of items without being asked */
    MAX_LOCAL = 32768,
    MAX_AUTO = 256
};

typedef struct {
    ir_ctx *cx;
    const pass_fuse_request *request;
    pass_summary *summary; /* by member */
    ir_arena *out, *scratch;
    pass_fuse_result *result;
    struct subject *by_arg;
} promoter;

/* ------------------------------------------------------------------------------------- requests */

typedef struct {
    uint32_t member, param;
} place;

/* What is asked of one argument, and where it is used. */
typedef struct subject {
    const pass_promotion *buffer; /* the last that speaks of the buffer, or NULL */
    uint32_t accessors;           /* how many parameters have a property of their own */
    const pass_promotion *local, *private, *any;
    ir_vec(place) params;
    ir_vec(pass_side) sides;
} subject;

static void add_wish(subject *w, const pass_promotion *p, bool *has_own) {
    w->any = p;
    if (p->kind == PASS_PROMOTE_LOCAL) w->local = p;
    if (p->kind == PASS_PROMOTE_PRIVATE) w->private = p;
    if (!p->accessor) w->buffer = p;
    w->accessors += p->accessor && !*has_own;
    *has_own |= p->accessor;
}

/* A property of a buffer holds for all its parameters, and nothing may contradict it.  Properties
 * of parameters count only when each has one; local and private are local. */
static bool resolve(promoter *q, const subject *w, const pass_fuse_arg *arg,
                    const pass_promotion **wish) {
    *wish = NULL;
    if (w->buffer && w->local && w->private)
        return ir_error(q->cx, "%s is asked to be both local and private memory", arg->name);
    if (!w->buffer && w->accessors < arg->nparams) return true;
    *wish = w->local ? w->local : w->private ? w->private : w->any;
    return true;
}

static bool read_wishes(promoter *q) {
    const pass_fuse_request *r = q->request;
    bool **has_own = ir_new_array(q->scratch, bool *, r->nmembers);
    for (uint32_t m = 0; m < r->nmembers; m++)
        has_own[m] = ir_new_array(q->scratch, bool, r->members[m].kernel->nparams);
    for (uint32_t k = 0; k < r->npromotions; k++) {
        const pass_promotion *p = &r->promotions[k];
        if (p->member >= r->nmembers || p->param >= r->members[p->member].kernel->nparams)
            return ir_error(q->cx, "promotion of (%u, %u), which does not exist", p->member,
                            p->param);
        add_wish(&q->by_arg[q->result->arg_of[p->member][p->param]], p,
                 &has_own[p->member][p->param]);
    }
    return true;
}

static void add_places(promoter *q, uint32_t m) {
    const pass_summary *s = &q->summary[m];
    const uint32_t *arg_of = q->result->arg_of[m];
    for (uint32_t p = 0; p < s->launch.kernel->nparams; p++)
        *ir_push(q->scratch, &q->by_arg[arg_of[p]].params) = (place){m, p};
    for (uint32_t k = 0; k < s->accesses.n; k++) {
        const pass_side side = {s, &s->accesses.data[k]};
        uint32_t arg;
        if (pass_argument_of(&s->launch, side.access, &arg))
            *ir_push(q->scratch, &q->by_arg[arg].sides) = side;
    }
}

/* ------------------------------------------------------------------------------------ judgement */

/* One buffer on its way. */
typedef struct {
    promoter *q;
    pass_fuse_arg *arg;
    const pass_promotion *wish;
    pass_promoted *to;
    const char *rule; /* why not */
    const char *why;
    pass_dependence_info accesses; /* that are why */
} candidate;

static bool stop(candidate *c, const char *rule, const char *why) {
    c->rule = rule;
    c->why = why;
    return false;
}

/* Names an access, which the report shows, too. */
static const char *access_text(candidate *c, const pass_side *s) {
    const promoter *q = c->q;
    ir_text t = {.arena = q->out};
    pass_access_info *x = pass_describe_side(q->request, q->summary, s, q->out);
    *(c->accesses.first ? &c->accesses.second : &c->accesses.first) = x;
    pass_print_side(&t, x);
    return t.data;
}

static bool is_group(const candidate *c) { return c->to->space == IR_LOCAL; }

static const char *owner_text(const candidate *c) {
    return is_group(c) ? "work-group" : "work-item";
}

static bool uses_are_plain(candidate *c) {
    const promoter *q = c->q;
    const subject *x = &q->by_arg[c->to->arg];
    for (uint32_t k = 0; k < x->params.n; k++) {
        const place *at = &x->params.data[k];
        const ir_func *f = q->summary[at->member].launch.kernel;
        pass_address_uses uses = {.atomics = is_group(c)};
        if (!pass_find_address_uses(f->param_val[at->param], q->scratch, &uses))
            return stop(c, uses.rule,
                        ir_sprintf(q->out, "@%s %s", q->request->members[at->member].kernel->name,
                                   uses.why));
    }
    return true;
}

/* --------------------------------------------------------------------------------------- layout */

static bool find_layout(const candidate *c, const pass_side *sides, uint32_t n) {
    pass_layout *l = &c->to->layout;
    return is_group(c) ? pass_find_layout(sides, n, PASS_BY_GROUP, l)
                       : pass_find_item_layout(sides, n, l);
}

/* Names the first access, or pair, that has no layout. */
static bool stop_for_layout(candidate *c) {
    const pass_side *s = c->to->sides;
    uint32_t n = c->to->nsides, b = n - 1;
    for (uint32_t k = 0; k < n; k++)
        if (!pass_is_understood(s[k].access))
            return stop(c, "promote.unknown",
                        ir_sprintf(c->q->out, "where %s is not known", access_text(c, &s[k])));
    while (b > 0 && find_layout(c, (const pass_side[]){s[0], s[b]}, 2)) b--;
    const char *first = access_text(c, &s[0]), *second = access_text(c, &s[b]);
    return stop(c, "promote.shared",
                ir_sprintf(c->q->out, "another %s may use the same bytes: %s; %s", owner_text(c),
                           first, second));
}

static bool has_groups(candidate *c) {
    const promoter *q = c->q;
    if (!is_group(c)) return true;
    if (!ir_has_local_size(&q->result->range))
        return stop(c, "promote.work-group", "the size of work-groups is not specified");
    for (uint32_t k = 0; k < c->to->nsides; k++)
        if (c->to->sides[k].of->remapped)
            return stop(
                c, "promote.remap",
                ir_sprintf(q->out, "ids are computed: %s", access_text(c, &c->to->sides[k])));
    return true;
}

/* ------------------------------------------------------------------------------------- elements */

static uint64_t count_groups(const ir_range *r) {
    uint64_t n = 1;
    for (unsigned d = 0; d < r->dims && ir_has_local_size(r); d++) n *= r->global[d] / r->local[d];
    return n;
}

/* What the caller says about the buffer has to fit. */
static bool fits_elements(candidate *c) {
    const ir_range *range = &c->q->result->range;
    uint64_t owners = is_group(c) ? count_groups(range) : pass_range_items(range);
    uint64_t n = c->wish->elements;
    if (!n || c->wish->kind == PASS_PROMOTE_AUTO) return true;
    if (n >= owners && n % owners == 0) {
        c->to->elements = n / owners;
        return true;
    }
    return stop(c, "promote.elements",
                ir_sprintf(c->q->out, "its %llu elements cannot be divided among %llu %ss",
                           (unsigned long long)n, (unsigned long long)owners, owner_text(c)));
}

/* Is an access, wherever it begins, inside an element or an aligned piece of the part? */
static bool stays_inside(const pass_access *x, uint64_t element, uint64_t part) {
    uint64_t align = pass_access_align(x);
    return x->size && (x->size <= element || (x->size <= align && part % align == 0));
}

/* The caller knows which elements an item uses: every access is somewhere in its own part. */
static bool assume_layout(candidate *c) {
    pass_promoted *to = c->to;
    if (!to->elements || !c->wish->element_size)
        return stop(c, "promote.elements",
                    "an asserted map needs the numbers of elements and bytes");
    to->assumed = true;
    to->bytes = UINT64_MAX;
    if (to->elements <= UINT64_MAX / c->wish->element_size)
        to->bytes = to->elements * c->wish->element_size;
    for (uint32_t k = 0; k < to->nsides; k++)
        if (!stays_inside(to->sides[k].access, c->wish->element_size, to->bytes))
            return stop(c, "promote.elements",
                        ir_sprintf(c->q->out, "it may reach over the end of a part: %s",
                                   access_text(c, &to->sides[k])));
    return true;
}

/* ------------------------------------------------------------------------------------ promotion */

static bool prove_layout(candidate *c) {
    pass_promoted *to = c->to;
    if (!to->nsides) return true;
    if (!find_layout(c, to->sides, to->nsides)) return stop_for_layout(c);
    to->bytes = pass_layout_bytes(&to->layout);
    const pass_side *read = pass_find_unassigned(&to->layout, to->sides, to->nsides, c->q->scratch);
    if (!read) return true;
    return stop(c, "promote.unassigned",
                ir_sprintf(c->q->out, "%s, and not all of it is known to be written",
                           access_text(c, read)));
}

static bool fits_memory(candidate *c) {
    uint64_t most = is_group(c) ? MAX_LOCAL : MAX_PRIVATE;
    if (c->wish->kind == PASS_PROMOTE_AUTO) most = MAX_AUTO;
    if (c->to->bytes <= most) return true;
    return stop(c, "promote.size",
                ir_sprintf(c->q->out, "each %s would need %llu bytes, more than %llu",
                           owner_text(c), (unsigned long long)c->to->bytes,
                           (unsigned long long)most));
}

static bool may_promote(candidate *c) {
    if (c->arg->kind != IR_ARG_POINTER) return stop(c, "promote.no-buffer", "it is no buffer");
    if (!uses_are_plain(c)) return false;
    if (!has_groups(c) || !fits_elements(c)) return false;
    return (c->wish->assume ? assume_layout(c) : prove_layout(c)) && fits_memory(c);
}

static const char *map_text(const candidate *c) {
    const pass_promoted *to = c->to;
    ir_text t = {.arena = c->q->out};
    if (to->assumed)
        ir_putf(&t, "element modulo %llu", (unsigned long long)to->elements);
    else if (to->nsides)
        pass_print_layout(&t, &to->layout);
    else
        ir_put(&t, "nothing");
    return t.data;
}

static void report(candidate *c, bool done) {
    const promoter *q = c->q;
    const char *kind = is_group(c) ? "local" : "private";
    bool refusal = !done && c->wish->kind != PASS_PROMOTE_AUTO;
    pass_decision d = {.rule = c->rule, .refusal = refusal, .why = c->accesses};
    if (d.why.first) d.why.kind = PASS_DEP_UNKNOWN;
    if (done) {
        d.rule = is_group(c) ? "promote.local" : "promote.private";
        d.text = ir_sprintf(q->out, "%s is %s memory: %llu bytes in each %s, at %s", c->arg->name,
                            kind, (unsigned long long)c->to->bytes, owner_text(c), c->arg->map);
    } else if (refusal) {
        d.text = ir_sprintf(q->out, "%s cannot be %s memory: %s", c->arg->name, kind, c->why);
    } else {
        d.text = ir_sprintf(q->out, "%s stays in global memory: %s", c->arg->name, c->why);
    }
    *ir_push(q->out, &q->result->decisions) = d;
}

/* False after a refusal. */
static bool promote(promoter *q, uint32_t arg, const pass_promotion *wish, pass_promoted *to) {
    candidate c = {.q = q, .arg = &q->result->args[arg], .wish = wish, .to = to};
    to->arg = arg;
    to->sides = q->by_arg[arg].sides.data;
    to->nsides = q->by_arg[arg].sides.n;
    to->space = wish->kind == PASS_PROMOTE_LOCAL ? IR_LOCAL : IR_PRIVATE;
    bool done = may_promote(&c);
    if (done) {
        c.arg->state = PASS_ARG_PROMOTED;
        c.arg->memory = to->space;
        c.arg->bytes = to->bytes;
        c.arg->map = map_text(&c);
    }
    report(&c, done);
    return done || wish->kind == PASS_PROMOTE_AUTO;
}

/* Legality takes an asserted map from here on: accesses are somewhere in the owner's part, items of
 * a group perhaps at different places. */
static void assert_offsets(promoter *q, const pass_promoted *p) {
    const ir_range *r = &q->result->range;
    bool group = p->space == IR_LOCAL;
    pass_affine own = {0};
    int64_t stride = (int64_t)p->bytes;
    for (unsigned d = 0; d < r->dims && group; d++) {
        own.term[own.n++] = (pass_term){{IR_OP_group_id, d, NULL}, stride};
        stride = ir_wrap_mul(stride, (int64_t)(r->global[d] / r->local[d]));
    }
    if (!group) own = (pass_affine){.term = {{{IR_OP_global_linear_id, 0, NULL}, stride}}, .n = 1};
    for (uint32_t k = 0; k < p->nsides; k++) {
        pass_access *x = &q->summary[p->sides[k].of - q->summary]
                              .accesses.data[p->sides[k].access - p->sides[k].of->accesses.data];
        x->offset = own;
        x->size = p->bytes;
        x->always = x->bounded = false;
    }
}

bool pass_fuse_promote(ir_ctx *cx, const pass_fuse_request *request, pass_summary *summaries,
                       ir_arena *scratch, ir_arena *out, pass_fuse_result *result,
                       pass_promotions *list) {
    promoter q = {cx, request, summaries, out, scratch, result, NULL};
    *list = (pass_promotions){.ok = true};
    if (!request->npromotions) return true;
    q.by_arg = ir_new_array(scratch, subject, result->nargs);
    list->ok = read_wishes(&q);
    for (uint32_t m = 0; m < request->nmembers; m++) add_places(&q, m);
    for (uint32_t a = 0; a < result->nargs && list->ok; a++) {
        const pass_promotion *wish;
        list->ok = resolve(&q, &q.by_arg[a], &result->args[a], &wish);
        if (!list->ok || !wish) continue;
        pass_promoted p = {0};
        if (!promote(&q, a, wish, &p)) return false;
        if (result->args[a].state != PASS_ARG_PROMOTED) continue;
        if (p.assumed) assert_offsets(&q, &p);
        *ir_push(scratch, &list->all) = p;
    }
    return list->ok;
}
