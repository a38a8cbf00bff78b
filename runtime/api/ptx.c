/* ptx.c — kernels as PTX: the lists of passes, and the writer. */
#include "ir/change.h"
#include "runtime/native/native.h"

static bool run(ir_module *m, const cg_ptx_options *o, const char *list) {
    const ir_target target = cg_ptx_target(o);
    static const ir_inspection nothing;
    const ir_inspection *i = m->cx->inspection ? m->cx->inspection : &nothing;
    const pass_options options = {.passes = list,
                                  .bisect = -1,
                                  .target = &target,
                                  .library = &cg_math_library,
                                  .verify_each = i->verify_each,
                                  .dump_after = i->dump_after,
                                  .dump_changed = i->dump_changed,
                                  .dump = i->dump,
                                  .dump_user = i->dump_user,
                                  .trace_rules = i->trace_rules,
                                  .any_stage = true,
                                  .coarsen = o->coarsen};
    bool ok = pass_run(m, &options);
    if (!ok && m->cx->status == IR_ERR_MEMORY) ir_throw(m->cx, IR_ERR_MEMORY);
    return ok;
}

/* Functions may have addresses from elsewhere, so they are inlined first. */
static bool promise_apart(ir_module *m, const cg_ptx_options *o) {
    if (!run(m, o, "inline")) return false;
    foreach_func (f, m)
        if (f->flags & IR_FUNC_KERNEL) pass_promise_apart(f);
    return true;
}

/* Pointers that a kernel finds in memory may lead anywhere. */
static void promise_aligned(ir_module *m) {
    foreach_func (f, m)
        for (uint32_t n = 0; n < f->nparams && f->flags & IR_FUNC_KERNEL; n++) {
            ir_param *p = &f->param[n];
            bool global = ir_arg_kind_of(f->param_val[n]->type, p) == IR_ARG_POINTER;
            if (global && p->align < CG_PTX_ALIGN) p->align = CG_PTX_ALIGN;
        }
}

bool rt_write_ptx(ir_module *m, const cg_ptx_options *o, ir_arena *arena, ir_text *out) {
    if (o->disjoint && !promise_apart(m, o)) return false;
    if (o->aligned) promise_aligned(m);
    if (!run(m, o, pass_threads)) return false;
    ir_begin_stage(m->cx, "ptx", NULL);
    cg_ptx_write(m, o, arena, out);
    ir_end_stage(m->cx);
    return true;
}

/* ------------------------------------------------------------------------------------ a program */

typedef struct {
    spvf_context *context;
    const ir_module *from;
    const rt_ptx_options *options;
    ir_arena *arena;
    ir_vec(const char *) names; /* of kernels to write */
    ir_vec(rt_ptx_kernel) kernels;
    pass_print_list prints;
    ir_text text;
    bool ok;
} job;

/* What a kernel has become before it is lowered. */
typedef struct {
    bool waits, resident;
    ir_phases phases;
    pass_parts parts;
    bool prints;
    bool observes_groups;
} change;

static void describe(job *j, const ir_func *f, const change *c) {
    rt_ptx_kernel *k = ir_push(j->arena, &j->kernels);
    *k = (rt_ptx_kernel){.name = ir_strdup(j->arena, f->name),
                         .entry = cg_ptx_name(j->arena, f->name),
                         .waits = c->waits,
                         .resident = c->resident,
                         .phases = c->phases,
                         .parts = c->parts,
                         .prints = c->prints,
                         .hidden = cg_ptx_hidden_of(f, &j->options->code, j->arena),
                         .observes_groups = c->observes_groups};
    memcpy(k->local, f->attrs.local_size, sizeof k->local);
    memcpy(k->coarsened, f->attrs.coarsened, sizeof k->coarsened);
}

static bool prints(const ir_module *m) {
    foreach_func (f, m)
        foreach_block (b, f)
            foreach_inst (i, b)
                if (i->op == IR_OP_printf) return true;
    return false;
}

static bool waits(const ir_module *m) {
    foreach_func (f, m)
        if (pass_has_phases(f)) return true;
    return false;
}

/* Makes a kernel one that is launched for each phase, unless all groups wait in one launch. */
static bool cut_phases(const job *j, ir_func *f, change *out) {
    const rt_ptx_options *o = j->options;
    out->waits = pass_has_phases(f);
    out->resident = out->waits && o->code.together && o->parts;
    if (!out->waits || (o->code.together && !o->parts)) return true;
    const char *refusal = pass_cut_launches(f, j->arena, &out->phases);
    if (refusal)
        ir_report(
            f->module->cx,
            (ir_message){.severity = IR_ERROR, .file = j->context->caught ? NULL : f->module->name},
            "no phases of @%s: %s", f->name, refusal);
    return !refusal;
}

/* What is kept between phases is found in code that is simple. */
static bool prepare(const job *j, ir_module *m) {
    const cg_ptx_options *o = &j->options->code;
    return run(m, o, "inline") && (!waits(m) || run(m, o, "standard"));
}

