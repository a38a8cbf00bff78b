/* ocl.h — what the parts of the OpenCL implementation share: the objects that handles point to, and
 * how entries are made known to the loader.
 *
 *   platform.c   the platform, the table of entries
 *   device.c     the device: this machine's processors
 *   extensions.c the extensions that it has
 *   context.c    contexts
 *   info.c       answers to clGet…Info
 *   event.c      events
 *   queue.c      command queues
 *   memory.c     buffers
 *   transfer.c   reading, writing, copying and filling them
 *   rect.c       the same for boxes of bytes in buffers
 *   map.c        mapping them
 *   allocation.c memory that programs know by its address (allocation.h)
 *   svm.c        shared virtual memory
 *   usm.c        unified shared memory
 *   program.c    programs: what they come from, what is known of them
 *   build.c      how programs are built, compiled and linked (build.h has the parts)
 *   kernel.c     kernels and their arguments
 *   attributes.c attributes of kernels in the source
 *   launch.c     running kernels
 *   command_buffer.c   command buffers: their commands and runs
 *   command_record.c   the entries that record commands
 *   command_form.c     which version of the extension's headers a call was made with
 *   command_fuse.c     the steps of a run, several launches as one kernel
 *   command_mutable.c  commands that can be changed, and their updates
 *   check_….c    faults of kernels and calls, found by the interpreter (check.h)
 *
 * An entry checks its arguments in the order in which the specification lists its errors, and
 * returns the first one; below the entries everything is right.  Handles are pointers to objects
 * that begin with the table of entries, as the loader wants it; one that is no object is not always
 * found out.
 *
 * Threads: every entry may be called by any thread at any time, except those that the specification
 * names (clSetKernelArg and its kin for one kernel). */
#ifndef SPVFUSE_RUNTIME_OCL_H
#define SPVFUSE_RUNTIME_OCL_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_ENABLE_BETA_EXTENSIONS
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include "runtime/devices/shared.h"
#include "runtime/opencl/newer.h"
#include "runtime/queue/queue.h"

#include <CL/cl_icd.h>

/* What headers of cl_khr_command_buffer lack that are older than 0.9.8, or newer than 0.9.7. */
#define OCL_COMMAND_BUFFER_CONTEXT 0x1299
#define OCL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES 0x129A
#define OCL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE (1 << 2)
#define OCL_COMMAND_BUFFER_CAPABILITY_OUT_OF_ORDER (1 << 3)
#define OCL_COMMAND_BUFFER_STATE_FINALIZED 2 /* an argument has not been set */

/* ------------------------------------------------------------------------- the table of entries */

typedef void (*ocl_function)(void);

enum { OCL_MAX_EXTENSION_ENTRIES = 64 };

/* Entries of the loader's table, and those that are asked for by name. */
typedef struct {
    cl_icd_dispatch core;
    struct {
        const char *name;
        ocl_function function;
    } extension[OCL_MAX_EXTENSION_ENTRIES];
    unsigned extensions;
} ocl_entries;

void ocl_add_extension(ocl_entries *e, const char *name, ocl_function function);
/* Each part fills in its entries. */
void ocl_fill_platform(ocl_entries *e);
void ocl_fill_device(ocl_entries *e);
void ocl_fill_context(ocl_entries *e);
void ocl_fill_event(ocl_entries *e);
void ocl_fill_queue(ocl_entries *e);
void ocl_fill_memory(ocl_entries *e);
void ocl_fill_transfer(ocl_entries *e);
void ocl_fill_rect(ocl_entries *e);
void ocl_fill_map(ocl_entries *e);
void ocl_fill_svm(ocl_entries *e);
void ocl_fill_usm(ocl_entries *e);
void ocl_fill_program(ocl_entries *e);
void ocl_fill_build(ocl_entries *e);
void ocl_fill_kernel(ocl_entries *e);
void ocl_fill_launch(ocl_entries *e);
void ocl_fill_command_buffer(ocl_entries *e);
void ocl_fill_command_record(ocl_entries *e);
void ocl_fill_command_mutable(ocl_entries *e);
void ocl_fill_absent(ocl_entries *e); /* images, samplers, pipes */

