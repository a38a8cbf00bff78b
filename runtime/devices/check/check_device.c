/* check_device.c — the driver of device check.
 *
 * Findings become messages with the place in the module and in the source.  Errors count as reports
 * of the run, which then fails.
 */
#include "runtime/devices/check/check_open.h"
#include "runtime/system/memory.h"

#include <stdlib.h>

struct rt_memory {
    rt_owned owned; /* the first member */
    check_buffer *buffer;
};

struct rt_function {
    const rt_program *program;
    const char *name; /* of the kernel */
    rt_function *next;
};

struct rt_program {
    rt_owned owned; /* the first member */
    check_program *program;
    const ir_module *module;
    ir_arena arena;
    rt_function *functions; /* that have been asked for */
    const char *source;     /* or NULL */
};

typedef struct {
    rt_device base;
    ir_arena arena;
    check_device *device;
    rt_owned *memories, *programs;
    const rt_program *running;
    rt_check_options options; /* report NULL: findings are messages and fail launches */
    uint64_t deadline;        /* of the launch; 0: there is none */
} check;

IR_NORETURN static void out_of_memory(const check *c) {
    ir_throw(&c->base.context->cx, IR_ERR_MEMORY);
}

/* Refused, or out of memory; it has been reported. */
IR_NORETURN static void fail_launch(const check *c) {
    ir_ctx *cx = &c->base.context->cx;
    ir_throw(cx, cx->status == IR_ERR_MEMORY ? IR_ERR_MEMORY : IR_ERR_DEVICE);
}

/* --------------------------------------------------------------------------------------- memory */

static void release(rt_device *d, rt_memory *m) {
    (void)d;
    rt_disown(&m->owned);
    if (m->buffer) check_buffer_free(m->buffer);
    free(m);
}

static rt_memory *allocate(rt_device *d, const char *name, uint64_t bytes, const void *data) {
    check *c = (check *)d;
    rt_memory *m = rt_new_owned(d->context, &c->memories, sizeof *m);
    (void)name;
    m->buffer = check_buffer_new(c->device, bytes, data, 0);
    if (m->buffer) return m;
    release(d, m);
    out_of_memory(c);
}

typedef struct {
    const check *device;
    const rt_copy *what;
    char *row; /* room for one */
} copying;

/* The wrapped memory that a byte of the process is in; NULL: none. */
static rt_memory *find_wrapped(const check *c, const void *host, uint64_t *offset) {
    for (rt_owned *o = c->memories; o; o = o->next) {
        rt_memory *m = (rt_memory *)o;
        *offset = (uint64_t)((const char *)host - (const char *)check_buffer_bytes(m->buffer));
        if (*offset < check_buffer_size(m->buffer)) return m;
    }
    return NULL;
}

/* Bytes of the process get the values of others: what was undefined there is undefined here. */
static void mark_row(const check *c, const char *to, const char *from, size_t size) {
    uint64_t t, f;
    const rt_memory *target = find_wrapped(c, to, &t), *source = find_wrapped(c, from, &f);
    for (size_t n = 0; target && n < size; n++)
        check_buffer_mark(target->buffer, t + n, 1,
                          source && check_buffer_undefined(source->buffer, f + n, 1));
}

static void copy_row(void *user, uint64_t to, uint64_t from) {
    const copying *c = user;
    const rt_box *target = &c->what->to, *source = &c->what->from;
    size_t size = c->what->region[0];
    const void *row = source->memory ? c->row : source->bytes + from;
    if (source->memory)
        check_buffer_read(source->memory->buffer, source->offset + from, size, c->row);
    if (target->memory)
        check_buffer_write(target->memory->buffer, target->offset + to, size, row);
    else
        memmove(target->bytes + to, row, size);
    if (!source->memory && !target->memory) mark_row(c->device, target->bytes + to, row, size);
}

static void check_box(const rt_device *d, const rt_box *b, const size_t region[3]) {
    if (!b->memory) return;
    uint64_t size = check_buffer_size(b->memory->buffer);
    uint64_t extent = region[0] + (region[1] - 1) * b->row + (region[2] - 1) * b->slice;
    if (b->offset > size || extent > size - b->offset)
        rt_throw(d->context, IR_ERR_DEVICE, "check: bytes outside of a buffer");
}

