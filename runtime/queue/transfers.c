/* transfers.c — commands that read, write, copy and fill buffers.
 *
 * A transfer has two sides, each a place in a buffer or in memory of the program.  Both are checked
 * against the size of their buffer when the command is enqueued; it then is a copy of boxes or a
 * fill for the device.  Transfers of no bytes are commands like any other, since they are ordered.
 *
 * Between buffers of two devices, one of which works in memory of this process, the other device
 * reads or writes that memory.  Otherwise one device writes what the other has read.
 */
#include "runtime/queue/objects.h"

#include <stdlib.h>

/* A place in a buffer.  NULL: the side is the host's. */
typedef struct {
    spvf_buffer *buffer;
    size_t offset;
} side;

/* Bytes between two commands, both of which have a reference. */
typedef struct {
    rt_refs refs;
    char bytes[];
} between;

typedef struct {
    side from, to;
    size_t size;
    char *host;           /* the bytes of the side that is the host's */
    spvf_buffer *foreign; /* of another device, which has these bytes; or NULL */
    between *between;     /* that has these bytes; or NULL */
    const void *pattern;  /* of a fill, which has no other side */
    size_t pattern_size;
} transfer;

/* ------------------------------------------------------------------------------------ enqueuing */

/* A call, and the names of its arguments. */
typedef struct {
    const char *name;
    spvf_queue *queue;
    const spvf_wait *wait;
    spvf_event **out;
} call;

static spvf_status check_side(const call *c, const side *s, const char *name, size_t size) {
    const spvf_buffer *b = s->buffer;
    spvf_device *d = c->queue->device;
    if (!b) return SPVF_OK;
    if (b->device != d) return dev_refuse(d, c->name, "%s is a buffer of another device", name);
    if (s->offset <= b->size && size <= b->size - s->offset) return SPVF_OK;
    return dev_refuse(d, c->name, "%s: %zu bytes from %zu on are not in the buffer, which has %zu",
                      name, size, s->offset, b->size);
}

static spvf_status check(const call *c, const transfer *m) {
    spvf_status status = cmd_check_wait(c->queue->device, c->name, c->wait);
    if (status == SPVF_OK) status = check_side(c, &m->from, "from", m->size);
    return status == SPVF_OK ? check_side(c, &m->to, "to", m->size) : status;
}

/* Are the queue and both sides given? */
static spvf_status check_given(const call *c, const void *from, const void *to) {
    if (c->out) *c->out = NULL;
    if (c->queue && from && to) return SPVF_OK;
    return dev_refuse(c->queue ? c->queue->device : NULL, c->name, "%s is NULL",
                      !c->queue ? "queue"
                      : !from   ? "from"
                                : "to");
}

static bool prepare(const side *s) { return !s->buffer || buf_prepare(s->buffer) == SPVF_OK; }

static rt_box box_of(const side *s, char *host) {
    if (!s->buffer) return (rt_box){.bytes = host};
    return (rt_box){.memory = s->buffer->memory, .offset = s->offset};
}

static rt_command command_of(const transfer *t) {
    const rt_box to = box_of(&t->to, t->host);
    if (!t->pattern) {
        const rt_copy copy = {to, box_of(&t->from, t->host), {t->size, 1, 1}};
        return (rt_command){.kind = RT_COMMAND_COPY, .copy = copy};
    }
    const rt_fill fill = {
        .to = to, .size = t->size, .pattern = t->pattern, .pattern_size = t->pattern_size};
    return (rt_command){.kind = RT_COMMAND_FILL, .fill = fill};
}

typedef struct {
    spvf_command command; /* the first member; a pattern follows */
    between *between;
} transferring;

static void release_between(between *b) {
    if (b && rt_release(&b->refs)) free(b);
}

static void drop(spvf_event *e) { release_between(((transferring *)e)->between); }

/* Does submitting it begin it, and no more? */
static bool is_only_begun(const rt_device *d, const transfer *t) {
    if (!d->can.in_order) return false;
    const bool host = !t->pattern && !(t->from.buffer && t->to.buffer);
    return !host || t->size <= atomic_load_explicit(&d->prompt_bytes, memory_order_relaxed);
}

static spvf_status enqueue(const call *c, const transfer *t) {
    spvf_status status = check(c, t);
    if (status != SPVF_OK) return status;
    if (!prepare(&t->from) || !prepare(&t->to)) return SPVF_ERROR_MEMORY;
    const size_t size = sizeof(transferring) + t->pattern_size;
    transferring *made = (transferring *)cmd_new_on_device(c->queue, size, 2, cmd_run_on_device);
    if (!made) return SPVF_ERROR_MEMORY;
    spvf_command *command = &made->command;
    command->command = command_of(t);
    if (t->pattern) command->command.fill.pattern = memcpy(made + 1, t->pattern, t->pattern_size);
    if (t->between) {
        rt_retain(&t->between->refs);
        made->between = t->between;
        command->event.drop = drop;
    }
    if (t->foreign) cmd_use(&command->event, t->foreign, !t->to.buffer);
    if (t->from.buffer) cmd_use(&command->event, t->from.buffer, false);
    if (t->to.buffer) cmd_use(&command->event, t->to.buffer, true);
    command->exact = c->out != NULL;
    command->event.event.prompt = is_only_begun(c->queue->device->shared.base, t);
    return cmd_submit(&command->event, RT_ENQUEUE_COMMAND, c->wait, c->out);
}

