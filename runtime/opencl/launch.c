/* launch.c — kernels that run: over an nd-range, once, or as a function of the host.
 *
 * A command has a copy of the arguments, and references to the buffers.
 */
#include "runtime/devices/cpu/cpu.h"
#include "runtime/opencl/allocation.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------- commands */

static void drop_launch(cl_event e) {
    const ocl_launch *l = (const ocl_launch *)e;
    for (size_t n = 0; n < ocl_arg_count(l); n++)
        if (l->mems[n]) ocl_release_mem(l->mems[n]);
    if (l->built) ocl_release_built(l->built);
}

typedef struct {
    const ocl_launch *launch;
    spvf_context context;
} attempt;

static void prepare(void *arg) {
    attempt *a = arg;
    rt_shared_prepare(&a->context, &ocl_device()->shared, &a->launch->command.command.launch);
}

cl_int ocl_prepare_launch(const ocl_launch *l) {
    attempt a = {.launch = l};
    ocl_open_context(l->command.event.context, &a.context);
    return ocl_status_of(rt_guard(&a.context, prepare, &a));
}

/* Buffers and arguments follow the command. */
ocl_launch *ocl_new_launch(cl_command_queue q, rt_function *kernel, size_t count,
                           size_t value_bytes, const spvf_range *range) {
    const size_t size =
        sizeof(ocl_launch) + count * sizeof(cl_mem) + rt_arg_block_size(count, value_bytes);
    ocl_launch *l = (ocl_launch *)ocl_new_command(q, CL_COMMAND_NDRANGE_KERNEL, size,
                                                  ocl_run_on_device, drop_launch);
    if (!l) return NULL;
    l->range = *range;
    l->mems = (cl_mem *)(void *)(l + 1);
    l->block = rt_place_args(l->mems + count, count);
    l->command.command = (rt_command){
        .kind = RT_COMMAND_LAUNCH,
        .launch = {.function = kernel, .range = &l->range, .args = l->block.args, .count = count}};
    return l;
}

/* Of an argument of the host, or of a member of one. */
static void *pointer_of(const struct _cl_kernel *k, const spvf_arg_info *info) {
    const ocl_arg *from = &k->args[info->closure];
    void *address = from->pointer;
    if (info->member) memcpy(&address, k->values + from->at + info->offset, sizeof address);
    return address;
}

static rt_arg buffer_arg(cl_mem m) {
    rt_memory *checked = ocl_root(m)->checked;
    return checked ? rt_memory_arg(checked, m->origin)
                   : rt_address_arg(m->memory.bytes, m->memory.size);
}

/* False: the buffer is gone. */
static bool copy_arg(ocl_launch *l, size_t n, const struct _cl_kernel *k) {
    const spvf_arg_info *info = k->info->args[n];
    const ocl_arg *from = &k->args[info->closure];
    rt_arg *to = &l->block.args[n];
    const unsigned char *value = k->values + from->at + info->offset;
    void *address;
    switch (info->kind) {
    case SPVF_ARG_BUFFER:
        if (info->spilled) {
            *to = rt_address_arg(memcpy(l->block.values + k->places[n], value, info->size),
                                 info->size);
            break;
        }
        if (from->mem && !ocl_revive_mem(from->mem)) return false;
        l->mems[n] = from->mem;
        address = pointer_of(k, info);
        *to = from->mem ? buffer_arg(from->mem) : rt_address_arg(address, ocl_bytes_from(address));
        break;
    case SPVF_ARG_LOCAL: *to = rt_local_arg(from->size); break;
    default:
        *to = rt_value_arg(memcpy(l->block.values + k->places[n], value, info->size), info->size);
    }
    return true;
}

static bool is_empty(const spvf_range *r) {
    for (unsigned d = 0; d < r->dims; d++)
        if (!r->global[d]) return true;
    return false;
}

