/* runtime.h — what the parts of runtime/ share: the objects that handles of spvfuse.h point to, how
 * errors become messages and statuses, files and the clock. */
#ifndef SPVFUSE_RUNTIME_H
#define SPVFUSE_RUNTIME_H

#include "codegen/codegen.h"
#include "frontend/frontend.h"
#include "ir/ir.h"
#include "passes/fusion/fuse.h"
#include "passes/lower/reflect.h"
#include "passes/workgroup/regions.h"
#include "runtime/spvfuse.h"

/* ---------------------------------------------------------------------------- handles (api.c …) */

/* Where messages belong that have no place of their own: the statement of the plan that runs. */
typedef struct {
    const char *file; /* NULL: nowhere */
    uint32_t line, column;
} rt_place;

enum { RT_CAUGHT_SIZE = 1024 };

/* The switches of spvf_context_inspect. */
typedef struct {
    ir_inspection switches;
    char dump_after[40];
    ir_counts counts;
} rt_inspection;

/* What SPVFUSE_LOG says, in the order of its words. */
typedef enum { RT_LOG_NOTHING = -1, RT_LOG_WARNINGS, RT_LOG_NOTES, RT_LOG_ALL } rt_log_level;

typedef struct rt_past rt_past;

struct spvf_context {
    ir_ctx cx;
    rt_inspection inspection; /* in use if cx.inspection says so */
    rt_place place;
    char *caught; /* not NULL: takes the next error without a place, RT_CAUGHT_SIZE bytes */
    const spvf_explanation *explanation; /* of the group that the next message refuses, or NULL */
    void (*message)(void *user, const spvf_message *message);
    void *message_user;
    rt_log_level log; /* which messages go to standard error, too */
    rt_past *past;    /* what it remembers of launches (past.c); NULL: nothing */
};

struct spvf_module {
    spvf_context *context;
    ir_module *ir;
    ir_arena arena; /* of this struct and the kernel infos */
    spvf_kernel_info *kernels;
    size_t kernel_count;
    ir_map host_args;    /* rt_args of kernels with structs by value, by kernel, as they are read */
    ir_map lowered_args; /* of those that were changed then, after that */
    ir_map origins;      /* rt_arg_origin by the value of a parameter, of these kernels */
};

/* Which parameter it was as the kernel was read. */
typedef struct {
    uint32_t index;
} rt_arg_origin;

/* Arguments of a kernel. */
typedef struct {
    const spvf_arg_info *list;
    size_t n;
} rt_args;

/* What leaves files about bugs where SPVFUSE_BUGS says; NULL: it says nothing. (bugs.c) */
ir_saver *rt_bug_saver(void);
/* A context in place; options NULL: defaults. */
void rt_context_init(spvf_context *c, const spvf_context_options *options);
/* spvf_context_create without those warnings: for contexts inside of the library. */
spvf_status rt_context_create(const spvf_context_options *options, spvf_context **out);
/* A warning for each environment variable that is not understood. */
void rt_warn_of_settings(spvf_context *c);
/* Runs body under the context's error handling and turns how it ended into a status. */
spvf_status rt_guard(spvf_context *context, void (*body)(void *arg), void *arg);
/* The message for a status that nothing has been said about, as lack of memory. */
void rt_say_failure(spvf_context *context, ir_status status);
/* An explanation and its memory. */
typedef struct {
    spvf_explanation info; /* the first member: what the user has is the report */
    ir_arena arena;
} rt_report;
/* Fills a report; what request and result point to lies in its arena or lives while this runs.
 * result->kernel is NULL for a refusal, and as much of the rest as was found. (explain.c) */
void rt_explain(rt_report *report, const spvf_fuse_options *options,
                const pass_fuse_request *request, const pass_fuse_result *result);
/* spvf_fuse and spvf_explain; one of the results is NULL. */
spvf_status rt_fuse(spvf_context *context, const spvf_fuse_options *options, spvf_fusion **fusion,
                    spvf_explanation **explanation);
