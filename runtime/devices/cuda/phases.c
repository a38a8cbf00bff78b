/* phases.c — kernels in which all work-groups wait for each other (passes/workgroup/phases.c).
 *
 * There are two ways.  The kernel is cut where groups wait and launched once for each phase, since
 * a launch accesses memory only when the one before it in the stream has ended; values that later
 * phases need are in memory of the launch.  Or all groups run at once, in one cooperative launch,
 * and wait at barriers of the grid (codegen/ptx/atomic.c); then each item keeps its values in
 * registers.
 *
 * Where the processors have no room for all groups, as many as there is room for run at once, and
 * take turns with those of the range (passes/workgroup/resident.c), with values in memory.  That is
 * done only if the option `phases=together` asks for it.
 *
 * All groups can run at once if the processors have room for them.  A barrier costs less than the
 * gap between two launches, but the more groups there are the more it costs, and a cooperative
 * launch costs as much as two others.  Launches that begin early (replays.c) leave a gap as short
 * as a barrier.  So by default there is one launch where launches do not begin early, for
 * LEAST_PHASES or more, up to MOST_HERE groups for each processor, and too few items to keep these
 * busy (tests/bench/phases.c measures it).  The option `phases=together` asks for it wherever there
 * is room.  Kernels that print are launched for each phase: they could not be launched again if the
 * driver refused.
 *
 * All commands go into one stream, so no two launches use the memory at once.  It grows by a block
 * that has room for what is needed; older blocks stay, because graphs of the driver know them.
 */
#include "runtime/devices/cuda/cuda.h"

#include <stdlib.h>

