/* plan.h — private to runtime/plan: a plan as a tree, and what runs it.
 *
 *   plan_lex.re, plan.c, plan_number.c   from text to the tree
 *   plan_contents.c  what buffers hold at first
 *   plan_fuse.c    modules of a plan, and the fusion of a group
 *   plan_explain.c a group that is fused for its kernel, or for an explanation
 *   plan_code.c    code and texts of an explanation
 *   plan_divide.c  all launches, divided into kernels
 *   plan_run.c     statements, one after the other
 *   plan_messages.c  errors at a place of a plan
 *   validate.c     a group both ways, and the difference
 *   plan_bench.c   the times of both ways
 */
#ifndef SPVFUSE_RUNTIME_PLAN_H
#define SPVFUSE_RUNTIME_PLAN_H

#include "runtime/devices/device.h"

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

typedef enum {
    RT_PLAN_BUFFER,
    RT_PLAN_SCALAR,
    RT_PLAN_LITERAL,
    RT_PLAN_EMPTY, /* a value of no bytes */
    RT_PLAN_LOCAL
} rt_plan_arg_kind;

typedef struct {
    rt_token at; /* literal: the number, `negative` apart */
    rt_plan_arg_kind kind;
    bool negative;
    uint32_t index;  /* of buffer or scalar */
    uint64_t bytes;  /* local */
    uint64_t offset; /* in bytes: where it begins in the buffer */
    rt_internal internal;
    uint32_t closure; /* which braces of its launch it is in, from 1 on; 0: none */
    bool padding;     /* the plan does not say it */
    bool specialized; /* code is made for its value */
    bool variable;    /* in a group, it is no constant */
} rt_plan_arg;

typedef struct {
    rt_token at;
    const char *path; /* as in the plan */
    const char *kernel;
    spvf_range range;
    bool uneven; /* the last work-groups may be smaller */
    ir_vec(rt_plan_arg) args;
    ir_vec(spvf_spec_value) specs;
    ir_vec(rt_token) spec_at;
    ir_vec(spvf_definition) definitions;
    const char *layout;      /* a file, as in the plan, or NULL */
    const char *build;       /* options for OpenCL C, which the file is then, or NULL */
    const char *usual_build; /* the same of the plan, for files that are called so */
} rt_plan_launch;

typedef struct {
    rt_token at;
    const char *name;
    spvf_barrier barrier;
    bool force, strict, phases;
    ir_vec(rt_plan_launch) launches;
} rt_group;

/* expect and print: elements first..last of a buffer */
typedef struct {
    rt_token at;
    uint32_t buffer;
    uint64_t first, last;
    const uint64_t *want; /* one value is wanted of all elements */
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
/* Fails unless the sizes of a launch, n[k] of global, local and offset, are a range. */
void rt_check_range(const spvf_plan *plan, const rt_plan_launch *l, const uint32_t n[3]);
/* Fails unless the argument begins in its buffer, and the elements are in theirs. */
void rt_check_offset(const spvf_plan *plan, const rt_plan_arg *a);
void rt_check_place(const spvf_plan *plan, const rt_range_stmt *r);
/* Reports a warning at a place of the plan. */
void rt_plan_warn(const spvf_plan *plan, rt_token at, const char *fmt, ...) IR_PRINTF(3, 4);
/* From here on messages without a place belong to this one; until the guard ends. */
void rt_plan_at(const spvf_plan *plan, rt_token at);
void rt_parse_plan(spvf_plan *plan, const char *text, size_t size);
/* A file of the plan, relative to the plan's folder. */
const char *rt_plan_path(const spvf_plan *plan, ir_arena *a, const char *path);

/* ----------------------------------------------------------------- running plans (plan_run.c …) */

/* What a buffer holds at first, in the arena; NULL: nothing. */
const void *rt_initial_bytes(spvf_plan *plan, ir_arena *scratch, const rt_buffer_decl *b);

/* Modules of a plan, loaded and optimized once per file, layout and set of spec values. */
typedef struct {
    const rt_plan_launch *first; /* that says how it was read */
    spvf_module *module;
    rt_program *program; /* on the device of the run, or NULL */
} rt_loaded;

typedef struct {
    spvf_plan *plan;
    ir_arena *arena; /* of the run: the plan itself does not grow */
    const spvf_pass_options *passes;
    bool no_optimize;
    ir_vec(rt_loaded *) loaded;
    pass_reflection reflection; /* of the device that kernels will run on */
    uint64_t read_ns, answers, definitions;
} rt_library;
rt_loaded *rt_library_get(rt_library *lib, const rt_plan_launch *launch);
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
    const rt_plan_launch *launch;
    rt_loaded *loaded;
    const ir_func *kernel;
    rt_bound_arg *args;
} rt_bound_launch;
/* The argument as a device takes it; `buffer` is the memory of a buffer. */
rt_arg rt_device_arg(const rt_bound_arg *a, rt_memory *buffer);
rt_bound_launch rt_bind(rt_library *lib, const rt_plan_launch *launch);