/* Parameters of all members, numbered one after the other, and which of them are the same. */
typedef struct {
    uint32_t *first; /* by member: the number of its first parameter */
    uint32_t *like;  /* by parameter: an earlier one that is the same, or itself */
    uint32_t n;      /* of parameters */
} rt_param_classes;
/* Of a request that has been checked. */
rt_param_classes rt_find_classes(ir_arena *a, const pass_fuse_request *r);
/* The number of the first parameter that is the same. */
uint32_t rt_class_of(const rt_param_classes *c, uint32_t member, uint32_t param);
/* An explanation of nothing but one refusal, by a rule of fuse_rules.def; throws.  (explain.c) */
spvf_explanation *rt_explain_refusal(spvf_context *context, const char *rule, const char *text);
/* The device cannot run what was fused: its explanation is that of a refusal from here on; throws.
 * (fusion.c, as the next ones) */
void rt_fusion_refuse(spvf_fusion *fusion, const char *why);
/* Its explanation has one more decision, by a rule of fuse_rules.def; throws. */
spvf_decision *rt_fusion_decide(spvf_fusion *fusion, const char *rule, const char *text);
/* Says so, as spvf_fuse does. */
void rt_say_refusal(spvf_context *context, const spvf_explanation *e, bool strict);
/* The explanation, to be completed. */
spvf_explanation *rt_fusion_report(spvf_fusion *fusion);
/* Destroys the fusion but for its explanation, which is the caller's. */
spvf_explanation *rt_fusion_end(spvf_fusion *fusion);
/* What launches give: bytes of a value, or so many bytes of local memory; zeros: it is not
 * known. */
typedef struct {
    const void *bytes;
    uint64_t size;
} rt_known_arg;
/* A kernel whose code is explained; range NULL: a large one. */
typedef struct {
    const ir_func *kernel;
    const spvf_range *range;
    const char *target;       /* as in spvf_explain_code, not NULL */
    const rt_known_arg *args; /* by parameter; NULL: not known */
    bool listing;             /* the text of the code is wanted */
} rt_code_request;
/* As spvf_explain_code does; the result lies in the arena. (explain_code.c) */
spvf_explained_code rt_explain_code(spvf_context *context, const rt_code_request *request,
                                    ir_arena *to);
/* What device cpu makes code for if it is opened by its name; NULL: none is made here.
 * (devices/cpu/cpu.c) */
const char *rt_default_target(ir_arena *a);
/* Reports an error without a place and leaves to the nearest guard. */
IR_NORETURN void rt_throw(spvf_context *context, ir_status status, const char *fmt, ...)
    IR_PRINTF(3, 4);
/* Says what is wrong with the arguments of a call; without a context there is no message.  Gives
 * SPVF_ERROR_ARGUMENT. */
spvf_status rt_refuse_call(spvf_context *context, const char *call, const char *fmt, ...)
    IR_PRINTF(3, 4);
spvf_status rt_vrefuse_call(spvf_context *context, const char *call, const char *fmt, va_list ap)
    IR_PRINTF(3, 0);
/* Code as bytes: SPIR-V, the text of the IR, or a container. */
/* Launches of a chain (runtime/queue/chain.c) that become one kernel at most: the cost of a try
 * grows faster than linearly. */
enum { RT_CHAIN_LAUNCHES = 64 };

typedef struct {
    const char *name; /* in messages */
    const void *bytes;
    size_t size;
    bool compiled; /* SPIR-V of OpenCL C: what is odd about it is not said */
} rt_source;
bool rt_is_spirv(const void *bytes, size_t size);
/* Reads code, throws after a message. (api.c) */
ir_module *rt_read_source(spvf_context *context, const rt_source *source,
                          const spvf_module_options *options);
/* What ir_module.source is of SPIR-V.  (container/images.c) */
uint64_t rt_hash_source(const void *bytes, size_t size);
/* The module is no longer what its bytes say: code that came with it is none of its own. */
static inline void rt_forget_source(ir_module *m) {
    m->source = 0;
    m->images = NULL;
}
/* The code of a module for its copy.  (container/images.c) */
void rt_copy_images(ir_module *to, const ir_module *from);
/* The same of OpenCL C, as options->opencl_c says. (source/compile.c) */
ir_module *rt_read_opencl_c(spvf_context *context, const rt_source *source,
                            const spvf_module_options *options);
/* Refuses bytes that are known to be something else than `wanted`, "SPIR-V" or "a plan", by the
 * name of what they are; throws after a message. (kinds.c) */
