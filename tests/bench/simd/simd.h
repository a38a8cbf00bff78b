/* simd.h — what the parts of `ninja bench-simd` share.
 *
 * A theme is a file of kernels (THEME.cl), a table of them with data and reference results
 * (THEME.c), and the same work as loops in C (THEME_peer.c).  A row of the table is a benchmark.
 * For each of its sizes, `make` fills a problem: a range of work-items and arguments.  `reference`
 * computes in double precision what must be in the results, and `peer` is what a C programmer
 * would write in place of the kernel; both are called with the arguments of the kernel in memory
 * of the host, and with the range.
 *
 * A new benchmark is a kernel, a row, a reference and, if it is easy to write, a peer.
 */
#ifndef TESTS_BENCH_SIMD_H
#define TESTS_BENCH_SIMD_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_ENABLE_BETA_EXTENSIONS

#include "tests/progress.h"

#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* -------------------------------------------------------------------------------------- problem */

enum { MOST_ARGUMENTS = 9, MOST_STEPS = 8, MOST_ROUNDS = 101 };

typedef enum { TYPE_I8, TYPE_U8, TYPE_I32, TYPE_U32, TYPE_U64, TYPE_F32, TYPE_F64 } element_type;

typedef struct {
    element_type type;
    size_t count;   /* elements */
    void *data;     /* the value, or what is in the buffer at first; NULL: local memory */
    bool is_value;  /* not a buffer */
    bool is_result; /* compared with the reference */
} argument;

typedef struct {
    size_t size;     /* one of the sizes of the row */
    size_t items[2]; /* work-items that have something to do */
    size_t local[2]; /* the range is rounded up to it; 0: the implementation chooses */
    size_t work;     /* times are divided by this; set_range makes it the number of items */
    argument argument[MOST_ARGUMENTS];
    unsigned n;
    uint64_t random;
} problem;

void set_range(problem *p, size_t items, size_t local);
void set_plane(problem *p, size_t width, size_t height, size_t local_x, size_t local_y);
/* Each adds an argument.  Buffers are filled with random numbers, or zeros. */
void *add_zeros(problem *p, element_type type, size_t count);
void *add_result(problem *p, element_type type, size_t count); /* zeros */
float *add_floats(problem *p, size_t count, double low, double high);
double *add_doubles(problem *p, size_t count, double low, double high);
uint8_t *add_bytes(problem *p, element_type type, size_t count);
uint32_t *add_words(problem *p, size_t count, uint32_t below); /* 0: all values */
void add_int(problem *p, size_t value);
void add_float(problem *p, float value);
void add_local(problem *p, element_type type, size_t count);
/* The last buffer, which the kernel reads and writes, is compared, too. */
void is_result_too(problem *p);

size_t element_size(element_type t);
void free_problem(problem *p);

/* The arguments as the loops of the host take them: values, inputs and NULL for local memory are
 * those of the problem, results are copies. */
typedef struct {
    void *at[MOST_ARGUMENTS];
} host_arguments;
host_arguments copy_arguments(const problem *p);
void free_arguments(const problem *p, host_arguments *a);

/* ----------------------------------------------------------------------------------------- rows */

typedef enum { STREAMING, DIVERGENT, BARRIER, INNER_LOOP, OTHER, CLASSES } kernel_class;

/* A loop over the items, in C. */
typedef void host_loop(const size_t items[2], void *const *arguments);

typedef struct {
    const char *name, *kernel;
    kernel_class class;
    size_t full, odd, small; /* sizes: timed; not divisible; for tests */
    void (*make)(problem *p);
    host_loop *reference, *peer; /* no peer: NULL */
    /* A result may differ from the reference by this, relative to it and to the mean of all. */
    double tolerance;
    /* The part of the results that may differ by more, since roundings decide branches. */
    double outliers;
    /* A chain: kernels NAME0, NAME1 …, of which number k has buffers k and k + 1; 0: one kernel. */
    unsigned steps;
} benchmark;

typedef struct {
    const char *name;
    const benchmark *rows;
    unsigned n;
} theme;

extern const theme elementwise_theme;
extern const theme math_theme;
extern const theme integers_theme;
extern const theme loops_theme;
extern const theme groups_theme;
extern const theme images_theme;
extern const theme divergent_theme;
extern const theme structs_theme;

/* ------------------------------------------------------------------------------------- checking */

