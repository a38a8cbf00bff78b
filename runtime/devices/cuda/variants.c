/* variants.c — the kernels of a program made once more, for launches of which more or less is known
 * than usual.
 *
 * Usual code computes ids in 32 bits, for ranges that are whole groups.  Launches with ids beyond
 * that, and launches of other ranges (launch.c), have modules of their own, which are made when the
 * first of them comes.
 */
#include "runtime/devices/cuda/cuda.h"

/* Groups may go beyond the end of a range. */
static bool has_wide_ids(const spvf_range *r) {
    const uint64_t most = UINT32_MAX - CUDA_MOST_THREADS;
    for (unsigned k = 0; k < r->dims; k++)
        if (r->offset[k] > most || r->global[k] > most - r->offset[k]) return true;
    return false;
}

static rt_program *variant_of(cuda *d, rt_program *p, unsigned facts) {
    if (!facts) return p;
    if (!p->variant[facts]) {
        p->variant[facts] = cuda_build(&d->base, p->module);
        p->variant[facts]->facts = facts;
        p->variant[facts]->usual = p;
    }
    return p->variant[facts];
}

rt_function *cuda_variant(cuda *d, rt_function *f, const rt_launch *l, bool parts) {
    unsigned facts = (has_wide_ids(l->range) ? CUDA_WIDE : 0) | (parts ? CUDA_PARTS : 0);
    rt_program *p = variant_of(d, f->program, facts);
    return p == f->program ? f : cuda_find(&d->base, p, f->name);
}

void cuda_discard_variants(rt_device *d, rt_program *p) {
    if (p->usual) p->usual->variant[p->facts] = NULL;
    for (unsigned n = 0; n < CUDA_VARIANTS; n++)
        if (p->variant[n]) cuda_discard(d, p->variant[n]);
}
