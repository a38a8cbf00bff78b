/* kernel.c — kernels: their arguments, and what is known of them.
 *
 * A kernel has no references to its arguments (the specification forbids them): a buffer whose last
 * reference is released is gone, and a launch that would use it is refused.  Values lie one after
 * the other in one block of the kernel, each as aligned as its type wants.
 *
 * The arguments are those of the kernel as it was read.  A struct whose members have become
 * parameters is set as a whole, and taken apart when the kernel is launched (launch.c).  Parameters
 * that special members are made of are arguments, too (arguments.c).
 */
#include "runtime/opencl/machine.h"
#include "runtime/opencl/ocl.h"

#include <stdlib.h>

/* -------------------------------------------------------------------------------------- kernels */

void ocl_retain_kernel(cl_kernel k) { ocl_retain(&k->object); }

static void free_kernel(cl_kernel k) {
    for (size_t n = 0; n < k->info->host_arg_count; n++)
        if (k->args[n].mem) ocl_forget_mem(k->args[n].mem);
    free(k->places);
    free(k->args);
    free(k->values);
    ocl_free_object(&k->object);
}

void ocl_release_kernel(cl_kernel k) {
    if (!ocl_release(&k->object)) return;
    cl_program p = k->program;
    ocl_built *built = k->built;
    free_kernel(k);
    ocl_release_built(built);
    rt_lock_take(&p->lock);
    p->kernels--;
    rt_lock_release(&p->lock);
    ocl_release_program(p);
}

/* Places a value, or what a buffer is made of, after what has `size` bytes. */
static uint32_t place_value(const spvf_arg_info *a, size_t *size) {
    if (a->kind != SPVF_ARG_VALUE && !a->spilled) return 0;
    size_t align = a->align ? a->align : 1, at = (*size + align - 1) / align * align;
    *size = at + a->size;
    return (uint32_t)at;
}

static void place_values(cl_kernel k) {
    const spvf_kernel_info *info = k->info;
    for (size_t n = 0; n < info->host_arg_count; n++)
        k->args[n].at = place_value(info->host_args[n], &k->value_bytes);
    for (size_t n = 0; n < info->arg_count; n++)
        k->places[n] = place_value(info->args[n], &k->launch_bytes);
}

static cl_kernel alloc_kernel(const spvf_kernel_info *info) {
    cl_kernel k = calloc(1, sizeof *k);
    if (!k) return NULL;
    k->object = ocl_new_object(OCL_KERNEL);
    k->info = info;
    k->args = calloc(info->host_arg_count + 1, sizeof *k->args);
    k->places = calloc(info->arg_count + 1, sizeof *k->places);
    if (k->args && k->places) place_values(k);
    k->values = calloc(1, k->value_bytes + 1);
    if (k->args && k->places && k->values) return k;
    free(k->values);
    free(k->places);
    free(k->args);
    free(k);
    return NULL;
}

/* With the program's lock held: a kernel of what was built, which the program may not have now. */
static cl_kernel new_kernel(cl_program p, ocl_built *built, const spvf_kernel_info *info) {
    cl_kernel k = alloc_kernel(info);
    if (!k) return NULL;
    k->program = p;
    k->built = built;
    k->native = built->functions[info - built->module->kernels];
    k->ir = ir_func_find(built->module->ir, info->name);
    ocl_retain_program(p);
    ocl_retain_built(built);
    p->kernels++;
    return k;
}

static cl_kernel create_with_lock(cl_program p, const char *name, cl_int *error) {
    if (!p->built) return ocl_fail(error, CL_INVALID_PROGRAM_EXECUTABLE);
    const spvf_kernel_info *info = spvf_module_find_kernel(p->built->module, name);
    if (!info) return ocl_fail(error, CL_INVALID_KERNEL_NAME);
    cl_kernel k = new_kernel(p, p->built, info);
    if (!k) return ocl_fail(error, CL_OUT_OF_HOST_MEMORY);
    ocl_succeed(error);
    return k;
}

static cl_kernel CL_API_CALL create_kernel(cl_program p, const char *name, cl_int *error) {
    if (!ocl_is(p, OCL_PROGRAM)) return ocl_fail(error, CL_INVALID_PROGRAM);
    if (!name) return ocl_fail(error, CL_INVALID_VALUE);
    rt_lock_take(&p->lock);
    cl_kernel k = create_with_lock(p, name, error);
    rt_lock_release(&p->lock);
    return k;
}

