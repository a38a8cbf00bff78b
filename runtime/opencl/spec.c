/* spec.c — specialization constants of programs from SPIR-V.  The module is read when the first one
 * is set, to know which there are; values that are never set are left to the module. */
#include "runtime/opencl/build.h"

#include <stdlib.h>

typedef struct {
    rt_build build;
    cl_program program;
} spec_query;

static void find_specs(void *arg) {
    spec_query *q = arg;
    cl_program p = q->program;
    const ocl_code code = {.il = p->il, .il_size = p->il_size};
    spvf_module *m = ocl_load(&q->build, "program", &code);
    size_t n = spvf_module_spec_count(m);
    p->specs = calloc(n + 1, sizeof *p->specs);
    if (p->specs) p->spec_count = n;
    for (size_t k = 0; k < p->spec_count; k++)
        spvf_module_spec(m, k, &p->specs[k].value, &p->specs[k].bits);
    spvf_module_destroy(m);
    if (!p->specs) ir_throw(&q->build.context->cx, IR_ERR_MEMORY);
}

/* Reads the list of constants once; the lock of the program is held.  A module that cannot be read
 * has no constants; building it reports the error. */
static cl_int load_specs(cl_program p) {
    spec_query q = {.program = p};
    char *log;
    if (p->specs) return CL_SUCCESS;
    if (!rt_build_begin(&q.build)) return CL_OUT_OF_HOST_MEMORY;
    cl_int status = ocl_step(&q.build, find_specs, &q, CL_INVALID_SPEC_ID);
    rt_build_end(&q.build, false, &log);
    free(log);
    return status;
}

static cl_int set_with_lock(cl_program p, cl_uint id, size_t size, const void *value) {
    cl_int status = load_specs(p);
    if (status) return status;
    status = CL_INVALID_SPEC_ID;
    for (size_t k = 0; k < p->spec_count; k++) {
        ocl_spec *s = &p->specs[k];
        if (s->value.id != id) continue;
        if (size != (s->bits + 7) / 8) return CL_INVALID_VALUE;
        s->value.value = 0;
        memcpy(&s->value.value, value, size);
        if (s->bits == 1) s->value.value = s->value.value != 0;
        s->set = true;
        status = CL_SUCCESS;
    }
    return status;
}

cl_int CL_API_CALL ocl_set_spec(cl_program p, cl_uint id, size_t size, const void *value) {
    if (!ocl_is(p, OCL_PROGRAM) || p->origin != OCL_FROM_IL) return CL_INVALID_PROGRAM;
    if (!value) return CL_INVALID_VALUE;
    rt_lock_take(&p->lock);
    cl_int result = set_with_lock(p, id, size, value);
    rt_lock_release(&p->lock);
    return result;
}

size_t ocl_list_specs(const struct _cl_program *p, spvf_spec_value *to) {
    size_t n = 0;
    for (size_t k = 0; k < p->spec_count; k++)
        if (p->specs[k].set) to[n++] = p->specs[k].value;
    return n;
}
