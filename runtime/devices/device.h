/* device.h — the interface of devices: what has memory, and runs kernels.
 *
 * A device is a driver, which is a table of functions (devices.def lists the drivers), and data
 * that says what the device can do.  Users of devices ask for capabilities and never for a name.
 *
 * Commands are given to a device as submissions.  Submitting may run the commands, or only begin
 * them: then the device calls back when the last one has ended.  So a command for another processor
 * keeps no thread of this one waiting.
 *
 * Threads: a device belongs to one thread at a time, except that `submit` and `prepare` of a device
 * that is concurrent may be called by any number of threads at once.
 *
 * Errors: all functions but close, discard and release may throw, after a message, in the context
 * of the device; submit and prepare throw in the context that the caller gives. */
#ifndef SPVFUSE_RUNTIME_DEVICE_H
#define SPVFUSE_RUNTIME_DEVICE_H

#include "runtime/api/runtime.h"
#include "runtime/system/trace.h"

#include <stddef.h>

typedef struct rt_driver rt_driver;
typedef struct rt_device rt_device;
typedef struct rt_memory rt_memory;     /* memory of a device */
typedef struct rt_program rt_program;   /* a module made ready */
typedef struct rt_function rt_function; /* a kernel of a program */

/* ------------------------------------------------------------------------------------- commands */

typedef enum {
    RT_ARG_MEMORY,  /* memory of the device, from an offset on */
    RT_ARG_ADDRESS, /* an address of this process, on devices that have host memory */
    RT_ARG_VALUE,
    RT_ARG_LOCAL /* local memory of every work-group */
} rt_arg_kind;

/* An argument of a launch. */
typedef struct {
    rt_arg_kind kind;
    uint64_t size; /* in bytes: of a value, of local memory, or of what begins at an address if that
                      is known; otherwise 0 */
    union {
        struct {
            rt_memory *memory;
            uint64_t offset;
        };
        void *address;
        const void *bytes; /* of the value */
    };
} rt_arg;

static inline rt_arg rt_memory_arg(rt_memory *m, uint64_t offset) {
    return (rt_arg){.kind = RT_ARG_MEMORY, .memory = m, .offset = offset};
}
static inline rt_arg rt_address_arg(void *address, uint64_t size) {
    return (rt_arg){.kind = RT_ARG_ADDRESS, .size = size, .address = address};
}
static inline rt_arg rt_value_arg(const void *bytes, uint64_t size) {
    return (rt_arg){.kind = RT_ARG_VALUE, .bytes = bytes, .size = size};
}
static inline rt_arg rt_local_arg(uint64_t size) {
    return (rt_arg){.kind = RT_ARG_LOCAL, .size = size};
}

/* Arguments, and copies of their values, in one block of memory. */
enum { RT_VALUE_ALIGN = 128 }; /* the largest alignment of a type */
typedef struct {
    rt_arg *args;
    unsigned char *values; /* at a multiple of RT_VALUE_ALIGN */
} rt_arg_block;
size_t rt_arg_block_size(size_t count, size_t value_bytes);
/* at: as many bytes as that, at any alignment of an object. */
rt_arg_block rt_place_args(void *at, size_t count);

typedef struct {
    rt_function *function;
    const spvf_range *range;
    const rt_arg *args;
    size_t count;
    bool uneven; /* groups may be smaller at the ends although the range gives a local size */
    bool ahead;  /* it is prepared for launches to come, which may have more to do */
} rt_launch;
/* What the launch of this kernel gives by value for a parameter; NULL: nothing of its size. */
const rt_arg *rt_value_given(const ir_func *kernel, const rt_launch *l, uint32_t param);
/* Of parameters that are marked as specialized; the list is in the arena. */
rt_constants rt_marked_values(const ir_func *kernel, const rt_launch *l, ir_arena *a);

/* One side of a copy: where its first byte is, and the distances, in bytes, between rows and
 * between slices.  A side without memory is the host's. */
typedef struct {
    rt_memory *memory;
    union {
        uint64_t offset; /* in the memory */
        char *bytes;     /* of the host */
    };
    size_t row, slice;
} rt_box;

/* Bytes × rows × slices.  The sides may be the same bytes, but no others of them overlap. */
typedef struct {
    rt_box to, from;
    size_t region[3];
} rt_copy;

