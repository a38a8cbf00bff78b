/* spvfuse_native.h — native objects: kernels that a program calls itself.  spvfuse.h includes it.
 *
 * What a program is linked with that launches kernels of object files itself.  The object has an
 * array of spvf_native_kernel, ended by one without a name; docs/COMMAND.md shows a program.
 *
 * args, one entry per parameter: pointers to global and constant memory as they are; pointers to
 * local memory as byte offsets from `local`; of anything else the address of its value. */
#ifndef SPVFUSE_NATIVE_H
#define SPVFUSE_NATIVE_H

#include "spvfuse.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a kernel is called with.  Fixed, as all structs of this header: objects have code for
 * them. */
typedef struct {
    uint64_t group_id[3];      /* of the group; run_block: of the first one */
    uint64_t group_end[3];     /* run_block: one more than that of the last one, per dimension */
    uint64_t num_groups[3];    /* of the launch */
    uint64_t local_size[3];    /* as launched; the last group of a dimension may be smaller */
    uint64_t global_size[3];   /* work-items */
    uint64_t global_offset[3]; /* work-items */
    uint32_t work_dim;
    uint32_t local_bytes; /* of `local`; asked for by casts of generic pointers only */
    void *local;          /* aligned to 128: what `need` says, then what parameters point to */
    void *scratch;        /* aligned to 128: what `need` says */
    /* printf, or NULL: arguments are at multiples of 8 bytes, lanes of vectors without gaps;
     * scalar floats are doubles, strings are addresses. */
    int32_t (*print)(void *user, const char *format, const void *arguments, uint64_t bytes);
    void *user;
} spvf_group_info;

/* Memory that the caller of a group provides, besides the arguments.  Fixed. */
typedef struct {
    uint64_t local;        /* bytes of the kernel's own local variables */
    uint64_t scratch;      /* bytes of scratch memory, whatever the local size */
    uint64_t scratch_item; /* bytes for each work-item besides; their number is rounded up to 64 */
} spvf_group_need;

/* A parameter of a kernel.  Fixed. */
typedef struct {
    const char *name; /* or NULL */
    uint32_t kind;    /* 0: a pointer, 1: a pointer to local memory, 2: a value */
    uint32_t size;    /* of a value */
    uint32_t align;   /* of a value, or of local memory */
    uint32_t reserved;
} spvf_native_arg;

/* A kernel of an object.  Fixed. */
typedef struct {
    const char *name;
    void (*run)(const spvf_group_info *group, void *const *args);        /* one work-group */
    void (*run_block)(const spvf_group_info *groups, void *const *args); /* a box of them */
    const spvf_native_arg *args;
    uint64_t arg_count;
    spvf_group_need need;
    uint32_t local_size[3]; /* that the code is made for; all 0: for any */
    uint32_t stack; /* bytes of stack that a call needs at most; each page of it is touched in
                       order, so one that is too small ends at its guard page */
} spvf_native_kernel;

/* An object that spvf_module_emit has written for this machine, in memory, without a linker: an
 * image that spvf_container_pick has chosen, say.  The bytes are not kept.  They are checked so
 * that nothing is read or written beyond them, but code runs as it is, so they must be trusted. */
typedef struct spvf_native spvf_native;
/* Loads an object that spvf_module_emit has written for this machine, without a linker.
 * SPVF_ERROR_INPUT: it is damaged, or no such object.  SPVF_ERROR_REFUSED: it is for another
 * machine.  SPVF_ERROR_ARGUMENT: an argument is NULL.  SPVF_ERROR_LIMIT: it is too large for its
 * own references.  SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_native_load(spvf_context *context, const char *name, const void *bytes,
                                      size_t size, spvf_native **out);
/* The kernels of an object, ended by one without a name. */
SPVF_API const spvf_native_kernel *spvf_native_kernels(const spvf_native *native);
/* Frees an object and its code; no thread may be in that.  NULL: nothing happens. */
SPVF_API void spvf_native_destroy(spvf_native *native);

#ifdef __cplusplus
}
#endif
#endif
