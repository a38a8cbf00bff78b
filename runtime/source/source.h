/* source.h — OpenCL C to SPIR-V, by an installed clang; for the library and its OpenCL.
 *
 *   compile.c    for spvf_module_load: a source with its messages
 *   log.c        a build: its memory, and the log of what programs said
 *   language.c   extensions and features of OpenCL C
 *   options.c    the words of clBuildProgram, clCompileProgram and clLinkProgram
 *   toolchain.c  which clang is installed
 *   source.c     the programs and their files
 *   stored.c     SPIR-V of a source that is in the cache
 *   prelude.c    what is put in front of a source
 *   media_ops.c  functions of an extension that some programs expect there
 *   intel_subgroups.c  declarations of other ones
 *   features.c  what the library can do on this machine
 */
#ifndef SPVFUSE_RUNTIME_SOURCE_H
#define SPVFUSE_RUNTIME_SOURCE_H

#include "runtime/cache/cache.h"

/* ------------------------------------------------------------------------------ builds (log.c) */

/* A build at work, by one thread, in a context of its own.  Steps throw after a message, which
 * becomes part of the log. */
typedef struct {
    spvf_context *context;
    ir_arena arena; /* of all that is made on the way */
    ir_ctx log_memory;
    ir_arena log_arena;
    ir_text log;
    bool silent;         /* warnings are not wanted */
    bool remarks;        /* as in rt_clc_options */
    const char *layout;  /* the same */
    bool has_il;         /* the user can change the SPIR-V: what is odd about it is in the log */
    const char *useless; /* a program that has not ended in time, or cannot be started */
} rt_build;

/* False: there is no memory. */
bool rt_build_begin(rt_build *b);
/* Gives back everything but the context when `keep`; *log is a copy, or NULL. */
void rt_build_end(rt_build *b, bool keep, char **log);
/* Puts a text after the log, when there is memory for it. */
void rt_build_say(rt_build *b, const char *text);

/* ----------------------------------------------------------------------- language (language.c) */

typedef struct {
    uint32_t version; /* major << 22 | minor << 12 | patch */
    const char *name;
} rt_clc_name;

/* Extensions that are announced: all, but those that SPVFUSE_WITHOUT_EXTENSIONS names. */
const rt_clc_name *rt_clc_extensions(size_t *n);
const rt_clc_name *rt_clc_features(size_t *n);
/* Calls `say` for each name in SPVFUSE_WITHOUT_EXTENSIONS that no extension has. */
void rt_clc_find_unknown(void (*say)(void *user, const char *name, size_t length), void *user);
/* What OpenCL C has here, in the words of clang's -cl-ext. */
const char *rt_clc_words(void);

/* ------------------------------------------------------------------------- options (options.c) */

typedef enum { RT_CLC_FOR_BUILD = 1, RT_CLC_FOR_COMPILE = 2, RT_CLC_FOR_LINK = 4 } rt_clc_use;

typedef struct {
    ir_vec(char *) words; /* for clang */
    bool optimize, uniform, arg_info, silent;
    bool remarks;               /* the log says what becomes of the kernels' loops */
    const char *layout;         /* a file that declares structs by value, or NULL */
    bool has_std, is_c1;        /* a version of OpenCL C is given; it is 1.N, given or not */
    bool library, enables_link; /* -create-library, -enable-link-options */
} rt_clc_options;

/* False: a word is not known, or not for this use. */
bool rt_clc_read_options(ir_arena *a, const char *text, rt_clc_use use, rt_clc_options *o);

/* ----------------------------------------------------------- compilers (toolchain.c, source.c) */

typedef struct {
    const char *clang;
    const char *translator; /* of LLVM's bitcode to SPIR-V; NULL: clang writes SPIR-V itself */
    bool extensions;        /* it knows the extensions of SPIR-V that built-in functions need */
} rt_clc_toolchain;

/* The one that is used; NULL: there is none.  It is looked for once. */
const rt_clc_toolchain *rt_clc_find_toolchain(void);
/* Why there is none. */
const char *rt_clc_log_of_search(void);

typedef struct {
    const char *name, *text; /* as #include has it */
} rt_clc_header;

typedef struct {
    const char *name; /* in messages */
    const char *source;
    const rt_clc_header *headers;
    size_t header_count;
    const rt_clc_options *options;
    const rt_cache *cache;
    unsigned seconds; /* that each program may take; 0: any time */
} rt_clc_source;

/* What is put in front of a source. */
void rt_clc_put_prelude(ir_text *to, const rt_clc_source *source);
void rt_clc_put_media_ops(ir_text *to);
void rt_clc_put_intel_subgroups(ir_text *to);

/* SPIR-V in the build's arena. */
void *rt_clc_compile(rt_build *b, const rt_clc_toolchain *tools, const rt_clc_source *s,
                     size_t *size);

/* ------------------------------------ what compilers made of a source, in the cache (stored.c) */

/* Where headers of clCompileProgram lie, for the compiler only. */
#define RT_CLC_HEADER_FOLDER "/spvfuse-headers"

/* All that decides what is made, but for the files that the compiler finds itself. */
typedef struct {
    rt_build *build;
    const rt_clc_toolchain *tools;
    const rt_clc_source *source;
    const char *const *words; /* of the compiler's command line, without names of files */
    uint32_t word_count;
    const char *text; /* that it reads */
} rt_clc_input;

/* What was made: SPIR-V, and what the compiler said. */
typedef struct {
    const void *words;
    size_t size;
    const char *log;
    const char *files; /* that were read, as a rule of make */
} rt_clc_made;

typedef struct {
    rt_build *build;
    const rt_clc_input *input;
    int64_t start;
    rt_entry entry;
    const char *log; /* what was found, until the end */
    const void *code;
    size_t code_size;
} rt_clc_stored;

/* True: it was found.  Otherwise it may be written. */
bool rt_clc_find_stored(rt_clc_stored *s, const rt_clc_input *in);
/* May throw. */
void rt_clc_write_stored(rt_clc_stored *s, const rt_clc_made *made);
void rt_clc_end_stored(rt_clc_stored *s);

#endif
