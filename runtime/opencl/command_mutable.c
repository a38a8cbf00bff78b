/* command_mutable.c — launches of command buffers that can be changed between runs, as version
 * 0.9.5 of cl_khr_command_buffer_mutable_dispatch says.
 *
 * A handle has a kernel object of its own, with the arguments that the launch has now.  An update
 * changes copies of these kernels, makes launches of them, and steps of all; when nothing has
 * failed, these take the place of the old ones.  A run that has been enqueued keeps its steps, so
 * an update never waits for one, and changes nothing that it does.
 *
 * What was fused stays fused where the code allows it (command_fuse.c).
 *
 * Versions 0.9.0 and 0.9.1 had structs with two more members at the beginning, in a list that is a
 * struct, too (command_form.c).
 */
#include "runtime/opencl/ocl.h"

#include <stdlib.h>

/* The structs of the newer version. */
typedef struct {
    cl_uint index;
    size_t size;
    const void *value;
} arg_update;

typedef struct {
    cl_uint what;
    size_t size;
    const void *value;
} info_update;

typedef struct {
    cl_mutable_command_khr command;
    cl_uint arg_count, pointer_count, info_count, dims;
    const arg_update *args, *pointers;
    const info_update *infos;
    const size_t *offset, *global, *local;
} dispatch_update;

/* Those of the older one. */
typedef struct {
    cl_uint type; /* 1 */
    const void *next;
    dispatch_update update;
} old_dispatch_update;

typedef struct {
    cl_uint type; /* 0 */
    const void *next;
    cl_uint count;
    const old_dispatch_update *list;
} old_update;

enum { NEW_DISPATCH = 0, OLD_BASE = 0, OLD_DISPATCH = 1 };

/* -------------------------------------------------------------------------------------- handles */

static const cl_mutable_dispatch_fields_khr ALL_FIELDS =
    CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR | CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR |
    CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR | CL_MUTABLE_DISPATCH_ARGUMENTS_KHR |
    CL_MUTABLE_DISPATCH_EXEC_INFO_KHR;

/* What a launch is made of. */
typedef struct {
    cl_kernel kernel; /* nothing else has it; it observes the buffers that are its arguments */
    cl_uint dims;
    size_t offset[3], global[3], local[3];
    bool has_local;
} launch_state;

struct _cl_mutable_command_khr {
    ocl_object object;
    cl_command_buffer_khr buffer;
    cl_uint index;    /* of the command */
    cl_kernel kernel; /* that was recorded */
    launch_state now;
    cl_mutable_dispatch_fields_khr fields; /* that may be changed */
    ocl_properties properties;
    cl_mutable_command_khr next;
};

static void free_handle(cl_mutable_command_khr h) {
    h->object.kind = OCL_NOTHING;
    if (h->now.kernel) ocl_release_kernel(h->now.kernel);
    ocl_release_kernel(h->kernel);
    free(h);
}

void ocl_free_handles(cl_mutable_command_khr list) {
    for (cl_mutable_command_khr next; list; list = next) {
        next = list->next;
        free_handle(list);
    }
}

static void copy_sizes(size_t to[3], const size_t *from, cl_uint dims) {
    for (cl_uint d = 0; from && d < dims; d++) to[d] = from[d];
}

static cl_mutable_command_khr new_handle(cl_command_buffer_khr b, cl_kernel k, ocl_ndrange n) {
    cl_mutable_command_khr h = calloc(1, sizeof *h);
    if (!h) return NULL;
    h->object = ocl_new_object(OCL_MUTABLE_COMMAND);
    h->buffer = b;
    h->kernel = k;
    ocl_retain_kernel(k);
    h->now = (launch_state){.kernel = ocl_clone_kernel(k), .dims = n.dims, .has_local = n.local};
    copy_sizes(h->now.offset, n.offset, n.dims);
    copy_sizes(h->now.global, n.global, n.dims);
    copy_sizes(h->now.local, n.local, n.dims);
    if (h->now.kernel) return h;
    free_handle(h);
    return NULL;
}

