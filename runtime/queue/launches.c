/* launches.c — commands that launch kernels.
 *
 * A launch is checked when it is enqueued: the kernel, the range, and the kind, size and device of
 * each argument.  The command has copies of values, so the program may change its own.  The kernel
 * is looked up in the program of the device when it is launched first.  A buffer
 * counts as written unless its parameter is read-only (describe.c), and that orders the command.
 */
#include "runtime/queue/launches.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------ functions */

/* A program looks for a kernel when it is launched first.  Throws in this thread's context. */
static rt_function *find_function(spvf_context *c, const spvf_program *p,
                                  const spvf_kernel_info *info) {
    rt_function *f = rt_shared_find(c, &p->device->shared, p->program, info->name);
    atomic_store_explicit(launch_slot(p, info), f, memory_order_release);
    return f;
}

/* ---------------------------------------------------------------------------------- preparation */

void launch_prepare(spvf_context *c, const spvf_launch *w, ir_arena *scratch) {
    spvf_device *d = w->program->device;
    const spvf_kernel_info *k = prog_kernel(w->program, w->kernel);
    rt_arg *args = ir_new_array(scratch, rt_arg, w->arg_count);
    for (size_t n = 0; n < w->arg_count; n++) args[n] = launch_arg(d, k->args[n], &w->args[n]);
    rt_function *f = find_function(c, w->program, k);
    const rt_launch l = {f, &w->range, args, w->arg_count, .ahead = true};
    rt_shared_prepare(c, &d->shared, &l);
}

/* ------------------------------------------------------------------------------------ arguments */

/* What a launch is refused for. */
typedef struct {
    spvf_device *device;
    const char *call;
    const spvf_launch *launch;
    const spvf_kernel_info *info;
    bool spread; /* the program and buffers may be of other devices */
} checking;

IR_PRINTF(3, 4)
static spvf_status refuse_arg(const checking *c, size_t n, const char *fmt, ...) {
    char text[300];
    const char *name = c->info->args[n]->name;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return dev_refuse(c->device, c->call, "kernel '%s', argument %u%s%s%s: %s", c->launch->kernel,
                      c->info->args[n]->closure, name ? " (" : "", name ? name : "",
                      name ? ")" : "", text);
}

static spvf_status check_buffer(const checking *c, size_t n) {
    const spvf_argument *a = &c->launch->args[n];
    if (!a->buffer && (c->info->args[n]->member || c->launch->program->fused)) return SPVF_OK;
    if (!a->buffer) return refuse_arg(c, n, "takes a buffer, which is NULL");
    if (a->bytes) return refuse_arg(c, n, "takes a buffer, and is given bytes as well");
    if (a->buffer->device != c->device && !c->spread)
        return refuse_arg(c, n, "the buffer is of another device");
    if (a->offset > a->buffer->size)
        return refuse_arg(c, n, "offset %zu is not in the buffer, which has %zu bytes", a->offset,
                          a->buffer->size);
    if (a->offset && !c->launch->program->device->shared.base->can.offsets)
        return refuse_arg(c, n, "this device takes no offset but 0");
    return SPVF_OK;
}

static spvf_status check_value(const checking *c, size_t n) {
    const spvf_argument *a = &c->launch->args[n];
    size_t size = (size_t)c->info->args[n]->size;
    if (a->buffer) return refuse_arg(c, n, "takes a value, and is given a buffer");
    if (!a->bytes) return refuse_arg(c, n, "takes a value, and bytes is NULL");
    if (a->size != size)
        return refuse_arg(c, n, "takes a value of %zu bytes, and is given %zu", size, a->size);
    return SPVF_OK;
}

static spvf_status check_local(const checking *c, size_t n) {
    const spvf_argument *a = &c->launch->args[n];
    if (a->buffer || a->bytes)
        return refuse_arg(c, n, "takes local memory, and is given %s",
                          a->buffer ? "a buffer" : "a value");
    return a->size ? SPVF_OK : refuse_arg(c, n, "takes local memory, and size is 0");
}

static spvf_status check_arg(const checking *c, size_t n) {
    switch (c->info->args[n]->kind) {
    case SPVF_ARG_BUFFER: return check_buffer(c, n);
    case SPVF_ARG_LOCAL: return check_local(c, n);
    case SPVF_ARG_VALUE: return check_value(c, n);
    default: return refuse_arg(c, n, "images and samplers are not supported");
    }
}

static spvf_status check_range(const checking *c) {
    const spvf_range *r = &c->launch->range;
    uint32_t sizes = 0;
    if (r->dims < 1 || r->dims > 3)
        return dev_refuse(c->device, c->call, "range: 1 to 3 dimensions, not %u", r->dims);
    for (uint32_t d = 0; d < r->dims; d++) sizes += r->local[d] != 0;
    if (sizes == 0 || sizes == r->dims) return SPVF_OK;
    return dev_refuse(c->device, c->call, "range: a local size is 0 where another one is not");
}

