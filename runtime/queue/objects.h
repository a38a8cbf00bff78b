/* objects.h — the objects that handles of spvfuse_queue.h point to.
 *
 *   device.c     devices and programs
 *   buffer.c     buffers
 *   commands.c   events, queues, functions of the host, markers and barriers
 *   transfers.c  reading, writing, copying and filling buffers
 *   launches.c   launches (launches.h); joins.c: those that are no commands of their own
 *   ahead.c      code of kernels before they are launched, and without
 *   fusion_args.c  arguments of fused kernels
 *   chain.c      launches that follow each other: what of them is one kernel (chain.h), by
 *                places.c (memory that overlaps) and chain_facts.c (what else it can be run for)
 *   graph.c      launches that are recorded and fused (graph.h), graph_devices.c for several devices;
 *                graph_run.c runs them, and graph_changes.c changes them
 *   fusing.c     queues that fuse what is launched
 */
#ifndef SPVFUSE_RUNTIME_OBJECTS_H
#define SPVFUSE_RUNTIME_OBJECTS_H

#include "runtime/devices/shared.h"
#include "runtime/queue/queue.h"
#include "runtime/spvfuse_queue.h"

/* Queues that are fusing and may need each other: those of one device, or of all devices that use
 * the memory of this process. */
typedef struct {
    rt_lock lock;            /* recursive */
    uint32_t queues;         /* that are fusing */
    _Atomic uint32_t active; /* queues that are fusing or ending that: otherwise nothing is kept */
    spvf_queue *ending;      /* whose launches are neither kept nor enqueued just now, or NULL */
} fus_domain;
void fus_domain_init(fus_domain *f);
void fus_domain_free(fus_domain *f);
/* That of all devices that work in memory of this process. */
fus_domain *fus_host_domain(void);

struct spvf_device {
    rt_refs refs;
    rt_shared_device shared; /* messages go where those of the first context went */
    fus_domain own, *fusing; /* its own, or that of the host */
    rt_lock speaking;        /* recursive: one message at a time, or one amid another */
    void (*message)(void *user, const spvf_message *message);
    void *message_user;
    void (*output)(void *user, const char *text); /* printf of kernels, or NULL */
    void *output_user;
};
/* Opens a device that need not be in the list of drivers. */
typedef rt_device *dev_opener(spvf_context *context, const char *name);
spvf_status dev_open_with(spvf_context *context, dev_opener *open, const char *name,
                          spvf_device **out);
void dev_retain(spvf_device *d);
void dev_release(spvf_device *d);
/* Runs the body with the device's lock, and its context's error handling. */
spvf_status dev_run(spvf_device *d, void (*body)(void *arg), void *arg);
/* rt_shared_submit, with messages that are the device's. */
spvf_status dev_submit(spvf_device *d, rt_submission *s, rt_progress *progress);
/* What kernels print; user: the device. */
void dev_print(void *user, const char *text);
/* Was their size set?  Otherwise says that it was not. */
bool dev_take_struct(spvf_device *d, const char *call, void *to, const void *from, size_t size);
/* A context for this thread, whose messages are the device's. */
void dev_context(spvf_device *d, spvf_context *out);
/* Says what is wrong with the arguments of a call; without a device there is no message.  Gives
 * SPVF_ERROR_ARGUMENT. */
spvf_status dev_refuse(spvf_device *d, const char *call, const char *fmt, ...) IR_PRINTF(3, 4);

struct spvf_program {
    rt_refs refs;
    spvf_device *device;
    spvf_module *module; /* a copy, in the device's context; members of structs are parameters */
    spvf_kernel_info *kernels; /* the same ones, as the user knows them */
    rt_program *program;
    rt_function *_Atomic *functions; /* by kernel of the module; NULL: it has not been launched */
    spvf_native
        *native; /* code of all kernels, to be called by the user; NULL: not asked for yet */
    bool fused;  /* a graph's: arguments have been checked as those of its parts */
};
/* A program that is not built yet; NULL: no memory. */
spvf_program *prog_new(spvf_device *d);
/* Builds it from the kernels of a module; throws in this thread's context. */
void prog_build(spvf_context *c, spvf_program *p, const spvf_module *from);
/* Of the program's module; NULL: there is none. */
const spvf_kernel_info *prog_kernel(const spvf_program *p, const char *name);
void prog_retain(spvf_program *p);
void prog_release(spvf_program *p);