/* ------------------------------------------------------------------------------------ recording */

/* What the properties say. */
typedef struct {
    cl_mutable_dispatch_fields_khr fields;
    bool may_lack_args; /* the arguments are said to be set later */
    bool no_more_groups;
} wishes;

static cl_int read_property(cl_properties name, cl_properties value, wishes *to) {
    switch (name) {
    case CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR:
        to->fields = value;
        to->may_lack_args = value & CL_MUTABLE_DISPATCH_ARGUMENTS_KHR;
        return value & ~ALL_FIELDS ? CL_INVALID_VALUE : CL_SUCCESS;
    case CL_MUTABLE_DISPATCH_ASSERTS_KHR:
        to->no_more_groups = value;
        return value > CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR ? CL_INVALID_VALUE
                                                                                : CL_SUCCESS;
    default: return CL_INVALID_VALUE;
    }
}

static cl_int read_properties(const cl_properties *p, wishes *to) {
    *to = (wishes){.fields = ALL_FIELDS};
    for (const cl_properties *at = p; at && *at; at += 2) {
        for (const cl_properties *before = p; before < at; before += 2)
            if (*before == *at) return CL_INVALID_VALUE;
        cl_int bad = read_property(at[0], at[1], to);
        if (bad) return bad;
    }
    return CL_SUCCESS;
}

static ocl_request request(const ocl_recording *to) {
    return (ocl_request){
        .queue = to->buffer->queue, .type = CL_COMMAND_NDRANGE_KERNEL, .recording = to};
}

/* Records a launch that has been checked; if it lacks arguments, only its number, from 1 on. */
static cl_int record(ocl_recording *to, cl_kernel k, const spvf_range *range, cl_uint *number) {
    cl_sync_point_khr *const wanted = to->point;
    ocl_launch *l = NULL;
    cl_int bad = CL_SUCCESS;
    to->point = number;
    to->incomplete = !ocl_has_all_args(k);
    const ocl_request r = request(to);
    if (!to->incomplete) bad = ocl_make_launch(&r, k, range, &l);
    if (!bad) bad = ocl_record(to, l ? &l->command.event : NULL);
    if (!bad && wanted) *wanted = *number;
    return bad;
}

static void keep_handle(cl_mutable_command_khr h) {
    cl_command_buffer_khr b = h->buffer;
    rt_lock_take(&b->lock);
    h->next = b->handles;
    b->handles = h;
    rt_lock_release(&b->lock);
}

cl_int ocl_record_kernel(ocl_recording *to, const cl_properties *p, cl_kernel k, ocl_ndrange n,
                         cl_mutable_command_khr *handle) {
    wishes w;
    spvf_range range;
    cl_uint number;
    cl_int bad = read_properties(p, &w);
    if (bad) return bad;
    if ((w.no_more_groups || to->buffer->no_more_groups) && !n.local) return CL_INVALID_VALUE;
    const ocl_request r = request(to);
    bad = ocl_check_launch(&r, k, n, &range);
    if (!bad && !ocl_has_all_args(k) && !(w.may_lack_args && to->buffer->mutable))
        bad = CL_INVALID_KERNEL_ARGS;
    if (bad) return bad;
    cl_mutable_command_khr h = handle ? new_handle(to->buffer, k, n) : NULL;
    if (handle && !h) return CL_OUT_OF_HOST_MEMORY;
    bad = record(to, k, &range, &number);
    if (bad && h) free_handle(h);
    if (bad || !h) return bad;
    h->index = number - 1;
    h->fields = w.fields;
    ocl_keep_properties(&h->properties, p);
    keep_handle(h);
    *handle = h;
    return CL_SUCCESS;
}

/* -------------------------------------------------------------------------------------- updates */