void rt_refuse_other_kinds(spvf_context *context, const rt_source *source, const char *wanted);
/* The same of a container, its images linked. (container/module.c) */
bool rt_is_container_source(const rt_source *source);
ir_module *rt_read_container(spvf_context *context, const rt_source *source,
                             const spvf_module_options *options);
/* A module of what `read` returns, which throws after a message. */
typedef ir_module *rt_module_reader(spvf_context *context, void *user,
                                    const spvf_module_options *options);
spvf_status rt_load_module(spvf_context *context, rt_module_reader *read, void *user,
                           const spvf_module_options *options, spvf_module **out);
/* An empty handle around IR, and the facts about its kernels once it is there. */
spvf_module *rt_module_new(spvf_context *context);
void rt_module_describe(spvf_module *m);
/* Makes parameters of the members of closures, and keeps what the arguments were. (closures.c) */
void rt_lower_closures(spvf_module *m);
/* A device or target, as code can ask about it, by its name. (reflect.c) */
pass_reflection rt_reflection_of(const char *target);
/* The processor of this process. */
pass_reflection rt_host_reflection(void);
/* Calls of queries become constants, and branches that these exclude are removed; gives how
 * many. */
unsigned rt_answer_queries(ir_module *m, const pass_reflection *r);
/* Gives functions their bodies, and answers queries, as the options say; throws after a message. */
void rt_complete_module(spvf_module *m, const spvf_module_options *options);
/* Marks arguments as the options say; throws after a message.  (specialized.c) */
void rt_mark_specialized(const spvf_module *m, const spvf_module_options *options);
/* Marks one parameter; false: it is no value. */
bool rt_mark_param(ir_func *f, uint32_t param);
/* Drops the parameters for padding that nothing reads, once the module is optimized. */
void rt_drop_padding(spvf_module *m);
/* Has the kernel parameters that were members of closures? */
bool rt_has_members(const ir_func *f);
/* Which ones of all are left; a bit for each. */
const uint64_t *rt_mask_args(spvf_module *m, const rt_args *all, const rt_args *left);
/* Adds declarations to those that the module has. (layout.c) */
void rt_declare_layout(spvf_module *m, const spvf_layout *layout);
/* Is the parameter an integer in a closure? */
bool rt_is_size(const spvf_module *m, const spvf_kernel_info *k, size_t param);
/* How parameter n may be accessed, by what is known of the kernel as it is now. (arg_access.c) */
spvf_arg_access rt_arg_access(spvf_module *m, const ir_func *kernel, uint32_t n);
/* The arguments of a kernel as it is now. (describe.c) */
rt_args rt_describe_args(spvf_module *m, const ir_func *f);
/* The same arguments, with names of their own, in the arena. */
const spvf_arg_info *const *rt_copy_args(ir_arena *a, const spvf_arg_info *const *from, size_t n);
/* Local memory of kernels (local_use.c); lives in the arena. */
typedef struct rt_local_use rt_local_use;
rt_local_use *rt_local_use_new(const ir_module *m, ir_arena *a);
/* Throws after a message if a switch names no pass or stage, nor, as one that prints may, all.
 * (inspect.c) */
void rt_check_stage(spvf_context *context, const char *name, bool prints, ir_arena *scratch);
/* Bytes of the variables that the kernel reaches. */
uint64_t rt_local_memory(rt_local_use *u, const ir_func *kernel);
/* One kernel parameter as the API shows it. */
spvf_arg_info rt_arg_info(const ir_module *m, ir_type t, const ir_param *p);
/* The same range under the other name (mirror.c). */
ir_range rt_inner_range(const spvf_range *r);
spvf_range rt_public_range(const ir_range *r);
pass_options rt_pass_options(const spvf_pass_options *options);
/* Options, which begin with their size and may be of another version: the members that the caller's
 * struct has, zeros for the rest and for NULL.  False, after a message: they have no size, or say
 * what this library does not know. (structs.c, as the next ones) */
bool rt_take_struct(spvf_context *context, const char *call, void *to, const void *from,
                    size_t size);
#define rt_take_options(context, call, to, from)                                                   \
    rt_take_struct((context), (call), (to), (from), sizeof *(to))