enum {
    LEAST_PHASES = 4, /* by default */
    MOST_HERE = 2,    /* groups of a processor, by default */
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

/* Why the kernel cannot run in one launch, whatever its groups are; or CUDA_IN_ONE. */
static cuda_way way_of(const cuda *d, const rt_function *f) {
    const uint64_t least = d->waiting == CUDA_ALL_TOGETHER ? 1 : LEAST_PHASES;
    return !f->phases.n                      ? CUDA_NO_PHASES
           : d->waiting == CUDA_BY_LAUNCHES  ? CUDA_BY_OPTION
           : !d->can_wait                    ? CUDA_BY_DEVICE
           : f->prints                       ? CUDA_PRINTS
           : f->never_together               ? CUDA_REFUSED
           : f->phases.n < least             ? CUDA_FEW_PHASES
           : d->can_begin_early && least > 1 ? CUDA_BEGINS_EARLY
                                             : CUDA_IN_ONE;
}

/* The code for these facts, with its blocks, and how many of them there is room for; NULL: there is
 * none, or no room. */
static rt_function *find_code(cuda *d, const rt_launch *l, unsigned facts, cuda_choice *to) {
    rt_launch with = *l;
    cuda_grid *g = &to->grid;
    if (cuda_has_wide_ids(l->range)) facts |= CUDA_WIDE;
    rt_function *f = with.function = cuda_find_variant(d, l->function, facts | CUDA_TOGETHER);
    to->way = CUDA_NO_CODE;
    if (!f || threads_of(g) > f->threads || !cuda_shape(d, &with, g)) return NULL;
    to->room = (uint64_t)room_of(d, f, threads_of(g), f->hidden.variables + cuda_local_bytes(l)) *
               d->processors;
    to->way = CUDA_NO_ROOM;
    return to->room ? f : NULL;
}

rt_function *cuda_all_together(cuda *d, const rt_launch *l, cuda_choice *to) {
    const bool forced = d->waiting == CUDA_ALL_TOGETHER;
    const uint64_t most = (uint64_t)(forced ? MOST_BLOCKS : MOST_HERE) * d->processors;
    cuda_grid *g = &to->grid;
    rt_function *f = NULL;
    to->groups = to->room = to->resident = 0;
    to->way = way_of(d, l->function);
    if (to->way != CUDA_IN_ONE) return NULL;
    to->way = CUDA_NO_CODE;
    if (!cuda_allows_group(l->function, l)) return NULL;
    to->way = CUDA_NO_GRID;
    if (!cuda_shape(d, l, g)) return NULL;
    to->way = CUDA_MANY_GROUPS;
    to->groups = blocks_of(g);
    if (blocks_of(g) <= most && (forced || !cuda_is_large(d, g))) f = find_code(d, l, 0, to);
    if (f && blocks_of(g) <= to->room) {
        to->way = CUDA_IN_ONE;
        return f;
    }
    if (!forced || !cuda_shape(d, l, g) || blocks_of(g) > INT32_MAX) return NULL;
    f = find_code(d, l, CUDA_PARTS, to);
    to->resident = f ? to->room : 0;
    if (f) to->way = CUDA_IN_TURNS;
    return f;
}

/* -------------------------------------------------------------------------------- what is told */

/* As text for printf, which gets the number of groups and for how many there is room. */
static const struct {
    const char *rule, *why;
} ways[CUDA_WAYS] = {
    [CUDA_IN_ONE] = {"phase.together", "%llu groups, and there is room for %llu"},
    [CUDA_IN_TURNS] = {"phase.turns", "%llu groups, in turns, as there is room for %llu"},
    [CUDA_BY_OPTION] = {"phase.option", "the device was opened with phases=launches"},
    [CUDA_BY_DEVICE] = {"phase.device",
                        "the device or its driver has no launches whose groups wait"},
    [CUDA_FEW_PHASES] = {"phase.few", "that costs less for so few"},
    [CUDA_BEGINS_EARLY] = {"phase.early", "that costs less, as launches of the device begin early"},
    [CUDA_MANY_GROUPS] = {"phase.groups", "that costs less for as many as %llu groups"},
    [CUDA_NO_ROOM] = {"phase.room", "%llu groups, and there is room for %llu at once"},
    [CUDA_NO_GRID] = {"phase.range", "the range is no grid of equal groups"},
    [CUDA_PRINTS] = {"phase.print", "the kernel prints"},
    [CUDA_NO_CODE] = {"phase.code", "there is no code of one launch for these groups"},
    [CUDA_REFUSED] = {"phase.refused", "the driver has refused one launch"}};

bool cuda_describe_way(const rt_function *f, const cuda_choice *c, rt_phase_way *out) {
    if (c->way == CUDA_NO_PHASES) return false;
    *out = (rt_phase_way){.kernel = f->name,
                          .phases = f->phases.n,
                          .together = c->way < CUDA_BY_OPTION,
                          .rule = ways[c->way].rule};
    int n = snprintf(out->text, sizeof out->text,
                     "%llu phases are %s: ", (unsigned long long)out->phases,
                     out->together ? "one launch" : "a launch each");
    snprintf(out->text + n, sizeof out->text - (size_t)n, ways[c->way].why,
             (unsigned long long)c->groups, (unsigned long long)c->room);
    return true;
}

void cuda_remark_way(cuda *d, rt_function *f, const cuda_choice *c) {
    ir_ctx *cx = &d->base.context->cx;
    const unsigned bit = 1U << c->way;
    rt_phase_way way;
    if (!cx->inspection || !cx->inspection->remarks || f->told_ways & bit) return;
    if (!cuda_describe_way(f, c, &way)) return;
    f->told_ways |= bit;
    ir_report(cx, (ir_message){.severity = IR_NOTE}, "@%s: %s [%s]", f->name, way.text, way.rule);
}

static void trace_way(const rt_phase_way *way) {
    rt_trace t;
    rt_trace_open(&t, RT_TRACE_INSTANT, 0, "launch", way->together ? "in one launch" : "in phases");
    rt_trace_text(&t, "spvfuse.kernel.name", way->kernel);
    rt_trace_number(&t, "spvfuse.phase.count", way->phases);
    rt_trace_text(&t, "spvfuse.phase.rule", way->rule);
    rt_trace_text(&t, "spvfuse.phase.text", way->text);
    rt_trace_write(&t);
}

void cuda_tell_way(cuda *d, const rt_function *f, const cuda_choice *c) {
    rt_phase_way way;
    const bool traced = rt_is_traced();
    if ((!traced && !d->base.on_phases) || !cuda_describe_way(f, c, &way)) return;
    if (traced) trace_way(&way);
    if (d->base.on_phases) d->base.on_phases(d->base.on_phases_user, &way);
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
