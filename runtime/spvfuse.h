/* spvfuse.h — the library: read SPIR-V kernels, look at them, fuse them, run them.
 *
 * The simple call comes first:
 *
 *     spvf_context *cx;
 *     spvf_context_create(NULL, &cx);
 *     spvf_module *vadd, *scale, *fused;
 *     spvf_module_load(cx, "vadd.spv", vadd_bytes, vadd_size, NULL, &vadd);
 *     spvf_module_load(cx, "scale.spv", scale_bytes, scale_size, NULL, &scale);
 *     spvf_member members[] = {{.module = vadd, .kernel = "vadd", .range = range},
 *                              {.module = scale, .kernel = "scale", .range = range}};
 *     spvf_identity same[] = {{0, 2, 1, 0}};              // vadd's third argument is scale's first
 *     spvf_fuse_options what = {.size = sizeof what, .members = members, .member_count = 2,
 *                               .identities = same, .identity_count = 1};
 *     spvf_fusion *result;
 *     spvf_fuse(cx, &what, &result);                        // a kernel, its SPIR-V, its arguments
 *
 * Ownership: every *_create, *_load, spvf_fuse has a *_destroy that takes NULL; strings and arrays
 * inside info structs belong to the object they came from.  A context outlives what was made with
 * it.
 * Threads: a context and what was made with it belong to one thread at a time; different contexts
 * are independent.  A thread must not be cancelled (pthread_cancel) while it is in a call: it would
 * keep locks.  Callbacks have to return, without longjmp, exceptions or pthread_exit.
 * Errors: every call that can fail returns a status; the reason goes to the context's message
 * callback as text and place.  The library never prints, never exits, and leaves no half-made
 * object behind: on failure the out-parameter is NULL.
 * Versions: a struct that begins with `size` is made by the caller, who sets that to its sizeof.
 * Members that are missing count as 0.  Bytes that this library does not know have to be 0, otherwise
 * the call gives SPVF_ERROR_ARGUMENT after a message whose `name` is "unknown-member"; so it does,
 * without a name, if there is no size.  Structs that a comment calls fixed never change.  All others
 * are made by the library and may get more members at their end, so programs use them where they are:
 * lists of them are lists of pointers.
 */
#ifndef SPVFUSE_H
#define SPVFUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SPVF_API __attribute__((visibility("default")))
#else
#define SPVF_API
#endif

/* Of these headers.  A program that was built with them runs with each later library of the same
 * major version; docs/LIBRARY.md says what may change. */
#define SPVF_VERSION_MAJOR 0
#define SPVF_VERSION_MINOR 1
#define SPVF_VERSION_PATCH 0
/* As one number, for comparisons: #if SPVF_VERSION >= SPVF_MAKE_VERSION(0, 2, 0). */
#define SPVF_MAKE_VERSION(major, minor, patch) ((major)*1000000 + (minor)*1000 + (patch))
#define SPVF_VERSION SPVF_MAKE_VERSION(SPVF_VERSION_MAJOR, SPVF_VERSION_MINOR, SPVF_VERSION_PATCH)

typedef enum {
    SPVF_OK,
    SPVF_ERROR_INPUT,    /* the module, plan or request is not well-formed */
    SPVF_ERROR_MEMORY,   /* the allocator gave NULL, or the memory limit was reached */
    SPVF_ERROR_LIMIT,    /* a size that the library does not handle */
    SPVF_ERROR_ARGUMENT, /* a call that makes no sense: NULL, a wrong index, an unknown name */
    SPVF_ERROR_REFUSED,  /* well-formed, and not fusable or not supported; the message says why */
    SPVF_ERROR_DEVICE,   /* the device is absent or failed */
    SPVF_ERROR_IO,       /* a file could not be read or written */
    SPVF_ERROR_INTERNAL  /* the library broke its own rules: a bug; the message says where */
} spvf_status;

/* Most bytes of a file that is read, by plans and by the command; with more it is not.  A pipe or
 * device need not end. */
#define SPVF_MAX_FILE_SIZE ((size_t)1 << 30)

/* A fixed English phrase, never NULL. */
SPVF_API const char *spvf_status_name(spvf_status status);

/* -------------------------------------------------------------------------------------- version */

/* SPVF_VERSION of the library that runs, which may be newer than the headers.  Any thread. */
SPVF_API uint32_t spvf_version(void);
/* The version of the library that runs as text: "0.1.0".  The text is the library's.  Any
 * thread. */
SPVF_API const char *spvf_version_text(void);
/* What the library can do on this machine, as words with spaces between them; NULL: it cannot, or
 * there is no feature of that name.
 *
 *     spirv     versions of SPIR-V that spvf_module_emit writes: "1.0 1.1 1.2 1.3 1.4"
 *     code      levels of processors that it makes code for: "x86_64:v2 x86_64:v3 …"
 *     native    the level of this processor: "x86_64:v4"
 *     devices   kinds of devices that it knows: "check cpu opencl cuda"
 *     opencl-c  path of the compiler of OpenCL C, which is looked for and tried: "/usr/bin/clang-15"
 *     ptxas     path of the assembler of PTX
 *
 * Each is looked for once in a process, when it is asked for, which may take a second.  The text is
 * the library's, for the life of the process.  Any thread. */
SPVF_API const char *spvf_feature(const char *name);
/* The names of features, with a description for people (or NULL); NULL from `index` out of
 * range. */
SPVF_API const char *spvf_feature_name(size_t index, const char **description);

/* -------------------------------------------------------------------------------------- context */

typedef struct spvf_context spvf_context;
typedef struct spvf_module spvf_module;
typedef struct spvf_fusion spvf_fusion;
typedef struct spvf_plan spvf_plan;
typedef struct spvf_explanation spvf_explanation;

typedef enum { SPVF_NOTE, SPVF_WARNING, SPVF_ERROR } spvf_severity;

/* What the library was doing when it broke a rule of its own, for reports of the bug.  Absent parts
 * are NULL or 0. */