/* A command as it shall be. */
typedef struct {
    cl_mutable_command_khr handle;
    launch_state state;
    ocl_launch *launch; /* NULL: it lacks an argument */
} draft;

typedef struct {
    cl_command_buffer_khr buffer;
    draft *drafts;
    cl_uint count;
    cl_event *commands; /* all of the command buffer, as they shall be */
} updating;

/* That of a command that an earlier part of the update names, or another one. */
static cl_int draft_of(updating *u, cl_mutable_command_khr h, draft **out) {
    for (cl_uint n = 0; n < u->count; n++)
        if (u->drafts[n].handle == h) {
            *out = &u->drafts[n];
            return CL_SUCCESS;
        }
    draft *d = &u->drafts[u->count];
    *d = (draft){.handle = h, .state = h->now};
    d->state.kernel = ocl_clone_kernel(h->now.kernel);
    if (!d->state.kernel) return CL_OUT_OF_HOST_MEMORY;
    u->count++;
    *out = d;
    return CL_SUCCESS;
}

static cl_int check_lists(const dispatch_update *p) {
    bool right = !p->arg_count == !p->args && !p->pointer_count == !p->pointers &&
                 !p->info_count == !p->infos;
    return right ? CL_SUCCESS : CL_INVALID_VALUE;
}

/* Does it change what may be changed only? */
static cl_int check_fields(const dispatch_update *p, cl_mutable_command_khr h) {
    cl_mutable_dispatch_fields_khr changed = 0;
    if (p->offset) changed |= CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR;
    if (p->global) changed |= CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR;
    if (p->local) changed |= CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR;
    if (p->arg_count || p->pointer_count) changed |= CL_MUTABLE_DISPATCH_ARGUMENTS_KHR;
    if (p->info_count) changed |= CL_MUTABLE_DISPATCH_EXEC_INFO_KHR;
    if (p->dims && p->dims != h->now.dims) return CL_INVALID_OPERATION;
    return changed & ~h->fields ? CL_INVALID_OPERATION : CL_SUCCESS;
}

static cl_int change_kernel(const dispatch_update *p, cl_kernel k) {
    cl_int bad = CL_SUCCESS;
    for (cl_uint n = 0; n < p->arg_count && !bad; n++)
        bad = ocl_set_arg(k, p->args[n].index, p->args[n].size, p->args[n].value);
    for (cl_uint n = 0; n < p->pointer_count && !bad; n++)
        bad = ocl_set_arg_pointer(k, p->pointers[n].index, p->pointers[n].value);
    for (cl_uint n = 0; n < p->info_count && !bad; n++)
        bad = ocl_set_exec_info(k, p->infos[n].what, p->infos[n].size, p->infos[n].value);
    return bad;
}

static cl_int take_update(updating *u, const dispatch_update *p) {
    draft *d;
    if (!p) return CL_INVALID_VALUE;
    if (!ocl_is(p->command, OCL_MUTABLE_COMMAND) || p->command->buffer != u->buffer)
        return CL_INVALID_MUTABLE_COMMAND_KHR;
    cl_int bad = check_lists(p);
    if (!bad) bad = check_fields(p, p->command);
    if (!bad) bad = draft_of(u, p->command, &d);
    if (!bad) bad = change_kernel(p, d->state.kernel);
    if (bad) return bad;
    copy_sizes(d->state.offset, p->offset, d->state.dims);
    copy_sizes(d->state.global, p->global, d->state.dims);
    copy_sizes(d->state.local, p->local, d->state.dims);
    d->state.has_local |= p->local != NULL;
    return CL_SUCCESS;
}

/* Are all groups of one size? */
static bool is_uniform(const launch_state *s) {
    for (cl_uint d = 0; s->has_local && d < s->dims; d++)
        if (s->local[d] && s->global[d] % s->local[d]) return false;
    return true;
}

