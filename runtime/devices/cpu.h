/* cpu.h — private to cpu*.c: the device that runs native code on this machine's processors.
 *
 *   cpu.c           the device: memory, programs, kernels, opening and closing
 *   cpu_launch.c    a launch: its range, its arguments, its run
 *   cpu_range.c     the local size of a launch that says none
 *   cpu_print.c     printf of kernels
 *   cpu_watch.c     who wrote some bytes
 *   cpu_features.c  which instructions this machine has
 *   cpu_compile.c   from a kernel to an object
 */
#ifndef SPVFUSE_RUNTIME_CPU_H
#define SPVFUSE_RUNTIME_CPU_H

#include "runtime/native.h"

/* ---------------------------------------------------------------------- the machine (…features) */

/* CG_X86_64_V2 and up; 0: there is nothing that code is made for. */
unsigned rt_cpu_level(void);

/* ------------------------------------------------------------------------- code (cpu_compile.c) */

/* Compiles a kernel that has a body; the module stays as it is.  The object has one cg_kernel and
 * lies in the arena.  Throws after a message. */
typedef void rt_cpu_compiler(const ir_module *m, const ir_func *kernel, const rt_native_options *o,
                             ir_arena *arena, cg_object *out);
rt_cpu_compiler rt_cpu_compile;
/* An object of the module's program-scope constants and variables. */
void rt_cpu_compile_globals(const ir_module *m, const rt_native_options *o, ir_arena *arena,
                            cg_object *out);
/* Why nothing can be compiled, or NULL. */
const char *rt_cpu_missing(void);

/* ---------------------------------------------------------------------------------- local sizes */

/* The local size of a launch that says none. */
void rt_cpu_local_size(const ir_func *kernel, const spvf_range *range, uint64_t local[3],
                       ir_arena *scratch);

/* ----------------------------------------------------------------------------------- the device */

typedef struct cpu_kernel cpu_kernel;
struct cpu_kernel {
    const ir_func *function;
    const rt_program *program;
    rt_kernel code;
    cpu_kernel *next;
};

struct rt_memory {
    void *bytes;
    uint64_t size;
};

struct rt_program {
    const ir_module *module;
    rt_variables globals; /* of all its kernels */
    cpu_kernel *kernels;
    rt_program *next;
};

typedef struct {
    rt_device base;
    ir_arena arena;
    rt_pool *pool;
    rt_cpu_compiler *compile;
    cg_x86_64_options code;
    bool eager;
    rt_tools tools;
    rt_program *programs;
} cpu_device;

/* Throws after a message that names the kernel. */
IR_NORETURN void cpu_refuse(const cpu_device *c, const ir_func *kernel, const char *fmt, ...)
    IR_PRINTF(3, 4);
void cpu_launch(cpu_device *c, cpu_kernel *k, const spvf_range *range, const rt_arg *args,
                size_t count);
/* Room at a multiple of IR_LOCAL_ALIGN. */
void *cpu_aligned(ir_arena *a, uint64_t size);
/* Runs all groups while c->base.watch watches. */
void cpu_run_watched(cpu_device *c, const rt_work *work, const char *kernel, ir_arena *scratch);

/* ------------------------------------------------------------------------- printf (cpu_print.c) */

/* What the work-groups of a launch have printed. */
typedef struct {
    pthread_mutex_t lock;
    ir_arena arena;
    ir_text text, string;
} cpu_output;

/* ir_group_info.print; user: a cpu_output. */
int32_t cpu_print(void *user, const char *format, const void *arguments, uint64_t bytes);

typedef struct {
    cg_x86_64_options code; /* level 0: the machine's */
    bool eager;             /* as in rt_compiler */
    rt_cpu_compiler *compile;
} rt_cpu_options;
/* runtime.h's rt_cpu_open, for those who bring a compiler. */
rt_device *rt_cpu_open_with(spvf_context *context, const rt_cpu_options *options);

#endif
