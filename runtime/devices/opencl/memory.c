/* memory.c — buffers and programs of the device `opencl`.
 *
 * An implementation that takes no SPIR-V but has cl_khr_spir (PoCL 3) gets the module through
 * `llvm-spirv -r`, if that program is installed.
 */
#include "runtime/devices/opencl/opencl.h"

#include "runtime/system/process.h"

#include <stdlib.h>

IR_NORETURN static void give_up(opencl *o, const char *call, cl_int error) {
    const char *kernel = o->kernel ? o->kernel : "";
    rt_throw(o->base.context, IR_ERR_DEVICE, "opencl: %s%s%s%s failed with error %d",
             o->kernel ? "kernel '" : "", kernel, o->kernel ? "': " : "", call, (int)error);
}

void opencl_must(opencl *o, const char *call, cl_int error) {
    if (error != CL_SUCCESS) give_up(o, call, error);
}

/* -------------------------------------------------------------------------------------- buffers */

rt_memory *opencl_allocate(rt_device *d, const char *name, uint64_t bytes, const void *data) {
    opencl *o = (opencl *)d;
    cl_int error;
    rt_memory *m = rt_new_owned(d->context, &o->memories, sizeof *m);
    cl_mem_flags flags = CL_MEM_READ_WRITE | (data ? CL_MEM_COPY_HOST_PTR : 0);
    (void)name;
    m->bytes = bytes;
    m->mem = o->cl.clCreateBuffer(o->context, flags, bytes, (void *)(uintptr_t)data, &error);
    opencl_must(o, "clCreateBuffer", error);
    return m;
}

void opencl_release(rt_device *d, rt_memory *m) {
    rt_disown(&m->owned);
    if (m->mem) ((opencl *)d)->cl.clReleaseMemObject(m->mem);
    free(m);
}

/* ------------------------------------------------------------------------------------- programs */

enum { SPIRV_1_2 = 0x00010200 };

static char *build_log(opencl *o, cl_program p) {
    size_t size = 0;
    o->cl.clGetProgramBuildInfo(p, o->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *text = ir_alloc(&o->arena, size + 1);
    o->cl.clGetProgramBuildInfo(p, o->device, CL_PROGRAM_BUILD_LOG, size, text, NULL);
    return text;
}

static void check_build(opencl *o, cl_program p, cl_int error) {
    if (error == CL_SUCCESS) return;
    rt_throw(o->base.context, IR_ERR_DEVICE, "opencl: clBuildProgram failed with error %d: %s",
             (int)error, build_log(o, p));
}

/* Implementations do not look at this, and crash. */
static void check_pointers(const opencl *o, const ir_module *m) {
    if (m->pointer_bits != o->address_bits)
        rt_throw(o->base.context, IR_ERR_DEVICE,
                 "opencl: '%s' has pointers of %u bits, the device of %u", m->name, m->pointer_bits,
                 (unsigned)o->address_bits);
}

static cl_program create_from_spirv(opencl *o, const uint32_t *words, size_t bytes, cl_int *error) {
    return o->cl.clCreateProgramWithIL(o->context, words, bytes, error);
}

static cl_program create_from_spir(opencl *o, const uint32_t *words, size_t bytes, cl_int *error) {
    rt_bytes bitcode = rt_filter(o->base.context, &o->arena, opencl_find_translator(&o->arena),
                                 (rt_bytes){words, bytes});
    const unsigned char *binary = bitcode.data;
    cl_int status;
    return o->cl.clCreateProgramWithBinary(o->context, 1, &o->device, &bitcode.size, &binary,
                                           &status, error);
}

rt_program *opencl_build(rt_device *d, const ir_module *m) {
    opencl *o = (opencl *)d;
    check_pointers(o, m);
    /* 0: what the module needs, 1.2 or more. */
    cg_spirv_options options = {.version = o->version > SPIRV_1_2 ? 0 : o->version};
    uint32_t *words;
    size_t count;
    cl_int error;
    if (!cg_spirv_write(m, &options, &o->arena, &words, &count))
        ir_throw(&d->context->cx, d->context->cx.status);
    rt_program *p = rt_new_owned(d->context, &o->programs, sizeof *p);
    ir_arena_init(&p->arena, &d->context->cx);
    p->module = m;
    bool spir = o->takes == TAKES_SPIR;
    p->program = (spir ? create_from_spir : create_from_spirv)(o, words, count * 4, &error);
    opencl_must(o, spir ? "clCreateProgramWithBinary" : "clCreateProgramWithIL", error);
    const char *how = spir ? "-x spir -spir-std=1.2" : "";
    check_build(o, p->program, o->cl.clBuildProgram(p->program, 1, &o->device, how, NULL, NULL));
    return p;
}

typedef ir_vec(ir_func *) func_list;

/* The callees of f are appended.  Does f itself wait for other groups of its launch? */
static bool waits(ir_arena *a, const ir_func *f, func_list *callees) {
    foreach_block (b, f)
        foreach_inst (i, b) {
            if (i->op == IR_OP_barrier && i->imm.sync.exec < IR_SCOPE_WORKGROUP) return true;
            if (i->op == IR_OP_call) *ir_push(a, callees) = i->imm.func;
        }
    return false;
}

/* Implementations take such a barrier for one of the group, and results are wrong. */
static void refuse_phases(const opencl *o, rt_program *p, const char *name) {
    ir_map seen = {0};
    func_list left = {0};
    ir_func *kernel = ir_func_find(p->module, name);
    if (kernel) *ir_push(&p->arena, &left) = kernel;
    while (left.n) {
        ir_func *f = left.data[--left.n];
        if (ir_map_get(&seen, (uintptr_t)f)) continue;
        ir_map_set(&p->arena, &seen, (uintptr_t)f, f);
        if (waits(&p->arena, f, &left))
            rt_throw(o->base.context, IR_ERR_DEVICE,
                     "opencl: kernel '%s': work-groups wait for each other, which the device lacks",
                     name);
    }
}

rt_function *opencl_find(rt_device *d, rt_program *p, const char *kernel) {
    opencl *o = (opencl *)d;
    cl_int error;
    for (rt_function *f = p->functions; f; f = f->next)
        if (strcmp(f->name, kernel) == 0) return f;
    rt_function *f = ir_new(&p->arena, rt_function);
    f->name = ir_strdup(&p->arena, kernel);
    f->ir = ir_func_find(p->module, kernel);
    refuse_phases(o, p, kernel);
    o->kernel = kernel;
    f->kernel = o->cl.clCreateKernel(p->program, kernel, &error);
    opencl_must(o, "clCreateKernel", error);
    o->kernel = NULL;
    f->next = p->functions;
    return p->functions = f;
}

void opencl_discard(rt_device *d, rt_program *p) {
    opencl *o = (opencl *)d;
    rt_disown(&p->owned);
    for (rt_function *f = p->functions; f; f = f->next) o->cl.clReleaseKernel(f->kernel);
    if (p->program) o->cl.clReleaseProgram(p->program);
    ir_arena_free(&p->arena);
    free(p);
}
