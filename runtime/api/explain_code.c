/* explain_code.c — what native code does with the loops over work-items and innermost loops of a
 * kernel.
 *
 * The kernel is compiled as for a launch of device cpu, for any target, and the code is thrown
 * away; what the vectorizer says of each loop (ir/remark.h) is kept.  The launch is one whose
 * arguments are different memory that begins at lines of the cache, as buffers do.  Groups of a
 * kernel that cannot observe them are those of one thread, so that all machines say the same.
 */
#include "ir/remark.h"
#include "runtime/devices/cpu/cpu.h"

#include <stdlib.h>

enum { MANY_ITEMS = 1 << 20 }; /* of a launch of which nothing is known */

typedef struct {
    spvf_context *context;
    ir_arena *to; /* of the result */
    const ir_func *kernel;
    const char *target;
    const rt_known_arg *args; /* or NULL */
    bool listed;              /* the text of the code is wanted */
    rt_native_options options;
    rt_facts without;
    ir_arena scratch;
    spvf_explained_code code;
    ir_vec(spvf_explained_loop) loops;
    bool done;
} explaining;

/* -------------------------------------------------------------------------------------- remarks */

static const char *copy_text(const explaining *e, const char *text) {
    return text ? ir_strdup(e->to, text) : NULL;
}

static const char *name_memory(const explaining *e, const ir_remark_access *a) {
    static const char *const spaces[] = {[IR_PRIVATE] = "private memory",
                                         [IR_LOCAL] = "local memory",
                                         [IR_CONST] = "constant memory"};
    const char *name = a->arg < e->kernel->nparams ? e->kernel->param[a->arg].name : NULL;
    if (name) return ir_strdup(e->to, name);
    if (a->arg < e->kernel->nparams) return ir_sprintf(e->to, "argument %u", a->arg);
    if (a->space == IR_PRIVATE && a->form != IR_FORM_ARRAY) return "values kept over barriers";
    if (a->space < sizeof spaces / sizeof *spaces && spaces[a->space]) return spaces[a->space];
    return "memory";
}

static spvf_lane_access explain_access(const explaining *e, const ir_remark_access *a) {
    return (spvf_lane_access){.form = (spvf_access_form)a->form,
                              .reads = a->reads,
                              .writes = a->writes,
                              .masked = a->masked,
                              .arg = a->arg < e->kernel->nparams ? a->arg : UINT32_MAX,
                              .memory = name_memory(e, a),
                              .step = a->step,
                              .count = a->count,
                              .source_file = copy_text(e, a->at.file),
                              .source_line = a->at.line,
                              .source_column = a->at.column};
}

static void keep_remark(void *user, const ir_remark *r) {
    explaining *e = user;
    spvf_lane_access *list = ir_new_array(e->to, spvf_lane_access, r->naccesses);
    for (uint32_t k = 0; k < r->naccesses; k++) list[k] = explain_access(e, &r->access[k]);
    *ir_push(e->to, &e->loops) =
        (spvf_explained_loop){.source_file = copy_text(e, r->at.file),
                              .source_line = r->at.line,
                              .source_column = r->at.column,
                              .iterations = r->iterations,
                              .lanes = r->lanes,
                              .rows = r->rows,
                              .components = r->components,
                              .inner_part = r->is_part,
                              .masked_rest = r->has_rest,
                              .refusal = copy_text(e, r->refusal),
                              .refused = copy_text(e, r->refused),
                              .refused_file = copy_text(e, r->refused_at.file),
                              .refused_line = r->refused_at.line,
                              .refused_column = r->refused_at.column,
                              .ratio = r->ratio,
                              .accesses = RT_LIST(e->to, list, r->naccesses),
                              .access_count = r->naccesses};
}

/* --------------------------------------------------------------------------------------- target */

static void take_target(explaining *e) {
    const char *s = e->target;
    rt_native_options *o = &e->options;
    *o = (rt_native_options){.only_blocks = true};
    o->machine = rt_take_machine(&s, &o->code);
    while (o->machine && *s &&
           (rt_take_code_option(&s, o->machine, &o->code) ||
            (o->keep_calls = rt_take_option(&s, "calls")) || rt_take_without(&s, &e->without)))
        continue;
    if (!o->machine || *s)
        rt_throw(e->context, IR_ERR_ARGUMENT, "unknown target '%s' of native code: %s", e->target,
                 rt_list_machines(e->to) + strlen(", "));
    e->code.target = ir_strdup(e->to, e->target);
}

/* ---------------------------------------------------------------------------------------- range */

static bool asks_for_dimension(const ir_inst *i) {
    switch (i->op) {
    case IR_OP_global_id:
    case IR_OP_local_id:
    case IR_OP_group_id: return true;
    default: return false;
    }
}

