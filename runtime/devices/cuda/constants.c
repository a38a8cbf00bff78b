/* constants.c — the kernels of a program made once more, each for values of its marked arguments.
 *
 * Launches that give the arguments which are marked as specialized the same values have a module of
 * their own, in which these are constants, and variants of it (variants.c).  Up to RT_MAX_CONSTANTS
 * values have one; launches with further values run the code for any.  The parameters remain, so
 * launches are the same.
 */
#include "runtime/devices/cuda/cuda.h"

static bool are_equal(const rt_constants *a, const rt_constants *b) {
    bool equal = a->n == b->n;
    for (uint32_t n = 0; equal && n < a->n; n++)
        equal = a->list[n].param == b->list[n].param && a->list[n].size == b->list[n].size &&
                memcmp(a->list[n].bytes, b->list[n].bytes, a->list[n].size) == 0;
    return equal;
}

static rt_constants copy(ir_arena *a, const rt_constants *from) {
    rt_constant *list = ir_new_array(a, rt_constant, from->n);
    for (uint32_t n = 0; n < from->n; n++) {
        list[n] = from->list[n];
        void *bytes = ir_new_array(a, unsigned char, list[n].size);
        list[n].bytes = memcpy(bytes, from->list[n].bytes, list[n].size);
    }
    return (rt_constants){list, from->n};
}

static rt_program *new_program(cuda *d, rt_function *f, const rt_constants *values) {
    const rt_constants kept = copy(&f->program->arena, values);
    rt_program *p = cuda_build(&d->base, f->program->module);
    p->owner = f;
    p->values = kept;
    f->constant[f->constants++] = p;
    return p;
}

static rt_program *find(cuda *d, rt_function *f, const rt_constants *values) {
    for (unsigned n = 0; n < f->constants; n++)
        if (are_equal(&f->constant[n]->values, values)) return f->constant[n];
    if (f->constants < RT_MAX_CONSTANTS) return new_program(d, f, values);
    if (!f->told) rt_tell_of_constants(&d->base.context->cx, f->name);
    f->told = true;
    return NULL;
}

rt_function *cuda_with_constants(cuda *d, const rt_launch *l, ir_arena *scratch) {
    rt_function *f = l->function;
    if (!f->ir || d->without & RT_FACT(SPECIALIZED)) return f;
    const rt_constants values = rt_marked_values(f->ir, l, scratch);
    rt_program *p = values.n ? find(d, f, &values) : NULL;
    return p ? cuda_find(&d->base, p, f->name) : f;
}

static void forget(rt_function *f, const rt_program *p) {
    unsigned kept = 0;
    for (unsigned n = 0; n < f->constants; n++)
        if (f->constant[n] != p) f->constant[kept++] = f->constant[n];
    f->constants = kept;
}

void cuda_discard_constants(rt_device *d, rt_program *p) {
    if (p->owner) forget(p->owner, p);
    for (rt_function *f = p->functions; f; f = f->next)
        while (f->constants) cuda_discard(d, f->constant[0]);
}