/* The same of options that others point to, which point to the copy then. */
bool rt_take_passes(spvf_context *context, const char *call, spvf_pass_options *to,
                    const spvf_pass_options **given);
/* A result of another version, which begins with its size or is NULL: whether it has one, and as
 * many of its members as the caller has room for. */
bool rt_has_size(spvf_context *context, const char *call, const void *to);
void rt_give_struct(void *to, const void *from, size_t size);
/* Pointers to the elements of an array, as public structs have them, since those may grow; in the
 * arena. */
const void *rt_list_elements(ir_arena *a, const void *elements, size_t size, size_t n);
#define RT_LIST(arena, elements, n) rt_list_elements((arena), (elements), sizeof *(elements), (n))
/* The bytes of a file in `arena`, at most SPVF_MAX_FILE_SIZE, with a 0 after them; throws after a
 * message. */
char *rt_read_file(spvf_context *context, ir_arena *arena, const char *path, size_t *size);
/* A blob of the bytes, with a 0 after them; throws after a message. (emit.c) */
void rt_copy_out(spvf_context *context, const void *data, size_t size, spvf_blob *out);
uint64_t rt_now_ns(void);
void rt_write_file(spvf_context *context, const char *path, const void *data, size_t size);

/* ------------------------------------------------------------------------------- PTX (ptx.c) */

/* Lowers a module, which is used up, and adds it as PTX.  False after a reported error; throws,
 * too. */
bool rt_write_ptx(ir_module *m, const cg_ptx_options *o, ir_arena *arena, ir_text *out);

typedef struct {
    const void *data;
    size_t size;
} rt_bytes;
/* What NVIDIA's assembler makes of it for a processor, in the arena; no bytes: it is not installed.
 * Throws with its message when it refuses.  (system/ptxas.c) */
rt_bytes rt_assemble_ptx(spvf_context *context, ir_arena *a, rt_bytes text, unsigned sm);
/* The same by a driver of devices; no bytes: none can, and *why_not says why.
 * (devices/device.c) */
rt_bytes rt_assemble_by_driver(spvf_context *context, ir_arena *a, rt_bytes text, unsigned sm,
                               const char **why_not);

/* Arguments of a kernel whose values are known. */
typedef struct {
    uint32_t param;
    uint64_t size; /* bytes, in memory form */
    const void *bytes;
} rt_constant;
typedef struct {
    const rt_constant *list;
    uint32_t n;
} rt_constants;
/* The kernel is for these values alone; throws. (specialized.c) */
void rt_use_constants(ir_func *kernel, const rt_constants *values);

/* Kernels as PTX. */
typedef struct {
    cg_ptx_options code;
    const char *only;       /* this kernel; NULL: all */
    rt_constants constants; /* its arguments that the code is for */
    bool parts;             /* for launches that are parts of a range (pass_make_parts) */
    /* printf becomes records (pass_record_prints); NULL: it is refused. */
    pass_string_limit *print;
} rt_ptx_options;
typedef struct {
    const char *name, *entry; /* of the module, of the entry point */
    bool waits;               /* for all work-groups, */
    bool resident;            /* in a launch of as many as run at once, */
    ir_phases phases;         /* and is launched for each phase: what follows its parameters, */
    pass_parts parts;         /* then what comes next, */
    bool prints;              /* then the address of its records, */
    cg_ptx_hidden hidden;     /* and what is hidden */
    uint32_t local[3];        /* that it requires; 0: none */
    bool observes_groups;     /* otherwise groups may have any shape */
    uint32_t coarsened[3];    /* work-items that a thread runs along each axis; 0: one */
} rt_ptx_kernel;
typedef struct {
    const char *text;
    const rt_ptx_kernel *kernel;
    uint32_t n;
    pass_print_list prints;
} rt_ptx;
/* All kernels of a module that can be written.  It lies in the arena. */
rt_ptx rt_make_ptx(spvf_context *context, const ir_module *m, const rt_ptx_options *o,
                   ir_arena *arena);
/* Throws what keeps a kernel, which is not among those, from being written. */
IR_NORETURN void rt_refuse_ptx(spvf_context *context, const ir_module *m, const char *kernel,
                               const rt_ptx_options *o, ir_arena *arena);

#endif