static cl_int make_launch(updating *u, draft *d) {
    const ocl_recording nowhere = {.buffer = u->buffer, .is_update = true};
    const ocl_request r = request(&nowhere);
    const cl_event old = u->commands[d->handle->index];
    const launch_state *s = &d->state;
    const ocl_ndrange n = {s->dims, s->offset, s->global, s->has_local ? s->local : NULL};
    spvf_range range;
    cl_int bad = ocl_check_launch(&r, s->kernel, n, &range);
    if (!bad && is_uniform(s) != is_uniform(&d->handle->now)) bad = CL_INVALID_OPERATION;
    if (bad || !ocl_has_all_args(s->kernel)) return bad;
    bad = ocl_make_launch(&r, s->kernel, &range, &d->launch);
    if (bad) {
        d->launch = NULL;
        return bad;
    }
    d->launch->alone = old && ((const ocl_launch *)old)->alone;
    u->commands[d->handle->index] = &d->launch->command.event;
    return CL_SUCCESS;
}

static cl_uint count_completed(const updating *u) {
    cl_uint n = 0;
    for (cl_uint k = 0; k < u->count; k++)
        n += u->drafts[k].launch && !u->buffer->commands[u->drafts[k].handle->index];
    return n;
}

static cl_int make_steps(const updating *u, ocl_steps **out) {
    cl_command_buffer_khr b = u->buffer;
    *out = NULL;
    if (b->incomplete > count_completed(u)) return CL_SUCCESS;
    if (b->steps) return ocl_change_steps(b, u->commands, out);
    return ocl_make_steps(b, u->commands, out);
}

/* The drafts and the steps take the place of what there was. */
static void commit(updating *u, ocl_steps *steps) {
    cl_command_buffer_khr b = u->buffer;
    b->incomplete -= count_completed(u);
    for (cl_uint k = 0; k < u->count; k++) {
        draft *d = &u->drafts[k];
        const launch_state old = d->handle->now;
        cl_event *command = &b->commands[d->handle->index];
        d->handle->now = d->state;
        d->state = old;
        if (!d->launch) continue;
        if (*command) ocl_give_up(*command);
        *command = &d->launch->command.event;
        d->launch = NULL;
    }
    if (b->steps) ocl_release_steps(b->steps);
    b->steps = steps;
}

static void drop_drafts(updating *u) {
    for (cl_uint k = 0; k < u->count; k++) {
        if (u->drafts[k].launch) ocl_give_up(&u->drafts[k].launch->command.event);
        ocl_release_kernel(u->drafts[k].state.kernel);
    }
    free(u->drafts);
    free(u->commands);
}

/* With the command buffer's lock held. */
static cl_int update(cl_command_buffer_khr b, cl_uint count, const dispatch_update *const *list) {
    ocl_steps *steps;
    cl_int bad = CL_SUCCESS;
    if (!b->finalized || !b->mutable) return CL_INVALID_OPERATION;
    updating u = {.buffer = b,
                  .drafts = calloc(count + 1, sizeof *u.drafts),
                  .commands = calloc(b->count + 1, sizeof *u.commands)};
    if (!u.drafts || !u.commands) bad = CL_OUT_OF_HOST_MEMORY;
    if (!bad) memcpy(u.commands, b->commands, b->count * sizeof *u.commands);
    for (cl_uint n = 0; n < count && !bad; n++) bad = take_update(&u, list[n]);
    for (cl_uint n = 0; n < u.count && !bad; n++) bad = make_launch(&u, &u.drafts[n]);
    if (!bad && u.count) bad = make_steps(&u, &steps);
    if (!bad && u.count) commit(&u, steps);
    drop_drafts(&u);
    return bad;
}

static cl_int update_with_lock(cl_command_buffer_khr b, cl_uint count,
                               const dispatch_update *const *list) {
    rt_lock_take(&b->lock);
    cl_int bad = update(b, count, list);
    rt_lock_release(&b->lock);
    return bad;
}

