/* spvfuse_queue.h — running kernels: devices, programs, buffers, queues, events.
 *
 *     spvf_device *d;
 *     spvf_device_open(cx, "cpu", &d);
 *     spvf_program_create(d, module, &p);       // spvf_module_load's, or spvf_fusion_module's
 *     spvf_buffer_create(d, size, data, SPVF_USE_HOST, &x);
 *     spvf_queue_create(d, NULL, &q);
 *     spvf_argument args[] = {{.buffer = x}, {.bytes = &n, .size = sizeof n}};
 *     spvf_launch what = {.size = sizeof what, .program = p, .kernel = "scale",
 *                         .range = range, .args = args, .arg_count = 2};
 *     spvf_queue_launch(q, &what, NULL, NULL);
 *     spvf_queue_finish(q);
 *
 * Order: a command waits for the events that it is given, in an in-order queue for the command
 * before it, and for earlier commands, of any queue, that use its buffers: for those that write
 * when it reads, for all when it writes.  Which arguments a kernel writes to is read off the
 * kernel.  Buffers that share bytes of the program's memory count as the same, also those of two
 * devices; memory that is read to or written from does not count.
 *
 * Ownership: what is destroyed lives on until the commands that use it have ended.  A program keeps
 * nothing of the module that it was made from.  A context is not needed any more once a device is
 * open; memory comes from malloc.
 * Threads: any thread may use any of this at any time, but not what another thread destroys.  None
 * may be cancelled (pthread_cancel) while it is in a call, nor leave a callback but by returning.
 * Errors: a call that makes no sense gives SPVF_ERROR_ARGUMENT, and a message that says which
 * argument and why, where a handle tells whose message it is.  A command that fails gives its event
 * a status, and its queue remembers it for spvf_queue_finish; a message tells why.  On device check
 * a launch that is reported for an error has run, and fails with SPVF_ERROR_INPUT.  Messages go to
 * the callback of the context that the device was opened with, from any thread, one at a time; a
 * callback may use all of this, but wait for no command. */
#ifndef SPVFUSE_QUEUE_H
#define SPVFUSE_QUEUE_H

#include "spvfuse.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct spvf_device spvf_device;
typedef struct spvf_program spvf_program;
typedef struct spvf_buffer spvf_buffer;
typedef struct spvf_queue spvf_queue;
typedef struct spvf_event spvf_event;
typedef struct spvf_graph spvf_graph;

/* -------------------------------------------------------------------------------------- devices */

/* Opens a device: `name` is as spvf_run_options.device; NULL: spvf_default_device.
 * SPVF_ERROR_ARGUMENT: context or out is NULL, or no device has that name.  SPVF_ERROR_DEVICE: this
 * machine has none, and a message says why.  SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_device_open(spvf_context *context, const char *name, spvf_device **out);
/* Closes the device once the queues, programs, buffers and commands that use it are gone; NULL:
 * nothing happens. */
SPVF_API void spvf_device_destroy(spvf_device *device);
/* What an opened device is and can do, as spvf_devices tells of it, with the options that it was
 * opened with: calls `answer` once, during the call, without a lock.  What it is given belongs to
 * the library, until it returns.  SPVF_ERROR_ARGUMENT: NULL; SPVF_ERROR_DEVICE: the device is not
 * there any more.  Any thread. */
SPVF_API spvf_status spvf_device_describe(spvf_device *device,
                                          void (*answer)(void *user, const spvf_device_info *info),
                                          void *user);
/* Has `output` called with what kernels print, from any thread, one text at a time; NULL (at
 * first): it is dropped. */
SPVF_API void spvf_device_on_print(spvf_device *device,
                                   void (*output)(void *user, const char *text), void *user);

