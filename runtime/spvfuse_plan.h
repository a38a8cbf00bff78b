/* spvfuse_plan.h — plans: read, explain and run them.  spvfuse.h includes it.
 *
 * A plan is a small host program in a text file: buffers, launches, what to fuse, what to expect
 * (docs/PLANS.md).  Files that it names are relative to its own folder. */
#ifndef SPVFUSE_PLAN_H
#define SPVFUSE_PLAN_H

#include "spvfuse.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a plan, `size` bytes of text that are not kept.  `file` is its name in messages, and where
 * the names in it begin; NULL: the current folder.  Modules are read later, when the plan runs.
 * SPVF_ERROR_INPUT: it is no plan, and a message says where.  SPVF_ERROR_ARGUMENT: context, text or
 * out is NULL.  SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_plan_load(spvf_context *context, const char *file, const char *text,
                                    size_t size, spvf_plan **out);
/* Frees the plan; NULL: nothing happens.  Explanations of it stay. */
SPVF_API void spvf_plan_destroy(spvf_plan *plan);

/* How long a group of a plan takes, or a launch outside of groups; nanoseconds, medians of `runs`.
 */
typedef struct {
    const char *name; /* of the group or kernel */
    uint64_t launches;
    bool fused; /* false: refused, or not a group; what speaks of fusion is 0 then */
    uint32_t runs;
    uint64_t fuse_ns;    /* proving, fusing, optimizing */
    uint64_t compile_ns; /* what the first fused launch took more than others */
    uint64_t unfused_ns, fused_ns;
    uint64_t unfused_bytes, fused_bytes; /* predicted, as in spvf_explanation */
    bool exact;
    uint64_t copy_bytes, copy_ns; /* read and written by a kernel that copies on the same device */
    uint64_t unfused_cpu_ns, fused_cpu_ns; /* processor time of all threads of the process */
} spvf_timing;

/* The device of calls that name none: "cpu", or "check" where no native code can be made; then
 * *why_not (or NULL) tells why. */
SPVF_API const char *spvf_default_device(const char **why_not);

/* How launches of a kernel whose work-groups wait for each other ran, on a device that chooses.  A
 * kernel that ran in several ways has one for each. */
typedef struct {
    const char *kernel;
    uint64_t phases;   /* of the kernel */
    uint64_t launches; /* of it that ran so */
    bool together;     /* as one launch, in which groups wait; otherwise as one for each phase */
    const char *rule;  /* why: "phase.few" …, docs/EXPLAIN.md */
    const char *text;  /* both, for people, of the first of these launches */
} spvf_phase_run;

typedef struct {
    size_t size;        /* sizeof(spvf_run_options) */
    const char *device; /* "check" (NULL), "cpu", "cpu:OPTIONS", "opencl", "opencl:N" */
    bool unfused;       /* launch the members of fuse groups one by one */
    bool strict;        /* a refused fusion is an error; otherwise its members run one by one */
    void (*output)(void *user, const char *text); /* print statements and printf; NULL: dropped */
    void *output_user;
    const spvf_pass_options *passes; /* optimization before launching; NULL: standard */
    bool no_optimize;                /* launch kernels as they were read */
    /* Called at the end with the contents of each buffer that is not internal, in the order of the
     * plan; may be NULL. */
    void (*buffer)(void *user, const char *name, const char *element, const void *data,
                   size_t size);
    void *buffer_user;
    /* Device check stops a launch when one of its work-groups has executed so many instructions.
     * 0: 150 million, about two seconds. */
    uint64_t instruction_limit;
    /* Run every fused group also unfused, from the same contents of all buffers, and compare the
     * buffers: the first difference is an error that names the buffer, the element, both values,
     * and what wrote them last.  Internal buffers count only as far as the fused kernel must not
     * touch them.  Devices check and cpu, and not with `unfused`. */
    bool validate;
    /* Called for each group and launch, which are run many times; nothing is expected, printed or
     * written then.  NULL: nothing is measured. */
    void (*timing)(void *user, const spvf_timing *timing);
    void *timing_user;
    /* Called at the end for each kernel with phases, if the device has several ways to run them;
     * may be NULL. */
    void (*phases)(void *user, const spvf_phase_run *run);
    void *phases_user;
    /* Told how much of the launches, or of what is measured, is done, from 0 to 1: after each of
     * them, and on device check after each work-group, by the thread that runs the plan; may be
     * NULL. */
    void (*progress)(void *user, double part);
    void *progress_user;
} spvf_run_options;

/* What a run did; times in nanoseconds.  As many bytes are written as `size` says. */
typedef struct {
    size_t size; /* sizeof(spvf_run_result), set by the caller before the run */
    uint64_t launches, fused_groups, refused_groups, reports;
    uint64_t expects, failed_expects;
    uint64_t read_ns, fuse_ns, run_ns;
    uint64_t instructions, loads, stores; /* executed; device check only */
    uint64_t validated, differences;      /* groups; those of them that differ from unfused */
    /* Devices cpu and cuda: launches; those that ran code made for each fact, which on cuda are
     * SPVF_FACT_APART and SPVF_FACT_SPECIALIZED; variants of kernels that were compiled or found in
     * the cache, and the time that took. */
    uint64_t native_launches, variants, compile_ns;
    uint64_t fact_launches[32]; /* by spvf_fact */
    uint64_t answers;           /* queries about the device that became constants */
    uint64_t definitions;       /* functions that modules were given, each module once */
} spvf_run_result;