static bool is_whole(const rt_copy *c) {
    const rt_memory *to = c->to.memory, *from = c->from.memory;
    return to && from && !c->to.offset && !c->from.offset && c->region[1] * c->region[2] == 1 &&
           check_buffer_size(to->buffer) == c->region[0] &&
           check_buffer_size(from->buffer) == c->region[0];
}

/* Of whole buffers what is undefined is copied, too. */
static void copy(const rt_device *d, const rt_copy *what) {
    if (is_whole(what)) {
        check_buffer_copy(what->to.memory->buffer, what->from.memory->buffer);
        return;
    }
    if (!what->region[0]) return;
    check_box(d, &what->to, what->region);
    check_box(d, &what->from, what->region);
    copying c = {(const check *)d, what, malloc(what->region[0])};
    if (!c.row) ir_throw(&d->context->cx, IR_ERR_MEMORY);
    rt_each_row(what, copy_row, &c);
    free(c.row);
}

void rt_check_written(rt_device *d, const void *host, uint64_t size) {
    const char *first = host;
    for (rt_owned *o = ((check *)d)->memories; o; o = o->next) {
        const rt_memory *m = (const rt_memory *)o;
        const char *begin = check_buffer_bytes(m->buffer);
        const char *end = begin + check_buffer_size(m->buffer), *last = first + size;
        if (first >= end || last <= begin) continue;
        const char *from = first > begin ? first : begin, *to = last < end ? last : end;
        check_buffer_mark(m->buffer, (uint64_t)(from - begin), (uint64_t)(to - from), false);
    }
}

uint64_t rt_check_undefined(const rt_device *d, const void *host, uint64_t size) {
    uint64_t offset;
    const rt_memory *m = find_wrapped((const check *)d, host, &offset);
    if (!m || size > check_buffer_size(m->buffer) - offset) return 0;
    return check_buffer_undefined(m->buffer, offset, size);
}

static void fill(const rt_device *d, const rt_fill *f) {
    check_box(d, &f->to, (size_t[]){f->size, 1, 1});
    char *bytes = malloc(f->size + f->pattern_size);
    if (!bytes) ir_throw(&d->context->cx, IR_ERR_MEMORY);
    rt_repeat_pattern(bytes, f);
    if (f->to.memory)
        check_buffer_write(f->to.memory->buffer, f->to.offset, f->size, bytes);
    else
        memcpy(f->to.bytes, bytes, f->size);
    free(bytes);
    if (!f->to.memory) rt_check_written((rt_device *)(uintptr_t)d, f->to.bytes, f->size);
}

rt_memory *rt_check_wrap(rt_device *d, const rt_check_memory *what) {
    check *c = (check *)d;
    rt_memory *m = rt_new_owned(d->context, &c->memories, sizeof *m);
    m->buffer = check_buffer_wrap(c->device, what->host, what->size, what->flags);
    if (!m->buffer) {
        release(d, m);
        out_of_memory(c);
    }
    check_buffer_describe(m->buffer, what->origin);
    check_buffer_mark(m->buffer, 0, what->size, what->undefined);
    return m;
}

static uint64_t undefined(rt_device *d, const rt_memory *m, uint64_t offset, uint64_t bytes) {
    (void)d;
    return check_buffer_undefined(m->buffer, offset, bytes);
}

static uint64_t size_of(const rt_memory *m) { return check_buffer_size(m->buffer); }

/* ------------------------------------------------------------------------------------- programs */

static const ir_func *kernel_of(const rt_function *f) {
    return ir_func_find(f->program->module, f->name);
}

static void discard(rt_device *d, rt_program *p) {
    (void)d;
    rt_disown(&p->owned);
    if (p->program) check_program_free(p->program);
    ir_arena_free(&p->arena);
    free(p);
}

static rt_program *build(rt_device *d, const ir_module *m) {
    check *c = (check *)d;
    rt_program *p = rt_new_owned(d->context, &c->programs, sizeof *p);
    ir_arena_init(&p->arena, &d->context->cx);
    p->module = m;
    p->program = check_program_new(c->device, (ir_module *)(uintptr_t)m);
    if (p->program) return p;
    discard(d, p);
    out_of_memory(c);
}

