/* pipe_plan.c — the plan of a pipeline: ranges, buffers, arguments, launches in the group and outside. */
#include "tests/fuzz/pipe_impl.h"

/* --------------------------------------------------------------------------------------- ranges */

static range line_of(const pipe *p, unsigned items, bool with_local) {
    range r = {.dims = 1, .global = {items, 1, 1}, .offset = p->offset};
    if (p->offset) r.dims = 2;
    if (with_local) r.local[0] = p->local;
    return r;
}

/* The items of a line in rows, or in layers of rows. */
static range rows_of(pipe *p, unsigned items) {
    range r = {.dims = 2 + pipe_chance(p, 30), .global = {items, 1, 1}, .offset = p->offset};
    for (unsigned d = 1; d < r.dims; d++) {
        unsigned n = pipe_chance(p, 50) ? 2 : 4;
        if (r.global[0] % n) continue;
        r.global[0] /= n;
        r.global[d] = n;
    }
    if (pipe_chance(p, 50)) {
        unsigned first = r.global[0];
        r.global[0] = r.global[1];
        r.global[1] = first;
    }
    return r;
}

/* Work-groups of whole rows, of some, or of parts of rows. */
static void divide_rows(pipe *p, range *r) {
    for (unsigned d = 0; d < r->dims; d++) {
        unsigned n = pipe_below(p, 3);
        r->local[d] = n == 0 ? r->global[d] : n == 1 || r->global[d] % 2 ? 1 : r->global[d] / 2;
    }
}

/* The shape of the pipeline, or the first half of its rows, or of each row. */
static range part_of_shape(pipe *p) {
    range r = p->shape;
    const unsigned d = pipe_chance(p, 70) ? r.dims - 1 : 0;
    if (r.global[d] % (2 * (r.local[d] ? r.local[d] : 1)) == 0) r.global[d] /= 2;
    return r;
}

static range any_range(pipe *p) {
    if (p->shape.dims && !pipe_chance(p, 12))
        return pipe_chance(p, 75) ? p->shape : part_of_shape(p);
    bool local = p->local && !pipe_chance(p, 15);
    if (pipe_chance(p, 65)) return line_of(p, p->items, local);
    if (pipe_chance(p, 40)) {
        bool whole = p->local && !pipe_chance(p, 20);
        unsigned step = whole ? p->local : 1;
        return line_of(p, step * (1 + pipe_below(p, p->items / step)), local && whole);
    }
    return rows_of(p, p->items);
}

/* The last work-groups are mostly smaller, and one may be larger than the range. */
static range any_uneven(pipe *p) {
    range r = {.dims = 1 + pipe_below(p, 3), .global = {1, 1, 1}, .uneven = true};
    for (unsigned d = 0, left = 64; d < r.dims; d++) {
        r.global[d] = 1 + pipe_below(p, left);
        left /= r.global[d];
        r.local[d] = 1 + pipe_below(p, d ? 4 : 16);
    }
    if (!pipe_chance(p, 80)) r.offset = 1 + pipe_below(p, 8);
    return r;
}

static void any_sizes(pipe *p) {
    static const unsigned items[] = {8, 12, 16, 24, 32, 48, 64}, local[] = {0, 2, 4, 8};
    p->items = items[pipe_below(p, 7)];
    p->local = local[pipe_below(p, 4)];
    if (p->local && p->items % p->local) p->local = 4;
    if (pipe_chance(p, 8)) p->local = p->items;
    p->offset = pipe_below(p, 10) == 9 ? 1 + pipe_below(p, 8) : 0;
    static const unsigned calm[] = {99, 95, 90, 80, 40};
    p->calm = calm[pipe_below(p, 5)];
    if (pipe_chance(p, 20)) {
        p->shape = rows_of(p, p->items);
        divide_rows(p, &p->shape);
    }
    p->parts = pipe_chance(p, 30) ? 40 : 0;
    p->buffers = MAX_PARAMS + pipe_below(p, MAX_BUFFERS - MAX_PARAMS + 1);
    p->views = !pipe_chance(p, 75);
    static const unsigned begin[] = {0, 0, 0, 8, 16, 64, 128, MAX_BEGIN, 4};
    for (unsigned b = 0; p->views && b < p->buffers; b++) p->begin[b] = begin[pipe_below(p, 9)];
    for (unsigned n = 0; n < SCALARS; n++) p->scalar[n] = pipe_byte(p);
}

/* ---------------------------------------------------------------------------------------- plans */

static void put_sizes(pipe *p, const char *word, const range *r, const unsigned *sizes) {
    ir_putf(p->plan, " %s", word);
    for (unsigned d = 0; d < r->dims; d++) ir_putf(p->plan, " %u", sizes[d] ? sizes[d] : 1);
}

static void note_use(pipe *p, const param *q) {
    if (q->written && !(p->used >> q->buffer & 1)) p->first_written |= 1u << q->buffer;
    p->used |= 1u << q->buffer;
}

/* Buffers as a whole mostly, or all from one byte on. */
static void put_buffer_arg(pipe *p, unsigned buffer) {
    unsigned begin = p->begin[buffer];
    if (p->views && !pipe_chance(p, 94)) begin = 8 * pipe_below(p, MAX_BEGIN / 8 + 1);
    ir_putf(p->plan, " b%u", buffer);
    if (begin) ir_putf(p->plan, " at %u", begin);
    if (begin) p->kept |= 1u << buffer;
    ir_put(p->plan, ",");
}

