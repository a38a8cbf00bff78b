/* phases.c — kernels in which all work-groups wait for each other (passes/workgroup/phases.c).
 *
 * There are two ways.  The kernel is cut where groups wait and launched once for each phase, since
 * a launch begins when the one before it in the stream has ended; values that later phases need
 * are in memory of the launch.  Or all groups run at once, in one cooperative launch, and wait at
 * barriers of the grid (codegen/ptx/atomic.c); then each item keeps its values in registers.
 *
 * Where the processors have no room for all groups, as many as there is room for run at once, and
 * take turns with those of the range (passes/workgroup/resident.c), with values in memory.  That is
 * done only if the option `phases=together` asks for it.
 *
 * All groups run at once if the processors have room for them.  A barrier costs less than the gap
 * between two launches, but it costs more the more groups there are, and a cooperative launch
 * costs as much as two others.  So that way is taken for LEAST_PHASES or more, and up to MOST_HERE
 * groups for each processor (tests/bench/phases.c measures it), or whenever there is room if the
 * option `phases=together` says so.  Kernels that print are launched for each phase:
 * they could not be launched again if the driver refused.
 *
 * All commands go into one stream, so no two launches use the memory at once.  It grows by a block
 * that has room for what is needed; older blocks stay, because graphs of the driver know them.
 */
#include "runtime/devices/cuda/cuda.h"

#include <stdlib.h>

enum {
    LEAST_PHASES = 4, /* by default */
    MOST_HERE = 4,    /* groups of a processor, by default */
    MOST_BLOCKS = 32  /* at all */
};

/* ---------------------------------------------------------------------------------- the choice */

static uint64_t blocks_of(const cuda_grid *g) {
    uint64_t n = 1;
    for (unsigned k = 0; k < 3; k++) n *= (g->global[k] + g->local[k] - 1) / g->local[k];
    return n;
}

static unsigned threads_of(const cuda_grid *g) {
    return (unsigned)(g->local[0] * g->local[1] * g->local[2]);
}

/* Groups that a processor has room for. */
static unsigned room_of(cuda *d, rt_function *f, unsigned threads, uint64_t shared) {
    int blocks = 0;
    if (f->room.threads == threads && f->room.shared == shared) return f->room.blocks;
    cuda_allow_shared(d, f, shared);
    cuda_must(d, "cuOccupancyMaxActiveBlocksPerMultiprocessor",
              d->cu->blocks_at_once(&blocks, f->function, (int)threads, (size_t)shared));
    f->room = (cuda_room){threads, blocks > 0 ? (unsigned)blocks : 0, shared};
    return f->room.blocks;
}

static bool may_wait(const cuda *d, const rt_function *f) {
    const uint64_t least = d->waiting == CUDA_ALL_TOGETHER ? 1 : LEAST_PHASES;
    return f->phases.n >= least && d->can_wait && d->waiting != CUDA_BY_LAUNCHES && !f->prints &&
           !f->never_together;
}

/* The code for these facts, with its blocks, and how many of them a processor has room for; NULL:
 * there is none, or no room. */
static rt_function *find_code(cuda *d, const rt_launch *l, unsigned facts, cuda_grid *g,
                              unsigned *room) {
    rt_launch with = *l;
    if (cuda_has_wide_ids(l->range)) facts |= CUDA_WIDE;
    rt_function *f = with.function = cuda_find_variant(d, l->function, facts | CUDA_TOGETHER);
    if (!f || threads_of(g) > f->threads || !cuda_shape(d, &with, g)) return NULL;
    *room = room_of(d, f, threads_of(g), cuda_local_bytes(l));
    return *room ? f : NULL;
}

rt_function *cuda_all_together(cuda *d, const rt_launch *l, cuda_grid *g, uint64_t *resident) {
    const bool forced = d->waiting == CUDA_ALL_TOGETHER;
    const uint64_t most = (uint64_t)(forced ? MOST_BLOCKS : MOST_HERE) * d->processors;
    unsigned room;
    *resident = 0;
    if (!may_wait(d, l->function) || !cuda_shape(d, l, g)) return NULL;
    if (blocks_of(g) <= most) {
        rt_function *f = find_code(d, l, 0, g, &room);
        if (f && blocks_of(g) <= (uint64_t)room * d->processors) return f;
    }
    if (!forced || !cuda_shape(d, l, g) || blocks_of(g) > INT32_MAX) return NULL;
    rt_function *f = find_code(d, l, CUDA_PARTS, g, &room);
    *resident = f ? (uint64_t)room * d->processors : 0;
    return f;
}

/* ---------------------------------------------------------------------------------- the memory */

struct cuda_kept {
    cu_address at;
    uint64_t bytes;
    cuda_kept *next; /* an older and smaller one */
};

static void grow(cuda *d, uint64_t bytes) {
    const uint64_t least = 1 << 16, twice = d->kept ? 2 * d->kept->bytes : 0;
    cuda_kept *k = calloc(1, sizeof *k);
    if (!k) ir_throw(&d->base.context->cx, IR_ERR_MEMORY);
    k->bytes = bytes > twice ? bytes : twice;
    if (k->bytes < least) k->bytes = least;
    cu_result error = d->cu->allocate(&k->at, k->bytes);
    if (error) {
        free(k);
        cuda_must(d, "cuMemAlloc", error);
    }
    k->next = d->kept;
    d->kept = k;
}

cu_address cuda_keep(cuda *d, const rt_function *f, const cuda_grid *g) {
    const ir_phases *p = &f->phases;
    const uint64_t most = UINT64_MAX / 4;
    uint64_t items = 1, groups = blocks_of(g);
    for (unsigned k = 0; k < 3; k++) items *= g->global[k];
    items = (items + 63) & ~UINT64_C(63);
    if ((p->item && items > most / p->item) || (p->group && groups > most / p->group))
        rt_throw(d->base.context, IR_ERR_DEVICE,
                 "cuda: kernel '%s': what its phases leave to later ones does not fit into memory",
                 d->kernel);
    uint64_t bytes = p->group * groups + p->item * items;
    if (!bytes) return 0;
    if (!d->kept || d->kept->bytes < bytes) grow(d, bytes);
    return d->kept->at;
}

void cuda_free_kept(cuda *d) {
    for (cuda_kept *next; d->kept; d->kept = next) {
        next = d->kept->next;
        d->cu->free(d->kept->at);
        free(d->kept);
    }
}
