/* cpu.h — private to cpu*.c: the device that runs native code on this machine's processors.
 *
 *   cpu.c           the device: memory, opening and closing
 *   cpu_program.c   programs and their kernels
 *   cpu_images.c    kernels whose code comes with the module
 *   cpu_launch.c    a launch: its range, its arguments, its run
 *   cpu_promises.c  what arguments of a launch have to do with each other
 *   cpu_values.c    arguments by value that become constants
 *   cpu_small.c     launches whose code is made quickly
 *   cpu_range.c     the local size of a launch that says none; groups that no kernel observes
 *   cpu_print.c     printf of kernels
 *   cpu_watch.c     which work-group wrote some bytes
 *   cpu_features.c  which instructions this machine has
 *   cpu_compile.c   from a kernel to an object
 */
#ifndef SPVFUSE_RUNTIME_CPU_H
#define SPVFUSE_RUNTIME_CPU_H

#include "runtime/cache/cache.h"
#include "runtime/devices/device.h"

/* ---------------------------------------------------------------------- the machine (…features) */

/* The level of this machine (cg_host.detect); 0: there is nothing that code is made for. */
unsigned rt_cpu_level(void);

/* ------------------------------------------------------------------------- code (cpu_compile.c) */

/* Compiles a kernel that has a body; its module stays as it is.  The object has one cg_kernel and
 * lies in the arena, whose context is told of errors, before it throws. */
typedef void rt_cpu_compiler(const ir_func *kernel, const rt_native_options *o, ir_arena *arena,
                             cg_object *out);
rt_cpu_compiler rt_cpu_compile;
/* An object of the module's program-scope constants and variables. */
void rt_cpu_compile_globals(const ir_module *m, const rt_native_options *o, ir_arena *arena,
                            cg_object *out);
/* Why nothing can be compiled, or NULL. */
const char *rt_cpu_missing(void);

/* ---------------------------------------------------------------------------------- local sizes */

/* Nothing is known of arguments of local memory that together are more than a group can have; such
 * launches are refused. */
void rt_cpu_limit_local_args(pass_group_shape *shape);

/* Groups of so many items: whole ones, wherever there are any. */
void rt_cpu_groups_of(uint64_t items, const spvf_range *range, uint64_t local[3]);
/* The local size of a launch that says none; `subgroup` is that size. */
void rt_cpu_local_size(const ir_func *kernel, unsigned subgroup, const spvf_range *range,
                       uint64_t local[3], ir_arena *scratch);
/* The sizes of groups for a kernel that cannot observe them (pass_observes_groups): powers of two,
 * so that few of them need code of their own, the dimension `inner` first, and rows that can share
 * what they load; `crosses`: short rows, and many.  There are at least four groups for each thread
 * as long as these have 16 items. */
void rt_cpu_own_groups(const spvf_range *range, unsigned inner, bool crosses, unsigned threads,
                       uint64_t local[3]);

/* ---------------------------------------------------------------------------------- the machine */

typedef struct {
    cg_options code;    /* level 0: the machine's */
    bool eager;         /* as in rt_compiler */
    bool untiered;      /* small launches have the same code as others */
    bool quick;         /* all launches have the code of small ones */
    bool waiting;       /* no thread makes code for later launches */
    rt_facts without;   /* that code is not made for */
    bool cache;         /* code is kept for other processes */
    bool keep_calls;    /* as in pass_options */
    bool recompile;     /* code that comes with modules is not run */
    bool no_reflection; /* queries about the device are not answered */
    uint64_t caches;    /* launches that access more bytes store past the caches; 0: their size */
    rt_cpu_compiler *compile;
} rt_cpu_options;

/* Takes options by their names; gives what is not known, or NULL.  (cpu.c) */
const char *rt_cpu_take_options(const char *list, rt_cpu_options *o);
/* Takes those of SPVFUSE_CPU, or none of them if one is not known, which it gives.  (cpu.c) */
const char *rt_cpu_take_setting(rt_cpu_options *o);
/* A warning if one of them is not known.  (cpu.c) */
void rt_cpu_warn_of_setting(spvf_context *context);
/* The name of the target that such a device makes code for; NULL: none. */
const char *rt_cpu_target(const rt_cpu_options *o, ir_arena *a);
/* The work-items of a full sub-group of a kernel, or of one that requires nothing (NULL).
 * (cpu_range.c) */
unsigned rt_cpu_subgroup_size(const rt_cpu_options *o, const ir_func *kernel);

enum { CPU_GROUP_ITEMS = 1 << 16 }; /* work-items of a work-group at most */

/* What kernels are compiled for and run by: any number of threads share it. */
typedef struct {
    rt_cpu_options options; /* the level is known */
    rt_tools tools;
    rt_pool *pool;
    rt_cache cache;
} cpu_machine;

/* False: there is no memory. */
bool cpu_machine_open(const rt_cpu_options *options, cpu_machine *out);
void cpu_machine_close(cpu_machine *m);

/* --------------------------------------------------------------------- programs (cpu_program.c) */