static spvf_status check_kernel(const checking *c) {
    const spvf_launch *w = c->launch;
    if (!w->program || !w->kernel)
        return dev_refuse(c->device, c->call, "%s is NULL", w->program ? "kernel" : "program");
    if (w->program->device != c->device && !c->spread)
        return dev_refuse(c->device, c->call, "program is of another device");
    if (!c->info)
        return dev_refuse(c->device, c->call, "the program has no kernel '%s'", w->kernel);
    if (w->arg_count != c->info->arg_count)
        return dev_refuse(c->device, c->call, "kernel '%s' takes %zu arguments, not %zu", w->kernel,
                          c->info->arg_count, w->arg_count);
    if (w->arg_count && !w->args)
        return dev_refuse(c->device, c->call, "%zu arguments at NULL", w->arg_count);
    return check_range(c);
}

static spvf_status check(const checking *c) {
    spvf_status status = check_kernel(c);
    for (size_t n = 0; status == SPVF_OK && n < c->launch->arg_count; n++) status = check_arg(c, n);
    return status;
}

spvf_status launch_check(spvf_device *d, const char *call, const spvf_launch *w) {
    return check(&(checking){d, call, w, prog_kernel(w->program, w->kernel), false});
}

spvf_status launch_check_spread(spvf_device *d, const char *call, const spvf_launch *w) {
    return check(&(checking){d, call, w, prog_kernel(w->program, w->kernel), true});
}

/* -------------------------------------------------------------------------------------- batches */

static void drop_batch(launch_batch *b) {
    for (uint32_t n = 0; n < b->n; n++) prog_release(b->parts[n].program);
    while (b->uses) buf_release(b->use[--b->uses].buffer);
}

void launch_batch_release(launch_batch *b) {
    if (!b || !rt_release(&b->refs)) return;
    drop_batch(b);
    free(b);
}

static size_t aligned(size_t n) {
    return (n + RT_VALUE_ALIGN - 1) / RT_VALUE_ALIGN * RT_VALUE_ALIGN;
}

static size_t value_bytes(const spvf_launch *w) {
    size_t bytes = 0;
    for (size_t n = 0; n < w->arg_count; n++)
        if (w->args[n].bytes) bytes += aligned(w->args[n].size);
    return bytes;
}

static size_t block_size(const spvf_launch *w) {
    return aligned(rt_arg_block_size(w->arg_count, value_bytes(w)));
}

static size_t count_args(const launch_list *list) {
    size_t args = 0;
    for (uint32_t n = 0; n < list->n; n++) args += list->launch[n].arg_count;
    return args;
}

/* Of what is before the arguments. */
static size_t head_size(const launch_list *list) {
    return aligned(list->n * (sizeof(launch_part) + sizeof(rt_command)) +
                   count_args(list) * sizeof(spvf_use));
}

static size_t batch_size(const launch_list *list) {
    size_t size = head_size(list);
    for (uint32_t n = 0; n < list->n; n++) size += block_size(&list->launch[n]);
    return size;
}

static void copy_args(launch_batch *b, const launch_part *p, const spvf_launch *w,
                      rt_arg_block block) {
    unsigned char *at = block.values;
    for (size_t n = 0; n < w->arg_count; n++) {
        const spvf_argument *a = &w->args[n];
        block.args[n] = launch_arg(p->program->device, p->info->args[n], a);
        if (a->buffer) {
            cmd_add_use(b->use, &b->uses, a->buffer, !p->info->args[n]->read_only);
        } else if (a->bytes) {
            block.args[n].bytes = memcpy(at, a->bytes, a->size);
            at += aligned(a->size);
        }
    }
}

/* `at`: room for the arguments. */
static void add_launch(launch_batch *b, const spvf_launch *w, char *at) {
    launch_part *p = &b->parts[b->n];
    *p = (launch_part){w->program, prog_kernel(w->program, w->kernel), w->range};
    prog_retain(w->program);
    const rt_arg_block block = rt_place_args(at, w->arg_count);
    copy_args(b, p, w, block);
    rt_function *known =
        atomic_load_explicit(launch_slot(p->program, p->info), memory_order_acquire);
    const rt_launch l = {known, &p->range, block.args, w->arg_count, .uneven = false};
    b->commands[b->n++] = (rt_command){.kind = RT_COMMAND_LAUNCH, .launch = l};
}

/* at: batch_size bytes. */
static void fill_batch(launch_batch *b, const launch_list *list, char *at) {
    b->commands = (rt_command *)(void *)at;
    b->parts = (launch_part *)(b->commands + list->n);
    b->use = (spvf_use *)(b->parts + list->n);
    at += head_size(list);
    for (uint32_t n = 0; n < list->n; n++) {
        add_launch(b, &list->launch[n], at);
        at += block_size(&list->launch[n]);
    }
}

static bool prepare(const launch_list *list) {
    for (uint32_t k = 0; k < list->n; k++)
        for (size_t n = 0; n < list->launch[k].arg_count; n++) {
            spvf_buffer *b = list->launch[k].args[n].buffer;
            if (b && buf_prepare(b) != SPVF_OK) return false;
        }
    return true;
}

