/* ranges.c — ranges as grids of blocks of threads.
 *
 * A grid has blocks of one size, and at most 65535 of them along y and z.  Where a range is no such
 * grid, the kernel is made for parts of ranges (pass_make_parts): if it does not observe its
 * groups, those go beyond the end of the range, otherwise there is a launch for each of the up to
 * eight boxes whose groups are equally large; either is cut where it has too many groups.
 *
 * Where a launch leaves the size of groups to the device, they have the usual number of threads:
 * the first of a few with which the most threads of the kernel are there at once, as the driver
 * says.  They are made of divisors of the global size, along x first, unless these leave most
 * threads unused and the kernel does not observe its groups.  So are those of a large launch that
 * asks for small groups which the kernel does not observe: a million items in groups of 64
 * mostly wait for their blocks to be started.
 */
#include "runtime/devices/cuda/cuda.h"

enum { MOST_DEEP = 64 /* threads along z */, WARP = 32, FEW_THREADS = 64, SMALL_GROUP = 128 };

static const uint64_t most_blocks[3] = {INT32_MAX, 65535, 65535};

IR_NORETURN static void refuse(cuda *d, const char *why) {
    rt_throw(d->base.context, IR_ERR_DEVICE, "cuda: kernel '%s': %s", d->kernel, why);
}

/* --------------------------------------------------------------------------------- local sizes */

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

/* Divisors of the global size; their product, which is at most `most`, is returned. */
static uint64_t divide(const uint64_t global[3], uint64_t most, uint64_t local[3]) {
    uint64_t threads = 1;
    for (unsigned k = 0; k < 3; k++) {
        uint64_t here = k == 2 && most > MOST_DEEP ? MOST_DEEP : most;
        local[k] = largest_divisor(global[k], here);
        most /= local[k];
        threads *= local[k];
    }
    return threads;
}

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Whole warps along x, and what is left of the threads along y. */
static void cover(const uint64_t global[3], uint64_t most, uint64_t local[3]) {
    local[0] = smaller(most, (global[0] + WARP - 1) / WARP * WARP);
    local[1] = smaller(most / local[0], global[1]);
    local[2] = smaller(smaller(most / local[0] / local[1], global[2]), MOST_DEEP);
}

static void choose_local(cuda *d, rt_function *f, cuda_grid *g) {
    uint64_t most = usual_threads(d, f), items = g->global[0] * g->global[1] * g->global[2];
    uint64_t threads = divide(g->global, most, g->local);
    bool few = threads < smaller(FEW_THREADS, most) && threads < items;
    if (few && !f->observes_groups) cover(g->global, most, g->local);
}

/* ---------------------------------------------------------------------------------------- grids */

static bool is_whole(cuda_grid *g) {
    bool whole = true;
    for (unsigned k = 0; k < 3; k++) {
        g->blocks[k] = g->global[k] / g->reach[k];
        whole &= g->blocks[k] * g->reach[k] == g->global[k] && g->blocks[k] <= most_blocks[k];
    }
    return whole;
}

static void check_sizes(cuda *d, const rt_launch *l, const cuda_grid *g, bool open) {
    uint64_t threads = 1;
    for (unsigned k = 0; k < 3; k++) {
        if (g->global[k] % g->local[k] && !open && !l->uneven)
            refuse(d, "the global size is no multiple of the local size");
        threads = g->local[k] > CUDA_MOST_THREADS ? UINT64_MAX : threads * g->local[k];
        if (g->local[k] > (k == 2 ? MOST_DEEP : CUDA_MOST_THREADS) ||
            threads > l->function->threads)
            refuse(d, "a work-group has more work-items than the kernel's registers allow");
    }
}

/* Does a large launch ask for small groups, which its kernel does not observe? */
static bool has_small_groups(const cuda *d, const rt_function *f, const cuda_grid *g) {
    const uint64_t *local = g->local, *global = g->global;
    return !f->local[0] && !f->observes_groups && local[0] * local[1] * local[2] < SMALL_GROUP &&
           global[0] * global[1] * global[2] / CUDA_LARGE >= d->processors;
}

bool cuda_shape(cuda *d, const rt_launch *l, cuda_grid *g) {
    const spvf_range *r = l->range;
    const rt_function *f = l->function;
    bool open = !f->local[0] && !r->local[0];
    for (unsigned k = 0; k < 3; k++) {
        uint64_t size = f->local[k] ? f->local[k] : k < r->dims ? r->local[k] : 1;
        g->global[k] = k < r->dims ? r->global[k] : 1;
        g->offset[k] = k < r->dims ? r->offset[k] : 0;
        g->local[k] = size ? size : 1;
    }
    if (!open) check_sizes(d, l, g, false);
    if (open || has_small_groups(d, f, g)) choose_local(d, l->function, g);
    for (unsigned k = 0; k < 3; k++) g->reach[k] = g->local[k] * f->items[k];
    if (open) check_sizes(d, l, g, true);
    return is_whole(g);
}

/* ---------------------------------------------------------------------------------------- parts */

typedef struct {
    void (*each)(void *user, const cuda_part *part);
    void *user;
} cutting;

/* Cuts blocks along k and what comes after it. */
static void cut(const cutting *c, cuda_part part, unsigned k) {
    if (k == 3) {
        c->each(c->user, &part);
        return;
    }
    for (uint64_t left = part.blocks[k]; left; left -= part.blocks[k]) {
        part.blocks[k] = smaller(left, most_blocks[k]);
        cut(c, part, k + 1);
        part.first[k] += part.blocks[k];
    }
}

static void each_guarded(const cutting *c, const cuda_grid *g) {
    cuda_part part = {.first = {0}};
    for (unsigned k = 0; k < 3; k++) {
        part.threads[k] = (unsigned)g->local[k];
        part.blocks[k] = (g->global[k] + g->reach[k] - 1) / g->reach[k];
    }
    cut(c, part, 0);
}

/* Bit k of `corner`: the box of the smaller groups along k. */
static void each_box(const cutting *c, const cuda_grid *g, unsigned corner) {
    cuda_part part = {.first = {0}};
    for (unsigned k = 0; k < 3; k++) {
        uint64_t whole = g->global[k] / g->local[k], rest = g->global[k] % g->local[k];
        bool end = corner >> k & 1;
        part.first[k] = end ? whole : 0;
        part.blocks[k] = end ? rest != 0 : whole;
        part.threads[k] = (unsigned)(end ? rest : g->local[k]);
    }
    cut(c, part, 0);
}

void cuda_each_part(const cuda_grid *g, bool guarded,
                    void (*each)(void *user, const cuda_part *part), void *user) {
    const cutting c = {each, user};
    if (guarded) each_guarded(&c, g);
    for (unsigned corner = 0; !guarded && corner < 8; corner++) each_box(&c, g, corner);
}
