/* build.h — private to program.c, build.c and what they use: from a source or SPIR-V to what runs.
 *
 *   program.c    objects and what is known of them
 *   spec.c       specialization constants
 *   build.c      the entries that build, compile and link
 *   steps.c      what they have in common: the log, the steps, the result
 *   options.c    the words of clBuildProgram, clCompileProgram and clLinkProgram
 *   toolchain.c  which clang is installed
 *   source.c     OpenCL C to SPIR-V
 *   stored.c     SPIR-V of a source that is in the cache
 *   prelude.c    what is put in front of a source
 *   media_ops.c  functions of an extension that some programs expect there
 *   intel_subgroups.c  declarations of other ones
 *   link.c       several binaries to SPIR-V
 *   binary.c     SPIR-V and what has to be known of it, as bytes that last
 *   built.c      SPIR-V to kernels
 *
 * Whatever the origin, a build makes a binary first, and an executable is made from the binary.  So
 * a program behaves as one that is made from its binaries.
 */
#ifndef SPVFUSE_RUNTIME_OCL_BUILD_H
#define SPVFUSE_RUNTIME_OCL_BUILD_H

#include "runtime/cache/cache.h"
#include "runtime/opencl/ocl.h"

/* -------------------------------------------------------------------------- binaries (binary.c) */

/* What a binary says; all of it lies in the binary, or where it is encoded from. */
typedef struct {
    cl_program_binary_type type;
    bool uniform, arg_info; /* as in ocl_built */
    const spvf_spec_value *specs;
    size_t spec_count;
    const void *il;
    size_t il_size;
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

/* ------------------------------------------------------------------------------ steps (steps.c) */

/* A build at work, by one thread.  Steps throw after a message, which becomes part of the log. */
typedef struct {
    spvf_context *context;
    ir_arena arena; /* of all that is made on the way */
    ir_ctx log_memory;
    ir_arena log_arena;
    ir_text log;
    bool silent;         /* warnings are not wanted */
    bool remarks;        /* as in ocl_options */
    bool has_il;         /* the user can change the SPIR-V: what is odd about it is in the log */
    const char *useless; /* a program that has not ended in time, or cannot be started */
} ocl_build;

/* False: there is no memory. */
bool ocl_begin_build(ocl_build *b);
/* Gives back everything but the context when `keep`; *log is a copy, or NULL. */
void ocl_end_build(ocl_build *b, bool keep, char **log);
/* Puts a text after the log, when there is memory for it. */
void ocl_say(ocl_build *b, const char *text);
/* Runs a step: CL_SUCCESS, CL_OUT_OF_HOST_MEMORY, or `failure` when it has thrown otherwise. */
cl_int ocl_step(ocl_build *b, void (*step)(void *arg), void *arg, cl_int failure);

/* -------------------------------------------------------------------------- options (options.c) */

typedef enum { OCL_FOR_BUILD = 1, OCL_FOR_COMPILE = 2, OCL_FOR_LINK = 4 } ocl_use;

typedef struct {
    ir_vec(char *) words; /* for clang */
    bool optimize, uniform, arg_info, silent;
    bool remarks;               /* the log says what becomes of the kernels' loops */
    bool has_std, is_c1;        /* a version of OpenCL C is given; it is 1.N, given or not */
    bool library, enables_link; /* -create-library, -enable-link-options */
} ocl_options;

/* False: a word is not known, or not for this use. */
bool ocl_read_options(ir_arena *a, const char *text, ocl_use use, ocl_options *o);

/* ------------------------------------------------------------- OpenCL C (toolchain.c, source.c) */

typedef struct {
    const char *clang;
    const char *translator; /* of LLVM's bitcode to SPIR-V; NULL: clang writes SPIR-V itself */
    bool extensions;        /* it knows the extensions of SPIR-V that built-in functions need */
} ocl_toolchain;

/* The one that is used; NULL: there is none.  It is looked for once. */
const ocl_toolchain *ocl_find_toolchain(void);
/* Why there is none. */
const char *ocl_log_of_search(void);

typedef struct {
    const char *name, *text; /* as #include has it */
} ocl_header;

typedef struct {
    const char *source;
    const ocl_header *headers;
    size_t header_count;
    const ocl_options *options;
    unsigned seconds; /* that each program may take; 0: any time */
} ocl_source;

/* What is put in front of a source. */
void ocl_put_prelude(ir_text *to, const ocl_source *source);
void ocl_put_media_ops(ir_text *to);
void ocl_put_intel_subgroups(ir_text *to);

/* SPIR-V in the build's arena. */
void *ocl_compile_source(ocl_build *b, const ocl_toolchain *tools, const ocl_source *s,
                         size_t *size);

/* ------------------------------------- what compilers made of a source, in the cache (stored.c) */

/* Where headers of clCompileProgram lie, for the compiler only. */
#define OCL_HEADER_FOLDER "/spvfuse-headers"

/* All that decides what is made, but for the files that the compiler finds itself. */
typedef struct {
    ocl_build *build;
    const ocl_toolchain *tools;
    const ocl_source *source;
    const char *const *words; /* of the compiler's command line, without names of files */
    uint32_t word_count;
    const char *text; /* that it reads */
} ocl_stored_input;

/* What was made: SPIR-V, and what the compiler said. */
typedef struct {
    const void *words;
    size_t size;
    const char *log;
    const char *files; /* that were read, as a rule of make */
} ocl_made;

typedef struct {
    ocl_build *build;
    const ocl_stored_input *input;
    int64_t start;
    rt_entry entry;
    const char *log; /* what was found, until the end */
    const void *code;
    size_t code_size;
} ocl_stored;

/* True: it was found.  Otherwise it may be written. */
bool ocl_find_stored(ocl_stored *s, const ocl_stored_input *in);
/* May throw. */
void ocl_write_stored(ocl_stored *s, const ocl_made *made);
void ocl_end_stored(ocl_stored *s);

/* ------------------------------------------------------------ linking and use (link.c, built.c) */

/* SPIR-V in the build's arena.  Library: others may be missing. */
void *ocl_link(ocl_build *b, const ocl_code *inputs, size_t n, bool library, size_t *size);
/* Reads a binary as a module, in the build's context; without the kernels that cannot be used,
 * which the log names. */
spvf_module *ocl_load(ocl_build *b, const char *name, const ocl_code *code);
/* Kernels that are ready; takes the context over, so that the build is ended with `keep`. */
ocl_built *ocl_make_built(ocl_build *b, const ocl_code *code);

#endif