typedef struct {
    const char *stage; /* a pass, a stage of native code, or another part that has a name */
    uint64_t number;   /* of the stage, counted in the context: spvf_pass_options take it */
    const char *function, *block, *instruction;
    const char *file; /* with the code before the stage: in the folder that SPVFUSE_BUGS names */
} spvf_fault;

/* One message.  Absent parts are NULL or 0.  Valid during the callback. */
typedef struct {
    spvf_severity severity;
    const char *file;        /* the input as it was named */
    uint32_t line, column;   /* in a text input, from 1 */
    uint32_t word;           /* in a SPIR-V module: word offset */
    const char *source_file; /* what OpLine says */
    uint32_t source_line;
    const char *text;                    /* the message alone */
    const char *formatted;               /* "k.spv: word 0x1a3, saxpy.cl:12: error: …" */
    const spvf_explanation *explanation; /* of a group that is refused */
    const spvf_fault *fault;             /* of an internal error */
    const char
        *name; /* of some errors, for programs: "unknown-member", "overlap" (see spvf_layout) */
} spvf_message;

typedef struct {
    size_t size;                                 /* sizeof(spvf_context_options) */
    void *(*allocate)(void *user, size_t bytes); /* NULL: malloc and free */
    void (*release)(void *user, void *block);
    void *alloc_user;
    void (*message)(void *user, const spvf_message *message); /* NULL: messages are dropped */
    void *message_user;
    size_t memory_limit; /* bytes held at once; 0: none */
    /* spvf_context_reproducer writes so many of the last fusions of the context and launches of
     * devices that were opened with it; 0: none are remembered */
    uint32_t remember;
    size_t remember_contents; /* with what buffers of at most so many bytes held before them */
    size_t remember_bytes;    /* all of that has at most so many bytes; 0: 256 MiB */
} spvf_context_options;

/* Makes a context, which is to be destroyed; options NULL: defaults.  SPVF_ERROR_ARGUMENT: out is
 * NULL, the options have no size, or only one of `allocate` and `release` is given.
 * SPVF_ERROR_MEMORY.  Nothing tells why, since there is no callback yet. */
SPVF_API spvf_status spvf_context_create(const spvf_context_options *options, spvf_context **out);
/* Frees the context, once all that was made with it is destroyed; NULL: nothing happens. */
SPVF_API void spvf_context_destroy(spvf_context *context);
/* Writes what the context remembers, as its options say, to a folder, which is made if it is not
 * there: the last launches of devices that were opened with the context, by queues, graphs or
 * plans, and its last fusions, the first one first.  Each is a plan, which `spvfuse run` and
 * spvf_plan_load repeat without the program (docs/DEBUGGING.md); what was launched together is one.
 * Values, ranges, sizes of memory and, with `remember_contents`, what memory held before are those
 * of the launch; other contents are made up, and comments in the plan say so.  A launch is
 * remembered before it runs, so a fault, a wrong result or an error can be reported after it.  What
 * is remembered takes memory from malloc; a launch waits until its memory has been copied, and on
 * devices with memory of their own, until what was launched before has ended.  Contexts that
 * remember nothing cost nothing.  The files hold data of the program.
 * *plans, or NULL: how many plans were written.  By any thread that may use the context; others
 * that launch wait until the files are written.  SPVF_ERROR_ARGUMENT: context or folder is NULL, or
 * `remember` is 0.  SPVF_ERROR_IO, with a message: a file cannot be written; those before it are
 * there.  SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_context_reproducer(spvf_context *context, const char *folder,
                                             size_t *plans);

/* --------------------------------------------------------------------------------------- module */

/* The value of a specialization constant.  Fixed. */
typedef struct {
    uint32_t id;    /* SpecId */
    uint64_t value; /* the bits, zero-extended; bool: 0 or 1 */
} spvf_spec_value;

/* An argument, by its name or, if that is NULL, by its number among spvf_kernel_info.args.
 * Fixed. */
typedef struct {
    const char *kernel; /* NULL: of all kernels that have one of the name, or of the number */
    const char *name;
    size_t index;
} spvf_marked_arg;

/* The function `name` gets a new body: it calls these functions in turn, with its own arguments.
 * All have its parameters and its result; a function with a result calls exactly one.  Fixed. */
typedef struct {
    const char *name;
    const char *const *calls;
    size_t call_count;
} spvf_definition;

/* What a module does not say of structs that its kernels take by value, their closures.  The same
 * can be declared as text: docs/IR.md has the grammar, docs/PASSES.md what pass `closures` makes of
 * it.  The library keeps nothing of these structs.  What is wrong fails the load with
 * SPVF_ERROR_INPUT and a message whose `name` is "overlap", "layout-mismatch", "special-in-union",
 * "init-missing", "init-type", "area-too-large", "recursion", "called" or "name-clash". */

/* A value if `type` is not NULL; otherwise a special if `init` is not NULL; otherwise bytes without
 * a type, as of a union or of bit-fields.  Fixed. */
typedef struct {
    const char *name; /* or NULL */
    uint64_t offset;  /* bytes from the beginning of the struct */
    const char *type; /* as in the text form of the IR: "i32", "ptr.global", "[4 x f32]" */
    uint64_t bytes;   /* size of a special, or of bytes without a type */
    const char *init, *finalize; /* functions of a special; finalize: or NULL */
    bool specialized;            /* code is made for its value (docs/DEVICES.md) */
} spvf_layout_member;

/* The struct that a kernel takes as argument `arg`, counted as it is read.  Members in ascending
 * order of offsets; other bytes are padding.  Fixed. */
typedef struct {
    const char *kernel;
    uint32_t arg;
    uint64_t size; /* bytes */
    const spvf_layout_member *members;
    size_t member_count;
} spvf_layout_closure;

/* All members of a structure type are special.  Fixed. */
typedef struct {
    const char *type; /* the name of the structure in the module */
    const char *init; /* takes the address of the object, and then what a host gives in its place */
    const char *finalize; /* takes the address, when the kernel has ended; or NULL */
} spvf_layout_special;

typedef enum {
    SPVF_DECOMPOSE, /* each member becomes a parameter */
    SPVF_BY_VALUE   /* the struct remains one; parameters for specials follow it */
} spvf_closure_convention;