/* Makes a module ready for a device.  Kernels are compiled when they are launched.
 * SPVF_ERROR_ARGUMENT: an argument is NULL.  SPVF_ERROR_DEVICE: the device cannot run the module,
 * and a message says why.  SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_program_create(spvf_device *device, const spvf_module *module,
                                         spvf_program **out);
/* Frees the program once the commands that use it have ended; NULL: nothing happens. */
SPVF_API void spvf_program_destroy(spvf_program *program);
/* The kernel of that name as launches see it, which belongs to the program; NULL: there is none. */
SPVF_API const spvf_kernel_info *spvf_program_kernel(const spvf_program *program, const char *name);
/* Compiles a kernel ahead for launches on a range, so that the first of them does not wait for it.
 * Nothing is launched.  Sizes are in work-items; local all 0: the device chooses, as for a launch.
 * Arguments are not known yet: it is taken that buffers are different memory, that integers are
 * small, and that of values of marked arguments there is 0; so launches with others may still
 * compile.  A device that compiles when a program is created does nothing.  SPVF_ERROR_ARGUMENT:
 * there is no such kernel, or the range is none; SPVF_ERROR_DEVICE or SPVF_ERROR_REFUSED: the
 * device cannot run it, and a message says why.  Any thread. */
SPVF_API spvf_status spvf_program_prepare(spvf_program *program, const char *kernel,
                                          const spvf_range *range);
/* The code of a kernel, to be called by the program itself instead of being launched: `run` and
 * `run_block` of spvf_native_kernel (spvfuse.h), which says what they are given.  A struct with
 * pointers is taken apart: each member is an argument (spvf_closure_arguments).
 *
 * The first call compiles all kernels of the program, for any range, as spvf_module_emit does; no
 * queue waits for what is called then, and no buffer is protected from it.  *out is the program's,
 * and is valid until that is destroyed; no thread may be in the code then.  Any number of threads
 * may call it at the same time, for different work-groups.  Any thread may ask for it.
 * SPVF_ERROR_REFUSED, after a message: the device does not run code of this process (all but cpu),
 * or the kernel cannot become code that is called so. */
SPVF_API spvf_status spvf_program_native(spvf_program *program, const char *kernel,
                                         const spvf_native_kernel **out);

/* -------------------------------------------------------------------------------------- buffers */

typedef enum {
    SPVF_COPY_HOST = 0, /* `host` is copied; NULL: memory comes when it is used */
    /* The buffer is that memory, which outlives it; device cpu only.  Several buffers may be the
     * same memory, or share some of it: addresses decide what depends on what. */
    SPVF_USE_HOST = 1
} spvf_buffer_flags;

/* Memory of `size` bytes on the device; `flags` says what `host` is.  The memory itself may come
 * later, with the first use: then it is there that it can be missing.  SPVF_ERROR_ARGUMENT: device
 * or out is NULL, the flags are unknown, or SPVF_USE_HOST has no `host`.  SPVF_ERROR_REFUSED:
 * SPVF_USE_HOST on a device that has memory of its own.  SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_buffer_create(spvf_device *device, size_t size, void *host,
                                        uint32_t flags, spvf_buffer **out);
/* Frees the memory once the commands that use it have ended; memory of the program stays as they
 * left it.  NULL: nothing happens. */
SPVF_API void spvf_buffer_destroy(spvf_buffer *buffer);
/* The size of a buffer in bytes; 0 of NULL. */
SPVF_API size_t spvf_buffer_size(const spvf_buffer *buffer);
/* Where a buffer lies in the memory of this process, at a multiple of 128 unless it is the user's;
 * what is there is as the commands that have ended left it.  NULL: the device has memory of its
 * own, or there is none left. */
SPVF_API void *spvf_buffer_address(spvf_buffer *buffer);

/* --------------------------------------------------------------------------------------- events */

/* Waits until the command of an event has ended, and tells how it did.  SPVF_ERROR_ARGUMENT also
 * when event is NULL, or when the command would wait for itself. */
SPVF_API spvf_status spvf_event_wait(spvf_event *event);
/* Whether the command of an event has ended; then *status (or NULL) says how. */
SPVF_API bool spvf_event_ended(const spvf_event *event, spvf_status *status);
/* Has `function` called once, when the command has ended, by some thread; at once when it has.
 * Threads that wait for the event may go on before it is called: `user` must live until then.
 * SPVF_ERROR_ARGUMENT: event or function is NULL.  SPVF_ERROR_MEMORY.  Then it is not called. */
