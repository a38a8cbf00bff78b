/* buffer.c — buffers: memory of this process on device cpu, the device's elsewhere. */
#include "runtime/queue/objects.h"

#include <stdlib.h>

void buf_retain(spvf_buffer *b) { atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed); }

/* Memory of other devices is theirs until they are closed. */
void buf_release(spvf_buffer *b) {
    if (atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) != 1) return;
    spvf_device *d = b->device;
    rt_resource_free(&b->resource);
    if (b->owned) free(b->host.bytes);
    free(b);
    dev_release(d);
}

spvf_buffer *buf_of(rt_resource *r) {
    return (spvf_buffer *)(void *)((char *)r - offsetof(spvf_buffer, resource));
}

rt_memory buf_place(const spvf_buffer *b) { return b->host; }

/* From here on the program may know the address, and make other buffers of that memory. */
static void show(spvf_buffer *b) {
    rt_resource_place(rt_scheduler_get(), &b->resource, b->host.bytes, b->size);
}

/* ------------------------------------------------------------------------------------------ making
 *
 * Memory without contents comes when it is used first: what fusion makes away with is never there.
 */

typedef struct {
    spvf_buffer *buffer;
    const void *data;
} making;

static size_t whole_lines(size_t size) {
    return size ? (size + IR_LOCAL_ALIGN - 1) / IR_LOCAL_ALIGN * IR_LOCAL_ALIGN : IR_LOCAL_ALIGN;
}

static void allocate_here(spvf_buffer *b, const void *data) {
    void *bytes = aligned_alloc(IR_LOCAL_ALIGN, whole_lines(b->size));
    if (!bytes) ir_throw(&b->device->context.cx, IR_ERR_MEMORY);
    if (data) memcpy(bytes, data, b->size);
    b->host = (rt_memory){bytes, b->size};
    b->owned = true;
    b->memory = &b->host;
}

/* With the device's lock held. */
static void allocate(void *arg) {
    const making *m = arg;
    spvf_buffer *b = m->buffer;
    rt_device *d = b->device->base;
    if (b->memory) return;
    if (b->device->machine)
        allocate_here(b, m->data);
    else
        b->memory = d->allocate(d, "buffer", b->size, m->data);
}

spvf_status buf_prepare(spvf_buffer *b) { return dev_run(b->device, allocate, &(making){b, NULL}); }

static spvf_status fill(spvf_buffer *b, void *host, uint32_t flags) {
    if (flags != SPVF_USE_HOST)
        return host ? dev_run(b->device, allocate, &(making){b, host}) : SPVF_OK;
    b->host = (rt_memory){host, b->size};
    b->memory = &b->host;
    show(b);
    return SPVF_OK;
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
    if (d->machine) return SPVF_OK;
    dev_refuse(d, call, "SPVF_USE_HOST: only device cpu works in memory of the program");
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
    atomic_init(&b->refs, 1);
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
    if (!b || !b->device->machine || buf_prepare(b) != SPVF_OK) return NULL;
    show(b);
    return b->host.bytes;
}

/* ----------------------------------------------------------------------------- reading, writing */

typedef struct {
    spvf_buffer *buffer;
    size_t offset, size;
    void *to;
    const void *from;
} transfer;

static void read_there(void *arg) {
    const transfer *t = arg;
    rt_device *d = t->buffer->device->base;
    d->read(d, t->buffer->memory, t->offset, t->to, t->size);
}

static void write_there(void *arg) {
    const transfer *t = arg;
    rt_device *d = t->buffer->device->base;
    d->write(d, t->buffer->memory, t->offset, t->from, t->size);
}

int32_t buf_read(spvf_buffer *b, size_t offset, void *to, size_t size) {
    transfer t = {.buffer = b, .offset = offset, .size = size, .to = to};
    if (!b->host.bytes) return cmd_result(dev_run(b->device, read_there, &t));
    if (size) memmove(to, (const char *)b->host.bytes + offset, size);
    return RT_COMPLETE;
}

int32_t buf_write(spvf_buffer *b, size_t offset, const void *from, size_t size) {
    transfer t = {.buffer = b, .offset = offset, .size = size, .from = from};
    if (!b->host.bytes) return cmd_result(dev_run(b->device, write_there, &t));
    if (size) memmove((char *)b->host.bytes + offset, from, size);
    return RT_COMPLETE;
}
