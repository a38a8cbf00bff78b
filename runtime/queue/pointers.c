/* pointers.c — arguments of launches that are addresses.
 *
 * An address leads to the buffer of the device that has the byte, and to an offset in it.  That is
 * what takes its place when the launch is enqueued or recorded, so that it takes part in everything
 * that buffers do: order, fusion, and what is known of a launch.
 */
#include "runtime/queue/objects.h"

#include <stdlib.h>

/* The arguments before `n`. */
static void release(spvf_launch *w, const spvf_argument *given, size_t n) {
    for (size_t k = 0; k < n; k++)
        if (given[k].address) buf_release(w->args[k].buffer);
    free((void *)(uintptr_t)w->args);
}

static spvf_status find(spvf_device *d, const char *call, size_t n, spvf_argument *a) {
    if (!a->address) return SPVF_OK;
    if (a->buffer || a->bytes)
        return dev_refuse(d, call, "argument %zu is an address, and %s as well", n,
                          a->buffer ? "a buffer" : "bytes");
    a->buffer = buf_find(d, a->address, &a->offset);
    if (!a->buffer)
        return dev_refuse(d, call, "argument %zu: no buffer of the device is at %p", n, a->address);
    a->address = NULL;
    return SPVF_OK;
}

static bool has_addresses(const spvf_launch *w) {
    for (size_t n = 0; w->args && n < w->arg_count; n++)
        if (w->args[n].address) return true;
    return false;
}

spvf_status launch_find_buffers(spvf_device *d, const char *call, const spvf_launch *what,
                                spvf_launch *out) {
    *out = *what;
    if (!has_addresses(what)) return SPVF_OK;
    spvf_argument *args = malloc(what->arg_count * sizeof *args);
    if (!args) return SPVF_ERROR_MEMORY;
    memcpy(args, what->args, what->arg_count * sizeof *args);
    out->args = args;
    for (size_t n = 0; n < what->arg_count; n++) {
        spvf_status status = find(d, call, n, &args[n]);
        if (status == SPVF_OK) continue;
        release(out, what->args, n);
        return status;
    }
    return SPVF_OK;
}

void launch_release_buffers(const spvf_launch *what, spvf_launch *out) {
    if (out->args != what->args) release(out, what->args, what->arg_count);
}