typedef struct {
    size_t size; /* sizeof(spvf_layout) */
    spvf_closure_convention convention;
    uint64_t parameter_area; /* bytes that the parameters of a kernel may have; 0: any number */
    bool spill;              /* a struct that does not fit is in a constant buffer */
    bool drop_unused;        /* spvf_module_optimize drops all members that nothing reads */
    const spvf_layout_special *specials;
    size_t special_count;
    const spvf_layout_closure *closures;
    size_t closure_count;
    const char *text;      /* more declarations, as text; or NULL */
    const char *text_name; /* of the text, in messages; NULL: "<layout>" */
} spvf_layout;

typedef struct {
    size_t size; /* sizeof(spvf_module_options) */
    /* Values for specialization constants; others keep their default.  All of them are constants
     * from then on: a module that is written as SPIR-V has no specialization constants left. */
    const spvf_spec_value *specs;
    size_t spec_count;
    /* Kernels that take structs with pointers by value, as SYCL compilers make them, get a
     * parameter for each member of such a struct, in ascending order of offsets
     * (spvf_arg_info.closure).  Bytes between members are parameters, too, as unions may use them;
     * spvf_module_optimize drops those that nothing reads. */
    bool closures;
    /* Arguments by value of which devices cpu and cuda make constants: for each of a few values
     * that launches give them there is code of its own (docs/DEVICES.md).  The annotation
     * "specialized" in SPIR-V says the same of a parameter, or of a member of a struct that is
     * taken apart. */
    const spvf_marked_arg *specialized;
    size_t specialized_count;
    /* Functions that are put together from others before anything else is done with the module. */
    const spvf_definition *definitions;
    size_t definition_count;
    /* What the module will run on: the name of a device or of a target of spvf_module_emit.
     * Queries about the device, which compilers leave as calls, become constants (docs/DEVICES.md).
     * NULL: they stay; spvf_program_create and plans answer them for their device. */
    const char *target;
    const spvf_layout *layout; /* of such structs, asks for `closures`, too; or NULL */
    /* Not NULL: the bytes are OpenCL C, which an installed clang compiles in another process, and
     * this is its options as those of clBuildProgram (docs/OPENCL.md).  What it says are
     * messages. */
    const char *opencl_c;
} spvf_module_options;

/* Reads SPIR-V (recognised by its magic number, either byte order), the text form of the IR, a
 * container, or OpenCL C.  Bytes of another kind are an error that names what they are.  `name`
 * appears in messages.  The bytes are not kept.  SPVF_ERROR_INPUT: they are not well-formed, or an
 * option names what is not there; a message says where.  A kernel that needs what is not supported
 * is loaded, with its `refusal`.  SPVF_ERROR_LIMIT, SPVF_ERROR_MEMORY.  SPVF_ERROR_DEVICE: there is
 * no compiler for OpenCL C.  SPVF_ERROR_ARGUMENT: context, bytes or out is NULL, or the options
 * have no size. */
SPVF_API spvf_status spvf_module_load(spvf_context *context, const char *name, const void *bytes,
                                      size_t size, const spvf_module_options *options,
                                      spvf_module **out);
/* Frees the module, and all that its calls gave: kernels, names, arguments.  NULL: nothing happens.
 * A program that was made of it stays. */
SPVF_API void spvf_module_destroy(spvf_module *module);

typedef enum {
    SPVF_ARG_BUFFER, /* a pointer to global or constant memory */
    SPVF_ARG_LOCAL,  /* a pointer to work-group memory; set by size */
    SPVF_ARG_VALUE,  /* bytes by value */
    SPVF_ARG_IMAGE,
    SPVF_ARG_SAMPLER
} spvf_arg_kind;

typedef enum {
    SPVF_ACCESS_NONE, /* of a value, or of memory that is not accessed */
    SPVF_ACCESS_READ,
    SPVF_ACCESS_WRITE,
    SPVF_ACCESS_READ_WRITE
} spvf_arg_access;

typedef struct {
    const char *name;      /* NULL when the module has none */
    const char *type_name; /* OpenCL C spelling when the module has it, or NULL */
    spvf_arg_kind kind;
    uint64_t size;  /* bytes of a value; 0 for the others */
    uint32_t align; /* bytes; of the value, or what the pointer promises; 0: unknown */
    bool constant;  /* buffer in constant memory */
    bool read_only; /* the kernel does not write through it */
    bool no_alias;
    bool specialized; /* code is made for its value (docs/DEVICES.md) */
    bool member;      /* of a struct that the kernel takes by value as it was read */
    bool padding;     /* a member: bytes that the type of the struct does not name */
    uint32_t closure; /* the parameter as the kernel was read: this one, or that which it is of */
    uint64_t offset;  /* a member: in that parameter, in bytes */
    /* A special member of that parameter, counted from 1, is made of this argument; 0: none is. */
    uint32_t special;
    uint32_t special_arg;   /* which one of those of the special, from 0 */
    bool spilled;           /* a member: a constant buffer with all `size` bytes of the struct */
    bool used;              /* the kernel uses it, as far as passes have found out */
    spvf_arg_access access; /* of the kernel to the memory that a pointer leads to, at most */
    /* Of a value, also where the module names no type: how many numbers it is, 1 or those of a
     * vector; 0: it is none, or that is not known.  A vector of 3 has room for 4. */
    uint32_t numbers;
    bool floating; /* they are floating-point numbers */
} spvf_arg_info;

typedef struct {
    const char *name;
    const spvf_arg_info *const *args;
    size_t arg_count;
    uint32_t required_local_size[3]; /* all 0: none */
    uint32_t local_size_hint[3];
    uint32_t required_subgroup_size; /* 0: none */
    uint64_t local_memory;           /* bytes of work-group variables, arguments apart */
    const char *refusal;             /* why it cannot be used, or NULL */
    /* As the kernel was read: what a host sets, and spvf_arg_info.closure counts. */
    const spvf_arg_info *const *host_args;
    size_t host_arg_count;
    /* As closures were taken apart, before spvf_module_optimize dropped what is not used: bit n %
     * 64 of arg_mask[n / 64] says whether parameter n of those is still one of args. */
    size_t all_arg_count;
    const uint64_t *arg_mask;
} spvf_kernel_info;