/* Runs a plan.  SPVF_ERROR_INPUT when an `expect` fails, the device reported a fault, or a
 * validated group differs: each is a message.  `result` may be NULL.  SPVF_ERROR_ARGUMENT: plan is
 * NULL, or options or result have no size. */
SPVF_API spvf_status spvf_plan_run(spvf_plan *plan, const spvf_run_options *options,
                                   spvf_run_result *result);
/* How many fuse groups the plan has, in the order of the file; 0 of NULL. */
SPVF_API size_t spvf_plan_group_count(const spvf_plan *plan);
/* The name of group `index` of the plan; NULL when index is out of range.  Valid until the plan is
 * destroyed. */
SPVF_API const char *spvf_plan_group_name(const spvf_plan *plan, size_t index);
/* The file of the module of launch `index`, in groups or not, as the plan writes it; NULL when
 * index is out of range.  Valid until the plan is destroyed. */
SPVF_API const char *spvf_plan_module_file(const spvf_plan *plan, size_t index);
/* Fuses group `index` of the plan without running anything, for any device.  The reason of a
 * refusal is a warning, as in a run that goes on without, unless the group is strict.
 * SPVF_ERROR_REFUSED: the group is refused.  SPVF_ERROR_ARGUMENT: plan or out is NULL, or there is
 * no such group.  SPVF_ERROR_INPUT, SPVF_ERROR_IO: a module that it names cannot be read.
 * SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_plan_fuse(spvf_plan *plan, size_t index, spvf_fusion **out);
/* Explains what spvf_default_device, or that of the options, would do with group `index`, as
 * spvf_explain does; strict when the group is.  What that device cannot run of what would be fused
 * is refused.  SPVF_ERROR_REFUSED: the group is strict and refused; there is an explanation all the
 * same.  Other errors are those of spvf_plan_fuse. */
SPVF_API spvf_status spvf_plan_explain(spvf_plan *plan, size_t index, spvf_explanation **out);
/* What an explanation is to hold. */
typedef struct {
    size_t size;        /* sizeof(spvf_explain_options) */
    bool code;          /* that of the kernels that run, as of spvf_plan_explain_code */
    const char *target; /* of the code, or NULL */
    bool listings;      /* the texts of kernels before and after fusion, and of the code */
    /* That would run the kernels, as in spvf_run_options; NULL: spvf_default_device.  If its code
     * is not native, there are codes only for a target. */
    const char *device;
} spvf_explain_options;
/* Explains group `index` as spvf_plan_explain does, with options; NULL: none.  Errors are those of
 * spvf_plan_explain, and SPVF_ERROR_ARGUMENT for options without a size. */
SPVF_API spvf_status spvf_plan_explain_with(spvf_plan *plan, size_t index,
                                            const spvf_explain_options *options,
                                            spvf_explanation **out);

/* Launches of a plan that follow each other, and become one kernel or stay as they are.  Fixed. */
typedef struct {
    size_t first, count; /* launches, from 0 on */
    spvf_explanation *explanation;
    /* Of spvf_plan_divide: why the next launch is no part of the kernel, a refusal whose members
     * begin with the launch `first`; NULL: it could not be, or there is none. */
    spvf_explanation *cut;
} spvf_explained_part;
/* Divides all launches of a plan into kernels that are as long as possible, as a graph does
 * (spvfuse_queue.h), and explains each; a launch by itself is a group of one.  What the plan says
 * of groups does not count; launches are not moved over `expect`, `print` and `write`.  Device and
 * options as for spvf_plan_explain_with.  The parts are the caller's, to be given to
 * spvf_explained_parts_destroy; after an error there are none.  SPVF_ERROR_ARGUMENT: an argument is
 * NULL, or the options have no size.  SPVF_ERROR_INPUT, SPVF_ERROR_IO: a module that the plan names
 * cannot be read.  SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_plan_divide(spvf_plan *plan, const spvf_explain_options *options,
                                      spvf_explained_part **parts, size_t *count);
/* Frees the parts that spvf_plan_divide gave, with their explanations; NULL: nothing happens. */
SPVF_API void spvf_explained_parts_destroy(spvf_explained_part *parts, size_t count);
/* A few lines for people about parts: how many launches become how many, bytes before and after,
 * and what keeps launches apart; to be given to free().  NULL: no memory. */
SPVF_API char *spvf_explained_parts_summary(const spvf_explained_part *parts, size_t count);

/* Explains group `index` as spvf_plan_explain does, and also the code of the kernels that run then,
 * as spvf_explain_code does.  If the target is NULL and no native code is made here, there are no
 * codes.  Errors are those of spvf_plan_explain, and SPVF_ERROR_ARGUMENT for a target that is not
 * there. */
SPVF_API spvf_status spvf_plan_explain_code(spvf_plan *plan, size_t index, const char *target,
                                            spvf_explanation **out);

#ifdef __cplusplus
}
#endif
#endif
