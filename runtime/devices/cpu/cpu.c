/* cpu.c — the device that runs native code on this machine's processors.
 *
 * Buffers are memory of the process; programs keep one rt_kernel per kernel, compiled when it is
 * launched first.  Threads are those of the process's pool.
 */
#include "runtime/devices/cpu/cpu.h"

#include <stdlib.h>

static rt_memory *allocate(rt_device *d, const char *name, uint64_t bytes, const void *data) {
    cpu_device *c = (cpu_device *)d;
    rt_memory *m = ir_new(&c->arena, rt_memory);
    (void)name;
    if (bytes > SIZE_MAX / 2) ir_throw(c->arena.cx, IR_ERR_MEMORY);
    m->bytes = cpu_aligned(&c->arena, bytes);
    m->size = bytes;
    if (data && bytes) memcpy(m->bytes, data, bytes);
    return m;
}

static void read_memory(rt_device *d, rt_memory *m, uint64_t offset, void *to, uint64_t bytes) {
    if (offset > m->size || bytes > m->size - offset)
        rt_throw(d->context, IR_ERR_DEVICE, "cpu: a read outside of a buffer");
    if (bytes) memcpy(to, (const char *)m->bytes + offset, bytes);
}

static void write_memory(rt_device *d, rt_memory *m, uint64_t offset, const void *from,
                         uint64_t bytes) {
    if (offset > m->size || bytes > m->size - offset)
        rt_throw(d->context, IR_ERR_DEVICE, "cpu: a write outside of a buffer");
    if (bytes) memcpy((char *)m->bytes + offset, from, bytes);
}

static void copy_memory(rt_device *d, rt_memory *to, const rt_memory *from) {
    (void)d;
    if (from->size) memcpy(to->bytes, from->bytes, from->size);
}

static rt_program *build(rt_device *d, const ir_module *m) {
    cpu_device *c = (cpu_device *)d;
    rt_program *p = cpu_program_new(&c->machine, m);
    p->next = c->programs;
    return c->programs = p;
}

static void prepare(rt_device *d, rt_program *p, const char *kernel, const spvf_range *range,
                    const rt_arg *args, size_t count) {
    const cpu_launch l = {.cx = &d->context->cx,
                          .machine = &((cpu_device *)d)->machine,
                          .kernel = cpu_find_kernel(p, kernel),
                          .range = range,
                          .args = args,
                          .count = count};
    cpu_prepare_launch(&l);
}

static void launch(rt_device *d, rt_program *p, const char *kernel, const spvf_range *range,
                   const rt_arg *args, size_t count) {
    cpu_device *c = (cpu_device *)d;
    const cpu_launch l = {.cx = &d->context->cx,
                          .machine = &c->machine,
                          .kernel = cpu_find_kernel(p, kernel),
                          .range = range,
                          .args = args,
                          .count = count,
                          .output = d->output,
                          .output_user = d->output_user,
                          .watch = d->watch,
                          .notes = &c->arena};
    cpu_run_launch(&l);
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

static bool says(const char *list, const char *word) { return list && strstr(list, word); }

bool cpu_machine_open(const rt_cpu_options *options, cpu_machine *out) {
    *out = (cpu_machine){.options = *options, .pool = rt_pool_share()};
    if (!options->code.level) out->options.code.level = rt_cpu_level();
    out->tools.gdb = says(rt_environment("SPVF_JIT"), "gdb");
    out->tools.perf = says(rt_environment("SPVF_JIT"), "perf");
    out->cache = options->cache ? rt_cache_open(true) : rt_no_cache;
    if (!out->pool) rt_cache_close(&out->cache);
    return out->pool != NULL;
}

void cpu_machine_close(cpu_machine *m) {
    rt_cache_close(&m->cache);
    rt_pool_give_back(m->pool);
}

const cpu_machine *rt_cpu_machine(const rt_device *d) {
    return d->launch == launch ? &((const cpu_device *)d)->machine : NULL;
}

static void close_device(rt_device *d) {
    cpu_device *c = (cpu_device *)d;
    for (rt_program *p = c->programs, *next; p; p = next) {
        next = p->next;
        cpu_program_free(p);
    }
    cpu_machine_close(&c->machine);
    ir_arena arena = c->arena;
    ir_arena_free(&arena);
}

rt_device *rt_cpu_open_with(spvf_context *context, const rt_cpu_options *options) {
    ir_arena arena;
    if (options->code.level > rt_cpu_level())
        rt_throw(context, IR_ERR_DEVICE, "cpu: this machine is no %s",
                 level_text(options->code.level, (char[40]){0}));
    ir_arena_init(&arena, &context->cx);
    cpu_device *c = ir_new(&arena, cpu_device);
    *c = (cpu_device){.arena = arena,
                      .base = {.context = context,
                               .phases = true,
                               .serial = true,
                               .close = close_device,
                               .allocate = allocate,
                               .read = read_memory,
                               .write = write_memory,
                               .copy = copy_memory,
                               .build = build,
                               .prepare = prepare,
                               .launch = launch}};
    if (!cpu_machine_open(options, &c->machine)) {
        arena = c->arena;
        ir_arena_free(&arena);
        ir_throw(&context->cx, IR_ERR_MEMORY);
    }
    return &c->base;
}

/* Why it cannot be used, or NULL. */
static const char *why_not_usable(void) {
    return rt_cpu_level() ? rt_cpu_missing() : "no code is made for this processor";
}

static bool take_flag(const char **list, rt_cpu_options *o) {
    if (rt_take_option(list, "eager")) return o->eager = true;
    if (rt_take_option(list, "calls")) return o->keep_calls = true;
    return rt_take_option(list, "cache") && (o->cache = true);
}

const char *rt_cpu_take_options(const char *list, rt_cpu_options *o) {
    while (list && *list &&
           (rt_take_code_option(&list, cg_host_machine(), &o->code) || take_flag(&list, o)))
        continue;
    return list && *list ? list : NULL;
}

static void take_options(spvf_context *context, const char *list, rt_cpu_options *o) {
    list = rt_cpu_take_options(list ? list : rt_environment("SPVF_CPU"), o);
    if (list)
        rt_throw(context, IR_ERR_ARGUMENT,
                 "unknown option '%s' of device cpu: v2, v3, v4, regalloc=stack, seed=N, eager, "
                 "cache, calls",
                 list);
}

const char *spvf_default_device(const char **why_not) {
    if (why_not) *why_not = why_not_usable();
    return why_not_usable() ? "check" : "cpu";
}

rt_device *rt_cpu_open(spvf_context *context, const char *list) {
    rt_cpu_options o = {.compile = rt_cpu_compile, .cache = rt_cache_wanted(false)};
    take_options(context, list, &o);
    if (why_not_usable()) rt_throw(context, IR_ERR_DEVICE, "device cpu: %s", why_not_usable());
    return rt_cpu_open_with(context, &o);
}

void rt_cpu_list(void (*each)(void *user, const spvf_device_info *info), void *user) {
    char text[80];
    spvf_device_info info = {.name = "cpu",
                             .description = text,
                             .takes_spirv = true,
                             .usable = !why_not_usable(),
                             .why_not = why_not_usable()};
    snprintf(text, sizeof text, "native code for %s, %u threads",
             level_text(rt_cpu_level(), (char[40]){0}), rt_default_threads());
    each(user, &info);
}

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
    rt_cpu_local_size(f, j->range, j->local, &j->scratch);
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