/* Gets one of args: its index and bytes. */
typedef void spvf_set_argument(void *user, size_t index, const void *bytes);
/* Takes apart what a host gives for one of host_args, the bytes of a value: calls `set` for each of
 * args that is a part of it, with its index and its bytes, for a pointer the address; for a buffer
 * that is `spilled`, all bytes of the struct.  `special` is called for each that a special member
 * is made of, with the bytes of the host's object at that place.  For callers of
 * spvf_module_options.closures and layout.  Both are called in the order of args, during the call.
 * SPVF_ERROR_ARGUMENT, before any call: that is no value of so many bytes, or there is a special
 * and no function for it. */
SPVF_API spvf_status spvf_closure_arguments(const spvf_kernel_info *kernel, size_t host_arg,
                                            const void *bytes, size_t size, spvf_set_argument *set,
                                            spvf_set_argument *special, void *user);

/* How many kernels the module has, also of those that are refused; 0 of NULL. */
SPVF_API size_t spvf_module_kernel_count(const spvf_module *module);
/* Kernel `index` of the module, from 0; NULL when that is out of range.  Valid until the module is
 * destroyed or optimized. */
SPVF_API const spvf_kernel_info *spvf_module_kernel(const spvf_module *module, size_t index);
/* The kernel of that name, or NULL.  Valid until the module is destroyed or optimized. */
SPVF_API const spvf_kernel_info *spvf_module_find_kernel(const spvf_module *module,
                                                         const char *name);
/* How many specialization constants the module has; 0 of NULL. */
SPVF_API size_t spvf_module_spec_count(const spvf_module *module);
/* The specialization constant `index`, from 0: its id and the value in force, and how many bits it
 * has, 1 for a bool; `bits` may be NULL.  SPVF_ERROR_ARGUMENT: there is none. */
SPVF_API spvf_status spvf_module_spec(const spvf_module *module, size_t index,
                                      spvf_spec_value *value, uint32_t *bits);

/* An nd-range; sizes in work-items, x first.  local all 0: not specified.  Fixed. */
typedef struct {
    uint32_t dims; /* 1 to 3 */
    uint64_t global[3], local[3], offset[3];
} spvf_range;

typedef struct {
    size_t size;        /* sizeof(spvf_pass_options) */
    const char *passes; /* comma-separated names; NULL: the standard pipeline */
    bool verify_each;   /* check the IR after every pass, and allocations of registers */
    /* Switches name a pass, for spvf_context_inspect also a stage of native code, or give its
     * number: passes and stages are counted from 1 in a context, in the order in which they
     * begin. */
    const char *dump_after; /* or "*": text of the code to `dump` */
    bool dump_changed;      /* only passes that changed something */
    const char *stop_after;
    bool bisect; /* run only the first bisect_limit pass executions */
    uint64_t bisect_limit;
    bool time;        /* report nanoseconds per pass as notes */
    bool trace_rules; /* report each rewrite as a note */
    void (*dump)(void *user, const char *pass, const char *text); /* also what `access` prints */
    void *dump_user;
    const spvf_range *range; /* that kernels are launched on, as far as `access` asks; or NULL */
    bool *stopped;           /* becomes true when the pipeline ends at stop_after; or NULL */
    bool stats;              /* of spvf_context_inspect: count what is done */
    /* Of spvf_context_inspect: notes say for each loop over work-items how many of them an
     * iteration runs, and by which forms of access, or why it runs one. */
    bool remarks;
} spvf_pass_options;

/* Transforms the module in place.  After an error the module may only be destroyed.  The pass
 * `access` transforms nothing: it gives `dump` a summary of what each kernel reads and writes, with
 * offsets as functions of ids, and with the bytes that can be touched where the range says so.
 * SPVF_ERROR_ARGUMENT: the options have no size, or name a pass that is not there.
 * SPVF_ERROR_MEMORY.  SPVF_ERROR_INTERNAL: a pass made invalid code, which `verify_each` looks for.
 */
SPVF_API spvf_status spvf_module_optimize(spvf_module *module, const spvf_pass_options *options);
/* Names and one-line descriptions of the passes; NULL from `index` out of range. */
SPVF_API const char *spvf_pass_name(size_t index, const char **description);
/* Names and one-line descriptions of the stages of native code, in the order in which they run;
 * NULL from `index` out of range. */
SPVF_API const char *spvf_stage_name(size_t index, const char **description);
/* Shows the native code that the context makes from here on, by spvf_module_emit or for launches,
 * as dump_after, dump_changed, verify_each, time, trace_rules, stats and remarks say; what else is
 * in the options has no effect.  SPVF_ERROR_ARGUMENT, after a message, if dump_after or stop_after
 * name nothing.  NULL: shows it no longer.  Launches do not take code from the cache meanwhile. */
SPVF_API spvf_status spvf_context_inspect(spvf_context *context, const spvf_pass_options *options);
/* Counters of what passes and stages do, by the context, while spvf_context_inspect asks for stats;
 * a note for each pass and stage has the instructions before and after it.  Names and descriptions;
 * NULL from `index` out of range. */
SPVF_API const char *spvf_counter_name(size_t index, const char **description);
/* What a counter has counted since stats were asked for; 0 if they were not. */
SPVF_API uint64_t spvf_context_counter(const spvf_context *context, size_t index);
/* Facts of the order of passes: the pass that is returned runs before *second runs for the first
 * time, for the reason *why; NULL from `index` out of range. */
SPVF_API const char *spvf_pass_order(size_t index, const char **second, const char **why);

/* Bytes made by the library; released with spvf_blob_destroy.  Fixed. */
typedef struct {
    void *data;
    size_t size;
    spvf_context *context;
} spvf_blob;
/* Frees the bytes, and makes the blob empty; one that is empty, or NULL, stays as it is. */
SPVF_API void spvf_blob_destroy(spvf_blob *blob);

