/* save_fusion.c — a plan of what spvf_fuse was asked for.
 *
 * A request of fusion has neither the contents of buffers nor all values, so the plan makes some
 * up: floats are random numbers, integers the number of work-items, as sizes mostly are, and
 * buffers have the bytes that kernels access with these (pass_find_reach).  Finding that may be
 * what fails, so before it is found, the plan is written with a size for each work-item.
 */
#include "ir/eval.h"
#include "runtime/api/save.h"

enum { ITEM_BYTES = 64, LOCAL_BYTES = 8192, PLACE_BYTES = 64 };

typedef struct {
    const spvf_fuse_options *options;
    const pass_fuse_request *request;
    bool measured;
    rt_param_classes classes;
    uint64_t items;     /* most of a member */
    const void **value; /* by class of values */
    size_t *value_size;
    uint64_t *bytes;       /* by class of buffers */
    const char **internal; /* by class: what the plan says of the buffer */
    bool *is_known;        /* by class: its value is a constant of the request */
    uint32_t *base;        /* by class: the one whose buffer it is given, */
    uint64_t *at;          /* and where that begins for it */
} fusion;

static const ir_func *kernel_of(const fusion *f, uint32_t member) {
    return f->request->members[member].kernel;
}

static spvf_arg_info info_of(const fusion *f, uint32_t member, uint32_t param) {
    const ir_func *k = kernel_of(f, member);
    return rt_arg_info(k->module, k->param_val[param]->type, &k->param[param]);
}

static uint64_t items_of(const ir_range *r) {
    uint64_t n = 1;
    for (unsigned d = 0; d < 3; d++) n *= r->global[d] ? r->global[d] : 1;
    return n;
}

static void each_param(fusion *f, rt_save *s,
                       void (*visit)(fusion *f, rt_save *s, uint32_t member, uint32_t param)) {
    for (uint32_t m = 0; m < f->request->nmembers; m++)
        for (uint32_t p = 0; p < kernel_of(f, m)->nparams; p++) visit(f, s, m, p);
}

/* --------------------------------------------------------------------------------------- values */

static void note_constants(fusion *f) {
    for (uint32_t n = 0; n < f->request->nconstants; n++) {
        const pass_constant *c = &f->request->constants[n];
        const uint32_t k = rt_class_of(&f->classes, c->member, c->param);
        f->value[k] = c->bytes;
        f->value_size[k] = c->size;
        f->is_known[k] = true;
    }
}

static void make_up_value(fusion *f, rt_save *s, uint32_t member, uint32_t param) {
    const spvf_arg_info info = info_of(f, member, param);
    const uint32_t k = rt_class_of(&f->classes, member, param);
    const ir_type t = kernel_of(f, member)->param_val[param]->type;
    if (info.kind != SPVF_ARG_VALUE || f->value[k]) return;
    char *bytes = ir_alloc(&s->arena, info.size + sizeof(uint64_t));
    memset(bytes, 0, info.size + sizeof(uint64_t));
    const uint64_t bits =
        ir_is_float(t) ? ir_fp_from_int(ir_kind_of(t), 1, false, IR_RTE) : f->items;
    if (!ir_is_ptr(t) && !ir_is_vector(t)) memcpy(bytes, &bits, info.size < 8 ? info.size : 8);
    f->value[k] = bytes;
    f->value_size[k] = info.size;
    rt_save_comment(s, "v%u, an argument of @%s, was not known", k, kernel_of(f, member)->name);
}

static void put_value(fusion *f, rt_save *s, uint32_t member, uint32_t param) {
    const uint32_t k = rt_class_of(&f->classes, member, param);
    if (info_of(f, member, param).kind == SPVF_ARG_VALUE && k == f->classes.first[member] + param)
        rt_save_value(s, k, f->value[k], f->value_size[k]);
}

/* -------------------------------------------------------------------------------------- buffers */

static bool has_calls(const ir_func *f) {
    foreach_block (b, f)
        foreach_inst (i, b)
            if (i->op == IR_OP_call) return true;
    return false;
}

