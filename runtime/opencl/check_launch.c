/* check_launch.c — arguments of kernels and launches, looked at before they are passed on: what is
 * wrong with an argument, which ones were never set, and which buffers are gone or mapped.
 */
#include "runtime/opencl/check.h"

static const char *arg_name(const struct _cl_kernel *k, cl_uint n) {
    const char *name = k->info->host_args[n]->name;
    return name ? name : "";
}

/* ------------------------------------------------------------------------------------ arguments */

static const char *kind_wanted(const spvf_arg_info *a) {
    return a->kind == SPVF_ARG_BUFFER  ? "a buffer"
           : a->kind == SPVF_ARG_LOCAL ? "local memory, a size without a value"
                                       : "a value";
}

static void why_size(char *why, size_t room, const struct _cl_kernel *k, cl_uint n, size_t size) {
    const spvf_arg_info *a = k->info->host_args[n];
    const size_t wanted = a->kind == SPVF_ARG_BUFFER ? sizeof(cl_mem) : a->size;
    if (a->kind == SPVF_ARG_LOCAL)
        snprintf(why, room,
                 "argument %u ('%s') of kernel '%s' is local memory, of at least one byte", n,
                 arg_name(k, n), k->info->name);
    else
        snprintf(why, room, "argument %u ('%s') of kernel '%s' has %zu bytes, not %zu", n,
                 arg_name(k, n), k->info->name, wanted, size);
}

static void why_value(char *why, size_t room, const struct _cl_kernel *k, cl_uint n) {
    snprintf(why, room, "argument %u ('%s') of kernel '%s' takes %s", n, arg_name(k, n),
             k->info->name, kind_wanted(k->info->host_args[n]));
}

/* The handle that a buffer's argument is set to, if it is one that was released. */
static const ocl_made *released_value(const struct _cl_kernel *k, cl_uint n, size_t size,
                                      const void *value) {
    cl_mem m = NULL;
    if (n >= k->info->host_arg_count || k->info->host_args[n]->kind != SPVF_ARG_BUFFER || !value ||
        size != sizeof m)
        return NULL;
    memcpy(&m, value, sizeof m);
    const ocl_made *r = m ? ocl_find_made(m) : NULL;
    return r && !r->refs ? r : NULL;
}

static cl_int CL_API_CALL set_arg(cl_kernel k, cl_uint n, size_t size, const void *value) {
    char why[300] = "";
    const ocl_made *record = ocl_find_made(k);
    ocl_check_handle("clSetKernelArg", k, OCL_KERNEL);
    if (record && !record->refs) return CL_INVALID_KERNEL;
    const ocl_made *gone = ocl_is(k, OCL_KERNEL) ? released_value(k, n, size, value) : NULL;
    if (gone) {
        ocl_say_call("released", IR_ERROR,
                     "argument %u ('%s') of kernel '%s' is set to %s, which has been released", n,
                     arg_name(k, n), k->info->name, ocl_name_of(gone));
        return CL_INVALID_MEM_OBJECT;
    }
    cl_int status = ocl_plain.clSetKernelArg(k, n, size, value);
    if (status == CL_INVALID_KERNEL) return ocl_check_result("clSetKernelArg", status, NULL);
    if (status == CL_INVALID_ARG_INDEX)
        snprintf(why, sizeof why, "kernel '%s' has %zu argument%s, so there is no argument %u",
                 k->info->name, (size_t)k->info->host_arg_count,
                 k->info->host_arg_count == 1 ? "" : "s", n);
    if (status == CL_INVALID_ARG_SIZE) why_size(why, sizeof why, k, n, size);
    if (status == CL_INVALID_ARG_VALUE || status == CL_INVALID_MEM_OBJECT)
        why_value(why, sizeof why, k, n);
    return ocl_check_result("clSetKernelArg", status, why);
}

/* ------------------------------------------------------------------------------------- launches */