/* Writes a module.  Targets: "ir" (text); "dot" (control flow graphs, for Graphviz); "spirv"
 * (SPIR-V 1.2, or newer when the module uses what 1.2 does not have); "spirv:1.0" … "spirv:1.4"
 * (SPVF_ERROR_INPUT when that version cannot say it); "ptx" with ":sm_70" … ":sm_121" (text for
 * GPUs of NVIDIA; sm_75 by default) and options ",exact" (correctly rounded quotients and roots of
 * floats), ",offset" (parameters for the global offset), ",wide" (sizes of 2^32 and more),
 * ",disjoint" (no two pointers that a kernel is given lead to the same memory), ",aligned" (global
 * memory of each begins at a multiple of 16 bytes), ",threads=N" (work-groups have at most N
 * work-items) and ",coarsen=N" (threads may run 2 or 4 work-items, as a comment before the kernel
 * says); "cubin" likewise (what ptxas makes of that, SPVF_ERROR_DEVICE where it is not installed);
 * "x86_64" with ":v2" (SSE4.2), ":v3" (AVX2 and FMA; the default), ":v4" (AVX-512 F, BW, CD, DQ,
 * VL) or ":icelake" (AVX-512 IFMA, VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ, too): a linkable ELF
 * object with all kernels and a table of them, see spvf_native_kernel; a kernel that cannot run on
 * a CPU is left out, with a warning (SPVF_ERROR_REFUSED when none is left).  Options of x86_64,
 * each after a comma: "text" (assembly, for GNU as and clang), "lines" (debug information),
 * "abi=nativecpu" (the functions and the table of DPC++'s Native CPU), "calls" (functions that each
 * work-item can run alone are called, not inlined), "regalloc=stack" (every value in memory),
 * "simd=N" (loops over work-items run N of them at once, a power of two up to 64, whatever it
 * costs), "stop=STAGE" (as text, the code as it is after that pass or stage, see
 * spvf_pass_options), "time" (notes of the nanoseconds that each pass and stage took). */
SPVF_API spvf_status spvf_module_emit(const spvf_module *module, const char *target,
                                      spvf_blob *out);

/* --------------------------------------------------------------------------------------- fusion */

/* A kernel to be fused.  Fixed. */
typedef struct {
    const spvf_module *module;
    const char *kernel;
    spvf_range range;
} spvf_member;

/* Parameter a of member a and parameter b of member b are always given the same argument.
 * Identities are closed transitively; the later parameter disappears.  Fixed. */
typedef struct {
    uint32_t member_a, param_a, member_b, param_b;
} spvf_identity;

/* A by-value parameter whose bytes are known.  Fixed. */
typedef struct {
    uint32_t member, param;
    const void *bytes;
    size_t size;
} spvf_constant;

/* What a buffer may become whose contents are not needed before or after the fused kernel: memory
 * of each work-item or of each work-group, which the fused kernel has itself.  The kernel has no
 * parameter for it then, and the buffer is not touched; it need not exist. */
typedef enum {
    SPVF_PROMOTE_AUTO,    /* private memory, or values, where that is proved right; or nothing */
    SPVF_PROMOTE_PRIVATE, /* private memory; refuse where it is not proved right */
    SPVF_PROMOTE_LOCAL    /* local memory; the same */
} spvf_promote;

/* Proved is that no two items (groups) use the same byte, and that everything is written before it
 * is read.  Where elements is given, it must be a multiple of the number of items (groups).
 * Fixed. */
typedef struct {
    uint32_t member, param; /* a buffer; all parameters that are identical with it are meant */
    spvf_promote kind;
    /* A property of this parameter alone: something happens only when all parameters that are the
     * buffer have one; private with local is local. */
    bool accessor;
    /* The caller knows that each item (group) uses elements of its own, which are distinct modulo
     * n = elements / items: nothing is proved; element e is kept at e % n.  Needs both sizes. */
    bool assume;
    uint64_t elements;     /* of the buffer; 0: not known */
    uint32_t element_size; /* in bytes; 0: not known */
} spvf_promotion;

typedef enum {
    SPVF_BARRIER_BOTH,
    SPVF_BARRIER_LOCAL,
    SPVF_BARRIER_GLOBAL,
    SPVF_BARRIER_NONE /* where one is needed, refuse */
} spvf_barrier;

/* Spec values belong to modules (spvf_module_options), the target to spvf_module_emit. */
typedef struct {
    size_t size;                /* sizeof(spvf_fuse_options) */
    const char *name;           /* of the fused kernel; NULL: the members' names joined by '_' */
    const spvf_member *members; /* in execution order; a kernel may occur repeatedly */
    size_t member_count;
    const spvf_identity *identities;
    size_t identity_count;
    const spvf_constant *constants;
    size_t constant_count;
    spvf_barrier barrier;            /* between two members, where one is needed */
    bool no_optimize;                /* leave the fused body as composed */
    const spvf_pass_options *passes; /* NULL: the standard pipeline */
    /* Fuse also where it is not proved that work-groups do not depend on each other: the caller
     * knows that they do not. */
    bool force;
    const spvf_promotion *promotions;
    size_t promotion_count;
    /* The fused kernel will be launched with the range of its info and no other: sizes and what
     * follows from them become constants. */
    bool known_range;
    /* The device can make all work-groups of a launch wait for each other: where they depend on
     * each other such a barrier is made (OpControlBarrier of scope Device), in place of a refusal.
     * Few devices can: cpu, check and cuda. */
    bool phases;
    /* The message of a refusal is an error.  Otherwise it is a warning: the kernels can still be
     * launched one by one.  The status is SPVF_ERROR_REFUSED either way. */
    bool strict;
    /* Pairs of parameters that are given different addresses of memory that both can reach: where
     * one of the two is written to, the kernels are refused. */
    const spvf_identity *overlaps;
    size_t overlap_count;
    /* The device runs the items of a work-group one after the other, as device cpu does: kernels
     * that are long without loops get a loop of their own, with a barrier in between. */
    bool serial;
    /* It runs several of them at once, as lanes of vectors, where it can: kernels are split
     * later. */
    bool lanes;
} spvf_fuse_options;

typedef struct {
    uint32_t member, param;    /* where the argument comes from: the first parameter of its class */
    const spvf_arg_info *info; /* name is "<kernel>_<argument>" */
} spvf_fused_arg;