SPVF_API spvf_status spvf_event_on_end(spvf_event *event,
                                       void (*function)(void *user, spvf_status status),
                                       void *user);
/* Nanoseconds of the system's monotonic clock; what has not happened yet is 0.  A command for
 * another processor has started when its device was given it, unless its queue is profiled.
 * Fixed. */
typedef struct {
    uint64_t enqueued, started, ended;
} spvf_event_times;
/* When the command was enqueued, began and ended.  May be called at any time. */
SPVF_API spvf_event_times spvf_event_get_times(const spvf_event *event);
/* Frees an event; its command goes on.  NULL: nothing happens. */
SPVF_API void spvf_event_destroy(spvf_event *event);

/* Makes an event that the program ends itself.  One that is destroyed before fails.
 * SPVF_ERROR_ARGUMENT: device or out is NULL.  SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_event_create(spvf_device *device, spvf_event **out);
/* Ends an event of spvf_event_create, once, with a status; commands that wait for it fail unless
 * the status is SPVF_OK.  SPVF_ERROR_ARGUMENT: it is no such event, has ended already, or the
 * status is none. */
SPVF_API spvf_status spvf_event_end(spvf_event *event, spvf_status status);

/* --------------------------------------------------------------------------------------- queues */

typedef struct {
    size_t size;       /* sizeof(spvf_queue_options) */
    bool out_of_order; /* only events and buffers order commands */
    /* From `started` to `ended` is what the device has measured for the commands of an event, if it
     * can; device `cuda` does, with two events of the driver for each. */
    bool profiling;
} spvf_queue_options;

/* A queue of the device, in order unless the options say otherwise; options NULL: defaults.
 * SPVF_ERROR_ARGUMENT: device or out is NULL, or the options have no size.  SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_queue_create(spvf_device *device, const spvf_queue_options *options,
                                       spvf_queue **out);
/* Frees a queue, after a wait for its commands unless one of them asks for it; NULL: nothing
 * happens. */
SPVF_API void spvf_queue_destroy(spvf_queue *queue);
/* Waits until all that was enqueued to a queue has ended.  The status of the first command, in the
 * order of enqueuing, that has failed since the last call.  SPVF_ERROR_ARGUMENT also when queue is
 * NULL, or a command of the queue would wait for itself. */
SPVF_API spvf_status spvf_queue_finish(spvf_queue *queue);

/* What a command waits for.  Fixed. */
typedef struct {
    spvf_event *const *events;
    size_t count;
} spvf_wait;

/* An argument: a buffer, from `offset` bytes on; bytes by value; an address, which is the same as
 * the buffer that has it and the offset in that; or, with all of them NULL, `size` bytes of local
 * memory.  Buffers are found by address once the program knows where they lie: spvf_buffer_address
 * has been called, or they were made with SPVF_USE_HOST.  Of several the one that ends last is
 * taken.  Pointers in structs that are given by value, as SYCL programs give them, are such
 * addresses, too; one that leads to no buffer orders nothing, and nothing is fused with it.
 * Fixed. */
typedef struct {
    spvf_buffer *buffer;
    size_t offset;
    const void *bytes;
    size_t size;
    const void *address;
} spvf_argument;

typedef struct {
    size_t size; /* sizeof(spvf_launch) */
    spvf_program *program;
    const char *kernel;
    spvf_range range; /* local all 0: the device chooses */
    const spvf_argument *args;
    size_t arg_count;
    bool alone; /* it is not fused, though its queue is fusing */
} spvf_launch;

/* The arguments of a fused kernel out of those of its members.  members[m] has `counts[m]`
 * arguments, as a launch of member m would have; args has room for `count` of them, which is
 * arg_count of spvf_fusion_info.  What the arguments point to is not copied.  Arguments of
 * parameters that were said to be the same have to be equal, otherwise the call fails; those of
 * parameters that are constants, unused or promoted are not looked at.
 * SPVF_ERROR_ARGUMENT, after a message in the context of the fusion that names the member and the
 * parameter.  Reads the fusion only, so several threads may do so as long as no call fails. */
