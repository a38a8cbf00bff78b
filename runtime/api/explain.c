/* explain.c — what became of a group of kernels, in the terms of spvfuse.h.
 *
 * A report is filled once, from the request and from what the passes found (pass_fuse_result), for
 * groups that were fused and for groups that were refused at any stage: what had not been found
 * until then is empty.  All of it lies in the report's own arena and refers to no module.
 */
#include "ir/eval.h"
#include "runtime/api/runtime.h"

typedef struct {
    ir_arena *arena;
    spvf_explanation *to;
    const spvf_fuse_options *options;
    const pass_fuse_request *request;
    const pass_fuse_result *result;
    const char **value; /* by argument: of a constant, or NULL */
    uint32_t *index;    /* by argument: parameter of the fused kernel */
} explainer;

/* -------------------------------------------------------------------------------------- members */

static spvf_explained_member explain_member(const explainer *e, const spvf_member *m) {
    const ir_range own = rt_inner_range(&m->range), *fused = &e->result->range;
    spvf_explained_member out = {.kernel = ir_strdup(e->arena, m->kernel), .range = m->range};
    if (!fused->dims) return out;
    out.guarded = pass_needs_guard(&own, fused);
    out.remapped = !pass_same_ids(&own, fused);
    return out;
}

static void explain_members(const explainer *e) {
    size_t n = e->options->member_count;
    spvf_explained_member *members = ir_new_array(e->arena, spvf_explained_member, n);
    for (size_t m = 0; m < n; m++) members[m] = explain_member(e, &e->options->members[m]);
    e->to->members = RT_LIST(e->arena, members, n);
    e->to->member_count = n;
}

/* ------------------------------------------------------------------------------------- accesses */

static const spvf_access *explain_access(const explainer *e, const pass_access_info *x) {
    spvf_access *a = ir_new(e->arena, spvf_access);
    *a = (spvf_access){.member = x->member,
                       .kernel = x->kernel,
                       .reads = (x->kind & PASS_READS) != 0,
                       .writes = (x->kind & PASS_WRITES) != 0,
                       .atomic = (x->kind & PASS_ATOMIC) != 0,
                       .always = x->always,
                       .size = x->size,
                       .place = x->place,
                       .source = x->source,
                       .source_file = x->file,
                       .source_line = x->line,
                       .source_column = x->column};
    return a;
}

static spvf_dependence explain_dependence(const explainer *e, const pass_dependence_info *d) {
    spvf_dependence out = {.kind = (spvf_dependence_kind)d->kind};
    ir_text t = {.arena = e->arena};
    if (!d->first) return out;
    out.first = explain_access(e, d->first);
    if (d->second) out.second = explain_access(e, d->second);
    pass_print_dependence(&t, d);
    out.text = t.data;
    return out;
}

static void explain_gaps(const explainer *e) {
    size_t n = e->result->gaps ? e->request->nmembers - 1 : 0;
    spvf_explained_gap *gaps = ir_new_array(e->arena, spvf_explained_gap, n);
    for (size_t g = 0; g < n; g++) {
        const pass_fuse_gap *from = &e->result->gaps[g];
        gaps[g] = (spvf_explained_gap){.barrier = from->wait != PASS_WAIT_NONE,
                                       .phase = from->wait == PASS_WAIT_GRID,
                                       .memory = SPVF_BARRIER_NONE,
                                       .why = explain_dependence(e, &from->why)};
        if (gaps[g].barrier) gaps[g].memory = e->options->barrier;
    }
    e->to->gaps = RT_LIST(e->arena, gaps, n);
    e->to->gap_count = n;
}

/* ----------------------------------------------------------------------------------- parameters */

static void print_number(ir_text *t, ir_type type, uint64_t bits) {
    char text[40];
    ir_kind kind = ir_kind_of(type);
    if (ir_is_float(type))
        ir_fp_print(kind, bits, text);
    else
        snprintf(text, sizeof text, "%lld", (long long)ir_sext(bits, ir_bits(NULL, type)));
    ir_put(t, ir_is_bool(type) ? bits & 1 ? "true" : "false" : text);
}

