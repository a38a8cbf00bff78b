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

static bool is_right(const spvf_queue *q, const side *s, size_t size) {
    const spvf_buffer *b = s->buffer;
    return !b || (b->device == q->device && s->offset <= b->size && size <= b->size - s->offset);
}

static bool prepare(const side *s) { return !s->buffer || buf_prepare(s->buffer) == SPVF_OK; }

static spvf_status enqueue(spvf_queue *q, rt_command *run, const move *m, const spvf_wait *wait,
                           spvf_event **out) {
    if (!q || !cmd_wait_is_right(wait) || !is_right(q, &m->from, m->size) ||
        !is_right(q, &m->to, m->size))
        return SPVF_ERROR_ARGUMENT;
    if (!prepare(&m->from) || !prepare(&m->to)) return SPVF_ERROR_MEMORY;
    transfer *t = (transfer *)cmd_new(q, sizeof *t, 2, run);
    if (!t) return SPVF_ERROR_MEMORY;
    t->move = *m;
    if (m->from.buffer) cmd_use(&t->event, m->from.buffer, false);
    if (m->to.buffer) cmd_use(&t->event, m->to.buffer, true);
    return cmd_submit(&t->event, RT_ENQUEUE_COMMAND, wait, out);
}

spvf_status spvf_queue_read(spvf_queue *q, spvf_buffer *from, size_t offset, void *to, size_t size,
                            const spvf_wait *wait, spvf_event **out) {
    const move m = {.from = {from, offset}, .target = to, .size = size};
    if (out) *out = NULL;
    return from && (to || !size) ? enqueue(q, run_read, &m, wait, out) : SPVF_ERROR_ARGUMENT;
}

spvf_status spvf_queue_write(spvf_queue *q, spvf_buffer *to, size_t offset, const void *from,
                             size_t size, const spvf_wait *wait, spvf_event **out) {
    const move m = {.to = {to, offset}, .source = from, .size = size};
    if (out) *out = NULL;
    return to && (from || !size) ? enqueue(q, run_write, &m, wait, out) : SPVF_ERROR_ARGUMENT;
}

spvf_status spvf_queue_copy(spvf_queue *q, spvf_buffer *from, size_t from_offset, spvf_buffer *to,
                            size_t to_offset, size_t size, const spvf_wait *wait,
                            spvf_event **out) {
    const move m = {.from = {from, from_offset}, .to = {to, to_offset}, .size = size};
    if (out) *out = NULL;
    return from && to ? enqueue(q, run_copy, &m, wait, out) : SPVF_ERROR_ARGUMENT;
}

spvf_status spvf_queue_fill(spvf_queue *q, spvf_buffer *to, size_t offset, size_t size,
                            const void *pattern, size_t pattern_size, const spvf_wait *wait,
                            spvf_event **out) {
    move m = {.to = {to, offset}, .size = size, .pattern_size = pattern_size};
    if (out) *out = NULL;
    if (!to || !pattern || !pattern_size || pattern_size > MAX_PATTERN || size % pattern_size)
        return SPVF_ERROR_ARGUMENT;
    memcpy(m.pattern, pattern, pattern_size);
    return enqueue(q, run_fill, &m, wait, out);
}