/* -------------------------------------------------------------------------------------- objects */

typedef enum {
    OCL_PLATFORM = 0x4c434f01, /* some numbers that memory rarely holds */
    OCL_DEVICE,
    OCL_CONTEXT,
    OCL_QUEUE,
    OCL_MEM,
    OCL_PROGRAM,
    OCL_KERNEL,
    OCL_EVENT,
    OCL_COMMAND_BUFFER,
    OCL_MUTABLE_COMMAND,
    OCL_NOTHING /* what was a buffer */
} ocl_kind;

typedef struct {
    const cl_icd_dispatch *dispatch;
    ocl_kind kind;
    rt_refs refs;
} ocl_object;

/* With one reference. */
ocl_object ocl_new_object(ocl_kind kind);
static inline void ocl_retain(ocl_object *o) { rt_retain(&o->refs); }
/* Of an object without references.  It stays as nothing if faults are looked for, since loaders
 * read handles before they call.  (platform.c) */
void ocl_free_object(ocl_object *o);
/* True: that was the last reference. */
static inline bool ocl_release(ocl_object *o) { return rt_release(&o->refs); }
/* Small numbers are no objects, although programs pass some in the place of one. */
static inline bool ocl_is(const void *handle, ocl_kind kind) {
    return (uintptr_t)handle >= 4096 && ((const ocl_object *)handle)->kind == kind;
}

struct _cl_platform_id {
    ocl_object object;
};

/* Some memory of this process. */
typedef struct {
    void *bytes;
    uint64_t size;
} ocl_area;

struct _cl_device_id {
    ocl_object object;
    rt_shared_device shared; /* without a base when it is not usable */
};

#define OCL_VERSION_TEXT "0.1"

/* Limits of the device, and what it likes.  Memory of constants is memory like other, and no launch
 * is refused for it: programs fill as much as is announced, to copy it or to try it out, so that
 * is what a processor's caches can hold. */
enum {
    OCL_MAX_GROUP = 4096,
    OCL_GROUP_MULTIPLE = 16,
    OCL_LOCAL_MEMORY = 256 << 10,
    OCL_CONSTANT_MEMORY = 64 << 20,
    OCL_MAX_CONSTANTS = 256, /* arguments; as many pointers fit in the parameters twice */
    OCL_GLOBAL_VARIABLES = 1 << 20,
    OCL_MAX_PARAMETERS = 4096
};

/* The one platform and its one device. */
cl_platform_id ocl_platform(void);
/* The entry of that name, when the loader's table has none of it, or NULL; for icd.c. */
SPVF_API void *spvf_opencl_entry(const char *name);
cl_device_id ocl_device(void);
/* Is the device the interpreter, which finds faults?  (check_device.c) */
bool ocl_is_checking(void);
/* Entries that look at calls before others do, over all of the table.  (check_commands.c) */
void ocl_fill_checks(ocl_entries *e);
bool ocl_is_device(cl_device_id d);
/* A list of devices that may be missing: CL_INVALID_VALUE, CL_INVALID_DEVICE. */
cl_int ocl_check_devices(cl_uint count, const cl_device_id *devices);
/* CL_INVALID_DEVICE_TYPE; CL_DEVICE_NOT_FOUND: it is not the device's. */
cl_int ocl_check_device_type(cl_device_type type);
/* CL_DEVICE_MAX_MEM_ALLOC_SIZE. */
cl_ulong ocl_max_allocation(void);
/* Is there a compiler of OpenCL C on this machine?  (build.c) */
bool ocl_has_compiler(void);

/* A property list of any kind, with the 0 at its end; room for what an object keeps of it. */
enum { OCL_MAX_PROPERTIES = 16 };
typedef struct {
    uint64_t value[OCL_MAX_PROPERTIES];
    unsigned n; /* 0: none was given */
} ocl_properties;
/* False: there are too many.  (context.c) */
bool ocl_keep_properties(ocl_properties *to, const uint64_t *from);