SPVF_API spvf_status spvf_fusion_arguments(const spvf_fusion *fusion,
                                           const spvf_argument *const *members,
                                           const size_t *counts, spvf_argument *args, size_t count);

/* In all that follows `wait` and `out` may be NULL; *out is to be destroyed.  What is given by
 * address is copied before the call returns, but for the memory that is read to and written from
 * and what a function of the host is given. */

/* Launches a kernel.  SPVF_ERROR_ARGUMENT: queue or what is NULL, the program has no such kernel,
 * or it takes other arguments; a message names the argument.  SPVF_ERROR_MEMORY.  What fails later
 * is the status of the event. */
SPVF_API spvf_status spvf_queue_launch(spvf_queue *queue, const spvf_launch *what,
                                       const spvf_wait *wait, spvf_event **out);
/* Copies `size` bytes of the buffer, from `offset` on, to memory of the program, which stays there
 * until the command has ended.  SPVF_ERROR_ARGUMENT: queue, buffer or memory is NULL, the buffer is
 * of another device, or has fewer bytes.  SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_queue_read(spvf_queue *queue, spvf_buffer *from, size_t offset, void *to,
                                     size_t size, const spvf_wait *wait, spvf_event **out);
/* Copies `size` bytes of the program's memory, which stays as it is until the command has ended,
 * into the buffer, from `offset` on.  Errors are those of spvf_queue_read: SPVF_ERROR_ARGUMENT,
 * SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_queue_write(spvf_queue *queue, spvf_buffer *to, size_t offset,
                                      const void *from, size_t size, const spvf_wait *wait,
                                      spvf_event **out);
/* Copies `size` bytes from one buffer to another, or within one where the two ranges do not
 * overlap, or are the same.  Errors are those of spvf_queue_read: SPVF_ERROR_ARGUMENT,
 * SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_queue_copy(spvf_queue *queue, spvf_buffer *from, size_t from_offset,
                                     spvf_buffer *to, size_t to_offset, size_t size,
                                     const spvf_wait *wait, spvf_event **out);
/* Fills `size` bytes of a buffer, from `offset` on, with a pattern of 1 to 128 bytes; `size` is a
 * multiple of that.  Errors are those of spvf_queue_read:
 * SPVF_ERROR_ARGUMENT, also for such sizes, and SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_queue_fill(spvf_queue *queue, spvf_buffer *to, size_t offset, size_t size,
                                     const void *pattern, size_t pattern_size,
                                     const spvf_wait *wait, spvf_event **out);

/* Memory that a function of the host uses.  Fixed. */
typedef struct {
    spvf_buffer *buffer;
    bool writes;
} spvf_use;
/* Enqueues a function of the program, which is called by some thread; what it gives is the status
 * of its event.  It may use all of this, but not wait for what waits for it.  Waiting for its own
 * event or queue is refused.  Waiting for a later command of its queue, where that is in order,
 * never ends.  SPVF_ERROR_ARGUMENT: queue or function is NULL, or a buffer is, or is of another
 * device.  SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_queue_host(spvf_queue *queue, spvf_status (*function)(void *user),
                                     void *user, const spvf_use *uses, size_t use_count,
                                     const spvf_wait *wait, spvf_event **out);
/* Enqueues a command that does nothing, and ends when all that it waits for has: without `wait`,
 * all commands of the queue before it.  SPVF_ERROR_ARGUMENT: queue is NULL, or an event of `wait`
 * is.  SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_queue_marker(spvf_queue *queue, const spvf_wait *wait, spvf_event **out);
/* Enqueues a marker for which later commands of the queue wait.  Errors are those of
 * spvf_queue_marker: SPVF_ERROR_ARGUMENT, SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_queue_barrier(spvf_queue *queue, const spvf_wait *wait, spvf_event **out);

/* ------------------------------------------------------------------------------------------ graphs
 *
 * Launches that are recorded once, fused where that is legal and profitable, and run as often as
 * the program wants.  A graph belongs to one thread at a time; buffers and programs in it live as
 * long as it.
 *
 *     spvf_graph_create(d, NULL, &g);
 *     spvf_graph_launch(g, &first, NULL);
 *     spvf_graph_launch(g, &second, NULL);
 *     spvf_graph_internal(g, between, SPVF_PROMOTE_AUTO);
 *     spvf_graph_commit(g);
 *     spvf_graph_run(g, q, NULL, NULL);
 *
 * Launches run in the order in which they were recorded, as far as their buffers tell.  Those that
 * follow each other are fused as far as it goes, and as far as the device can run what comes of it;
 * a refusal is kept for spvf_graph_get_kernel, and the launches on both sides of it run one after
 * the other.  Committing compiles what was fused.
 *
 * Several devices: a launch runs on the device of its program, which need not be that of the graph,
 * and its buffers may be of any device.  Launches that follow each other on one device are fused, and
 * others are not (fuse.devices).  A launch that uses a buffer of another device works on the same
 * memory if both devices work in memory of the program, and otherwise on a copy that belongs to the
 * graph: the contents are copied when the launch needs them and does not have them yet, and when the
 * graph has run the buffer has them, unless it is internal.  Copies are of whole buffers
 * (spvf_graph_get_copy).  Launches that need nothing of each other run at the same time. */