/* Memory of the host that no byte is taken from, or written to, need not be there. */
static const void *or_nothing(const void *host, size_t size) { return size ? host : ""; }

spvf_status spvf_queue_read(spvf_queue *q, spvf_buffer *from, size_t offset, void *to, size_t size,
                            const spvf_wait *wait, spvf_event **out) {
    const transfer t = {.from = {from, offset}, .host = to, .size = size};
    const call c = {__func__, q, wait, out};
    spvf_status status = check_given(&c, from, or_nothing(to, size));
    return status == SPVF_OK ? enqueue(&c, &t) : status;
}

spvf_status spvf_queue_write(spvf_queue *q, spvf_buffer *to, size_t offset, const void *from,
                             size_t size, const spvf_wait *wait, spvf_event **out) {
    const transfer t = {.to = {to, offset}, .host = (char *)(uintptr_t)from, .size = size};
    const call c = {__func__, q, wait, out};
    spvf_status status = check_given(&c, or_nothing(from, size), to);
    return status == SPVF_OK ? enqueue(&c, &t) : status;
}

spvf_status spvf_queue_copy(spvf_queue *q, spvf_buffer *from, size_t from_offset, spvf_buffer *to,
                            size_t to_offset, size_t size, const spvf_wait *wait,
                            spvf_event **out) {
    const transfer t = {.from = {from, from_offset}, .to = {to, to_offset}, .size = size};
    const call c = {__func__, q, wait, out};
    spvf_status status = check_given(&c, from, to);
    return status == SPVF_OK ? enqueue(&c, &t) : status;
}

static spvf_status check_pattern(const call *c, const void *pattern, size_t n, size_t size) {
    spvf_device *d = c->queue->device;
    if (!pattern) return dev_refuse(d, c->name, "pattern is NULL");
    if (!n || n > RT_MAX_PATTERN)
        return dev_refuse(d, c->name, "a pattern has 1 to %d bytes, not %zu", RT_MAX_PATTERN, n);
    if (size % n == 0) return SPVF_OK;
    return dev_refuse(d, c->name, "%zu bytes are no multiple of the pattern's %zu", size, n);
}

spvf_status spvf_queue_fill(spvf_queue *q, spvf_buffer *to, size_t offset, size_t size,
                            const void *pattern, size_t pattern_size, const spvf_wait *wait,
                            spvf_event **out) {
    const transfer t = {
        .to = {to, offset}, .size = size, .pattern = pattern, .pattern_size = pattern_size};
    const call c = {__func__, q, wait, out};
    spvf_status status = check_given(&c, "", to);
    if (status == SPVF_OK) status = check_pattern(&c, pattern, pattern_size, size);
    return status == SPVF_OK ? enqueue(&c, &t) : status;
}

/* -------------------------------------------------------------------------- between two devices */

static bool is_host(const spvf_buffer *b) { return b->device->shared.base->can.host_memory; }

static spvf_status read_and_write(const move_side *from, const move_side *to, const spvf_wait *wait,
                                  spvf_event **out) {
    static const char name[] = "spvf_graph_run";
    const size_t size = from->buffer->size;
    spvf_event *read;
    between *b = malloc(sizeof *b + size);
    if (!b) return SPVF_ERROR_MEMORY;
    rt_refs_init(&b->refs);
    const transfer first = {
        .from = {from->buffer, 0}, .host = b->bytes, .size = size, .between = b};
    const transfer then = {.to = {to->buffer, 0}, .host = b->bytes, .size = size, .between = b};
    spvf_status status = enqueue(&(call){name, from->queue, wait, &read}, &first);
    if (status == SPVF_OK) {
        status = enqueue(&(call){name, to->queue, &(spvf_wait){&read, 1}, out}, &then);
        spvf_event_destroy(read);
    }
    release_between(b);
    return status;
}

spvf_status move_enqueue(const move_side *from, const move_side *to, const spvf_wait *wait,
                         spvf_event **out) {
    const bool writes = is_host(from->buffer);
    if (!writes && !is_host(to->buffer)) return read_and_write(from, to, wait, out);
    spvf_buffer *foreign = writes ? from->buffer : to->buffer;
    if (buf_prepare(foreign) != SPVF_OK) return SPVF_ERROR_MEMORY;
    const call c = {"spvf_graph_run", writes ? to->queue : from->queue, wait, out};
    transfer t = {.host = buf_place(foreign), .size = foreign->size, .foreign = foreign};
    *(writes ? &t.to : &t.from) = (side){writes ? to->buffer : from->buffer, 0};
    return enqueue(&c, &t);
}