/* What the kernel's code was made for, mostly. */
static void put_value_arg(pipe *p, const kernel *k) {
    const char *mark = k->known & 2 ? "specialized " : "";
    unsigned what = pipe_below(p, 8), s = pipe_below(p, SCALARS);
    unsigned known = pipe_chance(p, 80) ? k->known : pipe_byte(p);
    if (what < 4)
        ir_putf(p->plan, " %s%u\n", mark, known);
    else if (what < 6)
        ir_putf(p->plan, " variable %s%u\n", mark, known);
    else
        ir_putf(p->plan, " %s%ss%u\n", what == 6 ? "variable " : "", mark, s);
}

static void put_launch(pipe *p, const kernel *k, const char *file) {
    const unsigned offset[3] = {k->range.offset, k->range.offset & 1, 0};
    ir_putf(p->plan, "  launch \"%s\":k%u", file, k->number);
    put_sizes(p, "global", &k->range, k->range.global);
    if (k->range.local[0]) put_sizes(p, "local", &k->range, k->range.local);
    if (k->range.uneven) ir_put(p->plan, " uneven");
    if (k->range.offset) {
        ir_put(p->plan, " offset");
        for (unsigned d = 0; d < k->range.dims; d++) ir_putf(p->plan, " %u", offset[d]);
    }
    ir_put(p->plan, " args");
    for (unsigned n = 0; n < k->nparams; n++) {
        note_use(p, &k->params[n]);
        put_buffer_arg(p, k->params[n].buffer);
    }
    if (k->takes_tile) ir_putf(p->plan, " local %u,", 4 * k->range.local[0]);
    put_value_arg(p, k);
}

static void put_scalars(pipe *p) {
    for (unsigned n = 0; n < SCALARS; n++)
        ir_putf(p->plan, "scalar s%u i32 = %u\n", n, p->scalar[n]);
}

/* Internal are mostly those that may be promoted, and only those that the group alone uses. */
static void put_buffers(pipe *p) {
    static const char *const kinds[] = {"", "", "", " private", " local"};
    for (unsigned b = 0; b < p->buffers; b++) {
        bool internal = pipe_chance(p, p->first_written >> b & 1 ? 70 : 10);
        internal &= !(p->kept >> b & 1);
        ir_putf(p->plan, "buffer b%u i32[%d] = random %u%s%s\n", b,
                p->views ? ELEMENTS + MAX_BEGIN / 4 : ELEMENTS, b + 1, internal ? " internal" : "",
                internal ? kinds[pipe_below(p, 5)] : "");
    }
}

static void put_group(pipe *p) {
    static const char *const policies[] = {
        "", "", "", "", "no_barriers ", "barrier_global ", "phases ", "phases "};
    ir_putf(p->plan, "fuse fused %s{\n", policies[pipe_below(p, 8)]);
}

static void put_launches(pipe *p, const char *file) {
    for (unsigned n = 2 + pipe_below(p, MAX_KERNELS - 1); n; n--) {
        bool again = p->nkernels && pipe_chance(p, 15);
        kernel *k = &p->kernel[again ? pipe_below(p, p->nkernels) : p->nkernels];
        if (k->range.uneven) { /* it is one of those outside */
            again = false;
            k = &p->kernel[p->nkernels];
        }
        if (!again) {
            k->number = p->nkernels++;
            k->range = any_range(p);
            pipe_kernel(p, k);
        } else if (pipe_chance(p, 50)) {
            pipe_any_buffers(p, k);
        }
        put_launch(p, k, file);
        if (p->at == p->end && p->nkernels >= 2) break;
    }
}

/* Launches outside of the group, most of which have smaller work-groups at the ends. */
static void put_outside(pipe *p, const char *file) {
    const unsigned used = p->used, first_written = p->first_written;
    for (unsigned n = pipe_chance(p, 70) ? 0 : 1 + pipe_below(p, MAX_OUTSIDE); n; n--) {
        kernel *k = &p->kernel[p->nkernels];
        k->number = p->nkernels++;
        k->range = pipe_chance(p, 85) ? any_uneven(p) : any_range(p);
        pipe_kernel(p, k);
        put_launch(p, k, file);
        for (unsigned q = 0; q < k->nparams; q++) p->kept |= 1u << k->params[q].buffer;
    }
    p->used = used;
    p->first_written = first_written;
}

void pipe_make(const uint8_t *data, size_t size, const char *file, ir_text *kernels,
               ir_text *plan) {
    ir_text launches = {.arena = plan->arena};
    pipe p = {.at = data, .end = data + size, .out = kernels, .plan = &launches};
    any_sizes(&p);
    for (unsigned b = 0; b < p.buffers; b++) p.home[b] = pipe_form(&p, true);
    ir_put(kernels, "target 64\n");
    put_outside(&p, file);
    put_group(&p);
    put_launches(&p, file);
    ir_put(&launches, "}\n");
    put_outside(&p, file);
    p.plan = plan;
    put_buffers(&p);
    put_scalars(&p);
    ir_put(plan, launches.data);
}
