/* stored.h — private to source.c and stored.c: what compilers made of a source, in the cache. */
#ifndef SPVFUSE_RUNTIME_OCL_STORED_H
#define SPVFUSE_RUNTIME_OCL_STORED_H

#include "runtime/opencl/build.h"

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

#endif