typedef enum {
    SPVF_PARAM_USED,
    SPVF_PARAM_SAME,     /* as an earlier parameter, which is USED */
    SPVF_PARAM_CONSTANT, /* its value is part of the kernel */
    SPVF_PARAM_UNUSED,   /* nothing reads it any more */
    SPVF_PARAM_PROMOTED  /* private or local memory */
} spvf_param_use;

/* What became of one parameter of one member: the usage mask, member by member. */
typedef struct {
    uint32_t member, param;
    const char *kernel; /* the member's name */
    const char *name;   /* the parameter's, or NULL */
    spvf_param_use use;
    uint32_t arg; /* index of the fused argument, for USED and SAME; or UINT32_MAX */
    spvf_arg_kind kind;
    const char *value; /* of a CONSTANT: "2.5", "1, 2" for a vector, "0x…" bytes of a struct */
} spvf_param_info;

/* Which items can touch the same byte in two members, at least one of which writes it. */
typedef enum {
    SPVF_DEPENDENCE_NONE,    /* no items */
    SPVF_DEPENDENCE_ITEM,    /* an item, with itself */
    SPVF_DEPENDENCE_GROUP,   /* items of one work-group */
    SPVF_DEPENDENCE_UNKNOWN, /* not understood */
    SPVF_DEPENDENCE_GRID     /* items of different work-groups */
} spvf_dependence_kind;

/* Where a member reads or writes. */
typedef struct {
    uint32_t member;
    const char *kernel;
    bool reads, writes, atomic;
    bool always;             /* every item gets there */
    uint64_t size;           /* in bytes; 0: unknown */
    const char *place;       /* "%out + 4*global_id.0": parameter, offset in bytes */
    const char *source;      /* "out[i+1]", where i, j and k are global ids; NULL: not known */
    const char *source_file; /* NULL: unknown, as are line and column 0 */
    uint32_t source_line, source_column;
} spvf_access;

/* How two members depend on each other.  Fixed: an access tells more. */
typedef struct {
    spvf_dependence_kind kind;
    const spvf_access *first, *second; /* the pair that makes it so; NULL for NONE */
    const char *text; /* "@a (a.cl:3) writes …; @b (b.cl:7) reads …", or NULL */
} spvf_dependence;

/* One decision, with a stable rule id ("fuse.guard", "fuse.hint" …; docs/EXPLAIN.md). */
typedef struct {
    const char *rule;
    const char *text;
    bool refusal;
    const char *cure;    /* what can be done about it, or NULL */
    spvf_dependence why; /* the accesses that it follows from */
} spvf_decision;

typedef struct {
    const char *name;
    spvf_range range; /* to launch */
    const spvf_fused_arg *const *args;
    size_t arg_count;
    const spvf_param_info *const *params;
    size_t param_count;
    const spvf_decision *const *decisions;
    size_t decision_count;
} spvf_fusion_info;

/* Fuses kernels into one.  SPVF_ERROR_REFUSED when the kernels are fine and cannot be fused.
 *
 * No kernel can wait for all of its work-groups.  So where a member touches what an earlier member
 * wrote (or writes what it read) in another work-group, or where that cannot be excluded, the group
 * is refused, and the decision names the two accesses.  Within a work-group a barrier makes it
 * right, and is made only where it is needed.  Parameters that no identity joins and no overlap
 * names are taken to be different memory. */
SPVF_API spvf_status spvf_fuse(spvf_context *context, const spvf_fuse_options *options,
                               spvf_fusion **out);
/* What the fused kernel is called, is launched on and is given, and why; belongs to the fusion.
 * NULL of NULL. */
SPVF_API const spvf_fusion_info *spvf_fusion_get_info(const spvf_fusion *fusion);
/* The module that holds the fused kernel alone; belongs to the fusion. */
SPVF_API const spvf_module *spvf_fusion_module(const spvf_fusion *fusion);
/* Frees the fusion with its module, info and explanation; NULL: nothing happens. */
SPVF_API void spvf_fusion_destroy(spvf_fusion *fusion);

/* ------------------------------------------------------------------------------------ explanations
 *
 * What became of a group of kernels and why, whether they were fused or refused. */

typedef struct {
    const char *kernel;
    spvf_range range;
    bool guarded;   /* runs on some of the fused kernel's items only */
    bool remapped;  /* its ids are computed from the linear id */
    const char *ir; /* with listings: the text of the kernel by itself; otherwise NULL */
} spvf_explained_member;

/* Between a member and the next. */
typedef struct {
    bool barrier;
    bool phase;          /* not only of a work-group, but of all */
    spvf_barrier memory; /* that it orders; SPVF_BARRIER_NONE without one */
    /* What the barrier is for; without one the worst dependence of the next member on those before
     * it: none, an item's on itself, or a group's that an earlier barrier serves. */
    spvf_dependence why;
} spvf_explained_gap;

typedef enum { SPVF_PROMOTED_NOT, SPVF_PROMOTED_PRIVATE, SPVF_PROMOTED_LOCAL } spvf_promoted;

/* Bytes.  Fixed. */
typedef struct {
    uint64_t read, written;
} spvf_traffic;

/* The memory behind an argument: a buffer, local memory or an image. */
typedef struct {
    const char *name; /* of the fused argument */
    spvf_arg_kind kind;
    uint32_t arg;           /* index of the fused argument; UINT32_MAX when it is gone */
    const uint32_t *params; /* the parameters that are given it: elements of `params` below */
    size_t param_count;
    bool read, written;
    spvf_dependence dependence; /* the worst between two members */
    spvf_promoted promoted;
    uint64_t promoted_bytes;     /* of each item or work-group */
    const char *map;             /* where its bytes are among those, or NULL */
    spvf_traffic unfused, fused; /* predicted bytes; of what is promoted none when fused */
} spvf_explained_buffer;

