/* joins.c — launches that are no commands of their own.
 *
 * A launch without an event, whose kernel is known, joins the last command of its queue if that has
 * begun on the device and nothing waits for its end: it is given to the device at once, and the
 * command ends with it (rt_driver.extend).  So a row of launches is one event with one list of what
 * it uses, and each costs little more than its call of the device.  A command takes only so many,
 * because it keeps all that they use until it ends.
 *
 * What uses the same memory has to have begun on the stream, or to have ended; then the stream's
 * order is that of the commands.  Threads that enqueue at the same time are in any order.
 */
#include "runtime/queue/launches.h"

/* What joins: a launch of a program, or a batch. */
typedef struct {
    spvf_queue *queue;
    const spvf_use *use; /* each buffer once */
    uint32_t uses;
    spvf_program *program; /* or NULL */
    launch_batch *batch;   /* or NULL */
    rt_more what;
} joining;

static bool may_join(const spvf_queue *q, const spvf_wait *wait, spvf_event *const *out) {
    return !out && !(wait && wait->count) && q->device->shared.base->driver->extend &&
           !fus_is_active(q->device);
}

void launch_drop_joined(launches *l) {
    while (l->more_uses) buf_release(l->more_use[--l->more_uses]);
    while (l->more_programs) prog_release(l->more_program[--l->more_programs]);
    while (l->more_batches) launch_batch_release(l->more_batch[--l->more_batches]);
}

static bool keep_buffer(launches *l, spvf_buffer *b) {
    const spvf_event *e = &l->command.event;
    for (uint32_t k = 0; k < e->uses; k++)
        if (e->use[k].buffer == b) return true;
    for (uint32_t k = 0; k < l->more_uses; k++)
        if (l->more_use[k] == b) return true;
    if (l->more_uses == MORE_USES) return false;
    buf_retain(b);
    l->more_use[l->more_uses++] = b;
    return true;
}

static bool keep_program(launches *l, spvf_program *p) {
    for (uint32_t k = 0; k < l->batch->n; k++)
        if (l->batch->parts[k].program == p) return true;
    for (uint32_t k = 0; k < l->more_programs; k++)
        if (l->more_program[k] == p) return true;
    if (l->more_programs == MORE_CODE) return false;
    prog_retain(p);
    l->more_program[l->more_programs++] = p;
    return true;
}

static bool keep_batch(launches *l, launch_batch *b) {
    if (l->batch == b) return true;
    for (uint32_t k = 0; k < l->more_batches; k++)
        if (l->more_batch[k] == b) return true;
    if (l->more_batches == MORE_CODE) return false;
    rt_retain(&b->refs);
    l->more_batch[l->more_batches++] = b;
    return true;
}

/* With the scheduler's lock held.  What it keeps in vain, it keeps until it ends. */
static bool take_in(launches *l, const joining *j, rt_dropped *d) {
    if (l->command.exact || l->joined == MOST_JOINED) return false;
    if (j->program && !keep_program(l, j->program)) return false;
    if (j->batch && !keep_batch(l, j->batch)) return false;
    for (uint32_t k = 0; k < j->uses; k++) {
        const rt_access a = {&j->use[k].buffer->resource, j->use[k].writes};
        if (!keep_buffer(l, j->use[k].buffer)) return false;
        if (!rt_resource_join(&l->command.event.event, &a, d)) return false;
    }
    l->joined++;
    return true;
}

/* A command that takes it in, with a reference, or NULL. */
static launches *find_host(const joining *j) {
    const rt_queue *q = &j->queue->queue;
    rt_dropped dropped;
    dropped.n = 0;
    pthread_mutex_lock(&q->scheduler->lock);
    rt_event *e = rt_queue_open_event(q, rt_shared_stream(&j->queue->device->shared));
    bool found = e && e->run == launch_run && take_in((launches *)e, j, &dropped);
    if (found) rt_event_retain(e);
    pthread_mutex_unlock(&q->scheduler->lock);
    while (dropped.n) rt_event_release(dropped.list[--dropped.n]);
    return found ? (launches *)e : NULL;
}

/* False: nothing has happened; otherwise a failure is one of the queue. */
static bool join(const joining *j) {
    launches *host = find_host(j);
    spvf_status status = SPVF_OK;
    if (!host) return false;
    bool joined =
        rt_shared_extend(&j->queue->device->shared, &host->command.submission, &j->what, &status);
    rt_event_release(&host->command.event.event);
    if (status != SPVF_OK) rt_queue_fail(&j->queue->queue, cmd_result(status));
    return joined;
}

enum { FEW_ARGS = 16 };

static void add_use(spvf_use *list, uint32_t *n, spvf_buffer *b, bool writes) {
    for (uint32_t k = 0; k < *n; k++) {
        if (list[k].buffer != b) continue;
        list[k].writes |= writes;
        return;
    }
    list[(*n)++] = (spvf_use){b, writes};
}

bool launch_join(spvf_queue *q, const spvf_launch *w, const spvf_wait *wait, spvf_event **out) {
    if (!may_join(q, wait, out)) return false;
    const spvf_kernel_info *info = prog_kernel(w->program, w->kernel);
    rt_function *known = atomic_load_explicit(launch_slot(w->program, info), memory_order_acquire);
    rt_arg args[FEW_ARGS];
    spvf_use use[FEW_ARGS];
    uint32_t uses = 0;
    if (!known || w->arg_count > FEW_ARGS) return false;
    for (size_t n = 0; n < w->arg_count; n++) {
        spvf_buffer *b = w->args[n].buffer;
        if (b && !atomic_load_explicit(&b->is_made, memory_order_acquire)) return false;
        args[n] = launch_arg(q->device, info->args[n], &w->args[n]);
        if (b) add_use(use, &uses, b, !info->args[n]->read_only);
    }
    const rt_command command = {.kind = RT_COMMAND_LAUNCH,
                                .launch = {known, &w->range, args, w->arg_count, .uneven = false}};
    return join(&(joining){.queue = q,
                           .use = use,
                           .uses = uses,
                           .program = w->program,
                           .what = {.commands = &command, .count = 1}});
}

bool launch_join_batch(spvf_queue *q, launch_batch *b, const spvf_wait *wait, spvf_event **out) {
    if (!may_join(q, wait, out)) return false;
    return join(&(joining){.queue = q,
                           .use = b->use,
                           .uses = b->uses,
                           .batch = b,
                           .what = {.commands = b->commands,
                                    .count = b->n,
                                    .recording = b->recording,
                                    .content = b->content}});
}