enum { RT_MAX_PATTERN = 128 };

/* `size` bytes from the first one of `to` on become repetitions of the pattern, whose size divides
 * theirs. */
typedef struct {
    rt_box to;
    size_t size, pattern_size;
    const void *pattern;
} rt_fill;

typedef enum { RT_COMMAND_LAUNCH, RT_COMMAND_COPY, RT_COMMAND_FILL } rt_command_kind;

typedef struct {
    rt_command_kind kind;
    union {
        rt_launch launch;
        rt_copy copy;
        rt_fill fill;
    };
} rt_command;

/* ---------------------------------------------------------------------------------- submissions */

typedef enum {
    RT_ENDED,  /* the commands have run */
    RT_PENDING /* they have begun; `ended` will be called, or is being called already */
} rt_progress;

/* Commands that a device runs in this order.  It and all that it points to lives until they have
 * ended. */
typedef struct rt_submission rt_submission;
enum { RT_OWN_BYTES = 128 };
struct rt_submission {
    /* Of the thread that submits: messages and memory.  The device's, unless that is concurrent. */
    spvf_context *context;
    const rt_command *commands;
    size_t count;
    /* 0, or the number of a recording (rt_new_recording): its submissions launch the same kernels
     * in the same order, with other arguments, so a device may keep what it has made of them. */
    uint64_t recording;
    /* 0, or a number: submissions that have the same one have the same commands. */
    uint64_t content;
    /* Its end is told when it comes.  Otherwise it may be told with that of later submissions. */
    bool exact;
    uint64_t queued; /* when the program asked for it, by rt_now_ns(); 0: it is not known */
    rt_track track;  /* where a trace shows it */
    /* Only if it is exact: the device is to measure how long the commands run, if it can. */
    bool timed;
    uint64_t ran_ns; /* that time, before `ended` is called; 0: it is not known */
    /* Called once by a thread of the device when submitting has given RT_PENDING.  IR_OK, or the
     * commands have failed and `why` says so in words. */
    void (*ended)(rt_submission *s, ir_status status, const char *why);
    /* The device's, from submitting to the end. */
    _Alignas(max_align_t) unsigned char own[RT_OWN_BYTES];
};

/* More commands of a submission, with its numbers of their own. */
typedef struct {
    const rt_command *commands;
    size_t count;
    uint64_t recording, content; /* rt_submission */
} rt_more;

/* -------------------------------------------------------------------------------------- devices */

/* How a launch of a kernel whose groups wait for each other runs, on a device that chooses. */
typedef struct {
    const char *kernel;
    uint64_t phases;  /* of the kernel */
    bool together;    /* one launch, in which groups wait; otherwise one for each phase */
    const char *rule; /* of fuse_rules.def: why */
    char text[200];   /* both, for people */
} rt_phase_way;