/* How work-items that run at the same time access memory together. */
typedef enum {
    SPVF_FORM_UNIFORM,    /* one access for all */
    SPVF_FORM_CONTIGUOUS, /* neighbours in memory: one vector */
    SPVF_FORM_REVERSED,   /* the same, backwards */
    SPVF_FORM_MEMBERS, /* every step-th element, as of members of structures: vectors, shuffles */
    SPVF_FORM_TILES,   /* neighbours of each work-item: a vector of each, transposed */
    SPVF_FORM_ARRAY,   /* private memory: work-items side by side */
    SPVF_FORM_APART,   /* an address for each work-item: gather, scatter */
    SPVF_FORM_ATOMIC   /* updates, one after the other */
} spvf_access_form;

typedef struct {
    spvf_access_form form;
    bool reads, writes;
    bool masked;        /* work-items of an iteration may be left out */
    uint32_t arg;       /* the argument of the kernel that leads to the memory, or UINT32_MAX */
    const char *memory; /* its name, or what memory it is */
    uint32_t step;      /* MEMBERS: elements from a work-item to the next; TILES: of a work-item */
    uint32_t count;     /* accesses of this place of which all this is true */
    const char *source_file; /* NULL: unknown, as are line and column 0 */
    uint32_t source_line, source_column;
} spvf_lane_access;

/* A loop over the work-items of a work-group; or an innermost loop of the kernel, if work-items run
 * one at a time: then its iterations are what is called work-items here. */
typedef struct {
    const char *source_file; /* of its first instruction; NULL: unknown */
    uint32_t source_line, source_column;
    bool iterations;     /* it is an innermost loop */
    uint32_t lanes;      /* work-items of an iteration; 1: it is not vectorized */
    uint32_t rows;       /* of so many work-items in an iteration */
    bool components;     /* what is counted is components of work-items, such as those of pixels */
    bool inner_part;     /* other code runs at the ends of the range, where conditions differ */
    bool masked_rest;    /* work-items that are left are one iteration under a mask */
    const char *refusal; /* why it is not vectorized, or NULL */
    const char *refused; /* the operation because of which it is not, or NULL */
    const char *refused_file; /* where that is, or NULL */
    uint32_t refused_line, refused_column;
    double
        ratio; /* estimated time of a work-item, divided by that in scalar code; 0: not estimated */
    const spvf_lane_access *const *accesses; /* none if the loop was refused without an estimate */
    size_t access_count;
} spvf_explained_loop;

/* What native code of a kernel may be made for: facts that its launches share. */
typedef enum {
    SPVF_FACT_LOCAL_SIZE, /* known, and no group is smaller */
    SPVF_FACT_NO_OFFSET,
    SPVF_FACT_SMALL_IDS, /* of 31 bits */
    SPVF_FACT_DIMENSIONS,
    SPVF_FACT_APART,         /* no two arguments lead to the same memory */
    SPVF_FACT_ON_LINES,      /* memory of arguments begins at lines of the cache */
    SPVF_FACT_STREAMS,       /* more memory is accessed than caches hold */
    SPVF_FACT_VALUES,        /* integers by value that have been the same are constants */
    SPVF_FACT_LOCAL_MEMORY,  /* sizes of arguments of local memory */
    SPVF_FACT_UNUSED,        /* arguments that code does not use are not given to it */
    SPVF_FACT_SPECIALIZED,   /* arguments that are marked are constants */
    SPVF_FACT_SHORT_NUMBERS, /* global ids and integers by value have 15 bits */
    SPVF_FACTS
} spvf_fact;
/* The name of a fact, "local-size" as in the option "without=local-size" of device cpu.  NULL:
 * there is no such fact. */
SPVF_API const char *spvf_fact_name(spvf_fact fact);
/* A clause that says what a fact is of launches, for people.  NULL: there is no such fact. */
SPVF_API const char *spvf_fact_text(spvf_fact fact);

/* What native code does with the loops over work-items of a kernel. */
typedef struct {
    const char *kernel;
    const char *target;  /* "x86_64:v4" */
    spvf_range range;    /* of the launches that it is made for */
    uint32_t facts;      /* bit n: it is made for spvf_fact n */
    const char *failure; /* why there is no code, or NULL */
    const spvf_explained_loop *const *loops;
    size_t loop_count;
    uint64_t code_bytes, stack_bytes; /* of the function for a box of work-groups */
    uint32_t general_registers, vector_registers, mask_registers; /* that it writes */
    const char *assembly; /* with listings: its text, with lines of the source; otherwise NULL */
} spvf_explained_code;

struct spvf_explanation {
    const char *name; /* of the fused kernel */
    bool fused;
    spvf_range range; /* to launch; dims is 0 when the group was refused before it was found */
    const spvf_explained_member *const *members;
    size_t member_count;
    /* What follows is empty when the group was refused before it was found. */
    const spvf_explained_gap *const *gaps; /* one less than members */
    size_t gap_count;
    const spvf_explained_buffer *const *buffers;
    size_t buffer_count;
    const spvf_param_info *const *params; /* of a refused group: what would have become of them */
    size_t param_count;
    const spvf_decision *const *decisions;
    size_t decision_count;
    const spvf_decision *refusal; /* one of them, or NULL when fused */
    /* Bytes that all items read and write in buffers, a prediction: in each member, in the fused
     * kernel each byte counts once when one item touches it again.  What is promoted moves nothing.
     * `exact`: all accesses were understood; conditions are taken to hold. */
    uint64_t unfused_bytes, fused_bytes;
    double ceiling; /* the ratio: how much faster fusion can become; 0 when nothing moves */
    bool exact;
    /* Of spvf_plan_explain_code: of the fused kernel, or of all members if the group was
     * refused. */
    const spvf_explained_code *const *codes;
    size_t code_count;
    const char *ir; /* with listings: the text of the fused kernel; otherwise NULL */
};

/* Fuses, and gives only the explanation.  That the kernels are refused is no failure and no
 * message; with options->strict it is both, and the explanation comes all the same.  Errors are
 * those of spvf_fuse, but that SPVF_ERROR_REFUSED comes only if the options are strict. */
SPVF_API spvf_status spvf_explain(spvf_context *context, const spvf_fuse_options *options,
                                  spvf_explanation **out);