/* Vectors element by element; structs, of which only the size is known, as bytes. */
static const char *value_text(const explainer *e, const pass_constant *c) {
    const ir_func *f = e->request->members[c->member].kernel;
    ir_type t = f->param_val[c->param]->type, elem = ir_elem(t);
    const unsigned char *bytes = c->bytes;
    ir_text out = {.arena = e->arena};
    if (ir_is_ptr(t)) {
        ir_put(&out, "0x");
        for (size_t n = 0; n < c->size; n++) ir_putf(&out, "%02x", bytes[n]);
        return out.data;
    }
    size_t size = ir_sizeof(f->module, elem);
    for (unsigned lane = 0; lane < ir_lanes(t) && (lane + 1) * size <= c->size; lane++) {
        uint64_t bits = 0;
        memcpy(&bits, bytes + lane * size, size);
        if (lane) ir_put(&out, ", ");
        print_number(&out, elem, bits);
    }
    return out.data;
}

/* A constant holds for all parameters that are the same. */
static void find_constants(explainer *e) {
    e->value = ir_new_array(e->arena, const char *, e->result->nargs);
    for (uint32_t k = 0; k < e->request->nconstants; k++) {
        const pass_constant *c = &e->request->constants[k];
        e->value[e->result->arg_of[c->member][c->param]] = value_text(e, c);
    }
}

/* A refused kernel keeps all that is no constant and not promoted. */
static void number_arguments(explainer *e) {
    uint32_t n = 0;
    e->index = ir_new_array(e->arena, uint32_t, e->result->nargs);
    for (uint32_t a = 0; a < e->result->nargs; a++) {
        const pass_fuse_arg *arg = &e->result->args[a];
        bool gone = e->value[a] || arg->state == PASS_ARG_PROMOTED;
        e->index[a] = e->to->fused ? arg->index : gone ? PASS_NO_PARAM : n++;
    }
}

static spvf_param_use use_of(const explainer *e, uint32_t member, uint32_t param, uint32_t arg) {
    const pass_fuse_arg *a = &e->result->args[arg];
    if (e->value[arg]) return SPVF_PARAM_CONSTANT;
    if (a->state == PASS_ARG_PROMOTED) return SPVF_PARAM_PROMOTED;
    if (a->state == PASS_ARG_UNUSED) return SPVF_PARAM_UNUSED;
    return a->member == member && a->param == param ? SPVF_PARAM_USED : SPVF_PARAM_SAME;
}

/* The names outlive the member's module. */
static spvf_param_info explain_param(const explainer *e, uint32_t member, uint32_t param) {
    const ir_func *kernel = e->request->members[member].kernel;
    uint32_t arg = e->result->arg_of[member][param];
    const char *name = kernel->param[param].name;
    return (spvf_param_info){.member = member,
                             .param = param,
                             .kernel = ir_strdup(e->arena, kernel->name),
                             .name = name ? ir_strdup(e->arena, name) : NULL,
                             .use = use_of(e, member, param, arg),
                             .arg = e->index[arg],
                             .kind = (spvf_arg_kind)e->result->args[arg].kind,
                             .value = e->value[arg]};
}

static void explain_params(explainer *e) {
    size_t n = 0;
    if (!e->result->arg_of) return;
    find_constants(e);
    number_arguments(e);
    for (uint32_t m = 0; m < e->request->nmembers; m++) n += e->request->members[m].kernel->nparams;
    spvf_param_info *params = ir_new_array(e->arena, spvf_param_info, n);
    for (uint32_t m = 0; m < e->request->nmembers; m++)
        for (uint32_t p = 0; p < e->request->members[m].kernel->nparams; p++)
            params[e->to->param_count++] = explain_param(e, m, p);
    e->to->params = RT_LIST(e->arena, params, n);
}

/* -------------------------------------------------------------------------------------- buffers */

static bool is_memory(const pass_fuse_arg *a) {
    return a->kind != IR_ARG_VALUE && a->kind != IR_ARG_SAMPLER;
}

static spvf_promoted promoted_to(const pass_fuse_arg *a) {
    if (a->state != PASS_ARG_PROMOTED) return SPVF_PROMOTED_NOT;
    return a->memory == IR_LOCAL ? SPVF_PROMOTED_LOCAL : SPVF_PROMOTED_PRIVATE;
}

static spvf_explained_buffer explain_buffer(const explainer *e, uint32_t arg) {
    const pass_fuse_arg *a = &e->result->args[arg];
    const pass_fuse_buffer *b = &e->result->buffers[arg];
    return (spvf_explained_buffer){.name = a->name,
                                   .kind = (spvf_arg_kind)a->kind,
                                   .arg = e->index[arg],
                                   .read = b->read,
                                   .written = b->written,
                                   .dependence = explain_dependence(e, &b->dependence),
                                   .promoted = promoted_to(a),
                                   .promoted_bytes = a->bytes,
                                   .map = a->map,
                                   .unfused = {b->unfused.read, b->unfused.written},
                                   .fused = {b->fused.read, b->fused.written}};
}

