/* cuda.h — what the parts of `ninja bench-cuda` share: the table of `ninja bench-simd` on an NVIDIA
 * GPU, at sizes of one.
 *
 * Peers are kernels in CUDA C (THEME.cu), which nvcc has compiled to cubins, and NVIDIA's own
 * OpenCL, from the same OpenCL C as ours.  Ours and nvcc's are launched by the driver, with the same
 * buffers.
 */
#ifndef TESTS_BENCH_CUDA_H
#define TESTS_BENCH_CUDA_H

#include "tests/bench/simd/simd.h"

#include <stdio.h>

/* Ours for any launch, and as the launch allows it: buffers do not overlap, and threads may run
 * several work-items. */
enum { OURS_PLAIN, OURS, NVCC, NVCC_EXACT, NVIDIA_OPENCL, SIDES };
extern const char *const side_names[SIDES];

enum { MOST_COPIES = 64, USUAL_GROUP = 256 };

/* --------------------------------------------------------------------------- the driver (driver.c) */

typedef uint64_t gpu_address;
typedef struct gpu_module gpu_module;
typedef struct gpu_function gpu_function;
typedef struct gpu_event gpu_event;

/* Loads the library and makes a context; false: there is no GPU, with a message that says why. */
bool gpu_open(void);
const char *gpu_name(void);
unsigned gpu_sm(void);                  /* 90 */
unsigned gpu_processors(void);          /* how many */
size_t gpu_cache(void);                 /* bytes of the L2 */
gpu_address gpu_allocate(size_t bytes); /* 0: there is no memory */
void gpu_release(gpu_address a);
bool gpu_write(gpu_address to, const void *from, size_t bytes);
bool gpu_read(void *to, gpu_address from, size_t bytes);
bool gpu_copy(gpu_address to, gpu_address from, size_t bytes); /* is only enqueued */
/* Of PTX or a cubin; NULL, with what the compiler says: it is none. */
gpu_module *gpu_load(const void *image);
void gpu_unload(gpu_module *m);
gpu_function *gpu_find(gpu_module *m, const char *name);
/* Registers and bytes of local memory (spills, private arrays) of a thread. */
void gpu_describe(gpu_function *f, int *registers, int *spilled);
bool gpu_launch(gpu_function *f, const unsigned grid[2], const unsigned block[2], unsigned shared,
                void **parameters);
bool gpu_wait(void);
/* Microseconds between the ends of what has been enqueued before each call. */
void gpu_begin_time(void);
double gpu_end_time(void);

/* --------------------------------------------------------------------------------------- problems */

/* The buffers of a row, several times, so that launches one after the other do not find theirs in
 * the cache. */
typedef struct {
    const problem *of;
    gpu_address at[MOST_COPIES][MOST_ARGUMENTS];
    unsigned copies;
    size_t bytes; /* of the buffers of one copy */
} gpu_buffers;

bool make_gpu_buffers(gpu_buffers *b, const problem *p, bool rotate);
void free_gpu_buffers(gpu_buffers *b);
/* What is in the first copy becomes what it was at first; what results are in it. */
bool reset_gpu_buffers(const gpu_buffers *b);
bool read_gpu_results(const gpu_buffers *b, host_arguments *to);

/* A side of a row that is ready to run. */
typedef struct gpu_side gpu_side;
struct gpu_side {
    const gpu_buffers *buffers;
    gpu_function *function;
    bool is_fused;         /* of a chain only the first and the last buffer are arguments */
    unsigned coarsened[2]; /* work-items that a thread runs along each axis */
    unsigned turn;         /* which copy is next */
    int registers, spilled;
};
bool prepare_gpu_side(gpu_side *s, gpu_module *m, const char *kernel, const gpu_buffers *b);
bool run_gpu_side(gpu_side *s);
void shape_launch(const problem *p, unsigned grid[2], unsigned block[2]);

/* NVIDIA's OpenCL (opencl.c). */
typedef struct {
    implementation device;
    cl_command_queue queue; /* with times */
    bool exists;
} opencl_peer;
typedef struct {
    const opencl_peer *on;
    launch launch[MOST_COPIES];
    unsigned copies, turn;
} opencl_side;

bool open_opencl(opencl_peer *d);
bool prepare_opencl(opencl_side *s, const opencl_peer *d, cl_program program, const benchmark *b,
                    const gpu_buffers *like);
void free_opencl(opencl_side *s);
/* Microseconds of so many runs, from the begin of the first to the end of the last; 0: one failed. */
double time_opencl(opencl_side *s, unsigned times);

/* ------------------------------------------------------------------------------------------ ours */

/* Our kernels as code of one kind. */
typedef struct {
    char *text;         /* PTX; NULL: it cannot be written, as a message has said */
    gpu_module *module; /* what the driver makes of it */
} our_code;

/* The kernels of a theme. */
our_code write_theme(const char *build, const theme *t, const char *options);
/* The kernels of a chain as one, which is called like the chain. */
our_code write_chain(const char *build, const theme *t, const benchmark *b, size_t size,
                     const char *options);
void free_code(our_code *c);
/* Prepares a kernel; false: it is missing, or its threads run more work-items than suits the launch. */
bool prepare_ours(gpu_side *s, const our_code *c, const char *kernel, const gpu_buffers *b);

/* ------------------------------------------------------------------------------- sides (sides.c) */

enum { KINDS = 3 /* of our code for launches that allow more */ };

/* The code of a theme, for all sides. */
typedef struct {
    const char *build;
    const theme *of;
    our_code plain, ours[KINDS];
    gpu_module *nvcc[2];
    opencl_peer opencl; /* open */
    cl_program program; /* for it, or NULL */
} theme_code;
void load_theme(theme_code *c, const theme *t);
void unload_theme(theme_code *c);

/* The sides of a row, with what they share. */
typedef struct {
    gpu_buffers buffers;
    our_code fused[1 + KINDS];
    unsigned nfused;
    gpu_side side[NVIDIA_OPENCL];
    opencl_side opencl;
} row_sides;
/* Prepares side k for the buffers; false: it is not there. */
bool begin_side(row_sides *s, const theme_code *c, const benchmark *b, unsigned k);
void end_sides(row_sides *s);
/* Runs side k with the buffers as they were at first, and reads its results. */
bool run_once(row_sides *s, unsigned k, const problem *p, host_arguments *to);
/* Microseconds of a launch; 0: one failed. */
double time_side(row_sides *s, unsigned k, unsigned times);

/* --------------------------------------------------------------------------------- the rest of it */

/* Of the kernel on a GPU; 0: it is the same kernel as another row. (sizes.c) */
size_t gpu_size(const benchmark *b);

typedef struct {
    const char *build;
    char **only; /* names of rows, up to NULL; none: all */
    unsigned rounds;
    FILE *json; /* or NULL */
} cuda_options;
/* How many rows of ours are wrong. (table.c) */
unsigned run_cuda_table(const cuda_options *o);

#endif