typedef struct ocl_destructor ocl_destructor; /* a function to be called at the end (context.c) */
struct ocl_destructor {
    void(CL_CALLBACK *function)(void *object, void *user);
    void *user;
    ocl_destructor *next;
};
/* The last one that was set comes first.  CL_SUCCESS, CL_OUT_OF_HOST_MEMORY. */
cl_int ocl_push_destructor(ocl_destructor *_Atomic *list, void(CL_CALLBACK *f)(void *, void *),
                           void *user);
void ocl_call_destructors(ocl_destructor *list, void *object);

typedef struct ocl_allocation ocl_allocation; /* of shared memory (allocation.c) */

struct _cl_context {
    ocl_object object;
    ocl_properties properties;
    void(CL_CALLBACK *notify)(const char *info, const void *data, size_t size, void *user);
    void *notify_user;
    ocl_destructor *_Atomic destructors;
    rt_lock lock; /* of what follows */
    ocl_allocation *allocations;
    cl_command_queue queues;
};
void ocl_retain_context(cl_context c);
void ocl_release_context(cl_context c);
/* Waits for all that was enqueued in its queues, whether it fails or not: CL_OUT_OF_HOST_MEMORY.
 * (queue.c) */
cl_int ocl_finish_all(cl_context c);
/* Frees shared memory that the program has not freed. */
void ocl_free_allocations(cl_context c);
/* Tells the context's callback. */
void ocl_tell(cl_context c, const char *text);

struct _cl_command_queue {
    ocl_object object;
    cl_context context;
    cl_command_queue_properties flags;
    ocl_properties properties;
    rt_queue queue;
    cl_command_queue before, after; /* of the context; its lock is for them */
};
void ocl_retain_queue(cl_command_queue q);
void ocl_release_queue(cl_command_queue q);

/* --------------------------------------------------------------------------------------- events */

/* A command is an event.  What a kind of command adds follows it, in the same block of
 * memory; `drop` gives back what that holds. */
struct _cl_event {
    ocl_object object;
    rt_event event;
    cl_context context;
    cl_command_queue queue; /* NULL: a user event */
    cl_command_type type;
    void (*drop)(cl_event e);
};
static inline cl_event ocl_event_of(rt_event *e) {
    return (cl_event)(void *)((char *)e - offsetof(struct _cl_event, event));
}

/* Starts a command of a queue: `size` bytes, zeros after the event.  NULL: there is no memory. */
cl_event ocl_new_command(cl_command_queue q, cl_command_type type, size_t size, rt_run *run,
                         void (*drop)(cl_event e));
/* A command of the device; its kind of event begins with this. */
typedef struct {
    struct _cl_event event; /* the first member */
    rt_submission submission;
    rt_command command;
} ocl_command;
static inline ocl_command *ocl_command_of(rt_event *e) {
    return (ocl_command *)(void *)ocl_event_of(e);
}
/* Gives the command to the device: an rt_run. */
int32_t ocl_run_on_device(rt_event *e);
/* The same for several: RT_COMPLETE, RT_RUNNING, CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES.  What
 * is wrong is told to the context. */
int32_t ocl_submit_to_device(cl_context c, rt_submission *s);
cl_int ocl_status_of(spvf_status status);
/* A context of this thread, whose errors are told to the program's. */
void ocl_open_context(cl_context c, spvf_context *out);
/* Checks a wait list: CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_CONTEXT. */
cl_int ocl_check_wait_list(cl_context c, cl_uint n, const cl_event *list);
/* The last arguments of a call that enqueues a command. */
typedef struct {
    cl_uint count;
    const cl_event *list; /* that the command waits for */
    cl_event *event;      /* of the command; or NULL */
} ocl_events;
/* Gives a command to its queue, hands it out, waits when `blocking`.  It is given up when that
 * fails: CL_OUT_OF_HOST_MEMORY, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST. */
cl_int ocl_enqueue(cl_event command, rt_enqueue_kind kind, bool blocking, ocl_events events);
/* Gives up a command that was not enqueued. */
void ocl_give_up(cl_event command);
void ocl_retain_event(cl_event e);
void ocl_release_event(cl_event e);

