/* cpu.c — the device that runs native code on this machine's processors.
 *
 * Memory is memory of the process.  A kernel is compiled when it is launched first.  A submission
 * runs on the thread that submits it, and launches use the threads of the process's pool.
 */
#include "runtime/devices/cpu/cpu.h"

#include "runtime/system/memory.h"
#include "runtime/system/process.h"

#include <stdlib.h>

/* --------------------------------------------------------------------------------------- memory */

static rt_memory *wrap(rt_device *d, void *host, uint64_t bytes) {
    rt_memory *m = rt_new_owned(d->context, &((cpu_device *)d)->memories, sizeof *m);
    m->bytes = host;
    m->size = bytes;
    return m;
}

static void release(rt_device *d, rt_memory *m) {
    (void)d;
    rt_disown(&m->owned);
    if (m->allocated) rt_free_memory(m->bytes, m->size);
    free(m);
}

static rt_memory *allocate(rt_device *d, const char *name, uint64_t bytes, const void *data) {
    (void)name;
    rt_memory *m = wrap(d, NULL, bytes);
    m->bytes = rt_new_memory(bytes);
    m->allocated = true;
    if (!m->bytes) {
        release(d, m);
        ir_throw(&d->context->cx, IR_ERR_MEMORY);
    }
    if (data && bytes) memcpy(m->bytes, data, bytes);
    return m;
}

static void *address(const rt_memory *m) { return m->bytes; }

static uint64_t size_of(const rt_memory *m) { return m->size; }

static const ir_func *kernel_of(const rt_function *f) { return f->ir; }

/* ------------------------------------------------------------------------------------- programs
 *
 * What is thrown in the context of a module is thrown again in that of the device. */

static void discard(rt_device *d, rt_program *p) {
    (void)d;
    rt_disown(&p->owned);
    cpu_program_clear(p);
    free(p);
}

typedef struct {
    const cpu_machine *machine;
    const ir_module *module;
    rt_program *program;
} building;

static void init_program(void *arg) {
    const building *b = arg;
    cpu_program_init(b->program, b->machine, b->module);
}

static rt_program *build(rt_device *d, const ir_module *m) {
    cpu_device *c = (cpu_device *)d;
    building b = {&c->machine, m, rt_new_owned(d->context, &c->programs, sizeof(rt_program))};
    if (ir_try(m->cx, init_program, &b)) return b.program;
    discard(d, b.program);
    ir_throw(&d->context->cx, m->cx->status);
}

typedef struct {
    rt_program *program;
    const char *kernel;
    rt_function *function;
} finding;

static void find_function(void *arg) {
    finding *f = arg;
    f->function = cpu_find_function(f->program, f->kernel);
}

static rt_function *find(rt_device *d, rt_program *p, const char *kernel) {
    finding f = {.program = p, .kernel = kernel};
    ir_ctx *cx = p->module->cx;
    if (!ir_try(cx, find_function, &f)) ir_throw(&d->context->cx, cx->status);
    return f.function;
}

/* ------------------------------------------------------------------------------------- commands */

static cpu_launch describe(rt_device *d, spvf_context *context, const rt_launch *l) {
    return (cpu_launch){.cx = &context->cx,
                        .machine = &((cpu_device *)d)->machine,
                        .launch = l,
                        .output = d->output,
                        .output_user = d->output_user,
                        .watch = d->watch,
                        .notes = &((cpu_device *)d)->notes,
                        .counts = &d->code};
}

static void prepare(rt_device *d, spvf_context *context, const rt_launch *l) {
    const cpu_launch what = describe(d, context, l);
    cpu_prepare_launch(&what);
}

/* The address of `size` bytes of a box. */
static char *reach(spvf_context *c, const rt_box *b, uint64_t size) {
    if (!b->memory) return b->bytes;
    if (b->offset > b->memory->size || size > b->memory->size - b->offset)
        rt_throw(c, IR_ERR_DEVICE, "cpu: bytes outside of a buffer");
    return (char *)b->memory->bytes + b->offset;
}

