/* runtime.h — what the parts of runtime/ share: the objects behind the handles of spvfuse.h, the
 * plan as a tree, and the interface of devices. */
#ifndef SPVFUSE_RUNTIME_H
#define SPVFUSE_RUNTIME_H

#include "codegen/codegen.h"
#include "frontend/frontend.h"
#include "ir/ir.h"
#include "passes/fusion/fuse.h"
#include "runtime/spvfuse.h"

/* ---------------------------------------------------------------------------- handles (api.c …) */

/* Where messages belong that have no place of their own: the statement of the plan that runs. */
typedef struct {
    const char *file; /* NULL: nowhere */
    uint32_t line, column;
} rt_place;

enum { RT_CAUGHT_SIZE = 1024 };

struct spvf_context {
    ir_ctx cx;
    rt_place place;
    char *caught; /* not NULL: takes the next error without a place, RT_CAUGHT_SIZE bytes */
    const spvf_explanation *explanation; /* of the group that the next message refuses, or NULL */
    void (*message)(void *user, const spvf_message *message);
    void *message_user;
};

struct spvf_module {
    spvf_context *context;
    ir_module *ir;
    ir_arena arena; /* of this struct and the kernel infos */
    spvf_kernel_info *kernels;
    size_t kernel_count;
};

/* A context in place; options NULL: defaults. */
void rt_context_init(spvf_context *c, const spvf_context_options *options);
/* Runs body under the context's error handling and turns how it ended into a status. */
spvf_status rt_guard(spvf_context *context, void (*body)(void *arg), void *arg);
/* The message for a status that nothing has been said about, as lack of memory. */
void rt_say_failure(spvf_context *context, ir_status status);
spvf_status rt_status(ir_status status);
/* An explanation and its memory. */
typedef struct {
    spvf_explanation info; /* the first member: what the user has is the report */
    ir_arena arena;
} rt_report;
/* Fills a report; what request and result point to lies in its arena or lives while this runs.
 * result->kernel is NULL for a refusal, and as much of the rest as was found. (explain.c) */
void rt_explain(rt_report *report, const spvf_fuse_options *options,
                const pass_fuse_request *request, const pass_fuse_result *result);
spvf_range rt_range(const pass_range *r);
/* spvf_fuse and spvf_explain; one of the results is NULL. */
spvf_status rt_fuse(spvf_context *context, const spvf_fuse_options *options, spvf_fusion **fusion,
                    spvf_explanation **explanation);
/* The device cannot run what was fused: its explanation is that of a refusal from here on; throws.
 * (fusion.c, as the next ones) */
void rt_fusion_refuse(spvf_fusion *fusion, const char *why);
/* Says so, as spvf_fuse does. */
void rt_say_refusal(spvf_context *context, const spvf_explanation *e, bool strict);
/* Destroys the fusion but for its explanation, which is the caller's. */
spvf_explanation *rt_fusion_end(spvf_fusion *fusion);
/* Reports an error without a place and leaves to the nearest guard. */
IR_NORETURN void rt_throw(spvf_context *context, ir_status status, const char *fmt, ...)
    IR_PRINTF(3, 4);
/* Says what is wrong with the arguments of a call; without a context there is no message.  Gives
 * SPVF_ERROR_ARGUMENT. */
spvf_status rt_refuse_call(spvf_context *context, const char *call, const char *fmt, ...)
    IR_PRINTF(3, 4);
spvf_status rt_vrefuse_call(spvf_context *context, const char *call, const char *fmt, va_list ap)
    IR_PRINTF(3, 0);
/* An empty handle around IR, and the facts about its kernels once it is there. */
spvf_module *rt_module_new(spvf_context *context);
void rt_module_describe(spvf_module *m);
/* Local memory of kernels (local_use.c); lives in the arena. */
typedef struct rt_local_use rt_local_use;
rt_local_use *rt_local_use_new(const ir_module *m, ir_arena *a);
/* Bytes of the variables that the kernel reaches. */
uint64_t rt_local_memory(rt_local_use *u, const ir_func *kernel);
/* One kernel parameter as the API shows it. */
spvf_arg_info rt_arg_info(const ir_module *m, ir_type t, const ir_param *p);
pass_options rt_pass_options(const spvf_pass_options *options);
pass_range rt_pass_range(const spvf_range *r);
/* Options of another version: the members that the caller's struct has, zeros for the rest. */
void rt_copy_options(void *to, const void *from, size_t size);
/* Was their size set?  Otherwise says that it was not. */
bool rt_are_options(spvf_context *context, const char *call, const void *options);
/* The bytes of a file in `arena`, at most SPVF_MAX_FILE_SIZE, with a 0 after them; throws after a
 * message. */