struct spvf_buffer {
    rt_refs refs;
    spvf_device *device;
    size_t size;
    rt_memory *memory;    /* NULL: it has not been used yet */
    _Atomic bool is_made; /* there is memory */
    rt_resource resource;
    spvf_queue *fusing; /* that has launches which use it; the lock of the domain is for this */
};
void buf_retain(spvf_buffer *b);
void buf_release(spvf_buffer *b);
/* The buffer whose resource it is: those of others are never placed. */
spvf_buffer *buf_of(rt_resource *r);
/* The buffer of the device that has the byte at an address which the program knows, with a
 * reference; of several the one that ends last.  NULL: there is none. */
spvf_buffer *buf_find(const spvf_device *d, const void *address, size_t *offset);
/* Where it lies; NULL: it is not there yet, or not in memory of this process.  The device's lock is
 * held. */
void *buf_place(const spvf_buffer *b);
/* The same, with the lock: what is told may be different a moment later if it is NULL. */
void *buf_find_place(spvf_buffer *b);
/* Sees to it that there is memory. */
spvf_status buf_prepare(spvf_buffer *b);

struct spvf_queue {
    rt_refs refs;
    spvf_device *device;
    rt_queue queue;
    bool profiling;
    /* Fusion; the lock of the device's domain is for these. */
    bool is_fusing;
    spvf_graph *graph;       /* of the launches so far, or of the last fusion */
    spvf_event *placeholder; /* of them; with a reference */
    spvf_event **waits;      /* that they wait for; with references */
    uint32_t nwaits, room;
};
void queue_release(spvf_queue *q);

/* Fusion ends when a caller needs what is being fused (fusing.c): the lock is held from fus_begin
 * to fus_end, around whatever enqueues a command. */
void fus_begin(spvf_device *d);
void fus_end(spvf_device *d);
/* Is there anything that a command could need?  Fusion that another thread starts meanwhile keeps
 * only launches that come later. */
static inline bool fus_is_active(const spvf_device *d) {
    return atomic_load_explicit(&d->fusing->active, memory_order_acquire) != 0;
}
/* A command that is enqueued, or the program, needs this, or memory that it shares. */
void fus_need_buffer(spvf_buffer *b, const char *cause);
void fus_need_event(spvf_event *e, const char *cause);
void fus_need_all(const spvf_device *d, const spvf_wait *wait);
/* The same for events of devices with another lock, which is taken: before this one's is. */
void fus_need_foreign(const spvf_device *d, const spvf_wait *wait);
void fus_need_queue(spvf_queue *q, const char *cause);
/* Takes a launch of a queue that is fusing; false: it goes its normal way. */
bool fus_take(spvf_queue *q, const spvf_launch *what, const spvf_wait *wait, spvf_event **out,
              spvf_status *status);
void fus_free(spvf_queue *q);

/* What fusing.c asks of graphs. */
spvf_status graph_create(spvf_device *d, const char *call, const spvf_graph_options *options,
                         spvf_graph **out);
bool graph_is_empty(const spvf_graph *g);
void graph_each_launch(const spvf_graph *g, void (*visit)(const spvf_launch *l, spvf_queue *q),
                       spvf_queue *q);
void graph_leave_unfused(spvf_graph *g);
void graph_may_be_refused(spvf_graph *g); /* whatever its options say */

/* What a command adds follows it in the same block. */
struct spvf_event {
    rt_event event; /* the first member */
    spvf_device *device;
    spvf_queue *queue; /* or NULL */
    bool is_programs;  /* which ends it */
    spvf_queue
        *_Atomic fusing; /* the queue whose launches end with it, while they are being fused */
    spvf_event *follows; /* how it ends; with a reference */
    uint64_t ran_ns;     /* as the device has measured it; 0: unknown */
    uint32_t uses;
    spvf_use *use; /* with references */
    void (*drop)(spvf_event *e);
};