/* All of this needs kernels that call nothing. */
static bool change_all(job *j, ir_module *m, change *out) {
    const rt_ptx_options *o = j->options;
    ir_type number = o->code.wide ? IR_I64 : IR_I32;
    bool nothing = !o->parts && !(o->print && prints(m)) && !waits(m);
    if (!nothing && !prepare(j, m)) return false;
    for (uint32_t n = 0; n < j->names.n; n++) {
        ir_func *f = ir_func_find(m, j->names.data[n]);
        if (!nothing && !cut_phases(j, f, &out[n])) return false;
        out[n].observes_groups = pass_observes_groups(f, j->arena);
        if (nothing) continue;
        if (out[n].resident) {
            pass_make_resident(f, &out[n].phases, number);
            out[n].parts = PASS_BOXES;
        } else if (o->parts) {
            out[n].parts = pass_make_parts(f, number, j->arena);
        }
        if (o->print) out[n].prints = pass_record_prints(f, o->print, j->arena, &j->prints);
    }
    return true;
}

static void make(void *user, ir_module *m) {
    job *j = user;
    ir_importer importer = {.m = m};
    change *changes = ir_new_array(j->arena, change, j->names.n);
    for (uint32_t n = 0; n < j->names.n; n++)
        ir_importer_copy(&importer, ir_func_find(j->from, j->names.data[n]), j->names.data[n]);
    const char *only = j->options->only;
    if (only) rt_use_constants(ir_func_find(m, only), &j->options->constants);
    j->text = (ir_text){.arena = j->arena};
    j->prints.n = j->kernels.n = 0; /* of a try that has failed */
    j->ok = change_all(j, m, changes) && rt_write_ptx(m, &j->options->code, j->arena, &j->text);
    if (!j->ok) return;
    for (uint32_t n = 0; n < j->names.n; n++)
        describe(j, ir_func_find(m, j->names.data[n]), &changes[n]);
}

static void write_all(void *arg) {
    job *j = arg;
    rt_in_new_module(&j->context->cx, j->from, make, j);
}

typedef struct {
    void (*report)(void *user, const ir_message *m);
    void *user;
} reporter;

static void report_bug(void *user, const ir_message *m) {
    const reporter *r = user;
    if (m->fault && r->report) r->report(r->user, m);
}

/* Without messages but those about bugs. */
static bool can_write(job *j) {
    ir_ctx *cx = &j->context->cx;
    reporter r = {cx->report, cx->report_user};
    cx->report = report_bug;
    cx->report_user = &r;
    bool ok = ir_try(cx, write_all, j) && j->ok;
    cx->report = r.report;
    cx->report_user = r.user;
    if (!ok && (cx->status == IR_ERR_MEMORY || cx->status == IR_ERR_INTERNAL))
        ir_throw(cx, cx->status);
    return ok;
}

static bool can_write_alone(const job *j, const char *kernel) {
    job one = {.context = j->context, .from = j->from, .options = j->options, .arena = j->arena};
    *ir_push(j->arena, &one.names) = kernel;
    return can_write(&one);
}

static void keep_what_can_be_written(job *j) {
    uint32_t n = j->names.n;
    j->names.n = 0;
    for (uint32_t k = 0; k < n; k++) {
        const char *name = j->names.data[k];
        if (can_write_alone(j, name)) j->names.data[j->names.n++] = name;
    }
}

rt_ptx rt_make_ptx(spvf_context *context, const ir_module *m, const rt_ptx_options *o,
                   ir_arena *arena) {
    job j = {.context = context, .from = m, .options = o, .arena = arena, .ok = true};
    foreach_func (f, m)
        if (f->flags & IR_FUNC_KERNEL && !ir_is_declaration(f) &&
            (!o->only || strcmp(f->name, o->only) == 0) &&
            (!o->code.together || pass_has_phases(f)))
            *ir_push(arena, &j.names) = f->name;
    if (!can_write(&j)) {
        keep_what_can_be_written(&j);
        write_all(&j);
    }
    return (rt_ptx){j.text.data, j.kernels.data, j.kernels.n, j.prints};
}

void rt_refuse_ptx(spvf_context *context, const ir_module *m, const char *kernel,
                   const rt_ptx_options *o, ir_arena *arena) {
    const ir_func *f = ir_func_find(m, kernel);
    job j = {.context = context, .from = m, .options = o, .arena = arena};
    if (!f || !(f->flags & IR_FUNC_KERNEL))
        rt_throw(context, IR_ERR_ARGUMENT, "there is no kernel '%s'", kernel);
    if (ir_is_declaration(f))
        rt_throw(context, IR_ERR_REFUSED, "kernel '%s' cannot run: %s", kernel,
                 f->refusal ? f->refusal : "it has no body");
    *ir_push(arena, &j.names) = kernel;
    write_all(&j);
    ir_throw(&context->cx, IR_ERR_REFUSED);
}