static uint64_t extent(const rt_box *b, const size_t region[3]) {
    return region[0] + (region[1] - 1) * b->row + (region[2] - 1) * b->slice;
}

static void copy(spvf_context *c, const rt_copy *what) {
    if (!what->region[0]) return;
    char *to = reach(c, &what->to, extent(&what->to, what->region));
    rt_copy_rows(to, reach(c, &what->from, extent(&what->from, what->region)), what);
}

static void run(rt_device *d, spvf_context *context, const rt_command *c) {
    switch (c->kind) {
    case RT_COMMAND_LAUNCH: {
        const cpu_launch what = describe(d, context, &c->launch);
        cpu_run_launch(&what);
        break;
    }
    case RT_COMMAND_COPY: copy(context, &c->copy); break;
    case RT_COMMAND_FILL:
        rt_repeat_pattern(reach(context, &c->fill.to, c->fill.size), &c->fill);
        break;
    }
}

static rt_progress submit(rt_device *d, rt_submission *s) {
    for (size_t n = 0; n < s->count; n++) run(d, s->context, &s->commands[n]);
    return RT_ENDED;
}

/* ----------------------------------------------------------------------------- opening, closing */

unsigned rt_cpu_level(void) {
    const cg_machine *m = cg_host_machine();
    return m ? m->host->detect() : 0;
}

/* "x86-64-v3" */
static const char *level_text(unsigned level, char room[40]) {
    const cg_machine *m = cg_host_machine();
    snprintf(room, 40, "%s-%s", m ? m->title : "?", m ? cg_level_name(m, level) : "?");
    return room;
}

bool cpu_machine_open(const rt_cpu_options *options, cpu_machine *out) {
    *out = (cpu_machine){.options = *options, .pool = rt_pool_share()};
    if (!options->code.level) out->options.code.level = rt_cpu_level();
    out->tools.step = rt_setting_has(RT_ENV_JIT, "step");
    out->tools.gdb = out->tools.step || rt_setting_has(RT_ENV_JIT, "gdb");
    out->tools.perf = rt_setting_has(RT_ENV_JIT, "perf");
    out->tools.vtune = rt_setting_has(RT_ENV_JIT, "vtune");
    out->cache = options->cache ? rt_cache_open(true) : rt_no_cache;
    if (!out->pool) rt_cache_close(&out->cache);
    return out->pool != NULL;
}

void cpu_machine_close(cpu_machine *m) {
    rt_cache_close(&m->cache);
    rt_pool_give_back(m->pool);
}

const cpu_machine *rt_cpu_machine(const rt_device *d) { return &((const cpu_device *)d)->machine; }

static void close_device(rt_device *d) {
    cpu_device *c = (cpu_device *)d;
    while (c->programs) discard(d, (rt_program *)c->programs);
    while (c->memories) release(d, (rt_memory *)c->memories);
    cpu_machine_close(&c->machine);
    ir_arena_free(&c->notes);
    free(c);
}

static const spvf_capabilities capabilities = {.phases = true,
                                               .serial = true,
                                               .print = true,
                                               .atomics64 = true,
                                               .host_memory = true,
                                               .offsets = true,
                                               .concurrent = true,
                                               .watch = true};

rt_device *rt_cpu_open_with(spvf_context *context, const rt_cpu_options *options) {
    if (options->code.level > rt_cpu_level())
        rt_throw(context, IR_ERR_DEVICE, "cpu: this machine is no %s",
                 level_text(options->code.level, (char[40]){0}));
    cpu_device *c = calloc(1, sizeof *c);
    if (!c) ir_throw(&context->cx, IR_ERR_MEMORY);
    c->base = (rt_device){.driver = &rt_cpu_driver, .context = context, .can = capabilities};
    if (!cpu_machine_open(options, &c->machine)) {
        free(c);
        ir_throw(&context->cx, IR_ERR_MEMORY);
    }
    if (!options->no_reflection) c->base.reflection = rt_host_reflection();
    c->base.can.lanes = options->code.lanes != 1;
    c->base.can.subgroup_size = rt_cpu_subgroup_size(&c->machine.options, NULL);
    ir_arena_init(&c->notes, &context->cx);
    return &c->base;
}