/* With the program's lock held; gives how many there are now. */
static cl_uint create_all(cl_program p, cl_kernel *list) {
    const spvf_kernel_info *info;
    cl_uint n = 0;
    while ((info = spvf_module_kernel(p->built->module, n)) &&
           (list[n] = new_kernel(p, p->built, info)))
        n++;
    return n;
}

static cl_int CL_API_CALL create_kernels(cl_program p, cl_uint room, cl_kernel *list,
                                         cl_uint *count) {
    if (!ocl_is(p, OCL_PROGRAM)) return CL_INVALID_PROGRAM;
    rt_lock_take(&p->lock);
    bool built = p->built;
    cl_uint all = built ? (cl_uint)spvf_module_kernel_count(p->built->module) : 0, made = all;
    if (list && room >= all && built) made = create_all(p, list);
    rt_lock_release(&p->lock);
    if (!built) return CL_INVALID_PROGRAM_EXECUTABLE;
    if (list && room < all) return CL_INVALID_VALUE;
    if (count) *count = all;
    if (made == all) return CL_SUCCESS;
    while (made) ocl_release_kernel(list[--made]);
    return CL_OUT_OF_HOST_MEMORY;
}

static void copy_args(cl_kernel to, const struct _cl_kernel *from) {
    memcpy(to->args, from->args, from->info->host_arg_count * sizeof *to->args);
    memcpy(to->values, from->values, from->value_bytes);
    for (size_t n = 0; n < to->info->host_arg_count; n++)
        if (to->args[n].mem) ocl_observe_mem(to->args[n].mem);
}

cl_kernel ocl_clone_kernel(cl_kernel from) {
    rt_lock_take(&from->program->lock);
    cl_kernel k = new_kernel(from->program, from->built, from->info);
    rt_lock_release(&from->program->lock);
    if (k) copy_args(k, from);
    return k;
}

static cl_kernel CL_API_CALL clone_kernel(cl_kernel from, cl_int *error) {
    if (!ocl_is(from, OCL_KERNEL)) return ocl_fail(error, CL_INVALID_KERNEL);
    cl_kernel k = ocl_clone_kernel(from);
    if (!k) return ocl_fail(error, CL_OUT_OF_HOST_MEMORY);
    ocl_succeed(error);
    return k;
}

