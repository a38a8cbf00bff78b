/* check_open.h — device check for those that look at every report themselves, and use memory of
 * this process (check_device.c). */
#ifndef SPVFUSE_CHECK_OPEN_H
#define SPVFUSE_CHECK_OPEN_H

#include "runtime/devices/check/check.h"
#include "runtime/devices/device.h"

typedef struct {
    /* Each finding of a launch, after it; the launch succeeds all the same. */
    void (*report)(void *user, const rt_program *p, const check_report *r);
    void *user;
    unsigned (*subgroup_size)(const ir_func *kernel);
    unsigned seconds; /* that a launch may take; 0: any time */
} rt_check_options;

/* Throws in the context. */
rt_device *rt_check_open_with(spvf_context *context, const rt_check_options *options);

/* Memory of this process, as check_buffer_wrap has it. */
typedef struct {
    void *host;
    uint64_t size;
    unsigned flags;     /* CHECK_BUFFER_… */
    bool undefined;     /* nothing has been written to it yet */
    const char *origin; /* outlives the memory; or NULL */
} rt_check_memory;
rt_memory *rt_check_wrap(rt_device *d, const rt_check_memory *what);
/* The host has written there, or may have. */
void rt_check_written(rt_device *d, const void *host, uint64_t size);
/* How many of these bytes of the process are in memory that was wrapped, and undefined. */
uint64_t rt_check_undefined(const rt_device *d, const void *host, uint64_t size);
/* A text that belongs to the program from now on: the source that it was made from. */
void rt_check_set_source(rt_program *p, const char *text);
const char *rt_check_source(const rt_program *p);

#endif
