/* plan_run.c — running plans: load, run on a device, compare, print, write.
 *
 * Statements run in order.  A fuse group is fused and launched as one kernel; when that is refused
 * its members are launched one by one, with the same results, unless strict was asked for.
 */
#include "ir/eval.h"
#include "runtime/plan/plan.h"

typedef struct {
    spvf_plan *plan;
    spvf_run_options options;
    spvf_pass_options passes; /* of the options */
    spvf_run_result *result;
    ir_arena arena;   /* of the run */
    ir_arena scratch; /* of the statement that runs */
    rt_library library;
    rt_device *device;
    rt_memory **memory; /* by buffer */
    ir_vec(spvf_fusion *) fusions;
    rt_memory **before, **unfused; /* of validation */
    rt_modules modules;            /* of measuring */
    rt_phase_runs phases;
    rt_plan_progress progress;
} run_job;

/* --------------------------------------------------------------------------------- plan objects */

typedef struct {
    spvf_context *context;
    const char *file, *text;
    size_t size;
    spvf_plan *plan;
} load_job;

static const char *folder_of(ir_arena *a, const char *file) {
    const char *slash = strrchr(file, '/');
    return slash ? ir_strndup(a, file, (size_t)(slash - file)) : "";
}

static void load_plan(void *arg) {
    load_job *j = arg;
    static const char mark[] = "\xef\xbb\xbf"; /* the byte order mark that some editors write */
    ir_arena arena;
    if (j->size >= strlen(mark) && memcmp(j->text, mark, strlen(mark)) == 0) {
        j->text += strlen(mark);
        j->size -= strlen(mark);
    }
    rt_refuse_other_kinds(
        j->context, &(rt_source){.name = j->file, .bytes = j->text, .size = j->size}, "a plan");
    ir_arena_init(&arena, &j->context->cx);
    j->plan = ir_new(&arena, spvf_plan);
    j->plan->context = j->context;
    j->plan->arena = arena;
    j->plan->file = ir_strdup(&j->plan->arena, j->file);
    j->plan->folder = folder_of(&j->plan->arena, j->file);
    rt_parse_plan(j->plan, j->text, j->size);
}

spvf_status spvf_plan_load(spvf_context *context, const char *file, const char *text, size_t size,
                           spvf_plan **out) {
    if (out) *out = NULL;
    if (!context || !out || (!text && size))
        return rt_refuse_call(context, __func__, "%s is NULL",
                              !context ? "context"
                              : out    ? "text"
                                       : "out");
    load_job j = {context, file ? file : "<plan>", text, size, NULL};
    spvf_status status = rt_guard(context, load_plan, &j);
    if (status == SPVF_OK)
        *out = j.plan;
    else
        spvf_plan_destroy(j.plan);
    return status;
}

void spvf_plan_destroy(spvf_plan *plan) {
    if (!plan) return;
    ir_arena arena = plan->arena;
    ir_arena_free(&arena);
}

/* -------------------------------------------------------------------------------------- buffers */

static void make_buffers(run_job *j) {
    spvf_plan *plan = j->plan;
    j->memory = ir_new_array(&j->arena, rt_memory *, plan->buffers.n);
    for (uint32_t i = 0; i < plan->buffers.n; i++) {
        const rt_buffer_decl *b = &plan->buffers.data[i];
        rt_plan_at(plan, b->at);
        const void *data = rt_initial_bytes(plan, &j->scratch, b);
        j->memory[i] =
            j->device->driver->allocate(j->device, b->name, b->count * rt_elem_size(b->elem), data);
        ir_arena_free(&j->scratch);
    }
}

/* ------------------------------------------------------------------------------------- launches */

static rt_arg to_arg(const run_job *j, const rt_bound_arg *a) {
    if (a->arg->offset && !j->device->can.offsets)
        rt_plan_fail(j->plan, a->arg->at, "this device takes buffers as a whole: no 'at'");
    return rt_device_arg(a, a->arg->kind == RT_PLAN_BUFFER ? j->memory[a->arg->index] : NULL);
}

static void launch(run_job *j, const rt_launch *l) {
    uint64_t start = rt_now_ns();
    rt_device_launch(j->device, l);
    j->result->run_ns += rt_now_ns() - start;
    j->result->launches++;
    rt_count_launch(&j->progress);
}