/* The explanation of what was fused; belongs to the fusion. */
SPVF_API const spvf_explanation *spvf_fusion_explanation(const spvf_fusion *fusion);
/* An explanation for people to read, as `spvfuse explain` prints it; to be given to free().  NULL:
 * no memory. */
SPVF_API char *spvf_explanation_text(const spvf_explanation *explanation);
/* An explanation for programs: one value of JSON, in UTF-8, as docs/EXPLAIN.md lists it.  All keys
 * are there, in the same order; what is absent is null.  The text is the caller's, for free();
 * NULL: no memory, or `explanation` is NULL.  Reads only the explanation, so several threads may do
 * so. */
SPVF_API char *spvf_explanation_json(const spvf_explanation *explanation);
/* Frees an explanation, but none that belongs to a fusion or a message; NULL: nothing happens. */
SPVF_API void spvf_explanation_destroy(spvf_explanation *explanation);

/* Compiles a kernel as device cpu does for launches on the range, and tells what became of its
 * loops over work-items; arguments are taken to be different memory.  Range NULL: a large range.
 * The target is one of native code, as spvf_module_emit names it, with options for code only:
 * levels, "simd=N", "calls"; NULL: what device cpu makes here.  That a kernel cannot be compiled is
 * no failure of the call.  SPVF_ERROR_ARGUMENT: module or out is NULL, or there is no such kernel
 * or target.  SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_explain_code(const spvf_module *module, const char *kernel,
                                       const spvf_range *range, const char *target,
                                       spvf_explained_code **out);
/* What spvf_explain_code tells, for people to read; to be given to free().  NULL: no memory. */
SPVF_API char *spvf_explained_code_text(const spvf_explained_code *code);
/* Frees what spvf_explain_code gave, but no part of an spvf_explanation; NULL: nothing happens. */
SPVF_API void spvf_explained_code_destroy(spvf_explained_code *code);

/* -------------------------------------------------------------------------------------- devices */

/* What a device can do. */
typedef struct {
    bool phases;            /* all work-groups of a launch can wait for each other */
    bool serial;            /* it runs the work-items of a group one after the other */
    bool lanes;             /* where it can, it runs several of them at once, as lanes of vectors */
    bool print;             /* what kernels print goes to spvf_device_on_print */
    bool images;            /* kernels may have images and samplers as arguments */
    bool atomics64;         /* atomic operations on 64 bits */
    bool host_memory;       /* it works in memory of the program: SPVF_USE_HOST, addresses */
    bool offsets;           /* arguments may begin within a buffer */
    bool concurrent;        /* launches of several queues run at the same time */
    bool in_order;          /* it runs commands in the order in which it is given them */
    bool watch;             /* it can tell what wrote some bytes (`validate`) */
    uint32_t subgroup_size; /* work-items, where a kernel requires no size; 0: it varies */
} spvf_capabilities;

/* The sizes of a device; 0 or NULL: not known, or not limited. */
typedef struct {
    const char *version; /* of the driver: "OpenCL 3.0 PoCL 3.1", "CUDA 12.2"; or of the library */
    const char *target;  /* that code is made for, as spvf_module_emit names it: "x86_64:v4" */
    uint32_t parallel;   /* threads, or multiprocessors, that run work-groups at the same time */
    uint32_t vector_bytes;          /* of a register of the processor */
    uint64_t memory;                /* bytes that buffers have altogether at most */
    uint64_t local_memory;          /* bytes of local memory of a work-group at most */
    uint64_t group_items;           /* work-items of a work-group at most, */
    uint64_t group_size[3];         /* and along each axis */
    uint64_t groups[3];             /* work-groups of a launch along each axis at most */
    const uint32_t *subgroup_sizes; /* that kernels may require, in work-items, ascending */
    size_t subgroup_size_count;
} spvf_device_sizes;

typedef struct {
    const char *name;        /* as spvf_run_options.device takes it */
    const char *description; /* the hardware or implementation that it uses */
    bool takes_spirv;        /* false: through an external translator, or not at all */
    bool usable;
    const char *why_not; /* when not usable */
    const spvf_capabilities *can;
    bool missing; /* the machine has none: listed only for the reason, and not usable */
    const spvf_device_sizes *sizes;
} spvf_device_info;

/* Calls `each` for every device of this machine, and once for a kind of which it has none.  What
 * `info` points to is valid during the call of `each`.  SPVF_ERROR_ARGUMENT: context or each is
 * NULL.  SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_devices(spvf_context *context,
                                  void (*each)(void *user, const spvf_device_info *info),
                                  void *user);

/* The local size that device cpu gives to a launch whose range says none (docs/DEVICES.md).  In
 * work-items, x first.  SPVF_ERROR_ARGUMENT: an argument is NULL, there is no such kernel, or the
 * range has not 1 to 3 dimensions.  SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_cpu_local_size(const spvf_module *module, const char *kernel,
                                         const spvf_range *range, uint64_t local[3]);

/* ------------------------------------------------------------------------------------------- cache
 *
 * Device cpu keeps compiled kernels in files when it is asked to, device cuda unless it is asked
 * not to (docs/DEVICES.md); programs need nothing of this. */

typedef enum {
    SPVF_CACHE_STATS,
    SPVF_CACHE_VERIFY, /* also reads every entry; a warning for each that is damaged */
    SPVF_CACHE_CLEAR   /* removes what it tells of */
} spvf_cache_action;

typedef struct {
    const char *directory; /* NULL: the environment names none */
    uint64_t entries;
    uint64_t bytes, limit;     /* of all files; `limit` is what they may have */
    uint64_t foreign, damaged; /* verify: entries of other versions, and those that are no use */
} spvf_cache_info;

/* Tells of the cache of compiled kernels, or clears it: calls `answer` once, if all went well.
 * While others use the cache, it tells of some moment.  SPVF_ERROR_ARGUMENT: context or answer is
 * NULL, or the action is unknown.  SPVF_ERROR_IO: an entry cannot be removed.
 * SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_cache(spvf_context *context, spvf_cache_action action,
                                void (*answer)(void *user, const spvf_cache_info *info),
                                void *user);

#ifdef __cplusplus
}
#endif

#include "spvfuse_native.h"
#include "spvfuse_plan.h"

#endif