void rt_check_set_source(rt_program *p, const char *text) {
    p->source = ir_strdup(&p->arena, text);
}

const char *rt_check_source(const rt_program *p) { return p->source; }

/* Whether there is such a kernel, a launch says. */
static rt_function *find(rt_device *d, rt_program *p, const char *kernel) {
    (void)d;
    for (rt_function *f = p->functions; f; f = f->next)
        if (strcmp(f->name, kernel) == 0) return f;
    rt_function *f = ir_new(&p->arena, rt_function);
    *f = (rt_function){p, ir_strdup(&p->arena, kernel), p->functions};
    return p->functions = f;
}

/* ------------------------------------------------------------------------------------- launches */

static void report(void *user, const check_report *r) {
    check *c = user;
    const check_party *here = &r->here;
    if (c->options.report) {
        c->options.report(c->options.user, c->running, r);
        return;
    }
    ir_message m = {.severity = r->severity,
                    .file = c->running->module->name,
                    .word = here->inst ? ir_word_of(here->inst->loc) : 0,
                    .source = here->file,
                    .source_line = here->line};
    if (r->severity == IR_ERROR) c->base.counts.reports++;
    ir_report(&c->base.context->cx, m, "%s%s", r->headline, r->details);
}

static void note_writer(void *user, const check_party *p) {
    check *c = user;
    ir_text t = {.arena = &c->arena};
    ir_putf(&t, "@%s", p->function);
    if (p->file) ir_putf(&t, ", %s:%u", p->file, p->line);
    ir_putf(&t, ": %s", p->text);
    c->base.watch->writer = t.data;
}

static void print(void *user, const char *text, size_t n) {
    check *c = user;
    if (c->base.output) c->base.output(c->base.output_user, ir_strndup(&c->arena, text, n));
}

static bool is_late(void *user) {
    const check *c = user;
    return rt_now_ns() > c->deadline;
}

/* A struct in a buffer may be given by the address of a copy that is the launch's. */
static check_arg to_arg(const rt_arg *a, const ir_param *p) {
    if (p && p->attrs & IR_PARAM_SPILLED && a->kind == RT_ARG_ADDRESS)
        return (check_arg){.kind = IR_ARG_VALUE, .bytes = a->address, .size = a->size};
    switch (a->kind) {
    case RT_ARG_VALUE: return (check_arg){.kind = IR_ARG_VALUE, .bytes = a->bytes, .size = a->size};
    case RT_ARG_LOCAL: return (check_arg){.kind = IR_ARG_LOCAL, .size = a->size};
    case RT_ARG_ADDRESS:
        return (check_arg){.kind = IR_ARG_POINTER, .offset = (uint64_t)(uintptr_t)a->address};
    default:
        if (!a->memory) return (check_arg){.kind = IR_ARG_POINTER}; /* a null pointer */
        return (check_arg){
            .kind = IR_ARG_POINTER, .buffer = a->memory->buffer, .offset = a->offset};
    }
}

static void count(rt_counts *all, const check_result *r) {
    all->instructions += r->instructions;
    for (int s = 0; s < IR_GENERIC; s++) {
        all->loads += r->memory[s].loads;
        all->stores += r->memory[s].stores;
    }
}

static void watch(const rt_watch *w, check_options *o) {
    o->report = NULL;
    o->print = NULL;
    o->wrote = note_writer;
    o->watch = w->memory->buffer;
    o->watch_offset = w->offset;
    o->watch_size = w->bytes;
}

/* With messages when it is refused. */
static check_result run(check *c, const rt_launch *l, const check_options *options) {
    const rt_program *p = l->function->program;
    check_result result;
    check_arg *args = ir_new_array(&c->arena, check_arg, l->count);
    const ir_func *f = kernel_of(l->function);
    for (size_t i = 0; i < l->count; i++)
        args[i] = to_arg(&l->args[i], f && i < f->nparams ? &f->param[i] : NULL);
    const check_launch what = {.kernel = l->function->name,
                               .range = rt_inner_range(l->range),
                               .args = args,
                               .nargs = (unsigned)l->count,
                               .options = *options};
    if (!check_run(p->program, &what, &result)) fail_launch(c);
    return result;
}

