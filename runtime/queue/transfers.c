/* transfers.c — commands that read, write, copy and fill buffers.
 *
 * Each moves bytes from one side to the other: a place in a buffer, or memory of the host.
 */
#include "runtime/queue/objects.h"

#include <stdlib.h>

enum { MAX_PATTERN = 128 };

typedef struct {
    spvf_buffer *buffer; /* NULL: the side is the host's */
    size_t offset;
} side;

typedef struct {
    side from, to;
    size_t size;
    const void *source; /* the host's */
    void *target;
    unsigned char pattern[MAX_PATTERN];
    size_t pattern_size;
} move;

typedef struct {
    spvf_event event; /* the first member */
    move move;
} transfer;

static const move *move_of(const rt_event *e) { return &((const transfer *)e)->move; }

static int32_t run_read(rt_event *e) {
    const move *m = move_of(e);
    return buf_read(m->from.buffer, m->from.offset, m->target, m->size);
}

static int32_t write_from(const move *m, const void *source) {
    return buf_write(m->to.buffer, m->to.offset, source, m->size);
}

static int32_t run_write(rt_event *e) { return write_from(move_of(e), move_of(e)->source); }

/* Devices with memory of their own do it by way of this one. */
static int32_t run_copy(rt_event *e) {
    const move *m = move_of(e);
    const char *here = m->from.buffer->host.bytes;
    if (here) return write_from(m, here + m->from.offset);
    void *room = malloc(m->size + 1);
    if (!room) return cmd_result(SPVF_ERROR_MEMORY);
    int32_t status = buf_read(m->from.buffer, m->from.offset, room, m->size);
    if (status == RT_COMPLETE) status = write_from(m, room);
    free(room);
    return status;
}

static void repeat(void *to, const move *m) {
    for (size_t at = 0; at < m->size; at += m->pattern_size)
        memcpy((char *)to + at, m->pattern, m->pattern_size);
}

static int32_t run_fill(rt_event *e) {
    const move *m = move_of(e);
    char *here = m->to.buffer->host.bytes;
    if (here) {
        repeat(here + m->to.offset, m);
        return RT_COMPLETE;
    }
    void *room = malloc(m->size + 1);
    if (!room) return cmd_result(SPVF_ERROR_MEMORY);
    repeat(room, m);
    int32_t status = write_from(m, room);
    free(room);
    return status;
}

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

static spvf_status check(const call *c, const move *m) {
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

static spvf_status enqueue(const call *c, rt_command *run, const move *m) {
    spvf_status status = check(c, m);
    if (status != SPVF_OK) return status;
    if (!prepare(&m->from) || !prepare(&m->to)) return SPVF_ERROR_MEMORY;
    transfer *t = (transfer *)cmd_new(c->queue, sizeof *t, 2, run);
    if (!t) return SPVF_ERROR_MEMORY;
    t->move = *m;
    if (m->from.buffer) cmd_use(&t->event, m->from.buffer, false);
    if (m->to.buffer) cmd_use(&t->event, m->to.buffer, true);
    return cmd_submit(&t->event, RT_ENQUEUE_COMMAND, c->wait, c->out);
}

/* Memory of the host that no byte is taken from, or written to, need not be there. */
static const void *or_nothing(const void *host, size_t size) { return size ? host : ""; }

spvf_status spvf_queue_read(spvf_queue *q, spvf_buffer *from, size_t offset, void *to, size_t size,
                            const spvf_wait *wait, spvf_event **out) {
    const move m = {.from = {from, offset}, .target = to, .size = size};
    const call c = {__func__, q, wait, out};
    spvf_status status = check_given(&c, from, or_nothing(to, size));
    return status == SPVF_OK ? enqueue(&c, run_read, &m) : status;
}

spvf_status spvf_queue_write(spvf_queue *q, spvf_buffer *to, size_t offset, const void *from,
                             size_t size, const spvf_wait *wait, spvf_event **out) {
    const move m = {.to = {to, offset}, .source = from, .size = size};
    const call c = {__func__, q, wait, out};
    spvf_status status = check_given(&c, or_nothing(from, size), to);
    return status == SPVF_OK ? enqueue(&c, run_write, &m) : status;
}

spvf_status spvf_queue_copy(spvf_queue *q, spvf_buffer *from, size_t from_offset, spvf_buffer *to,
                            size_t to_offset, size_t size, const spvf_wait *wait,
                            spvf_event **out) {
    const move m = {.from = {from, from_offset}, .to = {to, to_offset}, .size = size};
    const call c = {__func__, q, wait, out};
    spvf_status status = check_given(&c, from, to);
    return status == SPVF_OK ? enqueue(&c, run_copy, &m) : status;
}

static spvf_status check_pattern(const call *c, const void *pattern, size_t n, size_t size) {
    spvf_device *d = c->queue->device;
    if (!pattern) return dev_refuse(d, c->name, "pattern is NULL");
    if (!n || n > MAX_PATTERN)
        return dev_refuse(d, c->name, "a pattern has 1 to %d bytes, not %zu", MAX_PATTERN, n);
    if (size % n == 0) return SPVF_OK;
    return dev_refuse(d, c->name, "%zu bytes are no multiple of the pattern's %zu", size, n);
}

spvf_status spvf_queue_fill(spvf_queue *q, spvf_buffer *to, size_t offset, size_t size,
                            const void *pattern, size_t pattern_size, const spvf_wait *wait,
                            spvf_event **out) {
    move m = {.to = {to, offset}, .size = size, .pattern_size = pattern_size};
    const call c = {__func__, q, wait, out};
    spvf_status status = check_given(&c, "", to);
    if (status == SPVF_OK) status = check_pattern(&c, pattern, pattern_size, size);
    if (status != SPVF_OK) return status;
    memcpy(m.pattern, pattern, pattern_size);
    return enqueue(&c, run_fill, &m);
}
