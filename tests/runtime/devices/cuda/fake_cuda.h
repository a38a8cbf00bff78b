/* fake_cuda.h — a driver without a GPU, for tests: what fake_cuda.c offers besides the functions of
 * the driver.
 *
 * It is a shared library with the driver's name, libcuda.so.1.  A test program that is linked with
 * it has it loaded already when the device asks for the driver; commands find it through
 * LD_LIBRARY_PATH, and are told by the environment:
 *
 *   FAKE_CUDA_LOG=FILE                    appends a line for each call
 *   FAKE_CUDA_FAIL=SYMBOL:N:ERROR[:lost]  the N-th call of the function fails; see fake_cuda_fail
 *   FAKE_CUDA_VERSION=N                   of the driver; 13000
 *   FAKE_CUDA_DEVICES=N                   1
 *   FAKE_CUDA_SM=NN                       90
 *   FAKE_CUDA_SLOW=MS                     what compiling takes
 *   FAKE_CUDA_TOGETHER=0                  it has no cooperative launches
 *   FAKE_CUDA_THREADS_AT_ONCE=N           of a processor; 1536
 */
#ifndef TESTS_FAKE_CUDA_H
#define TESTS_FAKE_CUDA_H

#include <stddef.h>
#include <stdint.h>

enum { FAKE_CUDA_PARAMS = 32, FAKE_CUDA_VALUE = 32 };

/* A launch as the driver got it: of each parameter, the first bytes. */
typedef struct {
    char kernel[64];
    unsigned grid[3], block[3], shared, params;
    int together; /* all groups run at once */
    unsigned size[FAKE_CUDA_PARAMS];
    unsigned char value[FAKE_CUDA_PARAMS][FAKE_CUDA_VALUE];
} fake_cuda_launch;

/* The n-th call of the function, from now on and counted from 1, gives this error.  lost: so do all
 * that follow.  "kernel" is no function: the n-th launch begins, and its end has the error.  "any"
 * is any function of those that can fail without a loss: not what gives things back. */
void fake_cuda_fail(const char *symbol, unsigned n, int error, int lost);
/* Has a call failed as it was told? */
int fake_cuda_has_failed(void);
/* How often the function has been called; NULL: any. */
unsigned fake_cuda_count(const char *symbol);
unsigned fake_cuda_launches(void);
const fake_cuda_launch *fake_cuda_launch_at(unsigned n);
/* How often this thread has waited for events or streams. */
unsigned fake_cuda_waits(void);
/* While the device is held, events that are recorded do not come; commands have run all the same. */
void fake_cuda_hold(int held);
/* The next n of these come. */
void fake_cuda_release(unsigned n);
/* Forgets calls, launches and failures; memory and modules stay. */
void fake_cuda_forget(void);
/* What launches do; NULL: nothing.  Parameters are where the driver got them. */
void fake_cuda_run_with(void (*run)(const fake_cuda_launch *l, void **params));
/* Blocks of memory and modules that are there. */
unsigned fake_cuda_memories(void);
unsigned fake_cuda_modules(void);
/* Graphs, and those made ready. */
unsigned fake_cuda_graphs(void);
unsigned fake_cuda_events(void);

#endif
