/* buffer.c — buffers: memory of a device, which may be memory of this process.
 *
 * A buffer is allocated by the device, or wraps memory of the program (SPVF_USE_HOST).  Commands
 * that use it are ordered by its resource (resource.c).  When the program has seen the address of a
 * buffer, it may make others of the same bytes, so the resource is then found by address.  A buffer
 * that a queue keeps for fusion ends the fusion when it is destroyed or its address is asked for.
 */
#include "runtime/queue/objects.h"

#include <stdlib.h>

void buf_retain(spvf_buffer *b) { rt_retain(&b->refs); }

void buf_release(spvf_buffer *b) {
    if (!rt_release(&b->refs)) return;
    spvf_device *d = b->device;
    rt_resource_free(&b->resource);
    rt_shared_release(&d->shared, b->memory);
    free(b);
    dev_release(d);
}

spvf_buffer *buf_of(rt_resource *r) {
    return (spvf_buffer *)(void *)((char *)r - offsetof(spvf_buffer, resource));
}

void *buf_place(const spvf_buffer *b) {
    const rt_device *d = b->device->shared.base;
    return b->memory && d->can.host_memory ? d->driver->address(b->memory) : NULL;
}

typedef struct {
    const spvf_buffer *buffer;
    void *place;
} placing;

static void find_place(void *arg) {
    placing *p = arg;
    p->place = buf_place(p->buffer);
}

void *buf_find_place(spvf_buffer *b) {
    placing p = {b, NULL};
    dev_run(b->device, find_place, &p);
    return p.place;
}

typedef struct {
    const spvf_device *device;
    spvf_buffer *best;
} search;

/* A buffer without references is being destroyed. */
static void choose(rt_range *range, void *user) {
    search *s = user;
    rt_resource *r = rt_resource_of(range);
    spvf_buffer *b = r ? buf_of(r) : NULL;
    if (!b || b->device != s->device || !rt_ref_count(&b->refs)) return;
    if (!s->best || range->end > s->best->resource.range.end) s->best = b;
}

spvf_buffer *buf_find(const spvf_device *d, const void *address, size_t *offset) {
    rt_scheduler *scheduler = rt_scheduler_get();
    search s = {.device = d};
    pthread_mutex_lock(&scheduler->lock);
    do {
        s.best = NULL;
        rt_range_visit_at(scheduler, address, choose, &s);
    } while (s.best && !rt_retain_found(&s.best->refs));
    pthread_mutex_unlock(&scheduler->lock);
    if (s.best) *offset = (uintptr_t)address - s.best->resource.range.begin;
    return s.best;
}

/* From here on the program may know the address, and make other buffers of that memory. */
static void show(spvf_buffer *b) {
    rt_resource_place(rt_scheduler_get(), &b->resource, buf_place(b), b->size);
}

/* ------------------------------------------------------------------------------------------ making
 *
 * Memory without contents comes when it is used first: what fusion makes away with is never there.
 */

typedef struct {
    spvf_buffer *buffer;
    const void *data;
} making;

/* With the device's lock held. */
static void allocate(void *arg) {
    const making *m = arg;
    spvf_buffer *b = m->buffer;
    rt_device *d = b->device->shared.base;
    if (!b->memory) b->memory = d->driver->allocate(d, "buffer", b->size, m->data);
    atomic_store_explicit(&b->is_made, true, memory_order_release);
}

static void wrap(void *arg) {
    const making *m = arg;
    rt_device *d = m->buffer->device->shared.base;
    m->buffer->memory = d->driver->wrap(d, (void *)(uintptr_t)m->data, m->buffer->size);
}

spvf_status buf_prepare(spvf_buffer *b) {
    if (atomic_load_explicit(&b->is_made, memory_order_acquire)) return SPVF_OK;
    return dev_run(b->device, allocate, &(making){b, NULL});
}

static spvf_status fill(spvf_buffer *b, void *host, uint32_t flags) {
    making m = {b, host};
    if (flags != SPVF_USE_HOST) return host ? dev_run(b->device, allocate, &m) : SPVF_OK;
    spvf_status status = dev_run(b->device, wrap, &m);
    if (status == SPVF_OK) show(b);
    return status;
}

static spvf_status check_memory(spvf_device *d, size_t size, const void *host, uint32_t flags) {
    static const char call[] = "spvf_buffer_create";
    if (flags > SPVF_USE_HOST)
        return dev_refuse(d, call, "flags are %u, neither SPVF_COPY_HOST nor SPVF_USE_HOST", flags);
    if (size > SIZE_MAX / 2) {
        dev_refuse(d, call, "%zu bytes are too many", size);
        return SPVF_ERROR_MEMORY;
    }
    if (flags != SPVF_USE_HOST) return SPVF_OK;
    if (!host) return dev_refuse(d, call, "SPVF_USE_HOST: host is NULL");
    if ((uintptr_t)host > UINTPTR_MAX - size)
        return dev_refuse(d, call, "SPVF_USE_HOST: %zu bytes at %p go beyond all memory", size,
                          host);
    if (d->shared.base->can.host_memory) return SPVF_OK;
    dev_refuse(d, call, "SPVF_USE_HOST: this device does not work in memory of the program");
    return SPVF_ERROR_REFUSED;
}

spvf_status spvf_buffer_create(spvf_device *device, size_t size, void *host, uint32_t flags,
                               spvf_buffer **out) {
    if (out) *out = NULL;
    if (!device || !out)
        return dev_refuse(device, __func__, "%s is NULL", device ? "out" : "device");
    spvf_status status = check_memory(device, size, host, flags);
    if (status != SPVF_OK) return status;
    spvf_buffer *b = calloc(1, sizeof *b);
    if (!b) return SPVF_ERROR_MEMORY;
    rt_refs_init(&b->refs);
    b->device = device;
    b->size = size;
    dev_retain(device);
    status = fill(b, host, flags);
    if (status == SPVF_OK)
        *out = b;
    else
        buf_release(b);
    return status;
}

static void need(spvf_buffer *b, const char *cause) {
    fus_begin(b->device);
    fus_need_buffer(b, cause);
    fus_end(b->device);
}

void spvf_buffer_destroy(spvf_buffer *b) {
    if (!b) return;
    fus_begin(b->device);
    if (b->fusing) fus_need_queue(b->fusing, "a buffer of what is being fused is destroyed");
    fus_end(b->device);
    buf_release(b);
}

size_t spvf_buffer_size(const spvf_buffer *b) { return b ? b->size : 0; }

void *spvf_buffer_address(spvf_buffer *b) {
    if (b) need(b, "the program wants the address of a buffer");
    if (!b || !b->device->shared.base->can.host_memory || buf_prepare(b) != SPVF_OK) return NULL;
    show(b);
    return buf_place(b);
}