/* CL_INVALID_KERNEL_ARGS: a buffer is gone. */
cl_int ocl_make_launch(const ocl_request *r, cl_kernel k, const spvf_range *range,
                       ocl_launch **out) {
    ocl_launch *l = ocl_new_launch(r->queue, k->native, k->info->arg_count, k->launch_bytes, range);
    if (!l) return CL_OUT_OF_HOST_MEMORY;
    l->command.event.type = r->type;
    l->built = k->built;
    l->info = k->info;
    l->command.command.launch.uneven = !k->built->uniform;
    ocl_retain_built(k->built);
    bool ok = true;
    for (size_t n = 0; n < ocl_arg_count(l) && ok; n++) ok = copy_arg(l, n, k);
    if (!ok) ocl_give_up(&l->command.event);
    if (ok && is_empty(range)) l->command.event.event.run = NULL;
    *out = l;
    return ok ? CL_SUCCESS : CL_INVALID_KERNEL_ARGS;
}

/* --------------------------------------------------------------------------------------- checks */

static cl_int check_args(const struct _cl_kernel *k) {
    for (size_t n = 0; n < k->info->host_arg_count; n++) {
        const ocl_arg *a = &k->args[n];
        if (a->mem && a->mem->parent && a->mem->origin % IR_LOCAL_ALIGN)
            return CL_MISALIGNED_SUB_BUFFER_OFFSET;
    }
    return CL_SUCCESS;
}

static cl_int check_global(const spvf_range *r) {
    uint64_t items = 1;
    for (unsigned d = 0; d < r->dims; d++) {
        if (r->global[d] && items > INT64_MAX / r->global[d]) return CL_INVALID_GLOBAL_WORK_SIZE;
        items *= r->global[d] ? r->global[d] : 1;
        if (r->offset[d] > UINT64_MAX - r->global[d]) return CL_INVALID_GLOBAL_OFFSET;
    }
    return CL_SUCCESS;
}

/* Of the groups: as given or, when no sizes are, as required. */
static uint64_t local_size(const struct _cl_kernel *k, const spvf_range *r, bool given,
                           unsigned d) {
    if (d >= r->dims) return 1;
    return given ? r->local[d] : k->info->required_local_size[d];
}

static cl_int check_local(const struct _cl_kernel *k, const spvf_range *r, bool given) {
    const uint32_t *required = k->info->required_local_size;
    const uint32_t subgroups = k->ir->attrs.subgroups, full = ocl_subgroup_size(k->ir);
    uint64_t items = 1;
    for (unsigned d = 0; d < 3; d++) {
        uint64_t size = local_size(k, r, given, d), global = d < r->dims ? r->global[d] : 1;
        if (!size) return CL_INVALID_WORK_GROUP_SIZE;
        if (size > OCL_MAX_GROUP) return CL_INVALID_WORK_ITEM_SIZE;
        if (required[0] && required[d] != size) return CL_INVALID_WORK_GROUP_SIZE;
        if (k->built->uniform && global % size) return CL_INVALID_WORK_GROUP_SIZE;
        items *= size;
    }
    if (subgroups && (items + full - 1) / full != subgroups) return CL_INVALID_WORK_GROUP_SIZE;
    return items > OCL_MAX_GROUP ? CL_INVALID_WORK_GROUP_SIZE : CL_SUCCESS;
}

static spvf_range make_range(ocl_ndrange n) {
    spvf_range r = {.dims = n.dims};
    for (cl_uint d = 0; d < n.dims; d++) {
        r.offset[d] = n.offset ? n.offset[d] : 0;
        r.global[d] = n.global ? n.global[d] : 0;
        r.local[d] = n.local ? n.local[d] : 0;
    }
    return r;
}

/* Fills in the range. */
static cl_int check_range(const struct _cl_kernel *k, ocl_ndrange n, spvf_range *out) {
    if (n.dims < 1 || n.dims > 3) return CL_INVALID_WORK_DIMENSION;
    *out = make_range(n);
    cl_int bad = check_global(out);
    const uint64_t items = (uint64_t)k->ir->attrs.subgroups * ocl_subgroup_size(k->ir);
    bool required = k->info->required_local_size[0], chosen = !n.local && !required && items;
    if (!bad && chosen) rt_cpu_groups_of(items, out, out->local);
    return bad || (!n.local && !required && !chosen) ? bad : check_local(k, out, n.local || chosen);
}