/* Each parameter goes to the row of its argument; row: by argument, NULL for values. */
static void list_identities(const explainer *e, spvf_explained_buffer *const *row) {
    const pass_fuse_result *r = e->result;
    uint32_t **list = ir_new_array(e->arena, uint32_t *, r->nargs);
    for (uint32_t a = 0; a < r->nargs; a++) {
        if (!row[a]) continue;
        list[a] = ir_new_array(e->arena, uint32_t, r->args[a].nparams);
        row[a]->params = list[a];
    }
    for (size_t k = 0; k < e->to->param_count; k++) {
        uint32_t a = r->arg_of[e->to->params[k]->member][e->to->params[k]->param];
        if (row[a]) list[a][row[a]->param_count++] = (uint32_t)k;
    }
}

static void explain_buffers(const explainer *e) {
    const pass_fuse_result *r = e->result;
    if (!r->buffers) return;
    spvf_explained_buffer *buffers = ir_new_array(e->arena, spvf_explained_buffer, r->nargs);
    spvf_explained_buffer **row = ir_new_array(e->arena, spvf_explained_buffer *, r->nargs);
    for (uint32_t a = 0; a < r->nargs; a++) {
        if (!is_memory(&r->args[a])) continue;
        row[a] = &buffers[e->to->buffer_count++];
        *row[a] = explain_buffer(e, a);
    }
    list_identities(e, row);
    e->to->buffers = RT_LIST(e->arena, buffers, e->to->buffer_count);
}

static uint64_t add(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }

static void sum_traffic(const explainer *e) {
    spvf_explanation *to = e->to;
    for (size_t k = 0; k < to->buffer_count; k++) {
        const spvf_explained_buffer *b = to->buffers[k];
        to->unfused_bytes = add(to->unfused_bytes, add(b->unfused.read, b->unfused.written));
        to->fused_bytes = add(to->fused_bytes, add(b->fused.read, b->fused.written));
    }
    to->exact = e->result->exact_traffic;
    if (to->fused_bytes) to->ceiling = (double)to->unfused_bytes / (double)to->fused_bytes;
}

/* ------------------------------------------------------------------------------------ decisions */

static void explain_decisions(const explainer *e) {
    const pass_fuse_result *r = e->result;
    spvf_decision *d = ir_new_array(e->arena, spvf_decision, r->decisions.n);
    for (uint32_t k = 0; k < r->decisions.n; k++) {
        const pass_decision *from = &r->decisions.data[k];
        const pass_fuse_rule *rule = pass_find_fuse_rule(from->rule);
        d[k] = (spvf_decision){.rule = from->rule,
                               .text = from->text,
                               .refusal = from->refusal,
                               .cure = rule ? rule->cure : NULL,
                               .why = explain_dependence(e, &from->why)};
        if (from->refusal) e->to->refusal = &d[k];
    }
    e->to->decisions = RT_LIST(e->arena, d, r->decisions.n);
    e->to->decision_count = r->decisions.n;
}

void rt_explain(rt_report *report, const spvf_fuse_options *options,
                const pass_fuse_request *request, const pass_fuse_result *result) {
    explainer e = {&report->arena, &report->info, options, request, result, NULL, NULL};
    report->info = (spvf_explanation){.name = ir_strdup(e.arena, request->name),
                                      .fused = result->kernel != NULL};
    if (result->range.dims) report->info.range = rt_public_range(&result->range);
    explain_members(&e);
    explain_gaps(&e);
    explain_params(&e);
    explain_buffers(&e);
    sum_traffic(&e);
    explain_decisions(&e);
}

spvf_explanation *rt_explain_refusal(spvf_context *context, const char *rule, const char *text) {
    ir_arena arena;
    ir_arena_init(&arena, &context->cx);
    rt_report *report = ir_new(&arena, rt_report);
    spvf_decision *d = ir_new(&arena, spvf_decision);
    *d = (spvf_decision){.rule = rule,
                         .text = ir_strdup(&arena, text),
                         .refusal = true,
                         .cure = pass_find_fuse_rule(rule)->cure};
    report->info = (spvf_explanation){
        .name = "", .decisions = RT_LIST(&arena, d, 1), .decision_count = 1, .refusal = d};
    report->arena = arena;
    return &report->info;
}

void spvf_explanation_destroy(spvf_explanation *explanation) {
    if (!explanation) return;
    ir_arena arena = ((rt_report *)explanation)->arena;
    ir_arena_free(&arena);
}
