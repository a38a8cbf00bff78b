/* process.h — other programs that this process runs (process.c). */
#ifndef SPVFUSE_RUNTIME_PROCESS_H
#define SPVFUSE_RUNTIME_PROCESS_H

#include "runtime/api/runtime.h"
#include "runtime/system/environment.h"

/* Path of a program: of the system's, otherwise of one in PATH; or NULL. */
const char *rt_find_program(ir_arena *a, const char *name);
/* The same in folders with ":" between them; NULL: in none. */
const char *rt_find_program_in(ir_arena *a, const char *folders, const char *name);
extern const char rt_system_folders[];
/* NVIDIA's assembler of PTX; NULL: it is not installed. (ptxas.c) */
const char *rt_find_ptxas(ir_arena *a);
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
/* What SPVFUSE_COMPILER_SECONDS says, otherwise that. */
unsigned rt_program_seconds(void);
/* What `program -r /dev/stdin -o -` makes of the input, in the arena; throws when it fails. */
rt_bytes rt_filter(spvf_context *context, ir_arena *a, const char *program, rt_bytes input);

#endif