/* -------------------------------------------------------------------------------------- entries */

typedef struct {
    const ir_func *kernel;
    const spvf_range *range;
    uint64_t *local;
    ir_arena scratch;
} suggestion;

static void choose_size(void *arg) {
    suggestion *s = arg;
    rt_cpu_local_size(s->kernel, ocl_subgroup_size(s->kernel), s->range, s->local, &s->scratch);
}

/* False: there is no memory. */
static bool suggest(cl_kernel k, const spvf_range *range, uint64_t local[3]) {
    ir_ctx cx = {0};
    suggestion s = {.kernel = k->ir, .range = range, .local = local};
    ir_arena_init(&s.scratch, &cx);
    bool ok = ir_try(&cx, choose_size, &s);
    ir_arena_free(&s.scratch);
    return ok;
}

/* CL_INVALID_KERNEL, CL_INVALID_CONTEXT, and what is wrong with arguments that are set and with the
 * range, which is filled in. */
static cl_int check_launch(cl_command_queue q, cl_kernel k, ocl_ndrange n, spvf_range *range) {
    if (!ocl_is(k, OCL_KERNEL)) return CL_INVALID_KERNEL;
    if (k->program->context != q->context) return CL_INVALID_CONTEXT;
    cl_int bad = check_args(k);
    return bad ? bad : check_range(k, n, range);
}

cl_int ocl_check_launch(const ocl_request *r, cl_kernel k, ocl_ndrange n, spvf_range *range) {
    cl_int bad = check_launch(r->queue, k, n, range);
    if (!bad && ocl_local_memory(k) > OCL_LOCAL_MEMORY) bad = CL_OUT_OF_RESOURCES;
    return bad ? bad : ocl_check_order(r);
}

cl_int ocl_launch_kernel(const ocl_request *r, cl_kernel k, ocl_ndrange n) {
    spvf_range range;
    ocl_launch *l;
    if (ocl_is(k, OCL_KERNEL) && k->program->context == r->queue->context && !ocl_has_all_args(k))
        return CL_INVALID_KERNEL_ARGS;
    cl_int bad = ocl_check_launch(r, k, n, &range);
    if (!bad && ocl_is_checking() && !is_empty(&range) && !range.local[0] &&
        !k->info->required_local_size[0])
        suggest(k, &range, range.local); /* as the processors would be given it */
    if (!bad) bad = ocl_make_launch(r, k, &range, &l);
    return bad ? bad : ocl_submit(r, &l->command.event);
}

static cl_int CL_API_CALL enqueue_kernel(cl_command_queue q, cl_kernel k, cl_uint dims,
                                         const size_t *offset, const size_t *global,
                                         const size_t *local, cl_uint n, const cl_event *list,
                                         cl_event *out) {
    const ocl_request r = {q, CL_COMMAND_NDRANGE_KERNEL, false, n, list, out, NULL, 0, NULL};
    if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    return ocl_launch_kernel(&r, k, (ocl_ndrange){dims, offset, global, local});
}

static cl_int CL_API_CALL enqueue_task(cl_command_queue q, cl_kernel k, cl_uint n,
                                       const cl_event *list, cl_event *out) {
    const ocl_request r = {q, CL_COMMAND_TASK, false, n, list, out, NULL, 0, NULL};
    const size_t one = 1;
    if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    return ocl_launch_kernel(&r, k, (ocl_ndrange){1, NULL, &one, &one});
}

