/* variants.c — the kernels of a program made once more, for launches of which more or less is known
 * than usual.
 *
 * Usual code computes ids in 32 bits, for ranges that are whole groups, and for arguments that may
 * overlap.  Launches with ids beyond that, launches of other ranges (launch.c), and launches whose
 * groups are larger than the registers of usual code leave room for, have modules of their own.  So
 * have launches of many work-items: if their arguments do not overlap, if they are aligned, and if
 * enough threads are left when each runs several of them.  For fewer, the driver's compiler would
 * cost more than the code gains.  A module is made when the first launch comes that needs it.
 */
#include "runtime/devices/cuda/cuda.h"

/* Groups may go beyond the end of a range. */
bool cuda_has_wide_ids(const spvf_range *r) {
    const uint64_t most = UINT32_MAX - CUDA_MOST_THREADS * CUDA_ITEMS;
    for (unsigned k = 0; k < r->dims; k++)
        if (r->offset[k] > most || r->global[k] > most - r->offset[k]) return true;
    return false;
}

/* ------------------------------------------------------------------------------------ arguments */

/* Is what they lead to known, and different memory?  Parts of one memory count as the same. */
static bool are_apart(const cuda *d, const rt_launch *l) {
    enum { MOST = 16 };
    const rt_memory *seen[MOST];
    unsigned n = 0;
    if (d->without & RT_FACT(APART)) return false;
    for (size_t k = 0; k < l->count; k++) {
        const rt_arg *a = &l->args[k];
        if (a->kind == RT_ARG_ADDRESS && a->address) return false;
        if (a->kind != RT_ARG_MEMORY || !a->memory) continue;
        for (unsigned m = 0; m < n; m++)
            if (seen[m] == a->memory) return false;
        if (n == MOST) return false;
        seen[n++] = a->memory;
    }
    return true;
}

static bool are_aligned(const rt_launch *l) {
    uint64_t bits = 0;
    for (size_t k = 0; k < l->count; k++) {
        const rt_arg *a = &l->args[k];
        if (a->kind == RT_ARG_ADDRESS) bits |= (uintptr_t)a->address;
        if (a->kind == RT_ARG_MEMORY && a->memory) bits |= a->memory->at + a->offset;
    }
    return bits % CG_PTX_ALIGN == 0;
}

/* ------------------------------------------------------------------------------------- programs */

static rt_program *variant_of(cuda *d, rt_program *p, unsigned facts) {
    if (!facts) return p;
    if (!p->variant[facts]) {
        p->variant[facts] = cuda_build(&d->base, p->module);
        p->variant[facts]->facts = facts;
        p->variant[facts]->usual = p;
        p->variant[facts]->owner = p->owner;
        p->variant[facts]->values = p->values;
    }
    return p->variant[facts];
}

rt_function *cuda_find_variant(cuda *d, const rt_function *usual, unsigned facts) {
    rt_program *p = variant_of(d, usual->program, facts);
    return cuda_find(&d->base, p, usual->name);
}

/* ---------------------------------------------------------------------------------- what suits */

static uint64_t threads_of(const cuda_grid *g) {
    uint64_t n = 1;
    for (unsigned k = 0; k < 3; k++)
        n *= (g->global[k] + g->reach[k] - 1) / g->reach[k] * g->local[k];
    return n;
}

bool cuda_is_large(const cuda *d, const cuda_grid *g) {
    return threads_of(g) >= (uint64_t)CUDA_LARGE * d->processors;
}

bool cuda_allows_group(const rt_function *f, const rt_launch *l) {
    uint64_t threads = 1;
    for (unsigned k = 0; k < l->range->dims && l->range->local[0]; k++)
        threads *= l->range->local[k];
    return threads <= f->threads;
}

static bool runs_several(const rt_function *f) {
    return f->items[0] * f->items[1] * f->items[2] > 1;
}

/* ----------------------------------------------------------------------------------- the choice */

/* The code for these facts, and the range as blocks of it.  Each variant has registers of its own,
 * so its blocks may have another size than those of usual code; where they are not the whole range,
 * it is made for parts.  NULL: it does not suit, and code for fewer facts does. */