/* An event of no queue.  NULL: no memory. */
spvf_event *event_new(spvf_device *d, size_t size, rt_run *run);
/* Room for a command that uses so many buffers, `size` bytes in all.  NULL: no memory. */
spvf_event *cmd_new(spvf_queue *q, size_t size, uint32_t uses, rt_run *run);
/* Commands for the device; their kind of event begins with this. */
typedef struct {
    spvf_event event; /* the first member */
    rt_submission submission;
    rt_command command;
    rt_command *commands; /* this one, or several */
    uint32_t count;
    uint64_t recording, content; /* rt_submission */
    bool exact;
} spvf_command;
/* The same, for such a command. */
spvf_command *cmd_new_on_device(spvf_queue *q, size_t size, uint32_t uses, rt_run *run);
/* Gives the commands to their device: an rt_run. */
int32_t cmd_run_on_device(rt_event *e);
/* Another use: of one buffer the uses are joined.  The buffer is prepared. */
void cmd_use(spvf_event *e, spvf_buffer *b, bool writes);
/* The same in a list of n, which has room. */
void cmd_add_use(spvf_use *list, uint32_t *n, spvf_buffer *b, bool writes);
/* Enqueues and hands out, or frees it when there is no memory.  A prompt command is begun here if
 * nothing has to end before. */
spvf_status cmd_submit(spvf_event *e, rt_enqueue_kind kind, const spvf_wait *wait,
                       spvf_event **out);
/* A buffer of a device, and a queue for its commands. */
typedef struct {
    spvf_buffer *buffer;
    spvf_queue *queue;
} move_side;
/* Copies all of a buffer to one of another device, which has as many bytes, by a command of one of
 * the devices, or by one of each. */
spvf_status move_enqueue(const move_side *from, const move_side *to, const spvf_wait *wait,
                         spvf_event **out);
/* A command that does nothing, at its place in the queue. */
spvf_status nothing_enqueue(spvf_queue *q, const spvf_wait *wait, spvf_event **out);
/* SPVF_OK, or what is wrong has been said. */
spvf_status cmd_check_wait(spvf_device *d, const char *call, const spvf_wait *wait);
/* The launch with an argument for each parameter, and buffers in the place of addresses
 * (pointers.c): *out is to be released, and lives as long as the original.  SPVF_OK, or what is
 * wrong has been said.  Of the functions for launches, those of the user take the original, and
 * others *out. */
/* A launch of the user, of whatever version. */
spvf_status launch_take(spvf_device *d, const char *call, const spvf_launch *what,
                        spvf_launch *out);
spvf_status launch_find_buffers(spvf_device *d, const char *call, const spvf_launch *what,
                                spvf_launch *out);
void launch_release_buffers(const spvf_launch *what, spvf_launch *out);
/* Writes another value over that of an argument of the user.  NULL, or why it is not done.  Fused:
 * code has been made in which sizes are constants. */
const char *launch_set_value(const spvf_launch *l, size_t arg, const void *bytes, bool fused);
spvf_status launch_enqueue(spvf_queue *q, const spvf_launch *what, const spvf_wait *wait,
                           spvf_event **out);
/* Launches as one command, one after the other; the number of a recording, or 0. */
typedef struct {
    const spvf_launch *launch;
    uint32_t n;
    uint64_t recording;
} launch_list;
spvf_status launch_enqueue_list(spvf_queue *q, const launch_list *list, const spvf_wait *wait,
                                spvf_event **out);
/* The same for launches that come again as they are: what the device is told of them is kept.
 * NULL: no memory. */
typedef struct launch_batch launch_batch;
launch_batch *launch_batch_new(const launch_list *list);
void launch_batch_release(launch_batch *b);
/* Have all its kernels been launched before?  Only such a batch may be enqueued. */
bool launch_batch_is_known(const launch_batch *b);
spvf_status launch_enqueue_batch(spvf_queue *q, launch_batch *b, const spvf_wait *wait,
                                 spvf_event **out);
spvf_status graph_record(spvf_graph *g, const spvf_launch *what);
/* SPVF_OK, or what is wrong has been said. */
spvf_status launch_check(spvf_device *d, const char *call, const spvf_launch *what);
/* The same, but its program may be of another device, and so may its buffers. */
spvf_status launch_check_spread(spvf_device *d, const char *call, const spvf_launch *what);
/* Compiles what the launch will run; throws in this thread's context when the device cannot run
 * it. */
void launch_prepare(spvf_context *c, const spvf_launch *what, ir_arena *scratch);
/* The status of a command as its event has it. */
static inline int32_t cmd_result(spvf_status s) { return -(int32_t)s; }

#endif