/* What a driver provides.  A function that may be NULL says so. */
struct rt_driver {
    const char *name;  /* of its devices, as users say it: "cpu"; ":OPTIONS" may follow */
    const char *forms; /* all that users may say: "opencl, opencl:N" */
    /* options: what follows "NAME:", or NULL.  NULL: no device is called so. */
    rt_device *(*open)(spvf_context *context, const char *options);
    /* Tells of the devices that this machine has. */
    void (*list)(spvf_context *context, void (*each)(void *user, const spvf_device_info *info),
                 void *user);
    /* Gives back all memory and all programs. */
    void (*close)(rt_device *d);
    /* data: contents, or NULL.  The memory has a name in reports of faults. */
    rt_memory *(*allocate)(rt_device *d, const char *name, uint64_t bytes, const void *data);
    /* Memory of this process, which outlives it; where can.host_memory. */
    rt_memory *(*wrap)(rt_device *d, void *host, uint64_t bytes);
    /* Where it lies in this process; where can.host_memory. */
    void *(*address)(const rt_memory *m);
    void (*release)(rt_device *d, rt_memory *m); /* no command uses it */
    /* How many of these bytes have no value yet.  NULL: the device does not know. */
    uint64_t (*undefined)(rt_device *d, const rt_memory *m, uint64_t offset, uint64_t bytes);
    /* How many bytes the memory has.  NULL: the device does not know. */
    uint64_t (*size)(const rt_memory *m);
    /* The module outlives the program. */
    rt_program *(*build)(rt_device *d, const ir_module *m);
    /* The function belongs to the program.  Throws when there is no kernel of the name, or when it
     * has no body. */
    rt_function *(*find)(rt_device *d, rt_program *p, const char *kernel);
    const char *(*name_of)(const rt_function *f); /* the kernel's */
    /* The function's kernel in the module of its program.  NULL: the device does not keep it. */
    const ir_func *(*kernel)(const rt_function *f);
    /* What spvf_module_emit is to make code for that this process can call, in the arena.  NULL:
     * kernels are not code of this process. */
    const char *(*target)(const rt_device *d, ir_arena *a);
    void (*discard)(rt_device *d, rt_program *p); /* no launch of it runs */
    /* Does what the launch would do short of running, and throws what that would.  The contents of
     * memory do not matter, and `any` stands for memory that is not there yet.  NULL: nothing is
     * known before. */
    void (*prepare)(rt_device *d, spvf_context *context, const rt_launch *l);
    /* How the launch would run; false: no groups of the kernel wait for others.  Throws as that
     * launch would.  NULL: the device has one way. */
    bool (*phases)(rt_device *d, const rt_launch *l, rt_phase_way *out);
    /* Throws when a command fails; then none is pending. */
    rt_progress (*submit)(rt_device *d, rt_submission *s);
    /* Gives the device more commands of a submission that is pending and not exact: they run after
     * its own, and it ends with them.  `more` is not kept; programs and memory that it uses live
     * until the submission ends.  Does not throw: *failure is IR_OK, or a message has been given,
     * and the submission goes on.  False: it has ended, or takes no such commands, and nothing was
     * done.  NULL: no submission does. */
    bool (*extend)(rt_device *d, rt_submission *s, const rt_more *more, ir_status *failure);
    /* What has been submitted is waited for: its end is to be told as soon as it comes.  By any
     * thread, which may have any lock but those of the device.  NULL: it always is. */
    void (*hurry)(rt_device *d);
    /* This thread waits for the end of a submission, which may have come, and tells of it and of
     * those before.  By any thread, without a lock, while the memory of the submission is there.
     * False: it has come, or another thread waits, and nothing was done.  May be NULL. */
    bool (*await)(rt_device *d, rt_submission *s);
    /* Code of a processor from the driver's assembly language, in the arena; throws.  No bytes:
     * there is no such device, and *why_not says why.  NULL: the driver has no such language. */
    rt_bytes (*assemble)(spvf_context *context, ir_arena *a, rt_bytes text, unsigned sm,
                         const char **why_not);
    /* No submission has this number any more.  NULL: the device keeps nothing of recordings. */
    void (*forget)(rt_device *d, uint64_t recording);
};

typedef struct {
    uint64_t instructions, loads, stores, reports;
} rt_counts;

/* What launches of native code have done; several threads count. */
typedef struct {
    _Atomic uint64_t launches, variants, compile_ns;
    _Atomic uint64_t of[SPVF_FACTS]; /* launches that ran code made for the fact */
} rt_code_counts;

/* Bytes that are watched while launches run, and what wrote there last: "@k, k.cl:12: store …", or
 * "@k, group (1, 0, 0)" from devices that only see changes. */
typedef struct {
    const rt_memory *memory;
    uint64_t offset, bytes;
    const char *writer; /* in the device's memory; NULL: nothing has written there */
    bool by_change;     /* only changes are seen: another may have written the same bytes again */
} rt_watch;

/* What all devices have in common; each driver adds its own state after it. */
struct rt_device {
    const rt_driver *driver;
    spvf_context *context;
    char name[100]; /* by which it was opened, as much as there is room for; "": not by a name */
    spvf_capabilities can;
    pass_reflection reflection; /* what code is told of the device */
    rt_counts counts;
    rt_code_counts code;
    /* Copies of at most so many bytes from or to the host's memory are only begun by submitting. */
    _Atomic size_t prompt_bytes;
    void (*output)(void *user, const char *text); /* printf of kernels, or NULL */
    void *output_user;
    /* Told of each launch of a kernel whose groups wait for each other, if there are several ways;
     * or NULL. */
    void (*on_phases)(void *user, const rt_phase_way *way);
    void *on_phases_user;
    /* Told how many work-groups of a launch have run, by a device that runs one after the other; or
     * NULL. */
    void (*on_progress)(void *user, uint64_t done, uint64_t groups);
    void *on_progress_user;
    uint64_t instruction_limit; /* of a work-group; 0: the device's own */
    rt_watch *watch;            /* while there is one, launches are silent; where can.watch */
};

