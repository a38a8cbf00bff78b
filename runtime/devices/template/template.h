/* template.h — the device `template`, which is the smallest one that runs commands asynchronously,
 * and what tests ask of it.  It is not in the table of devices: tests open it, and new devices
 * begin as a copy of it (docs/ADDING.md). */
#ifndef SPVFUSE_RUNTIME_TEMPLATE_H
#define SPVFUSE_RUNTIME_TEMPLATE_H

#include "runtime/devices/device.h"

#include <pthread.h>

extern const rt_driver rt_template_driver;

/* options: NULL; "host": it works in memory of the program; "unordered": it does not promise to
 * keep commands in order.  NULL: others. */
rt_device *template_open(spvf_context *context, const char *options);

/* While it is held back, submissions stay pending. */
void template_hold(rt_device *d, bool held);
/* From here on submissions fail at once, or no longer. */
void template_refuse(rt_device *d, bool refuses);
/* Submissions that no thread has taken up. */
unsigned template_pending(rt_device *d);

typedef struct {
    unsigned submissions; /* so far */
    unsigned most;        /* that were pending at the same time */
    pthread_t thread;     /* that runs them */
} template_facts;
template_facts template_facts_of(rt_device *d);

#endif
