/* native.h — running native code on this machine: code in memory, threads, variants of kernels.
 *
 *   options.c    what names of targets and devices say of code
 *   jit.c        an object in memory that can be executed
 *   jit_debug.c  such objects made known to gdb, perf and VTune
 *   cpus.c       how many threads this process should have, and where one of them runs
 *   seat.c       memory of a thread
 *   pool*.c      the threads, and the launches that they work on
 *   stack.c      stacks of our own
 *   lock.c       locks that survive a fork
 *   fork.c       what a fork leaves whole
 *   chunk.c      work-groups by number, and the boxes that a range of numbers is
 *   facts.c      what code of a kernel may be made for, by name
 *   constants.c  kernels for values of arguments that are marked
 *   variants.c   the code of a kernel: for any local size, and for some known ones
 *
 * Nothing here knows the IR; runtime/devices/cpu/cpu*.c put it together.
 */
#ifndef SPVFUSE_RUNTIME_NATIVE_H
#define SPVFUSE_RUNTIME_NATIVE_H

#include "passes/workgroup/regions.h"
#include "runtime/system/lock.h"
#include "runtime/system/trace.h"
#include "runtime/api/runtime.h"

/* --------------------------------------------------------------------------------- code (jit.c) */

typedef struct {
    uint8_t *base; /* NULL: nothing is loaded */
    size_t bytes;
    uint8_t *at[CG_SECTIONS];
    struct rt_announced *gdb; /* what gdb knows of it, or NULL */
} rt_code;

/* Variables that several objects have in common: they lie where one object has them. */
typedef struct {
    const char *name;
    void *at;
} rt_variable;

typedef struct {
    rt_code code;
    rt_variable *list; /* ascending by name */
    uint32_t n;
} rt_variables;

/* Places the object in memory: text can be executed, data written, and nothing is ever both.  Its
 * own constants and variables count only where `shared` (or NULL) has none of their name.  The
 * object is not needed afterwards.  IR_ERR_MEMORY, or IR_ERR_LIMIT: too large for its own
 * references. */
ir_status rt_code_load(const cg_object *o, const rt_variables *shared, rt_code *out);
/* The constants and variables of a loaded object, which stay as long as it; the list is in `a`. */
rt_variables rt_code_variables(const rt_code *c, const cg_object *o, ir_arena *a);
/* No thread may be in it.  Gdb forgets it. */
void rt_code_unload(rt_code *c);
static inline void *rt_code_symbol(const rt_code *c, const cg_object *o, uint32_t symbol) {
    return c->at[o->symbols.data[symbol].section] + o->symbols.data[symbol].at;
}

/* ----------------------------------------------------------------------------- options (options.c)
 *
 * A list of options with commas between them, after the name of a target or device. */

/* Does the list begin with this option?  Then *s moves to the next one. */
bool rt_take_option(const char **s, const char *option);
/* The same for an option "NAME=" with a number above 0 after it. */
bool rt_take_number(const char **s, const char *option, uint64_t *out);
/* A level of the machine, regalloc=stack, seed=N (choices of register allocation that do not matter
 * are made at random). */
bool rt_take_code_option(const char **s, const cg_machine *machine, cg_options *code);
/* The machine that the target "MACHINE[:OPTION{,OPTION}]" names, with its default level; *s moves
 * to the options.  NULL: there is none. */
const cg_machine *rt_take_machine(const char **s, cg_options *code);
/* ", x86_64[:v2|:v3|:v4]": all machines, each after a comma. */
const char *rt_list_machines(ir_arena *a);

/* --------------------------------------------- objects of containers (container/native.c, images.c) */

typedef struct {
    const char *name; /* in messages */
    const void *bytes;
    size_t size;
    unsigned level; /* that its code is for; 90 for sm_90 */
    uint64_t text;  /* cubin: a hash of the PTX that it was assembled from (rt_hash_text) */
} rt_object_image;

/* Code for devices that came with a module; ir_module.images. */
struct rt_images {
    const rt_object_image *list; /* objects for this machine, made of what the module was read from;
                                    the best ones first */
    uint32_t n;
    const rt_object_image *cubins;
    uint32_t cubin_count;
};

/* By what a cubin names the text that it was made of. */
static inline uint64_t rt_hash_text(const char *ptx) { return ir_hash(0, ptx, strlen(ptx)); }

/* An object in memory; the kernels end with one without a name. */
typedef struct {
    rt_code code;
    const spvf_native_kernel *kernels;
} rt_loaded_object;