static void launch_single(run_job *j, const rt_plan_launch *l) {
    rt_bound_launch b = rt_bind(&j->library, l);
    rt_arg *args = ir_new_array(&j->scratch, rt_arg, l->args.n);
    for (uint32_t i = 0; i < l->args.n; i++) args[i] = to_arg(j, &b.args[i]);
    const rt_driver *driver = j->device->driver;
    if (!b.loaded->program) b.loaded->program = rt_device_build(j->device, b.loaded->module->ir);
    rt_function *f = driver->find(j->device, b.loaded->program, l->kernel);
    launch(j, &(rt_launch){f, &l->range, args, l->args.n, .uneven = l->uneven});
}

static void run_members(run_job *j, const rt_group *g) {
    for (uint32_t i = 0; i < g->launches.n; i++) launch_single(j, &g->launches.data[i]);
}

/* A group that is fused, with both ways to run it. */
typedef struct {
    run_job *job;
    const rt_group *group;
    spvf_fusion *fusion; /* NULL: there is none */
    const rt_bound_launch *bound;
    rt_function *function; /* of the fusion */
    uint64_t prepare_ns;   /* that compiling took */
} fused_group;

static const rt_arg *fused_args(const fused_group *g) {
    const spvf_fusion_info *info = spvf_fusion_get_info(g->fusion);
    rt_arg *args = ir_new_array(&g->job->scratch, rt_arg, info->arg_count);
    for (size_t i = 0; i < info->arg_count; i++)
        args[i] = to_arg(g->job, &g->bound[info->args[i]->member].args[info->args[i]->param]);
    return args;
}

static void launch_fused(fused_group *g) {
    const spvf_fusion_info *info = spvf_fusion_get_info(g->fusion);
    launch(g->job, &(rt_launch){g->function, &info->range, fused_args(g), info->arg_count,
                                .uneven = false});
}

static void launch_either(void *user, bool fused) {
    fused_group *g = user;
    if (fused)
        launch_fused(g);
    else
        run_members(g->job, g->group);
}

/* By buffer: is it none of the fused kernel's arguments? */
static const bool *unknown_buffers(const fused_group *g) {
    const spvf_fusion_info *info = spvf_fusion_get_info(g->fusion);
    uint32_t n = g->job->plan->buffers.n;
    bool *unknown = ir_new_array(&g->job->scratch, bool, n);
    memset(unknown, true, n);
    for (size_t i = 0; i < info->arg_count; i++) {
        const rt_bound_arg *a = &g->bound[info->args[i]->member].args[info->args[i]->param];
        if (a->arg->kind == RT_PLAN_BUFFER) unknown[a->arg->index] = false;
    }
    return unknown;
}

static void validate_group(fused_group *g) {
    run_job *j = g->job;
    rt_validation v = {.plan = j->plan,
                       .group = g->group,
                       .device = j->device,
                       .arena = &j->arena,
                       .memory = j->memory,
                       .unknown = unknown_buffers(g),
                       .before = j->before,
                       .unfused = j->unfused,
                       .launch = launch_either,
                       .user = g};
    j->result->validated++;
    j->result->differences += !rt_validate(&v);
    j->before = v.before;
    j->unfused = v.unfused;
}

/* fused NULL: kernel by kernel alone. */
static void time_group(run_job *j, fused_group *g, uint64_t fuse_ns) {
    const rt_bench bench = {j->plan->context, j->device,     &j->arena, &j->modules,
                            &j->progress,     launch_either, g};
    spvf_timing t = {.name = g->group->name ? g->group->name : g->group->launches.data[0].kernel,
                     .launches = g->group->launches.n,
                     .fused = g->fusion != NULL,
                     .fuse_ns = fuse_ns};
    if (g->fusion) {
        const spvf_explanation *e = spvf_fusion_explanation(g->fusion);
        t.unfused_bytes = e->unfused_bytes;
        t.fused_bytes = e->fused_bytes;
        t.exact = e->exact;
    }
    rt_bench_group(&bench, &t);
    t.compile_ns += g->prepare_ns;
    j->options.timing(j->options.timing_user, &t);
}