/* --------------------------------------------------------------------------------------- memory */

typedef struct ocl_mapping ocl_mapping; /* a mapped region (map.c) */

struct _cl_mem {
    ocl_object object;
    cl_context context;
    cl_mem_flags flags;
    ocl_properties properties;
    ocl_area memory;
    void *host;       /* CL_MEM_USE_HOST_PTR: what was given */
    bool owned;       /* the bytes are the object's */
    bool has_address; /* that the program may ask for */
    rt_range range;   /* found by address: owned, and has one */
    cl_mem parent;
    size_t origin; /* in the parent */
    _Atomic uint32_t maps;
    ocl_mapping *mappings; /* of it and its sub-buffers; the context's lock is for them */
    ocl_destructor *_Atomic destructors;
    rt_refs observers;  /* arguments of kernels, and one for all references */
    rt_memory *checked; /* what looks after it if the device is the interpreter, or NULL */
};
void ocl_retain_mem(cl_mem m);
void ocl_release_mem(cl_mem m);
/* An observer keeps no more of a buffer than what tells that it is gone: a kernel must not keep the
 * buffers that are its arguments. */
void ocl_observe_mem(cl_mem m);
void ocl_forget_mem(cl_mem m);
/* Takes a reference of an observed buffer; false: it is gone. */
bool ocl_revive_mem(cl_mem m);
/* The buffer that has the bytes. */
static inline cl_mem ocl_root(cl_mem m) { return m->parent ? m->parent : m; }
/* CL_MEM_READ_WRITE and its like: none of them, or one. */
bool ocl_are_access_flags(cl_mem_flags flags);
bool ocl_are_map_flags(cl_map_flags flags);
bool ocl_are_migration_flags(cl_mem_migration_flags flags);
/* Of a buffer without references: its regions are not mapped. */
void ocl_forget_mappings(cl_mem m);

/* -------------------------------------------------------------------- moving bytes (transfer.c) */

/* How calls that record are made: with a list of properties, or without (command_form.c). */
typedef enum { OCL_FORM_UNKNOWN, OCL_FORM_OLDER, OCL_FORM_NEWER } ocl_form;

/* Where a command goes that is recorded, and what it waits for there. */
typedef struct {
    cl_command_buffer_khr buffer;
    cl_uint wait_count;
    const cl_sync_point_khr *wait;
    cl_sync_point_khr *point;
    ocl_form form;   /* that the command buffer has once this is recorded; unknown: as it has now */
    bool incomplete; /* a launch without all arguments, which is no command yet */
    bool is_update;  /* it waits for what it has waited for */
} ocl_recording;

/* A command to be: what it has in common with others.  Its buffers are kept until it is gone. */
typedef struct {
    cl_command_queue queue;
    cl_command_type type;
    bool blocking;
    cl_uint wait_count;
    const cl_event *wait;
    cl_event *event;
    const cl_mem *mems;
    size_t mem_count;
    const ocl_recording *recording; /* NULL: it is enqueued */
} ocl_request;
/* Checks what it waits for: ocl_check_wait_list, or CL_INVALID_SYNC_POINT_WAIT_LIST_KHR. */
cl_int ocl_check_order(const ocl_request *r);
/* Enqueues the command, as ocl_enqueue, or records it; it is given up when that fails. */
cl_int ocl_submit(const ocl_request *r, cl_event command);

/* CL_INVALID_COMMAND_QUEUE, CL_INVALID_MEM_OBJECT, CL_INVALID_CONTEXT. */
cl_int ocl_check_buffer(cl_command_queue q, cl_mem m);
/* CL_INVALID_OPERATION: what the host does is not what the buffer was made for. */
cl_int ocl_check_host_access(cl_mem m, bool reads, bool writes);
static inline bool ocl_is_inside(cl_mem m, size_t offset, size_t size) {
    return offset <= m->memory.size && size <= m->memory.size - offset;
}
/* Do boxes of some bytes × rows × slices have bytes in common?  Rows of one box do not. */
bool ocl_overlap(const rt_box *a, const rt_box *b, const size_t region[3]);
/* CL_INVALID_VALUE: a fill wants another pattern, or place. */
cl_int ocl_check_pattern(const void *pattern, size_t pattern_size, size_t offset, size_t size);