char *rt_read_file(spvf_context *context, ir_arena *arena, const char *path, size_t *size);
uint64_t rt_now_ns(void);
void rt_write_file(spvf_context *context, const char *path, const void *data, size_t size);
/* What the environment says, if this process may listen to it; or NULL. (process.c) */
const char *rt_environment(const char *name);
/* Path of a program: of the system's, otherwise of one in PATH; or NULL. */
const char *rt_find_program(ir_arena *a, const char *name);
/* The same in folders with ":" between them; NULL: in none. */
const char *rt_find_program_in(ir_arena *a, const char *folders, const char *name);
extern const char rt_system_folders[];
/* A file without a name, with these bytes, for a program to read or write; it is gone when all have
 * closed it.  -1: there is no memory. */
int rt_memory_file(const void *data, size_t size);
/* All that is in it, with a 0 after it; throws after a message. */
char *rt_read_memory_file(spvf_context *context, ir_arena *arena, int file, size_t *size);

/* A program, argv[0] is its path, and its streams; -1: it reads nothing, writes where we do. */
typedef struct {
    char *const *argv;
    int in, out, messages;
    const int *kept; /* files that it may open as /dev/fd/N */
    unsigned kept_count;
    unsigned seconds; /* that it may take; 0: as long as it wants */
} rt_program_run;
typedef enum {
    RT_PROGRAM_RAN, /* as far as is known */
    RT_PROGRAM_FAILED,
    RT_PROGRAM_MISSING,
    RT_PROGRAM_TOO_SLOW
} rt_outcome;
/* Runs it to its end. */
rt_outcome rt_run_program(const rt_program_run *p);
enum { RT_PROGRAM_SECONDS = 300 };
/* What SPVF_COMPILER_SECONDS says, otherwise that. */
unsigned rt_program_seconds(void);
/* What `program -r /dev/stdin -o -` makes of the data; throws when it fails. */
char *rt_filter(spvf_context *context, ir_arena *a, const char *program, const void *data,
                size_t size, size_t *result_size);

/* -------------------------------------------------------------- plan text (plan_lex.re, plan.c) */

typedef enum {
    RT_END = 256,
    RT_NEWLINE,
    RT_NAME,
    RT_NUMBER,
    RT_STRING,
    RT_RANGE, /* .. */
    RT_BAD
} rt_token_kind; /* below 256: the character itself */

typedef struct {
    rt_token_kind kind;
    const char *text;
    uint32_t n;
    uint32_t line, column;
} rt_token;

typedef struct {
    const char *at, *end, *line_start;
    uint32_t line;
} rt_lexer;
rt_token rt_next_token(rt_lexer *l);

/* An element type of the plan language. */
typedef struct {
    ir_kind kind; /* I8 to I64, F16, F32, F64 */
    bool is_signed;
    const char *name;
} rt_elem;
unsigned rt_elem_bits(rt_elem e);
size_t rt_elem_size(rt_elem e);

typedef enum {
    RT_INIT_NONE,
    RT_INIT_LIST,
    RT_INIT_IOTA,
    RT_INIT_RANDOM,
    RT_INIT_FILE
} rt_init_kind;

/* What a plan says of a buffer, or of one argument of a kernel. */
typedef struct {
    bool given;  /* the contents are not needed outside the group */
    bool assume; /* given, and indices count modulo the elements of one item or work-group */
    spvf_promote kind;
} rt_internal;

typedef struct {
    rt_token at; /* name */
    const char *name;
    rt_elem elem;
    uint64_t count;
    rt_init_kind init;
    const uint64_t *list; /* bits of each value; one value fills the buffer */
    uint64_t list_count;
    uint64_t factor; /* iota*K: K as bits; random: the seed */
    const char *path;
    rt_internal internal;
} rt_buffer_decl;

typedef struct {
    rt_token at;
    const char *name;
    rt_elem elem;
    const void *bytes;
    size_t size;
} rt_scalar;

typedef enum { RT_ARG_BUFFER, RT_ARG_SCALAR, RT_ARG_LITERAL, RT_ARG_LOCAL } rt_arg_kind;

typedef struct {
    rt_token at; /* literal: the number, `negative` apart */
    rt_arg_kind kind;
    bool negative;
    uint32_t index; /* of buffer or scalar */
    uint64_t bytes; /* local */
    rt_internal internal;
} rt_plan_arg;

typedef struct {
    rt_token at;
    const char *path; /* as in the plan */
    const char *kernel;
    spvf_range range;
    ir_vec(rt_plan_arg) args;
    ir_vec(spvf_spec_value) specs;
    ir_vec(rt_token) spec_at;
} rt_launch;

typedef struct {
    rt_token at;
    const char *name;
    spvf_barrier barrier;
    bool force, strict, phases;
    ir_vec(rt_launch) launches;
} rt_group;

