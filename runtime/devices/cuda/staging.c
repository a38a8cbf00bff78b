/* staging.c — memory of the host that the device reads and writes by itself, for small copies.
 *
 * A copy from memory that the system may move makes the caller wait: for the driver's own copy of
 * what is written, and for the end of what is read.  So small copies go through a ring of memory
 * that stays where it is: what is written is copied there first, and what has been read is copied
 * from there when its submission ends.  Places are given back in the order of the stream.  Memory
 * of the program that something is still being read to is not touched by a later copy.
 *
 * Allocating that memory costs as much as a hundred copies, so a program has to make some before.
 * Where there is no room, copies are those of the driver.  What the first buffers are made of is
 * copied to memory that is kept until the device is closed, so that the program need not wait.
 */
#include "runtime/devices/cuda/cuda.h"

#include <stdlib.h>

enum { RING = 4 << 20, MOST = 256 << 10, ALIGN = 256, FIRST = 16 /* copies */ };

/* False: it is not there. */
static bool has_ring(cuda *d) {
    void *ring;
    if (d->ring || d->ring_refused || ++d->small_copies < FIRST) return d->ring != NULL;
    d->ring_refused = d->cu->allocate_host(&ring, RING, 0) != 0;
    if (d->ring_refused) return false;
    d->ring = ring;
    atomic_store_explicit(&d->base.prompt_bytes, MOST, memory_order_relaxed);
    return true;
}

/* Positions count all bytes that have ever been taken; the end of the ring cuts no place. */
static void *take_place(cuda *d, size_t bytes) {
    uint64_t at = d->staged;
    rt_lock_take(&d->lock);
    const uint64_t ended = d->unstaged;
    rt_lock_release(&d->lock);
    if (at % RING + bytes > RING) at += RING - at % RING;
    if (at + bytes - ended > RING) return NULL;
    d->staged = (at + bytes + ALIGN - 1) / ALIGN * ALIGN;
    return d->ring + at % RING;
}

void *cuda_stage(cuda *d, size_t bytes) {
    return bytes <= MOST && has_ring(d) ? take_place(d, bytes) : NULL;
}

/* Contents of a buffer, before there is a ring. */
struct cuda_contents {
    cuda_contents *next;
    unsigned char bytes[];
};

void *cuda_stage_contents(cuda *d, size_t bytes) {
    enum { FEW_BYTES = 64 << 10 };
    void *at = cuda_stage(d, bytes);
    if (at || d->ring || d->ring_refused || bytes > FEW_BYTES) return at;
    cuda_contents *c = malloc(sizeof *c + bytes);
    if (!c) return NULL;
    c->next = d->contents;
    d->contents = c;
    return c->bytes;
}

void *cuda_stage_read(cuda *d, void *to, size_t bytes) {
    cuda_pending *p = d->enqueuing;
    void *at = p && p->submission->count == 1 ? cuda_stage(d, bytes) : NULL;
    if (at) p->read = (cuda_read){to, at, bytes};
    return at;
}

/* ------------------------------------------------------------------------------ what was read */

void cuda_end_read(cuda *d, cuda_pending *p, bool ok) {
    if (!p->read.bytes) return;
    if (ok) memcpy(p->read.to, p->read.from, p->read.bytes);
    p->read.bytes = 0;
    d->reads--;
}

static bool overlaps(const cuda_read *r, const char *host, size_t bytes) {
    const uintptr_t a = (uintptr_t)r->to, b = (uintptr_t)host;
    return r->bytes && a < b + bytes && b < a + r->bytes;
}

static bool is_being_read(cuda *d, const char *host, size_t bytes) {
    bool found = false;
    rt_lock_take(&d->lock);
    for (const cuda_pending *p = d->reads ? d->first : NULL; p && !found; p = p->next)
        found = overlaps(&p->read, host, bytes);
    rt_lock_release(&d->lock);
    return found;
}

/* All that is in the stream has come; an error is that of the submissions, which are told of it. */
void cuda_await_reads(cuda *d, const char *host, size_t bytes) {
    if (!is_being_read(d, host, bytes)) return;
    cuda_must(d, "cuStreamSynchronize", d->cu->wait(d->stream));
    rt_lock_take(&d->lock);
    for (cuda_pending *p = d->first; p; p = p->next) cuda_end_read(d, p, true);
    rt_lock_release(&d->lock);
}

void cuda_free_staging(cuda *d) {
    if (d->ring) d->cu->free_host(d->ring);
    d->ring = NULL;
    for (cuda_contents *next; d->contents; d->contents = next) {
        next = d->contents->next;
        free(d->contents);
    }
}