/* These submit the command.  What it waits for has been checked. */
cl_int ocl_request_copy(const ocl_request *r, const rt_box *to, const rt_box *from,
                        const size_t region[3]);
cl_int ocl_request_fill(const ocl_request *r, ocl_area to, const void *pattern,
                        size_t pattern_size);
cl_int ocl_request_nothing(const ocl_request *r);

/* Where a box begins in a buffer, in bytes, rows and slices, and how long those are. */
typedef struct {
    const size_t *origin;
    size_t row, slice;
} ocl_shape;

/* These check everything first, and submit the command.  Buffers: from, to; or the one. */
cl_int ocl_copy(const ocl_request *r, size_t from, size_t to, size_t size);
cl_int ocl_copy_rect(const ocl_request *r, ocl_shape from, ocl_shape to, const size_t *region);
cl_int ocl_fill(const ocl_request *r, const void *pattern, size_t pattern_size, size_t offset,
                size_t size);
/* Copies and fills of shared virtual memory (svm.c) */
cl_int ocl_copy_svm(const ocl_request *r, void *target, const void *source, size_t size);
cl_int ocl_fill_svm_memory(const ocl_request *r, ocl_area to, const void *pattern,
                           size_t pattern_size);

/* ------------------------------------------------------------------------- programs and kernels */

typedef enum { OCL_FROM_SOURCE, OCL_FROM_IL, OCL_FROM_BINARY, OCL_FROM_LINK } ocl_origin;

/* What a specialization constant is, and what the user has set. */
typedef struct {
    spvf_spec_value value; /* the module's own, or the user's */
    uint32_t bits;
    bool set;
} ocl_spec;

/* A built program: its module does not change.  Kernels keep the one that they were made from. */
typedef struct {
    rt_refs refs;
    spvf_context *context; /* of the module; used by the thread that builds */
    spvf_module *module;
    rt_program *native;
    rt_function **functions; /* by kernel of the module */
    bool uniform;            /* no launch has groups that are smaller at the ends */
    bool arg_info;           /* what the source says of arguments may be asked for */
} ocl_built;

struct _cl_program {
    ocl_object object;
    cl_context context;
    ocl_origin origin;
    rt_lock lock; /* of all that follows */
    char *source;
    void *il; /* SPIR-V that the user gave */
    size_t il_size;
    ocl_spec *specs; /* the IL's; NULL: they have not been asked for */
    size_t spec_count;
    cl_build_status status;
    cl_program_binary_type binary_type;
    void *binary; /* of the last build, or what the user gave (binary.c); NULL: it failed */
    size_t binary_size;
    char *options, *log; /* of the last build; or NULL */
    ocl_built *built;    /* NULL: no executable was built */
    uint32_t kernels;    /* objects that are attached */
};
void ocl_retain_program(cl_program p);
void ocl_release_program(cl_program p);
static inline void ocl_retain_built(ocl_built *b) { rt_retain(&b->refs); }
void ocl_release_built(ocl_built *b);

/* An argument that has been set. */
typedef struct {
    bool set;
    cl_mem mem;    /* a buffer, which is observed; may be NULL */
    void *pointer; /* shared virtual memory */
    uint64_t size; /* of the value, or of local memory */
    uint32_t at;   /* of the value in `values` */
} ocl_arg;