/* A group of a plan, and the device that it is fused for. */
typedef struct {
    const rt_group *group;
    bool strict;        /* a refusal is an error */
    bool explains;      /* a refusal is an explanation, and no error */
    bool has_code;      /* the explanation has the code of what runs, for `target` */
    bool listings;      /* and texts */
    const char *target; /* NULL: what device cpu makes */
    const char *device; /* of a request that explains; NULL: spvf_default_device */
    bool phases;        /* the device can make all work-groups wait for each other */
    bool serial, lanes; /* it runs the items of a work-group one after the other, several at once */
} rt_group_request;

/* The fusion, or why there is none; both are the caller's. */
typedef struct {
    rt_bound_launch *bound; /* by launch, in the library's arena */
    spvf_fusion *fusion;
    spvf_explanation *refusal; /* of a request that explains */
} rt_group_result;

/* The group of that number; NULL: there are fewer. */
const rt_group *rt_group_at(const spvf_plan *plan, size_t index);

/* An explanation of launches, to be completed. (plan_code.c) */
typedef struct {
    rt_library *library;
    const rt_bound_launch *bound;
    uint32_t count;      /* of launches */
    spvf_fusion *fusion; /* NULL: they are not fused */
    rt_report *report;
} rt_explained;
/* Adds the code of the fused kernel, or of each kernel if there is none; target NULL: what device
 * cpu makes.  With `listings`, also its text. */
void rt_explain_codes(const rt_explained *e, const char *target, bool listings);
/* Adds the texts of the kernels before and after fusion. */
void rt_explain_ir(const rt_explained *e);

/* Equal buffer names become identities, values constants. */
spvf_status rt_fuse_group(rt_library *lib, const rt_group_request *request, rt_group_result *out);

/* ------------------------------------------------------------------------ phases (plan_phases.c) */

typedef struct {
    ir_arena *arena;
    ir_vec(spvf_phase_run) list;
} rt_phase_runs;

/* The device tells of launches from here on. */
void rt_count_phases(rt_phase_runs *all, rt_device *device, ir_arena *arena);
/* To the callback of the options, which is there if some were counted. */
void rt_show_phases(const rt_phase_runs *all, const spvf_run_options *to);

/* ---------------------------------------------------------------------- validation (validate.c) */

/* Two ways to run a group, and the buffers of its plan. */
typedef struct {
    const spvf_plan *plan;
    const rt_group *group;
    rt_device *device; /* that can watch */
    ir_arena *arena;
    rt_memory *const *memory;      /* by buffer, as the next ones */
    const bool *unknown;           /* the fused kernel is not given it */
    rt_memory **before, **unfused; /* copies; NULL: to be made, and to be kept for the next group */
    void (*launch)(void *user, bool fused); /* all of the group */
    void *user;
} rt_validation;

/* Runs the group both ways; the fused one's results stay.  False after a reported difference. */
bool rt_validate(rt_validation *v);

/* ------------------------------------------------------------------ progress (plan_progress.c) */

/* In launches: all of the run, those before the statement that runs, those of it, and of these the
 * ones that have ended. */
typedef struct {
    const spvf_run_options *options;
    double all, before, weight, ended;
} rt_plan_progress;

/* Tells nothing unless the options ask for it. */
void rt_begin_progress(rt_plan_progress *p, const spvf_plan *plan, const spvf_run_options *o,
                       rt_device *d);
void rt_begin_statement(rt_plan_progress *p, const rt_stmt *s);
void rt_end_statement(rt_plan_progress *p);
/* A part of the next launch is done, from 0 to 1. */
void rt_tell_progress(rt_plan_progress *p, double part);
/* A launch has ended. */
void rt_count_launch(rt_plan_progress *p);

/* --------------------------------------------------------------------- measuring (plan_bench.c) */

typedef ir_vec(ir_module *) rt_modules;

typedef struct {
    spvf_context *context;
    rt_device *device;
    ir_arena *arena;     /* of the run */
    rt_modules *modules; /* that last as long as the device */
    rt_plan_progress *progress;
    void (*launch)(void *user, bool fused); /* all of a group */
    void *user;
} rt_bench;

/* Fills in the times and what the copies took; the rest says what is measured. */
void rt_bench_group(const rt_bench *b, spvf_timing *t);

#endif