struct rt_function {
    const ir_func *ir;
    bool observes_groups;
    bool repeats;          /* there are loops or calls, so an item may have much to do */
    pass_item_order order; /* of the loops over its items */
    rt_program *program;
    rt_kernel code;
    rt_constant_kernels constants; /* code for values of its marked arguments */
    rt_function *next;
};

/* An object of a container, in memory. (cpu_images.c) */
typedef struct cpu_object cpu_object;

/* Belongs to one thread at a time, but for launches of functions that have been found. */
struct rt_program {
    rt_owned owned; /* the first member */
    ir_arena arena;
    const cpu_machine *machine;
    const ir_module *module;
    rt_variables globals; /* of all its kernels */
    rt_function *functions;
    cpu_object *objects; /* that came with the module and have been loaded */
};

/* Makes the program's constants and variables; throws after a message. */
void cpu_program_init(rt_program *p, const cpu_machine *machine, const ir_module *m);
void cpu_program_clear(rt_program *p); /* no launch runs */
rt_function *cpu_find_function(rt_program *p, const char *name);
/* Code that comes with the module becomes that of a new function, if there is some that suits.
 * Throws if it is damaged. */
void cpu_take_image(rt_function *f);
void cpu_unload_images(rt_program *p);

/* ------------------------------------------------------------------------------------- launches */

struct rt_memory {
    rt_owned owned; /* the first member */
    void *bytes;
    uint64_t size;
    bool allocated; /* by the device */
};

/* A launch by the thread that calls; others may launch the kernel at the same time. */
typedef struct {
    ir_ctx *cx; /* of this thread: memory and messages */
    const cpu_machine *machine;
    const rt_launch *launch;
    void (*output)(void *user, const char *text); /* printf; or NULL */
    void *output_user;
    rt_watch *watch; /* or NULL; then there is no output */
    ir_arena *notes; /* for what watch is told */
    rt_code_counts *counts;
} cpu_launch;

/* What code of a kernel a launch wants. */
typedef struct {
    rt_kernel *kernel; /* of the function, or of its constants */
    pass_group_shape shape;
    rt_values values;
    rt_constants constants;
    ir_range range;    /* of the launch, with the groups that it has */
    ir_arena *scratch; /* of the launch */
} cpu_wanted;
static inline const ir_func *cpu_kernel_of(const cpu_launch *l) { return l->launch->function->ir; }
/* Does a debugger follow its code as the source says? */
static inline bool cpu_is_stepped(const cpu_launch *l) {
    return l->machine->tools.step || cpu_kernel_of(l)->module->steps;
}

/* May throw after a message. */
void cpu_run_launch(const cpu_launch *l);
/* Makes the code that it needs, so that the first run does not; throws as the run would. */
void cpu_prepare_launch(const cpu_launch *l);
/* Finds or makes code; rt_kernel_end follows.  (cpu_program.c) */
void cpu_find_code(const cpu_launch *l, const cpu_wanted *wanted, rt_use *use);
/* The values of the launch that code is made for, in the arena, and the kernel that has it.
 * (cpu_values.c) */
void cpu_find_values(const cpu_launch *l, ir_arena *a, cpu_wanted *wanted);
/* The values that the launch gives, in the arena. (cpu_values.c) */
void cpu_know_values(const cpu_launch *l, ir_arena *a, pass_given *out);
/* How much is to do; up to 1: so little that code is made quickly. (cpu_small.c) */
double cpu_size_of(const cpu_launch *l, const cpu_wanted *wanted);
void cpu_make_quickly(const cpu_machine *m, cg_options *code);
/* Are all integers by value short (pass_group_shape)?  (cpu_values.c) */
bool cpu_has_short_values(const cpu_launch *l);
/* What is known of the arguments of a launch of so many items. (cpu_promises.c) */
void cpu_find_promises(const cpu_launch *l, uint64_t items, pass_group_shape *out);
/* Throws after a message that names the kernel. */
IR_NORETURN void cpu_refuse(ir_ctx *cx, const ir_func *kernel, const char *fmt, ...)
    IR_PRINTF(3, 4);
/* Room at a multiple of IR_LOCAL_ALIGN. */
void *cpu_aligned(ir_arena *a, uint64_t size);
/* Runs all groups while the launch is watched. */
void cpu_run_watched(const cpu_launch *l, const rt_work *work, ir_arena *scratch);

/* ----------------------------------------------------------------------------------- the device */

typedef struct {
    rt_device base;
    ir_arena notes; /* what watches are told */
    cpu_machine machine;
    rt_owned *memories, *programs;
} cpu_device;

/* Of a device that was opened here. */
const cpu_machine *rt_cpu_machine(const rt_device *d);
/* Opens the device with options that the caller brings; throws after a message. */
rt_device *rt_cpu_open_with(spvf_context *context, const rt_cpu_options *options);

/* ------------------------------------------------------------------------- printf (cpu_print.c) */

/* What the work-groups of a launch have printed. */
typedef struct {
    pthread_mutex_t lock;
    ir_arena arena;
    ir_text text, string;
} cpu_output;

/* ir_group_info.print; user: a cpu_output. */
int32_t cpu_print(void *user, const char *format, const void *arguments, uint64_t bytes);

#endif