struct _cl_kernel {
    ocl_object object;
    cl_program program;
    ocl_built *built;
    const spvf_kernel_info *info;
    const ir_func *ir; /* in the module */
    rt_function *native;
    ocl_arg *args; /* info->host_arg_count */
    unsigned char *values;
    size_t value_bytes;
    uint32_t *places; /* of the values of a launch: info->arg_count */
    size_t launch_bytes;
};
void ocl_retain_kernel(cl_kernel k);
void ocl_release_kernel(cl_kernel k);
/* A kernel with the same arguments, which are observed as well; NULL: there is no memory. */
cl_kernel ocl_clone_kernel(cl_kernel k);
/* clSetKernelArg, clSetKernelArgSVMPointer and clSetKernelExecInfo. */
cl_int CL_API_CALL ocl_set_arg(cl_kernel k, cl_uint n, size_t size, const void *value);
cl_int CL_API_CALL ocl_set_arg_pointer(cl_kernel k, cl_uint n, const void *value);
cl_int CL_API_CALL ocl_set_exec_info(cl_kernel k, cl_kernel_exec_info what, size_t size,
                                     const void *value);
bool ocl_has_all_args(const struct _cl_kernel *k);
/* Of a work-group, as the arguments are set. */
uint64_t ocl_local_memory(cl_kernel k);
/* The work-items of a full sub-group. */
unsigned ocl_subgroup_size(const ir_func *kernel);

/* ----------------------------------------------------------------------- launches (launch.c) */

/* The command, with a copy of the arguments after it.  Buffers are given by their addresses. */
typedef struct {
    ocl_command command; /* the first member; without `run` when the range is empty */
    ocl_built *built;    /* with a reference; NULL: of a command buffer, as `info` */
    const spvf_kernel_info *info;
    spvf_range range;
    bool alone;   /* it is not fused */
    cl_mem *mems; /* by argument, with references; NULL: the argument is no buffer */
    rt_arg_block block;
} ocl_launch;
static inline size_t ocl_arg_count(const ocl_launch *l) { return l->command.command.launch.count; }
/* With room for arguments, which are to be filled in.  NULL: there is no memory. */
ocl_launch *ocl_new_launch(cl_command_queue q, rt_function *kernel, size_t count,
                           size_t value_bytes, const spvf_range *range);
/* Makes the code that it needs: CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES. */
cl_int ocl_prepare_launch(const ocl_launch *l);
/* The range of a launch, as calls give it. */
typedef struct {
    cl_uint dims;
    const size_t *offset, *global, *local; /* offset, local: or NULL */
} ocl_ndrange;
/* Checks all but the queue and whether the arguments are set, and fills in the range. */
cl_int ocl_check_launch(const ocl_request *r, cl_kernel k, ocl_ndrange n, spvf_range *range);
/* The launch of what has been checked: CL_OUT_OF_HOST_MEMORY, CL_INVALID_KERNEL_ARGS. */
cl_int ocl_make_launch(const ocl_request *r, cl_kernel k, const spvf_range *range,
                       ocl_launch **out);
/* Checks all but the queue, and submits a launch. */
cl_int ocl_launch_kernel(const ocl_request *r, cl_kernel k, ocl_ndrange range);

/* ------------------------------------------------------- command buffers (command_buffer.c, …) */

typedef uintptr_t ocl_slot; /* an integer or pointer, as a call passes it */
/* The form of a call whose own arguments begin with one or two buffers.  Unknown: some are none. */
ocl_form ocl_form_of_buffers(cl_command_buffer_khr b, const ocl_slot *s, unsigned buffers);
/* The same where so many begin with two addresses and a size.  Unknown: an address is NULL. */
ocl_form ocl_form_of_memory(cl_command_buffer_khr b, const ocl_slot *s, unsigned own);
/* The form of a call without own arguments.  Unknown: it can be either. */
ocl_form ocl_form_of_barrier(cl_command_buffer_khr b, const ocl_slot *s);
/* The form of a call that updates commands, by the slots after the command buffer: a count and two
 * addresses, or one address (versions 0.9.0 and 0.9.1 of the extension). */
ocl_form ocl_form_of_update(const ocl_slot *s);
/* The process asks for what headers of version 0.9.6 and newer have. */
void ocl_note_newer_headers(void);

typedef struct ocl_fusion ocl_fusion; /* kernels that were made of several (command_fuse.c) */