/* A large range of the dimensions that the kernel asks for. */
static spvf_range usual_range(const ir_func *kernel) {
    static const uint64_t sizes[][3] = {{MANY_ITEMS}, {1024, 1024}, {128, 128, 64}};
    spvf_range r = {.dims = 1};
    foreach_block (b, kernel)
        foreach_inst (i, b)
            if (asks_for_dimension(i) && i->imm.dim >= r.dims) r.dims = i->imm.dim + 1;
    for (unsigned d = 0; d < r.dims; d++) {
        uint32_t required = kernel->attrs.local_size[d];
        r.global[d] = sizes[r.dims - 1][d];
        if (required) r.global[d] += required - 1 - (r.global[d] - 1) % required;
    }
    return r;
}

static void take_constants(explaining *e) {
    const ir_func *f = e->kernel;
    if (!e->args || e->without & RT_FACT(SPECIALIZED)) return;
    rt_constant *list = ir_new_array(&e->scratch, rt_constant, f->nparams);
    uint32_t n = 0;
    for (uint32_t p = 0; p < f->nparams; p++)
        if (f->param[p].attrs & IR_PARAM_SPECIALIZED && e->args[p].bytes)
            list[n++] = (rt_constant){p, e->args[p].size, e->args[p].bytes};
    e->options.constants = (rt_constants){list, n};
}

static void take_local_args(explaining *e) {
    const ir_func *f = e->kernel;
    if (!e->args || e->without & RT_FACT(LOCAL_MEMORY)) return;
    for (uint32_t p = 0, n = 0; p < f->nparams && n < PASS_LOCAL_ARGS; p++)
        if (f->param_val[p]->type == ir_ptr(IR_LOCAL))
            e->options.shape.local_args[n++] = e->args[p].size;
    rt_cpu_limit_local_args(&e->options.shape);
}

/* Values that are not known are taken for short. */
static bool has_short_values(const explaining *e) {
    const ir_func *f = e->kernel;
    for (uint32_t p = 0; e->args && p < f->nparams; p++)
        if (e->args[p].bytes && !rt_is_short(f->param_val[p]->type, e->args[p].bytes)) return false;
    return true;
}

/* As for a launch of device cpu. */
static void find_shape(explaining *e) {
    spvf_range *r = &e->code.range;
    const ir_target target = e->options.machine->describe(e->options.code.level);
    uint64_t local[3];
    pass_item_order order = {0};
    if (!r->dims) *r = usual_range(e->kernel);
    rt_cpu_local_size(e->kernel, pass_subgroup_size(e->kernel, &target), r, local, &e->scratch);
    if (!r->local[0]) memcpy(r->local, local, sizeof local[0] * r->dims);
    ir_range own = rt_inner_range(r);
    if (!pass_observes_groups(e->kernel, &e->scratch)) {
        order = pass_find_inner(e->kernel, e->options.code.lanes != 1, &e->scratch);
        rt_cpu_own_groups(r, order.inner, order.crosses, 1, own.local);
    }
    e->options.shape = pass_shape_of(&own);
    e->options.shape.inner = order.inner;
    e->options.shape.transposes = order.transposes;
    e->options.shape.apart = e->options.shape.on_lines = true;
    e->options.shape.short_numbers =
        own.dims > 1 && pass_has_short_ids(&own) && has_short_values(e);
    rt_forget_facts(e->without, &e->options.shape);
    take_constants(e);
    take_local_args(e);
    e->code.facts = rt_facts_of(&e->options.shape, NULL);
    if (e->options.constants.n) e->code.facts |= RT_FACT(SPECIALIZED);
}

/* -------------------------------------------------------------------------------------- compile */