static rt_function *fit(cuda *d, const rt_launch *l, unsigned facts, cuda_grid *g) {
    bool optional = facts & (CUDA_APART | CUDA_ALIGNED | CUDA_COARSE);
    rt_launch with = *l;
    for (;; facts |= CUDA_PARTS) {
        rt_function *f = with.function = cuda_find_variant(d, l->function, facts);
        if (!f || (optional && !cuda_allows_group(f, l))) return NULL;
        if (facts & CUDA_COARSE && !runs_several(f)) return NULL;
        bool whole = cuda_shape(d, &with, g);
        if (facts & CUDA_COARSE && !cuda_is_large(d, g)) return NULL;
        if (whole || facts & CUDA_PARTS) return f;
    }
}

static unsigned find_facts(const cuda *d, const rt_launch *l) {
    return (are_apart(d, l) ? CUDA_APART : 0) | (are_aligned(l) ? CUDA_ALIGNED : 0);
}

/* The arguments of the kernel are the same anyway. */
static bool have_same_parameters(const rt_function *a, const rt_function *b) {
    return a->parts == b->parts && a->hidden.offset == b->hidden.offset &&
           a->hidden.work_dim == b->hidden.work_dim && a->hidden.variables == b->hidden.variables;
}

/* Usual code, which begins early, for those phases of a large launch that are small themselves.
 * NULL: the launch has usual code already or no phases, the two differ in parameters or in where
 * phases keep values, or its registers leave no room for the groups. */
static rt_function *find_for_few(cuda *d, const rt_launch *l, cuda_choice *to) {
    rt_function *usual = l->function;
    if (!to->function || to->function == usual || !have_same_parameters(to->function, usual))
        return NULL;
    if (!usual->phases.n || usual->parts != PASS_WHOLE) return NULL;
    if (usual->phases.item || usual->phases.group || !cuda_allows_group(usual, l)) return NULL;
    return cuda_shape(d, l, &to->few.grid) ? usual : NULL;
}

/* The facts about arguments are only looked at if the launch is large. */
static void choose(cuda *d, const rt_launch *l, cuda_choice *to) {
    unsigned facts = cuda_has_wide_ids(l->range) ? CUDA_WIDE : 0;
    cuda_grid *g = &to->grid;
    rt_function *f = cuda_all_together(d, l, to);
    rt_launch with = *l;
    to->is_large = false;
    to->few.function = NULL;
    to->function = f;
    if (f) return;
    if (!cuda_allows_group(l->function, l)) {
        facts |= CUDA_FULL;
        with.function = cuda_find_variant(d, l->function, CUDA_FULL);
    }
    if (!cuda_shape(d, &with, g)) facts |= CUDA_PARTS;
    to->is_large = cuda_is_large(d, g);
    to->known = to->is_large ? find_facts(d, l) : 0;
    if (!facts && !to->is_large) f = l->function;
    if (to->is_large && !l->function->observes_groups)
        f = fit(d, l, facts | to->known | CUDA_COARSE, g);
    if (!f && to->known) f = fit(d, l, facts | to->known, g);
    to->function = f ? f : fit(d, l, facts, g);
    to->few.function = find_for_few(d, l, to);
}

static bool is_like(const cuda *d, const cuda_choice *last, const rt_launch *l) {
    const spvf_range *a = &last->range, *b = l->range;
    if (!last->function || a->dims != b->dims || last->uneven != l->uneven) return false;
    for (unsigned k = 0; k < b->dims; k++)
        if (a->global[k] != b->global[k] || a->local[k] != b->local[k] ||
            a->offset[k] != b->offset[k])
            return false;
    if (l->function->waits && last->local != cuda_local_bytes(l)) return false;
    return !last->is_large || last->known == find_facts(d, l);
}

const cuda_choice *cuda_choose(cuda *d, const rt_launch *l) {
    cuda_choice *last = &l->function->last;
    if (is_like(d, last, l)) return last;
    last->function = NULL; /* choosing may throw */
    choose(d, l, last);
    last->uneven = l->uneven;
    last->local = cuda_local_bytes(l);
    last->range = *l->range;
    if (last->way) cuda_remark_way(d, l->function, last);
    return last;
}

bool cuda_phases(rt_device *device, const rt_launch *l, rt_phase_way *out) {
    cuda *d = (cuda *)device;
    if (!l->function->phases.n) return false;
    cuda_enter(d);
    d->kernel = l->function->name;
    const cuda_choice *c = cuda_choose(d, l);
    d->kernel = NULL;
    return cuda_describe_way(l->function, c, out);
}

void cuda_discard_variants(rt_device *d, rt_program *p) {
    if (p->usual) p->usual->variant[p->facts] = NULL;
    for (unsigned n = 0; n < CUDA_VARIANTS; n++)
        if (p->variant[n]) cuda_discard(d, p->variant[n]);
}