/* What the kernel accesses, by parameter; NULL: not known. */
static const pass_reach *find_reach(const fusion *f, rt_save *s, uint32_t member) {
    ir_func *k = (ir_func *)(uintptr_t)kernel_of(f, member); /* analyses change no code */
    if (!f->measured || has_calls(k)) return NULL;
    const int64_t **value = ir_new_array(&s->arena, const int64_t *, k->nparams + 1);
    const uint8_t **bytes = ir_new_array(&s->arena, const uint8_t *, k->nparams + 1);
    for (uint32_t p = 0; p < k->nparams; p++) {
        const uint32_t c = rt_class_of(&f->classes, member, p);
        if (!f->value[c]) continue;
        const pass_constant known = {member, p, f->value[c], f->value_size[c]};
        value[p] = pass_constant_number(k, &known, &s->arena);
        bytes[p] = pass_constant_bytes(k, &known);
    }
    const pass_launch launch = {
        .kernel = k, .range = &f->request->members[member].range, .value = value, .bytes = bytes};
    pass_reach *reach = ir_new_array(&s->arena, pass_reach, k->nparams + 1);
    pass_find_reach(&launch, &s->arena, reach);
    return reach;
}

static void measure_buffers(fusion *f, rt_save *s) {
    for (uint32_t m = 0; m < f->request->nmembers; m++) {
        const pass_reach *reach = find_reach(f, s, m);
        for (uint32_t p = 0; p < kernel_of(f, m)->nparams; p++) {
            uint64_t *bytes = &f->bytes[rt_class_of(&f->classes, m, p)];
            const bool known = reach && reach[p].known && reach[p].high >= 0;
            const uint64_t n = known ? (uint64_t)reach[p].high : f->items * ITEM_BYTES;
            if (n > *bytes) *bytes = n;
        }
    }
}

/* The words for a promotion: of the buffer, or of an argument. */
static const char *promotion_words(spvf_promote kind, bool assume) {
    if (kind == SPVF_PROMOTE_AUTO) return "internal";
    if (kind == SPVF_PROMOTE_LOCAL) return assume ? "internal local assume" : "internal local";
    return assume ? "internal private assume" : "internal private";
}

static void note_promotions(fusion *f) {
    for (uint32_t n = 0; n < f->request->npromotions; n++) {
        const pass_promotion *p = &f->request->promotions[n];
        const uint32_t k = rt_class_of(&f->classes, p->member, p->param);
        if (p->elements && p->element_size) f->bytes[k] = p->elements * p->element_size;
        if (!p->accessor) f->internal[k] = promotion_words((spvf_promote)p->kind, p->assume);
    }
}

/* Memory that two classes reach is one buffer, in which they begin at different places: which ones
 * is not known, and does not matter. */
static void join_classes(fusion *f, uint32_t a, uint32_t b) {
    const uint32_t to = f->base[a], from = f->base[b];
    uint64_t first = 0;
    if (to == from || f->internal[a] || f->internal[b]) return;
    for (uint32_t k = 0; k < f->classes.n; k++)
        if (f->base[k] == to && f->at[k] >= first) first = f->at[k] + PLACE_BYTES;
    for (uint32_t k = 0; k < f->classes.n; k++) {
        if (f->base[k] != from) continue;
        f->base[k] = to;
        f->at[k] += first;
        if (f->at[k] + f->bytes[k] > f->bytes[to]) f->bytes[to] = f->at[k] + f->bytes[k];
    }
}

static void note_overlaps(fusion *f) {
    const spvf_fuse_options *o = f->options;
    for (size_t n = 0; n < o->overlap_count; n++) {
        const spvf_identity *i = &o->overlaps[n];
        join_classes(f, rt_class_of(&f->classes, i->member_a, i->param_a),
                     rt_class_of(&f->classes, i->member_b, i->param_b));
    }
}

static void put_buffer(fusion *f, rt_save *s, uint32_t member, uint32_t param) {
    const uint32_t k = rt_class_of(&f->classes, member, param);
    if (info_of(f, member, param).kind != SPVF_ARG_BUFFER || f->base[k] != k) return;
    if (k != f->classes.first[member] + param) return;
    const rt_saved_buffer b = {.element = kernel_of(f, member)->param[param].pointee,
                               .bytes = f->bytes[k] ? f->bytes[k] : ITEM_BYTES,
                               .internal = f->internal[k] ? f->internal[k] : ""};
    rt_save_buffer(s, k, &b);
}

/* ------------------------------------------------------------------------------------- launches */

static const char *argument_words(const fusion *f, uint32_t member, uint32_t param) {
    for (uint32_t n = 0; n < f->request->npromotions; n++) {
        const pass_promotion *p = &f->request->promotions[n];
        if (p->accessor && p->member == member && p->param == param)
            return promotion_words((spvf_promote)p->kind, p->assume);
    }
    return "";
}