/* What a run does.  It does not change: an update makes other steps for the runs to come. */
typedef struct {
    rt_refs refs;
    cl_event *commands; /* with references */
    cl_event *steps;    /* to run, one after the other: of these, or fused, with references */
    rt_command *run;    /* the same, as a run gives them to the device */
    cl_uint count, step_count;
    ocl_fusion *fusion;
} ocl_steps;
void ocl_release_steps(ocl_steps *s);
/* What was fused, and what was not. */
const char *ocl_report(const ocl_steps *s);

struct _cl_command_buffer_khr {
    ocl_object object;
    cl_command_queue queue; /* that it is recorded for */
    ocl_properties properties;
    bool unfused, mutable, no_more_groups;
    _Atomic ocl_form form; /* of the calls that have recorded, as far as it is known */
    rt_lock lock;          /* of all that follows; recorded commands change by updates only */
    bool finalized;
    cl_event *commands; /* as recorded; NULL: a barrier, or a launch that lacks an argument */
    cl_uint count, room, incomplete; /* launches that lack arguments */
    cl_uint fused_anew;              /* how often, for what updates have changed */
    ocl_steps *steps;                /* NULL: it is not finalized, or launches lack arguments */
    cl_mutable_command_khr handles;  /* a list */
};
bool ocl_is_finalized(cl_command_buffer_khr b);
cl_uint ocl_count_commands(cl_command_buffer_khr b);
/* Does the recorded command exist that waits for these? */
cl_int ocl_check_sync_points(const ocl_recording *r);
/* CL_INVALID_OPERATION, CL_OUT_OF_HOST_MEMORY: the command is given up. */
cl_int ocl_record(const ocl_recording *r, cl_event command);
/* Finds the steps of its commands: CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES. */
cl_int ocl_make_steps(cl_command_buffer_khr b, cl_event *commands, ocl_steps **out);
/* The same where launches have changed: as few kernels as possible are made anew. */
cl_int ocl_change_steps(cl_command_buffer_khr b, cl_event *commands, ocl_steps **out);

/* A launch that is recorded, and perhaps asked for by a handle (command_mutable.c). */
cl_int ocl_record_kernel(ocl_recording *to, const cl_properties *p, cl_kernel k, ocl_ndrange n,
                         cl_mutable_command_khr *handle);
/* Of a command buffer that is being freed. */
void ocl_free_handles(cl_mutable_command_khr list);

/* ----------------------------------------------------------------------------- answers (info.c) */

/* Where an answer of clGet…Info goes. */
typedef struct {
    size_t room;
    void *to;
    size_t *size; /* or NULL */
} ocl_answer;

/* CL_INVALID_VALUE: there is too little room. */
cl_int ocl_give(const ocl_answer *a, const void *value, size_t size);
cl_int ocl_give_uint(const ocl_answer *a, cl_uint n);
cl_int ocl_give_ulong(const ocl_answer *a, cl_ulong n);
cl_int ocl_give_size(const ocl_answer *a, size_t n);
cl_int ocl_give_bool(const ocl_answer *a, bool yes);
cl_int ocl_give_pointer(const ocl_answer *a, const void *p);
cl_int ocl_give_string(const ocl_answer *a, const char *s); /* NULL: "" */
cl_int ocl_give_properties(const ocl_answer *a, const ocl_properties *p);
/* CL_KERNEL_ATTRIBUTES.  (attributes.c) */
cl_int ocl_give_attributes(const ocl_answer *a, cl_kernel k);
/* The extensions: names, or a list with versions.  (extensions.c) */
cl_int ocl_give_extensions(const ocl_answer *a, bool versions);
/* CL_DEVICE_OPENCL_C_FEATURES */
cl_int ocl_give_features(const ocl_answer *a);

/* Stores an error where there is a place for it, and gives NULL: `return ocl_fail(error, …)`. */
static inline void *ocl_fail(cl_int *to, cl_int error) {
    if (to) *to = error;
    return NULL;
}
static inline void ocl_succeed(cl_int *to) {
    if (to) *to = CL_SUCCESS;
}

#endif
