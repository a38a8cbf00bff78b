/* launch.c — ranges as blocks of threads, arguments, and launches.
 *
 * Groups are equally large.  Where a launch leaves their size to the device, they are as large as
 * divisors of the global size allow, along x first, up to the usual number of threads: the first of
 * a few with which the most threads of the kernel are there at once, as the driver says.
 */
#include "runtime/devices/cuda/cuda.h"

enum {
    MOST_THREADS = 1024, /* of a block */
    MOST_DEEP = 64,      /* along z */
    USUAL_SHARED = 48 << 10,
    LOCAL_ALIGN = 128
};

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

/* The first size with which the most threads are on a processor at once. */
static unsigned usual_threads(cuda *d, rt_function *f) {
    static const unsigned sizes[] = {256, 512, 1024, 128, 64, 32};
    unsigned best = 0;
    if (f->usual) return f->usual;
    f->usual = f->threads;
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
        int blocks = 0;
        if (sizes[n] > f->threads) continue;
        cuda_must(d, "cuOccupancyMaxActiveBlocksPerMultiprocessor",
                  d->cu->blocks_at_once(&blocks, f->function, (int)sizes[n], 0));
        if ((unsigned)blocks * sizes[n] <= best) continue;
        best = (unsigned)blocks * sizes[n];
        f->usual = sizes[n];
    }
    return f->usual;
}

static void choose_local(cuda *d, rt_function *f, const spvf_range *r, uint64_t local[3]) {
    for (int k = 0; k < 3; k++) local[k] = f->local[k] ? f->local[k] : r->local[k];
    if (local[0]) return;
    unsigned most = usual_threads(d, f);
    for (unsigned k = 0; k < 3; k++) {
        uint64_t here = k == 2 && most > MOST_DEEP ? MOST_DEEP : most;
        local[k] = k < r->dims ? largest_divisor(r->global[k], here) : 1;
        most /= (unsigned)local[k];
    }
}

static shape shape_of(cuda *d, const rt_launch *l) {
    static const uint64_t most_blocks[3] = {INT32_MAX, 65535, 65535};
    const spvf_range *r = l->range;
    uint64_t local[3], threads = 1;
    shape s;
    choose_local(d, l->function, r, local);
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

void cuda_launch(cuda *d, const rt_launch *given, ir_arena *scratch) {
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
