/* launches.h — private to launches.c and joins.c: launches as commands of a queue. */
#ifndef SPVFUSE_RUNTIME_LAUNCHES_H
#define SPVFUSE_RUNTIME_LAUNCHES_H

#include "runtime/queue/objects.h"

typedef struct {
    spvf_program *program;
    const spvf_kernel_info *info;
    spvf_range range;
} launch_part;

/* Launches, one after the other, as the device is told of them, and what they use, with references.
 * All of it follows in one block. */
struct launch_batch {
    rt_refs refs; /* commands share it, or it is a part of one */
    launch_part *parts;
    rt_command *commands;
    spvf_use *use;
    uint32_t n, uses;
    uint64_t recording, content; /* rt_submission */
};

/* A batch of its own, or one that it shares; and what launches use that have joined it, which the
 * scheduler's lock is for until it ends. */
enum { MOST_JOINED = 256, MORE_USES = 8, MORE_CODE = 4 };
typedef struct {
    spvf_command command; /* the first member */
    launch_batch *batch, own;
    uint32_t joined, more_uses, more_programs, more_batches;
    spvf_buffer *more_use[MORE_USES]; /* with references, as the next ones */
    spvf_program *more_program[MORE_CODE];
    launch_batch *more_batch[MORE_CODE];
} launches;

static inline rt_function *_Atomic *launch_slot(const spvf_program *p,
                                                const spvf_kernel_info *info) {
    return &p->functions[info - p->module->kernels];
}

/* A pointer of a struct may lead to no buffer, or be NULL. */
static inline rt_arg launch_arg(const spvf_device *d, const spvf_arg_info *info,
                                const spvf_argument *a) {
    const bool host = d->shared.base->can.host_memory;
    if (a->buffer) return rt_memory_arg(a->buffer->memory, a->offset);
    if (info->kind == SPVF_ARG_BUFFER)
        return host ? rt_address_arg((void *)(uintptr_t)a->address, 0) : rt_memory_arg(NULL, 0);
    return a->bytes ? rt_value_arg(a->bytes, a->size) : rt_local_arg(a->size);
}

/* The rt_run of these commands. */
int32_t launch_run(rt_event *e);
/* Gives back what launches that have joined it use. */
void launch_drop_joined(launches *l);
/* A launch, or a batch, joins the last command of the queue.  False: nothing has happened, and it
 * is to be a command of its own; otherwise a failure is one of the queue. (joins.c) */
bool launch_join(spvf_queue *q, const spvf_launch *w, const spvf_wait *wait, spvf_event **out);
bool launch_join_batch(spvf_queue *q, launch_batch *b, const spvf_wait *wait, spvf_event **out);

#endif