/* expect and print: elements first..last of a buffer */
typedef struct {
    rt_token at;
    uint32_t buffer;
    uint64_t first, last;
    const uint64_t *want; /* one value stands for all */
    uint64_t want_count;
    double tolerance; /* |got - want| <= tolerance * max(1, |want|) */
    const char *path; /* write */
} rt_range_stmt;

typedef enum { RT_LAUNCH, RT_GROUP, RT_EXPECT, RT_PRINT, RT_WRITE } rt_stmt_kind;

typedef struct {
    rt_stmt_kind kind;
    rt_group group; /* RT_LAUNCH: a nameless group of one */
    rt_range_stmt range;
} rt_stmt;

struct spvf_plan {
    spvf_context *context;
    ir_arena arena;
    const char *file, *folder;
    ir_vec(rt_buffer_decl) buffers;
    ir_vec(rt_scalar) scalars;
    ir_map buffer_of, scalar_of; /* by hash of the name: the first, + 1 */
    ir_vec(rt_stmt) stmts;
};

IR_NORETURN void rt_plan_fail(const spvf_plan *plan, rt_token at, const char *fmt, ...)
    IR_PRINTF(3, 4);
/* A number as bits of an element type; fails at its place when it does not fit. */
uint64_t rt_literal(const spvf_plan *plan, rt_token number, bool negative, rt_elem elem);
void rt_print_element(ir_text *t, rt_elem e, uint64_t bits);
/* Reports a warning at a place of the plan. */
void rt_plan_warn(const spvf_plan *plan, rt_token at, const char *fmt, ...) IR_PRINTF(3, 4);
/* From here on messages without a place belong to this one; until the guard ends. */
void rt_plan_at(const spvf_plan *plan, rt_token at);
void rt_parse_plan(spvf_plan *plan, const char *text, size_t size);
/* A file of the plan, relative to the plan's folder. */
const char *rt_plan_path(const spvf_plan *plan, ir_arena *a, const char *path);

/* ----------------------------------------------------------------- running plans (plan_run.c …) */

/* Modules of a plan, loaded and optimized once per file and set of spec values. */
typedef struct {
    const char *path;
    const rt_launch *first; /* whose spec values it was read with */
    spvf_module *module;
    struct rt_program *program; /* on the device of the run, or NULL */
} rt_loaded;

typedef struct {
    spvf_plan *plan;
    ir_arena *arena; /* of the run: the plan itself does not grow */
    const spvf_pass_options *passes;
    bool no_optimize;
    ir_vec(rt_loaded *) loaded;
    uint64_t read_ns;
} rt_library;
rt_loaded *rt_library_get(rt_library *lib, const rt_launch *launch);
void rt_library_free(rt_library *lib);

/* Bytes of a by-value parameter, and without the room of a fourth lane. */
typedef struct {
    uint64_t size, packed_size;
} rt_value_type;

/* An argument checked against the kernel's parameter. */
typedef struct {
    const rt_plan_arg *arg;
    const void *bytes; /* by value, or NULL */
    size_t size;       /* of bytes, or of local memory */
} rt_bound_arg;

typedef struct {
    const rt_launch *launch;
    rt_loaded *loaded;
    const ir_func *kernel;
    rt_bound_arg *args;
} rt_bound_launch;
rt_bound_launch rt_bind(rt_library *lib, const rt_launch *launch);

/* A group of a plan, and the device that it is fused for. */
typedef struct {
    const rt_group *group;
    bool strict;   /* a refusal is an error */
    bool explains; /* a refusal is an explanation, and no error */
    bool phases;   /* the device can make all work-groups wait for each other */
    bool serial;   /* it runs the items of a work-group one after the other */
} rt_group_request;

/* The fusion, or why there is none; both are the caller's. */
typedef struct {
    rt_bound_launch *bound; /* by launch, in the library's arena */
    spvf_fusion *fusion;
    spvf_explanation *refusal; /* of a request that explains */
} rt_group_result;

/* Equal buffer names become identities, values constants. */
spvf_status rt_fuse_group(rt_library *lib, const rt_group_request *request, rt_group_result *out);

/* -------------------------------------------------------------------------- devices (devices/…) */

typedef struct rt_device rt_device;
typedef struct rt_memory rt_memory;   /* a buffer of a device */
typedef struct rt_program rt_program; /* a module made ready */

/* An argument at launch: exactly one of the three. */
typedef struct {
    rt_memory *buffer;
    const void *bytes; /* by value */
    uint64_t size;     /* of bytes, or of local memory when both pointers are NULL */
} rt_arg;

typedef struct {
    uint64_t instructions, loads, stores, reports;
} rt_counts;

/* Bytes that are watched while launches run, and who wrote there last: "@k, k.cl:12: store …", or
 * "@k, group (1, 0, 0)" from devices that only see what has changed. */