static void run_unfused(run_job *j, const rt_group *g) {
    if (j->options.timing)
        time_group(j, &(fused_group){.job = j, .group = g}, 0);
    else
        run_members(j, g);
}

/* Refused, and the plan goes on without. */
static void run_refused(run_job *j, const rt_group *g) {
    rt_plan_warn(j->plan, g->at, "group '%s' runs kernel by kernel", g->name);
    j->result->refused_groups++;
    run_unfused(j, g);
}

/* Builds it, and makes ready what the first launch needs; false: it has become a refusal. */
static bool make_ready(fused_group *g, bool may_refuse) {
    run_job *j = g->job;
    const rt_arg *args = fused_args(g);
    uint64_t start = rt_now_ns();
    g->function = rt_build_fusion(j->device, g->fusion, args);
    g->prepare_ns = rt_now_ns() - start;
    j->result->run_ns += g->prepare_ns;
    if (g->function) return true;
    rt_say_refusal(j->plan->context, spvf_fusion_explanation(g->fusion), !may_refuse);
    return false;
}

static void run_fused(fused_group *g, uint64_t fuse_ns) {
    run_job *j = g->job;
    j->result->fused_groups++;
    if (j->options.timing)
        time_group(j, g, fuse_ns);
    else if (j->options.validate)
        validate_group(g);
    else
        launch_either(g, true);
}

static void run_group(run_job *j, const rt_group *g) {
    ir_ctx *cx = &j->plan->context->cx;
    bool may_refuse = !j->options.strict && !g->strict;
    const rt_group_request request = {.group = g,
                                      .strict = !may_refuse,
                                      .phases = j->device->can.phases,
                                      .serial = j->device->can.serial,
                                      .lanes = j->device->can.lanes};
    spvf_fusion **fusion = ir_push(&j->arena, &j->fusions);
    rt_group_result result;
    *fusion = NULL;
    uint64_t start = rt_now_ns(), reading = j->library.read_ns;
    spvf_status status = rt_fuse_group(&j->library, &request, &result);
    *fusion = result.fusion;
    uint64_t fuse_ns = rt_now_ns() - start - (j->library.read_ns - reading);
    j->result->fuse_ns += fuse_ns;
    fused_group fused = {.job = j, .group = g, .fusion = result.fusion, .bound = result.bound};
    if (status == SPVF_OK && !make_ready(&fused, may_refuse)) status = SPVF_ERROR_REFUSED;
    if (status == SPVF_OK) {
        run_fused(&fused, fuse_ns);
    } else if (status == SPVF_ERROR_REFUSED && may_refuse) {
        run_refused(j, g);
    } else {
        if (status != SPVF_ERROR_MEMORY)
            ir_report(cx, (ir_message){.severity = IR_ERROR}, "group '%s' was not fused", g->name);
        ir_throw(cx, status == SPVF_ERROR_REFUSED ? IR_ERR_REFUSED : cx->status);
    }
}

/* ------------------------------------------------------------------------- expect, print, write */

static char *read_elements(run_job *j, const rt_range_stmt *r) {
    const rt_buffer_decl *b = &j->plan->buffers.data[r->buffer];
    uint64_t size = rt_elem_size(b->elem), n = r->last - r->first + 1;
    char *data = ir_alloc(&j->scratch, n * size);
    rt_device_read(j->device, j->memory[r->buffer], r->first * size, data, n * size);
    return data;
}

static uint64_t element(const char *data, rt_elem e, uint64_t i) {
    uint64_t v = 0;
    memcpy(&v, data + i * rt_elem_size(e), rt_elem_size(e));
    return v;
}

static const char *shown(run_job *j, rt_elem e, uint64_t v) {
    ir_text t = {.arena = &j->scratch};
    rt_print_element(&t, e, v);
    return t.data;
}