static cl_int CL_API_CALL suggest_local_size(cl_command_queue q, cl_kernel k, cl_uint dims,
                                             const size_t *offset, const size_t *global,
                                             size_t *out) {
    spvf_range range;
    uint64_t local[3];
    if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    cl_int bad = check_launch(q, k, (ocl_ndrange){dims, offset, global, NULL}, &range);
    if (!bad && !ocl_has_all_args(k)) bad = CL_INVALID_KERNEL_ARGS;
    if (bad) return bad;
    if (is_empty(&range)) return CL_INVALID_GLOBAL_WORK_SIZE;
    if (!out) return CL_INVALID_VALUE;
    bool ok = suggest(k, &range, local);
    for (cl_uint d = 0; ok && d < dims; d++) out[d] = range.local[d] ? range.local[d] : local[d];
    return ok ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

/* ------------------------------------------------------------------------ functions of the host */

/* Its buffers follow its arguments. */
typedef struct {
    struct _cl_event event; /* the first member */
    void(CL_CALLBACK *function)(void *args);
    cl_uint nmems;
    cl_mem *mems;
    bool has_args;
    _Alignas(max_align_t) unsigned char args[];
} host_call;

static int32_t run_host(rt_event *event) {
    host_call *h = (host_call *)ocl_event_of(event);
    h->function(h->has_args ? h->args : NULL);
    return CL_COMPLETE;
}

static void drop_host(cl_event e) {
    host_call *h = (host_call *)e;
    for (cl_uint n = 0; n < h->nmems; n++)
        if (h->mems[n]) ocl_release_mem(h->mems[n]);
}

/* Where the copy of the arguments has handles it gets addresses; of no buffer, NULL. */
static void place_mem(host_call *h, cl_mem m, size_t at) {
    void *bytes = m ? m->memory.bytes : NULL;
    memcpy(h->args + at, &bytes, sizeof bytes);
    if (m) ocl_retain_mem(m);
    h->mems[h->nmems++] = m;
}

static size_t place_of(const void *handle, const void *args) {
    return (size_t)((const char *)handle - (const char *)args);
}

/* Buffers among the arguments, and where their handles are. */
typedef struct {
    cl_uint count;
    const cl_mem *mems;
    const void *const *where;
} embedded;

static cl_int check_places(const embedded *e, const void *args, size_t size) {
    if (!e->count != !e->mems || !e->count != !e->where) return CL_INVALID_VALUE;
    if (e->count && !args) return CL_INVALID_VALUE;
    for (cl_uint n = 0; n < e->count; n++) {
        size_t at = place_of(e->where[n], args);
        if (at > size || size - at < sizeof(void *)) return CL_INVALID_VALUE;
    }
    return CL_SUCCESS;
}

static cl_int check_mems(cl_context c, const embedded *e) {
    for (cl_uint n = 0; n < e->count; n++)
        if (e->mems[n] && (!ocl_is(e->mems[n], OCL_MEM) || e->mems[n]->context != c))
            return CL_INVALID_MEM_OBJECT;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL enqueue_native(cl_command_queue q, void(CL_CALLBACK *f)(void *),
                                         void *args, size_t size, cl_uint count, const cl_mem *mems,
                                         const void **where, cl_uint n, const cl_event *list,
                                         cl_event *out) {
    if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    if (!f || !args != !size) return CL_INVALID_VALUE;
    const embedded found = {count, mems, where};
    cl_int bad = check_places(&found, args, size);
    if (!bad) bad = check_mems(q->context, &found);
    if (!bad) bad = ocl_check_wait_list(q->context, n, list);
    if (bad) return bad;
    size_t behind = (size + sizeof *mems - 1) / sizeof *mems * sizeof *mems;
    size_t room = sizeof(host_call) + behind + count * sizeof *mems;
    host_call *h =
        (host_call *)ocl_new_command(q, CL_COMMAND_NATIVE_KERNEL, room, run_host, drop_host);
    if (!h) return CL_OUT_OF_HOST_MEMORY;
    h->function = f;
    h->mems = (cl_mem *)(void *)(h->args + behind);
    h->has_args = args;
    if (size) memcpy(h->args, args, size);
    for (cl_uint m = 0; m < count; m++) place_mem(h, mems[m], place_of(where[m], args));
    return ocl_enqueue(&h->event, RT_ENQUEUE_COMMAND, false, (ocl_events){n, list, out});
}

void ocl_fill_launch(ocl_entries *e) {
    e->core.clEnqueueNDRangeKernel = enqueue_kernel;
    e->core.clEnqueueTask = enqueue_task;
    e->core.clEnqueueNativeKernel = enqueue_native;
    ocl_add_extension(e, "clGetKernelSuggestedLocalWorkSizeKHR", (ocl_function)suggest_local_size);
}
