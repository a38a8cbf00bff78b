/* pointers.c — arguments of launches that are addresses, or structs with addresses.
 *
 * An address leads to the buffer of the device that has the byte, and to an offset in it.  That is
 * what takes its place when the launch is enqueued or recorded, so that it takes part in everything
 * that buffers do: order, fusion, and what is known of a launch.
 *
 * The kernels of a program have a parameter for each member of a struct with pointers
 * (api/closures.c).  The user gives the bytes of the struct, which are taken apart here.  A pointer
 * in it that leads to no buffer stays as it is: it orders nothing, and nothing is fused that may
 * access the same memory.
 */
#include "runtime/queue/objects.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------- taking apart */

/* Counts and sizes, as far as taking apart needs them. */
static spvf_status check_closures(spvf_device *d, const char *call, const spvf_launch *w,
                                  const spvf_kernel_info *k) {
    if (w->arg_count != k->host_arg_count)
        return dev_refuse(d, call, "kernel '%s' takes %zu arguments, not %zu", k->name,
                          k->host_arg_count, w->arg_count);
    if (!w->args) return dev_refuse(d, call, "%zu arguments at NULL", w->arg_count);
    for (size_t n = 0; n < k->arg_count; n++) {
        const spvf_arg_info *info = k->args[n], *host = k->host_args[info->closure];
        const spvf_argument *a = &w->args[info->closure];
        if (!info->member) continue;
        if (a->buffer || a->address || !a->bytes)
            return dev_refuse(d, call, "kernel '%s', argument %u: takes the bytes of a struct",
                              k->name, info->closure);
        if (a->size != host->size)
            return dev_refuse(d, call,
                              "kernel '%s', argument %u: takes a value of %llu bytes, and is "
                              "given %zu",
                              k->name, info->closure, (unsigned long long)host->size, a->size);
    }
    return SPVF_OK;
}

static spvf_argument member_of(const spvf_argument *closure, const spvf_arg_info *info) {
    const char *bytes = (const char *)closure->bytes + info->offset;
    spvf_argument a = {.bytes = bytes, .size = (size_t)info->size};
    if (info->kind != SPVF_ARG_BUFFER) return a;
    a = (spvf_argument){.size = 0};
    memcpy(&a.address, bytes, sizeof a.address);
    return a;
}

static void unpack(const spvf_launch *w, const spvf_kernel_info *k, spvf_argument *args) {
    for (size_t n = 0; n < k->arg_count; n++) {
        const spvf_argument *given = &w->args[k->args[n]->closure];
        args[n] = k->args[n]->member ? member_of(given, k->args[n]) : *given;
    }
}

/* ------------------------------------------------------------------------------------ addresses */

typedef struct {
    spvf_device *device;
    const char *call;
} place;

/* Takes a reference of the buffer; unknown: there need not be one. */
static spvf_status find(const place *at, size_t n, bool unknown, spvf_argument *a) {
    spvf_device *d = at->device;
    if (!a->address) {
        if (a->buffer) buf_retain(a->buffer);
        return SPVF_OK;
    }
    if (a->buffer || a->bytes)
        return dev_refuse(d, at->call, "argument %zu is an address, and %s as well", n,
                          a->buffer ? "a buffer" : "bytes");
    a->buffer = buf_find(d, a->address, &a->offset);
    if (!a->buffer && unknown && d->shared.base->can.host_memory) return SPVF_OK;
    if (!a->buffer)
        return dev_refuse(d, at->call, "argument %zu: no buffer of the device is at %p", n,
                          a->address);
    a->address = NULL;
    return SPVF_OK;
}

static void release(spvf_launch *w, size_t n) {
    for (size_t k = 0; k < n; k++)
        if (w->args[k].buffer) buf_release(w->args[k].buffer);
    free((void *)(uintptr_t)w->args);
}

static bool has_addresses(const spvf_launch *w) {
    for (size_t n = 0; w->args && n < w->arg_count; n++)
        if (w->args[n].address) return true;
    return false;
}

spvf_status launch_take(spvf_device *d, const char *call, const spvf_launch *what,
                        spvf_launch *out) {
    if (what->size == sizeof *what)
        *out = *what;
    else if (!dev_take_struct(d, call, out, what, sizeof *out))
        return SPVF_ERROR_ARGUMENT;
    return SPVF_OK;
}

spvf_status launch_find_buffers(spvf_device *d, const char *call, const spvf_launch *what,
                                spvf_launch *out) {
    const spvf_kernel_info *k = prog_kernel(what->program, what->kernel);
    const place at = {d, call};
    const bool closures = k && k->args != k->host_args;
    spvf_status status = closures ? check_closures(d, call, what, k) : SPVF_OK;
    *out = *what;
    if (k) out->kernel = k->name; /* is found at once from here on */
    if (status != SPVF_OK || (!closures && !has_addresses(what))) return status;
    if (closures) out->arg_count = k->arg_count;
    spvf_argument *args = malloc((out->arg_count + 1) * sizeof *args);
    if (!args) return SPVF_ERROR_MEMORY;
    if (closures)
        unpack(what, k, args);
    else
        memcpy(args, what->args, what->arg_count * sizeof *args);
    out->args = args;
    for (size_t n = 0; n < out->arg_count; n++) {
        const uint32_t number = closures ? k->args[n]->closure : (uint32_t)n;
        status = find(&at, number, closures && k->args[n]->member, &args[n]);
        if (status == SPVF_OK) continue;
        release(out, n);
        return status;
    }
    return SPVF_OK;
}

void launch_release_buffers(const spvf_launch *what, spvf_launch *out) {
    if (out->args != what->args) release(out, out->arg_count);
}

/* ----------------------------------------------------------------------------------- new values */

static void *place_of(const spvf_argument *a) {
    if (!a->buffer) return (void *)(uintptr_t)a->address;
    char *begin = buf_place(a->buffer);
    return begin ? begin + a->offset : NULL;
}

/* Why a member cannot become what it is in the new bytes, or NULL. */
static const char *refuse_member(const spvf_launch *l, size_t n, const void *bytes, bool fused) {
    const spvf_kernel_info *k = prog_kernel(l->program, l->kernel);
    const spvf_argument now = member_of(&(spvf_argument){.bytes = bytes}, k->args[n]);
    if (k->args[n]->kind == SPVF_ARG_BUFFER)
        return now.address == place_of(&l->args[n])
                   ? NULL
                   : "a pointer in the struct is another one: spvf_graph_set_buffer changes that";
    bool same = !memcmp(now.bytes, l->args[n].bytes, now.size);
    return same || !fused || !rt_is_size(l->program->module, k, n)
               ? NULL
               : "an integer in the struct is another one, and a constant of the code";
}

const char *launch_set_value(const spvf_launch *l, size_t arg, const void *bytes, bool fused) {
    const spvf_kernel_info *k = prog_kernel(l->program, l->kernel);
    for (size_t n = 0; n < k->arg_count; n++) {
        if (k->args[n]->closure != arg || !k->args[n]->member) continue;
        const char *why = refuse_member(l, n, bytes, fused);
        if (why) return why;
    }
    for (size_t n = 0; n < k->arg_count; n++) {
        const spvf_arg_info *info = k->args[n];
        if (info->closure != arg || info->kind != SPVF_ARG_VALUE) continue;
        void *to = (void *)(uintptr_t)l->args[n].bytes; /* the graph's */
        memcpy(to, (const char *)bytes + info->offset, l->args[n].size);
    }
    return NULL;
}
