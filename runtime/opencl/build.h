/* build.h — private to program.c, build.c and what they use: from a source or SPIR-V to what runs.
 *
 *   program.c    objects and what is known of them
 *   spec.c       specialization constants
 *   build.c      the entries that build, compile and link
 *   link.c       several binaries to SPIR-V
 *   binary.c     SPIR-V and what has to be known of it, as bytes that last
 *   built.c      SPIR-V to kernels
 *   arguments.c  what a program sets of kernels with special members
 *
 * runtime/source/ makes SPIR-V of OpenCL C.  Whatever the origin, a build makes a binary first, and an executable is made from the binary.  So
 * a program behaves as one that is made from its binaries.
 */
#ifndef SPVFUSE_RUNTIME_OCL_BUILD_H
#define SPVFUSE_RUNTIME_OCL_BUILD_H

#include "runtime/opencl/ocl.h"
#include "runtime/source/source.h"

/* -------------------------------------------------------------------------- binaries (binary.c) */

/* What a binary says; all of it lies in the binary, or where it is encoded from. */
typedef struct {
    cl_program_binary_type type;
    bool uniform, arg_info; /* as in ocl_built */
    bool steps;             /* -cl-opt-disable: debuggers see code that follows the source */
    const spvf_spec_value *specs;
    size_t spec_count;
    const void *il;
    size_t il_size;
    const char *source; /* where OpenCL C came from, for reports and debuggers; NULL: not kept */
    const char *path;   /* of a file with that source; NULL: none.  No binary has it */
} ocl_code;

typedef struct {
    void *bytes; /* malloc; NULL: none */
    size_t size;
} ocl_binary;

/* No bytes: there is no memory. */
ocl_binary ocl_encode(const ocl_code *code);
ocl_binary ocl_copy_binary(const void *bytes, size_t size);
/* False: it is damaged, or not ours.  The bytes are aligned as malloc aligns. */
bool ocl_decode(const void *bytes, size_t size, ocl_code *code);

/* ----------------------------------------------------------------- programs (program.c, spec.c) */

/* NULL: there is no memory. */
cl_program ocl_new_program(cl_context c, ocl_origin origin);
/* clSetProgramSpecializationConstant */
cl_int CL_API_CALL ocl_set_spec(cl_program p, cl_uint id, size_t size, const void *value);
/* Those that were set, of at most spec_count, with the program's lock held; gives how many. */
size_t ocl_list_specs(const struct _cl_program *p, spvf_spec_value *to);

/* Runs a step of a build, which may throw: CL_SUCCESS, CL_OUT_OF_HOST_MEMORY, or `failure`. */
cl_int ocl_step(rt_build *b, void (*step)(void *arg), void *arg, cl_int failure);

/* ------------------------------------------------------------ linking and use (link.c, built.c) */

/* SPIR-V in the build's arena.  Library: others may be missing. */
void *ocl_link(rt_build *b, const ocl_code *inputs, size_t n, bool library, size_t *size);
/* Reads a binary as a module, in the build's context; without the kernels that cannot be used,
 * which the log names. */
spvf_module *ocl_load(rt_build *b, const char *name, const ocl_code *code);
/* Kernels that are ready; takes the context over, so that the build is ended with `keep`. */
ocl_built *ocl_make_built(rt_build *b, const ocl_code *code);

/* Once the kernels are as they are launched. (arguments.c) */
void ocl_number_arguments(spvf_module *m);

/* Code is to do what the source says, without optimization: it is checked, or debugged. */
bool ocl_keeps_source(void);
/* The path of a file with that source, for debuggers; NULL: none is asked for, or it cannot be
 * written. (kept_source.c) */
const char *ocl_keep_source(ir_arena *a, const char *source);

#endif
