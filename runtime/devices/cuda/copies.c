/* copies.c — copies and fills.
 *
 * A copy of rows is one call of the driver, unless the distances between rows or slices are none
 * that it takes: then each row is one.  A fill needs no memory of the host: the pattern's words of
 * one, two or four bytes are written one after the other, each at all of its places.
 */
#include "runtime/devices/cuda/cuda.h"

/* --------------------------------------------------------------------------------------- copies */

typedef struct {
    cuda *d;
    const rt_copy *what;
    size_t bytes; /* of a row */
} copying;

static cu_address address_of(const rt_box *b) { return b->memory ? b->memory->at + b->offset : 0; }

static void copy_row(void *user, uint64_t to_row, uint64_t from_row) {
    const copying *c = user;
    cuda *d = c->d;
    const rt_box *to = &c->what->to, *from = &c->what->from;
    cu_address target = address_of(to) + to_row, source = address_of(from) + from_row;
    if (to->memory && from->memory)
        cuda_must(d, "cuMemcpyDtoDAsync", d->cu->copy(target, source, c->bytes, d->stream));
    else if (to->memory)
        cuda_must(d, "cuMemcpyHtoDAsync",
                  d->cu->write(target, from->bytes + from_row, c->bytes, d->stream));
    else
        cuda_must(d, "cuMemcpyDtoHAsync",
                  d->cu->read(to->bytes + to_row, source, c->bytes, d->stream));
}

/* Are the bytes of all rows without gaps? */
static bool is_dense(const rt_box *b, const size_t region[3]) {
    return (region[1] == 1 || b->row == region[0]) &&
           (region[2] == 1 || b->slice == region[0] * region[1]);
}

static bool takes_side(const cuda *d, const rt_box *b, const size_t region[3]) {
    size_t rows = region[2] == 1 ? region[1] : b->row ? b->slice / b->row : 0;
    return b->row >= region[0] && b->row <= d->most_pitch && rows >= region[1] &&
           (region[2] == 1 || b->slice % b->row == 0);
}

static cu_side side_of(const rt_box *b, const size_t region[3]) {
    cu_side s = {.type = b->memory ? CU_MEMORY_DEVICE : CU_MEMORY_HOST,
                 .device = address_of(b),
                 .pitch = b->row,
                 .height = region[2] == 1 ? region[1] : b->slice / b->row};
    if (!b->memory) s.host = b->bytes;
    return s;
}

/* False: the driver does not take such distances. */
static bool copy_box(cuda *d, const rt_copy *c) {
    if (!takes_side(d, &c->to, c->region) || !takes_side(d, &c->from, c->region)) return false;
    const cu_box_copy box = {.from = side_of(&c->from, c->region),
                             .to = side_of(&c->to, c->region),
                             .width = c->region[0],
                             .height = c->region[1],
                             .depth = c->region[2]};
    cu_result error = d->cu->copy_box(&box, d->stream);
    if (error == CU_INVALID_VALUE) return false;
    cuda_must(d, "cuMemcpy3DAsync", error);
    return true;
}

/* Bytes without gaps, by memory that the device reads and writes by itself (staging.c).  False:
 * there is no room. */
static bool copy_staged(const copying *c) {
    cuda *d = c->d;
    const rt_box *to = &c->what->to, *from = &c->what->from;
    if (to->memory && from->memory) return false;
    if (to->memory) cuda_await_reads(d, from->bytes, c->bytes);
    void *at = to->memory ? cuda_stage(d, c->bytes) : cuda_stage_read(d, to->bytes, c->bytes);
    if (!at) return false;
    if (to->memory) {
        memcpy(at, from->bytes, c->bytes);
        cuda_must(d, "cuMemcpyHtoDAsync", d->cu->write(address_of(to), at, c->bytes, d->stream));
    } else {
        cuda_must(d, "cuMemcpyDtoHAsync", d->cu->read(at, address_of(from), c->bytes, d->stream));
    }
    return true;
}

/* By the driver, which accesses memory of the program. */
static void await_reads(cuda *d, const rt_copy *c) {
    const rt_box *host = !c->to.memory ? &c->to : !c->from.memory ? &c->from : NULL;
    if (!host) return;
    size_t span = (c->region[2] - 1) * host->slice + (c->region[1] - 1) * host->row + c->region[0];
    cuda_await_reads(d, host->bytes, span);
}

void cuda_copy(cuda *d, const rt_copy *what) {
    const size_t *region = what->region;
    size_t rows = region[1] * region[2];
    copying c = {d, what, region[0]};
    if (!region[0] || !rows) return;
    const bool dense = is_dense(&what->to, region) && is_dense(&what->from, region);
    if (dense) c.bytes *= rows;
    if (dense && copy_staged(&c)) return;
    await_reads(d, what);
    if (dense) {
        copy_row(&c, 0, 0);
    } else if (!copy_box(d, what)) {
        rt_each_row(what, copy_row, &c);
    }
}

/* ---------------------------------------------------------------------------------------- fills */

static bool repeats(const rt_fill *f, size_t unit) {
    const char *p = f->pattern;
    return memcmp(p, p + unit, f->pattern_size - unit) == 0;
}

static cu_result set(const cuda *d, cu_address at, size_t unit, const void *word, size_t n) {
    uint8_t byte;
    uint16_t half;
    uint32_t whole;
    memcpy(&byte, word, sizeof byte);
    if (unit == 1) return d->cu->set8(at, byte, n, d->stream);
    memcpy(&half, word, sizeof half);
    if (unit == 2) return d->cu->set16(at, half, n, d->stream);
    memcpy(&whole, word, sizeof whole);
    return d->cu->set32(at, whole, n, d->stream);
}

/* The word at n places, `pitch` bytes apart. */
static cu_result set_apart(const cuda *d, cu_address at, size_t unit, const void *word,
                           const rt_fill *f) {
    uint8_t byte;
    uint16_t half;
    uint32_t whole;
    size_t pitch = f->pattern_size, n = f->size / f->pattern_size;
    memcpy(&byte, word, sizeof byte);
    if (unit == 1) return d->cu->set8_apart(at, pitch, byte, 1, n, d->stream);
    memcpy(&half, word, sizeof half);
    if (unit == 2) return d->cu->set16_apart(at, pitch, half, 1, n, d->stream);
    memcpy(&whole, word, sizeof whole);
    return d->cu->set32_apart(at, pitch, whole, 1, n, d->stream);
}

void cuda_fill(cuda *d, const rt_fill *f) {
    cu_address at = address_of(&f->to);
    size_t together = at | f->pattern_size;
    size_t unit = together % 2 ? 1 : together % 4 ? 2 : 4;
    const char *word = f->pattern;
    if (!f->size) return;
    if (repeats(f, unit)) {
        cuda_must(d, "cuMemsetAsync", set(d, at, unit, word, f->size / unit));
        return;
    }
    for (size_t k = 0; k < f->pattern_size; k += unit)
        cuda_must(d, "cuMemsetD2DAsync", set_apart(d, at + k, unit, word + k, f));
}