/* Whether results are those of the reference; otherwise `text` tells of the first that is not. */
bool compare_results(const benchmark *b, const problem *p, const host_arguments *got,
                     const host_arguments *want, char text[200]);

/* A row at one of its sizes, with the results of its reference. */
typedef struct {
    const benchmark *row;
    problem problem;
    host_arguments want;
} sized_row;
sized_row size_row(const benchmark *b, size_t size);
void free_sized_row(sized_row *r);

/* -------------------------------------------------------------------------------------- running */

typedef struct {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    clCreateCommandBufferKHR_fn create; /* NULL: no command buffers that can fuse */
    clCommandNDRangeKernelKHR_fn record;
    clFinalizeCommandBufferKHR_fn finalize;
    clEnqueueCommandBufferKHR_fn enqueue;
    clReleaseCommandBufferKHR_fn release;
} implementation;

/* An OpenCL implementation from its library; false: it cannot be loaded. */
bool open_implementation(implementation *d, const char *library);
/* From a file of SPIR-V or OpenCL C; NULL, with a message: it failed. */
cl_program build_program(const implementation *d, const char *path, bool is_spirv);

/* A row that is ready to run on an implementation. */
typedef struct {
    const implementation *on;
    cl_kernel kernel[MOST_STEPS];
    cl_mem buffer[MOST_ARGUMENTS];
    cl_command_buffer_khr commands; /* of a chain, if the implementation fuses; or NULL */
    size_t global[2], local[2];
    unsigned kernels, dims;
} launch;

bool prepare_launch(launch *l, const implementation *d, cl_program program, const benchmark *b,
                    const problem *p);
/* Enqueues it; wait for the queue. */
bool run_launch(const launch *l);
/* What is in the buffers of results. */
bool read_results(const launch *l, const problem *p, host_arguments *to);
void free_launch(launch *l);
/* Nanoseconds of all threads for an item, over a few runs.  One comes before them: it makes code for
 * the sizes of the launch, which others may have replaced. */
double time_item(const launch *l, const problem *p);
/* Runs a launch that has not run before; false, with a message: it fails, or its results are not
 * those of the reference. */
bool check_launch(const launch *l, const sized_row *r, const char *who);
bool check_loop(host_loop *loop, const sized_row *r);

/* ------------------------------------------------------------------------------------ measuring */

typedef struct bench_options bench_options;
struct bench_options {
    const char *build;       /* the folder of the build */
    const char *options;     /* of our device */
    const char *threads;     /* how many; NULL: as many as there are processors */
    unsigned rounds;         /* of measurements */
    const char *const *only; /* names of rows to run */
    unsigned names;          /* 0: all rows run */
    bool list;
    bool (*run)(const bench_options *o); /* one of those below; NULL: run_table */
};

/* The times of all implementations, as a table; false: a result of ours is wrong. */
bool run_table(const bench_options *o);
/* Results of our implementation only, for small and odd sizes; false: one is wrong. */
bool run_short(const bench_options *o);
/* Compile times of our implementation, scalar and with the options; false: a row failed. */
bool run_cold(const bench_options *o);
/* Sizes of the code likewise; false: a row failed, or is larger than cold.c allows. */
bool run_sizes(const bench_options *o);

/* Times of ours and of PoCL at the size of the table and at an odd one; false: a result is wrong. */
bool run_odd(const bench_options *o);
/* The time of an item in work-groups of different sizes; false: one costs too much, or is wrong. */
bool run_local_sizes(const bench_options *o);
/* Only whether the results of these are right. */
bool check_local_sizes(const implementation *d, const bench_options *o);
/* Kernels with sub-groups of several sizes; false: one gains too little, or is wrong. */
bool run_subgroups(const bench_options *o);
bool check_subgroups(const implementation *d, const bench_options *o);

const theme *const *all_themes(unsigned *n);
bool is_chosen(const bench_options *o, const benchmark *b);
/* Of all rows that are chosen, to show on a terminal how far a table is. */
progress begin_rows(const bench_options *o);
const char *class_name(kernel_class c);
bool open_ours(const bench_options *o, implementation *d);
/* The kernels of a theme, from SPIR-V or from OpenCL C; NULL: they do not build. */
cl_program build_theme(const implementation *d, const bench_options *o, const theme *t,
                       bool from_spirv);

#endif
