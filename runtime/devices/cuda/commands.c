/* commands.c — what the device `cuda` runs: commands of a submission go into one stream, in order,
 * and a callback after them tells of their end.
 *
 * Groups are equally large.  Where a launch leaves their size to the device, they are as large as
 * divisors of the global size allow, along x first, up to USUAL_THREADS; the driver knows how many
 * threads the registers of a kernel allow.
 */
#include "runtime/devices/cuda/cuda.h"

#include <stdlib.h>

enum {
    USUAL_THREADS = 256,
    MOST_THREADS = 1024, /* of a block */
    MOST_DEEP = 64,      /* along z */
    USUAL_SHARED = 48 << 10,
    LOCAL_ALIGN = 128
};

/* ----------------------------------------------------------------------------- copies and fills */

typedef struct {
    cuda *d;
    const rt_copy *what;
} copying;

static void copy_row(void *user, uint64_t to_row, uint64_t from_row) {
    const copying *c = user;
    cuda *d = c->d;
    const rt_box *to = &c->what->to, *from = &c->what->from;
    size_t n = c->what->region[0];
    cu_address target = to->memory ? to->memory->at + to->offset + to_row : 0;
    cu_address source = from->memory ? from->memory->at + from->offset + from_row : 0;
    if (to->memory && from->memory)
        cuda_must(d, "cuMemcpyDtoDAsync", d->cu->copy(target, source, n, d->stream));
    else if (to->memory)
        cuda_must(d, "cuMemcpyHtoDAsync",
                  d->cu->write(target, from->bytes + from_row, n, d->stream));
    else
        cuda_must(d, "cuMemcpyDtoHAsync", d->cu->read(to->bytes + to_row, source, n, d->stream));
}

static void copy(cuda *d, const rt_copy *what) {
    if (what->region[0]) rt_each_row(what, copy_row, &(copying){d, what});
}

static void fill(cuda *d, const rt_fill *f) {
    char *bytes = malloc(f->size + f->pattern_size);
    if (!bytes) ir_throw(&d->base.context->cx, IR_ERR_MEMORY);
    rt_repeat_pattern(bytes, f);
    cu_result error = d->cu->write(f->to.memory->at + f->to.offset, bytes, f->size, d->stream);
    if (!error) error = d->cu->wait(d->stream);
    free(bytes);
    cuda_must(d, "cuMemcpyHtoDAsync", error);
}

/* --------------------------------------------------------------------------------------- ranges */

/* Blocks of a grid, and threads of a block. */
typedef struct {
    unsigned blocks[3], threads[3];
} shape;

IR_NORETURN static void refuse(cuda *d, const char *why) {
    rt_throw(d->base.context, IR_ERR_DEVICE, "cuda: kernel '%s': %s", d->kernel, why);
}

static uint64_t largest_divisor(uint64_t n, uint64_t most) {
    for (uint64_t k = most < n ? most : n; k > 1; k--)
        if (n % k == 0) return k;
    return 1;
}

static void choose_local(const rt_function *f, const spvf_range *r, uint64_t local[3]) {
    unsigned most = f->threads < USUAL_THREADS ? f->threads : USUAL_THREADS;
    for (int d = 0; d < 3; d++) local[d] = f->local[d] ? f->local[d] : r->local[d];
    if (local[0]) return;
    for (unsigned d = 0; d < 3; d++) {
        uint64_t here = d == 2 && most > MOST_DEEP ? MOST_DEEP : most;
        local[d] = d < r->dims ? largest_divisor(r->global[d], here) : 1;
        most /= (unsigned)local[d];
    }
}

static shape shape_of(cuda *d, const rt_launch *l) {
    static const uint64_t most_blocks[3] = {INT32_MAX, 65535, 65535};
    const spvf_range *r = l->range;
    uint64_t local[3], threads = 1;
    shape s;
    choose_local(l->function, r, local);
    for (unsigned k = 0; k < 3; k++) {
        uint64_t size = local[k] ? local[k] : 1, global = k < r->dims ? r->global[k] : 1;
        if (global % size) refuse(d, "the global size is no multiple of the local size");
        if (global / size > most_blocks[k]) refuse(d, "there are too many work-groups");
        threads *= size;
        if (size > (k == 2 ? MOST_DEEP : MOST_THREADS) || threads > l->function->threads)
            refuse(d, "a work-group has more work-items than the kernel's registers allow");
        s.blocks[k] = (unsigned)(global / size);
        s.threads[k] = (unsigned)size;
    }
    return s;
}

static bool is_empty(const spvf_range *r) {
    for (unsigned k = 0; k < r->dims; k++)
        if (!r->global[k]) return true;
    return false;
}

/* ------------------------------------------------------------------------------------ arguments */

enum { HIDDEN = 4 };

/* What the driver gets: where each argument is, and those that are not in memory already. */
typedef struct {
    void **at;
    uint64_t *value;
    size_t n;
    uint64_t shared; /* bytes of local arguments */
} parameters;