/* Throws after a message: it is damaged, or of another machine. */
void rt_load_object(ir_ctx *cx, const rt_object_image *image, ir_arena *scratch,
                    rt_loaded_object *out);

/* -------------------------------------------------------------------------- tools (jit_debug.c) */

typedef struct {
    bool step;  /* code that a debugger can follow; `gdb` is true, too */
    bool gdb;   /* through gdb's JIT interface: names, frames, and lines as the object has them */
    bool perf;  /* names in /tmp/perf-PID.map, code and lines in jit-PID.dump */
    bool vtune; /* the same for VTune's library */
} rt_tools;
/* Is any of them told of code? */
static inline bool rt_are_told(const rt_tools *t) { return t->gdb || t->perf || t->vtune; }

/* Says what the loaded object holds.  Throws when memory is short; the code stays as it is. */
void rt_code_announce(rt_code *c, const cg_object *o, const rt_tools *tools, ir_ctx *cx);
void rt_code_withdraw(rt_code *c); /* from gdb; perf is told what was, not what is */
/* What perf reads of it: names in a file, and records of the dump, which are to be appended by one
 * thread at a time. (jit_perf.c) */
void rt_tell_perf(const rt_code *c, const cg_object *o, ir_arena *a, ir_text *records);
void rt_append_to_dump(const ir_text *records);
/* What VTune's library is told, by one thread at a time. (jit_vtune.c) */
typedef struct {
    struct rt_method *list;
    uint32_t n;
} rt_method_list;
rt_method_list rt_list_methods(const rt_code *c, const cg_object *o, ir_arena *a);
void rt_tell_vtune(rt_method_list *m);
/* Around a fork: gdb's list does not change meanwhile. */
void rt_code_before_fork(void);
void rt_code_after_fork(bool in_child);

/* ----------------------------------------------------------------------------- threads (cpus.c) */

/* Processors that this process may use: by its affinity, and by the quota of its control group. */
unsigned rt_cpu_count(void);
/* What SPVFUSE_THREADS says, or as many as processors. */
unsigned rt_default_threads(void);
/* The calling thread stays on the processor of that number, counted around. */
void rt_pin_thread(unsigned n);

/* ----------------------------------------------------------------------------- stacks (stack.c) */

/* Of one thread at a time; zeros: that of the caller. */
typedef struct {
    uint8_t *base; /* of the page that guards it */
    size_t bytes;
} rt_stack;

/* Makes it large enough; nothing runs on it.  What needs little goes without.  False: there is no
 * memory. */
bool rt_stack_reserve(rt_stack *s, uint64_t bytes);
void rt_stack_free(rt_stack *s);
/* Calls run(arg) there.  Nothing may be thrown out of it. */
void rt_stack_run(const rt_stack *s, void (*run)(void *arg), void *arg);
/* The same on a stack for compiling, whatever the caller's; false: there is no memory.  The process
 * keeps one such stack from call to call. */
bool rt_stack_run_deep(void (*run)(void *arg), void *arg);

/* ------------------------------------------------------------------------ work-groups (chunk.c) */

/* k.block of ir/launch.h */
typedef void rt_block(const ir_group_info *g, void *const *args);

/* Runs groups `at` to `at + count`, counted with x fastest, as few boxes; changes g's. */
void rt_run_groups(rt_block *run, ir_group_info *g, void *const *args, uint64_t at, uint64_t count);

/* ------------------------------------------------------------------------------- launches (pool.c)
 *
 * A pool has threads that help; the thread that launches works, too.  Any thread may launch at any
 * time; all launches share the helpers, and no more threads run groups at once than the pool has,
 * or callers when these are more. */

typedef struct rt_pool rt_pool;

typedef struct {
    unsigned threads; /* that run groups at once, callers included; 0: rt_default_threads() */
    bool pin;         /* each helper stays on a processor of its own */
} rt_pool_options;

/* What launches of a kernel took so far; starts as zeros. */
typedef struct {
    _Atomic uint64_t picoseconds; /* per group; 0: not known */
} rt_cost;

typedef struct {
    const char *name; /* of the kernel, in traces; or NULL */
    rt_block *run;
    const ir_group_info *info; /* num_groups says how many (at most 2^63 in all), their ids, local
                                  and scratch are set here */
    uint64_t groups;           /* the first so many of them run, x fastest; 0: all */
    void *const *args;
    uint64_t local, scratch; /* bytes that each thread needs */
    uint64_t stack;          /* bytes that a call of `run` needs */
    rt_cost *cost;           /* of the kernel, or NULL */
    uint64_t guess;          /* picoseconds of a group that has never run; 0: not known */
} rt_work;

