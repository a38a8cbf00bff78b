/* shared.h — a device that any thread may use: it has a lock, and a context of its own, so that it
 * depends on no other.  Commands of a device that is concurrent run without the lock, each in a
 * context of the thread that submits them.
 *
 * The child of a fork that happened while another thread used the device cannot use it: the device
 * was half changed.  Commands of a concurrent device do not change it.  A device of the whole
 * process, as OpenCL has, is not lost: its lock is held during forks (rt_lock_hold_in_forks). */
#ifndef SPVFUSE_RUNTIME_SHARED_H
#define SPVFUSE_RUNTIME_SHARED_H

#include "runtime/devices/device.h"
#include "runtime/system/lock.h"

typedef struct {
    rt_device *base;
    spvf_context context;
    rt_lock lock; /* of all, but for commands of a concurrent device */
    bool lost;    /* it was half changed when the process was forked */
} rt_shared_device;

/* Without a base, which `rt_shared_run` opens; the messages of its context are as the options
 * say. */
void rt_shared_init(rt_shared_device *d, const spvf_context_options *options);
/* What it launches is remembered by the context, if that remembers anything. */
void rt_shared_remember(rt_shared_device *d, const spvf_context *c);
void rt_shared_close(rt_shared_device *d);
/* Runs the body with the device's lock, and its context's error handling. */
spvf_status rt_shared_run(rt_shared_device *d, void (*body)(void *arg), void *arg);
/* The same for a thread with a context of its own, in which it throws what the body has thrown. */
void rt_shared_run_for(spvf_context *c, rt_shared_device *d, void (*body)(void *arg), void *arg);
/* Gives commands to the device, in `own`, a context of this thread, or in the device's.  Not
 * SPVF_OK: they have failed, and a message has been given, unless memory is exhausted. */
spvf_status rt_shared_submit(rt_shared_device *d, spvf_context *own, rt_submission *s,
                             rt_progress *progress);
/* More commands for a submission that has begun (rt_driver.extend).  Never waits for the lock.
 * False: nothing was done; otherwise *status is that of these commands. */
bool rt_shared_extend(rt_shared_device *d, rt_submission *s, const rt_more *more,
                      spvf_status *status);
/* The stream that the device's commands are in (rt_event), or NULL: they may run in any order. */
static inline const void *rt_shared_stream(const rt_shared_device *d) {
    return d->base->can.in_order ? d->base : NULL;
}
/* Builds a module; the context is this thread's, as for the next ones. */
rt_program *rt_shared_build(spvf_context *c, rt_shared_device *d, const ir_module *m);
rt_function *rt_shared_find(spvf_context *c, rt_shared_device *d, rt_program *p,
                            const char *kernel);
void rt_shared_prepare(spvf_context *c, rt_shared_device *d, const rt_launch *l);
/* program, memory: NULL, or no command uses it any more. */
void rt_shared_discard(rt_shared_device *d, rt_program *program);
void rt_shared_release(rt_shared_device *d, rt_memory *memory);

#endif