/* Why it cannot be used, or NULL. */
static const char *why_not_usable(void) {
    return rt_cpu_level() ? rt_cpu_missing() : "no code is made for this processor";
}

static bool take_flag(const char **list, rt_cpu_options *o) {
    if (rt_take_option(list, "eager")) return o->eager = true;
    if (rt_take_option(list, "untiered")) return o->untiered = true;
    if (rt_take_option(list, "quick")) return o->quick = true;
    if (rt_take_option(list, "waiting")) return o->waiting = true;
    if (rt_take_option(list, "calls")) return o->keep_calls = true;
    if (rt_take_option(list, "recompile")) return o->recompile = true;
    if (rt_take_number(list, "caches=", &o->caches)) return true;
    if (rt_take_option(list, "without=reflection")) return o->no_reflection = true;
    if (rt_take_without(list, &o->without)) return true;
    return rt_take_option(list, "cache") && (o->cache = true);
}

const char *rt_cpu_take_options(const char *list, rt_cpu_options *o) {
    while (list && *list &&
           (rt_take_code_option(&list, cg_host_machine(), &o->code) || take_flag(&list, o)))
        continue;
    return list && *list ? list : NULL;
}

#define OPTIONS                                                                                    \
    "v2, v3, v4, icelake, simd=N, regalloc=stack, seed=N, eager, untiered, quick, waiting, "       \
    "cache, calls, recompile, caches=N, without=FACT"

const char *rt_cpu_take_setting(rt_cpu_options *o) {
    rt_cpu_options taken = *o;
    const char *unknown = rt_cpu_take_options(rt_setting(RT_ENV_CPU), &taken);
    if (!unknown) *o = taken;
    return unknown;
}

void rt_cpu_warn_of_setting(spvf_context *context) {
    rt_cpu_options o = {.cache = false};
    const char *unknown = rt_cpu_take_setting(&o);
    if (unknown)
        ir_report(&context->cx, (ir_message){.severity = IR_WARNING},
                  "SPVFUSE_CPU is '%.100s', which is not understood from '%.100s' on: it takes "
                  "one or several of " OPTIONS,
                  rt_setting(RT_ENV_CPU), unknown);
}

/* list NULL: what SPVFUSE_CPU says. */
static void take_options(spvf_context *context, const char *list, rt_cpu_options *o) {
    if (!list) {
        rt_cpu_take_setting(o);
        rt_cpu_warn_of_setting(context);
        return;
    }
    const char *unknown = rt_cpu_take_options(list, o);
    if (unknown)
        rt_throw(context, IR_ERR_ARGUMENT, "unknown option '%s' of device cpu: " OPTIONS, unknown);
}

const char *spvf_default_device(const char **why_not) {
    if (why_not) *why_not = why_not_usable();
    return why_not_usable() ? "check" : "cpu";
}

const char *rt_cpu_target(const rt_cpu_options *o, ir_arena *a) {
    const cg_machine *m = cg_host_machine();
    unsigned level = o->code.level ? o->code.level : rt_cpu_level();
    ir_text t = {.arena = a};
    if (!m || !level) return NULL;
    ir_putf(&t, "%s:%s", m->name, cg_level_name(m, level));
    if (o->code.lanes) ir_putf(&t, ",simd=%u", o->code.lanes);
    if (o->keep_calls) ir_put(&t, ",calls");
    for (unsigned n = 0; n < RT_FACTS; n++)
        if (o->without >> n & 1) ir_putf(&t, ",without=%s", spvf_fact_name((spvf_fact)n));
    return t.data;
}

const char *rt_default_target(ir_arena *a) {
    rt_cpu_options o = {.cache = false};
    rt_cpu_take_setting(&o);
    return rt_cpu_target(&o, a);
}

/* Facts are for launches of the device. */
static const char *target_of(const rt_device *d, ir_arena *a) {
    rt_cpu_options o = rt_cpu_machine(d)->options;
    o.without = 0;
    return rt_cpu_target(&o, a);
}

/* list: options of rt_take_code_option, or NULL: what SPVFUSE_CPU says.  Without a level, the
 * machine's. */