launch_batch *launch_batch_new(const launch_list *list) {
    launch_batch *b = prepare(list) ? malloc(aligned(sizeof *b) + batch_size(list)) : NULL;
    if (!b) return NULL;
    *b = (launch_batch){.recording = list->recording, .content = rt_new_recording()};
    rt_refs_init(&b->refs);
    fill_batch(b, list, (char *)b + aligned(sizeof *b));
    return b;
}

/* ------------------------------------------------------------------------------------- commands */

/* The uses of the event are those of the batch. */
static void drop(spvf_event *e) {
    launches *l = (launches *)e;
    e->uses = 0;
    launch_drop_joined(l);
    if (l->batch == &l->own)
        drop_batch(&l->own);
    else
        launch_batch_release(l->batch);
}

typedef struct {
    launches *launches;
    spvf_context context;
} search;

/* What several commands share is known already. */
static void find(void *arg) {
    search *s = arg;
    const launch_batch *b = s->launches->batch;
    for (uint32_t n = 0; n < b->n; n++) {
        rt_function **f = &b->commands[n].launch.function;
        if (!*f) *f = find_function(&s->context, b->parts[n].program, b->parts[n].info);
    }
}

bool launch_batch_is_known(const launch_batch *b) {
    for (uint32_t n = 0; n < b->n; n++)
        if (!b->commands[n].launch.function) return false;
    return true;
}

int32_t launch_run(rt_event *e) {
    launches *l = (launches *)e;
    search s = {.launches = l};
    spvf_status status = SPVF_OK;
    if (!launch_batch_is_known(l->batch)) {
        dev_context(l->command.event.device, &s.context);
        status = rt_guard(&s.context, find, &s);
    }
    return status == SPVF_OK ? cmd_run_on_device(e) : cmd_result(status);
}

/* What has never been launched is compiled by the thread that runs the command, and not by the one
 * that enqueues it. */
static void use_batch(launches *l, launch_batch *b) {
    spvf_command *c = &l->command;
    l->batch = b;
    c->commands = b->commands;
    c->count = b->n;
    c->event.use = b->use;
    c->event.uses = b->uses;
    c->event.drop = drop;
    c->event.event.prompt = c->event.device->shared.base->can.in_order && launch_batch_is_known(b);
}

/* ------------------------------------------------------------------------------------ enqueuing */

spvf_status launch_enqueue_list(spvf_queue *q, const launch_list *list, const spvf_wait *wait,
                                spvf_event **out) {
    if (!prepare(list)) return SPVF_ERROR_MEMORY;
    const size_t head = aligned(sizeof(launches));
    launches *l = (launches *)cmd_new_on_device(q, head + batch_size(list), 0, launch_run);
    if (!l) return SPVF_ERROR_MEMORY;
    fill_batch(&l->own, list, (char *)l + head);
    use_batch(l, &l->own);
    l->command.recording = list->recording;
    l->command.exact = out != NULL;
    return cmd_submit(&l->command.event, RT_ENQUEUE_COMMAND, wait, out);
}

spvf_status launch_enqueue_batch(spvf_queue *q, launch_batch *b, const spvf_wait *wait,
                                 spvf_event **out) {
    if (launch_join_batch(q, b, wait, out)) return SPVF_OK;
    launches *l = (launches *)cmd_new_on_device(q, sizeof *l, 0, launch_run);
    if (!l) return SPVF_ERROR_MEMORY;
    rt_retain(&b->refs);
    use_batch(l, b);
    l->command.recording = b->recording;
    l->command.content = b->content;
    l->command.exact = out != NULL;
    return cmd_submit(&l->command.event, RT_ENQUEUE_COMMAND, wait, out);
}

spvf_status launch_enqueue(spvf_queue *q, const spvf_launch *w, const spvf_wait *wait,
                           spvf_event **out) {
    spvf_status status = launch_check(q->device, "spvf_queue_launch", w);
    if (status == SPVF_OK) status = cmd_check_wait(q->device, "spvf_queue_launch", wait);
    if (status != SPVF_OK) return status;
    if (fus_is_active(q->device)) {
        fus_need_foreign(q->device, wait);
        fus_begin(q->device);
        bool taken = fus_take(q, w, wait, out, &status);
        fus_end(q->device);
        if (taken) return status;
    }
    if (launch_join(q, w, wait, out)) return SPVF_OK;
    return launch_enqueue_list(q, &(launch_list){w, 1, 0}, wait, out);
}

spvf_status spvf_queue_launch(spvf_queue *q, const spvf_launch *w, const spvf_wait *wait,
                              spvf_event **out) {
    spvf_launch own, found;
    if (out) *out = NULL;
    if (!q || !w)
        return dev_refuse(q ? q->device : NULL, __func__, "%s is NULL", q ? "what" : "queue");
    spvf_status status = launch_take(q->device, __func__, w, &own);
    if (status == SPVF_OK) status = launch_find_buffers(q->device, __func__, &own, &found);
    if (status != SPVF_OK) return status;
    status = launch_enqueue(q, &found, wait, out);
    launch_release_buffers(&own, &found);
    return status;
}