static void add_argument(parameters *p, const rt_arg *a) {
    uint64_t *value = &p->value[p->n];
    uint32_t place = (uint32_t)p->shared;
    switch (a->kind) {
    case RT_ARG_MEMORY: *value = a->memory ? a->memory->at + a->offset : 0; break;
    case RT_ARG_ADDRESS: *value = (uintptr_t)a->address; break;
    case RT_ARG_LOCAL:
        memcpy(value, &place, sizeof place);
        p->shared += (a->size + LOCAL_ALIGN - 1) / LOCAL_ALIGN * LOCAL_ALIGN;
        break;
    case RT_ARG_VALUE: break;
    }
    p->at[p->n++] = a->kind == RT_ARG_VALUE ? (void *)(uintptr_t)a->bytes : value;
}

static void add_hidden(parameters *p, uint64_t value) {
    p->value[p->n] = value;
    p->at[p->n] = &p->value[p->n];
    p->n++;
}

static void check_local(cuda *d, const rt_launch *l) {
    for (size_t n = 0; n < l->count; n++)
        if (l->args[n].kind == RT_ARG_LOCAL && l->args[n].size > d->shared)
            refuse(d, "its work-groups need more local memory");
}

static parameters list_parameters(const rt_launch *l, ir_arena *scratch) {
    size_t most = l->count + HIDDEN;
    parameters p = {.at = ir_new_array(scratch, void *, most),
                    .value = ir_new_array(scratch, uint64_t, most)};
    for (size_t n = 0; n < l->count; n++) add_argument(&p, &l->args[n]);
    for (unsigned k = 0; l->function->hidden.offset && k < 3; k++)
        add_hidden(&p, k < l->range->dims ? l->range->offset[k] : 0);
    if (l->function->hidden.work_dim) add_hidden(&p, l->range->dims);
    return p;
}

/* ------------------------------------------------------------------------------------- launches */

static void allow_shared(cuda *d, rt_function *f, uint64_t bytes) {
    if (f->shared + bytes > d->shared) refuse(d, "its work-groups need more local memory");
    if (bytes <= f->dynamic_shared || f->shared + bytes <= USUAL_SHARED) return;
    cuda_must(d, "cuFuncSetAttribute",
              d->cu->set_attribute(f->function, CU_DYNAMIC_SHARED, (int)bytes));
    f->dynamic_shared = (unsigned)bytes;
}

static void launch(cuda *d, const rt_launch *given, ir_arena *scratch) {
    rt_launch l = *given;
    if (is_empty(l.range)) return;
    d->kernel = l.function->name;
    rt_function *f = l.function = cuda_variant(d, l.function, &l);
    const shape s = shape_of(d, &l);
    check_local(d, &l);
    const parameters p = list_parameters(&l, scratch);
    allow_shared(d, f, p.shared);
    cuda_must(d, "cuLaunchKernel",
              d->cu->launch(f->function, s.blocks[0], s.blocks[1], s.blocks[2], s.threads[0],
                            s.threads[1], s.threads[2], (unsigned)p.shared, d->stream, p.at, NULL));
    d->kernel = NULL;
}

/* ---------------------------------------------------------------------------------- submissions */

static void on_end(cu_stream stream, cu_result status, void *user) {
    rt_submission *s = user;
    char why[80];
    (void)stream;
    snprintf(why, sizeof why, "cuda: a command ended with error %d", status);
    s->ended(s, status ? IR_ERR_DEVICE : IR_OK, why);
}

typedef struct {
    cuda *d;
    rt_submission *submission;
    ir_arena *scratch;
} submitting;

static void enqueue_all(void *arg) {
    const submitting *a = arg;
    cuda_enter(a->d);
    for (size_t n = 0; n < a->submission->count; n++) {
        const rt_command *c = &a->submission->commands[n];
        switch (c->kind) {
        case RT_COMMAND_LAUNCH: launch(a->d, &c->launch, a->scratch); break;
        case RT_COMMAND_COPY: copy(a->d, &c->copy); break;
        case RT_COMMAND_FILL: fill(a->d, &c->fill); break;
        }
    }
    cuda_must(a->d, "cuStreamAddCallback",
              a->d->cu->call_back(a->d->stream, on_end, a->submission, 0));
}

rt_progress cuda_submit(rt_device *device, rt_submission *s) {
    cuda *d = (cuda *)device;
    ir_ctx *cx = &device->context->cx;
    ir_arena scratch;
    ir_arena_init(&scratch, cx);
    bool ok = ir_try(cx, enqueue_all, &(submitting){d, s, &scratch});
    ir_status status = cx->status;
    ir_arena_free(&scratch);
    if (ok) return RT_PENDING;
    d->cu->wait(d->stream);
    d->kernel = NULL;
    ir_throw(cx, status);
}