/* Nothing is known of a launch without the sizes of its buffers. */
static void prepare(rt_device *d, spvf_context *context, const rt_launch *l) {
    (void)context;
    for (size_t n = 0; n < l->count; n++)
        if (l->args[n].kind == RT_ARG_MEMORY && !l->args[n].memory) return;
    run((check *)d, l, &(check_options){.only_prepare = true});
}

static void tell_progress(void *user, uint64_t done, uint64_t groups) {
    const check *c = user;
    c->base.on_progress(c->base.on_progress_user, done, groups);
}

static void launch(check *c, const rt_launch *l) {
    check_options options = {.step_limit = c->base.instruction_limit,
                             .report = report,
                             .print = print,
                             .user = c,
                             .progress = c->base.on_progress ? tell_progress : NULL,
                             .allow_non_uniform = l->uneven || c->options.report};
    if (c->base.watch) watch(c->base.watch, &options);
    c->running = l->function->program;
    if (c->options.seconds) {
        c->deadline = rt_now_ns() + c->options.seconds * UINT64_C(1000000000);
        options.expired = is_late;
    }
    if (c->options.subgroup_size) {
        const ir_func *f = kernel_of(l->function);
        options.subgroup_size = c->options.subgroup_size(f);
        options.any_subgroup_size = true;
    }
    const check_result result = run(c, l, &options);
    if (!c->base.watch) count(&c->base.counts, &result);
}

static rt_progress submit(rt_device *d, rt_submission *s) {
    for (size_t n = 0; n < s->count; n++) {
        const rt_command *c = &s->commands[n];
        switch (c->kind) {
        case RT_COMMAND_LAUNCH: launch((check *)d, &c->launch); break;
        case RT_COMMAND_COPY: copy(d, &c->copy); break;
        case RT_COMMAND_FILL: fill(d, &c->fill); break;
        }
    }
    return RT_ENDED;
}

/* ----------------------------------------------------------------------------- opening, closing */

static void close_device(rt_device *d) {
    check *c = (check *)d;
    while (c->programs) discard(d, (rt_program *)c->programs);
    while (c->memories) release(d, (rt_memory *)c->memories);
    if (c->device) check_device_free(c->device);
    ir_arena arena = c->arena;
    ir_arena_free(&arena);
}

static const spvf_capabilities capabilities = {.phases = true,
                                               .print = true,
                                               .atomics64 = true,
                                               .offsets = true,
                                               .watch = true,
                                               .subgroup_size = 8};

rt_device *rt_check_open_with(spvf_context *context, const rt_check_options *options) {
    ir_arena arena;
    ir_arena_init(&arena, &context->cx);
    check *c = ir_new(&arena, check);
    c->arena = arena;
    c->options = *options;
    c->base = (rt_device){.driver = &rt_check_driver, .context = context, .can = capabilities};
    c->base.reflection = rt_host_reflection();
    c->device = check_device_new(&context->cx);
    if (c->device && options->report) check_device_for_people(c->device);
    if (!c->device) {
        close_device(&c->base);
        ir_throw(&context->cx, IR_ERR_MEMORY);
    }
    return &c->base;
}

static rt_device *open_device(spvf_context *context, const char *options) {
    return options ? NULL : rt_check_open_with(context, &(rt_check_options){.report = NULL});
}

static void list_devices(spvf_context *context,
                         void (*each)(void *user, const spvf_device_info *info), void *user) {
    const spvf_device_sizes sizes = {
        .version = spvf_version_text(), .parallel = 1, .memory = rt_memory_of_machine()};
    const spvf_device_info info = {.name = "check",
                                   .description = "the interpreter: slow, and reports every fault",
                                   .takes_spirv = true,
                                   .usable = true,
                                   .can = &capabilities,
                                   .sizes = &sizes};
    (void)context;
    each(user, &info);
}

static const char *name_of(const rt_function *f) { return f->name; }

const rt_driver rt_check_driver = {.name = "check",
                                   .forms = "check",
                                   .open = open_device,
                                   .list = list_devices,
                                   .close = close_device,
                                   .allocate = allocate,
                                   .release = release,
                                   .undefined = undefined,
                                   .size = size_of,
                                   .build = build,
                                   .find = find,
                                   .name_of = name_of,
                                   .kernel = kernel_of,
                                   .discard = discard,
                                   .prepare = prepare,
                                   .submit = submit};