static cl_int update_newer(cl_command_buffer_khr b, cl_uint count, const cl_uint *types,
                           const dispatch_update *const *list) {
    if (!count != !types || !count != !list) return CL_INVALID_VALUE;
    for (cl_uint n = 0; n < count; n++)
        if (types[n] != NEW_DISPATCH || !list[n]) return CL_INVALID_VALUE;
    return update_with_lock(b, count, list);
}

static cl_int update_older(cl_command_buffer_khr b, const old_update *all) {
    if (all->type != OLD_BASE || all->next || !all->count != !all->list) return CL_INVALID_VALUE;
    const dispatch_update **list = calloc(all->count + 1, sizeof *list);
    if (!list) return CL_OUT_OF_HOST_MEMORY;
    cl_int bad = CL_SUCCESS;
    for (cl_uint n = 0; n < all->count; n++) {
        if (all->list[n].type != OLD_DISPATCH || all->list[n].next) bad = CL_INVALID_VALUE;
        list[n] = &all->list[n].update;
    }
    if (!bad) bad = update_with_lock(b, all->count, list);
    free((void *)list);
    return bad;
}

/* In two forms. */
static cl_int CL_API_CALL update_commands(cl_command_buffer_khr b, ocl_slot s0, ocl_slot s1,
                                          ocl_slot s2) {
    if (!ocl_is(b, OCL_COMMAND_BUFFER)) return CL_INVALID_COMMAND_BUFFER_KHR;
    if (!ocl_is_finalized(b) || !b->mutable) return CL_INVALID_OPERATION;
    if (ocl_form_of_update(&s0) == OCL_FORM_OLDER) return update_older(b, (const old_update *)s0);
    return update_newer(b, (cl_uint)s0, (const cl_uint *)s1, (const dispatch_update *const *)s2);
}

/* ---------------------------------------------------------------------------------- information */

static cl_int give_sizes(const ocl_answer *a, const size_t *sizes, cl_uint dims) {
    return ocl_give(a, sizes, dims * sizeof *sizes);
}

static cl_int give_now(const ocl_answer *a, const launch_state *s,
                       cl_mutable_command_info_khr what) {
    switch (what) {
    case CL_MUTABLE_DISPATCH_DIMENSIONS_KHR: return ocl_give_uint(a, s->dims);
    case CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR: return give_sizes(a, s->offset, s->dims);
    case CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR: return give_sizes(a, s->global, s->dims);
    case CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR: return give_sizes(a, s->local, s->dims);
    default: return CL_INVALID_VALUE;
    }
}

static cl_int CL_API_CALL get_info(cl_mutable_command_khr h, cl_mutable_command_info_khr what,
                                   size_t room, void *to, size_t *size) {
    const ocl_answer a = {room, to, size};
    if (!ocl_is(h, OCL_MUTABLE_COMMAND)) return CL_INVALID_MUTABLE_COMMAND_KHR;
    switch (what) {
    case CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR: return ocl_give_pointer(&a, h->buffer->queue);
    case CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR: return ocl_give_pointer(&a, h->buffer);
    case CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR: return ocl_give_uint(&a, CL_COMMAND_NDRANGE_KERNEL);
    case CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR: return ocl_give_properties(&a, &h->properties);
    case CL_MUTABLE_DISPATCH_KERNEL_KHR: return ocl_give_pointer(&a, h->kernel);
    default: break;
    }
    rt_lock_take(&h->buffer->lock);
    const launch_state now = h->now;
    rt_lock_release(&h->buffer->lock);
    return give_now(&a, &now, what);
}

void ocl_fill_command_mutable(ocl_entries *e) {
    ocl_add_extension(e, "clUpdateMutableCommandsKHR", (ocl_function)update_commands);
    ocl_add_extension(e, "clGetMutableCommandInfoKHR", (ocl_function)get_info);
}