/* Equal as the plan means it: integers exactly, floats by value or within the tolerance. */
static bool matches(rt_elem e, uint64_t got, uint64_t want, double tolerance) {
    if (!ir_is_float(e.kind)) return got == want;
    bool got_nan = ir_fp_is_nan(e.kind, got), want_nan = ir_fp_is_nan(e.kind, want);
    if (got_nan || want_nan) return got_nan && want_nan;
    if (ir_fp_compare(e.kind, got, want) == 0) return true;
    double g = ir_fp_to_double(e.kind, got), w = ir_fp_to_double(e.kind, want);
    double error = g > w ? g - w : w - g, size = w < 0 ? -w : w;
    return error <= tolerance * (size > 1 ? size : 1) && !ir_fp_is_inf(e.kind, got);
}

static bool is_undefined(const run_job *j, const rt_range_stmt *r, uint64_t index) {
    const rt_driver *d = j->device->driver;
    uint64_t size = rt_elem_size(j->plan->buffers.data[r->buffer].elem);
    if (!d->undefined) return false;
    return d->undefined(j->device, j->memory[r->buffer], index * size, size) != 0;
}

static void report_expect(run_job *j, const rt_range_stmt *r, uint64_t index, const char *got,
                          uint64_t want) {
    const rt_buffer_decl *b = &j->plan->buffers.data[r->buffer];
    ir_report(&j->plan->context->cx, (ir_message){.severity = IR_ERROR},
              "%s[%llu] is %s, expected %s", b->name, (unsigned long long)index, got,
              shown(j, b->elem, want));
}

static void run_expect(run_job *j, const rt_range_stmt *r) {
    rt_elem elem = j->plan->buffers.data[r->buffer].elem;
    const char *data = read_elements(j, r);
    uint64_t wrong = 0, n = r->last - r->first + 1;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t got = element(data, elem, i), want = r->want[r->want_count == 1 ? 0 : i];
        bool undefined = is_undefined(j, r, r->first + i);
        if ((!undefined && matches(elem, got, want, r->tolerance)) || wrong++) continue;
        report_expect(j, r, r->first + i,
                      undefined ? "undefined, nothing gave it a value" : shown(j, elem, got), want);
    }
    if (wrong > 1)
        ir_report(&j->plan->context->cx, (ir_message){.severity = IR_NOTE},
                  "%llu of %llu elements are not as expected", (unsigned long long)wrong,
                  (unsigned long long)n);
    j->result->expects++;
    j->result->failed_expects += wrong != 0;
}

static void run_print(run_job *j, const rt_range_stmt *r) {
    const rt_buffer_decl *b = &j->plan->buffers.data[r->buffer];
    const char *data = read_elements(j, r);
    ir_text t = {.arena = &j->scratch};
    ir_putf(&t, "%s[%llu..%llu] =", b->name, (unsigned long long)r->first,
            (unsigned long long)r->last);
    for (uint64_t i = 0; i <= r->last - r->first; i++) {
        ir_put(&t, i ? ", " : " ");
        rt_print_element(&t, b->elem, element(data, b->elem, i));
    }
    ir_put(&t, "\n");
    if (j->options.output) j->options.output(j->options.output_user, t.data);
}

static void run_write(run_job *j, const rt_range_stmt *r) {
    const rt_buffer_decl *b = &j->plan->buffers.data[r->buffer];
    const char *data = read_elements(j, r), *path = rt_plan_path(j->plan, &j->scratch, r->path);
    size_t size = (size_t)(r->last - r->first + 1) * rt_elem_size(b->elem);
    rt_write_file(j->plan->context, path, data, size);
}

/* -------------------------------------------------------------------------------------- running */

static void run_launches(run_job *j, const rt_group *g, bool fused) {
    rt_plan_at(j->plan, g->at);
    if (fused)
        run_group(j, g);
    else
        run_unfused(j, g);
}

static void run_statement(run_job *j, const rt_stmt *s) {
    bool launches = s->kind == RT_LAUNCH || s->kind == RT_GROUP;
    rt_begin_statement(&j->progress, s);
    rt_plan_at(j->plan, s->range.at);
    if (j->options.timing && !launches) return; /* what ran many times is not as expected */
    switch (s->kind) {
    case RT_LAUNCH: run_launches(j, &s->group, false); break;
    case RT_GROUP: run_launches(j, &s->group, !j->options.unfused); break;
    case RT_EXPECT: run_expect(j, &s->range); break;
    case RT_PRINT: run_print(j, &s->range); break;
    case RT_WRITE: run_write(j, &s->range); break;
    }
    rt_end_statement(&j->progress);
    ir_arena_free(&j->scratch);
}