/* Memory of one thread, for local memory and scratch, and a stack; zeros: none. (seat.c) */
typedef struct rt_seat {
    uint8_t *base;
    size_t bytes;
    rt_stack stack;
    struct rt_seat *next; /* unused seats of callers */
} rt_seat;

/* Makes the seat large enough; false: there is no memory. */
bool rt_seat_fill(rt_seat *s, const rt_work *w);
void rt_seat_free(rt_seat *s);
void rt_seat_place(const rt_seat *s, const rt_work *w, ir_group_info *g);

/* NULL: no memory.  Helpers start when they are needed first. */
rt_pool *rt_pool_new(const rt_pool_options *options);
void rt_pool_free(rt_pool *p); /* after the last launch; ends the helpers */
/* Returns when all groups have run.  IR_ERR_MEMORY: there is no room for local memory and scratch,
 * and none has. */
ir_status rt_pool_run(rt_pool *p, const rt_work *work);
unsigned rt_pool_threads(const rt_pool *p);

/* What a helper does for later launches, in place of groups.  One job is run at a time. */
typedef struct rt_job {
    void (*run)(struct rt_job *j);
    _Atomic bool begun, ended;
    _Atomic bool cancelled; /* what it makes is not wanted any more */
    struct rt_job *next;    /* of those that have not begun */
} rt_job;

/* False: the pool has no helper for it.  Otherwise the job stays where it is until it has ended or
 * is taken back. */
bool rt_pool_add_job(rt_pool *p, rt_job *j);
/* Takes it back if it has not begun, otherwise waits for its end, which comes soon if it looks at
 * `cancelled`.  False: it has not run. */
bool rt_pool_end_job(rt_pool *p, rt_job *j, bool cancel);

/* The pool of this process: the first call makes it, the last one that gives it back frees it. */
rt_pool *rt_pool_share(void);
void rt_pool_give_back(rt_pool *p);
/* Around a fork: it does not change meanwhile.  In the child it has no threads yet. */
void rt_pool_before_fork(void);
void rt_pool_after_fork(bool in_child);

/* ------------------------------------------------------------------- kernels (native_compile.c) */

/* Integers that launches are given by value: bit n of `known` says that argument n is value[n]. */
enum { RT_MAX_VALUES = 16 };
typedef struct {
    uint32_t known;
    uint64_t value[RT_MAX_VALUES]; /* zero-extended */
} rt_values;

typedef struct {
    pass_group_shape shape; /* of the launches that the code is for */
    bool only_blocks;       /* no function runs a single group: entry is that of the block; and the
                               launch knows of phases */
    const cg_machine *machine;
    cg_options code;
    const rt_values *values; /* that the code is for; NULL: for all */
    rt_constants constants;  /* arguments that the code is for */
    bool keep_calls;         /* as in pass_options */
    bool steps;              /* for a debugger: as the source says, with variables in memory */
    bool time;               /* notes say how long each pass and stage took */
} rt_native_options;

/* Compiling uses up a module: runs `body` with an empty one like `from`, for copies, in a context
 * that may be another one.  It is freed, however `body` ends. */
typedef void rt_module_body(void *user, ir_module *m);
void rt_in_new_module(ir_ctx *cx, const ir_module *from, rt_module_body *body, void *user);
/* Compiles one kernel of a module, or all of them (name NULL); the module is used up.  They are
 * described in out->kernels; all of it lies in the arena.  False after a reported error. */
bool rt_native_compile(ir_module *m, const char *name, const rt_native_options *o, ir_arena *arena,
                       cg_object *out);

/* Keeps in the frame of each function what debuggers read.  The kernels are not yet code of
 * work-groups. (steps.c) */
void rt_show_variables(ir_module *m);

/* --------------------------------------------------------------------------------- facts (facts.c) */

enum {
#define FACT(id, name, text) RT_FACT_##id,
#include "runtime/native/facts.def"
#undef FACT
    RT_FACTS
};
typedef uint32_t rt_facts; /* bit n: fact n of the list */
#define RT_FACT(id) (UINT32_C(1) << RT_FACT_##id)
#define RT_ALL_FACTS ((UINT32_C(1) << RT_FACTS) - 1)

/* What such code is made for; values may be NULL. */
/* Is the value of an argument, in memory form, short, or of a type that none of is called so?
 * NULL: it is not known. */
bool rt_is_short(ir_type t, const void *bytes);
rt_facts rt_facts_of(const pass_group_shape *shape, const rt_values *values);
/* Code will be made for any launches in these respects; values are the caller's. */
void rt_forget_facts(rt_facts without, pass_group_shape *shape);
/* An option "without=NAME", or "without=all". */
bool rt_take_without(const char **s, rt_facts *without);