static uint32_t max(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* What was written, and how large it is. */
static void describe_object(explaining *e, const cg_object *o) {
    spvf_explained_code *c = &e->code;
    c->code_bytes = o->size[CG_TEXT];
    if (o->kernels.n) c->stack_bytes = o->kernels.data[0].stack;
    foreach_in (const cg_frame, f, o->frames) {
        c->general_registers = max(c->general_registers, f->registers[CG_GENERAL]);
        c->vector_registers = max(c->vector_registers, f->registers[CG_VECTOR]);
        c->mask_registers = max(c->mask_registers, f->registers[CG_MASK]);
    }
}

static void compile(void *arg) {
    explaining *e = arg;
    cg_object object;
    ir_text listing = {.arena = e->to};
    find_shape(e);
    if (ir_is_declaration(e->kernel))
        rt_throw(e->context, IR_ERR_REFUSED, "%s",
                 e->kernel->refusal ? e->kernel->refusal : "it has no body");
    e->options.code.lines = e->listed;
    if (e->listed) e->options.code.listing = &listing;
    rt_cpu_compile(e->kernel, &e->options, &e->scratch, &object);
    describe_object(e, &object);
    e->code.assembly = listing.data;
}

static void try_to_compile(void *arg) {
    explaining *e = arg;
    e->done = ir_try(&e->context->cx, compile, e);
}

/* The context shows nothing of this compile, and an error of it becomes text. */
static void compile_silently(explaining *e, char why[RT_CAUGHT_SIZE]) {
    spvf_context *c = e->context;
    const ir_inspection listen = {.remark = keep_remark, .remark_user = e}, *before;
    ir_counts *counts = c->cx.counts;
    before = c->cx.inspection;
    c->cx.inspection = &listen;
    c->cx.counts = NULL;
    c->caught = why;
    ir_arena_init(&e->scratch, &c->cx);
    bool ran = rt_stack_run_deep(try_to_compile, e);
    ir_arena_free(&e->scratch);
    c->caught = NULL;
    c->cx.counts = counts;
    c->cx.inspection = before;
    if (!ran) ir_throw(&c->cx, IR_ERR_MEMORY);
}

/* Loops were done from the last to the first. */
static void take_loops(explaining *e) {
    uint32_t n = e->loops.n;
    spvf_explained_loop *loops = ir_new_array(e->to, spvf_explained_loop, n);
    for (uint32_t k = 0; k < n; k++) loops[k] = e->loops.data[n - 1 - k];
    e->code.loops = RT_LIST(e->to, loops, n);
    e->code.loop_count = n;
}

static void explain(explaining *e) {
    char why[RT_CAUGHT_SIZE] = "";
    e->code.kernel = ir_strdup(e->to, e->kernel->name);
    take_target(e);
    compile_silently(e, why);
    ir_status status = e->context->cx.status;
    if (!e->done && status == IR_ERR_INTERNAL) rt_throw(e->context, status, "%s", why);
    if (!e->done && status == IR_ERR_MEMORY) ir_throw(&e->context->cx, status);
    if (!e->done) e->code.failure = ir_strdup(e->to, why[0] ? why : "it is beyond a limit");
    take_loops(e);
}

spvf_explained_code rt_explain_code(spvf_context *context, const rt_code_request *request,
                                    ir_arena *to) {
    explaining e = {.context = context,
                    .to = to,
                    .kernel = request->kernel,
                    .target = request->target,
                    .args = request->args,
                    .listed = request->listing};
    if (request->range) e.code.range = *request->range;
    explain(&e);
    return e.code;
}

/* ---------------------------------------------------------------------------------- the entries */

/* A result with its memory. */
typedef struct {
    spvf_explained_code code; /* the first member: what the user has is this */
    ir_arena arena;
} owned_code;

typedef struct {
    const spvf_module *module;
    const char *kernel, *target;
    const spvf_range *range;
    owned_code *out;
    ir_arena arena;
} code_job;

static void explain_kernel(void *arg) {
    code_job *j = arg;
    spvf_context *c = j->module->context;
    const ir_func *f = ir_func_find(j->module->ir, j->kernel);
    if (!f || !(f->flags & IR_FUNC_KERNEL))
        rt_throw(c, IR_ERR_ARGUMENT, "no kernel @%s", j->kernel);
    if (!j->target) j->target = rt_default_target(&j->arena);
    if (!j->target) rt_throw(c, IR_ERR_DEVICE, "no code is made for this processor");
    const rt_code_request request = {.kernel = f, .range = j->range, .target = j->target};
    owned_code *out = ir_new(&j->arena, owned_code);
    out->code = rt_explain_code(c, &request, &j->arena);
    j->out = out;
}

spvf_status spvf_explain_code(const spvf_module *module, const char *kernel,
                              const spvf_range *range, const char *target,
                              spvf_explained_code **out) {
    if (out) *out = NULL;
    if (!module || !kernel || !out)
        return rt_refuse_call(module ? module->context : NULL, __func__, "%s is NULL",
                              kernel ? "out" : "kernel");
    if (range && (range->dims < 1 || range->dims > 3))
        return rt_refuse_call(module->context, __func__, "range: 1 to 3 dimensions, not %u",
                              range->dims);
    code_job j = {.module = module, .kernel = kernel, .target = target, .range = range};
    ir_arena_init(&j.arena, &module->context->cx);
    spvf_status status = rt_guard(module->context, explain_kernel, &j);
    if (status == SPVF_OK) {
        j.out->arena = j.arena;
        *out = &j.out->code;
    } else {
        ir_arena_free(&j.arena);
    }
    return status;
}

void spvf_explained_code_destroy(spvf_explained_code *code) {
    if (!code) return;
    ir_arena arena = ((owned_code *)code)->arena;
    ir_arena_free(&arena);
}
