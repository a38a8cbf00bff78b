/* host.h — what the parts of `host` share: what the host pays for kernels on an NVIDIA GPU (host.c).
 *
 * "Bare" is the same by the driver's functions, which bare.c calls without the library.
 */
#ifndef TESTS_BENCH_CUDA_HOST_H
#define TESTS_BENCH_CUDA_HOST_H

#include "runtime/spvfuse_queue.h"
#include "tests/bench/bench.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { ROUNDS = 32, STEPS = 8, GRAPHS = 4 };

/* A kernel out[i] = in[i] + k, which host.c has as IR text; its PTX takes the offset, too. */
typedef struct {
    uint64_t out, in;
    int32_t k;
} add_arguments;
enum { ADD_ITEMS = 256 };

static inline void must(bool ok, const char *what) {
    if (ok) return;
    fprintf(stderr, "host: %s\n", what);
    exit(1);
}

/* The library with kernels that are given as text; ends the process if it cannot be. (host.c) */
typedef struct {
    spvf_context *context;
    spvf_module *module;
    spvf_device *device;
    spvf_program *program;
    spvf_queue *queue;
} session;
session open_session(const char *name, const char *text);
void close_session(const session *l);

/* ---------------------------------------------------------------------- the driver alone (bare.c) */

/* Opens the library, the primary context of the first device, and a stream; false: a message says
 * why not. */
bool bare_open(void);
unsigned bare_sm(void);
const char *bare_name(void);
/* Of PTX or a cubin. */
bool bare_load(const void *image, const char *kernel);
uint64_t bare_allocate(size_t bytes);
bool bare_write(uint64_t to, const void *from, size_t bytes);
bool bare_copy(uint64_t to, uint64_t from, size_t bytes);
/* Of the loaded kernel saxpy(x, y, a, out). */
bool bare_saxpy(const uint64_t buffers[3], float a, unsigned items);
bool bare_read(void *to, uint64_t from, size_t bytes); /* waits */
bool bare_begin_read(void *to, uint64_t from, size_t bytes);
bool bare_add(const add_arguments *a); /* one launch of the loaded kernel */
bool bare_wait(void);
/* Graph n, of STEPS launches, each after the one before it; then that is the one that is changed and
 * replayed. */
bool bare_make_graph(unsigned n, const add_arguments steps[STEPS]);
void bare_take_graph(unsigned n);
bool bare_change(unsigned step, const add_arguments *a);
bool bare_replay(void);
bool bare_make_current(void); /* as it is already */
/* What the driver's compiler makes of PTX; to be freed.  NULL: it refuses it. */
void *bare_compile(const char *ptx, size_t *size);

/* ------------------------------------------------------------------------------------- the parts */

/* PTX of a module for the device; to be freed. */
char *emit_ptx(const spvf_module *m, const char *options);
/* Pipelines of streams that become one kernel, next to copies. (fused.c) */
void time_fused(void);
/* From SPIR-V words to PTX, next to NVRTC. (texts.c) */
void time_texts(const char *folder);
/* From the first call to the first result. (start.c) */
void time_starts(const char *program, const char *folder);
/* The process that time_starts begins. */
int start_as(const char *side, const char *folder);

#endif
