/* check_device.c — the check device behind the runtime's device interface.
 *
 * Findings become messages with the place in the module and in the source.  Errors count as reports
 * of the run, which then fails.
 */
#include "runtime/devices/check/check.h"
#include "runtime/api/runtime.h"

struct rt_memory {
    check_buffer *buffer;
    rt_memory *next;
};

struct rt_program {
    check_program *program;
    const char *name; /* of its module */
    rt_program *next;
};

typedef struct {
    rt_device base;
    ir_arena arena;
    check_device *device;
    rt_memory *memories;
    rt_program *programs;
    const char *running; /* name of the module whose kernel is running */
} check;

IR_NORETURN static void out_of_memory(const check *c) {
    ir_throw(&c->base.context->cx, IR_ERR_MEMORY);
}

/* Refused, or out of memory; it has been reported. */
IR_NORETURN static void fail_launch(const check *c) {
    ir_ctx *cx = &c->base.context->cx;
    ir_throw(cx, cx->status == IR_ERR_MEMORY ? IR_ERR_MEMORY : IR_ERR_DEVICE);
}

static rt_memory *allocate(rt_device *d, const char *name, uint64_t bytes, const void *data) {
    check *c = (check *)d;
    rt_memory *m = ir_new(&c->arena, rt_memory);
    (void)name;
    m->buffer = check_buffer_new(c->device, bytes, data, 0);
    if (!m->buffer) out_of_memory(c);
    m->next = c->memories;
    c->memories = m;
    return m;
}

static void read_memory(rt_device *d, rt_memory *m, uint64_t offset, void *to, uint64_t bytes) {
    if (!check_buffer_read(m->buffer, offset, bytes, to))
        rt_throw(d->context, IR_ERR_DEVICE, "check: a read outside of a buffer");
}

static void write_memory(rt_device *d, rt_memory *m, uint64_t offset, const void *from,
                         uint64_t bytes) {
    if (!check_buffer_write(m->buffer, offset, bytes, from))
        rt_throw(d->context, IR_ERR_DEVICE, "check: a write outside of a buffer");
}

static uint64_t undefined(rt_device *d, const rt_memory *m, uint64_t offset, uint64_t bytes) {
    (void)d;
    return check_buffer_undefined(m->buffer, offset, bytes);
}

static void copy_memory(rt_device *d, rt_memory *to, const rt_memory *from) {
    (void)d;
    check_buffer_copy(to->buffer, from->buffer);
}

static rt_program *build(rt_device *d, const ir_module *m) {
    check *c = (check *)d;
    rt_program *p = ir_new(&c->arena, rt_program);
    p->program = check_program_new(c->device, (ir_module *)(uintptr_t)m);
    if (!p->program) out_of_memory(c);
    p->name = m->name;
    p->next = c->programs;
    c->programs = p;
    return p;
}

/* ------------------------------------------------------------------------------------- launches */

static void report(void *user, const check_report *r) {
    check *c = user;
    const check_party *here = &r->here;
    ir_message m = {.severity = r->severity,
                    .file = c->running,
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

static check_arg to_arg(const rt_arg *a) {
    if (a->buffer) return (check_arg){.kind = CHECK_ARG_BUFFER, .buffer = a->buffer->buffer};
    if (a->bytes) return (check_arg){.kind = CHECK_ARG_BYTES, .bytes = a->bytes, .size = a->size};
    return (check_arg){.kind = CHECK_ARG_LOCAL, .size = a->size};
}

static check_range to_range(const spvf_range *r) {
    check_range c = {.dims = r->dims};
    memcpy(c.global, r->global, sizeof c.global);
    memcpy(c.local, r->local, sizeof c.local);
    memcpy(c.offset, r->offset, sizeof c.offset);
    return c;
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
static check_result run(check *c, const rt_program *p, check_launch *l, const rt_arg *args) {
    check_result result;
    check_arg *list = ir_new_array(&c->arena, check_arg, l->nargs);
    for (size_t i = 0; i < l->nargs; i++) list[i] = to_arg(&args[i]);
    l->args = list;
    if (!check_run(p->program, l, &result)) fail_launch(c);
    return result;
}

static void prepare(rt_device *d, rt_program *p, const char *kernel, const spvf_range *range,
                    const rt_arg *args, size_t n) {
    check_launch l = {.kernel = kernel,
                      .range = to_range(range),
                      .nargs = (unsigned)n,
                      .options = {.only_prepare = true}};
    run((check *)d, p, &l, args);
}

static void launch(rt_device *d, rt_program *p, const char *kernel, const spvf_range *range,
                   const rt_arg *args, size_t n) {
    check *c = (check *)d;
    check_launch l = {
        .kernel = kernel,
        .range = to_range(range),
        .nargs = (unsigned)n,
        .options = {
            .step_limit = d->instruction_limit, .report = report, .print = print, .user = c}};
    if (d->watch) watch(d->watch, &l.options);
    c->running = p->name;
    const check_result result = run(c, p, &l, args);
    if (!d->watch) count(&c->base.counts, &result);
}

static void close_device(rt_device *d) {
    check *c = (check *)d;
    for (rt_program *p = c->programs; p; p = p->next) check_program_free(p->program);
    for (rt_memory *m = c->memories; m; m = m->next) check_buffer_free(m->buffer);
    if (c->device) check_device_free(c->device);
    ir_arena arena = c->arena;
    ir_arena_free(&arena);
}

rt_device *rt_check_open(spvf_context *context) {
    ir_arena arena;
    ir_arena_init(&arena, &context->cx);
    check *c = ir_new(&arena, check);
    c->arena = arena;
    c->base = (rt_device){.context = context,
                          .close = close_device,
                          .allocate = allocate,
                          .read = read_memory,
                          .write = write_memory,
                          .undefined = undefined,
                          .copy = copy_memory,
                          .build = build,
                          .phases = true,
                          .prepare = prepare,
                          .launch = launch};
    c->device = check_device_new(&context->cx);
    if (!c->device) {
        close_device(&c->base);
        ir_throw(&context->cx, IR_ERR_MEMORY);
    }
    return &c->base;
}