/* ---------------------------------------------------------------- for users of devices (device.c) */

/* A number of a recording, or of a content, that no other one of this process has. */
uint64_t rt_new_recording(void);
/* Of what is not there, in an spvf_device_info. */
extern const spvf_capabilities rt_can_nothing;
extern const spvf_device_sizes rt_no_sizes;
static inline void rt_device_hurry(rt_device *d) {
    if (d->driver->hurry) d->driver->hurry(d);
}
/* Waits by this thread (true), or says that something waits. */
static inline bool rt_device_await(rt_device *d, rt_submission *s) {
    if (d->driver->await && d->driver->await(d, s)) return true;
    rt_device_hurry(d);
    return false;
}

/* Around what a submission does, in a trace; the end may be told by any thread, once. */
void rt_trace_submission(const rt_device *d, rt_submission *s);
void rt_trace_submission_end(rt_submission *s, ir_status status);
static inline void rt_trace_end_of(rt_submission *s, ir_status status) {
    if (s->track) rt_trace_submission_end(s, status);
}
/* driver->submit, in a trace. */
rt_progress rt_device_submit(rt_device *d, rt_submission *s);
/* driver->build, in a trace. */
rt_program *rt_device_build(rt_device *d, const ir_module *m);
/* Opens a device by the name that users say; throws when there is no such device. */
rt_device *rt_device_open(spvf_context *context, const char *name);
static inline void rt_device_close(rt_device *d) {
    if (d) d->driver->close(d);
}
/* One command by the thread that owns the device; returns when it has ended, or throws. */
void rt_device_run(rt_device *d, const rt_command *command);
void rt_device_launch(rt_device *d, const rt_launch *l);
/* Contents of a memory of the same size. */
void rt_device_copy(rt_device *d, rt_memory *to, rt_memory *from, uint64_t bytes);
void rt_device_read(rt_device *d, rt_memory *from, uint64_t offset, void *to, uint64_t bytes);

/* Can a device run something?  `prepare` does all that has to be done before the first launch: it
 * builds, compiles, compares what is needed with what the device has, and throws in this context
 * when one of these fails.  False: the device cannot run it, and `why`, which has room for
 * RT_CAUGHT_SIZE bytes, says so; nothing else was said.  Throws when memory is exhausted and after
 * an internal error, which are no answers. */
bool rt_can_run(spvf_context *c, void (*prepare)(void *arg), void *arg, char *why);
/* Builds what was fused, and prepares its launch with these arguments.  NULL: the device cannot run
 * it, and the fusion has become a refusal.  Throws as rt_can_run. */
rt_function *rt_build_fusion(rt_device *d, spvf_fusion *f, const rt_arg *args);
/* Its explanation says how the device runs its phases, if it has several ways; args: as before. */
void rt_explain_phases(rt_device *d, spvf_fusion *f, rt_function *function, const rt_arg *args);
/* The same as rt_build_fusion; throws if the device cannot run it. */
rt_function *rt_prepare_fusion(rt_device *d, const spvf_fusion *f, const rt_arg *args);

/* ------------------------------------------------------------------------ for drivers (device.c) */

#define DEVICE(name) extern const rt_driver rt_##name##_driver;
#include "runtime/devices/devices.def"
#undef DEVICE

/* An object that a device has given out: a list, which closing the device walks.  The first member
 * of rt_memory and rt_program. */
typedef struct rt_owned rt_owned;
struct rt_owned {
    rt_owned *next, **at;
};
void rt_own(rt_owned **list, rt_owned *o);
void rt_disown(rt_owned *o);
/* Zeros, and owned; throws in the context. */
void *rt_new_owned(spvf_context *c, rt_owned **list, size_t size);

/* Copies and fills where both sides lie in this process. */
void rt_copy_rows(char *to, const char *from, const rt_copy *shape);
void rt_repeat_pattern(char *to, const rt_fill *fill);

/* Calls `each` for every row of a copy: how far its first bytes are from those of the sides. */
void rt_each_row(const rt_copy *c, void (*each)(void *user, uint64_t to, uint64_t from),
                 void *user);

#endif