typedef struct {
    const rt_memory *memory;
    uint64_t offset, bytes;
    const char *writer; /* in the device's memory; NULL: nothing has written there */
    bool by_change;     /* only changes are seen: another may have written the same bytes again */
} rt_watch;

/* A device is a table of functions.  All but close may throw after a message; close releases all
 * memories and programs. */
struct rt_device {
    spvf_context *context;
    void (*close)(rt_device *d);
    rt_memory *(*allocate)(rt_device *d, const char *name, uint64_t bytes, const void *data);
    void (*read)(rt_device *d, rt_memory *m, uint64_t offset, void *to, uint64_t bytes);
    void (*write)(rt_device *d, rt_memory *m, uint64_t offset, const void *from, uint64_t bytes);
    /* How many of these bytes have no value yet; NULL when the device does not know. */
    uint64_t (*undefined)(rt_device *d, const rt_memory *m, uint64_t offset, uint64_t bytes);
    /* Contents of a memory of the same size; NULL when the device does not do that. */
    void (*copy)(rt_device *d, rt_memory *to, const rt_memory *from);
    rt_program *(*build)(rt_device *d, const ir_module *m);
    void (*launch)(rt_device *d, rt_program *p, const char *kernel, const spvf_range *range,
                   const rt_arg *args, size_t count);
    /* What launch would do short of running: throws what that would; NULL: nothing is known before.
     * The contents of buffers do not matter. */
    void (*prepare)(rt_device *d, rt_program *p, const char *kernel, const spvf_range *range,
                    const rt_arg *args, size_t count);
    bool phases; /* it can make all work-groups of a launch wait for each other */
    bool serial; /* it runs the items of a work-group one after the other */
    rt_counts counts;
    void (*output)(void *user, const char *text); /* printf */
    void *output_user;
    uint64_t instruction_limit; /* of a work-group; 0: the device's own */
    rt_watch *watch;            /* while there is one, launches are silent; needs `copy` */
};

/* Can a device run something?  `prepare` does all that has to be done before the first launch: it
 * builds, compiles, compares what is needed with what the device has, and throws in this context
 * when one of these fails.  False: the device cannot run it, and `why`, which has room for
 * RT_CAUGHT_SIZE bytes, says so; nothing else was said.  Throws when memory is exhausted and after
 * an internal error, which are no answers. (devices/device.c) */
bool rt_can_run(spvf_context *c, void (*prepare)(void *arg), void *arg, char *why);
/* Builds what was fused, and prepares its launch with these arguments.  NULL: the device cannot run
 * it, and the fusion has become a refusal.  Throws as rt_can_run. */
rt_program *rt_build_fusion(rt_device *d, spvf_fusion *f, const rt_arg *args);

/* ---------------------------------------------------------------------- validation (validate.c) */

/* Two ways to run a group, and the buffers of its plan. */
typedef struct {
    const spvf_plan *plan;
    const rt_group *group;
    rt_device *device; /* one that has `copy` */
    ir_arena *arena;
    rt_memory *const *memory;      /* by buffer, as the next ones */
    const bool *unknown;           /* the fused kernel is not given it */
    rt_memory **before, **unfused; /* copies; NULL: to be made, and to be kept for the next group */
    void (*launch)(void *user, bool fused); /* all of the group */
    void *user;
} rt_validation;

/* Runs the group both ways; the fused one's results stay.  False after a reported difference. */
bool rt_validate(rt_validation *v);

/* --------------------------------------------------------------------- measuring (plan_bench.c) */

typedef ir_vec(ir_module *) rt_modules;

typedef struct {
    spvf_context *context;
    rt_device *device;
    ir_arena *arena;                        /* of the run */
    rt_modules *modules;                    /* that last as long as the device */
    void (*launch)(void *user, bool fused); /* all of a group */
    void *user;
} rt_bench;

/* Fills in the times and what the copies took; the rest says what is measured. */
void rt_bench_group(const rt_bench *b, spvf_timing *t);

/* Opens "check", "cpu", "cpu:OPTION,OPTION …", "opencl" or "opencl:N"; throws when there is no such
 * device. */
rt_device *rt_device_open(spvf_context *context, const char *name);
rt_device *rt_check_open(spvf_context *context);
/* list: options of rt_take_code_option, or NULL: what SPVF_CPU says.  Without a level, the
 * machine's. */
rt_device *rt_cpu_open(spvf_context *context, const char *list);
void rt_cpu_list(void (*each)(void *user, const spvf_device_info *info), void *user);
rt_device *rt_opencl_open(spvf_context *context, unsigned index);
void rt_opencl_list(spvf_context *context, void (*each)(void *user, const spvf_device_info *info),
                    void *user);

#endif