/* Says of each argument why the launch cannot use it. */
static bool say_arguments(const char *call, const struct _cl_kernel *k) {
    bool any = false;
    for (cl_uint n = 0; n < k->info->host_arg_count; n++) {
        const ocl_arg *a = &k->args[n];
        const ocl_made *r = a->mem ? ocl_find_made(a->mem) : NULL;
        if (!a->set)
            ocl_say_call("argument", IR_ERROR, "%s: argument %u ('%s') of kernel '%s' is not set",
                         call, n, arg_name(k, n), k->info->name);
        else if (r && !r->refs)
            ocl_say_call("released", IR_ERROR,
                         "%s: argument %u ('%s') of kernel '%s' is %s, which has been released",
                         call, n, arg_name(k, n), k->info->name, ocl_name_of(r));
        any |= !a->set || (r && !r->refs);
    }
    return any;
}

static void say_mapped(const char *call, const struct _cl_kernel *k) {
    for (cl_uint n = 0; n < k->info->host_arg_count; n++) {
        cl_mem m = k->args[n].mem;
        const ocl_made *r = m ? ocl_find_made(ocl_root(m)) : NULL;
        if (r && r->refs && r->maps)
            ocl_say_call("mapped", IR_WARNING,
                         "%s: argument %u ('%s') of kernel '%s' is %s, of which a region is mapped "
                         "for writing",
                         call, n, arg_name(k, n), k->info->name, ocl_name_of(r));
    }
}

/* Why groups of that size are refused, or "". */
static void why_sizes(char why[300], const struct _cl_kernel *k, const ocl_ndrange *n) {
    const uint32_t *required = k->info->required_local_size;
    *why = 0;
    for (cl_uint d = 0; n->local && n->global && d < n->dims && d < 3 && !*why; d++) {
        const size_t local = n->local[d], global = n->global[d];
        if (required[0] && required[d] != local)
            snprintf(why, 300, "kernel '%s' requires local size %u in dimension %u, not %zu",
                     k->info->name, required[d], d, local);
        else if (local > OCL_MAX_GROUP)
            snprintf(why, 300, "local size %zu in dimension %u is larger than %d", local, d,
                     OCL_MAX_GROUP);
        else if (!local || global % local)
            snprintf(why, 300, "local size %zu does not divide global size %zu in dimension %u",
                     local, global, d);
    }
}

static cl_int CL_API_CALL enqueue_kernel(cl_command_queue q, cl_kernel k, cl_uint dims,
                                         const size_t *offset, const size_t *global,
                                         const size_t *local, cl_uint n, const cl_event *list,
                                         cl_event *out) {
    static const char call[] = "clEnqueueNDRangeKernel";
    const ocl_made *kernel = ocl_find_made(k), *queue = ocl_find_made(q);
    char why[300] = "";
    ocl_check_handle(call, q, OCL_QUEUE);
    ocl_check_handle(call, k, OCL_KERNEL);
    if (queue && !queue->refs) return CL_INVALID_COMMAND_QUEUE;
    if (kernel && !kernel->refs) return CL_INVALID_KERNEL;
    const bool known = kernel && ocl_is(k, OCL_KERNEL);
    if (known && say_arguments(call, k)) return CL_INVALID_KERNEL_ARGS;
    if (known) say_mapped(call, k);
    cl_int status =
        ocl_plain.clEnqueueNDRangeKernel(q, k, dims, offset, global, local, n, list, out);
    if (known && (status == CL_INVALID_WORK_GROUP_SIZE || status == CL_INVALID_WORK_ITEM_SIZE))
        why_sizes(why, k, &(ocl_ndrange){dims, offset, global, local});
    if (!status) {
        ocl_note_waited(n, list);
        ocl_note_enqueued(call, q, false, false, out);
    }
    return ocl_check_result(call, status, why);
}

void ocl_fill_check_launch(ocl_entries *e) {
    e->core.clSetKernelArg = set_arg;
    e->core.clEnqueueNDRangeKernel = enqueue_kernel;
}