/* --------------------------------------------------------------------------- variants (variants.c)
 *
 * Several threads may launch a kernel at a time. */

enum { RT_MAX_SHAPES = 8 };

/* Code of a kernel. */
typedef struct {
    rt_code code;
    rt_block *run;
    ir_group_need need;
    ir_phases phases;
    uint64_t stack;         /* bytes, as in cg_kernel */
    uint32_t item_steps;    /* as in cg_kernel */
    uint32_t unused;        /* as in cg_kernel; 0: all arguments are given */
    pass_group_shape shape; /* of the launches that it is made for */
    rt_facts facts;         /* likewise */
} rt_variant;

typedef struct {
    enum { RT_NOT_COMPILED, RT_COMPILING, RT_COMPILED, RT_FAILED } state;
    rt_variant variant;
    uint64_t ns; /* that compiling took */
} rt_compiled;

/* Code that another thread makes. */
typedef struct rt_later {
    rt_job job;
    rt_pool *pool;
    rt_compiled made; /* once the job has ended */
    void (*free)(struct rt_later *l);
} rt_later;

/* What is known of launches of one shape. */
typedef struct {
    pass_group_shape shape;
    unsigned users;    /* launches that are running */
    uint64_t used;     /* when: by the kernel's clock */
    uint64_t spent_ns; /* in launches that ran the code for any shape, or code made quickly */
    uint64_t alike_ns; /* in launches that ran its own code and had the values `alike` in common */
    rt_values alike;
    rt_cost cost;
    rt_compiled quick; /* what runs until there is `own`, if the first launch was small */
    rt_compiled own, fixed;
    rt_values fixed_to;
    rt_later *later; /* what makes `own`, or NULL */
    bool failed;     /* the other thread has made no code: a launch makes it */
} rt_launches;

typedef struct {
    rt_lock lock;
    pthread_cond_t compiled;
    uint32_t forks; /* rt_forks() when it was used last */
    uint64_t clock;
    rt_compiled any;
    rt_launches launches[RT_MAX_SHAPES];
} rt_kernel;

/* Makes code for launches of a shape; zeros: for any; and for values; NULL: for all.  *out is zeros
 * before and, when it fails, after it. */
typedef struct {
    ir_status (*compile)(void *user, const pass_group_shape *shape, const rt_values *values,
                         rt_variant *out);
    void *user;
    bool eager; /* each shape, and its values, get code of their own when launched first */
    /* How much there is to do in the launch, for code that is made quickly: at most 1 if that is
     * to be made.  NULL: it is not. */
    double (*size)(void *user);
    /* Begins to make code in another thread; NULL: there is none. */
    rt_later *(*begin)(void *user, const pass_group_shape *shape);
} rt_compiler;

/* The code of one launch. */
typedef struct {
    const rt_variant *variant;
    rt_launches *launches; /* like this one; NULL: nothing is remembered */
} rt_use;

void rt_kernel_init(rt_kernel *k);
void rt_kernel_free(rt_kernel *k); /* no launch runs */
/* Finds or compiles code; when that fails, its status.  Otherwise rt_kernel_end comes after the
 * launch, which took `ns`. */
ir_status rt_kernel_begin(rt_kernel *k, const pass_group_shape *shape, const rt_values *values,
                          const rt_compiler *compiler, rt_use *use);
void rt_kernel_end(rt_kernel *k, const rt_use *use, uint64_t ns);

/* -------------------------------------------------------------------------- constants (constants.c)
 *
 * Launches of a kernel that give its marked arguments the same values have a kernel of their own, up
 * to a number of values.  Several threads may ask at a time. */

enum { RT_MAX_CONSTANTS = 8 };

typedef struct {
    rt_lock lock;
    unsigned n;
    bool told; /* that there are more values */
    struct rt_constant_kernel *of[RT_MAX_CONSTANTS];
} rt_constant_kernels;

void rt_constants_init(rt_constant_kernels *k);
void rt_constants_free(rt_constant_kernels *k); /* no launch runs */
/* The kernel for these values, which stays; NULL: there are too many others, or there is no
 * memory.  *news: there are too many, and no note has said so yet. */
rt_kernel *rt_constants_find(rt_constant_kernels *k, const rt_constants *values, bool *news);
/* A note that a kernel has too many others. */
void rt_tell_of_constants(ir_ctx *cx, const char *kernel);

#endif
