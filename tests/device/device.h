/* device.h — what the parts of tests/device/ share: a device that is tested, next to what the host
 * computes or device check leaves.  The programs need no package, so that they run on any machine. */
#ifndef TESTS_DEVICE_H
#define TESTS_DEVICE_H

#include "runtime/devices/device.h"
#include "runtime/spvfuse_queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    spvf_context *context;
    const char *name;
    spvf_capabilities can; /* of the device */
    unsigned passed, failed;
} device_test;

/* A test that passes where it holds; the words are printed where it does not. */
void dt_check(device_test *t, bool holds, const char *fmt, ...) IR_PRINTF(3, 4);

/* One launch of kernel @k of a text of IR: buffers are written before and read after it. */
typedef struct {
    void *bytes; /* NULL: a value, or local memory */
    size_t size;
    const void *value; /* `size` bytes, if there is no buffer */
} dt_buffer;
bool dt_run(device_test *t, const char *device, const char *text, const spvf_range *r,
            const dt_buffer *buffers, size_t n);

/* What kernels have printed since the last call of dt_run. */
extern char dt_printed[1 << 20];

/* The parts. */
void dt_constructs(device_test *t);
void dt_groups(device_test *t);
void dt_atomics(device_test *t);
void dt_ranges(device_test *t);
void dt_graphs(device_test *t);
void dt_phases(device_test *t);
void dt_threads(device_test *t);

#endif