static void put_arg(fusion *f, rt_save *s, uint32_t member, uint32_t param) {
    const uint32_t k = rt_class_of(&f->classes, member, param);
    const char *words = argument_words(f, member, param);
    const char *text = ir_sprintf(&s->arena, "%sv%u", f->is_known[k] ? "" : "variable ", k);
    const char *at = "";
    switch (info_of(f, member, param).kind) {
    case SPVF_ARG_BUFFER:
        if (f->at[k]) at = ir_sprintf(&s->arena, " at %llu", (unsigned long long)f->at[k]);
        text = ir_sprintf(&s->arena, "b%u%s%s%s", f->base[k], at, *words ? " " : "", words);
        break;
    case SPVF_ARG_LOCAL: text = ir_sprintf(&s->arena, "local %d", LOCAL_BYTES); break;
    default: break;
    }
    rt_save_arg(s, kernel_of(f, member), param, text);
}

static void put_group(const fusion *f, rt_save *s) {
    static const char *const barriers[] = {[SPVF_BARRIER_BOTH] = "",
                                           [SPVF_BARRIER_LOCAL] = " barrier_local",
                                           [SPVF_BARRIER_GLOBAL] = " barrier_global",
                                           [SPVF_BARRIER_NONE] = " no_barriers"};
    const spvf_fuse_options *o = f->options;
    ir_putf(&s->launches, "fuse %s%s%s%s%s {\n", rt_save_plain_name(s, f->request->name),
            barriers[o->barrier], o->force ? " force" : "", o->phases ? " phases" : "",
            o->strict ? " strict" : "");
}

static void put_launch(fusion *f, rt_save *s, uint32_t member) {
    rt_save_launch(s, kernel_of(f, member), &f->options->members[member].range, false);
    for (uint32_t p = 0; p < kernel_of(f, member)->nparams; p++) put_arg(f, s, member, p);
    ir_put(&s->launches, "\n");
}

static void put_comments(const fusion *f, rt_save *s) {
    const spvf_fuse_options *o = f->options;
    rt_save_comment(s, "a fusion of %u launches; sizes and contents of buffers are made up",
                    f->request->nmembers);
    rt_save_comment(s, "spvfuse run --validate -d cpu%s%s%s THIS-FILE",
                    o->no_optimize ? " -O0" : "", o->passes && o->passes->passes ? " -p " : "",
                    o->passes && o->passes->passes ? o->passes->passes : "");
    if (o->overlap_count) rt_save_comment(s, "where memory overlaps is made up, too");
    if (!o->known_range) rt_save_comment(s, "it was not fused for this range only, as the plan is");
}

static void write_fusion(rt_save *s, void *arg) {
    fusion f = *(const fusion *)arg;
    f.classes = rt_find_classes(&s->arena, f.request);
    for (uint32_t m = 0; m < f.request->nmembers; m++) {
        const uint64_t n = items_of(&f.request->members[m].range);
        if (n > f.items) f.items = n;
    }
    f.value = ir_new_array(&s->arena, const void *, f.classes.n + 1);
    f.value_size = ir_new_array(&s->arena, size_t, f.classes.n + 1);
    f.bytes = ir_new_array(&s->arena, uint64_t, f.classes.n + 1);
    f.internal = ir_new_array(&s->arena, const char *, f.classes.n + 1);
    f.is_known = ir_new_array(&s->arena, bool, f.classes.n + 1);
    f.base = ir_new_array(&s->arena, uint32_t, f.classes.n + 1);
    f.at = ir_new_array(&s->arena, uint64_t, f.classes.n + 1);
    for (uint32_t k = 0; k < f.classes.n; k++) f.base[k] = k;
    put_comments(&f, s);
    note_constants(&f);
    each_param(&f, s, make_up_value);
    measure_buffers(&f, s);
    note_promotions(&f);
    note_overlaps(&f);
    each_param(&f, s, put_value);
    each_param(&f, s, put_buffer);
    put_group(&f, s);
    for (uint32_t m = 0; m < f.request->nmembers; m++) put_launch(&f, s, m);
    ir_put(&s->launches, "}\n");
    s->place = ir_hash(0, s->launches.data, s->launches.n);
}

void rt_save_fusion(spvf_context *context, const spvf_fuse_options *options,
                    const pass_fuse_request *request) {
    fusion f = {.options = options, .request = request};
    rt_save_request save = {.kind = "fuse",
                            .name = request->name,
                            .in_folder = rt_saves(),
                            .write = write_fusion,
                            .arg = &f};
    if (save.in_folder) rt_save_plan(context, &save);
    save.past = context->past;
    f.measured = save.replaces = true;
    if (save.in_folder || save.past) rt_save_plan(context, &save);
}
