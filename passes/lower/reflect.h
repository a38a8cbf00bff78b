/* reflect.h — what code asks about the device that it runs on, and functions that are given a body
 * when a module is loaded (reflect.c, define.c).
 */
#ifndef SPVFUSE_REFLECT_H
#define SPVFUSE_REFLECT_H

#include "ir/ir.h"

/* A device, as code can ask about it. */
typedef struct {
    bool known; /* false: nothing is answered */
    bool is_gpu;
    bool forward_progress;      /* of each work-item, without others */
    unsigned vendor;            /* as PCI numbers it, read as decimal digits; 0: not known */
    unsigned arch;              /* of a GPU of NVIDIA: 86 for sm_86; 0: another */
    unsigned subgroup;          /* work-items; 0: it varies */
    unsigned runtime, compiler; /* reflect_runtime, reflect_compiler */
} pass_reflection;

/* The numbers of AdaptiveCpp's `backend_id` and `compiler_backend`. */
enum { REFLECT_CUDA = 0, REFLECT_OPENCL = 3, REFLECT_HOST = 4 };
enum { REFLECT_TO_SPIRV = 0, REFLECT_TO_PTX = 1, REFLECT_TO_HOST = 3 };

/* Calls of queries become constants; gives how many. */
unsigned pass_reflect(ir_module *m, const pass_reflection *r);

/* `name` calls the functions of a list, one after the other, with its own arguments. */
typedef struct {
    const char *name;
    const char *const *calls;
    size_t n;
} pass_definition;

/* False after a reported error. */
bool pass_define(ir_module *m, const pass_definition *d);

#endif