static cl_int CL_API_CALL retain_kernel(cl_kernel k) {
    if (!ocl_is(k, OCL_KERNEL)) return CL_INVALID_KERNEL;
    ocl_retain_kernel(k);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL release_kernel(cl_kernel k) {
    if (!ocl_is(k, OCL_KERNEL)) return CL_INVALID_KERNEL;
    ocl_release_kernel(k);
    return CL_SUCCESS;
}

/* ------------------------------------------------------------------------------------ arguments */

static cl_int set_buffer(cl_kernel k, ocl_arg *arg, size_t size, const void *value) {
    cl_mem m = NULL;
    if (size != sizeof m) return CL_INVALID_ARG_SIZE;
    if (value) memcpy(&m, value, sizeof m);
    if (m && (!ocl_is(m, OCL_MEM) || m->context != k->program->context))
        return CL_INVALID_MEM_OBJECT;
    if (m) ocl_observe_mem(m);
    if (arg->mem) ocl_forget_mem(arg->mem);
    arg->mem = m;
    arg->pointer = NULL;
    return CL_SUCCESS;
}

static cl_int set_local(ocl_arg *arg, size_t size, const void *value) {
    if (value) return CL_INVALID_ARG_VALUE;
    if (!size) return CL_INVALID_ARG_SIZE;
    if (size > OCL_LOCAL_MEMORY) return CL_OUT_OF_RESOURCES;
    arg->size = size;
    return CL_SUCCESS;
}

static cl_int set_value(cl_kernel k, ocl_arg *arg, const spvf_arg_info *info, size_t size,
                        const void *value) {
    if (!value) return CL_INVALID_ARG_VALUE;
    if (size != info->size) return CL_INVALID_ARG_SIZE;
    memcpy(k->values + arg->at, value, size);
    arg->size = size;
    return CL_SUCCESS;
}

cl_int CL_API_CALL ocl_set_arg(cl_kernel k, cl_uint n, size_t size, const void *value) {
    if (!ocl_is(k, OCL_KERNEL)) return CL_INVALID_KERNEL;
    if (n >= k->info->host_arg_count) return CL_INVALID_ARG_INDEX;
    const spvf_arg_info *info = k->info->host_args[n];
    ocl_arg *arg = &k->args[n];
    cl_int status = info->kind == SPVF_ARG_BUFFER  ? set_buffer(k, arg, size, value)
                    : info->kind == SPVF_ARG_LOCAL ? set_local(arg, size, value)
                    : info->kind == SPVF_ARG_VALUE ? set_value(k, arg, info, size, value)
                                                   : CL_INVALID_ARG_VALUE;
    arg->set |= status == CL_SUCCESS;
    return status;
}

/* Any address is shared: the device is the host. */
cl_int CL_API_CALL ocl_set_arg_pointer(cl_kernel k, cl_uint n, const void *value) {
    if (!ocl_is(k, OCL_KERNEL)) return CL_INVALID_KERNEL;
    if (n >= k->info->host_arg_count) return CL_INVALID_ARG_INDEX;
    if (k->info->host_args[n]->kind != SPVF_ARG_BUFFER) return CL_INVALID_ARG_VALUE;
    ocl_arg *arg = &k->args[n];
    if (arg->mem) ocl_forget_mem(arg->mem);
    arg->mem = NULL;
    arg->pointer = (void *)(uintptr_t)value;
    arg->set = true;
    return CL_SUCCESS;
}

/* Addresses of the device are those of the host. */
static cl_int CL_API_CALL set_kernel_arg_address(cl_kernel k, cl_uint n,
                                                 cl_mem_device_address_ext value) {
    if (!ocl_is(k, OCL_KERNEL)) return CL_INVALID_KERNEL;
    if (n >= k->info->host_arg_count || k->info->host_args[n]->kind != SPVF_ARG_BUFFER ||
        k->info->host_args[n]->constant)
        return CL_INVALID_ARG_INDEX;
    return ocl_set_arg_pointer(k, n, (const void *)(uintptr_t)value);
}

static bool is_list(cl_kernel_exec_info what) {
    return what == CL_KERNEL_EXEC_INFO_SVM_PTRS || what == CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL ||
           what == CL_KERNEL_EXEC_INFO_DEVICE_PTRS_EXT;
}

/* Nothing needs to be known of what kernels reach through pointers. */
cl_int CL_API_CALL ocl_set_exec_info(cl_kernel k, cl_kernel_exec_info what, size_t size,
                                     const void *value) {
    if (!ocl_is(k, OCL_KERNEL)) return CL_INVALID_KERNEL;
    if (is_list(what) && !value && !size) return CL_SUCCESS; /* none */
    if (!value) return CL_INVALID_VALUE;
    if (is_list(what)) return size && size % sizeof(void *) == 0 ? CL_SUCCESS : CL_INVALID_VALUE;
    switch (what) {
    case CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL:
    case CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL:
    case CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL:
    case CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM:
        return size == sizeof(cl_bool) ? CL_SUCCESS : CL_INVALID_VALUE;
    default: return CL_INVALID_VALUE;
    }
}

bool ocl_has_all_args(const struct _cl_kernel *k) {
    for (size_t n = 0; n < k->info->host_arg_count; n++)
        if (!k->args[n].set) return false;
    return true;
}

/* ---------------------------------------------------------------------------------- information */

static cl_int CL_API_CALL get_kernel_info(cl_kernel k, cl_kernel_info what, size_t room, void *to,
                                          size_t *size) {
    const ocl_answer a = {room, to, size};
    if (!ocl_is(k, OCL_KERNEL)) return CL_INVALID_KERNEL;
    switch (what) {
    case CL_KERNEL_FUNCTION_NAME: return ocl_give_string(&a, k->info->name);
    case CL_KERNEL_NUM_ARGS: return ocl_give_uint(&a, (cl_uint)k->info->host_arg_count);
    case CL_KERNEL_REFERENCE_COUNT: return ocl_give_uint(&a, rt_ref_count(&k->object.refs));
    case CL_KERNEL_CONTEXT: return ocl_give_pointer(&a, k->program->context);
    case CL_KERNEL_PROGRAM: return ocl_give_pointer(&a, k->program);
    case CL_KERNEL_ATTRIBUTES: return ocl_give_attributes(&a, k);
    default: return CL_INVALID_VALUE;
    }
}

static cl_uint address_of(const spvf_arg_info *info) {
    switch (info->kind) {
    case SPVF_ARG_LOCAL: return CL_KERNEL_ARG_ADDRESS_LOCAL;
    case SPVF_ARG_BUFFER:
        return info->constant ? CL_KERNEL_ARG_ADDRESS_CONSTANT : CL_KERNEL_ARG_ADDRESS_GLOBAL;
    default: return CL_KERNEL_ARG_ADDRESS_PRIVATE;
    }
}

/* Attributes of the parameter that an argument of the host is, if it is one. */
static uint32_t attrs_of(const struct _cl_kernel *k, cl_uint host) {
    for (size_t n = 0; n < k->info->arg_count; n++)
        if (k->info->args[n]->closure == host) return k->ir->param[n].attrs;
    return 0;
}

/* Qualifiers of what a pointer leads to; values have none. */
static cl_ulong qualifiers_of(const spvf_arg_info *info, uint32_t attrs) {
    cl_ulong q = CL_KERNEL_ARG_TYPE_NONE;
    if (info->kind == SPVF_ARG_VALUE) return q;
    if (attrs & IR_PARAM_RESTRICT) q |= CL_KERNEL_ARG_TYPE_RESTRICT;
    if (attrs & IR_PARAM_VOLATILE) q |= CL_KERNEL_ARG_TYPE_VOLATILE;
    if (attrs & IR_PARAM_CONST || info->constant) q |= CL_KERNEL_ARG_TYPE_CONST;
    return q;
}

static cl_int give_if_known(const ocl_answer *a, const char *s) {
    return s ? ocl_give_string(a, s) : CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
}

static cl_int CL_API_CALL get_arg_info(cl_kernel k, cl_uint n, cl_kernel_arg_info what, size_t room,
                                       void *to, size_t *size) {
    const ocl_answer a = {room, to, size};
    if (!ocl_is(k, OCL_KERNEL)) return CL_INVALID_KERNEL;
    if (n >= k->info->host_arg_count) return CL_INVALID_ARG_INDEX;
    if (!k->built->arg_info) return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
    const spvf_arg_info *info = k->info->host_args[n];
    switch (what) {
    case CL_KERNEL_ARG_ADDRESS_QUALIFIER: return ocl_give_uint(&a, address_of(info));
    case CL_KERNEL_ARG_ACCESS_QUALIFIER: return ocl_give_uint(&a, CL_KERNEL_ARG_ACCESS_NONE);
    case CL_KERNEL_ARG_TYPE_NAME: return give_if_known(&a, info->type_name);
    case CL_KERNEL_ARG_TYPE_QUALIFIER:
        return ocl_give_ulong(&a, qualifiers_of(info, attrs_of(k, n)));
    case CL_KERNEL_ARG_NAME: return give_if_known(&a, info->name);
    default: return CL_INVALID_VALUE;
    }
}

/* ---------------------------------------------------------------------------------- work-groups */

static size_t largest_group(const spvf_kernel_info *info) {
    const uint32_t *r = info->required_local_size;
    return r[0] ? (size_t)r[0] * r[1] * r[2] : OCL_MAX_GROUP;
}

uint64_t ocl_local_memory(cl_kernel k) {
    uint64_t bytes = k->info->local_memory;
    for (size_t n = 0; n < k->info->host_arg_count; n++)
        if (k->info->host_args[n]->kind == SPVF_ARG_LOCAL) bytes += k->args[n].size;
    return bytes;
}

static cl_int give_required(const ocl_answer *a, const spvf_kernel_info *info) {
    size_t size[3];
    for (int d = 0; d < 3; d++) size[d] = info->required_local_size[d];
    return ocl_give(a, size, sizeof size);
}

static cl_int CL_API_CALL get_work_group_info(cl_kernel k, cl_device_id d,
                                              cl_kernel_work_group_info what, size_t room, void *to,
                                              size_t *size) {
    const ocl_answer a = {room, to, size};
    if (!ocl_is(k, OCL_KERNEL)) return CL_INVALID_KERNEL;
    if (d && !ocl_is_device(d)) return CL_INVALID_DEVICE;
    switch (what) {
    case CL_KERNEL_WORK_GROUP_SIZE: return ocl_give_size(&a, largest_group(k->info));
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE: return give_required(&a, k->info);
    case CL_KERNEL_LOCAL_MEM_SIZE: return ocl_give_ulong(&a, ocl_local_memory(k));
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE: return ocl_give_size(&a, OCL_GROUP_MULTIPLE);
    case CL_KERNEL_PRIVATE_MEM_SIZE:
    case CL_KERNEL_SPILL_MEM_SIZE_INTEL: return ocl_give_ulong(&a, 0);
    default: return CL_INVALID_VALUE; /* CL_KERNEL_GLOBAL_WORK_SIZE is for built-in kernels */
    }
}

/* -------------------------------------------------------------------------------------- sub-groups
 *
 * All sub-groups of a group have the size of the kernel but the last one, which may be smaller. */

unsigned ocl_subgroup_size(const ir_func *kernel) {
    return ocl_device()->shared.base ? rt_cpu_subgroup_size(ocl_cpu_options(), kernel) : 1;
}

static size_t count_subgroups(cl_kernel k, size_t items) {
    unsigned size = ocl_subgroup_size(k->ir);
    return items / size + (items % size != 0);
}

static cl_int count_items(const void *sizes, size_t bytes, size_t *items) {
    const size_t *n = sizes;
    if (!n || !bytes || bytes % sizeof *n || bytes > 3 * sizeof *n) return CL_INVALID_VALUE;
    *items = 1;
    for (size_t d = 0; d < bytes / sizeof *n; d++) *items *= n[d];
    return CL_SUCCESS;
}

/* As many dimensions as there is room for; all 0 when there is no such size. */
static cl_int give_size_for_count(const ocl_answer *a, const void *in, size_t bytes, cl_kernel k) {
    const spvf_kernel_info *info = k->info;
    size_t count, size[3], dims = a->to && a->room < sizeof size ? a->room / sizeof *size : 3;
    const uint32_t *required = info->required_local_size;
    if (!in || bytes != sizeof count) return CL_INVALID_VALUE;
    memcpy(&count, in, sizeof count);
    bool some =
        count && count <= largest_group(info) / (required[0] ? 1 : ocl_subgroup_size(k->ir));
    if (!some) count = 0;
    for (size_t d = 0; d < 3; d++)
        size[d] = required[0] ? required[d] : d ? 1 : count * ocl_subgroup_size(k->ir);
    bool fits = some && count == count_subgroups(k, size[0] * size[1] * size[2]);
    for (size_t d = dims; d < 3; d++) fits &= size[d] == 1;
    if (!fits) memset(size, 0, sizeof size);
    return dims ? ocl_give(a, size, dims * sizeof *size) : CL_INVALID_VALUE;
}

static cl_int CL_API_CALL get_subgroup_info(cl_kernel k, cl_device_id d,
                                            cl_kernel_sub_group_info what, size_t in_size,
                                            const void *in, size_t room, void *to, size_t *size) {
    const ocl_answer a = {room, to, size};
    size_t items;
    if (!ocl_is(k, OCL_KERNEL)) return CL_INVALID_KERNEL;
    if (d && !ocl_is_device(d)) return CL_INVALID_DEVICE;
    switch (what) {
    case CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE:
        if (count_items(in, in_size, &items)) return CL_INVALID_VALUE;
        return ocl_give_size(&a, ocl_subgroup_size(k->ir));
    case CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE:
        if (count_items(in, in_size, &items)) return CL_INVALID_VALUE;
        return ocl_give_size(&a, count_subgroups(k, items));
    case CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT: return give_size_for_count(&a, in, in_size, k);
    case CL_KERNEL_MAX_NUM_SUB_GROUPS:
        return ocl_give_size(&a, count_subgroups(k, largest_group(k->info)));
    case CL_KERNEL_COMPILE_NUM_SUB_GROUPS: return ocl_give_size(&a, k->ir->attrs.subgroups);
    case CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL:
        return ocl_give_size(&a, k->ir->attrs.subgroup_size);
    default: return CL_INVALID_VALUE;
    }
}

void ocl_fill_kernel(ocl_entries *e) {
    e->core.clCreateKernel = create_kernel;
    e->core.clCreateKernelsInProgram = create_kernels;
    e->core.clCloneKernel = clone_kernel;
    e->core.clRetainKernel = retain_kernel;
    e->core.clReleaseKernel = release_kernel;
    e->core.clSetKernelArg = ocl_set_arg;
    e->core.clSetKernelArgSVMPointer = ocl_set_arg_pointer;
    e->core.clSetKernelExecInfo = ocl_set_exec_info;
    e->core.clGetKernelInfo = get_kernel_info;
    e->core.clGetKernelArgInfo = get_arg_info;
    e->core.clGetKernelWorkGroupInfo = get_work_group_info;
    e->core.clGetKernelSubGroupInfo = get_subgroup_info;
    e->core.clGetKernelSubGroupInfoKHR = get_subgroup_info;
    ocl_add_extension(e, "clSetKernelArgMemPointerINTEL", (ocl_function)ocl_set_arg_pointer);
    ocl_add_extension(e, "clSetKernelArgDevicePointerEXT", (ocl_function)set_kernel_arg_address);
    ocl_add_extension(e, "clGetKernelSubGroupInfoKHR", (ocl_function)get_subgroup_info);
}