static rt_device *open_named(spvf_context *context, const char *list) {
    rt_cpu_options o = {.compile = rt_cpu_compile, .cache = rt_cache_wanted(false)};
    take_options(context, list, &o);
    if (why_not_usable()) rt_throw(context, IR_ERR_DEVICE, "device cpu: %s", why_not_usable());
    return rt_cpu_open_with(context, &o);
}

static void list_devices(spvf_context *context,
                         void (*each)(void *user, const spvf_device_info *info), void *user) {
    static const uint32_t subgroups[] = {1, 2, 4, 8, 16, 32, 64};
    const cg_machine *m = cg_host_machine();
    const unsigned level = rt_cpu_level();
    char text[80], target[80];
    (void)context;
    spvf_device_sizes sizes = {.version = spvf_version_text(),
                               .parallel = rt_default_threads(),
                               .memory = rt_memory_of_machine(),
                               .group_items = CPU_GROUP_ITEMS,
                               .subgroup_sizes = subgroups,
                               .subgroup_size_count = sizeof subgroups / sizeof *subgroups};
    const spvf_device_info info = {.name = "cpu",
                                   .description = text,
                                   .takes_spirv = true,
                                   .usable = !why_not_usable(),
                                   .why_not = why_not_usable(),
                                   .can = &capabilities,
                                   .sizes = &sizes};
    for (unsigned d = 0; d < 3; d++) sizes.group_size[d] = CPU_GROUP_ITEMS;
    snprintf(text, sizeof text, "native code for %s, %u threads", level_text(level, (char[40]){0}),
             rt_default_threads());
    if (level) {
        snprintf(target, sizeof target, "%s:%s", m->name, cg_level_name(m, level));
        sizes.target = target;
        sizes.vector_bytes = m->describe(level).vector_bytes;
    }
    each(user, &info);
}

static const char *name_of(const rt_function *f) { return f->ir->name; }

const rt_driver rt_cpu_driver = {.name = "cpu",
                                 .forms = "cpu, cpu:OPTION,OPTION …",
                                 .open = open_named,
                                 .list = list_devices,
                                 .close = close_device,
                                 .allocate = allocate,
                                 .wrap = wrap,
                                 .address = address,
                                 .release = release,
                                 .build = build,
                                 .size = size_of,
                                 .find = find,
                                 .name_of = name_of,
                                 .kernel = kernel_of,
                                 .target = target_of,
                                 .discard = discard,
                                 .prepare = prepare,
                                 .submit = submit};

/* ----------------------------------------------------------------------------------- local size */

typedef struct {
    const spvf_module *module;
    const char *kernel;
    const spvf_range *range;
    uint64_t *local;
    ir_arena scratch;
} local_size_job;

static void find_local_size(void *arg) {
    local_size_job *j = arg;
    const ir_func *f = ir_func_find(j->module->ir, j->kernel);
    if (!f || !(f->flags & IR_FUNC_KERNEL))
        rt_throw(j->module->context, IR_ERR_ARGUMENT, "no kernel @%s", j->kernel);
    const rt_cpu_options here = {.code = {.level = rt_cpu_level()}};
    rt_cpu_local_size(f, rt_cpu_subgroup_size(&here, f), j->range, j->local, &j->scratch);
}

spvf_status spvf_cpu_local_size(const spvf_module *module, const char *kernel,
                                const spvf_range *range, uint64_t local[3]) {
    if (!module || !kernel || !range || !local)
        return rt_refuse_call(module ? module->context : NULL, __func__, "%s is NULL",
                              !kernel ? "kernel"
                              : range ? "local"
                                      : "range");
    if (range->dims < 1 || range->dims > 3)
        return rt_refuse_call(module->context, __func__, "range: 1 to 3 dimensions, not %u",
                              range->dims);
    local_size_job j = {.module = module, .kernel = kernel, .range = range, .local = local};
    ir_arena_init(&j.scratch, &module->context->cx);
    spvf_status status = rt_guard(module->context, find_local_size, &j);
    ir_arena_free(&j.scratch);
    return status;
}