/* Hands the final contents of every buffer to the caller, except those that are not needed. */
static void show_buffers(run_job *j) {
    for (uint32_t i = 0; j->options.buffer && i < j->plan->buffers.n; i++) {
        const rt_buffer_decl *b = &j->plan->buffers.data[i];
        rt_range_stmt whole = {.buffer = i, .last = b->count - 1};
        if (b->internal.given) continue;
        j->options.buffer(j->options.buffer_user, b->name, b->elem.name, read_elements(j, &whole),
                          b->count * rt_elem_size(b->elem));
        ir_arena_free(&j->scratch);
    }
}

static void run_plan(void *arg) {
    run_job *j = arg;
    const char *name = j->options.device ? j->options.device : "check";
    j->device = rt_device_open(j->plan->context, name);
    j->device->output = j->options.output;
    j->device->output_user = j->options.output_user;
    j->device->instruction_limit = j->options.instruction_limit;
    if (j->options.phases) rt_count_phases(&j->phases, j->device, &j->arena);
    if (j->options.validate && !j->device->can.watch)
        rt_throw(j->plan->context, IR_ERR_ARGUMENT, "device %s cannot validate: check and cpu can",
                 name);
    if (j->options.validate && j->options.unfused)
        rt_throw(j->plan->context, IR_ERR_ARGUMENT, "unfused, there is nothing to validate");
    j->library.reflection = j->device->reflection;
    rt_begin_progress(&j->progress, j->plan, &j->options, j->device);
    make_buffers(j);
    for (uint32_t i = 0; i < j->plan->stmts.n; i++) run_statement(j, &j->plan->stmts.data[i]);
    show_buffers(j);
}

static void take_code_counts(const rt_code_counts *from, spvf_run_result *to) {
    _Static_assert(SPVF_FACTS <= sizeof to->fact_launches / sizeof *to->fact_launches, "room");
    to->native_launches = from->launches;
    to->variants = from->variants;
    to->compile_ns = from->compile_ns;
    for (unsigned n = 0; n < SPVF_FACTS; n++) to->fact_launches[n] = from->of[n];
}

static void close_run(run_job *j) {
    rt_device *d = j->device;
    if (d) {
        take_code_counts(&d->code, j->result);
        j->result->instructions = d->counts.instructions;
        j->result->loads = d->counts.loads;
        j->result->stores = d->counts.stores;
        j->result->reports = d->counts.reports;
        rt_device_close(d);
    }
    rt_show_phases(&j->phases, &j->options);
    j->result->read_ns = j->library.read_ns;
    j->result->answers = j->library.answers;
    j->result->definitions = j->library.definitions;
    for (uint32_t i = 0; i < j->fusions.n; i++) spvf_fusion_destroy(j->fusions.data[i]);
    rt_library_free(&j->library);
    for (uint32_t i = 0; i < j->modules.n; i++) ir_module_free(j->modules.data[i]);
    ir_arena_free(&j->scratch);
    ir_arena_free(&j->arena);
}

spvf_status spvf_plan_run(spvf_plan *plan, const spvf_run_options *options,
                          spvf_run_result *result) {
    spvf_run_result own = {0};
    run_job j = {.plan = plan, .result = &own};
    if (!plan || !rt_take_options(plan->context, __func__, &j.options, options) ||
        !rt_take_passes(plan->context, __func__, &j.passes, &j.options.passes) ||
        !rt_has_size(plan->context, __func__, result))
        return SPVF_ERROR_ARGUMENT;
    ir_arena_init(&j.arena, &plan->context->cx);
    ir_arena_init(&j.scratch, &plan->context->cx);
    j.library = (rt_library){.plan = plan,
                             .arena = &j.arena,
                             .passes = j.options.passes,
                             .no_optimize = j.options.no_optimize};
    spvf_status status = rt_guard(plan->context, run_plan, &j);
    close_run(&j);
    rt_give_struct(result, &own, sizeof own);
    return status == SPVF_OK && (own.failed_expects || own.reports || own.differences)
               ? SPVF_ERROR_INPUT
               : status;
}