typedef struct {
    size_t size; /* sizeof(spvf_graph_options) */
    /* All launches must become one kernel: a refusal is an error, with its explanation. */
    bool strict;
    bool unfused; /* nothing is fused */
    bool force;   /* as in spvf_fuse_options, as the next one */
    spvf_barrier barrier;
    bool constants; /* values become constants of the code: they cannot be changed any more */
    /* Where work-groups of one launch depend on those of another, all of them wait: launches become
     * phases of one kernel, on devices that can (cpu, check and cuda). */
    bool phases;
} spvf_graph_options;

/* An empty graph of the device; options NULL: defaults.  SPVF_ERROR_ARGUMENT: device or out is
 * NULL, or the options have no size.  SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_graph_create(spvf_device *device, const spvf_graph_options *options,
                                       spvf_graph **out);
/* Frees the graph; runs that are under way go on.  NULL: nothing happens. */
SPVF_API void spvf_graph_destroy(spvf_graph *graph);
/* Records a launch, which may be for another device than the graph is of; *index (or NULL) is its
 * number.  SPVF_ERROR_ARGUMENT: as of spvf_queue_launch, or the graph is committed already.
 * SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_graph_launch(spvf_graph *graph, const spvf_launch *what, size_t *index);
/* Says that the contents of a buffer are not needed when the graph has run, nor before: memory of
 * items or work-groups may take its place, and if so it is never allocated.  SPVF_ERROR_ARGUMENT:
 * an argument is NULL, or the graph is committed already.  SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_graph_internal(spvf_graph *graph, spvf_buffer *buffer, spvf_promote kind);
/* Has a launch of a graph stay by itself.  SPVF_ERROR_ARGUMENT: graph is NULL or committed already,
 * or there is no such launch. */
SPVF_API spvf_status spvf_graph_exclude(spvf_graph *graph, size_t index);
/* Fuses the launches of a graph, and ends recording.  After an error the graph may be destroyed
 * only; SPVF_ERROR_REFUSED: it is strict, or buffers that share memory would be copied to another
 * device. */
SPVF_API spvf_status spvf_graph_commit(spvf_graph *graph);

/* What became of the launches, once committed: kernels, each of some of them.  Fixed. */
typedef struct {
    size_t first, count;                 /* launches */
    const spvf_explanation *explanation; /* of a fused kernel; NULL: one launch by itself */
    const spvf_explanation *refusal;     /* why the next launch is not part of it, or NULL */
} spvf_graph_kernel;
/* How many kernels a run launches; 0 before the graph is committed. */
SPVF_API size_t spvf_graph_kernel_count(const spvf_graph *graph);
/* Kernel `index`, from 0, in the order in which they run; belongs to the graph.  Zeros: there is
 * none. */
SPVF_API spvf_graph_kernel spvf_graph_get_kernel(const spvf_graph *graph, size_t index);

