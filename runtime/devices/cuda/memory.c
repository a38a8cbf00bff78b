/* memory.c — memory and programs of the device `cuda`.
 *
 * The kernels of a program become one module when one of them is first asked for (cubin.c).
 */
#include "runtime/devices/cuda/cuda.h"
#include "runtime/devices/printf.h"

#include <stdlib.h>

/* --------------------------------------------------------------------------------------- memory */

rt_memory *cuda_allocate(rt_device *device, const char *name, uint64_t bytes, const void *data) {
    cuda *d = (cuda *)device;
    rt_memory *m = rt_new_owned(device->context, &d->memories, sizeof *m);
    (void)name;
    cuda_enter(d);
    m->bytes = bytes;
    cuda_must(d, "cuMemAlloc", d->cu->allocate(&m->at, bytes ? bytes : 1));
    if (!data || !bytes) return m;
    void *staged = cuda_stage_contents(d, bytes);
    const void *from = staged ? memcpy(staged, data, bytes) : data;
    cuda_must(d, "cuMemcpyHtoDAsync", d->cu->write(m->at, from, bytes, d->stream));
    if (!staged) cuda_must(d, "cuStreamSynchronize", d->cu->wait(d->stream));
    return m;
}

void cuda_release(rt_device *device, rt_memory *m) {
    cuda *d = (cuda *)device;
    rt_disown(&m->owned);
    d->cu->set_current(d->context);
    if (m->at) d->cu->free(m->at);
    free(m);
}

/* ------------------------------------------------------------------------------------- programs */

rt_program *cuda_build(rt_device *device, const ir_module *m) {
    cuda *d = (cuda *)device;
    rt_program *p = rt_new_owned(device->context, &d->programs, sizeof *p);
    ir_arena_init(&p->arena, &device->context->cx);
    p->module = m;
    return p;
}

static unsigned function_attribute(cuda *d, cu_function f, int which) {
    int value = 0;
    cuda_must(d, "cuFuncGetAttribute", d->cu->function_attribute(&value, which, f));
    return (unsigned)value;
}

static bool has_marks(const ir_func *f) {
    bool marks = false;
    for (uint32_t n = 0; n < f->nparams; n++)
        marks |= (f->param[n].attrs & IR_PARAM_SPECIALIZED) != 0;
    return marks;
}

/* Code for arguments that are apart reads what it does not write as constant memory, which gains
 * more for large launches, and excludes beginning early. */
static bool is_dependent(const cuda *d, const rt_program *p) {
    return d->can_begin_early && !(p->facts & (CUDA_APART | CUDA_TOGETHER));
}

static void add_function(cuda *d, rt_program *p, const rt_ptx_kernel *k) {
    rt_function *f = ir_new(&p->arena, rt_function);
    const ir_func *ir = ir_func_find(p->module, k->name);
    *f = (rt_function){.name = k->name,
                       .ir = !p->owner && has_marks(ir) ? ir : NULL,
                       .waits = k->waits,
                       .resident = k->resident,
                       .phases = k->phases,
                       .parts = k->parts,
                       .prints = k->prints,
                       .hidden = k->hidden,
                       .observes_groups = k->observes_groups,
                       .dependent = is_dependent(d, p),
                       .program = p,
                       .next = p->functions};
    memcpy(f->local, k->local, sizeof f->local);
    for (unsigned n = 0; n < 3; n++) f->items[n] = k->coarsened[n] ? k->coarsened[n] : 1;
    cuda_must(d, "cuModuleGetFunction", d->cu->function(&f->function, p->loaded, k->entry));
    f->threads = function_attribute(d, f->function, CU_FUNCTION_THREADS);
    f->shared = function_attribute(d, f->function, CU_FUNCTION_SHARED);
    p->functions = f;
}

/* Has it a kernel whose threads run several items? */
static bool is_coarse(const rt_ptx *ptx) {
    for (uint32_t n = 0; n < ptx->n; n++)
        for (unsigned k = 0; k < 3; k++)
            if (ptx->kernel[n].coarsened[k]) return true;
    return false;
}

static void compile(cuda *d, rt_program *p, const rt_ptx_options *o) {
    const uint64_t start = rt_now_ns();
    cuda_text text = cuda_find_text(d, p, o);
    const rt_ptx *ptx = &text.ptx;
    p->functions = NULL; /* of a try that has failed */
    p->prints = ptx->prints;
    p->same = p->facts & CUDA_COARSE && !is_coarse(ptx);
    if (!p->same) {
        cuda_enter(d);
        if (ptx->n && !p->loaded) p->loaded = cuda_load(d, p, o, &text);
        for (uint32_t n = 0; n < ptx->n; n++) add_function(d, p, &ptx->kernel[n]);
        d->base.code.variants += ptx->n;
    }
    p->compiled = true;
    d->base.code.compile_ns += rt_now_ns() - start;
}

static rt_function *look_up(const rt_program *p, const char *kernel) {
    for (rt_function *f = p->functions; f; f = f->next)
        if (strcmp(f->name, kernel) == 0) return f;
    return NULL;
}

rt_function *cuda_find(rt_device *device, rt_program *p, const char *kernel) {
    cuda *d = (cuda *)device;
    const rt_ptx_options options = {
        .code = {.sm = d->sm,
                 .offset = true,
                 .wide = p->facts & CUDA_WIDE,
                 .disjoint = p->facts & CUDA_APART,
                 .aligned = p->facts & CUDA_ALIGNED,
                 .together = p->facts & CUDA_TOGETHER,
                 .dependent = is_dependent(d, p),
                 .coarsen = p->facts & CUDA_COARSE ? CUDA_ITEMS : 0,
                 .threads = p->facts & CUDA_FULL ? CUDA_MOST_THREADS : 0},
        .only = p->owner ? p->owner->name : NULL,
        .constants = p->values,
        .parts = p->facts & CUDA_PARTS,
        .print = rt_string_limit};
    if (!p->compiled) compile(d, p, &options);
    if (p->same) return NULL;
    rt_function *f = look_up(p, kernel);
    if (!f && p->facts & CUDA_TOGETHER) return NULL;
    if (!f) rt_refuse_ptx(device->context, p->module, kernel, &options, &p->arena);
    return f;
}

void cuda_discard(rt_device *device, rt_program *p) {
    cuda *d = (cuda *)device;
    rt_disown(&p->owned);
    cuda_discard_variants(device, p);
    cuda_discard_constants(device, p);
    d->cu->set_current(d->context);
    if (p->loaded) d->cu->unload(p->loaded);
    ir_arena_free(&p->arena);
    free(p);
}