/* What a run copies from one device to another, once committed.  Fixed. */
typedef struct {
    spvf_buffer *buffer; /* of the program: the contents are those of it, or of a copy of it */
    spvf_device *from, *to;
    size_t kernel; /* that needs it; spvf_graph_kernel_count: the program does, in the end */
} spvf_graph_copy;
/* How many copies between devices a run makes; 0 before the graph is committed. */
SPVF_API size_t spvf_graph_copy_count(const spvf_graph *graph);
/* Copy `index`, from 0, in the order in which they are enqueued.  Zeros: there is none. */
SPVF_API spvf_graph_copy spvf_graph_get_copy(const spvf_graph *graph, size_t index);

/* Enqueues a run of a graph; it may be running already.  SPVF_ERROR_ARGUMENT: graph or queue is
 * NULL, the graph was not committed, or the queue is of another device.  SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_graph_run(spvf_graph *graph, spvf_queue *queue, const spvf_wait *wait,
                                    spvf_event **out);
/* Gives an argument of a launch another value, for the runs to come.  The new value has as many
 * bytes as the old one.  In a struct with pointers, those stay the same, and so do integers when
 * launches have been fused: they are constants then.  SPVF_ERROR_ARGUMENT: there is no such launch
 * or argument, it is no value of so many bytes, or it has become a constant. */
SPVF_API spvf_status spvf_graph_set_value(spvf_graph *graph, size_t index, size_t arg,
                                          const void *bytes, size_t size);
/* Puts another buffer wherever the old one was, for the runs to come; the new one has the same
 * size, and shares no memory with others of the graph; nor does the old one, when launches have
 * been fused.  SPVF_ERROR_ARGUMENT: one of the two is not so, or a buffer is NULL, or they are of
 * different devices.  SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_graph_set_buffer(spvf_graph *graph, spvf_buffer *old, spvf_buffer *now);

/* ------------------------------------------------------------------------------------------ fusing
 *
 * The same without a graph: between start and complete a queue keeps what is launched, and fuses it
 * then.  Launches that are kept have one event, that of all of them; what they wait for outside
 * stays, what they wait for among themselves goes without saying.  Commands that are no launches,
 * and launches that are `alone`, take their normal way.
 *
 * When something needs a launch that is kept, fusion is cancelled, with a warning that says why,
 * and the launches are enqueued one by one: a wait for the queue or for their event; a command, of
 * any queue, that waits for their event or uses one of their buffers without being kept itself; the
 * address or the destruction of such a buffer; the destruction of the queue. */

/* Begins to keep what is launched on a queue, to fuse it; options NULL: defaults.
 * SPVF_ERROR_ARGUMENT: queue is NULL, it is fusing already, or the options have no size.
 * SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_queue_start_fusion(spvf_queue *queue, const spvf_graph_options *options);
/* Whether the queue keeps launches now.  It may not do so any more when the call returns, if
 * another thread uses it. */
SPVF_API bool spvf_queue_is_fusing(const spvf_queue *queue);
/* Ends fusing, and enqueues what was kept as few kernels as it can; what is refused is a warning,
 * also where the options are strict.  *out (or NULL) is the event of all of it: also after fusion
 * was cancelled, or when nothing was launched.  SPVF_ERROR_ARGUMENT: fusion was never started. */
SPVF_API spvf_status spvf_queue_complete_fusion(spvf_queue *queue, spvf_event **out);
/* Ends fusing, and enqueues what was kept one by one.  A warning when the queue is not fusing.
 * SPVF_ERROR_ARGUMENT: queue is NULL.  SPVF_ERROR_MEMORY: not all could be enqueued, and the event
 * of what was kept fails. */
SPVF_API spvf_status spvf_queue_cancel_fusion(spvf_queue *queue);
/* What became of the last fusion of a queue, for spvf_graph_get_kernel; the queue's until the next
 * one starts.  NULL: there was none. */
SPVF_API const spvf_graph *spvf_queue_last_fusion(const spvf_queue *queue);

#ifdef __cplusplus
}
#endif
#endif
